//! Algorithm 1 as it is printed, line by line.

use super::history::History;
use spillway_engine::Time;

/// One port's variables, by the paper's names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printed {
    gradient_prev: f64,
    qlen_prev: u64,
    t_prev: Time,
    max_buf_seen: u64,
    /// A gradient, and a maximum.
    temp_map: (f64, u64),
}

/// What a packet's departure does to its port's threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It stays (lines 15 and 23).
    Stays,
    /// It becomes this (line 30), and the burst has been learned.
    Becomes(Option<u64>),
    /// It is that of Dynamic Thresholds (line 33).
    Dynamic,
}

impl Printed {
    /// Lines 8 to 33 for a packet that leaves `qlen` bytes behind. `large` is total_buf_size / sigma.
    /// Before the learning phase is over nothing becomes a threshold.
    pub fn on_dequeue(
        &mut self,
        now: Time,
        qlen: u64,
        (k, large, beta, predicts): (usize, f64, f64, bool),
        main_map: &mut History,
    ) -> Outcome {
        // Lines 9 to 12. Two packets never leave a port at a time; the first may at time 0.
        let seconds = (now - self.t_prev).ps().max(1) as f64 / 1e12;
        let gradient = (qlen as f64 - self.qlen_prev as f64) / seconds;
        (self.qlen_prev, self.t_prev) = (qlen, now);
        let gradient = 0.25 * gradient + 0.75 * self.gradient_prev;
        self.gradient_prev = gradient;
        if qlen > self.max_buf_seen {
            self.max_buf_seen = qlen;
            self.temp_map = (gradient, self.max_buf_seen);
            return Outcome::Stays;
        }
        if qlen as f64 >= beta * self.max_buf_seen as f64 {
            return Outcome::Stays;
        }
        if self.max_buf_seen as f64 > large {
            // i = 1; i < K: one fewer than K. What min(K) is, nobody has said: 0.
            let (mut found, mut sum) = (0, 0);
            if predicts {
                for bytes in main_map.nearest_above(now, gradient, k - 1) {
                    (found, sum) = (found + 1, sum + bytes);
                }
            }
            let average = (found > 0).then(|| sum / k as u64);
            main_map.insert(now, self.temp_map.0, self.temp_map.1);
            return Outcome::Becomes(average);
        }
        self.max_buf_seen = 0;
        self.temp_map = (0.0, 0);
        Outcome::Dynamic
    }
}
