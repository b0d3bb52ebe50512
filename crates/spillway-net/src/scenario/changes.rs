//! Numbers that change while a run goes on: by an `[[event]]` of the kind `set`, or by the caller
//! that steps the run.

mod target;
mod written;

use super::{Result, Scenario, numbered};
use spillway_engine::{Rate, Time};
use spillway_settings::{
    ErrorKind, Form, Range, Section, SettingsError, Table, Takes, Value, is_line, nearest_name,
};
use spillway_switch::Environment;
use spillway_switch::aqm::{AqmParams, AqmPolicy};
use spillway_switch::sharing::{SharingParams, SharingPolicy};
use std::collections::BTreeMap;
use target::Target;

/// A number that changes at a time.
#[derive(Clone, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// Its path.
    pub key: String,
    /// Its new value.
    pub value: Value,
    /// The path of the event.
    event: String,
}

/// Where policies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Room {
    Sharing,
    Aqm,
    /// The AQMs of all NICs.
    NicAqm,
}

/// The parameters of a policy.
#[derive(Clone, Debug)]
enum Params {
    Sharing(SharingParams),
    Aqm(AqmParams),
}

/// The settings of the policies whose numbers have changed.
///
/// The settings of a switch's policy are those of its tier until the switch has its own. The
/// settings of a port are those of its switch until the port has its own.
#[derive(Clone, Debug, Default)]
pub struct Changed(BTreeMap<Place, (Table, Params)>);

/// A room, a switch (0 for NICs), and a port if it has its own numbers.
type Place = (Room, u32, Option<u32>);

/// The policies of which some number was written, each with the path of one such number.
type Written = BTreeMap<Place, String>;

/// A policy as the scenario gives it.
struct Policy<'a> {
    id: &'a str,
    /// The path of its section, and the values given there.
    section: &'a str,
    given: &'a Table,
    params: Params,
    /// The environment with which its parameters are read.
    environment: Environment,
}

/// A policy with changed numbers. The policy in its place adopts them.
#[derive(Debug)]
pub enum Fresh {
    /// A switch's sharing policy, for one port if there is one.
    Sharing(u32, Option<u32>, SharingPolicy),
    /// A switch's AQM, for one port if there is one.
    Aqm(u32, Option<u32>, AqmPolicy),
    /// A host's AQM.
    NicAqm(u32, AqmPolicy),
    /// The rate at which a host takes in packets, if it has one.
    ReceiveRate(u32, Option<Rate>),
}

impl Params {
    fn read(
        room: Room,
        id: &str,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Params> {
        match room {
            Room::Sharing => SharingParams::read(id, section, environment).map(Params::Sharing),
            _ => AqmParams::read(id, section, environment).map(Params::Aqm),
        }
    }

    fn changes(&self) -> (&'static [&'static str], bool) {
        match self {
            Params::Sharing(params) => params.changes(),
            Params::Aqm(params) => params.changes(),
        }
    }

    fn check_change(&self, to: &Params) -> std::result::Result<(), (&'static str, String)> {
        match (self, to) {
            (Params::Sharing(from), Params::Sharing(to)) => from.check_change(to),
            (Params::Aqm(from), Params::Aqm(to)) => from.check_change(to),
            _ => unreachable!("a room stays what it is"),
        }
    }
}

impl Change {
    /// Reads an event of the kind `set`.
    pub(super) fn read(section: &mut Section) -> Result<Change> {
        let meaning = "the path of the number, such as switch.leaf0.port.3.aqm.min";
        let key = section.text("key", "", "the path of a number", meaning)?;
        let takes = "a number, a quantity such as \"20pkt\", or a list of numbers";
        let one = [Form::Number(Range::Within(f64::NEG_INFINITY, f64::INFINITY)), Form::Text];
        let takes = Takes::new(takes, [one.to_vec(), vec![Form::list(one)]].concat());
        let value = section.value("value", "", takes, "what it is from then on", |value| {
            let is_number = |value: &Value| value.is_integer() || value.is_float();
            let is_list = value.as_array().is_some_and(|list| list.iter().all(is_number));
            let is_quantity = value.as_str().is_some_and(is_line);
            (is_number(value) || is_list || is_quantity).then(|| value.clone())
        })?;
        let at = section.time("at", "", "when it changes")?;
        Ok(Change { at, key, value, event: section.path().to_string() })
    }

    /// A number that the caller that steps the run has set.
    pub(crate) fn by_hand(at: Time, key: &str, value: &Value) -> Change {
        Change { at, key: key.into(), value: value.clone(), event: String::new() }
    }

    /// The number's path and value.
    pub fn number(&self) -> (&str, &Value) {
        (&self.key, &self.value)
    }
}

impl Scenario {
    /// The policies that result from setting some numbers at once, given the policies that have
    /// changed before.
    ///
    /// # Errors
    /// If a path does not lead to a number that can change, or if the values are not valid there.
    /// `changed` must not be used afterwards.
    pub fn change(&self, numbers: &[(&str, &Value)], changed: &mut Changed) -> Result<Vec<Fresh>> {
        let written = changed.set(self, numbers)?;
        let mut fresh: Vec<_> =
            written.into_keys().flat_map(|place| self.fresh(place, changed)).collect();
        for (hosts, rate) in
            numbers.iter().filter_map(|of| self.receive_rate_set(of.0, of.1)).flatten()
        {
            fresh.extend(hosts.into_iter().map(|host| Fresh::ReceiveRate(host, rate)));
        }
        Ok(fresh)
    }

    /// Checks the changes from number `from` on, moment by moment, given those before.
    ///
    /// # Errors
    /// If the changes of some moment are refused.
    pub fn check_changes(&self, from: usize, mut changed: Changed) -> Result<()> {
        for of_moment in self.changes[from..].chunk_by(|one, next| one.at == next.at) {
            let numbers: Vec<_> = of_moment.iter().map(Change::number).collect();
            changed.set(self, &numbers).map_err(|error| {
                let named = of_moment.iter().find(|change| change.key == error.path);
                let event = named.unwrap_or(&of_moment[0]).event.clone();
                let problem = format!("{}: {}", error.path, error.problem);
                SettingsError { path: event, problem, ..error }
            })?;
        }
        Ok(())
    }

    /// What events set of sharing policies: the event and the path, the tier's index, the key, and the
    /// value, which is the whole list where only an element is set.
    pub(super) fn sharing_changes(&self) -> Result<Vec<(String, usize, String, Value)>> {
        let (mut changed, mut found) = (Changed::default(), Vec::new());
        for of_moment in self.changes.chunk_by(|one, next| one.at == next.at) {
            let numbers: Vec<_> = of_moment.iter().map(Change::number).collect();
            changed.set(self, &numbers)?;
            for change in of_moment.iter().filter(|change| change.key.contains("sharing.")) {
                let Target { room, switches, port, key, .. } = self.target(&change.key)?;
                for switch in switches {
                    let value = changed.0[&(room, switch, port)].0[key].clone();
                    let path = format!("{}: {}", change.event, change.key);
                    let new = (path, self.tier_of(switch), key.to_string(), value);
                    if found.last() != Some(&new) {
                        found.push(new);
                    }
                }
            }
        }
        Ok(found)
    }

    /// The policies for this place, which the present ones adopt.
    fn fresh(&self, (room, switch, port): Place, changed: &Changed) -> Vec<Fresh> {
        let (_, params) = &changed.0[&(room, switch, port)];
        match (params, room) {
            (Params::Sharing(params), _) => {
                vec![Fresh::Sharing(switch, port, params.make(&self.environment_of(switch)))]
            }
            (Params::Aqm(params), Room::NicAqm) => {
                let hosts = 0..self.topology.hosts();
                let made = |host| Fresh::NicAqm(host, params.make(&self.nic_environment(host)));
                hosts.map(made).collect()
            }
            (Params::Aqm(params), _) => {
                vec![Fresh::Aqm(switch, port, params.make(&self.environment_of(switch)))]
            }
        }
    }

    /// The policy of a room as the scenario gives it; `None` if hosts have none.
    fn policy_of(&self, room: Room, switch: u32) -> Option<Policy<'_>> {
        let (choice, params, environment) = match room {
            Room::NicAqm => {
                let (choice, params) = self.discipline.as_ref()?.aqm();
                (choice, Params::Aqm(params.clone()), self.nic_environment(0))
            }
            _ => {
                let tier = &self.tiers[self.tier_of(switch)];
                let switches = &self.topology.switches;
                let first = switches.iter().position(|switch| switch.tier == tier.tier);
                let environment = self.environment_of(first.unwrap_or(0) as u32);
                let (choice, params) = match room {
                    Room::Sharing => (tier.sharing().0, Params::Sharing(tier.sharing().1.clone())),
                    _ => (tier.aqm().0, Params::Aqm(tier.aqm().1.clone())),
                };
                (choice, params, environment)
            }
        };
        let (id, section, given) = (choice.id.as_str(), choice.path(), &choice.parameters);
        Some(Policy { id, section, given, params, environment })
    }
}

impl Changed {
    /// Sets some numbers at once, and returns the policies that they belong to.
    fn set(&mut self, scenario: &Scenario, numbers: &[(&str, &Value)]) -> Result<Written> {
        let mut written = Written::new();
        for &(path, value) in numbers {
            match scenario.receive_rate_set(path, value) {
                // No other number depends on it, so nothing of it is kept.
                Some(set) => drop(set?),
                None => self.write(scenario, path, value, &mut written)?,
            }
        }
        for (&place, path) in &written {
            let at_own_port = |error: SettingsError| match place {
                (_, switch, Some(port)) if !path.contains(".port.") => {
                    let name = scenario.switch_name(switch);
                    error.hint(format!("port {port} of {name} has numbers of its own"))
                }
                _ => error,
            };
            self.read(scenario, place, path).map_err(at_own_port)?;
        }
        Ok(written)
    }

    /// Writes a number into the values given for the policies to which it belongs, and notes which
    /// policies these are.
    fn write(
        &mut self,
        scenario: &Scenario,
        path: &str,
        value: &Value,
        written: &mut Written,
    ) -> Result<()> {
        let Target { room, switches, port, key, element } = scenario.target(path)?;
        for switch in switches {
            let Some(policy) = scenario.policy_of(room, switch) else {
                return Err(ErrorKind::UnusedKey.at(path, "hosts have no AQM: nic.aqm = \"none\""));
            };
            check_key(path, policy.id, key, port, &policy.params)?;
            let mut places = vec![(room, switch, port)];
            if port.is_none() {
                // Ports that have their own numbers get this number too.
                let of_ports = (room, switch, Some(0))..=(room, switch, Some(u32::MAX));
                places.extend(self.0.range(of_ports).map(|(&place, _)| place));
            }
            for place in places {
                let value = match element {
                    None => value.clone(),
                    Some(element) => policy.with_element(path, key, element, value, self, place)?,
                };
                let of_switch = || self.0.get(&(room, switch, None)).cloned();
                let of_tier = || (policy.given.clone(), policy.params.clone());
                let now = self.0.get(&place).cloned().or_else(of_switch);
                let (table, _) = self.0.entry(place).or_insert(now.unwrap_or_else(of_tier));
                table.insert(key.to_string(), value);
                written.entry(place).or_insert_with(|| path.to_string());
            }
        }
        Ok(())
    }

    /// Reads the values given for a policy. `path` is that of a changed number of the policy.
    fn read(&mut self, scenario: &Scenario, place: Place, path: &str) -> Result<()> {
        let policy = scenario.policy_of(place.0, place.1).expect("a number of it was written");
        let (table, params) = self.0.get_mut(&place).expect("a number of it was written");
        let mut section = Section::new(policy.section, table.clone());
        let after = Params::read(place.0, policy.id, &mut section, &policy.environment)
            .and_then(|params| section.finish().map(|_| params))
            .map_err(|error| named(path, policy.section, error))?;
        let refused = |(key, problem)| ErrorKind::Conflict.at(sibling(path, key), problem);
        params.check_change(&after).map_err(refused)?;
        *params = after;
        Ok(())
    }
}

impl Policy<'_> {
    /// A list in which one element is replaced. Elements that the list lacks are copies of its last
    /// one.
    fn with_element(
        &self,
        path: &str,
        key: &str,
        element: usize,
        value: &Value,
        changed: &Changed,
        place: Place,
    ) -> Result<Value> {
        let queues = self.environment.queues_per_port as usize;
        if element >= queues {
            let problem = format!("{element} is not a queue class; {}", numbered(queues));
            return Err(ErrorKind::UnknownKey.at(path, problem));
        }
        let of_switch = || changed.0.get(&(place.0, place.1, None));
        let now = changed.0.get(&place).or_else(of_switch);
        let given = now.map_or(self.given, |(table, _)| table);
        let mut section = Section::new(self.section, given.clone());
        Params::read(place.0, self.id, &mut section, &self.environment)?;
        let Some(mut list) = section.list(key) else {
            return Err(ErrorKind::UnknownKey.at(path, "it is no list: it has no elements"));
        };
        let last = list[list.len() - 1].clone();
        list.resize(list.len().max(element + 1), last);
        list[element] = value.clone();
        Ok(Value::Array(list))
    }
}

/// Refuses keys that do not change while a run goes on.
fn check_key(path: &str, id: &str, key: &str, port: Option<u32>, params: &Params) -> Result<()> {
    let (changes, by_port) = params.changes();
    if !changes.contains(&key) {
        let problem = match key {
            "kind" => "a policy's kind does not change while a run goes on".into(),
            _ => format!("{key:?} of {id:?} does not change while a run goes on"),
        };
        let hint = match changes {
            [] => format!("nothing of {id:?} does"),
            [one] => format!("only {one} does"),
            several => {
                let nearest = nearest_name(key, several.iter().copied());
                let is_typo = key != "kind" && nearest.starts_with("did you mean");
                if is_typo { nearest } else { format!("these do: {}", several.join(", ")) }
            }
        };
        return Err(ErrorKind::UnknownKey.at(path, problem).hint(hint));
    }
    if port.is_some() && !by_port {
        let problem = format!("{key:?} of {id:?} is the same for all ports of a switch");
        return Err(ErrorKind::UnknownKey.at(path, problem));
    }
    Ok(())
}

/// The path of another key of the same policy.
fn sibling(path: &str, key: &str) -> String {
    let (policy, _) = path.rsplit_once('.').expect("a key has a policy");
    format!("{policy}.{key}")
}

/// An error about a key of the section with this path. The path of the changed number names this
/// section in another way, so the error does too.
fn named(path: &str, section: &str, error: SettingsError) -> SettingsError {
    match error.path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')) {
        Some(key) => SettingsError { path: sibling(path, key), ..error },
        None => error,
    }
}
