"""`spillway arena`: runs, table, page, errors; going on after an interruption."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import mean

import pyarrow.parquet as pq
import pytest

import spillway
from spillway.contest import page, tuned
from spillway.contest.factors import KEYS, factors
from spillway.contest.grounds import grounds
from spillway.experiment import work
from spillway.plugins import Aqm, Verdict
from support import TINY, names

OTHERS = dict.fromkeys(("levels", "recovery"), "own")
SMALL = {
    "factors": {"sharing": "dt,lqd,cs", "aqm": "none,ecn", "transport": "dctcp,cubic", **OTHERS},
    "seeds": "1..2",
}
FACTORS = [
    word for name, levels in SMALL["factors"].items() for word in ("--factor", f"{name}={levels}")
]

OWN = '''
"""A plug-in of the tests."""

from spillway.plugins import Sharing


class Mine(Sharing):
    """A part of the free buffer for each queue."""

    id = "mine"
    alpha: float = 2.0

    def admit(self, arrival, buffer):
        return buffer.bytes(arrival.queue) + arrival.size <= self.alpha * buffer.free


class Nameless(Sharing):
    """Without an id."""

    def admit(self, arrival, buffer):
        return True
'''


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small arena, kept."""
    return spillway.arena(TINY, **SMALL, out=tmp_path_factory.mktemp("arena") / "out")


def plain(table):
    """A table without what runs cost."""
    return table.drop_columns([name for name in table.column_names if name.startswith("run.")])


# What comes out -----------------------------------------------------------------------------------


def test_the_table_has_a_row_for_every_combination_and_seed(small):
    assert small.runs.num_rows == 4 * 3 * 2
    assert small.runs.equals(pq.read_table(small.folder / "arena.parquet"))
    rows = small.runs.select(["context", "sharing", "seed"]).to_pylist()
    assert len({tuple(row.values()) for row in rows}) == 4 * 3 * 2


@pytest.mark.filterwarnings("ignore:switch.aqm.threshold")
def test_a_row_is_what_a_run_of_that_combination_comes_to(small):
    row = small.runs.to_pylist()[7]
    again = spillway.run(
        TINY,
        set=[
            f"transport.kind={row['transport']}",
            f"switch.aqm={row['aqm']}",
            f"switch.sharing={row['sharing']}",
            f"seed={row['seed']}",
        ],
    )
    slowdown = again.summary["fct_slowdown"]["all"]
    assert row["rank.all.p99"] == slowdown["p99"] == row["fct_slowdown.all.p99"]
    assert row["fct_slowdown.all.count"] == slowdown["count"]


def test_levels_meet_on_the_same_flows(small):
    counts = {}
    for row in small.runs.to_pylist():
        counts.setdefault(row["seed"], set()).add(row["flows.started"])
    assert [len(each) for each in counts.values()] == [1, 1]


def test_the_summary_tells_of_every_level(small):
    found = small.summary
    assert found == json.loads((small.folder / "arena.json").read_text())
    assert found["status"] == "complete"
    assert [each["level"] for each in found["levels"]] == ["dt", "lqd", "cs"]
    ranks = [each["rank"]["value"] for each in found["levels"]]
    assert sum(ranks) == pytest.approx(6)
    by_hand = {}
    rows = small.runs.to_pylist()
    for one in rows:
        if one["sharing"] == "dt":
            (base,) = [
                row["rank.all.p99"]
                for row in rows
                if row["sharing"] == "lqd"
                and (row["context"], row["seed"]) == (one["context"], one["seed"])
            ]
            own = one["rank.all.p99"]
            by_hand[one["context"], one["seed"]] = 1.0 if own < base else 0.5 * (own == base)
    assert found["wins"][0][1]["value"] == pytest.approx(sum(by_hand.values()) / 8)


def test_what_matters_is_told_of_timeouts_and_of_those_without():
    """All combinations are there, so a level's effect is its mean less that of all."""
    busy = ("switch.buffer=20KB", "transport.recovery.min_rto=200us")
    found = spillway.arena(TINY, **{**SMALL, "seeds": [1]}, set=busy)
    models = {each["metric"]: each for each in found.summary["effects"]}
    assert [*models] == ["all.p99", "flows with a timeout", "mean without a timeout", "goodput"]
    rows = found.runs.to_pylist()
    for row in rows:
        late, ended, left = (
            row[f"fct_slowdown.all.{key}"] for key in ("with_timeout", "count", "unfinished")
        )
        assert row["timeouts"] == late / (ended + left)
    for title, column, is_ratio in (
        ("flows with a timeout", "timeouts", False),
        ("mean without a timeout", "without_timeout.all.mean", True),
    ):
        numbers = {name: [] for name in ("dt", "lqd", "cs")}
        for row in rows:
            numbers[row["sharing"]].append(math.log(row[column]) if is_ratio else row[column])
        whole = mean([each for of in numbers.values() for each in of])
        off = {name: mean(of) - whole for name, of in numbers.items()}
        assert max(off.values()) > 1e-3
        told = {each["level"]: each["value"] for each in models[title]["levels"]["sharing"]}
        expected = {name: math.exp(each) if is_ratio else each for name, each in off.items()}
        assert told == pytest.approx(expected, rel=1e-4, abs=1e-6)
    (standing,) = [each for each in found.summary["levels"] if each["level"] == "dt"]
    late = mean([row["timeouts"] for row in rows if row["sharing"] == "dt"])
    assert standing["timeouts"]["value"] == pytest.approx(late)
    assert [each["metric"] for each in found.summary["metrics"]][1] == "without_timeout.all.p99"


def test_the_page_begins_with_the_answer_and_names_what_is_left_out(small):
    text = (small.folder / "index.html").read_text()
    body = text[text.index("<body>") :]
    begin = re.sub(r"<[^>]+>", "", body)[:400]
    assert small.answer.replace("`", "") in " ".join(begin.split())
    assert "Triples are not covered" not in body  # all four contexts are there
    assert body.count("data:image/svg+xml") == 3
    assert "http" not in re.sub(r'src="[^"]+"', "", body)


def test_a_fraction_says_that_triples_are_not_covered(tmp_path):
    lines = []
    wide = {**SMALL["factors"], "aqm": "none,ecn,codel", "levels": "fifo,rr"}
    found = spillway.arena(
        TINY, factors=wide, seeds=[1], packets=2000, out=tmp_path / "out", say=lines.append
    )
    assert found.summary["design"]["contexts"] < found.summary["design"]["of"] == 12
    assert lines[1].endswith("not all triples occur")
    assert "Triples are not covered" in (tmp_path / "out/index.html").read_text()


def test_what_it_says_of_itself(small):
    assert repr(small).startswith("<Arena over tiny: ")
    assert "rank" in repr(small.table())
    assert "<table>" in small._repr_html_()


def test_nothing_is_run_twice_and_more_seeds_are_added(small, tmp_path):
    lines = []
    again = spillway.arena(TINY, **SMALL, out=small.folder, say=lines.append)
    assert "24 runs are there already" in lines
    assert again.summary == small.summary
    more = spillway.arena(TINY, **{**SMALL, "seeds": "1..3"}, out=small.folder, say=lines.append)
    assert more.summary["seeds"] == [1, 2, 3]
    assert lines.count("24 runs are there already") == 2


def test_without_a_folder_it_is_the_same(small):
    here = spillway.arena(TINY, **SMALL)
    assert here.folder is None
    assert plain(here.runs).drop_columns(["key"]).equals(plain(small.runs).drop_columns(["key"]))


def test_going_on_after_an_interruption_gives_the_same(small, tmp_path, monkeypatch):
    real, done = work.run_to, []

    def run_to(*given, **more):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(1)
        return real(*given, **more)

    out = tmp_path / "out"
    with monkeypatch.context() as context:
        context.setattr(work, "run_to", run_to)
        with pytest.raises(spillway.Interrupted):
            spillway.arena(TINY, **SMALL, out=out, jobs=1)
    assert json.loads((out / "arena.json").read_text()) == {"status": "incomplete"}
    assert names(out) == ["arena.json", "tiny"]
    lines = []
    found = spillway.arena(TINY, **SMALL, out=out, say=lines.append)
    assert "5 runs are there already" in lines
    assert found.summary == small.summary
    assert plain(found.runs).equals(plain(small.runs))


def test_workers_elsewhere_compute_it(command, monkeypatch):
    """What Slurm and Ray start is `spillway work` on the folder of each scenario."""
    Path("mine.py").write_text(OWN)
    given = ["arena", TINY, *FACTORS, "--seeds", 1, "--plugin", "mine.py:Mine", "--out", "out"]

    def run_to(*given, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(work, "run_to", run_to)
        assert command(*given).status == 130
    Path("mine.py").unlink()
    assert "16 of 16 runs that were missing are computed here" in command("work", "out/tiny").err
    Path("mine.py").write_text(OWN)
    done = command(*given)
    assert done.status == 0
    assert "16 runs are there already" in done.err


def test_an_interrupted_command_says_how_to_go_on(command, monkeypatch):
    def run_to(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "run_to", run_to)
    done = command("arena", TINY, *FACTORS, "--out", "out")
    assert done.status == 130
    assert "the same command goes on from there" in done.err
    done = command("arena", TINY, *FACTORS)
    assert "nothing is kept without --out" in done.err


def test_another_factor_can_be_ranked():
    found = spillway.arena(
        TINY,
        factors={"sharing": "dt,lqd", "aqm": "none,ecn,codel", "transport": "own", **OTHERS},
        ranked="aqm",
        seeds=[1],
    )
    assert found.summary["ranked"] == "aqm"
    assert [each["level"] for each in found.summary["levels"]] == ["none", "ecn", "codel"]
    assert "LQD" not in found.answer
    assert found.summary["levels"][0]["optimum"] is None


def test_protection_is_a_factor_with_a_limit_in_switches(tmp_path):
    busy = ("switch.buffer=20KB", "transport.recovery.min_rto=200us")
    given = {"sharing": "dt,lqd", "aqm": "none,ecn", "transport": "dctcp,cubic", **OTHERS}
    given = {"factors": {**given, "protection": "none,tlt"}, "runs": "all", "seeds": [1]}
    found = spillway.arena(TINY, **given, set=busy, out=tmp_path / "out")
    rows = found.runs.to_pylist()
    (row, *_) = (each for each in rows if each["protection"] == "tlt")
    chosen = [f"{KEYS[name]}={row[name]}" for name in ("transport", "aqm", "sharing")]
    tlt = ["transport.protection=tlt", "switch.unimportant_limit=9%"]
    again = spillway.run(TINY, set=[*busy, *chosen, *tlt, "seed=1"])
    assert row["rank.all.p99"] == again.summary["fct_slowdown"]["all"]["p99"]
    assert row["drops.unimportant"] == again.summary["drops"]["unimportant"] > 0
    assert not any(each["drops.unimportant"] for each in rows if each["protection"] == "none")
    assert ["protection"] in [each["of"] for each in found.summary["effects"][0]["shares"]]
    assert "<li>protection: none, tlt</li>" in (tmp_path / "out/index.html").read_text()


def test_protection_can_be_ranked_by_its_state_too():
    given = {"sharing": "lqd", "aqm": "own", "transport": "dctcp,cubic", **OTHERS}
    found = spillway.arena(TINY, factors=given, ranked="protection", seeds=[1])
    levels = {each["level"]: each["state_bits"] for each in found.summary["levels"]}
    assert levels == {"none": 0, "tlt": 24 * 32 + 10_666}


def test_a_metric_that_no_run_has_is_told():
    found = spillway.arena(
        "incast-star", factors={**SMALL["factors"], "aqm": "own"}, seeds=[1], packets=2000
    )
    assert found.answer == "No run has the number all.p99."
    assert page.written(found.summary).decode().count("<article>") == 1


def test_a_scenario_without_the_number_is_told_and_not_counted():
    found = spillway.arena(
        ["incast-star", TINY],
        factors={**SMALL["factors"], "aqm": "own", "transport": "own"},
        seeds=[1],
        packets=2000,
    )
    assert found.summary["without"] == ["incast-star"]
    assert "over 1 context in 1 scenario" in found.answer.replace("Over", "over")
    assert "No run has this number in incast-star" in " ".join(repr(found.table()).split())


def test_a_user_level_is_that_scenario():
    mine = "dt8:switch.sharing={kind='dt',alpha=8}"
    found = spillway.arena(
        TINY,
        factors={"sharing": [mine, "lqd"], "aqm": "own", "transport": "own", **OTHERS},
        seeds=[1],
    )
    row = found.runs.to_pylist()[0]
    again = spillway.run(TINY, set=["switch.sharing={kind='dt',alpha=8}", "seed=1"])
    assert row["sharing"] == "dt8"
    assert row["rank.all.p99"] == again.summary["fct_slowdown"]["all"]["p99"]


# One's own ----------------------------------------------------------------------------------------


def test_ones_own_policy_is_told_where_it_stands(command):
    Path("mine.py").write_text(OWN)
    given = ["arena", TINY, *FACTORS, "--seeds", 1, "--plugin", "mine.py:Mine", "--out", "out"]
    done = command(*given, "--json")
    assert done.status == 0, done.err
    assert done.json["own"] == ["mine"]
    (yours,) = done.json["yours"]
    assert re.match(
        r"`mine`, which is yours, is number \d of 4.*: its mean rank is [\d.]+ \([\d.]+ to "
        r"[\d.]+\)\. Won, equal and lost against all others: tiny \d+, \d+ and \d+\.$",
        yours,
    )
    assert "<code>mine</code>, which is yours" in Path("out/index.html").read_text()
    (level,) = [each for each in done.json["levels"] if each["is_own"]]
    assert level["state_bits"] is None
    assert level["optimum"]["why"] == "not in the slotted model: it takes no plug-ins"


def test_a_plugin_of_another_kind_ranks_its_own_factor():
    class Half(Aqm):
        """Marks nothing."""

        id = "half"

        def on_arrival(self, arrival, buffer):
            return Verdict.PASS

    found = spillway.arena(
        TINY, factors={**SMALL["factors"], "sharing": "dt"}, plugins=[Half], seeds=[1]
    )
    assert found.summary["ranked"] == "aqm"
    assert found.summary["own"] == ["half"]


# Tuned --------------------------------------------------------------------------------------------


def test_the_same_budget_is_searched_for_every_level_that_has_keys(tmp_path):
    lines = []
    out = tmp_path / "out"
    given = {"factors": {"sharing": "dt,lqd", "aqm": "own", "transport": "own", **OTHERS}}
    found = spillway.arena(TINY, **given, seeds=[1], tuned=4, out=out, say=lines.append)
    searched = [line for line in lines if "searching" in line]
    assert searched == ["tiny, dt: searching switch.sharing.alpha=0.125..2.0:log"]
    assert found.summary["tuned_trials"] == 4
    best = json.loads((out / "tuned/tiny/dt/summary.json").read_text())
    assert best["asked"]["seeds"] == [900_001, 900_002]
    assert best["asked"]["trials"] == 4
    alpha = best["winners"][0]["set"]["switch.sharing.alpha"]
    row = found.runs.to_pylist()[0]
    again = spillway.run(TINY, set=["switch.sharing=dt", f"switch.sharing.alpha={alpha}", "seed=1"])
    assert row["rank.all.p99"] == again.summary["fct_slowdown"]["all"]["p99"]


@pytest.fixture(scope="module")
def ground():
    """The small scenario, as arenas have it."""
    (found,) = grounds([TINY], (), (), packets=0, is_kept=False)
    return found


@pytest.mark.parametrize(
    ("factor", "level", "expected"),
    [
        ("aqm", "ecn", ["threshold=16.25pkt..260pkt:log"]),
        ("sharing", "cs", []),
        ("aqm", "tcn", ["threshold=19.5us..312us:log"]),
        # Not the probability of an oracle that it does not have.
        ("sharing", "credence", []),
        # Whole bytes, and as far as the other end of the line; not the size of a CNP.
        (
            "sharing",
            "reverie",
            ["alpha=0.25..4.0:log", "gamma=0.24975..1.0:log", "saturation=5120B..81920B:log"],
        ),
        (
            "aqm",
            "red",
            [
                "min=2.5pkt..10pkt:log",
                "max=7.5pkt..30pkt:log",
                "max_probability=0.005..0.08:log",
                "weight=0.25..1.0:log",
            ],
        ),
        (
            "transport",
            "dctcp-rdma",
            [
                "g=0.015625..0.25:log",
                "alpha0=0.25..1.0:log",
                "rate_step=153.75Mbps..2460Mbps:log",
                "min_rate=0.25Gbps..4Gbps:log",
                "window=0.25bdp..4bdp:log",
            ],
        ),
    ],
)
def test_what_is_searched_is_around_the_default(ground, factor, level, expected):
    (found,) = [each for each in factors({factor: level}) if each.name == factor]
    path = KEYS[factor].removesuffix(".kind")
    told = tuned.ranges(found.levels[0], factor, ground)
    assert told == [f"{path}.{each}" for each in expected]


def test_policies_are_searched_whatever_their_keys(tmp_path):
    """A range that is not valid would end it, and so would a default without the number."""
    lines = []
    of = {
        "sharing": "lqd,credence,abm,smartbuf,reverie",
        "aqm": "own",
        "transport": "own",
        **OTHERS,
    }
    given = {"factors": of, "packets": 2000}
    scenarios = [TINY, "incast-star"]
    found = spillway.arena(
        scenarios, **given, seeds=[1], tuned=1, out=tmp_path / "out", say=lines.append
    )
    searched = [line for line in lines if line.startswith("tiny, ") and "searching" in line]
    assert len(searched) == 3
    assert lines[1] == "and 24 runs in 6 searches of keys, which come first"
    stay = [line for line in lines if "the defaults stay, since" in line]
    assert len(stay) == 3 and all("has no all.p99" in line for line in stay)
    assert found.summary["without"] == ["incast-star"]


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--factor", "colour=red"], "factors: there is no 'colour'"),
        (["--ranked", "colour"], "there is no factor 'colour'"),
        (["--runs", "many"], "--runs 'many' is no number"),
        (["--runs", "0"], "runs: 0 is not valid"),
        (["--packets", "0"], "--packets"),
        (["--metric", "goodput"], "goodput is not ranked"),
        (["--metric", "nix"], "there is no metric 'nix'"),
        (["--seeds", "3..1"], "'3..1' is not a list of seeds"),
        (["--plugin", "mine.py:Nameless"], "Nameless has no id"),
        (["--on", "moon"], "there is no engine 'moon'"),
        (["--sbatch", "--time=1"], "--sbatch is for Slurm"),
        (["--set", "switch.colour=red"], "'tiny' from"),
        (
            ["--factor", "sharing=pfabric,lqd,cs", "--factor", "levels=rr"],
            "sharing=pfabric can be had in no context",
        ),
        (["--runs", "all", "--seeds", "1..9999"], "the design has"),
        (["--factor", "aqm=own", "--seeds", "1..99999"], "the design has"),
    ],
)
def test_what_is_wrong_is_named_before_anything_runs(command, more, message):
    Path("mine.py").write_text(OWN)
    done = command("arena", TINY, "--out", "out", *more)
    assert done.status == 2
    assert message in done.err
    assert not Path("out").exists()


def test_workers_elsewhere_need_a_folder():
    with pytest.raises(spillway.ScenarioError, match="on slurm workers share a folder"):
        spillway.arena(TINY, **SMALL, on="slurm")


def test_a_folder_of_something_else_is_left_alone(command):
    Path("out").mkdir()
    Path("out/letter.txt").write_text("Dear all")
    done = command("arena", TINY, *FACTORS, "--out", "out")
    assert done.status == 2
    assert "out is there already, and no arena" in done.err
    assert names("out") == ["letter.txt"]


def test_another_scenario_of_the_same_name_is_refused(command):
    given = ["arena", TINY, *FACTORS, "--seeds", 1, "--out", "out"]
    assert command(*given).status == 0
    done = command(*given, "--set", "switch.buffer=50KB")
    assert done.status == 2
    assert "out/tiny is an experiment about another scenario" in done.err
    assert command(*given, "--set", "switch.buffer=50KB", "--force").status == 0


def test_the_command_says_what_it_does(command):
    done = command("arena", TINY, *FACTORS, "--seeds", 1)
    assert done.status == 0
    assert "4 of 4 contexts, x 3 levels of sharing x 1 seed: 12 different runs" in done.err
    assert "each of 4 pairs of levels" not in done.out
    assert "too few contexts to tell what beats LQD" in " ".join(done.out.split())
    assert done.out.splitlines()[0].startswith("Over 4 contexts in 1 scenario")


@pytest.mark.slow
def test_an_arena_of_papers_scenarios(tmp_path):
    """About two minutes of processor time: all policies over four scenarios."""
    found = spillway.arena(
        ["credence", "occamy", "smartbuf", "qclimb-testbed"],
        factors={
            "aqm": "none,ecn,codel",
            "transport": "dctcp,cubic",
            "levels": "fifo,rr,pias",
            "recovery": "own,rack",
        },
        packets=300_000,
        seeds="1..2",
        out=tmp_path / "out",
    )
    levels = {each["level"]: each for each in found.summary["levels"]}
    assert len(levels) == 18
    assert levels["lqd"]["rank"]["value"] < levels["sp"]["rank"]["value"]
    assert levels["lqd"]["optimum"]["least"] > 0.9
    assert found.summary["design"]["left_out"] == []
    page = (tmp_path / "out/index.html").read_text()
    heads = re.findall("<h[23]>(.*?)</h[23]>", page)
    assert heads[:7] == [
        "Standings",
        "Who beats whom",
        "The worst case of each",
        "By other metrics",
        "Fronts",
        "What matters",
        "Each level, all else being equal",
    ]
    standings = page[page.index("Standings") : page.index("Who beats whom")]
    assert all(f">{name}<" in standings for name in levels)
    assert page.count('src="data:image/svg+xml') == 3
