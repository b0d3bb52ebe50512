//! Jobs: collectives of hosts, and flows of a list that belong together.

use super::names::{Class, Name};
use super::table::table;
use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_traffic::Iteration;

table! {
    /// A row for every iteration of a job, in the order in which they ended. Iterations that had
    /// not ended come last.
    JobRow => JobTable {
        /// The class of its flows; in a list with classes, of the job's first flow.
        class: Name<Class>,
        /// The job's number in its section.
        job: u32,
        /// The iteration, from 0.
        iteration: u32,
        /// When the first of its flows started; absent if none had started.
        start_ps: Option<u64>,
        /// When the last of its flows was complete; absent if the run ended before that.
        end_ps: Option<u64>,
    }
}

impl JobRow {
    /// The row of an iteration.
    pub fn of(iteration: &Iteration) -> JobRow {
        let Iteration { class, job, number, start, end } = *iteration;
        JobRow {
            class: Name(class),
            job,
            iteration: number,
            start_ps: start.map(Time::ps),
            end_ps: end.map(Time::ps),
        }
    }
}

impl JobTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.traffic.has_jobs()
    }
}
