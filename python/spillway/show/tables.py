"""Results, scenarios and the catalogue as tables for people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spillway.experiment.statistics import Measured, mean
from spillway.result.metrics import Metric

if TYPE_CHECKING:
    from spillway.experiment.experiment import Experiment
    from spillway.experiment.pairs import Pair, Pairs
    from spillway.result.result import Result

MANY_BASE_RTTS = 100
"""A least timeout of this many base RTTs is pointed out: it often decides the slowest flows."""
FEW = "~"
"""Marks a percentile with few samples beyond it."""


def number(value: float | None, digits: int = 3) -> str:
    """A number with this many significant digits, and its thousands separated."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def count(value: float | None) -> str:
    """A count, with its thousands separated."""
    return "-" if value is None else f"{round(value):,}"


def percent(value: float | None) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.1f}%"


def size(value: float | None) -> str:
    """Bytes in a decimal unit."""
    if value is None:
        return "unlimited"
    units = ["B", "KB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.4g} {units[0]}"


def _seconds(value: float) -> str:
    return f"{number(value)} s" if value >= 1 else f"{number(value * 1e3)} ms"


def _grid() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", collapse_padding=True)


def run(result: Result) -> RenderableType:
    """One run's numbers."""
    parts = [summary(result.summary)]
    if result.folder is not None:
        parts.append(Text(f"written to {result.folder}", "dim"))
    return Group(*parts)


def summary(summary: Mapping[str, Any]) -> RenderableType:
    """A run's numbers, from its summary."""
    title = Text.assemble((summary["scenario"], "bold"), f"  seed {summary['seed']}  ")
    title.append(summary["status"], _STATUS_STYLES[summary["status"]])
    parts: list[RenderableType] = [title]
    if any(row["count"] for row in summary["fct_slowdown"].values()):
        parts.append(_classes(summary))
    parts.append(_network(summary))
    if _has_few(summary):
        parts.append(Text(f"{FEW} fewer than 10 flows beyond this percentile", "dim"))
    return Group(*parts)


_STATUS_STYLES = {
    "complete": "green",
    "stopped": "yellow",
    "deadlock": "red",
    "interrupted": "red",
}
_PERCENTILES = ("p50", "p95", "p99", "p99_9")


def _classes(summary: Mapping[str, Any]) -> Table:
    rows = {name: row for name, row in summary["fct_slowdown"].items() if row["count"]}
    some_left = any(row["unfinished"] for row in rows.values())
    table = _grid()
    table.add_column("slowdown")
    table.add_column("flows", justify="right")
    if some_left:
        table.add_column("un-\nfinished", justify="right", style="red")
    for name in ("with\ntimeout", "mean", "p50", "p95", "p99", "p99.9", "max"):
        table.add_column(name, justify="right")
    for name, row in rows.items():
        table.add_row(
            name,
            count(row["count"]),
            *([count(row["unfinished"])] if some_left else []),
            count(row["with_timeout"]),
            number(row["mean"]),
            *_flagged(row),
            number(row["max"]),
            end_section=name == "all",
        )
    return table


def _flagged(row: Mapping[str, Any], scale: float = 1.0) -> list[str]:
    """Percentiles, marked if few samples lie beyond them."""
    marks = [FEW if p in row["few_samples"] else " " for p in _PERCENTILES]
    return [number(row[p] * scale) + mark for p, mark in zip(_PERCENTILES, marks, strict=True)]


def _probes(summary: Mapping[str, Any]) -> str:
    """Tail-loss probes, if there are any. Results of earlier versions do not tell of them."""
    probes, late = summary.get("tail_loss_probes", 0), summary.get("probes_for_timeouts", 0)
    return f", {count(probes)} probes ({count(late)} for timeouts)" if probes else ""


def _has_few(summary: Mapping[str, Any]) -> bool:
    rows = [*summary["fct_slowdown"].values(), summary["query_us"]]
    return any(row["count"] and row["few_samples"] for row in rows)


def _network(summary: Mapping[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    for tier, row in summary["buffer_occupancy"]["by_tier"].items():
        show = size if row["unit"] == "bytes" else percent
        of = "in queues" if row["unit"] == "bytes" else "of the buffer"
        values = [f"{show(row[key])} {label}" for key, label in _OCCUPANCY]
        table.add_row(tier, f"{', '.join(values)} {of}")
    drops = summary["drops"]
    reasons = ", ".join(f"{name} {count(packets)}" for name, packets in drops.items())
    lost = f"{count(sum(drops.values()))} packets" + (f" ({reasons})" if reasons else "")
    table.add_row("drops", lost)
    table.add_row(
        "packets",
        f"{count(summary['marks'])} marked, {count(summary['retransmitted_packets'])} sent again, "
        f"{count(summary['timeouts'])} timeouts{_probes(summary)}",
    )
    load = summary["load"]
    table.add_row(
        "load",
        f"{percent(load['offered'])} offered, {percent(load['realised'])} realised, "
        f"{percent(load['on_wire'])} on the wire, of the {load['of']}",
    )
    table.add_row("goodput", f"{number(summary['goodput_gbps']['all'])} Gbps")
    flows = summary["flows"]
    table.add_row(
        "flows",
        f"{count(flows['completed'])} of {count(flows['started'])} complete "
        f"in {_seconds(summary['simulated_s'])} simulated",
    )
    timed = {"queries": summary["query_us"]}
    if "job_us" in summary:
        timed |= {"jobs": summary["job_us"]["all"], "iterations": summary["iteration_us"]["all"]}
    for name, row in timed.items():
        if row["count"]:
            mean = number(row["mean"] * 1e-3)
            p50, p95, p99, _ = (text.strip() for text in _flagged(row, 1e-3))
            table.add_row(
                name,
                f"{count(row['count'] - row['unfinished'])} of {count(row['count'])} "
                f"complete, ms: {mean} mean, {p50} p50, {p95} p95, {p99} p99",
            )
    spent = summary["run"]
    rate = summary["packet_hops"] / max(spent["wall_s"], 1e-9)
    table.add_row(
        "speed",
        f"{_seconds(spent['wall_s'])} for {count(summary['packet_hops'])} packet-hops: "
        f"{rate * 1e-6:.1f} M per second, {spent['peak_rss_mb']:.0f} MB",
    )
    return table


_OCCUPANCY = (("mean", "mean"), ("p99", "p99"), ("p99_99", "p99.99"), ("max", "max"))


def experiment(shown: Experiment) -> RenderableType:
    """Variants side by side: the means over their seeds, with intervals."""
    title = _experiment_title(shown)
    if not shown.done:
        return title
    columns, marked = shown.measured()
    metrics = [column.metric for column in columns]
    labels = _labels(shown)
    same = shown.identical
    judged = [metric for metric in metrics if metric.less_is_better]
    won = [metric.name for metric, place in zip(metrics, marked, strict=True) if place is not None]
    cells = [
        [
            # What is one run several times has no interval.
            _cell(column, place, place == marked[number], is_repeated=same[place])
            for place in range(len(labels))
        ]
        for number, column in enumerate(columns)
    ]
    parts: list[RenderableType] = [title, SideBySide(labels, metrics, cells)]
    if won:
        sure = "95%" if len(judged) == 1 else f"95% for all {len(judged)} metrics together"
        parts.append(Text(f"bold green ({', '.join(won)}): {_WON} (Student's t, {sure})", "dim"))
    if any(same):
        which = ", ".join(label for label, one in zip(labels, same, strict=True) if one)
        parts.append(Text(f"identical in all seeds ({which}): {_SAME}", "dim"))
    if any(any(column.few) for column in columns):
        of = "in a run" if len(shown.seeds) == 1 else "in one of the runs"
        parts.append(Text(f"{FEW} fewer than 10 flows, or queries, beyond it {of}", "dim"))
    if shown.folder is not None:
        parts.append(Text(f"kept in {shown.folder}", "dim"))
    return Group(*parts)


def _experiment_title(shown: Experiment) -> Text:
    """What was run, and how much of it."""
    counts = [len(runs) for _, runs in shown.results]
    if len(shown.seeds) == 1:
        of = f"seed {shown.seeds[0]}"
    elif min(counts) == max(counts):
        of = f"n = {counts[0]} seeds, mean ± 95% interval"
    else:
        of = "n seeds, mean ± 95% interval"
    if shown.done < shown.total:
        of += f", {shown.done} of {shown.total} runs"
    title = Text.assemble((shown.name, "bold"), f"  {of}  ")
    title.append(shown.status, _STATUS_STYLES[shown.status])
    return title


def _labels(shown: Experiment) -> list[str]:
    """The names of variants, with the number of runs where these differ."""
    counts = [len(runs) for _, runs in shown.results]
    names = [variant.label or shown.name for variant in shown.variants]
    if min(counts) == max(counts):
        return names
    return [f"{name} n={count}" for name, count in zip(names, counts, strict=True)]


def pairs(shown: Pairs) -> RenderableType:
    """Variants beside their baselines: differences, and what can be said of them."""
    against = list(dict.fromkeys(pair.against for pair in shown))
    by_variant: dict[int, list[Pair]] = {}
    for pair in shown:
        by_variant.setdefault(pair.place, []).append(pair)
    labels = [
        each[0].label if len(against) == 1 else f"{each[0].label} against {each[0].against}"
        for each in by_variant.values()
    ]
    most = max((pair.found.n for pair in shown), default=0)
    cells = [
        [_pair_cell(each[number], metric, most) for each in by_variant.values()]
        for number, metric in enumerate(shown.metrics)
    ]
    of = f"against {against[0]}" if len(against) == 1 else "in pairs"
    title = Text.assemble(
        (of, "bold"), f"  n = {most}, differences with the same seeds ± 95% interval"
    )
    count = len(shown)
    sure = "95%" if count == 1 else f"95% for all {count} of them together"
    told = (
        f"green and red: below and above, by Student's t, {sure}; dim: no difference that these "
        "seeds could show"
    )
    return Group(title, SideBySide(labels, shown.metrics, cells), Text(told, "dim"))


def _pair_cell(pair: Pair, metric: Metric, most: int) -> Text:
    """A difference in percent, or in the metric's unit where the baseline is 0.

    It says of how many seeds it is, where others are of more.
    """
    found = pair.found
    if found.difference is None:
        return Text("-")
    if pair.told == "identical":
        return Text("identical", "dim")
    is_part = bool(found.baseline)
    scale = 100.0 / abs(found.baseline) if found.baseline else 1.0

    def show(value: float) -> str:
        return f"{value * scale:.1f}%" if is_part else _SHOWN[metric.show](value)

    style = {"below": "bold green", "above": "bold red"}.get(pair.told, "dim")
    if not metric.less_is_better and pair.told in ("below", "above"):
        style = "bold"
    sign = "+" if found.difference > 0 else "-" if found.difference < 0 else ""
    text = Text(f"{sign}{show(abs(found.difference))}", style)
    if found.half is not None:
        text.append(f"\n±{show(found.half)}", "dim not bold")
    if found.n < most:
        text.append(f"\nn={found.n}", "dim not bold")
    return text


@dataclass(frozen=True)
class Shown:
    """A table that a terminal, a notebook and `print` show."""

    of: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.of

    def __repr__(self) -> str:
        from rich.console import Console

        console = Console(width=140, no_color=True, highlight=False, markup=False)
        with console.capture() as captured:
            console.print(self.of)
        return captured.get()

    def _repr_html_(self) -> str:
        from spillway.show import notebook

        return notebook.page(self.of)


_WON = "below every other variant; no interval of the differences, seed by seed, reaches 0"


_SAME = (
    "nothing is drawn, neither traffic nor clocks; other paths, if there are several, come with "
    "--vary routing.hash_seed=1,2,3"
)


@dataclass(frozen=True)
class SideBySide:
    """A row for every variant; if that is too wide, a column each, or several tables."""

    labels: Sequence[str]
    metrics: Sequence[Metric]
    cells: Sequence[Sequence[Text]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbound = options.update(max_width=10_000)

        def fits(table: Table) -> bool:
            return Measurement.get(console, unbound, table).maximum <= options.max_width

        wide, tall = self.wide(), self._tall()
        if fits(wide) or fits(tall):
            yield wide if fits(wide) else tall
            return
        first = 0
        while first < len(self.metrics):
            last = len(self.metrics)
            while last > first + 1 and not fits(self.wide(first, last)):
                last -= 1
            yield self.wide(first, last)
            first = last

    def wide(self, first: int = 0, last: int | None = None) -> Table:
        """A row for every variant, with some of the metrics."""
        table = _grid()
        table.add_column("", no_wrap=True)
        for metric in self.metrics[first:last]:
            table.add_column(metric.heading, justify="right")
        for label, *row in zip(self.labels, *self.cells[first:last], strict=True):
            table.add_row(label, *row)
        return table

    def _tall(self) -> Table:
        tall = _grid()
        tall.add_column("", no_wrap=True)
        for label in self.labels:
            tall.add_column(label.replace(" ", "\n"), justify="right")
        for metric, column in zip(self.metrics, self.cells, strict=True):
            tall.add_row(metric.name, *(Text(" ").join(cell.split("\n")) for cell in column))
        return tall


def one_line(heading: str) -> str:
    r"""A heading whose lines are joined.

    >>> one_line("un-\nfinished"), one_line("with\ntimeout")
    ('unfinished', 'with timeout')
    """
    return heading.replace("-\n", "").replace("\n", " ")


def _cell(column: Measured, place: int, is_best: bool, is_repeated: bool) -> Text:
    """A mean and, below it, its interval; if some in a column are marked, all have room for it.

    Where fewer runs have the number than there are, it says how many.
    """
    show = _SHOWN[column.metric.show]
    values = list(column.values[place].values())
    own = mean(values[:1] if is_repeated else values)
    mark = (FEW if column.few[place] and own.mean is not None else " ") if any(column.few) else ""
    text = Text.assemble((show(own.mean), "bold green" if is_best else ""), mark)
    if own.half is not None:
        text.append(f"\n±{show(own.half)}{mark and ' '}", "dim not bold")
    if not is_repeated and 0 < own.n < len(values):
        text.append(f"\nn={own.n}{mark and ' '}", "dim not bold")
    return text


_SHOWN: dict[str, Callable[[float | None], str]] = {
    "number": number,
    "count": count,
    "percent": percent,
    "size": lambda value: "-" if value is None else size(value),
}


def _clocks(clocks: Mapping[str, Sequence[float]] | None) -> str:
    """How far clocks are off."""
    if clocks is None:
        return "exact"
    parts = [
        f"{what} {low:+g} to {high:+g} ppm"
        for what, (low, high) in (
            ("hosts", clocks["hosts_ppm"]),
            ("switches", clocks["switches_ppm"]),
        )
    ]
    return "spread: " + ", ".join(parts)


def facts(facts: Mapping[str, Any]) -> RenderableType:
    """The facts that follow from a scenario: network, buffers, traffic."""
    network = Table.grid(padding=(0, 2))
    network.add_column(style="bold")
    network.add_column()
    network.add_row("hosts", f"{count(facts['hosts'])} at {facts['host_gbps']:g} Gbps")
    network.add_row("links", count(facts["links"]))
    network.add_row(
        "capacity",
        f"{number(facts['capacity_gbps'], 4)} Gbps over all {facts['load_of']}; "
        f"oversubscription {facts['oversubscription']:.3g}",
    )
    network.add_row("clocks", _clocks(facts["clocks"]))
    network.add_row(
        "base RTT",
        f"{facts['base_rtt_us']:.6g} us; bandwidth-delay product {size(facts['bdp_bytes'])}",
    )
    base_rtts = facts["min_rto_base_rtts"]
    if base_rtts is not None and base_rtts >= MANY_BASE_RTTS:
        network.add_row(
            "timeouts",
            f"min_rto is {_seconds(facts['min_rto_us'] * 1e-6)}, {count(base_rtts)} base "
            "RTTs: a loss that only a timeout repairs delays its flow by at least that",
        )
    network.add_row(
        "packets",
        f"{facts['full_packet_bytes']} B when full; the first {size(facts['first_rtt_bytes'])} "
        "of a flow count as its first round trip",
    )
    return Group(network, _tiers(facts["tiers"]), _traffic(facts["traffic"], facts["load_of"]))


def _tiers(tiers: Sequence[Mapping[str, Any]]) -> Table:
    table = _grid()
    for name in ("tier", "switches", "ports, Gbps", "buffer", "queues", "sharing", "aqm"):
        table.add_column(name)
    table.add_column("scheduling")
    for tier in tiers:
        ports = " + ".join(f"{n} x {rate}" for rate, n in tier["ports_by_gbps"].items())
        table.add_row(
            tier["tier"],
            count(tier["switches"]),
            ports,
            size(tier["buffer_bytes"]),
            f"{tier['queues_per_port']} per port",
            tier["sharing"],
            tier["aqm"],
            tier["scheduling"],
        )
    return table


def _traffic(sections: Sequence[Mapping[str, Any]], load_of: str) -> Table:
    table = _grid()
    table.add_column("traffic")
    table.add_column("kind")
    for name in ("offered", f"of {load_of}", "flows", "payload"):
        table.add_column(name, justify="right")
    for section in sections:
        offered = section["offered_gbps"]
        table.add_row(
            section["name"],
            section["kind"],
            "-" if offered is None else f"{number(offered, 4)} Gbps",
            percent(section["load"]),
            ("" if section["counted_all"] else "over ") + count(section["flows"]),
            size(section["bytes"]),
        )
    return table


ROOMS = {
    "sharing": "How ports share a switch's buffer: switch.sharing",
    "aqm": "How queues are marked and dropped from: switch.aqm",
    "scheduling": "Which queue of a port sends next: switch.scheduling",
    "transport": "How a flow becomes packets: transport.kind",
    "tagging": "Which priority a packet gets when it is sent: transport.tagging",
    "traffic": "Who sends how much to whom, and when: traffic.NAME.kind",
    "topology": "Who is connected to whom: topology.kind",
    "signals": "What a run that halts can be asked for: Simulation.observe",
}


def catalogue(entries: Mapping[str, Any], rooms: Iterable[str]) -> RenderableType:
    """The algorithms of some rooms, with their parameters and sources."""
    parts: list[RenderableType] = []
    for room in rooms:
        parts.append(Text.assemble((room, "bold cyan"), "  ", (ROOMS[room], "dim")))
        parts.append(Text())
        if room == "signals":
            parts.append(_signals(entries[room]))
            continue
        parts += [_entry(entry) for entry in entries[room]]
        if room == "traffic":
            parts.append(_sizes(entries["sizes"]))
    return Group(*parts)


def entries(listed: Iterable[Mapping[str, Any]]) -> RenderableType:
    """Algorithms, with their parameters and sources."""
    return Group(*(_entry(entry) for entry in listed))


def _entry(entry: Mapping[str, Any]) -> RenderableType:
    head = Text.assemble("  ", (entry["id"], "bold"), "  ", entry["summary"])
    source = Text(entry["citation"], "dim") if entry["citation"] else None
    parts: list[RenderableType] = [head]
    if source is not None:
        parts.append(Padding(source, (0, 0, 0, 4)))
    if entry["keys"]:
        keys = Table.grid(padding=(0, 2))
        keys.add_column(style="green", no_wrap=True)
        keys.add_column(no_wrap=True)
        keys.add_column(style="dim", ratio=1)
        for key in entry["keys"]:
            text = f"{_sentence(key['meaning'])} {_sentence(key['takes'])}"
            keys.add_row(key["name"], key["default"] or "required", text)
        parts.append(Padding(keys, (0, 0, 0, 4)))
    if entry.get("changes"):
        parts.append(Padding(Text(changing(entry), "dim"), (0, 0, 0, 4)))
    parts.append(Text())
    return Group(*parts)


def changing(entry: Mapping[str, Any], written: Callable[[str], str] = str) -> str:
    """Which numbers of a policy can change while a run goes on, in a sentence.

    >>> changing({"changes": ["min", "max"], "changes_by_port": True})
    'While a run goes on min and max can change, also at a single port.'
    """
    *others, last = map(written, entry["changes"])
    names = f"{', '.join(others)} and {last}" if others else last
    where = ", also at a single port" if entry["changes_by_port"] else ""
    return f"While a run goes on {names} can change{where}."


def _sentence(text: str) -> str:
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _signals(signals: Iterable[Mapping[str, Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="green", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim", ratio=1)
    for signal in signals:
        when = "since the last look" if signal["is_since"] else "now"
        table.add_row(signal["id"], signal["each"], when, _sentence(signal["meaning"]))
    return Group(Padding(table, (0, 0, 0, 2)), Text())


def _sizes(sizes: Iterable[Mapping[str, Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="green", no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(style="dim", overflow="fold")
    for entry in sizes:
        table.add_row(entry["id"], f"mean {size(entry['mean_bytes'])}", entry["citation"])
    head = Text.assemble("  ", ("sizes", "bold"), "  Distributions of flow sizes, by name.")
    return Group(head, Padding(table, (0, 0, 0, 4)), Text())


def scenarios(texts: Mapping[str, str]) -> RenderableType:
    """The bundled scenarios."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in texts.items():
        about = itertools.takewhile(lambda line: line.startswith("# "), text.splitlines())
        table.add_row(name, " ".join(line.removeprefix("# ") for line in about))
    return table


def flows(written: Mapping[str, Any]) -> RenderableType:
    """A summary of a list of flows that was written."""
    table = _grid()
    table.add_column("class")
    table.add_column("flows", justify="right")
    table.add_column("payload", justify="right")
    for name, row in written["classes"].items():
        table.add_row(name, count(row["flows"]), size(row["bytes"]))
    table.add_section()
    table.add_row("all", count(written["flows"]), size(written["bytes"]))
    return Group(table, Text(f"written to {written['file']}", "dim"))
