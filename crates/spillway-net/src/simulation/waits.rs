//! Flows that start when others are complete.

use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_traffic::{Delays, End, Iteration, Release, Released, Traffic, Waiting};
use spillway_transport::flow::FlowSpec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The flows of a scenario's traffic that wait for other flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    sections: Vec<(Box<dyn Waiting>, Release)>,
    delays: Delays,
    /// For each class, the place of its section among them. For classes without such a section, any
    /// place.
    place_of_class: Vec<usize>,
    /// Flows that have been released and start at their time.
    released: BinaryHeap<Reverse<FlowSpec>>,
    /// Iterations of jobs that have ended.
    ended: Vec<Iteration>,
}

impl Waits {
    /// The state before any flow has been released.
    pub fn of(traffic: &Traffic) -> Waits {
        let mut waits =
            Waits { place_of_class: vec![0; traffic.classes.len()], ..Waits::default() };
        for source in &traffic.sources {
            if let Some(waiting) = source.waiting() {
                for class in source.class_numbers() {
                    waits.place_of_class[usize::from(class)] = waits.sections.len();
                }
                waits.sections.push((waiting, source.release()));
            }
        }
        waits
    }

    /// A flow for which others wait is complete now, at this host. Returns the iterations of jobs
    /// that have ended.
    pub fn on_complete(
        &mut self,
        scenario: &Scenario,
        now: Time,
        (flow, host): (&FlowSpec, u32),
    ) -> Vec<Iteration> {
        let (section, release) = &mut self.sections[self.place_of_class[usize::from(flow.class)]];
        let mut released = Released::default();
        let transport = scenario.transport(scenario.class_transport[usize::from(flow.class)]);
        let mut end = End {
            now,
            host,
            release: *release,
            ack_size: transport.ack_size,
            topology: &scenario.topology,
            delays: &mut self.delays,
        };
        section.on_complete(flow, &mut end, &mut released);
        self.released.extend(released.starts.into_iter().map(Reverse));
        self.ended.extend_from_slice(&released.ended);
        released.ended
    }

    /// The next flow that starts.
    pub fn next(&self) -> Option<&FlowSpec> {
        self.released.peek().map(|Reverse(flow)| flow)
    }

    /// Takes the next flow.
    pub fn take_next(&mut self) -> Option<FlowSpec> {
        self.released.pop().map(|Reverse(flow)| flow)
    }

    /// Whether flows still wait although nothing is under way, so that they will never start.
    pub fn is_stuck(&self) -> bool {
        self.sections.iter().any(|(section, _)| section.left() > 0)
    }

    /// The number of flows that still wait for others.
    pub fn left(&self) -> u64 {
        self.sections.iter().map(|(section, _)| section.left()).sum()
    }

    /// The iterations of jobs that have ended, in the order in which they ended.
    pub fn ended(&self) -> &[Iteration] {
        &self.ended
    }

    /// The iterations that have not ended, by class, job and number.
    pub fn unfinished(&self) -> Vec<Iteration> {
        let all = self.sections.iter().flat_map(|(section, _)| section.unfinished());
        let mut all: Vec<Iteration> = all.collect();
        all.sort_by_key(|each| (each.class, each.job, each.number));
        all
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        let sections: u64 = self.sections.iter().map(|(section, _)| section.bytes()).sum();
        sections
            + self.delays.bytes()
            + (self.released.len() * size_of::<FlowSpec>() + size_of_val(&self.ended[..])) as u64
    }
}
