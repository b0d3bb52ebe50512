//! The summary of a run: `summary.json`.

mod jobs;

use crate::record::{Outcome, Repairs};
use crate::scenario::Scenario;
use crate::simulation::{Counters, Progress, Simulation};
use jobs::Jobs;
use serde_json::{Map, Value, json};
use spillway_engine::Time;
use spillway_switch::{Buffer, DropReason, Meter};
use spillway_traffic::Source;
use std::collections::BTreeMap;

/// The value at share `p` of a sorted list: its `ceil(n p)`-th smallest.
pub fn percentile<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    // n p may have a rounding error where it is a whole number.
    let rank = (sorted.len() as f64 * p - 1e-9).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

const PERCENTILES: [(&str, f64); 4] =
    [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)];

/// A percentile rests on too few values if fewer than this lie beyond it.
const ENOUGH_BEYOND: f64 = 10.0;

/// The summary of a run that has been finished.
pub fn summarize(simulation: &mut Simulation, progress: Progress) -> Value {
    let now = simulation.now();
    let occupancy = occupancy(simulation);
    let mut outcomes = std::mem::take(&mut simulation.record_mut().outcomes);
    let scenario = simulation.scenario();
    let end = match progress {
        Progress::Running | Progress::Halted | Progress::OutOfMemory | Progress::TooManySamples => {
            now
        }
        // A flow with lost packets that nobody retransmits lasts until the stop.
        Progress::Complete | Progress::Stopped | Progress::Deadlock => now.max(scenario.stop),
    };
    for unfinished in outcomes.iter_mut().filter(|outcome| !outcome.complete) {
        unfinished.fct = end.since(unfinished.start);
    }
    let counters = simulation.counters();
    let classes = Classes::new(scenario, &outcomes);
    let fct_us = |outcome: &Outcome| outcome.fct.ps() as f64 * 1e-6;
    let drops: Map<String, Value> = DropReason::ALL
        .iter()
        .zip(counters.drops)
        .filter(|(_, packets)| *packets > 0)
        .map(|(reason, packets)| (reason.name().to_string(), packets.into()))
        .collect();
    let mut summary = json!({
        "status": progress.status(),
        "scenario": scenario.name,
        "seed": scenario.seed,
        "version": env!("CARGO_PKG_VERSION"),
        "simulated_s": now.secs_f64(),
        "flows": { "started": counters.flows_started, "completed": counters.flows_completed },
        "slowdown_base": match scenario.slowdown_base {
            crate::scenario::SlowdownBase::Ideal => "ideal",
            crate::scenario::SlowdownBase::Published => "published",
        },
        "fct_slowdown": classes.table(Outcome::slowdown),
        "fct_us": classes.table(fct_us),
        "query_us": query_us(&outcomes),
        "buffer_occupancy": occupancy,
        "goodput_gbps": goodput(simulation, &counters),
        "load": load(simulation, &counters),
        "drops": drops,
        "marks": simulation.marks(),
        "sharing_counts": sharing_counts(simulation),
        "retransmitted_packets": counters.retransmitted_packets,
        "repairs": classes.repairs(scenario),
        "timeouts": counters.timeouts,
        "tail_loss_probes": counters.probes[0],
        "probes_for_timeouts": counters.probes[1],
        "events": counters.events,
        "packet_hops": counters.packet_hops,
    });
    if let Some(pauses) = simulation.pauses() {
        summary["pauses"] = pauses;
    }
    if scenario.traffic.sources.iter().any(Source::waits) {
        summary["flows"]["waiting"] = simulation.flows_left().into();
    }
    if scenario.traffic.has_jobs() {
        let (ended, unfinished) = simulation.jobs();
        // If some flows of a job would have started too late, the job has lasted until the last
        // event.
        let end = if progress == Progress::Complete { now } else { end };
        let jobs = Jobs::of(scenario, ended.iter().chain(&unfinished), end);
        summary["job_us"] = jobs.job_us();
        summary["iteration_us"] = jobs.iteration_us();
    }
    if scenario.recording.climbing {
        summary["climbing"] = classes.climbing();
    }
    if scenario.recording.without_timeout {
        summary["without_timeout"] = classes.without_timeout();
    }
    simulation.record_mut().outcomes = outcomes;
    if simulation.scenario().recording.queue_classes {
        summary["queue_classes"] = queue_classes(simulation);
    }
    summary
}

/// The classes of every scenario, the last of which has all flows.
pub const CLASSES: [&str; 5] = ["short", "medium", "long", "incast", "all"];

/// The name under which a traffic section's flows have their own numbers. It is the section's name,
/// unless this is also the name of a class of every scenario.
fn name_of_section(name: &str) -> String {
    if CLASSES.contains(&name) { format!("traffic.{name}") } else { name.to_string() }
}

/// The flows of every class.
struct Classes<'a>(Vec<(String, Vec<&'a Outcome>)>);

impl<'a> Classes<'a> {
    fn new(scenario: &Scenario, outcomes: &'a [Outcome]) -> Classes<'a> {
        let is_incast =
            |o: &&Outcome| scenario.class_is_incast[usize::from(o.class)] || o.query != u32::MAX;
        let (short, long) = (scenario.recording.short_bytes, scenario.recording.long_bytes);
        let select = |keep: &dyn Fn(&&Outcome) -> bool| outcomes.iter().filter(keep).collect();
        let flows: [Vec<&Outcome>; CLASSES.len()] = [
            select(&|o| !is_incast(o) && o.size <= short),
            select(&|o| !is_incast(o) && o.size > short && o.size < long),
            select(&|o| !is_incast(o) && o.size >= long),
            select(&is_incast),
            select(&|_| true),
        ];
        let mut classes: Vec<_> = CLASSES.map(String::from).into_iter().zip(flows).collect();
        let is_only_incast = |number: u16| {
            let mut kinds = (0..).zip(&scenario.class_is_incast);
            kinds.all(|(other, is_incast)| other == number || !is_incast)
                && outcomes.iter().filter(is_incast).all(|outcome| outcome.class == number)
        };
        for (number, name) in (0..).zip(&scenario.traffic.classes) {
            // The flows of the only incast section are those of the class `incast`.
            if name != "incast" || !is_only_incast(number) {
                classes.push((name_of_section(name), select(&|o| o.class == number)));
            }
        }
        Classes(classes)
    }

    /// Losses, and how they were found and repaired. Numbers that need numbered packets are null if
    /// no flow has any.
    fn repairs(&self, scenario: &Scenario) -> Value {
        let sums = |flows: &[&Outcome]| -> Map<String, Value> {
            let is_numbered = flows.iter().any(|flow| scenario.numbers_packets(flow.class));
            let empty = Repairs::none(is_numbered).counts();
            let mut sums = empty.map(|count| count.map(u64::from));
            for extra in flows.iter().filter_map(|outcome| outcome.extra.as_deref()) {
                for (sum, count) in sums.iter_mut().zip(extra.repairs.counts()) {
                    *sum = sum.map(|sum| sum + u64::from(count.unwrap_or(0)));
                }
            }
            let named = Repairs::NAMES.iter().zip(sums);
            named.map(|(name, sum)| (name.to_string(), sum.into())).collect()
        };
        let rows = self.0.iter().map(|(name, flows)| (name.clone(), sums(flows).into()));
        Value::Object(rows.collect())
    }

    /// The share of the flows' time in which they climbed to better levels.
    fn climbing(&self) -> Value {
        let sum = |flows: &[&Outcome], time: fn(&Outcome) -> Time| -> u128 {
            flows.iter().map(|flow| u128::from(time(flow).ps())).sum()
        };
        let share = |flows: &[&Outcome]| {
            let whole = sum(flows, |flow| flow.fct);
            (whole > 0).then(|| sum(flows, Outcome::climbed) as f64 / whole as f64)
        };
        let rows =
            self.0.iter().map(|(name, flows)| (name.clone(), json!({ "share": share(flows) })));
        Value::Object(rows.collect())
    }

    /// The slowdowns of flows that had no timeout.
    fn without_timeout(&self) -> Value {
        let rows = self.0.iter().map(|(name, flows)| {
            let on_time = flows.iter().filter(|flow| !flow.timed_out);
            let row = statistics(on_time.map(|flow| flow.slowdown()).collect());
            (name.clone(), Value::Object(row))
        });
        Value::Object(rows.collect())
    }

    fn table(&self, value: impl Fn(&Outcome) -> f64) -> Value {
        let rows = self.0.iter().map(|(name, flows)| (name.clone(), row(flows, &value)));
        Value::Object(rows.collect())
    }
}

fn row(flows: &[&Outcome], value: impl Fn(&Outcome) -> f64) -> Value {
    let values = flows.iter().map(|outcome| value(outcome)).collect();
    let unfinished = flows.iter().filter(|outcome| !outcome.complete).count();
    let with_timeout = flows.iter().filter(|outcome| outcome.timed_out).count();
    let mut row = statistics(values);
    row.insert("unfinished".into(), unfinished.into());
    row.insert("with_timeout".into(), with_timeout.into());
    Value::Object(row)
}

/// Count, mean, percentiles and maximum. Also says which percentiles rest on too few values.
fn statistics(mut values: Vec<f64>) -> Map<String, Value> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let mut row = Map::new();
    row.insert("count".into(), n.into());
    let mean = (n > 0).then(|| values.iter().sum::<f64>() / n as f64);
    row.insert("mean".into(), mean.into());
    for (name, p) in PERCENTILES {
        row.insert(name.into(), percentile(&values, p).into());
    }
    row.insert("max".into(), values.last().copied().into());
    let few = PERCENTILES.iter().filter(|(_, p)| n as f64 * (1.0 - p) < ENOUGH_BEYOND);
    row.insert("few_samples".into(), few.map(|(name, _)| *name).collect::<Vec<_>>().into());
    row
}

/// The time from a query to the arrival of its last flow's last byte.
fn query_us(outcomes: &[Outcome]) -> Value {
    let mut queries: BTreeMap<(u16, u32), (Time, Time, bool)> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.query != u32::MAX) {
        let end = outcome.start + outcome.fct;
        let entry = queries.entry((outcome.class, outcome.query)).or_insert((
            outcome.start,
            end,
            outcome.complete,
        ));
        entry.0 = entry.0.min(outcome.start);
        entry.1 = entry.1.max(end);
        entry.2 &= outcome.complete;
    }
    let unfinished = queries.values().filter(|(.., complete)| !complete).count();
    let times = queries.values().map(|(start, end, _)| (*end - *start).ps() as f64 * 1e-6);
    let mut row = statistics(times.collect());
    row.insert("unfinished".into(), unfinished.into());
    Value::Object(row)
}

/// The counts that sharing policies keep of their decisions, by tier and name, summed over
/// switches; for names `most_...`, the largest of any switch. Tiers whose policy counts nothing are
/// left out.
fn sharing_counts(simulation: &Simulation) -> Value {
    let mut by_tier = Map::new();
    for (number, switch) in (0..).zip(simulation.switches()) {
        let tier = simulation.scenario().tier_of(number);
        for (name, count) in switch.sharing_counters() {
            let tier = simulation.scenario().tiers[tier].tier;
            let counts = by_tier.entry(tier).or_insert_with(|| json!({}));
            let before = counts.get(&*name).and_then(Value::as_u64).unwrap_or(0);
            let is_most = name.starts_with("most_");
            counts[&*name] = json!(if is_most { before.max(count) } else { before + count });
        }
    }
    Value::Object(by_tier)
}

/// What became of the packets of each queue class, by tier: sums over its switches, and of bytes the
/// mean over time and switches.
fn queue_classes(simulation: &mut Simulation) -> Value {
    let elapsed = simulation.now().ps();
    let tiers: Vec<_> = simulation.scenario().tiers.iter().map(|tier| tier.tier).collect();
    let by_tier = tiers.into_iter().enumerate().map(|(place, tier)| {
        let (switches, classes) = simulation.queue_classes_of_tier(place);
        let rows = classes.into_iter().map(|sum| {
            let time = u128::from(elapsed) * switches as u128;
            json!({
                "mean_bytes": (time > 0).then(|| sum.byte_picoseconds as f64 / time as f64),
                "marked_packets": sum.marked_packets,
                "dropped_packets": sum.dropped_packets,
            })
        });
        let named = (0..).zip(rows).map(|(class, row): (u32, _)| (class.to_string(), row));
        (tier.to_string(), Value::Object(named.collect()))
    });
    Value::Object(by_tier.collect())
}

/// The occupancy of buffers, as fractions, of the leaf tier and of every tier.
fn occupancy(simulation: &mut Simulation) -> Value {
    let tiers: Vec<(usize, &'static str)> =
        simulation.scenario().tiers.iter().map(|tier| tier.tier).enumerate().collect();
    let mut by_tier = Map::new();
    for (place, tier) in tiers {
        by_tier.insert(tier.into(), tier_occupancy(simulation, place));
    }
    let mut whole = match by_tier.get("leaf") {
        Some(Value::Object(leaf)) => leaf.clone(),
        _ => Map::new(),
    };
    whole.insert("by_tier".into(), Value::Object(by_tier));
    Value::Object(whole)
}

/// The pooled meters of a tier, as fractions of the buffer; in bytes if it is unlimited.
fn tier_occupancy(simulation: &mut Simulation, tier: usize) -> Value {
    let meters = simulation.meters_of_tier(tier);
    let mut pools: Vec<(u64, Meter)> = Vec::new();
    for (capacity, meter) in meters {
        match pools.iter_mut().find(|(known, _)| *known == capacity) {
            Some((_, pool)) => pool.pool(&meter),
            None => pools.push((capacity, meter)),
        }
    }
    // Switches of one tier may have buffers of different sizes. The highest fraction of any size is
    // reported.
    let fraction = |capacity: u64, bytes: f64| match capacity {
        Buffer::UNLIMITED => bytes,
        capacity => bytes / capacity as f64,
    };
    let worst = |read: &dyn Fn(&Meter) -> f64| {
        let each = pools.iter().map(|(capacity, meter)| fraction(*capacity, read(meter)));
        each.fold(0.0, f64::max)
    };
    let unlimited = pools.iter().any(|(capacity, _)| *capacity == Buffer::UNLIMITED);
    json!({
        "mean": worst(&|m| m.mean()),
        "p99": worst(&|m| m.percentile(0.99) as f64),
        "p99_99": worst(&|m| m.percentile(0.9999) as f64),
        "max": worst(&|m| m.max() as f64),
        "unit": if unlimited { "bytes" } else { "fraction" },
    })
}

/// The length of the window of measurement, as far as the run has come.
fn window(simulation: &Simulation) -> Time {
    let scenario = simulation.scenario();
    let end = if simulation.now() < scenario.duration && simulation.has_more() {
        simulation.now()
    } else {
        scenario.duration
    };
    end.since(scenario.warmup)
}

fn gbps(bytes: u64, window: Time) -> f64 {
    if window == Time::ZERO { 0.0 } else { bytes as f64 * 8.0 / window.ps() as f64 * 1000.0 }
}

/// Payload that arrived in the window, each byte counted once: in total, and by traffic section.
fn goodput(simulation: &Simulation, counters: &Counters) -> Value {
    let window = window(simulation);
    let delivered = &counters.delivered_bytes;
    let mut row = Map::new();
    row.insert("all".into(), gbps(delivered.iter().sum(), window).into());
    for (name, &bytes) in simulation.scenario().traffic.classes.iter().zip(delivered) {
        let name = if name == "all" { name_of_section(name) } else { name.clone() };
        row.insert(name, gbps(bytes, window).into());
    }
    Value::Object(row)
}

/// Load as fractions of the [capacity](spillway_topology::Topology::capacity): offered by sections with a rate, realised by the flows
/// that started, and carried on the wire.
fn load(simulation: &Simulation, counters: &Counters) -> Value {
    let (of, capacity) = simulation.scenario().topology.capacity();
    let window = window(simulation);
    let share = |gbps: f64| gbps * 1e9 / capacity as f64;
    json!({
        "offered": simulation.offered_bits_per_second() / capacity as f64,
        "realised": share(gbps(counters.started_bytes, window)),
        "on_wire": share(gbps(simulation.on_wire_in_window(), window)),
        "of": of,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_order_statistics() {
        let sorted: Vec<u32> = (1..=100).collect();
        let at = |p| percentile(&sorted, p);
        assert_eq!([at(0.5), at(0.95), at(0.99), at(0.999)], [50, 95, 99, 100].map(Some));
        assert_eq!(percentile(&[7], 0.5), Some(7));
        assert_eq!(percentile::<u32>(&[], 0.5), None);
        // 0.07 * 100 is 7.000000000000001 in floats, but must give the seventh value.
        assert_eq!(at(0.07), Some(7));
    }

    #[test]
    fn percentiles_with_little_behind_them_are_flagged() {
        let row = statistics((0..1500).map(f64::from).collect());
        assert_eq!(row["few_samples"], json!(["p99_9"]));
        assert_eq!((row["p99"].as_f64(), row["max"].as_f64()), (Some(1484.0), Some(1499.0)));
    }
}
