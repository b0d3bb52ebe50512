"""The JSON Schema of scenarios, beside the reader of scenarios."""

import re
import tomllib
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import page_blocks
import plugins
import spillway
from spillway import _core
from spillway.scenario.schema import json_schema
from spillway.scenario.sections import at, sections
from support import TINY
from wrong_scenarios import needed, whole, with_examples, wrong

ROOT = Path(__file__).parents[1]
VALIDATOR = Draft202012Validator(json_schema())
HERE_DOCUMENT = re.compile(r"^cat > \S+\.toml <<'END'\n(.*?)^END$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def beside(monkeypatch, tmp_path):
    """A folder with what the made scenarios name."""
    monkeypatch.chdir(tmp_path)
    Path("list.csv").write_text("src,dst,size_bytes,start_ns\n0,1,1000,0\n")


def is_read(scenario):
    try:
        spillway.Scenario(scenario).checked()
    except spillway.ScenarioError:
        return False
    return True


def on_pages():
    """The scenarios on pages, and parts of scenarios: in blocks, and those that commands write."""
    for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("studies/**/*.md")):
        for block in page_blocks.taken_apart(page.read_text()).blocks:
            texts = [block.text] if block.kind == "toml" else []
            texts = HERE_DOCUMENT.findall(block.text) if block.kind == "sh" else texts
            for text in texts:
                # Files of a graph are no scenarios, and plug-ins are not known.
                if not text.startswith("[[switch]]") and "my-" not in text:
                    yield pytest.param(text, id=f"{page.name}:{block.line}")


def test_it_is_a_schema():
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.filterwarnings("ignore:switch.aqm. under .strict. PRED:spillway.ScenarioWarning")
@pytest.mark.parametrize("name", [name for name, _ in _core.bundled()])
def test_bundled_scenarios_are_valid_as_written_and_written_out(name):
    scenario = spillway.Scenario(name)
    VALIDATOR.validate(tomllib.loads(scenario.given))
    VALIDATOR.validate(scenario.resolved)


@pytest.mark.parametrize("text", [TINY.read_text(), *on_pages()])
def test_scenarios_on_pages_are_valid(text):
    least = {"duration": "1ms", "topology": {"kind": "star"}}
    VALIDATOR.validate(least | tomllib.loads(text))


def test_pages_have_scenarios():
    assert len(list(on_pages())) > 5


@pytest.mark.parametrize("section", sections(), ids=lambda each: f"{each.path} {each.kind}")
def test_every_section_is_valid_with_what_it_needs(section, beside):
    scenario = whole(section, needed(section))
    if section.kind == "model":
        scenario["traffic"][0]["bound"]["model"] = "m.safetensors"
    else:
        assert is_read(scenario)
    VALIDATOR.validate(scenario)


def check(made):
    for what, scenario in made:
        assert not VALIDATOR.is_valid(scenario), what
        assert not is_read(scenario), what


def test_what_is_wrong_is_refused_as_the_reader_refuses_it(beside):
    made = list(islice(wrong(), 0, None, 7))
    assert len(made) > 200
    check(made)


@pytest.mark.slow
def test_all_that_is_wrong_is_refused_as_the_reader_refuses_it(beside):
    check(wrong())


def test_an_unknown_key_is_refused_in_every_section(beside):
    check(made for made in wrong() if made.what.endswith("unknown key"))


@pytest.mark.slow
def test_what_the_reader_takes_is_valid(beside):
    for what, scenario in islice(with_examples(), 0, None, 3):
        assert VALIDATOR.is_valid(scenario) or not is_read(scenario), what


def test_what_the_reader_takes_is_valid_in_a_sample(beside):
    for what, scenario in islice(with_examples(), 0, None, 50):
        assert VALIDATOR.is_valid(scenario) or not is_read(scenario), what


def test_a_section_has_the_names_that_the_reader_names(beside):
    for section in sections():
        if section.path in ("", "topology", "traffic.*", "switch") or section.kind == "model":
            continue
        with pytest.raises(spillway.ScenarioError) as caught:
            spillway.Scenario(whole(section, {**needed(section), "z" * 40: 1})).read()
        listed = (caught.value.hint or "").removeprefix("valid here: ").split(", ")
        names = {name for name in listed if re.fullmatch(r"\w+", name)}
        assert names <= {*section.keys, "kind"}, (section.path, section.kind)


def test_keys_have_meanings_and_defaults():
    recovery = json_schema()["$defs"]["transport.recovery.sack"]["properties"]
    assert recovery["min_rto"]["default"] == "10ms"
    assert recovery["min_rto"]["description"].startswith("The least retransmission timeout. ")
    assert recovery["kind"]["const"] == "sack"
    switch = json_schema()["$defs"]["switch"]["properties"]
    assert switch["sharing"]["default"] == "cs"
    assert "default" not in json_schema()["properties"]["duration"]


@pytest.mark.parametrize(
    ("section", "error"),
    [
        ({"topology": {"kind": "star", "leaves": 2}}, "'leaves' was unexpected"),
        ({"switch": {"sharing": {"kind": "dt", "alhpa": 1}}}, "'alhpa' was unexpected"),
        ({"switch": {"leaf": {"aqm": {"kind": "ecn", "threshold": 9}}}}, "9 is not of type"),
        ({"transport": {"recovery": {"min_rto": "5"}}}, "'5' does not match"),
        ({"traffic": [{"name": "t", "kind": "poisson", "load": 1}]}, "'sizes' is a required"),
        ({"event": [{"at": "1us", "a": "leaf0"}]}, "'b' is a required"),
    ],
)
def test_errors_are_about_single_keys(section, error):
    scenario = {"duration": "1ms", "topology": {"kind": "star"}, **section}
    assert error in best_match(VALIDATOR.iter_errors(scenario)).message


def test_plug_ins_are_known_if_they_are_given():
    named = {
        "duration": "1ms",
        "topology": {"kind": "star"},
        "switch": {"sharing": {"kind": plugins.MyDt.id, "alpha": 0.5}, "aqm": plugins.MyEcn.id},
        "transport": {"kind": plugins.MyDctcp.id, "mss": "1KB", "tagging": plugins.MyPias.id},
        "traffic": [
            {"name": "t", "kind": "persistent", "receiver": 0, "transport": plugins.MyDctcp.id}
        ],
    }
    assert not VALIDATOR.is_valid(named)
    classes = [plugins.MyDt, plugins.MyEcn, plugins.MyDctcp, plugins.MyPias]
    validator = Draft202012Validator(json_schema(classes))
    validator.validate(named)
    for wrong_one in ("much", True, [1]):
        named["switch"]["sharing"]["alpha"] = wrong_one
        assert not validator.is_valid(named)
    assert at(sections(), "switch.sharing") == [
        section for section in at(sections(classes), "switch.sharing") if not section.plugin
    ]


def test_parameters_of_plug_ins_have_forms():
    everyone = json_schema([plugins.Everyone])["$defs"]["switch.sharing.everyone"]["properties"]
    assert everyone["style"]["enum"] == ["loud", "quiet"]
    assert everyone["weights"]["items"] == {"type": "number"}


def test_the_command_prints_it(command):
    outcome = command("schema")
    assert outcome.json == json_schema()
    plugin = f"{plugins.EXAMPLES}/my_dt.py:MyDt"
    found = command("schema", "--plugin", plugin).json
    assert f"switch.sharing.{plugins.MyDt.id}" in found["$defs"]
