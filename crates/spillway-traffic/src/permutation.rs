//! Every host sends one flow, and every host receives one.
//!
//! # What it does
//! Each host sends to one other, all at the same time: no receiver's link need be congested, so all
//! losses are due to the paths chosen in the fabric.
//!
//! # Rule
//! With `shift = n` host h sends to host (h + n) mod hosts. Without it the seed chooses one of all
//! permutations in which no host keeps its place, all equally likely: random permutations are drawn
//! until one qualifies (e = 2.7 on average).
//!
//! # Cost
//! Memory per host.

use super::label::Label;
use super::{Context, Expected, Flows, Kind, Pattern};
use spillway_engine::{Stream, Time};
use spillway_settings::{Section, SettingsError};

/// The kind `permutation`.
pub const KIND: Kind = Kind {
    id: "permutation",
    results: 1,
    summary: "Every host sends one flow to one other host, and receives one.",
    example: "size = \"1MB\"",
    read: |section, label, context| Ok(Box::new(PermutationParams::read(section, label, context)?)),
};

/// A section of kind `permutation`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermutationParams {
    label: Label,
    /// The receiver of every host's flow.
    receivers: Vec<u32>,
    size: u64,
    start: Time,
    /// No flow starts at this time or later.
    duration: Time,
}

impl PermutationParams {
    /// Reads a section's keys.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<PermutationParams, SettingsError> {
        let hosts = context.topology.hosts();
        let size = super::read_size(section)?;
        let start = section.time("start", "0us", "When all flows start.")?;
        let meaning = "Each host sends to the host this many numbers further, fewer than there are \
                       hosts; by default the seed chooses the permutation.";
        let shift =
            section.optional("shift", |s| s.integer("shift", None, 1..=u64::MAX, meaning))?;
        if let Some(shift) = shift.filter(|&shift| shift >= hosts.into()) {
            let problem =
                format!("{shift} is too far; with {hosts} hosts it is at most {}", hosts - 1);
            return Err(section.conflict("shift", problem));
        }
        let receivers = match shift {
            Some(shift) => (0..hosts).map(|host| (host + shift as u32) % hosts).collect(),
            None => derangement(hosts, &mut label.stream(0)),
        };
        Ok(PermutationParams { label, receivers, size, start, duration: context.duration })
    }
}

impl Pattern for PermutationParams {
    fn flows(&self) -> Flows {
        let PermutationParams { label, receivers, size, start, duration } = self.clone();
        let flow = move |(src, dst)| label.flow(start, src, dst, size);
        Box::new((0..).zip(receivers).map(flow).take_while(move |flow| flow.start < duration))
    }

    fn expected(&self) -> Expected {
        let flows = if self.start < self.duration { self.receivers.len() } else { 0 };
        Expected::equal(flows as f64, self.size)
    }
}

/// A random permutation of at least two elements that leaves none in its place. All such are
/// equally likely.
fn derangement(n: u32, stream: &mut Stream) -> Vec<u32> {
    loop {
        let mut order: Vec<u32> = (0..n).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, stream.below(last as u64 + 1) as usize);
        }
        if (0..n).zip(&order).all(|(place, &kept)| place != kept) {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture};

    fn flows(text: &str) -> Vec<(u32, u32)> {
        let fixture = Fixture::new(fixture::leaf_spine(2, 3, 1));
        let flows = fixture.flows("permutation", text);
        assert!(flows.is_sorted());
        assert!(flows.iter().all(|f| f.start == Time::from_us(5) && f.size == 1_000_000));
        flows.iter().map(|flow| (flow.src, flow.dst)).collect()
    }

    #[test]
    fn everyone_sends_and_receives_once() {
        let pairs = flows("size = \"1MB\"\nstart = \"5us\"");
        let mut receivers: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
        receivers.sort_unstable();
        assert_eq!(receivers, [0, 1, 2, 3, 4, 5]);
        assert!(pairs.iter().all(|(src, dst)| src != dst));
    }

    #[test]
    fn a_shift_says_whom_to() {
        let pairs = flows("size = \"1MB\"\nstart = \"5us\"\nshift = 4");
        assert_eq!(pairs, [(0, 4), (1, 5), (2, 0), (3, 1), (4, 2), (5, 3)]);
    }

    #[test]
    fn none_starts_after_the_duration() {
        let fixture = Fixture::new(fixture::leaf_spine(2, 3, 1));
        assert_eq!(fixture.flows("permutation", "size = \"1MB\"\nstart = \"10ms\""), []);
    }

    #[test]
    fn derangements_are_equally_likely() {
        // Of the 24 permutations of four elements 9 leave none in its place.
        let mut stream = Stream::new(1, "test", 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..9_000 {
            *counts.entry(derangement(4, &mut stream)).or_insert(0) += 1;
        }
        // 1,000 each, standard deviation sqrt(9,000 * 1/9 * 8/9) = 30.
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |text: &str| {
            let fixture = Fixture::new(fixture::leaf_spine(2, 3, 1));
            fixture.source("permutation", text).unwrap_err().to_string()
        };
        assert!(error("shift = 1").contains("size: missing; expected a size"));
        assert!(
            error("size = \"0B\"").contains("size: \"0B\" is not valid; expected a size above 0")
        );
        let expected = "shift: 6 is too far; with 6 hosts it is at most 5";
        assert!(error("size = \"1B\"\nshift = 6").contains(expected));
    }
}
