//! Which runs can be divided among threads.

use crate::network::Cut;
use crate::simulation::Simulation;
use spillway_transport::Transport;

/// Why a run must stay on one thread, if it must.
pub(super) fn reason_for_one_thread(run: &Simulation, cut: &Cut) -> Option<&'static str> {
    let scenario = &run.scenario;
    let reasons = [
        (cut.parts() < 2, "all hosts are in one rack"),
        (run.network.deadlocks.is_some(), "ports may pause each other in a circle"),
        (scenario.leaves_connections_open(), "connections stay open"),
        (scenario.transports.iter().any(knows_receivers), "senders know what has arrived"),
        (
            scenario.transports.iter().any(Transport::numbers_packets),
            "losses of numbered packets are counted at once",
        ),
    ];
    reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason))
}

/// Whether the senders of a transport know what their receivers have.
fn knows_receivers(transport: &Transport) -> bool {
    transport.closed_loop().is_some_and(|closed| closed.states_remaining)
}
