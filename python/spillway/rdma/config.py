"""The settings of a run of the public RDMA simulator: a file of keys and values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spillway.errors import ScenarioError
from spillway.rdma.units import rate_of, whole_ns

_COMMENT = re.compile(r"#.*|\{[^}]*\}")
"""What explains a value: to the end of the line, or in braces, as in the simulator's own page."""

DEFAULTS: Mapping[str, str | None] = {
    "ENABLE_QCN": "1",
    "PACKET_PAYLOAD_SIZE": "1000",
    "TOPOLOGY_FILE": None,
    "FLOW_FILE": None,
    "SIMULATOR_STOP_TIME": "3.01",
    "CC_MODE": "1",
    "ALPHA_RESUME_INTERVAL": "55",
    "RATE_DECREASE_INTERVAL": "4",
    "CLAMP_TARGET_RATE": "0",
    "RP_TIMER": None,
    "EWMA_GAIN": None,
    "FAST_RECOVERY_TIMES": "5",
    "RATE_AI": None,
    "RATE_HAI": None,
    "MIN_RATE": "100Mb/s",
    "DCTCP_RATE_AI": "1000Mb/s",
    "ERROR_RATE_PER_LINK": "0",
    "L2_ACK_INTERVAL": "0",
    "L2_BACK_TO_ZERO": "0",
    "HAS_WIN": "1",
    "GLOBAL_T": "1",
    "VAR_WIN": "0",
    "FAST_REACT": "1",
    "U_TARGET": "0.95",
    "MI_THRESH": "5",
    "INT_MULTI": "1",
    "MULTI_RATE": "1",
    "SAMPLE_FEEDBACK": "0",
    "RATE_BOUND": "1",
    "ACK_HIGH_PRIO": "0",
    "LINK_DOWN": "0 0 0",
    "KMAX_MAP": None,
    "KMIN_MAP": None,
    "PMAX_MAP": None,
    "BUFFER_SIZE": "16",
    "PFC_ON": "1",
}
"""The keys that may be translated, and what the simulator takes without them.

`PFC_ON` is no key of the public program, but of changed ones: with 0, pause frames are ignored.
"""

WITHOUT_EFFECT: Mapping[str, str] = {
    "USE_DYNAMIC_PFC_THRESHOLD": "its switches have dynamic thresholds with any value",
    "PAUSE_TIME": "pauses end with a frame, there and here",
    "DATA_RATE": "rates are those of the topology",
    "LINK_DELAY": "delays are those of the topology",
    "L2_CHUNK_SIZE": "it matters only when a loss sends a flow back to its beginning",
    "TRACE_FILE": "there is no trace of packets here",
    "TRACE_OUTPUT_FILE": "there is no trace of packets here",
    "ENABLE_TRACE": "there is no trace of packets here",
    "FCT_OUTPUT_FILE": "`spillway export rdma --fct FILE` writes completion times",
    "PFC_OUTPUT_FILE": "`spillway export rdma --pfc FILE` writes pauses",
    "QLEN_MON_FILE": "`record.queue_interval` samples queues",
    "QLEN_MON_START": "`record.queue_interval` samples queues",
    "QLEN_MON_END": "`record.queue_interval` samples queues",
    "PINT_LOG_BASE": "it belongs to HPCC-PINT",
    "PINT_PROB": "it belongs to HPCC-PINT",
}
"""Keys that change nothing here, and why."""

_WORDS = {"LINK_DOWN": 3}
"""How many words a value has, if not one."""
_MAPS = ("KMAX_MAP", "KMIN_MAP", "PMAX_MAP")
"""Values that are a number of pairs, and then the pairs."""


class NotKnownError(ScenarioError):
    """A setting that the simulator knows, and that has no like here."""


@dataclass
class Config:
    """The settings of a run, as they are written. It notes which of them are asked for."""

    file: Path
    values: Mapping[str, str]
    unknown: Mapping[str, str]
    """Keys that the simulator does not know, and what stands behind them."""
    repeated: tuple[str, ...]
    """Keys that are given more than once: the last one counts."""
    asked: set[str] = field(default_factory=set)

    def text(self, key: str) -> str:
        """A setting, or the simulator's default for it."""
        self.asked.add(key)
        value = self.values.get(key, DEFAULTS[key])
        if value is None:
            meant = difflib.get_close_matches(key, self.unknown, n=1)
            hint = f"is {meant[0]} meant to be it?" if meant else None
            raise ScenarioError(f"{self.file}: it has no {key}", hint)
        return value

    def number(self, key: str) -> float:
        """A setting that is a number, at least 0."""
        try:
            value = float(self.text(key))
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise self.wrong(key, "is no number from 0 on")
        return value

    def whole(self, key: str) -> int:
        """A setting that is a whole number, at least 0."""
        if not (value := self.number(key)).is_integer():
            raise self.wrong(key, "is no whole number")
        return int(value)

    def count(self, key: str) -> int:
        """A setting that is a whole number, at least 1."""
        if not (value := self.whole(key)):
            raise self.wrong(key, "is no whole number from 1 on")
        return value

    def flag(self, key: str) -> bool:
        """A setting that is 0 or another whole number."""
        return self.whole(key) != 0

    def rate(self, key: str) -> int:
        """A setting that is a rate, in bits per second."""
        found = rate_of(self.text(key))
        if found is None:
            raise self.wrong(key, "is no rate", "such as 40Mb/s or 100Gbps")
        return found

    def seconds(self, key: str) -> int:
        """A setting that is a time in seconds, in whole nanoseconds."""
        self.number(key)
        return whole_ns(self.text(key))

    def by_rate(self, key: str) -> dict[int, float]:
        """A setting that is a number of pairs, each of a rate and its value."""
        try:
            _, *words = (float(word) for word in self.text(key).split())
        except ValueError:
            raise self.wrong(key, "is no list of numbers") from None
        if not all(0 <= word < float("inf") for word in words):
            raise self.wrong(key, "is no list of numbers from 0 on")
        return {int(rate): value for rate, value in zip(words[::2], words[1::2], strict=True)}

    def wrong(self, key: str, problem: str, hint: str | None = None) -> ScenarioError:
        """An error about a setting."""
        return ScenarioError(f"{self.file}: {key}: {self.text(key)} {problem}", hint)

    def not_known(self, key: str, problem: str, hint: str | None = None) -> NotKnownError:
        """An error about a setting that is not known here."""
        return NotKnownError(f"{self.file}: {key}: {self.text(key)} {problem}", hint)


def read_config(file: Path) -> Config:
    """Reads a file of settings.

    Raises:
        ScenarioError: it cannot be read, or a value is missing.
    """
    values: dict[str, str] = {}
    unknown: dict[str, str] = {}
    repeated: list[str] = []
    lines = [_COMMENT.sub(" ", line).split() for line in text_of(file).splitlines()]
    for number, words in enumerate(lines, 1):
        while words:
            key = words.pop(0)
            if key not in DEFAULTS and key not in WITHOUT_EFFECT:
                # How long its value is, nobody knows: it is the rest of the line.
                unknown[key] = " ".join(words)
                break
            if key in values:
                repeated.append(key)
            count = _length(file, number, key, words)
            values[key] = " ".join(words[:count])
            del words[:count]
    if not values:
        raise ScenarioError(
            f"{file}: it is no file of settings",
            "its lines have a key and a value, such as: CC_MODE 1",
        )
    return Config(file, values, unknown, tuple(dict.fromkeys(repeated)))


def near(key: str) -> str | None:
    """The key of the simulator that an unknown one may be meant to be."""
    found = difflib.get_close_matches(key, [*DEFAULTS, *WITHOUT_EFFECT], n=1, cutoff=0.8)
    return found[0] if found else None


def _length(file: Path, number: int, key: str, words: list[str]) -> int:
    """How many words the value of a key has, of which these may be the beginning."""
    count = _WORDS.get(key, 1)
    if key in _MAPS and words:
        pairs = int(words[0]) if words[0].isdecimal() else 0
        if not pairs:
            hint = "it is a number of rates, and then each rate with its value"
            raise ScenarioError(f"{file}: line {number}: {key}: {words[0]} is no number", hint)
        count = 1 + 2 * pairs
    if len(words) < count:
        raise ScenarioError(
            f"{file}: line {number}: {key} has {len(words)} of {count} values", "on its own line"
        )
    return count


def text_of(file: Path) -> str:
    """The text of a file of the simulator."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{file} cannot be read: {error}") from error
