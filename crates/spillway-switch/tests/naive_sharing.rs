//! The switch beside a second, naive implementation of its rules, packet by packet.
//!
//! The naive switch keeps its queues as lists of sizes and sums them up for every question. It is
//! written from the formulas, in integers, and shares no code with the switch. Both see the same
//! arrivals and departures. They must agree on which packets are admitted, refused (and why) or
//! pushed out, and on what every queue holds.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use std::collections::VecDeque;

/// A rule and its parameters; fractions are (numerator, denominator).
#[derive(Clone, Debug)]
enum Rule {
    CompleteSharing,
    StaticPartitioning {
        share: Option<(u64, u64)>,
    },
    /// A port's limit is RTT C / sqrt(n).
    RoundTrips {
        flows: Option<(u64, u64)>,
    },
    DynamicThresholds {
        alpha: Vec<(u64, u64)>,
        first: Option<(u64, u64)>,
        count_arrival: bool,
    },
    Harmonic {
        prefix: bool,
        exempt_acks: bool,
    },
    LongestQueueDrop {
        count_arrival: bool,
        lowest_index: bool,
        exempt_acks: bool,
    },
    QuasiPushout {
        exempt_acks: bool,
    },
}

impl Rule {
    fn id(&self) -> &'static str {
        match self {
            Rule::CompleteSharing => "cs",
            Rule::StaticPartitioning { .. } | Rule::RoundTrips { .. } => "sp",
            Rule::DynamicThresholds { .. } => "dt",
            Rule::Harmonic { .. } => "harmonic",
            Rule::LongestQueueDrop { .. } => "lqd",
            Rule::QuasiPushout { .. } => "quasi-pushout",
        }
    }

    /// The keys as a scenario would give them.
    fn settings(&self) -> String {
        let ratio = |&(numerator, denominator): &(u64, u64)| {
            format!("{:?}", numerator as f64 / denominator as f64)
        };
        match self {
            Rule::CompleteSharing | Rule::StaticPartitioning { share: None } => String::new(),
            Rule::StaticPartitioning { share: Some(share) } => format!("share = {}", ratio(share)),
            Rule::RoundTrips { flows } => {
                let flows: String = flows.iter().map(|n| format!("flows = {}", ratio(n))).collect();
                format!("form = \"rtt\"\n{flows}")
            }
            Rule::DynamicThresholds { alpha, first, count_arrival } => {
                let alpha: Vec<String> = alpha.iter().map(ratio).collect();
                let first = first.iter().map(|a| format!("alpha_first_rtt = {}\n", ratio(a)));
                let first: String = first.collect();
                format!("alpha = [{}]\n{first}count_arrival = {count_arrival}", alpha.join(", "))
            }
            Rule::Harmonic { prefix, exempt_acks } => {
                let form = if *prefix { "prefix" } else { "rank" };
                format!("form = \"{form}\"\nexempt_acks = {exempt_acks}")
            }
            Rule::LongestQueueDrop { count_arrival, lowest_index, exempt_acks } => {
                let tie = if *lowest_index { "lowest-index" } else { "arriving-queue" };
                format!(
                    "count_arrival = {count_arrival}\ntie = \"{tie}\"\nexempt_acks = {exempt_acks}"
                )
            }
            Rule::QuasiPushout { exempt_acks } => format!("exempt_acks = {exempt_acks}"),
        }
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    rule: Rule,
    capacity: u64,
    ports: usize,
    queues_per_port: usize,
    /// The queue class of acks, and that of data without a priority.
    queue_classes: (usize, usize),
    queue_limit: Amount,
    uncounted: u64,
    release_at_end: bool,
}

/// One event.
#[derive(Clone, Debug)]
enum Step {
    Arrive {
        port: usize,
        size: u64,
        kind: Kind,
        first_rtt: bool,
        /// Whether the packet is sent at once if the port is idle.
        passes: bool,
    },
    /// A port sends a packet, if it has one.
    Depart { port: usize },
    /// A port's link fails.
    Purge { port: usize },
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Ack,
    Data,
    Priority(u8),
}

/// The ports' rates in Gbps, in turn.
const RATES: [u64; 3] = [10, 2, 40];

/// The number and the size of a waiting packet.
type Waiting = (usize, u64);

#[derive(Debug)]
struct Naive {
    setup: Setup,
    queues: Vec<VecDeque<Waiting>>,
    /// With `release_at_end`: for every port, the queue and size of the packet in transmission.
    sending: Vec<Option<(usize, u64)>>,
    /// Every queue that a packet joined or left, with the lengths of all queues after that.
    changes: Vec<(usize, Vec<u64>)>,
}

impl Naive {
    fn new(setup: Setup) -> Naive {
        let queues = vec![VecDeque::new(); setup.ports * setup.queues_per_port];
        Naive { queues, sending: vec![None; setup.ports], setup, changes: Vec::new() }
    }

    fn queue_of(&self, port: usize, kind: Kind) -> usize {
        let (ack, data) = self.setup.queue_classes;
        let queue_class = match kind {
            Kind::Ack => ack,
            Kind::Data => data,
            Kind::Priority(priority) => usize::from(priority).min(self.setup.queues_per_port - 1),
        };
        port * self.setup.queues_per_port + queue_class
    }

    fn bytes(&self, queue: usize, queues: &[VecDeque<Waiting>]) -> u64 {
        let waiting: u64 = queues[queue].iter().map(|(_, size)| size).sum();
        let sending = self.sending[queue / self.setup.queues_per_port];
        waiting + sending.filter(|(of, _)| *of == queue).map_or(0, |(_, size)| size)
    }

    fn port_bytes(&self, port: usize) -> u64 {
        let of_port = (0..self.queues.len()).filter(|q| q / self.setup.queues_per_port == port);
        of_port.map(|queue| self.bytes(queue, &self.queues)).sum()
    }

    fn total(&self, queues: &[VecDeque<Waiting>]) -> u64 {
        (0..queues.len()).map(|queue| self.bytes(queue, queues)).sum()
    }

    /// Admits the packet and returns those pushed out for it, the last one first, or tells why it
    /// is refused.
    fn arrive(
        &mut self,
        queue: usize,
        packet: Waiting,
        first_rtt: bool,
    ) -> Result<Vec<usize>, DropReason> {
        let size = packet.1;
        let (q, total) = (self.bytes(queue, &self.queues), self.total(&self.queues));
        let capacity = self.setup.capacity;
        let over_limit = match self.setup.queue_limit {
            Amount::Unlimited => false,
            Amount::Bytes(limit) => q + size > limit,
            Amount::Packets(limit) => self.queues[queue].len() as u64 >= limit,
        };
        if over_limit {
            return Err(DropReason::QueueLimit);
        }
        let per_port = self.setup.queues_per_port;
        let over = match &self.setup.rule {
            Rule::CompleteSharing => false,
            Rule::StaticPartitioning { share } => {
                // q_port + s <= B/N, or share * B.
                let (numerator, denominator) = share.unwrap_or((1, self.setup.ports as u64));
                (self.port_bytes(queue / per_port) + size) * denominator > capacity * numerator
            }
            Rule::RoundTrips { flows } => {
                // (q_port + s)^2 n <= (RTT C)^2; the RTT is 25 us in these tests.
                let port = queue / per_port;
                let most = 25_000 * RATES[port % RATES.len()] / 8;
                let (numerator, denominator) = flows.unwrap_or((1, 1));
                (self.port_bytes(port) + size).pow(2) * numerator > most.pow(2) * denominator
            }
            Rule::DynamicThresholds { alpha, first, count_arrival } => {
                // T = alpha * (B - Q), in whole bytes.
                let queue_class = queue % per_port;
                let by_queue_class = alpha[queue_class.min(alpha.len() - 1)];
                let (numerator, denominator) = match first {
                    Some(alpha) if first_rtt => *alpha,
                    _ => by_queue_class,
                };
                let threshold = (capacity - total) * numerator / denominator;
                if *count_arrival { q + size > threshold } else { q >= threshold }
            }
            &Rule::Harmonic { prefix, exempt_acks } => {
                self.breaks_harmony(queue, size, prefix, exempt_acks)
            }
            Rule::LongestQueueDrop { .. } => return self.push_out(queue, packet),
            &Rule::QuasiPushout { exempt_acks } => {
                return self.push_out_quasi_longest(queue, packet, exempt_acks);
            }
        };
        if over {
            return Err(DropReason::OverThreshold);
        }
        if total + size > capacity {
            return Err(DropReason::BufferFull);
        }
        self.queues[queue].push_back(packet);
        Ok(Vec::new())
    }

    /// Whether acks' queues are exempt, and this is one of them.
    fn is_exempt(&self, exempt_acks: bool, queue: usize) -> bool {
        let per_port = self.setup.queues_per_port;
        // Acks that share a queue with data cannot be told from data.
        let (ack, data) = self.setup.queue_classes;
        exempt_acks && per_port > 1 && ack != data && queue % per_port == ack
    }

    /// Whether, for some k, q_(k) > B / (k H_N), or q_(1) + ... + q_(k) > B H_k / H_N. Harmonic
    /// numbers are counted in units of 1 / 720,720; this is the least number divisible by 1 to 16.
    fn breaks_harmony(&self, own: usize, size: u64, prefix: bool, exempt_acks: bool) -> bool {
        if self.is_exempt(exempt_acks, own) {
            return false;
        }
        let ranked = (0..self.queues.len()).filter(|&queue| !self.is_exempt(exempt_acks, queue));
        let with_arrival =
            |queue| self.bytes(queue, &self.queues) + if queue == own { size } else { 0 };
        let mut lengths: Vec<u64> = ranked.map(with_arrival).collect();
        lengths.sort_unstable_by_key(|&length| std::cmp::Reverse(length));
        let unit = 720_720;
        let harmonic = |n: usize| (1..=n as u64).map(|k| unit / k).sum::<u64>();
        let (all, capacity) = (harmonic(lengths.len()), self.setup.capacity);
        (1..=lengths.len()).any(|k| {
            if prefix {
                lengths[..k].iter().sum::<u64>() * all > capacity * harmonic(k)
            } else {
                lengths[k - 1] * k as u64 * all > capacity * unit
            }
        })
    }

    /// While Q + s > B, the longest queue loses its tail; at first on a copy of the queues.
    fn push_out(&mut self, own: usize, packet: Waiting) -> Result<Vec<usize>, DropReason> {
        let Rule::LongestQueueDrop { count_arrival, lowest_index, exempt_acks } = self.setup.rule
        else {
            unreachable!()
        };
        let mut queues = self.queues.clone();
        let mut pushed_out = Vec::new();
        while self.total(&queues) + packet.1 > self.setup.capacity {
            let length = |queue: usize| {
                let counted = if queue == own && count_arrival { packet.1 } else { 0 };
                self.bytes(queue, &queues) + counted
            };
            let candidates: Vec<usize> =
                (0..queues.len()).filter(|&q| !self.is_exempt(exempt_acks, q)).collect();
            let longest = candidates.iter().map(|&queue| length(queue)).max().unwrap_or(0);
            let mut among = candidates.iter().copied().filter(|&queue| length(queue) == longest);
            let victim = match among.clone().find(|&queue| queue == own && !lowest_index) {
                Some(own) => Some(own),
                None => among.next(),
            };
            let Some(victim) = victim.filter(|_| longest > 0) else {
                return Err(DropReason::BufferFull);
            };
            if victim == own && count_arrival {
                return Err(DropReason::PushedOut);
            }
            match queues[victim].pop_back() {
                Some((number, _)) => pushed_out.push(number),
                // All that the queue holds is in transmission.
                None => return Err(DropReason::BufferFull),
            }
        }
        queues[own].push_back(packet);
        self.queues = queues;
        Ok(pushed_out)
    }

    /// A packet has joined a queue, or left it to be sent.
    fn note_change(&mut self, queue: usize) {
        let lengths = (0..self.queues.len()).map(|queue| self.bytes(queue, &self.queues));
        self.changes.push((queue, lengths.collect()));
    }

    /// While Q + s > B, the quasi-longest queue loses its tail. That queue is the last one in the
    /// list of changes that was longer than the one before it.
    fn push_out_quasi_longest(
        &mut self,
        own: usize,
        packet: Waiting,
        exempt_acks: bool,
    ) -> Result<Vec<usize>, DropReason> {
        let takes_part = |queue: &usize| !self.is_exempt(exempt_acks, *queue);
        let first = (0..self.queues.len()).find(takes_part).unwrap();
        let changes = self.changes.iter().filter(|(queue, _)| takes_part(queue));
        let longest =
            changes.fold(
                first,
                |longest, (queue, lengths)| {
                    if lengths[*queue] > lengths[longest] { *queue } else { longest }
                },
            );
        let mut queues = self.queues.clone();
        let mut pushed_out = Vec::new();
        while self.total(&queues) + packet.1 > self.setup.capacity {
            if longest == own {
                return Err(DropReason::PushedOut);
            }
            let Some((number, _)) = queues[longest].pop_back() else {
                return Err(DropReason::BufferFull);
            };
            pushed_out.push(number);
        }
        queues[own].push_back(packet);
        self.queues = queues;
        Ok(pushed_out)
    }
}

fn packet(size: u64, kind: Kind, first_rtt: bool) -> Packet {
    let first = if first_rtt { flags::FIRST_RTT } else { 0 };
    let (control, priority) = match kind {
        Kind::Ack => (flags::CONTROL, NO_PRIORITY),
        Kind::Data => (0, NO_PRIORITY),
        Kind::Priority(priority) => (0, priority),
    };
    Packet { size: size as u32, flags: first | control, priority, ..Packet::default() }
}

/// Runs both, and returns how many packets were admitted, refused and pushed out.
fn compare(setup: Setup, steps: &[Step]) -> Result<[usize; 3], TestCaseError> {
    let mut real = Real::new(&Settings {
        capacity: setup.capacity,
        ports: setup.ports,
        rates: RATES.to_vec(),
        queues_per_port: setup.queues_per_port,
        queue_classes: setup.queue_classes,
        queue_limit: setup.queue_limit,
        uncounted: setup.uncounted,
        release_at_end: setup.release_at_end,
        sharing: (setup.rule.id(), setup.rule.settings()),
        ..Settings::default()
    });
    let mut naive = Naive::new(setup.clone());
    let mut counts = [0; 3];
    for (number, step) in steps.iter().enumerate() {
        let now = Time::from_ps(number as u64);
        match *step {
            Step::Arrive { port, size, kind, first_rtt, passes } => {
                let queue = naive.queue_of(port, kind);
                let expected = match naive.arrive(queue, (number, size), first_rtt) {
                    Ok(pushed_out) => {
                        naive.note_change(queue);
                        counts[0] += 1;
                        counts[2] += pushed_out.len();
                        let reason = |number| (number, DropReason::PushedOut);
                        pushed_out.into_iter().map(reason).collect()
                    }
                    Err(reason) => {
                        counts[1] += 1;
                        vec![(number, reason)]
                    }
                };
                let packet = packet(size + setup.uncounted, kind, first_rtt);
                let id = real.insert(number, packet);
                let (packets, at) = (&mut real.packets, port as u32);
                let is_idle = !real.switch.has_backlog(at) && naive.sending[port].is_none();
                if !(passes && is_idle) {
                    real.switch.enqueue(now, at, id, &packet, packets);
                } else if let Some(id) = real.switch.pass(now, at, id, &packet, packets) {
                    packets.remove(id);
                    naive.queues[queue].pop_back();
                    naive.sending[port] = setup.release_at_end.then_some((queue, size));
                    naive.note_change(queue);
                }
                let mut lost = expected;
                lost.sort_unstable();
                prop_assert_eq!(real.take_lost(), lost, "step {}: {:?}", number, step);
            }
            Step::Depart { port } => {
                if setup.release_at_end {
                    naive.sending[port] = None;
                    real.switch.on_sent(now, port as u32);
                }
                if real.switch.has_backlog(port as u32) {
                    let id = real.switch.dequeue(now, port as u32, &mut real.packets).unwrap();
                    let number = real.number(id);
                    real.packets.remove(id);
                    let first = |queue: &usize| naive.queues[*queue].front();
                    let queues = port * setup.queues_per_port..(port + 1) * setup.queues_per_port;
                    let queue = queues.clone().find(|q| first(q).map(|f| f.0) == Some(number));
                    prop_assert!(queue.is_some(), "packet {} is not the first of a queue", number);
                    let (_, size) = naive.queues[queue.unwrap()].pop_front().unwrap();
                    if setup.release_at_end {
                        naive.sending[port] = Some((queue.unwrap(), size));
                    }
                    naive.note_change(queue.unwrap());
                }
            }
            Step::Purge { port } => {
                if setup.release_at_end {
                    naive.sending[port] = None;
                    real.switch.on_sent(now, port as u32);
                }
                real.switch.purge(now, port as u32, DropReason::LinkDown, &mut real.packets);
                let queues = port * setup.queues_per_port..(port + 1) * setup.queues_per_port;
                let lost = queues.flat_map(|queue| std::mem::take(&mut naive.queues[queue]));
                let mut lost: Vec<_> = lost.map(|(n, _)| (n, DropReason::LinkDown)).collect();
                lost.sort_unstable();
                prop_assert_eq!(real.take_lost(), lost);
            }
        }
        let buffer = real.switch.buffer();
        let queues = 0..naive.queues.len();
        let lengths: Vec<u64> = queues.map(|queue| buffer.bytes(queue as u32).into()).collect();
        let expected: Vec<u64> =
            (0..naive.queues.len()).map(|queue| naive.bytes(queue, &naive.queues)).collect();
        prop_assert_eq!(lengths, expected, "step {}: {:?}", number, step);
        prop_assert!(buffer.occupancy() <= setup.capacity);
        prop_assert!(real.switch.is_consistent(&real.packets));
    }
    Ok(counts)
}

/// Halves, quarters and so on, which are exact as floats.
fn fraction() -> impl Strategy<Value = (u64, u64)> {
    select(vec![(1, 16), (1, 8), (1, 4), (1, 2), (3, 4), (1, 1), (2, 1), (5, 2), (8, 1), (64, 1)])
}

fn rule() -> impl Strategy<Value = Rule> {
    let share = proptest::option::of(select(vec![(1, 8), (1, 4), (3, 8), (1, 2), (1, 1)]));
    // Some have a root with which the limit is an integer; with 5000 and 2.25 it is not.
    let flows = select(vec![(9, 4), (16, 1), (25, 1), (100, 1), (625, 1), (5_000, 1)]);
    let flows = proptest::option::weighted(0.9, flows);
    let dynamic = (vec(fraction(), 1..4), proptest::option::of(fraction()), any::<bool>());
    prop_oneof![
        2 => Just(Rule::CompleteSharing),
        2 => share.prop_map(|share| Rule::StaticPartitioning { share }),
        2 => flows.prop_map(|flows| Rule::RoundTrips { flows }),
        4 => dynamic.prop_map(|(alpha, first, count_arrival)| {
            Rule::DynamicThresholds { alpha, first, count_arrival }
        }),
        3 => (any::<bool>(), any::<bool>()).prop_map(|(prefix, exempt_acks)| Rule::Harmonic {
            prefix,
            exempt_acks,
        }),
        4 => (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(count_arrival, lowest_index, exempt_acks)| {
                Rule::LongestQueueDrop { count_arrival, lowest_index, exempt_acks }
            },
        ),
        4 => any::<bool>().prop_map(|exempt_acks| Rule::QuasiPushout { exempt_acks }),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    let queues = select(vec![(2, 1), (3, 1), (5, 1), (16, 1), (1, 2), (2, 2), (3, 3), (4, 4)]);
    let limit = prop_oneof![
        4 => Just(Amount::Unlimited),
        1 => (1u64..8).prop_map(Amount::Packets),
        1 => (500u64..4000).prop_map(Amount::Bytes),
    ];
    let other = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let counted = (select(vec![0, 0, 24]), prop::bool::weighted(0.3));
    // Sometimes large enough for packets about which the policy need not be asked.
    let capacity = prop_oneof![5 => 1_000u64..12_000, 1 => 20_000u64..60_000];
    (rule(), capacity, queues, other, limit, counted).prop_map(
        |(rule, capacity, (ports, queues_per_port), (ack, data), queue_limit, counted)| Setup {
            rule,
            capacity,
            ports,
            queues_per_port,
            queue_classes: (ack.index(queues_per_port), data.index(queues_per_port)),
            queue_limit,
            uncounted: counted.0,
            release_at_end: counted.1,
        },
    )
}

/// Arrivals outnumber departures, so that buffers fill; sizes are often equal, so that queues tie.
fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![3 => select(vec![100u64, 200, 500, 1500]), 1 => 40u64..1500];
    let kind = prop_oneof![
        1 => Just(Kind::Ack),
        3 => Just(Kind::Data),
        2 => (0u8..6).prop_map(Kind::Priority),
    ];
    let arrive = (0usize..16, size, kind, any::<bool>(), any::<bool>());
    prop_oneof![
        120 => arrive.prop_map(|(port, size, kind, first_rtt, passes)| {
            Step::Arrive { port, size, kind, first_rtt, passes }
        }),
        70 => (0usize..16).prop_map(|port| Step::Depart { port }),
        1 => (0usize..16).prop_map(|port| Step::Purge { port }),
    ]
}

fn on_ports(steps: Vec<Step>, ports: usize) -> Vec<Step> {
    let wrap = |step| match step {
        Step::Arrive { port, size, kind, first_rtt, passes } => {
            Step::Arrive { port: port % ports, size, kind, first_rtt, passes }
        }
        Step::Depart { port } => Step::Depart { port: port % ports },
        Step::Purge { port } => Step::Purge { port: port % ports },
    };
    steps.into_iter().map(wrap).collect()
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn every_policy_decides_like_its_formula(
        setup in setup(),
        steps in vec(step(), 1..160),
    ) {
        let ports = setup.ports;
        compare(setup, &on_ports(steps, ports))?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_fill_buffers_and_push_out() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = std::collections::BTreeMap::new();
    for _ in 0..500 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let steps = vec(step(), 100..160).new_tree(&mut runner).unwrap().current();
        let is_of_rtt = matches!(setup.rule, Rule::RoundTrips { .. });
        let (id, ports) = ((setup.rule.id(), is_of_rtt), setup.ports);
        let counts = compare(setup, &on_ports(steps, ports)).unwrap();
        let total: &mut [usize; 3] = totals.entry(id).or_default();
        (0..3).for_each(|i| total[i] += counts[i]);
    }
    assert_eq!(totals.len(), 7);
    for (id, [taken, refused, pushed_out]) in totals {
        assert!(taken > 500 && refused > 500, "{id:?}: {taken} taken, {refused} refused");
        let pushes_out = ["lqd", "quasi-pushout"].contains(&id.0);
        assert_eq!(pushed_out > 500, pushes_out, "{id:?}: {pushed_out} pushed out");
    }
}
