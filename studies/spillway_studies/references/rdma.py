"""Comparison with the public RDMA simulator: queues, rates, pauses and completion times."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from spillway.base.errors import ScenarioError
from spillway.run.run import run_whole
from spillway.tasks.each import all_of
from spillway.tasks.run import Report
from spillway_studies.references.agreement import (
    MEDIAN_WITHIN,
    PERCENTILES,
    TAIL_WITHIN,
    Agreement,
    Bounds,
    Verdict,
    of_pairs,
)
from spillway_studies.references.rdma_files import Reference, runs
from spillway_studies.references.rdma_network import TIERS
from spillway_studies.references.rdma_runs import Planned, cannot, changes, plan, starts_ps, written

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from spillway.result.result import Result
    from spillway.scenario.scenario import Scenario

    Booleans = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]

MOVED = 10
"""Runs in which every start is moved by less than a microsecond, and marks are drawn anew."""
LEAST_PAUSES = 100
"""With fewer pauses in the reference their number and time are told, but not judged."""
PAUSES_WITHIN = 0.15
_SHORT_BYTES, _LONG_BYTES = 100_000, 1_000_000


@dataclass(frozen=True)
class Number:
    """A number of a run: the reference's and ours."""

    what: str
    """Such as "queue mean"."""
    unit: str
    reference: float
    ours: float
    within: float | None
    """How far it may be off, as a fraction; none if it is only told."""
    moved: tuple[float, float]
    """The least and the greatest of our runs, those with moved starts included."""
    range_counts: bool
    """Whether it may as well be within that range."""

    @property
    def difference(self) -> float:
        """The difference of ours from the reference, as a fraction of it."""
        if self.reference:
            return self.ours / self.reference - 1
        return math.inf if self.ours else 0.0

    @property
    def verdict(self) -> Verdict:
        """Whether it is within its bound."""
        if self.within is None:
            return Verdict.told
        if abs(self.difference) <= self.within:
            return Verdict.near
        low, high = self.moved
        # A run in which some flows are not complete makes no range.
        is_in = self.range_counts and math.isfinite(high) and low <= self.reference <= high
        return Verdict.in_range if is_in else Verdict.outside


@dataclass(frozen=True)
class Outcome:
    """What a run has left, the reference's or ours."""

    queue: Floats | None
    """The samples of the compared queue in the compared time, in bytes."""
    delivered: Floats | None
    """The bytes of each flow in the compared time."""
    fct_ns: Floats | None
    """In the order of the list of flows; infinite if a flow is not complete."""
    pauses: dict[str, Floats] | None
    """How long each pause lasted in ns, by the tier that was paused."""


@dataclass(frozen=True)
class Comparison:
    """A run of the reference, and ours."""

    run: str
    numbers: list[Number]
    flow_by_flow: list[Agreement]
    differences: dict[str, list[float]]
    """The numbers with one setting changed, by the change."""
    notes: list[str]
    """What is missing or approximated, in words."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON. Times of flows that are not complete are none."""
        numbers = [
            asdict(each)
            | {
                "ours": _finite(each.ours),
                "moved": [_finite(end) for end in each.moved],
                "difference": _finite(each.difference),
                "verdict": each.verdict,
            }
            for each in self.numbers
        ]
        differences = {
            change: [_finite(value) for value in values]
            for change, values in self.differences.items()
        }
        return asdict(self) | {"numbers": numbers, "differences": differences}


@dataclass(frozen=True)
class RdmaBounds(Bounds):
    """The bounds of this validation; undecided numbers are those in the range of our runs."""

    wrong_runs: list[str]
    """Runs that are left out because a file of theirs is wrong."""

    @property
    def is_kept(self) -> bool:
        """Whether nothing differs, and every run could be read."""
        return super().is_kept and not self.wrong_runs

    @property
    def rule(self) -> str:
        """The bounds in words."""
        return (
            f"medians, means and goodput within {100 * MEDIAN_WITHIN:g}%, tails and deviations "
            f"within {100 * TAIL_WITHIN:g}%, or in the range of {MOVED} runs with moved starts; "
            f"pauses within {100 * PAUSES_WITHIN:g}% where there are {LEAST_PAUSES}"
        )

    @property
    def sentence(self) -> str:
        """The result in one line."""
        agree = self.compared - len(self.undecided) - len(self.broken)
        counts = [f"{agree} agree"]
        for words, names in (
            ("only in the range of our runs", self.undecided),
            ("differ", self.broken),
        ):
            if names:
                counts.append(f"{len(names)} {words} ({'; '.join(names)})")
        sentence = f"of {self.compared} numbers {', '.join(counts)}; {self.rule}"
        if not self.compared:
            sentence = "nothing could be compared"
        if self.wrong_runs:
            count, them = len(self.wrong_runs), ", ".join(self.wrong_runs)
            runs = "run is" if count == 1 else "runs are"
            sentence += f"; {count} {runs} left out for a wrong file ({them})"
        return sentence


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation."""

    comparisons: list[Comparison]
    left_out: list[str]
    """Runs that are not repeated, in words."""
    wrong: list[str]
    """Runs that are not repeated because a file of theirs is wrong, in words."""

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as JSON, by the name of the run."""
        by_run = {found.run: found.document for found in self.comparisons}
        lists = {"left_out": self.left_out, "wrong": self.wrong}
        return by_run | lists | {"bounds": asdict(self.bounds)}

    @property
    def bounds(self) -> RdmaBounds:
        """The bounds of all compared numbers."""
        judged = [
            (f"{found.run} {each.what} {each.difference:+.1%}", each.verdict)
            for found in self.comparisons
            for each in found.numbers
            if each.verdict is not Verdict.told
        ]

        def named(of: Verdict) -> list[str]:
            return [name for name, verdict in judged if verdict is of]

        wrong = [each.split(":", 1)[0] for each in self.wrong]
        return RdmaBounds(len(judged), named(Verdict.in_range), named(Verdict.outside), wrong)


def rdma(folder: Path, *, jobs: int = 2, differences: bool = False) -> Validation:
    """The public simulator of HPCC's authors: DCQCN, lossless priorities, its hosts' NICs.

    `folder` has folders of runs (`A`, `B`, ...), each run with its settings `RUN.config.txt` and
    what it left: `RUN.q`, `.rate`, `.fct`, `.pfc` (Parquet or CSV); and `inputs`, with topologies,
    flows and routes. What is missing is left out, and so are runs that cannot be repeated.
    `differences` adds one run for each setting that is changed.
    """
    found = runs(folder)
    left_out, wrong = found.missing, found.wrong
    comparisons = []
    with TemporaryDirectory() as place:
        for reference in found.read:
            try:
                if reason := cannot(reference):
                    left_out.append(f"{reference.name}: {reason}")
                    continue
                there = _reference(reference)
                if not _numbers(reference, there):
                    lacks = "; ".join(reference.lacks)
                    left_out.append(f"{reference.name}: there is nothing to compare: {lacks}")
                    continue
                comparisons.append(_compare(reference, there, Path(place), jobs, differences))
            except ScenarioError as error:
                wrong.append(f"{reference.name}: {error}")
    if not comparisons:
        raise ScenarioError(
            f"{folder}: there is nothing to compare: {'; '.join([*wrong, *left_out])}",
            "see docs/validation.md for what such a folder holds",
        )
    return Validation(comparisons, left_out, wrong)


def _compare(
    reference: Reference,
    there: Outcome,
    place: Path,
    jobs: int,
    differences: bool,
) -> Comparison:
    """Runs what is needed, and puts the numbers beside each other."""
    planned = plan(reference, place)
    changed = changes(planned) if differences else {}
    seeds = [None, *range(1, MOVED + 1), *(None for _ in changed)]
    scenarios = [_moved(planned, seed, place) for seed in seeds[: MOVED + 1]]
    every = list(zip([*scenarios, *changed.values()], seeds, strict=True))
    outcomes = all_of(lambda each, report: _run(reference, *each, report), every, jobs)
    wanted = _numbers(reference, there)
    here = [{what: value for what, _, value, _ in _numbers(reference, own)} for own in outcomes]
    pauses = {what for what, *_ in wanted if what.startswith("pauses")}
    numbers = []
    for what, unit, value, within in wanted:
        own = [found.get(what, 0.0) for found in here[: MOVED + 1]]
        ends = (min(own), max(own))
        numbers.append(Number(what, unit, value, own[0], within, ends, what not in pauses))
    return Comparison(
        reference.name,
        numbers,
        _flow_by_flow(reference, there, outcomes[0]),
        {
            change: [found.get(each.what, 0.0) for each in numbers]
            for change, found in zip(changed, here[MOVED + 1 :], strict=True)
        },
        [*reference.lacks, *planned.lacks],
    )


def _moved(planned: Planned, seed: int | None, place: Path) -> Scenario:
    """The scenario with starts that are moved by a seed, and marks that are drawn anew."""
    if seed is None:
        return planned.scenario
    file = written(planned.reference, place, seed)
    return planned.scenario.set({"traffic.flows.file": str(file.resolve()), "seed": seed + 1})


def _reference(reference: Reference) -> Outcome:
    """What the reference has left."""
    import numpy as np

    begin, end = reference.window_ns
    queue = delivered = pauses = None
    if (found := reference.queue) is not None:
        queue = found.queue_bytes[(found.time_ns >= begin) & (found.time_ns <= end)]
    if (sent := reference.progress) is not None and reference.completed is None:
        rows = [np.interp((begin, end), sent.time_ns, row, left=0.0) for row in sent.acked_bytes]
        delivered = np.array([last - first for first, last in rows])
    completed = reference.completed
    if reference.pauses is not None:
        tiers = dict.fromkeys(range(reference.network.hosts), "host") | reference.network.tiers
        nodes = reference.pauses.node.tolist()
        who = [tiers[node] for node in nodes]
        pauses = _by_tier(reference, who, reference.pauses.time_ns)
    return Outcome(queue, delivered, None if completed is None else completed.fct_ns, pauses)


def _run(reference: Reference, scenario: Scenario, seed: int | None, report: Report) -> Outcome:
    """Runs a scenario, whose starts were moved by this seed."""
    result = run_whole(scenario, report)
    begin, end = (1_000 * (time - reference.begin_ns) for time in reference.window_ns)
    return Outcome(
        None if reference.queue is None else _queue(reference, result, begin, end),
        None if reference.completed is not None else _delivered(reference, result, begin, end),
        None if reference.completed is None else _times(reference, result, seed),
        None if reference.pauses is None else _pauses(reference, result),
    )


def _queue(reference: Reference, result: Result, begin: int, end: int) -> Floats:
    """The samples of the compared queue; those that are empty have no row."""
    import numpy as np
    import pyarrow.compute as pc

    assert reference.queue is not None
    network, node = reference.network, reference.queue.node
    tier = network.tiers[node]
    place = [switch for switch in network.switches if network.tiers[switch] == tier].index(node)
    table = result.queues
    port = network.own_port(node, reference.queue.neighbour)
    wanted = pc.and_(
        pc.equal(table["switch"].cast("string"), f"{tier}{place}"), pc.equal(table["port"], port)
    )
    table = table.filter(wanted)
    step = 1_000 * int(reference.queue.time_ns[1] - reference.queue.time_ns[0])
    first, last = -(-begin // step), end // step
    found = np.zeros(last - first + 1)
    rows = table["time_ps"].to_numpy() // step - first
    inside = (rows >= 0) & (rows < len(found))
    found[rows[inside]] = table["bytes"].to_numpy()[inside]
    return found


def _delivered(reference: Reference, result: Result, begin: int, end: int) -> Floats:
    """The bytes of each flow that arrived in the compared time."""
    import numpy as np
    import pyarrow.compute as pc

    table, flows = result.windows, result.flows.sort_by("flow_id")
    size = flows["size_bytes"].to_numpy()
    ended = flows["fct_ps"].cast("double").fill_null(np.inf).to_numpy() + flows["start_ps"]
    found = []
    for time in (begin, end):
        rows = table.filter(pc.equal(table["time_ps"], time)).sort_by("flow_id")
        by_flow = np.zeros(len(reference.flows.src))
        by_flow[rows["flow_id"].to_numpy()] = rows["delivered_bytes"].to_numpy()
        # A flow that is complete is not told any more.
        found.append(np.where(ended <= time, size, by_flow))
    return found[1] - found[0]


def _times(reference: Reference, result: Result, seed: int | None) -> Floats:
    """Completion times in the order of the list."""
    import numpy as np

    table = result.flows.sort_by("flow_id")
    flows = reference.flows
    # Flows are numbered in the order of start, sender, receiver and size.
    order = np.lexsort([flows.size_bytes, flows.dst, flows.src, starts_ps(reference, seed)])
    found = np.full(len(order), np.inf)
    found[order] = table["fct_ps"].cast("double").fill_null(np.inf).to_numpy() / 1e3
    return found


def _pauses(reference: Reference, result: Result) -> dict[str, Floats]:
    """How long each pause that ended lasted, by who was paused."""
    table = result.pauses.drop_null()
    names = table["paused"].cast("string").to_pylist()
    lasted = (table["end_ps"].to_numpy() - table["begin_ps"].to_numpy()) / 1e3
    return _by_tier(reference, [name.rstrip("0123456789") for name in names], lasted)


def _by_tier(reference: Reference, who: list[str], lasted: Floats) -> dict[str, Floats]:
    """The times of pauses by who was paused, and of all if it may have been several tiers."""
    import numpy as np

    tiers = [tier for tier in TIERS if tier in reference.network.tiers.values()]
    paused = np.array(who, dtype=object)
    found = {name: lasted[paused == name] for name in ("host", *tiers)}
    # A single switch is never paused.
    return found | {"all": lasted} if len(tiers) > 1 else {"host": found["host"]}


def _numbers(reference: Reference, outcome: Outcome) -> list[tuple[str, str, float, float | None]]:
    """The numbers of a run: what, its unit, its value, and how far others may be off from it."""
    found: list[tuple[str, str, float, float | None]] = []
    if outcome.queue is not None and len(outcome.queue):
        kb = outcome.queue / 1e3
        found += [
            ("queue mean", "KB", float(kb.mean()), MEDIAN_WITHIN),
            ("queue deviation", "KB", float(kb.std()), TAIL_WITHIN),
            ("queue p99", "KB", _percentile(kb, 0.99), TAIL_WITHIN),
        ]
    if outcome.delivered is not None and reference.progress is not None:
        begin, end = reference.window_ns
        sent = outcome.delivered
        found += [
            ("goodput", "Gbps", float(8 * sent.sum() / (end - begin)), MEDIAN_WITHIN),
            ("fairness", "", _fairness(sent), MEDIAN_WITHIN),
        ]
    if outcome.fct_ns is not None:
        found += list(_time_numbers(reference, outcome.fct_ns))
    if outcome.pauses is not None:
        for name, times in outcome.pauses.items():
            within = PAUSES_WITHIN if len(times) >= LEAST_PAUSES else None
            found.append((f"pauses {name}", "", float(len(times)), within))
            found.append((f"pauses {name} time", "us", float(times.sum() / 1e3), within))
    return found


def _time_numbers(
    reference: Reference, fct_ns: Floats
) -> Iterable[tuple[str, str, float, float | None]]:
    """Percentiles of slowdowns, by size, and of times where all flows have one size."""
    import numpy as np

    assert reference.completed is not None
    known = reference.completed.is_known
    if not np.isfinite(reference.completed.fct_ns[known]).all():
        # Some never are: how many are complete stands for the times of all.
        yield "complete flows", "", float(np.isfinite(fct_ns[known]).sum()), TAIL_WITHIN
        return
    slowdown = fct_ns / reference.completed.ideal_ns
    for name, members in _classes(reference).items():
        places = set()
        for p in PERCENTILES:
            place = math.ceil(p * int(members.sum()))
            if place in places:
                continue
            places.add(place)
            within = MEDIAN_WITHIN if p == 0.5 else TAIL_WITHIN
            value = _percentile(slowdown[members], p)
            yield f"slowdown {name} p{100 * p:g}", "", value, within


def _classes(reference: Reference) -> dict[str, Booleans]:
    """Which known flows belong to which class: by size, and all if there are several."""
    assert reference.completed is not None
    size, known = reference.flows.size_bytes, reference.completed.is_known
    classes = {
        "up to 100 KB": known & (size <= _SHORT_BYTES),
        "up to 1 MB": known & (size > _SHORT_BYTES) & (size < _LONG_BYTES),
        "from 1 MB": known & (size >= _LONG_BYTES),
    }
    found = {name: members for name, members in classes.items() if members.any()}
    return found if len(found) == 1 else found | {"all": known}


def _flow_by_flow(reference: Reference, there: Outcome, here: Outcome) -> list[Agreement]:
    """How close completion times are, flow by flow."""
    import numpy as np

    if there.fct_ns is None or here.fct_ns is None:
        return []
    found = []
    for name, members in _classes(reference).items():
        both = members & np.isfinite(there.fct_ns) & np.isfinite(here.fct_ns)
        if both.sum() > 1:
            times = there.fct_ns[both], here.fct_ns[both]
            found.append(of_pairs(name, int(members.sum()), *times))
    return found


def _percentile(values: Floats, p: float) -> float:
    """The percentile by nearest rank."""
    import numpy as np

    return float(np.sort(values)[math.ceil(len(values) * p) - 1])


def _fairness(sent: Floats) -> float:
    """Jain's index."""
    squares = float((sent**2).sum())
    return float(sent.sum()) ** 2 / (len(sent) * squares) if squares else 0.0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
