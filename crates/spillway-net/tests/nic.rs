//! A host's NIC with a queue limit and an AQM: what it marks, and what it loses.
//!
//! A full packet has 1500 bytes, which take 1.2 us at 10 Gbps; every link has a delay of 3 us. Of
//! packets that a host sends at once, the first is on the line and the others wait.

use crate::common::*;
use spillway_engine::Time;
use spillway_net::extensions::Extensions;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::Simulation;
use spillway_settings::{Section, SettingsError};
use spillway_switch::aqm::Aqm;
use spillway_switch::policy::{Arrival, Departure, Verdict, Watch};
use spillway_switch::{AqmExtension, Buffer, DropReason, Environment, Extension, ExtensionParams};
use spillway_traffic::FlowColumns;
use std::path::Path;
use std::sync::Arc;

const STAR: &str = "kind = \"star\"\nhosts = 3\nhost_rate = \"10Gbps\"\nlink_delay = \"3us\"";
/// In rows of losses hosts are numbered after the switches; this is host 1.
const HOST_1: u32 = 2;

fn text(nic: &str, transport: &str) -> String {
    format!(
        "duration = \"100us\"\nstop = \"1s\"\n[topology]\n{STAR}\n[nic]\n{nic}\n\
         [transport]\n{transport}"
    )
}

/// Host 1 sends ten packets to host 0, at once.
fn ten(nic: &str, transport: &str) -> Run {
    let transport = format!("{transport}\ninitial_window = \"10pkt\"");
    run_flows(&text(nic, &transport), &[(1, 0, 10 * MSS, 0)])
}

/// The packets of a flow that were lost when sent for the first time, in order.
fn lost_at_first(run: &Run, flow: u32) -> Vec<u64> {
    let lost = run.lost().into_iter().filter(|loss| loss.flow == flow && loss.time_ps == 0);
    lost.map(|loss| loss.seq / MSS).collect()
}

#[test]
fn what_finds_more_than_the_threshold_is_marked() {
    // Packet k, counted from 1, finds k - 1 waiting: 0 to 8, of which four are above 4 and five at
    // least 4.
    let marks = |ecn: &str| {
        let run = ten(&format!("aqm = {{ kind = \"ecn\", {ecn} }}"), "kind = \"dctcp\"");
        assert_eq!(run.all_drops(), 0);
        run.number("marks")
    };
    assert_eq!(marks("threshold = \"4pkt\""), 4.0);
    assert_eq!(marks("threshold = \"4pkt\", at_threshold = \"mark\""), 5.0);
    assert_eq!(marks("threshold = \"6000B\""), 4.0);
    assert_eq!(marks("threshold = \"5999B\""), 5.0);
    assert_eq!(marks("threshold = \"8pkt\""), 0.0);
    let red = ten("aqm = { kind = \"red\", min = \"4pkt\", max = \"4pkt\" }", "kind = \"dctcp\"");
    assert_eq!(red.number("marks"), 5.0);
}

#[test]
fn what_cannot_be_marked_is_lost_there() {
    // From the sixth on all find five waiting, since lost packets do not join them.
    let aqm = "aqm = { kind = \"ecn\", threshold = \"4pkt\", not_ect = \"drop\" }";
    let run = ten(aqm, "kind = \"newreno\"");
    assert_eq!(lost_at_first(&run, 0), [6, 7, 8, 9]);
    assert!(run.lost().iter().all(|loss| loss.reason == DropReason::Aqm && loss.place == HOST_1));
    assert_eq!((run.number("marks"), run.flows[0].delivered), (0.0, 10 * MSS));
}

#[test]
fn what_is_beyond_the_limit_is_lost_and_has_a_row() {
    let run = ten("queue_limit = \"3pkt\"", "kind = \"dctcp\"");
    let row = |number: u64| Loss {
        time_ps: 0,
        place: HOST_1,
        port: 0,
        reason: DropReason::QueueLimit,
        flow: 0,
        seq: number * MSS,
        size: 1500,
    };
    assert_eq!(run.lost(), (4..10).map(row).collect::<Vec<_>>());
    let drops = &run.record.drops;
    assert!(drops.queue.iter().all(|&queue| queue == 0));
    assert!(drops.queue_bytes.iter().chain(&drops.occupancy_bytes).all(|&bytes| bytes == 4500));
    assert_eq!(run.summary["drops"].to_string(), "{\"queue_limit\":6}");
    // The sender is not told: it must find the losses itself and retransmit.
    assert_eq!((run.flows[0].delivered, run.flows[0].retransmitted), (10 * MSS, 6));
    let in_bytes =
        |limit| ten(&format!("queue_limit = \"{limit}B\""), "kind = \"dctcp\"").all_drops();
    assert_eq!((in_bytes(4500), in_bytes(4499)), (6, 7));
}

#[test]
fn every_priority_has_a_queue_of_its_own() {
    let list = FlowColumns {
        priority: Some(vec![Some(1), Some(0)]),
        ..columns(&[(1, 0, 10 * MSS, 0), (1, 2, 10 * MSS, 0)])
    };
    let transport = "kind = \"newreno\"\ninitial_window = \"10pkt\"";
    let run = run_columns(&text("queues = 2\nqueue_limit = \"3pkt\"", transport), &list);
    // The first packet of flow 0 is on the line by then.
    assert_eq!(lost_at_first(&run, 0), (4..10).collect::<Vec<_>>());
    assert_eq!(lost_at_first(&run, 1), (3..10).collect::<Vec<_>>());
    let first = |flow: usize| &run.record.drops.queue[[0, 6][flow]];
    assert_eq!((first(0), first(1)), (&1, &0));
}

#[test]
fn flows_that_take_turns_share_the_limit() {
    // Before host 1's first packet has left, a flow of two begins there. Flows take turns, so the
    // two would leave at 2.4 us and 4.8 us. Ten packets may wait, and nine of the first flow do, so
    // the second packet is lost.
    let list = [(1, 0, 10 * MSS, 0), (1, 2, 2 * MSS, 1_000)];
    let with = |limit: u32| {
        let nic = format!("scheduling = \"per-flow-rr\"\nqueue_limit = \"{limit}pkt\"");
        run_flows(&text(&nic, "kind = \"newreno\"\ninitial_window = \"10pkt\""), &list)
    };
    assert_eq!(with(11).fct(1), 12_200_000);
    let lost: Vec<_> = with(10).lost().iter().map(|loss| (loss.flow, loss.seq)).collect();
    assert_eq!(lost, [(1, MSS)]);
}

#[test]
fn what_is_in_the_ring_is_not_in_the_queue() {
    let run = ten("queue_limit = \"3pkt\"\nfifo_packets = 2", "kind = \"newreno\"");
    assert_eq!(lost_at_first(&run, 0), [6, 7, 8, 9]);
    let ecn = "aqm = { kind = \"ecn\", threshold = \"4pkt\" }\nfifo_packets = 2";
    assert_eq!(ten(ecn, "kind = \"dctcp\"").number("marks"), 2.0);
}

#[test]
fn acks_are_left_alone_only_in_a_queue_of_their_own() {
    // Host 0's ack for host 1 enters a NIC in which twelve packets wait, at 8.4 us.
    let list = [(0, 2, 20 * MSS, 0), (1, 0, MSS, 0)];
    let run = |queues: &str| {
        let aqm = "aqm = { kind = \"ecn\", threshold = \"4pkt\", not_ect = \"drop\" }";
        let nic = format!("{aqm}\n{queues}");
        run_flows(&text(&nic, "kind = \"dctcp\"\ninitial_window = \"20pkt\""), &list)
    };
    let (shared, own) = (run("queues = 2"), run("queues = 2\ndata_queue = 1"));
    let lost =
        |run: &Run| run.lost().iter().map(|l| (l.time_ps, l.flow, l.size)).collect::<Vec<_>>();
    assert_eq!(lost(&shared), [(8_400_000, 1, 52)]);
    assert_eq!(lost(&own), []);
}

#[test]
fn a_failing_link_empties_the_queue() {
    // At 1 us the first packet is on the line, three wait, and six were dropped. Ten milliseconds
    // later all ten are sent again, in slow start; nothing is left of those that waited.
    let event = "[[event]]\nkind = \"link-down\"\na = \"host1\"\nb = \"leaf0\"\nat = \"1us\"\n\
                 until = \"100us\"";
    let transport = format!("kind = \"newreno\"\ninitial_window = \"10pkt\"\n{event}");
    let run = run_flows(
        &text("queue_limit = \"3pkt\"\naqm = \"ecn\"", &transport),
        &[(1, 0, 10 * MSS, 0)],
    );
    assert_eq!(run.drops(DropReason::QueueLimit), 6);
    assert_eq!((run.drops(DropReason::LinkDown), run.all_drops()), (4, 10));
    assert!(run.lost().iter().all(|loss| loss.place == HOST_1));
    assert_eq!(run.flows[0].delivered, 10 * MSS);
}

/// A switch before host 1 acts like a NIC's queue if its input is forty times as fast as its
/// output.
#[test]
fn a_switch_in_the_place_of_the_queue_does_the_same() {
    let flows = [(1, 0, 300 * MSS, 0), (1, 2, 200 * MSS, 5_000), (1, 0, 50 * MSS, 200_100)];
    let both = |aqm: &str| {
        let transport =
            "kind = \"dctcp\"\nhost_backlog = \"unlimited\"\nrecovery.min_rto = \"1ms\"";
        let own = run_flows(&text(aqm, transport), &flows);
        let host = |name, switch, rate, delay| {
            format!(
                "{{ name = \"{name}\", switch = \"{switch}\", rate = \"{rate}Gbps\", delay = \"{delay}us\" }}"
            )
        };
        let switch = format!(
            "duration = \"100us\"\nstop = \"1s\"\n[topology]\nkind = \"graph\"\n\
             switch = [{{ name = \"center\" }}, {{ name = \"nic\" }}]\n\
             host = [{}, {}, {}]\n\
             link = [{{ a = \"nic\", b = \"center\", rate = \"10Gbps\", delay = \"3us\" }}]\n\
             [switch]\n{aqm}\n[transport]\n{transport}",
            host("0", "center", 10, 3),
            host("1", "nic", 400, 0),
            host("2", "center", 10, 3),
        );
        let imitated = run_flows(&switch, &flows);
        let seen = |run: &Run| {
            let lost = run.lost().iter().map(|l| (l.flow, l.seq, l.reason)).collect::<Vec<_>>();
            (run.number("marks"), lost, run.counters.retransmitted_packets)
        };
        assert_eq!(seen(&own), seen(&imitated), "{aqm}");
        seen(&own)
    };
    let (marks, lost, _) = both("aqm = { kind = \"ecn\", threshold = \"20pkt\" }");
    assert!(marks > 50.0 && lost.is_empty(), "{marks}");
    let (marks, lost, _) = both("aqm = \"ecn\"\nqueue_limit = \"30pkt\"");
    assert!(marks == 0.0 && lost.len() > 5, "{marks} {lost:?}");
    let (marks, ..) =
        both("aqm = { kind = \"red\", min = \"9pkt\", max = \"9pkt\", weight = 0.5 }");
    assert!(marks > 50.0, "{marks}");
}

#[test]
fn a_sender_that_is_told_cuts_and_keeps_what_was_refused() {
    // The fifth of ten packets is refused. It counts as not sent, the window is cut to five, and
    // nothing more is sent before the first ack, at 8.4 + 6.0832 us. That ack lets two go, each of
    // the next three one, and the next one, a round trip later, the last. A window slightly above
    // five allows no more.
    for kind in ["newreno", "dctcp", "cubic\"\nbeta = 0.5\nhystart = \"none"] {
        let run = ten(
            "queue_limit = \"3pkt\"\nlocal_drops = \"cut\"",
            &format!("kind = \"{kind}\"\nmin_window = \"1pkt\""),
        );
        let lost: Vec<_> = run.lost().iter().map(|loss| (loss.time_ps, loss.seq / MSS)).collect();
        assert_eq!(lost, [(0, 4)], "{kind}");
        assert_eq!(run.fct(0), 2 * 14_483_200 + 8_400_000, "{kind}");
        let row = &run.flows[0];
        assert_eq!((row.retransmitted, row.timeouts, row.delivered), (0, 0, 10 * MSS), "{kind}");
    }
}

#[test]
fn a_sender_that_is_told_of_an_early_drop_cuts_and_repairs() {
    // Packet 6, which finds five waiting, is dropped. It counts as sent, so seven are in flight
    // with a window of five. The other three are sent with the third ack and those after it. Their
    // acks show the loss, for which the window is not cut again.
    let aqm = "aqm = { kind = \"ecn\", threshold = \"4pkt\", not_ect = \"drop\" }";
    let run = ten(&format!("{aqm}\nlocal_drops = \"cut\""), "kind = \"newreno\"");
    let lost: Vec<_> = run.lost().iter().map(|loss| (loss.time_ps, loss.seq / MSS)).collect();
    assert_eq!(lost, [(0, 6)]);
    let row = &run.flows[0];
    assert_eq!((row.retransmitted, row.timeouts), (1, 0));
    // The third ack comes at 14.4832 + 2.4 us, that of the last packet a round trip and 2.4 us
    // later.
    assert_eq!(run.fct(0), 2 * 14_483_200 + 2 * 2_400_000 + 8_400_000);
}

#[test]
fn a_sender_that_has_nothing_out_tries_again_when_its_timer_runs_out() {
    // Flow 0 fills the queue, so flow 1 gets neither of its two packets out and will see no ack. It
    // tries again when its first timer expires, which does not count as a timeout.
    let transport =
        "kind = \"newreno\"\ninitial_window = \"10pkt\"\nrecovery.initial_rto = \"1ms\"";
    for more in [
        "",
        "recovery.reduction = \"proportional\"",
        "recovery.tail_loss_probe = true",
        "recovery.kind = \"rack\"",
        "recovery.kind = \"ns3\"",
    ] {
        let run = run_flows(
            &text("queue_limit = \"3pkt\"\nlocal_drops = \"cut\"", &format!("{transport}\n{more}")),
            &[(1, 0, 4 * MSS, 0), (1, 2, 2 * MSS, 0)],
        );
        let lost: Vec<_> = run.lost().iter().map(|loss| (loss.flow, loss.seq)).collect();
        assert_eq!(lost, [(1, 0)], "{more}");
        assert_eq!(run.fct(1), 1_000_000_000 + 2 * 1_200_000 + 3_000_000 + 4_200_000, "{more}");
        assert_eq!((run.flows[1].timeouts, run.flows[1].retransmitted), (0, 0), "{more}");
    }
}

#[test]
fn whatever_is_refused_arrives_in_the_end() {
    // The path to host 0 loses packets, and another flow and datagrams fill host 1's queue. New
    // data is refused now and then, and so are retransmissions.
    let nic = "queue_limit = \"4pkt\"\nlocal_drops = \"cut\"";
    let list = columns(&[(1, 0, 200 * MSS, 0), (1, 2, 600 * MSS, 0)]);
    for how in [
        "",
        "recovery.reduction = \"proportional\"",
        "recovery.reduction = \"proportional-ns3\"",
        "recovery.kind = \"rack\"",
        "recovery.kind = \"rack\"\nrecovery.reduction = \"at-once\"",
        "recovery.kind = \"ns3\"",
        "min_window = \"400B\"",
    ] {
        let transport = format!("kind = \"newreno\"\nrecovery.min_rto = \"1ms\"\n{how}");
        let text = format!(
            "{}\n[[event]]\nkind = \"link-loss\"\na = \"leaf0\"\nb = \"host0\"\nat = \"0us\"\n\
             rate = 0.05\n[[traffic]]\nname = \"clocked\"\nkind = \"persistent\"\nsenders = 1\n\
             receiver = 2\nstop = \"30ms\"\ntransport = \"udp\"\nrate = \"9.9Gbps\"",
            text(nic, &transport)
        );
        let run = run_columns(&text, &list);
        let flow = run.flows.iter().find(|row| row.size == 200 * MSS).unwrap();
        let at = |reason| {
            let of_flow = |loss: &&Loss| loss.reason == reason && loss.flow == flow.flow_id;
            run.lost().iter().filter(of_flow).map(|loss| loss.seq).collect::<Vec<_>>()
        };
        let (lost, refused) = (at(DropReason::LinkLoss), at(DropReason::QueueLimit));
        assert!(refused.iter().any(|seq| lost.contains(seq)), "{how}: {lost:?} {refused:?}");
        assert!(refused.iter().any(|seq| !lost.contains(seq)), "{how}: {lost:?} {refused:?}");
        assert_eq!(flow.delivered, 200 * MSS, "{how}");
    }
}

/// An AQM that drops packets that have waited for more than 3 us, and those that arrive while it is
/// closed, which is in every other period.
#[derive(Clone, Debug, Default)]
struct Moody {
    period: Option<Time>,
    periods: u32,
}

impl Watch for Moody {
    fn watches_departures(&self) -> bool {
        true
    }

    fn on_departure(&mut self, departure: &Departure, _buffer: &Buffer) -> Verdict {
        if departure.now - departure.queued_at > Time::from_us(3) {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    }

    fn period(&self) -> Option<Time> {
        self.period
    }

    fn on_timer(&mut self, _now: Time, _buffer: &Buffer) {
        self.periods += 1;
    }
}

impl Aqm for Moody {
    fn on_arrival(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Verdict {
        if self.periods % 2 == 1 { Verdict::Drop } else { Verdict::Pass }
    }
}

#[derive(Debug)]
struct MoodyKind;

impl Extension<dyn AqmExtension> for MoodyKind {
    fn id(&self) -> &str {
        "moody"
    }

    fn params(
        &self,
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn AqmExtension>>, SettingsError> {
        let period = section.time("period", "0us", "how often it closes or opens")?;
        Ok(Arc::new(MoodyParams { period: Some(period).filter(|&time| time > Time::ZERO) }))
    }
}

#[derive(Debug)]
struct MoodyParams {
    period: Option<Time>,
}

impl ExtensionParams<dyn AqmExtension> for MoodyParams {
    fn make(&self, environment: &Environment) -> Box<dyn AqmExtension> {
        // It is told of a port of 10 Gbps, numbered after the only switch, with unlimited buffer.
        assert!((1..4).contains(&environment.switch));
        assert_eq!(environment.port_rates.len(), 1);
        assert_eq!(environment.capacity, Buffer::UNLIMITED);
        Box::new(Moody { period: self.period, periods: 0 })
    }
}

fn moody(period: &str, transport: &str, flow: Listed) -> Run {
    let nic = format!("aqm = {{ kind = \"moody\", period = \"{period}\" }}");
    let list = columns(&[flow]);
    let sources = Sources {
        flows: &|_, _| Some(list.clone()),
        extensions: Extensions { aqm: vec![Arc::new(MoodyKind)], ..Extensions::default() },
        ..Sources::of(Path::new(""))
    };
    let text = with_list(&text(&nic, transport));
    let given = by_exact_clocks(text.parse().unwrap());
    finish(Simulation::new(Scenario::read(given, &sources).unwrap()))
}

#[test]
fn an_aqm_may_drop_what_leaves() {
    // Packet k would leave at 1.2 k us. The first three do; at 3.6 us all others have waited too
    // long.
    let udp = "kind = \"udp\"\nrate = \"8000Gbps\"";
    let run = moody("0us", udp, (1, 0, 10 * MSS, 0));
    let lost: Vec<_> =
        run.lost().iter().map(|loss| (loss.time_ps / 1000, loss.seq / MSS)).collect();
    assert_eq!(lost, (3..10).map(|number| (3_600, number)).collect::<Vec<_>>());
    assert!(run.lost().iter().all(|l| l.reason == DropReason::Aqm && l.place == HOST_1));
}

#[test]
fn an_aqm_at_a_host_is_woken() {
    // A packet every 2.4 us, 0 to 24. Those in (10, 20], (30, 40] and (50, 60] us are lost.
    let run = moody("10us", "kind = \"udp\"\nrate = \"5Gbps\"", (1, 0, 25 * MSS, 0));
    let lost: Vec<_> = run.lost().iter().map(|loss| loss.seq / MSS).collect();
    assert_eq!(lost, [5, 6, 7, 8, 13, 14, 15, 16, 21, 22, 23, 24]);
}

#[test]
fn what_is_wrong_is_told() {
    let error = |nic: &str| {
        let given = text(nic, "kind = \"dctcp\"").parse().unwrap();
        Scenario::read(given, &Sources::of(Path::new(""))).unwrap_err().to_string()
    };
    assert_eq!(
        error("queue_limit = \"1499B\""),
        "nic.queue_limit: 1499B is not valid; it must hold a full packet, 1500B"
    );
    assert_eq!(
        error("queue_limit = \"0pkt\""),
        "nic.queue_limit: 0pkt is not valid; it must hold a full packet, 1500B"
    );
    assert_eq!(
        error("local_drops = \"cut\""),
        "nic.local_drops: \"cut\" needs `queue_limit` or `aqm`: without them hosts drop nothing"
    );
    let given = text("aqm = \"ecn\"\nlocal_drops = \"cut\"", "kind = \"timely\"").parse().unwrap();
    let refused = Scenario::read(given, &Sources::of(Path::new(""))).unwrap_err().to_string();
    assert_eq!(
        refused,
        "nic.local_drops: \"cut\" is not valid with transport = \"timely\", which does not cut for a \
         mark alone; it needs dctcp, newreno, cubic or udp"
    );
    let known = spillway_switch::aqm::AqmPolicy::IDS.join(", ");
    let unknown = format!(
        "nic.aqm: \"blue\" is not known; expected one of {known}, or a table with `kind` and \
         parameters\nhint: valid here: {known}"
    );
    assert_eq!(error("aqm = \"blue\""), unknown);
    assert!(
        error("aqm = { kind = \"ecn\", treshold = \"4pkt\" }").starts_with("nic.aqm.treshold: ")
    );
    assert_eq!(
        error("aqm = { kind = \"red\", min = \"9pkt\" , max = \"8pkt\" }"),
        "nic.aqm.max: 8pkt must not be less than min = 9pkt, in the same unit"
    );
    assert_eq!(
        error("aqm = \"mq-ecn\""),
        "nic.aqm.kind: \"mq-ecn\" is not valid where queues are served by \"strict\", which has no \
         turns; it needs rr or dwrr\nhint: `tcn` marks by the time waited, whatever the scheduler"
    );
}
