"""Columns of the simulator as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from spillway.base.core import Column


def array(column: Column) -> pa.Array:
    """A column as an Arrow array over the same memory."""
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    buffers = [validity, pa.py_buffer(column)]
    kind = pa.type_for_alias(column.dtype)
    values = pa.Array.from_buffers(kind, len(column), buffers, column.null_count)
    if column.names is None:
        return values
    return pa.DictionaryArray.from_arrays(values, pa.array(column.names, pa.string()))


def table(columns: Mapping[str, Column]) -> pa.Table:
    """Columns as an Arrow table over the same memory."""
    return pa.table({name: array(column) for name, column in columns.items()})


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables with the same columns, one behind the other."""
    return pa.concat_tables(tables).unify_dictionaries()
