//! How a sender's segments leave in bursts.

use super::{Phase, Sender};
use crate::bursts::{Bursts, PATIENCE};
use spillway_engine::Time;

impl Sender {
    /// How many segments may leave together now; 0 if the sender waits until more fit.
    pub fn burst(&mut self, now: Time, bursts: &Bursts) -> u64 {
        self.past.least_rtt = self.past.least_rtt.min(match self.rtt.smoothed() {
            Time::ZERO => Time::MAX,
            smoothed => smoothed,
        });
        let (cwnd, mss) = (self.window.cwnd, self.window.mss);
        let in_flight = self.in_flight();
        let room = match &self.reduction {
            Some(reduction) => reduction.allowed(),
            None => cwnd.saturating_sub(in_flight),
        };
        let left = self.size - self.board.nxt;
        if self.phase != Phase::Open || room < mss.min(left) {
            return 1;
        }
        let fits = if left <= room { left.div_ceil(mss) } else { room / mss };
        let unacknowledged = self.board.nxt - self.board.una;
        let srtt = self.rtt.smoothed();
        let largest = bursts.segments(&self.window, unacknowledged, srtt, self.past.least_rtt);
        let is_short = fits < largest && left > room && room < cwnd / 3;
        if is_short && in_flight > 0 && now <= self.past.sent_at.saturating_add(PATIENCE) {
            return 0;
        }
        fits.min(largest).min((cwnd / mss / 2).max(1))
    }

    /// A burst has left.
    pub fn note_burst(&mut self, now: Time) {
        self.past.sent_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{acked, us};
    use super::*;
    use crate::tests::{access, closed_loop};

    #[test]
    fn a_small_burst_waits_for_a_third_of_the_window_or_a_millisecond() {
        let text = "kind = \"newreno\"\nmss = \"1000B\"\noffload = \"64KiB\"";
        let transport = closed_loop(text);
        let mut sender = Sender::new(40_000, 1_000, &transport, &access(10, 25));
        let bursts = transport.bursts.unwrap();
        // The bursts that leave at a time.
        let leave = |sender: &mut Sender, now: Time| {
            let mut found = Vec::new();
            loop {
                let together = sender.burst(now, &bursts);
                let pieces = (0..together).map_while(|_| sender.next_piece(now, &transport));
                match pieces.count() {
                    0 => return found,
                    count => found.push(count),
                }
                sender.note_burst(now);
            }
        };
        let nothing: [usize; 0] = [];
        // Half of the window of ten at most.
        assert_eq!(leave(&mut sender, us(0)), [5, 5]);
        // An ack of two: a window of 12 has room for four, a third.
        acked(&mut sender, &transport, us(80), 2, &[]);
        assert_eq!(leave(&mut sender, us(80)), [4]);
        // Room for two of 13, then four of 14: it waits. Six of 15 leave.
        acked(&mut sender, &transport, us(90), 3, &[]);
        assert_eq!(leave(&mut sender, us(90)), nothing);
        acked(&mut sender, &transport, us(91), 4, &[]);
        assert_eq!(leave(&mut sender, us(91)), nothing);
        acked(&mut sender, &transport, us(92), 5, &[]);
        assert_eq!(leave(&mut sender, us(92)), [6]);
        // Two fit. A millisecond after the last burst it does not wait any more.
        acked(&mut sender, &transport, us(1_092), 6, &[]);
        assert_eq!(leave(&mut sender, us(1_092)), nothing);
        assert_eq!(leave(&mut sender, us(1_093)), [2]);
        // 22 of 40 have left. An ack of all lets a window of 32 go: half of it, then the rest.
        acked(&mut sender, &transport, us(1_200), 22, &[]);
        assert_eq!(leave(&mut sender, us(1_200)), [16, 2]);
    }
}
