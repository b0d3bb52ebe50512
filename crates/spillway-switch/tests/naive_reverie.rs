//! Reverie beside second, naive implementations, packet by packet: the sharing policy, and the
//! accounts of lossless packets.
//!
//! The naive ones store every departure, and filter all of them from the beginning, in fractions of
//! 2^64. They are written from the formulas, and share no code with the switch, which uses floats.
//! Where a filtered length lies within a millionth of a whole number of bytes, floats may round it
//! either way. What depends on it is then not compared; there are few such cases.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, is_asked, run, steps};
use crate::common::drawing::{Tally, look_at, watched_switches};
use crate::common::{Ratio, Settings, cases, decimal};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_switch::pfc::{Accounts, Crossing, LosslessParts, LowPassParams, PauseThreshold};
use spillway_switch::{Decision, DropReason};

/// A filtered length, in fractions of 2^64 of a byte.
#[derive(Clone, Copy, Default)]
struct Length {
    parts: u128,
    /// Whether it was cut to what was left, and so is a whole number in floats too.
    is_cut: bool,
    /// Whether floats represent gamma.
    is_binary: bool,
}

const BYTE: u128 = 1 << 64;

impl Length {
    /// What is filtered out of the bytes that were left at each departure. `gamma` is a fraction.
    fn of(left: impl Iterator<Item = u64>, gamma: Ratio) -> Length {
        let is_binary = gamma.1.is_power_of_two();
        let mut length = Length { parts: 0, is_cut: true, is_binary };
        for left in left {
            let left = u128::from(left) * BYTE;
            let (past, all) = (u128::from(gamma.0), u128::from(gamma.1));
            let mean = (past * length.parts + (all - past) * left) / all;
            length = Length { parts: mean.min(left), is_cut: mean >= left, is_binary };
        }
        length
    }

    fn rounded_up(self) -> u64 {
        self.parts.div_ceil(BYTE) as u64
    }

    /// Whether floats may have another number of whole bytes.
    fn may_differ(self) -> bool {
        let over = self.parts % BYTE;
        let is_exact = self.is_cut || (self.is_binary && over == 0);
        !is_exact && over.min(BYTE - over) < BYTE >> 20
    }
}

/// alpha free / n, rounded down, with these lengths of a class.
fn threshold(alpha: Ratio, free: u64, lengths: &[Length], saturation: u64) -> u64 {
    let counted = |length: &Length| ((length.parts / BYTE) as u64).min(saturation);
    let sum: u64 = lengths.iter().map(counted).sum();
    alpha.0 * free * saturation / (alpha.1 * sum.max(saturation))
}

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    alpha: Option<Vec<Ratio>>,
    alpha_first_rtt: Option<Ratio>,
    gamma: Option<Ratio>,
    saturation: Option<u64>,
}

impl Keys {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(alpha) = &self.alpha {
            let alpha: Vec<String> = alpha.iter().map(decimal).collect();
            lines.push(format!("alpha = [{}]", alpha.join(", ")));
        }
        lines.extend(self.alpha_first_rtt.map(|a| format!("alpha_first_rtt = {}", decimal(&a))));
        lines.extend(self.gamma.map(|gamma| format!("gamma = {}", decimal(&gamma))));
        lines.extend(self.saturation.map(|bytes| format!("saturation = \"{bytes}B\"")));
        lines.join("\n")
    }

    fn alpha(&self, arrival: &Given) -> Ratio {
        match (self.alpha_first_rtt, &self.alpha) {
            (Some(alpha), _) if arrival.first_rtt => alpha,
            (_, None) => (1, 1),
            (_, Some(alpha)) => *alpha.get(arrival.queue_class).or(alpha.last()).unwrap(),
        }
    }

    fn gamma(&self) -> Ratio {
        self.gamma.unwrap_or((999, 1000))
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

struct Reverie<'a> {
    setup: &'a Setup,
    /// Every queue that a packet has left, and the bytes that waited there then.
    departures: Vec<(usize, u64)>,
    counts: Tally,
}

impl Reverie<'_> {
    fn length(&self, queue: usize) -> Length {
        let left = self.departures.iter().filter(|(of, _)| *of == queue).map(|(_, left)| *left);
        Length::of(left, self.setup.keys.gamma())
    }

    /// The lengths of an arrival's queue class.
    fn lengths(&self, arrival: &Given, queues: &Queues) -> Vec<Length> {
        let of_class = queues.all().filter(|queue| queue % queues.per_port == arrival.queue_class);
        of_class.map(|queue| self.length(queue)).collect()
    }

    fn limit(&self, arrival: &Given, queues: &Queues) -> u64 {
        let saturation = self.setup.keys.saturation.unwrap_or(20_480);
        let free = queues.capacity - queues.total();
        let lengths = self.lengths(arrival, queues);
        threshold(self.setup.keys.alpha(arrival), free, &lengths, saturation)
    }
}

impl Naive for Reverie<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        let limit = self.limit(arrival, queues);
        let length = self.length(arrival.queue);
        let lengths = self.lengths(arrival, queues);
        let is_open = lengths.iter().any(|length| length.may_differ());
        self.counts.count("not compared", is_open);
        if is_open {
            return Ok(());
        }
        prop_assert_eq!(decision.threshold, Some(limit), "{:?}", arrival);
        let bytes = length.rounded_up() + arrival.size;
        let is_asked = is_asked(&self.setup.switch, arrival, queues);
        let fits = queues.total() + arrival.size <= queues.capacity;
        let expected = fate(is_asked, bytes <= limit, fits);
        prop_assert_eq!(decision.dropped, expected, "{:?}: {}", arrival, limit);

        let instant = queues.bytes(arrival.queue) + arrival.size;
        let alone =
            threshold(self.setup.keys.alpha(arrival), queues.capacity - queues.total(), &[], 1);
        self.counts.count("not asked", !is_asked);
        self.counts.count("taken", expected.is_none());
        self.counts.count("over", expected == Some(DropReason::OverThreshold));
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        self.counts.count("taken though long", expected.is_none() && instant > limit);
        self.counts.count("over since shared", bytes > limit && bytes <= alone);
        self.counts.count("at the limit", bytes == limit);
        self.counts.count("a byte beyond", bytes == limit + 1);
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        self.limit(arrival, queues).saturating_sub(self.length(arrival.queue).rounded_up())
    }

    fn leaves(&mut self, _now: u64, queue: usize, size: u64, queues: &Queues) {
        let before = self.length(queue).parts;
        self.departures.push((queue, queues.bytes(queue) - size));
        let after = self.length(queue);
        self.counts.count("grows", after.parts > before);
        self.counts.count("is cut", after.is_cut && after.parts > 0);
    }

    fn is_cut(&mut self, _now: u64, port: usize, _bytes: &[u64], queues: &Queues) {
        self.departures.extend(queues.of_port(port).map(|queue| (queue, 0)));
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let switch = Settings { sharing: ("reverie", setup.keys.text()), ..setup.switch.clone() };
    let mut reverie = Reverie { setup, departures: Vec::new(), counts: Tally::default() };
    run(&switch, false, &mut reverie, steps)?;
    Ok(reverie.counts)
}

/// Fractions that floats represent, so that thresholds are rounded as these are.
fn alphas() -> impl Strategy<Value = Ratio> {
    select(vec![(1u64, 16u64), (1, 4), (1, 2), (3, 4), (1, 1), (5, 2), (8, 1)])
}

fn gammas() -> impl Strategy<Value = Ratio> {
    select(vec![(0u64, 1u64), (1, 2), (7, 8), (15, 16), (99, 100), (1, 1)])
}

fn setup() -> impl Strategy<Value = Setup> {
    let alpha = option::weighted(0.8, vec(alphas(), 1..4));
    let first = option::weighted(0.3, alphas());
    let saturation = option::weighted(0.9, 100u64..4_000);
    let gamma = option::weighted(0.9, gammas());
    (alpha, first, gamma, saturation, watched_switches()).prop_map(
        |(alpha, alpha_first_rtt, gamma, saturation, switch)| Setup {
            keys: Keys { alpha, alpha_first_rtt, gamma, saturation },
            switch,
        },
    )
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn reverie_decides_like_its_rule(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_pass_bursts_and_share_thresholds() {
    let mut total = Tally::default();
    look_at(600, setup(), |setup, steps| total.add(compare(&setup, &steps).unwrap()));
    assert_eq!(total.0.len(), 11);
    assert!(total.0.iter().all(|(&what, &n)| n > 20 || what == "not compared"), "{total:?}");
    assert!(total.of("not compared") * 20 < total.of("taken"), "{total:?}");
}

/// Accounts with the same settings, and what happens to them.
#[derive(Clone, Debug)]
struct Lossless {
    ports: usize,
    classes: usize,
    shared: u64,
    alpha: Ratio,
    gamma: Ratio,
    saturation: u64,
    reserve: u64,
    resume_offset: u64,
    headroom: u64,
    crosses_into_headroom: bool,
    /// The account, and the packet that comes; 0 if its oldest leaves.
    steps: Vec<(usize, u64)>,
}

/// An account: the packets that it holds, and of each how much lies in headroom.
#[derive(Clone, Default)]
struct Account {
    packets: Vec<u64>,
    own: u64,
    headroom: u64,
    is_paused: bool,
    /// The bytes beyond the reserve that were left at each departure.
    departures: Vec<u64>,
}

impl Account {
    fn shared(&self, lossless: &Lossless) -> u64 {
        self.own.saturating_sub(lossless.reserve)
    }
}

/// The free bytes, T of an account, and its filtered bytes; `None` where these may differ.
fn look(lossless: &Lossless, accounts: &[Account], at: usize) -> Option<(u64, u64, u64)> {
    let length = |account: &Account| Length::of(account.departures.iter().copied(), lossless.gamma);
    let of_class = accounts.iter().skip(at % lossless.classes).step_by(lossless.classes);
    let lengths: Vec<Length> = of_class.map(length).collect();
    let used: u64 = accounts.iter().map(|account| account.shared(lossless)).sum();
    let free = lossless.shared - used;
    let threshold = threshold(lossless.alpha, free, &lengths, lossless.saturation);
    let may_differ = lengths.iter().any(|length| length.may_differ());
    (!may_differ).then_some((free, threshold, length(&accounts[at]).rounded_up()))
}

/// Runs the accounts and naive ones side by side. Stops where the two may differ.
fn compare_accounts(lossless: &Lossless) -> Result<Tally, TestCaseError> {
    let &Lossless { ports, classes, reserve, resume_offset, headroom, .. } = lossless;
    let float = |ratio: Ratio| ratio.0 as f64 / ratio.1 as f64;
    let low_pass = LowPassParams { gamma: float(lossless.gamma), saturation: lossless.saturation };
    let crosses = lossless.crosses_into_headroom;
    let mut real = Accounts::new(LosslessParts {
        queue_classes: (0..classes as u8).collect(),
        thresholds: vec![PauseThreshold::Filtered(float(lossless.alpha), low_pass); ports].into(),
        resume_offset,
        reserve,
        headroom: vec![headroom; ports].into(),
        crossing: if crosses { Crossing::Headroom } else { Crossing::Shared },
        sees_all: false,
    });
    let mut naive = vec![Account::default(); ports * classes];
    let mut counts = Tally::default();
    for &(step, size) in &lossless.steps {
        let at = step % naive.len();
        let account = at as u32;
        let free = lossless.shared - real.shared();
        let was = naive[at].is_paused;
        if size > 0 {
            // What goes where is decided with the packet in the shared part.
            let mut with = naive.clone();
            with[at].own += size;
            let fits = with.iter().map(|of| of.shared(lossless)).sum::<u64>() <= lossless.shared;
            let is_small = with[at].own <= reserve;
            let is_over = if fits {
                let Some((_, threshold, length)) = look(lossless, &with, at) else { break };
                length > threshold
            } else {
                true
            };
            let to_shared =
                fits && (is_small || (!crosses && !was) || (!is_over && naive[at].headroom == 0));
            let is_lost = !to_shared && naive[at].headroom + size > headroom;
            prop_assert_eq!(real.admit(account, size as u32, free), !is_lost);
            counts.count("lost", is_lost);
            if is_lost {
                continue;
            }
            if to_shared {
                naive = with;
            } else {
                naive[at].headroom += size;
            }
            naive[at].packets.push(size);
            let Some((_, threshold, length)) = look(lossless, &naive, at) else { break };
            naive[at].is_paused |= naive[at].headroom > 0 || length > threshold;
            counts.count("over, and shared", to_shared && is_over && !is_small);
            counts.count("over, in headroom", !to_shared && is_over && fits);
            counts.count("full, in headroom", !fits);
            counts.count("pauses", !was && naive[at].is_paused);
        } else {
            if naive[at].packets.is_empty() {
                continue;
            }
            let size = naive[at].packets.remove(0);
            let of = &mut naive[at];
            let from_headroom = size.min(of.headroom);
            of.headroom -= from_headroom;
            of.own -= size - from_headroom;
            let left = of.shared(lossless) + of.headroom;
            of.departures.push(left);
            real.release(account, size as u32, free);
            let Some((_, threshold, length)) = look(lossless, &naive, at) else { break };
            let of = &mut naive[at];
            let goes_on = of.shared(lossless) == 0 || length + resume_offset <= threshold;
            of.is_paused &= !(of.headroom == 0 && goes_on);
            counts.count("goes on", was && !of.is_paused && left > 0);
            counts.count("goes on, empty", was && !of.is_paused && left == 0);
            counts.count("stays paused", of.is_paused && of.headroom == 0);
        }
        let held: Vec<u64> = naive.iter().map(|of| of.packets.iter().sum()).collect();
        prop_assert!(real.agrees(&held));
        let shared: u64 = naive.iter().map(|of| of.shared(lossless)).sum();
        prop_assert_eq!(real.shared(), shared);
        for (account, of) in (0..).zip(&naive) {
            prop_assert_eq!(real.is_paused(account), of.is_paused, "{}", account);
        }
    }
    Ok(counts)
}

fn lossless() -> impl Strategy<Value = Lossless> {
    let sizes = select(vec![100u64, 500, 1_000, 1_500]);
    let step = (0usize..8, prop_oneof![3 => sizes, 2 => Just(0u64)]);
    let shape = (1usize..4, 1usize..3, 3_000u64..30_000, any::<bool>());
    let filter = (alphas(), gammas(), 100u64..6_000);
    let parts = (select(vec![0u64, 0, 700]), select(vec![0u64, 600]), 2_000u64..20_000);
    (shape, filter, parts, vec(step, 1..300)).prop_map(|(shape, filter, parts, steps)| {
        let (ports, classes, shared, crosses_into_headroom) = shape;
        let (alpha, gamma, saturation) = filter;
        let (reserve, resume_offset, headroom) = parts;
        Lossless {
            ports,
            classes,
            shared,
            alpha,
            gamma,
            saturation,
            reserve,
            resume_offset,
            headroom,
            crosses_into_headroom,
            steps,
        }
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn accounts_pause_like_reverie(lossless in lossless()) {
        compare_accounts(&lossless)?;
    }
}

#[test]
fn the_cases_pause_and_go_on() {
    let mut total = Tally::default();
    look_at(600, lossless(), |lossless, _| total.add(compare_accounts(&lossless).unwrap()));
    assert_eq!(total.0.len(), 8);
    assert!(total.0.values().all(|&n| n > 20), "{total:?}");
}
