//! pFabric's rate control: a flow begins at its line's rate and reacts to nothing but timeouts.
//!
//! # Reference
//! M. Alizadeh, S. Yang, M. Sharif, S. Katti, N. McKeown, B. Prabhakar, S. Shenker, "pFabric:
//! Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, section 4.3.
//! <https://doi.org/10.1145/2486001.2486031>
//!
//! # Rule
//! - A flow begins with a window of `initial_window`.
//! - An ack that acknowledges anything new cumulatively adds a segment to the window below
//!   ssthresh, and from there on a segment for every cwnd such acks. The window is at most
//!   `max_window`. Only such an ack lets segments go. Others report what has arrived behind a gap,
//!   which widens the window by as much; however many come, they retransmit nothing.
//! - A timeout (`rto`, always the same): ssthresh = max(cwnd / 2, 2), cwnd = 1, in segments, and
//!   what is missing is sent again from the first unacknowledged byte on. An ack with something new
//!   restarts the timer, and so does a timeout.
//! - After `probe_after` timeouts in a row: one packet without payload for every timeout, until an
//!   ack comes. Then the flow goes on with a window of one segment.
//! - Each packet carries what is left of its flow, for switches and NICs with
//!   `scheduling = "pfabric"` and `sharing = "pfabric"`. With `remaining = "unacknowledged"` that
//!   is the flow's size without what has been acknowledged when the packet is sent, cumulatively or
//!   selectively.
//!
//! # What the paper leaves open
//! - When acks let segments go, and how far the window reaches with gaps: as in the simulator YAPS
//!   (NetSys/simulator, by authors of pHost).
//! - How many timeouts in a row start the probes: 5, as in the ns-2 patch that PIAS's authors
//!   published.
//!
//! # Departures from the paper
//! The paper sets 12 packets, 1 BDP of its network, and a timeout of 45 us, about 3 RTT; these are
//! multiples of the base RTT here. The paper's probes carry a byte of payload; here they carry
//! none.
//!
//! # Scope and limitations
//! A warning tells of switches whose ports do not both push out and serve by what flows have left.
//! There is no handshake; every packet is acknowledged on its own. Marks are ignored. The base RTT
//! counts one full packet, at the slowest link: on paths with several store-and-forward links a
//! window of 1 BDP does not quite fill the line. With `knows_receiver` the sender reads from the
//! receiver's state what has arrived, and does not send it, as YAPS's senders do. Where acks are
//! lost, YAPS's flows may never end; here the first segment is sent all the same from the second
//! timeout in a row on.
//!
//! # In composition
//! Ports with other sharing policies lose its packets whatever is left of their flows, and each
//! loss costs a timeout. What waits for longer than `rto`, 3 base RTT by default, is sent again
//! while it waits, so buffers must be small. It ignores marks, and AQMs that drop what is not
//! ECN-capable drop its packets.
//!
//! # Validation
//! Hand arithmetic below and end to end, to the picosecond (`tests/pfabric.rs`). The flows of a run
//! of YAPS complete as they do there (studies/spillway_studies/references/validation.md).
//!
//! # Cost
//! A comparison and an addition for every ack; 8 bytes for every flow.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams};
use super::initial::InitialWindow;
use super::kind::{Kind, Needs};
use super::receiver::EcnEcho;
use super::window::{Ack, CongestionControl, Window};
use spillway_settings::{Section, SettingsError, Takes};

/// The row of pFabric.
/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "pfabric",
    results: 1,
    summary: "begin at line rate and react to timeouts alone, as pFabric",
    citation: "Alizadeh et al.: SIGCOMM 2013, doi:10.1145/2486001.2486031, section 4.3",
    needs: Needs {
        by_timeouts_alone: true,
        echo: EcnEcho::PerPacket,
        cuts_for_local_drops: false,
        ..Needs::OF_WINDOW
    },
    read: |section| Ok(DriverParams::of_acks(PFabricParams::read(section)?)),
};

/// pFabric's parameters.
#[derive(Clone, Copy, Debug)]
pub struct PFabricParams {
    /// The largest window; in whole segments, one at least.
    max: InitialWindow,
}

impl PFabricParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<PFabricParams, SettingsError> {
        let takes = "a window such as \"15pkt\", \"22KB\" or \"1.25bdp\"";
        let max = section.quantity(
            "max_window",
            "1.25bdp",
            Takes::new(takes, [InitialWindow::form()]),
            "the largest window, also at first",
            InitialWindow::parse_size,
        )?;
        Ok(PFabricParams { max })
    }
}

impl ControlMaker for PFabricParams {
    fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        let whole = |bytes: u64| bytes.div_ceil(window.mss).max(1) * window.mss;
        let max = whole(self.max.bytes(u64::MAX, window.mss, access));
        window.cwnd = whole(window.cwnd).min(max);
        Congestion::PFabric(PFabric { acks: 0, max: u32::try_from(max).unwrap_or(u32::MAX) })
    }
}

/// The window of a flow.
#[derive(Clone, Copy, Debug)]
pub struct PFabric {
    /// Acks since the window grew by a segment, above ssthresh.
    acks: u32,
    /// The largest window, in bytes.
    max: u32,
}

impl CongestionControl for PFabric {
    fn on_ack(&mut self, window: &mut Window, _ack: &Ack) {
        let step = if window.cwnd < window.ssthresh {
            window.mss
        } else {
            self.acks += 1;
            if u64::from(self.acks) * window.mss >= window.cwnd {
                self.acks = 0;
                window.mss
            } else {
                0
            }
        };
        window.cwnd = (window.cwnd + step).min(self.max.into());
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        let segments = window.cwnd / window.mss;
        window.ssthresh = (segments / 2).max(2) * window.mss;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::super::window::tests::{ack, segments};
    use super::*;

    fn control(text: &str, window: &mut Window, base_rtt_us: u64) -> Congestion {
        let mut section = Section::new("transport", text.parse().unwrap());
        let params = PFabricParams::read(&mut section).unwrap();
        params.start(window, &access(10, base_rtt_us))
    }

    /// From 12 segments each ack adds one, up to 15. A timeout leaves 15 / 2 = 7 as ssthresh and a
    /// window of 1, set by the sender. Six acks later it has 7, and 7 acks later 8. Then 8 acks.
    #[test]
    fn the_window_grows_to_its_bound_and_slowly_above_half_of_what_it_was() {
        let mut window = Window { ssthresh: u64::MAX, ..segments(12, 0) };
        let mut control = control("max_window = \"15pkt\"", &mut window, 10);
        let mut after = |window: &mut Window, acks: u64| {
            (0..acks).for_each(|una| control.on_ack(window, &ack(una, 100, false)));
            window.cwnd / 1000
        };
        assert_eq!([1, 1, 1, 1].map(|acks| after(&mut window, acks)), [13, 14, 15, 15]);
        PFabric { acks: 0, max: 15_000 }.on_timeout(&mut window, 0);
        assert_eq!(window.ssthresh, 7_000);
        window.cwnd = 1_000;
        assert_eq!([6, 6, 1, 7, 1].map(|acks| after(&mut window, acks)), [7, 7, 8, 8, 9]);
        // Of a small window ssthresh is 2.
        window.cwnd = 3_000;
        PFabric { acks: 0, max: 15_000 }.on_timeout(&mut window, 0);
        assert_eq!(window.ssthresh, 2_000);
    }

    #[test]
    fn windows_are_whole_segments_and_one_at_least() {
        // 1.25 BDP of 10 Gbps for 10 us are 15,625 bytes: 16 segments. 20 come down to that.
        let mut window = segments(20, 0);
        control("", &mut window, 10);
        assert_eq!(window.cwnd, 16_000);
        let mut window = segments(1, 0);
        control("max_window = \"0.01bdp\"", &mut window, 10);
        assert_eq!(window.cwnd, 1_000);
        let mut window = Window { cwnd: 3_500, ..segments(0, 0) };
        control("max_window = \"15000B\"", &mut window, 10);
        assert_eq!(window.cwnd, 4_000);
    }
}
