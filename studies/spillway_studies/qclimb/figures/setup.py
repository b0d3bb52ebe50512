"""The common parts of QCLIMB's figures: networks, schemes, workloads, metrics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spillway_studies.claims import MeanTime, Number, Panel, Point, Run, Scale, Scheme, TailTime

TESTBED = Run("qclimb-testbed", ("record.drops=false",))
"""The testbed of the slides, simulated; the scenario's file says what is not on the slides."""
SIMULATION = Run("qclimb", ("record.drops=false",))
"""The simulated network of the slides."""

_TRAFFIC = "traffic.websearch"
_TAGGING = "transport.tagging"


def ladder(thresholds: str | Iterable[int]) -> str:
    """Thresholds as scenarios have them: published ones by their name, others in bytes."""
    if isinstance(thresholds, str):
        return f"'{thresholds}'"
    return "[" + ",".join(f"'{size}B'" for size in thresholds) + "]"


def tagger(kind: str, thresholds: str | Iterable[int] | None = None) -> str:
    """A tagger whose best level has the queue of acks; without thresholds it has its own.

    SRPT takes predictions for sizes.
    """
    own = "" if thresholds is None else f",thresholds={ladder(thresholds)}"
    own += ",size='predicted'" if kind == "srpt" else ""
    return f"{_TAGGING}={{kind='{kind}'{own},acks='with-first'}}"


PIAS = Scheme("PIAS", (tagger("pias"),), style=0)
QCLIMB = Scheme("QCLIMB", (), style=3)
PERFECT = Scheme("QCLIMB-PS", (tagger("qclimb-ps"),), style=8)
FACE_VALUE = Scheme(
    "face value",
    (f"{_TRAFFIC}.bound={{kind='miss',least=0.5,misses=0.5,excess=9.0}}",),
    style=5,
)
"""A prediction taken as the bound: half of them are ten times the size, as an estimate may be."""
FLUX = Scheme("Flux in levels", (tagger("srpt"),), style=6)
"""Predictions taken as sizes: a level by what is left of them, and more when that is sent."""
PFABRIC_NETWORK = (
    *("switch.aqm=none", "switch.scheduling=pfabric", "switch.sharing=pfabric"),
    *("switch.queues_per_port=1", "switch.data_queue=0", "switch.buffer=unlimited"),
    *("nic.scheduling=pfabric", "nic.queues=1", "nic.data_queue=0", "nic.queue_limit=256KB"),
    *("transport.kind=pfabric", "transport.tagging=fixed"),
)
PFABRIC = Scheme("pFabric", (*PFABRIC_NETWORK, f"{_TRAFFIC}.bound=none"), style=2)
"""pFabric with its own transport, one path for each flow, and two BDPs in hosts as in switches."""
OF_SPINES = ("nic.queue_limit=89KB",)
"""What is different for it in the network with spines, whose BDP is smaller."""

TAGGED = (PIAS.name, QCLIMB.name, PERFECT.name, FACE_VALUE.name)


@dataclass(frozen=True)
class Length:
    """How long a run is. It begins with an empty network."""

    flows: int
    """The number of flows expected from the beginning of a run to its end."""
    unmeasured: int = 5
    """The percentage of its time, at its beginning, whose flows are not measured."""


def _settled(flows: int) -> Length:
    """A run with so many flows whose network has filled before flows are measured."""
    return Length(flows, unmeasured=30)


@dataclass(frozen=True)
class Workload:
    """Sizes of flows, PIAS's thresholds for them, and how many of them a run has."""

    name: str
    sizes: str
    mean_bytes: float
    plain: Length
    settled: Length
    """The length of a run on the testbed whose network fills before flows are measured."""
    settled_in_fabric: Length
    """The same in the network with spines, which has 18 times as many hosts."""

    def published(self, load: float) -> str:
        """The name of PIAS's thresholds for a load."""
        return f"{self.name}-{load:g}"

    def sets(self, load: float, gbps: float, length: Length) -> tuple[str, ...]:
        """Assignments for a run of this length at a load of lines with this total rate."""
        ms = round(1000 * length.flows * 8 * self.mean_bytes / (load * gbps * 1e9))
        warmup = f"{ms * length.unmeasured // 100}ms" if length.unmeasured else "0us"
        return (
            *(f"{_TRAFFIC}.sizes={self.sizes}", f"{_TRAFFIC}.load={load:g}"),
            *(f"warmup={warmup}", f"duration={ms}ms", f"stop={ms + 20_000}ms"),
        )

    def at(
        self,
        load: float,
        gbps: float,
        *,
        spines: bool = False,
        settled: bool = False,
        tagged: Sequence[str] = TAGGED,
        pfabric: bool = True,
    ) -> Point:
        """A load of lines with this total rate, and PIAS's thresholds for it.

        `tagged` are the schemes with thresholds. In the network with spines pFabric, if it is
        compared, has other settings.
        """
        filled = self.settled_in_fabric if spines else self.settled
        sets = self.sets(load, gbps, filled if settled else self.plain)
        sinks = f"{_TAGGING}.thresholds={ladder(self.published(load))}"
        of_scheme = dict.fromkeys(tagged, (sinks,))
        if spines and pfabric:
            of_scheme[PFABRIC.name] = OF_SPINES
        label = f"{load:.0%}"
        return Point(
            {"load": load}, sets, {"load": f"load {label}"}, {"load": label}, of_scheme=of_scheme
        )


# Means of the bundled distributions. 55% of web search's flows and 82% of data
# mining's have at most 100 KB.
WEBSEARCH = Workload(
    *("websearch", "websearch-pfabric", 1_665_831),
    plain=Length(3_000),
    settled=_settled(5_000),
    settled_in_fabric=_settled(20_000),
)
DATAMINING = Workload(
    *("datamining", "datamining-pfabric", 7_470_236),
    plain=Length(1_500),
    settled=_settled(1_500),
    settled_in_fabric=_settled(20_000),
)

LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""The loads for which PIAS's thresholds are published."""

_WHOLE = Scale((1, 2, 3, 4, 5))
SCALES = {"quick": Scale((1,)), "page": _WHOLE, "full": _WHOLE}

SHORT, SHORT_MEAN = TailTime("short", 0.99), MeanTime("short")
LONG_MEAN, ALL_MEAN = MeanTime("long"), MeanTime("all")
REPAIRS = Number("repairs.all.repairs_by_timeout", "packets sent again after timeouts", "packets")
FOUND = Number("repairs.all.repairs_by_detection", "packets sent again, found lost", "packets")
"""How many packets went again for a loss that acks showed."""
SHORT_CLIMBING, ALL_CLIMBING = (
    Number(f"climbing.{of}.share", f"share of {of} flows' time spent climbing", "%", 100)
    for of in ("short", "all")
)
"""Known where `record.climbing` is true."""

PANELS = (
    Panel(SHORT_MEAN, "(a) short flows, mean"),
    Panel(SHORT, "(b) short flows, p99", is_log=True),
    Panel(LONG_MEAN, "(c) long flows, mean"),
    Panel(ALL_MEAN, "(d) all flows, mean"),
    Panel(FOUND, "(e) sent again, found lost"),
    Panel(REPAIRS, "(f) sent again after timeouts"),
)

CLASSES = (
    "Short flows have at most 100 KB, long ones at least 1 MB; the slides do not say what theirs "
    "have."
)
ABOUT = (
    f"{CLASSES} The slides' jobs are not public: sizes are those of PIAS's two distributions, and "
    "a bound is drawn between 80% and 100% of the size. Thresholds are PIAS's for each load."
)
