"""Tables of the study of all five systems."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from spillway.experiment.statistics import half_interval
from spillway_studies.claims import Drawing
from spillway_studies.claims.side_by_side import markdown, number
from spillway_studies.five import kept
from spillway_studies.five.effects import interaction, shares
from spillway_studies.five.factors import BESIDE
from spillway_studies.five.kept import CONTEXT, METRICS, SCHEME, Cube, Floats
from spillway_studies.five.plot import plot
from spillway_studies.five.run import LEVELS

BASE = ("lqd", "ecn", "pias", "rack")
"""What all others are held against."""
_SPACE = "\N{NO-BREAK SPACE}"
TIMEOUTS = "timeouts"
"""What is compared by differences, and all else by ratios: it may be 0."""


def told(values: Iterable[float], shown: Callable[[float], str] = number) -> str:
    """The mean over seeds, and half of its 95% interval by Student's t."""
    found = [float(each) for each in values]
    half = half_interval(found)
    mean = shown(float(np.mean(found)))
    # In one line.
    return mean if half is None else f"{mean}{_SPACE}±{_SPACE}{shown(half).lstrip('+')}"


def _table(found: Cube, shown: Callable[[Floats], str] = told) -> str:
    """Rows for the first factor, columns for all combinations of the others."""
    rows, *others = found.factors.values()
    places = list(np.ndindex(*found.values.shape[1:-1]))
    heads = list(itertools.product(*others))
    return markdown(
        ["", *(", ".join(head) for head in heads)],
        (
            [f"`{row}`", *(shown(found.values[place, *column]) for column in places)]
            for place, row in enumerate(rows)
        ),
    )


def cells(series: str, options: Mapping[str, str]) -> str:
    """A metric: sharing policies below each other, and other factors beside each other."""
    return _table(_cells(series, options))


def _cells(series: str, options: Mapping[str, str]) -> Cube:
    found = kept.metric(series, options["metric"]).where(_where(options))
    return found.over(["sharing", *options["columns"].split(" x ")])


def beside(series: str, options: Mapping[str, str]) -> str:
    """As cells, but policies beside others with the same flows."""
    found, pairs = _cells(series, options), BESIDE[series]
    policies = list(found.factors["sharing"])
    both = [[policies.index(name) for name in pair] for pair in pairs]
    one, other = (found.values[list(places)] for places in zip(*both, strict=True))
    factors = {**found.factors, "sharing": [" / ".join(pair) for pair in pairs]}
    if options["metric"] == TIMEOUTS:
        return _table(Cube(factors, one - other), lambda each: told(each, "{:+.2f}".format))
    return _table(Cube(factors, one / other), lambda each: told(each, "{:.2f}".format))


def _where(options: Mapping[str, str]) -> dict[str, str]:
    factors = (*SCHEME, *CONTEXT, "burst", "protection")
    return {name: level for name, level in options.items() if name in factors}


def by_level(series: str, options: Mapping[str, str]) -> str:
    """Packets lost at a tier, or bytes in its queues, by level of priority."""
    tier, of = options["tier"], options["of"]
    where = {name: level for name, level in _where(options).items() if name != "sharing"}
    found = [
        kept.cube(series, f"{tier}.{level}.{of}").where(where).over(["sharing"]) for level in LEVELS
    ]
    levels = tuple("acks" if level == 0 else f"level {level}" for level in LEVELS)
    values = np.stack([each.values for each in found], axis=1)
    policies = options["sharing"].split("; ")
    values = values[[list(found[0].factors["sharing"]).index(each) for each in policies]]
    factors = {"sharing": policies, "level": levels}
    return _table(Cube(factors, values), lambda seeds: number(float(seeds.mean())))


def of_shares(series: str, options: Mapping[str, str]) -> str:
    """The share of each factor and pair in the variance of metrics."""
    metrics, least = options["metrics"].split(", "), float(options["least"])
    every = {name: shares(kept.metric(series, name), name != TIMEOUTS) for name in metrics}
    terms = [
        term
        for term in next(iter(every.values()))
        if any(np.mean(found[term]) >= least for found in every.values())
    ]

    def percent(value: float) -> str:
        return f"{100 * value:.1f}"

    return markdown(
        ["share, %", *(METRICS[name].title for name in metrics)],
        (
            [" x ".join(term), *(told(found[term], percent) for found in every.values())]
            for term in terms
        ),
    )


def of_effects(series: str, options: Mapping[str, str]) -> str:
    """Each level's mean over all else: as a ratio to the mean of all, or less that."""
    metrics = options["metrics"].split(", ")
    rows: dict[tuple[str, str], list[str]] = {}
    for name in metrics:
        whole = kept.metric(series, name)
        for factor in whole.factors:
            own = whole.over([factor])
            middle = own.values.mean(axis=0)
            for level, values in zip(own.factors[factor], own.values, strict=True):
                row = rows.setdefault((factor, level), [])
                if name == TIMEOUTS:
                    row.append(told(values - middle, "{:+.1f}".format))
                else:
                    row.append(told(values / middle, "{:.2f}".format))
    return markdown(
        ["", *(METRICS[name].title for name in metrics)],
        ([f"{factor} {level}", *row] for (factor, level), row in rows.items()),
    )


def of_pairs(series: str, options: Mapping[str, str]) -> str:
    """What pairs of levels bring beyond what each of them brings."""
    name = options["metric"]
    one, other = options["of"].split(" x ")
    found = kept.metric(series, name).where(_where(options)).over([one, other])
    return _table(interaction(found, name != TIMEOUTS))


def against(all_series: str, options: Mapping[str, str]) -> str:
    """Schemes against the base with the same flows, the least mean slowdown first."""
    metrics = options["metrics"].split(", ")
    found: dict[tuple[str, ...], list[Floats]] = {}
    worst: dict[tuple[str, ...], float] = {}
    for series in all_series.split(" and "):
        for name in metrics:
            base = kept.metric("factorial", name).where(dict(zip(SCHEME, BASE, strict=True)))
            beside = base.over(CONTEXT).values
            own = kept.metric(series, name).over([*SCHEME, *CONTEXT])
            off = own.values - beside if name == TIMEOUTS else np.log(own.values / beside)
            schemes = itertools.product(*(own.factors[factor] for factor in SCHEME))
            for scheme, place in zip(schemes, np.ndindex(*off.shape[: len(SCHEME)]), strict=True):
                found.setdefault(scheme, []).append(off[place].mean(axis=(0, 1, 2)))
                if name == metrics[0]:
                    worst[scheme] = float(np.exp(off[place].mean(axis=-1).max()))
    ranked = sorted(found, key=lambda scheme: float(found[scheme][0].mean()))
    most = int(options["rows"])

    def shown(name: str, off: Floats) -> str:
        if name == TIMEOUTS:
            return told(off, "{:.1f}".format)
        return told(np.exp(off), "{:.2f}".format)

    return markdown(
        ["", *(METRICS[name].title for name in metrics), f"{METRICS[metrics[0]].title} at worst"],
        (
            [
                f"{ranked.index(scheme) + 1}. {', '.join(scheme)}".replace(" ", _SPACE),
                *(shown(name, off) for name, off in zip(metrics, found[scheme], strict=True)),
                f"{worst[scheme]:.2f}",
            ]
            for scheme in ranked
            if ranked.index(scheme) < most or scheme == BASE
        ),
    )


def of_series(_: str, options: Mapping[str, str]) -> str:
    """What was run."""
    rows = []
    for series in options["series"].split(", "):
        found = kept.runs(series)
        seeds = sorted({*found["seed"].to_pylist()})
        hours = sum(found["cpu_s"].to_pylist()) / 3600
        combinations = f"{len(found) // len(seeds):,}"
        rows.append([f"`{series}`", combinations, f"{seeds[0]} to {seeds[-1]}", f"{hours:.1f}"])
    return markdown(["series", "combinations", "seeds", "CPU hours"], rows)


TABLES: Mapping[str, Callable[[str, Mapping[str, str]], str]] = {
    "cells": cells,
    "beside": beside,
    "by level": by_level,
    "shares": of_shares,
    "effects": of_effects,
    "pairs": of_pairs,
    "against": against,
    "series": of_series,
}


def block(series: str, options: Mapping[str, str]) -> str | tuple[str, Drawing]:
    """What the page has of a series: a table, or the picture."""
    if options["table"] == "plot":
        return "All five in one network", plot()
    return TABLES[options["table"]](series, options)
