"""The tables and plots of tuned policies, out of their runs.

    python -m spillway_studies.tuned.run tuned
    python -m spillway_studies.tuned.tables tuned

The second command takes what is complete in the folder into `results`, from which pages are made.
Policies that are not complete are left out of tables, and named.
"""

import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.experiment.statistics import interval
from spillway.result.summary_paths import flat
from spillway.show.drawing import drawing_of
from spillway.show.palette import COLOURS
from spillway_studies.claims import Drawing
from spillway_studies.claims.metric import seeds_in_words
from spillway_studies.claims.side_by_side import (
    Json,
    Results,
    Row,
    at,
    below_each_other,
    cell,
    markdown,
    number,
    slowdown,
    with_timeout,
)
from spillway_studies.claims.write import UnpublishedError
from spillway_studies.tuned.run import (
    BASE,
    DEFAULT,
    NETWORKS,
    NEW_SEEDS,
    TUNED,
    Network,
    keep,
    kept,
    run_file,
    search_folder,
)

_NEAR = 0.05
"""The part of a range at each end that counts as its end."""


@dataclass(frozen=True)
class Tuned:
    """The results of a network."""

    network: Network
    studies: Mapping[str, Json]
    """The summary of every policy's search."""
    results: Results
    """The runs on new seeds; a scheme is a policy and `default` or `tuned`."""
    missing: Sequence[str] = ()
    """The policies that are not complete."""

    def tail(self, row: Row) -> float:
        """The geometric mean of the classes' 99th percentiles: a root of the goal."""
        found = [slowdown(of, "p99")(row) for of in self.network.classes]
        if any(each is None for each in found):
            return math.nan
        return statistics.geometric_mean(each for each in found if each is not None)

    def tails(self, policy: str, how: str) -> list[float]:
        """The tail with every new seed."""
        return [self.tail(row) for row in self.results.runs[f"{policy} {how}"]]

    @property
    def ranked(self) -> list[str]:
        """The policies, the best when tuned first."""
        return sorted(self.studies, key=lambda policy: _middle(self.tails(policy, TUNED)))


def _middle(tails: Sequence[float]) -> float:
    return statistics.geometric_mean(tails) if tails else math.inf


# Reading -----------------------------------------------------------------------------------------


def take(name: str, folder: Path) -> None:
    """Takes what is complete of a network in a folder of runs into `results`."""
    network = NETWORKS[name]
    for policy in network.policies():
        found = _policy(folder / name, policy)
        if found is not None:
            keep(name, policy, network.asked(policy), *found, network.classes)


def load(name: str) -> Tuned:
    """The results of a network.

    Raises:
        UnpublishedError: no policy is complete.
    """
    network = NETWORKS[name]
    studies: dict[str, Json] = {}
    runs: dict[str, list[Row]] = {}
    missing = []
    for policy in network.policies():
        found = kept(name, policy, network.asked(policy))
        if found is None:
            missing.append(policy)
            continue
        studies[policy], own = found
        runs |= {f"{policy} {how}": rows for how, rows in own.items()}
    if not studies:
        command = "python -m spillway_studies.tuned"
        hint = f"{command}.run tuned {name} && {command}.tables tuned"
        raise UnpublishedError(f"no numbers of tuned policies in {name} are published", hint)
    return Tuned(network, studies, Results(runs), missing)


def _policy(network: Path, policy: str) -> tuple[Json, dict[str, list[Row]]] | None:
    """A policy's study and runs; None if anything is missing."""
    summary = search_folder(network, policy) / "summary.json"
    if not summary.exists():
        return None
    study: Json = json.loads(summary.read_text(encoding="utf-8"))
    runs: dict[str, list[Row]] = {}
    for how in (DEFAULT, TUNED):
        seeds = NEW_SEEDS if how == DEFAULT or study["winners"] else ()
        files = [run_file(network, f"{policy} {how}", seed) for seed in seeds]
        if not all(file.exists() for file in files):
            return None
        kept = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        best = study["winners"][0]["set"] if how == TUNED and seeds else {}
        if any(f"{key}={value}" not in each["set"] for key, value in best.items() for each in kept):
            # The search has been made again, and the runs are those of another winner.
            return None
        runs[how] = [{**dict(flat(each["summary"])), "seed": each["seed"]} for each in kept]
    return study, runs


# Tables ------------------------------------------------------------------------------------------


def is_at_end(parameter: Mapping[str, float], value: float) -> bool:
    """Whether a value lies within 5% of its range's ends, in the measure of the range.

    >>> [is_at_end({"low": 1, "high": 100, "log": True}, value) for value in (1.2, 10, 99)]
    [True, False, True]
    """
    measure = math.log if parameter["log"] else float
    low, high, own = (measure(each) for each in (parameter["low"], parameter["high"], value))
    return not _NEAR <= (own - low) / (high - low) <= 1 - _NEAR


def values(study: Json) -> str:
    """The best values of a policy; those at an end of their range are bold."""
    if not study["winners"]:
        return "none leaves the goodput"
    (best,) = study["winners"]
    numbers = next(each for each in study["trials"] if each["trial"] == best["trial"])["numbers"]
    shown = []
    for parameter in study["over"]:
        key = parameter["key"]
        text = f"{key.rpartition('.')[2]} {best['set'][key]}".replace("threshold", "K")
        shown.append(f"**{text}**" if is_at_end(parameter, numbers[key]) else text)
    return ", ".join(shown)


def over(found: Tuned, policy: str, base: tuple[str, str]) -> str:
    """A tuned policy's tail over another one with the same flows, seed by seed.

    The ratios' geometric mean, and its 95% interval.
    """
    tails = zip(found.tails(policy, TUNED), found.tails(*base), strict=False)
    logs = [math.log(own / other) for own, other in tails]
    between = interval(logs)
    if between is None or base == (policy, TUNED):
        return "-"
    if not any(logs):
        return "the same"
    mean, low, high = (math.exp(each) for each in (statistics.fmean(logs), *between))
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def both(found: Tuned, policy: str, of: str) -> str:
    """A class's 99th percentile with the defaults and tuned."""
    how = (cell(found.results, f"{policy} {each}", of, "p99") for each in (DEFAULT, TUNED))
    return " → ".join(how)


def timeouts(found: Tuned, policy: str) -> str:
    """Flows with a timeout, in percent, with the defaults and tuned."""
    means = (found.results.mean(f"{policy} {each}", with_timeout) for each in (DEFAULT, TUNED))
    return " → ".join(map(number, means))


def goodput(found: Tuned, policy: str) -> str:
    """The goodput of a tuned policy, divided by that of DT with its defaults."""
    if BASE in found.missing:
        return "-"
    own, base = (
        found.results.mean(each, at("goodput_gbps.all"))
        for each in (f"{policy} {TUNED}", f"{BASE} {DEFAULT}")
    )
    return "-" if own is None or not base else f"{own / base:.3f}"


def table(found: Tuned) -> str:
    """A row for every policy, the best first."""
    best = found.ranked[0]
    heads = [
        "",
        "best values",
        *(f"{of} p99" for of in found.network.classes),
        "tail, tuned over default",
        f"tail, tuned over `{best}`",
        "flows with a timeout, %",
        "goodput",
    ]
    rows = [
        [
            f"`{policy}`",
            values(found.studies[policy]),
            *(both(found, policy, of) for of in found.network.classes),
            over(found, policy, (policy, DEFAULT)),
            over(found, policy, (best, TUNED)),
            timeouts(found, policy),
            goodput(found, policy),
        ]
        for policy in found.ranked
    ]
    return markdown(heads, rows)


def block(found: Tuned) -> str:
    """What the page has of a network."""
    searches = sum(study["cpu_s"] for study in found.studies.values()) / 3600
    runs = sum(row["run.cpu_s"] for rows in found.results.runs.values() for row in rows) / 3600
    times = ", ".join(f"`{each}`" for each in found.network.confirmed)
    first = next(iter(found.studies.values()))
    missing = ", ".join(f"`{policy}`" for policy in found.missing)
    note = f" Not run to the end: {missing}." if missing else ""
    return (
        f"{times}; seeds {seeds_in_words(NEW_SEEDS)}; version {first['version']}. CPU hours: "
        f"{searches:.1f} for the searches, {runs:.1f} for these runs.{note}\n\n{table(found)}"
    )


# The plot ----------------------------------------------------------------------------------------


def policies(name: str) -> str:
    """What the page has of a network."""
    return block(load(name))


def plot(name: str) -> Drawing:
    """Every policy's tail with its defaults and tuned."""
    found = load(name)
    with drawing_of(4.6, 4.2) as drawing:
        axis = drawing.subplots()
        for place, policy in enumerate(found.ranked):
            colour = COLOURS[list(found.studies).index(policy) % len(COLOURS)]
            middles = []
            for how, face in ((DEFAULT, "white"), (TUNED, colour)):
                tails = found.tails(policy, how)
                if not tails:
                    continue
                middles.append(_middle(tails))
                axis.plot(tails, [place] * len(tails), "|", color=colour, markersize=7)
                axis.plot(middles[-1:], [place], "o", color=colour, markerfacecolor=face, zorder=3)
            axis.plot(middles, [place] * len(middles), "-", color=colour, linewidth=0.8)
        below_each_other(axis, found.ranked)
        axis.set_xlabel("tail: geometric mean of the p99 slowdowns", fontsize=8)
        axis.set_title(f"{name}: {', '.join(found.network.classes)}", fontsize=9)
        note = "hollow: defaults, filled: tuned, a line for every seed"
        drawing.supxlabel(note, fontsize=7.5)
    return drawing


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    for _name in NETWORKS:
        take(_name, Path(sys.argv[1]))
