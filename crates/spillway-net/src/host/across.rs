//! Flows whose ends are in different parts of a cut network.
//!
//! Each part has both ends, of which only its own lives. A flow is over when the packets of both
//! living ends add up to none, which only shows when both parts are looked at. Also, any flow may
//! lose its last packet elsewhere, which its part learns after the window.

use super::Hosts;
use super::ends::ReceivingEnd;
use crate::event::Moment;
use spillway_switch::SideTable;
use spillway_transport::flow::FlowSpec;
use spillway_transport::receiver::SackBlocks;

/// The number of packets of an end that lives in another part.
const AWAY: i32 = i32::MIN / 2;

/// What one part notes of the flows whose other ends live elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct Across {
    /// When the number of packets of the end at a place became smaller last.
    changed: Vec<Moment>,
    /// Places of sending ends that have everything acknowledged, or sent.
    done: Vec<u32>,
    /// Whether anything was noted since `done` was taken last.
    is_new: bool,
}

impl Across {
    fn note(&mut self, slot: u32, at: Moment) {
        let place = slot as usize;
        if place >= self.changed.len() {
            self.changed.resize(place + 1, Moment::BEGIN);
        }
        self.changed[place] = self.changed[place].max(at);
    }
}

impl Hosts {
    /// Makes these the hosts of one part of a cut network.
    pub fn become_part(&mut self) {
        self.across = Some(Box::default());
    }

    /// The ends at these places, here and in another part, become those of one flow. The sending
    /// end lives here if `sends`, else the receiving end.
    pub fn divide(&mut self, slot: u32, peer: u32, sends: bool) {
        if sends {
            self.ends.sending_mut(slot).flow.peer = peer;
            self.ends.receiving_mut(slot).packets = AWAY;
        } else {
            self.ends.sending_mut(slot).flow.packets = AWAY;
            self.ends.receiving_mut(slot).peer = peer;
        }
    }

    /// A packet of a flow is gone, of which other packets or an end may be elsewhere.
    #[cold]
    pub(super) fn note_gone(&mut self, slot: u32, at: Moment) {
        let sends = self.receives_elsewhere(slot);
        let is_divided = sends || self.sends_from_elsewhere(slot);
        if let Some(across) = &mut self.across {
            across.note(slot, at);
            across.is_new |= is_divided;
            if sends && self.ends.sending(slot).is_done() {
                across.done.push(slot);
            }
        }
    }

    /// A flow without acks has sent everything.
    #[inline]
    pub(super) fn note_all_sent(&mut self, slot: u32) {
        if self.receives_elsewhere(slot)
            && let Some(across) = &mut self.across
        {
            across.done.push(slot);
        }
    }

    /// Whether a packet of a divided flow was gone since this was asked last.
    pub fn may_be_done(&self) -> bool {
        self.across.as_ref().is_some_and(|across| across.is_new)
    }

    /// Takes the places of divided flows that may be over.
    pub fn take_done(&mut self, into: &mut Vec<u32>) {
        if let Some(across) = &mut self.across {
            across.is_new = false;
            into.append(&mut across.done);
        }
    }

    /// Whether a flow's other end lives in another part.
    pub fn is_divided(&self, slot: u32) -> bool {
        self.receives_elsewhere(slot) || self.sends_from_elsewhere(slot)
    }

    fn receives_elsewhere(&self, slot: u32) -> bool {
        self.ends.receiving(slot).packets < AWAY / 2
    }

    fn sends_from_elsewhere(&self, slot: u32) -> bool {
        self.ends.sending(slot).flow.packets < AWAY / 2
    }

    /// When the last packet of a flow was gone here.
    pub fn changed_at(&self, slot: u32) -> Moment {
        self.across
            .as_ref()
            .and_then(|across| across.changed.get(slot as usize).copied())
            .unwrap_or(Moment::BEGIN)
    }

    /// Takes over what a part has counted. In a part, completed flows may outnumber those that have
    /// begun there; then `unfinished` wraps around.
    pub fn add_up(&mut self, part: &mut Hosts) {
        self.unfinished = self.unfinished.wrapping_add(std::mem::take(&mut part.unfinished));
        self.incomplete += std::mem::take(&mut part.incomplete);
        let (sum, more) = (&mut self.tally, &mut part.tally);
        sum.completed += std::mem::take(&mut more.completed);
        sum.retransmitted += std::mem::take(&mut more.retransmitted);
        sum.timeouts += std::mem::take(&mut more.timeouts);
        let probes = std::mem::take(&mut more.probes);
        sum.probes.iter_mut().zip(probes).for_each(|(sum, more)| *sum += more);
        let delivered = sum.delivered_bytes.iter_mut().zip(&mut more.delivered_bytes);
        delivered.for_each(|(sum, more)| *sum += std::mem::take(more));
    }

    /// The ranges of selective acks, by packet.
    pub fn sacks_mut(&mut self) -> &mut SideTable<SackBlocks> {
        &mut self.sacks
    }

    /// The place of the ends of the idle connection that a flow would take.
    pub fn idle_connection(&self, spec: &FlowSpec) -> Option<u32> {
        self.connections.next(spec)
    }

    /// Takes over the receiving end of a divided flow, which has lived in another part.
    pub fn reunite(&mut self, slot: u32, other: &Hosts) {
        let from = self.ends.sending(slot).flow.peer;
        let receiving = other.ends.receiving(from).clone();
        *self.ends.receiving_mut(slot) = ReceivingEnd { peer: slot, ..receiving };
        self.ends.sending_mut(slot).flow.peer = slot;
        self.ends.take_discarded(slot, other.ends.discarded(from));
    }
}
