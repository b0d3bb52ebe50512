"""What the results of a function depend on besides its arguments."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from spillway.base import core
from spillway.base.checksums import digest
from spillway.base.errors import ScenarioError

Function = TypeVar("Function", bound=Callable[..., Any])

EVERYTHING = ("",)
"""All results numbers of the simulator: of a function that runs scenarios of its own."""


@dataclass(frozen=True)
class Basis:
    """What the results of a function depend on."""

    results: int
    """Its results number, which rises when its results change."""
    on: tuple[str, ...]
    """The parts of the simulator that it calls: how the names of their results numbers begin."""
    libraries: tuple[str, ...]
    """Libraries whose versions count: those that train."""
    files: tuple[str, ...]
    """Files beside its module that it reads, as patterns."""


_OF: dict[Callable[..., Any], Basis] = {}


def results(
    number: int,
    *,
    on: tuple[str, ...] = (),
    libraries: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Notes what the results of a function depend on besides its arguments.

    A function of a run's result needs only the `number`.

    `number` rises whenever the function returns something else for the same arguments: kept
    results are found by it. `tests/test_baseline.py` notices.
    """

    def told(function: Function) -> Function:
        _OF[function] = Basis(number, on, libraries, files)
        return function

    return told


def named(function: str) -> Callable[..., Any]:
    """The function that `module:function` names."""
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def of(function: str) -> dict[str, Any]:
    """What the results of the function that `module:function` names depend on, for keys.

    Raises `ScenarioError` if nothing says so.
    """
    found = named(function)
    basis = _OF.get(found)
    if basis is None:
        hint = (
            "give it one, by which its results are kept: @spillway_studies.claims.basis.results(1)"
        )
        raise ScenarioError(f"{function} has no results number", hint)
    folder = Path(inspect.getfile(found)).parent
    told = {
        "simulator": {
            name: number for name, number in core.results().items() if name.startswith(basis.on)
        },
        "libraries": {name: version(name) for name in basis.libraries},
        "files": _digests(folder, basis.files),
    }
    return {"function": function, "results": basis.results, **told}


@cache
def _digests(folder: Path, patterns: tuple[str, ...]) -> dict[str, str]:
    files = sorted(file for pattern in patterns for file in folder.glob(pattern))
    return {str(file.relative_to(folder)): digest(file) for file in files}
