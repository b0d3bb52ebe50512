//! Jobs: collectives of hosts, and flows of a list that belong together.

use super::names::{Class, Name};
use super::table::table;
use spillway_engine::Time;
use spillway_traffic::Iteration;

table! {
    /// A row for every iteration of a job, in the order in which they ended. Iterations that had
    /// not ended come last.
    JobRow => JobTable {
        /// The class of its flows; in a list with classes, of the job's first flow.
        class: Name<Class>,
        /// The job's number in its section of traffic.
        job: u32,
        /// The iteration, from 0.
        iteration: u32,
        /// When the first of its flows started; null if none had.
        start_ps: Option<u64>,
        /// When the last of them was complete; null if the run ended before.
        end_ps: Option<u64>,
    }
    recorded if |scenario| scenario.traffic.has_jobs()
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
