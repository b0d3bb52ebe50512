//! Measures the speed of the slotted model: packets per second, under every sharing policy.
//!
//! `cargo run --release -p spillway-slotted --example speed [policy ...]`
//!
//! Bursts of the buffer's size, N packets in a slot, load 1: the buffer is full most of the time.
//! Times are processor times of this thread (Linux), which other processes affect less. They are
//! the median of several runs; the fastest run is given too.

use spillway_settings::Section;
use spillway_slotted::generators::{Generator, Setting};
use spillway_slotted::{environment, optimum, run_policy};
use spillway_switch::sharing::SharingPolicy;

const ROUNDS: usize = 7;
/// The least time that is measured; the kernel may count a thread's time in steps of milliseconds.
const LEAST_NS: f64 = 1e8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |id: &str| wanted.is_empty() || wanted.iter().any(|name| name == id);
    println!("ports  buffer  policy      million packets per second  fastest  lost");
    for (ports, buffer) in [(16, 512), (64, 2_048), (512, 16_384)] {
        let slots = 2_000_000 / u64::from(ports);
        let section = Section::new("arrivals", format!("slots = {slots}\nload = 1.0").parse()?);
        let setting = Setting { ports, buffer, seed: 1 };
        let arrivals = Generator::named("bursts", "")?.read(section, setting)?();
        let packets = arrivals.packets().len() as f64;
        let row = |id: &str, sent: &mut dyn FnMut() -> u64| {
            let mut lost = 0.0;
            let mut rates: Vec<f64> = (0..ROUNDS)
                .map(|_| {
                    let (begin, mut times) = (cpu_ns(), 0.0);
                    while cpu_ns() - begin < LEAST_NS {
                        lost = 100.0 * (1.0 - sent() as f64 / packets);
                        times += 1.0;
                    }
                    times * packets * 1e3 / (cpu_ns() - begin)
                })
                .collect();
            rates.sort_unstable_by(f64::total_cmp);
            let (median, fastest) = (rates[ROUNDS / 2], rates[ROUNDS - 1]);
            println!("{ports:5}  {buffer:6}  {id:11}  {median:25.1}  {fastest:7.1}  {lost:3.0}%");
        };
        for id in SharingPolicy::IDS.iter().copied().filter(|id| is_wanted(id)) {
            let environment = environment(ports, buffer, 1);
            // By default Credence asks a forest, which takes longer than the rest of Credence.
            let oracles: &[&str] = match id {
                "credence" => &["", "oracle = \"always-accept\""],
                _ => &[""],
            };
            for (name, keys) in [id, "  no forest"].into_iter().zip(oracles) {
                row(name, &mut || {
                    let keys = keys.parse().expect("a table of keys");
                    let mut section = Section::new("sharing", keys);
                    let policy = SharingPolicy::read(id, &mut section, &environment);
                    run_policy(&mut policy.expect("its keys"), buffer, &arrivals).transmitted
                });
            }
        }
        if is_wanted("late-qd") {
            row("late-qd", &mut || optimum(buffer, &arrivals));
        }
    }
    Ok(())
}

/// The nanoseconds for which this thread has run.
fn cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}
