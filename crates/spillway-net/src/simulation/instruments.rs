//! Samples, traces and counters, which observe a run without changing it.

use super::Simulation;
use super::in_time::InTime;
use crate::event::Kind;
use crate::host::{ReceivingEnd, SendingEnd};
use crate::network::{Lost, Pause};
use crate::record::names::Name;
use crate::record::{
    DecisionRow, DropRow, LinkRow, LossPlace, OracleTraceRow, PauseRow, WindowRow,
};
use crate::scenario::{DecisionFilter, Scenario};
use spillway_engine::{Stream, Time};
use spillway_switch::{
    BurstReport, Decision, Discipline, DropReason, Fate, Meter, QueueCounts, QueueId,
};
use spillway_topology::Node;
use std::collections::BTreeMap;

/// What instruments remember between two samples.
#[derive(Clone, Debug)]
pub(super) struct Instruments {
    /// When lines were last measured, and how long each had been sending until then.
    lines_at: Time,
    busy_before: Vec<Time>,
    /// Bytes that hosts had put on their lines at the beginning and at the end of the window of
    /// measurement.
    pub on_wire: [u64; 2],
    decisions_left: u64,
    /// For every flow whose window is sampled, the time of the last sample and the bytes delivered
    /// until then.
    last_sample: BTreeMap<u32, (Time, u64)>,
    decisions: InTime<Decision>,
    fates: InTime<Fate>,
    pub bursts: InTime<BurstReport>,
}

impl Instruments {
    pub fn new(scenario: &Scenario, lines: usize) -> Instruments {
        Instruments {
            lines_at: Time::ZERO,
            busy_before: vec![Time::ZERO; lines],
            on_wire: [0, 0],
            decisions_left: scenario.recording.decisions.first,
            last_sample: BTreeMap::new(),
            decisions: InTime::default(),
            fates: InTime::default(),
            bursts: InTime::default(),
        }
    }

    /// The row of the window of a flow with these ends.
    pub fn window_row(
        &mut self,
        now: Time,
        sending: &SendingEnd,
        receiving: &ReceivingEnd,
    ) -> WindowRow {
        let (flow, delivered) = (&sending.flow, receiving.receiver.delivered());
        let last = self.last_sample.insert(flow.id, (now, delivered));
        let (since, before) = last.unwrap_or((flow.spec.start, 0));
        let seconds = now.since(since).secs_f64();
        let bits = (delivered - before) as f64 * 8.0;
        let rate = if bits > 0.0 { bits / seconds } else { 0.0 };
        WindowRow::of(now, flow.id, sending.sender(), delivered, rate)
    }
}

impl Simulation {
    pub(super) fn schedule_instruments(&mut self) {
        let recording = &self.scenario.recording;
        if recording.queue_interval.is_some() {
            self.network.events.push(self.scenario.warmup, Kind::SampleQueues.key(0));
        }
        if !recording.window_flows.is_empty() {
            self.network.events.push(self.scenario.warmup, Kind::SampleWindows.key(0));
        }
        if let Some(interval) = recording.link_interval {
            self.network.events.push(interval, Kind::SampleLinks.key(0));
        }
        self.schedule_ports();
        let recording = &self.scenario.recording;
        if recording.aqm_interval.is_some() {
            self.network.events.push(self.scenario.warmup, Kind::SampleAqms.key(0));
        }
        if self.scenario.warmup > Time::ZERO {
            self.network.events.push(self.scenario.warmup, Kind::Measure.key(0));
        }
        self.network.events.push(self.scenario.duration, Kind::Measure.key(1));
        if recording.decisions.first > 0 {
            self.network.switches.iter_mut().for_each(|switch| switch.trace_decisions());
        }
        if let Some(tracing) = recording.oracle_trace {
            for (number, switch) in (0..).zip(&mut self.network.switches) {
                let tier = self.scenario.tier_of(number);
                if self.scenario.tiers[tier].teaches_oracles() {
                    let stream = Stream::new(self.scenario.seed, "oracle-trace", number.into());
                    switch.trace_fates(tracing, stream);
                }
            }
        }
    }

    /// How many kinds of samples are taken. Each has one pending event.
    pub(super) fn samplers(&self) -> usize {
        let recording = &self.scenario.recording;
        let taken = [
            recording.queue_interval.is_some(),
            !recording.window_flows.is_empty(),
            recording.link_interval.is_some(),
            recording.port_interval.is_some(),
            recording.aqm_interval.is_some(),
        ];
        taken.into_iter().filter(|&is_taken| is_taken).count()
    }

    /// The window of measurement begins or ends.
    pub(super) fn on_measure(&mut self) {
        self.network.catch_up_nics();
        let place = usize::from(self.network.now >= self.scenario.duration);
        self.instruments.on_wire[place] = self.sent_by_hosts();
    }

    /// Bytes that hosts have put on their lines.
    pub(super) fn sent_by_hosts(&self) -> u64 {
        (0..self.network.nics.len() as u32).map(|host| self.network.sent_bytes(host)).sum()
    }

    /// Bytes that hosts put on their lines in the window of measurement.
    pub(crate) fn on_wire_in_window(&self) -> u64 {
        let end = if self.network.now >= self.scenario.duration {
            self.instruments.on_wire[1]
        } else {
            self.sent_by_hosts()
        };
        end.saturating_sub(self.instruments.on_wire[0])
    }

    pub(super) fn sample_queues(&mut self) {
        self.network.catch_up_switches();
        let recording = &self.scenario.recording;
        let (now, switches) = (self.network.now, &self.network.switches);
        self.record.queues.sample(now, switches, recording.empty_queues);
        self.record.switches.sample(now, switches);
        if let Some(interval) = recording.queue_interval {
            self.network.events.push(self.network.now + interval, Kind::SampleQueues.key(0));
        }
    }

    pub(super) fn sample_aqms(&mut self) {
        self.network.catch_up_switches();
        let (now, recording) = (self.network.now, &self.scenario.recording);
        for (number, switch) in (0..).zip(&self.network.switches) {
            if recording.aqm_switch.is_none_or(|wanted| wanted == number) {
                self.record.aqm.sample(now, number, switch);
            }
        }
        if let Some(interval) = recording.aqm_interval {
            self.network.events.push(now + interval, Kind::SampleAqms.key(0));
        }
    }

    pub(super) fn sample_windows(&mut self) {
        for slot in self.hosts.ends.slots() {
            let (sending, receiving) =
                (self.hosts.ends.sending(slot), self.hosts.ends.receiving(slot));
            let wanted = &self.scenario.recording.window_flows;
            if self.hosts.completed_at(slot) == Time::MAX && wanted.contains(&sending.flow.id) {
                let row = self.instruments.window_row(self.network.now, sending, receiving);
                self.record.windows.push(row);
            }
        }
        self.schedule_next_sample_of_windows();
    }

    pub(super) fn schedule_next_sample_of_windows(&mut self) {
        let next = self.network.now + self.scenario.recording.window_interval;
        self.network.events.push(next, Kind::SampleWindows.key(0));
    }

    pub(super) fn sample_lines(&mut self) {
        let Some(interval) = self.scenario.recording.link_interval else { return };
        self.network.catch_up_all();
        self.measure_lines();
        self.network.events.push(self.network.now + interval, Kind::SampleLinks.key(0));
    }

    /// Measures lines at the end of the run, which ends the last interval.
    pub(super) fn finish_lines(&mut self) {
        if self.scenario.recording.link_interval.is_some() {
            self.measure_lines();
        }
    }

    /// Writes the utilisation of lines since the last measurement.
    fn measure_lines(&mut self) {
        let now = self.network.now;
        let before = std::mem::replace(&mut self.instruments.lines_at, now);
        let interval = now - before;
        let links = &mut self.record.links;
        for (number, busy_before) in (0..).zip(&mut self.instruments.busy_before) {
            let busy = self.network.busy_time(number);
            // If clocks are not exact, the busy time is exact only to a picosecond.
            let grown = busy.since(*busy_before).min(interval);
            *busy_before += grown;
            if grown > Time::ZERO {
                let utilisation = grown.ps() as f64 / interval.ps() as f64;
                links.push(LinkRow { time_ps: now.ps(), link: Name(number), utilisation });
            }
        }
    }

    /// Counts a lost packet and writes its row.
    #[cold]
    pub(super) fn note_drop(&mut self, lost: &Lost) {
        self.counters.drops[lost.reason as usize] += 1;
        if !self.scenario.recording.drops {
            return;
        }
        let packet = &self.network.packets[lost.packet];
        let contents = self.network.packets.contents(lost.packet);
        // A host has only one port.
        let (buffer, port) = match lost.at {
            Node::Switch(switch) => {
                let switch = &self.network.switches[switch as usize];
                (Some(lost.queue.map_or(switch.buffer(), |queue| switch.buffer_of(queue))), None)
            }
            // A packet that a host could not take in has not been in the queues of the host's NIC.
            Node::Host(_)
                if matches!(lost.reason, DropReason::Headroom | DropReason::BufferFull) =>
            {
                (None, Some(0))
            }
            Node::Host(host) => {
                let discipline = self.network.nics[host as usize].discipline();
                (discipline.map(Discipline::buffer), Some(0))
            }
        };
        let node = self.scenario.topology.place_of(lost.at);
        let place = LossPlace { node, buffer, queue: lost.queue, port };
        let row = DropRow::of(self.network.now, lost.reason, place, (packet, contents));
        match &mut self.part {
            None => self.record.drops.push(row),
            Some(part) => part.drops.push((self.network.moment(), row)),
        }
    }

    /// Moves what switches have traced into the record. To be called from time to time.
    pub fn collect_traces(&mut self) {
        self.collect_traces_before(Some(self.network.now));
    }

    /// As `collect_traces`, for what was traced before a time, or for everything with `None`.
    pub(super) fn collect_traces_before(&mut self, before: Option<Time>) {
        self.collect_decisions(before);
        self.collect_bursts(before);
        self.collect_fates(before);
        self.collect_pauses();
    }

    fn collect_pauses(&mut self) {
        let ended = self.network.pausing.as_mut().map(|pausing| pausing.take_ended());
        for (_, Pause { line, queue_class, begin, end }) in ended.unwrap_or_default() {
            let Some(pausing) = &self.network.pausing else { return };
            let of_line = &self.network.lines[line as usize];
            // A host's line has the host's number.
            let by = if of_line.end.is_host() {
                Node::Host(pausing.reverse(line))
            } else {
                Node::Switch(of_line.to)
            };
            let paused = self.network.sender_on(line);
            let port = match paused {
                Node::Host(_) => 0,
                Node::Switch(_) => self.network.port_of(line),
            };
            let place_of = |node: Node| Name(self.scenario.topology.place_of(node));
            self.record.pauses.push(PauseRow {
                by: place_of(by),
                paused: place_of(paused),
                port,
                priority: queue_class.into(),
                begin_ps: begin.ps(),
                end_ps: end.map(Time::ps),
            });
        }
    }

    /// The run is over: packets still in switches get no fate.
    pub(super) fn finish_fates(&mut self) {
        let now = self.network.now;
        self.network.switches.iter_mut().for_each(|switch| switch.finish_fates(now));
    }

    fn collect_fates(&mut self, before: Option<Time>) {
        if self.scenario.recording.oracle_trace.is_none() {
            return;
        }
        let fates = &mut self.instruments.fates;
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            switch.take_fates().into_iter().for_each(|fate| fates.add(fate.known, number, fate));
        }
        for (number, fate) in fates.take(before) {
            let buffer = self.network.switches[number as usize].buffer();
            self.record.oracle_trace.push(OracleTraceRow::of(number, &fate, buffer));
        }
    }

    fn collect_decisions(&mut self, before: Option<Time>) {
        if self.instruments.decisions_left == 0 {
            return;
        }
        let filter = self.scenario.recording.decisions;
        let decisions = &mut self.instruments.decisions;
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            let per_port = switch.buffer().queues_per_port();
            for decision in switch.take_decisions() {
                if keeps(&filter, number, &decision, per_port) {
                    decisions.add(decision.time, number, decision);
                }
            }
        }
        let left = usize::try_from(self.instruments.decisions_left).unwrap_or(usize::MAX);
        for (number, decision) in decisions.take(before).take(left) {
            self.instruments.decisions_left -= 1;
            let per_port = self.network.switches[number as usize].buffer().queues_per_port();
            self.record.decisions.push(DecisionRow::of(number, &decision, per_port));
        }
        if self.instruments.decisions_left == 0 {
            self.network.switches.iter_mut().for_each(|switch| switch.stop_tracing_decisions());
        }
    }

    /// Whether some flow is still to start or to complete.
    pub(crate) fn has_more(&self) -> bool {
        self.hosts.unfinished > 0 || self.has_traffic
    }

    /// The meters of a tier's switches, each with its buffer's capacity. If the run was over before
    /// the window of measurement ended, buffers count as empty for the rest of it.
    pub(crate) fn meters_of_tier(&mut self, tier: usize) -> Vec<(u64, Meter)> {
        let end = if self.has_more() {
            self.network.now
        } else {
            self.network.now.max(self.scenario.duration)
        };
        let mut meters = Vec::new();
        for number in 0..self.network.switches.len() {
            if self.scenario.tier_of(number as u32) == tier {
                let switch = &mut self.network.switches[number];
                let capacity = switch.capacity();
                meters.push((capacity, switch.meter(end).clone()));
            }
        }
        meters
    }

    /// How many switches a tier has, and the sums over all their ports of what became of the
    /// packets of each queue class. The switches must have been observed from the beginning.
    pub(crate) fn queue_classes_of_tier(&mut self, tier: usize) -> (usize, Vec<QueueCounts>) {
        let now = self.network.now;
        let queues = self.scenario.tiers[tier].settings.queues_per_port;
        let mut sums = vec![QueueCounts::default(); queues as usize];
        let mut switches = 0;
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            if self.scenario.tier_of(number) != tier {
                continue;
            }
            switches += 1;
            for queue in 0..switch.buffer().queues().len() as QueueId {
                sums[(queue % queues) as usize] += switch.queue_counts(now, queue);
            }
        }
        (switches, sums)
    }

    /// Payload offered by all traffic sections with a rate, in bits per second.
    pub(crate) fn offered_bits_per_second(&self) -> f64 {
        // In the order of classes, because the sum of floats depends on the order.
        let mut sources: Vec<_> = self.scenario.traffic.sources.iter().collect();
        sources.sort_by_key(|source| source.class_numbers().start);
        let rates = sources.iter().filter_map(|source| source.offered_bits_per_second());
        rates.fold(0.0, |sum, rate| sum + rate)
    }
}

fn keeps(filter: &DecisionFilter, switch: u32, decision: &Decision, per_port: u32) -> bool {
    let is = |wanted: Option<u32>, actual: u32| wanted.is_none_or(|wanted| wanted == actual);
    is(filter.flow, decision.flow)
        && is(filter.switch, switch)
        && is(filter.port, decision.queue / per_port)
        && is(filter.queue, decision.queue % per_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Listed, NS, STAR, US, finish, finished, run_to, scenario, transport};
    use spillway_switch::DropReason;
    use spillway_switch::packet::{Contents, Packet};

    /// A scenario of datagrams, a full packet every microsecond.
    fn datagrams(head: &str, record: &str) -> String {
        let transport = transport("udp", "rate = \"8Gbps\"");
        format!("{head}\n{STAR}\n{transport}\nrecord = {{ {record} }}")
    }

    /// Hosts 0 and 1 send so many packets each to host 2. They arrive at the switch at 11, 12 ...
    /// us, host 0's first.
    fn both(packets: u64) -> [Listed; 2] {
        [(0, 2, packets * 960, 0), (1, 2, packets * 960, 0)]
    }

    const MILLISECOND: &str = "duration = \"1ms\"";

    /// Twenty packets of 1,000 bytes leave without a gap. The window is from 1.5 to 5.25 us.
    #[test]
    fn bytes_on_the_wire_are_those_sent_in_the_window() {
        let head = |warmup: &str| format!("duration = \"5250ns\"\nwarmup = \"{warmup}\"");
        let flows = [(0, 1, 20 * 960, 0)];
        let run = finished(&datagrams(&head("1500ns"), ""), &flows);
        assert_eq!(run.instruments.on_wire, [1_500, 5_250]);
        assert_eq!(run.on_wire_in_window(), 3_750);
        // Without a warmup nothing was sent before.
        let run = finished(&datagrams(&head("0us"), ""), &flows);
        assert_eq!((run.instruments.on_wire, run.on_wire_in_window()), ([0, 5_250], 5_250));
        // In the middle of the window.
        let mut run = Simulation::new(scenario(&datagrams(&head("1500ns"), ""), &flows));
        run_to(&mut run, Time::from_us(3));
        assert_eq!(run.on_wire_in_window(), 1_500);
    }

    /// Samples begin with the window of measurement. With two packets from each host: at 11 us the
    /// first is sent, at 12, 13 and 14 us the others; at 13 us only the last still waits.
    #[test]
    fn queues_are_sampled_from_the_end_of_the_warmup_and_after_all_else_at_that_time() {
        let head = format!("{MILLISECOND}\nwarmup = \"3us\"");
        let run = finished(&datagrams(&head, "queue_interval = \"5us\""), &both(2));
        let queues = &run.record.queues;
        let row = |row: usize| {
            (queues.time_ps[row] / US, queues.port[row], queues.bytes[row], queues.packets[row])
        };
        assert_eq!((0..queues.len()).map(row).collect::<Vec<_>>(), [(13, 2, 1_000, 1)]);
        let switches = &run.record.switches;
        let row =
            |row: usize| (switches.time_ps[row] / US, switches.bytes[row], switches.packets[row]);
        // The last packet arrives at 25 us, which ends the run.
        let expected = [(3, 0, 0), (8, 0, 0), (13, 1_000, 1), (18, 0, 0), (23, 0, 0)];
        assert_eq!((0..switches.len()).map(row).collect::<Vec<_>>(), expected);
    }

    /// Two packets are on the host's line until 2 us, and on the switch's from 11 to 13 us. The run
    /// ends at 23 us, when the second arrives.
    #[test]
    fn links_are_measured_at_each_interval_and_at_the_end() {
        let rows = |interval: &str| {
            let record = format!("link_interval = \"{interval}\"");
            let run = finished(&datagrams(MILLISECOND, &record), &[(0, 1, 1_920, 0)]);
            let links = &run.record.links;
            let row =
                |row: usize| (links.time_ps[row] / US, links.link[row], links.utilisation[row]);
            (0..links.len()).map(row).collect::<Vec<_>>()
        };
        let expected = [(12, 0, 2.0 / 12.0), (12, 4, 1.0 / 12.0), (23, 4, 1.0 / 11.0)];
        assert_eq!(rows("12us"), expected);
        // A link that sends nothing in an interval has no row.
        assert_eq!(rows("8us"), [(8, 0, 2.0 / 8.0), (16, 4, 2.0 / 8.0)]);
    }

    /// Two segments leave at once and arrive at 22 and 23 us; their acks are back at 42.1 and 43.1
    /// us, and the third segment, sent with the first of them, arrives at 64.1 us.
    #[test]
    fn windows_are_sampled_while_their_flow_lasts() {
        let text = |windows: &str| {
            let record = format!("windows = {windows}, window_interval = \"20us\"");
            let transport = transport("newreno", "initial_window = \"2pkt\"");
            let head = format!("{MILLISECOND}\nwarmup = \"20us\"");
            format!("{head}\n{STAR}\n{transport}\nrecord = {{ {record} }}")
        };
        let flows = [(0, 1, 3 * 960, 0), (2, 1, 960, 0)];
        let run = finished(&text("[0]"), &flows[..1]);
        let windows = &run.record.windows;
        let times: Vec<u64> = windows.time_ps.iter().map(|ps| ps / US).collect();
        assert_eq!(times, [20, 40, 60]);
        assert_eq!(windows.delivered_bytes, [0, 1_920, 1_920]);
        // 1,920 bytes in 20 us are 768 Mbps.
        let rates: Vec<u64> = windows.rate_bps.iter().map(|rate| rate.round() as u64).collect();
        assert_eq!(rates, [0, 768_000_000, 0]);
        assert_eq!(windows.in_flight_bytes, [1_920, 1_920, 960]);
        // Slow start: each ack adds a segment.
        let known = |row| windows.cwnd_bytes.known(row);
        assert_eq!([0, 1, 2].map(known), [Some(1_920), Some(1_920), Some(3_840)]);
        assert!((0..3).all(|row| windows.pace_bps.known(row).is_none()));
        // 42.1 us, and with 43.1 us: 7/8 * 42.1 + 1/8 * 43.1 us.
        assert_eq!(windows.srtt_ps, [0, 0, 42_225 * NS]);
        // Only the flows that were asked for.
        let run = finished(&text("[1]"), &flows);
        assert!(run.record.windows.flow_id.iter().all(|flow| *flow == 1));
        assert_eq!(run.record.windows.len(), 1);
    }

    #[test]
    fn only_the_first_decisions_are_kept_in_order_of_time() {
        let rows = |record: &str| {
            let run = finished(&datagrams(MILLISECOND, record), &both(3));
            let decisions = &run.record.decisions;
            let row = |row: usize| {
                (decisions.time_ps[row] / US, decisions.flow_id[row], decisions.seq[row])
            };
            (0..decisions.len()).map(row).collect::<Vec<_>>()
        };
        assert_eq!(rows("decisions = 3"), [(11, 0, 0), (11, 1, 0), (12, 0, 960)]);
        let of_second = rows("decisions = 9, decisions_flow = 1");
        assert_eq!(of_second, [(11, 1, 0), (12, 1, 960), (13, 1, 1_920)]);
    }

    #[test]
    fn what_is_traced_at_this_moment_waits_for_the_next_collection() {
        let mut run = Simulation::new(scenario(&datagrams(MILLISECOND, "decisions = 3"), &both(2)));
        run_to(&mut run, Time::from_us(11));
        run.collect_traces();
        assert_eq!(run.record.decisions.len(), 0);
        run_to(&mut run, Time::from_us(12));
        run.collect_traces();
        assert_eq!(run.record.decisions.len(), 2);
        // Of four decisions the first three are kept, over all collections.
        assert_eq!(finish(run).record.decisions.len(), 3);
    }

    #[test]
    fn a_filter_keeps_what_it_names() {
        let decision = Decision {
            time: Time::ZERO,
            queue: 2 * 4 + 1,
            flow: 7,
            seq: 0,
            size: 0,
            queue_bytes: 0,
            threshold: None,
            occupancy: 0,
            marked: false,
            dropped: None,
        };
        // Queue 9 is queue 1 of port 2 if there are four queues for each port.
        let kept = |filter: DecisionFilter| keeps(&filter, 5, &decision, 4);
        let all = DecisionFilter::default();
        assert!(kept(all));
        let right = DecisionFilter {
            first: 1,
            flow: Some(7),
            switch: Some(5),
            port: Some(2),
            queue: Some(1),
        };
        assert!(kept(right));
        assert!(!kept(DecisionFilter { flow: Some(6), ..right }));
        assert!(!kept(DecisionFilter { switch: Some(6), ..right }));
        assert!(!kept(DecisionFilter { port: Some(1), ..right }));
        assert!(!kept(DecisionFilter { queue: Some(2), ..right }));
    }

    #[test]
    fn a_loss_has_a_row_with_what_is_known_of_its_place() {
        let lost = |record: &str| {
            let mut run = Simulation::new(scenario(&datagrams(MILLISECOND, record), &both(1)));
            let contents = Contents { flow: 1, seq: 960, ..Contents::default() };
            let packet =
                run.network.packets.insert(Packet { size: 500, ..Packet::default() }, contents);
            let (switch, host) = (Node::Switch(0), Node::Host(1));
            for (reason, at, queue) in [
                (DropReason::BufferFull, switch, Some(2)),
                (DropReason::NoRoute, switch, None),
                (DropReason::LinkDown, host, None),
            ] {
                run.note_drop(&Lost { packet, reason, at, queue });
            }
            run
        };
        let run = lost("");
        let drops = &run.record.drops;
        let row = |row: usize| (drops.switch[row], drops.port.known(row), drops.queue.known(row));
        // Hosts are numbered after the one switch, and have one port.
        let expected = [(0, Some(2), Some(0)), (0, None, None), (2, Some(0), None)];
        assert_eq!([0, 1, 2].map(row), expected);
        assert_eq!((drops.flow_id[0], drops.seq[0], drops.size_bytes[0]), (1, 960, 500));
        // Losses are counted even without rows.
        let counted = |run: &Simulation| run.counters.drops.iter().sum::<u64>();
        assert_eq!((counted(&run), run.counters.drops[DropReason::NoRoute as usize]), (3, 1));
        let run = lost("drops = false");
        assert_eq!((counted(&run), run.record.drops.len()), (3, 0));
    }

    /// Of two packets that arrive at 11 us one waits until 12 us: 1,000 bytes for 1 us.
    #[test]
    fn a_buffer_counts_as_empty_after_the_end_of_a_run() {
        let mut run = Simulation::new(scenario(&datagrams(MILLISECOND, ""), &both(1)));
        let mean = |run: &mut Simulation| run.meters_of_tier(0)[0].1.mean();
        run_to(&mut run, Time::from_us(22));
        // The first packet has arrived at 22 us, the second is on its way.
        assert!((mean(&mut run) - 1_000.0 / 22.0).abs() < 1e-9);
        // The run is over at 23 us, but the window of measurement is 1 ms.
        let mut run = finish(run);
        assert_eq!(run.now(), Time::from_us(23));
        assert!((mean(&mut run) - 1.0).abs() < 1e-9);
    }
}
