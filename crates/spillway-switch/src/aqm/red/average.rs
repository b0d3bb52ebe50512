//! RED's average of a queue.

use crate::aqm::Scope;
use crate::catalogue::Environment;
use spillway_engine::{Rate, Time};
use std::sync::Arc;

/// How many powers of 1 - w are kept.
const POWERS: u32 = 64;

/// The average of what arrivals find in a queue (or at a port).
#[derive(Clone, Debug)]
pub struct Average {
    value: f64,
    /// When the queue (or port) last sent a packet, or when an arrival last found it empty,
    /// whichever was later. Acks that are not managed do not count as sent.
    idle_since: Time,
    /// The weight of a new sample (w).
    weight: f64,
    /// The port's rate, and the time in which it sends a full packet, above 0.
    rate: Rate,
    packet: Time,
    /// (1 - w)^n for n = 0, 1, 2, ...
    powers: Arc<[f64]>,
}

impl Average {
    /// The rate of the port.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The averages of all queues (or ports). `weight` gives the weight of a sample at a port that
    /// takes this long to send a full packet.
    pub fn all(
        scope: Scope,
        environment: &Environment,
        weight: impl Fn(Time) -> f64,
    ) -> Vec<Average> {
        let mut averages: Vec<Average> = Vec::new();
        for &rate in &environment.port_rates {
            let average = match averages.last() {
                Some(last) if last.rate == rate => last.clone(),
                _ => {
                    let packet = rate.time_of(environment.full_packet.into());
                    Average::new(weight(packet), rate, packet)
                }
            };
            let number = match scope {
                Scope::Queue => environment.queues_per_port,
                Scope::Port => 1,
            };
            averages.extend((0..number).map(|_| average.clone()));
        }
        averages
    }

    fn new(weight: f64, rate: Rate, packet: Time) -> Average {
        let powers = (0..POWERS).map(|n| libm::pow(1.0 - weight, n.into()));
        Average {
            value: 0.0,
            idle_since: Time::ZERO,
            weight,
            rate,
            packet: packet.max(Time::from_ps(1)),
            powers: powers.collect(),
        }
    }

    /// An arrival finds a queue of this length: avg = (1 - w) avg + w q. If the queue is empty, the
    /// average first decays, as if full packets had passed since the queue became empty.
    #[inline(always)]
    pub fn finds(&mut self, now: Time, length: f64) -> f64 {
        if length == 0.0 {
            self.value = self.decayed(now);
            self.idle_since = self.idle_since.max(now);
        }
        self.value += self.weight * (length - self.value);
        self.value
    }

    /// The average after the last arrival.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The average at this time, decayed, if the queue is empty.
    #[inline(always)]
    pub fn decayed(&self, at: Time) -> f64 {
        let missed = at.since(self.idle_since).ps() / self.packet.ps();
        self.value * self.powers.get(missed as usize).copied().unwrap_or_else(|| self.power(missed))
    }

    /// (1 - w)^n.
    #[cold]
    fn power(&self, n: u64) -> f64 {
        libm::pow(1.0 - self.weight, n as f64)
    }

    /// A packet of the queue begins to be sent.
    #[inline]
    pub fn is_sent(&mut self, now: Time, size: u32) {
        self.idle_since = now + self.rate.time_of(size.into());
    }
}
