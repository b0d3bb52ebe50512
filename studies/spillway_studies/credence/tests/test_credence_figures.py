"""Credence's figures that are not packet-level runs, at a size that takes a moment."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from spillway.learning.oracle import default as recipe
from spillway.theory.slotted import Arrivals, flipped, run
from spillway_studies.claims import Cache, Scale, along, harness
from spillway_studies.credence.figures import figure3, figure14, figure15, models, table1


def nothing(_: object) -> None:
    """No report."""


def test_figure_14_is_lqd_over_the_algorithm():
    setting = {"ports": 4, "buffer": 32, "load": 0.05, "slots": 3000}
    arrivals = Arrivals.generate("bursts", seed=3, arrivals_per_slot="burst", **setting)
    truth = run("lqd", arrivals, buffer=32)
    labels = flipped(truth.dropped, 0.5, seed=3)
    expected = run("credence", arrivals, buffer=32, predictions=labels).transmitted
    found = figure14.point(nothing, flip_probability=0.5, scheme="Credence", seed=3, **setting)
    assert found["ratio"] == pytest.approx(truth.transmitted / expected)
    assert found["sent"] == pytest.approx(expected)
    thresholds = run("dt", arrivals, buffer=32, alpha=0.5).transmitted
    other = figure14.point(nothing, flip_probability=0.5, scheme="DT", seed=3, **setting)
    assert other["ratio"] == pytest.approx(truth.transmitted / thresholds)


def test_figure_3_by_hand():
    """N = 8, B = 64, alpha 0.5; `sent` and `optimum` over ten rounds.

    A lone burst: DT takes q <= 0.5 (64 - q), so 21; who has no thresholds takes 64.

    Four bursts, then short ones. Complete Sharing takes 16 for each of the four ports and has 60
    left a slot later: of the 32 short ones' packets it takes 4. In that slot 8 are sent, in the
    seven after it 4 each: 28 are left, and the next round begins with 36. Each round sends 4 + 8 +
    28 = 40, and after the last one 28 more. LQD pushes out 28 for the short ones: 32 + 32 wait, and
    eight slots send them all: 68 a round, which is the optimum.
    """
    setting = {"seed": 1, "ports": 8, "buffer": 64, "rounds": 10}

    def sent(example, scheme):
        found = figure3.point(nothing, example=example, scheme=scheme, **setting)
        assert found["ratio"] == pytest.approx(found["optimum"] / found["sent"])
        return found["sent"], found["optimum"]

    assert sent(figure3.ALONE, "DT") == (210, 640)
    assert sent(figure3.FOLLOWED, "Complete Sharing") == (428, 680)
    for name in ("LQD", "Credence, perfect predictions", "Blind trust, perfect predictions"):
        assert sent(figure3.ALONE, name) == (640, 640)
        assert sent(figure3.FOLLOWED, name) == (680, 680)
    assert sent(figure3.FOLLOWED, "DT")[0] < 680
    # One round: both take a full buffer, and what has been sent by then.
    setting["rounds"] = 1
    assert sent(figure3.FOLLOWED, "Complete Sharing") == (68, 68)


def test_table_1_finds_the_constructions():
    found = table1.point(
        nothing, ports=4, scheme="Complete Sharing", seed=1, packets_per_port=16, seeds=1
    )
    assert found["bound"] == 5.0 and 3.8 < found["worst"] <= 5.0
    lqd = table1.point(
        nothing, ports=4, scheme="LQD (push-out)", seed=2, packets_per_port=16, seeds=1
    )
    assert 1.1 < lqd["worst"] <= 1.707


@pytest.mark.filterwarnings("ignore:.*the excess waits, and delays keep growing")
def test_figure_15_trains_on_a_trace_that_is_recorded_once(monkeypatch, tmp_path):
    queries = "traffic.incast.queries_per_host_per_s=500"
    small = ("traffic.incast.burst=200%", "topology.leaves=4", queries)
    own = recipe.find("default")
    smaller = replace(own, settings=(*own.settings, *small))
    monkeypatch.setitem(recipe.RECIPES, "default", smaller)
    monkeypatch.setattr(models, "TRACES", {})
    figure = replace(
        figure15.FIGURE,
        points=along("trees", (2, 4)),
        scales={"quick": Scale((1,), parameters={"duration": "4ms", "one_in": 3})},
    )
    (results,) = harness.compute(harness.plan([figure], "quick"), Cache(tmp_path), jobs=2)
    recorded = {(1, "4ms", 3, ()), (1001, "4ms", 3, ()), (1, "4ms", 3, models.MORE_QUERIES)}
    assert set(models.TRACES) == recorded
    for scheme in figure.schemes:
        for place in range(2):
            (outcome,) = results.at(place, scheme.name).values()
            assert 0 < outcome.numbers["accuracy"] <= 1
        assert outcome.numbers["f1_gain"] in (0.0, None)
        assert 0 < outcome.numbers["leaf_share"] <= 1


@pytest.mark.filterwarnings("ignore:.*asked about packets outside")
@pytest.mark.filterwarnings("ignore:.*it was trained (where|with)")
@pytest.mark.filterwarnings("ignore:.*the excess waits, and delays keep growing")
def test_models_are_trained_once_for_all_points(monkeypatch, tmp_path):
    """The figure at a tiny size: what switches ask is what the scheme says."""
    smaller = (
        "topology.clocks=exact",
        "topology.leaves=4",
        "traffic.incast.burst=200%",
        "switch.buffer=200KB",
    )
    own = recipe.find("default")
    tiny = replace(own, settings=(*own.settings, *smaller))
    monkeypatch.setitem(recipe.RECIPES, "default", tiny)
    queries = ("traffic.incast.queries_per_host_per_s=1000",)
    monkeypatch.setattr(models, "MORE_QUERIES", queries)
    monkeypatch.setattr(models, "TRACES", {})
    monkeypatch.setattr(models, "_FOLDERS", {})
    assignments = (
        "duration=2ms",
        "topology.clocks=exact",
        "topology.leaves=4",
        "switch.buffer=200KB",
        *queries,
    )
    scale = Scale((1,), assignments, {"duration": "4ms", "one_in": 3})
    for figure in (models.BURSTS, models.FLIPS):
        figure = replace(figure, points=figure.points[-1:], scales={"quick": scale})
        (results,) = harness.compute(harness.plan([figure], "quick"), Cache(tmp_path), jobs=2)
        asked = {}
        for scheme in figure.schemes:
            (outcome,) = results.at(0, scheme.name).values()
            told = tomllib.loads(outcome.scenario)["switch"]["sharing"]
            asked[scheme.name] = told.get("model")
            if scheme != figure.schemes[0]:
                flips = outcome.numbers["sharing_counts.leaf.oracle_flips"]
                assert (flips > 0) == ("flips" in figure.name)
        assert asked["LQD"] is None and asked["Credence"] == "default"
        assert set(asked[models.TIERS.name]) == set(asked[models.TWO.name]) == {"leaf", "spine"}
        assert any(name[-1].isdigit() for name in asked[models.SWITCHES.name])
    assert len(models._FOLDERS) == 3 and len(models.TRACES) == 2
    for folder in models._FOLDERS.values():
        folder.cleanup()
