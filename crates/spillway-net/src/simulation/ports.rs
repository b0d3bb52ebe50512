//! Samples of ports, their bursts, and what switches learn from them.

use super::Simulation;
use crate::event::Kind;
use crate::record::names::Name;
use crate::record::{BurstRow, HistoryRow, PortClassRow, PortRow, Record, finite};
use spillway_engine::Time;
use spillway_switch::packet::{Arena, PacketId};
use spillway_switch::{BurstTracing, Switch};
use std::collections::BTreeMap;
use std::ops::Range;

/// With this setting no port is ever in a burst. But switches follow what their ports would hold
/// without losses, and samples report that.
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
        let (now, packets) = (self.network.now, &self.network.packets);
        for number in self.sampled_switches() {
            let switch = &mut self.network.switches[number as usize];
            let ends = &self.hosts.ends;
            let class_of = |id: PacketId| ends.receiving(packets.contents(id).slot).class;
            PortRows { now, number, packets }.write(switch, class_of, &mut self.record);
        }
        self.schedule_next_sample_of_ports();
    }

    /// The switches whose ports are sampled.
    pub(super) fn sampled_switches(&self) -> Range<u32> {
        match self.scenario.recording.port_switch {
            Some(switch) => switch..switch + 1,
            None => 0..self.network.switches.len() as u32,
        }
    }

    pub(super) fn schedule_next_sample_of_ports(&mut self) {
        if let Some(interval) = self.scenario.recording.port_interval {
            self.network.events.push(self.network.now + interval, Kind::SamplePorts.key(0));
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

    /// The run is over. Bursts that still go on are written without an end, and so is what switches
    /// have learned.
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

/// A sample of the ports of a switch.
pub(super) struct PortRows<'a> {
    pub now: Time,
    /// The switch.
    pub number: u32,
    /// Its packets are among these.
    pub packets: &'a Arena,
}

impl PortRows<'_> {
    /// Writes the rows, which tell packets apart by class.
    pub fn write(self, switch: &mut Switch, class_of: impl Fn(PacketId) -> u16, to: &mut Record) {
        let PortRows { now, number, packets } = self;
        let (time_ps, switch_name) = (now.ps(), Name(number));
        let mut by_class = BTreeMap::new();
        for port in 0..switch.buffer().ports() {
            let bytes = switch.port_bytes(port);
            let mut count = 0;
            for id in switch.waiting(port, packets) {
                *by_class.entry(class_of(id)).or_insert(0) +=
                    u64::from(switch.size_of(&packets[id]));
                count += 1;
            }
            to.ports.push(PortRow {
                time_ps,
                switch: switch_name,
                port,
                bytes,
                packets: count,
                threshold_bytes: switch.limit(now, port).and_then(finite),
                unbounded_bytes: switch.unbounded_bytes(now, port).unwrap_or(bytes),
            });
            for (class, bytes) in std::mem::take(&mut by_class) {
                let class = Name(class);
                to.port_classes.push(PortClassRow {
                    time_ps,
                    switch: switch_name,
                    port,
                    class,
                    bytes,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::transport;
    use crate::testing::{
        Listed, STAR, US, columns, finish, finished, run_to, scenario, scenario_of,
    };
    use spillway_switch::packet::{Contents, NO_PRIORITY, Packet, flags};
    use spillway_traffic::FlowColumns;

    /// A scenario of datagrams, a full packet every microsecond.
    fn datagrams(head: &str, topology: &str, record: &str) -> String {
        let transport = transport("udp", "rate = \"8Gbps\"");
        format!("{head}\n{topology}\n{transport}\nrecord = {{ {record} }}")
    }

    /// Hosts 0 and 2 send so many packets each to host 1. They arrive at the switch at 11, 12 ...
    /// us, host 0's first.
    fn both(packets: u64) -> [Listed; 2] {
        [(0, 1, packets * 960, 0), (2, 1, packets * 960, 0)]
    }

    const MILLISECOND: &str = "duration = \"1ms\"";

    /// Host 2 has an ack of the first flow to send behind its first packet: it comes to the switch
    /// at 11.05 us, and host 2's second packet at 12.05 us. At 12.5 us, when the first packets of
    /// both have left the queue, the ack and the second packets wait.
    #[test]
    fn a_sample_has_what_waits_and_which_class_it_is_of() {
        let list = FlowColumns {
            class: Some(["alpha", "beta"].map(std::sync::Arc::from).into()),
            ..columns(&both(3))
        };
        let rows = |switch: &str| {
            let record = "port_interval = \"12500ns\"";
            let text = datagrams(&format!("{MILLISECOND}\n{switch}"), STAR, record);
            let mut run = Simulation::new(scenario_of(&text, &list));
            // Both flows have started, and what a sample at time 0 says is written.
            run.run(2);
            assert_eq!(run.record.ports.len(), 3);
            let (size, dst, priority) = (50, 1, NO_PRIORITY);
            let ack = Packet { size, dst, priority, flags: flags::CONTROL, ..Packet::default() };
            run.network.launch(2, ack, Contents { slot: 0, ..Contents::default() });
            run_to(&mut run, Time::from_ns(12_500));
            run.record
        };
        let record =
            rows("switch = { buffer = \"100KB\", sharing = { kind = \"dt\", alpha = 0.5 } }");
        let ports = &record.ports;
        assert_eq!(ports.time_ps, [0, 0, 0, 12_500_000, 12_500_000, 12_500_000]);
        assert_eq!(ports.port, [0, 1, 2, 0, 1, 2]);
        assert_eq!(ports.bytes, [0, 0, 0, 0, 2_050, 0]);
        assert_eq!(ports.packets, [0, 0, 0, 0, 3, 0]);
        assert_eq!(ports.unbounded_bytes, [0, 0, 0, 0, 2_050, 0]);
        // Half of what is free: 100,000 - 2,050 bytes.
        let limits: Vec<_> = (0..6).map(|row| ports.threshold_bytes.known(row)).collect();
        let (before, then) = (Some(50_000), Some(48_975));
        assert_eq!(limits, [before, before, before, then, then, then]);
        // A packet of alpha and the ack; a packet of beta. No row for what is not there.
        let classes = &record.port_classes;
        assert_eq!((&classes.class[..], &classes.bytes[..]), (&[0, 1][..], &[1_050, 1_000][..]));
        assert_eq!((&classes.port[..], &classes.time_ps[..]), (&[1; 2][..], &[12_500_000; 2][..]));
        // A policy without a limit has none in the table.
        let record = rows("switch = { buffer = \"100KB\" }");
        assert!((0..6).all(|row| record.ports.threshold_bytes.known(row).is_none()));
    }

    #[test]
    fn samples_begin_with_the_window_and_may_be_of_one_switch() {
        let leaf_spine = "topology = { kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 3, \
                          spines = 1, host_rate = \"8Gbps\", fabric_rate = \"8Gbps\", \
                          link_delay = \"10us\" }";
        let run = |more: &str| {
            let record = format!("port_interval = \"10us\"{more}");
            let head = format!("{MILLISECOND}\nwarmup = \"5us\"");
            finished(&datagrams(&head, leaf_spine, &record), &[(0, 1, 960, 0)]).record
        };
        // The packet arrives at 22 us, and the run ends. Leaf 1 has four ports.
        let record = run(", port_switch = \"leaf1\"");
        let at = |us: u64| [(us * US, 1); 4];
        let rows = record.ports.time_ps.iter().copied().zip(record.ports.switch.iter().copied());
        assert_eq!(rows.collect::<Vec<_>>(), [at(5), at(15)].concat());
        assert_eq!(record.ports.port, [0, 1, 2, 3, 0, 1, 2, 3]);
        // Both leaves, and a spine with two ports.
        assert_eq!(run("").ports.len(), 2 * (4 + 4 + 2));
    }

    /// With five packets from each host, one leaves every microsecond from 11 us on. At 14 us 2,000
    /// bytes are left behind the one that leaves, at 20 us none.
    #[test]
    fn a_burst_has_a_row_when_it_is_over_or_without_an_end() {
        let text = |head: &str, topology: &str| {
            datagrams(head, topology, "bursts = \"1500B\", burst_end = 0.2")
        };
        let rows = |run: &Simulation| {
            let bursts = &run.record.bursts;
            let row = |row: usize| {
                let end = bursts.end_ps.known(row).map(|ps| ps / US);
                (bursts.port[row], bursts.start_ps[row] / US, bursts.detected_ps[row] / US, end)
            };
            (0..bursts.len()).map(row).collect::<Vec<_>>()
        };
        let mut run = Simulation::new(scenario(&text(MILLISECOND, STAR), &both(5)));
        // What is traced now waits for the next collection.
        run_to(&mut run, Time::from_us(20));
        run.collect_traces();
        assert_eq!(rows(&run), []);
        run_to(&mut run, Time::from_us(21));
        run.collect_traces();
        assert_eq!(rows(&run), [(1, 11, 14, Some(20))]);
        assert_eq!(rows(&finish(run)).len(), 1);
        // Another burst, 1 us later and at a port of a lower number, is cut off.
        let cut_off = "duration = \"2us\"\nstop = \"20500ns\"";
        let size = 5 * 960;
        let flows = [(2, 1, size, 0), (3, 1, size, 0), (4, 0, size, 1_000), (5, 0, size, 1_000)];
        let run = finished(&text(cut_off, &STAR.replace("hosts = 3", "hosts = 6")), &flows);
        assert_eq!(rows(&run), [(1, 11, 14, Some(20)), (0, 12, 15, None)]);
    }

    #[test]
    fn samples_alone_make_no_bursts() {
        let text = datagrams(MILLISECOND, STAR, "port_interval = \"5us\"");
        let run = finished(&text, &both(5));
        assert!(run.record.bursts.is_empty() && run.record.history.is_empty());
        // At 15 us, of the ten packets that have come five have begun to leave.
        let held = (0..run.record.ports.len()).filter(|&row| run.record.ports.bytes[row] > 0);
        let of = |row: usize| (run.record.ports.time_ps[row] / US, run.record.ports.bytes[row]);
        assert_eq!(held.map(of).collect::<Vec<_>>(), [(15, 5_000)]);
    }
}
