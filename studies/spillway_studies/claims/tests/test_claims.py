"""Percentiles, samples drawn again, and verdicts: numbers worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import figures
from spillway.base.result_schema import CLASSES
from spillway_studies.claims import (
    Alike,
    Apart,
    AtLeast,
    AtMost,
    Beside,
    Claim,
    Excess,
    Falls,
    MeanTime,
    Near,
    NoGain,
    Number,
    Outcome,
    Over,
    Plain,
    Reduction,
    Results,
    Share,
    Sum,
    Tail,
    TailTime,
    Times,
    Total,
    Within,
    metric,
    product,
    samples,
    tables,
)
from spillway_studies.claims.claim import Estimate, Verdict, judge
from spillway_studies.claims.finding import counted, examine, tally
from spillway_studies.claims.metric import Behind, caution, of_each

LEAST = 2.0**-20
"""Numbers that are not rounded, for the edges."""


@pytest.mark.parametrize(
    ("rule", "interval", "verdict"),
    [
        # 95.5% less is 0.045 of the old: 0.03375 to 0.05625, which is 94.375% to 96.625% less.
        (Near(0.955), (0.944, 0.966), "holds"),
        (Near(0.955), (0.943, 0.966), "undecided"),
        (Near(0.955), (0.944, 0.967), "undecided"),
        (Near(0.955), (0.751, 0.757), "does not hold"),
        (Near(0.955), (0.967, 0.99), "does not hold"),
        (Near(0.955), (-0.5, 0.9), "does not hold"),
        (Near(0.955), None, "undecided"),
        # 0.25 is left: 0.1875 to 0.3125; 0.75 is gone: 0.5625 to 0.9375.
        (Near(0.75), (0.6875, 0.8125), "holds"),
        (Near(0.75), (0.6875 - LEAST, 0.8125), "undecided"),
        (Near(0.75), (0.6875, 0.8125 + LEAST), "undecided"),
        (Near(0.75), (0.5, 0.6875), "undecided"),
        (Near(0.75), (0.5, 0.6875 - LEAST), "does not hold"),
        (Near(0.75), (0.8125 + LEAST, 0.9), "does not hold"),
        # 0.75 is left: 0.5625 to 0.9375; 0.25 is gone: 0.1875 to 0.3125. Nothing gained is no gain.
        (Near(0.25), (0.1875, 0.3125), "holds"),
        (Near(0.25), (0.0, 0.1), "does not hold"),
        # An accuracy of 0.99 errs in 1%: 0.75% to 1.25%.
        (Near(0.99), (0.9876, 0.9924), "holds"),
        (Near(0.99), (0.9995, 0.9997), "does not hold"),
        # A recall of 0.35: 0.2625 to 0.4375, as 0.65 missed are 0.4875 to 0.8125.
        (Near(0.35), (0.263, 0.437), "holds"),
        (Near(0.35), (0.05, 0.14), "does not hold"),
        (Within(8.0), (6.0, 10.0), "holds"),
        (Within(8.0), (6.0 - LEAST, 10.0), "undecided"),
        (Within(8.0), (6.0, 10.0 + LEAST), "undecided"),
        (Within(8.0), (10.0 + LEAST, 20.0), "does not hold"),
        (Within(8.0, 0.5), (4.0, 12.0), "holds"),
        (Within(8.0), None, "undecided"),
        (Alike(), (-0.1, 0.1), "holds"),
        (Alike(), (-0.05, 0.11), "undecided"),
        (Alike(), (-0.3, 0.5), "undecided"),
        (Alike(), (0.11, 0.2), "does not hold"),
        (Alike(), (-0.2, -0.11), "does not hold"),
        (Alike(0.5), (-0.5, 0.5), "holds"),
        (Alike(), None, "undecided"),
        (Apart(), (LEAST, 0.02), "holds"),
        (Apart(), (0.0, 0.02), "undecided"),
        (Apart(), (-0.1, 0.0), "does not hold"),
        (Apart(), None, "undecided"),
        (Apart(0.5), (0.5, 0.7), "holds"),
        (Apart(0.5), (0.3, 0.7), "undecided"),
        (Apart(0.5), (0.3, 0.49), "does not hold"),
        (Falls(), (-0.02, -LEAST), "holds"),
        (Falls(), (-0.02, 0.0), "undecided"),
        # A flat curve does not fall.
        (Falls(), (0.0, 0.0), "does not hold"),
        (Falls(), (LEAST, 0.1), "does not hold"),
        (Falls(), None, "undecided"),
        (NoGain(), (-0.6, 0.1), "holds"),
        (NoGain(), (-0.1, 0.5), "undecided"),
        (NoGain(), (0.11, 0.3), "does not hold"),
        (NoGain(), None, "undecided"),
        # The truth is the worst that was found, or worse.
        (AtMost(1.5), (1.5, math.inf), "undecided"),
        (AtMost(1.5), (1.5 + LEAST, math.inf), "does not hold"),
        (AtLeast(8.0, 0.25), (6.0, math.inf), "holds"),
        (AtLeast(8.0, 0.25), (6.0 - LEAST, math.inf), "undecided"),
        (AtLeast(8.0), (7.5, math.inf), "undecided"),
    ],
)
def test_verdicts(rule, interval, verdict):
    assert judge(rule, Estimate(0.0, interval)) == verdict


@pytest.mark.parametrize("part", [0.0, 1.0, -0.2, 2.9])
def test_a_part_is_of_a_whole(part):
    with pytest.raises(ValueError, match="no part of a whole"):
        Near(part)


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


def taking(times_us, units, name="short"):
    """An outcome with flows that took this long."""
    outcome = of([1.0] * len(times_us), units, name)
    column = pa.array(times_us, pa.float64())
    return Outcome(outcome.numbers, outcome.samples.append_column("fct_us", column), "name")


def test_completion_times_are_told_in_milliseconds():
    # 1 to 10 ms and 11 to 20 ms: the 19th of 20, and the mean.
    low, high = (taking([1000 * (n + first) for n in range(1, 11)], range(10)) for first in (0, 10))
    both = {1: low, 2: high}
    tail, mean = TailTime("short", 0.95), MeanTime("short")
    assert (tail.measured(both, 0).value, mean.measured(both, 0).value) == (19, 10.5)
    assert (tail.unit, tail.name) == ("ms", "short flows' p95 completion time")
    assert (mean.unit, mean.name) == ("ms", "short flows' mean completion time")
    assert mean.measured({1: low}, 0).value == 5.5
    assert TailTime("long", 0.95).measured(both, 0).value is None
    assert mean.measured({1: taking([], [])}, 10).value is None
    # All flows are alike in slowdown; what is beyond the percentile is so by time.
    assert tail.behind(both).flows == 2


def test_a_mean_is_that_of_the_flows_that_are_drawn():
    # Three seeds, each with a query of one flow of 1 ms and one of three flows of 3 ms. Drawn are
    # six queries, n of them the first: the mean is (n + 9 (6 - n)) / (n + 3 (6 - n)).
    alike = taking([3000, 1000, 3000, 3000], [1, 0, 1, 1])
    found = MeanTime("short").measured({1: alike, 2: alike, 3: alike}, 4000)
    assert found.value == 2.5
    means = [(n + 9 * (6 - n)) / (n + 3 * (6 - n)) for n in range(7)]
    assert all(np.isclose(found.replicates[:, None], means).any(axis=1))
    # n = 3, where the mean is 2.5, in 20 of 64 draws.
    assert np.isclose(found.replicates, 2.5).mean() == pytest.approx(20 / 64, abs=0.03)


def test_means_are_drawn_on_one_thread_however_many_there_are(monkeypatch):
    def threads():
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    drawn = MeanTime.of_drawn
    seen = []

    def watched(*given):
        seen.append(threads())
        return drawn(*given)

    monkeypatch.setattr(MeanTime, "of_drawn", watched)
    monkeypatch.setattr("spillway_studies.claims.results.REPLICATES", 3)
    cells = {
        (0, name, seed): taking([1000.0, 3000.0], range(2))
        for name in ("new", "old")
        for seed in (1, 2, 3)
    }
    claim = Claim("", "", Reduction(MeanTime("short"), "new", "old"), Alike())
    with threadpool_limits(2, "blas"):
        assert threads() == {2}
        assert examine(claim, results(cells)).estimate is not None
        assert threads() == {2}
    assert seen == [{1}] * 2 * 3


def test_a_scheme_s_mean_is_drawn_with_that_of_the_others():
    # Twice as slow in every draw.
    slow, fast = (
        {seed: taking([factor * seed * 1000, factor * 7000], range(2)) for seed in (1, 2, 3)}
        for factor in (2, 1)
    )
    drawn = of_each(MeanTime("short"), {"slow": slow, "fast": fast}, 200)
    assert np.allclose(drawn["slow"].replicates, 2 * drawn["fast"].replicates)
    assert len(set(drawn["fast"].replicates)) > 5


def test_seeds_are_drawn_again():
    # A flow each, of 1, 2 and 3. Of three drawn the second in order is 1 if at least two are: with
    # 7 of 27 draws; 3 as often, else 2.
    seeds = {seed: of([seed], [0]) for seed in (1, 2, 3)}
    found = Tail("incast", 0.5).measured(seeds, 4000)
    assert found.value == 2
    share = {value: (found.replicates == value).mean() for value in (1, 2, 3)}
    assert share == pytest.approx({1: 7 / 27, 2: 13 / 27, 3: 7 / 27}, abs=0.03)
    assert found.interval == (1, 3)


def test_a_query_s_flows_are_drawn_together_and_anew_for_a_seed_that_is_drawn_twice():
    # Three seeds alike: a query with one flow of 1, another with three of 3. Six queries are drawn,
    # n of them the first: of 18 - 2n flows the (9 - n)th is 1 if n is 5 or 6, in 7 of 64 draws. It
    # would be 0.177 if a seed drawn twice brought the same queries twice.
    alike = of([3, 1, 3, 3], [1, 0, 1, 1])
    found = Tail("incast", 0.5).measured({1: alike, 2: alike, 3: alike}, 4000)
    assert found.value == 3
    assert set(found.replicates) == {1, 3}
    assert (found.replicates == 1).mean() == pytest.approx(7 / 64, abs=0.02)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.95, 0.99])
def test_replicates_are_percentiles_of_what_was_drawn(p):
    # So heavy a tail, and so few flows, that the worst flows alone would not always do.
    units = {seed: np.sort(RNG.permutation(np.arange(1_000) % 30 // seed)) for seed in (1, 2, 5)}
    slowdowns = {seed: np.round(seed * RNG.pareto(1.0, 1_000), 1) for seed in units}
    found = Tail("incast", p).measured(
        {seed: of(list(slowdowns[seed]), unit) for seed, unit in units.items()}, 50
    )
    seeds = metric._draws_of_seeds(list(units))
    draw = {seed: metric._draws(seed, "incast", unit.max() + 1) for seed, unit in units.items()}
    for replicate in found.replicates:
        times = seeds()
        assert sum(times.values()) == 3
        drawn = np.concatenate(
            [np.repeat(slowdowns[seed], draw[seed](times[seed])[units[seed]]) for seed in units]
        )
        assert replicate == np.sort(drawn)[samples.rank(len(drawn), p) - 1]


@pytest.mark.parametrize(("seeds", "share"), [(3, 0.77), (10, 0.94)])
def test_intervals_hold_the_truth_as_often_as_is_said(seeds, share):
    # As studies/reproduce.md has it: seeds and the flows within them spread alike, around 0.
    random = np.random.default_rng(seeds)
    hits, trials = 0, 200
    for _ in range(trials):
        found = Tail("incast", 0.5).measured(
            {
                seed: of(random.normal() + random.normal(size=100), np.arange(100))
                for seed in random.integers(1 << 30, size=seeds).tolist()
            },
            100,
        )
        low, high = found.interval
        hits += low <= 0 <= high
    # Three standard deviations of this many trials.
    assert hits / trials == pytest.approx(share, abs=3 * (share * (1 - share) / trials) ** 0.5)


def test_seeds_without_such_flows_bring_none():
    # With one draw in 27 only the last seed is drawn: there is nothing then.
    seeds = {1: of([5], [0]), 2: of([7], [0]), 3: of([], [])}
    found = Tail("incast", 0.5).measured(seeds, 4000)
    assert np.isnan(found.replicates).mean() == pytest.approx(1 / 27, abs=0.015)
    assert found.interval == (5, 7)


def test_fewer_than_three_seeds_have_no_interval():
    many = of(list(RNG.exponential(size=500)), range(500))
    assert Tail("incast", 0.5).measured({1: many}, 100).interval is None
    assert Tail("incast", 0.5).measured({1: many, 2: many}, 100).interval is None
    assert Tail("incast", 0.5).measured({1: many, 2: many, 3: many}, 100).interval is not None
    cells = {(0, name, seed): many for name in ("new", "old") for seed in (1, 2)}
    claim = Claim("", "", Reduction(Tail("incast", 0.5), "new", "old"), Alike())
    finding = examine(claim, results(cells))
    assert (finding.estimate, finding.verdict) == (Estimate(0.0), Verdict.UNDECIDED)
    assert "no 95% intervals" in caution(2)
    assert "too narrow" in caution(3) and "too narrow" in caution(9)
    assert caution(10) == ""


RNG = np.random.default_rng(1)


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


def test_pairs_are_drawn_alike():
    # What is old takes twice as long in every flow: half is saved, whatever is drawn.
    units = [number // 4 for number in range(40)]
    cells = {}
    for seed in (1, 2, 3):
        values = list(RNG.exponential(size=40) * seed)
        cells[0, "new", seed] = of(values, units)
        cells[0, "old", seed] = of([2 * value for value in values], units)
    tail = Tail("incast", 0.9)
    finding = examine(Claim("", "", Reduction(tail, "new", "old"), Near(0.5)), results(cells))
    assert finding.estimate == Estimate(0.5, (0.5, 0.5))
    assert finding.by_seed == {1: 0.5, 2: 0.5, 3: 0.5}
    assert finding.verdict is Verdict.HOLDS
    finding = examine(Claim("", "", Excess(tail, "old", "new"), Within(0.5)), results(cells))
    assert finding.estimate == Estimate(1.0, (1.0, 1.0))
    assert finding.verdict is Verdict.FAILS


def test_the_same_seeds_and_flows_are_drawn_at_every_point():
    # Flows of v at one point and of 1 - v at the other: the medians of odd numbers add up to 1.
    units = range(5)
    cells = {}
    for seed in (1, 2, 3):
        values = RNG.random(5)
        cells[0, "only", seed] = of(list(values), units)
        cells[1, "only", seed] = of(list(1 - values), units)
    claim = Claim("", "", Plain(Tail("incast", 0.5), "only"), Within(0.5))
    found = examine(claim, results(cells, 2, schemes=("only",)))
    assert found.estimate.interval == pytest.approx((0.5, 0.5))


def of_ratios(*ratios):
    """Three seeds alike; by point, what the new takes of the old."""
    return {
        (place, name, seed): of([value], [0])
        for place, ratio in enumerate(ratios)
        for name, value in (("new", ratio), ("old", 1.0))
        for seed in (1, 2, 3)
    }


SAVED = Reduction(Tail("incast", 0.5), "new", "old")


@pytest.mark.parametrize(
    ("take", "rule", "value", "over"),
    [
        # Saved: 1/2, 1/4, -1/2 and -3/4.
        ("mean", Alike(), -0.125, "mean of 4 points"),
        ("largest", Near(0.5), 0.5, "x = 0, largest of 4 points"),
        ("each", Alike(), -0.75, "x = 3, worst of 4 points"),
        ("each", Apart(), -0.75, "x = 3, worst of 4 points"),
        ("each", NoGain(), 0.5, "x = 0, worst of 4 points"),
    ],
)
def test_what_is_taken_of_several_points(take, rule, value, over):
    found = results(of_ratios(0.5, 0.75, 1.5, 1.75), 4)
    finding = examine(Claim("", "", SAVED, rule, Over(take=take)), found)
    assert (finding.estimate, finding.over) == (Estimate(value, (value, value)), over)
    assert finding.by_seed == {1: value, 2: value, 3: value}
    one = examine(Claim("", "", SAVED, rule, Over({"x": 1}, take)), found)
    assert (one.estimate.value, one.over, one.points) == (0.25, "x = 1", 1)


def test_growth_is_from_the_first_point_to_the_last():
    # Saved: 1/2, 9/10, -1/2 and 3/4.
    claim = Claim("", "", SAVED, Apart(0.2), Over(take="growth"))
    finding = examine(claim, results(of_ratios(0.5, 0.1, 1.5, 0.25), 4))
    assert (finding.estimate, finding.verdict) == (Estimate(0.25, (0.25, 0.25)), Verdict.HOLDS)
    assert (finding.over, finding.points) == ("x = 3, less that with x = 0", 4)
    assert finding.by_seed == {1: 0.25, 2: 0.25, 3: 0.25}


def test_relative_growth_is_a_part_of_the_first_point_s():
    # Saved: 1/2, then 3/4, which is half of 1/2 more.
    claim = Claim("", "", SAVED, Apart(0.2), Over(take="relative growth"))
    finding = examine(claim, results(of_ratios(0.5, 0.1, 1.5, 0.25), 4))
    assert (finding.estimate, finding.verdict) == (Estimate(0.5, (0.5, 0.5)), Verdict.HOLDS)
    assert (finding.over, finding.points) == ("x = 3, over that with x = 0", 4)
    assert finding.by_seed == {1: 0.5, 2: 0.5, 3: 0.5}


def test_what_is_said_of_each_point_has_to_be_so_at_all_of_them():
    def verdict(cells, points):
        claim = Claim("", "", SAVED, Alike(), Over(take="each"))
        return examine(claim, results(cells, points)).verdict

    assert verdict(of_ratios(1.0, 0.95, 1.05), 3) is Verdict.HOLDS
    # A third more at one point, and a third less at the other: alike on average, and nowhere.
    assert verdict(of_ratios(2 / 3, 4 / 3), 2) is Verdict.FAILS
    # At the second point the seeds save 0, 1/10 and 1/5: too far for the last.
    wide = of_ratios(1.0, 1.0)
    wide |= {(1, "new", seed): of([1.1 - seed / 10], [0]) for seed in (1, 2, 3)}
    assert verdict(wide, 2) is Verdict.UNDECIDED
    # Where it is not so at one point, others that are undecided are no excuse.
    wide |= {
        (2, name, seed): of([v], [0])
        for name, v in (("new", 1.5), ("old", 1))
        for seed in (1, 2, 3)
    }
    assert verdict(wide, 3) is Verdict.FAILS


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


@pytest.mark.parametrize(
    ("formula", "take", "value", "told"),
    [
        # Saved: 1/2, 1/4 and -1/2; in times the old: 1/2, 3/4 and 3/2. The slides say 88%, or 23.
        (SAVED, "largest", 0.5, ("88.0%", "50.0%")),
        (SAVED, "mean", 0.25 / 3, ("88.0%", "8.3%")),
        (SAVED, "each", 0.5, ("88.0%", "50.0%")),
        (Times(Tail("incast", 0.5), "new", "old"), "largest", 1.5, ("23", "1.5")),
    ],
)
def test_a_number_of_other_traffic_stands_beside_ours_without_a_verdict(formula, take, value, told):
    rule = Beside(0.88 if formula.is_change else 23.0)
    finding = examine(
        Claim("", "", formula, rule, Over(take=take)), results(of_ratios(0.5, 0.75, 1.5), 3)
    )
    assert finding.verdict is Verdict.NONE
    assert finding.estimate.value == pytest.approx(value)
    row = finding.document
    assert row["range"] is None
    assert (tables.asked(row), tables.told(row["ours"], row["is_change"])) == told


def test_what_other_traffic_has_without_a_number_has_none():
    finding = examine(Claim("", "", SAVED, Beside()), results(of_ratios(0.5)))
    assert (finding.verdict, tables.asked(finding.document)) == (Verdict.NONE, "-")


def numbers(**found):
    return Outcome({name.replace("__", "."): value for name, value in found.items()})


def test_numbers_are_means_over_seeds_with_an_interval_from_three_on():
    cells = {(0, "only", seed): numbers(x=value) for seed, value in ((1, 1.0), (2, 2.0), (3, 6.0))}
    claim = Claim("", "", Plain(Number("x", "x", scale=10), "only"), Within(30.0))
    found = examine(claim, results(cells, schemes=("only",)))
    assert found.estimate.value == pytest.approx(30)
    # Student's t for 2 degrees of freedom is 4.3027; the deviation is sqrt(700), over sqrt(3).
    half = 4.302653 * (700 / 3) ** 0.5
    assert found.estimate.interval == pytest.approx((30 - half, 30 + half), rel=1e-5)
    two = {place: cell for place, cell in cells.items() if place[2] < 3}
    assert examine(claim, results(two, schemes=("only",))).estimate.interval is None


def change_of(pairs, rule):
    """Of x under "new" and "old", a pair for every seed."""
    cells = {}
    for seed, (new, old) in enumerate(pairs, 1):
        cells |= {(0, "new", seed): numbers(x=new), (0, "old", seed): numbers(x=old)}
    claim = Claim("", "", Reduction(Number("x", "x"), "new", "old"), rule)
    return examine(claim, results(cells))


def test_a_change_of_numbers_and_its_interval_are_of_the_same_statistic():
    # Nine seeds in which 90% less is had, and one, a hundred times as large, with 45% less: the
    # mean of the ten changes is 85.5%, the change of the means 48.7%, which would break the rule
    # that the interval bears out.
    found = change_of([(10.0, 100.0)] * 9 + [(5500.0, 10_000.0)], Apart(0.5))
    assert found.estimate.value == pytest.approx(0.855)
    # The deviation of nine 0.9 and one 0.45 is 0.1423; t for 9 degrees of freedom is 2.2622.
    half = 2.262157 * 0.45 * (0.9 * 0.1 * 10 / 9) ** 0.5 / 10**0.5
    assert found.estimate.interval == pytest.approx((0.855 - half, 0.855 + half), rel=1e-5)
    assert found.verdict is Verdict.HOLDS


def test_a_seed_without_a_number_leaves_no_interval():
    # Nothing can be less than nothing: two of five seeds have no change.
    found = change_of(
        [(0.0, 0.0), (0.0, 0.0), (1.0, 4.0), (25.0, 100.0), (250.0, 1000.0)], Near(0.75)
    )
    assert [value is None for value in found.by_seed.values()] == [True, True, False, False, False]
    assert found.estimate.interval is None
    assert found.verdict is Verdict.UNDECIDED


def test_the_worst_of_all_seeds_is_a_bound():
    cells = {(0, "only", seed): numbers(x=value) for seed, value in ((1, 1.0), (2, 4.0))}
    worst = Number("x", "x", over_seeds="largest")

    def found(rule, metric=worst):
        claim = Claim("", "", Plain(metric, "only"), rule)
        return examine(claim, results(cells, schemes=("only",), drops=3.0))

    lost = Total("drops", "lost", "packets", "largest")
    assert found(AtMost(2.0), lost).estimate == Estimate(3.0, (3.0, math.inf))

    assert found(AtMost(3.9)).estimate == Estimate(4.0, (4.0, math.inf))
    assert found(AtMost(3.9)).verdict is Verdict.FAILS
    assert found(AtMost(4.0)).verdict is Verdict.UNDECIDED
    assert found(AtLeast(4.0)).verdict is Verdict.HOLDS
    assert found(AtMost(4.0)).document["interval"] == (4.0, None)
    assert found(AtMost(4.0)).document["range"] == (None, 4.0)
    assert found(Apart()).document["range"] == (0.0, None)


def test_what_was_chosen_in_hindsight_is_exploratory():
    seeds = (1, 2, 3)
    cells = {(0, name, seed): of([2.0], [0]) for name in ("new", "old") for seed in seeds}
    claim = Claim("", "", Reduction(Tail("incast", 0.5), "new", "old"), Alike())
    plain = results(cells)
    assert examine(claim, plain).exploratory == ""
    assert examine(replace(claim, exploratory="why"), plain).exploratory == "why"
    new, old = plain.figure.schemes
    figure = replace(plain.figure, schemes=(replace(new, exploratory="the reading"), old))
    assert examine(claim, Results(figure, seeds, plain._outcomes)).exploratory == "the reading"
    (point,) = plain.figure.points
    figure = replace(plain.figure, points=(replace(point, exploratory="the place"),))
    found = examine(replace(claim, exploratory="why"), Results(figure, seeds, plain._outcomes))
    assert found.exploratory == "why; the place"
    (joined,) = product([replace(point, exploratory="a")], [replace(point, exploratory="b")])
    assert joined.exploratory == "a; b"


def row(verdict, variant="", exploratory="", is_again=False):
    return {
        "verdict": verdict,
        "variant": variant,
        "exploratory": exploratory,
        "is_again": is_again,
    }


def test_a_claim_counts_once_and_not_if_it_is_exploratory():
    rows = [
        row("holds"),
        row("does not hold", "one reading"),
        row("undecided", "one reading"),
        row("holds", "one reading", "the percentile"),
        row("holds", "another reading"),
        row("holds", is_again=True),
        row("not comparable"),
    ]
    counts = {
        "holds": 1,
        "does not hold": 1,
        "undecided": 1,
        "not comparable": 1,
        "exploratory": 1,
    }
    assert tally(rows) == counts
    summaries = [
        {"figure": "a/b", "claims": rows, "verdicts": counts, "is_of_paper": True},
        {"figure": "a/c", "claims": rows, "verdicts": counts, "is_of_paper": False},
        {"figure": "a/d", "claims": [], "verdicts": tally([]), "is_of_paper": True},
    ]
    assert dict(counted(summaries)) == {"a/b": counts, "a/c": counts, "figures of papers": counts}


def test_a_sum_is_the_mean_over_seeds_of_numbers_added_up():
    both = Sum(("a", "b"), "both")
    assert both.measured({1: numbers(a=1, b=2), 2: numbers(a=5, b=0)}).value == 4.0
    # A seed that lacks one of them leaves no number.
    assert both.measured({1: numbers(a=1, b=2), 2: numbers(a=5)}).value is None
    assert both.measured({}).value is None


def test_shares_are_of_all_switches_together():
    counts = numbers(counts__leaf__a=1, counts__spine__a=2, counts__leaf__b=9, counts__leaf__c=100)
    share = Share("a", ("a", "b"), "counts", "a")
    assert share.measured({1: counts}, 0).value == 25
    assert share.measured({1: numbers(x=1)}, 0).value is None
