"""`spillway.arena`: schemes against each other, and what comes out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from spillway.base import parquet
from spillway.base.arguments import Assignments, Seeds, assignments_of, callback, seeds_of, whole
from spillway.base.documents import write_json
from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.base.folder import check_place, path_of, whole_file
from spillway.base.progress import Follow, duration
from spillway.base.threads import processors
from spillway.contest import results, summary
from spillway.contest import tuned as tuned_levels
from spillway.contest.factors import KEYS, Factors, factor_of, factors
from spillway.contest.grounds import grounds
from spillway.contest.plan import ALL, Plan, experiments, planned
from spillway.experiment.engines import Told, start, untold
from spillway.experiment.experiment import Experiment
from spillway.experiment.planning import empty_summaries
from spillway.plugins import Plugins, plugins_of
from spillway.plugins.description import describe_all
from spillway.result.metrics import Metric, found
from spillway.scenario.scenario import Scenario, Source

if TYPE_CHECKING:
    from spillway.show.notebook import Shown

METRIC, SEEDS, PACKETS = "all.p99", "1..3", 500_000
BESIDE = ("without_timeout.all.p99", "all.mean", "short.p99", "incast.p99")
"""The metrics that are ranked beside the main one."""
FILE, TABLE, PAGE = "arena.json", "arena.parquet", "index.html"
_A_RUN_S, _A_PACKET_S = 0.015, 2.5e-7
"""About how much processor time a run takes, and each of its packets."""


class Arena:
    """What an arena found."""

    def __init__(self, summary: dict[str, Any], runs: pa.Table, folder: Path | None) -> None:
        self.summary = summary
        """All of it, as `arena.json` has it (docs/arena.md)."""
        self.runs = runs
        """A row for every combination and seed, as `arena.parquet` has it."""
        self.folder = folder

    @property
    def answer(self) -> str:
        """Who is best, in a sentence."""
        return str(self.summary["answer"])

    def table(self) -> Shown:
        """What the command line shows; `print` shows it, too."""
        from spillway.contest import tables
        from spillway.show.notebook import Shown

        return Shown(tables.shown(self.summary))

    def __repr__(self) -> str:
        return f"<Arena over {', '.join(self.summary['scenarios'])}: {self.answer}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def arena(
    scenarios: Source | Sequence[Source] = (),
    *,
    factors: Factors = (),
    ranked: str | None = None,
    runs: int | str | None = None,
    seeds: Seeds = SEEDS,
    packets: int = PACKETS,
    metric: str = METRIC,
    tuned: int = 0,
    design_seed: int = 1,
    set: Assignments = (),
    plugins: Plugins = (),
    out: str | Path | None = None,
    force: bool = False,
    jobs: int | None = None,
    on: str = "local",
    workers: int = start.WORKERS,
    options: Sequence[str] = (),
    follow: Callable[[int], Follow] | None = None,
    say: Callable[[str], object] | None = None,
) -> Arena:
    """Runs schemes against each other over scenarios, seeds, and everything else of a network.

    The levels of one factor are ranked. They meet in contexts: combinations of a scenario and a
    level of every other factor, of which a fraction is run in which every pair of levels occurs.
    See docs/arena.md.

    Args:
        scenarios: A scenario, or several, as `spillway.run` takes them; by default all bundled.
        set: Changes of all scenarios, as `spillway.run` takes them.
        plugins: Classes, which become levels of their factors.

        What is varied:
        factors: Levels of factors, where not all are wanted: texts such as `sharing=dt,lqd`, or a
            mapping of factors to levels. Factors are `sharing`, `aqm`, `levels` (scheduling and
            tagging), `transport` and `recovery`, and on request `protection`. `own` is what the
            scenario has, and `NAME:KEY=VALUE/KEY=VALUE` a level of one's own.
        ranked: The factor whose levels are ranked; by default that of the first plug-in, or
            `sharing`.
        tuned: If above 0, the numeric keys of each level that is ranked are searched in each
            scenario first, with so many trials (`spillway.tune`).

        How much is run:
        runs: About how many runs there are at most, all seeds counted and one context at least,
            or "all" for all combinations; by default as many as cover all pairs of levels.
        seeds: The seeds of every combination, as numbers or a text such as `1..3`.
        packets: Scenarios that would send more packets are shortened to about so many, unless `set`
            has their `duration`, `stop` or `warmup`.
        design_seed: The seed of the design, and of searches.
        metric: What ranks go by: a metric of which less is better (docs/results.md).

        How it runs:
        out: A folder in which all is kept. The same call goes on with what is missing.
        force: Begin the runs in `out` anew.
        jobs: Runs at a time, as `Experiment.run` takes it; this and the next three.
        on: "local", "slurm", "ray", or "ray://HOST:PORT".
        workers: The most workers elsewhere.
        options: Options of sbatch.
        follow: Called with the number of missing runs; it returns what `Experiment.run` takes as
            `follow`.
        say: Called with lines of text: what the design leaves out, and how long it will take.

    Returns:
        What was found. `runs` is the table of all runs.

    Raises:
        Interrupted: Ctrl-C; its `result` is the experiment that was under way.
        ScenarioError: Something asked is wrong, or can be had nowhere; nothing was run.
        PluginError: A plug-in has failed.
        OSError: The folder cannot be written to.
    """
    callback("say", say)
    tell = say or (lambda _: None)
    folder = None if out is None else path_of(out)
    start.check(on, folder)
    several = seeds_of(seeds)
    trials = whole("tuned", tuned, 0)
    plan, metrics = _asked(
        scenarios,
        factors,
        plugins_of(plugins),
        ranked=ranked,
        runs=runs,
        seeds=several,
        packets=whole("packets", packets, 1),
        metric=metric,
        design_seed=whole("design_seed", design_seed, 0),
        assignments=assignments_of(set),
        is_kept=folder is not None,
    )
    todo = tuned_levels.searches(plan, several, on) if trials else []
    for line in told(plan, len(several), todo, trials):
        tell(line)
    if folder is not None:
        _prepare(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        best = tuned_levels.searched(
            plan,
            todo,
            trials,
            metric=metric,
            seed=design_seed,
            jobs=jobs,
            out=folder,
            follow=None,
            say=tell,
        )
    asked = experiments(plan, several, folder, force, best)
    _run(asked, jobs, on, workers, options, follow, tell)
    table = results.table(plan, asked, metrics)
    document = summary.document(plan, table, metrics, several, trials)
    if folder is not None:
        _write(folder, document, table)
    return Arena(document, table, folder)


def _asked(
    scenarios: Source | Sequence[Source],
    given: Factors,
    plugins: Sequence[type],
    *,
    ranked: str | None,
    runs: int | str | None,
    seeds: Sequence[int],
    packets: int,
    metric: str,
    design_seed: int,
    assignments: Sequence[str],
    is_kept: bool,
) -> tuple[Plan, list[Metric]]:
    """The plan, and the metrics: everything is read and checked here, and nothing run."""
    described = describe_all(plugins)
    first = ranked or (factor_of(described[0]) if described else "sharing")
    if first not in KEYS:
        raise ScenarioError(f"there is no factor {first!r}", f"valid here: {', '.join(KEYS)}")
    every = factors(given, described, first)
    wanted = ALL if runs == "all" else None if runs is None else whole("runs", runs, 1)
    is_one = isinstance(scenarios, (str, Path, Scenario, Mapping))
    sources = cast("list[Source]", [scenarios] if is_one else [*scenarios])  # type: ignore[misc]
    places = grounds(sources, assignments, plugins, packets=packets, is_kept=is_kept)
    empty = empty_summaries(each.base.plug(*each.plugins) for each in places)
    (main,) = found([metric], empty)
    if not main.less_is_better:
        raise ScenarioError(f"{metric} is not ranked", "less must be better: all.p99, incast.mean")
    beside = found([name for name in BESIDE if name != main.key], empty)
    plan = planned(places, every, first, runs=wanted, seeds=len(seeds), seed=design_seed)
    return plan, [main, *beside]


def told(
    plan: Plan, seeds: int, searches: Sequence[tuned_levels.Search] = (), trials: int = 0
) -> list[str]:
    """What is run and what is left out, in lines."""
    design = summary.designed(plan)
    runs = plan.runs * seeds
    searched = (1 + trials) * tuned_levels.SEEDS
    packets = seeds * plan.packets + searched * sum(each.packets for each in searches)
    cpu = (runs + searched * len(searches)) * _A_RUN_S + packets * _A_PACKET_S
    lines = [
        f"{design['contexts']:,} of {design['of']:,} contexts, x {len(plan.ranked.levels)} levels "
        f"of {plan.ranked.name} x {summary.some(seeds, 'seed')}: {runs:,} different runs, about "
        f"{duration(cpu)} of "
        f"processor time ({duration(cpu / processors())} on this machine, if it is idle)",
        f"each of {design['pairs']:,} pairs of levels is in {design['least']} to {design['most']} "
        f"contexts, {len(design['impossible'])} cannot be had"
        f"{'' if design['is_full'] else '; not all triples occur'}",
    ]
    if searches:
        lines.insert(
            1,
            f"and {searched * len(searches):,} runs in {len(searches)} searches of keys, which "
            "come first",
        )
    if design["left_out"]:
        lines.append(f"{len(design['left_out'])} pairs are left out: more runs would have them")
    lines += [f"{each['level']} is left out: {each['why']}" for each in design["missing"]]
    if warned := plan.warned():
        lines.append(
            f"{summary.some(warned.total(), 'warning')}, "
            f"{len(warned)} of them different: the page has them"
        )
    return lines


def _prepare(folder: Path) -> None:
    """Refuses a folder of something else, and marks it."""
    check_place(folder)
    is_one = (folder / FILE).is_file()
    if folder.exists() and not is_one and (not folder.is_dir() or any(folder.iterdir())):
        raise ScenarioError(f"{folder} is there already, and no arena", "choose another place")
    if not is_one:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / FILE, {"status": "incomplete"})


def _run(
    asked: Iterable[tuple[Experiment, object]],
    jobs: int | None,
    on: str,
    workers: int,
    options: Sequence[str],
    follow: Callable[[int], Follow] | None,
    tell: Told = untold,
) -> None:
    """Runs what is missing, scenario by scenario."""
    every = [experiment for experiment, _ in asked]
    missing = [len(each.missing()) for each in every]
    total = sum(missing)
    there = sum(each.total for each in every) - total
    if there:
        tell(f"{there:,} runs are there already")
    followed = follow(total) if follow is not None and total else None
    for experiment, own in zip(every, missing, strict=True):
        if own:
            part = None if followed is None else _part(followed, experiment.name, own / total)
            with warnings.catch_warnings():
                # They were counted when the runs were planned.
                warnings.simplefilter("ignore", ScenarioWarning)
                experiment.run(
                    jobs=jobs, follow=part, on=on, workers=workers, options=options, told=tell
                )


def _part(follow: Follow, name: str, share: float) -> Follow:
    """What follows the runs of one scenario, whose labels say no more than scenario and seed."""
    return lambda label, part: follow(f"{name} {label.rpartition(' ')[2]}", part * share)


def _write(folder: Path, document: dict[str, Any], table: pa.Table) -> None:
    from spillway.contest import page

    with whole_file(folder / TABLE) as partial:
        parquet.write(table, partial)
    with whole_file(folder / PAGE) as partial:
        partial.write_bytes(page.written(document))
    with whole_file(folder / FILE) as partial:
        write_json(partial, document)
