//! A look at a run from outside: the numbers of this moment, and what has happened since the last
//! look.
//!
//! A look changes nothing. What not every run counts is counted from the first look at it. Each
//! name remembers when it was last looked at, so looks at one name do not disturb another.

mod signals;

pub use signals::{Each, Quantity, SIGNALS, Signal};

use super::Simulation;
use crate::host::Completed;
use crate::record::column::Values;
use signals::{Named, Places};
use spillway_engine::Time;
use spillway_settings::SettingsError;
use spillway_switch::QueueId;
use std::collections::BTreeMap;

/// The signals that are followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Observing {
    followed: Vec<Followed>,
    /// The place of each name among them.
    places: BTreeMap<String, usize>,
}

/// A signal that has been named.
#[derive(Clone, Debug)]
struct Followed {
    named: Named,
    /// When it was last looked at, or first named.
    at: Time,
    /// What was counted then, place by place.
    before: Vec<u128>,
    /// For each place, the number that the switch needs to give the most bytes that the place has
    /// held.
    peaks: Vec<usize>,
}

/// The numbers of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The numbers, `i64` or `f64`. Numbers along the last axis are next to each other.
    pub values: Values,
    /// How many there are along each axis.
    pub shape: Vec<usize>,
}

impl Simulation {
    /// Looks at signals: their present numbers, or what has happened since the last look at each
    /// name. A signal that has not been named before is counted from now on.
    ///
    /// # Errors
    /// If a name is not that of a signal. Then nothing has been looked at.
    pub fn observe(&mut self, names: &[String]) -> Result<Vec<Look>, SettingsError> {
        let places = self.follow(names)?;
        self.catch_up();
        let mut followed = std::mem::take(&mut self.observing.followed);
        let looks = places.into_iter().map(|place| self.look(&mut followed[place])).collect();
        self.observing.followed = followed;
        self.forget_completed();
        Ok(looks)
    }

    /// Begins to count the signals that have not been named before. Returns the places of all
    /// signals.
    ///
    /// # Errors
    /// If a name is not that of a signal. Then nothing is counted for these names.
    pub fn follow(&mut self, names: &[String]) -> Result<Vec<usize>, SettingsError> {
        let mut new = BTreeMap::new();
        for name in names.iter().filter(|name| !self.observing.places.contains_key(*name)) {
            new.insert(name, signals::read(name, &self.scenario, &self.network.switches)?);
        }
        if !new.is_empty() {
            self.catch_up();
        }
        for (name, named) in new {
            let followed = self.begin(named);
            self.observing.places.insert(name.clone(), self.observing.followed.len());
            self.observing.followed.push(followed);
        }
        Ok(names.iter().map(|name| self.observing.places[name]).collect())
    }

    /// Begins to count what a signal needs.
    fn begin(&mut self, named: Named) -> Followed {
        let now = self.now();
        let mut peaks = Vec::new();
        match &named.places {
            Places::Queues(queues) if named.signal.is_since => {
                // The queues of a switch follow each other.
                for of_switch in queues.chunk_by(|one, next| one.0 == next.0) {
                    let switch = &mut self.network.switches[of_switch[0].0 as usize];
                    switch.observe(now);
                    if named.signal.quantity == Quantity::MaxQueueBytes {
                        let number = switch.observe_peaks(now);
                        peaks.extend(of_switch.iter().map(|_| number));
                    }
                }
            }
            Places::Classes(_) => self.hosts.observe_flows(named.signal.each == Each::Flow),
            _ => {}
        }
        let before = self.totals(&named);
        Followed { named, at: now, before, peaks }
    }

    /// Looks at a signal. The next look begins where this one ends.
    fn look(&mut self, followed: &mut Followed) -> Look {
        let now = self.now();
        let totals = self.totals(&followed.named);
        let before = std::mem::replace(&mut followed.before, totals);
        let at = std::mem::replace(&mut followed.at, now);
        let Followed { named, before: totals, peaks, .. } = &*followed;
        let since = || totals.iter().zip(&before).map(|(total, before)| total - before);
        let values = match (&named.places, named.signal.quantity) {
            (Places::Queues(queues), Quantity::MeanQueueBytes) => {
                let mean = |(held, queue): (u128, &(u32, QueueId))| match now.since(at).ps() {
                    0 => self.queue_bytes(queue) as f64,
                    span => held as f64 / span as f64,
                };
                Values::F64(since().zip(queues).map(mean).collect())
            }
            (Places::Queues(queues), Quantity::MaxQueueBytes) => {
                let mut most = |(&(switch, queue), &number): (&(u32, QueueId), &usize)| {
                    self.network.switches[switch as usize].take_peak(now, number, queue).into()
                };
                Values::I64(queues.iter().zip(peaks).map(&mut most).collect())
            }
            (Places::Classes(classes), Quantity::FctPs) => {
                let completed = self.completed_since(&before, classes);
                Values::I64(completed.map(|each| each.fct.ps() as i64).collect())
            }
            (Places::Classes(classes), Quantity::FctSlowdown) => {
                let completed = self.completed_since(&before, classes);
                Values::F64(completed.map(Completed::slowdown).collect())
            }
            (_, Quantity::MarkedGbps | Quantity::SentGbps | Quantity::DeliveredGbps) => {
                let gbps = |bytes: u128| match now.since(at).ps() {
                    0 => 0.0,
                    span => bytes as f64 * 8e3 / span as f64,
                };
                Values::F64(since().map(gbps).collect())
            }
            _ if named.signal.is_since => {
                Values::I64(since().map(|number| number as i64).collect())
            }
            _ => Values::I64(totals.iter().map(|&number| number as i64).collect()),
        };
        let shape = match named.signal.each {
            Each::Flow => vec![length(&values)],
            _ => named.shape.clone(),
        };
        Look { values, shape }
    }

    /// What has been counted of a signal so far, or what it is now, place by place.
    fn totals(&mut self, named: &Named) -> Vec<u128> {
        match &named.places {
            Places::Queues(queues) => {
                let of = |queue| self.total_of_queue(named.signal.quantity, queue);
                queues.iter().map(of).collect()
            }
            Places::Ports(ports) => {
                let sent = |&(switch, port): &(u32, u32)| {
                    let line = self.network.ports[switch as usize].first_line + port;
                    self.network.sent_bytes_by(line, self.now()).into()
                };
                ports.iter().map(sent).collect()
            }
            Places::Switches(switches) => {
                let held =
                    |&switch: &u32| self.network.switches[switch as usize].occupancy().into();
                switches.iter().map(held).collect()
            }
            Places::Classes(classes) => vec![self.total_of_classes(named.signal.quantity, classes)],
        }
    }

    fn total_of_queue(&mut self, quantity: Quantity, place: &(u32, QueueId)) -> u128 {
        let (now, &(number, queue)) = (self.now(), place);
        let switch = &mut self.network.switches[number as usize];
        match quantity {
            Quantity::QueueBytes => self.queue_bytes(place).into(),
            Quantity::QueuePackets => switch.buffer_of(queue).packets(queue).into(),
            Quantity::MeanQueueBytes => switch.queue_counts(now, queue).byte_picoseconds,
            Quantity::MarkedPackets => switch.queue_counts(now, queue).marked_packets.into(),
            Quantity::MarkedBytes | Quantity::MarkedGbps => {
                switch.queue_counts(now, queue).marked_bytes.into()
            }
            Quantity::DroppedPackets => switch.queue_counts(now, queue).dropped_packets.into(),
            Quantity::DroppedBytes => switch.queue_counts(now, queue).dropped_bytes.into(),
            // Not a total: the switch is asked for it by its number.
            _ => 0,
        }
    }

    fn queue_bytes(&self, &(switch, queue): &(u32, QueueId)) -> u64 {
        self.network.switches[switch as usize].buffer_of(queue).bytes(queue).into()
    }

    fn total_of_classes(&self, quantity: Quantity, classes: &[u16]) -> u128 {
        let Some(observed) = &self.hosts.observed else { return 0 };
        let sum = |counts: &[u64]| classes.iter().map(|&class| counts[usize::from(class)]).sum();
        let total: u64 = match quantity {
            Quantity::DeliveredBytes | Quantity::DeliveredGbps => {
                let of_alive = |slot: u32| {
                    let end = self.hosts.ends.receiving(slot);
                    if classes.contains(&end.class) { end.receiver.delivered() } else { 0 }
                };
                let alive: u64 = self.hosts.ends.slots().into_iter().map(of_alive).sum();
                sum(&observed.delivered) + alive
            }
            Quantity::FlowsStarted => sum(&observed.started),
            Quantity::FlowsCompleted => sum(&observed.completed),
            _ => observed.kept_so_far(),
        };
        total.into()
    }

    /// The flows of some classes that have become complete since the last look.
    fn completed_since<'a>(
        &'a self,
        before: &[u128],
        classes: &'a [u16],
    ) -> impl Iterator<Item = &'a Completed> + use<'a> {
        let number = before[0] as u64;
        self.hosts.observed.iter().flat_map(move |observed| observed.kept_since(number, classes))
    }

    /// Forgets the flows that no look can ask for any more.
    fn forget_completed(&mut self) {
        let lists =
            self.observing.followed.iter().filter(|each| each.named.signal.each == Each::Flow);
        let seen = lists.map(|each| each.before[0] as u64).min();
        if let (Some(seen), Some(observed)) = (seen, &mut self.hosts.observed) {
            observed.forget_before(seen);
        }
    }
}

fn length(values: &Values) -> usize {
    match values {
        Values::I64(values) => values.len(),
        Values::F64(values) => values.len(),
        _ => unreachable!("numbers of signals are of these types"),
    }
}
