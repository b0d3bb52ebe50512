//! Credence: follow Longest Queue Drop (LQD) without push-out, by consulting an oracle about which
//! packets LQD would drop.
//!
//! # Reference
//! V. Addanki, M. Pacut, S. Schmid, "Credence: Augmenting Datacenter Switch Buffer Sharing with ML
//! Predictions", USENIX NSDI 2024, section 3 (Algorithm 1).
//! <https://www.usenix.org/conference/nsdi24/presentation/addanki-credence>
//!
//! # Rule
//! T_i: the bytes that queue i would hold under LQD with the same arrivals, including this one.
//! Three tests, in this order:
//!
//! 1. Is the longest queue shorter than B / N? Then admit if Q + s <= B (the safeguard).
//! 2. Is q_i + s > T_i, or Q + s > B? Then drop.
//! 3. Does the oracle predict that LQD would drop the packet? Then drop, else admit.
//!
//! q_i: `buffer.bytes(queue)`, s: `arrival.size`, Q: `buffer.occupancy()`, B: `buffer.capacity()`,
//! N: the number of ports.
//!
//! # With push-out
//! The paper's switch cannot push out. With `push_out = true` a packet is tested although Q + s >
//! B. The safeguard, which admits what fits, then says nothing about it. If T and the oracle let it
//! in, the longest of the queues with q_j > T_j loses its last packet until Q + s <= B. If there is
//! none, it is the queue that LQD would choose; if that is the arrival's own, the arrival is
//! refused. With an oracle that accepts all packets this is LQD: its queues are the thresholds, and
//! a queue is over its own as soon as LQD pushes a packet out of it.
//!
//! # With trust in question
//! A ratio of 1.707 eta is no comfort while eta is large. With `trust = "regret"` the rule is
//! followed while its regret is small: what was lost here and not by the virtual LQD. A packet that
//! was refused because LQD was predicted to drop it counts once LQD has sent it. Regret is judged
//! after every `trust_window` packets that pass neither as acks nor by the safeguard, or as soon as
//! it exceeds the share `trust_regret` of the window, or what the fallback lost in its last one.
//! Then Dynamic Thresholds (or Harmonic: `fallback`) decide in the place of the two later tests. The
//! rule is tried again after 2, then 4, up to 64 windows, or at once where the fallback's regret was
//! no smaller. This is ours; no bound is claimed.
//!
//! With a part of the predictions turned round, mean slowdown of all flows, and flows with a timeout
//! of the 874 in 20 ms, means of three seeds. DT alone has 7.05 and 11, LQD 4.33 and none:
//!
//! | turned round | 0 | 0.1 | 0.3 | 0.5 |
//! | --- | --- | --- | --- | --- |
//! | followed always | 4.34, 0 | 43.2, 384 | 80.6, 471 | 80.3, 456 |
//! | `trust_window = 100` | 4.35, 0 | 8.7, 43 | 10.0, 38 | 7.3, 22 |
//! | 300 | 4.34, 0 | 8.3, 31 | 8.4, 27 | 9.0, 22 |
//! | 1,000 | 4.34, 0 | 9.0, 23 | 6.9, 16 | 7.3, 17 |
//! | 3,000 | 4.34, 0 | 7.5, 28 | 9.0, 26 | 7.9, 22 |
//! | 10,000 | 4.34, 0 | 12.6, 94 | 10.1, 54 | 12.6, 53 |
//!
//! `spillway compare credence --seeds 1..3 --set traffic.websearch.load=0.8 --set duration=20ms
//! --set switch.sharing=credence --set switch.sharing.trust=regret --vary
//! switch.sharing.flip_probability=0,0.1,0.3,0.5 --vary switch.sharing.trust_window=100,1000`
//!
//! In 100 ms, of 4,461 flows, DT has 14.7 and 228, LQD 6.7 and 12. With 0.3 turned round the rule
//! always followed has 144 and 2,812, with trust 14.8 and 252; with none, 6.6 and 9, and 6.4 and 10.
//! With 0.1, which is harder to tell, it has 89.7 and 2,457, with trust 16.5 and 430; a window of
//! 3,000 has 14.7 and 280 there, but more timeouts in 20 ms.
//!
//! In slots, with half of the predictions turned round, OPT / ALG falls from 1.841 to 1.001 with
//! `bernoulli` (a load of 1, a hot spot of 0.3; DT has 1.000), and from 1.629 to 1.072 with `on-off`
//! (bursts of 50; DT has 1.067). With `bursts`, where wrong predictions cost little, it rises from
//! 1.067 to 1.142 (DT has 1.366). Right predictions are never doubted: 1.000, 1.035 and 1.045, with
//! trust and without. The first is `spillway slotted run bernoulli --ports 16 --buffer 256 --set
//! arrivals.slots=100000 --set arrivals.load=1.0 --set arrivals.hotspot=0.3 --flip-probability 0.5
//! --set credence.trust=regret`; the others have `arrivals.burst=50`, and defaults.
//!
//! # Departures from the paper
//! The paper counts packets of one size in time slots; here the thresholds are the queues of a
//! virtual switch with the same ports, scheduling and sizes, as under FollowLQD. Acks and other
//! control packets that have queues of their own are neither tested nor victims (`exempt_acks`),
//! but pass the virtual switch too. `thresholds = "code"` computes thresholds as the authors'
//! program does (inet-tub/ns3-datacenter): an arrival subtracts steps of 1500 bytes from the
//! largest threshold until it fits, and adds its size to its own; a departure from the real queue
//! subtracts its size; a queue that runs empty has threshold 0; and the safeguard holds up to B /
//! N, inclusive.
//!
//! # Scope and limitations
//! `sharing_counts` of the summary counts the arrivals that were `exempt`, refused for a full
//! buffer (`buffer_full`), admitted by the `safeguard`, or refused over the `threshold`, and the
//! predictions about the others (`oracle_accepts`, `oracle_drops`), of which `oracle_flips` were
//! flipped. With `push_out` only arrivals for which no queue made room were refused for a full
//! buffer; those that were tested before are counted there as well. With `trust = "regret"` the
//! fallback decided about `fallbacks` arrivals. The virtual switch knows what LQD did with the
//! packets that the oracle was consulted about. With a drop as a positive, these are
//! `true_positives`, `false_positives`, `true_negatives` and `false_negatives`; packets that it
//! still holds at the end are in none of them. The authors' thresholds know no outcomes.
//!
//! The virtual switch has no limits on single queues, and its links do not fail. Neither it nor the
//! oracle sees what the AQM or `queue_limit` refuses.
//!
//! A `model` may serve all switches, or each switch may have its own; models may follow one another
//! in time. With `record.oracle_trace` a switch records what its virtual LQD did with each packet,
//! beside the state of the real buffer: what it can teach its next forest. If its file records the range
//! of its features in training, `oracle_outside` counts predictions outside that range, and a run
//! warns of them.
//!
//! The oracles are: `forest`, trained on what LQD drops; `trace`, which replays the outcomes that
//! the same packets had in another run (open loop only; `oracle_unknown` counts packets that the
//! trace does not have, which are taken as accepted); `smartbuf`, which takes for lost what
//! [Smartbuf](smartbuf.md), with the keys of the table `smartbuf`, would refuse at the real buffer;
//! and three that need no training: one accepts all packets, one drops all, one is random.
//!
//! # In composition
//! A forest sees the arrival's queue and the buffer, and nothing of the port's other queues, of
//! priorities, or of how senders answer. A run warns if its queues, scheduler, taggers, transports,
//! recoveries or sizes of flows are none of those that the model's file records; train a model for
//! such a scenario (docs/oracles.md). The thresholds follow the scenario by themselves: the virtual
//! LQD has the run's queues and scheduler. But under strict priority LQD takes room from worse
//! queues, which then hold more than their thresholds for as long as better ones send, and fill the
//! buffer for those; `push_out` takes that room back. Smartbuf as the oracle refuses what its limits of
//! ports refuse, also urgent packets under strict priority; with `limit = "queue"` it does not. Where a tagger puts data into the queue of
//! acks (`acks = "with-first"`), acks are tested like data, whatever `exempt_acks` says.
//!
//! # Validation
//! With an oracle that accepts or drops all packets, its decisions follow the rule, packet by
//! packet, with the queues of a real LQD as thresholds (`tests/shadow.rs`). With given predictions
//! it makes the same decisions, and the same counts of right and wrong predictions, as a second,
//! naive implementation with a virtual LQD of its own, on thousands of random arrivals
//! (`tests/naive_follow_lqd.rs`); in slots, as Algorithm 1, line by line
//! (`tests/naive_credence_slots.rs`). The former judges `trust = "regret"` as well; windows by hand
//! are in `credence/trust.rs`. With `push_out` and an oracle that accepts all packets, flows and
//! traces of fates are those of LQD; with other oracles, too, fates of the same arrivals are LQD's
//! (`tests/null.rs` of spillway-net, `tests/shadow.rs`). With the program's thresholds it makes the
//! same decisions as a third implementation (`tests/naive_credence_code.rs`). With these, packets
//! lost to a failing link do not change the thresholds, since they are no departures.
//!
//! # Cost
//! The cost of FollowLQD, and of a forest or of Smartbuf; the catalogue has the forest's. While more than B / N is held, also a check of one queue that was long at
//! the last arrival, or, if that one is no longer long, of all queues.

mod trust;

use self::trust::{Trust, TrustParams};
use super::oracle::{Oracle, OracleParams};
use super::shadow::{Prediction, ShadowLqd};
use super::victim::VictimRule;
use super::{Count, FollowLqd, LqdBeside, Sharing};
use crate::buffer::{Buffer, Length, QueueId};
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, DropReason, Victim, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};
use std::cmp::Reverse;
use std::sync::Arc;

/// The source of the thresholds, and the oracle.
#[derive(Clone, Debug)]
pub struct CredenceParams {
    /// The oracle's parameters.
    pub(super) oracle: OracleParams,
    /// Whether everything that fits is admitted while all queues are below B / N.
    has_safeguard: bool,
    /// The queue class of acks, if these are not tested.
    exempt: Option<u8>,
    /// How the virtual LQD finds the longest queue; `None` for the thresholds of the authors'
    /// program.
    lqd: Option<VictimRule>,
    /// Whether queues over their thresholds make room for a packet that is let in.
    pushes_out: bool,
    /// When the rule is followed; `None` for always.
    trust: Option<TrustParams>,
}

/// Follows LQD with an oracle's help.
#[derive(Clone, Debug)]
pub struct Credence {
    thresholds: Thresholds,
    oracle: Oracle,
    has_safeguard: bool,
    /// The length from which on a queue is too long for the safeguard, in bytes.
    share: u64,
    /// A queue that had this length when one was last searched for, if there was one.
    long: Option<QueueId>,
    exempt: Option<u8>,
    /// How the queue that makes room is found where none is over its threshold, if any makes room.
    victims: Option<VictimRule>,
    /// Whether the arrival has been let in, and a packet has just been pushed out for it.
    makes_room: bool,
    /// The rule's judge, if it is not always followed.
    trust: Option<Trust>,
    counts: Counts,
}

#[derive(Clone, Debug)]
enum Thresholds {
    Lqd(ShadowLqd),
    Code(CodeThresholds),
}

/// How often each test decided.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    exempt: u64,
    safeguard: u64,
    threshold: u64,
    buffer_full: u64,
    oracle_accepts: u64,
    oracle_drops: u64,
}

impl Policy for Credence {
    const ID: &'static str = "credence";
    const SUMMARY: &'static str = "Credence: LQD's queue lengths as thresholds, and an oracle \
                                   that predicts what LQD would drop";
    const CITATION: &'static str = "Addanki, Pacut, Schmid: Credence, NSDI 2024, Algorithm 1";

    const VARIANTS: &'static [&'static str] = &[
        "oracle = \"trace\"\ntrace = \"oracle_trace.parquet\"",
        "oracle = \"random\"",
        "oracle = \"smartbuf\"",
        "trust = \"regret\"",
    ];
    const COST: Option<Cost> = Some(Cost {
        // As for FollowLQD; in addition the average of a queue and of the buffer, and when it was
        // last updated.
        queue: State { counters: 2, times: 1, ..State::NONE },
        switch: State {
            counters: 2,
            times: 1,
            more: "the number of a long queue, 122 nodes of 4 trees",
            ..State::NONE
        },
        port: State { times: 1, more: "its scheduler once more", ..State::NONE },
        others: FollowLqd::VIRTUAL,
        // The safeguard: the occupancy, then the queue that was long, or else all queues. Then four
        // trees of depth 4, and the sum of their answers.
        arrival: FollowLqd::TEST.and(Credence::AVERAGES).and(Operations {
            searches: 1,
            comparisons: 2 + 4 * 4 + 1,
            additions: 3,
            ..Operations::NONE
        }),
        departure: Credence::AVERAGES,
        at_times: FollowLqd::AT_TIMES,
        needs: "the ports' rates and how they schedule, the base RTT, and a forest trained on what \
                LQD drops in such a network",
    });

    const CHANGES: &'static [&'static str] = &["flip_probability", "drop_probability"];

    type Params = CredenceParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<CredenceParams, SettingsError> {
        let oracle = OracleParams::read(section, environment)?;
        let meaning = "whether everything that fits is admitted while all queues are below B / N";
        let has_safeguard = section.flag("safeguard", true, meaning)?;
        let exempt = environment.exempt_acks(section)?;
        let meaning = "whether thresholds are the queues of a virtual LQD, or computed as in \
                       the authors' program";
        let is_lqd = section.choice("thresholds", &[("lqd", true), ("code", false)], meaning)?;
        let lqd = if is_lqd {
            Some(VictimRule::read(section)?)
        } else {
            section
                .needs("thresholds = \"lqd\"", &["count_arrival", "tie", "push_out", "trust"])?;
            None
        };
        let meaning = "whether queues over their thresholds make room for a packet that is let in";
        let pushes_out = is_lqd && section.extra_flag("push_out", meaning)?;
        let trust = if is_lqd { TrustParams::read(section, exempt, environment)? } else { None };
        if pushes_out && trust.is_some() {
            let problem = "push_out makes room as LQD does, and no regret is known of that";
            return Err(section.conflict("trust", problem));
        }
        Ok(CredenceParams { oracle, has_safeguard, exempt, lqd, pushes_out, trust })
    }

    fn new(params: &CredenceParams, environment: &Environment) -> Self {
        let &CredenceParams { ref oracle, has_safeguard, exempt, lqd, pushes_out, ref trust } =
            params;
        let (capacity, ports) = (environment.capacity, environment.port_rates.len().max(1) as u64);
        let (thresholds, share) = match lqd {
            Some(rule) => {
                let shadow = ShadowLqd::new(rule, exempt, environment);
                (Thresholds::Lqd(shadow), capacity.div_ceil(ports))
            }
            None => {
                let code = CodeThresholds::new(exempt, environment);
                (Thresholds::Code(code), (capacity / ports).saturating_add(1))
            }
        };
        Credence {
            thresholds,
            oracle: Oracle::new(oracle, Self::ID, environment),
            has_safeguard,
            share,
            long: None,
            exempt,
            victims: lqd.filter(|_| pushes_out),
            makes_room: false,
            trust: trust.as_ref().map(|params| Trust::new(params, environment)),
            counts: Counts::default(),
        }
    }

    fn adopt(&mut self, fresh: Self, _adoption: &Adoption) {
        self.oracle.adopt(fresh.oracle);
    }
}

impl Credence {
    /// For a queue and for the buffer: the time since the last update, the share of the difference
    /// that it leaves (from a table), and the new average.
    pub(super) const AVERAGES: Operations =
        Operations { additions: 2 * 3, multiplications: 2, look_ups: 2, ..Operations::NONE };

    /// Replaces the oracle's answers by a prediction for every arrival, in order of arrival.
    pub fn with_predictions(self, predictions: Arc<[bool]>) -> Credence {
        Credence { oracle: self.oracle.with_predictions(predictions), ..self }
    }

    /// Whether all queues to which the policy applies are shorter than B / N (with the program's
    /// thresholds: not longer).
    fn is_safe(&mut self, buffer: &Buffer) -> bool {
        let is_long = |bytes: u64| bytes >= self.share;
        if !is_long(buffer.occupancy()) {
            return true;
        }
        // A queue that was long when the last packet arrived usually still is.
        if self.long.is_some_and(|queue| is_long(buffer.bytes(queue).into())) {
            return false;
        }
        let mut tested = buffer.queues_but(self.exempt);
        self.long = tested.find(|(_, length)| is_long(length.bytes.into())).map(|(queue, _)| queue);
        self.long.is_none()
    }

    fn threshold_of(&self, queue: QueueId) -> u64 {
        match &self.thresholds {
            Thresholds::Lqd(shadow) => shadow.bytes(queue).into(),
            Thresholds::Code(code) => code.thresholds[queue as usize],
        }
    }

    /// Whether a packet may join its queue, if it fits or room is made for it.
    fn test(
        &mut self,
        arrival: &Arrival,
        threshold: u64,
        fits: bool,
        buffer: &Buffer,
    ) -> Admission {
        if self.exempt == Some(arrival.queue_class) {
            self.counts.exempt += 1;
            return Admission::Admit;
        }
        if fits && self.has_safeguard && self.is_safe(buffer) {
            self.counts.safeguard += 1;
            return Admission::Admit;
        }
        let instead = self.trust.as_mut().and_then(|trust| trust.instead(arrival, buffer));
        if let Some(decided) = instead {
            return decided;
        }
        let length = u64::from(buffer.bytes(arrival.queue)) + u64::from(arrival.size);
        if length > threshold {
            self.counts.threshold += 1;
            return Admission::Drop(DropReason::OverThreshold);
        }
        if self.predicts_drop(arrival, buffer) {
            self.counts.oracle_drops += 1;
            return Admission::Drop(DropReason::Predicted);
        }
        self.counts.oracle_accepts += 1;
        Admission::Admit
    }

    /// A packet that was let in joins its queue, or another packet makes room for it first.
    #[cold]
    fn make_room(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        self.makes_room = false;
        if u64::from(arrival.size) <= buffer.free() {
            return Admission::Admit;
        }
        let Some(queue) = self.victim(arrival, buffer) else {
            self.counts.buffer_full += 1;
            return Admission::Drop(DropReason::BufferFull);
        };
        self.makes_room = true;
        self.oracle.on_release(arrival.now, queue, buffer);
        Admission::PushOut(Victim::Tail(queue))
    }

    /// The longest of the queues with q > T, or else LQD's choice, if that is not the arrival's own.
    fn victim(&mut self, arrival: &Arrival, buffer: &Buffer) -> Option<QueueId> {
        let (Some(rule), Thresholds::Lqd(shadow)) = (self.victims, &mut self.thresholds) else {
            return None;
        };
        let port = buffer.port_of(arrival.queue);
        let is_over = |&(queue, length): &(QueueId, Length)| {
            // LQD has just looked at the arrival's own port; since then it may have sent the arrival.
            if buffer.port_of(queue) != port {
                shadow.look_at(arrival.now, queue);
            }
            length.packets > 0 && length.bytes > shadow.bytes(queue)
        };
        let over = buffer.queues_but(self.exempt).filter(is_over);
        let over = over.max_by_key(|&(queue, length)| (length.bytes, Reverse(queue)));
        let (lengths, per_port) = (buffer.queues(), buffer.queues_per_port());
        let by_lqd = || rule.longest(lengths, per_port, self.exempt, arrival.queue, arrival.size);
        let victim = over.map(|(queue, _)| queue).or_else(by_lqd);
        victim.filter(|&queue| queue != arrival.queue && buffer.packets(queue) > 0)
    }

    /// Whether LQD would drop the packet, according to the oracle.
    fn predicts_drop(&mut self, arrival: &Arrival, buffer: &Buffer) -> bool {
        let drops = self.oracle.predicts_drop(arrival, buffer);
        if let Thresholds::Lqd(shadow) = &mut self.thresholds {
            shadow.note(if drops { Prediction::Drop } else { Prediction::Accept });
        }
        drops
    }
}

impl Watch for Credence {
    /// The program lowers its thresholds with every packet that is sent.
    fn watches_queues(&self) -> bool {
        matches!(self.thresholds, Thresholds::Code(_)) || self.oracle.watches_queues()
    }

    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        if let Thresholds::Code(code) = &mut self.thresholds {
            code.on_dequeue(queue, size, buffer);
        }
        self.oracle.on_dequeue(now, queue, size, buffer);
    }

    fn on_release(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        self.oracle.on_release(now, queue, buffer);
    }

    fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.oracle.on_drop(now, queue, size, buffer);
    }
}

impl Sharing for Credence {
    fn pushes_out(&self) -> bool {
        self.victims.is_some()
    }

    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if self.makes_room {
            return self.make_room(arrival, buffer);
        }
        let threshold = match &mut self.thresholds {
            Thresholds::Lqd(shadow) => {
                if let Some(trust) = &mut self.trust {
                    trust.arrived(|| shadow.truth_at(arrival.now, buffer));
                }
                shadow.on_arrival(arrival).into()
            }
            Thresholds::Code(code) => code.on_arrival(arrival),
        };
        self.oracle.on_arrival(arrival, buffer);
        let fits = u64::from(arrival.size) <= buffer.free();
        let decided = if !fits && self.victims.is_none() {
            self.counts.buffer_full += 1;
            Admission::Drop(DropReason::BufferFull)
        } else {
            match self.test(arrival, threshold, fits, buffer) {
                Admission::Admit if !fits => self.make_room(arrival, buffer),
                tested => tested,
            }
        };
        if let (Some(trust), Admission::Drop(reason)) = (&mut self.trust, &decided) {
            trust.lost(*reason == DropReason::Predicted);
        }
        decided
    }

    fn knows_packets(&self) -> bool {
        self.oracle.knows_packets()
    }

    fn introduce(&mut self, flow: u32, seq: u64, _connection: u32) {
        self.oracle.introduce(flow, seq);
    }

    fn tests(&self, queue_class: u8) -> bool {
        self.exempt != Some(queue_class)
    }

    fn look_at(&mut self, now: Time, queue: QueueId) {
        if let Thresholds::Lqd(shadow) = &mut self.thresholds {
            shadow.look_at(now, queue);
        }
    }

    fn lqd_beside(&self) -> Option<LqdBeside> {
        match &self.thresholds {
            Thresholds::Lqd(shadow) => shadow.beside(),
            Thresholds::Code(_) => None,
        }
    }

    fn threshold(&self, arrival: &Arrival, _buffer: &Buffer) -> Option<u64> {
        Some(self.threshold_of(arrival.queue))
    }

    fn counters(&self) -> Vec<Count> {
        let Counts { exempt, safeguard, threshold, buffer_full, oracle_accepts, oracle_drops } =
            self.counts;
        let mut counters = vec![
            ("exempt", exempt),
            ("buffer_full", buffer_full),
            ("safeguard", safeguard),
            ("threshold", threshold),
            ("oracle_accepts", oracle_accepts),
            ("oracle_drops", oracle_drops),
            ("oracle_flips", self.oracle.flips()),
        ];
        if let Thresholds::Lqd(shadow) = &self.thresholds {
            let truth = shadow.truth();
            counters.extend([
                ("true_positives", truth.of(Prediction::Drop, true)),
                ("false_positives", truth.of(Prediction::Drop, false)),
                ("true_negatives", truth.of(Prediction::Accept, false)),
                ("false_negatives", truth.of(Prediction::Accept, true)),
            ]);
        }
        counters.extend(self.trust.as_ref().map(|trust| ("fallbacks", trust.fallbacks)));
        counters.extend(self.oracle.counters());
        counters.into_iter().map(|(name, n)| (name.into(), n)).collect()
    }
}

/// The thresholds of the authors' program.
#[derive(Clone, Debug)]
struct CodeThresholds {
    capacity: u64,
    thresholds: Vec<u64>,
    /// Their sum.
    total: u64,
    exempt: Option<u8>,
    queues_per_port: u32,
}

impl CodeThresholds {
    const STEP: u64 = 1500;

    fn new(exempt: Option<u8>, environment: &Environment) -> CodeThresholds {
        let queues = environment.queues();
        CodeThresholds {
            capacity: environment.capacity,
            thresholds: vec![0; queues],
            total: 0,
            exempt,
            queues_per_port: environment.queues_per_port,
        }
    }

    /// The queue with the largest threshold, the lowest of several; `None` if all are 0.
    fn largest(&self) -> Option<usize> {
        let is_exempt = |queue: usize| {
            let queue_class = queue as u32 % self.queues_per_port;
            self.exempt.is_some_and(|exempt| queue_class == u32::from(exempt))
        };
        let tested = (0..self.thresholds.len()).filter(|&queue| !is_exempt(queue));
        let largest = tested.rev().max_by_key(|&queue| self.thresholds[queue])?;
        (self.thresholds[largest] > 0).then_some(largest)
    }

    fn lower(&mut self, queue: usize, bytes: u64) {
        let bytes = bytes.min(self.thresholds[queue]);
        self.thresholds[queue] -= bytes;
        self.total -= bytes;
    }

    /// Updates the thresholds for an arrival, and returns its queue's threshold.
    fn on_arrival(&mut self, arrival: &Arrival) -> u64 {
        let size = u64::from(arrival.size);
        while self.total + size > self.capacity {
            let Some(largest) = self.largest() else { break };
            self.lower(largest, Self::STEP);
        }
        let room = self.capacity.saturating_sub(self.total);
        self.total += size.min(room);
        self.thresholds[arrival.queue as usize] += size.min(room);
        self.thresholds[arrival.queue as usize]
    }

    fn on_dequeue(&mut self, queue: QueueId, size: u32, buffer: &Buffer) {
        let bytes = if buffer.packets(queue) == 0 { u64::MAX } else { size.into() };
        self.lower(queue as usize, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival};
    use super::*;

    const PREDICTED: Admission = Admission::Drop(DropReason::Predicted);
    const FULL: Admission = Admission::Drop(DropReason::BufferFull);

    /// Four ports with one queue each share 8,000 bytes: B / N = 2,000.
    fn with(text: &str) -> (Credence, Buffer) {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let environment = Environment { capacity: 8_000, ..Environment::example(4) };
        let credence = Credence::read(&mut section, &environment).unwrap();
        (credence, Buffer::new(8_000, environment.port_rates, 1))
    }

    /// A packet of 1000 bytes arrives at time 0.
    fn one(credence: &mut Credence, buffer: &Buffer, queue: QueueId) -> Admission {
        credence.admit(&arrival(queue, 1_000), buffer)
    }

    /// `n` packets arrive, and those admitted wait.
    fn burst(
        credence: &mut Credence,
        buffer: &mut Buffer,
        queue: QueueId,
        n: usize,
    ) -> Vec<Admission> {
        let one = |_| {
            let admission = one(credence, buffer, queue);
            if admission == Admission::Admit {
                buffer.add(queue, 1_000);
            }
            admission
        };
        (0..n).map(one).collect()
    }

    #[test]
    fn the_safeguard_ends_where_a_queue_has_its_share() {
        // One packet is sent at once. With 1,000 bytes waiting the next packet is safe; with 2,000
        // the oracle is asked.
        let (mut credence, mut buffer) = with("oracle = \"always-drop\"");
        assert_eq!(one(&mut credence, &buffer, 0), Admission::Admit);
        let expected = [Admission::Admit, Admission::Admit, PREDICTED, PREDICTED];
        assert_eq!(burst(&mut credence, &mut buffer, 0, 4), expected);
        // The longest queue counts, whichever queue the packet arrives for.
        assert_eq!(one(&mut credence, &buffer, 1), PREDICTED);
        let (mut credence, buffer) = with("oracle = \"always-drop\"\nsafeguard = false");
        assert_eq!(one(&mut credence, &buffer, 0), PREDICTED);
        // The program asks the oracle only above 2,000.
        let (mut credence, mut buffer) = with("oracle = \"always-drop\"\nthresholds = \"code\"");
        let expected = [Admission::Admit, Admission::Admit, Admission::Admit, PREDICTED];
        assert_eq!(burst(&mut credence, &mut buffer, 0, 4), expected);
    }

    #[test]
    fn thresholds_are_asked_before_the_oracle() {
        // One packet is sent at once, here and by the virtual LQD. Eight wait, and both buffers are
        // full.
        let (mut credence, mut buffer) = with("oracle = \"always-accept\"");
        assert_eq!(one(&mut credence, &buffer, 0), Admission::Admit);
        let found = burst(&mut credence, &mut buffer, 0, 9);
        assert_eq!(found[..8], [Admission::Admit; 8]);
        assert_eq!(found[8], FULL);
        // Three packets arrive for port 1. Under LQD, the first pushes a packet out of queue 0 and
        // is sent; the second takes its place; the third pushes out another packet: T_0 = 6,000. As
        // many bytes wait here, so no further packet is admitted.
        buffer.subtract(0, 1_000);
        buffer.subtract(0, 1_000);
        (0..3).for_each(|_| assert_eq!(one(&mut credence, &buffer, 1), Admission::Admit));
        assert_eq!(credence.threshold_of(0), 6_000);
        assert_eq!(one(&mut credence, &buffer, 0), OVER);
        // Three packets were safe, at 0, 0 and 1,000 bytes. The oracle accepted six at 2,000 to
        // 7,000, and the last three.
        let counted: Vec<u64> = credence.counters().iter().map(|(_, n)| *n).collect();
        assert_eq!(counted[..7], [0, 1, 3, 1, 9, 0, 0]);
    }

    #[test]
    fn queues_over_their_thresholds_make_room() {
        // One packet is sent at once. Eight wait, here and under LQD: T_0 = 8,000.
        let text = "oracle = \"always-accept\"\npush_out = true";
        let (mut credence, mut buffer) = with(text);
        assert_eq!(one(&mut credence, &buffer, 0), Admission::Admit);
        assert_eq!(burst(&mut credence, &mut buffer, 0, 8), [Admission::Admit; 8]);
        // LQD refuses a ninth: 9,000 > 8,000.
        assert_eq!(one(&mut credence, &buffer, 0), OVER);
        // For one at port 1 LQD pushes a packet out: T_0 = 7,000 < 8,000, and so does this one. It is
        // asked again when the packet has gone.
        let from = |queue| Admission::PushOut(Victim::Tail(queue));
        assert_eq!(one(&mut credence, &buffer, 1), from(0));
        buffer.subtract(0, 1_000);
        assert_eq!(one(&mut credence, &buffer, 1), Admission::Admit);
        buffer.add(1, 1_000);
        // Where the real port 1 still holds that packet, LQD has sent it, and takes one for it: T_1 =
        // 1,000, and 2,000 > 1,000. At port 2, queue 0 makes room: 7,000 > T_0 = 6,000 again.
        assert_eq!(one(&mut credence, &buffer, 1), OVER);
        assert_eq!(credence.threshold_of(1), 1_000);
        assert_eq!(credence.threshold_of(0), 7_000);
        assert_eq!(one(&mut credence, &buffer, 2), from(0));
        assert_eq!(credence.threshold_of(0), 6_000);
        let counted: Vec<u64> = credence.counters().iter().map(|(_, n)| *n).collect();
        assert_eq!(counted[..7], [0, 0, 3, 2, 8, 0, 0]);
    }

    #[test]
    fn answers_may_be_turned_round() {
        let text = "safeguard = false\nflip_probability = 1.0\noracle = ";
        let (mut credence, buffer) = with(&format!("{text}\"always-drop\""));
        assert_eq!(one(&mut credence, &buffer, 0), Admission::Admit);
        let (mut credence, buffer) = with(&format!("{text}\"always-accept\""));
        assert_eq!(one(&mut credence, &buffer, 0), PREDICTED);
        assert_eq!(credence.counters()[6], ("oracle_flips".into(), 1));
        let draws = "oracle = \"random\"\ndrop_probability = 0.25\nsafeguard = false\nthresholds \
                     = \"code\"";
        let (mut credence, buffer) = with(draws);
        let drops = (0..4_000).filter(|_| credence.admit(&arrival(0, 1), &buffer) == PREDICTED);
        assert!((900..1_100).contains(&drops.count()));
    }

    #[test]
    fn the_program_cuts_the_largest_in_steps_and_follows_real_departures() {
        let (mut credence, mut buffer) = with("oracle = \"always-accept\"\nthresholds = \"code\"");
        let Thresholds::Code(code) = &mut credence.thresholds else { panic!("as was asked for") };
        (0..8).for_each(|_| _ = code.on_arrival(&arrival(2, 1_000)));
        assert_eq!((code.thresholds.as_slice(), code.total), (&[0, 0, 8_000, 0][..], 8_000));
        // 500 bytes more for queue 0 lower queue 2 by a step of 1500, though 500 would do.
        code.on_arrival(&arrival(0, 500));
        assert_eq!((code.thresholds.as_slice(), code.total), (&[500, 0, 6_500, 0][..], 7_000));
        // A departure lowers the threshold by the packet's size; the last packet's departure sets
        // it to 0.
        (0..2).for_each(|_| buffer.add(2, 1_000));
        buffer.subtract(2, 1_000);
        code.on_dequeue(2, 1_000, &buffer);
        assert_eq!(code.thresholds, [500, 0, 5_500, 0]);
        buffer.subtract(2, 1_000);
        code.on_dequeue(2, 1_000, &buffer);
        assert_eq!((code.thresholds.as_slice(), code.total), (&[500, 0, 0, 0][..], 500));
    }
}
