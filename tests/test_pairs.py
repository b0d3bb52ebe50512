"""Which variant is better: by differences of the same seeds, worked out by hand."""

import io
import re

import pytest
from rich.console import Console

import spillway
from spillway.experiment.statistics import interval, least
from support import TINY


def test_the_interval_is_student_s_t():
    # Mean 2, deviation 1, so 1 / sqrt(3); t with two degrees of freedom is 4.3027.
    assert interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-4)
    # Of two numbers: 12.7062 times the error, which is half of how far they lie apart.
    assert interval([1.0, 3.0]) == pytest.approx((2 - 12.7062, 2 + 12.7062), abs=1e-4)
    assert interval([5.0, 5.0]) == (5.0, 5.0)
    assert interval([5.0]) is None
    assert interval([]) is None


def by_seed(*values):
    """Values by seeds, from 1."""
    return dict(enumerate(values, start=1))


def test_pairs_tell_what_deviations_hide():
    # Both reach from 10 to 1000, and the second is always 1 or 2 below the first.
    first, second = by_seed(11, 102, 1001, 502), by_seed(10, 100, 1000, 500)
    assert least([[first, second]]) == [1]
    assert least([[second, first]]) == [0]


def test_means_apart_are_no_difference_where_seeds_contradict():
    assert least([[by_seed(1, 9, 1), by_seed(30, 8, 40)]]) == [None]


def test_one_seed_tells_nothing():
    assert least([[by_seed(1), by_seed(1000)]]) == [None]
    # Two of each, of which one is the same.
    assert least([[{1: 1.0, 2: 1.0}, {2: 1000.0, 3: 1000.0}]]) == [None]


def test_only_two_that_repeat_themselves_count_once():
    same, other = by_seed(1, 1, 1), by_seed(9, 10, 11)
    assert least([[same, other]], [True, False]) == [0]
    assert least([[same, other]], [False, True]) == [0]
    assert least([[same, by_seed(9, 9, 9)]], [True, True]) == [None]


def test_the_best_is_below_every_other():
    high, low, like = by_seed(9, 10, 11), by_seed(1, 2, 3), by_seed(1.5, 1.9, 3.2)
    assert least([[high, low]]) == [1]
    assert least([[high, low, like]]) == [None]
    assert least([[low, by_seed(None, None, None)]]) == [None]
    assert least([[low]]) == [None]
    assert least([[low, low]]) == [None]


def test_the_more_is_asked_the_surer_it_must_be():
    """Differences -10, -11, -7: t = -9.33 / 1.20 = -7.77, of which 1.62% are beyond, both ways."""
    column = [by_seed(10, 11, 7), by_seed(20, 22, 14)]
    alike = [by_seed(1, 2, 3), by_seed(3, 2, 1)]
    assert least([column, alike, alike]) == [0, None, None]
    # 5% / 4 = 1.25%.
    assert least([column, alike, alike, alike]) == [None] * 4
    # Of the rest one less is asked: 5% / 3 = 1.67%.
    surer = [by_seed(1, 1, 1), by_seed(9, 9, 9)]
    assert least([column, alike, surer, alike]) == [0, None, 0, None]


def shown(**more) -> tuple[str, list[str]]:
    """The table of DT beside LQD, plain, and what is bold and green in it."""
    sweep = spillway.sweep(TINY, vary=["switch.sharing=dt,lqd"], keep=False, **more)
    file = io.StringIO()
    Console(width=200, force_terminal=True, color_system="standard", file=file).print(
        sweep.table().of
    )
    text = file.getvalue()
    return re.sub(r"\x1b\[[\d;]*m", "", text), re.findall(r"\x1b\[1;32m([^\x1b]*)", text)


def test_bold_is_what_every_seed_bears_out_and_the_table_says_so():
    plain, green = shown(seeds=range(1, 17))
    (line,) = [line for line in plain.splitlines() if "bold green" in line]
    named = "short p99, incast p95, incast p99, background p99, queries p95, queries p99"
    named += ", with timeout"
    assert line.startswith(f"bold green ({named}): below every other variant; no interval of")
    (row,) = [line for line in plain.splitlines() if "sharing=lqd" in line]
    assert len(green) == 7 and all(cell.strip() in row for cell in green)


def test_of_a_single_seed_nothing_is_bold():
    plain, green = shown(seeds=[1])
    assert "sharing=lqd" in plain and "bold green" not in plain and not green
