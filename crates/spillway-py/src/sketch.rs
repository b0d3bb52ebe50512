//! PRED's counters of flows, asked for what they count.

use crate::errors;
use crate::scenario::table_of;
use pyo3::prelude::*;
use spillway_engine::{Stream, Time};
use spillway_settings::Section;
use spillway_switch::aqm::{Aqm, AqmPolicy};
use spillway_switch::policy::Arrival;
use spillway_switch::{Buffer, Environment};

/// N by PRED's counter after one period in which `flows` flows had `packets` packets each, in random
/// order. The keys are those of `pred`; the flows' numbers are random.
#[pyfunction]
pub fn counted_flows(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    flows: u32,
    packets: u32,
    seed: u64,
) -> PyResult<u32> {
    let wrong = |error| errors::wrong_setting(py, error);
    let mut section = Section::new("aqm", table_of("aqm", given, 0)?);
    let environment = Environment { seed, ..Environment::example(1) };
    let mut aqm = AqmPolicy::read("pred", &mut section, &environment).map_err(wrong)?;
    section.finish().map_err(wrong)?;
    let buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 1);
    let mut random = Stream::new(seed, "flows", 0);
    let numbers: Vec<u32> = (0..flows).map(|_| random.below(1 << 32) as u32).collect();
    let mut order: Vec<u32> =
        numbers.iter().flat_map(|&flow| (0..packets).map(move |_| flow)).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    let (now, queue, queue_class) = (Time::ZERO, 0, 0);
    for flow in order {
        let (size, first_rtt, is_control) = (1500, false, false);
        let arrival = Arrival { now, queue, queue_class, size, first_rtt, is_control, flow };
        aqm.on_arrival(&arrival, &buffer);
    }
    let sample = aqm.sample(now, queue, &buffer);
    Ok(sample.and_then(|sample| sample.flows).unwrap_or(0))
}
