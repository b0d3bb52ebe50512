//! The ring of a port.
//!
//! Many NICs, real or simulated, have a short FIFO ring below their managed queues. Packets in the
//! ring are no longer counted, marked, pushed out or reordered. A packet that enters the ring has
//! its time on the line already. So the ring stores only the times at which its packets start.

use super::line::Line;
use crate::scenario::Scenario;
use spillway_engine::Time;

/// The ring below the queues of one port.
#[derive(Clone, Debug)]
pub(crate) struct PortFifo {
    /// The start times of the latest packets, as many as the ring holds; a circular buffer.
    starts: Box<[Time]>,
    /// The index of the oldest of them.
    oldest: usize,
    /// When the last packet has been sent.
    end: Time,
}

impl PortFifo {
    fn new(packets: u32) -> PortFifo {
        let starts = vec![Time::ZERO; packets as usize].into();
        PortFifo { starts, oldest: 0, end: Time::ZERO }
    }

    /// A packet enters whose transmission takes `duration`. Returns when it will have been sent,
    /// and when the next packet may enter. If the ring holds n packets, the next one may enter once
    /// the n-th packet before it has started.
    pub fn push(&mut self, now: Time, duration: Time) -> (Time, Time) {
        let start = self.end.max(now);
        self.end = start + duration;
        self.starts[self.oldest] = start;
        self.oldest = (self.oldest + 1) % self.starts.len();
        (self.end, self.starts[self.oldest])
    }

    /// When the last packet has been sent.
    pub fn end(&self) -> Time {
        self.end
    }
}

/// The rings of all ports, by line; empty if no port has one.
pub(crate) fn of_lines(scenario: &Scenario, lines: &mut [Line]) -> Vec<Option<PortFifo>> {
    let hosts = scenario.topology.hosts() as usize;
    let packets = |line: &Line| {
        if (line.number as usize) < hosts {
            scenario.nic.fifo_packets
        } else {
            scenario.tiers[scenario.tier_of(line.from)].settings.port_fifo_packets
        }
    };
    if !scenario.has_port_fifos() {
        return Vec::new();
    }
    let fifo = |line: &mut Line| {
        let packets = packets(line);
        line.attended |= packets > 0;
        (packets > 0).then(|| PortFifo::new(packets))
    };
    lines.iter_mut().map(fifo).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_packets_wait_beside_the_one_on_the_line() {
        let ns = Time::from_ns;
        let mut fifo = PortFifo::new(2);
        // Packets of 10 ns, all at once. The first is sent, the next two wait. A fourth may enter
        // when the second starts, a fifth when the third does.
        assert_eq!(fifo.push(ns(5), ns(10)), (ns(15), ns(0)));
        assert_eq!(fifo.push(ns(5), ns(10)), (ns(25), ns(5)));
        assert_eq!(fifo.push(ns(5), ns(10)), (ns(35), ns(15)));
        assert_eq!(fifo.push(ns(15), ns(10)), (ns(45), ns(25)));
        // The line is idle once all have left.
        assert_eq!(fifo.push(ns(50), ns(10)), (ns(60), ns(35)));
        assert_eq!(fifo.end(), ns(60));
    }

    #[test]
    fn with_one_that_may_wait_the_next_comes_when_it_starts() {
        let ns = Time::from_ns;
        let mut fifo = PortFifo::new(1);
        assert_eq!(fifo.push(ns(0), ns(10)), (ns(10), ns(0)));
        assert_eq!(fifo.push(ns(0), ns(10)), (ns(20), ns(10)));
    }
}
