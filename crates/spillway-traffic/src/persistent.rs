//! Flows that never end.
//!
//! # What it does
//! Long-lived flows between fixed hosts, for fairness, convergence and the steady state of a
//! queue. They send from their start until `stop`.
//!
//! # Rule
//! The pairs are those of `pairs`, or every one of `senders` to `receiver`. Flows are numbered pair
//! by pair, in the order of the pairs; flow i starts at `start` + i * `stagger`.
//!
//! # Cost
//! Memory per pair.

use super::label::Label;
use super::{Context, Expected, Flows, Kind, Pattern, keys};
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Form, Section, SettingsError, Takes, Value};
use spillway_transport::flow::FlowSpec;

/// The kind `persistent`.
pub const KIND: Kind = Kind {
    id: "persistent",
    results: 1,
    summary: "Flows that never end, between given hosts.",
    example: "",
    read: |section, label, context| Ok(Box::new(PersistentParams::read(section, label, context)?)),
};

/// A section of kind `persistent`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentParams {
    label: Label,
    pairs: Vec<(u32, u32)>,
    flows_per_pair: usize,
    start: Time,
    stop: Time,
    stagger: Time,
    /// No flow starts at this time or later.
    duration: Time,
}

impl PersistentParams {
    /// Reads a section's keys.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<PersistentParams, SettingsError> {
        let meaning = "How many flows each pair has.";
        let flows_per_pair = section.integer("flows_per_pair", 1, 1..=u64::MAX, meaning)? as usize;
        let start = section.time("start", "0us", "When the first flow starts.")?;
        let meaning = "When they stop sending; by default at the scenario's `stop`.";
        let stop = section.optional("stop", |s| s.time("stop", "", meaning))?;
        let stagger = section.time("stagger", "0us", "Time between the starts of the flows.")?;
        let mut pairs = read_pairs(section, context.topology.hosts())?;
        if stagger == Time::ZERO {
            // If all start at once, flows are ordered by their hosts.
            pairs.sort_unstable();
        }
        let stop = stop.unwrap_or(context.stop);
        if stop <= start {
            return Err(section.conflict("stop", format!("{stop} is not after the start, {start}")));
        }
        let duration = context.duration;
        Ok(PersistentParams { label, pairs, flows_per_pair, start, stop, stagger, duration })
    }
}

impl Pattern for PersistentParams {
    fn flows(&self) -> Flows {
        let PersistentParams { label, pairs, flows_per_pair, stop, stagger, duration, .. } =
            self.clone();
        let (mut start, end) = (self.start, stop.min(duration));
        let repeated =
            pairs.into_iter().flat_map(move |pair| std::iter::repeat_n(pair, flows_per_pair));
        let flows = repeated.map(move |(src, dst)| {
            let flow = label.flow(start, src, dst, FlowSpec::ENDLESS);
            start = start.saturating_add(stagger);
            flow
        });
        Box::new(flows.take_while(move |flow| flow.start < end))
    }

    fn expected(&self) -> Expected {
        let time = self.stop.min(self.duration).since(self.start).ps() as f64;
        let all = self.pairs.len() as f64 * self.flows_per_pair as f64;
        let in_time = match self.stagger {
            Time::ZERO if time > 0.0 => all,
            stagger => (time / stagger.ps().max(1) as f64).ceil(),
        };
        Expected { flows: all.min(in_time), ..Expected::default() }
    }

    fn sends_until(&self) -> Option<Time> {
        Some(self.stop)
    }
}

fn read_pairs(section: &mut Section, hosts: u32) -> Result<Vec<(u32, u32)>, SettingsError> {
    let pair = Form::List { of: vec![Form::INDEX], least: 2, most: 2 };
    let takes = Takes::new("a list of pairs such as [[0, 16], [1, 16]]", [Form::list([pair])]);
    let meaning = "Who sends to whom: sender and receiver of each pair.";
    let pairs = keys::optional_value(section, "pairs", takes, meaning, parse_pairs)?;
    let meaning = "The hosts that send; by default all except the receiver.";
    let senders = keys::hosts(section, "senders", meaning, hosts)?;
    let takes = Takes::new("a host's number", [Form::INDEX]);
    let meaning = "The host that they send to.";
    let receiver = keys::optional_value(section, "receiver", takes, meaning, keys::parse_host)?;
    let (key, pairs) = match (pairs, senders, receiver) {
        (Some(pairs), None, None) => ("pairs", pairs),
        (None, None, Some(receiver)) => {
            let senders = (0..hosts).filter(|&host| host != receiver);
            ("receiver", senders.map(|sender| (sender, receiver)).collect())
        }
        (None, Some(senders), Some(receiver)) => {
            ("receiver", senders.into_iter().map(|sender| (sender, receiver)).collect())
        }
        (None, _, None) => {
            return Err(section.error(
                ErrorKind::MissingKey,
                "receiver",
                "missing; expected this or `pairs`",
            ));
        }
        (Some(_), _, _) => {
            return Err(section.conflict("pairs", "not together with `senders` or `receiver`"));
        }
    };
    for &(src, dst) in &pairs {
        keys::exists(section, key, src, hosts)?;
        keys::exists(section, key, dst, hosts)?;
        if src == dst {
            return Err(section.conflict(key, format!("host {src} cannot send to itself")));
        }
    }
    Ok(pairs)
}

fn parse_pairs(value: &Value) -> Option<Vec<(u32, u32)>> {
    let pair = |value: &Value| match value.as_array()?.as_slice() {
        [src, dst] => Some((keys::parse_host(src)?, keys::parse_host(dst)?)),
        _ => None,
    };
    value.as_array().filter(|list| !list.is_empty())?.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture};

    fn fixture() -> Fixture {
        Fixture::new(fixture::leaf_spine(2, 3, 1))
    }

    fn flows(text: &str) -> Vec<(u64, u32, u32)> {
        let flows = fixture().flows("persistent", text);
        assert!(flows.is_sorted() && flows.iter().all(|flow| flow.size == FlowSpec::ENDLESS));
        flows.iter().map(|flow| (flow.start.ps() / 1_000_000, flow.src, flow.dst)).collect()
    }

    #[test]
    fn several_hosts_send_to_one() {
        assert_eq!(flows("senders = [4, 0]\nreceiver = 5"), [(0, 0, 5), (0, 4, 5)]);
        assert_eq!(flows("receiver = 2").iter().map(|f| f.1).collect::<Vec<_>>(), [0, 1, 3, 4, 5]);
    }

    #[test]
    fn a_stagger_keeps_the_order_of_the_pairs() {
        let text =
            "pairs = [[3, 0], [1, 2]]\nflows_per_pair = 2\nstart = \"7us\"\nstagger = \"5us\"";
        assert_eq!(flows(text), [(7, 3, 0), (12, 3, 0), (17, 1, 2), (22, 1, 2)]);
        let late = "pairs = [[3, 0], [1, 2]]\nstagger = \"10ms\"";
        assert_eq!(flows(late), [(0, 3, 0)], "the second would start after the duration");
        assert_eq!(flows("pairs = [[3, 0], [1, 2]]"), [(0, 1, 2), (0, 3, 0)]);
    }

    #[test]
    fn they_send_until_their_stop_or_the_run_s() {
        let until = |text| fixture().source("persistent", text).unwrap().sends_until();
        assert_eq!(until("receiver = 0\nstop = \"3ms\""), Some(Time::from_ms(3)));
        assert_eq!(until("receiver = 0"), Some(fixture().stop));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, problem) in [
            ("", "receiver: missing; expected this or `pairs`"),
            ("senders = [1]", "receiver: missing; expected this or `pairs`"),
            ("pairs = [[0, 1]]\nreceiver = 1", "pairs: not together with `senders` or `receiver`"),
            ("pairs = [[0, 6]]", "pairs: 6 is not a host; there are 6, from 0 to 5"),
            ("pairs = [[0]]", "pairs: [[0]] is not valid; expected a list of pairs such as"),
            ("pairs = []", "pairs: [] is not valid"),
            ("senders = \"0..2\"\nreceiver = 1", "receiver: host 1 cannot send to itself"),
            ("receiver = 9", "receiver: 9 is not a host; there are 6, from 0 to 5"),
            ("receiver = 0\nstop = \"0s\"", "stop: 0us is not after the start, 0us"),
        ] {
            let error = fixture().source("persistent", text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
