//! Links that fail, recover, or lose packets.
//!
//! When a link fails, everything on it is lost, in both directions, including the packets in
//! transmission. Everything queued for it is lost too. Until routes change, packets sent to the
//! link are lost at once. When the link recovers, it carries packets immediately. Routes use it
//! again after the same delay.

use super::Network;
use crate::event::Kind;
use crate::scenario::{LinkChange, LinkEvent, Scenario};
use spillway_engine::{Stream, Time};
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PACKET, PacketId};
use spillway_topology::{LineId, Node, Topology};

/// The state of all links.
#[derive(Clone, Debug)]
pub(crate) struct Failures {
    /// For every line of the topology, its place among the network's lines.
    place_of_line: Vec<u32>,
    /// The number of failures that each line suffers at the moment.
    down: Vec<u32>,
    /// The probability that each line loses a packet.
    loss: Vec<f64>,
    /// The random stream from which each line's losses are drawn.
    random: Vec<Stream>,
    /// The number of failures of each line that switches know of. They learn of a change after a
    /// delay.
    known: Vec<u32>,
    /// The time that failures have saved each line: a byte that a failure cuts short counts as
    /// sent.
    cut_short: Vec<Time>,
}

impl Failures {
    pub fn new(scenario: &Scenario, place_of_line: Vec<u32>) -> Failures {
        let lines = if scenario.events.is_empty() { 0 } else { place_of_line.len() };
        let stream = |line: usize| Stream::new(scenario.seed, "loss", line as u64);
        Failures {
            down: vec![0; lines],
            loss: vec![0.0; lines],
            random: (0..lines).map(stream).collect(),
            known: vec![0; lines],
            cut_short: vec![Time::ZERO; lines],
            place_of_line,
        }
    }

    /// Whether a line is down.
    pub fn is_down(&self, line: u32) -> bool {
        self.down.get(line as usize).is_some_and(|&failures| failures > 0)
    }

    /// Exchanges the time that failures have saved a line with another network's.
    pub fn swap(&mut self, line: usize, other: &mut Failures) {
        if let (Some(here), Some(there)) =
            (self.cut_short.get_mut(line), other.cut_short.get_mut(line))
        {
            std::mem::swap(here, there);
        }
    }

    /// The difference between the time that a line's sent bytes would take and the time that the
    /// line has spent sending. Failures cause it.
    pub fn cut_short(&self, line: u32) -> Time {
        self.cut_short.get(line as usize).copied().unwrap_or(Time::ZERO)
    }
}

impl Network {
    /// Schedules the beginning of every event in the scenario, and its end if it has one.
    pub fn schedule_failures(&mut self, events: &[LinkEvent]) {
        for (number, event) in (0..).zip(events) {
            self.events.push(event.at, Kind::LinkChange.key(2 * number));
            if event.until < Time::MAX {
                self.events.push(event.until, Kind::LinkChange.key(2 * number + 1));
            }
        }
    }

    /// An event begins (`change` is even) or ends (odd).
    pub fn on_link_change(&mut self, events: &[LinkEvent], change: u32) {
        let line = events[change as usize / 2].line;
        [line, line ^ 1].into_iter().for_each(|line| self.change_line(events, change, line));
        self.announce(events, change);
    }

    /// An event begins or ends on one of the link's lines.
    pub fn change_line(&mut self, events: &[LinkEvent], change: u32, line: LineId) {
        let line_id = self.failures.place_of_line[line as usize];
        let place = line_id as usize;
        match events[change as usize / 2].change {
            LinkChange::Loss(_) => self.failures.loss[place] = loss(events, line, self.now),
            LinkChange::Down { .. } if change.is_multiple_of(2) => {
                self.failures.down[place] += 1;
                self.cut(line_id);
            }
            LinkChange::Down { .. } => self.failures.down[place] -= 1,
        }
        let is_impaired = self.failures.down[place] > 0 || self.failures.loss[place] > 0.0;
        let line = &mut self.lines[place];
        line.attended =
            is_impaired || self.writes_telemetry || self.whole_ns.is_some() || line.is_slow();
    }

    /// Switches will learn that a link has failed or recovered.
    pub fn announce(&mut self, events: &[LinkEvent], change: u32) {
        if let LinkChange::Down { reroute_after } = events[change as usize / 2].change {
            // One of the lost packets may have been the last that could have let a paused port go
            // on.
            self.look_for_deadlock();
            self.events.push(self.now + reroute_after, Kind::RouteChange.key(change));
        }
    }

    /// Switches learn that a link has failed or recovered.
    pub fn on_route_change(&mut self, topology: &Topology, events: &[LinkEvent], change: u32) {
        let event = events[change as usize / 2];
        let Failures { place_of_line, known, .. } = &mut self.failures;
        for line in [event.line, event.line ^ 1] {
            let place = place_of_line[line as usize] as usize;
            if change.is_multiple_of(2) { known[place] += 1 } else { known[place] -= 1 }
        }
        let up: Vec<bool> = place_of_line.iter().map(|&place| known[place as usize] == 0).collect();
        self.routing = self.routing.renewed(topology, &up);
        self.look_for_cycles(topology);
    }

    /// Loses the packets on a line and those queued for it.
    fn cut(&mut self, line_id: u32) {
        let (now, leads_away) = (self.now, self.leads_away(line_id));
        let line = &mut self.lines[line_id as usize];
        // What is on a line that leads to another part is there.
        let mut id = if leads_away { NO_PACKET } else { line.head };
        if !leads_away {
            line.head = NO_PACKET;
        }
        self.failures.cut_short[line_id as usize] += line.rest_of_byte(now);
        line.accepted_bytes = line.sent_bytes(now);
        line.busy_until = now;
        line.waits = false;
        self.forget_pauses(line_id);
        let at = self.sender_on(line_id);
        while id != NO_PACKET {
            let next = self.packets[id].next;
            self.lose(id, DropReason::LinkDown, at);
            id = next;
        }
        match at {
            Node::Host(host) => {
                self.forget_intake(host);
                while let Some(id) = self.nics[host as usize].lose(now, &mut self.packets) {
                    if self.tells_begun {
                        self.tell_begun(id);
                    }
                    self.lose(id, DropReason::LinkDown, at);
                }
            }
            Node::Switch(from) => {
                let port = self.port_of(line_id);
                let switch = &mut self.switches[from as usize];
                switch.on_sent(now, port);
                switch.purge(now, port, DropReason::LinkDown, &mut self.packets);
                let changed = switch.has_pause_changes();
                self.collect_lost(from);
                if changed {
                    self.send_pauses(from);
                }
            }
        }
    }

    /// Decides whether a line loses the packet that is put on it. If it does, the packet is lost.
    #[cold]
    pub fn is_lost_on_line(&mut self, line_id: u32, id: PacketId) -> bool {
        let place = line_id as usize;
        if self.failures.down.is_empty() {
            return false;
        }
        let line = &mut self.lines[place];
        let reason = if self.failures.down[place] > 0 {
            self.failures.cut_short[place] += line.rest_of_byte(self.now);
            line.accepted_bytes = line.sent_bytes(self.now);
            line.busy_until = self.now;
            DropReason::LinkDown
        } else if self.failures.loss[place] > 0.0
            && self.failures.random[place].uniform() < self.failures.loss[place]
        {
            DropReason::LinkLoss
        } else {
            return false;
        };
        self.lose(id, reason, self.sender_on(line_id));
        true
    }
}

/// The probability that a line loses a packet. The losses in force are independent: a packet gets
/// through if it survives each of them.
fn loss(events: &[LinkEvent], line: LineId, now: Time) -> f64 {
    let through = |event: &LinkEvent| match event.change {
        LinkChange::Loss(rate) if event.line | 1 == line | 1 => 1.0 - rate,
        _ => 1.0,
    };
    let going_on = events.iter().filter(|event| (event.at..event.until).contains(&now));
    1.0 - going_on.map(through).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: LineId, (from_us, until_us): (u64, u64), change: LinkChange) -> LinkEvent {
        LinkEvent { line, at: Time::from_us(from_us), until: Time::from_us(until_us), change }
    }

    #[test]
    fn losses_that_go_on_together_let_through_what_each_does() {
        let down = LinkChange::Down { reroute_after: Time::ZERO };
        let events = [
            event(4, (10, 30), LinkChange::Loss(0.5)),
            // The other direction of the same link.
            event(5, (20, 40), LinkChange::Loss(0.2)),
            event(6, (0, 50), LinkChange::Loss(0.9)),
            event(4, (0, 50), down),
        ];
        let at = |us: u64| loss(&events, 4, Time::from_us(us));
        assert_eq!([at(9), at(10), at(19)], [0.0, 0.5, 0.5]);
        assert!((at(20) - 0.6).abs() < 1e-12, "{}", at(20));
        assert!((at(30) - 0.2).abs() < 1e-12, "{}", at(30));
        assert_eq!(at(40), 0.0);
    }
}
