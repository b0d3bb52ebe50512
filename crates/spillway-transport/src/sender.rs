//! The sending half of a flow: what to send next, and when. `recovery` says how it reacts to
//! losses, and its [`Scoreboard`] keeps what was sent and what has become of it.

mod as_ns3;
mod asking;
mod bursts;
mod by_order;
mod by_rack;
mod each;
mod local;
mod next_flow;
mod own;
mod probe;
mod protected;
mod recovery;

use recovery::AtOnce;
pub use recovery::Phase;

use super::Congestion;
use super::bursts::Past;
use super::protection::Tlt;
use super::ranges::Range;
use super::receiver::SackBlocks;
use super::recovery::Recovery;
use super::recovery::reduction::{Reduction, ReductionRule, Told};
use super::recovery::scoreboard::Scoreboard;
use super::rtt::RttEstimate;
use super::window::{Ack, CongestionControl, Window};
use super::{Access, ClosedLoop};
use crate::flow::FlowSpec;
use crate::telemetry::Telemetry;
use spillway_engine::Time;

/// An ack as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct AckSegment<'a> {
    /// The first byte that the receiver is missing.
    pub seq: u64,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// When the packet that it acknowledges was sent.
    pub sent_at: Time,
    /// Whether the backlog of the sender's own line is small enough for its window to grow.
    pub may_grow: bool,
    /// Ranges that have arrived behind a gap.
    pub sack: Option<&'a SackBlocks>,
    /// What switches have written on the packet that it acknowledges.
    pub telemetry: Option<&'a Telemetry>,
    /// The number of the packet that it acknowledges, if packets are numbered.
    pub number: Option<u64>,
}

/// A segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first byte.
    pub seq: u64,
    /// Its payload in bytes.
    pub payload: u32,
    /// Whether it was sent before.
    pub again: bool,
}

impl Piece {
    /// Its bytes.
    pub fn range(&self) -> Range {
        (self.seq, self.seq + u64::from(self.payload))
    }
}

/// What a sender's deadline is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The retransmission timeout.
    Retransmission,
    /// A probe.
    Probe,
    /// The end of the reordering window: segments in doubt are then lost.
    Reordering,
}

/// The sending half of a flow. The fields that every ack needs take three cache lines; those that
/// only recovery needs come after them.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Sender {
    board: Scoreboard,
    /// The flow's size in bytes.
    size: u64,
    window: Window,
    control: Congestion,
    /// When the timer expires; [`Time::MAX`] if none is set.
    deadline: Time,
    rtt: RttEstimate,
    phase: Phase,
    timer: Timer,
    /// What is sent next even if the window does not allow it: the first retransmission of a
    /// recovery.
    at_once: AtOnce,
    /// As in ns-3: whether a partial ack of this recovery has restarted the timer already.
    has_moved_timer: bool,
    keeps_timer: bool,
    /// Whether the next segment announces that the window was cut.
    tells_cut: bool,
    /// Where the recovery ends.
    recover: u64,
    /// Whether this recovery began during a reduction for a mark.
    repairs_under_marks: bool,
    /// How the sender finds and repairs losses.
    recovery: Recovery,
    /// Acks of nothing new since the last ack of something new.
    duplicate_acks: u32,
    /// The first byte of a tail-loss probe that is under way.
    probe: Option<u64>,
    /// Bytes of the initial window that may not be sent before the first ack.
    withheld: u64,
    /// The reduction to a cut window that is under way.
    reduction: Option<Reduction>,
    /// During a recovery: the byte behind what was sent last.
    sent_last: u64,
    /// When a paced sender may send again, at the pace that held when its last packet left.
    paced_until: Time,
    /// When that last packet left, or will leave the NIC, and its bytes on the wire.
    paced_from: Time,
    paced_bytes: u32,
    /// The byte behind the last segment for which the sender asked for an ack, if it asks for acks.
    asked_to: u64,
    /// The sender's record of its bursts.
    past: Past,
    /// Which packets are important, if some are.
    tlt: Option<Box<Tlt>>,
    /// Segments sent again.
    pub retransmitted_packets: u32,
    /// How many of them were sent again after a timeout, and not because a loss was detected.
    pub timeout_repairs: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Tail-loss probes.
    pub probes: u32,
    /// How many of them were sent in place of a timeout that was due.
    pub probes_for_timeouts: u32,
}

impl Sender {
    /// The sender of a flow of `size` bytes, in segments of `mss`, that starts.
    pub fn new(size: u64, mss: u32, transport: &ClosedLoop, access: &Access) -> Sender {
        let mut window = transport.initial_window(size, mss, access);
        let control = transport.congestion(access, &mut window);
        let withheld = window.cwnd.saturating_sub(transport.syn_window);
        window.cwnd -= withheld;
        Sender {
            board: Scoreboard::new(window.mss),
            size,
            window,
            control,
            withheld,
            phase: if transport.handshake { Phase::Connecting } else { Phase::first(transport) },
            recover: 0,
            repairs_under_marks: false,
            at_once: AtOnce::Nothing,
            has_moved_timer: false,
            keeps_timer: false,
            reduction: None,
            sent_last: 0,
            recovery: transport.start_recovery(window.mss, access),
            paced_until: Time::ZERO,
            paced_from: Time::ZERO,
            paced_bytes: 0,
            asked_to: 0,
            past: Past::default(),
            tlt: transport.protects.then(Box::default),
            duplicate_acks: 0,
            probe: None,
            rtt: RttEstimate::default(),
            deadline: Time::MAX,
            timer: Timer::Retransmission,
            tells_cut: false,
            retransmitted_packets: 0,
            timeout_repairs: 0,
            timeouts: 0,
            probes: 0,
            probes_for_timeouts: 0,
        }
    }

    /// Takes everything to be acknowledged, for tests.
    #[cfg(test)]
    pub fn acknowledge_all(&mut self) {
        self.board.una = self.size;
    }

    /// Whether everything has been acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.board.una >= self.size
    }

    /// Whether the next packet announces a cut of the window (RFC 3168). A cut is announced by one
    /// packet only.
    #[inline]
    pub fn take_cut(&mut self) -> bool {
        std::mem::take(&mut self.tells_cut)
    }

    /// Timeouts since new data was last acknowledged.
    pub fn timeouts_in_a_row(&self) -> u32 {
        self.own().map_or(self.rtt.backoff(), |own| own.course.in_a_row)
    }

    /// The first byte that was never sent.
    #[inline]
    pub fn never_sent(&self) -> u64 {
        self.board.nxt
    }

    /// The first byte that is not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.board.una
    }

    /// Whether the flow never ends.
    #[inline]
    pub fn is_endless(&self) -> bool {
        self.size == FlowSpec::ENDLESS
    }

    /// Whether it is waiting for the connection to open.
    pub fn is_connecting(&self) -> bool {
        self.phase == Phase::Connecting
    }

    /// How it is reacting to losses.
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

    /// When the timer expires; [`Time::MAX`] if none is set.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Bytes in flight.
    #[inline(always)]
    pub fn in_flight(&self) -> u64 {
        if self.phase == Phase::Open && !self.board.has_gap() {
            return self.board.nxt - self.board.una;
        }
        self.in_flight_behind_gaps()
    }

    #[inline(never)]
    fn in_flight_behind_gaps(&self) -> u64 {
        match &self.recovery {
            Recovery::Sack | Recovery::DuplicateAcks | Recovery::Ns3 => self.board.pipe(),
            Recovery::TimeoutOnly => self.sent_to() - self.board.una,
            Recovery::Rack(by_rack) => self.board.missing() - by_rack.rack.lost_bytes(),
            Recovery::PerPriority(by_order) => self.board.missing() - by_order.orders.lost_bytes(),
            Recovery::Own(own) => own.rules.in_flight(&self.board, &own.course),
        }
    }

    /// The sender sends the request for a connection, perhaps once more.
    pub fn on_connect(&mut self, now: Time, transport: &ClosedLoop) {
        self.deadline = now + self.rtt.timeout(&transport.rto);
    }

    /// The connection is open. Its request was sent at `sent_at`.
    pub fn on_connected(&mut self, now: Time, sent_at: Time) {
        if self.phase == Phase::Connecting {
            self.phase = Phase::Open;
            self.rtt.sample(now - sent_at);
            self.rtt.reset_backoff();
            self.deadline = Time::MAX;
        }
    }

    /// The segment to be sent now, if any. Callers repeat the call until it returns `None`.
    #[inline]
    pub fn next_piece(&mut self, now: Time, transport: &ClosedLoop) -> Option<Piece> {
        let piece = match self.phase {
            Phase::Connecting => None,
            Phase::Open => self.new_piece(transport),
            Phase::Recovery | Phase::Loss | Phase::Reduced | Phase::Own => {
                self.repair_piece(transport)
            }
        }?;
        if self.deadline == Time::MAX || matches!(transport.recovery, Recovery::Rack(_)) {
            self.note_sent(now, &piece, transport);
        }
        Some(piece)
    }

    /// A segment is sent. Starts the timer if none runs, and notes the send time if send times are
    /// kept.
    #[inline(never)]
    fn note_sent(&mut self, now: Time, piece: &Piece, transport: &ClosedLoop) {
        if self.deadline == Time::MAX {
            self.set_deadline(now, transport);
        }
        self.keep_time_of(now, piece);
    }

    /// As `next_piece`, for a paced sender. The NIC begins to send this packet after `wait`, and
    /// the pace counts from then.
    pub fn next_paced_piece(
        &mut self,
        now: Time,
        transport: &ClosedLoop,
        wait: Time,
    ) -> Option<Piece> {
        if now < self.due() {
            let waits = transport.repairs_wait || self.at_once == AtOnce::Nothing;
            // A segment that does not wait leaves the pace as it is.
            return if waits { None } else { self.next_piece(now, transport) };
        }
        let piece = self.next_piece(now, transport)?;
        let size = piece.payload + transport.paced_header;
        (self.paced_from, self.paced_bytes) = (now + wait, size);
        let gap = self.control.on_send(&mut self.window, now, size.into());
        self.paced_until = self.paced_from + self.window.gap(gap);
        Some(piece)
    }

    /// The NIC has begun to send the last packet this much later, so the next packet is due later
    /// too.
    pub fn delay_pace(&mut self, by: Time) {
        self.paced_until = self.paced_until.saturating_add(by);
    }

    /// A notification from the receiver says that a packet was marked.
    #[cold]
    pub fn on_notification(&mut self, now: Time) {
        self.control.on_notification(&mut self.window, now);
    }

    /// When the sender may send again, if only the pace keeps it from sending now.
    pub fn waits_until(&mut self, now: Time) -> Option<Time> {
        let may = match self.phase {
            Phase::Own => self.has_piece_by_own(),
            _ => {
                let has_more = self.board.nxt < self.size || self.phase != Phase::Open;
                has_more && (self.in_flight() < self.window.cwnd || self.at_once != AtOnce::Nothing)
            }
        };
        let due = self.due();
        (now < due && may).then_some(due)
    }

    /// When the pace lets the sender send again. With a window of a fraction of a segment, one
    /// segment is sent in several round trips: with half a segment, in two.
    fn due(&self) -> Time {
        let Window { cwnd, mss, moves_next, .. } = self.window;
        let paced_until = if moves_next {
            let gap = self.window.time_of(self.paced_bytes.into());
            self.paced_from + self.window.gap(gap)
        } else {
            self.paced_until
        };
        if cwnd >= mss || self.at_once != AtOnce::Nothing {
            return paced_until;
        }
        let round_trip = u128::from(self.rtt.smoothed().ps());
        let wait = round_trip * u128::from(mss) / u128::from(cwnd.max(1));
        paced_until.saturating_add(Time::from_ps(wait.min(u128::from(u64::MAX)) as u64))
    }

    /// An ack has arrived.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &AckSegment, transport: &ClosedLoop) {
        let moves_on = ack.seq > self.board.una && ack.sack.is_none() && !self.board.has_gap();
        let in_order = moves_on && self.phase == Phase::Open;
        if in_order && transport.losses.are_plain {
            self.take_ack::<true>(now, ack, transport);
        } else if in_order && ack.number.is_some() {
            self.take_numbered_ack(now, ack, transport);
        } else {
            self.take_any_ack(now, ack, transport);
        }
    }

    #[inline(never)]
    fn take_any_ack(&mut self, now: Time, ack: &AckSegment, transport: &ClosedLoop) {
        if self.phase == Phase::Own {
            return self.take_ack_by_own(now, ack);
        }
        self.take_ack::<false>(now, ack, transport);
    }

    /// As `on_ack`, for a sender that numbers its packets, if nothing is known to be missing.
    #[inline(never)]
    fn take_numbered_ack(&mut self, now: Time, ack: &AckSegment, transport: &ClosedLoop) {
        let is_plain = transport.losses.reduction == ReductionRule::AtOnce;
        if is_plain && self.take_next_number(ack) {
            self.take_ack::<true>(now, ack, transport);
        } else {
            self.take_any_ack(now, ack, transport);
        }
    }

    /// Handles an ack. With `IN_ORDER` it acknowledges the next packets of a flow that misses
    /// nothing, which is the usual case: most conditions are then decided at compile time.
    #[inline(always)]
    fn take_ack<const IN_ORDER: bool>(
        &mut self,
        now: Time,
        ack: &AckSegment,
        transport: &ClosedLoop,
    ) {
        let recovery = if IN_ORDER { &Recovery::Sack } else { &transport.recovery };
        let is_proportional = !IN_ORDER && transport.losses.reduction != ReductionRule::AtOnce;
        let acked = ack.seq.saturating_sub(self.board.una);
        let arrived_before = if IN_ORDER { 0 } else { self.board.arrived() };
        let lost_before = if IN_ORDER { 0 } else { self.board.lost_to() };
        match recovery {
            Recovery::Rack(_) => self.note_times(now, ack),
            Recovery::PerPriority(_) => self.note_order(ack),
            _ => {}
        }
        if IN_ORDER || acked > 0 {
            self.board.acknowledge(ack.seq);
            if self.withheld > 0 {
                self.window.cwnd += std::mem::take(&mut self.withheld);
            }
            self.rtt.sample(now - ack.sent_at);
            self.rtt.reset_backoff();
        }
        if !IN_ORDER && let Some(blocks) = ack.sack {
            self.take_sack(blocks, transport);
        }
        if matches!(recovery, Recovery::DuplicateAcks) {
            self.count_duplicate_acks(acked, transport);
        }
        let before = (self.window.cwnd, self.window.ssthresh);
        let cut_until = self.window.cut_until;
        let as_ns3 = recovery.is_ns3();
        let told = Ack {
            now,
            acked,
            delivered: if IN_ORDER { acked } else { self.board.arrived() - arrived_before },
            rtt: now - ack.sent_at,
            ece: ack.ece,
            una: self.board.una,
            nxt: if IN_ORDER || as_ns3 { self.board.nxt } else { self.sent_to() },
            may_grow: ack.may_grow,
            in_recovery: !IN_ORDER && self.phase == Phase::Recovery && !(as_ns3 && ack.ece),
            as_ns3,
            telemetry: ack.telemetry,
        };
        self.control.on_ack(&mut self.window, &told);
        // If the window is the least one already, a cut for a mark leaves `cwnd` and `ssthresh` as
        // they are. Only `cut_until` shows such a cut. The receiver must be told of it
        // nevertheless, or it would echo the mark for ever. With ns-3's rules this cut also begins
        // a reduction, which lets a segment go.
        let is_marked = ack.ece && self.window.cut_until != cut_until;
        let is_cut = self.window.is_cut_from(before) || (as_ns3 && is_marked);
        if is_marked || (ack.ece && is_cut) {
            self.tells_cut = true;
        }
        let mut loses = false;
        match recovery {
            Recovery::Sack if IN_ORDER => {}
            Recovery::Sack | Recovery::DuplicateAcks | Recovery::TimeoutOnly | Recovery::Own(_) => {
                self.advance_phase(&told, transport);
            }
            Recovery::PerPriority(_) => loses = self.advance_by_order(told.delivered, transport),
            Recovery::Rack(_) => {
                loses = self.advance_by_rack((now, told.delivered), ack, transport);
            }
            Recovery::Ns3 => self.advance_as_ns3(&told, cut_until),
        }
        if is_proportional {
            let repairs = !told.in_recovery && self.phase == Phase::Recovery;
            if is_cut || (repairs && self.window.is_cut_from((u64::MAX, before.1))) {
                self.begin_reduction(transport.losses.reduction, told.delivered, ack.ece);
            }
            self.reduce(Told {
                delivered: told.delivered,
                moves_on: acked > 0,
                loses: loses || self.board.lost_to() > lost_before,
                repaired: acked > 0 && self.phase == Phase::Recovery,
            });
        }
        if self.board.una >= self.board.nxt && !(as_ns3 && self.is_stuck_as_ns3()) {
            self.deadline = Time::MAX;
        } else if IN_ORDER {
            self.set_retransmission_deadline(now, transport);
        } else if matches!(recovery, Recovery::Rack(_)) {
            self.set_timers(now, acked > 0, transport);
        } else if (acked > 0 && !self.keeps_timer)
            || (self.timer != Timer::Retransmission && self.phase != Phase::Open)
        {
            // When a recovery begins, the retransmission timer replaces a probe's timer (RFC 8985,
            // section 7.2).
            self.set_deadline(now, transport);
        }
    }

    /// The timer has expired. Returns the segment of a tail-loss probe, if one is due. After a
    /// timeout it returns `None`, and segments may be sent again.
    pub fn on_deadline(&mut self, now: Time, transport: &ClosedLoop) -> Option<Piece> {
        if self.phase == Phase::Own {
            return self.on_timeout_by_own(now);
        }
        let as_ns3 = transport.recovery.is_ns3();
        if self.has_nothing_out() && !(as_ns3 && self.is_stuck_as_ns3()) {
            self.try_again(now, transport);
            return None;
        }
        match self.timer {
            Timer::Retransmission => {}
            Timer::Probe => return Some(self.send_probe(now, transport)),
            Timer::Reordering => {
                self.on_reordering_timer(now, transport);
                return None;
            }
        }
        self.timeouts += 1;
        self.rtt.back_off();
        self.restart_timer(now, transport);
        self.protect_next();
        if self.phase == Phase::Connecting {
            return None;
        }
        self.enter_loss(now, transport);
        None
    }

    /// The window was cut, for a mark or a loss. Begins a reduction, by which the sender comes down
    /// to the new window. `newly` is the number of bytes that the ack delivers that causes the cut.
    /// In ns-3 a reduction for a mark goes on until something sent after the cut is acknowledged.
    #[cold]
    fn begin_reduction(&mut self, rule: ReductionRule, newly: u64, for_mark: bool) {
        let (una, nxt) = (self.board.una, self.board.nxt);
        let until = nxt + u64::from(for_mark && rule == ReductionRule::Ns3);
        let flight = match rule {
            ReductionRule::Proportional => self.board.missing() + newly,
            _ => nxt - una,
        };
        self.reduction = Some(Reduction::new(rule, flight, self.window.cwnd, until));
    }

    /// An ack advances the reduction that is under way, or ends it.
    #[cold]
    fn reduce(&mut self, told: Told) {
        let (pipe, una, mss) = (self.in_flight(), self.board.una, self.window.mss);
        match &mut self.reduction {
            Some(reduction) if reduction.is_over(una) => self.reduction = None,
            Some(reduction) => reduction.on_ack(told, pipe, mss),
            None => {}
        }
    }

    /// Whether this many more bytes may be in flight. If so, a reduction counts them as sent.
    #[inline]
    fn may_send(&mut self, bytes: u64, transport: &ClosedLoop) -> bool {
        if transport.losses.reduction != ReductionRule::AtOnce
            && let Some(reduction) = &mut self.reduction
        {
            return reduction.take(bytes)
                || self.may_send_one(transport)
                || self.is_idle(transport);
        }
        self.in_flight() + bytes <= self.window.cwnd || self.may_send_one(transport)
    }

    /// Whether a segment may be sent although the window is smaller than a segment. It may if
    /// nothing is in flight. With ns-3's rules it may not: there, only the timer lets it go.
    #[inline]
    fn may_send_one(&self, transport: &ClosedLoop) -> bool {
        self.window.cwnd < self.window.mss && self.has_none_in_flight(transport)
    }

    /// Whether no data is outstanding. Then no ack will come that could end a reduction to less
    /// than a segment. False with ns-3's rules, under which the timer ends the reduction.
    #[cold]
    fn is_idle(&self, transport: &ClosedLoop) -> bool {
        !transport.recovery.is_ns3() && self.has_nothing_out()
    }

    #[cold]
    fn has_none_in_flight(&self, transport: &ClosedLoop) -> bool {
        !transport.recovery.is_ns3() && self.in_flight() == 0
    }

    /// Tells a reduction of bytes that are sent although the window does not allow them.
    fn count_in_reduction(&mut self, bytes: u64) {
        if let Some(reduction) = &mut self.reduction {
            reduction.count(bytes);
        }
    }

    #[cold]
    fn new_piece_at_once(&mut self) -> Option<Piece> {
        let payload = self.window.mss.min(self.size - self.board.nxt);
        self.count_in_reduction(payload);
        self.piece_of(payload)
    }

    /// A segment of new data, if the window allows it.
    #[inline]
    fn new_piece(&mut self, transport: &ClosedLoop) -> Option<Piece> {
        let payload = self.window.mss.min(self.size - self.board.nxt);
        if payload == 0 || !self.may_send(self.room_for(payload), transport) {
            return None;
        }
        self.piece_of(payload)
    }

    #[inline]
    fn piece_of(&mut self, payload: u64) -> Option<Piece> {
        let piece = Piece { seq: self.board.nxt, payload: payload as u32, again: false };
        self.board.nxt += payload;
        Some(piece)
    }

    #[inline(always)]
    fn set_retransmission_deadline(&mut self, now: Time, transport: &ClosedLoop) {
        self.deadline = now + self.rtt.timeout(&transport.rto);
        self.timer = Timer::Retransmission;
    }

    #[inline]
    fn set_deadline(&mut self, now: Time, transport: &ClosedLoop) {
        self.set_retransmission_deadline(now, transport);
        if !transport.losses.are_plain {
            self.set_other_timers(now, transport);
        }
    }

    #[cold]
    fn set_other_timers(&mut self, now: Time, transport: &ClosedLoop) {
        match self.recovery {
            Recovery::Own(_) => self.set_timer_by_own(now),
            Recovery::Rack(_) => self.set_timers(now, true, transport),
            _ if transport.losses.tail_loss_probe => {
                if let Some(due) = self.probe_due(now, self.deadline) {
                    (self.deadline, self.timer) = (due, Timer::Probe);
                }
            }
            _ => {}
        }
    }

    /// Restarts the retransmission timer, which replaces any other timer.
    #[cold]
    fn restart_timer(&mut self, now: Time, transport: &ClosedLoop) {
        self.set_retransmission_deadline(now, transport);
        if let Recovery::Rack(by_rack) = &mut self.recovery {
            by_rack.timeout_at = self.deadline;
        }
    }
}

#[cfg(test)]
mod every_way;
#[cfg(test)]
mod lossy;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod naive_nacks;
#[cfg(test)]
mod naive_rack;
#[cfg(test)]
mod naive_tlt;
#[cfg(test)]
mod tests;
