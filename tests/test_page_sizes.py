"""The sizes that the papers' pages state above their tables are those of the figures."""

import re
from pathlib import Path

import pytest

from spillway.reproduce import catalogue

DOCS = Path(__file__).parents[1] / "docs"
# <!-- claims: cbm/figure1, CBM --> or <!-- table: burst -->, and the line below.
TABLE = re.compile(r"<!-- (claims|choices|table): ([\w/-]+).*?-->\s+Scale `(\w+)`: (.*)")


def stated():
    """Page, figure, scale and line of every table whose size is stated."""
    found = []
    for page in [*sorted((DOCS / "papers").glob("*.md")), DOCS / "comparison.md"]:
        for kind, name, scale, line in TABLE.findall(page.read_text()):
            figure = f"comparison/{name}" if kind == "table" else name
            found.append((page.name, figure, scale, line))
    return found


@pytest.mark.parametrize(
    ("name", "scale", "line"),
    [pytest.param(*each, id=f"{page} {each[0]}") for page, *each in stated()],
)
def test_a_table_s_size_is_its_figure_s(name, scale, line):
    (figure,) = catalogue.find(name)
    size = figure.scale(scale)
    seeds = re.search(r"seeds ((?:\d+, )*\d+)", line)
    assert seeds, line
    assert tuple(int(seed) for seed in seeds[1].split(", ")) == size.seeds
    times = [each for each in size.assignments if not each.startswith("record.")]
    assert re.findall(r"`(\w+=\w+)`", line) == times


def test_sizes_are_found_on_every_page():
    pages = {page for page, *_ in stated()}
    assert pages == {"cbm.md", "credence.md", "smartbuf.md", "comparison.md"}
