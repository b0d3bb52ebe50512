//! One port's burst: how fast its queue grows, and how far it has come.

use spillway_engine::Time;

/// Which gradient of a burst it is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGradient {
    /// The one with which it came to its maximum.
    AtMax,
    /// The one with which it was first taken for a burst.
    AtDetection,
    /// The greatest.
    Peak,
}

/// What a port held when a packet left it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: Time,
    bytes: u64,
    /// When that packet was sent. What leaves later found the port idle.
    sent: Time,
}

/// A port's queue since it last was low.
#[derive(Clone, Copy, Debug, Default)]
pub struct Burst {
    last: Option<Sample>,
    /// Smoothed, in bytes per second; `None` before there are two samples.
    gradient: Option<f64>,
    /// The most that was held (max_buf_seen).
    pub max_held: u64,
    /// The most that was held, and all that had been lost by then.
    pub max_wanted: u64,
    /// Bytes lost.
    pub lost: u64,
    at_max: f64,
    at_detection: Option<f64>,
    peak: f64,
}

impl Burst {
    /// A packet has left: `bytes` are left in the port's queues, and it will be sent at `sent`.
    /// `past` is the weight of the gradient before.
    pub fn sample(&mut self, time: Time, bytes: u64, sent: Time, past: f64) {
        let before = self.last.replace(Sample { time, bytes, sent });
        self.gradient = match before {
            Some(before) if time <= before.sent && time > before.time => {
                let seconds = (time - before.time).ps() as f64 / 1e12;
                let gradient = (bytes as f64 - before.bytes as f64) / seconds;
                Some(self.gradient.map_or(gradient, |old| past * old + (1.0 - past) * gradient))
            }
            // The port was idle in between: this is another train.
            _ => None,
        };
        let gradient = self.gradient();
        self.peak = if self.max_held == 0 { gradient } else { self.peak.max(gradient) };
        if bytes > self.max_held {
            (self.max_held, self.at_max) = (bytes, gradient);
        }
        self.max_wanted = self.max_wanted.max(bytes + self.lost);
    }

    /// A packet for it was lost.
    pub fn lose(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// It is large enough to be taken for a burst. Whether it was not before.
    pub fn detect(&mut self) -> bool {
        let is_new = self.at_detection.is_none();
        let gradient = self.gradient();
        self.at_detection.get_or_insert(gradient);
        is_new
    }

    /// The smoothed gradient, in bytes per second.
    pub fn gradient(&self) -> f64 {
        self.gradient.unwrap_or(0.0)
    }

    /// The gradient that it is known by.
    pub fn key(&self, key: KeyGradient) -> f64 {
        match key {
            KeyGradient::AtMax => self.at_max,
            KeyGradient::AtDetection => self.at_detection.unwrap_or(0.0),
            KeyGradient::Peak => self.peak,
        }
    }

    /// It is over. The next begins with the next packet.
    pub fn end(&mut self) {
        *self = Burst { last: self.last, ..Burst::default() };
    }
}
