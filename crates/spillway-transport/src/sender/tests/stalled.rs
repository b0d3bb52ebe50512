//! Repairs of TIMELY in ABM's program, by hand: a recovery in which nothing is sent but what acks
//! of new data let go, until the rate is updated.

use super::*;

/// A sender of so many segments of 1000 bytes that begins with 12.
fn timely(segments: u64, more: &str) -> (Sender, ClosedLoop) {
    let t = closed_loop(&format!(
        "kind = \"timely\"\npreset = \"abm\"\nmss = \"1000B\"\nstart_window = \"12pkt\"\n{more}"
    ));
    (Sender::new(segments * 1000, 1_000, &t, &access(10, 25)), t)
}

/// The numbers of the next so many segments.
fn some(sender: &mut Sender, transport: &ClosedLoop, count: usize) -> Vec<u64> {
    let pieces = std::iter::from_fn(|| sender.next_piece(us(0), transport));
    pieces.take(count).map(|piece| piece.seq / 1000).collect()
}

fn window(sender: &Sender) -> u64 {
    sender.window().cwnd / 1000
}

const UNLIMITED: u64 = Window::UNLIMITED / 1000;

#[test]
fn a_recovery_is_stalled_until_the_rate_is_updated_or_it_ends() {
    let (mut s, t) = timely(30, "");
    // The first ack comes when 4 are sent: the next update is due when more is acknowledged. The
    // first window lasts.
    some(&mut s, &t, 4);
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "4 5 6 7 8 9 10 11 12");
    // 1 is lost. Of 12 in flight 3 have arrived and 1 is lost.
    acked(&mut s, &t, us(82), 1, &[(2, 5)]);
    assert_eq!((s.phase(), window(&s)), (Phase::Recovery, 8));
    assert_eq!(sends(&mut s, &t, us(82)), "1!");
    // 9 to 12 are in flight, and the retransmission.
    acked(&mut s, &t, us(86), 1, &[(2, 9)]);
    assert_eq!((window(&s), s.in_flight(), sends(&mut s, &t, us(86)).as_str()), (5, 5_000, ""));
    // Its ack is behind 4, so it updates, and there is no window until the next.
    acked(&mut s, &t, us(162), 9, &[]);
    assert_eq!((window(&s), some(&mut s, &t, 2)), (UNLIMITED, vec![13, 14]));
    // Nothing is due before 13 is acknowledged. 10 to 14 are in flight, and one goes in any case.
    acked(&mut s, &t, us(163), 10, &[]);
    assert_eq!((window(&s), sends(&mut s, &t, us(163)).as_str()), (5, "15"));
    // The recovery began with 13 sent. There is no window after it.
    acked(&mut s, &t, us(166), 13, &[]);
    assert_eq!((s.phase(), window(&s)), (Phase::Open, UNLIMITED));
    // With the window kept, the window of the start lasts: 5 segments are in flight in addition to
    // what is sent again.
    let (mut s, t) = timely(30, "recovery_window = \"kept\"");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    sends(&mut s, &t, us(80));
    acked(&mut s, &t, us(82), 1, &[(2, 9)]);
    assert_eq!((window(&s), sends(&mut s, &t, us(82)).as_str()), (12, "1! 13 14 15 16 17 18 19"));
}

#[test]
fn a_repair_is_what_was_sent_last() {
    // All 12 are sent before the first ack: nothing is due until the end, so one goes for each ack
    // of new data, however many are lost.
    let (mut s, t) = timely(12, "");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    acked(&mut s, &t, us(82), 1, &[(4, 9)]);
    assert_eq!(sends(&mut s, &t, us(82)), "1!");
    acked(&mut s, &t, us(162), 2, &[(4, 9)]);
    assert_eq!(sends(&mut s, &t, us(162)), "2!");
    acked(&mut s, &t, us(242), 3, &[(4, 9)]);
    assert_eq!(sends(&mut s, &t, us(242)), "3!");
    // If the first ack comes when 2 are sent, that of 3 updates, when 3 is about to be sent again.
    // All that are lost or missing follow.
    let (mut s, t) = timely(12, "");
    some(&mut s, &t, 2);
    acked(&mut s, &t, us(80), 1, &[]);
    sends(&mut s, &t, us(80));
    acked(&mut s, &t, us(82), 1, &[(4, 9)]);
    assert_eq!(sends(&mut s, &t, us(82)), "1!");
    acked(&mut s, &t, us(162), 2, &[(4, 9)]);
    assert_eq!((window(&s), sends(&mut s, &t, us(162)).as_str()), (3, "2!"));
    acked(&mut s, &t, us(242), 3, &[(4, 9)]);
    assert_eq!((window(&s), sends(&mut s, &t, us(242)).as_str()), (UNLIMITED, "3! 9! 10! 11!"));
    // So the ack of 9 updates, and what was sent last is 12 then.
    acked(&mut s, &t, us(322), 9, &[]);
    assert_eq!(window(&s), UNLIMITED);
    acked(&mut s, &t, us(323), 10, &[]);
    assert_eq!(window(&s), 4);
}

#[test]
fn a_timeout_leaves_a_segment_until_an_update_is_due() {
    let (mut s, t) = timely(30, "");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "12");
    s.on_deadline(us(10_080), &t);
    assert_eq!(sends(&mut s, &t, us(10_080)), "1!");
    for segment in 2..=12 {
        let now = us(10_000 + 80 * segment);
        acked(&mut s, &t, now, segment, &[]);
        assert_eq!((window(&s), sends(&mut s, &t, now)), (1, format!("{segment}!")));
    }
    acked(&mut s, &t, us(11_000), 13, &[]);
    assert_eq!(window(&s), UNLIMITED);
    // By default the first ack updates.
    let (mut s, t) = timely(30, "update_after_timeout = true");
    sends(&mut s, &t, us(0));
    acked(&mut s, &t, us(80), 1, &[]);
    s.on_deadline(us(10_080), &t);
    acked(&mut s, &t, us(10_160), 2, &[]);
    assert_eq!(window(&s), UNLIMITED);
}

/// 1,000 bytes at 10 Gbps take 800 ns.
#[test]
fn what_goes_at_once_does_not_wait_for_the_pace() {
    let sent_at = |more: &str| {
        let (mut s, t) = timely(30, more);
        let next = |s: &mut Sender, ns: u64| {
            let piece = s.next_paced_piece(us(100) + Time::from_ns(ns), &t, Time::ZERO);
            piece.map(|piece| piece.seq / 1000)
        };
        for segment in 0..6 {
            assert_eq!(next(&mut s, 800 * segment), Some(segment));
        }
        let now = Time::from_ns(104_100);
        acked(&mut s, &t, now, 0, &[(1, 4)]);
        let found = [next(&mut s, 4_100), s.waits_until(now).and(Some(1))];
        (found, next(&mut s, 4_800))
    };
    assert_eq!(sent_at(""), ([Some(0), None], None));
    assert_eq!(sent_at("repairs_wait = true"), ([None, Some(1)], Some(0)));
}
