"""Arguments of callers: read and refused alike in Python and on the command line."""

from __future__ import annotations

import difflib
import json
import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeVar

from spillway.base.errors import ScenarioError

Kind = TypeVar("Kind")

Assignments: TypeAlias = str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]]
"""`key=value` texts, or mappings of keys to values, where None unsets a key; one of them, or
several.
"""
Seeds: TypeAlias = str | Iterable[int]
"""Numbers, or a text such as `1..5` or `1,2,7`."""
Vary: TypeAlias = str | Mapping[str, Any] | Mapping[tuple[str, ...], Any] | Iterable[str]
"""Texts such as `switch.sharing=dt,lqd`, or a mapping of keys to lists of values. Keys that are
varied together are a tuple, mapped to a list of tuples.
"""
Choice: TypeAlias = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Keys that are varied together, and their values in turn; an empty value unsets a key."""

MOST_SEEDS = 1_000_000
LARGEST_SEED = 2**63 - 1


def assignments_of(given: Assignments) -> list[str]:
    """Assignments as texts `key=value`."""
    if isinstance(given, Mapping):
        texts = [f"{key}={written(str(key), value)}" for key, value in given.items()]
    elif isinstance(given, str):
        texts = [given]
    else:
        hint = 'for one: set={"duration": "1ms"}, or set=["duration=1ms"]'
        texts = []
        for each in items(given, "assignments", hint):
            if not isinstance(each, (str, Mapping)):
                raise ScenarioError(f"{each!r} is not of the form key=value", hint)
            texts += assignments_of(each) if isinstance(each, Mapping) else [each]
    for text in texts:
        check_line(text, "one key=value at a time")
    return texts


def written(key: str, value: object) -> str:
    """A value as written after the = of an assignment: texts as they are, the rest as TOML.

    None becomes nothing, which unsets the key.

    >>> written("k", "1ms"), written("k", True), written("k", [64, 0.5]), written("k", {"a": "b"})
    ('1ms', 'true', '[64, 0.5]', '{ "a" = "b" }')
    >>> written("k", None), written("k", "")
    ('', '""')
    """
    if value is None:
        return ""
    return value if isinstance(value, str) and value.strip() else toml(key, value)


_DEEPEST = 64
"""How deep tables and lists may be nested, as in a scenario's file."""


def toml(key: str, value: object, depth: int = 0) -> str:
    """A value as TOML, in one line; `key` is what an error is about."""
    if depth > _DEEPEST:
        problem = f"tables and lists stand within one another, more than {_DEEPEST} of them"
        raise ScenarioError(f"{key}: {problem}", path=key, kind="limit")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        check_text(value)
        # TOML has the escapes of JSON, and requires one for one more character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Integral):
        if not -(2**63) <= int(value) < 2**63:
            raise ScenarioError(f"{key}: {shown(int(value))} is beyond 64 bits", path=key)
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        names = (toml(key, str(name)) for name in value)
        values = (toml(key, each, depth + 1) for each in value.values())
        return f"{{ {', '.join(map(' = '.join, zip(names, values, strict=True)))} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml(key, each, depth + 1) for each in value)}]"
    raise ScenarioError(f"{key}: {type(value)} is not a value", path=key)


def choices_of(given: Vary) -> list[Choice]:
    """Keys, or groups of keys that are varied together, with their values."""
    if isinstance(given, Mapping):
        found = [_listed(key, values) for key, values in given.items()]
    else:
        texts = [given] if isinstance(given, str) else items(given, "variants", _FOR_ONE)
        found = [_choice(text) for text in texts]
    for keys, rows in found:
        for row in rows:
            assignments_of(f"{key}={value}" for key, value in zip(keys, row, strict=True))
        twice = next((row for row in rows if rows.count(row) > 1), None)
        if twice is not None:
            named, values = " and ".join(keys), " and ".join(value or "unset" for value in twice)
            is_ = "is" if len(keys) == 1 else "are"
            raise ScenarioError(f"{named} {is_} {values} twice", "each variant is run once")
    varied = [key for keys, _ in found for key in keys]
    if len({*varied}) < len(varied):
        raise ScenarioError("a key is varied twice", "list all of its values at once")
    return found


_FOR_ONE = 'for one: vary={"switch.sharing": ["dt", "lqd"]}'
_TOGETHER = 'for one: vary={("switch.sharing", "switch.aqm"): [("dt", "none"), ("abm", "ecn")]}'


def _listed(key: object, values: object) -> Choice:
    """A key with its values, or a tuple of keys with tuples of values, from a mapping."""
    hint = _TOGETHER if isinstance(key, tuple) else _FOR_ONE
    keys = (
        tuple(str(each).strip() for each in key) if isinstance(key, tuple) else (str(key).strip(),)
    )
    if isinstance(values, str):
        # As on the command line, nothing between commas unsets the key.
        given: Iterable[Any] = [value or None for value in split(values)] if values.strip() else []
    else:
        given = items(values, "values", hint)
    rows = list(given) if isinstance(key, tuple) else [(value,) for value in given]
    for row in rows:
        if not isinstance(row, (tuple, list)) or len(row) != len(keys):
            raise ScenarioError(
                f"{row!r} are no values of {' and '.join(keys)}, which are varied together", hint
            )
    has_empty = any(isinstance(each, str) and not each.strip() for row in rows for each in row)
    if has_empty or not rows or not keys or not all(keys):
        raise ScenarioError(f"{key!r} has no value, or an empty one", hint)
    texts = (map(written, keys, row) for row in rows)
    return keys, [tuple(row) for row in texts]


_KEY_BEHIND_SLASH = re.compile(r"\s*[A-Za-z_][\w-]*(\[\d+\])*(\.[\w-]+(\[\d+\])*)*\s*=")
"""What follows a `/` between keys that are varied together. In values there are slashes, too."""


def _choice(text: object) -> Choice:
    parts = split(text, "/", _KEY_BEHIND_SLASH) if isinstance(text, str) else [""]
    found = [part.partition("=") for part in parts]
    keys = tuple(key.strip() for key, _, _ in found)
    columns = [split(values) for _, _, values in found]
    # An empty value among others unsets its key. A key without any is a mistake.
    if not all(keys) or not all(map(any, columns)):
        raise ScenarioError(
            f"{text!r} is not of the form key=value,value", "for one: switch.sharing=dt,lqd"
        )
    if len({len(column) for column in columns}) > 1:
        several = (f"{key} has {len(column)}" for key, column in zip(keys, columns, strict=True))
        hint = (
            "for one: switch.sharing=dt,abm/switch.aqm=none,ecn; keys that are to multiply are "
            "varied apart; "
            "a value that has /word= in it is put in double quotes"
        )
        problem = f"{text!r}: keys that are varied together have as many values each"
        raise ScenarioError(f"{problem}, but {' and '.join(several)}", hint)
    return keys, list(zip(*columns, strict=True))


def split(values: str, mark: str = ",", before: re.Pattern[str] | None = None) -> list[str]:
    """Splits a text at commas, or at another mark.

    Marks within brackets, braces and quotes do not count. With `before` a mark counts only if this
    pattern matches what follows it.
    """
    parts, depth, quote = [""], 0, ""
    for place, character in enumerate(values):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        is_mark = character == mark and depth == 0 and not quote
        if is_mark and (before is None or before.match(values, place + 1)):
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def check_once(given: Iterable[object], what: str, hint: str) -> None:
    """Refuses repeated items: one of the two would be lost."""
    known: set[object] = set()
    for each in given:
        # An item may not be hashable; other checks then refuse it.
        key = each if isinstance(each, str | int | float) else repr(each)
        if key in known:
            raise ScenarioError(f"{what} {each!r} is there twice", hint)
        known.add(key)


def seeds_of(given: Seeds) -> list[int]:
    """Seeds from numbers or a text such as `1..5` (both ends included) or `1,2,7`."""
    hint = 'write seeds="1..5", or seeds=[1, 2, 7]'
    if isinstance(given, str):
        parts: Iterator[Any] = _ranges(given, hint)
    else:
        parts = ((seed, seed) for seed in items(given, "seeds", hint))
    found: dict[int, None] = {}
    for first, last in parts:
        low, high = whole("seed", first, 0, LARGEST_SEED), whole("seed", last, 0, LARGEST_SEED)
        if high - low + len(found) >= MOST_SEEDS:
            raise ScenarioError("there are too many seeds", f"{MOST_SEEDS:,} are the most")
        twice = next((seed for seed in range(low, high + 1) if seed in found), None)
        if twice is not None:
            raise ScenarioError(f"seed {twice} is there twice", "each seed is run once")
        found.update(dict.fromkeys(range(low, high + 1)))
    if not found:
        raise ScenarioError("there is no seed to run with", hint)
    return list(found)


def _ranges(text: str, hint: str) -> Iterator[tuple[int, int]]:
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,19})\s*(?:\.\.\s*([0-9]{1,19})\s*)?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low > high:
            raise ScenarioError(
                f"{text!r} is not a list of seeds",
                hint,
                typed="for one: --seeds 1..5, or --seeds 1,2,7",
            )
        yield low, high


def ranges(seeds: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as ranges, both ends included.

    >>> ranges([1, 2, 3, 7])
    [(1, 3), (7, 7)]
    """
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and seed == found[-1][1] + 1:
            found[-1] = (found[-1][0], seed)
        else:
            found.append((seed, seed))
    return found


def seeds_told(seeds: Iterable[int]) -> str:
    """Seeds as they are typed.

    >>> seeds_told([1, 2, 3, 7])
    '1..3,7'
    """
    both = ranges(seeds)
    return ",".join(f"{low}..{high}" if low < high else str(low) for low, high in both)


def whole(name: str, given: object, least: int, most: int | None = None) -> int:
    """Checks a whole number within a range, both ends included."""
    number = integer(given)
    if number is None or number < least or (most is not None and number > most):
        expected = f"from {least} to {most}" if most is not None else f"of {least} or more"
        raise ScenarioError(
            f"{name}: {shown(given)} is not valid; expected a whole number {expected}", path=name
        )
    return number


def share(name: str, given: object) -> float:
    """Checks a share: a number above 0, below 1."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given < 1:
        raise ScenarioError(f"{name}: {given!r} is not valid; expected a share in (0, 1)")
    return float(given)


def plain_int(text: str) -> int:
    """A whole number in plain digits. Python's own also takes `1_000`, and other alphabets' digits.

    Raises:
        ValueError: The text is no such number.
    """
    if re.fullmatch(r"\s*[-+]?[0-9]+\s*", text, re.ASCII) is None:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def plain_float(text: str) -> float:
    """A number in plain digits, as `plain_int` reads a whole one."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")
    return float(text)


def shown(given: object) -> str:
    """An argument as a message can show it.

    >>> shown("three"), shown(10**5000)
    ("'three'", 'a number of 16610 bits')
    """
    if isinstance(given, int) and given.bit_length() > 1000:
        return f"a number of {given.bit_length()} bits"
    return repr(given)


def integer(given: object) -> int | None:
    """A whole number of any type; None for anything else."""
    try:
        return None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def meant(given: object, known: Iterable[str], otherwise: str) -> str:
    """A hint at the known name that is most like a given one, or else another hint.

    >>> meant("dctpc", ["dctcp", "tcp"], "valid here: dctcp, tcp")
    'did you mean `dctcp`?'
    """
    near = difflib.get_close_matches(str(given), list(known), n=1)
    return f"did you mean `{near[0]}`?" if near else otherwise


def check_known(what: str, given: object, known: Collection[str]) -> None:
    """Refuses an unknown name."""
    if given not in known:
        raise ScenarioError(
            f"{what}: there is no {given!r}", meant(given, known, f"valid here: {', '.join(known)}")
        )


def callback(name: str, given: object) -> None:
    """Refuses a callback that cannot be called."""
    if given is not None and not callable(given):
        raise ScenarioError(f"{name}: {given!r} is not valid; expected a function")


def items(given: object, what: str, hint: str) -> Iterator[Any]:
    """The items of an argument that must be iterable."""
    try:
        return iter(given)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        raise ScenarioError(f"{given!r} are no {what}", hint) from None


def all_of(given: object, kind: type[Kind], what: str, one: str, hint: str) -> list[Kind]:
    """The items of an argument that must be iterable, all of them of one class."""
    found = list(items(given, what, hint))
    for each in found:
        if not isinstance(each, kind):
            raise ScenarioError(f"{shown(each)} is no {one}", hint)
    return found


def check_line(text: str, what: str) -> None:
    """Refuses a text with a line break in it, or with half a character."""
    check_text(text)
    if re.search(r"[\r\n]", text.strip()):
        raise ScenarioError(
            f"{text!r} has a line break in it", f"{what}; within quotes a line break is written \\n"
        )


def check_text(text: str) -> None:
    """Refuses a text with half a character, which no file and no other program can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError(f"{text!r} is no text: it has half a character in it") from None
