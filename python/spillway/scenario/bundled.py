"""The bundled scenarios, and what each is."""

from __future__ import annotations

import itertools

from spillway.base import core


def bundled() -> dict[str, str]:
    """What each bundled scenario is: the comment at the head of its file."""
    return {name: _about(text) for name, text in core.bundled()}


def _about(scenario: str) -> str:
    head = itertools.takewhile(lambda line: line.startswith("# "), scenario.splitlines())
    return " ".join(line.removeprefix("# ") for line in head)
