//! The flows of a scenario as a table, before it is run.

use super::names::{Class, Name};
use super::table::table;
use spillway_transport::flow::FlowSpec;

table! {
    /// A row for every flow, in the order in which they start.
    SpecRow => SpecTable {
        /// The sending host.
        src: u32,
        /// The receiving host.
        dst: u32,
        /// Payload to be sent; 0 for an endless flow.
        size_bytes: u64,
        /// Its start in whole nanoseconds.
        start_ns: u64,
        /// Its path, if it has its own.
        path: Option<i64>,
        /// The path of its acks, if they have their own.
        ack_path: Option<i64>,
        /// Its class.
        class: Name<Class>,
        /// Its priority, if it has one.
        priority: Option<i64>,
        /// Its query, if it has one.
        query_id: Option<i64>,
        /// Its start in picoseconds.
        start_ps: u64,
        /// The lower bound of its size that its host knows, if there is one.
        bound_bytes: Option<i64>,
    }
}

impl SpecTable {
    /// A table of these flows.
    pub fn of(flows: impl Iterator<Item = FlowSpec>) -> SpecTable {
        let mut table = SpecTable::default();
        flows.for_each(|flow| table.push(SpecRow::of(&flow)));
        table
    }
}

impl SpecRow {
    fn of(flow: &FlowSpec) -> SpecRow {
        SpecRow {
            src: flow.src,
            dst: flow.dst,
            size_bytes: if flow.size == FlowSpec::ENDLESS { 0 } else { flow.size },
            start_ns: flow.start.ps() / 1000,
            path: flow.path.map(i64::from),
            ack_path: flow.ack_path.map(i64::from),
            class: Name(flow.class),
            priority: flow.priority.map(i64::from),
            query_id: flow.query.map(i64::from),
            start_ps: flow.start.ps(),
            bound_bytes: (flow.bound > 0).then_some(flow.bound as i64),
        }
    }
}
