//! The handshake that opens a connection: a request and its answer.

use super::Hosts;
use super::ends::{Driver, SendingEnd};
use super::priority;
use super::sending::set_timer;
use crate::network::Network;
use crate::scenario::Scenario;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};

impl Hosts {
    /// Sends the request for a connection.
    pub(super) fn send_syn(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let (Driver::ClosedLoop(sender), Some(closed)) = (driver, transport.closed_loop()) else {
            return;
        };
        sender.on_connect(net.now, closed);
        flow.packets += 1;
        let packet = Packet {
            size: transport.ack_size,
            dst: flow.spec.dst,
            path: flow.path,
            flags: flags::CONTROL | flags::SYN | (flow.data_flags & flags::EXPLICIT_PATH),
            priority: priority::OF_CONTROL,
            ..Packet::default()
        };
        let contents = Contents { flow: flow.id, slot, sent_at: net.now, ..Contents::default() };
        net.launch(flow.spec.src, packet, contents);
        set_timer(net, flow, sender);
    }

    /// A packet of the handshake has arrived: the receiver answers a request, and an answer lets
    /// the sender begin.
    pub(super) fn on_syn(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        host: u32,
        id: PacketId,
    ) {
        let Contents { slot, sent_at, .. } = *net.packets.contents(id);
        let packet = &mut net.packets[id];
        let receiving = self.ends.receiving(slot);
        if host == receiving.dst {
            packet.flags = receiving.ack_flags | flags::SYN;
            packet.dst = receiving.src;
            packet.path = receiving.ack_path;
            net.relaunch(host, id);
            return;
        }
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        flow.packets -= 1;
        net.packets.remove(id);
        let Driver::ClosedLoop(sender) = driver else { return };
        sender.on_connected(net.now, sent_at);
        if sender.is_done() {
            self.note_if_over(slot);
        } else {
            self.send_pieces(net, scenario, slot);
        }
    }
}
