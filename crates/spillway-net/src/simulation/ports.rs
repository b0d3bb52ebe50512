//! Samples of ports, their bursts, and what switches learn from them.

use super::Simulation;
use crate::event::Kind;
use crate::record::names::Name;
use crate::record::{BurstRow, HistoryRow, PortClassRow, PortRow, finite};
use spillway_engine::Time;
use spillway_switch::BurstTracing;

/// With this no port is ever in a burst, but switches follow what ports would hold without losses,
/// which samples report.
const NO_BURSTS: BurstTracing = BurstTracing { above: u64::MAX, beta: 0.5 };

impl Simulation {
    /// Schedules the samples of ports and starts the tracing of bursts.
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
                let class = self.hosts.ends.receiving(packets.contents(id).slot).class;
                by_class[usize::from(class)] += u64::from(switch.size_of(&packets[id]));
                count += 1;
            }
            let (time_ps, switch_name) = (now.ps(), Name(number));
            self.record.ports.push(PortRow {
                time_ps,
                switch: switch_name,
                port,
                bytes,
                packets: count,
                threshold_bytes: switch.limit(now, port).and_then(finite),
                unbounded_bytes: switch.unbounded_bytes(now, port).unwrap_or(bytes),
            });
            for (class, bytes) in (0..).zip(&mut by_class).filter(|(_, bytes)| **bytes > 0) {
                let (class, bytes) = (Name(class), std::mem::take(bytes));
                let row = PortClassRow { time_ps, switch: switch_name, port, class, bytes };
                self.record.port_classes.push(row);
            }
        }
    }

    /// Writes the rows of bursts that are over.
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
            self.record.bursts.push(BurstRow::of(number, &report));
        }
    }

    /// The run is over: bursts still going on have no end, and what switches have learned is
    /// written.
    pub(super) fn finish_ports(&mut self) {
        for (number, switch) in (0..).zip(&mut self.network.switches) {
            switch.finish_sharing(self.network.now);
            switch.finish_bursts();
            for learned in switch.learned() {
                self.record.history.push(HistoryRow::of(number, &learned));
            }
        }
    }
}
