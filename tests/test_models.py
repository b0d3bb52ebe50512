"""Which models switches ask, and what models know of their training."""

import re
import struct
import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import spillway
from spillway.learning.oracle import Model, evaluate, train
from spillway.learning.oracle.model import Seen
from spillway.learning.oracle.trace import join, load
from support import TINY, names, with_right_checksum

MS = 1_000_000_000
SMALL = ("switch.buffer=25KB", "switch.aqm.threshold=unlimited")
TRACED = ("switch.sharing=lqd", *SMALL, "record.oracle_trace=true")


def forest(drops: bool, seen: Seen | None = None) -> Model:
    """A model that says the same of every packet."""
    forest = RandomForestClassifier(n_estimators=1, max_depth=1, random_state=1, bootstrap=False)
    forest.fit(np.zeros((2, 1), np.float32), [0, 1], sample_weight=[1, 3] if drops else [3, 1])
    return Model.of(forest, ["queue"], "fraction", "time", {}, seen)


def tiny(folder, *assignments: str) -> spillway.Scenario:
    scenario = spillway.Scenario.load(TINY).set(*SMALL, *assignments)
    scenario.folder = folder
    return scenario


def asking(model: str) -> str:
    return f'switch.sharing={{ kind = "blind-trust", oracle = "forest", model = {model} }}'


def counts(result: spillway.Result, tier: str) -> tuple[int, int]:
    told = result.summary["sharing_counts"][tier]
    return told["oracle_accepts"], told["oracle_drops"]


def test_every_switch_asks_its_own_model(tmp_path):
    """By the names of switches, else of tiers: leaf0 takes nothing, all others everything."""
    forest(True).save(tmp_path / "no")
    forest(False).save(tmp_path / "yes")
    table = '{ leaf = "yes", spine = "yes", leaf0 = "no" }'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = spillway.run(tiny(tmp_path, asking(table)), out=tmp_path / "first")
    assert set(result.drops["switch"].to_pylist()) == {"leaf0"}
    assert counts(result, "leaf")[1] > 100 and counts(result, "spine")[1] == 0
    copies = {"switch.sharing.model.leaf", "switch.sharing.model.leaf0"}
    assert copies == set(names(tmp_path / "first" / "inputs"))
    (tmp_path / "no").unlink()
    again = spillway.run(tmp_path / "first")
    assert again.drops.equals(result.drops)


def test_a_folder_of_models_is_a_table_of_them(tmp_path):
    (tmp_path / "models").mkdir()
    for name, drops in {"leaf": False, "spine": False, "leaf1": True}.items():
        forest(drops).save(tmp_path / "models" / f"{name}.safetensors")
    (tmp_path / "models" / "notes.txt").write_text("")
    first = spillway.run(tiny(tmp_path, asking('"models"')), out=tmp_path / "first")
    assert set(first.drops["switch"].to_pylist()) == {"leaf1"}
    listed = {of: f"models/{of}.safetensors" for of in ("leaf", "leaf1", "spine")}
    assert tiny(tmp_path, asking('"models"')).resolved["switch"]["sharing"]["model"] == listed
    copies = {f"switch.sharing.model.{of}.safetensors" for of in listed}
    assert set(names(tmp_path / "first" / "inputs")) == copies
    for file in (tmp_path / "models").iterdir():
        file.unlink()
    assert spillway.run(tmp_path / "first").drops.equals(first.drops)


@pytest.mark.parametrize(
    ("model", "problem", "hint"),
    [
        ('{ leaf = "m" }', "switch.sharing.model: there is none for spine0", "for spine0 alone"),
        ('{ leaf = "m", spine = "m", leef = "m" }', 'no switch or tier "leef"', "`leaf`"),
        ('{ leaf = "m", spine = 3 }', "is not valid; expected", None),
        ("{}", "is not valid; expected", None),
        ('{ leaf = "m", spine = "none" }', "none: it cannot be read", None),
        (
            '"empty"',
            "empty: no model in the folder is called NAME.safetensors",
            "after switches or tiers",
        ),
        ('""', "is not valid; expected", None),
    ],
)
def test_what_is_wrong_with_models_is_told(tmp_path, model, problem, hint):
    (tmp_path / "empty").mkdir()
    forest(False).save(tmp_path / "m")
    with pytest.raises(spillway.ScenarioError, match=re.escape(problem)) as caught:
        tiny(tmp_path, asking(model)).read()
    assert hint is None or hint in caught.value.hint


def test_models_follow_one_another(tmp_path):
    """At first everything is taken, from 1 ms on nothing, from 2 ms on what leaves get."""
    forest(True).save(tmp_path / "no")
    forest(False).save(tmp_path / "yes")
    parts = ['at = "0us", model = "yes"', 'at = "1ms", model = "no"']
    parts.append('at = "2ms", model = { leaf = "yes", spine = "no" }')
    listed = f"[{', '.join(f'{{ {part} }}' for part in parts)}]"
    first = spillway.run(tiny(tmp_path, asking(listed)), out=tmp_path / "first")
    drops = [row for row in first.drops.to_pylist() if row["reason"] == "predicted"]
    at_first = [row["switch"] for row in drops if row["time_ps"] < 2 * MS]
    assert MS <= drops[0]["time_ps"] < 1.1 * MS and {"leaf0", "leaf1"} <= set(at_first)
    assert {row["switch"] for row in drops[len(at_first) :]} == {"spine0"}
    copies = ["switch.sharing.model.0.model", "switch.sharing.model.1.model"]
    assert names(tmp_path / "first" / "inputs") == copies
    for name in ("yes", "no"):
        (tmp_path / name).unlink()
    again = spillway.run(tmp_path / "first", out=tmp_path / "again")
    assert again.drops.equals(first.drops)
    assert spillway.Result.load(tmp_path / "again").summary["drops"] == first.summary["drops"]


def test_a_list_of_one_model_is_that_model(tmp_path):
    forest(True).save(tmp_path / "no")
    one = spillway.run(tiny(tmp_path, asking('"no"')))
    listed = spillway.run(tiny(tmp_path, asking('[{ at = "0us", model = "no" }]')))
    assert listed.drops.equals(one.drops) and listed.flows.equals(one.flows)


@pytest.mark.parametrize(
    ("models", "problem"),
    [
        ('[{ at = "1us", model = "m" }]', "model.0.at: the first model must be there from 0 on"),
        (
            '[{ at = "0us", model = "m" }, { at = "0us", model = "m" }]',
            "model.1.at: 0us is not after 0us, when the model before it takes over",
        ),
        ('[{ model = "m" }]', "model.0.at: missing; expected"),
        ('[{ at = "0us", model = "none" }]', "model.0.model: none: it cannot be read"),
        ('[{ at = "0us", modell = "m" }]', "model.0.modell: unknown key"),
        ('["m"]', "expected tables, each headed [[model]]"),
        ("[]", "is not valid; expected"),
        (
            '[{ at = "0us", model = "m" }, { at = "9us", model = "code" }]',
            'the averages of m are "time", those of code are "code", and averages go on',
        ),
    ],
)
def test_what_is_wrong_with_a_list_of_models_is_told(tmp_path, models, problem):
    forest(False).save(tmp_path / "m")
    one = RandomForestClassifier(n_estimators=1, max_depth=1).fit([[0.0], [1.0]], [0, 1])
    Model.of(one, ["queue"], "fraction", "code", {}).save(tmp_path / "code")
    with pytest.raises(spillway.ScenarioError, match=re.escape(problem)):
        tiny(tmp_path, asking(models)).read()


def test_another_buffer_and_other_lines_than_in_training_are_warned_of(tmp_path):
    forest(False, Seen(buffers=(25_000,), rates=(10_000_000_000,))).save(tmp_path / "same")
    forest(False, Seen(buffers=(1_000, 9), rates=(1_000_000_000,))).save(tmp_path / "other")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny(tmp_path, "topology.fabric_rate=10Gbps", asking('"same"')).read()
    expected = (
        "switch.sharing.model: other: it was trained where switches had buffers of 1000 or 9 "
        "bytes, and here is 25000 bytes; lines of 1 Gbps, and here are 10 Gbps"
    )
    with pytest.warns(spillway.ScenarioWarning, match=re.escape(expected)):
        tiny(tmp_path, "topology.fabric_rate=10Gbps", asking('"other"')).read()


def test_a_model_knows_its_features_bounds_its_buffers_and_lines(tmp_path, command):
    for seed in (1, 2):
        spillway.run(TINY, seed=seed, set=TRACED, out=tmp_path / str(seed))
    first, second = load(tmp_path / "1"), load(tmp_path / "2")
    model = train([first], split="none").model
    inputs = first.inputs(model.features, "fraction")
    assert model.seen.least == tuple(inputs.min(axis=0).tolist())
    assert model.seen.greatest == tuple(inputs.max(axis=0).tolist())
    assert model.seen.buffers == (25_000,)
    rates = spillway.Scenario.load(tmp_path / "1").facts["tiers"]
    expected = {round(float(rate) * 1e9) for tier in rates for rate in tier["ports_by_gbps"]}
    assert set(model.seen.rates) == expected
    # What it was trained on lies within; of another seed, counted by hand, some may not.
    assert set(evaluate(model, first).outside.values()) == {0}
    others = second.inputs(model.features, "fraction")
    beyond = (others > inputs.max(axis=0)) | (others < inputs.min(axis=0))
    told = evaluate(model, second).outside
    assert told["any"] == second.weight[beyond.any(axis=1)].sum()
    assert [told[name] for name in model.features] == [
        second.weight[column].sum() for column in beyond.T
    ]
    # As a command, and of a model that knows nothing.
    model.save(tmp_path / "m")
    half = Seen(tuple(inputs.min(axis=0).tolist()), tuple((inputs.max(axis=0) / 2).tolist()))
    narrow = Model(model.content)
    narrow.seen = half
    assert evaluate(narrow, first).outside["any"] > 0
    document = command("oracle", "eval", tmp_path / "m", tmp_path / "2", "--json").json
    (scores,) = document["scores"].values()
    assert scores["outside"] == told and document["model"]["seen"]["buffers"] == [25_000]
    shown = command("oracle", "show", "smartbuf").out
    assert "4,000,000 bytes" in shown and re.search(r"has seen +queue 0 to 0\.783,", shown)
    forest(False, Seen()).save(tmp_path / "older")
    assert re.search(r"has seen +unknown", command("oracle", "show", tmp_path / "older").out)
    unknown = command("oracle", "eval", tmp_path / "older", tmp_path / "2").out
    assert "what the model was trained on is unknown" in " ".join(unknown.split())


def test_a_run_says_that_its_model_was_asked_outside_of_its_training(tmp_path):
    forest(False, Seen(least=(0.0,), greatest=(1.0,))).save(tmp_path / "all")
    forest(False, Seen(least=(0.0,), greatest=(0.0,))).save(tmp_path / "empty queues")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = spillway.run(tiny(tmp_path, asking('"all"')))
    assert result.summary["sharing_counts"]["leaf"]["oracle_outside"] == 0
    with pytest.warns(spillway.ScenarioWarning, match="outside of what it was trained on") as told:
        result = spillway.run(tiny(tmp_path, asking('"empty queues"')))
    own = result.summary["sharing_counts"]["leaf"]
    assert 0 < own["oracle_outside"] < own["oracle_accepts"]
    assert len([text for text in told if "leaf tier" in str(text.message)]) == 1


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory):
    """A run in which leaf1 alone drops anything."""
    folder = tmp_path_factory.mktemp("traced") / "run"
    spillway.run(TINY, set=[*TRACED, "switch.spine.buffer=1MB"], out=folder)
    return folder


def test_a_trace_knows_its_switches(traced):
    trace = load(traced)
    assert trace.tiers == ["leaf", "spine"] and trace.rates == {10_000_000_000}
    assert {place.name: place.ports for place in trace.places} == {
        "leaf0": 5,
        "leaf1": 5,
        "spine0": 2,
    }
    parts = [load(traced, switches=[name]) for name in ("leaf0", "leaf1", "spine0")]
    assert sum(map(len, parts)) == len(trace)
    assert [part.drops for part in parts] == [0, trace.drops, 0] and trace.drops > 0
    leaves = load(traced, "leaf")
    assert len(leaves) == len(parts[0]) + len(parts[1])
    both = join([parts[0], trace])
    assert len(both.at(switches=["leaf0"])) == 2 * len(parts[0])
    assert parts[2].ports == 2 and both.ports == 5
    with pytest.raises(spillway.ScenarioError, match="there is no switch 'leaf7'") as caught:
        load(traced, switches=["leaf7"])
    assert "it has leaf0, leaf1, spine0" in caught.value.hint
    with pytest.raises(spillway.ScenarioError, match="no such switch is of the tier 'spine'"):
        load(traced, "spine", ["leaf0"])


@pytest.mark.filterwarnings("ignore:.*asked about packets outside")
@pytest.mark.filterwarnings("ignore:.*it was trained (where|with)")
def test_a_model_for_every_switch_by_one_command(traced, tmp_path, command):
    """Who has lost nothing takes its tier's model, and such a tier that of all switches."""
    asked = ("oracle", "train", traced, "--each-switch", "--split", "none", "--out", "models")
    done = command(*asked, "--json")
    assert done.status == 0, done.err
    assert set(done.json) == {"leaf1", "leaf", "spine"}
    seen = {"leaf1": load(traced, switches=["leaf1"]), "leaf": load(traced, "leaf")}
    for name, trace in {**seen, "spine": load(traced)}.items():
        assert done.json[name]["balance"]["packets"] == trace.weight.sum()
        alone = train([trace], split="none").model
        assert (tmp_path / "models" / f"{name}.safetensors").read_bytes() == alone.content
    used = spillway.run(
        tiny(tmp_path, 'switch.sharing={ kind = "credence", model = "models" }'),
    )
    assert set(used.summary["sharing_counts"]) == {"leaf", "spine"}
    assert "is there already" in command(*asked).err
    people = command(*asked, "--force")
    assert people.status == 0 and re.search(r"leaf1 +[\d,]+ +\d", people.out)
    (tmp_path / "models" / "notes").write_text("mine")
    assert "models is not a folder of models" in command(*asked, "--force").err
    for wrong in (asked[:4], (*asked, "--test", traced), (*asked, "--sweep-trees", "1,2")):
        told = command(*wrong)
        assert told.status == 2 and "--each-switch needs --out" in told.err


def test_scores_are_told_tier_by_tier(traced, tmp_path, command):
    train([load(traced)], split="none").model.save(tmp_path / "m")
    (scores,) = command("oracle", "eval", "m", traced, "--json").json["scores"].values()
    parts = scores["by_tier"]
    assert set(parts) == {"leaf", "spine"} and parts["spine"]["drops"] == 0
    assert sum(part["packets"] for part in parts.values()) == scores["packets"]
    shown = command("oracle", "eval", "m", traced).out
    assert re.search(r"^ +leaf ", shown, re.MULTILINE)
    one = command("oracle", "eval", "m", traced, "--switch", "leaf1", "--json").json["scores"]
    (scores,) = one.values()
    assert scores["drops"] == load(traced).drops and not scores["by_tier"]


@pytest.mark.parametrize(
    ("told", "problem"),
    [({"least": "0,1", "greatest": "1"}, "the ranges of"), ({"rates": "x"}, "its rates are")],
)
def test_bounds_that_are_no_bounds_are_refused(tmp_path, told, problem):
    content = forest(False).content
    (length,) = struct.unpack("<Q", content[:8])
    header = content[8 : 8 + length].decode().rstrip()
    more = "".join(f'"{key}":"{text}",' for key, text in told.items())
    header = header.replace('{"__metadata__":{', '{"__metadata__":{' + more, 1)
    header += " " * (-len(header) % 8)
    data = content[8 + length :]
    content = struct.pack("<Q", len(header)) + header.encode() + data
    (tmp_path / "odd").write_bytes(with_right_checksum(content))
    with pytest.raises(spillway.ScenarioError, match=problem):
        Model.load(tmp_path / "odd")
    with pytest.raises(spillway.ScenarioError, match=f"switch.sharing.model: odd: .*{problem}"):
        tiny(tmp_path, asking('"odd"')).read()
