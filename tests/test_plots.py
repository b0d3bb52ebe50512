"""Figures: of whatever a sweep has."""

import pytest

import spillway
from spillway import plots
from support import TINY


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_comparison_is_drawn(tmp_path, suffix):
    sweep = spillway.sweep(TINY, vary=["switch.sharing=dt,lqd"], seeds=[1, 2], keep=False)
    plots.comparison(sweep, tmp_path / f"plot.{suffix}")
    assert (tmp_path / f"plot.{suffix}").stat().st_size > 5_000


def test_unlimited_buffers_and_no_flows_are_drawn_too(tmp_path):
    none = ["switch.buffer=unlimited", "traffic=[]"]
    with pytest.warns(spillway.ScenarioWarning, match="nothing is sent"):
        sweep = spillway.sweep(TINY, set=none, keep=False)
    plots.comparison(sweep, tmp_path / "plot.png")


def test_unlimited_buffers_beside_limited_ones_are_left_out(tmp_path):
    vary = ["switch.buffer=unlimited,60KB"]
    sweep = spillway.sweep(TINY, vary=vary, set=["traffic.queries.burst=48KB"], keep=False)
    plots.comparison(sweep, tmp_path / "plot.png")


def test_what_is_no_place_for_a_figure_is_refused_first(tmp_path):
    with pytest.raises(spillway.ScenarioError, match="is not a figure"):
        plots.check(tmp_path / "plot.bmp")
    with pytest.raises(spillway.ScenarioError, match="is no folder"):
        plots.check(tmp_path / "nowhere" / "plot.png")
