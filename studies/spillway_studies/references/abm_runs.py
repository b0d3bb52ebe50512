"""The runs of ABM's program as scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from spillway.base import parquet
from spillway.scenario.scenario import Scenario


@dataclass(frozen=True)
class Experiment:
    """One of the reference's runs."""

    transport: str
    load: str
    transport_keys: dict[str, Any]
    """What differs from that section of the scenario `abm`; a key with None is removed."""
    settings: tuple[str, ...]
    """Other assignments to the scenario."""
    differences: tuple[str, ...] = ()
    """Changes that are made one at a time, besides those common to all runs."""


DCTCP = Experiment(
    "dctcp",
    "load0.4-burst0.5",
    {},
    (),
    (
        "transport.loss_cut=alpha",
        "transport.loss_cut=alpha, transport.min_window=1B",
        "transport.alpha0=0.0",
        "transport.min_window=2pkt",
        "switch.aqm.threshold=65pkt",
    ),
)
CUBIC = Experiment(
    "cubic",
    "load0.4-burst0.3",
    {
        "kind": "cubic",
        "g": None,
        "alpha0": None,
        "share_of": None,
        "loss_cut": None,
        "tcp_friendly": False,
        "hystart": "ns3",
    },
    ("switch.aqm=none",),
    (
        "transport.hystart=exact",
        "transport.hystart=none",
        "transport.tcp_friendly=true",
        "transport.fast_convergence=false",
    ),
)


def replay(experiment: Experiment, listed: pa.Table, file: Path) -> Scenario:
    """The reference's scenario with its flows."""
    parquet.write(listed, file)
    replay = {"kind": "flows", "file": str(file)}
    resolved = dict(Scenario.load("abm").resolved)
    transport = resolved["transport"] | experiment.transport_keys
    transport = {key: value for key, value in transport.items() if value is not None}
    first = {key: "flow" for key in ("initial_window", "start_window") if key in transport}
    traffic = [
        {"name": "background", "only_class": "background", **replay},
        {"name": "incast", "only_class": "incast", "handshake": False, **first, **replay},
    ]
    resolved["transport"] = transport
    resolved["record"] = resolved["record"] | {"drops": False}
    resolved |= {"traffic": traffic, "slowdown_base": "published"}
    return Scenario(resolved).set(*experiment.settings)
