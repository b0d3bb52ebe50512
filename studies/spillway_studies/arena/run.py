"""Runs the arenas of the page, and keeps what it tells of them.

    python -m spillway_studies.arena.run FOLDER

The same command goes on after an interruption. `results` gets the summary of each arena, and a row
for every run.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import spillway
from spillway.base.documents import write_json
from spillway.base.folder import whole_file
from spillway.contest.arena import Arena
from spillway.contest.factors import KEYS, OWN

KEPT = Path(__file__).resolve().parent / "results"
ARENAS: Mapping[str, Mapping[str, Any]] = {
    "published": {
        "factors": {
            "aqm": f"{OWN},none,ecn,pred,codel",
            **dict.fromkeys(("levels", "transport", "recovery"), OWN),
        },
        "runs": "all",
        "packets": 1_000_000,
    },
    "anything": {"packets": 100_000, "seeds": "1..2"},
}
"""What each arena is asked, beside the defaults of `spillway.arena`."""
NUMBERS = ("rank.all.p99", "timeouts", "without_timeout.all.mean", "goodput_gbps.all", "run.cpu_s")
"""The numbers of a run that are kept."""


def keep(name: str, found: Arena) -> None:
    """Keeps what the page tells of an arena."""
    names = ["scenario", "context", *KEYS, "seed", *NUMBERS]
    runs = found.runs.select([each for each in names if each in found.runs.column_names])
    single = [
        field.with_type(pa.float32()) if pa.types.is_floating(field.type) else field
        for field in runs.schema
    ]
    KEPT.mkdir(exist_ok=True)
    with whole_file(KEPT / f"{name}.parquet") as partial:
        pq.write_table(runs.cast(pa.schema(single)), partial, compression="zstd")
    with whole_file(KEPT / f"{name}.json") as partial:
        write_json(partial, found.summary)


def main() -> None:
    """Runs what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("arenas", nargs="*", metavar="ARENA", help=", ".join(ARENAS))
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--packets", type=int, help="of each scenario, for a trial")
    asked = parser.parse_args()
    for name in asked.arenas:
        if name not in ARENAS:
            parser.error(f"there is no arena {name!r}; valid here: {', '.join(ARENAS)}")
    trial = {} if asked.packets is None else {"packets": asked.packets}
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.arenas or ARENAS:
        found = spillway.arena(
            **{**ARENAS[name], **trial},
            out=asked.folder / name,
            jobs=asked.jobs,
            say=lambda line: sys.stderr.write(f"{line}\n"),
        )
        keep(name, found)
        sys.stderr.write(f"{found.answer}\n")


if __name__ == "__main__":
    main()
