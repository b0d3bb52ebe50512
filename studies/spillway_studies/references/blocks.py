"""Tables of the page on validation in Markdown, out of the published documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from spillway_studies.claims.side_by_side import markdown
from spillway_studies.claims.tables import interval, told
from spillway_studies.references.published import COMMANDS, published

Json: TypeAlias = Mapping[str, Any]
Columns: TypeAlias = "Mapping[str, str | Callable[[Json], str]]"
"""Columns by their heads: the path of a cell in a row, such as `mean/ours`, or its function."""

_LATE = "flows_over_least_timeout"
_NAMES = {
    "dt": "DT",
    "lqd": "LQD",
    "dctcp": "DCTCP",
    "cubic": "Cubic",
    "powertcp": "PowerTCP",
    "timely": "TIMELY",
    "newreno": "NewReno",
    "le100k": "up to 100 KB",
    "le100k_nicfree": "up to 100 KB, alone in their NIC",
    "100k_1m": "up to 1 MB",
    "gt1m": "longer",
    "occupancy_p99": "occupancy of the leaves in percent, 99",
    "time": "time in us,",
    "median": "median of transfers",
    "p99": "p99 of transfers",
}


def validation(name: str, table: str) -> str:
    """A table of a reference, or of all."""
    document = {each: published(each) for each in COMMANDS} if name == "all" else published(name)
    return TABLES[name][table](document)


# Cells -------------------------------------------------------------------------------------------


def _at(row: Json, path: str) -> Any:
    """What a row has at a path; empty if it has nothing of the kind."""
    first, *others = path.split("/")
    found = row.get(first, "")
    for key in others if first in row else ():
        found = found[int(key)] if isinstance(found, Sequence) else found[key]
    return found


def _shown(value: Any) -> str:
    """A name, a count, a number, or both ends of an interval."""
    match value:
        case str():
            return _NAMES.get(value, value)
        case int():
            return f"{value:,}"
        case [low, high]:
            return _shown(low) if low == high else interval(value, False)
    return told(value, False)


def _code(path: str) -> Callable[[Json], str]:
    return lambda row: f"`{_at(row, path)}`"


def _share(path: str) -> Callable[[Json], str]:
    return lambda row: f"{found:.0%}" if (found := _at(row, path)) != "" else ""


def _change(value: float | None) -> str:
    """A difference in percent, with its sign."""
    return "-" if value is None else f"{value:+z.1%}"


def _both(row: Json, unit: str = "", more: Sequence[float] | None = None) -> str:
    """The reference's number and ours, perhaps with a range; the difference; what is not near."""
    numbers = ", ".join(_shown(row[f"{side}{unit}"]) for side in ("reference", "ours"))
    text = f"{numbers}{f' [{_shown(more)}]' if more else ''} ({_change(row['difference'])})"
    marked = {"agrees": text, "told": text, "differs": f"**{text}, differs**"}
    return marked.get(row["verdict"], f"{text}, {row['verdict']}")


def _place(row: Json) -> str:
    return f"{_shown(row['flows'])} {100 * row['percentile']:g}"


def _settings(change: str) -> str:
    """A change, with settings as code."""
    return ", ".join(f"`{part}`" if "=" in part else part for part in change.split(", "))


# Rows --------------------------------------------------------------------------------------------


def _table(rows: Iterable[Json], columns: Columns) -> str:
    cells = (
        [
            _shown(_at(row, cell)) if isinstance(cell, str) else cell(row)
            for cell in columns.values()
        ]
        for row in rows
    )
    return markdown(columns, cells)


def _runs(document: Json) -> dict[str, Any]:
    """The parts of a document that are runs, by their names."""
    parts = document.get("runs", document).items()
    return {name: part for name, part in parts if isinstance(part, Mapping) and name != "bounds"}


def _rows(document: Json, path: str) -> Iterator[dict[str, Any]]:
    """The rows of all runs."""
    return ({"run": run, **row} for run, part in _runs(document).items() for row in _at(part, path))


def _beside(rows: Iterable[Json], kind: str, cell: Callable[[Json], str]) -> Iterable[Json]:
    """A row for each run and kind, with a cell for each percentile, by the percentile."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        one = found.setdefault((row["run"], row[kind]), dict(row))
        one[f"{100 * row['percentile']:g}"] = cell(row)
    return found.values()


_SLOWDOWNS = {f"{p}: reference, ours": f"{p}" for p in (50, 95, 99)}
_AGREEMENT: Columns = {
    "flows": "flows",
    "compared": lambda row: f"{row['matched']:,} of {row['count']:,}",
    "correlation of log FCT": lambda row: f"{row['correlation']:.3f}",
    "median ratio": lambda row: f"{row['median_ratio']:.4f}",
    "mean ratio": lambda row: f"{row['mean_ratio']:.4f}",
    "within 1%": _share("within/0"),
    "5%": _share("within/1"),
    "10%": _share("within/2"),
}


def _summary(documents: Json) -> str:
    shown = _table(
        ({"name": name, **found["bounds"]} for name, found in documents.items()),
        {
            "reference": _code("name"),
            "numbers": "compared",
            "agree": lambda row: (
                f"{row['compared'] - len(row['undecided']) - len(row['broken']):,}"
            ),
            "undecided": lambda row: f"{len(row['undecided']):,}",
            "differ": lambda row: f"{len(row['broken']):,}",
        },
    )
    note = "Undecided numbers of `rdma` are those that only lie in the range of moved starts."
    return f"{shown}\n\n{note}"


# Credence's and ABM's programs -------------------------------------------------------------------


def _percentiles(document: Json, heads: Columns) -> str:
    rows = list(_rows(document, "rows"))
    cells = _beside(rows, "class", lambda row: _both(row, more=row["drawn_min_max"]))
    note = "\n\nIn brackets the least and the greatest with paths drawn by our own hash."
    is_drawn = any(row["drawn_min_max"] for row in rows)
    return _table(cells, {**heads, **_SLOWDOWNS}) + note * is_drawn


def _counted(run: Json) -> dict[str, float]:
    """What is known of a run beside times."""
    late = {f"{kind} flows over 10 ms": count for kind, count in run[_LATE].items()}
    return late | {name: each * run[name] for name, each in _COUNTED.items() if name in run}


_COUNTED = {"drops": 1, "marks": 1, "occupancy_p99": 100}


def _credence_counts(document: Json) -> str:
    rows = []
    for run, part in _runs(document).items():
        there, drawn = _counted(part["reference"]), list(map(_counted, part["drawn"]))
        for what, ours in _counted(part["ours"]).items():
            ends = [end(each[what] for each in drawn) for end in (min, max)]
            sides = {"reference": there.get(what, ""), "ours": ours, "over drawn paths": ends}
            rows.append({"sharing": run, "what": what, **sides})
    heads = ("reference", "ours", "over drawn paths")
    return _table(rows, {"sharing": "sharing", "": "what", **{head: head for head in heads}})


def _changes(part: Json) -> list[Json]:
    """The reference, our run, and those with one change."""
    there = {"percentiles": [row["reference"] for row in part["rows"]], **part["reference"]}
    runs = {"reference": there, "none": part["ours"], **part["differences"]}
    return [{"change": _settings(change), **run} for change, run in runs.items()]


def _credence_differences(document: Json) -> str:
    """Drops under DT, and what else changes under LQD."""
    reference, *lqd = _changes(document["lqd"])
    _, *dt = _changes(document["dt"])
    rows = ({**here, "dt": there} for there, here in zip(dt, lqd, strict=True))
    return _table(
        [reference, *rows],
        {
            "change": "change",
            "DT: drops": "dt/drops",
            "LQD: marks": "marks",
            "correlation": "flow_by_flow/0/correlation",
            "mean ratio": "flow_by_flow/0/mean_ratio",
            "within 5%": _share("flow_by_flow/0/within/1"),
            "short 95": "percentiles/1",
            "long 50": "percentiles/6",
        },
    )


def _abm_counts(document: Json) -> str:
    rows = (
        {"run": run, "class": kind, "reference": count, "ours": part["ours"]}
        for run, part in _runs(document).items()
        for kind, count in part["reference"][_LATE].items()
    )
    return _table(
        rows,
        {
            "transport": "run",
            "class": "class",
            "reference over 10 ms": "reference",
            "ours over 10 ms": lambda row: _shown(row["ours"][_LATE][row["class"]]),
            "ours with a timeout": lambda row: _shown(
                row["ours"]["flows_with_timeout"][row["class"]]
            ),
        },
    )


def _alone(document: Json) -> str:
    parts = {run: part["ours"]["uncontended"] for run, part in _runs(document).items()}
    return _table(
        ({"run": run, **part} for run, part in parts.items()),
        {
            "transport": "run",
            "flows": "flows",
            "ours to the picosecond": "ours_exactly",
            "reference's within 20 ns": "reference_within_ns/20",
            "ours within 20 ns": "ours_within_ns/20",
            "reference's within 100 ns": "reference_within_ns/100",
            "ours within 100 ns": "ours_within_ns/100",
            "the same flows on both sides": "both",
        },
    )


_SHOWN = {
    "dctcp": {
        "short 50": 0,
        "short 99": 2,
        "medium 50": 3,
        "large 50": 6,
        "incast 50": 12,
        "incast 99": 14,
    },
    "cubic": {
        "short 50": 0,
        "short 99": 2,
        "medium 50": 3,
        "medium 99": 5,
        "large 50": 6,
        "incast 99": 14,
    },
}
"""Where the percentiles are that changes are shown with."""


def _abm_differences(document: Json) -> str:
    tables = []
    for run, places in _SHOWN.items():
        columns: Columns = {
            f"change under {_shown(run)}": "change",
            "within 5%": _share("flow_by_flow/0/within/1"),
            "incast flows over 10 ms": f"{_LATE}/incast",
            **{head: f"percentiles/{place}" for head, place in places.items()},
        }
        tables.append(_table(_changes(document[run]), columns))
    return "\n\n".join(tables)


def _abm_others(document: Json) -> str:
    rows = []
    for run in document["others"]:
        judged = {} if run["is_of_program"] else {"verdict": "told"}
        places = [{**place, **judged} for place in run["places"]]
        rows.append(
            {**run, **{_place(each): _both(each, more=each["interval"]) for each in places}}
        )
    heads = [_place(place) for place in document["others"][0]["places"]]
    columns = {"transport": "transport", "bytes of an answer": "answer_bytes", "sharing": "scheme"}
    return _table(rows, {**columns, **{f"{head}: reference, ours": head for head in heads}})


# Queue discs of ns-3 -----------------------------------------------------------------------------

_MARKS: Columns = {
    "disc": _code("disc"),
    "senders": "senders",
    "packets": "packets",
    "marked in ns-3": "reference",
    "here": "ours",
    "packets that differ": lambda row: (
        _shown(row["differ"]) if row["random"] is False else f"random: {_shown(row['interval'])}"
    ),
    "": "verdict",
}
_QUEUES: Columns = {
    "disc": _code("disc"),
    "transport": "transport",
    "senders": "senders",
    "mean: ns-3, ours": lambda row: _both(row["mean"]),
    "99: ns-3, ours": lambda row: _both(row["p99"]),
    "goodput in ns-3, Gbps": "goodput_gbps/reference",
    "ours": "goodput_gbps/ours",
}


def _times(document: Json) -> str:
    rows = (
        {"run": disc["disc"], "by_flow": by_flow, **row}
        for disc in document["completion_times"]
        for row in disc["rows"]
        for by_flow in disc["flow_by_flow"]
        if by_flow["flows"] == row["class"]
    )
    return _table(
        _beside(rows, "class", lambda row: _both(row, "_us")),
        {
            "disc": _code("run"),
            "flows": "class",
            "": "flows",
            "50, us: ns-3, ours": "50",
            "95: ns-3, ours": "95",
            "99: ns-3, ours": "99",
            "median ratio": lambda row: f"{row['by_flow']['median_ratio']:.4f}",
            "correlation": lambda row: f"{row['by_flow']['correlation']:.3f}",
        },
    )


# YAPS --------------------------------------------------------------------------------------------

_NUMBERS: Columns = {
    "run": _code("run"),
    "": "name",
    "reference": "reference",
    "ours": "ours",
    "difference": lambda row: (
        _change(row["difference"]) + ("" if row["agrees"] else ", **differs**")
    ),
}
_CASES: Columns = {
    "case": _code("name"),
    "flows the same": lambda row: f"{row['same']:,} of {row['flows']:,}",
    "mean ratio": lambda row: f"{row['mean_ratio']:.4f}",
    "timeouts in the reference": "timeouts/0",
    "timeouts here": "timeouts/1",
    "drops in the reference": "drops/0",
    "drops here": "drops/1",
    "": lambda row: (
        ("agrees" if row["must_agree"] else "near, has ties") if row["agrees"] else "**differs**"
    ),
}


# PIAS's program ----------------------------------------------------------------------------------


def _pias(document: Json) -> Any:
    (run,) = _runs(document).values()
    return run


def _pias_numbers(document: Json) -> str:
    columns: Columns = {
        f"{_pias(document)['count']:,} flows": _place,
        "reference, ours": _both,
        "95% interval of the reference": "interval",
        "sprayed otherwise": "drawn",
    }
    return _table(_rows(document, "rows"), columns)


def _pias_differences(document: Json) -> str:
    rows, runs = _pias(document)["rows"], _pias(document)["differences"]
    sides = {"reference": "reference", "none": "ours"}
    runs = {name: [row[side] for row in rows] for name, side in sides.items()} | runs
    heads = {_place(row): f"numbers/{place}" for place, row in enumerate(rows)}
    changes = ({"change": change, "numbers": numbers} for change, numbers in runs.items())
    return _table(changes, {"change": "change", **heads})


def _pias_others(document: Json) -> str:
    rows = []
    for row in _pias(document)["others"]:
        sides = zip(row["reference"], row["ours"], strict=True)
        cells = (
            f"{_shown(there)}, {_shown(ours)} ({_change(ours / there - 1)})"
            for there, ours in sides
        )
        rows.append({**row, **dict(zip(_SLOWDOWNS, cells, strict=True))})
    return _table(rows, {"flows": "flows", "": "count", **{head: head for head in _SLOWDOWNS}})


# The public RDMA simulator -----------------------------------------------------------------------


def _rdma_with(verdict: str) -> Callable[[Json], str]:
    """The numbers with a verdict, and how far they are off."""
    return lambda run: "; ".join(
        f"{row['what']} {_change(row['difference'])}"
        for row in run["numbers"]
        if row["verdict"] == verdict
    )


_COLUMNS = {
    "20 senders: mean queue": ("A/dcqcn_paper_n20_paper_100ms_s1", "queue mean"),
    "2 senders: mean queue": ("A/dcqcn_n2_paper_100ms_s1", "queue mean"),
    "leaf-spine: slowdown 50": ("B/dcqcn_0.5", "slowdown all p50"),
    "leaf-spine: slowdown 99": ("B/dcqcn_0.5", "slowdown all p99"),
    "a quarter of the buffer: pauses": ("B/dcqcn_0.5_buf2", "pauses all"),
    "a quarter of the buffer: slowdown 99": ("B/dcqcn_0.5_buf2", "slowdown all p99"),
    "HPCC: slowdown 50": ("B/hpcc_0.5", "slowdown all p50"),
    "HPCC: slowdown 99": ("B/hpcc_0.5", "slowdown all p99"),
    "incast: pauses": ("C/inc16_nocc_buf2_pfcon", "pauses host"),
}
"""Runs and numbers that changes are shown with."""
_BEYOND = 0.03


def _rdma_agreement(document: Json) -> str:
    return _table(
        ({"run": run, **part} for run, part in _runs(document).items()),
        {
            "run": _code("run"),
            "numbers": lambda run: f"{sum(row['verdict'] != 'told' for row in run['numbers'])}",
            "agree": lambda run: f"{sum(row['verdict'] == 'agrees' for row in run['numbers'])}",
            "in range": _rdma_with("in range"),
            "differ": _rdma_with("differs"),
        },
    )


def _rdma_differences(document: Json) -> str:
    columns = {head: _rdma_column(document[run], what) for head, (run, what) in _COLUMNS.items()}
    changes = dict.fromkeys(change for column in columns.values() for change in column)
    rows = (
        {"change": change, **{head: column.get(change, "") for head, column in columns.items()}}
        for change in changes
    )
    note = f"Bold: beyond the range of the moved starts by more than {_BEYOND:.0%}."
    return f"{_table(rows, {each: each for each in ('change', *columns)})}\n\n{note}"


def _rdma_column(run: Json, what: str) -> dict[str, str]:
    """A number of ours, and by how much others are off from it."""
    ((place, row),) = ((n, row) for n, row in enumerate(run["numbers"]) if row["what"] == what)
    there, low, high = (each / row["ours"] - 1 for each in (row["reference"], *row["moved"]))
    found = {
        "ours": f"{_shown(row['ours'])} {row['unit']}".rstrip(),
        "the reference": _change(there),
        "moved starts": " to ".join(dict.fromkeys(map(_change, (low, high)))),
    }
    for change, values in run["differences"].items():
        off = values[place] / row["ours"] - 1
        is_near = low - _BEYOND <= off <= high + _BEYOND
        found[change] = _change(off) if is_near else f"**{_change(off)}**"
    return found


# Linux -------------------------------------------------------------------------------------------


def _linux_agreement(document: Json) -> str:
    every, near = Counter[str](), Counter[str]()
    for row in _rows(document, "rows"):
        every[row["name"]] += 1
        near[row["name"]] += row["verdict"] == "agrees"
    rows = ({"name": name, "agree": f"{near[name]:,} of {every[name]:,}"} for name in every)
    return _table(rows, {"": "name", "agree": "agree"})


def _linux_differs(document: Json) -> str:
    return _table(
        (row for row in _rows(document, "rows") if row["verdict"] != "agrees"),
        {
            "setting": _code("run"),
            "": "name",
            "Linux": "reference",
            "ours": "ours",
            "difference": lambda row: _change(row["difference"]),
            "verdict": "verdict",
        },
    )


# Occamy ------------------------------------------------------------------------------------------

_PACKETS: Columns = {
    "sharing": "scheme",
    "list": _code("list"),
    "queues": "queues",
    "scheduler": "scheduler",
    "runs": "runs",
    "packets": "packets",
    "expelled there": "expelled",
    "another fate": "fates",
    "another time": "times",
    "another mark": "marks",
}
_CASES_OF_OCCAMY: Columns = {
    "case": _code("case"),
    "packets": "packets",
    "expelled there": "expelled",
    "another fate": "fates",
    "another time": "times",
    "another mark": "marks",
    "another queue": "queue_bytes",
    "another occupancy": "occupancy_bytes",
    "another threshold": "threshold_bytes",
}


def _flows(path: str, heads: Columns) -> Callable[[Json], str]:
    return lambda document: _table(_rows(document, path), {**heads, **_AGREEMENT})


TABLES: Mapping[str, Mapping[str, Callable[[Any], str]]] = {
    "all": {"summary": _summary},
    "credence": {
        "percentiles": lambda found: _percentiles(found, {"sharing": "run", "class": "class"}),
        "flows": _flows("ours/flow_by_flow", {"sharing": "run"}),
        "counts": _credence_counts,
        "differences": _credence_differences,
    },
    "abm": {
        "percentiles": lambda found: _percentiles(
            found, {"transport": "run", "class": "class", "flows": "flows"}
        ),
        "flows": _flows("ours/flow_by_flow", {"transport": "run"}),
        "counts": _abm_counts,
        "alone": _alone,
        "differences": _abm_differences,
        "others": _abm_others,
    },
    "aqm": {
        "marks": lambda found: _table(found["marks"], _MARKS),
        "queues": lambda found: _table(
            sorted(found["queues"], key=itemgetter("disc", "senders")), _QUEUES
        ),
        "times": _times,
    },
    "pfabric": {
        "numbers": lambda found: _table(_rows(found, "numbers"), _NUMBERS),
        "flows": _flows("flow_by_flow", {"run": _code("run")}),
        "cases": lambda found: _table(found["cases"], _CASES),
    },
    "pias": {
        "numbers": _pias_numbers,
        "differences": _pias_differences,
        "others": _pias_others,
    },
    "rdma": {
        "agreement": _rdma_agreement,
        "flows": _flows("flow_by_flow", {"run": _code("run")}),
        "differences": _rdma_differences,
    },
    "linux": {"agreement": _linux_agreement, "differs": _linux_differs},
    "occamy": {
        "packets": lambda found: _table(found["groups"], _PACKETS),
        "cases": lambda found: _table(found["cases"], _CASES_OF_OCCAMY),
    },
}
"""By reference and table."""
