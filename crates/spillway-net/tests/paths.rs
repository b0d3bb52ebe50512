//! Which links a flow and its acks take.

use crate::common::*;
use std::collections::BTreeSet;

/// Leaves 0 to 3 with 8 hosts each, and four spines. The hosts' lines come first, then those of the
/// leaves: each has 12, of which the last four lead to the spines. A spine has a line to each leaf.
const LEAF_SPINE: &str = "duration = \"1ms\"\nrecord.link_interval = \"1ms\"\n\
    topology = { kind = \"leaf-spine\", leaves = 4, spines = 4, hosts_per_leaf = 8, \
    host_rate = \"100Gbps\", fabric_rate = \"200Gbps\", link_delay = \"1us\" }\n";

/// The lines on which flows and their acks were sent.
fn lines(routing: &str, flows: &[Listed]) -> BTreeSet<u32> {
    let run = run_flows(&format!("{LEAF_SPINE}\n{routing}"), flows);
    run.record.links.link.iter().copied().collect()
}

/// The lines from host `src` over a spine to host `dst`.
fn over(spine: u32, src: u32, dst: u32) -> [u32; 4] {
    let (from, to) = (src / 8, dst / 8);
    [src, 32 + 12 * from + 8 + spine, 80 + 4 * spine + to, 32 + 12 * to + dst % 8]
}

/// A flow whose data take one spine, and whose acks another.
fn both(src: u32, dst: u32, there: u32, back: u32) -> BTreeSet<u32> {
    [over(there, src, dst), over(back, dst, src)].concat().into_iter().collect()
}

/// The spines that the simulator of HPCC chose: from 13 to 29 the last, and the third one back.
#[test]
fn flows_take_the_paths_of_the_rdma_simulators() {
    let routing = "routing = { hash = \"murmur3\", next_hops = \"descending\" }";
    assert_eq!(lines(routing, &[(13, 29, 1_000, 0)]), both(13, 29, 3, 2));
    assert_eq!(lines(routing, &[(20, 26, 1_000, 0)]), both(20, 26, 1, 3));
    // With ascending next hops the choices are mirrored.
    let ascending = "routing.hash = \"murmur3\"";
    assert_eq!(lines(ascending, &[(13, 29, 1_000, 0)]), both(13, 29, 0, 1));
    // The second flow of a pair has another port; one the other way has ports of its own.
    let second = lines(routing, &[(13, 29, 1_000, 0), (13, 29, 1_000, 500_000)]);
    let other = |there, back| &both(13, 29, 3, 2) | &both(13, 29, there, back);
    assert_eq!(second, other(1, 2));
    // It has no port of its own on a connection that is open.
    let open = format!("{routing}\ntransport.connections = \"open\"");
    let flows = [(13, 29, 1_000, 0), (13, 29, 1_000, 500_000)];
    assert_eq!(lines(&open, &flows), both(13, 29, 3, 2));
}

/// A list says 1: the second next hop of four. That is the third spine where they are counted from
/// the last.
#[test]
fn a_path_that_is_given_counts_next_hops_in_their_order() {
    let list = spillway_traffic::FlowColumns {
        path: Some(vec![Some(1)]),
        ack_path: Some(vec![Some(4)]),
        ..columns(&[(13, 29, 1_000, 0)])
    };
    let taken = |routing: &str| -> BTreeSet<u32> {
        let run = run_columns(&format!("{LEAF_SPINE}\n{routing}"), &list);
        run.record.links.link.iter().copied().collect()
    };
    assert_eq!(taken(""), both(13, 29, 1, 0));
    assert_eq!(taken("routing.next_hops = \"ascending\""), both(13, 29, 1, 0));
    assert_eq!(taken("routing.next_hops = \"descending\""), both(13, 29, 2, 3));
    assert_eq!(
        taken("routing = { hash = \"murmur3\", next_hops = \"descending\" }"),
        both(13, 29, 2, 3)
    );
}
