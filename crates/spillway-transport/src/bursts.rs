//! Bursts: segments that leave together, as with segmentation offload, sized as Linux sizes them.
//!
//! # Reference
//! Linux 6.12, `net/ipv4/tcp_output.c`: `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_cwnd_test`.
//!
//! # Rule
//! rate = f max(cwnd, unacknowledged) / srtt, with f = 2 while cwnd < ssthresh / 2, else 1.2.
//! A burst has at most rate / 1024 s bytes, and more where round trips are short: 64 KiB /
//! 2^floor(least RTT / 512 us), none from 32 such steps on. It has at least two segments, at most
//! `offload` bytes, and at most half of the window.
//!
//! A smaller burst waits for the next ack if less than a third of the window is free, something
//! was sent within the last millisecond, and data is left that does not fit. During recovery
//! segments leave one by one, as the window allows.
//!
//! # Departures
//! Linux does not wait where the oldest segment in flight was sent less than half a round trip ago.
//! The least RTT is that of smoothed ones.

use super::window::Window;
use spillway_engine::Time;
use spillway_settings::{Form, Takes, quantity};
use spillway_settings::{Section, SettingsError};

/// The settings of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// The most segments that leave together; 1 without offload.
    most: u64,
    /// Whether the last one asks for an ack at once.
    pub tells: bool,
}

/// A sender's record of its bursts.
#[derive(Clone, Copy, Debug)]
pub struct Past {
    /// When the last one left.
    pub sent_at: Time,
    /// The least smoothed round trip.
    pub least_rtt: Time,
}

impl Default for Past {
    fn default() -> Past {
        Past { sent_at: Time::ZERO, least_rtt: Time::MAX }
    }
}

/// The bytes that are added to a burst if round trips are shortest.
const LARGEST: u64 = 1 << 16;
/// How long after the last burst a sender may wait with a smaller one.
pub const PATIENCE: Time = Time::from_ms(1);
const SECOND: Time = Time::from_ms(1_000);
/// A round trip of this length halves the bytes that are added for short round trips.
const HALVING: Time = Time::from_us(512);
const HALVINGS: u64 = 32;

impl Bursts {
    /// Reads the senders' keys. `None` if segments leave one by one and the last one asks for no
    /// ack.
    pub fn read(section: &mut Section, mss: u32) -> Result<Option<Bursts>, SettingsError> {
        let takes = "a size such as \"64KiB\", or \"none\"";
        let takes = Takes::new(takes, [Form::size().positive(), Form::word("none")]);
        let meaning = "the most bytes of a flow that leave together, in bursts sized as Linux sizes \
                       them for segmentation offload; with \"none\" segments leave one by one";
        let parse = |text: &str| match text {
            "none" => Some(None),
            text => quantity::size(text).filter(|&bytes| bytes > 0).map(Some),
        };
        let offload = section.quantity("offload", "none", takes, meaning, parse)?;
        let most = offload.map(|bytes| bytes / u64::from(mss));
        if most.is_some_and(|most| most < 2) {
            return Err(section.conflict("offload", "it is less than two segments"));
        }
        let meaning = "whether the last packet of a burst, and of a flow, is acknowledged at once, as \
                       Linux does with PSH";
        let tells = section.flag("ack_push", false, meaning)?;
        let is_any = most.is_some() || tells;
        Ok(is_any.then_some(Bursts { most: most.unwrap_or(1), tells }))
    }

    /// The most segments that leave together.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// How many segments a burst may have now, with so many bytes unacknowledged.
    pub fn segments(&self, window: &Window, unacknowledged: u64, srtt: Time, least: Time) -> u64 {
        if self.most < 2 || srtt == Time::ZERO {
            return self.most;
        }
        let Window { cwnd, ssthresh, mss, .. } = *window;
        let tenths = if cwnd < ssthresh / 2 { 20 } else { 12 };
        let bytes = u128::from(cwnd.max(unacknowledged)) * tenths * u128::from(SECOND.ps());
        let bytes = bytes / (10 * 1024 * u128::from(srtt.ps()));
        let halvings = least.ps() / HALVING.ps();
        let more = if halvings < HALVINGS { LARGEST >> halvings } else { 0 };
        let segments = (bytes + u128::from(more)) / u128::from(mss);
        segments.clamp(2, self.most.into()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Transport;
    use super::super::window::tests::segments;
    use super::*;
    use crate::Extensions;

    fn burst(cwnd: u64, ssthresh: u64, srtt: Time, least: Time) -> u64 {
        let (cwnd, ssthresh) = (cwnd * 1_448, ssthresh * 1_448);
        let window = Window { mss: 1_448, cwnd, ssthresh, ..segments(1, 1) };
        Bursts { most: 45, tells: false }.segments(&window, 0, srtt, least)
    }

    #[test]
    fn bursts_are_what_leaves_within_a_millisecond() {
        let ms = Time::from_ms;
        // 1.2 * 100 * 1448 / 30 ms / 1024 = 5656 bytes, 3.9 segments.
        assert_eq!(burst(100, 100, ms(30), ms(20)), 3);
        // Twice the window in slow start, from 2 * 100 * 1448 / 30 ms / 1024 = 9427.
        assert_eq!(burst(100, 201, ms(30), ms(20)), 6);
        assert_eq!(burst(100, 200, ms(30), ms(20)), 3);
        // 1.2 * 20 * 1448 / 30 ms / 1024 = 1131: at least two.
        assert_eq!(burst(20, 20, ms(30), ms(20)), 2);
    }

    #[test]
    fn short_round_trips_have_larger_bursts() {
        let us = Time::from_us;
        // 1.2 * 10 * 1448 / 2000 us / 1024 = 8484, and 65,536 / 2^3 with 2000 / 512 = 3.9: 11.5.
        assert_eq!(burst(10, 10, us(2_000), us(2_000)), 11);
        // 1.2 * 10 * 1448 / 16,000 us / 1024 = 1060, and 65,536 / 2^2: 12.05.
        assert_eq!(burst(10, 10, us(16_000), us(1_024)), 12);
        assert_eq!(burst(10, 10, us(16_384), us(16_384)), 2);
        // 65,536 alone are more than the 45 segments that fit into 64 KiB.
        assert_eq!(burst(10, 10, us(80), us(80)), 45);
        // Nothing is known before the first round trip.
        assert_eq!(burst(10, 10, us(0), Time::MAX), 45);
    }

    #[test]
    fn what_does_not_go_with_bursts_is_refused() {
        let problem = |text: &str| {
            let mut section = Section::new("transport", text.parse().unwrap());
            let read = Transport::read(&mut section, &Extensions::default());
            read.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let kind = "kind = \"newreno\"";
        for (more, expected) in [
            ("offload = \"64KiB\"", ""),
            ("offload = \"2895B\"", "offload: it is less than two segments"),
            ("offload = \"0B\"", "expected a size such as"),
            ("coalesce = \"2895B\"", "coalesce: it is less than two segments"),
            ("coalesce = \"64KiB\"\nrecovery.kind = \"per-priority\"", "an ack of its own"),
            ("quick_acks = 256", "expected a whole number from 0 to 255"),
            ("coalesce_time = \"5us\"", "coalesce_time"),
            (
                "offload = \"64KiB\"\nmin_window = \"100B\"",
                "offload: it does not go with this: min_window",
            ),
            ("ack_push = true\nrecovery.kind = \"per-priority\"", "ack_push: it does not go with"),
        ] {
            let told = problem(&format!("{kind}\n{more}"));
            assert!(told.contains(expected) && (told.is_empty() == expected.is_empty()), "{told}");
        }
    }
}
