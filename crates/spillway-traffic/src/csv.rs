//! Comma-separated values, as in RFC 4180. A value in quotes may hold commas, line breaks, and
//! quotes, which are doubled.

use super::flow_columns::ColumnsError;
use std::borrow::Cow;

/// The line of the first row in a file. The line before it names the columns.
pub const FIRST_LINE: usize = 2;

/// Rows that have a value for every name. The text is split into cells anew for each column,
/// because the cells of all columns would take several times the memory of the text.
pub struct Csv<'a> {
    names: Vec<Cow<'a, str>>,
    rows: Rows<'a>,
}

impl<'a> Csv<'a> {
    pub fn of(text: &'a str) -> Result<Csv<'a>, ColumnsError> {
        let mut text = text.trim_start_matches('\u{feff}');
        // Lines without anything at the end are no rows.
        while let Some(before) = text.trim_end_matches([' ', '\t', '\r']).strip_suffix('\n') {
            text = before;
        }
        let mut rows = Rows { rest: text, line: 1 };
        let head = rows.next().filter(|(_, row)| !row.trim().is_empty());
        let head = head.ok_or(ColumnsError::Empty)?.1;
        let name = |(place, cell): (usize, Cell<'a>)| {
            cell.check(1, || (place + 1).to_string())?;
            Ok::<_, ColumnsError>(cell.trimmed())
        };
        let names = Cells(Some(head)).enumerate().map(name).collect::<Result<Vec<_>, _>>()?;
        for (line, row) in rows.clone() {
            let mut found = 0;
            for cell in Cells(Some(row)) {
                let of = |place: usize| names.get(place).map(ToString::to_string);
                cell.check(line, || of(found).unwrap_or_else(|| (found + 1).to_string()))?;
                found += 1;
            }
            let expected = names.len();
            if found != expected {
                return Err(ColumnsError::Width { line, found, expected });
            }
        }
        Ok(Csv { names, rows })
    }

    /// The column of this name, if there is one. If a value is invalid, the error says what `parse`
    /// expects.
    pub fn column<T>(
        &self,
        column: &str,
        parse: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<Option<Vec<T>>, ColumnsError> {
        self.parsed(column, |cell| parse(&cell.trimmed()))
    }

    /// A column of texts. Blanks around them belong to them.
    pub fn texts<T>(
        &self,
        column: &str,
        parse: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<Option<Vec<T>>, ColumnsError> {
        self.parsed(column, |cell| parse(&cell.value()))
    }

    fn parsed<T>(
        &self,
        column: &str,
        parse: impl Fn(Cell<'a>) -> Result<T, &'static str>,
    ) -> Result<Option<Vec<T>>, ColumnsError> {
        let mut places = (0..self.names.len()).filter(|&place| self.names[place] == column);
        let Some(place) = places.next() else { return Ok(None) };
        if places.next().is_some() {
            return Err(ColumnsError::ColumnTwice(column.to_string()));
        }
        let parse_row = |(line, row): (usize, &'a str)| {
            let cell = Cells(Some(row)).nth(place).unwrap_or(Cell(""));
            parse(cell).map_err(|expected| {
                let (column, value) = (column.to_string(), cell.trimmed().into_owned());
                ColumnsError::Value { line, column, value, expected }
            })
        };
        self.rows.clone().map(parse_row).collect::<Result<_, _>>().map(Some)
    }
}

/// The rows of a text with their lines.
#[derive(Clone)]
struct Rows<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Iterator for Rows<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        let mut end = 0;
        let mut is_quoted = false;
        // A doubled quote ends a value and begins one at once.
        loop {
            match self.rest[end..].find(['"', '\n']) {
                None => {
                    let row = std::mem::take(&mut self.rest);
                    return Some((line, row.strip_suffix('\r').unwrap_or(row)));
                }
                Some(at) => end += at,
            }
            let is_quote = self.rest.as_bytes()[end] == b'"';
            is_quoted ^= is_quote;
            self.line += usize::from(!is_quote);
            if !is_quote && !is_quoted {
                break;
            }
            end += 1;
        }
        let row = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some((line, row.strip_suffix('\r').unwrap_or(row)))
    }
}

/// The cells of a row.
struct Cells<'a>(Option<&'a str>);

impl<'a> Iterator for Cells<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        let row = self.0?;
        let mut is_quoted = false;
        let end = row.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b',' && !is_quoted
        });
        self.0 = end.map(|end| &row[end + 1..]);
        Some(Cell(&row[..end.unwrap_or(row.len())]))
    }
}

/// A cell as it is written.
#[derive(Clone, Copy)]
struct Cell<'a>(&'a str);

impl<'a> Cell<'a> {
    /// What is between the quotes, if there are any.
    fn quoted(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// Refuses quotes that do not open and close the cell.
    fn check(self, line: usize, column: impl Fn() -> String) -> Result<(), ColumnsError> {
        let is_right = match self.quoted() {
            Some(text) => !text.replace("\"\"", "").contains('"'),
            None => !self.0.contains('"'),
        };
        if is_right { Ok(()) } else { Err(ColumnsError::Quote { line, column: column() }) }
    }

    /// The value.
    fn value(self) -> Cow<'a, str> {
        match self.quoted() {
            Some(text) if text.contains('"') => text.replace("\"\"", "\"").into(),
            Some(text) => text.into(),
            None => self.0.into(),
        }
    }

    /// The value without blanks around it.
    fn trimmed(self) -> Cow<'a, str> {
        match self.value() {
            Cow::Borrowed(text) => text.trim().into(),
            Cow::Owned(text) => text.trim().to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(text: &str, name: &str) -> Result<Vec<String>, String> {
        let read = || Csv::of(text)?.texts(name, |cell| Ok(cell.to_string()));
        read().map(Option::unwrap_or_default).map_err(|error| error.to_string())
    }

    #[test]
    fn values_in_quotes_hold_commas_quotes_and_line_breaks() {
        let text = "\u{feff}\"a\",b , c\r\n\"x,y\",\"p\"\"q\",\"1\n2\"\r\n x ,,\"\"\n\n \n";
        assert_eq!(column(text, "a").unwrap(), ["x,y", " x "]);
        assert_eq!(column(text, "b").unwrap(), ["p\"q", ""]);
        assert_eq!(column(text, "c").unwrap(), ["1\n2", ""]);
        assert_eq!(column("a\n\"\"\"\"\n\"\"\n \n\t\r\n", "a").unwrap(), ["\"", ""]);
        assert_eq!(column("a\n b", "a").unwrap(), [" b"]);
    }

    #[test]
    fn quotes_that_do_not_close_are_refused_by_line_and_column() {
        for (text, place) in [
            ("a,b\n1,\"5", "line 2, column b"),
            ("a,b\n0,1\n\"5,0\n3,4\n", "line 3, column a"),
            ("a,b\n\"x\ny\",1\n2,\"", "line 4, column b"),
            ("a,b\n1,\"x\"y", "line 2, column b"),
            ("a,b\n1,x\"y\"", "line 2, column b"),
            ("a,b\n1, \"y\"", "line 2, column b"),
            ("a,b\n\"y\" ,1", "line 2, column a"),
            ("a,b\n1,\"x\"y\"z\"", "line 2, column b"),
            ("a,b\n1,2,\"", "line 2, column 3"),
            ("a,\"b\n1,2\n", "line 1, column 2"),
        ] {
            let error = column(text, "a").unwrap_err();
            assert_eq!(
                error,
                format!("{place}: a quote is not closed, or not doubled"),
                "{text:?}"
            );
        }
    }
}
