//! Times of transmission that are cut to whole nanoseconds, as in programs built on ns-3.
//!
//! Lines keep their rates, from which policies and records compute. Only the time of a packet is
//! cut, when the packet is put on its line. Such lines are attended, so other lines need no check.

use spillway_engine::Time;

/// How much time each line has saved so far.
#[derive(Clone, Debug)]
pub(super) struct WholeNs(Vec<Time>);

impl WholeNs {
    /// For so many lines, before anything is sent.
    pub fn new(lines: usize) -> WholeNs {
        WholeNs(vec![Time::ZERO; lines])
    }

    /// The time that a packet takes to be sent on a line, cut from `exact`.
    pub fn cut(&mut self, line: u32, exact: Time) -> Time {
        let lasts = exact.in_whole_ns();
        self.0[line as usize] += exact - lasts;
        lasts
    }

    /// Exchanges what two networks have saved on a line.
    pub fn swap(&mut self, line: usize, other: &mut WholeNs) {
        std::mem::swap(&mut self.0[line], &mut other.0[line]);
    }

    /// The time that cutting has saved a line so far, in comparison with the line's rate.
    pub fn saved(&self, line: u32) -> Time {
        self.0[line as usize]
    }
}
