"""The common parts of PRED's figures: networks, AQMs, loads, metrics."""

from dataclasses import dataclass, replace

from spillway_studies.claims import MeanTime, Panel, Point, Run, Scale, Scheme, TailTime

LEAF_SPINE = Run("pred", ("record.drops=false",))
"""The network and traffic of section 6.3.1; the scenario's file says what is not in the text."""
AT_100_GBPS = Run("pred-100g", ("record.drops=false",))
"""The network and traffic of section 6.3.4."""
INCAST = Run("pred-incast", ("record.drops=false",))
"""The 16-to-1 topology of section 6.3.2."""


def scheme(name: str, kind: str, *parameters: str, style: int) -> Scheme:
    """An AQM of all switches."""
    sets = (f"switch.aqm={kind}", *(f"switch.aqm.{parameter}" for parameter in parameters))
    return Scheme(name, sets, style=style)


def pred(name: str, *parameters: str, style: int) -> Scheme:
    """PRED, or parts of it, with the parameters of section 4.3."""
    return scheme(name, "pred", "preset=paper", *parameters, style=style)


def red(lambda_: float, *, style: int) -> Scheme:
    """RED in point-slope form, with PRED's own ends.

    The paper gives no `min` for it. Its lambda has the unit that PRED's has here, 100 KB, which is
    ten times a slope per MB.
    """
    name = f"RED ({lambda_:g})"
    ends = ("min=15KB", "max=500KB", "not_ect=pass")
    slope = f"slope={float(f'{10 * lambda_:.6g}')}"
    return scheme(name, "red", "form=point-slope", slope, *ends, style=style)


PRED = pred("PRED", style=3)
BOUNDED = replace(
    pred("PRED, min to 70", "min_max=70pkt", style=10),
    exploratory="the bound of min, since without one it rises to max, at light loads with most "
    "seeds",
)
"""PRED whose `min` rises to ECN's threshold at most. The paper names no bound."""
FCS = pred("only FCS", "qla=false", style=8)
QLA = pred("only QLA", "fcs=false", style=9)
ECN = scheme("ECN", "ecn", "threshold=70pkt", style=0)
ECN_SHARP = scheme("ECN#", "ecn-sharp", "instant=80us", "target=10us", "interval=150us", style=1)
CODEL = scheme("CoDel", "codel", "target=10us", "interval=150us", "not_ect=pass", style=2)
RED_01, RED_065, RED_1, RED_165 = (
    red(lambda_, style=style) for lambda_, style in ((0.1, 4), (0.65, 5), (1.0, 6), (1.65, 7))
)
REDS = (RED_01, RED_065, RED_1, RED_165)
"""The slopes of RED with DCTCP that the paper names, but for the 0.2 of Figure 11. Which of them
its Figures 14 and 18 show, it does not say."""


@dataclass(frozen=True)
class Workload:
    """Sizes of messages, and how many of them a run has."""

    sizes: str
    mean_bytes: float
    flows: int
    """Expected from the beginning of a run to its end."""

    def span(self, load: float, gbps: float) -> tuple[str, str, str]:
        """A run's times. Of its flows the first twentieth is not counted."""
        ms = round(1000 * self.flows * 8 * self.mean_bytes / (load * gbps * 1e9))
        return f"warmup={ms // 20}ms", f"duration={ms}ms", f"stop={ms + 60_000}ms"

    def at(self, load: float, gbps: float = 10) -> Point:
        """A load of the receiver's line, with as many flows as at any other."""
        sets = (f"traffic.messages.sizes={self.sizes}", f"traffic.messages.load={load:g}")
        label = f"{load:.0%}"
        return Point(
            {"load": load},
            (*sets, *self.span(load, gbps)),
            {"load": f"load {label}"},
            {"load": label},
        )

    def scales(self) -> dict[str, Scale]:
        """Five seeds of all flows, or three of a fifth of them."""
        few = (f"traffic.messages.flows={self.flows // 5}",)
        whole = Scale((1, 2, 3, 4, 5))
        return {"quick": Scale((1, 2, 3), few), "full": whole, "page": whole}


# Means of the bundled distributions. 55% of web search's flows, and 82% of data
# mining's, have at most 100 KB: 5,200 and 3,100 with each seed.
WEBSEARCH = Workload("websearch-dctcp", 1_711_250, 10_000)
DATAMINING = Workload("datamining-vl2", 12_658_199, 4_000)

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
HIGHEST = {"load": 0.9}

SHORT, SHORT_MEAN = TailTime("short", 0.99), MeanTime("short")
LONG_MEAN, ALL_MEAN = MeanTime("long"), MeanTime("all")

PANELS = (
    Panel(SHORT, "(a) short flows, p99"),
    Panel(SHORT_MEAN, "(b) short flows, mean"),
    Panel(LONG_MEAN, "(c) long flows, mean"),
    Panel(ALL_MEAN, "(d) all flows, mean"),
)


def loads(workload: Workload) -> tuple[Point, ...]:
    """Loads of the receiver's line of 10 Gbps."""
    return tuple(workload.at(load) for load in LOADS)


ABOUT = (
    "Short flows have at most 100 KB, long ones at least 1 MB; the text's large flows are taken by "
    "their mean. Times are told, and not their ratios to PRED's."
)
