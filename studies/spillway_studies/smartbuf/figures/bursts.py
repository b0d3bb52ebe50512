"""Numbers about a run's bursts, from the table `bursts`."""

import tomllib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spillway.base.quantities import quantity
from spillway.result.result import Result
from spillway_studies.claims import Table, basis, lost

CLOSE_PS = 1_000_000_000
"""Bursts that begin within a millisecond are close in time."""


@basis.results(1)
def numbers(result: Result) -> dict[str, float | None]:
    """Numbers about bursts at leaves that were detected from `warmup` on and ended before the run.

    Also the losses from then on, if the run has recorded them.
    """
    scenario = tomllib.loads(result.scenario)
    switch = scenario["switch"]
    buffer = quantity(switch.get("leaf", switch)["buffer"])
    bursts = at_leaves(result.bursts, quantity(scenario["warmup"]))
    most, first, last = (threshold(bursts, name) for name in ("most", "first", "last"))
    demand = bursts["demand_bytes"].to_numpy().astype(float)
    found: dict[str, float | None] = {
        "bursts.count": bursts.num_rows,
        "bursts.close": close(bursts),
        "bursts.with_losses": _mean(bursts["lost_packets"].to_numpy() > 0),
        "bursts.most_threshold": _share(np.minimum(most, buffer), buffer),
        "bursts.most_demand": _share(demand, buffer),
        "bursts.most_peak": _share(bursts["peak_bytes"].to_numpy().astype(float), buffer),
        "bursts.mean_error_first": errors(first, demand)["bursts.mean_error"],
        "bursts.collisions": collisions(result, quantity(scenario["warmup"])),
    }
    packets = lost.numbers(result) if scenario["record"]["drops"] else {}
    return found | errors(last, demand) | packets


def errors(predicted: NDArray[np.float64], demand: NDArray[np.float64]) -> dict[str, float | None]:
    """The errors of predictions as shares of the demand; only for bursts with a threshold."""
    error = np.abs(predicted - demand) / demand
    error = error[np.isfinite(error)]
    return {
        "bursts.mean_error": _mean(error),
        "bursts.largest_error": float(error.max()) if len(error) else None,
    }


def at_leaves(bursts: Table, warmup: int) -> Table:
    """The rows of those bursts."""
    import pyarrow.compute as pc

    names = bursts["switch"].cast("string")
    wanted = pc.and_(pc.starts_with(names, "leaf"), pc.is_valid(bursts["end_ps"]))
    return bursts.filter(pc.and_(wanted, pc.greater_equal(bursts["detected_ps"], warmup)))


def threshold(bursts: Table, name: str) -> NDArray[np.float64]:
    """A threshold of every burst; infinite if there was none."""
    column = bursts[f"{name}_threshold_bytes"].cast("float64").fill_null(float("inf"))
    found: NDArray[np.float64] = column.to_numpy()
    return found


def close(bursts: Table) -> float | None:
    """The share of bursts for which another begins close to them, at another port of their leaf."""
    rows = list(
        zip(
            bursts["switch"].to_pylist(),
            bursts["detected_ps"].to_pylist(),
            bursts["port"].to_pylist(),
            strict=True,
        )
    )
    by_leaf: dict[str, list[tuple[int, int]]] = {}
    for switch, time, port in rows:
        by_leaf.setdefault(switch, []).append((time, port))
    near = [
        any(port != other and abs(time - then) <= CLOSE_PS for then, other in by_leaf[switch])
        for switch, time, port in rows
    ]
    return _mean(np.array(near))


def collisions(result: Result, warmup: int) -> float | None:
    """The share of queries that begin during a burst at their receiver's port.

    Two incasts that meet look like one larger burst. Queries of a leaf-spine's incasts count if
    they begin from `warmup` on. A burst lasts from its detection to its end.
    """
    hosts = tomllib.loads(result.scenario)["topology"]["hosts_per_leaf"]
    going_on: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for row in result.bursts.select(["switch", "port", "detected_ps", "end_ps"]).to_pylist():
        end = float("inf") if row["end_ps"] is None else row["end_ps"]
        going_on.setdefault((row["switch"], row["port"]), []).append((row["detected_ps"], end))
    flows = result.flows.filter(result.flows["query_id"].is_valid())
    names = ["class", "query_id", "dst"]
    queries = flows.group_by(names).aggregate([("start_ps", "min")]).to_pylist()
    met = [
        any(begin <= query["start_ps_min"] < end for begin, end in going_on.get(port, []))
        for query in queries
        if query["start_ps_min"] >= warmup
        for port in [(f"leaf{query['dst'] // hosts}", query["dst"] % hosts)]
    ]
    return _mean(np.array(met))


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None


def _share(values: NDArray[np.float64], of: float) -> float | None:
    """The largest value as a share of the buffer."""
    return float(values.max()) / of if len(values) else None
