//! Against Dynamic Thresholds: a few queues in a staircase leave nothing for all others.
//!
//! Ports 0 to A - 1 are filled: the first to alpha (A - 1) D, the next to alpha (A - 2) D, and so on,
//! until all of the buffer is taken. From then on every port gets D packets every D slots, all in the
//! order of their numbers. In the meantime A D packets have been sent. The first port may hold alpha
//! A D while so much is free, and its D fit; then alpha (A - 1) D are the second's limit, and its D
//! fit; and after A ports nothing is free. The others get nothing, ever: A packets leave in a slot, and
//! N under the optimum, which needs N D <= B for that. With
//!
//! B = alpha D (A + (A - 1) + ...) = alpha D A^2 / 2, A = sqrt(2 B / (alpha D)).
//!
//! With `arrivals_per_slot = "burst"` D is B / N, and OPT / ALG = N / A = sqrt(alpha N / 2); that it
//! is of the order sqrt(N / log N) at least, and N at most, is a theorem of Hahne, Kesselman and Mansour.
//! With at most N arrivals in a slot D is 1, and only small buffers suffer, those with A < N.
//! Otherwise a lone burst is worse, (1 + alpha) / alpha: see `against-harmonic`.

use super::{Generator, Make, PerSlot, Setting, at_least_two, rounds};
use crate::Arrivals;
use spillway_settings::{Range, Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "against-dt",
    summary: "a few queues in a staircase fill the buffer, and get in turns just what they send",
    citation: "the bound: Hahne, Kesselman, Mansour, SPAA 2001; this construction is our own",
    against: Some("dt"),
    limit: Some(|ports, buffer| {
        let stairs = stairs(ports, buffer, 0.5, 1);
        f64::from(ports) / stairs.len().max(1) as f64
    }),
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    at_least_two(section, setting)?;
    let Setting { ports, buffer, .. } = setting;
    let meaning = "the alpha that it is built against";
    let alpha = section.number("alpha", 0.5, Range::Within(0.01, 1000.0), meaning)?;
    let burst = match PerSlot::read(section)? {
        PerSlot::Ports => 1,
        PerSlot::Burst => buffer / u64::from(ports),
    };
    let rounds = rounds(section, 1 + 20 * buffer.min(100_000) / burst, burst * u64::from(ports))?;
    Ok(Box::new(move || {
        let mut arrivals = Arrivals::new(ports);
        climb(&mut arrivals, &stairs(ports, buffer, alpha, burst));
        for _ in 0..rounds {
            arrivals.push((0..ports).flat_map(|port| (0..burst).map(move |_| port)));
            (1..burst).for_each(|_| arrivals.push([]));
        }
        arrivals
    }))
}

/// How long the queues are that fill the buffer and then get just what they send.
fn stairs(ports: u32, buffer: u64, alpha: f64, burst: u64) -> Vec<u64> {
    // The last of its D packets finds D - 1 fewer free than the first.
    let stair = |below: u64| (alpha * (below * burst + 1) as f64) as u64;
    let mut stairs: Vec<u64> = Vec::new();
    let mut total = 0;
    for below in 0..u64::from(ports) {
        if total >= buffer {
            break;
        }
        stairs.push(stair(below).max(1));
        total += stair(below).max(1);
    }
    stairs.reverse();
    // The lowest give way.
    let mut left = buffer;
    for stair in &mut stairs {
        *stair = left.min(*stair);
        left -= *stair;
    }
    stairs.retain(|&stair| stair > 0);
    stairs
}

/// Slots of at most N packets until the queues are as long as that at once.
fn climb(arrivals: &mut Arrivals, stairs: &[u64]) {
    let ports = arrivals.ports();
    let mut lengths = vec![0; stairs.len()];
    loop {
        let mut slot = Vec::new();
        for (port, (length, &stair)) in (0..).zip(lengths.iter_mut().zip(stairs)) {
            let packets = (stair - *length).min(u64::from(ports) - slot.len() as u64);
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
    fn stairs_fill_the_buffer() {
        // alpha 1, D 1: 1 + 2 + 3 + 4 = 10. With 9 the last gives way.
        assert_eq!(stairs(8, 10, 1.0, 1), [4, 3, 2, 1]);
        assert_eq!(stairs(8, 9, 1.0, 1), [4, 3, 2]);
        // D = 3: 10, 7, 4, 1.
        assert_eq!(stairs(8, 22, 1.0, 3), [10, 7, 4, 1]);
        // Three in a slot at most; each sends one in it.
        let mut arrivals = Arrivals::new(3);
        climb(&mut arrivals, &[3, 2]);
        assert_eq!(arrivals, Arrivals::of_slots(3, &[vec![0, 0, 0], vec![0, 1, 1]]));
    }
}
