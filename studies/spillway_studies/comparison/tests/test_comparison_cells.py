"""The comparison of all policies: every run is what the page says."""

import pytest

from cells import ABM_PROGRAM, LEARN_DEMANDS, Told, wrong
from made_up import made_up
from spillway_studies.comparison import figures as comparison
from spillway_studies.credence.figures import models

# "Every sharing policy of this program, with its defaults", in the order of the page's tables.
POLICIES = (
    *("cs", "sp", "dt", "harmonic", "lqd", "followlqd", "credence", "blind-trust", "edt", "fab"),
    *("abm", "abm, as in its program", "smartbuf", "smartbuf, demands", "cbm"),
)
TIERS = "credence, a model for each tier"
DEMANDS = {key.replace("leaf.", "switch."): value for key, value in LEARN_DEMANDS.items()}


def schemes(place="switch", acks=True):
    """All policies, of the switches or of leaves; acks have a queue of their own, or not."""
    # Acks have the alpha of first packets in ABM's program.
    queues = {"switch.sharing.alpha": [1024, 0.5]} if acks else {}
    own = {
        "abm, as in its program": {"switch.sharing": "abm"} | queues | ABM_PROGRAM,
        "smartbuf, demands": {"switch.sharing": "smartbuf"} | DEMANDS,
    }
    return {
        policy: {
            key.replace("switch", place): value
            for key, value in own.get(policy, {"switch.sharing": policy}).items()
        }
        for policy in POLICIES
    }


EVERY = schemes() | {TIERS: {"switch.sharing": "credence"}}
# "There the spines have DT, and the leaves the policy in question"; "a forest that was trained
# there stands beside it".
OF_LEAVES = schemes("leaf", acks=False) | {
    "credence, trained here": {"leaf.sharing": "credence", "leaf.sharing.model": "smartbuf"}
}


def sizes(learns, counts, seeds, quick):
    """What is counted, in ms, after the time in which Smartbuf learns; and at scale quick."""
    page = (seeds, {"warmup": f"{learns}ms", "duration": f"{learns + counts}ms"})
    first, then = quick
    return {
        "quick": ((1, 2, 3), {"warmup": f"{first}ms", "duration": f"{first + then}ms"}),
        "page": page,
        "full": page,
    }


# "250 ms and five seeds in the three networks, after 500 ms (Smartbuf's network: 600 ms); in the
# sweeps 100 ms and three seeds after 500 ms."
FIVE, THREE = (1, 2, 3, 4, 5), (1, 2, 3)
NETWORK = sizes(500, 250, FIVE, quick=(100, 50))
SMARTBUF_NETWORK = sizes(600, 250, FIVE, quick=(120, 50))
SWEEP = sizes(500, 100, THREE, quick=(100, 50))
DROPS = {"record.drops": True}


def sweep(points):
    return Told("credence", EVERY, points, DROPS, scales=SWEEP)


TOLD = {
    "comparison/credence": Told("credence", EVERY, {"Credence": {}}, DROPS, scales=NETWORK),
    "comparison/cbm": Told("cbm", schemes(), {"CBM": {}}, DROPS, scales=NETWORK),
    "comparison/smartbuf": Told(
        "smartbuf", OF_LEAVES, {"Smartbuf": {}}, DROPS, scales=SMARTBUF_NETWORK
    ),
    "comparison/load": sweep(
        {f"load {load}%": {"traffic.websearch.load": load / 100} for load in (20, 40, 60, 80)}
    ),
    "comparison/burst": sweep(
        {f"burst {part}%": {"traffic.incast.burst": f"{part}%"} for part in (25, 50, 75, 100)}
    ),
    # "A burst stays 512 KB."
    "comparison/buffer": sweep(
        {
            f"buffer {size} KB": {
                "switch.buffer": f"{size}KB/port/Gbps",
                "traffic.incast.burst": "512KB",
            }
            for size in (1.28, 2.56, 3.84, 7.68)
        }
    ),
}


@pytest.fixture
def traced(monkeypatch):
    yield from made_up(monkeypatch, models)


@pytest.mark.parametrize("figure", comparison.FIGURES, ids=lambda figure: figure.name)
def test_every_run_is_what_is_told(traced, figure):
    """All but which files the models for the tiers are: `test_credence_training.py` looks there."""
    found = wrong(figure, TOLD[figure.name])
    trained = {cell: set(what) for cell, what in found.items() if cell[1] == TIERS}
    assert list(found) == list(trained)
    for keys in trained.values():
        assert keys == {"leaf.sharing.model", "spine.sharing.model"}
    assert len(trained) == (len(figure.points) if TIERS in TOLD[figure.name].schemes else 0)
    # "With ten times the queries": 20 for 2.
    queries = ("traffic.incast.queries_per_host_per_s=20",)
    assert traced == ([(1001, "250ms", 50, queries)] if trained else [])
