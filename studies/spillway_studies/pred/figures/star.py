"""Small networks around one switch, what is measured at their receiver, and its plots over time."""

import tomllib
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway.show.drawing import drawing_of
from spillway.show.palette import COLOURS
from spillway_studies.claims import (
    Axes,
    Drawing,
    Metric,
    Number,
    Point,
    Results,
    Run,
    Scale,
    Scheme,
    Value,
    basis,
    finish,
    samples,
    style_of,
)

Floats: TypeAlias = NDArray[np.float64]

SCENARIO = "incast-star"
"""DCTCP senders around one switch, into host 0; its file has what is not set here."""
RECEIVER = 0
PACKET = 1500
"""Bytes of a full packet on the wire: queues are told in packets of this size."""
ENDLESS = "1000GB"


def network(
    senders: int, delay: str = "10us", rate: str = "10Gbps", sample: str = "10us"
) -> tuple[str, ...]:
    """A receiver and its senders, and how often its queue and its AQM are looked at."""
    return (
        f'topology={{ kind = "star", hosts = {senders + 1}, host_rate = "{rate}", '
        f'link_delay = "{delay}" }}',
        "switch.queue_limit=unlimited",
        f"record.queue_interval={sample}",
        "record.empty_queues=true",
        f"record.aqm_interval={sample}",
        "record.drops=false",
    )


def section(name: str, flows: int | str, **keys: str | float) -> str:
    """A section of flows into the receiver that begin together, as a table for `traffic`.

    Each has a sender of its own. Without further keys they are endless.
    """
    text: dict[str, str | float] = {
        "sizes": ENDLESS,
        "interval": "1ms",
        "queries": 1,
        "jitter": "1ms",
        **keys,
    }
    if "load" in text:
        del text["interval"], text["queries"]
    pairs = (
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
        for key, value in text.items()
    )
    fan_in = f'"{flows}"' if isinstance(flows, str) else flows
    return (
        f'{{ name = "{name}", kind = "incast", receivers = [{RECEIVER}], senders = "any", '
        f"fan_in = {fan_in}, {', '.join(pairs)} }}"
    )


def traffic(*sections: str) -> str:
    """The assignment of all traffic."""
    return f"traffic=[{', '.join(sections)}]"


def web_search(load: float) -> str:
    """All senders send web search as one Poisson process, at this load of the line."""
    return traffic(
        f'{{ name = "web", kind = "poisson", sizes = "websearch-dctcp", load = {load:g}, '
        f'load_of = "receiver", destinations = {RECEIVER} }}'
    )


def of_two(flows: int) -> str:
    """Endless flows by two senders, half of them each."""
    return traffic(section("flows", 2, queries=flows // 2, interval="10us"))


def with_flows(flows: int, *assignments: str) -> Point:
    """A point of this many endless flows by two senders."""
    many = "above 15" if flows > 15 else "3 to 15" if flows > 2 else "2"
    least = "above 2" if flows > 2 else "2"
    values: dict[str, Value] = {"flows": flows, "range": many, "least": least}
    sets = (of_two(flows), *assignments)
    return Point(values, sets, {"flows": f"N = {flows}"}, {"flows": str(flows)})


def with_senders(scheme: Scheme, flows: int, style: int) -> Scheme:
    """A scheme with this many senders of an endless flow each."""
    sets = (*scheme.assignments, traffic(section("flows", flows)))
    return replace(scheme, name=f"{scheme.name}, N = {flows}", assignments=sets, style=style)


def run(function: str, *assignments: str) -> Run:
    """The runs of a figure, and the function of its module that measures them."""
    return Run(SCENARIO, assignments, f"spillway_studies.pred.figures.{function}")


def steady(*assignments: str) -> Run:
    """Runs whose receiver's queue is measured from the warm-up on."""
    return run("star:numbers", *assignments)


def aqm(name: str, kind: str, *parameters: str, style: int) -> Scheme:
    """A scheme of the switch; PRED's defaults are those of the text."""
    text = ("preset=paper",) if kind == "pred" else ()
    sets = (
        f"switch.aqm={kind}",
        *(f"switch.aqm.{parameter}" for parameter in (*text, *parameters)),
    )
    return Scheme(name, sets, style=style)


def red(slope: float, style: int) -> Scheme:
    """RED with an unchanging slope, told per 100 KB as PRED's lambda is.

    The text has neither its min nor its max: those of PRED, 10 packets and 500 KB.
    """
    return aqm(
        f"RED ({slope:g})",
        "red",
        "form=point-slope",
        "min=15KB",
        "max=500KB",
        f"slope={10 * slope:g}",
        "not_ect=pass",
        style=style,
    )


PRED = aqm("PRED", "pred", style=3)
"""Its periods follow the network's base RTT, as the text says."""
ROUND_TRIP_US = 80
"""The only round trip that the text names (Figure 25); that of these stars is shorter."""
PRED_80 = replace(
    aqm(
        "PRED (80 us)",
        "pred",
        f"t_fcs={1.25 * ROUND_TRIP_US:g}us",
        f"t_qla={5 * ROUND_TRIP_US}us",
        style=7,
    ),
    exploratory="its periods, of a round trip of 80 us: with those of the star's it diverges",
)
ABOUT = (
    "PRED's periods are those of the base RTT. With (80 us) they are those of 80 us, the only "
    "round trip that the text names."
)
FCS = aqm("FCS alone", "pred", "qla=false", style=2)
QLA = aqm("QLA alone", "pred", "fcs=false", style=4)
ECN = aqm("ECN", "ecn", "threshold=70pkt", style=0)
ECN_SHARP = aqm("ECN#", "ecn-sharp", "instant=80us", "target=10us", "interval=150us", style=1)
CODEL = aqm("CoDel", "codel", "target=10us", "interval=150us", "not_ect=pass", style=5)

MEAN = Number("queue.mean", "mean queue", "packets")
DEVIATION = Number("queue.deviation", "standard deviation of the queue", "packets")
AMPLITUDE = Number("queue.amplitude", "99th less 1st percentile of the queue", "packets")
TAIL = Number("queue.tail", "99th percentile of the queue", "packets")
GOODPUT = Number("goodput_gbps.all", "throughput", "Gbps")
"""Payload; a line of 10 Gbps carries 9.65 of it in full packets."""
SLOPE = Number("aqm.slope", "slope in use, lambda f(N)", "per 100 KB")
LAMBDA = Number("aqm.lambda", "lambda", "per 100 KB")
LEAST = Number("aqm.min", "queue up to which nothing is marked", "packets")
FLOWS = Number("aqm.flows", "flows counted", "flows")


def lasting(warmup_ms: float, end_ms: float, seeds: tuple[int, ...] = (1, 2, 3, 4, 5)) -> Scale:
    """Runs of this length, measured from the warm-up on."""
    return Scale(seeds, (f"warmup={warmup_ms:g}ms", f"duration={end_ms:g}ms", f"stop={end_ms:g}ms"))


def queue(result: Result, queue_class: int | None = None) -> tuple[Floats, Floats]:
    """Times in microseconds, and the receiver's queue in packets.

    Of several queues it is their sum, or one of them.
    """
    table = result.queues
    is_own = table["port"].to_numpy() == RECEIVER
    if queue_class is not None:
        is_own &= table["queue"].to_numpy() == queue_class
    time, place = np.unique(table["time_ps"].to_numpy()[is_own], return_inverse=True)
    held = np.bincount(place, table["bytes"].to_numpy()[is_own], minlength=len(time))
    return time / 1e6, held / PACKET


def column(result: Result, name: str) -> tuple[Floats, Floats]:
    """Times in microseconds, and a number of the receiver's AQM; nothing if it has none."""
    table = result.aqm
    is_own = table["port"].to_numpy() == RECEIVER
    values = table[name].to_numpy()[is_own].astype(float)
    is_known = ~np.isnan(values)
    return table["time_ps"].to_numpy()[is_own][is_known] / 1e6, values[is_known]


def about(held: Floats) -> dict[str, float]:
    """Numbers about samples of a queue."""
    low, high = np.percentile(held, (1, 99), method="inverted_cdf")
    return {
        "queue.mean": float(held.mean()),
        "queue.deviation": float(held.std()),
        "queue.amplitude": float(high - low),
        "queue.tail": float(high),
    }


@basis.results(1)
def numbers(result: Result) -> dict[str, float]:
    """The receiver's queue, and what its AQM marks by, from the warm-up on."""
    _, held = queue(result)
    means = {
        "slope": column(result, "slope_per_mb")[1] / 10,
        "lambda": column(result, "lambda")[1],
        "min": column(result, "min_bytes")[1] / PACKET,
        "flows": column(result, "flows")[1],
    }
    return about(held) | {
        f"aqm.{name}": float(values.mean()) for name, values in means.items() if len(values)
    }


def thinned(
    time_us: Floats, values: Floats, begin_us: float, end_us: float, step_us: float
) -> list[float]:
    """The last sample in each step of this span, and the one before if a step has none."""
    if not len(values):
        return []
    edges = np.arange(begin_us + step_us, end_us + step_us / 2, step_us)
    place = np.searchsorted(time_us, edges, side="left") - 1
    shown: list[float] = values[np.maximum(place, 0)].tolist()
    return shown


def over_time(result: Result, begin_us: float, end_us: float, step_us: float) -> dict[str, float]:
    """The queue, lambda, min in packets, and the counted flows as series."""
    time, least = column(result, "min_bytes")
    sampled = {
        "queue": queue(result),
        "lambda": column(result, "lambda"),
        "min": (time, least / PACKET),
        "flows": column(result, "flows"),
    }
    return samples.series(
        {
            name: thinned(time, values, begin_us, end_us, step_us)
            for name, (time, values) in sampled.items()
        },
        step_us,
    )


def warmup_us(result: Result) -> float:
    """When the warm-up ends."""
    return quantity(tomllib.loads(result.scenario)["warmup"]) / 1e6


# Plots over time with the lines of several schemes in one panel -----------------------------------


@dataclass(frozen=True)
class Series:
    """A series of some schemes."""

    title: str
    unit: str
    series: str
    schemes: tuple[str, ...] = ()
    """Their names; by default all."""


@dataclass(frozen=True)
class Overlaid:
    """Panels with a line for each scheme, for the first point and seed, or for all seeds."""

    panels: tuple[Series, ...]
    metrics: tuple[Metric, ...] = ()
    begin_ms: float = 0.0
    every_seed: bool = False
    """A line for each seed, of the only scheme of a panel."""

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        seeds = results.seeds if self.every_seed else results.seeds[:1]
        named: set[str] = set()
        with drawing_of(7.0, 2.3 * len(self.panels) + 0.6) as drawing:
            axes = drawing.subplots(len(self.panels), 1, squeeze=False, sharex=True)[:, 0]
            for axis, panel in zip(axes, self.panels, strict=True):
                for number, scheme in enumerate(results.figure.schemes):
                    if panel.schemes and scheme.name not in panel.schemes:
                        continue
                    for place, seed in enumerate(seeds):
                        label = f"seed {seed}" if self.every_seed else scheme.name
                        colour = style_of(scheme, number)["color"]
                        if self.every_seed:
                            colour = COLOURS[place % len(COLOURS)]
                        self._line(axis, results, scheme, seed, panel.series, colour)
                        if label not in named:
                            # The legend is made from the first panel's lines.
                            axes[0].plot([], [], color=colour, label=label)
                            named.add(label)
                axis.set(title=panel.title, ylabel=panel.unit)
                axis.set_ylim(bottom=0)
            axes[-1].set_xlabel("time in ms")
            note = "" if self.every_seed else f"shown: seed {seeds[0]}"
            finish(drawing, results, axes[0], note)
        return drawing

    def _line(
        self, axis: Axes, results: Results, scheme: Scheme, seed: int, name: str, colour: str
    ) -> None:
        found = results.curve(0, scheme.name, seed, name)
        step = results.step_ms(0, scheme.name, seed)
        times = [self.begin_ms + step * (place + 1) for place in range(len(found))]
        axis.plot(times, found, color=colour, linewidth=0.8)
