"""What validations came to, as the repository keeps it: the numbers of their page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spillway.base import core
from spillway.base.errors import ScenarioError
from spillway.base.folder import whole_file
from spillway_studies.claims.point import build
from spillway_studies.claims.write import UnpublishedError, check_clone

HOME = Path(__file__).parent / "results"
COMMANDS = {
    name: f"spillway validate {name} FOLDER{options}"
    for name, options in {
        "credence": " --paths 8 --differences",
        "abm": " --differences --others",
        "aqm": "",
        "pfabric": "",
        "pias": " --paths 10 --differences",
        "rdma": " --differences",
        "linux": "",
        "occamy": "",
    }.items()
}
"""What is run of each reference, in the order of the page."""

_UNTOLD = {
    *("left_out", "wrong", "notes", "run", "counts", "unfinished", "empty"),
    *("packet_hops", "residual_ns", "reference_interval", "reference_interval_us"),
    *("aqm", "cc", "rtt_ms", "rate_mbps", "has_hystart", "seeds"),
}
"""The parts of documents that no table shows."""
_UNTOLD_OF = {
    "drawn": {"percentiles", "flow_by_flow", "uncontended", "flows_with_timeout"},
    "differences": {"uncontended", "flows_with_timeout"},
}
"""The parts of further runs that no table shows either."""
_DIGITS = 7


def check(name: str, *, paths: int, differences: bool, others: bool) -> None:
    """Refuses a validation that has not exactly what the page shows, or does not lie in a clone.

    Raises:
        ScenarioError: it has less, or more, or they do not.
    """
    check_clone()
    command = f"spillway validate {name} FOLDER" + f" --paths {paths}" * bool(paths)
    command += " --differences" * differences + " --others" * others
    if command != COMMANDS[name]:
        raise ScenarioError("--publish: the page shows other runs", f"{COMMANDS[name]} --publish")


def publish(name: str, document: Mapping[str, Any], cpu_s: float) -> Path:
    """Keeps what the page shows of a validation, which took so much CPU time."""
    made_by = {"version": core.__version__, "build": build(), "cpu_s": round(cpu_s, 1)}
    kept = {"command": COMMANDS[name], **made_by, **_kept(document, _UNTOLD)}
    lines = (f"{json.dumps(key)}: {_line(value)}" for key, value in kept.items())
    file = HOME / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    with whole_file(file) as partial:
        partial.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return file


def published(name: str) -> dict[str, Any]:
    """What is kept of a validation.

    Raises:
        UnpublishedError: nothing is.
    """
    try:
        text = (HOME / f"{name}.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = f"{COMMANDS[name]} --publish"
        raise UnpublishedError(f"no numbers of {name} are published", hint) from None
    found: dict[str, Any] = json.loads(text)
    return found


def _kept(value: Any, untold: set[str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _kept(
                _shortened(each) if key == "differences" else each,
                untold | _UNTOLD_OF.get(key, set()),
            )
            for key, each in value.items()
            if key not in untold
        }
    if isinstance(value, list | tuple):
        return [_kept(each, untold) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value


def _shortened(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Runs with changes; flow by flow only all flows together, which come first, are shown."""
    return {
        change: {**run, "flow_by_flow": run["flow_by_flow"][:1]} if "flow_by_flow" in run else run
        for change, run in changes.items()
    }


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
