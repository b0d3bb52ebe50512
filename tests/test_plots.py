"""Figures: of whatever a sweep has."""

import matplotlib as mpl
import pytest

import spillway
from spillway import plots
from spillway.sweep import Sweep
from support import TINY, names


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_comparison_is_drawn(tmp_path, suffix):
    sweep = spillway.sweep(TINY, vary=["switch.sharing=dt,lqd"], seeds=[1, 2], keep=False)
    plots.comparison(sweep, tmp_path / f"plot.{suffix}")
    assert (tmp_path / f"plot.{suffix}").stat().st_size > 5_000


def test_names_with_dollar_signs_are_no_formulas(tmp_path):
    sweep = spillway.sweep(TINY, vary={"name": ["$x^2$", r"$\frac$"]}, set=["duration=1ms"])
    with mpl.rc_context({"svg.fonttype": "none"}):
        plots.comparison(sweep, tmp_path / "plot.svg")
    assert r"name=$\frac$" in (tmp_path / "plot.svg").read_text()


def test_a_figure_of_what_was_interrupted_says_so(tmp_path):
    whole = spillway.sweep(TINY, vary=["switch.sharing=dt,lqd"], keep=False)
    part = Sweep(whole.results[:1], is_interrupted=True)
    assert (whole.status, part.status) == ("complete", "interrupted")
    with mpl.rc_context({"svg.fonttype": "none"}):
        plots.comparison(whole, tmp_path / "whole.svg")
        plots.comparison(part, tmp_path / "part.svg")
    assert "interrupted: partial results" in (tmp_path / "part.svg").read_text()
    assert "interrupted" not in (tmp_path / "whole.svg").read_text()
    assert names(tmp_path) == ["part.svg", "whole.svg"]


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
    with pytest.raises(spillway.ScenarioError, match="there is no folder"):
        plots.check(tmp_path / "nowhere" / "plot.png")
