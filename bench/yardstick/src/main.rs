//! The bare datapath of a leaf-spine network, as a yardstick for speed: see the README.

mod calendar;
mod flows;
mod network;
mod traffic;

use calendar::{Calendar, Time};
use flows::Flows;
use network::{Network, Shape, HEADERS, MSS};
use std::fs;
use std::process::ExitCode;
use traffic::Traffic;

/// The one identity in the calendar that is no port's: the next flow's arrival.
const TRAFFIC: u32 = u32::MAX;

/// Every option, with its default where it has a fixed one.
const USAGE: &str =
    "--leaves 16 --hosts-per-leaf 8 --spines 8 --rate-gbps 10 --delay-us 10 --load 0.6 \
                     --flows 20000 --seed 1 [--day-bits N] [--ring-bits N] [--lookahead N]";

struct Options {
    shape: Shape,
    load: f64,
    flows: u64,
    seed: u64,
    day_bits: u32,
    ring_bits: u32,
    lookahead: usize,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Ok(options) => {
            println!("{}", run(&options));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}\n\nhint: {USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> String {
    let mut calendar = Calendar::new(options.day_bits, options.ring_bits);
    let mut network = Network::new(options.shape);
    let mut flows = Flows::new(options.shape);
    let mut traffic = Traffic::new(options.shape, options.load, options.seed);
    let mut arrival = traffic.draw();
    let mut started = 0;
    let mut events: u64 = 0;
    let mut now: Time = 0;
    calendar.push(arrival.time, TRAFFIC);
    while let Some((time, identity)) = calendar.pop() {
        debug_assert!(time >= now, "time runs forward");
        now = time;
        events += 1;
        if options.lookahead > 0 {
            // The calendar knows what comes next: ports first, then the packets that they name.
            if let Some(identity) = calendar.peek(options.lookahead) {
                network.prefetch_port(identity);
            }
            if let Some(identity) = calendar.peek(options.lookahead / 2) {
                network.prefetch_packet(identity);
            }
        }
        if identity == TRAFFIC {
            flows.start(&mut network, &mut calendar, &arrival);
            started += 1;
            if started < options.flows {
                arrival = traffic.draw();
                calendar.push(arrival.time, TRAFFIC);
            }
        } else if let Some(packet) = network.handle(&mut calendar, now, identity) {
            flows.receive(&mut network, &mut calendar, now, packet);
        }
    }
    let hops = network.packet_hops;
    let cpu_s = user_seconds();
    format!(
        "{{\"hosts\": {}, \"flows\": {}, \"completed\": {}, \"mean_fct_us\": {:.3}, \"simulated_ms\": {:.3}, \
         \"packet_hops\": {hops}, \"events\": {events}, \
         \"events_per_hop\": {:.3}, \"marks\": {}, \"drops\": {}, \"day_bits\": {}, \"ring_bits\": {}, \"lookahead\": {}, \
         \"cpu_s\": {cpu_s:.2}, \"packet_hops_per_cpu_s\": {:.0}, \"peak_rss_mb\": {:.1}}}",
        options.shape.hosts(),
        options.flows,
        flows.completed,
        flows.total_fct as f64 / flows.completed as f64 / 1e6,
        now as f64 / 1e9,
        events as f64 / hops as f64,
        network.marks,
        network.drops,
        options.day_bits,
        options.ring_bits,
        options.lookahead,
        hops as f64 / cpu_s,
        peak_rss_mb(),
    )
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let (mut leaves, mut hosts_per_leaf, mut spines) = (16, 8, 8);
    let (mut rate_gbps, mut delay_us) = (10.0, 10.0);
    let (mut load, mut flows, mut seed) = (0.6, 20_000, 1);
    let (mut day_bits, mut ring_bits, mut lookahead) = (None, None, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} wants a value"))?;
        match name.as_str() {
            "--leaves" => leaves = number(&name, &value)?,
            "--hosts-per-leaf" => hosts_per_leaf = number(&name, &value)?,
            "--spines" => spines = number(&name, &value)?,
            "--rate-gbps" => rate_gbps = number(&name, &value)?,
            "--delay-us" => delay_us = number(&name, &value)?,
            "--load" => load = number(&name, &value)?,
            "--flows" => flows = number(&name, &value)?,
            "--seed" => seed = number(&name, &value)?,
            "--day-bits" => day_bits = Some(number(&name, &value)?),
            "--ring-bits" => ring_bits = Some(number(&name, &value)?),
            "--lookahead" => lookahead = Some(number(&name, &value)?),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    let shape = Shape {
        leaves,
        hosts_per_leaf,
        spines,
        picoseconds_per_byte: (8_000.0_f64 / rate_gbps).ceil() as u32,
        delay: (delay_us * 1e6_f64).round() as Time,
    };
    // The longest day that is not longer than the smallest packet's transmission: then hardly any
    // event falls into the day that schedules it, and as many as possible are known in advance.
    let smallest = u32::from(HEADERS) * shape.picoseconds_per_byte;
    let day_bits = day_bits.unwrap_or(smallest.ilog2());
    let horizon = shape.delay + Time::from((MSS + u32::from(HEADERS)) * shape.picoseconds_per_byte);
    Ok(Options {
        shape,
        load,
        flows,
        seed,
        day_bits,
        // The ring holds whatever a link or a transmitter can be waiting for.
        ring_bits: ring_bits.unwrap_or_else(|| (horizon >> day_bits).max(63).ilog2() + 1),
        // Measured: below some hundred hosts all is in the cache, and looking ahead is lost work.
        lookahead: lookahead.unwrap_or(if shape.hosts() < 512 { 0 } else { 6 }),
    })
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} wants a number, got {value}"))
}

/// User time of this process, to a hundredth of a second (Linux: 14th field of its `stat`).
fn user_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(f64::NAN)
        / 100.0
}

fn peak_rss_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1024.0
}
