//! Recovery, and what remains when it is over.

use super::*;

/// A sender of twelve segments, the last of `last` bytes, all of which are in flight.
fn twelve(last: u64, text: &str) -> (Sender, ClosedLoop) {
    let (mut s, t) = sender(12, &format!("initial_window = \"12pkt\"\n{text}"));
    s.size = 11_000 + last;
    while s.next_piece(us(0), &t).is_some() {}
    (s, t)
}

#[test]
fn a_partial_ack_sends_what_it_misses_again_whatever_the_window_is_and_only_once() {
    // 1 has been sent again. Next, everything but 10 and 11 arrives, with a window of one segment.
    let (mut s, t) = repairing("recovery.partial_acks_tell = true");
    s.window.cwnd = 1_000;
    acked(&mut s, &t, us(162), 10, &[]);
    // 10 counts as sent again, and 11 as sent.
    assert_eq!((sends(&mut s, &t, us(162)).as_str(), s.in_flight()), ("10!", 2_000));
    // 1 to 3 are lost, and all have been sent again when the first of them arrives.
    let (mut s, t) = twelve(1_000, "recovery.partial_acks_tell = true");
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(82), 1, &[(4, 12)]);
    assert_eq!(sends(&mut s, &t, us(82)), "1! 2! 3!");
    acked(&mut s, &t, us(162), 2, &[(4, 12)]);
    assert_eq!((sends(&mut s, &t, us(162)).as_str(), s.in_flight()), ("", 2_000));
    // Of a short last segment no more counts as lost than it has.
    let (mut s, t) = twelve(500, "recovery.partial_acks_tell = true");
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "0!");
    acked(&mut s, &t, us(160), 11, &[]);
    let again = s.next_piece(us(160), &t).map(|piece| (piece.seq, piece.payload));
    assert_eq!((again, s.in_flight()), (Some((11_000, 500)), 500));
}

#[test]
fn all_that_was_sent_counts_as_in_flight_in_recovery_and_after_a_timeout_what_went_again() {
    // 1 to 3 are lost, and none of them has been sent again yet.
    let (mut s, t) = twelve(1_000, "");
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(82), 1, &[(4, 12)]);
    assert_eq!((s.phase(), s.sent_to()), (Phase::Recovery, 12_000));
    let (mut s, t) = twelve(1_000, "");
    s.on_deadline(s.deadline(), &t);
    assert_eq!((s.phase(), s.sent_to()), (Phase::Loss, 0));
}

#[test]
fn what_follows_a_repair_at_once_goes_again_once() {
    // 1 and 2 are lost, and a window of one segment has let only 1 be sent again. When it arrives 2
    // is sent, and no other when that arrives after 3 to 5.
    for text in ["recovery.partial_acks_tell = true", AS_NS3] {
        let (mut s, t) = twelve(1_000, text);
        acked(&mut s, &t, us(80), 1, &[]);
        acked(&mut s, &t, us(82), 1, &[(3, 6)]);
        assert_eq!(
            (s.phase(), sends(&mut s, &t, us(82)).as_str()),
            (Phase::Recovery, "1!"),
            "{text}"
        );
        s.window.cwnd = 1_000;
        acked(&mut s, &t, us(162), 2, &[(3, 6)]);
        assert_eq!(sends(&mut s, &t, us(162)), "2!", "{text}");
        acked(&mut s, &t, us(163), 2, &[(3, 6)]);
        assert_eq!(sends(&mut s, &t, us(163)), "", "{text}");
        // 1 and 2 were lost, and both have been sent again when 1 arrives.
        let (mut s, t) = twelve(1_000, text);
        acked(&mut s, &t, us(80), 1, &[]);
        acked(&mut s, &t, us(82), 1, &[(3, 6)]);
        s.window.cwnd = 8_000;
        assert!(sends(&mut s, &t, us(82)).starts_with("1! 2!"), "{text}");
        s.window.cwnd = 1_000;
        acked(&mut s, &t, us(162), 2, &[(3, 6)]);
        assert_eq!(sends(&mut s, &t, us(162)), "", "{text}");
    }
}

#[test]
fn a_partial_ack_tells_nothing_while_a_marks_cut_is_reached() {
    let repaired = |mark: bool| {
        let (mut s, t) = twelve(
            1_000,
            "ecn = true\nrecovery.partial_acks_tell = true\nrecovery.reduction = \"proportional\"",
        );
        if mark {
            marked(&mut s, &t, us(80), 1);
        } else {
            acked(&mut s, &t, us(80), 1, &[]);
        }
        acked(&mut s, &t, us(82), 1, &[(2, 5)]);
        assert_eq!((s.phase(), sends(&mut s, &t, us(82)).as_str()), (Phase::Recovery, "1!"));
        acked(&mut s, &t, us(162), 10, &[]);
        sends(&mut s, &t, us(162))
    };
    assert_eq!((repaired(false).as_str(), repaired(true).as_str()), ("10! 11!", "11!"));
}

#[test]
fn a_repair_counts_in_a_reduction_with_its_own_bytes() {
    let (mut s, t) =
        sender(100, "initial_window = \"20pkt\"\nrecovery.reduction = \"proportional\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    sends(&mut s, &t, us(80));
    // Half of 21 segments in flight. The retransmission of 1 counts among those that may be sent;
    // each ack allows half a segment more.
    acked(&mut s, &t, us(81), 1, &[(2, 5)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(81)).as_str()), (10_500, "1!"));
    acked(&mut s, &t, us(81), 1, &[(2, 8)]);
    assert_eq!(sends(&mut s, &t, us(81)), "22 23");
}

#[test]
fn what_growth_has_not_given_yet_is_lost_with_a_cut() {
    for detection in ["sack", "rack", "ns3"] {
        let text = format!("recovery.kind = \"{detection}\"");
        let (mut s, t) = twelve(1_000, &text);
        s.window.credit = 500;
        acked(&mut s, &t, us(80), 0, &[(1, 5)]);
        assert_eq!((s.phase(), s.window.credit), (Phase::Recovery, 0), "{detection}");
        let (mut s, t) = twelve(1_000, &text);
        s.window.credit = 500;
        while s.timeouts == 0 {
            let now = s.deadline();
            s.on_deadline(now, &t);
        }
        assert_eq!((s.phase(), s.window.credit), (Phase::Loss, 0), "{detection}");
    }
}

#[test]
fn a_repair_that_is_over_leaves_the_window_that_the_loss_left() {
    for detection in ["sack", "rack", "ns3"] {
        let (mut s, t) = twelve(1_000, &format!("recovery.kind = \"{detection}\""));
        acked(&mut s, &t, us(80), 0, &[(1, 5)]);
        sends(&mut s, &t, us(80));
        // Whatever has become of the window meanwhile.
        s.window.cwnd = 1_000;
        let ssthresh = s.window.ssthresh;
        acked(&mut s, &t, us(160), 12, &[]);
        assert_eq!((s.phase(), s.window.cwnd), (Phase::Open, ssthresh), "{detection}");
    }
}

#[test]
fn what_follows_a_timeout_ends_with_the_window_that_it_has_grown_to() {
    for detection in ["sack", "rack", "ns3"] {
        let no_probe = if detection == "rack" { "recovery.tail_loss_probe = false" } else { "" };
        let text = format!("initial_window = \"20pkt\"\nrecovery.kind = \"{detection}\"");
        let (mut s, t) = sender(100, &format!("{text}\n{no_probe}"));
        sends(&mut s, &t, us(0));
        while s.timeouts == 0 {
            let now = s.deadline();
            s.on_deadline(now, &t);
        }
        let now = s.deadline();
        assert_eq!((s.window.cwnd, sends(&mut s, &t, now).as_str()), (1_000, "0!"), "{detection}");
        acked(&mut s, &t, now, 1, &[]);
        assert_eq!((s.phase(), s.window.cwnd), (Phase::Loss, 2_000), "{detection}");
        // All segments were only late. Half of 20 would be 10.
        acked(&mut s, &t, now, 20, &[]);
        assert_eq!(s.phase(), Phase::Open, "{detection}");
        assert!(s.window.cwnd != s.window.ssthresh, "{detection}");
    }
}

// Probes
// ---------------------------------------------------------------------------------------------

#[test]
fn a_probe_is_out_until_it_is_acknowledged_itself() {
    for detection in ["sack", "rack"] {
        let text = format!(
            "initial_window = \"4pkt\"\nrecovery.tail_loss_probe = true\nrecovery.kind = \"{detection}\""
        );
        let (mut s, t) = sender(6, &text);
        sends(&mut s, &t, us(0));
        acked(&mut s, &t, us(80), 1, &[]);
        assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.deadline()), ("4 5", us(240)));
        assert_eq!(s.on_deadline(us(240), &t).map(|piece| piece.seq), Some(5_000));
        // 1 to 4 had only been late. With 5 in flight there is nothing to probe for.
        acked(&mut s, &t, us(250), 3, &[]);
        assert_eq!(s.deadline(), us(10_250), "{detection}");
        acked(&mut s, &t, us(251), 5, &[]);
        assert_eq!((s.timer, s.deadline()), (Timer::Retransmission, us(10_251)), "{detection}");
        // If there is more to send, the next flight has a probe of its own.
        s.size = 8_000;
        acked(&mut s, &t, us(252), 6, &[]);
        assert_eq!(sends(&mut s, &t, us(252)), "6 7");
        assert_eq!(s.timer, Timer::Probe, "{detection}");
    }
}

#[test]
fn only_what_arrives_from_a_probe_on_tells_what_was_lost_before_it() {
    let (mut s, t) = sender(6, "initial_window = \"6pkt\"\nrecovery.tail_loss_probe = true");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(s.on_deadline(us(240), &t).map(|piece| piece.seq), Some(5_000));
    // 4, sent before the probe, had only been late.
    acked(&mut s, &t, us(250), 1, &[(4, 5)]);
    assert_eq!(s.phase(), Phase::Open);
    acked(&mut s, &t, us(320), 1, &[(4, 6)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(320)).as_str()), (Phase::Recovery, "1! 2!"));
}

#[test]
fn no_probe_is_waited_for_where_the_timeout_comes_first() {
    let text = "initial_window = \"4pkt\"\nrecovery.tail_loss_probe = true\nrecovery.min_rto = \"100us\"\n\
                recovery.rto_granularity = \"0us\"";
    let (mut s, t) = sender(100, text);
    sends(&mut s, &t, us(0));
    // Many round trips of 80 us: the timeout falls to its least value, 60 us before a probe would
    // be due.
    for una in 1..40 {
        acked(&mut s, &t, us(80), una, &[]);
        sends(&mut s, &t, us(80));
    }
    assert_eq!((s.timer, s.deadline()), (Timer::Retransmission, us(180)));
}

#[test]
fn rack_waits_longer_for_a_probe_only_of_a_single_segment() {
    let text =
        "initial_window = \"4pkt\"\nrecovery.kind = \"rack\"\nack_every = 2\nack_delay = \"1ms\"";
    let (mut s, t) = sender(4, text);
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 2, &[]);
    assert_eq!((s.in_flight(), s.deadline()), (2_000, us(240)));
    acked(&mut s, &t, us(80), 3, &[]);
    assert_eq!((s.in_flight(), s.deadline()), (1_000, us(1_240)));
}

#[test]
fn a_probe_is_the_last_segment_if_it_has_one_byte_only() {
    let (mut s, t) = sender(0, "initial_window = \"4pkt\"\nrecovery.kind = \"rack\"");
    s.size = 3_001;
    while s.next_piece(us(0), &t).is_some() {}
    acked(&mut s, &t, us(80), 1, &[]);
    let probe = Piece { seq: 3_000, payload: 1, again: true };
    assert_eq!(s.on_deadline(us(240), &t), Some(probe));
}

/// Eight in flight, and a timeout: half of them. If it expires again before anything new is
/// acknowledged, that is the same loss (RFC 5681, section 3.1). After an ack it is another one: of
/// the two in flight two segments are left, the least.
#[test]
fn a_timeout_cuts_again_once_something_is_acknowledged() {
    for detection in ["sack", "rack", "per-priority", "duplicate-acks", "timeout-only"] {
        let probe = if detection == "rack" { "\nrecovery.tail_loss_probe = false" } else { "" };
        let text = format!("initial_window = \"8pkt\"\nrecovery.kind = \"{detection}\"{probe}");
        let (mut s, t) = sender(100, &text);
        let send = |s: &mut Sender, now| {
            while let Some(piece) = s.next_piece(now, &t) {
                s.number(&piece, 0);
            }
        };
        send(&mut s, us(0));
        s.on_deadline(us(10_000), &t);
        assert_eq!(s.window().ssthresh, 4_000, "{detection}");
        send(&mut s, us(10_000));
        s.on_deadline(us(30_000), &t);
        assert_eq!(s.window().ssthresh, 4_000, "{detection}");
        send(&mut s, us(30_000));
        acked(&mut s, &t, us(30_080), 1, &[]);
        send(&mut s, us(30_080));
        assert_eq!((s.window().cwnd, s.window().ssthresh), (2_000, 4_000), "{detection}");
        s.on_deadline(s.deadline(), &t);
        assert_eq!((s.timeouts, s.window().ssthresh), (3, 2_000), "{detection}");
    }
}

// Losses found by time
// -------------------------------------------------------------------------------

#[test]
fn rack_knows_nothing_of_what_its_host_has_refused() {
    let text =
        "initial_window = \"4pkt\"\nrecovery.kind = \"rack\"\nrecovery.tail_loss_probe = false";
    let (mut s, t) = sender(0, text);
    s.size = 3_500;
    let mut pieces: Vec<_> = std::iter::from_fn(|| s.next_piece(us(0), &t)).collect();
    s.on_refused(&pieces.pop().unwrap(), &t);
    assert_eq!((pieces.len(), s.in_flight(), s.window().cwnd), (3, 3_000, 2_000));
    // All are lost. The last of the three in flight is sent again before 3 is sent.
    s.on_deadline(us(10_000), &t);
    assert_eq!(s.in_flight(), 0);
    assert_eq!((sends(&mut s, &t, us(10_000)).as_str(), s.in_flight()), ("0!", 1_000));
    acked(&mut s, &t, us(10_080), 1, &[]);
    assert_eq!(sends(&mut s, &t, us(10_080)), "1! 2!");
    acked(&mut s, &t, us(10_160), 3, &[]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(10_160)).as_str()), (Phase::Open, "3"));
}

#[test]
fn rack_cuts_for_what_was_sent_after_a_cut_that_is_reached_by_and_by() {
    // 27 has arrived and 20 to 26 have not, all sent after the cut.
    let rack = "initial_window = \"20pkt\"\nrecovery.kind = \"rack\"";
    let (mut s, t) = sender(100, &format!("{rack}\nrecovery.reduction = \"proportional\""));
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (10_000, "0!"));
    acked(&mut s, &t, us(81), 0, &[(1, 19)]);
    let sent = sends(&mut s, &t, us(81));
    assert_eq!(sent, "20 21 22 23 24 25 26 27");
    acked(&mut s, &t, us(160), 19, &[(27, 28)]);
    let window = (s.window().cwnd, s.window().ssthresh);
    // Nine are not acknowledged.
    assert_eq!((s.phase(), window), (Phase::Recovery, (4_500, 4_500)));
    // 19 was only late, and what was sent after the cut is still to be sent again when the recovery
    // ends: another one begins, without a cut.
    acked(&mut s, &t, us(160), 20, &[(27, 28)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 4_500));
}

#[test]
fn rack_cuts_once_for_what_the_end_of_a_repair_finds() {
    let transport = closed_loop(
        "kind = \"cubic\"\nmss = \"1000B\"\ninitial_window = \"20pkt\"\n\
         recovery.kind = \"rack\"\nrecovery.reduction = \"proportional\"",
    );
    let mut s = Sender::new(100_000, 1_000, &transport, &access(10, 25));
    sends(&mut s, &transport, us(0));
    acked(&mut s, &transport, us(80), 0, &[(1, 4)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 14_000));
    sends(&mut s, &transport, us(80));
    acked(&mut s, &transport, us(81), 0, &[(1, 20)]);
    sends(&mut s, &transport, us(81));
    let sent = s.board.nxt / 1_000;
    assert!(sent > 24, "{sent}");
    // 0 has arrived, and so have the last three of what was sent after the cut: another cut to
    // seven tenths.
    acked(&mut s, &transport, us(161), 20, &[(sent - 3, sent)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 9_800));
}

#[test]
fn rack_does_not_begin_anew_what_a_mark_has_begun() {
    let text = "initial_window = \"12pkt\"\necn = true\nrecovery.kind = \"rack\"\n\
                recovery.reduction = \"proportional\"";
    let (mut s, t) = sender(100, text);
    sends(&mut s, &t, us(0));
    // Eleven in flight are cut to six: with one and with four delivered, 6/11 and 24/11 segments
    // may be sent. 1 is the first of them.
    marked(&mut s, &t, us(80), 1);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (6_000, ""));
    acked(&mut s, &t, us(81), 1, &[(2, 5)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 6_000));
    assert_eq!(sends(&mut s, &t, us(81)), "1! 12");
}

#[test]
fn rack_does_not_cut_after_a_timeout_for_what_was_sent_before_it() {
    let rack = "recovery.kind = \"rack\"\nrecovery.tail_loss_probe = false";
    let (mut s, t) = sender(100, &format!("initial_window = \"10pkt\"\n{rack}"));
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    sends(&mut s, &t, us(80));
    acked(&mut s, &t, us(90), 1, &[(2, 5)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(90)).as_str()), (Phase::Recovery, "1!"));
    acked(&mut s, &t, us(10_070), 1, &[(2, 12)]);
    assert!(sends(&mut s, &t, us(10_070)).starts_with("12 13 14"));
    // With the timeout only 1 is old enough to be lost; the loss of 12 is found later.
    s.on_deadline(us(10_080), &t);
    let ssthresh = s.window().ssthresh;
    assert_eq!((s.phase(), sends(&mut s, &t, us(10_080)).as_str()), (Phase::Loss, "1!"));
    acked(&mut s, &t, us(10_150), 1, &[(13, 15), (2, 12)]);
    assert_eq!((s.next_lost(), s.phase()), (Some((12_000, 13_000)), Phase::Loss));
    assert_eq!(s.window().ssthresh, ssthresh);
}

// As ns-3 does
// ---------------------------------------------------------------------------------------

const AS_NS3: &str = "recovery.kind = \"ns3\"\nrecovery.reduction = \"at-once\"";

#[test]
fn ns3_moves_the_timer_on_again_when_a_repair_is_over() {
    for times_out in [false, true] {
        let (mut s, t) = twelve(1_000, AS_NS3);
        acked(&mut s, &t, us(80), 0, &[(1, 5)]);
        assert_eq!((s.phase(), sends(&mut s, &t, us(80)).as_str()), (Phase::Recovery, "0!"));
        // The first partial ack of a recovery restarts the timer, and no other does.
        for (now, una) in [(160, 5), (161, 6)] {
            acked(&mut s, &t, us(now), una, &[]);
            assert_eq!((s.phase(), s.deadline()), (Phase::Recovery, us(10_160)));
            sends(&mut s, &t, us(now));
        }
        if times_out {
            s.on_deadline(us(10_160), &t);
            assert_eq!(s.phase(), Phase::Loss);
        }
        s.size = 60_000;
        acked(&mut s, &t, us(10_200), 12, &[]);
        assert_eq!(s.phase(), Phase::Open);
        s.window.cwnd = 12_000;
        assert!(sends(&mut s, &t, us(10_200)).starts_with("12 13"));
        // Now each ack restarts it, and so does the first one in the next recovery.
        acked(&mut s, &t, us(10_300), 13, &[]);
        assert_eq!(s.deadline(), us(20_300));
        acked(&mut s, &t, us(10_301), 13, &[(14, 18)]);
        assert_eq!((s.phase(), sends(&mut s, &t, us(10_301)).as_str()), (Phase::Recovery, "13!"));
        acked(&mut s, &t, us(10_400), 18, &[]);
        assert_eq!((s.phase(), s.deadline()), (Phase::Recovery, us(20_400)));
    }
}

#[test]
fn ns3_repairs_what_is_lost_before_it_sends_what_is_new() {
    // 1 and 4 are lost, and 11 and 12 behind them may be.
    let (mut s, t) = sender(30, &format!("initial_window = \"12pkt\"\n{AS_NS3}"));
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    sends(&mut s, &t, us(80));
    acked(&mut s, &t, us(82), 1, &[(2, 4), (5, 6)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(82)).as_str()), (Phase::Recovery, "1!"));
    acked(&mut s, &t, us(83), 1, &[(5, 8), (2, 4)]);
    assert_eq!(sends(&mut s, &t, us(83)), "");
    // The window is full, but the first missing segment is lost: it is sent again.
    acked(&mut s, &t, us(162), 4, &[(5, 8)]);
    assert_eq!(sends(&mut s, &t, us(162)), "4!");
    // The next missing segment is not known to be lost: new data is sent.
    s.window.cwnd = 1_000;
    acked(&mut s, &t, us(242), 8, &[]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(242)).as_str()), (Phase::Recovery, "14"));
}

#[test]
fn ns3_waits_for_nothing_with_a_segment_of_window_or_nothing_to_send() {
    // A mark leaves a window of one segment. Nothing is in flight, and the next segment starts the
    // timer.
    let (mut s, t) = dctcp_as_ns3("1pkt", "1pkt");
    sends(&mut s, &t, us(0));
    marked(&mut s, &t, us(80), 1);
    assert_eq!((s.window().cwnd, s.deadline()), (1_000, Time::MAX));
    // It leaves half a segment, but everything has been sent.
    let (_, t) = dctcp_as_ns3("1B", "1pkt");
    let mut s = Sender::new(1_000, 1_000, &t, &access(10, 25));
    sends(&mut s, &t, us(0));
    marked(&mut s, &t, us(80), 1);
    assert_eq!((s.window().cwnd, s.is_done(), s.deadline()), (500, true, Time::MAX));
}

#[test]
fn ns3_sends_again_what_is_missing_where_there_is_nothing_else() {
    let (mut s, t) = twelve(1_000, AS_NS3);
    acked(&mut s, &t, us(80), 0, &[(1, 5)]);
    // 5 to 11 and the retransmission are in flight, and there is room for one more.
    s.window.cwnd = 9_000;
    assert_eq!((s.phase(), sends(&mut s, &t, us(80)).as_str()), (Phase::Recovery, "0! 5!"));
}
