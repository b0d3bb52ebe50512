//! Push-out: makes room for an arrival.

use super::Switch;
use crate::aqm::Aqm;
use crate::packet::{Arena, PacketId};
use crate::policy::{Admission, Arrival, DropReason, Victim};
use crate::sharing::Sharing;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Pushes out packets until the arrival fits. If the arrival is refused in the end, the victims
    /// return to their places, unless the policy loses them.
    #[cold]
    pub(super) fn push_out(
        &mut self,
        mut victim: Victim,
        arrival: &Arrival,
        arrival_id: PacketId,
        packets: &mut Arena,
    ) -> Result<(), DropReason> {
        assert!(self.sharing.pushes_out(), "a policy that pushes out says so in `pushes_out`");
        let now = arrival.now;
        let outcome = loop {
            let (queue, id) = match victim {
                Victim::Tail(queue) => {
                    (queue, self.lists.take_out(queue, self.lists.tail(queue), packets))
                }
                Victim::Head(queue) => {
                    (queue, self.lists.take_out(queue, self.lists.head(queue), packets))
                }
                Victim::Worst(queue) => match self.lists.take_worst(queue, arrival_id, packets) {
                    Some(id) => (queue, id),
                    None => break Err(DropReason::PushedOut),
                },
            };
            let size = packets[id].size - self.uncounted_bytes;
            self.note_length(now, queue);
            self.subtract(now, queue, size);
            self.evicted.push((queue, id));
            match self.sharing.admit(arrival, &self.buffer) {
                Admission::Admit if u64::from(arrival.size) <= self.buffer.free() => break Ok(()),
                Admission::Admit => break Err(DropReason::BufferFull),
                Admission::Drop(reason) => break Err(reason),
                Admission::PushOut(next) => victim = next,
            }
        };
        let are_lost = outcome.is_ok() || self.sharing.loses_victims();
        while let Some((queue, id)) = self.evicted.pop() {
            let size = packets[id].size - self.uncounted_bytes;
            if are_lost {
                self.forget_unimportant(queue, id, packets);
                self.lose(now, id, queue, size, DropReason::PushedOut);
            } else {
                self.lists.relink(queue, id, packets);
                self.add(now, queue, size);
            }
        }
        outcome
    }
}
