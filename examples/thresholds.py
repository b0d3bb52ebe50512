"""Thresholds of PIAS in the packet simulator: the comparison of docs/thresholds.md.

python examples/thresholds.py websearch 0.8 1s
"""

import sys
from collections.abc import Iterator, Sequence

import numpy as np

import spillway
from spillway import thresholds

SCENARIO = """
name = "thresholds"
stop = "60s"
[topology]
kind = "star"
hosts = 16
host_rate = "10Gbps"
link_delay = "10us"
[switch]
buffer = "unlimited"
queue_limit = "unlimited"
queues_per_port = 9
scheduling = "strict"
sharing = "cs"
aqm = { kind = "ecn", threshold = "65pkt", scope = "port" }
[nic]
queues = 9
[transport]
kind = "dctcp"
mss = "1460B"
header = "40B"
ack_size = "40B"
initial_window = "70pkt"
recovery.min_rto = "20ms"
[[traffic]]
name = "all"
kind = "poisson"
load_of = "host"
destinations = "uniform"
"""


def ladders(workload: str, load: float) -> Iterator[tuple[str, Sequence[int]]]:
    """Names and thresholds: none, the published ones, and the best by each objective."""
    found = thresholds.find(f"{workload}-pfabric", load=load)
    for ladder in (found.one_queue, *found.published):
        yield ladder.name, ladder.thresholds
    for name in ("product", "left-over", "flow-count", "ml-fcfs"):
        yield f"best by {name}", found.optima[name].thresholds


def measure(
    workload: str, load: float, duration: str, ends: Sequence[int], seeds: Sequence[int]
) -> tuple[float, float]:
    """The mean completion time in milliseconds, and the mean slowdown, over some seeds."""
    times, slowdowns = [], []
    for seed in seeds:
        changes = {
            "duration": duration,
            "traffic.all.sizes": f"{workload}-pfabric",
            "traffic.all.load": load,
            "transport.tagging.kind": "pias",
            "transport.tagging.thresholds": [f"{end}B" for end in ends],
        }
        result = spillway.run(SCENARIO, set=changes, seed=seed)
        times.append(result.summary["fct_us"]["all"]["mean"] / 1000)
        slowdowns.append(result.summary["fct_slowdown"]["all"]["mean"])
    return float(np.mean(times)), float(np.mean(slowdowns))


def main(workload: str, load: str, duration: str) -> None:
    """Prints a line for every ladder."""
    for name, ends in ladders(workload, float(load)):
        time, slowdown = measure(workload, float(load), duration, ends, (1, 2, 3))
        sys.stdout.write(f"{name:20} mean {time:.3f} ms, slowdown {slowdown:.2f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
