"""What the pages of a Parquet file hold, by their own headers.

A file's footer may state anything about its pages. A page's header cannot understate: the
decompressor is given its sizes, and no more values are read than it states.

The structures are those of Parquet's `parquet.thrift`, in Thrift's compact protocol. Only what is
asked for is kept; of all else only the form is checked.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple, TypeAlias

_MAGIC = b"PAR1"
_LARGEST_FOOTER = 1 << 26
_LARGEST_HEADER = 1 << 24
"""The most bytes of a page's header. It may hold texts: the least and the greatest value."""
_FIRST_WINDOW = 1 << 9
_MOST_PARTS = 4_000_000
"""The most numbers, texts, lists and structures in the footer and the headers of a file."""
_DEEPEST = 32

_TRUTHS = (1, 2)
"""The kinds that are truth values in a structure; in a list each value is a byte instead."""
_BYTE, _I32, _I64, _BINARY, _LIST, _SET, _MAP, _STRUCT = 3, 5, 6, 8, 9, 10, 11, 12
_SKIPPED = {_BYTE: 1, 7: 8}
"""The bytes of kinds of a fixed length that are never asked for: a byte, a fraction."""
_WIDTHS = {4: 16, _I32: 32, _I64: 64}

_Wanted: TypeAlias = "int | list[_Wanted] | dict[int, _Wanted]"
"""What is asked for: a kind of number, a list, or the fields of a structure by their ids."""

# FileMetaData: row_groups, of these num_rows and columns, of these meta_data: num_values,
# total_compressed_size, data_page_offset, dictionary_page_offset.
_FOOTER: _Wanted = {4: [{1: [{3: {5: _I64, 7: _I64, 9: _I64, 11: _I64}}], 3: _I64}]}
# PageHeader: type, uncompressed_page_size, compressed_page_size, and the num_values of each type.
_PAGE: _Wanted = {1: _I32, 2: _I32, 3: _I32, 5: {1: _I32}, 7: {1: _I32}, 8: {1: _I32}}
_DICTIONARY = 2
_HEADERS = {0: 5, _DICTIONARY: 7, 3: 8}
"""By the type of a page, the field with its num_values."""


class MalformedError(ValueError):
    """Bytes that are no Parquet; the message says why."""


class Held(NamedTuple):
    """What a column holds, in all row groups."""

    values: int
    """Values, those of dictionaries included; at least one for each row."""
    bytes: int
    """The bytes of its pages, decompressed."""


def footer(content: BinaryIO) -> tuple[int, bytes]:
    """The position and the bytes of a file's footer: fewer if the file has fewer than it states."""
    size = content.seek(0, 2)
    end = len(_MAGIC) + 4
    content.seek(max(0, size - end))
    tail = content.read(end)
    if len(tail) < end or not tail.endswith(_MAGIC):
        raise MalformedError("it does not end as Parquet does")
    (length,) = struct.unpack("<I", tail[:4])
    start = max(0, size - end - min(length, _LARGEST_FOOTER))
    content.seek(start)
    return start, content.read(size - end - start)


def held(content: BinaryIO, places: Sequence[int], columns: int) -> list[Held]:
    """What some columns of a file hold; `places` are their numbers in the schema."""
    thrift = _Thrift()
    found = [Held(0, 0)] * len(places)
    try:
        end, encoded = footer(content)
        left = end
        for group in thrift.structure(encoded, _FOOTER)[4]:
            if len(group[1]) != columns:
                raise MalformedError(f"{len(group[1])} columns in a row group, not {columns}")
            for number, place in enumerate(places):
                told = group[1][place][3]
                left -= told[7]
                if left < 0:
                    raise MalformedError("its columns are larger than the file")
                more = _chunk(thrift, content, end, told)
                values = found[number].values + max(more.values, group[3])
                found[number] = Held(values, found[number].bytes + more.bytes)
    except IndexError:
        raise MalformedError("its footer or a page's header ends too early") from None
    except KeyError as error:
        raise MalformedError(f"its footer or a page's header lacks field {error}") from None
    return found


def _chunk(thrift: _Thrift, content: BinaryIO, end: int, told: dict[int, int]) -> Held:
    """What a row group holds of a column. Pages outside of the data are damage, too."""
    # Without a value there is no page of data, and its place is 0.
    place = min((place for place in (told[9], told.get(11, 0)) if place > 0), default=0)
    stop = place + told[7]
    if not len(_MAGIC) <= place <= stop <= end:
        raise MalformedError(f"pages from byte {place} to {stop} are not in the file")
    values = of_dictionary = total = 0
    while place < stop:
        page = _page(thrift, content, place, stop)
        place += thrift.place + page[3]
        if min(page[2], page[3]) < 0 or place > stop:
            raise MalformedError(f"a page of {page[3]} bytes is not in its column")
        header = _HEADERS.get(page[1])
        more = page[header][1] if header else 0
        if more < 0:
            raise MalformedError(f"a page of {more} values")
        if page[1] == _DICTIONARY:
            of_dictionary += more
        else:
            values += more
        total += max(page[2], page[3])
    if values < told[5]:
        raise MalformedError(f"{values} values in the pages of a column, not {told[5]}")
    return Held(values + of_dictionary, total)


def _page(thrift: _Thrift, content: BinaryIO, place: int, stop: int) -> Any:
    """The header of a page. Its size is only known once it is read."""
    window = _FIRST_WINDOW
    while True:
        content.seek(place)
        try:
            return thrift.structure(content.read(min(window, stop - place)), _PAGE)
        except IndexError:
            if window >= min(stop - place, _LARGEST_HEADER):
                raise
        window *= 4


class _Thrift:
    """A reader of Thrift's compact protocol. Too few bytes are an `IndexError`."""

    def __init__(self) -> None:
        self.place = 0
        """How much of the bytes has been read."""
        self._data = b""
        self._left = _MOST_PARTS

    def structure(self, data: bytes, wanted: _Wanted) -> Any:
        """The structure at the begin of the bytes: its fields by their ids."""
        self._data, self.place = data, 0
        return self._value(_STRUCT, wanted, 0)

    def _value(self, kind: int, wanted: _Wanted | None, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise MalformedError("its footer and the headers of its pages have too many parts")
        is_list, is_struct = isinstance(wanted, list), isinstance(wanted, dict)
        asked = _LIST if is_list else _STRUCT if is_struct else wanted
        if asked not in (None, kind):
            raise MalformedError(f"a value of kind {kind} in place of one of kind {asked}")
        if kind in _TRUTHS:
            return None
        if kind in _WIDTHS:
            number = self._number()
            if number >> _WIDTHS[kind]:
                raise MalformedError(f"{number} is too large a number")
            return number >> 1 ^ -(number & 1)
        if kind == _STRUCT:
            return self._fields(wanted if isinstance(wanted, dict) else {}, depth + 1)
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._number()
            return self._items(count, [head & 15], wanted, depth + 1)
        if kind == _MAP:
            count = self._number()
            kinds = self._byte() if count else 0
            return self._items(2 * count, [kinds >> 4, kinds & 15], None, depth + 1)
        if kind != _BINARY and kind not in _SKIPPED:
            raise MalformedError(f"a value of kind {kind}, which there is not")
        length = _SKIPPED.get(kind) or self._number()
        self.place += length
        return None

    def _fields(self, wanted: dict[int, _Wanted], depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self._value(4, None, depth)
            if field in found or field >> 15:
                raise MalformedError(f"field {field} is there twice, or cannot be")
            asked = wanted.get(field)
            value = self._value(kind, asked, depth)
            if asked is not None:
                found[field] = value
        return found

    def _items(
        self, count: int, kinds: Sequence[int], wanted: _Wanted | None, depth: int
    ) -> list[Any]:
        if count > self._left:
            raise MalformedError(f"a list of {count} items is too long")
        asked = wanted[0] if isinstance(wanted, list) else None
        found = []
        for number in range(count):
            kind = kinds[number % len(kinds)]
            value = self._value(_BYTE if kind in _TRUTHS else kind, asked, depth)
            if asked is not None:
                found.append(value)
        return found

    def _byte(self) -> int:
        value = self._data[self.place]
        self.place += 1
        return value

    def _number(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise MalformedError("a number has no end")
