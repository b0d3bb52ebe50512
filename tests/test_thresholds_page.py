"""The tables of docs/thresholds.md are what the search finds."""

import re
from pathlib import Path

import pytest

from spillway import thresholds

PAGE = (Path(__file__).parent.parent / "docs/thresholds.md").read_text(encoding="utf-8")
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
