//! Helpers of the integration tests: running a scenario from text, and examining its results.

pub mod policies;
pub mod random;

use proptest::test_runner::{Config, RngSeed};
use serde_json::Value;
use spillway_net::record::{FlowTable, Record};
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Counters, Progress, Simulation};
use spillway_net::summary::summarize;
use spillway_settings as settings;
use spillway_switch::DropReason;
use spillway_traffic::FlowColumns;
use std::ops::Range;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Bytes of a full packet with the default payload and header of transports.
pub const FULL: u64 = 1500;
/// Payload of a full packet.
pub const MSS: u64 = 1448;

/// What a check returns for each of these seeds, in no order: they are spread over all cores.
pub fn on_all_cores<T: Send>(seeds: Range<u64>, check: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|first| {
                let (seeds, check) = (seeds.clone().skip(first).step_by(cores), &check);
                let one = move |seed| {
                    let _name = Named(seed);
                    check(seed)
                };
                scope.spawn(move || seeds.map(one).collect::<Vec<T>>())
            })
            .collect();
        let done = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.flatten().collect()
    })
}

/// Says which seed it was that failed.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("seed {}", self.0);
        }
    }
}

/// The folder of the bundled scenarios.
pub fn bundled_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// The files of the bundled scenarios.
pub fn bundled() -> Vec<PathBuf> {
    let entries = bundled_folder().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

/// A row of the flow table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub flow_id: u32,
    pub src: u32,
    pub dst: u32,
    pub size: u64,
    pub class: u16,
    pub priority: i16,
    pub start_ps: u64,
    /// `None` if the flow is not complete.
    pub fct_ps: Option<u64>,
    pub ideal_ps: u64,
    pub delivered: u64,
    pub retransmitted: u32,
    pub timeouts: u32,
    pub query_id: i64,
}

/// A finished run.
pub struct Run {
    pub progress: Progress,
    pub summary: Value,
    /// The flows, by their numbers.
    pub flows: Vec<Row>,
    pub record: Record,
    pub counters: Counters,
    pub warnings: Vec<String>,
}

impl Run {
    /// The completion time of flow `id`.
    pub fn fct(&self, id: usize) -> u64 {
        self.flows[id].fct_ps.unwrap_or_else(|| panic!("flow {id} is not complete"))
    }

    /// The number of packets lost for a reason.
    pub fn drops(&self, reason: DropReason) -> u64 {
        self.counters.drops[reason as usize]
    }

    /// The number of packets lost.
    pub fn all_drops(&self) -> u64 {
        self.counters.drops.iter().sum()
    }

    /// A number of the summary, by its dotted path.
    pub fn number(&self, path: &str) -> f64 {
        let found = path.split('.').try_fold(&self.summary, |value, key| value.get(key));
        found.and_then(Value::as_f64).unwrap_or_else(|| panic!("no number {path}"))
    }

    /// Whether the run has stopped with flows that are never complete, since datagrams were lost.
    pub fn lacks_datagrams(&self, scenario: &Scenario) -> bool {
        let is_open_loop = |class: u16| {
            let place = scenario.class_transport[usize::from(class)];
            scenario.transports[usize::from(place)].kind == "udp"
        };
        let lost = |row: &Row| row.size > 0 && row.fct_ps.is_none() && is_open_loop(row.class);
        self.progress == Progress::Stopped && self.flows.iter().any(lost)
    }

    /// The summary without the number of events, which depends on whether ports are woken or
    /// deferred.
    pub fn summary_but_events(&self) -> Value {
        let mut summary = self.summary.clone();
        summary.as_object_mut().and_then(|table| table.remove("events")).expect("a number");
        summary
    }

    /// Rows of lost packets: time, place, port, reason, flow, first byte.
    pub fn lost(&self) -> Vec<Loss> {
        let drops = &self.record.drops;
        let loss = |row: usize| Loss {
            time_ps: drops.time_ps[row],
            place: drops.switch[row],
            port: drops.port[row],
            reason: DropReason::ALL[usize::from(drops.reason[row])],
            flow: drops.flow_id[row],
            seq: drops.seq[row],
            size: drops.size_bytes[row],
        };
        (0..drops.len()).map(loss).collect()
    }
}

/// A lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub time_ps: u64,
    pub place: u32,
    pub port: i32,
    pub reason: DropReason,
    pub flow: u32,
    pub seq: u64,
    pub size: u32,
}

/// A flow of a list: sender, receiver, payload, start in nanoseconds.
pub type Listed = (u32, u32, u64, u64);

/// Flows as a list, which a section `kind = "flows"` may name by any file name.
pub fn columns(flows: &[Listed]) -> FlowColumns {
    FlowColumns {
        src: flows.iter().map(|flow| flow.0).collect(),
        dst: flows.iter().map(|flow| flow.1).collect(),
        size_bytes: flows.iter().map(|flow| flow.2).collect(),
        start_ns: flows.iter().map(|flow| flow.3).collect(),
        ..FlowColumns::default()
    }
}

/// The same scenario with exact clocks, unless it says which it has.
pub fn by_exact_clocks(mut given: settings::Table) -> settings::Table {
    if let Some(settings::Value::Table(topology)) = given.get_mut("topology")
        && !topology.contains_key("whole_ns")
    {
        topology.entry("clocks").or_insert("exact".into());
    }
    given
}

/// Reads a scenario whose lists of flows are all this one. Its clocks are exact unless it says
/// otherwise.
pub fn scenario_with(text: &str, list: &FlowColumns) -> Scenario {
    let given = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let read = Scenario::read(
        by_exact_clocks(given),
        &Sources { flows: &|_, _| Some(list.clone()), ..Sources::of(Path::new("")) },
    );
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Reads a scenario.
pub fn scenario(text: &str) -> Scenario {
    scenario_with(text, &FlowColumns::default())
}

/// Runs a scenario to its end.
pub fn run(text: &str) -> Run {
    finish(Simulation::new(scenario(text)))
}

/// Runs a scenario with an additional section `list` that has these flows.
pub fn run_flows(text: &str, flows: &[Listed]) -> Run {
    run_columns(text, &columns(flows))
}

/// The same with all columns that a list may have.
pub fn run_columns(text: &str, list: &FlowColumns) -> Run {
    finish(Simulation::new(scenario_with(&with_list(text), list)))
}

/// A scenario's text with a section for the list of flows appended.
pub fn with_list(text: &str) -> String {
    format!("{text}\n[[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\"\n")
}

/// Runs a simulation from where it is to its end.
pub fn finish(mut simulation: Simulation) -> Run {
    let progress = loop {
        match simulation.run(1 << 20) {
            Progress::Running => {}
            done => break done,
        }
    };
    assert!(simulation.is_conserved(), "packets or bytes have gone astray");
    end(simulation, progress)
}

/// The results of a simulation so far.
pub fn end(mut simulation: Simulation, progress: Progress) -> Run {
    simulation.finish();
    let summary = summarize(&mut simulation, progress);
    let counters = simulation.counters().clone();
    let warnings = simulation.scenario().warnings.clone();
    let record = std::mem::take(simulation.record_mut());
    Run { progress, summary, flows: rows(&record.flows), record, counters, warnings }
}

/// The rows of a flow table, by number.
pub fn rows(table: &FlowTable) -> Vec<Row> {
    let row = |place: usize| Row {
        flow_id: table.flow_id[place],
        src: table.src[place],
        dst: table.dst[place],
        size: table.size_bytes[place],
        class: table.class[place],
        priority: table.priority[place],
        start_ps: table.start_ps[place],
        fct_ps: table.fct_ps.known(place),
        ideal_ps: table.ideal_ps[place],
        delivered: table.delivered_bytes[place],
        retransmitted: table.retransmitted_packets[place],
        timeouts: table.timeouts[place],
        query_id: table.query_id[place],
    };
    let mut rows: Vec<Row> = (0..table.len()).map(row).collect();
    rows.sort_by_key(|row| row.flow_id);
    assert!(rows.windows(2).all(|pair| pair[0].flow_id < pair[1].flow_id), "a flow has two rows");
    rows
}

/// Jain's index: 1 if all shares are equal, 1/n if one has everything.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// The configuration of property tests: this many cases, the same in every run unless
/// `PROPTEST_RNG_SEED` is set.
pub fn cases(cases: u32) -> Config {
    let given = Config::default();
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    Config { cases, rng_seed, failure_persistence: None, ..given }
}
