//! Active Buffer Management: Dynamic Thresholds, shared among the congested queues of a priority
//! and in proportion to how fast each drains.
//!
//! # Reference
//! V. Addanki, M. Apostolaki, M. Ghobadi, S. Schmid, L. Vanbever, "ABM: Active Buffer Management in
//! Datacenters", ACM SIGCOMM 2022. <https://doi.org/10.1145/3544216.3544252>
//!
//! # Rule
//! T_{i,p} = alpha_p (B - Q) (1 / n_p) (mu_{i,p} / b)
//!
//! Admit iff q_{i,p} + s <= T_{i,p}. i: the port; p: the queue class; n_p: the number of congested
//! queues of queue class p, at least 1; mu: the rate at which the queue drains; b: the rate of its
//! port. A queue is congested from `congested_at` (0.9) of its threshold on. n_p and mu are
//! measured every `update_interval`; B - Q is the current value. Packets of a flow's first round
//! trip have T = `alpha_first_rtt` (B - Q) instead, so that bursts pass.
//!
//! # Departures from the paper
//! mu / b is the queue's share of the bytes that its port has sent while anything waited in the
//! queue. A full packet is added to both counts, so a queue that was alone has 1, and one that has
//! waited only for a moment does not have 0. The authors' program differs in three ways, each of
//! which is a setting:
//! - `drain = "interval"` divides the bytes that have left the queue by what the port could have
//!   sent in the whole interval. A share below one over the number of queues, or above 1, counts as
//!   1.
//! - `congestion = "fractional"` sums min(1, q / `saturation`) over queues instead of counting the
//!   congested ones, where q is the length that the last arrival found.
//! - `first_rtt = "scaled"` applies the whole formula to first packets too, with their own alpha.
//!
//! # Scope and limitations
//! All queues of a queue class count, including those of acks, which have a queue class of their
//! own. With `drain = "share"` a packet that leaves its queue in the moment in which it comes does
//! not count in mu, since nothing has waited.
//!
//! # In composition
//! Under strict priority a worse queue drains only when better ones are empty: mu is small, and so
//! is its threshold. n_p counts the queues of one queue class, so a tagger, which spreads flows
//! over classes, has fewer of them share a threshold. Lists of alpha are read as under [DT](dt.md).
//!
//! # Validation
//! Has the same limits, to the byte, and makes the same decisions as a second, naive implementation
//! on thousands of random arrivals (`tests/naive_abm.rs`). That one uses fractions instead of
//! floats and adds up all departures of an interval each time. With a large alpha and a buffer that
//! never fills, flows are those of Complete Sharing, to the bit (`tests/null.rs` of spillway-net).
//! With the program's three settings the percentiles of its published run under Cubic are matched
//! within 5%; without them they are not (studies/spillway_studies/references/validation.md).
//!
//! # Cost
//! Some additions for every packet that waits; a scan of all queues every interval; 48 bytes for
//! every queue. With `drain = "interval"` even packets at an idle port go through the policy.

use super::{Sharing, of_queue_class};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// How thresholds are set, and by what they are scaled.
#[derive(Clone, Debug)]
pub struct ActiveBufferManagementParams {
    /// The bytes that a queue may hold for every free byte, above 0, by queue class. The last one
    /// holds for all further ones.
    alpha: Vec<f64>,
    /// The bytes that a queue may hold for every free byte, for packets of a flow's first round
    /// trip.
    alpha_first_rtt: f64,
    /// Whether first packets too are limited by the whole formula, rather than by alpha (B - Q).
    first_rtt_is_scaled: bool,
    /// When and how much a queue counts as congested.
    congestion: Congestion,
    /// What the bytes that leave a queue are divided by, to give its drain rate.
    drain: Drain,
    /// How often congestion and drain rates are measured, above 0.
    interval: Time,
}

/// Scales Dynamic Thresholds by congestion and drain rate.
#[derive(Clone, Debug)]
pub struct ActiveBufferManagement {
    params: ByQueue<ActiveBufferManagementParams>,
    queues: Vec<Queue>,
    /// Bytes that every port has sent.
    sent: Vec<u64>,
    full_packet: u64,
    /// n_p, by queue class.
    congested: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Congestion {
    /// A queue is congested from this share of its threshold on.
    Binary { congested_at: f64 },
    /// A queue is congested to the degree to which it is full; it is full with `saturation` bytes.
    Fractional { saturation: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drain {
    Share,
    Interval,
}

/// The measurements of a queue.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Bytes that have left it in this interval.
    dequeued: u64,
    /// The bytes that its port had sent when a packet began to wait in the queue, or when the
    /// interval began; `u64::MAX` if no packet waits.
    waits_from: u64,
    /// When the packets that wait began to, if any do.
    waits_since: Time,
    /// The bytes that its port sent in this interval while a packet waited in the queue, up to
    /// `waits_from`.
    port_sent: u64,
    /// mu / b, in (0, 1].
    drain: f64,
    /// min(1, q / saturation), as the last arrival found the queue.
    level: f64,
}

impl Policy for ActiveBufferManagement {
    const ID: &'static str = "abm";
    const SUMMARY: &'static str =
        "Active Buffer Management: DT over the congested queues, by how fast a queue drains";
    const CITATION: &'static str = "Addanki et al.: ABM, SIGCOMM 2022, doi:10.1145/3544216.3544252";
    const VARIANTS: &'static [&'static str] = &["congestion = \"fractional\""];
    const COST: Option<Cost> = Some(Cost {
        // The bytes that left it and its port, the port's count when the queue began to wait, its
        // share of alpha.
        queue: State { counters: 4, ..State::NONE },
        port: State { counters: 1, ..State::NONE },
        switch: State { more: "1 counter for each queue class", ..State::NONE },
        // T; q + s and the comparison with T; whether the queue was empty.
        arrival: Operations {
            multiplications: 1,
            additions: 1,
            comparisons: 2,
            ..Operations::NONE
        },
        // The bytes that left queue and port; if the queue is empty, what the port sent meanwhile.
        departure: Operations { additions: 4, comparisons: 2, ..Operations::NONE },
        // 0.9 T; whether the queue is that long and not empty; n_p; what its port sent meanwhile;
        // mu / b, with one more packet in both; alpha mu / (b n_p).
        at_times: &[(
            "each base RTT and queue",
            Operations {
                additions: 5,
                comparisons: 3,
                scalings: 2,
                multiplications: 1,
                divisions: 2,
                ..Operations::NONE
            },
        )],
        needs: "which packets are of a first round trip, the base RTT",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] =
        &["alpha", "alpha_first_rtt", "congested_at", "saturation"];
    const CHANGES_BY_PORT: bool = true;

    type Params = ActiveBufferManagementParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<ActiveBufferManagementParams, SettingsError> {
        let meaning = "bytes a queue may hold for every free byte, by queue class, the last \
                       holding for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 0.5, Range::Positive, meaning)?;
        let meaning = "alpha for packets of a flow's first round trip";
        let alpha_first_rtt = section.number("alpha_first_rtt", 64.0, Range::Positive, meaning)?;
        let meaning = "whether first packets are limited by alpha (B - Q), or by the whole formula";
        let ways = [("unscaled", false), ("scaled", true)];
        let first_rtt_is_scaled = section.choice("first_rtt", &ways, meaning)?;
        let meaning = "whether congested queues are counted, or summed up by how full they are";
        let is_fractional =
            section.choice("congestion", &[("binary", false), ("fractional", true)], meaning)?;
        let congestion = if is_fractional {
            section.needs("congestion = \"binary\"", &["congested_at"])?;
            let meaning = "with congestion = \"fractional\", the length from which a queue is \
                           fully congested";
            let saturation = section.positive_size("saturation", "28000B", meaning)?;
            Congestion::Fractional { saturation: saturation as f64 }
        } else {
            section.needs("congestion = \"fractional\"", &["saturation"])?;
            let meaning = "the share of its threshold from which on a queue is congested";
            let congested_at = section.number("congested_at", 0.9, Range::Unit, meaning)?;
            Congestion::Binary { congested_at }
        };
        let meaning = "what the bytes that leave a queue are divided by: the bytes that its port \
                       sends while something waits in it, or those that it could send in the \
                       whole interval";
        let ways = [("share", Drain::Share), ("interval", Drain::Interval)];
        let drain = section.choice("drain", &ways, meaning)?;
        let meaning =
            "how often congestion and drain rates are measured; the base RTT if not given";
        let interval = section.optional("update_interval", |section| {
            section.positive_time("update_interval", "25us", meaning)
        })?;
        let interval = interval.unwrap_or(environment.base_rtt);
        Ok(ActiveBufferManagementParams {
            alpha,
            alpha_first_rtt,
            first_rtt_is_scaled,
            congestion,
            drain,
            interval,
        })
    }

    fn new(params: &ActiveBufferManagementParams, environment: &Environment) -> Self {
        let queues = environment.queues();
        let queue = Queue {
            dequeued: 0,
            waits_from: u64::MAX,
            waits_since: Time::ZERO,
            port_sent: 0,
            drain: 1.0,
            level: 0.0,
        };
        ActiveBufferManagement {
            params: ByQueue::all(params.clone()),
            queues: vec![queue; queues],
            sent: vec![0; environment.port_rates.len()],
            full_packet: environment.full_packet.into(),
            congested: vec![1.0; environment.queues_per_port as usize],
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

impl ActiveBufferManagement {
    /// 1 / n_p * mu / b.
    fn share(&self, queue: usize, queue_class: usize) -> f64 {
        self.queues[queue].drain / self.congested[queue_class]
    }

    /// T for an arrival, rounded down to a byte.
    fn limit(&self, arrival: &Arrival, buffer: &Buffer) -> u64 {
        let queue_class = usize::from(arrival.queue_class);
        let params = self.params.of(arrival.queue);
        let alpha = if arrival.first_rtt {
            params.alpha_first_rtt
        } else {
            of_queue_class(&params.alpha, arrival.queue_class)
        };
        let is_scaled = !arrival.first_rtt || params.first_rtt_is_scaled;
        let share = if is_scaled { self.share(arrival.queue as usize, queue_class) } else { 1.0 };
        (alpha * share * buffer.free() as f64) as u64
    }

    /// Stops counting the port's bytes for a queue in which no packet waits any more.
    fn settle(&mut self, queue: QueueId, buffer: &Buffer) {
        let state = &mut self.queues[queue as usize];
        if buffer.packets(queue) == 0 && state.waits_from < u64::MAX {
            state.port_sent += self.sent[buffer.port_of(queue) as usize] - state.waits_from;
            state.waits_from = u64::MAX;
        }
    }

    /// Measures mu / b over the interval that ends now, and begins a new interval.
    fn measure_drain(&mut self, buffer: &Buffer) {
        let least = 1.0 / f64::from(buffer.queues_per_port());
        let &ActiveBufferManagementParams { drain, interval, .. } = self.params.common();
        for (queue, state) in (0..).zip(&mut self.queues) {
            let port = buffer.port_of(queue);
            if state.waits_from < u64::MAX {
                let sent = self.sent[port as usize];
                state.port_sent += sent - std::mem::replace(&mut state.waits_from, sent);
            }
            state.drain = match drain {
                Drain::Share if state.dequeued == state.port_sent => 1.0,
                Drain::Share => {
                    let credited = |bytes: u64| (bytes + self.full_packet) as f64;
                    credited(state.dequeued) / credited(state.port_sent)
                }
                Drain::Interval => {
                    let sending = buffer.rate(port).time_of(state.dequeued);
                    let share = sending.ps() as f64 / interval.ps() as f64;
                    if share < least || share > 1.0 { 1.0 } else { share }
                }
            };
            (state.dequeued, state.port_sent) = (0, 0);
        }
    }

    /// Counts n_p for every queue class, with the drain rates of the interval before.
    fn count_congested(&mut self, buffer: &Buffer) {
        let queue_classes = self.congested.len();
        let free = buffer.free() as f64;
        let mut counts = vec![0.0; queue_classes];
        for (queue, state) in self.queues.iter().enumerate() {
            let queue_class = queue % queue_classes;
            let params = self.params.of(queue as QueueId);
            counts[queue_class] += match params.congestion {
                Congestion::Fractional { .. } => state.level,
                Congestion::Binary { .. } if buffer.bytes(queue as QueueId) == 0 => 0.0,
                Congestion::Binary { congested_at } => {
                    let length = f64::from(buffer.bytes(queue as QueueId));
                    let alpha = of_queue_class(&params.alpha, queue_class as u8);
                    let threshold = alpha * self.share(queue, queue_class) * free;
                    f64::from(length >= congested_at * threshold)
                }
            };
        }
        for (congested, count) in self.congested.iter_mut().zip(counts) {
            *congested = count.max(1.0);
        }
    }
}

impl Watch for ActiveBufferManagement {
    fn watches_queues(&self) -> bool {
        self.params.common().drain == Drain::Interval
    }

    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        if buffer.packets(arrival.queue) == 1 {
            let sent = self.sent[buffer.port_of(arrival.queue) as usize];
            let queue = &mut self.queues[arrival.queue as usize];
            (queue.waits_from, queue.waits_since) = (sent, arrival.now);
        }
    }

    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let state = &mut self.queues[queue as usize];
        let has_waited = now > state.waits_since || self.params.common().drain == Drain::Interval;
        if has_waited {
            state.dequeued += u64::from(size);
        } else {
            // The port sends it, but not while the queue waits.
            state.waits_from += u64::from(size);
        }
        self.sent[buffer.port_of(queue) as usize] += u64::from(size);
        self.settle(queue, buffer);
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.settle(queue, buffer);
    }

    fn period(&self) -> Option<Time> {
        Some(self.params.common().interval)
    }

    fn on_timer(&mut self, _now: Time, buffer: &Buffer) {
        self.count_congested(buffer);
        self.measure_drain(buffer);
    }
}

impl Sharing for ActiveBufferManagement {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let length = buffer.bytes(arrival.queue);
        if let Congestion::Fractional { saturation } = self.params.of(arrival.queue).congestion {
            self.queues[arrival.queue as usize].level = (f64::from(length) / saturation).min(1.0);
        }
        let length = u64::from(length) + u64::from(arrival.size);
        Admission::if_within(length <= self.limit(arrival, buffer))
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limit(arrival, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::arrival;
    use super::*;

    /// Ports of 10 Gbps (800 ps per byte) with this number of queues each; 1 MB; an interval of
    /// 25 us.
    fn abm(text: &str, ports: usize, queues_per_port: u32) -> (ActiveBufferManagement, Buffer) {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let environment = Environment { queues_per_port, ..Environment::example(ports) };
        let abm = ActiveBufferManagement::read(&mut section, &environment).unwrap();
        (abm, Buffer::new(1_000_000, environment.port_rates, queues_per_port))
    }

    fn at(us: u64, queue: QueueId, buffer: &Buffer) -> Arrival {
        let queue_class = (queue % buffer.queues_per_port()) as u8;
        Arrival { now: Time::from_us(us), queue_class, ..arrival(queue, 1000) }
    }

    /// A packet of `bytes` joins a queue.
    fn join(
        abm: &mut ActiveBufferManagement,
        buffer: &mut Buffer,
        us: u64,
        queue: u32,
        bytes: u32,
    ) {
        buffer.add(queue, bytes);
        abm.on_enqueue(&Arrival { size: bytes, ..at(us, queue, buffer) }, buffer);
    }

    fn leave(
        abm: &mut ActiveBufferManagement,
        buffer: &mut Buffer,
        us: u64,
        queue: u32,
        bytes: u32,
    ) {
        buffer.subtract(queue, bytes);
        abm.on_dequeue(Time::from_us(us), queue, bytes, buffer);
    }

    #[test]
    fn congested_queues_of_a_queue_class_share_its_buffer() {
        // Two queues of 250,000: T = 0.5 * 500,000 = 250,000, both are congested, n_p = 2.
        let (mut abm, mut buffer) = abm("", 3, 1);
        (0..2).for_each(|queue| join(&mut abm, &mut buffer, 0, queue, 250_000));
        assert_eq!(abm.threshold(&at(0, 2, &buffer), &buffer), Some(250_000));
        // For 25 us they drain at the rate of their ports: 31,250 bytes each. Then 562,500 bytes
        // are free, T = 0.5 * 562,500 = 281,250, and 218,750 is less than nine tenths of it.
        (0..2).for_each(|queue| {
            buffer.subtract_bytes(queue, 31_250);
            abm.on_dequeue(Time::from_us(20), queue, 31_250, &buffer);
        });
        abm.on_timer(Time::from_us(25), &buffer);
        assert_eq!(abm.congested, [1.0]);
        assert_eq!(abm.threshold(&at(25, 2, &buffer), &buffer), Some(281_250));
        // With 253,126 bytes each (493,748 free) T is 246,874: both are congested.
        (0..2).for_each(|queue| buffer.add(queue, 34_376));
        abm.on_timer(Time::from_us(50), &buffer);
        assert_eq!(abm.congested, [2.0]);
        assert_eq!(abm.threshold(&at(50, 2, &buffer), &buffer), Some(123_437));
    }

    #[test]
    fn a_queue_has_the_share_with_which_it_drains() {
        // The port sends 23,500 bytes, of which 8,500 leave its first queue: with one more packet
        // of 1500 bytes, 10,000 of 25,000. The other queue has 16,500 of 25,000.
        let (mut abm, mut buffer) = abm("alpha = [1.0]", 2, 2);
        (0..2).for_each(|queue| join(&mut abm, &mut buffer, 0, queue, 50_000));
        for (queue, bytes) in [(0, 8_500), (1, 15_000)] {
            abm.on_dequeue(Time::from_us(10), queue, bytes, &buffer);
        }
        abm.on_timer(Time::from_us(25), &buffer);
        let drains: Vec<f64> = abm.queues.iter().map(|queue| queue.drain).collect();
        assert_eq!(drains, [0.4, 0.66, 1.0, 1.0]);
        // 900,000 free; no queue is congested.
        assert_eq!(abm.threshold(&at(30, 0, &buffer), &buffer), Some(360_000));
        assert_eq!(abm.threshold(&at(30, 2, &buffer), &buffer), Some(900_000));
    }

    #[test]
    fn only_what_is_sent_while_something_waits_counts() {
        // A packet waits in the second queue only while the port sends 6,000 of the first queue's
        // 20,000 bytes and 4,500 of the second's: (4,500 + 1,500) of (10,500 + 1,500).
        let (mut abm, mut buffer) = abm("", 1, 2);
        join(&mut abm, &mut buffer, 0, 0, 100_000);
        abm.on_dequeue(Time::from_us(5), 0, 7_000, &buffer);
        join(&mut abm, &mut buffer, 5, 1, 4_500);
        abm.on_dequeue(Time::from_us(9), 0, 6_000, &buffer);
        leave(&mut abm, &mut buffer, 9, 1, 4_500);
        abm.on_dequeue(Time::from_us(12), 0, 7_000, &buffer);
        abm.on_timer(Time::from_us(25), &buffer);
        // The first: (20,000 + 1,500) of (24,500 + 1,500).
        let drains: Vec<f64> = abm.queues.iter().map(|queue| queue.drain).collect();
        assert_eq!(drains, [21_500.0 / 26_000.0, 0.5]);
        // In the next interval nothing is sent.
        abm.on_timer(Time::from_us(50), &buffer);
        assert_eq!((abm.queues[0].drain, abm.queues[1].drain), (1.0, 1.0));
    }

    #[test]
    fn what_leaves_in_the_moment_in_which_it_comes_does_not_count() {
        // As above: (4,500 + 1,500) of (10,500 + 1,500). Before and after, packets find an idle
        // port: with them the second queue would have 9,000 of 15,000.
        let (mut abm, mut buffer) = abm("", 1, 2);
        let pass = |abm: &mut ActiveBufferManagement, buffer: &mut Buffer, us| {
            join(abm, buffer, us, 1, 1_500);
            leave(abm, buffer, us, 1, 1_500);
        };
        pass(&mut abm, &mut buffer, 1);
        join(&mut abm, &mut buffer, 5, 0, 6_000);
        join(&mut abm, &mut buffer, 5, 1, 4_500);
        leave(&mut abm, &mut buffer, 9, 0, 6_000);
        leave(&mut abm, &mut buffer, 9, 1, 4_500);
        pass(&mut abm, &mut buffer, 15);
        abm.on_timer(Time::from_us(25), &buffer);
        // The first: (6,000 + 1,500) of (6,000 + 1,500), since it was empty when the second left.
        assert_eq!((abm.queues[0].drain, abm.queues[1].drain), (1.0, 0.5));
    }

    #[test]
    fn the_whole_interval_may_count() {
        // 31,250 bytes could leave in 25 us. With two queues the least share is one half: the share
        // of 20,000 bytes counts, that of 10,000 does not.
        for (left, expected) in [(20_000, 0.64), (10_000, 1.0)] {
            let (mut abm, mut buffer) = abm("drain = \"interval\"", 1, 2);
            join(&mut abm, &mut buffer, 5, 0, left);
            leave(&mut abm, &mut buffer, 15, 0, left);
            abm.on_timer(Time::from_us(25), &buffer);
            assert_eq!((abm.queues[0].drain, abm.watches_queues()), (expected, true));
        }
    }

    #[test]
    fn congestion_may_be_a_fraction() {
        // The last arrivals found queues of 14,000, 70,000 and 0 bytes: n_p = 0.5 + 1 + 0.
        let (mut abm, mut buffer) = abm("congestion = \"fractional\"", 3, 1);
        (0..2).for_each(|queue| {
            join(&mut abm, &mut buffer, 0, queue, [14_000, 70_000][queue as usize])
        });
        (0..3).for_each(|queue| _ = abm.admit(&at(0, queue, &buffer), &buffer));
        assert_eq!(abm.congested, [1.0]);
        abm.on_timer(Time::from_us(25), &buffer);
        assert_eq!(abm.congested, [1.5]);
    }

    #[test]
    fn first_packets_have_an_alpha_of_their_own() {
        // With 20,000 bytes free, alpha = 64 gives 1,280,000 and alpha = 0.5 gives 10,000; two
        // queues are congested.
        for (text, expected) in
            [("", [1_280_000, 5_000]), ("first_rtt = \"scaled\"", [640_000, 5_000])]
        {
            let (mut abm, mut buffer) = abm(text, 2, 1);
            (0..2).for_each(|queue| join(&mut abm, &mut buffer, 0, queue, 490_000));
            abm.on_timer(Time::from_us(25), &buffer);
            let ordinary = at(30, 0, &buffer);
            let first = Arrival { first_rtt: true, ..ordinary };
            let limits = [first, ordinary].map(|a| abm.threshold(&a, &buffer).unwrap());
            assert_eq!(limits, expected, "{text}");
        }
    }
}
