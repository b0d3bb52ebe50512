"""The command `spillway tune`: the best parameters of a scenario."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spillway.base.arguments import seeds_of
from spillway.base.errors import Interrupted
from spillway.base.progress import ProgressBar
from spillway.cli.app import app
from spillway.cli.options import JobsOption, JsonOption, PluginOption, ScenarioArgument, SetOption
from spillway.cli.output import FAILED, INTERRUPTED, console, display, say
from spillway.plugins import load
from spillway.plugins.base import Plugin
from spillway.scenario.scenario import Scenario

if TYPE_CHECKING:
    from spillway.tuning.study import Tuned


@app.command()
def tune(
    scenario: ScenarioArgument,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=RANGE",
            help="Vary this key: between two numbers, [bold]switch.sharing.alpha=0.1..8:log[/bold] "
            "or [bold]switch.aqm.threshold=10pkt..200pkt[/bold], or among some values, "
            "[bold]switch.sharing=dt,abm,lqd[/bold]. A policy's own keys matter only where it is "
            "chosen. Repeatable.",
        ),
    ],
    minimize: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="What is to be small, such as [bold]fct_slowdown.incast.p99[/bold], or arithmetic "
            "over metrics. With several goals the answer is a Pareto front. Repeatable.",
        ),
    ] = None,
    maximize: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="What is to be large. Repeatable."),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMPARISON",
            help="What must hold: [bold]goodput_gbps.all >= 0.98 * default[/bold], where default "
            "is the other side's value in the unchanged scenario. Repeatable.",
        ),
    ] = None,
    trials: Annotated[int, typer.Option(metavar="N", help="How many combinations to try.")] = 60,
    seeds: Annotated[
        str, typer.Option(metavar="A..B", help="Run every trial with these seeds.")
    ] = "1..4",
    set: SetOption = None,
    plugin: PluginOption = None,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the study in this folder: the same command goes on after an interruption. "
            "At the end it has a page with plots, all trials, and the best scenario.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Begin anew, without the study that --out has there. Not with --storage.",
        ),
    ] = False,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Keep the study where several machines can work on it: a journal, "
            "[bold]NAME.journal[/bold], on a disk that they share, or a database's address.",
        ),
    ] = None,
    sampler: Annotated[
        str, typer.Option(metavar="NAME", help="How values are chosen: tpe, nsga2 or random.")
    ] = "tpe",
    pruner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which trials are ended early: median, halving or none. With one goal median, "
            "with several none.",
        ),
    ] = None,
    looks: Annotated[
        str | None,
        typer.Option(
            metavar="P%,P%",
            help="When a run is looked at, in parts of its duration. Without it, 25%,50%.",
        ),
    ] = None,
    search_seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of the search itself.")
    ] = 1,
    confirm_seeds: Annotated[
        str | None,
        typer.Option(
            metavar="A..B",
            help="Confirm the best with these seeds, or, if [bold]none[/bold], not at all. Without "
            "it, with the five behind --seeds.",
        ),
    ] = None,
    confirm_duration: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Confirm the best for so long. Without it, three times as long."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Search for the values of some keys with which a scenario does best, and confirm them."""
    from spillway.tuning import tables
    from spillway.tuning.study import is_confirmed, tune

    plugins = {load(each): each for each in plugin or ()}
    chosen = Scenario.load(scenario).plug(*plugins).set(*(set or ()))
    errors = console(sys.stderr)
    result: Tuned | None = None
    try:
        with ProgressBar(errors, trials * len(seeds_of(seeds))) as bar:
            result = tune(
                chosen,
                over=over,
                minimize=minimize or (),
                maximize=maximize or (),
                subject_to=subject_to or (),
                trials=trials,
                seeds=seeds,
                jobs=jobs,
                out=out,
                force=force,
                storage=storage,
                sampler=sampler,
                pruner=pruner,
                looks=looks,
                search_seed=search_seed,
                confirm_seeds=confirm_seeds,
                confirm_duration=confirm_duration,
                follow=bar.follow,
                say=lambda text: errors.print(text, style="dim", soft_wrap=True),
            )
    except Interrupted as interrupted:
        summary = interrupted.result.summary
        display(summary, tables.shown(summary), as_json)
        _say_how_to_go_on(out, storage)
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        _say_how_to_go_on(out, storage)
        raise typer.Exit(INTERRUPTED) from None
    closing = _closing(result, scenario, set or (), chosen, plugins)
    display(result.summary, tables.shown(result.summary), as_json, closing=closing)
    if result.best is None:
        say("there is no best: allow more, vary more, or try more")
        raise typer.Exit(FAILED)
    if not is_confirmed(result.summary):
        say("the best is not confirmed")
        raise typer.Exit(FAILED)


def _say_how_to_go_on(out: Path | None, storage: str | None) -> None:
    from spillway.tuning.storage import shown

    kept = out if out is not None and out.is_dir() else None
    place = kept if storage is None else shown(storage)
    if place is None:
        say("nothing is kept of it; with --out the same command goes on from its trials")
    else:
        say(f"the same command goes on from what is in {place}")


def _closing(
    result: Tuned,
    given: str,
    assignments: Iterable[str],
    scenario: Scenario,
    plugins: Mapping[type[Plugin], str],
) -> str:
    """Where the page is, and the command that runs the best."""
    from spillway.tuning.study import where

    files, best = where(result), result.best
    page = f"page: {files['page']}   run it: " if files else ""
    if best is None:
        return page.partition("   ")[0]
    values = [f"{key}={value}" for key, value in best.items()]
    words = ["spillway", "run", files.get("best", given)]
    if "best" not in files:
        words += [word for each in (*assignments, *values) for word in ("--set", each)]
    named = scenario.set(*values).with_named_plugins().plugins
    words += [word for each in named for word in ("--plugin", plugins[each])]
    return f"{page}{shlex.join(words)}"
