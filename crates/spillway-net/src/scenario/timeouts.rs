//! Compares retransmission timeouts with the round trip of the empty network.
//!
//! Before its first ack a sender's timeout is `initial_rto`, doubled each time it expires. If it
//! never becomes as long as a round trip, every ack comes too late, and retransmissions fill the
//! sender's own queue without end. Such settings are refused. If the timeout is too short only at
//! first, every flow sends its first packets twice. This is hardly intended, so a warning says so.
//! Another warning says so if the least timeout is below a round trip, where it has no effect.

use super::Result;
use spillway_engine::Time;
use spillway_settings::ErrorKind;
use spillway_topology::{Topology, base_rtt, base_rtt_at_most};
use spillway_transport::{Recovery, Transport};

/// Checks the timeouts of all transports in use.
pub(super) struct Timeouts<'a> {
    topology: &'a Topology,
    /// The base RTT for timeouts that are multiples of it, unless flows measure their own.
    base_rtt: Time,
    /// What is allowed but may be a mistake.
    pub warnings: Vec<String>,
}

impl Timeouts<'_> {
    /// Checks for this network.
    pub fn beside(topology: &Topology, base_rtt: Time) -> Timeouts<'_> {
        Timeouts { topology, base_rtt, warnings: Vec::new() }
    }

    /// Checks the timeouts of a transport, which was read from the section at `path`.
    pub fn check(&mut self, path: &str, transport: &Transport) -> Result<()> {
        let Some(closed) = transport.closed_loop() else { return Ok(()) };
        let full = transport.full_packet().into();
        if let Recovery::Own(own) = &closed.recovery {
            let round_trip = base_rtt(self.topology, full);
            let told = if closed.measures_its_own_way() { round_trip } else { self.base_rtt };
            return match own.rules.shortest_rto(told) {
                Some((rto, key)) if rto < round_trip => {
                    let problem = format!(
                        "{rto} is not valid: a packet and its ack take {round_trip} in the empty \
                         network, and all would be sent again before its ack can be there"
                    );
                    let error = ErrorKind::Conflict.at(format!("{path}.{key}"), problem);
                    let hint =
                        format!("a multiple of the base RTT is one of topology.base_rtt = {told}");
                    Err(if told < round_trip { error.hint(hint) } else { error })
                }
                _ => Ok(()),
            };
        }
        let rto = &closed.rto;
        let longest = rto.longest_without_an_ack();
        // If `min_rto` bounds the part of a timeout beyond round trips, it may have any value.
        let min = if rto.min_bounds_spread { Time::MAX } else { rto.min };
        if rto.initial.min(longest).min(min) >= base_rtt_at_most(self.topology, full) {
            return Ok(());
        }
        let round_trip = base_rtt(self.topology, full);
        if longest < round_trip {
            let (key, value) =
                if longest < rto.max { ("initial_rto", rto.initial) } else { ("max_rto", rto.max) };
            let problem = format!(
                "{value} is not valid: the timeout never gets longer than {longest}, and a packet and \
                 its ack take {round_trip} in the empty network: no ack would ever come in time"
            );
            return Err(ErrorKind::Conflict.at(format!("{path}.recovery.{key}"), problem));
        }
        if rto.initial < round_trip {
            self.warn(format!(
                "{path}.recovery.initial_rto = {} is less than {round_trip}, which a packet and its ack take in \
                 the empty network: what a flow sends first is sent again before its ack can be there",
                rto.initial
            ));
        }
        if min < round_trip {
            self.warn(format!(
                "{path}.recovery.min_rto = {min} is less than {round_trip}, which a packet and its ack take in \
                 the empty network: it has no effect, since timeouts are longer than round trips"
            ));
        }
        Ok(())
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
