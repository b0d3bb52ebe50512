//! Numbers that change while a run goes on: by `[[event]]` of the kind `set`, or by whoever steps it.

mod target;

use super::{Result, Scenario, numbered};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError, Table, Value, is_line, nearest_name};
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
    /// Those of all NICs.
    NicAqm,
}

/// The parameters of a policy.
#[derive(Clone, Debug)]
enum Params {
    Sharing(SharingParams),
    Aqm(AqmParams),
}

/// What the policies whose numbers have changed are like.
///
/// One of a switch is like its tier's until the switch has its own, and that of a port is like its
/// switch's.
#[derive(Clone, Debug, Default)]
pub struct Changed(BTreeMap<(Room, u32, Option<u32>), (Table, Params)>);

/// A policy with changed numbers, which the one in its place adopts.
#[derive(Debug)]
pub enum Fresh {
    /// A switch's sharing policy, for one port if there is one.
    Sharing(u32, Option<u32>, SharingPolicy),
    /// A switch's AQM, for one port if there is one.
    Aqm(u32, Option<u32>, AqmPolicy),
    /// A host's AQM.
    NicAqm(u32, AqmPolicy),
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
        let value = section.value("value", "", takes, "what it is from then on", |value| {
            let is_number = |value: &Value| value.is_integer() || value.is_float();
            let is_list = value.as_array().is_some_and(|list| list.iter().all(is_number));
            let is_quantity = value.as_str().is_some_and(is_line);
            (is_number(value) || is_list || is_quantity).then(|| value.clone())
        })?;
        let at = section.time("at", "", "when it changes")?;
        Ok(Change { at, key, value, event: section.path().to_string() })
    }
}

impl Scenario {
    /// The policies that come of setting a number, given those that have changed before.
    ///
    /// # Errors
    /// If the path leads to no number that can change, or the value is not valid there.
    pub fn change(&self, key: &str, value: &Value, changed: &mut Changed) -> Result<Vec<Fresh>> {
        let target = self.target(key)?;
        let mut next = changed.clone();
        let mut places = Vec::new();
        for &switch in &target.switches {
            next.set(self, key, &target, value, switch, &mut places)?;
        }
        *changed = next;
        Ok(places.into_iter().flat_map(|place| self.fresh(place, changed)).collect())
    }

    /// Checks the changes from a place on, in their order, given those before.
    ///
    /// # Errors
    /// If one of them is refused.
    pub fn check_changes(&self, from: usize, mut changed: Changed) -> Result<()> {
        for Change { key, value, event, .. } in &self.changes[from..] {
            self.change(key, value, &mut changed).map_err(|error| {
                let SettingsError { path, problem, hint } = error;
                let problem = format!("{path}: {problem}");
                SettingsError { path: event.clone(), problem, hint }
            })?;
        }
        Ok(())
    }

    /// The policy of this place, which adopts what has changed.
    fn fresh(
        &self,
        (room, switch, port): (Room, u32, Option<u32>),
        changed: &Changed,
    ) -> Vec<Fresh> {
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

    /// The policy in a room: its id, the path of its section, what its section gives, its parameters,
    /// and the environment that they are read with.
    fn policy_of(
        &self,
        room: Room,
        switch: u32,
    ) -> Option<(&str, &str, &Table, Params, Environment)> {
        if room == Room::NicAqm {
            let discipline = self.discipline.as_ref()?;
            let (choice, params) = discipline.aqm();
            let environment = self.nic_environment(0);
            let (id, path) = (choice.id.as_str(), choice.path());
            return Some((id, path, &choice.parameters, Params::Aqm(params.clone()), environment));
        }
        let tier = &self.tiers[self.tier_of(switch)];
        let (choice, params) = match room {
            Room::Sharing => {
                let (choice, params) = tier.sharing();
                (choice, Params::Sharing(params.clone()))
            }
            _ => {
                let (choice, params) = tier.aqm();
                (choice, Params::Aqm(params.clone()))
            }
        };
        let first = self.topology.switches.iter().position(|s| s.tier == tier.tier).unwrap_or(0);
        let environment = self.environment_of(first as u32);
        Some((&choice.id, choice.path(), &choice.parameters, params, environment))
    }
}

impl Changed {
    /// Sets a number at one switch, and adds the places of the policies that change by it.
    fn set(
        &mut self,
        scenario: &Scenario,
        path: &str,
        target: &Target,
        value: &Value,
        switch: u32,
        places: &mut Vec<(Room, u32, Option<u32>)>,
    ) -> Result<()> {
        let &Target { room, port, key, .. } = target;
        let Some((id, section, given, params, environment)) = scenario.policy_of(room, switch)
        else {
            return Err(SettingsError::new(path, "hosts have no AQM: nic.aqm = \"none\""));
        };
        check_key(path, id, key, port, &params)?;
        let mut at = vec![(room, switch, port)];
        if port.is_none() {
            // Ports that have their own numbers get this one, too.
            let of_ports = (room, switch, Some(0))..=(room, switch, Some(u32::MAX));
            at.extend(self.0.range(of_ports).map(|(&place, _)| place));
        }
        for place in at {
            let of_switch = || self.0.get(&(room, switch, None)).cloned();
            let now = self.0.get(&place).cloned().or_else(of_switch);
            let (mut table, before) = now.unwrap_or_else(|| (given.clone(), params.clone()));
            let value = match target.element {
                None => value.clone(),
                Some(element) => {
                    let mut now = Section::new(section, table.clone());
                    Params::read(room, id, &mut now, &environment)?;
                    let list = now.list(key);
                    with_element(path, list, element, value, environment.queues_per_port)?
                }
            };
            table.insert(key.to_string(), value);
            let mut read = Section::new(section, table.clone());
            let after = Params::read(room, id, &mut read, &environment)
                .and_then(|params| read.finish().map(|_| params))
                .map_err(|error| named(path, section, error))?;
            before
                .check_change(&after)
                .map_err(|(key, problem)| SettingsError::new(sibling(path, key), problem))?;
            self.0.insert(place, (table, after));
            places.push(place);
        }
        Ok(())
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
                let others = format!("these do: {}", several.join(", "));
                if nearest.starts_with("did you mean") { nearest } else { others }
            }
        };
        return Err(SettingsError::new(path, problem).hint(hint));
    }
    if port.is_some() && !by_port {
        let problem = format!("{key:?} of {id:?} is the same for all ports of a switch");
        return Err(SettingsError::new(path, problem));
    }
    Ok(())
}

/// The list with another element. Elements that it lacks are as its last one.
fn with_element(
    path: &str,
    list: Option<Vec<Value>>,
    element: usize,
    value: &Value,
    queues: u32,
) -> Result<Value> {
    if element >= queues as usize {
        let problem = format!("{element} is not a queue class; {}", numbered(queues as usize));
        return Err(SettingsError::new(path, problem));
    }
    let Some(mut list) = list else {
        return Err(SettingsError::new(path, "it is no list: it has no elements"));
    };
    let last = list[list.len() - 1].clone();
    list.resize(list.len().max(element + 1), last);
    list[element] = value.clone();
    Ok(Value::Array(list))
}

/// The path of another key of the same policy.
fn sibling(path: &str, key: &str) -> String {
    let (policy, _) = path.rsplit_once('.').expect("a key has a policy");
    format!("{policy}.{key}")
}

/// An error about a key of the section with this path, which the changed number's path names in
/// another way.
fn named(path: &str, section: &str, error: SettingsError) -> SettingsError {
    match error.path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')) {
        Some(key) => SettingsError { path: sibling(path, key), ..error },
        None => error,
    }
}
