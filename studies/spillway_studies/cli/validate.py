"""spillway validate."""

import enum
import time
from pathlib import Path
from typing import Annotated

import typer

from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.options import JobsOption, JsonOption
from spillway.cli.output import FAILED, display


class Reference(enum.StrEnum):
    """The references that `validate` compares with."""

    abm = "abm"
    aqm = "aqm"
    credence = "credence"
    linux = "linux"
    occamy = "occamy"
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
    from spillway_studies.references import published
    from spillway_studies.references.known import REFERENCES

    compare, refused = REFERENCES[name]
    options = {"others": others, "paths": paths, "differences": differences}
    for option, reason in refused.items():
        if options.pop(option):
            raise ScenarioError(f"--{option}: {reason.format(name=name)}", "leave it away")
    if publish:
        published.check(name, paths=paths, differences=differences, others=others)
    before = time.process_time()
    found = compare(folder, jobs=jobs or processors(), **options)
    cpu_s = time.process_time() - before
    display(found.document, found.table, as_json, closing=found.sentence)
    if publish:
        published.publish(name, found.document, cpu_s)
    if not found.is_kept:
        raise typer.Exit(FAILED)
