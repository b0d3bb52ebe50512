"""Pages of results: of damaged summaries, and in place of other files."""

import base64
import copy
import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

import spillway
from spillway import ScenarioError
from spillway.base import checksums
from spillway.experiment import plots
from spillway.result import tables
from spillway.show import report
from spillway.tuning import plots as study_plots
from support import HAS_STUDIES, TINY, needs_studies
from test_cli_errors import refused

STUDY = {
    "over": {"switch.sharing": ["dt", "lqd"]},
    "minimize": "drops",
    "trials": 2,
    "seeds": [1],
    "jobs": 1,
    "confirm_duration": "2ms",
}
KINDS = ["run", "study", pytest.param("figure", marks=needs_studies)]
JUNK = (None, "12", [], {}, [None], {"x": 1}, True, -1, 1e300, float("nan"), "\ud800", "</article>")


@pytest.fixture(scope="module")
def summaries(tmp_path_factory):
    """A summary of each kind, by name."""
    folder = tmp_path_factory.mktemp("results")
    spillway.run(TINY, out=folder / "run")
    spillway.tune(TINY, out=folder / "study", **STUDY)
    places = {name: folder / name for name in ("run", "study")}
    if HAS_STUDIES:
        places["figure"] = of_figure(folder)
    return {
        name: json.loads((place / "summary.json").read_text()) for name, place in places.items()
    }


def of_figure(folder: Path) -> Path:
    import figures
    from spillway_studies.claims import Cache, harness, write

    (results,) = harness.compute(harness.plan([figures.BURSTS], "quick"), Cache(folder / "points"))
    return write.write(results, write.document(results, "quick"), folder, force=False)


def gathered(folder, text: str) -> bool:
    """Whether a page can be made of a folder with this summary; what is refused names the file."""
    (folder / "summary.json").write_text(text, errors="surrogatepass")
    checksums.write(folder, but=checksums.FILE)
    try:
        report.write(folder, folder / "page.html", force=True)
    except ScenarioError as error:
        refusal = str(error)
    else:
        return True
    assert str(folder) in refusal
    return False


@pytest.mark.parametrize("kind", KINDS)
def test_no_cut_summary_is_a_traceback(summaries, tmp_path, kind):
    text = json.dumps(summaries[kind])
    assert gathered(tmp_path, text)
    for length in range(0, len(text), len(text) // 40):
        assert not gathered(tmp_path, text[:length])


@pytest.mark.parametrize("kind", KINDS)
def test_no_changed_summary_is_a_traceback(summaries, tmp_path, kind, monkeypatch):
    """Every place in it in turn gets something else, or goes; drawings are another test's."""
    monkeypatch.setattr(plots, "svg", lambda _: b"<svg/>")
    monkeypatch.setattr(study_plots, "drawn", lambda _: {})
    whole = summaries[kind]
    refusals = 0
    for number, steps in enumerate(places(whole)):
        changed = copy.deepcopy(whole)
        within = changed
        for step in steps[:-1]:
            within = within[step]
        if number % (len(JUNK) + 1) == len(JUNK):
            del within[steps[-1]]
        else:
            within[steps[-1]] = JUNK[number % (len(JUNK) + 1)]
        refusals += not gathered(tmp_path, json.dumps(changed))
    assert refusals > 5


def words(text: str) -> Counter:
    """The words of a table, wherever lines end."""
    told = Counter(text.replace("un-", "").replace("unfinished", "finished").split())
    return Counter({word: n for word, n in told.items() if set(word) - set("─")})


def terminal(shown) -> Counter:
    """What the terminal shows of a result."""
    wide = Console(width=1000)
    with wide.capture() as captured:
        wide.print(shown)
    return words(captured.get())


def article(folder, page: str) -> str:
    """What a page says of the result in a folder."""
    report.write(folder, folder / page, force=True)
    (found,) = re.findall(r"<article.*?</article>", (folder / page).read_text(), re.DOTALL)
    return found


def plain(part: str) -> str:
    """Without its tags."""
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"</?span[^>]*>", "", part)))


@pytest.mark.parametrize("chosen", [None, "background.p50,with_timeout,timeouts,queries.p99"])
def test_a_comparison_s_part_says_what_the_terminal_says(tmp_path, chosen):
    sweep = spillway.sweep(
        TINY,
        vary=["switch.sharing=dt,lqd"],
        seeds=range(1, 17),
        out=tmp_path / "out",
        metrics=chosen or (),
    )
    found = article(tmp_path, "page.html")
    _, shown, rest = re.split(r"</h2>|<p class=\"quiet\">Spillway", found)
    assert words(plain(shown)) == terminal(sweep.table().of)
    assert "±" in shown and "~" in shown and "background" in shown
    assert ('class="bold green"' in shown) == ("bold green" in shown)
    assert chosen or "bold green" in shown
    date = sweep.results[0][1][0].summary["run"]["began"][:10]
    assert f"run on {date}" in rest
    (drawing,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', rest)
    assert base64.b64decode(drawing) == plots.svg(sweep)
    for text in (
        "switch.sharing=lqd",
        "seeds 1..16",
        "[topology]",
    ):
        assert text in rest
    assert "The scenario of the first variant" in rest


def test_a_run_s_part_says_what_the_terminal_says(tmp_path):
    result = spillway.run(TINY, out=tmp_path / "out")
    found = article(tmp_path, "page.html")
    _, shown, rest = re.split(r"</h2>|<p class=\"quiet\">Spillway", found)
    assert words(plain(shown)) == terminal(tables.run(result.summary, None))
    for text in ("~", "background", f"{result.summary['timeouts']} timeouts"):
        assert text in shown
    assert f"run on {result.summary['run']['began'][:10]}" in rest and "[topology]" in rest


def test_a_comparison_of_an_older_version_is_told(tmp_path):
    assert not gathered(tmp_path, json.dumps({"variants": []}))


def test_an_experiment_without_a_run_has_a_part_too(tmp_path):
    spillway.experiment(TINY, seeds=[1, 2], out=tmp_path / "out")
    assert "0 of 2 runs" in article(tmp_path, "page.html")


def places(document, depth: int = 6) -> Iterator[tuple]:
    """The steps to values within a document, of lists to the first two."""
    if not depth or not isinstance(document, (dict, list)):
        return
    steps = document if isinstance(document, dict) else range(min(len(document), 2))
    for step in steps:
        yield (step,)
        yield from ((step, *more) for more in places(document[step], depth - 1))


@pytest.mark.parametrize(
    "text", ["", "null", "3", '"x"', "[" * 100_000, "1" * 5000, '{"figure": []}']
)
def test_what_is_no_summary_is_told(tmp_path, text):
    assert not gathered(tmp_path, text)


def test_a_damaged_summary_is_told_before_it_is_read(summaries, tmp_path):
    assert gathered(tmp_path, json.dumps(summaries["run"]))
    text = (tmp_path / "summary.json").read_text()
    (tmp_path / "summary.json").write_text(text.replace('"timeouts": ', '"timeouts": 1'))
    with pytest.raises(ScenarioError, match=r"summary\.json is not what was written there"):
        report.write(tmp_path, tmp_path / "page.html", force=True)


FORCED = {
    "report": (["report", "results", "--out"], ".html", "a report"),
    "list": (["flows", TINY, "--out"], ".csv", "a list of flows"),
    "table": (["flows", TINY, "--out"], ".parquet", "a list of flows"),
    "arrivals": (["slotted", "arrivals", "bursts", "--out"], ".parquet", "a list of arrivals"),
    "packets": (["slotted", "arrivals", "bursts", "--out"], ".csv", "a list of arrivals"),
}


@pytest.mark.parametrize(("arguments", "suffix", "what"), FORCED.values(), ids=FORCED)
def test_force_replaces_only_its_like(command, tmp_path, arguments, suffix, what):
    assert command("run", TINY, "--out", "results").status == 0
    assert command(*arguments, f"out{suffix}").status == 0
    refused(command(*arguments, f"out{suffix}"), "is there already", "--force")
    before = (tmp_path / f"out{suffix}").read_bytes()
    assert command(*arguments, f"out{suffix}", "--force").status == 0
    assert (tmp_path / f"out{suffix}").read_bytes() == before
    (tmp_path / f"mine{suffix}").write_text("seed = 1\n")
    outcome = command(*arguments, f"mine{suffix}", "--force")
    refused(outcome, f"mine{suffix} is not {what}, and is not replaced", f"only {what}")
    assert (tmp_path / f"mine{suffix}").read_text() == "seed = 1\n"


def test_a_report_of_several_folders(command, tmp_path):
    for name, seed in (("a/one", 1), ("b/one", 2), ("b/two", 3)):
        assert command("run", TINY, "--seed", seed, "--out", name).status == 0
    refused(command("report", "a", "b"), "a page about 2 folders has no place", "--out FILE.html")
    # What is in two of the folders is there once.
    outcome = command("report", "a", "b", "b/two", "--out", "all.html", "--json")
    assert outcome.json["runs"] == 3
    outcome = command("report", "b/two", "a", "b", "--out", "all.html", "--json", "--force")
    assert outcome.json["runs"] == 3
    page = (tmp_path / "all.html").read_text()
    assert re.findall(r"<h2>(.*?)</h2>", page)[-3:] == ["b/two", "a/one", "b/one"]
    refused(command("report", "a", "c", "--out", "x.html"), "there is no folder c", "results in it")
    (tmp_path / "none").mkdir()
    refused(command("report", "a", "none", "--out", "x.html"), "no results in none", "--out")
    assert not (tmp_path / "x.html").exists()


def test_without_force_no_file_is_replaced(tmp_path):
    spillway.run(TINY, out=tmp_path / "results")
    for text in ("seed = 1\n", "<title>Spillway: results</title>"):
        (tmp_path / "page.html").write_text(text)
        with pytest.raises(ScenarioError, match=r"page\.html is there already"):
            report.write(tmp_path / "results", tmp_path / "page.html")
        assert (tmp_path / "page.html").read_text() == text


def test_a_report_does_not_replace_a_scenario(command, tmp_path):
    assert command("run", TINY, "--out", "results").status == 0
    (tmp_path / "scenario.toml").write_text("seed = 1\n")
    for name in ("scenario.toml", "results/scenario.toml", "results/SHA256SUMS"):
        before = (tmp_path / name).read_bytes()
        refused(command("report", "results", "--out", name, "--force"), "is not replaced", "")
        assert (tmp_path / name).read_bytes() == before


def test_a_model_does_not_replace_a_scenario(command, tmp_path):
    from spillway.learning.oracle import Model

    (tmp_path / "scenario.toml").write_text("seed = 1\n")
    outcome = command("oracle", "default", "--out", "scenario.toml", "--force")
    refused(outcome, "scenario.toml is not a model", "only a model")
    Model.load("default").save("model")
    assert Model.is_one(tmp_path / "model") and not Model.is_one(tmp_path / "scenario.toml")


def test_no_file_replaces_a_table_of_a_result(command, tmp_path):
    assert command("run", TINY, "--out", "results").status == 0
    before = (tmp_path / "results" / "flows.parquet").read_bytes()
    outcome = command("flows", TINY, "--out", "results/flows.parquet", "--force")
    refused(outcome, "results/flows.parquet is part of a result", "choose another place")
    assert (tmp_path / "results" / "flows.parquet").read_bytes() == before
