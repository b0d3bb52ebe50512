//! Ports that wait until they can send again.
//!
//! A port waits while it sends and has a backlog. If something could observe when it sends, an
//! event wakes it. Otherwise the port is deferred: it sends later, but each packet has the time at
//! which the port could have sent it. A deferred port catches up on one of two occasions. Either
//! the next packet arrives at its switch or comes to its NIC: the port catches up before anything
//! is decided about that packet. Or the last packet on its line arrives at the far end, so that the
//! line's next arrival must be scheduled. Until then nothing depends on what the port sends. Before
//! a policy's timer, a sample, or a look at the run from outside, all deferred ports catch up.
//!
//! If the port sends in the order of arrival and no policy pushes out, no decision can affect a
//! packet once it is queued. Its departure time is then known, and it goes on the line at once.
//! Only the buffer's account of its departure is deferred.
//!
//! [Shortcuts](crate::port::shortcuts) lists the ports that may be deferred, and why no result
//! changes.

use super::{Network, SwitchPorts};
use crate::event::Kind;
use crate::port::line::Waking;
use crate::port::nic::NicQueueing;
use crate::port::shortcuts::{Shortcuts, SwitchPort};
use crate::port::timetable::Timetable;
use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_switch::packet::PacketId;
use spillway_switch::{DropReason, Sent};
use spillway_topology::Node;
use spillway_transport::Transport;

impl Network {
    /// Decides which shortcuts every port takes. Called once, before anything is sent and after it
    /// is known what is recorded.
    pub fn take_shortcuts(&mut self, allowed: Shortcuts, scenario: &Scenario) {
        let has_events = !scenario.events.is_empty();
        // The bytes that a line has sent follow from its time alone, unless a link fails or times
        // are cut.
        let is_exact = !has_events && self.whole_ns.is_none();
        let mut closed = scenario.transports.iter().filter_map(Transport::closed_loop);
        self.has_queue_pairs = scenario.nic.queue_pairs;
        self.tells_begun = self.has_queue_pairs || closed.any(|closed| closed.times_from_nic);
        let is_late = scenario.topology.arrivals_first;
        let is_managed = scenario.discipline.is_some()
            || scenario.hosts_can_be_paused()
            || self.tells_begun
            || is_late;
        self.nic_queueing = allowed.of_nics(&scenario.nic, is_managed, is_exact);
        if is_late {
            return self.choose_after_arrivals();
        }
        self.mark_expelling();
        let (of_hosts, of_switches) = self.lines.split_at_mut(self.nics.len());
        for line in of_hosts {
            line.waking =
                allowed.of_nic(&scenario.nic, self.nic_queueing, line.attended, has_events);
        }
        for line in of_switches {
            let switch = &mut self.switches[line.from as usize];
            let facts = switch.port_facts();
            let port = SwitchPort { facts: &facts, is_attended: line.attended, has_events };
            let taken = allowed.of_switch_port(&port);
            line.waking = taken.waking;
            switch.let_pass(taken.passes_when_idle);
        }
    }

    /// No port takes a shortcut: each chooses after all packets of the same moment have arrived.
    fn choose_after_arrivals(&mut self) {
        self.lines.iter_mut().for_each(|line| line.waking = Waking::AfterArrivals);
        for (ports, switch) in self.ports.iter_mut().zip(&mut self.switches) {
            ports.waiting = Timetable::always_due();
            switch.let_pass(false);
        }
    }

    /// A packet has arrived on a line that leads to a switch whose ports choose after arrivals.
    #[inline(never)]
    pub(super) fn queue_for_choice(&mut self, line_id: u32, id: PacketId) {
        let packet = self.packets[id];
        let switch_id = self.lines[line_id as usize].to;
        let SwitchPorts { first_line, seed, .. } = self.ports[switch_id as usize];
        let Some(port) = self.next_port::<true>((switch_id, seed), &packet) else {
            return self.lose(id, DropReason::NoRoute, Node::Switch(switch_id));
        };
        let switch = &mut self.switches[switch_id as usize];
        switch.enqueue(self.now, port, id, &packet, &mut self.packets);
        let (lost, has_backlog) = (switch.has_lost(), switch.has_backlog(port));
        if has_backlog && !self.lines[(first_line + port) as usize].waits {
            self.wait(first_line + port);
        }
        if lost {
            self.collect_lost(switch_id);
        }
        self.schedule_expulsion(self.now, switch_id);
    }

    /// Lets a port with a backlog wait until it can send again.
    #[inline(always)]
    pub fn wait(&mut self, line_id: u32) {
        let line = &mut self.lines[line_id as usize];
        line.begin_waiting();
        match line.waking {
            Waking::Deferred | Waking::InOrder | Waking::BestInOrder => {
                self.ports[line.from as usize].waiting.add(line.busy_until, line_id);
            }
            Waking::ByEvent | Waking::Pausable => {
                self.events.push(line.busy_until, Kind::Wake.key(line_id));
            }
            Waking::AfterArrivals => {
                let free_at = line.busy_until.max(self.now);
                self.events.push(free_at, Kind::Choose.key(line_id));
            }
        }
    }

    /// A packet has arrived for a queue that sends in order, at a port that is busy or has a
    /// backlog. The queue is the port's only one, or its best one (`BEST`).
    #[inline(never)]
    pub fn queue_in_order<const BEST: bool>(&mut self, switch_id: u32, port: u32, id: PacketId) {
        let switch = &mut self.switches[switch_id as usize];
        let packet = self.packets[id];
        let is_taken = if BEST {
            switch.enqueue_best(self.now, port, id, &packet, &mut self.packets)
        } else {
            switch.enqueue_in_order(self.now, port, id, &packet, &mut self.packets)
        };
        let has_lost = switch.has_lost();
        if is_taken {
            let line_id = self.ports[switch_id as usize].first_line + port;
            if !self.lines[line_id as usize].waits {
                self.wait(line_id);
            }
            let line = &mut self.lines[line_id as usize];
            line.send(self.now, id, &mut self.packets, &mut self.events);
        }
        if has_lost {
            self.collect_lost(switch_id);
        }
    }

    /// A switch's deferred ports send what they could have sent by now, in order of time. Each
    /// packet has its own time.
    #[inline(never)]
    pub fn catch_up(&mut self, switch: u32) {
        let ports = &mut self.ports[switch as usize];
        let switch = &mut self.switches[switch as usize];
        while ports.waiting.first() <= self.now {
            let time = ports.waiting.first();
            let Some(line_id) = ports.waiting.first_line() else { return };
            let line = &mut self.lines[line_id as usize];
            let port = line_id - ports.first_line;
            let (sent, waits) = match line.waking {
                Waking::InOrder => {
                    let (size, waits) = switch.send_in_order(time, port);
                    (Some(Sent::Ahead(size)), waits)
                }
                Waking::BestInOrder => {
                    let (sent, waits) = switch.send_by_priority(time, port, &self.packets);
                    (Some(sent), waits)
                }
                _ => match switch.send_next(time, port, &mut self.packets) {
                    Some((id, waits)) => (Some(Sent::Packet(id)), waits),
                    None => (None, false),
                },
            };
            self.packet_hops += u64::from(sent.is_some());
            line.waits = waits;
            let next = match sent {
                Some(Sent::Ahead(size)) => time + line.lasts_ahead(size.into()),
                Some(Sent::Packet(id)) => {
                    line.send(time, id, &mut self.packets, &mut self.events);
                    line.catch_up_told();
                    if waits {
                        switch.prefetch_next(port, &self.packets);
                    }
                    line.busy_until
                }
                None => Time::MAX,
            };
            ports.waiting.move_first(waits.then_some(next));
        }
    }

    /// If a host's NIC is deferred, it sends what it could have sent by now.
    #[inline(never)]
    pub fn catch_up_nic(&mut self, host: u32) {
        let (line, nic) = (&mut self.lines[host as usize], &mut self.nics[host as usize]);
        if !line.waking.sends_when_empty() || !line.waits {
            return;
        }
        while line.waits && line.busy_until <= self.now {
            let id = nic.dequeue(&mut self.packets);
            self.packet_hops += 1;
            line.waits = nic.has_backlog();
            line.send(line.busy_until, id, &mut self.packets, &mut self.events);
        }
        if line.waits {
            nic.prefetch_next(&self.packets);
        }
    }

    /// A deferred port's line has run empty, so the port catches up.
    #[inline(never)]
    pub fn catch_up_line(&mut self, line_id: u32) {
        match self.sender_on(line_id) {
            Node::Host(host) => self.catch_up_nic(host),
            Node::Switch(switch) => self.catch_up(switch),
        }
    }

    /// All switches catch up.
    pub fn catch_up_switches(&mut self) {
        (0..self.switches.len() as u32).for_each(|switch| self.catch_up(switch));
    }

    /// All NICs catch up.
    pub fn catch_up_nics(&mut self) {
        if self.nic_queueing == NicQueueing::Queued {
            (0..self.nics.len() as u32).for_each(|host| self.catch_up_nic(host));
        }
    }

    /// All ports catch up.
    pub fn catch_up_all(&mut self) {
        self.catch_up_nics();
        self.catch_up_switches();
    }

    /// The event of a port that chooses after arrivals is due. All packets of this moment have
    /// arrived, so the port can send.
    #[inline(never)]
    pub fn on_choice(&mut self, line_id: u32) {
        let line = &self.lines[line_id as usize];
        // Otherwise the line has failed since the event was scheduled.
        if line.waits && line.busy_until <= self.now {
            self.send_waiting(line_id);
        }
    }

    /// A port's wake event is due: it can send again.
    #[inline(never)]
    pub fn on_wake(&mut self, line_id: u32) {
        let line = &self.lines[line_id as usize];
        // Otherwise the line has failed since the event was scheduled, or a pause frame comes
        // first.
        if line.waits && line.busy_until == self.now {
            self.send_waiting(line_id);
        } else if line.waking == Waking::Pausable {
            self.on_sent_before_frame(line_id);
        }
    }

    /// A port that waits can send.
    #[inline(always)]
    fn send_waiting(&mut self, line_id: u32) {
        let line = &mut self.lines[line_id as usize];
        line.waits = false;
        let from = line.from;
        if line.waking == Waking::Pausable {
            return self.send_unpaused(line_id);
        }
        if let Some(nic) = self.nics.get_mut(line_id as usize) {
            if self.nic_queueing == NicQueueing::Managed {
                return self.send_managed(line_id, self.tells_begun);
            }
            if nic.has_backlog() {
                let id = nic.dequeue(&mut self.packets);
                let waits = nic.has_backlog();
                if waits {
                    nic.prefetch_next(&self.packets);
                }
                self.send_and_wait(line_id, (id, waits));
            }
            return;
        }
        let (port, switch) = (self.port_of(line_id), &mut self.switches[from as usize]);
        let next = switch.send_next(self.now, port, &mut self.packets);
        let lost = switch.has_lost();
        if let Some(next) = next {
            self.send_and_wait(line_id, next);
        }
        if lost {
            self.collect_lost(from);
        }
    }

    /// Puts a packet on a line. `waits` says whether its port has more to send and must wait.
    pub fn send_and_wait(&mut self, line_id: u32, (id, waits): (PacketId, bool)) {
        self.transmit(line_id, id);
        if waits {
            self.wait(line_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, NS, STAR, US, scenario};
    use spillway_engine::Time;
    use spillway_switch::packet::{Contents, Packet};

    const STRICT: &str =
        "switch = { queues_per_port = 2, data_queue = 1, scheduling = \"strict\" }";
    const TWO_QUEUES: &str = "switch = { queues_per_port = 2 }";

    fn bench(more: &str, shortcuts: Shortcuts) -> Bench {
        Bench::with(&format!("{STAR}\n{more}"), shortcuts)
    }

    /// A packet arrives at the switch now.
    fn comes(bench: &mut Bench, dst: u32, size: u32) {
        comes_with(bench, Packet { size, dst, ..Packet::default() });
    }

    /// As `comes`, for a packet of any kind.
    fn comes_with(bench: &mut Bench, packet: Packet) {
        let id = bench.make(packet, Contents::default());
        let packet = bench.net.packets[id];
        bench.net.forward(0, 0, id, &packet);
    }

    /// At time 0 three packets come for host 1 and two for host 0. The first of each goes on the
    /// line at once, until 1 us and until 400 ns.
    fn with_backlogs(more: &str, shortcuts: Shortcuts) -> Bench {
        let mut bench = bench(more, shortcuts);
        [1_000, 500, 300].into_iter().for_each(|size| comes(&mut bench, 1, size));
        [400, 200].into_iter().for_each(|size| comes(&mut bench, 0, size));
        bench
    }

    /// The bytes that waited in the switch, times the nanoseconds for which they waited.
    fn held(bench: &mut Bench) -> u64 {
        let now = bench.net.now;
        (bench.net.switches[0].meter(now).mean() * (now.ps() / NS) as f64).round() as u64
    }

    /// 1,000 bytes until 400 ns, 800 until 1 us, and 300 until 1.5 us.
    const HELD: u64 = 1_000 * 400 + 800 * 600 + 300 * 500;

    /// Bytes that wait in the switch, and packets that have begun to be sent.
    fn state(bench: &Bench) -> (u64, u64) {
        (bench.net.switches[0].buffer().occupancy(), bench.net.packet_hops)
    }

    #[test]
    fn deferred_ports_send_in_order_of_time_each_with_its_own_time() {
        let mut bench = with_backlogs(TWO_QUEUES, Shortcuts::ALL);
        assert_eq!((state(&bench), bench.net.ports[0].waiting.first_line()), ((1_000, 2), Some(3)));
        bench.net.now = Time::from_ps(400 * NS - 1);
        bench.net.catch_up(0);
        assert_eq!(state(&bench), (1_000, 2));
        // At 1 us the second packet for host 0 has left since 400 ns, and the second for host 1
        // just leaves. The third waits until 1.5 us.
        bench.net.now = Time::from_us(1);
        bench.net.catch_up(0);
        assert_eq!(state(&bench), (300, 4));
        let waiting = &bench.net.ports[0].waiting;
        assert_eq!((waiting.first(), waiting.first_line()), (Time::from_ns(1_500), Some(4)));
        bench.net.now = Time::from_us(5);
        bench.net.catch_up_all();
        assert_eq!(state(&bench), (0, 5));
        assert_eq!(bench.net.ports[0].waiting.first(), Time::MAX);
        // Their times are those at which they could leave: 0.4 + 0.2, 1 + 0.5, 1.5 + 0.3 us.
        assert_eq!(bench.arrivals_on_line(3), [10_400 * NS, 10_600 * NS]);
        assert_eq!(bench.arrivals_on_line(4), [11_000 * NS, 11_500 * NS, 11_800 * NS]);
        assert!(bench.net.lines.iter().all(|line| !line.waits));
        assert_eq!(held(&mut bench), HELD);
    }

    #[test]
    fn a_deferred_port_sends_before_a_later_arrival_is_decided_about() {
        let mut bench = with_backlogs(TWO_QUEUES, Shortcuts::ALL);
        // At 450 ns a packet for host 0: the second packet, on the line since 400 ns, keeps it
        // waiting until 600 ns. The port of host 1 is not free yet.
        bench.net.now = Time::from_ns(450);
        comes(&mut bench, 0, 100);
        assert_eq!(state(&bench), (900, 3));
        let waiting = &bench.net.ports[0].waiting;
        assert_eq!((waiting.first(), waiting.first_line()), (Time::from_ns(600), Some(3)));
    }

    /// The first packet arrives at host 1 at 11 us. Then its line is empty. Only now the second
    /// packet, which left at 1 us, is put on the line and gets its event.
    #[test]
    fn a_deferred_port_sends_when_its_line_runs_empty() {
        let mut bench = bench(TWO_QUEUES, Shortcuts::ALL);
        [1_000, 500].into_iter().for_each(|size| comes(&mut bench, 1, size));
        let event = bench.net.events.pop().unwrap();
        assert_eq!((event.time, event.key), (Time::from_us(11), Kind::Arrival.key(4)));
        bench.net.now = event.time;
        assert!(bench.net.on_arrival(4).is_some());
        assert_eq!((state(&bench), bench.arrivals_on_line(4)), ((0, 2), vec![11_500 * NS]));
        assert_eq!(bench.pending(), [(11_500 * NS, Kind::Arrival, 4)]);
    }

    #[test]
    fn a_port_that_sends_in_order_defers_only_the_account() {
        let mut bench = with_backlogs("", Shortcuts::ALL);
        // All are on their lines at once.
        assert_eq!(bench.arrivals_on_line(3), [10_400 * NS, 10_600 * NS]);
        assert_eq!(bench.arrivals_on_line(4), [11_000 * NS, 11_500 * NS, 11_800 * NS]);
        // The buffer is told at 400 ns, 1 us and 1.5 us.
        for (ns, expected) in [
            (399, (1_000, 2)),
            (400, (800, 3)),
            (1_000, (300, 4)),
            (1_499, (300, 4)),
            (1_500, (0, 5)),
        ] {
            bench.net.now = Time::from_ns(ns);
            bench.net.catch_up(0);
            assert_eq!(state(&bench), expected, "at {ns} ns");
        }
        assert!(bench.net.lines.iter().all(|line| !line.waits));
        // Now all departures are carried out at once, but later. Each still has its own time.
        let mut late = with_backlogs("", Shortcuts::ALL);
        late.net.now = Time::from_us(5);
        late.net.catch_up(0);
        assert_eq!((state(&late), held(&mut late)), ((0, 5), HELD));
    }

    /// At time 0 packets of 1,000 and 500 bytes for the second queue of host 1's port, and one of
    /// 300 for the first; at 1.2 us one of 200 for the first. They leave at 0, 1.5, 1 and 1.3 us.
    #[test]
    fn the_best_queue_of_a_strict_port_sends_in_order() {
        let best = |size| Packet { size, dst: 1, priority: 0, ..Packet::default() };
        let other = |size| Packet { priority: 1, ..best(size) };
        let run = |shortcuts: Shortcuts, looks: &[(u64, (u64, u64))]| {
            let mut bench = bench(STRICT, shortcuts);
            [other(1_000), other(500), best(300)]
                .into_iter()
                .for_each(|packet| comes_with(&mut bench, packet));
            for &(ns, expected) in looks {
                bench.net.now = Time::from_ns(ns);
                bench.net.catch_up(0);
                if ns == 1_200 {
                    comes_with(&mut bench, best(200));
                }
                assert_eq!(state(&bench), expected, "at {ns} ns");
            }
            bench
        };
        // What is on the line already is in the buffer until its turn comes.
        let looks = [
            (0, (800, 1)),
            (999, (800, 1)),
            (1_000, (500, 2)),
            (1_200, (700, 2)),
            (1_299, (700, 2)),
            (1_300, (500, 3)),
            (1_499, (500, 3)),
            (1_500, (0, 4)),
        ];
        let mut bench = run(Shortcuts::ALL, &looks);
        assert_eq!(bench.arrivals_on_line(4), [11_000, 11_300, 11_500, 12_000].map(|ns| ns * NS));
        assert!(!bench.net.lines[4].waits);
        // Until the port catches up, only packets of the best queue are on the line.
        let mut early = run(Shortcuts::ALL, &looks[..4]);
        assert_eq!(early.arrivals_on_line(4), [11_000, 11_300, 11_500].map(|ns| ns * NS));
        let (waiting, held_by_all) = (&early.net.ports[0].waiting, held(&mut bench));
        assert_eq!((waiting.first(), waiting.first_line()), (Time::from_ns(1_300), Some(4)));
        // 800 bytes until 1 us, 500 until 1.2 us, 700 until 1.3 us, 500 until 1.5 us.
        assert_eq!(held_by_all, 800 * 1_000 + 500 * 200 + 700 * 100 + 500 * 200);
        early.net.now = Time::from_us(5);
        early.net.catch_up(0);
        assert_eq!((state(&early), held(&mut early)), ((0, 4), held_by_all));
    }

    #[test]
    fn an_event_wakes_a_port_once_for_each_packet() {
        let mut bench = with_backlogs("", Shortcuts::NONE);
        // Another time than that for which the port waits is an event from before a failure.
        bench.net.now = Time::from_ns(300);
        bench.net.on_wake(4);
        assert_eq!(state(&bench), (1_000, 2));
        assert_eq!(bench.step(), (400 * NS, Kind::Wake, 3));
        assert_eq!(state(&bench), (800, 3));
        assert_eq!(bench.step(), (US, Kind::Wake, 4));
        assert_eq!(state(&bench), (300, 4));
        // The link fails: the port waits no longer. The event is still there.
        bench.net.lines[4].waits = false;
        assert_eq!(bench.step(), (1_500 * NS, Kind::Wake, 4));
        assert_eq!(state(&bench), (300, 4));
        assert_eq!(bench.arrivals_on_line(4), [11_000 * NS, 11_500 * NS]);
    }

    #[test]
    fn ports_take_the_shortcuts_of_their_scenario() {
        let taken = |more: &str, shortcuts: Shortcuts| {
            let text = format!("duration = \"1ms\"\n{STAR}\n{more}");
            let bench = Bench::of(scenario(&text, &[(0, 1, 1, 0)]), shortcuts);
            let wakings = bench.net.lines[3..].iter().map(|line| line.waking);
            let wakings: Vec<Waking> = wakings.collect();
            assert!(wakings.iter().all(|waking| *waking == wakings[0]), "{wakings:?}");
            (wakings[0], bench.net.nic_queueing)
        };
        use NicQueueing::{Managed, Plain, Queued};
        assert_eq!(taken("", Shortcuts::ALL), (Waking::InOrder, Plain));
        assert_eq!(taken("", Shortcuts::NONE), (Waking::ByEvent, Queued));
        let nic = "nic = { queue_limit = \"9pkt\" }";
        assert_eq!(
            taken(&format!("{TWO_QUEUES}\n{nic}"), Shortcuts::ALL),
            (Waking::Deferred, Managed)
        );
        let fails = "[[event]]\nkind = \"link-down\"\na = \"host2\"\nb = \"leaf0\"\nat = \"1us\"";
        assert_eq!(taken(fails, Shortcuts::ALL), (Waking::ByEvent, Queued));
    }
}
