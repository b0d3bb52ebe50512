"""Forests that Credence's switches teach one after the other, during a run.

A run is divided into windows of time. After each one, a forest is trained on what the virtual LQDs
of the switches did in it, and decides in the next one. A run is the same whenever it is repeated,
so a window is reached by running from the beginning with the forests known so far.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spillway.base import checksums, core
from spillway.base.arguments import Assignments, check_text, whole
from spillway.base.documents import write_json
from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.base.folder import OutputFolder
from spillway.base.progress import Follow, Report
from spillway.learning.oracle import trace as traces
from spillway.learning.oracle.model import Model
from spillway.learning.oracle.trace import Trace
from spillway.learning.oracle.training import Form, NothingToLearnError, Scores, evaluate, train
from spillway.result.result import Result
from spillway.run.run import Running, Streamed, prepared, read_with_inputs, run_into
from spillway.scenario.fates import FEATURES, FILE
from spillway.scenario.scenario import Scenario, Source

DOCUMENT, RESULT, MODELS = "online.json", "result", "models"
MOST_WINDOWS = 1_000


@dataclass(frozen=True)
class Window:
    """A part of the run, and how well forests predict what the virtual LQDs did in it.

    Attributes:
        begin_ps: when it begins, in picoseconds.
        end_ps: when it is over, in picoseconds.
        model: the forest in use: the scenario's own, or a file's name.
        scores: those of the forest in use, on all arrivals of the window that the trace has.
        first: those of the forest that the run began with.
        lost: the packets that the network lost, for any reason; None without `record.drops`.
        taught: the file of the forest that was trained after it; None if nothing was dropped in the
            packets to train on, and after the last window.
    """

    begin_ps: int
    end_ps: int
    model: str
    scores: Scores
    first: Scores
    lost: int | None
    taught: str | None

    @property
    def document(self) -> dict[str, Any]:
        """The same as a document."""
        told = {"scores": self.scores.document, "first": self.first.document}
        return {**vars(self), **told}


@dataclass(frozen=True)
class Online:
    """A run whose forests its own switches taught.

    Attributes:
        result: the whole run, with all forests.
        windows: its windows, in order of time.
        folder: where it is: `result`, `models`, and `online.json` with the windows.
    """

    result: Result
    windows: tuple[Window, ...]
    folder: Path

    @property
    def document(self) -> dict[str, Any]:
        """The windows, as `online.json` has them."""
        told = {"scenario": self.result.summary["scenario"], "seed": self.result.summary["seed"]}
        return {**told, "windows": [window.document for window in self.windows]}


@dataclass(frozen=True)
class _Taught:
    """A scenario, and the places in it that name forests."""

    scenario: Scenario
    sharing: Mapping[str, Mapping[str, Any]]
    tiers: Sequence[str]
    name: str
    model: Model
    """The forest that the run begins with, and its name."""

    def with_models(self, models: Sequence[tuple[int, str]], **record: object) -> Scenario:
        """The scenario with forests from these times on, in picoseconds."""
        given = [{"at": _time(at), "model": name} for at, name in models]
        changed = {place: {**own, "model": given} for place, own in self.sharing.items()}
        told = {f"record.{key}": value for key, value in record.items()}
        return self.scenario.set(changed, told)

    def own(self, seen: Trace) -> Trace:
        """What its switches have learned: a tier under LQD itself has rows, too."""
        is_own = np.array([place.tier in self.tiers for place in seen.places], bool)
        return seen.where(is_own[seen.switch])


def online(
    source: Source,
    *,
    every: str,
    out: str | Path,
    windows: int = 1,
    sample: int = 50,
    trees: int = 4,
    depth: int = 4,
    features: Sequence[str] = tuple(FEATURES),
    units: str = "fraction",
    forest_seed: int = 1,
    seed: int | None = None,
    set: Assignments = (),
    force: bool = False,
    follow: Follow | None = None,
) -> Online:
    """Runs a scenario whose switches teach their own forest, window by window.

    The run begins with the scenario's own model. A window in which the virtual LQDs lose nothing
    teaches nothing: the forest stays. With n windows about n / 2 times the work of one run is done.

    Args:
        source: The scenario, as `spillway.run` takes it, with `sharing = "credence"`, an oracle
            that is a forest, and `thresholds = "lqd"`, at all switches or at some tiers.
        every: The length of a window, such as "50ms".
        out: A folder for the result, the forests and the table of windows. If the run is
            interrupted, nothing is left there.
        windows: On how many of the last windows a forest is trained.
        sample: Of the arrivals that the virtual LQDs do not drop, one in this many is learned from.
        trees: How many trees, up to 10,000.
        depth: The greatest depth of a tree, up to 64.
        features: As `train` takes them.
        units: The unit of lengths, "fraction" of the buffer or "bytes".
        forest_seed: The seed of the forests.
        seed: The seed of the run; by default the scenario's own.
        set: Changes of the scenario, as `spillway.run` takes them.
        force: Replace what an earlier call has left in `out`.
        follow: Called for every run; see `ProgressBar.follow`.

    Raises:
        ScenarioError: The scenario or another argument is wrong; nothing was run.
        KeyboardInterrupt: Ctrl-C.
    """
    form = Form.of(trees, depth, features, units, forest_seed)
    windows, sample = whole("windows", windows, 1), whole("sample", sample, 1)
    with _warned_of_later():
        taught = _taught(prepared(source, seed, set, ()))
        ends = _ends(every, taught.scenario.read().duration_ps)
    record: dict[str, object] = {
        "oracle_trace": True,
        "oracle_trace_sample": sample,
        "oracle_trace_average": taught.model.average,
    }
    follow = follow or (lambda _label, _share: (lambda _progress: None, lambda: None))
    with OutputFolder(out, force, is_one, "a run that taught itself") as output:
        models = [(0, taught.name)]
        files: list[str | None] = [None] * len(ends)
        for name in (MODELS, RESULT):
            (output.partial / name).mkdir()
        for number, end in enumerate(ends[:-1]):
            report, over = follow(f"window {number + 1} of {len(ends)}", end / sum(ends))
            scenario = taught.with_models(models, **record, drops=False)
            seen = taught.own(_until(scenario, end, report))
            over()
            begin = ends[number - windows] if number >= windows else 0
            model = _trained(seen.where(seen.time_ps >= begin), form)
            if model is not None:
                files[number] = name = f"{MODELS}/window-{number + 1}.safetensors"
                model.save(output.partial / name)
                models.append((end, str((output.partial / name).absolute())))
        report, over = follow("all windows", ends[-1] / sum(ends))
        result = run_into(output.partial / RESULT, taught.with_models(models, **record), report)
        over()
        if result.status == "interrupted":
            raise KeyboardInterrupt
        checksums.write(output.partial / RESULT, but=checksums.FILE)
        judged = _judged(output.partial, taught, ends, files)
        found = Online(result, tuple(judged), output.place)
        write_json(output.partial / DOCUMENT, found.document)
    result.folder = output.place / RESULT
    return found


def is_one(folder: Path) -> bool:
    """Whether a folder is what `online` has written."""
    return (folder / DOCUMENT).is_file() and (folder / RESULT).is_dir()


def _time(ps: int) -> str:
    """A time in its largest unit without a fraction.

    >>> _time(50_000_000_000), _time(1_500_000_000), _time(7)
    ('50ms', '1500us', '7ps')
    """
    for unit, size in (("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if ps % size == 0:
            return f"{ps // size}{unit}"
    return f"{ps}ps"


def _ends(every: str, duration_ps: int) -> list[int]:
    """The ends of the windows, of which there are at least two."""
    check_text(every)
    length = core.picoseconds(every)
    if not 0 < length < duration_ps:
        raise ScenarioError(
            f"every = {every!r} leaves no window to learn for: traffic lasts {_time(duration_ps)}",
            "a time above 0 and below the scenario's duration",
        )
    count = math.ceil(duration_ps / length)
    if count > MOST_WINDOWS:
        raise ScenarioError(f"every = {every!r} makes {count:,} windows; {MOST_WINDOWS:,} at most")
    return [min((number + 1) * length, duration_ps) for number in range(count)]


def _taught(scenario: Scenario) -> _Taught:
    """The switches of a scenario that can teach."""
    switch = scenario.resolved["switch"]
    asked = {"kind": "credence", "oracle": "forest", "thresholds": "lqd"}
    teaching, tiers = {}, []
    for tier in (each["tier"] for each in scenario.facts["tiers"]):
        # Only tiers with settings of their own have a section.
        has_own = "sharing" in switch.get(tier, {})
        place = f"switch.{tier}.sharing" if has_own else "switch.sharing"
        own = switch[tier]["sharing"] if has_own else switch["sharing"]
        if all(own.get(key) == value for key, value in asked.items()):
            teaching[place] = own
            tiers.append(tier)
    if not teaching:
        raise ScenarioError(
            'no switch has sharing = "credence" with a forest, and with thresholds = "lqd": none '
            "knows what LQD would have done",
            "--set switch.sharing=credence",
        )
    models = [own["model"] for own in teaching.values()]
    if any(not isinstance(model, str) or model != models[0] for model in models):
        raise ScenarioError(
            f"{next(iter(teaching))}.model: what switches teach begins with one model for all",
            "the forests that follow are for all switches, too",
        )
    is_bundled = models[0] in core.models()
    model = Model.load(models[0] if is_bundled else scenario.folder / models[0])
    return _Taught(scenario, teaching, tiers, models[0], model)


@contextlib.contextmanager
def _warned_of_later() -> Iterator[None]:
    """A context without warnings about the scenario: the run of all windows has the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        yield


def _until(scenario: Scenario, end_ps: int, report: Report) -> Trace:
    """What the switches have learned when the run has come to a time."""
    with TemporaryDirectory(prefix="spillway-online-") as name, _warned_of_later():
        folder = Path(name)
        read, inputs = read_with_inputs(scenario)
        inputs.write(folder)
        with Streamed(folder, read.tables) as sink:
            running = Running(read, inputs, sink, core.Simulation(read))
            if running.go(report, end_ps) == "interrupted":
                raise KeyboardInterrupt
            result = running.result()
        result.write_documents(folder)
        return traces.whole(folder / FILE)


def _trained(seen: Trace, form: Form) -> Model | None:
    """A forest, unless nothing was dropped."""
    if not len(seen):
        return None
    try:
        return train([seen], split="none", **form._asdict()).model
    except NothingToLearnError:
        return None


def _judged(
    folder: Path, taught: _Taught, ends: Sequence[int], files: Sequence[str | None]
) -> list[Window]:
    """The windows of a run whose result is there."""
    seen = taught.own(traces.whole(folder / RESULT / FILE))
    result = Result.load(folder / RESULT)
    lost = np.array(result.drops["time_ps"]) if "drops" in result.names() else None
    name, model, windows, begin = taught.name, taught.model, list[Window](), 0
    for end, file in zip(ends, files, strict=True):
        part = seen.where((seen.time_ps >= begin) & (seen.time_ps < end))
        count = None if lost is None else int(((lost >= begin) & (lost < end)).sum())
        scores, first = evaluate(model, part), evaluate(taught.model, part)
        windows.append(Window(begin, end, name, scores, first, count, file))
        begin = end
        if file is not None:
            name, model = file, Model.load(folder / file)
    return windows
