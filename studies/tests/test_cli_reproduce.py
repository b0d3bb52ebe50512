"""The commands `reproduce` and `report`, and what people get wrong with them."""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import figures
from spillway.base import checksums
from spillway.scenario.scenario import Scenario
from spillway_studies import catalogue
from spillway_studies.claims import harness, write
from support import TINY, flipped, names
from test_cli_errors import refused


@pytest.fixture(autouse=True)
def tiny_paper(monkeypatch, tmp_path):
    monkeypatch.setitem(catalogue.PAPERS, "tiny", (figures.BURSTS,))
    monkeypatch.setenv("SPILLWAY_CACHE", str(tmp_path / "points"))


def test_what_there_is(command):
    for arguments in (["--list"], ["list"]):
        outcome = command("reproduce", *arguments)
        assert outcome.status == 0
        assert "credence/figure6" in outcome.out
    found = command("reproduce", "--list", "--json").json["figures"]
    assert {"figure": "tiny/bursts", "title": "Bursts in a tiny network"}.items() <= found[
        -1
    ].items()


def test_a_paper_has_its_own_figures():
    own = [figure.name for figure in catalogue.find("credence")]
    assert own[:3] == ["credence/table1", "credence/figure3", "credence/figure6"]
    assert not any("choices" in name for name in own)
    assert [figure.name for figure in catalogue.find("credence/choices")] == ["credence/choices"]


# Under PowerTCP the forest that DCTCP's packets trained is asked.
@pytest.mark.filterwarnings("ignore:.*it was trained with transport")
@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize("name", ["credence", "credence/choices", "credence/choices-load80"])
def test_every_point_of_every_figure_can_be_run(name, scale):
    planned = harness.plan(catalogue.find(name), scale, [1])
    assert planned.tasks


def test_quick_has_200_queries_at_every_point():
    # Websearch does not change them, nor does their size: they are the same at all points.
    (figure,) = catalogue.find("credence/figure6")
    scale, queries = figure.scales["quick"], 0
    for seed in scale.seeds:
        scenario = Scenario.load("credence").set(*scale.assignments, f"seed={seed}")
        few = scenario.set("traffic.websearch.load=0.001").read().flows().take(1 << 20)
        names = few["class"].names
        queries += sum(names[place] == "incast" for place in memoryview(few["class"])) / 16
    assert queries >= 200


def test_what_is_damaged_is_told_and_computed_again(command, tmp_path):
    first = command("reproduce", "tiny", "--seeds", 1, "--json")
    (file,) = (tmp_path / "points" / "segments").iterdir()
    whole = file.read_bytes()
    file.write_bytes(flipped(whole, whole.index(b'"numbers"')))
    again = command("reproduce", "tiny", "--seeds", 1, "--json")
    assert "3 of 4 points are there already" in again.err
    told = " ".join(again.err.split())
    assert "note: a line is damaged in" in told and "is computed again" in told
    (before,), (now,) = first.json["figures"], again.json["figures"]
    assert (now["metrics"], now["claims"]) == (before["metrics"], before["claims"])


def test_a_figure_s_claims_and_folder(command, tmp_path):
    outcome = command("reproduce", "tiny/bursts", "--out", "out", "--jobs", 2)
    assert outcome.status == 0, outcome.err
    assert "LQD is faster" in outcome.out
    assert "written to out/tiny/bursts" in outcome.out
    assert "section" not in outcome.err
    assert "8 of 8: burst " in outcome.err
    assert names(tmp_path / "out" / "tiny" / "bursts")
    again = command("reproduce", "tiny", "--json", "--seeds", 1)
    assert "4 of 4 points are there already" in again.err
    (document,) = again.json["figures"]
    assert document["seeds"] == [1]
    assert [claim["paper"] for claim in document["claims"]] == [0.5, None]
    assert document["folder"] is None
    # One seed tells nothing of others.
    assert {claim["verdict"] for claim in document["claims"]} == {"undecided"}
    assert document["verdicts"]["undecided"] == 2
    assert "no 95% intervals" in document["caution"]
    taken = command("reproduce", "tiny/bursts", "--out", "out")
    refused(taken, "out/tiny/bursts is there already", "--force")


def test_claims_of_several_figures_are_counted(command, monkeypatch):
    other = replace(
        figures.BURSTS,
        name="tiny/again",
        claims=(replace(figures.BURSTS.claims[0], exploratory="the size"),),
    )
    monkeypatch.setitem(catalogue.PAPERS, "tiny", (figures.BURSTS, other))
    outcome = command("reproduce", "tiny", "--seeds", "1..3")
    assert outcome.status == 0, outcome.err
    assert "* something of it was chosen after its numbers were seen" in outcome.out
    assert "fewer than ten seeds" in outcome.out
    rows = [line.split() for line in outcome.out.splitlines()[-6:] if line.strip()]
    counts = {row[0]: list(map(int, row[-5:])) for row in rows if row[-1].isdigit()}
    assert [sum(counts[name]) for name in ("tiny/bursts", "tiny/again", "figures")] == [2, 1, 3]
    assert counts["tiny/again"] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["credence/figur6"], "there is no figure 'credence/figur6'", "mean `credence/figure6`?"),
        (["figure6"], "there is no figure 'figure6'", "did you mean `credence/figure6`?"),
        (["credenc"], "there is no figure 'credenc'", "did you mean `credence`?"),
        (["zzz"], "there is no figure 'zzz'", "`spillway reproduce --list` names them"),
        ([], "no figure is given", "`spillway reproduce --list`"),
        (["tiny", "--scale", "huge"], "'huge' is not one of 'quick', 'page', 'full'", "--help"),
        (["tiny", "--seeds", "a"], "'a' is not a list of seeds", "--seeds 1..5"),
        (["tiny", "--jobs", "0"], "'--jobs'", "--help"),
    ],
)
def test_what_cannot_be_reproduced(command, arguments, error, hint):
    refused(command("reproduce", *arguments), error, hint)


def test_what_a_page_shows_is_replaced_only_by_its_like(command, monkeypatch, tmp_path):
    monkeypatch.setattr(write, "HOME", tmp_path / "home")
    (tmp_path / "home" / "tiny").mkdir(parents=True)
    publish = ("reproduce", "tiny/bursts", "--publish")
    refused(command(*publish), "not in a clone of the repository", "--out DIR")
    refused(command(*publish, "--force"), "not in a clone of the repository", "--out DIR")
    (tmp_path / "pyproject.toml").touch()
    other = "the page of tiny/bursts shows another scale or other seeds"
    page = "`spillway reproduce tiny/bursts --scale page --publish`"
    refused(command(*publish, "--seeds", "1"), other, page)
    refused(command(*publish, "--scale", "full"), other, page)
    assert not (tmp_path / "points").exists()
    # Without a scale `page` it is that of `quick`.
    assert command(*publish).status == 0
    refused(command(*publish, "--seeds", "1"), other, "tiny/bursts --scale quick --publish`")
    assert command(*publish, "--seeds", "1", "--force").status == 0
    assert json.loads((tmp_path / "home/tiny/results/bursts.json").read_text())["seeds"] == [1]
    refused(command(*publish), other, "tiny/bursts --scale quick --seeds 1 --publish`")
    assert command(*publish, "--seeds", "1").status == 0


def test_ctrl_c_says_what_is_kept(command, monkeypatch):
    def interrupted(*_, **__):
        raise harness.Unfinished(3, 8)

    monkeypatch.setattr(harness, "compute", interrupted)
    outcome = command("reproduce", "tiny/bursts")
    assert outcome.status == 130
    assert "3 of 8 points are kept: the same command goes on from there" in outcome.err


def test_a_page_has_all_results_and_needs_nothing_else(command, tmp_path):
    assert command("reproduce", "tiny/bursts", "--out", "all").status == 0
    bad = 'name="<script>x</script>"'
    assert command("run", TINY, "--set", bad, "--out", "all/one").status == 0
    vary = ["--vary", "switch.sharing=dt,lqd"]
    assert command("compare", TINY, *vary, "--out", "all/two").status == 0
    over = ["--over", "switch.sharing=dt,lqd", "--minimize", "drops", "--trials", "2"]
    assert command("tune", TINY, *over, "--out", "all/three").status == 0
    (tmp_path / "all" / "left.partial").mkdir()
    (tmp_path / "all" / "left.partial" / "summary.json").write_text("no result")
    outcome = command("report", "all", "--json")
    assert outcome.json == {
        "report": "all/report.html",
        "figures": 1,
        "comparisons": 1,
        "studies": 1,
        "runs": 1,
    }
    page = (tmp_path / "all" / "report.html").read_text()
    for text in (
        "LQD is faster",
        "undecided",
        "sharing=lqd",
        "DT",
        "queries",
        "[topology]",
        "best: trial",
    ):
        assert text in page
    assert "Fewer than three seeds tell nothing of others" in page
    (counts,) = re.findall(r"<td>figures of papers</td>(.*?)</tr>", page)
    assert re.findall(r">(\d+)<", counts) == ["0", "0", "2", "0", "0"]
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"https?://", page)
    # Of the figure, of the comparison, and of the study's confirmation.
    drawings = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert [b"<svg" in base64.b64decode(drawing) for drawing in drawings] == [True] * 3
    refused(command("report", "all"), "all/report.html is there already", "--force")
    told = "1 figure, 1 comparison, 1 study, 1 run: written to all/report.html\n"
    assert command("report", "all", "--force").out == told
    assert command("report", "all/one", "--out", "one.html").status == 0
    assert "seed 7" in (tmp_path / "one.html").read_text()


def test_what_no_page_can_be_made_of(command, tmp_path):
    refused(command("report", "nowhere"), "there is no folder nowhere", "has results in it")
    (tmp_path / "empty").mkdir()
    refused(command("report", "empty"), "there are no results in empty", "--out")
    summarise(tmp_path / "empty", "{")
    refused(command("report", "empty"), "summary.json cannot be read", "is it a result?")
    summarise(tmp_path / "empty", json.dumps({"else": 1}))
    refused(command("report", "empty"), "there are no results in empty", "--out")
    summarise(tmp_path / "empty", json.dumps({"figure": "old/figure1"}))
    refused(command("report", "empty"), "lacks what a page shows", "with this one")
    refused(command("report", "empty", "--out", "no/page.html"), "there is no folder no", "make")


def test_a_figure_without_a_scenario_is_on_the_page(command, tmp_path, monkeypatch):
    done = command("reproduce", "credence/figure14", "--seeds", "1", "--out", "all")
    assert done.status == 0, done.err
    assert command("report", "all").status == 0
    page = (tmp_path / "all" / "report.html").read_text()
    assert "Throughput as the labels of LQD are flipped" in page


def test_what_is_no_summary_is_refused(command, tmp_path):
    for text in ("[]", '{"figure": 3}'):
        (tmp_path / "odd").mkdir(exist_ok=True)
        summarise(tmp_path / "odd", text)
        refused(command("report", "odd"), "summary.json is no result's summary", "")


def summarise(folder: Path, text: str) -> None:
    """A folder of results whose summary is this text."""
    (folder / "summary.json").write_text(text)
    checksums.write(folder, but=checksums.FILE)
