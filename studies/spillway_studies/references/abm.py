"""Comparison with ABM's program: Dynamic Thresholds under DCTCP and Cubic, flow by flow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from spillway_studies.references.abm_flows import BACKGROUND, read_reference
from spillway_studies.references.abm_measured import PLACES, Run, measured
from spillway_studies.references.abm_others import run_others
from spillway_studies.references.abm_runs import CUBIC, DCTCP, replay
from spillway_studies.references.abm_tables import tables
from spillway_studies.references.bounds import bounds
from spillway_studies.references.replayed import Comparison, compared
from spillway_studies.references.scenarios import run_each, with_changes, with_hash_seeds
from spillway_studies.references.validation import Validation

EXPERIMENTS = (DCTCP, CUBIC)
DIFFERENCES = (
    "switch.port_fifo_packets=0, nic.fifo_packets=0",
    "switch.port_fifo_packets=0",
    "nic.fifo_packets=0",
    "nic.scheduling=fifo",
    "transport.syn_window=unlimited",
    "transport.loss_detection=sack, transport.reduction=proportional-ns3",
    "transport.loss_detection=rack, transport.reduction=proportional-ns3",
    "transport.reduction=proportional-rfc6937",
    "transport.reduction=at-once",
    "transport.host_backlog=1bdp",
    "switch.sharing.count_arrival=false",
    "switch.uncounted_bytes=0B",
)


def abm(
    folder: Path,
    *,
    paths: int = 0,
    jobs: int = 2,
    differences: bool = False,
    others: bool = False,
) -> Validation[Comparison[Run]]:
    """ABM's program (inet-tub/ns3-datacenter): DT under DCTCP and under Cubic, at load 40%.

    (`runs/TRANSPORT-dt-LOAD.parquet`). Flows that never got a connection there are left out.
    `paths` is the number of runs with paths that our own hash draws, `differences` one run for each
    setting that is changed, and `others` runs of other schemes and transports, of which only
    percentiles are known.
    """
    references = [read_reference(folder, experiment) for experiment in EXPERIMENTS]
    comparisons = []
    with TemporaryDirectory() as place:
        for experiment, (listed, reference) in zip(EXPERIMENTS, references, strict=True):
            given = replay(experiment, listed, Path(place) / f"{experiment.load}.parquet")
            pathless = listed.drop_columns(["path", "ack_path"])
            drawn = replay(experiment, pathless, Path(place) / f"{experiment.load}-drawn.parquet")
            ways = (*DIFFERENCES, *experiment.differences)
            changes = with_changes(given, drawn, ways) if differences else {}
            work = partial(measured, listed, reference)
            runs = run_each(work, given, with_hash_seeds(drawn, paths), changes, jobs)
            counts = {kind: int(reference.are(kind).sum()) for kind in (*BACKGROUND, "incast")}
            comparisons.append(compared(experiment.transport, reference, PLACES, runs, counts))
    beside = run_others(folder, jobs=jobs) if others else []
    judged = [one for found in comparisons for one in found.judged]
    judged += [one for other in beside for one in other.judged]
    content = {found.name: found.document for found in comparisons}
    return Validation(
        comparisons,
        content | ({"others": [each.document for each in beside]} if beside else {}),
        tables(comparisons, beside),
        bounds(judged),
    )
