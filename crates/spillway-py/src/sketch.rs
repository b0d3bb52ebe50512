//! PRED's counters of flows, and what they count for given traffic.

use crate::errors;
use crate::scenario::table_of;
use pyo3::prelude::*;
use spillway_engine::{Stream, Time};
use spillway_settings::Section;
use spillway_switch::aqm::counter::{Counter, Kind};

/// N by PRED's counter after so many periods. In each period `flows` flows have `packets` packets
/// each. The packets come at equal distances, in a random order that is the same in every period.
/// The keys are those of `pred` about its counter. The flows' numbers are random.
#[pyfunction]
#[pyo3(signature = (given, flows, packets, seed, periods = 1))]
pub fn counted_flows(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    flows: u32,
    packets: u32,
    seed: u64,
    periods: u32,
) -> PyResult<u32> {
    let wrong = |error| errors::wrong_setting(py, error);
    let mut section = Section::new("aqm", table_of("aqm", given, 0)?);
    let kind = Kind::read(&mut section).map_err(wrong)?;
    section.finish().map_err(wrong)?;
    let mut random = Stream::new(seed, "flows", 0);
    let numbers: Vec<u32> = (0..flows).map(|_| random.below(1 << 32) as u32).collect();
    let mut order: Vec<u32> =
        numbers.iter().flat_map(|&flow| (0..packets).map(move |_| flow)).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    // A packet every nanosecond.
    let period = Time::from_ns(order.len().max(1) as u64);
    let mut counter = Counter::new(kind, period);
    let packets = (0..periods).flat_map(|_| &order);
    (0..).zip(packets).for_each(|(ns, &flow)| counter.count(Time::from_ns(ns), flow));
    Ok(counter.flows())
}
