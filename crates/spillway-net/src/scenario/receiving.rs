//! How hosts take in packets: `receive_rate` and the keys beside it in `[nic]`.

use super::pfc::PfcSettings;
use super::{Result, Scenario};
use spillway_engine::Rate;
use spillway_settings::{
    ErrorKind, Form, Section, SettingsError, Table, Takes, Value, nearest_name, quantity,
};
use spillway_topology::{Node, Topology};

/// The path of the rates.
const PATH: &str = "nic.receive_rate";
/// The rate of hosts that take in packets as they arrive.
const UNLIMITED: &str = "unlimited";
/// The name for all hosts that are not named.
const OTHERS: &str = "others";

/// How hosts take in packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiving {
    /// For every host, the rate; `None` if it takes packets in as they arrive.
    pub rates: Box<[Option<Rate>]>,
    /// The most bytes that may wait.
    pub buffer: u64,
    /// The number of waiting bytes at which a lossless priority is paused at the switch.
    pub threshold: u64,
    /// For every host, the bytes of the buffer that only lossless packets may take.
    pub for_lossless: Box<[u64]>,
}

impl Receiving {
    /// Reads the keys of `[nic]` about packets that come in. `None` if all hosts take them in as
    /// they arrive.
    pub(super) fn read(
        section: &mut Section,
        topology: &Topology,
        has_pfc: bool,
    ) -> Result<Option<Receiving>> {
        let meaning = "the rate at which hosts take in packets; a host that is slower than its line \
                       pauses its switch";
        let takes = "a rate such as \"40Gbps\", \"unlimited\", or a table of hosts and rates";
        let takes = Takes::new(takes, [Form::rate(), Form::word("unlimited"), Form::Table]);
        let is_one = |value: &Value| value.as_table().is_some() || rate_in(value).is_some();
        let given = section.optional("receive_rate", |section| {
            let read = |value: &Value| is_one(value).then(|| value.clone());
            section.value("receive_rate", "", takes, meaning, read)
        })?;
        let meaning = "the most bytes that may wait to be taken in";
        let buffer = size(section, "receive_buffer", "1MB", meaning)?;
        let meaning = "bytes of a lossless priority that wait, at which it pauses";
        let threshold = size(section, "receive_threshold", "200KB", meaning)?;
        let Some(given) = given else {
            let given = [("receive_buffer", buffer), ("receive_threshold", threshold)];
            return match given.iter().find(|(_, given)| given.is_some()) {
                None => Ok(None),
                Some((key, _)) => {
                    Err(section.error(ErrorKind::UnusedKey, key, "it needs `receive_rate`"))
                }
            };
        };
        if !has_pfc {
            let problem = "it needs lossless priorities at leaves (`pfc`): without them a host cannot \
                           pause its switch";
            return Err(section.error(ErrorKind::UnusedKey, "receive_rate", problem));
        }
        let rates = match &given {
            Value::Table(table) => rates_of(table, topology)?,
            one => vec![rate_in(one).flatten(); topology.hosts() as usize],
        };
        let (buffer, threshold) = (buffer.unwrap_or(1_000_000), threshold.unwrap_or(200_000));
        for (key, value) in [("receive_buffer", buffer), ("receive_threshold", threshold)] {
            section.put(key, format!("{value}B"));
        }
        let for_lossless = Box::default();
        Ok(Some(Receiving { rates: rates.into(), buffer, threshold, for_lossless }))
    }

    /// Sets room aside for lossless packets: up to the threshold, and for what comes until the leaf
    /// stops. Refuses a buffer that does not hold this room.
    pub(super) fn set_aside(
        &mut self,
        topology: &Topology,
        pfc: &PfcSettings,
        queues_per_port: u32,
    ) -> Result<()> {
        let (mtu, threshold, buffer) = (pfc.mtu, self.threshold, self.buffer);
        if threshold < mtu {
            let problem = format!("{threshold}B is not valid; it must hold a packet, {mtu}B");
            return Err(ErrorKind::Conflict.at("nic.receive_threshold", problem));
        }
        let classes = pfc.queue_classes.len() as u64;
        // The two lines of a link are neighbours.
        let coming = topology.nics.iter().map(|&line| &topology.lines[(line ^ 1) as usize]);
        let of_host =
            |line| classes.saturating_mul(threshold.saturating_add(pfc.after_pause(line)));
        self.for_lossless = coming.map(of_host).collect();
        let others = if classes < u64::from(queues_per_port) { mtu } else { 0 };
        for (host, &lossless) in (0..).zip(&self.for_lossless) {
            if !pfc.frames.obeyed || lossless.saturating_add(others) <= buffer {
                continue;
            }
            let others = match others {
                0 => String::new(),
                _ => format!(", and a packet of others, {mtu}B"),
            };
            let problem = format!(
                "{buffer}B does not hold what may wait of lossless packets at host{host}, \
                 {lossless}B{others}: receive_threshold, {threshold}B, and what comes until the leaf \
                 stops, for each lossless priority"
            );
            return Err(ErrorKind::Conflict.at("nic.receive_buffer", problem));
        }
        Ok(())
    }
}

impl Scenario {
    /// The hosts and the rate of a change with this path; `None` if the change is about something
    /// else.
    pub(super) fn receive_rate_set(
        &self,
        path: &str,
        value: &Value,
    ) -> Option<Result<(Vec<u32>, Option<Rate>)>> {
        let rest = path.strip_prefix(PATH)?;
        let hosts = match rest.strip_prefix('.') {
            None if rest.is_empty() => Ok((0..self.topology.hosts()).collect()),
            None => return None,
            Some(who) => hosts_called(&self.topology, path, who),
        };
        if self.receiving.is_none() {
            let problem = "it changes only where the scenario has a receive_rate";
            let hint = "\"unlimited\" is that of hosts that take in packets as they arrive";
            return Some(Err(ErrorKind::UnusedKey.at(path, problem).hint(hint)));
        }
        let rate = rate_in(value).ok_or_else(|| not_a_rate(path, value));
        Some(hosts.and_then(|hosts| Ok((hosts, rate?))))
    }
}

/// The rate that a value gives: `Some(None)` for `"unlimited"`, `None` if the value is no rate.
fn rate_in(value: &Value) -> Option<Option<Rate>> {
    match value.as_str()? {
        UNLIMITED => Some(None),
        text => quantity::rate(text).map(Some),
    }
}

fn not_a_rate(path: &str, value: &Value) -> SettingsError {
    let takes = "expected a rate from 8bps to 8Tbps, such as \"10Gbps\", or \"unlimited\"";
    ErrorKind::WrongValue.at(path, format!("{value} is not valid; {takes}"))
}

/// The rates of all hosts. The table names some of the hosts.
fn rates_of(table: &Table, topology: &Topology) -> Result<Vec<Option<Rate>>> {
    let mut named = vec![None; topology.hosts() as usize];
    let mut others = None;
    for (who, value) in table {
        let path = format!("{PATH}.{who}");
        let rate = rate_in(value).ok_or_else(|| not_a_rate(&path, value))?;
        if who == OTHERS {
            others = rate;
            continue;
        }
        for host in hosts_called(topology, &path, who)? {
            if named[host as usize].replace(rate).is_some() {
                return Err(
                    ErrorKind::Conflict.at(path, format!("host{host} has another rate, too"))
                );
            }
        }
    }
    Ok(named.into_iter().map(|rate| rate.unwrap_or(others)).collect())
}

/// The host with this name or number, or those of a range of numbers such as `0..15`.
fn hosts_called(topology: &Topology, path: &str, who: &str) -> Result<Vec<u32>> {
    let found = topology.nodes_called(who).into_iter().filter_map(|node| match node {
        Node::Host(host) => Some(host),
        Node::Switch(_) => None,
    });
    let found: Vec<u32> = found.collect();
    match found[..] {
        [_] => return Ok(found),
        [] => {}
        _ => {
            let each = found.iter().map(|&host| topology.full_name(Node::Host(host)));
            let each: Vec<String> = each.collect();
            return Err(
                ErrorKind::UnknownPlace.at(path, format!("{who:?} may be {}", each.join(" or ")))
            );
        }
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| is_number(text).then(|| text.parse().ok()).flatten();
    let (first, last) = who.split_once("..").unwrap_or((who, who));
    if let (Some(first), Some(last)) = (number(first), number(last))
        && first <= last
        && last < topology.hosts()
    {
        return Ok((first..=last).collect());
    }
    let known: Vec<String> = (0..topology.hosts())
        .map(|host| topology.node_name(Node::Host(host)))
        .chain(topology.own_names.hosts.iter().cloned())
        .chain([OTHERS.to_string()])
        .collect();
    let error = ErrorKind::UnknownPlace.at(path, format!("there is no host {who:?}"));
    Err(error.hint(nearest_name(who, known.iter().map(String::as_str))))
}

fn size(
    section: &mut Section,
    key: &'static str,
    default: &str,
    meaning: &'static str,
) -> Result<Option<u64>> {
    section.optional(key, |s| s.positive_size(key, default, meaning))
}
