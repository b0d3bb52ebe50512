//! The sending half of a flow: what to send next, and when something is taken for lost.
//!
//! Loss is found and repaired by selective acks, as in RFC 6675: data is lost when more than
//! (`dupthresh` - 1) segments' worth of bytes behind it have been acknowledged. Segments start at
//! multiples of the payload's size, so what is lost is repaired segment by segment.
//!
//! What counts as in flight ("pipe"): sent, not acknowledged cumulatively or selectively, and not
//! lost unless sent again.

use super::ranges::Ranges;
use super::receiver::SackBlocks;
use super::reduction::{Reduction, ReductionRule};
use super::rtt::RttEstimate;
use super::window::{Ack, Congestion, CongestionControl, Window};
use super::{Access, Transport};
use crate::flow::FlowSpec;
use crate::telemetry::Telemetry;
use spillway_engine::Time;

/// What a sender is doing about losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the connection to open.
    Connecting,
    /// Nothing is known to be lost.
    Open,
    /// Repairing a loss found by selective acks.
    Recovery,
    /// Repairing after a timeout.
    Loss,
}

/// An ack as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct AckSegment<'a> {
    /// The first byte that the receiver misses.
    pub seq: u64,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// When the packet that it acknowledges was sent.
    pub sent_at: Time,
    /// Whether little enough waits at the sender's own line for its window to grow.
    pub may_grow: bool,
    /// Ranges that have arrived behind a gap.
    pub sack: Option<&'a SackBlocks>,
    /// What switches wrote on the packet that it acknowledges.
    pub telemetry: Option<&'a Telemetry>,
}

/// A piece of data to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first byte.
    pub seq: u64,
    /// Its bytes.
    pub payload: u32,
    /// Whether it was sent before.
    pub again: bool,
}

/// The sending half of a flow. What every ack needs takes three cache lines; what only repairs need
/// comes behind.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Sender {
    /// The first byte not acknowledged.
    una: u64,
    /// The next byte to be sent for the first time.
    nxt: u64,
    /// Bytes to be sent in all.
    size: u64,
    window: Window,
    control: Congestion,
    /// When the retransmission timer (or the probe's) runs out; [`Time::MAX`] if it is not set.
    deadline: Time,
    rtt: RttEstimate,
    sacked: Ranges,
    duplicate_acks: u32,
    phase: Phase,
    deadline_is_probe: bool,
    /// The first piece of a repair goes out whatever the window is.
    sends_at_once: bool,
    /// Whether the next new piece tells that the window was cut (RFC 3168).
    pub tells_cut: bool,
    /// Unacknowledged data before this is lost.
    loss_edge: u64,
    /// Lost data before this has been sent again.
    repaired_to: u64,
    /// Where the repair ends.
    recover: u64,
    /// Whether the repair is one while a mark's cut is under way.
    repairs_under_marks: bool,
    /// A tail-loss probe is out: its first byte.
    probe: Option<u64>,
    /// Bytes of the first window that wait for the first ack.
    withheld: u64,
    /// A cut that is on its way.
    reduction: Option<Reduction>,
    /// When a sender that paces may send again.
    paced_until: Time,
    /// Packets sent again.
    pub retransmitted_packets: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

impl Sender {
    /// At the start of a flow of `size` bytes.
    pub fn new(size: u64, transport: &Transport, access: &Access) -> Sender {
        let mut window = transport.initial_window(size, access);
        let control = transport.congestion(access, &mut window);
        let withheld = window.cwnd.saturating_sub(transport.syn_window);
        window.cwnd -= withheld;
        Sender {
            una: 0,
            nxt: 0,
            size,
            window,
            control,
            withheld,
            phase: if transport.handshake { Phase::Connecting } else { Phase::Open },
            recover: 0,
            repairs_under_marks: false,
            duplicate_acks: 0,
            sacked: Ranges::default(),
            loss_edge: 0,
            repaired_to: 0,
            sends_at_once: false,
            reduction: None,
            paced_until: Time::ZERO,
            probe: None,
            rtt: RttEstimate::default(),
            deadline: Time::MAX,
            deadline_is_probe: false,
            tells_cut: false,
            retransmitted_packets: 0,
            timeouts: 0,
        }
    }

    /// Whether everything has been acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una >= self.size
    }

    /// Whether it never ends.
    #[inline]
    pub fn is_endless(&self) -> bool {
        self.size == FlowSpec::ENDLESS
    }

    /// Whether it waits for the connection to open.
    pub fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// What it is doing about losses.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The congestion window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The smoothed round trip.
    pub fn smoothed_rtt(&self) -> Time {
        self.rtt.smoothed()
    }

    /// When the timer runs out; [`Time::MAX`] if it is not set.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Bytes not yet sent for the first time and not acknowledged from `seq` on.
    #[inline]
    pub fn remaining_from(&self, seq: u64) -> u64 {
        self.size - seq
    }

    /// Bytes in flight.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        let outstanding = self.nxt - self.una;
        if self.phase == Phase::Open && self.sacked.is_empty() {
            return outstanding;
        }
        let lost = self.sacked.missing_between(self.repaired_to.max(self.una), self.loss_edge);
        outstanding - self.sacked.bytes() - lost
    }

    /// The request for a connection goes out (again).
    pub fn on_connect(&mut self, now: Time, transport: &Transport) {
        self.deadline = now + self.rtt.timeout(&transport.rto);
    }

    /// The connection is open; `sent_at` is when its request was sent.
    pub fn on_connected(&mut self, now: Time, sent_at: Time) {
        if self.phase == Phase::Connecting {
            self.phase = Phase::Open;
            self.rtt.sample(now - sent_at);
            self.rtt.reset_backoff();
            self.deadline = Time::MAX;
        }
    }

    /// What to send now, if anything. Ask until there is nothing.
    #[inline]
    pub fn next_piece(&mut self, now: Time, transport: &Transport) -> Option<Piece> {
        let piece = match self.phase {
            Phase::Connecting => None,
            Phase::Open => self.new_piece(transport),
            Phase::Recovery | Phase::Loss => match self.lost_piece(transport) {
                None => self.new_piece(transport),
                Some(piece) => piece,
            },
        }?;
        if self.deadline == Time::MAX {
            self.set_deadline(now, transport);
        }
        Some(piece)
    }

    /// The same for a sender that paces.
    pub fn next_paced_piece(&mut self, now: Time, transport: &Transport) -> Option<Piece> {
        if now < self.paced_until {
            return None;
        }
        let piece = self.next_piece(now, transport)?;
        let size = u64::from(piece.payload + transport.header);
        self.paced_until = now + Time::from_ps(size * u64::from(self.window.pace));
        Some(piece)
    }

    /// When to ask again, if only its pace keeps the sender from sending.
    pub fn waits_until(&self, now: Time) -> Option<Time> {
        let has_more = self.nxt < self.size || self.phase != Phase::Open;
        let may = self.in_flight() < self.window.cwnd || self.sends_at_once;
        (now < self.paced_until && has_more && may).then_some(self.paced_until)
    }

    /// An ack has come.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &AckSegment, transport: &Transport) {
        let acked = ack.seq.saturating_sub(self.una);
        let is_proportional = transport.reduction != ReductionRule::AtOnce;
        let arrived_before = if is_proportional { self.arrived() } else { 0 };
        if acked > 0 {
            self.una = ack.seq;
            self.duplicate_acks = 0;
            if self.withheld > 0 {
                self.window.cwnd += std::mem::take(&mut self.withheld);
            }
            self.rtt.sample(now - ack.sent_at);
            self.rtt.reset_backoff();
            if !self.sacked.is_empty() {
                self.sacked.remove_below(self.una);
            }
        } else if self.nxt > self.una && ack.seq == self.una {
            self.duplicate_acks += 1;
        }
        if let Some(blocks) = ack.sack {
            self.take_sack(blocks, transport);
        }
        let before = (self.window.cwnd, self.window.ssthresh);
        let told = Ack {
            now,
            acked,
            rtt: now - ack.sent_at,
            ece: ack.ece,
            una: self.una,
            nxt: self.sent_to(),
            may_grow: ack.may_grow,
            in_recovery: self.phase == Phase::Recovery,
            telemetry: ack.telemetry,
        };
        self.control.on_ack(&mut self.window, &told);
        let is_cut = self.window.is_cut_from(before);
        if ack.ece && is_cut {
            self.tells_cut = true;
        }
        self.advance_phase(&told, transport);
        if is_proportional {
            let repairs = !told.in_recovery && self.phase == Phase::Recovery;
            if is_cut || (repairs && self.window.is_cut_from((u64::MAX, before.1))) {
                self.begin_reduction(transport.reduction);
            }
            self.reduce(arrived_before);
        }
        if self.una >= self.nxt {
            self.deadline = Time::MAX;
        } else if acked > 0 || (self.deadline_is_probe && self.phase != Phase::Open) {
            // A repair that begins takes the place of a probe (RFC 8985, section 7.2).
            self.set_deadline(now, transport);
        }
    }

    /// The timer has run out. True for a timeout, after which pieces may be sent again; a piece for
    /// a tail-loss probe is returned instead.
    pub fn on_deadline(&mut self, now: Time, transport: &Transport) -> Option<Piece> {
        if self.deadline_is_probe {
            return Some(self.send_probe(now, transport));
        }
        self.timeouts += 1;
        self.rtt.back_off();
        self.deadline = now + self.rtt.timeout(&transport.rto);
        if self.phase == Phase::Connecting {
            return None;
        }
        if self.phase != Phase::Loss {
            // A segment that is lost again does not cut again (RFC 5681, section 3.1).
            let in_flight = self.in_flight();
            self.control.on_timeout(&mut self.window, in_flight);
            self.tells_cut |= transport.cut_once;
        }
        self.window.cwnd = self.window.mss;
        self.window.credit = 0;
        // What a mark's cut was for is no longer in flight.
        self.window.cut_until = 0;
        self.withheld = 0;
        self.reduction = None;
        self.phase = Phase::Loss;
        self.recover = self.nxt;
        self.loss_edge = self.nxt;
        self.repaired_to = self.una;
        self.duplicate_acks = 0;
        None
    }

    /// The byte behind all that is in flight: after a timeout only what has been sent again is.
    #[inline]
    fn sent_to(&self) -> u64 {
        match self.phase {
            Phase::Loss => self.repaired_in_loss(),
            Phase::Connecting | Phase::Open | Phase::Recovery => self.nxt,
        }
    }

    #[cold]
    fn repaired_in_loss(&self) -> u64 {
        let (next, _) = self.sacked.gap_from(self.repaired_to.max(self.una));
        if next < self.loss_edge { next } else { self.nxt }
    }

    /// Bytes that the receiver is known to have.
    fn arrived(&self) -> u64 {
        self.una + self.sacked.bytes()
    }

    /// The window was cut: it is reached by and by.
    #[cold]
    fn begin_reduction(&mut self, rule: ReductionRule) {
        let flight = self.nxt - self.una;
        self.reduction = Some(Reduction::new(rule, flight, self.window.cwnd, self.nxt));
    }

    /// Moves on the reduction that is on its way.
    #[cold]
    fn reduce(&mut self, arrived_before: u64) {
        let newly = self.arrived() - arrived_before;
        let (pipe, una, mss) = (self.in_flight(), self.una, self.window.mss);
        match &mut self.reduction {
            Some(reduction) if reduction.is_over(una) => self.reduction = None,
            Some(reduction) => reduction.on_ack(newly, pipe, mss),
            None => {}
        }
    }

    /// Whether so many bytes more may be in flight; if so they are taken to be.
    #[inline]
    fn may_send(&mut self, bytes: u64, transport: &Transport) -> bool {
        if transport.reduction != ReductionRule::AtOnce
            && let Some(reduction) = &mut self.reduction
        {
            return reduction.take(bytes);
        }
        self.in_flight() + bytes <= self.window.cwnd
    }

    /// New data, if the window allows it.
    #[inline]
    fn new_piece(&mut self, transport: &Transport) -> Option<Piece> {
        let payload = self.window.mss.min(self.size - self.nxt);
        if payload == 0 || !self.may_send(payload, transport) {
            return None;
        }
        let piece = Piece { seq: self.nxt, payload: payload as u32, again: false };
        self.nxt += payload;
        Some(piece)
    }

    /// The next lost piece: `None` if there is none, `Some(None)` if it has to wait.
    fn lost_piece(&mut self, transport: &Transport) -> Option<Option<Piece>> {
        let (seq, range_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        if seq >= self.loss_edge {
            return None;
        }
        let mss = self.window.mss;
        let segment_ends = (seq / mss + 1) * mss;
        let end = segment_ends.min(range_ends.unwrap_or(self.nxt)).min(self.nxt);
        let payload = end - seq;
        if !self.sends_at_once && !self.may_send(payload, transport) {
            return Some(None);
        }
        self.sends_at_once = false;
        self.repaired_to = end;
        self.retransmitted_packets += 1;
        Some(Some(Piece { seq, payload: payload as u32, again: true }))
    }

    #[cold]
    fn take_sack(&mut self, blocks: &SackBlocks, transport: &Transport) {
        for &(start, end) in blocks {
            if end > self.una {
                self.sacked.insert((start.max(self.una), end));
            }
        }
        // Lost is what lies before `dupthresh` ranges or the bytes of as many segments, less one.
        let enough = u64::from(transport.dupthresh - 1) * self.window.mss;
        let (mut bytes, mut ranges) = (0, 0);
        for &(start, end) in self.sacked.as_slice().iter().rev() {
            bytes += end - start;
            ranges += 1;
            if bytes > enough || ranges >= transport.dupthresh {
                self.loss_edge = self.loss_edge.max(start);
                break;
            }
        }
        if let Some(probe) = self.probe {
            // The probe came through and what was sent before it did not.
            if self.sacked.as_slice().last().is_some_and(|&(_, end)| end > probe) {
                self.loss_edge = self.loss_edge.max(probe);
            }
        }
    }

    #[inline]
    fn advance_phase(&mut self, ack: &Ack, transport: &Transport) {
        match self.phase {
            Phase::Open => {
                let lost = !self.sacked.is_empty() && self.loss_edge > self.una;
                if lost || self.duplicate_acks >= transport.dupthresh {
                    self.enter_recovery(transport);
                }
            }
            Phase::Recovery if self.una >= self.recover => {
                self.phase = Phase::Open;
                self.window.cwnd = self.window.ssthresh;
            }
            Phase::Recovery if transport.partial_acks_tell => {
                self.repairs_under_marks |= ack.ece;
                if ack.acked > 0 && !self.repairs_under_marks {
                    self.lose_next_segment();
                }
            }
            Phase::Loss if self.una >= self.recover => self.phase = Phase::Open,
            Phase::Recovery | Phase::Loss | Phase::Connecting => {}
        }
        if transport.tail_loss_probe && self.probe.is_some_and(|probe| self.una > probe) {
            self.probe = None;
        }
    }

    /// An ack has come in the middle of a repair: what it misses was sent before the repair began.
    #[cold]
    fn lose_next_segment(&mut self) {
        self.sends_at_once |= self.repaired_to <= self.una;
        let next = (self.una + self.window.mss).min(self.recover);
        self.loss_edge = self.loss_edge.max(next);
    }

    #[cold]
    fn enter_recovery(&mut self, transport: &Transport) {
        // Before a repair only marks cut.
        self.repairs_under_marks = self.reduction.is_some();
        if !transport.cut_once || self.una >= self.window.cut_until {
            let in_flight = self.nxt - self.una;
            self.control.on_loss(&mut self.window, in_flight);
            self.window.cwnd = self.window.ssthresh;
            self.window.credit = 0;
            self.tells_cut |= transport.cut_once;
        }
        self.phase = Phase::Recovery;
        self.recover = self.nxt;
        self.repaired_to = self.una;
        self.loss_edge = self.loss_edge.max((self.una + self.window.mss).min(self.nxt));
        self.sends_at_once = true;
    }

    #[inline]
    fn set_deadline(&mut self, now: Time, transport: &Transport) {
        self.deadline = now + self.rtt.timeout(&transport.rto);
        self.deadline_is_probe = false;
        if transport.tail_loss_probe && self.probe.is_none() && self.phase == Phase::Open {
            // RFC 8985, section 7.2.
            let smoothed = self.rtt.smoothed();
            if smoothed > Time::ZERO && now + smoothed * 2 < self.deadline {
                self.deadline = now + smoothed * 2;
                self.deadline_is_probe = true;
            }
        }
    }

    /// New data if there is any, else the last segment again (RFC 8985, section 7.3).
    fn send_probe(&mut self, now: Time, transport: &Transport) -> Piece {
        self.deadline_is_probe = false;
        self.deadline = now + self.rtt.timeout(&transport.rto);
        let mss = self.window.mss;
        let again = self.nxt >= self.size;
        let seq = if again { (self.nxt - 1) / mss * mss } else { self.nxt };
        let end = (seq + mss).min(self.size);
        self.nxt = self.nxt.max(end);
        self.retransmitted_packets += u32::from(again);
        self.probe = Some(seq);
        Piece { seq, payload: (end - seq) as u32, again }
    }
}

#[cfg(test)]
mod tests;
