//! Which runs can be divided among threads.

use crate::network::Cut;
use crate::port::nic::Nic;
use crate::simulation::Simulation;
use spillway_switch::{Discipline, Switch};
use spillway_transport::Transport;

/// Why a run must stay on one thread, if it must.
pub(super) fn reason_for_one_thread(run: &Simulation, cut: &Cut) -> Option<&'static str> {
    let scenario = &run.scenario;
    let reasons = [
        (cut.parts() < 2, "all hosts are in one rack"),
        (run.network.deadlocks.is_some(), "ports may pause each other in a circle"),
        (scenario.leaves_connections_open() && knows_flows(run), "policies know connections"),
        (scenario.transports.iter().any(knows_receivers), "senders know what has arrived"),
        (
            scenario.transports.iter().any(Transport::numbers_packets),
            "losses of numbered packets are counted at once",
        ),
    ];
    reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason))
}

/// Whether a policy is told the flows, or connections, of packets.
fn knows_flows(run: &Simulation) -> bool {
    let mut disciplines = run.network.nics.iter().filter_map(Nic::discipline);
    disciplines.any(Discipline::knows_flows) || run.network.switches.iter().any(Switch::knows_flows)
}

/// Whether the senders of a transport know what their receivers have.
fn knows_receivers(transport: &Transport) -> bool {
    transport.closed_loop().is_some_and(|closed| closed.states_remaining)
}
