//! The record of a run, as columns: one file for each table.
//!
//! Tables grow during a run and may be emptied at any time, so long runs can be written out while
//! they go on. The few bytes that the summary needs of each flow are kept apart. Each file has the
//! type of its table's rows, the code that fills the table, and the condition under which it is
//! recorded. Names, nullability, Arrow's columns and the tables in docs/results.md follow from the
//! row's fields. So a new column of flows is a line of `flows.rs`.

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
pub use flows::{
    AckedRow, AckedTable, ClimbedRow, ClimbedTable, ConnectionRow, ConnectionTable, Extra, FlowRow,
    FlowTable, Outcome, Outcomes, Over,
};
pub use history::{HistoryRow, HistoryTable};
pub use jobs::{JobRow, JobTable};
pub use links::{LinkRow, LinkTable};
pub use oracle_trace::{OracleTraceRow, OracleTraceTable};
pub use pauses::{PauseRow, PauseTable};
pub use port_classes::{PortClassRow, PortClassTable};
pub use ports::{PortRow, PortTable};
pub use queues::{QueueRow, QueueTable, SwitchRow, SwitchTable};
pub use repairs::{RepairRow, RepairTable, Repairs};
pub use specs::{SpecRow, SpecTable};
pub use windows::{WindowRow, WindowTable};

use crate::scenario::Scenario;
use column::{Column, Kind};
use std::mem::take;

/// A limit in bytes; `None` if it is infinite.
pub(crate) fn finite(limit: u64) -> Option<u64> {
    (limit != u64::MAX).then_some(limit)
}

/// Makes the record from its tables, one row for each.
macro_rules! record {
    (
        always { $($(#[$doc_always:meta])* $always:ident: $table_always:ty,)+ }
        of flows, if asked { $($(#[$doc_further:meta])* $further:ident: $table_further:ty,)+ }
        if asked { $($(#[$doc_asked:meta])* $asked:ident: $table_asked:ty,)+ }
    ) => {
        /// Everything that is recorded.
        #[derive(Clone, Debug, Default)]
        pub struct Record {
            $($(#[$doc_always])* pub $always: $table_always,)+
            $($(#[$doc_further])* pub $further: Option<$table_further>,)+
            $($(#[$doc_asked])* pub $asked: $table_asked,)+
            /// What the summary needs of the flows that it measures.
            pub outcomes: Outcomes,
        }

        impl Record {
            /// The empty record of a run.
            pub fn of(scenario: &Scenario) -> Record {
                Record {
                    $($further: <$table_further>::is_recorded(scenario).then(Default::default),)+
                    ..Record::default()
                }
            }

            /// The names of the tables that every run records.
            pub const ALWAYS: &'static [&'static str] = &[$(stringify!($always)),+];

            /// All tables by their names, with their columns.
            pub fn kinds() -> Vec<(&'static str, Vec<Kind>)> {
                vec![
                    $((stringify!($always), <$table_always>::kinds()),)+
                    $((stringify!($asked), <$table_asked>::kinds())),+
                ]
            }

            /// The further columns of flows, by what asks for them.
            pub fn further_kinds() -> Vec<(&'static str, Vec<Kind>)> {
                vec![$((stringify!($further), <$table_further>::kinds())),+]
            }

            /// The names of the tables that a run of the scenario records.
            pub fn tables_of(scenario: &Scenario) -> Vec<&'static str> {
                let mut names = Record::ALWAYS.to_vec();
                $(if <$table_asked>::is_recorded(scenario) {
                    names.push(stringify!($asked));
                })+
                names
            }

            /// Adds the row of a flow.
            pub fn add(&mut self, flow: &Over<'_>) {
                self.flows.add(flow);
                $(if let Some(table) = &mut self.$further {
                    table.add(flow);
                })+
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
                $(if let ("flows", Some(table)) = (name, &mut self.$further) {
                    columns.extend(take(table).columns());
                })+
                Some(columns)
            }

            /// Bytes of memory of all that has not been taken.
            pub fn bytes(&self) -> u64 {
                let tables: usize = [
                    $(self.$always.bytes(),)+
                    $(self.$further.as_ref().map_or(0, <$table_further>::bytes),)+
                    $(self.$asked.bytes()),+
                ].iter().sum();
                (tables + self.outcomes.bytes()) as u64
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
    of flows, if asked {
        /// Who opened their connections.
        connections: ConnectionTable,
        /// How their losses were repaired.
        repairs: RepairTable,
        /// How long it took until everything was acknowledged.
        acknowledged: AckedTable,
        /// How long they climbed.
        climbing: ClimbedTable,
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
