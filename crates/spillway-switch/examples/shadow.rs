//! Measures the cost of following Longest Queue Drop: FollowLQD with a virtual switch whose buffer
//! stays full.
//!
//! `cargo run --release -p spillway-switch --example shadow`
//!
//! Packets of 1500 bytes arrive for queues drawn at random, five for every four that all ports
//! together could send; some ports are ten times as fast as others. No packet waits in the real
//! buffer, so every decision depends on the virtual one. The time is the median of many batches;
//! the fastest batch is given too.

use spillway_engine::{Rate, Stream, Time};
use spillway_settings::Section;
use spillway_switch::policy::Arrival;
use spillway_switch::sharing::{FollowLqd, Sharing};
use spillway_switch::{Buffer, Environment, Policy};
use std::time::Instant;

const PACKET: u32 = 1500;
const PACKETS_PER_QUEUE: u64 = 32;
const BATCH: usize = 5_000;
const BATCHES: usize = 300;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("queues  rates    ns per packet  fastest");
    for queues in [16u32, 64, 512] {
        for (name, slow) in [("equal", 10), ("unequal", 1)] {
            let rate = |gbps: u64| Rate::from_bits_per_second(gbps * 1_000_000_000);
            let rates = (0..queues).map(|port| rate(if port % 2 == 0 { 10 } else { slow }));
            let port_rates: Vec<Rate> = rates.collect::<Option<_>>().ok_or("rates")?;
            let bits: u64 = port_rates.iter().map(|rate| rate.bits_per_second()).sum();
            let environment = Environment {
                capacity: u64::from(queues) * PACKETS_PER_QUEUE * u64::from(PACKET),
                port_rates: port_rates.clone(),
                ..Environment::example(queues as usize)
            };
            let mut follow = FollowLqd::read(&mut Section::empty(), &environment)?;
            let buffer = Buffer::new(environment.capacity, port_rates, 1);
            let mut random = Stream::new(1, "shadow", queues.into());
            // Four fifths of the time in which all ports together send one packet.
            let gap = u64::from(PACKET) * 8 * 1_000_000_000_000 / bits * 4 / 5;
            let mut now = 0;
            let mut times = Vec::new();
            for batch in 0..BATCHES {
                let arrivals: Vec<u32> =
                    (0..BATCH).map(|_| random.below(queues.into()) as u32).collect();
                let begin = Instant::now();
                for queue in arrivals {
                    now += gap;
                    let at = Time::from_ps(now);
                    let arrival = Arrival { now: at, queue, size: PACKET, ..Arrival::default() };
                    std::hint::black_box(follow.admit(&arrival, &buffer));
                }
                // The first batches fill the buffer.
                if batch >= BATCHES / 3 {
                    times.push(begin.elapsed().as_secs_f64() * 1e9 / BATCH as f64);
                }
            }
            times.sort_unstable_by(f64::total_cmp);
            println!("{queues:6}  {name:7}  {:13.1}  {:7.1}", times[times.len() / 2], times[0],);
        }
    }
    Ok(())
}
