//! How long jobs and their iterations took.

use super::statistics;
use crate::scenario::Scenario;
use serde_json::{Map, Value};
use spillway_engine::Time;
use spillway_traffic::Iteration;
use std::collections::BTreeMap;

/// A time span that has ended, or that has lasted so far.
#[derive(Clone, Copy)]
struct Span {
    begin: Time,
    end: Time,
    is_over: bool,
}

/// By class, and for all classes: how long iterations took, from the start of the first flow to the
/// end of the last one, and how long jobs took, from the start of their first iteration to the end
/// of the last one. Those that have not ended count with the time so far. Those that began before
/// the end of the warm-up do not count.
pub(super) struct Jobs {
    classes: Vec<String>,
    iterations: Vec<(u16, Span)>,
    jobs: Vec<(u16, Span)>,
}

impl Jobs {
    /// The times of a run that lasted until `end`.
    pub fn of<'a>(
        scenario: &Scenario,
        all: impl Iterator<Item = &'a Iteration>,
        end: Time,
    ) -> Jobs {
        let mut iterations = Vec::new();
        let mut jobs: BTreeMap<(u16, u32), Span> = BTreeMap::new();
        for each in all {
            let span = Span {
                begin: each.start.unwrap_or(Time::MAX),
                end: each.end.unwrap_or(end),
                is_over: each.end.is_some(),
            };
            if each.start.is_some() {
                iterations.push((each.class, span));
            }
            let job = jobs.entry((each.class, each.job)).or_insert(span);
            job.begin = job.begin.min(span.begin);
            job.end = job.end.max(span.end);
            job.is_over &= span.is_over;
        }
        let warmup = scenario.warmup;
        let mut jobs: Vec<_> = jobs.into_iter().map(|((class, _), span)| (class, span)).collect();
        jobs.retain(|(_, span)| span.begin >= warmup && span.begin < Time::MAX);
        iterations.retain(|(_, span)| span.begin >= warmup);
        Jobs { classes: scenario.traffic.classes.clone(), iterations, jobs }
    }

    /// How long jobs took, in microseconds.
    pub fn job_us(&self) -> Value {
        self.table(&self.jobs)
    }

    /// How long iterations took, in microseconds.
    pub fn iteration_us(&self) -> Value {
        self.table(&self.iterations)
    }

    fn table(&self, spans: &[(u16, Span)]) -> Value {
        let mut table = Map::new();
        for (number, name) in (0..).zip(&self.classes) {
            let of_class: Vec<Span> =
                spans.iter().filter(|(class, _)| *class == number).map(|(_, span)| *span).collect();
            if !of_class.is_empty() {
                table.insert(super::name_of_section(name), row(&of_class));
            }
        }
        let all: Vec<Span> = spans.iter().map(|(_, span)| *span).collect();
        table.insert("all".into(), row(&all));
        Value::Object(table)
    }
}

fn row(spans: &[Span]) -> Value {
    let times = spans.iter().map(|span| span.end.since(span.begin).ps() as f64 * 1e-6);
    let mut row = statistics(times.collect());
    let unfinished = spans.iter().filter(|span| !span.is_over).count();
    row.insert("unfinished".into(), unfinished.into());
    Value::Object(row)
}
