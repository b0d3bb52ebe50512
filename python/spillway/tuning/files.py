"""The folder of a study: in use by one process at a time, and a result only when it is complete."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from spillway.base import checksums
from spillway.base.documents import write_json
from spillway.base.errors import FileError, ScenarioError
from spillway.base.folder import (
    INPUTS,
    MARK,
    SCENARIO,
    SUMMARY,
    check_folder,
    locked,
    path_of,
    whole_file,
)
from spillway.run.run import read_with_inputs
from spillway.scenario.scenario import Scenario
from spillway.tuning.runs import FOLDER as RUNS
from spillway.tuning.storage import FILE

QUESTION = "study.json"
"""The file with the study's question: the same question continues it, others are refused."""
PAGE, TRIALS, BEST, FRONT = "index.html", "trials.csv", "best", "front"
_OURS = (SUMMARY, PAGE, TRIALS, BEST, FRONT, checksums.FILE)
"""What is written when a study is complete. The summary is removed first, and written last."""


_WINNER = re.compile(rf"({BEST}|{FRONT}/trial-\d+)/({SCENARIO}|{INPUTS}/.*)")


class StudyFolder:
    """A context in which a folder is this process's.

    A mark says that it is incomplete until `complete` is called. Without that call it leaves a
    study that can go on.
    """

    def __init__(self, place: str | Path, question: Mapping[str, Any], force: bool = False) -> None:
        self.place = path_of(place)
        self._question = dict(question)
        self._force = force
        self._lock = -1
        self._is_new = False
        self._is_whole = False
        """Whether the study was complete already."""
        self.summary: dict[str, Any] | None = None
        """The summary of the study, if it was complete."""
        self.has_begun = False
        """Whether there is something to go on from. A new folder without that is removed again."""

    def __enter__(self) -> Self:
        self._check()
        self._is_new = not self.place.exists()
        is_complete = not (self.place / MARK).exists()
        try:
            self.place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.place} cannot be made: {error}") from error
        try:
            self._lock = locked(self.place / MARK)
        except OSError as error:
            if self._is_new:
                shutil.rmtree(self.place, ignore_errors=True)
            raise FileError(
                f"{self.place} cannot be written to: {error.strerror}", "is there room on the disk?"
            ) from error
        try:
            try:
                if self._force:
                    self._empty()
                self._compare()
            except ScenarioError:
                if is_complete:
                    self.stay()
                raise
            if is_complete and (self.place / SUMMARY).exists():
                checksums.check(self.place, SUMMARY)
                self.summary = read_document(self.place / SUMMARY)
                self._is_whole = True
        except BaseException:
            self._release(self._is_new)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._is_whole:
            self.stay()
        self._release(kind is not None and self._is_new and not self.has_begun)

    def stay(self) -> None:
        """Takes the mark away again from a study that is complete already."""
        self._is_whole = False
        (self.place / MARK).unlink()

    def complete(
        self,
        summary: Mapping[str, Any],
        page: bytes,
        best: Mapping[str, Scenario],
    ) -> None:
        """Writes the results of the study, and takes the mark away.

        `best` are the best scenarios by their folders' names.
        """
        self.clear()
        for name, scenario in best.items():
            folder = self.place / name
            folder.mkdir(parents=True)
            inputs = read_with_inputs(scenario)[1]
            inputs.write(folder)
            (folder / SCENARIO).write_text(inputs.scenario, encoding="utf-8")
        write_trials(self.place / TRIALS, summary)
        (self.place / PAGE).write_bytes(page)
        write_document(self.place / SUMMARY, summary)
        checksums.write(self.place, but=MARK)
        (self.place / MARK).unlink()

    def clear(self) -> None:
        """Removes what an earlier end of the study has written, and nothing else."""
        foreign = self._foreign()
        if foreign is not None:
            raise ScenarioError(
                f"{foreign} is not what a study has written",
                "move it away: the best scenario's folder is written anew",
            )
        self._is_whole = False
        for name in _OURS:
            path = self.place / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _check(self) -> None:
        if self.place.name in ("", ".."):
            raise FileError(
                f"{self.place} is not a folder to write to",
                "name a folder for the study",
                typed="--out takes the name of a folder for the study",
            )
        check_folder(self.place)
        names = {path.name for path in self.place.iterdir()} if self.place.is_dir() else set()
        if QUESTION not in names and not names <= {MARK}:
            raise ScenarioError(
                f"{self.place} is there already, and no study", "choose another place"
            )

    def _foreign(self) -> Path | None:
        """A file among the best scenarios that no study has written, or that has changed since."""
        has_list = (self.place / checksums.FILE).is_file()
        files = [file for name in (BEST, FRONT) for file in sorted((self.place / name).rglob("*"))]
        for file in files:
            name = file.relative_to(self.place).as_posix()
            if file.is_dir():
                continue
            if not has_list:
                if _WINNER.fullmatch(name) is None:
                    return file
                continue
            try:
                checksums.check(self.place, name)
            except ScenarioError:
                return file
        return None

    def _empty(self) -> None:
        self.clear()
        for name in (FILE, f"{FILE}-journal", QUESTION):
            (self.place / name).unlink(missing_ok=True)
        shutil.rmtree(self.place / RUNS, ignore_errors=True)

    def _compare(self) -> None:
        """Goes on with the same question, and refuses another one."""
        file = self.place / QUESTION
        if not file.exists():
            write_document(file, self._question)
        before = read_document(file)
        for key in dict.fromkeys((*self._question, *before)):
            if before.get(key) != self._question.get(key):
                changed = (
                    f"{key} is {_shown(self._question.get(key))}, and was {_shown(before.get(key))}"
                )
                if key == "scenario":
                    changed = "the scenario, what is set in it, or a file of it has changed"
                raise ScenarioError(
                    f"{self.place} holds another study: {changed}",
                    "choose another place, or begin anew with force=True",
                    typed="choose another place with --out, or begin anew with --force",
                )

    def _release(self, is_removed: bool) -> None:
        os.close(self._lock)
        if is_removed:
            shutil.rmtree(self.place, ignore_errors=True)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_document(file: Path) -> dict[str, Any]:
    """A document that was written here."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{file} cannot be read: {error}", "is it a study's?") from error
    if not isinstance(found, dict):
        raise FileError(f"{file} is no study's")
    return found


def write_document(file: Path, document: Mapping[str, Any]) -> None:
    """Writes a document, all of it or nothing."""
    with whole_file(file) as partial:
        write_json(partial, document)


def write_trials(file: Path, summary: Mapping[str, Any]) -> None:
    """Writes a row for every trial: its number, state, values and results."""
    keys = [each["key"] for each in summary["over"]]
    goals = [each["text"] for each in summary["goals"]]
    constraints = [each["text"] for each in summary["constraints"]]
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        heads = (*keys, *goals, *(f"violation of {text}" for text in constraints))
        writer.writerow(["trial", "state", "percent", "cpu_s", *heads, "why"])
        for trial in summary["trials"]:
            writer.writerow(
                [
                    trial["trial"],
                    trial["state"],
                    trial["percent"],
                    trial["cpu_s"],
                    *(trial["set"].get(key, "") for key in keys),
                    *(trial["values"] or [""] * len(goals)),
                    *(trial["violations"].get(text, "") for text in constraints),
                    trial["why"],
                ]
            )
