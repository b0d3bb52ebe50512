"""The comparison of all policies, and the tables out of its published results."""

import json
from dataclasses import replace

import pytest

from spillway import _core
from spillway.show.drawing import svg
from spillway.show.palette import COLOURS
from spillway_studies import catalogue, pages
from spillway_studies.claims import (
    Cache,
    Figure,
    Run,
    Scale,
    Scheme,
    along,
    harness,
    side_by_side,
    style_of,
    write,
)
from spillway_studies.comparison import figures as setup
from spillway_studies.comparison import tables
from support import TINY


def row(seed, short=1.0, incast=2.0, incasts=2000, **more):
    """A run's numbers."""
    return {
        "seed": seed,
        "fct_slowdown.short.count": 2000,
        "fct_slowdown.short.p99": short,
        "fct_slowdown.short.p99_9": short,
        "fct_slowdown.incast.count": incasts,
        "fct_slowdown.incast.p99": incast,
        "fct_slowdown.incast.p99_9": None,
        "fct_slowdown.all.count": 4000,
        "fct_slowdown.all.with_timeout": 100 * seed,
        "query_us.count": 50,
        "query_us.mean": 1500.0,
        "query_us.p99": 2500.0,
        "goodput_gbps.all": 640.0,
        "lost.aqm": 1000 * seed,
        "lost.buffer_full": None,
        "drops.aqm": 10**9,
        **more,
    }


def cells(table):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]


def test_what_rests_on_few_flows_is_what_tables_of_runs_mark():
    # Of 1000 values in order the 990th is the 99th percentile: 10 are beyond. Of 999 it is, too.
    assert not side_by_side.is_few(1000, "p99") and side_by_side.is_few(999, "p99")
    assert not side_by_side.is_few(10_000, "p99_9") and side_by_side.is_few(9_999, "p99_9")
    assert (
        not side_by_side.is_few(5, "mean")
        and not side_by_side.is_few(0, "p99")
        and not side_by_side.is_few(None, "p99")
    )


def test_from_ten_times_on_there_are_no_digits_behind_the_point():
    assert [side_by_side.times((each, False)) for each in (9.5, 10.0)] == ["9.50", "10"]


def test_a_table_has_means_and_deviations_and_marks():
    results = tables.Results({"dt": [row(1), row(3, short=3.0, incasts=999)]})
    (heads, _, found) = cells(tables.table(results, ("short", "incast")))
    assert heads[:5] == ["", "short p99", "short p99.9", "incast p99", "incast p99.9"]
    assert found == [
        "`dt`",
        "2 ± 1.41",
        "2~ ± 1.41",
        "2~ ± 0",
        "-",
        "1.5 ± 0",
        "2.5~ ± 0",
        "640 ± 0",
        # 100 and 300 of 4000; 1000 and 3000 packets.
        "5 ± 3.54",
        "2,000 ± 1,414",
    ]


def test_policies_are_compared_in_pairs_seed_by_seed():
    def runs(*p99s, **more):
        return [row(seed, incast=p99, **more) for seed, p99 in enumerate(p99s)]

    # With one seed a half, with the next three times as much: 1.75 on average, though the means are
    # 50 and 60. Of the third nobody knows one.
    results = tables.Results(
        {
            "lqd": runs(50, 60, 1),
            "dt": runs(100, 20, None),
            "cs": runs(None, None, None),
            "abm": runs(100, 20, 1, incasts=999),
        }
    )
    assert tables.pairs(results, ("incast",)).splitlines() == [
        "|  | incast p99 |",
        "| --- | --- |",
        "| `lqd` | 1.75 (0.50 to 3.00) |",
        "| `cs` | - |",
        "| `abm` | 1.00~ (1.00 to 1.00) |",
    ]


def test_regret_is_how_many_times_the_best_policy_s_mean():
    runs = {
        "dt": [row(1, incast=10.0), row(2, incast=30.0)],
        "lqd": [row(1, incast=2.0), row(2, incast=6.0)],
        "cs": [row(1, incast=None), row(2, incast=None)],
    }
    results = tables.Results(runs)
    tail = side_by_side.slowdown("incast", "p99")
    assert [results.regret(policy, tail) for policy in runs] == [5.0, 1.0, None]
    assert (
        results.best(tail) == "lqd" and results.best(side_by_side.slowdown("long", "p99")) is None
    )
    # Short flows, long ones, of which there are none, incasts; queries.
    networks = {"credence": results}
    assert cells(tables.regrets(networks))[2:] == [
        ["`dt`", "1.00", "-", "5.00", "1.00", "5.00"],
        ["`lqd`", "1.00", "-", "1.00", "1.00", "1.00"],
        ["`cs`", "1.00", "-", "-", "1.00", "1.00"],
    ]
    # Where the best one's tail rests on few flows all are marked.
    runs["lqd"][0]["fct_slowdown.incast.count"] = 999
    found = cells(tables.regrets(networks))[2:]
    assert [each[3] for each in found] == ["5.00~", "1.00~", "-"]
    assert [each[5] for each in found] == ["5.00~", "1.00", "1.00"]


def test_a_sweep_s_regret_is_the_greatest_of_all_points():
    def point(dt, lqd):
        return tables.Results({"dt": [row(1, incast=dt)], "lqd": [row(1, incast=lqd)]})

    points = {"20%": point(2.0, 4.0), "40%": point(9.0, 3.0)}
    assert cells(tables.sweep(points)) == [
        [
            "",
            "incast p99, 20%",
            "incast p99, 40%",
            "flows with a timeout, %, 20%",
            "flows with a timeout, %, 40%",
            "regret at worst",
        ],
        ["---"] * 6,
        ["`dt`", "2", "9", "2.5", "2.5", "3.00"],
        ["`lqd`", "4", "3", "2.5", "2.5", "2.00"],
    ]


def tiny(name, points):
    """A comparison of two policies in a tiny network."""
    return Figure(
        name=f"comparison/{name}",
        title="",
        source="",
        about="",
        measure=Run(str(TINY), keeps_flows=False),
        points=points,
        schemes=(
            Scheme("dt", ("switch.sharing=dt",)),
            Scheme("lqd", ("switch.sharing=lqd",)),
        ),
        scales={"quick": Scale((1, 2), ("stop=20ms",))},
        tells=setup.TOLD,
    )


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A folder in place of the studies' own: nothing is published there."""
    monkeypatch.setattr(write, "HOME", tmp_path / "studies")
    (tmp_path / "studies" / "comparison").mkdir(parents=True)
    return tmp_path / "studies"


@pytest.fixture
def made(home, monkeypatch, tmp_path):
    """A network and a sweep, both tiny, are published; their summaries."""
    figures = [
        tiny(name, along("burst", bursts, "traffic.queries.burst={}%", label="burst {}%"))
        for name, bursts in (("credence", (80,)), ("burst", (20, 80)))
    ]
    monkeypatch.setattr(
        tables, "FIGURES", tables.FIGURES | {each.short_name: each for each in figures}
    )
    computed = harness.compute(harness.plan(figures, "quick"), Cache(tmp_path / "cache"))
    summaries = []
    for results in computed:
        assert results.samples() is None, "of flows nothing is kept"
        summary = write.document(results, "quick")
        write.publish(results, summary, "")
        summaries.append(summary)
    return summaries


def test_the_tables_are_of_what_is_published(made):
    network, sweep = (tables.block(name) for name in ("credence", "burst"))
    summary = made[0]
    size = f"version {summary['version']}, core {summary['build'][:8]}. So few"
    assert network.startswith(f"Scale `quick`: `stop=20ms`; seeds 1, 2; {size}")
    # 16 incast flows or so have none beyond their 99th percentile that would count.
    (_, _, dt, _) = cells(network.partition("\n\n")[2].partition("\n\n")[0])
    assert dt[0] == "`dt`" and "~ ± " in dt[5]
    (heads, *_) = cells(sweep.partition("\n\n")[2])
    assert heads[1:3] == ["incast p99, burst 20%", "incast p99, burst 80%"]
    assert "In pairs: 99th percentiles over those under `dt`" in network
    assert "in percentage points more than under `lqd`" in sweep


def test_what_all_networks_share_needs_all_networks(made, monkeypatch):
    for of_all in (tables.regret, tables.plot):
        with pytest.raises(write.UnpublishedError, match="no numbers of comparison/cbm"):
            of_all()
    monkeypatch.setattr(tables, "CLASSES", {"credence": ("short", "long", "incast")})
    assert cells(tables.regret())[0][1:] == [
        "credence: short p99",
        "credence: long p99",
        "credence: incast p99",
        "credence: queries, mean",
        "at worst",
    ]
    drawing = tables.plot()
    titles = [axis.get_title() for axis in drawing.axes]
    assert titles == [f"credence: {of} flows, p99" for of in ("short", "long", "incast")]
    assert svg(drawing).startswith(b"<?xml")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", ["comparison", "comparison/credence"])
def test_what_is_not_published_is_told_with_the_command(name, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "unpublished", lambda: [name])
    text = pages.expanded(f"```side-by-side\n{name}\n```\n", tmp_path, "images")
    command = "spillway reproduce comparison/credence --scale page --publish"
    told = "No numbers of comparison/credence are published"
    assert text == f"*{told}; `{command}` computes them.*\n"


def test_the_page_has_a_place_for_every_comparison():
    names = [figure.short_name for figure in catalogue.find("comparison")]
    assert names == [*tables.CLASSES, *tables.SWEEPS]
    page = (write.HOME / "comparison/paper.md").read_text(encoding="utf-8")
    asked = [body.strip().replace("\n", ", ") for _, body in pages.BLOCK.findall(page)]
    of_all = {f"comparison, table = {what}" for what in ("plot", "regret")}
    assert of_all | {f"comparison/{name}" for name in names} <= {*asked}


def test_numbers_without_flows_are_points_of_their_own():
    figure = tiny("credence", along("burst", (20,)))
    whole = replace(figure, measure=Run(str(TINY)))
    keys = [set(harness.plan([each], "quick").tasks) for each in (figure, whole)]
    assert keys[0].isdisjoint(keys[1])


@pytest.mark.filterwarnings("ignore:.*it was trained (where|with):spillway.ScenarioWarning")
@pytest.mark.parametrize("scale", ["quick", "page", "full"])
def test_every_point_is_a_scenario(scale):
    """Forests are asked outside of where they were trained: that is what is compared."""
    for figure in catalogue.find("comparison"):
        cells = len(figure.points) * len(figure.schemes) * len(figure.scales[scale].seeds)
        (own,) = harness.plan([figure], scale).keys
        assert len(own) == cells


def test_every_policy_is_compared_or_named_as_left_out():
    known = {entry["id"] for entry in json.loads(_core.catalogue())["sharing"]}
    # pFabric's is for ports with one queue and a limit of their own: no buffer is shared.
    # The page says that there are no runs with the others.
    assert sorted(setup.DEFAULTS) == sorted(
        known - {"pfabric", "quasi-pushout", "fb", "occamy", "reverie"}
    )


def test_every_policy_looks_different():
    styles = [tuple(style_of(scheme, 0).values()) for scheme in setup.schemes()]
    assert len(set(styles)) == len(styles) > len(COLOURS)


def test_abm_as_in_its_program_and_smartbuf_s_readings_are_set_by_the_key():
    named = {scheme.name: scheme.assignments for scheme in setup.schemes("switch.leaf.sharing")}
    assert named[setup.ABM_PROGRAM][:2] == (
        "switch.leaf.sharing=abm",
        "switch.leaf.sharing.alpha=[1024, 0.5]",
    )
    assert "switch.leaf.sharing.record=admitted+dropped" in named[setup.SMARTBUF_DEMANDS]
    every = [text for sets in named.values() for text in sets]
    assert all(text.startswith("switch.leaf.sharing") for text in every)
    single = {scheme.name: scheme.assignments for scheme in setup.schemes(ack_queues=False)}
    assert not any("alpha=" in text for text in single[setup.ABM_PROGRAM])
