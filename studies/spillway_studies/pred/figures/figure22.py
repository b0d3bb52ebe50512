"""Figure 22: data mining at 10 Gbps, under AQMs with fixed thresholds."""

from dataclasses import replace

from spillway_studies.claims import Claim, Excess, Near, Over, Reduction, Within
from spillway_studies.pred.figures import figure13, setup
from spillway_studies.pred.figures.setup import CODEL, ECN, ECN_SHARP, PRED

_SOURCE = "appendix D.2, Figure 22"
_AT_90 = Over(setup.HIGHEST)
_P, _E, _S, _C = PRED.name, ECN.name, ECN_SHARP.name, CODEL.name

_CLAIMS = (
    Claim(
        "Short flows have a shorter tail than under ECN# at 90% load",
        _SOURCE,
        Reduction(setup.SHORT, new=_P, old=_S),
        Near(0.58),
        _AT_90,
    ),
    Claim(
        "Short flows have a shorter tail than under CoDel at 90% load",
        _SOURCE,
        Reduction(setup.SHORT, new=_P, old=_C),
        Near(0.86),
        _AT_90,
    ),
    Claim(
        "Long flows take longer than under ECN at 90% load",
        _SOURCE,
        Excess(setup.LONG_MEAN, new=_P, old=_E),
        Within(0.063),
        _AT_90,
    ),
    # The text has 44 ms and 40 ms, and calls it 8%.
    *(
        Claim(
            "Long flows take longer than under ECN# at 90% load",
            _SOURCE,
            Excess(setup.LONG_MEAN, new=_P, old=_S),
            Within(excess),
            _AT_90,
            variant=variant,
            is_again=variant != "by its times",
        )
        for variant, excess in (("by its times", 0.1), ("by its percentage", 0.08))
    ),
    *figure13.times(_SOURCE, {_P: 0.76, _S: 1.83, _C: 5.28}, {_P: 44.0, _E: 41.36, _S: 40.0}),
)

FIGURE = replace(
    figure13.FIGURE,
    name="pred/figure22",
    title="Data mining at 10 Gbps, under AQMs with fixed thresholds",
    source="PRED (NSDI 2025), Figure 22, appendix D.2",
    points=setup.loads(setup.DATAMINING),
    scales=setup.DATAMINING.scales(),
    claims=(*_CLAIMS, *figure13.with_bound(_CLAIMS)),
)
