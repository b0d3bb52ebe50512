//! Long flows whose packets are lost: no sender goes on sending again what is lost again, and no
//! timeout comes before a repair.

use crate::common::*;

/// Four flows through a port with PIE, which the first ones overrun by ten times the
/// bandwidth-delay product: 400 us with the target are 110 packets, 28 for each flow. Half that
/// window is regained in 14 round trips, in which 300 packets are sent, so about one in 300 is
/// lost. A storm loses most of them.
#[test]
fn repairs_do_not_keep_a_port_overrun() {
    let detections = ["sack", "rack", "per-priority", "duplicate-acks", "timeout-only", "ns3"];
    let rules = ["at-once", "proportional", "proportional-rfc6937"];
    let cases = detections.iter().flat_map(|detection| rules.map(|rule| (*detection, rule)));
    let cases: Vec<(&str, &str)> = cases.collect();
    on_all_cores(0..cases.len() as u64, |place| {
        let (detection, rule) = cases[place as usize];
        let text = format!(
            "duration = \"300ms\"\nstop = \"300ms\"\n\
             [topology]\nkind = \"dumbbell\"\nsenders = 1\nreceivers = 1\nhost_rate = \"40Gbps\"\n\
             bottleneck_rate = \"4Gbps\"\nbottleneck_delay = \"98us\"\nlink_delay = \"1us\"\n\
             [switch]\nbuffer = \"unlimited\"\nqueue_limit = \"1000pkt\"\n\
             aqm = {{ kind = \"pie\", target = \"150us\", update_interval = \"150us\", alpha = 12.5, \
             beta = 125, burst = \"1500us\", derandomize = true, not_ect = \"drop\" }}\n\
             [transport]\nkind = \"newreno\"\nrecovery.min_rto = \"2ms\"\nhost_backlog = \"unlimited\"\n\
             recovery.kind = \"{detection}\"\nrecovery.reduction = \"{rule}\"\n\
             [[traffic]]\nname = \"f\"\nkind = \"persistent\"\npairs = [[0, 1]]\n\
             flows_per_pair = 4"
        );
        let run = run(&text);
        let late = run.lost().iter().filter(|loss| loss.time_ps > 150_000_000_000).count();
        let sent = 4_000_000_000 / 8 * 150 / 1_000 / FULL;
        assert!(late as u64 * 100 < sent, "{detection}, {rule}: {late} of {sent} packets");
        let shares: Vec<f64> = run.flows.iter().map(|row| row.delivered as f64).collect();
        assert!(jain(&shares) > 0.8, "{detection}, {rule}: {shares:?}");
    });
}

/// Equal round trips of 20 ms, 0.05% of packets and acks are lost, and `min_rto` is 10 ms, so that
/// it has no effect. All losses of the flow but those of bursts' last packets are shown by three
/// acks behind them, and repaired within two round trips.
#[test]
fn no_timeout_comes_before_a_repair() {
    let counts = |topology: &str, lossy: &str, duration: &str, transport: &str| {
        let text = format!(
            "duration = \"{duration}\"\nstop = \"{duration}\"\ntopology = {{ {topology} }}\n\
             switch = {{ buffer = \"unlimited\" }}\n\
             [transport]\nkind = \"newreno\"\n{transport}\n\
             [[traffic]]\nname = \"f\"\nkind = \"persistent\"\npairs = [[0, 1]]\n\
             [[event]]\nkind = \"link-loss\"\na = \"leaf0\"\nb = \"{lossy}"
        );
        let run = run(&text);
        (run.counters.timeouts, run.counters.retransmitted_packets)
    };
    let wide = "kind = \"dumbbell\", senders = 1, receivers = 1, host_rate = \"10Gbps\", \
                link_delay = \"3.33ms\"";
    let lossy = "leaf1\"\nat = \"1ms\"\nrate = 0.0005";
    let of = |transport: &str| {
        counts(wide, lossy, "60s", &format!("recovery.initial_rto = \"1s\"\n{transport}"))
    };
    let without = of("recovery.min_rto = \"200ms\"");
    assert!(without.0 == 0 && (90..100).contains(&without.1), "{without:?}");
    assert_eq!(of(""), without);
    assert_eq!(of("recovery.min_rto_bounds = \"spread\"\nrecovery.min_rto = \"200ms\""), without);
    let (timeouts, repairs) = of("recovery.rto_granularity = \"0us\"");
    assert!(timeouts > 50 && repairs > 2_000, "{timeouts}, {repairs}");
    // The same in a datacenter: round trips of 18 us.
    let near = "kind = \"star\", hosts = 2, link_delay = \"4.2us\"";
    let lossy = "host1\"\nat = \"1us\"\nrate = 0.001";
    let of = |transport: &str| {
        counts(near, lossy, "50ms", &format!("recovery.min_rto = \"1us\"\n{transport}"))
    };
    assert_eq!(of("").0, 0);
    assert!(of("recovery.rto_granularity = \"0us\"").0 > 10);
}

/// A flow of one packet, which is lost. No round trip has been measured, so a probe would be due
/// after a second, and takes the place of the timeout after 10 ms.
#[test]
fn a_probe_in_the_place_of_a_timeout_is_counted_as_one() {
    let text = "duration = \"1s\"\ntopology = { kind = \"star\", hosts = 2, link_delay = \"10us\" }\n\
                [transport]\nrecovery.kind = \"rack\"\n\
                [[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\nat = \"0us\"\n\
                until = \"1us\"\n";
    let run = run_flows(text, &[(0, 1, MSS, 0)]);
    // 10 ms, and 22.4 us for the packet.
    assert_eq!((run.fct(0), run.flows[0].timeouts), (10_022_400_000, 0));
    let flows = &run.record.flows;
    assert_eq!((flows.tail_loss_probes[0], flows.probes_for_timeouts[0]), (1, 1));
    assert_eq!(run.counters.probes, [1, 1]);
    let told = ["timeouts", "tail_loss_probes", "probes_for_timeouts"].map(|name| run.number(name));
    assert_eq!(told, [0.0, 1.0, 1.0]);
    // The fourth of four packets is lost: a probe after two round trips of 42.48 us, long before a
    // timeout.
    let text = text.replace("at = \"0us\"", "at = \"3us\"").replace("\"1us\"", "\"4us\"");
    let run = run_flows(&text, &[(0, 1, 4 * MSS, 0)]);
    let flows = &run.record.flows;
    assert_eq!((flows.tail_loss_probes[0], flows.probes_for_timeouts[0]), (1, 0));
}
