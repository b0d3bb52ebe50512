"""Figures: keys, points that are run once, what comes out of them."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import figures
import spillway
from spillway.base.errors import ScenarioError
from spillway.base.result_schema import CLASSES
from spillway.tasks.segment import OVER
from spillway_studies.claims import (
    Cache,
    Lines,
    Number,
    Outcome,
    Panel,
    Results,
    Run,
    Scale,
    along,
    basis,
    harness,
    point,
    product,
    samples,
    write,
)
from support import TINY, flipped, names


def key(measure=None, seed=1, scale=None, place=0, scheme=figures.DT):
    figure = figures.BURSTS
    task = (measure or figure.measure).task(
        figure.points[place], scheme, seed, scale or figure.scales["quick"]
    )
    return task.key


def test_points_multiply_and_the_first_axis_varies_slowest():
    both = product(along("a", (1, 2), "x={}"), along("b", ("u", "v"), "y={}", only="DT"))
    assert [each.values for each in both] == [
        {"a": 1, "b": "u"},
        {"a": 1, "b": "v"},
        {"a": 2, "b": "u"},
        {"a": 2, "b": "v"},
    ]
    assert both[1].assignments == ("x=1",)
    assert both[1].of_scheme == {"DT": ("y=v",)}


def test_a_key_tells_what_would_come_to_something_else():
    assert key() == key()
    other = [key(seed=2), key(place=1), key(scheme=figures.LQD), key(scale=Scale((1,)))]
    assert len({key(), *other}) == 5


def test_a_key_is_that_of_the_resolved_scenario():
    by_default = Run(str(TINY), ("switch.sharing.alpha=1.0",))
    assert key(by_default) == key(Run(str(TINY), ("transport.kind=dctcp",)))


def test_a_key_hangs_on_the_results_numbers_of_what_is_named(monkeypatch):
    """And not on how the program is built, nor on numbers of what the run does not name."""
    before, other = key(), key(scheme=figures.LQD)
    real = point.Scenario.read

    def raised(name):
        def read(scenario):
            found = real(scenario)
            numbers = {of: number + (of == name) for of, number in found.results.items()}
            return SimpleNamespace(
                resolved=found.resolved,
                results=numbers,
                files=found.files,
                expected_packets=found.expected_packets,
            )

        monkeypatch.setattr(point.Scenario, "read", read)
        return key(), key(scheme=figures.LQD)

    assert raised("nothing") == (before, other)
    now = raised("sharing.dt")
    assert now[0] != before and now[1] == other
    now = raised("engine")
    assert now[0] != before and now[1] != other
    monkeypatch.setattr(point, "build", lambda: "another")
    assert raised("nothing") == (before, other)


def test_a_key_hangs_on_what_its_function_says(monkeypatch, tmp_path):
    def computed_key(**more):
        monkeypatch.setitem(basis._OF, figures.square, basis.Basis(**{**plain, **more}))
        figure = figures.computed(log="x")
        scheme, scale = figure.schemes[0], figure.scales["quick"]
        return figure.measure.task(figure.points[0], scheme, 1, scale).key

    plain = {"results": 1, "on": (), "libraries": (), "files": ()}
    before = computed_key()
    assert computed_key() == before
    others = [
        computed_key(results=2),
        computed_key(on=("sharing.dt",)),
        computed_key(on=basis.EVERYTHING),
        computed_key(libraries=("numpy",)),
        computed_key(files=("figures.py",)),
    ]
    assert len({before, *others}) == 6
    all_numbers = basis.core.results()
    risen = {**all_numbers, "sharing.lqd": 99}
    monkeypatch.setattr(basis, "core", SimpleNamespace(results=lambda: risen))
    assert computed_key(on=("sharing.dt",)) == others[1]
    assert computed_key(on=basis.EVERYTHING) != others[2]


def test_a_function_without_a_results_number_is_refused():
    figure = figures.computed("computed")
    with pytest.raises(
        spillway.ScenarioError, match=r"figures:computed has no results number"
    ) as told:
        harness.plan([figure], "quick")
    assert "@spillway_studies.claims.basis.results(1)" in str(told.value.hint)


def test_a_key_tells_contents_of_files_apart(tmp_path):
    flows = tmp_path / "flows.csv"
    scenario = tmp_path / "listed.toml"
    text = TINY.read_text().partition("[[traffic]]")[0]
    text += '[[traffic]]\nname = "listed"\nkind = "flows"\nfile = "flows.csv"\n'
    scenario.write_text(text)

    def listed(size: int) -> str:
        flows.write_text(f"src,dst,size_bytes,start_ps\n0,5,{size},0\n")
        return (
            Run(str(scenario))
            .task(
                point=figures.along("n", (1,))[0],
                scheme=figures.DT,
                seed=1,
                scale=figures.BURSTS.scales["quick"],
            )
            .key
        )

    assert listed(1000) == listed(1000) != listed(2000)


def test_a_file_that_is_not_read_is_no_part_of_the_key(tmp_path):
    scenario = tmp_path / "own.toml"
    scenario.write_text(TINY.read_text())
    before = key(Run(str(scenario)))
    (tmp_path / "hadoop-hpcc").write_text("100 0\n200 1\n")
    assert key(Run(str(scenario))) == before


@pytest.mark.parametrize("more", [[], ["stop=4.5ms"], ["warmup=1ms"]])
def test_samples_have_the_summary_s_percentiles(more):
    result = spillway.run(TINY, set=more)
    kept = samples.of(
        result.flows, spillway.Scenario.load(TINY).set(*more).resolved, result.summary
    )
    unfinished = 0
    for name in (*CLASSES, "all"):
        row = result.summary["fct_slowdown"][name]
        values = samples.select(kept, name)
        assert len(values) == row["count"]
        assert samples.select(kept, name, "with_timeout").sum() == row["with_timeout"]
        assert (~samples.select(kept, name, "finished")).sum() == row["unfinished"]
        unfinished += row["unfinished"]
        for label, p in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)):
            assert samples.percentile(values, p) == pytest.approx(row[label], rel=1e-12)
        times = samples.select(kept, name, "fct_us")
        row = result.summary["fct_us"][name]
        assert samples.percentile(times, 0.95) == pytest.approx(row["p95"], rel=1e-12)
        assert times.mean() == pytest.approx(row["mean"], rel=1e-12)
    for section, row in result.summary["fct_slowdown"].items():
        if section in (*CLASSES, "all"):
            continue
        values = samples.select(kept, samples.SECTION + section)
        assert samples.percentile(values, 0.95) == pytest.approx(row["p95"], rel=1e-12)
        units = samples.select(kept, samples.SECTION + section, "unit")
        assert set(units) == set(range(units.max() + 1))
    assert not len(samples.select(kept, samples.SECTION + "no such section"))
    assert bool(unfinished) == (more == ["stop=4.5ms"])
    queries = result.summary["query_us"]["count"]
    assert len(np.unique(samples.select(kept, "incast", "unit"))) == queries


@pytest.mark.parametrize(
    ("text", "value"), [("3us", 3_000_000), ("1234567ps", 1234567), ("1.5KiB", 1536), ("2MB", 2e6)]
)
def test_quantities(text, value):
    assert samples.quantity(text) == value


def outcome():
    table = pa.table({"class": pa.array(["short"]).dictionary_encode(), "slowdown": [1.5]})
    return Outcome({"drops.aqm": 3, "p95": None}, table, 'name = "x"\n')


def found(folder):
    cache = Cache(folder)
    cache.check()
    return cache


def test_a_point_comes_back_from_the_cache(tmp_path):
    cache = found(tmp_path / "points")
    assert cache.load("a") is None
    cache.store("a", outcome())
    cache.store("b", Outcome({"x": 0.1}))
    again = found(tmp_path / "points")
    back = again.load("a")
    assert (back.numbers, back.scenario) == (outcome().numbers, outcome().scenario)
    assert back.samples.to_pylist() == outcome().samples.to_pylist()
    assert again.load("b") == Outcome({"x": 0.1})


@pytest.mark.parametrize("content", [None, b"", b"PAR1", b"PAR1 nothing of the kind PAR1"])
def test_a_point_with_damaged_samples_is_computed_again(tmp_path, content):
    found(tmp_path).store("a", outcome())
    (file,) = (tmp_path / "files").iterdir()
    whole = file.read_bytes()
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    assert found(tmp_path).load("a") is None
    for place in range(0, len(whole), 3):
        file.write_bytes(flipped(whole, place))
        assert found(tmp_path).load("a") is None, place
    # What is not known to be damaged is not computed again; what is, is.
    cache = found(tmp_path)
    assert cache.has("a") and cache.load("a") is None and not cache.has("a")


def test_a_point_with_a_flipped_bit_is_computed_again(tmp_path):
    found(tmp_path).store("a", Outcome({"x": 0.1, "y": 2.0}, scenario="seed = 1"))
    (file,) = (tmp_path / "segments").iterdir()
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(flipped(whole, place))
        assert found(tmp_path).load("a") is None, place


def test_no_point_is_run_twice(tmp_path, monkeypatch):
    ran = []
    run_to = point.run_to
    monkeypatch.setattr(point, "run_to", lambda *a, **k: ran.append(1) or run_to(*a, **k))
    cache = Cache(tmp_path)
    half = replace(figures.BURSTS, points=figures.BURSTS.points[1:])
    (first,) = harness.compute(harness.plan([half], "quick"), cache, jobs=2)
    assert len(ran) == 4
    whole, part = harness.compute(harness.plan([figures.BURSTS, half], "quick"), cache)
    assert len(ran) == 8
    assert part.numbers().equals(first.numbers())
    assert whole.numbers().num_rows == 8
    again = harness.compute(harness.plan([figures.BURSTS], "quick", [1]), cache)
    assert len(ran) == 8
    assert again[0].seeds == (1,)


def kept(folder: Path) -> list[str]:
    """The keys of what is kept."""
    files = (folder / "segments").glob("*.log") if folder.is_dir() else ()
    lines = [line for file in files for line in file.read_text().splitlines() if line]
    return [key for key in (line.split()[1] for line in lines) if key != OVER]


def log(tmp_path: Path) -> list[str]:
    file = tmp_path / "log"
    return file.read_text().splitlines() if file.exists() else []


def test_a_killed_process_s_points_are_not_run_again(tmp_path):
    figure = figures.computed(log=str(tmp_path / "log"), gate=str(tmp_path / "gate"))
    script = (
        "import sys, figures\n"
        "from pathlib import Path\n"
        "from spillway_studies.claims import Cache, harness\n"
        "figure = figures.computed(log=sys.argv[1] + '/log', gate=sys.argv[1] + '/gate')\n"
        "cache = Cache(Path(sys.argv[1]) / 'points')\n"
        "harness.compute(harness.plan([figure], 'quick'), cache, jobs=1)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    points = tmp_path / "points"
    while len(kept(points)) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert log(tmp_path) == ["1 plain 1", "2 plain 1"]
    (tmp_path / "gate").touch()
    (found,) = harness.compute(harness.plan([figure], "quick"), Cache(points), jobs=1)
    assert log(tmp_path) == ["1 plain 1", "2 plain 1", "3 plain 1", "4 plain 1"]
    assert found.numbers()["square"].to_pylist() == [1, 4, 9, 16]
    assert all(found.is_informative(place) for place in range(4))
    assert found.samples() is None


def test_ctrl_c_keeps_what_is_done(tmp_path):
    planned = harness.plan([figures.computed("interrupting")], "quick")
    with pytest.raises(harness.Unfinished) as caught:
        harness.compute(planned, Cache(tmp_path), jobs=1)
    assert (caught.value.done, caught.value.total) == (1, 4)
    assert len(kept(tmp_path)) == 1


def test_an_interrupted_run_is_not_kept(tmp_path, monkeypatch):
    result = spillway.run(TINY)
    result.summary["status"] = "interrupted"
    monkeypatch.setattr(point, "run_to", lambda *a, **k: result)
    with pytest.raises(harness.Unfinished):
        harness.compute(harness.plan([figures.BURSTS], "quick"), Cache(tmp_path))
    assert kept(tmp_path) == []


def test_a_failure_ends_it_and_keeps_what_is_done(tmp_path):
    figure = figures.computed(log=str(tmp_path), gate="")  # a folder: cannot be written to
    with pytest.raises(OSError, match="directory"):
        harness.compute(harness.plan([figure], "quick"), Cache(tmp_path / "points"), jobs=1)


@pytest.fixture(scope="module")
def bursts(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("points"))
    (results,) = harness.compute(harness.plan([figures.BURSTS], "quick"), cache)
    return results


def test_data_has_a_row_for_every_point_scheme_and_seed(bursts):
    rows = bursts.numbers().to_pylist()
    assert [(row["burst"], row["scheme"], row["seed"]) for row in rows] == [
        (burst, scheme, seed) for burst in (20, 80) for scheme in ("DT", "LQD") for seed in (1, 2)
    ]
    table = bursts.samples()
    assert set(table["scheme"].to_pylist()) == {"DT", "LQD"}
    one = table.filter(
        pa.compute.and_(
            pa.compute.equal(table["burst"], 80),
            pa.compute.and_(
                pa.compute.equal(table["scheme"], "LQD"), pa.compute.equal(table["seed"], 2)
            ),
        )
    )
    assert one.num_rows == rows[-1]["fct_slowdown.all.count"]


def test_a_figure_s_folder(bursts, tmp_path):
    document = write.document(bursts, "quick")
    place = write.write(bursts, document, tmp_path, force=False)
    assert place == tmp_path / "tiny" / "bursts"
    assert names(place) == [
        "SHA256SUMS",
        "bursts.png",
        "bursts.svg",
        "numbers.parquet",
        "samples.parquet",
        "scenario.toml",
        "summary.json",
    ]
    assert json.loads((place / "summary.json").read_text()) == json.loads(json.dumps(document))
    assert "metadata" in (place / "bursts.svg").read_text()
    before = (place / "bursts.svg").read_bytes()
    write.write(bursts, document, tmp_path, force=True)
    assert (place / "bursts.svg").read_bytes() == before


def test_points_of_figures_are_weighed_by_their_packets(tmp_path):
    planned = harness.plan([figures.BURSTS], "quick", [1])
    begun: list[tuple[str, float]] = []

    def follow(label: str, share: float):
        begun.append((label, share))
        return lambda _: None, lambda: None

    harness.compute(planned, Cache(tmp_path), jobs=1, follow=follow)
    tasks = list(planned.tasks.values())
    assert [label for label, _ in begun] == [task.label for task in tasks]
    packets = [task.cost for task in tasks]
    assert len(set(packets)) > 1
    assert [share for _, share in begun] == pytest.approx([one / sum(packets) for one in packets])


def test_a_figure_without_a_plot_has_a_folder_without_one(bursts, tmp_path):
    plain = Results(replace(bursts.figure, plot=None), bursts.seeds, bursts._outcomes)
    place = write.write(plain, write.document(plain, "quick"), tmp_path, force=False)
    assert {"numbers.parquet", "summary.json"} < {*names(place)}
    assert not {"bursts.png", "bursts.svg"} & {*names(place)}


def test_a_figure_without_that_scale():
    with pytest.raises(spillway.ScenarioError, match="tiny/squares has no scale 'full'") as caught:
        harness.plan([figures.computed()], "full")
    assert caught.value.hint == "valid here: quick"


# A burst is a share of the buffer, and all of this one is more than hosts carry.
@pytest.mark.filterwarnings("ignore:.*the excess waits, and delays keep growing")
def test_where_nothing_is_lost_nothing_is_told(tmp_path):
    figure = replace(figures.BURSTS, measure=Run(str(TINY), ("switch.buffer=100MB",)))
    (found,) = harness.compute(harness.plan([figure], "quick", [1]), Cache(tmp_path / "points"))
    assert not any(found.is_informative(place) for place in range(2))
    document = write.document(found, "quick")
    assert [claim["verdict"] for claim in document["claims"]] == ["not comparable"] * 2
    assert [claim["uninformative_points"] for claim in document["claims"]] == [2, 2]
    write.write(found, document, tmp_path, force=False)
    drawn = (tmp_path / "tiny" / "bursts" / "bursts.svg").read_text()
    assert "nothing was lost under any scheme" in drawn
    # Where something was marked, figures say that are told by marks.
    outcomes = {
        place: replace(outcome, numbers={**outcome.numbers, "marks": float(place[0] == 0)})
        for place, outcome in found._outcomes.items()
    }
    assert not Results(figure, (1,), outcomes).is_informative(0)
    by_marks = Results(replace(figure, told_by="marks"), (1,), outcomes)
    assert [by_marks.is_informative(place) for place in range(2)] == [True, False]
    # A figure that is not about losses has something to tell all the same.
    figure = replace(figure, told_by="anything")
    (found,) = harness.compute(harness.plan([figure], "quick", [1]), Cache(tmp_path / "points"))
    assert all(found.is_informative(place) for place in range(2))
    document = write.document(found, "quick")
    assert [claim["verdict"] for claim in document["claims"]] == ["undecided"] * 2


def drawn_lines(plot, values, samples=None, seeds=(1, 2)):
    """The axes of a plot with one scheme, and what stands below."""
    points = along("x", (0.0, 0.1, 0.8))
    about = {"points": points, "schemes": (figures.DT,), "plot": plot, "claims": ()}
    figure = replace(figures.BURSTS, **about)
    outcomes = {
        (place, "DT", seed): Outcome({"y": value + 0.001 * seed}, samples)
        for place, value in enumerate(values)
        for seed in seeds
    }
    drawing = plot(Results(figure, seeds, outcomes))
    drawing.draw_without_rendering()
    return drawing.axes[0], drawing.get_supxlabel()


Y = Number("y", "y")


def test_lines_lie_side_by_side_or_where_their_numbers_are():
    panels = (Panel(Y, "y"),)
    axis, _ = drawn_lines(Lines(panels, "x", "x"), (1, 2, 3))
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0.0", "0.1", "0.8"]
    assert list(axis.get_lines()[0].get_xdata()) == [0, 1, 2]
    axis, _ = drawn_lines(Lines(panels, "x", "x", is_linear=True), (1, 2, 3))
    assert list(axis.get_lines()[0].get_xdata()) == [0.0, 0.1, 0.8]
    ticks = axis.get_xticks()
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])


@pytest.mark.parametrize("values", [(0.999, 0.998, 0.9985), (77.0, 78.0, 60.0), (0.1, 2.0, 5.0)])
@pytest.mark.parametrize("is_close", [False, True])
def test_markers_are_within_the_frame(values, is_close):
    axis, _ = drawn_lines(Lines((Panel(Y, "y", is_close=is_close),), "x", "x"), values)
    assert is_close or axis.get_ylim()[0] == 0
    # In points: a marker is 5.5 wide.
    places = axis.transData.transform(axis.get_lines()[0].get_xydata())[:, 1]
    box, scale = axis.get_window_extent(), 72 / axis.figure.dpi
    assert (box.y1 - max(places)) * scale > 3
    assert not is_close or (min(places) - box.y0) * scale > 3


def test_numbers_that_are_all_but_equal_look_so():
    equal = (9.65333, 9.65334, 9.65333)
    axis, _ = drawn_lines(Lines((Panel(Y, "y", is_close=True),), "x", "x"), equal, seeds=(0,))
    low, high = axis.get_ylim()
    assert high - low == pytest.approx(0.00965, rel=0.01)
    assert low < min(equal) and max(equal) < high


@pytest.mark.parametrize("metric", [Number("none", "none"), Number("y", "all 0", scale=0.0)])
def test_a_panel_without_a_height_has_an_axis_too(metric):
    axis, _ = drawn_lines(Lines((Panel(metric, "y"),), "x", "x"), (1, 2, 3))
    assert axis.get_ylim() == (0, 1)


def test_a_plot_says_what_its_bars_are():
    below = {
        seeds: drawn_lines(Lines((Panel(Y, "y"),), "x", "x"), (1, 2, 3), seeds=seeds)[1]
        for seeds in ((1,), (1, 2))
    }
    # Nothing here rests on queries and flows.
    assert below == {(1,): "seeds 1", (1, 2): "seeds 1, 2; bars: the range of seeds"}
    some = pa.table(
        {
            "class": pa.DictionaryArray.from_arrays(
                pa.array([CLASSES.index("incast")] * 2), pa.array(CLASSES)
            ),
            "unit": [0, 1],
            "slowdown": [1.0, 3.0],
            "with_timeout": [False, True],
            "finished": [True, True],
        }
    )
    panels = (Panel(Y, "y"), Panel(figures.INCAST, "incast"))
    lines = Lines(panels, "x", "x")
    assert drawn_lines(lines, (1, 2, 3), some)[1] == "seeds 1, 2; bars: the range of seeds"
    assert drawn_lines(lines, (1, 2, 3), some, seeds=(1, 2, 3))[1] == (
        "seeds 1, 2, 3; bars: 95% over seeds, queries and flows, or the range of seeds"
    )


def test_what_has_no_size_for_the_pages_is_quick_there():
    figure = figures.BURSTS
    assert figure.scale("page") is figure.scales["quick"]
    longer = replace(figure, scales=figure.scales | {"page": Scale((7, 8))})
    assert harness.plan([longer], "page").seeds == ((7, 8),)
    assert figure.scale("half") is None
    with pytest.raises(ScenarioError, match="has no scale 'half'"):
        harness.plan([figure], "half")
