//! Scenarios that ask for more than `[limits]` allows are refused with the number and the key. With
//! a higher limit they are accepted.

use spillway_engine::Time;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use std::path::Path;

/// A scenario with a switch and this many hosts, for this long.
fn read(hosts: u32, duration: &str, more: &str) -> Result<Scenario, String> {
    let star = format!("topology.kind = \"star\"\ntopology.hosts = {hosts}");
    let text = format!("duration = \"{duration}\"\n{star}\n{more}");
    let read = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")));
    read.map_err(|error| error.to_string())
}

const WEB: &str = "[[traffic]]\nname = \"web\"\nkind = \"poisson\"\nsizes = \"1KB\"\n\
                   load_of = \"host\"\ndestinations = \"uniform\"";
const BIG: &str = "[[traffic]]\nname = \"big\"\nkind = \"permutation\"\nsize = \"200GB\"";
const LONG: &str = "[[traffic]]\nname = \"long\"\nkind = \"persistent\"\nreceiver = 0";

#[test]
fn more_flows_than_are_allowed_are_refused() {
    let ask = "[[traffic]]\nname = \"ask\"\nkind = \"incast\"\nsizes = \"1KB\"\nfan_in = 3\n\
               senders = \"any\"\ninterval = \"1ps\"";
    let all = "[[traffic]]\nname = \"all\"\nkind = \"all-to-all\"\nsize = \"1KB\"";
    for (hosts, more, problem) in [
        // 16 lines of 10 Gbps for 1 ms, and 8000 bits per flow: 20,000 times the load.
        (16, &format!("{WEB}\nload = 1e30"), "web: 2.0e34 flows are expected"),
        (16, &format!("{WEB}\nload = 501"), "web: 10020000 flows are expected"),
        (100_000, &all.to_string(), "all: 9999900000 flows are expected"),
        (
            4,
            &format!("{LONG}\nflows_per_pair = 99999999999"),
            "long: 299999999997 flows are expected",
        ),
        (4, &ask.to_string(), "ask: 12000000000 flows are expected"),
        // Either alone would be accepted.
        (
            16,
            &format!("{WEB}\nload = 300\n{}\nload = 300", WEB.replace("web", "too")),
            "too: 12000000",
        ),
    ] {
        let error = read(hosts, "1ms", more).unwrap_err();
        let hint = "hint: if that is meant, raise limits.flows, which is 10000000";
        assert!(error.starts_with(&format!("traffic.{problem}")), "{error}");
        assert!(error.ends_with(&format!("in all: more than limits.flows\n{hint}")), "{error}");
    }
    let meant = format!("limits = {{ flows = 10_020_000 }}\n{WEB}\nload = 501");
    let resolved = read(16, "1ms", &meant).unwrap().resolved;
    let limits = "flows = 10020000\nsamples = 1000000000\nmemory = \"4GB\"\n";
    assert_eq!(resolved["limits"].as_table().unwrap().to_string(), limits);
    let little = read(16, "1ms", &format!("{WEB}\nload = 0.5")).unwrap();
    assert!(!little.resolved.contains_key("limits"));
}

#[test]
fn what_would_fill_memory_at_once_is_refused() {
    // 100 GB are 69,060,774 packets of 1448 B, each of which takes 64 B of memory.
    let packets = "traffic.big: a window of 69060774 packets, sent at once, would take 4.4 GB";
    for (hosts, more, problem) in [
        (4, &format!("{BIG}\ninitial_window = \"100GB\""), packets),
        (4, &format!("{BIG}\nmin_window = \"100GB\""), packets),
        (4, &format!("{}\ninitial_window = \"flow\"", BIG.replace("200", "100")), packets),
        // 125 GB, in 100 s.
        (
            4,
            &format!("topology.base_rtt = \"100s\"\n{LONG}\ntransport = \"timely\""),
            "traffic.long: a window of 86325967 packets, sent at once, would take 5.5 GB",
        ),
        (
            1_000_000,
            &"switch.port_fifo_packets = 10_000".to_string(),
            "switch: the queues of 1000000 ports would take 80.1 GB",
        ),
        (
            1_000_000,
            &"nic.queues = 64".to_string(),
            "nic: the queues of 1000000 NICs would take 4.1 GB",
        ),
    ] {
        let error = read(hosts, "1ms", more).unwrap_err();
        let hint = "hint: if that is meant, raise limits.memory, which is 4000000000B";
        assert_eq!(error, format!("{problem}: more than limits.memory\n{hint}"));
    }
    let meant = format!("limits.memory = \"5GB\"\n{BIG}\ninitial_window = \"100GB\"");
    assert!(read(4, "1ms", &meant).is_ok());
    // A clock does not send everything at once.
    assert!(read(4, "1ms", &format!("{BIG}\ntransport = \"udp\"")).is_ok());
}

#[test]
fn what_is_done_too_often_is_refused() {
    for (more, problem) in [
        (
            "record.link_interval = \"5ps\"",
            "record.link_interval: every 5ps comes to 400000000 samples of each of 8",
        ),
        (
            "record.queue_interval = \"0.5ps\"",
            "record.queue_interval: every 1ps comes to 2000000000 samples",
        ),
        (
            "record.queue_interval = \"8ps\"\nrecord.empty_queues = true",
            "record.queue_interval: every 8ps comes to 250000000 samples of each of 5",
        ),
        (
            "record.port_interval = \"3ps\"",
            "record.port_interval: every 3ps comes to 666666667 samples of each of 8",
        ),
        (
            "record.port_interval = \"3ps\"\nrecord.port_switch = 0",
            "record.port_interval: every 3ps comes to 666666667 samples of each of 4",
        ),
        (
            "record.aqm_interval = \"3ps\"\nswitch.queues_per_port = 2",
            "record.aqm_interval: every 3ps comes to 666666667 samples of each of 8",
        ),
        (
            "switch.sharing = { kind = \"abm\", update_interval = \"1ps\" }",
            "switch.sharing: every 1ps comes to 2000000000 samples",
        ),
    ] {
        let Err(error) = read(4, "2ms", more) else { panic!("{more}") };
        let hint = "hint: if that is meant, raise limits.samples, which is 1000000000";
        assert_eq!(error, format!("{problem}: more than limits.samples\n{hint}"));
    }
}

/// Runs a scenario to its end with this limit of memory. Returns how it ended, and the most memory
/// that it took.
fn most(memory: &str, more: &str) -> (Progress, u64) {
    let limits = format!("limits.memory = \"{memory}\"\n{more}");
    let mut simulation = Simulation::new(read(4, "1ms", &limits).unwrap());
    loop {
        match simulation.run(100) {
            Progress::Running => {}
            done => return (done, simulation.bytes()),
        }
    }
}

#[test]
fn a_run_ends_when_it_takes_more_memory_than_is_allowed() {
    // Three hosts send to one at 10 Gbps each and nothing is refused: in 1 ms 1667 packets of 64 B
    // queue up.
    let overload =
        format!("transport = {{ kind = \"udp\", rate = \"10Gbps\" }}\n{LONG}\nstop = \"1ms\"");
    assert_eq!(most("1MB", &overload).0, Progress::Complete);
    let (progress, bytes) = most("50KB", &overload);
    assert_eq!(progress, Progress::OutOfMemory);
    assert!((50_001..60_000).contains(&bytes), "{bytes}");
    // Flows that start together.
    let many = format!("{LONG}\nflows_per_pair = 100_000");
    let (progress, bytes) = most("1MB", &many);
    assert_eq!(progress, Progress::OutOfMemory);
    assert!((1_000_001..1_010_000).contains(&bytes), "{bytes}");
    // For each flow that is over, 48 bytes are kept.
    let web = format!("transport = {{ kind = \"udp\" }}\n{WEB}\nload = 0.5");
    assert_eq!(most("1MB", &web).0, Progress::Complete);
    assert_eq!(most("60KB", &web).0, Progress::OutOfMemory);
}

/// Two flows, one of which crosses a dead link: policies are woken until the stop, 10 s later.
#[test]
fn looks_after_the_duration_are_bounded_too() {
    let ended = |policy: &str, record: &str, samples: u64| {
        let text = format!(
            "duration = \"100us\"\nlimits.samples = {samples}\n\
             topology = {{ kind = \"star\", hosts = 2 }}\n\
             switch = {{ buffer = \"100KB\", sharing = {policy} }}\n\
             event = [{{ a = \"leaf0\", b = \"host0\", at = \"1us\" }}]\n\
             traffic = [{{ name = \"p\", kind = \"permutation\", size = \"5KB\" }}]\n\
             record = {record}"
        );
        let read = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")));
        let mut simulation = Simulation::new(read.unwrap());
        loop {
            match simulation.run(100) {
                Progress::Running => {}
                done => return (done, simulation.now()),
            }
        }
    };
    let woken = "{ kind = \"abm\", drain = \"interval\", update_interval = \"100ns\" }";
    let sampled = "{ queue_interval = \"200ns\", empty_queues = true }";
    // 2,000 wake-ups of a switch, and as many looks at a switch and at its two queues.
    for (policy, record, us) in [(woken, "{}", 300), ("\"dt\"", sampled, 233)] {
        let (progress, now) = ended(policy, record, 2_000);
        assert_eq!(progress, Progress::TooManySamples);
        assert!((Time::from_us(us - 1)..Time::from_us(us + 25)).contains(&now), "{now}");
    }
    assert_eq!(ended("\"dt\"", "{}", 1).0, Progress::Stopped);
}

#[test]
fn a_policy_that_is_woken_all_the_time_is_warned_of() {
    let warnings = |interval: &str| {
        let more =
            format!("switch.sharing = {{ kind = \"abm\", update_interval = \"{interval}\" }}");
        read(4, "100us", &more).unwrap().warnings
    };
    let expected = "switch.sharing.kind: it is woken every 1ps, 100000000 times in all: each takes a \
                    microsecond or more";
    assert!(warnings("1ps").contains(&expected.to_string()), "{:?}", warnings("1ps"));
    // Ten seconds after the duration are more wake-ups than `limits.samples`.
    let later = "it is woken every 9ns, also while flows go on after duration, 1111122222 times until \
                 stop = 10.0001s: ";
    assert!(warnings("9ns").iter().any(|text| text.contains(later)), "{:?}", warnings("9ns"));
    assert!(!warnings("11ns").iter().any(|text| text.contains("woken")));
}
