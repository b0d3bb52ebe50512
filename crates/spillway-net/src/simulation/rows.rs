//! The row of each flow, written at its end.

use super::Simulation;
use crate::flow::FlowSpec;
use crate::record::{FlowRow, Outcome};

impl Simulation {
    /// If a flow became over in this event, writes its row and frees its place.
    #[inline(always)]
    pub(super) fn write_row_if_over(&mut self) {
        if let Some(slot) = self.hosts.take_over() {
            self.write_last_row(slot);
        }
    }

    /// Writes the row of a flow, and removes the flow.
    #[cold]
    fn write_last_row(&mut self, slot: u32) {
        let outcome = self.outcome_of(slot);
        let sending = self.hosts.ends.sending(slot);
        let (flow, sender) = (&sending.flow, sending.sender());
        let is_endless = flow.spec.size == FlowSpec::ENDLESS;
        let counted = !is_endless && flow.spec.start >= self.scenario.warmup;
        let receiver = &self.hosts.ends.receiving(slot).receiver;
        self.record.flows.push(FlowRow::of(flow.id, &flow.spec, &outcome, sender, receiver));
        if counted {
            self.record.outcomes.push(outcome);
        }
        self.hosts.remove(slot);
    }

    /// Ends the run at this time: writes the rows of flows that are alive, and what instruments
    /// still hold.
    pub fn finish(&mut self) {
        for slot in self.hosts.ends.slots() {
            self.write_last_row(slot);
        }
        self.finish_fates();
        self.finish_ports();
        self.finish_lines();
        self.collect_traces_before(None);
    }

    fn outcome_of(&self, slot: u32) -> Outcome {
        let (sending, receiving) = (self.hosts.ends.sending(slot), self.hosts.ends.receiving(slot));
        let spec = &sending.flow.spec;
        Outcome {
            start: spec.start,
            fct: receiving.completed_at.unwrap_or(self.network.now).since(spec.start),
            ideal: sending.flow.ideal,
            size: spec.size,
            query: spec.query.unwrap_or(u32::MAX),
            class: spec.class,
            complete: receiving.completed_at.is_some(),
            timed_out: sending.sender().is_some_and(|sender| sender.timeouts > 0),
        }
    }
}
