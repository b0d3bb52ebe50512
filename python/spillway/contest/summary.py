"""What an arena found, as a document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from spillway.base import core
from spillway.contest import hardware, slotted
from spillway.contest.design import Pair
from spillway.contest.explained import explained
from spillway.contest.plan import Plan
from spillway.contest.ranks import (
    Estimate,
    below,
    means,
    number,
    ranks,
    ratios,
    regrets,
    wins,
    worst,
)
from spillway.contest.results import BEYOND, Values, of_units, values
from spillway.result.metrics import Metric

SEED = 1
"""The seed of all bootstraps."""
BASE = "lqd"
"""The policy with which all others are compared."""

Document = dict[str, Any]


def document(
    plan: Plan, runs: pa.Table, metrics: Sequence[Metric], seeds: Sequence[int], trials: int
) -> Document:
    """All that is told; `metrics[0]` is the one that the answer goes by."""
    ranked, names = plan.ranked.name, [level.name for level in plan.ranked.levels]
    contexts: list[int] = of_units(runs, "context")
    scenarios: list[str] = of_units(runs, "scenario")
    numbers = {
        each.key: values(runs, f"rank.{each.key}", ranked, names)
        for each in metrics
        if f"rank.{each.key}" in runs.column_names
    }
    main = metrics[0].key
    found: Document = {
        "status": "complete",
        "version": core.__version__,
        "scenarios": [each.name for each in plan.grounds],
        "seeds": list(seeds),
        "ranked": ranked,
        "metric": main,
        "tuned_trials": trials,
        "factors": {each.name: [level.name for level in each.levels] for each in plan.factors},
        "own": [level.name for level in plan.ranked.levels if level.is_plugin],
        "runs": plan.runs * len(seeds),
        "design": designed(plan),
        "warnings": [{"text": text, "count": n} for text, n in plan.warned().most_common()],
    }
    if main not in numbers or not np.isfinite(numbers[main]).any():
        return {**found, "answer": f"No run has the number {main}.", "yours": []}
    of_main = numbers[main]
    there = [not np.isnan(row).all() for row in of_main]
    counted = [name for name, one in zip(scenarios, there, strict=True) if one]
    found["counted"] = {
        "contexts": len({at for at, one in zip(contexts, there, strict=True) if one}),
        "scenarios": len(set(counted)),
    }
    found["without"] = [name for name in found["scenarios"] if name not in counted]
    found["levels"] = _levels(plan, runs, of_main, contexts)
    found["wins"] = [[each.told for each in row] for row in wins(of_main, contexts, SEED)]
    found["metrics"] = [
        {
            "metric": name,
            "ranks": [own.told for own in means(ranks(each), contexts, SEED)],
            "worst": [number(value) for value in worst(regrets(each))[0]],
            "never_ended": np.isinf(each).sum(axis=0).tolist(),
        }
        for name, each in numbers.items()
    ]
    found["few"] = float(np.mean(runs["few"].to_numpy(zero_copy_only=False)))
    found["at_edge"] = _at_edge(runs, metrics[0].key)
    found["effects"] = explained(plan, runs, main)
    found["by_scenario"] = _by_scenario(of_main, scenarios, found["own"], names)
    found["answer"] = answer(found)
    found["yours"] = [yours(found, name) for name in found["own"]]
    return found


def designed(plan: Plan) -> Document:
    """What the design covers, and what it leaves out."""
    design = plan.design
    counts = list(design.counts.values())
    names = [[each.name for each in plan.grounds]]
    names += [[level.name for level in factor.levels] for factor in plan.others]
    heads = ["scenario", *(each.name for each in plan.others)]

    def told(pair: Pair) -> str:
        one, a, other, b = pair
        return f"{heads[one]}={names[one][a]} with {heads[other]}={names[other][b]}"

    missing = plan.missing()
    refused = Counter(
        (plan.ranked.levels[level].name, text) for (_, level), text in plan.refused.items()
    )
    return {
        "contexts": len(design.rows),
        "of": design.of,
        "combinations": len(plan.entrants),
        "distinct": plan.runs,
        "pairs": len(counts),
        "is_full": design.is_full or len(design.rows) == design.of,
        "least": min(counts, default=0),
        "most": max(counts, default=0),
        "left_out": [told(pair) for pair, count in design.counts.items() if not count],
        "impossible": [{"pair": told(pair), "why": why} for pair, why in design.impossible.items()],
        "missing": [
            {"level": f"{factor}={name}", "why": why} for (factor, name), why in missing.items()
        ],
        "refused": [
            {"level": name, "contexts": count, "why": why}
            for (name, why), count in refused.most_common()
        ],
    }


def _levels(plan: Plan, runs: pa.Table, main: Values, contexts: Sequence[int]) -> list[Document]:
    """All that is told of each level."""
    ranked, levels = plan.ranked.name, plan.ranked.levels
    names = [level.name for level in levels]
    of_ranks = means(ranks(main), contexts, SEED)
    lost = regrets(main)
    greatest, places = worst(lost)
    finite = means(lost, contexts, SEED)
    logs = _exp(means(np.log1p(np.where(np.isfinite(lost), lost, np.nan)), contexts, SEED))
    goodput = values(runs, "goodput_gbps.all", ranked, names)
    shares = means(ratios(goodput, lambda each: np.nanmax(each, axis=1)), contexts, SEED)
    timeouts = means(values(runs, "timeouts", ranked, names), contexts, SEED)
    beside = _beside(main, names, contexts)
    states = hardware.states(ranked)
    far = slotted.distances(levels) if ranked == "sharing" else {}
    kept = [states.get(level.kind) for level in levels]
    on_front = hardware.front([each.value for each in logs], [each.value for each in shares], kept)
    return [
        {
            "level": level.name,
            "is_own": level.is_plugin,
            "set": list(level.assignments),
            "contexts": len(
                {contexts[at] for at in np.flatnonzero(~np.isnan(main[:, place])).tolist()}
            ),
            "runs": int((~np.isnan(main[:, place])).sum()),
            "never_ended": int(np.isinf(main[:, place]).sum()),
            "rank": of_ranks[place].told,
            "regret": finite[place].told,
            "ratio_to_best": logs[place].told,
            "worst": number(greatest[place]),
            "worst_at": _context(plan, contexts[int(places[place])]),
            "goodput": shares[place].told,
            "timeouts": timeouts[place].told,
            "to_lqd": None if beside is None else beside[place].told,
            "state_bits": None if (state := kept[place]) is None else state.bits,
            "state_more": None if state is None else state.more,
            "on_front": on_front[place],
            "optimum": None if level.name not in far else vars(far[level.name]),
        }
        for place, level in enumerate(levels)
    ]


def _context(plan: Plan, context: int) -> str:
    """A context in words; factors with a single level are not named."""
    ground, *levels = plan.design.rows[context]
    parts = [
        f"{factor.name}={factor.levels[at].name}"
        for factor, at in zip(plan.others, levels, strict=True)
        if len(factor.levels) > 1
    ]
    return " ".join([plan.grounds[ground].name, *parts])


def _beside(main: Values, names: Sequence[str], contexts: Sequence[int]) -> list[Estimate] | None:
    """The geometric mean of each level's ratio to LQD."""
    if BASE not in names:
        return None
    found = ratios(main, lambda each: each[:, names.index(BASE)])
    return _exp(means(np.log(np.where(np.isfinite(found), found, np.nan)), contexts, SEED))


def _exp(found: Sequence[Estimate]) -> list[Estimate]:
    return [Estimate(*map(math.exp, (each.value, each.low, each.high))) for each in found]


def _at_edge(runs: pa.Table, metric: str) -> float | None:
    """The share of runs in which a flow more with a timeout, or less, may change a percentile.

    That is where about as many flows have a timeout as lie beyond the percentile.
    """
    beyond = next((each for name, each in BEYOND.items() if metric.endswith(f".{name}")), None)
    if beyond is None:
        return None
    late, ended = (
        runs[f"fct_slowdown.all.{key}"].to_numpy(zero_copy_only=False)
        for key in ("with_timeout", "count")
    )
    return float(np.mean((late >= beyond * ended / 2) & (late <= 2 * beyond * ended) & (late > 0)))


def _by_scenario(
    main: Values, scenarios: Sequence[str], own: Sequence[str], names: Sequence[str]
) -> dict[str, list[Document]]:
    """For every level that is one's own its wins, ties and losses against all others."""
    beaten = below(main)
    at = np.asarray(scenarios)
    return {
        name: [
            {
                "scenario": scenario,
                **{
                    word: int((beaten[at == scenario, names.index(name)] == value).sum())
                    for word, value in (("wins", 1.0), ("ties", 0.5), ("losses", 0.0))
                },
            }
            for scenario in dict.fromkeys(scenarios)
        ]
        for name in own
    }


# In words -----------------------------------------------------------------------------------------


def answer(found: Mapping[str, Any]) -> str:
    """Who is best by the metric over what was run, or that nothing beats LQD."""
    order = sorted(found["levels"], key=_rank)
    best, names = order[0], [each["level"] for each in found["levels"]]
    over = (
        f"over {some(found['counted']['contexts'], 'context')} in "
        f"{some(found['counted']['scenarios'], 'scenario')}, with "
        f"{some(len(found['seeds']), 'seed')}"
    )
    told = (
        f"by {found['metric']} `{best['level']}` has the best mean rank, {_range(best['rank'])} of "
        f"{len(order)}"
    )
    if all(each["value"] in (None, 0.5) for row in found["wins"] for each in row) and all(
        each["worst"] in (None, 0.0) for each in found["levels"]
    ):
        return f"All levels are equal by {found['metric']} {over}."
    if BASE not in names or found["ranked"] != "sharing":
        return f"{over[0].upper()}{over[1:]}, {told}."
    base = names.index(BASE)
    against = [
        (row[base], name)
        for name, row in zip(names, found["wins"], strict=True)
        if name != BASE and row[base]["value"] is not None
    ]
    nearest, name = max(against, key=lambda pair: pair[0]["value"])
    if found["counted"]["contexts"] < _FEWEST:
        told += "; these are too few contexts to tell what beats LQD"
    elif any(_is_sure(each, len(against)) for each, _ in against):
        told += f"; `{name}` beats LQD in {_percent(nearest)} of pairs"
    else:
        nearer = f"`{name}` comes nearest, in {_percent(nearest)} of pairs"
        also = "" if best["level"] == BASE else f"; {told}"
        return f"Nothing is shown to beat LQD {over}: {nearer}{also}."
    return f"{over[0].upper()}{over[1:]}, {told}."


_FEWEST = 6
"""The contexts below which nothing is said to beat LQD: with five, chance alone may win all."""


def _is_sure(wins: Mapping[str, float | None], levels: int) -> bool:
    """Whether a share of wins is above a half, with 95% for so many levels together."""
    from scipy import special

    value, low, high = (wins[key] for key in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return False
    error = (high - low) / (2 * special.ndtri(0.975))
    return bool(value - special.ndtri(1 - 0.025 / levels) * error > 0.5)


def yours(found: Mapping[str, Any], name: str) -> str:
    """Where one's own level stands."""
    (own,) = [each for each in found["levels"] if each["level"] == name]
    rank = own["rank"]["value"]
    if rank is None:
        return f"`{name}`, which is yours, has no number in any run."
    better = [each for each in found["levels"] if _key(each["rank"]["value"]) < rank]
    behind = f", behind `{max(better, key=_rank)['level']}`" if better else ""
    parts = ", ".join(
        f"{each['scenario']} {each['wins']}, {each['ties']} and {each['losses']}"
        for each in found["by_scenario"][name]
    )
    return (
        f"`{name}`, which is yours, is number {len(better) + 1} of {len(found['levels'])}{behind}: "
        f"its mean rank is {_range(own['rank'])}. Won, equal and lost against all others: {parts}."
    )


def _rank(level: Mapping[str, Any]) -> float:
    return _key(level["rank"]["value"])


def some(count: int, what: str) -> str:
    """A count of things."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _key(value: float | None) -> float:
    return math.inf if value is None else value


def _range(each: Mapping[str, float | None]) -> str:
    return _with_interval(each, "{:.1f}")


def _percent(each: Mapping[str, float | None]) -> str:
    return _with_interval(each, "{:.0%}")


def _with_interval(each: Mapping[str, float | None], form: str) -> str:
    value = form.format(each["value"])
    if each["low"] is None or each["high"] is None:
        return value
    return f"{value} ({form.format(each['low'])} to {form.format(each['high'])})"
