//! Hosts: the ends of flows, and how they react to packets, acks and timers.
//!
//! Every function here acts at one host. It sends through the [`Network`], which delivers what
//! arrives.

mod across;
mod base;
mod bursts;
mod by_order;
mod by_timeout;
mod connections;
mod ends;
mod handshake;
mod notifications;
mod observing;
mod open_loop;
mod ports;
mod priority;
mod receiving;
mod sending;
mod start;

pub(crate) use ends::Ends;
pub(crate) use observing::Completed;

use crate::event::Moment;
use crate::network::Network;
use crate::scenario::{Completion, Scenario};
use across::Across;
use base::Base;
use connections::Connections;
pub(crate) use ends::{ReceivingEnd, SendingEnd};
use notifications::Told;
use observing::ObservedFlows;
use ports::Ports;
use spillway_engine::Time;
use spillway_switch::SideTable;
use spillway_switch::packet::{PacketId, flags};
use spillway_transport::flow::FlowSpec;
use spillway_transport::receiver::SackBlocks;

/// The flows at all hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    pub ends: Ends,
    connections: Connections,
    /// The ports of flows, if switches hash them.
    ports: Ports,
    /// Whether AQMs must be told the connections of packets, since some connections stay open.
    names_connections: bool,
    /// Selective acks: the ranges that acks report.
    sacks: SideTable<SackBlocks>,
    /// When receivers may next tell senders of marks.
    told: Told,
    /// A flow that became over. The simulation writes its row and frees its place. [`NONE_OVER`] if
    /// no flow is over, but the simulation must look at flows that are complete and for which
    /// others wait.
    over: Option<u32>,
    /// Flows alive that are not complete.
    pub unfinished: u64,
    /// Finite flows that are over and will never be complete.
    pub incomplete: u64,
    pub tally: Tally,
    /// When flows are complete.
    completion: Completion,
    /// What slowdowns in the summary are relative to.
    pub base: Base,
    /// Flows that have become complete and for which others wait, with the hosts at which they are
    /// complete. The simulation takes them.
    pub awaited: Vec<(FlowSpec, u32)>,
    /// What becomes of flows, if the run is observed.
    pub observed: Option<Box<ObservedFlows>>,
    /// Of a part of a cut network: flows that cross its border.
    across: Option<Box<Across>>,
}

/// No flow's place.
const NONE_OVER: u32 = u32::MAX;

/// Counts over all hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Flows whose last byte arrived.
    pub completed: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail-loss probes, and how many of them were sent in place of a timeout.
    pub probes: [u64; 2],
    /// Payload that arrived in the window of measurement, by class, each byte counted once.
    pub delivered_bytes: Vec<u64>,
}

impl Hosts {
    /// Hosts without flows.
    pub fn new(scenario: &Scenario) -> Hosts {
        let delivered_bytes = vec![0; scenario.traffic.classes.len()];
        Hosts {
            names_connections: scenario.leaves_connections_open(),
            completion: scenario.completion,
            base: Base::of(scenario),
            tally: Tally { delivered_bytes, ..Tally::default() },
            ..Hosts::default()
        }
    }

    /// A packet has arrived at a host.
    #[inline(always)]
    pub fn deliver(&mut self, net: &mut Network, scenario: &Scenario, host: u32, id: PacketId) {
        const NOTIFICATION: u16 = flags::CONTROL | flags::CNP;
        match net.packets[id].flags & (NOTIFICATION | flags::SYN | flags::DATAGRAM) {
            0 => self.on_data(net, scenario, host, id),
            flags::CONTROL => self.on_ack(net, scenario, id),
            flags::DATAGRAM => self.on_datagram(net, scenario, id),
            NOTIFICATION => self.on_notification(net, id),
            _ => self.on_other(net, scenario, host, id),
        }
    }

    /// As `deliver`, for what is rarer.
    #[inline(never)]
    fn on_other(&mut self, net: &mut Network, scenario: &Scenario, host: u32, id: PacketId) {
        let packet_flags = net.packets[id].flags;
        let has = |flag: u16| packet_flags & flag != 0;
        match has(flags::CONTROL) {
            false if has(flags::IMPORTANT) => self.on_important_data(net, scenario, host, id),
            true if has(flags::IMPORTANT_ECHO) => self.on_echo(net, scenario, id),
            _ => self.on_syn(net, scenario, host, id),
        }
    }

    /// A packet was lost that the sending end had made. `is_data` says whether it was a data
    /// packet.
    pub fn on_lost(&mut self, at: Moment, slot: u32, is_data: bool) {
        let flow = &mut self.ends.sending_mut(slot).flow;
        flow.packets -= 1;
        flow.lost += u32::from(is_data);
        self.note_if_over(at, slot);
    }

    /// When a flow was complete; [`Time::MAX`] if it is not.
    pub fn completed_at(&self, slot: u32) -> Time {
        self.completion_of(self.ends.sending(slot), self.ends.receiving(slot))
    }

    /// As `completed_at`, of a flow with these ends.
    pub fn completion_of(&self, sending: &SendingEnd, receiving: &ReceivingEnd) -> Time {
        if self.ends_at_sender(sending) { sending.flow.acked_at } else { receiving.completed_at }
    }

    /// Whether a flow is complete at its sender rather than at its receiver.
    fn ends_at_sender(&self, sending: &SendingEnd) -> bool {
        self.completion == Completion::LastAck && sending.sender().is_some()
    }

    /// Counts a flow that is complete now. Flows that wait for it may be released.
    #[cold]
    fn count_complete(&mut self, slot: u32) {
        self.unfinished = self.unfinished.wrapping_sub(1);
        self.tally.completed += 1;
        let spec = self.ends.sending(slot).flow.spec;
        self.note_complete(slot);
        if spec.tag != FlowSpec::NO_TAG {
            let host =
                if self.ends_at_sender(self.ends.sending(slot)) { spec.src } else { spec.dst };
            self.awaited.push((spec, host));
            self.over = Some(NONE_OVER);
        }
    }

    /// Whether in this event a flow became over, or became complete while others wait for it.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.over.is_some()
    }

    /// The flow that became over in this event, if there is one.
    pub fn take_over(&mut self) -> Option<u32> {
        self.over.take().filter(|&slot| slot != NONE_OVER)
    }

    /// Removes a flow whose row has been written. If no other flow has taken its connection yet,
    /// its place is kept for the next one.
    pub fn remove(&mut self, slot: u32) {
        if self.completed_at(slot) == Time::MAX {
            // A packet of an open-loop flow was lost, or the run has ended.
            self.unfinished = self.unfinished.wrapping_sub(1);
            let is_finite = self.ends.sending(slot).flow.spec.size != FlowSpec::ENDLESS;
            self.incomplete += u64::from(is_finite);
        }
        let flow = &self.ends.sending(slot).flow;
        if flow.leaves_open && self.ends.is_over(slot) {
            self.ends.rest(slot);
        } else {
            self.ends.remove(slot);
        }
    }

    /// Bytes of memory that flows and selective acks take.
    pub fn bytes(&self) -> u64 {
        self.ends.bytes()
            + self.connections.bytes()
            + self.ports.bytes()
            + self.sacks.bytes()
            + self.told.bytes()
    }

    #[inline]
    fn note_if_over(&mut self, at: Moment, slot: u32) {
        if self.ends.is_over(slot) {
            self.over = Some(slot);
        } else if self.across.is_some() {
            self.note_gone(slot, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, STAR, US, flow, transport};
    use spillway_engine::Time;
    use spillway_switch::packet::{Contents, Packet};
    use spillway_transport::sender::Phase;

    fn bench(kind: &str, more: &str) -> Bench {
        Bench::new(&format!("{STAR}\n{}", transport(kind, more)))
    }

    /// A packet of a flow arrives at a host now.
    fn deliver(bench: &mut Bench, host: u32, slot: u32, flags: u16, (seq, payload): (u64, u32)) {
        let contents = Contents { slot, seq, payload, ..Contents::default() };
        let id = bench.make(Packet { flags, ..Packet::default() }, contents);
        bench.hosts.ends.sending_mut(slot).flow.packets += 1;
        bench.hosts.deliver(&mut bench.net, &bench.scenario, host, id);
    }

    #[test]
    fn each_kind_of_packet_reaches_the_end_that_it_is_for() {
        let mut bench = bench("newreno", "handshake = true");
        bench.net.now = Time::from_us(20);
        let slot = bench.start(flow(0, 1, 2 * 960));
        let phase = |bench: &Bench| bench.hosts.ends.sending(slot).sender().unwrap().phase();
        // A request at host 1 is answered; the answer at host 0 opens the connection.
        deliver(&mut bench, 1, slot, flags::CONTROL | flags::SYN, (0, 0));
        assert_eq!((bench.on_line(1).len(), phase(&bench)), (1, Phase::Connecting));
        deliver(&mut bench, 0, slot, flags::CONTROL | flags::SYN, (0, 0));
        assert_eq!((bench.on_line(1).len(), phase(&bench)), (1, Phase::Open));
        // Data at host 1 are received and acknowledged; the ack is taken at host 0.
        deliver(&mut bench, 1, slot, 0, (0, 960));
        assert_eq!(bench.hosts.ends.receiving(slot).receiver.next(), 960);
        assert_eq!(bench.on_line(1).len(), 2);
        deliver(&mut bench, 0, slot, flags::CONTROL, (960, 0));
        assert_eq!(bench.on_line(1).len(), 2);
        assert_eq!(bench.hosts.ends.sending(slot).sender().unwrap().in_flight(), 960);
    }

    #[test]
    fn a_datagram_is_received_and_not_answered() {
        let mut bench = bench("udp", "");
        let slot = bench.start(flow(0, 1, 2 * 960));
        let live = bench.net.packets.live();
        deliver(&mut bench, 1, slot, flags::DATAGRAM, (0, 960));
        assert_eq!(bench.hosts.ends.receiving(slot).receiver.delivered(), 960);
        assert_eq!((bench.on_line(1).len(), bench.net.packets.live()), (0, live));
    }

    #[test]
    fn a_flow_whose_last_packet_is_lost_is_over_if_nothing_more_comes() {
        let mut open = bench("udp", "");
        let slot = open.start(flow(0, 1, 960));
        assert_eq!((open.hosts.take_over(), open.hosts.unfinished), (None, 1));
        open.hosts.on_lost(open.net.moment(), slot, true);
        assert_eq!(open.hosts.take_over(), Some(slot));
        assert_eq!(open.hosts.take_over(), None, "it is told once");
        open.hosts.remove(slot);
        assert_eq!((open.hosts.unfinished, open.hosts.ends.slot_of(0)), (0, None));
        // A sender that waits for an ack will send it again.
        let mut closed = bench("newreno", "");
        let slot = closed.start(flow(0, 1, 960));
        closed.hosts.on_lost(closed.net.moment(), slot, true);
        assert_eq!(closed.hosts.take_over(), None);
        assert_eq!(closed.hosts.ends.sending(slot).flow.packets, 0);
    }

    #[test]
    fn a_flow_that_is_complete_does_not_count_as_unfinished() {
        let mut bench = bench("udp", "");
        let slots = [bench.start(flow(0, 1, 960)), bench.start(flow(0, 2, 960))];
        assert_eq!(bench.hosts.unfinished, 2);
        // Both leave host 0 one after the other: at 22 and 23 us they have arrived.
        let arrivals = bench.steps::<4>().map(|(time, ..)| time / US);
        assert_eq!(arrivals, [11, 12, 22, 23]);
        assert_eq!((bench.hosts.unfinished, bench.hosts.tally.completed), (0, 2));
        slots.into_iter().for_each(|slot| bench.hosts.remove(slot));
        assert_eq!(bench.hosts.unfinished, 0);
    }

    #[test]
    fn memory_is_that_of_both_ends_and_of_selective_acks() {
        let mut bench = bench("newreno", "initial_window = \"1pkt\"");
        assert_eq!(bench.hosts.bytes(), 0);
        let slot = bench.start(flow(0, 1, 3 * 960));
        let ends = (size_of::<SendingEnd>() + size_of::<ReceivingEnd>()) as u64;
        assert_eq!(bench.hosts.bytes(), ends);
        // The second segment comes too early. It has the number 1, behind the first segment's, so
        // the table of selective acks now has two places, each with three ranges of 16 bytes.
        deliver(&mut bench, 1, slot, 0, (960, 960));
        assert_eq!(bench.hosts.bytes(), ends + 2 * 3 * 16);
    }
}
