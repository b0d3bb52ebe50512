//! A ring below the queues of ports: packets in it are committed to the line, and no queue counts
//! them.
//!
//! A full packet has 1500 bytes, which take 1.2 us at 10 Gbps; every link has a delay of 3 us.

use crate::common::*;
use spillway_net::scenario::{Scenario, Sources};
use spillway_switch::DropReason;
use spillway_traffic::FlowColumns;
use std::path::Path;

const STAR: &str = "kind = \"star\"\nhosts = 6\nhost_rate = \"10Gbps\"\nlink_delay = \"3us\"";

/// Five hosts send one packet each to host 0, all at once.
fn five(switch: &str) -> Run {
    let flows: Vec<Listed> = (1..6).map(|src| (src, 0, MSS, 0)).collect();
    let text = format!(
        "duration = \"50us\"\nstop = \"1s\"\n[topology]\n{STAR}\n[switch]\n{switch}\n\
         [transport]\nkind = \"dctcp\""
    );
    run_flows(&text, &flows)
}

/// The arrival times of the packets that need no timeout, in nanoseconds.
fn arrivals(run: &Run) -> Vec<u64> {
    let mut times: Vec<u64> = (0..5).map(|flow| run.fct(flow) / 1000).collect();
    times.retain(|&ns| ns < 1_000_000);
    times.sort_unstable();
    times
}

#[test]
fn what_is_in_the_ring_takes_no_buffer() {
    // One packet is on the line and one fills the buffer; three are lost. The first needs 1.2 us
    // and 3 us twice, each further one 1.2 us more.
    let run = five("buffer = \"1500B\"");
    assert_eq!(arrivals(&run), [8_400, 9_600]);
    // With a ring of two, two more get through.
    let run = five("buffer = \"1500B\"\nport_fifo_packets = 2");
    assert_eq!(run.drops(DropReason::BufferFull), 1);
    assert_eq!(arrivals(&run), [8_400, 9_600, 10_800, 12_000]);
    let run = five("buffer = \"1500B\"\nport_fifo_packets = 4");
    assert_eq!((run.all_drops(), arrivals(&run).len()), (0, 5));
}

#[test]
fn what_is_in_the_ring_is_not_marked() {
    // Four wait behind the one on the line. Of those in the queue all from the third on are marked.
    let marks = |ring: u32| {
        let aqm = "aqm = { kind = \"ecn\", threshold = \"2pkt\", at_threshold = \"mark\" }";
        five(&format!("{aqm}\nport_fifo_packets = {ring}")).number("marks")
    };
    assert_eq!((0..5).map(marks).collect::<Vec<_>>(), [2.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn nobody_overtakes_what_is_in_the_ring() {
    // Hosts 1 and 2 send five packets each to host 0, which leave the switch from 4.2 us on. Host
    // 3's packet has a higher priority and arrives there at 9.1 us, when the fifth is on the line
    // until 10.2 us.
    let list = FlowColumns {
        priority: Some(vec![Some(1), Some(1), Some(0)]),
        ..columns(&[(1, 0, 5 * MSS, 0), (2, 0, 5 * MSS, 0), (3, 0, MSS, 4_900)])
    };
    let fct = |ring: u32| {
        let text = format!(
            "duration = \"50us\"\nstop = \"1s\"\n[topology]\n{STAR}\n[switch]\n\
             queues_per_port = 2\nscheduling = \"strict\"\nport_fifo_packets = {ring}\n\
             [transport]\nkind = \"newreno\""
        );
        run_columns(&text, &list).fct(2) / 1000
    };
    // 10.2 + 1.2 + 3 - 4.9 us. With a ring of two it waits for two more packets, and with one of
    // five for all of them.
    assert_eq!([fct(0), fct(2), fct(5), fct(10)], [9_500, 11_900, 15_500, 15_500]);
}

#[test]
fn a_card_s_ring_is_served_before_its_queues() {
    // Host 1 sends ten packets and, when the first has left, one of another flow. Flows take turns,
    // so that packet is second; behind a ring of three it is fourth.
    let list = columns(&[(1, 0, 10 * MSS, 0), (1, 2, MSS, 1_000)]);
    let fct = |ring: u32| {
        let text = format!(
            "duration = \"50us\"\nstop = \"1s\"\n[topology]\n{STAR}\n[nic]\n\
             scheduling = \"per-flow-rr\"\nfifo_packets = {ring}\n\
             [transport]\nkind = \"newreno\"\ninitial_window = \"20pkt\""
        );
        run_columns(&text, &list).fct(1) / 1000
    };
    // It begins at 2.4 us, after a packet of the other flow whose turn it was: 2.4 + 1.2 + 3 + 1.2
    // + 3 - 1 us.
    assert_eq!([fct(0), fct(3)], [9_800, 9_800 + 3 * 1_200]);
}

#[test]
fn it_is_refused_where_it_has_no_meaning() {
    let error = |switch: &str, rest: &str| {
        let text = format!("duration = \"1ms\"\n[topology]\n{STAR}\n[switch]\n{switch}\n{rest}");
        Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap_err().to_string()
    };
    assert_eq!(
        error("port_fifo_packets = 1\nrelease = \"end\"", ""),
        "switch.port_fifo_packets: needs release = \"start\": what waits there is not counted"
    );
    let event = "[[event]]\na = \"leaf0\"\nb = \"host0\"\nat = \"1us\"";
    assert_eq!(
        error("port_fifo_packets = 1", event),
        "event: not with switch.port_fifo_packets or nic.fifo_packets: what has left a port's \
         queues cannot be lost any more"
    );
}
