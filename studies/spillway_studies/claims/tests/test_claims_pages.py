"""The tables of claims on papers' pages, out of what figures have left."""

import importlib.util
import json
from pathlib import Path

import pytest

import figures
from spillway_studies import catalogue
from spillway_studies.claims import harness, write
from spillway_studies.claims.cache import Cache

FILE = Path(__file__).parents[4] / "docs" / "claims.py"


@pytest.fixture(scope="module")
def claims():
    """The program that writes the pages, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("claims_of_pages", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with a small figure in it."""
    folder = tmp_path_factory.mktemp("results")
    planned = harness.plan([figures.BURSTS], "quick")
    (found,) = harness.compute(planned, Cache(folder / "points"), jobs=1)
    write.write(found, write.document(found, write.findings(found), "quick"), folder, False)
    return folder


def test_a_block_is_the_figure_s_claims_and_its_size(claims, results):
    name = figures.BURSTS.name
    page = f"Before.\n\n<!-- claims: {name} -->\nstale words\n<!-- end -->\n\nAfter.\n"
    written = claims.page(page, results)
    assert written.startswith("Before.") and written.endswith("After.\n") and "stale" not in written
    summary = json.loads((results / name / "summary.json").read_text())
    assert summary["cpu_s"] >= 0
    assert "Scale `quick`: `stop=20ms`, seeds 1, 2; " in written
    assert summary["build"][:8] in written and summary["caution"].capitalize() in written
    rows = [line for line in written.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(summary["claims"])
    for row, claim in zip(rows[2:], summary["claims"], strict=True):
        assert claim["claim"] in row and row.split(" | ")[-1].startswith(claim["verdict"])
    # Once more changes nothing.
    assert claims.page(written, results) == written


def test_a_claim_s_timeouts_stand_beside_it_and_hindsight_is_marked(claims, results, tmp_path):
    file = results / figures.BURSTS.name / "summary.json"
    summary = json.loads(file.read_text())
    (first, *_) = summary["claims"]
    first |= {"exploratory": "why", "behind": {"DT": {"flows": 20, "with_timeout": 7}}}
    copy = tmp_path / figures.BURSTS.name
    copy.mkdir(parents=True)
    (copy / "summary.json").write_text(json.dumps(summary))
    written = claims.page(f"<!-- claims: {figures.BURSTS.name} --><!-- end -->", tmp_path)
    assert "exploratory: something of it was chosen after its numbers were seen" in written
    row = next(line for line in written.splitlines() if first["claim"] in line)
    place = [cell.strip() for cell in row.split("|")].index("DT 7/20")
    head = next(line for line in written.splitlines() if line.startswith("| claim |"))
    assert head.split("|")[place].strip() == "flows with a timeout"
    assert row.endswith(f"{first['verdict']}\\* |")


def test_choices_are_rows_and_other_verdicts_bold(claims, tmp_path):
    def claim(choice, setting, ours, verdict, formula="1 - a / b", by_seed=(), most=None):
        return {
            "claim": f"a is faster than b ({setting})",
            "variant": choice,
            "over": f"{choice}, {setting}",
            "metric": "p95",
            "formula": formula,
            "is_change": True,
            "range": [0.5, most],
            "ours": ours,
            "by_seed": dict(enumerate(by_seed)),
            "verdict": verdict,
            "exploratory": "",
        }

    rows = [
        claim("as it is", "load 40%, burst 50%", 0.6, "holds"),
        claim("as it is", "load 40%, burst 50%", 0.7, "holds", "1 - a / c"),
        claim("as it is", "load 40%, burst 100%", 0.9, "holds"),
        claim("K = 10", "load 40%, burst 50%", 0.1, "does not hold", by_seed=(0.3, 0.05)),
        claim("K = 10", "load 40%, burst 50%", None, "holds", "1 - a / c", most=0.9),
    ]
    summary = {"claims": rows, "seeds": [1], "scale": "quick", "scale_sets": [], "caution": ""}
    summary |= {"cpu_s": 3.0, "version": "0.1.0", "build": "0123456789"}
    (tmp_path / "a" / "choices").mkdir(parents=True)
    (tmp_path / "a" / "choices" / "summary.json").write_text(json.dumps(summary))
    block = "<!-- choices: a/choices, load 40%, burst 50% -->\nstale\n<!-- end -->"
    table = [line for line in claims.page(block, tmp_path).splitlines() if line.startswith("|")]
    assert table == [
        "|  | p95, 1 - a / b | p95, 1 - a / c |",
        "| --- | --- | --- |",
        "| *what bears the claim out* | *50.0% or more* | *50.0% or more; 50.0% to 90.0%* |",
        "| as it is | 60.0% | 70.0% |",
        "| K = 10 | **10.0% (5.0% to 30.0%)** | - |",
    ]


def test_two_coordinates_are_a_grid(claims, tmp_path):
    def claim(words, a, p, ours, verdict="holds"):
        says = f"{words}, a = {a}, p = {p}"
        return {"claim": says, "variant": "", "is_change": True, "ours": ours, "verdict": verdict}

    rows = [
        claim("short", 0, 0.1, 0.01),
        claim("short", 0, 0.3, 0.02, "undecided"),
        claim("short", 0.5, 0.1, 0.03),
        claim("short", 0.5, 0.3, -0.04, "does not hold"),
        claim("short flows", 0, 0.1, 0.9),
    ]
    rows = [{**row, "exploratory": ""} for row in rows]
    summary = {"claims": rows, "seeds": [1], "scale": "full", "scale_sets": [], "caution": ""}
    summary |= {"cpu_s": 3.0, "version": "0.1.0", "build": "0123456789"}
    (tmp_path / "a" / "grid").mkdir(parents=True)
    (tmp_path / "a" / "grid" / "summary.json").write_text(json.dumps(summary))
    block = "<!-- grid: a/grid, short -->\nstale\n<!-- end -->"
    first, again = claims.page(f"{block}{block}", tmp_path).split("<!-- end -->")[:2]
    size = "Scale `full`: seeds 1; 3 s of CPU time (version 0.1.0, core 01234567). "
    assert size + "Bold: not what is claimed, by its interval." in first and "Scale" not in again
    for written in (first, again):
        assert [line for line in written.splitlines() if line.startswith("|")] == [
            r"| p \ a | 0 | 0.5 |",
            "| --- | --- | --- |",
            "| 0.1 | 1.0% | 3.0% |",
            "| 0.3 | **2.0%** | **-4.0%** |",
        ]


def test_plots_that_a_page_shows_are_copied(claims, results, tmp_path):
    paper, _, figure = figures.BURSTS.name.partition("/")
    own = f"{paper}-{figure}.png"
    claims.copy_plots(f"![a plot](../images/{own}) ![none](../images/a-b.png)", results, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [own]
    assert (tmp_path / own).read_bytes()[1:4] == b"PNG"


def test_what_is_not_there_is_left_and_no_variant_is_invented(claims, results):
    page = "<!-- claims: credence/figure99 -->\nstale words\n<!-- end -->"
    assert claims.page(page, results) == page
    page = f"<!-- claims: {figures.BURSTS.name}, upside down -->\n<!-- end -->"
    with pytest.raises(SystemExit, match="no claims of 'upside down'"):
        claims.page(page, results)


def test_claims_of_no_variant_have_a_table_of_their_own(claims, results, tmp_path):
    file = results / figures.BURSTS.name / "summary.json"
    summary = json.loads(file.read_text())
    made_up = [
        summary["claims"][0] | {"claim": f"claim {number}", "variant": variant}
        for number, variant in enumerate(("", "upside down", "upside down"))
    ]
    copy = tmp_path / figures.BURSTS.name
    copy.mkdir(parents=True)
    (copy / "summary.json").write_text(json.dumps(summary | {"claims": made_up}))
    for part, numbers in (("", "012"), (", no variant", "0"), (", upside down", "12")):
        block = f"<!-- claims: {figures.BURSTS.name}{part} --><!-- end -->"
        rows = [line for line in claims.page(block, tmp_path).splitlines() if "claim " in line]
        assert [number for number in "012" if f"claim {number}:" in "".join(rows)] == list(numbers)


def test_cpu_time_is_told_as_people_do(claims):
    assert claims._cpu(42.0) == "42 s of CPU time"
    assert claims._cpu(1_000.0) == "17 minutes of CPU time"
    assert claims._cpu(10_000.0) == "2.8 hours of CPU time"


def test_what_has_the_scale_of_pages_is_named_on_one(claims):
    pages = [file.read_text(encoding="utf-8") for file in sorted(claims.DOCS.rglob("*.md"))]
    missing = [
        figure.name
        for figure in catalogue.every()
        if "page" in figure.scales
        and not any(
            figure.name in page
            or f"images/{figure.name.replace('/', '-')}.png" in page
            or f"<!-- table: {figure.name.removeprefix('comparison/')} -->" in page
            for page in pages
        )
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("variant", "over", "choice"),
    [
        # Which scheme it is about its column says: all schemes share a row.
        ("CBM, alpha 1", "alpha 1", "alpha 1"),
        ("CBM, B of a port, alpha 1", "alpha 1", "alpha 1"),
        ("alpha 1", "load 40%, alpha 1", "alpha 1"),
        ("", "load 40%", "load 40%"),
    ],
)
def test_a_row_of_choices_is_named_by_what_is_chosen(claims, variant, over, choice):
    assert claims._choice({"variant": variant, "over": over}) == choice
