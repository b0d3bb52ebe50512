"""Runs of the public RDMA simulator (HPCC's, on ns-3): its files in, completion times out."""

from __future__ import annotations

from spillway.formats.rdma.export import Exported, export
from spillway.formats.rdma.source import Source, read_source
from spillway.formats.rdma.translate import Translation, translate
from spillway.formats.rdma.write import check, files_of, write

__all__ = [
    "Exported",
    "Source",
    "Translation",
    "check",
    "export",
    "files_of",
    "read_source",
    "translate",
    "write",
]
