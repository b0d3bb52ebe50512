"""The tables of docs/thresholds.md are what the search finds."""

import importlib.util
import re
from pathlib import Path

import pytest

from spillway import thresholds

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/thresholds.md").read_text(encoding="utf-8")
LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)


def rows(workload, load):
    """The page's rows for this setting, without its two first cells, in order."""
    begin = f"| {workload} | {load} | "
    lines = [line for line in PAGE.splitlines() if line.startswith(begin)]
    return [line.removeprefix(begin).removesuffix(" |").split(" | ") for line in lines]


def percent(gap):
    return f"{round(gap, 3) + 0.0:+.1%}"


@pytest.mark.parametrize("workload", ["websearch", "datamining"])
@pytest.mark.parametrize("load", LOADS)
def test_the_tables_are_what_the_search_finds(workload, load):
    found = thresholds.find(f"{workload}-pfabric", load=load)
    (published,) = found.published
    sets, published_gaps, best_gaps = rows(workload, load)
    listed = (
        ", ".join(f"{threshold / 1460:,.0f}" for threshold in each.thresholds)
        for each in (found.best, published)
    )
    assert sets == [f"{found.best.values['product']:.3f}", *listed]
    for gaps, ladder in ((published_gaps, published), (best_gaps, found.best)):
        assert gaps == [percent(found.above(ladder, name)) for name in thresholds.OBJECTIVES]


def test_the_page_has_every_objective_and_no_other():
    listed = re.findall(r"^\| `([a-z-]+)` \| (?:G_|T_|\(G_|the mean)", PAGE, re.MULTILINE)
    assert listed == list(thresholds.OBJECTIVES)


def test_the_example_runs_every_ladder_of_the_page():
    spec = importlib.util.spec_from_file_location("example", ROOT / "examples/thresholds.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    ladders = dict(example.ladders("websearch", 0.8))
    named = re.findall(r"^\| (one queue|published|best by `.+?`) \| \d", PAGE, re.MULTILINE)
    expected = [name.replace("`", "").replace("published", "websearch-0.8") for name in named]
    assert list(ladders) == expected
    measured = {
        name: example.measure("websearch", 0.8, "10ms", ends, [1]) for name, ends in ladders.items()
    }
    # Levels let short flows pass: slowdowns fall, whatever the thresholds.
    one = measured.pop("one queue")
    assert all(slowdown < one[1] for _, slowdown in measured.values())
    assert all(0.5 < time / one[0] < 1.5 for time, _ in measured.values())
