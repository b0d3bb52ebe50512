"""Figure 23: web search at 100 Gbps, with 1,000 senders."""

from dataclasses import replace

from spillway_studies.claims import Claim, Near, Over, Reduction
from spillway_studies.pred.figures import figure18, setup
from spillway_studies.pred.figures.setup import PRED, RED_065

_SOURCE = "appendix D.3, Figure 23"

FIGURE = replace(
    figure18.FIGURE,
    name="pred/figure23",
    title="Web search at 100 Gbps, with 1,000 senders",
    source="PRED (NSDI 2025), Figure 23, appendix D.3",
    points=figure18.points(setup.WEBSEARCH),
    scales=setup.WEBSEARCH.scales(),
    claims=(
        *figure18.claims(_SOURCE, {setup.SHORT: (142, 171, 350), setup.SHORT_MEAN: (29, 61, 117)}),
        # 142 us and 171 us, which the text calls 27%, are 17%.
        Claim(
            "The tail of short flows is shorter than under RED at 80% load",
            _SOURCE,
            Reduction(setup.SHORT, new=PRED.name, old=RED_065.name),
            Near(0.27),
            Over({"load": 0.8}),
            variant=f"{RED_065.name}, by its percentage",
            is_again=True,
        ),
    ),
)
