//! Switches whose sharing policy expels packets that wait.
//!
//! A policy expels at moments of its own. Only one event is pending for each switch, and none while
//! nothing could be expelled. An arrival, a timer of a policy or a new parameter may bring an
//! expulsion forward, so these switches are looked at after each; what leaves can only delay it.

use super::{Network, SwitchPorts};
use crate::event::Kind;
use crate::port::line::End;
use crate::port::timetable::Timetable;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::PacketId;
use spillway_topology::Node;

impl Network {
    /// Marks the lines that lead to switches that expel packets. Packets that arrive there are
    /// handled apart.
    pub(super) fn mark_expelling(&mut self) {
        for line in self.lines.iter_mut().filter(|line| line.end == End::Switch) {
            if self.switches[line.to as usize].expels() {
                line.end = End::ExpellingSwitch;
                self.ports[line.to as usize].waiting = Timetable::always_due();
            }
        }
    }

    /// A packet has arrived at a switch that expels packets, on a line.
    #[inline(never)]
    pub(super) fn forward_expelling(&mut self, line_id: u32, id: PacketId) {
        let packet = self.packets[id];
        let switch_id = self.lines[line_id as usize].to;
        let SwitchPorts { first_line, seed, .. } = self.ports[switch_id as usize];
        let Some(port) = self.next_port::<true>((switch_id, seed), &packet) else {
            return self.lose(id, DropReason::NoRoute, Node::Switch(switch_id));
        };
        let out = first_line + port;
        let line = &self.lines[out as usize];
        let is_idle = (line.busy_until <= self.now) & !line.waits;
        let switch = &mut self.switches[switch_id as usize];
        let sent = if is_idle {
            switch.pass(self.now, port, id, &packet, &mut self.packets)
        } else {
            switch.enqueue(self.now, port, id, &packet, &mut self.packets);
            None
        };
        let has_lost = switch.has_lost();
        let must_wait = match sent {
            Some(_) => switch.releases_at_end(),
            None => switch.has_backlog(port),
        };
        if let Some(id) = sent {
            self.transmit(out, id);
        }
        if must_wait && !self.lines[out as usize].waits {
            self.wait(out);
        }
        if has_lost {
            self.collect_lost(switch_id);
        }
        self.schedule_expulsion(self.now, switch_id);
    }

    /// Something has happened that may bring a switch's next expulsion forward, or that was one.
    pub fn schedule_expulsion(&mut self, now: Time, switch_id: u32) {
        if let Some(at) = self.switches[switch_id as usize].next_expulsion(now) {
            self.events.push(at, Kind::Expulsion.key(switch_id));
        }
    }

    /// The moment of a switch's next expulsion has come.
    pub fn on_expulsion(&mut self, switch_id: u32) {
        let switch = &mut self.switches[switch_id as usize];
        switch.expel(self.now, &mut self.packets);
        if switch.has_lost() {
            self.collect_lost(switch_id);
        }
        self.schedule_expulsion(self.now, switch_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shortcuts;
    use crate::testing::{Bench, STAR, US};
    use spillway_engine::Time;
    use spillway_switch::packet::{Contents, Packet};

    /// T is what is free of 10,000 bytes. The memory reads as much as three ports send, 3 bytes in a
    /// nanosecond, and the bucket holds a packet of 1,000.
    fn bench(more: &str) -> Bench {
        let sharing = format!("{{ kind = \"occamy\", alpha = 1, bucket = 1000{more} }}");
        let switch = format!("switch = {{ buffer = \"10000B\", sharing = {sharing} }}");
        Bench::with(&format!("{STAR}\n{switch}"), Shortcuts::ALL)
    }

    /// Packets of 1,000 bytes arrive at the switch now.
    fn come(bench: &mut Bench, dst: u32, number: usize) {
        for _ in 0..number {
            let id =
                bench.make(Packet { size: 1_000, dst, ..Packet::default() }, Contents::default());
            let packet = bench.net.packets[id];
            bench.net.forward(0, 0, id, &packet);
        }
    }

    /// Why packets were lost since the last call, and the bytes that wait.
    fn lost(bench: &mut Bench) -> (Vec<DropReason>, u64) {
        let lost = std::mem::take(&mut bench.net.lost);
        lost.iter().for_each(|lost| bench.net.packets.remove(lost.packet));
        let reasons = lost.iter().map(|lost| lost.reason).collect();
        (reasons, bench.net.switches[0].buffer().occupancy())
    }

    #[test]
    fn an_expulsion_is_an_event_at_its_tick_and_none_is_pending_without_a_candidate() {
        let mut bench = bench("");
        // One on the line, and five wait: 5,000 <= T = 5,000.
        come(&mut bench, 1, 7);
        assert_eq!(lost(&mut bench), (vec![DropReason::OverThreshold], 5_000));
        assert_eq!(bench.net.switches[0].next_expulsion(Time::ZERO), None);
        // One more on the line to another host, and one waits: T = 4,000. The bucket of 1,000 has
        // paid for one of the two, and 1,001 bytes come until 333.3 ns, the first of them at 0.
        come(&mut bench, 2, 2);
        assert_eq!(bench.step(), (333_334, Kind::Expulsion, 0));
        assert_eq!(lost(&mut bench), (vec![DropReason::Expelled], 5_000));
        // Now T = 5,000 again. What is left are ports that can send, and arrivals.
        let kinds: Vec<_> = bench.pending().into_iter().map(|(ps, kind, _)| (ps, kind)).collect();
        let expected = [(US, Kind::Wake); 2].into_iter().chain([(11 * US, Kind::Arrival); 2]);
        assert_eq!(kinds, expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_leaves_meanwhile_may_save_a_packet() {
        // A twentieth of the bandwidth: 1,001 bytes take 6.67 us, when all has been sent.
        let mut bench = bench(", bandwidth = 0.05");
        come(&mut bench, 1, 6);
        come(&mut bench, 2, 2);
        // At 1 us both ports send, and until 5 us the first one.
        assert_eq!(bench.steps::<6>()[5], (5 * US, Kind::Wake, 4));
        assert_eq!(lost(&mut bench), (vec![], 0));
        assert_eq!(bench.step(), (6_666_667, Kind::Expulsion, 0));
        assert_eq!(lost(&mut bench), (vec![], 0));
        assert!(bench.pending().iter().all(|(_, kind, _)| *kind == Kind::Arrival));
    }

    #[test]
    fn a_threshold_that_is_worked_out_brings_expulsions_about_also_several_at_once() {
        let mut bench = bench(", preset = \"dpdk\"");
        bench.net.schedule_timers();
        // T = 10,000 until 1 us: one on the line, and eight wait.
        come(&mut bench, 1, 9);
        assert_eq!(lost(&mut bench), (vec![], 8_000));
        assert_eq!(bench.net.switches[0].next_expulsion(Time::ZERO), None);
        // Seven wait then, T = 3,000, and ten tokens are owed. 27 come after 27 * 200 bytes at 1.08 *
        // 3 bytes in a nanosecond, and a packet costs five: 12, 7, 2, -3.
        assert_eq!(
            bench.steps::<2>().map(|step| (step.0, step.1)),
            [(US, Kind::Wake), (US, Kind::PolicyTimer)]
        );
        assert_eq!(lost(&mut bench), (vec![], 7_000));
        assert_eq!(bench.steps::<4>(), [(1_666_667, Kind::Expulsion, 0); 4]);
        assert_eq!(lost(&mut bench), (vec![DropReason::Expelled; 4], 3_000));
        assert_eq!(bench.step().0, 2 * US);
    }
}
