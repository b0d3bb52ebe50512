"""Runs the arenas of the page, and keeps what it tells of them.

    python -m spillway_studies.arena.run FOLDER

The same command goes on after an interruption. `results` gets the summary of each arena, and a row
for every run.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import spillway
from spillway.base.documents import write_json
from spillway.base.folder import whole_file
from spillway.contest.arena import Arena
from spillway.contest.factors import KEYS, OWN
from spillway_studies.claims.series import keep, parser_of

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


def keep_all(name: str, found: Arena) -> None:
    """Keeps what the page tells of an arena."""
    names = ["scenario", "context", *KEYS, "seed", *NUMBERS]
    runs = found.runs.select([each for each in names if each in found.runs.column_names])
    keep(runs, KEPT / f"{name}.parquet")
    with whole_file(KEPT / f"{name}.json") as partial:
        write_json(partial, found.summary)


def main() -> None:
    """Runs what is asked for."""
    parser = parser_of(__doc__, "arena", ARENAS)
    parser.add_argument("--packets", type=int, help="of each scenario, for a trial")
    asked = parser.parse_args()
    trial = {} if asked.packets is None else {"packets": asked.packets}
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.names or ARENAS:
        found = spillway.arena(
            **{**ARENAS[name], **trial},
            out=asked.folder / name,
            jobs=asked.jobs,
            say=lambda line: sys.stderr.write(f"{line}\n"),
        )
        keep_all(name, found)
        sys.stderr.write(f"{found.answer}\n")


if __name__ == "__main__":
    main()
