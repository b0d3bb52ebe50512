//! Active Buffer Management beside a second, naive implementation, packet by packet.
//!
//! The naive one stores every departure with its time and the queues in which packets waited then,
//! and adds them all up at the end of every interval. It is written from the formulas, in fractions
//! of integers, and shares no code with the switch, which uses floats. Both must agree on every
//! limit, to the byte, and on which packets are admitted or refused, and why.
//!
//! Floats are exact as long as all fractions are halves, quarters and so on. With other fractions,
//! a limit within a millionth of a whole number of bytes may be rounded either way. Such cases are
//! counted as undecided; there are hardly any.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, run, steps};
use crate::common::drawing::{Tally, look_at, switches};
use crate::common::{Settings, cases};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_switch::{Decision, DropReason};
use std::collections::BTreeMap;

/// A fraction of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio {
    over: u128,
    under: u128,
}

impl Ratio {
    const ONE: Ratio = Ratio { over: 1, under: 1 };

    /// In lowest terms.
    fn new(over: u128, under: u128) -> Ratio {
        let (mut divisor, mut rest) = (over, under);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Ratio { over: over / divisor, under: under / divisor }
    }

    fn whole(number: u64) -> Ratio {
        Ratio::new(number.into(), 1)
    }

    fn plus(self, other: Ratio) -> Ratio {
        Ratio::new(self.over * other.under + other.over * self.under, self.under * other.under)
    }

    fn times(self, other: Ratio) -> Ratio {
        Ratio::new(self.over * other.over, self.under * other.under)
    }

    fn divided_by(self, other: Ratio) -> Ratio {
        Ratio::new(self.over * other.under, self.under * other.over)
    }

    fn is_below(self, other: Ratio) -> bool {
        self.over * other.under < other.over * self.under
    }

    fn floor(self) -> u64 {
        (self.over / self.under) as u64
    }

    /// Whether a float represents it exactly.
    fn is_binary(self) -> bool {
        self.under.is_power_of_two()
    }

    /// Whether it is within a millionth of `number`.
    fn is_at(self, number: u64) -> bool {
        let number = u128::from(number) * self.under;
        self.over.abs_diff(number) * 1_000_000 < self.under
    }

    /// The number as a scenario would give it.
    fn text(self) -> String {
        format!("{:?}", self.over as f64 / self.under as f64)
    }
}

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    alpha: Option<Vec<Ratio>>,
    alpha_first_rtt: Option<Ratio>,
    /// Whether first packets are scaled.
    first_rtt: Option<bool>,
    congestion: Congestion,
    drain_of_interval: bool,
    update_interval_us: Option<u64>,
}

#[derive(Clone, Debug)]
enum Congestion {
    Binary { congested_at: Option<Ratio> },
    Fractional { saturation: Option<u64> },
}

impl Keys {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(alpha) = &self.alpha {
            let alpha: Vec<String> = alpha.iter().map(|alpha| alpha.text()).collect();
            lines.push(format!("alpha = [{}]", alpha.join(", ")));
        }
        lines.extend(self.alpha_first_rtt.map(|a| format!("alpha_first_rtt = {}", a.text())));
        lines.extend(self.first_rtt.map(|is_scaled| {
            format!("first_rtt = \"{}\"", if is_scaled { "scaled" } else { "unscaled" })
        }));
        match self.congestion {
            Congestion::Binary { congested_at } => {
                lines.extend(congested_at.map(|at| format!("congested_at = {}", at.text())));
            }
            Congestion::Fractional { saturation } => {
                lines.push("congestion = \"fractional\"".into());
                lines.extend(saturation.map(|bytes| format!("saturation = \"{bytes}B\"")));
            }
        }
        if self.drain_of_interval {
            lines.push("drain = \"interval\"".into());
        }
        lines.extend(self.update_interval_us.map(|us| format!("update_interval = \"{us}us\"")));
        lines.join("\n")
    }

    fn alpha(&self, queue_class: usize) -> Ratio {
        match &self.alpha {
            None => Ratio::new(1, 2),
            Some(alpha) => *alpha.get(queue_class).or(alpha.last()).unwrap(),
        }
    }

    /// The base RTT of the test switch is 25 us.
    fn interval_ps(&self) -> u64 {
        self.update_interval_us.unwrap_or(25) * 1_000_000
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

impl Setup {
    /// Whether a packet that finds its port idle passes the queue: only if neither the scheduler
    /// nor the accounting of transmissions nor the drain rate over the whole interval must see it.
    fn bypass(&self) -> bool {
        let is_seen = self.switch.scheduling.0 == "dwrr" || self.switch.release_at_end;
        !is_seen && !self.keys.drain_of_interval
    }
}

/// A packet that has been sent from a queue.
struct Departure {
    time: u64,
    queue: usize,
    size: u64,
    /// The queues in which packets waited until then, including its own unless that was empty until
    /// this moment.
    waiting: Vec<usize>,
}

/// n_p, and whether floats compute it exactly.
#[derive(Clone, Copy)]
struct Congested {
    queues: Ratio,
    is_exact: bool,
}

/// The bytes of a full packet in these tests.
const FULL_PACKET: u64 = 1500;

struct Abm<'a> {
    setup: &'a Setup,
    history: Vec<Departure>,
    /// The queue length that the last arrival for every queue found.
    found: Vec<u64>,
    /// When the last packet came that found a queue empty, by queue.
    since: Vec<u64>,
    /// When the interval began.
    began: u64,
    /// n_p of every queue class.
    congested: Vec<Congested>,
    /// mu / b of every queue.
    drain: Vec<Ratio>,
    counts: Tally,
}

impl<'a> Abm<'a> {
    fn new(setup: &'a Setup) -> Abm<'a> {
        let per_port = setup.switch.queues_per_port;
        let queues = setup.switch.ports * per_port;
        Abm {
            setup,
            history: Vec::new(),
            found: vec![0; queues],
            since: vec![0; queues],
            began: 0,
            congested: vec![Congested { queues: Ratio::ONE, is_exact: true }; per_port],
            drain: vec![Ratio::ONE; queues],
            counts: Tally::default(),
        }
    }

    /// (1 / n_p) (mu / b), and whether a float represents it exactly.
    fn share(&self, queue: usize) -> (Ratio, bool) {
        let drain = self.drain[queue];
        let congested = self.congested[queue % self.setup.switch.queues_per_port];
        let share = drain.divided_by(congested.queues);
        (share, congested.is_exact && drain.is_binary() && share.is_binary())
    }

    /// T = alpha (B - Q) (1 / n_p) (mu / b), and whether floats compute it exactly.
    fn limit(&self, arrival: &Given, queues: &Queues) -> (Ratio, bool) {
        let keys = &self.setup.keys;
        let alpha = if arrival.first_rtt {
            keys.alpha_first_rtt.unwrap_or(Ratio::whole(64))
        } else {
            keys.alpha(arrival.queue_class)
        };
        let free = Ratio::whole(queues.capacity - queues.total());
        let is_scaled = !arrival.first_rtt || keys.first_rtt == Some(true);
        let (share, is_exact) =
            if is_scaled { self.share(arrival.queue) } else { (Ratio::ONE, true) };
        (alpha.times(free).times(share), is_exact)
    }

    /// Whether a queue has reached `congested_at` of its threshold; `None` if rounding may decide.
    fn is_congested(&self, queue: usize, congested_at: Ratio, queues: &Queues) -> Option<bool> {
        let arrival = Given {
            now: 0,
            flow: 0,
            queue,
            queue_class: queue % self.setup.switch.queues_per_port,
            size: 0,
            first_rtt: false,
        };
        let (threshold, is_exact) = self.limit(&arrival, queues);
        let least = threshold.times(congested_at);
        let is_exact = is_exact && congested_at.is_binary();
        let bytes = queues.bytes(queue);
        if bytes == 0 {
            return Some(false);
        }
        (is_exact || !least.is_at(bytes)).then_some(!Ratio::whole(bytes).is_below(least))
    }

    /// n_p; `None` if rounding may decide.
    fn congestion(&self, queue_class: usize, queues: &Queues) -> Option<Congested> {
        let of_queue_class = queues.all().filter(|queue| queue % queues.per_port == queue_class);
        let (mut sum, mut is_exact) = (Ratio::whole(0), true);
        for queue in of_queue_class {
            let counted = match self.setup.keys.congestion {
                Congestion::Binary { congested_at } => {
                    let congested_at = congested_at.unwrap_or(Ratio::new(9, 10));
                    Ratio::whole(self.is_congested(queue, congested_at, queues)?.into())
                }
                Congestion::Fractional { saturation } => {
                    let saturation = saturation.unwrap_or(28_000);
                    Ratio::new(self.found[queue].min(saturation).into(), saturation.into())
                }
            };
            (sum, is_exact) = (sum.plus(counted), is_exact && counted.is_binary());
        }
        Some(if sum.is_below(Ratio::ONE) {
            Congested { queues: Ratio::ONE, is_exact: true }
        } else {
            Congested { queues: sum, is_exact }
        })
    }

    /// mu / b over the interval that ends now.
    fn drains(&self, queue: usize, now: u64, queues: &Queues) -> Ratio {
        let interval = self.history.iter().filter(|left| (self.began..now).contains(&left.time));
        let own = interval.clone().filter(|left| left.queue == queue);
        let counts =
            |left: &&Departure| self.setup.keys.drain_of_interval || left.waiting.contains(&queue);
        let own: u64 = own.filter(counts).map(|left| left.size).sum();
        if self.setup.keys.drain_of_interval {
            // The bytes that the port could have sent; a byte takes `byte_ps` picoseconds.
            let rates = &self.setup.switch.rates;
            let byte_ps = 8_000 / rates[queue / queues.per_port % rates.len()];
            let share = Ratio::new((own * byte_ps).into(), (now - self.began).into());
            let is_below = share.is_below(Ratio::new(1, queues.per_port as u128));
            return if is_below || Ratio::ONE.is_below(share) { Ratio::ONE } else { share };
        }
        // The other queues in which packets wait are of the same port.
        let with_it = interval.filter(|left| left.waiting.contains(&queue));
        let ports: u64 = with_it.map(|left| left.size).sum();
        Ratio::new((own + FULL_PACKET).into(), (ports + FULL_PACKET).into())
    }
}

impl Naive for Abm<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        self.found[arrival.queue] = queues.bytes(arrival.queue);
        if queues.packets(arrival.queue) == 0 {
            self.since[arrival.queue] = arrival.now;
        }
        let (limit, is_exact) = self.limit(arrival, queues);
        let told = decision.threshold.unwrap();
        let is_sure = |bytes: u64| is_exact || !limit.is_at(bytes);
        let nearest = limit.plus(Ratio::new(1, 2)).floor();
        if is_sure(nearest) {
            prop_assert_eq!(told, limit.floor(), "{:?}: {:?}", arrival, limit);
        } else {
            prop_assert!(told == nearest || told + 1 == nearest, "{:?}: {:?}", arrival, limit);
        }
        let bytes = queues.bytes(arrival.queue) + arrival.size;
        let is_over =
            if is_sure(bytes) { limit.is_below(Ratio::whole(bytes)) } else { bytes > told };
        let fits = queues.total() + arrival.size <= queues.capacity;
        let expected = fate(true, !is_over, fits);
        prop_assert_eq!(decision.dropped, expected, "{:?}: {:?}", arrival, limit);
        let (drain, congested) = (self.drain[arrival.queue], self.congested[arrival.queue_class]);
        self.counts.count("decided", is_sure(bytes));
        self.counts.count("undecided", !is_sure(bytes));
        self.counts.count("taken", expected.is_none());
        self.counts.count("over", is_over);
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        self.counts.count("at the limit", Ratio::whole(bytes) == limit);
        self.counts.count("a byte beyond", bytes == limit.floor() + 1);
        self.counts.count("first", arrival.first_rtt);
        let is_scaled = !arrival.first_rtt || self.setup.keys.first_rtt == Some(true);
        self.counts.count("congested", is_scaled && Ratio::ONE.is_below(congested.queues));
        self.counts.count("slow", is_scaled && drain.is_below(Ratio::ONE));
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        let (limit, _) = self.limit(arrival, queues);
        limit.floor().saturating_sub(queues.bytes(arrival.queue))
    }

    fn leaves(&mut self, now: u64, queue: usize, size: u64, queues: &Queues) {
        let of_port = queues.of_port(queue / queues.per_port);
        let has_waited = |&other: &usize| {
            queues.packets(other) > 0 && (other != queue || self.since[queue] < now)
        };
        let waiting = of_port.filter(has_waited).collect();
        self.history.push(Departure { time: now, queue, size, waiting });
    }

    /// Congestion is measured with the thresholds that result from the previous interval.
    fn interval_ends(&mut self, now: u64, queues: &Queues) -> bool {
        assert_eq!(now - self.began, self.setup.keys.interval_ps());
        let congested: Option<Vec<Congested>> =
            (0..queues.per_port).map(|queue_class| self.congestion(queue_class, queues)).collect();
        self.counts.count("intervals", true);
        let Some(congested) = congested else {
            self.counts.count("undecided intervals", true);
            return false;
        };
        self.drain = queues.all().map(|queue| self.drains(queue, now, queues)).collect();
        (self.congested, self.began) = (congested, now);
        true
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let switch = Settings { sharing: ("abm", setup.keys.text()), ..setup.switch.clone() };
    let mut abm = Abm::new(setup);
    run(&switch, setup.bypass(), &mut abm, steps)?;
    Ok(abm.counts)
}

/// Halves, quarters and so on, which are exact as floats.
fn fraction() -> impl Strategy<Value = Ratio> {
    let fractions =
        [(1, 16), (1, 8), (1, 4), (1, 2), (3, 4), (1, 1), (2, 1), (5, 2), (8, 1), (64, 1)];
    select(fractions.map(|(over, under)| Ratio::new(over, under)).to_vec())
}

fn keys() -> impl Strategy<Value = Keys> {
    let share = select([(0, 1), (1, 4), (1, 2), (3, 4), (7, 8), (1, 1)].to_vec());
    let share = share.prop_map(|(over, under)| Ratio::new(over, under));
    let saturation = select(vec![100u64, 700, 1024, 1500, 4096, 10_000]);
    let congestion = prop_oneof![
        option::weighted(0.8, share).prop_map(|congested_at| Congestion::Binary { congested_at }),
        option::weighted(0.8, saturation)
            .prop_map(|saturation| Congestion::Fractional { saturation }),
    ];
    let interval = option::weighted(0.8, select(vec![4u64, 7, 10, 16]));
    let alpha = option::weighted(0.8, vec(fraction(), 1..4));
    let first = (option::weighted(0.7, fraction()), option::of(any::<bool>()));
    (alpha, first, congestion, any::<bool>(), interval).prop_map(
        |(alpha, (alpha_first_rtt, first_rtt), congestion, drain_of_interval, interval)| Keys {
            alpha,
            alpha_first_rtt,
            first_rtt,
            congestion,
            drain_of_interval,
            update_interval_us: interval,
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    let shapes =
        vec![(2, 1), (3, 1), (16, 1), (1, 2), (2, 2), (6, 2), (3, 3), (1, 4), (4, 4), (2, 8)];
    let rates = select(vec![vec![10], vec![1], vec![4, 2], vec![1, 10, 2], vec![40, 1]]);
    let dwrr = ("dwrr", "weights = [1.0, 3.0]");
    let scheduling = vec![("rr", ""), ("rr", ""), ("strict", ""), ("fifo", ""), dwrr];
    let capacity = prop_oneof![
        3 => 1_000u64..12_000,
        3 => (2u64..24).prop_map(|number| 500 * number),
        1 => 20_000u64..60_000,
    ];
    (keys(), switches(shapes, capacity, scheduling), rates)
        .prop_map(|(keys, switch, rates)| Setup { keys, switch: Settings { rates, ..switch } })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn abm_decides_like_its_formula(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur and few are undecided.
#[test]
fn the_cases_congest_and_slow_queues() {
    let mut totals: BTreeMap<_, Tally> = BTreeMap::new();
    look_at(600, setup(), |setup, steps| {
        let is_fractional = matches!(setup.keys.congestion, Congestion::Fractional { .. });
        let way = (is_fractional, setup.keys.drain_of_interval);
        totals.entry(way).or_default().add(compare(&setup, &steps).unwrap());
    });
    assert_eq!(totals.len(), 4);
    for (way, total) in totals {
        let least = |what| if ["at the limit", "a byte beyond"].contains(&what) { 20 } else { 200 };
        for what in
            ["taken", "over", "full", "first", "congested", "slow", "at the limit", "a byte beyond"]
        {
            assert!(total.of(what) > least(what), "{way:?}: {what} {total:?}");
        }
        let undecided = total.of("undecided") + total.of("undecided intervals");
        assert!(undecided * 100 < total.of("decided"), "{way:?}: {total:?}");
    }
}
