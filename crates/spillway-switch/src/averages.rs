//! Moving averages of queue lengths and of the buffer's occupancy: further inputs of an oracle.
//!
//! # Reference
//! V. Addanki, M. Pacut, S. Schmid, "Credence", USENIX NSDI 2024, section 3.4: exponentially
//! weighted, over one round trip. The paper leaves the rest open.

use crate::buffer::QueueId;
use spillway_engine::Time;

/// When the averages are updated, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Averaging {
    /// What was held t ago has the weight exp(-t / span): the average changes with time, even if
    /// nothing happens.
    Continuous,
    /// As in the authors' program (inet-tub/ns3-datacenter): updated at every departure, towards
    /// what is left. The weight of the new value is the time since the last update over the span,
    /// at most 1. Values are whole bytes.
    AtDepartures,
}

/// The averages of one switch: of every queue, and of the occupancy.
#[derive(Clone, Debug)]
pub struct Averages {
    averaging: Averaging,
    decay: Decay,
    queues: Vec<Average>,
    whole: Average,
}

/// The share of a difference that is left after some time.
#[derive(Clone, Debug)]
struct Decay {
    span: Time,
    /// The same in picoseconds.
    span_ps: f64,
    /// Precomputed for short times, in picoseconds. In the slotted model, few other times occur.
    short: [f64; 64],
}

impl Decay {
    fn new(span: Time) -> Decay {
        let span_ps = span.ps() as f64;
        let short = std::array::from_fn(|ps| exponential(Time::from_ps(ps as u64), span_ps));
        Decay { span, span_ps, short }
    }

    #[inline]
    fn after(&self, elapsed: Time) -> f64 {
        let known = self.short.get(elapsed.ps() as usize).copied();
        known.unwrap_or_else(|| exponential(elapsed, self.span_ps))
    }
}

/// exp(-elapsed / span)
#[inline]
fn exponential(elapsed: Time, span_ps: f64) -> f64 {
    // A signed number is converted by one instruction.
    libm::exp(-(elapsed.ps() as i64 as f64) / span_ps)
}

#[derive(Clone, Copy, Debug, Default)]
struct Average {
    value: f64,
    at: Time,
}

impl Average {
    /// Updates the average to `now`, given that `held` bytes were held since the last update.
    #[inline]
    fn hold(&mut self, now: Time, decay: &Decay, held: f64) {
        if now != self.at {
            let kept = decay.after(now.since(self.at));
            *self = Average { value: held + (self.value - held) * kept, at: now };
        }
    }

    /// The average after a departure that leaves `left` bytes.
    fn departed(self, now: Time, span: Time, left: f64) -> Average {
        let gain = now.since(self.at).min(span).ps() as f64 / span.ps() as f64;
        Average { value: (gain * left + (1.0 - gain) * self.value).trunc(), at: now }
    }
}

impl Averages {
    /// The averages of empty queues. `span` is above 0.
    pub fn new(averaging: Averaging, span: Time, queues: usize) -> Averages {
        let queues = vec![Average::default(); queues];
        Averages { averaging, decay: Decay::new(span), queues, whole: Average::default() }
    }

    /// Called at every arrival, and before a queue's length changes. Until now, `bytes` were in the
    /// queue and `occupancy` in the whole buffer.
    #[inline]
    pub fn held(&mut self, now: Time, queue: QueueId, bytes: u32, occupancy: u64) {
        if self.averaging == Averaging::Continuous {
            self.queues[queue as usize].hold(now, &self.decay, bytes.into());
            self.whole.hold(now, &self.decay, occupancy as f64);
        }
    }

    /// A packet has left this queue to be sent. Now `bytes` are in the queue and `occupancy` in the
    /// whole buffer.
    #[inline]
    pub fn departed(&mut self, now: Time, queue: QueueId, bytes: u32, occupancy: u64) {
        if self.averaging == Averaging::AtDepartures {
            let average = &mut self.queues[queue as usize];
            *average = average.departed(now, self.decay.span, bytes.into());
            self.whole = self.whole.departed(now, self.decay.span, occupancy as f64);
        }
    }

    /// The average of a queue in bytes, as of the last call for this queue.
    #[inline]
    pub fn queue(&self, queue: QueueId) -> f64 {
        self.queues[queue as usize].value
    }

    /// The average of the occupancy in bytes, as of the last call.
    #[inline]
    pub fn occupancy(&self) -> f64 {
        self.whole.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    #[test]
    fn what_was_held_counts_less_the_longer_ago_it_was() {
        // 1000 bytes for one span, then nothing for another: 1000 (1 - 1/e) = 632.12 and then
        // 632.12 / e = 232.54. Updates every half span give the same.
        let mut averages = Averages::new(Averaging::Continuous, us(10), 2);
        averages.held(us(10), 0, 1000, 1000);
        assert!((averages.queue(0) - 632.120_558_828_558).abs() < 1e-9);
        averages.held(us(15), 0, 0, 0);
        averages.held(us(20), 0, 0, 0);
        assert!((averages.queue(0) - 232.544_157_934_830).abs() < 1e-9);
        assert!((averages.occupancy() - averages.queue(0)).abs() < 1e-9);
        assert_eq!(averages.queue(1), 0.0);
        averages.departed(us(25), 0, 500, 500);
        assert!(averages.queue(0) < 233.0);
    }

    #[test]
    fn the_programs_averages_move_at_departures() {
        // A quarter of the span: 0.25 * 1001 = 250.25, truncated. Then more than a span: the new
        // value.
        let mut averages = Averages::new(Averaging::AtDepartures, us(8), 1);
        averages.held(us(1), 0, 700, 700);
        assert_eq!(averages.queue(0), 0.0);
        averages.departed(us(2), 0, 1001, 4000);
        assert_eq!((averages.queue(0), averages.occupancy()), (250.0, 1000.0));
        averages.departed(us(12), 0, 30, 31);
        assert_eq!((averages.queue(0), averages.occupancy()), (30.0, 31.0));
    }
}
