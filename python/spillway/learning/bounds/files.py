"""Jobs in files: CSV with the columns of the Flux traces, and lists of flows with such columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spillway.base import core, csv_file, parquet
from spillway.base.arguments import shown, whole
from spillway.base.documents import write_json
from spillway.base.errors import FileError, ScenarioError
from spillway.base.folder import check_plain, path_of
from spillway.learning.bounds import synthetic
from spillway.learning.bounds.job import FEATURES, INDEX, SIZE, TIME, Job, nearest
from spillway.learning.bounds.parameters import JOBS, JobParameters
from spillway.learning.bounds.synthetic import SyntheticJob
from spillway.scenario import flow_export

LIST, NOTE = "flows.csv", "synthetic.json"
MOST_HOSTS = 10_000_000
"""The most hosts between which the flows of synthetic jobs are listed."""
_LONGEST_GAP_MS = 3_600_000
"""The longest mean time between the starts of two jobs: an hour."""
_LFS = b"version https://git-lfs.github.com/spec/"
_INSTEAD = "`spillway bounds generate` makes synthetic jobs with the same columns"


def load(places: Iterable[str | Path]) -> list[Job]:
    """The jobs in files, or in all files `d_*.csv` of folders.

    Raises:
        ScenarioError: a file cannot be read, or its columns fit no kind of job.
    """
    return [job_of(file) for file in find(places)]


def find(places: Iterable[str | Path]) -> list[Path]:
    """The files of jobs, those of a folder in the order of their numbers."""

    def number(file: Path) -> tuple[Path, int, str]:
        digits = file.stem.removeprefix("d_")
        return file.parent, int(digits) if digits.isdecimal() else -1, file.name

    found = []
    for place in map(path_of, places):
        inside = sorted(place.glob("**/d_*.csv"), key=number) if place.is_dir() else [place]
        if not inside:
            raise FileError(f"{place}: no file of a job d_N.csv is in it", _INSTEAD)
        found += inside
    return found


def job_of(file: Path) -> Job:
    """The job in a file: a column for the index, if there is one, the features, and the size."""
    table = read_csv(file)
    names = table.column_names
    kind, missing, others = nearest(names)
    if missing or others:
        problems = [f"{', '.join(missing)} missing"] if missing else []
        problems += [f"{', '.join(others)} not expected"] if others else []
        raise FileError(
            f"{file}: its columns are those of no kind of job; of {kind}: {'; '.join(problems)}",
            "the columns are those of the Flux traces: see docs/bounds.md",
        )
    columns = {name: numbers(file, table[name], name, 1) for name in names if name not in INDEX}
    size, time = columns.pop(SIZE), columns[TIME]
    if not len(size):
        raise FileError(f"{file}: it has no flows")
    _check_sizes(file, size, SIZE, 1)
    (back,) = np.nonzero(np.diff(time) < 0)
    if len(back):
        problem = f"{time[back[0] + 1]:g} is before the {time[back[0]]:g} of the line above"
        raise FileError(f"{file}: line {back[0] + 3}, column {TIME}: {problem}")
    return Job(kind, str(file), columns, size.astype(np.int64), is_generated(file.parent))


def read_csv(file: Path) -> pa.Table:
    """The table in a CSV file; a pointer of Git LFS is refused as such."""
    check_plain(file)
    try:
        with file.open("rb") as content:
            first = content.read(len(_LFS))
        if first == _LFS:
            problem = "it is a pointer of Git LFS, which stands for the data, not the data"
            raise FileError(
                f"{file}: {problem}",
                f"`git lfs pull` fetches the data where it is published; {_INSTEAD}",
            )
        if not first.strip():
            raise FileError(f"{file}: it is empty; its first line must name its columns")
        table = csv_file.read(file)
        names = table.column_names
    except UnicodeDecodeError as error:
        raise FileError(f"{file}: the names of its columns are not UTF-8") from error
    except OSError as error:
        problem = error.strerror or str(error)
        raise FileError(f"{file} cannot be read: {problem}") from error
    except pa.ArrowInvalid as error:
        raise FileError(f"{file}: {error}") from error
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FileError(f"{file}: the column {twice!r} is there twice")
    return table


def numbers(file: Path, column: pa.ChunkedArray, name: str, before: int) -> npt.NDArray[np.float64]:
    """A column of finite numbers; the file has `before` lines above the first of them."""
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise FileError(f"{file}: column {name}: {kind} values are not numbers")
    try:
        found: npt.NDArray[np.float64] = column.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise FileError(f"{file}: column {name}: {error}") from error
    (wrong,) = np.nonzero(~np.isfinite(found))
    if len(wrong):
        row = int(wrong[0])
        value = column[row].as_py()
        problem = "there is no value" if value is None else f"{value} is no finite number"
        raise FileError(f"{file}: line {row + 1 + before}, column {name}: {problem}")
    return found


def _check_sizes(file: Path, size: npt.NDArray[np.float64], name: str, before: int) -> None:
    (wrong,) = np.nonzero((size < 1) | (size != np.floor(size)) | (size > 2**53))
    if len(wrong):
        problem = f"{size[wrong[0]]:g} is no size, a whole number of bytes from 1 to 2^53"
        raise FileError(f"{file}: line {wrong[0] + 1 + before}, column {name}: {problem}")


def write_job(job: Job, file: Path) -> None:
    """Writes a job with the columns of the Flux traces, in their order."""
    csv_file.write(
        pa.table({"index": np.arange(len(job)), **_told(job), SIZE: job.size}),
        file,
    )


def write_flows(
    jobs: Iterable[SyntheticJob], hosts: int, seed: int, file: Path, gap_ms: float | None = None
) -> None:
    """Writes jobs as one list of flows for a scenario with some hosts.

    Each job's machines are placed on hosts of their own, drawn at random, and the jobs begin one
    after the other, with exponential times between. Their mean is `gap_ms`, by default that of the
    kind of jobs; with another mean jobs and places stay as they are. The list has the features of
    every flow, and the number of its job.
    """
    parts, begin = [], 0.0
    for number, made in enumerate(jobs):
        draws = np.random.default_rng([seed, list(JOBS).index(made.job.kind), number, hosts])
        machines = 1 + int(max(made.sender.max(), made.receiver.max()))
        if machines > hosts:
            raise ScenarioError(
                f"{hosts} hosts are too few for a job of {machines} machines", "take more hosts"
            )
        host = draws.permutation(hosts)
        start = made.job.features[TIME] + begin
        columns = {
            "src": host[made.sender],
            "dst": host[made.receiver],
            "size_bytes": made.job.size,
            "start_ns": np.rint(start * 1e6).astype(np.int64),
            "class": [made.job.kind] * len(made.job),
            "job": np.full(len(made.job), number),
            **_told(made.job),
        }
        parts.append(pa.table(columns))
        begin += draws.exponential(JOBS[made.job.kind].gap_ms if gap_ms is None else gap_ms)
    csv_file.write(pa.concat_tables(parts), file)


def _told(job: Job) -> dict[str, Any]:
    """A job's features as a file has them: whole numbers without a decimal point."""

    def plain(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        whole = (values == np.rint(values)).all() and (np.abs(values) < 2**53).all()
        return values.astype(np.int64) if whole else values

    return {name: plain(values) for name, values in job.features.items()}


def generate(
    kind: str,
    folder: Path,
    jobs: int | None,
    hosts: int,
    seed: int,
    gap_ms: float | None = None,
) -> dict[str, Any]:
    """Writes synthetic jobs into a folder that is there: a file for each, and all as a list.

    `gap_ms` is the mean time between the starts of two jobs in the list, by default the kind's.
    Returns what was made, which the folder's `synthetic.json` also tells, with all parameters.

    Raises:
        ScenarioError: an argument is wrong, or a job has more machines than there are hosts.
    """
    hosts = whole("hosts", hosts, 2, MOST_HOSTS)
    parameters = _with_gap(JOBS[synthetic.kind_named(kind)], gap_ms)
    made = list(synthetic.make_all(kind, jobs, seed))
    write_flows(made, hosts, seed, folder / LIST, parameters.gap_ms)
    for each in made:
        write_job(each.job, folder / f"{each.job.name}.csv")
    told = {
        "synthetic": True,
        "kind": kind,
        "jobs": len(made),
        "flows": sum(len(each.job) for each in made),
        "bytes": sum(int(each.job.size.sum()) for each in made),
        "hosts": hosts,
        "seed": seed,
        "versions": {"spillway": core.__version__, "numpy": np.__version__},
        "parameters": asdict(parameters),
    }
    write_json(folder / NOTE, told)
    return told


def _with_gap(parameters: JobParameters, gap_ms: object) -> JobParameters:
    """The parameters with another mean time between the starts of jobs, if one is given."""
    if gap_ms is None:
        return parameters
    is_number = isinstance(gap_ms, (int, float)) and not isinstance(gap_ms, bool)
    if not is_number or not 0 < gap_ms <= _LONGEST_GAP_MS:  # type: ignore[operator]
        expected = f"a time in milliseconds above 0, at most {_LONGEST_GAP_MS:,}"
        raise ScenarioError(f"gap_ms: {shown(gap_ms)} is not valid; expected {expected}")
    return replace(parameters, gap_ms=float(gap_ms))  # type: ignore[arg-type]


def is_generated(folder: Path) -> bool:
    """Whether a folder holds synthetic jobs."""
    return (folder / NOTE).is_file()


class FlowList:
    """A list of flows with the columns that a model looks at, and the numbers of jobs."""

    def __init__(self, file: Path, columns: Sequence[str]) -> None:
        """Reads the list; `columns` are the features that are wanted."""
        self.file = file
        is_parquet = file.suffix == ".parquet"
        check_plain(file)
        if is_parquet and not file.is_file():
            raise FileError(f"{file}: there is no such file")
        table: pa.Table = parquet.read(file) if is_parquet else read_csv(file)
        self.table = table
        before = 0 if is_parquet else 1
        start = next((name for name in ("start_ps", "start_ns") if name in table.column_names), "")
        for name in ("size_bytes", start or "start_ns", "job", *columns):
            if name not in table.column_names:
                raise FileError(
                    f"{file}: there is no column {name}",
                    "`spillway bounds generate` writes such a list",
                )
        found = {
            name: numbers(file, table[name], name, before)
            for name in ("size_bytes", start, "job", *columns)
        }
        job = found.pop("job")
        size, starts = found.pop("size_bytes"), found.pop(start)
        _check_sizes(file, size, "size_bytes", before)
        order = np.lexsort((np.arange(len(job)), starts, job))
        ends = np.nonzero(np.diff(job[order]))[0] + 1
        is_synthetic = is_generated(file.parent)
        self.rows = np.split(order, ends) if len(job) else []
        self.jobs = [
            Job(
                self._kind_of(rows),
                f"{file}, job {job[rows[0]]:g}",
                {name: values[rows] for name, values in found.items()},
                size[rows].astype(np.int64),
                is_synthetic,
            )
            for rows in self.rows
        ]

    def _kind_of(self, rows: npt.NDArray[np.int64]) -> str:
        """The kind of a job by the class of its first flow, if the list names kinds there."""
        if "class" not in self.table.column_names:
            return ""
        named = str(self.table["class"][int(rows[0])])
        return named if named in FEATURES else ""

    def with_bounds(self, bounds: Sequence[npt.NDArray[np.int64]]) -> pa.Table:
        """The list with a column `bound_bytes`, which replaces one that is there."""
        column = np.zeros(self.table.num_rows, np.int64)
        for rows, own in zip(self.rows, bounds, strict=True):
            column[rows] = own
        names = [name for name in self.table.column_names if name != "bound_bytes"]
        return self.table.select(names).append_column("bound_bytes", pa.array(column))


def is_list(file: Path) -> bool:
    """Whether a file is a list of flows, not a job."""
    return file.is_file() and flow_export.is_list(file)


def write_list(table: pa.Table, file: Path, suffix: str) -> None:
    """Writes a list of flows as CSV or Parquet, as the suffix tells."""
    if suffix == ".parquet":
        parquet.write(table, file)
    else:
        csv_file.write(table, file)
