//! Flows: DCTCP's window, one ack per packet, nothing for losses.
//!
//! M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, doi:10.1145/1851182.1851192.

use crate::calendar::{Calendar, Time};
use crate::network::{Network, Packet, Shape, ACK, CONGESTION, HEADERS, MSS, NIL};
use crate::traffic::Arrival;

/// g of the paper: the weight of the newest window in `alpha`.
const GAIN: f32 = 1.0 / 16.0;
const INITIAL_WINDOW: f32 = 10.0;

/// Both ends of a flow: one cache line. Counts are of packets.
#[repr(C, align(64))]
struct Flow {
    start: Time,
    source: u32,
    destination: u32,
    source_leaf: u16,
    destination_leaf: u16,
    hash: u16,
    ack_hash: u16,
    size: u32,
    sent: u32,
    acked: u32,
    received: u32,
    /// A window of data ends when this many are acked; it began at `window_start`.
    window_end: u32,
    window_start: u32,
    marked: u32,
    /// Wire bytes of the last packet; the others are full.
    last_size: u16,
    slow_start: bool,
    window: f32,
    alpha: f32,
}

pub struct Flows {
    shape: Shape,
    /// Slots are reused: memory follows the active flows.
    flows: Vec<Flow>,
    free: Vec<u32>,
    pub completed: u64,
    pub total_fct: Time,
}

impl Flows {
    pub fn new(shape: Shape) -> Self {
        Self { shape, flows: Vec::new(), free: Vec::new(), completed: 0, total_fct: 0 }
    }

    pub fn start(&mut self, network: &mut Network, calendar: &mut Calendar, arrival: &Arrival) {
        let size = arrival.bytes.div_ceil(MSS);
        let flow = Flow {
            start: arrival.time,
            source: arrival.source,
            destination: arrival.destination,
            source_leaf: self.shape.leaf_of(arrival.source),
            destination_leaf: self.shape.leaf_of(arrival.destination),
            hash: arrival.hash,
            ack_hash: arrival.ack_hash,
            size,
            sent: 0,
            acked: 0,
            received: 0,
            window_end: 0,
            window_start: 0,
            marked: 0,
            last_size: (arrival.bytes - (size - 1) * MSS) as u16 + HEADERS,
            slow_start: true,
            window: INITIAL_WINDOW,
            alpha: 1.0,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.flows[id as usize] = flow;
                id
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        self.fill_window(network, calendar, arrival.time, id);
    }

    /// A packet has reached its destination's host.
    #[inline(always)]
    pub fn receive(&mut self, network: &mut Network, calendar: &mut Calendar, now: Time, id: u32) {
        let packet = *network.packet(id);
        if packet.flags & ACK == 0 {
            self.receive_data(network, calendar, now, id, packet);
        } else {
            network.release(id);
            self.receive_ack(network, calendar, now, packet);
        }
    }

    #[inline(always)]
    fn receive_data(
        &mut self,
        network: &mut Network,
        calendar: &mut Calendar,
        now: Time,
        id: u32,
        packet: Packet,
    ) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.received += 1;
        if flow.received == flow.size {
            self.completed += 1;
            self.total_fct += now - flow.start;
        }
        let ack = Packet {
            arrival: 0,
            next: NIL,
            flow: packet.flow,
            sequence: packet.sequence,
            destination: flow.source,
            destination_leaf: flow.source_leaf,
            hash: flow.ack_hash,
            size: HEADERS,
            flags: ACK | packet.flags & CONGESTION,
        };
        network.reply(calendar, now, packet.destination, id, ack);
    }

    #[inline(always)]
    fn receive_ack(
        &mut self,
        network: &mut Network,
        calendar: &mut Calendar,
        now: Time,
        ack: Packet,
    ) {
        let flow = &mut self.flows[ack.flow as usize];
        flow.acked += 1;
        if flow.acked == flow.size {
            return self.free.push(ack.flow);
        }
        flow.count(ack.flags & CONGESTION != 0);
        self.fill_window(network, calendar, now, ack.flow);
    }

    #[inline(always)]
    fn fill_window(&mut self, network: &mut Network, calendar: &mut Calendar, now: Time, id: u32) {
        let flow = &mut self.flows[id as usize];
        let limit = flow.size.min(flow.acked.saturating_add(flow.window as u32));
        while flow.sent < limit {
            let last = flow.sent + 1 == flow.size;
            let packet = Packet {
                arrival: 0,
                next: NIL,
                flow: id,
                sequence: flow.sent,
                destination: flow.destination,
                destination_leaf: flow.destination_leaf,
                hash: flow.hash,
                size: if last { flow.last_size } else { MSS as u16 + HEADERS },
                flags: 0,
            };
            network.send(calendar, now, flow.source, packet);
            flow.sent += 1;
        }
    }
}

impl Flow {
    /// The window's answer to one ack.
    #[inline(always)]
    fn count(&mut self, marked: bool) {
        self.marked += u32::from(marked);
        if marked {
            self.slow_start = false;
        }
        self.window += if self.slow_start { 1.0 } else { 1.0 / self.window };
        if self.acked > self.window_end {
            self.end_window();
        }
    }

    /// Once per window of data: alpha = (1 - g) alpha + g F (Eq. 1), window *= 1 - alpha / 2 (Eq.
    /// 2).
    #[inline(always)]
    fn end_window(&mut self) {
        let fraction = self.marked as f32 / (self.acked - self.window_start) as f32;
        self.alpha += GAIN * (fraction - self.alpha);
        if self.marked > 0 {
            self.window = (self.window * (1.0 - self.alpha / 2.0)).max(2.0);
        }
        self.marked = 0;
        self.window_start = self.acked;
        self.window_end = self.sent;
    }
}
