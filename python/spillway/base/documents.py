"""The documents in a folder of results: a summary, a scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spillway.base import checksums
from spillway.base.errors import FileError
from spillway.base.folder import INPUTS, SCENARIO, SUMMARY, check_plain


def documents(folder: Path) -> tuple[dict[str, Any], str | None]:
    """The summary in a folder of results, and its scenario if it has one, as they were written."""
    check_plain(folder / SUMMARY)
    text, hint = (folder / SUMMARY).read_bytes(), "is it a result?"
    has_scenario = (folder / SCENARIO).is_file()
    checksums.check(folder, SUMMARY, f"{INPUTS}/", *([SCENARIO] if has_scenario else []))
    try:
        summary = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{folder / SUMMARY} cannot be read: {error}", hint) from error
    if not isinstance(summary, dict):
        raise FileError(f"{folder / SUMMARY} is no result's summary", hint)
    return summary, read_text(folder / SCENARIO) if has_scenario else None


def read_text(file: Path) -> str:
    """The text of a file."""
    check_plain(file)
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise FileError(f"{file} cannot be read: {error}") from error


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Writes a document for people and programs."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
