"""Every sharing policy in the networks of three papers, and with single changes in one of them."""

from dataclasses import replace

from spillway_studies.claims import (
    Figure,
    Lines,
    Number,
    Panel,
    Point,
    Run,
    Scale,
    Scheme,
    Value,
    along,
    lost,
)
from spillway_studies.credence.figures import models
from spillway_studies.references import abm_program
from spillway_studies.smartbuf.figures.setup import LEARN_DEMANDS

SWITCH = "switch.sharing"
"""The key of the policy if all switches have the same."""

DEFAULTS = (
    *("cs", "sp", "dt", "harmonic", "lqd", "followlqd", "credence", "blind-trust"),
    *("edt", "fab", "abm", "smartbuf", "cbm"),
)
"""Policies with their default parameters."""

ABM_PROGRAM = "abm, as in its program"
SMARTBUF_DEMANDS = "smartbuf, demands"
TIERS = Scheme("credence, a model for each tier", (f"{SWITCH}=credence",), style=15)
"""Leaves use a forest trained on leaves' drops, and spines another."""
TRAINED: dict[str, Value] = {"duration": "250ms", "one_in": 50}
"""The training data of these forests (`credence/models`)."""


def schemes(key: str = SWITCH, ack_queues: bool = True) -> tuple[Scheme, ...]:
    """All policies, set by this key; `ack_queues` says whether acks have queues of their own."""
    found = [Scheme(policy, (f"{key}={policy}",)) for policy in DEFAULTS]
    # In the program acks have the alpha of first packets.
    acks = (f"{key}.alpha=[1024, 0.5]",) if ack_queues else ()
    program = (sets.replace(SWITCH, key) for sets in abm_program.ALL)
    found.insert(DEFAULTS.index("abm") + 1, Scheme(ABM_PROGRAM, (f"{key}=abm", *acks, *program)))
    demands = (f"{key}.{parameter}" for parameter in LEARN_DEMANDS)
    found.insert(-1, Scheme(SMARTBUF_DEMANDS, (f"{key}=smartbuf", *demands)))
    return tuple(replace(scheme, style=place) for place, scheme in enumerate(found))


def run_of(scenario: str) -> Run:
    """A run that also counts the losses in the window of measurement.

    Of some runs with half a million flows, and dozens of runs, only numbers are kept.
    """
    tiers = f"{models.__name__}:{models.tiers.__name__}"
    return Run(
        scenario,
        ("record.drops=true",),
        also=f"{lost.__name__}:{lost.numbers.__name__}",
        prepare={TIERS.name: tiers},
        keeps_flows=False,
    )


ABOUT = (
    "Policies have their defaults. What is sent or lost before the warm-up is over is not counted: "
    "until then Smartbuf learns. Of Smartbuf there are two readings, and ABM is also there as in "
    "its authors' program."
)

TOLD = ("fct_slowdown.", "query_us.", "goodput_gbps.all", "lost.")
"""The beginnings of the paths of numbers that the page shows of single runs."""


# The networks ------------------------------------------------------------------------------------

SEEDS = (1, 2, 3, 4, 5)
TRAINED_HERE = "credence, trained here"
LEAF = "switch.leaf.sharing"


def _network(name: str, learns_ms: int, every: tuple[Scheme, ...], about: str) -> Figure:
    """250 ms of a scenario, after the time that Smartbuf needs to learn."""

    def scale(learns_ms: int, measured_ms: int, seeds: tuple[int, ...]) -> Scale:
        times = (f"warmup={learns_ms}ms", f"duration={learns_ms + measured_ms}ms")
        return Scale(seeds, times, TRAINED)

    full = scale(learns_ms, 250, SEEDS)
    return Figure(
        name=f"comparison/{name}",
        title=f"All sharing policies in the network of {about}",
        source=f"none: the scenario {name}",
        about=ABOUT,
        measure=run_of(name),
        points=(Point({"network": name}, labels={"network": about}),),
        schemes=every,
        scales={
            "quick": scale(learns_ms // 5, 50, SEEDS[:3]),
            "page": full,
            "full": full,
        },
        tells=TOLD,
    )


_NETWORKS = (
    _network("credence", 500, (*schemes(), TIERS), "Credence"),
    _network("cbm", 500, schemes(), "CBM"),
    # There the spines use DT, and the leaves the policy in question. `smartbuf/learning` shows that
    # Smartbuf learns for that long. In the other two networks the mean prediction of 100 ms is
    # within 2% of that of the previous 100 ms after 400 and 500 ms.
    _network(
        "smartbuf",
        600,
        (
            *schemes(LEAF, ack_queues=False),
            Scheme(TRAINED_HERE, (f"{LEAF}=credence", f"{LEAF}.model=smartbuf"), style=15),
        ),
        "Smartbuf",
    ),
)


# Credence's network over load, burst and buffer ---------------------------------------------------

LOADS = along(
    "load",
    (0.2, 0.4, 0.6, 0.8),
    "traffic.websearch.load={}",
    label="load {:.0%}",
    tick="{:.0%}",
)
BURSTS = along(
    "burst_percent",
    (25, 50, 75, 100),
    "traffic.incast.burst={}%",
    label="burst {}%",
    tick="{}%",
)
# A burst keeps the size that it has with 5.12 KB: half of a leaf's 1,024,000 bytes.
BUFFERS = along(
    "buffer_kb",
    (1.28, 2.56, 3.84, 7.68),
    "switch.buffer={}KB/port/Gbps",
    "traffic.incast.burst=512KB",
    label="buffer {:g} KB",
    tick="{:g} KB",
)

_FULL = Scale((1, 2, 3), ("warmup=500ms", "duration=600ms"), TRAINED)
SCALES = {
    "quick": Scale((1, 2, 3), ("warmup=100ms", "duration=150ms"), TRAINED),
    "page": _FULL,
    "full": _FULL,
}


def _p99(of: str) -> Number:
    return Number(f"fct_slowdown.{of}.p99", f"{of} flows' p99 slowdown", "slowdown")


PANELS = (
    Panel(_p99("incast"), "(a) incast flows, p99", is_log=True),
    Panel(_p99("short"), "(b) short flows, p99", is_log=True),
    Panel(_p99("long"), "(c) long flows, p99", is_log=True),
    Panel(Number("goodput_gbps.all", "goodput", "Gbps"), "(d) goodput"),
)


def _sweep(axis: str, points: tuple[Point, ...], label: str) -> Figure:
    name = axis.partition("_")[0]
    return Figure(
        name=f"comparison/{name}",
        title=f"All sharing policies in Credence's network, over the {name}",
        source="none: the scenario credence",
        about=ABOUT,
        measure=run_of("credence"),
        points=points,
        schemes=(*schemes(), TIERS),
        scales=SCALES,
        plot=Lines(PANELS, axis, label),
        tells=TOLD,
    )


FIGURES = (
    *_NETWORKS,
    _sweep("load", LOADS, "load of the uplinks, incasts aside"),
    _sweep("burst_percent", BURSTS, "burst, of the buffer"),
    _sweep("buffer_kb", BUFFERS, "buffer for each port and Gbps"),
)
