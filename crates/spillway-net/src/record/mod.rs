//! The record of a run, as columns: one file for each table.
//!
//! Tables grow during a run and may be emptied at any time, so long runs can be written out while
//! they go on. The few bytes that the summary needs of each flow are kept apart. Each file has the
//! type of its table's rows, the code that fills the table, and the condition under which it is
//! recorded. Names, nullability and Arrow's columns follow from the types of the row's fields.

mod aqm;
mod bursts;
pub mod column;
mod decisions;
mod drops;
mod flows;
mod history;
mod jobs;
mod links;
pub mod names;
mod oracle_trace;
mod pauses;
mod port_classes;
mod ports;
mod queues;
mod repairs;
mod specs;
pub(crate) mod table;
mod windows;

pub use aqm::{AqmRow, AqmTable};
pub use bursts::{BurstRow, BurstTable};
pub use decisions::{DecisionRow, DecisionTable};
pub use drops::{DropRow, DropTable, LossPlace};
pub use flows::{Extra, FlowRow, FlowTable, Outcome, Outcomes};
pub use history::{HistoryRow, HistoryTable};
pub use jobs::{JobRow, JobTable};
pub use links::{LinkRow, LinkTable};
pub use oracle_trace::{OracleTraceRow, OracleTraceTable};
pub use pauses::{PauseRow, PauseTable};
pub use port_classes::{PortClassRow, PortClassTable};
pub use ports::{PortRow, PortTable};
pub use queues::{QueueRow, QueueTable, SwitchRow, SwitchTable};
pub use repairs::Repairs;
pub use specs::{SpecRow, SpecTable};
pub use windows::{WindowRow, WindowTable};

use crate::scenario::Scenario;
use column::{Column, Field, Optional};
use std::mem::take;

/// A limit in bytes; `None` if it is infinite.
pub(crate) fn finite(limit: u64) -> Option<u64> {
    (limit != u64::MAX).then_some(limit)
}

/// Makes the record from its tables, one row for each.
macro_rules! record {
    (
        always { $($(#[$doc_always:meta])* $always:ident: $table_always:ty,)+ }
        if asked { $($(#[$doc_asked:meta])* $asked:ident: $table_asked:ty,)+ }
    ) => {
        /// Everything that is recorded.
        #[derive(Clone, Debug, Default)]
        pub struct Record {
            $($(#[$doc_always])* pub $always: $table_always,)+
            $($(#[$doc_asked])* pub $asked: $table_asked,)+
            /// What the summary needs of the flows that it measures.
            pub outcomes: Outcomes,
            /// For every row of flows, the number of the flow that opened its connection, if some
            /// connections stay open: a further column.
            pub connections: Option<Vec<u32>>,
            /// For every row of flows, how its losses were repaired, if that is asked for: further
            /// columns.
            pub repairs: Option<Vec<Repairs>>,
            /// For every row of flows, how long it took until everything was acknowledged, if that
            /// is recorded: a further column.
            pub acknowledged: Option<Optional<u64>>,
            /// For every row of flows, how long it climbed, if that is recorded: a further column.
            pub climbing: Option<Optional<u64>>,
        }

        impl Record {
            /// The empty record of a run.
            pub fn of(scenario: &Scenario) -> Record {
                let connections = scenario.leaves_connections_open().then(Vec::new);
                let repairs = scenario.recording.repairs.then(Vec::new);
                let acknowledged = scenario.recording.acknowledged.then(Optional::default);
                let climbing = scenario.recording.climbing.then(Optional::default);
                Record { connections, repairs, acknowledged, climbing, ..Record::default() }
            }

            /// The names of the tables that every run records.
            pub const ALWAYS: &'static [&'static str] = &[$(stringify!($always)),+];

            /// The names of all tables.
            pub const TABLES: &'static [&'static str] =
                &[$(stringify!($always),)+ $(stringify!($asked)),+];

            /// The names of the tables that a run of the scenario records.
            pub fn tables_of(scenario: &Scenario) -> Vec<&'static str> {
                let mut names = Record::ALWAYS.to_vec();
                $(if <$table_asked>::is_recorded(scenario) {
                    names.push(stringify!($asked));
                })+
                names
            }

            /// The number of rows of the longest table.
            pub fn longest(&self) -> usize {
                [$(self.$always.len(),)+ $(self.$asked.len()),+].into_iter().max().unwrap_or(0)
            }

            /// Removes the rows of a table and returns them as columns; `None` if no table has this
            /// name.
            pub fn take(&mut self, name: &str) -> Option<Vec<Column>> {
                let mut columns = match name {
                    $(stringify!($always) => Some(take(&mut self.$always).columns()),)+
                    $(stringify!($asked) => Some(take(&mut self.$asked).columns()),)+
                    _ => None,
                }?;
                if let ("flows", Some(connections)) = (name, &mut self.connections) {
                    columns.push(u32::finish("connection", take(connections)));
                }
                if let ("flows", Some(repairs)) = (name, &mut self.repairs) {
                    columns.extend(Repairs::columns(&take(repairs)));
                }
                if let ("flows", Some(times)) = (name, &mut self.acknowledged) {
                    columns.push(Option::<u64>::finish("acked_ps", take(times)));
                }
                if let ("flows", Some(times)) = (name, &mut self.climbing) {
                    columns.push(Option::<u64>::finish("climbed_ps", take(times)));
                }
                Some(columns)
            }

            /// Bytes of memory of all that has not been taken.
            pub fn bytes(&self) -> u64 {
                let tables: usize = [$(self.$always.bytes(),)+ $(self.$asked.bytes()),+].iter().sum();
                let connections = self.connections.as_deref().map_or(0, size_of_val);
                let repairs = self.repairs.as_deref().map_or(0, size_of_val);
                let times = [&self.acknowledged, &self.climbing];
                let times: usize = times.map(|each| each.as_deref().map_or(0, size_of_val)).iter().sum();
                (tables + self.outcomes.bytes() + connections + repairs + times) as u64
            }
        }
    };
}

record! {
    always {
        /// Flows.
        flows: FlowTable,
        /// Queue samples.
        queues: QueueTable,
        /// Lost packets.
        drops: DropTable,
    }
    if asked {
        /// Samples of switches as a whole.
        switches: SwitchTable,
        /// Decisions about arrivals.
        decisions: DecisionTable,
        /// Arrivals and their fates.
        oracle_trace: OracleTraceTable,
        /// Windows of chosen flows.
        windows: WindowTable,
        /// Utilisation of lines.
        links: LinkTable,
        /// Port samples.
        ports: PortTable,
        /// Port samples by class of flow.
        port_classes: PortClassTable,
        /// AQM samples.
        aqm: AqmTable,
        /// Iterations of jobs.
        jobs: JobTable,
        /// Pauses.
        pauses: PauseTable,
        /// Bursts.
        bursts: BurstTable,
        /// What switches have learned from bursts.
        history: HistoryTable,
    }
}
