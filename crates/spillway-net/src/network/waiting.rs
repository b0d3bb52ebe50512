//! Ports that wait until they can send again.
//!
//! A port waits while it sends and has a backlog. Where its sending could be observed, an event
//! wakes it. Elsewhere it is deferred: it sends later, but with the time at which it could have
//! sent. It does so when the next packet arrives at its switch, before anything is decided about
//! that packet, or when the last packet on its line arrives at the far end, because the next
//! arrival must then be scheduled. Until then nothing depends on what it sends. Before a policy's
//! timer, a sample, or a look at the run from outside, all deferred ports catch up.
//!
//! If the port sends in the order of arrival and nobody pushes out, no decision can affect a packet
//! once it is queued. Its departure time is then known and it goes on the line at once; only the
//! buffer's account of its departure is deferred.
//!
//! [Shortcuts](crate::port::shortcuts) lists the ports that may be deferred, and why no result
//! changes.

use super::Network;
use crate::event::Kind;
use crate::port::line::Waking;
use crate::port::nic::NicQueueing;
use crate::port::shortcuts::{Shortcuts, SwitchPort};
use crate::scenario::Scenario;
use spillway_switch::packet::PacketId;

impl Network {
    /// Decides which shortcuts every port takes. Called once, before anything is sent, when it is
    /// known what is recorded.
    pub fn take_shortcuts(&mut self, allowed: Shortcuts, scenario: &Scenario) {
        let has_events = !scenario.events.is_empty();
        self.nic_queueing =
            allowed.of_nics(&scenario.nic, scenario.discipline.is_some(), has_events);
        for line in &mut self.lines[self.nics.len()..] {
            let switch = &mut self.switches[line.from as usize];
            let facts = switch.port_facts();
            let port = SwitchPort { facts: &facts, is_attended: line.attended, has_events };
            let taken = allowed.of_switch_port(&port);
            line.waking = taken.waking;
            switch.let_pass(taken.passes_when_idle);
        }
    }

    /// Lets a port with a backlog wait until it can send again.
    #[inline(always)]
    pub fn wait(&mut self, line_id: u32) {
        let line = &mut self.lines[line_id as usize];
        line.waits = true;
        match line.waking {
            Waking::Deferred | Waking::InOrder => {
                self.ports[line.from as usize].waiting.add(line.busy_until, line_id);
            }
            Waking::ByEvent => self.events.push(line.busy_until, Kind::Wake.key(line_id)),
        }
    }

    /// A packet has arrived for a port that sends in order and is busy or has a backlog.
    #[inline(never)]
    pub fn queue_in_order(&mut self, switch_id: u32, port: u32, id: PacketId) {
        let switch = &mut self.switches[switch_id as usize];
        let packet = self.packets[id];
        let is_taken = switch.enqueue_in_order(self.now, port, id, &packet, &mut self.packets);
        let has_lost = switch.has_lost();
        if is_taken {
            let line_id = self.ports[switch_id as usize].first_line + port;
            if !self.lines[line_id as usize].waits {
                self.wait(line_id);
            }
            let line = &mut self.lines[line_id as usize];
            line.send(self.now, id, &mut self.packets, &mut self.events);
        }
        if has_lost {
            self.collect_lost(switch_id);
        }
    }

    /// Carries out what a switch's deferred ports could have sent by now, in order of time, each
    /// packet with its own time.
    #[inline(never)]
    pub fn catch_up(&mut self, switch: u32) {
        let ports = &mut self.ports[switch as usize];
        let switch = &mut self.switches[switch as usize];
        while ports.waiting.first() <= self.now {
            let time = ports.waiting.first();
            let Some(line_id) = ports.waiting.first_line() else { return };
            let line = &mut self.lines[line_id as usize];
            let port = line_id - ports.first_line;
            if line.waking == Waking::InOrder {
                self.packet_hops += 1;
                let (size, waits) = switch.send_in_order(time, port);
                line.waits = waits;
                ports.waiting.move_first(waits.then(|| time + line.time_of(size.into())));
                continue;
            }
            line.waits = false;
            let mut next = None;
            if let Some((id, waits)) = switch.send_next(time, port, &mut self.packets) {
                self.packet_hops += 1;
                line.send(time, id, &mut self.packets, &mut self.events);
                if waits {
                    line.waits = true;
                    next = Some(line.busy_until);
                    switch.prefetch_next(port, &self.packets);
                }
            }
            ports.waiting.move_first(next);
        }
    }

    /// The same for all switches.
    pub fn catch_up_all(&mut self) {
        (0..self.switches.len() as u32).for_each(|switch| self.catch_up(switch));
    }

    /// A port's wake event is due: it can send again.
    #[inline(never)]
    pub fn on_wake(&mut self, line_id: u32) {
        let line = &mut self.lines[line_id as usize];
        if !line.waits || line.busy_until != self.now {
            // The line has failed since the event was scheduled.
            return;
        }
        line.waits = false;
        let from = line.from;
        if let Some(nic) = self.nics.get_mut(line_id as usize) {
            if self.nic_queueing == NicQueueing::Managed {
                return self.send_managed(line_id);
            }
            if nic.has_backlog() {
                let next = (nic.dequeue(&self.packets), nic.has_backlog());
                self.send_and_wait(line_id, next);
            }
            return;
        }
        let (port, switch) = (self.port_of(line_id), &mut self.switches[from as usize]);
        let next = switch.send_next(self.now, port, &mut self.packets);
        let lost = switch.has_lost();
        if let Some(next) = next {
            self.send_and_wait(line_id, next);
        }
        if lost {
            self.collect_lost(from);
        }
    }

    /// Puts a packet on a line; its port waits if it has more to send.
    pub fn send_and_wait(&mut self, line_id: u32, (id, waits): (PacketId, bool)) {
        self.transmit(line_id, id);
        if waits {
            self.wait(line_id);
        }
    }
}
