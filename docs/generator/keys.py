"""The keys of sections of a scenario, for which the program is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import spillway
from generator.catalogue import CATALOGUE, Json
from generator.markdown import code, takes

UNKNOWN = "z" * 40
"""A key so far from every other that an error lists them all."""
WRONG = [[]]  # type: ignore[var-annotated]
"""A value that no key takes."""


@dataclass(frozen=True)
class Section:
    """A section of a scenario: what has to be given in it, and where it stands."""

    build: Callable[[Json], Json]
    given: tuple[Json, ...] = ({},)
    """What must be given; several where a section has several kinds."""
    skip: tuple[str, ...] = ()
    """Keys that stand in another table."""
    most: Json = field(default_factory=dict)
    """What must be given for the others to take all that they can."""
    resolved: Callable[[Json], Json] = lambda whole: whole

    def keys(self) -> dict[str, tuple[str, str]]:
        """For every key what it takes, and its default."""
        found: dict[str, tuple[str, str]] = {}
        for given in self.given:
            for name in self._names(given):
                if name not in self.skip and name not in found:
                    found[name] = (self._takes(given, name), self._default(given, name))
        return found

    def _names(self, given: Json) -> list[str]:
        error = refusal(self.build({**given, UNKNOWN: 1}))
        if ": missing" in str(error):
            return [str(error).partition(": missing")[0].rpartition(".")[2]]
        return (error.hint or "").removeprefix("valid here: ").split(", ")

    def _takes(self, given: Json, name: str) -> str:
        problem = str(refusal(self.build({**given, **self.most, name: WRONG}))).splitlines()[0]
        return takes(problem.partition("expected ")[2])

    def _default(self, given: Json, name: str) -> str:
        others = {key: value for key, value in given.items() if key != name}
        try:
            whole = spillway.Scenario(self.build(others)).resolved
        except spillway.ScenarioError as error:
            if "missing" in str(error):
                return "required"
            raise
        section = self.resolved(whole)
        return code(toml(section[name])) if name in section else "none"


def refusal(scenario: Json) -> spillway.ScenarioError:
    """How a wrong scenario is refused."""
    try:
        spillway.Scenario(scenario).read()
    except spillway.ScenarioError as error:
        return error
    raise SystemExit(f"this should be wrong: {scenario}")


def toml(value: Any) -> str:
    """A value as a scenario has it; a policy without parameters as its id."""
    if isinstance(value, dict) and set(value) == {"kind"}:
        value = value["kind"]
    return json.dumps(value)


BASE: Json = {"duration": "1ms", "topology": {"kind": "star"}}


def within(name: str, base: Json = BASE, **more: Any) -> dict[str, Any]:
    """A section with a table of its own."""
    return {
        "build": lambda values: {**base, name: values},
        "resolved": lambda whole: whole[name],
        **more,
    }


def graph(tables: str, /, **given: Any) -> Section:
    """A table of a topology of kind `graph`."""
    link = {"rate": "10Gbps", "delay": "1us"}
    whole: Json = {
        "kind": "graph",
        "switch": [{"name": "s"}, {"name": "t"}],
        "host": [{"name": host, "switch": "s", **link} for host in ("a", "b")],
        "link": [{"a": "s", "b": "t", **link}],
    }

    def build(values: Json) -> Json:
        return {**BASE, "topology": {**whole, tables: [*whole[tables], values]}}

    return Section(build, (given,), resolved=lambda whole: whole["topology"][tables][-1])


FLOWS: Json = {"name": "t", "kind": "persistent", "receiver": 0}
OF_FLOWS = {"flows_per_pair", "start", "stop", "stagger", "pairs", "senders", "receiver"}
OF_TRANSPORTS = {key["name"] for entry in CATALOGUE["transport"] for key in entry["keys"]}
EVENT = {"a": "leaf0", "b": "host0", "at": "1us"}
SET = {"kind": "set", "key": "switch.aqm.threshold", "value": "9pkt", "at": "1us"}

SECTIONS: dict[str, Section] = {
    "run": Section(
        lambda values: {"topology": {"kind": "star"}, **values},
        ({"duration": "1ms"},),
        (
            "topology",
            "transport",
            "routing",
            "switch",
            "nic",
            "traffic",
            "event",
            "record",
            "limits",
        ),
    ),
    "topology": Section(
        **within("topology", given=({"kind": "star"},), skip=("hosts", "host_rate", "link_delay"))
    ),
    "topology.switch": graph("switch", name="u"),
    "topology.host": graph("host", name="c", switch="s", rate="10Gbps", delay="1us"),
    "topology.link": graph("link", a="s", b="t", rate="10Gbps", delay="1us"),
    "routing": Section(**within("routing")),
    "switch": Section(**within("switch", skip=("leaf",), most={"queues_per_port": 64})),
    "switch.pfc": Section(
        lambda values: {**BASE, "switch": {"buffer": "100MB", "pfc": values}},
        ({"kind": "static", "ends": "quanta"}, {"kind": "dynamic"}),
        resolved=lambda whole: whole["switch"]["pfc"],
    ),
    "nic": Section(**within("nic", most={"queues": 64})),
    "traffic": Section(
        lambda values: {**BASE, "traffic": [values]},
        (FLOWS,),
        (*OF_FLOWS, *OF_TRANSPORTS),
        resolved=lambda whole: whole["traffic"][0],
    ),
    "bound": Section(
        lambda values: {**BASE, "traffic": [{**FLOWS, "bound": values}]},
        ({"kind": "constant", "size": "1KB"}, {"kind": "miss"}, {"kind": "model"}),
        ("kind",),
        resolved=lambda whole: whole["traffic"][0]["bound"],
    ),
    "event": Section(
        lambda values: {**BASE, "switch": {"aqm": "ecn"}, "event": [values]},
        ({"kind": "link-down", **EVENT}, {"kind": "link-loss", **EVENT}, SET),
        resolved=lambda whole: whole["event"][0],
    ),
    "record": Section(**within("record")),
    "limits": Section(**within("limits")),
}
