"""The references by their names, with the options that have no meaning for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from spillway_studies.references.abm import abm
from spillway_studies.references.aqm import aqm
from spillway_studies.references.credence import credence
from spillway_studies.references.linux import linux
from spillway_studies.references.occamy import occamy
from spillway_studies.references.pfabric import pfabric
from spillway_studies.references.pias import pias
from spillway_studies.references.rdma import rdma
from spillway_studies.references.validation import Validation

Compare: TypeAlias = Callable[..., Validation]
"""Takes the folder, the number of jobs, and every option that is not refused."""
_NO_OTHERS = {"others": "nothing else is known of {name}"}
_ONE_WAY = dict.fromkeys(("paths", "differences"), "{name} is compared in one way alone")
REFERENCES: Mapping[str, tuple[Compare, Mapping[str, str]]] = {
    "abm": (abm, {}),
    "aqm": (
        aqm,
        _NO_OTHERS
        | {
            "paths": "between any two hosts of {name} there is one",
            "differences": "no changes are listed for {name}",
        },
    ),
    "credence": (credence, _NO_OTHERS),
    "linux": (linux, _NO_OTHERS | _ONE_WAY),
    "occamy": (occamy, _NO_OTHERS | _ONE_WAY),
    "pfabric": (pfabric, _NO_OTHERS | _ONE_WAY),
    "pias": (pias, _NO_OTHERS),
    "rdma": (rdma, _NO_OTHERS | {"paths": "the paths of {name} are known"}),
}
"""By name: the function that compares, and why it refuses options; `{name}` is the reference."""
