"""Comma-separated values as the whole program writes and reads them: by RFC 4180.

A value in quotes may hold commas, line breaks, and quotes, which are doubled. Quotes elsewhere, and
quotes that are not closed, are refused: readers differ on them.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

_CELL = re.compile(rb'(?:"(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|\r|\n|\Z)')
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$|^$')


def read(file: Path) -> pa.Table:
    """The table in a file.

    Raises:
        ScenarioError: its quotes are not those of RFC 4180.
        pa.ArrowInvalid: it is no table for another reason.
    """
    from pyarrow import csv

    check(file)
    return csv.read_csv(file, parse_options=csv.ParseOptions(newlines_in_values=True))


def rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows by column names, each with the number of the line in which it ends."""
    check(file)
    try:
        with file.open(encoding="utf-8-sig", newline="") as content:
            found = csv.DictReader(content, strict=True)
            for row in found:
                yield found.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{file} cannot be read: {error}") from error


def check(file: Path) -> None:
    """Refuses quotes in wrong places, by line and column. A byte order mark may come first."""
    try:
        content = file.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}") from error
    if b'"' not in content:
        return
    place, column, line = 0, 1, 1
    while place < len(content):
        cell = _CELL.match(content, place)
        if cell is None:
            problem = "a quote is not closed, or not doubled"
            raise FileError(f"{file}: line {line}, column {column}: {problem}")
        line += content.count(b"\n", place, cell.end())
        column = column + 1 if cell[1] == b"," else 1
        place = cell.end()


def write(table: pa.Table, file: Path) -> None:
    """Writes a table."""
    import pyarrow as pa

    is_text = {field.name: pa.types.is_string(field.type) for field in table.schema}
    texts = [text for name in is_text if is_text[name] for text in table[name].unique().to_pylist()]
    with writer(file, table.schema, texts) as out:
        out.write_table(table)


def writer(file: Path, schema: pa.Schema, texts: Iterable[str | None]) -> Any:
    """A context in which tables are appended to a file; `texts` are all that they contain.

    Texts have quotes only if some of them need any: not all programs know quotes.
    """
    from pyarrow import csv

    needs = any(_NEEDS_QUOTES.search(text) for text in texts if text is not None)
    style = "needed" if needs else "none"
    options = csv.WriteOptions(quoting_style=style, quoting_header="none")
    return csv.CSVWriter(file, schema, write_options=options)
