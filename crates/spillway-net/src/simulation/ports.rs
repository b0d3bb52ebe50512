//! Samples of ports, their bursts, and what switches learn of them.

use super::Simulation;
use super::key::Kind;
use crate::record::{BurstTable, PortTable};
use spillway_engine::Time;
use spillway_switch::{BurstReport, BurstTracing};

/// Where nothing counts as a burst, ports are followed for what they would hold.
const NO_BURSTS: BurstTracing = BurstTracing { above: u64::MAX, beta: 0.5 };

impl Simulation {
    /// Schedules what looks at ports.
    pub(super) fn schedule_ports(&mut self) {
        let recording = &self.scenario.recording;
        if recording.port_interval.is_some() {
            self.network.events.push(self.scenario.warmup, Kind::SamplePorts.key(0));
        }
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            let is_sampled = recording.port_interval.is_some()
                && recording.port_switch.is_none_or(|wanted| wanted == number);
            let tracing = recording.bursts.map(|bursts| bursts.of(switch.buffer().capacity()));
            if let Some(tracing) = tracing.or(is_sampled.then_some(NO_BURSTS)) {
                switch.trace_bursts(tracing);
            }
        }
    }

    pub(super) fn sample_ports(&mut self) {
        let recording = &self.scenario.recording;
        match recording.port_switch {
            Some(switch) => self.sample_ports_of(switch),
            None => (0..self.network.switches.len() as u32).for_each(|s| self.sample_ports_of(s)),
        }
        if let Some(interval) = self.scenario.recording.port_interval {
            self.network.events.push(self.network.now + interval, Kind::SamplePorts.key(0));
        }
    }

    fn sample_ports_of(&mut self, number: u32) {
        let (now, packets) = (self.network.now, &self.network.packets);
        let switch = &mut self.network.switches[number as usize];
        let mut by_class = vec![0; self.scenario.traffic.classes.len()];
        for port in 0..switch.buffer().ports() {
            let bytes = switch.buffer().port_bytes(port);
            let mut count = 0;
            for id in switch.waiting(port, packets) {
                let class = self.flows[packets.contents(id).slot].spec.class;
                by_class[usize::from(class)] += u64::from(switch.size_of(&packets[id]));
                count += 1;
            }
            let table = &mut self.record.ports;
            table.time_ps.push(now.ps());
            table.switch.push(number);
            table.port.push(port);
            table.bytes.push(bytes);
            table.packets.push(count);
            table.threshold_bytes.push(switch.limit(now, port).unwrap_or(PortTable::NO_LIMIT));
            table.unbounded_bytes.push(switch.unbounded_bytes(now, port).unwrap_or(bytes));
            let table = &mut self.record.port_classes;
            for (class, bytes) in (0..).zip(&mut by_class).filter(|(_, bytes)| **bytes > 0) {
                table.time_ps.push(now.ps());
                table.switch.push(number);
                table.port.push(port);
                table.class.push(class);
                table.bytes.push(std::mem::take(bytes));
            }
        }
    }

    /// Writes the bursts that are over.
    pub(super) fn collect_bursts(&mut self, before: Option<Time>) {
        if self.scenario.recording.bursts.is_none() {
            return;
        }
        let bursts = &mut self.instruments.bursts;
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            for report in switch.take_bursts() {
                bursts.add(report.end.unwrap_or(Time::MAX), number, report);
            }
        }
        for (number, report) in bursts.take(before) {
            write_burst(&mut self.record.bursts, number, &report);
        }
    }

    /// The run is over: bursts have no end, and what was learned is known.
    pub(super) fn finish_ports(&mut self) {
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            switch.finish_sharing(self.network.now);
            switch.finish_bursts();
            for learned in switch.learned() {
                let table = &mut self.record.history;
                table.switch.push(number);
                table.gradient_bps.push(8.0 * learned.gradient);
                table.bytes.push(learned.bytes);
                table.last_seen_ps.push(learned.last_seen.ps());
            }
        }
    }
}

fn write_burst(table: &mut BurstTable, switch: u32, report: &BurstReport) {
    table.start_ps.push(report.start.ps());
    table.detected_ps.push(report.detected.ps());
    table.end_ps.push(report.end.map_or(BurstTable::NO_END, Time::ps));
    table.switch.push(switch);
    table.port.push(report.port);
    table.gradient_bps.push(8.0 * report.gradient);
    table.peak_bytes.push(report.peak_bytes);
    table.demand_bytes.push(report.demand_bytes);
    let none = BurstTable::NO_LIMIT;
    table.first_threshold_bytes.push(report.limits.map_or(none, |limits| limits.first));
    table.last_threshold_bytes.push(report.limits.map_or(none, |limits| limits.last));
    table.least_threshold_bytes.push(report.limits.map_or(none, |limits| limits.least));
    table.most_threshold_bytes.push(report.limits.map_or(none, |limits| limits.most));
    table.lost_packets.push(report.lost_packets);
    table.lost_bytes.push(report.lost_bytes);
}
