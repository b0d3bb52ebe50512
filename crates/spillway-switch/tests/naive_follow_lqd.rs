//! FollowLQD and Credence beside a second, naive implementation, packet by packet.
//!
//! The naive one simulates Longest Queue Drop as one list of all waiting packets, in the order of
//! their arrival, and for every port a line that is busy until some time. Before every arrival, all
//! lines are brought up to date, and every length is summed up. It is written from Algorithms 1 and
//! 2 of the paper and from what the pages say about sizes, ties, acks and service, and shares no
//! code with the switch. Both must agree on every threshold, to the byte, on which packets are
//! admitted or refused, and why, on how often each test decided, and on how often an oracle was
//! right.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, is_asked, run, steps};
use crate::common::drawing::{Section, Tally, look_at, switches};
use crate::common::{Settings, cases};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::{Decision, DropReason};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    count_arrival: Option<bool>,
    is_lowest_index: Option<bool>,
    exempt_acks: Option<bool>,
    /// Credence's keys.
    oracle: Option<Oracle>,
}

#[derive(Clone, Debug)]
struct Oracle {
    safeguard: Option<bool>,
    /// Whether all answers are flipped.
    flips: Option<bool>,
    push_out: Option<bool>,
    trust: Option<Trust>,
    /// Predictions for arrivals, repeated: whether each will be dropped.
    says: Vec<bool>,
}

/// The keys of `trust = "regret"`.
#[derive(Clone, Debug)]
struct Trust {
    window: usize,
    regret: Option<f64>,
    is_by_dt: bool,
}

impl Keys {
    fn id(&self) -> &'static str {
        if self.oracle.is_some() { "credence" } else { "followlqd" }
    }

    fn text(&self) -> String {
        let tie = |is_lowest| if is_lowest { "lowest-index" } else { "arriving-queue" };
        let mut lines = Vec::new();
        lines.extend(self.count_arrival.map(|counts| format!("count_arrival = {counts}")));
        lines.extend(self.is_lowest_index.map(|is| format!("tie = \"{}\"", tie(is))));
        lines.extend(self.exempt_acks.map(|are| format!("exempt_acks = {are}")));
        if let Some(oracle) = &self.oracle {
            lines.extend(oracle.safeguard.map(|has| format!("safeguard = {has}")));
            let flips = oracle.flips.map(u8::from);
            lines.extend(flips.map(|all| format!("flip_probability = {all}.0")));
            if let Some(Trust { window, regret, is_by_dt }) = oracle.trust {
                lines.push(format!("trust = \"regret\"\ntrust_window = {window}"));
                lines.extend(regret.map(|most| format!("trust_regret = {most:?}")));
                lines.extend((!is_by_dt).then(|| "fallback = \"harmonic\"".into()));
            }
            lines.extend(oracle.push_out.map(|does| format!("push_out = {does}")));
        }
        lines.join("\n")
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

impl Setup {
    fn queues(&self) -> usize {
        self.switch.ports * self.switch.queues_per_port
    }

    /// Whether a queue is for acks alone, and is exempt.
    fn is_exempt(&self, queue: usize) -> bool {
        let (ack, data) = self.switch.queue_classes;
        self.keys.exempt_acks != Some(false)
            && ack != data
            && queue % self.switch.queues_per_port == ack
    }

    /// The longest queues when a packet arrives, given the bytes of each; the one that LQD chooses
    /// comes first.
    fn longest(&self, arriving: (usize, u64), bytes: impl Fn(usize) -> u64) -> Vec<usize> {
        let (own, size) = arriving;
        let counted = if self.counts_arrival() { size } else { 0 };
        let length = |queue: usize| bytes(queue) + if queue == own { counted } else { 0 };
        let mut tested: Vec<usize> =
            (0..self.queues()).filter(|&queue| !self.is_exempt(queue)).collect();
        let longest = tested.iter().map(|&queue| length(queue)).max().unwrap_or(0);
        tested.retain(|&queue| length(queue) == longest);
        if self.keys.is_lowest_index != Some(true) {
            tested.sort_by_key(|&queue| queue != own);
        }
        tested
    }

    fn counts_arrival(&self) -> bool {
        self.keys.count_arrival != Some(false)
    }

    /// The time in which a port sends a packet.
    fn duration(&self, port: usize, size: u64) -> u64 {
        let gbps = self.switch.rates[port % self.switch.rates.len()];
        (size + self.switch.uncounted) * 8_000 / gbps
    }
}

/// A packet that LQD has admitted.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: usize,
    queue: usize,
    size: u64,
    came: u64,
}

/// A port of the virtual switch.
#[derive(Clone, Debug)]
struct Line {
    /// When the port can send again.
    free_at: u64,
    /// The packet that it sends until then.
    sends: Option<Packet>,
    /// For round robin, the queue class that was served last.
    last: Option<usize>,
    /// For deficit round robin, the queue class that is being visited, and the bytes that each
    /// queue class may send.
    visiting: usize,
    deficits: Vec<u64>,
}

/// The virtual LQD.
#[derive(Clone, Debug)]
struct Lqd<'a> {
    setup: &'a Setup,
    /// All waiting packets, in the order of their arrival.
    waiting: Vec<Packet>,
    lines: Vec<Line>,
    /// For every packet that has arrived, whether it was dropped; `None` while it waits.
    dropped: Vec<Option<bool>>,
}

impl<'a> Lqd<'a> {
    fn new(setup: &'a Setup) -> Lqd<'a> {
        let deficits = vec![0; setup.switch.queues_per_port];
        let line = Line { free_at: 0, sends: None, last: None, visiting: 0, deficits };
        let lines = vec![line; setup.switch.ports];
        Lqd { setup, waiting: Vec::new(), lines, dropped: Vec::new() }
    }

    /// The packets that the buffer holds if these wait: packets in transmission may count too.
    fn held(&self, waiting: &[Packet]) -> impl Iterator<Item = Packet> {
        let sends = self.lines.iter().filter_map(|line| line.sends);
        let sends = sends.filter(|_| self.setup.switch.release_at_end);
        sends.chain(waiting.iter().copied())
    }

    /// The bytes that a queue then holds.
    fn bytes_of(&self, queue: usize, waiting: &[Packet]) -> u64 {
        let held = self.held(waiting).filter(|packet| packet.queue == queue);
        held.map(|packet| packet.size).sum()
    }

    fn bytes(&self, queue: usize) -> u64 {
        self.bytes_of(queue, &self.waiting)
    }

    fn room_beside(&self, waiting: &[Packet]) -> u64 {
        let held: u64 = self.held(waiting).map(|packet| packet.size).sum();
        self.setup.switch.capacity - held
    }

    /// Sends everything that is sent, or begins to be sent, by now. A port that can send at this
    /// instant does so before anything arrives.
    fn send_until(&mut self, now: u64) {
        for port in 0..self.lines.len() {
            while self.lines[port].free_at <= now {
                self.lines[port].sends = None;
                let Some(packet) = self.next_of(port) else { break };
                self.waiting.retain(|waiting| waiting.number != packet.number);
                self.dropped[packet.number] = Some(false);
                let starts = self.lines[port].free_at.max(packet.came);
                self.lines[port].free_at = starts + self.setup.duration(port, packet.size);
                self.lines[port].sends = Some(packet);
            }
        }
    }

    /// The packet that a port sends next.
    fn next_of(&mut self, port: usize) -> Option<Packet> {
        let queue_classes = self.setup.switch.queues_per_port;
        let first = |queue_class: usize| {
            let queue = port * queue_classes + queue_class;
            self.waiting.iter().find(|packet| packet.queue == queue).copied()
        };
        let firsts: Vec<Option<Packet>> = (0..queue_classes).map(first).collect();
        let waits = |queue_class: &usize| firsts[*queue_class].is_some();
        (0..queue_classes).find(waits)?;
        let line = &mut self.lines[port];
        let queue_class = match self.setup.switch.scheduling.0 {
            "strict" => (0..queue_classes).find(waits),
            // The earliest arrival; of equal ones, the lowest queue class.
            "fifo" => (0..queue_classes)
                .filter(waits)
                .min_by_key(|&queue_class| firsts[queue_class].unwrap().came),
            "rr" => {
                let from = line.last.map_or(0, |last| last + 1);
                (from..from + queue_classes)
                    .map(|queue_class| queue_class % queue_classes)
                    .find(waits)
            }
            _ => loop {
                // A queue class sends while its deficit lasts. A visit begins with a quantum of
                // 1500 bytes times the weight. An empty queue class has no deficit.
                let queue_class = line.visiting;
                match firsts[queue_class].map(|packet| packet.size + self.setup.switch.uncounted) {
                    None => line.deficits[queue_class] = 0,
                    Some(size) if size <= line.deficits[queue_class] => {
                        line.deficits[queue_class] -= size;
                        break Some(queue_class);
                    }
                    Some(_) => {}
                }
                line.visiting = (queue_class + 1) % queue_classes;
                if waits(&line.visiting) {
                    let weight = WEIGHTS[line.visiting.min(WEIGHTS.len() - 1)];
                    line.deficits[line.visiting] += 1500 * weight;
                }
            },
        };
        line.last = queue_class;
        firsts[queue_class?]
    }

    /// A packet arrives. While there is no room for it, the longest queue loses its last packet. If
    /// this is the arrival itself, no other packet is lost for it.
    fn arrive(&mut self, now: u64, queue: usize, size: u64, counts: &mut Tally) {
        let (setup, number) = (self.setup, self.dropped.len());
        let mut waiting = self.waiting.clone();
        let mut pushed_out = Vec::new();
        self.dropped.push(Some(true));
        while self.room_beside(&waiting) < size {
            let tested = setup.longest((queue, size), |of| self.bytes_of(of, &waiting));
            let victim = tested[0];
            counts
                .count("LQD: a tie of its own queue", tested.len() > 1 && tested.contains(&queue));
            counts.count("LQD: a tie of others", tested.len() > 1 && !tested.contains(&queue));
            if setup.counts_arrival() && victim == queue {
                counts.count("LQD: refused after others went", !pushed_out.is_empty());
                counts.count("LQD: refused", true);
                return;
            }
            let Some(last) = waiting.iter().rposition(|packet| packet.queue == victim) else {
                counts.count("LQD: nothing can go", true);
                return;
            };
            counts.count("LQD: its own goes", victim == queue);
            pushed_out.push(waiting.remove(last));
        }
        counts.count("LQD: pushed out", !pushed_out.is_empty());
        counts.count("LQD: several pushed out", pushed_out.len() > 1);
        for packet in pushed_out {
            self.dropped[packet.number] = Some(true);
        }
        self.dropped[number] = None;
        waiting.push(Packet { number, queue, size, came: now });
        self.waiting = waiting;
    }
}

/// The weights of queue classes, for deficit round robin.
const WEIGHTS: [u64; 2] = [1, 3];

/// What was known when Credence was last judged, and what came of it.
#[derive(Clone, Debug, Default)]
struct Judged {
    /// The packets that were lost here and not by LQD by then, and those tested since.
    regret: i64,
    tested: usize,
    /// The packets that were lost here for another reason than a prediction, and whether any was lost
    /// since this was last looked at.
    own_lost: i64,
    has_lost: bool,
    is_followed: bool,
    /// The regret when Credence was last followed, and when it was not.
    with: f64,
    without: Option<f64>,
    windows: u32,
    hold: u32,
}

struct Follower<'a> {
    setup: &'a Setup,
    lqd: Lqd<'a>,
    now: u64,
    /// The number of every packet that the oracle was asked about, and whether it predicted a drop.
    said: Vec<(usize, bool)>,
    judged: Judged,
    /// The queues that make room for the last arrival.
    victims: Vec<usize>,
    counts: Tally,
}

impl<'a> Follower<'a> {
    fn new(setup: &'a Setup) -> Follower<'a> {
        let lqd = Lqd::new(setup);
        let (said, victims) = (Vec::new(), Vec::new());
        let judged = Judged { is_followed: true, hold: 1, ..Judged::default() };
        Follower { setup, lqd, now: 0, said, judged, victims, counts: Tally::default() }
    }

    /// Algorithm 2, after the thresholds.
    fn follow(&mut self, arrival: &Given, threshold: u64, queues: &Queues) -> Option<DropReason> {
        let length = queues.bytes(arrival.queue) + arrival.size;
        let is_within = self.setup.is_exempt(arrival.queue) || length <= threshold;
        fate(true, is_within, queues.total() + arrival.size <= queues.capacity)
    }

    /// With push-out: a queue over its threshold makes room, the longest first, or else the one that
    /// LQD would choose. Returns false if none does.
    fn make_room(&mut self, arrival: &Given, queues: &Queues) -> bool {
        let mut left = queues.clone();
        while left.total() + arrival.size > left.capacity {
            let mut over: Vec<usize> = left
                .all()
                .filter(|&queue| !self.setup.is_exempt(queue) && left.packets(queue) > 0)
                .filter(|&queue| left.bytes(queue) > self.lqd.bytes(queue))
                .collect();
            self.counts.count("none is over", over.is_empty());
            self.counts.count("several are over", over.len() > 1);
            over.sort_by_key(|&queue| (Reverse(left.bytes(queue)), queue));
            let by_lqd =
                || self.setup.longest((arrival.queue, arrival.size), |queue| left.bytes(queue))[0];
            let victim = over.first().copied().unwrap_or_else(by_lqd);
            if victim == arrival.queue || left.lose_last(victim).is_none() {
                self.counts.count("refused after others went", !self.victims.is_empty());
                self.victims.clear();
                return false;
            }
            self.victims.push(victim);
        }
        self.counts.count("pushed out", true);
        self.counts.count("several pushed out", self.victims.len() > 1);
        true
    }

    /// Algorithm 1, after the thresholds. The test that decides is counted under Credence's name
    /// for it.
    fn ask(
        &mut self,
        oracle: &Oracle,
        arrival: &Given,
        threshold: u64,
        queues: &Queues,
    ) -> Option<DropReason> {
        let tested = queues.all().filter(|&queue| !self.setup.is_exempt(queue));
        let longest = tested.map(|queue| queues.bytes(queue)).max().unwrap();
        let has_safeguard = oracle.safeguard != Some(false);
        let (share, ports) = (longest * queues.ports as u64, queues.ports as u64);
        self.counts.count("longest is B / N", has_safeguard && share == queues.capacity);
        let is_near = share < queues.capacity && share + ports >= queues.capacity;
        self.counts.count("longest is just below", has_safeguard && is_near);
        let number = self.lqd.dropped.len() - 1;
        let flips = oracle.flips == Some(true);
        let drops = oracle.says[number % oracle.says.len()] != flips;
        let fits = queues.total() + arrival.size <= queues.capacity;
        let (by, mut reason) = if !fits && oracle.push_out != Some(true) {
            ("buffer_full", Some(DropReason::BufferFull))
        } else if self.setup.is_exempt(arrival.queue) {
            ("exempt", None)
        } else if fits && has_safeguard && share < queues.capacity {
            ("safeguard", None)
        } else if !self.judged.is_followed {
            let is_by_dt = oracle.trust.as_ref().is_some_and(|trust| trust.is_by_dt);
            let is_let_in = self.falls_back(arrival, queues, is_by_dt);
            self.counts.count("the fallback refuses", !is_let_in);
            ("fallbacks", (!is_let_in).then_some(DropReason::OverThreshold))
        } else if queues.bytes(arrival.queue) + arrival.size > threshold {
            ("threshold", Some(DropReason::OverThreshold))
        } else if drops {
            ("oracle_drops", Some(DropReason::Predicted))
        } else {
            ("oracle_accepts", None)
        };
        self.counts.count(by, true);
        let is_tested = !["buffer_full", "exempt", "safeguard"].contains(&by);
        self.judged.tested += usize::from(is_tested);
        if by.starts_with("oracle") {
            self.counts.count("oracle_flips", flips);
            self.said.push((number, drops));
        }
        if !fits && reason.is_none() && !self.make_room(arrival, queues) {
            self.counts.count("buffer_full", true);
            reason = Some(DropReason::BufferFull);
        }
        reason
    }

    /// The numbers of the oracle's answers by what became of the packets. A drop is a positive.
    fn cells(&self) -> [usize; 4] {
        let of = |cell: (bool, bool)| {
            let is_there = |&&(number, drops): &&(usize, bool)| {
                self.lqd.dropped[number].map(|is_dropped| (drops, is_dropped)) == Some(cell)
            };
            self.said.iter().filter(is_there).count()
        };
        [(true, true), (true, false), (false, false), (false, true)].map(of)
    }

    /// After every window of tested packets, or as soon as too much is lost, what was lost here and not
    /// by LQD tells whether Credence is followed.
    fn judge(&mut self) {
        let Some(Oracle { trust: Some(trust), .. }) = &self.setup.keys.oracle else { return };
        let [right, wrong, ..] = self.cells();
        let judged = &mut self.judged;
        let is_over = judged.tested == trust.window;
        if !(is_over || judged.is_followed && judged.has_lost) {
            return;
        }
        judged.has_lost = false;
        let dropped = self.lqd.dropped.iter().filter(|dropped| **dropped == Some(true)).count();
        let total = judged.own_lost + wrong as i64 - (dropped - right) as i64;
        let more = (total - judged.regret) as f64;
        let limit = trust.regret.unwrap_or(0.005);
        if !is_over && more <= limit.max(judged.without.unwrap_or(0.0)) * trust.window as f64 {
            return;
        }
        self.counts.count("a window ends early", !is_over);
        let regret = more / judged.tested.max(1) as f64;
        (judged.regret, judged.tested) = (total, 0);
        let is_small = regret <= limit;
        if judged.is_followed {
            judged.with = regret;
            judged.windows += 1;
            if is_small {
                (judged.windows, judged.hold) = (0, 1);
                self.counts.count("trust stays", true);
            } else if judged.without.is_some_and(|without| without >= regret) {
                self.counts.count("the fallback was worse", true);
                if judged.windows == judged.hold {
                    judged.without = None;
                    self.counts.count("the fallback is forgotten", true);
                }
            } else {
                judged.hold = (judged.hold * 2).min(64);
                (judged.is_followed, judged.windows) = (false, 0);
                self.counts.count("trust is lost", true);
            }
        } else {
            judged.without = Some(regret);
            judged.windows += 1;
            let is_over = judged.windows == judged.hold;
            if is_over || judged.with <= regret {
                (judged.is_followed, judged.windows) = (true, 0);
                self.counts.count(if is_over { "trust is tried" } else { "trust is back" }, true);
            }
        }
    }

    /// Whether the fallback admits a packet.
    fn falls_back(&self, arrival: &Given, queues: &Queues, is_by_dt: bool) -> bool {
        let with = |queue: usize| {
            queues.bytes(queue) + if queue == arrival.queue { arrival.size } else { 0 }
        };
        let capacity = queues.capacity as f64;
        if is_by_dt {
            return 2 * with(arrival.queue) <= queues.capacity - queues.total();
        }
        // Of the queues whose ranks change, since others may have grown too long before.
        let ranked: Vec<usize> =
            queues.all().filter(|&queue| !self.setup.is_exempt(queue)).collect();
        let harmonic: f64 = (1..=ranked.len()).map(|k| 1.0 / k as f64).sum();
        let (before, after) = (queues.bytes(arrival.queue), with(arrival.queue));
        ranked.iter().map(|&queue| (queue, with(queue))).all(|(queue, length)| {
            let is_overtaken = before < length && length <= after;
            let rank = ranked.iter().filter(|&&other| with(other) >= length).count();
            let most = capacity / (rank as f64 * harmonic) * (1.0 + 1e-12);
            (queue != arrival.queue && !is_overtaken) || length as f64 <= most
        })
    }
}

impl Naive for Follower<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        let &Given { now, queue, size, .. } = arrival;
        self.now = now;
        let port = queue / queues.per_port;
        let was_held = self.lqd.bytes(queue);
        let is_free_now = self.lqd.lines[port].free_at == now;
        self.lqd.send_until(now);
        let has_sent = self.lqd.bytes(queue) < was_held;
        self.counts.count("LQD: sends at this very time", is_free_now && has_sent && now > 0);
        if !is_asked(&self.setup.switch, arrival, queues) {
            self.counts.count("not asked", true);
            prop_assert_eq!(decision.dropped, Some(DropReason::QueueLimit));
            prop_assert_eq!(decision.threshold, Some(self.lqd.bytes(queue)));
            return Ok(());
        }
        self.judge();
        self.lqd.arrive(now, queue, size, &mut self.counts);
        let threshold = self.lqd.bytes(queue);
        prop_assert_eq!(decision.threshold, Some(threshold), "{:?}", arrival);
        let expected = match &self.setup.keys.oracle {
            None => self.follow(arrival, threshold, queues),
            Some(oracle) => self.ask(oracle, arrival, threshold, queues),
        };
        prop_assert_eq!(decision.dropped, expected, "{:?}: {}", arrival, threshold);
        let is_predicted = expected == Some(DropReason::Predicted);
        self.judged.own_lost += i64::from(expected.is_some() && !is_predicted);
        self.judged.has_lost |= expected.is_some();

        let length = queues.bytes(queue) + size;
        let is_tested = !self.setup.is_exempt(queue);
        self.counts.count("taken", expected.is_none());
        self.counts.count("over", expected == Some(DropReason::OverThreshold));
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        self.counts.count("at the threshold", is_tested && length == threshold);
        self.counts.count("a byte beyond", is_tested && length == threshold + 1);
        let is_full = queues.total() + size == queues.capacity;
        self.counts.count("the last room", is_full);
        self.counts.count("an exempt one over", !is_tested && length > threshold);
        let fits_there = self.lqd.dropped.last() == Some(&None);
        self.counts.count("both take it", expected.is_none() && fits_there);
        self.counts.count("LQD alone takes it", expected.is_some() && fits_there);
        self.counts.count("LQD alone does not", expected.is_none() && !fits_there);
        Ok(())
    }

    fn victims(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.victims)
    }

    /// A size that fits here, one that fits in the virtual LQD, one that makes this queue as long
    /// as LQD's, or one that makes it as long as the safeguard allows.
    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        let mut lqd = self.lqd.clone();
        lqd.send_until(arrival.now);
        let longest = match arrival.flow % 4 {
            0 => return queues.capacity - queues.total(),
            1 => return lqd.room_beside(&lqd.waiting),
            2 => lqd.bytes(arrival.queue),
            _ => (queues.capacity - 1) / queues.ports as u64,
        };
        longest.saturating_sub(queues.bytes(arrival.queue))
    }

    /// The thresholds follow the virtual LQD's departures, not these.
    fn leaves(&mut self, _now: u64, _queue: usize, _size: u64, _queues: &Queues) {}
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let predictions = setup.keys.oracle.as_ref().map(|oracle| {
        let says = oracle.says.iter().copied().cycle();
        says.take(steps.len()).collect()
    });
    let sharing = (setup.keys.id(), setup.keys.text());
    let switch = Settings { sharing, predictions, ..setup.switch.clone() };
    let mut follower = Follower::new(setup);
    let mut real = run(&switch, false, &mut follower, steps)?;
    real.switch.finish_sharing(Time::from_ps(follower.now));
    follower.lqd.send_until(follower.now);
    let cells = ["true_positives", "false_positives", "true_negatives", "false_negatives"];
    for (cell, number) in cells.into_iter().zip(follower.cells()) {
        (0..number).for_each(|_| follower.counts.count(cell, true));
    }
    for (name, told) in real.switch.sharing_counters() {
        prop_assert_eq!(told, follower.counts.of(&name) as u64, "{}", name);
    }
    Ok(follower.counts)
}

fn keys() -> impl Strategy<Value = Keys> {
    let answers = vec(prop::bool::weighted(0.3), 1..40);
    let flips = option::weighted(0.2, any::<bool>());
    let (safeguard, push_out) = (option::of(any::<bool>()), option::of(any::<bool>()));
    let trust = (1..12usize, option::of(0.0..0.5), any::<bool>())
        .prop_map(|(window, regret, is_by_dt)| Trust { window, regret, is_by_dt });
    let oracle = (safeguard, flips, push_out, option::weighted(0.3, trust), answers).prop_map(
        |(safeguard, flips, push_out, trust, says)| Oracle {
            safeguard,
            flips,
            push_out: push_out.filter(|_| trust.is_none()),
            trust,
            says,
        },
    );
    let of_lqd = (option::of(any::<bool>()), option::of(any::<bool>()), option::of(any::<bool>()));
    (of_lqd, option::of(oracle)).prop_map(
        |((count_arrival, is_lowest_index, exempt_acks), oracle)| Keys {
            count_arrival,
            is_lowest_index,
            exempt_acks,
            oracle,
        },
    )
}

/// Lines are slow, so that LQD's buffer fills although its ports never pause.
fn setup() -> impl Strategy<Value = Setup> {
    let shapes =
        vec![(2, 1), (3, 1), (5, 1), (16, 1), (1, 2), (2, 2), (3, 3), (1, 4), (4, 4), (2, 8)];
    let dwrr: Section = ("dwrr", "weights = [1.0, 3.0]");
    let scheduling = vec![("fifo", ""), ("rr", ""), ("strict", ""), dwrr];
    let rates = select(vec![vec![1], vec![4], vec![4, 2], vec![1, 10, 2], vec![40, 1]]);
    let capacity = prop_oneof![
        3 => 2_000u64..12_000,
        3 => (4u64..24).prop_map(|number| 500 * number),
    ];
    let queue_limit = prop_oneof![
        17 => Just(Amount::Unlimited),
        3 => (500u64..5_000).prop_map(Amount::Bytes),
    ];
    let switches = switches(shapes, capacity, scheduling);
    (keys(), switches, rates, queue_limit).prop_map(|(keys, switch, rates, queue_limit)| Setup {
        keys,
        switch: Settings { rates, queue_limit, ..switch },
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn followers_decide_like_the_paper(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_fill_the_virtual_buffer_too() {
    let mut totals: BTreeMap<&str, Tally> = BTreeMap::new();
    look_at(1000, setup(), |setup, steps| {
        let counts = compare(&setup, &steps).unwrap();
        totals.entry(setup.keys.id()).or_default().add(counts);
    });
    for (id, kinds) in [("followlqd", 20), ("credence", 47)] {
        let total = &totals[id];
        assert_eq!(total.0.len(), kinds, "{id}: {total:?}");
        // Lengths seldom differ by one byte.
        let is_rare = |what| ["a byte beyond", "longest is just below"].contains(&what);
        let least = |what| if is_rare(what) { 3 } else { 20 };
        assert!(total.0.iter().all(|(&what, &n)| n > least(what)), "{id}: {total:?}");
    }
}
