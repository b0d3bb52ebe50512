//! HyStart: slow start ends when a train of acks is longer than a round trip, or the round trip
//! grows.
//!
//! # Reference
//! S. Ha, I. Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9), 2011.
//!
//! # Rule
//! A round begins with the first ack of what was sent in the round before. From 16 segments on,
//! slow start ends with an ack that comes more than the flow's least RTT after the round's first,
//! at most 2 ms after the ack before it; or where the least of a round's first 8 RTTs is above
//! that of the flow by as much again, at least 4 ms and at most 1 s.
//!
//! # Departures
//! As in ns-3 (3.35 to 3.39, `TcpCubic`) a train is compared with the whole least RTT; Linux and the
//! paper take half of it for the forward delay. An ack that begins a round is still measured with
//! the round before. With [`RoundTrips::Ns3`] RTTs are ns-3's own: the smoothed estimate of samples
//! from timestamps in whole milliseconds, of which 0 counts as a microsecond. In a datacenter the
//! least RTT is a microsecond then, and slow start over with the second ack of most flows.

use super::window::{Ack, Window};
use spillway_engine::Time;

/// What HyStart takes for round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrips {
    /// Those that there are.
    Exact,
    /// What ns-3 makes of timestamps in milliseconds.
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
    /// Unacknowledged data from here on belongs to the next round; `None` before the first ack.
    round_end: Option<u64>,
    round_start: Time,
    last_ack: Time,
    /// The least RTT of the flow, and of the round's first acks, and how many these were.
    least: Time,
    least_of_round: Time,
    samples: u8,
    /// The smoothed RTT; [`Time::MAX`] before the first sample.
    smoothed: Time,
}

impl HyStart {
    /// At the start of a flow.
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
        // RFC 6298 with an eighth.
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

    /// Whether slow start ends with each of these acks: when they come, what they acknowledge and
    /// what has been sent, in microseconds and segments, all with a round trip of 80 us.
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
        // The first ack begins a round that lasts until segment 20 is acknowledged. 80 us after it
        // is not more than the round trip; a picosecond would be, and a microsecond is.
        let acks = [(100, 1, 20), (150, 2, 22), (180, 3, 24), (181, 4, 26)];
        assert_eq!(ends(RoundTrips::Exact, &acks), [false, false, false, true]);
        // The ack of segment 21 begins a new one, after it is measured with the old one.
        let acks = [(100, 1, 20), (180, 21, 40), (255, 22, 42), (261, 23, 44)];
        assert_eq!(ends(RoundTrips::Exact, &acks), [false, false, false, true]);
        // 2 ms without an ack end the train.
        let acks = [(100, 1, 20), (2101, 2, 22), (2102, 3, 24)];
        assert_eq!(ends(RoundTrips::Exact, &acks), [false, false, false]);
    }

    #[test]
    fn timestamps_in_milliseconds_tell_a_microsecond() {
        // All within the millisecond from 1 to 2: a microsecond after the first ack is not more
        // than the RTT of a microsecond, two are.
        let acks = [(1100, 1, 20), (1101, 2, 22), (1102, 3, 24)];
        assert_eq!(ends(RoundTrips::Ns3, &acks), [false, false, true]);
        // The first packet was sent before the turn of the millisecond: an RTT of 1 ms, which an
        // eighth of the next sample makes 875.125 us.
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
            // 3 ms apart: no train.
            let now = Time::from_ms(10 + 3 * place);
            let ack = Ack { now, rtt: Time::from_us(rtt_us), ..ack(place, 20, false) };
            hystart.ends_slow_start(&ack, &window)
        };
        assert!(!told(1, 100));
        // Eight samples above 4.1 ms, and the next ack sees it.
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
