//! Recoveries with rules of their own: they choose every segment that is sent, and when to give up
//! waiting for acks. The sender keeps what was sent and what has arrived, tells the congestion
//! controller of acks, counts timeouts, and runs the timer.

use super::scoreboard::Scoreboard;
use crate::Access;
use crate::ranges::Range;
use crate::receiver::{InOrderRule, SackBlocks, Tells};
use crate::window::Window;
use dyn_clone::DynClone;
use spillway_engine::Time;
use std::fmt::Debug;

/// What such a recovery sees of its sender. It may note on the scoreboard what is lost and what was
/// sent again, and change the course.
#[derive(Debug)]
pub struct Flight<'a> {
    /// What was sent, and what of it has arrived.
    pub board: &'a mut Scoreboard,
    /// The congestion window.
    pub window: &'a Window,
    /// The byte behind the last one of the flow.
    pub size: u64,
    /// How far the sender is, and its timeouts.
    pub course: &'a mut Course,
}

impl Flight<'_> {
    /// The segment that begins at a byte.
    pub fn from(&self, seq: u64) -> Range {
        (seq, seq + self.window.mss.min(self.size - seq))
    }

    /// This segment, if it is the first unacknowledged one, or the window and this bound on what
    /// is in flight have room for it.
    pub fn allowed(&self, (seq, end): Range, most: u64) -> Option<Range> {
        let una = self.board.una;
        let fits = seq + self.window.room_for(end - seq) - una <= self.window.cwnd;
        let may = seq == una || (fits && end - una <= most);
        (may && seq < end).then_some((seq, end))
    }
}

/// An ack. What it tells is on the scoreboard already, without the range of a NACK of a receiver
/// that discards what comes too early.
#[derive(Clone, Copy, Debug)]
pub struct OwnAck<'a> {
    /// The first byte that the receiver is missing, as the ack says.
    pub seq: u64,
    /// Bytes that it acknowledges cumulatively for the first time.
    pub acked: u64,
    /// Ranges that have arrived behind a gap. With [`Tells::Packet`] it is a NACK if it has any.
    pub sack: Option<&'a SackBlocks>,
}

/// What follows from an ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// Whether the congestion controller is told of it.
    pub tells: bool,
    /// Whether it restarts the timer.
    pub restarts: bool,
}

/// What follows from a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// Whether it cuts the window to a segment, and restarts the timer at once. Else the next
    /// segment that is sent starts the timer.
    pub cuts: bool,
    /// Whether a header without payload is sent, and nothing else.
    pub probes: bool,
}

impl TimedOut {
    /// The next segment that is sent starts the timer, and nothing else follows.
    pub const WAITS: TimedOut = TimedOut { cuts: false, probes: false };
}

/// How far such a sender is, and its timeouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// The byte behind everything in flight. Sending a segment moves it to the segment's end, and
    /// acks at least to the first unacknowledged byte. A recovery that goes back moves it back.
    pub sent_to: u64,
    /// Since when the timer runs.
    pub since: Time,
    /// Timeouts since something new was acknowledged.
    pub in_a_row: u32,
    /// Whether a timeout, rather than an ack, began the present retransmissions.
    pub after_timeout: bool,
}

/// The rules of such a recovery, and the course that the sender of a flow keeps for them.
#[derive(Clone, Debug)]
pub struct Own {
    /// The rules, with their own state.
    pub rules: Box<dyn OwnRecovery>,
    /// The course.
    pub course: Course,
}

/// A recovery that chooses every segment. All positions are bytes of the flow's connection.
pub trait OwnRecovery: Debug + DynClone + Send + Sync {
    /// What the receivers of its flows tell in acks.
    fn tells(&self) -> Tells;

    /// How a receiver discards what comes out of order, if it accepts only what it expects.
    fn in_order(&self) -> Option<InOrderRule> {
        None
    }

    /// The shortest timeout for a base RTT, and the key that sets it; `None` if there is none.
    fn shortest_rto(&self, base_rtt: Time) -> Option<(Time, &'static str)>;

    /// A flow starts, in segments of `mss` bytes.
    fn start(&mut self, mss: u64, access: &Access);

    /// The next flow of the connection begins at this byte; everything before is acknowledged.
    fn begin_next(&mut self, _first: u64, _access: &Access) {}

    /// An ack has arrived.
    fn on_ack(&mut self, flight: &mut Flight, ack: &OwnAck) -> Reaction;

    /// The next segment, new or again, if the window allows one. It begins at a multiple of the
    /// full payload, or where the flow begins.
    fn next(&self, flight: &Flight) -> Option<Range>;

    /// The segment that was chosen is sent; the scoreboard and the course do not know it yet.
    fn on_sent(&mut self, _flight: &mut Flight, _segment: Range) {}

    /// No segment may be sent now.
    fn on_stopped(&mut self) {}

    /// How long to wait for an ack from now on; `None` if no timer runs.
    fn rto(&self, flight: &Flight) -> Option<Time>;

    /// No ack has come in time. The course counts it already.
    fn on_timeout(&mut self, flight: &mut Flight) -> TimedOut;

    /// The most bytes in flight, whatever the window is.
    fn most(&self) -> u64 {
        u64::MAX
    }

    /// Bytes in flight.
    fn in_flight(&self, board: &Scoreboard, course: &Course) -> u64 {
        course.sent_to - board.una
    }

    /// Whether a segment that begins here and has arrived is left out, although no ack has told so.
    fn leaves_out(&self, _board: &Scoreboard, _course: &Course, _seq: u64) -> bool {
        false
    }

    /// What a segment that begins here says that its flow of `size` bytes has left.
    fn remaining(&self, _board: &Scoreboard, seq: u64, size: u64) -> u64 {
        size - seq
    }

    /// After how long a connection counts as idle.
    fn idle_timeout(&self) -> Time;
}

dyn_clone::clone_trait_object!(OwnRecovery);
