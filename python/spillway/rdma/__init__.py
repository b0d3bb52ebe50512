"""Runs of the public RDMA simulator (HPCC's, on ns-3): its files in, completion times out."""

from __future__ import annotations

from spillway.rdma.source import Source, read_source
from spillway.rdma.translate import Translation, translate
from spillway.rdma.write import write

__all__ = ["Source", "Translation", "read_source", "translate", "write"]
