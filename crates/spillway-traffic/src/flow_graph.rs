//! Flows of a list that wait for others of the list, and the jobs to which flows belong.
//!
//! # Rule
//! A flow that waits starts `delay` after its host knows that the flows for which it waits are
//! complete, and not before its own start. If a flow is left out, so is every flow that waits for
//! it.

use super::release::End;
use super::waiting::{Iteration, Released, Waiting};
use spillway_engine::Time;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A flow of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The flow. It does not start before `start`. Its tag is its place among the nodes.
    pub spec: FlowSpec,
    /// How long it waits once its host knows that all others are complete.
    pub delay: Time,
    /// The places of the flows that it waits for, each once.
    pub after: Vec<u32>,
    /// Its job.
    pub job: Option<u32>,
}

/// The flows of a list, and which of them wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGraph {
    nodes: Vec<Node>,
    /// The flows that wait for each.
    followers: Vec<Vec<u32>>,
    /// Which flows start, unless the flows for which they wait take too long.
    starts: Vec<bool>,
    has_jobs: bool,
    /// No flow starts at this time or later.
    duration: Time,
}

impl FlowGraph {
    /// A graph of flows, none of which starts at `duration` or later.
    ///
    /// # Errors
    /// If flows wait for each other in a cycle: their places, in the order of the cycle.
    pub fn new(nodes: Vec<Node>, duration: Time) -> Result<FlowGraph, Vec<u32>> {
        let mut followers = vec![Vec::new(); nodes.len()];
        for (place, node) in (0..).zip(&nodes) {
            for &other in &node.after {
                followers[other as usize].push(place);
            }
        }
        let mut left: Vec<usize> = nodes.iter().map(|node| node.after.len()).collect();
        let mut starts = vec![true; nodes.len()];
        let is_free = |place: &u32| nodes[*place as usize].after.is_empty();
        let mut free: Vec<u32> = (0..nodes.len() as u32).filter(is_free).collect();
        let mut ordered = 0;
        while let Some(place) = free.pop() {
            ordered += 1;
            let node = &nodes[place as usize];
            let all = node.after.iter().all(|&other| starts[other as usize]);
            starts[place as usize] = all && node.spec.start < duration;
            for &other in &followers[place as usize] {
                left[other as usize] -= 1;
                if left[other as usize] == 0 {
                    free.push(other);
                }
            }
        }
        if ordered < nodes.len() {
            return Err(cycle(&nodes, &left));
        }
        let has_jobs = nodes.iter().any(|node| node.job.is_some());
        Ok(FlowGraph { nodes, followers, starts, has_jobs, duration })
    }

    /// Whether some of its flows belong to jobs.
    pub fn has_jobs(&self) -> bool {
        self.has_jobs
    }

    /// The flows that start by themselves, in the order of the list.
    pub fn first(&self) -> impl Iterator<Item = FlowSpec> {
        let of = self.nodes.iter().zip(&self.starts);
        of.filter(|(node, starts)| node.after.is_empty() && **starts).map(|(node, _)| node.spec)
    }

    /// All flows that start, unless the flows for which they wait take too long.
    pub fn all(&self) -> impl Iterator<Item = FlowSpec> {
        let of = self.nodes.iter().zip(&self.starts);
        of.filter(|(_, starts)| **starts).map(|(node, _)| node.spec)
    }

    /// The state of a run that is about to begin.
    pub fn waiting(self: &Arc<FlowGraph>) -> GraphState {
        let mut jobs: BTreeMap<u32, Job> = BTreeMap::new();
        for (node, starts) in self.nodes.iter().zip(&self.starts) {
            let Some(number) = node.job else { continue };
            let class = node.spec.class;
            let job = jobs.entry(number).or_insert(Job { class, start: Time::MAX, left: 0 });
            job.left += 1;
            if node.after.is_empty() && *starts {
                job.start = job.start.min(node.spec.start);
            }
        }
        let waits = |node: &Node| !node.after.is_empty();
        GraphState {
            missing: self.nodes.iter().map(|node| node.after.len() as u32).collect(),
            known_at: vec![Time::ZERO; self.nodes.len()],
            starts: self.starts.clone(),
            left: self.nodes.iter().zip(&self.starts).filter(|(n, s)| waits(n) && **s).count()
                as u64,
            jobs,
            graph: self.clone(),
        }
    }
}

/// Flows that wait for each other in a cycle, found among flows that have something left to wait
/// for.
fn cycle(nodes: &[Node], left: &[usize]) -> Vec<u32> {
    let waits = |place: u32| left[place as usize] > 0;
    let first = (0..nodes.len() as u32).find(|&place| waits(place)).unwrap_or(0);
    let mut path = vec![first];
    let mut place_of = BTreeMap::from([(first, 0)]);
    loop {
        let last = path[path.len() - 1] as usize;
        let Some(&next) = nodes[last].after.iter().find(|&&other| waits(other)) else {
            return path;
        };
        if let Some(&place) = place_of.get(&next) {
            return path.split_off(place);
        }
        place_of.insert(next, path.len());
        path.push(next);
    }
}

/// A job of a list.
#[derive(Clone, Debug)]
struct Job {
    class: u16,
    start: Time,
    /// Its flows that are not complete.
    left: u32,
}

/// The flows of a list that still wait.
#[derive(Clone, Debug)]
pub struct GraphState {
    graph: Arc<FlowGraph>,
    /// For each flow, how many of the flows for which it waits are not complete.
    missing: Vec<u32>,
    /// For each flow, when its host knows that the flows completed so far are complete. The flow
    /// waits for the last of these times.
    known_at: Vec<Time>,
    /// Which flows start.
    starts: Vec<bool>,
    /// Flows that wait.
    left: u64,
    /// Jobs that are not over.
    jobs: BTreeMap<u32, Job>,
}

impl GraphState {
    /// Leaves out the flows that wait for a flow that never starts.
    fn leave_out(&mut self, flow: u32) {
        let mut out = vec![flow];
        while let Some(place) = out.pop() {
            for &follower in &self.graph.followers[place as usize] {
                if std::mem::take(&mut self.starts[follower as usize]) {
                    self.left -= 1;
                    out.push(follower);
                }
            }
        }
    }
}

impl Waiting for GraphState {
    fn on_complete(&mut self, flow: &FlowSpec, end: &mut End, released: &mut Released) {
        let graph = self.graph.clone();
        let place = flow.tag as usize;
        for &follower in &graph.followers[place] {
            let node = &graph.nodes[follower as usize];
            let known_at = &mut self.known_at[follower as usize];
            *known_at = end.known_at(node.spec.src).max(*known_at);
            let missing = &mut self.missing[follower as usize];
            *missing -= 1;
            if *missing > 0 || !self.starts[follower as usize] {
                continue;
            }
            self.left -= 1;
            let start = known_at.saturating_add(node.delay).max(node.spec.start);
            if start >= graph.duration {
                self.leave_out(follower);
                continue;
            }
            if let Some(job) = node.job.and_then(|job| self.jobs.get_mut(&job)) {
                job.start = job.start.min(start);
            }
            released.starts.push(FlowSpec { start, ..node.spec });
        }
        let Some(number) = graph.nodes[place].job else { return };
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.left -= 1;
        if job.left == 0 {
            released.ended.push(iteration(number, job, Some(end.now)));
            self.jobs.remove(&number);
        }
    }

    fn left(&self) -> u64 {
        self.left
    }

    fn unfinished(&self) -> Vec<Iteration> {
        self.jobs.iter().map(|(&number, job)| iteration(number, job, None)).collect()
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&self.missing[..]) + size_of_val(&self.known_at[..]) + self.starts.len())
            as u64
    }
}

fn iteration(number: u32, job: &Job, end: Option<Time>) -> Iteration {
    Iteration {
        class: job.class,
        job: number,
        number: 0,
        start: (job.start != Time::MAX).then_some(job.start),
        end,
    }
}
