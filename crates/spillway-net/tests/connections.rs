//! Connections that stay open, end to end: what a flow finds on a connection that others have used.
//!
//! Most runs have two lines of 10 Gbps and 10 us each. A full packet takes 22.4 us, its ack 20.0832
//! us, as a packet of a handshake. Packets given to the NIC together are acknowledged from 42.4832
//! us on, one every 1.2 us.

use crate::common::*;
use spillway_net::record::column::Values;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_traffic::FlowColumns;
use std::path::Path;

const THERE: u64 = 22_400_000;
const BACK: u64 = 20_083_200;
const RTT: u64 = THERE + BACK;
const PACKET: u64 = 1_200_000;

const PAIR: &str = r#"
    duration = "1s"
    topology = { kind = "star", hosts = 2, host_rate = "10Gbps", link_delay = "10us" }
"#;

const OPEN: &str = "connections = \"open\"";

/// Flows from host 0 to host 1: packets, and the start in nanoseconds.
fn flows(transport: &str, list: &[(u64, u64)]) -> Run {
    let list: Vec<Listed> =
        list.iter().map(|&(packets, start)| (0, 1, packets * MSS, start)).collect();
    let run = run_flows(&format!("{PAIR}\n[transport]\n{transport}"), &list);
    assert_eq!(run.progress, Progress::Complete);
    run
}

/// The connection of each flow, by the flow's number.
fn connections(run: &Run) -> Vec<u32> {
    let told = run.record.connections.as_ref().expect("some connections stay open");
    let mut rows: Vec<(u32, u32)> =
        run.record.flows.flow_id.iter().copied().zip(told.connection.iter().copied()).collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, connection)| connection).collect()
}

#[test]
fn a_flow_begins_with_the_window_that_the_one_before_has_left() {
    // Two packets make the window of two packets one of four. Four of the next six go at once; the
    // ack of the first releases the other two.
    for kind in ["dctcp", "newreno", "cubic"] {
        let of = |connections: &str, handshake: bool| {
            let text = format!(
                "kind = \"{kind}\"\ninitial_window = \"2pkt\"\nhandshake = {handshake}\n\
                 connections = \"{connections}\""
            );
            flows(&text, &[(2, 0), (6, 100_000)])
        };
        let shake = 2 * BACK;
        let (open, own) = (of("open", true), of("own", true));
        assert_eq!((open.fct(0), open.fct(1)), (shake + THERE + PACKET, RTT + PACKET + THERE));
        // From the initial window: two, two more with each of the first two acks.
        assert_eq!(own.fct(1), shake + RTT + 3 * PACKET + THERE);
        // The least time in which they could complete has a handshake only where there is one.
        assert_eq!(
            [0, 1].map(|id| open.flows[id].ideal_ps),
            [shake + THERE + PACKET, THERE + 5 * PACKET]
        );
        assert_eq!(own.flows[1].ideal_ps, shake + THERE + 5 * PACKET);
        // Without a handshake the second flow is the same.
        assert_eq!(of("open", false).fct(1), open.fct(1));
        assert_eq!((connections(&open), own.record.connections), (vec![0, 0], None));
        // A request and its answer pass two links each.
        assert_eq!(own.counters.packet_hops - open.counters.packet_hops, 4);
    }
}

#[test]
fn flows_at_the_same_time_open_connections_and_the_first_one_opened_is_taken_first() {
    let run = flows(OPEN, &[(2, 0), (2, 0), (9, 1_000), (2, 300_000), (2, 300_000), (2, 400_000)]);
    assert_eq!(connections(&run), [0, 1, 2, 0, 1, 0]);
}

/// The timer of a packet expires after 30 us, so it is sent twice. The first ack, at 42.4832 us,
/// acknowledges all; the second comes at 72.4832 us. The flow that starts at 50 us takes the
/// connection all the same, with the window of two packets that the timeout and the ack have left,
/// and the late ack changes nothing: with a larger window it would not wait for its own acks.
#[test]
fn a_connection_is_idle_when_its_sender_has_everything_acknowledged() {
    let of = |starts: u64| {
        let text = format!(
            "{OPEN}\ninitial_window = \"2pkt\"\nrecovery.initial_rto = \"30us\"\nrecovery.min_rto = \"30us\""
        );
        flows(&text, &[(1, 0), (4, starts), (1, 300_000)])
    };
    let run = of(50_000);
    assert_eq!(connections(&run), [0, 0, 0]);
    assert_eq!(run.fct(1), RTT + PACKET + THERE);
    let counted = |row: &Row| (row.retransmitted, row.timeouts);
    assert_eq!(run.flows.iter().map(counted).collect::<Vec<_>>(), [(1, 1), (0, 0), (0, 0)]);
    // Before the first ack there is no idle connection, and after the second one both are the same.
    assert_eq!(connections(&of(42_483)), [0, 1, 0]);
    assert_eq!(connections(&of(42_484)), [0, 0, 0]);
    assert_eq!(of(80_000).fct(1), run.fct(1));
}

#[test]
fn after_an_idle_timeout_the_window_is_the_initial_one() {
    // Two packets are acknowledged at RTT + 1.2 us, and the window is four packets. The timeout is
    // 1 ms: the next flow starts 0.2 ns before it has passed, or 0.8 ns after.
    let over = (RTT + PACKET) / 1_000;
    let (large, small) = (RTT + PACKET + THERE, RTT + 3 * PACKET + THERE);
    let second = |more: &str, after_ns: u64| {
        let text = format!("{OPEN}\ninitial_window = \"2pkt\"\nrecovery.min_rto = \"1ms\"\n{more}");
        flows(&text, &[(2, 0), (6, over + 1_000_000 + after_ns)]).fct(1)
    };
    assert_eq!((second("", 0), second("", 1)), (large, small));
    assert_eq!(second("restart_idle = false", 1), large);
    assert_eq!(second("restart_idle = false", 500_000_000), large);
    // Or with each flow, whenever it starts.
    assert_eq!([0, 1].map(|after| second("restart_each = true", after)), [small, small]);
    assert_eq!([0, 1].map(|after| second("restart_each = false", after)), [large, small]);
}

#[test]
fn a_loss_is_repaired_as_on_a_connection_of_its_own() {
    // The first flow ends within a segment. Of the next twenty packets, all of which the window
    // lets go at once, number 5 is lost. The ack of number 8 shows it.
    let at = 100_000_000 + 5 * PACKET;
    let event = format!(
        "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\n\
         at = \"{}ps\"\nuntil = \"{}ps\"",
        at - 100_000,
        at + 100_000
    );
    for more in
        ["kind = \"newreno\"", "kind = \"dctcp\"", "kind = \"cubic\"", "recovery.kind = \"rack\""]
    {
        let text =
            format!("{PAIR}\n{event}\n[transport]\n{OPEN}\ninitial_window = \"20pkt\"\n{more}");
        let run = run_flows(&text, &[(0, 1, 19 * MSS + 100, 0), (0, 1, 20 * MSS, 100_000)]);
        assert_eq!((connections(&run), run.all_drops()), (vec![0, 0], 1), "{more}");
        let second = &run.flows[1];
        assert_eq!((second.retransmitted, second.timeouts), (1, 0), "{more}");
        assert_eq!(run.fct(1), 8 * PACKET + RTT + THERE, "{more}");
        // The lost packet is told by its first byte within the flow.
        assert_eq!((run.lost()[0].flow, run.lost()[0].seq), (1, 5 * MSS), "{more}");
    }
    // ns-3's sender also repeats what is not lost; as much on a connection of its own that begins
    // with such a window.
    let of_ns3 = |transport: &str, first: u64| {
        let text = format!("{PAIR}\n{event}\n[transport]\nrecovery.kind = \"ns3\"\n{transport}");
        let run = run_flows(&text, &[(0, 1, first, 0), (0, 1, 20 * MSS, 100_000)]);
        (run.fct(1), run.flows[1].retransmitted, run.flows[1].timeouts)
    };
    let open = of_ns3(&format!("{OPEN}\ninitial_window = \"20pkt\""), 20 * MSS);
    assert_eq!(open, of_ns3("initial_window = \"40pkt\"", 20 * MSS));
    assert_eq!(open.0, 8 * PACKET + RTT + THERE);
}

#[test]
fn other_classes_and_the_way_back_have_connections_of_their_own() {
    let list = FlowColumns {
        class: Some(["x", "y", "x", "x", "y"].map(std::sync::Arc::from).into()),
        ..columns(&[
            (0, 1, MSS, 0),
            (0, 1, MSS, 100_000),
            (1, 0, MSS, 200_000),
            (0, 1, MSS, 300_000),
            (0, 1, MSS, 400_000),
        ])
    };
    let run = run_columns(&format!("{PAIR}\n[transport]\n{OPEN}"), &list);
    assert_eq!(connections(&run), [0, 1, 2, 0, 1]);
}

#[test]
fn a_section_may_have_open_connections_alone() {
    // A list's flows have the section's transport; datagrams have no connections to share.
    let text = format!(
        "{PAIR}\n[transport]\nhandshake = true\n\
         [[traffic]]\nname = \"clocked\"\nkind = \"permutation\"\nsize = \"9KB\"\n\
         transport = \"udp\"\n\
         [[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\"\n{OPEN}\n\
         restart_idle = false\n"
    );
    let list = columns(&[(0, 1, MSS, 100_000), (0, 1, MSS, 300_000)]);
    let run = finish(Simulation::new(scenario_with(&text, &list)));
    assert_eq!(connections(&run), [0, 1, 2, 2]);
    let own = text.replace(OPEN, "").replace("restart_idle = false", "");
    let run = finish(Simulation::new(scenario_with(&own, &list)));
    assert_eq!(run.record.connections, None);
}

#[test]
fn where_no_two_flows_could_share_nothing_changes() {
    // All pairs of hosts, each once, over several paths and through buffers that overflow.
    let pairs = (0..9u32).flat_map(|src| (0..9).map(move |dst| (src, dst)));
    let list: Vec<Listed> = pairs
        .filter(|(src, dst)| src != dst)
        .map(|(src, dst)| (src, dst, 4_000 + 9_000 * u64::from(dst), 3_000 * u64::from(src)))
        .collect();
    for kind in [
        "dctcp",
        "newreno",
        "cubic",
        "theta-powertcp",
        "powertcp",
        "hpcc",
        "timely",
        "dcqcn",
        "dctcp-rdma",
    ] {
        let of = |connections: &str| {
            let text = format!(
                "duration = \"1ms\"\nstop = \"10s\"\n\
                 topology = {{ kind = \"leaf-spine\", leaves = 3, spines = 2, hosts_per_leaf = 3 }}\n\
                 switch = {{ buffer = \"60KB\", sharing = \"dt\", \
                 aqm = {{ kind = \"pred\", counter = \"exact\" }} }}\n\
                 [transport]\nkind = \"{kind}\"\nhandshake = true\n\
                 connections = \"{connections}\""
            );
            run_flows(&text, &list)
        };
        let (own, open) = (of("own"), of("open"));
        assert!(own.all_drops() > 20, "{kind}: {} losses", own.all_drops());
        assert_eq!(own.flows, open.flows, "{kind}");
        assert_eq!(own.summary, open.summary, "{kind}");
        assert_eq!(own.record.drops, open.record.drops, "{kind}");
        assert_eq!(connections(&open), (0..72).collect::<Vec<u32>>(), "{kind}");
    }
}

#[test]
fn an_aqm_counts_connections() {
    // PRED counts over 200 us. Two flows are over in that time, one after the other; later ones
    // keep the run going. The sample at 250 us tells the count of the first 200 us.
    let counted = |transport: &str, starts: [u64; 2]| {
        let text = format!(
            "{PAIR}\nswitch = {{ aqm = {{ kind = \"pred\", counter = \"exact\", t_fcs = \"200us\" }} }}\n\
             [record]\naqm_interval = \"250us\"\n[transport]\n{transport}"
        );
        let [a, b] = starts;
        let list = [(0, 1, 2 * MSS, a), (0, 1, 2 * MSS, b), (0, 1, MSS, 600_000)];
        let run = run_flows(&text, &list);
        let aqm = &run.record.aqm;
        let rows =
            (0..aqm.len()).find(|&row| aqm.time_ps[row] == 250_000_000 && aqm.port[row] == 1);
        aqm.flows.known(rows.expect("a sample of the port to host 1")).expect("a number of flows")
    };
    assert_eq!(counted("connections = \"own\"", [0, 100_000]), 2);
    assert_eq!(counted(OPEN, [0, 100_000]), 1);
    // At the same time they need two connections.
    assert_eq!(counted(OPEN, [0, 0]), 2);
}

#[test]
fn the_table_of_flows_has_a_column_only_where_connections_stay_open() {
    let names = |transport: &str| {
        let mut run = flows(transport, &[(2, 0), (2, 200_000)]);
        let columns = run.record.take("flows").expect("it is a table");
        // Rows that were taken are gone.
        let again = run.record.take("flows").expect("it is a table");
        assert!(again.iter().all(|column| matches!(&column.values, values if is_empty(values))));
        let last = columns.into_iter().next_back().expect("columns");
        (last.name, again.last().map(|column| column.name), last.values)
    };
    let (last, again, values) = names(OPEN);
    assert_eq!((last, again, values), ("connection", Some("connection"), Values::U32(vec![0, 0])));
    assert_eq!(names("connections = \"own\"").0, "query_id");
}

fn is_empty(values: &Values) -> bool {
    match values {
        Values::U8(v) => v.is_empty(),
        Values::U16(v) => v.is_empty(),
        Values::U32(v) => v.is_empty(),
        Values::U64(v) => v.is_empty(),
        Values::I16(v) => v.is_empty(),
        Values::I32(v) => v.is_empty(),
        Values::I64(v) => v.is_empty(),
        Values::F64(v) => v.is_empty(),
    }
}

#[test]
fn keys_that_mean_nothing_are_refused_and_not_inherited() {
    let read_whole =
        |text: &str| Scenario::read(text.parse().expect("a table"), &Sources::of(Path::new("")));
    let read = |text: &str| read_whole(&format!("{PAIR}\n{text}"));
    let refused = |text: &str| {
        let error = read(text).err().unwrap_or_else(|| panic!("{text} was accepted"));
        error.to_string().lines().next().unwrap_or_default().to_string()
    };
    let permutation = "[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"9KB\"";
    assert_eq!(
        refused(&format!("transport = {{ restart_idle = true }}\n{permutation}")),
        "transport.restart_idle: it needs connections = \"open\""
    );
    assert_eq!(
        refused(&format!("{permutation}\nconnections = \"own\"\nrestart_idle = false")),
        "traffic.a.restart_idle: it needs connections = \"open\""
    );
    assert_eq!(
        refused(&format!("transport = {{ kind = \"udp\", {OPEN} }}\n{permutation}")),
        "transport.connections: unknown key"
    );
    // A section with connections of its own does not inherit what it has no use for.
    let general = format!("transport = {{ {OPEN}, restart_idle = false }}\n{permutation}");
    for own in ["connections = \"own\"", "transport = \"hpcc\"", "transport = \"udp\""] {
        let scenario = read(&format!("{general}\n{own}")).unwrap_or_else(|error| panic!("{error}"));
        let section = &scenario.resolved["traffic"][0];
        assert!(section.get("restart_idle").is_none(), "{own}: {section}");
        // A resolved scenario resolves to itself.
        let resolved = scenario.resolved.to_string();
        let again = read_whole(&resolved).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.resolved.to_string(), resolved, "{own}");
    }
}
