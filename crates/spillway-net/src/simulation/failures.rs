//! Cables that fail and recover, or lose packets.
//!
//! When a cable fails, what is on it in either direction is lost (the packet in transmission
//! included), and so is all that waits for it. Until routes change, what is sent to it is lost on
//! arrival. When it recovers it carries packets at once; routes lead over it again after the same
//! delay.

use super::Simulation;
use super::key::{Kind, key};
use crate::routing::Routing;
use crate::scenario::{LinkChange, Scenario};
use spillway_engine::{Stream, Time};
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PACKET, PacketId};

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
    routes: std::collections::VecDeque<(Time, Vec<bool>)>,
}

impl Failures {
    pub fn new(scenario: &Scenario, line_of_link: Vec<u32>) -> Failures {
        let lines = if scenario.events.is_empty() { 0 } else { line_of_link.len() };
        let stream = |line: usize| Stream::new(scenario.seed, "loss", line as u64);
        Failures {
            down: vec![0; lines],
            loss: vec![0.0; lines],
            random: (0..lines).map(stream).collect(),
            routes: std::collections::VecDeque::new(),
            line_of_link,
        }
    }
}

impl Simulation {
    /// Every event of the scenario has a beginning and perhaps an end.
    pub(super) fn schedule_failures(&mut self) {
        for (number, event) in (0..).zip(&self.scenario.events) {
            self.events.push(event.at, key(Kind::CableChange, 2 * number));
            if event.until < Time::MAX {
                self.events.push(event.until, key(Kind::CableChange, 2 * number + 1));
            }
        }
    }

    pub(super) fn on_cable_change(&mut self, change: u32) {
        let event = self.scenario.events[change as usize / 2];
        let begins = change.is_multiple_of(2);
        let links = [event.link, event.link ^ 1];
        for link in links {
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
            self.events.push(at, key(Kind::RouteChange, change));
        }
    }

    pub(super) fn on_route_change(&mut self) {
        while let Some((_, up)) = self.failures.routes.pop_front_if(|(time, _)| *time <= self.now) {
            self.routing = Routing::new(&self.scenario.topology, &up);
        }
    }

    /// Loses what is on a line and what waits for it.
    fn cut(&mut self, line_id: u32) {
        let now = self.now;
        let line = &mut self.lines[line_id as usize];
        let mut id = std::mem::replace(&mut line.head, NO_PACKET);
        line.busy_until = now;
        let (from, port) = (line.from, line.port);
        let is_nic = line_id < self.nics.len() as u32;
        let mut lost = Vec::new();
        while id != NO_PACKET {
            lost.push(id);
            id = self.packets[id].next;
        }
        if is_nic {
            let nic = &mut self.nics[line_id as usize];
            while nic.has_backlog() {
                lost.push(nic.dequeue(&self.packets));
            }
        } else {
            let switch = &mut self.switches[from as usize];
            switch.on_sent(now, port);
            switch.purge(now, port, DropReason::LinkDown, &mut self.packets);
        }
        let place = (!is_nic).then_some((from, None));
        for id in lost {
            self.note_drop(place, id, DropReason::LinkDown);
            self.remove_packet(id);
        }
        if !is_nic {
            self.collect_purged(from);
        }
    }

    /// Whether an impaired line loses the packet that is put on it, and if so does.
    #[cold]
    pub(super) fn is_lost_on_line(&mut self, line_id: u32, id: PacketId) -> bool {
        let place = line_id as usize;
        let line = &mut self.lines[place];
        let reason = if self.failures.down[place] > 0 {
            line.busy_until = self.now;
            DropReason::LinkDown
        } else if self.failures.random[place].uniform() < self.failures.loss[place] {
            DropReason::LinkLoss
        } else {
            return false;
        };
        let is_nic = line_id < self.nics.len() as u32;
        let from = (!is_nic).then_some((line.from, None));
        self.note_drop(from, id, reason);
        self.remove_packet(id);
        true
    }
}
