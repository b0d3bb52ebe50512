"""What holds for every figure of the catalogue: its parts fit together, and its points can run."""

import pytest

from spillway_studies import catalogue
from spillway_studies.claims import (
    Alike,
    AtLeast,
    AtMost,
    Beside,
    Near,
    Plain,
    Reduction,
    Run,
    harness,
)
from spillway_studies.credence.figures import figure15

EVERY = catalogue.every()


@pytest.mark.parametrize("figure", EVERY, ids=[figure.name for figure in EVERY])
def test_every_figure_is_consistent(figure):
    assert figure.name.partition("/")[0] in catalogue.PAPERS
    assert {"quick", "full"} <= set(figure.scales) <= {"quick", "page", "full"}
    schemes = {scheme.name for scheme in figure.schemes}
    assert len(schemes) == len(figure.schemes)
    assert len({point.label for point in figure.points}) == len(figure.points)
    for point in figure.points:
        assert set(point.of_scheme) <= schemes
    for claim in figure.claims:
        assert set(claim.formula.schemes) <= schemes
        assert any(point.lies_at(claim.over.where) for point in figure.points)
        assert claim.source
        assert claim.rule.text


SCORES = (
    figure15.ACCURACY,
    figure15.INVERSE_ETA,
    figure15.PRECISION,
    figure15.RECALL,
    figure15.F1,
)


@pytest.mark.parametrize("figure", EVERY, ids=[figure.name for figure in EVERY])
def test_every_claim_has_a_rule_for_its_kind_of_number(figure):
    for claim in figure.claims:
        points = [point for point in figure.points if point.lies_at(claim.over.where)]
        formula, rule, number = claim.formula, claim.rule, claim.formula.metric
        is_worst = getattr(number, "over_seeds", "mean") == "largest"
        # Parts of a whole, and only these, are judged by what is left as well.
        is_part = isinstance(formula, Reduction) or number in SCORES
        if not isinstance(rule, Beside):
            assert isinstance(rule, Near) == (is_part and rule.paper is not None)
        # One search can refute or prove, and has no middle.
        if is_worst:
            assert isinstance(rule, (AtMost, AtLeast)) and isinstance(formula, Plain)
        # What is alike on average may be far apart everywhere.
        if isinstance(rule, Alike) and len(points) > 1:
            assert claim.over.take in ("each", "relative growth")


def test_names_are_not_used_twice():
    assert len({figure.name for figure in EVERY}) == len(EVERY)


PACKET_LEVEL = [figure for figure in EVERY if isinstance(figure.measure, Run)]


# What is warned of is what figures are about: forests elsewhere, QCLIMB where packets overtake, CBM
# under strict priority.
@pytest.mark.filterwarnings("ignore:.*it was trained (where|with)")
@pytest.mark.filterwarnings("ignore:.*CBM drops packets that have waited for long")
@pytest.mark.filterwarnings("ignore:.*PRED is not by queue")
@pytest.mark.filterwarnings('ignore:.*routing.kind = "spray" lets them overtake')
@pytest.mark.filterwarnings("ignore:.*by its tagger later packets of a flow overtake")
@pytest.mark.parametrize("figure", PACKET_LEVEL, ids=[figure.name for figure in PACKET_LEVEL])
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_point_is_a_scenario(figure, scale):
    cells = len(figure.points) * len(figure.schemes) * len(figure.scales[scale].seeds)
    (own,) = harness.plan([figure], scale).keys
    assert len(own) == cells
