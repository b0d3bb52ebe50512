"""The tables of docs/comparison.md, out of what `spillway compare` leaves."""

import importlib.util
import json
from pathlib import Path

import spillway
from support import TINY

FILE = Path(__file__).parents[1] / "docs" / "comparison.py"


def generator():
    """The program, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("comparison", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(few, **values):
    return {"few_samples": few, **values}


def variant(label, *few):
    """Runs in which these percentiles of incasts rest on few flows."""
    other = row([], p95=1.0, p99=2.0)
    mean = {
        "fct_slowdown": {
            "short": other,
            "incast": row([], p95=10.0, p99=1234.0),
            "all": {"with_timeout": 3.0},
        },
        "buffer_occupancy": {"p99": 0.25},
    }
    runs = [
        {"fct_slowdown": {"short": other, "incast": row(each)}, "drops": {"aqm": number}}
        for number, each in enumerate(few)
    ]
    return {"label": f"sharing={label}", "mean": mean, "std": mean, "runs": runs}


def test_what_rests_on_few_flows_in_a_run_is_marked():
    summary = {"variants": [variant("dt", [], ["p99"]), variant("lqd", [], [])]}
    lines = generator().table(summary, ("short", "incast")).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0][:5] == ["", "short p95", "short p99", "incast p95", "incast p99"]
    assert cells[2][:5] == ["`dt`", "1 ± 1", "2 ± 2", "10 ± 10", "1,234~ ± 1,234"]
    assert cells[3][:5] == ["`lqd`", "1 ± 1", "2 ± 2", "10 ± 10", "1,234 ± 1,234"]


def test_policies_are_compared_in_pairs_seed_by_seed():
    def variant(label, *p99s, few=()):
        runs = [{"fct_slowdown": {"incast": row(few, p99=p99)}} for p99 in p99s]
        return {"label": f"sharing={label}", "runs": runs}

    # With seed 1 a half, with seed 2 three times as much: 1.75 on average, though the means are 50
    # and 60. Of the third nobody knows one.
    base = variant("dt", 100, 20, None)
    variants = [variant("lqd", 50, 60, 1), base, variant("cs", None, None, None)]
    summary = {"variants": [*variants, variant("abm", 100, 20, 1, few=["p99"])]}
    lines = generator().pairs(summary, ("incast",)).splitlines()
    assert lines == [
        "|  | incast p99 |",
        "| --- | --- |",
        "| `lqd` | 1.75 (0.50 to 3.00) |",
        "| `cs` | - |",
        "| `abm` | 1.00~ (1.00 to 1.00) |",
    ]


def test_a_comparison_s_summary_has_what_the_page_needs(tmp_path):
    folder = tmp_path / "result"
    spillway.sweep(TINY, vary=["switch.sharing=dt,lqd"], seeds=[1, 2], out=folder)
    summary = json.loads((folder / "summary.json").read_text())
    own = generator()
    for each in summary["variants"]:
        # 16 incast flows or so have none beyond their 99th percentile that would count.
        assert own.is_few(each, "incast", "p99")
        assert "~ ± " in own.slowdown(each, "incast", "p99")
    assert "In pairs" in own.block("credence", summary)
