"""What a comparison shows: one's own traffic, and what was chosen."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import spillway
from spillway import _core
from spillway.experiment import plots
from spillway.result import metrics
from spillway.scenario.scenario import Scenario
from support import TINY

PAGE = Path(__file__).parents[1] / "docs" / "results.md"


@pytest.fixture(scope="module")
def web():
    """DT and LQD with a section called `web` beside queries, with two seeds."""
    text = TINY.read_text().replace('"background"', '"web"')
    return spillway.sweep(text, vary=["switch.sharing=dt,lqd"], seeds=[1, 2], keep=False)


def shown(sweep, width: int = 200) -> list[str]:
    """The lines of its table."""
    console = Console(width=width)
    with console.capture() as captured:
        console.print(sweep.table().of)
    return captured.get().splitlines()


def chosen(sweep, *names: str) -> spillway.Experiment:
    """The same with these metrics."""
    return sweep.showing(names)


def test_one_s_own_traffic_is_in_table_and_plot(web):
    words = " ".join(shown(web)).split()
    # Two percentiles of each.
    assert words.count("web") == words.count("queries") == words.count("short") == 2
    titles = [axis.get_title().strip() for axis in plots.drawn(web).axes]
    assert titles == ["short", "medium", "long", "incast", "queries", "web", "leaf buffers", ""]


def test_table_and_plot_show_what_was_chosen(web):
    some = chosen(web, "web.p50", "drops", "queries.p99", "goodput", "goodput.web", "web.p99")
    heads = [line.split() for line in shown(some)[1:4]]
    assert heads[1] == ["web", "packets", "queries", "goodput", "goodput", "web"]
    assert heads[2] == ["p50", "lost", "p99,", "ms", "Gbps", "web,", "Gbps", "p99"]
    axes = plots.drawn(some).axes
    panels = {
        axis.get_title().strip(): [text.get_text() for text in axis.get_xticklabels()]
        for axis in axes
    }
    assert panels == {
        "web": ["p50", "p99"], "packets lost": [""], "queries": ["p99"], "goodput": ["all", "web"],
    }  # fmt: skip


def test_numbers_are_those_of_the_summaries(web):
    runs = [result.summary for _, results in web.results for result in results]
    known = metrics.catalogue(runs)
    for run in runs:
        row = run["fct_slowdown"]["web"]
        assert known["web.p99.9"].read(run) == row["p99_9"]
        assert known["web.with_timeout"].read(run) == row["with_timeout"]
        assert known["with_timeout"].read(run) == run["fct_slowdown"]["all"]["with_timeout"]
        assert known["timeouts"].read(run) == run["timeouts"]
        assert known["drops"].read(run) == sum(run["drops"].values())
        assert known["queries.mean"].read(run) == pytest.approx(run["query_us"]["mean"] / 1000)
        assert known["slowdown.queries.max"].read(run) == run["fct_slowdown"]["queries"]["max"]
        assert known["goodput.web"].read(run) == run["goodput_gbps"]["web"]
        assert known["buffer.p99.99"].read(run) == run["buffer_occupancy"]["p99_99"]
        assert known["buffer.p99.99"].scale == 100


@pytest.fixture(scope="module")
def namesakes():
    """A run whose sections are called like classes."""
    text = TINY.read_text().replace("load = 0.5", "load = 0.2")
    _, background, queries = text.partition("[record]")[0].split("[[traffic]]")
    more = [background.replace('"background"', f'"{name}"') for name in ("medium", "all")]
    more.append(queries.replace('"queries"', '"incast"'))
    return spillway.run(text + "".join(f"[[traffic]]\n{each}" for each in more))


@pytest.mark.parametrize("section", ["medium", "all", "incast"])
def test_a_section_called_like_a_class_has_numbers_of_its_own(namesakes, section):
    flows = namesakes.flows.filter(np.array(namesakes.flows["class"].to_pylist()) == section)
    slowdowns = np.sort(flows["slowdown"].to_numpy())
    known = metrics.catalogue([namesakes.summary])

    def read(key: str) -> float:
        return known[key].read(namesakes.summary)

    assert read(f"traffic.{section}.flows") == len(slowdowns) > 2
    assert read(f"traffic.{section}.max") == pytest.approx(slowdowns[-1], rel=1e-9)
    assert read(f"traffic.{section}.p50") == slowdowns[(len(slowdowns) + 1) // 2 - 1]
    assert read(f"traffic.{section}.flows") != read(f"{section}.flows") > 0


def test_goodput_of_a_section_called_all_is_not_that_of_all(namesakes):
    goodput = namesakes.summary["goodput_gbps"]
    of_sections = sum(value for name, value in goodput.items() if name != "all")
    assert goodput["all"] == pytest.approx(of_sections)
    assert 0 < goodput["traffic.all"] < goodput["all"]


def test_an_only_incast_section_is_the_class():
    text = TINY.read_text().replace('"queries"', '"incast"')
    rows = spillway.run(text, set=["duration=1ms"]).summary["fct_slowdown"]
    assert "incast" in rows and "traffic.incast" not in rows


def test_what_is_chosen_is_kept(command, tmp_path):
    names = ["background.p50", "drops"]
    outcome = command(
        *["compare", TINY, "--vary", "switch.sharing=dt,lqd", "--out", "out", "--json"],
        *["--metrics", " background.p50,drops"],
    )
    assert outcome.json["metrics"] == names
    assert spillway.load(tmp_path / "out").metrics == names
    assert outcome.err.split()[4:8] == ["background", "packets", "p50", "lost"]


def test_a_metric_is_known_before_anything_runs(monkeypatch):
    monkeypatch.setattr(sys.modules["spillway.experiment.work"], "run_to", None)
    with pytest.raises(spillway.ScenarioError, match=r"there is no metric 'shrt\.p99'") as raised:
        spillway.sweep(TINY, metrics=["drops", "shrt.p99"])
    assert raised.value.hint == "did you mean `short.p99`?"
    with pytest.raises(spillway.ScenarioError, match="there is no metric 5"):
        spillway.sweep(TINY, metrics=[5])
    with pytest.raises(spillway.ScenarioError, match="5 are no metrics"):
        spillway.sweep(TINY, metrics=5)


def test_a_section_that_only_some_variants_have_is_known(web):
    vary = {"traffic.background.name": ["background", "other"]}
    sweep = spillway.sweep(TINY, vary=vary, metrics="other.p99,background.flows", keep=False)
    lines = shown(sweep)
    (first, second) = ([*line.split()] for line in lines if "name=" in line)
    assert (first[1], second[2]) == ("-", "-") and "-" not in (first[2], second[1])


def test_the_page_has_all_metrics_and_no_others():
    text = TINY.read_text().replace('"background"', '"web"')
    empty = json.loads(_core.Simulation(Scenario.of(text).read()).summary())
    known = set(metrics.catalogue([empty]))
    told = set()
    page = PAGE.read_text(encoding="utf-8")
    rows = page.partition("| metric | meaning |")[2].partition("\n\n")[0]
    for row in rows.splitlines()[2:]:
        names = re.findall(r"`([^`]+)`", row.split("|")[1])
        stem = names[0].partition(".")[0]
        told |= {f"{stem}{name}" if name.startswith(".") else name for name in names}
    others = {"short", "medium", "long", "incast", "all", "slowdown"}
    known = {name for name in known if name.partition(".")[0] not in others}
    # Of the section called `queries` only what nothing else is called needs no longer name.
    of_section = {"queries.flows", "queries.unfinished", "queries.with_timeout", "goodput.queries"}
    # Jobs and their iterations have metrics where there are jobs.
    of_jobs = {"jobs.mean", "jobs.p50", "iterations.mean"}
    assert told == known - of_section | of_jobs
    with_jobs = metrics.catalogue([{**empty, "job_us": {"all": {}}, "iteration_us": {"all": {}}}])
    assert of_jobs <= set(with_jobs)


def test_a_table_that_is_too_wide_becomes_several(web):
    wide = max(len(line) for line in shown(web))
    lines = shown(web, 40)
    assert max(map(len, lines)) <= 40 < wide
    assert sum("sharing=dt" in line for line in lines) > 3
    assert "…" not in "".join(lines)


def test_any_number_of_the_summary_is_a_metric_by_its_path(web):
    chosen = "fct_us.web.p99.9,drops.aqm,load.realised,queries.p99"
    runs = [result.summary for _, results in web.results for result in results]
    names = metrics.choose(chosen, runs)
    # Of the two ways to write a point one is the name.
    assert names == chosen.replace("p99.9", "p99_9").split(",")
    with pytest.raises(spillway.ScenarioError, match=r"p99_9. is there twice"):
        metrics.choose("fct_us.web.p99.9,fct_us.web.p99_9", runs)
    times, aqm, load, queries = metrics.of_table(names, runs)
    (summary, *_) = runs
    assert times.read(summary) == summary["fct_us"]["web"]["p99_9"]
    assert times.is_few(summary) == ("p99_9" in summary["fct_us"]["web"]["few_samples"])
    # Of what did not happen there is no count; a name of its own is not a path.
    assert ("aqm" in summary["drops"], aqm.read(summary)) == (False, 0)
    assert queries.read(summary) == pytest.approx(summary["query_us"]["p99"] / 1000)
    assert [each.less_is_better for each in (times, aqm, load)] == [True, False, False]
    shown_sweep = web.showing(names)
    assert "realised" in "".join(shown(shown_sweep))
    for wrong in ("fct_us.web", "run.cpu_s", "seed", "fct_us.nobody.p99"):
        with pytest.raises(spillway.ScenarioError, match=f"there is no metric '{wrong}'"):
            metrics.choose(wrong, runs)
