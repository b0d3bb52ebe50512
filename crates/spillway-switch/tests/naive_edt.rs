//! Enhanced Dynamic Thresholds beside a second, naive implementation, packet by packet, and worked
//! out by hand.
//!
//! The naive one stores for every port how many packets there were after each arrival and
//! departure, and searches all of this. It is written from the rule, in integers, and shares no
//! code with the switch. Both must agree on every limit, to the byte, on which packets are admitted
//! or refused, and why, and on the number of bursts.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, is_asked, run, steps};
use crate::common::drawing::{Tally, look_at, watched_switches};
use crate::common::dynamic::{Dynamic, dynamic};
use crate::common::{Real, Settings, cases};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::{Decision, DropReason};
use std::collections::BTreeMap;

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    dynamic: Dynamic,
    burst_packets: Option<usize>,
    burst_time_ns: Option<u64>,
    drain_packets: Option<usize>,
    max_time_ns: Option<u64>,
    is_whole: Option<bool>,
}

impl Keys {
    fn text(&self) -> String {
        let mut lines = self.dynamic.lines();
        lines.extend(self.burst_packets.map(|packets| format!("burst_packets = {packets}")));
        lines.extend(self.burst_time_ns.map(|ns| format!("burst_time = \"{ns}ns\"")));
        lines.extend(self.drain_packets.map(|packets| format!("drain_packets = {packets}")));
        lines.extend(self.max_time_ns.map(|ns| format!("max_time = \"{ns}ns\"")));
        lines.extend(
            self.is_whole.map(|is_whole| {
                format!("limit = \"{}\"", if is_whole { "whole" } else { "equal" })
            }),
        );
        lines.join("\n")
    }

    fn burst_packets(&self) -> usize {
        self.burst_packets.unwrap_or(8)
    }

    fn drain_packets(&self) -> usize {
        self.drain_packets.unwrap_or(4)
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

impl Setup {
    fn ps_per_byte(&self, port: usize) -> u64 {
        8_000 / self.switch.rates[port % self.switch.rates.len()]
    }

    /// By default, the time of full packets at four times the line's rate. A full packet has
    /// 1500 bytes in these tests.
    fn burst_time_ps(&self, port: usize) -> u64 {
        let bytes = 1500 * self.keys.burst_packets() as u64;
        self.keys.burst_time_ns.map_or(bytes * self.ps_per_byte(port) / 4, |ns| 1_000 * ns)
    }

    /// By default, the time in which the port sends the whole buffer.
    fn max_time_ps(&self, port: usize) -> u64 {
        let whole = self.switch.capacity * self.ps_per_byte(port);
        self.keys.max_time_ns.map_or(whole, |ns| 1_000 * ns)
    }
}

/// The number of packets that waited at a port from a time on.
#[derive(Clone, Copy, Debug)]
struct Length {
    since: u64,
    packets: usize,
}

#[derive(Clone, Debug, Default)]
struct Port {
    lengths: Vec<Length>,
    /// The index of the length that made the port uncontrolled; `None` if it is controlled.
    burst: Option<usize>,
}

impl Port {
    /// When the first of the packets waiting now arrived.
    fn grows_since(&self) -> Option<u64> {
        let waiting = self.lengths.iter().rev().take_while(|length| length.packets > 0);
        waiting.last().map(|length| length.since)
    }

    /// The most packets that waited in this burst.
    fn longest(&self) -> Option<usize> {
        self.lengths[self.burst?..].iter().map(|length| length.packets).max()
    }
}

struct Edt<'a> {
    setup: &'a Setup,
    ports: Vec<Port>,
    bursts: u64,
    counts: Tally,
}

impl<'a> Edt<'a> {
    fn new(setup: &'a Setup) -> Edt<'a> {
        let ports = vec![Port::default(); setup.switch.ports];
        Edt { setup, ports, bursts: 0, counts: Tally::default() }
    }

    /// For how long a port has been uncontrolled; `None` if it is not.
    fn uncontrolled_ps(&self, now: u64, port: usize) -> Option<u64> {
        let Port { lengths, burst } = &self.ports[port];
        let ps = now - lengths[(*burst)?].since;
        (ps <= self.setup.max_time_ps(port)).then_some(ps)
    }

    fn uncontrolled(&self, now: u64) -> u64 {
        let ports = 0..self.ports.len();
        ports.filter(|&port| self.uncontrolled_ps(now, port).is_some()).count() as u64
    }

    /// The limit of a port in a burst.
    fn lifted(&self, now: u64, port: usize) -> Option<u64> {
        let capacity = self.setup.switch.capacity;
        let limit = match self.setup.keys.is_whole {
            Some(true) => capacity,
            _ => capacity / self.uncontrolled(now).max(1),
        };
        self.uncontrolled_ps(now, port).map(|_| limit)
    }

    fn control(&mut self, port: usize) {
        self.ports[port].burst = None;
    }

    /// `packets` packets wait at a port now, after an arrival or a departure.
    fn has(&mut self, now: u64, port: usize, packets: usize) {
        self.ports[port].lengths.push(Length { since: now, packets });
        let drain_packets = self.setup.keys.drain_packets();
        let is_uncontrolled = self.uncontrolled_ps(now, port).is_some();
        let longest = self.ports[port].longest();
        if longest.is_some_and(|longest| longest - packets >= drain_packets) {
            self.control(port);
            self.counts.count("drained", is_uncontrolled);
        }
    }

    fn takes(&mut self, now: u64, port: usize, packets: usize) {
        self.has(now, port, packets);
        let since = self.ports[port].grows_since().unwrap();
        let (time, limit) = (now - since, self.setup.burst_time_ps(port));
        let has_enough = packets >= self.setup.keys.burst_packets();
        if self.uncontrolled_ps(now, port).is_some() {
            let longest = self.ports[port].longest().unwrap();
            self.counts.count("grows in a burst", longest == packets);
            return;
        }
        self.counts.count("too slow", has_enough && time > limit);
        self.counts.count("in just that time", has_enough && time == limit && time > 0);
        if has_enough && time <= limit {
            self.ports[port].burst = Some(self.ports[port].lengths.len() - 1);
            self.bursts += 1;
            self.counts.count("bursts", true);
        }
    }
}

impl Naive for Edt<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        let (now, port) = (arrival.now, arrival.queue / queues.per_port);
        let lifted = self.lifted(now, port);
        let limit = lifted.unwrap_or(self.setup.keys.dynamic.limit(arrival, queues));
        prop_assert_eq!(decision.threshold, Some(limit), "{:?}", arrival);
        let bytes = queues.port_bytes(port) + arrival.size;
        let dynamic = self.setup.keys.dynamic.takes(arrival, queues);
        let is_within = lifted.map_or(dynamic, |limit| bytes <= limit);
        let of_queue = queues.bytes(arrival.queue) + arrival.size;
        let is_asked = is_asked(&self.setup.switch, arrival, queues);
        let fits = queues.total() + arrival.size <= queues.capacity;
        let expected = fate(is_asked, is_within, fits);
        prop_assert_eq!(decision.dropped, expected, "{:?}: {}", arrival, limit);

        let is_lifted = lifted.is_some();
        self.counts.count("not asked", !is_asked);
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        let over = expected == Some(DropReason::OverThreshold);
        self.counts.count("controlled and taken", !is_lifted && expected.is_none());
        self.counts.count("controlled and over", !is_lifted && over);
        self.counts.count("lifted and taken", is_lifted && expected.is_none());
        self.counts.count("lifted and over", is_lifted && over);
        self.counts.count("taken since lifted", expected.is_none() && !dynamic);
        self.counts.count("over since lifted", over && dynamic);
        self.counts.count("at the limit", lifted == Some(bytes));
        self.counts.count("a byte beyond", lifted.is_some_and(|limit| bytes == limit + 1));
        let is_apart = is_within != (of_queue <= limit);
        self.counts.count("queue but not port", is_lifted && is_apart);
        let late = self.uncontrolled_ps(now, port) == Some(self.setup.max_time_ps(port));
        self.counts.count("at the end of its time", late);
        let has_run_out = self.ports[port].burst.is_some() && !is_lifted;
        self.counts.count("out of time", has_run_out);
        let others = |edt: &Edt| {
            let others = edt.ports.iter().enumerate().filter(|(other, _)| *other != port);
            others.filter(|(_, other)| other.burst.is_some()).count() as u64 + 1
        };
        let uncontrolled = self.uncontrolled(now);
        self.counts.count("another is lifted", is_lifted && uncontrolled > 1);
        self.counts.count("another is out of time", is_lifted && uncontrolled < others(self));

        if !is_lifted {
            self.control(port);
        }
        match expected {
            None => self.takes(now, port, queues.port_packets(port) + 1),
            Some(_) if !fits => {
                self.control(port);
                self.counts.count("no room in a burst", is_lifted);
                self.counts.count("over, and no room", is_lifted && over);
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        let port = arrival.queue / queues.per_port;
        let dynamic = self.setup.keys.dynamic.room(arrival, queues);
        let lifted = self.lifted(arrival.now, port);
        lifted.map_or(dynamic, |limit| limit.saturating_sub(queues.port_bytes(port)))
    }

    fn leaves(&mut self, now: u64, queue: usize, _size: u64, queues: &Queues) {
        let port = queue / queues.per_port;
        self.has(now, port, queues.port_packets(port) - 1);
    }

    fn is_cut(&mut self, now: u64, port: usize, _bytes: &[u64], _queues: &Queues) {
        let is_lifted = self.uncontrolled_ps(now, port).is_some();
        self.has(now, port, 0);
        self.counts.count("cut in a burst", is_lifted && self.ports[port].burst.is_none());
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let switch = Settings { sharing: ("edt", setup.keys.text()), ..setup.switch.clone() };
    let mut edt = Edt::new(setup);
    let real = run(&switch, false, &mut edt, steps)?;
    prop_assert_eq!(real.switch.sharing_counters(), vec![("bursts".into(), edt.bursts)]);
    Ok(edt.counts)
}

fn keys() -> impl Strategy<Value = Keys> {
    let burst_packets = option::weighted(0.9, select(vec![1usize, 2, 3, 4, 6]));
    let burst_time = option::weighted(0.7, select(vec![0u64, 300, 1_000, 3_000, 10_000]));
    let drain_packets = option::weighted(0.8, select(vec![1usize, 2, 3, 6]));
    let max_time = option::weighted(0.7, select(vec![0u64, 100, 700, 2_000, 8_000]));
    let is_whole = option::weighted(0.9, any::<bool>());
    (dynamic(), burst_packets, burst_time, drain_packets, max_time, is_whole).prop_map(
        |(dynamic, burst_packets, burst_time_ns, drain_packets, max_time_ns, is_whole)| Keys {
            dynamic,
            burst_packets,
            burst_time_ns,
            drain_packets,
            max_time_ns,
            is_whole,
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    (keys(), watched_switches()).prop_map(|(keys, switch)| Setup { keys, switch })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn edt_decides_like_its_rule(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_lift_limits_and_end_bursts() {
    let mut totals: BTreeMap<bool, Tally> = BTreeMap::new();
    look_at(3000, setup(), |setup, steps| {
        let counts = compare(&setup, &steps).unwrap();
        totals.entry(setup.keys.is_whole == Some(true)).or_default().add(counts);
    });
    assert_eq!(totals.len(), 2);
    for (is_whole, total) in totals {
        assert_eq!(total.0.len(), 23, "{total:?}");
        // A port hardly ever holds the whole buffer, or all but one byte of it.
        let least = |what| if what == "a byte beyond" { 5 } else { 20 };
        assert!(total.0.iter().all(|(&what, &n)| n > least(what)), "{is_whole}: {total:?}");
    }
}

/// B = 12,000, and a burst is three packets of 1000 bytes within half a microsecond.
fn by_hand(alpha: &str) -> Real {
    let keys = "burst_packets = 3\nburst_time = \"500ns\"\ndrain_packets = 2\nmax_time = \"5us\"";
    Real::new(&Settings {
        capacity: 12_000,
        ports: 2,
        sharing: ("edt", format!("{keys}\nalpha = {alpha}")),
        ..Settings::default()
    })
}

#[test]
fn a_burst_whose_time_is_over_takes_no_share() {
    // 6000 bytes for each. Under Dynamic Thresholds, port 1 could hold at most 4500 beside 3000.
    let mut real = by_hand("1.0");
    assert_eq!(real.join(0, 0, 3), 0);
    assert_eq!(real.join(1_000, 1, 3), 0);
    assert_eq!(real.join(5_000, 1, 4), 1);
    // Until 5 us port 0 was in a burst. A nanosecond later, the other port may hold all that is
    // free.
    assert_eq!(real.join(5_001, 1, 4), 1);
    assert_eq!(real.switch.buffer().free(), 0);
    // There was no room for the last packet. This ends the second burst too, and T = 1000.
    real.leave(5_002, 1);
    assert_eq!(real.join(5_003, 1, 1), 1);
}

#[test]
fn a_cut_link_ends_a_burst() {
    let mut real = by_hand("0.5");
    assert_eq!(real.join(0, 0, 6), 0);
    real.switch.purge(Time::from_ns(1_000), 0, DropReason::LinkDown, &mut real.packets);
    assert_eq!(real.take_lost().len(), 6);
    // These packets arrive too slowly for another burst: T = 0.5 (12,000 - Q) admits at most
    // 4000 bytes.
    let lost = (0..6).map(|number| real.join(2_000 + 400 * number, 0, 1));
    assert_eq!(lost.collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1]);
}
