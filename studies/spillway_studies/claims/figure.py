"""What a figure of a paper consists of: runs, numbers from them, a plot, and claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from spillway_studies.claims.claim import Claim
from spillway_studies.claims.late import Drawing
from spillway_studies.claims.metric import Metric
from spillway_studies.claims.point import Measure, Point, Scale, Scheme


class Plot(Protocol):
    """How a figure is drawn."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that it shows."""

    def __call__(self, results: Any) -> Drawing:
        """Draws the plot of the figure's `Results`."""


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper, or an experiment about it."""

    name: str
    """The paper and the figure, as for `spillway reproduce`: `credence/figure6`."""
    title: str
    source: str
    """Its place in the paper."""
    about: str
    """What is compared, and how this differs from the paper."""
    measure: Measure
    points: tuple[Point, ...]
    schemes: tuple[Scheme, ...]
    scales: Mapping[str, Scale]
    plot: Plot | None = None
    claims: tuple[Claim, ...] = ()
    is_of_paper: bool = True
    """Whether it is in the paper; `spillway reproduce PAPER` leaves out others about it."""
    told_by: Literal["losses", "marks", "anything"] = "losses"
    """What shows that schemes can differ at a point: losses; losses or marks ("marks"); or nothing
    is needed ("anything").
    """

    tells: tuple[str, ...] = ()
    """The beginnings of the paths of numbers that its page shows of single runs."""

    def scale(self, name: str) -> Scale | None:
        """How much of it is run at a scale; a figure without a `page` scale is quick there."""
        return self.scales.get("quick" if name == "page" and name not in self.scales else name)

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of plot and claims."""
        shown = () if self.plot is None else self.plot.metrics
        claimed = (claim.formula.metric for claim in self.claims)
        return list(dict.fromkeys([*shown, *claimed]))

    @property
    def short_name(self) -> str:
        """Its name within the paper."""
        return self.name.rpartition("/")[2]
