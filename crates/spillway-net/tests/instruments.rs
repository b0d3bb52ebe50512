//! Samples compared with hand arithmetic. A full packet has 1,500 bytes, which take 1.2 us at 10
//! Gbps; every line has a delay of 10 us.

use crate::common::{MSS, Run, run_flows};

const US: u64 = 1_000_000;

fn star(hosts: u32, record: &str, transport: &str, flows: &[crate::common::Listed]) -> Run {
    let text = format!(
        r#"
        duration = "1ms"
        record = {{ {record} }}
        transport = {{ {transport} }}
        topology = {{ kind = "star", hosts = {hosts}, host_rate = "10Gbps", link_delay = "10us" }}
        "#
    );
    run_flows(&text, flows)
}

/// Fifty packets leave the first host, one every 2.4 us; the last has left at 118.8 us.
fn half_a_line(record: &str) -> Run {
    star(2, record, "kind = \"udp\", rate = \"5Gbps\"", &[(0, 1, 50 * MSS, 0)])
}

/// The host's line is busy for 30 us of each of the first two intervals of 60 us. The switch's line
/// begins at 11.2 us. Of the packet that begins at 59.2 us two thirds lie in the first interval,
/// and of the one at 119.2 us two thirds in the second. The last packet arrives at 140 us, which
/// ends the run: 5.2 of the last 20 us are busy.
#[test]
fn a_link_is_as_busy_as_what_it_has_sent_took() {
    let run = half_a_line("link_interval = \"60us\"");
    let links = &run.record.links;
    let rows: Vec<(u64, u32, f64)> = (0..links.len())
        .map(|row| (links.time_ps[row] / US, links.link[row], links.utilisation[row]))
        .collect();
    let expected =
        [(60, 0, 0.5), (60, 3, 24.8 / 60.0), (120, 0, 0.5), (120, 3, 0.5), (140, 3, 0.26)];
    assert_eq!(rows.len(), expected.len(), "{rows:?}");
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!((row.0, row.1), (expected.0, expected.1), "{rows:?}");
        assert!((row.2 - expected.2).abs() < 1e-9, "{rows:?}");
    }
}

/// The first packet arrives at 22.4 us, so 12 have arrived by 50 us and 33 by 100 us. An open-loop
/// flow has no window.
#[test]
fn an_open_loop_flow_has_no_window() {
    let run = half_a_line("windows = [0], window_interval = \"50us\"");
    let windows = &run.record.windows;
    let delivered: Vec<u64> = (0..windows.len()).map(|row| windows.delivered_bytes[row]).collect();
    assert_eq!(delivered, [0, 12 * MSS, 33 * MSS]);
    let gbps = |packets: u64| (packets * MSS * 8) as f64 / 50e-6;
    for (row, packets) in [0, 12, 21].into_iter().enumerate() {
        assert_eq!(windows.cwnd_bytes.known(row), None);
        assert_eq!(windows.pace_bps.known(row), None);
        assert!((windows.rate_bps[row] - gbps(packets)).abs() < 1.0);
        assert_eq!((windows.in_flight_bytes[row], windows.srtt_ps[row]), (0, 0));
    }
}

/// Two hosts send ten packets each to the third at once. By 17 us five from each have arrived at
/// the switch, and five have begun to leave.
#[test]
fn a_queue_holds_what_has_come_and_not_begun_to_leave() {
    let flows = [(0, 2, 10 * MSS, 0), (1, 2, 10 * MSS, 0)];
    let run = star(3, "queue_interval = \"17us\"", "kind = \"dctcp\"", &flows);
    let queues = &run.record.queues;
    let rows: Vec<_> = (0..queues.len())
        .filter(|&row| queues.time_ps[row] == 17 * US)
        .map(|row| (queues.port[row], queues.bytes[row], queues.packets[row]))
        .collect();
    assert_eq!(rows, [(2, 7_500, 5)]);
    assert!(queues.time_ps.iter().all(|&time| time > 0));
    // The switch as a whole has a table of its own.
    let switches = &run.record.switches;
    let row = |row: usize| (switches.time_ps[row], switches.bytes[row], switches.packets[row]);
    assert_eq!([row(0), row(1)], [(0, 0, 0), (17 * US, 7_500, 5)]);
}

/// The same run: each sample has a row for each of the switch's three queues.
#[test]
fn empty_queues_have_a_row_where_that_is_asked_for() {
    let flows = [(0, 2, 10 * MSS, 0), (1, 2, 10 * MSS, 0)];
    let run = |more: &str| {
        let run = star(3, &format!("queue_interval = \"17us\"{more}"), "kind = \"dctcp\"", &flows);
        let queues = run.record.queues;
        let row = |row| (queues.time_ps[row], queues.port[row], queues.bytes[row]);
        (0..queues.len()).map(row).collect::<Vec<_>>()
    };
    let (all, held) = (run(", empty_queues = true"), run(", empty_queues = false"));
    assert_eq!(held, run(""));
    let of = |time| all.iter().filter(move |row| row.0 == time).map(|row| (row.1, row.2));
    assert!(of(17 * US).eq([(0, 0), (1, 0), (2, 7_500)]), "{all:?}");
    assert!(of(0).eq([(0, 0), (1, 0), (2, 0)]));
    let not_empty = all.into_iter().filter(|row| row.2 > 0);
    assert!(not_empty.eq(held));
}

/// The initial window is ten segments, all of which are in flight until the first ack.
#[test]
fn a_window_is_what_the_sender_has() {
    let record = "windows = [0], window_interval = \"20us\"";
    let run = star(2, record, "kind = \"dctcp\"", &[(0, 1, 100 * MSS, 0)]);
    let windows = &run.record.windows;
    assert_eq!(windows.time_ps[1], 20 * US);
    assert_eq!(windows.cwnd_bytes.known(1), Some(10 * MSS));
    assert_eq!(windows.in_flight_bytes[1], 10 * MSS);
}

/// Two hosts send a packet every 2.4 us to the third, from 11.2 to 128.8 us as the switch sees
/// them. PRED counts both in each of the periods of 50 us, at that port.
#[test]
fn aqms_are_sampled_port_by_port() {
    let sample = |aqm: &str, record: &str| {
        let text = format!(
            r#"
            duration = "1ms"
            warmup = "5us"
            switch = {{ aqm = {aqm}, queues_per_port = 2 }}
            record = {{ aqm_interval = "30us", {record} }}
            transport = {{ kind = "udp", rate = "5Gbps" }}
            topology = {{ kind = "star", hosts = 3, host_rate = "10Gbps", link_delay = "10us" }}
            "#
        );
        run_flows(&text, &[(0, 2, 50 * MSS, 0), (1, 2, 50 * MSS, 0)]).record.aqm
    };
    let pred = "{ kind = \"pred\", qla = false, counter = \"exact\", t_fcs = \"50us\" }";
    let table = sample(pred, "aqm_switch = 0");
    let flows: Vec<(u64, u32, Option<u32>)> = (0..table.len())
        .map(|row| (table.time_ps[row] / US, table.port[row], table.flows.known(row)))
        .collect();
    // The queue of acks is not managed. Where no flow is, one counts.
    let at = |us: u64, n: u32| [(us, 0, Some(1)), (us, 1, Some(1)), (us, 2, Some(n))];
    let expected = [at(5, 1), at(35, 2), at(65, 2), at(95, 2), at(125, 2)].concat();
    assert_eq!(flows, expected);
    assert!(table.queue.iter().all(|queue| *queue == 1) && table.switch.iter().all(|s| *s == 0));
    for row in 0..table.len() {
        // 0.1 for every flow and 100 KB. Ten packets of 1,500 bytes.
        let n = f64::from(table.flows.known(row).unwrap());
        assert!((table.slope_per_mb.known(row).unwrap() - n).abs() < 1e-9);
        assert_eq!(table.lambda.known(row), Some(0.1));
        assert_eq!(table.min_bytes.known(row), Some(15_000));
        assert_eq!(table.max_bytes.known(row), Some(500_000));
        assert_eq!(table.max_probability.known(row), None);
        assert_eq!(table.probability.known(row), None);
        assert_eq!(table.utility.known(row), None);
    }
    // Five samples of three ports.
    let table = sample("{ kind = \"pie\" }", "drops = true");
    assert_eq!(
        (table.len(), table.probability.known(0), table.flows.known(0)),
        (15, Some(0.0), None)
    );
    // These have no such numbers.
    for aqm in ["none", "codel", "tcn", "ecn-sharp"] {
        assert!(sample(&format!("\"{aqm}\""), "drops = true").is_empty(), "{aqm}");
    }
}
