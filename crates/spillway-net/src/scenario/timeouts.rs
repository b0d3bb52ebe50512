//! Retransmission timeouts beside the round trip of the empty network.
//!
//! Before a sender has seen an ack, its timeout is `initial_rto`, doubled each time that it runs out.
//! If it never gets as long as a round trip, every ack comes too late, and what is sent again and again
//! fills the sender's own queue without end: that is refused. If it is shorter at first only, all that
//! is sent first is sent twice, which is hardly what was meant: that is told.

use super::Result;
use crate::topology::{Topology, base_rtt};
use crate::transport::Transport;
use spillway_engine::Time;
use spillway_settings::SettingsError;
use std::collections::BTreeMap;

/// What looks at the timeouts of all transports in use.
pub(super) struct Timeouts<'a> {
    topology: &'a Topology,
    /// The round trip of the empty network, by the bytes of a full packet.
    round_trips: BTreeMap<u32, Time>,
    /// What deserves a second look.
    pub warnings: Vec<String>,
}

impl Timeouts<'_> {
    /// In a network.
    pub fn beside(topology: &Topology) -> Timeouts<'_> {
        Timeouts { topology, round_trips: BTreeMap::new(), warnings: Vec::new() }
    }

    /// Looks at those of a transport, which is read from the section at `path`.
    pub fn check(&mut self, path: &str, transport: &Transport) -> Result<()> {
        let Some(rto) = transport.closed_loop().map(|closed| &closed.rto) else { return Ok(()) };
        let full = transport.full_packet();
        let round_trip = self.round_trips.entry(full);
        let round_trip = *round_trip.or_insert_with(|| base_rtt(self.topology, full.into()));
        let longest = rto.longest_without_an_ack();
        if longest < round_trip {
            let (key, value) = match longest < rto.max {
                true => ("initial_rto", rto.initial),
                false => ("max_rto", rto.max),
            };
            let problem = format!(
                "{value} is not valid: the timeout never gets longer than {longest}, and a packet and \
                 its ack take {round_trip} in the empty network: no ack would ever come in time"
            );
            return Err(SettingsError::new(format!("{path}.{key}"), problem));
        }
        let warning = format!(
            "{path}.initial_rto = {} is less than {round_trip}, which a packet and its ack take in the \
             empty network: what a flow sends first is sent again before its ack can be there",
            rto.initial
        );
        if rto.initial < round_trip && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
        Ok(())
    }
}
