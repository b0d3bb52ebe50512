"""What a figure's panels and claims name in words is what they are about."""

import re

import pytest

from spillway_studies import catalogue
from spillway_studies.claims import Number, Tail

FIGURES = catalogue.every()
CLASSES = {
    "incast": "incast",
    "incasts": "incast",
    "theta-powertcp": "incast",
    "short": "short",
    "long": "long",
    "cubic": "cubic",
    "dctcp": "dctcp",
}
"""Words for classes of flows, and the class as metrics have it."""


def classes(text):
    words = re.findall(r"[\w-]+", text.lower())
    return {CLASSES[word] for word in words if word in CLASSES}


def percentiles(text):
    return re.findall(r"\bp\d[\d.]*", text)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_panel_shows_the_flows_and_the_percentile_that_it_names(figure):
    for panel in getattr(figure.plot, "panels", ()):
        metric = getattr(panel, "metric", None)
        if metric is not None and (named := percentiles(panel.title)):
            assert percentiles(metric.name) == named, panel.title
            assert classes(metric.name) == classes(panel.title), panel.title


def test_a_percentile_of_a_summary_has_the_name_of_its_number():
    numbers = {
        metric for figure in FIGURES for metric in figure.metrics if isinstance(metric, Number)
    }
    named = [metric for metric in numbers if percentiles(metric.name) and "." in metric.path]
    assert len(named) > 4
    for metric in named:
        *within, last = metric.path.split(".")
        assert percentiles(metric.name) == [last.replace("_", ".")]
        assert classes(metric.name) == classes(" ".join(within))


HIGHEST, LOWEST = object(), object()


def share(percent):
    return float(percent) / 100


# How claims name points: the axis, and its value, or what makes it of what was found.
POINTS = (
    (r"at the highest load", "load", HIGHEST),
    (r"at low load", "load", LOWEST),
    (r"at the highest RTT", "rtt_us", HIGHEST),
    (r"at an RTT of (\d+) us", "rtt_us", float),
    (r"Cubic at (\d+)%", "load", share),
    (r"at (\d+)% load", "load", share),
    (r"load (\d+)%", "load", share),
    (r"burst (\d+)%", "burst_percent", float),
    (r"small bursts", "burst_percent", LOWEST),
    (r"largest bursts", "burst_percent", HIGHEST),
    (
        r"with ([\d.]+)% of the (?:answers|labels) wrong",
        "flip_probability",
        share,
    ),
    (r"all labels wrong", "flip_probability", HIGHEST),
    (r"with (\d+) MB", "buffer_mb", float),
    (r"with (four) trees", "trees", {"four": 4}.get),
    (r"up to (\d+)\)", "trees", float),
)


def named_points(claim, figure):
    """The coordinates that a claim's words name."""
    found = {}
    for words, axis, value in POINTS:
        values = [point.values[axis] for point in figure.points if axis in point.values]
        match = re.search(words, claim.says, re.IGNORECASE)
        if match and values:
            if value is HIGHEST or value is LOWEST:
                found[axis] = (max if value is HIGHEST else min)(values)
            else:
                found[axis] = value(*match.groups())
    return found


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_claim_is_about_the_points_that_it_names(figure):
    for claim in figure.claims:
        for axis, value in named_points(claim, figure).items():
            assert claim.over.where[axis] == pytest.approx(value), claim.says
        if "at every load" in claim.says.lower():
            assert (claim.over.where, claim.over.take) == ({}, "each"), claim.says
        if "at best" in claim.says.lower():
            assert (claim.over.where, claim.over.take) == ({}, "largest"), claim.says


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_claim_is_about_the_flows_and_schemes_that_it_names(figure):
    names = {scheme.name for scheme in figure.schemes}
    for claim in figure.claims:
        formula = claim.formula
        assert set(formula.schemes) <= names
        begins = re.match(r"(?:At best, )?(incast|short|long) flows ", claim.says, re.IGNORECASE)
        if begins and isinstance(formula.metric, Tail):
            assert classes(formula.metric.name) == {begins[1].lower()}, claim.says
        for name in re.findall(r" under (\w+)$", claim.says):
            assert name in formula.schemes or name == "Smartbuf", claim.says
        number = re.search(r"fewer than (\d+) entries", claim.says)
        if number:
            assert claim.rule.ends[1] == int(number[1]) - 1, claim.says
