//! Flows at their end: a row for each, and their place for others.

use super::Simulation;
use super::flows::Flow;
use crate::flow::FlowSpec;
use crate::record::{FlowRow, Outcome};

impl Simulation {
    /// If nothing of a flow will happen any more: writes its row and gives back its place.
    #[inline]
    pub(super) fn release_if_over(&mut self, slot: u32) {
        if self.flows[slot].is_over() {
            self.release(slot);
        }
    }

    #[cold]
    fn release(&mut self, slot: u32) {
        if self.flows[slot].completed_at.is_none() {
            // Open loop, and some of it was lost.
            self.unfinished -= 1;
        }
        self.write_row(slot);
        self.flows.remove(slot);
    }

    /// Ends the run, wherever it is: writes the rows of flows that are alive.
    pub fn finish(&mut self) {
        for slot in self.flows.slots() {
            self.write_row(slot);
            self.flows.remove(slot);
        }
        self.finish_fates();
        self.finish_ports();
        self.finish_links();
        self.collect_traces_before(None);
    }

    fn write_row(&mut self, slot: u32) {
        let flow = &self.flows[slot];
        let outcome = self.outcome_of(flow);
        let spec = &flow.spec;
        let is_endless = spec.size == FlowSpec::ENDLESS;
        let row = FlowRow::of(flow.id, spec, &outcome, &flow.sender, &flow.receiver);
        self.record.flows.push(row);
        if !is_endless && spec.start >= self.scenario.warmup {
            self.record.outcomes.push(outcome);
        }
    }

    fn outcome_of(&self, flow: &Flow) -> Outcome {
        let spec = &flow.spec;
        Outcome {
            start: spec.start,
            fct: flow.completed_at.unwrap_or(self.network.now).since(spec.start),
            ideal: flow.ideal,
            size: spec.size,
            query: spec.query.unwrap_or(u32::MAX),
            class: spec.class,
            complete: flow.completed_at.is_some(),
            timed_out: flow.sender.timeouts > 0,
        }
    }
}
