"""The tables and the plot of docs/aqms.md out of the results of all AQMs."""

import importlib
import warnings
from dataclasses import replace

import pytest

from spillway.base.errors import ScenarioWarning
from spillway_studies import catalogue
from spillway_studies.aqms.figures import setup
from spillway_studies.claims import harness, write
from spillway_studies.claims.axes import Scale
from spillway_studies.claims.cache import Cache
from spillway_studies.claims.point import Run
from spillway_studies.comparison.figures.setup import Numbers
from support import TINY


@pytest.fixture(scope="module")
def page():
    """The program that writes the page, which is no part of the package."""
    return importlib.import_module("aqms")


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


def test_a_table_has_slowdowns_and_counts(page):
    results = page.Results({"dctcp: ecn": [row(1), row(3, short=3.0)]})
    heads, _, found = cells(page.table(results))
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


def test_a_table_tells_of_incasts_where_there_are_some(page):
    few = row(1) | {"fct_slowdown.incast.count": 100, "fct_slowdown.incast.p99": 7.0}
    heads, _, found = cells(page.table(page.Results({"dctcp: ecn": [few]})))
    assert (heads[5], found[5]) == ("incast p99", "7~")


def test_an_aqm_is_compared_with_the_best_under_its_own_transport(page):
    def point(ecn, red, long=1.0):
        return page.Results(
            {
                "dctcp: ecn": [row(1, short=ecn, long=long)],
                "dctcp: red": [row(1, short=red, long=2.0)],
                "cubic: ecn": [row(1, short=0.1, long=0.1)],
            }
        )

    points = {"low": point(2.0, 4.0), "high": point(9.0, 3.0, long=8.0)}
    assert cells(page.regrets(points, "dctcp")) == [
        ["", "low: short p99", "low: long mean", "high: short p99", "high: long mean", "at worst"],
        ["---"] * 6,
        ["`ecn`", "1.00", "1.00", "3.00", "4.00", "4.00"],
        ["`red`", "2.00", "2.00", "1.00", "1.00", "2.00"],
    ]


def test_aqms_are_compared_in_pairs_with_ecn_under_the_same_transport(page):
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
    heads, _, *found = cells(page.pairs(page.Results(runs)))
    assert heads[:3] == ["", "dctcp: short p99", "dctcp: long mean"]
    alike = "1.00 (1.00 to 1.00)"
    # Twice as much with one seed, half with the next.
    assert found == [
        ["`red`", "1.25 (0.50 to 2.00)", alike, "2.00 (1.00 to 3.00)", alike, alike, alike]
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All figures, in a tiny network and with two AQMs."""
    folder = tmp_path_factory.mktemp("results")
    tiny = [
        replace(
            figure,
            measure=Numbers(Run(str(TINY))),
            points=tuple(replace(point, assignments=()) for point in figure.points),
            schemes=tuple(
                scheme for scheme in setup.PRED.schemes if scheme.name.split(": ")[1] != "pred"
            ),
            scales={"quick": Scale((1, 2), ("stop=20ms",))},
        )
        for figure in catalogue.find("aqms")
    ]
    # Its buffer is so small that some AQMs never mark.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        planned = harness.plan(tiny, "quick")
        computed = harness.compute(planned, Cache(folder / "cache"))
    for found in computed:
        assert found.samples() is None, "of flows nothing is kept"
        write.write(found, write.document(found, write.findings(found), "quick"), folder, False)
    return folder


def test_the_page_is_written_out_of_results(page, results, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "IMAGE", tmp_path / "aqms.png")
    monkeypatch.setattr(page, "PAGE", tmp_path / "aqms.md")
    names = [figure.short_name for figure in catalogue.find("aqms")]
    places = [f"<!-- table: {name} -->\n<!-- end -->" for name in (*names, page.OVERVIEW)]
    page.PAGE.write_text("\n".join(places))
    page.main(results)
    text = page.PAGE.read_text()
    assert text.count("Scale `quick`: `stop=20ms`; seeds 1, 2; ") == len(names)
    assert text.count("minutes of CPU time") == len(names)
    assert text.count("**Load 80%**") == 3 and text.count("**newreno**") == 1
    assert page.IMAGE.read_bytes()[1:4] == b"PNG"
    assert text.count("In pairs: ") == 8
    # Six points, of two numbers each, and the worst.
    regret = text.partition("<!-- table: overview -->")[2]
    head = next(line for line in regret.splitlines() if line.startswith("| "))
    assert head.count(" | ") == 13


def test_tables_of_all_networks_need_all_networks(page, results, tmp_path):
    (tmp_path / "aqms").mkdir()
    (tmp_path / "aqms" / "pred").symlink_to(results / "aqms" / "pred")
    found, every = page.blocks(tmp_path)
    assert list(found) == ["pred"] and list(every) == ["PRED, load 50%", "PRED, load 90%"]


def test_the_page_has_a_place_for_every_figure(page):
    names = [figure.short_name for figure in catalogue.find("aqms")]
    assert names == [*page.NETWORKS, page.QUEUES]
    page.written(page.PAGE.read_text(encoding="utf-8"), dict.fromkeys([*names, page.OVERVIEW], ""))


def test_a_folder_without_results_is_refused(page, tmp_path):
    before = page.PAGE.read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="has no folder aqms/ with results"):
        page.main(tmp_path)
    assert page.PAGE.read_text(encoding="utf-8") == before
