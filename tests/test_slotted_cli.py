"""`spillway slotted`."""

import json
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import spillway
from spillway.theory.slotted import Arrivals
from support import names


def test_run_prints_what_each_policy_makes_of_it(command):
    outcome = command(
        "slotted", "run", "against-followlqd", "--ports", "4", "--buffer", "16", "--json"
    )
    assert outcome.status == 0
    found = outcome.json
    assert found["ports"] == 4 and found["arrivals"][0]["most_in_a_slot"] == 4
    assert set(found["policies"]) == {"cs", "dt", "harmonic", "lqd", "followlqd", "credence"}
    (followlqd,) = found["policies"]["followlqd"]["runs"]
    assert 2.3 < followlqd["ratio"] < 2.5
    best = found["arrivals"][0]["optimum"]
    assert followlqd["ratio"] == best / followlqd["transmitted"]
    lost = sum(followlqd["drops"].values())
    assert followlqd["transmitted"] + lost == found["arrivals"][0]["packets"]
    (credence,) = found["policies"]["credence"]["runs"]
    assert credence["predictions"]["eta"] == credence["predictions"]["eta_bound"] == 1
    # People get the same in a table.
    assert "followlqd" in outcome.err and "OPT / ALG" in outcome.err


def test_keys_reach_generator_and_policies_and_seeds_differ(command):
    outcome = command(
        *("slotted", "run", "bursts", "--policies", "dt,credence", "--seeds", "1..2", "--json"),
        *("--set", "arrivals.slots=500", "--set", "dt.alpha=8"),
        *("--set", "credence.oracle=always-drop"),
    )
    found = outcome.json
    assert found["policies"]["dt"]["keys"] == {"alpha": 8}
    assert [row["slots"] for row in found["arrivals"]] == [500, 500]
    assert found["arrivals"][0]["optimum"] != found["arrivals"][1]["optimum"]
    (first, _) = found["policies"]["credence"]["runs"]
    assert first["counters"]["oracle_accepts"] == 0
    assert "worst" in outcome.err


def test_flipped_labels_make_predictions_wrong(command):
    keys = ("--policies", "credence", "--set", "arrivals.slots=500", "--json")
    found = command("slotted", "run", "bursts", "--flip-probability", "1", *keys).json
    predictions = found["policies"]["credence"]["runs"][0]["predictions"]
    assert predictions["true_positives"] == predictions["true_negatives"] == 0
    # The bound says nothing here: JSON has no infinity.
    assert predictions["eta_bound"] is None


def test_one_answer_to_all_is_a_prediction_for_every_packet(command):
    keys = ("--policies", "credence,lqd", "--set", "arrivals.slots=500", "--json")

    def told(oracle):
        found = command("slotted", "run", "bursts", "--set", f"credence.oracle={oracle}", *keys)
        policies = found.json["policies"]
        (lqd,), (credence,) = policies["lqd"]["runs"], policies["credence"]["runs"]
        return lqd["transmitted"], sum(lqd["drops"].values()), credence.get("predictions")

    # FollowLQD gets all packets, and nothing of them.
    sent, lost, predictions = told("always-accept")
    assert predictions["eta"] == sent / predictions["follow_lqd"]
    counts = ("true_positives", "true_negatives", "false_positives", "false_negatives")
    assert [predictions[name] for name in counts] == [0, sent, 0, lost]
    sent, lost, predictions = told("always-drop")
    assert predictions["follow_lqd"] == 0 and predictions["eta"] is None
    assert [predictions[name] for name in counts] == [lost, 0, sent, 0]
    assert told("random")[2] is None


@pytest.mark.parametrize("oracle", [(), ("--set", "credence.oracle=always-drop")])
def test_credence_s_own_flips_are_of_answers_and_not_of_labels(command, oracle):
    key = ("--set", "credence.flip_probability=1.0", *oracle, "--json")
    options = ("--policies", "credence", "--set", "arrivals.slots=300")
    (run,) = command("slotted", "run", "bursts", *options, *key).json["policies"]["credence"][
        "runs"
    ]
    assert run["counters"]["oracle_flips"] > 0 and "predictions" not in run
    found = command("slotted", "search", "credence", "--steps", "20", "--out", "w.parquet", *key)
    assert found.json["keys"]["flip_probability"] == 1
    sizes = ("--ports", "4", "--buffer", "8", "--policies", "credence")
    again = command("slotted", "run", "w.parquet", *sizes, *key).json
    assert again["policies"]["credence"]["runs"][0]["ratio"] == found.json["ratio"]


def test_a_search_keeps_the_worst_and_run_replays_it(command):
    options = ("--ports", "3", "--buffer", "6", "--json")
    kept = command("slotted", "search", "dt", "--steps", "200", "--out", "w.parquet", *options)
    assert kept.status == 0 and names() == ["w.parquet"]
    again = command("slotted", "run", "w.parquet", "--policies", "dt", *options).json
    assert again["policies"]["dt"]["runs"][0]["ratio"] == kept.json["ratio"]
    on = command("slotted", "search", "dt", "--steps", "9", "--start", "w.parquet", *options)
    assert on.json["ratio"] >= kept.json["ratio"]


@pytest.mark.parametrize("out", ["w.parquet", "the worst.csv"])
@pytest.mark.parametrize(
    ("policy", "more"),
    [
        ("dt", ("--set", "dt.alpha=4", "--set", "dt.count_arrival=false")),
        # Whose answers are drawn with the seed.
        ("credence", ("--seed", "7", "--set", 'credence.oracle="random"')),
    ],
)
def test_the_command_that_a_search_prints_shows_the_same_ratio(
    command, monkeypatch, policy, more, out
):
    # As narrow as it may be, the command stands in one line.
    monkeypatch.setenv("COLUMNS", "40")
    sizes = ("--ports", "4", "--buffer", "12", "--slots", "24", "--steps", "300")
    told = command("slotted", "search", policy, *sizes, *more, "--out", out, "--json")
    (line,) = (line for line in told.err.splitlines() if "spillway slotted run" in line)
    name, *arguments = shlex.split(line)
    assert name == "spillway" and arguments[2] == out
    again = command(*arguments, "--json").json
    (run,) = again["policies"][policy]["runs"]
    assert run["ratio"] == told.json["ratio"] > 1
    assert again["policies"][policy]["keys"] == told.json["keys"]


def test_the_worst_of_a_search_carries_what_it_is_the_worst_for(command):
    options = ("--buffer", "12", "--steps", "50", "--seed", "3", "--set", "dt.alpha=4", "--json")
    found = command("slotted", "search", "dt", *options, "--out", "w.parquet").json
    noted = json.loads(pq.read_schema("w.parquet").metadata[b"spillway.notes"])
    noted.pop("version")
    assert noted == {
        "policy": "dt",
        "keys": {"alpha": 4},
        "ports": 4,
        "buffer": 12,
        "seed": 3,
        "ratio": found["ratio"],
    }
    # They do not come in the way of reading, and there are none where nobody gives any.
    read = Arrivals.read("w.parquet")
    assert len(read) == found["packets"]
    read.write("plain.parquet")
    assert b"spillway.notes" not in pq.read_schema("plain.parquet").metadata


def test_arrivals_are_written(command):
    made = command(
        *("slotted", "arrivals", "bernoulli", "--out", "a.csv", "--ports", "3", "--seed", "2"),
        *("--set", "arrivals.slots=50", "--json"),
    )
    assert made.json["ports"] == 3 and made.json["slots"] == 50
    expected = Arrivals.generate("bernoulli", ports=3, buffer=64, seed=2, slots=50)
    assert len(Arrivals.read("a.csv")) == len(expected) == made.json["packets"]


@pytest.mark.parametrize("made", [("arrivals", "bursts"), ("search", "dt", "--steps", "5")])
def test_a_file_is_replaced_by_force_only(command, made):
    Path("a.csv").write_text("slot,port\n")
    refused = command("slotted", *made, "--out", "a.csv")
    assert refused.status == 2 and Path("a.csv").read_text() == "slot,port\n"
    assert "a.csv is there already" in refused.err and "--force" in refused.err
    assert command("slotted", *made, "--out", "a.csv", "--force").status == 0
    assert len(Arrivals.read("a.csv")) > 0
    Path("link.csv").symlink_to("nowhere.csv")
    assert command("slotted", *made, "--out", "link.csv").status == 2
    assert command("slotted", *made, "--out", "link.csv", "--force").status == 0


def test_a_file_with_a_port_too_many_asks_for_ports(command):
    Path("a.csv").write_text("slot,port\n0,5\n")
    outcome = command("slotted", "run", "a.csv", "--ports", "3")
    assert outcome.status == 2
    assert "a.csv: there is a port 5, and of 3 ports" in outcome.err and "--ports 6" in outcome.err
    with pytest.raises(spillway.Error) as caught:
        Arrivals.read("a.csv", ports=3)
    assert caught.value.hint == "with ports=6, or more, it has a place"


def test_packets_of_a_run_are_binned(command):
    text = "time_ps,switch,port,size_bytes\n0,leaf0,1,3000\n2000,leaf0,0,1500\n"
    Path("t.csv").write_text(text)
    made = command("slotted", "arrivals", "t.csv", "--switch", "leaf0", "--out", "a.parquet")
    assert "3 packets in 1 slots for 2 ports" in made.out and "the greatest port" in made.out
    assert Arrivals.read("a.parquet") == Arrivals.of_slots(2, [[1, 1, 0]])


@pytest.mark.parametrize(
    ("option", "value"), [("--slot-ns", "inf"), ("--slot-ns", "1e300"), ("--unit-bytes", "9" * 20)]
)
def test_slots_and_units_that_cannot_be_are_refused(command, option, value):
    Path("t.csv").write_text("time_ps,switch,port,size_bytes\n0,leaf0,1,3000\n")
    outcome = command(
        *("slotted", "arrivals", "t.csv", "--switch", "leaf0", "--out", "a.csv", option, value)
    )
    assert outcome.status == 2 and "not possible" in outcome.err and names() == ["t.csv"]


def test_other_commands_report(command):
    assert len(command("slotted", "list", "--json").json["generators"]) == 8
    assert "against-cs" in command("slotted", "list").out
    options = ("--ports", "3", "--buffer", "6", "--seeds", "1", "--json")
    assert len(command("slotted", "table1", *options).json["rows"]) == 12
    assert (
        "Infinity"
        not in command("slotted", "table1", "--ports", "2", "--buffer", "2", *options[4:]).out
    )
    told = command("slotted", "table1", *options[:-1]).out
    assert "of the bound" in told and "by definition" in told
    found = command("slotted", "lemma1", "--instances", "50", "--set", "credence.safeguard=false")
    assert "Credence < LQD / eta" in found.out


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["run", "burst"], 'there is no generator "burst"', "did you mean `bursts`?"),
        (["run", "bursts", "--policies", "dtt"], 'no algorithm "dtt"', "did you mean `dt`?"),
        (["run", "bursts", "--set", "dtt.alpha=1"], "--set dtt:", "did you mean `dt`?"),
        (["run", "bursts", "--set", "dt=1"], "which of its keys?", "--set dt.KEY=1"),
        (["run", "bursts", "--set", "arrivals.lod=1"], "bursts.lod: unknown key", "mean `load`?"),
        (["run", "bursts", "--ports", "0"], "0 ports are not possible", "1 to 65,536"),
        (["run", "bursts", "--flip-probability", "7"], "7 is not a probability", "[0, 1]"),
        (
            ["run", "bursts", "--flip-probability", "0.1", "--set", "credence.oracle=random"],
            "there are no labels to flip",
            "credence.flip_probability",
        ),
        (["run", "bursts", "--set", "dt.buffer=1"], "dt.buffer: unknown key", ""),
        (["run", "bursts", "--set", "arrivals.seed=1"], "bursts.seed: unknown key", ""),
        (["run", "bursts", "--seeds", "1..99999999999"], "too many seeds", "1,000,000"),
        (["run", "bursts", "--seeds", "9" * 5000], "is not a list of seeds", "1..5"),
        (["lemma1", "--set", "credence.instances=1"], "credence.instances: unknown key", ""),
        (["run", "bursts", "--policies", ""], "a name is missing", "--policies dt,lqd"),
        (["run", "bursts", "--policies", "dt,,lqd"], "a name is missing", "--policies dt,lqd"),
        (["run", "bursts", "--set", "dt.alpha=-1"], "dt.alpha: -1", "spillway list sharing"),
        (["search", "dt", "--set", "dt.alpha=-1"], "dt.alpha: -1", "spillway list sharing"),
        (["run", "bursts", "--set", "arrivals.load=-1"], "bursts.load", "spillway slotted list"),
        (["run", "something-else"], "there is no generator", "valid here: bursts"),
        (["run", "no.csv"], "no.csv: there is no such file", ""),
        (["run", "no.csv", "--set", "arrivals.a=1"], "a file has no keys", ""),
        (["search", "dt", "--out", "a.txt"], "neither .csv nor .parquet", "end of its name"),
        (["search", "dt", "--out", "no/a.csv"], "there is no folder no", "make it first"),
        (["search", "dt", "--set", "arrivals.slots=1"], "makes its own arrivals", "--start"),
        (["lemma1", "--set", "credence.oracle=random"], "has no part in this", "drawn"),
    ],
)
def test_what_is_wrong_is_refused(command, arguments, error, hint):
    outcome = command("slotted", *arguments)
    assert outcome.status == 2 and outcome.out == ""
    assert error in outcome.err and hint in outcome.err
    assert "Traceback" not in outcome.err


def test_an_interrupted_search_keeps_the_best_so_far(command, monkeypatch):
    from spillway.theory.slotted import worst

    changed, steps = worst._changed, iter(range(150))

    def interrupt(*given):
        if next(steps, None) is None:
            raise KeyboardInterrupt
        return changed(*given)

    monkeypatch.setattr(worst, "_changed", interrupt)
    options = ("--ports", "3", "--buffer", "6", "--json")
    outcome = command("slotted", "search", "dt", "--out", "w.parquet", *options)
    assert outcome.status == 130 and names() == ["w.parquet"]
    assert "after 150 steps of 20,000: interrupted" in outcome.err
    assert outcome.json["interrupted"] and outcome.json["steps"] == 150
    again = command("slotted", "run", "w.parquet", "--policies", "dt", *options).json
    assert again["policies"]["dt"]["runs"][0]["ratio"] == outcome.json["ratio"]


def test_a_search_that_has_found_nothing_leaves_nothing(command, monkeypatch):
    from spillway.theory.slotted import worst

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(worst, "measure", interrupt)
    outcome = command("slotted", "search", "dt", "--out", "w.parquet")
    assert outcome.status == 130
    assert names() == []
