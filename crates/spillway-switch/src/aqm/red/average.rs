//! RED's average of a queue.

use spillway_engine::Time;

/// The average of what arrivals find in a queue (or at a port).
#[derive(Clone, Copy, Debug, Default)]
pub struct Average {
    value: f64,
    /// When the queue's (or port's) last packet was sent, but for acks that are not managed, or else
    /// the last arrival that found it empty.
    idle_since: Time,
}

impl Average {
    /// An arrival finds a queue of this length: avg = (1 - w) avg + w q. An empty one has decayed
    /// as if packets, of which one takes `packet` to be sent, had passed since it is empty.
    #[inline]
    pub fn finds(&mut self, now: Time, length: f64, weight: f64, packet: Time) -> f64 {
        if length == 0.0 {
            self.value = self.decayed(now, weight, packet);
            self.idle_since = self.idle_since.max(now);
        }
        self.value += weight * (length - self.value);
        self.value
    }

    /// The average that arrivals have left.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// What is left of it at this time if the queue is empty.
    #[inline]
    pub fn decayed(&self, at: Time, weight: f64, packet: Time) -> f64 {
        let idle = at.since(self.idle_since).ps();
        let missed = idle / packet.ps().max(1);
        self.value * libm::pow(1.0 - weight, missed as f64)
    }

    /// The last bit of a packet of the queue will have been sent at this time.
    #[inline]
    pub fn is_sent(&mut self, at: Time) {
        self.idle_since = at;
    }
}
