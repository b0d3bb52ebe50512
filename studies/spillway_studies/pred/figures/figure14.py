"""Figure 14: the same beside RED with fixed slopes, and beside PRED's halves."""

from spillway_studies.claims import Apart, Claim, Figure, Lines, NoGain, Over, Reduction
from spillway_studies.pred.figures import figure13, setup
from spillway_studies.pred.figures.setup import BOUNDED, FCS, PRED, QLA, REDS

_SOURCE = "section 6.3.1, Figure 14"

_CLAIMS = (
    *(
        Claim(
            f"{what} performs better than RED with a fixed slope",
            _SOURCE,
            Reduction(setup.SHORT, new=scheme.name, old=red.name),
            Apart(),
            variant=red.name,
            is_again=red is not REDS[0],
        )
        for red in REDS
        for what, scheme in (("PRED", PRED), ("FCS alone", FCS))
    ),
    *(
        Claim(
            "QLA alone does not improve on RED with a fixed slope",
            _SOURCE,
            Reduction(setup.SHORT, new=QLA.name, old=red.name),
            NoGain(),
            variant=red.name,
            is_again=red is not REDS[0],
        )
        for red in REDS
    ),
    Claim(
        "QLA further reduces the tail of short flows at 90% load",
        _SOURCE,
        Reduction(setup.SHORT, new=PRED.name, old=FCS.name),
        Apart(),
        Over(setup.HIGHEST),
    ),
)

FIGURE = Figure(
    name="pred/figure14",
    title="Web search at 10 Gbps, under RED with fixed slopes and PRED's halves",
    source="PRED (NSDI 2025), Figure 14, section 6.3.1",
    about="The text names neither the slopes nor the least queue of RED: all slopes that it has "
    "elsewhere, with PRED's own least queue. " + setup.ABOUT,
    measure=setup.LEAF_SPINE,
    points=setup.loads(setup.WEBSEARCH),
    schemes=(PRED, BOUNDED, FCS, QLA, *REDS),
    scales=setup.WEBSEARCH.scales(),
    plot=Lines(setup.PANELS, "load", "load of the receiver's line"),
    claims=(*_CLAIMS, *figure13.with_bound(_CLAIMS)),
    told_by="marks",
)
