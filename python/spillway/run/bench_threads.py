"""What several threads gain: measured on this machine's cores, and bounded for more of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spillway.base import core
from spillway.base.threads import processors
from spillway.run.bench import CASES, GROWTH, Case, machine, named, run_apart, spread

if TYPE_CHECKING:
    from rich.console import RenderableType

NETWORKS = (
    *named(CASES, ["leaf-spine-128"]),
    *(case for case in GROWTH if case.name.endswith("10 Gbps, filled")),
    *named(CASES, ["rdma-leaf-spine", "rdma-leaf-spine-2MB"]),
)
"""What `spillway bench --threads` runs."""

PARTS = (2, 4, 8, 16, 32, 64)
"""In how many parts each is divided, at most one for each rack."""


def measure(
    cases: Sequence[Case],
    *,
    runs: int,
    quick: bool = False,
    say: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Divides every case, and runs it on as many threads as there are cores.

    A bound is what threads could gain if handing packets over took no time: all events, divided by
    those of each window's busiest part.
    """
    before = machine()
    return {
        "version": core.__version__,
        "machine": before,
        "runs": runs,
        "quick": quick,
        "cases": {case.name: _rows(case, runs, quick, say) for case in cases},
    }


def _rows(case: Case, runs: int, quick: bool, say: Callable[[str], object]) -> list[dict[str, Any]]:
    settings = case.quick if quick else case.settings
    rows: list[dict[str, Any]] = []
    for parts in PARTS:
        say(f"{case.name}, in {parts} parts")
        run = run_apart(case.scenario, settings, parts=parts)
        if run["windows"] is None or run["windows"][0] < parts:
            break
        _, windows, in_order, crossings, longest = run["windows"]
        rows.append(
            {
                "threads": parts,
                "windows": windows,
                "windows_in_order": in_order,
                "events_per_window": round(run["events"] / windows, 1),
                "crossings_per_window": round(crossings / windows, 1),
                "bound": round(min(run["events"] / longest, parts), 2),
            }
        )
    measured = [row for row in rows if row["threads"] <= processors()]
    threads = [1, *(row["threads"] for row in measured)]
    wall: dict[int, list[float]] = {each: [] for each in threads}
    for turn in range(runs if measured else 0):
        for each in threads:
            say(f"{case.name}, {each} threads, run {turn + 1} of {runs}")
            found = run_apart(case.scenario, settings, parts=each, threads=each)
            wall[each].append(found["wall_s"])
    for row in measured:
        pairs = zip(wall[1], wall[row["threads"]], strict=True)
        row["wall_s"] = spread(wall[row["threads"]], 3)
        row["times_as_fast"] = spread([one / several for one, several in pairs], 2)
    return rows


def table(document: Mapping[str, Any]) -> RenderableType:
    """The results of `measure`, for people."""
    from rich.console import Group
    from rich.text import Text

    from spillway.show.tables import count, wide_grid

    headings = ["threads", "windows", "events\nper window", "crossings\nper window"]
    headings += ["bound", "times as fast,\nmeasured"]
    parts: list[RenderableType] = []
    for name, rows in document["cases"].items():
        grid = wide_grid(numbers=headings)
        parts += [Text(name, "bold"), grid]
        for row in rows:
            fast = row.get("times_as_fast")
            grid.add_row(
                count(row["threads"]),
                count(row["windows"]),
                count(round(row["events_per_window"])),
                count(round(row["crossings_per_window"])),
                f"{row['bound']:.2f}",
                "" if fast is None else f"{fast['median']} [{fast['min']} {fast['max']}]",
            )
    machine = document["machine"]
    notes = [
        f"{machine['cpu']}, {machine['cores']} cores; median of {document['runs']} runs, least and "
        "most in brackets",
        "bound: if handing packets over took no time, and every thread had a core; not measured",
    ]
    if document["quick"]:
        notes.append("quick: the runs are too short for more than a first look")
    return Group(*parts, *(Text(note, "dim") for note in notes))
