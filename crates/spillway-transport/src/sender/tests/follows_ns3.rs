//! A sender with `recovery = "ns3"` does what a sender of ns-3 did with the same acks.

use super::*;

/// Gives the acks of a recorded sender to one of ours, and compares for each ack how many segments
/// follow it, and ssthresh after a cut.
///
/// `run`: a line for each ack: segments acknowledged, whether it echoes a mark, segments sent at
/// once, and ssthresh in bytes if it has changed. The first line is the end of the handshake.
/// Recorded with ns-3.37: `TcpDctcp`, segments of 1,448 bytes, a first window of 10, every packet
/// acknowledged, no losses.
fn follow(run: &str) {
    let t = closed_loop(
        "kind = \"dctcp\"\nmss = \"1448B\"\nrecovery.kind = \"ns3\"\nmin_window = \"1B\"\n\
         initial_window = \"10pkt\"",
    );
    let mut s = Sender::new(125_000_000, 1_448, &t, &access(10, 25));
    let (mut acks, mut cuts) = (0, 0);
    for (line, row) in run.lines().enumerate() {
        let fields: Vec<&str> = row.split(' ').collect();
        let number = |place: usize| fields[place].parse::<u64>().unwrap();
        let now = us(100 + line as u64);
        let una = number(0);
        if una > 0 {
            let (seq, ece, sent_at) = (una * 1448, number(1) == 1, now.since(us(50)));
            let (may_grow, sack, telemetry) = (true, None, None);
            let ack = AckSegment { seq, ece, sent_at, may_grow, sack, telemetry, number: None };
            s.on_ack(now, &ack, &t);
            acks += 1;
        }
        let sent = std::iter::from_fn(|| s.next_piece(now, &t)).count() as u64;
        assert_eq!(sent, number(2), "segments sent, line {}", line + 1);
        if fields[3] != "-" {
            assert_eq!(s.window.ssthresh, number(3), "ssthresh, line {}", line + 1);
            cuts += 1;
        }
    }
    assert!(acks > 700 && cuts >= 5, "{acks} acks, {cuts} cuts");
}

#[test]
fn with_small_windows() {
    // 32 flows at 10 Gbps and 40 us under CoDel: windows of 3 segments, often cut in every round
    // trip, down to less than a segment.
    follow(include_str!("ns3_32_flows.txt"));
}

#[test]
fn with_large_windows() {
    // 2 flows, marks from 70 packets on: windows of 50 segments and more. For these the 32 bits of
    // ns-3's reduction are too few.
    follow(include_str!("ns3_2_flows.txt"));
}
