"""Plug-ins from files, and copies of them and of their helper modules to load elsewhere."""

from __future__ import annotations

import importlib.util
import json
import operator
import sys
from collections.abc import Iterable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from spillway.base.arguments import all_of, meant
from spillway.base.errors import FileError, PluginError, ScenarioError
from spillway.plugins.base import Plugin
from spillway.plugins.content import OF_FILE, Module, checked, found, note, note_source, two_of

Plugins: TypeAlias = type[Plugin] | Iterable[type[Plugin]]
"""A class, or several."""
_LIST = "plugins.json"
"""The file that names the classes of a folder, each with its file."""


def plugins_of(given: Plugins) -> list[type[Plugin]]:
    """A list of the given classes, which are checked later."""
    if isinstance(given, type):
        return [given]
    return all_of(given, type, "plug-ins", "plug-in", "for one: plugins=[MyDt]")


def load(text: str) -> type[Plugin]:
    """The class that a text such as `my_dt.py:MyDt` names. A file is executed only once."""
    file, _, name = text.rpartition(":")
    if not file or not name.isidentifier():
        raise ScenarioError(
            f"{text!r} is not of the form FILE.py:CLASS", "for one: --plugin my_dt.py:MyDt"
        )
    path = Path(file)
    if not path.is_file():
        raise FileError(f"there is no file {file}", "--plugin takes FILE.py:CLASS")
    if path.suffix != ".py":
        raise FileError(f"{file} is no file of Python", "--plugin takes FILE.py:CLASS")
    module = executed(path)
    loaded: Any = getattr(module, name, None)
    if loaded is None:
        raise ScenarioError(
            f"there is no class {name} in {file}",
            meant(
                name,
                [each for each, value in vars(module).items() if isinstance(value, type)],
                "the class is named behind the colon",
            ),
        )
    return loaded  # type: ignore[no-any-return]


def executed(path: Path) -> ModuleType:
    """The module that a file makes, which is executed only once.

    As with `python FILE.py`, modules beside the file can be imported, then and later. Raises
    `ScenarioError` if another module has been imported under the name of one of these.
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


# Copies -------------------------------------------------------------------------------------------


def copies(plugins: Iterable[type[Plugin]]) -> dict[str, str]:
    """The texts of plug-ins' files, by names for the copies in one folder.

    A plug-in's own file is named by its id, a helper by its import name. Modules without a text are
    left out. Raises `ScenarioError` for two modules of one name.
    """
    return _copies({plugin: found(plugin) for plugin in plugins})[0]


def packed(plugins: Iterable[type[Plugin]], folder: Path) -> None:
    """Writes plug-ins into a folder, new or empty, from which `unpacked` loads them elsewhere.

    Raises `ScenarioError` for a plug-in that its files do not define: see `content.checked`.
    """
    made_of = {plugin: checked(plugin) for plugin in plugins}
    texts, own = _copies(made_of)
    listed = [[own[plugin], plugin.__qualname__] for plugin in made_of]
    for name, text in {**texts, _LIST: json.dumps(listed)}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def unpacked(folder: Path) -> list[type[Plugin]]:
    """The plug-ins of a folder that `packed` has written, in their order.

    Their helpers are imported from the folder, which must stay there while they run. Raises
    `ScenarioError` for any other folder, and if another module has been imported under a helper's
    name.
    """
    try:
        listed = json.loads((folder / _LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"there are no packed plug-ins in {folder}") from error
    return [operator.attrgetter(name)(executed(folder / file)) for file, name in listed]


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, or a similar one that is not taken, even if case does not matter.

    >>> unused("a.csv", []), unused("A.csv", ["a.csv", "A-2.csv"])
    ('a.csv', 'A-3.csv')
    """
    known = {each.casefold() for each in taken}
    stem, dot, ending = name.rpartition(".")
    number, new = 1, name
    while new.casefold() in known:
        number += 1
        new = f"{stem}-{number}{dot}{ending}" if dot else f"{name}-{number}"
    return new


def _copies(
    made_of: Mapping[type[Plugin], list[Module]],
) -> tuple[dict[str, str], dict[type[Plugin], str]]:
    """The texts by the copies' names, and the name of each plug-in's own."""
    helpers: dict[str, Module] = {}
    for first, *others in filter(None, made_of.values()):
        for module in [*others, first] if first.package else others:
            before = helpers.setdefault(module.name, module)
            if before.text != module.text:
                raise two_of(module.name, before.path, module.path)
    texts = {each.file: each.text for each in helpers.values() if each.text is not None}
    own: dict[type[Plugin], str] = {}
    for plugin, (first, *_) in ((plugin, each) for plugin, each in made_of.items() if each):
        if first.text is not None:
            own[plugin] = unused(f"{plugin.id}.py", {*texts, *_PYTHONS})
            texts[own[plugin]] = _imports(plugin, first) if first.package else first.text
    return texts, own


_PYTHONS = [f"{name}.py" for name in sys.stdlib_module_names]
"""Names under which a copy would be imported in the place of one of Python's modules."""


def _imports(plugin: type[Plugin], module: Module) -> str:
    """The text of a file that gets a class from its package, where relative imports work."""
    name = plugin.__qualname__.partition(".")[0]
    return f'"""The plug-in {plugin.id}."""\n\nfrom {module.name} import {name}\n'
