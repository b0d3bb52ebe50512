//! Losses that RACK-TLP finds, by hand.

use super::*;

#[test]
fn rack_waits_a_quarter_of_a_round_trip_before_it_believes_in_a_loss() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    // 0 was sent before 1, which has arrived: it is lost 80 us and a quarter of that after it was
    // sent.
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    assert_eq!((s.phase(), s.deadline()), (Phase::Open, us(100)));
    assert_eq!(sends(&mut s, &t, us(80)), "10");
    assert_eq!(s.on_deadline(us(100), &t), None);
    // 11 are in flight, of which 10 was sent beyond the window: ssthresh is 5. The retransmission is
    // sent whatever is in flight.
    assert_eq!((s.phase(), s.window().cwnd, s.timeouts), (Phase::Recovery, 5_000, 0));
    assert_eq!(sends(&mut s, &t, us(100)), "0!");
    // If 0 arrives in time, nothing is retransmitted or in doubt.
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    acked(&mut s, &t, us(85), 2, &[]);
    assert_eq!((s.phase(), s.retransmitted_packets), (Phase::Open, 0));
    assert!(s.deadline() > us(100));
}

#[test]
fn rack_reaches_a_window_by_and_by_that_its_timer_has_cut() {
    let text = "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"\nrecovery.reduction = \"proportional\"";
    let (mut s, t) = sender(100, text);
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    assert_eq!(sends(&mut s, &t, us(80)), "10");
    assert_eq!(s.on_deadline(us(100), &t), None);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(100)).as_str()), (5_000, "0!"));
    // Of ten in flight four have left since the cut, so two segments may be sent, of which the
    // retransmission was one. A cut that takes effect at once would allow none, with six in flight.
    acked(&mut s, &t, us(101), 0, &[(1, 6)]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(101)).as_str()), (6_000, "11"));
}

#[test]
fn rack_believes_at_once_where_three_segments_are_behind_a_gap_and_nothing_was_reordered() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 3)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(80)).as_str()), (Phase::Open, "10 11"));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.phase(), sends(&mut s, &t, us(80)).as_str()), (Phase::Recovery, "0!"));
    // Once 0 has arrived after the others without a retransmission, there is reordering: three
    // behind a gap are not enough.
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    acked(&mut s, &t, us(80), 2, &[]);
    acked(&mut s, &t, us(80), 2, &[(3, 8)]);
    assert_eq!((s.phase(), s.deadline()), (Phase::Open, us(100)));
}

#[test]
fn rack_takes_no_ack_that_tells_of_several_segments_for_reordering() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    // The acks in between were lost, and this one lists 8 and 9 before 5, which was sent first.
    // That is no reordering, so three behind a gap are enough. Of the seven that are lost five fit
    // into the window.
    acked(&mut s, &t, us(80), 0, &[(8, 10), (5, 6)]);
    let again = sends(&mut s, &t, us(80));
    assert_eq!((s.phase(), again.as_str()), (Phase::Recovery, "0! 1! 2! 3! 4!"));
}

#[test]
fn rack_finds_a_repair_that_is_lost_without_a_timeout() {
    let (mut s, t) = sender(14, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (5_000, "0!"));
    // 4 to 9 and the retransmission are in flight. When 4 to 6 have arrived, one more may be sent.
    acked(&mut s, &t, us(81), 0, &[(1, 7)]);
    assert_eq!((s.in_flight(), sends(&mut s, &t, us(81)).as_str()), (4_000, "10"));
    acked(&mut s, &t, us(82), 0, &[(1, 10)]);
    assert_eq!(sends(&mut s, &t, us(82)), "11 12 13");
    // 10 was sent after the retransmission and has arrived, so the retransmission is lost. It was
    // sent after the cut and counts as another loss: half of the window. 11 to 13 are in flight.
    acked(&mut s, &t, us(161), 0, &[(1, 11)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(161)).as_str()), (2_500, ""));
    acked(&mut s, &t, us(162), 0, &[(1, 13)]);
    assert_eq!(sends(&mut s, &t, us(162)), "0!");
    acked(&mut s, &t, us(242), 14, &[]);
    assert!(s.is_done());
    assert_eq!((s.retransmitted_packets, s.timeouts), (2, 0));
}

#[test]
fn rack_counts_a_lost_repair_as_another_loss() {
    let (mut s, t) = sender(100, "initial_window = \"20pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (10_000, "0!"));
    acked(&mut s, &t, us(82), 0, &[(1, 20)]);
    assert_eq!(sends(&mut s, &t, us(82)), "20 21 22 23 24 25 26 27 28");
    // 29 were sent and none is acknowledged, but most have arrived: half of the window. Of the eight
    // in flight four must arrive first.
    acked(&mut s, &t, us(162), 0, &[(1, 21)]);
    assert_eq!((s.window().cwnd, s.window().ssthresh), (5_000, 5_000));
    acked(&mut s, &t, us(162), 0, &[(1, 24)]);
    assert_eq!(sends(&mut s, &t, us(162)), "");
    acked(&mut s, &t, us(163), 0, &[(1, 25)]);
    assert_eq!(sends(&mut s, &t, us(163)), "0!");
}

/// The first segment is lost, and so is its repair in every round trip; all else arrives. Every
/// lost repair halves the window, down to two segments, however the window is reached: a sender
/// never goes on sending at the rate at which its repairs are lost.
#[test]
fn repairs_that_are_lost_again_and_again_leave_two_segments() {
    for rule in ["at-once", "proportional", "proportional-rfc6937"] {
        let text = "initial_window = \"64pkt\"\nrecovery.kind = \"rack\"\nrecovery.reduction";
        let (mut s, t) = sender(1_000, &format!("{text} = \"{rule}\""));
        sends(&mut s, &t, us(0));
        for (round, segments) in (1..).zip([32, 16, 8, 4, 2, 2]) {
            let now = us(80 * round);
            let sent = s.board.nxt / 1_000;
            acked(&mut s, &t, now, 0, &[(1, sent)]);
            assert_eq!(s.window().cwnd, segments * 1_000, "{rule}, {round}");
            let sent = sends(&mut s, &t, now);
            let count = sent.split(' ').count() as u64;
            assert!(sent.starts_with("0!") && count == segments, "{rule}, {round}: {sent}");
        }
        assert_eq!((s.timeouts, s.retransmitted_packets), (0, 6));
    }
}

#[test]
fn a_lost_repair_cuts_what_a_mark_has_cut_before() {
    let text = "initial_window = \"12pkt\"\necn = true\nrecovery.kind = \"rack\"";
    let (mut s, t) = sender(100, text);
    sends(&mut s, &t, us(0));
    // The mark halves what the loss then does not cut again.
    marked(&mut s, &t, us(80), 1);
    acked(&mut s, &t, us(81), 1, &[(2, 12)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 6_000));
    assert_eq!(sends(&mut s, &t, us(81)), "1! 12 13 14 15 16");
    // 12, sent after the repair, has arrived.
    acked(&mut s, &t, us(162), 1, &[(2, 13)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 3_000));
}

#[test]
fn rack_cuts_again_for_what_was_sent_after_the_cut_and_repairs_what_the_window_held_back() {
    let (mut s, t) = sender(100, "initial_window = \"20pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(80)).as_str()), (10_000, "0!"));
    acked(&mut s, &t, us(81), 0, &[(1, 19)]);
    assert_eq!(sends(&mut s, &t, us(81)), "20 21 22 23 24 25 26 27");
    // The retransmission of 0, sent after 19, has arrived, so 19 is lost. It is of the same window:
    // no other cut.
    acked(&mut s, &t, us(160), 19, &[]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(160)).as_str()), (10_000, "19! 28"));
    // 27 has arrived and 20 to 26 have not, all sent after the cut: half of ten in flight. With 28
    // and the retransmission of 19 in flight, three may be sent.
    acked(&mut s, &t, us(161), 19, &[(27, 28)]);
    assert_eq!((s.window().cwnd, sends(&mut s, &t, us(161)).as_str()), (5_000, "20! 21! 22!"));
    // The recovery ends with 23 to 26 still to be sent again: another recovery begins, without a
    // cut.
    acked(&mut s, &t, us(240), 20, &[(27, 28)]);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 5_000));
    assert_eq!(sends(&mut s, &t, us(240)), "23!");
    acked(&mut s, &t, us(240), 20, &[(27, 29)]);
    assert_eq!(sends(&mut s, &t, us(240)), "24!");
    acked(&mut s, &t, us(241), 22, &[(27, 29)]);
    assert_eq!(sends(&mut s, &t, us(241)), "25! 26!");
    acked(&mut s, &t, us(241), 23, &[(27, 29)]);
    assert_eq!(sends(&mut s, &t, us(241)), "29");
    acked(&mut s, &t, us(321), 29, &[]);
    assert_eq!((s.phase(), s.retransmitted_packets, s.timeouts), (Phase::Open, 9, 0));
}

/// A cut of the least window leaves it as it is. Like any other cut, it is the only one for all that
/// was sent before it.
#[test]
fn rack_cuts_even_the_least_window_once_for_what_was_sent_before() {
    let text =
        "initial_window = \"3pkt\"\nrecovery.kind = \"rack\"\nrecovery.tail_loss_probe = false";
    let (mut s, t) = sender(6, text);
    sends(&mut s, &t, us(0));
    // 0 arrives after 1. From now on a segment is in doubt for a quarter of 80 us.
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    acked(&mut s, &t, us(80), 2, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "3 4 5");
    // A timeout with four segments in flight leaves an ssthresh of two, the least.
    assert_eq!((s.deadline(), s.on_deadline(us(10_080), &t)), (us(10_080), None));
    assert_eq!(sends(&mut s, &t, us(10_080)), "2!");
    acked(&mut s, &t, us(10_160), 3, &[]);
    assert_eq!(sends(&mut s, &t, us(10_160)), "3! 4!");
    acked(&mut s, &t, us(10_240), 3, &[(4, 5)]);
    assert_eq!((sends(&mut s, &t, us(10_240)).as_str(), s.deadline()), ("5!", us(10_260)));
    // 3 is lost again, which cuts two segments to two.
    let window = |s: &Sender| (s.phase(), s.window().cwnd, s.window().ssthresh);
    assert_eq!(window(&s), (Phase::Loss, 2_000, 2_000));
    assert_eq!(s.on_deadline(us(10_260), &t), None);
    assert_eq!(window(&s), (Phase::Loss, 2_000, 2_000));
    assert_eq!(sends(&mut s, &t, us(10_260)), "3!");
    // 3 and 4 let the window grow by 1000 * 2000 / 2000 bytes. 5 was sent before the 3 that has
    // arrived, 100 us ago: it is lost again, too, but was sent before the cut.
    acked(&mut s, &t, us(10_340), 5, &[]);
    assert_eq!(window(&s), (Phase::Loss, 3_000, 2_000));
    assert_eq!(sends(&mut s, &t, us(10_340)), "5!");
    acked(&mut s, &t, us(10_420), 6, &[]);
    assert!(s.is_done());
    assert_eq!((s.timeouts, s.retransmitted_packets), (1, 6));
}

#[test]
fn rack_moves_the_timeout_on_only_for_what_is_acknowledged() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    sends(&mut s, &t, us(80));
    // While 1 is in doubt the reordering timer comes first: 2 took 90 us, and the least round trip
    // is 80 us.
    acked(&mut s, &t, us(90), 1, &[(2, 3)]);
    assert_eq!(s.deadline(), us(110));
    acked(&mut s, &t, us(95), 1, &[(2, 5)]);
    assert_eq!((s.phase(), s.deadline()), (Phase::Recovery, us(10_080)));
    sends(&mut s, &t, us(95));
    acked(&mut s, &t, us(99), 1, &[(2, 6)]);
    assert_eq!(s.deadline(), us(10_080));
    // Its retransmission and everything else has arrived: a probe is due after two round trips of
    // 80 us.
    acked(&mut s, &t, us(175), 12, &[]);
    assert_eq!(sends(&mut s, &t, us(175)), "12 13 14 15 16");
    assert_eq!((s.phase(), s.deadline()), (Phase::Open, us(335)));
    // With a gap there is no probe. The timeout is where the last ack of new data has put it.
    acked(&mut s, &t, us(255), 12, &[(13, 14)]);
    assert_eq!((s.deadline(), s.on_deadline(us(275), &t)), (us(275), None));
    assert_eq!((s.phase(), s.deadline()), (Phase::Recovery, us(10_175)));
}

#[test]
fn rack_widens_its_window_when_it_repairs_what_had_arrived() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "0!");
    // 0 arrives after all, which ends the recovery, and then its retransmission: a duplicate.
    acked(&mut s, &t, us(90), 10, &[]);
    assert_eq!(s.phase(), Phase::Open);
    assert_eq!(sends(&mut s, &t, us(90)), "10 11 12 13 14");
    acked(&mut s, &t, us(160), 10, &[(0, 1)]);
    // The next gap: 10 is in doubt for two quarters of 80 us after 11 has arrived.
    acked(&mut s, &t, us(170), 10, &[(11, 12)]);
    assert_eq!((s.phase(), s.deadline()), (Phase::Open, us(210)));
}

#[test]
fn rack_probes_for_the_last_segments_unless_told_not_to() {
    for (text, deadline) in [("", us(240)), ("recovery.tail_loss_probe = false", us(10_080))] {
        let text = format!("initial_window = \"4pkt\"\nrecovery.kind = \"rack\"\n{text}");
        let (mut s, t) = sender(4, &text);
        sends(&mut s, &t, us(0));
        acked(&mut s, &t, us(80), 2, &[]);
        assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.deadline()), ("", deadline));
        if deadline > us(240) {
            continue;
        }
        // The probe arrives, so 2, sent before it, is lost after another quarter of the round trip.
        assert_eq!(s.on_deadline(us(240), &t).map(|piece| piece.seq), Some(3_000));
        acked(&mut s, &t, us(320), 2, &[(3, 4)]);
        assert_eq!(sends(&mut s, &t, us(320)), "2!");
        acked(&mut s, &t, us(400), 4, &[]);
        assert!(s.is_done() && s.timeouts == 0);
    }
}

#[test]
fn rack_probes_before_there_is_a_round_trip_and_where_the_timeout_would_come_first() {
    let (mut s, t) = sender(4, "initial_window = \"4pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    let first = s.deadline();
    assert_eq!(s.on_deadline(first, &t).map(|piece| piece.seq), Some(3_000));
    assert_eq!((s.timeouts, s.phase(), s.deadline()), (0, Phase::Open, first + first));
    // There is only one probe.
    assert_eq!(s.on_deadline(first + first, &t), None);
    assert_eq!((s.timeouts, s.phase()), (1, Phase::Loss));
    // A second probe is sent if the timeout comes later than that.
    let text = "recovery.kind = \"rack\"\nrecovery.initial_rto = \"3s\"\nrecovery.max_rto = \"9s\"";
    let (mut s, t) = sender(4, text);
    sends(&mut s, &t, us(0));
    assert_eq!(s.deadline(), us(1_000_000));
    // The ack of one segment may be delayed by 20 ms, which is longer than the timeout.
    let text =
        "initial_window = \"2pkt\"\nrecovery.kind = \"rack\"\nack_every = 2\nack_delay = \"20ms\"";
    let (mut s, t) = sender(3, text);
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 2, &[]);
    assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.deadline()), ("2", us(10_080)));
    assert_eq!(s.on_deadline(us(10_080), &t).map(|piece| piece.seq), Some(2_000));
    assert_eq!((s.timeouts, s.deadline()), (0, us(20_080)));
}

#[test]
fn rack_waits_for_a_probe_from_the_last_new_data_on() {
    let (mut s, t) = sender(100, "initial_window = \"4pkt\"\nrecovery.kind = \"rack\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 2, &[]);
    assert_eq!(s.deadline(), us(240));
    assert_eq!((sends(&mut s, &t, us(90)).as_str(), s.deadline()), ("4 5 6 7", us(250)));
    // An ack of nothing new restarts neither timer.
    acked(&mut s, &t, us(100), 2, &[]);
    assert_eq!(s.deadline(), us(250));
}

#[test]
fn rack_sends_only_what_is_old_again_after_a_timeout() {
    let text =
        "initial_window = \"4pkt\"\nrecovery.kind = \"rack\"\nrecovery.tail_loss_probe = false";
    let (mut s, t) = sender(6, text);
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.deadline()), ("4 5", us(10_080)));
    assert_eq!(s.on_deadline(us(10_080), &t), None);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Loss, 1_000));
    assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
    acked(&mut s, &t, us(10_160), 2, &[]);
    assert_eq!(sends(&mut s, &t, us(10_160)), "2! 3!");
    // 3 has arrived, which was sent together with 2 but behind it: 2 is lost again, and no timer is
    // needed for that.
    acked(&mut s, &t, us(10_240), 2, &[(3, 4)]);
    assert_eq!(sends(&mut s, &t, us(10_240)), "2! 4!");
    assert_eq!(s.timeouts, 1);
}
