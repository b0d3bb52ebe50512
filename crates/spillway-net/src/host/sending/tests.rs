//! What a sending end sends, and when, by hand.

use super::*;
use crate::port::Shortcuts;
use crate::testing::{Bench, NS, STAR, US, flow, transport};
use spillway_transport::flow::FlowSpec;

fn bench(kind: &str, more: &str, nic: &str) -> Bench {
    Bench::new(&format!("{STAR}\n{}\n{nic}", transport(kind, more)))
}

/// An ack of flow 0 arrives at host 0 at a time in picoseconds, for a packet that was sent at
/// `sent_at`.
fn acked(bench: &mut Bench, at: u64, seq: u64, sent_at: u64) {
    let contents = Contents { seq, sent_at: Time::from_ps(sent_at), ..Contents::default() };
    let id = bench.make(Packet { flags: flags::CONTROL, ..Packet::default() }, contents);
    bench.net.now = Time::from_ps(at);
    bench.hosts.on_ack(&mut bench.net, &bench.scenario, id);
}

/// First byte, payload, bytes on the wire and bytes left of the flow, of the packets on host
/// 0's line.
fn sent(bench: &Bench) -> Vec<(u64, u32, u32, u32)> {
    let told = |id: PacketId| {
        let (packet, contents) = (&bench.net.packets[id], bench.net.packets.contents(id));
        (contents.seq, contents.payload, packet.size, contents.remaining)
    };
    bench.on_line(0).into_iter().map(told).collect()
}

fn sender(bench: &Bench) -> &Sender {
    bench.hosts.ends.sending(0).sender().expect("acks drive it")
}

/// Handles the next event of a flow's timer, as if no packet ever arrived. Returns the event's
/// time.
fn next_timer(bench: &mut Bench) -> u64 {
    loop {
        let event = bench.net.events.pop().expect("a timer");
        if let Some(number) = Kind::FlowTimer.id_of(event.key) {
            bench.net.now = event.time;
            bench.hosts.on_flow_timer(&mut bench.net, &bench.scenario, number);
            return event.time.ps();
        }
    }
}

#[test]
fn a_window_lets_segments_go_and_the_last_one_is_as_short_as_what_is_left() {
    let mut bench = bench("newreno", "initial_window = \"2pkt\"", "");
    bench.start(flow(0, 1, 2_000));
    let first = [(0, 960, 1_000, 2_000), (960, 960, 1_000, 1_040)];
    assert_eq!(sent(&bench), first);
    // The window of 1,920 bytes is full. An ack of the first segment makes room for 80 bytes.
    acked(&mut bench, 42 * US, 960, 0);
    assert_eq!(sent(&bench)[2..], [(1_920, 80, 120, 80)]);
    acked(&mut bench, 43 * US, 1_920, 0);
    assert_eq!((sent(&bench).len(), sender(&bench).in_flight()), (3, 80));
    // Three packets sent, of which two have come back as acks.
    assert_eq!(bench.hosts.ends.sending(0).flow.packets, 1);
}

#[test]
fn packets_tell_what_they_are() {
    let more = "initial_window = \"3pkt\", first_rtt_bytes = \"1920B\"";
    let mut bench = bench("dctcp", more, "");
    bench.start(FlowSpec { priority: Some(4), ..flow(0, 2, 5_000) });
    let (ect, first) = (flags::ECT, flags::FIRST_RTT);
    // The third begins at byte 1,920, which is not among the first 1,920.
    for (id, flags) in bench.on_line(0).into_iter().zip([ect | first, ect | first, ect]) {
        let packet = &bench.net.packets[id];
        assert_eq!((packet.flags, packet.dst, packet.priority), (flags, 2, 4));
    }
    // A mark cuts the window from 3 segments to 2, the least. Two are in flight, so the next
    // ack lets one go, which announces the cut.
    let id = bench.make(
        Packet { flags: flags::CONTROL | flags::ECE, ..Packet::default() },
        Contents { seq: 960, ..Contents::default() },
    );
    bench.net.now = Time::from_us(42);
    bench.hosts.on_ack(&mut bench.net, &bench.scenario, id);
    acked(&mut bench, 43 * US, 1_920, 0);
    let last = *bench.on_line(0).last().unwrap();
    assert_eq!(bench.net.packets.contents(last).seq, 2_880);
    assert_eq!(bench.net.packets[last].flags, ect | flags::CWR);
}

/// The first round trip takes 40 us: the timeout is 40 + 4 * 20 = 120 us. With the second the
/// variation is 20 * 3 / 4 = 15 us: 40 + 4 * 15 = 100 us.
#[test]
fn a_timeout_moves_with_acks_and_fires_once() {
    let more =
        "initial_window = \"2pkt\", recovery.initial_rto = \"165us\", recovery.min_rto = \"50us\"";
    let mut bench = bench("newreno", more, "");
    bench.start(flow(0, 1, 3 * 960));
    assert_eq!(bench.hosts.ends.sending(0).flow.timer, Time::from_us(165));
    acked(&mut bench, 40 * US, 960, 0);
    assert_eq!(bench.hosts.ends.sending(0).flow.timer, Time::from_us(160));
    // The deadline moves to 170 us. The event stays where it is, and then moves too.
    acked(&mut bench, 70 * US, 1_920, 30 * US);
    assert_eq!(sender(&bench).deadline(), Time::from_us(170));
    assert_eq!(bench.hosts.ends.sending(0).flow.timer, Time::from_us(160));
    assert_eq!(next_timer(&mut bench), 160 * US);
    assert_eq!((bench.hosts.tally.timeouts, sent(&bench).len()), (0, 3));
    // The first timeout's event has long been replaced.
    assert_eq!(next_timer(&mut bench), 165 * US);
    assert_eq!(next_timer(&mut bench), 170 * US);
    assert_eq!((bench.hosts.tally.timeouts, bench.hosts.tally.retransmitted), (1, 1));
    assert_eq!(sent(&bench)[3..], [(1_920, 960, 1_000, 960)]);
    let last = *bench.on_line(0).last().unwrap();
    assert_ne!(bench.net.packets[last].flags & flags::RETRANSMISSION, 0);
    // The next would be at 170 + 2 * 100 us, but everything is acknowledged before.
    acked(&mut bench, 300 * US, 2_880, 170 * US);
    assert_eq!(next_timer(&mut bench), 370 * US);
    assert_eq!((bench.hosts.tally.timeouts, bench.net.totals.made_packets), (1, 4));
    assert_eq!(bench.pending().iter().filter(|(_, kind, _)| *kind == Kind::FlowTimer).count(), 0);
}

/// The line's rate is the first pace: a packet of 1,000 bytes every microsecond.
#[test]
fn a_pace_lets_one_segment_go_at_a_time() {
    let mut bench = bench("timely", "", "");
    bench.start(flow(0, 1, 3 * 960));
    assert_eq!(bench.net.totals.made_packets, 1);
    // Neither an event that is not the flow's own nor another call sends a packet early.
    bench.net.now = Time::from_ns(500);
    bench.hosts.on_clock(&mut bench.net, &bench.scenario, 0);
    bench.hosts.send_pieces(&mut bench.net, &bench.scenario, 0);
    assert_eq!(bench.net.totals.made_packets, 1);
    assert_eq!(bench.step(), (US, Kind::Clock, 0));
    assert_eq!(bench.net.totals.made_packets, 2);
    assert_eq!(bench.step(), (2 * US, Kind::Clock, 0));
    assert_eq!(bench.net.totals.made_packets, 3);
    // All is sent: the next to happen is the arrival of the first packet.
    assert_eq!(bench.step(), (11 * US, Kind::Arrival, 0));
}

/// Two flows of one host, each with the line's rate as its pace. The second's packet waits from
/// 0 to 1 us, and its pace counts from then; the first's next packet waits from 1 to 2 us, and
/// so on: they take turns, and never more than one of each waits.
#[test]
fn queue_pairs_hand_over_one_packet_at_a_time_and_count_from_its_beginning() {
    let nic = "nic = { scheduling = \"per-flow-rr\", queue_pairs = true }";
    let mut bench = bench("timely", "", nic);
    bench.start(flow(0, 1, 3 * 960));
    bench.start(flow(0, 2, 3 * 960));
    assert_eq!((bench.net.totals.made_packets, bench.net.waiting_at(0)), (2, 1_000));
    // At 1 us the line is free: the second flow's packet begins, and then the first's pace lets
    // it hand over its next one.
    let told = bench.steps::<3>();
    assert_eq!(told, [(US, Kind::Wake, 0), (US, Kind::Clock, 0), (US, Kind::Begun, 1)]);
    assert_eq!((bench.net.totals.made_packets, bench.net.waiting_at(0)), (3, 1_000));
    // The second flow may send again at 2 us, a packet's time after its packet began.
    let told = bench.steps::<3>();
    assert_eq!(told, [(2 * US, Kind::Wake, 0), (2 * US, Kind::Clock, 1), (2 * US, Kind::Begun, 0)]);
    assert_eq!(bench.net.waiting_at(0), 1_000);
    let flows = bench.on_line(0).into_iter().map(|id| bench.net.packets.contents(id).flow);
    assert_eq!(flows.collect::<Vec<_>>(), [0, 1, 0]);
    // Without it the second flow hands over all packets at its pace, and they wait.
    let mut at_once = self::bench("timely", "", &nic.replace("true", "false"));
    at_once.start(flow(0, 1, 3 * 960));
    at_once.start(flow(0, 2, 3 * 960));
    while at_once.net.totals.made_packets < 6 {
        at_once.step();
    }
    assert_eq!((at_once.net.now, at_once.net.waiting_at(0)), (Time::from_us(2), 3_000));
}

/// Two flows of one host, each with the line's rate as its pace, two packets each. The first of
/// flow 1 goes to the NIC at 0, and begins at 1 us; the others go there at 1 us, and begin at 2
/// and 3 us.
#[test]
fn round_trips_may_count_from_when_the_nic_begins_to_send() {
    for pairs in [true, false] {
        let sent_at = |from: &str| {
            let nic = format!("nic = {{ scheduling = \"per-flow-rr\", queue_pairs = {pairs} }}");
            let timely = transport("timely", &format!("rtt_from = \"{from}\""));
            let mut bench = Bench::with(&format!("{STAR}\n{timely}\n{nic}"), Shortcuts::NONE);
            bench.start(flow(0, 1, 2 * 960));
            bench.start(flow(0, 2, 2 * 960));
            while bench.net.totals.made_packets < 4 || bench.net.waiting_at(0) > 0 {
                bench.step();
            }
            let ids = bench.on_line(0);
            let times = ids.into_iter().map(|id| bench.net.packets.contents(id).sent_at);
            times.map(|at| at.ps() / US).collect::<Vec<_>>()
        };
        assert_eq!(sent_at("nic"), [0, 1, 2, 3], "{pairs}");
        // Flow 1 hands its second packet over a packet's time after its first began.
        let handed = if pairs { [0, 0, 1, 2] } else { [0, 0, 1, 1] };
        assert_eq!(sent_at("host"), handed, "{pairs}");
    }
}

/// Two flows at the rate of one line, a packet of each flow at 0. The line is busy with them
/// until 1 and 2 us. A pace that counts from there gives a packet every 2 us: of flow 0 at 1
/// and 3 us, of flow 1 at 2 and 4 us. One that counts from the hand-over gives one of each
/// every microsecond.
#[test]
fn a_pace_may_count_from_when_the_nic_sends() {
    let handed = |from: &str| {
        let mut bench = bench("timely", &format!("pace_from = \"{from}\""), "");
        bench.start(flow(0, 1, 90 * 960));
        bench.start(flow(0, 2, 90 * 960));
        let mut times = Vec::new();
        while bench.net.now < Time::from_us(4) {
            let made = bench.net.totals.made_packets;
            let (at, _, flow) = bench.step();
            if bench.net.totals.made_packets > made {
                times.push((at / US, flow));
            }
        }
        times
    };
    assert_eq!(handed("nic"), [(1, 0), (2, 1), (3, 0), (4, 1)]);
    let every = [1, 2, 3, 4].map(|at| [(at, 0), (at, 1)]).concat();
    assert_eq!(handed("host")[..7], every[..7]);
}

/// One packet is on the line and two wait; the fourth finds the queue full.
#[test]
fn what_the_own_host_refuses_counts_as_not_sent() {
    let nic = |told: &str| format!("nic = {{ queue_limit = \"2pkt\", local_drops = \"{told}\" }}");
    let mut told = bench("newreno", "", &nic("cut"));
    told.start(flow(0, 1, 20 * 960));
    assert_eq!((told.net.totals.made_packets, told.net.lost.len()), (4, 1));
    assert_eq!(sender(&told).in_flight(), 3 * 960);
    // 10 segments, halved.
    assert_eq!(sender(&told).window().cwnd, 5 * 960);
    // A host that tells nothing: all ten are sent, and seven of them are lost.
    let mut silent = bench("newreno", "", &nic("silent"));
    silent.start(flow(0, 1, 20 * 960));
    assert_eq!((silent.net.totals.made_packets, silent.net.lost.len()), (10, 7));
    let sender = sender(&silent);
    assert_eq!((sender.in_flight(), sender.window().cwnd), (10 * 960, 10 * 960));
}

/// One packet is on the line and two wait when the fourth is dropped. The window is cut once,
/// to 5 segments, and a fifth, dropped too, fits into it.
#[test]
fn what_the_own_aqm_drops_counts_as_sent() {
    let aqm = "{ kind = \"ecn\", threshold = \"1pkt\", not_ect = \"drop\" }";
    let nic = format!("nic = {{ aqm = {aqm}, local_drops = \"cut\" }}");
    let mut bench = bench("newreno", "ecn = false", &nic);
    bench.start(flow(0, 1, 20 * 960));
    let reasons: Vec<_> = bench.net.lost.iter().map(|lost| lost.reason).collect();
    assert_eq!((bench.net.totals.made_packets, reasons), (5, vec![DropReason::Aqm; 2]));
    assert_eq!((sender(&bench).in_flight(), sender(&bench).window().cwnd), (4_800, 4_800));
}

#[test]
fn an_endless_flow_sends_nothing_new_after_its_end() {
    let mut bench = bench("newreno", "initial_window = \"2pkt\"", "");
    bench.scenario.class_stop[0] = Time::from_us(50);
    bench.start(flow(0, 1, FlowSpec::ENDLESS));
    // Slow start: an ack of one segment lets two go.
    acked(&mut bench, 50 * US - 1, 960, 0);
    assert_eq!(bench.net.totals.made_packets, 4);
    acked(&mut bench, 50 * US, 1_920, 0);
    assert_eq!(bench.net.totals.made_packets, 4);
    // What is left of it is more than the field can say.
    assert_eq!(sent(&bench)[3], (2_880, 960, 1_000, u32::MAX));
}

#[test]
fn three_timeouts_in_a_row_take_a_flow_back_to_the_best_level() {
    let restarts = |tagging: &str| {
        let more = "initial_window = \"4pkt\", recovery.initial_rto = \"100us\", recovery.min_rto = \"100us\"";
        let queues = "switch = { queues_per_port = 9 }";
        let mut bench = bench("newreno", &format!("{more}, tagging = {tagging}"), queues);
        bench.start(flow(0, 1, 20 * 960));
        // Two timeouts, and an ack: the next are the first ones in a row again.
        let mut after = |acks: Option<u64>| {
            if let Some(seq) = acks {
                let now = bench.net.now.ps();
                acked(&mut bench, now, seq, 0);
            }
            let timeouts = bench.hosts.tally.timeouts;
            while bench.hosts.tally.timeouts == timeouts {
                next_timer(&mut bench);
            }
            bench.hosts.ends.sending(0).flow.restart
        };
        [None, None, Some(2_880), None, None, None].map(&mut after)
    };
    // Four segments at once, and two more after the ack.
    let (none, taken) = (None, Some(6 * 960));
    assert_eq!(restarts("\"pias\""), [none, none, none, none, taken, taken]);
    assert_eq!(restarts("{ kind = \"pias\", reset_after = 0 }"), [none; 6]);
    assert_eq!(restarts("\"srpt\""), [none; 6]);
}

/// The priorities of all packets that host 0 has made, in their order: none has been freed.
fn priorities(bench: &Bench) -> Vec<u8> {
    let ids = 0..bench.net.totals.made_packets as PacketId;
    ids.map(|id| bench.net.packets[id].priority).collect()
}

#[test]
fn what_a_flow_had_in_flight_is_sent_again_at_the_best_level_after_three_timeouts() {
    for (repairs, again) in [("as-before", 1), ("as-next", 3), ("as-first", 1)] {
        let more = format!(
            "initial_window = \"8pkt\", recovery.initial_rto = \"100us\", recovery.min_rto = \"100us\", tagging = \
             {{ kind = \"pias\", thresholds = [\"1KB\", \"3KB\"], repairs = \"{repairs}\" }}"
        );
        let mut bench = bench("newreno", &more, "switch = { queues_per_port = 4 }");
        bench.start(flow(0, 1, 20 * 960));
        // Before them 0, 960, 1,920, ... bytes were sent.
        assert_eq!(priorities(&bench), [1, 1, 2, 2, 3, 3, 3, 3]);
        while bench.hosts.tally.timeouts < 3 {
            next_timer(&mut bench);
        }
        // The first segment, three times.
        assert_eq!(priorities(&bench)[8..], [again, again, 1], "{repairs}");
        let now = bench.net.now.ps();
        // Repairs of the second and third segment; then of all others but one.
        acked(&mut bench, now, 960, 0);
        acked(&mut bench, now, 2_880, 0);
        let repaired = priorities(&bench).len();
        assert!(repaired >= 14, "{repaired}");
        assert!(priorities(&bench)[11..].iter().all(|&level| level == 1), "{repairs}");
        // New data count from 0.
        acked(&mut bench, now, 7_680, 0);
        assert_eq!(priorities(&bench)[repaired..][..4], [1, 1, 2, 2], "{repairs}");
    }
}

/// An ack shows that four segments have arrived behind the first one, which is sent again. New data
/// keep their level.
#[test]
fn a_repair_without_a_timeout_has_the_level_that_is_asked_for() {
    for (repairs, again) in [("as-before", 1), ("as-next", 3), ("as-first", 1)] {
        let more = format!(
            "initial_window = \"8pkt\", tagging = {{ kind = \"pias\", thresholds = [\"1KB\", \
             \"3KB\"], repairs = \"{repairs}\" }}"
        );
        let mut bench = bench("newreno", &more, "switch = { queues_per_port = 4 }");
        bench.start(flow(0, 1, 40 * 960));
        let flags = flags::CONTROL | flags::SACK;
        let id = bench.make(Packet { flags, ..Packet::default() }, Contents::default());
        bench.hosts.sacks.of(id)[0] = (960, 5 * 960);
        bench.net.now = Time::from_us(50);
        bench.hosts.on_ack(&mut bench.net, &bench.scenario, id);
        assert_eq!((bench.hosts.tally.retransmitted, bench.hosts.tally.timeouts), (1, 0));
        // The repair has the place of the ack.
        assert_eq!(bench.net.packets.contents(id).seq, 0);
        assert_eq!(bench.net.packets[id].priority, again, "{repairs}");
        acked(&mut bench, 60 * US, 8 * 960, 0);
        let levels = &priorities(&bench)[9..];
        assert!(levels.len() > 3 && levels.iter().all(|&level| level == 3), "{levels:?}");
    }
}

#[test]
fn a_connection_that_does_not_open_takes_no_flow_back() {
    let more = "handshake = true, recovery.initial_rto = \"100us\", recovery.min_rto = \"100us\", tagging = \"qclimb\"";
    let mut bench = bench("newreno", more, "switch = { queues_per_port = 9 }");
    bench.start(flow(0, 1, 20 * 960));
    while bench.hosts.tally.timeouts < 3 {
        next_timer(&mut bench);
    }
    assert!(sender(&bench).is_connecting());
    assert_eq!(bench.hosts.ends.sending(0).flow.restart, None);
}

/// A window grows with an ack only while little waits at the host's own line.
#[test]
fn a_backlog_at_the_own_line_keeps_the_window_from_growing() {
    let mut bench = bench("newreno", "initial_window = \"4pkt\", host_backlog = \"2KB\"", "");
    bench.start(flow(0, 1, 20 * 960));
    let cwnd = |bench: &Bench| sender(bench).window().cwnd;
    // Four packets of 1 us each: at 2 us - 1 ns, 2,001 bytes are still to be sent.
    acked(&mut bench, 2 * US - NS, 960, 0);
    assert_eq!(cwnd(&bench), 4 * 960);
    // The segment that this lets go adds 1,000 bytes: 2,000 are left at 3 us.
    acked(&mut bench, 3 * US, 1_920, 0);
    assert_eq!(cwnd(&bench), 5 * 960);
}
