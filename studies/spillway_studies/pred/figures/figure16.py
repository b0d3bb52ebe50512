"""Figures 16 and 17: PRED beside agents of ACC."""

from dataclasses import dataclass, replace

import numpy as np

from spillway.show.drawing import drawing_of
from spillway_studies.claims import (
    Alike,
    Apart,
    Claim,
    Computed,
    Drawing,
    Figure,
    Metric,
    Near,
    Over,
    Plain,
    Reduction,
    Results,
    Scale,
    Within,
    finish,
    line_of,
    style_of,
)
from spillway_studies.pred.figures import acc_runs
from spillway_studies.pred.figures.acc_runs import (
    ACC,
    ACC_OTHER,
    BURSTS,
    GOODPUT,
    HALF,
    MEDIAN,
    MORE,
    OTHER,
    PRED,
    PRED_80,
    QUEUE,
    QUEUE_95,
    QUEUE_99,
    SHARES,
    TAIL,
    TOLD,
    TRAINING,
    UTILITY,
)
from spillway_studies.pred.figures.star import ABOUT

_SOURCE = "section 6.3.3, Figure 16"


@dataclass(frozen=True)
class Shares:
    """A row for each point: shares of flows beyond a completion time, of time beyond a queue."""

    metrics: tuple[Metric, ...]
    places: tuple[int, ...]

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot. Quantiles are the means over seeds."""
        beyond = 1 - np.array(SHARES[:-1])
        with drawing_of(7.4, 2.4 * len(self.places) + 0.8) as drawing:
            axes = drawing.subplots(len(self.places), 2, squeeze=False, sharex="col", sharey=True)
            for row, place in zip(axes, self.places, strict=True):
                for axis, name in zip(row, ("fct", "waiting"), strict=True):
                    for number, scheme in enumerate(results.figure.schemes):
                        each = [
                            results.curve(place, scheme.name, seed, name) for seed in results.seeds
                        ]
                        drawn = np.mean(each, axis=0)
                        style = {"label": scheme.name, "linewidth": 1.1, **line_of(scheme, number)}
                        axis.plot(drawn[:-1], beyond, **style)
                    axis.set_yscale("log")
                row[0].set(
                    xscale="log", ylabel="share beyond", title=results.figure.points[place].label
                )
            axes[-1, 0].set_xlabel("completion time of flows under 100 KB in ms")
            axes[-1, 1].set_xlabel("packets queued")
            finish(drawing, results, axes[0, 0], "means over seeds of each quantile")
        return drawing


@dataclass(frozen=True)
class OverTime:
    """The queue of some schemes over 20 ms, a panel for each point, of the first seed."""

    schemes: tuple[str, ...]
    places: tuple[int, ...]
    metrics: tuple[Metric, ...] = ()

    def __call__(self, results: Results) -> Drawing:
        """Draws the plot."""
        begin, end = acc_runs.SHOWN_MS
        with drawing_of(7.4, 1.9 * len(self.places) + 0.8) as drawing:
            axes = drawing.subplots(len(self.places), 1, squeeze=False, sharex=True, sharey=True)
            for axis, place in zip(axes[:, 0], self.places, strict=True):
                for number, scheme in enumerate(results.figure.schemes):
                    if scheme.name in self.schemes:
                        held = results.curve(place, scheme.name, results.seeds[0], "queue")
                        times = np.linspace(begin, end, len(held))
                        colour = style_of(scheme, number)["color"]
                        axis.plot(times, held, color=colour, linewidth=0.8, label=scheme.name)
                axis.set(ylabel="packets", title=results.figure.points[place].label)
            axes[-1, 0].set_xlabel("time in ms")
            finish(drawing, results, axes[0, 0], f"shown: seed {results.seeds[0]}")
        return drawing


def _claims(
    exploration: float = TOLD,
    trace: str = TRAINING,
    pred: str = PRED.name,
    acc: str = ACC.name,
) -> tuple[Claim, ...]:
    """The paper's claims, with this exploration, on this trace, about these schemes."""
    named = ((trace, TRAINING), (pred, PRED.name), (acc, ACC.name))
    changed = [name for name, usual in named if name != usual]
    variant = ", ".join([*changed, f"exploration {exploration:.0%}"])
    over = Over({"trace": trace, "exploration": exploration})
    rows = (
        ("PRED's median is that of ACC", Reduction(MEDIAN, new=pred, old=acc), Alike(0.1)),
        ("PRED cuts ACC's p99 by 25%", Reduction(TAIL, new=pred, old=acc), Near(0.25)),
        ("ACC's p99 is 0.63 ms", Plain(TAIL, acc), Within(0.63)),
        ("PRED's p99 is 0.47 ms", Plain(TAIL, pred), Within(0.47)),
        ("PRED's queue is shorter than ACC's", Reduction(QUEUE_95, new=pred, old=acc), Apart()),
        ("ACC's queue has 37 packets at p95", Plain(QUEUE_95, acc), Within(37)),
        ("PRED's queue has 25 packets at p95", Plain(QUEUE_95, pred), Within(25)),
        ("ACC's queue has 105 packets at p99", Plain(QUEUE_99, acc), Within(105)),
        ("PRED's queue has 54 packets at p99", Plain(QUEUE_99, pred), Within(54)),
    )
    is_again = exploration != TOLD or bool(changed)
    return tuple(
        Claim(says, _SOURCE, formula, rule, over, variant=variant, is_again=is_again)
        for says, formula, rule in rows
    )


CLAIMS = (
    *_claims(),
    *_claims(0.0),
    *_claims(0.05),
    *_claims(trace=OTHER, acc=ACC_OTHER.name),
    *_claims(pred=PRED_80.name),
    *(claim for trace in (MORE, HALF, BURSTS) for claim in _claims(trace=trace)),
    Claim(
        "Exploration lengthens the tail of ACC's queue",
        "section 6.3.3, Figure 17",
        Plain(QUEUE_99, ACC.name),
        Apart(),
        Over({"trace": TRAINING}, take="relative growth"),
        variant="exploration 0% to 5%",
    ),
)

FIGURE = Figure(
    name="pred/figure16",
    title="Completion times and the queue under PRED and ACC",
    source="PRED (NSDI 2025), Figure 16, section 6.3.3",
    about="18 senders, one receiver, messages of 3 to 6 KB (10% of the line) and 30 to 600 KB "
    "(50%) at once: the scenario `acc-incast`. Five agents, trained with seeds of their own for "
    "200,000 decisions; of the myopic one and that of ACC's own paper there is one each. The "
    "trace of training is that of seed 1, on which all but those trained on other traffic have "
    "learned, and seeds are those of trainings. On other traces seeds are those of traces, too. "
    "The text's 34% is (0.63 - 0.47) / 0.47: a cut of 25%. " + ABOUT,
    measure=Computed(f"{acc_runs.__name__}:point"),
    points=acc_runs.POINTS,
    schemes=acc_runs.SCHEMES,
    scales={
        "quick": Scale((1, 2, 3), parameters={"duration": "200ms"}),
        "full": Scale((1, 2, 3, 4, 5), parameters={"duration": "200ms"}),
    },
    plot=Shares(
        (MEDIAN, TAIL, QUEUE, QUEUE_95, QUEUE_99, GOODPUT, UTILITY),
        (0, 2, 4),
    ),
    claims=CLAIMS,
    told_by="anything",
)

OVER_TIME = replace(
    FIGURE,
    name="pred/figure17",
    title="The queue over time under PRED and ACC",
    source="PRED (NSDI 2025), Figure 17, section 6.3.3",
    plot=OverTime((PRED.name, PRED_80.name, ACC.name), (0, 1, 2)),
    claims=(),
)
