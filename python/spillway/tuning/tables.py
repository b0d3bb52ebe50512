"""The result of a study as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from spillway.show.tables import number, wide_grid

_STYLES = {"better": "green", "worse": "red"}
_MOST_FRONT = 20
"""The most trials of a front that are shown in the terminal."""


def shown(summary: Mapping[str, Any]) -> RenderableType:
    """The answer, its confirmation, and how much each parameter matters."""
    return Group(*_head(summary), *parts(summary).values())


def parts(summary: Mapping[str, Any]) -> dict[str, RenderableType]:
    """The tables, by what they are about."""
    found: dict[str, RenderableType] = {}
    if not summary["winners"]:
        found["best"] = nearest(summary)
    elif len(summary["goals"]) == 1:
        found["best"] = best(summary)
    else:
        found["front"] = front(summary)
    if summary["confirmation"] is not None:
        found["confirmation"] = confirmation(summary)
    elif summary.get("not_confirmed"):
        found["not_confirmed"] = Text(f"not confirmed: {summary['not_confirmed']}", "red")
    found["importance"] = importance(summary)
    return found


def _head(summary: Mapping[str, Any]) -> list[Text]:
    style = {"complete": "green", "interrupted": "red"}[summary["status"]]
    title = Text.assemble((summary["scenario"], "bold"), "  ", (summary["status"], style))
    return [title, Text(counted(summary), "dim")]


def counted(summary: Mapping[str, Any]) -> str:
    """How many trials there were, and what became of them."""
    trials = summary["trials"]
    words = {
        "complete": "complete",
        "pruned": "ended early",
        "failed": "failed",
        "invalid": "no scenarios, and not counted",
    }
    by_state = {state: sum(trial["state"] == state for trial in trials) for state in words}
    told = ", ".join(f"{count} {words[state]}" for state, count in by_state.items() if count)
    seeds = summary["asked"]["seeds"]
    ended, wanted = summary["ended"], summary["asked"]["trials"]
    done = f"{ended} of {wanted} trials" if ended <= wanted else f"{ended} trials, {wanted} wanted"
    return (
        done + (f": {told}" if told else "") + f"; {len(seeds)} seed{'s' * (len(seeds) > 1)} each"
    )


def best(summary: Mapping[str, Any]) -> RenderableType:
    """The values of the best trial beside the scenario's own."""
    winner, goal = summary["winners"][0], summary["goals"][0]
    table = wide_grid(f"best: trial {winner['trial']}", numbers=["default"])
    table.add_column("tuned", justify="right", style="bold")
    for parameter in summary["over"]:
        key = parameter["key"]
        if key in winner["set"]:
            tuned = winner["set"][key] or "unset"
            table.add_row(key, parameter["default"] or "-", tuned)
    text = f"{goal['text']} on the seeds of the search"
    own, found = goal["default"], winner["values"][0]
    table.add_row(text, number(own), number(found))
    is_better = found < own if goal["direction"] == "minimize" else found > own
    if is_better:
        return table
    return Group(table, Text("No trial is better than the default.", "yellow"))


def front(summary: Mapping[str, Any]) -> RenderableType:
    """The trials that no other is better than in every goal."""
    keys = _keys_that_differ(summary)
    goals = [f"{goal['text']}\n{goal['direction']}d" for goal in summary["goals"]]
    table = wide_grid(numbers=["front: trial", *goals, *keys])
    defaults = {each["key"]: each["default"] or "-" for each in summary["over"]}
    own = [number(goal["default"]) for goal in summary["goals"]]
    table.add_row("default", *own, *(defaults[key] for key in keys), style="dim")
    winners = summary["winners"]
    for winner in winners[:_MOST_FRONT]:
        values = (winner["set"].get(key) for key in keys)
        table.add_row(
            str(winner["trial"]),
            *map(number, winner["values"]),
            *("-" if value is None else value or "unset" for value in values),
        )
    more = len(winners) - _MOST_FRONT
    if more > 0:
        return Group(table, Text(f"and {more} more", "dim"))
    return table


def _keys_that_differ(summary: Mapping[str, Any]) -> list[str]:
    keys = [each["key"] for each in summary["over"]]
    return [key for key in keys if any(key in each["set"] for each in summary["winners"])]


def nearest(summary: Mapping[str, Any]) -> RenderableType:
    """What to say where no trial satisfies all constraints."""
    complete = [trial for trial in summary["trials"] if trial["state"] == "complete"]
    if not complete:
        return Text("no trial is complete", "red")

    def distance(trial: Mapping[str, Any]) -> float:
        return float(sum(max(0.0, value) for value in trial["violations"].values()))

    trial = min(complete, key=distance)
    violated = ", ".join(
        f"{text} by {_miss(value, *trial.get('sides', {}).get(text, (None, None)))}"
        for text, value in trial["violations"].items()
        if value > 0
    )
    values = ", ".join(f"{key}={value}" for key, value in trial["set"].items())
    return Group(
        Text("no trial satisfies all constraints", "red"),
        Text(f"nearest: trial {trial['trial']}, {values}: it misses {violated}"),
    )


def _miss(share: float, left: float | None, right: float | None) -> str:
    """By how much a constraint is missed: a share of its right side, unless that is 0.

    >>> _miss(0.251, 7.49, 10.0), _miss(24.0, 24.0, 0.0), _miss(31.5, 3250.0, 100.0)
    ('25%', '24.0', '3,150%')
    """
    if right == 0 and left is not None:
        return number(abs(left))
    return f"{number(100 * share, 2)}%"


def confirmation(summary: Mapping[str, Any]) -> RenderableType:
    """The winners beside the default on seeds that the search never saw."""
    found = summary["confirmation"]
    heads = ("default", "tuned", "difference", "95% interval", "")
    table = wide_grid("confirmed on new seeds", numbers=heads)
    several = len(found["winners"]) > 1
    for winner in found["winners"]:
        prefix = f"trial {winner['trial']}: " if several else ""
        for goal in winner["goals"]:
            mean = goal["default_mean"]
            table.add_row(
                f"{prefix}{goal['text']}",
                number(mean),
                number(goal["tuned_mean"]),
                change(relative(goal["difference"], mean), goal["difference"]),
                interval(goal, mean),
                Text(goal["verdict"], _STYLES.get(goal["verdict"], "yellow")),
            )
        for each in winner["constraints"]:
            table.add_row(f"{prefix}{each['text']}", *_constraint(each))
    note = f"{len(found['seeds'])} seeds, {found['duration_s'] * 1e3:.4g} ms each, in pairs"
    if any(winner["constraints"] for winner in found["winners"]):
        note += "; of a constraint default is the limit, and tuned the other side"
    if any(goal["verdict"] == "not tested" for each in found["winners"] for goal in each["goals"]):
        note += "; all seeds give the same runs, since nothing in this scenario is drawn at random"
    lines: list[RenderableType] = [table, Text(note, "dim")]
    if not_kept := broken(summary):
        lines.append(Text(not_kept, "red"))
    return Group(*lines)


def broken(summary: Mapping[str, Any]) -> str:
    """A sentence about the winners that do not keep all constraints on the new seeds, if any."""
    found = summary["confirmation"]
    told = [
        f"trial {winner['trial']} does not keep {each['text']}"
        for winner in ([] if found is None else found["winners"])
        for each in winner["constraints"]
        if not each["is_met"]
    ]
    return f"On the new seeds {', '.join(told)}." if told else ""


def _constraint(each: Mapping[str, Any]) -> tuple[str, str, str, str, Text]:
    """A constraint's limit, the other side, and how far that is from it."""
    limit, tuned = each["right"], each["left"]
    if each.get("limit") == "left":
        limit, tuned = tuned, limit
    word, style = ("kept", "green") if each["is_met"] else ("not kept", "red")
    if each.get("difference") is None:
        apart, reach = "", ""
    else:
        apart = change(relative(each["difference"], limit), each["difference"])
        reach = interval(each, limit)
    return number(limit, 4), number(tuned, 4), apart, reach, Text(word, style)


def relative(difference: float, mean: float) -> float | None:
    """A difference as a share of the default's mean.

    >>> relative(-1.0, 4.0), relative(1.0, 0.0)
    (-0.25, None)
    """
    return difference / abs(mean) if mean else None


def change(share: float | None, difference: float) -> str:
    """A difference, as a share of the default where it has one.

    >>> change(-0.25, -1.0), change(None, 3.0)
    ('-25.0%', '+3.00')
    """
    if share is not None:
        return f"{100 * share:+.1f}%"
    return f"{'+' * (difference > 0)}{number(difference)}"


def interval(found: Mapping[str, Any], base: float) -> str:
    """The interval of a difference, in the same terms, as a share of `base`."""
    if found["low"] is None:
        return "-"
    return " to ".join(change(relative(end, base), end) for end in (found["low"], found["high"]))


def importance(summary: Mapping[str, Any]) -> RenderableType:
    """How much each parameter matters, conditional ones within their branch."""
    by_goal = [branches(found) for found in summary["importance"]]
    if not any(shares for found in by_goal for _, _, shares in found):
        text = "too few complete trials to say how much each parameter matters"
        return Text(text, "dim")
    several = len(summary["goals"]) > 1
    heads = [goal["text"] if several else "share" for goal in summary["goals"]]
    table = wide_grid("how much it matters", numbers=heads)
    for same in zip(*by_goal, strict=True):
        head, trials, _ = same[0]
        each = [shares for _, _, shares in same]
        title = Text(f"{head} ({trials} complete trials)", "dim")
        table.add_row(title, *("" if shares else "too few" for shares in each))
        for key in dict.fromkeys(key for shares in each for key in shares or ()):
            table.add_row(f"  {key}", *(_share(shares, key) for shares in each))
    return table


def _share(shares: Mapping[str, float] | None, key: str) -> str:
    if not shares:
        return ""
    return f"{100 * shares[key]:.0f}%" if len(shares) > 1 else "the only one"


def branches(
    found: Mapping[str, Any],
) -> Sequence[tuple[str, int, Mapping[str, float] | None]]:
    """All trials, and every branch with trials: its name, how many, and the shares."""
    within = (
        (f"{each['key']}={each['value'] or 'unset'}", each["trials"], each["shares"])
        for each in found["branches"]
        if each["trials"]
    )
    return [("all", found["trials"], found["shares"]), *within]
