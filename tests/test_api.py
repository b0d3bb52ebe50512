"""What callers of the Python API give: taken as on the command line, or refused as there."""

import subprocess
import sys
import traceback
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spillway
from spillway import Scenario, oracle, slotted
from spillway.base.arguments import assignments_of, choices_of, seeds_of, split
from spillway.plugins import Sharing
from support import TINY

SHORT = ["duration=100us"]
EXAMPLE = Path(__file__).parents[1] / "examples" / "my_dt.py"


def seeds(sweep: spillway.Sweep) -> list[int]:
    ((_, runs),) = sweep.results
    return [run.summary["seed"] for run in runs]


def test_assignments_are_texts_or_mappings():
    assert assignments_of("duration=1ms") == ["duration=1ms"]
    assert assignments_of({"duration": "1ms", "seed": 3}) == ["duration=1ms", "seed=3"]
    assert assignments_of(["a=1", {"b": "50%"}]) == ["a=1", "b=50%"]
    run = spillway.run(
        TINY, set={"duration": "1ms", "switch.sharing.alpha": 2, "seed": np.int64(5)}
    )
    assert (run.summary["seed"], '"1ms"' in run.scenario) == (5, True)
    assert Scenario(TINY, assignments={"seed": 4}).read().seed == 4
    assert Scenario(TINY).set({"seed": 4}, "seed=5").read().seed == 5


@given(
    st.recursive(
        st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False)
        | st.text(st.characters(codec="utf-8"), max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.\n", max_size=3), inner)
        ),
    ).filter(lambda value: not isinstance(value, str))
)
def test_a_value_arrives_as_what_it_is(value):
    """Through an assignment's text, as TOML."""
    import tomllib

    from spillway import _core

    (text,) = assignments_of({"a.b": value})
    assert tomllib.loads(_core.assign("", [text]))["a"]["b"] == value


def test_seeds_are_numbers_or_a_text():
    assert seeds(spillway.sweep(TINY, seeds="1..3", set=SHORT)) == [1, 2, 3]
    assert seeds(spillway.sweep(TINY, seeds=(seed for seed in (4, 2)), set=SHORT)) == [4, 2]
    assert seeds_of(np.arange(3)) == [0, 1, 2]


def test_variants_are_texts_or_mappings():
    expected = [
        (("switch.sharing",), [("dt",), ("lqd",)]),
        (("traffic.background.load",), [("0.5",), ("0.2",)]),
    ]
    listed = {"switch.sharing": ["dt", "lqd"], "traffic.background.load": [0.5, 0.2]}
    assert choices_of(listed) == expected
    assert (
        choices_of({"switch.sharing": "dt,lqd", "traffic.background.load": (0.5, 0.2)}) == expected
    )
    texts = ["switch.sharing=dt,lqd", "traffic.background.load=0.5,0.2"]
    assert choices_of(texts) == expected
    assert choices_of("switch.sharing=dt,lqd") == expected[:1]
    sweep = spillway.sweep(TINY, vary=listed, set=SHORT)
    assert len(sweep.results) == 4 and sweep.results[1][0].label == "sharing=dt load=0.2"


@given(st.lists(st.text("abc0.5%_-", min_size=1), min_size=1))
def test_plain_values_come_back(values):
    assert split(",".join(values)) == values


def test_a_scenario_is_whatever_describes_one(tmp_path, monkeypatch):
    assert Scenario("credence").read().name == "credence"
    assert Scenario(str(TINY)).resolved == Scenario(TINY).resolved == Scenario.load(TINY).resolved
    assert Scenario(TINY).folder == TINY.parent and Scenario(TINY, tmp_path).folder == tmp_path
    assert Scenario('name = "one line"').given == 'name = "one line"'
    monkeypatch.chdir(tmp_path)
    Path("a=b").write_text(TINY.read_text())
    assert Scenario("a=b").read().name == "tiny"
    with pytest.raises(spillway.FileError, match="there is no scenario out/sharing=dt"):
        Scenario("out/sharing=dt")


def test_rooms_are_there_without_an_import_of_their_own():
    code = "import spillway; spillway.oracle.train; spillway.slotted.run; spillway.plugins.Sharing"
    code += "; spillway.fluid.compare"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with pytest.raises(AttributeError, match="has no attribute 'orcale'"):
        _ = spillway.orcale


class Everything(Sharing):
    """Admits everything."""

    id = "everything"

    def admit(self, arrival, buffer):
        return True


def test_one_plug_in_is_enough():
    run = spillway.run(TINY, plugins=Everything, set=[*SHORT, "switch.sharing=everything"])
    assert run.status == "complete"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"seeds": []}, "there is no seed to run with"),
        ({"seeds": ""}, 'is not a list of seeds\nhint: write seeds="1..5"'),
        ({"seeds": 3}, r"3 are no seeds\nhint: write seeds=\"1\.\.5\", or seeds=\[1, 2, 7\]"),
        ({"seeds": [1.5]}, r"seed: 1\.5 is not valid; expected a whole number from 0"),
        ({"seeds": [True]}, "seed: True is not valid"),
        ({"seeds": [-1]}, "seed: -1 is not valid"),
        ({"seeds": [2**63]}, "is not valid"),
        ({"seeds": ["1"]}, "seed: '1' is not valid"),
        ({"seeds": range(10**11)}, "too many seeds"),
        ({"seeds": "0..99999999999"}, "too many seeds"),
        ({"seeds": "1..9999999999999999999999"}, "is not a list of seeds"),
        ({"seeds": "١"}, "is not a list of seeds"),
        ({"jobs": 0}, "jobs: 0 is not valid; expected a whole number from 1 to 1024"),
        ({"jobs": -3}, "jobs: -3 is not valid"),
        ({"jobs": "two"}, "jobs: 'two' is not valid"),
        ({"vary": {"switch.sharing": []}}, "'switch.sharing' has no value"),
        ({"vary": {"switch.sharing": ["dt", ""]}}, "has no value, or an empty one"),
        ({"vary": {"switch.sharing": 3}}, "3 are no values"),
        ({"vary": {"": ["a"]}}, "'' has no value"),
        ({"vary": 3}, "3 are no variants"),
        ({"vary": [3]}, "3 is not of the form key=value,value"),
        ({"vary": {"a": [object()]}}, "a: <class 'object'> is not a value"),
        ({"vary": {"name": ["a\nb"]}}, "has a line break in it"),
        ({"vary": {"switch.sharing": ["dt", "dt"]}}, "switch.sharing is dt twice"),
        ({"vary": {("a", "b"): [(1, 2), (1, 2)]}}, "a and b are 1 and 2 twice"),
        ({"vary": {("a", "b"): [("x", None)] * 2}}, "a and b are x and unset twice"),
        ({"vary": {("a", "b"): [(1, 2), (3,)]}}, r"\(3,\) are no values of a and b"),
        ({"vary": {("a", "b"): ["xy"]}}, "'xy' are no values of a and b"),
        ({"vary": {("a", "b"): []}}, r"\('a', 'b'\) has no value"),
        ({"vary": {("a", ""): [(1, 2)]}}, r"\('a', ''\) has no value"),
        ({"vary": {(): [()]}}, r"\(\) has no value"),
        ({"vary": {("a", "b"): [(1, 2)], "b": [3]}}, "a key is varied twice"),
        ({"vary": "a=1,2/b=3"}, "'a=1,2/b=3': keys .*, but a has 2 and b has 1"),
        ({"vary": "a=1,2/b="}, "is not of the form key=value,value"),
        ({"vary": "seed=1,2", "seeds": [3]}, "seed is varied, and there are seeds besides"),
        ({"vary": ['switch.sharing=dt,"dt"']}, "are the same scenario"),
        ({"vary": ["switch.buffer=200KB,0.2MB"]}, "are the same scenario"),
        ({"vary": ["topology.link_delay=1us,1000ns"]}, "are the same scenario"),
        ({"set": 3}, "3 are no assignments"),
        ({"set": [3]}, "3 is not of the form key=value"),
        ({"set": "duration"}, "is not of the form key=value"),
        ({"set": {"duration": None}}, "duration: missing; expected a time above 0"),
        ({"set": {"duration": {"a": None}}}, "duration: <class 'NoneType'> is not a value"),
        ({"set": {"name": "\ud800"}}, "has half a character in it"),
        ({"set": "name=a\nseed=3"}, "has a line break in it"),
        ({"set": "name=a\rseed=3"}, "has a line break in it"),
        ({"plugins": 3}, "3 are no plug-ins"),
        ({"plugins": ["my_dt"]}, "'my_dt' is no plug-in"),
        ({"plugins": [[]]}, r"\[\] is no plug-in"),
        ({"plugins": int}, "int is no plug-in"),
        ({"out": 3}, "3 is no path"),
        ({"out": ""}, "is not a folder to write to"),
        ({"follow": 3}, "follow: 3 is not valid; expected a function"),
    ],
)
def test_what_is_wrong_is_an_error_of_ours(arguments, problem):
    with pytest.raises(spillway.Error, match=problem):
        spillway.sweep(TINY, **{"set": SHORT, **arguments})


def test_hints_name_arguments_in_python_and_options_on_the_command_line(tmp_path, command):
    out = tmp_path / "out"
    mine = spillway.plugins.load(f"{EXAMPLE}:MyDt")
    spillway.run(TINY, set=[*SHORT, "switch.sharing=my-dt"], plugins=mine, out=out)
    kept = out / "inputs" / "my-dt.py"
    for call, arguments, in_python, typed in [
        (
            lambda: spillway.sweep(TINY, seeds="x"),
            ["run", TINY, "--seeds", "x"],
            "seeds=",
            "--seeds",
        ),
        (
            lambda: spillway.run(TINY, out=out),
            ["run", TINY, "--out", out],
            "replace it with force=True",
            "replace it with --force",
        ),
        (
            lambda: spillway.run(out),
            ["run", out],
            f'plugins=spillway.plugins.load("{kept}:CLASS")',
            f"--plugin {kept}:CLASS",
        ),
    ]:
        with pytest.raises(spillway.Error) as caught:
            call()
        assert in_python in caught.value.hint and "--" not in caught.value.hint
        shown = command(*arguments).err
        assert typed in shown and in_python not in shown
    # What the hint says works.
    again = spillway.run(out, plugins=spillway.plugins.load(f"{kept}:MyDt"))
    assert again.status == "complete"
    with pytest.raises(spillway.Error) as caught:
        spillway.run(TINY, plugins=mine)
    assert caught.value.hint == 'name it: set="switch.sharing=my-dt"'


def test_tracebacks_show_what_may_help():
    with pytest.raises(spillway.Error) as caught:
        spillway.run("credense")
    lines = "".join(traceback.format_exception_only(caught.value)).splitlines()
    assert lines[-2].endswith("there is no scenario credense")
    assert lines[-1] == f"hint: {caught.value.hint}" and "`credence`" in lines[-1]
    caught.value.hint = None
    assert traceback.format_exception_only(caught.value) == [lines[-2] + "\n"]


@pytest.mark.parametrize(
    "source",
    [
        None,
        3,
        b"tiny",
        ["tiny"],
        "",
        "\0",
        "\ud800",
        "nothing",
        Path("nothing"),
        {},
        {3: 4},
        "a = \ud800\n",
    ],
)
def test_what_is_no_scenario_is_an_error_of_ours(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(spillway.Error):
        spillway.run(source)


@pytest.mark.parametrize("given", [{"name": "\ud800"}, {"\ud800": 1}, {"name": object()}])
def test_a_dict_that_no_file_could_hold(given):
    with pytest.raises(spillway.Error):
        spillway.run({"duration": "1ms", **given})


JUNK = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.binary(max_size=2)
JUNK |= st.lists(JUNK, max_size=2) | st.dictionaries(st.text(max_size=2), JUNK, max_size=2)
JUNK |= st.sampled_from([object(), int, float("nan"), "\ud800", "a=1", "1..2", 2**64])


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["source", "seed", "set", "plugins", "out", "vary", "seeds", "jobs"]), JUNK)
def test_anything_else_is_an_error_of_ours_or_runs(name, value):
    call = spillway.sweep if name in ("vary", "seeds", "jobs") else spillway.run
    arguments = {"source": TINY, "set": SHORT, name: value}
    if name == "out" and isinstance(value, (str, type(None))):
        return
    with suppress(spillway.Error), warnings.catch_warnings():
        # To unset what is not set deserves a warning.
        warnings.simplefilter("ignore", spillway.ScenarioWarning)
        call(arguments.pop("source"), **arguments)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: spillway.run(TINY, seed="one"), "seed: 'one' is not valid"),
        (lambda: spillway.run(TINY, seed=-1), "seed: -1 is not valid"),
        (lambda: spillway.run(TINY, progress=3), "progress: 3 is not valid"),
        (lambda: spillway.Result.load(3), "3 is no path"),
        (lambda: spillway.Result.load("nowhere"), "holds no result"),
        (lambda: oracle.train([]), "there is no trace to train on"),
        (lambda: oracle.train(3), "3 are no traces"),
        (lambda: oracle.train(["nowhere"]), "'nowhere' is no trace"),
        (lambda: oracle.train([], trees=10**8), "trees: 100000000 is not valid"),
        (lambda: oracle.train([], trees=10**5000), "trees: a number of 16610 bits is not valid"),
        (lambda: spillway.run(TINY, set={"seed": 10**5000}), "seed: a number of 16610 bits"),
        (lambda: slotted.run("lqd", 3, buffer=3), "3 are no arrivals"),
        (lambda: slotted.optimum([[0], [1]], buffer=3), "are no arrivals"),
        (lambda: slotted.Arrivals.of_slots(2, 3), "3 are no slots"),
        (lambda: slotted.Arrivals.of_slots(2, [3]), "3 are no ports"),
        (lambda: spillway.run(TINY, set=SHORT).table([]), r"\[\] is no table's name"),
        (lambda: oracle.train([], trees=0), "trees: 0 is not valid"),
        (lambda: oracle.train([], depth=65), "depth: 65 is not valid"),
        (lambda: oracle.train([], seed=2**32), "is not valid"),
        (lambda: oracle.train([], split="tiem"), "split: 'tiem' is not known"),
        (lambda: oracle.train([], units="packets"), "units: 'packets' is not known"),
        (lambda: oracle.train([], features=["queues"]), "features: 'queues' is not known"),
        (lambda: oracle.train([], features=[]), "features: '' is not known"),
        (lambda: oracle.train([], train_share=1), "train_share: 1 is not valid"),
        (lambda: oracle.Model.load(3), "3 is no path"),
        (lambda: slotted.Arrivals.of_slots("two", [[0]]), "'two' ports are not possible"),
        (lambda: slotted.Arrivals.generate("bursts", ports=2.5, buffer=8), r"2\.5 ports are not"),
        (lambda: slotted.Arrivals.generate("bursts", ports=2, buffer="8"), "a buffer of '8'"),
        (
            lambda: slotted.Arrivals.generate("bursts", ports=2, buffer=8, seed="1"),
            "'1' is not a seed",
        ),
    ],
)
def test_other_rooms_refuse_likewise(call, problem):
    with pytest.raises(spillway.Error, match=problem):
        call()
