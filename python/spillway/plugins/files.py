"""Plug-ins from files."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from spillway.arguments import items
from spillway.errors import PluginError, ScenarioError
from spillway.plugins.base import Plugin

Plugins: TypeAlias = type[Plugin] | Iterable[type[Plugin]]
"""A class, or several."""


def plugins_of(given: Plugins) -> list[type[Plugin]]:
    """A list of the given classes, which are checked later."""
    if isinstance(given, type):
        return [given]
    hint = "for one: plugins=[MyDt]"
    found = list(items(given, "plug-ins", hint))
    for each in found:
        if not isinstance(each, type):
            raise ScenarioError(f"{each!r} is no plug-in", hint)
    return found


def load(text: str) -> type[Plugin]:
    """The class that a text such as `my_dt.py:MyDt` names. A file is executed only once."""
    file, _, name = text.rpartition(":")
    if not file or not name.isidentifier():
        hint = "for one: --plugin my_dt.py:MyDt"
        raise ScenarioError(f"{text!r} is not of the form FILE.py:CLASS", hint)
    path = Path(file)
    if not path.is_file():
        raise ScenarioError(f"there is no file {file}", "--plugin takes FILE.py:CLASS")
    if path.suffix != ".py":
        raise ScenarioError(f"{file} is no file of Python", "--plugin takes FILE.py:CLASS")
    module = _module(path)
    found: Any = getattr(module, name, None)
    if found is None:
        classes = [each for each, value in vars(module).items() if isinstance(value, type)]
        near = difflib.get_close_matches(name, classes, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "the class is named behind the colon"
        raise ScenarioError(f"there is no class {name} in {file}", hint)
    return found  # type: ignore[no-any-return]


def sources(plugins: Iterable[type[Plugin]]) -> Iterator[tuple[str, str]]:
    """The texts of the files that define plug-ins, each with a name for its copy."""
    for plugin in plugins:
        try:
            file = inspect.getsourcefile(plugin)
        except TypeError:
            continue
        if file is not None and Path(file).is_file():
            yield f"{plugin.id}.py", Path(file).read_text(encoding="utf-8")


def _module(path: Path) -> ModuleType:
    name = f"spillway.plugins.of_file.{path.resolve()}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise PluginError(f"{path} cannot be imported", str(path), "the file") from error
    return module
