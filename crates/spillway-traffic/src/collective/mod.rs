//! Collectives: the hosts of a job send to each other in steps, again and again.
//!
//! # Rule
//! A rank begins a step when it knows that all flows that it sends and receives in the step before
//! are complete. If such a flow ends at another host, the rank learns of it `release_delay` later.
//! The first step of an iteration begins `compute` and a jitter after the rank's last step of the
//! iteration before has ended. Ranks wait for each other only through their steps. Unless the
//! scenario gives `connections`, ranks keep their connections open from step to step.

mod schedule;
mod state;

pub use schedule::{Algorithm, Schedule};

use super::label::Label;
use super::release::Release;
use super::waiting::Waiting;
use super::{Context, Expected, Flows, Pattern, keys};
use spillway_engine::{Stream, Time};
use spillway_settings::{Section, SettingsError};
use state::State;
use std::sync::Arc;

/// Jobs of hosts, and when they send.
#[derive(Clone, Debug)]
pub struct Jobs {
    label: Label,
    /// The hosts of every job, in the order of their ranks.
    ranks: Vec<Vec<u32>>,
    iterations: u32,
    start: Time,
    compute: Time,
    jitter: Time,
    release: Release,
    /// No flow starts at this time or later.
    duration: Time,
}

/// How hosts are given to jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Packed,
    Spread,
    Random,
}

/// The random stream that shuffles hosts. The streams of hosts have the hosts' numbers.
const SHUFFLE: u64 = u64::MAX;

impl Jobs {
    /// Reads the keys `start` and `jitter`, for the kinds that have always had them.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<Jobs, SettingsError> {
        let start = section.time("start", "0us", "When the first flows may start.")?;
        let meaning =
            "Each host starts its flows of an iteration after a delay, uniform up to this.";
        let jitter = section.time("jitter", "0us", meaning)?;
        Ok(Jobs {
            label,
            ranks: Vec::new(),
            iterations: 1,
            start,
            compute: Time::ZERO,
            jitter,
            release: Release::Least,
            duration: context.duration,
        })
    }

    /// Reads the keys that tell which hosts are in which job, and how often they send.
    pub fn read_hosts(
        mut self,
        section: &mut Section,
        context: &Context,
    ) -> Result<Jobs, SettingsError> {
        let all = context.topology.hosts();
        let meaning = "The hosts that take part, ranked by their numbers; by default all.";
        let hosts = keys::hosts(section, "hosts", meaning, all)?;
        let mut hosts = hosts.unwrap_or_else(|| (0..all).collect());
        let meaning = "Jobs that share the hosts; each has as many.";
        let jobs = section.integer("jobs", Some(1), 1..=u64::MAX, meaning)? as usize;
        let placements = [
            ("packed", Placement::Packed),
            ("spread", Placement::Spread),
            ("random", Placement::Random),
        ];
        let meaning = "Which hosts a job of n jobs has, in the order of ranks: neighbours, every n-th \
                       host, or hosts that the seed draws.";
        let placement = section.choice("placement", &placements, meaning)?;
        let meaning = "How often each job does it.";
        self.iterations =
            section.integer("iterations", Some(1), 1..=1_000_000_000, meaning)? as u32;
        let meaning = "The time between the end of an iteration at a host and its next start.";
        self.compute = section.time("compute", "0us", meaning)?;
        self.release = Release::read(section)?;

        if hosts.len() % jobs != 0 || hosts.len() / jobs < 2 {
            let problem = format!(
                "{} hosts for {jobs} jobs; expected as many for each, and at least 2",
                hosts.len()
            );
            return Err(section.conflict("jobs", problem));
        }
        if placement == Placement::Random {
            shuffle(&mut hosts, &mut self.label.stream(SHUFFLE));
        }
        let each = hosts.len() / jobs;
        self.ranks = (0..jobs)
            .map(|job| match placement {
                Placement::Spread => hosts.iter().copied().skip(job).step_by(jobs).collect(),
                Placement::Packed | Placement::Random => hosts[job * each..][..each].to_vec(),
            })
            .collect();
        Ok(self)
    }

    /// Hosts of each job.
    pub fn hosts(&self) -> u32 {
        self.ranks[0].len() as u32
    }

    /// The delay that a host draws for an iteration.
    fn delay(&self, stream: &mut Stream) -> Time {
        Time::from_ps(stream.below(self.jitter.ps().saturating_add(1)))
    }
}

/// Puts hosts into an order, all orders being equally likely.
fn shuffle(hosts: &mut [u32], stream: &mut Stream) {
    for place in (1..hosts.len()).rev() {
        hosts.swap(place, stream.below(place as u64 + 1) as usize);
    }
}

/// A section of traffic that is a collective.
#[derive(Clone, Debug)]
pub struct Collective {
    jobs: Arc<Jobs>,
    schedule: Schedule,
}

impl Collective {
    /// Jobs that send by this schedule.
    pub fn new(jobs: Jobs, schedule: Schedule) -> Collective {
        Collective { jobs: Arc::new(jobs), schedule }
    }
}

impl Pattern for Collective {
    fn flows(&self) -> Flows {
        Box::new(State::first(self.jobs.clone(), self.schedule))
    }

    fn waiting(&self) -> Option<Box<dyn Waiting>> {
        Some(Box::new(State::new(self.jobs.clone(), self.schedule)))
    }

    fn release(&self) -> Release {
        self.jobs.release
    }

    fn leaves_open(&self) -> bool {
        true
    }

    fn has_jobs(&self) -> bool {
        true
    }

    /// If the jitter exceeds the duration, some hosts start too late. The flows of others that
    /// therefore never start are not considered.
    fn expected(&self) -> Expected {
        let (mut bytes, mut largest) = (0, 0);
        for step in 0..self.schedule.steps() {
            for rank in 0..self.jobs.hosts() {
                for (_, size) in self.schedule.sends(rank, step) {
                    bytes += size;
                    largest = largest.max(size);
                }
            }
        }
        let Jobs { ranks, iterations, start, jitter, duration, .. } = &*self.jobs;
        let in_time = duration.since(*start).ps() as f64 / jitter.ps().max(1) as f64;
        let times = ranks.len() as f64 * f64::from(*iterations) * in_time.min(1.0);
        Expected {
            flows: self.schedule.flows() as f64 * times,
            bytes: bytes as f64 * times,
            largest,
        }
    }

    fn most_flows(&self) -> u64 {
        let times = self.jobs.ranks.len() as u64 * u64::from(self.jobs.iterations);
        self.schedule.flows().saturating_mul(times)
    }
}
