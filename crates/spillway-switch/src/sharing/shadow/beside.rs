//! A virtual LQD that tells what becomes of each packet: what a switch with another policy can teach
//! an oracle.

use super::Ledger;
use super::switch::ShadowSwitch;
use crate::buffer::QueueId;
use crate::policy::Arrival;
use spillway_engine::Time;

/// The virtual LQD, beside a switch of any policy.
#[derive(Clone, Debug)]
pub struct LqdBeside(Box<ShadowSwitch<Outcomes>>);

/// The numbers of packets, each with whether it was dropped, in the order in which that was found.
#[derive(Clone, Debug, Default)]
struct Outcomes(Vec<(Option<u64>, bool)>);

impl Ledger for Outcomes {
    const LEARNS_EARLY: bool = false;

    /// A packet's number, if anyone wants to know.
    type Note = Option<u64>;

    fn learn(&mut self, number: Option<u64>, is_dropped: bool) {
        self.0.push((number, is_dropped));
    }

    fn forget(&mut self, number: Option<u64>, is_dropped: bool) {
        let last = self.0.pop();
        debug_assert_eq!(last, Some((number, is_dropped)));
    }
}

impl LqdBeside {
    /// One beside another. Both are empty.
    pub(super) fn of<L: Ledger>(shadow: &ShadowSwitch<L>) -> LqdBeside {
        LqdBeside(Box::new(shadow.beside()))
    }

    /// A packet arrives; it has a number if its outcome is asked for.
    pub fn on_arrival(&mut self, arrival: &Arrival, number: Option<u64>) {
        self.0.on_arrival(arrival);
        if number.is_some() {
            self.0.note(number);
        }
    }

    /// Finds out what has been sent by now.
    pub fn look_at(&mut self, now: Time, queues: usize) {
        (0..queues as QueueId).for_each(|queue| self.0.look_at(now, queue));
    }

    /// Takes the numbers of packets whose outcome has been found since the last call, each with
    /// whether it was dropped.
    pub fn take(&mut self) -> Vec<(u64, bool)> {
        let known = self.0.ledger_mut().0.drain(..);
        known.filter_map(|(number, is_dropped)| Some((number?, is_dropped))).collect()
    }
}
