//! CoDel: marks (or drops), ever faster, while the shortest wait of an interval stays above a
//! target.
//!
//! # Reference
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management",
//! RFC 8289, 2018. <https://doi.org/10.17487/RFC8289>
//!
//! # Rule
//! When a packet leaves, its queue is above target if sojourn >= target and what is left in the
//! queue is more than a full packet; it is persistent if it has been above target for an interval.
//! - not active, and persistent: hit this packet and become active. n = the hits of the last active
//!   phase if that phase ended less than 16 intervals ago, counted from its own start (n0), so
//!   n = n - n0 if that is more than 1, else n = 1; next = now + interval / sqrt(n).
//! - active, and not persistent: become inactive.
//! - active, and now >= next: hit this packet; n = n + 1; next = next + interval / sqrt(n).
//!
//! A hit marks a packet that is ECN-capable, at most once; others are lost (or pass:
//! `not_ect = "pass"`). After a loss the next packet is asked at once, but the one behind the loss
//! that begins an active phase leaves in any case.
//!
//! # Departures from the paper
//! The RFC only drops; marking where it drops is what implementations do. `rules = "ns3"` has the
//! choices of ns-3's: a clock of 1.024 us, a queue persists a step after its interval, marks set
//! next = now + interval / sqrt(n), the square root comes by Newton steps in 16 bits, one step for
//! each hit, and a queue is small below 1500 bytes.
//!
//! # Scope and limitations
//! Each queue has a CoDel of its own. Flows are not told apart (FQ-CoDel does).
//!
//! # In composition
//! A packet's wait includes the time in which others are sent, or a pause frame stops its queue.
//! Under strict priority a queue with more than a packet is above target as long as better ones
//! send, and is marked for them. Packets that are not ECN-capable are lost at the head, so those
//! behind them show the loss; acks are lost like this where they share a queue with data. In `five`
//! at 80% load, with LQD and RACK, QCLIMB's levels do not make it worse than `ecn` at 65 packets:
//! mean slowdowns are 3.2 and 3.4, and with one queue for data 5.6 and 6.8
//! (studies/spillway_studies/five/paper.md, with the smaller buffer and timeouts of 10 ms).
//!
//! # Validation
//! The same marks and losses as a second, naive implementation, which follows the RFC's loop
//! (`tests/naive_sojourn.rs`). With `rules = "ns3"` the marks of runs of ns-3, packet by packet.
//!
//! # Cost
//! Two comparisons for every packet, and the time of its arrival; 40 bytes for every queue. A
//! square root for every hit, which implementations approximate.

use super::ecn::read_not_ect;
use super::ecn_sharp::gap;
use super::{Aqm, bytes_behind};
use crate::buffer::Buffer;
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Arrival, Departure, Verdict, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    Rfc8289,
    Ns3,
}

/// The target and the interval.
#[derive(Clone, Debug)]
pub struct CoDelParams {
    target: Time,
    /// Above 0.
    interval: Time,
    rules: Rules,
    verdict: Verdict,
}

/// What a loss leaves to be done when the packet behind it is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum After {
    #[default]
    Nothing,
    /// The lost packet began an active phase.
    FirstLoss,
    /// The lost packet was a later one: `next` is still to move on.
    Loss,
}

#[derive(Clone, Copy, Debug, Default)]
struct QueueState {
    /// When the queue will have been above target for an interval; `None` while it is not.
    due: Option<Time>,
    active: bool,
    /// Hits (n), and their number when this or the last active phase began.
    hits: u32,
    hits_at_start: u32,
    /// From when on the next packet is hit.
    next: Time,
    /// ns-3's 1 / sqrt(n), in 2^-16.
    reciprocal: u16,
    after: After,
}

/// CoDel.
#[derive(Clone, Debug)]
pub struct CoDel {
    params: ByQueue<CoDelParams>,
    /// What a queue must hold, in bytes, to be above target.
    least: u32,
    /// Whether the buffer still counts the bytes of the packet that leaves.
    holds_until_sent: bool,
    queues: Vec<QueueState>,
}

impl Policy for CoDel {
    const ID: &'static str = "codel";
    const SUMMARY: &'static str = "CoDel: mark or drop while the shortest wait stays above target";
    const CITATION: &'static str = "Nichols et al.: Controlled Delay Active Queue Management, RFC 8289, 2018, \
         doi:10.17487/RFC8289";

    const CHANGES: &'static [&'static str] = &["target", "interval"];
    const CHANGES_BY_PORT: bool = true;

    type Params = CoDelParams;

    fn params(
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<CoDelParams, SettingsError> {
        let meaning =
            "the wait that is acceptable if it lasts; the RFC's default, 5ms, is for WANs";
        let target = section.time("target", "10us", meaning)?;
        let meaning = "how long a wait must stay above target; about the longest round trip";
        let interval = section.positive_time("interval", "150us", meaning)?;
        let meaning = "whose rules: those of RFC 8289, or ns-3's with its coarser clock";
        let rules = [("rfc8289", Rules::Rfc8289), ("ns3", Rules::Ns3)];
        let rules = section.choice("rules", &rules, meaning)?;
        let verdict = read_not_ect(section, Verdict::MarkOrDrop)?;
        let (target, interval) = match rules {
            Rules::Rfc8289 => (target, interval),
            Rules::Ns3 => (ticks(target), ticks(interval)),
        };
        if interval == Time::ZERO {
            return Err(section.conflict("interval", "ns-3's clock needs at least 1.024us"));
        }
        Ok(CoDelParams { target, interval, rules, verdict })
    }

    fn new(params: &CoDelParams, environment: &Environment) -> Self {
        let queues = environment.queues();
        let least = match params.rules {
            Rules::Rfc8289 => environment.full_packet + 1,
            Rules::Ns3 => 1500,
        };
        CoDel {
            params: ByQueue::all(params.clone()),
            least,
            holds_until_sent: environment.service.release_at_end,
            queues: vec![QueueState::default(); queues],
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

/// The time of ns-3's clock, in steps of 1024 ns; a step is a picosecond here.
fn ticks(time: Time) -> Time {
    Time::from_ps((time.ps() / 1000) >> 10)
}

impl QueueState {
    /// Whether the queue has been above target for an interval.
    fn persists(&mut self, now: Time, is_above: bool, params: &CoDelParams) -> bool {
        if !is_above {
            self.due = None;
            return false;
        }
        let due = *self.due.get_or_insert(now + params.interval);
        match params.rules {
            Rules::Rfc8289 => now >= due,
            Rules::Ns3 => now > due,
        }
    }

    /// Whether this packet is hit. It `is_lost` if it is.
    fn hits(&mut self, now: Time, persists: bool, is_lost: bool, params: &CoDelParams) -> bool {
        match std::mem::take(&mut self.after) {
            After::Nothing => {}
            After::FirstLoss => return false,
            After::Loss if persists => self.next += self.gap(params),
            After::Loss => {}
        }
        match self.active {
            true if !persists => self.active = false,
            true if now >= self.next => {
                self.hits += 1;
                self.step();
                if is_lost {
                    self.after = After::Loss;
                } else {
                    let from = if params.rules == Rules::Ns3 { now } else { self.next };
                    self.next = from + self.gap(params);
                }
                return true;
            }
            false if persists => {
                self.begin(now, params);
                if is_lost {
                    self.after = After::FirstLoss;
                }
                return true;
            }
            _ => {}
        }
        false
    }

    /// An active phase begins.
    fn begin(&mut self, now: Time, params: &CoDelParams) {
        let last = self.hits - self.hits_at_start;
        if last > 1 && now < self.next + params.interval * 16 {
            self.hits = last;
            self.step();
        } else {
            self.hits = 1;
            self.reciprocal = u16::MAX;
        }
        self.hits_at_start = self.hits;
        self.active = true;
        self.next = now + self.gap(params);
    }

    /// interval / sqrt(n).
    fn gap(&self, params: &CoDelParams) -> Time {
        match params.rules {
            Rules::Rfc8289 => gap(params.interval, self.hits),
            Rules::Ns3 => {
                let reciprocal = u64::from(self.reciprocal) << 16;
                Time::from_ps((params.interval.ps() * reciprocal) >> 32)
            }
        }
    }

    /// A Newton step towards 1 / sqrt(n): r (3 - n r^2) / 2, in 2^-32.
    fn step(&mut self) {
        let r = u64::from(self.reciprocal) << 16;
        let three_less = (3_u64 << 32).wrapping_sub(u64::from(self.hits) * ((r * r) >> 32));
        // Halved twice here and once below, so that the product fits.
        self.reciprocal = ((((three_less >> 2) * r) >> 31) >> 16) as u16;
    }
}

impl Watch for CoDel {
    fn watches_departures(&self) -> bool {
        true
    }

    fn drops_departures(&self) -> bool {
        self.params.common().verdict == Verdict::MarkOrDrop
    }

    fn on_departure(&mut self, departure: &Departure, buffer: &Buffer) -> Verdict {
        let params = self.params.of(departure.queue);
        let &CoDelParams { target, rules, verdict, .. } = params;
        let held = if self.holds_until_sent { departure.size } else { 0 };
        let left = buffer.bytes(departure.queue) - held;
        let (now, sojourn) = match rules {
            Rules::Rfc8289 => (departure.now, departure.sojourn()),
            Rules::Ns3 => (ticks(departure.now), ticks(departure.sojourn())),
        };
        let queue = &mut self.queues[departure.queue as usize];
        let persists = queue.persists(now, sojourn >= target && left >= self.least, params);
        let is_lost = verdict == Verdict::MarkOrDrop && !departure.ect;
        if queue.hits(now, persists, is_lost, params) { verdict } else { Verdict::Pass }
    }
}

impl Aqm for CoDel {
    fn passes_idle_ports(&self) -> bool {
        // Nothing is left in the queue, so it is not above target.
        true
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        let &CoDelParams { target, rules, .. } = self.params.common();
        let target = match rules {
            Rules::Rfc8289 => target,
            Rules::Ns3 => Time::from_ps((target.ps() << 10) * 1000),
        };
        Some(("target", bytes_behind(target, environment)?))
    }

    fn watches_passing(&self) -> bool {
        true
    }

    #[inline]
    fn on_pass(&mut self, passing: &Arrival, _buffer: &Buffer) {
        let params = self.params.of(passing.queue);
        let queue = &mut self.queues[passing.queue as usize];
        let persists = queue.persists(passing.now, false, params);
        queue.hits(passing.now, persists, false, params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use crate::sharing::tests::filled;

    struct Queue(CoDel);

    impl Queue {
        fn new(text: &str) -> Queue {
            let mut section = Section::new("aqm", text.parse().unwrap());
            Queue(CoDel::read(&mut section, &Environment::example(1)).unwrap())
        }

        /// Whether a packet that leaves now, in microseconds, is hit.
        fn hits(&mut self, now: u64, wait: u64, left: u32, ect: bool) -> bool {
            let leaving = leaving(Time::from_us(now - wait), Time::from_us(now));
            let leaving = Departure { ect, ..leaving };
            self.0.on_departure(&leaving, &filled(&[left])) != Verdict::Pass
        }

        /// The times of the hits among packets that leave every microsecond.
        fn hits_within(&mut self, times: std::ops::Range<u64>, wait: u64) -> Vec<u64> {
            times.filter(|&now| self.hits(now, wait, 9000, true)).collect()
        }
    }

    #[test]
    fn hits_come_at_shrinking_gaps() {
        // Above target from 100 us on, persistent from 250 on: hit then, next at 250 + 150 = 400;
        // then + 150 / sqrt(2) = 506.07 and + 150 / sqrt(3) = 592.67, + 75 = 667.67.
        assert_eq!(Queue::new("").hits_within(100..670, 10), [250, 400, 507, 593, 668]);
    }

    #[test]
    fn a_short_wait_or_queue_ends_a_phase() {
        let mut queue = Queue::new("");
        assert_eq!(queue.hits_within(100..300, 10), [250]);
        assert!(!queue.hits(300, 9, 9000, true));
        assert_eq!(queue.hits_within(301..460, 10), [451]);
        // Only a full packet is left.
        assert!(!queue.hits(460, 10, 1500, true));
        assert_eq!(queue.hits_within(461..620, 10), [611]);
    }

    #[test]
    fn a_phase_soon_after_another_begins_with_its_rate() {
        let mut queue = Queue::new("");
        // Five hits; the phase began with n = 1, so n - n0 = 4.
        assert_eq!(queue.hits_within(100..670, 10).len(), 5);
        assert!(!queue.hits(670, 9, 9000, true));
        // Above from 671, persistent from 821 on; then 150 / sqrt(4) = 75 later.
        assert_eq!(queue.hits_within(671..900, 10), [821, 896]);
        // 16 intervals of 150 us after `next` (896 + 150 / sqrt(5) = 963.08) it begins anew.
        assert!(!queue.hits(900, 9, 9000, true));
        let late = 3400;
        assert_eq!(queue.hits_within(late..late + 302, 10), [late + 150, late + 300]);
    }

    #[test]
    fn the_packet_behind_a_first_loss_leaves() {
        let mut queue = Queue::new("");
        assert!((100..250).all(|now| !queue.hits(now, 10, 9000, false)));
        assert!(queue.hits(250, 10, 9000, false));
        // Asked at once, it leaves; the next loss is due at 400. The one behind that is asked with
        // next = 506.07 us.
        assert!(!queue.hits(250, 10, 9000, false));
        assert!((251..400).all(|now| !queue.hits(now, 10, 9000, false)));
        assert!(queue.hits(400, 10, 9000, false));
        assert!((400..507).all(|now| !queue.hits(now, 10, 9000, false)));
        assert!(queue.hits(507, 10, 9000, false));
    }

    #[test]
    fn where_others_pass_they_count_as_marked() {
        let mut queue = Queue::new("not_ect = \"pass\"");
        let hit = |now: &u64| queue.hits(*now, 10, 9000, false);
        assert_eq!((100..510).filter(hit).collect::<Vec<_>>(), [250, 400, 507]);
    }

    #[test]
    fn newton_s_steps_come_close_to_the_root() {
        let mut state = QueueState { hits: 1, reciprocal: u16::MAX, ..QueueState::default() };
        for hits in 2..200 {
            state.hits = hits;
            state.step();
        }
        let exact = 65536.0 / 199_f64.sqrt();
        assert!((f64::from(state.reciprocal) / exact - 1.0).abs() < 0.01);
    }

    #[test]
    fn ns3_s_clock_is_coarse() {
        // 10 us are 9 steps: 9.216 us of waiting is above target, 9.215 is not. 150 us are 146.
        let mut queue = Queue::new("rules = \"ns3\"");
        let mut hit = |now: u64, wait: u64| {
            let leaving = leaving(Time::from_ns(now - wait), Time::from_ns(now));
            queue.0.on_departure(&leaving, &filled(&[1500])) != Verdict::Pass
        };
        assert!(!hit(1024 * 100, 9216));
        // Due at step 246, so at step 247.
        assert!(!hit(1024 * 247 - 1, 9216) && hit(1024 * 247, 9216));
        // next = 247 + 146 * 65535 / 65536 = 392.
        assert!(!hit(1024 * 392 - 1, 9216) && hit(1024 * 392, 9216));
        assert!(!hit(1024 * 900, 9215) && !hit(1024 * 901, 9216));
    }
}
