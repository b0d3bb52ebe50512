//! The virtual LQD beside the real buffer: which packets Longest Queue Drop would hold by now, had
//! it seen the same arrivals.

mod beside;
mod switch;
mod timetable;
mod tournament;

use super::victim::VictimRule;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::Environment;
use crate::policy::Arrival;
use spillway_engine::Time;
use switch::ShadowSwitch;
use timetable::Timetable;

pub use beside::LqdBeside;

/// The prediction of a packet's outcome, if there was one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Prediction {
    #[default]
    None,
    Accept,
    Drop,
}

/// How often predictions came true (Credence, Figure 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// By prediction, the numbers of packets that LQD sent and that it dropped.
    counts: [[u64; 2]; 3],
}

/// Who is told what becomes of packets under the virtual LQD.
pub(super) trait Ledger: Clone + std::fmt::Debug + Default {
    /// Whether it does not matter when a packet is known to be sent.
    const LEARNS_EARLY: bool;

    /// What is noted of a packet; by default nothing.
    type Note: Copy + std::fmt::Debug + Default;

    /// A packet has been dropped, or sent.
    fn learn(&mut self, note: Self::Note, is_dropped: bool);

    /// Takes back what was learned last, since it was not yet noted of which packet.
    fn forget(&mut self, note: Self::Note, is_dropped: bool);
}

impl Truth {
    /// The number of packets with this prediction that LQD dropped, or sent.
    pub fn of(&self, prediction: Prediction, is_dropped: bool) -> u64 {
        self.counts[prediction as usize][usize::from(is_dropped)]
    }

    /// The numbers of packets that LQD dropped, and that it sent, whatever was predicted.
    pub fn totals(&self) -> [u64; 2] {
        [true, false].map(|of| self.counts.iter().map(|counts| counts[usize::from(of)]).sum())
    }
}

impl Ledger for Truth {
    const LEARNS_EARLY: bool = true;

    type Note = Prediction;

    #[inline]
    fn learn(&mut self, prediction: Prediction, is_dropped: bool) {
        self.counts[prediction as usize][usize::from(is_dropped)] += 1;
    }

    #[inline]
    fn forget(&mut self, prediction: Prediction, is_dropped: bool) {
        self.counts[prediction as usize][usize::from(is_dropped)] -= 1;
    }
}

/// The virtual LQD. Where both forms are possible, they agree packet by packet.
#[derive(Clone, Debug)]
pub(super) enum ShadowLqd {
    /// For any times, sizes, rates and schedulers.
    Switch(Box<ShadowSwitch>),
    /// For the slotted model.
    Timetable(Box<Timetable>),
}

macro_rules! either {
    ($self:ident, $shadow:ident => $call:expr) => {
        match $self {
            ShadowLqd::Switch($shadow) => $call,
            ShadowLqd::Timetable($shadow) => $call,
        }
    };
}

impl ShadowLqd {
    /// An empty virtual LQD, beside an empty switch.
    pub fn new(rule: VictimRule, exempt: Option<u8>, environment: &Environment) -> ShadowLqd {
        match Timetable::new(rule, environment) {
            Some(timetable) => ShadowLqd::Timetable(Box::new(timetable)),
            None => ShadowLqd::Switch(Box::new(ShadowSwitch::new(rule, exempt, environment))),
        }
    }

    /// The bytes in a queue under LQD, as of the last look at its port.
    pub fn bytes(&self, queue: QueueId) -> u32 {
        either!(self, shadow => shadow.bytes(queue))
    }

    /// Brings a queue up to date, because it is examined now.
    pub fn look_at(&mut self, now: Time, queue: QueueId) {
        either!(self, shadow => shadow.look_at(now, queue));
    }

    /// Treats an arrival as LQD would, and returns the bytes of its queue afterwards.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival) -> u32 {
        either!(self, shadow => shadow.on_arrival(arrival))
    }

    /// Records a prediction for the packet that has just arrived.
    #[inline]
    pub fn note(&mut self, prediction: Prediction) {
        either!(self, shadow => shadow.note(prediction));
    }

    /// How often predictions have come true by now; the virtual LQD has the real buffer's queues.
    pub fn truth_at(&mut self, now: Time, buffer: &Buffer) -> Truth {
        (0..buffer.queues().len() as QueueId).for_each(|queue| self.look_at(now, queue));
        self.truth()
    }

    /// How often predictions have come true, as of the last look at each port.
    pub fn truth(&self) -> Truth {
        match self {
            ShadowLqd::Switch(shadow) => *shadow.ledger(),
            ShadowLqd::Timetable(shadow) => shadow.truth(),
        }
    }

    /// One more virtual LQD of the same kind, which tells what becomes of each packet. It is empty.
    /// `None` in slotted time.
    pub fn beside(&self) -> Option<LqdBeside> {
        match self {
            ShadowLqd::Switch(shadow) => Some(LqdBeside::of(shadow)),
            ShadowLqd::Timetable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::victim::Tie;
    use super::*;
    use crate::catalogue::Service;
    use spillway_engine::{Rate, Stream};

    /// The picoseconds in which a port sends a byte.
    const SLOT: u64 = 2;

    fn environment(ports: usize, capacity: u64) -> Environment {
        let rate = Rate::from_bits_per_second(8_000_000_000_000 / SLOT).unwrap();
        let example = Environment::example(ports);
        let service = Service { slot: Some(Time::from_ps(SLOT)), ..example.service.clone() };
        Environment { capacity, port_rates: vec![rate; ports], service, ..example }
    }

    /// In the slotted model a timetable, if it is not too large, takes the virtual switch's place.
    #[test]
    fn a_timetable_is_used_where_it_can_be() {
        let rule = VictimRule { count_arrival: true, tie: Tie::ArrivingQueue };
        let of = |environment: &Environment| ShadowLqd::new(rule, None, environment);
        assert!(matches!(of(&environment(64, 2_048)), ShadowLqd::Timetable(_)));
        assert!(matches!(of(&environment(64, 1 << 21)), ShadowLqd::Switch(_)));
        assert!(matches!(of(&environment(64, Buffer::UNLIMITED)), ShadowLqd::Switch(_)));
        assert!(matches!(of(&Environment::example(64)), ShadowLqd::Switch(_)));
    }

    /// Compares both forms: after every arrival, they have the same queues and the same outcomes.
    #[test]
    fn a_timetable_is_the_virtual_switch() {
        let mut random = Stream::new(1, "timetable", 0);
        let mut pushed_out = 0;
        for case in 0..600 {
            let ports = [1, 2, 3, 5, 64, 65, 130][case % 7];
            let capacity = 1 + random.below(3 * ports as u64 + 20);
            let tie = [Tie::ArrivingQueue, Tie::LowestIndex][case / 7 % 2];
            let rule = VictimRule { count_arrival: case / 14 % 2 == 0, tie };
            let environment = environment(ports, capacity);
            let mut switch = ShadowSwitch::new(rule, None, &environment);
            let mut timetable = Timetable::new(rule, &environment).unwrap();
            let (mut now, busy) = (0, 1 + random.below(ports as u64));
            for _ in 0..1_000 {
                // Many arrivals in a slot, and gaps in which all waiting packets, or some, are
                // sent.
                now += match random.below(4 * ports as u64) {
                    0 => SLOT * random.below(2 * capacity + 2),
                    1..6 => SLOT,
                    _ => 0,
                };
                let among = if random.below(3) == 0 { ports as u64 } else { busy };
                let queue = random.below(among) as QueueId;
                let now = Time::from_ps(now);
                if random.below(8) == 0 {
                    let other = random.below(ports as u64) as QueueId;
                    timetable.look_at(now, other);
                    switch.look_at(now, other);
                    assert_eq!(timetable.bytes(other), switch.bytes(other));
                    assert_eq!(timetable.truth(), *switch.ledger());
                }
                let arrival = Arrival { now, queue, size: 1, ..Arrival::default() };
                assert_eq!(timetable.on_arrival(&arrival), switch.on_arrival(&arrival));
                assert_eq!(timetable.bytes(queue), switch.bytes(queue));
                let said = [Prediction::None, Prediction::Accept, Prediction::Drop];
                let said = said[random.below(3) as usize];
                if said != Prediction::None {
                    timetable.note(said);
                    switch.note(said);
                }
                assert_eq!(timetable.truth(), *switch.ledger());
            }
            pushed_out += switch.ledger().of(Prediction::Drop, true);
        }
        assert!(pushed_out > 10_000, "{pushed_out}");
    }
}
