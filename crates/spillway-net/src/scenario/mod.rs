//! A scenario: the description of a run, validated, with every default filled in.

pub mod assignments;
mod changes;
mod choice;
mod classes;
mod events;
mod limits;
mod loads;
mod nic;
mod pfc;
mod places;
mod receiving;
mod recording;
mod routing;
mod switches;
mod tags;
mod timeouts;
mod volume;
mod warnings;

pub use changes::{Change, Changed, Fresh};
pub use classes::PacketClasses;
pub use events::{LinkChange, LinkEvent};
pub use limits::Limits;
pub use nic::{DisciplineSettings, NicScheduling, NicSettings};
pub use pfc::{Ends, PauseFrames, PfcSettings};
pub use receiving::Receiving;
pub use recording::{DecisionFilter, Recording};
pub use routing::{Hash, RoutingSettings, Spreading};
pub use switches::{SwitchSettings, TierSettings};

use crate::extensions::Extensions;
use events::Event;
use loads::Loads;
use spillway_engine::Time;
use spillway_settings::{
    Content, ErrorKind, Files, NamedFile, Reader, Section, SettingsError, Table, Value,
};
use spillway_topology::Topology;
use spillway_traffic::{Context, FlowColumns, ReadNumbers, Traffic};
use spillway_transport::{Access, ClosedLoop, LossDetection, Transport};
use std::path::Path;
use std::sync::Arc;
use tags::Tags;
use timeouts::Timeouts;
use volume::Volume;

type Result<T> = std::result::Result<T, SettingsError>;

/// What a flow's slowdown is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowdownBase {
    /// The exact least time of the same flow alone in the same network.
    Ideal,
    /// RTT + size / rate, as in published figures: propagation both ways, and the payload at the
    /// rate of the sender's line.
    Published,
}

/// When a flow is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// When its last byte has arrived.
    #[default]
    LastByte,
    /// When its sender has everything acknowledged. Flows without acks are nevertheless complete
    /// when their last byte has arrived.
    LastAck,
}

/// Reads a policy's file, like a [`Reader`]. It also gets the names of the switches, by their
/// numbers.
pub type RecordReader = Arc<dyn Fn(&str, &str, &str, &[String]) -> Content + Send + Sync>;

/// Where the files and algorithms that a scenario names come from.
pub struct Sources<'a> {
    /// The folder to which file names are relative.
    pub folder: &'a Path,
    /// The flows of a file that the caller has read already, by the key and the file's name.
    pub flows: &'a dyn Fn(&str, &str) -> Option<FlowColumns>,
    /// Further columns of numbers of such a file, by the key, the file's name, and the columns'
    /// names.
    pub numbers: &'a ReadNumbers<'a>,
    /// Reads recorded files of other formats, if given.
    pub records: Option<RecordReader>,
    /// Algorithms that are not compiled in.
    pub extensions: Extensions,
}

impl Sources<'_> {
    /// All files are read from a folder.
    pub fn of(folder: &Path) -> Sources<'_> {
        let extensions = Extensions::default();
        Sources { folder, flows: &|_, _| None, numbers: &|_, _, _| None, records: None, extensions }
    }
}

/// A validated scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Measurements start here.
    pub warmup: Time,
    /// Flows start before this; measurements of the network end here.
    pub duration: Time,
    /// The run ends here at the latest.
    pub stop: Time,
    /// The network.
    pub topology: Topology,
    /// The round trip of the empty network.
    pub base_rtt: Time,
    /// How next hops are chosen.
    pub routing: RoutingSettings,
    /// The switches' settings, by tier.
    pub tiers: Vec<TierSettings>,
    /// Every host's NIC.
    pub nic: NicSettings,
    /// The discipline of NICs, which marks and drops packets, if there is one.
    pub discipline: Option<DisciplineSettings>,
    /// How hosts take in packets, if they have a rate of their own for it.
    pub receiving: Option<Receiving>,
    /// Whether pause frames also stop hosts' acks.
    pub pauses_acks: bool,
    /// The transports in use.
    pub transports: Vec<Transport>,
    /// The transport of every class of flows, by index.
    pub class_transport: Vec<u16>,
    /// For every class, whether it counts as incast: because its traffic is of that kind, or
    /// because that is its name.
    pub class_is_incast: Vec<bool>,
    /// For every class, when its endless flows stop.
    pub class_stop: Vec<Time>,
    /// What is sent.
    pub traffic: Traffic,
    /// Links that fail and recover.
    pub events: Vec<LinkEvent>,
    /// Numbers that change, in order of time.
    pub changes: Vec<Change>,
    /// What is recorded.
    pub recording: Recording,
    /// The limits of what it may ask for.
    pub limits: Limits,
    /// What slowdowns are relative to.
    pub slowdown_base: SlowdownBase,
    /// When flows are complete.
    pub completion: Completion,
    /// Whether data wait in the queues of acks, because a tagger gives them that priority.
    shares_ack_queues: bool,
    /// The files that it names.
    files: Files,
    /// The names of all switches, by their numbers.
    names: Arc<[String]>,
    /// The scenario with every value written out. Reading this table gives the same scenario.
    pub resolved: Table,
    /// What is allowed but may be a mistake.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// Reads a scenario from TOML.
    pub fn read(given: Table, sources: &Sources) -> Result<Scenario> {
        let (folder, extensions) = (sources.folder, &sources.extensions);
        let mut root = Section::new("", given);
        let name = root.text("name", "unnamed", "a name", "name of the run")?;
        let seed = root.integer("seed", 1, 0..=i64::MAX as u64, "seed of all that is random")?;
        let warmup = root.time("warmup", "0us", "when measurements start")?;
        let duration = root.positive_time("duration", "", "flows start within it")?;
        let default_stop = duration.saturating_add(Time::from_ms(10_000)).to_string();
        let stop = root.time("stop", &default_stop, "when the run ends at the latest")?;
        check_times(&root, warmup, duration, stop)?;
        let slowdown_base = root.choice(
            "slowdown_base",
            &[("ideal", SlowdownBase::Ideal), ("published", SlowdownBase::Published)],
            "what slowdowns are relative to: the exact least time, or RTT + size/rate",
        )?;

        let ends = [("last-byte", Completion::LastByte), ("last-ack", Completion::LastAck)];
        let meaning = "when a flow is complete: when its last byte has arrived, or when its sender has \
                       everything acknowledged";
        let takes = "\"last-byte\" or \"last-ack\"";
        let completion = root
            .optional("completion", takes, meaning, |s| s.choice("completion", &ends, meaning))?
            .unwrap_or_default();

        let are_limits_given = root.has("limits");
        let mut section = root.section("limits")?;
        let limits = Limits::read(&mut section)?;
        let limits_table = section.finish()?;

        let mut section = root.section("topology")?;
        let mut network = spillway_topology::read(&mut section, folder)?;
        network.set_clocks(seed);
        Limits::check_lines(network.lines.len())?;
        let mut transport_section = root.section("transport")?;
        let transport_given = transport_section.rest();
        let mut transport_section = Section::new("transport", transport_given.clone());
        let transport = Transport::read(&mut transport_section, &extensions.hosts)?;
        let transport_table = transport_section.finish()?;
        let full_packet = transport.full_packet().into();
        // This takes time in a large network, and is not needed if the key is given.
        let default = match section.has("base_rtt") {
            true => String::new(),
            false => spillway_topology::base_rtt(&network, full_packet).to_string(),
        };
        let meaning = "round trip of the empty network: bandwidth-delay products and intervals \
                       hang on it";
        let base_rtt = section.positive_time("base_rtt", &default, meaning)?;
        root.put("topology", section.finish()?);

        let mut section = root.section("routing")?;
        let routing = RoutingSettings::read(&mut section, network.hosts())?;
        root.put("routing", section.finish()?);

        let names: Arc<[String]> = network.switch_names().into();
        let files = Files::of(folder).with(sources.records.clone().map(|records| {
            let switches = Arc::clone(&names);
            Reader(Arc::new(move |kind, key, name| records(kind, key, name, &switches)))
        }));
        let mut sections = root.sections("traffic")?;
        let tags = Tags::of(&transport, &sections, extensions)?;
        let around = switches::Surroundings {
            topology: &network,
            seed,
            base_rtt,
            transport: &transport,
            shares_ack_queues: tags.share_ack_queues(),
            files: &files,
            names: &names,
        };
        let largest_packet = transport.full_packet();
        let times = (duration, stop);
        let mut reading =
            switches::Reading { around, times, limits: &limits, extensions, largest_packet };
        let switch_given = root.section("switch")?.rest();
        let read_switches = |reading: &switches::Reading| {
            switches::read(Section::new("switch", switch_given.clone()), reading)
        };
        let (mut tiers, switch_table) = read_switches(&reading)?;
        pfc::check_tiers(&tiers)?;
        root.put("switch", switch_table);
        let mut section = root.section("nic")?;
        let (nic, discipline) = nic::read(&mut section, &tiers[0].settings, &reading)?;
        let meaning = "whether pause frames stop acks, too, where they share a paused priority";
        let pauses_acks = section.flag("pauses_acks", true, meaning)?;
        let has_pfc = tiers[0].pfc.is_some();
        let mut receiving = Receiving::read(&mut section, &network, has_pfc)?;
        nic::check_pauses(&section, &nic, has_pfc)?;
        pfc::check_order(&network, &tiers)?;
        root.put("nic", section.finish()?);
        tags.check(&tiers, &nic)?;
        let ports = |tier| {
            let settings = tiers.iter().find(|settings| settings.tier == tier);
            settings.map_or((1, 0), |tier| {
                (tier.settings.queues_per_port, tier.settings.port_fifo_packets)
            })
        };
        limits.check_queues(&network, ports, &nic)?;
        root.put("transport", transport_table);

        let leaf_buffer = |leaf: u32| tiers[0].capacity_of(&network, leaf);
        let context = Context {
            topology: &network,
            seed,
            duration,
            stop,
            leaf_buffer_bytes: &leaf_buffer,
            files: &files,
            columns: sources.flows,
            numbers: sources.numbers,
            model: None,
        };
        let traffic = Traffic::read(&mut sections, &context)?;
        limits.check_flows(&traffic.sources)?;
        let own = Overrides { given: &transport_given, default: &transport, extensions };
        let class_count = traffic.classes.len();
        let (mut transports, mut tables) = (vec![transport.clone()], Vec::new());
        let mut class_transport = vec![0; class_count];
        let mut class_is_incast = vec![false; class_count];
        let mut class_stop = vec![stop; class_count];
        let mut warnings = Vec::new();
        let mut timeouts = Timeouts::beside(&network, base_rtt);
        let mut volume = Volume::of(&network);
        let mut loads = Loads::of(&network);
        let rates = network.nics.iter().map(|&line| network.lines[line as usize].rate);
        let fastest = rates.min_by_key(|rate| rate.byte_time()).expect("a network has hosts");
        let whole_ns = network.lines[0].whole_ns;
        let access =
            |least_rtt| Access { rate: fastest, base_rtt: base_rtt.max(least_rtt), whole_ns };
        let most = access(spillway_topology::base_rtt_at_most(&network, full_packet));
        for (section, source) in sections.into_iter().zip(&traffic.sources) {
            let (own_transport, table) = own.read(section, source.leaves_open())?;
            tables.push(Value::Table(table));
            match &own_transport {
                Some(own) => timeouts.check(&format!("traffic.{}", source.name()), own)?,
                None => timeouts.check("transport", &transport)?,
            }
            let place = match own_transport {
                None => 0,
                Some(transport) => {
                    transports.push(transport);
                    transports.len() as u16 - 1
                }
            };
            let never_ends = source.sends_until().is_some();
            let closed = transports[usize::from(place)].closed_loop();
            if never_ends && closed.is_some_and(ClosedLoop::starts_with_whole_flow) {
                let path = format!("traffic.{}.initial_window", source.name());
                let problem = "\"flow\" is no window for flows that never end";
                return Err(SettingsError::new(path, problem));
            }
            volume.add(source, &transports[usize::from(place)])?;
            loads.add(source, &transports[usize::from(place)]);
            let transport = &transports[usize::from(place)];
            tags::check_source(source, &transport.tagging)?;
            warnings.extend(tags::warning(source, &transport.tagging));
            if limits.check_window(source, transport, &most).is_err() {
                let exact = access(spillway_topology::base_rtt(&network, full_packet));
                limits.check_window(source, transport, &exact)?;
            }
            for class in source.class_numbers() {
                class_transport[usize::from(class)] = place;
                let named = traffic.classes[usize::from(class)] == "incast";
                class_is_incast[usize::from(class)] = named || source.kind() == "incast";
                class_stop[usize::from(class)] = source.sends_until().unwrap_or(stop);
            }
        }
        root.put("traffic", Value::Array(tables));
        let largest = transports.iter().map(Transport::full_packet).max().unwrap_or(0);
        if largest > reading.largest_packet && tiers.iter().any(|tier| tier.pfc.is_some()) {
            // Headroom is computed for the packets of all transports.
            reading.largest_packet = largest;
            let (again, switch_table) = read_switches(&reading)?;
            tiers = again;
            root.put("switch", switch_table);
        }
        check_sizes(&tiers, &transports)?;
        let lossless = tiers.iter().filter_map(|tier| Some((tier.tier, tier.pfc.as_ref()?)));
        pfc::check_packets(lossless, largest)?;
        if let (Some(receiving), Some(pfc)) = (&mut receiving, &tiers[0].pfc) {
            receiving.set_aside(&network, pfc, tiers[0].settings.queues_per_port)?;
        }
        discipline.iter().try_for_each(|discipline| discipline.check(&transports))?;
        check_recorded_fates(&tiers, &transports)?;

        let (mut events, mut tables) = (Vec::new(), Vec::new());
        for mut section in root.sections("event")? {
            events.push(Event::read(&mut section, &network)?);
            tables.push(Value::Table(section.finish()?));
        }
        if !tables.is_empty() {
            let has_links = events.iter().any(|event| matches!(event, Event::Link(_)));
            if has_links && has_port_fifos(&tiers, &nic) {
                let problem = "not with switch.port_fifo_packets or nic.fifo_packets: what has \
                               left a port's queues cannot be lost any more";
                return Err(SettingsError::new("event", problem));
            }
            root.put("event", Value::Array(tables));
        }
        let mut section = root.section("record")?;
        let scope = recording::Scope {
            base_rtt,
            duration,
            limits: &limits,
            topology: &network,
            tiers: &tiers,
            traffic: &traffic,
        };
        let recording = Recording::read(&mut section, &scope)?;
        root.put("record", section.finish()?);
        if are_limits_given {
            // Limits change no result, so they need not be kept unless they are given.
            root.put("limits", limits_table);
        }
        warnings.extend(timeouts.warnings);
        warnings.extend(loads.warnings());
        warnings.extend(warnings::of(&network, &tiers, &transports, routing.spreading));
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
            topology: network,
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
        Ok(scenario)
    }

    /// The files that were read, with the keys that named them.
    pub fn named_files(&self) -> Vec<NamedFile> {
        self.files.named()
    }

    /// The facts on which the policies of switches and NICs depend.
    fn around(&self) -> switches::Surroundings<'_> {
        switches::Surroundings {
            topology: &self.topology,
            seed: self.seed,
            base_rtt: self.base_rtt,
            transport: &self.transports[0],
            shares_ack_queues: self.shares_ack_queues,
            files: &self.files,
            names: &self.names,
        }
    }

    /// A transport, by its place in `transports`.
    #[inline]
    pub fn transport(&self, place: u16) -> &Transport {
        &self.transports[usize::from(place)]
    }

    /// The index of a switch's tier in `tiers`.
    pub fn tier_of(&self, switch: u32) -> usize {
        let tier = self.topology.switches[switch as usize].tier;
        self.tiers.iter().position(|t| t.tier == tier).unwrap_or(0)
    }

    /// Whether links fail, so that routes change during the run.
    pub fn links_fail(&self) -> bool {
        self.events.iter().any(|event| matches!(event.change, LinkChange::Down { .. }))
    }

    /// Whether pause frames may stop hosts.
    pub fn hosts_can_be_paused(&self) -> bool {
        self.tiers[0].pfc.is_some()
    }

    /// Whether any port has a ring.
    pub fn has_port_fifos(&self) -> bool {
        has_port_fifos(&self.tiers, &self.nic)
    }

    /// Whether connections of some class of flows stay open.
    pub fn leaves_connections_open(&self) -> bool {
        self.class_transport.iter().any(|&place| self.transport(place).leaves_open())
    }

    /// Whether flows of a class number their packets, and find losses by their order.
    pub fn numbers_packets(&self, class: u16) -> bool {
        let closed_loop = self.transport(self.class_transport[usize::from(class)]).closed_loop();
        let detection = closed_loop.map(|closed_loop| closed_loop.losses.detection);
        matches!(detection, Some(LossDetection::PerPriority { .. }))
    }

    /// Whether senders are told at once which packets their own hosts drop.
    pub fn tells_senders(&self) -> bool {
        self.discipline.as_ref().is_some_and(|discipline| discipline.tells_senders)
    }

    /// A switch's name: its tier and its number within it.
    pub fn switch_name(&self, switch: u32) -> String {
        self.topology.switch_name(switch)
    }
}

/// For messages: which numbers exist if there are `count` of them, from 0.
fn numbered(count: usize) -> String {
    match count {
        0 => "there are none".into(),
        1 => "there is only 0".into(),
        _ => format!("there are {count}, from 0 to {}", count - 1),
    }
}

fn check_times(root: &Section, warmup: Time, duration: Time, stop: Time) -> Result<()> {
    if warmup >= duration {
        return Err(root.error("warmup", format!("{warmup} is not before duration = {duration}")));
    }
    if stop < duration {
        return Err(root.error("stop", format!("{stop} is before duration = {duration}")));
    }
    Ok(())
}

fn check_sizes(tiers: &[TierSettings], transports: &[Transport]) -> Result<()> {
    let smallest = transports.iter().map(|t| t.ack_size.min(t.header + 1)).min().unwrap_or(0);
    for tier in tiers {
        if tier.settings.uncounted_bytes >= smallest {
            let problem = format!("must be less than the smallest packet, {smallest}B");
            return Err(SettingsError::new("switch.uncounted_bytes", problem));
        }
    }
    Ok(())
}

fn has_port_fifos(tiers: &[TierSettings], nic: &NicSettings) -> bool {
    nic.fifo_packets > 0 || tiers.iter().any(|tier| tier.settings.port_fifo_packets > 0)
}

fn check_recorded_fates(tiers: &[TierSettings], transports: &[Transport]) -> Result<()> {
    let reacts = transports.iter().find(|transport| transport.closed_loop().is_some());
    if let (Some(_), Some(transport)) = (tiers.iter().find(|t| t.has_recorded_fates()), reacts) {
        let problem = format!(
            "\"trace\" is not valid with transport = {:?}, whose packets are others when other \
             packets are lost; recorded fates need \"udp\"",
            transport.kind
        );
        return Err(SettingsError::new("switch.sharing.oracle", problem));
    }
    Ok(())
}

/// An error about a traffic section whose `transport` is not text. The keys of its own transport
/// stand in the section itself.
fn not_an_id(section: &str, given: &Value) -> SettingsError {
    let id = given.get("kind").and_then(Value::as_str).unwrap_or(spillway_transport::KINDS[0].id);
    let path = format!("{section}.transport");
    let hint = format!("it is written `{path}={id}`, and keys of this transport `{section}.KEY`");
    let problem = format!("{given} is not valid; expected the id of a transport");
    SettingsError::new(path, problem).of(ErrorKind::WrongValue).hint(hint)
}

/// The key that tells how long connections last.
const CONNECTIONS: &str = "connections";

/// What is needed to read a traffic section's own transport.
struct Overrides<'a> {
    given: &'a Table,
    default: &'a Transport,
    extensions: &'a Extensions,
}

impl Overrides<'_> {
    /// Reads the keys that traffic has left in its section. `None` if there are none. With
    /// `leaves_open`, connections stay open by default.
    fn read(&self, mut section: Section, leaves_open: bool) -> Result<(Option<Transport>, Table)> {
        let mut rest = section.rest();
        let path = section.path().to_string();
        let is_given = [&rest, self.given].iter().any(|keys| keys.contains_key(CONNECTIONS));
        if leaves_open && !is_given && self.has_connections(&rest) {
            rest.insert(CONNECTIONS.into(), "open".into());
        }
        let mut names = section.valid_names();
        let mut resolved = section.finish()?;
        if rest.is_empty() {
            return Ok((None, resolved));
        }
        let own_kind = rest.remove("transport");
        let mut merged = self.given.clone();
        if let Some(kind) = own_kind {
            let Value::String(text) = &kind else {
                return Err(not_an_id(&path, &kind));
            };
            if *text != self.default.kind {
                // Another kind has other keys. Only the keys that both kinds have are carried over.
                let keys: Vec<_> = Transport::keys_of(text, &path, &self.extensions.hosts)?;
                merged.retain(|key, _| keys.iter().any(|known| known == key));
            }
            merged.insert("kind".into(), kind);
        }
        let kind =
            merged.get("kind").and_then(Value::as_str).unwrap_or(&self.default.kind).to_string();
        for choice in spillway_transport::CHOICES {
            if let Some(Value::String(value)) = rest.get(choice) {
                // The same for another loss detection, and for other choices.
                let earlier = merged.get(choice).and_then(Value::as_str).unwrap_or_default();
                let earlier = earlier.to_string();
                merged.retain(|key, _| {
                    !spillway_transport::is_foreign(&kind, key, choice, value)
                        && !spillway_transport::has_other_default(key, choice, value, &earlier)
                });
            }
        }
        merged.extend(rest);
        let mut section = Section::new(path, merged);
        names.push("transport".into());
        let transport = Transport::read(&mut section, &self.extensions.hosts)?;
        section.also(names);
        for (key, value) in section.finish()? {
            let key = if key == "kind" { "transport".into() } else { key };
            resolved.insert(key, value);
        }
        Ok((Some(transport), resolved))
    }

    /// Whether the transport of a section with these keys has connections.
    fn has_connections(&self, rest: &Table) -> bool {
        let kind = rest.get("transport").map_or(Some(&*self.default.kind), Value::as_str);
        let keys = kind.map(|kind| Transport::keys_of(kind, "", &self.extensions.hosts));
        keys.is_some_and(|keys| keys.is_ok_and(|keys| keys.iter().any(|key| key == CONNECTIONS)))
    }
}
