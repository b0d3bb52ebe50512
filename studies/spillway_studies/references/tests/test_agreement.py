"""How close runs are: percentiles, bounds, and flows one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spillway.base.errors import ScenarioError
from spillway_studies.references import credence, numbers
from spillway_studies.references.credence import Flows
from spillway_studies.references.numbers import Judged, Verdict, percentile_row
from spillway_studies.references.validation import Validation, validation


def test_percentiles_follow_the_reference_s_rule():
    values = np.arange(1.0, 201.0)
    # sorted[int(200 * 0.95) - 1] is the 190th.
    assert [numbers.percentile(values, p) for p in numbers.PERCENTILES] == [100, 190, 198]
    assert numbers.percentile(np.array([7.0]), 0.5) == 7


@pytest.mark.parametrize(
    ("percentile", "ours", "verdict"),
    [
        (0.5, 1.04, Verdict.near),
        (0.5, 1.06, Verdict.outside),
        (0.99, 1.14, Verdict.near),
        (0.99, 0.84, Verdict.outside),
    ],
)
def test_medians_are_held_to_5_percent_and_tails_to_15(percentile, ours, verdict):
    assert percentile_row("short", percentile, 1.0, (0.99, 1.01), ours)["verdict"] is verdict


def test_nothing_is_decided_inside_the_reference_s_own_interval():
    for interval in ((1.73, 1.98), (1.97, 1.98), (1.73, 1.97)):
        row = percentile_row("long", 0.5, 1.82, interval, 1.97)
        assert row["verdict"] is Verdict.undecided
    row = percentile_row("long", 0.5, 1.82, (1.73, 1.98), 1.99, (1.9, 2.0))
    assert row["verdict"] is Verdict.outside


def counted(*judged: Judged) -> Validation:
    """What comes of these comparisons."""
    return validation({}, [], judged)


def test_the_closing_line_counts_and_names_what_differs():
    rule = "medians within 5%, tails within 15%"
    kept = [("lqd short p50", 0.04, Verdict.near), ("lqd short p95", -0.1, Verdict.near)]
    assert counted(*kept).sentence == f"of 2 numbers 2 agree; {rule}"

    wide = [*kept, ("lqd short p99", -0.2, Verdict.undecided)]
    found = counted(*wide)
    says = "1 undecided, inside the 95% interval (lqd short p99 -20.0%)"
    assert found.sentence == f"of 3 numbers 2 agree, {says}; {rule}"
    assert not found.document["bounds"]["broken"]

    found = counted(*wide, ("dt incast p99", 1.907, Verdict.outside))
    assert found.document["bounds"]["broken"] == ["dt incast p99 +190.7%"]
    assert (
        found.sentence == f"of 4 numbers 2 agree, {says}, 1 differ (dt incast p99 +190.7%); {rule}"
    )


def flows(*rows: tuple[float, float, float], incast: int = 0) -> Flows:
    """Flows of size, start and FCT, the last few of them incast."""
    size, start, fct = np.array(rows).T
    are_incast = np.arange(len(rows)) >= len(rows) - incast
    return credence.flows_of("a file", size, start, fct, fct, are_incast)


def test_flows_are_matched_by_six_digits_of_size_and_start():
    there = flows((1_234_570, -8_899_860, 100), (2_000_000, -8_899_860, 200))
    here = flows((1_999_999.6, -8_899_855.1, 216), (1_234_567, -8_899_864.9, 100))
    found = credence.one_by_one("long", there, here)
    assert (found["count"], found["matched"]) == (2, 2)
    # The ratios are 1 and 1.08.
    assert found["median_ratio"] == pytest.approx(1.04)
    assert found["mean_ratio"] == pytest.approx(math.sqrt(1.08))
    assert found["correlation"] == pytest.approx(1)
    assert found["within"] == [0.5, 0.5, 1]


def test_flows_that_look_alike_and_such_as_have_not_ended_are_left_out():
    there = flows((5000, 1, 10), (5000, 1, 20), (6000, 1, 30), (7000, 1, 40), (8000, 1, 50))
    here = flows((5000, 1, 10), (6000, 1, math.inf), (7000, 1, 40), (8000, 1, 50))
    found = credence.one_by_one("background", there, here)
    assert (found["count"], found["matched"]) == (5, 2)


def test_classes_are_told_by_size_and_incast_apart():
    listed = flows((100_000, 1, 1), (100_001, 1, 1), (1e6, 1, 1), (2000, 1, 2e7), incast=1)
    kinds = ("background", "short", "medium", "long", "incast")
    chosen = {kind: listed.are(kind).nonzero()[0].tolist() for kind in kinds}
    assert chosen == {
        "background": [0, 1, 2],
        "short": [0],
        "medium": [1],
        "long": [2],
        "incast": [3],
    }
    assert listed.late == {"short": 0, "medium": 0, "long": 0, "incast": 1}


def test_flows_of_another_run_are_told_so():
    with pytest.raises(ScenarioError, match="a file: it has 1 of the short flows"):
        credence.one_by_one("short", flows((5000, 1, 1), (6000, 2, 1)), flows((5000, 1, 1)))
    with pytest.raises(ScenarioError, match="a file: there are no incast flows"):
        flows((5000, 1, 1)).slowdowns("incast")


def test_nothing_compared_is_no_agreement():
    none = counted()
    assert (none.is_kept, none.sentence) == (False, "nothing could be compared")
    assert counted(("a", 0.0, Verdict.near)).is_kept
