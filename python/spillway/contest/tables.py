"""What an arena found, as tables for terminal and page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spillway.contest import hardware
from spillway.contest.summary import BASE
from spillway.show.tables import grid, number, percent

Document = Mapping[str, Any]
_MOST = 12
"""The most lines of a list on a terminal."""


def shown(found: Document) -> RenderableType:
    """The answer, and the standings."""
    parts: list[RenderableType] = [Text(plain(found["answer"]), "bold")]
    if "levels" not in found:
        return parts[0]
    parts += [Text(plain(each), "bold cyan") for each in found["yours"]]
    parts += [standings(found), Text(told(found), "dim")]
    if found["effects"]:
        parts.append(effects(found, most=_MOST))
    return Group(*parts)


def plain(text: str) -> str:
    """A text without the marks of names."""
    return text.replace("`", "")


def told(found: Document) -> str:
    """How to read the standings."""
    texts = [
        f"Rank by {found['metric']}, and its 95% interval over contexts; ratio: geometric mean of "
        "the ratio to the best of the same context and seed; worst: the greatest such ratio",
    ]
    if found["without"]:
        texts.append(f"No run has this number in {', '.join(found['without'])}")
    if found["few"]:
        texts.append(
            f"In {percent(found['few'])} of runs {found['metric']} rests on fewer than 10 flows"
        )
    if found["at_edge"]:
        texts.append(
            f"In {percent(found['at_edge'])} about as many flows have a timeout as lie beyond the "
            "percentile, which one flow may then change"
        )
    return ". ".join(texts)


def ordered(found: Document) -> list[Document]:
    """The levels by their mean rank."""
    return sorted(
        found["levels"],
        key=lambda each: (each["rank"]["value"] is None, each["rank"]["value"] or 0),
    )


def standings(found: Document) -> Table:
    """A row for every level: rank, regret, and what else is told of it."""
    base = [each["level"] for each in found["levels"]].index(BASE) if _has_base(found) else None
    heads = [
        "con-\ntexts",
        "rank",
        "95%",
        "ratio",
        "worst",
        "goodput",
        "with\ntimeout",
        "never\nended",
    ]
    heads += ["beats\nlqd", "tail to\nlqd"] if base is not None else []
    table = grid(str(found["ranked"]), numbers=heads)
    steady = never_bad(found)
    for each in ordered(found):
        place = [level["level"] for level in found["levels"]].index(each["level"])
        cells: list[str | Text] = [
            str(each["contexts"]),
            _value(each["rank"], "{:.1f}"),
            _interval(each["rank"], "{:.1f}"),
            number(each["ratio_to_best"]["value"]),
            Text(_worst(each), "bold green" if each["level"] == steady else ""),
            percent(each["goodput"]["value"]),
            percent(each["timeouts"]["value"]),
            str(each["never_ended"] or "-"),
        ]
        if base is not None:
            is_it = each["level"] == BASE
            cells.append("" if is_it else percent(found["wins"][place][base]["value"]))
            cells.append("" if is_it else _ratio(each["to_lqd"]))
        name = Text(each["level"], "bold cyan" if each["is_own"] else "bold")
        table.add_row(name, *cells)
    return table


def never_bad(found: Document) -> str | None:
    """The level with the smallest worst case, which is never bad.

    None if all fail somewhere, or if several are alike.

    >>> level = {"level": "dt", "worst": 0.5, "never_ended": 0}
    >>> never_bad({"levels": [level, {**level, "level": "lqd", "worst": 0.25}]})
    'lqd'
    >>> never_bad({"levels": [level, {**level, "level": "lqd"}]})
    """
    known = [each for each in found["levels"] if each["worst"] is not None]
    known = [each for each in known if not each["never_ended"]]
    least = min((each["worst"] for each in known), default=None)
    steady = [each["level"] for each in known if each["worst"] == least]
    return steady[0] if len(steady) == 1 else None


def worst_cases(found: Document) -> Table:
    """Where each level was at its worst, the best worst case first."""
    table = grid("", "where", numbers=["worst ratio"])
    there = [each for each in found["levels"] if each["contexts"]]
    for each in sorted(there, key=lambda each: (each["never_ended"] > 0, each["worst"] or 0.0)):
        table.add_row(Text(each["level"], "bold"), each["worst_at"], _worst(each))
    return table


def other_metrics(found: Document) -> Table:
    """Mean ranks by each metric, and the worst ratio."""
    names = [each["metric"] for each in found["metrics"]]
    heads = [f"{name}\n{what}" for name in names for what in ("rank", "worst")]
    table = grid("", numbers=heads)
    places = [each["level"] for each in found["levels"]]
    for each in ordered(found):
        at = places.index(each["level"])
        cells = []
        for metric in found["metrics"]:
            worst = {key: metric[key][at] for key in ("worst", "never_ended")}
            cells += [
                _value(metric["ranks"][at], "{:.1f}"),
                _worst(worst),
            ]
        table.add_row(Text(each["level"], "bold"), *cells)
    return table


def beaten(found: Document) -> Table:
    """How often the level of a row is below that of a column."""
    order = [each["level"] for each in ordered(found)]
    places = [[each["level"] for each in found["levels"]].index(name) for name in order]
    table = grid("beats", numbers=order)
    for name, at in zip(order, places, strict=True):
        cells = []
        for other in places:
            each = found["wins"][at][other]
            sure = each["low"] is not None and (each["low"] > 0.5 or each["high"] < 0.5)
            style = ("bold green" if each["value"] > 0.5 else "bold red") if sure else "dim"
            cells.append(Text("" if each["value"] is None else f"{each['value']:.0%}", style))
        table.add_row(Text(name, "bold"), *cells)
    return table


def effects(found: Document, most: int | None = None) -> Table:
    """How much each factor, and each pair of them, explains of each number."""
    models = found["effects"]
    table = grid("what matters: share", numbers=[_head(each["metric"]) for each in models])
    for term in terms(found)[:most]:
        cells = (_of_term(each, term) for each in models)
        table.add_row(" x ".join(term), *map(_share, cells))
    left = (percent(each["left"]) for each in models)
    table.add_row(Text("not in the additive models", "dim"), *left)
    return table


def terms(found: Document) -> list[list[str]]:
    """Factors and pairs, those first that explain most of some number."""
    every: dict[tuple[str, ...], float] = {}
    for model in found["effects"]:
        for each in model["shares"]:
            of = tuple(each["of"])
            every[of] = max(every.get(of, 0.0), each["value"])
    return [list(of) for of in sorted(every, key=lambda of: -every[of])]


def _of_term(model: Document, term: Sequence[str]) -> Document | None:
    return next((each for each in model["shares"] if each["of"] == term), None)


def _share(each: Document | None) -> str:
    return "-" if each is None else f"{percent(each['value'])} {_bracketed(each, '{:.1%}')}".strip()


def levels(found: Document) -> list[tuple[str, Table]]:
    """The levels of every factor by what they do to each number, all else being equal."""
    tables = []
    models = found["effects"]
    for name in dict.fromkeys(name for model in models for name in model["levels"]):
        table = grid(name, numbers=[_head(each["metric"]) for each in models])
        of = [{each["level"]: each for each in model["levels"].get(name, ())} for model in models]
        for level in dict.fromkeys(level for each in of for level in each):
            cells = (
                _effect(each.get(level), model["is_ratio"])
                for each, model in zip(of, models, strict=True)
            )
            table.add_row(Text(level, "bold"), *cells)
        tables.append((name, table))
    return tables


def _effect(each: Document | None, is_ratio: bool) -> str:
    if each is None:
        return "-"
    form = "{:.2f}" if is_ratio else "{:+.1%}"
    return f"{_value(each, form)} {_bracketed(each, form)}".strip()


def _head(metric: str) -> str:
    return metric.replace(" ", "\n", 1)


def _bracketed(each: Document, form: str) -> str:
    interval = _interval(each, form)
    return f"({interval})" if interval else ""


def front(found: Document) -> Table:
    """Tail, goodput, state, and the distance to the optimum in the slotted model."""
    table = grid(
        "", numbers=["ratio", "goodput", "state, bits", "mean of optimum", "least of optimum"]
    )
    table.add_column("not counted, or not known")
    for each in ordered(found):
        optimum = each["optimum"] or {"mean": None, "least": None, "why": ""}
        notes = [text for text in (each["state_more"], optimum["why"]) if text]
        bits = "-" if each["state_bits"] is None else f"{each['state_bits']:,}"
        table.add_row(
            Text(each["level"], "bold green" if each["on_front"] else "bold"),
            number(each["ratio_to_best"]["value"]),
            percent(each["goodput"]["value"]),
            f"{bits} or more" if each["state_more"] else bits,
            percent(optimum["mean"]),
            percent(optimum["least"]),
            "; ".join(notes),
        )
    return table


def hardware_told() -> str:
    """The switch of the number of bits."""
    buffer = f"{hardware.BUFFER // 1_000_000} MB of buffer"
    return (
        f"State in bits of a switch with {hardware.PORTS} ports, {hardware.QUEUES} queues each, "
        f"and {buffer}: a counter has {hardware.COUNTER_BITS} bits, a time {hardware.TIME_BITS}"
    )


def listed(rows: Iterable[Document], *keys: str) -> Table:
    """Rows of texts."""
    table = grid(*("" for _ in keys))
    for each in rows:
        table.add_row(*(str(each[key]) for key in keys))
    return table


def _has_base(found: Document) -> bool:
    return any(each["level"] == BASE for each in found["levels"])


def _worst(each: Document) -> str:
    if each["never_ended"]:
        return "never ends"
    return "-" if each["worst"] is None else _times(each["worst"])


def _times(regret: float) -> str:
    return number(1.0 + regret)


def _value(each: Document, form: str) -> str:
    return "-" if each["value"] is None else form.format(each["value"])


def _ratio(each: Document | None) -> str:
    return "-" if each is None else number(each["value"])


def _interval(each: Document, form: str) -> str:
    if each["low"] is None or each["high"] is None:
        return ""
    return f"{form.format(each['low'])} to {form.format(each['high'])}"
