"""Scenarios: where they come from, and `key=value` on top."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spillway
from spillway import Scenario, ScenarioError, _core
from support import TINY


def resolved(*assignments: str, source: object = TINY) -> dict:
    return Scenario.of(source).set(*assignments).resolved


def test_a_scenario_is_a_file_a_text_a_dict_or_a_name():
    text = TINY.read_text()
    expected = resolved()
    assert resolved(source=str(TINY)) == expected
    assert resolved(source=text) == expected
    assert resolved(source=tomllib.loads(text)) == expected
    assert resolved(source=Scenario(text)) == expected
    assert resolved(source="leaf-spine-128")["name"] == "leaf-spine-128"


@pytest.mark.filterwarnings("ignore:switch.aqm. under .strict. PRED:spillway.ScenarioWarning")
def test_every_bundled_scenario_is_valid():
    for name, text in _core.bundled():
        scenario = Scenario.load(name)
        assert scenario.given == text
        assert scenario.resolved["duration"]


@pytest.mark.filterwarnings("ignore:switch.aqm. under .strict. PRED:spillway.ScenarioWarning")
@pytest.mark.parametrize("name", [name for name, _ in _core.bundled()])
def test_bundled_scenarios_write_out_every_value(name):
    scenario = Scenario.load(name)
    given, full = tomllib.loads(scenario.given), scenario.resolved
    if "link_delay" in given["topology"]:
        full["topology"] = {k: v for k, v in full["topology"].items() if not k.endswith("_delay")}
    if given["nic"]["queues"] == 1:
        del full["nic"]["ack_queue"], full["nic"]["data_queue"]
    if given["switch"]["queues_per_port"] == 1:
        del full["switch"]["ack_queue"], full["switch"]["data_queue"]
    transport = full["transport"].keys() | {"transport"}
    for section in full["traffic"]:
        # What a section leaves out is that of [transport].
        for key in transport & section.keys():
            del section[key]
    assert missing(given, full) == []


def missing(given, full, path=""):
    """The keys of `full` that `given` does not have. A text is short for a table with a kind."""
    if isinstance(full, list) and full and isinstance(full[0], dict):
        pairs = zip(given, full, strict=True)
        return [key for mine, all_of_it in pairs for key in missing(mine, all_of_it, path)]
    if not isinstance(full, dict):
        return []
    given = {"kind": given} if isinstance(given, str) else given
    absent = [f"{path}{key}" for key in full if key not in given]
    return absent + [
        key
        for name in full.keys() & given.keys()
        for key in missing(given[name], full[name], f"{path}{name}.")
    ]


def test_what_is_resolved_resolves_to_itself():
    again = tomllib.loads(Scenario(Scenario.load(TINY).read().resolved).read().resolved)
    assert again == resolved()


def test_setting_a_policy_replaces_it_whole_and_sub_keys_refine_it():
    assert resolved("switch.aqm=red")["switch"]["aqm"]["kind"] == "red"
    assert "threshold" not in resolved("switch.aqm=red")["switch"]["aqm"]
    several = ["switch.queues_per_port=2", "switch.sharing=dt", "switch.sharing.alpha=[8, 2]"]
    refined = resolved(*several)["switch"]["sharing"]
    assert refined["alpha"] == [8, 2]
    assert resolved("switch.sharing.alpha=4")["switch"]["sharing"]["alpha"] == 4
    assert resolved("switch.aqm={ kind = 'ecn', threshold = '9pkt' }")["switch"]["aqm"] == {
        "kind": "ecn",
        "threshold": "9pkt",
        "at_threshold": "pass",
        "scope": "queue",
        "marks_at": "arrival",
        "not_ect": "pass",
    }


def test_a_policy_of_another_kind_starts_anew():
    ecn = "switch.aqm={ kind = 'ecn', threshold = '9pkt' }"
    red = resolved(ecn, "switch.aqm.kind=red")["switch"]["aqm"]
    assert red == resolved("switch.aqm=red")["switch"]["aqm"]
    several = [ecn, "switch.aqm.kind=red", "switch.aqm.weight=0.5"]
    assert resolved(*several)["switch"]["aqm"] == red | {"weight": 0.5}
    lqd = ["switch.sharing={ kind = 'dt', alpha = 2 }", "switch.sharing.kind=lqd"]
    assert (
        resolved(*lqd)["switch"]["sharing"] == resolved("switch.sharing=lqd")["switch"]["sharing"]
    )
    drops = r"^switch\.aqm\.threshold is set, but switch\.aqm\.kind=red after it drops it: a policy"
    with pytest.warns(spillway.ScenarioWarning, match=drops):
        resolved("switch.aqm=ecn", "switch.aqm.threshold=9pkt", "switch.aqm.kind=red")


def test_another_kind_keeps_only_the_keys_that_it_knows():
    own = ["transport.g=0.5", "transport.ack_every=2"]
    drops = r"^transport\.g is set, but transport\.kind=newreno after it drops it: there is no g"
    with pytest.warns(spillway.ScenarioWarning, match=drops) as caught:
        newreno = resolved(*own, "transport.kind=newreno")["transport"]
    assert len(caught) == 1
    assert (
        newreno["ack_every"] == 2 and newreno["recovery"]["min_rto"] == "1ms" and "g" not in newreno
    )
    star = ["topology.host_rate=25Gbps", "topology.kind=star", "topology.hosts=6"]
    anywhere = ["traffic.background.destinations=uniform", "traffic.background.load_of=host"]
    network = resolved(*star, *anywhere, "traffic.queries.senders=any")["topology"]
    assert (network["hosts"], network["host_rate"]) == (6, "25Gbps") and "leaves" not in network
    with pytest.warns(spillway.ScenarioWarning, match=r"^topology\.leaves is set, but topology"):
        resolved("topology.leaves=3", *star, *anywhere, "traffic.queries.senders=any")
    with pytest.raises(ScenarioError, match=r"transport\.g: unknown key"):
        resolved("transport.kind=newreno", "transport.g=0.5")


def test_a_key_that_is_dropped_and_set_again_is_not_warned_of(recwarn):
    sets = ["transport.g=0.1", "transport.kind=newreno", "transport.kind=dctcp", "transport.g=0.2"]
    assert resolved(*sets)["transport"]["g"] == 0.2
    assert not recwarn.list


def test_another_kind_hides_no_key_that_nobody_knows():
    with pytest.raises(ScenarioError, match=r"transport\.intial_window: unknown key"):
        resolved("transport.intial_window=20pkt", "transport.kind=cubic")
    with pytest.raises(ScenarioError, match=r"topology\.hots: unknown key"):
        resolved("topology.hots=4", "topology.kind=star", "topology.hosts=6")


def test_another_kind_of_transport_drops_the_keys_of_traffic_that_follows_it():
    def windows(*assignments):
        sections = Scenario.load("credence").set(*assignments).resolved["traffic"]
        return sections[1].get("initial_window"), sections[1].get("transport")

    hpcc, own = "transport.kind=hpcc", "traffic.incast.transport=hpcc"
    assert windows() == ("flow", "dctcp")
    assert windows(hpcc) == (None, None)
    assert windows(hpcc, own) == windows(own, hpcc) == (None, "hpcc")
    assert windows(hpcc, "traffic.incast.transport=cubic") == ("flow", "cubic")


def test_a_key_without_a_value_is_unset():
    given = resolved()
    assert given["transport"]["recovery"]["min_rto"] == "1ms"
    for unset in ("transport.recovery.min_rto=", {"transport.recovery.min_rto": None}):
        assert resolved(unset)["transport"]["recovery"]["min_rto"] == "10ms"
    assert len(resolved("traffic.queries=")["traffic"]) == len(given["traffic"]) - 1
    assert resolved("name=")["name"] == "unnamed"
    with pytest.raises(ScenarioError, match=r'^name: "" is not valid; expected a name'):
        resolved({"name": ""})
    nothing = r"^transport\.min_rot= unsets nothing: transport\.min_rot is not set$"
    with pytest.warns(spillway.ScenarioWarning, match=nothing):
        resolved("transport.min_rot=")


def test_a_key_set_for_a_section_s_transport_and_dropped_with_it_is_told():
    drops = (
        r"^traffic\.queries\.handshake is set, but traffic\.queries\.transport=udp after it "
        r"drops it: there is no handshake there$"
    )
    with pytest.warns(spillway.ScenarioWarning, match=drops):
        queries = resolved("traffic.queries.handshake=true", "traffic.queries.transport=udp")
    assert "handshake" not in queries["traffic"][1]
    with pytest.warns(spillway.ScenarioWarning, match=r"^traffic\.queries\.handshake is set"):
        resolved("traffic.queries.handshake=true", "traffic.1.transport=udp")
    # What stays, is of another section, or stands in the file, needs no warning.
    resolved("traffic.queries.mss=1000B", "traffic.queries.transport=udp")
    resolved("traffic.background.handshake=true", "traffic.queries.transport=udp")
    resolved("transport.handshake=true", "traffic.queries.transport=udp")
    with pytest.raises(ScenarioError, match=r"traffic\.queries\.handshake: unknown key"):
        resolved("traffic.queries.transport=udp", "traffic.queries.handshake=true")


def test_sections_of_traffic_go_by_name():
    queries = resolved("traffic.queries.burst=20%")["traffic"][1]
    assert queries["burst"] == "20%"


def test_an_element_of_a_list_goes_by_its_place():
    classes = ("switch.queues_per_port=2", "switch.sharing.alpha=[1, 0.5]")
    assert resolved(*classes, "switch.sharing.alpha[1]=2")["switch"]["sharing"]["alpha"] == [1, 2]
    for place, problem in (("[2]", "alpha has no element [2]"), ("[0].a", "has no keys below it")):
        with pytest.raises(ScenarioError) as raised:
            resolved(*classes, f"switch.sharing.alpha{place}=2")
        assert problem in str(raised.value)
        assert raised.value.path == f"switch.sharing.alpha{place}"
    with pytest.raises(ScenarioError, match="there is no list alpha of which") as raised:
        resolved("switch.sharing.alpha[1]=2")
    assert raised.value.hint == "set the whole list first, as in alpha=[1, 2]"


def test_later_assignments_win():
    assert resolved("seed=1", "seed=2")["seed"] == 2


def test_a_tier_s_own_value_wins_with_a_warning():
    own = Scenario(f"{TINY.read_text()}\n[switch.leaf]\nsharing = 'lqd'\n")
    overruled = r"switch\.sharing is set, but not for the leaf"
    with pytest.warns(spillway.ScenarioWarning, match=overruled):
        switch = own.set("switch.sharing=cs").resolved["switch"]
    assert switch["leaf"]["sharing"]["kind"] == "lqd"
    assert switch["sharing"]["kind"] == "cs"
    # What the tier says nothing about, or sets itself, needs no warning.
    assert own.set("switch.buffer=90KB").resolved["switch"]["leaf"]["buffer"] == "90KB"
    assert own.set("switch.leaf.sharing=sp").resolved["switch"]["leaf"]["sharing"]["kind"] == "sp"
    for sets in (
        "switch.sharing=cs switch.leaf.sharing=sp",
        "switch.leaf.sharing=sp switch.sharing=cs",
    ):
        both = own.set(*sets.split()).resolved["switch"]
        assert both["leaf"]["sharing"]["kind"] == "sp"


def test_the_nearest_scenario_is_offered():
    with pytest.raises(ScenarioError) as caught:
        Scenario.load("leaf-spine-12")
    assert "leaf-spine-128" in (caught.value.hint or "")


def test_a_folder_of_results_names_one(tmp_path):
    spillway.sweep(TINY, seeds=[1, 2], set=["duration=1ms"], out=tmp_path / "out")
    with pytest.raises(ScenarioError, match=r"without a scenario\.toml") as caught:
        Scenario.load(tmp_path / "out")
    assert str(tmp_path / "out" / "runs") in (caught.value.hint or "")


def test_errors_say_where():
    with pytest.raises(ScenarioError) as caught:
        resolved("switch.sharing.alpha=-1")
    assert caught.value.path == "switch.sharing.alpha"
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"duration": None}, "duration: <class 'NoneType'> is not a value"),
        ({"traffic": [{"name": object()}]}, "traffic.0.name: <class 'object'> is not a value"),
        ({"seed": 2**70}, "seed: <class 'int'> is not a value"),
        ({3: "x"}, "is not a value"),
    ],
)
def test_what_toml_cannot_hold_is_refused(given, text):
    with pytest.raises(ScenarioError) as caught:
        Scenario(given).read()
    assert text in str(caught.value)


def _in_itself(kind):
    whole = {"duration": "1ms"}
    whole["record"] = whole if kind is dict else {"windows": [whole]}
    return whole


@pytest.mark.parametrize(
    ("given", "assignments"),
    [
        (_in_itself(dict), ()),
        (_in_itself(list), ()),
        ("a." * 10_000 + "a = 1", ()),
        ("[" + "a." * 10_000 + "a]\n", ()),
        ("a = " + "[" * 10_000 + "]" * 10_000, ()),
        (TINY.read_text(), ("a." * 10_000 + "a=1",)),
    ],
)
def test_what_is_nested_without_end_is_refused(given, assignments):
    with pytest.raises(ScenarioError, match="tables and lists stand within one another"):
        Scenario(given, assignments=assignments).read()


@pytest.mark.parametrize("make", [dict, list])
def test_a_value_that_is_nested_without_end_is_refused(make):
    given = _in_itself(make)
    for call in (
        lambda: spillway.run(TINY, set={"traffic": given}),
        lambda: spillway.sweep(TINY, vary={"switch.sharing": ["dt", given]}),
    ):
        with pytest.raises(ScenarioError, match="stand within one another, more than 64"):
            call()


def test_facts_follow_from_the_scenario():
    facts = Scenario.load(TINY).facts
    assert (facts["hosts"], facts["racks"], facts["links"]) == (8, 2, 10)
    # 4 hosts of 10 Gbps behind one uplink of 10 Gbps.
    assert facts["oversubscription"] == 4
    # Twice 4 links of 3 us, and a packet of 1500 B at 10 Gbps.
    assert facts["base_rtt_us"] == pytest.approx(25.2)
    assert facts["bdp_bytes"] == 31_500
    # 1 ms.
    assert facts["min_rto_us"] == 1_000
    assert facts["min_rto_base_rtts"] == pytest.approx(1_000 / 25.2)
    slow = ["traffic.queries.recovery.min_rto=4ms", "traffic.background.transport=udp"]
    assert Scenario.load(TINY).set(*slow).facts["min_rto_us"] == 4_000
    clock = Scenario.load(TINY).set("transport.kind=udp").facts
    assert (clock["min_rto_us"], clock["min_rto_base_rtts"]) == (None, None)
    leaf, spine = facts["tiers"]
    assert (leaf["ports_by_gbps"], spine["switches"]) == ({"10": 5}, 1)
    assert leaf["buffer_bytes"] == 60_000
    background = facts["traffic"][0]
    assert background["load"] == pytest.approx(0.5)
    assert background["counted_all"] and background["flows"] > 10


@given(
    st.integers(0, 2**62),
    st.booleans(),
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20).map("a{}".format),
)
def test_any_value_of_a_dict_arrives(seed, drops, name):
    given = tomllib.loads(TINY.read_text())
    given.update(seed=seed, name=name, record={"drops": drops})
    read = Scenario(given).resolved
    assert (read["seed"], read["name"], read["record"]["drops"]) == (seed, name, drops)


@pytest.mark.parametrize(
    ("sets", "kind", "path"),
    [
        (["switch.bufer=1MB"], "unknown-key", "switch.bufer"),
        (["traffic.nobody.load=0.1"], "unknown-key", "traffic.nobody.load"),
        (["seed.x=1"], "unknown-key", "seed.x"),
        (
            ["switch.sharing.alpha=[1]", "switch.sharing.alpha[3]=1"],
            "unknown-key",
            "switch.sharing.alpha[3]",
        ),
        (
            ["record.port_interval=1us", "record.port_switch=leaf99"],
            "unknown-place",
            "record.port_switch",
        ),
        (["record.port_switch=leaf0"], "unused-key", "record.port_switch"),
        (["traffic=[{ name = 'x', kind = 'poisson' }]"], "missing-key", "traffic.x.sizes"),
        (["switch.sharing={ kind = 'dt', alpha = -1 }"], "wrong-value", "switch.sharing.alpha"),
        (["switch.sharing=dtt"], "wrong-value", "switch.sharing"),
        (["switch.buffer=much"], "wrong-value", "switch.buffer"),
        (["transport.kind=tcp"], "wrong-value", "transport.kind"),
        (["stop=1us"], "conflict", "stop"),
        (["limits.flows=1"], "limit", "traffic.senders"),
        (["record.queue_interval=1ps"], "limit", "record.queue_interval"),
        (["topology={ kind = 'graph', file = 'none' }"], "file", "topology.file"),
        (["topology={ kind = 'graph' }"], "missing-key", "topology.file"),
        (["traffic=[{ name='x', kind='flows', file='x.parquet' }]"], "file", "traffic.x.file"),
        (["switch.sharing={ kind = 'smartbuf', history = 'x' }"], "file", "switch.sharing.history"),
        (["switch.sharing.alpha"], "wrong-value", ""),
    ],
)
def test_an_error_says_of_which_kind_it_is_and_of_which_key(sets, kind, path):
    with pytest.raises(spillway.ScenarioError) as told:
        spillway.Scenario.load("incast-star").set(*sets).read()
    assert (told.value.kind, told.value.path) == (kind, path)


@pytest.mark.filterwarnings("ignore::spillway.ScenarioWarning")
def test_a_kind_is_chosen_by_the_key_or_by_its_kind():
    """As docs/scenario/keys.md says of what takes a table with `kind`."""
    page = (Path(__file__).parents[1] / "docs/scenario/keys.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| `([\w.]+)` \| one of (.*), or a table with `kind`", page)
    traffic = {"name": "t", "kind": "persistent", "receiver": 0}
    base = Scenario({"duration": "1ms", "topology": {"kind": "star"}, "traffic": [traffic]})

    def outcome(key: str, id: str) -> object:
        try:
            return base.set(f"{key.replace('NAME', 't')}={id}").resolved
        except ScenarioError as error:
            return str(error).replace(".kind:", ":")

    for key, ids in rows:
        for id in ids.split(", "):
            assert outcome(f"{key}.kind", id) == outcome(key, id)
    assert len(rows) > 5


@pytest.mark.filterwarnings("ignore::spillway.ScenarioWarning")
@pytest.mark.parametrize("kind", ["hpcc", "timely", "dcqcn", "newreno"])
def test_a_section_with_another_transport_is_read_again_whatever_the_preset(kind, tmp_path):
    """The written scenario names a preset, which the other kind of the section may not have."""
    read = spillway.Scenario.of("cbm").set(f"transport.kind={kind}").checked()
    file = tmp_path / "again.toml"
    file.write_text(read.resolved)
    assert spillway.Scenario.load(file).checked().resolved == read.resolved
