"""A study as figures: its course, its parameters, their importance, the front, the confirmation."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from spillway.show import drawing
from spillway.show.palette import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_QUIET = "#555555"
_PANEL = (3.4, 2.7)
"""The width and height of a panel in inches."""
_ACROSS = 3
_BEST, _OTHER, _UNMET = COLOURS[1], COLOURS[0], "#9A9A9A"
_BRANCHES = tuple(colour for colour in COLOURS if colour != _BEST)
_LONGEST = 28
"""The most letters of a choice in a legend."""


def drawn(summary: Mapping[str, Any]) -> dict[str, bytes]:
    """The figures of a study by name, without those that would be empty."""
    import matplotlib as mpl

    figures = {
        "history": _history,
        "front": _front,
        "parameters": _parameters,
        "importance": _importance,
        "confirmation": _confirmation,
    }
    found = {}
    shown = _printable(summary)
    style = {**drawing.PLAIN, "axes.labelsize": 8}
    with mpl.rc_context(style), warnings.catch_warnings():
        # A letter that the font does not have is a box.
        warnings.filterwarnings("ignore", "Glyph")
        for name, draw in figures.items():
            figure = draw(shown)
            if figure is not None:
                found[name] = drawing.svg(figure)
    return found


def _printable(given: Any) -> Any:
    """A document without characters that do something instead of being shown."""
    if isinstance(given, str):
        return "".join(each if each.isprintable() else "\ufffd" for each in given)
    if isinstance(given, Mapping):
        return {_printable(key): _printable(value) for key, value in given.items()}
    return [_printable(each) for each in given] if isinstance(given, list) else given


def _grid(panels: int, width: float = _PANEL[0]) -> tuple[Figure, list[Axes]]:
    across = min(panels, _ACROSS)
    rows = -(-panels // across)
    size = (width * across, _PANEL[1] * rows)
    figure, axes = drawing.panels(rows, across, panels, size)
    for axis in axes:
        axis.grid(color="#DDDDDD", linewidth=0.7)
        axis.tick_params(labelsize=8)
    return figure, axes


def _complete(summary: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [trial for trial in summary["trials"] if trial["state"] == "complete"]


def _is_wide(values: Sequence[float]) -> bool:
    """Whether values are so far apart that equal ratios are to look equal."""
    return bool(values) and min(values) > 0 and max(values) > 20 * min(values)


def _history(summary: Mapping[str, Any]) -> Figure | None:
    """Every trial's value, the best so far, and the default."""
    if not _complete(summary):
        return None
    goals = summary["goals"]
    figure, axes = _grid(len(goals), 7.0 if len(goals) == 1 else 4.4)
    for place, (axis, goal) in enumerate(zip(axes, goals, strict=True)):
        _scatter(axis, summary, place, lambda trial: float(trial["trial"]))
        met = [trial for trial in _complete(summary) if trial["is_met"]]
        better = min if goal["direction"] == "minimize" else max
        so_far = list(itertools.accumulate((trial["values"][place] for trial in met), better))
        numbers = [trial["trial"] for trial in met]
        if len(goals) == 1 and met:
            axis.step(
                numbers, so_far, where="post", color=_BEST, linewidth=1.2, label="best so far"
            )
        _default_line(axis, goal)
        axis.set(xlabel="trial", ylabel=goal["text"])
    _legend(axes[0])
    return figure


def _scatter(
    axis: Axes,
    summary: Mapping[str, Any],
    goal: int,
    x: Callable[..., float | None],
    colour: Callable[[Mapping[str, Any]], str] | None = None,
) -> None:
    """All complete trials that have an x; hollow ones violate a constraint.

    With `colour` each trial has a colour of its own, whatever its state. Trials that were ended
    early are crosses at the lower edge: their values then cannot be compared with those of whole
    runs.
    """
    shown = _complete(summary)
    best = {each["trial"] for each in summary["winners"]}
    kinds: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
        ("complete", lambda t: t["state"] == "complete" and t["is_met"] and t["trial"] not in best),
        ("violates a constraint", lambda t: t["state"] == "complete" and not t["is_met"]),
        ("best" if len(best) == 1 else "on the front", lambda t: t["trial"] in best),
    )
    styles: tuple[dict[str, Any], ...] = (
        {"s": 16, "c": _OTHER, "alpha": 0.8, "linewidths": 0, "clip_on": False},
        {"s": 16, "facecolors": "none", "edgecolors": _UNMET, "linewidths": 1},
        {"s": 44, "c": _BEST, "marker": "*", "zorder": 3, "linewidths": 0, "clip_on": False},
    )

    if colour is not None:
        styles[-1].update(edgecolors="black", linewidths=0.7)

    def put(trials: Sequence[Mapping[str, Any]], heights: Sequence[float], **style: Any) -> None:
        there = [place for place, trial in enumerate(trials) if x(trial) is not None]
        if colour is not None:
            coloured = "edgecolors" if "facecolors" in style else "c"
            style[coloured] = [colour(trials[place]) for place in there]
        if there:
            across = [x(trials[place]) for place in there]
            axis.scatter(across, [heights[place] for place in there], **style)  # type: ignore[arg-type]

    for (label, is_one), style in zip(kinds, styles, strict=True):
        those = [trial for trial in shown if is_one(trial)]
        put(those, [trial["values"][goal] for trial in those], label=label, **style)
    early = [trial for trial in summary["trials"] if trial["state"] == "pruned"]
    put(
        early,
        [0.02] * len(early),
        transform=axis.get_xaxis_transform(),
        label="ended early",
        s=12,
        c=_UNMET,
        marker="x",
        linewidths=0.9,
    )
    if _is_wide([trial["values"][goal] for trial in shown]):
        _log_scale(axis, "y", [trial["values"][goal] for trial in shown])


def _log_scale(axis: Axes, along: str, values: Sequence[float]) -> None:
    """A logarithmic axis with plain numbers at a few places."""
    axis.set(**{f"{along}scale": "log"})
    drawing.log_ticks(axis, along, is_wide=max(values) > 1000 * min(values))


def _default_line(axis: Axes, goal: Mapping[str, Any]) -> None:
    axis.axhline(goal["default"], color=_QUIET, linewidth=0.9, linestyle="--", label="default")


def _legend(axis: Axes) -> None:
    figure = axis.figure
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8
    )


def _front(summary: Mapping[str, Any]) -> Figure | None:
    """Every pair of goals against each other."""
    goals = summary["goals"]
    if len(goals) < 2 or not _complete(summary):
        return None
    couples = list(itertools.combinations(range(len(goals)), 2))
    figure, axes = _grid(len(couples), 7.0 if len(couples) == 1 else 4.4)
    for axis, (one, two) in zip(axes, couples, strict=True):
        _scatter(axis, summary, two, lambda trial, one=one: trial["values"][one])
        axis.scatter(
            [goals[one]["default"]],
            [goals[two]["default"]],
            s=40,
            c=_QUIET,
            marker="D",
            label="default",
            linewidths=0,
        )
        if _is_wide([trial["values"][one] for trial in _complete(summary)]):
            _log_scale(axis, "x", [trial["values"][one] for trial in _complete(summary)])
        told = [f"{goals[place]['text']} ({goals[place]['direction']}d)" for place in (one, two)]
        axis.set(xlabel=told[0], ylabel=told[1])
    _legend(axes[0])
    return figure


def _parameters(summary: Mapping[str, Any]) -> Figure | None:
    """The goals against every parameter."""
    if not _complete(summary):
        return None
    couples = [(each, place) for place in range(len(summary["goals"])) for each in summary["over"]]
    figure, axes = _grid(len(couples))
    for axis, (parameter, place) in zip(axes, couples, strict=True):
        goal = summary["goals"][place]
        colours = _colours(summary, parameter)
        colour = partial(_colour, parameter, colours) if colours else None
        if "values" in parameter:
            _strip(axis, summary, parameter, place, colour)
        else:
            _scatter(axis, summary, place, lambda trial, p=parameter: _number(trial, p), colour)
            axis.set_xlim(parameter["low"], parameter["high"])
            if parameter["log"]:
                _log_scale(axis, "x", (parameter["low"], parameter["high"]))
        _default_line(axis, goal)
        unit = f", {parameter['unit']}" if parameter.get("unit") else ""
        below = " where it applies" if parameter["below"] else ""
        axis.set(xlabel=f"{parameter['key']}{unit}{below}", ylabel=goal["text"])
        if colours:
            _legend_of_choices(axis, parameter, colours)
    return figure


def _colours(summary: Mapping[str, Any], parameter: Mapping[str, Any]) -> dict[str, str]:
    """The colours of the choices with which trials have a parameter; none if it needs no choice.

    A choice has the same colour for all parameters.
    """
    above = {each["key"]: each["values"] for each in summary["over"] if "values" in each}
    there = {
        _choice(trial, parameter)
        for trial in summary["trials"]
        if parameter["key"] in trial["set"] and parameter["below"]
    }
    every = itertools.product(*(above[key] for key in parameter["below"]))
    coloured = zip(map(_choice_text, every), itertools.cycle(_BRANCHES), strict=False)
    return {choice: colour for choice, colour in coloured if choice in there}


def _choice(trial: Mapping[str, Any], parameter: Mapping[str, Any]) -> str:
    """What a trial has chosen above a parameter."""
    return _choice_text(trial["set"].get(key, "") for key in parameter["below"])


def _choice_text(values: Iterable[str]) -> str:
    return ", ".join(value or "unset" for value in values)


def _colour(
    parameter: Mapping[str, Any], colours: Mapping[str, str], trial: Mapping[str, Any]
) -> str:
    return colours[_choice(trial, parameter)]


def _legend_of_choices(
    axis: Axes, parameter: Mapping[str, Any], colours: Mapping[str, str]
) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker="o", markersize=4, linestyle="", label=_cut(choice))
        for choice, colour in colours.items()
    ]
    title = ", ".join(parameter["below"])
    axis.legend(handles=handles, title=title, fontsize=7, title_fontsize=7, framealpha=0.7)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _number(trial: Mapping[str, Any], parameter: Mapping[str, Any]) -> float | None:
    """The value of a parameter in a trial, without its unit, if it has one there."""
    if parameter["key"] not in trial["set"]:
        return None
    found = trial["numbers"].get(parameter["key"])
    return None if found is None else float(found)


def _strip(
    axis: Axes,
    summary: Mapping[str, Any],
    parameter: Mapping[str, Any],
    goal: int,
    colour: Callable[[Mapping[str, Any]], str] | None,
) -> None:
    """A strip for every choice; trials in it stand beside each other in their order."""
    values, key = parameter["values"], parameter["key"]
    last = max((trial["trial"] for trial in summary["trials"]), default=1)

    def place(trial: Mapping[str, Any]) -> float | None:
        if key not in trial["set"]:
            return None
        offset = float(trial["trial"] / last - 0.5)
        return float(values.index(trial["set"][key])) + 0.6 * offset

    _scatter(axis, summary, goal, place, colour)
    axis.set_xticks(range(len(values)), [value or "unset" for value in values])
    axis.set_xlim(-0.5, len(values) - 0.5)
    axis.grid(axis="x", visible=False)


def _importance(summary: Mapping[str, Any]) -> Figure | None:
    """The shares of parameters, over all trials and within branches."""
    from spillway.tuning.tables import branches

    panels = [
        (found["goal"], head, shares)
        for found in summary["importance"]
        for head, _, shares in branches(found)
        if shares
    ]
    if not panels:
        return None
    figure, axes = _grid(len(panels), 3.6)
    several = len(summary["goals"]) > 1
    for axis, (goal, head, shares) in zip(axes, panels, strict=True):
        keys = [*shares][::-1]
        axis.barh(range(len(keys)), [100 * shares[key] for key in keys], color=_OTHER, height=0.6)
        axis.set_yticks(range(len(keys)), keys)
        axis.set(xlim=(0, 100), ylim=(-0.6, max(len(keys) - 0.4, 1.6)), xlabel="share, %")
        axis.grid(axis="y", visible=False)
        title = "all trials" if head == "all" else head
        axis.set_title(f"{goal}\n{title}" if several else title, fontsize=9)
    return figure


def _confirmation(summary: Mapping[str, Any]) -> Figure | None:
    """The default and the winners on every new seed, joined by seed."""
    found = summary["confirmation"]
    if found is None:
        return None
    goals = summary["goals"]
    figure, axes = _grid(len(goals), 5.0 if len(goals) == 1 else 3.6)
    winners = found["winners"]
    for place, (axis, goal) in enumerate(zip(axes, goals, strict=True)):
        columns = [winners[0]["goals"][place]["default"]]
        columns += [winner["goals"][place]["tuned"] for winner in winners]
        for seed, (number, values) in enumerate(
            zip(found["seeds"], zip(*columns, strict=True), strict=True)
        ):
            axis.plot(
                range(len(columns)),
                values,
                color=COLOURS[seed % len(COLOURS)],
                marker=MARKERS[seed % len(MARKERS)],
                markersize=4.5,
                linewidth=0.8,
                label=f"seed {number}",
            )
        names = ["default", *(f"trial {winner['trial']}" for winner in winners)]
        axis.set_xticks(range(len(columns)), names)
        axis.set(xlim=(-0.4, len(columns) - 0.6), ylabel=goal["text"])
    _legend(axes[0])
    return figure
