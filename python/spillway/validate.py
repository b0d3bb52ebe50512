"""Beside other simulators: the same flows, their published times, ours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.errors import ScenarioError
from spillway.run import run_to
from spillway.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from rich.table import Table

    Floats = npt.NDArray[np.float64]

PERCENTILES = (0.5, 0.95, 0.99)
_TIMEOUT_NS = 10_000_000
_RESAMPLES = 1000

_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000
_CLASSES: tuple[tuple[str, Callable[[int], bool] | None], ...] = (
    ("short", lambda size: size <= _SHORT_BYTES),
    ("medium", lambda size: _SHORT_BYTES < size < _LONG_BYTES),
    ("long", lambda size: size >= _LONG_BYTES),
    ("incast", None),
)
"""A class of the background traffic by its flows' sizes; incast is a class of its own."""

DIFFERENCES = (
    "switch.aqm.threshold=11pkt",
    "switch.uncounted_bytes=0B",
    "transport.reduction=proportional",
    "transport.min_window=2pkt",
    "transport.alpha0=0.0",
    "transport.slow_start=true",
    "routing.hash_seeds=per-switch",
)
"""What of the reference is not known, or is known to be otherwise: one is changed at a time."""


@dataclass(frozen=True)
class Row:
    """One percentile of one class, there and here."""

    sharing: str
    flows: str
    percentile: float
    reference: float
    interval: tuple[float, float]
    """95% bootstrap interval of the reference."""
    ours: tuple[float, float, float]
    """Least, median and greatest over the seeds of the paths."""

    @property
    def difference(self) -> float:
        """How far our median is from the reference, as a fraction of it."""
        return self.ours[1] / self.reference - 1

    @property
    def agrees(self) -> bool:
        """Whether a median is within 5%, a tail within 15%, or either inside the interval."""
        bound = 0.05 if self.percentile == 0.5 else 0.15
        low, high = self.interval
        inside = low <= self.ours[1] <= high
        return abs(self.difference) <= bound or inside


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation."""

    rows: list[Row]
    timeouts: dict[str, tuple[int, list[int]]]
    """By sharing: incast flows that took longer than the least timeout, there and here."""
    counters: dict[str, dict[str, list[float]]]
    """By sharing: drops, marks, packet-hops and occupancy of each of our runs."""
    differences: dict[str, dict[str, list[float]]]
    """By sharing and assignment: our percentiles with one difference, in the order of the rows."""

    @property
    def document(self) -> dict[str, Any]:
        """All of it, for JSON."""
        rows = [
            {
                "sharing": row.sharing,
                "class": row.flows,
                "percentile": row.percentile,
                "reference": row.reference,
                "reference_interval": list(row.interval),
                "ours_min_median_max": list(row.ours),
                "difference": row.difference,
                "agrees": row.agrees,
            }
            for row in self.rows
        ]
        timeouts = {
            sharing: {"reference": there, "ours": here}
            for sharing, (there, here) in self.timeouts.items()
        }
        return {
            "rows": rows,
            "incast_flows_with_timeout": timeouts,
            "counters": self.counters,
            "differences": self.differences,
        }


def percentile(values: Floats, p: float) -> float:
    """The reference's rule: sorted[int(n p) - 1]."""
    import numpy as np

    return float(np.sort(values)[max(int(len(values) * p) - 1, 0)])


def credence(
    folder: Path, *, path_seeds: Iterable[int] = range(1, 9), jobs: int = 2, differences: bool
) -> Validation:
    """Credence's program (inet-tub/ns3-datacenter): DT and LQD, load 40%, bursts of half a buffer.

    `folder` holds its flows (`flows-load0.4-burst0.5.parquet`) and its output (`dt-...`,
    `lqd-...`). The paths of its flows are not known: ours are drawn with several seeds.
    """
    seeds = list(path_seeds)
    name = "load0.4-burst0.5.parquet"
    rows: list[Row] = []
    timeouts: dict[str, tuple[int, list[int]]] = {}
    counters: dict[str, dict[str, list[float]]] = {}
    varied: dict[str, dict[str, list[float]]] = {}
    for sharing, assignment in (
        ("dt", "switch.sharing={ kind = 'dt', alpha = [64, 0.5] }"),
        ("lqd", "switch.sharing=lqd"),
    ):
        theirs = _reference(folder / f"{sharing}-{name}")
        scenario = _replay(folder / f"flows-{name}").set(assignment)
        runs = _runs(scenario, [[f"routing.hash_seed={seed}"] for seed in seeds], jobs)
        for flows, p in itertools.product((flows for flows, _ in _CLASSES), PERCENTILES):
            ours = sorted(percentile(run.slowdowns[flows], p) for run in runs)
            middle = (ours[(len(ours) - 1) // 2] + ours[len(ours) // 2]) / 2
            there = theirs[flows]
            rows.append(
                Row(
                    sharing,
                    flows,
                    p,
                    percentile(there, p),
                    _bootstrap(there, p),
                    (ours[0], middle, ours[-1]),
                )
            )
        late = int((_fct_ns(folder / f"{sharing}-{name}") > _TIMEOUT_NS).sum())
        timeouts[sharing] = (late, [run.late for run in runs])
        counters[sharing] = {key: [run.counters[key] for run in runs] for key in runs[0].counters}
        if differences:
            changes = [[change, f"routing.hash_seed={seeds[0]}"] for change in ("", *DIFFERENCES)]
            changed = _runs(scenario, [list(filter(None, change)) for change in changes], jobs)
            varied[sharing] = {
                change or "none": [
                    percentile(run.slowdowns[flows], p)
                    for flows, p in itertools.product((flows for flows, _ in _CLASSES), PERCENTILES)
                ]
                for change, run in zip(("", *DIFFERENCES), changed, strict=True)
            }
    return Validation(rows, timeouts, counters, varied)


@dataclass(frozen=True)
class _Run:
    slowdowns: dict[str, Floats]
    late: int
    counters: dict[str, float]


def _runs(scenario: Scenario, changes: list[list[str]], jobs: int) -> list[_Run]:
    def one(change: list[str]) -> _Run:
        result = run_to(None, scenario.set(*change))
        flows, summary = result.flows, result.summary
        slowdowns = dict(_by_class(flows))
        incast = flows.filter(_is_incast(flows))
        late = sum(fct is None or fct > _TIMEOUT_NS * 1000 for fct in incast["fct_ps"].to_pylist())
        return _Run(
            slowdowns,
            late,
            {
                "drops": float(sum(summary["drops"].values())),
                "marks": float(summary["marks"]),
                "packet_hops": float(summary["packet_hops"]),
                "occupancy_p99": float(summary["buffer_occupancy"]["p99"]),
            },
        )

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, changes))


def _replay(flows: Path) -> Scenario:
    """Their scenario with their flows."""
    if not flows.is_file():
        raise ScenarioError(f"there is no file {flows}", "it holds the flows of the reference run")
    scenario = Scenario.load("credence-code")
    text = str(flows.resolve())
    replay = {"kind": "flows", "file": text, "origin": "1100ms"}
    background = {"name": "websearch", "only_class": "background", **replay}
    incast = {
        "name": "incast",
        "only_class": "incast",
        "initial_window": "flow",
        "handshake": False,
        **replay,
    }
    resolved = scenario.resolved
    resolved["traffic"] = [background, incast]
    resolved["duration"] = "150ms"
    resolved["slowdown_base"] = "published"
    return Scenario(resolved)


def _by_class(flows: pa.Table) -> Iterator[tuple[str, Floats]]:
    import numpy as np

    incast = _is_incast(flows)
    size = flows["size_bytes"].to_numpy()
    fct = np.array([math.inf if x is None else x for x in flows["fct_ps"].to_pylist()])
    slowdown = fct / flows["ideal_ps"].to_numpy()
    for name, holds in _CLASSES:
        wanted = incast if holds is None else ~incast & np.array([holds(int(s)) for s in size])
        yield name, slowdown[wanted]


def _is_incast(flows: pa.Table) -> npt.NDArray[np.bool_]:
    import numpy as np

    return np.array([name == "incast" for name in flows["class"].to_pylist()])


def _reference(path: Path) -> dict[str, Floats]:
    import numpy as np

    table = _read(path)
    incast = table["incast"].to_numpy().astype(bool)
    size = table["size_bytes"].to_numpy()
    slowdown = table["slowdown"].to_numpy()
    chosen = {}
    for name, holds in _CLASSES:
        wanted = incast if holds is None else ~incast & np.array([holds(int(s)) for s in size])
        chosen[name] = slowdown[wanted]
    return chosen


def _fct_ns(path: Path) -> Floats:
    table = _read(path)
    fct: Floats = table.filter(table["incast"].to_numpy().astype(bool))["fct_ns"].to_numpy()
    return fct


def _read(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    if not path.is_file():
        raise ScenarioError(f"there is no file {path}", "it holds the output of the reference run")
    return pq.read_table(path)


def _bootstrap(values: Floats, p: float) -> tuple[float, float]:
    """The 95% interval of a percentile, by resampling flows."""
    import numpy as np

    random = np.random.default_rng(1)
    picked = random.choice(values, (_RESAMPLES, len(values)))
    place = max(int(len(values) * p) - 1, 0)
    found = np.sort(np.partition(picked, place, axis=1)[:, place])
    return float(found[int(0.025 * _RESAMPLES)]), float(found[int(0.975 * _RESAMPLES)])


def table(validation: Validation) -> Table:
    """The percentiles, there and here."""
    from rich.table import Table

    shown = Table(title="Slowdown: the reference and Spillway")
    for heading in ("sharing", "class", "percentile", "reference", "95% interval", "median"):
        shown.add_column(heading, justify="left" if heading in ("sharing", "class") else "right")
    for heading in ("min .. max over paths", "difference", ""):
        shown.add_column(heading, justify="right")
    for row in validation.rows:
        least, median, greatest = row.ours
        low, high = row.interval
        shown.add_row(
            row.sharing,
            row.flows,
            f"{100 * row.percentile:g}",
            f"{row.reference:.2f}",
            f"{low:.2f} .. {high:.2f}",
            f"{median:.2f}",
            f"{least:.2f} .. {greatest:.2f}",
            f"{100 * row.difference:+.1f}%",
            "agrees" if row.agrees else "differs",
        )
    for sharing, (there, here) in validation.timeouts.items():
        shown.caption = (shown.caption or "") + (
            f"{sharing}: incast flows with a timeout: {there} there, "
            f"{', '.join(map(str, here))} here\n"
        )
    return shown
