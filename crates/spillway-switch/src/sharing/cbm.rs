//! CBM: every packet that fits is admitted, as under Complete Sharing. When it is about to leave,
//! it is dropped if it has waited for longer than a limit, which falls as the buffer fills.
//!
//! # Reference
//! K. Agarwal, V. Addanki, H. Mostafaei, "Dequeue Rate-Agnostic Switch Buffer Sharing through
//! Packet Queueing Delay", CoNEXT Student Workshop 2024, section 2 (equation 1).
//! <https://doi.org/10.1145/3694812.3699924>
//!
//! # Rule
//! Theta_p = alpha_p (B - Q) / (n_p b)
//!
//! On arrival everything that fits is admitted. A packet that is about to leave and has waited for
//! longer than Theta is dropped, and the scheduler chooses again. Theta is computed for each
//! packet, from the current state of the buffer. p: the queue class; n_p: the number of congested
//! queues of queue class p, at least 1; b: the rate of the port. A queue is congested if
//! anything waits in it and it holds at least `congested_at` (0.9) of its threshold alpha_p (B - Q)
//! / n_p. This is checked whenever a packet has joined or left it. Packets of a flow's first round
//! trip have `alpha_first_rtt`.
//!
//! # Delays of queues that wait for others
//! With `delay = "served"` the time in which the port sends packets of other queues that began
//! since the packet joined is not part of its wait. What is left is the time in which its own queue
//! is served, as if no other had packets: Theta then limits how many bytes may be ahead of a packet
//! in its queue, alpha_p (B - Q) / n_p.
//!
//! # What the paper leaves open
//! - Which buffer B and Q refer to: "the available buffer per port" in the text. `buffer_of =
//!   "shared"` takes the switch's buffer. `"port"` takes a port's part of it, by its rate, and the
//!   bytes of its own queues; at a leaf of the paper's network this gives a fortieth of the limit.
//! - alpha: 0.5, and 64 for first round trips, as in ABM, by the same authors.
//! - Whether acks have a limit too: `exempt_acks`. CoDel, on which the scheme is built, spares the
//!   remainder of a queue that holds no more than a full packet; `spare_last` does the same.
//! - Whether the packet in question is part of Q, or of the remainder under `spare_last`: it is
//!   not, since it has left its queue (with `release = "end"` it is still held).
//!
//! # In composition
//! Theta is the time in which the port, and not the queue, sends the free buffer. Under strict
//! priority a worse queue waits for as long as better ones send, so its packets may be late even if
//! few wait (studies/spillway_studies/cbm/paper.md); a run warns of this. Round robin makes that
//! wait shorter, and `delay = "served"` leaves out the time in which others are sent. Then alpha
//! limits the bytes ahead of a packet in its own queue, and 0.5 is little for queues that hold one
//! level each: under QCLIMB in eight strict queues, at 80% load, 1.4 for all levels halves the
//! flows with a timeout. Alphas that fall with the level as the inverse of QCLIMB's thresholds,
//! from 1.4 to 0.5, halve them only with the recovery `per-priority`, with which alphas that rise
//! add some. Where a tagger puts data into the queue of acks (`acks = "with-first"`), acks have a
//! limit like data, whatever `exempt_acks` says.
//!
//! # Validation
//! Makes the same decisions, packet by packet, as a second, naive implementation in whole numbers,
//! and as computed by hand (`tests/naive_cbm.rs`). With a large alpha flows are those of Complete
//! Sharing, to the bit (`tests/null.rs` of spillway-net).
//!
//! # Cost
//! Some additions when a packet joins a queue and when it leaves it; a byte for every queue. With
//! `delay = "served"` also a time for every packet that waits, and all packets go through their
//! queues.

use super::{Sharing, of_queue_class};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Departure, LARGEST_PACKET, Verdict, Watch};
use crate::scheduling::Scheduling;
use spillway_engine::{Rate, Time};
use spillway_settings::{Range, Section, SettingsError};
use std::collections::VecDeque;

/// The limit on waiting, and the packets that it applies to.
#[derive(Clone, Debug)]
pub struct CbmParams {
    /// The limit, in units of the time that a port takes to send the free buffer, above 0, by
    /// queue class. The last one holds for all further ones.
    alpha: Vec<f64>,
    /// The limit for packets of a flow's first round trip, in the same units.
    alpha_first_rtt: f64,
    /// The share of its threshold from which on a queue is congested, from 0 to 1.
    congested_at: f64,
    /// Whether B and Q refer to a port's part of the buffer rather than to the whole buffer.
    is_of_port: bool,
    /// The queue class of acks, if these have no limit.
    exempt: Option<u8>,
    /// With at most this many bytes behind a packet in its queue, the packet is not dropped.
    spared: Option<u32>,
    /// Whether the time in which other queues are served is left out.
    is_served: bool,
}

/// Limits how long packets wait.
#[derive(Clone, Debug)]
pub struct Cbm {
    params: ByQueue<CbmParams>,
    /// With `buffer_of = "port"`, every port's part of the buffer.
    parts: Option<Vec<u64>>,
    is_congested: Vec<bool>,
    /// n_p, by queue class.
    congested: Vec<u32>,
    /// With `delay = "served"`.
    served: Option<Served>,
}

/// How long ports have sent, and what that was when packets joined. In picoseconds.
#[derive(Clone, Debug)]
struct Served {
    uncounted_bytes: u32,
    by_port: Vec<u64>,
    by_queue: Vec<u64>,
    /// For each packet that waits, how long its port had sent from other queues.
    marks: Vec<VecDeque<u64>>,
    /// That of the packet that has left last.
    left: u64,
}

impl Served {
    fn new(environment: &Environment) -> Served {
        let queues = environment.queues();
        Served {
            uncounted_bytes: environment.service.uncounted_bytes,
            by_port: vec![0; environment.port_rates.len()],
            by_queue: vec![0; queues],
            marks: vec![VecDeque::new(); queues],
            left: 0,
        }
    }

    /// How long a queue's port has sent from others.
    fn others(&self, queue: QueueId, buffer: &Buffer) -> u64 {
        self.by_port[buffer.port_of(queue) as usize] - self.by_queue[queue as usize]
    }

    /// A packet that has left its queue is sent.
    fn sends(&mut self, departure: &Departure, buffer: &Buffer) {
        let port = buffer.port_of(departure.queue);
        let size = u64::from(departure.size) + u64::from(self.uncounted_bytes);
        let lasts = buffer.rate(port).time_of(size).ps();
        self.by_port[port as usize] += lasts;
        self.by_queue[departure.queue as usize] += lasts;
    }
}

impl Policy for Cbm {
    const ID: &'static str = "cbm";
    const SUMMARY: &'static str = "CBM: everything is admitted, and a packet that has waited too \
                                   long, given the free buffer, is dropped";
    const CITATION: &'static str =
        "Agarwal, Addanki, Mostafaei: CBM, CoNEXT-SW 2024, doi:10.1145/3694812.3699924, equation 1";
    const COST: Option<Cost> = Some(Cost {
        queue: State { bits: 1, ..State::NONE },
        switch: State { more: "1 counter for each queue class", ..State::NONE },
        others: &[("packet", State { times: 1, ..State::NONE })],
        arrival: Cbm::COUNTING,
        // How long the packet has waited, times n_p; Theta times n_p; whether the queue is empty.
        departure: Cbm::COUNTING.and(Operations {
            additions: 1,
            comparisons: 2,
            scalings: 1,
            multiplications: 1,
            ..Operations::NONE
        }),
        needs: "which packets are of a first round trip, the ports' rates; after a drop at the exit \
                the next packet at once",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["alpha", "alpha_first_rtt", "congested_at"];
    const CHANGES_BY_PORT: bool = true;

    type Params = CbmParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<CbmParams, SettingsError> {
        let meaning = "the limit on waiting, in the time that a port takes to send the free buffer; \
                       by queue class where a list is given, the last holding for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 0.5, Range::Positive, meaning)?;
        let meaning = "alpha for packets of a flow's first round trip";
        let alpha_first_rtt = section.number("alpha_first_rtt", 64.0, Range::Positive, meaning)?;
        let meaning = "the share of its threshold from which on a queue is congested";
        let congested_at = section.number("congested_at", 0.9, Range::Unit, meaning)?;
        let meaning = "what B and Q refer to: the switch's shared buffer, or a port's part of it";
        let is_of_port =
            section.choice("buffer_of", &[("shared", false), ("port", true)], meaning)?;
        let exempt = environment.exempt_acks(section)?;
        let meaning = "whether a queue that holds no more than a full packet loses none";
        let spares_last = section.flag("spare_last", false, meaning)?;
        let spared = spares_last.then_some(environment.full_packet);
        let meaning = "what a packet's delay is: its whole wait, or without the time in which its port sends \
                       from other queues";
        let delays = [("whole", false), ("served", true)];
        let is_served = section.extra_choice("delay", &delays, meaning)?;
        if is_served && environment.service.scheduling.chooses_packets() {
            let problem = "the scheduler chooses among the packets of a queue, which are then not served in turn";
            return Err(section.conflict("delay", problem));
        }
        Ok(CbmParams {
            alpha,
            alpha_first_rtt,
            congested_at,
            is_of_port,
            exempt,
            spared,
            is_served,
        })
    }

    fn new(params: &CbmParams, environment: &Environment) -> Self {
        let rates = &environment.port_rates;
        let all: u128 = rates.iter().map(|rate| u128::from(rate.bits_per_second())).sum();
        let part = |rate: &Rate| {
            let bits_per_second = u128::from(rate.bits_per_second());
            // At most the whole capacity, so it fits into 64 bits.
            (u128::from(environment.capacity) * bits_per_second / all) as u64
        };
        let queues = rates.len() * environment.queues_per_port as usize;
        Cbm {
            params: ByQueue::all(params.clone()),
            parts: params.is_of_port.then(|| rates.iter().map(part).collect()),
            is_congested: vec![false; queues],
            congested: vec![0; environment.queues_per_port as usize],
            served: params.is_served.then(|| Served::new(environment)),
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

impl Cbm {
    /// Whether a queue is congested, q n_p >= 0.9 alpha (B - Q), and n_p updated with the result.
    const COUNTING: Operations = Operations {
        additions: 1,
        comparisons: 1,
        scalings: 1,
        multiplications: 1,
        ..Operations::NONE
    };

    /// B - Q.
    fn free(&self, queue: QueueId, buffer: &Buffer) -> f64 {
        let Some(parts) = &self.parts else { return buffer.free() as f64 };
        let port = buffer.port_of(queue);
        parts[port as usize].saturating_sub(buffer.port_bytes(port)) as f64
    }

    /// n_p.
    fn congested(&self, queue_class: u8) -> f64 {
        f64::from(self.congested[usize::from(queue_class)].max(1))
    }

    /// Updates whether a queue is congested, after its length has changed.
    fn look_at(&mut self, queue: QueueId, buffer: &Buffer) {
        let queue_class = buffer.queue_class_of(queue);
        let length = f64::from(buffer.bytes(queue));
        let params = self.params.of(queue);
        let alpha = of_queue_class(&params.alpha, queue_class);
        // Multiplies by n_p instead of dividing, so that nothing is rounded.
        let reached = length * self.congested(queue_class)
            >= params.congested_at * (alpha * self.free(queue, buffer));
        let is_congested = buffer.packets(queue) > 0 && reached;
        let was = std::mem::replace(&mut self.is_congested[queue as usize], is_congested);
        let count = &mut self.congested[usize::from(queue_class)];
        *count = *count + u32::from(is_congested) - u32::from(was);
    }

    /// Whether a packet has waited for longer than Theta.
    fn is_late(&self, departure: &Departure, buffer: &Buffer) -> bool {
        let &Departure { now, queue, queue_class, first_rtt, queued_at, .. } = departure;
        let params = self.params.of(queue);
        let alpha = if first_rtt {
            params.alpha_first_rtt
        } else {
            of_queue_class(&params.alpha, queue_class)
        };
        let ps_per_byte = buffer.rate(buffer.port_of(queue)).nominal().ps_per_byte();
        let limit = alpha * self.free(queue, buffer) * ps_per_byte;
        let of_others = |served: &Served| served.others(queue, buffer) - served.left;
        let of_others = self.served.as_ref().map_or(0, of_others);
        now.since(queued_at).ps().saturating_sub(of_others) as f64 * self.congested(queue_class)
            > limit
    }
}

impl Watch for Cbm {
    fn watches_queues(&self) -> bool {
        self.served.is_some()
    }

    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        self.look_at(arrival.queue, buffer);
        if let Some(served) = &mut self.served {
            let mark = served.others(arrival.queue, buffer);
            served.marks[arrival.queue as usize].push_back(mark);
        }
    }

    fn on_dequeue(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.look_at(queue, buffer);
        if let Some(served) = &mut self.served {
            let mark = served.marks[queue as usize].pop_front();
            served.left = mark.expect("a packet that has joined the queue");
        }
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        // A link has failed, and all packets that waited for it are lost.
        if buffer.packets(queue) == 0 {
            self.look_at(queue, buffer);
            if let Some(served) = &mut self.served {
                served.marks[queue as usize].clear();
            }
        }
    }

    fn watches_departures(&self) -> bool {
        true
    }

    fn on_departure(&mut self, departure: &Departure, buffer: &Buffer) -> Verdict {
        let params = self.params.common();
        let is_spared = params.exempt == Some(departure.queue_class)
            || params.spared.is_some_and(|left| buffer.bytes(departure.queue) <= left);
        if !is_spared && self.is_late(departure, buffer) {
            return Verdict::Drop;
        }
        if let Some(served) = &mut self.served {
            served.sends(departure, buffer);
        }
        Verdict::Pass
    }
}

impl Sharing for Cbm {
    #[inline(always)]
    fn admit(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Admission {
        Admission::Admit
    }

    fn open_below(&self, capacity: u64) -> u64 {
        // A packet that has not waited is never late.
        capacity.saturating_sub(LARGEST_PACKET.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::arrival;
    use super::*;
    use crate::aqm::tests::leaving;

    /// Two ports of 10 Gbps (800 ps per byte) with this number of queues each; 1 MB.
    fn cbm(text: &str, queues_per_port: u32) -> (Cbm, Buffer) {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let environment = Environment { queues_per_port, ..Environment::example(2) };
        let cbm = Cbm::read(&mut section, &environment).unwrap();
        (cbm, Buffer::new(1_000_000, environment.port_rates, queues_per_port))
    }

    fn join(cbm: &mut Cbm, buffer: &mut Buffer, queue: QueueId, bytes: u32) {
        buffer.add(queue, bytes);
        cbm.on_enqueue(
            &Arrival { queue_class: buffer.queue_class_of(queue), ..arrival(queue, bytes) },
            buffer,
        );
    }

    /// The longest time that the next packet of a queue may have waited, in picoseconds.
    fn limit(cbm: &mut Cbm, buffer: &Buffer, queue: QueueId, first_rtt: bool) -> u64 {
        let queue_class = buffer.queue_class_of(queue);
        let mut passes = |wait: u64| {
            let now = Time::from_ps(wait);
            let departure =
                Departure { queue, queue_class, size: 1000, first_rtt, ..leaving(Time::ZERO, now) };
            cbm.on_departure(&departure, buffer) == Verdict::Pass
        };
        let (mut least, mut most) = (0, 1u64 << 50);
        while least < most {
            let middle = (least + most).div_ceil(2);
            if passes(middle) { least = middle } else { most = middle - 1 }
        }
        least
    }

    /// A packet of 1000 bytes joins a queue and is sent at once.
    fn sends(cbm: &mut Cbm, buffer: &mut Buffer, queue: QueueId) {
        join(cbm, buffer, queue, 1_000);
        buffer.subtract(queue, 1_000);
        cbm.on_dequeue(Time::ZERO, queue, 1_000, buffer);
        let queue_class = buffer.queue_class_of(queue);
        let departure =
            Departure { queue, queue_class, size: 1_000, ..leaving(Time::ZERO, Time::ZERO) };
        assert_eq!(cbm.on_departure(&departure, buffer), Verdict::Pass);
    }

    const US: u64 = 1_000_000;

    #[test]
    fn the_limit_falls_as_the_buffer_fills() {
        // 0.5 * 800,000 bytes * 800 ps = 320 us; with alpha = 64 in the first round trip, 40.96 ms.
        let (mut cbm, mut buffer) = cbm("", 1);
        join(&mut cbm, &mut buffer, 0, 200_000);
        assert_eq!(limit(&mut cbm, &buffer, 1, false), 320 * US);
        assert_eq!(limit(&mut cbm, &buffer, 1, true), 40_960 * US);
        // 0.5 * 200,000 * 800 ps = 80 us.
        buffer.add(1, 600_000);
        assert_eq!(limit(&mut cbm, &buffer, 0, false), 80 * US);
    }

    #[test]
    fn congested_queues_of_a_queue_class_share_the_limit() {
        // alpha = 1. 473,684 >= 0.9 * 526,316 = 473,684.4 does not hold, one byte more does.
        let (mut cbm, mut buffer) = cbm("alpha = 1.0\nexempt_acks = false", 2);
        join(&mut cbm, &mut buffer, 0, 473_684);
        assert_eq!(cbm.congested, [0, 0]);
        join(&mut cbm, &mut buffer, 0, 1);
        assert_eq!(cbm.congested, [1, 0]);
        // 526,315 bytes are free, for one congested queue.
        assert_eq!(limit(&mut cbm, &buffer, 2, false), 526_315 * 800);
        // 250,000 >= 0.9 * 276,315 = 248,683.5: a second congested queue, so the limit is halved.
        join(&mut cbm, &mut buffer, 2, 250_000);
        assert_eq!(cbm.congested, [2, 0]);
        assert_eq!(limit(&mut cbm, &buffer, 0, false), 276_315 * 800 / 2);
        // The other queue class is counted apart: 60,000 is less than 0.9 * 216,315.
        join(&mut cbm, &mut buffer, 3, 60_000);
        assert_eq!((cbm.congested[0], cbm.congested[1]), (2, 0));
        assert_eq!(limit(&mut cbm, &buffer, 3, false), 216_315 * 800);
        // A queue that becomes empty is not congested, however full the buffer is.
        buffer.subtract(2, 250_000);
        cbm.on_dequeue(Time::ZERO, 2, 250_000, &buffer);
        assert_eq!(cbm.congested, [1, 0]);
    }

    #[test]
    fn a_port_has_its_part_of_the_buffer() {
        // 500,000 bytes for each port: 0.5 * 300,000 * 800 ps = 120 us at port 0, 200 us at port 1.
        let (mut cbm, mut buffer) = cbm("buffer_of = \"port\"\nexempt_acks = false", 2);
        join(&mut cbm, &mut buffer, 0, 50_000);
        join(&mut cbm, &mut buffer, 1, 150_000);
        assert_eq!(limit(&mut cbm, &buffer, 0, false), 120 * US);
        assert_eq!(limit(&mut cbm, &buffer, 2, false), 200 * US);
        // When a port's part is exceeded, any wait is too long.
        join(&mut cbm, &mut buffer, 0, 400_000);
        assert_eq!(limit(&mut cbm, &buffer, 0, false), 0);
    }

    #[test]
    fn the_time_in_which_others_are_served_may_be_left_out() {
        // Theta is 0.5 * 996,000 bytes * 800 ps = 398.4 us when a packet leaves queue 1 that has waited
        // for 400 us. Its port has sent three packets of queue 0 since, 2.4 us in all, one before, and
        // another port one.
        let longest = |delay: &str, since_then: u64| {
            let (mut cbm, mut buffer) =
                cbm(&format!("exempt_acks = false\ndelay = \"{delay}\""), 2);
            for _ in 0..since_then {
                sends(&mut cbm, &mut buffer, 0);
            }
            join(&mut cbm, &mut buffer, 1, 1_000);
            for queue in [0, 2].into_iter().chain((since_then..3).map(|_| 0)) {
                sends(&mut cbm, &mut buffer, queue);
            }
            join(&mut cbm, &mut buffer, 3, 4_000);
            buffer.subtract(1, 1_000);
            cbm.on_dequeue(Time::ZERO, 1, 1_000, &buffer);
            limit(&mut cbm, &buffer, 1, false)
        };
        assert_eq!(longest("whole", 1), 398_400_000);
        assert_eq!(longest("served", 1), 398_400_000 + 3 * 800_000);
        assert_eq!(longest("served", 3), 398_400_000 + 800_000);
    }

    #[test]
    fn better_levels_may_have_more_ahead_of_their_packets() {
        // 1,000,000 free bytes last 800 us. Acks have no limit.
        let by_role = "alpha = { acks = 64, data = [1, 0.25] }\ndelay = \"served\"";
        for text in [by_role, "alpha = [64, 1, 0.25]"] {
            let longest = |queue| {
                let (mut cbm, buffer) = cbm(text, 4);
                limit(&mut cbm, &buffer, queue, false)
            };
            assert_eq!([1, 2, 3, 5].map(longest), [800, 200, 200, 800].map(|us| us * US));
            assert_eq!([0, 4].map(longest), [1 << 50; 2]);
        }
    }

    #[test]
    fn acks_and_the_last_packet_may_be_spared() {
        let longest = 1 << 50;
        let (mut exempt, mut buffer) = cbm("spare_last = true", 2);
        join(&mut exempt, &mut buffer, 0, 100_000);
        join(&mut exempt, &mut buffer, 1, 1_500);
        assert_eq!(limit(&mut exempt, &buffer, 0, false), longest);
        assert_eq!(limit(&mut exempt, &buffer, 1, false), longest);
        join(&mut exempt, &mut buffer, 1, 1);
        assert!(limit(&mut exempt, &buffer, 1, false) < longest);
        let (mut strict, buffer) = cbm("exempt_acks = false", 2);
        assert!(limit(&mut strict, &buffer, 0, false) < longest);
    }
}
