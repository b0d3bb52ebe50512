"""The congestion controls of the public RDMA simulator as transports of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.formats.rdma.config import Config, NotKnownError
from spillway.formats.rdma.topology import Paths
from spillway.formats.rdma.units import rate_text, size_text, time_text

HEADER_BYTES = 48
"""What data has on the wire beside its payload: PPP 14, IPv4 20, UDP 8, sequence number 6."""
_TIMESTAMP_BYTES, _ACK_BYTES, _TELEMETRY_BYTES = 8, 60, 42
_ACK_WITHOUT_TELEMETRY = 46
"""An ack that carries telemetry has 88 bytes: its padding to 60 is not needed then."""


def _bps(config: Config, key: str) -> str:
    return rate_text(config.rate(key))


def _us(config: Config, key: str) -> str:
    """A setting in microseconds, cut to whole ones, since the simulator waits only these."""
    return time_text(1_000 * int(config.number(key)))


def _dcqcn(config: Config) -> dict[str, Any]:
    steps = config.whole("FAST_RECOVERY_TIMES")
    return {
        "kind": "dcqcn",
        "preset": "simulator",
        "g": config.number("EWMA_GAIN"),
        "alpha_interval": _us(config, "ALPHA_RESUME_INTERVAL"),
        "decrease_interval": _us(config, "RATE_DECREASE_INTERVAL"),
        "clamp_target": "always" if config.flag("CLAMP_TARGET_RATE") else "after-increase",
        "increase_timer": _us(config, "RP_TIMER"),
        "fast_recovery": steps,
        "hyper_after": steps + 1,
        "rate_step": _bps(config, "RATE_AI"),
        "hyper_step": _bps(config, "RATE_HAI"),
        "min_rate": _bps(config, "MIN_RATE"),
    }


def _hpcc(config: Config) -> dict[str, Any]:
    for key in ("HAS_WIN", "VAR_WIN"):
        if not config.flag(key):
            raise config.not_known(
                key,
                "is not known under HPCC (CC_MODE 3)",
                "its window is one with its rate here: set HAS_WIN and VAR_WIN to 1",
            )
    return {
        "kind": "hpcc",
        "preset": "simulator",
        "eta": config.number("U_TARGET"),
        "max_stage": config.whole("MI_THRESH"),
        "rate_step": _bps(config, "RATE_AI"),
        "min_rate": _bps(config, "MIN_RATE"),
        "fast_react": config.flag("FAST_REACT"),
        "telemetry_units": max(1, int(config.number("INT_MULTI"))),
        "telemetry_bytes": f"{_TELEMETRY_BYTES}B",
    }


def _timely(config: Config) -> dict[str, Any]:
    return {
        "kind": "timely",
        "preset": "simulator",
        "rate_step": _bps(config, "RATE_AI"),
        "min_rate": _bps(config, "MIN_RATE"),
    }


def _dctcp(config: Config) -> dict[str, Any]:
    return {
        "kind": "dctcp-rdma",
        "g": config.number("EWMA_GAIN"),
        "rate_step": _bps(config, "DCTCP_RATE_AI"),
        "min_rate": _bps(config, "MIN_RATE"),
        "pace_from": "nic",
    }


SCHEMES: dict[int, Callable[[Config], dict[str, Any]]] = {
    1: _dcqcn,
    3: _hpcc,
    7: _timely,
    8: _dctcp,
}
"""The transport's own keys, by the simulator's number of the scheme."""
_NOT_KNOWN = {10: "HPCC-PINT", 11: "Swift"}
_DCQCN, _HPCC, _TIMELY = 1, 3, 7
_INTERVALS = ("ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "RP_TIMER")


def transport_of(config: Config, paths: Paths, plain: bool, notes: list[str]) -> dict[str, Any]:
    """The keys of `[transport]`. What is approximated is added to the notes.

    Raises:
        ScenarioError: the scheme, or a setting of it, is not known here.
    """
    mode = config.whole("CC_MODE")
    if mode not in SCHEMES:
        name = f" ({_NOT_KNOWN[mode]})" if mode in _NOT_KNOWN else ""
        raise NotKnownError(
            config.file,
            f"CC_MODE {mode}{name} is not known here",
            "1 is DCQCN, 3 HPCC, 7 TIMELY and 8 DCTCP",
        )
    for key, value in (("RATE_BOUND", True), ("L2_BACK_TO_ZERO", False)):
        if config.flag(key) is not value:
            raise config.not_known(key, f"is not known here, only {int(value)}")
    payload = config.count("PACKET_PAYLOAD_SIZE")
    _approximate(config, mode, notes)
    header = HEADER_BYTES + (_TIMESTAMP_BYTES if mode == _TIMELY else 0)
    if config.number("L2_ACK_INTERVAL") > payload:
        notes.append("L2_ACK_INTERVAL: every packet has an ack; there, one for so many bytes")
    return {
        **SCHEMES[mode](config),
        **({} if mode == _HPCC else _window(config, paths)),
        "base_rtt": _base_rtt(config, mode, notes),
        "mss": f"{payload}B",
        "header": f"{header}B",
        "ack_size": f"{_ACK_WITHOUT_TELEMETRY if mode == _HPCC else _ACK_BYTES}B",
        "ack_every": 1,
        **_losses(config, plain),
    }


def _window(config: Config, paths: Paths) -> dict[str, Any]:
    """The largest window that the simulator gives any two hosts, or none."""
    if not config.flag("HAS_WIN"):
        # IRN has at most the product of bandwidth and delay under way.
        is_bound = config.flag("ENABLE_IRN")
        return {"window": size_text(paths.largest_bdp_bytes) if is_bound else "none"}
    return {"window": size_text(paths.largest_bdp_bytes), "vary_window": config.flag("VAR_WIN")}


def _base_rtt(config: Config, mode: int, notes: list[str]) -> str:
    if not (mode == _HPCC or config.flag("HAS_WIN")) or config.flag("GLOBAL_T"):
        return "network"
    if mode == _HPCC:
        notes.append(
            "GLOBAL_T is 0: flows have the base RTT of their own paths, which here has a full "
            "packet at the slowest link alone"
        )
        return "flow"
    notes.append("GLOBAL_T is 0: windows are the largest of all pairs of hosts, as with 1")
    return "network"


def _losses(config: Config, plain: bool) -> dict[str, Any]:
    """IRN; or go-back-N, without timeouts and silent about old packets, unless it is plain."""
    if config.flag("ENABLE_IRN"):
        return {"recovery": "selective"}
    if plain:
        return {"recovery": "go-back-n"}
    own = {"nack_interval": "500us", "old_packets": "silent", "ack_timeout": "none"}
    return {"recovery": {"kind": "go-back-n", **own}}


def _approximate(config: Config, mode: int, notes: list[str]) -> None:
    """Adds a note for each setting whose value can only be approximated."""
    if mode == _DCQCN:
        for key in _INTERVALS:
            if not (value := config.number(key)).is_integer():
                notes.append(f"{key}: {config.text(key)} us are read as {int(value)}, as there")
    if mode == _HPCC:
        if config.flag("MULTI_RATE"):
            notes.append("MULTI_RATE is 1: a flow has one rate, not one for each hop")
        if config.flag("SAMPLE_FEEDBACK"):
            notes.append("SAMPLE_FEEDBACK is 1: every ack carries telemetry")
    if mode == _TIMELY and config.rate("RATE_HAI") != 5 * config.rate("RATE_AI"):
        notes.append("RATE_HAI: large steps of TIMELY are five times RATE_AI")
