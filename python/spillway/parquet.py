"""Parquet as the whole program writes and reads it: sealed, so that damage is noticed.

The format has checksums of pages, which are written and verified too. But they do not cover the
pages' headers and the footer, which hold the names of columns and the positions of data. So the
footer's key-value metadata contain the file's seal: the SHA-256 of all its bytes, with zeros in
place of the seal. Files without a seal come from other programs. They are read, with a warning.

A few bytes of Parquet may stand for any number of rows, and for any length of text in each. So what
a table would take is estimated from the footer before it is read; and texts are read as numbers of
a dictionary's entries, whose lengths are added up before they are written out.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

from spillway.errors import ScenarioError, UncheckedWarning
from spillway.folder import check_plain

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"spillway.sha256"
_BLANK = b"0" * 64
# A key and its value in the footer's encoding (Thrift's compact protocol).
_SEAL = re.compile(re.escape(_KEY) + rb"\x18\x40(.{64})", re.DOTALL)
_MAGIC = b"PAR1"
_BLOCK = 1 << 20
_VALUE_BYTES = 24
"""About what a value takes while it is read and converted, besides its encoded bytes."""
_TEXT_COPIES = 4
"""How often a text may be in memory meanwhile."""
MOST_MEMORY = 4_000_000_000
"""What a table may take in memory, unless its reader says otherwise."""


def write(table: pa.Table, file: str | Path) -> None:
    """Writes a table to a file."""
    with Writer(file, table.schema) as writer:
        writer.write_table(table)


class Writer:
    """A context in which tables are appended to a file."""

    def __init__(self, file: str | Path, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self._file = Path(file)
        self._writer = pq.ParquetWriter(
            self._file, schema, compression="zstd", write_page_checksum=True
        )

    def write_table(self, table: pa.Table) -> None:
        """Writes rows."""
        self._writer.write_table(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # After a first failure, such as a full disk, closing fails again; the first error is
            # enough.
            with suppress(OSError):
                self._writer.close()
            return
        self._writer.add_key_value_metadata({_KEY: _BLANK})
        self._writer.close()
        with self._file.open("r+b") as content:
            seal = _seal(content)
            assert seal is not None, "the footer has what was just put there"
            place = seal[0]
            own = _digest(content, place)
            content.seek(place)
            content.write(own)


def read(
    file: str | Path,
    columns: Sequence[str] | None = None,
    *,
    only_sealed: bool = False,
    memory: int = MOST_MEMORY,
) -> pa.Table:
    """The table in a file, or those of its columns that are asked for. Damage is refused.

    A file without a seal is read with a warning, or refused with `only_sealed`. One that would take
    more bytes of memory is refused: a scenario's limit is `limits.memory`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(file)
    check_plain(file)
    is_sealed = _is_sealed(file)
    if not is_sealed and only_sealed:
        raise ScenarioError(f"{file} has no checksum")
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as content:
            names = content.schema_arrow.names
            check_names(file, names)
            chosen = names if columns is None else [name for name in columns if name in names]
            told = [_Told.of(content.metadata, name) for name in chosen]
            _check(file, sum(one.bytes for one in told), memory)
            plain = content.schema_arrow
        texts = [path for one in told for path in one.texts]
        with pq.ParquetFile(
            file, read_dictionary=texts, page_checksum_verification=True
        ) as content:
            table = content.read(chosen)
        _check(file, sum(map(_text_bytes, table.columns)), memory)
        table = table.cast(pa.schema([plain.field(name) for name in chosen], plain.metadata))
        if not is_sealed:
            table.validate(full=True)
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise ScenarioError(f"{file}: cannot be read as Parquet: {error}") from error
    if not is_sealed:
        text = f"{file} has no checksum: damage to it would not be noticed"
        warnings.warn(UncheckedWarning(text), stacklevel=2)
    return table


def ample() -> int:
    """The memory for a table that may be as large as the machine allows."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(MOST_MEMORY, machine // 2)


class _Told(NamedTuple):
    """What the footer tells of a column."""

    bytes: int
    """What it would take in memory, about."""
    texts: list[str]
    """The paths of the texts in it."""

    @classmethod
    def of(cls, footer: Any, name: str) -> _Told:
        """What the footer tells of the column of this name."""
        columns = [footer.schema.column(place) for place in range(footer.num_columns)]
        places = [
            place
            for place, column in enumerate(columns)
            if column.path == name or column.path.startswith(f"{name}.")
        ]
        is_text = {place: columns[place].physical_type == "BYTE_ARRAY" for place in places}
        total = 0
        for group in map(footer.row_group, range(footer.num_row_groups)):
            for place in places:
                chunk = group.column(place)
                values = max(chunk.num_values, group.num_rows)
                copies = _TEXT_COPIES if is_text[place] else 1
                total += copies * chunk.total_uncompressed_size + _VALUE_BYTES * values
        return cls(total, [columns[place].path for place in places if is_text[place]])


def _text_bytes(column: pa.ChunkedArray) -> int:
    """What the texts of a column take once they are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.list_flatten(column)
    if not pa.types.is_dictionary(column.type):
        return 0
    total = 0
    for chunk in column.chunks:
        lengths = pc.fill_null(pc.binary_length(chunk.dictionary), 0).cast("int64")
        total += pc.sum(lengths.take(chunk.indices), min_count=0).as_py()
    return total


def _check(file: Path, needed: int, memory: int) -> None:
    if needed > memory:
        told = f"reading it would take about {needed * 1e-9:.3g} GB of memory"
        hint = "make it smaller; for a file that a scenario names, limits.memory may be raised"
        raise ScenarioError(f"{file}: {told}: more than {memory * 1e-9:.3g} GB", hint)


def rows(file: Path) -> int:
    """The number of rows of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_plain(file)
    try:
        count: int = pq.read_metadata(file).num_rows
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise ScenarioError(f"{file}: cannot be read as Parquet: {error}") from error
    return count


def names(file: Path) -> list[str]:
    """The names of a file's columns; empty if it is not Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found: list[str] = pq.read_schema(file).names
    except (OSError, UnicodeError, pa.ArrowException):
        return []
    return found


def check_names(file: Path, names: Sequence[str]) -> None:
    """Refuses a table in which a name stands for more than one column."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ScenarioError(f"{file}: the column {name} is there twice", "leave one of them")


def _is_sealed(file: Path) -> bool:
    """Whether a file has a seal. A broken one is refused."""
    try:
        with file.open("rb") as content:
            seal = _seal(content)
            if seal is None:
                return False
            place, told = seal
            is_whole = _digest(content, place) == told
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {error.strerror}") from error
    if not is_whole:
        hint = "it is not what was written: make it again, or get it again from where it is from"
        raise ScenarioError(f"{file} is damaged: its checksum is another", hint)
    return True


def _seal(content: BinaryIO) -> tuple[int, bytes] | None:
    """The position and the content of a file's seal, if it has one."""
    size = content.seek(0, 2)
    end = len(_MAGIC) + 4
    content.seek(max(0, size - end))
    tail = content.read()
    if len(tail) < end or not tail.endswith(_MAGIC):
        return None
    (length,) = struct.unpack("<I", tail[:4])
    start = max(0, size - end - length)
    content.seek(start)
    seals = list(_SEAL.finditer(content.read(size - end - start)))
    return (start + seals[-1].start(1), seals[-1][1]) if seals else None


def _digest(content: BinaryIO, place: int) -> bytes:
    """The SHA-256 of a file with zeros in place of its seal."""
    found = hashlib.sha256()
    content.seek(0)
    left = place
    while block := content.read(min(_BLOCK, left)):
        found.update(block)
        left -= len(block)
    found.update(_BLANK)
    content.seek(place + len(_BLANK))
    while block := content.read(_BLOCK):
        found.update(block)
    return found.hexdigest().encode()
