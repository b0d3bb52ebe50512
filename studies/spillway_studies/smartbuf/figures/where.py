"""Which scheme wins where: by the share of incasts, their fan-in, and their answers' size."""

from dataclasses import dataclass

import numpy as np

from spillway.show.drawing import drawing_of, log_scale
from spillway_studies.claims import Axes, Drawing, Figure, Metric, Results, Scale, finish, style_of
from spillway_studies.smartbuf.figures import setup
from spillway_studies.smartbuf.figures.figure8 import MEAN
from spillway_studies.smartbuf.figures.setup import CS, DEMANDS, DT, EQUAL_SHARES, SMARTBUF

SHARES = (0.015, 0.03, 0.08)
KINDS = (
    setup.incasts("50..200"),
    setup.incasts("120", "14480B"),
    setup.incasts("240", "14480B"),
    setup.incasts("120", "7240B"),
)
"""Incasts of the scenario; equal ones; twice as many answers; answers half as large."""


@dataclass(frozen=True)
class Map:
    """Tails over the share of incasts, a panel for each kind.

    Then over the share of flows with a timeout.
    """

    tail: Metric
    timeouts: Metric
    also: tuple[Metric, ...]
    """Metrics that are not drawn, but are among the numbers."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All metrics."""
        return (self.tail, self.timeouts, *self.also)

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        points = results.figure.points
        kinds = list(dict.fromkeys(str(point.values["queries"]) for point in points))
        columns = 3
        rows = -(-(len(kinds) + 1) // columns)
        with drawing_of(3.4 * columns, 2.6 * rows + 0.5) as drawing:
            panels = list(drawing.subplots(rows, columns, squeeze=False).flat)
            for unused in panels[len(kinds) + 1 :]:
                unused.set_axis_off()
            for panel, kind in zip(panels, kinds, strict=False):
                self._over_shares(panel, results, kind)
            self._over_timeouts(panels[len(kinds)], results)
            finish(drawing, results, panels[0], "")
        return drawing

    def _over_shares(self, panel: Axes, results: Results, kind: str) -> None:
        points = results.figure.points
        places = [n for n, point in enumerate(points) if point.values["queries"] == kind]
        schemes = results.figure.schemes
        for number, scheme in enumerate(schemes):
            found = (results.measured(self.tail, n, scheme.name, None, False) for n in places)
            tails = [np.nan if one.value is None else one.value for one in found]
            # Shifted sideways, so that equal numbers can be seen.
            aside = 0.07 * (number - (len(schemes) - 1) / 2)
            xs = [place + aside for place in range(len(places))]
            panel.plot(xs, tails, **style_of(scheme, number), label=scheme.name)
        panel.set_title(kind)
        panel.set_xticks(range(len(places)), [points[n].ticks["share"] for n in places])
        panel.set(xlabel="share of the uplinks in incasts", ylabel=self.tail.unit)
        log_scale(panel)

    def _over_timeouts(self, panel: Axes, results: Results) -> None:
        for number, scheme in enumerate(results.figure.schemes):
            pairs = [
                tuple(
                    results.measured(metric, place, scheme.name, None, False).value
                    for metric in (self.timeouts, self.tail)
                )
                for place in range(len(results.figure.points))
            ]
            known = [pair for pair in pairs if None not in pair]
            panel.plot(*zip(*known, strict=True), **style_of(scheme, number), linestyle="none")
        panel.axvline(1, color="#666666", linewidth=0.8)
        panel.set_title("all points")
        panel.set_xscale("symlog", linthresh=0.1)
        panel.set_xlim(-0.02, 100)
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        panel.set(xlabel="flows with a timeout, %", ylabel=self.tail.unit)
        log_scale(panel)


FIGURE = Figure(
    name="smartbuf/map",
    title="Who wins where",
    source="Smartbuf (IWQoS 2021), section IV-A, which gives neither shares nor incasts",
    about="Load 80%: 64% long flows, and 16% incasts and single short flows. Smartbuf learns from "
    "the beginning; flows of the first 20 ms (200 ms) are not counted.",
    measure=setup.BURSTS,
    points=tuple(setup.with_incasts(share, kind) for kind in KINDS for share in SHARES),
    schemes=(EQUAL_SHARES, CS, DT, SMARTBUF, DEMANDS),
    scales={
        "quick": Scale((1, 2), ("warmup=20ms", "duration=50ms")),
        "full": Scale((1, 2, 3), ("warmup=200ms", "duration=500ms")),
    },
    plot=Map(setup.SHORT, setup.TIMEOUTS, (MEAN, setup.COLLISIONS, setup.DROPS)),
    is_of_paper=False,
)
