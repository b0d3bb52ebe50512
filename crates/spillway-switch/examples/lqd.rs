//! Measures the cost of finding the longest queue: a switch whose buffer stays full, under Longest
//! Queue Drop and under Dynamic Thresholds.
//!
//! `cargo run --release -p spillway-switch --example lqd`
//!
//! Five packets arrive for every four that leave, for queues drawn at random, so that one in five
//! must be refused or push out another. The time includes arrivals, departures and losses. It is
//! the median of many batches; the fastest batch is given too.

use spillway_engine::{Stream, Time};
use spillway_settings::quantity::Amount;
use spillway_settings::{Section, SettingsError};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::packet::{Arena, Contents, Packet};
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_switch::{Environment, Meter, Switch, SwitchParts};
use std::time::Instant;

const PACKET: u32 = 1500;
const PACKETS_PER_QUEUE: u64 = 32;
/// The number of different arrivals, which are repeated.
const ARRIVALS: usize = 200_000;
/// Arrivals in a batch.
const BATCH: usize = 5_000;
const ROUNDS: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("queues  per port  policy  ns per packet  fastest  lost");
    // With several queues per port, the acks' queue is exempt, and the search takes another path.
    for queues_per_port in [1, 8] {
        for queues in [16, 64, 512] {
            for policy in ["dt", "lqd"] {
                let mut bench = Bench::new(policy, queues, queues_per_port)?;
                bench.round();
                let mut times: Vec<f64> = (0..ROUNDS).flat_map(|_| bench.round()).collect();
                times.sort_unstable_by(f64::total_cmp);
                println!(
                    "{queues:6}  {queues_per_port:8}  {policy:6}  {:13.1}  {:7.1}  {:3.0}%",
                    times[times.len() / 2],
                    times[0],
                    100.0 * bench.lost as f64 / bench.arrived as f64
                );
            }
        }
    }
    Ok(())
}

/// An arrival, and possibly a departure after it.
struct Step {
    port: u32,
    queue_class: u8,
    /// The port that sends.
    sends: Option<u32>,
}

struct Bench {
    switch: Switch,
    packets: Arena,
    steps: Vec<Step>,
    now: Time,
    arrived: usize,
    lost: usize,
}

impl Bench {
    fn new(policy: &str, queues: u32, queues_per_port: u32) -> Result<Bench, SettingsError> {
        let ports = queues / queues_per_port;
        let environment = Environment {
            capacity: u64::from(queues) * PACKETS_PER_QUEUE * u64::from(PACKET),
            queues_per_port,
            ..Environment::example(ports as usize)
        };
        let section = || Section::empty();
        let mut switch = Switch::new(SwitchParts {
            capacity: environment.capacity,
            port_rates: environment.port_rates.clone(),
            queues_per_port,
            ack_queue_class: 0,
            data_queue_class: queues_per_port as u8 - 1,
            unmanaged: (queues_per_port > 1).then_some(0),
            queue_limit: Amount::Unlimited,
            uncounted_bytes: 0,
            release_at_end: false,
            sharing: SharingPolicy::read(policy, &mut section(), &environment)?,
            aqm: AqmPolicy::read("none", &mut section(), &environment)?,
            scheduling: SchedulingPolicy::read("rr", &mut section(), &environment)?,
            meter: Meter::new(environment.capacity, Time::ZERO, Time::MAX),
            lossless: None,
        });
        switch.let_pass(true);
        let mut random = Stream::new(1, "lqd", u64::from(queues));
        let mut below = |n: u32| random.below(u64::from(n)) as u32;
        let step = |_| {
            let queue_class = (queues_per_port - 1).min(1 + below(queues_per_port)) as u8;
            let sends = below(5) > 0;
            Step { port: below(ports), queue_class, sends: sends.then(|| below(ports)) }
        };
        let steps = (0..ARRIVALS).map(step).collect();
        Ok(Bench { switch, packets: Arena::new(), steps, now: Time::ZERO, arrived: 0, lost: 0 })
    }

    /// Runs all arrivals once. Returns the nanoseconds per packet of every batch.
    fn round(&mut self) -> Vec<f64> {
        let steps = std::mem::take(&mut self.steps);
        let time = |batch: &[Step]| {
            let begin = Instant::now();
            batch.iter().for_each(|step| self.step(step));
            begin.elapsed().as_secs_f64() * 1e9 / batch.len() as f64
        };
        let times = steps.chunks(BATCH).map(time).collect();
        self.steps = steps;
        times
    }

    #[inline]
    fn step(&mut self, &Step { port, queue_class, sends }: &Step) {
        self.now += Time::from_ps(1_000);
        let packet = Packet { size: PACKET, priority: queue_class, ..Packet::default() };
        let id = self.packets.insert(packet, Contents::default());
        let packet = self.packets[id];
        self.switch.enqueue(self.now, port, id, &packet, &mut self.packets);
        self.arrived += 1;
        self.lost += self.switch.lost().len();
        for lost in self.switch.lost() {
            self.packets.remove(lost.packet);
        }
        self.switch.clear_lost();
        if let Some(port) = sends.filter(|&port| self.switch.has_backlog(port))
            && let Some(id) = self.switch.dequeue(self.now, port, &mut self.packets)
        {
            self.packets.remove(id);
        }
    }
}
