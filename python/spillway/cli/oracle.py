"""Commands that train oracles for Credence, and test them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Group

from spillway.base.arguments import plain_int
from spillway.base.errors import ScenarioError
from spillway.base.folder import OutputFolder, check_new_file
from spillway.base.progress import ProgressBar
from spillway.cli.app import app
from spillway.cli.common import numbers_of
from spillway.cli.options import (
    DepthOption,
    ForceOption,
    ForestSeedOption,
    JsonOption,
    ModelOption,
    ReplaceOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    TrainShareOption,
    TreesOption,
)
from spillway.cli.output import console, display, interruptible
from spillway.scenario.scenario import Scenario

if TYPE_CHECKING:
    from spillway.learning.oracle import Model, Scores, Trace, Training

oracle = typer.Typer(
    no_args_is_help=True,
    help="Train oracles for Credence, which predict what Longest Queue Drop would lose, and test "
    "them.",
)
app.add_typer(oracle, name="oracle")


_FEATURES = {
    "four": ("queue", "average_queue", "occupancy", "average_occupancy"),
    "two": ("queue", "occupancy"),
    "five": ("queue", "average_queue", "occupancy", "average_occupancy", "queue_class"),
}

TracesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="TRACE...",
        help="Folders of runs with sharing = lqd and record.oracle_trace = true, folders of such "
        "folders, or files.",
    ),
]
TierOption = Annotated[
    str | None, typer.Option(metavar="TIER", help="Only this tier's switches, such as leaf.")
]
SwitchOption = Annotated[
    list[str] | None,
    typer.Option("--switch", metavar="NAME", help="Only this switch, as in leaf3. Repeatable."),
]
FeaturesOption = Annotated[
    Literal["four", "two", "five"],
    typer.Option(
        help="Queue length and occupancy with their averages; the two without averages; or the "
        "four and the queue class, the level of tagged packets."
    ),
]
UnitsOption = Annotated[
    Literal["fraction", "bytes"],
    typer.Option(help="Lengths as fractions of the buffer, or in bytes."),
]
ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A file that `oracle train` wrote, or default or smartbuf: the bundled ones.",
    ),
]


@oracle.command()
def train(
    traces: TracesArgument,
    out: ModelOption = None,
    force: ReplaceOption = False,
    trees: TreesOption = 4,
    depth: DepthOption = 4,
    features: FeaturesOption = "four",
    units: UnitsOption = "fraction",
    split: Annotated[
        Literal["time", "random", "none"],
        typer.Option(
            help="Train on the first part of every trace's time; on packets drawn at random, as "
            "the paper does, though packets of one burst are then on both sides; or on all."
        ),
    ] = "time",
    train_share: TrainShareOption = 0.6,
    seed: ForestSeedOption = 1,
    tier: TierOption = None,
    switch: SwitchOption = None,
    each_switch: Annotated[
        bool,
        typer.Option(
            "--each-switch",
            help="A model for every switch, on what it alone has seen: --out is then a folder. One "
            "without drops takes its tier's.",
        ),
    ] = False,
    test: Annotated[
        list[Path] | None,
        typer.Option(metavar="TRACE", help="Test on this too, say of other seeds. Repeatable."),
    ] = None,
    sweep_trees: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Train with each of these numbers of trees."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the sweep to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a random forest on traces of fates, and say how well it predicts."""
    from spillway.learning import oracle as oracles
    from spillway.learning.oracle import tables
    from spillway.learning.oracle.trace import find, join, load

    if each_switch and (out is None or test or sweep_trees is not None):
        raise ScenarioError(
            "--each-switch needs --out, and goes with neither --test nor --sweep-trees",
            "`spillway oracle eval` tests a model on a switch's packets",
        )
    if out is not None and not each_switch:
        check_new_file(out, force, "a model", oracles.Model.is_one)
    if out is not None and sweep_trees is not None:
        raise ScenarioError("--sweep-trees writes no model", "leave --out or the sweep away")
    if plot is not None:
        from spillway.experiment.plots import check

        if sweep_trees is None:
            raise ScenarioError("--plot draws a sweep", "add --sweep-trees 1,2,4,8")
        check(plot)
    options: dict[str, Any] = {
        "depth": depth,
        "features": _FEATURES[features],
        "units": units,
        "split": split,
        "train_share": train_share,
        "seed": seed,
    }
    counts: list[int] = []
    if sweep_trees is not None:
        counts = numbers_of(
            "--sweep-trees",
            sweep_trees,
            plain_int,
            lambda count: count >= 1,
            "numbers of trees",
            "1,2,4,8,16,32,64,128",
            "each is trained once",
        )

    def read(places: Iterable[Path]) -> list[Trace]:
        return [load(file, tier, switch or ()) for file in find(places)]

    if each_switch and out is not None:
        with OutputFolder(out, force, oracles.Model.are_ones, "a folder of models") as output:
            seen = read(traces)
            trained = oracles.train_each(seen, trees=trees, **options)
            for name, training in trained.items():
                training.model.save(output.partial / f"{name}.safetensors")
        document = {
            name: {
                "model": _told(training.model),
                "balance": training.balance,
                "scores": None if training.scores is None else training.scores.document,
            }
            for name, training in trained.items()
        }
        display(document, tables.each(trained), as_json, written=[out])
        return
    seen = read(traces)
    others = {str(place): read([place]) for place in test or ()}
    if counts:
        tests = [trace for group in others.values() for trace in group]
        swept = oracles.sweep_trees(seen, counts, tests, **options)
        document = {"trees": {str(count): scores.document for count, scores in swept}}
        display(document, tables.sweep(swept), as_json)
        if plot is not None:
            from spillway.learning.oracle.plots import draw_sweep

            draw_sweep(swept, plot)
            console(sys.stderr).print(f"drawn to {plot}", style="dim", highlight=False)
        return
    training = oracles.train(seen, trees=trees, **options)
    scores = {} if training.scores is None else {"kept back": training.scores}
    for name, group in others.items():
        scores[name] = oracles.evaluate(training.model, join(group))
    _finish(training, scores, out, force, as_json)


@oracle.command()
def default(
    name: Annotated[str, typer.Argument(metavar="NAME", help="default or smartbuf.")] = "default",
    out: ModelOption = None,
    force: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a bundled model once more: trace, train, test. A few minutes."""
    from spillway.learning import oracle as oracles
    from spillway.learning.oracle import default as recipe

    chosen = recipe.find(name)
    if out is not None:
        check_new_file(out, force, "a model", oracles.Model.is_one)
    with ProgressBar(console(sys.stderr), 2) as bar:
        training, scores = chosen.make(bar.follow)
    _finish(training, {"another seed": scores}, out, force, as_json)


@oracle.command("eval")
def evaluate(
    model: ModelArgument,
    traces: TracesArgument,
    tier: TierOption = None,
    switch: SwitchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how well a model predicts the fates of traces, tier by tier."""
    from spillway.learning import oracle as oracles
    from spillway.learning.oracle import tables
    from spillway.learning.oracle.trace import find, load

    chosen = oracles.Model.load(model)
    scores, by_tier = {}, {}
    for file in find(traces):
        trace = load(file, tier, switch or ())
        scores[str(file)] = oracles.evaluate(chosen, trace)
        by_tier[str(file)] = {
            own: oracles.evaluate(chosen, trace.at(own))
            for own in (trace.tiers if len(trace.tiers) > 1 else ())
        }
    document = {
        "model": _told(chosen),
        "scores": {
            name: {
                **each.document,
                "by_tier": {own: part.document for own, part in by_tier[name].items()},
            }
            for name, each in scores.items()
        },
    }
    display(document, tables.scores(scores, by_tier), as_json)


@oracle.command()
def online(
    scenario: ScenarioArgument,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="A new forest after each such time: 50ms.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Write the result, the forests and the windows to this folder."
        ),
    ],
    set: SetOption = None,
    force: ForceOption = False,
    seed: SeedOption = None,
    windows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Train on the last N windows.")
    ] = 1,
    sample: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Learn from one in N of what the virtual LQDs do not drop."
        ),
    ] = 50,
    trees: TreesOption = 4,
    depth: DepthOption = 4,
    features: FeaturesOption = "four",
    units: UnitsOption = "fraction",
    forest_seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="The seed of the forests.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario whose Credence switches teach their own forest, window by window.

    Each forest is trained on what the virtual LQDs of the switches did in a window, and decides in
    the next one. The run begins with the scenario's own model. It is repeated for every window.
    """
    from spillway.learning import oracle as oracles
    from spillway.learning.oracle import tables

    with ProgressBar(console(sys.stderr), 1) as bar, interruptible():
        found = oracles.online(
            Scenario.load(scenario),
            every=every,
            out=out,
            windows=windows,
            sample=sample,
            trees=trees,
            depth=depth,
            features=_FEATURES[features],
            units=units,
            forest_seed=forest_seed,
            seed=seed,
            set=set or (),
            force=force,
            follow=bar.follow,
        )
    display(found.document, tables.online(found), as_json, written=[out])


@oracle.command()
def show(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Say what a model looks at, and what it was trained on."""
    from spillway.learning import oracle as oracles
    from spillway.learning.oracle import tables

    chosen = oracles.Model.load(model)
    display(_told(chosen), tables.model(chosen), as_json)


def _finish(
    training: Training,
    scores: Mapping[str, Scores],
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Writes a model and prints how good it is."""
    from spillway.learning.oracle import tables

    if out is not None:
        training.model.save(out, force=force)
    document = {
        "model": _told(training.model),
        "balance": training.balance,
        "scores": {name: each.document for name, each in scores.items()},
    }
    shown = Group(tables.balance(training), tables.scores(scores))
    display(document, shown, as_json, written=[out])


def _told(model: Model) -> dict[str, Any]:
    return {
        "trees": model.trees,
        "depth": model.depth,
        "features": model.features,
        "units": model.units,
        "average": model.average,
        "seen": vars(model.seen),
        "training": model.training,
    }
