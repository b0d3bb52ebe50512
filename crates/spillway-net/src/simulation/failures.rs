//! Cables that fail and recover, or lose packets.
//!
//! When a cable fails, what is on it in either direction is lost (the packet in transmission
//! included), and so is all that waits for it. Until routes change, what is sent to it is lost on
//! arrival. When it recovers it carries packets at once; routes lead over it again after the same
//! delay.

use super::key::Kind;
use super::network::Network;
use crate::routing::Routing;
use crate::scenario::{LinkChange, LinkEvent, Scenario};
use crate::topology::Topology;
use spillway_engine::{Stream, Time};
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PACKET, PacketId};
use std::collections::VecDeque;

/// The state of the cables.
#[derive(Debug)]
pub(super) struct Failures {
    /// For every link its line.
    line_of_link: Vec<u32>,
    /// How many failures a line suffers from at the moment.
    down: Vec<u32>,
    /// The probability that a line loses a packet.
    loss: Vec<f64>,
    /// What a line's losses are drawn from.
    random: Vec<Stream>,
    /// The changes of routes that are due: when, and which links are up then.
    routes: VecDeque<(Time, Vec<bool>)>,
}

impl Failures {
    pub fn new(scenario: &Scenario, line_of_link: Vec<u32>) -> Failures {
        let lines = if scenario.events.is_empty() { 0 } else { line_of_link.len() };
        let stream = |line: usize| Stream::new(scenario.seed, "loss", line as u64);
        Failures {
            down: vec![0; lines],
            loss: vec![0.0; lines],
            random: (0..lines).map(stream).collect(),
            routes: VecDeque::new(),
            line_of_link,
        }
    }
}

impl Network {
    /// Every event of a scenario has a beginning and perhaps an end.
    pub fn schedule_failures(&mut self, events: &[LinkEvent]) {
        for (number, event) in (0..).zip(events) {
            self.events.push(event.at, Kind::CableChange.key(2 * number));
            if event.until < Time::MAX {
                self.events.push(event.until, Kind::CableChange.key(2 * number + 1));
            }
        }
    }

    /// The beginning (even) or the end (odd) of an event.
    pub fn on_cable_change(&mut self, events: &[LinkEvent], change: u32) {
        let event = events[change as usize / 2];
        let begins = change.is_multiple_of(2);
        for link in [event.link, event.link ^ 1] {
            let line = self.failures.line_of_link[link as usize];
            let place = line as usize;
            match event.change {
                LinkChange::Loss(rate) => {
                    self.failures.loss[place] = if begins { rate } else { 0.0 };
                }
                LinkChange::Down { .. } if begins => {
                    self.failures.down[place] += 1;
                    self.cut(line);
                }
                LinkChange::Down { .. } => self.failures.down[place] -= 1,
            }
            self.lines[place].impaired =
                self.failures.down[place] > 0 || self.failures.loss[place] > 0.0;
        }
        if let LinkChange::Down { reroute_after } = event.change {
            let lines = &self.failures.line_of_link;
            let up = lines.iter().map(|&line| self.failures.down[line as usize] == 0).collect();
            let at = self.now + reroute_after;
            let place = self.failures.routes.partition_point(|(time, _)| *time <= at);
            self.failures.routes.insert(place, (at, up));
            self.events.push(at, Kind::RouteChange.key(change));
        }
    }

    /// Routes change as the cables had changed a while ago.
    pub fn on_route_change(&mut self, topology: &Topology) {
        while self.failures.routes.front().is_some_and(|(time, _)| *time <= self.now) {
            let Some((_, up)) = self.failures.routes.pop_front() else { return };
            self.routing = Routing::new(topology, &up);
        }
    }

    /// Loses what is on a line and what waits for it.
    fn cut(&mut self, line_id: u32) {
        let now = self.now;
        let line = &mut self.lines[line_id as usize];
        let mut id = std::mem::replace(&mut line.head, NO_PACKET);
        line.accepted_bytes = line.sent_bytes(now);
        line.busy_until = now;
        let (from, port) = (line.from, line.port);
        let is_nic = line_id < self.nics.len() as u32;
        let switch = (!is_nic).then_some(from);
        while id != NO_PACKET {
            let next = self.packets[id].next;
            self.lose(id, DropReason::LinkDown, switch);
            id = next;
        }
        if is_nic {
            while self.nics[line_id as usize].has_backlog() {
                let id = self.nics[line_id as usize].dequeue(&self.packets);
                self.lose(id, DropReason::LinkDown, None);
            }
        } else {
            let switch = &mut self.switches[from as usize];
            switch.on_sent(now, port);
            switch.purge(now, port, DropReason::LinkDown, &mut self.packets);
            self.collect_lost(from);
        }
    }

    /// Whether an impaired line loses the packet that is put on it, and if so does.
    #[cold]
    pub fn is_lost_on_line(&mut self, line_id: u32, id: PacketId) -> bool {
        let place = line_id as usize;
        let line = &mut self.lines[place];
        let reason = if self.failures.down[place] > 0 {
            line.accepted_bytes = line.sent_bytes(self.now);
            line.busy_until = self.now;
            DropReason::LinkDown
        } else if self.failures.random[place].uniform() < self.failures.loss[place] {
            DropReason::LinkLoss
        } else {
            return false;
        };
        let switch = (line_id >= self.nics.len() as u32).then_some(line.from);
        self.lose(id, reason, switch);
        true
    }
}
