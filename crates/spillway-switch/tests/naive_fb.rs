//! FB beside a second, naive implementation, packet by packet.
//!
//! The naive one stores every change of a queue, and goes through all of them from the beginning
//! for the queues that are congested. It is written from the rule, in fractions, and shares no code
//! with the switch. Both must agree on every limit, to the byte, and on which packets are admitted
//! or refused, and why.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, is_asked, run, steps};
use crate::common::drawing::{Tally, look_at, watched_switches};
use crate::common::{Ratio, Settings, cases, decimal};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_switch::{Decision, DropReason};

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    alpha: Option<Vec<Ratio>>,
    congested_at: Option<Ratio>,
}

impl Keys {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(alpha) = &self.alpha {
            let alpha: Vec<String> = alpha.iter().map(decimal).collect();
            lines.push(format!("alpha = [{}]", alpha.join(", ")));
        }
        lines.extend(self.congested_at.map(|at| format!("congested_at = {}", decimal(&at))));
        lines.join("\n")
    }

    fn alpha(&self, queue_class: usize) -> Ratio {
        match &self.alpha {
            None => (1, 2),
            Some(alpha) => *alpha.get(queue_class).or(alpha.last()).unwrap(),
        }
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

/// What a queue and the buffer held after a packet had joined the queue, left it or was lost there.
struct Change {
    queue: usize,
    packets: usize,
    bytes: u64,
    free: u64,
}

struct Fb<'a> {
    setup: &'a Setup,
    changes: Vec<Change>,
    counts: Tally,
}

impl Fb<'_> {
    /// The congested queues.
    fn congested(&self) -> Vec<usize> {
        let mut congested = Vec::new();
        for change in &self.changes {
            // q >= c alpha (B - Q) / n.
            let queue_class = change.queue % self.setup.switch.queues_per_port;
            let alpha = self.setup.keys.alpha(queue_class);
            let at = self.setup.keys.congested_at.unwrap_or((9, 10));
            let long = change.bytes * self.number(&congested, queue_class) * alpha.1 * at.1;
            let is_long = long >= at.0 * alpha.0 * change.free;
            congested.retain(|queue| *queue != change.queue);
            if is_long && change.packets > 0 {
                congested.push(change.queue);
            }
        }
        congested
    }

    /// n of a queue class.
    fn number(&self, congested: &[usize], queue_class: usize) -> u64 {
        let per_port = self.setup.switch.queues_per_port;
        congested.iter().filter(|queue| *queue % per_port == queue_class).count().max(1) as u64
    }

    /// T, rounded down.
    fn limit(&self, arrival: &Given, queues: &Queues) -> u64 {
        let (over, under) = self.setup.keys.alpha(arrival.queue_class);
        let number = self.number(&self.congested(), arrival.queue_class);
        (queues.capacity - queues.total()) * over / (under * number)
    }

    /// The queue holds `joins` bytes more than before the packet joined it.
    fn note(&mut self, queue: usize, joins: Option<u64>, queues: &Queues) {
        let joining = joins.unwrap_or(0);
        self.changes.push(Change {
            queue,
            packets: queues.packets(queue) + usize::from(joins.is_some()),
            bytes: queues.bytes(queue) + joining,
            free: queues.capacity - queues.total() - joining,
        });
    }
}

impl Naive for Fb<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        let limit = self.limit(arrival, queues);
        prop_assert_eq!(decision.threshold, Some(limit), "{:?}", arrival);
        let bytes = queues.bytes(arrival.queue) + arrival.size;
        let is_asked = is_asked(&self.setup.switch, arrival, queues);
        let fits = queues.total() + arrival.size <= queues.capacity;
        let expected = fate(is_asked, bytes <= limit, fits);
        prop_assert_eq!(decision.dropped, expected, "{:?}: {}", arrival, limit);

        let before = self.congested();
        let number = self.number(&before, arrival.queue_class);
        self.note(arrival.queue, expected.is_none().then_some(arrival.size), queues);
        let (was, is) = (&before, self.congested());
        let has = |of: &[usize]| of.contains(&arrival.queue);
        self.counts.count("not asked", !is_asked);
        self.counts.count("taken", expected.is_none());
        self.counts.count("over", expected == Some(DropReason::OverThreshold));
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        self.counts
            .count("over since shared", number > 1 && bytes > limit && bytes <= limit * number);
        self.counts.count("at the limit", bytes == limit);
        self.counts.count("a byte beyond", bytes == limit + 1);
        self.counts.count("three share", number > 2);
        self.counts.count("congested", !has(was) && has(&is) && expected.is_none());
        self.counts.count("congested though lost", !has(was) && has(&is) && expected.is_some());
        self.counts.count("no more, though taken", has(was) && !has(&is) && expected.is_none());
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        self.limit(arrival, queues).saturating_sub(queues.bytes(arrival.queue))
    }

    fn leaves(&mut self, _now: u64, queue: usize, size: u64, queues: &Queues) {
        let before = self.congested().contains(&queue);
        // Its bytes may be held until it has been sent.
        let freed = if self.setup.switch.release_at_end { 0 } else { size };
        let packets = queues.packets(queue) - 1;
        let (bytes, free) = (queues.bytes(queue) - freed, queues.capacity - queues.total() + freed);
        self.changes.push(Change { queue, packets, bytes, free });
        self.counts.count("no more", before && !self.congested().contains(&queue));
        self.counts.count("none waits, but held", packets == 0 && bytes > 0 && before);
    }

    fn is_cut(&mut self, _now: u64, port: usize, _bytes: &[u64], queues: &Queues) {
        queues.of_port(port).for_each(|queue| self.note(queue, None, queues));
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let switch = Settings { sharing: ("fb", setup.keys.text()), ..setup.switch.clone() };
    let mut fb = Fb { setup, changes: Vec::new(), counts: Tally::default() };
    run(&switch, false, &mut fb, steps)?;
    Ok(fb.counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    let alpha = select(vec![(1u64, 16u64), (1, 4), (1, 2), (3, 4), (1, 1), (5, 2), (8, 1)]);
    let alpha = option::weighted(0.8, vec(alpha, 1..4));
    // These fractions are exact as floats. So is every product that is compared.
    let congested_at = select(vec![(0u64, 1u64), (1, 8), (1, 2), (3, 4), (15, 16), (1, 1)]);
    let congested_at = option::weighted(0.7, congested_at);
    (alpha, congested_at, watched_switches()).prop_map(|(alpha, congested_at, switch)| Setup {
        keys: Keys { alpha, congested_at },
        switch,
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn fb_decides_like_its_rule(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_share_thresholds_among_congested_queues() {
    let mut total = Tally::default();
    look_at(600, setup(), |setup, steps| total.add(compare(&setup, &steps).unwrap()));
    assert_eq!(total.0.len(), 13);
    assert!(total.0.values().all(|&n| n > 20), "{total:?}");
}
