//! What the tests beside naive implementations share: a switch made from settings, and driven by
//! hand.

pub mod beside;
pub mod drawing;
pub mod dynamic;

use proptest::test_runner::{Config, RngSeed};
use spillway_engine::{Rate, Time};
use spillway_settings::Section;
use spillway_settings::quantity::Amount;
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::packet::{Arena, Contents, Packet, PacketId};
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_switch::{Buffer, DropReason, Environment, Meter, Service, Switch, SwitchParts};

/// A numerator and a denominator. In the switch's parameters, the denominator is a power of two, so
/// that floats represent the number exactly.
pub type Ratio = (u64, u64);

/// The number as a scenario would give it.
pub fn decimal(&(over, under): &Ratio) -> String {
    format!("{:?}", over as f64 / under as f64)
}

/// The settings of a switch. A policy is an id and its parameters, as a scenario would give them.
#[derive(Clone, Debug)]
pub struct Settings {
    pub capacity: u64,
    pub ports: usize,
    /// The rates of the ports in Gbps, repeated; 10 if there are none.
    pub rates: Vec<u64>,
    pub queues_per_port: usize,
    /// The queue class of acks, and that of data without a priority.
    pub queue_classes: (usize, usize),
    pub queue_limit: Amount,
    pub uncounted: u64,
    pub release_at_end: bool,
    /// The length of a slot, in the slotted model.
    pub slot: Option<Time>,
    pub sharing: (&'static str, String),
    /// The oracle's predictions for all arrivals, if they are given.
    pub predictions: Option<Vec<bool>>,
    pub aqm: (&'static str, String),
    pub scheduling: (&'static str, String),
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            capacity: Buffer::UNLIMITED,
            ports: 1,
            rates: Vec::new(),
            queues_per_port: 1,
            queue_classes: (0, 0),
            queue_limit: Amount::Unlimited,
            uncounted: 0,
            release_at_end: false,
            slot: None,
            sharing: ("cs", String::new()),
            predictions: None,
            aqm: ("none", String::new()),
            scheduling: ("rr", String::new()),
        }
    }
}

/// The real switch and the packets in it.
#[derive(Debug)]
pub struct Real {
    pub switch: Switch,
    pub packets: Arena,
}

impl Real {
    /// An empty switch.
    pub fn new(settings: &Settings) -> Real {
        let mut environment = Environment {
            capacity: settings.capacity,
            queues_per_port: settings.queues_per_port as u32,
            ack_queue_class: settings.queue_classes.0 as u8,
            data_queue_class: settings.queue_classes.1 as u8,
            ..Environment::example(settings.ports)
        };
        for (port, &gbps) in (0..settings.ports).zip(settings.rates.iter().cycle()) {
            let rate = Rate::from_bits_per_second(gbps * 1_000_000_000);
            environment.port_rates[port] = rate.expect("more than nothing");
        }
        let section = |(id, text): &(&str, String)| Section::new(*id, text.parse().unwrap());
        let Settings { sharing, aqm, scheduling, .. } = settings;
        let (mut of_sharing, mut of_aqm) = (section(sharing), section(aqm));
        let mut of_scheduling = section(scheduling);
        environment.service = Service {
            scheduling: SchedulingPolicy::read(scheduling.0, &mut of_scheduling, &environment)
                .unwrap(),
            uncounted_bytes: settings.uncounted as u32,
            release_at_end: settings.release_at_end,
            slot: settings.slot,
        };
        let mut policy = SharingPolicy::read(sharing.0, &mut of_sharing, &environment).unwrap();
        if let Some(predictions) = &settings.predictions {
            policy = policy.with_predictions(predictions.as_slice().into()).unwrap();
        }
        let parts = SwitchParts {
            capacity: settings.capacity,
            port_rates: environment.port_rates.clone(),
            queues_per_port: environment.queues_per_port,
            ack_queue_class: environment.ack_queue_class,
            data_queue_class: settings.queue_classes.1 as u8,
            unmanaged: environment.unmanaged(),
            queue_limit: settings.queue_limit,
            uncounted_bytes: settings.uncounted as u32,
            release_at_end: settings.release_at_end,
            sharing: policy,
            aqm: AqmPolicy::read(aqm.0, &mut of_aqm, &environment).unwrap(),
            scheduling: environment.service.scheduling,
            meter: Meter::new(settings.capacity, Time::ZERO, Time::MAX),
            lossless: None,
        };
        for section in [of_sharing, of_aqm, of_scheduling] {
            section.finish().unwrap();
        }
        let mut switch = Switch::new(parts);
        let facts = switch.port_facts();
        let is_seen = facts.watches_turns || facts.schedules_by_account || facts.holds_until_sent;
        switch.let_pass(!is_seen);
        Real { switch, packets: Arena::new() }
    }

    /// Makes a packet with a number (`seq`), ready to arrive.
    pub fn insert(&mut self, number: usize, packet: Packet) -> PacketId {
        self.insert_of(0, number, packet)
    }

    /// The same, with a flow.
    pub fn insert_of(&mut self, flow: u32, number: usize, packet: Packet) -> PacketId {
        self.packets.insert(packet, Contents { flow, seq: number as u64, ..Contents::default() })
    }

    /// Packets of 1000 bytes arrive for a port. Returns how many are lost.
    pub fn join(&mut self, ns: u64, port: u32, number: usize) -> usize {
        for number in 0..number {
            let packet = Packet { size: 1000, ..Packet::default() };
            let id = self.insert(number, packet);
            self.switch.enqueue(Time::from_ns(ns), port, id, &packet, &mut self.packets);
        }
        self.take_lost().len()
    }

    /// A packet leaves a port, which must have one.
    pub fn leave(&mut self, ns: u64, port: u32) {
        let id = self.switch.dequeue(Time::from_ns(ns), port, &mut self.packets).unwrap();
        self.packets.remove(id);
    }

    /// The number of a packet.
    pub fn number(&self, id: PacketId) -> usize {
        self.packets.contents(id).seq as usize
    }

    /// The numbers of the packets lost since the last call, in order, with the reasons.
    pub fn take_lost(&mut self) -> Vec<(usize, DropReason)> {
        let lost = self.switch.lost().to_vec();
        self.switch.clear_lost();
        let mut numbers = Vec::new();
        for lost in lost {
            numbers.push((self.number(lost.packet), lost.reason));
            self.packets.remove(lost.packet);
        }
        numbers.sort_unstable();
        numbers
    }
}

/// A configuration for property tests with `cases` cases. They are the same in every run, unless
/// `PROPTEST_RNG_SEED` is set.
pub fn cases(cases: u32) -> Config {
    let given = Config::default();
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    Config { cases, rng_seed, failure_persistence: None, ..given }
}
