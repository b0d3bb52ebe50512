"""Commands that read other simulators' files, and write results as they do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from spillway.base.errors import ScenarioError, ScenarioWarning
from spillway.cli.app import app
from spillway.cli.options import JsonOption
from spillway.cli.output import display

if TYPE_CHECKING:
    from spillway.formats.rdma import Translation

imports = typer.Typer(no_args_is_help=True, help="Make scenarios of other simulators' files.")
exports = typer.Typer(no_args_is_help=True, help="Write results as other simulators do.")
app.add_typer(imports, name="import")
app.add_typer(exports, name="export")


ForceOption = Annotated[bool, typer.Option("--force", help="Replace files of the same kind.")]


@imports.command("rdma")
def import_rdma(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A file of settings, or a folder with a [bold]config.txt[/bold]."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.toml",
            help="Write the scenario to this file, and beside it FILE-topology.toml and "
            "FILE-flows.csv.",
        ),
    ],
    topology: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The topology, in place of TOPOLOGY_FILE."),
    ] = None,
    flows: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The flows, in place of FLOW_FILE.")
    ] = None,
    next_hops: Annotated[
        Literal["ascending", "descending"],
        typer.Option(
            help="The order in which switches count next hops; there it depends on addresses in "
            "memory."
        ),
    ] = "descending",
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Without the simulator's own ways: exact times on lines, our hash, flows that are "
            "complete with their last byte, headroom by need, timeouts.",
        ),
    ] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Pass over this key of the settings, as if it were not there. May be repeated.",
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """The public RDMA simulator (HPCC, DCQCN, TIMELY and DCTCP, with PFC): a run as a scenario."""
    from spillway.formats import rdma

    rdma.check(out, force)
    source = rdma.read_source(place, topology, flows, ignore=ignore or ())
    found = rdma.translate(source, plain=plain, next_hops=next_hops)
    rdma.write(found, source, out, force=force)
    for note in found.notes:
        warnings.warn(note, ScenarioWarning, stacklevel=2)
    network = source.topology
    document = {
        "scenario": str(out),
        "files": [str(file) for file in rdma.files_of(out)],
        "hosts": len(network.hosts),
        "switches": len(network.switches),
        "links": len(network.links),
        "flows": len(found.flows),
        "transport": found.scenario["transport"]["kind"],
        "translated": found.translated,
        "without_effect": found.without_effect,
        "ignored": found.ignored,
        "notes": found.notes,
    }
    display(document, _table(found, document), as_json)


def _table(found: Translation, document: dict[str, object]) -> RenderableType:
    """What was made, and what became of the settings."""
    from spillway.show.tables import Row, named

    counts = [f"{document[name]:,} {name}" for name in ("hosts", "switches", "links", "flows")]
    rows: list[Row] = [
        ("network", ", ".join(counts)),
        ("transport", str(document["transport"])),
        ("translated", ", ".join(found.translated)),
    ]
    idle: dict[str, list[str]] = {}
    for key, reason in found.without_effect.items():
        idle.setdefault(reason, []).append(key)
    for place, (reason, keys) in enumerate(idle.items()):
        heading = "" if place else "no effect"
        rows.append((heading, Text.assemble(", ".join(keys), (f": {reason}", "dim"))))
    return Group(named(rows), Text(f"written to {document['scenario']}", "dim"))


@exports.command("rdma")
def export_rdma(
    folder: Annotated[
        Path, typer.Argument(metavar="RESULT", help="The folder of a run: `run --out DIR`.")
    ],
    fct: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write completion times, as its FCT_OUTPUT_FILE."),
    ] = None,
    pfc: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write pauses, as its PFC_OUTPUT_FILE."),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """The public RDMA simulator: completion times and pauses of a run, for its scripts."""
    from spillway.formats import rdma

    if fct is None and pfc is None:
        raise ScenarioError("nothing is to be written", "--fct FILE, --pfc FILE, or both")
    if fct is not None and pfc is not None and fct.absolute() == pfc.absolute():
        raise ScenarioError(f"--fct and --pfc are both {fct}", "give each a file of its own")
    found = rdma.export(folder, fct=fct, pfc=pfc, force=force)
    lines = []
    if fct is not None:
        lines.append(f"{found.flows:,} completion times written to {fct}")
        if found.unfinished:
            lines[-1] += f"; {found.unfinished:,} flows are not complete, and have none"
    if pfc is not None:
        lines.append(f"{found.frames:,} beginnings and ends of pauses written to {pfc}")
    document = {
        "fct": None if fct is None else str(fct),
        "pfc": None if pfc is None else str(pfc),
        "flows": found.flows,
        "unfinished": found.unfinished,
        "frames": found.frames,
    }
    display(document, Text("\n".join(lines)), as_json)
