"""`spillway explain`: what a key is, by its path."""

from pathlib import Path

import pytest

import plugins
import spillway
from spillway.scenario.explain import explain, paths
from spillway.scenario.sections import sections

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("seed", "seed"),
        ("switch.pfc.alpha", "switch.pfc.alpha"),
        ("switch.leaf.aqm.threshold", "switch.aqm.threshold"),
        ("switch.leaf0.port.3.aqm.min", "switch.aqm.min"),
        ("switch.port.3.aqm.min", "switch.aqm.min"),
        ("switch.left.sharing.alpha[1]", "switch.sharing.alpha"),
        ("switch.leaf.buffer", "switch.buffer"),
        ("nic.aqm.min", "switch.aqm.min"),
        ("nic.receive_rate.host3", "nic.receive_rate"),
        ("transport.kind", "transport.kind"),
        ("transport.recovery.kind", "transport.recovery"),
        ("switch.leaf.sharing.kind", "switch.sharing"),
        ("transport.tagging.thresholds", "transport.tagging.thresholds"),
        ("traffic.web.load", "traffic.NAME.load"),
        ("traffic.load", "traffic.NAME.load"),
        ("traffic.web.recovery.min_rto", "transport.recovery.min_rto"),
        ("traffic.web.tagging.levels", "transport.tagging.levels"),
        ("traffic.web.bound.least", "traffic.NAME.bound.least"),
        ("event.0.at", "event.N.at"),
        ("event.at", "event.N.at"),
        ("topology.leaves", "topology.leaves"),
        ("topology.base_rtt", "topology.base_rtt"),
        ("topology.host.a.rate", "topology.host.NAME.rate"),
        ("topology.link.3.rate", "topology.link.N.rate"),
    ],
)
def test_a_path_leads_to_its_key(path, key):
    told = explain(path)
    assert told["path"] == key
    assert told["forms"] and not told["keys"]


@pytest.mark.parametrize(
    ("path", "section", "key"),
    [
        ("record", "record", "queue_interval"),
        ("switch", "switch", "buffer"),
        ("traffic", "traffic.NAME", "load"),
        ("traffic.web", "traffic.NAME", "load"),
        ("traffic.poisson", "traffic.NAME.poisson", "load"),
        ("switch.aqm.ecn", "switch.aqm.ecn", "threshold"),
        ("transport.udp", "transport.udp", "pacing"),
        ("topology.switch", "topology.switch.NAME", "tier"),
    ],
)
def test_a_section_has_its_keys(path, section, key):
    told = explain(path)
    assert told["path"] == section
    assert not told["forms"] and key in [each["name"] for each in told["keys"]]


def test_every_key_is_explained_and_its_page_is_there():
    for path in paths(sections()):
        told = explain(path)
        assert told["path"] == path and told["forms"], path
        assert (ROOT / told["page"]).is_file()


def test_forms_tell_kinds_defaults_bounds_and_changes():
    alpha, reverie = explain("switch.pfc.alpha")["forms"]
    assert alpha["kinds"] == ["dynamic"] and alpha["default"] == 0.125
    assert reverie["kinds"] == ["reverie"] and reverie["default"] == 1.0
    assert alpha["least"] == {"value": 0.0, "included": False} and not alpha["changes"]
    ecn, tcn = explain("switch.aqm.threshold")["forms"]
    assert (ecn["kinds"], ecn["changes"], ecn["units"][0]) == (["ecn"], True, "pkt")
    assert (tcn["kinds"], tcn["default"]) == (["tcn"], "78us")
    (mss,) = explain("transport.mss")["forms"]
    assert mss["kinds"] is None
    poisson, incast = explain("traffic.web.load")["forms"]
    assert poisson["required"] and not incast["required"] and incast["default"] is None
    assert explain("nic.receive_rate")["forms"][0]["changes"]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("switch.alpha", "`switch.sharing.alpha`"),
        ("switch.aqm.treshold", "did you mean `switch.aqm.threshold`"),
        ("transprot.min_rto", "did you mean `transport.recovery.min_rto`"),
        ("transport.loss_detection", "it is transport.recovery now"),
        ("transport.min_rto", "it is transport.recovery.min_rto now"),
        ("q" * 30, "spillway list --find"),
        ("", "spillway list --find"),
    ],
)
def test_a_wrong_path_gets_the_nearest(path, hint):
    with pytest.raises(spillway.ScenarioError, match="there is no key") as caught:
        explain(path)
    assert hint in (caught.value.hint or "")


def test_parameters_of_plug_ins_are_keys():
    own = explain("switch.sharing.style", [plugins.Everyone])["forms"]
    assert [form["kinds"] for form in own] == [["everyone"]]
    with pytest.raises(spillway.ScenarioError):
        explain("switch.sharing.style")


def test_the_command_tells_people_and_programs(command):
    outcome = command("explain", "switch.leaf.aqm.threshold")
    assert outcome.status == 0
    for text in ('"65pkt"', "ecn", "an event or a stepped run can change it", "switch.md"):
        assert text in outcome.out
    assert "it stays as it is" in command("explain", "seed").out
    assert "dctcp, newreno" in command("explain", "traffic.web.transport").out
    assert "queue_interval" in command("explain", "record").out
    assert command("explain", "seed", "--json").json == explain("seed")
    wrong = command("explain", "switch.aqm.treshold")
    assert wrong.status == 2 and "hint: did you mean `switch.aqm.threshold`" in wrong.err
