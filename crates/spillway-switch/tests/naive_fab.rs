//! The Flow-Aware Buffer beside a second, naive implementation, packet by packet, and worked out by
//! hand.
//!
//! The naive one stores every arrival that the policy was asked about, and searches all of them for
//! the bytes of a flow. It is written from the rule, in integers, and shares no code with the
//! switch. Both must agree on every limit, to the byte, and on which packets are admitted or
//! refused, and why.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, is_asked, run, steps};
use crate::common::drawing::{Tally, look_at, switches};
use crate::common::{Ratio, Real, Settings, cases, decimal};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::packet::Packet;
use spillway_switch::{Decision, DropReason};

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    alpha: Option<Vec<Ratio>>,
    alpha_short: Option<Ratio>,
    short_bytes: Option<u64>,
    idle_timeout_ns: Option<u64>,
}

impl Keys {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(alpha) = &self.alpha {
            let alpha: Vec<String> = alpha.iter().map(decimal).collect();
            lines.push(format!("alpha = [{}]", alpha.join(", ")));
        }
        lines.extend(self.alpha_short.map(|alpha| format!("alpha_short = {}", decimal(&alpha))));
        lines.extend(self.short_bytes.map(|bytes| format!("short_bytes = \"{bytes}B\"")));
        lines.extend(self.idle_timeout_ns.map(|ns| format!("idle_timeout = \"{ns}ns\"")));
        lines.join("\n")
    }

    fn alpha(&self, queue_class: usize) -> Ratio {
        match &self.alpha {
            None => (1, 2),
            Some(alpha) => *alpha.get(queue_class).or(alpha.last()).unwrap(),
        }
    }

    fn idle_timeout_ps(&self) -> u64 {
        self.idle_timeout_ns.map_or(5_000_000_000, |ns| 1_000 * ns)
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

impl Setup {
    /// A packet that finds its port idle passes the queue, unless the scheduler must see it or its
    /// bytes are held until it is sent.
    fn bypass(&self) -> bool {
        self.switch.scheduling.0 != "dwrr" && !self.switch.release_at_end
    }
}

struct Fab<'a> {
    setup: &'a Setup,
    /// All arrivals that the policy was asked about.
    arrivals: Vec<Given>,
    counts: Tally,
}

impl Fab<'_> {
    /// The packets of the arrival's flow that arrived for its queue, the last one first.
    fn earlier(&self, arrival: &Given) -> impl Iterator<Item = &Given> {
        let (queue, flow) = (arrival.queue, arrival.flow);
        self.arrivals.iter().rev().filter(move |other| (other.queue, other.flow) == (queue, flow))
    }

    /// The bytes of the flow before the arrival, since it was last silent for too long.
    fn bytes_before(&self, arrival: &Given) -> u64 {
        let (mut bytes, mut next) = (0, arrival.now);
        for packet in self.earlier(arrival) {
            if next > packet.now + self.setup.keys.idle_timeout_ps() {
                break;
            }
            bytes += packet.size;
            next = packet.now;
        }
        bytes
    }

    fn is_short(&self, arrival: &Given) -> bool {
        let bytes = self.bytes_before(arrival) + arrival.size;
        bytes < self.setup.keys.short_bytes.unwrap_or(21_000)
    }

    /// T, rounded down.
    fn limit(&self, arrival: &Given, queues: &Queues) -> u64 {
        let (over, under) = if self.is_short(arrival) {
            self.setup.keys.alpha_short.unwrap_or((1024, 1))
        } else {
            self.setup.keys.alpha(arrival.queue_class)
        };
        (queues.capacity - queues.total()) * over / under
    }
}

impl Naive for Fab<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        let limit = self.limit(arrival, queues);
        prop_assert_eq!(decision.threshold, Some(limit), "{:?}", arrival);
        let bytes = queues.bytes(arrival.queue) + arrival.size;
        let is_asked = is_asked(&self.setup.switch, arrival, queues);
        let fits = queues.total() + arrival.size <= queues.capacity;
        let expected = fate(is_asked, bytes <= limit, fits);
        prop_assert_eq!(decision.dropped, expected, "{:?}: {}", arrival, limit);
        self.counts.count("not asked", !is_asked);
        if !is_asked {
            return Ok(());
        }
        let (is_short, before) = (self.is_short(arrival), self.bytes_before(arrival));
        let last = self.earlier(arrival).next().map(|packet| packet.now);
        let silence = last.map(|last| arrival.now - last);
        let timeout = self.setup.keys.idle_timeout_ps();
        let own = self.setup.keys.alpha(arrival.queue_class);
        let other_limit =
            if is_short { (queues.capacity - queues.total()) * own.0 / own.1 } else { limit };
        self.counts.count("short and taken", is_short && expected.is_none());
        self.counts
            .count("taken because short", is_short && expected.is_none() && bytes > other_limit);
        self.counts.count("short and over", is_short && bytes > limit);
        self.counts.count("long and taken", !is_short && expected.is_none());
        self.counts.count("long and over", !is_short && bytes > limit);
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        self.counts.count("at the limit", bytes == limit);
        self.counts.count("a byte beyond", bytes == limit + 1);
        self.counts.count("just not short", before + arrival.size == self.short_bytes());
        self.counts.count("new after silence", silence.is_some_and(|ps| ps > timeout));
        self.counts.count("silent for just the timeout", silence == Some(timeout) && timeout > 0);
        self.counts.count("of several packets", before > 0);
        self.arrivals.push(*arrival);
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        // The largest packet that would be admitted may make its flow short or long.
        let of = |size: u64| {
            let limit = self.limit(&Given { size, ..*arrival }, queues);
            limit.saturating_sub(queues.bytes(arrival.queue))
        };
        let short_bytes = self.short_bytes().saturating_sub(self.bytes_before(arrival));
        of(1500).max(of(1).min(short_bytes.saturating_sub(1)))
    }

    fn leaves(&mut self, _now: u64, _queue: usize, _size: u64, _queues: &Queues) {}
}

impl Fab<'_> {
    fn short_bytes(&self) -> u64 {
        self.setup.keys.short_bytes.unwrap_or(21_000)
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let switch = Settings { sharing: ("fab", setup.keys.text()), ..setup.switch.clone() };
    let mut fab = Fab { setup, arrivals: Vec::new(), counts: Tally::default() };
    run(&switch, setup.bypass(), &mut fab, steps)?;
    Ok(fab.counts)
}

fn keys() -> impl Strategy<Value = Keys> {
    let alpha = || select(vec![(1u64, 16u64), (1, 8), (1, 4), (1, 2), (3, 4), (1, 1), (5, 2)]);
    let alpha_short = select(vec![(1u64, 4u64), (1, 2), (1, 1), (3, 1), (8, 1), (64, 1)]);
    let short_bytes = select(vec![0u64, 1, 100, 700, 1_500, 3_000, 5_001]);
    let idle_timeout = select(vec![0u64, 100, 300, 1_000, 2_500, 10_000]);
    (
        option::weighted(0.8, vec(alpha(), 1..4)),
        option::weighted(0.8, alpha_short),
        option::weighted(0.9, short_bytes),
        option::weighted(0.8, idle_timeout),
    )
        .prop_map(|(alpha, alpha_short, short_bytes, idle_timeout_ns)| Keys {
            alpha,
            alpha_short,
            short_bytes,
            idle_timeout_ns,
        })
}

fn setup() -> impl Strategy<Value = Setup> {
    let shapes = vec![(1, 1), (2, 1), (3, 1), (16, 1), (2, 2), (3, 3), (2, 8)];
    let scheduling = vec![("rr", ""), ("rr", ""), ("strict", ""), ("dwrr", "")];
    let capacity = prop_oneof![
        3 => 1_000u64..12_000,
        3 => (2u64..24).prop_map(|number| 500 * number),
    ];
    let queue_limit = prop_oneof![
        4 => Just(Amount::Unlimited),
        1 => (500u64..5_000).prop_map(Amount::Bytes),
    ];
    (keys(), switches(shapes, capacity, scheduling), queue_limit).prop_map(
        |(keys, switch, queue_limit)| Setup { keys, switch: Settings { queue_limit, ..switch } },
    )
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn fab_decides_like_its_rule(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_have_short_flows_long_ones_and_silence() {
    let mut total = Tally::default();
    look_at(600, setup(), |setup, steps| total.add(compare(&setup, &steps).unwrap()));
    assert_eq!(total.0.len(), 13);
    assert!(total.0.values().all(|&n| n > 20), "{total:?}");
}

/// Packets of 1000 bytes of a flow arrive for port 0, which has one queue. Returns those lost.
fn come(real: &mut Real, us: u64, flow: u32, numbers: std::ops::Range<usize>) -> Vec<usize> {
    for number in numbers {
        let packet = Packet { size: 1000, ..Packet::default() };
        let id = real.insert_of(flow, number, packet);
        real.switch.enqueue(Time::from_us(us), 0, id, &packet, &mut real.packets);
    }
    real.take_lost().into_iter().map(|(number, _)| number).collect()
}

#[test]
fn a_burst_of_new_flows_passes_a_long_one() {
    // B = 12,000. The first two packets of the long flow are short, with T = 1024 (B - Q). With Q
    // bytes waiting, the others need Q + 1,000 <= 0.5 (12,000 - Q), so Q <= 3,333: 4,000 bytes are
    // admitted.
    let mut real = Real::new(&Settings {
        capacity: 12_000,
        sharing: ("fab", "short_bytes = \"3000B\"\nidle_timeout = \"10us\"".into()),
        ..Settings::default()
    });
    assert_eq!(come(&mut real, 0, 1, 0..6), [4, 5]);
    // Three other flows have two short packets each; the third packet is long.
    assert_eq!(come(&mut real, 5, 2, 6..9), [8]);
    assert_eq!(come(&mut real, 5, 3, 9..12), [11]);
    assert_eq!(come(&mut real, 5, 4, 12..15), [14]);
    // 10,000 bytes wait. 10 us after its last packet the long flow is still long. 11 us after this
    // packet it is new, and may use the rest of the buffer.
    assert_eq!(come(&mut real, 10, 1, 15..16), [15]);
    assert_eq!(come(&mut real, 21, 1, 16..19), [18]);
    assert_eq!(real.switch.buffer().occupancy(), 12_000);
}
