//! The datapath of one switch: from a packet's arrival at a port's queue to its departure.
//!
//! All accounting happens here. Policies look at the buffer and decide. The switch moves packets,
//! counts bytes and marks packets. It keeps lost packets until its owner collects them.

mod audit;
mod changing;
mod deciding;
mod dequeueing;
mod expelling;
mod in_order;
mod losses;
mod lossless;
mod observing;
mod passing;
mod push_out;
mod sizes;
mod tracing;
mod unimportant;

pub use in_order::Sent;
pub use losses::Lost;
pub use observing::QueueCounts;
pub use tracing::Decision;

use crate::aqm::{Aqm, AqmPolicy, AqmSample};
use crate::buffer::{Buffer, QueueId};
use crate::bursts::Bursts;
use crate::fates::Fates;
use crate::limit::QueueLimit;
use crate::lists::{Lists, Place};
use crate::meter::Meter;
use crate::packet::{Arena, Packet, PacketId};
use crate::pfc::LosslessParts;
use crate::policy::Arrival;
use crate::scheduling::{Scheduling, SchedulingPolicy};
use crate::sharing::{Count, Sharing, SharingPolicy};
use dequeueing::Dequeueing;
use lossless::Lossless;
use observing::Observer;
use sizes::Sizes;
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::Amount;
use unimportant::Unimportant;

/// The parts that make up a switch.
#[derive(Debug)]
pub struct SwitchParts<S = SharingPolicy, A = AqmPolicy> {
    /// Bytes of the shared buffer ([`Buffer::UNLIMITED`] if it is never full).
    pub capacity: u64,
    /// The rate of every port.
    pub port_rates: Vec<Rate>,
    /// Queues that each port has.
    pub queues_per_port: u32,
    /// The queue class of acks and other control packets.
    pub ack_queue_class: u8,
    /// The queue class of data without a priority.
    pub data_queue_class: u8,
    /// The queue class that the AQM does not manage, if there is one. The AQM is not asked about
    /// packets of this class.
    pub unmanaged: Option<u8>,
    /// The most that one queue may hold.
    pub queue_limit: Amount,
    /// Bytes of every packet that the buffer does not count.
    pub uncounted_bytes: u32,
    /// Whether a packet's bytes are held until its transmission ends, rather than starts.
    pub release_at_end: bool,
    /// The sharing policy.
    pub sharing: S,
    /// The AQM.
    pub aqm: A,
    /// The scheduler.
    pub scheduling: SchedulingPolicy,
    /// The meter of the buffer's occupancy.
    pub meter: Meter,
    /// How the switch accounts for lossless packets, if some packets are lossless.
    pub lossless: Option<LosslessParts>,
}

/// The facts about a switch that decide which shortcuts its ports may take.
#[derive(Clone, Copy, Debug)]
pub struct PortFacts {
    /// Queues of each port.
    pub queues_per_port: u32,
    /// Whether a policy decides about packets on their way out, or a trace observes them there.
    pub decides_departures: bool,
    /// Whether a policy may drop packets on their way out.
    pub drops_departures: bool,
    /// Whether arrivals are traced.
    pub is_traced: bool,
    /// Whether the AQM is told of the turns of queues.
    pub watches_turns: bool,
    /// Whether a policy must see packets leave in order of time among all switches.
    pub watches_in_time: bool,
    /// Whether packets that are already queued may be pushed out.
    pub pushes_out: bool,
    /// Whether packets that are already queued may be expelled at any time.
    pub expels: bool,
    /// Whether bytes are held until a transmission ends.
    pub holds_until_sent: bool,
    /// Whether the scheduler keeps an account for each queue. A queue that becomes empty loses its
    /// account.
    pub schedules_by_account: bool,
    /// Whether queues are served by strict priority.
    pub is_strict: bool,
    /// Whether the scheduler chooses among the packets of a queue.
    pub chooses_packets: bool,
    /// Whether pause frames may stop its queues.
    pub can_be_paused: bool,
    /// Whether unimportant packets are counted.
    pub counts_unimportant: bool,
}

/// A queue class that no queue has.
const NO_QUEUE_CLASS: u8 = u8::MAX;

/// One shared-memory switch. The fields that every packet needs come first and take as few cache
/// lines as possible: one for a packet that passes an idle port, and two more for a packet that is
/// queued.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Switch<S = SharingPolicy, A = AqmPolicy> {
    /// Below this occupancy, no policy need be asked about a packet that passes an idle port.
    open_below: u64,
    lost: Vec<Lost>,
    /// With `release_at_end`: for every port, the queue and bytes of the packet in transmission.
    in_transmission: Option<Box<[(QueueId, u32)]>>,
    /// The queue class of data without a priority, and that of control packets. Data and control
    /// packets arrive in no predictable order, so a table is faster than a branch.
    plain_queue_classes: [u8; 2],
    /// The queue class that the AQM does not manage. This is the queue class of acks if no data
    /// share it, else [`NO_QUEUE_CLASS`].
    unmanaged: u8,
    last_queue_class: u8,
    /// Whether a policy decides about packets on their way out, or a trace observes them there.
    watches_departures: bool,
    /// Whether arrivals are traced or observed, or the AQM is told of marks.
    is_traced: bool,
    /// Whether arrivals are announced or traced, or unimportant packets have a limit.
    is_watched: bool,
    /// Whether the AQM must know the flows of arrivals.
    names_flows: bool,
    /// Whether the AQM is asked about arrivals that find their port idle.
    asks_passing: bool,
    /// Whether policies are told of packets that pass as if these had been queued.
    tells_passing: bool,
    /// Whether the scheduler must be told of packets that are sent. This is false if ports have one
    /// queue.
    tells_scheduler: bool,
    /// The buffer's first field, the occupancy, still lies in the switch's first cache line.
    buffer: Buffer,
    lists: Lists,
    queue_limit: QueueLimit,
    uncounted_bytes: u32,
    /// Whether a packet may pass an idle port without being queued, because nothing observes the
    /// queue.
    may_bypass: bool,
    /// Whether the bytes of a packet are freed when its transmission starts, and nobody observes
    /// this.
    frees_unobserved: bool,
    /// Whether each arrival is announced to the sharing policy, because the policy must know which
    /// packet arrives.
    introduces: bool,
    /// Whether the sharing policy expels packets.
    expels: bool,
    /// How packets are taken out of queues.
    dequeueing: Dequeueing,
    /// Below this occupancy, the sharing policy need not be asked about a packet that passes an
    /// idle port. Only the AQM is asked about the packet, or told of it.
    managed_below: u64,
    aqm: A,
    sharing: S,
    scheduling: SchedulingPolicy,
    marks: u64,
    /// Victims of a push-out whose outcome is still open.
    evicted: Vec<(QueueId, PacketId)>,
    decisions: Option<Vec<Decision>>,
    fates: Option<Box<Fates>>,
    bursts: Option<Box<Bursts>>,
    observer: Option<Box<Observer>>,
    meter: Meter,
    /// For every port, the sizes of the packets that wait in its only queue, if the port sends in
    /// order, or in its best queue, if only that one sends in order.
    sizes: Box<[Sizes]>,
    /// The state of lossless packets, if some packets are lossless.
    lossless: Option<Box<Lossless>>,
    /// The moment of the next expulsion, if its owner knows of one.
    expulsion: Option<Time>,
    /// The bytes of unimportant packets, if they have a limit.
    unimportant: Option<Box<Unimportant>>,
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// An empty switch.
    pub fn new(parts: SwitchParts<S, A>) -> Switch<S, A> {
        let ports = parts.port_rates.len();
        let last_queue_class = parts.queues_per_port as u8 - 1;
        let watches_departures =
            parts.aqm.watches_departures() || parts.sharing.watches_departures();
        let lossless = parts.lossless.map(|lossless| {
            Lossless::new(
                lossless,
                parts.capacity,
                &parts.port_rates,
                parts.queues_per_port,
                &parts.meter,
            )
        });
        let capacity = lossless.as_ref().map_or(parts.capacity, Lossless::capacity_left);
        let mut switch = Switch {
            buffer: Buffer::new(capacity, parts.port_rates, parts.queues_per_port),
            lists: Lists::new(ports, parts.queues_per_port, parts.scheduling.chooses_packets()),
            sizes: vec![Sizes::default(); ports].into(),
            sharing: parts.sharing,
            aqm: parts.aqm,
            scheduling: parts.scheduling,
            unmanaged: parts.unmanaged.unwrap_or(NO_QUEUE_CLASS),
            plain_queue_classes: [parts.data_queue_class, parts.ack_queue_class],
            last_queue_class,
            queue_limit: QueueLimit::of(parts.queue_limit),
            uncounted_bytes: parts.uncounted_bytes,
            watches_departures,
            may_bypass: false,
            in_transmission: parts.release_at_end.then(|| vec![(0, 0); ports].into()),
            meter: parts.meter,
            marks: 0,
            evicted: Vec::new(),
            lost: Vec::new(),
            decisions: None,
            fates: None,
            bursts: None,
            observer: None,
            is_traced: false,
            is_watched: false,
            unimportant: None,
            frees_unobserved: false,
            introduces: false,
            expels: false,
            asks_passing: false,
            tells_passing: false,
            tells_scheduler: false,
            names_flows: false,
            dequeueing: Dequeueing::InOrder,
            open_below: 0,
            managed_below: 0,
            lossless: lossless.map(Box::new),
            expulsion: None,
        };
        switch.introduces = switch.sharing.knows_packets();
        switch.expels = switch.sharing.expels();
        switch.names_flows = switch.aqm.knows_flows();
        switch.tells_scheduler = last_queue_class > 0 && switch.scheduling.watches_sending();
        let tells_turns = last_queue_class > 0 && switch.aqm.watches_turns();
        let can_be_paused = switch.lossless.is_some();
        switch.dequeueing = match (switch.scheduling.chooses_packets(), tells_turns) {
            (false, false) if can_be_paused => Dequeueing::Pausable,
            (false, true) if can_be_paused => Dequeueing::PausableInTurn,
            (false, false) => Dequeueing::InOrder,
            (false, true) => Dequeueing::InTurn,
            (true, false) => Dequeueing::ByChoice,
            (true, true) => unreachable!("a scheduler that chooses packets has no turns"),
        };
        switch.ask_if_needed();
        switch
    }

    /// Works out from the policies' parameters which arrivals the policies need not be asked about.
    fn ask_if_needed(&mut self) {
        self.asks_passing = !self.aqm.passes_idle_ports();
        self.tells_passing = self.sharing.watches_queues()
            || self.aqm.watches_queues()
            || self.lossless.is_some() && self.sharing.watches_beside_paused();
        self.let_lossless_pass();
        self.trace_if_asked();
    }

    /// The buffer at this moment, as the sharing policy sees it. Memory that only lossless packets
    /// may take is left out.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Whether a port has anything to send.
    #[inline]
    pub fn has_backlog(&self, port: u32) -> bool {
        !self.lists.backlog(port).is_empty()
    }

    /// Prefetches the packet that a port will probably send next.
    #[inline]
    pub fn prefetch_next(&self, port: u32, packets: &Arena) {
        let backlog = self.lists.backlog(port);
        if !backlog.is_empty() {
            packets.prefetch(self.lists.head(self.buffer.queue_of(port, backlog.first())));
        }
    }

    /// Whether a policy is told the flows of packets.
    pub fn knows_flows(&self) -> bool {
        self.names_flows || self.introduces
    }

    /// Bytes that wait in all queues of a port. A packet in transmission that still holds its bytes
    /// does not count.
    pub fn waiting_bytes(&self, port: u32) -> u64 {
        let held = self.in_transmission.as_ref().map_or(0, |sent| sent[port as usize].1);
        self.port_bytes(port) - u64::from(held)
    }

    /// Whether bytes are held until the end of a transmission. If so, [`Switch::on_sent`] must be
    /// called at that end.
    #[inline]
    pub fn releases_at_end(&self) -> bool {
        self.in_transmission.is_some()
    }

    /// The facts that decide which shortcuts the switch's ports may take.
    pub fn port_facts(&self) -> PortFacts {
        PortFacts {
            queues_per_port: self.buffer.queues_per_port(),
            decides_departures: self.watches_departures,
            drops_departures: self.sharing.drops_departures() || self.aqm.drops_departures(),
            is_traced: self.traces_arrivals(),
            watches_turns: self.buffer.queues_per_port() > 1 && self.aqm.watches_turns(),
            watches_in_time: self.sharing.watches_in_time()
                || self.aqm.watches_in_time()
                || self.scheduling.watches_in_time(),
            pushes_out: self.sharing.pushes_out(),
            expels: self.expels,
            holds_until_sent: self.releases_at_end(),
            schedules_by_account: self.scheduling.keeps_account(),
            is_strict: self.scheduling.is_strict(),
            chooses_packets: self.scheduling.chooses_packets(),
            can_be_paused: self.lossless.is_some(),
            counts_unimportant: self.unimportant.is_some(),
        }
    }

    /// Sets whether packets may pass idle ports without being queued. Initially they may not, and
    /// never if unimportant packets are counted.
    pub fn let_pass(&mut self, passes: bool) {
        self.may_bypass = passes && self.unimportant.is_none();
        self.ask_if_needed();
    }

    /// The run is over. The sharing policy brings up to date what it otherwise computes only at
    /// arrivals.
    pub fn finish_sharing(&mut self, now: Time) {
        (0..self.buffer.queues().len() as QueueId)
            .for_each(|queue| self.sharing.look_at(now, queue));
    }

    /// The sharing policy's counters, by name.
    pub fn sharing_counters(&self) -> Vec<Count> {
        self.sharing.counters()
    }

    /// Packets marked so far.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// The occupancy measured up to `now`.
    pub fn meter(&mut self, now: Time) -> &Meter {
        if let Some(lossless) = &mut self.lossless {
            return lossless.meter(now);
        }
        let occupancy = self.buffer.occupancy();
        self.meter.changes(now, occupancy, occupancy);
        &self.meter
    }

    /// A packet arrives for a port that is sending or has a backlog. The packet may be lost, or it
    /// may push out others.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packet: &Packet,
        packets: &mut Arena,
    ) {
        let arrival = self.arrival(now, port, id, packet, packets);
        if !self.admit(&arrival, id, packet.flags, packets) {
            return;
        }
        let queued = &mut packets[id];
        queued.time = now;
        queued.queue_class = arrival.queue_class;
        let Arrival { queue, queue_class, .. } = arrival;
        self.lists.append(Place { queue, port, queue_class }, id, packets);
        self.joins(&arrival);
    }

    /// How often the sharing policy and the AQM want to be woken.
    pub fn periods(&self) -> [Option<Time>; 2] {
        [self.sharing.period(), self.aqm.period()]
    }

    /// Another period of the sharing policy (0) or of the AQM (1) has passed.
    pub fn on_timer(&mut self, now: Time, policy: usize) {
        match policy {
            0 => self.sharing.on_timer(now, &self.buffer),
            _ => match &mut self.lossless {
                Some(lossless) => self.aqm.on_timer(now, lossless.with_all(&self.buffer)),
                None => self.aqm.on_timer(now, &self.buffer),
            },
        }
    }

    /// The numbers by which the AQM marks the packets of a queue at this moment. `None` if the AQM
    /// has no such numbers or does not manage the queue. No departure that was due before `now` may
    /// still be deferred.
    pub fn sample_aqm(&self, now: Time, queue: QueueId) -> Option<AqmSample> {
        if self.buffer.queue_class_of(queue) == self.unmanaged {
            None
        } else {
            self.aqm.sample(now, queue, self.buffer_of(queue))
        }
    }

    /// Accounts for a packet that joins its queue, and tells the policies.
    #[inline(always)]
    fn joins(&mut self, arrival: &Arrival) {
        self.add(arrival.now, arrival.queue, arrival.size);
        self.sharing.on_enqueue(arrival, &self.buffer);
        self.aqm.on_enqueue(arrival, &self.buffer);
    }

    /// Accounts for a packet that leaves its queue to be sent, and tells the policies.
    #[inline(always)]
    fn leaves(&mut self, now: Time, port: u32, queue: QueueId, size: u32) {
        self.release(now, port, queue, size);
        self.sharing.on_dequeue(now, queue, size, &self.buffer);
        self.aqm.on_dequeue(now, queue, size, &self.buffer);
    }

    #[inline]
    fn add(&mut self, now: Time, queue: QueueId, size: u32) {
        self.change(now, |buffer| buffer.add(queue, size));
    }

    #[inline]
    fn subtract(&mut self, now: Time, queue: QueueId, size: u32) {
        self.change(now, |buffer| buffer.subtract(queue, size));
    }

    /// As `subtract`, and tells the observer before the bytes change.
    #[cold]
    #[inline(never)]
    fn subtract_observed(&mut self, now: Time, queue: QueueId, size: u32) {
        self.note_held(now, queue);
        self.subtract(now, queue, size);
    }

    /// Changes the buffer, and tells the meter.
    #[inline(always)]
    fn change(&mut self, now: Time, change: impl FnOnce(&mut Buffer)) {
        let before = self.buffer.occupancy();
        change(&mut self.buffer);
        self.meter.changes(now, before, self.buffer.occupancy());
    }

    /// The transmission of a packet starts. Frees the packet's bytes, or, with `release_at_end`,
    /// notes that they are freed when the transmission ends.
    #[inline]
    fn release(&mut self, now: Time, port: u32, queue: QueueId, size: u32) {
        if self.frees_unobserved {
            return self.subtract(now, queue, size);
        }
        match &mut self.in_transmission {
            None => self.subtract_observed(now, queue, size),
            Some(in_transmission) => {
                in_transmission[port as usize] = (queue, size);
                self.buffer.subtract_packet(queue);
            }
        }
    }
}

#[cfg(test)]
mod tests;
