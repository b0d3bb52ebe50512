//! Senders whose segments leave in bursts.

use super::Hosts;
use super::ends::SendingEnd;
use super::sending::{closed_loop, send_piece, set_timer, told};
use crate::network::Network;
use crate::scenario::Scenario;
use spillway_switch::packet::flags;

impl Hosts {
    /// Sends what the sender's window allows, in bursts, and schedules its timer.
    #[inline(never)]
    pub(super) fn send_bursts(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        let Some(bursts) = &closed.bursts else { return };
        'bursts: loop {
            let together = sender.burst(net.now, bursts);
            for behind in (0..together).rev() {
                let Some(piece) = sender.next_piece(net.now, closed) else { break 'bursts };
                self.tally.retransmitted += u64::from(piece.again);
                let told = told(sender, closed);
                let (next, remaining) = (sender.never_sent(), flow.remaining(piece.seq));
                let ends = (behind == 0 && together > 1) || remaining <= piece.payload.into();
                let told = told | if bursts.tells && ends { flags::ASKS } else { 0 };
                send_piece(net, flow, transport, (piece, next), told, remaining);
                sender.note_burst(net.now);
            }
            if together == 0 {
                break;
            }
        }
        set_timer(net, flow, sender);
    }
}
