//! DCTCP: cut the window in proportion to how many packets were marked.
//!
//! # Reference
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", ACM SIGCOMM 2010, section 3.1.
//! <https://doi.org/10.1145/1851182.1851192>; S. Bensley et al., RFC 8257, 2017, section 3.3.
//!
//! # Rule
//! Once for every window of data: alpha = (1 - g) alpha + g F, where F is the share of the
//! acknowledged bytes whose acks echoed a mark (Eq. 1). On the first echo of a window: cwnd =
//! ssthresh = cwnd (1 - alpha / 2) (Eq. 2); until what was in flight then is acknowledged, there is
//! no other cut and no growth. Growth and losses are handled as in NewReno, except that a loss
//! halves the window even if a mark has already cut it (RFC 8257, section 3.5; with `cut_once =
//! true` it does not). Otherwise a mark that cut by little would keep a window from being halved
//! for a loss.
//!
//! # Departures from the paper
//! ns-3's DCTCP reacts to a loss as to a mark (`loss_cut = "alpha"`), and has no least window. With
//! `recovery = "ns3"` the window also grows as there: by a whole segment once as many are
//! acknowledged as fit the window, a count that goes on after a cut.
//! `share_of = "delivered"` counts as Linux does: a packet that arrives behind a gap counts, with
//! its mark, when selective acks tell of it, and not again when the gap is filled. RFC 8257 ignores
//! selective acks here.
//! alpha starts at 1 (RFC 8257, section 3.3; `alpha0`). If an ack both ends a window and triggers a
//! cut, alpha is updated first, as in Linux; as in ns-3, after the cut. The window of data over
//! which F is measured continues through a timeout, as in Linux: alpha does not change until what
//! was sent before the timeout is acknowledged. While more than `host_backlog` waits at the
//! sender's own line, the window does not grow, as with Linux's small queues (with `"unlimited"` it
//! does).
//!
//! # Scope and limitations
//! Flows that are identical in everything fall into step and may keep unequal shares
//! (studies/spillway_studies/references/validation.md).
//! A cut leaves at least `min_window`, two segments by default, as in Linux.
//!
//! # In composition
//! It lives on marks: with `aqm = "none"` only losses cut. A flow has one window, whatever the
//! levels of its packets, so marks in a worse level slow what it sends in better ones, too. A loss
//! cuts beside a mark, unless `cut_once` or `recovery = "ns3"` says otherwise.
//!
//! # Validation
//! Hand arithmetic below; N long flows hold the queue near K with full throughput
//! (`tests/analytic.rs`); studies/spillway_studies/references/validation.md compares it with ns-3.
//!
//! # Cost
//! A few additions for every ack; 40 bytes for every flow.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams};
use super::kind::{Ecn, Kind, Needs};
use super::receiver::EcnEcho;
use super::window::{Ack, CongestionControl, Window};
use spillway_settings::{Range, Section, SettingsError};

/// The row of DCTCP.
pub(super) const KIND: Kind = Kind {
    id: "dctcp",
    results: 1,
    summary: "DCTCP: cut in proportion to the share of marked packets",
    citation: "Alizadeh et al.: SIGCOMM 2010, doi:10.1145/1851182.1851192; RFC 8257",
    needs: Needs { ecn: Ecn::Always, echo: EcnEcho::PerPacket, ..Needs::OF_WINDOW },
    read: |section| Ok(DriverParams::of_acks(DctcpParams::read(section)?)),
};

/// DCTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpParams {
    /// The weight of a new sample (g).
    pub g: f64,
    /// alpha before the first window.
    pub alpha0: f64,
    /// Whether the share of marks is that of all bytes that have arrived, including those behind a
    /// gap.
    pub counts_delivered: bool,
    /// Whether a loss cuts as a mark does, instead of halving the window.
    pub losses_as_marks: bool,
}

impl DctcpParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<DctcpParams, SettingsError> {
        let g = section.number("g", 0.0625, Range::Unit, "weight of a new sample in alpha")?;
        let alpha0 = section.number("alpha0", 1.0, Range::Unit, "alpha before any sample")?;
        let meaning = "of which bytes the share of marks is taken: those that are acknowledged, or all \
                       that are newly known to have arrived, also behind a gap";
        let ways = [("acknowledged", false), ("delivered", true)];
        let counts_delivered = section.choice("share_of", &ways, meaning)?;
        let meaning = "how much a loss and a timeout cut: half of what is in flight, or as much \
                       as a mark would";
        let losses_as_marks =
            section.choice("loss_cut", &[("half", false), ("alpha", true)], meaning)?;
        Ok(DctcpParams { g, alpha0, counts_delivered, losses_as_marks })
    }
}

/// DCTCP's state.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    g: f64,
    alpha: f64,
    /// Bytes that count since the window of data began, and those of them that were marked.
    counted: u64,
    marked: u64,
    window_end: u64,
    counts_delivered: bool,
    losses_as_marks: bool,
    /// Bytes acknowledged towards the next segment of growth, where it grows by segments.
    towards_growth: u32,
}

impl Dctcp {
    /// The state of a flow that starts.
    pub fn new(params: DctcpParams) -> Dctcp {
        let DctcpParams { g, alpha0, counts_delivered, losses_as_marks } = params;
        Dctcp {
            g,
            alpha: alpha0,
            counted: 0,
            marked: 0,
            window_end: 0,
            counts_delivered,
            losses_as_marks,
            towards_growth: 0,
        }
    }

    /// The estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn cut_for_loss(&self, window: &mut Window, in_flight: u64) {
        if self.losses_as_marks {
            window.ssthresh = cut(window, self.alpha).max(window.min);
        } else {
            window.halve(in_flight);
        }
    }

    /// Growth by whole segments: in avoidance by one for as many acknowledged as fit the window.
    #[cold]
    fn grow_by_segments(&mut self, window: &mut Window, acked: u64) {
        if window.slow_start && window.cwnd < window.ssthresh {
            window.cwnd = (window.cwnd + acked).min(window.ssthresh);
            return;
        }
        let fitting = (window.cwnd / window.mss).max(1) * window.mss;
        let mut counted = u64::from(self.towards_growth);
        if counted >= fitting {
            counted = 0;
            window.cwnd += window.mss;
        }
        counted += acked;
        window.cwnd += counted / fitting * window.mss;
        self.towards_growth = (counted % fitting) as u32;
    }

    /// alpha = (1 - g) alpha + g F   (Eq. 1)
    fn update_alpha(&mut self) {
        let share = self.marked as f64 / self.counted.max(1) as f64;
        self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
        (self.counted, self.marked) = (0, 0);
    }
}

/// cwnd (1 - alpha / 2)   (Eq. 2); less whole segments, where windows are in these, as in Linux.
fn cut(window: &Window, alpha: f64) -> u64 {
    if window.in_segments {
        return window.cwnd - window.whole_of(window.cwnd as f64 * alpha / 2.0);
    }
    (window.cwnd as f64 * (1.0 - alpha / 2.0)) as u64
}

impl ControlMaker for DctcpParams {
    fn start(&self, _window: &mut Window, _access: &Access) -> Congestion {
        Congestion::Dctcp(Dctcp::new(*self))
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let alpha_before = self.alpha;
        let bytes = if self.counts_delivered { ack.delivered } else { ack.acked };
        self.counted += bytes;
        if ack.ece {
            self.marked += bytes;
        }
        if ack.una >= self.window_end && ack.acked > 0 {
            if self.window_end > 0 {
                self.update_alpha();
            } else {
                // The first window has no end yet: this ack opens it.
                (self.counted, self.marked) = (0, 0);
            }
            self.window_end = ack.nxt;
        }
        if ack.in_recovery {
            return;
        }
        if window.is_held(ack) {
            return;
        }
        if ack.ece {
            let alpha = if ack.as_ns3 { alpha_before } else { self.alpha };
            window.cut_for_mark(cut(window, alpha), ack);
        } else if ack.may_grow && ack.as_ns3 {
            self.grow_by_segments(window, ack.acked);
        } else if ack.may_grow {
            window.grow(ack.acked);
        }
    }

    fn on_loss(&mut self, window: &mut Window, in_flight: u64) {
        self.cut_for_loss(window, in_flight);
    }

    fn on_local_drop(&mut self, window: &mut Window) {
        window.cut_to(cut(window, self.alpha));
    }

    fn on_timeout(&mut self, window: &mut Window, in_flight: u64) {
        self.cut_for_loss(window, in_flight);
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{ack, segments};
    use super::*;

    fn dctcp(alpha0: f64) -> Dctcp {
        Dctcp::new(DctcpParams {
            g: 0.0625,
            alpha0,
            counts_delivered: false,
            losses_as_marks: false,
        })
    }

    #[test]
    fn a_loss_cuts_to_half_or_as_a_mark() {
        let (mut control, mut window) = (dctcp(0.5), segments(20, 100));
        control.on_loss(&mut window, 18_000);
        assert_eq!(window.ssthresh, 9_000);
        // 20,000 * (1 - 0.25), whatever is in flight.
        control.losses_as_marks = true;
        control.on_loss(&mut window, 18_000);
        assert_eq!(window.ssthresh, 15_000);
        let mut one = Window { cwnd: 1_000, min: 1, ..window };
        control.on_timeout(&mut one, 1_000);
        assert_eq!(one.ssthresh, 750);
    }

    /// As Linux's `dctcp_ssthresh`: 10 segments less a quarter of one, and less 2.5.
    #[test]
    fn a_cut_takes_off_whole_segments() {
        let window = Window { in_segments: true, ..segments(10, 10) };
        assert_eq!([0.05, 0.2, 0.5].map(|alpha| cut(&window, alpha)), [10_000, 9_000, 8_000]);
    }

    #[test]
    fn alpha_moves_a_sixteenth_towards_the_share_of_marks() {
        // 9 segments are in flight. The first ack opens a window that ends at segment 10; of the 9
        // segments acknowledged until then none is marked: alpha = 15/16.
        let (mut control, mut window) = (dctcp(1.0), segments(10, 10));
        (1..=10).for_each(|una| control.on_ack(&mut window, &ack(una, una + 9, false)));
        assert_eq!(control.alpha(), 0.9375);
        // The next window ends at 19; 3 of its 9 segments are marked.
        (11..=19).for_each(|una| control.on_ack(&mut window, &ack(una, una + 9, una < 14)));
        assert_eq!(control.alpha(), 0.9375 * 0.9375 + 0.0625 * (3.0 / 9.0));
    }

    /// Of a window of 9 segments the second overtakes the first with a mark, and the first fills the
    /// gap without one.
    #[test]
    fn the_share_may_be_of_what_has_arrived() {
        for (counts_delivered, share) in [(false, 0.0), (true, 1.0 / 9.0)] {
            let params =
                DctcpParams { g: 0.0625, alpha0: 1.0, counts_delivered, losses_as_marks: false };
            let (mut control, mut window) = (Dctcp::new(params), segments(10, 10));
            control.on_ack(&mut window, &ack(1, 10, false));
            control.on_ack(&mut window, &Ack { acked: 0, ..ack(1, 11, true) });
            control.on_ack(&mut window, &Ack { acked: 2_000, ..ack(3, 11, false) });
            (4..=10).for_each(|una| control.on_ack(&mut window, &ack(una, una + 9, false)));
            assert_eq!(control.alpha(), 0.9375 + 0.0625 * share);
        }
    }

    #[test]
    fn the_first_mark_of_a_window_cuts_by_half_of_alpha() {
        let (mut control, mut window) = (dctcp(0.5), segments(20, 10));
        control.window_end = 100_000;
        control.on_ack(&mut window, &ack(1, 21, true));
        // 20,000 * (1 - 0.25).
        assert_eq!((window.cwnd, window.ssthresh), (15_000, 15_000));
        (2..=21).for_each(|una| control.on_ack(&mut window, &ack(una, 40, true)));
        assert_eq!(window.cwnd, 15_000);
        control.on_ack(&mut window, &ack(22, 41, true));
        assert_eq!(window.cwnd, 11_250);
    }
}
