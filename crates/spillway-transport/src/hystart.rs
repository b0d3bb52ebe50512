//! HyStart: slow start ends when a train of acks lasts longer than a round trip, or when the round
//! trip grows.
//!
//! # Reference
//! S. Ha, I. Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011.
//! P. Balasubramanian, Y. Huang, M. Olson, "HyStart++: Modified Slow Start for TCP", RFC 9406, 2023.
//! Linux 6.12, `net/ipv4/tcp_cubic.c`.
//!
//! # Rule
//! [`Rule::Exact`]: a round begins with the first ack for data sent after the previous round began.
//! With a window of at least 16 segments slow start ends in two cases. One is an ack that comes more
//! than the flow's least RTT after the round's first ack, and at most 2 ms after the previous ack.
//! In the other the least of a round's first 8 RTTs exceeds the flow's least RTT by more than a
//! margin: that least RTT itself, but at least 4 ms and at most 1 s.
//!
//! [`Rule::Linux`]: rounds begin only from 16 segments on, and the RTT of their first ack counts. A
//! train ends slow start when it lasts longer than half of (the least RTT + b). b is the time of
//! four bursts of 64 KiB at two windows per RTT, at most 1 ms. The margin is an eighth of the least
//! RTT, from 4 to 16 ms.
//!
//! [`Rule::PlusPlus`] (RFC 9406): no trains. If the least RTT of a round, after at least 8 of its
//! acks, exceeds that of the round before by an eighth of it, from 4 to 16 ms, the window grows by a
//! quarter only, for up to five rounds. Then slow start ends; it goes on if a later round's least
//! RTT is below that of the first of them. An ack lets the window grow by at most 8 segments.
//!
//! # Departures
//! `exact` compares a train with the whole least RTT, as ns-3 does (3.35 to 3.39, `TcpCubic`); the
//! paper and Linux compare it with half of that, the forward delay. The RTT of the ack that begins a
//! round still counts in the previous round. With [`Rule::Ns3`] RTTs are those of ns-3: smoothed
//! samples of timestamps in whole milliseconds, of which 0 counts as a microsecond. In a datacenter
//! the least RTT is then a microsecond, and most flows leave slow start with their second ack.
//! Linux takes no sample within a second after a recovery.

use super::window::{Ack, Window};
use spillway_engine::Time;

/// Whose rules end slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// ns-3's, with the real round trips.
    Exact,
    /// ns-3's, with the round trips that ns-3 derives from timestamps in milliseconds.
    Ns3,
    /// Linux's.
    Linux,
    /// HyStart++.
    PlusPlus,
}

/// What an ack does in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The window grows by so many of the bytes that it acknowledges.
    Grows(u64),
    /// Slow start is over.
    Ends,
}

const LOW_WINDOW_SEGMENTS: u64 = 16;
const LARGEST_ACK_GAP: Time = Time::from_ms(2);
const SAMPLES_OF_ROUND: u8 = 8;
const LEAST_DELAY: Time = Time::from_ms(4);
const GREATEST_DELAY: Time = Time::from_ms(1000);
const TIMESTAMP_UNIT: Time = Time::from_ms(1);
/// The largest margin of Linux and RFC 9406. They have it in place of [`GREATEST_DELAY`], and an
/// eighth of the least RTT in place of that RTT.
const GREATEST_MARGIN: Time = Time::from_ms(16);
const MARGIN_DIVISOR: u64 = 8;
/// What bursts may add to a train under Linux's rules.
const BURSTS: u64 = 4 << 16;
const MOST_FOR_BURSTS: Time = Time::from_ms(1);
/// RFC 9406: the most segments that an ack counts, the part of them that counts in conservative
/// slow start, and the rounds of conservative slow start.
const MOST_SEGMENTS: u64 = 8;
const GROWTH_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u8 = 5;

/// HyStart's state.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    rule: Rule,
    /// The byte at which the next round begins, once it is acknowledged; `None` before the first
    /// ack.
    round_end: Option<u64>,
    round_start: Time,
    last_ack: Time,
    /// The least RTT of the flow, the least of the round's first acks, and the number of these.
    least: Time,
    least_of_round: Time,
    samples: u8,
    /// The smoothed RTT; [`Time::MAX`] before the first sample.
    smoothed: Time,
    /// RFC 9406: the least RTT of the round before; [`Time::MAX`] if there is none.
    least_before: Time,
    /// RFC 9406: the least RTT with which conservative slow start began, and how many of its rounds
    /// are over; `None` outside of it.
    conservative: Option<(Time, u8)>,
}

impl HyStart {
    /// The state of a flow that starts.
    pub fn new(rule: Rule) -> HyStart {
        HyStart {
            rule,
            round_end: None,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            least: Time::MAX,
            least_of_round: Time::MAX,
            samples: 0,
            smoothed: Time::MAX,
            least_before: Time::MAX,
            conservative: None,
        }
    }

    /// What an ack of new data does in slow start.
    pub fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        let ends = match self.rule {
            Rule::Exact | Rule::Ns3 => self.ends_slow_start(ack, window),
            Rule::Linux => self.ends_in_linux(ack, window),
            Rule::PlusPlus => return self.step_of_rfc(ack, window.mss),
        };
        if ends { Step::Ends } else { Step::Grows(ack.acked) }
    }

    /// Nothing was sent for a while: the next ack begins a round.
    pub fn begin_anew(&mut self) {
        self.round_end = None;
    }

    fn ends_slow_start(&mut self, ack: &Ack, window: &Window) -> bool {
        let rtt = self.round_trip(ack);
        self.least = self.least.min(rtt);
        let is_large = window.cwnd >= LOW_WINDOW_SEGMENTS * window.mss;
        let ends = is_large && self.round_end.is_some() && self.is_over(ack.now, rtt);
        if self.round_end.is_none_or(|end| ack.una > end) {
            self.begin_round(ack);
        }
        ends
    }

    fn begin_round(&mut self, ack: &Ack) {
        self.round_end = Some(ack.nxt);
        self.round_start = ack.now;
        self.last_ack = ack.now;
        self.least_of_round = Time::MAX;
        self.samples = 0;
    }

    fn ends_in_linux(&mut self, ack: &Ack, window: &Window) -> bool {
        self.least = self.least.min(ack.rtt);
        if window.cwnd < LOW_WINDOW_SEGMENTS * window.mss {
            return false;
        }
        if self.round_end.is_none_or(|end| ack.una > end) {
            self.begin_round(ack);
        }
        let mut ends = false;
        if ack.now - self.last_ack <= LARGEST_ACK_GAP {
            self.last_ack = ack.now;
            let of_bursts = Time::from_ps(ack.rtt.ps().saturating_mul(BURSTS / 2) / window.cwnd);
            let train = (self.least + of_bursts.min(MOST_FOR_BURSTS)).ps() / 2;
            ends = ack.now - self.round_start > Time::from_ps(train);
        }
        self.least_of_round = self.least_of_round.min(ack.rtt);
        if self.samples < SAMPLES_OF_ROUND {
            self.samples += 1;
            return ends;
        }
        ends || self.least_of_round > self.least + margin_of(self.least)
    }

    fn step_of_rfc(&mut self, ack: &Ack, mss: u64) -> Step {
        if self.round_end.is_none() {
            self.begin_round(ack);
        }
        self.least_of_round = self.least_of_round.min(ack.rtt);
        self.samples = self.samples.saturating_add(1);
        if self.samples >= SAMPLES_OF_ROUND {
            self.conservative = match self.conservative {
                None if self.has_grown() => Some((self.least_of_round, 0)),
                Some((base, _)) if self.least_of_round < base => None,
                as_before => as_before,
            };
        }
        if self.round_end.is_some_and(|end| ack.una >= end) {
            self.least_before = self.least_of_round;
            self.begin_round(ack);
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
                if *rounds == CONSERVATIVE_ROUNDS {
                    return Step::Ends;
                }
            }
        }
        let acked = ack.acked.min(MOST_SEGMENTS * mss);
        let divisor = if self.conservative.is_some() { GROWTH_DIVISOR } else { 1 };
        Step::Grows(acked / divisor)
    }

    /// RFC 9406: whether the round's least RTT is more than a margin above that of the round before.
    fn has_grown(&self) -> bool {
        let before = self.least_before;
        before < Time::MAX && self.least_of_round >= before + margin_of(before)
    }

    fn is_over(&mut self, now: Time, rtt: Time) -> bool {
        let mut is_over = false;
        if now - self.last_ack <= LARGEST_ACK_GAP {
            self.last_ack = now;
            is_over = now - self.round_start > self.least;
        }
        if self.samples < SAMPLES_OF_ROUND {
            self.least_of_round = self.least_of_round.min(rtt);
            self.samples += 1;
            return is_over;
        }
        let margin = self.least.clamp(LEAST_DELAY, GREATEST_DELAY);
        is_over || self.least_of_round > self.least + margin
    }

    fn round_trip(&mut self, ack: &Ack) -> Time {
        if self.rule == Rule::Exact {
            return ack.rtt;
        }
        let unit = TIMESTAMP_UNIT.ps();
        let units = ack.now.ps() / unit - (ack.now - ack.rtt).ps() / unit;
        let sample = Time::from_ps(units * unit).max(Time::from_us(1));
        // RFC 6298, with a weight of one eighth.
        let smoothed = self.smoothed.ps();
        self.smoothed = match self.smoothed {
            Time::MAX => sample,
            _ => Time::from_ps(smoothed - smoothed / 8 + sample.ps() / 8),
        };
        self.smoothed
    }
}

/// An eighth of a round trip, within bounds.
fn margin_of(least: Time) -> Time {
    Time::from_ps(least.ps() / MARGIN_DIVISOR).clamp(LEAST_DELAY, GREATEST_MARGIN)
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{ack, segments};
    use super::*;

    /// Whether slow start ends with each of these acks, given as their time, what they acknowledge
    /// and what has been sent, in microseconds and segments. All round trips are 80 us.
    fn ends(rule: Rule, acks: &[(u64, u64, u64)]) -> Vec<bool> {
        let mut hystart = HyStart::new(rule);
        let window = segments(20, 1_000_000);
        let told = |&(us, una, nxt): &(u64, u64, u64)| {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            hystart.on_ack(&Ack { now, rtt, ..ack(una, nxt, false) }, &window) == Step::Ends
        };
        acks.iter().map(told).collect()
    }

    #[test]
    fn a_train_of_acks_that_is_longer_than_the_least_round_trip_ends_it() {
        // The first ack begins a round that lasts until segment 20 is acknowledged. The ack 80 us
        // later is not more than a round trip after it; the one 81 us later is.
        let acks = [(100, 1, 20), (150, 2, 22), (180, 3, 24), (181, 4, 26)];
        assert_eq!(ends(Rule::Exact, &acks), [false, false, false, true]);
        // The ack of segment 21 begins a new round, but its RTT counts in the old one.
        let acks = [(100, 1, 20), (180, 21, 40), (255, 22, 42), (261, 23, 44)];
        assert_eq!(ends(Rule::Exact, &acks), [false, false, false, true]);
        // A pause of 2 ms ends the train.
        let acks = [(100, 1, 20), (2101, 2, 22), (2102, 3, 24)];
        assert_eq!(ends(Rule::Exact, &acks), [false, false, false]);
    }

    #[test]
    fn time_without_data_is_not_part_of_a_train() {
        let mut hystart = HyStart::new(Rule::Exact);
        let window = segments(20, 1_000_000);
        let mut told = |(us, una, nxt): (u64, u64, u64), begins_anew: bool| {
            if begins_anew {
                hystart.begin_anew();
            }
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            hystart.on_ack(&Ack { now, rtt, ..ack(una, nxt, false) }, &window) == Step::Ends
        };
        assert!(!told((100, 1, 20), false));
        // The next flow's first ack comes a millisecond later, and begins a round.
        assert!(!told((1_100, 21, 40), true));
        assert!(!told((1_180, 22, 41), false));
        assert!(told((1_181, 23, 42), false));
    }

    #[test]
    fn timestamps_in_milliseconds_tell_a_microsecond() {
        // All come in the same millisecond, so the RTT is a microsecond: an ack one microsecond
        // after the first is not later than that, an ack two microseconds after it is.
        let acks = [(1100, 1, 20), (1101, 2, 22), (1102, 3, 24)];
        assert_eq!(ends(Rule::Ns3, &acks), [false, false, true]);
        // The first packet was sent before the millisecond changed: an RTT of 1 ms, which the next
        // sample, with a weight of an eighth, makes 875.125 us.
        let mut hystart = HyStart::new(Rule::Ns3);
        let window = segments(20, 1_000_000);
        for us in [1070, 1090] {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            let told = Ack { now, rtt, ..ack(1, 20, false) };
            assert_ne!(hystart.on_ack(&told, &window), Step::Ends);
        }
        assert_eq!(hystart.least, Time::from_ns(875_125));
    }

    #[test]
    fn a_round_trip_that_grows_by_4_ms_ends_it() {
        let mut hystart = HyStart::new(Rule::Exact);
        let window = segments(20, 1_000_000);
        let mut told = |place: u64, rtt_us: u64| {
            // 3 ms apart, so there is no train.
            let now = Time::from_ms(10 + 3 * place);
            let ack = Ack { now, rtt: Time::from_us(rtt_us), ..ack(place, 20, false) };
            hystart.on_ack(&ack, &window) == Step::Ends
        };
        assert!(!told(1, 100));
        // After eight samples above 4.1 ms the next ack ends slow start.
        assert!((2..10).all(|place| !told(place, 4_101)));
        assert!(told(10, 4_101));
    }

    #[test]
    fn a_small_window_goes_on_doubling() {
        let mut hystart = HyStart::new(Rule::Exact);
        let window = segments(15, 1_000_000);
        for us in [100, 150, 400] {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            let told = Ack { now, rtt, ..ack(1, 20, false) };
            assert_ne!(hystart.on_ack(&told, &window), Step::Ends);
        }
    }

    #[test]
    fn linux_compares_a_train_with_half_of_the_least_round_trip() {
        // 80 us * 262,144 / (2 * 20,000 bytes) = 524.288 us for bursts: (80 + 524.288) / 2 is
        // 302.144 us after the round's first ack.
        let acks = [(100, 1, 20), (250, 2, 22), (402, 3, 24), (403, 4, 26)];
        assert_eq!(ends(Rule::Linux, &acks), [false, false, false, true]);
        // The ack of segment 21 begins a round.
        let acks = [(100, 1, 20), (350, 21, 40), (652, 22, 42), (653, 23, 44)];
        assert_eq!(ends(Rule::Linux, &acks), [false, false, false, true]);
    }

    /// Whether slow start goes on, and by how many bytes the window grows, with acks of a segment
    /// 3 ms apart, so that there is no train; given as what they acknowledge, what has been sent,
    /// and their RTT in us.
    fn growth(rule: Rule, acks: &[(u64, u64, u64)]) -> Vec<Option<u64>> {
        let mut hystart = HyStart::new(rule);
        let window = segments(20, 1_000_000);
        let told = |(place, &(una, nxt, us)): (u64, &(u64, u64, u64))| {
            let (now, rtt) = (Time::from_ms(200 + 3 * place), Time::from_us(us));
            match hystart.on_ack(&Ack { now, rtt, ..ack(una, nxt, false) }, &window) {
                Step::Grows(bytes) => Some(bytes),
                Step::Ends => None,
            }
        };
        (0..).zip(acks).map(told).collect()
    }

    #[test]
    fn linux_has_a_margin_of_an_eighth_from_4_to_16_ms() {
        // A least RTT of 64 ms: 8 ms. After eight samples of the next round above 72 ms it ends; the
        // ack of segment 21 begins it, and its RTT counts.
        let of_round = |us: u64| {
            let mut acks = vec![(1, 20, 64_000)];
            acks.extend((21..30).map(|una| (una, 40, us)));
            growth(Rule::Linux, &acks)
        };
        assert!(of_round(72_000).iter().all(|step| step.is_some()));
        let steps = of_round(72_001);
        assert!(steps[..9].iter().all(|step| step.is_some()));
        assert_eq!(steps[9], None);
    }

    #[test]
    fn hystart_plus_plus_grows_by_a_quarter_for_five_rounds() {
        // Rounds of ten acks; the RTT grows from 64 ms by an eighth, 8 ms, in the second round.
        let acks = |later: &[u64]| -> Vec<(u64, u64, u64)> {
            let round = |number: u64, us: u64| {
                (1..=10).map(move |una| (10 * number + una, 10 * (number + 2), us))
            };
            let first = (1..=10).map(|una| (una, if una < 10 { 10 } else { 20 }, 64_000));
            first.chain((1..).zip(later).flat_map(|(n, &us)| round(n, us))).collect()
        };
        let whole = |steps: &[Option<u64>]| steps.iter().all(|step| *step == Some(1_000));
        assert!(whole(&growth(Rule::PlusPlus, &acks(&[71_999]))));
        // The eighth ack of the second round is the first with a quarter. That round counts, so
        // slow start is over with the last ack of the sixth.
        let steps = growth(Rule::PlusPlus, &acks(&[72_000; 6]));
        assert!(whole(&steps[..17]));
        let over = steps.iter().position(|step| step.is_none());
        assert!(over.is_some_and(|place| steps[17..place].iter().all(|step| *step == Some(250))));
        assert_eq!(over, Some(59));
        // A round below the one with which it began ends it: all grows again.
        let steps = growth(Rule::PlusPlus, &acks(&[72_000, 71_000]));
        assert_eq!((steps[26], steps[27]), (Some(250), Some(1_000)));
    }

    #[test]
    fn hystart_plus_plus_counts_at_most_eight_segments_of_an_ack() {
        let mut hystart = HyStart::new(Rule::PlusPlus);
        let window = segments(20, 1_000_000);
        let told = Ack { acked: 12_000, ..ack(12, 20, false) };
        assert_eq!(hystart.on_ack(&told, &window), Step::Grows(8_000));
    }
}
