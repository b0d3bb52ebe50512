"""What pages state above and in their tables is so of the figures: sizes, claims, choices."""

import math
import re
from pathlib import Path

import pytest

from spillway_studies import catalogue
from spillway_studies.claims.tables import interval, told
from spillway_studies.claims.tally import seeds_in_words
from spillway_studies.claims.verdict import Beside

DOCS = Path(__file__).parents[4] / "docs"
SIDE_BY_SIDE = [DOCS / "comparison.md", DOCS / "aqms.md"]
# <!-- claims: cbm/figure1, CBM -->, <!-- choices: … -->, <!-- grid: … --> or <!-- table: burst -->
TABLE = re.compile(
    r"<!-- (claims|choices|grid|table): ([\w/-]+)(?:, (.+?))? -->(.*?)<!-- end -->", re.S
)
SIZE = re.compile(r"^Scale `(\w+)`: (.*)$", re.M)


def tables(*kinds):
    """Of every table that comes from a figure: the figure's name, a part of it, and the text."""
    found = []
    for page in [*sorted((DOCS / "papers").glob("*.md")), *SIDE_BY_SIDE]:
        for kind, name, part, text in TABLE.findall(page.read_text()):
            # The size of a figure stands above the first of its grids.
            if kind in kinds and (SIZE.search(text) or kind == "grid"):
                figure = f"{page.stem}/{name}" if kind == "table" else name
                found.append(pytest.param(figure, part, text, id=f"{page.name} {figure} {part}"))
    assert found
    return found


def rows(text):
    """The cells of a table in Markdown."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(("name", "part", "text"), tables("claims", "choices", "table"))
def test_a_table_s_size_is_its_figure_s(name, part, text):
    (figure,) = catalogue.find(name)
    ((scale, line),) = SIZE.findall(text)
    size = figure.scale(scale)
    assert f"seeds {seeds_in_words(size.seeds)};" in f"{line};"
    sets = [each for each in size.assignments if not each.startswith("record.")]
    found = re.findall(r"`([\w.]+=\w+)`", line)
    assert [each for each in found if not each.startswith("record.")] == sets


def about(claim, figure):
    """The end of what a table says that a claim is about: of some, at which point is measured."""
    points = [point for point in figure.points if point.lies_at(claim.over.where)]
    labels = [point.label for point in points]
    if claim.over.take == "growth":
        return f"({labels[-1]}, less that with {labels[0]})"
    if claim.over.take == "relative growth":
        return f"({labels[-1]}, over that with {labels[0]})"
    if len(points) == 1:
        return f"({labels[0]})"
    at = {"mean": "(mean", "largest": ", largest", "each": ", worst"}[claim.over.take]
    return f"{at} of {len(points)} points)"


def bears_out(claim):
    """What bears the claim out; nothing does where the paper's traffic is not to be had."""
    if isinstance(claim.rule, Beside):
        return "-"
    low, high = (None if math.isinf(end) else end for end in claim.rule.ends)
    low = 0.0 if low == math.ulp(0.0) else low
    high = 0.0 if high == -math.ulp(0.0) else high
    return interval((low, high), claim.formula.is_change)


def asks(claim):
    """The paper's number, and what bears the claim out."""
    if claim.rule.paper is None:
        return bears_out(claim)
    paper = told(claim.rule.paper, claim.formula.is_change)
    return paper if isinstance(claim.rule, Beside) else f"{paper}; {bears_out(claim)}"


def is_in(claim, kind, part):
    """Whether a table has this claim: it has all, those of a setting or variant, or of none."""
    if kind == "choices":
        return not part or claim.says.endswith(f"({part})")
    if kind == "grid":
        return claim.says.startswith(f"{part}, ")
    return part in ("", claim.variant or "no variant")


@pytest.mark.parametrize(("name", "part", "text"), tables("claims"))
def test_a_table_s_claims_are_its_figure_s(name, part, text):
    (figure,) = catalogue.find(name)
    claims = [claim for claim in figure.claims if is_in(claim, "claims", part)]
    _, _, *found = rows(text)
    for claim, (says, paper, *_) in zip(claims, found, strict=True):
        variant = "" if claim.variant in ("", part) else f"{claim.variant}: "
        formula = claim.formula
        assert says.startswith(f"{variant}{claim.says}: {formula.metric.name}, {formula.text} (")
        assert says.endswith(about(claim, figure))
        assert paper == asks(claim)


@pytest.mark.parametrize(("name", "part", "text"), tables("choices"))
def test_a_table_s_choices_are_its_figure_s(name, part, text):
    """A column for each formula, below it what bears it out, and a row for each choice."""
    (figure,) = catalogue.find(name)
    heads, _, (_, *ends), *found = rows(text)
    columns, choices = {}, {}
    for claim in figure.claims:
        if part and not claim.says.endswith(f"({part})"):
            continue
        column = f"{claim.formula.metric.name}, {claim.formula.text}"
        columns.setdefault(column, {})[bears_out(claim)] = None
        # Of growth the last point's words are told, which end with the choice.
        *_, point = (point for point in figure.points if point.lies_at(claim.over.where))
        has_scheme = claim.variant.endswith(f", {point.label}")
        choices[point.label if has_scheme else claim.variant or point.label] = None
        assert has_scheme or point.label.endswith(claim.variant)
    assert heads == ["", *columns]
    assert ends == [f"*{'; '.join(ranges)}*" for ranges in columns.values()]
    assert [name for name, *_ in found] == list(choices)


@pytest.mark.parametrize(("name", "part", "text"), tables("grid"))
def test_a_grid_has_all_places_of_its_claims(name, part, text):
    (figure,) = catalogue.find(name)
    places = {
        (across, down)
        for claim in figure.claims
        if is_in(claim, "grid", part)
        for across, down in [re.findall(r" = ([\d.]+)", claim.says)]
    }
    (_, *columns), _, *lines = rows(text)
    assert {(column, line[0]) for column in columns for line in lines} == places
    assert len(places) == len(columns) * len(lines)
    assert all(len(line) == 1 + len(columns) for line in lines)


_BY_PORTS = {"CBM, B of a port"}
"""The other reading of "the available buffer per port": the page says what comes of it."""
LEFT_OUT = {
    "cbm/figure1": _BY_PORTS,
    "cbm/figure1-p95": _BY_PORTS,
    "cbm/figure1-p999": _BY_PORTS,
    "cbm/figure1-uncontrolled": _BY_PORTS,
    # The page says in words what is claimed and what was found.
    "smartbuf/beta": {"demands", "the text"},
    "smartbuf/buffers": {"Smartbuf", "Smartbuf, demands"},
    "smartbuf/figure1": {""},
    "smartbuf/figure2": {"", "Smartbuf", "Smartbuf, demands"},
    "smartbuf/figure7": {"Smartbuf", "Smartbuf, demands"},
}
"""Variants whose claims no table of a page has, though a page shows the figure."""


def blocks():
    """Of every table of claims on the papers' pages: its kind, its figure, and the part of it."""
    pages = [file.read_text() for file in sorted((DOCS / "papers").glob("*.md"))]
    return [found[:3] for page in pages for found in TABLE.findall(page) if found[0] != "table"]


def shown():
    """The figures of which a paper's page has a table of claims or the plot."""
    pages = "".join(file.read_text() for file in sorted((DOCS / "papers").glob("*.md")))
    tabled = {name for _, name, _ in blocks()}
    return [
        figure
        for figure in catalogue.every()
        if figure.name in tabled or f"/{figure.name.replace('/', '-')}.png" in pages
    ]


def test_pages_show_claims_of_all_papers():
    assert len(shown()) > 40 and set(LEFT_OUT) <= {figure.name for figure in shown()}


@pytest.mark.parametrize("figure", shown(), ids=lambda figure: figure.name)
def test_every_claim_of_a_figure_that_a_page_shows_is_in_a_table(figure):
    own = [(kind, part) for kind, name, part in blocks() if name == figure.name]
    missing = {
        claim.variant
        for claim in figure.claims
        if not any(is_in(claim, kind, part) for kind, part in own)
    }
    assert missing == LEFT_OUT.get(figure.name, set())
