"""Commands that learn lower bounds of flows' sizes from jobs, and test them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from spillway.base.arguments import plain_int
from spillway.base.errors import ScenarioError
from spillway.base.folder import OutputFolder, check_new_file, whole_file
from spillway.cli.app import app
from spillway.cli.common import numbers_of
from spillway.cli.options import (
    DepthOption,
    ForestSeedOption,
    JsonOption,
    ModelOption,
    TrainShareOption,
    TreesOption,
)
from spillway.cli.output import display

bounds = typer.Typer(
    no_args_is_help=True,
    help="Learn lower bounds of flows' sizes from the jobs that send them, and test them.",
)
app.add_typer(bounds, name="bounds")


JobsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="JOBS...",
        help="CSV files with the columns of the Flux traces, one for each job, or folders with "
        "files d_N.csv, which `bounds generate` writes.",
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that `bounds train` wrote.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


@bounds.command()
def generate(
    kind: Annotated[
        Literal["kmeans", "pagerank", "sgd"],
        typer.Argument(metavar="KIND", help="kmeans, pagerank or sgd."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the jobs to this folder.")],
    force: ForceOption = False,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many; 400, 250 or 100 by default.")
    ] = None,
    hosts: Annotated[
        int, typer.Option(metavar="N", min=2, help="The hosts between which the flows are listed.")
    ] = 16,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Other seeds, other jobs.")] = 1,
    gap_ms: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            help="The mean time between the starts of two jobs in the list, in milliseconds; 20 by "
            "default.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make synthetic jobs: a trace of each, and a list of all their flows for a scenario."""
    from spillway.learning.bounds import files, tables

    with OutputFolder(out, force, files.is_generated, "a folder of synthetic jobs") as output:
        told = files.generate(kind, output.partial, jobs, hosts, seed, gap_ms)
    display(told, tables.generated(told), as_json, written=[out])


@bounds.command()
def train(
    jobs: JobsArgument,
    out: ModelOption = None,
    force: ForceOption = False,
    method: Annotated[
        Literal["least", "mean", "quantile", "point"],
        typer.Option(
            help="The bound in the file: the least size in any leaf that a flow reaches, the mean "
            "over the trees of the least size in each, a quantile of all sizes in them, or the "
            "predicted size at face value."
        ),
    ] = "least",
    depth: DepthOption = 10,
    trees: TreesOption = 16,
    window: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=100, help="How many flows are looked at, the last its own."
        ),
    ] = 5,
    quantile: Annotated[
        float, typer.Option(metavar="X", help="The quantile of that method, in (0, 1).")
    ] = 0.05,
    miss_rate: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Calibrate: multiply bounds so that at most this share is too high. A fifth of "
            "what there is to train on is kept back for that.",
        ),
    ] = None,
    split: Annotated[
        Literal["jobs", "flows"],
        typer.Option(
            help="Keep whole jobs back, or flows drawn from all jobs, so that flows of one job are "
            "on both sides."
        ),
    ] = "jobs",
    train_share: TrainShareOption = 0.8,
    seed: ForestSeedOption = 1,
    sweep_depths: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Train with each of these depths; no model is kept."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Grow a random forest on jobs, and say how many flows its bounds are right for."""
    from spillway.learning import bounds as learned
    from spillway.learning.bounds import tables

    if out is not None:
        if sweep_depths is not None:
            raise ScenarioError("--sweep-depths writes no model", "leave --out or the sweep away")
        check_new_file(out, force, "a model that bounds sizes", learned.Model.is_one)
    depths = (
        [depth]
        if sweep_depths is None
        else numbers_of(
            "--sweep-depths",
            sweep_depths,
            plain_int,
            lambda depth: 1 <= depth <= 64,
            "depths, 1 to 64",
            "5,10",
            "each is trained once",
        )
    )
    seen = learned.load(jobs)
    options: dict[str, Any] = {
        "trees": trees,
        "window": window,
        "quantile": quantile,
        "miss_rate": miss_rate,
        "split": split,
        "train_share": train_share,
        "seed": seed,
    }
    trained = {each: learned.train(seen, depth=each, **options) for each in depths}
    document = {
        "synthetic": any(job.is_synthetic for job in seen),
        "kind": seen[0].kind,
        "flows": next(iter(trained.values())).flows,
        "depths": {
            str(each): {
                "methods": {
                    name: {"factor": training.models[name].factor, **scores.document}
                    for name, scores in training.scores.items()
                },
                "errors": training.errors.document,
            }
            for each, training in trained.items()
        },
    }
    if out is not None:
        trained[depth].models[method].save(out, force=force)
    display(document, tables.trained(trained), as_json, written=[out])


@bounds.command("eval")
def evaluate(
    model: ModelArgument,
    jobs: JobsArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JOBS is one list of flows with the model's columns and a column job: write it to "
            "this file (.csv or .parquet) with the bounds as the column bound_bytes.",
        ),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say how many flows of other jobs, or of a list, a model's bounds are right for."""
    from spillway.learning import bounds as learned
    from spillway.learning.bounds import files, tables
    from spillway.scenario import flow_export

    chosen = learned.Model.load(model)
    lists = [file for file in jobs if files.is_list(file)]
    if out is not None:
        if len(jobs) != 1 or not lists:
            raise ScenarioError(
                "--out takes one list of flows",
                "a list has the columns src, dst, size_bytes and start_ns, or start_ps",
            )
        if out.suffix not in (".parquet", ".csv"):
            raise ScenarioError(
                f"{out} is neither Parquet nor CSV", "its name tells: .parquet or .csv"
            )
        check_new_file(out, force, "a list of flows", flow_export.is_list)
    read = [learned.FlowList(file, chosen.columns) for file in lists]
    seen = [job for each in read for job in each.jobs]
    others = [file for file in jobs if file not in lists]
    if others:
        if seen:
            raise ScenarioError("lists of flows and files of jobs are tested apart")
        seen = learned.load(others)
    scores, errors = learned.evaluate(chosen, seen)
    is_synthetic = any(job.is_synthetic for job in seen)
    trained = chosen.training.get("kind", "")
    kinds = sorted({job.kind for job in seen if trained and job.kind not in ("", trained)})
    document = {
        "synthetic": is_synthetic or bool(chosen.training.get("synthetic")),
        "other_kinds": kinds,
        "model": chosen.document,
        "scores": scores.document,
        "errors": errors.document,
    }
    if out is not None:
        own = [chosen.bounds(job.inputs(chosen.features)) for job in seen]
        with whole_file(out, force) as partial:
            files.write_list(read[0].with_bounds(own), partial, out.suffix)
    shown = tables.evaluated(chosen, scores, errors, is_synthetic, kinds)
    display(document, shown, as_json, written=[out])


@bounds.command()
def show(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Say what a model looks at, how it bounds, and what it was trained on."""
    from spillway.learning import bounds as learned
    from spillway.learning.bounds import tables

    chosen = learned.Model.load(model)
    display(chosen.document, tables.model(chosen), as_json)
