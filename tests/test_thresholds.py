"""`spillway.thresholds`: cases by hand, closed forms, searches of everything, a queue in time."""

import collections
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import differential_evolution

import spillway
from spillway import _core, thresholds
from spillway.theory.thresholds import OBJECTIVES, Sizes, optimise, value
from spillway.theory.thresholds.objectives import values

TWO = Sizes([(1000, 0.5), (3000, 0.5), (3000, 1.0)], "two")
"""1,000 or 3,000 bytes, equally likely: 2,000 on average."""

SKEWED = Sizes([(1000, 0.9), (11000, 0.9), (11000, 1.0)], "skewed")
"""Nine of ten flows have 1,000 bytes, the others 11,000: 2,000 on average."""


def best(objective, sizes, load, levels):
    """The best thresholds and their value."""
    found = optimise(OBJECTIVES[objective], sizes, load=load, levels=levels)
    return found, value(objective, sizes, found, load=load)


# What a threshold separates -----------------------------------------------------------------------


def test_a_cut_by_hand():
    # Up to 1,000 bytes everything is sent; of the 2,000 above that only half of the flows send.
    cut = TWO.cut(np.array([0, 500, 999, 1000, 2000, 3000, 5000]))
    assert cut.larger == pytest.approx([1, 1, 1, 0.5, 0.5, 0, 0])
    assert cut.share == pytest.approx([0, 0.25, 0.4995, 0.5, 0.75, 1, 1])
    # E[min(X, 2000)^2] = (1 + 4) / 2 and E[X^2] = (1 + 9) / 2, in squares of 1,000; 2^2 is 4.
    assert cut.squares[[4, 5]] == pytest.approx([2.5 / 4, 5 / 4])
    assert (TWO.mean, TWO.largest) == (2000, 3000)


def test_a_cut_of_a_straight_line_by_hand():
    # Uniform from 0 to 2,000: E[min(X, 1000)] = 500 / 2 + 1000 / 2, and E[X^2] = 2000^2 / 3.
    sizes = Sizes([(0, 0.0), (2000, 1.0)])
    cut = sizes.cut(np.array([1000.0, 2000.0]))
    assert cut.larger == pytest.approx([0.5, 0])
    assert cut.share == pytest.approx([0.75, 1])
    assert cut.squares == pytest.approx([1 / 6 + 1 / 2, 4 / 3])


def test_sizes_are_those_of_the_key():
    listed = [("websearch", 1_711_222.5), ("1KB..3KB", 2000), ("20KB", 20_000)]
    for name, mean in listed:
        assert Sizes.of(name).mean == pytest.approx(mean)
    assert Sizes.of("20KB").cut(np.array([19_999.0, 20_000.0])).larger == pytest.approx([1, 0])


# Objectives ---------------------------------------------------------------------------------------


def test_two_levels_by_hand():
    # Load 3/4, and 1,500 bytes: 5/8 of all bytes are sent in level 1, rho_1 = 15/32.
    # T_1 G_0: 5/8 / (1 - 15/32) = 20/17; T_2 G_1: 3/8 / (1 - 3/4) = 3/2.
    for objective in ("product", "left-over"):
        assert value(objective, TWO, [1500], load=0.75) == pytest.approx(20 / 17 + 3 / 2)
    # Half of the flows reach level 2: unweighted it counts twice.
    assert value("unweighted", TWO, [1500], load=0.75) == pytest.approx(20 / 17 + 3)
    # Half of the flows end in level 1: 1/2 / (1 - 3/8) + 1/2 / (1 - 3/4).
    assert value("flow-count", TWO, [1500], load=0.75) == pytest.approx(0.8 + 2)


def test_three_levels_by_hand():
    # Load 1/2; 500, 250 and 1,250 of 2,000 bytes: rho = 1/8, 1/16, 5/16.
    # Product: 1/4 / (7/8) + 1/8 / (7/8 - 1/16) + 5/8 / (7/8 15/16 - 5/16).
    found = value("product", TWO, [500, 750], load=0.5)
    assert found == pytest.approx(2 / 7 + 2 / 13 + (5 / 8) / (105 / 128 - 40 / 128))
    # Left over: 1/4 / (7/8) + 1/8 / (13/16) + 5/8 / (1/2).
    assert value("left-over", TWO, [500, 750], load=0.5) == pytest.approx(2 / 7 + 2 / 13 + 5 / 4)


def test_fcfs_in_levels_by_hand():
    # Load 1/2, a flow in 4,000 bytes' time; 1,000 is the threshold.
    # Level 1 has a load of 1/4: V = 1000^2 / 4000 / 2 / (3/4) = 500/3.
    # Level 2: E[X^2] = 13 million, V = 13,000,000 / 4000 / 2 / (1/2) = 3250.
    # Short flows take 500/3 + 1000, long ones (3250 + 11000) / (3/4) = 19000.
    expected = (0.9 * (500 / 3 + 1000) + 0.1 * 19000) / 2000
    assert value("ml-fcfs", SKEWED, [1000], load=0.5) == pytest.approx(expected)
    # In one queue all wait for 3250.
    assert value("ml-fcfs", SKEWED, [], load=0.5) == pytest.approx((3250 + 2000) / 2000)


@pytest.mark.parametrize("ends", [[], [1000], [500, 3000], [1000, 5000, 9000]])
def test_fcfs_in_levels_is_what_a_link_does(ends):
    # 300,000 flows: the standard deviation of the mean is below 1%.
    random = np.random.default_rng(1)
    starts = np.cumsum(random.exponential(4000, 300_000))
    sizes = np.where(random.random(len(starts)) < 0.9, 1000.0, 11000.0)
    mean = _mean_time(starts.tolist(), sizes.tolist(), [0, *ends, math.inf]) / 2000
    assert mean == pytest.approx(value("ml-fcfs", SKEWED, ends, load=0.5), rel=0.03)


def _mean_time(starts, sizes, ends):
    """The mean time of flows at a link that sends a byte in a unit of time, level by level."""
    queues = [collections.deque() for _ in ends[1:]]
    sent = [0.0] * len(sizes)
    now, total = 0.0, 0.0
    for flow, start in enumerate([*starts, math.inf]):
        # What is sent before this flow starts.
        while now < start and any(queues):
            level = next(place for place, queue in enumerate(queues) if queue)
            head = queues[level][0]
            step = min(sizes[head], ends[level + 1]) - sent[head]
            if now + step > start:
                sent[head] += start - now
                now = start
                continue
            now += step
            sent[head] += step
            queues[level].popleft()
            if sent[head] >= sizes[head] - 1e-6:
                total += now - starts[head]
            else:
                queues[level + 1].append(head)
        now = max(now, start)
        if flow < len(starts):
            queues[0].append(flow)
    return total / len(starts)


def test_without_levels_all_are_one_queue():
    for name in ("product", "left-over", "unweighted", "flow-count"):
        assert value(name, TWO, [], load=0.75) == pytest.approx(4)
    # M/D/1 in the mean: 1 + rho / (2 (1 - rho)).
    assert value("ml-fcfs", Sizes.of("20KB"), [], load=0.75) == pytest.approx(1 + 0.75 / 0.5)


def test_levels_without_flows_change_nothing():
    for name in OBJECTIVES:
        alone = value(name, TWO, [1500], load=0.6)
        assert value(name, TWO, [1500, 3000, 9999], load=0.6) == pytest.approx(alone)


# The search ---------------------------------------------------------------------------------------


def test_the_best_threshold_of_two_levels_by_hand():
    # w / (1 - rho w) + (1 - w) / (1 - rho) is least at w = 1 / (1 + sqrt(1 - rho)), here 2/3: 1,000
    # bytes of both, and a sixth of 4,000 more. There it is 2/3 / (1/2) + 1/3 / (1/4) = 8/3.
    for objective in ("product", "left-over"):
        found, least = best(objective, TWO, 0.75, 2)
        assert found in ((1666,), (1667,))
        assert least == pytest.approx(8 / 3, rel=1e-6)
    # Load 0.96: 5/6 of the bytes of one size.
    found, least = best("product", Sizes.of("20KB"), 0.96, 2)
    assert found == (16_667,) and least == pytest.approx(5 / 6 / 0.2 + 1 / 6 / 0.04, rel=1e-6)
    # Uniform: the share of bytes below t is 1 - (1 - t / 2000)^2.
    found, _ = best("product", Sizes([(0, 0.0), (2000, 1.0)]), 0.75, 2)
    assert found[0] == pytest.approx(2000 * (1 - math.sqrt(1 / 3)), abs=1)


def test_short_flows_alone_are_best_in_the_first_level_of_fcfs():
    # With less, short flows end behind long ones; with more, they wait for more of the long ones.
    assert best("ml-fcfs", SKEWED, 0.5, 2)[0] == (1000,)


def test_one_size_needs_no_levels_of_fcfs():
    # To divide flows of one size makes the first of two wait for the second.
    sizes = Sizes.of("20KB")
    found, least = best("ml-fcfs", sizes, 0.75, 3)
    assert found[0] >= 20_000 and least == value("ml-fcfs", sizes, [], load=0.75)


@pytest.mark.parametrize("levels", [2, 3, 5, 8])
@pytest.mark.parametrize("load", [0.3, 0.9])
def test_left_over_has_a_closed_form(levels, load):
    # 1 - rho W_l falls in equal ratios from 1 to 1 - rho; with flows for bytes F(thr_l) does.
    shares = (1 - (1 - load) ** (np.arange(1, levels) / levels)) / load
    least = levels / load * ((1 - load) ** (-1 / levels) - 1)
    sizes = Sizes([(0, 0.0), (10_000_000, 1.0)])
    found, reached = best("left-over", sizes, load, levels)
    assert sizes.cut(np.array(found)).share == pytest.approx(shares, abs=1e-5)
    assert reached == pytest.approx(least, rel=1e-9)
    found, reached = best("flow-count", sizes, load, levels)
    assert np.array(found) / 10_000_000 == pytest.approx(shares, abs=1e-5)
    assert reached == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("levels", [2, 3, 4])
def test_it_finds_what_a_search_of_everything_finds(objective, levels):
    random = np.random.default_rng(levels)
    for _ in range(12):
        ends = np.sort(random.integers(1, 46, 4))
        shares = np.sort(random.random(4))
        shares[-1] = 1.0
        shares[0] *= random.integers(0, 2)
        sizes = Sizes(list(zip(ends.tolist(), shares.tolist(), strict=True)))
        most = int(sizes.largest) + levels - 2
        rows = np.array(list(itertools.combinations(range(1, most + 1), levels - 1)), dtype=float)
        for load in (0.3, 0.8, 0.97):
            least = values(OBJECTIVES[objective], sizes, rows, load).min()
            assert best(objective, sizes, load, levels)[1] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_another_way_of_searching_finds_nothing_better(objective):
    sizes = Sizes.of("websearch-pfabric")

    def of_logarithms(columns):
        return values(OBJECTIVES[objective], sizes, np.exp(np.sort(columns.T, axis=1)), 0.8)

    other = differential_evolution(
        of_logarithms,
        [(0, math.log(sizes.largest))] * 7,
        vectorized=True,
        updating="deferred",
        rng=1,
        maxiter=600,
        tol=1e-10,
        polish=False,
    )
    # The other is not bound to whole bytes.
    assert best(objective, sizes, 0.8, 8)[1] <= other.fun * (1 + 1e-5)


def test_thresholds_rise_and_are_no_worse_than_one_queue():
    for entry in ("datamining-vl2", "keyvalue", "alibaba-solar"):
        for objective in OBJECTIVES:
            found, least = best(objective, Sizes.of(entry), 0.7, 8)
            assert all(low < high for low, high in itertools.pairwise((0, *found)))
            one = value(objective, Sizes.of(entry), [], load=0.7)
            assert least <= one * (1 + 1e-9)


# Beside published ones ----------------------------------------------------------------------------


def test_published_web_search_is_not_the_best():
    found = thresholds.find("websearch-pfabric", load=0.8)
    (published,) = found.published
    assert published.name == "websearch-0.8" and published.thresholds[0] == 909 * 1460
    gaps = {name: round(found.above(published, name), 3) for name in ("product", "left-over")}
    assert gaps == {"product": 0.429, "left-over": 0.369}
    assert found.above(found.best, "product") == 0
    assert found.above(found.optima["ml-fcfs"], "product") > 0.3
    assert found.above(found.one_queue, "product") == pytest.approx(5 / 1.75825 - 1, rel=1e-4)


@pytest.mark.parametrize(
    ("sizes", "load", "expected"),
    [
        ("websearch", 0.79, ["websearch-0.8"]),
        ("websearch-dctcp", 0.65, ["websearch-0.6"]),
        ("datamining", 0.1, ["datamining-0.5"]),
        ("keyvalue", 0.8, [name for name, _ in _core.published_thresholds()]),
    ],
)
def test_published_ones_are_those_that_fit(sizes, load, expected):
    assert [each.name for each in thresholds.find(sizes, load=load).published] == expected


def test_others_are_compared_if_they_are_named():
    found = thresholds.find("websearch", load=0.8, against=["datamining-0.5", "websearch-older"])
    assert [each.name for each in found.published] == ["datamining-0.5", "websearch-older"]
    assert thresholds.find("websearch", load=0.8, levels=3).published == ()


def test_the_setting_is_one_of_a_scenario():
    found = thresholds.find("websearch", load=0.6, levels=3)
    text = f"""
        name = "x"
        duration = "1ms"
        [topology]
        kind = "star"
        hosts = 4
        [switch]
        queues_per_port = 4
        scheduling = "strict"
        [nic]
        queues = 4
        [transport]
        {found.setting}
        [[traffic]]
        name = "all"
        kind = "poisson"
        sizes = "websearch"
        load = 0.5
        destinations = "uniform"
        load_of = "host"
    """
    read = spillway.Scenario(text).read()
    listed = ", ".join(f'"{threshold}B"' for threshold in found.best.thresholds)
    assert f"thresholds = [{listed}]" in read.resolved


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"load": 0}, "load: 0 is not valid; expected a number above 0, below 1"),
        ({"load": 1.0}, "load: 1.0 is not valid; expected a number above 0, below 1"),
        ({"load": math.nan}, "load: nan is not valid"),
        ({"levels": 1}, "levels: 1 is not valid; expected a whole number from 2 to 8"),
        ({"levels": 9}, "levels: 9 is not valid; expected a whole number from 2 to 8"),
        ({"levels": 2.5}, "levels: 2.5 is not valid"),
        ({"objective": "products"}, "objective: there is no 'products'"),
        ({"sizes": "webserach"}, 'sizes: "webserach" is not known'),
        ({"sizes": "none.txt"}, "sizes: cannot read ./none.txt: "),
        ({"against": ["websearch-0.85"]}, "against: no thresholds 'websearch-0.85' were published"),
        ({"levels": 4, "against": ["websearch-0.8"]}, "websearch-0.8 has 8 levels, not 4"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    options = {"sizes": "websearch", "load": 0.8, **options}
    with pytest.raises(spillway.ScenarioError) as caught:
        thresholds.find(options.pop("sizes"), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("load", [1, 1.0, 1.5])
def test_a_load_of_which_the_objective_is_infinite_is_refused(load):
    for ask in (
        lambda: value("left-over", TWO, [1500], load=load),
        lambda: optimise(OBJECTIVES["left-over"], TWO, load=load, levels=3),
        lambda: thresholds.find("20KB", load=load),
    ):
        with pytest.raises(
            spillway.ScenarioError, match="expected a number above 0, below 1"
        ) as raised:
            ask()
        assert raised.value.hint.endswith("the objective is infinite")


def test_just_below_a_load_of_1_objectives_are_finite():
    load = 1 - 2**-53
    for objective in OBJECTIVES:
        found, least = best(objective, TWO, load, 4)
        assert len(found) == 3 and math.isfinite(least) and least > 0
