//! The end of a run in parts: the event at which it is over is found only if events are handled in
//! order. This is slower, so it is done only in windows in which the run may end.

use super::Parallel;
use super::flows::START;
use crate::event::Moment;
use crate::simulation::Simulation;
use spillway_engine::{Event, Time};
use spillway_topology::Node;

/// Flows that show that the run goes on: the parts and places of their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness {
    /// A receiving end that misses more than can arrive in a window.
    incomplete: Option<(usize, u32)>,
    /// A sending end whose timer is still pending at the end of a window.
    pending: Option<(usize, u32)>,
}

/// The event before, of a run in order.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    event: Option<Event>,
    /// How many losses its part had looked at before it.
    losses: u32,
    /// Whether flows may be over, or packets of other parts' flows were lost.
    has_news: bool,
    /// Whether a flow became complete for which others wait.
    releases: bool,
}

impl Parallel {
    /// Whether the run may be over before this event.
    pub(super) fn may_end_before(&mut self, whole: &Simulation, first: Time, edge: Event) -> bool {
        if whole.has_traffic {
            return false;
        }
        let span = edge.time.since(first);
        let parts = &self.parts;
        let is_incomplete = |part: &Simulation, slot| part.misses_more_than_arrives(slot, span);
        let goes_on = whole.endless > 0 || find(parts, &mut self.witness.incomplete, is_incomplete);
        let ticks = whole.samplers() > 0 || !whole.network.timers.is_empty();
        let is_pending = |part: &Simulation, slot| part.timer_of(slot) > edge.time;
        !goes_on || ticks && !find(parts, &mut self.witness.pending, is_pending)
    }

    /// Handles the events before the edge in the order in which one part would. Returns where the
    /// window ends: at the edge, or at an event of the whole before it; `None` if the run is over.
    pub(super) fn run_in_order(&mut self, whole: &mut Simulation, edge: Event) -> Option<Event> {
        self.parts.iter_mut().for_each(|part| part.enter_window());
        let mut before = Before::default();
        let mut pending = self.next_events(whole);
        loop {
            // Flows of the same moment start in several parts, by events that are alike.
            let is_alike = |event: Event| event.key == START && before.event == Some(event);
            if !earliest(&pending).is_some_and(|(event, _)| is_alike(event)) {
                if self.look_back(whole, &mut before) {
                    pending = self.next_events(whole);
                }
                if self.is_over(whole) {
                    return None;
                }
            }
            let next = earliest(&pending).filter(|(event, _)| *event < edge);
            let Some((event, place)) = next else {
                self.parts.iter_mut().for_each(|part| part.leave_window());
                return Some(edge);
            };
            before.event = Some(event);
            match self.parts.get_mut(place) {
                None if event.key == START => {
                    before.event = None;
                    self.begin_due(whole);
                    self.parts.iter_mut().for_each(|part| part.prepare_flows());
                    pending = self.next_events(whole);
                }
                None => {
                    self.set_edge(event, true);
                    self.parts.iter_mut().for_each(|part| part.leave_window());
                    return Some(event);
                }
                Some(part) => {
                    before.losses = part.network.losses;
                    part.handle_events(1);
                    pending[place] = part.network.events.next();
                    before.has_news |= part.has_news();
                    before.releases = !part.hosts.awaited.is_empty();
                    whole.hosts.awaited.append(&mut part.hosts.awaited);
                    if self.is_still_after(whole, event.key) {
                        whole.is_still = true;
                        return None;
                    }
                }
            }
        }
    }

    /// The next event of each part, and that of the whole after them.
    fn next_events(&self, whole: &Simulation) -> Vec<Option<Event>> {
        let all = self.parts.iter().map(|part| &**part).chain([whole]);
        all.map(|part| part.network.events.next()).collect()
    }

    /// Writes the rows of flows that have become over in the event before, and says whether anything
    /// was to be looked at. One part would look after
    /// its flows once if the event became over or complete by a packet that has arrived, and once
    /// for each flow that became over by a loss. If a flow is complete for which others wait, each
    /// time it schedules their start.
    fn look_back(&mut self, whole: &mut Simulation, before: &mut Before) -> bool {
        let has_news = before.releases || before.has_news;
        let Some(Event { time, key }) = before.event.filter(|_| has_news) else { return false };
        let over = self.settle(whole);
        let by_loss = |at: &&Moment| key == START || at.place != before.losses;
        let losses = over.iter().filter(by_loss).count();
        let looks = losses + usize::from(before.releases || losses < over.len());
        if !whole.hosts.awaited.is_empty() {
            (0..looks).for_each(|_| whole.network.events.push(time, START));
        }
        (before.releases, before.has_news) = (false, false);
        true
    }

    /// Whether nothing more can change a measurement.
    pub(super) fn is_over(&self, whole: &Simulation) -> bool {
        let begins = |part: &Simulation| part.part.as_ref().is_some_and(|part| part.begins());
        let goes_on = self.unfinished(whole) != 0
            || whole.has_traffic
            || !whole.hosts.awaited.is_empty()
            || self.parts.iter().any(|p| begins(p));
        !goes_on && (self.packets() == 0 || self.now(whole) >= whole.scenario.duration)
    }

    /// Flows that have begun and are not complete. Parts may have wrapped around.
    fn unfinished(&self, whole: &Simulation) -> u64 {
        let of_parts = self.parts.iter().map(|part| part.hosts.unfinished);
        of_parts.fold(whole.hosts.unfinished, u64::wrapping_add)
    }

    /// The number of packets in the network.
    fn packets(&self) -> usize {
        self.parts.iter().map(|part| part.packets_in_part()).sum()
    }

    /// As `Simulation::is_still_after`.
    pub(super) fn is_still_after(&self, whole: &Simulation, key: u32) -> bool {
        let is_stalled = self.unfinished(whole) > whole.endless;
        let Some(samples) = whole.may_be_still(key, is_stalled) else { return false };
        let events: usize = self.parts.iter().map(|part| part.network.events.len()).sum();
        let regular = whole.network.timers.len() + samples;
        self.packets() == 0 && events + whole.network.events.len() <= regular
    }
}

/// The earliest of these events, and its place.
fn earliest(pending: &[Option<Event>]) -> Option<(Event, usize)> {
    (0..).zip(pending).filter_map(|(place, event)| Some(((*event)?, place))).min()
}

/// Whether there is a witness: the known one, or another that is found.
fn find(
    parts: &[Box<Simulation>],
    known: &mut Option<(usize, u32)>,
    is_witness: impl Fn(&Simulation, u32) -> bool,
) -> bool {
    if known.is_some_and(|(part, slot)| is_witness(&parts[part], slot)) {
        return true;
    }
    *known = (0..).zip(parts).find_map(|(number, part)| {
        let slot = part.hosts.ends.slots().into_iter().find(|&slot| is_witness(part, slot))?;
        Some((number, slot))
    });
    known.is_some()
}

impl Simulation {
    /// Whether the flow at a place is received here, and misses more than can arrive within a time.
    fn misses_more_than_arrives(&self, slot: u32, span: Time) -> bool {
        /// More than a packet on its line at the beginning, and one at the end.
        const BEYOND: u64 = 1 << 17;
        let (Some(part), Some(end)) = (&self.part, self.hosts.ends.receiving_at(slot)) else {
            return false;
        };
        if self.hosts.ends.sending(slot).sender().is_none() {
            // Lost datagrams end their flow.
            return false;
        }
        let topology = &self.scenario.topology;
        let line = &topology.lines[topology.nics[end.dst as usize] as usize ^ 1];
        let most = line.rate.byte_time().bytes_in(span) + BEYOND;
        let missing = end.size.saturating_sub(end.receiver.delivered());
        part.has(Node::Host(end.dst)) && end.awaits != u64::MAX && missing > most
    }

    /// When the timer event of the flow at a place is due, if it sends from here.
    fn timer_of(&self, slot: u32) -> Time {
        let Some(end) = self.hosts.ends.sending_at(slot) else { return Time::ZERO };
        let is_alive = self.hosts.ends.slot_of(crate::event::id(end.flow.id)) == Some(slot);
        let is_here =
            self.part.as_ref().is_some_and(|part| part.has(Node::Host(end.flow.spec.src)));
        if is_alive && is_here && end.flow.timer < Time::MAX { end.flow.timer } else { Time::ZERO }
    }
}
