"""Plug-ins from files."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from spillway.base.arguments import all_of, meant
from spillway.base.errors import PluginError, ScenarioError
from spillway.plugins.base import Plugin
from spillway.plugins.content import OF_FILE, note, note_source

Plugins: TypeAlias = type[Plugin] | Iterable[type[Plugin]]
"""A class, or several."""


def plugins_of(given: Plugins) -> list[type[Plugin]]:
    """A list of the given classes, which are checked later."""
    if isinstance(given, type):
        return [given]
    found: list[Any] = all_of(given, type, "plug-ins", "plug-in", "for one: plugins=[MyDt]")
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
    module = executed(path)
    found: Any = getattr(module, name, None)
    if found is None:
        classes = [each for each, value in vars(module).items() if isinstance(value, type)]
        hint = meant(name, classes, "the class is named behind the colon")
        raise ScenarioError(f"there is no class {name} in {file}", hint)
    return found  # type: ignore[no-any-return]


def executed(path: Path) -> ModuleType:
    """The module that a file makes, which is executed only once.

    As with `python FILE.py`, modules beside the file can be imported, then and later. If another
    module has been imported in the place of one of these, it is a `ScenarioError`.
    """
    whole = path.resolve()
    name = f"{OF_FILE}{whole}"
    if name not in sys.modules:
        if str(whole.parent) not in sys.path:
            sys.path.insert(0, str(whole.parent))
        _execute(name, path)
    note(name)
    return sys.modules[name]


def _execute(name: str, path: Path) -> None:
    loader = SourceFileLoader(name, str(path.absolute()))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # Files may have come just now.
    importlib.invalidate_caches()
    try:
        source = path.read_bytes()
        note_source(name, source)
        exec(loader.source_to_code(source, loader.path), vars(module))
    except BaseException as error:
        try:
            if isinstance(error, ImportError):
                note(name)
        finally:
            del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise PluginError(f"{path} cannot be imported", str(path), "the file") from error
