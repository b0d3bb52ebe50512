//! Counts what becomes of flows, for observers outside the run.

use super::Hosts;
use spillway_engine::Time;
use std::collections::VecDeque;

/// Counts by class since the observation began, and the latest flows that have become complete.
#[derive(Clone, Debug)]
pub(crate) struct ObservedFlows {
    pub started: Vec<u64>,
    pub completed: Vec<u64>,
    /// Payload of flows that are over. Some of it may have arrived before the observation began.
    pub delivered: Vec<u64>,
    /// The latest complete flows, if they are kept, in the order of completion.
    kept: Option<VecDeque<Completed>>,
    /// How many complete flows have been forgotten.
    forgotten: u64,
}

/// A flow that is complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Completed {
    pub class: u16,
    pub fct: Time,
    /// The base of its slowdown.
    pub base: Time,
}

impl Completed {
    /// The time that the flow took, divided by the base.
    pub fn slowdown(&self) -> f64 {
        self.fct.ps() as f64 / self.base.ps().max(1) as f64
    }
}

impl ObservedFlows {
    fn new(classes: usize) -> ObservedFlows {
        let none = vec![0; classes];
        ObservedFlows {
            started: none.clone(),
            completed: none.clone(),
            delivered: none,
            kept: None,
            forgotten: 0,
        }
    }

    /// How many complete flows have been kept so far.
    pub fn kept_so_far(&self) -> u64 {
        self.forgotten + self.kept.as_ref().map_or(0, |kept| kept.len() as u64)
    }

    /// The complete flows of some classes. Of the flows of all classes, the first `number` to
    /// become complete are left out.
    pub fn kept_since<'a>(
        &'a self,
        number: u64,
        classes: &'a [u16],
    ) -> impl Iterator<Item = &'a Completed> {
        let since = self.kept.iter().flat_map(move |kept| kept.range(self.place_of(number)..));
        since.filter(|each| classes.contains(&each.class))
    }

    /// Forgets the first `number` flows to become complete.
    pub fn forget_before(&mut self, number: u64) {
        let place = self.place_of(number);
        if let Some(kept) = &mut self.kept {
            kept.drain(..place);
            self.forgotten = number;
        }
    }

    fn place_of(&self, number: u64) -> usize {
        (number - self.forgotten) as usize
    }
}

impl Hosts {
    /// Observes flows from now on. `keeps` says whether complete flows are kept.
    pub fn observe_flows(&mut self, keeps: bool) {
        let classes = self.tally.delivered_bytes.len();
        let observed = self.observed.get_or_insert_with(|| Box::new(ObservedFlows::new(classes)));
        if keeps {
            observed.kept.get_or_insert_default();
        }
    }

    /// A flow of a class starts.
    #[inline]
    pub fn note_started(&mut self, class: u16) {
        if let Some(observed) = &mut self.observed {
            observed.started[usize::from(class)] += 1;
        }
    }

    /// A flow is over.
    #[inline]
    pub fn note_over(&mut self, slot: u32) {
        if let Some(observed) = &mut self.observed {
            let end = self.ends.receiving(slot);
            observed.delivered[usize::from(end.class)] += end.receiver.delivered();
        }
    }

    /// A flow is complete now.
    #[inline]
    pub(super) fn note_complete(&mut self, slot: u32) {
        if self.observed.is_some() {
            self.note_observed_complete(slot);
        }
    }

    #[cold]
    fn note_observed_complete(&mut self, slot: u32) {
        let completed_at = self.completed_at(slot);
        let flow = &self.ends.sending(slot).flow;
        let (class, base) = (flow.spec.class, self.base.of_flow(&flow.spec, flow.ideal));
        let completed = Completed { class, fct: completed_at.since(flow.spec.start), base };
        if let Some(observed) = &mut self.observed {
            observed.completed[usize::from(class)] += 1;
            if let Some(kept) = &mut observed.kept {
                kept.push_back(completed);
            }
        }
    }
}
