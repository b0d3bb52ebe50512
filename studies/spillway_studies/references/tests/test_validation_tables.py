"""The tables of the page on validation, each out of a small document, by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spillway.base import core
from spillway_studies import pages
from spillway_studies.claims.point import build
from spillway_studies.references import blocks, published

FLOW = {
    "count": 1200,
    "matched": 1100,
    "correlation": 0.9876,
    "median_ratio": 1.0,
    "mean_ratio": 0.99426,
    "within": [0.254, 0.5, 1.0],
}
"""Flow by flow, but for the kind."""
TOLD = "1,100 of 1,200 | 0.988 | 1.0000 | 0.9943 | 25% | 50% | 100%"
HEADS = "flows | compared | correlation of log FCT | median ratio | mean ratio | within 1% | 5% |"
BOUNDS = {"compared": 9, "undecided": ["a"], "broken": ["b", "c"]}
YAPS = """\
case,id,src,dst,size_bytes,start_ns,recv_fct_ns,data_drops,timeouts
rack,0,0,1,14600,0,13600,0,0
across,0,0,16,14600,0,14600,0,0
"""


def row(percentile, reference, ours, difference, verdict="agrees", **more):
    """A compared percentile."""
    numbers = {"percentile": percentile, "reference": reference, "ours": ours}
    return {**numbers, "difference": difference, "verdict": verdict, **more}


def late(*counts, kinds=("short", "incast")):
    return {"flows_over_least_timeout": dict(zip(kinds, counts, strict=True))}


def of_credence(ours, there, **drawn):
    """A way of sharing, with seven percentiles of which all but the first are the same."""
    rows = [
        row(0.5, 2.0, 1.9, -0.05, **{"class": "short"}, drawn_min_max=[1.8, 2.1]),
        row(0.95, 4.0, 5.0, 0.25, "undecided", **{"class": "short"}, drawn_min_max=[4.0, 4.0]),
        row(0.99, 208.931, 1.0, -0.99, "differs", **{"class": "short"}, drawn_min_max=[1, 2]),
        *(
            row(p, 8.0, 8.0, 0.0, **{"class": "incast"}, drawn_min_max=[8.0, 9.0])
            for p in (0.5, 0.95, 0.99)
        ),
        row(0.5, 1.5, 1.5, 0.0, **{"class": "long"}, drawn_min_max=[1.0, 2.0]),
    ]
    return {"rows": rows, "reference": there, "ours": ours, **drawn}


def run_of_credence(drops, late_ones, occupancy=0.18):
    return {
        "percentiles": [1.9, 5.0, 1.0, 8.0, 8.0, 8.0, 1.5],
        "flow_by_flow": [{"flows": "background", **FLOW}],
        "drops": drops,
        "marks": 826_399,
        "occupancy_p99": occupancy,
        **late(*late_ones),
    }


CREDENCE = {
    sharing: of_credence(
        run_of_credence(drops, (1, 47)),
        late(0, 41),
        drawn=[run_of_credence(9, (1, 30), 0.173), run_of_credence(8, (1, 1088), 0.182)],
        differences={"a.b=0.0, paths": run_of_credence(drops + 1, (0, 0))},
    )
    for sharing, drops in (("dt", 177), ("lqd", 0))
}
KINDS = ("short", "medium", "large", "longest", "incast")
PERCENTILES = [float(number) for number in range(15)]
OF_ABM = [
    row(p, 10.0 + place, place, -0.1, **{"class": kind}, flows=7621, drawn_min_max=None)
    for place, (kind, p) in enumerate((kind, p) for kind in KINDS for p in (0.5, 0.95, 0.99))
]
RUN_OF_ABM = {
    "percentiles": PERCENTILES,
    "flow_by_flow": [{"flows": "background", **FLOW}],
    "flows_with_timeout": dict.fromkeys(KINDS, 7),
    "uncontended": {
        "flows": 6559,
        "reference_within_ns": {"20": 575, "100": 696},
        "ours_within_ns": {"20": 572, "100": 695},
        "ours_exactly": 560,
        "both": 566,
    },
    **late(1, 2, 3, 4, 3716, kinds=KINDS),
}
ABM = {
    transport: {
        "rows": OF_ABM,
        "reference": late(5, 6, 7, 8, 3725, kinds=KINDS),
        "ours": RUN_OF_ABM,
        "drawn": [],
        "differences": {"nic.fifo_packets=0": {**RUN_OF_ABM, **late(0, 0, 0, 0, 9, kinds=KINDS)}},
    }
    for transport in ("dctcp", "cubic")
} | {
    "others": [
        {
            "transport": "timely",
            "scheme": scheme,
            "answer_bytes": 92_160,
            "is_of_program": of_program,
            "places": [
                row(0.99, 146.0, 108.0, -0.26, "differs", flows="incast", interval=[103.1, 112.7])
            ],
        }
        for scheme, of_program in (("DT", True), ("ABM by its paper", False))
    ]
}


def queue(senders, mean):
    both = {"reference": 9.64, "ours": 9.639}
    p99 = {"reference": 49.0, "ours": 49.0, "difference": 0.0, "verdict": "agrees"}
    about = {"disc": "codel", "transport": "newreno", "senders": senders}
    return {**about, "mean": mean, "p99": p99, "goodput_gbps": both}


AQM = {
    "marks": [
        {
            "disc": "codel",
            "senders": 8,
            "packets": 16_619,
            "reference": 2_453,
            "ours": ours,
            "differ": differ,
            "interval": interval,
            "random": differ is None,
            "verdict": "agrees",
        }
        for ours, differ, interval in ((2_453, 0, None), (1008.45, None, [992.7, 1024.2]))
    ],
    "queues": [
        queue(16, {"reference": 24.0, "ours": 28.2, "difference": 0.175, "verdict": "differs"}),
        queue(2, {"reference": 24.0, "ours": 24.0, "difference": -0.0001, "verdict": "agrees"}),
    ],
    "completion_times": [
        {
            "disc": "red70",
            "rows": [
                {
                    "class": "gt1m",
                    "flows": 1446,
                    "percentile": p,
                    "reference_us": 1e5,
                    "ours_us": 1.1e5,
                    "difference": 0.1,
                    "verdict": "undecided" if p == 0.5 else "agrees",
                }
                for p in (0.5, 0.95, 0.99)
            ],
            "flow_by_flow": [{"flows": "all", **FLOW}, {"flows": "gt1m", **FLOW, "mean_ratio": 2}],
        }
    ],
}


def case(name, same, must_agree, agrees):
    counts = {"timeouts": [2057, 2058], "drops": [9, 8]}
    agreement = {"same": same, "must_agree": must_agree, "agrees": agrees}
    return {"name": name, "flows": 3, "mean_ratio": 1.001, **counts, **agreement}


def number(name, agrees):
    return {"name": name, "reference": 4e5, "ours": 4.2e5, "difference": 0.05, "agrees": agrees}


PFABRIC = {
    "runs": {
        "web_60": {
            "numbers": [number("drops", True), number("timeouts", False)],
            "flow_by_flow": [{"flows": "short", **FLOW}],
        }
    },
    "cases": [case("a", 3, True, True), case("b", 2, False, True), case("c", 1, True, False)],
}
PIAS = {
    "web_60": {
        "count": 692,
        "rows": [
            row(0.5, 1.0, 1.1, 0.1, flows="slowdown", interval=[0.9, 1.2], drawn=[1.05, 1.15]),
            row(0.5, 116.8, 99.0, -0.15, "differs", flows="time", interval=[113.0, 120.0],
                drawn=[98.0, 99.5]),
        ],
        "differences": {"losses found by times (`rack`)": [1.2, 2265.4]},
        "others": [
            {"flows": "first", "count": 1396, "reference": [1.0, 2.0, 4.0], "ours": [1.1, 2.0, 3.0]}
        ],
    }
}  # fmt: skip


def measured(what, reference, ours, moved, verdict="agrees", unit=""):
    numbers = {"what": what, "reference": reference, "ours": ours, "moved": moved, "unit": unit}
    return {**numbers, "verdict": verdict, "difference": ours / reference - 1}


def of_rdma(*numbers, flows=(), **changes):
    return {"numbers": list(numbers), "flow_by_flow": list(flows), "differences": changes}


OF_LEAVES = (
    measured("slowdown all p50", 2.0, 2.0, [2.0, 2.0]),
    measured("slowdown all p99", 9.0, 10.0, [9.0, 10.0], "in range"),
)
RDMA = {
    "A/dcqcn_paper_n20_paper_100ms_s1": of_rdma(
        measured("goodput", 1.0, 2.0, [2.0, 2.0], "differs"),
        measured("queue mean", 99.0, 100.0, [98.0, 101.0], unit="KB"),
        measured("pauses host", 3.0, 4.0, [4.0, 4.0], "told"),
        a=[1.0, 103.9, 4.0], b=[1.0, 104.5, 4.0],
    ),
    "A/dcqcn_n2_paper_100ms_s1": of_rdma(
        measured("queue mean", 30.0, 30.0, [24.0, 30.0], unit="KB"), a=[23.2], b=[23.0]
    ),
    "B/dcqcn_0.5": of_rdma(*OF_LEAVES, flows=[{"flows": "all", **FLOW}], a=[2.0, 10.0]),
    "B/dcqcn_0.5_buf2": of_rdma(*OF_LEAVES, measured("pauses all", 3e4, 2e4, [2e4, 2e4])),
    "B/hpcc_0.5": of_rdma(*OF_LEAVES),
    "C/inc16_nocc_buf2_pfcon": of_rdma(measured("pauses host", 100.0, 100.0, [90.0, 100.0])),
    "bounds": BOUNDS,
}  # fmt: skip
LINUX = {
    "pie_reno": {"rows": [
        row(0, 10.0, 10.0, 0.0, name="goodput"), row(0, 0.0, 1.5, None, "differs", name="drops"),
    ]},
    "pie_cubic": {"rows": [row(0, 4.0, 3.0, -0.25, "undecided", name="p99"),
                           row(0, 2.0, 2.0, 0.0, name="drops")]},
    "bounds": BOUNDS,
}  # fmt: skip
OCCAMY = {
    "groups": [
        {"scheme": "RR", "list": "fix", "queues": 1, "scheduler": "-", "runs": 9, "packets": 9_000,
         "expelled": 1_234, "fates": 0, "times": 2, "marks": 1},
    ],
    "cases": [
        {"case": "push", "runs": 1, "packets": 40, "expelled": 3, "fates": 0, "times": 0,
         "marks": 0, "queue_bytes": 5, "occupancy_bytes": 0, "threshold_bytes": None},
    ],
    "bounds": BOUNDS,
}  # fmt: skip
DOCUMENTS = {
    "credence": CREDENCE,
    "abm": ABM,
    "aqm": AQM,
    "pfabric": PFABRIC,
    "pias": PIAS,
    "rdma": RDMA,
    "linux": LINUX,
    "occamy": OCCAMY,
}
SLOWDOWNS = "50: reference, ours | 95: reference, ours | 99: reference, ours |"

EXPECTED = {
    ("all", "summary"): [
        "| reference | numbers | agree | undecided | differ |",
        *(f"| `{name}` | 9 | 6 | 1 | 2 |" for name in published.COMMANDS),
    ],
    ("credence", "percentiles"): [
        f"| sharing | class | {SLOWDOWNS}",
        *(
            line
            for sharing in ("DT", "LQD")
            for line in (
                f"| {sharing} | short | 2, 1.9 [1.8 to 2.1] (-5.0%) "
                "| 4, 5 [4] (+25.0%), undecided | **208.9, 1 [1 to 2] (-99.0%), differs** |",
                f"| {sharing} | incast |" + " 8, 8 [8 to 9] (+0.0%) |" * 3,
                f"| {sharing} | long | 1.5, 1.5 [1 to 2] (+0.0%) |  |  |",
            )
        ),
    ],
    ("credence", "flows"): [
        f"| sharing | {HEADS} 10% |",
        f"| DT | background | {TOLD} |",
        f"| LQD | background | {TOLD} |",
    ],
    ("credence", "counts"): [
        "| sharing |  | reference | ours | over drawn paths |",
        *(
            line
            for sharing, drops in (("DT", 177), ("LQD", 0))
            for line in (
                f"| {sharing} | short flows over 10 ms | 0 | 1 | 1 |",
                f"| {sharing} | incast flows over 10 ms | 41 | 47 | 30 to 1088 |",
                f"| {sharing} | drops |  | {drops} | 8 to 9 |",
                f"| {sharing} | marks |  | 826,399 | 826,399 |",
                f"| {sharing} | occupancy of the leaves in percent, 99 |  | 18 | 17.3 to 18.2 |",
            )
        ),
    ],
    ("credence", "differences"): [
        "| change | DT: drops | LQD: marks | correlation | mean ratio | within 5% | short 95 "
        "| long 50 |",
        "| reference |  |  |  |  |  | 4 | 1.5 |",
        "| none | 177 | 826,399 | 0.9876 | 0.9943 | 50% | 5 | 1.5 |",
        "| `a.b=0.0`, paths | 178 | 826,399 | 0.9876 | 0.9943 | 50% | 5 | 1.5 |",
    ],
    ("abm", "percentiles"): [
        f"| transport | class | flows | {SLOWDOWNS}",
        *(
            f"| {name} | {kind} | 7,621 | "
            + " | ".join(f"{10 + n}, {n} (-10.0%)" for n in range(3 * place, 3 * place + 3))
            + " |"
            for name in ("DCTCP", "Cubic")
            for place, kind in enumerate(KINDS)
        ),
    ],
    ("abm", "flows"): [
        f"| transport | {HEADS} 10% |",
        f"| DCTCP | background | {TOLD} |",
        f"| Cubic | background | {TOLD} |",
    ],
    ("abm", "counts"): [
        "| transport | class | reference over 10 ms | ours over 10 ms | ours with a timeout |",
        *(
            f"| {name} | {kind} | {there} | {here} | 7 |"
            for name in ("DCTCP", "Cubic")
            for kind, there, here in zip(
                KINDS, ("5", "6", "7", "8", "3,725"), ("1", "2", "3", "4", "3,716"), strict=True
            )
        ),
    ],
    ("abm", "alone"): [
        "| transport | flows | ours to the picosecond | reference's within 20 ns "
        "| ours within 20 ns | reference's within 100 ns | ours within 100 ns "
        "| the same flows on both sides |",
        "| DCTCP | 6,559 | 560 | 575 | 572 | 696 | 695 | 566 |",
        "| Cubic | 6,559 | 560 | 575 | 572 | 696 | 695 | 566 |",
    ],
    ("abm", "differences"): [
        "| change under DCTCP | within 5% | incast flows over 10 ms | short 50 | short 99 "
        "| medium 50 | large 50 | incast 50 | incast 99 |",
        "| reference |  | 3,725 | 10 | 12 | 13 | 16 | 22 | 24 |",
        "| none | 50% | 3,716 | 0 | 2 | 3 | 6 | 12 | 14 |",
        "| `nic.fifo_packets=0` | 50% | 9 | 0 | 2 | 3 | 6 | 12 | 14 |",
        "| change under Cubic | within 5% | incast flows over 10 ms | short 50 | short 99 "
        "| medium 50 | medium 99 | large 50 | incast 99 |",
        "| reference |  | 3,725 | 10 | 12 | 13 | 15 | 16 | 24 |",
        "| none | 50% | 3,716 | 0 | 2 | 3 | 5 | 6 | 14 |",
        "| `nic.fifo_packets=0` | 50% | 9 | 0 | 2 | 3 | 5 | 6 | 14 |",
    ],
    ("abm", "others"): [
        "| transport | bytes of an answer | sharing | incast 99: reference, ours |",
        "| TIMELY | 92,160 | DT | **146, 108 [103.1 to 112.7] (-26.0%), differs** |",
        "| TIMELY | 92,160 | ABM by its paper | 146, 108 [103.1 to 112.7] (-26.0%) |",
    ],
    ("aqm", "marks"): [
        "| disc | senders | packets | marked in ns-3 | here | packets that differ |  |",
        "| `codel` | 8 | 16,619 | 2,453 | 2,453 | 0 | agrees |",
        "| `codel` | 8 | 16,619 | 2,453 | 1008 | random: 992.7 to 1024 | agrees |",
    ],
    ("aqm", "queues"): [
        "| disc | transport | senders | mean: ns-3, ours | 99: ns-3, ours "
        "| goodput in ns-3, Gbps | ours |",
        "| `codel` | NewReno | 2 | 24, 24 (+0.0%) | 49, 49 (+0.0%) | 9.64 | 9.639 |",
        "| `codel` | NewReno | 16 | **24, 28.2 (+17.5%), differs** | 49, 49 (+0.0%) "
        "| 9.64 | 9.639 |",
    ],
    ("aqm", "times"): [
        "| disc | flows |  | 50, us: ns-3, ours | 95: ns-3, ours | 99: ns-3, ours "
        "| median ratio | correlation |",
        "| `red70` | longer | 1,446 | 100,000, 110,000 (+10.0%), undecided "
        "| 100,000, 110,000 (+10.0%) | 100,000, 110,000 (+10.0%) | 1.0000 | 0.988 |",
    ],
    ("pfabric", "numbers"): [
        "| run |  | reference | ours | difference |",
        "| `web_60` | drops | 400,000 | 420,000 | +5.0% |",
        "| `web_60` | timeouts | 400,000 | 420,000 | +5.0%, **differs** |",
    ],
    ("pfabric", "flows"): [f"| run | {HEADS} 10% |", f"| `web_60` | short | {TOLD} |"],
    ("pfabric", "cases"): [
        "| case | flows the same | mean ratio | timeouts in the reference | timeouts here "
        "| drops in the reference | drops here |  |",
        "| `a` | 3 of 3 | 1.0010 | 2,057 | 2,058 | 9 | 8 | agrees |",
        "| `b` | 2 of 3 | 1.0010 | 2,057 | 2,058 | 9 | 8 | near, has ties |",
        "| `c` | 1 of 3 | 1.0010 | 2,057 | 2,058 | 9 | 8 | **differs** |",
    ],
    ("pias", "numbers"): [
        "| 692 flows | reference, ours | 95% interval of the reference | sprayed otherwise |",
        "| slowdown 50 | 1, 1.1 (+10.0%) | 0.9 to 1.2 | 1.05 to 1.15 |",
        "| time in us, 50 | **116.8, 99 (-15.0%), differs** | 113 to 120 | 98 to 99.5 |",
    ],
    ("pias", "differences"): [
        "| change | slowdown 50 | time in us, 50 |",
        "| reference | 1 | 116.8 |",
        "| none | 1.1 | 99 |",
        "| losses found by times (`rack`) | 1.2 | 2265 |",
    ],
    ("pias", "others"): [
        f"| flows |  | {SLOWDOWNS}",
        "| first | 1,396 | 1, 1.1 (+10.0%) | 2, 2 (+0.0%) | 4, 3 (-25.0%) |",
    ],
    ("rdma", "agreement"): [
        "| run | numbers | agree | in range | differ |",
        "| `A/dcqcn_paper_n20_paper_100ms_s1` | 2 | 1 |  | goodput +100.0% |",
        "| `A/dcqcn_n2_paper_100ms_s1` | 1 | 1 |  |  |",
        "| `B/dcqcn_0.5` | 2 | 1 | slowdown all p99 +11.1% |  |",
        "| `B/dcqcn_0.5_buf2` | 3 | 2 | slowdown all p99 +11.1% |  |",
        "| `B/hpcc_0.5` | 2 | 1 | slowdown all p99 +11.1% |  |",
        "| `C/inc16_nocc_buf2_pfcon` | 1 | 1 |  |  |",
    ],
    ("rdma", "flows"): [f"| run | {HEADS} 10% |", f"| `B/dcqcn_0.5` | all | {TOLD} |"],
    ("rdma", "differences"): [
        "| change | 20 senders: mean queue | 2 senders: mean queue | leaf-spine: slowdown 50 "
        "| leaf-spine: slowdown 99 | a quarter of the buffer: pauses "
        "| a quarter of the buffer: slowdown 99 | HPCC: slowdown 50 | HPCC: slowdown 99 "
        "| incast: pauses |",
        "| ours | 100 KB | 30 KB | 2 | 10 | 20,000 | 10 | 2 | 10 | 100 |",
        "| the reference | -1.0% | +0.0% | +0.0% | -10.0% | +50.0% | -10.0% | +0.0% | -10.0% "
        "| +0.0% |",
        "| moved starts | -2.0% to +1.0% | -20.0% to +0.0% | +0.0% | -10.0% to +0.0% | +0.0% "
        "| -10.0% to +0.0% | +0.0% | -10.0% to +0.0% | -10.0% to +0.0% |",
        # Bold begins 3% of ours beyond what moved starts gave: at 104 KB, and below 23.1 KB.
        "| a | +3.9% | -22.7% | +0.0% | +0.0% |  |  |  |  |  |",
        "| b | **+4.5%** | **-23.3%** |  |  |  |  |  |  |  |",
    ],
    ("linux", "agreement"): [
        "|  | agree |",
        "| goodput | 1 of 1 |",
        "| drops | 1 of 2 |",
        "| p99 of transfers | 0 of 1 |",
    ],
    ("linux", "differs"): [
        "| setting |  | Linux | ours | difference | verdict |",
        "| `pie_reno` | drops | 0 | 1.5 | - | differs |",
        "| `pie_cubic` | p99 of transfers | 4 | 3 | -25.0% | undecided |",
    ],
    ("occamy", "packets"): [
        "| sharing | list | queues | scheduler | runs | packets | expelled there | another fate "
        "| another time | another mark |",
        "| RR | `fix` | 1 | - | 9 | 9,000 | 1,234 | 0 | 2 | 1 |",
    ],
    ("occamy", "cases"): [
        "| case | packets | expelled there | another fate | another time | another mark "
        "| another queue | another occupancy | another threshold |",
        "| `push` | 40 | 3 | 0 | 0 | 0 | 5 | 0 | - |",
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A folder in place of the published documents."""
    monkeypatch.setattr(published, "HOME", tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def kept(home):
    for name, document in DOCUMENTS.items():
        published.publish(name, {**document, "bounds": BOUNDS}, 3.0)


def test_all_tables_are_tested():
    tables = [(name, table) for name, tables in blocks.TABLES.items() for table in tables]
    assert tables == [*EXPECTED]
    assert list(blocks.TABLES) == ["all", *published.COMMANDS]


@pytest.mark.parametrize(("name", "table"), EXPECTED)
def test_a_table(kept, name, table):
    text = blocks.validation(name, table)
    lines = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
    assert lines == EXPECTED[name, table]
    heads = [line for line in text.splitlines() if "---" in line]
    assert all(set(line) == {*"|- "} for line in heads) and heads


def test_every_reference_has_the_blocks_that_the_page_asks_for():
    page = Path(blocks.__file__).with_name("validation.md").read_text(encoding="utf-8")
    asked = [body.split() for kind, body in pages.BLOCK.findall(page) if kind == "validation"]
    assert sorted((name, table) for name, _, _, table in asked) == sorted(EXPECTED)


def test_a_page_has_the_table_or_is_not_made(kept, home, tmp_path):
    block = "a\n\n```validation\nlinux\ntable = agreement\n```\n\nb\n"
    text = pages.expanded(block, tmp_path, "images")
    assert text.startswith("a\n\n|  | agree |\n") and text.endswith("|\n\nb\n")
    (home / "linux.json").unlink()
    with pytest.raises(ValueError, match="validation linux: no numbers of linux are published"):
        pages.expanded(block, tmp_path, "images")


def test_the_document_is_kept_without_what_no_table_needs(home):
    run = {"drops": 1, "packet_hops": 2, "uncontended": {}, "flow_by_flow": [1, 2]}
    document = {
        "dctcp": {
            "rows": [{"reference_interval": [1.0, 2.0], "ours": 1 / 3, "interval": (0.25, 2)}],
            "ours": run,
            "drawn": [run],
            "differences": {"a=b": run, "c": [0.5, 2]},
        },
        "left_out": ["something"],
        "lost": float("inf"),
    }
    file = published.publish("abm", document, 12.34)
    assert file == home / "abm.json"
    assert file.read_text(encoding="utf-8") == (
        '{\n"command": "spillway validate abm FOLDER --differences --others",\n'
        f'"version": "{core.__version__}",\n"build": "{build()}",\n"cpu_s": 12.3,\n'
        '"dctcp": {"rows":[{"ours":0.3333333,"interval":[0.25,2]}],'
        '"ours":{"drops":1,"uncontended":{},"flow_by_flow":[1,2]},"drawn":[{"drops":1}],'
        '"differences":{"a=b":{"drops":1,"flow_by_flow":[1]},"c":[0.5,2]}},\n"lost": null\n}\n'
    )
    assert published.published("abm")["dctcp"]["ours"]["drops"] == 1


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "yaps"
    place.mkdir()
    (place / "micro_cases.csv").write_text(YAPS, encoding="utf-8")
    return place


def test_the_command_keeps_a_document(command, folder, home):
    command("validate", "pfabric", folder)
    assert not home.exists()
    shown = command("validate", "pfabric", folder, "--publish", "--json").json
    kept = json.loads((home / "pfabric.json").read_text(encoding="utf-8"))
    assert kept["cases"] == shown["cases"] and len(kept["cases"]) == 2
    assert kept["build"] == build() and kept["cpu_s"] >= 0
    assert "| `rack` | 1 of 1 | 1.0000 | 0 | 0 | 0 | 0 | agrees |" in blocks.validation(
        "pfabric", "cases"
    )


def test_other_runs_than_the_page_s_are_not_kept(command, folder, home):
    found = command("validate", "credence", folder, "--paths", "7", "--publish")
    assert found.status == 2 and not home.exists()
    assert "--publish: the page shows other runs" in found.err
    assert "spillway validate credence FOLDER --paths 8 --differences --publish" in found.err
