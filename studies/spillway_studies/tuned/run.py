"""Tunes every sharing policy in the networks of the comparison, and confirms all of them.

    python -m spillway_studies.tuned.run tuned
    python -m spillway_studies.tuned.tables tuned

The folder gets `NETWORK/search/POLICY`, a study of `spillway tune`, and `NETWORK/runs/NAME.json`,
the numbers of a run. The same command goes on after an interruption, and makes only what is not
there, and of which `results` has no numbers yet: what it has is kept, and is removed to be made
anew. With names of networks only these are made.
"""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import spillway
from spillway.base import core
from spillway.base.folder import whole_file
from spillway.base.progress import Progress
from spillway.base.threads import side_by_side
from spillway.run.run import prepared, run_to
from spillway_studies.claims.series import parser_of
from spillway_studies.claims.side_by_side import Json, Row
from spillway_studies.comparison.figures import schemes

Say = Callable[[str], object]

TRIALS = 30
SEARCH_SEEDS = (1, 2)
NEW_SEEDS = (11, 12, 13, 14, 15)
COUNTED_MS = 60
"""The time of a run of the search that counts."""
BEGINS_MS = 20
"""The time before, which does not count, while queues fill; learning policies take longer."""
CONFIRMED_MS = 1000
"""The duration of a run of the confirmation, with the time in which Smartbuf learns."""
LEAST_GOODPUT = 0.98
"""The least goodput, as a part of the scenario's own goodput with DT."""
QUIET = "record.drops=false"
"""Lists of lost packets are not needed."""

BASE = "dt"
DEFAULT, TUNED = "default", "tuned"
"""The two ways to run a policy on new seeds."""
LEARNERS = ("smartbuf", "smartbuf, demands")
"""Policies that must have learned before anything counts."""
ALPHA, FIRST, CONGESTED = "0.02..32.0:log", "0.25..4096.0:log", "0.1..1.0"
ECN = {"switch.aqm.threshold": "1pkt..400pkt:log"}
"""The ECN threshold, for all policies alike. Spines with a section of their own keep theirs."""

BY_CLASS = ("dt", "edt", "fab", "abm", "abm, as in its program", *LEARNERS, "cbm")
"""Policies with an alpha for every class of queues. That of acks stays as it is."""
BURSTS = {
    "k": "1..32:log",
    "sigma": "1.5..50.0:log",
    "beta": "0.05..1.0",
    "smoothing": "0.0..1.0",
    "key_quantum": "0.001..10.0:log",
}
OWN: Mapping[str, Mapping[str, str]] = {
    "sp": {"share": "0.01..1.0:log"},
    "edt": {"burst_packets": "2..64:log", "drain_packets": "1..64:log"},
    "fab": {
        "alpha_short": FIRST,
        "short_bytes": "3000B..300000B:log",
        "idle_timeout": "0.1ms..50.0ms:log",
    },
    "abm": {"alpha_first_rtt": FIRST, "congested_at": CONGESTED},
    "abm, as in its program": {"alpha_first_rtt": FIRST, "saturation": "3000B..300000B:log"},
    "smartbuf": BURSTS,
    "smartbuf, demands": BURSTS,
    "cbm": {"alpha_first_rtt": FIRST, "congested_at": CONGESTED},
}
"""The keys of a policy beside alpha, and their ranges: all that have a number by default.

Left out are keys that follow from the network (ABM's interval, EDT's times), an alpha for first
packets where there is none by default, an oracle's errors, and ages and times for learning.
"""


@dataclass(frozen=True)
class Network:
    """Where policies are tuned."""

    scenario: str
    classes: tuple[str, ...]
    """The classes whose tails are the goal."""
    switch: str
    """The section of the switches that have the policy."""
    data_queues: tuple[int, ...]
    """The queues of data, if acks have a queue of their own."""
    learns_ms: int
    """How long Smartbuf learns, as in the comparison."""

    @property
    def goal(self) -> str:
        """The product of the classes' 99th percentiles."""
        return " * ".join(f"fct_slowdown.{name}.p99" for name in self.classes)

    def policies(self) -> dict[str, tuple[str, ...]]:
        """The policies of the comparison, with assignments of their defaults: alphas as lists."""
        found = {}
        for scheme in schemes(f"{self.switch}.sharing", ack_queues=bool(self.data_queues)):
            sets = scheme.assignments
            if scheme.name in BY_CLASS and self.data_queues:
                alpha = f"{self.switch}.sharing.alpha"
                resolved = prepared(self.scenario, None, sets, ()).resolved
                given: Any = reduce(getitem, alpha.split("."), resolved)
                acks, data = given if isinstance(given, list) else (given, given)
                sets = (*sets, f"{alpha}={[acks, *[data] * len(self.data_queues)]}")
            found[scheme.name] = sets
        return found

    def over(self, policy: str) -> dict[str, str]:
        """What is varied: the policy's keys and the ECN threshold, with their ranges."""
        sharing = f"{self.switch}.sharing"
        found = {}
        if policy in BY_CLASS:
            places = [f"[{queue}]" for queue in self.data_queues] or [""]
            found = {f"{sharing}.alpha{place}": ALPHA for place in places}
        found |= {f"{sharing}.{key}": values for key, values in OWN.get(policy, {}).items()}
        return found | ECN

    def times(self, policy: str) -> tuple[str, str]:
        """Assignments for a run of the search: its warm-up and its duration."""
        begins = self.learns_ms if policy in LEARNERS else BEGINS_MS
        return f"warmup={begins}ms", f"duration={begins + COUNTED_MS}ms"

    def asked(self, policy: str) -> Json:
        """The question about a policy, with all that its answer depends on."""
        return {
            "scenario": self.scenario,
            "set": [*self.policies()[policy]],
            "over": self.over(policy),
            "goal": self.goal,
            "least_goodput": LEAST_GOODPUT,
            "trials": TRIALS,
            "seeds": [*SEARCH_SEEDS],
            "times": [*self.times(policy)],
            "new_seeds": [*NEW_SEEDS],
            "new_times": [*self.confirmed],
        }

    @property
    def confirmed(self) -> tuple[str, str]:
        """Assignments for a run of the confirmation: its warm-up and its duration."""
        return f"warmup={self.learns_ms}ms", f"duration={CONFIRMED_MS}ms"


NETWORKS = {
    "credence": Network("credence", ("short", "long", "incast"), "switch", (1,), 500),
    "cbm": Network("cbm", ("cubic", "dctcp", "incast"), "switch", (1, 2, 3), 500),
    "smartbuf": Network("smartbuf", ("short", "long", "incast"), "switch.leaf", (), 600),
}


def search_folder(network: Path, policy: str) -> Path:
    """The study of a policy in the folder of a network."""
    return network / "search" / file_name(policy)


def run_file(network: Path, name: str, seed: int) -> Path:
    """The numbers of a run in the folder of a network."""
    return network / "runs" / f"{file_name(name)}-{seed}.json"


# What is kept of it: results/NETWORK/POLICY.json --------------------------------------------------
#
# A search and its runs take minutes to an hour of processor time for a policy, so their results are
# kept, in short: the question, the range and the best value of every key, and the numbers of the
# runs on new seeds, in the order of their seeds. Credence's network was tuned before they were
# kept.

FOLDER = Path(__file__).resolve().parent / "results"
_OF_CLASS = ("count", "mean", "p50", "p99", "with_timeout")
_OF_RUN = ("seed", "goodput_gbps.all", "run.cpu_s")


def file_name(text: str) -> str:
    """A policy's name as that of a file.

    >>> file_name("abm, as in its program")
    'abm-as-in-its-program'
    """
    return re.sub(r"\W+", "-", text)


def file_of(network: str, policy: str) -> Path:
    """Where the numbers of a policy are."""
    return FOLDER / network / f"{file_name(policy)}.json"


def keep(
    network: str,
    policy: str,
    asked: Json,
    study: Json,
    runs: Mapping[str, Sequence[Row]],
    classes: Iterable[str],
) -> None:
    """Keeps the results of a policy: the summary of its search, and its runs, by how it ran."""
    best = [each["trial"] for each in study["winners"]]
    columns = [*_OF_RUN]
    columns += [f"fct_slowdown.{of}.{key}" for of in (*classes, "all") for key in _OF_CLASS]
    short = {
        "policy": policy,
        "asked": asked,
        "study": {
            "version": study["version"],
            "cpu_s": study["cpu_s"],
            "over": [
                {key: each[key] for key in ("key", "low", "high", "log")} for each in study["over"]
            ],
            "winners": [{key: each[key] for key in ("trial", "set")} for each in study["winners"]],
            "trials": [
                {key: each[key] for key in ("trial", "numbers")}
                for each in study["trials"]
                if each["trial"] in best
            ],
        },
        "runs": {
            how: {column: [row[column] for row in rows] for column in columns}
            for how, rows in runs.items()
        },
    }
    file = file_of(network, policy)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_written(short, 0) + "\n", encoding="utf-8")


def kept(network: str, policy: str, asked: Json) -> tuple[Json, dict[str, list[Row]]] | None:
    """The search and the runs of a policy; None where there are none that answer this question."""
    file = file_of(network, policy)
    if not file.exists():
        return None
    found = json.loads(file.read_text(encoding="utf-8"))
    if found["asked"] != json.loads(json.dumps(asked)):
        return None
    runs: dict[str, list[Row]] = {
        how: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        for how, columns in found["runs"].items()
    }
    return found["study"], runs


def _written(value: object, depth: int) -> str:
    """JSON with a line for every list of numbers."""
    if isinstance(value, dict) and value:
        inner = " " * (depth + 1)
        lines = [
            f"{inner}{json.dumps(key)}: {_written(own, depth + 1)}" for key, own in value.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"
    return json.dumps(value)


# Making it ----------------------------------------------------------------------------------------


class Work:
    """The work on a network in its folder."""

    def __init__(self, network: Network, folder: Path, jobs: int, say: Say) -> None:
        self.network, self.folder, self._jobs, self._say = network, folder, jobs, say

    def make(self) -> None:
        """All searches, each with its confirmation."""
        for policy, sets in self.network.policies().items():
            if kept(self.folder.name, policy, self.network.asked(policy)) is not None:
                self._say(f"{self.network.scenario}: {policy}: results has its numbers")
                continue
            self.confirm(f"{policy} {DEFAULT}", sets)
            best = self.search(policy, sets)
            if best is not None:
                self.confirm(f"{policy} {TUNED}", (*sets, *best))

    def least_goodput(self, times: Sequence[str]) -> float:
        """The least goodput of the constraint, in Gbps: nearly that of the unchanged scenario."""
        runs = self._runs("own " + " ".join(times), times, SEARCH_SEEDS)
        goodputs = [float(run["goodput_gbps"]["all"]) for run in runs]
        return LEAST_GOODPUT * sum(goodputs) / len(goodputs)

    def search(self, policy: str, sets: Sequence[str]) -> list[str] | None:
        """The best values of a policy as assignments; None if none leaves the goodput."""
        network = self.network
        times = network.times(policy)
        least = self.least_goodput(times)
        tuned = spillway.tune(
            network.scenario,
            set=[QUIET, *sets, *times],
            over=network.over(policy),
            minimize=network.goal,
            subject_to=f"goodput_gbps.all >= {least:.6g}",
            trials=TRIALS,
            seeds=SEARCH_SEEDS,
            pruner="none",
            confirm_seeds="none",
            jobs=self._jobs,
            out=search_folder(self.folder, policy),
            say=lambda text: self._say(f"{network.scenario}: {policy}: {text}"),
        )
        return None if tuned.best is None else [f"{k}={v}" for k, v in tuned.best.items()]

    def confirm(self, name: str, sets: Sequence[str]) -> None:
        """The runs on new seeds."""
        self._runs(name, (*sets, *self.network.confirmed), NEW_SEEDS)

    def _runs(self, name: str, sets: Sequence[str], seeds: Sequence[int]) -> list[Json]:
        """The summaries of some runs, which are kept."""

        def one(seed: int, stop: threading.Event) -> Json | None:
            return self._run(name, [*sets, QUIET], seed, stop)

        done, _ = side_by_side(one, seeds, self._jobs)
        found = [summary for summary in done if summary is not None]
        if len(found) < len(seeds):
            raise KeyboardInterrupt
        return found

    def _run(self, name: str, sets: list[str], seed: int, stop: threading.Event) -> Json | None:
        """A run's summary; None if it was interrupted."""

        def go_on(_: Progress) -> None:
            if stop.is_set():
                raise KeyboardInterrupt

        file = run_file(self.folder, name, seed)
        made_of = {"version": core.__version__, "set": sets, "seed": seed}
        if file.exists():
            kept: Json = json.loads(file.read_text(encoding="utf-8"))
            if all(kept[key] == value for key, value in made_of.items()):
                summary: Json = kept["summary"]
                return summary
        scenario = prepared(self.network.scenario, seed, sets, ())
        result = run_to(None, scenario, keep=False, progress=go_on)
        if result.status == "interrupted":
            return None
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as partial:
            partial.write_text(json.dumps({**made_of, "name": name, "summary": result.summary}))
        self._say(f"{self.network.scenario}: {name}, seed {seed}")
        return result.summary


def main() -> None:
    """Makes what is asked for."""
    asked = parser_of(__doc__, "network", NETWORKS).parse_args()
    for name in asked.names or NETWORKS:
        Work(NETWORKS[name], asked.folder / name, asked.jobs, _say).make()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    main()
