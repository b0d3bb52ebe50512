"""spillway validate."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.options import JobsOption, JsonOption
from spillway.cli.output import FAILED, display

if TYPE_CHECKING:
    from rich.console import RenderableType

    from spillway_studies.references.bounds import Bounds


class Reference(enum.StrEnum):
    """The references that `validate` compares with."""

    abm = "abm"
    aqm = "aqm"
    credence = "credence"
    linux = "linux"
    pfabric = "pfabric"
    pias = "pias"
    rdma = "rdma"


@app.command()
def validate(
    name: Annotated[Reference, typer.Argument(help="The reference.")],
    folder: Annotated[Path, typer.Argument(help="The folder with its flows, traces and output.")],
    paths: Annotated[
        int,
        typer.Option(
            "--paths", metavar="N", min=0, help="Also run N times with paths drawn by our own hash."
        ),
    ] = 0,
    differences: Annotated[
        bool, typer.Option("--differences", help="Also change one setting at a time.")
    ] = False,
    others: Annotated[
        bool,
        typer.Option(
            "--others",
            help="Also run schemes and transports of which only percentiles are known (abm).",
        ),
    ] = False,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Keep what the page shows in the studies' own folder."),
    ] = False,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run another simulator's flows, and compare with its output.

    The status is 1 where a number breaks the stated bounds: the last line says which.
    """
    from spillway.base.threads import processors
    from spillway_studies.references import (
        abm,
        aqm,
        credence,
        linux,
        pfabric,
        pias,
        rdma,
    )

    jobs = jobs or processors()
    if others and name != Reference.abm:
        raise ScenarioError(f"--others: nothing else is known of {name}", "leave it away")
    if paths and name == Reference.aqm:
        raise ScenarioError("--paths: between any two hosts of aqm there is one", "leave it away")
    if differences and name == Reference.aqm:
        raise ScenarioError("--differences: no changes are listed for aqm", "leave it away")
    if paths and name == Reference.rdma:
        raise ScenarioError("--paths: the paths of rdma are known", "leave it away")
    if name in (Reference.linux, Reference.pfabric) and (paths or differences):
        option = "--paths" if paths else "--differences"
        raise ScenarioError(f"{option}: {name} is compared in one way alone", "leave it away")
    shown: tuple[Mapping[str, Any], RenderableType, Bounds]
    match name:
        case Reference.abm:
            flows = abm.abm(folder, paths=paths, jobs=jobs, differences=differences, others=others)
            shown = flows.document, flows.table, flows.bounds
        case Reference.aqm:
            discs = aqm.aqm(folder, jobs=jobs)
            shown = discs.document, discs.table, discs.bounds
        case Reference.credence:
            found = credence.credence(folder, paths=paths, jobs=jobs, differences=differences)
            shown = found.document, found.table, found.bounds
        case Reference.linux:
            kernel = linux.linux(folder, jobs=jobs)
            shown = kernel.document, kernel.table, kernel.bounds
        case Reference.pfabric:
            yaps = pfabric.pfabric(folder, jobs=jobs)
            shown = yaps.document, yaps.table, yaps.bounds
        case Reference.pias:
            tagged = pias.pias(folder, paths=paths, jobs=jobs, differences=differences)
            shown = tagged.document, tagged.table, tagged.bounds
        case Reference.rdma:
            lossless = rdma.rdma(folder, jobs=jobs, differences=differences)
            shown = lossless.document, lossless.table, lossless.bounds
    document, tables, bounds = shown
    if publish:
        published.publish(name, document)
    display(document, tables, as_json, closing=bounds.sentence)
    if not bounds.is_kept:
        raise typer.Exit(FAILED)
