"""The command `spillway fluid`: the fluid model of flows under RED, beside the packet simulator."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spillway.base import core
from spillway.base.arguments import check_once, plain_float
from spillway.base.documents import write_json
from spillway.base.errors import ScenarioError
from spillway.base.folder import OutputFolder
from spillway.cli.app import app
from spillway.cli.common import numbers_of
from spillway.cli.options import ForceOption, JsonOption
from spillway.cli.output import console, display, interruptible

if TYPE_CHECKING:
    from spillway.theory.fluid import Point

DOCUMENT = "fluid.json"


@app.command()
def fluid(
    sender: Annotated[
        str, typer.Option(metavar="KIND", help="Whose equations: dctcp, tcp or dcqcn.")
    ] = "dctcp",
    cuts: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="How often marks cut a window: as the [bold]paper[/bold] says; "
            "[bold]per-mark[/bold]; [bold]per-window[/bold], for a window that has a mark; "
            "[bold]held[/bold], the same without growth in the window after a cut, as DCTCP does "
            "it.",
        ),
    ] = "paper",
    whole_packets: Annotated[
        bool,
        typer.Option(
            "--whole-packets", help="Have half a packet less in flight than the window, on average."
        ),
    ] = False,
    flows: Annotated[
        str, typer.Option(metavar="N,N,...", help="Flows: numbers, and ranges such as 2..8.")
    ] = "2,4,8,16,32,64",
    slope: Annotated[
        str, typer.Option(metavar="X,X,...", help="RED's slope, per MB of queue, as red's slope.")
    ] = "0.65",
    growth: Annotated[
        str,
        typer.Option(
            metavar="F",
            help="What multiplies the slope, as pred's f: one, sqrt-n, n or n-squared.",
        ),
    ] = "one",
    min_packets: Annotated[
        str, typer.Option(metavar="X,X,...", help="The queue up to which RED marks nothing.")
    ] = "10",
    max_packets: Annotated[
        float | None,
        typer.Option(metavar="X", help="The queue beyond which RED marks everything."),
    ] = None,
    rate_gbps: Annotated[float, typer.Option(metavar="X", help="The link's rate.")] = 10.0,
    delay_us: Annotated[
        float, typer.Option(metavar="X", help="The round-trip time without queueing.")
    ] = 80.0,
    packet_bytes: Annotated[
        int, typer.Option(metavar="N", help="Bytes of a packet with its headers.")
    ] = 1500,
    min_window: Annotated[
        float,
        typer.Option(
            metavar="X", help="The least window in packets; the published equations have none."
        ),
    ] = 2.0,
    g: Annotated[
        float, typer.Option("--g", metavar="X", help="The weight of a new sample in DCTCP's alpha.")
    ] = 0.0625,
    packets: Annotated[
        bool,
        typer.Option(
            "--packets/--no-packets", help="Whether the packet simulator runs beside the model."
        ),
    ] = True,
    seeds: Annotated[
        str, typer.Option(metavar="A..B", help="The seeds of its runs: 1..3, or 1,2,7.")
    ] = "1..3",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write tables and plots to this folder.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Steady queue of long flows under RED, by a fluid model and by the packet simulator."""
    from spillway.theory.fluid import Bottleneck, compare, tables

    listed = list(
        itertools.product(
            _whole("--flows", flows),
            _numbers("--slope", slope),
            _numbers("--min-packets", min_packets),
        )
    )
    bottlenecks = [
        Bottleneck(
            flows=n,
            slope=lambda_,
            growth=growth,
            min_packets=least,
            max_packets=max_packets,
            rate_gbps=rate_gbps,
            delay_us=delay_us,
            packet_bytes=packet_bytes,
            min_window=min_window,
        )
        for n, lambda_, least in listed
    ]
    output = None if out is None else OutputFolder(out, force, _is_one, "a folder of `fluid`")
    if output is not None:
        output.check()
    with interruptible(), console(sys.stderr).status("") as status:
        tell = status.update if sys.stderr.isatty() else lambda _: None
        points = compare(
            bottlenecks,
            kind=sender,
            cuts=[name.strip() for name in cuts.split(",")],
            g=g,
            whole_packets=whole_packets,
            packets=packets,
            seeds=seeds,
            follow=lambda done, of: tell(f"{done} of {of} settings"),
        )
        document = {
            "sender": sender,
            "version": core.__version__,
            "rate_gbps": rate_gbps,
            "delay_us": delay_us,
            "packet_bytes": packet_bytes,
            "min_window": min_window,
            "max_packets": max_packets,
            "growth": growth,
            "g": g,
            "points": tables.document(points),
        }
        if output is not None:
            with output:
                _write(output.partial, points, document, sender)
    display(document, tables.shown(points, sender), as_json, written=[out])


def _write(folder: Path, points: Sequence[Point], document: dict[str, Any], sender: str) -> None:
    from spillway.base import parquet
    from spillway.theory.fluid import plots, tables

    write_json(folder / DOCUMENT, document)
    parquet.write(tables.steady(points), folder / "steady.parquet")
    parquet.write(tables.in_time(points), folder / "trajectories.parquet")
    if points[0].packets:
        parquet.write(tables.packets(points), folder / "packets.parquet")
    plots.steady(points, folder / "steady.png", sender)
    plots.in_time(points, folder / "trajectories.png", sender)


def _is_one(folder: Path) -> bool:
    return (folder / DOCUMENT).is_file() or (folder.is_dir() and not any(folder.iterdir()))


_ONCE = "each has one row"


def _whole(option: str, text: str) -> list[int]:
    """Whole numbers and ranges of them."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*(?:\.\.\s*([0-9]{1,6})\s*)?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if low > high:
            raise ScenarioError(
                f"{option} {text!r} is not a list of whole numbers",
                f"for one: {option} 2,4,8, or {option} 2..8",
            )
        found += range(low, high + 1)
    check_once(found, f"{option}: the number", _ONCE)
    return found


def _numbers(option: str, text: str) -> list[float]:
    # The setting itself checks the numbers' ranges.
    return numbers_of(option, text, plain_float, lambda _: True, "numbers", "0.1,0.65", _ONCE)
