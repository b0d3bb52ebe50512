"""Parquet as the whole program writes and reads it: sealed, so that damage is noticed.

The format has checksums of pages, which are written and verified too. But they do not cover the
pages' headers and the footer, which hold the names of columns and the positions of data. So the
footer's key-value metadata contain the file's seal: the SHA-256 of all its bytes, with zeros in
place of the seal. Files without a seal come from other programs. They are read, with a warning.
"""

from __future__ import annotations

import hashlib
import re
import struct
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

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
    file: str | Path, columns: Sequence[str] | None = None, *, only_sealed: bool = False
) -> pa.Table:
    """The table in a file, or those of its columns that are asked for. Damage is refused.

    A file without a seal is read with a warning, or refused with `only_sealed`.
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
            chosen = None if columns is None else [name for name in columns if name in names]
            table = content.read(chosen)
        if not is_sealed:
            table.validate(full=True)
    except (OSError, UnicodeError, pa.ArrowException) as error:
        raise ScenarioError(f"{file}: cannot be read as Parquet: {error}") from error
    if not is_sealed:
        text = f"{file} has no checksum: damage to it would not be noticed"
        warnings.warn(UncheckedWarning(text), stacklevel=2)
    return table


def rows(file: Path) -> int:
    """The number of rows of a file."""
    import pyarrow.parquet as pq

    count: int = pq.read_metadata(file).num_rows
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
