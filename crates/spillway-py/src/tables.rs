//! The tables of a run as columns.

use crate::column::{Column, Columns, Names};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_net::record::{
    BurstTable, DecisionTable, DropTable, FlowTable, HistoryTable, LinkTable, OracleTraceTable,
    PortClassTable, PortTable, QueueTable, Record, WindowTable,
};
use spillway_net::scenario::Scenario;
use spillway_net::transport::window::Window;
use spillway_switch::{Buffer, DropReason};
use std::mem::take;

type Table<'py> = PyResult<Bound<'py, PyDict>>;

/// What numbers in tables stand for.
pub struct Vocabulary {
    classes: Names,
    switches: Names,
    /// Switches, and behind them hosts.
    places: Names,
    links: Names,
    reasons: Names,
    verdicts: Names,
}

impl Vocabulary {
    pub fn of(scenario: &Scenario) -> Vocabulary {
        Vocabulary {
            classes: scenario.traffic.classes.iter().cloned().collect(),
            links: scenario.topology.link_names().into(),
            places: scenario.topology.node_names().into(),
            switches: scenario.topology.switch_names().into(),
            reasons: DropReason::ALL.iter().map(|reason| reason.name().to_string()).collect(),
            verdicts: ["admitted", "marked", "lost"].map(String::from).into(),
        }
    }
}

/// The tables of a record, each with a function of its name that makes columns of it.
macro_rules! tables {
    ($($name:ident),*) => {
        /// The names of the tables.
        pub const TABLES: &[&str] = &[$(stringify!($name)),*];

        /// Rows of the longest table.
        pub fn longest(record: &Record) -> usize {
            let Record { $($name,)* outcomes: _ } = record;
            [$($name.len()),*].into_iter().max().unwrap_or(0)
        }

        /// Takes what a table holds; `None` if no table has this name.
        pub fn take_table<'py>(
            py: Python<'py>,
            record: &mut Record,
            name: &str,
            vocabulary: &Vocabulary,
        ) -> PyResult<Option<Bound<'py, PyDict>>> {
            match name {
                $(stringify!($name) => $name(py, take(&mut record.$name), vocabulary).map(Some),)*
                _ => Ok(None),
            }
        }
    };
}

tables!(
    flows,
    queues,
    drops,
    decisions,
    oracle_trace,
    windows,
    links,
    ports,
    port_classes,
    bursts,
    history
);

fn flows<'py>(py: Python<'py>, table: FlowTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("flow_id", Column::of(table.flow_id))?;
    columns.put("src", Column::of(table.src))?;
    columns.put("dst", Column::of(table.dst))?;
    columns.put("size_bytes", Column::of(table.size_bytes))?;
    columns.put("class", Column::of(table.class).named(&vocabulary.classes))?;
    columns.put("priority", Column::optional(py, table.priority, |n| n < 0)?)?;
    columns.put("start_ps", Column::of(table.start_ps))?;
    let is_unfinished = |fct| fct == FlowTable::UNFINISHED;
    columns.put("fct_ps", Column::optional(py, table.fct_ps, is_unfinished)?)?;
    columns.put("ideal_ps", Column::of(table.ideal_ps))?;
    columns.put("delivered_bytes", Column::of(table.delivered_bytes))?;
    columns.put("retransmitted_packets", Column::of(table.retransmitted_packets))?;
    columns.put("timeouts", Column::of(table.timeouts))?;
    columns.put("query_id", Column::optional(py, table.query_id, |n| n < 0)?)?;
    Ok(columns.into_dict())
}

fn queues<'py>(py: Python<'py>, table: QueueTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("port", Column::optional(py, table.port, |n| n < 0)?)?;
    columns.put("queue", Column::optional(py, table.queue, |n| n < 0)?)?;
    columns.put("bytes", Column::of(table.bytes))?;
    columns.put("packets", Column::of(table.packets))?;
    Ok(columns.into_dict())
}

fn drops<'py>(py: Python<'py>, table: DropTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("switch", Column::of(table.place).named(&vocabulary.places))?;
    columns.put("port", Column::optional(py, table.port, |n| n < 0)?)?;
    columns.put("queue", Column::optional(py, table.queue, |n| n < 0)?)?;
    columns.put("reason", Column::of(table.reason).named(&vocabulary.reasons))?;
    columns.put("flow_id", Column::of(table.flow_id))?;
    columns.put("seq", Column::of(table.seq))?;
    columns.put("size_bytes", Column::of(table.size_bytes))?;
    columns.put("queue_bytes", Column::of(table.queue_bytes))?;
    columns.put("occupancy_bytes", Column::of(table.occupancy_bytes))?;
    Ok(columns.into_dict())
}

fn decisions<'py>(py: Python<'py>, table: DecisionTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("port", Column::of(table.port))?;
    columns.put("queue", Column::of(table.queue))?;
    columns.put("flow_id", Column::of(table.flow_id))?;
    columns.put("seq", Column::of(table.seq))?;
    columns.put("size_bytes", Column::of(table.size_bytes))?;
    columns.put("queue_bytes", Column::of(table.queue_bytes))?;
    let has_none = |limit| limit == DecisionTable::NO_LIMIT;
    columns.put("threshold_bytes", Column::optional(py, table.threshold_bytes, has_none)?)?;
    columns.put("occupancy_bytes", Column::of(table.occupancy_bytes))?;
    columns.put("verdict", Column::of(table.verdict).named(&vocabulary.verdicts))?;
    let reason = Column::optional(py, table.reason, |n| n == DecisionTable::NO_REASON)?;
    columns.put("reason", reason.named(&vocabulary.reasons))?;
    Ok(columns.into_dict())
}

fn oracle_trace<'py>(
    py: Python<'py>,
    table: OracleTraceTable,
    vocabulary: &Vocabulary,
) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("port", Column::of(table.port))?;
    columns.put("queue", Column::of(table.queue))?;
    columns.put("arrival", Column::of(table.arrival))?;
    columns.put("flow_id", Column::of(table.flow_id))?;
    columns.put("seq", Column::of(table.seq))?;
    columns.put("size_bytes", Column::of(table.size_bytes))?;
    columns.put("queue_bytes", Column::of(table.queue_bytes))?;
    columns.put("average_queue_bytes", Column::of(table.average_queue_bytes))?;
    columns.put("occupancy_bytes", Column::of(table.occupancy_bytes))?;
    columns.put("average_occupancy_bytes", Column::of(table.average_occupancy_bytes))?;
    let is_unlimited = |bytes| bytes == Buffer::UNLIMITED;
    columns.put("buffer_bytes", Column::optional(py, table.buffer_bytes, is_unlimited)?)?;
    columns.put("ports", Column::of(table.ports))?;
    let has_none = |fate| fate == OracleTraceTable::NOT_KNOWN;
    columns.put("dropped", Column::optional(py, table.dropped, has_none)?)?;
    columns.put("weight", Column::of(table.weight))?;
    Ok(columns.into_dict())
}

fn windows<'py>(py: Python<'py>, table: WindowTable, _: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("flow_id", Column::of(table.flow_id))?;
    let is_unlimited = |bytes| bytes == Window::UNLIMITED;
    columns.put("cwnd_bytes", Column::optional(py, table.cwnd_bytes, is_unlimited)?)?;
    columns.put("pace_bps", Column::optional(py, table.pace_bps, |pace| pace == 0.0)?)?;
    columns.put("in_flight_bytes", Column::of(table.in_flight_bytes))?;
    columns.put("delivered_bytes", Column::of(table.delivered_bytes))?;
    columns.put("rate_bps", Column::of(table.rate_bps))?;
    columns.put("srtt_ps", Column::of(table.srtt_ps))?;
    Ok(columns.into_dict())
}

fn links<'py>(py: Python<'py>, table: LinkTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("link", Column::of(table.link).named(&vocabulary.links))?;
    columns.put("utilisation", Column::of(table.utilisation))?;
    Ok(columns.into_dict())
}

fn ports<'py>(py: Python<'py>, table: PortTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("port", Column::of(table.port))?;
    columns.put("bytes", Column::of(table.bytes))?;
    columns.put("packets", Column::of(table.packets))?;
    let has_none = |limit| limit == PortTable::NO_LIMIT;
    columns.put("threshold_bytes", Column::optional(py, table.threshold_bytes, has_none)?)?;
    columns.put("unbounded_bytes", Column::of(table.unbounded_bytes))?;
    Ok(columns.into_dict())
}

fn port_classes<'py>(
    py: Python<'py>,
    table: PortClassTable,
    vocabulary: &Vocabulary,
) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("time_ps", Column::of(table.time_ps))?;
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("port", Column::of(table.port))?;
    columns.put("class", Column::of(table.class).named(&vocabulary.classes))?;
    columns.put("bytes", Column::of(table.bytes))?;
    Ok(columns.into_dict())
}

fn bursts<'py>(py: Python<'py>, table: BurstTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("start_ps", Column::of(table.start_ps))?;
    columns.put("detected_ps", Column::of(table.detected_ps))?;
    let has_none = |end| end == BurstTable::NO_END;
    columns.put("end_ps", Column::optional(py, table.end_ps, has_none)?)?;
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("port", Column::of(table.port))?;
    columns.put("gradient_bps", Column::of(table.gradient_bps))?;
    columns.put("peak_bytes", Column::of(table.peak_bytes))?;
    columns.put("demand_bytes", Column::of(table.demand_bytes))?;
    let limits = [
        ("first_threshold_bytes", table.first_threshold_bytes),
        ("last_threshold_bytes", table.last_threshold_bytes),
        ("least_threshold_bytes", table.least_threshold_bytes),
        ("most_threshold_bytes", table.most_threshold_bytes),
    ];
    for (name, limits) in limits {
        let has_none = |limit| limit == BurstTable::NO_LIMIT;
        columns.put(name, Column::optional(py, limits, has_none)?)?;
    }
    columns.put("lost_packets", Column::of(table.lost_packets))?;
    columns.put("lost_bytes", Column::of(table.lost_bytes))?;
    Ok(columns.into_dict())
}

fn history<'py>(py: Python<'py>, table: HistoryTable, vocabulary: &Vocabulary) -> Table<'py> {
    let columns = Columns::new(py);
    columns.put("switch", Column::of(table.switch).named(&vocabulary.switches))?;
    columns.put("gradient_bps", Column::of(table.gradient_bps))?;
    columns.put("bytes", Column::of(table.bytes))?;
    columns.put("last_seen_ps", Column::of(table.last_seen_ps))?;
    Ok(columns.into_dict())
}
