//! Traffic, with the transports that its sections have of their own.

use super::{Devices, Head, Network};
use crate::extensions::Extensions;
use crate::scenario::assignments::kind_of;
use crate::scenario::loads::Loads;
use crate::scenario::timeouts::Timeouts;
use crate::scenario::volume::Volume;
use crate::scenario::{Limits, Result, Sources, tags};
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Section, SettingsError, Table, Value};
use spillway_traffic::{Context, Traffic};
use spillway_transport::{Access, ClosedLoop, Transport, has_preset, recovery, recovery_of};

/// What is read of traffic. Lists that begin with `class` are by the number of a class.
pub(super) struct Flows {
    pub traffic: Traffic,
    pub transports: Vec<Transport>,
    pub class_transport: Vec<u16>,
    pub class_is_incast: Vec<bool>,
    pub class_stop: Vec<Time>,
    pub warnings: Vec<String>,
}

impl Flows {
    pub fn read(
        root: &mut Section,
        mut sections: Vec<Section>,
        head: &Head,
        (network, devices): (&Network, &Devices),
        limits: &Limits,
        sources: &Sources,
    ) -> Result<Flows> {
        let Network { topology, transport, base_rtt, .. } = network;
        let context = Context {
            topology,
            seed: head.seed,
            duration: head.duration,
            stop: head.stop,
            leaf_buffer_bytes: &|leaf: u32| devices.tiers[0].capacity_of(topology, leaf),
            files: &network.files,
            columns: sources.flows,
            numbers: sources.numbers,
            model: None,
        };
        let traffic = Traffic::read(&mut sections, &context)?;
        limits.check_flows(&traffic.sources)?;
        let own = Overrides {
            given: &network.transport_given,
            default: transport,
            extensions: &sources.extensions,
        };
        let classes = traffic.classes.len();
        let (mut transports, mut tables) = (vec![transport.clone()], Vec::new());
        let mut class_transport = vec![0; classes];
        let mut class_is_incast = vec![false; classes];
        let mut class_stop = vec![head.stop; classes];
        let mut warnings = Vec::new();
        let mut timeouts = Timeouts::beside(topology, *base_rtt);
        let mut volume = Volume::of(topology);
        let mut loads = Loads::of(topology);
        let full_packet = transport.full_packet().into();
        let fastest = topology.nics.iter().map(|&line| topology.lines[line as usize].rate);
        let fastest = fastest.min_by_key(|rate| rate.byte_time()).expect("a network has hosts");
        let whole_ns = topology.lines[0].whole_ns;
        let access = |least_rtt: Time| Access {
            rate: fastest,
            base_rtt: least_rtt.max(*base_rtt),
            whole_ns,
            flow: None,
        };
        let most = access(spillway_topology::base_rtt_at_most(topology, full_packet));
        for (section, source) in sections.into_iter().zip(&traffic.sources) {
            let (own_transport, table) = own.read(section, source.leaves_open())?;
            tables.push(Value::Table(table));
            let place = match own_transport {
                None => {
                    timeouts.check("transport", transport)?;
                    0
                }
                Some(own) => {
                    timeouts.check(&format!("traffic.{}", source.name()), &own)?;
                    transports.push(own);
                    transports.len() as u16 - 1
                }
            };
            let transport = &transports[usize::from(place)];
            let never_ends = source.sends_until().is_some();
            let closed = transport.closed_loop();
            if never_ends && closed.is_some_and(ClosedLoop::starts_with_whole_flow) {
                let path = format!("traffic.{}.initial_window", source.name());
                let problem = "\"flow\" is no window for flows that never end";
                return Err(ErrorKind::Conflict.at(path, problem));
            }
            volume.add(source, transport)?;
            loads.add(source, transport);
            tags::check_source(source, &transport.tagging)?;
            warnings.extend(tags::warning(source, &transport.tagging));
            if limits.check_window(source, transport, &most).is_err() {
                let exact = access(spillway_topology::base_rtt(topology, full_packet));
                limits.check_window(source, transport, &exact)?;
            }
            for class in source.class_numbers().map(usize::from) {
                class_transport[class] = place;
                class_is_incast[class] =
                    traffic.classes[class] == "incast" || source.kind() == "incast";
                class_stop[class] = source.sends_until().unwrap_or(head.stop);
            }
        }
        root.put("traffic", Value::Array(tables));
        warnings.extend(timeouts.warnings);
        warnings.extend(loads.warnings());
        Ok(Flows { traffic, transports, class_transport, class_is_incast, class_stop, warnings })
    }
}

/// An error about a traffic section whose `transport` is not text. The keys of its own transport
/// stand in the section itself.
fn not_an_id(section: &str, given: &Value) -> SettingsError {
    let id = given.get("kind").and_then(Value::as_str).unwrap_or(spillway_transport::KINDS[0].id);
    let path = format!("{section}.transport");
    let hint = format!("it is written `{path}={id}`, and keys of this transport `{section}.KEY`");
    let problem = format!("{given} is not valid; expected the id of a transport");
    ErrorKind::WrongValue.at(path, problem).hint(hint)
}

/// The key that tells how long connections last.
const CONNECTIONS: &str = "connections";
/// The key of a transport whose values belong to its kind.
const PRESET: &str = "preset";

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
                // Another kind has other keys and presets. What both kinds have is carried over.
                let keys: Vec<_> = Transport::keys_of(text, &path, &self.extensions.hosts)?;
                merged.retain(|key, value| {
                    let preset = value.as_str().filter(|_| key == PRESET);
                    keys.iter().any(|known| known == key)
                        && preset.is_none_or(|preset| has_preset(text, preset))
                });
                recovery::fit(&mut merged, text);
            }
            merged.insert("kind".into(), kind);
        }
        let kind =
            merged.get("kind").and_then(Value::as_str).unwrap_or(&self.default.kind).to_string();
        for choice in spillway_transport::CHOICES {
            if let Some(value) = rest.get(choice).and_then(kind_of) {
                // The same for another recovery, and for other choices.
                let earlier = merged.get(choice).and_then(kind_of).unwrap_or_default().to_string();
                let now = recovery::chosen(merged.get(recovery::KEY));
                if choice == PRESET
                    && let Some(id) = recovery_of(value, &earlier, now)
                {
                    let table = recovery::merge(merged.get(recovery::KEY), &id.into());
                    merged.insert(recovery::KEY.into(), table);
                }
                merged.retain(|key, _| {
                    !spillway_transport::is_foreign(&kind, key, choice, value)
                        && !spillway_transport::has_other_default(key, choice, value, &earlier)
                });
            }
        }
        if let Some(own) = rest.get_mut(recovery::KEY) {
            *own = recovery::merge(merged.get(recovery::KEY), own);
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
