"""Columns of tables that users supply, converted to the types that they should have."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from spillway.base.errors import FileError


def taken(
    table: pa.Table, types: Mapping[str, str], wrong: str, may_be_unknown: Collection[str] = ()
) -> dict[str, pa.ChunkedArray]:
    """The columns with these names and types. Values must be present unless they may be unknown.

    Raises:
        ScenarioError: one is missing, of another type, or not finite; `wrong` begins the message.
    """
    missing = [name for name in types if name not in table.column_names]
    if missing:
        raise FileError(f"{wrong}: it has no {missing[0]}")
    found = {}
    for name, type_ in types.items():
        column = table[name]
        try:
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            column = column.cast(type_)
        except pa.ArrowException as error:
            raise FileError(f"{wrong}: {name}: {error}") from error
        if column.null_count and name not in may_be_unknown:
            raise FileError(f"{wrong}: {name} is not always known")
        is_float = pa.types.is_floating(column.type)
        if is_float and not pc.all(pc.is_finite(column), min_count=0).as_py():
            raise FileError(f"{wrong}: {name} is not always finite")
        found[name] = column
    return found
