//! Where a run stands, and what it has counted.

use crate::network::Totals;
use spillway_switch::DropReason;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running,
    /// There is more to do, but only from the moment on at which the run was asked to halt.
    Halted,
    /// All flows are complete.
    Complete,
    /// The scenario's `stop` was reached before all flows were complete, or nothing more could
    /// happen.
    Stopped,
    /// Ports pause each other for ever, and the scenario ends the run in this case.
    Deadlock,
    /// Packets, flows and records take more memory than the scenario allows.
    OutOfMemory,
    /// After `duration`, policies have been woken or samples taken more often than the scenario
    /// allows.
    TooManySamples,
}

impl Progress {
    /// The statuses that a run may have when it is not run any more, from the best to the worst.
    pub const STATUSES: [&str; 4] = ["complete", "stopped", "deadlock", "interrupted"];

    /// The status of a run that is left in this state. One that could go on is interrupted.
    pub fn status(self) -> &'static str {
        let [complete, stopped, deadlock, interrupted] = Progress::STATUSES;
        match self {
            Progress::Complete => complete,
            Progress::Stopped => stopped,
            Progress::Deadlock => deadlock,
            Progress::Running
            | Progress::Halted
            | Progress::OutOfMemory
            | Progress::TooManySamples => interrupted,
        }
    }
}

/// Counts of a run so far.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Events handled.
    pub events: u64,
    /// Packets that started transmission on any line.
    pub packet_hops: u64,
    /// Flows started.
    pub flows_started: u64,
    /// Flows whose last byte arrived.
    pub flows_completed: u64,
    /// Packets sent again.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail-loss probes, and how many of them were sent in place of a timeout.
    pub probes: [u64; 2],
    /// Lost packets, by reason in the order of [`DropReason::ALL`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Payload that arrived in the window of measurement, by class, each byte counted once.
    pub delivered_bytes: Vec<u64>,
    /// Payload of the flows that started in the window of measurement.
    pub started_bytes: u64,
    /// Packets and bytes made, arrived and lost.
    pub totals: Totals,
}
