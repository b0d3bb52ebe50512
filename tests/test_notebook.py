"""What a prompt and a notebook show of scenarios and results."""

import shutil
from html.parser import HTMLParser

import pytest

import spillway
from spillway import Scenario
from spillway.plugins import Sharing
from support import TINY

EVIL = "<script>alert('x')</script>&\x1b]0;t\x07"


class Everything(Sharing):
    """Admits everything."""

    id = "everything"

    def admit(self, arrival, buffer):
        return True


class Page(HTMLParser):
    """The tags, the texts and the tables of a page, which must be well formed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.texts, self.rows = [], set(), [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    def row(self, name: str) -> list[str]:
        """The row that begins so."""
        (found,) = (row for row in self.rows if row[0] == name)
        return found


@pytest.fixture(scope="module")
def sweep() -> spillway.Experiment:
    """Two variants, two seeds each."""
    vary = "switch.sharing=dt,lqd"
    return spillway.sweep(TINY, vary=vary, seeds=[1, 2], set="duration=1ms")


def test_a_result_in_a_line(tiny, tmp_path):
    flows, lost = tiny.summary["flows"], sum(tiny.summary["drops"].values())
    assert lost > 0
    done = f"{flows['completed']} of {flows['started']} flows, {lost} packets lost"
    assert repr(tiny) == f"<Result of 'tiny', seed 7: complete, {done}>"
    tiny.save(tmp_path / "out")
    shown = repr(spillway.Result.load(tmp_path / "out"))
    assert shown == f"<Result of 'tiny', seed 7: complete, {done}, in '{tmp_path / 'out'}'>"


def test_a_sweep_in_a_line(sweep):
    assert repr(sweep) == ("<Experiment over 'tiny': 4 runs of 'sharing=dt', 'sharing=lqd'>")
    seeds = spillway.sweep(TINY, seeds=[1, 2], set="duration=100us")
    assert repr(seeds) == "<Experiment over 'tiny': 2 runs>"
    several = spillway.sweep(TINY, vary=f"seed={','.join('123456')}", set="duration=10us")
    shown = "'seed=1', 'seed=2', 'seed=3', 'seed=4', 2 more"
    assert repr(several) == f"<Experiment over 'tiny': 6 runs of {shown}>"


def test_a_scenario_in_a_line(monkeypatch):
    assert repr(Scenario("credence")) == "<Scenario 'credence'>"
    monkeypatch.chdir(TINY.parent)
    assert repr(Scenario(TINY.name)) == f"<Scenario 'tiny' from '{TINY.name}'>"
    given = Scenario({"name": "mine"}).set("seed=3", {"duration": "1ms"}).plug(Everything)
    assert repr(given) == (
        "<Scenario 'mine' with seed=3, duration=1ms and the plug-ins Everything>"
    )
    many = given.set(*(f"traffic.{place}.load=0.5" for place in range(1000)))
    assert repr(many) == f"<{many.described()[:120]}...>"
    assert repr(many).startswith("<Scenario 'mine' with seed=3, duration=1ms, traffic.0.load=0.5, ")
    assert len(repr(Scenario({"name": "n" * 10_000}))) == 125


@pytest.mark.parametrize("source", [{}, {"name": 3}, "a = \n", "x = 1\n", f"a = {'[' * 5000}\n"])
def test_a_scenario_that_is_none_in_a_line(source):
    assert repr(Scenario(source)) == "<Scenario without a name>"
    assert "it cannot be read: " in Scenario(source)._repr_html_()


def test_lines_have_no_characters_that_are_not_printed():
    scenario = Scenario(TINY).set({"name": EVIL})
    assert repr(scenario).isprintable() and "script" in repr(scenario)
    run = spillway.run(scenario, set="duration=10us")
    assert repr(run).isprintable() and "script" in repr(run)
    sweep = spillway.sweep(TINY, vary={"name": [EVIL, "b"]}, set="duration=10us")
    assert repr(sweep).isprintable() and "script" in repr(sweep)


def test_a_notebook_shows_a_run_s_numbers(tiny):
    page = Page(tiny._repr_html_())
    heads = page.rows[0]
    assert heads[0] == "slowdown" and heads[1] == "flows" and "with timeout" in heads
    row = tiny.summary["fct_slowdown"]["all"]
    assert page.row("all")[1] == str(row["count"])
    assert float(page.row("all")[heads.index("p50")].strip("~ ")) == pytest.approx(
        row["p50"], rel=0.01
    )
    (text,) = (text for text in page.texts if text.startswith("tables: "))
    assert {*text.removeprefix("tables: ").split(", ")} == {"flows", "queues", "switches", "drops"}


def test_a_notebook_shows_a_run_whose_folder_is_gone(tiny, tmp_path):
    tiny.save(tmp_path / "out")
    loaded = spillway.Result.load(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    assert any("its tables cannot be listed" in text for text in Page(loaded._repr_html_()).texts)


def test_a_notebook_shows_variants_side_by_side(sweep):
    page = Page(sweep._repr_html_())
    heads, *rows = page.rows
    assert [row[0] for row in rows] == ["sharing=dt", "sharing=lqd"]
    (_, runs), _ = sweep.results
    lost = sum(sum(run.summary["drops"].values()) for run in runs) / 2
    assert rows[0][heads.index("packets lost")].split(" ±")[0] == f"{round(lost):,}"


def test_a_notebook_shows_a_scenario():
    page = Page(Scenario(TINY).set("switch.sharing=lqd")._repr_html_())
    assert f"Scenario 'tiny' from '{TINY}' with switch.sharing=lqd" in page.texts
    assert page.row("hosts")[1] == "8 at 10 Gbps" and "lqd" in page.row("leaf")
    plugged = Scenario(TINY, plugins=Everything).set("switch.sharing=everything")
    assert "everything" in Page(plugged._repr_html_()).row("leaf")


def test_a_notebook_is_told_why_a_scenario_cannot_be_read():
    (text,) = (
        text
        for text in Page(Scenario(TINY).set("switch.sharing=dtt")._repr_html_()).texts
        if text.startswith("it cannot be read: switch.sharing")
    )
    assert "did you mean" in text


def test_names_are_no_tags():
    scenario = Scenario(TINY).set({"name": EVIL, "traffic.background.name": EVIL})
    run = spillway.run(scenario, set="duration=200us")
    sweep = spillway.sweep(scenario, vary={"name": [EVIL, "b"]}, set="duration=200us")
    for shown in (scenario, run, sweep):
        text = shown._repr_html_()
        assert "&lt;script&gt;alert" in text
        assert Page(text).tags <= {"div", "p", "table", "tr", "th", "td"}
