//! Against Harmonic: one burst at a time.
//!
//! Port 0 gets as many packets as fill the buffer, N in a slot; then nothing arrives until all are
//! sent. The optimum keeps B packets, and Harmonic's longest queue B / H_N. OPT / ALG would be H_N,
//! the sum of 1 / k for k = 1 to N, but in the B / (N - 1) slots of the burst both send a packet.
//! So it is N / (1 + (N - 1) / H_N), which is near H_N for large N; the upper bound is ln N + 2.
//!
//! This is as bad for every policy that keeps a queue short while the others are empty: for Dynamic
//! Thresholds (alpha / (1 + alpha) of the buffer), and for Credence if every packet is predicted as
//! a drop (one packet above B / N).

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
