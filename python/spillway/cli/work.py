"""The command that computes runs of an experiment which others have asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from spillway.base.progress import ProgressBar
from spillway.cli.app import app
from spillway.cli.options import JobsOption
from spillway.cli.output import console, interruptible, say


@app.command()
def work(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `spillway compare --out DIR` has made.")
    ],
    jobs: JobsOption = None,
    only: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only the runs whose keys are the lines of this file."),
    ] = None,
) -> None:
    """Compute runs of an experiment that nobody has computed or is computing.

    Any number of workers may do so at once, here and on machines that share the folder.
    """
    from spillway.experiment.worker import to_do

    for experiment in to_do(folder, only):
        missing = len(experiment.missing())
        with ProgressBar(console(sys.stderr), missing) as bar, interruptible():
            experiment.run(jobs=jobs, follow=bar.follow)
        say(f"{experiment.computed} of {missing} runs that were missing are computed here")
