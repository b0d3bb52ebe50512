//! The flows of a run in parts: where they begin, and when they are over.

use super::part::LostElsewhere;
use super::{INSTANT, Parallel};
use crate::event::{Kind, Moment};
use crate::simulation::Simulation;
use spillway_engine::{Event, Time};
use spillway_transport::flow::FlowSpec;

/// A flow that begins in the next window, as one of its parts sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    id: u32,
    spec: FlowSpec,
    place: u32,
    /// The place of its other end, if that is in another part, and whether it sends from here.
    divided: Option<(u32, bool)>,
}

impl Parallel {
    /// Gives the flows that begin before this time, or before an event of the whole, to their parts.
    /// Returns an earlier time if one of them may be complete before, and others wait for it.
    pub(super) fn begin_flows(&mut self, whole: &mut Simulation, mut bound: Time) -> Time {
        while let Some(Event { time, key: START }) = whole.network.events.next()
            && time < bound
        {
            bound = bound.min(self.begin_due(whole));
        }
        bound
    }

    /// Handles the next event of the whole, at which flows start. They are given to their parts.
    /// Returns when the first of those may be complete for which others wait.
    pub(super) fn begin_due(&mut self, whole: &mut Simulation) -> Time {
        let mut earliest = Time::MAX;
        let Some(Event { time, .. }) = whole.network.events.take() else { return earliest };
        whole.counters.events += 1;
        whole.release(time);
        while let Some(spec) = whole.next_due(time) {
            let id = whole.count_start(&spec);
            let part_of = |host: u32| usize::from(self.cut.part_of_host(host));
            let (from, to) = (part_of(spec.src), part_of(spec.dst));
            if self.keeps_open {
                let (slot, place) = self.begin_on_connection(time, id, spec, (from, to));
                if spec.tag != FlowSpec::NO_TAG {
                    self.releases.add(time, to as u16, place, id);
                }
                self.parts[from].begin_at(time, slot);
                continue;
            }
            let slot = self.parts[from].hosts.ends.reserve();
            let mut place = slot;
            let flow = Expected { id, spec, place, divided: None };
            if from == to {
                self.parts[from].expect(flow);
            } else {
                place = self.parts[to].hosts.ends.reserve();
                self.parts[from].expect(Expected { divided: Some((place, true)), ..flow });
                self.parts[to].expect(Expected { place, divided: Some((slot, false)), ..flow });
            }
            if spec.tag != FlowSpec::NO_TAG {
                let lasts = whole.scenario.topology.time_to_host(spec.dst, spec.size);
                earliest = earliest.min(time.saturating_add(lasts.max(INSTANT)));
                self.releases.add(time, to as u16, place, id);
            }
            self.parts[from].begin_at(time, slot);
        }
        whole.schedule_start();
        earliest
    }

    /// Tells sending ends of losses in other parts, and writes the rows of lost packets and of
    /// flows that are over. Returns when these became over.
    pub(super) fn settle(&mut self, whole: &mut Simulation) -> Vec<Moment> {
        let mut drops = Vec::new();
        for number in 0..self.parts.len() {
            let part = self.parts[number].of_part();
            drops.append(&mut part.drops);
            for lost in std::mem::take(&mut part.lost) {
                self.tell_of_loss(lost);
            }
        }
        drops.sort_by_key(|&(at, _)| at);
        drops.into_iter().for_each(|(_, row)| whole.record.drops.push(row));
        let mut over: Vec<(Moment, usize, u32)> = Vec::new();
        let mut done = Vec::new();
        for (number, part) in (0..).zip(&mut self.parts) {
            over.extend(part.of_part().over.drain(..).map(|(at, slot)| (at, number.into(), slot)));
            part.hosts.take_done(&mut done);
            self.closing.extend(done.drain(..).map(|slot| (number, slot)));
        }
        self.closing.sort_unstable();
        self.closing.dedup();
        let closing = std::mem::take(&mut self.closing);
        for (number, slot) in closing {
            match self.closed_at(number.into(), slot) {
                Some(at) => over.push((at, number.into(), slot)),
                None => self.closing.push((number, slot)),
            }
        }
        over.sort_by_key(|&(at, ..)| at);
        for &(at, number, slot) in &over {
            self.write_row(whole, (number, slot), at.time);
        }
        over.into_iter().map(|(at, ..)| at).collect()
    }

    /// Makes the ends of a flow that begins now, maybe on a connection that is idle. Returns the
    /// places of its sending and of its receiving end.
    fn begin_on_connection(
        &mut self,
        now: Time,
        id: u32,
        spec: FlowSpec,
        (from, to): (usize, usize),
    ) -> (u32, u32) {
        let Ok([here, there]) = self.parts.get_disjoint_mut([from, to]) else {
            let slot = self.parts[from].make_ends(now, id, spec);
            return (slot, slot);
        };
        if let Some(idle) = here.hosts.idle_connection(&spec)
            && here.hosts.is_divided(idle)
        {
            // Packets of its last flow are left.
            let peer = here.hosts.ends.sending(idle).flow.peer;
            here.hosts.ends.receiving_mut(idle).receiver =
                there.hosts.ends.receiving(peer).receiver.clone();
        }
        let slot = here.make_ends(now, id, spec);
        let peer = there.hosts.ends.reserve();
        let ends = &here.hosts.ends;
        let (sending, receiving) = (ends.sending(slot).clone(), ends.receiving(slot).clone());
        there.hosts.ends.insert(peer, sending, receiving);
        here.hosts.divide(slot, peer, true);
        there.hosts.divide(peer, slot, false);
        (slot, peer)
    }

    /// Tells the sending end of a lost packet.
    pub(super) fn tell_of_loss(&mut self, lost: LostElsewhere) {
        let (number, slot) = self.sender_of_lost(lost.to);
        let sender = &mut self.parts[number];
        sender.hosts.on_lost(lost.at, slot, lost.is_data);
        if let Some(slot) = sender.hosts.take_over() {
            let at = lost.at.max(sender.hosts.changed_at(slot));
            sender.of_part().over.push((at, slot));
        }
    }

    /// When a divided flow was over; `None` if it is not.
    fn closed_at(&self, number: usize, slot: u32) -> Option<Moment> {
        let here = &self.parts[number].hosts;
        let sending = here.ends.sending(slot);
        let (to, peer) = (self.cut.part_of_host(sending.flow.spec.dst), sending.flow.peer);
        let there = &self.parts[usize::from(to)].hosts;
        let packets = sending.flow.packets + there.ends.receiving(peer).packets;
        (packets == 0).then(|| here.changed_at(slot).max(there.changed_at(peer)))
    }

    /// The part and place of the sending end of a flow of which a packet was lost, which was on its
    /// way to the end at this host and place.
    fn sender_of_lost(&self, (host, slot): (u32, u32)) -> (usize, u32) {
        let part = usize::from(self.cut.part_of_host(host));
        let receiving = self.parts[part].hosts.ends.receiving(slot);
        if receiving.dst == host {
            (self.cut.part_of_host(receiving.src).into(), receiving.peer)
        } else {
            (part, slot)
        }
    }

    /// Writes the row of a flow, and removes the flow.
    fn write_row(&mut self, whole: &mut Simulation, (number, slot): (usize, u32), now: Time) {
        if self.parts[number].hosts.is_divided(slot) {
            let flow = &self.parts[number].hosts.ends.sending(slot).flow;
            let (to, peer) = (usize::from(self.cut.part_of_host(flow.spec.dst)), flow.peer);
            if let Ok([here, there]) = self.parts.get_disjoint_mut([number, to]) {
                here.hosts.reunite(slot, &there.hosts);
                there.hosts.ends.remove(peer);
            }
        }
        let part = &mut self.parts[number];
        std::mem::swap(&mut part.record, &mut whole.record);
        part.write_last_row(slot, now);
        std::mem::swap(&mut part.record, &mut whole.record);
    }

    /// The flows that are alive, in the order of their numbers: the number of each, and the part
    /// and place of its sending end.
    pub(super) fn alive(&self) -> Vec<(u32, u16, u32)> {
        let mut alive = Vec::new();
        for (number, part) in (0..).zip(&self.parts) {
            for slot in part.hosts.ends.slots() {
                let flow = &part.hosts.ends.sending(slot).flow;
                if self.cut.part_of_host(flow.spec.src) == number {
                    alive.push((crate::event::id(flow.id), number, slot));
                }
            }
        }
        alive.sort_unstable();
        alive
    }

    /// Writes the rows of the flows that are alive.
    pub(super) fn write_last_rows(&mut self, whole: &mut Simulation) {
        let now = whole.network.now;
        for (_, number, slot) in self.alive() {
            self.write_row(whole, (number.into(), slot), now);
        }
    }
}

/// The key of the event at which flows start.
pub(super) const START: u32 = Kind::FlowStart.key(0);

impl Simulation {
    /// A flow begins in the next window, of which an end is here.
    fn expect(&mut self, flow: Expected) {
        self.of_part().expected.push(flow);
    }

    /// Makes both ends of a flow that begins now.
    fn make_ends(&mut self, now: Time, id: u32, spec: FlowSpec) -> u32 {
        self.network.now = now;
        self.hosts.prepare(&mut self.network, &self.scenario, id, spec, None)
    }

    /// Makes the ends of the flows that begin in this window.
    pub(super) fn prepare_flows(&mut self) {
        let mut expected = std::mem::take(&mut self.of_part().expected);
        for Expected { id, spec, place, divided } in expected.drain(..) {
            self.hosts.prepare(&mut self.network, &self.scenario, id, spec, Some(place));
            if let Some((other, sends)) = divided {
                self.hosts.divide(place, other, sends);
            }
        }
        self.of_part().expected = expected;
    }

    /// Starts the flows that begin now and send from this part. The whole has counted the event.
    pub(in crate::simulation) fn start_flows_in_part(&mut self) {
        self.counters.events -= 1;
        let now = self.network.now;
        while let Some(slot) = self.of_part().next_due(now) {
            // Of what happens now in several parts, what an earlier flow does comes first.
            self.network.key = Kind::FlowStart.key(self.hosts.ends.sending(slot).flow.id);
            self.hosts.begin(&mut self.network, &self.scenario, slot);
            let (losses, key) = (self.network.lost.len(), self.network.key);
            self.of_part().keys_of_lost.resize(losses, key);
        }
        self.note_latest(Kind::FlowStart.key(u32::MAX));
    }
}
