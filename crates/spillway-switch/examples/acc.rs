//! Measures the cost of ACC's decisions: the end of an interval at a switch of 64 ports, each of
//! which decides with the bundled model, or keeps its line.
//!
//! `cargo run --release -p spillway-switch --example acc`
//!
//! The time is that of one queue. It is the median of many batches; the fastest batch is given too.

use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::aqm::acc::MODELS;
use spillway_switch::aqm::acc::model::Model;
use spillway_switch::policy::Watch;
use spillway_switch::{Buffer, Environment};
use std::time::Instant;

const PORTS: usize = 64;
const BATCH: u64 = 100;
const BATCHES: usize = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("model  actions  idle     ns per queue  fastest");
    for (name, bytes) in MODELS {
        let model = Model::read(bytes)?;
        for idle in ["decides", "keeps"] {
            let mut times = times(name, &model, idle)?;
            times.sort_unstable_by(f64::total_cmp);
            let (actions, median, fastest) =
                (model.actions.len(), times[times.len() / 2], times[0]);
            println!("{name:5}  {actions:7}  {idle:7}  {median:12.1}  {fastest:7.1}");
        }
    }
    Ok(())
}

/// The nanoseconds per queue of every batch. No packet arrives, so that a queue which keeps its
/// line when it is idle always does.
fn times(name: &str, model: &Model, idle: &str) -> Result<Vec<f64>, SettingsError> {
    let environment = Environment { capacity: Buffer::UNLIMITED, ..Environment::example(PORTS) };
    let settings = format!("model = {name:?}\nexploration = 0\nidle = {idle:?}");
    let settings = settings.parse().expect("the settings are well-formed");
    let mut section = Section::new("aqm", settings);
    let mut aqm = AqmPolicy::read("acc", &mut section, &environment)?;
    let buffer = Buffer::new(environment.capacity, environment.port_rates.clone(), 1);
    let mut now = Time::ZERO;
    let batch = |_| {
        let begin = Instant::now();
        for _ in 0..BATCH {
            now += model.interval;
            aqm.on_timer(now, &buffer);
        }
        begin.elapsed().as_nanos() as f64 / (BATCH * PORTS as u64) as f64
    };
    Ok((0..BATCHES).map(batch).collect())
}
