"""Stands for the command of a worker: computes what is left, each task by a sleep.

    worker.py DIR [--jobs N] [--only FILE]

DIR/manifest.json holds the number of tasks, their seconds, and how large a task's file is in bytes.
"""

import argparse
import json
import secrets
import sys
import time
from pathlib import Path
from typing import NamedTuple

from spillway.folder import whole_file
from spillway.interrupts import ends_as_ctrl_c
from spillway.tasks.run import run
from spillway.tasks.store import Store

MANIFEST = "manifest.json"


class Call(NamedTuple):
    key: str
    label: str
    cost: float | None = None


def left(folder: Path) -> list[str]:
    """The keys that have no result."""
    store = Store(folder / "results")
    store.refresh()
    tasks = json.loads((folder / MANIFEST).read_text())["tasks"]
    return [f"k{number}" for number in range(tasks) if not store.has(f"k{number}")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=Path)
    given = parser.parse_args()
    manifest = json.loads((given.folder / MANIFEST).read_text())
    if manifest.get("refuse"):
        print(f"error: {manifest['refuse']}", file=sys.stderr)
        return 2
    keys = [f"k{number}" for number in range(manifest["tasks"])]
    if given.only:
        keys = given.only.read_text().split()
    store = Store(given.folder / "results")

    def compute(task, report):
        for _ in range(10):
            time.sleep(manifest["seconds"] / 10)
            report(None)
        place = given.folder / "runs" / task.key
        place.mkdir(parents=True, exist_ok=True)
        with whole_file(place / "table") as partial:
            partial.write_bytes(task.key.encode() * (manifest.get("bytes", 10) // 2))
        store.put(task.key, {"by": secrets.token_hex(4)}, lambda file: file.write_text(task.key))
        print(task.key, flush=True)
        return True

    try:
        is_done = run([Call(key, key) for key in keys], store, compute, jobs=given.jobs)
    finally:
        store.close()
    return 0 if is_done else 130


if __name__ == "__main__":
    ends_as_ctrl_c()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
