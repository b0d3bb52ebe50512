mod as_ns3;
mod by_order;
mod by_rack;
mod follows_ns3;
mod protected;
mod repairs;
mod stalled;

use super::super::tests::{access, closed_loop};
use super::*;
use crate::Transport;
use crate::control::Congestion;
use crate::recovery::OrderCounts;

/// A sender of `segments` segments of 1000 bytes, and its transport.
fn sender(segments: u64, text: &str) -> (Sender, ClosedLoop) {
    let transport = closed_loop(&format!("kind = \"newreno\"\nmss = \"1000B\"\n{text}"));
    (Sender::new(segments * 1000, 1_000, &transport, &access(10, 25)), transport)
}

pub(super) fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// The numbers of the segments that may be sent now, with `!` after one that was sent before.
fn sends(sender: &mut Sender, transport: &ClosedLoop, now: Time) -> String {
    let piece = |piece: Piece| {
        assert_eq!(piece.seq % 1000, 0);
        format!("{}{}", piece.seq / 1000, if piece.again { "!" } else { "" })
    };
    let pieces = std::iter::from_fn(|| sender.next_piece(now, transport));
    pieces.map(piece).collect::<Vec<_>>().join(" ")
}

/// An ack of `una` segments, with these ranges of segments behind a gap.
pub(super) fn acked(
    sender: &mut Sender,
    transport: &ClosedLoop,
    now: Time,
    una: u64,
    sack: &[(u64, u64)],
) {
    tell(sender, transport, now, (una, false), sack);
}

/// As `acked`, with an echo of a mark or without one.
fn tell(
    sender: &mut Sender,
    transport: &ClosedLoop,
    now: Time,
    (una, ece): (u64, bool),
    sack: &[(u64, u64)],
) {
    let mut blocks = SackBlocks::default();
    for (block, &(start, end)) in blocks.iter_mut().zip(sack) {
        *block = (start * 1000, end * 1000);
    }
    let ack = AckSegment {
        seq: una * 1000,
        ece,
        sent_at: now.since(us(80)),
        may_grow: true,
        sack: (!sack.is_empty()).then_some(&blocks),
        telemetry: None,
        number: None,
    };
    sender.on_ack(now, &ack, transport);
}

/// A sender of 30 segments that reacts to losses as ns-3's does.
fn dctcp_as_ns3(min_window: &str, initial_window: &str) -> (Sender, ClosedLoop) {
    let t = closed_loop(&format!(
        "kind = \"dctcp\"\nmss = \"1000B\"\nrecovery.kind = \"ns3\"\n\
         min_window = \"{min_window}\"\ninitial_window = \"{initial_window}\""
    ));
    (Sender::new(30_000, 1_000, &t, &access(10, 25)), t)
}

/// 1,052 bytes at 800 ps each; then the pace is 900, and 700.
#[test]
fn a_packet_that_waits_for_its_pace_may_move() {
    let due = |text: &str| {
        let text = format!("mss = \"1000B\"\ntelemetry_bytes = \"0B\"\nmoves_next = {text}");
        let t = closed_loop(&format!("kind = \"hpcc\"\n{text}"));
        let mut s = Sender::new(9_000, 1_000, &t, &access(10, 25));
        assert!(s.next_paced_piece(us(10), &t, Time::ZERO).is_some());
        let mut due = vec![s.waits_until(us(10))];
        for pace in [900, 700] {
            s.window.pace = pace;
            due.push(s.waits_until(us(10)));
        }
        due.into_iter().map(|at| (at.unwrap() - us(10)).ps() / 1_052).collect::<Vec<_>>()
    };
    assert_eq!(due("false"), [800, 800, 800]);
    assert_eq!(due("true"), [800, 900, 700]);
}

/// 10 Gbps and 25 us are 31,250 bytes. Packet 31 leaves with 31,000 bytes in flight, whether it is
/// full or the last one, of 100 bytes. With 32,000 in flight a last packet of 100 bytes waits as a
/// full one does, until an ack leaves 31,000.
#[test]
fn a_short_packet_leaves_as_a_full_one_would() {
    for kind in [
        "hpcc\"\nwindow_overshoots = true",
        "hpcc\"\npreset = \"simulator\"",
        "dcqcn\"\nwindow = \"1bdp\"",
        "dcqcn\"\nwindow = \"1bdp\"\nvary_window = true",
        "timely\"\nwindow = \"31250B\"",
        "dctcp-rdma\"",
    ] {
        let selective = "recovery.kind = \"selective\"\nrecovery.max_in_flight = \"unlimited\"";
        for way in ["", "recovery.kind = \"go-back-n\"", selective] {
            let text = format!("kind = \"{kind}\nmss = \"1000B\"\n{way}");
            let t = closed_loop(&text);
            let last = |size: u64| {
                let mut s = Sender::new(size, 1_000, &t, &access(10, 25));
                let count = std::iter::from_fn(|| s.next_piece(us(0), &t)).count();
                acked(&mut s, &t, us(80), 1, &[]);
                (count, sends(&mut s, &t, us(80)))
            };
            assert_eq!(last(31_100), (32, String::new()), "{text}");
            assert_eq!(last(32_000), (32, String::new()), "{text}");
            assert_eq!(last(32_100), (32, "32".into()), "{text}");
            assert_eq!(last(33_000), (32, "32".into()), "{text}");
        }
    }
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
            number: None,
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
    // Segments 3 and 4 arrive: limited transmit, one new segment for each. Nothing is lost yet,
    // because 2 segments behind the gap are not more than dupthresh - 1.
    for (end, new) in [(4, "14"), (5, "15")] {
        acked(&mut s, &t, us(81), 2, &[(3, end)]);
        assert_eq!(sends(&mut s, &t, us(81)), new);
    }
    // Segment 5: 3 > 2, so 2 is lost. In flight were 16 - 2 = 14 segments, 14 and 15 of them beyond
    // the window: ssthresh = 6.
    acked(&mut s, &t, us(82), 2, &[(3, 6)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 6_000));
    assert_eq!(sends(&mut s, &t, us(82)), "2!");
    // In flight: 14 were sent, 3 of them have arrived, and the lost one was sent again: 11. That
    // must fall below 6.
    assert_eq!(s.in_flight(), 11_000);
    for end in 7..=11 {
        acked(&mut s, &t, us(83), 2, &[(3, end)]);
        assert_eq!(sends(&mut s, &t, us(83)), "");
    }
    acked(&mut s, &t, us(83), 2, &[(3, 12)]);
    assert_eq!(sends(&mut s, &t, us(83)), "16");
    // The retransmission arrives, so everything up to 15 has arrived. The window is what the cut
    // has left of it.
    acked(&mut s, &t, us(162), 16, &[]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, 6_000));
    assert_eq!(sends(&mut s, &t, us(162)), "17 18 19 20 21");
    assert_eq!((s.retransmitted_packets, s.timeouts), (1, 0));
}

/// Like `acked`, with an echo of a mark and no ranges.
fn marked(sender: &mut Sender, transport: &ClosedLoop, now: Time, una: u64) {
    tell(sender, transport, now, (una, true), &[]);
}

/// The second of ten segments arrives late. Until then two others arrive behind the gap, and then
/// the rest, which is told of once.
#[test]
fn a_controller_is_told_once_of_what_has_arrived() {
    let text = "kind = \"dctcp\"\nmss = \"1000B\"\nshare_of = \"delivered\"\n\
                initial_window = \"10pkt\"";
    let t = closed_loop(text);
    let mut s = Sender::new(100_000, 1_000, &t, &access(10, 25));
    let alpha = |s: &Sender| match &s.control {
        Congestion::Dctcp(control) => control.alpha(),
        other => panic!("{other:?}"),
    };
    sends(&mut s, &t, us(0));
    // The first window of data ends where ten segments end.
    acked(&mut s, &t, us(80), 1, &[]);
    tell(&mut s, &t, us(81), (1, true), &[(2, 3)]);
    acked(&mut s, &t, us(82), 1, &[(2, 4)]);
    // The same ranges once more, with a mark: nothing new.
    tell(&mut s, &t, us(83), (1, true), &[(2, 4)]);
    marked(&mut s, &t, us(84), 4);
    assert_eq!(alpha(&s), 1.0);
    // Marked were segments 2 and 1, of nine.
    acked(&mut s, &t, us(90), 10, &[]);
    assert_eq!(alpha(&s), 0.9375 + 0.0625 * (2.0 / 9.0));
}

#[test]
fn a_window_that_a_mark_has_cut_is_cut_again_for_a_loss_only_if_that_is_asked_for() {
    for (cut_once, cut) in [(true, 10_000), (false, 9_500)] {
        let text =
            format!("initial_window = \"20pkt\"\necn = true\nrecovery.cut_once = {cut_once}");
        let (mut s, t) = sender(100, &text);
        sends(&mut s, &t, us(0));
        // A mark halves 20. Segment 1, of the same flight, is lost when 19 are in flight.
        marked(&mut s, &t, us(80), 1);
        assert_eq!((s.window().cwnd, s.tells_cut), (10_000, true));
        s.tells_cut = false;
        acked(&mut s, &t, us(81), 1, &[(2, 5)]);
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, cut), "{cut_once}");
        assert!(sends(&mut s, &t, us(81)).starts_with("1!"));
        assert_eq!((s.window().ssthresh, s.tells_cut), (cut, false));
        acked(&mut s, &t, us(161), 20, &[]);
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, cut));
        // The next flight loses its first segment, which is another loss.
        sends(&mut s, &t, us(161));
        let in_flight = s.in_flight();
        acked(&mut s, &t, us(241), 20, &[(21, 24)]);
        assert_eq!((s.window().cwnd, s.tells_cut), (in_flight / 2, cut_once));
    }
}

#[test]
fn a_mark_that_finds_the_least_window_is_answered_too() {
    let (mut s, t) = sender(100, "initial_window = \"4pkt\"\nmin_window = \"2pkt\"\necn = true");
    sends(&mut s, &t, us(0));
    // 4 is halved to 2, the least. What is acknowledged next was in flight then.
    marked(&mut s, &t, us(80), 1);
    assert_eq!((s.window().cwnd, s.take_cut()), (2_000, true));
    marked(&mut s, &t, us(81), 4);
    assert_eq!((s.window().cwnd, s.take_cut()), (2_000, false));
    sends(&mut s, &t, us(81));
    // The next flight is marked. 2 stays 2, but the receiver is told, so that its echoes end.
    marked(&mut s, &t, us(161), 5);
    assert_eq!((s.window().cwnd, s.take_cut()), (2_000, true));
}

#[test]
fn several_losses_are_repaired_in_order_within_one_recovery() {
    let (mut s, t) = sender(12, "initial_window = \"12pkt\"");
    sends(&mut s, &t, us(0));
    // 1, 4 and 5 are lost; acks come for 0, 2, 3, 6, 7, 8.
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(80), 1, &[(2, 4)]);
    acked(&mut s, &t, us(80), 1, &[(6, 7), (2, 4)]);
    // 3 segments have arrived behind segment 1, so it is lost. With 11 in flight ssthresh is 5.5.
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 5_500));
    assert_eq!(sends(&mut s, &t, us(80)), "1!");
    acked(&mut s, &t, us(80), 1, &[(6, 8), (2, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "");
    // Now three have arrived behind 4 and 5, too: 11 - 5 arrived - 2 lost = 4 in flight, room for
    // one.
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
    // A timeout before that ack leaves one segment, and then two.
    let (mut s, t) = sender(20, "initial_window = \"6pkt\"\nsyn_window = \"3500B\"");
    sends(&mut s, &t, us(0));
    s.on_deadline(us(10_000), &t);
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    acked(&mut s, &t, us(10_080), 1, &[]);
    assert_eq!(s.window().cwnd, 2_000);
}

/// A sender of twelve segments in recovery: 1 was lost and has been sent again, and the last two of
/// the first flight are lost too.
fn repairing(text: &str) -> (Sender, ClosedLoop) {
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
    // The retransmission arrives. Nothing is known about 10 and 11, so the last one is sent again
    // (rule 4).
    acked(&mut s, &t, us(162), 10, &[]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(162)).as_str()), (2_000, "11!"));
    // It does not count as sent again (step C.2), and no other is sent in this recovery.
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(163)).as_str()), (2_000, ""));
    // It arrives, so 10 is missing and something, though too little, has arrived behind it (rule
    // 3). After it is sent it counts twice, as sent and as sent again.
    acked(&mut s, &t, us(242), 10, &[(11, 12)]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(242)).as_str()), (1_000, "10!"));
    assert_eq!((s.in_flight(), s.phase()), (2_000, Phase::Recovery));
    acked(&mut s, &t, us(322), 12, &[]);
    assert!(s.is_done() && s.phase() == Phase::Open);
    assert_eq!((s.retransmitted_packets, s.timeouts), (3, 0));
}

#[test]
fn the_rescue_waits_for_the_first_repair_and_for_new_data() {
    // Only 1 and what arrives behind it: nothing beyond the first retransmission is acknowledged
    // (step 4.3).
    let (mut s, t) = sender(4, "initial_window = \"4pkt\"\nrecovery.dupthresh = 2");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 3)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(80)).as_str()), (Phase::Recovery, "0!"));
    // New data goes first (rule 2), and what may be lost waits until there is none.
    let (mut s, t) = sender(14, "initial_window = \"12pkt\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (6_000, "0!"));
    // 4 is lost, because 5 to 9 have arrived behind it. 10 is missing, with only 11 behind it.
    acked(&mut s, &t, us(81), 0, &[(5, 10), (1, 4)]);
    assert_eq!(sends(&mut s, &t, us(81)), "4! 12 13");
    acked(&mut s, &t, us(82), 0, &[(11, 12), (5, 10), (1, 4)]);
    assert_eq!(sends(&mut s, &t, us(82)), "10!");
}

#[test]
fn partial_acks_tell_that_the_last_segments_are_lost() {
    let told = |ece: bool| {
        let (mut s, t) = repairing("recovery.partial_acks_tell = true");
        let sent_at = us(82);
        let ack = AckSegment {
            seq: 10_000,
            ece,
            sent_at,
            may_grow: true,
            sack: None,
            telemetry: None,
            number: None,
        };
        s.on_ack(us(162), &ack, &t);
        sends(&mut s, &t, us(162))
    };
    assert_eq!((told(false).as_str(), told(true).as_str()), ("10! 11!", "11!"));
}

#[test]
fn a_timeout_sends_everything_missing_again_from_a_window_of_one() {
    let (mut s, t) = sender(6, "initial_window = \"6pkt\"\nrecovery.min_rto = \"10ms\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3 4 5");
    assert_eq!(s.deadline(), us(10_000));
    // Only 3 arrives.
    acked(&mut s, &t, us(80), 0, &[(3, 4)]);
    assert_eq!(s.on_deadline(us(10_000), &t), None);
    // With 5 in flight ssthresh is 2.5. The timeout is doubled.
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
        let t = closed_loop(&format!("{text}{ecn}"));
        let mut s = Sender::new(30_000, 1_000, &t, &access(10, 25));
        sends(&mut s, &t, us(0));
        marked(&mut s, &t, us(80), 1);
        assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (cut, ""), "{kind}");
        // 1 to 7 are lost. With the second timeout in a row, too, nothing sent before it counts as
        // in flight.
        s.on_deadline(us(10_080), &t);
        assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
        s.on_deadline(us(30_080), &t);
        assert_eq!(sends(&mut s, &t, us(30_080)), "1!");
        acked(&mut s, &t, us(30_160), 2, &[]);
        assert_eq!((s.window().cwnd, sends(&mut s, &t, us(30_160)).as_str()), (2_000, "2! 3!"));
        // ssthresh was half of 7, or 0.7 of 5.6: until there the window grows in slow start.
        acked(&mut s, &t, us(30_240), 3, &[]);
        assert_eq!(s.window().cwnd, 3_000, "{kind}");
        assert_eq!(sends(&mut s, &t, us(30_240)), "4! 5!");
    }
}

#[test]
fn a_mark_after_a_timeout_holds_for_what_was_sent_after_it_and_never_raises_the_window() {
    let (mut s, t) = sender(30, "initial_window = \"8pkt\"\necn = true");
    sends(&mut s, &t, us(0));
    // All eight are lost, and the segment sent after the timeout is marked. One segment stays one,
    // although a cut leaves at least two, and only that segment was in flight.
    s.on_deadline(us(10_000), &t);
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    marked(&mut s, &t, us(10_080), 1);
    assert_eq!((s.window().cwnd, s.window().ssthresh), (1_000, 2_000));
    assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
    acked(&mut s, &t, us(10_160), 2, &[]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(10_160)).as_str()), (2_000, "2! 3!"));
    // A mark on 2 is for 2 and 3. A timeout follows, after which neither is in flight.
    marked(&mut s, &t, us(10_240), 3);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(10_240)).as_str()), (2_000, "4!"));
    s.on_deadline(us(20_240), &t);
    assert_eq!(sends(&mut s, &t, us(20_240)), "3!");
    acked(&mut s, &t, us(20_320), 4, &[]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(20_320)).as_str()), (2_000, "4! 5!"));
}

#[test]
fn a_lost_tail_waits_for_the_timeout_unless_probes_are_asked_for() {
    for (text, deadline) in [("", us(10_080)), ("recovery.tail_loss_probe = true", us(240))] {
        let (mut s, t) = sender(4, &format!("initial_window = \"4pkt\"\n{text}"));
        sends(&mut s, &t, us(0));
        // 0 and 1 arrive, 2 and 3 are lost, and nothing arrives behind them.
        acked(&mut s, &t, us(80), 1, &[]);
        acked(&mut s, &t, us(80), 2, &[]);
        assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.deadline()), ("", deadline));
        if text.is_empty() {
            continue;
        }
        // The last segment is sent again two smoothed round trips of 80 us after the last ack.
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
    let (mut s, t) = sender(6, "initial_window = \"6pkt\"\nrecovery.tail_loss_probe = true");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(s.deadline(), us(240));
    // Three segments have arrived behind segment 1: it is sent again, and the retransmission timer
    // runs from now on.
    acked(&mut s, &t, us(90), 1, &[(2, 5)]);
    assert_eq!((s.phase(), s.deadline()), (Phase::Recovery, us(10_090)));
}

#[test]
fn a_window_does_not_grow_while_its_own_line_has_enough_to_do() {
    for kind in ["newreno", "dctcp"] {
        let transport = closed_loop(&format!("kind = \"{kind}\"\nmss = \"1000B\""));
        let mut s = Sender::new(1_000_000, 1_000, &transport, &access(10, 25));
        sends(&mut s, &transport, us(0));
        let mut ack = |seq, may_grow| {
            let ack = AckSegment {
                seq,
                ece: false,
                sent_at: us(0),
                may_grow,
                sack: None,
                telemetry: None,
                number: None,
            };
            s.on_ack(us(80), &ack, &transport);
            s.window().cwnd
        };
        assert_eq!((ack(1000, true), ack(2000, false), ack(3000, true)), (11_000, 11_000, 12_000));
    }
}

#[test]
fn a_connection_opens_first_and_asks_again() {
    let (mut s, t) = sender(2, "handshake = true\nrecovery.initial_rto = \"10ms\"");
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
    assert!(s.next_paced_piece(us(1), &transport, Time::ZERO).is_some());
    assert_eq!(s.next_paced_piece(us(1), &transport, Time::ZERO), None);
    let next = us(1) + Time::from_ps(1_052_000);
    assert_eq!(s.waits_until(us(1)), Some(next));
    assert_eq!(s.next_paced_piece(Time::from_ps(next.ps() - 1), &transport, Time::ZERO), None);
    assert!(s.next_paced_piece(next, &transport, Time::ZERO).is_some());
    assert!(s.next_paced_piece(us(10), &transport, Time::ZERO).is_some());
    assert!(s.next_paced_piece(us(20), &transport, Time::ZERO).is_some());
    // The window is full, so waiting does not help.
    assert_eq!(s.next_paced_piece(us(30), &transport, Time::ZERO), None);
    assert_eq!(s.waits_until(us(20)), None);
}

#[test]
fn a_window_below_a_segment_is_one_segment_in_several_round_trips() {
    let text = "initial_window = \"2pkt\"\necn = true\nmin_window = \"250B\"";
    let (mut s, t) = sender(10, text);
    let paced = |s: &mut Sender, now| {
        let piece = s.next_paced_piece(now, &t, Time::ZERO).map(|piece| piece.seq / 1000);
        (piece, s.waits_until(now))
    };
    assert_eq!(paced(&mut s, us(0)).0, Some(0));
    assert_eq!(paced(&mut s, us(0)).0, Some(1));
    // Marks halve 2 segments to 1 and then, for what was sent after the first cut, to a half.
    marked(&mut s, &t, us(80), 1);
    assert_eq!(paced(&mut s, us(80)), (None, None));
    marked(&mut s, &t, us(81), 2);
    assert_eq!(paced(&mut s, us(81)).0, Some(2));
    marked(&mut s, &t, us(161), 3);
    assert_eq!(s.window().cwnd, 500);
    // Half a segment in 80 us: the next one leaves 160 us after the last, which left at 81 us.
    assert_eq!(paced(&mut s, us(161)), (None, Some(us(241))));
    assert_eq!(paced(&mut s, us(241)).0, Some(3));
    // A quarter of a segment, the least window: 320 us.
    marked(&mut s, &t, us(321), 4);
    assert_eq!(paced(&mut s, us(321)), (None, Some(us(561))));
    assert_eq!(paced(&mut s, us(561)).0, Some(4));
    marked(&mut s, &t, us(641), 5);
    assert_eq!(s.window().cwnd, 250);
    assert_eq!(paced(&mut s, us(641)), (None, Some(us(881))));
    assert_eq!(paced(&mut s, us(881)).0, Some(5));
    // An ack without a mark adds what it acknowledges, so the next segment is sent at once.
    acked(&mut s, &t, us(961), 6, &[]);
    assert_eq!(s.window().cwnd, 1_250);
    assert_eq!(paced(&mut s, us(961)).0, Some(6));
}

/// A mark has cut the window to half a segment, and what was in flight is acknowledged. The
/// reduction goes on until something that is sent after the cut is acknowledged, as in ns-3; its
/// target is half a segment, though the window has grown to one and a half. Without a segment no
/// ack would ever come.
#[test]
fn a_reduction_to_less_than_a_segment_lets_one_go_when_nothing_is_out() {
    let text = "recovery.reduction = \"proportional-ns3\"\nmin_window = \"300B\"";
    let (mut sender, transport) = sender(10, text);
    sender.board.nxt = 4_000;
    sender.board.una = 4_000;
    sender.window.cwnd = 1_500;
    let rule = transport.losses.reduction;
    sender.reduction = Some(Reduction::new(rule, 1_000, 500, 4_001));
    let piece = Piece { seq: 4_000, payload: 1_000, again: false };
    assert_eq!(sender.next_piece(us(0), &transport), Some(piece));
    // Its ack ends the reduction. Until then it is the only one.
    assert_eq!(sender.next_piece(us(0), &transport), None);
    acked(&mut sender, &transport, us(100), 5, &[]);
    assert!(sender.reduction.is_none());
}

#[test]
fn what_means_nothing_to_a_pace_is_refused_and_so_are_counts_out_of_range() {
    for kind in ["theta-powertcp", "powertcp", "hpcc", "timely"] {
        for key in ["recovery.cut_once = true", "recovery.reduction = \"at-once\""] {
            let text = format!("kind = \"{kind}\"\n{key}");
            let mut section = spillway_settings::Section::new("transport", text.parse().unwrap());
            let error = Transport::read(&mut section, &Default::default()).unwrap_err().to_string();
            let name = key.split(' ').next().unwrap();
            let says = format!("transport.{name}: means nothing where a pace is set");
            assert!(error.contains(&says), "{error}");
        }
    }
    for dupthresh in [0, 1_000_001] {
        let text = format!("recovery.dupthresh = {dupthresh}");
        let mut section = spillway_settings::Section::new("transport", text.parse().unwrap());
        let error = Transport::read(&mut section, &Default::default()).unwrap_err().to_string();
        assert!(
            error.contains(&format!("transport.recovery.dupthresh: {dupthresh} is not")),
            "{error}"
        );
    }
    let (_, most) = sender(1, "recovery.dupthresh = 1_000_000");
    assert_eq!(most.losses.dupthresh, 1_000_000);
    let mut section =
        spillway_settings::Section::new("transport", "min_window = \"0B\"".parse().unwrap());
    let error = Transport::read(&mut section, &Default::default()).unwrap_err().to_string();
    assert!(error.contains("transport.min_window: no window at all"), "{error}");
    let mut section =
        spillway_settings::Section::new("transport", "initial_window = \"1447B\"".parse().unwrap());
    let error = Transport::read(&mut section, &Default::default()).unwrap_err().to_string();
    assert!(error.contains("transport.initial_window: a flow begins with a segment"), "{error}");
}
