"""PIAS as a plug-in: a flow sinks as it sends."""

from itertools import pairwise
from typing import Annotated

from spillway.plugins import Packet, Tagger


class MyPias(Tagger):
    """PIAS: the first level whose threshold a flow has not passed."""

    id = "my-pias"
    thresholds: Annotated[
        tuple[int, ...], "bytes that a flow may have sent in each level but the last"
    ] = (100_000, 1_000_000)
    resets_after = 3

    @property
    def levels(self) -> int:  # type: ignore[override]
        """One more than there are thresholds."""
        return len(self.thresholds) + 1

    def start(self) -> None:
        """Refuses thresholds that do not rise."""
        if any(high <= low for low, high in pairwise(self.thresholds)):
            raise ValueError(f"the thresholds {list(self.thresholds)} do not rise")

    def level(self, packet: Packet) -> int:
        """The first i with what was sent before the packet <= threshold i."""
        passed = sum(packet.sent > threshold for threshold in self.thresholds)
        return passed + 1
