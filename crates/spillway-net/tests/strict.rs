//! Networks under strict priority, whose ports and NICs put the packets of their best queues on the
//! lines ahead of time: nothing changes by that, at no moment.

use crate::common::random::Draw;
use crate::common::*;
use spillway_engine::{Stream, Time};
use spillway_net::simulation::{Progress, Shortcuts, Simulation};
use spillway_switch::{Buffer, Length};
use spillway_traffic::FlowColumns;

/// A network that decides about packets only as they arrive, and its flows. Sizes, rates and delays
/// are round, so that much happens in the same moments.
fn network(draw: &mut Draw) -> (String, FlowColumns) {
    let queues = 2 + draw.below(4);
    let flows: Vec<Listed> = (0..20 + draw.below(60))
        .map(|_| {
            let (src, other) = (draw.below(6), draw.below(5));
            let dst = (src + 1 + if draw.once_in(2) { 0 } else { other }) % 6;
            (src as u32, dst as u32, 1 + draw.below(60_000), draw.below(40) * 1_000)
        })
        .collect();
    let priorities = flows.iter().map(|_| Some(draw.below(queues) as u8)).collect();
    let list = FlowColumns { priority: Some(priorities), ..columns(&flows) };
    let topology = draw.one(&[
        "kind = \"star\", hosts = 6, host_rate = \"8Gbps\"",
        "kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 3, \
         host_rate = \"8Gbps\", fabric_rate = \"8Gbps\"",
        "kind = \"leaf-spine\", leaves = 3, spines = 1, hosts_per_leaf = 2, \
         host_rate = \"8Gbps\", fabric_rate = \"4Gbps\"",
    ]);
    let sharing = draw.one(&["dt", "cs", "cbm", "abm", "edt", "smartbuf", "fab", "sp"]);
    let nic_queues = 1 + draw.below(4);
    let aqm = draw.one(&[
        "\"none\"",
        "{ kind = \"ecn\", threshold = \"4pkt\" }",
        "{ kind = \"ecn\", threshold = \"4pkt\", scope = \"port\" }",
        "{ kind = \"red\", min = \"2KB\", max = \"12KB\", max_probability = 0.2 }",
        "{ kind = \"ared\", min = \"1KB\", max = \"9KB\" }",
    ]);
    let text = format!(
        "duration = \"{}\"
         seed = {}
         topology = {{ {topology}, link_delay = \"{}us\" }}
         switch = {{ buffer = \"{}\", queues_per_port = {queues}, scheduling = \"strict\", \
         ack_queue = {}, sharing = \"{sharing}\", aqm = {aqm}, uncounted_bytes = \"{}B\" }}
         nic = {{ queues = {}, ack_queue = {} }}
         transport = {{ kind = \"{}\", mss = \"960B\", header = \"40B\", ack_size = \"50B\", \
         initial_window = \"{}pkt\", recovery.min_rto = \"200us\", recovery.initial_rto = \"200us\" }}
         [record]
         queue_interval = \"7us\"
         [[traffic]]
         name = \"list\"
         kind = \"flows\"
         file = \"list\"",
        // Half of the runs end while much is under way.
        if draw.once_in(2) {
            "20ms".into()
        } else {
            format!("{}ns\"\n         stop = \"{0}ns", 20_000 + draw.below(60_000))
        },
        draw.below(1_000),
        draw.below(4),
        draw.one(&["9KB", "20KB", "60KB", "unlimited"]),
        draw.below(queues),
        draw.one(&["0", "24"]),
        nic_queues,
        draw.below(nic_queues),
        draw.one(&["dctcp", "newreno", "cubic"]),
        1 + draw.below(20),
    );
    (text, list)
}

/// The queues of every switch, and how many a port has.
type Queues = Vec<(Vec<Length>, usize)>;

/// A run, and what the queues are at some moments.
fn looked_at(mut simulation: Simulation, moments: &[u64]) -> (Vec<Queues>, Run) {
    let mut looks = Vec::new();
    for &moment in moments {
        let go_on = || simulation.run_until(Time::from_ps(moment), 1_000);
        let progress =
            std::iter::repeat_with(go_on).find(|&progress| progress != Progress::Running);
        if progress != Some(Progress::Halted) {
            break;
        }
        assert!(simulation.is_conserved(), "{moment} ps");
        let buffers = simulation.switches().iter().map(|switch| switch.buffer());
        let queues = |of: &Buffer| (of.queues().to_vec(), of.queues_per_port() as usize);
        looks.push(buffers.map(queues).collect());
    }
    (looks, finish(simulation))
}

#[test]
fn what_is_put_on_the_line_ahead_of_time_changes_nothing() {
    let held = on_all_cores(0..400, |seed| {
        let mut draw = Draw(Stream::new(seed, "strict", 0));
        let (text, list) = network(&mut draw);
        // In whole nanoseconds, in which much of a run happens, and in between.
        let mut moments: Vec<u64> =
            (0..8).map(|_| draw.below(90_000) * 1_000 + draw.below(2)).collect();
        moments.sort_unstable();
        let run = |shortcuts| {
            looked_at(Simulation::with(scenario_with(&text, &list), shortcuts), &moments)
        };
        let (looks, all) = run(Shortcuts::ALL);
        for shortcuts in [Shortcuts::NONE, Shortcuts { in_order: false, ..Shortcuts::ALL }] {
            let (other_looks, other) = run(shortcuts);
            let what = format!("{shortcuts:?}\n{text}");
            assert_eq!(looks, other_looks, "{what}");
            assert_eq!(all.flows, other.flows, "{what}");
            assert_eq!(all.summary_but_events(), other.summary_but_events(), "{what}");
            assert_eq!(all.record.drops, other.record.drops, "{what}");
            assert_eq!(
                format!("{:?}", all.record.queues),
                format!("{:?}", other.record.queues),
                "{what}"
            );
        }
        assert!(all.progress == Progress::Complete || text.contains("\n         stop"), "{text}");
        // Ports of which the best queue and another one held packets.
        let both =
            |port: &&[Length]| port[0].packets > 0 && port[1..].iter().any(|q| q.packets > 0);
        let switches = looks.iter().flatten();
        switches.flat_map(|(queues, of_port)| queues.chunks(*of_port)).filter(both).count()
    });
    assert!(held.iter().sum::<usize>() > 300, "{held:?}");
}
