//! Against Complete Sharing: one queue fills the buffer and keeps it full.
//!
//! Once port 0 holds the whole buffer, every slot brings one packet for each port, port 0's first.
//! Under Complete Sharing this packet takes the only free place, and no other ever fits: one packet
//! leaves in each slot. The optimum keeps almost nothing for port 0 and sends N. So OPT / ALG
//! approaches N; the upper bound is N + 1.

use super::{Generator, Make, Setting, at_least_two, fill, rounds};
use crate::Arrivals;
use spillway_settings::{Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "against-cs",
    summary: "port 0 fills the buffer, then a packet for every port in a slot, port 0's first",
    citation: "the bound: Hahne, Kesselman, Mansour, SPAA 2001; this construction is our own",
    against: Some("cs"),
    limit: Some(|ports, _| ports.into()),
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    at_least_two(section, setting)?;
    let Setting { ports, buffer, .. } = setting;
    let rounds = rounds(section, 20 * buffer.min(100_000), ports.into())?;
    Ok(Box::new(move || {
        let mut arrivals = Arrivals::new(ports);
        fill(&mut arrivals, setting);
        (0..rounds).for_each(|_| arrivals.push(0..ports));
        arrivals
    }))
}
