"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spillway.base.threads import MOST_THREADS

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A TOML file, a result's folder, or the name of a bundled scenario "
        "(see [bold]spillway list scenarios[/bold]).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change any key of the scenario, by its dotted path: "
        "[bold]switch.sharing=lqd[/bold], [bold]traffic.incast.burst=75%[/bold]. "
        "[bold]KEY=[/bold] without a value unsets it. Repeatable.",
    ),
]
PluginOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py:CLASS",
        help="An algorithm in Python, which the scenario names by its id: "
        "[bold]--set switch.sharing=my-dt[/bold]; [bold]spillway explain plugin[/bold] tells which "
        "kinds there are. Repeatable.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write tables, scenario and summary to this folder."),
]
ModelOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the model to this file.")
]
TreesOption = Annotated[int, typer.Option(metavar="N", min=1, help="How many trees.")]
DepthOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=64, help="The most questions that a tree asks.")
]
TrainShareOption = Annotated[
    float, typer.Option(metavar="X", min=0.01, max=0.99, help="The part to train on.")
]
ForestSeedOption = Annotated[
    int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="The forest's and the split's.")
]
ReplaceOption = Annotated[bool, typer.Option("--force", help="Replace the file.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what --out has there.")]
SeedsOption = Annotated[
    str | None,
    typer.Option("--seeds", metavar="A..B", help="Run with several seeds: 1..5, or 1,2,7."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", metavar="N", help="Run with this seed.")]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Runs at a time. Without it, as many as the processors have threads for.",
    ),
]
ThreadsOption = Annotated[
    int,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        max=MOST_THREADS,
        help="Threads that share each run. Results do not depend on it.",
    ),
]
EngineOption = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="ENGINE",
        help="Where the runs are computed: local, slurm, ray or ray://HOST:PORT. Elsewhere "
        "than here with --out, to which all workers can write; --jobs are then those of each.",
    ),
]
WorkersOption = Annotated[
    int,
    typer.Option(
        "--workers", metavar="N", min=1, help="How many workers there are elsewhere at most."
    ),
]
SbatchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sbatch",
        metavar="OPTION",
        help="For Slurm: [bold]--time=2:00:00[/bold]. Repeatable.",
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", help="Print the result as one JSON object; all else goes to standard error."
    ),
]
TablesOption = Annotated[
    bool, typer.Option("--tables", help="With --out: keep the tables of every run, too.")
]
