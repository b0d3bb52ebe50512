"""What the tables of tuned policies are made of: results/NETWORK/POLICY.json.

Credence's network was tuned before they were kept.

A search and its runs take minutes to an hour of processor time for a policy, so what has come of
them is kept here, in short: the question, the range and the best value of every key, and the
numbers of the runs on new seeds, in the order of their seeds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from spillway_studies.claims.side_by_side import Json, Row

FOLDER = Path(__file__).resolve().parent / "results"
_OF_CLASS = ("count", "mean", "p50", "p99", "with_timeout")
_OF_RUN = ("seed", "goodput_gbps.all", "run.cpu_s")


def file_name(text: str) -> str:
    """A policy's name as that of a file.

    >>> file_name("abm, as in its program")
    'abm-as-in-its-program'
    """
    return re.sub(r"\W+", "-", text)


def file_of(network: str, policy: str) -> Path:
    """Where the numbers of a policy are."""
    return FOLDER / network / f"{file_name(policy)}.json"


def keep(
    network: str,
    policy: str,
    asked: Json,
    study: Json,
    runs: Mapping[str, Sequence[Row]],
    classes: Iterable[str],
) -> None:
    """Keeps what has come of a policy: the summary of its search, and its runs, by how it ran."""
    best = [each["trial"] for each in study["winners"]]
    columns = [*_OF_RUN]
    columns += [f"fct_slowdown.{of}.{key}" for of in (*classes, "all") for key in _OF_CLASS]
    short = {
        "policy": policy,
        "asked": asked,
        "study": {
            "version": study["version"],
            "cpu_s": study["cpu_s"],
            "over": [
                {key: each[key] for key in ("key", "low", "high", "log")} for each in study["over"]
            ],
            "winners": [{key: each[key] for key in ("trial", "set")} for each in study["winners"]],
            "trials": [
                {key: each[key] for key in ("trial", "numbers")}
                for each in study["trials"]
                if each["trial"] in best
            ],
        },
        "runs": {
            how: {column: [row[column] for row in rows] for column in columns}
            for how, rows in runs.items()
        },
    }
    file = file_of(network, policy)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_written(short, 0) + "\n", encoding="utf-8")


def kept(network: str, policy: str, asked: Json) -> tuple[Json, dict[str, list[Row]]] | None:
    """The search and the runs of a policy; None where there are none that answer this question."""
    file = file_of(network, policy)
    if not file.exists():
        return None
    found = json.loads(file.read_text(encoding="utf-8"))
    if found["asked"] != json.loads(json.dumps(asked)):
        return None
    runs: dict[str, list[Row]] = {
        how: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        for how, columns in found["runs"].items()
    }
    return found["study"], runs


def _written(value: object, depth: int) -> str:
    """JSON with a line for every list of numbers."""
    if isinstance(value, dict) and value:
        inner = " " * (depth + 1)
        lines = [
            f"{inner}{json.dumps(key)}: {_written(own, depth + 1)}" for key, own in value.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"
    return json.dumps(value)
