//! Times of transmission that are cut to whole nanoseconds, as those of programs built on ns-3.
//!
//! Lines keep their rates, from which policies and records compute. Only the times of packets are
//! cut, where each is put on its line, which is then attended: other lines need not know of it.

use crate::topology::in_whole_ns;
use spillway_engine::Time;

/// How much time each line has saved so far.
#[derive(Clone, Debug)]
pub(super) struct WholeNs(Vec<Time>);

impl WholeNs {
    /// For so many lines, before anything is sent.
    pub fn new(lines: usize) -> WholeNs {
        WholeNs(vec![Time::ZERO; lines])
    }

    /// How long a packet lasts that is put on a line, and would last for `exact`.
    pub fn cut(&mut self, line: u32, exact: Time) -> Time {
        let lasts = in_whole_ns(exact);
        self.0[line as usize] += exact - lasts;
        lasts
    }

    /// How much less time what was put on a line takes than at the line's rate.
    pub fn saved(&self, line: u32) -> Time {
        self.0[line as usize]
    }
}
