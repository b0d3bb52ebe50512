//! Measures the cost of choosing a packet within a queue: one port with as many packets waiting all
//! the time.
//!
//! `cargo run --release -p spillway-switch --example pfabric`
//!
//! *sent*: a packet leaves, under FIFO or by pFabric's rule, then another one arrives, of one of 50
//! flows drawn at random. *pushed out*: one arrives at a full port, which loses the worst of all.
//! Later flows tend to have less left, so that is hardly ever the arrival. The time is that of both,
//! or of the arrival. It is the median of many batches; the fastest batch is given too.

use spillway_engine::{Stream, Time};
use spillway_settings::quantity::Amount;
use spillway_settings::{Section, SettingsError};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::packet::{Arena, Contents, NO_PRIORITY, Packet};
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_switch::{Buffer, Environment, Meter, Switch, SwitchParts};
use std::time::Instant;

const FLOWS: u64 = 50;
const PACKET: u32 = 1500;
/// Bytes that each packet has less left than the one before it, but for chance.
const STEP: u32 = 10;
const BATCH: usize = 2_000;
const BATCHES: usize = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("waiting  packets of         ns per packet  fastest");
    for waiting in [10, 30, 100, 1_000] {
        for (what, scheduling, is_full) in [
            ("FIFO, sent", "fifo", false),
            ("pFabric, sent", "pfabric", false),
            ("pFabric, pushed out", "pfabric", true),
        ] {
            let mut times = times(scheduling, waiting, is_full)?;
            times.sort_unstable_by(f64::total_cmp);
            println!("{waiting:7}  {what:19}  {:11.1}  {:7.1}", times[times.len() / 2], times[0]);
        }
    }
    Ok(())
}

/// The nanoseconds per packet of every batch. The port holds no more than what waits, if `is_full`.
fn times(scheduling: &str, waiting: usize, is_full: bool) -> Result<Vec<f64>, SettingsError> {
    let environment = Environment { capacity: Buffer::UNLIMITED, ..Environment::example(1) };
    let section = || Section::empty();
    let limit = ("limit".to_string(), format!("{}B", waiting * PACKET as usize).into());
    let (sharing, mut limits) = if is_full {
        ("pfabric", Section::new("", [limit].into_iter().collect()))
    } else {
        ("cs", section())
    };
    let mut switch = Switch::new(SwitchParts {
        capacity: environment.capacity,
        port_rates: environment.port_rates.clone(),
        queues_per_port: 1,
        ack_queue_class: 0,
        data_queue_class: 0,
        unmanaged: None,
        queue_limit: Amount::Unlimited,
        uncounted_bytes: 0,
        release_at_end: false,
        sharing: SharingPolicy::read(sharing, &mut limits, &environment)?,
        aqm: AqmPolicy::read("none", &mut section(), &environment)?,
        scheduling: SchedulingPolicy::read(scheduling, &mut section(), &environment)?,
        meter: Meter::new(environment.capacity, Time::ZERO, Time::MAX),
        lossless: None,
    });
    let (mut packets, mut random) = (Arena::new(), Stream::new(1, "pfabric", waiting as u64));
    let (mut least, spread, step) = match is_full {
        true => (STEP * (waiting + (1 + BATCHES) * BATCH) as u32, STEP * waiting as u32, STEP),
        false => (1, 1_000_000, 0),
    };
    let mut come = |switch: &mut Switch, packets: &mut Arena| {
        let flow = random.below(FLOWS) as u32;
        let remaining = least + random.below(spread.into()) as u32;
        least -= step;
        let packet = Packet { size: PACKET, priority: NO_PRIORITY, ..Packet::default() };
        let contents = Contents { flow, remaining, ..Contents::default() };
        let id = packets.insert(packet, contents);
        switch.enqueue(Time::ZERO, 0, id, &packet, packets);
        switch.lost().iter().for_each(|lost| packets.remove(lost.packet));
        switch.clear_lost();
    };
    (0..waiting).for_each(|_| come(&mut switch, &mut packets));
    let mut batch = || {
        let begin = Instant::now();
        for _ in 0..BATCH {
            if !is_full && let Some(id) = switch.dequeue(Time::ZERO, 0, &mut packets) {
                packets.remove(id);
            }
            come(&mut switch, &mut packets);
        }
        begin.elapsed().as_secs_f64() * 1e9 / BATCH as f64
    };
    batch();
    Ok((0..BATCHES).map(|_| batch()).collect())
}
