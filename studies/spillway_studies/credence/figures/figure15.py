"""Figure 15: the gain from more trees."""

from collections.abc import Mapping
from typing import Any

from spillway.tasks.run import Report
from spillway_studies.claims import (
    Claim,
    Computed,
    Figure,
    Lines,
    Near,
    NoGain,
    Number,
    Over,
    Panel,
    Plain,
    Scale,
    Scheme,
    along,
    basis,
)
from spillway_studies.credence.figures.models import MORE_QUERIES, traced

PAPERS = Scheme("two features, split at random", style=3)
OURS = Scheme("four features, another seed", style=2)
MORE = Scheme("two features, ten times the queries", style=1)
_AS_IN_PAPER = {"features": ("queue", "occupancy"), "split": "random"}
_OPTIONS: dict[str, dict[str, Any]] = {
    PAPERS.name: _AS_IN_PAPER,
    OURS.name: {"split": "none"},
    MORE.name: _AS_IN_PAPER,
}
_TRAFFIC = {MORE.name: MORE_QUERIES}
"""The settings of a scheme's traces besides the scenario's."""
_OTHER = 1000
"""The difference between the seed of a test and that of its training."""

ACCURACY, INVERSE_ETA, PRECISION, RECALL, F1 = (
    Number(path, name, name)
    for path, name in (
        ("accuracy", "accuracy"),
        ("inverse_eta", "1/eta (Theorem 2)"),
        ("precision", "precision"),
        ("recall", "recall"),
        ("f1", "F1"),
    )
)
LEAVES = Number("leaf_share", "drops that are at leaves", "% of all", 100)
GAIN = Number("f1_gain", "F1 against that of four trees", "F1 gained")


@basis.results(1, on=basis.EVERYTHING, libraries=("numpy", "scikit-learn"))
def point(
    report: Report, *, trees: int, scheme: str, seed: int, duration: str, one_in: int
) -> Mapping[str, float | None]:
    """The scores of a forest with this many trees, and how much its F1 exceeds that of four trees.

    Also the share of the drops in its training data that happened at leaves.
    """
    from spillway.learning.oracle import evaluate, train

    traffic = _TRAFFIC.get(scheme, ())
    seen = traced(report, seed, duration, one_in, traffic)
    options = _OPTIONS[scheme]

    def scores(count: int) -> Mapping[str, float | None]:
        report(None)
        training = train([seen], trees=count, seed=seed, **options)
        if training.scores is not None:
            return training.scores.document
        other = traced(report, seed + _OTHER, duration, one_in, traffic)
        return evaluate(training.model, other).document

    found, four = scores(int(trees)), scores(4)
    more, less = found["f1"], four["f1"]
    gain = None if more is None or not less else more / less - 1
    leaves = seen.at("leaf").drops / seen.drops
    return {**found, "f1_gain": gain, "leaf_share": leaves}


def _paper(metric: Number, number: float) -> Claim:
    return Claim(
        f"With four trees, {metric.name} is {number:g}",
        "section 4.1 on predictions",
        Plain(metric, PAPERS.name),
        Near(number),
        Over({"trees": 4}),
    )


CLAIMS = (
    _paper(ACCURACY, 0.99),
    _paper(INVERSE_ETA, 0.99),
    _paper(PRECISION, 0.65),
    _paper(RECALL, 0.35),
    _paper(F1, 0.45),
    *(
        Claim(
            f"More than four trees bring nothing (up to {trees})",
            "section 4.1 on predictions, Figure 15",
            Plain(GAIN, PAPERS.name),
            NoGain(),
            Over({"trees": trees}),
            is_again=trees > 8,
        )
        for trees in (8, 16, 32, 64, 128)
    ),
)

_FULL = Scale((1, 2, 3), parameters={"duration": "1s", "one_in": 200})

FIGURE = Figure(
    name="credence/figure15",
    title="Scores of forests over the number of trees",
    source="Credence (NSDI 2024), Figure 15, section 4.1",
    about="LQD under websearch at 80% of the uplinks and bursts of 75% of the buffer; depth 4. The "
    "paper names two features in section 4.1 and splits at random; the second line is the four "
    "features of section 3.4, tested on a run with another seed. The third is the first with ten "
    "times the queries per second: then leaves drop as much as spines do.",
    measure=Computed(f"{__name__}:point"),
    points=along("trees", (1, 2, 4, 8, 16, 32, 64, 128), label="{} trees", tick="{}"),
    schemes=(PAPERS, OURS, MORE),
    scales={
        "quick": Scale((1, 2, 3), parameters={"duration": "250ms", "one_in": 200}),
        "page": _FULL,
        "full": _FULL,
    },
    plot=Lines(
        tuple(
            # Accuracy and 1/eta are so near 1 that an axis from 0 would show no difference.
            Panel(metric, metric.name, is_close=metric in (ACCURACY, INVERSE_ETA))
            for metric in (ACCURACY, INVERSE_ETA, PRECISION, RECALL, F1, LEAVES)
        ),
        "trees",
        "trees",
        columns=3,
    ),
    claims=CLAIMS,
)
