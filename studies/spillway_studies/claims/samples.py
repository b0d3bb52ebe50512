"""What figures need of a run beside its summary: flows, and series of numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spillway.base.quantities import quantity
from spillway.base.result_schema import CLASSES
from spillway_studies.claims.late import Table

_SHORT, _MEDIUM, _LONG, _INCAST = range(len(CLASSES))

STEP = "series.step_us"
"""The number that is the time between two values of a series, in microseconds."""
SECTION = "section "
"""The prefix of the names of traffic sections among names of classes."""


def of(flows: Table, scenario: Mapping[str, Any], summary: Mapping[str, Any]) -> Table:
    """A row for every flow that counts in a summary's slowdowns.

    `class` is short, medium, long or incast, `section` the traffic section, `slowdown` that of the
    summary (an unfinished flow counts with the time waited), `fct_us` the completion time, counted
    alike, and `with_timeout` whether the flow had a timeout. `unit` numbers, within the class, the
    units of resampling: the flows of one query, or a flow without a query. `unit_of_section` does
    the same within the section. The same flows have the same units under every scheme.
    """
    import pyarrow as pa

    def column(name: str, missing: int = 0) -> NDArray[np.int64]:
        whole = flows[name].combine_chunks().cast(pa.int64())
        found: NDArray[np.int64] = whole.fill_null(missing).to_numpy()
        return found

    start, ideal, size = column("start_ps"), column("ideal_ps"), column("size_bytes")
    fct, query = column("fct_ps", -1), column("query_id", -1)
    names = np.array(flows["class"].to_pylist(), dtype=str)
    sections = scenario.get("traffic", [])
    incast = {section["name"] for section in sections if section["kind"] == "incast"} | {"incast"}
    is_incast = (query >= 0) | np.isin(names, list(incast))
    record = scenario["record"]
    classes = np.where(
        size <= quantity(record["short"]),
        _SHORT,
        np.where(size >= quantity(record["long"]), _LONG, _MEDIUM),
    )
    classes = np.where(is_incast, _INCAST, classes)

    end = max(round(summary["simulated_s"] * 1e12), quantity(scenario["stop"]))
    waited = np.where(fct < 0, end - start, fct)

    section_names, section = np.unique(names, return_inverse=True)
    own = np.where(query >= 0, (section << 40) + query, -1 - column("flow_id"))
    counted = (start >= quantity(scenario["warmup"])) & (ideal > 0)

    def units(of: NDArray[np.int64], number: int) -> NDArray[np.int64]:
        unit = np.zeros(len(own), dtype=np.int64)
        for each in range(number):
            chosen = counted & (of == each)
            _, unit[chosen] = np.unique(own[chosen], return_inverse=True)
        return unit[counted]

    def labels(codes: NDArray[np.int64], names: Sequence[str]) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(
            pa.array(codes[counted], pa.int8()), pa.array(names, pa.string())
        )

    return pa.table(
        {
            "class": labels(classes, CLASSES),
            "section": labels(section, section_names.tolist()),
            "unit": pa.array(units(classes, len(CLASSES)), pa.int32()),
            "unit_of_section": pa.array(units(section, len(section_names)), pa.int32()),
            "slowdown": pa.array(waited[counted] / ideal[counted], pa.float64()),
            "fct_us": pa.array(waited[counted] / 1e6, pa.float64()),
            "with_timeout": pa.array(column("timeouts")[counted] > 0, pa.bool_()),
            "finished": pa.array(fct[counted] >= 0, pa.bool_()),
        }
    )


def rank(total: int, p: float) -> int:
    """The rank of a percentile among this many ordered values, from 1: the ceil(total p)-th.

    >>> rank(20, 0.95), rank(21, 0.95), rank(3, 0.0)
    (19, 20, 1)
    """
    return max(1, math.ceil(total * p - 1e-9))


def percentile(values: NDArray[np.float64], p: float) -> float | None:
    """The order statistic; None without values."""
    if not len(values):
        return None
    return float(np.partition(values, rank(len(values), p) - 1)[rank(len(values), p) - 1])


def select(table: Table, name: str, column: str = "slowdown") -> NDArray[Any]:
    """A column of a class, a traffic section ("section web"), "short+incast", or `all`."""
    if "+" in name:
        parts = [select(table, part, column) for part in name.split("+")]
        if column == "unit":
            parts = _numbered_apart(parts)
        return np.concatenate(parts)
    kind, names = "class", CLASSES
    if name.startswith(SECTION):
        kind, name = "section", name.removeprefix(SECTION)
        names = tuple(table["section"].combine_chunks().dictionary.to_pylist())
        column = "unit_of_section" if column == "unit" else column
    values: NDArray[Any] = table[column].combine_chunks().to_numpy(zero_copy_only=False)
    if name == "all":
        return values
    codes = table[kind].combine_chunks().indices.to_numpy()
    chosen: NDArray[Any] = values[codes == (names.index(name) if name in names else -1)]
    return chosen


def _numbered_apart(parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """The units of several classes, numbered consecutively."""
    first, apart = 0, []
    for part in parts:
        apart.append(part + first)
        first += int(part.max()) + 1 if len(part) else 0
    return apart


def series(named: dict[str, list[float]], step_us: float) -> dict[str, float]:
    """Series as numbers of an outcome: `series.NAME.INDEX`."""
    found = {
        f"series.{name}.{place}": value
        for name, values in named.items()
        for place, value in enumerate(values)
    }
    return {**found, STEP: step_us}
