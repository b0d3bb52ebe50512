//! Ports that pause each other for ever.
//!
//! A paused queue class goes on when the account that paused it has sent enough of the packets that
//! it holds. If these packets wait in queues that are paused themselves, that may never happen. A
//! cycle of ports that wait for each other is a deadlock.
//!
//! A queue class is stuck if two things hold. No frame that lets it go on is under way. And its
//! account would still pause it after everything had been sent that does not wait in a stuck queue,
//! or the account holds only packets in stuck queues and no other packet is on its way to it. The
//! search begins with all paused queue classes. It takes out those that are not stuck until none is
//! left to be taken out.
//!
//! The simulator searches at every event that can close a cycle: a pause acts; a packet joins a
//! paused queue; an account's last packet that is not stuck leaves, or is lost with its link. After
//! the last of these events a dynamic threshold may still rise, but the account does not look at it
//! any more.
//!
//! A deadlock needs routes that let lines depend on each other in a cycle. Shortest paths up and
//! down a tree do not, so there the simulator does not search.

use super::Network;
use super::pausing::Stoppable;
use crate::event::Kind;
use crate::port::line::{End, Line};
use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_switch::packet::{NO_PACKET, PacketId};
use spillway_topology::routing::Routing;
use spillway_topology::{LineId, Node, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// A cycle of ports that pause each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deadlock {
    /// When the cycle closed.
    pub time: Time,
    /// The lines on which the cycle's ports send, with their queue classes. Each waits for the next
    /// one, and the last for the first.
    pub members: Vec<(u32, u8)>,
}

/// The search for deadlocks.
#[derive(Clone, Debug)]
pub(crate) struct Deadlocks {
    /// The first deadlock.
    pub found: Option<Deadlock>,
    /// Whether a deadlock ends the run.
    pub ends_run: bool,
    /// Whether lines depend on each other in a cycle.
    is_possible: bool,
}

impl Deadlocks {
    /// `None` if nothing is lossless, or if no cycle is possible and none can become so.
    pub fn new(
        scenario: &Scenario,
        routing: &Routing,
        is_lossless: bool,
    ) -> Option<Box<Deadlocks>> {
        if !is_lossless {
            return None;
        }
        let ends_run = scenario.tiers.iter().filter_map(|tier| tier.pfc.as_ref());
        let ends_run = ends_run.into_iter().all(|pfc| pfc.ends_run);
        let is_possible = has_cycle(&scenario.topology, routing);
        let may_become = scenario.links_fail();
        let deadlocks = Deadlocks { found: None, ends_run, is_possible };
        (is_possible || may_become).then(|| Box::new(deadlocks))
    }
}

/// Whether routes let lines between switches depend on each other in a cycle. A line depends on the
/// next line of a packet's path, because the packet may have to wait for it.
fn has_cycle(topology: &Topology, routing: &Routing) -> bool {
    let racks: BTreeMap<u32, u32> =
        (0..topology.hosts()).map(|host| (topology.rack_of(host), host)).collect();
    let port_line =
        |switch: u32, port: u32| topology.switches[switch as usize].ports[port as usize];
    let mut next: BTreeMap<LineId, BTreeSet<LineId>> = BTreeMap::new();
    for switch in 0..topology.switches.len() as u32 {
        for &host in racks.values() {
            for &port in routing.next_hops(switch, host) {
                let line = port_line(switch, port);
                let Node::Switch(to) = topology.lines[line as usize].to else { continue };
                let onwards = routing.next_hops(to, host).iter().map(|&port| port_line(to, port));
                let to_switch =
                    |line: &LineId| matches!(topology.lines[*line as usize].to, Node::Switch(_));
                next.entry(line).or_default().extend(onwards.filter(to_switch));
            }
        }
    }
    // Takes away the lines that wait for no line that is left, until there are no more of them. The
    // lines that remain contain a cycle.
    let mut waited_for: BTreeMap<LineId, Vec<LineId>> = BTreeMap::new();
    let mut left: BTreeMap<LineId, usize> = BTreeMap::new();
    for (&line, onwards) in &next {
        left.insert(line, onwards.len());
        onwards.iter().for_each(|&onward| waited_for.entry(onward).or_default().push(line));
    }
    let mut free: Vec<LineId> =
        left.iter().filter(|(_, count)| **count == 0).map(|(&line, _)| line).collect();
    let mut taken = free.len();
    while let Some(line) = free.pop() {
        for before in waited_for.get(&line).into_iter().flatten() {
            let count = left.get_mut(before).expect("every line is counted");
            *count -= 1;
            if *count == 0 {
                free.push(*before);
                taken += 1;
            }
        }
    }
    taken < left.len()
}

impl Network {
    /// Routes have changed, so cycles may have become possible. A cycle that was possible stays
    /// possible, since packets may still be under way on old routes.
    pub(super) fn look_for_cycles(&mut self, topology: &Topology) {
        if let Some(deadlocks) = &mut self.deadlocks {
            deadlocks.is_possible |= has_cycle(topology, &self.routing);
        }
    }

    /// Searches for a deadlock that has just closed. Ends the run if deadlocks end it.
    pub(super) fn look_for_deadlock(&mut self) {
        let looks = |deadlocks: &Deadlocks| deadlocks.is_possible && deadlocks.found.is_none();
        if !self.deadlocks.as_deref().is_some_and(looks) {
            return;
        }
        let stuck = self.stuck();
        if stuck.is_empty() {
            return;
        }
        let members = self.cycle_of(&stuck);
        if let Some(deadlocks) = &mut self.deadlocks {
            deadlocks.found = Some(Deadlock { time: self.now, members });
            if deadlocks.ends_run {
                self.events.push(self.now, Kind::Deadlock.key(0));
            }
        }
    }

    /// A packet has come to a switch. It has been queued at a port, or it was sent or lost at once.
    pub(super) fn look_behind_arrival(&mut self, switch: u32, port: u32, queued: Option<PacketId>) {
        let Some(id) = queued else { return self.look_behind_departure(switch) };
        if self.switches[switch as usize].is_paused(port, self.packets[id].queue_class) {
            self.look_for_deadlock();
        }
    }

    /// A packet has left a switch. If it was the last packet of an account that could leave, and
    /// the account stays paused, a cycle may have closed.
    #[inline(never)]
    pub(super) fn look_behind_departure(&mut self, switch: u32) {
        let accounts = self.switches[switch as usize].accounts();
        if accounts.is_some_and(|accounts| accounts.is_left_paused()) {
            self.look_for_deadlock();
        }
    }

    /// The paused queue classes between switches that will never go on.
    fn stuck(&self) -> BTreeSet<Stoppable> {
        let Some(pausing) = &self.pausing else { return BTreeSet::new() };
        let is_between_switches = |&(line, _): &Stoppable| {
            let is_lossless = self.lines[line as usize].end == End::LosslessSwitch;
            is_lossless && matches!(self.sender_on(line), Node::Switch(_))
        };
        let paused = pausing.paused().filter(|&at| !pausing.will_end(at));
        let mut stuck: BTreeSet<Stoppable> = paused.filter(is_between_switches).collect();
        loop {
            let blocked = self.blocked(&stuck);
            let stays = |&(line, queue_class): &Stoppable| {
                let (switch, account) = self.account_of(line, queue_class)?;
                let of_switch = blocked.get(&switch)?;
                let held = *of_switch.get(&account)?;
                let switch = &self.switches[switch as usize];
                let accounts = switch.accounts()?;
                let taken: u64 = of_switch.values().map(|&held| accounts.shared_of(held)).sum();
                let shared = switch.capacity() - accounts.parts().set_aside();
                let free = shared.saturating_sub(taken);
                let is_left = accounts.is_left_with(account, held);
                (accounts.stays_paused(account, held, free)
                    || (is_left && !self.is_coming(line, queue_class)))
                .then_some(())
            };
            let before = stuck.len();
            stuck.retain(|at| stays(at).is_some());
            if stuck.len() == before {
                return stuck;
            }
        }
    }

    /// Whether a packet for this queue class is on a line that leads to a switch.
    fn is_coming(&self, line: u32, queue_class: u8) -> bool {
        let Line { mut head, to, .. } = self.lines[line as usize];
        while head != NO_PACKET {
            let packet = &self.packets[head];
            if self.switches[to as usize].queue_class_of(packet) == queue_class {
                return true;
            }
            head = packet.next;
        }
        false
    }

    /// Bytes that wait in these queues, by the switch and the account that holds them.
    fn blocked(&self, stuck: &BTreeSet<Stoppable>) -> BTreeMap<u32, BTreeMap<u32, u64>> {
        let mut blocked: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
        for &(line, queue_class) in stuck {
            let switch = self.lines[line as usize].from;
            for (account, bytes) in self.bytes_by_account(line, queue_class) {
                *blocked.entry(switch).or_default().entry(account).or_default() += u64::from(bytes);
            }
        }
        blocked
    }

    /// The packets that wait in a queue class of a line's port, by account.
    fn bytes_by_account(
        &self,
        line: u32,
        queue_class: u8,
    ) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let switch = &self.switches[self.lines[line as usize].from as usize];
        let queue = switch.buffer().queue_of(self.port_of(line), queue_class);
        switch.bytes_by_account(queue, &self.packets)
    }

    /// The switch at a line's far end, and its account of packets that come in there with a queue
    /// class.
    fn account_of(&self, line: u32, queue_class: u8) -> Option<(u32, u32)> {
        let (switch, pausing) = (self.lines[line as usize].to, self.pausing.as_ref()?);
        let port = pausing.reverse(line) - self.ports[switch as usize].first_line;
        let account = self.switches[switch as usize].accounts()?.find(port, queue_class)?;
        Some((switch, account))
    }

    /// A cycle among stuck queue classes. Each leads to the queue class that holds most of the
    /// packets for which its account waits.
    fn cycle_of(&self, stuck: &BTreeSet<Stoppable>) -> Vec<Stoppable> {
        let mut path: Vec<Stoppable> = Vec::new();
        let mut at = *stuck.first().expect("some are stuck");
        while !path.contains(&at) {
            path.push(at);
            let Some((switch, account)) = self.account_of(at.0, at.1) else { break };
            let held = |&(line, queue_class): &Stoppable| -> u64 {
                let packets = self.bytes_by_account(line, queue_class);
                packets.filter(|of| of.0 == account).map(|of| u64::from(of.1)).sum()
            };
            let here = stuck.iter().filter(|(line, _)| self.lines[*line as usize].from == switch);
            let most = here.copied().max_by_key(|at| (held(at), std::cmp::Reverse(*at)));
            at = most.expect("a stuck account waits for a stuck queue");
        }
        let first = path.iter().position(|&member| member == at).unwrap_or(0);
        path.split_off(first)
    }
}
