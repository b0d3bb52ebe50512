//! The least time that a flow could take if it were alone in the same network.

use crate::routing::Routing;
use crate::{LineId, LineSpec, Node, Topology};
use spillway_engine::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow's packets on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Packets {
    /// The number of packets.
    pub count: u64,
    /// Bytes of each packet but the last.
    pub full: u64,
    /// Bytes of the last packet.
    pub last: u64,
}

impl Packets {
    /// The packets of `size` bytes of payload, `mss` in each, with `header` bytes of headers.
    pub fn of(size: u64, mss: u32, header: u32) -> Packets {
        let (mss, header) = (u64::from(mss), u64::from(header));
        let count = size.div_ceil(mss);
        Packets { count, full: mss + header, last: size - (count - 1) * mss + header }
    }

    /// The most of their bytes that a line sends in a picosecond. If times are cut to whole
    /// nanoseconds, packets of another size are sent faster or slower.
    fn fastest_on(&self, line: &LineSpec) -> f64 {
        if !line.whole_ns {
            return 1.0 / line.rate.ps_per_byte();
        }
        let fast = |bytes: u64| bytes as f64 / line.time_of(bytes).ps() as f64;
        if self.count > 1 { fast(self.full).max(fast(self.last)) } else { fast(self.last) }
    }
}

/// The time from the first bit sent to the last bit received, if all packets are sent back to back
/// and each is forwarded once it has arrived completely. For a path without other traffic this is
/// exact. If clocks are not exact, it is off by up to a picosecond for each packet and line.
///
/// With n packets of equal size s, the last leaves line i at sum_{j<=i} s/r_j + (n-1) max_{j<=i}
/// s/r_j. The last packet follows them and is not larger. On each line it waits for its own
/// arrival, and for them to leave.
pub fn least_time(path: &[LineSpec], packets: Packets) -> Time {
    let mut propagation = Time::ZERO;
    let mut sum = Time::ZERO;
    let mut slowest = Time::ZERO;
    let mut last = Time::ZERO;
    for line in path {
        propagation += line.delay;
        let full = line.time_of(packets.full);
        sum += full;
        slowest = slowest.max(full);
        let line_free = match packets.count {
            1 => Time::ZERO,
            n => sum + slowest * (n - 2),
        };
        last = last.max(line_free) + line.time_of(packets.last);
    }
    propagation + last
}

/// The lines of a path in the form that [`least_time`] takes.
pub fn lines(topology: &Topology, path: &[LineId]) -> Vec<LineSpec> {
    path.iter().map(|&line| topology.lines[line as usize]).collect()
}

/// The least time of one packet of this many bytes from one host to another. With `routing`, over
/// any of the next hops that it offers; without it, over any lines. `None` if there is no path.
pub fn fastest(
    topology: &Topology,
    routing: Option<&Routing>,
    from: u32,
    to: u32,
    bytes: u64,
) -> Option<Time> {
    let mut reached = vec![false; topology.switches.len()];
    // Nodes that have been reached, the earliest first (Dijkstra's algorithm).
    let mut next = BinaryHeap::new();
    let go = |next: &mut BinaryHeap<_>, now: Time, line: LineId| {
        let line = &topology.lines[line as usize];
        next.push(Reverse((now + line.time_of(bytes) + line.delay, line.to)));
    };
    go(&mut next, Time::ZERO, topology.nics[from as usize]);
    while let Some(Reverse((now, node))) = next.pop() {
        match node {
            Node::Host(host) if host == to => return Some(now),
            Node::Host(_) => {}
            Node::Switch(switch) if reached[switch as usize] => {}
            Node::Switch(switch) => {
                reached[switch as usize] = true;
                let ports = &topology.switches[switch as usize].ports;
                match routing {
                    None => ports.iter().for_each(|&line| go(&mut next, now, line)),
                    Some(routing) => {
                        let hops = routing.next_hops(switch, to).iter();
                        hops.for_each(|&port| go(&mut next, now, ports[port as usize]));
                    }
                }
            }
        }
    }
    None
}

/// The least time that packets need at the narrowest stage of the network. A stage consists of all
/// ports that packets between these hosts may take after the same number of hops.
pub fn narrowest(
    topology: &Topology,
    routing: &Routing,
    from: u32,
    to: u32,
    packets: Packets,
) -> Time {
    let bytes = packets.full * (packets.count - 1) + packets.last;
    let mut stage = vec![topology.lines[topology.nics[from as usize] as usize].to];
    let mut longest = 0.0;
    while stage.iter().any(|node| matches!(node, Node::Switch(_))) {
        let (mut next, mut bytes_per_ps) = (Vec::new(), 0.0);
        for node in stage {
            let Node::Switch(switch) = node else { continue };
            for &port in routing.next_hops(switch, to) {
                let line = topology.switches[switch as usize].ports[port as usize];
                let line = &topology.lines[line as usize];
                bytes_per_ps += packets.fastest_on(line);
                next.push(line.to);
            }
        }
        longest = f64::max(longest, bytes as f64 / bytes_per_ps);
        next.sort_unstable();
        next.dedup();
        stage = next;
    }
    Time::from_ps(longest as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillway_engine::Rate;

    fn line(gbps: u64, delay_us: u64) -> LineSpec {
        let rate = Rate::from_bits_per_second(gbps * 1_000_000_000).unwrap();
        let (from, to) = (Node::Host(0), Node::Switch(0));
        LineSpec { from, to, rate, delay: Time::from_us(delay_us), whole_ns: false }
    }

    #[test]
    fn one_packet_is_stored_and_forwarded() {
        // Two hops of 10 Gbps and 3 us, 1500 B: 2 * (1.2 + 3) us.
        let path = [line(10, 3), line(10, 3)];
        let packets = Packets::of(1448, 1448, 52);
        assert_eq!(least_time(&path, packets), Time::from_ns(8_400));
    }

    #[test]
    fn the_slowest_line_paces_the_rest() {
        // 10, then 1 Gbps; 3 full packets of 1500 and one of 100 + 52. First packet through both:
        // 1.2 + 12 us; two more at 12 us; the last 152 * 8 ns = 1.216 us. Propagation 2 us.
        let path = [line(10, 1), line(1, 1)];
        let packets = Packets::of(3 * 1448 + 100, 1448, 52);
        let expected = Time::from_ns(1_200 + 36_000 + 1_216 + 2_000);
        assert_eq!(least_time(&path, packets), expected);
    }

    #[test]
    fn the_fastest_way_may_have_more_hops() {
        // 0 - 1 directly at 1 Gbps; over 2 at 40 Gbps with 3 us per link; over 3 at 10 Gbps.
        let mut topology = Topology::default();
        (0..4).for_each(|_| _ = topology.add_switch("leaf"));
        let rate = |gbps: u64| Rate::from_bits_per_second(gbps * 1_000_000_000).unwrap();
        topology.add_host(0, rate(10), Time::ZERO);
        topology.add_host(1, rate(10), Time::ZERO);
        topology.add_link(0, 1, rate(1), Time::ZERO);
        for (middle, gbps, us) in [(2, 40, 3), (3, 10, 1)] {
            topology.add_link(0, middle, rate(gbps), Time::from_us(us));
            topology.add_link(middle, 1, rate(gbps), Time::from_us(us));
        }
        // 1500 B take 2 * 1.2 us at the hosts, and in between 12, 2 * (0.3 + 3) or 2 * (1.2 + 1)
        // us.
        assert_eq!(fastest(&topology, None, 0, 1, 1500), Some(Time::from_ns(6_800)));
        let routing = Routing::new(&topology, &vec![true; topology.lines.len()]);
        assert_eq!(fastest(&topology, Some(&routing), 0, 1, 1500), Some(Time::from_ns(14_400)));
        // Small packets gain less: 50 B take 2 * 0.04 us at the hosts, and 0.4 us directly.
        assert_eq!(fastest(&topology, None, 0, 1, 50), Some(Time::from_ns(480)));
    }

    proptest! {
        /// Compared with a recursion over packets: a packet leaves a line when it has arrived and
        /// its predecessor has left.
        #[test]
        fn it_is_what_the_recursion_says(
            rates in prop::collection::vec(1u64..100, 1..6),
            count in 1u64..30,
            last in 40u64..1500,
        ) {
            let path: Vec<LineSpec> = rates.iter().map(|&gbps| line(gbps, 1)).collect();
            let packets = Packets { count, full: 1500, last };
            let mut left = vec![Time::ZERO; path.len()];
            let mut end = Time::ZERO;
            for k in 0..count {
                let bytes = if k + 1 == count { last } else { 1500 };
                let mut at = Time::ZERO;
                for (line, left) in path.iter().zip(&mut left) {
                    *left = at.max(*left) + line.time_of(bytes);
                    at = *left + line.delay;
                }
                end = at;
            }
            prop_assert_eq!(least_time(&path, packets), end);
        }
    }
}
