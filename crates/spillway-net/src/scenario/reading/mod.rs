//! Reads a scenario: stage by stage, each with what the stages before it have read.

mod devices;
mod flows;
mod network;

use super::events::{self, Event};
use super::recording::{Recording, Scope};
use super::tags::Tags;
use super::{
    Changed, Completion, Limits, Result, Scenario, SlowdownBase, Sources, composition, switches,
    warnings,
};
use devices::Devices;
use flows::Flows;
use network::Network;
use spillway_engine::Time;
use spillway_settings::{Section, Table};

/// What the root of a scenario says itself.
struct Head {
    name: String,
    seed: u64,
    warmup: Time,
    duration: Time,
    stop: Time,
    slowdown_base: SlowdownBase,
    completion: Completion,
}

impl Scenario {
    /// Reads a scenario from TOML.
    pub fn read(given: Table, sources: &Sources) -> Result<Scenario> {
        let mut root = Section::new("", given);
        let head = Head::read(&mut root)?;
        let are_limits_given = root.has("limits");
        let mut section = root.section("limits")?;
        let limits = Limits::read(&mut section)?;
        let limits_table = section.finish()?;
        let network = Network::read(&mut root, &head, sources)?;
        let sections = root.sections("traffic")?;
        let tags = Tags::of(&network.transport, &sections, &sources.extensions)?;
        let reading = switches::Reading {
            around: network.around(head.seed, tags.share_ack_queues()),
            times: (head.duration, head.stop),
            limits: &limits,
            extensions: &sources.extensions,
            largest_packet: network.transport.full_packet(),
        };
        let mut devices = Devices::read(&mut root, &reading, &tags)?;
        root.put("transport", network.transport_table.clone());
        let flows =
            Flows::read(&mut root, sections, &head, (&network, &devices), &limits, sources)?;
        devices.suit(&mut root, reading, &flows.transports)?;
        let events = events::read(&mut root, &network.topology, devices.have_port_fifos())?;
        let mut section = root.section("record")?;
        let scope = Scope {
            base_rtt: network.base_rtt,
            duration: head.duration,
            limits: &limits,
            topology: &network.topology,
            tiers: &devices.tiers,
            traffic: &flows.traffic,
        };
        let recording = Recording::read(&mut section, &scope)?;
        root.put("record", section.finish()?);
        if are_limits_given {
            // Limits change no result, so they need not be kept unless they are given.
            root.put("limits", limits_table);
        }

        let Head { name, seed, warmup, duration, stop, slowdown_base, completion } = head;
        let Network { topology, base_rtt, routing, names, files, .. } = network;
        let Devices { tiers, nic, discipline, receiving, pauses_acks, .. } = devices;
        let Flows { traffic, transports, class_transport, class_is_incast, class_stop, .. } = flows;
        let mut warnings = flows.warnings;
        warnings.extend(warnings::of(&topology, &tiers, &transports, routing.spreading));
        warnings.extend(warnings::of_times(&traffic, &events, duration, stop));
        warnings.extend(warnings::unpaused_acks(&tiers[0], pauses_acks, &transports));
        let (mut links, mut changes) = (Vec::new(), Vec::new());
        for event in events {
            match event {
                Event::Link(event) => links.push(event),
                Event::Set(change) => changes.push(change),
            }
        }
        changes.sort_by_key(|change| change.at);
        let mut scenario = Scenario {
            name,
            seed,
            warmup,
            duration,
            stop,
            topology,
            base_rtt,
            routing,
            tiers,
            nic,
            discipline,
            receiving,
            pauses_acks,
            transports,
            class_transport,
            class_is_incast,
            class_stop,
            traffic,
            events: links,
            changes,
            recording,
            limits,
            slowdown_base,
            completion,
            shares_ack_queues: tags.share_ack_queues(),
            files,
            names,
            resolved: root.finish()?,
            warnings,
        };
        scenario.check_changes(0, Changed::default())?;
        scenario.name_tiers_of_changes();
        let told = composition::warnings(&scenario)?;
        scenario.warnings.extend(told);
        Ok(scenario)
    }
}

impl Head {
    fn read(root: &mut Section) -> Result<Head> {
        let name = root.text("name", "unnamed", "a name", "name of the run")?;
        let seed = root.integer("seed", 1, 0..=i64::MAX as u64, "seed of all that is random")?;
        let warmup = root.time("warmup", "0us", "when measurements start")?;
        let duration = root.positive_time("duration", "", "flows start within it")?;
        let default_stop = duration.saturating_add(Time::from_ms(10_000)).to_string();
        let stop = root.time("stop", &default_stop, "when the run ends at the latest")?;
        check_times(root, warmup, duration, stop)?;
        let slowdown_base = root.choice(
            "slowdown_base",
            &[("ideal", SlowdownBase::Ideal), ("published", SlowdownBase::Published)],
            "what slowdowns are relative to: the exact least time, or RTT + size/rate",
        )?;
        let ends = [("last-byte", Completion::LastByte), ("last-ack", Completion::LastAck)];
        let meaning = "when a flow is complete: when its last byte has arrived, or when its sender has \
                       everything acknowledged";
        let completion = root
            .optional("completion", |s| s.choice("completion", &ends, meaning))?
            .unwrap_or_default();
        Ok(Head { name, seed, warmup, duration, stop, slowdown_base, completion })
    }
}

fn check_times(root: &Section, warmup: Time, duration: Time, stop: Time) -> Result<()> {
    if warmup >= duration {
        return Err(
            root.conflict("warmup", format!("{warmup} is not before duration = {duration}"))
        );
    }
    if stop < duration {
        return Err(root.conflict("stop", format!("{stop} is before duration = {duration}")));
    }
    Ok(())
}
