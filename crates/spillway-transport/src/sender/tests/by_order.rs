//! Losses found by later packets of the same priority, by duplicate acks, and by timeouts alone.

use super::*;

/// Sends what may be sent now, each segment with the priority that this function gives it. Returns
/// the segments and the numbers of their packets.
fn numbered(
    sender: &mut Sender,
    transport: &ClosedLoop,
    now: Time,
    priority: fn(u64) -> u8,
) -> Vec<(u64, u64)> {
    let mut sent = Vec::new();
    while let Some(piece) = sender.next_piece(now, transport) {
        let segment = piece.seq / 1_000;
        sent.push((
            segment,
            sender.number(&piece, priority(segment)).expect("packets are numbered"),
        ));
    }
    sent
}

/// The ack of a packet arrives. It acknowledges `una` segments, and these behind a gap.
fn answered(
    sender: &mut Sender,
    transport: &ClosedLoop,
    now: Time,
    number: u64,
    (una, sack): (u64, &[(u64, u64)]),
) {
    let mut blocks = SackBlocks::default();
    for (block, &(start, end)) in blocks.iter_mut().zip(sack) {
        *block = (start * 1_000, end * 1_000);
    }
    let sack = (!sack.is_empty()).then_some(&blocks);
    let (sent_at, number) = (now.since(us(80)), Some(number));
    let told = AckSegment { seq: una * 1_000, sent_at, sack, number, ..QUIET };
    sender.on_ack(now, &told, transport);
}

const QUIET: AckSegment<'static> = AckSegment {
    seq: 0,
    ece: false,
    sent_at: Time::ZERO,
    may_grow: true,
    sack: None,
    telemetry: None,
    number: None,
};

const TEN: &str = "initial_window = \"10pkt\"\nrecovery.kind = \"per-priority\"";

/// Segments 0 to 4 have priority 1, the others 0. The latter overtake the former, and 1 is dropped.
#[test]
fn overtaking_is_no_loss_and_three_of_the_same_priority_are_one() {
    let (mut s, t) = sender(10, TEN);
    let priority = |segment| u8::from(segment < 5);
    let sent = numbered(&mut s, &t, us(0), priority);
    assert_eq!(sent, (0..10).map(|n| (n, n)).collect::<Vec<_>>());
    s.note_dropped(1, false);
    for number in 5..10 {
        answered(&mut s, &t, us(80 + number), number, (0, &[(5, number + 1)]));
        assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, 10_000));
    }
    answered(&mut s, &t, us(90), 0, (1, &[(5, 10)]));
    answered(&mut s, &t, us(91), 2, (1, &[(2, 3), (5, 10)]));
    answered(&mut s, &t, us(92), 3, (1, &[(2, 4), (5, 10)]));
    assert_eq!((s.phase(), s.in_flight()), (Phase::Open, 2_000));
    // 2, 3 and 4 were sent after 1 with its priority. The window is halved from what was in flight.
    answered(&mut s, &t, us(93), 4, (1, &[(2, 10)]));
    assert_eq!((s.phase(), s.in_flight(), s.window().ssthresh), (Phase::Recovery, 0, 4_500));
    assert_eq!(numbered(&mut s, &t, us(93), |_| 1), [(1, 10)]);
    let counts = OrderCounts { overtaking: 5, right: 1, ..OrderCounts::default() };
    assert_eq!((s.order_counts(), s.retransmitted_packets), (Some(counts), 1));
    assert_eq!(s.timeout_repairs, 0);
    answered(&mut s, &t, us(173), 10, (10, &[]));
    assert!(s.is_done());
}

/// 1 and then its repair are dropped. Only packets that are sent later with the repair's priority
/// show the second loss, which is one of another window.
#[test]
fn a_repair_that_is_lost_is_found_by_what_is_sent_after_it() {
    let (mut s, t) = sender(100, TEN);
    numbered(&mut s, &t, us(0), |_| 0);
    for (number, sack) in [(0, (0, 0)), (2, (2, 3)), (3, (2, 4)), (4, (2, 5))] {
        let told: &[(u64, u64)] = if number == 0 { &[] } else { &[sack] };
        answered(&mut s, &t, us(80 + number), number, (1, told));
    }
    // Half of the nine that were in flight.
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Recovery, 4_500));
    assert_eq!(numbered(&mut s, &t, us(84), |_| 0), [(1, 10)]);
    // When 5 to 9 have arrived only the repair is in flight.
    for number in 5..10 {
        answered(&mut s, &t, us(80 + number), number, (1, &[(2, number + 1)]));
    }
    assert_eq!(s.in_flight(), 1_000);
    assert_eq!(numbered(&mut s, &t, us(89), |_| 0), [(10, 11), (11, 12), (12, 13)]);
    for number in [11, 12] {
        answered(&mut s, &t, us(160 + number), number, (1, &[(2, number)]));
    }
    assert_eq!((s.in_flight(), s.next_lost()), (2_000, None));
    answered(&mut s, &t, us(173), 13, (1, &[(2, 13)]));
    assert_eq!(s.next_lost(), Some((1_000, 2_000)));
    // The repair was sent after the first cut, so this is another: half of the window, of which
    // what lies between 1 and 13 is no measure.
    assert_eq!((s.window().ssthresh, s.window().cwnd), (2_250, 2_250));
}

#[test]
fn after_a_timeout_all_that_is_missing_goes_again() {
    let (mut s, t) = sender(4, TEN);
    numbered(&mut s, &t, us(0), |segment| segment as u8);
    (0..3).for_each(|number| s.note_dropped(number, false));
    answered(&mut s, &t, us(80), 3, (0, &[(3, 4)]));
    assert_eq!(s.phase(), Phase::Open, "nothing was sent later with the same priority");
    assert_eq!(s.on_deadline(s.deadline(), &t), None);
    assert_eq!((s.phase(), s.in_flight(), s.window().cwnd), (Phase::Loss, 0, 1_000));
    assert_eq!(numbered(&mut s, &t, us(20_000), |_| 0), [(0, 4)]);
    answered(&mut s, &t, us(20_080), 4, (1, &[(3, 4)]));
    assert_eq!(numbered(&mut s, &t, us(20_080), |_| 0), [(1, 5), (2, 6)]);
    answered(&mut s, &t, us(20_160), 6, (1, &[(2, 4)]));
    answered(&mut s, &t, us(20_161), 5, (4, &[]));
    assert!(s.is_done());
    let counts = s.order_counts().unwrap();
    assert_eq!((counts.by_timeout, counts.right, counts.overtaking), (3, 0, 1));
    assert_eq!((s.retransmitted_packets, s.timeout_repairs), (3, 3));
}

/// 0 and 4 are lost.
#[test]
fn three_duplicate_acks_show_one_loss_and_a_partial_ack_the_next() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"duplicate-acks\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3 4 5 6 7 8 9");
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    acked(&mut s, &t, us(81), 0, &[(1, 3)]);
    assert_eq!(s.phase(), Phase::Open);
    acked(&mut s, &t, us(82), 0, &[(1, 4)]);
    assert_eq!(s.phase(), Phase::Recovery);
    assert!(sends(&mut s, &t, us(82)).starts_with("0!"));
    for (n, end) in (6..11).enumerate() {
        acked(&mut s, &t, us(83 + n as u64), 0, &[(5, end), (1, 4)]);
    }
    // Six packets behind 4 say nothing of it.
    assert!(!sends(&mut s, &t, us(90)).contains('!'));
    acked(&mut s, &t, us(162), 4, &[(5, 10)]);
    assert!(sends(&mut s, &t, us(162)).starts_with("4!"));
    assert_eq!((s.retransmitted_packets, s.timeout_repairs), (2, 0));
}

#[test]
fn duplicate_acks_without_a_gap_show_nothing() {
    let (mut s, t) = sender(100, "initial_window = \"10pkt\"\nrecovery.kind = \"duplicate-acks\"");
    sends(&mut s, &t, us(0));
    for n in 0..5 {
        acked(&mut s, &t, us(80 + n), 0, &[]);
    }
    acked(&mut s, &t, us(90), 1, &[]);
    acked(&mut s, &t, us(91), 1, &[(2, 3)]);
    assert_eq!((s.phase(), s.retransmitted_packets), (Phase::Open, 0));
}

#[test]
fn where_only_timeouts_show_losses_the_window_is_a_range() {
    let more =
        "initial_window = \"6pkt\"\nrecovery.min_rto = \"10ms\"\nrecovery.kind = \"timeout-only\"";
    let (mut s, t) = sender(20, more);
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3 4 5");
    // All but 0 and 2 arrive. Nothing new is sent for that, and nothing again.
    acked(&mut s, &t, us(80), 0, &[(1, 2)]);
    acked(&mut s, &t, us(81), 0, &[(1, 2), (3, 6)]);
    assert_eq!((sends(&mut s, &t, us(81)).as_str(), s.in_flight()), ("", 6_000));
    assert_eq!((s.phase(), s.window().cwnd, s.deadline()), (Phase::Open, 6_000, us(10_000)));
    assert_eq!(s.on_deadline(us(10_000), &t), None);
    // ssthresh is half of the range.
    assert_eq!((s.window().cwnd, s.window().ssthresh), (1_000, 3_000));
    assert_eq!(sends(&mut s, &t, us(10_000)), "0!");
    // The window of three (1 + 2, for the two that the ack is about) reaches from 2 to 4. What has
    // arrived of it is left out.
    acked(&mut s, &t, us(10_080), 2, &[(3, 6)]);
    assert_eq!(s.window().cwnd, 3_000);
    assert_eq!((sends(&mut s, &t, us(10_080)).as_str(), s.in_flight()), ("2!", 4_000));
    acked(&mut s, &t, us(10_160), 6, &[]);
    assert_eq!((s.phase(), s.window().ssthresh), (Phase::Open, 3_000));
    assert_eq!(&sends(&mut s, &t, us(10_160))[..5], "6 7 8");
    assert_eq!((s.retransmitted_packets, s.timeout_repairs, s.timeouts), (2, 2, 1));
    // With selective acks four more go out meanwhile, since four of six are known to be there.
    let (mut s, t) = sender(20, "initial_window = \"6pkt\"\nrecovery.dupthresh = 1000");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(81), 0, &[(1, 2), (3, 6)]);
    assert_eq!(sends(&mut s, &t, us(81)), "6 7 8 9");
}

#[test]
fn packets_out_of_order_are_no_losses_where_only_timeouts_show_them() {
    let (mut s, t) = sender(20, "initial_window = \"4pkt\"\nrecovery.kind = \"timeout-only\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3");
    acked(&mut s, &t, us(80), 0, &[(1, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "");
    // Slow start: four are acknowledged.
    acked(&mut s, &t, us(81), 4, &[]);
    assert_eq!(sends(&mut s, &t, us(81)), "4 5 6 7 8 9 10 11");
    assert_eq!((s.retransmitted_packets, s.timeouts), (0, 0));
}
