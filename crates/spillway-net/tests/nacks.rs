//! Go-back-N and IRN end to end: losses placed by hand, and the times of what follows from them.
//!
//! Most runs have two lines of 10 Gbps and 10 us each. A full packet takes 22.4 us, and its ack, or
//! a NACK, 20.0832 us. Twenty packets are given to the NIC together at time 0; one leaves every 1.2
//! us.

use crate::common::*;
use spillway_net::simulation::Progress;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const THERE: u64 = 22_400 * NS;
const BACK: u64 = 20_083_200;
const RTT: u64 = THERE + BACK;
const PACKET: u64 = 1_200 * NS;

const PAIR: &str = "duration = \"20ms\"\nstop = \"1s\"\n\
                    topology = { kind = \"star\", hosts = 2, host_rate = \"10Gbps\", link_delay = \"10us\" }";

const GO_BACK: &str = "initial_window = \"flow\"\nrecovery.kind = \"go-back-n\"";
const SELECTIVE: &str = "initial_window = \"flow\"\nrecovery.kind = \"selective\"";

/// The link of host 0 loses what is put on it within 100 ns of these times, in both directions.
fn losses(times_ps: &[u64]) -> String {
    let event = |&time: &u64| loss(time.saturating_sub(100_000), time + 100_000);
    times_ps.iter().map(event).collect()
}

fn loss(from_ps: u64, until_ps: u64) -> String {
    format!(
        "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\n\
         at = \"{from_ps}ps\"\nuntil = \"{until_ps}ps\"\n"
    )
}

/// A flow of this many packets from host 0 to host 1.
fn run_of(packets: u64, network: &str, transport: &str, events: &str) -> Run {
    let text = format!("{network}\n{events}\n[transport]\n{transport}");
    run_flows(&text, &[(0, 1, packets * MSS, 0)])
}

/// The same, which is complete; what is sent at the times `lost_at` is lost.
fn flow(packets: u64, transport: &str, lost_at: &[u64]) -> Run {
    let run = run_of(packets, PAIR, transport, &losses(lost_at));
    assert_eq!(run.progress, Progress::Complete);
    assert_eq!(run.flows[0].delivered, packets * MSS);
    assert_eq!(run.all_drops(), lost_at.len() as u64, "{:?}", run.lost());
    run
}

/// The time of the flow, how many packets were sent again, how many timeouts it had, and how many
/// packets came too early and were discarded.
fn counts(run: &Run) -> (u64, u32, u32, f64) {
    let row = &run.flows[0];
    (run.fct(0), row.retransmitted, row.timeouts, run.number("repairs.all.discarded_packets"))
}

/// The NACK of the packet behind the lost one is at the sender with the time of that packet's ack.
fn nack_of(packet: u64) -> u64 {
    packet * PACKET + RTT
}

// Go-back-N
// ----------------------------------------------------------------------------------------

/// Number 5 is lost. Number 6 causes a NACK, and 5 to 19 are sent again, one after the other. The
/// first 6 to 19 are discarded.
#[test]
fn one_loss_sends_everything_behind_it_again() {
    for kind in ["dctcp", "newreno", "cubic"] {
        let transport = format!("kind = \"{kind}\"\n{GO_BACK}");
        let run = flow(20, &transport, &[5 * PACKET]);
        assert_eq!(counts(&run), (nack_of(6) + 14 * PACKET + THERE, 15, 0, 14.0));
        assert_eq!(run.number("repairs.all.repairs_by_detection"), 15.0);
        assert_eq!(run.number("repairs.all.arrived_twice"), 0.0);
        // The first packet is lost.
        let run = flow(20, &transport, &[0]);
        assert_eq!(counts(&run), (nack_of(1) + 19 * PACKET + THERE, 20, 0, 19.0));
    }
    // Two that follow one another have one NACK, and two that do not have two: 5, then 9 from where
    // the sender has gone back to.
    let run = flow(20, GO_BACK, &[5 * PACKET, 6 * PACKET]);
    assert_eq!(counts(&run), (nack_of(7) + 14 * PACKET + THERE, 15, 0, 13.0));
    let run = flow(20, GO_BACK, &[5 * PACKET, nack_of(6) + 4 * PACKET]);
    let second = nack_of(6) + 5 * PACKET + RTT;
    assert_eq!(counts(&run), (second + 10 * PACKET + THERE, 15 + 11, 0, 14.0 + 10.0));
}

/// A window of four packets: 0 to 3 are sent at once. 1 is lost, and 2 causes a NACK: 1, 2 and 3
/// again, and 4, which the window allows since 0 is acknowledged, and has allowed before.
#[test]
fn a_window_begins_at_the_first_packet_that_is_not_acknowledged() {
    let transport = "kind = \"newreno\"\ninitial_window = \"4pkt\"\nslow_start = false\n\
                     recovery.kind = \"go-back-n\"";
    let run = flow(6, transport, &[PACKET]);
    // 4 was sent with the ack of 0, when the window had grown to 4.25 packets. After the NACK of 2
    // come 1 to 4; the ack of 1 lets 5 go.
    let nack = nack_of(2);
    assert_eq!(counts(&run), (nack + RTT + THERE, 4, 0, 3.0));
}

/// Links of 100 us: a packet takes 202.4 us there, its ack 200.0832 us. Number 5 of 120 is lost.
/// Number 6 causes a NACK after 7.2 + 202.4 us, and at 409.6832 us the sender goes back. 5 is lost
/// again. The first packet that comes 500 us or more after the NACK is number 87 of those that are
/// sent again, at 409.6832 + 82 * 1.2 + 202.4 = 710.4832 us. It causes the second NACK.
#[test]
fn a_packet_that_is_lost_again_is_told_of_after_500_us() {
    let network = PAIR.replace("10us", "100us");
    let (there, back) = (202_400 * NS, 200_083_200);
    let first = 6 * PACKET + there + back;
    let second = first + 82 * PACKET + there + back;
    assert_eq!([first, second], [409_683_200, 910_566_400]);
    let lost = losses(&[5 * PACKET, first]);
    let run = run_of(120, &network, GO_BACK, &lost);
    assert_eq!((run.progress, run.all_drops()), (Progress::Complete, 2));
    let fct = second + 114 * PACKET + there;
    assert_eq!(counts(&run), (fct, 2 * 115, 0, 2.0 * 114.0));
    // With an interval of 480 us it is number 71: 480 us later than the first NACK.
    let sooner = format!("{GO_BACK}\nrecovery.nack_interval = \"480us\"");
    let run = run_of(120, &network, &sooner, &lost);
    let second = first + 65 * PACKET + there + back;
    assert_eq!(counts(&run).0, second + 114 * PACKET + there);
}

/// The last packet is lost, and nothing behind it can tell. The flow stalls: the run ends when
/// nothing is left to happen, and waits for nothing.
#[test]
fn a_lost_tail_without_a_timeout_stalls_its_flow() {
    let none = format!("{GO_BACK}\nrecovery.ack_timeout = \"none\"");
    let run = run_of(20, PAIR, &none, &losses(&[19 * PACKET]));
    assert_eq!(
        (run.progress, run.summary["status"].as_str()),
        (Progress::Stopped, Some("stopped"))
    );
    let row = &run.flows[0];
    assert_eq!((row.fct_ps, row.delivered, row.timeouts), (None, 19 * MSS, 0));
    assert_eq!(run.number("fct_slowdown.all.unfinished"), 1.0);
    // It has waited until the stop, though the run ended with the window of measurement.
    assert_eq!(run.number("fct_us.all.max"), 1e6);
    assert_eq!(run.number("simulated_s"), 0.02);
    // If the loss is in the middle, a NACK tells.
    let run = flow(20, &none, &[5 * PACKET]);
    assert_eq!(counts(&run), (nack_of(6) + 14 * PACKET + THERE, 15, 0, 14.0));
}

/// Samples come at regular times, and do not keep a run with a stalled flow alive.
#[test]
fn samples_of_a_stalled_flow_end() {
    let none = format!("{GO_BACK}\nrecovery.ack_timeout = \"none\"");
    for (record, policy) in [
        ("queue_interval = \"10us\"", "cs"),
        ("queue_interval = \"10us\", link_interval = \"7us\", aqm_interval = \"3us\"", "cs"),
        ("windows = [0], port_interval = \"9us\"", "cs"),
        ("queue_interval = \"10us\"", "abm"),
    ] {
        let network = format!(
            "{PAIR}\nrecord = {{ {record} }}\n\
             switch = {{ buffer = \"1MB\", sharing = \"{policy}\" }}"
        );
        let run = run_of(20, &network, &none, &losses(&[19 * PACKET]));
        assert_eq!((run.progress, run.flows[0].fct_ps), (Progress::Stopped, None), "{record}");
        let simulated = run.number("simulated_s");
        assert!((0.02..0.0201).contains(&simulated), "{record}, {policy}: {simulated}");
    }
}

/// The ack of 18 restarts the timer. After a millisecond the last packet is sent again.
#[test]
fn a_lost_tail_waits_for_the_timeout() {
    let transport = format!("{GO_BACK}\nrecovery.ack_timeout = \"1ms\"");
    let run = flow(20, &transport, &[19 * PACKET]);
    let timeout = nack_of(18) + 1_000 * US;
    assert_eq!(counts(&run), (timeout + THERE, 1, 1, 0.0));
    assert_eq!(run.number("repairs.all.repairs_by_timeout"), 1.0);
    // It is lost once more: the timeout does not change.
    let run = flow(20, &transport, &[19 * PACKET, timeout]);
    assert_eq!(counts(&run), (timeout + 1_000 * US + THERE, 2, 2, 0.0));
}

/// The NACK of 6 is lost, and those of later packets come too soon after it. The ack of 4 has
/// restarted the timer. 5 to 19 are sent again; all but 5 were discarded.
#[test]
fn a_lost_nack_waits_for_the_timeout() {
    let transport = format!("{GO_BACK}\nrecovery.ack_timeout = \"200us\"");
    // The NACK is put on the line to host 0 after 10 us and its own 41.6 ns.
    let at = 6 * PACKET + THERE + 10_041_600;
    let run = flow(20, &transport, &[5 * PACKET, at]);
    let timeout = nack_of(4) + 200 * US;
    assert_eq!(counts(&run), (timeout + 14 * PACKET + THERE, 15, 1, 14.0));
}

/// The acks of 17 to 19 are lost. After the timeout 17 to 19 are sent again, and have arrived
/// before: if they are not answered, the flow is never acknowledged.
#[test]
fn what_has_arrived_before_is_answered_unless_a_receiver_is_silent() {
    let at = |packet: u64| packet * PACKET + THERE + 10_041_600;
    let lost = losses(&[at(17), at(18), at(19)]);
    let network = format!("completion = \"last-ack\"\n{}", PAIR.replace("1s", "25ms"));
    let answers = format!("{GO_BACK}\nrecovery.ack_timeout = \"1ms\"");
    let run = run_of(20, &network, &answers, &lost);
    let timeout = nack_of(16) + 1_000 * US;
    // The ack of 17 is for all.
    assert_eq!(counts(&run), (timeout + RTT, 3, 1, 0.0));
    assert_eq!(run.number("repairs.all.arrived_twice"), 3.0);
    let silent = format!("{answers}\nrecovery.old_packets = \"silent\"");
    let run = run_of(20, &network, &silent, &lost);
    // A timeout every millisecond, for 25 ms.
    assert_eq!((run.progress, run.flows[0].fct_ps), (Progress::Stopped, None));
    assert_eq!((run.flows[0].delivered, run.flows[0].timeouts), (20 * MSS, 24));
    assert_eq!(run.number("repairs.all.arrived_twice"), 24.0 * 3.0);
}

/// Packets are lost for a microsecond when the window of a bandwidth-delay product is full. Senders
/// with a pace go back, or send again, as their acks and their pace allow.
#[test]
fn paced_senders_repair_at_their_pace() {
    let lost = loss(60 * US, 61_500 * NS);
    for kind in ["timely", "hpcc", "powertcp", "theta-powertcp"] {
        let run = |way: &str| {
            let run =
                run_of(200, PAIR, &format!("kind = \"{kind}\"\nrecovery.kind = \"{way}\""), &lost);
            assert_eq!((run.progress, run.flows[0].timeouts), (Progress::Complete, 0), "{kind}");
            assert_eq!(run.number("repairs.all.arrived_twice"), 0.0, "{kind}");
            let lost = run.lost().iter().filter(|loss| loss.size > 100).count();
            assert!(lost > 0, "{kind}");
            (lost as f64, counts(&run))
        };
        // Go-back-N sends again what was lost and what was discarded, the rest of a window.
        let (lost, (_, again, _, discarded)) = run("go-back-n");
        assert_eq!(f64::from(again), lost + discarded, "{kind}");
        assert!(discarded > 20.0, "{kind}: {discarded}");
        let (lost, (_, again, _, discarded)) = run("selective");
        assert_eq!((f64::from(again), discarded), (lost, 0.0), "{kind}");
    }
}

// IRN
// ----------------------------------------------------------------------------------------------

/// Number 5 is lost. Number 6 causes a NACK, and 5 alone is sent again.
#[test]
fn one_loss_sends_one_packet_again() {
    for kind in ["dctcp", "newreno", "cubic"] {
        let run = flow(20, &format!("kind = \"{kind}\"\n{SELECTIVE}"), &[5 * PACKET]);
        assert_eq!(counts(&run), (nack_of(6) + THERE, 1, 0, 0.0));
    }
    // 7 is lost too: the NACK of 8 shows it.
    let run = flow(20, SELECTIVE, &[5 * PACKET, 7 * PACKET]);
    assert_eq!(counts(&run), (nack_of(8) + THERE, 2, 0, 0.0));
    // 6 is lost too: the NACK of 7 is the first, and shows both.
    let run = flow(20, SELECTIVE, &[5 * PACKET, 6 * PACKET]);
    assert_eq!(counts(&run), (nack_of(7) + PACKET + THERE, 2, 0, 0.0));
}

/// 5 is lost again. The NACK of 19 is the last one, and restarts the timer: with 15 packets in
/// flight it is the long one.
#[test]
fn a_packet_that_is_lost_again_waits_for_the_long_timeout() {
    let run = flow(20, SELECTIVE, &[5 * PACKET, nack_of(6)]);
    assert_eq!(counts(&run), (nack_of(19) + 320 * US + THERE, 2, 1, 0.0));
    let run =
        flow(20, &format!("{SELECTIVE}\nrecovery.rto_high = \"1ms\""), &[5 * PACKET, nack_of(6)]);
    assert_eq!(counts(&run), (nack_of(19) + 1_000 * US + THERE, 2, 1, 0.0));
    // 15 packets may be few.
    let many = format!("{SELECTIVE}\nrecovery.rto_low_packets = 15");
    let run = flow(20, &many, &[5 * PACKET, nack_of(6)]);
    assert_eq!(counts(&run), (nack_of(19) + 100 * US + THERE, 2, 1, 0.0));
}

/// The last packet is lost. One in flight is few.
#[test]
fn a_lost_tail_waits_for_the_short_timeout() {
    let run = flow(20, SELECTIVE, &[19 * PACKET]);
    assert_eq!(counts(&run), (nack_of(18) + 100 * US + THERE, 1, 1, 0.0));
    let run = flow(20, &format!("{SELECTIVE}\nrecovery.rto_low = \"60us\""), &[19 * PACKET]);
    assert_eq!(counts(&run), (nack_of(18) + 60 * US + THERE, 1, 1, 0.0));
}

/// The last five packets are lost. Nothing tells of them but timeouts, and each only of the first:
/// with five and four in flight the long one, then the short one.
#[test]
fn each_packet_of_a_lost_tail_waits_for_a_timeout_of_its_own() {
    let lost = [15, 16, 17, 18, 19].map(|packet| packet * PACKET);
    let run = flow(20, SELECTIVE, &lost);
    let waits = 2 * 320 * US + 3 * 100 * US;
    assert_eq!(counts(&run), (nack_of(14) + waits + 4 * RTT + THERE, 5, 5, 0.0));
    // Or a timeout takes all to be lost.
    let all = format!("{SELECTIVE}\nrecovery.after_timeout = \"all\"");
    let run = flow(20, &all, &lost);
    assert_eq!(counts(&run), (nack_of(14) + 320 * US + 4 * PACKET + THERE, 5, 1, 0.0));
}

/// All packets are lost. The timer was started with the first one, as if there were few; when it
/// expires there are 20, and it is extended.
#[test]
fn a_short_timeout_is_extended_if_more_is_in_flight() {
    let all = format!("{SELECTIVE}\nrecovery.after_timeout = \"all\"");
    let run = run_of(20, PAIR, &all, &loss(0, 24 * US));
    assert_eq!(run.all_drops(), 20);
    assert_eq!(counts(&run), (320 * US + 19 * PACKET + THERE, 20, 1, 0.0));
    // Three packets are few.
    let run = run_of(3, PAIR, &all, &loss(0, 24 * US));
    assert_eq!(counts(&run), (100 * US + 2 * PACKET + THERE, 3, 1, 0.0));
}

/// Five packets may be in flight: 5 to 9 leave with the acks of 0 to 4. What is sent again is
/// within that bound.
#[test]
fn what_is_in_flight_is_bounded() {
    let five = format!("{SELECTIVE}\nrecovery.max_in_flight = \"{}B\"", 5 * MSS);
    let run = flow(10, &five, &[]);
    assert_eq!(counts(&run), (4 * PACKET + RTT + THERE, 0, 0, 0.0));
    // 1 is lost: 5 leaves with the ack of 0, and 1 with the NACK of 2. Its ack, of 1 to 5, lets 6
    // to 9 go.
    let run = flow(10, &five, &[PACKET]);
    assert_eq!(counts(&run), (nack_of(2) + RTT + 3 * PACKET + THERE, 1, 0, 0.0));
    // A bandwidth-delay product is 51,500 bytes, 35 packets: with 36 the last one has to wait.
    let run = flow(36, SELECTIVE, &[]);
    assert_eq!(counts(&run).0, RTT + THERE);
    let unlimited = format!("{SELECTIVE}\nrecovery.max_in_flight = \"unlimited\"");
    assert_eq!(counts(&flow(36, &unlimited, &[])).0, 35 * PACKET + THERE);
}

// Settings
// -----------------------------------------------------------------------------------------

fn refused(text: &str) -> String {
    let list = "[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"1KB\"";
    let text = format!("{PAIR}\n{text}\n{list}");
    let sources = spillway_net::scenario::Sources::of(std::path::Path::new(""));
    let read = spillway_net::scenario::Scenario::read(text.parse().expect("TOML"), &sources);
    read.expect_err("it is not valid").to_string()
}

#[test]
fn a_timeout_below_the_round_trip_is_refused() {
    let told = |key: &str, value: &str| {
        format!(
            "transport.recovery.{key}: {value} is not valid: a packet and its ack take 41.2us in the empty \
             network, and all would be sent again before its ack can be there"
        )
    };
    let text = |way: &str, key: &str| {
        format!("transport = {{ recovery.kind = \"{way}\", recovery.{key} = \"40us\" }}")
    };
    for (way, key) in
        [("go-back-n", "ack_timeout"), ("selective", "rto_low"), ("selective", "rto_high")]
    {
        assert_eq!(refused(&text(way, key)), told(key, "40us"));
    }
}

#[test]
fn hosts_that_tell_of_their_drops_need_senders_that_cut() {
    let nic = "nic = { queue_limit = \"9pkt\", local_drops = \"cut\" }";
    assert_eq!(
        refused(&format!("transport = {{ recovery.kind = \"selective\" }}\n{nic}")),
        "nic.local_drops: \"cut\" is not valid where NACKs tell of losses (transport.recovery): no \
         loss cuts there; it needs \"silent\""
    );
}

/// Traffic sections have what they need: another way drops the keys of the one before.
#[test]
fn a_section_may_have_another_way_than_the_others() {
    let text = format!(
        "{PAIR}\n[transport]\nrecovery.kind = \"go-back-n\"\nrecovery.ack_timeout = \"2ms\"\n\
         [[traffic]]\nname = \"tcp\"\nkind = \"permutation\"\nsize = \"1KB\"\nrecovery.kind = \"sack\"\n\
         recovery.dupthresh = 5\n\
         [[traffic]]\nname = \"irn\"\nkind = \"permutation\"\nsize = \"1KB\"\n\
         recovery.kind = \"selective\"\nrecovery.rto_low = \"50us\"\n\
         [[traffic]]\nname = \"same\"\nkind = \"permutation\"\nsize = \"1KB\"\n"
    );
    let scenario = scenario(&text);
    let detections = scenario.class_transport.iter().map(|&place| {
        let closed = scenario.transport(place).closed_loop().expect("acks drive them");
        (closed.recovery.is_own(), closed.losses.dupthresh)
    });
    // By name: irn, same, tcp.
    let mut told: Vec<_> = detections.collect();
    told.sort_unstable();
    assert_eq!(told, [(false, 5), (true, 1), (true, 1)]);
    let again = spillway_net::scenario::Scenario::read(
        scenario.resolved.clone(),
        &spillway_net::scenario::Sources::of(std::path::Path::new("")),
    );
    assert_eq!(again.unwrap().resolved.to_string(), scenario.resolved.to_string());
}

// Accounting
// ---------------------------------------------------------------------------------------

/// Eight hosts answer one through a small buffer, with lossy links, and nothing tells of lost
/// tails. Flows stall or are complete, and no packet is lost track of.
#[test]
fn packets_of_stalled_flows_are_accounted_for() {
    use spillway_net::simulation::Simulation;
    let (mut stalled, mut discarded) = (0, 0.0);
    for seed in 0..20 {
        let text = format!(
            "seed = {seed}\nduration = \"2ms\"\nstop = \"1s\"\nrecord = {{ queue_interval = \"50us\" }}\n\
             topology = {{ kind = \"star\", hosts = 9, host_rate = \"10Gbps\", link_delay = \"2us\" }}\n\
             switch = {{ buffer = \"30KB\", sharing = \"dt\" }}\n\
             [[event]]\nkind = \"link-loss\"\na = \"host8\"\nb = \"leaf0\"\nat = \"0us\"\nrate = 0.01\n\
             [transport]\nrecovery.kind = \"go-back-n\"\nrecovery.ack_timeout = \"none\"\n\
             [[traffic]]\nname = \"a\"\nkind = \"incast\"\ninterval = \"300us\"\nburst = \"160KB\"\n\
             fan_in = 8\nsenders = \"any\"\nreceivers = 8\n"
        );
        let mut simulation = Simulation::new(scenario(&text));
        let progress = loop {
            let progress = simulation.run(97);
            assert!(simulation.is_conserved(), "seed {seed} at {}", simulation.now());
            if progress != Progress::Running {
                break progress;
            }
        };
        let run = end(simulation, progress);
        let incomplete = run.flows.iter().filter(|row| row.fct_ps.is_none()).count();
        assert_eq!(run.flows.len(), 7 * 8, "seed {seed}");
        assert_eq!(run.progress == Progress::Stopped, incomplete > 0, "seed {seed}");
        assert_eq!(run.number("fct_us.all.unfinished"), incomplete as f64, "seed {seed}");
        let totals = run.counters.totals;
        assert_eq!(
            totals.made_packets,
            totals.arrived_packets + totals.lost_packets,
            "seed {seed}"
        );
        assert_eq!(
            (run.counters.timeouts, run.all_drops()),
            (0, totals.lost_packets),
            "seed {seed}"
        );
        // Only NACKs tell of losses.
        let again: u32 = run.flows.iter().map(|row| row.retransmitted).sum();
        assert_eq!(run.number("repairs.all.repairs_by_detection"), f64::from(again), "seed {seed}");
        stalled += incomplete;
        discarded += run.number("repairs.all.discarded_packets");
    }
    println!("{stalled} flows stalled, {discarded} packets discarded");
    assert!(stalled > 20 && discarded > 1_000.0, "{stalled}, {discarded}");
}

/// Three times 1 ns is less than any path takes, although three times a true round trip is not.
#[test]
fn a_multiple_of_a_base_rtt_that_no_path_has_is_refused() {
    let read = |transport: &str, base_rtt: &str| {
        let text = format!(
            "name = \"rtt\"\nduration = \"100us\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
             base_rtt = \"{base_rtt}\"\n[transport]\n{transport}\n[[traffic]]\nname = \"p\"\n\
             kind = \"permutation\"\nsize = \"90KB\""
        );
        let sources = spillway_net::scenario::Sources::of(std::path::Path::new(""));
        spillway_net::scenario::Scenario::read(text.parse().expect("TOML"), &sources)
    };
    let selective = "recovery.kind = \"selective\"\nkind = \"dcqcn\"\nbase_rtt = \"network\"\n";
    for (transport, key) in [
        ("kind = \"pfabric\"".to_string(), "rto"),
        (format!("{selective}recovery.rto_low = \"3rtt\""), "recovery.rto_low"),
        (format!("{selective}recovery.rto_high = \"3rtt\""), "recovery.rto_high"),
        (
            "kind = \"dcqcn\"\nbase_rtt = \"network\"\nrecovery.kind = \"go-back-n\"\nrecovery.ack_timeout = \"3rtt\"".into(),
            "recovery.ack_timeout",
        ),
    ] {
        let error = read(&transport, "1ns").expect_err("too short").to_string();
        assert!(error.starts_with(&format!("transport.{key}: 3ns is not valid")), "{error}");
        let hint = "hint: a multiple of the base RTT is one of topology.base_rtt = 1ns";
        assert!(error.ends_with(hint), "{error}");
        assert!(read(&transport, "10us").is_ok());
    }
}
