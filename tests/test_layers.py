"""Imports within functions: only what would make the start slow waits until it is needed.

The order of rooms is held by import-linter, which counts these imports, too.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LATE = {
    "gymnasium": "an extra",
    "jinja2": "30 ms, for pages",
    "matplotlib": "200 ms, for plots",
    "numpy": "60 ms",
    "optuna": "300 ms, for studies",
    "polars": "the user's own, if it is there",
    "pyarrow": "40 ms, for tables",
    "ray": "an extra",
    "rich": "50 ms, for tables on a terminal",
    "scipy": "100 ms, for statistics",
    "sklearn": "500 ms, for training and one hash",
    "stable_baselines3": "an extra",
    "threadpoolctl": "asks all libraries that are loaded by then",
    "torch": "an extra",
}
"""What may be imported within functions, and why: how long it takes, or that it may be missing."""
CALLS = {
    "spillway": {"importlib.import_module"},
    "spillway_studies.claims.basis": {"importlib.import_module"},
}
"""The modules that import what only its name tells, with the call."""
EARLY = {"spillway.__main__": "Ctrl-C must be caught while the rest is imported"}


def modules() -> dict[str, ast.Module]:
    found = {}
    for place in (ROOT / "python", ROOT / "studies"):
        for file in place.glob("spillway*/**/*.py"):
            if "tests" not in file.parts:
                name = ".".join(file.relative_to(place).with_suffix("").parts)
                found[name.removesuffix(".__init__")] = ast.parse(file.read_text("utf-8"))
    return found


MODULES = modules()


def imports(node: ast.AST, is_late: bool = False) -> Iterator[tuple[str, bool]]:
    """The names that are imported, and whether within a function; none for types alone."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING":
            continue
        if isinstance(each, ast.Import):
            yield from ((alias.name, is_late) for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            for alias in each.names:
                full = f"{each.module}.{alias.name}"
                yield (full if full in MODULES else str(each.module)), is_late
        is_function = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(each, is_late or is_function)


def target(name: str) -> str:
    """The module of ours, or the library, that a name is of."""
    if not name.startswith("spillway"):
        return name.partition(".")[0]
    while name not in MODULES:
        name = name.rpartition(".")[0]
    return name


IMPORTS = {
    name: [(target(each), is_late) for each, is_late in imports(tree) if each != "spillway._core"]
    for name, tree in MODULES.items()
}


def loaded(name: str) -> set[str]:
    """What an import of a module loads."""
    seen: set[str] = set()
    left = [name]
    while left:
        each = left.pop()
        if each not in seen:
            seen.add(each)
            left += [other for other, is_late in IMPORTS.get(each, ()) if not is_late]
            left += [each.rpartition(".")[0]] if each in MODULES and "." in each else []
    return seen


@pytest.mark.parametrize("name", sorted(MODULES))
def test_only_what_is_slow_is_imported_within_functions(name):
    own = loaded(name)
    for other, is_late in IMPORTS[name]:
        if not is_late or name in EARLY:
            continue
        if other in MODULES:
            # Of a command only those who call it load the rooms.
            waits = LATE.keys() & (loaded(other) - own)
            assert ".cli." in name or waits, f"{other} can be imported at the head"
        else:
            assert other in LATE, f"{other} waits for no reason that is named"
            assert other not in own, f"{other} is there already"


@pytest.mark.parametrize("name", sorted(MODULES.keys() - {"spillway.base.core"}))
def test_one_module_alone_imports_the_compiled_core(name):
    """The linter does not know what is compiled."""
    named = [each for each in ast.walk(MODULES[name]) if isinstance(each, ast.ImportFrom)]
    assert not [each for each in named if each.module == "spillway._core"]
    assert not [alias for each in named for alias in each.names if alias.name == "_core"]
    plain = [each for each in ast.walk(MODULES[name]) if isinstance(each, ast.Import)]
    assert "spillway._core" not in {alias.name for each in plain for alias in each.names}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_are_statements_that_tools_see(name):
    calls = [node for node in ast.walk(MODULES[name]) if isinstance(node, ast.Call)]
    called = {ast.unparse(call.func) for call in calls}
    may = CALLS.get(name, set())
    assert called & {"__import__", "import_module", "importlib.import_module"} == may


def test_the_names_are_found():
    assert target("spillway.base.core.Scenario") == "spillway.base.core"
    assert "pyarrow" in loaded("spillway.base.arrow")
    assert {"numpy", "pyarrow", "matplotlib"}.isdisjoint(loaded("spillway"))
    assert not LATE.keys() & set(sys.stdlib_module_names)
