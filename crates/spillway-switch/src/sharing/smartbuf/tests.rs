//! Examples worked out by hand.

use super::*;
use crate::sharing::tests::{arrival, filled};

/// A buffer of 1,000,000 bytes, so that a burst is more than 200,000; three ports of 10 Gbps, on
/// which 1500 bytes take 1.2 us.
struct Bench {
    smartbuf: Smartbuf,
    lengths: [u32; 3],
    now: Time,
}

impl Bench {
    fn new(text: &str) -> Bench {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let smartbuf = Smartbuf::read(&mut section, &Environment::example(3)).unwrap();
        Bench { smartbuf, lengths: [0; 3], now: Time::from_us(100) }
    }

    /// A full packet leaves a port 1.2 us after the last one, and `bytes` bytes are left.
    fn leaves(&mut self, port: u32, bytes: u32) -> Option<u64> {
        self.now += Time::from_ns(1200);
        self.lengths[port as usize] = bytes;
        self.smartbuf.on_dequeue(self.now, port, 1500, &filled(&self.lengths));
        self.smartbuf.places[port as usize].limit
    }

    /// A queue grows by `by` bytes with each packet until it holds `most`. Returns its limit then.
    fn grows(&mut self, port: u32, by: u32, most: u32) -> Option<u64> {
        let mut limit = None;
        for bytes in (by..=most).step_by(by as usize) {
            limit = self.leaves(port, bytes);
        }
        limit
    }

    /// A queue grows, and then falls below half at once.
    fn comes_and_goes(&mut self, port: u32, by: u32, most: u32) {
        self.grows(port, by, most);
        assert_eq!(self.leaves(port, most / 2 - 1), None, "the burst is over");
    }

    fn admits(&mut self, port: u32, size: u32) -> bool {
        let buffer = filled(&self.lengths);
        self.smartbuf.admit(&arrival(port, size), &buffer) == Admission::Admit
    }

    fn known(&mut self) -> Vec<u64> {
        self.smartbuf.history.nearest_above(self.now, 0, f64::MIN, 100).collect()
    }
}

#[test]
fn a_burst_may_hold_what_the_nearest_above_came_to() {
    let mut bench = Bench::new("");
    // Growing by 6000, 9000 and 12,000 bytes in 1.2 us: 5, 7.5 and 10 GB/s.
    bench.comes_and_goes(0, 12_000, 420_000);
    bench.comes_and_goes(1, 6_000, 300_000);
    bench.comes_and_goes(0, 9_000, 360_000);
    assert_eq!(bench.known(), [300_000, 360_000, 420_000]);
    // 4000 bytes are 3.33 GB/s, below all three. 200,000 bytes are not more than a fifth of the
    // buffer.
    assert_eq!(bench.grows(2, 4_000, 200_000), None);
    assert_eq!(bench.leaves(2, 204_000), Some(360_000));
    bench.lengths[2] = 358_500;
    assert!(bench.admits(2, 1500) && !bench.admits(2, 1501));
    // 7500 bytes are 6.25 GB/s, and two bursts are above.
    bench.leaves(2, 0);
    assert_eq!(bench.grows(2, 7_500, 225_000), Some(390_000));
    // 15,000 bytes: no burst is above, and the largest counts.
    bench.leaves(2, 0);
    assert_eq!(bench.grows(2, 15_000, 210_000), Some(420_000));
    // The queue falls to half: 3/4 12.5 - 1/4 87.5 GB/s. Port 2's own bursts of 204,000 and
    // 225,000 bytes are among the three above. Below half, the burst is over.
    assert_eq!(bench.leaves(2, 105_000), Some(243_000));
    assert_eq!(bench.leaves(2, 104_999), None);
}

#[test]
fn k_is_how_many_count() {
    for (k, limit) in [(1, 300_000), (2, 330_000), (3, 360_000), (9, 360_000)] {
        let mut bench = Bench::new(&format!("k = {k}"));
        bench.comes_and_goes(0, 12_000, 420_000);
        bench.comes_and_goes(0, 6_000, 300_000);
        bench.comes_and_goes(0, 9_000, 360_000);
        assert_eq!(bench.grows(1, 3_000, 210_000), Some(limit), "{k}");
    }
}

#[test]
fn while_nothing_is_known_thresholds_are_dynamic() {
    let mut bench = Bench::new("alpha = 1.0\nlearning_period = \"1ms\"");
    assert_eq!(bench.grows(0, 6_000, 402_000), None);
    // T = 1,000,000 - 402,000 = 598,000.
    assert!(bench.admits(0, 10_000));
    bench.lengths[0] = 500_000;
    assert!(!bench.admits(0, 1), "T = 500,000");
    // Meanwhile bursts are learned; they are used from 1 ms after the start of the run.
    bench.leaves(0, 0);
    assert_eq!(bench.known(), [402_000]);
    assert_eq!(bench.grows(1, 3_000, 210_000), None);
    bench.now = Time::from_ps(998_799_999);
    assert_eq!(bench.leaves(1, 211_000), None);
    bench.now = Time::from_ns(998_800);
    assert_eq!(bench.leaves(1, 211_000), Some(402_000));

    let mut bench = Bench::new("variant = \"printed\"\nlearning_period = \"1ms\"");
    bench.comes_and_goes(0, 12_000, 420_000);
    bench.now = Time::from_ps(998_799_999);
    assert_eq!(bench.leaves(0, 200_000), None);
    bench.now = Time::from_ns(998_800);
    assert_eq!(bench.leaves(0, 200_000), Some(140_000), "one of K = 3");
}

#[test]
fn a_queue_that_is_no_burst_is_not_learned() {
    let mut bench = Bench::new("");
    bench.comes_and_goes(0, 5_000, 200_000);
    assert!(bench.known().is_empty());
    let mut bench = Bench::new("sigma = 5.1");
    bench.comes_and_goes(0, 5_000, 200_000);
    assert_eq!(bench.known(), [200_000]);
    let counts: Vec<u64> = bench.smartbuf.counters().iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [1, 1, 1, 0]);
}

#[test]
fn it_is_known_by_the_gradient_that_is_asked_for() {
    // Steps of 6000 bytes up to 204,000, where the burst is detected: 5 GB/s. Two steps of 12,000:
    // 3/4 5 + 1/4 10 = 6.25 and 7.1875 GB/s. Two steps of 3000, up to 234,000: 6.015625 and
    // 5.13671875 GB/s.
    for (key, gradient) in [("at-max", 5.13e9), ("at-detection", 5e9), ("peak", 7.18e9)] {
        let mut bench = Bench::new(&format!("key = \"{key}\""));
        bench.grows(0, 6_000, 204_000);
        for bytes in [216_000, 228_000, 231_000, 234_000, 100_000] {
            bench.leaves(0, bytes);
        }
        // A hundredth of 1.25 GB/s is 12.5 MB/s.
        let mut above =
            |gradient| bench.smartbuf.history.nearest_above(bench.now, 0, gradient, 1).count();
        assert_eq!((above(gradient - 0.0125e9), above(gradient + 0.0125e9)), (1, 0), "{key}");
    }
}

#[test]
fn what_was_lost_may_count() {
    for (record, bytes) in [("admitted", 240_000), ("admitted+dropped", 249_000)] {
        let mut bench = Bench::new(&format!("record = \"{record}\""));
        bench.grows(0, 6_000, 234_000);
        let buffer = filled(&bench.lengths);
        for _ in 0..6 {
            bench.smartbuf.on_drop(bench.now, 0, 1500, &buffer);
            bench.smartbuf.on_drop(bench.now, 1, 1500, &buffer);
        }
        bench.leaves(0, 240_000);
        // Bytes lost after the maximum, while the queue falls, do not count: 238,000 and 10,500 are
        // fewer.
        bench.smartbuf.on_drop(bench.now, 0, 1500, &buffer);
        bench.leaves(0, 238_000);
        bench.leaves(0, 100_000);
        assert_eq!(bench.known(), [bytes]);
    }
}

#[test]
fn what_is_being_sent_is_no_burst() {
    // A burst of 900 bytes is known, which is more than 16,000 / 20. The last packet is being sent,
    // and its bytes are held until it has been sent. No other packet leaves to show that the port
    // is empty.
    let mut environment = Environment { capacity: 16_000, ..Environment::example(1) };
    environment.service.release_at_end = true;
    let mut section = Section::new("sharing", "sigma = 20.0".parse().unwrap());
    let mut smartbuf = Smartbuf::read(&mut section, &environment).unwrap();
    smartbuf.learn(Time::ZERO, 0, 0.0, 900);
    let mut buffer = Buffer::new(16_000, environment.port_rates.clone(), 1);
    buffer.add(0, 1500);
    smartbuf.on_dequeue(Time::from_us(1), 0, 1500, &buffer);
    buffer.subtract(0, 1500);
    assert_eq!(smartbuf.admit(&arrival(0, 1500), &buffer), Admission::Admit);
}

#[test]
fn a_pause_begins_a_new_train() {
    let mut bench = Bench::new("key = \"at-detection\"");
    // 100,000 bytes at 10 GB/s, a pause, and then 5 GB/s.
    bench.grows(0, 12_000, 96_000);
    bench.now += Time::from_ps(1);
    for bytes in (102_000..=210_000).step_by(6_000) {
        bench.leaves(0, bytes);
    }
    bench.leaves(0, 0);
    let mut above =
        |gradient| bench.smartbuf.history.nearest_above(bench.now, 0, gradient, 1).count();
    assert_eq!((above(4.98e9), above(5.02e9)), (1, 0));
}

#[test]
fn as_printed_a_threshold_stays_where_nothing_is_above() {
    let mut bench = Bench::new("variant = \"printed\"");
    // 10 GB/s up to 420,000 bytes, then less than half is left. No burst was known before.
    assert_eq!(bench.grows(0, 12_000, 420_000), None);
    assert_eq!(bench.leaves(0, 209_999), None);
    // Again less than half is left. Now the port's own burst is known, one of K = 3.
    assert_eq!(bench.leaves(0, 100_000), Some(140_000));
    // Nothing changes for long, and the gradient approaches 0. 109,999 bytes in 1.2 us make it a
    // quarter of 91.7 GB/s, which is above 10. A new maximum does not change the limit either.
    for _ in 0..40 {
        assert_eq!(bench.leaves(0, 100_000), Some(140_000));
    }
    assert_eq!(bench.leaves(0, 209_999), Some(140_000));
    assert_eq!(bench.leaves(0, 500_000), Some(140_000));
    assert!(!bench.admits(0, 64));
    // The other ports have Dynamic Thresholds: 0.5 (1,000,000 - 500,000).
    assert_eq!(bench.leaves(1, 1_000), None);
    assert!(bench.admits(1, 248_000));
}

/// A bench that knows bursts of 300,000, 360,000 and 420,000 bytes, with 5, 7.5 and 10 GB/s.
fn knows_three(text: &str) -> Bench {
    let mut bench = Bench::new(text);
    bench.comes_and_goes(0, 12_000, 420_000);
    bench.comes_and_goes(0, 6_000, 300_000);
    bench.comes_and_goes(0, 9_000, 360_000);
    bench
}

#[test]
fn a_burst_may_hold_a_quantile_of_what_the_nearest_came_to() {
    // At 3.33 GB/s all three are above, at 6.67 GB/s two; at 12.5 GB/s the largest counts.
    for (keys, limits) in [
        ("estimate = \"quantile\"", [420_000, 420_000, 420_000]),
        ("estimate = \"quantile\"\nquantile = 0.5", [360_000, 360_000, 420_000]),
        ("estimate = \"quantile\"\nquantile = 0.25", [300_000, 360_000, 420_000]),
        ("estimate = \"quantile\"\nk = 2", [360_000, 420_000, 420_000]),
        ("estimate = \"mean\"", [360_000, 390_000, 420_000]),
    ] {
        for (by, limit) in [4_000, 8_000, 15_000].into_iter().zip(limits) {
            let mut bench = knows_three(keys);
            assert_eq!(bench.grows(1, by, 240_000), Some(limit), "{keys}: {by}");
        }
    }
}

#[test]
fn a_burst_of_the_same_gradient_may_be_among_the_nearest() {
    // 10 and 7.505 GB/s; the latter is in quantum 600 of 12.5 MB/s.
    for (own_quantum, limit) in [(false, 420_000), (true, 390_120)] {
        let mut bench = Bench::new(&format!("own_quantum = {own_quantum}"));
        bench.comes_and_goes(0, 12_000, 420_000);
        bench.comes_and_goes(0, 9_006, 360_240);
        assert_eq!(bench.grows(1, 9_006, 207_138), Some(limit));
        // 7.51 GB/s is in the same quantum, 7.52 GB/s in the next.
        bench.leaves(1, 0);
        let mut nearest = |gradient| {
            let near = bench.smartbuf.history.nearest_above(bench.now, 0, gradient, 1);
            near.collect::<Vec<_>>()
        };
        assert_eq!(nearest(7.51e9), [if own_quantum { 360_240 } else { 420_000 }]);
        assert_eq!(nearest(7.52e9), [420_000]);
    }
}

#[test]
fn a_burst_may_be_looked_up_only_once() {
    for (lookup, later) in [("each-departure", 360_000), ("detection", 390_000)] {
        let mut bench = knows_three(&format!("lookup = \"{lookup}\""));
        // At 6.67 GB/s two are above. Then the queue falls, 3/4 6.67 - 1/4 6.67 = 3.33 GB/s: all
        // three are.
        assert_eq!(bench.grows(1, 8_000, 208_000), Some(390_000));
        assert_eq!(bench.leaves(1, 200_000), Some(later), "{lookup}");
        // The next burst is looked up again, at 3.33 GB/s. Its own 208,000 bytes are now the
        // second.
        bench.leaves(1, 0);
        assert_eq!(bench.grows(1, 4_000, 204_000), Some(289_333), "{lookup}");
    }
}

#[test]
fn where_nothing_was_known_at_detection_it_stays_so_if_that_is_the_only_look() {
    for (lookup, later) in [("each-departure", Some(300_000)), ("detection", None)] {
        let mut bench = Bench::new(&format!("lookup = \"{lookup}\""));
        assert_eq!(bench.grows(1, 8_000, 208_000), None);
        bench.comes_and_goes(0, 6_000, 300_000);
        assert_eq!(bench.leaves(1, 216_000), later, "{lookup}");
    }
}

#[test]
fn a_prediction_may_have_the_floor_of_dynamic_thresholds() {
    for (floor, most) in [("none", 210_000), ("dt", 395_000)] {
        let mut bench = Bench::new(&format!("floor = \"{floor}\""));
        bench.comes_and_goes(0, 6_000, 210_000);
        assert_eq!(bench.grows(1, 4_000, 208_000), Some(210_000));
        // 790,000 of 1,000,000 bytes are free: T = 395,000.
        bench.lengths = [0, 208_000, 2_000];
        let buffer = filled(&bench.lengths);
        assert_eq!(bench.smartbuf.threshold(&arrival(1, 1), &buffer), Some(most), "{floor}");
        assert!(bench.admits(1, 2_000));
        assert_eq!(bench.admits(1, 2_001), floor == "dt");
        assert!(!bench.admits(1, 187_001));
        // 395,000 bytes are free: T = 197,500 is below the prediction, which applies.
        bench.lengths = [0, 208_000, 397_000];
        let buffer = filled(&bench.lengths);
        assert_eq!(bench.smartbuf.threshold(&arrival(1, 1), &buffer), Some(210_000));
        assert!(bench.admits(1, 2_000) && !bench.admits(1, 2_001));
        // A port that is in no burst has Dynamic Thresholds in any case.
        assert!(!bench.admits(2, 1));
    }
}

#[test]
fn a_port_may_know_of_its_own_bursts_only() {
    for (learn_from, limit) in [("all-ports", Some(360_000)), ("own-port", None)] {
        let mut bench = knows_three(&format!("learn_from = \"{learn_from}\""));
        assert_eq!(bench.grows(1, 4_000, 208_000), limit, "{learn_from}");
        bench.leaves(1, 0);
        // Its own burst of 208,000 bytes is the nearest now, or the only one.
        let own = if learn_from == "own-port" { 208_000 } else { 289_333 };
        assert_eq!(bench.grows(1, 3_000, 210_000), Some(own), "{learn_from}");
        assert_eq!(bench.grows(0, 4_000, 208_000), Some(360_000), "{learn_from}");
    }
}

#[test]
fn what_the_printed_lines_do_not_leave_open_they_do_not_take() {
    for key in [
        "estimate = \"mean\"",
        "own_quantum = true",
        "lookup = \"detection\"",
        "floor = \"dt\"",
        "learn_from = \"own-port\"",
    ] {
        let wrong = |variant: &str| {
            let text = format!("variant = \"{variant}\"\n{key}");
            let mut section = Section::new("sharing", text.parse().unwrap());
            let read = Smartbuf::read(&mut section, &Environment::example(3)).map(drop);
            read.and_then(|()| section.finish().map(drop)).err().map(|error| error.to_string())
        };
        let name = key.split(' ').next().unwrap();
        assert_eq!(wrong("text"), None);
        let problem = format!("sharing.{name}: it needs variant = \"text\"");
        assert_eq!(wrong("printed"), Some(problem));
    }
}

#[test]
fn a_queue_may_have_a_limit_of_its_own() {
    // A burst of 250,000 bytes is known, and 200,000 are large. At one port, queue 1 holds 240,000
    // bytes, and a packet that leaves queue 0 leaves 5,000 behind.
    for (limit, of_queue_0, of_queue_1) in [("port", 5_000, 5_000), ("queue", 372_500, 10_000)] {
        let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
        let mut section = Section::new("sharing", format!("limit = \"{limit}\"").parse().unwrap());
        let mut smartbuf = Smartbuf::read(&mut section, &environment).unwrap();
        smartbuf.learn(Time::ZERO, 0, 20e9, 250_000);
        let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
        buffer.add(0, 5_000);
        buffer.add(1, 240_000);
        smartbuf.on_dequeue(Time::from_us(1), 0, 1500, &buffer);
        // The port has room for 5,000 bytes. Queue 1 has room for 10,000. Queue 0, in no burst, has
        // 0.5 (1,000,000 - 245,000) = 377,500, of which 5,000 are taken.
        for (queue, most) in [(0, of_queue_0), (1, of_queue_1)] {
            let mut takes = |size| {
                let arrival = Arrival { queue_class: queue as u8, ..arrival(queue, size) };
                smartbuf.admit(&arrival, &buffer) == Admission::Admit
            };
            assert!(takes(most) && !takes(most + 1), "{limit} {queue}");
        }
    }
}
