//! The next flow of a connection that stays open: what its sender keeps of the flows before it.
//!
//! It keeps the window, the congestion controller's state, the estimate of the round trip, the pace
//! and the announcement of a cut. Bytes are numbered on from flow to flow. So whatever refers to a
//! byte sent before, such as the end of DCTCP's window of data, stays true for every controller, as
//! if the flows were one flow with pauses. Everything of the earlier flows is acknowledged, so
//! nothing is in flight, and nothing is lost.

use super::{AtOnce, Phase, Sender, Timer};
use crate::flow::FlowSpec;
use crate::protection::Tlt;
use crate::recovery::Recovery;
use crate::window::CongestionControl;
use crate::{Access, ClosedLoop, Connections, Restart};
use spillway_engine::Time;

impl Sender {
    /// Takes the next flow, of `size` bytes, after the connection has been idle for a while.
    /// Returns the number of its first byte.
    pub fn begin_next(
        &mut self,
        now: Time,
        idle: Time,
        size: u64,
        transport: &ClosedLoop,
        access: &Access,
    ) -> u64 {
        let first = self.board.begin_segment();
        self.size = match size {
            FlowSpec::ENDLESS => size,
            _ => first.saturating_add(size),
        };
        self.forget_losses();
        self.phase = Phase::first(transport);
        (self.retransmitted_packets, self.timeout_repairs, self.timeouts) = (0, 0, 0);
        self.recovery.begin_next(first, access);
        self.control.on_idle(idle);
        let restart = match transport.connections {
            Connections::Open { restart } => restart,
            Connections::Own => Restart::Never,
        };
        let timeout = match &self.recovery {
            Recovery::Own(own) => Some(own.rules.idle_timeout()),
            _ => None,
        };
        let is_idle = || idle > timeout.unwrap_or_else(|| self.rtt.timeout(&transport.rto));
        if restart == Restart::Each || (restart == Restart::Idle && is_idle()) {
            let initial = transport.initial_window(size, self.window.mss as u32, access);
            let most = if restart == Restart::Each { u64::MAX } else { self.window.cwnd };
            self.restart_with(initial.cwnd.max(self.window.min).min(most), initial.slow_start);
        }
        if transport.recovery.is_ns3() && self.is_stuck_as_ns3() {
            self.set_retransmission_deadline(now, transport);
        }
        first
    }

    fn forget_losses(&mut self) {
        self.at_once = AtOnce::Nothing;
        (self.has_moved_timer, self.keeps_timer) = (false, false);
        self.repairs_under_marks = false;
        self.duplicate_acks = 0;
        self.probe = None;
        // No ack will come that could advance it.
        self.reduction = None;
        if let Some(tlt) = &mut self.tlt {
            **tlt = Tlt::default();
        }
        (self.deadline, self.timer) = (Time::MAX, Timer::Retransmission);
    }

    /// The window begins anew, and `ssthresh` stays (RFC 5681, section 4.1). If something other
    /// than a cut has ended slow start, slow start goes on up to the earlier window.
    fn restart_with(&mut self, cwnd: u64, slow_start: bool) {
        let window = &mut self.window;
        if slow_start && !window.slow_start {
            window.ssthresh = window.ssthresh.min(window.cwnd);
            window.slow_start = true;
        }
        window.cwnd = cwnd;
        window.credit = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AckSegment, Congestion, Piece};
    use super::*;
    use crate::tests::{access, closed_loop};

    const OPEN: &str = "mss = \"1000B\"\nconnections = \"open\"\nrecovery.min_rto = \"1ms\"";

    fn sender(bytes: u64, text: &str) -> (Sender, ClosedLoop) {
        let transport = closed_loop(&format!("{OPEN}\n{text}"));
        (Sender::new(bytes, 1_000, &transport, &access(10, 25)), transport)
    }

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// The first bytes of the segments that may be sent now.
    fn sends(sender: &mut Sender, transport: &ClosedLoop, now: Time) -> Vec<u64> {
        std::iter::from_fn(|| sender.next_piece(now, transport)).map(|piece| piece.seq).collect()
    }

    /// An ack of everything before `seq`, for a packet sent 80 us ago.
    fn acked(sender: &mut Sender, transport: &ClosedLoop, now: Time, seq: u64, ece: bool) {
        let sent_at = now.since(us(80));
        let ack = AckSegment {
            seq,
            ece,
            sent_at,
            may_grow: true,
            sack: None,
            telemetry: None,
            number: None,
        };
        sender.on_ack(now, &ack, transport);
    }

    fn next(sender: &mut Sender, transport: &ClosedLoop, idle: Time, size: u64) -> u64 {
        sender.begin_next(us(200) + idle, idle, size, transport, &access(10, 25))
    }

    #[test]
    fn bytes_are_numbered_on_from_the_next_multiple_of_a_segment() {
        let (mut s, t) = sender(1_500, "initial_window = \"2pkt\"");
        assert_eq!(sends(&mut s, &t, us(0)), [0, 1_000]);
        acked(&mut s, &t, us(200), 1_500, false);
        assert!(s.is_done());
        assert_eq!(next(&mut s, &t, us(10), 2_300), 2_000);
        assert!(!s.is_done() && s.in_flight() == 0);
        let pieces: Vec<Piece> = std::iter::from_fn(|| s.next_piece(us(210), &t)).collect();
        let piece = |seq, payload| Piece { seq, payload, again: false };
        assert_eq!(pieces, [piece(2_000, 1_000), piece(3_000, 1_000), piece(4_000, 300)]);
        acked(&mut s, &t, us(290), 4_300, false);
        assert!(s.is_done() && s.deadline() == Time::MAX);
        // A flow without an end.
        assert_eq!(next(&mut s, &t, us(10), FlowSpec::ENDLESS), 5_000);
        assert!(s.is_endless() && !s.is_done());
    }

    #[test]
    fn the_round_trip_stays_known_and_counts_begin_anew() {
        let (mut s, t) = sender(1_000, "");
        assert_eq!(sends(&mut s, &t, us(0)), [0]);
        // The timer expires, and the segment is sent again.
        assert_eq!(s.on_deadline(us(10_000), &t), None);
        assert_eq!(sends(&mut s, &t, us(10_000)), [0]);
        acked(&mut s, &t, us(10_080), 1_000, false);
        assert_eq!((s.timeouts, s.retransmitted_packets), (1, 1));
        next(&mut s, &t, us(10), 1_000);
        assert_eq!((s.timeouts, s.retransmitted_packets, s.smoothed_rtt()), (0, 0, us(80)));
        // The least timeout, not the first one of 10 ms, and not twice as long.
        assert_eq!(sends(&mut s, &t, us(20_000)), [1_000]);
        assert_eq!(s.deadline(), us(21_000));
    }

    #[test]
    fn dctcp_goes_on_with_its_window_of_data_and_with_its_cut() {
        let (mut s, t) = sender(2_000, "initial_window = \"4pkt\"");
        assert_eq!(sends(&mut s, &t, us(0)), [0, 1_000]);
        // The ack opens the first window of data, up to byte 2000, and a mark halves the window.
        acked(&mut s, &t, us(80), 1_000, true);
        assert_eq!(s.window().cwnd, 2_000);
        acked(&mut s, &t, us(81), 2_000, false);
        // That ended the first window, with no mark in it: alpha = 15/16.
        let alpha = |s: &Sender| match &s.control {
            Congestion::Dctcp(dctcp) => dctcp.alpha(),
            other => panic!("{other:?}"),
        };
        assert_eq!((alpha(&s), s.window().cwnd), (15.0 / 16.0, 2_000));
        assert_eq!(next(&mut s, &t, us(10), 3_000), 2_000);
        assert!(s.take_cut(), "the cut is announced with the next flow");
        assert_eq!(sends(&mut s, &t, us(210)), [2_000, 3_000]);
        // The next window of data ends with the first ack behind byte 2000. The cut holds no
        // longer.
        acked(&mut s, &t, us(290), 3_000, false);
        assert_eq!(alpha(&s), (15.0 / 16.0) * (15.0 / 16.0));
        // mss * acked / cwnd = 1000 * 1000 / 2000.
        assert_eq!(s.window().cwnd, 2_500);
    }

    #[test]
    fn after_an_idle_timeout_the_window_is_the_initial_one_again() {
        let (mut s, t) = sender(10_000, "initial_window = \"3pkt\"");
        (s.window.cwnd, s.window.ssthresh) = (50_000, 20_000);
        s.rtt.sample(us(80));
        s.acknowledge_all();
        s.board.nxt = 10_000;
        let windows = |s: &Sender| (s.window.cwnd, s.window.ssthresh);
        // srtt + 4 * srtt / 2 = 240 us, so the timeout is the least one.
        next(&mut s, &t, us(1_000), 10_000);
        assert_eq!(windows(&s), (50_000, 20_000));
        s.acknowledge_all();
        s.board.nxt = 20_000;
        next(&mut s, &t, us(1_000) + Time::from_ps(1), 10_000);
        assert_eq!(windows(&s), (3_000, 20_000));
        // A smaller window stays.
        s.acknowledge_all();
        (s.board.nxt, s.window.cwnd) = (30_000, 2_000);
        next(&mut s, &t, us(5_000), 10_000);
        assert_eq!(windows(&s), (2_000, 20_000));
    }

    #[test]
    fn the_window_does_not_fall_below_the_least_one_or_where_it_is_to_stay() {
        let after = |text: &str| {
            let (mut s, t) = sender(1_000, text);
            s.window.cwnd = 50_000;
            s.acknowledge_all();
            s.board.nxt = 1_000;
            // Without a sample of the round trip the timeout is the first one.
            next(&mut s, &t, us(10_001), 7_000);
            s.window.cwnd
        };
        assert_eq!(after("initial_window = \"1pkt\"\nmin_window = \"4pkt\""), 4_000);
        assert_eq!(after("initial_window = \"flow\""), 7_000);
        assert_eq!(after("restart_idle = false"), 50_000);
        // A pace, and the window with it, stays as it was.
        assert_eq!(after("kind = \"timely\""), 50_000);
    }

    #[test]
    fn each_flow_may_begin_with_the_initial_window() {
        let (mut s, t) = sender(1_000, "initial_window = \"3pkt\"\nrestart_each = true");
        // Larger or smaller, and no matter how long it was idle; `ssthresh` and alpha stay.
        for (flow, cwnd) in [50_000, 2_000].into_iter().enumerate() {
            s.acknowledge_all();
            s.board.nxt = s.size;
            (s.window.cwnd, s.window.ssthresh) = (cwnd, 20_000);
            next(&mut s, &t, us(10), 1_000);
            assert_eq!((s.window.cwnd, s.window.ssthresh), (3_000, 20_000), "flow {flow}");
        }
        let (mut s, t) = sender(1_000, "initial_window = \"flow\"\nrestart_each = true");
        s.acknowledge_all();
        s.board.nxt = 1_000;
        next(&mut s, &t, us(10), 40_000);
        assert_eq!(s.window.cwnd, 40_000);
    }

    #[test]
    fn slow_start_that_hystart_has_ended_goes_on_to_the_window_before() {
        let (mut s, t) = sender(1_000, "kind = \"cubic\"\nhystart = \"exact\"");
        (s.window.cwnd, s.window.slow_start) = (50_000, false);
        s.acknowledge_all();
        s.board.nxt = 1_000;
        next(&mut s, &t, us(10_001), 1_000);
        let window = s.window;
        assert_eq!((window.cwnd, window.ssthresh, window.slow_start), (10_000, 50_000, true));
    }

    #[test]
    fn nothing_of_a_repair_is_left() {
        let (mut s, t) = sender(3_000, "recovery.reduction = \"proportional-ns3\"");
        assert_eq!(sends(&mut s, &t, us(0)), [0, 1_000, 2_000]);
        // A mark: until something sent after the cut is acknowledged, a reduction is under way.
        acked(&mut s, &t, us(80), 2_000, true);
        acked(&mut s, &t, us(81), 3_000, false);
        assert!(s.is_done() && s.reduction.is_some());
        s.at_once = AtOnce::Head;
        next(&mut s, &t, us(10), 2_000);
        assert_eq!((s.phase(), s.reduction.is_none()), (Phase::Open, true));
        // Two segments fit the window of five.
        assert_eq!(sends(&mut s, &t, us(210)), [3_000, 4_000]);
    }

    #[test]
    fn with_ns3_s_rules_a_window_below_a_segment_waits_for_the_timer() {
        let (mut s, t) = sender(1_000, "recovery.kind = \"ns3\"\nmin_window = \"100B\"");
        assert_eq!(sends(&mut s, &t, us(0)), [0]);
        acked(&mut s, &t, us(80), 1_000, false);
        s.window.cwnd = 500;
        next(&mut s, &t, us(10), 4_000);
        assert_eq!(sends(&mut s, &t, us(210)), [0; 0]);
        // The least timeout after the flow began.
        assert_eq!(s.deadline(), us(1_210));
        assert_eq!(s.on_deadline(us(1_210), &t), None);
        assert_eq!(sends(&mut s, &t, us(1_210)), [1_000]);
    }
}
