"""Parquet as the whole program writes and reads it: sealed, so that damage is noticed.

The format has checksums of pages, which are written and verified too. But they do not cover the
pages' headers and the footer, which hold the names of columns and the positions of data. So the
footer's key-value metadata contain the file's seal: the SHA-256 of all its bytes, with zeros in
place of the seal. Files without a seal come from other programs. They are read, with a warning.

A few bytes of Parquet may stand for any number of rows, and for any length of text in each. So the
memory of a table is estimated from its pages' headers before it is read. Texts are read as numbers
of a dictionary's entries, and the lengths of these are added up before they are written out.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from spillway.base.errors import FileError, ScenarioError, UncheckedWarning
from spillway.base.folder import check_plain
from spillway.base.parquet_pages import MalformedError, footer, held

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"spillway.sha256"
_BLANK = b"0" * 64
# A key and its value in the footer's encoding (Thrift's compact protocol).
_SEAL = re.compile(re.escape(_KEY) + rb"\x18\x40(.{64})", re.DOTALL)
_BLOCK = 1 << 20
_VALUE_BYTES = 24
"""About how many bytes a value takes while it is read, besides its encoded ones."""
_TEXT_COPIES = 4
"""How many copies of a text may be in memory meanwhile."""
MOST_MEMORY = 4_000_000_000
"""The most bytes of memory for a table, unless its reader says otherwise."""


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
    """The table in a file, or only these columns of it. Damage is refused.

    A file without a seal is read with a warning, or refused with `only_sealed`. A table that would
    take more than `memory` bytes is refused: a scenario's limit is `limits.memory`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(file)
    check_plain(file)
    is_sealed = _is_sealed(file)
    if not is_sealed and only_sealed:
        raise FileError(f"{file} has no checksum")
    try:
        with file.open("rb") as data, pq.ParquetFile(data) as content:
            schema, plain = content.schema, content.schema_arrow
            check_names(file, plain.names)
            chosen = plain.names if columns is None else [n for n in columns if n in plain.names]
            places = _leaves(schema, chosen)
            _check(file, _bytes(schema, data, places), memory)
            leaves = map(schema.column, places)
            texts = [leaf.path for leaf in leaves if _is_text(leaf)]
        with pq.ParquetFile(
            file, read_dictionary=texts, page_checksum_verification=True
        ) as content:
            table = content.read(chosen)
        chunks = (chunk for column in table.columns for chunk in column.chunks)
        _check(file, sum(map(_text_bytes, chunks)), memory)
        table = table.cast(pa.schema([plain.field(name) for name in chosen], plain.metadata))
        if not is_sealed:
            table.validate(full=True)
    except (OSError, UnicodeError, pa.ArrowException, MalformedError) as error:
        raise FileError(f"{file}: cannot be read as Parquet: {error}") from error
    if not is_sealed:
        text = f"{file} has no checksum: damage to it would not be noticed"
        warnings.warn(UncheckedWarning(text), stacklevel=2)
    return table


def ample() -> int:
    """The memory for a table that may be as large as the machine allows."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(MOST_MEMORY, machine // 2)


def _leaves(schema: Any, names: Sequence[str]) -> list[int]:
    """The places in the file of all parts of the columns with these names."""
    first = {name.partition(".")[0] for name in names}
    paths = (schema.column(place).path for place in range(len(schema)))
    return [place for place, path in enumerate(paths) if path.partition(".")[0] in first]


def _bytes(schema: Any, content: BinaryIO, places: Sequence[int]) -> int:
    """About how many bytes columns would take in memory."""
    total = 0
    for place, column in zip(places, held(content, places, len(schema)), strict=True):
        leaf = schema.column(place)
        copies = _TEXT_COPIES if _is_text(leaf) else 1
        # Where all values have one length, a dictionary may have written each only once.
        total += copies * column.bytes + (_VALUE_BYTES + max(0, leaf.length)) * column.values
    return total


def _is_text(leaf: Any) -> bool:
    return bool(leaf.physical_type == "BYTE_ARRAY")


def _text_bytes(values: pa.Array) -> int:
    """The bytes of the texts among values once they are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(values.type):
        is_map = pa.types.is_map(values.type)
        inner = [values.keys, values.items] if is_map else values.flatten()
        return sum(map(_text_bytes, inner if isinstance(inner, list) else [inner]))
    if not pa.types.is_dictionary(values.type):
        return 0
    lengths = pc.fill_null(pc.binary_length(values.dictionary), 0).cast("int64")
    return int(pc.sum(lengths.take(values.indices), min_count=0).as_py())


def _check(file: Path, needed: int, memory: int) -> None:
    if needed > memory:
        told = f"reading it would take about {needed * 1e-9:.3g} GB of memory"
        raise ScenarioError(
            f"{file}: {told}: more than {memory * 1e-9:.3g} GB",
            "make it smaller; for a file that a scenario names, limits.memory may be raised",
            kind="limit",
        )


def rows(file: Path) -> int:
    """The number of rows of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_plain(file)
    try:
        return int(pq.read_metadata(file).num_rows)
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise FileError(f"{file}: cannot be read as Parquet: {error}") from error


def names(file: Path) -> list[str]:
    """The names of a file's columns; empty if it is not Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(file).names)
    except (OSError, UnicodeError, pa.ArrowException):
        return []


def check_names(file: Path, names: Sequence[str]) -> None:
    """Refuses a table in which a name stands for more than one column."""
    seen = set()
    for name in names:
        if name in seen:
            raise FileError(f"{file}: the column {name} is there twice", "leave one of them")
        seen.add(name)


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
        raise FileError(f"{file}: cannot be read: {error.strerror}") from error
    if not is_whole:
        raise FileError(
            f"{file} is damaged: its checksum is another",
            "it is not what was written: make it again, or get it again from where it is from",
        )
    return True


def _seal(content: BinaryIO) -> tuple[int, bytes] | None:
    """The position and the content of a file's seal, if it has one."""
    try:
        start, told = footer(content)
    except MalformedError:
        return None
    seals = list(_SEAL.finditer(told))
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
