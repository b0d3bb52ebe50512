//! Flows from a file.
//!
//! # What it does
//! Replays a list of flows: one that `spillway flows` wrote, that another simulator used, or that
//! was measured.
//!
//! # Rule
//! Every row is a flow: `src`, `dst`, `size_bytes`, `start_ns` (or, exactly, `start_ps`), and
//! optionally `class`, `priority`, `path`, `ack_path`, `query_id` and `bound_bytes`. Rows need not
//! be sorted. A flow may wait for others of the list. The column `after` has their numbers, the
//! first row's being 0. The flow then starts some time (`delay_ns`) after its host knows that all
//! of them are complete (`release_delay`), but not before `start_ns`. Flows with the same number in
//! the column `job` are a job.
//!
//! With a `class` column the list defines the classes that it names. With `only_class` only the
//! flows of one class are taken, and they belong to the section's own class. Flows that start after
//! the scenario's duration are left out. With `bound = { kind = "model", model = FILE }` the forest
//! in that file bounds each flow. It looks at further columns of the list. One of them is `job`,
//! the number of the job whose earlier flows the forest may look at too. Flows of a job are in the
//! order of their starts, then of their rows.
//!
//! # Cost
//! Memory per flow.

use super::csv::FIRST_LINE;
use super::flow_columns::{ColumnsError, FlowColumns, numbers_of_csv};
use super::flow_graph::{FlowGraph, Node};
use super::flow_model::FlowModel;
use super::label::Label;
use super::release::Release;
use super::waiting::Waiting;
use super::{Context, Expected, Flows, Kind, Pattern};
use spillway_engine::Time;
use spillway_settings::quantity::MOST_BYTES;
use spillway_settings::{ErrorKind, Section, SettingsError, nearest_name};
use spillway_switch::packet::NO_PRIORITY;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The kind `flows`.
pub const KIND: Kind = Kind {
    id: "flows",
    results: 1,
    summary: "Flows from a file: CSV or Parquet.",
    example: "file = \"example.csv\"",
    read: |section, label, context| Ok(Box::new(FlowListParams::read(section, label, context)?)),
};

/// More classes than this are a mistake, such as an id in the column for classes.
const MOST_CLASSES: usize = 256;
/// The longest name of a class in bytes, and how many of its characters messages show.
const LONGEST_CLASS: usize = 1000;
const LONGEST_SHOWN: usize = 40;

/// A section of kind `flows`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowListParams {
    /// The flows that wait for no other.
    flows: Arc<[FlowSpec]>,
    /// All flows, if some wait or belong to jobs.
    graph: Option<Arc<FlowGraph>>,
    release: Release,
    /// The classes that the list names, if it names any.
    classes: Option<Vec<String>>,
}

impl FlowListParams {
    /// Reads a section's keys, and the file.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<FlowListParams, SettingsError> {
        let takes = "a file's name";
        let meaning = "The list, in the scenario's folder: columns src, dst, size_bytes, start_ns (or \
                       start_ps), and optionally class, priority, path, ack_path, query_id, \
                       bound_bytes, after, delay_ns, job.";
        let file = section.text("file", "", takes, meaning)?;
        let meaning = "Takes only the flows of this class of the list.";
        let only_class = section
            .optional("only_class", |s| s.text("only_class", "", "a class's name", meaning))?;
        let meaning = "The largest number of flows, in the order of their start.";
        let limit =
            section.optional("limit", |s| s.integer("limit", None, 1..=u64::MAX, meaning))?;
        let meaning = "The time of the list that is the start of the run.";
        let origin = section.time("origin", "0us", meaning)?;
        let release = Release::read(section)?;

        let named = |problem: String| format!("{file}: {problem}");
        let wrong_file = |problem| section.error(ErrorKind::File, "file", named(problem));
        let list = List::read(section, &file, context).map_err(wrong_file)?;
        let classes = list.classes();
        if classes.iter().any(|class| class.trim().is_empty()) {
            return Err(wrong_file("a class has no name".into()));
        }
        let is_no_name =
            |class: &&&str| class.contains(['\n', '\r']) || class.len() > LONGEST_CLASS;
        if let Some(class) = classes.iter().find(is_no_name) {
            let class: String = class.chars().take(LONGEST_SHOWN).collect();
            return Err(wrong_file(format!("{class:?} is no class's name")));
        }
        if classes.len() > MOST_CLASSES {
            let problem = format!("{} classes; at most {MOST_CLASSES} make sense", classes.len());
            return Err(wrong_file(problem));
        }
        if let Some(class) = only_class.as_deref().filter(|class| !classes.contains(class)) {
            let hint = nearest_name(class, classes.iter().copied());
            let problem = named(format!("no flow of class {class:?}"));
            return Err(section.error(ErrorKind::WrongValue, "only_class", problem).hint(hint));
        }

        let (mut flows, mut rows) = (Vec::new(), Vec::new());
        for row in 0..list.columns.src.len() {
            let class = list.class_of(row);
            if only_class.is_some() && only_class.as_deref() != class {
                continue;
            }
            let mut flow = list.flow(row, &label).map_err(wrong_file)?;
            if only_class.is_none() {
                let place = class.and_then(|class| classes.binary_search(&class).ok());
                flow.class += place.unwrap_or(0) as u16;
            }
            let start = if list.waits(row) {
                Some(flow.start.ps().saturating_sub(origin.ps()))
            } else {
                flow.start.ps().checked_sub(origin.ps())
            };
            match start {
                Some(start) => flow.start = Time::from_ps(start),
                None => {
                    let problem = format!("{} starts before {origin}", list.place(row));
                    return Err(section.conflict("origin", named(problem)));
                }
            }
            flows.push(flow);
            rows.push(row);
        }
        if let Some(limit) = limit {
            if rows.iter().any(|&row| list.waits(row)) {
                let problem = "flows that wait for others have no order of starts to be cut by";
                return Err(section.conflict("limit", problem));
            }
            let mut listed: Vec<(FlowSpec, usize)> = flows.into_iter().zip(rows).collect();
            listed.retain(|(flow, _)| flow.start < context.duration);
            listed.sort_unstable();
            listed.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            (flows, rows) = listed.into_iter().unzip();
        }
        let graph = list.graph(&flows, &rows, context.duration).map_err(wrong_file)?;
        if let Some(graph) = &graph {
            flows = graph.first().collect();
        }
        flows.retain(|flow| flow.start < context.duration);
        flows.sort_unstable();
        let own = only_class.is_none() && !classes.is_empty();
        let classes = own.then(|| classes.iter().map(ToString::to_string).collect());
        Ok(FlowListParams { flows: flows.into(), graph: graph.map(Arc::new), release, classes })
    }
}

impl FlowListParams {
    /// All flows, including those that wait.
    fn all(&self) -> Box<dyn Iterator<Item = FlowSpec> + '_> {
        match &self.graph {
            Some(graph) => Box::new(graph.all()),
            None => Box::new(self.flows.iter().copied()),
        }
    }
}

impl Pattern for FlowListParams {
    fn flows(&self) -> Flows {
        let flows = self.flows.clone();
        Box::new((0..flows.len()).map(move |place| flows[place]))
    }

    fn waiting(&self) -> Option<Box<dyn Waiting>> {
        self.graph.as_ref().map(|graph| Box::new(graph.waiting()) as Box<dyn Waiting>)
    }

    fn release(&self) -> Release {
        self.release
    }

    fn has_jobs(&self) -> bool {
        self.graph.as_ref().is_some_and(|graph| graph.has_jobs())
    }

    fn most_flows(&self) -> u64 {
        self.all().count() as u64
    }

    fn expected(&self) -> Expected {
        let sizes = || self.all().map(|flow| flow.size);
        Expected {
            flows: self.most_flows() as f64,
            bytes: sizes().map(|size| size as f64).sum(),
            largest: sizes().max().unwrap_or(0),
        }
    }

    fn classes(&self) -> Option<Vec<String>> {
        self.classes.clone()
    }

    fn has_bounds(&self) -> bool {
        self.all().any(|flow| flow.bound > 0)
    }

    fn priorities(&self) -> BTreeSet<u8> {
        self.all().filter_map(|flow| flow.priority).collect()
    }
}

/// A list as it was given.
struct List {
    columns: FlowColumns,
    /// The word for its rows in messages, and the number of the first row.
    rows: (&'static str, usize),
    hosts: u32,
}

impl List {
    fn read(section: &Section, file: &str, context: &Context) -> Result<List, String> {
        let hosts = context.topology.hosts();
        let names = context.model.map_or(&[][..], FlowModel::columns);
        let key = section.path_of("file");
        let (columns, numbers, rows) = match (context.columns)(&key, file) {
            Some(columns) => {
                context.files.note(section, "file", file);
                let numbers = match names {
                    [] => Vec::new(),
                    names => (context.numbers)(&key, file, names)
                        .ok_or("its columns of numbers cannot be read")?,
                };
                (columns, numbers, ("row", 1))
            }
            None if file.ends_with(".parquet") => {
                return Err("Parquet is read by the Python package only; expected CSV".into());
            }
            None => {
                let text = context.files.text(section, "file", file).map_err(|error| {
                    let path = context.files.folder().join(file);
                    format!("cannot read {}: {error}", path.display())
                })?;
                let wrong = |error: ColumnsError| error.to_string();
                let columns = FlowColumns::from_csv(&text).map_err(wrong)?;
                // Most lists are read without a model, and once.
                let numbers = match names {
                    [] => Vec::new(),
                    names => numbers_of_csv(&text, names).map_err(wrong)?,
                };
                (columns, numbers, ("line", FIRST_LINE))
            }
        };
        let mut list = List { columns, rows, hosts };
        let is_short = |column: &Vec<f64>| column.len() != list.columns.src.len();
        if !list.has_equal_columns() || numbers.iter().any(is_short) {
            return Err("columns of unequal length".into());
        }
        if let Some(model) = context.model {
            list.bound(model, &numbers);
        }
        Ok(list)
    }

    /// Gives every flow without a bound the bound of the model.
    fn bound(&mut self, model: &FlowModel, numbers: &[Vec<f64>]) {
        let FlowColumns { start_ps, start_ns, size_bytes, bound_bytes, .. } = &mut self.columns;
        let start = start_ps.as_ref().unwrap_or(start_ns);
        let found = model.bounds(start, size_bytes, numbers);
        let own = bound_bytes.take().unwrap_or_else(|| vec![None; found.len()]);
        let bounds = own.into_iter().zip(found).map(|(own, found)| own.or(Some(found)));
        *bound_bytes = Some(bounds.collect());
    }

    fn has_equal_columns(&self) -> bool {
        let FlowColumns {
            src,
            dst,
            size_bytes,
            start_ns,
            start_ps,
            class,
            priority,
            path,
            ack_path,
            query_id,
            bound_bytes,
            after,
            delay_ns,
            job,
        } = &self.columns;
        let start = start_ps.as_ref().unwrap_or(start_ns);
        let optional = [
            class.as_ref().map(Vec::len),
            priority.as_ref().map(Vec::len),
            path.as_ref().map(Vec::len),
            ack_path.as_ref().map(Vec::len),
            query_id.as_ref().map(Vec::len),
            bound_bytes.as_ref().map(Vec::len),
            after.as_ref().map(Vec::len),
            delay_ns.as_ref().map(Vec::len),
            job.as_ref().map(Vec::len),
        ];
        let required = [dst.len(), size_bytes.len(), start.len()];
        required.into_iter().chain(optional.into_iter().flatten()).all(|len| len == src.len())
    }

    /// The classes that the list names, sorted.
    fn classes(&self) -> Vec<&str> {
        let names = self.columns.class.iter().flatten().map(|class| &**class);
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn class_of(&self, row: usize) -> Option<&str> {
        self.columns.class.as_ref().map(|classes| &*classes[row])
    }

    /// Whether the flow of a row waits for others.
    fn waits(&self, row: usize) -> bool {
        self.columns.after.as_ref().is_some_and(|after| !after[row].is_empty())
    }

    /// Which flows of these rows wait for which. `None` if no flow waits and there are no jobs.
    fn graph(
        &self,
        flows: &[FlowSpec],
        rows: &[usize],
        duration: Time,
    ) -> Result<Option<FlowGraph>, String> {
        let FlowColumns { src, after, delay_ns, job, .. } = &self.columns;
        let is_in_vain = |&row: &usize| {
            let delay = delay_ns.as_ref().and_then(|delays| delays[row]);
            delay.is_some_and(|delay| delay > 0) && !self.waits(row)
        };
        if let Some(&row) = rows.iter().find(|row| is_in_vain(row)) {
            let place = self.place(row);
            return Err(format!(
                "{place}, column delay_ns: a delay, but no flow in the column after"
            ));
        }
        let has_jobs = job.as_ref().is_some_and(|jobs| rows.iter().any(|&row| jobs[row].is_some()));
        if !has_jobs && !rows.iter().any(|&row| self.waits(row)) {
            return Ok(None);
        }
        let node = |(tag, (spec, &row)): (u32, (&FlowSpec, &usize))| {
            let after = after.as_ref().map_or(&[][..], |after| &after[row]);
            let place_of = |&other: &u32| {
                let wrong = |problem: String| {
                    Err(format!("{}, column after: {other} {problem}", self.place(row)))
                };
                if other as usize >= src.len() {
                    let (number, last) = (src.len(), src.len() - 1);
                    return wrong(format!("is not a flow; there are {number}, from 0 to {last}"));
                }
                match rows.binary_search(&(other as usize)) {
                    _ if other as usize == row => wrong("is the flow itself".into()),
                    Err(_) => wrong("is of another class, which is not taken".into()),
                    Ok(place) => Ok(place as u32),
                }
            };
            let mut after = after.iter().map(place_of).collect::<Result<Vec<_>, _>>()?;
            after.sort_unstable();
            after.dedup();
            let of_row = |column: &Option<Vec<Option<u64>>>| column.as_ref().and_then(|c| c[row]);
            let delay = of_row(delay_ns).unwrap_or(0);
            let Some(delay) = delay.checked_mul(1_000) else {
                let problem = "is beyond what can be simulated, 213 days";
                return Err(format!("{}, column delay_ns: {delay} {problem}", self.place(row)));
            };
            Ok(Node {
                spec: FlowSpec { tag, ..*spec },
                delay: Time::from_ps(delay),
                after,
                job: job.as_ref().and_then(|jobs| jobs[row]),
            })
        };
        let nodes = (0..).zip(flows.iter().zip(rows)).map(node).collect::<Result<_, _>>()?;
        FlowGraph::new(nodes, duration).map(Some).map_err(|cycle| {
            const MOST: usize = 8;
            let mut names: Vec<_> =
                cycle.iter().take(MOST).map(|&place| rows[place as usize].to_string()).collect();
            if cycle.len() > MOST {
                names.push("...".into());
            }
            names.push(rows[cycle[0] as usize].to_string());
            format!("flows that wait for each other: {}", names.join(" after "))
        })
    }

    fn place(&self, row: usize) -> String {
        let (rows, first) = self.rows;
        format!("{rows} {}", row + first)
    }

    /// The flow of a row, with its start as in the list.
    fn flow(&self, row: usize, label: &Label) -> Result<FlowSpec, String> {
        let list = &self.columns;
        let wrong = |column: &str, value: u64, problem: String| {
            Err(format!("{}, column {column}: {value} {problem}", self.place(row)))
        };
        let (src, dst, size) = (list.src[row], list.dst[row], list.size_bytes[row]);
        for (column, host) in [("src", src), ("dst", dst)] {
            if host >= self.hosts {
                let (number, last) = (self.hosts, self.hosts - 1);
                let problem = format!("is not a host; there are {number}, from 0 to {last}");
                return wrong(column, host.into(), problem);
            }
        }
        if src == dst {
            return wrong("dst", dst.into(), "is the sender too".into());
        }
        if size == 0 {
            return wrong("size_bytes", size, "bytes; a flow has at least one".into());
        }
        if size > MOST_BYTES {
            return wrong("size_bytes", size, "bytes are more than 2^53".into());
        }
        let start = match &list.start_ps {
            Some(start_ps) => Some(start_ps[row]),
            None => list.start_ns[row].checked_mul(1_000),
        };
        let Some(start) = start else {
            let problem = "is beyond what can be simulated, 213 days".into();
            return wrong("start_ns", list.start_ns[row], problem);
        };
        let of_row = |column: &Option<Vec<Option<u32>>>| column.as_ref().and_then(|c| c[row]);
        let own_priority = list.priority.as_ref().and_then(|c| c[row]);
        if own_priority == Some(NO_PRIORITY) {
            return wrong("priority", NO_PRIORITY.into(), "is not a priority from 0 to 254".into());
        }
        let query = of_row(&list.query_id);
        if query == Some(u32::MAX) {
            return wrong("query_id", u32::MAX.into(), "is more than 2^32 - 2".into());
        }
        Ok(FlowSpec {
            priority: own_priority.or(label.priority),
            path: of_row(&list.path),
            ack_path: of_row(&list.ack_path),
            query,
            bound: list.bound_bytes.as_ref().and_then(|column| column[row]).unwrap_or(0),
            ..label.flow(Time::from_ps(start), src, dst, size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture};
    use spillway_settings::Files;

    fn fixture() -> Fixture {
        let mut fixture = Fixture::new(fixture::leaf_spine(2, 2, 1));
        fixture.duration = Time::from_ms(1);
        fixture
    }

    /// Two background flows and a query with two answers, not sorted.
    fn columns() -> FlowColumns {
        FlowColumns {
            src: vec![2, 0, 3, 1],
            dst: vec![0, 3, 0, 2],
            size_bytes: vec![500, 9000, 500, 70],
            start_ns: vec![7000, 8000, 7000, 6000],
            class: Some(["query", "web", "query", "web"].map(Arc::from).into()),
            query_id: Some(vec![Some(4), None, Some(4), None]),
            ..FlowColumns::default()
        }
    }

    fn with(columns: FlowColumns) -> Fixture {
        let mut fixture = fixture();
        fixture.columns = Some(columns);
        fixture
    }

    #[test]
    fn rows_become_flows_in_order() {
        let text = "file = \"x.parquet\"\npriority = 1";
        let source = with(columns()).source("flows", text).unwrap();
        assert_eq!(source.classes(), ["query", "web"]);
        let seen = |f: FlowSpec| (f.start.ps() / 1_000_000, f.src, f.dst, f.size, f.class, f.query);
        let flows: Vec<_> = source.flows().collect();
        assert!(flows.iter().all(|flow| flow.priority == Some(1)));
        assert_eq!(
            flows.into_iter().map(seen).collect::<Vec<_>>(),
            [
                (6, 1, 2, 70, 1, None),
                (7, 2, 0, 500, 0, Some(4)),
                (7, 3, 0, 500, 0, Some(4)),
                (8, 0, 3, 9000, 1, None),
            ]
        );
    }

    #[test]
    fn one_class_may_be_taken_and_a_first_part() {
        let source = |text: &str| {
            let text = format!("file = \"x.parquet\"\n{text}");
            with(columns()).source("flows", &text).unwrap()
        };
        let web = source("only_class = \"web\"");
        assert_eq!(web.classes(), ["test"]);
        assert_eq!(web.flows().map(|f| (f.src, f.class)).collect::<Vec<_>>(), [(1, 0), (0, 0)]);
        assert_eq!(source("limit = 3").flows().map(|f| f.src).collect::<Vec<_>>(), [1, 2, 3]);
        let shifted = source("origin = \"6us\"").flows().map(|f| f.start.ps()).collect::<Vec<_>>();
        assert_eq!(shifted, [0, 1_000_000, 1_000_000, 2_000_000]);
    }

    #[test]
    fn flows_after_the_duration_are_left_out() {
        let mut fixture = with(columns());
        fixture.duration = Time::from_us(8);
        assert_eq!(fixture.flows("flows", "file = \"x.parquet\"").len(), 3);
    }

    #[test]
    fn a_csv_file_is_read_beside_the_scenario() {
        let folder = std::env::temp_dir().join(format!("spillway-list-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text = "src,dst,size_bytes,start_ns,path,ack_path,priority\n0,1,5,2,6,,\n0,9,5,2,,,\n";
        let good = text.replace("0,9,", "1,0,");
        std::fs::write(folder.join("good.csv"), good).unwrap();
        std::fs::write(folder.join("bad.csv"), text).unwrap();
        let mut fixture = fixture();
        fixture.files = Files::of(&folder);
        let flows = fixture.flows("flows", "file = \"good.csv\"");
        let exact = text.replace("start_ns", "start_ps").replace("0,9,", "1,0,");
        std::fs::write(folder.join("exact.csv"), exact).unwrap();
        let exact = fixture.flows("flows", "file = \"exact.csv\"");
        let error = fixture.source("flows", "file = \"bad.csv\"").unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        let seen = |f: &FlowSpec| (f.start.ps(), f.src, f.path, f.ack_path, f.priority);
        assert_eq!(seen(&flows[0]), (2000, 0, Some(6), None, None));
        assert_eq!(seen(&flows[1]), (2000, 1, None, None, None));
        assert_eq!(exact[0].start.ps(), 2);
        let expected = "traffic.test.file: bad.csv: line 3, column dst: 9 is not a host; there are \
                        4, from 0 to 3";
        assert_eq!(error, expected);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut itself = columns();
        itself.dst[1] = 0;
        let mut empty = columns();
        empty.size_bytes[3] = 0;
        let mut late = columns();
        late.start_ns[0] = u64::MAX / 999;
        let mut endless = columns();
        endless.size_bytes[2] = u64::MAX;
        let mut none = columns();
        none.priority = Some(vec![Some(254), Some(255), None, None]);
        let mut no_query = columns();
        no_query.query_id = Some(vec![None, None, Some(u32::MAX), None]);
        let mut nameless = columns();
        nameless.class = Some(["x", "", "x", "y"].map(Arc::from).into());
        let mut of_two_lines = columns();
        of_two_lines.class = Some(["x", "y\nz", "x", "y"].map(Arc::from).into());
        let mut short = columns();
        short.query_id = Some(vec![None]);
        let file = "file = \"x.parquet\"\n";
        let only = |class: &str| format!("{file}only_class = {class:?}");
        for (columns, text, problem) in [
            (itself, file, "x.parquet: row 2, column dst: 0 is the sender too"),
            (empty, file, "row 4, column size_bytes: 0 bytes; a flow has at least one"),
            (late, file, "row 1, column start_ns: 18465"),
            (endless, file, "row 3, column size_bytes: 18446744073709551615 bytes are more than"),
            (none, file, "row 2, column priority: 255 is not a priority from 0 to 254"),
            (no_query, file, "row 3, column query_id: 4294967295 is more than 2^32 - 2"),
            (nameless, file, "x.parquet: a class has no name"),
            (of_two_lines, file, "x.parquet: \"y\\nz\" is no class's name"),
            (short, file, "x.parquet: columns of unequal length"),
            (columns(), &only("wbe"), "only_class: x.parquet: no flow of class \"wbe\"\nhint: did"),
            (
                columns(),
                &format!("{file}origin = \"7us\""),
                "origin: x.parquet: row 4 starts before",
            ),
        ] {
            let error = with(columns).source("flows", text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
        let error = |file: &str| {
            let text = format!("file = {file:?}");
            fixture().source("flows", &text).unwrap_err().to_string()
        };
        assert!(error("no.csv").contains("file: no.csv: cannot read"), "{}", error("no.csv"));
        assert!(error("no.parquet").contains("Parquet is read by the Python package only"));
    }
}
