//! Connections that stay open: which of them are idle, and which one a flow takes.

use spillway_engine::Time;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeMap;

/// What the flows of a connection have in common: their hosts, their class and the paths that a
/// list gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Between {
    src: u32,
    dst: u32,
    class: u16,
    path: Option<u32>,
    ack_path: Option<u32>,
}

/// A connection whose last flow has been acknowledged completely. Packets of that flow may still be
/// under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Idle {
    /// The number of the flow that opened it.
    pub connection: u32,
    /// The place of that flow's ends.
    pub slot: u32,
    /// When everything was acknowledged.
    pub since: Time,
}

/// The connections that are idle.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    /// Their places and when they became idle, by the numbers of the flows that opened them.
    idle: BTreeMap<(Between, u32), (u32, Time)>,
}

impl Between {
    fn of(spec: &FlowSpec) -> Between {
        let FlowSpec { src, dst, class, path, ack_path, .. } = *spec;
        Between { src, dst, class, path, ack_path }
    }
}

impl Connections {
    /// The connection of this flow becomes idle: its sender has everything acknowledged.
    pub fn leave(&mut self, spec: &FlowSpec, idle: Idle) {
        let before =
            self.idle.insert((Between::of(spec), idle.connection), (idle.slot, idle.since));
        debug_assert_eq!(before, None, "a connection has one flow at a time");
    }

    /// The connection that a flow takes: of the idle ones that suit it, the one that was opened
    /// first.
    pub fn take(&mut self, spec: &FlowSpec) -> Option<Idle> {
        let between = Between::of(spec);
        let (&key, _) = self.idle.range((between, 0)..=(between, u32::MAX)).next()?;
        let (slot, since) = self.idle.remove(&key)?;
        Some(Idle { connection: key.1, slot, since })
    }

    /// The place of the ends of the connection that a flow would take.
    pub fn next(&self, spec: &FlowSpec) -> Option<u32> {
        let between = Between::of(spec);
        let (_, &(slot, _)) = self.idle.range((between, 0)..=(between, u32::MAX)).next()?;
        Some(slot)
    }

    /// Bytes of memory that the list of idle connections takes, apart from their ends.
    pub fn bytes(&self) -> u64 {
        (self.idle.len() * size_of::<((Between, u32), (u32, Time))>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::flow;

    fn idle(connection: u32) -> Idle {
        Idle { connection, slot: 10 * connection, since: Time::from_us(connection.into()) }
    }

    #[test]
    fn the_idle_connection_that_was_opened_first_is_taken_first() {
        let mut connections = Connections::default();
        let spec = flow(0, 1, 960);
        assert_eq!(connections.take(&spec), None);
        for connection in [7, 3, 5] {
            connections.leave(&spec, idle(connection));
        }
        let taken = [(); 4].map(|()| connections.take(&spec));
        assert_eq!(taken, [Some(idle(3)), Some(idle(5)), Some(idle(7)), None]);
        assert_eq!(connections.bytes(), 0);
    }

    #[test]
    fn flows_share_only_with_those_of_the_same_hosts_class_and_path() {
        let mut connections = Connections::default();
        let spec = flow(0, 1, 960);
        connections.leave(&spec, idle(4));
        let others = [
            flow(1, 0, 960),
            flow(0, 2, 960),
            flow(2, 1, 960),
            FlowSpec { class: 1, ..spec },
            FlowSpec { path: Some(0), ..spec },
            FlowSpec { ack_path: Some(0), ..spec },
        ];
        assert!(others.iter().all(|other| connections.take(other).is_none()));
        // Sizes, starts, priorities and queries may differ.
        let alike = FlowSpec { priority: Some(2), query: Some(8), ..flow(0, 1, 5) };
        assert_eq!(connections.take(&alike), Some(idle(4)));
    }
}
