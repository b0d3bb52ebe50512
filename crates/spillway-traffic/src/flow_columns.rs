//! A list of flows as columns, and its reading from a file of comma-separated values.

use super::csv::Csv;
use std::sync::Arc;

/// A list of flows as columns of equal length. A column that is absent, or an empty place in a
/// column, leaves that property of the flow open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowColumns {
    /// Sending hosts.
    pub src: Vec<u32>,
    /// Receiving hosts.
    pub dst: Vec<u32>,
    /// Payload in bytes.
    pub size_bytes: Vec<u64>,
    /// Starts in nanoseconds; empty if `start_ps` is given.
    pub start_ns: Vec<u64>,
    /// Starts in picoseconds, if they are given to that precision.
    pub start_ps: Option<Vec<u64>>,
    /// Names of classes.
    pub class: Option<Vec<Arc<str>>>,
    /// Priorities, 0 the highest.
    pub priority: Option<Vec<Option<u8>>>,
    /// The choice among equal next hops of the data.
    pub path: Option<Vec<Option<u32>>>,
    /// The choice among equal next hops of the acks.
    pub ack_path: Option<Vec<Option<u32>>>,
    /// The query that a flow answers.
    pub query_id: Option<Vec<Option<u32>>>,
    /// The lower bound of a flow's size that its host knows, in bytes.
    pub bound_bytes: Option<Vec<Option<u64>>>,
    /// The flows that must be complete before a flow starts, by their numbers in the list, from 0.
    pub after: Option<Vec<Vec<u32>>>,
    /// How long after that the flow starts, in nanoseconds.
    pub delay_ns: Option<Vec<Option<u64>>>,
    /// The job of which a flow is a part.
    pub job: Option<Vec<Option<u32>>>,
}

/// An error in a file of flows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    #[error("the file is empty; its first line must name its columns")]
    Empty,
    #[error("no column `{0}`; the first line must name src, dst, size_bytes and start_ns")]
    NoColumn(&'static str),
    #[error("no column `{0}`, which the model looks at")]
    NoNumbers(String),
    #[error("the column `{0}` is there twice")]
    ColumnTwice(String),
    #[error("line {line}: {found} values for {expected} columns")]
    Width { line: usize, found: usize, expected: usize },
    #[error("line {line}, column {column}: a quote is not closed, or not doubled")]
    Quote { line: usize, column: String },
    #[error("line {line}, column {column}: {value:?} is not {expected}")]
    Value { line: usize, column: String, value: String, expected: &'static str },
}

impl FlowColumns {
    /// Reads comma-separated values. The first line names the columns, in any order: `src`,
    /// `dst`, `size_bytes` and `start_ns` (or `start_ps`, in picoseconds), and optionally `class`,
    /// `priority`, `path`, `ack_path`, `query_id`, `bound_bytes`, `after` (numbers with spaces
    /// between them), `delay_ns` and `job`. Other columns are ignored.
    pub fn from_csv(text: &str) -> Result<FlowColumns, ColumnsError> {
        let table = Csv::of(text)?;
        let picoseconds = "a whole number of picoseconds";
        let start_ps = table.column("start_ps", |cell| whole(cell).ok_or(picoseconds))?;
        Ok(FlowColumns {
            src: table.required("src", "a host's number")?,
            dst: table.required("dst", "a host's number")?,
            size_bytes: table.required("size_bytes", "a whole number of bytes, at least 1")?,
            start_ns: match start_ps {
                Some(_) => Vec::new(),
                None => table.required("start_ns", "a whole number of nanoseconds")?,
            },
            start_ps,
            class: table.texts("class", |name| {
                (!name.trim().is_empty()).then(|| Arc::from(name)).ok_or("a class's name")
            })?,
            priority: table.optional("priority", "a priority from 0 to 254")?,
            path: table.optional("path", "a path's number")?,
            ack_path: table.optional("ack_path", "a path's number")?,
            query_id: table.optional("query_id", "a query's number")?,
            bound_bytes: table.optional("bound_bytes", "a whole number of bytes")?,
            after: table.column("after", |cell| {
                let numbers = cell.split_ascii_whitespace().map(whole);
                numbers.collect::<Option<_>>().ok_or("numbers of flows with spaces between them")
            })?,
            delay_ns: table.optional("delay_ns", "a whole number of nanoseconds")?,
            job: table.optional("job", "a job's number")?,
        })
    }
}

/// Further columns of numbers of a file of comma-separated values, by their names.
pub fn numbers_of_csv(text: &str, names: &[String]) -> Result<Vec<Vec<f64>>, ColumnsError> {
    let table = Csv::of(text)?;
    let number = |cell: &str| {
        let number = cell.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or("a number")
    };
    let column = |name: &String| {
        table.column(name, number)?.ok_or_else(|| ColumnsError::NoNumbers(name.clone()))
    };
    names.iter().map(column).collect()
}

impl Csv<'_> {
    fn required<T: std::str::FromStr>(
        &self,
        column: &'static str,
        expected: &'static str,
    ) -> Result<Vec<T>, ColumnsError> {
        let parsed = self.column(column, |cell| whole(cell).ok_or(expected))?;
        parsed.ok_or(ColumnsError::NoColumn(column))
    }

    fn optional<T: std::str::FromStr>(
        &self,
        column: &'static str,
        expected: &'static str,
    ) -> Result<Option<Vec<Option<T>>>, ColumnsError> {
        self.column(column, |cell| match cell {
            "" => Ok(None),
            cell => whole(cell).map(Some).ok_or(expected),
        })
    }
}

/// Parses a whole number. Some programs write a column with empty places as floats, with `.0`
/// appended.
fn whole<T: std::str::FromStr>(cell: &str) -> Option<T> {
    cell.strip_suffix(".0").unwrap_or(cell).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let text = "flow_id,dst,src,size_bytes,start_ns,query_id,\"class\"\n\
                    0,1,2,3000,40,,web\n1,5,6,7000,80,9.0,\"query\"\n\n";
        let expected = FlowColumns {
            src: vec![2, 6],
            dst: vec![1, 5],
            size_bytes: vec![3000, 7000],
            start_ns: vec![40, 80],
            class: Some(vec!["web".into(), "query".into()]),
            query_id: Some(vec![None, Some(9)]),
            ..FlowColumns::default()
        };
        assert_eq!(FlowColumns::from_csv(text), Ok(expected));
    }

    #[test]
    fn further_columns_hold_numbers() {
        let names = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let text = "src,cpu,job\n0,0.5,3\n1,1e3,4.0\n";
        let numbers = numbers_of_csv(text, &names("job cpu")).unwrap();
        assert_eq!(numbers, [[3.0, 4.0], [0.5, 1000.0]]);
        for (text, column, message) in [
            (text, "ram", "no column `ram`, which the model looks at"),
            ("cpu\n1\nnan\n", "cpu", "line 3, column cpu: \"nan\" is not a number"),
            ("cpu,x\n,1\n", "cpu", "line 2, column cpu: \"\" is not a number"),
            ("cpu,cpu\n1,1\n", "cpu", "the column `cpu` is there twice"),
        ] {
            let error = numbers_of_csv(text, &names(column)).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn every_mistake_is_named_with_line_column_and_value() {
        let header = "src,dst,size_bytes,start_ns,priority\n";
        for (text, message) in [
            ("", "the file is empty; its first line must name its columns"),
            (
                "src,dst,start_ns\n",
                "no column `size_bytes`; the first line must name src, dst, size_bytes and \
                 start_ns",
            ),
            ("src,src,dst,size_bytes,start_ns\n", "the column `src` is there twice"),
            (&format!("{header}0,1,10,0,\n0,1,10\n"), "line 3: 3 values for 5 columns"),
            (&format!("{header}0,1,ten,0,"), "line 2, column size_bytes: \"ten\" is not a whole"),
            (&format!("{header}0,1,-4,0,"), "line 2, column size_bytes: \"-4\" is not a whole"),
            (&format!("{header}x,1,1,0,"), "line 2, column src: \"x\" is not a host's number"),
            (&format!("{header}0,1,1,0,256"), "column priority: \"256\" is not a priority from 0"),
            ("src,dst,size_bytes,start_ns,class\n0,1,1,0,", "column class: \"\" is not a class's"),
        ] {
            let error = FlowColumns::from_csv(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
