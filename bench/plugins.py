"""How much slower plug-ins are: the examples beside the built-in algorithms that they repeat.

    python bench/plugins.py [--runs 5] [--set duration=5ms ...]

Runs are made in turn; user CPU seconds, medians, least and most in brackets.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from math import ceil
from pathlib import Path

import spillway
from spillway.plugins import Plugin, load

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MyDt = load(f"{EXAMPLES}/my_dt.py:MyDt")


class OpenDt(MyDt):  # type: ignore[misc, valid-type]
    """The same, which is not asked about packets that any alpha would let pass."""

    id = "open-dt"

    def open_below(self, capacity: int) -> int:
        """Where the threshold is above any packet's size."""
        bytes_needed: int = ceil(16385 / min(self.alpha, 1.0))
        return max(capacity - bytes_needed, 0)


TAGGED = (
    *("switch.queues_per_port=4", "switch.scheduling=strict", "nic.queues=4"),
    "transport.tagging={kind='pias',thresholds=['100KB','1MB']}",
)
"""PIAS with the thresholds of the example, whose section then replaces it."""

CASES: list[tuple[str, str, type[Plugin]]] = [
    ("switch.sharing", "dt", MyDt),
    ("switch.sharing", "dt", OpenDt),
    ("switch.sharing", "lqd", load(f"{EXAMPLES}/my_lqd.py:MyLqd")),
    ("switch.aqm", "ecn", load(f"{EXAMPLES}/my_ecn.py:MyEcn")),
    ("switch.scheduling", "dwrr", load(f"{EXAMPLES}/my_dwrr.py:MyDwrr")),
    ("transport.kind", "dctcp", load(f"{EXAMPLES}/my_dctcp.py:MyDctcp")),
    ("transport.recovery", "go-back-n", load(f"{EXAMPLES}/my_go_back_n.py:MyGoBackN")),
    ("transport.tagging", "pias", load(f"{EXAMPLES}/my_pias.py:MyPias")),
]


def user_seconds() -> float:
    """CPU seconds of this thread, without those of the kernel."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_utime


def measured(settings: list[str], plugins: list[type[Plugin]]) -> tuple[float, spillway.Result]:
    """The cost of a run, and its results."""
    begin = user_seconds()
    result = spillway.run("leaf-spine-128", set=settings, plugins=plugins)
    return user_seconds() - begin, result


def spread(seconds: list[float]) -> str:
    """The median, and the least and the most."""
    return f"{statistics.median(seconds):.3f} ({min(seconds):.3f} .. {max(seconds):.3f})"


def main() -> None:
    """Prints a row for every plug-in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--set", action="append", default=["duration=5ms"])
    given = parser.parse_args()
    for key, built_in, plugin in CASES:
        times: dict[str, list[float]] = {built_in: [], plugin.id: []}
        for _ in range(given.runs):
            is_tagger = key == "transport.tagging"
            in_queues = is_tagger or key == "switch.scheduling"
            sets = [*given.set, *TAGGED] if in_queues else given.set
            with_theirs = sets if is_tagger else [*sets, f"{key}={built_in}"]
            first, theirs = measured(with_theirs, [])
            second, own = measured([*sets, f"{key}={plugin.id}"], [plugin])
            if not own.flows.equals(theirs.flows):
                sys.exit(f"{plugin.id} is not {built_in}")
            times[built_in].append(first)
            times[plugin.id].append(second)
        ratio = statistics.median(times[plugin.id]) / statistics.median(times[built_in])
        hops = theirs.summary["packet_hops"]
        print(
            f"{built_in:9} {spread(times[built_in])}  {plugin.id:12} {spread(times[plugin.id])}"
            f"  {ratio:.1f} times  {hops:,} packet-hops"
        )


if __name__ == "__main__":
    main()
