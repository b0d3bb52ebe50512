"""What is varied in the study of all five systems: factors, and the levels of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SCENARIO = "five"
SEEDS = "1..5"
MODEL, MODEL_OF_LEVELS, HISTORY = "forest.safetensors", "forest8.safetensors", "history.parquet"
MODEL_THAT_SEES_LEVELS = "forest9.safetensors"
"""What Credence and Smartbuf begin with, learned on other seeds."""

Values = tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """Something that is chosen."""

    name: str
    keys: tuple[str, ...]
    levels: Mapping[str, Values]
    """The values of the keys, by the level's name."""

    def only(self, names: Iterable[str]) -> "Factor":
        """The factor with these levels."""
        return Factor(self.name, self.keys, {name: self.levels[name] for name in names})

    def and_also(self, other: "Factor") -> "Factor":
        """The factor with another's levels as well."""
        return Factor(self.name, self.keys, {**self.levels, **other.levels})

    @property
    def vary(self) -> tuple[tuple[str, ...], list[Values]]:
        """What `spillway.experiment` varies."""
        return self.keys, list(self.levels.values())

    def level(self, assigned: Mapping[str, str]) -> str:
        """The level of a variant."""
        values = tuple(assigned[key] for key in self.keys)
        return next(name for name, own in self.levels.items() if own == values)


def _tagged(kind: str) -> str:
    return f'{{kind="{kind}",acks="apart",thresholds="websearch-0.6"}}'


SHARING = Factor(
    "sharing",
    ("switch.sharing",),
    {
        "dt": ("dt",),
        "lqd": ("lqd",),
        "cs": ("cs",),
        "credence": (f'{{kind="credence",model="{MODEL}"}}',),
        "cbm": ("cbm",),
        "smartbuf": (f'{{kind="smartbuf",history="{HISTORY}"}}',),
        "occamy": ("occamy",),
    },
)
MENDED = Factor(
    "sharing",
    ("switch.sharing",),
    {
        "credence, pushes out": (f'{{kind="credence",model="{MODEL}",push_out=true}}',),
        "credence, trained with levels": (f'{{kind="credence",model="{MODEL_OF_LEVELS}"}}',),
        "credence, trust": (f'{{kind="credence",model="{MODEL}",trust="regret"}}',),
        "cbm, time served": ('{kind="cbm",delay="served"}',),
        "cbm, time served, alpha 1.4": ('{kind="cbm",delay="served",alpha={acks=64,data=1.4}}',),
        "cbm, alpha 8": ('{kind="cbm",alpha={acks=64,data=8}}',),
        "smartbuf, by queue": (f'{{kind="smartbuf",history="{HISTORY}",limit="queue"}}',),
        "smartbuf, floor": (f'{{kind="smartbuf",history="{HISTORY}",floor="dt"}}',),
        "dt, alpha 8": ('{kind="dt",alpha={acks=64,data=8}}',),
        "dt, alpha by level": ('{kind="dt",alpha={acks=64,data=[64,8,4,2,1,0.5]}}',),
    },
)
"""Variants of the published policies, and other parameters."""
ALPHA_BY_BOUND = "[2.8,2.8,1.94,1.56,1.32,1.17,1.05,1.0]"
"""2.8 times 956 KB over the bound at which a level of QCLIMB begins, 956 KB for the first, too."""
TOLD = Factor(
    "sharing",
    ("switch.sharing",),
    {
        "credence, trained with levels": MENDED.levels["credence, trained with levels"],
        "credence, sees levels": (f'{{kind="credence",model="{MODEL_THAT_SEES_LEVELS}"}}',),
        "credence, asks smartbuf": (
            f'{{kind="credence",oracle="smartbuf",smartbuf={{history="{HISTORY}"}}}}',
        ),
        "credence, asks smartbuf by queue": (
            f'{{kind="credence",oracle="smartbuf",smartbuf={{history="{HISTORY}",limit="queue"}}}}',
        ),
        "smartbuf": SHARING.levels["smartbuf"],
        "smartbuf, by queue": MENDED.levels["smartbuf, by queue"],
        "cbm, time served, alpha 1.4": MENDED.levels["cbm, time served, alpha 1.4"],
        "cbm, time served, alpha 2.8": ('{kind="cbm",delay="served",alpha={acks=64,data=2.8}}',),
        "cbm, time served, alpha by bound": (
            f'{{kind="cbm",delay="served",alpha={{acks=64,data={ALPHA_BY_BOUND}}}}}',
        ),
        "fb": ("fb",),
        "fb, ports where flows meet": ('{kind="fb-of-flows"}',),
        "fb, a port's flows": ('{kind="fb-of-flows",n="flows"}',),
    },
)
"""What one system could tell another, each behind the policy that it is told to."""
BESIDE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "variants": (
        ("dt, alpha 8", "lqd"),
        ("dt, alpha by level", "lqd"),
        ("cbm, alpha 8", "lqd"),
        ("cbm, time served, alpha 1.4", "lqd"),
        ("cbm, time served", "cbm"),
        ("smartbuf, by queue", "smartbuf"),
        ("smartbuf, floor", "dt"),
        ("credence, pushes out", "credence"),
        ("credence, trained with levels", "credence"),
        ("credence, trust", "credence"),
    ),
    "told": (
        ("cbm, time served, alpha by bound", "cbm, time served, alpha 2.8"),
        ("cbm, time served, alpha by bound", "cbm, time served, alpha 1.4"),
        ("cbm, time served, alpha by bound", "lqd"),
        ("cbm, time served, alpha 2.8", "lqd"),
        ("credence, sees levels", "credence, trained with levels"),
        ("credence, asks smartbuf", "credence"),
        ("credence, asks smartbuf", "smartbuf"),
        ("credence, asks smartbuf by queue", "credence"),
        ("credence, asks smartbuf by queue", "smartbuf, by queue"),
        ("fb, ports where flows meet", "fb"),
        ("fb, a port's flows", "fb"),
    ),
}
"""Policies that are held beside others, by series."""
AQM = Factor(
    "aqm",
    ("switch.aqm",),
    {
        "ecn": ('{kind="ecn",threshold="65pkt",at_threshold="pass"}',),
        "pred": ("pred",),
        "none": ("none",),
    },
)
MORE_AQMS = Factor(
    "aqm",
    ("switch.aqm",),
    {
        "ecn at 20": ('{kind="ecn",threshold="20pkt",at_threshold="pass"}',),
        "ecn, by port": ('{kind="ecn",threshold="65pkt",at_threshold="pass",scope="port"}',),
        "pred, by port": ('{kind="pred",scope="port"}',),
    },
)
"""A lower threshold, and what judges the queues of a port as one, as PIAS does."""
CODEL = Factor("aqm", ("switch.aqm",), {"codel": ("codel",)})
LEVELS = Factor(
    "levels",
    ("transport.tagging", "transport.recovery.kind"),
    {
        f"{name}, {told}": (tagging, recovery)
        for name, tagging, apart in (
            ("one", "fixed", "sack"),
            ("pias", _tagged("pias"), "per-priority"),
            ("qclimb", _tagged("qclimb"), "per-priority"),
        )
        for told, recovery in (("rack", "rack"), ("counting", apart))
    },
)
"""Levels of priority, and how losses are found: by time, or by counting the packets behind them."""
RTO = Factor(
    "rto",
    ("transport.recovery.min_rto", "transport.recovery.initial_rto"),
    {"1ms": ("1ms", "1ms"), "10ms": ("10ms", "10ms")},
)
LOAD = Factor(
    "load", ("traffic.websearch.load",), {"40%": ("0.4",), "60%": ("0.6",), "80%": ("0.8",)}
)
BUFFER = Factor(
    "buffer",
    ("switch.buffer",),
    {"5.12KB": ("5.12KB/port/Gbps",), "9.6KB": ("9.6KB/port/Gbps",)},
)
BURST = Factor(
    "burst",
    ("traffic.incast.burst",),
    {"128KB": ("128KB",), "256KB": ("256KB",), "512KB": ("512KB",)},
)
PROTECTION = Factor(
    "protection",
    ("transport.protection", "switch.unimportant_limit"),
    {"none": ("none", "20%"), "tlt, 9%": ("tlt", "9%"), "tlt, 20%": ("tlt", "20%")},
)
"""Packets whose loss would cost a timeout, and how much of the others a port holds beside them."""
FACTORIAL = (SHARING, AQM, LEVELS, RTO, LOAD, BUFFER)
