//! What a run has in addition if it is one part of a cut network.

use super::INSTANT;
use super::flows::{Expected, START};
use crate::event::{Kind, Moment};
use crate::host::Hosts;
use crate::network::{Border, Cut, Ferry, Network};
use crate::record::DropRow;
use crate::simulation::waits::Waits;
use crate::simulation::{Progress, Simulation};
use spillway_engine::{Event, Time};
use spillway_topology::Node;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a run has in addition if it is one part of a cut network.
#[derive(Clone)]
pub(in crate::simulation) struct Part {
    own: u16,
    cut: Arc<Cut>,
    border: Border,
    /// Where the present window ends.
    edge: Event,
    /// Whether the run is looked at there.
    is_seen: bool,
    /// Packets on their way to each part.
    pub(super) leaving: Vec<Ferry>,
    /// Packets that come from each part.
    pub(super) coming: Vec<Ferry>,
    /// Flows that begin in this window and have no ends yet.
    pub(super) expected: Vec<Expected>,
    /// Flows that begin in this window, in order of time.
    starting: VecDeque<(Time, u32)>,
    /// Flows with both ends here that are over.
    pub over: Vec<(Moment, u32)>,
    /// Packets that were lost here, of flows that do not send from here.
    pub(super) lost: Vec<LostElsewhere>,
    /// Of packets that the event of starting flows has lost: the keys of their flows' starts.
    pub(super) keys_of_lost: Vec<u32>,
    /// The rows of packets that were lost here.
    pub drops: Vec<(Moment, DropRow)>,
}

/// A packet that was lost in another part than the one that sent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostElsewhere {
    pub at: Moment,
    /// The host and place of the end that it was on the way to.
    pub to: (u32, u32),
    pub is_data: bool,
}

impl Part {
    /// Whether a node is in this part.
    pub fn has(&self, node: Node) -> bool {
        self.cut.part_of(node) == self.own
    }

    /// The next flow that begins now.
    pub(super) fn next_due(&mut self, now: Time) -> Option<u32> {
        self.starting.front().filter(|(start, _)| *start <= now)?;
        self.starting.pop_front().map(|(_, slot)| slot)
    }

    /// Whether flows have still to begin in this window.
    pub(super) fn begins(&self) -> bool {
        !self.starting.is_empty()
    }

    /// The place of the sending end of a flow of which a packet was lost, if that end is known to
    /// be here. Otherwise the loss is noted.
    pub fn sender_of_lost(
        &mut self,
        hosts: &Hosts,
        to: (u32, u32),
        (at, is_data): (Moment, bool),
    ) -> Option<u32> {
        let (host, slot) = to;
        if self.has(Node::Host(host)) {
            let end = hosts.ends.receiving(slot);
            if end.dst != host {
                return Some(slot);
            }
            if self.has(Node::Host(end.src)) {
                return Some(end.peer);
            }
        }
        self.lost.push(LostElsewhere { at, to, is_data });
        None
    }
}

impl Simulation {
    /// Makes a run that has not begun one part of a cut network.
    pub(super) fn into_part(mut self, own: u16, cut: &Arc<Cut>) -> Simulation {
        let border = self.network.become_part(cut, own, self.scenario.smallest_packet());
        let nothing = vec![Ferry::default(); usize::from(cut.parts())];
        let part = Part {
            own,
            cut: cut.clone(),
            border,
            edge: Event { time: Time::ZERO, key: 0 },
            is_seen: false,
            leaving: nothing.clone(),
            coming: nothing,
            expected: Vec::new(),
            starting: VecDeque::new(),
            over: Vec::new(),
            lost: Vec::new(),
            keys_of_lost: Vec::new(),
            drops: Vec::new(),
        };
        let timers = &self.network.timers;
        self.network.events.retain(|key| {
            let timer = Kind::PolicyTimer.id_of(key);
            timer.is_some_and(|number| part.has(timers[number as usize].at))
        });
        self.part = Some(Box::new(part));
        self.hosts.become_part();
        self.waits = Waits::default();
        // Only the whole knows whether the run is over.
        self.has_traffic = true;
        self
    }

    pub(super) fn of_part(&mut self) -> &mut Part {
        self.part.as_mut().expect("a part")
    }

    /// The least time in which a packet leaves this part.
    pub(super) fn least_delay(&self) -> Time {
        self.part.as_ref().map_or(Time::MAX, |part| part.border.least_delay)
    }

    /// The number of packets in this part or on their way to it.
    pub(super) fn packets_in_part(&self) -> usize {
        let Some(part) = &self.part else { return 0 };
        let coming: usize = part.coming.iter().map(Ferry::len).sum();
        self.network.packets.live() - part.border.placeholders() + coming
    }

    /// The packets and bytes that are in this part or on their way to it.
    pub(super) fn present_in_part(&self) -> (u64, u64) {
        let (packets, bytes) = self.network.present();
        let Some(part) = &self.part else { return (packets, bytes) };
        let coming = part.coming.iter().fold((0, 0), |(packets, bytes), ferry| {
            (packets + ferry.len() as u64, bytes + ferry.bytes())
        });
        let placeholders = part.border.placeholders() as u64;
        (packets - placeholders + coming.0, bytes + coming.1)
    }

    /// Whether flows may be over, or packets of other parts' flows were lost.
    pub(super) fn has_news(&self) -> bool {
        let is_told = |part: &Part| !part.over.is_empty() || !part.lost.is_empty();
        self.hosts.may_be_done() || self.part.as_ref().is_some_and(|part| is_told(part))
    }

    /// When the next thing happens in this part; [`Time::MAX`] if nothing does.
    pub(super) fn next_in_part(&self) -> Time {
        let Some(part) = &self.part else { return Time::MAX };
        let coming = part.coming.iter().map(|ferry| ferry.earliest);
        let exit = self.network.next_exit(&part.border);
        coming.chain([exit]).chain(self.network.events.next_time()).min().unwrap_or(Time::MAX)
    }

    /// The next window ends at this place in the order of events.
    pub(super) fn set_edge(&mut self, edge: Event, is_seen: bool) {
        let part = self.of_part();
        (part.edge, part.is_seen) = (edge, is_seen);
        self.until = if edge.key == Kind::Edge.key(0) { edge.time } else { edge.time + INSTANT };
    }

    /// A flow begins at this time, as the last one that is known.
    pub(super) fn begin_at(&mut self, start: Time, slot: u32) {
        let starting = &mut self.of_part().starting;
        let is_new = starting.back().is_none_or(|&(time, _)| time != start);
        starting.push_back((start, slot));
        if is_new {
            self.network.events.push(start, Kind::FlowStart.key(0));
        }
    }

    /// Handles all events of the window.
    pub(super) fn work_on_window(&mut self) {
        self.enter_window();
        let Event { time, key } = self.of_part().edge;
        self.network.events.push(time, key);
        while self.handle_events(u64::MAX) != Progress::Halted {}
        self.leave_window();
    }

    /// Of the packets that an event has lost, the one at this place is looked at now. If flows have
    /// started in the event, its place in the order of the whole run is that of its flow.
    pub(in crate::simulation) fn look_at_loss(&mut self, place: usize) {
        let Some(part) = &mut self.part else { return };
        self.network.losses = self.network.losses.wrapping_add(1);
        if let Some(&key) = part.keys_of_lost.get(place) {
            self.network.key = key;
            if place + 1 == part.keys_of_lost.len() {
                part.keys_of_lost.clear();
            }
        }
    }

    /// An event of a rare kind has been handled up to this key.
    pub(super) fn note_latest(&mut self, key: u32) {
        let Network { now, latest, .. } = &mut self.network;
        let before = if latest.time == *now { latest.key } else { 0 };
        *latest = Event { time: *now, key: key.max(before) };
    }

    /// Takes in the packets that come from other parts, and the flows that begin.
    pub(super) fn enter_window(&mut self) {
        self.prepare_flows();
        if let Some(part) = &mut self.part {
            for ferry in &mut part.coming {
                self.network.import(ferry, self.hosts.sacks_mut());
            }
        }
    }

    /// Whether the present event is the edge of a part's window.
    #[inline(never)]
    pub(in crate::simulation) fn ends_window(&mut self) -> bool {
        let now = Event { time: self.network.now, key: self.network.key };
        let Some(part) = &self.part else { return false };
        let is_edge = part.edge == now;
        self.counters.events -= u64::from(is_edge);
        if now.key != START {
            self.note_latest(now.key);
        }
        is_edge
    }

    /// Lets ports send what they could have sent in the window, and takes what leaves this part.
    pub(super) fn leave_window(&mut self) {
        let Some(part) = &mut self.part else { return };
        let before = std::mem::replace(&mut self.network.now, self.until - INSTANT);
        if part.is_seen {
            self.network.catch_up_all();
        }
        self.network.export(&part.border, self.hosts.sacks_mut(), &mut part.leaving);
        self.network.now = before;
    }
}
