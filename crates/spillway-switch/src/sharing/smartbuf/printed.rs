//! Algorithm 1 as it is printed, line by line.

use super::history::History;
use spillway_engine::Time;

/// Main_map is "global across all ports".
const ALL: u32 = 0;

/// One port's variables, under the paper's names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printed {
    gradient_prev: f64,
    qlen_prev: u64,
    t_prev: Time,
    max_buf_seen: u64,
    /// The gradient and the value at the maximum.
    temp_map: (f64, u64),
}

/// What happens to a port's threshold when a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It remains (lines 15 and 23).
    Stays,
    /// It takes this value (line 30), and the burst has been learned.
    Becomes(Option<u64>),
    /// It is again that of Dynamic Thresholds (line 33).
    Dynamic,
}

impl Printed {
    /// Lines 8 to 33, for a packet that leaves `qlen` bytes behind. `large` is
    /// total_buf_size / sigma. During the learning phase, no threshold is set.
    pub fn on_dequeue(
        &mut self,
        now: Time,
        qlen: u64,
        (k, large, beta, predicts): (usize, f64, f64, bool),
        main_map: &mut History,
    ) -> Outcome {
        // Lines 9 to 12. Two packets never leave a port at the same time, but the first one may
        // leave at time 0.
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
            // i = 1; i < K: one fewer than K. The paper does not define min(K); it is 0 here.
            let (mut found, mut sum) = (0, 0);
            if predicts {
                for bytes in main_map.nearest_above(now, ALL, gradient, k - 1) {
                    (found, sum) = (found + 1, sum + bytes);
                }
            }
            let average = (found > 0).then(|| sum / k as u64);
            main_map.insert(now, ALL, self.temp_map.0, self.temp_map.1);
            return Outcome::Becomes(average);
        }
        self.max_buf_seen = 0;
        self.temp_map = (0.0, 0);
        Outcome::Dynamic
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::Rules;
    use super::*;

    /// A port whose packets leave a microsecond apart, the first one 1 us after the start. A burst
    /// is more than 200 bytes, and is over below half of its maximum; K = 3.
    struct Bench {
        port: Printed,
        map: History,
        now: Time,
        k: usize,
        predicts: bool,
    }

    impl Bench {
        fn new(map: History) -> Bench {
            Bench { port: Printed::default(), map, now: Time::ZERO, k: 3, predicts: true }
        }

        fn leaves(&mut self, bytes: u64) -> Outcome {
            self.now += Time::from_us(1);
            let settings = (self.k, 200.0, 0.5, self.predicts);
            self.port.on_dequeue(self.now, bytes, settings, &mut self.map)
        }

        /// A gradient in MB/s, which is bytes per microsecond.
        fn gradient(&self) -> f64 {
            self.port.gradient_prev / 1e6
        }

        /// The sizes of known bursts with greater gradients.
        fn known(&mut self, gradient: f64) -> Vec<u64> {
            self.map.nearest_above(self.now, ALL, gradient * 1e6, 100).collect()
        }
    }

    /// A history from gradients in MB/s and sizes. Gradients are rounded to whole MB/s.
    fn map(bursts: &[(f64, u64)]) -> History {
        let rules =
            Rules { quantum: 1e6, max_age: Time::from_us(1000), own_quantum: false, histories: 1 };
        let mut map = History::new(rules);
        for &(gradient, bytes) in bursts {
            map.insert(Time::ZERO, ALL, gradient * 1e6, bytes);
        }
        map
    }

    #[test]
    fn one_neighbour_fewer_is_taken_than_is_divided_by() {
        // 400 bytes after 1 us: 1/4 400 = 100. Then 1/4 (300 - 400) + 3/4 100 = 50, and 300 is
        // above half.
        let known = [(-20.5, 600), (-5.5, 270), (20.5, 360), (40.5, 900)];
        let mut bench = Bench::new(map(&known));
        assert_eq!((bench.leaves(400), bench.gradient()), (Outcome::Stays, 100.0));
        assert_eq!((bench.leaves(300), bench.gradient()), (Outcome::Stays, 50.0));
        // 1/4 (100 - 300) + 3/4 50 = -12.5. Two bursts are above it: (270 + 360) / 3.
        assert_eq!((bench.leaves(100), bench.gradient()), (Outcome::Becomes(Some(210)), -12.5));
        // The burst is stored under the gradient at its maximum.
        assert_eq!(bench.known(99.0), [400]);
        assert!(bench.known(100.0).is_empty());
    }

    #[test]
    fn a_port_never_gets_out_of_its_first_burst() {
        let mut bench = Bench::new(map(&[(-20.5, 600), (-5.5, 270), (20.5, 360), (40.5, 900)]));
        for bytes in [400, 300, 100] {
            bench.leaves(bytes);
        }
        // 1/4 (250 - 100) + 3/4 (-12.5) = 28.125. Half of 400 is 200.
        assert_eq!((bench.leaves(250), bench.gradient()), (Outcome::Stays, 28.125));
        // 1/4 (150 - 250) + 3/4 28.125 = -3.90625: (360 + 900) / 3. The burst is over once more.
        assert_eq!(bench.leaves(150), Outcome::Becomes(Some(420)));
        // 1/4 (0 - 150) + 3/4 (-3.90625) = -40.4...: (600 + 270) / 3. From now on, every packet
        // ends a burst: what the port holds is no burst, but the maximum is still 400.
        assert_eq!(bench.leaves(0), Outcome::Becomes(Some(290)));
        for bytes in [90, 80, 0] {
            assert!(matches!(bench.leaves(bytes), Outcome::Becomes(Some(_))));
        }
        assert_eq!(bench.port.max_buf_seen, 400);
    }

    #[test]
    fn where_none_is_above_there_is_no_mean() {
        // The gradient is -12.5, as above. No burst is above it, or one; of two, K = 1 uses none.
        for (known, outcome) in
            [(vec![], None), (vec![(20.5, 360)], Some(120)), (vec![(-20.5, 600)], None)]
        {
            let mut bench = Bench::new(map(&known));
            bench.leaves(400);
            bench.leaves(300);
            assert_eq!(bench.leaves(100), Outcome::Becomes(outcome), "{known:?}");
        }
        let mut bench = Bench { k: 1, ..Bench::new(map(&[(-5.5, 270), (20.5, 360)])) };
        bench.leaves(400);
        assert_eq!(bench.leaves(100), Outcome::Becomes(None));
    }

    #[test]
    fn while_it_learns_nothing_becomes_a_threshold() {
        let mut bench = Bench { predicts: false, ..Bench::new(map(&[(20.5, 360)])) };
        bench.leaves(400);
        assert_eq!(bench.leaves(100), Outcome::Becomes(None));
        assert_eq!(bench.known(21.0), [400]);
    }

    #[test]
    fn a_low_maximum_is_forgotten_but_not_the_gradient() {
        let mut bench = Bench::new(map(&[]));
        bench.leaves(200);
        // 1/4 (99 - 200) + 3/4 50 = 12.25, and 200 is not more than 200. 100 would not be below
        // half.
        assert_eq!((bench.leaves(99), bench.gradient()), (Outcome::Dynamic, 12.25));
        assert_eq!((bench.port.max_buf_seen, bench.port.temp_map), (0, (0.0, 0)));
        // Line 20 sets a gradient to 0, but line 11 reads the one of line 12.
        bench.leaves(100);
        assert_eq!((bench.gradient(), bench.port.max_buf_seen), (9.4375, 100));
    }
}
