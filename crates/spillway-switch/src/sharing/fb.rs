//! FB, the flexible buffer: Dynamic Thresholds, shared among the congested queues of a priority.
//!
//! # Reference
//! M. Apostolaki, V. Addanki, M. Ghobadi, L. Vanbever, "FB: A Flexible Buffer Management Scheme for
//! Data Center Switches", 2021. <https://arxiv.org/abs/2105.10553>
//!
//! # Rule
//! This is a reconstruction: only the paper's abstract was available, and none of its numbers.
//!
//! T_p = alpha_p (B - Q) / n_p
//!
//! Admit iff q + s <= T_p. p: the queue class; n_p: the number of congested queues of queue class
//! p, at least 1; q: the queue's length, s: `arrival.size`, B: `buffer.capacity()`, Q:
//! `buffer.occupancy()`. A queue is congested if something waits in it and q >= c T_p, with c =
//! `congested_at`. It is looked at whenever a packet joins it, leaves it or is lost there. Until
//! then it counts as before.
//!
//! # What is left open
//! - The abstract promises isolation of priorities, and a program for a switch at line rate. The
//!   formula is that of ABM (`abm`), whose authors include these four, without the drain rate and
//!   the alpha for first packets. Whether FB has these too is not known.
//! - When a queue is congested. ABM's paper has 0.9 of the threshold, measured once in an interval.
//!   Here a queue is looked at when it changes, since this needs neither an interval nor a search.
//! - All numbers. The alphas are those of the other policies.
//!
//! # Scope and limitations
//! A queue that stops being congested raises the thresholds of the others, so that these may no
//! longer be congested either. Where queues swing by more than 1 - c of their thresholds, n_p does
//! too. All queues of a queue class count, including those of acks.
//!
//! # In composition
//! n_p counts within a queue class, over all ports. A tagger spreads flows over classes, so fewer
//! queues share a threshold, and a port may hold several times as much. Under strict priority
//! starved queues share the threshold of their own class only, but what they hold lowers all
//! thresholds. [ABM](abm.md) also lowers theirs, by their drain rates. Lists of alpha are read as
//! under [DT](dt.md).
//!
//! # Validation
//! Has the same limits, to the byte, and makes the same decisions as a second, naive implementation
//! on thousands of random cases (`tests/naive_fb.rs`). That one goes through all changes of lengths
//! from the beginning, in fractions. With a large alpha and a buffer that never fills, flows are
//! those of Complete Sharing (`tests/null.rs` of spillway-net).
//!
//! # Cost
//! A division for every packet, and two comparisons when it joins or leaves; a bit for every queue.

use super::{DynamicThresholds, Sharing, of_queue_class, room_below};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// How thresholds are set, and which queues share them.
#[derive(Clone, Debug)]
pub struct FbParams {
    /// The bytes that the congested queues of a queue class may hold together for every free byte,
    /// above 0, by queue class. The last one holds for all further ones.
    alpha: Vec<f64>,
    /// The share of its threshold from which on a queue is congested, from 0 to 1.
    congested_at: f64,
}

/// Dynamic Thresholds, shared among congested queues.
#[derive(Clone, Debug)]
pub struct Fb {
    params: ByQueue<FbParams>,
    /// Whether each queue was congested when it was last looked at.
    is_congested: Box<[bool]>,
    /// The number of congested queues, by queue class.
    congested: Box<[u32]>,
}

impl Policy for Fb {
    const ID: &'static str = "fb";
    const SUMMARY: &'static str =
        "FB: Dynamic Thresholds over the congested queues of a queue class (a reconstruction)";
    const CITATION: &'static str =
        "Apostolaki, Addanki, Ghobadi, Vanbever: FB, 2021, arXiv:2105.10553";
    const COST: Option<Cost> = Some(Cost {
        queue: State { bits: 1, ..State::NONE },
        switch: State { more: "1 counter for each queue class", ..State::NONE },
        // (q + s) n <= alpha (B - Q), and whether the queue is congested then.
        arrival: DynamicThresholds::TEST
            .and(Operations { multiplications: 1, ..Operations::NONE })
            .and(Fb::LOOK),
        departure: Fb::LOOK,
        at_times: &[("each loss", Fb::LOOK)],
        needs: "(all this is the reconstruction's: the paper's rule is not known)",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["alpha", "congested_at"];
    const CHANGES_BY_PORT: bool = true;

    type Params = FbParams;

    fn params(section: &mut Section, environment: &Environment) -> Result<FbParams, SettingsError> {
        let meaning = "bytes that the congested queues of a queue class may hold together for \
                       every free byte; by queue class where a list is given, the last holding \
                       for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 0.5, Range::Positive, meaning)?;
        let meaning = "the share of its threshold from which on a queue is congested";
        let congested_at = section.number("congested_at", 0.9, Range::Unit, meaning)?;
        Ok(FbParams { alpha, congested_at })
    }

    fn new(params: &FbParams, environment: &Environment) -> Self {
        Fb {
            params: ByQueue::all(params.clone()),
            is_congested: vec![false; environment.queues()].into(),
            congested: vec![0; environment.queues_per_port as usize].into(),
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

impl Fb {
    /// c alpha (B - Q), q n, and their comparison; whether anything waits; n.
    const LOOK: Operations = Operations {
        additions: 1,
        comparisons: 2,
        scalings: 1,
        multiplications: 1,
        ..Operations::NONE
    };

    /// alpha_p (B - Q) and n_p.
    fn pool(&self, queue: QueueId, queue_class: u8, buffer: &Buffer) -> (f64, f64) {
        let alpha = of_queue_class(&self.params.of(queue).alpha, queue_class);
        let congested = self.congested[usize::from(queue_class)].max(1);
        (alpha * buffer.free() as f64, congested.into())
    }

    /// T_p = alpha_p (B - Q) / n_p, rounded down to a byte.
    fn limit(&self, arrival: &Arrival, buffer: &Buffer) -> u64 {
        let (pool, congested) = self.pool(arrival.queue, arrival.queue_class, buffer);
        (pool / congested) as u64
    }

    /// Looks whether a queue is congested: q n_p >= c alpha_p (B - Q).
    fn look(&mut self, queue: QueueId, buffer: &Buffer) {
        let queue_class = buffer.queue_class_of(queue);
        let (pool, congested) = self.pool(queue, queue_class, buffer);
        let is_long =
            f64::from(buffer.bytes(queue)) * congested >= self.params.of(queue).congested_at * pool;
        let is = is_long && buffer.packets(queue) > 0;
        let was = std::mem::replace(&mut self.is_congested[queue as usize], is);
        let count = &mut self.congested[usize::from(queue_class)];
        *count = *count + u32::from(is) - u32::from(was);
    }
}

impl Watch for Fb {
    // A packet that passes an idle port makes its queue congested for no time at most.

    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        self.look(arrival.queue, buffer);
    }

    fn on_dequeue(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.look(queue, buffer);
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.look(queue, buffer);
    }
}

impl Sharing for Fb {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let length = u64::from(buffer.bytes(arrival.queue)) + u64::from(arrival.size);
        Admission::if_within(length <= self.limit(arrival, buffer))
    }

    fn open_below(&self, capacity: u64) -> u64 {
        let alphas = |params: &FbParams| params.alpha.iter().copied().fold(1.0, f64::min);
        let ports = self.is_congested.len() / self.congested.len();
        room_below(capacity, self.params.each().map(alphas).fold(1.0, f64::min), ports)
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limit(arrival, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival};
    use super::*;

    /// Three ports share 1,000,000 bytes.
    struct Bench {
        fb: Fb,
        buffer: Buffer,
    }

    impl Bench {
        fn new(text: &str, queues_per_port: u32) -> Bench {
            let mut section = Section::new("sharing", text.parse().unwrap());
            let environment = Environment { queues_per_port, ..Environment::example(3) };
            let fb = Fb::read(&mut section, &environment).unwrap();
            Bench { fb, buffer: Buffer::new(1_000_000, environment.port_rates, queues_per_port) }
        }

        fn arrival(&self, queue: QueueId, size: u32) -> Arrival {
            Arrival { queue_class: self.buffer.queue_class_of(queue), ..arrival(queue, size) }
        }

        /// Packets of these bytes join a queue. Returns n_p.
        fn join(&mut self, queue: QueueId, sizes: &[u32]) -> u32 {
            let class = usize::from(self.buffer.queue_class_of(queue));
            for &size in sizes {
                self.buffer.add(queue, size);
                self.fb.on_enqueue(&self.arrival(queue, size), &self.buffer);
            }
            self.fb.congested[class]
        }

        fn leave(&mut self, queue: QueueId, size: u32) -> u32 {
            self.buffer.subtract(queue, size);
            self.fb.on_dequeue(Time::ZERO, queue, size, &self.buffer);
            self.fb.congested[usize::from(self.buffer.queue_class_of(queue))]
        }

        fn limit(&self, queue: QueueId) -> Option<u64> {
            self.fb.threshold(&self.arrival(queue, 0), &self.buffer)
        }
    }

    #[test]
    fn congested_queues_share_what_one_could_have() {
        let mut bench = Bench::new("", 1);
        // T = 0.5 * 750,000 = 375,000, and 250,000 is less than 0.9 of it, 337,500.
        assert_eq!(bench.join(0, &[10_000, 240_000]), 0);
        assert_eq!(bench.limit(0), Some(375_000));
        // T = 0.5 * 500,000 = 250,000: queue 1 is congested. Queue 0 is as long, but has not
        // changed.
        assert_eq!(bench.join(1, &[25_000, 100_000, 125_000]), 1);
        assert_eq!([0, 1, 2].map(|queue| bench.limit(queue)), [Some(250_000); 3]);
        // T = 0.5 * 510,000 = 255,000, of which 0.9 are 229,500: now it is congested too.
        assert_eq!(bench.leave(0, 10_000), 2);
        assert_eq!([0, 1, 2].map(|queue| bench.limit(queue)), [Some(127_500); 3]);
        for (queue, size, expected) in
            [(0, 1, OVER), (2, 127_500, Admission::Admit), (2, 127_501, OVER)]
        {
            let given = bench.arrival(queue, size);
            assert_eq!(bench.fb.admit(&given, &bench.buffer), expected, "{queue}: {size}");
        }
        // Queue 1 with 150,000: T = 610,000 / 4 = 152,500, of which 0.9 are 137,250.
        assert_eq!(bench.leave(1, 100_000), 2);
        // With 125,000: T = 635,000 / 4 = 158,750, of which 0.9 are 142,875.
        assert_eq!(bench.leave(1, 25_000), 1);
        assert_eq!([0, 1, 2].map(|queue| bench.limit(queue)), [Some(317_500); 3]);
    }

    #[test]
    fn queue_classes_have_alphas_and_counts_of_their_own() {
        let mut bench = Bench::new("alpha = [1, 0.25]\ncongested_at = 0.5", 2);
        // T = 400,000 and then 200,000 in queue class 0: queues 0 and 2 are congested.
        assert_eq!(bench.join(0, &[600_000]), 1);
        assert_eq!(bench.join(2, &[200_000]), 2);
        assert_eq!([4, 5].map(|queue| bench.limit(queue)), [Some(100_000), Some(50_000)]);
        // In queue class 1, half of T is 0.125 * 177,778 = 22,222.25 with 22,222 bytes in queue 3,
        // and 0.125 * 177,777 = 22,222.125 with 22,223.
        assert_eq!(bench.join(3, &[20_000, 2_222]), 0);
        assert_eq!(bench.join(3, &[1]), 1);
    }

    #[test]
    fn a_queue_in_which_nothing_waits_is_not_congested() {
        let mut bench = Bench::new("", 1);
        // Nothing is free, so every threshold is 0.
        assert_eq!(bench.join(0, &[999_000, 1_000]), 1);
        bench.fb.on_drop(Time::ZERO, 1, 1_500, &bench.buffer);
        assert_eq!(*bench.fb.congested, [1]);
        // The bytes of what is in transmission may be held.
        bench.buffer.subtract_packet(0);
        bench.fb.on_dequeue(Time::ZERO, 0, 999_000, &bench.buffer);
        assert_eq!(*bench.fb.congested, [1]);
        bench.buffer.subtract_packet(0);
        bench.fb.on_drop(Time::ZERO, 0, 1_000, &bench.buffer);
        assert_eq!(*bench.fb.congested, [0]);
    }
}
