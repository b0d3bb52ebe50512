//! NewReno: halve the window for a loss, add a segment for every round trip without one.
//!
//! # Reference
//! M. Allman, V. Paxson, E. Blanton, "TCP Congestion Control", RFC 5681, 2009;
//! with ECN: K. Ramakrishnan, S. Floyd, D. Black, RFC 3168, 2001, section 6.1.2.
//!
//! # Rule
//! - Growth: slow start below ssthresh, then mss * acked / cwnd for every ack.
//! - Loss: ssthresh = max(in flight / 2, 2 mss). What acks of nothing new have let go beyond the
//!   window does not count (RFC 5681, section 3.2, step 2).
//! - Mark: ssthresh = cwnd = cwnd / 2, once for what is in flight at the time.
//! - Marks and losses in the same window of data cut once together, and the receiver is told of the
//!   cut (CWR) whatever its cause (RFC 3168, section 6.1.2). With `recovery.cut_once = false` a loss also
//!   cuts a window that a mark has cut, and only cuts for marks are announced. During loss recovery
//!   marks do not cut.
//!
//! # Departures from the paper
//! CWR goes with the next packet sent, even a retransmission (RFC 3168: with the first new data).
//! Otherwise echoes of the old window would cut again after recovery. A timeout sets ssthresh
//! whether or not a mark has cut. Growth counts acknowledged bytes (RFC 3465) without that RFC's
//! limit on slow start, as in Linux. Losses are found and retransmitted by SACK (RFC 6675), as in
//! every window-based transport here.
//!
//! # Scope and limitations
//! A flow always has data until its end, so no application limits it. Its own host's line may:
//! while more than `host_backlog` waits there, windows do not grow, much as with Linux's small
//! queues.
//!
//! # In composition
//! Packets are ECN-capable only with `ecn = true`. Without that, `red`, `ared`, `codel` and `pie`
//! lose what they would mark, and the other AQMs let it pass, unless `not_ect` says otherwise. A
//! mark halves the window, so AQMs that mark early cost its long flows more than those of DCTCP
//! (studies/spillway_studies/aqms/paper.md).
//!
//! # Validation
//! Hand arithmetic below; loss recovery in `sender.rs`.
//!
//! # Cost
//! A few additions for every ack; no state for a flow.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams};
use super::kind::{Kind, Needs};
use super::window::{Ack, CongestionControl, Window};

/// The row of NewReno.
pub(super) const KIND: Kind = Kind {
    id: "newreno",
    results: 1,
    summary: "TCP NewReno with SACK: halve the window for a loss",
    citation: "Allman, Paxson, Blanton: RFC 5681; Blanton et al.: RFC 6675",
    needs: Needs::OF_WINDOW,
    read: |_| Ok(DriverParams::of_acks(NewReno)),
};

/// NewReno. It has no state besides the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno;

impl ControlMaker for NewReno {
    fn start(&self, _window: &mut Window, _access: &Access) -> Congestion {
        Congestion::NewReno(NewReno)
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.in_recovery {
            return;
        }
        if window.is_held(ack) {
            return;
        }
        if ack.ece {
            window.cut_for_mark(window.cwnd / 2, ack);
        } else if ack.may_grow {
            window.grow(ack.acked);
        }
    }

    fn on_local_drop(&mut self, window: &mut Window) {
        window.cut_to(window.cwnd / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{ack, segments};
    use super::*;

    #[test]
    fn a_mark_halves_the_window_once_a_round() {
        let (mut control, mut window) = (NewReno, segments(20, 10));
        control.on_ack(&mut window, &ack(1, 21, true));
        assert_eq!((window.cwnd, window.ssthresh), (10_000, 10_000));
        // No cut and no growth until the 21 segments then in flight are acknowledged.
        for una in 2..=21 {
            control.on_ack(&mut window, &ack(una, 30, true));
        }
        assert_eq!(window.cwnd, 10_000);
        control.on_ack(&mut window, &ack(22, 31, true));
        assert_eq!(window.cwnd, 5_000);
    }

    #[test]
    fn a_loss_halves_what_is_in_flight_and_leaves_two_segments() {
        let (mut control, mut window) = (NewReno, segments(20, 100));
        control.on_loss(&mut window, 16_000);
        assert_eq!(window.ssthresh, 8_000);
        control.on_loss(&mut window, 3_000);
        assert_eq!(window.ssthresh, 2_000);
    }
}
