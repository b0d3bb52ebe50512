//! Pauses by hand, to the picosecond.
//!
//! A byte takes 1 ns on every line, and every line has a delay of 10 us, so a packet of 1,000 bytes
//! takes 1 us to be sent and a pause frame of 64 bytes 64 ns.

use super::Pause;
use crate::event::Kind;
use crate::port::Shortcuts;
use crate::testing::{Bench, NS, STAR, US};
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Contents, NO_PRIORITY, Packet, flags};

/// Hosts 0 and 2 send to host 1 through a switch with this `pfc`.
fn bench(pfc: &str) -> Bench {
    bench_with(pfc, "")
}

fn bench_with(pfc: &str, more: &str) -> Bench {
    let switch = format!("switch = {{ buffer = \"200KB\", pfc = {{ {pfc} }} }}");
    let mss = "transport = { kind = \"udp\", mss = \"960B\", header = \"40B\", rate = \"8Gbps\" }";
    let record = "record = { pauses = true }";
    Bench::with(&format!("{STAR}\n{switch}\n{mss}\n{record}\n{more}"), Shortcuts::ALL)
}

/// A host sends so many packets of 1,000 bytes to host 1.
fn launch(bench: &mut Bench, host: u32, packets: usize) {
    for _ in 0..packets {
        let packet = Packet { size: 1_000, dst: 1, priority: NO_PRIORITY, ..Packet::default() };
        bench.net.launch(host, packet, Contents::default());
    }
}

/// Handles all events up to this time, and counts packets that arrive at hosts without telling the
/// hosts, which know no flows.
fn run(bench: &mut Bench, until_ns: u64) -> Vec<(u64, Kind)> {
    let mut rare = Vec::new();
    while let Some(event) = bench.net.events.pop() {
        if event.time > Time::from_ns(until_ns) {
            bench.net.events.push(event.time, event.key);
            break;
        }
        bench.net.now = event.time;
        let (kind, number) = Kind::of(event.key);
        let arrived = match kind {
            Kind::Arrival => bench.net.on_arrival(number).map(|(_, id)| id),
            Kind::TakenIn => bench.net.on_taken_in(number),
            Kind::Wake => {
                bench.net.on_wake(number);
                None
            }
            Kind::Pause => {
                bench.net.on_pause(number);
                None
            }
            Kind::PauseEnd => {
                bench.net.on_pause_end(number);
                None
            }
            Kind::PauseRenewal => {
                bench.net.on_pause_renewal(number);
                None
            }
            other => panic!("{other:?}"),
        };
        if !matches!(kind, Kind::Arrival | Kind::Wake | Kind::TakenIn) {
            rare.push((event.time.ps(), kind));
        }
        if let Some(id) = arrived {
            bench.net.packets.remove(id);
        }
        for lost in std::mem::take(&mut bench.net.lost) {
            assert_eq!(lost.reason, DropReason::Headroom);
            bench.net.totals.lost_packets += 1;
            bench.net.totals.lost_bytes += u64::from(bench.net.packets[lost.packet].size);
            bench.net.packets.remove(lost.packet);
        }
        assert!(bench.net.is_conserved(), "at {}", event.time);
    }
    rare
}

fn ended(bench: &mut Bench) -> Vec<(u32, u64, Option<u64>)> {
    let pausing = bench.net.pausing.as_mut().expect("lossless");
    let row = |(_, pause): (u32, Pause)| (pause.line, pause.begin.ps(), pause.end.map(Time::ps));
    pausing.take_ended().into_iter().map(row).collect()
}

/// No reserve, threshold 3,000 bytes, resume at 1,000.
const STATIC: &str =
    "kind = \"static\", threshold = \"3KB\", resume_offset = \"2KB\", reserve = \"0B\"";

/// Two hosts send 20 packets each, from time 0, and packet n of both arrives at 11 + n us. At 11 us
/// host 0's packet passes and host 2's waits: 1 in its account. Each microsecond one packet leaves
/// and two come. Order of what waits at port 1: by arrival, host 0's before host 2's.
///
/// After the arrivals at 11 + n us, n + 1 packets of 2 (n + 1) have begun to be sent: they leave in
/// turn, 0, 2, 0, 2... After n = 0: account 0 holds 0, account 2 holds 1. At 12 us host 2's first
/// leaves (a port sends before packets arrive): then both have 1. 13 us: host 0's second leaves: 1
/// and 2. 14 us: 2 and 2. 15 us: 2 and 3: account 2 has reached 3,000 bytes, and pauses host 2. 16
/// us: host 2's third leaves and another comes: 3 and 3: account 0 pauses host 0.
///
/// The frame to host 2 goes on line 5 (from the switch to host 2), which is idle, at 15 us: it
/// arrives at 15.064 + 10 = 25.064 us. That to host 0 acts at 26.064 us.
#[test]
fn a_pause_is_sent_when_an_account_reaches_its_threshold_and_acts_at_the_next_packet() {
    let mut bench = bench(STATIC);
    launch(&mut bench, 0, 20);
    launch(&mut bench, 2, 20);
    let pauses = run(&mut bench, 26_500);
    assert_eq!(pauses, [(25_064 * NS, Kind::Pause), (26_064 * NS, Kind::Pause)]);
    // Hosts had sent all 20 packets by then.
    assert_eq!([0, 2].map(|line| bench.net.lines[line].accepted_bytes), [20_000; 2]);
}

/// The same with 40 packets. Host 2's packet that began at 25 us is finished at 26 us, and its next
/// one does not begin. Host 0's last packet began at 26 us.
///
/// So host 2 has sent 26 packets in all, and the last arrives at 36 us. Host 0 has sent 27, and the
/// last arrives at 37 us.
///
/// Departures go on in the order of arrival, one per microsecond. The packets of both up to host
/// 2's 26th are 52, and host 0's 27th is the 53rd. The k-th leaves at 10 + k us. An account goes on
/// when its headroom is empty and it has at most 1,000 bytes. Host 2's 25th, the 50th of all,
/// leaves at 60 us, when one is left: the frame arrives at 70.064 us, and host 2's NIC sends from
/// then on. Host 0's are the 1st, 3rd ..., so its 26th is the 51st and leaves at 61 us, with one
/// left: its frame acts at 71.064 us.
#[test]
fn a_pause_ends_when_the_account_has_fallen_by_the_offset() {
    let mut bench = bench(STATIC);
    launch(&mut bench, 0, 40);
    launch(&mut bench, 2, 40);
    run(&mut bench, 40_000);
    assert_eq!([0, 2].map(|line| bench.net.lines[line].accepted_bytes), [27_000, 26_000]);
    assert_eq!(bench.net.totals.lost_packets, 0);
    let pauses = run(&mut bench, 71_500);
    assert_eq!(pauses, [(70_064 * NS, Kind::Pause), (71_064 * NS, Kind::Pause)]);
    // By line: 0 and 2 are the hosts'.
    let (first, second) =
        ((2, 25_064 * NS, Some(70_064 * NS)), (0, 26_064 * NS, Some(71_064 * NS)));
    assert_eq!(ended(&mut bench), [first, second]);
    // Host 2's packet begins when the pause ends, at 70.064 us, and the next one a microsecond
    // later.
    assert_eq!(bench.net.lines[2].busy_until.ps(), 72_064 * NS);
    run(&mut bench, 1_000_000);
    assert_eq!(bench.net.totals.arrived_packets, 80);
}

/// No host obeys. Both send all 40 packets, and the last ones arrive at 50 us. By then 40 packets
/// have begun to be sent, from 11 us on. Each account holds 3,000 bytes and 2,000 of headroom, so
/// 10 packets wait. 30 of 80 are lost.
#[test]
fn pauses_that_nobody_obeys_lose_what_headroom_does_not_hold() {
    let mut bench = bench(&format!("{STATIC}, headroom = \"2KB\", obeyed = false"));
    launch(&mut bench, 0, 40);
    launch(&mut bench, 2, 40);
    let frames = run(&mut bench, 1_000_000);
    assert!(frames.iter().all(|(_, kind)| *kind == Kind::Pause) && frames.len() >= 2, "{frames:?}");
    assert_eq!(ended(&mut bench), []);
    let totals = bench.net.totals;
    assert_eq!((totals.arrived_packets, totals.lost_packets), (50, 30));
}

/// Headroom for the worst alignment. The reverse line has just begun a packet of 1,000 bytes when a
/// pause is to be sent, and the sender has just begun one when it acts.
///
/// Host 1 is busy for ever (its port is paused by hand), so nothing leaves. Host 0 sends without
/// end from time 0: packets arrive at 11, 12 ... us. The third reaches the threshold of 3,000 bytes
/// at 13 us. A packet for host 0 has begun on line 3 at 13 us - 1 ps: the frame begins 1 us later
/// and acts at 13 us - 1 ps + 1 us + 64 ns + 10 us = 24.064 us - 1 ps. The response time is chosen
/// so that it acts 1 ps after host 0 has begun a packet at a whole microsecond: 936,002 ps, so it
/// acts at 25 us + 1 ps. The packet of 25 us arrives at 36 us. So packets 4 to 26 arrive after the
/// pause was sent, 23 of them.
///
/// The formula: 2 * 10,000 + 2 * 1,000 + 64 + 937 (936.002 rounded up) = 23,001 bytes.
#[test]
fn the_formula_s_headroom_suffices_in_the_worst_alignment_and_not_a_packet_less() {
    let lost = |headroom: &str| {
        let pfc = format!(
            "{STATIC}, response_time = \"936002ps\", headroom = \"{headroom}\", priorities = [0]"
        );
        let mut bench = bench(&pfc);
        bench.net.switches[0].pause(1, 0, true);
        launch(&mut bench, 0, 100);
        bench.net.now = Time::from_ps(1_999_999);
        // It arrives at the switch 11 us later, at 12,999,999 ps.
        let packet = Packet { size: 1_000, dst: 0, priority: NO_PRIORITY, ..Packet::default() };
        bench.net.launch(2, packet, Contents::default());
        let pauses = run(&mut bench, 100_000);
        assert_eq!(pauses, [(25_000_001, Kind::Pause)]);
        let accounts = bench.net.switches[0].accounts().expect("lossless");
        (bench.net.totals.lost_packets, accounts.headroom_peak())
    };
    assert_eq!(lost("auto"), (0, 23_000));
    assert_eq!(lost("23000B"), (0, 23_000));
    // One byte less has no room for the last packet.
    assert_eq!(lost("22999B"), (1, 22_000));
}

/// The same with two lossless priorities: a frame about the other priority may have to go first.
/// Here that frame lets the other priority go on. It waits for a packet for host 0 that has begun
/// on line 3 at 12.999 us, and leaves at 13.999 us. The pause is sent at 13 us, and leaves from
/// 14.063 to 14.127 us. With a response time of 873,001 ps it acts at 25 us + 1 ps, so 23 packets
/// arrive after it, as above.
///
/// The formula: 2 * 10,000 + 2 * 1,000 + 2 * 64 + 874 (873.001 rounded up) = 23,002 bytes. With one
/// frame they would be 22,938.
#[test]
fn the_formula_s_headroom_suffices_where_a_frame_about_another_priority_goes_first() {
    let lost = |headroom: &str| {
        let mut bench = Bench::with(
            &format!(
                "{STAR}\nswitch = {{ buffer = \"400KB\", queues_per_port = 2, pfc = {{ {STATIC}, \
                 response_time = \"873001ps\", headroom = \"{headroom}\", priorities = [0, 1] }} }}\n\
                 transport = {{ kind = \"udp\", mss = \"960B\", header = \"40B\", rate = \"8Gbps\" }}"
            ),
            Shortcuts::ALL,
        );
        bench.net.switches[0].pause(1, 0, true);
        let packet = |dst: u32| Packet { size: 1_000, dst, priority: 0, ..Packet::default() };
        (0..100).for_each(|_| bench.net.launch(0, packet(1), Contents::default()));
        bench.net.now = Time::from_ns(1_999);
        bench.net.launch(2, packet(0), Contents::default());
        run(&mut bench, 12_999);
        bench.net.send_pause((0, 1), false);
        let frames = run(&mut bench, 100_000);
        assert_eq!(frames, [(24_936_001, Kind::Pause), (25_000_001, Kind::Pause)]);
        let accounts = bench.net.switches[0].accounts().expect("lossless");
        (bench.net.totals.lost_packets, accounts.headroom_peak())
    };
    assert_eq!(lost("auto"), (0, 23_000));
    assert_eq!(lost("23002B"), (0, 23_000));
    assert_eq!(lost("22938B"), (1, 22_000));
}

/// The same, but the shared bytes run out before the threshold is reached. The packet that causes
/// the pause then goes into headroom too, so 24 packets need room there.
///
/// The buffer has 2,500 bytes beside the headroom of three accounts. The third packet of host 0, at
/// 13 us, finds 500 of them free. The reverse line has just begun a packet then, and the pause acts
/// at 25 us + 1 ps. With the formula's headroom no packet is lost, whichever packet finds nothing
/// free.
#[test]
fn the_formula_has_room_for_the_packet_that_finds_what_is_shared_full() {
    let run = |headroom: &str, buffer: u64, full_at_us: u64| {
        let pfc = format!(
            "kind = \"static\", threshold = \"6KB\", resume_offset = \"2KB\", reserve = \"0B\", \
             response_time = \"936002ps\", headroom = \"{headroom}\""
        );
        let mut bench = Bench::with(
            &format!(
                "{STAR}\nswitch = {{ buffer = \"{buffer}B\", pfc = {{ {pfc} }} }}\n\
                 transport = {{ kind = \"udp\", mss = \"960B\", header = \"40B\", rate = \"8Gbps\" }}"
            ),
            Shortcuts::ALL,
        );
        bench.net.switches[0].pause(1, 0, true);
        launch(&mut bench, 0, 100);
        bench.net.now = Time::from_ps((full_at_us - 11) * US - 1);
        let packet = Packet { size: 1_000, dst: 0, priority: NO_PRIORITY, ..Packet::default() };
        bench.net.launch(2, packet, Contents::default());
        let pauses = run(&mut bench, 100_000);
        let accounts = bench.net.switches[0].accounts().expect("lossless");
        let acts = pauses.last().map(|pause| pause.0);
        (bench.net.totals.lost_packets, accounts.headroom_peak(), acts)
    };
    // Host 2's packet finds nothing free either, and pauses host 2 for a moment.
    let acts = Some(25 * US + 1);
    assert_eq!(run("24000B", 3 * 24_000 + 2_500, 13), (0, 24_000, acts));
    assert_eq!(run("23999B", 3 * 23_999 + 2_500, 13), (1, 23_000, acts));
    for full_at_us in 12..18 {
        let (lost, _, _) = run("auto", 3 * 24_001 + 2_500, full_at_us);
        assert_eq!(lost, 0, "{full_at_us}");
    }
}

/// If the packet that crosses the threshold goes into headroom, one packet more needs room there.
#[test]
fn a_packet_that_crosses_into_headroom_needs_room_there() {
    let peak = |crosses: &str| {
        // Not a multiple of a packet: the third packet crosses it.
        let pfc = format!(
            "kind = \"static\", threshold = \"2500B\", resume_offset = \"1KB\", reserve = \"0B\", \
             headroom = \"40KB\", priorities = [0], crosses_into = \"{crosses}\""
        );
        let mut bench = bench(&pfc);
        bench.net.switches[0].pause(1, 0, true);
        launch(&mut bench, 0, 100);
        let pauses = run(&mut bench, 100_000);
        assert_eq!(pauses, [(23_064 * NS, Kind::Pause)]);
        bench.net.switches[0].accounts().expect("lossless").headroom_peak()
    };
    // The packets that arrive from 14 to 34 us: host 0 began its last at 23 us.
    assert_eq!([peak("shared"), peak("headroom")], [21_000, 22_000]);
}

/// If pauses do not stop a host's queue of acks, the host goes on with acks. With `pauses_acks`,
/// and one queue for acks and data, it does not.
#[test]
fn acks_stop_only_if_they_share_a_paused_priority_and_the_nic_says_so() {
    let left = |more: &str| {
        let mut bench = bench_with(STATIC, more);
        bench.net.nics[0].pause(0, true);
        launch(&mut bench, 0, 2);
        let flags = flags::CONTROL;
        let ack = Packet { size: 50, dst: 1, priority: NO_PRIORITY, flags, ..Packet::default() };
        bench.net.launch(0, ack, Contents::default());
        run(&mut bench, 5_000);
        bench.net.lines[0].accepted_bytes
    };
    assert_eq!(left(""), 0);
    // The ack waits behind data in the only queue.
    assert_eq!(left("nic = { pauses_acks = false }"), 0);
    assert_eq!(left("nic = { queues = 2, ack_queue = 0, data_queue = 1 }"), 0);
    assert_eq!(
        left("nic = { queues = 2, ack_queue = 0, data_queue = 1, pauses_acks = false }"),
        50
    );
}

/// With quanta a pause ends by itself unless its frame is repeated. 100 quanta are the time of
/// 6,400 bytes, 6.4 us. The frame is repeated every 5 us.
///
/// Host 0's third packet causes a frame at 13 us. The frame acts at 23.064 us, until 29.464 us. The
/// second frame leaves at 18 us and acts at 28.064, until 34.464. Another follows every 5 us.
///
/// Another frame ends the pause sooner, unless only quanta end pauses.
#[test]
fn quanta_end_a_pause_that_is_not_said_again_unless_a_frame_does() {
    for (ends, end) in [("quanta-only", 74_464), ("quanta", 70_064)] {
        quanta_end_a_pause(ends, end * NS);
    }
}

fn quanta_end_a_pause(ends: &str, end: u64) {
    let pfc = format!(
        "{STATIC}, ends = \"{ends}\", quanta = 100, refresh_after = \"5us\", priorities = [0]"
    );
    let mut bench = bench(&pfc);
    bench.net.switches[0].pause(1, 0, true);
    launch(&mut bench, 0, 40);
    let events = run(&mut bench, 38_000);
    let times = |kind: Kind| -> Vec<u64> {
        events.iter().filter(|event| event.1 == kind).map(|event| event.0 / NS).collect()
    };
    assert_eq!(times(Kind::PauseRenewal), [18_000, 23_000, 28_000, 33_000, 38_000]);
    assert_eq!(times(Kind::Pause), [23_064, 28_064, 33_064]);
    // Their ends come, but only the last frame's counts.
    assert_eq!(times(Kind::PauseEnd), [29_464, 34_464]);
    assert_eq!(ended(&mut bench), []);
    // Now what waits is sent: 24 packets came to the switch, of which the 23rd leaves 1 there.
    assert_eq!(bench.net.lines[0].accepted_bytes, 24_000);
    bench.net.now = Time::from_us(38);
    bench.net.switches[0].pause(1, 0, false);
    bench.net.send_unpaused(4);
    // One packet leaves at 38 us, the 23rd at 60 us. The last repeated frame leaves at 58 us and
    // acts at 68.064 us, until 74.464 us. The frame that ends the pause leaves at 60 us.
    run(&mut bench, 80_000);
    assert_eq!(ended(&mut bench)[0], (0, 23_064 * NS, Some(end)));
}

/// Host 1 takes in a byte in 2 ns: a packet takes 2 us. It pauses the switch with 3,000 bytes
/// waiting, and lets it go on at 1,000.
///
/// Packets arrive at host 1 from 22 us on, one each microsecond: the first is taken in at 24 us. At
/// 22, 23 us 1 and 2 wait; at 24 us the third arrives, before the first is taken in: three, so it
/// pauses at 24 us. The frame acts at 34.064 us: the switch has begun a packet at 34 us, which
/// arrives at 45 us: 24 packets in all. At 24 + 2 k us the (k + 1)-th has been taken in: one is
/// left after the 23rd, at 68 us; the frame acts at 78.064 us.
#[test]
fn a_host_that_is_slow_to_take_in_packets_pauses_its_switch() {
    let nic = "nic = { receive_rate = \"4Gbps\", receive_buffer = \"100KB\", receive_threshold = \
               \"3KB\" }";
    let mut bench = bench_with(&format!("{STATIC}, headroom = \"64KB\""), nic);
    launch(&mut bench, 0, 40);
    let pauses = run(&mut bench, 80_000);
    let of_switch: Vec<_> = ended(&mut bench).into_iter().filter(|row| row.0 == 4).collect();
    assert_eq!(of_switch, [(4, 34_064 * NS, Some(78_064 * NS))]);
    // The switch holds what comes meanwhile, and pauses host 0: at 37 us three wait there.
    assert!(pauses.contains(&(47_064 * NS, Kind::Pause)), "{pauses:?}");
    run(&mut bench, 400_000);
    assert_eq!((bench.net.totals.arrived_packets, bench.net.totals.lost_packets), (40, 0));
}

/// With `release = "end"` a packet's bytes are freed when its last bit has left, even if a pause
/// frame follows it on the line.
///
/// Host 2's packet for host 0 is on line 3 from 12.5 to 13.5 us. At 13 us the third packet of host
/// 0 reaches its threshold: the frame follows from 13.5 to 13.564 us, and acts 10 us later. Then a
/// packet that came at 13.4 us is sent, until 14.464 us.
#[test]
fn a_packet_ahead_of_a_pause_frame_is_freed_when_it_has_left() {
    let mut bench = Bench::with(
        &format!(
            "{STAR}\nswitch = {{ buffer = \"200KB\", release = \"end\", pfc = {{ {STATIC} }} }}\n\
             transport = {{ kind = \"udp\", mss = \"960B\", header = \"40B\", rate = \"8Gbps\" }}"
        ),
        Shortcuts::ALL,
    );
    bench.net.switches[0].pause(1, 0, true);
    launch(&mut bench, 0, 3);
    let packet = |size: u32| Packet { size, dst: 0, priority: NO_PRIORITY, ..Packet::default() };
    bench.net.now = Time::from_ns(1_500);
    bench.net.launch(2, packet(1_000), Contents::default());
    bench.net.now = Time::from_ns(2_500);
    bench.net.launch(2, packet(900), Contents::default());
    let mut held = |until_ns: u64| {
        let pauses = run(&mut bench, until_ns);
        // Of hosts 0 and 2.
        let accounts = bench.net.switches[0].accounts().expect("lossless");
        ([0, 2].map(|account| accounts.held(account)), bench.net.switches[0].occupancy(), pauses)
    };
    assert_eq!(held(13_399), ([3_000, 1_000], 4_000, vec![]));
    assert_eq!(held(13_499), ([3_000, 1_900], 4_900, vec![]));
    assert_eq!(held(13_500), ([3_000, 900], 3_900, vec![]));
    assert_eq!(held(14_463), ([3_000, 900], 3_900, vec![]));
    assert_eq!(held(14_464), ([3_000, 0], 3_000, vec![]));
    assert_eq!(held(24_000).2, [(23_564 * NS, Kind::Pause)]);
}

/// Four switches in a ring, each with a host that sends two hops clockwise from time 0.
///
/// A host's packets come to its switch at 11, 12 ... us, and to the next one at 22, 23 ... us: from
/// then on a switch's line to the next one has two packets to send each microsecond, that of the
/// host first. At 22 us the host's passes, and one of the neighbour's waits. As in the star above,
/// by turns one of either leaves and one of both comes: 1 and 1 at 23 us, 1 and 2 at 24, 2 and 2 at
/// 25, 2 and 3 at 26 us. So all four switches pause their neighbours at 26 us: on the idle lines
/// back the frames act at 36.064 us, and with the fourth of them the cycle closes.
#[test]
fn a_deadlock_is_found_when_the_last_pause_acts_unless_a_frame_will_end_one() {
    for ends in [
        "\"resume\"",
        "\"quanta\", quanta = 900, refresh_after = \"40us\"",
        "\"quanta-only\", quanta = 900, refresh_after = \"40us\"",
    ] {
        let line = "rate = \"8Gbps\", delay = \"10us\"";
        let names = ["a", "b", "c", "d"];
        let switch = names.map(|at| format!("{{ name = \"{at}\" }}")).join(", ");
        let host = names.map(|at| format!("{{ name = \"h{at}\", switch = \"{at}\", {line} }}"));
        let next = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")];
        let link = next.map(|(a, b)| format!("{{ a = \"{a}\", b = \"{b}\", {line} }}"));
        let mut bench = Bench::with(
            &format!(
                "topology = {{ kind = \"graph\", switch = [{switch}], host = [{}], link = [{}] }}\n\
                 switch = {{ buffer = \"1MB\", pfc = {{ {STATIC}, on_deadlock = \"continue\", ends = \
                 {ends} }} }}\n\
                 transport = {{ kind = \"udp\", mss = \"960B\", header = \"40B\", rate = \"8Gbps\" }}",
                host.join(", "),
                link.join(", "),
            ),
            Shortcuts::ALL,
        );
        for host in 0..4 {
            // Of two next hops the first leads clockwise from a, the second from the others.
            let path = u32::from(host > 0);
            let (dst, flags) = ((host + 2) % 4, flags::EXPLICIT_PATH);
            let packet = Packet {
                size: 1_000,
                dst,
                path,
                flags,
                priority: NO_PRIORITY,
                ..Packet::default()
            };
            (0..100).for_each(|_| bench.net.launch(host, packet, Contents::default()));
        }
        let found = |bench: &mut Bench| {
            bench.net.deadlocks.as_mut().expect("cycles are possible").found.take()
        };
        let acts: Vec<(u64, Kind)> = run(&mut bench, 36_063);
        assert_eq!((acts, found(&mut bench)), (vec![], None));
        run(&mut bench, 36_064);
        let deadlock = found(&mut bench).expect("the cycle has closed");
        assert_eq!((deadlock.time.ps(), deadlock.members.len()), (36_064 * NS, 4));
        bench.net.look_for_deadlock();
        assert_eq!(found(&mut bench), Some(deadlock.clone()));
        // One of them is about to go on: whether the cycle holds is seen when that pause has ended.
        bench.net.send_pause(deadlock.members[2], false);
        bench.net.look_for_deadlock();
        assert_eq!(found(&mut bench), None);
    }
}

/// At 800 Gbps 64 bytes take 640 ps, cut to none. Two frames that wait for the same packet still
/// act in the order in which they were sent.
#[test]
fn frames_act_in_the_order_in_which_they_were_sent() {
    let text = format!(
        "topology = {{ kind = \"star\", hosts = 3, host_rate = \"800Gbps\", link_delay = \"10us\", whole_ns = \
         true }}\nswitch = {{ buffer = \"20MB\", pfc = {{ {STATIC} }} }}\n\
         transport = {{ kind = \"udp\", mss = \"960B\", header = \"40B\", rate = \"8Gbps\" }}\n\
         record = {{ pauses = true }}"
    );
    let mut bench = Bench::with(&text, Shortcuts::ALL);
    bench.net.lines[3].busy_until = Time::from_ns(10);
    for pauses in [true, false] {
        bench.net.send_pause((0, 0), pauses);
    }
    run(&mut bench, 20_000);
    // 10 ns until the line is free, 10 us of delay; each frame lasts a picosecond.
    assert_eq!(ended(&mut bench), [(0, 10_010_001, Some(10_010_002))]);
}
