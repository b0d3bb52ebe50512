//! A run: the network's state, and the loop over events.

mod changing;
mod in_time;
mod instruments;
mod observing;
mod parallel;
mod pauses;
mod ports;
mod progress;
mod rows;
mod stepping;
mod waits;

use crate::event::Kind;
use crate::host::Hosts;
pub use crate::network::{Cut, Totals};
use crate::network::{Lost, Network};
pub use crate::port::Shortcuts;
use crate::port::nic::Nic;
use crate::record::{JobRow, Record};
use crate::scenario::{Change, Changed, Scenario};
use instruments::Instruments;
use observing::Observing;
pub use observing::{Each, Look, Quantity, SIGNALS, Signal};
pub use parallel::Windows;
use parallel::{Parallel, Part};
pub use progress::{Counters, Progress};
use spillway_engine::{Event, Time};
use spillway_switch::packet::flags;
use spillway_switch::{Discipline, Switch};
use spillway_traffic::{Iteration, Merge};
use spillway_transport::flow::FlowSpec;
use std::iter::Peekable;
use std::sync::Arc;
use waits::Waits;

/// A run.
#[derive(Clone)]
pub struct Simulation {
    scenario: Scenario,
    network: Network,
    hosts: Hosts,
    traffic: Peekable<Merge<spillway_traffic::Flows>>,
    /// Flows that start when others are complete.
    waits: Waits,
    /// When the next flows start, if an event is pending for this.
    starts_at: Time,
    /// Whether flows are known that have still to start.
    has_traffic: bool,
    /// Endless flows that are alive.
    endless: u64,
    instruments: Instruments,
    observing: Observing,
    counters: Counters,
    record: Record,
    /// Whether a deadlock has ended the run.
    is_deadlocked: bool,
    /// Whether the run has ended because only events at regular times were left.
    is_still: bool,
    /// Whether the network is too large for the caches.
    looks_far: bool,
    /// When the run halted last.
    halted_at: Time,
    /// Events from this time on are not handled: those after the scenario's `stop`, or, in a part
    /// of a cut network, those beyond the present window.
    until: Time,
    /// What it has in addition if it is a part of a cut network.
    part: Option<Box<Part>>,
    /// The parts of a run on several threads.
    parallel: Option<Box<Parallel>>,
    /// When samples and wake-ups of policies will have been too many.
    samples_until: Time,
    /// How many of the scenario's changes have been made, and what has changed.
    changes_made: usize,
    changed: Changed,
    /// What the caller that steps the run has set, in order. Copies of a run share it until one of
    /// them sets something.
    set_by_hand: Arc<Vec<Change>>,
}

impl Simulation {
    /// A run that is about to begin.
    pub fn new(scenario: Scenario) -> Simulation {
        Simulation::with(scenario, Shortcuts::ALL)
    }

    /// As `new`, with these shortcuts only, for tests. Results do not depend on shortcuts.
    pub fn with(scenario: Scenario, shortcuts: Shortcuts) -> Simulation {
        let network = Network::new(&scenario);
        let mut simulation = Simulation {
            hosts: Hosts::new(&scenario),
            traffic: scenario.traffic.flows().peekable(),
            waits: Waits::of(&scenario.traffic),
            starts_at: Time::MAX,
            has_traffic: false,
            endless: 0,
            instruments: Instruments::new(&scenario, network.lines.len()),
            observing: Observing::default(),
            counters: Counters::default(),
            record: Record::of(&scenario),
            is_deadlocked: false,
            is_still: false,
            // Without shortcuts too, so that tests run both ways.
            looks_far: network.is_large() || shortcuts == Shortcuts::NONE,
            halted_at: Time::ZERO,
            until: scenario.stop.saturating_add(Time::from_ps(1)),
            part: None,
            parallel: None,
            samples_until: Time::MAX,
            changes_made: 0,
            changed: Changed::default(),
            set_by_hand: Arc::default(),
            network,
            scenario,
        };
        simulation.schedule_start();
        simulation.network.schedule_failures(&simulation.scenario.events);
        simulation.network.schedule_timers();
        simulation.schedule_instruments();
        simulation.samples_until = simulation.end_of_samples();
        simulation.network.take_shortcuts(shortcuts, &simulation.scenario);
        if simulation.scenario.recording.queue_classes {
            let switches = &mut simulation.network.switches;
            switches.iter_mut().for_each(|switch| switch.observe(Time::ZERO));
        }
        simulation
    }

    /// Handles up to `events` events, and brings all ports up to date.
    pub fn run(&mut self, events: u64) -> Progress {
        let progress = self.run_events(events);
        self.catch_up();
        progress
    }

    /// Brings all ports up to date: deferred ports send what they could have sent by now.
    pub fn catch_up(&mut self) {
        if self.parallel.is_none() {
            self.network.catch_up_all();
        }
    }

    /// Handles up to `events` events. Call `catch_up` before looking at the result.
    pub fn run_events(&mut self, events: u64) -> Progress {
        let progress = match self.next_change() {
            None => self.handle_events(events),
            Some(_) => self.handle_events_and_change(None, events),
        };
        self.within_limits(progress)
    }

    /// The state of a run, unless the run is beyond a limit.
    pub(super) fn within_limits(&self, progress: Progress) -> Progress {
        let is_over = !matches!(progress, Progress::Running | Progress::Halted);
        match (self.is_out_of_memory(), self.network.now > self.samples_until) {
            (true, _) => Progress::OutOfMemory,
            (false, true) if !is_over => Progress::TooManySamples,
            _ => progress,
        }
    }

    #[inline(never)]
    fn handle_events(&mut self, events: u64) -> Progress {
        if self.parallel.is_some() {
            return self.run_in_parts(Time::MAX, events);
        }
        if let Some(progress) = self.ended_early() {
            return progress;
        }
        for _ in 0..events {
            if self.is_over() {
                return self.progress_at_stop();
            }
            let Some(event) = self.network.events.pop() else { return self.progress_at_stop() };
            if event.time >= self.until {
                return self.on_limit(event);
            }
            debug_assert!(event.time >= self.network.now, "time does not go back");
            (self.network.now, self.network.key) = (event.time, event.key);
            if !self.looks_far {
                self.network.look_ahead();
            } else if let Some((slot, of_packet)) = self.network.look_far_ahead() {
                self.hosts.ends.prefetch(slot, of_packet & flags::CONTROL != 0);
            }
            self.counters.events += 1;
            if let Some(line) = Kind::Arrival.id_of(event.key) {
                if let Some((host, packet)) = self.network.on_arrival(line) {
                    self.hosts.deliver(&mut self.network, &self.scenario, host, packet);
                    self.write_row_if_over();
                }
            } else if let Some(line) = Kind::Wake.id_of(event.key) {
                self.network.on_wake(line);
            } else {
                if self.ends_window() {
                    return Progress::Halted;
                }
                self.on_rare_event(event.key);
                if self.is_deadlocked {
                    return Progress::Deadlock;
                }
                if self.is_still_after(event.key) {
                    self.is_still = true;
                    return self.progress_at_stop();
                }
            }
            if !self.network.lost.is_empty() {
                self.collect_lost();
            }
        }
        Progress::Running
    }

    /// No event is left before the stop, or in the window.
    #[cold]
    fn on_limit(&mut self, event: Event) -> Progress {
        if event.key == Kind::Edge.key(0) {
            return Progress::Halted;
        }
        self.network.now = self.scenario.stop;
        self.progress_at_stop()
    }

    /// How the run has ended, if it ended while something was still left to happen.
    fn ended_early(&self) -> Option<Progress> {
        match (self.is_deadlocked, self.is_still) {
            (true, _) => Some(Progress::Deadlock),
            (false, true) => Some(self.progress_at_stop()),
            (false, false) => None,
        }
    }

    /// Bytes of memory that grow during a run: those of packets, flows and records.
    pub fn bytes(&self) -> u64 {
        let parts = self.parallel.as_ref().map_or(0, |parallel| parallel.bytes());
        let packets = self.network.packets.bytes()
            + self.network.telemetry.bytes()
            + self.network.numbers.bytes();
        parts + packets + self.hosts.bytes() + self.record.bytes() + self.waits.bytes()
    }

    /// The time at which policies will have been woken, and samples taken, too often after
    /// `duration`.
    fn end_of_samples(&self) -> Time {
        let Scenario { limits, duration, recording, .. } = &self.scenario;
        let timers = self.network.timers.iter().map(|timer| 1.0 / timer.period.ps() as f64);
        limits.end_of_samples(*duration, recording.looks_per_ps + timers.sum::<f64>())
    }

    fn is_out_of_memory(&self) -> bool {
        self.bytes() > self.scenario.limits.memory
    }

    #[cold]
    fn on_rare_event(&mut self, key: u32) {
        let (kind, id) = Kind::of(key);
        match kind {
            Kind::FlowStart => self.start_flows(),
            Kind::FlowTimer => self.hosts.on_flow_timer(&mut self.network, &self.scenario, id),
            Kind::PolicyTimer => self.network.on_policy_timer(id),
            Kind::AckDue => self.hosts.on_ack_due(&mut self.network, &self.scenario, id),
            Kind::Begun => self.hosts.on_begun(&mut self.network, &self.scenario, id),
            Kind::Clock => self.hosts.on_clock(&mut self.network, &self.scenario, id),
            Kind::LinkChange => self.network.on_link_change(&self.scenario.events, id),
            Kind::RouteChange => {
                let Scenario { topology, events, .. } = &self.scenario;
                self.network.on_route_change(topology, events, id);
            }
            Kind::Choose => self.network.on_choice(id),
            Kind::Expulsion => self.network.on_expulsion(id),
            Kind::Measure => self.on_measure(),
            Kind::Pause => self.network.on_pause(id),
            Kind::PauseEnd => self.network.on_pause_end(id),
            Kind::PauseRenewal => self.network.on_pause_renewal(id),
            Kind::TakenIn => {
                if let Some(packet) = self.network.on_taken_in(id) {
                    self.hosts.deliver(&mut self.network, &self.scenario, id, packet);
                    self.write_row_if_over();
                }
            }
            Kind::Deadlock => self.is_deadlocked = true,
            Kind::SampleQueues => self.sample_queues(),
            Kind::SampleWindows => self.sample_windows(),
            Kind::SampleLinks => self.sample_lines(),
            Kind::SamplePorts => self.sample_ports(),
            Kind::SampleAqms => self.sample_aqms(),
            Kind::Edge | Kind::Arrival | Kind::Wake => unreachable!("handled where it is frequent"),
        }
    }

    /// Whether the run is over, whatever events are still pending.
    #[inline(always)]
    fn is_over(&self) -> bool {
        self.hosts.unfinished == 0 && self.is_quiet()
    }

    /// Whether nothing more can change a measurement.
    fn is_quiet(&self) -> bool {
        let is_empty = self.network.packets.live() == 0;
        let is_all = !self.has_traffic && self.hosts.awaited.is_empty();
        is_all && (is_empty || self.network.now >= self.scenario.duration)
    }

    /// Whether this event is one that comes at regular times, and nothing else is left to happen.
    /// If only endless flows are left, samples nevertheless go on until the stop.
    fn is_still_after(&self, key: u32) -> bool {
        let is_stalled = self.hosts.unfinished > self.endless;
        // Of a part, only the whole knows what is left.
        self.part.is_none()
            && self
                .may_be_still(key, is_stalled)
                .is_some_and(|samples| self.network.is_still(samples))
    }

    /// How many samples may be pending if the run is still after this event; `None` if it cannot
    /// be. A run that is not stalled goes on with its samples.
    fn may_be_still(&self, key: u32, is_stalled: bool) -> Option<usize> {
        match Kind::of(key).0 {
            Kind::PolicyTimer if !is_stalled => Some(0),
            kind if kind == Kind::PolicyTimer || kind.is_sample() && is_stalled => {
                Some(self.samplers())
            }
            _ => None,
        }
    }

    /// The final state of a run in which nothing more happens, or that has reached its stop.
    #[cold]
    fn progress_at_stop(&self) -> Progress {
        let has_all_begun = !self.has_traffic && !self.waits.is_stuck();
        let are_all_complete = self.hosts.unfinished == self.endless && self.hosts.incomplete == 0;
        if are_all_complete && has_all_begun { Progress::Complete } else { Progress::Stopped }
    }

    /// The simulated time: the time of the last event, or the time at which the run halted since
    /// then.
    pub fn now(&self) -> Time {
        self.network.now.max(self.halted_at)
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        let tally = self.hosts.tally.clone();
        Counters {
            packet_hops: self.network.packet_hops - self.packets_ahead(),
            totals: self.network.totals,
            flows_completed: tally.completed,
            retransmitted_packets: tally.retransmitted,
            timeouts: tally.timeouts,
            probes: tally.probes,
            delivered_bytes: tally.delivered_bytes,
            ..self.counters.clone()
        }
    }

    /// Packets that hosts have put on their lines before their turn.
    fn packets_ahead(&self) -> u64 {
        let network = &self.network;
        match &self.parallel {
            None => network.packets_ahead(&network.packets, |_| true),
            Some(parallel) => parallel.packets_ahead(network),
        }
    }

    /// Events handled, packets put on lines, flows started and flows completed so far. Unlike
    /// `counters` this takes no time, and counts packets that NICs have put on their lines before
    /// their turn.
    pub fn so_far(&self) -> [u64; 4] {
        let (begun, hops) = (&self.counters, self.network.packet_hops);
        [begun.events, hops, begun.flows_started, self.hosts.tally.completed]
    }

    /// The switches as they are now.
    pub fn switches(&self) -> &[Switch] {
        &self.network.switches
    }

    /// Packets marked so far, by switches and by hosts.
    pub fn marks(&self) -> u64 {
        let switches = self.network.switches.iter().map(Switch::marks);
        let hosts = self.network.nics.iter().filter_map(Nic::discipline).map(Discipline::marks);
        switches.sum::<u64>() + hosts.sum::<u64>()
    }

    /// Iterations of jobs: those that have ended, and those that have not.
    pub(crate) fn jobs(&self) -> (&[Iteration], Vec<Iteration>) {
        (self.waits.ended(), self.waits.unfinished())
    }

    /// How many flows wait for others that are not complete.
    pub(crate) fn flows_left(&self) -> u64 {
        self.waits.left()
    }

    /// The record so far, from which tables may be taken.
    pub fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    /// Whether every packet and byte made has arrived, was lost, or is still in the network, and
    /// all switches' counters agree with their packets. For tests: it visits every packet.
    pub fn is_conserved(&self) -> bool {
        match &self.parallel {
            None => self.network.is_conserved(),
            Some(_) => self.clone().conserves_in_parts(),
        }
    }

    fn schedule_start(&mut self) {
        let next = [self.traffic.peek(), self.waits.next()].into_iter().flatten().min();
        self.has_traffic = next.is_some();
        if let Some(next) = next.filter(|next| next.start < self.starts_at) {
            self.starts_at = next.start;
            self.network.events.push(next.start, Kind::FlowStart.key(0));
        }
    }

    /// Starts all flows that are due now.
    fn start_flows(&mut self) {
        let now = self.network.now;
        if self.part.is_some() {
            return self.start_flows_in_part();
        }
        self.release(now);
        while let Some(spec) = self.next_due(now) {
            self.start_flow(spec);
            if self.is_out_of_memory() {
                // `run_events` reports this when it returns.
                return;
            }
        }
        self.schedule_start();
    }

    /// Releases the flows that were waiting for flows that are now complete.
    fn release(&mut self, now: Time) {
        if self.starts_at <= now {
            self.starts_at = Time::MAX;
        }
        for (flow, host) in std::mem::take(&mut self.hosts.awaited) {
            let ended = self.waits.on_complete(&self.scenario, now, (&flow, host));
            ended.iter().for_each(|each| self.record.jobs.push(JobRow::of(each)));
        }
    }

    /// Takes the next flow that starts now.
    fn next_due(&mut self, now: Time) -> Option<FlowSpec> {
        let is_due = |spec: &FlowSpec| spec.start <= now;
        let Some(released) = self.waits.next().filter(|next| is_due(next)) else {
            return self.traffic.next_if(is_due);
        };
        match self.traffic.peek() {
            Some(next) if next < released => self.traffic.next(),
            _ => self.waits.take_next(),
        }
    }

    fn start_flow(&mut self, spec: FlowSpec) {
        let id = self.count_start(&spec);
        self.hosts.start_flow(&mut self.network, &self.scenario, id, spec);
    }

    /// Counts a flow that starts. Returns its number.
    fn count_start(&mut self, spec: &FlowSpec) -> u32 {
        let id = self.counters.flows_started as u32;
        self.counters.flows_started += 1;
        self.hosts.note_started(spec.class);
        if spec.size == FlowSpec::ENDLESS {
            self.endless += 1;
        } else if spec.start >= self.scenario.warmup {
            self.counters.started_bytes += spec.size;
        }
        id
    }

    /// Tells the host that sent a packet for the end at this place that the packet was lost.
    fn tell_of_loss(&mut self, to: (u32, u32), is_data: bool) {
        let at = self.network.moment();
        let slot = match &mut self.part {
            None => to.1,
            Some(part) => match part.sender_of_lost(&self.hosts, to, (at, is_data)) {
                None => return,
                Some(slot) => slot,
            },
        };
        self.hosts.on_lost(at, slot, is_data);
        self.write_row_if_over();
    }

    /// Records the packets that the network has lost, and tells the hosts that sent them.
    #[cold]
    fn collect_lost(&mut self) {
        for (place, lost) in std::mem::take(&mut self.network.lost).into_iter().enumerate() {
            self.look_at_loss(place);
            let (to, is_data) = self.take_lost(&lost);
            self.tell_of_loss(to, is_data);
        }
    }

    /// Records a packet that is lost, and removes it. Returns the host and the place of the end for
    /// which it was, and whether it had data.
    fn take_lost(&mut self, lost: &Lost) -> ((u32, u32), bool) {
        self.note_drop(lost);
        let packet = &self.network.packets[lost.packet];
        let (size, is_data) = (packet.size, packet.flags & flags::CONTROL == 0);
        let to = (packet.dst, self.network.packets.contents(lost.packet).slot);
        self.hosts.note_number_of_lost(&self.network, to.1, lost.packet);
        self.network.totals.lost_packets += 1;
        self.network.totals.lost_bytes += u64::from(size);
        self.network.packets.remove(lost.packet);
        (to, is_data)
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.network.now).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::PolicyTimer;
    use crate::scenario::Sources;
    use spillway_topology::Node;
    use std::path::Path;

    const FLOW: &str = r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 2, host_rate = "10Gbps", link_delay = "10us" }
        [[traffic]]
        name = "one"
        kind = "permutation"
        size = "100KB"
    "#;

    /// The number of events of a run with timers of these periods, and the time of its end.
    fn run(periods: &[u64]) -> (u64, Time) {
        run_text(FLOW, periods)
    }

    fn run_text(text: &str, periods: &[u64]) -> (u64, Time) {
        let scenario = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap();
        let mut simulation = Simulation::new(scenario);
        assert!(simulation.network.timers.is_empty(), "no policy in the catalogue has one");
        let timer = |&us: &u64| {
            let period = Time::from_us(us);
            PolicyTimer { at: Node::Switch(0), policy: 0, period }
        };
        simulation.network.timers = periods.iter().map(timer).collect();
        simulation.network.schedule_timers();
        while simulation.run(1 << 10) == Progress::Running {}
        (simulation.counters.events, simulation.now())
    }

    #[test]
    fn policies_are_woken_at_multiples_of_their_periods() {
        let (events, end) = run(&[]);
        // A timer comes after everything else of the same time, so a timer at the very end does not
        // count.
        let times = |us: u64| (end.ps() - 1) / (us * 1_000_000);
        assert!(times(30) > 2);
        assert_eq!(run(&[7, 30]), (events + times(7) + times(30), end));
    }

    #[test]
    fn policies_that_are_woken_keep_no_run_alive() {
        // Some datagrams are lost, so their flow never completes, and the run may last ten seconds.
        let lossy = format!(
            "{FLOW}\ntransport = \"udp\"\nrate = \"5Gbps\"\n[[event]]\nkind = \"link-loss\"\n\
             a = \"host0\"\nb = \"leaf0\"\nat = \"0us\"\nrate = 0.5\n"
        );
        let (events, end) = run_text(&lossy, &[]);
        let (with_timers, later) = run_text(&lossy, &[7, 30]);
        assert!(end <= later && later < end + Time::from_us(30), "{end} {later}");
        assert!(with_timers > events && with_timers < 2 * events, "{events} {with_timers}");
    }

    /// Two senders to one receiver. A packet of 1,542 bytes, telemetry included, takes 1.2336 us on
    /// a line. Of two that arrive together the first sender's comes first.
    #[test]
    fn switches_write_what_they_hold_and_have_sent() {
        let text = r#"
            duration = "1ms"
            transport = { kind = "hpcc" }
            topology = { kind = "star", hosts = 3, host_rate = "10Gbps", link_delay = "10us", clocks = "exact" }
            [[traffic]]
            name = "two"
            kind = "persistent"
            senders = "0..1"
            receiver = 2
        "#;
        let scenario = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")));
        let mut simulation = Simulation::new(scenario.unwrap());
        while simulation.now() < Time::from_us(15) {
            simulation.run(1);
        }
        let network = &simulation.network;
        let ids = |flow: u32| {
            let of_flow = move |id: &u32| network.packets.contents(*id).flow == flow;
            (0..network.packets.live() as u32).filter(of_flow)
        };
        let written = |flow: u32, packet: usize| {
            let id = ids(flow).nth(packet).expect("a packet");
            let hops = network.telemetry.get(id).expect("telemetry").hops();
            hops.iter().map(|hop| (hop.time.ps(), hop.queue_bytes, hop.sent_bytes)).next()
        };
        assert_eq!(written(0, 0), Some((11_233_600, 0, 0)));
        assert_eq!(written(1, 0), Some((12_467_200, 0, 1_542)));
        // A packet that arrives now comes after the port has begun to send its next one.
        assert_eq!(written(0, 1), Some((13_700_800, 1_542, 2 * 1_542)));
        assert_eq!(written(1, 1), Some((14_934_400, 2 * 1_542, 3 * 1_542)));
        assert_eq!(written(0, 2), None);
    }
}
