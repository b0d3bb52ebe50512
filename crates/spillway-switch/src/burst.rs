//! One port's burst: how fast the port's queues grow, and how long they have become.

use spillway_engine::Time;

/// Which of a burst's gradients characterizes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGradient {
    /// The gradient when the queues were longest.
    AtMax,
    /// The gradient when the burst was detected.
    AtDetection,
    /// The greatest gradient.
    Peak,
}

/// What a port held when a packet left it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: Time,
    bytes: u64,
    /// When the transmission of that packet ends. A packet that leaves later found the port idle.
    sent: Time,
}

/// How a port's queues have developed since they were last short.
#[derive(Clone, Copy, Debug, Default)]
pub struct Burst {
    last: Option<Sample>,
    /// Smoothed, in bytes per second; `None` before there are two samples.
    gradient: Option<f64>,
    /// The most that was held (max_buf_seen).
    pub max_held: u64,
    /// The most that was held plus lost: the greatest sum of the bytes held and all bytes lost
    /// until then.
    pub max_wanted: u64,
    /// Bytes lost.
    pub lost: u64,
    at_max: f64,
    at_detection: Option<f64>,
    peak: f64,
}

impl Burst {
    /// A packet has left: `bytes` are left in the port's queues, and its transmission ends at
    /// `sent`. `past` is the weight of the previous gradient.
    pub fn sample(&mut self, time: Time, bytes: u64, sent: Time, past: f64) {
        let before = self.last.replace(Sample { time, bytes, sent });
        self.gradient = match before {
            Some(before) if time <= before.sent && time > before.time => {
                let seconds = (time - before.time).ps() as f64 / 1e12;
                let gradient = (bytes as f64 - before.bytes as f64) / seconds;
                Some(self.gradient.map_or(gradient, |old| past * old + (1.0 - past) * gradient))
            }
            // The port was idle in between: a new train of packets.
            _ => None,
        };
        let gradient = self.gradient();
        self.peak = if self.max_held == 0 { gradient } else { self.peak.max(gradient) };
        if bytes > self.max_held {
            (self.max_held, self.at_max) = (bytes, gradient);
        }
        self.max_wanted = self.max_wanted.max(bytes + self.lost);
    }

    /// A packet for this port was lost.
    pub fn lose(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// The burst is large enough to be detected. Returns whether it was not detected before.
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

    /// The gradient that characterizes the burst.
    pub fn key(&self, key: KeyGradient) -> f64 {
        match key {
            KeyGradient::AtMax => self.at_max,
            KeyGradient::AtDetection => self.at_detection.unwrap_or(0.0),
            KeyGradient::Peak => self.peak,
        }
    }

    /// The burst is over. The next one begins with the next packet.
    pub fn end(&mut self) {
        *self = Burst { last: self.last, ..Burst::default() };
    }
}
