//! Important packets, and what their echoes tell.

use super::*;

/// A sender of segments of 1000 bytes that protects some.
fn protected(segments: u64, text: &str) -> (Sender, ClosedLoop) {
    sender(segments, &format!("protection = \"tlt\"\n{text}"))
}

/// The numbers of the segments that are sent now, with `!` after one that was sent before, and
/// `*` after an important one; `h` stands for a header alone.
fn sends(sender: &mut Sender, transport: &ClosedLoop, now: Time) -> String {
    let mut sent = Vec::new();
    while let Some(piece) = sender.next_piece(now, transport).or_else(|| sender.forced_piece(now)) {
        let is_important = sender.is_important(now, &piece);
        let what = match piece.payload {
            0 => "h".into(),
            _ => (piece.seq / 1000).to_string(),
        };
        let again = if piece.again { "!" } else { "" };
        sent.push(format!("{what}{again}{}", if is_important { "*" } else { "" }));
    }
    sent.join(" ")
}

/// The ack that was just handled is that of the important packet.
fn echo(sender: &mut Sender, transport: &ClosedLoop, now: Time) {
    let sent_at = sender.tlt.as_ref().unwrap().sent_at();
    sender.on_echo(now, sent_at, transport);
}

/// As `acked`, for the ack of an important packet.
fn echoed(sender: &mut Sender, transport: &ClosedLoop, now: Time, una: u64, sack: &[(u64, u64)]) {
    acked(sender, transport, now, una, sack);
    echo(sender, transport, now);
}

#[test]
fn the_last_packet_of_the_initial_window_is_important_and_then_one_after_each_echo() {
    let (mut s, t) = protected(20, "initial_window = \"3pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2*");
    acked(&mut s, &t, us(80), 1, &[]);
    assert_eq!(sends(&mut s, &t, us(80)), "3 4");
    acked(&mut s, &t, us(81), 2, &[]);
    assert_eq!(sends(&mut s, &t, us(81)), "5 6");
    echoed(&mut s, &t, us(82), 3, &[]);
    assert_eq!(sends(&mut s, &t, us(82)), "7* 8");
    acked(&mut s, &t, us(83), 4, &[]);
    assert_eq!(sends(&mut s, &t, us(83)), "9 10");
    // The last packet of a flow that is shorter than its window.
    let (mut s, t) = protected(2, "initial_window = \"9pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1*");
    echoed(&mut s, &t, us(80), 2, &[]);
    assert_eq!((sends(&mut s, &t, us(80)).as_str(), s.is_done()), ("", true));
}

/// Of four segments only the important last one arrives. Nothing is behind it, so no rule of RFC
/// 6675 shows the loss of three: its echo does. The window of four is cut to two, and what is in
/// flight counts: 0 at once, and 1 beside it. The echo of 0 tells nothing of 1, which left after it.
/// A proportional reduction begins with one segment, and has two for an ack that moves on.
#[test]
fn an_echo_shows_what_was_sent_before_its_packet_to_be_lost() {
    let proportional = "recovery.reduction = \"proportional\"";
    let cases: [(&str, &[(u64, &str)]); 2] = [
        ("", &[(0, "0!* 1!"), (1, "2!*"), (4, "")]),
        (proportional, &[(0, "0!*"), (1, "1!* 2!"), (4, "")]),
    ];
    for (text, told) in cases {
        let (mut s, t) = protected(4, &format!("initial_window = \"4pkt\"\n{text}"));
        assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3*");
        acked(&mut s, &t, us(79), 0, &[(3, 4)]);
        assert_eq!((sends(&mut s, &t, us(79)).as_str(), s.phase()), ("", Phase::Open));
        for (round, &(una, sent)) in (1..).zip(told) {
            let now = us(80 * round);
            let behind: &[_] = if una < 4 { &[(3, 4)] } else { &[] };
            echoed(&mut s, &t, now, una, behind);
            assert!(s.is_done() || s.phase() == Phase::Recovery);
            assert_eq!(sends(&mut s, &t, now), sent, "{text}");
        }
        assert_eq!((s.is_done(), s.timeouts, s.retransmitted_packets), (true, 0, 3));
    }
}

/// As before, but segment 1, sent again beside the important 0, is lost again. The echo of 0 cannot
/// tell, since 1 left later; that of 2 does, and 1 is sent before anything else.
#[test]
fn an_echo_shows_that_a_repair_is_lost() {
    let (mut s, t) = protected(9, "initial_window = \"4pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3*");
    echoed(&mut s, &t, us(80), 0, &[(3, 4)]);
    assert_eq!(sends(&mut s, &t, us(80)), "0!* 1!");
    echoed(&mut s, &t, us(160), 1, &[(3, 4)]);
    assert_eq!(sends(&mut s, &t, us(160)), "2!*");
    echoed(&mut s, &t, us(240), 1, &[(2, 4)]);
    assert_eq!(sends(&mut s, &t, us(240)), "1!* 4");
    echoed(&mut s, &t, us(320), 4, &[]);
    assert_eq!((sends(&mut s, &t, us(320)).as_str(), s.timeouts), ("5*", 0));
}

/// A mark halves the window of four. The echo comes with three in flight, all sent after the
/// important packet: a header alone goes. Its echo, with no other ack, shows the three to be lost.
#[test]
fn a_header_is_sent_where_the_window_allows_no_packet() {
    let t = closed_loop("protection = \"tlt\"\nmss = \"1000B\"\ninitial_window = \"4pkt\"");
    let mut s = Sender::new(30_000, 1_000, &t, &access(10, 25));
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3*");
    for una in 1..4 {
        acked(&mut s, &t, us(79 + una), una, &[]);
    }
    assert_eq!(sends(&mut s, &t, us(82)), "4 5 6 7 8 9");
    let ack = (4, true);
    tell(&mut s, &t, us(83), ack, &[]);
    echo(&mut s, &t, us(83));
    assert!(s.in_flight() >= s.window().cwnd, "{} of {}", s.in_flight(), s.window().cwnd);
    assert_eq!(sends(&mut s, &t, us(83)), "h*");
    assert_eq!(s.retransmitted_packets, 0);
    echoed(&mut s, &t, us(163), 4, &[]);
    assert_eq!(s.phase(), Phase::Recovery);
    assert!(sends(&mut s, &t, us(163)).starts_with("4!* 5!"), "{:?}", s.window());
}

/// The host of a sender has no room for a header alone. All that was sent stays sent.
#[test]
fn a_header_that_is_refused_takes_nothing_back() {
    let (mut s, t) = protected(30, "initial_window = \"3pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2*");
    let header = Piece { seq: 0, payload: 0, again: false };
    s.on_refused(&header, &t);
    assert_eq!((s.never_sent(), s.acknowledged()), (3_000, 0));
}

/// The host refuses the important 10, and cuts the window of eight: no echo has shown that 5 is lost,
/// so the header alone is sent in its place.
#[test]
fn an_important_packet_that_is_refused_tells_nothing() {
    let (mut s, t) = protected(30, "initial_window = \"4pkt\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2 3*");
    (1..4).for_each(|una| acked(&mut s, &t, us(79 + una), una, &[]));
    assert_eq!(sends(&mut s, &t, us(82)), "4 5 6 7 8 9");
    echoed(&mut s, &t, us(83), 4, &[]);
    let piece = s.next_piece(us(83), &t).unwrap();
    assert!(piece.seq == 10_000 && s.is_important(us(83), &piece));
    s.on_refused(&piece, &t);
    s.protect_next();
    acked(&mut s, &t, us(84), 5, &[]);
    assert!(s.in_flight() >= s.window().cwnd, "{} of {}", s.in_flight(), s.window().cwnd);
    assert_eq!(sends(&mut s, &t, us(84)), "h*");
}

/// A lost window with every recovery that has TCP's phases: no timeout is needed, since each echo of
/// a first segment lets the next one go.
#[test]
fn no_recovery_needs_a_timeout_for_a_lost_window() {
    for kind in ["sack", "rack", "ns3", "duplicate-acks", "timeout-only", "per-priority"] {
        let (mut s, t) =
            protected(6, &format!("initial_window = \"6pkt\"\nrecovery.kind = \"{kind}\""));
        // Only the important last segment arrives. Later segments arrive if they are important.
        let mut got = [false; 6];
        let (mut now, mut headers) = (us(0), 0);
        for round in 0..14 {
            let mut echo = None;
            while let Some(piece) = s.next_piece(now, &t).or_else(|| s.forced_piece(now)) {
                let number = (piece.payload > 0).then(|| s.number(&piece, 0)).flatten();
                if s.is_important(now, &piece) {
                    headers += usize::from(piece.payload == 0);
                    if piece.payload > 0 {
                        got[(piece.seq / 1000) as usize] = true;
                    }
                    assert!(echo.replace(number).is_none(), "{kind}: one at a time");
                }
            }
            let Some(number) = echo else { break };
            let (sent_at, una) = (now, got.iter().take_while(|got| **got).count() as u64);
            now += us(80);
            let ranges: Vec<(u64, u64)> = got
                .chunk_by(|a, b| a == b)
                .scan(0, |at, run| {
                    let from = *at;
                    *at += run.len() as u64;
                    Some((run[0] && from > una, (from, *at)))
                })
                .filter_map(|(is_behind, range)| is_behind.then_some(range))
                .collect();
            let mut blocks = SackBlocks::default();
            for (block, (start, end)) in blocks.iter_mut().zip(ranges.iter().rev()) {
                *block = (start * 1000, end * 1000);
            }
            let ack = AckSegment {
                seq: una * 1000,
                ece: false,
                sent_at,
                may_grow: true,
                sack: (!ranges.is_empty()).then_some(&blocks),
                telemetry: None,
                number,
            };
            s.on_ack(now, &ack, &t);
            s.on_echo(now, sent_at, &t);
            if s.timer == Timer::Reordering && s.deadline() < now + us(80) {
                now = s.deadline();
                assert_eq!(s.on_deadline(now, &t), None);
            }
            assert!(round < 13, "{kind}: {got:?}");
        }
        assert!(s.is_done() && s.timeouts == 0, "{kind}: {got:?} {headers} {:?}", s.phase());
        assert!(now <= us(80 * 9), "{kind}: {now}");
    }
}

#[test]
fn the_first_packet_after_a_timeout_is_important() {
    let (mut s, t) = protected(9, "initial_window = \"3pkt\"\nrecovery.min_rto = \"1ms\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2*");
    let due = s.deadline();
    assert_eq!(s.on_deadline(due, &t), None);
    assert_eq!(sends(&mut s, &t, due), "0!*");
    // The first important packet was only late.
    acked(&mut s, &t, due + us(79), 1, &[]);
    s.on_echo(due + us(79), us(0), &t);
    assert_eq!(sends(&mut s, &t, due + us(79)), "1! 2!");
    echoed(&mut s, &t, due + us(80), 2, &[]);
    assert_eq!(sends(&mut s, &t, due + us(80)), "3*");
}

#[test]
fn the_next_flow_of_a_connection_begins_anew() {
    let (mut s, t) = protected(3, "initial_window = \"3pkt\"\nconnections = \"open\"");
    assert_eq!(sends(&mut s, &t, us(0)), "0 1 2*");
    echoed(&mut s, &t, us(80), 3, &[]);
    s.begin_next(us(90), us(10), 2_000, &t, &access(10, 25));
    assert_eq!(sends(&mut s, &t, us(90)), "3 4*");
}

#[test]
fn a_sender_without_a_window_or_with_bursts_refuses_protection() {
    let error = |text: &str| {
        let text = format!("protection = \"tlt\"\n{text}");
        let mut section = spillway_settings::Section::new("transport", text.parse().unwrap());
        let read = Transport::read(&mut section, &Default::default());
        read.map(|_| ()).and_then(|()| section.finish().map(|_| ())).unwrap_err().to_string()
    };
    assert!(error("kind = \"timely\"").contains("means nothing where a pace is set"));
    let own = error("recovery.kind = \"selective\"");
    assert!(own.contains("means nothing where the recovery chooses every segment itself"), "{own}");
    assert!(error("offload = \"64KiB\"").contains("does not go with `offload`"));
    assert!(error("kind = \"udp\"").contains("protection"));
}
