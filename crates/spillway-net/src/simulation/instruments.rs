//! Samples, traces and counters, which observe a run without changing it.

use super::Simulation;
use super::in_time::InTime;
use crate::event::Kind;
use crate::network::Lost;
use crate::record::names::Name;
use crate::record::{DecisionRow, DropRow, LinkRow, LossPlace, OracleTraceRow, WindowRow};
use crate::scenario::{DecisionFilter, Scenario};
use crate::topology::Node;
use spillway_engine::{Stream, Time};
use spillway_switch::{BurstReport, Decision, Discipline, Fate, Meter};
use std::collections::BTreeMap;

/// What instruments remember between two samples.
#[derive(Debug)]
pub(super) struct Instruments {
    /// When lines were last measured, and how long each had been sending then.
    lines_at: Time,
    busy_before: Vec<Time>,
    /// Bytes that hosts had put on their lines at the beginning and at the end of the window of
    /// measurement.
    pub on_wire: [u64; 2],
    decisions_left: u64,
    /// For every flow whose window is sampled, the last sample's time and bytes delivered.
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
                if self.scenario.tiers[tier].drops_longest_queue() {
                    let stream = Stream::new(self.scenario.seed, "oracle-trace", number.into());
                    switch.trace_fates(tracing, stream);
                }
            }
        }
    }

    /// The window of measurement begins or ends.
    pub(super) fn on_measure(&mut self) {
        let place = usize::from(self.network.now >= self.scenario.duration);
        self.instruments.on_wire[place] = self.sent_by_hosts();
    }

    /// Bytes that hosts have put on their lines.
    pub(super) fn sent_by_hosts(&self) -> u64 {
        (0..self.network.nics.len() as u32).map(|host| self.network.sent_bytes(host)).sum()
    }

    /// Bytes that hosts put on their lines in the window of measurement.
    pub(crate) fn on_wire_in_window(&self) -> u64 {
        let end = match self.network.now >= self.scenario.duration {
            true => self.instruments.on_wire[1],
            false => self.sent_by_hosts(),
        };
        end.saturating_sub(self.instruments.on_wire[0])
    }

    pub(super) fn sample_queues(&mut self) {
        self.network.catch_up_all();
        let recording = &self.scenario.recording;
        self.record.queues.sample(self.network.now, &self.network.switches, recording.empty_queues);
        if let Some(interval) = recording.queue_interval {
            self.network.events.push(self.network.now + interval, Kind::SampleQueues.key(0));
        }
    }

    pub(super) fn sample_windows(&mut self) {
        let wanted = &self.scenario.recording.window_flows;
        for slot in self.hosts.ends.slots() {
            let (sending, receiving) =
                (self.hosts.ends.sending(slot), self.hosts.ends.receiving(slot));
            let flow = &sending.flow;
            if receiving.completed_at.is_none() && wanted.contains(&flow.id) {
                let (now, delivered) = (self.network.now, receiving.receiver.delivered());
                let last = self.instruments.last_sample.insert(flow.id, (now, delivered));
                let (since, before) = last.unwrap_or((flow.spec.start, 0));
                let seconds = now.since(since).secs_f64();
                let bits = (delivered - before) as f64 * 8.0;
                let rate = if bits > 0.0 { bits / seconds } else { 0.0 };
                let row = WindowRow::of(now, flow.id, sending.sender(), delivered, rate);
                self.record.windows.push(row);
            }
        }
        let next = self.network.now + self.scenario.recording.window_interval;
        self.network.events.push(next, Kind::SampleWindows.key(0));
    }

    pub(super) fn sample_lines(&mut self) {
        let Some(interval) = self.scenario.recording.link_interval else { return };
        self.network.catch_up_all();
        self.measure_lines();
        self.network.events.push(self.network.now + interval, Kind::SampleLinks.key(0));
    }

    /// Measures lines at the end of the run, where the last interval ends.
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
            let before = std::mem::replace(busy_before, busy);
            if busy > before {
                let utilisation = (busy - before).ps() as f64 / interval.ps() as f64;
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
            Node::Switch(switch) => (Some(self.network.switches[switch as usize].buffer()), None),
            Node::Host(host) => {
                let discipline = self.network.nics[host as usize].discipline();
                (discipline.map(Discipline::buffer), Some(0))
            }
        };
        let node = self.scenario.topology.place_of(lost.at);
        let place = LossPlace { node, buffer, queue: lost.queue, port };
        let row = DropRow::of(self.network.now, lost.reason, place, (packet, contents));
        self.record.drops.push(row);
    }

    /// Moves what switches have traced into the record. To be called now and then.
    pub fn collect_traces(&mut self) {
        self.collect_traces_before(Some(self.network.now));
    }

    /// The same for what was traced before a time, or for everything with `None`.
    pub(super) fn collect_traces_before(&mut self, before: Option<Time>) {
        self.collect_decisions(before);
        self.collect_bursts(before);
        self.collect_fates(before);
    }

    /// The run is over: packets still in switches get no fate.
    pub(super) fn finish_fates(&mut self) {
        self.network.switches.iter_mut().for_each(|switch| switch.finish_fates());
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
        let end = match self.has_more() {
            true => self.network.now,
            false => self.network.now.max(self.scenario.duration),
        };
        let mut meters = Vec::new();
        for number in 0..self.network.switches.len() {
            if self.scenario.tier_of(number as u32) == tier {
                let switch = &mut self.network.switches[number];
                let capacity = switch.buffer().capacity();
                meters.push((capacity, switch.meter(end).clone()));
            }
        }
        meters
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
