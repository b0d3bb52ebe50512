//! Against Longest Queue Drop: queues that need no buffer take it from those that do.
//!
//! Half of the ports, R, get a packet in every slot, so one packet in the buffer for each is
//! enough. The others, S, get bursts of L packets in turn, as many packets in a slot as S has
//! ports; a port's turn comes again when its burst has been sent. The optimum keeps all of that:
//! its queues in S have lengths from L to 0, evenly spaced, L (|S| - 1) / 2 = B in all, and it
//! sends N packets in each slot. But first the ports of R have filled the buffer. LQD makes all
//! queues equally long: h packets. Ports of R receive as much as they send, so their queues stay at
//! h. A port of S is busy while its burst arrives and for h more slots, rather than L. For large N,
//! with y = h / L and r = s = N / 2:
//!
//! B = s L / 2 = s h y / 2 + r h, so y^2 + 2 y = 1, y = sqrt 2 - 1, and
//! OPT / ALG = (s + r) / (s y + r) = 2 / sqrt 2 = sqrt 2.
//!
//! That is the lower bound of Aiello, Kesselman and Mansour; the upper bound is 1.707. For small N,
//! the L / s slots in which a burst arrives count: OPT / ALG = (s + r) / (1 + s y + r), with y from
//! 1 = 2 y (1 + r) / (s - 1) + s (s - 2) y^2 / (s - 1)^2.

use super::{Generator, Make, Setting, at_least_two, rounds};
use crate::Arrivals;
use spillway_settings::{Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "against-lqd",
    summary: "half of the ports get a packet a slot and hold what bursts for the others need",
    citation: "the bound: Aiello, Kesselman, Mansour, TALG 5(1), 2008; this construction is our own",
    against: Some("lqd"),
    limit: Some(limit),
    read,
};

/// The number of ports in S, which are the first ones, and of the others.
fn halves(ports: u32) -> (u32, u32) {
    (ports - ports / 2, ports / 2)
}

fn limit(ports: u32, _buffer: u64) -> f64 {
    let (s, r) = halves(ports);
    let (s, r) = (f64::from(s), f64::from(r));
    if s < 2.0 {
        return 1.0;
    }
    // a y^2 + 2 b y = 1.
    let (a, b) = (s * (s - 2.0) / (s - 1.0).powi(2), (1.0 + r) / (s - 1.0));
    let y = 1.0 / (b + (b * b + a).sqrt());
    (s + r) / (1.0 + s * y + r)
}

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    at_least_two(section, setting)?;
    let Setting { ports, buffer, .. } = setting;
    let (s, r) = halves(ports);
    let burst = (2 * (buffer - u64::from(r)) / u64::from(s - 1).max(1)).max(1);
    let rounds = rounds(section, 40, 2 * burst * u64::from(ports))?;
    Ok(Box::new(move || {
        let mut arrivals = Arrivals::new(ports);
        for _ in 0..buffer.div_ceil(s.into()) + 1 {
            arrivals.push((s..ports).cycle().take(ports as usize));
        }
        let bursts = (0..rounds).flat_map(|_| 0..s);
        let mut bursts = bursts.flat_map(|port| (0..burst).map(move |_| port)).peekable();
        while bursts.peek().is_some() {
            arrivals.push((s..ports).chain(bursts.by_ref().take(s as usize)));
        }
        arrivals
    }))
}
