"""What goes wrong in plug-ins, or in naming them."""

import json
import os
import signal
import time

import pytest

import plugins
import spillway
from spillway.plugins import describe
from support import TINY, names
from test_cli_errors import refused

FAILS = ["switch.sharing=fails", "switch.sharing.how=raises"]
EXAMPLE = f"{plugins.EXAMPLES}/my_dt.py:MyDt"


def test_an_exception_stops_the_run_and_is_the_cause():
    with pytest.raises(spillway.PluginError) as raised:
        spillway.run(TINY, set=FAILS, plugins=[plugins.Fails])
    error = raised.value
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert (error.plugin, error.hook) == ("fails", "admit")
    # The first arrival from 1 ms on; the time is exact.
    assert 1_000_000_000 <= error.time_ps < 1_100_000_000
    assert error.time_ps % 1_000_000 != 0
    microseconds = f"{error.time_ps / 1e9:.9f}".rstrip("0")
    assert str(error).startswith(
        f"the plug-in fails has failed at simulated time {microseconds}ms, in admit at "
    )
    trace = error.__cause__.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    assert trace.tb_frame.f_code.co_name == "raises"


def test_a_period_of_nothing_is_refused():
    class Ticks(plugins.MyDt):
        id = "ticks"
        period_ps = 0

    with pytest.raises(spillway.PluginError) as raised:
        spillway.run(TINY, set=["switch.sharing=ticks"], plugins=[Ticks])
    assert "period_ps is 0; expected a whole number above 0" in str(raised.value.__cause__)


def test_a_host_is_named_where_its_aqm_fails():
    with pytest.raises(spillway.PluginError, match=r"in on_arrival at host\d+$"):
        spillway.run(TINY, set=["nic.aqm=fails-in-hosts"], plugins=[plugins.FailsInHosts])


def test_the_command_line_shows_the_traceback_and_leaves_nothing(command, tmp_path):
    options = [option for each in FAILS for option in ("--set", each)]
    plugin = f"{plugins.HERE}:Fails"
    outcome = command("run", TINY, "--plugin", plugin, *options, "--out", "there", "--json")
    assert outcome.status == 1 and outcome.out == ""
    trace, _, text = outcome.err.partition("\n\nerror: ")
    assert trace.startswith("Traceback (most recent call last):\n")
    assert "plugins.py" in trace and "return 1 // (buffer.capacity" in trace
    assert trace.splitlines()[-1].startswith("ZeroDivisionError: ")
    assert "/python/spillway/" not in trace
    assert text.startswith("the plug-in fails has failed at simulated time 1.0")
    assert names(tmp_path) == []


def test_a_sweep_ends_with_the_exception_too(command, tmp_path):
    outcome = command(
        *["compare", TINY, "--vary", "switch.sharing=dt,fails", "--seeds", "1,2", "-j", "2"],
        *["--plugin", f"{plugins.HERE}:Fails", "--out", "there"],
    )
    assert outcome.status == 1
    assert "AttributeError" in outcome.err and "has failed at simulated time" in outcome.err
    assert {*names(tmp_path / "there")} == {"experiment.json", "plugins", "results"}


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("says_nothing", "it has returned None; expected True, False, Drop or PushOut"),
        ("says_a_number", "it has returned 1; expected True, False, Drop or PushOut"),
        ("pushes_out_of_nowhere", "there is no queue 10000 to push a packet out of: there are "),
        ("pushes_out_of_nothing", " is empty: no packet can be pushed out of it"),
        ("pushes_out_of_a_negative", "out of range"),
        ("asks_for_a_queue_too_many", "there is no queue "),
        ("drops_for_no_reason", "did you mean `over_threshold`?"),
        ("exits", "enough"),
    ],
)
def test_what_makes_no_sense(how, text):
    assignments = ["switch.sharing=fails", f"switch.sharing.how={how}"]
    with pytest.raises(spillway.PluginError, match=r"in admit at (leaf|spine)\d$") as raised:
        spillway.run(TINY, set=assignments, plugins=[plugins.Fails])
    assert text in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("assignment", "text"),
    [
        ("transport.cwnd=0", "cwnd = 0 is less than a segment, 1448 bytes"),
        ("transport.cwnd=-1", "negative"),
        ("transport.cwnd=4294967297", "is more than 4 GiB, and there is no pace"),
        ("transport.returns=true", "it has returned 14480; expected nothing"),
    ],
)
def test_windows_that_make_no_sense(assignment, text):
    assignments = ["transport.kind=wrong-window", assignment]
    with pytest.raises(spillway.PluginError, match=r"in on_ack$") as raised:
        spillway.run(TINY, set=assignments, plugins=[plugins.WrongWindow])
    assert text in str(raised.value.__cause__)


def test_what_fails_when_the_run_is_over_leaves_nothing(tmp_path):
    with pytest.raises(spillway.PluginError, match="in counters at leaf0") as raised:
        spillway.run(
            TINY,
            set=["switch.sharing=fails-at-the-end"],
            plugins=[plugins.FailsAtTheEnd],
            out=tmp_path / "there",
        )
    assert "-1; expected a whole number" in str(raised.value.__cause__)
    assert names(tmp_path) == []


def test_parameters_may_be_refused_at_the_start():
    scenario = spillway.Scenario.load(TINY).plug(plugins.FailsAtTheStart)
    scenario = scenario.set("switch.aqm=fails-at-the-start")
    with pytest.raises(spillway.ScenarioError, match=r"^switch.aqm: depth must not be negative$"):
        scenario.set("switch.aqm.depth=-1").read()
    with pytest.raises(spillway.PluginError, match="has failed before the run, in its start"):
        scenario.set("switch.aqm.depth=0").read()
    scenario.read()


@pytest.mark.parametrize(
    ("assignment", "error", "hint"),
    [
        ("switch.sharing.alfa=1", "switch.sharing.alfa: unknown key", "did you mean `alpha`?"),
        ("switch.sharing.alpha=x", '"x" is not valid; expected a number', "list sharing"),
        ("switch.sharing=my-td", '"my-td" is not known; expected', "did you mean `my-dt`?"),
        ("switch.sharing=dt", "the plug-in my-dt is there, but", "--set switch.sharing=my-dt"),
    ],
)
def test_a_wrong_key_or_name(command, assignment, error, hint):
    options = ["--plugin", EXAMPLE, "--set", "switch.sharing=my-dt", "--set", assignment]
    refused(command("run", TINY, *options), error, hint)


def test_a_wrong_transport_gets_the_nearest_name_too(command):
    options = ["--plugin", f"{plugins.EXAMPLES}/my_dctcp.py:MyDctcp"]
    outcome = command("run", TINY, *options, "--set", "transport.kind=my-dtcp")
    refused(outcome, '"my-dtcp" is not valid; expected "dctcp"', "did you mean `my-dctcp`?")
    options += ["--set", "transport.kind=my-dctcp", "--set", "transport.gg=1"]
    refused(command("run", TINY, *options), "transport.gg: unknown key", "did you mean `g`?")
    options = [*options[:4], "--set", "transport.kind=dctcp"]
    refused(command("run", TINY, *options), "the plug-in my-dctcp is there, but", "--set transport")


def test_a_plug_in_that_no_variant_names(command):
    outcome = command("compare", TINY, "--vary", "switch.sharing=dt,cs", "--plugin", EXAMPLE)
    refused(outcome, "the plug-in my-dt is there, but", "--set switch.sharing=my-dt")


@pytest.mark.parametrize(
    ("plugin", "error", "hint"),
    [
        ("nowhere.py:MyDt", "there is no file nowhere.py", "FILE.py:CLASS"),
        (f"{plugins.HERE}", "is not of the form FILE.py:CLASS", "for one: --plugin"),
        (f"{TINY}:Tiny", "is no file of Python", "FILE.py:CLASS"),
        (f"{plugins.HERE}:Failz", "there is no class Failz in", "did you mean `Fails`?"),
        (
            f"{plugins.HERE}:Plain",
            "Plain is no plug-in",
            "Sharing, Aqm, Scheduler, CongestionControl, Recovery and",
        ),
        (
            f"{plugins.HERE}:NoHooks",
            "NoHooks has no admit",
            "every plug-in that derives from Sharing must have admit",
        ),
        (
            f"{plugins.HERE}:NoVerdict",
            "NoVerdict has no on_arrival and no on_departure",
            "every plug-in that derives from Aqm must have on_arrival or on_departure",
        ),
        (
            f"{plugins.HERE}:NoAcks",
            "NoAcks has no on_ack",
            "every plug-in that derives from CongestionControl must have on_ack",
        ),
        (
            f"{plugins.HERE}:MisspeltHook",
            "MisspeltHook has on_dequeu, which is no hook",
            "on_dequeue?",
        ),
        (
            f"{plugins.HERE}:AsksForSizes",
            "AsksForSizes asks for knows_sizes, which Aqm does not give",
            "did you mean knows_packets?",
        ),
        (
            f"{plugins.HERE}:AsksForFlows",
            "AsksForFlows asks for knows_packet, which Aqm does not give",
            "did you mean knows_packets?",
        ),
        (
            f"{plugins.HERE}:Counts",
            "Counts has counters, which is a hook of Sharing and is never called of Aqm",
            "_counters",
        ),
        (
            f"{plugins.HERE}:NoSelect",
            "NoSelect has no select and no choose",
            "every plug-in that derives from Scheduler must have select or choose",
        ),
        (
            f"{plugins.HERE}:KeepsAccounts",
            "KeepsAccounts asks for keeps_accounts, which Scheduler does not give",
            "did you mean keeps_account?",
        ),
        (f"{plugins.HERE}:NoLevel", "NoLevel has no level", "must have level"),
        (
            f"{plugins.HERE}:MisspeltLevel",
            "MisspeltLevel has on_packet, which is no hook",
            "there are start, level",
        ),
        (f"{plugins.HERE}:Nobody", "Nobody has no id", 'id = "my-sharing"'),
        (f"{plugins.HERE}:Taken", "the id of Taken, 'dt', is taken in sharing", 'id = "my-dt"'),
        (f"{plugins.HERE}:NoDefault", "alpha of NoDefault has no default", "give it one"),
        (f"{plugins.HERE}:Complex", "alpha of Complex is annotated", "bool, int, float"),
        (f"{plugins.HERE}:Mss", "mss of Mss is a key of every transport", "something else"),
    ],
)
@pytest.mark.parametrize("name", ["run", "list"])
def test_a_plug_in_that_is_none(command, plugin, error, hint, name):
    arguments = ["run", TINY] if name == "run" else ["list"]
    refused(command(*arguments, "--plugin", plugin), error, hint)


def test_two_plug_ins_with_one_id(command):
    options = ["--plugin", EXAMPLE, "--plugin", f"{plugins.HERE}:Twin"]
    refused(command("run", TINY, *options), "have the id 'my-dt': MyDt and Twin", "of its own")


def test_a_file_that_cannot_be_imported(command, tmp_path):
    (tmp_path / "bad.py").write_text("import nowhere_at_all\n")
    outcome = command("run", TINY, "--plugin", "bad.py:Bad")
    assert outcome.status == 1
    assert "ModuleNotFoundError: No module named 'nowhere_at_all'" in outcome.err
    assert outcome.err.endswith("error: bad.py cannot be imported\n")


def test_ctrl_c_ends_a_run_in_a_hook(start, tmp_path):
    (tmp_path / "slow.py").write_text(
        "from spillway.plugins import Sharing\n"
        "class Slow(Sharing):\n"
        "    id = 'slow'\n"
        "    def admit(self, arrival, buffer):\n"
        "        return sum(range(1000)) > 0\n"
    )
    running = start(
        *["run", TINY, "--plugin", "slow.py:Slow", "--set", "switch.sharing=slow"],
        *["--set", "duration=10s", "--set", "stop=20s", "--out", "there"],
    )
    while not (tmp_path / "there.partial").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    time.sleep(1)
    os.kill(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    assert "Traceback" not in err and err.endswith("interrupted\n")
    assert spillway.Result.load(tmp_path / "there").status == "interrupted"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("none", "level returns a whole number, not None"),
        ("zero", "level has returned 0, which is not from 1 to 2"),
        ("three", "level has returned 3, which is not from 1 to 2"),
        ("huge", f"level has returned {2**70}, which is not from 1 to 2"),
        ("true", "level returns a whole number, not True"),
        ("text", "level returns a whole number, not '1'"),
        ("raises", "no level"),
    ],
)
def test_a_wrong_level_ends_the_run(answer, cause):
    sets = ["switch.queues_per_port=3", "switch.scheduling=strict", "nic.queues=3"]
    sets.append(f"transport.tagging={{kind='answers',answer='{answer}'}}")
    with pytest.raises(spillway.PluginError, match="the plug-in answers has failed at") as raised:
        spillway.run(TINY, set=sets, plugins=[plugins.Answers])
    assert "in level" in str(raised.value)
    assert str(raised.value.__cause__) == cause


@pytest.mark.parametrize("number", [0, 65, 300, -1])
def test_a_tagger_without_levels_is_refused(number):
    scenario = spillway.Scenario.load(TINY).plug(plugins.NoLevels)
    scenario = scenario.set(f"transport.tagging={{kind='no-levels',number={number}}}")
    with pytest.raises(spillway.PluginError, match="no-levels has failed before the run") as raised:
        scenario.read()
    assert f"levels = {number} is no number from 1 to 64" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("fact", "value", "problem"),
    [
        ("resets_after", 0, "resets_after = 0; expected a whole number above 0, or None"),
        ("resets_after", -1, "resets_after = -1; expected a whole number above 0, or None"),
        ("resets_after", True, "resets_after = True; expected a whole number above 0, or None"),
        ("knows_bounds", "yes", "knows_bounds = yes; expected True or False"),
        ("knows_sizes", None, "knows_sizes = None; expected True or False"),
        ("overtakes", 1, "overtakes = 1; expected True or False"),
    ],
)
def test_wrong_facts_about_a_tagger_are_told(monkeypatch, fact, value, problem):
    monkeypatch.setattr(plugins.WrongFacts, fact, value)
    scenario = spillway.Scenario.load(TINY).plug(plugins.WrongFacts)
    with pytest.raises(spillway.PluginError, match="wrong-facts has failed before the") as raised:
        scenario.set("transport.tagging=wrong-facts").read()
    assert problem in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("assignment", "error", "hint"),
    [
        ("transport.tagging.threshold=[1]", "transport.tagging.threshold: unknown", "thresholds"),
        ("transport.tagging.thresholds=x", '"x" is not valid; expected a list', "list tagging"),
        ("transport.tagging=my-pais", '"my-pais" is not known; expected', "did you mean `my-pias`"),
        (
            "transport.tagging=pias",
            "the plug-in my-pias is there, but",
            "transport.tagging=my-pias",
        ),
    ],
)
def test_a_wrong_key_or_name_of_a_tagger(command, assignment, error, hint):
    options = ["--set", "switch.queues_per_port=9", "--set", "nic.queues=9"]
    options += ["--plugin", f"{plugins.EXAMPLES}/my_pias.py:MyPias"]
    options += ["--set", "transport.tagging=my-pias", "--set", assignment]
    refused(command("run", TINY, *options), error, hint)


def test_a_tagger_may_refuse_its_parameters():
    scenario = spillway.Scenario.load(TINY).plug(plugins.MyPias)
    scenario = scenario.set("transport.tagging={kind='my-pias',thresholds=[5000,4000]}")
    with pytest.raises(
        spillway.ScenarioError, match=r"^transport\.tagging: the thresholds .* do not rise"
    ):
        scenario.read()


def test_a_tagger_needs_a_queue_for_each_level():
    scenario = spillway.Scenario.load(TINY).plug(plugins.MyPias).set("transport.tagging=my-pias")
    with pytest.raises(spillway.ScenarioError, match="3 priorities, beside that of acks, need"):
        scenario.read()


TAGGERS = ("fixed", "pias", "qclimb", "qclimb-ps", "srpt", "las")


def test_these_are_the_built_in_taggers(command):
    rows = json.loads(command("list", "tagging", "--json").out)["tagging"]
    assert [row["id"] for row in rows] == [*TAGGERS]


@pytest.mark.parametrize("name", TAGGERS)
def test_the_name_of_a_built_in_tagger_is_taken(name):
    own = type("Own", (plugins.MyPias,), {"id": name})
    with pytest.raises(spillway.ScenarioError) as raised:
        describe(own)
    assert str(raised.value) == f"the id of Own, '{name}', is taken in tagging"
    assert raised.value.hint == f'call it something else: id = "my-{name}"'


def test_a_key_of_all_taggers_is_taken():
    class Acks(plugins.MyPias):
        id = "acks"
        acks: str = "apart"

    with pytest.raises(
        spillway.ScenarioError, match="the parameter acks of Acks is a key of every"
    ):
        describe(Acks)


@pytest.mark.parametrize(
    ("sets", "error"),
    [
        (["name=flow"], 'sample has no "flow"; did you mean `flows`?'),
        (["value=1.5"], "it has returned 1.5; expected a number as flows"),
    ],
)
def test_numbers_that_the_table_lacks(sets, error):
    options = ["switch.aqm=samples", *(f"switch.aqm.{each}" for each in sets)]
    with pytest.raises(spillway.PluginError, match="in sample at") as raised:
        spillway.run(TINY, set=[*options, "record.aqm_interval=100us"], plugins=plugins.Samples)
    assert error in str(raised.value.__cause__)


def test_an_aqm_that_hears_of_turns_needs_some(command):
    sets = ["--set", "switch.aqm=turns", "--plugin", f"{plugins.HERE}:Turns"]
    refused(
        command("run", TINY, *sets),
        '"turns" is not valid where queues are served by "fifo", which has no turns',
        "",
    )
