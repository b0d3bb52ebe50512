"""Comparing with another simulator's run: the rules, and what is told of a wrong folder."""

from __future__ import annotations

import numpy as np
import pytest

from spillway import validate
from spillway.errors import ScenarioError
from spillway.validate import Row


def test_percentiles_follow_the_reference_s_rule():
    values = np.arange(1.0, 201.0)
    # sorted[int(200 * 0.95) - 1] is the 190th.
    assert [validate.percentile(values, p) for p in validate.PERCENTILES] == [100, 190, 198]
    assert validate.percentile(np.array([7.0]), 0.5) == 7


@pytest.mark.parametrize(
    ("percentile", "ours", "agrees"),
    [(0.5, 1.04, True), (0.5, 1.06, False), (0.99, 1.14, True), (0.99, 1.16, False)],
)
def test_medians_are_held_to_5_percent_and_tails_to_15(percentile, ours, agrees):
    row = Row("dt", "short", percentile, 1.0, (0.99, 1.01), (ours, ours, ours))
    assert row.agrees is agrees


def test_the_reference_s_own_interval_counts():
    assert Row("dt", "long", 0.5, 1.82, (1.73, 1.98), (1.9, 1.97, 2.0)).agrees
    assert not Row("dt", "long", 0.5, 1.82, (1.73, 1.98), (1.9, 1.99, 2.0)).agrees


def test_a_folder_without_the_reference_is_told_so(tmp_path):
    with pytest.raises(ScenarioError, match=r"there is no file .*dt-load0\.4-burst0\.5\.parquet"):
        validate.credence(tmp_path, path_seeds=[1], differences=False)
