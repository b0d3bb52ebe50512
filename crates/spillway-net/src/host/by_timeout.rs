//! The sending end of a flow whose sender learns of losses by timeouts alone. The packets of such a
//! flow say how much of it is left. The sender may leave out data that has arrived.

use super::Hosts;
use super::ends::{Driver, SendingEnd};
use super::sending::{send_piece, set_timer};
use crate::network::Network;
use crate::scenario::Scenario;

impl Hosts {
    /// Sends what the sender's window allows, and schedules its timer.
    #[inline(never)]
    pub(super) fn send_by_timeout(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let (SendingEnd { flow, driver }, receiving) = self.ends.both_mut(slot);
        let transport = scenario.transport(flow.transport);
        let (Driver::ClosedLoop(sender), Some(closed)) = (driver, transport.closed_loop()) else {
            return;
        };
        while let Some(piece) = sender.next_piece(net.now, closed) {
            if sender.leaves_out(&piece) && receiving.receiver.has(piece.seq - flow.first_byte) {
                sender.count_left_out(&piece);
                continue;
            }
            self.tally.retransmitted += u64::from(piece.again);
            let remaining = sender.remaining(&piece);
            let next = sender.never_sent();
            send_piece(net, flow, transport, (piece, next), 0, remaining);
        }
        set_timer(net, flow, sender);
    }
}
