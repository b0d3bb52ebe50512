//! What a run leaves behind, as columns: one file for each table.
//!
//! Tables fill up while a run goes on and may be emptied at any time, so that long runs stream
//! out; what the summary needs of every flow is kept apart, a few bytes each. A file has the type of
//! its table's rows, what fills it, and which runs leave it; names, nullability and the columns that
//! Arrow reads follow from the types of the row's fields.

mod bursts;
pub mod column;
mod decisions;
mod drops;
mod flows;
mod history;
mod links;
pub mod names;
mod oracle_trace;
mod port_classes;
mod ports;
mod queues;
pub(crate) mod table;
mod windows;

pub use bursts::{BurstRow, BurstTable};
pub use decisions::{DecisionRow, DecisionTable};
pub use drops::{DropRow, DropTable, LossPlace};
pub use flows::{FlowRow, FlowTable, Outcome};
pub use history::{HistoryRow, HistoryTable};
pub use links::{LinkRow, LinkTable};
pub use oracle_trace::{OracleTraceRow, OracleTraceTable};
pub use port_classes::{PortClassRow, PortClassTable};
pub use ports::{PortRow, PortTable};
pub use queues::{QueueRow, QueueTable};
pub use windows::{WindowRow, WindowTable};

use crate::scenario::Scenario;
use column::Column;
use std::mem::take;

/// A limit in bytes, unless it is endless: then there is none.
pub(crate) fn finite(limit: u64) -> Option<u64> {
    (limit != u64::MAX).then_some(limit)
}

/// Makes the record of its tables, one row for each.
macro_rules! record {
    (
        always { $($(#[$doc_always:meta])* $always:ident: $table_always:ty,)+ }
        if asked { $($(#[$doc_asked:meta])* $asked:ident: $table_asked:ty,)+ }
    ) => {
        /// All that is recorded.
        #[derive(Clone, Debug, Default)]
        pub struct Record {
            $($(#[$doc_always])* pub $always: $table_always,)+
            $($(#[$doc_asked])* pub $asked: $table_asked,)+
            /// What the summary needs of every measured flow.
            pub outcomes: Vec<Outcome>,
        }

        impl Record {
            /// The names of the tables that every run leaves.
            pub const ALWAYS: &'static [&'static str] = &[$(stringify!($always)),+];

            /// The names of all tables.
            pub const TABLES: &'static [&'static str] =
                &[$(stringify!($always),)+ $(stringify!($asked)),+];

            /// The names of the tables that a scenario's run leaves.
            pub fn tables_of(scenario: &Scenario) -> Vec<&'static str> {
                let mut names = Record::ALWAYS.to_vec();
                $(if <$table_asked>::is_recorded(scenario) {
                    names.push(stringify!($asked));
                })+
                names
            }

            /// Rows of the longest table.
            pub fn longest(&self) -> usize {
                [$(self.$always.len(),)+ $(self.$asked.len()),+].into_iter().max().unwrap_or(0)
            }

            /// Takes the rows of a table, as columns; `None` if no table has this name.
            pub fn take(&mut self, name: &str) -> Option<Vec<Column>> {
                match name {
                    $(stringify!($always) => Some(take(&mut self.$always).columns()),)+
                    $(stringify!($asked) => Some(take(&mut self.$asked).columns()),)+
                    _ => None,
                }
            }

            /// Bytes of all that is kept, until it is taken.
            pub fn bytes(&self) -> u64 {
                let tables: usize = [$(self.$always.bytes(),)+ $(self.$asked.bytes()),+].iter().sum();
                (tables + size_of_val(self.outcomes.as_slice())) as u64
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
        /// Decisions about arrivals.
        decisions: DecisionTable,
        /// Arrivals and their fates.
        oracle_trace: OracleTraceTable,
        /// Windows of chosen flows.
        windows: WindowTable,
        /// Link utilisation.
        links: LinkTable,
        /// Port samples.
        ports: PortTable,
        /// The same by class of flow.
        port_classes: PortClassTable,
        /// Bursts.
        bursts: BurstTable,
        /// What switches have learned.
        history: HistoryTable,
    }
}
