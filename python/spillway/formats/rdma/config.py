"""The settings of a run of the public RDMA simulator: a file of keys and values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spillway.base.errors import FileError, ScenarioError
from spillway.formats.rdma.units import decimal_of, rate_of, shown, whole_ns, whole_of

_COMMENT = re.compile(r"#.*|\{[^}]*\}")
"""Comments on values: to the end of the line, or in braces, as in the simulator's own page."""

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
    "ENABLE_PFC": "1",
    "ENABLE_IRN": "0",
    "LB_MODE": "0",
    "FLOWGEN_STOP_TIME": None,
    "NIC_TOTAL_PAUSE_TIME": "0",
}
"""The keys that may be translated, and what the simulator takes without them.

The last ones are no keys of the public program, but of changed ones: `PFC_ON` and, in ConWeave's,
`ENABLE_PFC` (with 0, pause frames are ignored), then more of ConWeave's, and one of those for
training (astra-sim, SimAI).
"""
CONWEAVE = ("ENABLE_PFC", "ENABLE_IRN", "LB_MODE", "FLOWGEN_STOP_TIME")

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
    "FLOWGEN_START_TIME": "flows begin when their file says",
    "LOAD": "the file of flows has it",
    "RANDOM_SEED": "random numbers are others here; `seed` is theirs",
    **dict.fromkeys(
        (
            "CONWEAVE_TX_EXPIRY_TIME",
            "CONWEAVE_REPLY_TIMEOUT_EXTRA",
            "CONWEAVE_PATH_PAUSE_TIME",
            "CONWEAVE_EXTRA_VOQ_FLUSH_TIME",
            "CONWEAVE_DEFAULT_VOQ_WAITING_TIME",
        ),
        "it belongs to ConWeave (LB_MODE 9)",
    ),
    **dict.fromkeys(
        (
            "FLOW_INPUT_FILE",
            "CNP_OUTPUT_FILE",
            "SEND_OUTPUT_FILE",
            "EST_ERROR_MON_FILE",
            "VOQ_MON_FILE",
            "VOQ_MON_DETAIL_FILE",
            "UPLINK_MON_FILE",
            "CONN_MON_FILE",
            "BW_MON_FILE",
            "RATE_MON_FILE",
            "CNP_MON_FILE",
            "MON_START",
            "MON_END",
            "SW_MONITORING_INTERVAL",
            "QP_MON_INTERVAL",
            "BW_MON_INTERVAL",
            "QLEN_MON_INTERVAL",
            "TRACE_NODE",
        ),
        "it only says what is written there; `[record]` says it here",
    ),
}
"""Keys that change nothing here, and why: of the public program, of ConWeave's, and of those for
training."""

_MOST = 2**32 - 1
"""The greatest whole number that the simulator reads."""
_AFTER_FLOWS_NS = 10 * 10**9
_WORDS = {"LINK_DOWN": 3}
"""How many words a value has, if not one."""
_MAPS = ("KMAX_MAP", "KMIN_MAP", "PMAX_MAP")
"""Values that are a number of pairs, and then the pairs."""


class NotKnownError(ScenarioError):
    """A setting in a file of the simulator has no counterpart here; `why` says which."""

    def __init__(self, file: Path, why: str, hint: str | None = None) -> None:
        super().__init__(f"{file}: {why}", hint)
        self.why = why


@dataclass
class Config:
    """The settings of a run, as they are written. It notes which of them are asked for.

    Attributes:
        unknown: keys that the simulator does not know, and what stands behind them.
        repeated: keys that are given more than once: the last one counts.
        ignored: keys that are in the file, and are passed over.
    """

    file: Path
    values: Mapping[str, str]
    unknown: Mapping[str, str]
    repeated: tuple[str, ...]
    asked: set[str] = field(default_factory=set)
    ignored: tuple[str, ...] = ()

    def without(self, keys: Sequence[str]) -> Config:
        """The settings as if these keys were not there.

        Raises:
            ScenarioError: one is not there, or another one is no key of the simulator.
        """
        for key in keys:
            if key not in self.values and key not in self.unknown:
                raise ScenarioError(f"{self.file}: --ignore {shown(key)}: it has no such key")
        unknown = [key for key in self.unknown if key not in keys]
        if unknown:
            names = [shown(key) + (f" ({name}?)" if (name := near(key)) else "") for key in unknown]
            are = "is no key" if len(unknown) == 1 else "are no keys"
            hint = "what it says would be passed over: --ignore KEY says that it may be"
            forks = "nor of its forks that are known here"
            raise ScenarioError(
                f"{self.file}: {', '.join(names)} {are} of the simulator, {forks}", hint
            )
        return replace(
            self,
            values={key: value for key, value in self.values.items() if key not in keys},
            unknown={},
            repeated=tuple(key for key in self.repeated if key not in keys),
            ignored=tuple(dict.fromkeys(keys)),
        )

    def text(self, key: str) -> str:
        """A setting, or the simulator's default for it."""
        self.asked.add(key)
        value = self.values.get(key, DEFAULTS[key])
        if value is None:
            meant = difflib.get_close_matches(key, self.unknown, n=1)
            raise ScenarioError(
                f"{self.file}: it has no {key}",
                f"is {shown(meant[0])} meant to be it?" if meant else None,
            )
        return value

    def number(self, key: str) -> float:
        """A setting that is a number, at least 0."""
        value = decimal_of(self.text(key))
        if value is None or value < 0:
            raise self.wrong(key, "is no number from 0 on")
        return value

    def whole(self, key: str) -> int:
        """A setting that is a whole number, at least 0."""
        if not (value := self.number(key)).is_integer():
            raise self.wrong(key, "is no whole number")
        if value > _MOST:
            raise self.wrong(key, f"is more than {_MOST}")
        return int(value)

    def count(self, key: str) -> int:
        """A setting that is a whole number, at least 1."""
        if not (value := self.whole(key)):
            raise self.wrong(key, "is no whole number from 1 on")
        return value

    def flag(self, key: str) -> bool:
        """A setting that is 0 or another whole number."""
        return self.whole(key) != 0

    def has_pauses(self) -> bool:
        """Whether pause frames stop anything."""
        first, second = (self.flag(key) for key in ("PFC_ON", "ENABLE_PFC"))
        if first is not second and {"PFC_ON", "ENABLE_PFC"} <= self.values.keys():
            raise self.wrong("ENABLE_PFC", "is not what PFC_ON says")
        return first and second

    def end_ns(self) -> int:
        """When the run ends, in the simulator's time. In ConWeave's program flows end before."""
        if "SIMULATOR_STOP_TIME" not in self.values and "FLOWGEN_STOP_TIME" in self.values:
            return self.seconds("FLOWGEN_STOP_TIME") + _AFTER_FLOWS_NS
        return self.seconds("SIMULATOR_STOP_TIME")

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
        _, *words = (decimal_of(word) for word in self.text(key).split())
        known = [word for word in words if word is not None and word >= 0]
        if len(known) < len(words):
            raise self.wrong(key, "is no list of numbers from 0 on")
        return {int(rate): value for rate, value in zip(known[::2], known[1::2], strict=True)}

    def wrong(self, key: str, problem: str, hint: str | None = None) -> ScenarioError:
        """An error about a setting."""
        return ScenarioError(f"{self.file}: {key}: {shown(self.text(key))} {problem}", hint)

    def not_known(self, key: str, problem: str, hint: str | None = None) -> NotKnownError:
        """An error about a setting that is not known here."""
        return NotKnownError(self.file, f"{key}: {shown(self.text(key))} {problem}", hint)


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
                # The length of an unknown key's value is unknown: it is the rest of the line.
                unknown[key] = " ".join(words)
                break
            if key in values:
                repeated.append(key)
            count = _length(file, number, key, words)
            values[key] = " ".join(words[:count])
            del words[:count]
    if not values:
        raise FileError(
            f"{file}: it is no file of settings",
            "its lines have a key and a value, such as: CC_MODE 1",
        )
    return Config(file, values, unknown, tuple(dict.fromkeys(repeated)))


def near(key: str) -> str | None:
    """The key of the simulator that an unknown one may be meant to be."""
    found = difflib.get_close_matches(key, [*DEFAULTS, *WITHOUT_EFFECT], n=1, cutoff=0.8)
    return found[0] if found else None


def _length(file: Path, number: int, key: str, words: list[str]) -> int:
    """How many words a key's value has; `words` begin with the value."""
    count = _WORDS.get(key, 1)
    if key in _MAPS and words:
        pairs = whole_of(words[0])
        if not pairs:
            raise FileError(
                f"{file}: line {number}: {key}: {shown(words[0])} is no number",
                "it is a number of rates, and then each rate with its value",
            )
        count = 1 + 2 * pairs
    if len(words) < count:
        raise FileError(
            f"{file}: line {number}: {key} has {len(words)} of {count} values", "on its own line"
        )
    return count


def text_of(file: Path) -> str:
    """The text of a file of the simulator."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{file} cannot be read: {error}") from error
