"""Loss recoveries as plug-ins decide like built-in ones; what goes wrong in them."""

import json

import pytest

import plugins
import spillway
from support import TINY
from test_cli_errors import refused
from test_plugins import same

BACK = "{kind='go-back-n',ack_timeout='1ms'}", "{kind='my-go-back-n',timeout_us=1000.0}"
AGAIN = "selective", "my-selective"
ALL = "{kind='selective',after_timeout='all'}", "{kind='my-selective',takes_all=true}"
FEW = "{kind='selective',max_in_flight='0.5bdp'}", "{kind='my-selective',bdps=0.5}"
LOSSY = ("switch.buffer=20KB", "switch.aqm.threshold=unlimited")
SPRAYED = ("topology.spines=2", "routing.kind=spray", "duration=2ms")
INCAST = ("rdma-incast", ("traffic.incast.queries=1", "duration=5ms"))
OVERFLOWING = (*INCAST[1], "switch.pfc=none", "switch.buffer=200KB", "switch.aqm=none")
CASES = {
    "go-back-n": (TINY, LOSSY, BACK),
    "selective": (TINY, LOSSY, AGAIN),
    "selective, all after a timeout": (TINY, LOSSY, ALL),
    "go-back-n, another order": (TINY, SPRAYED, BACK),
    "selective, another order": (TINY, SPRAYED, AGAIN),
    "go-back-n, open connections": (TINY, (*LOSSY, "transport.connections=open"), BACK),
    "selective, open connections": (TINY, (*LOSSY, "transport.connections=open"), AGAIN),
    "selective, delayed acks": (TINY, (*LOSSY, "transport.ack_every=4"), FEW),
    "go-back-n, paced": (INCAST[0], OVERFLOWING, BACK),
    "selective, paced": (INCAST[0], OVERFLOWING, AGAIN),
    "go-back-n, lossless": (*INCAST, BACK),
}
CLASSES = {
    "go-back-n": plugins.MyGoBackN,
    "selective": plugins.MySelective,
}


@pytest.mark.parametrize("case", CASES)
def test_a_recovery_of_ones_own_is_the_built_in_one(case):
    source, assignments, kinds = CASES[case]
    keys = [f"transport.recovery={kind}" for kind in kinds]
    summary = same(source, assignments, keys[:1], keys[1:], CLASSES[case.partition(",")[0]])
    if "lossless" in case:
        assert sum(summary["drops"].values()) == 0 and summary["pauses"]["frames"] > 0
    else:
        assert summary["retransmitted_packets"] > 0


def test_flows_of_a_connection_follow_each_other():
    plugins.StopAndWait.told.clear()
    sets = ["transport.connections=open", "switch.buffer=3KB", "switch.aqm=none"]
    sets += ["transport.recovery=stop-and-wait"]
    result = spillway.run(TINY, set=sets, plugins=plugins.StopAndWait)
    told = plugins.StopAndWait.told
    assert result.summary["status"] == "complete"
    firsts = [first for name, *(first, *_) in (each for each in told if each[0] == "begins")]
    assert firsts and all(first > 0 and first % 1448 == 0 for first in firsts)
    waits = [each for each in told if each[0] == "waits"]
    assert len(waits) == result.summary["timeouts"] > 0
    assert all(in_a_row > 0 and is_so for _, _, in_a_row, is_so in waits)
    repairs = result.summary["repairs"]["all"]
    assert (repairs["repairs_by_detection"], repairs["repairs_by_timeout"]) == (0, len(waits))
    assert ("stops",) in told


def test_the_congestion_controller_may_hear_nothing():
    sets = ["transport.recovery=never-tells", "transport.initial_window=2pkt"]
    silent = spillway.run(TINY, set=sets, plugins=plugins.NeverTells).summary
    sets[0] = "transport.recovery=my-go-back-n"
    told = spillway.run(TINY, set=sets, plugins=plugins.MyGoBackN).summary
    assert silent["status"] == "complete"
    assert silent["fct_us"]["all"]["p99"] > 2 * told["fct_us"]["all"]["p99"]


def test_what_receivers_do_is_the_plug_in_s(monkeypatch):
    for name, value in (("nack_interval_ps", 1), ("answers_old", False)):
        monkeypatch.setattr(plugins.MyGoBackN, name, value)
    built_in = "{kind='go-back-n',ack_timeout='1ms',nack_interval='1ps',old_packets='silent'}"
    keys = [f"transport.recovery={kind}" for kind in (built_in, BACK[1])]
    assert same(TINY, LOSSY, keys[:1], keys[1:], plugins.MyGoBackN)["retransmitted_packets"] > 0


def test_a_copy_of_a_run_has_a_copy_of_it():
    scenario = spillway.Scenario.load(TINY).plug(plugins.MySelective)
    plugins.check_copies(scenario.set(*LOSSY, "transport.recovery=my-selective"))


def test_its_parameters_are_keys(command):
    option = ["--plugin", f"{plugins.EXAMPLES}/my_go_back_n.py:MyGoBackN"]
    rows = json.loads(command("list", "recovery", *option, "--json").out)["recovery"]
    (row,) = (row for row in rows if row["id"] == "my-go-back-n")
    assert [key["name"] for key in row["keys"]] == ["timeout_us"]
    told = command("explain", "transport.recovery.timeout_us", *option)
    assert "the retransmission timeout, which never changes" in told.out.lower()
    outcome = command(
        *["run", TINY, *option, "--out", "there"],
        *["--set", f"transport.recovery={BACK[1]}", "--set", "traffic.queries.recovery=sack"],
    )
    assert outcome.status == 0, outcome.err
    option = ["--plugin", "there/inputs/my-go-back-n.py:MyGoBackN"]
    again = command("run", "there", *option, "--out", "again")
    assert again.status == 0, again.err
    first, second = (spillway.Result.load(name) for name in ("there", "again"))
    assert first.flows.equals(second.flows) and first.scenario == second.scenario


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("raises", "no segment"),
        ("says_a_number", "expected a segment, which is a pair of bytes, or None"),
        ("says_three_numbers", "expected a segment, which is a pair of bytes, or None"),
        ("is_negative", "it has returned (-1, 1448); expected a segment"),
        ("leaves_a_hole", "next_segment has returned (5792, 7240): a segment begins from una = "),
        ("is_too_long", "a segment begins at a multiple of mss = 1448; the one there ends at 5792"),
        ("is_crooked", "(4343, 5791): a segment begins at a multiple of mss = 1448; the one there"),
        ("repeats_itself", "since the last ack or timeout all from una = "),
        ("repeats_by_turns", "since the last ack or timeout all from una = "),
        ("asks_for_nothing_sent", "byte 5792 is not from una = "),
        ("asks_behind_the_end", "is no segment of a flow that ends at "),
        ("goes_beyond", "byte 4345 is not from una = "),
        ("loses_what_was_not_sent", "byte 4345 is not from una = "),
        ("repairs_what_was_not_sent", "byte 4345 is not from una = "),
    ],
)
def test_a_wrong_segment_ends_the_run(how, text):
    with pytest.raises(
        spillway.PluginError,
        match=r"wrong-segments has failed at simulated time .*, in next_segment of flow \d+$",
    ) as raised:
        spillway.run(
            TINY,
            set=[f"transport.recovery={{kind='wrong-segments',how='{how}'}}"],
            plugins=plugins.WrongSegments,
        )
    assert text in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        ("on_ack", "it has returned None; expected a Reaction"),
        ("on_sent", "it has returned 0; expected nothing"),
        ("on_stopped", "it has returned 0; expected nothing"),
        ("timeout_ps", "it has returned 0; expected a whole number of picoseconds above 0, or"),
        ("on_timeout", "it has returned None; expected True or False"),
    ],
)
def test_a_wrong_answer_ends_the_run(hook, text):
    sets = [*LOSSY, f"transport.recovery={{kind='wrong-answers',hook='{hook}'}}"]
    with pytest.raises(spillway.PluginError, match=rf"in {hook} of flow \d+$") as raised:
        spillway.run(TINY, set=sets, plugins=plugins.WrongAnswers)
    assert text in str(raised.value.__cause__)


def test_the_flow_of_a_connection_is_named():
    sets = ["transport.connections=open", "transport.recovery=fails-later"]
    with pytest.raises(spillway.PluginError, match=r"in begin_next of flow [1-9]\d*$") as raised:
        spillway.run(TINY, set=sets, plugins=plugins.FailsLater)
    assert "the next flow" in str(raised.value.__cause__)


def test_a_flow_that_would_never_go_on_ends_the_run():
    with pytest.raises(spillway.PluginError, match=r"in next_segment of flow 0$") as raised:
        spillway.run(TINY, set=["transport.recovery=stops"], plugins=plugins.Stops)
    assert "nothing is under way: no ack would ever come" in str(raised.value.__cause__)


def test_no_more_than_4_gib_are_sent_at_one_moment():
    one = {
        "duration": "1ms",
        "topology": {"kind": "star", "hosts": 2},
        "transport": {"recovery": "no-end", "mss": "65000B"},
        "traffic": [{"name": "long", "kind": "permutation", "size": "1000GB"}],
    }
    with pytest.raises(spillway.PluginError, match=r"in next_segment of flow 0$") as raised:
        spillway.run(one, plugins=plugins.NoEnd)
    assert "more than 4 GiB would be unacknowledged" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("tells", "blocks", 'tells = \'blocks\'; expected "packet", "ranges" or'),
        ("tells", None, "tells = None; expected"),
        ("in_order", "yes", "in_order = yes; expected True or False"),
        ("answers_old", 2, "answers_old = 2; expected True or False"),
        ("nack_interval_ps", -1, "nack_interval_ps = -1; expected a whole number"),
        ("nack_interval_ps", 0.5, "nack_interval_ps = 0.5; expected a whole number"),
        ("nack_interval_ps, in_order", (1, False), "nack_interval_ps needs in_order"),
        ("answers_old, in_order", (False, False), "answers_old needs in_order"),
        ("tells, in_order", ("ranges", True), "tells means nothing with in_order"),
    ],
)
def test_wrong_facts_are_refused_before_the_run(monkeypatch, name, value, text):
    values = value if isinstance(value, tuple) else (value,)
    for each, given in zip(name.split(", "), values, strict=True):
        monkeypatch.setattr(plugins.WrongRecovery, each, given)
    scenario = spillway.Scenario.load(TINY).plug(plugins.WrongRecovery)
    with pytest.raises(spillway.PluginError, match="has failed before the run") as raised:
        scenario.set("transport.recovery=wrong-recovery").read()
    assert text in str(raised.value.__cause__)


def test_parameters_may_be_refused_and_a_bound_be_wrong():
    scenario = spillway.Scenario.load(TINY).plug(plugins.StartsWrong)
    scenario = scenario.set("transport.recovery=starts-wrong")
    with pytest.raises(spillway.ScenarioError, match=r"transport\.recovery: depth must not"):
        scenario.set("transport.recovery.depth=-1").read()
    with pytest.raises(spillway.PluginError, match=r"in its start of flow 0$") as raised:
        spillway.run(scenario)
    assert "max_in_flight = 1bdp; expected a whole number" in str(raised.value.__cause__)


def test_timeouts_must_let_acks_come_in_time():
    scenario = spillway.Scenario.load(TINY).plug(plugins.MyGoBackN, plugins.WrongAnswers)
    with pytest.raises(spillway.ScenarioError, match="1us is not valid: a packet and its ack"):
        scenario.set("transport.recovery={kind='my-go-back-n',timeout_us=1.0}").read()
    wrong = "transport.recovery={kind='wrong-answers',hook='shortest_timeout_ps'}"
    with pytest.raises(spillway.PluginError, match="before the run, in shortest_timeout_ps"):
        scenario.set(wrong).read()


@pytest.mark.parametrize(
    ("sets", "error", "hint"),
    [
        (["transport.recovery=my-go-bak-n"], '"my-go-bak-n" is not known', "mean `my-go-back-n`?"),
        (["transport.recovery=sack"], "the scenario does not name it", "recovery=my-go-back-n"),
        (
            ["transport.recovery={kind='my-go-back-n',timeout_ms=1}"],
            "transport.recovery.timeout_ms: unknown key",
            "did you mean `timeout_us`",
        ),
        (
            ["transport.recovery=my-go-back-n", "transport.recovery.min_rto=1ms"],
            "transport.recovery.min_rto: unknown key",
            "timeout_us",
        ),
        (
            ["transport.recovery=my-go-back-n", "transport.handshake=true"],
            "transport.handshake: means nothing where the recovery chooses every segment itself",
            "",
        ),
        (
            ["transport.kind=pfabric", "transport.recovery=my-go-back-n"],
            "transport.recovery: unknown key",
            "",
        ),
    ],
)
def test_a_wrong_key_or_name(command, sets, error, hint):
    options = ["--plugin", f"{plugins.EXAMPLES}/my_go_back_n.py:MyGoBackN"]
    options += [option for each in sets for option in ("--set", each)]
    refused(command("run", TINY, *options), error, hint)


def test_it_must_choose_segments(command):
    outcome = command("run", TINY, "--plugin", f"{plugins.HERE}:NoSegment")
    hint = "every plug-in that derives from Recovery must have next_segment"
    refused(outcome, "NoSegment has no next_segment", hint)
