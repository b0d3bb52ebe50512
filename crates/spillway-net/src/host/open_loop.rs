//! Open loop: sending by a clock, whatever the network does.

use super::Hosts;
use super::ends::{Driver, SendingEnd};
use super::sending::send_piece;
use crate::event::Kind;
use crate::network::Network;
use crate::scenario::Scenario;
use spillway_engine::Stream;
use spillway_transport::Control;
use spillway_transport::flow::FlowSpec;
use spillway_transport::sender::Piece;

/// The clock of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    random: Stream,
    /// The next byte to send.
    next: u64,
}

impl Clock {
    /// The clock of a flow that starts.
    pub fn new(seed: u64, flow: u32) -> Clock {
        Clock { random: Stream::new(seed, "clock", flow.into()), next: 0 }
    }

    /// Takes this many bytes to be sent, for tests.
    #[cfg(test)]
    pub fn send_all(&mut self, bytes: u64) {
        self.next = bytes;
    }

    /// Whether this many bytes have been sent.
    pub fn has_sent(&self, bytes: u64) -> bool {
        self.next >= bytes
    }
}

impl Hosts {
    /// A flow's clock fires: it sends its next packet.
    pub(super) fn send_by_clock(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver: Driver::OpenLoop(clock) } = self.ends.sending_mut(slot)
        else {
            unreachable!("only an open loop has a clock")
        };
        let transport = scenario.transport(flow.transport);
        let Control::OpenLoop(rate) = &transport.control else {
            unreachable!("a flow is driven as its transport says")
        };
        let size = flow.spec.size;
        if size == FlowSpec::ENDLESS && net.now >= scenario.class_stop[usize::from(flow.spec.class)]
        {
            return;
        }
        let payload = u64::from(transport.mss).min(size - clock.next);
        let piece = Piece { seq: clock.next, payload: payload as u32, again: false };
        clock.next += payload;
        if clock.next < size {
            let gap = rate.gap(payload as u32 + transport.header, &mut clock.random);
            let nic = scenario.topology.nics[flow.spec.src as usize];
            let gap = scenario.topology.lines[nic as usize].rate.clock().stretch(gap);
            net.events.push(net.now + gap, Kind::Clock.key(flow.id));
        }
        let remaining = flow.remaining(piece.seq);
        let is_last = clock.has_sent(size);
        send_piece(net, flow, transport, (piece, clock.next), 0, remaining);
        if is_last {
            self.note_all_sent(slot);
        }
    }
}
