use super::super::tests::{access, transport};
use super::*;

/// A sender of `segments` segments of 1000 bytes, and its transport.
fn sender(segments: u64, text: &str) -> (Sender, Transport) {
    let transport = transport(&format!("kind = \"newreno\"\nmss = \"1000B\"\n{text}"));
    (Sender::new(segments * 1000, &transport, &access(10, 25)), transport)
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// The numbers of the segments that may be sent now, `!` behind one that is sent again.
fn sends(sender: &mut Sender, transport: &Transport, now: Time) -> String {
    let piece = |piece: Piece| {
        assert_eq!(piece.seq % 1000, 0);
        format!("{}{}", piece.seq / 1000, if piece.again { "!" } else { "" })
    };
    let pieces = std::iter::from_fn(|| sender.next_piece(now, transport));
    pieces.map(piece).collect::<Vec<_>>().join(" ")
}

/// An ack of `una` segments and of the ranges of segments behind it.
fn acked(sender: &mut Sender, transport: &Transport, now: Time, una: u64, sack: &[(u64, u64)]) {
    let mut blocks = SackBlocks::default();
    for (block, &(start, end)) in blocks.iter_mut().zip(sack) {
        *block = (start * 1000, end * 1000);
    }
    let sack = (!sack.is_empty()).then_some(&blocks);
    let sent_at = now.since(us(80));
    sender.on_ack(
        now,
        &AckSegment { seq: una * 1000, ece: false, sent_at, may_grow: true, sack, telemetry: None },
        transport,
    );
}

#[test]
fn a_window_goes_out_and_each_ack_releases_two_in_slow_start() {
    let (mut s, t) = sender(100, "initial_window = \"4pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3");
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "4 5");
    assert_eq!(s.in_flight(), 5000);
}

#[test]
fn the_last_piece_is_what_is_left() {
    let (mut s, t) = sender(0, "initial_window = \"4pkt\"");
    s.size = 1500;
    let piece = |seq, payload| Some(Piece { seq, payload, again: false });
    assert_eq!(s.next_piece(us(0), &t), piece(0, 1000));
    assert_eq!(s.next_piece(us(0), &t), piece(1000, 500));
    assert_eq!(s.next_piece(us(0), &t), None);
    s.on_ack(
        us(80),
        &AckSegment {
            seq: 1500,
            ece: false,
            sent_at: us(0),
            may_grow: true,
            sack: None,
            telemetry: None,
        },
        &t,
    );
    assert!(s.is_done() && s.deadline() == Time::MAX);
}

#[test]
fn one_loss_is_repaired_in_a_round_trip_with_half_the_window() {
    // 10 in flight, segment 2 lost. Acks of 0 and 1 grow the window to 12 and release 10 to 13.
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3 4 5 6 7 8 9");
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(80), 2, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "10 11 12 13");
    // Segments 3 and 4 arrive: limited transmit, a new one for each. Nothing is lost yet:
    // 2 segments behind the gap are no more than dupthresh - 1.
    for (end, new) in [(4, "14"), (5, "15")] {
        acked(&mut s, &t, us(81), 2, &[(3, end)]);
        assert_eq!(sends(&mut s, &t, us(81)), new);
    }
    // Segment 5: 3 > 2, so 2 is lost. In flight were 16 - 2 = 14 segments: ssthresh = 7.
    acked(&mut s, &t, us(82), 2, &[(3, 6)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 7_000));
    assert_eq!(sends(&mut s, &t, us(82)), "2!");
    // In flight: 14 sent, 3 of them here, none lost any more: 11. It has to fall below 7.
    assert_eq!(s.in_flight(), 11_000);
    for end in 7..=10 {
        acked(&mut s, &t, us(83), 2, &[(3, end)]);
        assert_eq!(sends(&mut s, &t, us(83)), "");
    }
    acked(&mut s, &t, us(83), 2, &[(3, 11)]);
    assert_eq!(sends(&mut s, &t, us(83)), "16");
    // The repair arrives: everything up to 15 is there, and the window is what was left of it.
    acked(&mut s, &t, us(162), 16, &[]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, 7_000));
    assert_eq!(sends(&mut s, &t, us(162)), "17 18 19 20 21 22");
    assert_eq!((s.retransmitted_packets, s.timeouts), (1, 0));
}

/// As `acked`, with an echo of a mark and nothing behind a gap.
fn marked(sender: &mut Sender, transport: &Transport, now: Time, una: u64) {
    let ack = AckSegment {
        seq: una * 1000,
        ece: true,
        sent_at: now.since(us(80)),
        may_grow: true,
        sack: None,
        telemetry: None,
    };
    sender.on_ack(now, &ack, transport);
}

#[test]
fn a_window_that_a_mark_has_cut_is_cut_again_for_a_loss_only_if_that_is_asked_for() {
    for (cut_once, cut) in [(true, 10_000), (false, 9_500)] {
        let text = format!("initial_window = \"20pkt\"\necn = true\ncut_once = {cut_once}");
        let (mut s, t) = sender(100, &text);
        sends(&mut s, &t, us(0));
        // A mark halves 20; segment 1, of the same flight, is lost: in flight are 19.
        marked(&mut s, &t, us(80), 1);
        assert_eq!((s.window().cwnd, s.tells_cut), (10_000, true));
        s.tells_cut = false;
        acked(&mut s, &t, us(81), 1, &[(2, 5)]);
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, cut), "{cut_once}");
        assert!(sends(&mut s, &t, us(81)).starts_with("1!"));
        assert_eq!((s.window().ssthresh, s.tells_cut), (cut, false));
        acked(&mut s, &t, us(161), 20, &[]);
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, cut));
        // The next flight loses its first segment: it is one of its own.
        sends(&mut s, &t, us(161));
        let in_flight = s.in_flight();
        acked(&mut s, &t, us(241), 20, &[(21, 24)]);
        assert_eq!((s.window().cwnd, s.tells_cut), (in_flight / 2, cut_once));
    }
}

#[test]
fn several_losses_are_repaired_in_order_within_one_recovery() {
    let (mut s, t) = sender(12, "initial_window = \"12pkt\"");
    sends(&mut s, &t, us(0));
    // 1, 4 and 5 are lost; acks come for 0, 2, 3, 6, 7, 8.
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(80), 1, &[(2, 4)]);
    acked(&mut s, &t, us(80), 1, &[(6, 7), (2, 4)]);
    // 3 segments behind segment 1: it is lost. 11 in flight: ssthresh 5.5.
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 5_500));
    assert_eq!(sends(&mut s, &t, us(80)), "1!");
    acked(&mut s, &t, us(80), 1, &[(6, 8), (2, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "");
    // Behind 4 and 5 there are now three: 11 - 5 here - 2 lost = 4 in flight, room for one.
    acked(&mut s, &t, us(80), 1, &[(6, 9), (2, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "4!");
    acked(&mut s, &t, us(81), 1, &[(6, 10), (2, 4)]);
    assert_eq!(sends(&mut s, &t, us(81)), "5!");
    acked(&mut s, &t, us(160), 4, &[(6, 12)]);
    acked(&mut s, &t, us(161), 12, &[]);
    assert!(s.is_done());
    assert_eq!((s.retransmitted_packets, s.timeouts), (3, 0));
}

#[test]
fn the_first_flight_is_bounded_by_the_window_of_the_answer() {
    let (mut s, t) = sender(20, "initial_window = \"6pkt\"\nsyn_window = \"3500B\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2");
    // The first ack opens the window to 6, and slow start to 7: 2 are in flight.
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "3 4 5 6 7");
    // A timeout before it leaves one segment, and then two.
    let (mut s, t) = sender(20, "initial_window = \"6pkt\"\nsyn_window = \"3500B\"");
    sends(&mut s, &t, us(0));
    s.on_deadline(us(10_000), &t);
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    acked(&mut s, &t, us(10_080), 1, &[]);
    assert_eq!(s.window().cwnd, 2_000);
}

/// A sender of twelve segments in Recovery: 1 is lost and has been sent again, and the last two of the
/// first flight too.
fn repairing(text: &str) -> (Sender, Transport) {
    let (mut s, t) = sender(12, &format!("initial_window = \"12pkt\"\necn = true\n{text}"));
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(82), 1, &[(2, 5)]);
    assert_eq!(sends(&mut s, &t, us(82)), "1!");
    acked(&mut s, &t, us(87), 1, &[(2, 10)]);
    assert_eq!(sends(&mut s, &t, us(87)), "");
    (s, t)
}

#[test]
fn the_last_segment_is_sent_once_more_when_nothing_else_is_left() {
    let (mut s, t) = repairing("");
    // The repair arrives. Nothing is known of 10 and 11: the last one goes out (rule 4).
    acked(&mut s, &t, us(162), 10, &[]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(162)).as_str()), (2_000, "11!"));
    // It does not count as sent again (step C.2), and no other goes out in this repair.
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(163)).as_str()), (2_000, ""));
    // It arrives, so 10 is missing and has something behind it, if only one (rule 3). From then on it
    // counts twice, as sent and as sent again.
    acked(&mut s, &t, us(242), 10, &[(11, 12)]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(242)).as_str()), (1_000, "10!"));
    assert_eq!((s.in_flight(), s.phase()), (2_000, Phase::Recovery));
    acked(&mut s, &t, us(322), 12, &[]);
    assert!(s.is_done() && s.phase() == Phase::Open);
    assert_eq!((s.retransmitted_packets, s.timeouts), (3, 0));
}

#[test]
fn the_rescue_waits_for_the_first_repair_and_for_new_data() {
    // Only 1 and what arrives behind it: nothing beyond the first repair is acknowledged (step 4.3).
    let (mut s, t) = sender(4, "initial_window = \"4pkt\"\ndupthresh = 2");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 3)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(80)).as_str()), (Phase::Recovery, "0!"));
    // While there is new data that goes first (rule 2), and what may be lost waits for its end.
    let (mut s, t) = sender(14, "initial_window = \"12pkt\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (6_000, "0!"));
    // 4 is missing, and 5 to 9 behind it make it lost; 10 is missing, and only 11 is behind it.
    acked(&mut s, &t, us(81), 0, &[(5, 10), (1, 4)]);
    assert_eq!(sends(&mut s, &t, us(81)), "4! 12 13");
    acked(&mut s, &t, us(82), 0, &[(11, 12), (5, 10), (1, 4)]);
    assert_eq!(sends(&mut s, &t, us(82)), "10!");
}

#[test]
fn partial_acks_tell_that_the_last_segments_are_lost() {
    let told = |ece: bool| {
        let (mut s, t) = repairing("partial_acks_tell = true");
        let sent_at = us(82);
        let ack =
            AckSegment { seq: 10_000, ece, sent_at, may_grow: true, sack: None, telemetry: None };
        s.on_ack(us(162), &ack, &t);
        sends(&mut s, &t, us(162))
    };
    assert_eq!((told(false).as_str(), told(true).as_str()), ("10! 11!", "11!"));
}

#[test]
fn a_timeout_sends_everything_missing_again_from_a_window_of_one() {
    let (mut s, t) = sender(6, "initial_window = \"6pkt\"\nmin_rto = \"10ms\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3 4 5");
    assert_eq!(s.deadline(), us(10_000));
    // Only 3 arrives.
    acked(&mut s, &t, us(80), 0, &[(3, 4)]);
    assert_eq!(s.on_deadline(us(10_000), &t), None);
    // In flight were 5: ssthresh = 2.5; doubled timeout.
    assert_eq!((s.window().cwnd, s.window().ssthresh), (1_000, 2_500));
    assert_eq!((s.phase(), s.deadline()), (Phase::Loss, us(30_000)));
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    acked(&mut s, &t, us(10_080), 1, &[(3, 4)]);
    assert_eq!(sends(&mut s, &t, us(10_080)), "1! 2!");
    acked(&mut s, &t, us(10_160), 4, &[]);
    assert_eq!(sends(&mut s, &t, us(10_160)), "4! 5!");
    acked(&mut s, &t, us(10_240), 6, &[]);
    assert!(s.is_done() && s.phase() == Phase::Open);
    assert_eq!((s.retransmitted_packets, s.timeouts), (5, 1));
}

#[test]
fn a_window_that_a_mark_has_cut_grows_again_after_timeouts() {
    for (kind, cut) in [("newreno", 4_000), ("dctcp", 4_000), ("cubic", 5_600)] {
        let text = format!("kind = \"{kind}\"\nmss = \"1000B\"\ninitial_window = \"8pkt\"\n");
        let ecn = if kind == "dctcp" { "" } else { "ecn = true" };
        let t = transport(&format!("{text}{ecn}"));
        let mut s = Sender::new(30_000, &t, &access(10, 25));
        sends(&mut s, &t, us(0));
        marked(&mut s, &t, us(80), 1);
        assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (cut, ""), "{kind}");
        // 1 to 7 are lost. Of the second timeout in a row, too, nothing of before is in flight.
        s.on_deadline(us(10_080), &t);
        assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
        s.on_deadline(us(30_080), &t);
        assert_eq!(sends(&mut s, &t, us(30_080)), "1!");
        acked(&mut s, &t, us(30_160), 2, &[]);
        assert_eq!((s.window().cwnd, sends(&mut s, &t, us(30_160)).as_str()), (2_000, "2! 3!"));
        // ssthresh was half of 7, or 0.7 of 5.6: growth is in slow start until then.
        acked(&mut s, &t, us(30_240), 3, &[]);
        assert_eq!(s.window().cwnd, 3_000, "{kind}");
        assert_eq!(sends(&mut s, &t, us(30_240)), "4! 5!");
    }
}

#[test]
fn a_mark_after_a_timeout_holds_for_what_was_sent_after_it_and_never_raises_the_window() {
    let (mut s, t) = sender(30, "initial_window = \"8pkt\"\necn = true");
    sends(&mut s, &t, us(0));
    // All eight are lost, and what the timeout sends is marked: one segment stays one, where a cut
    // leaves two, and only that one was in flight.
    s.on_deadline(us(10_000), &t);
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    marked(&mut s, &t, us(10_080), 1);
    assert_eq!((s.window().cwnd, s.window().ssthresh), (1_000, 2_000));
    assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
    acked(&mut s, &t, us(10_160), 2, &[]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(10_160)).as_str()), (2_000, "2! 3!"));
    // A mark on 2 is for 2 and 3. Then a timeout: what it was for is gone.
    marked(&mut s, &t, us(10_240), 3);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(10_240)).as_str()), (2_000, "4!"));
    s.on_deadline(us(20_240), &t);
    assert_eq!(sends(&mut s, &t, us(20_240)), "3!");
    acked(&mut s, &t, us(20_320), 4, &[]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(20_320)).as_str()), (2_000, "4! 5!"));
}

#[test]
fn a_lost_tail_waits_for_the_timeout_unless_probes_are_asked_for() {
    for (text, deadline) in [("", us(10_080)), ("tail_loss_probe = true", us(240))] {
        let (mut s, t) = sender(4, &format!("initial_window = \"4pkt\"\n{text}"));
        sends(&mut s, &t, us(0));
        // 0 and 1 arrive, 2 and 3 are lost: nothing behind the gap tells.
        acked(&mut s, &t, us(80), 1, &[]);
        acked(&mut s, &t, us(80), 2, &[]);
        assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.deadline()), ("", deadline));
        if text.is_empty() {
            continue;
        }
        // Twice the smoothed round trip of 80 us after the last ack: the last segment again.
        let probe = Piece { seq: 3_000, payload: 1000, again: true };
        assert_eq!(s.on_deadline(us(240), &t), Some(probe));
        acked(&mut s, &t, us(320), 2, &[(3, 4)]);
        assert_eq!(sends(&mut s, &t, us(320)), "2!");
        acked(&mut s, &t, us(400), 4, &[]);
        assert!(s.is_done() && s.timeouts == 0);
    }
}

#[test]
fn a_repair_takes_the_place_of_a_probe() {
    let (mut s, t) = sender(6, "initial_window = \"6pkt\"\ntail_loss_probe = true");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(s.deadline(), us(240));
    // Three segments behind segment 1: it is sent again, and it is the retransmission timer that
    // runs from now on.
    acked(&mut s, &t, us(90), 1, &[(2, 5)]);
    assert_eq!((s.phase(), s.deadline()), (Phase::Recovery, us(10_090)));
}

#[test]
fn a_window_does_not_grow_while_its_own_line_has_enough_to_do() {
    for kind in ["newreno", "dctcp"] {
        let transport = transport(&format!("kind = \"{kind}\"\nmss = \"1000B\""));
        let mut s = Sender::new(1_000_000, &transport, &access(10, 25));
        sends(&mut s, &transport, us(0));
        let mut ack = |seq, may_grow| {
            let ack = AckSegment {
                seq,
                ece: false,
                sent_at: us(0),
                may_grow,
                sack: None,
                telemetry: None,
            };
            s.on_ack(us(80), &ack, &transport);
            s.window().cwnd
        };
        assert_eq!((ack(1000, true), ack(2000, false), ack(3000, true)), (11_000, 11_000, 12_000));
    }
}

#[test]
fn a_connection_opens_first_and_asks_again() {
    let (mut s, t) = sender(2, "handshake = true\ninitial_rto = \"10ms\"");
    s.on_connect(us(0), &t);
    assert_eq!((sends(&mut s, &t, us(0)).as_str(), s.deadline()), ("", us(10_000)));
    assert_eq!((s.on_deadline(us(10_000), &t), s.deadline()), (None, us(30_000)));
    s.on_connected(us(10_080), us(10_000));
    assert_eq!(sends(&mut s, &t, us(10_080)), "0 1");
    assert_eq!((s.smoothed_rtt(), s.timeouts), (us(80), 1));
}

#[test]
fn a_sender_that_paces_waits_between_packets() {
    // 1000 ps for each of 1052 bytes.
    let (mut s, transport) = sender(10, "initial_window = \"4pkt\"");
    s.window.pace = 1000;
    assert!(s.next_paced_piece(us(1), &transport).is_some());
    assert_eq!(s.next_paced_piece(us(1), &transport), None);
    let next = us(1) + Time::from_ps(1_052_000);
    assert_eq!(s.waits_until(us(1)), Some(next));
    assert_eq!(s.next_paced_piece(Time::from_ps(next.ps() - 1), &transport), None);
    assert!(s.next_paced_piece(next, &transport).is_some());
    assert!(s.next_paced_piece(us(10), &transport).is_some());
    assert!(s.next_paced_piece(us(20), &transport).is_some());
    // The window is full: no time will help.
    assert_eq!(s.next_paced_piece(us(30), &transport), None);
    assert_eq!(s.waits_until(us(20)), None);
}
