"""What pages hold, by their headers: files of a few bytes, and what is wrong with them."""

import io
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spillway.base.parquet_pages import Held, MalformedError, held

PAGE = b"\x15\x00\x15\x0a\x15\x06\x2c\x15\x08\x00\x00abc"
"""Four values: five bytes, in three."""
DICTIONARY = b"\x15\x04\x15\x04\x15\x02\x4c\x15\x02\x00\x00d"
"""One value: two bytes, in one."""
INDEX = b"\x15\x02\x15\x00\x15\x00\x00"
CHUNK = b"\x56\x08\x26\x1c\x26\x08"
"""Four values, 14 bytes, from byte 4."""


def file(footer, pages=PAGE):
    return io.BytesIO(b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1")


def groups(*chunks, rows=b"\x26\x08"):
    """A footer with a row group, which has these chunks and rows."""
    columns = b"".join(b"\x3c" + chunk + b"\x00\x00" for chunk in chunks)
    return b"\x49\x1c\x19" + bytes([len(chunks) << 4 | 12]) + columns + rows + b"\x00\x00"


def test_pages_are_added_up():
    assert held(file(groups(CHUNK)), [0], 1) == [Held(4, 5)]
    assert held(file(groups(CHUNK, rows=b"\x26\x10")), [0], 1) == [Held(8, 5)]
    both = file(groups(b"\x56\x08\x26\x42\x26\x20\x26\x08"), DICTIONARY + PAGE + INDEX)
    assert held(both, [0], 1) == [Held(5, 7)]


def test_real_files_are_added_up(tmp_path):
    table = pa.table({"a": range(10**5), "b": ["x", None] * 50_000, "c": [[1, 2], []] * 50_000})
    for version in ("1.0", "2.0"):
        file = tmp_path / f"{version}.parquet"
        pq.write_table(table, file, row_group_size=30_000, data_page_version=version)
        with file.open("rb") as content:
            (b, c) = held(content, [1, 2], 3)
        group = pq.read_metadata(file).row_group(0)
        assert b.values == 10**5 + 4 and c.values == 150_000 + 4 * 2
        for column, place in ((b, 1), (c, 2)):
            # What the footer tells counts the headers, too.
            assert 0.8 < column.bytes / (10 / 3 * group.column(place).total_uncompressed_size) < 1
        pq.write_table(table.slice(0, 0), file, data_page_version=version)
        with file.open("rb") as content:
            assert [each.values for each in held(content, [0, 1, 2], 3)] == [0, 0, 0]


WRONG = {
    "it does not end as Parquet does": io.BytesIO(b"PAR1"),
    "2 columns in a row group, not 1": file(groups(CHUNK, CHUNK)),
    "its columns are larger than the file": file(groups(b"\x56\x08\x26\x40\x26\x08")),
    "header ends too early": file(b"\x49\x1c"),
    "header lacks field 4": file(b"\x00"),
    "pages from byte 1 to 15 are not in": file(groups(b"\x56\x08\x26\x1c\x26\x02")),
    "pages from byte 8 to 22 are not in": file(groups(b"\x56\x08\x26\x1c\x26\x10")),
    "pages from byte 4 to -3 are not in": file(groups(b"\x56\x08\x26\x0d\x26\x08")),
    "a page of 3 bytes is not in": file(groups(b"\x56\x08\x26\x1a\x26\x08")),
    "a page of -1 bytes": file(groups(CHUNK), PAGE.replace(b"\x15\x06", b"\x15\x01")),
    "a page of -1 values": file(groups(CHUNK), PAGE.replace(b"\x15\x08", b"\x15\x01")),
    "4 values in the pages of a column, not 5": file(groups(b"\x56\x0a\x26\x1c\x26\x08")),
    "have too many parts": file(b"\x3c" * 99),
    "kind 5 in place of one of kind 6": file(groups(CHUNK.replace(b"\x26\x1c", b"\x25\x1c"))),
    "kind 1 in place of one of kind 6": file(groups(CHUNK.replace(b"\x26\x1c", b"\x21"))),
    "4294967296 is too large a number": file(groups(CHUNK), b"\x15\x80\x80\x80\x80\x10" + PAGE),
    "kind 14, which there is not": file(b"\x1e"),
    "field 4 is there twice": file(b"\x49\x0c\x09\x08\x0c\x00"),
    "field 32768 is there twice, or cannot be": file(b"\x05\xfe\xff\x03\x00\x15\x00"),
    "a list of 4000001 items is too long": file(b"\x19\xf5\x81\x92\xf4\x01"),
    "a number has no end": file(b"\x15" + b"\xff" * 10),
}


@pytest.mark.parametrize("problem", WRONG)
def test_damage_is_named(problem):
    with pytest.raises(MalformedError, match=problem):
        held(WRONG[problem], [0], 1)


def test_what_is_not_asked_for_is_passed_over():
    """True and false, a byte, a fraction, a text, lists of truth and of numbers, a map."""
    more = b"\x51\x12\x13\x07\x17" + b"\x01" * 8 + b"\x18\x02ab\x19\x22\x01\x02\x19\x35\x02\x04\x06"
    maps = b"\x1b\x02\x85\x01a\x02\x01b\x04\x1b\x00"
    assert held(file(groups(CHUNK)[:-1] + more + maps + b"\x00"), [0], 1) == [Held(4, 5)]
