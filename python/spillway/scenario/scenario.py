"""Scenarios: from a file, a result's folder, a bundled name, TOML text or a dict."""

from __future__ import annotations

import copy
import difflib
import json
import os
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from spillway.base import checksums, core
from spillway.base.arguments import Assignments, assignments_of, check_text
from spillway.base.errors import FileError, ScenarioError, ScenarioWarning, SpillwayError
from spillway.base.folder import INPUTS, SCENARIO, SUMMARY, path_of
from spillway.plugins import Plugins, plugins_of
from spillway.plugins.base import Plugin
from spillway.plugins.description import Description, check_named, describe_all

Source: TypeAlias = "str | Path | Mapping[str, Any] | Scenario"


_LONGEST_LINE = 120
"""The most letters of a scenario that is described in a line."""

_MOST_COUNTED = 10_000
"""The most flows counted in each traffic section for a notebook, which must not wait."""

_WHOLE = "`spillway show leaf-spine-128` shows a whole scenario, every key written out"


class Scenario:
    """A description of a run, as it was given. Its values are checked when it is read.

    Args:
        given: TOML text, a dict, or anything that `load` accepts.
        folder: Where files that it names are; by default the folder of the file that was loaded,
            and otherwise the current one.
        assignments: `key=value` texts or mappings of keys to values, of which None unsets the key.
            They are applied in order.
        plugins: Classes that the scenario names by their ids.

    Raises:
        ScenarioError: There is no such scenario, it cannot be read, or an argument is of another
            kind.
    """

    def __init__(
        self,
        given: str | Path | Mapping[str, Any],
        folder: str | Path | None = None,
        assignments: Assignments = (),
        plugins: Plugins = (),
    ) -> None:
        self.given: str | Mapping[str, Any]
        self._file: Path | None = None
        if isinstance(given, Mapping):
            self.given, own = given, Path()
        elif isinstance(given, str) and _is_toml(given):
            check_text(given)
            self.given, own = given, Path()
        else:
            self.given, own, self._file = _loaded(given)
        self.folder = own if folder is None else path_of(folder)
        self.assignments = tuple(assignments_of(assignments))
        self.plugins = tuple(plugins_of(plugins))
        self._may_lack: frozenset[str] = frozenset()

    @classmethod
    def load(cls, source: str | Path) -> Scenario:
        """Loads a scenario.

        Args:
            source: A scenario file, a result's folder, or the name of a bundled scenario.

        Raises:
            ScenarioError: There is none, or it cannot be read.
        """
        text, folder, file = _loaded(source)
        return cls({}, folder)._but(given=text, _file=file)

    @classmethod
    def of(cls, source: Source) -> Scenario:
        """A scenario from anything that describes one.

        Args:
            source: A `Scenario`, which is returned as it is, or what a new one may be given.

        Raises:
            ScenarioError: There is no such scenario, or it cannot be read.
        """
        return source if isinstance(source, Scenario) else cls(source)

    def set(self, *assignments: str | Mapping[str, Any]) -> Scenario:
        """This scenario with more assignments.

        Args:
            *assignments: `key=value` texts, or mappings of keys to values, of which None unsets the
                key.

        Raises:
            ScenarioError: One of them is neither. Keys and values are checked when it is read.
        """
        return self._but(assignments=(*self.assignments, *assignments_of(assignments)))

    def may_lack(self, assignments: Iterable[str]) -> Scenario:
        """This scenario, which does not warn if one of these assignments unsets a missing key.

        Args:
            assignments: Texts such as `stop=`, the same as those given to `set`.
        """
        return self._but(_may_lack=self._may_lack.union(assignments))

    def plug(self, *plugins: type[Plugin]) -> Scenario:
        """This scenario with more plug-ins.

        Args:
            *plugins: Classes. They are checked when it is read.
        """
        return self._but(plugins=(*self.plugins, *plugins))

    def with_named_plugins(self) -> Scenario:
        """This scenario with only those plug-ins that it names."""
        if not self.plugins:
            return self
        return self._but(plugins=tuple(description.plugin for description in self._read()[1]))

    def _but(self, **changes: Any) -> Scenario:
        """A copy with other attributes."""
        other = copy.copy(self)
        vars(other).update(changes)
        return other

    def read(self) -> core.Scenario:
        """Checks it and fills in all defaults. Possible mistakes become warnings.

        Raises:
            ScenarioError: It is not valid, or does not name one of its plug-ins.
            PluginError: A plug-in has failed.
        """
        read, named = self._read()
        check_named(describe_all(self.plugins), named)
        for text in read.warnings:
            warnings.warn(text, ScenarioWarning, stacklevel=2)
        return read

    def checked(self) -> core.Scenario:
        """The same without warnings. Plug-ins need not be named."""
        return self._read()[0]

    def _read(self) -> tuple[core.Scenario, list[Description]]:
        """The scenario as read, and the plug-ins that it names."""
        plugins = describe_all(self.plugins)

        def load(
            key: str, name: str, most: int, memory: int, numbers: list[str] | None = None
        ) -> dict[str, Any] | list[Any] | None:
            from spillway.scenario import flow_list

            try:
                if numbers is not None:
                    return flow_list.numbers(self.folder, name, numbers, memory)
                return flow_list.load(self.folder, name, most, memory)
            except ScenarioError as error:
                raise ScenarioError(f"{key}: {error}", error.hint, key, error.kind) from error

        def records(
            kind: str, key: str, name: str, switches: list[str], memory: int
        ) -> tuple[str, bytes]:
            from spillway.scenario import fates

            table, read = {
                "fates": (fates.FILE, fates.fates),
                "history": (fates.HISTORY, fates.learned),
            }[kind]
            file = Path(name, table) if (self.folder / name).is_dir() else Path(name)
            try:
                return str(file), read(self.folder / file, switches, memory)
            except ScenarioError as error:
                raise ScenarioError(f"{key}: {error}", error.hint, key, error.kind) from error

        try:
            file = None if self._file is None else str(self._file)
            given = (self.given, self.folder, self.assignments)
            read = core.Scenario(*given, load, records, plugins, file, list(self._may_lack))
        except ScenarioError as error:
            if not error.path and error.hint is None:
                error.hint = _WHOLE
            kept = self._kept_plugin(error)
            if kept is not None:
                copy = "it was a plug-in, of which there is a copy:"
                error.hint = f'{copy} plugins=spillway.plugins.load("{kept}:CLASS")'
                error.typed = f"{copy} --plugin {kept}:CLASS"
            raise
        except UnicodeEncodeError as error:
            raise ScenarioError(
                f"{error.object!r} is no text: it has half a character in it", _WHOLE
            ) from error
        return read, [plugins[place] for place in read.named_plugins]

    def _kept_plugin(self, error: ScenarioError) -> Path | None:
        """A result's copy of a plug-in, if the error is about its name."""
        if error.kind != "wrong-value":
            return None
        names = [self._given_at(error.path), self._given_at(f"{error.path}.kind")]
        copies = sorted((self.folder / INPUTS).glob("*.py"))
        return next((file for file in copies if file.stem in names), None)

    def _given_at(self, path: str) -> object:
        """What is given for a key, before defaults."""
        assigned = [text.partition("=") for text in self.assignments]
        found = [value for key, _, value in assigned if key == path]
        if found:
            return found[-1].strip("\"'")
        try:
            at: Any = tomllib.loads(self.given) if isinstance(self.given, str) else self.given
        except tomllib.TOMLDecodeError:
            return None
        for step in path.split("."):
            at = at.get(step) if isinstance(at, Mapping) else None
        return at

    @property
    def resolved(self) -> dict[str, Any]:
        """All values, including defaults."""
        return tomllib.loads(self.read().resolved)

    @property
    def facts(self) -> dict[str, Any]:
        """Facts that follow from it: topology, buffers, delays, traffic."""
        return facts(self.read())

    def described(self) -> str:
        """What it was made from, in one line, without reading it."""
        name = _name_in(self.given)
        parts = [repr(name) if isinstance(name, str) else "without a name"]
        if self._file is not None:
            parts.append(f"from {str(self._file)!r}")
        if self.assignments:
            parts.append(f"with {', '.join(map(_printable, self.assignments))}")
        if self.plugins:
            parts.append(f"and the plug-ins {', '.join(each.__name__ for each in self.plugins)}")
        return f"Scenario {' '.join(parts)}"

    def __repr__(self) -> str:
        text = self.described()
        return f"<{text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + '...'}>"

    def _repr_html_(self) -> str:
        from rich.text import Text

        from spillway.scenario import tables
        from spillway.show import notebook

        try:
            shown = tables.facts(facts(self.checked(), _MOST_COUNTED))
        except SpillwayError as error:
            hint = "" if error.hint is None else f" ({error.hint})"
            shown = Text(f"it cannot be read: {error}{hint}")
        return notebook.page(Text(self.described()), shown)


def _name_in(given: str | Mapping[str, Any]) -> object:
    """The scenario's name before any assignment."""
    if isinstance(given, Mapping):
        return given.get("name")
    try:
        return tomllib.loads(given).get("name")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _printable(text: str) -> str:
    """A text, quoted if it has characters that cannot be printed."""
    return text if text.isprintable() else repr(text)


def facts(read: core.Scenario, most_flows: int = 1_000_000) -> dict[str, Any]:
    """Facts that follow from a scenario, counting at most `most_flows` flows."""
    return dict(json.loads(read.facts(most_flows)))


def _is_toml(text: str) -> bool:
    """Whether a text is a scenario, and not the name of one or of a file."""
    if "\n" in text or "=" not in text:
        return "\n" in text
    try:
        return bool(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return False
    except RecursionError:
        # TOML nested too deeply; its reader says so.
        return True


def _loaded(source: object) -> tuple[str, Path, Path | None]:
    """The text of a scenario, the folder of its files, and the file that it comes from, if any."""
    if not isinstance(source, (str, os.PathLike)):
        raise ScenarioError(
            f"{source!r} is no scenario", "a file, a name, TOML text, a dict or a Scenario is one"
        )
    path = path_of(source)
    try:
        path.is_file()
    except OSError as error:
        raise FileError(f"{str(source)[:100]} cannot be read: {error.strerror}") from error
    if path.is_dir() and (path / SCENARIO).is_file():
        if (path / SUMMARY).is_file():
            checksums.check(path, SCENARIO, f"{INPUTS}/")
        path = path / SCENARIO
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8"), path.parent, path
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{path} cannot be read: {error}") from error
    names = dict(core.bundled())
    if str(source) in names:
        return names[str(source)], Path(), None
    raise _not_found(str(source), path, list(names))


def _not_found(source: str, path: Path, names: list[str]) -> FileError:
    hint = "`spillway list scenarios` names the bundled ones"
    if path.is_dir():
        runs = sorted(path.glob(f"**/{SCENARIO}"))
        if runs:
            hint = f"it has results in it: {runs[0].parent}, for one"
        return FileError(f"{source} is a folder without a {SCENARIO}", hint)
    near = difflib.get_close_matches(path.stem, names, n=1)
    if near:
        hint = f"did you mean `{near[0]}`, a bundled scenario?"
    return FileError(f"there is no scenario {source}", hint)
