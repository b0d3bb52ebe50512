"""What results hold, as the core tells it."""

from __future__ import annotations

import json
from typing import Any

from spillway.base import core

SCHEMA: dict[str, Any] = json.loads(core.result_schema())
STATUSES: tuple[str, ...] = tuple(SCHEMA["statuses"])
"""The statuses of runs, from the best to the worst."""
CLASSES: tuple[str, ...] = tuple(name for name in SCHEMA["classes"] if name != "all")
"""The classes of every scenario; those of its traffic sections come after them."""
TIERS: tuple[str, ...] = tuple(SCHEMA["tiers"])
"""The tiers that networks may have, from the hosts up."""
REASONS: tuple[str, ...] = tuple(SCHEMA["reasons"])
"""The reasons for losses; a summary has only those that occurred."""
TABLES: tuple[str, ...] = tuple(SCHEMA["tables"])
"""The tables that a run can record."""
ALWAYS: frozenset[str] = frozenset(SCHEMA["always"])
"""Those that every run records."""
