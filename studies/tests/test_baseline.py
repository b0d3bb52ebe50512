"""Figures come to what they did: see `baseline`."""

from __future__ import annotations

import json

import pytest

import baseline
from baseline import FIGURES, KEPT

SAMPLE = set(list(FIGURES)[::8]) - {"qclimb/simulation", "qclimb/jobs"}
EVERY = [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.slow) for name in FIGURES]
WRITE = "`make digests` writes it anew, where that is right"


@pytest.mark.parametrize("name", EVERY)
def test_a_figure_comes_to_what_it_did(name):
    kept, found = json.loads(KEPT.read_text())[name], baseline.of_figure(name)
    assert not baseline.untold(kept, found), "other numbers, and no results number has risen"
    assert found["points"] == kept["points"], f"a results number has risen: {WRITE}"
    assert found["said"] == kept["said"], f"the figure says something else: {WRITE}"


def test_all_figures_are_kept():
    assert list(json.loads(KEPT.read_text())) == list(FIGURES)


def test_other_numbers_under_the_same_key_are_noticed():
    kept = {"points": {"a": "1", "b": "2"}}
    assert baseline.untold(kept, {"points": {"a": "1", "b": "3"}}) == ["b"]
    assert baseline.untold(kept, {"points": {"a": "1", "c": "3"}}) == []
