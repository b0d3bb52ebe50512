//! Flows at their end: a row for each, and their place for others.

use super::Simulation;
use super::flows::Flow;
use crate::flow::FlowSpec;
use crate::record::{FlowTable, Outcome};

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
        let rows = &mut self.record.flows;
        rows.flow_id.push(flow.id);
        rows.src.push(spec.src);
        rows.dst.push(spec.dst);
        rows.size_bytes.push(if is_endless { 0 } else { spec.size });
        rows.class.push(spec.class);
        rows.priority.push(spec.priority.map_or(-1, i16::from));
        rows.start_ps.push(spec.start.ps());
        rows.fct_ps.push(match outcome.complete {
            true => outcome.fct.ps(),
            false => FlowTable::UNFINISHED,
        });
        rows.ideal_ps.push(outcome.ideal.ps());
        rows.delivered_bytes.push(flow.receiver.delivered());
        rows.retransmitted_packets.push(flow.sender.retransmitted_packets);
        rows.timeouts.push(flow.sender.timeouts);
        rows.query_id.push(spec.query.map_or(-1, i64::from));
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
