//! Against Harmonic: one burst at a time.
//!
//! Port 0 gets as much as fills the buffer, N packets in a slot; then nothing comes until all has been
//! sent. The optimum keeps B, Harmonic's longest queue B / H_N. OPT / ALG would be H_N, the sum of 1 / k
//! for k = 1 to N, were it not for the B / (N - 1) slots that the burst takes, in which both send. So
//! it is N / (1 + (N - 1) / H_N), which is near H_N where N is large; the upper bound is ln N + 2.
//!
//! It is as bad for every policy that keeps a queue short while the others are empty: Dynamic
//! Thresholds (alpha / (1 + alpha) of the buffer), Credence where all is predicted as a drop (a
//! packet beyond B / N).

use super::{Generator, Make, PerSlot, Setting, at_least_two, rounds};
use crate::Arrivals;
use spillway_settings::{Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "against-harmonic",
    summary: "port 0 fills the buffer, then nothing comes until all is sent",
    citation: "the bound: Kesselman, Mansour, TCS 324, 2004; this construction is our own",
    against: Some("harmonic"),
    limit: Some(limit),
    read,
};

fn limit(ports: u32, _buffer: u64) -> f64 {
    let harmonic: f64 = (1..=ports).map(|k| 1.0 / f64::from(k)).sum();
    f64::from(ports) / (1.0 + f64::from(ports - 1) / harmonic)
}

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    at_least_two(section, setting)?;
    let Setting { ports, buffer, .. } = setting;
    let rounds = rounds(section, 20, 2 * buffer)?;
    let per_slot = PerSlot::read(section)?;
    let gained = u64::from(ports) - 1;
    Ok(Box::new(move || {
        let mut arrivals = Arrivals::new(ports);
        for _ in 0..rounds {
            match per_slot {
                PerSlot::Burst => arrivals.push((0..buffer).map(|_| 0)),
                PerSlot::Ports => {
                    (0..buffer.div_ceil(gained)).for_each(|_| arrivals.push((0..ports).map(|_| 0)));
                }
            }
            (0..buffer).for_each(|_| arrivals.push([]));
        }
        arrivals
    }))
}
