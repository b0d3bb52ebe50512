//! Losses and cuts as ns-3 has them, by hand.

use super::*;

#[test]
fn ns3_repairs_without_another_cut_while_that_for_a_mark_is_under_way() {
    let text = "initial_window = \"12pkt\"\necn = true\nrecovery.kind = \"ns3\"\nrecovery.reduction = \"at-once\"";
    let (mut s, t) = sender(30, text);
    sends(&mut s, &t, us(0));
    // A mark halves 12 segments, and 1 is lost. It is sent again as soon as the window allows it:
    // in flight are 11 - 3 - 1 lost, then one less with each ack.
    marked(&mut s, &t, us(80), 1);
    acked(&mut s, &t, us(81), 1, &[(2, 5)]);
    assert_eq!((s.phase(), s.window().cwnd, s.in_flight()), (Phase::Reduced, 6_000, 7_000));
    assert_eq!(sends(&mut s, &t, us(81)), "");
    acked(&mut s, &t, us(82), 1, &[(2, 7)]);
    assert_eq!(sends(&mut s, &t, us(82)), "1!");
    // 12 is acknowledged, which is behind everything the cut was for: the cut is over, and the
    // window grows again.
    acked(&mut s, &t, us(162), 12, &[]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Reduced, 6_000));
    assert_eq!(sends(&mut s, &t, us(162)), "12 13 14 15 16 17");
    acked(&mut s, &t, us(242), 13, &[]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, 6_166));
}

#[test]
fn ns3_sends_all_of_the_end_again_and_moves_the_timer_on_once() {
    let (mut s, t) = sender(
        12,
        "initial_window = \"12pkt\"\nrecovery.kind = \"ns3\"\nrecovery.reduction = \"at-once\"",
    );
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    // 1 and 9 to 11 are lost. Of 11 in flight 3 have arrived and 1 is lost: half of 7.
    acked(&mut s, &t, us(82), 1, &[(2, 5)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 3_500));
    assert_eq!(sends(&mut s, &t, us(82)), "1!");
    // 2 to 8 have arrived, so 9 to 11 and the retransmission are in flight: 4, with a window of
    // 3.5.
    acked(&mut s, &t, us(86), 1, &[(2, 9)]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(86)).as_str()), (4_000, ""));
    // The retransmission arrives: 9 is sent again whatever the window is. No other is, since each
    // counts twice.
    acked(&mut s, &t, us(162), 9, &[]);
    assert_eq!((sends(&mut s, &t, us(162)).as_str(), s.in_flight()), ("9!", 4_000));
    assert_eq!(s.deadline(), us(10_162));
    acked(&mut s, &t, us(242), 10, &[]);
    assert_eq!((sends(&mut s, &t, us(242)).as_str(), s.deadline()), ("10!", us(10_162)));
    acked(&mut s, &t, us(322), 11, &[]);
    assert_eq!(sends(&mut s, &t, us(322)), "11!");
    acked(&mut s, &t, us(402), 12, &[]);
    assert!(s.is_done() && s.timeouts == 0);
}

#[test]
fn ns3_waits_for_the_timer_where_a_mark_has_left_less_than_a_segment() {
    let (mut s, t) = dctcp_as_ns3("1B", "4pkt");
    sends(&mut s, &t, us(0));
    // All are lost, and the segment sent after the timeout is marked. That leaves half a segment of
    // window. The first retransmission is sent in any case, but no other.
    s.on_deadline(us(10_000), &t);
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    marked(&mut s, &t, us(10_080), 1);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Reduced, 500));
    assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
    acked(&mut s, &t, us(10_160), 2, &[]);
    assert_eq!((sends(&mut s, &t, us(10_160)).as_str(), s.deadline()), ("", us(20_160)));
    s.on_deadline(us(20_160), &t);
    assert_eq!(sends(&mut s, &t, us(20_160)), "2!");
}

#[test]
fn ns3_sends_a_segment_for_each_cut_however_small_the_window() {
    let (mut s, t) = dctcp_as_ns3("1B", "1pkt");
    assert_eq!(sends(&mut s, &t, us(0)), "0");
    // Marks leave half a segment, then a quarter, in the end a byte. But a reduction begins with a
    // segment.
    let mut cwnd = 1_000;
    for una in 1..=20 {
        let now = 80 * una;
        cwnd = (cwnd / 2).max(1);
        marked(&mut s, &t, us(now), una);
        assert_eq!((s.window().cwnd, s.in_flight()), (cwnd, 0));
        assert_eq!(sends(&mut s, &t, us(now)), una.to_string());
    }
    // Without a mark the window of a byte grows by a whole segment.
    acked(&mut s, &t, us(1_680), 21, &[]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(1_680)).as_str()), (1_001, "21"));
    assert_eq!(s.timeouts, 0);
}

#[test]
fn ns3_goes_on_to_repair_where_a_mark_follows_a_timeout() {
    let (mut s, t) = dctcp_as_ns3("1pkt", "8pkt");
    sends(&mut s, &t, us(0));
    s.on_deadline(us(10_000), &t);
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    // The cut for the mark holds until all eight are acknowledged: one retransmission per round
    // trip, and no timeout, although the losses were sent before it.
    marked(&mut s, &t, us(10_080), 1);
    for segment in 1..8 {
        let now = us(10_000 + 80 * segment);
        assert_eq!((s.phase(), s.window().cwnd, s.in_flight()), (Phase::Reduced, 1_000, 0));
        assert_eq!(sends(&mut s, &t, now), format!("{segment}!"));
        acked(&mut s, &t, now + us(80), segment + 1, &[]);
    }
    assert_eq!(s.timeouts, 1);
    assert_eq!(sends(&mut s, &t, us(10_640)), "8");
}

/// Eight in flight, and a timeout: half of them. Its repair is lost, too: half of one segment, but
/// at least two.
#[test]
fn every_timeout_cuts_as_in_ns3() {
    let (mut s, t) = sender(100, "initial_window = \"8pkt\"\nrecovery.kind = \"ns3\"");
    sends(&mut s, &t, us(0));
    s.on_deadline(us(10_000), &t);
    assert_eq!((s.window().ssthresh, sends(&mut s, &t, us(10_000)).as_str()), (4_000, "0!"));
    s.on_deadline(us(30_000), &t);
    assert_eq!(s.window().ssthresh, 2_000);
}
