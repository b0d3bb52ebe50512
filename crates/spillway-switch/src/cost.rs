//! What a policy requires of a switch's hardware.
//!
//! A cost is what the rule needs with its default parameters, in addition to what every shared
//! buffer has: the free bytes, each queue's length in bytes and packets, and the test whether a
//! packet fits. Counts are the most that one packet can cause. Constants of the whole switch, such
//! as alpha, are not state.

use std::fmt::{self, Display, Formatter};

/// The state and the operations of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// What is kept for every queue.
    pub queue: State,
    /// What is kept for every port.
    pub port: State,
    /// What is kept once.
    pub switch: State,
    /// What is kept for anything else, such as for every waiting packet.
    pub others: &'static [(&'static str, State)],
    /// When a packet arrives and joins its queue.
    pub arrival: Operations,
    /// When a packet leaves its queue.
    pub departure: Operations,
    /// At other times; the text says when.
    pub at_times: &'static [(&'static str, Operations)],
    /// What else the policy needs: information that a shared buffer does not have, or abilities.
    /// May be empty.
    pub needs: &'static str,
}

impl Cost {
    /// No cost.
    pub const NONE: Cost = Cost {
        queue: State::NONE,
        port: State::NONE,
        switch: State::NONE,
        others: &[],
        arrival: Operations::NONE,
        departure: Operations::NONE,
        at_times: &[],
        needs: "",
    };

    /// All state that is kept, each with what it is kept for.
    pub fn states(&self) -> impl Iterator<Item = (&'static str, State)> {
        let own = [("queue", self.queue), ("port", self.port), ("switch", self.switch)];
        own.into_iter()
            .chain(self.others.iter().copied())
            .filter(|(_, state)| *state != State::NONE)
    }

    /// Its parts by name, as text.
    pub fn parts(&self) -> [(&'static str, String); 8] {
        [
            ("queue", self.queue.to_string()),
            ("port", self.port.to_string()),
            ("switch", self.switch.to_string()),
            ("others", each(self.others)),
            ("arrival", self.arrival.to_string()),
            ("departure", self.departure.to_string()),
            ("at_times", each(self.at_times)),
            ("needs", self.needs.to_string()),
        ]
    }
}

fn each(parts: &[(&str, impl Display)]) -> String {
    let parts: Vec<_> = parts.iter().map(|(of, part)| format!("{of}: {part}")).collect();
    parts.join("; ")
}

/// State that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Numbers with as many bits as the buffer's size needs: bytes, packets, shares and rates.
    pub counters: u32,
    /// Points in time, and spans.
    pub times: u32,
    /// Single bits.
    pub bits: u32,
    /// Anything else, as text.
    pub more: &'static str,
}

impl State {
    /// No state.
    pub const NONE: State = State { counters: 0, times: 0, bits: 0, more: "" };
}

impl Display for State {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let named = |number: u32, name: &str| match number {
            0 => None,
            1 => Some(format!("1 {name}")),
            _ => Some(format!("{number} {name}s")),
        };
        let parts = [
            named(self.counters, "counter"),
            named(self.times, "time"),
            named(self.bits, "bit"),
            (!self.more.is_empty()).then(|| self.more.to_string()),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// Operations that are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// Additions and subtractions.
    pub additions: u32,
    /// Comparisons of two numbers.
    pub comparisons: u32,
    /// Multiplications by constants: shifts, if the constant is a power of two.
    pub scalings: u32,
    /// Multiplications of two variables.
    pub multiplications: u32,
    /// Divisions.
    pub divisions: u32,
    /// Look-ups in a table.
    pub look_ups: u32,
    /// Searches over all queues: a comparison for each, or a path through a tree of them.
    pub searches: u32,
    /// Searches over all ports.
    pub port_searches: u32,
}

impl Operations {
    /// No operations.
    pub const NONE: Operations = Operations {
        additions: 0,
        comparisons: 0,
        scalings: 0,
        multiplications: 0,
        divisions: 0,
        look_ups: 0,
        searches: 0,
        port_searches: 0,
    };

    /// The sum of these and others.
    pub const fn and(self, others: Operations) -> Operations {
        Operations {
            additions: self.additions + others.additions,
            comparisons: self.comparisons + others.comparisons,
            scalings: self.scalings + others.scalings,
            multiplications: self.multiplications + others.multiplications,
            divisions: self.divisions + others.divisions,
            look_ups: self.look_ups + others.look_ups,
            searches: self.searches + others.searches,
            port_searches: self.port_searches + others.port_searches,
        }
    }
}

impl Display for Operations {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.additions, "+", "+"),
            (self.comparisons, "<", "<"),
            (self.scalings, "<<", "<<"),
            (self.multiplications, "×", "×"),
            (self.divisions, "/", "/"),
            (self.look_ups, "look-up", "look-ups"),
            (self.searches, "search", "searches"),
            (self.port_searches, "search of ports", "searches of ports"),
        ];
        let parts: Vec<_> = counts
            .into_iter()
            .filter(|&(number, ..)| number > 0)
            .map(|(number, one, several)| {
                format!("{number} {}", if number == 1 { one } else { several })
            })
            .collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_told_in_words() {
        let state = State { counters: 2, times: 1, more: "1 link", ..State::NONE };
        let operations = Operations { additions: 3, searches: 1, ..Operations::NONE };
        let cost = Cost {
            queue: state,
            others: &[("packet", State { bits: 1, ..State::NONE }), ("flow", State::NONE)],
            arrival: operations.and(Operations { additions: 1, look_ups: 2, ..Operations::NONE }),
            at_times: &[("each burst", Operations { divisions: 1, ..Operations::NONE })],
            needs: "a clock",
            ..Cost::NONE
        };
        let told = [
            ("queue", "2 counters, 1 time, 1 link"),
            ("port", ""),
            ("switch", ""),
            ("others", "packet: 1 bit; flow: "),
            ("arrival", "4 +, 2 look-ups, 1 search"),
            ("departure", ""),
            ("at_times", "each burst: 1 /"),
            ("needs", "a clock"),
        ];
        assert_eq!(cost.parts(), told.map(|(name, text)| (name, text.to_string())));
        let packet = State { bits: 1, ..State::NONE };
        assert!(cost.states().eq([("queue", state), ("packet", packet)]));
    }
}
