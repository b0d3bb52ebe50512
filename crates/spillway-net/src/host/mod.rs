//! Hosts: the ends of flows, and how they react to packets, acks and timers.
//!
//! Every function here acts at one host. It sends through the [`Network`], which delivers what
//! arrives.

mod ends;
mod handshake;
mod open_loop;
mod priority;
mod receiving;
mod sending;
mod start;

pub(crate) use ends::Ends;

use crate::network::Network;
use crate::scenario::Scenario;
use crate::transport::receiver::SackBlocks;
use spillway_switch::SideTable;
use spillway_switch::packet::{PacketId, flags};

/// The flows at all hosts.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    pub ends: Ends,
    /// Selective acks: the ranges that acks report.
    sacks: SideTable<SackBlocks>,
    /// A flow that is over. The simulation writes its row and frees its place.
    over: Option<u32>,
    /// Flows alive that are not complete.
    pub unfinished: u64,
    pub tally: Tally,
}

/// Counts over all hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Flows whose last byte arrived.
    pub completed: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Payload that arrived in the window of measurement, by class, each byte counted once.
    pub delivered_bytes: Vec<u64>,
}

impl Hosts {
    /// Hosts without flows.
    pub fn new(scenario: &Scenario) -> Hosts {
        let delivered_bytes = vec![0; scenario.traffic.classes.len()];
        Hosts { tally: Tally { delivered_bytes, ..Tally::default() }, ..Hosts::default() }
    }

    /// A packet has arrived at a host.
    #[inline(always)]
    pub fn deliver(&mut self, net: &mut Network, scenario: &Scenario, host: u32, id: PacketId) {
        match net.packets[id].flags & (flags::CONTROL | flags::SYN | flags::DATAGRAM) {
            0 => self.on_data(net, scenario, host, id),
            flags::CONTROL => self.on_ack(net, scenario, id),
            flags::DATAGRAM => self.on_datagram(net, scenario, id),
            _ => self.on_syn(net, scenario, host, id),
        }
    }

    /// A packet was lost: the sending end is told.
    pub fn on_lost(&mut self, slot: u32) {
        self.ends.sending_mut(slot).flow.packets -= 1;
        self.note_if_over(slot);
    }

    /// The flow that became over in this event, if there is one.
    #[inline]
    pub fn take_over(&mut self) -> Option<u32> {
        self.over.take()
    }

    /// Removes a flow whose row has been written.
    pub fn remove(&mut self, slot: u32) {
        if self.ends.receiving(slot).completed_at.is_none() {
            // A part of an open-loop flow was lost, or the run has ended.
            self.unfinished -= 1;
        }
        self.ends.remove(slot);
    }

    /// Bytes of memory that flows and selective acks take.
    pub fn bytes(&self) -> u64 {
        self.ends.bytes() + self.sacks.bytes()
    }

    #[inline]
    fn note_if_over(&mut self, slot: u32) {
        if self.ends.is_over(slot) {
            self.over = Some(slot);
        }
    }
}
