//! Bounds that a forest computes for the flows of a list, from what is known of a flow when it
//! starts.

use spillway_forest::Regressor;
use spillway_settings::{ErrorKind, Files, Section, SettingsError};

/// The column that names the job to which a flow belongs.
const JOB: &str = "job";
/// The feature whose column has another name in lists.
const SIZE: &str = "flow_size";

/// A forest, and where it finds its features in a list.
#[derive(Clone, Debug)]
pub struct FlowModel {
    forest: Regressor,
    /// The columns that it looks at. The first one is that of the job.
    columns: Vec<String>,
    features: Vec<Feature>,
}

/// A value of a flow, or of an earlier flow of the same job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Feature {
    /// Its place among the columns; `None` is the size.
    column: Option<usize>,
    /// How many flows back.
    back: usize,
}

/// The most that a model may look back.
const MOST_BACK: usize = 99;

impl FlowModel {
    /// Reads the key `model` of a section `bound`.
    pub fn read(section: &mut Section, files: &Files) -> Result<FlowModel, SettingsError> {
        let meaning = "of bound = \"model\": a file that `spillway bounds train` wrote. The traffic \
                       is of kind \"flows\", and the list has the columns that the model looks at, \
                       and a column job.";
        let takes = "a path, seen from the scenario's folder";
        let file = section.text("model", "", takes, meaning)?;
        let refused =
            |why: String| section.error(ErrorKind::File, "model", format!("{file}: {why}"));
        let bytes = files
            .read(section, "model", &file)
            .map_err(|error| refused(format!("it cannot be read: {error}")))?;
        let forest = Regressor::read(&bytes).map_err(|error| refused(error.to_string()))?;
        FlowModel::of(forest).map_err(refused)
    }

    fn of(forest: Regressor) -> Result<FlowModel, String> {
        let mut columns = vec![JOB.to_string()];
        let mut features = Vec::new();
        for name in forest.features() {
            let (column, back) = parted(name);
            if column == SIZE && back == 0 {
                return Err("it looks at the size that it is to bound".into());
            }
            let known = columns.iter().position(|known| known == column);
            let column = match known {
                _ if column == SIZE => None,
                Some(place) => Some(place),
                None => {
                    columns.push(column.to_string());
                    Some(columns.len() - 1)
                }
            };
            features.push(Feature { column, back });
        }
        Ok(FlowModel { forest, columns, features })
    }

    /// The columns of a list that it looks at.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// A bound for every flow of a list. The arguments are the flows' starts, their sizes, and the
    /// columns at which the model looks. Before the first flow of a job all values are 0.
    pub fn bounds(&self, start: &[u64], size: &[u64], columns: &[Vec<f64>]) -> Vec<u64> {
        let mut order: Vec<usize> = (0..size.len()).collect();
        let job = |row: usize| columns[0][row];
        order.sort_by(|&a, &b| job(a).total_cmp(&job(b)).then(start[a].cmp(&start[b])));
        let (mut bounds, mut first) = (vec![0; size.len()], 0);
        for (place, &row) in order.iter().enumerate() {
            if job(order[first]).total_cmp(&job(row)).is_ne() {
                first = place;
            }
            let value = |feature: &Feature| {
                let before = place.checked_sub(feature.back).filter(|&place| place >= first);
                before.map_or(0.0, |place| match feature.column {
                    Some(column) => columns[column][order[place]],
                    None => size[order[place]] as f64,
                })
            };
            let values: Vec<f64> = self.features.iter().map(value).collect();
            bounds[row] = self.forest.bound(&self.forest.scaled(&values));
        }
        bounds
    }
}

/// A feature's column, and how many flows back it is taken: `cpu.2` is `cpu`, two flows back.
fn parted(name: &str) -> (&str, usize) {
    let parts = name.rsplit_once('.').and_then(|(column, text)| {
        let back: usize = text.parse().ok().filter(|back| (1..=MOST_BACK).contains(back))?;
        (back.to_string() == text).then_some((column, back))
    });
    parts.unwrap_or((name, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_may_be_one_of_an_earlier_flow() {
        assert_eq!(parted("cpu"), ("cpu", 0));
        assert_eq!(parted("cpu.4"), ("cpu", 4));
        assert_eq!(parted("cpu.0"), ("cpu.0", 0));
        assert_eq!(parted("cpu.100"), ("cpu.100", 0));
        assert_eq!(parted("cpu.+4"), ("cpu.+4", 0));
    }

    /// Two trees over cpu, time, time.1 and flow_size.1, which know 60 sizes.
    fn model() -> FlowModel {
        let bytes = include_bytes!("data/least.safetensors");
        FlowModel::of(Regressor::read(bytes).unwrap()).unwrap()
    }

    #[test]
    fn a_window_is_of_one_job_in_the_order_of_starts() {
        let model = model();
        assert_eq!(model.columns(), ["job", "cpu", "time"]);
        let of = |values: &[f64]| model.forest.bound(&model.forest.scaled(values));
        // Job 2: rows 2, 0 and 3, the last two of which start at once. Job 5: row 1.
        let jobs = vec![2.0, 5.0, 2.0, 2.0];
        let cpu = vec![0.1, 0.9, 0.5, 0.3];
        let time = vec![90.0, 80.0, 5.0, 40.0];
        let bounds = model.bounds(&[7, 1, 3, 7], &[900_000, 10, 400_000, 20], &[jobs, cpu, time]);
        let expected = [
            of(&[0.1, 90.0, 5.0, 400_000.0]),
            of(&[0.9, 80.0, 0.0, 0.0]),
            of(&[0.5, 5.0, 0.0, 0.0]),
            of(&[0.3, 40.0, 90.0, 900_000.0]),
        ];
        assert_eq!(bounds, expected);
        assert_ne!(expected[0], of(&[0.1, 90.0, 0.0, 0.0]));
        assert_ne!(expected[3], of(&[0.3, 40.0, 5.0, 400_000.0]));
    }
}
