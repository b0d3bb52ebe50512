"""Runs the study of all five systems, and keeps its numbers.

    python -m spillway_studies.five.run FOLDER --seeds 1..5

The folder gets what Credence and Smartbuf have learned on other seeds, and an experiment for each
series. The same command goes on after an interruption. Numbers of complete series are kept in
`results`, a row for every run.
"""

import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import spillway
from spillway.base.errors import ScenarioWarning
from spillway.base.folder import whole_file
from spillway.experiment.experiment import Experiment
from spillway.learning.oracle import train
from spillway.learning.oracle.trace import load
from spillway.scenario.fates import FEATURES, QUEUE_CLASS
from spillway.scenario.variants import assigned
from spillway_studies.claims.series import keep, parser_of
from spillway_studies.five import factors
from spillway_studies.five.factors import Factor
from spillway_studies.five.of_flows import FbOfFlows

KEPT = Path(__file__).resolve().parent / "results"
RECORD = ("record.drops=false", "record.queue_classes=true", "record.without_timeout=true")
ECN = f"switch.aqm={factors.AQM.levels['ecn'][0]}"
TRACED = ("switch.sharing=lqd", ECN, "traffic.websearch.load=0.8", "record.oracle_trace=true")
TRACE_SEED, ONE_IN = 101, 20
LEARNS = "600ms"
"""How long Smartbuf learns."""

SERIES: Mapping[str, Sequence[Factor]] = {
    "factorial": factors.FACTORIAL,
    "aqms": (
        factors.SHARING.only(("dt", "lqd", "cs", "credence", "occamy")),
        factors.MORE_AQMS,
        factors.LEVELS.only(("pias, rack", "qclimb, rack")),
        *factors.FACTORIAL[3:],
    ),
    "variants": (
        factors.SHARING.and_also(factors.MENDED),
        factors.AQM.only(("ecn", "pred")).and_also(factors.MORE_AQMS.only(("pred, by port",))),
        factors.LEVELS.only(("one, rack", "one, counting", "qclimb, rack", "qclimb, counting")),
        factors.RTO.only(("10ms",)),
        factors.LOAD.only(("80%",)),
        factors.BUFFER.only(("5.12KB",)),
    ),
    "bursts": (
        factors.SHARING.and_also(factors.MENDED.only(("dt, alpha 8",))),
        factors.AQM.only(("ecn", "pred")),
        factors.LEVELS.only(("one, rack", "qclimb, rack")),
        factors.RTO.only(("10ms",)),
        factors.LOAD.only(("80%",)),
        factors.BUFFER.only(("5.12KB",)),
        factors.BURST,
    ),
    "protection": (
        factors.SHARING.only(("dt", "lqd", "cbm", "occamy")),
        factors.AQM.only(("ecn", "pred")),
        factors.LEVELS.only(("one, rack", "one, counting", "qclimb, rack", "qclimb, counting")),
        factors.RTO.only(("10ms",)),
        factors.LOAD.only(("80%",)),
        factors.BUFFER.only(("5.12KB",)),
        factors.PROTECTION,
    ),
    "told": (
        factors.SHARING.only(("lqd", "credence")).and_also(factors.TOLD),
        factors.AQM.only(("ecn", "pred")),
        factors.LEVELS.only(("qclimb, rack", "qclimb, counting")),
        factors.RTO.only(("10ms",)),
        factors.LOAD.only(("80%",)),
        factors.BUFFER.only(("5.12KB",)),
    ),
    "codel": (
        factors.SHARING.only(("dt", "lqd", "credence")),
        factors.CODEL,
        factors.LEVELS.only(("one, rack", "qclimb, rack")),
        factors.RTO.only(("10ms",)),
        factors.LOAD,
        factors.BUFFER.only(("5.12KB",)),
    ),
}
"""The factors of each series, all of whose combinations are run."""

PLUGINS = (FbOfFlows,)
CLASSES = ("short", "long", "incast", "all")
LEVELS = range(9)
"""Queue classes: acks, and eight levels of data."""


def _levels(name: str) -> list[str]:
    found = zip(factors.LEVELS.keys, factors.LEVELS.levels[name], strict=True)
    return [f"{key}={value}" for key, value in found]


def learn(folder: Path) -> None:
    """Trains the forests, and lets Smartbuf learn, unless their files are there."""
    sees_levels = (*FEATURES, QUEUE_CLASS)
    for name, tagged, features in (
        (factors.MODEL, "one", tuple(FEATURES)),
        (factors.MODEL_OF_LEVELS, "qclimb", tuple(FEATURES)),
        (factors.MODEL_THAT_SEES_LEVELS, "qclimb", sees_levels),
    ):
        if (folder / name).exists():
            continue
        sets = _levels("one, rack" if tagged == "one" else "qclimb, counting")
        traces = []
        for buffer in factors.BUFFER.levels.values():
            place = folder / "traces" / f"{tagged}-{buffer[0].partition('/')[0]}"
            if not place.is_dir():
                sampled = f"record.oracle_trace_sample={ONE_IN}"
                more = (*TRACED, sampled, f"switch.buffer={buffer[0]}", *sets)
                spillway.run(factors.SCENARIO, set=more, seed=TRACE_SEED, out=place)
            traces.append(load(place))
        train(traces, split="none", features=features).model.save(folder / name)
    if not (folder / factors.HISTORY).exists():
        sets = ["switch.sharing=smartbuf", ECN, *_levels("one, rack")]
        more = (*sets, f"duration={LEARNS}", "record.drops=false")
        learned = spillway.run(factors.SCENARIO, set=more, seed=TRACE_SEED)
        with whole_file(folder / factors.HISTORY) as partial:
            pq.write_table(learned.table("history"), partial)


def experiment(folder: Path, name: str, seeds: str) -> Experiment:
    """A series, with what is there of it."""
    scenario = spillway.Scenario.of(factors.SCENARIO).set(*RECORD)
    scenario.folder = folder
    vary: dict[Any, Any] = dict(factor.vary for factor in SERIES[name])
    named = [plugin for plugin in PLUGINS if plugin.id in str(vary)]
    return spillway.experiment(scenario, vary=vary, seeds=seeds, out=folder / name, plugins=named)


def numbers(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """What is kept of a run. Tails and means are slowdowns."""
    found: dict[str, float | None] = {}
    for of in CLASSES:
        row, on_time = summary["fct_slowdown"][of], summary["without_timeout"][of]
        found[f"{of}.timeouts"] = row["with_timeout"] / row["count"] if row["count"] else None
        found |= {f"{of}.{key}": row[key] for key in ("mean", "p95", "p99")}
        found |= {f"{of}.on_time.{key}": on_time[key] for key in ("mean", "p99")}
    found["queries.mean_us"] = summary["query_us"]["mean"]
    found["goodput_gbps"] = summary["goodput_gbps"]["all"]
    found["lost"] = float(sum(summary["drops"].values()))
    found["marked"] = float(summary["marks"])
    found["resent"] = float(summary["retransmitted_packets"])
    found["cpu_s"] = summary["run"]["cpu_s"]
    for tier, classes in summary["queue_classes"].items():
        for level in LEVELS:
            row = classes[str(level)]
            found[f"{tier}.{level}.lost"] = float(row["dropped_packets"])
            found[f"{tier}.{level}.bytes"] = row["mean_bytes"]
    return found


def table(series: Experiment, of: Sequence[Factor]) -> pa.Table:
    """A row for every run with a seed that all have: its levels, its seed, and its numbers."""
    found = [(variant, dict(runs.summaries())) for variant, runs in series.results]
    seeds = sorted(set.intersection(*({*runs} for _, runs in found)))
    rows = []
    for variant, runs in found:
        own = assigned(variant.assignments)
        levels = {factor.name: factor.level(own) for factor in of}
        rows += [{**levels, "seed": seed, **numbers(runs[seed])} for seed in seeds]
    return pa.Table.from_pylist(rows)


def main() -> None:
    """Runs what is asked for."""
    parser = parser_of(__doc__, "series", SERIES)
    parser.add_argument("--seeds", default=factors.SEEDS)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    # That parts stand outside what they were made for is what the study is about.
    warnings.simplefilter("ignore", ScenarioWarning)
    learn(asked.folder)
    for name in asked.names or SERIES:
        series = experiment(asked.folder, name, asked.seeds).run(jobs=asked.jobs)
        keep(table(series, SERIES[name]), KEPT / f"{name}.parquet")
        sys.stderr.write(f"{name}: {series.done} runs\n")


if __name__ == "__main__":
    main()
