"""What a plug-in consists of: the file of its class, and the helper modules of the user's own.

Modules of Python, of Spillway and of installed packages are no part of it. A helper counts wherever
it is imported, also within a function that has not been called.
"""

from __future__ import annotations

import ast
import hashlib
import json
import pkgutil
import site
import symtable
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from spillway.base.errors import ScenarioError

OF_FILE = "spillway.plugins.of_file."
"""The beginning of the names of modules that `load` has made of files; the path follows."""


@dataclass(frozen=True)
class Module:
    """A module of the user's own."""

    name: str
    """The name by which it is imported; for a file that `load` has executed, the file's."""
    path: Path
    text: str | None
    """The source as it was imported, as far as that is known; `None` if it is not Python."""

    @property
    def is_package(self) -> bool:
        """Whether it may have modules of its own."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The package that contains it, or itself if it is a package; empty without any."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def file(self) -> str:
        """Where it belongs in a folder from which it can be imported."""
        place = self.name.replace(".", "/")
        return f"{place}/__init__.py" if self.is_package else f"{place}.py"


def modules(plugin: type[Any]) -> dict[str, Path]:
    """The files of a plug-in by their import names, first that of its class.

    Raises `ScenarioError` for a class without a file.
    """
    own = found(plugin)
    if not own:
        raise _not_kept(plugin, "it is in no file")
    return {module.name: module.path for module in own}


def content(plugin: type[Any]) -> str:
    """A digest of a plug-in's class and of all its files, wherever these lie.

    Raises `ScenarioError` for a plug-in that its files do not define completely: see `checked`.
    """
    first, *helpers = checked(plugin)
    texts = sorted((helper.name, helper.text) for helper in helpers)
    made_of = [plugin.__qualname__, first.text, texts]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def checked(plugin: type[Any]) -> list[Module]:
    """The modules of a plug-in that can be made again from their texts, first that of its class.

    Raises `ScenarioError` for others: a class in `__main__` or without a file, one that a function
    or `exec` has made, and one that differs from its files now.
    """
    own = found(plugin)
    if not own or plugin.__module__ == "__main__":
        raise _not_kept(plugin, "it is in no file that can be imported")
    if "<locals>" in plugin.__qualname__:
        raise _not_kept(plugin, "it is made in a function, on whose variables it may depend")
    for module in own:
        if module.text is None:
            raise _not_kept(
                plugin,
                f"{module.path} is no text of Python",
                "helper modules are files of Python in UTF-8",
            )
        if _read(module.path) != module.text:
            raise _not_kept(
                plugin,
                f"{module.path} has changed since it was imported",
                "start Python anew, so that the file is imported as it is now",
            )
    if not _defines(own[0], plugin.__qualname__.partition(".")[0]):
        raise _not_kept(plugin, f"it is not in the text of {own[0].path}")
    return own


def found(plugin: type[Any]) -> list[Module]:
    """The modules of any plug-in, first that of its class; none if the class is in no file.

    Raises `ScenarioError` if a helper beside the plug-in's file is passed over: another module of
    its name is imported instead.
    """
    first = _module(plugin.__module__)
    if first is None:
        return []
    top = first.name.partition(".")[0]
    bases = [_module(base.__module__) for base in plugin.__mro__[1:]]
    known = {base.name: base for base in bases if base and base.path != first.path}
    inherited = [base for base in known.values() if _is_own(base.path) or _within(base.name, top)]
    return [first, *_helpers(first, inherited, _folder(plugin.__module__))]


def note(name: str) -> None:
    """Keeps the texts of an imported module and of its helpers, before anybody changes the files.

    Raises `ScenarioError` if a helper beside the file is passed over: another module of its name is
    imported instead.
    """
    first = _module(name)
    if first is not None:
        _helpers(first, [], _folder(name))


def note_source(name: str, source: bytes) -> None:
    """Keeps the source that is about to be executed as this module."""
    _noted[name] = (sys.modules[name].__spec__, _decoded(source))


_noted: dict[str, tuple[ModuleSpec | None, str | None]] = {}
"""The texts of modules when they were first seen. A module that is loaded again has a new spec."""


def _module(name: str) -> Module | None:
    """A module that is imported, if it has a file and is not Spillway's."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    is_ours = _within(name, "spillway") and not name.startswith(OF_FILE)
    if module is None or file is None or is_ours:
        return None
    path = Path(file).resolve()
    return Module(path.stem if name.startswith(OF_FILE) else name, path, _text(name, path))


def _text(name: str, path: Path) -> str | None:
    """The text of a module when it was first seen; the file's, if it is not imported yet."""
    module = sys.modules.get(name)
    if module is None:
        return _read(path)
    spec = getattr(module, "__spec__", None)
    if name not in _noted or _noted[name][0] is not spec:
        _noted[name] = (spec, _read(path))
    return _noted[name][1]


def _read(path: Path) -> str | None:
    try:
        return _decoded(path.read_bytes()) if path.suffix == ".py" else None
    except OSError:
        return None


def _decoded(source: bytes) -> str | None:
    try:
        return source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


def _helpers(first: Module, bases: list[Module], folder: Path | None) -> list[Module]:
    """All that a module and its bases import, directly or not, and that is the user's own."""
    top = first.name.partition(".")[0]
    helpers = {base.name: base for base in bases}
    tried: set[str] = set(helpers)
    foreign: set[str] = set()
    queue = [first, *bases]
    while queue:
        module = queue.pop()
        for name in _imported(module):
            if name in tried or name.rpartition(".")[0] in foreign:
                continue
            tried.add(name)
            spec = _spec(name)
            if spec is None or not (spec.has_location or spec.submodule_search_locations):
                foreign.add(name)
            elif spec.origin is not None and spec.has_location:
                path = Path(spec.origin).resolve()
                _check_beside(name, path, folder)
                if _is_own(path) or (_within(name, top) and folder is None):
                    helpers[name] = Module(name, path, _text(name, path))
                    queue.append(helpers[name])
                else:
                    foreign.add(name)
    return list(helpers.values())


def _imported(module: Module) -> Iterator[str]:
    """The names of what a module imports, or may import, each after the packages it is in."""
    if module.package:
        yield from _above(module.package)
    for base, names in _imports(module.text or ""):
        dots = len(base) - len(base.lstrip("."))
        try:
            name = resolve_name(base, module.package) if dots else base
        except ImportError:
            continue
        yield from _above(name)
        for each in names:
            spec = _spec(name) if each == "*" else None
            if spec is not None:
                inside = pkgutil.iter_modules(spec.submodule_search_locations or ())
                yield from (f"{name}.{part.name}" for part in inside)
            elif each != "*":
                yield f"{name}.{each}"


@lru_cache(maxsize=1000)
def _imports(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What a text imports: modules, with dots if they are relative, and names from each."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    imports: list[tuple[str, tuple[str, ...]]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                imports += [(alias.name, ()) for alias in names]
            case ast.ImportFrom(module, names, level):
                base = "." * (level or 0) + (module or "")
                imports.append((base, tuple(alias.name for alias in names)))
            case ast.Call(
                ast.Name(name) | ast.Attribute(attr=name), [ast.Constant(str(module)), *_]
            ) if name in ("import_module", "__import__"):
                imports.append((module, ()))
    return tuple(imports)


def _above(name: str) -> Iterator[str]:
    """A module's name, after those of the packages in which it is."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is or would be imported from. Nothing is executed."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    above = name.rpartition(".")[0]
    places = None
    if above:
        spec = _spec(above)
        if spec is None or spec.submodule_search_locations is None:
            return None
        places = list(spec.submodule_search_locations)
    for finder in sys.meta_path:
        spec = finder.find_spec(name, places) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


def _folder(name: str) -> Path | None:
    """The folder of a file that `load` has executed, whose imports are meant to be found there."""
    return Path(name.removeprefix(OF_FILE)).parent if name.startswith(OF_FILE) else None


def _check_beside(name: str, path: Path, folder: Path | None) -> None:
    """Refuses a module that is imported from elsewhere, although there is another in the folder."""
    if folder is None or name.partition(".")[0] in sys.stdlib_module_names:
        return
    place = folder.joinpath(*name.split("."))
    for beside in (place / "__init__.py", place.with_name(f"{place.name}.py")):
        if beside.is_file():
            if beside.resolve() != path and _read(beside) != _text(name, path):
                raise two_of(name, path, beside)
            return


def two_of(name: str, first: Path, second: Path) -> ScenarioError:
    """The error that two modules have one name."""
    return ScenarioError(
        f"`import {name}` can only be one of {first} and {second}, which differ",
        "give one of them another name",
    )


def _is_own(path: Path) -> bool:
    """Whether a file is the user's: not Python's, not Spillway's, not an installed package's."""
    if not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        return False
    return not any(path.is_relative_to(place) for place in _places())


@cache
def _places() -> frozenset[Path]:
    """The folders of Python, of installed packages, and of Spillway."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    places: Iterable[str] = (*map(sysconfig.get_path, kinds), *site.getsitepackages())
    ours = Path(__file__).parent.parent
    return frozenset({*(Path(place).resolve() for place in places), ours.resolve()})


def _within(name: str, top: str) -> bool:
    return name == top or name.startswith(f"{top}.")


def _defines(module: Module, name: str) -> bool:
    """Whether a module's text gives something this name."""
    try:
        return (
            symtable.symtable(module.text or "", str(module.path), "exec")
            .lookup(name)
            .is_assigned()
        )
    except (KeyError, SyntaxError, ValueError):
        return False


_OF_ITS_OWN = "put the class at the top level of a file of its own"


def _not_kept(plugin: type[Any], why: str, hint: str = _OF_ITS_OWN) -> ScenarioError:
    text = f"the plug-in {plugin.__name__} cannot be known by its content: {why}"
    return ScenarioError(text, hint)
