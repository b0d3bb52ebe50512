//! HyStart: slow start ends when a train of acks lasts longer than a round trip, or when the round
//! trip grows.
//!
//! # Reference
//! S. Ha, I. Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011.
//!
//! # Rule
//! A round begins with the first ack for data sent after the previous round began. With a window of
//! at least 16 segments slow start ends in two cases. One is an ack that comes more than the flow's
//! least RTT after the round's first ack, and at most 2 ms after the previous ack. In the other the
//! least of a round's first 8 RTTs exceeds the flow's least RTT by more than a margin: that least
//! RTT itself, but at least 4 ms and at most 1 s.
//!
//! # Departures
//! As in ns-3 (3.35 to 3.39, `TcpCubic`) a train is compared with the whole least RTT. Linux and
//! the paper compare it with half of that, the forward delay. The RTT of the ack that begins a
//! round still counts in the previous round. With [`RoundTrips::Ns3`] RTTs are those of ns-3:
//! smoothed samples of timestamps in whole milliseconds, of which 0 counts as a microsecond. In a
//! datacenter the least RTT is then a microsecond, and most flows leave slow start with their
//! second ack.

use super::window::{Ack, Window};
use spillway_engine::Time;

/// The round trips that HyStart uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrips {
    /// The real ones.
    Exact,
    /// Those that ns-3 derives from timestamps in milliseconds.
    Ns3,
}

const LOW_WINDOW_SEGMENTS: u64 = 16;
const LARGEST_ACK_GAP: Time = Time::from_ms(2);
const SAMPLES_OF_ROUND: u8 = 8;
const LEAST_DELAY: Time = Time::from_ms(4);
const GREATEST_DELAY: Time = Time::from_ms(1000);
const TIMESTAMP_UNIT: Time = Time::from_ms(1);

/// HyStart's state.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    round_trips: RoundTrips,
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
}

impl HyStart {
    /// The state of a flow that starts.
    pub fn new(round_trips: RoundTrips) -> HyStart {
        HyStart {
            round_trips,
            round_end: None,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            least: Time::MAX,
            least_of_round: Time::MAX,
            samples: 0,
            smoothed: Time::MAX,
        }
    }

    /// Whether slow start ends with an ack of new data, before the window grows by it.
    pub fn ends_slow_start(&mut self, ack: &Ack, window: &Window) -> bool {
        let rtt = self.round_trip(ack);
        self.least = self.least.min(rtt);
        let is_large = window.cwnd >= LOW_WINDOW_SEGMENTS * window.mss;
        let ends = is_large && self.round_end.is_some() && self.is_over(ack.now, rtt);
        if self.round_end.is_none_or(|end| ack.una > end) {
            self.round_end = Some(ack.nxt);
            self.round_start = ack.now;
            self.last_ack = ack.now;
            self.least_of_round = Time::MAX;
            self.samples = 0;
        }
        ends
    }

    /// Nothing was sent for a while: the next ack begins a round.
    pub fn begin_anew(&mut self) {
        self.round_end = None;
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
        if self.round_trips == RoundTrips::Exact {
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

#[cfg(test)]
mod tests {
    use super::super::window::tests::{ack, segments};
    use super::*;

    /// Whether slow start ends with each of these acks, given as their time, what they acknowledge
    /// and what has been sent, in microseconds and segments. All round trips are 80 us.
    fn ends(round_trips: RoundTrips, acks: &[(u64, u64, u64)]) -> Vec<bool> {
        let mut hystart = HyStart::new(round_trips);
        let window = segments(20, 1_000_000);
        let told = |&(us, una, nxt): &(u64, u64, u64)| {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            hystart.ends_slow_start(&Ack { now, rtt, ..ack(una, nxt, false) }, &window)
        };
        acks.iter().map(told).collect()
    }

    #[test]
    fn a_train_of_acks_that_is_longer_than_the_least_round_trip_ends_it() {
        // The first ack begins a round that lasts until segment 20 is acknowledged. The ack 80 us
        // later is not more than a round trip after it; the one 81 us later is.
        let acks = [(100, 1, 20), (150, 2, 22), (180, 3, 24), (181, 4, 26)];
        assert_eq!(ends(RoundTrips::Exact, &acks), [false, false, false, true]);
        // The ack of segment 21 begins a new round, but its RTT counts in the old one.
        let acks = [(100, 1, 20), (180, 21, 40), (255, 22, 42), (261, 23, 44)];
        assert_eq!(ends(RoundTrips::Exact, &acks), [false, false, false, true]);
        // A pause of 2 ms ends the train.
        let acks = [(100, 1, 20), (2101, 2, 22), (2102, 3, 24)];
        assert_eq!(ends(RoundTrips::Exact, &acks), [false, false, false]);
    }

    #[test]
    fn time_without_data_is_not_part_of_a_train() {
        let mut hystart = HyStart::new(RoundTrips::Exact);
        let window = segments(20, 1_000_000);
        let mut told = |(us, una, nxt): (u64, u64, u64), begins_anew: bool| {
            if begins_anew {
                hystart.begin_anew();
            }
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            hystart.ends_slow_start(&Ack { now, rtt, ..ack(una, nxt, false) }, &window)
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
        assert_eq!(ends(RoundTrips::Ns3, &acks), [false, false, true]);
        // The first packet was sent before the millisecond changed: an RTT of 1 ms, which the next
        // sample, with a weight of an eighth, makes 875.125 us.
        let mut hystart = HyStart::new(RoundTrips::Ns3);
        let window = segments(20, 1_000_000);
        for us in [1070, 1090] {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            assert!(!hystart.ends_slow_start(&Ack { now, rtt, ..ack(1, 20, false) }, &window));
        }
        assert_eq!(hystart.least, Time::from_ns(875_125));
    }

    #[test]
    fn a_round_trip_that_grows_by_4_ms_ends_it() {
        let mut hystart = HyStart::new(RoundTrips::Exact);
        let window = segments(20, 1_000_000);
        let mut told = |place: u64, rtt_us: u64| {
            // 3 ms apart, so there is no train.
            let now = Time::from_ms(10 + 3 * place);
            let ack = Ack { now, rtt: Time::from_us(rtt_us), ..ack(place, 20, false) };
            hystart.ends_slow_start(&ack, &window)
        };
        assert!(!told(1, 100));
        // After eight samples above 4.1 ms the next ack ends slow start.
        assert!((2..10).all(|place| !told(place, 4_101)));
        assert!(told(10, 4_101));
    }

    #[test]
    fn a_small_window_goes_on_doubling() {
        let mut hystart = HyStart::new(RoundTrips::Exact);
        let window = segments(15, 1_000_000);
        for us in [100, 150, 400] {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            assert!(!hystart.ends_slow_start(&Ack { now, rtt, ..ack(1, 20, false) }, &window));
        }
    }
}
