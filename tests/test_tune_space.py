"""What `tune` varies: ranges, choices, and which of them matter beside which choices."""

import pytest

import spillway
from spillway import Scenario, ScenarioError
from spillway.tuning.space import Choices, Range, Space, parameters
from support import TINY

ALPHA, SHARING = "switch.sharing.alpha=0.1..8:log", "switch.sharing=dt,abm,lqd"


def one(text: str) -> Range:
    (found,) = parameters(text)
    assert isinstance(found, Range)
    return found


def space(*over: str, set: tuple[str, ...] = ()) -> Space:
    return Space(Scenario.of(TINY).set(*set), parameters(over))


def test_a_range_has_two_ends_and_a_unit():
    assert one("a=0.1..8") == Range("a", 0.1, 8.0)
    assert one("a = 0.1 .. 8 ") == Range("a", 0.1, 8.0)
    assert one("a=0.1..8:log") == Range("a", 0.1, 8.0, is_log=True)
    assert one("a=1us..20.5us") == Range("a", 1.0, 20.5, "us")
    assert one("a=1..5%") == Range("a", 1.0, 5.0, "%", step=1.0)
    assert one("a=-2.5..1e1") == Range("a", -2.5, 10.0)
    assert one("a=1KB/port/Gbps..9KB/port/Gbps").unit == "KB/port/Gbps"


def test_ends_without_a_point_are_whole_numbers_and_so_are_all_between_them():
    assert one("a=10pkt..200pkt") == Range("a", 10.0, 200.0, "pkt", step=1.0)
    assert one("a=1..64:log") == Range("a", 1.0, 64.0, is_log=True, step=1.0)
    assert one("a=-5..-1").is_whole
    assert not one("a=1.0..8").is_whole and not one("a=1..8.5").is_whole
    assert one("a=10..40:step=10") == Range("a", 10.0, 40.0, step=10.0)
    assert one("a=0.5..2:step=0.25") == Range("a", 0.5, 2.0, step=0.25)


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("a=10pkt..200pkt", 57, "57pkt"),
        ("a=1us..20.5us", 2.34567, "2.346us"),
        ("a=1us..20.5us", 20.0, "20us"),
        ("a=0.1..8", 0.72635, "0.7264"),
        # Without a unit it is a float also where nothing follows the point.
        ("a=0.1..8", 8.0, "8.0"),
        # Ends are exact, rounding does not lead out of the range, and there are no exponents.
        ("a=0.12345..8", 0.12345, "0.12345"),
        ("a=0.12344..8", 0.123441, "0.12344"),
        ("a=0.000001..1.5", 0.0000123456, "0.00001235"),
        ("a=0.5..2:step=0.25", 0.75, "0.75"),
        ("a=1..5%", 3, "3%"),
        # As many digits as a narrow range needs: a hundredth of this one is 0.00000008.
        ("a=0.500001..0.500009", 0.5000034567, "0.50000346"),
        ("a=100.0us..101us", 100.456, "100.46us"),
        ("a=-101.0..-100", -100.456, "-100.46"),
        ("a=1.0..1.000000000000001", 1.0000000000000004, "1.0000000000000004"),
        ("a=1.0..1.0000000000000002", 1.0, "1.0"),
        ("a=-1.5e308..1.5e308", 0.0, "0.0"),
        # The hundredth of these is 0.009 and 0.0005: the third digit, and the fourth.
        ("a=0.1..1.0", 0.123456, "0.1235"),
        ("a=0.15..0.2", 0.123456 + 0.05, "0.1735"),
    ],
)
def test_a_number_is_written_with_its_unit_and_four_digits(text, value, written):
    assert one(text).text(value) == written


def test_two_points_and_one_before_a_digit_are_told_apart_by_a_space():
    assert one("a=0.1.. .8") == one("a=.1..0.8") == Range("a", 0.1, 0.8)
    assert parameters("a=x...y,z") == [Choices("a", ("x...y", "z"))]


def test_a_value_of_a_scenario_is_in_a_range_or_is_not():
    assert one("a=10pkt..200pkt").value("65pkt") == 65
    for outside in ("9pkt", "65KB", "65", "65.5pkt", "pkt", "unlimited"):
        assert one("a=10pkt..200pkt").value(outside) is None, outside
    assert one("a=0.1..0.9:step=0.1").value("0.3") == 0.3
    assert one("a=0.1..0.9:step=0.1").value("0.35") is None


def test_choices_are_listed():
    assert parameters(SHARING) == [Choices("switch.sharing", ("dt", "abm", "lqd"))]
    listed = parameters("a={ kind = 'dt', alpha = [1, 2] },lqd,")
    assert listed == [Choices("a", ("{ kind = 'dt', alpha = [1, 2] }", "lqd", ""))]
    mapping = {"a": ["dt", None, 0.5, True], "b": "1..4", "c": (1, 2)}
    assert [str(each) for each in parameters(mapping)] == ["a=dt,,0.5,true", "b=1..4", "c=1,2"]


def test_keys_that_only_begin_like_those_of_measurements_are_varied():
    keys = ["names", "traffic.background.name", "recorded.short", "limit", "switch.record"]
    assert [each.key for each in parameters(f"{key}=1..2" for key in keys)] == keys


@pytest.mark.parametrize(
    ("over", "problem", "hint"),
    [
        ([], "nothing is varied", "for one: switch.sharing.alpha=0.1..8:log"),
        ("a", "'a' is not of the form key=low..high or key=a,b", "for one"),
        ("a=", "'a=' is not of the form key=low..high or key=a,b", "for one"),
        ("=1..2", "'=1..2' is not of the form key=low..high or key=a,b", "for one"),
        ([3], "3 is not of the form", "for one"),
        (3, "3 are no parameters", "for one"),
        ("a=1..", "'a=1..' is not a range", "two numbers with the same unit and .. between"),
        ("a=1..2..3", "is not a range", "two numbers"),
        ("a=0.1...8", "'a=0.1...8' has three points in a row", "as in 0.1..0.8"),
        ("a=1us...8us:log", "has three points in a row", "as in 0.1..0.8"),
        ("a=5..1", "a=5..1: the second end is not above the first", "for one: 0.1..8"),
        ("a=5..5", "the second end is not above the first", "for one"),
        ("a=1e999..2e999", "the second end is not above the first", "for one"),
        ("a=1pkt..2KB", "the ends of a range have one unit", "both ends in the same unit"),
        ("a=1KB..2", "the ends of a range have one unit", "both ends in the same unit"),
        ("a=0..1:log", "a logarithmic range begins above 0", "or leave out :log"),
        ("a=1..2:foo", "'foo' is no option", "valid here: log, step=N"),
        ("a=1..2:step=0", "'step=0' is no option", "valid here: log, step=N"),
        ("a=1..9:log:step=2", "a logarithmic range has no steps", "leave out one of the two"),
        ("a=1..2:step=0.3", "steps of 0.3 do not lead from one end to the other", "a step leads"),
        ("a=0..9999999999", "steps of 1 do not lead", "1,000,000,000 at most"),
        ("a=x", "a has one value, x: there is nothing to choose", "for one"),
        ("a=x,y,x", "'a=x,y,x' has the same value twice", "list each once"),
        ("seed=1..3", "seed is no parameter to choose", "say which with seeds"),
        ("duration=1ms..3ms", "duration is no parameter to choose", "makes all runs longer"),
        ("stop=1s,2s", "stop is no parameter to choose", "makes all runs longer"),
        ("warmup=1ms..3ms", "warmup is no parameter to choose", "changes what is measured"),
        ("name=x,y", "name is no parameter to choose", "set it for all trials"),
        ("slowdown_base=ideal,published", "slowdown_base is no parameter", "what is measured"),
        ("record.short=10KB..90KB", "record.short is no parameter to choose", "what is measured"),
        ("record={ short = '1KB' },", "record is no parameter to choose", "what is measured"),
        ("limits.memory=1GB,2GB", "limits.memory is no parameter to choose", "what is measured"),
        (["a=1..2", "a=x,y"], "a is varied twice", "one range or list for each key"),
        (["a=x,y", "a.kind=x,y"], "a is varied twice", "one range or list for each key"),
        ("a=\ud800,b", "half a character", None),
    ],
)
def test_what_is_no_range_is_refused(over, problem, hint):
    with pytest.raises(ScenarioError) as raised:
        parameters(over)
    assert problem in str(raised.value)
    assert hint is None or hint in raised.value.hint


def test_a_policy_s_own_keys_matter_only_where_it_is_chosen():
    found = space(ALPHA, SHARING, "switch.aqm.threshold=10pkt..200pkt")
    keys = ["switch.sharing", "switch.sharing.alpha", "switch.aqm.threshold"]
    assert sorted(each.key for each in found.parameters) == sorted(keys)
    asked = {"switch.sharing.alpha": "2.0", "switch.aqm.threshold": "20pkt"}
    for kind, has_alpha in (("dt", True), ("abm", True), ("lqd", False)):
        chosen = found.chosen(lambda each, kind=kind: asked.get(each.key, kind))
        assert chosen["switch.sharing"] == kind
        assert ("switch.sharing.alpha" in chosen) is has_alpha, kind
        assert found.with_values(chosen).resolved["switch"]["sharing"]["kind"] == kind
    assert [each.key for each in found.parameters if found.above(each)] == [keys[1]]


def test_a_kind_of_its_own_key_is_a_choice_too():
    found = space("switch.sharing.kind=dt,lqd", ALPHA)
    alpha = next(each for each in found.parameters if each.key == "switch.sharing.alpha")
    assert found.matters(alpha, {"switch.sharing.kind": "dt"})
    assert not found.matters(alpha, {"switch.sharing.kind": "lqd"})


def test_transports_and_tiers_have_keys_of_their_own_as_well():
    found = space("transport.kind=dctcp,newreno", "transport.g=0.01..1")
    g = found.parameters[1]
    assert g.key == "transport.g"
    assert found.matters(g, {"transport.kind": "dctcp"})
    assert not found.matters(g, {"transport.kind": "newreno"})
    tier = ("switch.leaf.aqm=ecn,red", "switch.leaf.aqm.threshold=1pkt..9pkt")
    found = space(*tier)
    assert not found.matters(found.parameters[1], {"switch.leaf.aqm": "red"})


def test_an_element_of_a_list_is_varied():
    lists = ("switch.queues_per_port=2", "switch.sharing.alpha=[1, 0.5]")
    found = space("switch.sharing.alpha[1]=0.1..8.0", set=lists)
    scenario = found.with_values({"switch.sharing.alpha[1]": "2.5"})
    assert scenario.resolved["switch"]["sharing"]["alpha"] == [1, 2.5]
    assert found.default() == {"switch.sharing.alpha[1]": "0.5"}
    # Beside a choice it matters where there is such a list.
    choice = 'switch.sharing={ kind = "dt", alpha = [1, 1] },lqd,dt'
    found = space(choice, "switch.sharing.alpha[1]=0.1..8.0", set=lists[:1])
    element = found.parameters[1]
    matters = [found.matters(element, {"switch.sharing": v}) for v in found.parameters[0].values]
    assert matters == [True, False, False]


def test_the_scenario_s_own_values_are_known():
    assert space(ALPHA, SHARING, "traffic.background.load=0.1..0.9").default() == {
        "switch.sharing": "dt",
        "switch.sharing.alpha": "0.5",
        "traffic.background.load": "0.5",
    }
    # One that is not among those varied is none to begin with.
    outside = space("switch.sharing.alpha=1.0..8")
    assert outside.default() is None
    assert outside.own == {"switch.sharing.alpha": "0.5"}
    assert space("switch.sharing=abm,lqd").default() is None
    assert space("transport.recovery.max_rto=1s,2s").default() == {
        "transport.recovery.max_rto": "1s"
    }


def test_what_a_choice_drops_is_not_the_scenario_s_own():
    policy = ('switch.sharing={ kind = "dt", alpha = 0.05 }',)
    # The choice dt has alpha 0.5, which is not the scenario's.
    assert space("switch.sharing=dt,sp", set=policy).default() is None
    # With its kind alone alpha stays; it is set again where it is varied, or stands in the choice.
    for over, own in (
        (["switch.sharing.kind=dt,sp"], {"switch.sharing.kind": "dt"}),
        (
            ["switch.sharing=dt,sp", "switch.sharing.alpha=0.01..8:log"],
            {"switch.sharing": "dt", "switch.sharing.alpha": "0.05"},
        ),
        (
            ['switch.sharing=dt,{ kind = "dt", alpha = 0.05 }'],
            {"switch.sharing": '{ kind = "dt", alpha = 0.05 }'},
        ),
    ):
        assert space(*over, set=policy).default() == own
    # What is dropped may also be another key than the one that is varied.
    other = ('switch.sharing={ kind = "dt", alpha = 0.05, count_arrival = false }',)
    found = space("switch.sharing=dt,sp", "switch.sharing.alpha=0.01..8:log", set=other)
    assert found.default() is None


def test_a_key_that_is_not_set_is_the_scenario_s_own_choice():
    found = space("switch.leaf.sharing=,lqd")
    assert found.default() == {"switch.leaf.sharing": ""}
    # Below it are others, and what the scenario says of all tiers is no value of the leaf's.
    found = space("switch.leaf.sharing=lqd,,dt", "switch.leaf.sharing.alpha=0.1..8.0")
    assert found.default() == {"switch.leaf.sharing": ""}
    # Unset is also the default of a policy's key, and not what is set to another value.
    found = space("switch.sharing.alpha=,1", SHARING)
    assert found.default() == {"switch.sharing": "dt", "switch.sharing.alpha": ""}
    own = ("switch.leaf.sharing=abm",)
    found = space("switch.leaf.sharing=,lqd", set=own)
    assert found.default() is None


def test_the_scenario_s_own_number_is_written_as_it_is_there():
    own = ("switch.sharing.alpha=0.123456",)
    found = space(ALPHA, set=own)
    assert found.default() == {"switch.sharing.alpha": "0.123456"}
    (alpha,) = found.parameters
    assert alpha.text(0.123456) == "0.123456" and alpha.text(0.123457) == "0.1235"
    # A whole number of a range of whole ones may have a point in the scenario.
    found = space("switch.sharing.alpha=1..64:log", set=("switch.sharing.alpha=2.0",))
    assert found.parameters[0].text(2) == "2.0" and found.parameters[0].text(3) == "3"
    assert str(found.parameters[0]) == "switch.sharing.alpha=1..64:log"


@pytest.mark.parametrize(
    "keys",
    [
        ("traffic.background.load", "traffic.0.load"),
        ("traffic.background.load", "traffic[0].load"),
        ("traffic.00.load", "traffic[0].load"),
        ("switch.sharing.alpha[1]", "switch.sharing.alpha[01]"),
        ("switch.sharing.alpha[1]", "switch.sharing.alpha.1"),
    ],
)
def test_two_names_of_one_key_are_refused(keys):
    lists = ("switch.queues_per_port=2", "switch.sharing.alpha=[1, 0.5]")
    with pytest.raises(ScenarioError) as raised:
        space(*(f"{key}=0.1..0.8" for key in keys), set=lists)
    names = sorted(keys, key=lambda key: len(key.split(".")) + key.count("["))
    expected = f"{names[0]} and {names[1]} are two names of one key, which is varied twice"
    assert str(raised.value) == expected and raised.value.hint == "one range or list for each key"


def test_a_section_called_like_a_place_is_another_one():
    named = ('traffic.background.name="1"',)
    found = space("traffic.1.load=0.1..0.8", "traffic[1].fan_in=2..4", set=named)
    assert found.default() == {"traffic.1.load": "0.5", "traffic[1].fan_in": "4"}


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        (["switch.aqm.threshold=-5pkt..50pkt"], '"-5pkt" must not be negative'),
        (["traffic.0.load=-1..1"], "traffic.background.load: -1 is not valid"),
        (["switch.foo=1..3"], "switch.foo: unknown key"),
        (["switch.sharing.alpha[1]=0.1..8"], "there is no list alpha"),
        (["traffic.foo.load=0.1..0.2"], 'there is no traffic called "foo"'),
        (["switch.sharing=cs,lqd", ALPHA], "switch.sharing.alpha: unknown key"),
        (["switch.sharing=dt,ab"], 'switch.sharing: "ab" is not known'),
        (["switch.sharing=dt,ab", ALPHA], 'switch.sharing: "ab" is not known'),
        (["switch.sharing.alpha=0..8"], "switch.sharing.alpha: 0 is not valid"),
        (["switch.aqm.threshold=1us..2us"], "switch.aqm.threshold: "),
        (["switch.sharing.alpha=0.5,-1"], "switch.sharing.alpha: -1 is not valid"),
    ],
)
def test_what_the_scenario_refuses_is_refused_before_any_run(over, problem):
    with pytest.raises(ScenarioError) as raised:
        space(*over)
    assert problem in str(raised.value)


def test_values_that_may_not_go_together_are_no_mistake():
    red = ("switch.aqm.min=5pkt..90pkt", "switch.aqm.max=10pkt..100pkt")
    found = space(*red, set=("switch.aqm=red",))
    with pytest.raises(ScenarioError, match="must not be less than min"):
        found.with_values({"switch.aqm.min": "50pkt", "switch.aqm.max": "20pkt"}).read()


def test_the_tuning_of_a_plug_in_begins_with_its_keys(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from spillway.plugins import Sharing\n\n\n"
        "class Mine(Sharing):\n"
        '    id = "mine"\n\n'
        "    share: float = 0.5\n\n"
        "    def admit(self, arrival, buffer):\n"
        "        return True\n"
    )
    plugin = spillway.plugins.load(f"{tmp_path}/mine.py:Mine")
    base = Scenario.of(TINY).plug(plugin)
    found = Space(base, parameters(["switch.sharing=dt,mine", "switch.sharing.share=0.1..0.9"]))
    share = found.parameters[1]
    assert found.matters(share, {"switch.sharing": "mine"})
    assert not found.matters(share, {"switch.sharing": "dt"})
    assert found.with_values({"switch.sharing": "dt"}).plugins == ()
