"""PRED's figures: how long their runs are, what they tell, and whose numbers claims have."""

import pytest

from spillway_studies.claims import Excess, Plain, Reduction, Results, Scale
from spillway_studies.claims.finding import examine
from spillway_studies.pred import figures as pred
from spillway_studies.pred.figures import (
    choices,
    figure13,
    figure18,
    setup,
)


def test_a_run_is_as_long_as_its_flows_need():
    # 1,000 flows of 1 MB are 8 Gbit: 2 s at 40% of 10 Gbps, of which 0.1 s are not counted.
    workload = setup.Workload("1MB", 1_000_000, 1000)
    assert workload.span(0.4, 10) == ("warmup=100ms", "duration=2000ms", "stop=62000ms")
    assert workload.at(0.4).assignments[:2] == (
        "traffic.messages.sizes=1MB",
        "traffic.messages.load=0.4",
    )
    # At 100 Gbps a tenth of that.
    assert workload.at(0.4, 100).assignments[2:] == workload.span(4, 10)
    assert workload.scales()["quick"].assignments == ("traffic.messages.flows=200",)


@pytest.mark.parametrize("workload", [setup.WEBSEARCH, setup.DATAMINING])
def test_five_seeds_have_a_thousand_short_flows_and_more(workload):
    # Of web search 53% have at most 80 KB and 60% at most 200 KB: 54% at most 100 KB. Of data
    # mining 80% have at most 10 KB.
    share = {"websearch-dctcp": 0.54, "datamining-vl2": 0.8}[workload.sizes]
    assert 5 * 0.95 * workload.flows * share > 10_000


def short_run(figure, scheme, place, *sets):
    """The outcome of a figure's point with few flows, all of them counted."""
    points = figure.points[place]
    point = type(points)(points.values, (*points.assignments, *sets), points.labels, points.ticks)
    return figure.measure.task(point, scheme, 1, Scale((1,))).run(lambda _: None)


@pytest.mark.parametrize("figure", pred.COMPLETION_TIMES, ids=lambda figure: figure.name)
def test_every_scheme_completes_its_flows(figure):
    few = ("warmup=0us", "duration=20s", "traffic.messages.flows=40", "stop=60s")
    # Of all the same size, so that elephants do not take long.
    small = "traffic.messages.sizes=50KB"
    for scheme in figure.schemes:
        outcome = short_run(figure, scheme, -1, small, *few)
        assert outcome.numbers["flows.completed"] == 40, scheme.name
        assert outcome.samples.num_rows == 40
        times = outcome.samples["fct_us"].to_numpy()
        # A handshake in a rack takes 4 us and more, 35 packets in three flights as much again; and
        # nothing takes a second.
        assert times.min() > 12 and times.max() < 1e6


def test_figures_are_told_by_marks_and_drawn():
    few = ("warmup=0us", "traffic.messages.flows=60", "stop=20s")
    figure = figure13.FIGURE
    outcomes = {
        (place, scheme.name, 1): short_run(figure, scheme, 8, *few)
        for scheme in figure.schemes
        for place in range(9)
        if place == 8
    }
    assert all(outcome.numbers["marks"] > 0 for outcome in outcomes.values())
    assert all(
        sum(v for k, v in o.numbers.items() if k[:6] == "drops.") == 0 for o in outcomes.values()
    )
    outcomes |= {
        (place, scheme, seed): outcome
        for (_, scheme, seed), outcome in outcomes.items()
        for place in range(9)
    }
    results = Results(figure, (1,), outcomes)
    assert all(results.is_informative(place) for place in range(9))
    found = [examine(claim, results) for claim in figure.claims]
    # One seed decides nothing, but tells numbers.
    assert {str(each.verdict) for each in found} == {"undecided"}
    assert all(each.estimate is not None for each in found)
    drawing = figure.plot(results)
    titles = [axes.get_title() for axes in drawing.axes]
    assert titles == [panel.title for panel in setup.PANELS]
    units = {axes.get_ylabel() for axes in drawing.axes}
    assert units == {"ms"}


# What the text has at 90% load (100 Gbps: 80%), in ms.
TIMES = {
    "pred/figure13": {
        setup.SHORT: {"PRED": 1.4, "ECN#": 4.34, "CoDel": 6.68},
        setup.LONG_MEAN: {"PRED": 96.8, "CoDel": 92.5, "ECN#": 86.0},
    },
    "pred/figure22": {
        setup.SHORT: {"PRED": 0.76, "ECN#": 1.83, "CoDel": 5.28},
        setup.LONG_MEAN: {"PRED": 44.0, "ECN": 41.36, "ECN#": 40.0},
    },
    "pred/figure18": {
        setup.SHORT: {"PRED": 0.240, "RED (0.65)": 0.468, "CoDel": 0.713},
        setup.SHORT_MEAN: {"PRED": 0.042, "RED (0.65)": 0.088, "CoDel": 0.174},
    },
    "pred/figure23": {
        setup.SHORT: {"PRED": 0.142, "RED (0.65)": 0.171, "CoDel": 0.350},
        setup.SHORT_MEAN: {"PRED": 0.029, "RED (0.65)": 0.061, "CoDel": 0.117},
    },
}


TIMED = (figure13.FIGURE, figure18.FIGURE, figure13.DATA_MINING, figure18.WEB_SEARCH)


@pytest.mark.parametrize("figure", TIMED)
def test_claims_have_the_times_of_the_text(figure):
    times = TIMES[figure.name]
    plain = {}
    for claim in figure.claims:
        formula = claim.formula
        if isinstance(formula, Plain):
            plain.setdefault(formula.metric, {})[formula.scheme] = claim.rule.paper
    assert plain == {metric: pytest.approx(row) for metric, row in times.items()}
    for claim in figure.claims:
        formula = claim.formula
        if claim.rule.paper is None or isinstance(formula, Plain):
            continue
        if formula.new != "PRED":
            assert formula.new == setup.BOUNDED.name and claim.is_again
            continue
        row = times[formula.metric]
        old = row["RED (0.65)" if formula.old.startswith("RED") else formula.old]
        ratio = row[formula.new] / old
        said = 1 - ratio if isinstance(formula, Reduction) else ratio - 1
        # The text rounds to whole percents; two of its percentages are not those of its times.
        apart = abs(said - claim.rule.paper)
        assert (apart > 0.015) == ("by its percentage" in claim.variant), claim


@pytest.mark.parametrize("figure", [*TIMED, figure13.HALVES])
def test_what_the_bound_of_min_does_is_told_beside(figure):
    claims = figure.claims
    new = [
        claim.formula.new
        for claim in claims
        if not isinstance(claim.formula, Plain) and "by its percentage" not in claim.variant
    ]
    bounded = new.count(setup.BOUNDED.name)
    assert bounded == new.count("PRED") > 2
    # Whatever rests on it was chosen after numbers were seen.
    assert setup.BOUNDED.exploratory


def test_a_claim_counts_once():
    for figure in (*TIMED, choices.FIGURE):
        first = {}
        for claim in figure.claims:
            about = claim.says, claim.formula.metric, isinstance(claim.formula, Excess)
            assert claim.is_again == (about in first), claim.says
            first[about] = claim
