//! A sender whose receiver tells of losses in NACKs, like RDMA's NICs.
//!
//! - What is in flight is a range, whatever of it has arrived: from the first unacknowledged byte
//!   to the next one to be sent. A window ends so far behind the first unacknowledged byte. The
//!   first unacknowledged segment may always be sent.
//! - No loss and no timeout changes the window or the pace.
//! - The timeout is fixed. It runs while something is in flight; every ack and NACK restarts it, as
//!   in the InfiniBand specification (volume 1, o9-85).
//!
//! **Go-back-N.** A NACK acknowledges everything before the byte that it names. The sender goes on
//! from that byte, and sends data again that it has sent before. A timeout does the same. A NACK
//! for a byte that has been acknowledged comes too late and changes nothing.
//!
//! **Selective (IRN).** A NACK begins a recovery, which lasts until everything is acknowledged that
//! had been sent before. In a recovery the first missing segment is sent again, once. So are the
//! missing segments behind which something has arrived. Then new data follow, as far as the bound
//! on what is in flight allows it. If a retransmission is lost, a timeout shows that, and begins
//! the recovery anew. With few packets in flight the timeout is short. If more packets are in
//! flight when it expires, it is extended.

use super::{AckSegment, Detector, Piece, Sender};
use crate::window::{Ack, CongestionControl};
use crate::{Access, Nacks};
use spillway_engine::Time;

/// The state of such a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByNacks {
    way: Way,
    /// Since when the timer runs.
    since: Time,
    /// Timeouts since something new was acknowledged.
    in_a_row: u32,
    /// Whether a timeout, rather than a NACK, began the present retransmissions.
    after_timeout: bool,
}

/// Which data are sent again, and how.
#[derive(Clone, Copy, Debug)]
enum Way {
    GoBackN {
        /// The timeout; [`Time::MAX`] if there is none.
        rto: Time,
        /// The next byte to be sent, for the first time or again.
        position: u64,
    },
    Selective {
        /// The most bytes in flight.
        most: u64,
        rto_low: Time,
        rto_high: Time,
        /// With no more than so many bytes in flight, few packets are in flight.
        few: u64,
        timeout_takes_all: bool,
        is_recovering: bool,
    },
}

/// The next segment: its first byte, and the byte behind its last one.
type Next = (u64, u64);

impl ByNacks {
    /// The state at the start of a flow, in segments of `mss`.
    pub fn new(settings: &Nacks, mss: u64, access: &Access) -> ByNacks {
        let of = |rto: spillway_settings::quantity::RttTime| rto.of(access.base_rtt);
        let way = match settings {
            Nacks::GoBackN { rto, .. } => {
                Way::GoBackN { rto: rto.map_or(Time::MAX, of), position: 0 }
            }
            Nacks::Selective(irn) => Way::Selective {
                most: irn
                    .max_in_flight
                    .map_or(u64::MAX, |most| most.bytes(access.rate, access.base_rtt)),
                rto_low: of(irn.rto_low),
                rto_high: of(irn.rto_high),
                few: irn.few_packets * mss,
                timeout_takes_all: irn.timeout_takes_all,
                is_recovering: false,
            },
        };
        ByNacks { way, since: Time::ZERO, in_a_row: 0, after_timeout: false }
    }

    /// Timeouts since something new was acknowledged.
    pub fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// The byte behind everything in flight, if `nxt` is the first one that was never sent.
    pub fn sent_to(&self, nxt: u64) -> u64 {
        match self.way {
            Way::GoBackN { position, .. } => position,
            Way::Selective { .. } => nxt,
        }
    }

    /// The timeout with so many bytes in flight.
    pub fn rto(&self, in_flight: u64) -> Time {
        match self.way {
            Way::GoBackN { rto, .. } => rto,
            Way::Selective { rto_low, few, .. } if in_flight <= few => rto_low,
            Way::Selective { rto_high, .. } => rto_high,
        }
    }

    /// The next flow of the connection begins at this byte; everything before is acknowledged.
    pub fn begin_next(&mut self, first: u64) {
        match &mut self.way {
            Way::GoBackN { position, .. } => *position = first,
            Way::Selective { is_recovering, .. } => *is_recovering = false,
        }
        (self.in_a_row, self.after_timeout) = (0, false);
    }
}

impl Sender {
    /// An ack or a NACK has arrived. A NACK is an ack that tells which packet came too early.
    pub(super) fn take_ack_by_nacks(&mut self, now: Time, ack: &AckSegment) {
        let Detector::Nacks(state) = &mut self.detector else { return };
        let (before, arrived_before) = (self.board.una, self.board.arrived());
        let board = &mut self.board;
        let acked = ack.seq.saturating_sub(before);
        if acked > 0 {
            board.acknowledge(ack.seq);
            state.in_a_row = 0;
        }
        match &mut state.way {
            Way::GoBackN { position, .. } => {
                *position = (*position).max(board.una);
                if ack.sack.is_some() && ack.seq >= before {
                    *position = board.una;
                    state.after_timeout = false;
                }
            }
            Way::Selective { is_recovering, .. } => {
                if let Some(blocks) = ack.sack {
                    board.take(blocks, 1);
                }
                if *is_recovering && board.una >= self.recover {
                    *is_recovering = false;
                    board.end_repair();
                }
                if !*is_recovering && ack.sack.is_some() && board.has_gap() {
                    *is_recovering = true;
                    state.after_timeout = false;
                    self.recover = board.nxt;
                    board.begin_repair();
                    board.lose_head(self.recover);
                }
            }
        }
        self.rtt.sample(now - ack.sent_at);
        self.tell_control(&Ack {
            now,
            acked,
            delivered: self.board.arrived() - arrived_before,
            rtt: now - ack.sent_at,
            ece: ack.ece,
            una: self.board.una,
            nxt: self.sent_by_nacks(),
            may_grow: ack.may_grow,
            in_recovery: false,
            as_ns3: false,
            telemetry: ack.telemetry,
        });
        self.set_timer_by_nacks(now);
    }

    /// Tells the congestion controller of an ack. If it cuts for a mark, the next packet says so.
    fn tell_control(&mut self, ack: &Ack) {
        let before = (self.window.cwnd, self.window.ssthresh);
        let cut_until = self.window.cut_until;
        self.control.on_ack(&mut self.window, ack);
        let is_cut = self.window.cut_until != cut_until || self.window.is_cut_from(before);
        self.tells_cut |= ack.ece && is_cut;
    }

    /// The byte behind everything in flight.
    pub(super) fn sent_by_nacks(&self) -> u64 {
        match &self.detector {
            Detector::Nacks(state) => state.sent_to(self.board.nxt),
            _ => self.board.nxt,
        }
    }

    /// The most bytes in flight, whatever the window is.
    pub(super) fn most_by_nacks(&self) -> u64 {
        match &self.detector {
            Detector::Nacks(state) => match state.way {
                Way::Selective { most, .. } => most,
                Way::GoBackN { .. } => u64::MAX,
            },
            _ => u64::MAX,
        }
    }

    /// Starts the timer, or stops it if nothing is in flight.
    pub(super) fn set_timer_by_nacks(&mut self, now: Time) {
        let in_flight = self.sent_by_nacks() - self.board.una;
        let Detector::Nacks(state) = &mut self.detector else { return };
        state.since = now;
        self.deadline = match in_flight {
            0 => Time::MAX,
            _ => now.saturating_add(state.rto(in_flight)),
        };
    }

    /// The next segment, if the window allows one, and whether it is a missing segment.
    fn next_by_nacks(&self) -> Option<(Next, bool)> {
        let Detector::Nacks(state) = &self.detector else { return None };
        let from = |seq: u64| (seq, seq + self.window.mss.min(self.size - seq));
        let (next, most, is_missing) = match state.way {
            Way::GoBackN { position, .. } => (from(position), u64::MAX, false),
            Way::Selective { is_recovering, most, .. } => {
                match is_recovering.then(|| self.board.next_lost()).flatten() {
                    Some(lost) => (lost, u64::MAX, true),
                    None => (from(self.board.nxt), most, false),
                }
            }
        };
        let (seq, end) = next;
        let una = self.board.una;
        let fits = seq + self.window.room_for(end - seq) - una <= self.window.cwnd;
        let may = seq == una || (fits && end - una <= most);
        (may && seq < end).then_some((next, is_missing))
    }

    /// Whether the window allows a segment, whatever the pace is.
    pub(super) fn has_piece_by_nacks(&self) -> bool {
        self.next_by_nacks().is_some()
    }

    /// The next segment, if the window allows one.
    pub(super) fn piece_by_nacks(&mut self) -> Option<Piece> {
        let ((seq, end), is_missing) = self.next_by_nacks()?;
        let Detector::Nacks(state) = &mut self.detector else { return None };
        if let Way::GoBackN { position, .. } = &mut state.way {
            *position = end;
        }
        let again = seq < self.board.nxt;
        if is_missing {
            self.board.repaired(end);
        }
        self.board.nxt = self.board.nxt.max(end);
        self.retransmitted_packets += u32::from(again);
        self.timeout_repairs += u32::from(again && state.after_timeout);
        Some(Piece { seq, payload: (end - seq) as u32, again })
    }

    /// The timer has expired.
    pub(super) fn on_timeout_by_nacks(&mut self, now: Time) {
        let in_flight = self.sent_by_nacks() - self.board.una;
        let Detector::Nacks(state) = &mut self.detector else { return };
        let due = state.since.saturating_add(state.rto(in_flight));
        if due > now {
            // There were few packets in flight when the timer was set, and now there are more.
            self.deadline = due;
            return;
        }
        self.timeouts += 1;
        state.in_a_row += 1;
        state.after_timeout = true;
        let board = &mut self.board;
        match &mut state.way {
            Way::GoBackN { position, .. } => *position = board.una,
            Way::Selective { is_recovering, timeout_takes_all, .. } => {
                *is_recovering = true;
                self.recover = board.nxt;
                board.begin_repair();
                if *timeout_takes_all { board.lose_all() } else { board.lose_head(self.recover) }
            }
        }
        // The next segment that is sent starts the timer.
        self.deadline = Time::MAX;
    }
}
