"""What runs come to, in short: to show that a change of the program changes no result.

    python bench/digests.py before.json                      # at the commit before
    python bench/digests.py after.json --against before.json # at the commit after

Every bundled scenario runs for 60 ms, and 1,000 random ones as the tests make them
(failing links, spraying, rings, datagrams; every policy, scheduler and transport). A digest is of
the summary (but `run` and `version`) and of all rows of all tables. Random scenarios record
whatever can be recorded; the number of a scenario says how.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa

import spillway

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = sorted(path.stem for path in (ROOT / "scenarios").glob("*.toml"))
NO_RESULT = ("run", "version")
INSTRUMENTS = (
    {},
    {"record.queue_interval": "20us", "record.link_interval": "30us"},
    {"record.decisions": 500, "record.windows": [0, 1], "record.port_interval": "25us"},
    {
        "record.oracle_trace": True,
        "record.bursts": "4KB",
        "record.link_interval": "7us",
        "record.aqm_interval": "25us",
    },
)
"""What a random scenario records besides, by its number."""
OF_QUEUES = ("record.port_interval", "record.bursts")
"""Not with a ring below the queues."""


def digest(result: spillway.Result) -> str:
    """Of all that a run leaves."""
    left = {key: value for key, value in result.summary.items() if key not in NO_RESULT}
    found = hashlib.sha256(json.dumps(left, sort_keys=True).encode())
    for name in sorted(result.names()):
        table = result.table(name)
        for column in sorted(table.schema.names):
            found.update(f"{name} {column} {len(table)}".encode())
            found.update(values(pa.concat_arrays(table.column(column).chunks)))
    return found.hexdigest()[:16]


def values(part: pa.Array) -> bytes:
    """Of a column, whatever its type is: what is null, and what is there."""
    if pa.types.is_dictionary(part.type):
        part = part.dictionary_decode()
    nulls = part.is_null().to_numpy(zero_copy_only=False).tobytes()
    if pa.types.is_integer(part.type) or pa.types.is_boolean(part.type):
        part = part.cast(pa.int64() if part.type != pa.uint64() else part.type).fill_null(0)
    elif pa.types.is_floating(part.type):
        part = part.cast(pa.float64()).fill_null(0.0)
    else:
        return nulls + json.dumps(part.to_pylist(), default=str).encode()
    return nulls + part.to_numpy(zero_copy_only=False).tobytes()


def run(name: str, changes: dict[str, object]) -> tuple[str, str]:
    """A scenario's name and digest, or what was wrong."""
    warnings.simplefilter("ignore")
    label = Path(name).stem
    try:
        return label, digest(spillway.run(name, set=changes))
    except spillway.Error as error:
        return label, f"refused: {error}"


def cases(folder: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """All scenarios, and what is changed of them."""
    for name in BUNDLED:
        yield name, {"warmup": "0us", "duration": "60ms"}
    for number in range(1000):
        given = dict(INSTRUMENTS[number % len(INSTRUMENTS)])
        text = (folder / f"{number}.toml").read_text()
        if 'sharing = "lqd"' not in text:
            given.pop("record.oracle_trace", None)
        if "port_fifo_packets = 0" not in text:
            given = {key: value for key, value in given.items() if key not in OF_QUEUES}
        yield str(folder / f"{number}.toml"), given


def write_random(folder: Path) -> None:
    """The tests' scenarios as files."""
    command = ["cargo", "test", "--locked", "-q", "--profile", "slow-tests"]
    command += ["-p", "spillway-net", "--test", "all", "--", "written::", "--ignored"]
    environment = {**os.environ, "SPILLWAY_SCENARIOS": str(folder)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Writes digests, and says which differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(given.jobs) as pool:
        write_random(Path(folder))
        found = dict(pool.map(run, *zip(*cases(Path(folder)), strict=True)))
    given.file.write_text(json.dumps(found, indent=1) + "\n")
    if given.against is None:
        return 0
    before = json.loads(given.against.read_text())
    differ = [name for name in {**before, **found} if before.get(name) != found.get(name)]
    print(f"{len(found) - len(differ)} of {len(found)} as before")
    for name in differ:
        print(f"{name}: {before.get(name)} before, {found.get(name)} now")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
