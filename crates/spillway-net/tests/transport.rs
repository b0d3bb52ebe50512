//! Transports end to end: losses placed by hand and the times of their retransmissions, counts of
//! acks, echoes of marks, and flows that share a line.
//!
//! Most runs have two lines of 10 Gbps and 10 us each. A full packet takes 22.4 us, its ack 20.0832
//! us. Packets given to the NIC together at time 0 are acknowledged from 42.4832 us on, one every
//! 1.2 us.

use crate::common::*;
use spillway_net::simulation::Progress;
use spillway_switch::DropReason;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const THERE: u64 = 22_400 * NS;
const BACK: u64 = 20_083_200;
const RTT: u64 = THERE + BACK;
const PACKET: u64 = 1_200 * NS;

const PAIR: &str = r#"
    duration = "1s"
    topology = { kind = "star", hosts = 2, host_rate = "10Gbps", link_delay = "10us" }
"#;

/// The link of host 0 loses what is put on it within 100 ns of these times, in both directions.
fn losses(times_ps: &[u64]) -> String {
    let event = |time: &u64| {
        let (at, until) = (time.saturating_sub(100_000), time + 100_000);
        format!(
            "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\n\
             at = \"{at}ps\"\nuntil = \"{until}ps\"\n"
        )
    };
    times_ps.iter().map(event).collect()
}

/// A flow of this many packets from host 0 to host 1; what is sent at the times `lost_at` is lost.
fn flow(packets: u64, transport: &str, lost_at: &[u64]) -> Run {
    let text = format!("{PAIR}\n{}\n[transport]\n{transport}", losses(lost_at));
    let run = run_flows(&text, &[(0, 1, packets * MSS, 0)]);
    assert_eq!(run.progress, Progress::Complete);
    assert_eq!(run.flows[0].delivered, packets * MSS);
    assert_eq!(run.all_drops(), lost_at.len() as u64, "{:?}", run.lost());
    run
}

fn counts(run: &Run) -> (u64, u32, u32) {
    counts_of(run, 0)
}

fn counts_of(run: &Run, id: usize) -> (u64, u32, u32) {
    (run.fct(id), run.flows[id].retransmitted, run.flows[id].timeouts)
}

// Bursts ----------------------------------------------------------------------------------------

#[test]
fn the_end_of_a_burst_is_acknowledged_at_once() {
    // Of 25 packets 20 leave at once, in bursts of ten, half of the window. The end of the first
    // burst leaves at 9 * 1.2 us, and its ack makes the window 30: the last five leave together.
    let bursts =
        "initial_window = \"20pkt\"\nack_every = 64\nask_acks = false\noffload = \"64KiB\"\n";
    let end = 9 * PACKET + RTT;
    let pushed = format!("{bursts}ack_push = true");
    assert_eq!(counts(&flow(25, &pushed, &[])), (end + 4 * PACKET + THERE, 0, 0));
    // Without that the first ack comes 500 us after the first packet.
    let delayed = THERE + 500 * US + BACK;
    assert_eq!(counts(&flow(25, bursts, &[])), (delayed + 4 * PACKET + THERE, 0, 0));
    // So it does after 20 us where packets that come within that time are taken in as one; 17 have
    // come: 16 of them take 19.2 us.
    let coalesced = format!("{bursts}coalesce = \"64KiB\"");
    let first = THERE + 20 * US + BACK;
    assert_eq!(counts(&flow(25, &coalesced, &[])), (first + 4 * PACKET + THERE, 0, 0));
}

#[test]
fn the_first_acks_are_quick() {
    // The ack of the first of two packets lets the third go, where an ack for every 64 waits.
    let slow = "initial_window = \"2pkt\"\nack_every = 64\nask_acks = false";
    let quick = format!("{slow}\nquick_acks = 1");
    assert_eq!(counts(&flow(3, &quick, &[])), (RTT + THERE, 0, 0));
    let delayed = THERE + 500 * US + BACK;
    assert_eq!(counts(&flow(3, slow, &[])), (delayed + THERE, 0, 0));
}

// Losses -----------------------------------------------------------------------------------------

#[test]
fn one_loss_is_repaired_as_soon_as_three_packets_behind_it_are_acknowledged() {
    // 20 packets at once. Number 5, sent at 6 us, is lost. The ack of number 8, the third behind
    // it, comes at 8 * 1.2 us + RTT. The retransmission is sent at once and takes 22.4 us.
    for kind in ["newreno", "dctcp", "cubic"] {
        let transport = format!("kind = \"{kind}\"\ninitial_window = \"20pkt\"");
        let expected = 8 * PACKET + RTT + THERE;
        assert_eq!(counts(&flow(20, &transport, &[5 * PACKET])), (expected, 1, 0));
        // The first packet is lost: the acks of 1, 2 and 3 show it.
        assert_eq!(counts(&flow(20, &transport, &[0])), (3 * PACKET + RTT + THERE, 1, 0));
    }
    // With a threshold of ten it is the ack of number 15.
    let patient = "initial_window = \"20pkt\"\nrecovery.dupthresh = 10";
    let expected = 15 * PACKET + RTT + THERE;
    assert_eq!(counts(&flow(20, patient, &[5 * PACKET])), (expected, 1, 0));
}

#[test]
fn a_loss_cuts_what_is_in_flight() {
    // Number 5 of the first 20 is lost. The acks of 0 to 4 make the window 25 packets and release
    // 10 packets; those of 6 and 7 release one each, beyond the window. So 25 count when the ack
    // of 8 shows the loss. CUBIC keeps 0.7 of the window.
    for (kind, left) in
        [("newreno", 25 * MSS / 2), ("dctcp", 25 * MSS / 2), ("cubic", 25 * MSS * 7 / 10)]
    {
        let text = format!(
            "{PAIR}\n{}\n[record]\nwindows = [0]\nwindow_interval = \"100ns\"\n\
             [transport]\nkind = \"{kind}\"\ninitial_window = \"20pkt\"",
            losses(&[5 * PACKET])
        );
        let run = run_flows(&text, &[(0, 1, 60 * MSS, 0)]);
        let mut windows = run.record.windows.cwnd_bytes.to_vec();
        windows.dedup();
        let growth = (20..=25).map(|packets| packets * MSS);
        assert_eq!(windows[..7], growth.chain([left]).collect::<Vec<u64>>(), "{kind}");
    }
}

#[test]
fn a_window_that_marks_have_cut_doubles_after_timeouts() {
    // Two flows of 100 packets at once, marked from 5 waiting packets on. The receiver's link is
    // down from 100 us to 2 ms, or to 15 ms. Missing packets are sent again when the timers expire,
    // 10 ms after the last ack, or another 20 ms later, in slow start. That takes a handful of
    // round trips of 83 us or more, and not one per packet, which would be 6 ms more. The last ack
    // comes within 200 us of the start.
    for (until, timeouts, waits) in [("2ms", 1, 10_000), ("15ms", 2, 30_000)] {
        for transport in ["dctcp'", "newreno'\necn = true", "cubic'\necn = true"] {
            for detection in ["sack", "rack"] {
                let text = format!(
                    "duration = '1s'\n\
                     topology = {{ kind = 'star', hosts = 3, host_rate = '10Gbps', \
                     link_delay = '20us' }}\n\
                     switch = {{ aqm = {{ kind = 'ecn', threshold = '5pkt' }} }}\n\
                     [[event]]\na = 'leaf0'\nb = 'host2'\nat = '100us'\nuntil = '{until}'\n\
                     [transport]\ninitial_window = 'flow'\nrecovery.kind = '{detection}'\n\
                     recovery.tail_loss_probe = false\nkind = '{transport}"
                );
                let run = run_flows(&text, &[(0, 2, 100 * MSS, 0), (1, 2, 100 * MSS, 0)]);
                assert_eq!(run.progress, Progress::Complete);
                for id in [0, 1] {
                    let (fct, retransmitted, seen) = counts_of(&run, id);
                    // With two timeouts the first retransmission is lost, too.
                    assert_eq!((retransmitted, seen), (76 + timeouts, timeouts), "{transport}");
                    let repaired = (waits + 100) * US..(waits + 1_050) * US;
                    assert!(repaired.contains(&fct), "{transport}, {detection}, {until}: {fct}");
                }
            }
        }
    }
}

#[test]
fn several_losses_in_a_window_are_repaired_without_a_timeout() {
    // 5, 7 and 9 are lost; three packets behind each of them arrive.
    let lost = [5 * PACKET, 7 * PACKET, 9 * PACKET];
    let run = flow(20, "initial_window = \"20pkt\"", &lost);
    let (fct, retransmitted, timeouts) = counts(&run);
    // When 5 has arrived, everything else has been sent again too, and 9, the last missing one, is
    // sent once more (RFC 6675, NextSeg, rule 4).
    assert_eq!((retransmitted, timeouts), (4, 0));
    // The ack of 12 shows that 9 is lost. It is sent again then at the earliest, and a round trip
    // later at the latest.
    let known = 12 * PACKET + RTT;
    assert!(fct >= known + THERE && fct < known + THERE + RTT, "{fct}");
    // 14 and 16 of 20 are lost: the ack of 18 shows the one, that of 19 the other. Of the six
    // packets then in flight at most one is left, so the retransmission of 16 need not wait. When
    // 14 has arrived, 16 is sent once more.
    let lost = [14 * PACKET, 16 * PACKET];
    let expected = 19 * PACKET + RTT + THERE;
    assert_eq!(counts(&flow(20, "initial_window = \"20pkt\"", &lost)), (expected, 3, 0));
}

#[test]
fn a_lost_tail_waits_for_the_timeout() {
    // The last packet, sent at 22.8 us, is lost. The last ack, of number 18, comes 18 * 1.2 us +
    // RTT after the start and sets the timer to 10 ms, or to srtt + 4 rttvar if that is longer.
    let last_ack = 18 * PACKET + RTT;
    for (min_rto, us) in [("10ms", 10_000), ("1ms", 1_000), ("200us", 200)] {
        let transport = format!("initial_window = \"20pkt\"\nrecovery.min_rto = \"{min_rto}\"");
        let expected = last_ack + us * US + THERE;
        assert_eq!(counts(&flow(20, &transport, &[19 * PACKET])), (expected, 1, 1), "{min_rto}");
    }
}

#[test]
fn a_probe_repairs_a_lost_tail_much_sooner() {
    // The probe is due two smoothed round trips after the last ack. Packet k, given to the NIC at
    // 0, is acknowledged at RTT + 1.2 k us. The smoothed round trip moves by an eighth of the
    // difference (RFC 6298).
    let mut smoothed = RTT;
    for k in 1..=18 {
        let sample = RTT + k * PACKET;
        smoothed = smoothed - smoothed / 8 + sample / 8;
    }
    let transport = "initial_window = \"20pkt\"\nrecovery.tail_loss_probe = true";
    let expected = 18 * PACKET + RTT + 2 * smoothed + THERE;
    assert_eq!(counts(&flow(20, transport, &[19 * PACKET])), (expected, 1, 0));
    // Two packets are lost. The probe is the last of them, and its ack, 42.4832 us after it (it is
    // sent alone), shows that the one before is missing.
    let mut smoothed = RTT;
    for k in 1..=17 {
        smoothed = smoothed - smoothed / 8 + (RTT + k * PACKET) / 8;
    }
    let expected = 17 * PACKET + RTT + 2 * smoothed + RTT + THERE;
    assert_eq!(counts(&flow(20, transport, &[18 * PACKET, 19 * PACKET])), (expected, 2, 0));
}

#[test]
fn timeouts_double() {
    // A single packet is lost at 0, at 10 ms (the timeout before the first sample), and at 30 ms.
    let (ms, third) = (1_000 * US, 70_000 * US);
    let run = flow(1, "", &[0, 10 * ms, 30 * ms]);
    assert_eq!(counts(&run), (third + THERE, 3, 3));
    // Beginning with 3 ms and bounded: at 0, 3, 9, and then every 8 ms.
    let bounded =
        "recovery.initial_rto = \"3ms\"\nrecovery.max_rto = \"8ms\"\nrecovery.min_rto = \"1ms\"";
    let run = flow(1, bounded, &[0, 3 * ms, 9 * ms, 17 * ms]);
    assert_eq!(counts(&run), (25 * ms + THERE, 4, 4));
}

#[test]
fn a_lost_request_is_repeated_and_so_is_a_lost_answer() {
    let handshake = "handshake = true\nrecovery.initial_rto = \"2ms\"\ninitial_window = \"flow\"";
    // 52 bytes: 20.0832 us each way.
    let undisturbed = 2 * BACK + THERE;
    assert_eq!(counts(&flow(1, handshake, &[])), (undisturbed, 0, 0));
    let expected = 2_000 * US + undisturbed;
    assert_eq!(counts(&flow(1, handshake, &[0])), (expected, 0, 1));
    // The answer is put on host 0's link 20.0832 us (the request) and 10.0416 us (its own first
    // line) after the start.
    assert_eq!(counts(&flow(1, handshake, &[BACK + 10_041_600])), (expected, 0, 1));
}

#[test]
fn a_lost_ack_is_made_good_by_the_next() {
    // The ack of number 3 is put on host 0's link 10.0416 us after the packet's arrival.
    let ack_of = |k: u64| k * PACKET + THERE + 10_041_600;
    let run = flow(20, "initial_window = \"20pkt\"", &[ack_of(3)]);
    assert_eq!(counts(&run), (19 * PACKET + THERE, 0, 0));
    assert_eq!(run.lost()[0].size, 52);
    // The last ack is lost: the flow is complete all the same, and the run ends.
    let run = flow(20, "initial_window = \"20pkt\"", &[ack_of(19)]);
    assert_eq!(counts(&run), (19 * PACKET + THERE, 0, 0));
}

#[test]
fn a_small_queue_drops_and_the_flow_recovers() {
    // 40 packets at 10 Gbps into 1 Gbps: with at most 10 waiting most of the first window is lost.
    let text = r#"
        duration = "1s"
        [topology]
        kind = "dumbbell"
        senders = 1
        receivers = 1
        host_rate = "10Gbps"
        bottleneck_rate = "1Gbps"
        link_delay = "1us"
        [switch]
        queue_limit = "10pkt"
        [transport]
        kind = "newreno"
        initial_window = "40pkt"
    "#;
    let run = run_flows(text, &[(0, 1, 400 * MSS, 0)]);
    // The first 40 come from 2.2 us to 49 us. Number 0 is sent at once and 1 to 10 wait. Whenever
    // one of these is sent, at 14.2, 26.2 and 38.2 us, there is room for another: 14 are accepted.
    let is_first = |loss: &&Loss| loss.seq < 40 * MSS && loss.time_ps <= 49 * US;
    assert_eq!(run.lost().iter().filter(is_first).count(), 40 - 14);
    assert_eq!(run.all_drops(), run.drops(DropReason::QueueLimit));
    // Some retransmissions are lost as well, and are repaired after a timeout.
    assert!(run.flows[0].delivered == 400 * MSS && run.flows[0].timeouts <= 1);
    // No packet that has arrived is sent again, except for the rescue retransmission.
    assert_eq!(u64::from(run.flows[0].retransmitted), run.all_drops() + 1);
}

// Acks -------------------------------------------------------------------------------------------

#[test]
fn delayed_acks_halve_the_number_of_acks() {
    // 40 packets over two lines, and acks over two lines: for every packet, every second, or every
    // fourth.
    let hops = |packets, transport: &str| {
        let transport = format!("initial_window = \"flow\"\n{transport}");
        flow(packets, &transport, &[]).counters.packet_hops
    };
    assert_eq!(hops(40, ""), 80 + 80);
    assert_eq!(hops(40, "ack_every = 2"), 80 + 40);
    assert_eq!(hops(40, "ack_every = 4"), 80 + 20);
    assert_eq!(hops(40, "ack_every = 2\nhandshake = true"), 80 + 40 + 4);
    // The last of 41 asks for its ack. Otherwise that is delayed, and the run is over before.
    assert_eq!(hops(41, "ack_every = 2"), 82 + 42);
    assert_eq!(hops(41, "ack_every = 2\nask_acks = false"), 82 + 40);
}

#[test]
fn an_ack_that_is_held_back_comes_when_it_is_due() {
    // Windows of one packet: each ack comes 500 us (or 70 us) after the packet, unless its sender
    // asks for it.
    for (delay, us) in [("500us", 500), ("70us", 70)] {
        let transport = format!(
            "kind = \"newreno\"\ninitial_window = \"1pkt\"\nslow_start = false\nack_every = 2\n\
             ack_delay = \"{delay}\""
        );
        let asked = counts(&flow(3, &transport, &[]));
        assert_eq!(asked, (RTT + PACKET + THERE, 0, 0), "{delay}");
        let transport = format!("{transport}\nask_acks = false");
        // Packet 0; then two packets that are acknowledged together.
        let expected = (RTT + us * US) + PACKET + THERE;
        assert_eq!(counts(&flow(3, &transport, &[])), (expected, 0, 0), "{delay}");
    }
}

#[test]
fn what_a_split_ack_leaves_is_acknowledged_when_it_is_due() {
    // Host 1's line is slow: of three packets the third finds one waiting and is marked. With an
    // ack for every three packets, the first two are acknowledged when the third comes, and the
    // third 500 us later. Datagrams elsewhere keep the run going, so a sender that gets no ack
    // would time out.
    let text = r#"
        duration = "15ms"
        stop = "15ms"
        [topology]
        kind = "graph"
        switch = [{ name = "s" }]
        host = [
            { name = "0", switch = "s", rate = "10Gbps", delay = "1us" },
            { name = "1", switch = "s", rate = "1Gbps", delay = "1us" },
            { name = "2", switch = "s", rate = "10Gbps", delay = "1us" },
            { name = "3", switch = "s", rate = "10Gbps", delay = "1us" },
        ]
        [switch]
        aqm = { kind = "ecn", threshold = "0pkt" }
        [transport]
        kind = "dctcp"
        initial_window = "3pkt"
        ack_every = 3
        ask_acks = false
        recovery.min_rto = "5ms"
        [[traffic]]
        name = "elsewhere"
        kind = "persistent"
        pairs = [[2, 3]]
        transport = "udp"
        rate = "100Mbps"
    "#;
    let run = run_flows(text, &[(0, 1, 3 * MSS, 0)]);
    assert_eq!(run.number("marks"), 1.0);
    let row = run.flows.iter().find(|row| row.size > 0).unwrap();
    // 1.2 + 1 us, then three packets at 12 us each, and 1 us.
    assert_eq!(row.fct_ps, Some((2_200 + 36_000 + 1_000) * NS));
    assert_eq!((row.timeouts, row.retransmitted), (0, 0));
}

// Marks ------------------------------------------------------------------------------------------

/// The successive windows of a flow, in bytes, as sampled every 100 ns.
fn windows(transport: &str, threshold: u32, packets: u64) -> (Vec<u64>, Run) {
    let text = format!(
        r#"
        duration = "1s"
        [topology]
        kind = "dumbbell"
        senders = 1
        receivers = 1
        host_rate = "10Gbps"
        bottleneck_rate = "1Gbps"
        link_delay = "10us"
        [switch]
        aqm = {{ kind = "ecn", threshold = "{threshold}pkt" }}
        [record]
        windows = [0]
        window_interval = "100ns"
        [transport]
        {transport}
        "#
    );
    let run = run_flows(&text, &[(0, 1, packets * MSS, 0)]);
    let mut windows = run.record.windows.cwnd_bytes.to_vec();
    windows.dedup();
    (windows, run)
}

#[test]
fn the_first_mark_halves_the_window_and_no_other_cuts_until_it_has_told() {
    // 20 packets come every 1.2 us to a line that takes 12 us for each. Number 0 is sent at once, 1
    // finds none waiting, and so on: number 7 finds 6, more than 5, and is marked. The acks of 0 to
    // 6 make the window 27 packets; that of 7 halves it, because DCTCP's alpha is 1 at first.
    let thirteen_and_a_half = 27 * MSS / 2;
    for kind in ["kind = \"dctcp\"", "kind = \"newreno\"\necn = true"] {
        let transport = format!("{kind}\ninitial_window = \"20pkt\"");
        let (windows, run) = windows(&transport, 5, 200);
        let expected: Vec<u64> =
            (20..=27).map(|packets| packets * MSS).chain([thirteen_and_a_half]).collect();
        assert_eq!(windows[..9], expected, "{kind}");
        // 34 packets were sent by then. Until they are acknowledged the window does not change.
        // Then there is another mark and another cut, or growth.
        assert_ne!(windows[9], thirteen_and_a_half);
        assert!(run.number("marks") > 10.0 && run.all_drops() == 0);
    }
}

/// The same in whole segments: half of 27 are 13, and 0.7 of them 18; DCTCP takes 13 off, which leaves 14.
#[test]
fn in_whole_segments_no_window_has_a_part_of_one() {
    let kinds =
        ["kind = \"dctcp\"", "kind = \"newreno\"\necn = true", "kind = \"cubic\"\necn = true"];
    for (kind, left) in kinds.into_iter().zip([14, 13, 18]) {
        let more = "initial_window = \"20pkt\"\nwindow_unit = \"segments\"";
        let (windows, _) = windows(&format!("{kind}\n{more}"), 5, 1_000);
        assert_eq!(windows[7..9], [27 * MSS, left * MSS], "{kind}");
        assert!(windows.len() > 15 && windows.iter().all(|bytes| bytes % MSS == 0), "{kind}");
    }
}

#[test]
fn dctcp_cuts_in_proportion_to_the_share_of_marks() {
    // The same with alpha0 = 0, where cuts are small.
    let (gentle, _) = windows("alpha0 = 0.0\ninitial_window = \"20pkt\"", 5, 200);
    let (harsh, _) = windows("alpha0 = 1.0\ninitial_window = \"20pkt\"", 5, 200);
    // The first cut comes in the first window, where alpha = 0 leaves the window as it is, and
    // growth stops for a round. The first ack opens a window of 19 packets, 1 to 19, of which 13 (7
    // to 19) are marked: alpha = 1/16 * 13/19, and the next cut is by half of it.
    let peak = 27 * MSS;
    assert_eq!((gentle[7], harsh[7]), (peak, peak));
    let alpha = 0.0625 * 13.0 / 19.0;
    let cut = (peak as f64 * (1.0 - alpha / 2.0)) as u64;
    assert_eq!((gentle[8], harsh[8]), (cut, peak / 2));
}

#[test]
fn newreno_with_ecn_keeps_its_queue_below_the_drop() {
    let text = |ecn: bool| {
        format!(
            r#"
            warmup = "10ms"
            duration = "60ms"
            stop = "60ms"
            topology = {{ kind = "star", hosts = 5, link_delay = "10us" }}
            transport = {{ kind = "newreno", ecn = {ecn} }}
            [switch]
            queue_limit = "150pkt"
            aqm = {{ kind = "ecn", threshold = "40pkt" }}
            [[traffic]]
            name = "long"
            kind = "persistent"
            receiver = 4
            "#
        )
    };
    let (with, without) = (run(&text(true)), run(&text(false)));
    assert!(with.number("marks") > 100.0 && without.number("marks") == 0.0);
    assert_eq!((with.all_drops(), with.counters.retransmitted_packets), (0, 0));
    assert!(without.drops(DropReason::QueueLimit) > 20);
    let max = |run: &Run| run.number("buffer_occupancy.max") / FULL as f64;
    assert!(max(&with) < 60.0 && max(&without) > 149.0, "{} {}", max(&with), max(&without));
    for run in [with, without] {
        assert!(run.number("goodput_gbps.all") > 0.98 * 10.0 * MSS as f64 / FULL as f64);
    }
}

// Sharing a line ---------------------------------------------------------------------------------

#[test]
fn flows_that_fill_queues_share_a_line() {
    for (kind, n) in [("newreno", 2), ("newreno", 8), ("cubic", 2), ("cubic", 8)] {
        let flows: Vec<String> = (0..n).map(|flow| flow.to_string()).collect();
        let run = run(&format!(
            r#"
            duration = "1s"
            stop = "1s"
            transport = {{ kind = "{kind}", recovery.min_rto = "1ms" }}
            switch = {{ queue_limit = "100pkt" }}
            record = {{ windows = [{}], window_interval = "500ms", drops = false }}
            [topology]
            kind = "dumbbell"
            senders = {n}
            receivers = 1
            host_rate = "10Gbps"
            bottleneck_rate = "5Gbps"
            link_delay = "10us"
            [[traffic]]
            name = "long"
            kind = "persistent"
            senders = "0..{}"
            receiver = {n}
            stagger = "5ms"
            "#,
            flows.join(", "),
            n - 1
        ));
        let table = &run.record.windows;
        let delivered = |flow: u32| {
            let rows = (0..table.len()).filter(|&row| table.flow_id[row] == flow);
            let bytes: Vec<u64> = rows.map(|row| table.delivered_bytes[row]).collect();
            (bytes[bytes.len() - 1] - bytes[bytes.len() - 2]) as f64
        };
        let shares: Vec<f64> = (0..n).map(delivered).collect();
        let payload = 5e9 / 8.0 * 0.5 * MSS as f64 / FULL as f64;
        let throughput = shares.iter().sum::<f64>() / payload;
        println!("{kind} N {n}: throughput {throughput:.4}, Jain {:.4}", jain(&shares));
        assert!(jain(&shares) > 0.9, "{kind}, {n}: {shares:?}");
        assert!(throughput > 0.98 && throughput < 1.001, "{kind}, {n}: {throughput}");
    }
}

/// A DCTCP flow that is alone for 20 ms and then joined by two others. Returns its window just
/// before they start, and its share of the last 20 of 60 ms.
fn joined_late(host_backlog: &str) -> (u64, f64) {
    let run = run(&format!(
        r#"
        duration = "60ms"
        stop = "60ms"
        topology = {{ kind = "star", hosts = 4, host_rate = "10Gbps", link_delay = "10us" }}
        switch = {{ aqm = {{ kind = "ecn", threshold = "65pkt" }} }}
        transport = {{ kind = "dctcp", host_backlog = "{host_backlog}" }}
        record = {{ windows = [0, 1, 2], window_interval = "20ms" }}
        [[traffic]]
        name = "first"
        kind = "persistent"
        senders = 0
        receiver = 3
        [[traffic]]
        name = "later"
        kind = "persistent"
        senders = [1, 2]
        receiver = 3
        start = "20ms"
        "#
    ));
    let table = &run.record.windows;
    let of = |flow: u32| (0..table.len()).filter(move |&row| table.flow_id[row] == flow);
    let alone = of(0).filter(|&row| table.time_ps[row] <= 20_000 * US);
    let window = alone.map(|row| table.cwnd_bytes[row]).max().unwrap_or(0);
    // Rates are what was delivered between samples, which are 20 ms apart.
    let rows: Vec<usize> = of(0).collect();
    for pair in rows.windows(2) {
        let bytes = table.delivered_bytes[pair[1]] - table.delivered_bytes[pair[0]];
        assert!((table.rate_bps[pair[1]] / (bytes as f64 * 8.0 / 20e-3) - 1.0).abs() < 1e-9);
    }
    let share = |flow: u32| {
        let bytes: Vec<u64> = of(flow).map(|row| table.delivered_bytes[row]).collect();
        (bytes[bytes.len() - 1] - bytes[bytes.len() - 2]) as f64
    };
    (window, share(0) / (0..3).map(share).sum::<f64>())
}

#[test]
fn a_flow_alone_does_not_fill_its_own_card_without_end() {
    // 42.5 us at 10 Gbps are 53 KB. The window is that much, as much again waiting in the NIC, and
    // what a round trip of slow start adds until the NIC is known to be full.
    let (window, share) = joined_late("1bdp");
    assert!((100_000..250_000).contains(&window), "{window}");
    assert!(share < 0.6, "{share}");
    // Without a bound everything that 10 Gbps take in 20 ms is in the NIC. Marks hardly matter,
    // since the flow learns of them 20 ms later.
    let (window, share) = joined_late("unlimited");
    assert!(window > 15_000_000, "{window}");
    assert!(share > 0.85, "{share}");
}

#[test]
fn sections_have_transports_of_their_own() {
    // Answers over open connections, in whole windows, together with requests that begin with a
    // handshake.
    let run = run(r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 6, host_rate = "10Gbps", link_delay = "10us" }
        transport = { kind = "dctcp", handshake = true, initial_window = "2pkt" }
        [[traffic]]
        name = "web"
        kind = "poisson"
        sizes = "5792B"
        load = 0.5
        load_of = "host"
        destinations = 5
        senders = 0
        start = "500us"
        flows = 1
        [[traffic]]
        name = "incast"
        kind = "incast"
        interval = "10ms"
        queries = 1
        burst = "57920B"
        fan_in = 1
        senders = "any"
        receivers = 4
        initial_window = "flow"
        handshake = false
        [[traffic]]
        name = "clocked"
        kind = "flows"
        file = "none"
        transport = "udp"
        "#);
    let of = |size: u64| run.flows.iter().find(|row| row.size == size).unwrap();
    // The answer: 40 packets, back to back.
    let answer = of(57_920);
    assert_eq!(answer.fct_ps, Some(39 * PACKET + THERE));
    assert_eq!(answer.fct_ps, Some(answer.ideal_ps));
    assert_eq!((answer.query_id, answer.timeouts), (0, 0));
    // The request: a handshake, two packets, and the other two a round trip later.
    let request = of(4 * MSS);
    assert_eq!(request.fct_ps, Some(2 * BACK + RTT + PACKET + THERE));
    assert_eq!(request.ideal_ps, 2 * BACK + 3 * PACKET + THERE);
    assert_eq!(run.number("fct_slowdown.incast.max"), 1.0);
    assert!(run.number("fct_slowdown.web.max") > 1.0);
}

#[test]
fn a_low_priority_hardly_delays_a_high_one() {
    // One packet of priority 0 with an overload of priority 1: it waits at most for the packet that
    // is being sent.
    let text = r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 4, host_rate = "10Gbps", link_delay = "10us" }
        switch = { queues_per_port = 2, scheduling = "strict" }
        [[traffic]]
        name = "bulk"
        kind = "persistent"
        senders = [0, 1]
        receiver = 3
        stop = "1ms"
        priority = 1
        transport = "udp"
        rate = "10Gbps"
    "#;
    let mut list = columns(&[(2, 3, MSS, 500_000), (2, 3, MSS, 700_700)]);
    list.priority = Some(vec![Some(0), Some(1)]);
    let text = text.replace("duration = \"1ms\"", "duration = \"1ms\"\nstop = \"5ms\"");
    let run = run_columns(&text, &list);
    let of =
        |priority: i16| run.flows.iter().find(|row| row.size == MSS && row.priority == priority);
    let high = of(0).unwrap().fct_ps.unwrap();
    assert!((THERE..=THERE + PACKET).contains(&high), "{high}");
    // The other packet waits for the whole backlog: 10 Gbps too much for 0.7 ms, or 580 packets.
    let low = of(1).unwrap().fct_ps.unwrap();
    assert!(low > THERE + 500 * PACKET && low < THERE + 700 * PACKET, "{low}");
}

#[test]
fn held_back_acks_have_one_event_at_a_time() {
    // Every eighth of 2,000 packets is acknowledged: 2,000 * 2 + 250 * 2 hops, and about as many
    // events. An event for every delayed ack would add 1,750.
    let text = "duration = \"1ms\"\nstop = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 2\n\
                [transport]\ninitial_window = \"100pkt\"\nack_every = 8\nack_delay = \"500us\"";
    let run = run_flows(text, &[(0, 1, 2_000 * MSS, 0)]);
    assert!(run.counters.packet_hops >= 4_490, "{}", run.counters.packet_hops);
    let more = run.counters.events - run.counters.packet_hops;
    assert!(more < 300, "{more} more events than hops");
}
