//! Flows that start when others are complete.

use super::bounds::Bounds;
use super::release::End;
use crate::flow::FlowSpec;
use dyn_clone::DynClone;
use spillway_engine::{Stream, Time};
use std::fmt;

/// The flows of a section that start when others of the section are complete.
///
/// It knows flows by their [tags](FlowSpec::tag).
pub trait Waiting: fmt::Debug + DynClone + Send {
    /// A flow of the section is complete now. Tells what starts now or later, in any order, and
    /// what has ended. A flow starts when its host knows of all ends that it waits for. One that
    /// would start when flows start no more is left out, and those that wait for it are, too.
    fn on_complete(&mut self, flow: &FlowSpec, end: &mut End, released: &mut Released);

    /// How many flows wait, and are not left out.
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
    /// When the first of its flows started, or will; `None` if that is not known.
    pub start: Option<Time>,
    /// When the last of them was complete; `None` if it is not.
    pub end: Option<Time>,
}

/// What the completion of a flow brings about.
#[derive(Debug, Default)]
pub struct Released {
    /// Flows that start.
    pub starts: Vec<FlowSpec>,
    /// Iterations of jobs that have ended.
    pub ended: Vec<Iteration>,
}

/// Flows that wait, whose bounds are drawn.
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
        // Drawn in an order that does not depend on that of rows.
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
