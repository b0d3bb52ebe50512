//! AQMs asked about packets that went through a queue elsewhere.

use crate::column::Column;
use crate::errors;
use crate::scenario::table_of;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Section, SettingsError, nearest_name, quantity::Amount};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::replay::{Passage, replay};
use spillway_switch::{Discipline, DisciplineParts, Environment};

/// For every packet of a queue at a port of 10 Gbps: 1 if the AQM with this id and these keys marks
/// it, else 0. The columns are when each packet joined and left, and how many packets it found and
/// left. All packets have the same size.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a table's columns")]
pub fn replayed_marks(
    py: Python<'_>,
    id: &str,
    given: &Bound<'_, PyAny>,
    joined_ps: PyBuffer<u64>,
    left_ps: PyBuffer<u64>,
    found: PyBuffer<u32>,
    remaining: PyBuffer<u32>,
    size: u32,
    seed: u64,
) -> PyResult<Column> {
    let wrong = |error| errors::wrong_setting(py, error);
    let mut section = Section::new("aqm", table_of("aqm", given, 0)?);
    let environment = Environment { seed, full_packet: size, ..Environment::example(1) };
    let aqm = read(id, &mut section, &environment).map_err(wrong)?;
    section.finish().map_err(wrong)?;
    let (joined, left) = (joined_ps.to_vec(py)?, left_ps.to_vec(py)?);
    let (found, remaining) = (found.to_vec(py)?, remaining.to_vec(py)?);
    let times = joined.into_iter().zip(left);
    let passages: Vec<Passage> = times
        .zip(found.into_iter().zip(remaining))
        .map(|((joined, left), (found, remaining))| Passage {
            joined: Time::from_ps(joined),
            left: Time::from_ps(left),
            found: found as usize,
            remaining: remaining as usize,
            size,
        })
        .collect();
    let mut discipline = Discipline::new(DisciplineParts {
        rate: environment.port_rates[0],
        queues: 1,
        unmanaged: None,
        queue_limit: Amount::Unlimited,
        aqm,
    });
    let marks = py.detach(|| replay(&mut discipline, &passages));
    let marks = marks.map_err(|misfit| wrong(ErrorKind::WrongValue.at("", misfit.to_string())))?;
    Ok(Column::of(marks.into_iter().map(u8::from).collect::<Vec<_>>()))
}

fn read(
    id: &str,
    section: &mut Section,
    environment: &Environment,
) -> Result<AqmPolicy, SettingsError> {
    if !AqmPolicy::IDS.contains(&id) {
        let hint = nearest_name(id, AqmPolicy::IDS.iter().copied());
        return Err(ErrorKind::WrongValue.at("", format!("there is no AQM {id:?}")).hint(hint));
    }
    AqmPolicy::read(id, section, environment)
}
