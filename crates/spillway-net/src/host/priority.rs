//! The one place where a packet's priority is chosen, each time it is sent.

use super::ends::Outgoing;
use spillway_switch::packet::NO_PRIORITY;
use spillway_transport::sender::Piece;
use spillway_transport::tagging::{self, Tagging};

/// Acks and packets of a handshake have no priority: NICs and switches have a queue for them.
pub(super) const OF_CONTROL: u8 = NO_PRIORITY;

/// The priority that a flow's latest new packet was given. New packets that begin before the byte
/// `until` of the flow have it too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    until: u32,
    priority: u8,
}

impl Held {
    /// Nothing is held: the priority of the next packet must be found.
    pub const NONE: Held = Held { until: 0, priority: NO_PRIORITY };
}

/// The priority of a data packet: the one that its tagger gives it or, without a tagger, the flow's
/// own, if the flow has one. `next` is the first byte of the flow that was never sent before.
#[inline(always)]
pub(super) fn of_data(flow: &mut Outgoing, piece: &Piece, next: u64, tagging: &Tagging) -> u8 {
    let seq = piece.seq - flow.first_byte;
    if seq < flow.held.until.into() && !piece.again {
        flow.held.priority
    } else {
        found(flow, piece, next, tagging)
    }
}

/// As `of_data`, if the priority must be found: for a retransmission, or if the latest priority
/// does not hold any more.
#[inline(never)]
fn found(flow: &mut Outgoing, piece: &Piece, next: u64, tagging: &Tagging) -> u8 {
    let &Piece { seq, payload, again } = piece;
    let (seq, next) = (seq - flow.first_byte, next - flow.first_byte);
    let (restart, timeouts) = (flow.restart, flow.timeouts);
    let (size, bound) = (flow.spec.size, flow.spec.bound);
    let told = tagging::Outgoing { seq, payload, again, next, restart, timeouts, bound, size };
    let of_flow = (flow.spec.priority.unwrap_or(NO_PRIORITY), u64::MAX);
    let (priority, until) = tagging.priority(&told).unwrap_or(of_flow);
    if !again {
        // Beyond 4 GiB, taggers are asked for every packet.
        flow.held = Held { until: until.min(u32::MAX.into()) as u32, priority };
    }
    priority
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shortcuts;
    use crate::testing::{Bench, STAR, flow, transport};
    use spillway_engine::Time;
    use spillway_transport::flow::FlowSpec;

    /// A flow of one segment from host 0 to host 1, which begins with a handshake.
    fn bench(more: &str, priority: Option<u8>) -> Bench {
        let text = format!("{STAR}\n{}\n{more}", transport("newreno", "handshake = true"));
        let mut bench = Bench::with(&text, Shortcuts::NONE);
        bench.start(FlowSpec { priority, ..flow(0, 1, 960) });
        bench
    }

    /// The priorities of a request for a connection, its answer, a data packet and its ack.
    fn priorities(of_flow: Option<u8>) -> [u8; 4] {
        let mut bench = bench("", of_flow);
        [0, 1, 0, 1].map(|host| {
            let [id] = bench.on_line(host)[..] else { panic!("one packet at a time") };
            let priority = bench.net.packets[id].priority;
            // It arrives at the switch, and at the other host, which answers.
            bench.steps::<2>();
            priority
        })
    }

    /// The queues of their ports in which these four packets wait, if each finds its port busy.
    fn queues(of_flow: Option<u8>) -> [Vec<u8>; 4] {
        let queues = "switch = { queues_per_port = 4, ack_queue = 1, data_queue = 2 }";
        let mut bench = bench(queues, of_flow);
        // Port 1 leads to host 1, and port 0 back to host 0.
        [1, 0, 1, 0].map(|port| {
            bench.net.lines[3 + port as usize].busy_until = bench.net.now + Time::from_us(100);
            bench.step();
            let buffer = bench.net.switches[0].buffer();
            let holds = |queue: &u8| buffer.packets(buffer.queue_of(port, *queue)) > 0;
            let queues = (0..4).filter(holds).collect();
            // The port can send; the packet arrives at the host.
            bench.steps::<2>();
            queues
        })
    }

    #[test]
    fn only_data_have_the_priority_of_their_flow() {
        let none = NO_PRIORITY;
        assert_eq!(priorities(Some(3)), [none, none, 3, none]);
        assert_eq!(priorities(Some(0)), [none, none, 0, none]);
    }

    #[test]
    fn data_of_a_flow_without_a_priority_have_none() {
        assert_eq!(priorities(None), [NO_PRIORITY; 4]);
    }

    #[test]
    fn acks_and_handshakes_wait_in_their_own_queue_and_data_by_priority() {
        assert_eq!(queues(None), [[1], [1], [2], [1]]);
        assert_eq!(queues(Some(0)), [[1], [1], [0], [1]]);
        assert_eq!(queues(Some(3)), [[1], [1], [3], [1]]);
        // There is no queue 9: the last one is for all lower priorities.
        assert_eq!(queues(Some(9)), [[1], [1], [3], [1]]);
    }
}
