//! Flows that start when others are complete.

use super::bounds::Bounds;
use super::release::End;
use dyn_clone::DynClone;
use spillway_engine::{Stream, Time};
use spillway_transport::flow::FlowSpec;
use std::fmt;

/// The flows of a section that start when others of the section are complete.
///
/// It identifies flows by their [tags](FlowSpec::tag).
pub trait Waiting: fmt::Debug + DynClone + Send {
    /// A flow of the section is complete now. Reports the flows that start now or later, in any
    /// order, and the iterations that have ended. A flow starts when its host knows the ends of all
    /// flows for which it waits. If that is after the time at which flows may start, the flow is
    /// left out, and so are all flows that wait for it.
    fn on_complete(&mut self, flow: &FlowSpec, end: &mut End, released: &mut Released);

    /// How many flows wait and have not been left out.
    fn left(&self) -> u64;

    /// The iterations of jobs that have not ended.
    fn unfinished(&self) -> Vec<Iteration>;

    /// Bytes of memory that it takes.
    fn bytes(&self) -> u64;
}

dyn_clone::clone_trait_object!(Waiting);

/// An iteration of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// The class of its flows.
    pub class: u16,
    /// The job's number in its section.
    pub job: u32,
    /// Its number, from 0.
    pub number: u32,
    /// When the first of its flows started, or will start; `None` if that is not known.
    pub start: Option<Time>,
    /// When the last of them was complete; `None` if it is not.
    pub end: Option<Time>,
}

/// What follows from the completion of a flow.
#[derive(Debug, Default)]
pub struct Released {
    /// Flows that start.
    pub starts: Vec<FlowSpec>,
    /// Iterations of jobs that have ended.
    pub ended: Vec<Iteration>,
}

/// Flows that wait, with bounds drawn for them.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    pub waiting: Box<dyn Waiting>,
    pub bounds: Bounds,
    pub random: Stream,
}

impl Waiting for Bounded {
    fn on_complete(&mut self, flow: &FlowSpec, end: &mut End, released: &mut Released) {
        let first = released.starts.len();
        self.waiting.on_complete(flow, end, released);
        // Bounds are drawn in an order that does not depend on the order of rows.
        released.starts[first..].sort_unstable();
        for flow in &mut released.starts[first..] {
            flow.bound = self.bounds.draw(flow, &mut self.random);
        }
    }

    fn left(&self) -> u64 {
        self.waiting.left()
    }

    fn unfinished(&self) -> Vec<Iteration> {
        self.waiting.unfinished()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}
