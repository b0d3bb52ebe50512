//! Against Dynamic Thresholds: the worse for them of a lone burst and a staircase of queues.
//!
//! **A lone burst.** Port 0 fills the buffer, N packets in a slot; then nothing comes until all is
//! sent. The optimum keeps B, and the queue is refused more than L, the longest that counts its own
//! last packet within alpha times what is free: L = alpha (B - L + 1), so L = alpha (B + 1) / (1 +
//! alpha). The burst takes f slots, about B / (N - 1), and in each but the last both send one:
//!
//! OPT / ALG = (B + f - 1) / (L + f - 1), for large B near N / (1 + (N - 1) alpha / (1 + alpha)),
//!
//! which is below (1 + alpha) / alpha, and near it where N is large. With alpha = 0.5, where that is
//! 3, N = 16 and B = 256 reach 2.69, and N = 8 and B = 64 reach 2.48.
//!
//! **A staircase.** A queues fill the buffer, and from then on every port gets a packet in every
//! slot, in the order of their numbers. A packets have been sent since the last slot, and so much is
//! free. The first queue may be alpha A long, and its packet fits; then A - 1 are free, the second's
//! limit is alpha (A - 1), and its packet fits; and after A ports nothing is free. The others get
//! nothing, ever. A packets leave in a slot, and N under the optimum:
//!
//! B = alpha (A + (A - 1) + ... + 1), nearly alpha A^2 / 2, OPT / ALG = N / A, A = sqrt(2 B / alpha).
//!
//! It is the worse one where B is small beside alpha N^2: with N = 16 and B = 256 where alpha is 4,
//! and not where it is 3.
//!
//! **Whole bursts.** With `arrivals_per_slot = "burst"` f is 1, and a lone burst comes to (1 + alpha) /
//! alpha. In the staircase every port gets D = B / N packets every D slots, the most for which the
//! optimum has room. A D are then free before, B is near alpha D A^2 / 2, and N / A = sqrt(alpha N /
//! 2) whatever B is; that it is of the order sqrt(N / log N) at least, and N at most, is a theorem of
//! Hahne, Kesselman and Mansour. With alpha = 0.5 it takes more than 36 ports to be the worse one.
//!
//! **What is not reached.** With at most N arrivals in a slot, ports cannot get D > 1 packets each at
//! once. Port after port, so that N come in every slot, is no help: what the queues of the staircase
//! send is free when the next port's D packets come, which take it, and the staircase withers. Found
//! for N = 8, B = 64 and for N = 16, B = 256, with alpha 1, 2, 4 and 8 and every D from 2 to B / N: at
//! most 1.42, and always less than the better of the two above. So for large B nothing here is
//! beyond (1 + alpha) / alpha.
//!
//! It is built against the rule as the program has it: the arriving packet is counted.

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

/// What OPT / ALG comes to.
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
    /// What the optimum sends of it.
    best: u64,
    /// What Dynamic Thresholds send.
    sent: u64,
}

impl Lone {
    fn new(ports: u32, buffer: u64, alpha: f64, per_slot: PerSlot) -> Lone {
        let longest = (alpha * (buffer + 1) as f64 / (1.0 + alpha)) as u64;
        let of = |slots: u64, in_a_slot: u64| {
            // One less than the slots: what the last of them sends is in the buffer before.
            let within = |room: u64| (room + slots - 1).min(slots * in_a_slot);
            Lone { slots, in_a_slot, best: within(buffer), sent: within(longest.max(1)) }
        };
        match per_slot {
            PerSlot::Burst => of(1, buffer),
            PerSlot::Ports => {
                // As many slots as are not too many, or one more, which loses a part.
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

/// Queues that fill the buffer, and then get in turns what they send.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stairs {
    /// Their lengths, the longest first.
    lengths: Vec<u64>,
    /// Packets that every port gets at once (D), as many slots apart.
    burst: u64,
    /// What they send in that time.
    sent: u64,
}

impl Stairs {
    /// The staircase if it is at least as bad.
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

    /// From the last that gets anything to the first, unless none would be left to starve.
    fn new(ports: u32, buffer: u64, alpha: f64, burst: u64) -> Option<Stairs> {
        // So much stays free, since nobody gets a packet of it.
        let idle = (1.0 / alpha).ceil() as u64 - 1;
        let (mut total, mut sent) = (idle, 0);
        let mut lengths: Vec<u64> = Vec::new();
        while total < buffer {
            if lengths.len() + 1 >= ports as usize {
                return None;
            }
            // Its last packet finds the room that those behind it need, and its own.
            let length = (alpha * (idle + sent + 1) as f64) as u64;
            lengths.push(length);
            total += length;
            sent += length.min(burst);
        }
        lengths.reverse();
        // The longest has what is left.
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

/// Slots of so many packets at most until the queues are as long as that at once.
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
        // alpha 1/2, B = 256: L = 257 / 3 = 85. Of 17 slots of 16 packets all 272 fit, L + 16 = 101.
        let lone = Lone::new(16, 256, 0.5, PerSlot::Ports);
        assert_eq!(lone, Lone { slots: 17, in_a_slot: 16, best: 272, sent: 101 });
        // 12 of 3 slots, 4 + 2; of 4 slots 15 of the 16, 4 + 3: 15 / 7 is more.
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
        // alpha 1, D 1: 1 + 2 + 3 + 4 = 10. With 9 the first gives way: 4 are free, and it has 3.
        assert_eq!(stairs(10, 1.0, 1), (vec![4, 3, 2, 1], 4));
        assert_eq!(stairs(9, 1.0, 1), (vec![3, 3, 2, 1], 4));
        // D = 3: one is free for the last, then 2, 4, and 7.
        assert_eq!(stairs(14, 1.0, 3), (vec![7, 4, 2, 1], 9));
        // alpha 1/2: the last free packet is nobody's, of 2 free the limit is 1, of 4 it is 2.
        assert_eq!(stairs(7, 0.5, 1), (vec![2, 2, 1, 1], 4));
        // Seven of eight ports hold 28.
        assert_eq!(Stairs::new(8, 29, 1.0, 1), None);
        // Three in a slot at most; each sends one in it.
        let mut arrivals = Arrivals::new(3);
        climb(&mut arrivals, &[3, 2], 3);
        assert_eq!(arrivals, Arrivals::of_slots(3, &[vec![0, 0, 0], vec![0, 1, 1]]));
    }

    #[test]
    fn the_worse_one_is_taken() {
        let limit = |ports, buffer, alpha| limit(ports, buffer, alpha, PerSlot::Ports);
        assert!((limit(16, 256, 0.5) - 272.0 / 101.0).abs() < 1e-12);
        // alpha 8: 8 + 16 + ... + 64 = 288 are eight stairs, and 16 / 8 is more than 9 / 8.
        assert!((limit(16, 256, 8.0) - 2.0).abs() < 1e-12);
    }
}
