//! MQ-ECN: each queue of a round-robin port is marked from a threshold that follows its share of
//! the line.
//!
//! The longer a round of all queues takes, the less of the line a queue gets, and the shorter the
//! queue that suffices.
//!
//! # Reference
//! W. Bai, L. Chen, K. Chen, H. Wu, "Enabling ECN in multi-service multi-queue data centers",
//! USENIX NSDI 2016.
//! <https://www.usenix.org/conference/nsdi16/technical-sessions/presentation/bai>
//! Where the formula leaves the estimate of a round open, the rules are those of the authors'
//! published ns-2 program.
//!
//! # Rule
//! Mark iff q > K_i on arrival, K_i = min(quantum_i / T_round, C) RTT lambda. q: the bytes in queue
//! i, without the packet in transmission and without the arriving one; quantum_i: the bytes that
//! the scheduler lets queue i send in a turn; C: the port's rate; RTT: `rtt`; lambda: `lambda`.
//! - T_round = alpha T_round + (1 - alpha) T_sample (`alpha`), of each port, and 0 at first.
//! - A queue's turn ends when the scheduler goes on to another turn, or when its last packet, which
//!   leaves it empty, has been sent. T_sample is then the time since the end of its turn before, or
//!   since it got its first packet if that was later.
//! - While all queues are empty and nothing is being sent, T_round = alpha T_round for each time
//!   that `idle_step` bytes would take.
//!
//! # Departures from the paper
//! None known in the formula. Of the authors' program:
//! - it counts the arriving packet in q, and this one does not, as the other AQMs here do not: a
//!   queue that has the line to itself is marked as by `ecn` with K = C RTT lambda;
//! - its line is idle from the moment when the last packet begins to be sent, here from its end;
//! - it can mark packets when they leave, this one cannot;
//! - its scheduler ends a queue's turn as soon as the queue is empty. `dwrr` goes on with the turn
//!   if another packet comes before the last one has been sent; the sample is then taken at the
//!   end.
//!
//! `idle = "reset"` forgets T_round after one step.
//!
//! # Scope and limitations
//! Schedulers `rr` and `dwrr`, with several queues for each port. With `rr` the quantum is a full
//! packet, so queues of smaller packets are taken to get more than they do, and a packet that is
//! dropped at the head of its queue uses a turn. A turn in which nothing is sent, because the
//! quantum is less than a packet, is a turn. Packets that are not ECN-capable pass
//! (`not_ect = "drop"` refuses them instead).
//!
//! # In composition
//! A tagger's levels are served in turn here, which a run warns of, since strict priority is
//! refused. Acks in a queue of their own are not marked, but their turns count in T_round. Where a
//! sharing policy refuses queues of less than K_i, packets are lost before any is marked.
//!
//! # Validation
//! Rounds, thresholds and idle times by hand (below), the same marks as a second, naive
//! implementation beside both schedulers (`tests/naive_mq_ecn.rs`), and the thresholds of queues
//! with weights 2:1:1 in runs of DCTCP (`tests/analytic.rs` of spillway-net).
//!
//! # Cost
//! A multiplication and two comparisons for every arrival, an average for every turn; 8 bytes for
//! every queue, 72 for every port.

use super::ecn::read_not_ect;
use super::{Aqm, AqmSample, Sending};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Arrival, Verdict, Watch};
use crate::scheduling::{Named, Scheduling};
use spillway_engine::{Rate, Time};
use spillway_settings::{Range, Section, SettingsError};
use std::sync::Arc;

/// How thresholds follow from rounds, and rounds are averaged.
#[derive(Clone, Debug)]
pub struct MqEcnParams {
    /// RTT lambda, in picoseconds, above 0.
    delay: f64,
    /// The weight of the previous average T_round, from 0 to below 1.
    alpha: f64,
    /// The share of T_round that is left after 0, 1, 2, ... steps on an idle line. After more
    /// steps, nothing is left.
    kept: Arc<[f64]>,
    /// The bytes whose transmission time is one step of forgetting on an idle line, above 0.
    idle_step: u64,
    /// What happens to a packet that is to be marked. If it cannot be marked, it passes or is lost.
    verdict: Verdict,
}

/// What is known of a port.
#[derive(Clone, Debug)]
struct Port {
    /// C RTT lambda, in bytes.
    most: f64,
    /// T_round, in picoseconds.
    round: f64,
    rate: Rate,
    /// The duration of a step of forgetting, above 0.
    step: Time,
    /// When everything that has left its queues will have been sent.
    free_at: Time,
    /// The queue whose turn it is, or was.
    turn: QueueId,
    /// Whether that turn has ended because the queue is empty.
    is_over: bool,
    /// If the turn ended because the queue is empty: T_round and the queue's `since` from before
    /// that end.
    before: (f64, Time),
}

/// MQ-ECN.
#[derive(Clone, Debug)]
pub struct MqEcn {
    params: MqEcnParams,
    /// For each queue, quantum_i RTT lambda, in bytes times picoseconds.
    shares: Vec<f64>,
    ports: Vec<Port>,
    /// For each queue, the end of its last turn, or when it got its first packet since.
    since: Vec<Time>,
}

impl Policy for MqEcn {
    const ID: &'static str = "mq-ecn";
    const SUMMARY: &'static str = "MQ-ECN: ECN with thresholds by each queue's share of the line";
    const CITATION: &'static str =
        "Bai et al.: Enabling ECN in Multi-Service Multi-Queue Data Centers, NSDI 2016";

    const CHANGES: &'static [&'static str] = &["rtt", "lambda"];
    const CHANGES_BY_PORT: bool = true;

    type Params = MqEcnParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<MqEcnParams, SettingsError> {
        check_turns(Self::ID, section, environment)?;
        let meaning =
            "the round trip by which thresholds are chosen (RTT); by default the base RTT";
        let rtt = section.optional("rtt", |section| section.positive_time("rtt", "", meaning))?;
        let rtt = rtt.unwrap_or(environment.base_rtt);
        let meaning = "the share of a bandwidth-delay product that a queue needs";
        let lambda = section.number("lambda", 1.0, Range::Positive, meaning)?;
        let meaning = "the weight of former rounds in the time of a round";
        let alpha = section.number("alpha", 0.75, Range::Within(0.0, 0.999), meaning)?;
        let meaning = "what becomes of the time of a round while the line is idle, after each step";
        let resets = section.choice("idle", &[("decay", false), ("reset", true)], meaning)?;
        let meaning = "bytes whose time on the line is a step of idleness (T_idle)";
        let idle_step = section.positive_size("idle_step", "1500B", meaning)?;
        let verdict = read_not_ect(section, Verdict::Mark)?;
        let delay = rtt.ps() as f64 * lambda;
        let kept = if resets { [1.0].into() } else { powers(alpha) };
        Ok(MqEcnParams { delay, alpha, kept, idle_step, verdict })
    }

    fn new(params: &MqEcnParams, environment: &Environment) -> Self {
        let Environment { queues_per_port, full_packet, ref service, .. } = *environment;
        let share = |queue_class| {
            let quantum = service.scheduling.quantum(queue_class, full_packet);
            quantum.expect("`params` refuses schedulers without turns") as f64 * params.delay
        };
        let port = |&rate: &Rate| Port {
            most: params.delay / rate.nominal().ps_per_byte(),
            round: 0.0,
            rate,
            step: rate.nominal().byte_time().saturating_time_of(params.idle_step),
            free_at: Time::ZERO,
            turn: 0,
            is_over: true,
            before: (0.0, Time::ZERO),
        };
        let of_port: Vec<f64> = (0..queues_per_port as u8).map(share).collect();
        MqEcn {
            params: params.clone(),
            shares: of_port.repeat(environment.port_rates.len()),
            ports: environment.port_rates.iter().map(port).collect(),
            since: vec![Time::ZERO; environment.queues()],
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        for place in adoption.ports() {
            self.ports[place as usize].most = fresh.ports[place as usize].most;
            for queue in adoption.buffer.queues_of(place) {
                self.shares[queue as usize] = fresh.shares[queue as usize];
            }
        }
        if adoption.port.is_none() {
            self.params = fresh.params;
        }
    }
}

/// Refuses an AQM that watches turns if the scheduler has no turns or ports have a single queue.
///
/// # Errors
/// If ports have no turns.
pub fn check_turns(
    aqm: &str,
    section: &Section,
    environment: &Environment,
) -> Result<(), SettingsError> {
    let scheduling = &environment.service.scheduling;
    if scheduling.quantum(0, environment.full_packet).is_none() {
        let id = scheduling.id();
        let problem = format!(
            "{aqm:?} is not valid where queues are served by {id:?}, which has no turns; it needs rr or dwrr"
        );
        let hint = "`tcn` marks by the time waited, whatever the scheduler";
        return Err(section.conflict("kind", problem).hint(hint));
    }
    if environment.queues_per_port == 1 {
        let problem = format!(
            "{aqm:?} needs several queues for each port (queues_per_port); with one there are no rounds"
        );
        return Err(section.conflict("kind", problem).hint("`ecn` marks a single queue"));
    }
    Ok(())
}

impl MqEcn {
    /// Whether q > K_i. Both sides are multiplied by T_round, so that T_round may be 0.
    #[inline(always)]
    fn exceeds(&self, bytes: u32, queue: QueueId, port: &Port) -> bool {
        let bytes = f64::from(bytes);
        bytes > port.most || bytes * port.round > self.shares[queue as usize]
    }
}

/// alpha^n for n = 0, 1, 2, ... as long as more than a picosecond of a second is left after n
/// steps.
fn powers(alpha: f64) -> Arc<[f64]> {
    std::iter::successors(Some(1.0), |kept| Some(kept * alpha))
        .take_while(|kept| *kept > 1e-12)
        .collect()
}

/// A time as a number. No run takes half of the range, so the sign does not matter.
#[inline(always)]
fn picoseconds(time: Time) -> f64 {
    time.ps() as i64 as f64
}

impl Watch for MqEcn {
    fn watches_queues(&self) -> bool {
        true
    }

    #[inline]
    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        let &Arrival { now, queue, .. } = arrival;
        if buffer.packets(queue) == 1 {
            let since = &mut self.since[queue as usize];
            *since = now.max(*since);
        }
    }
}

impl Aqm for MqEcn {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let queue = arrival.queue;
        let port = &self.ports[buffer.port_of(queue) as usize];
        let exceeds = self.exceeds(buffer.bytes(queue), queue, port);
        if exceeds { self.params.verdict } else { Verdict::Pass }
    }

    fn passes_idle_ports(&self) -> bool {
        // An empty queue is over no threshold.
        true
    }

    fn marks_from(&self, _environment: &Environment) -> Option<(&'static str, u64)> {
        let least = self.ports.iter().map(|port| port.most).reduce(f64::min)?;
        Some(("rtt", (least as u64).saturating_add(1)))
    }

    fn sample(&self, now: Time, queue: QueueId, buffer: &Buffer) -> Option<AqmSample> {
        let mut port = self.ports[buffer.port_of(queue) as usize].clone();
        port.wakes(now, &self.params.kept);
        let share = self.shares[queue as usize];
        let threshold = (share / port.round).min(port.most) as u64;
        let (min_bytes, max_bytes) = (Some(threshold), Some(threshold));
        Some(AqmSample { min_bytes, max_bytes, ..AqmSample::default() })
    }

    fn watches_turns(&self) -> bool {
        true
    }

    fn on_vain_turn(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        let port = &mut self.ports[buffer.port_of(queue) as usize];
        if !port.wakes(now, &self.params.kept) {
            port.turns_to(now, queue, self.params.alpha, &mut self.since, buffer);
        }
        (port.turn, port.is_over) = (queue, false);
    }

    #[inline(always)]
    fn on_send(&mut self, sending: &Sending, buffer: &Buffer) {
        let &Sending { now, port, queue, size, begins } = sending;
        let port = &mut self.ports[port as usize];
        if port.wakes(now, &self.params.kept) {
            // No earlier turn goes on.
        } else if begins {
            port.turns_to(now, queue, self.params.alpha, &mut self.since, buffer);
        } else if port.is_over && port.turn == queue {
            // The queue has got another packet in time: its turn goes on.
            (port.round, self.since[queue as usize]) = port.before;
        }
        let since = &mut self.since[queue as usize];
        let takes = port.rate.time_of(size.into());
        port.free_at += takes;
        port.turn = queue;
        port.is_over = buffer.packets(queue) == 0;
        if port.is_over {
            port.before = (port.round, *since);
            let end = now + takes;
            port.round = sample(self.params.alpha, port.round, *since, end);
            *since = end;
        }
    }
}

impl Port {
    /// Whether the line was idle before the packet that is sent now. If so, the port forgets its
    /// rounds as far as the idle time demands. A port with a backlog is never idle.
    #[inline(always)]
    fn wakes(&mut self, now: Time, kept: &[f64]) -> bool {
        if now <= self.free_at {
            return false;
        }
        let steps = now.since(self.free_at).ps() / self.step.ps();
        self.round *= kept.get(steps as usize).copied().unwrap_or(0.0);
        self.free_at = now;
        true
    }

    /// A queue's turn begins, so the turn before has ended. `buffer` may no longer count the
    /// queue's first packet.
    #[inline(always)]
    fn turns_to(
        &mut self,
        now: Time,
        queue: QueueId,
        alpha: f64,
        since: &mut [Time],
        buffer: &Buffer,
    ) {
        if !self.is_over && (self.turn == queue || buffer.packets(self.turn) > 0) {
            let since = &mut since[self.turn as usize];
            self.round = sample(alpha, self.round, *since, now);
            *since = now;
        }
    }
}

/// T_round = alpha T_round + (1 - alpha) T_sample.
#[inline(always)]
fn sample(alpha: f64, round: f64, from: Time, to: Time) -> f64 {
    alpha * round + (1.0 - alpha) * picoseconds(to.since(from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::SchedulingPolicy;
    use crate::sharing::tests::arrival;

    /// A port of 10 Gbps with three queues, so that a packet of 1500 bytes takes 1.2 us.
    fn environment(scheduling: &str, settings: &str) -> Environment {
        let mut environment = Environment { queues_per_port: 3, ..Environment::example(1) };
        let mut section = Section::new("scheduling", settings.parse().unwrap());
        let scheduling = SchedulingPolicy::read(scheduling, &mut section, &environment);
        environment.service.scheduling = scheduling.unwrap();
        environment
    }

    /// With C RTT = 100,000 bytes and weights 2:1:1.
    fn mq_ecn(settings: &str) -> MqEcn {
        let text = format!("rtt = \"80us\"\n{settings}");
        let mut section = Section::new("aqm", text.parse().unwrap());
        let environment = environment("dwrr", "weights = [2, 1, 1]");
        MqEcn::read(&mut section, &environment).unwrap()
    }

    /// Queues with packets of these sizes.
    fn holding(packets: &[(QueueId, u32)]) -> Buffer {
        let mut buffer = Buffer::new(1_000_000, environment("rr", "").port_rates, 3);
        packets.iter().for_each(|&(queue, size)| buffer.add(queue, size));
        buffer
    }

    fn ns(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    /// The longest queue of a queue class that is not marked.
    fn threshold(policy: &mut MqEcn, queue: QueueId) -> u32 {
        let mut marks = |bytes| {
            let arrival = Arrival { queue_class: queue as u8, ..arrival(queue, 1500) };
            policy.on_arrival(&arrival, &holding(&[(queue, bytes)])) == Verdict::Mark
        };
        let (mut least, mut most) = (0, 1_000_000);
        while least < most {
            let middle = (least + most) / 2;
            if marks(middle) { most = middle } else { least = middle + 1 }
        }
        least - 1
    }

    /// A packet of 1500 bytes begins to be sent.
    fn send(policy: &mut MqEcn, now: u64, queue: QueueId, begins: bool, buffer: &Buffer) {
        policy.on_send(&Sending { now: ns(now), port: 0, queue, size: 1500, begins }, buffer);
    }

    /// Three queues that always have packets of 1500 bytes, for this many turns, and the first
    /// packet of another.
    fn full_rounds(policy: &mut MqEcn, turns: usize) {
        let buffer = holding(&[(0, 1500), (1, 1500), (2, 1500)]);
        let packets = [(0, true), (0, false), (1, true), (2, true)].into_iter().cycle();
        let (mut now, mut begun) = (0, 0);
        for (queue, begins) in packets {
            begun += usize::from(begins);
            send(policy, now, queue, begins, &buffer);
            now += 1200;
            if begun > turns {
                return;
            }
        }
    }

    #[test]
    fn a_queue_s_threshold_is_its_share_of_the_bandwidth_delay_product() {
        // A round sends 3000 + 1500 + 1500 bytes and takes 4.8 us. The shares of 10 Gbps are 3000
        // bytes in 4.8 us = 5 Gbps, and 2.5 Gbps: 50,000 and 25,000 bytes in 80 us. The third turn
        // ends at 4.8 us, and the one after it, of queue 0, at 7.2, a round after 2.4.
        let mut policy = mq_ecn("alpha = 0");
        full_rounds(&mut policy, 4);
        assert_eq!(policy.ports[0].round, 4_800_000.0);
        assert_eq!([0, 1, 2].map(|queue| threshold(&mut policy, queue)), [50_000, 25_000, 25_000]);
        let sampled = |now| {
            [0, 1, 2].map(|queue| policy.sample(ns(now), queue, &holding(&[])).unwrap().min_bytes)
        };
        assert_eq!(sampled(8_400), [Some(50_000), Some(25_000), Some(25_000)]);
        // A packet's time after the last one (alpha = 0), rounds are forgotten.
        assert_eq!(sampled(9_600), [Some(100_000); 3]);
        let mut half = mq_ecn("alpha = 0\nlambda = 0.5");
        full_rounds(&mut half, 4);
        assert_eq!([0, 1].map(|queue| threshold(&mut half, queue)), [25_000, 12_500]);
    }

    #[test]
    fn no_queue_has_more_than_the_line() {
        // Nothing is known of rounds at first. After the first turn, T_round = 2.4 us / 4 = 0.6 us:
        // 3000 bytes in 0.6 us are 40 Gbps, and 1500 are 20.
        let mut policy = mq_ecn("");
        assert_eq!([0, 1].map(|queue| threshold(&mut policy, queue)), [100_000; 2]);
        full_rounds(&mut policy, 1);
        assert_eq!(policy.ports[0].round, 600_000.0);
        assert_eq!([0, 1].map(|queue| threshold(&mut policy, queue)), [100_000; 2]);
    }

    #[test]
    fn rounds_are_averaged() {
        // Turns end at 2.4, 3.6, 4.8 and 7.2 us; the first three count from 0. T_round is 0.6 us,
        // 0.75 * 0.6 + 0.9 = 1.35, 0.75 * 1.35 + 1.2 = 2.2125, 0.75 * 2.2125 + 1.2 = 2.859375 us.
        let mut policy = mq_ecn("");
        full_rounds(&mut policy, 4);
        assert_eq!(policy.ports[0].round, 2_859_375.0);
    }

    /// Queue 0 gets its only packet at 1 us, and sends it at 10 us, after packets of queue 1.
    fn emptied() -> MqEcn {
        let mut policy = mq_ecn("alpha = 0");
        let one = holding(&[(0, 1500)]);
        policy.ports[0].free_at = ns(10_000);
        policy.on_enqueue(&Arrival { now: ns(1000), ..arrival(0, 1500) }, &one);
        send(&mut policy, 10_000, 0, true, &holding(&[(1, 1500)]));
        policy
    }

    #[test]
    fn the_turn_of_a_queue_that_is_empty_ends_with_its_last_packet() {
        // From 1 us to 11.2 us. That the next turn begins is no news.
        let mut policy = emptied();
        assert_eq!((policy.ports[0].round, policy.since[0]), (10_200_000.0, ns(11_200)));
        send(&mut policy, 11_200, 1, true, &holding(&[(1, 1500)]));
        assert_eq!((policy.ports[0].round, policy.since[0]), (10_200_000.0, ns(11_200)));
        // A packet at 13 us counts from then; one at 11.1 us, from 11.2 us.
        for (now, since) in [(11_100, 11_200), (13_000, 13_000)] {
            let mut policy = policy.clone();
            policy.on_enqueue(&Arrival { now: ns(now), ..arrival(0, 1500) }, &holding(&[(0, 9)]));
            assert_eq!(policy.since[0], ns(since));
        }
    }

    #[test]
    fn a_packet_in_time_prolongs_the_turn() {
        // Two more packets at 11 us. The first is sent at 11.2 us, in the same turn, which then
        // ends at 12.4 us because another begins: 11.4 us after 1 us.
        let (two, one) = (holding(&[(0, 1500), (0, 1500)]), holding(&[(0, 1500)]));
        let both = holding(&[(0, 1500), (1, 1500)]);
        let mut policy = emptied();
        policy.on_enqueue(&Arrival { now: ns(11_000), ..arrival(0, 1500) }, &one);
        policy.on_enqueue(&Arrival { now: ns(11_000), ..arrival(0, 1500) }, &two);
        send(&mut policy, 11_200, 0, false, &one);
        assert_eq!((policy.ports[0].round, policy.since[0]), (0.0, ns(1000)));
        send(&mut policy, 12_400, 1, true, &both);
        assert_eq!((policy.ports[0].round, policy.since[0]), (11_400_000.0, ns(12_400)));
        // In a turn of its own, the second packet's round is from 11.2 us to 12.4 us.
        let mut policy = emptied();
        send(&mut policy, 11_200, 0, true, &holding(&[]));
        assert_eq!(policy.ports[0].round, 1_200_000.0);
        // And so it is if the line was idle from 11.2 us to 20 us.
        let mut policy = emptied();
        policy.on_enqueue(&Arrival { now: ns(20_000), ..arrival(0, 1500) }, &one);
        send(&mut policy, 20_000, 0, false, &holding(&[]));
        assert_eq!(policy.ports[0].round, 1_200_000.0);
    }

    #[test]
    fn a_turn_in_which_nothing_is_sent_is_a_turn() {
        // Queue 0 has a turn at 1.2 us, after its first; at once, queue 1 has one, then queue 0
        // again. The rounds of queue 0 last 1.2 us and no time: 1.2 us / 2, and half of that. Queue
        // 1's lasts from 0 to 1.2 us: (0.6 + 1.2) / 2 before the last.
        let buffer = holding(&[(0, 1500), (1, 1500)]);
        let mut policy = mq_ecn("alpha = 0.5");
        send(&mut policy, 0, 0, true, &buffer);
        policy.on_vain_turn(ns(1200), 0, &buffer);
        assert_eq!(policy.ports[0].round, 600_000.0);
        policy.on_vain_turn(ns(1200), 1, &buffer);
        assert_eq!(policy.ports[0].round, 300_000.0);
        send(&mut policy, 1200, 0, true, &buffer);
        assert_eq!(policy.ports[0].round, 750_000.0);
    }

    #[test]
    fn an_idle_line_forgets_its_rounds() {
        let after = |settings: &str, idle_ns: u64| {
            let mut policy = mq_ecn(&format!("alpha = 0.5\n{settings}"));
            // The line is free at 5 us + 1.2 us.
            send(&mut policy, 5000, 1, true, &holding(&[]));
            policy.ports[0].round = 8.0;
            send(&mut policy, 6200 + idle_ns, 1, true, &holding(&[(1, 1500)]));
            policy.ports[0].round
        };
        // Half in each 1.2 us, the time of 1500 bytes.
        let halves = [0, 1199, 1200, 2399, 2400, 3600].map(|idle| after("", idle));
        assert_eq!(halves, [8.0, 8.0, 4.0, 4.0, 2.0, 1.0]);
        let halves = [2399, 2400].map(|idle| after("idle_step = \"3KB\"", idle));
        assert_eq!(halves, [8.0, 4.0]);
        let reset = [1199, 1200].map(|idle| after("idle = \"reset\"", idle));
        assert_eq!(reset, [8.0, 0.0]);
        // After so long that less than a picosecond of a second would be left, nothing is.
        assert_eq!(after("", 1_000_000), 0.0);
    }

    #[test]
    fn the_quantum_of_packet_by_packet_turns_is_a_full_packet() {
        // 1500 bytes in 4.8 us, whatever the queue: 25,000 bytes in 80 us.
        let mut section = Section::new("aqm", "rtt = \"80us\"\nalpha = 0".parse().unwrap());
        let mut policy = MqEcn::read(&mut section, &environment("rr", "")).unwrap();
        full_rounds(&mut policy, 4);
        assert_eq!([0, 1, 2].map(|queue| threshold(&mut policy, queue)), [25_000; 3]);
    }

    #[test]
    fn what_cannot_be_marked_passes_or_is_lost() {
        for (settings, expected) in
            [("", Verdict::Mark), ("not_ect = \"drop\"", Verdict::MarkOrDrop)]
        {
            let verdict = mq_ecn(settings).on_arrival(&arrival(0, 1), &holding(&[(0, 100_001)]));
            assert_eq!(verdict, expected);
        }
    }

    #[test]
    fn schedulers_without_turns_and_wrong_numbers_are_refused() {
        let error = |environment: &Environment, text: &str| {
            let mut section = Section::new("aqm", text.parse().unwrap());
            MqEcn::read(&mut section, environment).unwrap_err().to_string()
        };
        for id in ["strict", "fifo"] {
            assert_eq!(
                error(&environment(id, ""), ""),
                format!(
                    "aqm.kind: \"mq-ecn\" is not valid where queues are served by {id:?}, which has no \
                     turns; it needs rr or dwrr\nhint: `tcn` marks by the time waited, whatever the \
                     scheduler"
                )
            );
        }
        let single = Environment { queues_per_port: 1, ..environment("rr", "") };
        assert_eq!(
            error(&single, ""),
            "aqm.kind: \"mq-ecn\" needs several queues for each port (queues_per_port); with one there \
             are no rounds\nhint: `ecn` marks a single queue"
        );
        let dwrr = environment("dwrr", "");
        for (text, expected) in [
            ("rtt = \"0us\"", "aqm.rtt: \"0us\" is not valid; expected a time above 0"),
            ("lambda = 0", "aqm.lambda: 0 is not valid; expected a number in (0, inf)"),
            ("alpha = 1", "aqm.alpha: 1 is not valid; expected a number in [0, 0.999]"),
            ("idle = \"keep\"", "aqm.idle: \"keep\" is not valid; expected \"decay\" or \"reset\""),
            ("idle_step = \"0B\"", "aqm.idle_step: \"0B\" is not valid; expected a size above 0"),
        ] {
            let said = error(&dwrr, text);
            assert!(said.starts_with(expected), "{said}");
        }
    }
}
