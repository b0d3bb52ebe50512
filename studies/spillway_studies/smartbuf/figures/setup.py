"""The common parts of the figures: the network, the schemes, the loads, the percentiles."""

from dataclasses import replace

from spillway_studies.claims import (
    Number,
    Panel,
    Point,
    Run,
    Scale,
    Scheme,
    Tail,
    WithTimeout,
    lost,
)

SCENARIO = "smartbuf"
RUN = Run(SCENARIO, also="spillway_studies.claims.lost:numbers")
"""The network and traffic of section IV; the scenario's file says what is not in the text."""

BURSTS = replace(
    RUN,
    assignments=("record.bursts=20%",),
    also="spillway_studies.smartbuf.figures.bursts:numbers",
)
"""The same with numbers about bursts."""

LEAF = "switch.leaf.sharing"


def scheme(name: str, kind: str, *parameters: str, style: int) -> Scheme:
    """A scheme of the leaves. The spines always use DT."""
    sets = (f"{LEAF}={kind}", *(f"{LEAF}.{parameter}" for parameter in parameters))
    return Scheme(name, sets, style=style)


# The text takes the parameters of DT, EDT and FAB from their papers without repeating them. Alpha
# 0.5 is that of later evaluations; for EDT no number was found; FAB's are those of a later program.
EQUAL_SHARES = scheme("equal shares", "sp", style=6)
RTT_SHARES = scheme("RTT C / sqrt(N)", "sp", "form=rtt", style=7)
CS = scheme("complete sharing", "cs", style=5)
DT = scheme("DT", "dt", "alpha=0.5", style=0)
EDT = scheme("EDT", "edt", "alpha=0.5", style=1)
FAB = scheme("FAB", "fab", "alpha=0.5", style=2)
SMARTBUF = scheme("Smartbuf", "smartbuf", "alpha=0.5", style=3)
LEARN_DEMANDS = ("record=admitted+dropped", "key=at-detection", "key_quantum=1.0")
"""The reading that loses least: losses count, by the gradient at detection, with few keys."""
DEMANDS = replace(
    scheme("Smartbuf, demands", "smartbuf", "alpha=0.5", *LEARN_DEMANDS, style=4),
    exploratory="of all readings that were tried it is the one that loses least",
)


def at_load(load: float) -> Point:
    """A load of the uplinks: 80% of it are long flows, the rest single short flows and incasts."""
    shares = {"long": 0.8, "short": 0.1, "incast": 0.1}
    sets = (f"traffic.{name}.load={share * load:.4g}" for name, share in shares.items())
    label = f"{load:.0%}"
    return Point({"load": load}, tuple(sets), {"load": f"load {label}"}, {"load": label})


LOADS = tuple(at_load(load) for load in (0.2, 0.4, 0.6, 0.8, 0.9))
HIGH = at_load(0.8)


def incasts(fan_in: str, size: str = "") -> tuple[str, str]:
    """Another kind of queries, in words and as settings.

    `size` is that of all answers; by default they are as large as web search's short flows.
    `{load}` stands for their share of the uplinks.
    """
    number = f'"{fan_in}"' if ".." in fan_in else fan_in
    sizes = f'sizes = "{size}"' if size else 'sizes = "websearch", sizes_within = "1KB..32KB"'
    section = (
        f'name = "incast", kind = "incast", {sizes}, load = {{load}}, load_of = "uplink", '
        f'fan_in = {number}, senders = "other-racks"'
    )
    words = f"{fan_in.replace('..', ' to ')} x {size.replace('B', ' B') if size else 'web search'}"
    return words, section


def with_incasts(share: float, kind: tuple[str, str]) -> Point:
    """80% load: 64% are long flows, `share` incasts of this kind, the rest single flows."""
    words, section = kind
    sets = (
        *HIGH.assignments,
        f"traffic.incast={{ {section.format(load=share)} }}",
        f"traffic.short.load={0.16 - share:.4g}",
    )
    labels = {"share": f"{share:.1%} in incasts", "queries": words}
    return Point({"share": share, "queries": words}, sets, labels, {"share": f"{share:.1%}"})


AS_IN_SCENARIO = with_incasts(0.08, incasts("50..200"))
PLAUSIBLE = with_incasts(0.03, incasts("120", "14480B"))
"""Fewer incasts, all equal, each smaller than half a leaf's buffer."""

# Smartbuf learns from the beginning, but flows and losses of the first 20 ms (200 ms) do not count.
SCALES = {
    "quick": Scale((1, 2, 3), ("warmup=20ms", "duration=60ms")),
    "full": Scale((1, 2, 3), ("warmup=200ms", "duration=1s")),
}
# After 600 ms the mean prediction of 100 ms is within 2% of that of the previous 100 ms, at 80%
# load (`smartbuf/learning`).
HEADLINES = SCALES | {"page": Scale((1, 2, 3), ("warmup=600ms", "duration=700ms"))}
"""The scales of figures that the abstract rests on."""

SHORT = Tail("short+incast", 0.99)
LONG = Tail("long", 0.99)
TIMEOUTS = WithTimeout("short+incast")
DROPS = lost.PACKETS
MEAN_FIRST = Number("bursts.mean_error_first", "its mean error", "% of the demand", 100)
"""The error of the first threshold of a burst, taken as the prediction."""
COLLISIONS = Number("bursts.collisions", "queries that meet a burst", "% of the queries", 100)

PANELS = (
    Panel(SHORT, "(a) short flows and incasts, p99", is_log=True),
    Panel(Tail("incast", 0.99), "(b) incasts alone, p99", is_log=True),
    Panel(Tail("short", 0.99), "(c) single short flows, p99"),
    Panel(LONG, "(d) long flows, p99"),
)

ABOUT = (
    "The text gives neither the workload's mix nor the incasts nor the schemes' parameters: "
    "choices, in the scenario's file. Slowdowns are told, and not times."
)
