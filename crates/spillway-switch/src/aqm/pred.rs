//! PRED: RED whose slope follows the number of flows, and the utility of small trials.
//!
//! # Reference
//! X. Du, T. Li, G. Zhou, Z. Liu, H. Huang, X. Gao, M. Wang, K. Tan, K. Xu, "PRED:
//! Performance-oriented Random Early Detection for Consistently Stable Performance in Datacenters",
//! USENIX NSDI 2025, sections 2.1, 4 and appendices B and C.
//!
//! # Rule
//! Mark with p = lambda f(N) (q - min) / `lambda_unit`, at most 1; always if q >= max. q: the bytes
//! that an arrival finds in its queue, or that a packet leaves behind in it when it begins to be
//! sent, without itself (`marks_at = "departure"`).
//! - Flow Concurrent Stabilizer (FCS): N = max(n_last, n), at least 1. n: the port's flows in this
//!   period of `t_fcs`; n_last: in the last one. f(N) = N (`f`).
//! - Queue Length Adjuster (QLA): U = beta R / C + (1 - beta) Phi(mean queue), over periods of
//!   `t_qla`. Phi(q) is 1 up to `q_left`. Beyond, with x = (`phi_end` - q) / (`phi_end` - `q_left`),
//!   at least 0, it is x (`phi = "linear"`), x^2 (`"square"`), or `q_left` / q, which never reaches 0
//!   (`"reciprocal"`). In four trials it tries lambda + delta, lambda - delta, lambda - delta,
//!   lambda + delta. U1 > U2 and U4 > U3: lambda + delta from then on. U1 < U2 and U4 < U3:
//!   lambda - delta. Else lambda stays. Where lambda would fall below `lambda_min` it stays there, and
//!   min moves by `min_step` instead.
//!
//! # One queue for each port
//! With `scope = "port"` q is what all queues of the port hold, R and the mean queue are those of the
//! port, too, and all queues of a port have one setting. So N, which counts the flows of the port,
//! is of the flows that make up q.
//!
//! # Presets
//! `preset = "paper"` is the text: a trial is a period of 5 base RTTs. DCTCP answers a new lambda
//! more slowly: its estimate of marks remembers 16 round trips, and with two flows at 10 Gbps the
//! queue follows within some 50. What is measured in a trial is then what the setting before has
//! done. A response that lags behind by more than a quarter of the cycle of four trials gives the
//! smaller lambda the credit for the short queue that the larger one has made: lambda falls to its
//! least, and min rises without bound. With 2, 4 and 8 endless flows at 10 Gbps and 10 us for each link the
//! mean queue from 100 to 200 ms is 174, 211 and 243 packets, where flow counting alone has 26, 26
//! and 28.
//!
//! `preset = "settled"`, the default, departs from the text in this:
//! - A trial lasts `trial_rtts` round trips, each of the base RTT and the wait in the queue, and the
//!   first `settle_rtts` of them are left out. It is measured in periods of `t_qla`; one without a
//!   packet is left out (`idle`). Utilities that differ by `tolerance` or less are alike.
//! - Where the trials disagree, noise outweighs what a step of lambda does, and another rule decides
//!   (`decides`). If the least queue of a period is above `q_left` on average, the queue never
//!   drains, and marks cost nothing: lambda + delta. Else, if the line is in use for less than the
//!   share `busy` of the periods that count, bursts come and go whatever is marked: lambda - delta.
//!   Else lambda and min go back to where they began, if they are below.
//! - A busy line does not take lambda below its start.
//! - min rises to 15 packets at most (`min_max`), and lambda to 0.3 (`lambda_max`): a higher min costs
//!   short flows at light loads, and steeper slopes cost them more than the shorter queue saves.
//! - Long queues cost more: beta is 0.25, Phi falls as a square (`phi`), and `q_left` is 14.5 packets.
//!
//! # Departures from the paper
//! The paper leaves open, and a parameter settles here:
//! - the unit of lambda (`lambda_unit`): the example of section 2.1 reads as per MB, but the queues
//!   of section 6 are those of about ten times that;
//! - the shape of Phi, a picture in the paper (`phi`);
//! - how far lambda and min may rise (`lambda_max`, `min_max`), how min is tried (`min_trials`).
//!   Once min is back at its start and marking more is better, lambda moves again;
//! - where Phi ends (`phi_end`, by default `max`): "q_left" suggests a right end of its own;
//! - whether the mean queue is one over time or over arrivals (`mean`), and what a period without a
//!   packet means (`idle`);
//! - whether R and the queue are a queue's or a port's (`qla_scope`);
//! - whether a packet is marked as it arrives or as it leaves (`marks_at`). FCS counts arrivals,
//!   and QLA measures the queue, in the same way for both; a packet that leaves is marked by N and
//!   by the setting of that moment.
//!
//! With q = max everything is marked; equation (5) does so above max only, and has the line at max.
//!
//! `plane = "control"` is the testbed's: what is read takes 5 to 12 ms, a new setting another 80 to
//! 110 ms until it marks. `table_step` marks by a table of queue lengths and flows, as a switch
//! without a divider does (appendix C.1).
//!
//! # Scope and limitations
//! Flows are told apart by their numbers, as if no two five-tuples had the same hash; where
//! connections stay open (`transport.connections`), those of a connection count as one. A period of
//! the bitmap begins at a multiple of `t_fcs`. The bitmap's hash has no salt: a flow's place
//! follows from its number alone, so two flows that share a place share it at every port and
//! switch, in every period and with every seed. Where flows have the same numbers with all seeds,
//! what the bitmap misses is one draw, and does not show in how seeds differ. Algorithm 1
//! (`counter = "hashes"`) never clears its places: in every period the hash that an earlier one
//! left swallows a flow with a probability of about 2^-(`hash_bits` - log2 `places`), which 32 bits
//! make negligible. The packet that opens a period is not counted, so a flow without another packet
//! in that period is missed. With `qla_scope = "port"` and queues of their own for acks, R is off
//! by how much the acks that wait have changed in the period.
//!
//! # In composition
//! N counts the flows of a port, and marks are by a queue's own length, so with data in several
//! queues a queue is marked for the flows of others, too. Under strict priority the R of a worse
//! queue is what better ones leave, and the adjuster of that queue (`qla_scope = "queue"`) follows
//! the scheduler and not its own trials. A run warns of both; `fcs = false` and `qla_scope = "port"`
//! avoid them. `scope = "port"` keeps N and avoids both: the queues of a port
//! are marked as one, by the line that they share. Then a packet may be marked for others that wait
//! in worse queues.
//!
//! # Validation
//! Counters, utility and decisions by hand (below, `pred/counter.rs`, `pred/adjuster.rs`), and the
//! same settings and, where p is 0 or 1, the same marks as a second, naive implementation
//! (`tests/naive_pred.rs`).
//!
//! # Cost
//! A hash for a packet of another flow than the last one's, and a random number where p is between
//! 0 and 1; 128 bits for a port's bitmap and its count, and four utilities for every queue.

mod adjuster;
pub mod counter;
mod keys;

use super::ecn::read_not_ect;
use super::moment::{LeftBehind, Moment};
use super::{Aqm, AqmSample, Scope, bytes_of, finite};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Adoption, Environment, Policy, Refusal};
use crate::policy::{Arrival, Departure, Verdict, Watch};
use adjuster::{Adjuster, Measured, Place, Setting};
use counter::Counter;
use keys::{
    Fcs, Growth, Qla, READING, Steps, WRITING, read_fcs, read_preset, read_qla, read_steps,
};
use spillway_engine::{Stream, Time};
use spillway_settings::{Range, Section, SettingsError};
use std::sync::Arc;

/// How a queue is marked.
#[derive(Clone, Debug)]
pub struct PredParams {
    first: Setting,
    /// Bytes of the unit of lambda, above 0.
    lambda_unit: f64,
    max: u64,
    full_packet: f64,
    fcs: Option<Fcs>,
    qla: Option<Qla>,
    steps: Option<Steps>,
    scope: Scope,
    moment: Moment,
    verdict: Verdict,
}

/// What an adjuster measures in a period.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Bytes that have arrived.
    arrived: u64,
    /// Bytes lost, on arrival or while they waited.
    lost: u64,
    /// Bytes that waited when the period began.
    waited: u64,
    /// Packets times time, or packets found by arrivals.
    packets: u128,
    arrivals: u64,
    /// Packets waiting, and since when; the fewest in the period.
    length: u64,
    since: Time,
    least: u64,
}

/// PRED.
#[derive(Clone, Debug)]
pub struct Pred {
    params: Arc<PredParams>,
    /// For every port, if flows are counted.
    counters: Vec<Counter>,
    /// For every queue, or for every port. Without an adjuster, there is a single one for all.
    adjusters: Vec<Adjuster>,
    sums: Vec<Sums>,
    /// The settings in force.
    live: Vec<Setting>,
    /// The settings that a slow control plane is writing, and the times from which on they are in
    /// force.
    next: Vec<Setting>,
    written: Time,
    queues_per_port: u32,
    left: LeftBehind,
    random: Stream,
    delays: Stream,
}

impl Policy for Pred {
    const ID: &'static str = "pred";
    const SUMMARY: &'static str = "PRED: RED whose slope follows flows and small trials";
    const CITATION: &'static str = "Du et al.: PRED: Performance-oriented Random Early Detection for Consistently Stable \
         Performance in Datacenters, NSDI 2025";
    const VARIANTS: &'static [&'static str] = &["counter = \"hashes\"", "table_step = \"1KB\""];

    const CHANGES: &'static [&'static str] = &["min", "max", "lambda", "beta", "q_left"];

    type Params = Arc<PredParams>;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<PredParams>, SettingsError> {
        let full_packet = f64::from(environment.full_packet);
        let is_paper = read_preset(section)?;
        let min =
            section.amount("min", "10pkt", "queue up to which nothing is marked, at first")?;
        let max = section.amount("max", "500KB", "queue from which everything is marked")?;
        let min_bytes = bytes_of(min, environment) as f64;
        let max_bytes = bytes_of(max, environment);
        if min_bytes > max_bytes as f64 {
            return Err(section.conflict("max", format!("{max} is less than min = {min}")));
        }
        let fcs = read_fcs(section, environment)?;
        let growth = fcs.as_ref().map_or(Growth::Linear, |fcs| fcs.growth);
        let default = match growth {
            Growth::Linear => 0.1,
            Growth::Root => 0.2,
            Growth::Square => 0.05,
        };
        let meaning = "rise of the probability for every `lambda_unit` of queue and f(N), at first";
        let lambda = section.number("lambda", default, Range::Positive, meaning)?;
        let meaning = "the queue for which lambda is the rise of the probability";
        let lambda_unit = section.positive_size("lambda_unit", "100KB", meaning)? as f64;
        let first = Setting { lambda, min: min_bytes / full_packet };
        let max_packets = max_bytes as f64 / full_packet;
        let scope = Scope::read_extra(section)?;
        let qla = read_qla(section, environment, is_paper, scope, first, max_packets)?;
        let steps = read_steps(section)?;
        let moment = Moment::read(section)?;
        let verdict = read_not_ect(section, Verdict::Mark)?;
        Ok(Arc::new(PredParams {
            first,
            lambda_unit,
            max: max_bytes,
            full_packet,
            fcs,
            qla,
            steps,
            scope,
            moment,
            verdict,
        }))
    }

    fn new(params: &Arc<PredParams>, environment: &Environment) -> Self {
        let ports = environment.port_rates.len();
        let counter = |fcs: &Fcs| vec![Counter::new(fcs.kind, fcs.period); ports];
        let number = match &params.qla {
            None => 1,
            Some(qla) if qla.of_port => ports,
            Some(_) => environment.queues(),
        };
        let adjuster = Adjuster::new(params.first);
        let first = match &params.qla {
            None => params.first,
            Some(qla) => adjuster.trial(&qla.rules),
        };
        let by_time = params.qla.as_ref().is_none_or(|qla| qla.by_time);
        let stream = |name| Stream::new(environment.seed, name, environment.switch.into());
        Pred {
            counters: params.fcs.as_ref().map(counter).unwrap_or_default(),
            adjusters: vec![adjuster; number],
            sums: vec![Sums::from(Time::ZERO, 0, 0, by_time); number],
            live: vec![first; number],
            next: vec![first; number],
            written: Time::MAX,
            queues_per_port: environment.queues_per_port,
            left: LeftBehind::new(params.scope, environment),
            random: stream("pred"),
            delays: stream("pred-control"),
            params: Arc::clone(params),
        }
    }

    fn check_change(from: &Arc<PredParams>, to: &Arc<PredParams>) -> Result<(), Refusal> {
        let (Setting { lambda, min }, next) = (from.first, to.first);
        let changed = [("min", min != next.min), ("lambda", lambda != next.lambda)];
        match changed.into_iter().find(|&(_, is_changed)| is_changed && from.qla.is_some()) {
            None => Ok(()),
            Some((key, _)) => Err((key, "PRED adjusts it itself; it needs qla = false".into())),
        }
    }

    fn adopt(&mut self, fresh: Self, _adoption: &Adoption) {
        if fresh.params.qla.is_none() {
            self.adjusters = fresh.adjusters;
            (self.live, self.next) = (fresh.live, fresh.next);
        }
        self.params = fresh.params;
    }
}

impl Pred {
    /// The number of the adjuster of a queue.
    #[inline]
    fn adjuster_of(&self, queue: QueueId) -> usize {
        match &self.params.qla {
            None => 0,
            Some(qla) if qla.of_port => (queue / self.queues_per_port) as usize,
            Some(_) => queue as usize,
        }
    }

    /// f(N) of a port, with N from the port's counter.
    #[inline]
    fn growth(&self, port: u32, flows: impl FnOnce(&Counter) -> u32) -> f64 {
        let Some(fcs) = &self.params.fcs else { return 1.0 };
        fcs.growth.of(flows(&self.counters[port as usize]))
    }

    /// The probability of a mark, for a queue of this length.
    #[inline]
    fn probability(
        &self,
        queue: QueueId,
        port: u32,
        bytes: u32,
        flows: impl FnOnce(&Counter) -> u32,
    ) -> f64 {
        let bytes = u64::from(bytes);
        if bytes >= self.params.max {
            return 1.0;
        }
        let Setting { lambda, min } = self.live[self.adjuster_of(queue)];
        if bytes as f64 <= min * self.params.full_packet {
            return 0.0;
        }
        let slope = lambda * self.growth(port, flows) / self.params.lambda_unit;
        let line = |bytes: u64| slope * (bytes as f64 - min * self.params.full_packet);
        match self.params.steps {
            None => line(bytes),
            Some(Steps { queue, probabilities }) => {
                let probability = line(bytes / queue * queue).clamp(0.0, 1.0);
                (probability * probabilities).round() / probabilities
            }
        }
    }

    /// What happens to a packet that is marked with this probability.
    #[inline]
    fn decide(&mut self, probability: f64) -> Verdict {
        let marks =
            probability >= 1.0 || (probability > 0.0 && self.random.uniform() < probability);
        if marks { self.params.verdict } else { Verdict::Pass }
    }

    /// Puts the settings in force that a slow control plane has written by now.
    #[inline]
    fn put_to_work(&mut self, now: Time) {
        if now >= self.written {
            self.live.copy_from_slice(&self.next);
            self.written = Time::MAX;
        }
    }

    /// Counts an arrival for the adjuster and for the counter of flows. `found` gives the packets
    /// that the arrival has found: with true at its port, with false in its queue.
    #[inline(always)]
    fn counts(&mut self, arrival: &Arrival, port: u32, found: impl FnOnce(bool) -> u64) {
        if let Some(qla) = &self.params.qla {
            let adjuster = if qla.of_port { port } else { arrival.queue };
            let sums = &mut self.sums[adjuster as usize];
            sums.arrived += u64::from(arrival.size);
            if !qla.by_time {
                let found = found(qla.of_port);
                sums.packets += u128::from(found);
                sums.arrivals += 1;
                sums.least = sums.least.min(found);
            }
        }
        if let Some(fcs) = &self.params.fcs
            && (fcs.counts_acks || !arrival.is_control)
        {
            self.counters[port as usize].count(arrival.now, arrival.flow);
        }
    }

    /// A queue has got or lost a packet.
    #[inline]
    fn changes(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        let Some(qla) = &self.params.qla else { return };
        if !qla.by_time {
            return;
        }
        if qla.of_port {
            return self.changes_of_port(now, buffer.port_of(queue), buffer);
        }
        self.sums[queue as usize].moves(now, buffer.packets(queue).into());
    }

    /// As the method above, for an adjuster of a port.
    #[inline(never)]
    fn changes_of_port(&mut self, now: Time, port: u32, buffer: &Buffer) {
        self.sums[port as usize].moves(now, packets_of_port(buffer, port));
    }
}

/// Packets in all queues of a port.
#[inline(never)]
fn packets_of_port(buffer: &Buffer, port: u32) -> u64 {
    buffer.queues_of(port).map(|queue| u64::from(buffer.packets(queue))).sum()
}

impl Sums {
    /// The sums of a period that begins now, with these bytes and packets waiting.
    fn from(now: Time, waited: u64, length: u64, by_time: bool) -> Sums {
        let least = if by_time { length } else { u64::MAX };
        Sums { waited, length, since: now, least, ..Sums::default() }
    }

    /// Adds up the queue until now. From now on the queue has this length.
    #[inline]
    fn moves(&mut self, now: Time, length: u64) {
        self.packets += u128::from(self.length) * u128::from(now.since(self.since).ps());
        (self.length, self.since) = (length, now);
        self.least = self.least.min(length);
    }
}

impl Watch for Pred {
    #[inline]
    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        self.changes(arrival.now, arrival.queue, buffer);
    }

    #[inline]
    fn on_dequeue(&mut self, now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.changes(now, queue, buffer);
    }

    fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.changes(now, queue, buffer);
        if self.params.qla.is_some() {
            let adjuster = self.adjuster_of(queue);
            self.sums[adjuster].lost += u64::from(size);
        }
    }

    fn watches_departures(&self) -> bool {
        self.params.moment == Moment::Departure
    }

    fn drops_departures(&self) -> bool {
        self.watches_departures() && self.params.verdict == Verdict::MarkOrDrop
    }

    fn on_departure(&mut self, departure: &Departure, buffer: &Buffer) -> Verdict {
        if self.params.moment == Moment::Arrival {
            return Verdict::Pass;
        }
        let &Departure { now, queue, .. } = departure;
        self.put_to_work(now);
        let left = self.left.by(departure, buffer).bytes;
        let flows = |counter: &Counter| counter.flows_at(now);
        let probability = self.probability(queue, buffer.port_of(queue), left, flows);
        self.decide(probability)
    }

    fn period(&self) -> Option<Time> {
        self.params.qla.as_ref().map(|qla| qla.period)
    }

    fn on_timer(&mut self, now: Time, buffer: &Buffer) {
        self.put_to_work(now);
        let Some(qla) = &self.params.qla else { return };
        for number in 0..self.adjusters.len() {
            let (port, bytes) = if qla.of_port {
                (number as u32, buffer.port_bytes(number as u32))
            } else {
                let queue = number as QueueId;
                (buffer.port_of(queue), u64::from(buffer.bytes(queue)))
            };
            let sums = &mut self.sums[number];
            let queue = if qla.by_time {
                sums.moves(now, sums.length);
                sums.packets as f64 / qla.period.ps() as f64
            } else {
                sums.packets as f64 / sums.arrivals.max(1) as f64
            };
            let sent = (sums.arrived + sums.waited).saturating_sub(sums.lost + bytes);
            let is_idle = sent == 0 && bytes == 0;
            let least = if sums.least == u64::MAX { 0.0 } else { sums.least as f64 };
            let measured = Measured { sent, queue, least, is_idle };
            let place = Place {
                rate: buffer.rate(port),
                period: qla.period,
                base_rtt: qla.base_rtt,
                packet: self.params.full_packet,
            };
            self.adjusters[number].end_period(measured, &place, &qla.rules);
            self.next[number] = self.adjusters[number].trial(&qla.rules);
            *sums = Sums::from(now, bytes, sums.length, qla.by_time);
        }
        if qla.is_slow {
            let mut within =
                |(least, most): (u64, u64)| least + self.delays.below(most - least + 1);
            self.written = now + Time::from_ps(within(READING) + within(WRITING));
        } else {
            self.live.copy_from_slice(&self.next);
        }
    }
}

impl Aqm for Pred {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let &Arrival { now, queue, .. } = arrival;
        let port = buffer.port_of(queue);
        self.counts(arrival, port, |of_port| {
            if of_port { packets_of_port(buffer, port) } else { u64::from(buffer.packets(queue)) }
        });
        if self.params.moment == Moment::Departure {
            return Verdict::Pass;
        }
        self.put_to_work(now);
        let found = self.params.scope.length(queue, buffer).bytes;
        let probability = self.probability(queue, port, found, Counter::flows);
        self.decide(probability)
    }

    fn passes_idle_ports(&self) -> bool {
        // What is empty, or what a packet leaves empty, is not above min.
        self.params.max > 0
    }

    fn watches_passing(&self) -> bool {
        true
    }

    #[inline(always)]
    fn on_pass(&mut self, passing: &Arrival, buffer: &Buffer) {
        self.counts(passing, buffer.port_of(passing.queue), |_| 0);
    }

    fn knows_flows(&self) -> bool {
        self.params.fcs.is_some()
    }

    fn sample(&self, now: Time, queue: QueueId, buffer: &Buffer) -> Option<AqmSample> {
        let adjuster = self.adjuster_of(queue);
        let settings = if now >= self.written { &self.next } else { &self.live };
        let Setting { lambda, min } = settings[adjuster];
        let port = buffer.port_of(queue) as usize;
        let flows = self.counters.get(port).map(|counter| counter.flows_at(now));
        let growth = match (&self.params.fcs, flows) {
            (Some(fcs), Some(flows)) => fcs.growth.of(flows),
            _ => 1.0,
        };
        let utility = self.adjusters[adjuster].utility;
        Some(AqmSample {
            min_bytes: Some((min * self.params.full_packet).round() as u64),
            max_bytes: finite(self.params.max),
            slope_per_mb: Some(lambda * growth * 1e6 / self.params.lambda_unit),
            flows,
            lambda: Some(lambda),
            utility: (!utility.is_nan()).then_some(utility),
            ..AqmSample::default()
        })
    }

    fn marks_from(&self, _environment: &Environment) -> Option<(&'static str, u64)> {
        // The adjuster never takes `min` below its start. `max` is a last protection, which need
        // not be within reach: its default, 500 KB, is more than small buffers hold.
        Some(("min", (self.params.first.min * self.params.full_packet) as u64))
    }
}

#[cfg(test)]
mod tests;
