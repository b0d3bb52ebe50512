//! pFabric's recovery: a timeout that never changes shows losses, and nothing else does.
//!
//! # Reference
//! M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, section
//! 4.3. `pfabric.rs` says what the paper leaves open.
//!
//! # Rule
//! - The window is a range of the flow: it reaches from the first unacknowledged byte as far as
//!   `cwnd` and what has arrived behind it allow.
//! - An ack that moves its beginning lets segments go, and restarts the timer. Any other ack only
//!   reports what has arrived.
//! - A timeout sends the data that the window allows once more, from the window's beginning on. It
//!   leaves out what is known to have arrived.
//! - After many timeouts in a row only probes are sent, headers without payload, one for every
//!   timeout, until an ack comes.

use super::own::{Course, Flight, OwnAck, OwnRecovery, Reaction, TimedOut};
use super::scoreboard::Scoreboard;
use crate::Access;
use crate::ranges::Range;
use crate::receiver::Tells;
use spillway_engine::Time;
use spillway_settings::quantity::RttTime;
use spillway_settings::{Section, SettingsError};

/// The settings, and the state of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FixedTimeout {
    timeout: RttTime,
    /// Timeouts in a row after which only probes are sent; `None` for never.
    probe_after: Option<u32>,
    /// Whether packets state as left what is not acknowledged, cumulatively or selectively, when
    /// they are sent, rather than what begins with them.
    states_unacknowledged: bool,
    /// Whether the sender leaves out data that has arrived, even if no ack has told it so.
    knows_receiver: bool,
    rto: Time,
    /// The next byte to be sent, for the first time or again.
    position: u64,
    /// Whether an ack or a timeout has let segments go, and the window has not stopped them yet.
    may_send: bool,
    is_probing: bool,
}

impl FixedTimeout {
    /// Reads the settings.
    pub(crate) fn read(section: &mut Section) -> Result<FixedTimeout, SettingsError> {
        let timeout = section.quantity(
            "rto",
            "3rtt",
            RttTime::takes(),
            "the timeout, which never changes",
            RttTime::parse,
        )?;
        let meaning = "timeouts in a row after which headers alone are sent, one for every timeout, \
                       until an ack comes; 0 for never";
        let probe_after = section.integer("probe_after", 5, 0..=1_000_000, meaning)? as u32;
        let meaning = "what a packet says that its flow has left: all that is not acknowledged, or \
                       what begins with the packet";
        let ways = [("unacknowledged", true), ("unsent", false)];
        let states_unacknowledged = section.choice("remaining", &ways, meaning)?;
        let meaning = "whether senders leave out what has arrived although no ack has told them, as \
                       one published simulator does";
        let knows_receiver = section.flag("knows_receiver", false, meaning)?;
        Ok(FixedTimeout {
            timeout,
            probe_after: (probe_after > 0).then_some(probe_after),
            states_unacknowledged,
            knows_receiver,
            rto: Time::MAX,
            position: 0,
            may_send: true,
            is_probing: false,
        })
    }
}

impl OwnRecovery for FixedTimeout {
    fn tells(&self) -> Tells {
        Tells::Ranges
    }

    fn shortest_rto(&self, base_rtt: Time) -> Option<(Time, &'static str)> {
        Some((self.timeout.of(base_rtt), "rto"))
    }

    fn start(&mut self, _mss: u64, access: &Access) {
        self.rto = self.timeout.of(access.base_rtt);
    }

    fn on_ack(&mut self, flight: &mut Flight, ack: &OwnAck) -> Reaction {
        flight.course.in_a_row = 0;
        let was_probing = std::mem::take(&mut self.is_probing);
        let lets_go = ack.acked > 0 || was_probing;
        self.may_send |= lets_go;
        let is_over = flight.board.una >= flight.size;
        Reaction { tells: ack.acked > 0 && !is_over, restarts: lets_go }
    }

    fn next(&self, flight: &Flight) -> Option<Range> {
        let window_ends = flight.board.una + flight.window.cwnd + flight.board.sacked_bytes();
        let next = self.may_send.then(|| flight.board.segment_from(self.position, flight.size));
        // A window is counted in full segments.
        next.flatten().filter(|(seq, _)| seq + flight.window.mss <= window_ends)
    }

    fn on_sent(&mut self, _flight: &mut Flight, (_, end): Range) {
        self.position = end;
    }

    fn on_stopped(&mut self) {
        self.may_send = false;
    }

    fn rto(&self, flight: &Flight) -> Option<Time> {
        (flight.board.una < flight.size).then_some(self.rto)
    }

    fn on_timeout(&mut self, flight: &mut Flight) -> TimedOut {
        self.position = flight.board.una;
        self.is_probing = self.probe_after.is_some_and(|after| flight.course.in_a_row >= after);
        self.may_send = !self.is_probing;
        TimedOut { cuts: true, probes: self.is_probing }
    }

    fn in_flight(&self, board: &Scoreboard, _course: &Course) -> u64 {
        board.pipe()
    }

    /// From the second timeout in a row on the first unacknowledged segment is sent in any case,
    /// since its ack may be lost.
    fn leaves_out(&self, board: &Scoreboard, course: &Course, seq: u64) -> bool {
        self.knows_receiver && !(seq == board.una && course.in_a_row > 1)
    }

    fn remaining(&self, board: &Scoreboard, seq: u64, size: u64) -> u64 {
        if self.states_unacknowledged { size - board.arrived() } else { size - seq }
    }

    fn idle_timeout(&self) -> Time {
        self.rto
    }
}
