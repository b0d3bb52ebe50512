"""spillway compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spillway.base.errors import ScenarioError
from spillway.cli.app import app
from spillway.cli.common import scenario_of, seeds_of_options
from spillway.cli.options import (
    ForceOption,
    JobsOption,
    JsonOption,
    PluginOption,
    ScenarioArgument,
    SeedOption,
    SeedsOption,
    SetOption,
    TablesOption,
)
from spillway.cli.side_by_side import run_all


@app.command()
def compare(
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=A,B,...",
            help="Run with each of these values: [bold]switch.sharing=dt,lqd[/bold]. Several "
            "--vary multiply. Keys with a / between them are varied together: "
            "[bold]switch.sharing=dt,abm/switch.aqm=none,ecn[/bold] is two variants.",
        ),
    ],
    set: SetOption = None,
    plugin: PluginOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the runs in this folder. The same again goes on with what is missing; more "
            "seeds and variants are added.",
        ),
    ] = None,
    has_tables: TablesOption = False,
    force: ForceOption = False,
    seed: SeedOption = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="ENGINE",
            help="Where the runs are computed: local, slurm, ray or ray://HOST:PORT. Elsewhere "
            "than here with --out, to which all workers can write; --jobs are then those of each.",
        ),
    ] = "local",
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many workers there are elsewhere at most.")
    ] = 8,
    sbatch: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="For Slurm: [bold]--time=2:00:00[/bold]. Repeatable."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Show differences from the variant with this value, seed by seed: "
            "[bold]switch.sharing=dt[/bold]. Repeatable.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the comparison to this file: .png, .pdf or .svg."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="What table, plot and report show: slowdowns of a class, or of a section of "
            "traffic, as [bold]short.p99[/bold] or [bold]web.mean[/bold]; [bold]web.flows[/bold], "
            "[bold]web.unfinished[/bold], [bold]web.with_timeout[/bold]; [bold]queries.p99[/bold]; "
            "[bold]buffer.p99.99[/bold]; [bold]goodput[/bold], [bold]goodput.web[/bold]; "
            "[bold]drops[/bold], [bold]marks[/bold], [bold]timeouts[/bold], "
            "[bold]retransmitted_packets[/bold]. docs/results.md explains them.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run variants of a scenario and print them side by side."""
    if plot is not None:
        from spillway.experiment.plots import check
        from spillway.scenario.variants import variants

        check(plot, len(variants(vary)))
        if out is not None and plot.absolute() == out.absolute():
            hint = "a figure is a file, results are a folder"
            raise ScenarioError(f"--out and --plot are both {plot}", hint)
    chosen = scenario_of(scenario, set, plugin)
    run_all(
        chosen,
        vary=vary,
        seeds=seeds_of_options(seed, seeds),
        jobs=jobs,
        out=out,
        force=force,
        has_tables=has_tables,
        as_json=as_json,
        on=on,
        workers=workers,
        sbatch=sbatch or (),
        plot=plot,
        metrics=metrics,
        against=against,
    )
