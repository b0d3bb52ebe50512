//! Reverie: one buffer for lossy and lossless packets, with the same thresholds for both, against
//! which low-pass filtered lengths are held. So a burst passes, and a queue that lasts is limited.
//!
//! # Reference
//! V. Addanki, W. Bai, S. Schmid, M. Apostolaki, "Reverie: Low Pass Filter-Based Switch Buffer
//! Sharing for Datacenters with RDMA and TCP Traffic", USENIX NSDI 2024.
//! <https://www.usenix.org/conference/nsdi24/presentation/addanki-reverie>
//!
//! # Rule
//! T_p = alpha_p (B - Q) / n_p
//!
//! n_p = max(1, sum over the queues of queue class p of min(1, x / `saturation`))
//!
//! x <- gamma x + (1 - gamma) q when a packet leaves, then x <- min(x, q)
//!
//! Admit iff x + s <= T_p. x: the filtered length of the arrival's queue, s: `arrival.size`, q: the
//! bytes that wait in the queue, B: `buffer.capacity()`, Q: `buffer.occupancy()`.
//!
//! This is the half for lossy packets. The other one is `pfc = "reverie"`
//! (docs/scenario/switch.md): an account pauses its neighbour when x > T_p, with x the filtered
//! bytes of the account and n_p the sum over the accounts of its priority. B is what reserves and
//! headroom leave of the buffer, and Q all that lossy and lossless packets take of it, for both.
//!
//! # Departures from the paper
//! The rule is that of the authors' ns-3 program (inet-tub/ns3-datacenter), since of the paper only
//! the abstract was available. `gamma` is 0.999, as in the scripts of its experiments; the program
//! itself has 0.99. Their alphas are 1. The program differs in some ways:
//! - x is a whole number of bytes there, rounded down, so it stays up to 1 / (1 - gamma) bytes below
//!   a queue that does not change. Here it is a float.
//! - The share of a queue in n_p is brought up to date there when a packet arrives for it, here when
//!   a packet leaves it, which is when x changes.
//! - Packets that hosts tag as those of a flow's first round trip have alpha = 1024 there. Here they
//!   have `alpha_first_rtt` if it is given.
//!
//! # Scope and limitations
//! Of its own, x only grows when packets leave. A burst that comes before any of its packets has
//! left meets the threshold of an empty queue, and is limited by the buffer alone.
//!
//! # In composition
//! n_p counts within a queue class. With lossy and lossless packets in one switch, each alpha
//! competes with those of all other classes for the same free bytes. Lists of alpha are read as
//! under [DT](dt.md). Without lossless priorities the policy works, too. With lossless ones under
//! another rule, or with another `gamma` or `saturation`, the buffer has no longer one rule for all; a
//! run warns of this.
//!
//! # Validation
//! Has the same limits, and makes the same decisions as a second, naive implementation on thousands
//! of random cases (`tests/naive_reverie.rs`). That one goes through all departures from the
//! beginning, in fractions. With a large alpha and a buffer that never fills, flows are those of
//! Complete Sharing (`tests/null.rs` of spillway-net). The accounts of lossless packets are compared
//! in the same way, and in random networks nothing lossless is lost (`tests/pauses.rs` there).
//!
//! In the bundled scenario `reverie`, with seeds 1 to 3, the switch pauses 6 to 17 times, and loses
//! 1,200 to 2,600 packets of TCP. With ABM and pauses by Dynamic Thresholds, with their default
//! alphas, there are 420 to 550 pauses and 2,600 to 13,700 losses; with alpha = 1 for both, 1 to 17
//! pauses and 3,600 to 9,500 losses. Nothing was compared with the authors' program.
//!
//! # Cost
//! A multiplication and a division for every packet; a multiplication when it leaves; 8 bytes for
//! every queue.

use super::{DynamicThresholds, Sharing, of_queue_class, room_below};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::low_pass::{LowPass, LowPassParams};
use crate::policy::{Admission, Arrival, Watch};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// How thresholds are set.
#[derive(Clone, Debug)]
struct Alphas {
    /// The bytes that a queue may hold for every free byte, above 0, by queue class. The last one
    /// holds for all further ones.
    alpha: Vec<f64>,
    /// The value of alpha for packets of a flow's first round trip, if it differs.
    alpha_first_rtt: Option<f64>,
}

/// How thresholds are set, and how lengths are filtered.
#[derive(Clone, Debug)]
pub struct ReverieParams {
    alphas: Alphas,
    low_pass: LowPassParams,
}

/// Shared thresholds against which filtered lengths are held.
#[derive(Clone, Debug)]
pub struct Reverie {
    alphas: ByQueue<Alphas>,
    /// By queue.
    low_pass: LowPass,
    /// Whether a queue's bytes still count the packet that leaves it.
    holds_until_sent: bool,
}

impl Policy for Reverie {
    const ID: &'static str = "reverie";
    const SUMMARY: &'static str =
        "Reverie: low-pass filtered lengths under thresholds that congested queues share";
    const CITATION: &'static str =
        "Addanki, Bai, Schmid, Apostolaki: Reverie, NSDI 2024, usenix.org/conference/nsdi24";
    const COST: Option<Cost> = Some(Cost {
        queue: State { counters: 1, ..State::NONE },
        switch: State { more: "1 counter for each queue class", ..State::NONE },
        // (x + s) n <= alpha (B - Q).
        arrival: DynamicThresholds::TEST.and(Operations { multiplications: 1, ..Operations::NONE }),
        // x + (1 - gamma) (q - x), or q; its part of n, whose change is added.
        departure: Operations { additions: 4, comparisons: 2, scalings: 1, ..Operations::NONE },
        needs: "(for lossless packets as much again, by input port and priority)",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["alpha", "alpha_first_rtt"];
    const CHANGES_BY_PORT: bool = true;

    type Params = ReverieParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<ReverieParams, SettingsError> {
        let meaning = "bytes that the congested queues of a queue class may hold together for \
                       every free byte; by queue class where a list is given, the last holding \
                       for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 1.0, Range::Positive, meaning)?;
        let meaning = "alpha for packets of a flow's first round trip";
        let alpha_first_rtt = section.optional("alpha_first_rtt", |section| {
            section.number("alpha_first_rtt", 1.0, Range::Positive, meaning)
        })?;
        let low_pass = LowPassParams::read(section)?;
        Ok(ReverieParams { alphas: Alphas { alpha, alpha_first_rtt }, low_pass })
    }

    fn new(params: &ReverieParams, environment: &Environment) -> Self {
        let classes = environment.queues_per_port as usize;
        Reverie {
            alphas: ByQueue::all(params.alphas.clone()),
            low_pass: LowPass::new(params.low_pass, environment.queues(), classes),
            holds_until_sent: environment.service.release_at_end,
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.alphas.adopt(fresh.alphas, adoption.port, adoption.buffer);
    }
}

impl Reverie {
    /// T_p, rounded down to a byte.
    fn limit(&self, arrival: &Arrival, buffer: &Buffer) -> u64 {
        let alphas = self.alphas.of(arrival.queue);
        let alpha = match alphas.alpha_first_rtt {
            Some(alpha) if arrival.first_rtt => alpha,
            _ => of_queue_class(&alphas.alpha, arrival.queue_class),
        };
        self.low_pass.threshold(alpha, arrival.queue_class.into(), buffer.free())
    }
}

impl Watch for Reverie {
    // The filtered length of an empty queue is 0, and stays 0 when a packet passes an idle port.

    fn on_dequeue(&mut self, _now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let left = buffer.bytes(queue) - if self.holds_until_sent { size } else { 0 };
        self.low_pass.leaves(queue as usize, left.into());
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        // A link has failed, and with it all that waited is lost; or an arrival was refused.
        if buffer.packets(queue) == 0 {
            self.low_pass.leaves(queue as usize, 0);
        }
    }
}

impl Sharing for Reverie {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let length = self.low_pass.length(arrival.queue as usize) + u64::from(arrival.size);
        Admission::if_within(length <= self.limit(arrival, buffer))
    }

    fn open_below(&self, capacity: u64) -> u64 {
        let alphas = |alphas: &Alphas| {
            alphas.alpha.iter().chain(&alphas.alpha_first_rtt).copied().fold(1.0, f64::min)
        };
        let alpha = self.alphas.each().map(alphas).fold(1.0, f64::min);
        room_below(capacity, alpha, self.low_pass.most_congested())
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
        reverie: Reverie,
        buffer: Buffer,
    }

    impl Bench {
        fn new(text: &str, queues_per_port: u32, release_at_end: bool) -> Bench {
            let mut section = Section::new("sharing", text.parse().unwrap());
            let mut environment = Environment { queues_per_port, ..Environment::example(3) };
            environment.service.release_at_end = release_at_end;
            let reverie = Reverie::read(&mut section, &environment).unwrap();
            Bench {
                reverie,
                buffer: Buffer::new(1_000_000, environment.port_rates, queues_per_port),
            }
        }

        fn join(&mut self, queue: QueueId, sizes: &[u32]) {
            sizes.iter().for_each(|&size| self.buffer.add(queue, size));
        }

        fn leave(&mut self, queue: QueueId, size: u32) {
            self.buffer.subtract(queue, size);
            self.reverie.on_dequeue(Time::ZERO, queue, size, &self.buffer);
        }

        fn arrival(&self, queue: QueueId, size: u32) -> Arrival {
            Arrival { queue_class: self.buffer.queue_class_of(queue), ..arrival(queue, size) }
        }

        fn admit(&mut self, queue: QueueId, size: u32) -> Admission {
            self.reverie.admit(&self.arrival(queue, size), &self.buffer)
        }

        fn limit(&self, queue: QueueId) -> Option<u64> {
            self.reverie.threshold(&self.arrival(queue, 0), &self.buffer)
        }
    }

    #[test]
    fn a_burst_passes_and_a_queue_that_lasts_is_limited() {
        let mut bench = Bench::new("gamma = 0.5\nsaturation = \"100KB\"", 1, false);
        // Nothing has left yet: x = 0, and T is what is free.
        bench.join(0, &[100_000, 500_000, 300_000]);
        assert_eq!(bench.limit(0), Some(100_000));
        assert_eq!([100_000, 100_001].map(|size| bench.admit(0, size)), [Admission::Admit, OVER]);
        // 800,000 are left, so x = 400,000: four times what counts as one, so n = 1, T = 200,000.
        bench.leave(0, 100_000);
        assert_eq!(bench.limit(0), Some(200_000));
        assert_eq!(bench.admit(0, 1), OVER);
        // 300,000 are left, less than x. T = 700,000: 400,000 may come.
        bench.leave(0, 500_000);
        assert_eq!([400_000, 400_001].map(|size| bench.admit(0, size)), [Admission::Admit, OVER]);
        // Queue 1 with x = 50,000 counts as a half: T = 600,000 / 1.5.
        bench.join(1, &[100_000; 2]);
        bench.leave(1, 100_000);
        assert_eq!(bench.limit(2), Some(400_000));
        assert_eq!([350_000, 350_001].map(|size| bench.admit(1, size)), [Admission::Admit, OVER]);
    }

    #[test]
    fn first_packets_and_queue_classes_have_alphas_of_their_own() {
        let text = "alpha = [1, 0.25]\nalpha_first_rtt = 8\ngamma = 0\nsaturation = \"10KB\"";
        let mut bench = Bench::new(text, 2, false);
        // In queue class 0 two queues are congested, in queue class 1 none. 400,000 are free.
        for queue in [0, 2] {
            bench.join(queue, &[1_000, 300_000]);
            bench.leave(queue, 1_000);
        }
        assert_eq!([4, 5].map(|queue| bench.limit(queue)), [Some(200_000), Some(100_000)]);
        let first = Arrival { first_rtt: true, ..bench.arrival(4, 0) };
        assert_eq!(bench.reverie.threshold(&first, &bench.buffer), Some(1_600_000));
    }

    #[test]
    fn what_has_left_or_is_lost_does_not_wait() {
        // With `release_at_end` the buffer counts 1,000 bytes that are being sent.
        let mut bench = Bench::new("gamma = 0", 1, true);
        bench.join(0, &[1_000, 2_000]);
        bench.buffer.subtract_packet(0);
        bench.reverie.on_dequeue(Time::ZERO, 0, 1_000, &bench.buffer);
        assert_eq!(bench.reverie.low_pass.length(0), 2_000);
        // An arrival that is refused changes nothing; the loss of all that waits does.
        bench.reverie.on_drop(Time::ZERO, 0, 1_500, &bench.buffer);
        assert_eq!(bench.reverie.low_pass.length(0), 2_000);
        bench.buffer.subtract(0, 2_000);
        bench.reverie.on_drop(Time::ZERO, 0, 2_000, &bench.buffer);
        assert_eq!(bench.reverie.low_pass.length(0), 0);
    }
}
