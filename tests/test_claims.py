"""Percentiles, samples drawn again, and verdicts: numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import figures
from spillway.reproduce import catalogue
from spillway.reproduce.claim import Claim, Excess, Over, Plain, Reduction, examine
from spillway.reproduce.metric import Behind, Number, Share, Tail
from spillway.reproduce.point import Outcome
from spillway.reproduce.results import Results
from spillway.reproduce.samples import CLASSES
from spillway.reproduce.verdict import Alike, Apart, Estimate, Near, Verdict, Within


@pytest.mark.parametrize(
    ("rule", "value", "interval", "verdict"),
    [
        # 25% of 0.5 is 0.125: from 0.375 to 0.625.
        (Near(0.5), 0.375, None, "holds"),
        (Near(0.5), 0.625, None, "holds"),
        (Near(0.5), 0.37, None, "partly"),
        (Near(0.5), 0.63, (0.51, 0.7), "partly"),
        (Near(0.5), 0.63, (0.5, 0.7), "holds"),
        (Near(0.5), -0.1, None, "does not hold"),
        (Near(0.5), 0.0, None, "does not hold"),
        (Near(0.5), -0.1, (-0.2, 0.5), "holds"),
        (Near(-0.2), -0.24, None, "holds"),
        (Near(-0.2), -0.26, None, "partly"),
        (Near(-0.2), 0.2, None, "does not hold"),
        (Within(9.65, 0.05), 9.2, None, "holds"),
        (Within(9.65, 0.05), 9.1, None, "does not hold"),
        (Within(9.65, 0.05), 1.5, (1.4, 9.7), "holds"),
        (Alike(), 0.1, (0.05, 0.2), "holds"),
        (Alike(), 0.11, (0.05, 0.2), "does not hold"),
        (Alike(), 0.3, (-0.1, 0.7), "partly"),
        (Alike(0.5), -0.5, None, "holds"),
        (Apart(), 0.01, (0.005, 0.02), "holds"),
        (Apart(), 0.01, (-0.005, 0.02), "partly"),
        (Apart(), 0.01, None, "partly"),
        (Apart(), 0.0, None, "does not hold"),
        (Apart(least=0.5), 0.4, (0.3, 0.5), "partly"),
        (Apart(least=0.5), 0.5, (0.3, 0.6), "holds"),
    ],
)
def test_verdicts(rule, value, interval, verdict):
    assert rule.judge(Estimate(value, interval)) == verdict


def of(slowdowns, units, name="incast", timeouts=None):
    """An outcome with these flows."""
    table = pa.table(
        {
            "class": pa.DictionaryArray.from_arrays(
                pa.array([CLASSES.index(name)] * len(slowdowns), pa.int8()),
                pa.array(CLASSES),
            ),
            "unit": pa.array(units, pa.int32()),
            "slowdown": pa.array(slowdowns, pa.float64()),
            "with_timeout": pa.array(timeouts or [False] * len(slowdowns)),
        }
    )
    return Outcome({"drops.aqm": 1.0}, table, "name")


def test_a_tail_is_the_order_statistic_of_all_seeds_flows():
    # 1..20 in two seeds: the ceil(20 * 0.95) = 19th is 19; of one seed's ten, the 10th.
    low = of(list(range(1, 11)), range(10))
    high = of(list(range(11, 21)), range(10))
    tail = Tail("incast", 0.95)
    assert tail.measured({1: low, 2: high}, 0).value == 19
    assert tail.measured({1: low}, 0).value == 10
    assert tail.measured({1: of([], [])}, 10).value is None
    assert Tail("short", 0.95).measured({1: low}, 10).value is None


def test_a_query_s_flows_are_drawn_together():
    # Query 0 has one flow of 1, query 1 three of 3. Two are drawn: both the first (1 in 4): the
    # median is 1. Else: of 1, 3, 3, 3 the second is 3, as of six times 3.
    found = Tail("incast", 0.5).measured({1: of([3, 1, 3, 3], [1, 0, 1, 1])}, 4000)
    assert found.value == 3
    assert set(found.replicates) == {1, 3}
    assert (found.replicates == 1).mean() == pytest.approx(0.25, abs=0.03)


def test_every_seed_keeps_its_weight():
    # One unit each: whatever is drawn is the same.
    found = Tail("incast", 0.5).measured({1: of([1], [0]), 2: of([2], [0])}, 50)
    assert set(found.replicates) == {1}


def results(cells, points=1, schemes=("new", "old"), drops=1.0):
    """A figure's results; cells by point, scheme and seed."""
    figure = replace(
        figures.BURSTS,
        points=figures.along("x", range(points), label="x = {}"),
        schemes=tuple(figures.Scheme(name) for name in schemes),
        claims=(),
    )
    seeds = tuple(dict.fromkeys(seed for _, _, seed in cells))
    found = {
        place: replace(outcome, numbers={**outcome.numbers, "drops.aqm": drops})
        for place, outcome in cells.items()
    }
    return Results(figure, seeds, found)


RNG = np.random.default_rng(1)


def test_pairs_are_drawn_alike():
    # What is old takes twice as long in every flow: half is saved, whatever is drawn.
    values = list(RNG.exponential(size=40))
    units = [number // 4 for number in range(40)]
    cells = {}
    for seed in (1, 2):
        cells[0, "new", seed] = of(values, units)
        cells[0, "old", seed] = of([2 * value for value in values], units)
    tail = Tail("incast", 0.9)
    finding = examine(Claim("", "", Reduction(tail, "new", "old"), Near(0.5)), results(cells))
    assert finding.estimate == Estimate(0.5, (0.5, 0.5))
    assert finding.by_seed == {1: 0.5, 2: 0.5}
    assert finding.verdict is Verdict.HOLDS
    finding = examine(Claim("", "", Excess(tail, "old", "new"), Near(0.5)), results(cells))
    assert finding.estimate == Estimate(1.0, (1.0, 1.0))
    assert finding.verdict is Verdict.PARTLY


def test_mean_largest_smallest_and_single_points():
    # Savings of 1 - 1/2 and 1 - 3/4: on average 3/8, at most 1/2, at least 1/4.
    cells = {
        (0, "new", 1): of([1], [0]),
        (0, "old", 1): of([2], [0]),
        (1, "new", 1): of([3], [0]),
        (1, "old", 1): of([4], [0]),
    }
    formula = Reduction(Tail("incast", 0.5), "new", "old")

    def value(over):
        return examine(Claim("", "", formula, Near(1), over), results(cells, 2)).estimate.value

    assert value(Over()) == 0.375
    assert value(Over(take="largest")) == 0.5
    assert value(Over(take="smallest")) == 0.25
    assert value(Over({"x": 1})) == 0.25


def test_timeouts_behind_a_percentile():
    # The 3rd of 4 is 7: at or beyond it are 7 and 9, of which 9 saw a timeout.
    cells = {
        (0, "new", 1): of([9, 1, 7, 2], range(4), timeouts=[True, True, False, False]),
        (0, "old", 1): of([9, 1, 7, 2], range(4)),
    }
    claim = Claim("", "", Reduction(Tail("incast", 0.75), "new", "old"), Alike())
    assert examine(claim, results(cells)).behind == {"new": Behind(2, 1), "old": Behind(2, 0)}


def test_without_a_loss_nothing_can_be_compared():
    cells = {(0, "new", 1): of([1], [0]), (0, "old", 1): of([2], [0])}
    claim = Claim("", "", Reduction(Tail("incast", 0.5), "new", "old"), Near(0.5))
    finding = examine(claim, results(cells, drops=0.0))
    assert finding.verdict is Verdict.NONE
    assert (finding.points, finding.uninformative) == (1, 1)


def test_without_numbers_nothing_can_be_compared():
    cells = {(0, "new", 1): of([], []), (0, "old", 1): of([2], [0])}
    claim = Claim("", "", Reduction(Tail("incast", 0.5), "new", "old"), Near(0.5))
    assert examine(claim, results(cells)).verdict is Verdict.NONE


def numbers(**found):
    return Outcome({name.replace("__", "."): value for name, value in found.items()})


def test_numbers_are_means_over_seeds_with_an_interval_from_three_on():
    cells = {(0, "only", seed): numbers(x=value) for seed, value in ((1, 1.0), (2, 2.0), (3, 6.0))}
    claim = Claim("", "", Plain(Number("x", "x", scale=10), "only"), Near(30.0))
    found = examine(claim, results(cells, schemes=("only",)))
    assert found.estimate.value == pytest.approx(30)
    # Student's t for 2 degrees of freedom is 4.3027; the deviation is sqrt(700), over sqrt(3).
    half = 4.302653 * (700 / 3) ** 0.5
    assert found.estimate.interval == pytest.approx((30 - half, 30 + half), rel=1e-5)
    two = {place: cell for place, cell in cells.items() if place[2] < 3}
    assert examine(claim, results(two, schemes=("only",))).estimate.interval is None


def test_shares_are_of_all_switches_together():
    counts = numbers(counts__leaf__a=1, counts__spine__a=2, counts__leaf__b=9, counts__leaf__c=100)
    share = Share("a", ("a", "b"), "counts", "a")
    assert share.measured({1: counts}, 0).value == 25
    assert share.measured({1: numbers(x=1)}, 0).value is None


EVERY = catalogue.every()


@pytest.mark.parametrize("figure", EVERY, ids=[figure.name for figure in EVERY])
def test_every_figure_is_consistent(figure):
    assert figure.name.partition("/")[0] in catalogue.PAPERS
    assert {"quick", "full"} == set(figure.scales)
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


def test_names_are_not_used_twice():
    assert len({figure.name for figure in EVERY}) == len(EVERY)
