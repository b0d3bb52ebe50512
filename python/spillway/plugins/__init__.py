"""Plug-ins: sharing policies, AQMs, schedulers, congestion controllers, loss recoveries, taggers.

    from spillway.plugins import Sharing

    class Half(Sharing):
        id = "half"

        def admit(self, arrival, buffer):
            return buffer.bytes(arrival.queue) + arrival.size <= buffer.free / 2

    spillway.run("credence", plugins=[Half], set=["switch.sharing=half"])

Each is a class that derives from `Sharing`, `Aqm`, `Scheduler`, `CongestionControl`, `Recovery` or
`Tagger` and has an `id`, by which scenarios name it. Its annotated attributes are its parameters:
keys of the scenario, with defaults.
"""

from spillway.base.core import (
    Access,
    Ack,
    Arrival,
    Backlog,
    Buffer,
    Departure,
    Drop,
    Flight,
    Hop,
    Packet,
    PushOut,
    Reaction,
    Switch,
    Verdict,
    Waiting,
    Window,
)
from spillway.plugins.base import (
    Aqm,
    CongestionControl,
    Plugin,
    Recovery,
    Scheduler,
    Sharing,
    Tagger,
)
from spillway.plugins.description import Description, describe, describe_all
from spillway.plugins.files import Plugins, load, plugins_of

__all__ = [
    "Access",
    "Ack",
    "Aqm",
    "Arrival",
    "Backlog",
    "Buffer",
    "CongestionControl",
    "Departure",
    "Description",
    "Drop",
    "Flight",
    "Hop",
    "Packet",
    "Plugin",
    "Plugins",
    "PushOut",
    "Reaction",
    "Recovery",
    "Scheduler",
    "Sharing",
    "Switch",
    "Tagger",
    "Verdict",
    "Waiting",
    "Window",
    "describe",
    "describe_all",
    "load",
    "plugins_of",
]
