//! Expulsion: a sharing policy takes the first packet of a queue away, at a time of its own choice.
//!
//! The switch's owner asks when the next expulsion may be, after whatever may have brought it
//! forward, and lets it happen then. What happens meanwhile can only delay it: so until then no
//! more need be known.

use super::Switch;
use crate::aqm::Aqm;
use crate::packet::Arena;
use crate::policy::DropReason;
use crate::sharing::Sharing;
use spillway_engine::Time;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Whether the sharing policy expels packets.
    #[inline]
    pub fn expels(&self) -> bool {
        self.expels
    }

    /// The moment at which [`Switch::expel`] must be called next. `None` if there is none, or if
    /// this function has told it already.
    pub fn next_expulsion(&mut self, now: Time) -> Option<Time> {
        if self.expulsion.is_none() {
            self.expulsion = self.sharing.next_expulsion(now, &self.buffer);
            return self.expulsion;
        }
        None
    }

    /// The moment of the next expulsion has come. The first packet of a queue may be lost.
    pub fn expel(&mut self, now: Time, packets: &mut Arena) {
        debug_assert_eq!(self.expulsion, Some(now), "the moment has come");
        self.expulsion = None;
        let Some(queue) = self.sharing.expel(now, &self.buffer) else { return };
        debug_assert!(!self.is_lossless_queue(queue), "no lossless packet is expelled");
        let id = self.lists.take_out(queue, self.lists.head(queue), packets);
        let size = packets[id].size - self.uncounted_bytes;
        self.forget_unimportant(queue, id, packets);
        self.note_length(now, queue);
        self.subtract(now, queue, size);
        self.sharing.on_expelled(size);
        self.lose(now, id, queue, size, DropReason::Expelled);
        self.note_occupancy(now);
    }
}
