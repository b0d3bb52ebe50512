//! How far the ranks of a collective have come.

use super::{Jobs, Schedule};
use crate::release::End;
use crate::waiting::{Iteration, Released, Waiting};
use spillway_engine::{Stream, Time};
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of all jobs of a section. The tag of a flow is its job.
#[derive(Clone, Debug)]
pub struct State {
    jobs: Arc<Jobs>,
    schedule: Schedule,
    /// The rank of every host in its job.
    rank_of: BTreeMap<u32, u32>,
    courses: Vec<Course>,
}

/// A job.
#[derive(Clone, Debug, Default)]
struct Course {
    ranks: Vec<Rank>,
    /// Flows that have arrived for a step that their receiver has not done yet, by the rank that
    /// received them and the step.
    arrived: BTreeMap<(u32, u64), Arrived>,
    /// The iterations that have begun and not ended.
    iterations: BTreeMap<u32, Iterating>,
    /// Flows that have not started.
    left: u64,
    /// The first iteration in which some rank would have gone on too late, if there is one. Earlier
    /// iterations may still end.
    cut: Option<u32>,
}

/// Flows of a step that a rank has received.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    flows: u32,
    /// When the rank knows that they are complete.
    known_at: Time,
}

/// An iteration that has begun.
#[derive(Clone, Debug)]
struct Iterating {
    start: Time,
    /// Flows that have not started.
    left: u64,
    /// Flows that are not complete.
    incomplete: u64,
}

/// A host in a job.
#[derive(Clone, Debug)]
struct Rank {
    /// The rank's present step, counted over all iterations.
    step: u64,
    /// How many flows of this step the rank has not sent to their end, and when it knows the end of
    /// the others.
    sending: u32,
    known_at: Time,
    stream: Stream,
}

/// A step of a rank that begins.
#[derive(Clone, Copy, Debug)]
struct Begin {
    start: Time,
    job: u32,
    rank: u32,
    step: u32,
}

impl Begin {
    fn host(self, jobs: &Jobs) -> u32 {
        jobs.ranks[self.job as usize][self.rank as usize]
    }

    fn flows(self, jobs: &Jobs, schedule: Schedule) -> impl Iterator<Item = FlowSpec> {
        let Begin { start, job, rank, step } = self;
        let src = self.host(jobs);
        let sends = schedule.sends(rank, step);
        sends.map(move |(to, size)| {
            let dst = jobs.ranks[job as usize][to as usize];
            FlowSpec { tag: job, ..jobs.label.flow(start, src, dst, size) }
        })
    }
}

impl State {
    /// The state at the beginning.
    pub fn new(jobs: Arc<Jobs>, schedule: Schedule) -> State {
        State::begun(jobs, schedule).0
    }

    /// The state at the beginning, and when each rank of each job starts.
    fn begun(jobs: Arc<Jobs>, schedule: Schedule) -> (State, Vec<Begin>) {
        let mut rank_of = BTreeMap::new();
        for hosts in &jobs.ranks {
            rank_of.extend(hosts.iter().copied().zip(0..));
        }
        let course = |hosts: &Vec<u32>| Course {
            left: schedule.flows() * u64::from(jobs.iterations),
            ranks: hosts
                .iter()
                .map(|&host| Rank {
                    step: 0,
                    sending: 0,
                    known_at: Time::ZERO,
                    stream: jobs.label.stream(u64::from(host)),
                })
                .collect(),
            ..Course::default()
        };
        let courses = jobs.ranks.iter().map(course).collect();
        let mut state = State { schedule, rank_of, courses, jobs };
        let mut begins = Vec::new();
        for job in 0..state.courses.len() as u32 {
            for rank in 0..schedule.ranks {
                begins.extend(state.begin(job, rank, state.jobs.start));
            }
        }
        (state, begins)
    }

    /// The flows that start by themselves, in their order.
    pub fn first(jobs: Arc<Jobs>, schedule: Schedule) -> impl Iterator<Item = FlowSpec> + Clone {
        let mut begins = State::begun(jobs.clone(), schedule).1;
        begins.sort_unstable_by_key(|begin| (begin.start, begin.host(&jobs)));
        begins.into_iter().flat_map(move |begin| {
            let mut flows: Vec<FlowSpec> = begin.flows(&jobs, schedule).collect();
            flows.sort_unstable();
            flows
        })
    }

    /// A rank begins its present step. If that would be too late, the rank and all ranks that wait
    /// for it never go on.
    fn begin(&mut self, job: u32, rank: u32, now: Time) -> Option<Begin> {
        let State { jobs, schedule, courses, .. } = self;
        let course = &mut courses[job as usize];
        let own = &mut course.ranks[rank as usize];
        let steps = u64::from(schedule.steps());
        let (iteration, step) = ((own.step / steps) as u32, (own.step % steps) as u32);
        let start = match step {
            0 => now.saturating_add(jobs.delay(&mut own.stream)),
            _ => now,
        };
        own.sending = schedule.width(step);
        if start >= jobs.duration {
            // Within an iteration it is then too late for all other ranks too.
            let cut = if step == 0 { iteration } else { 0 };
            course.cut = Some(course.cut.map_or(cut, |other| other.min(cut)));
            return None;
        }
        let flows = schedule.flows();
        let begun = Iterating { start, left: flows, incomplete: flows };
        let entry = course.iterations.entry(iteration).or_insert(begun);
        entry.start = entry.start.min(start);
        entry.left -= u64::from(own.sending);
        course.left -= u64::from(own.sending);
        Some(Begin { start, job, rank, step })
    }

    /// If a rank has done its step, lets it go on at the time at which it knows this.
    fn go_on(&mut self, job: u32, rank: u32, starts: &mut Vec<FlowSpec>) {
        let course = &mut self.courses[job as usize];
        let own = &mut course.ranks[rank as usize];
        let steps = u64::from(self.schedule.steps());
        if own.step >= steps * u64::from(self.jobs.iterations) || own.sending > 0 {
            return;
        }
        let arrived = course.arrived.get(&(rank, own.step)).copied().unwrap_or_default();
        if arrived.flows < self.schedule.width((own.step % steps) as u32) {
            return;
        }
        course.arrived.remove(&(rank, own.step));
        let known_at = arrived.known_at.max(std::mem::take(&mut own.known_at));
        own.step += 1;
        let is_over = own.step == steps * u64::from(self.jobs.iterations);
        let pause = if own.step.is_multiple_of(steps) { self.jobs.compute } else { Time::ZERO };
        if !is_over {
            let begin = self.begin(job, rank, known_at.saturating_add(pause));
            let flows = begin.map(|begin| begin.flows(&self.jobs, self.schedule));
            starts.extend(flows.into_iter().flatten());
        }
    }

    fn iteration(
        &self,
        job: u32,
        number: u32,
        start: Option<Time>,
        end: Option<Time>,
    ) -> Iteration {
        Iteration { class: self.jobs.label.class, job, number, start, end }
    }
}

impl Waiting for State {
    fn on_complete(&mut self, flow: &FlowSpec, end: &mut End, released: &mut Released) {
        let job = flow.tag;
        let (from, to) = (self.rank_of[&flow.src], self.rank_of[&flow.dst]);
        let course = &mut self.courses[job as usize];
        // A rank sends the flows of one step only.
        let sender = &mut course.ranks[from as usize];
        let step = sender.step;
        sender.sending -= 1;
        sender.known_at = end.known_at(flow.src).max(sender.known_at);
        let arrived = course.arrived.entry((to, step)).or_default();
        arrived.flows += 1;
        arrived.known_at = end.known_at(flow.dst).max(arrived.known_at);
        let iteration = (step / u64::from(self.schedule.steps())) as u32;
        if let Some(iterating) = course.iterations.get_mut(&iteration) {
            iterating.incomplete -= 1;
            if iterating.incomplete == 0 {
                let start = Some(iterating.start);
                course.iterations.remove(&iteration);
                released.ended.push(self.iteration(job, iteration, start, Some(end.now)));
            }
        }
        self.go_on(job, from, &mut released.starts);
        self.go_on(job, to, &mut released.starts);
    }

    fn left(&self) -> u64 {
        let of_course = |course: &Course| match course.cut {
            None => course.left,
            Some(cut) => course.iterations.range(..cut).map(|(_, each)| each.left).sum(),
        };
        self.courses.iter().map(of_course).sum()
    }

    fn unfinished(&self) -> Vec<Iteration> {
        let steps = u64::from(self.schedule.steps());
        let of_job = |(job, course): (u32, &Course)| {
            let rows = course.iterations.iter();
            let mut rows: Vec<Iteration> = rows
                .map(|(&iteration, each)| self.iteration(job, iteration, Some(each.start), None))
                .collect();
            let last = course.ranks.iter().map(|rank| rank.step).max().unwrap_or(0) / steps;
            if rows.is_empty() && last < u64::from(self.jobs.iterations) {
                // It computes, or it would begin too late.
                rows.push(self.iteration(job, last as u32, None, None));
            }
            rows
        };
        (0..).zip(&self.courses).flat_map(of_job).collect()
    }

    /// Flows that wait for ranks that lag behind are few, and are not counted.
    fn bytes(&self) -> u64 {
        (self.rank_of.len() * (size_of::<Rank>() + size_of::<(u32, u32)>())) as u64
    }
}
