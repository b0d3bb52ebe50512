"""The tables and the plot out of the published results of all AQMs."""

import warnings
from dataclasses import replace

import pytest

from spillway.base.errors import ScenarioWarning
from spillway.show.drawing import svg
from spillway_studies import catalogue, pages
from spillway_studies.aqms import figures as aqms
from spillway_studies.aqms import tables
from spillway_studies.claims import Cache, Run, Scale, harness, write
from support import TINY


def row(seed, short=1.0, long=1.0, **more):
    """A run's numbers."""
    return {
        "seed": seed,
        "fct_slowdown.short.count": 2000,
        "fct_slowdown.short.p99": short,
        "fct_slowdown.short.mean": short / 2,
        "fct_slowdown.long.count": 5,
        "fct_slowdown.long.mean": long,
        "fct_slowdown.all.count": 4000,
        "fct_slowdown.all.mean": 1.5,
        "fct_slowdown.all.with_timeout": 100 * seed,
        "drops.aqm": 1000 * seed,
        "drops.buffer_full": None,
        "marks": 5000,
        "lost.aqm": 10**9,
        **more,
    }


def cells(table):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]


def test_a_table_has_slowdowns_and_counts():
    results = tables.Results({"dctcp: ecn": [row(1), row(3, short=3.0)]})
    heads, _, found = cells(tables.table(results))
    assert heads == [
        "",
        "short p99",
        "short mean",
        "long mean",
        "all mean",
        "lost",
        "marked",
        "flows with a timeout, %",
    ]
    # 1000 and 3000 packets; 100 and 300 of 4000 flows.
    assert found == [
        "`dctcp: ecn`",
        "2 ± 1.41",
        "1 ± 0.707",
        "1 ± 0",
        "1.5 ± 0",
        "2,000 ± 1,414",
        "5,000 ± 0",
        "5 ± 3.54",
    ]


def test_a_table_tells_of_incasts_where_there_are_some():
    few = row(1) | {"fct_slowdown.incast.count": 100, "fct_slowdown.incast.p99": 7.0}
    heads, _, found = cells(tables.table(tables.Results({"dctcp: ecn": [few]})))
    assert (heads[5], found[5]) == ("incast p99", "7~")


def test_an_aqm_is_compared_with_the_best_under_its_own_transport():
    def point(ecn, red, long=1.0):
        return tables.Results(
            {
                "dctcp: ecn": [row(1, short=ecn, long=long)],
                "dctcp: red": [row(1, short=red, long=2.0)],
                "cubic: ecn": [row(1, short=0.1, long=0.1)],
            }
        )

    points = {"low": point(2.0, 4.0), "high": point(9.0, 3.0, long=8.0)}
    assert cells(tables.regrets(points, "dctcp")) == [
        ["", "low: short p99", "low: long mean", "high: short p99", "high: long mean", "at worst"],
        ["---"] * 6,
        ["`ecn`", "1.00", "1.00", "3.00", "4.00", "4.00"],
        ["`red`", "2.00", "2.00", "1.00", "1.00", "2.00"],
    ]


def test_aqms_are_compared_in_pairs_with_ecn_under_the_same_transport():
    runs = {
        f"{transport}: {aqm}": [row(1, short=first), row(2, short=second, long=3.0)]
        for transport, aqm, first, second in (
            ("dctcp", "ecn", 2.0, 10.0),
            ("dctcp", "red", 4.0, 5.0),
            ("cubic", "ecn", 1.0, 1.0),
            ("cubic", "red", 1.0, 3.0),
            ("newreno", "ecn", 1.0, 1.0),
            ("newreno", "red", 1.0, 1.0),
            ("theta-powertcp", "none", 9.0, 9.0),
        )
    }
    heads, _, *found = cells(tables.pairs(tables.Results(runs)))
    assert heads[:3] == ["", "dctcp: short p99", "dctcp: long mean"]
    alike = "1.00 (1.00 to 1.00)"
    # Twice as much with one seed, half with the next.
    assert found == [
        ["`red`", "1.25 (0.50 to 2.00)", alike, "2.00 (1.00 to 3.00)", alike, alike, alike]
    ]


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """The results of all figures, in a tiny network and with two AQMs."""
    tiny = [
        replace(
            figure,
            measure=Run(str(TINY), keeps_flows=False),
            points=tuple(replace(point, assignments=()) for point in figure.points),
            schemes=tuple(
                scheme for scheme in aqms.PRED.schemes if scheme.name.split(": ")[1] != "pred"
            ),
            scales={"quick": Scale((1, 2), ("stop=20ms",))},
        )
        for figure in catalogue.find("aqms")
    ]
    # Its buffer is so small that some AQMs never mark.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        planned = harness.plan(tiny, "quick")
        found = harness.compute(planned, Cache(tmp_path_factory.mktemp("cache")))
    for results in found:
        assert results.samples() is None, "of flows nothing is kept"
    return {results.figure.short_name: results for results in found}


@pytest.fixture
def publish(computed, monkeypatch, tmp_path):
    """Publishes figures in a folder in place of the studies' own."""
    monkeypatch.setattr(write, "HOME", tmp_path)
    figures = {name: results.figure for name, results in computed.items()}
    monkeypatch.setattr(tables, "FIGURES", figures)
    (tmp_path / "aqms").mkdir()

    def some(*names):
        for name in names:
            results = computed[name]
            summary = write.document(results, "quick")
            write.publish(results, summary, "")

    return some


def test_the_tables_are_of_what_is_published(computed, publish):
    names = [*computed]
    publish(*names)
    text = "\n\n".join(map(tables.block, names))
    assert text.count("Scale `quick`: `stop=20ms`; seeds 1, 2; ") == len(names)
    assert text.count("minutes of CPU time") == len(names)
    assert text.count("**Load 80%**") == 3
    assert text.count("In pairs: ") == 8
    regret = tables.regret()
    assert regret.count("**newreno**") == 1
    # Six points, of two numbers each, and the worst.
    head = next(line for line in regret.splitlines() if line.startswith("| "))
    assert head.count(" | ") == 13


def test_the_plot_has_two_panels_for_every_point(computed, publish):
    publish(*tables.NETWORKS)
    drawing = tables.plot()
    titles = [axis.get_title() for axis in drawing.axes]
    assert len(titles) == 12
    assert titles[-2:] == ["PRED, load 90%: short p99", "PRED, load 90%: long mean"]
    assert svg(drawing).startswith(b"<?xml")


def test_tables_of_all_networks_need_all_networks(publish):
    publish("pred")
    text = tables.block("pred")
    assert text.count("**Load 50%**") == text.count("**Load 90%**") == 1
    for of_all in (tables.regret, tables.plot):
        with pytest.raises(write.UnpublishedError, match="no numbers of aqms/credence are"):
            of_all()


@pytest.mark.usefixtures("publish")
@pytest.mark.parametrize(
    ("asked", "figure"),
    [("aqms\ntable = plot", "credence"), ("aqms", "credence"), ("aqms/queues", "queues")],
)
def test_what_is_not_published_is_told_with_the_command(asked, figure, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "unpublished", asked.splitlines)
    text = pages.expanded(f"```side-by-side\n{asked}\n```\n", tmp_path, "images")
    told = f"No numbers of aqms/{figure} are published"
    assert (
        text
        == f"*{told}; `spillway reproduce aqms/{figure} --scale page --publish` computes them.*\n"
    )


def test_the_page_has_a_place_for_every_figure():
    names = [figure.short_name for figure in catalogue.find("aqms")]
    assert names == [*tables.NETWORKS, "queues"]
    page = (write.HOME / "aqms/paper.md").read_text(encoding="utf-8")
    asked = [body.strip().replace("\n", ", ") for _, body in pages.BLOCK.findall(page)]
    of_all = {f"aqms, table = {what}" for what in ("plot", "regret")}
    assert of_all | {f"aqms/{name}" for name in names} <= {*asked}
