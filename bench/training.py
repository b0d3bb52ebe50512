"""The runs by whose profile `make pgo` and `make wheel` compile: python bench/training.py.

A compiler that has a profile makes rare what it does not find there, and so slower. Therefore every
algorithm is run for a moment.
"""

import json
import warnings
from collections.abc import Iterator

import spillway
from spillway import slotted
from spillway.base import core

DWRR = ("switch.queues_per_port=2", "switch.scheduling=dwrr")

SCENARIOS = (
    ("leaf-spine-128", "duration=20ms"),
    ("leaf-spine-128", "duration=5ms", "topology={kind='fat-tree',k=8}"),
    ("leaf-spine-128", "duration=5ms", *DWRR, "switch.aqm=mq-ecn"),
    ("credence", "duration=30ms"),
    ("incast-star", "duration=500ms", "stop=500ms"),
    ("rdma-leaf-spine", "duration=2ms"),
    ("rdma-leaf-spine", "duration=2ms", "switch.buffer=2MB"),
    ("rdma-training", "duration=10ms"),
    ("reverie", "duration=25ms"),
    ("five", "duration=20ms"),
    ("pfabric", "duration=5ms"),
    ("qclimb", "duration=5ms"),
)
CHOICES = (
    ("sharing", "switch.sharing", "credence", "duration=20ms"),
    ("aqm", "switch.aqm", "leaf-spine-128", "duration=5ms"),
    ("scheduling", "switch.scheduling", "leaf-spine-128", "duration=5ms", DWRR[0]),
    ("transport", "transport.kind", "leaf-spine-128", "duration=5ms"),
    ("recovery", "transport.recovery", "leaf-spine-128", "duration=5ms"),
    ("tagging", "transport.tagging", "five", "duration=10ms"),
    ("protection", "transport.protection", "leaf-spine-128", "duration=5ms"),
)
"""Kinds of algorithms: the key that names one, and where each is run."""
ELSEWHERE = {"pfabric", "mq-ecn"}
"""What does not fit there; `SCENARIOS` have it."""

SLOTTED = ("cs", "dt", "harmonic", "lqd", "followlqd", "credence")


def runs() -> Iterator[tuple[str, ...]]:
    """Scenarios, each with its settings."""
    yield from SCENARIOS
    catalogue = json.loads(core.catalogue())
    for kind, key, *run in CHOICES:
        ids = [row["id"] for row in catalogue[kind] if row["id"] not in ELSEWHERE]
        yield from ((*run, f"{key}={id}") for id in ids)


def halting() -> None:
    """A run that is looked at every 50 us."""
    signals = ["switch.queue_bytes", "flows_completed"]
    run = spillway.Simulation("leaf-spine-128", set=["duration=5ms"], signals=signals)
    while run.run_until(run.now + 50_000_000):
        run.observe(signals)


def in_slots() -> None:
    """The slotted model."""
    arrivals = slotted.Arrivals.generate("bursts", ports=16, buffer=512)
    labels = [False] * len(arrivals)
    for policy in SLOTTED:
        predictions = labels if policy == "credence" else None
        slotted.run(policy, arrivals, buffer=512, predictions=predictions)
    slotted.optimum(arrivals, buffer=512)


if __name__ == "__main__":
    warnings.simplefilter("ignore", spillway.ScenarioWarning)
    for scenario, *settings in runs():
        spillway.run(scenario, set=settings)
    halting()
    in_slots()
