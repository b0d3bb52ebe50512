"""Schedulers as plug-ins decide like built-in ones; what goes wrong in them."""

import json

import pytest

import plugins
import spillway
from support import TINY, without_cost
from test_cli_errors import refused
from test_plugins import same

QUEUES = (
    *("switch.queues_per_port=3", "nic.queues=3"),
    *("traffic.0.priority=2", "traffic.1.priority=1"),
)
SHORT = ("switch.buffer=30KB", "switch.aqm.threshold=unlimited")
LOADED = {
    "tiny": (TINY, (*QUEUES, *SHORT)),
    "credence": ("credence", (*QUEUES, *SHORT, "duration=1ms")),
}
OWN = {
    "dwrr": ("{kind='dwrr',weights=[1,4,2],quantum='2KB'}", plugins.MyDwrr),
    "strict": ("strict", plugins.MyStrict),
    "rr": ("rr", plugins.MyRoundRobin),
    "fifo": ("fifo", plugins.MyFifo),
}


def beside(source, assignments, kind):
    """Runs a built-in scheduler and its twin, and returns the summary, which they share."""
    built_in, twin = OWN[kind]
    own = built_in.replace(kind, f"my-{kind}", 1).replace("quantum='2KB'", "quantum_bytes=2000")
    keys = [f"switch.scheduling={each}" for each in (built_in, own)]
    # Built-in ones need not be asked in order of time among all switches.
    return same(source, assignments, keys[:1], keys[1:], twin, in_events=False)


@pytest.mark.parametrize("scenario", LOADED)
@pytest.mark.parametrize("kind", OWN)
def test_a_scheduler_of_ones_own_is_the_built_in_one(scenario, kind):
    source, assignments = LOADED[scenario]
    summary = beside(source, assignments, kind)
    assert sum(summary["drops"].values()) > 0
    others = [spillway.run(source, set=[*assignments, "switch.scheduling=fifo"]).summary]
    assert kind == "fifo" or summary["fct_us"] != others[0]["fct_us"]


@pytest.mark.parametrize("kind", OWN)
def test_it_does_not_see_queues_that_are_paused(kind):
    pfc = "switch.pfc={kind='dynamic',priorities=[1],alpha=0.05}"
    slow = ["nic.receive_rate=6Gbps", "nic.receive_threshold=6KB"]
    sets = [*QUEUES, "switch.buffer=500KB", "switch.aqm=none", pfc, *slow]
    summary = beside(TINY, sets, kind)
    assert summary["pauses"]["by_tier"]["leaf"]["pauses"] > 0


@pytest.mark.parametrize("kind", ["dwrr", "rr"])
def test_aqms_hear_of_its_turns(kind):
    summary = beside(TINY, [*QUEUES, SHORT[0], "switch.aqm={kind='mq-ecn',rtt='10us'}"], kind)
    assert summary["marks"] > 0


@pytest.mark.filterwarnings("ignore:.*FollowLQD pushes nothing out")
@pytest.mark.parametrize("kind", OWN)
def test_a_simulated_switch_is_served_by_a_copy(kind):
    source, assignments = LOADED["tiny"]
    summary = beside(source, [*assignments, "switch.sharing=followlqd"], kind)
    assert summary["drops"]["over_threshold"] > 0


def test_it_may_choose_among_packets():
    sets = ["switch.buffer=40KB", "switch.aqm=none"]
    with pytest.warns(spillway.ScenarioWarning, match="pfabric"):
        built_in = spillway.run(TINY, set=[*sets, "switch.scheduling=pfabric"])
    own = spillway.run(TINY, set=[*sets, "switch.scheduling=my-pfabric"], plugins=plugins.MyPFabric)
    assert own.flows.equals(built_in.flows)
    first, second = (without_cost(run.summary) for run in (own, built_in))
    assert {**first, "events": 0} == {**second, "events": 0}
    fifo = spillway.run(TINY, set=[*sets, "switch.scheduling=fifo"])
    assert own.summary["fct_us"] != fifo.summary["fct_us"]


def test_a_copy_of_a_run_has_a_copy_of_it():
    source, assignments = LOADED["tiny"]
    scenario = spillway.Scenario.load(source).plug(plugins.MyDwrr)
    plugins.check_copies(scenario.set(*assignments, "switch.scheduling=my-dwrr"))


def test_its_parameters_are_keys(command):
    option = ["--plugin", f"{plugins.EXAMPLES}/my_dwrr.py:MyDwrr"]
    rows = json.loads(command("list", "scheduling", *option, "--json").out)["scheduling"]
    (row,) = (row for row in rows if row["id"] == "my-dwrr")
    assert [key["name"] for key in row["keys"]] == ["weights", "quantum_bytes"]
    told = command("explain", "switch.scheduling.quantum_bytes", *option)
    assert "bytes that a queue of weight 1 may send" in told.out.lower()
    outcome = command(
        *["run", TINY, *option, "--set", "switch.queues_per_port=2", "--out", "there"],
        *["--set", "switch.scheduling=my-dwrr", "--set", "switch.scheduling.weights=[2,1]"],
    )
    assert outcome.status == 0, outcome.err
    again = command("run", "there", "--plugin", "there/inputs/my-dwrr.py:MyDwrr", "--out", "again")
    assert again.status == 0, again.err
    first, second = (spillway.Result.load(name) for name in ("there", "again"))
    assert first.flows.equals(second.flows) and first.scenario == second.scenario


SELECTS = r"the plug-in selects has failed at simulated time .*, in select at (leaf|spine)\d$"


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("raises", "no queue"),
        ("says_nothing", "it has returned None; expected a queue class, a whole number"),
        ("says_true", "it has returned True; expected a queue class, a whole number"),
        ("says_a_text", "it has returned '0'; expected a queue class, a whole number"),
        ("selects_nothing", "is empty or paused; these can send: "),
        ("selects_nowhere", "select has returned 3: there is no queue class 3: a port has 3"),
        ("selects_before_the_first", "select has returned -1: there is no queue class -1"),
        ("looks_at_nothing", "queue class 63 is empty or paused; these can send: "),
        ("begins_nothing", "queue class 64 is empty or paused; these can send: "),
    ],
)
def test_a_wrong_choice_ends_the_run(how, text):
    sets = [*LOADED["tiny"][1], f"switch.scheduling={{kind='selects',how='{how}'}}"]
    with pytest.raises(spillway.PluginError, match=SELECTS) as raised:
        spillway.run(TINY, set=sets, plugins=plugins.Selects)
    assert text in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("answer=100000", "choose has returned 100000: "),
        ("answer=-1", "choose has returned -1: "),
        ("is_text=true", "it has returned '0'; expected a place in the list, a whole number"),
    ],
)
def test_a_wrong_choice_of_a_packet_ends_the_run(given, text):
    sets = ["switch.aqm=none", f"switch.scheduling={{kind='chooses',{given}}}"]
    with pytest.raises(spillway.PluginError, match=r"in choose at (leaf|spine)\d$") as raised:
        spillway.run(TINY, set=sets, plugins=plugins.Chooses)
    assert text in str(raised.value.__cause__)


def test_turns_of_nothing_are_refused():
    scenario = spillway.Scenario.load(TINY).plug(plugins.WrongQuantum)
    scenario = scenario.set(*QUEUES, "switch.scheduling=wrong-quantum", "switch.aqm=mq-ecn")
    with pytest.raises(spillway.PluginError, match="before the run, in quantum") as raised:
        scenario.read()
    assert str(raised.value.__cause__) == "it has returned 0; expected a whole number above 0"


def test_a_notice_has_no_answer():
    sets = [*QUEUES, "switch.scheduling=hears-of-sending"]
    with pytest.raises(spillway.PluginError, match="in on_send at") as raised:
        spillway.run(TINY, set=sets, plugins=plugins.HearsOfSending)
    assert "expected nothing" in str(raised.value.__cause__)


def test_an_account_is_a_flag():
    scenario = spillway.Scenario.load(TINY).plug(plugins.SelectsNoAccount)
    with pytest.raises(spillway.PluginError, match="has failed before the run") as raised:
        scenario.set("switch.scheduling=selects-no-account").read()
    assert str(raised.value.__cause__) == "keeps_account = yes; expected True or False"


@pytest.mark.parametrize(
    ("sets", "error", "hint"),
    [
        (["switch.scheduling=my-dwr"], '"my-dwr" is not known; expected', "mean `my-dwrr`?"),
        (["switch.scheduling=dwrr"], "my-dwrr is there, but", "switch.scheduling=my-dwrr"),
        (["switch.scheduling={kind='my-dwrr',weight=1}"], "unknown key", "did you mean `weights`"),
        (["nic.scheduling=my-dwrr"], '"my-dwrr" is not valid; expected "fifo"', ""),
    ],
)
def test_a_wrong_key_or_name(command, sets, error, hint):
    options = ["--plugin", f"{plugins.EXAMPLES}/my_dwrr.py:MyDwrr"]
    options += [option for each in (*QUEUES[:2], *sets) for option in ("--set", each)]
    refused(command("run", TINY, *options), error, hint)


@pytest.mark.parametrize(
    ("sets", "error"),
    [
        (["switch.queues_per_port=2"], "is not valid with queues_per_port = 2: priorities are on"),
        (["switch.aqm=ecn"], 'is not valid with aqm = "ecn", which takes packets to leave in'),
        (
            ["switch.buffer=4MB", "switch.pfc={kind='dynamic',priorities=[0],alpha=0.125}"],
            "is not valid with lossless priorities",
        ),
    ],
)
def test_what_does_not_go_with_a_choice_of_packets(command, sets, error):
    options = ["--plugin", f"{plugins.HERE}:MyPFabric", "--set", "switch.scheduling=my-pfabric"]
    options += [option for each in ("switch.aqm=none", *sets) for option in ("--set", each)]
    refused(command("run", TINY, *options), f'"my-pfabric" {error}', "")


def test_aqms_that_watch_turns_need_some(command):
    options = ["--plugin", f"{plugins.HERE}:MyStrict", "--set", "switch.scheduling=my-strict"]
    options += [option for each in (*QUEUES, "switch.aqm=mq-ecn") for option in ("--set", each)]
    outcome = command("run", TINY, *options)
    refused(outcome, 'queues are served by "my-strict", which has no turns', "`tcn` marks by")
