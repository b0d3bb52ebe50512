"""Commands of the slotted model: `spillway slotted ...`."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from spillway.base import core
from spillway.base.arguments import check_once, meant, seeds_of
from spillway.base.errors import ScenarioError
from spillway.base.folder import check_new_file
from spillway.cli.app import app
from spillway.cli.options import JsonOption, ReplaceOption
from spillway.cli.output import INTERRUPTED, console, display, interruptible

if TYPE_CHECKING:
    from spillway.theory.slotted import Arrivals
    from spillway.theory.slotted.model import Measured

group = typer.Typer(
    help="The slotted model of theory: N ports, a buffer of B packets of one size, the exact "
    "optimum. See docs/slotted.md.",
    no_args_is_help=True,
)
app.add_typer(group, name="slotted")

PortsOption = Annotated[int, typer.Option("--ports", metavar="N", help="Ports.")]
BufferOption = Annotated[int, typer.Option("--buffer", metavar="B", help="Packets of room.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="The seed of what is drawn.")]
SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A generator (see [bold]spillway slotted list[/bold]), or a .csv or .parquet file "
        "with the columns slot and port.",
    ),
]
POLICY_HINT = "`spillway list sharing` tells the policies and their keys"
KeysOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A key of the generator, [bold]arrivals.load=0.9[/bold], or of an algorithm, "
        "[bold]credence.oracle=always-drop[/bold]. Repeatable.",
    ),
]


@group.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the generators of arrivals with their parameters."""
    from spillway.scenario import catalogue
    from spillway.theory.slotted.arrivals import generators

    listed = generators()
    display({"generators": listed}, catalogue.entries(listed), as_json)


@group.command()
def run(
    source: SourceArgument,
    ports: PortsOption = 8,
    buffer: BufferOption = 64,
    policies: Annotated[
        str,
        typer.Option(metavar="A,B,...", help="Sharing policies; all keys as in a scenario."),
    ] = "cs,dt,harmonic,lqd,followlqd,credence",
    set: KeysOption = None,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="A..B", help="Several seeds: 1..5, or 1,2,7.")
    ] = "1",
    flip_probability: Annotated[
        float,
        typer.Option(
            metavar="P",
            help="The predictions of Credence and blind trust are what LQD drops, each turned "
            "round with this probability (not with credence.oracle).",
        ),
    ] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Run policies over arrivals, and compare them with the optimum."""
    from spillway.theory.slotted import tables
    from spillway.theory.slotted.model import measure, optimum

    chosen = [policy.strip() for policy in policies.split(",")]
    check_once(chosen, "--policies: the policy", "each is run once")
    if "" in chosen:
        raise ScenarioError(
            f"--policies {policies!r}: a name is missing", "for one: --policies dt,lqd"
        )
    keys = _keys(set, chosen)
    found: dict[str, list[Measured]] = {policy: [] for policy in chosen}
    sequences = []
    with interruptible(), _hint(POLICY_HINT):
        for seed in seeds_of(seeds):
            arrivals = _arrivals(source, ports, buffer, seed, keys["arrivals"])
            best = optimum(arrivals, buffer=buffer)
            sequences.append(
                {
                    "seed": seed,
                    "packets": len(arrivals),
                    "slots": arrivals.slots,
                    "most_in_a_slot": arrivals.most_in_a_slot,
                    "optimum": best,
                }
            )
            for policy in chosen:
                measured = measure(
                    policy,
                    arrivals,
                    buffer=buffer,
                    seed=seed,
                    flip_probability=flip_probability,
                    best=best,
                    keys=keys[policy],
                )
                found[policy].append(measured)
    document = {
        "source": source,
        "ports": arrivals.ports,
        "buffer": buffer,
        "flip_probability": flip_probability,
        "arrivals": sequences,
        "policies": {
            policy: {"keys": keys[policy], "runs": [_measured(one) for one in runs]}
            for policy, runs in found.items()
        },
    }
    display(document, tables.run(document), as_json)


@group.command()
def arrivals(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A generator; or a result's folder with an oracle's trace or decisions, or a "
            "table with the columns time_ps, switch, port and size_bytes, whose packets come in "
            "slots then (--switch).",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .parquet or .csv file.")],
    ports: Annotated[
        int | None,
        typer.Option("--ports", metavar="N", help="Ports; 8, or as many as the switch has."),
    ] = None,
    buffer: BufferOption = 64,
    seed: SeedOption = 1,
    set: KeysOption = None,
    switch: Annotated[
        str | None, typer.Option(metavar="S", help="Arrivals at this switch, such as leaf3.")
    ] = None,
    slot_ns: Annotated[
        float, typer.Option(metavar="NS", help="How long a slot lasts, with --switch.")
    ] = 1200.0,
    unit_bytes: Annotated[
        int, typer.Option(metavar="BYTES", help="Bytes of a packet, with --switch.")
    ] = 1500,
    force: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write arrivals to a file, which `run` and `search` read."""
    from spillway.theory.slotted import Arrivals
    from spillway.theory.slotted.arrivals import ports_of

    _check(out, force)
    note = ""
    if switch is not None:
        if ports is None and (ports := ports_of(source, switch)) is None:
            note = "\nN is what the greatest port needs that packets come for; --ports N sets it"
        made = Arrivals.of_packets(
            source, switch=switch, slot_ns=slot_ns, unit_bytes=unit_bytes, ports=ports
        )
    else:
        keys = _keys(set, [])["arrivals"]
        made = _arrivals(source, 8 if ports is None else ports, buffer, seed, keys)
    made.write(out, force=force)
    document = {"file": str(out), "ports": made.ports, "slots": made.slots, "packets": len(made)}
    display(document, Text(f"{made} written to {out}{note}"), as_json)


@group.command()
def table1(
    ports: PortsOption = 8,
    buffer: BufferOption = 64,
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", help="Seeds of each kind of random arrivals.")
    ] = 3,
    as_json: JsonOption = False,
) -> None:
    """The Credence paper's Table 1, with the worst ratio measured beside every bound."""
    from spillway.theory import slotted
    from spillway.theory.slotted import tables

    with interruptible(), console(sys.stderr).status("") as status:
        say = status.update if sys.stderr.isatty() else lambda _: None
        found = slotted.table1(
            ports=ports,
            buffer=buffer,
            seeds=seeds,
            follow=lambda done, of: say(f"{done} of {of} sequences"),
        )
    rows = [
        {key: _finite(value) if isinstance(value, float) else value for key, value in row.items()}
        for row in found["rows"]
    ]
    display({**found, "rows": rows}, tables.table1(found), as_json)


@group.command()
def search(
    policy: Annotated[str, typer.Argument(metavar="ALGORITHM", help="A sharing policy.")],
    ports: PortsOption = 4,
    buffer: BufferOption = 8,
    slots: Annotated[int, typer.Option(metavar="N", help="Slots in which packets may come.")] = 32,
    steps: Annotated[int, typer.Option(metavar="N", help="Sequences to try.")] = 20_000,
    seed: SeedOption = 1,
    start: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Begin with the arrivals of this file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the worst: .parquet or .csv.")
    ] = None,
    force: ReplaceOption = False,
    set: KeysOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for arrivals that are bad for an algorithm."""
    from spillway.theory import slotted
    from spillway.theory.slotted.worst import Stopped

    keys = _keys(set, [policy])
    if keys["arrivals"]:
        raise ScenarioError("a search makes its own arrivals", "--start FILE is where it begins")
    if out is not None:
        _check(out, force)
    begin = None if start is None else slotted.Arrivals.read(start, ports)
    with interruptible(), _hint(POLICY_HINT), console(sys.stderr).status("") as status:
        say = status.update if sys.stderr.isatty() else lambda _: None
        try:
            found = slotted.search(
                policy,
                ports=ports,
                buffer=buffer,
                slots=slots,
                steps=steps,
                seed=seed,
                start=begin,
                follow=lambda step, best: say(f"{step:,} of {steps:,} steps, OPT / ALG {best:.4f}"),
                keys=keys[policy],
            )
        except Stopped as stopped:
            found = stopped.found
    about = {
        "policy": policy,
        "keys": keys[policy],
        "ports": ports,
        "buffer": buffer,
        "seed": seed,
        "ratio": _finite(found.ratio),
    }
    if out is not None:
        found.arrivals.write(out, {**about, "version": core.__version__}, force=force)
    document = {
        **about,
        "packets": len(found.arrivals),
        "slots": found.arrivals.slots,
        "steps": found.steps,
        "improved": found.improved,
        "interrupted": found.steps < steps,
        "file": None if out is None else str(out),
    }
    text = (
        f"OPT / ALG {found.ratio:.4f} for {policy}: {found.arrivals}, after {found.steps:,} steps"
    )
    if found.steps < steps:
        text += f" of {steps:,}: interrupted"
    if out is not None:
        text += f"\nwritten to {out}; see it again:"
    display(document, Text(text), as_json)
    if out is not None:
        again = ["spillway", "slotted", "run", str(out), "--ports", str(ports)]
        again += ["--buffer", str(buffer), "--policies", policy, "--seeds", str(seed)]
        again += [word for assignment in set or () for word in ("--set", assignment)]
        # On one line however narrow the terminal is, because it is to be copied.
        shown = console(sys.stderr if as_json else sys.stdout)
        shown.print(Text(f"    {shlex.join(again)}"), soft_wrap=True)
    if found.steps < steps:
        raise typer.Exit(INTERRUPTED)


@group.command()
def lemma1(
    instances: Annotated[int, typer.Option(metavar="N", help="Small random instances.")] = 10_000,
    drop_probability: Annotated[
        float, typer.Option(metavar="P", help="That a packet is predicted as a drop.")
    ] = 0.2,
    seed: SeedOption = 1,
    set: KeysOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count how often Credence sends less than its Lemma 1 says, and how much less."""
    from spillway.theory import slotted
    from spillway.theory.slotted import tables

    keys = _keys(set, ["credence"])["credence"]
    if "oracle" in keys:
        raise ScenarioError("credence.oracle has no part in this", "predictions are drawn")
    with interruptible(), _hint(POLICY_HINT):
        found = slotted.lemma1(
            instances=instances, drop_probability=drop_probability, seed=seed, keys=keys
        )
    display(found, tables.lemma1(found), as_json)


def _check(out: Path, force: bool) -> None:
    """Refuses an output file for arrivals before any work is done."""
    from spillway.theory.slotted.arrivals import check_kind, is_list

    check_kind(out)
    check_new_file(out, force, "a list of arrivals", is_list)


def _keys(assignments: Sequence[str] | None, policies: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The keys of the generator (`arrivals`) and of every policy."""
    given: Mapping[str, Any] = tomllib.loads(core.assign("", list(assignments or ())))
    known = ["arrivals", *policies]
    for name, keys in given.items():
        if name not in known:
            raise ScenarioError(
                f"--set {name}: there is no such algorithm in this run",
                meant(name, known, f"valid here: {', '.join(known)}"),
            )
        if not isinstance(keys, dict):
            raise ScenarioError(
                f"--set {name}={keys}: which of its keys?", f"for one: --set {name}.KEY={keys}"
            )
    return {name: dict(given.get(name, {})) for name in known}


def _arrivals(source: str, ports: int, buffer: int, seed: int, keys: Mapping[str, Any]) -> Arrivals:
    from spillway.theory.slotted import Arrivals

    if Path(source).suffix in (".csv", ".parquet"):
        if keys:
            raise ScenarioError(f"--set arrivals.{next(iter(keys))}: a file has no keys")
        # Only Parquet records the number of ports.
        return Arrivals.read(source, None if source.endswith(".parquet") else ports)
    with _hint("`spillway slotted list` tells the generators and their keys"):
        return Arrivals.generate(source, ports=ports, buffer=buffer, seed=seed, keys=keys)


def _measured(found: Measured) -> dict[str, Any]:
    document: dict[str, Any] = {
        "transmitted": found.outcome.transmitted,
        "ratio": _finite(found.ratio),
        "drops": found.outcome.drops,
        "counters": found.outcome.counters,
    }
    if found.error is not None:
        document["predictions"] = {key: _finite(n) for key, n in asdict(found.error).items()}
    return document


def _finite(number: float) -> float | None:
    """The number, or None if it is infinite, which JSON cannot express."""
    return None if number in (float("inf"), float("-inf")) else number


@contextmanager
def _hint(text: str) -> Iterator[None]:
    """Adds a hint to errors about a key, unless they have one."""
    try:
        yield
    except ScenarioError as error:
        error.hint = error.hint or (text if error.path else None)
        raise
