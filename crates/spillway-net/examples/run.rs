//! Runs a scenario file without Python and prints the summary, for use with profilers.
//!
//! `cargo run --release --example run -- scenarios/leaf-spine-128.toml [key=value ...]`

use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_net::summary::summarize;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which scenario?")?;
    let mut given: spillway_settings::Table = std::fs::read_to_string(&file)?.parse()?;
    for assignment in arguments {
        spillway_settings::apply(&mut given, &assignment)?;
    }
    let folder = Path::new(&file).parent().unwrap_or(Path::new(""));
    let scenario = Scenario::read(given, &Sources::of(folder))?;
    let threads = std::env::var("THREADS").map_or(Ok(1), |threads| threads.parse())?;
    let (mut simulation, alone) = Simulation::in_parts(scenario, threads, threads);
    if let Some(reason) = alone.filter(|_| threads > 1) {
        eprintln!("on one thread: {reason}");
    }
    let begin = std::time::Instant::now();
    let progress = loop {
        match simulation.run(1 << 20) {
            Progress::Running => simulation.record_mut().flows = Default::default(),
            done => break done,
        }
    };
    let seconds = begin.elapsed().as_secs_f64();
    simulation.finish();
    println!("{:#}", summarize(&mut simulation, progress));
    let counters = simulation.counters();
    if let Some(windows) = simulation.windows() {
        eprintln!("{windows:?}");
    }
    let million = 1e-6 / seconds;
    eprintln!(
        "{seconds:.3} s, {:.3} million packet-hops per second, {:.3} events per hop",
        counters.packet_hops as f64 * million,
        counters.events as f64 / counters.packet_hops as f64,
    );
    Ok(())
}
