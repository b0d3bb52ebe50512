"""Programs that run series: what they are asked, and the rows that they keep."""

import argparse
from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spillway.base.folder import whole_file


def parser_of(text: str | None, what: str, known: Collection[str]) -> argparse.ArgumentParser:
    """Takes a `folder`, the `names` of what is run, by default all that is known, and `jobs`."""

    def name(given: str) -> str:
        if given not in known:
            told = f"there is no {what} {given!r}; valid here: {', '.join(known)}"
            raise argparse.ArgumentTypeError(told)
        return given

    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    told = ", ".join(known)
    parser.add_argument("names", nargs="*", type=name, metavar=what.upper(), help=told)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    return parser


def keep(rows: pa.Table, file: Path) -> None:
    """Keeps the rows of runs, numbers with single precision."""
    single = [
        field.with_type(pa.float32()) if pa.types.is_floating(field.type) else field
        for field in rows.schema
    ]
    file.parent.mkdir(exist_ok=True)
    with whole_file(file) as partial:
        pq.write_table(rows.cast(pa.schema(single)), partial, compression="zstd")
