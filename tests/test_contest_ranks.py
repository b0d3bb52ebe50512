"""Ranks, wins, regret, sums of squares and fronts against answers by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spillway.contest import slotted
from spillway.contest.effects import effects
from spillway.contest.factors import Level, factors
from spillway.contest.hardware import State, front, states
from spillway.contest.ranks import means, ranks, ratios, regrets, wins, worst
from spillway.contest.results import adjusted
from spillway.contest.summary import answer, yours
from spillway.result.metrics import found as metric_of
from spillway.theory.slotted import Arrivals, optimum, run

NAN, INF = math.nan, math.inf
# Two contexts with two seeds each, three levels; the last level is not in the second context.
TABLE = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 6.0], [2.0, 1.0, NAN], [5.0, 4.0, NAN]])
CONTEXTS = [0, 0, 1, 1]


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Ranks --------------------------------------------------------------------------------------------


def test_ranks_share_ties_and_stretch_where_a_level_is_missing():
    close(ranks(TABLE), [[1, 2, 3], [1.5, 1.5, 3], [3, 1, NAN], [3, 1, NAN]])


def test_mean_ranks_are_over_all_pairs_of_a_context_and_a_seed():
    found = means(ranks(TABLE), CONTEXTS, 1)
    # (1 + 1.5 + 3 + 3) / 4, (2 + 1.5 + 1 + 1) / 4, and 3.
    close([each.value for each in found], [2.125, 1.375, 3.0])
    # A sample has one context twice, or both: the mean is that of the first, of both, or the last.
    assert (found[0].low, found[0].high) == (1.25, 3.0)
    # The last level is in one context alone.
    assert math.isnan(found[2].low)


def test_wins_count_ties_as_half_and_only_pairs_that_meet():
    found = wins(TABLE, CONTEXTS, 1)
    # The first is below the second once, equal once, and above twice.
    assert found[0][1].value == 1.5 / 4
    assert found[1][0].value == 2.5 / 4
    assert found[0][2].value == 1.0
    assert math.isnan(found[0][0].value)


def test_regret_is_relative_to_the_best_of_the_same_context_and_seed():
    close(regrets(TABLE), [[0, 1, 3], [0, 0, 1], [1, 0, NAN], [0.25, 0, NAN]])
    value, at = worst(regrets(TABLE))
    assert value.tolist() == [1.0, 1.0, 3.0]
    assert at.tolist() == [2, 0, 0]


def test_what_never_ended_is_beaten_by_all_and_equal_to_its_like():
    table = np.array([[INF, INF, 3.0]])
    assert ranks(table).tolist() == [[2.5, 2.5, 1.0]]
    assert regrets(table).tolist() == [[INF, INF, 0.0]]
    # Nobody ended: there is no best.
    assert np.isnan(regrets(np.array([[INF, INF]]))).all()


def test_ratios_to_one_level():
    close(ratios(TABLE, lambda each: each[:, 1])[:2], [[0.5, 1, 2], [1, 1, 2]])


def test_intervals_are_the_same_each_time():
    assert means(TABLE, CONTEXTS, 1) == means(TABLE, CONTEXTS, 1)


# What did not end ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "unfinished", "expected"),
    [
        ("all.p99", 0, 9.0),
        ("all.p99", 2, 9.0),  # of 200 flows two lie above the percentile
        ("all.p99", 3, INF),
        ("all.p95", 3, 5.0),
        ("all.mean", 1, INF),
        ("fct_slowdown.all.p99", 3, INF),
        ("timeouts", 2, 3.0),
    ],
)
def test_flows_that_did_not_end_are_infinitely_slow(tiny, name, unfinished, expected):
    row = {"mean": 2.0, "p50": 1.0, "p95": 5.0, "p99": 9.0, "count": 200 - unfinished}
    classes = {**tiny.summary["fct_slowdown"], "all": {**row, "unfinished": unfinished}}
    summary = {**tiny.summary, "fct_slowdown": classes, "timeouts": 3}
    (metric,) = metric_of([name], [tiny.summary])
    assert adjusted(metric, summary) == expected


# Effects ------------------------------------------------------------------------------------------


def crossed(value, copies=2):
    """Two AQMs and two policies in two scenarios, contexts in copies, each with two seeds."""
    rows = [
        (scenario, aqm, sharing, seed, 4 * scenario + 2 * aqm + copy)
        for scenario in range(2)
        for aqm in range(2)
        for copy in range(copies)
        for sharing in range(2)
        for seed in (1, 2)
    ]
    logs = np.array([value(*row[:4]) for row in rows], dtype=float)
    names = ("scenario", "aqm", "sharing")
    columns = {name: [f"{name}{row[at]}" for row in rows] for at, name in enumerate(names)}
    return logs, [row[3] for row in rows], columns, [row[4] for row in rows]


def test_sums_of_squares_of_an_additive_table_add_up():
    # Blocks (scenario and seed) take 10 s + t. Within them aqm adds +-1, sharing +-2: with eight
    # runs in a block the squares are 8 x 1 and 8 x 4, so the shares are 1/5 and 4/5.
    found = effects(*crossed(lambda s, a, p, t: 10 * s + t + 2 * a + 4 * p), "sharing")
    assert found.shares["sharing",].value == pytest.approx(0.8, abs=1e-6)
    assert found.shares["aqm",].value == pytest.approx(0.2, abs=1e-6)
    assert found.left == pytest.approx(0.0, abs=1e-6)
    assert found.shares["scenario", "sharing"].value == pytest.approx(0.0, abs=1e-6)
    off = [each.value for each in found.levels["sharing"].values()]
    assert off == pytest.approx([-2, 2], rel=1e-4)


def test_an_interaction_has_what_the_additive_model_leaves():
    # Sharing's effect turns round with the scenario: its own sum of squares is 0, all is theirs.
    found = effects(*crossed(lambda s, a, p, t: t + (2 * s - 1) * (2 * p - 1)), "sharing")
    assert found.shares["sharing",].value == pytest.approx(0.0, abs=1e-6)
    assert found.shares["scenario", "sharing"].value == pytest.approx(1.0, abs=1e-6)
    assert found.left == pytest.approx(1.0, abs=1e-6)


def test_terms_for_which_contexts_are_too_few_have_no_share():
    # Four contexts, and three constants for scenario and AQM: one is left, three are wanted.
    found = effects(*crossed(lambda s, a, p, t: t + a + p, copies=1), "sharing")
    assert ("aqm",) in found.few
    assert ("scenario", "aqm") in found.few
    assert ("aqm",) not in found.shares
    assert "aqm" not in found.levels


def test_nothing_is_explained_with_two_contexts():
    logs, seeds, columns, _ = crossed(lambda s, a, p, t: t + a + p)
    assert effects(logs, seeds, columns, [at % 2 for at in range(len(logs))], "sharing") is None


def test_nothing_is_explained_where_all_are_equal():
    assert effects(*crossed(lambda s, a, p, t: 10 * s + t), "sharing") is None


def test_a_fraction_is_not_orthogonal_and_factors_are_charged_for_what_they_alone_explain():
    # Nine contexts: aqm and transport agree in six of nine, and only aqm does anything (+-1).
    pairs = [(0, 0)] * 3 + [(1, 1)] * 3 + [(0, 1), (1, 0), (1, 0)]
    rows = [
        (aqm, transport, sharing, at)
        for at, (aqm, transport) in enumerate(pairs)
        for sharing in range(2)
    ]
    columns = {
        "scenario": ["one"] * len(rows),
        "aqm": [str(row[0]) for row in rows],
        "transport": [str(row[1]) for row in rows],
        "sharing": [str(row[2]) for row in rows],
    }
    logs = np.array([2.0 * row[0] for row in rows])
    found = effects(logs, [1] * len(rows), columns, [row[3] for row in rows], "sharing")
    assert found.shares["transport",].value == pytest.approx(0.0, abs=1e-6)
    # Alone aqm explains all. Without it transport stands in for it: of nine contexts, 5 have aqm
    # 1; 3 of 4 with transport 1, 2 of 5 with transport 0. Total: 9 x 5/9 x 4/9 = 20/9. Between
    # transports: 4 x (3/4)^2 + 5 x (2/5)^2 - 9 x (5/9)^2 = 9/4 + 4/5 - 25/9 = 49/180.
    assert found.shares["aqm",].value == pytest.approx(1 - (49 / 180) / (20 / 9), abs=1e-6)


# Hardware, and the optimum ------------------------------------------------------------------------


def test_state_is_counted_in_bits_of_one_switch():
    found = states("sharing")
    assert found["dt"] == State(0, "")
    # Static partitioning: 2 counters of 24 bits for each of 32 ports.
    assert found["sp"] == State(2 * 24 * 32, "")
    # Harmonic: a counter for each of 256 queues.
    assert found["harmonic"] == State(24 * 256, "")
    # A link for each packet is told in words.
    assert found["lqd"] == State(0, "for each packet 1 link to the one before")
    # TLT: a counter for each port, a bit for each of 10,666 packets.
    assert states("protection") == {"none": State(0, ""), "tlt": State(24 * 32 + 10_666, "")}
    assert states("transport") == states("levels") == {}


def test_the_front_compares_states_only_as_far_as_they_are_known():
    exact, large, open_, unknown = State(8, ""), State(64, ""), State(0, "a link"), None
    # The second is worse in tail, and larger.
    assert front([1.0, 2.0], [1.0, 1.0], [exact, large]) == [True, False]
    # The first has an unknown part, so it does not beat the second, which may be smaller.
    assert front([1.0, 2.0], [1.0, 1.0], [open_, exact]) == [True, True]
    assert front([1.0, 2.0], [1.0, 1.0], [exact, unknown]) == [True, True]
    # Of two that are equally unknown the better one counts.
    assert front([1.0, 2.0], [1.0, 1.0], [unknown, unknown]) == [True, False]
    # Equal in all is no reason to fall off.
    assert front([1.0, 1.0], [1.0, 1.0], [exact, exact]) == [True, True]


def test_the_distance_to_the_optimum_is_that_of_the_slotted_model():
    levels = factors("sharing=lqd,occamy,own,dt8:switch.sharing={kind='dt',alpha=8}")[-1].levels
    found = slotted.distances(levels)
    shares = []
    for kind, keys in slotted.KINDS.items():
        for seed in slotted.SEEDS:
            arrivals = Arrivals.generate(
                kind, ports=8, buffer=64, seed=seed, keys={"slots": 2000, **keys}
            )
            sent = run("dt", arrivals, buffer=64, alpha=8).transmitted
            shares.append(sent / optimum(arrivals, buffer=64))
    assert found["dt8"].mean == pytest.approx(sum(shares) / len(shares))
    assert found["dt8"].least == pytest.approx(min(shares))
    assert found["lqd"].mean > found["dt8"].mean
    assert "expels packets" in found["occamy"].why
    assert found["own"].why == "not in the slotted model: the level names no policy"


@pytest.mark.parametrize(
    ("level", "why"),
    [
        (Level("mine", ("switch.sharing=mine",), "mine", is_plugin=True), "it takes no plug-ins"),
        (Level("x", ("switch.aqm=none",)), "it has no switch.aqm"),
        (Level("x", ("switch.sharing=nix",)), "nix"),
    ],
)
def test_what_is_not_in_the_slotted_model_says_why(level, why):
    assert why in slotted.distances([level])[level.name].why


# In words -----------------------------------------------------------------------------------------


def told(value, low=None, high=None):
    return {"value": value, "low": value if low is None else low, "high": high or value}


def document(beats, rank, contexts=6):
    """Two levels, of which the first beats LQD so often, with these ranks."""
    return {
        "metric": "all.p99",
        "ranked": "sharing",
        "scenarios": ["one"],
        "seeds": [1],
        "counted": {"contexts": contexts, "scenarios": 1},
        "levels": [{"level": "dt", "rank": told(rank)}, {"level": "lqd", "rank": told(3 - rank)}],
        "wins": [[told(None), beats], [told(1 - beats["value"]), told(None)]],
    }


def test_it_is_said_that_nothing_beats_lqd():
    found = answer(document(told(0.4, 0.3, 0.6), 1.6))
    assert found == (
        "Nothing is shown to beat LQD over 6 contexts in 1 scenario, with 1 seed: `dt` "
        "comes nearest, in 40% (30% to 60%) of pairs."
    )


def test_it_is_said_who_is_best_and_how_often_it_beats_lqd():
    found = answer(document(told(0.8, 0.6, 0.9), 1.2))
    assert "`dt` has the best mean rank, 1.2 (1.2 to 1.2) of 2" in found
    assert found.endswith("`dt` beats LQD in 80% (60% to 90%) of pairs.")


def test_what_beats_lqd_is_judged_for_all_levels_together():
    # 56% to 84% is 70% +- 2 standard errors; of 16 levels the best one has 3 by chance.
    found = document(told(0.7, 0.56, 0.84), 1.2)
    assert "beats LQD in 70%" in answer(found)
    others = [{"level": f"x{at}", "rank": told(2.5)} for at in range(15)]
    row = [told(0.5)] * 17
    wins_ = [[*each, *row[:15]] for each in found["wins"]] + [row] * 15
    told_ = answer({**found, "levels": [*found["levels"], *others], "wins": wins_})
    assert told_.startswith("Nothing is shown to beat LQD")
    assert "`dt` comes nearest" in told_


def test_it_is_said_where_ones_own_level_stands():
    found = document(told(0.4, 0.3, 0.6), 1.6)
    rows = [{"scenario": "one", "wins": 2, "ties": 1, "losses": 3}]
    assert yours({**found, "by_scenario": {"dt": rows}}, "dt") == (
        "`dt`, which is yours, is number 2 of 2, behind `lqd`: its mean rank is 1.6 (1.6 to 1.6). "
        "Won, equal and lost against all others: one 2, 1 and 3."
    )
    equal = {**document(told(0.5), 1.5), "by_scenario": {"dt": rows}}
    assert "is number 1 of 2: its mean rank" in yours(equal, "dt")
    without = {"level": "dt", "rank": told(None)}
    assert yours({**found, "levels": [without]}, "dt").endswith("has no number in any run.")


def test_a_few_contexts_tell_nothing_of_lqd():
    found = answer(document(told(0.8, 0.6, 0.9), 1.2, contexts=5))
    assert found.endswith("these are too few contexts to tell what beats LQD.")


def test_a_single_context_has_no_intervals():
    (found, *_) = means(ranks(TABLE[:2]), [0, 0], 1)
    assert (found.value, math.isnan(found.low), math.isnan(found.high)) == (1.25, True, True)


def test_it_is_said_that_all_are_equal():
    equal = document(told(0.5), 1.5)
    for level in equal["levels"]:
        level["worst"] = 0.0
    assert answer(equal).startswith("All levels are equal by all.p99")
    # Each of two wins once.
    equal["levels"][0]["worst"] = 0.01
    assert "All levels are equal" not in answer(equal)
