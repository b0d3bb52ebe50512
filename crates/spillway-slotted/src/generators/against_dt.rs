//! Against Dynamic Thresholds: a lone burst or a staircase of queues, whichever is worse.
//!
//! **A lone burst.** Port 0 fills the buffer, N packets in a slot; then nothing arrives until all
//! is sent. The optimum keeps B packets. Dynamic Thresholds keep L, the greatest length with which
//! the last packet, which counts, is still within alpha times the free buffer:
//! L = alpha (B - L + 1), so L = alpha (B + 1) / (1 + alpha). The burst takes f slots, about
//! B / (N - 1), and in each but the last, both send one packet:
//!
//! OPT / ALG = (B + f - 1) / (L + f - 1), for large B near N / (1 + (N - 1) alpha / (1 + alpha)),
//!
//! which is below (1 + alpha) / alpha, and close to it for large N. With alpha = 0.5, where this is
//! 3, N = 16 and B = 256 reach 2.69, and N = 8 and B = 64 reach 2.48.
//!
//! **A staircase.** A queues fill the buffer. From then on every port gets a packet in every slot,
//! in the order of their numbers. A packets have been sent since the last slot, so there are A free
//! places. The first queue may have a length of alpha A, and its packet fits. Then A - 1 places are
//! free, the second queue's limit is alpha (A - 1), and its packet fits. After A ports nothing is
//! free, and the others never get anything. A packets leave in each slot, and N under the optimum:
//!
//! B = alpha (A + (A - 1) + ... + 1), nearly alpha A^2 / 2,
//! OPT / ALG = N / A, A = sqrt(2 B / alpha).
//!
//! The staircase is worse where B is small compared with alpha N^2: for N = 16 and B = 256 with
//! alpha = 4, but not with alpha = 3.
//!
//! **Whole bursts.** With `arrivals_per_slot = "burst"`, f is 1, and a lone burst reaches (1 +
//! alpha) / alpha. In the staircase every port gets D = B / N packets every D slots, the most for
//! which the optimum has room. Before them A D places are free, B is near alpha D A^2 / 2, and N /
//! A = sqrt(alpha N / 2), whatever B is. Hahne, Kesselman and Mansour proved that the ratio is at
//! least of the order sqrt(N / log N) and at most N. With alpha = 0.5 the staircase is worse than
//! the lone burst only with more than 36 ports.
//!
//! **What is not reached.** With at most N arrivals in a slot, ports cannot get D > 1 packets each
//! at once. Serving port after port, N packets in every slot, does not help: the places freed by
//! the queues of the staircase are taken by the D packets of the next port, and the staircase
//! shrinks. For N = 8, B = 64 and for N = 16, B = 256, with alpha 1, 2, 4 and 8 and every D from 2
//! to B / N, the ratio was at most 1.42, and always less than the better of the two above. So for
//! large B nothing here exceeds (1 + alpha) / alpha.
//!
//! The constructions are made for the rule as the program has it: the arriving packet counts.

use super::{Generator, Make, PerSlot, Setting, at_least_two, rounds};
use crate::Arrivals;
use spillway_settings::{Range, Section, SettingsError};

const ALPHA: f64 = 0.5;

pub(super) const GENERATOR: Generator = Generator {
    id: "against-dt",
    summary: "a lone burst, or a few queues that fill the buffer and get just what they send: the \
              worse",
    citation: "the bound: Hahne, Kesselman, Mansour, SPAA 2001; this construction is our own",
    against: Some("dt"),
    limit: Some(|ports, buffer| limit(ports, buffer, ALPHA, PerSlot::Ports)),
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    at_least_two(section, setting)?;
    let Setting { ports, buffer, .. } = setting;
    let meaning = "the alpha that it is built against";
    let alpha = section.number("alpha", ALPHA, Range::Within(0.01, 1000.0), meaning)?;
    let per_slot = PerSlot::read(section)?;
    let lone = Lone::new(ports, buffer, alpha, per_slot);
    let Some(stairs) = Stairs::worse_than(lone, ports, buffer, alpha, per_slot) else {
        let rounds = rounds(section, 20, 2 * buffer)?;
        return Ok(Box::new(move || lone.arrivals(ports, rounds)));
    };
    let size = stairs.burst * u64::from(ports);
    let rounds = rounds(section, 1 + 20 * buffer.min(100_000) / stairs.burst, size)?;
    Ok(Box::new(move || stairs.arrivals(ports, rounds)))
}

/// The value that OPT / ALG approaches.
pub(super) fn limit(ports: u32, buffer: u64, alpha: f64, per_slot: PerSlot) -> f64 {
    let lone = Lone::new(ports, buffer, alpha, per_slot);
    let stairs = Stairs::worse_than(lone, ports, buffer, alpha, per_slot);
    stairs.map_or(lone.ratio(), |stairs| stairs.ratio(ports))
}

/// A burst for port 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lone {
    slots: u64,
    in_a_slot: u64,
    /// The packets of it that the optimum sends.
    best: u64,
    /// The packets of it that Dynamic Thresholds send.
    sent: u64,
}

impl Lone {
    fn new(ports: u32, buffer: u64, alpha: f64, per_slot: PerSlot) -> Lone {
        let longest = (alpha * (buffer + 1) as f64 / (1.0 + alpha)) as u64;
        let of = |slots: u64, in_a_slot: u64| {
            // All but the last slot add to the room: what the last one sends is still in the
            // buffer.
            let within = |room: u64| (room + slots - 1).min(slots * in_a_slot);
            Lone { slots, in_a_slot, best: within(buffer), sent: within(longest.max(1)) }
        };
        match per_slot {
            PerSlot::Burst => of(1, buffer),
            PerSlot::Ports => {
                // The most slots in which the optimum loses nothing, or one more, in which it loses
                // a part.
                let slots = ((buffer - 1) / u64::from(ports - 1)).max(1);
                let (less, more) = (of(slots, ports.into()), of(slots + 1, ports.into()));
                if more.ratio() > less.ratio() { more } else { less }
            }
        }
    }

    fn ratio(self) -> f64 {
        self.best as f64 / self.sent as f64
    }

    fn arrivals(self, ports: u32, rounds: u64) -> Arrivals {
        let mut arrivals = Arrivals::new(ports);
        for _ in 0..rounds {
            (0..self.slots).for_each(|_| arrivals.push((0..self.in_a_slot).map(|_| 0)));
            (self.slots..self.best).for_each(|_| arrivals.push([]));
        }
        arrivals
    }
}

/// Queues that fill the buffer, and then get again, in turn, what they have sent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stairs {
    /// The lengths of the queues, the longest first.
    lengths: Vec<u64>,
    /// The number of packets that every port gets at once, and the number of slots from one burst
    /// to the next: both are D.
    burst: u64,
    /// The packets that the queues send in that time.
    sent: u64,
}

impl Stairs {
    /// The staircase, if it is at least as bad as the lone burst.
    fn worse_than(
        lone: Lone,
        ports: u32,
        buffer: u64,
        alpha: f64,
        per_slot: PerSlot,
    ) -> Option<Stairs> {
        let burst = match per_slot {
            PerSlot::Ports => 1,
            PerSlot::Burst => buffer / u64::from(ports),
        };
        let stairs = Stairs::new(ports, buffer, alpha, burst)?;
        (stairs.ratio(ports) >= lone.ratio()).then_some(stairs)
    }

    /// Builds the stairs from the last queue that gets anything to the first. `None` if every port
    /// would get something.
    fn new(ports: u32, buffer: u64, alpha: f64, burst: u64) -> Option<Stairs> {
        // This many places stay free, since with these alone no queue may take a packet.
        let idle = (1.0 / alpha).ceil() as u64 - 1;
        let (mut total, mut sent) = (idle, 0);
        let mut lengths: Vec<u64> = Vec::new();
        while total < buffer {
            if lengths.len() + 1 >= ports as usize {
                return None;
            }
            // The queue's last packet finds the places that the queues after it need, and its own.
            let length = (alpha * (idle + sent + 1) as f64) as u64;
            lengths.push(length);
            total += length;
            sent += length.min(burst);
        }
        lengths.reverse();
        // The longest queue gets the rest.
        *lengths.first_mut()? -= total - buffer;
        Some(Stairs { lengths, burst, sent })
    }

    fn ratio(&self, ports: u32) -> f64 {
        (self.burst * u64::from(ports)) as f64 / self.sent as f64
    }

    fn arrivals(&self, ports: u32, rounds: u64) -> Arrivals {
        let mut arrivals = Arrivals::new(ports);
        let most = if self.burst > 1 { u64::MAX } else { ports.into() };
        climb(&mut arrivals, &self.lengths, most);
        for _ in 0..rounds {
            (1..self.burst).for_each(|_| arrivals.push([]));
            arrivals.push((0..ports).flat_map(|port| (0..self.burst).map(move |_| port)));
        }
        arrivals
    }
}

/// Adds slots of at most `most` packets, until all queues have the lengths `stairs` at the same
/// time.
fn climb(arrivals: &mut Arrivals, stairs: &[u64], most: u64) {
    let mut lengths = vec![0; stairs.len()];
    loop {
        let mut slot = Vec::new();
        for (port, (length, &stair)) in (0..).zip(lengths.iter_mut().zip(stairs)) {
            let packets = (stair - *length).min(most - slot.len() as u64);
            slot.extend((0..packets).map(|_| port));
            *length += packets;
        }
        let is_done = lengths == stairs;
        arrivals.push(slot);
        lengths.iter_mut().for_each(|length| *length -= u64::from(*length > 0));
        if is_done {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_burst_by_hand() {
        // alpha = 1/2, B = 256: L = 257 / 3 = 85. In 17 slots of 16 packets, all 272 fit, and
        // L + 16 = 101.
        let lone = Lone::new(16, 256, 0.5, PerSlot::Ports);
        assert_eq!(lone, Lone { slots: 17, in_a_slot: 16, best: 272, sent: 101 });
        // In 3 slots 12 packets against 4 + 2; in 4 slots 15 of the 16 against 4 + 3:
        // 15 / 7 is more.
        let lone = Lone::new(4, 12, 0.5, PerSlot::Ports);
        assert_eq!(lone, Lone { slots: 4, in_a_slot: 4, best: 15, sent: 7 });
        // All at once.
        let lone = Lone::new(4, 11, 0.5, PerSlot::Burst);
        assert_eq!(lone, Lone { slots: 1, in_a_slot: 11, best: 11, sent: 4 });
    }

    #[test]
    fn stairs_fill_the_buffer() {
        let stairs = |buffer, alpha, burst| {
            let made = Stairs::new(8, buffer, alpha, burst).unwrap();
            (made.lengths, made.sent)
        };
        // alpha = 1, D = 1: 1 + 2 + 3 + 4 = 10. With 9, the first queue is shorter: the limit is 4,
        // and it has 3.
        assert_eq!(stairs(10, 1.0, 1), (vec![4, 3, 2, 1], 4));
        assert_eq!(stairs(9, 1.0, 1), (vec![3, 3, 2, 1], 4));
        // D = 3: one place is free for the last queue, then 2, 4, and 7.
        assert_eq!(stairs(14, 1.0, 3), (vec![7, 4, 2, 1], 9));
        // alpha = 1/2: no queue takes the last free place; with 2 free the limit is 1, with 4 it is
        // 2.
        assert_eq!(stairs(7, 0.5, 1), (vec![2, 2, 1, 1], 4));
        // Seven of eight ports hold 28 packets.
        assert_eq!(Stairs::new(8, 29, 1.0, 1), None);
        // At most three packets in a slot, in which each queue sends one.
        let mut arrivals = Arrivals::new(3);
        climb(&mut arrivals, &[3, 2], 3);
        assert_eq!(arrivals, Arrivals::of_slots(3, &[vec![0, 0, 0], vec![0, 1, 1]]));
    }

    #[test]
    fn the_worse_one_is_taken() {
        let limit = |ports, buffer, alpha| limit(ports, buffer, alpha, PerSlot::Ports);
        assert!((limit(16, 256, 0.5) - 272.0 / 101.0).abs() < 1e-12);
        // alpha = 8: eight stairs, 8 + 16 + ... + 64 = 288, and 16 / 8 is more than 9 / 8.
        assert!((limit(16, 256, 8.0) - 2.0).abs() < 1e-12);
    }
}
