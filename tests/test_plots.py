"""Figures: of whatever a sweep has."""

from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import spillway
from spillway.experiment import plots
from spillway.experiment.experiment import Experiment
from spillway.experiment.work import work
from spillway.learning.oracle.plots import draw_sweep
from spillway.learning.oracle.training import Scores
from spillway.scenario.variants import Variant
from spillway.show.palette import COLOURS, MARKERS
from support import TINY, names, needs_studies
from test_cli_errors import refused


class Alike(Experiment):
    """Variants with these labels, all alike."""

    def __init__(self, one: Experiment, labels) -> None:
        vars(self).update(vars(one))
        self.variants = [Variant(label, ()) for label in labels]
        self._same = one

    @property
    def results(self):
        ((_, runs),) = self._same.results
        return [(variant, runs) for variant in self.variants]


def of(labels) -> Experiment:
    """An experiment with this many variants, all alike."""
    return Alike(spillway.sweep(TINY, seeds=[1, 2], keep=False), labels)


def drawn(sweep: Experiment):
    """The figure, its parts where they will be seen."""
    figure = plots.drawn(sweep)
    FigureCanvasAgg(figure).draw()
    return figure


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
    part = spillway.experiment(TINY, vary=["switch.sharing=dt,lqd"], out=tmp_path / "part")
    (first, _) = part.missing()
    work([first], part.store)
    assert (whole.status, part.status) == ("complete", "interrupted")
    with mpl.rc_context({"svg.fonttype": "none"}):
        plots.comparison(whole, tmp_path / "whole.svg")
        plots.comparison(part, tmp_path / "part.svg")
    assert "interrupted: not all runs" in (tmp_path / "part.svg").read_text()
    assert "interrupted" not in (tmp_path / "whole.svg").read_text()
    assert names(tmp_path) == ["part", "part.svg", "whole.svg"]


def test_unlimited_buffers_and_no_flows_are_drawn_too(tmp_path):
    none = ["switch.buffer=unlimited", "traffic=[]"]
    with pytest.warns(spillway.ScenarioWarning, match="nothing is sent"):
        sweep = spillway.sweep(TINY, set=none, keep=False)
    plots.comparison(sweep, tmp_path / "plot.png")


@pytest.mark.parametrize("number", [1, 13])
def test_what_nobody_has_is_an_empty_panel(number):
    none = spillway.sweep(TINY, set=["traffic.queries.queries_per_host_per_s=0.01"], keep=False)
    (run,) = none.results[0][1]
    assert run.summary["query_us"]["count"] == 0
    several = Alike(none, [f"variant {n}" for n in range(number)])
    figure = drawn(several.showing("queries.p99,incast.p99,drops"))
    assert [axis.get_title().strip() for axis in figure.axes[:3]] == [
        "queries", "incast", "packets lost",
    ]  # fmt: skip
    assert not any(mark_of(part) for axis in figure.axes[:2] for part in axis.collections)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a name with twenty-six let", "a name with twenty-six let"),
        ("a name with twenty-seven le", "a name with twenty-seven…"),
        ("a-name-without-any-blank-in-it", "a-name-without-any-blank-…"),
    ],
)
def test_a_title_is_cut_where_it_is_too_long(name, title):
    named = spillway.sweep(TINY, set={"traffic.background.name": name}, keep=False)
    figure = drawn(named.showing([f"{name}.p99"]))
    assert figure.axes[0].get_title().strip() == title


def test_slowdowns_below_1_are_on_the_axis():
    sweep = spillway.sweep(TINY, set=["slowdown_base=published"], keep=False)
    rows = sweep.results[0][1][0].summary["fct_slowdown"]
    least = min(row["p50"] for row in rows.values())
    assert least < 0.9
    assert drawn(sweep).axes[0].get_ylim()[0] < least


def test_unlimited_buffers_beside_limited_ones_are_left_out(tmp_path):
    vary = ["switch.buffer=unlimited,60KB"]
    sweep = spillway.sweep(TINY, vary=vary, set=["traffic.queries.burst=48KB"], keep=False)
    plots.comparison(sweep, tmp_path / "plot.png")


def test_what_is_no_place_for_a_figure_is_refused_first(tmp_path):
    with pytest.raises(spillway.ScenarioError, match="is not a figure"):
        plots.check(tmp_path / "plot.bmp")
    with pytest.raises(spillway.ScenarioError, match="there is no folder"):
        plots.check(tmp_path / "nowhere" / "plot.png")


def test_a_figure_of_more_variants_than_can_be_seen_is_refused(command):
    several = [
        "--seeds",
        "1,2",
        "--vary",
        f"switch.buffer={','.join(f'{n}KB' for n in range(201))}",
    ]
    outcome = command("compare", TINY, *several, "--plot", "x.png")
    refused(outcome, "201 variants are too many for a figure", "200 are the most")


def seen_by(colour: str):
    """A colour as red, green and blue light, for everybody and for who has no red or green cones.

    After Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color
    Vision Deficiency, 2009; severity 1.
    """
    value = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    light = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    no_red = [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    no_green = [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    return [np.clip(matrix @ light, 0, 1) for matrix in (np.eye(3), no_red, no_green)]


def in_lab(light):
    """Light in CIELAB, in which distances are about as large as they look."""
    to_xyz = [[0.412, 0.358, 0.180], [0.213, 0.715, 0.072], [0.019, 0.119, 0.950]]
    share = np.array(to_xyz) @ light / [0.950, 1.0, 1.089]
    f = np.where(share > 0.008856, np.cbrt(share), (903.3 * share + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_twelve_variants_look_different_to_everybody():
    assert COLOURS[:8] == (
        "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#B8A900",
    )  # fmt: skip
    assert MARKERS[:8] == "osD^vPX*"
    assert len(set(COLOURS)) == len(set(MARKERS)) == 12
    for one, other in combinations(COLOURS, 2):
        pairs = list(zip(seen_by(one), seen_by(other), strict=True))
        apart = [np.linalg.norm(in_lab(a) - in_lab(b)) for a, b in pairs]
        assert apart[0] > 25, (one, other)
        # The first eight are what they are: two of them differ by their markers.
        if other not in COLOURS[:8]:
            assert min(apart) > 20, (one, other)


def test_each_of_twelve_variants_has_a_look_of_its_own_and_nothing_is_joined():
    figure = drawn(of([f"variant {n}" for n in range(12)]))
    (legend,) = figure.legends
    looks = [(line.get_color(), line.get_marker()) for line in legend.get_lines()]
    assert looks == list(zip(COLOURS, MARKERS, strict=True))
    for axis in figure.axes:
        assert all(len(line.get_xdata()) == 1 for line in axis.lines)
    first = {tuple(mark.get_edgecolor()[0]) for mark in figure.axes[0].collections if mark_of(mark)}
    assert first == {mpl.colors.to_rgba(colour) for colour in COLOURS}


def mark_of(part) -> bool:
    """Whether a part of an axis is a marker."""
    return isinstance(part, mpl.collections.PathCollection)


def test_more_variants_than_that_have_a_strip_each_with_their_name():
    labels = [f"variant {n}" for n in range(13)]
    figure = drawn(of(labels))
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == labels
    (legend,) = figure.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert told == ["p50", "p95", "p99", "p99.9", "mean", "p99.99", "max"]
    for axis in figure.axes[:4]:
        places = [mark.get_offsets()[0] for mark in axis.collections if mark_of(mark)]
        # Four percentiles in each strip, and none in another's.
        assert [round(float(y)) for _, y in places] == [row for row in range(13) for _ in range(4)]
        assert axis.get_xlim() == figure.axes[0].get_xlim()


LONG = 'sharing={ kind = "dt", alpha = 0.5 } aqm={ kind = "ecn", threshold = "30pkt" }'


@pytest.mark.parametrize("labels", [["a", "b"], [f"{LONG} {n}" for n in range(12)], [LONG * 5] * 2])
def test_the_legend_is_below_the_plot_and_never_cut(labels):
    figure = drawn(of(labels))
    (legend,) = figure.legends
    within = figure.bbox
    for text in [*legend.get_texts(), legend.get_title()]:
        box = text.get_window_extent()
        assert within.x0 <= box.x0 and box.x1 <= within.x1
        assert within.y0 <= box.y0 and box.y1 <= within.y1
    lowest = min(axis.get_tightbbox().y0 for axis in figure.axes)
    assert legend.get_window_extent().y1 <= lowest
    columns = {round(text.get_window_extent().x0) for text in legend.get_texts()}
    # As many as fit: of what is wider than half the figure, one.
    widest = max(text.get_window_extent().width for text in legend.get_texts())
    assert len(columns) == len(labels) or (len(columns) + 1) * widest > 0.85 * within.width
    told = [text.get_text().replace("\n", " ") for text in legend.get_texts()]
    assert told == labels


def test_names_of_strips_are_never_cut():
    figure = drawn(of([f"{LONG} {n}" for n in range(13)]))
    boxes = [text.get_window_extent() for text in figure.axes[0].get_yticklabels()]
    assert all(figure.bbox.x0 <= box.x0 for box in boxes)
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))


@pytest.mark.parametrize(
    "what", ["comparison", "scores", pytest.param("figure of a paper", marks=needs_studies)]
)
def test_letters_of_pdf_files_are_truetype(tmp_path, what):
    file = tmp_path / "plot.pdf"
    if what == "comparison":
        plots.comparison(of(["a"]), file)
    elif what == "scores":
        draw_sweep([(1, Scores(1, 2, 3, 4, 0.5)), (2, Scores(1, 2, 3, 4, 0.5))], file)
    else:
        from spillway_studies.claims.draw import drawing_of

        with drawing_of(2, 2) as drawing:
            drawing.subplots().set_title("a")
            drawing.savefig(file)
    content = file.read_bytes()
    assert b"/CIDFontType2" in content and b"/Type3" not in content
