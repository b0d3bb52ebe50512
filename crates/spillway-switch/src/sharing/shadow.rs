//! An imagined Longest Queue Drop beside the real buffer: which packets LQD would hold by now, had
//! it seen the same arrivals.

mod switch;
mod tournament;

pub(super) use switch::ShadowSwitch as ShadowLqd;

/// What somebody has said about a packet's fate, if anybody has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Prediction {
    #[default]
    None,
    Accept,
    Drop,
}

/// How often what was said came true (Credence, Figure 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// By prediction, packets that LQD sent and those that it dropped.
    counts: [[u64; 2]; 3],
}

impl Truth {
    /// Packets of which this was said, and which LQD dropped, or sent.
    pub fn of(&self, prediction: Prediction, is_dropped: bool) -> u64 {
        self.counts[prediction as usize][usize::from(is_dropped)]
    }

    #[inline]
    fn learn(&mut self, prediction: Prediction, is_dropped: bool) {
        self.counts[prediction as usize][usize::from(is_dropped)] += 1;
    }
}
