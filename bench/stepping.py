"""What halting, copying, looking and setting cost: python bench/stepping.py.

Milliseconds and microseconds of CPU time, medians of several rounds with the least and the
greatest; memory of a copy, from what the process holds with two hundred of them.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import spillway
from spillway import Simulation

ROUNDS, COPIES = 5, 200
PORT = "switch.leaf0.port.0"
OF_PORT = ("mean_queue_bytes", "queue_bytes", "sent_bytes", "marked_bytes", "marked_packets")
SIGNALS = [f"{PORT}.{name}" for name in (*OF_PORT, "dropped_packets")]
SIGNALS += ["flows_completed", "delivered_bytes"]
EVERYWHERE = [name.replace(f"{PORT}.", "switch.") for name in SIGNALS]
NUMBERS = {f"{PORT}.aqm.min": "8pkt", f"{PORT}.aqm.max": "50pkt", f"{PORT}.aqm.max_probability": 1}
INCAST = ["switch.aqm=red", "duration=1s"]
FABRIC = ["duration=20ms"]
HALTS = range(10_000_000, 20_000_000_000, 10_000_000)


def seconds(work: Callable[[], object], times: int = 1) -> list[float]:
    """The CPU time of doing something once, in each round of so many."""
    found = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - begin) / times)
    return found


def told(what: str, found: list[float], unit: str, scale: float) -> None:
    """Prints the median and the range."""
    middle, low, high = (scale * f(found) for f in (statistics.median, min, max))
    print(f"{what}: {middle:.3g} {unit} ({low:.3g} to {high:.3g})")


def held_mb() -> float:
    """What the process holds in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def copies(name: str, settings: list[str], at: str) -> None:
    """Copies of a run that has come to this time."""
    run = Simulation(name, set=settings)
    run.run_until(at)
    kept: list[Simulation] = []
    # Copies are kept, so that each has memory of its own.
    told(f"{name}: a copy", seconds(lambda: kept.append(run.copy()), COPIES), "ms", 1e3)
    before = held_mb()
    kept = [*kept, *(run.copy() for _ in range(COPIES))]
    print(f"{name}: memory of a copy: {(held_mb() - before) / COPIES:.2g} MB")


def stepped() -> None:
    """A whole run that halts every 10 us."""
    run = Simulation("leaf-spine-128", set=FABRIC)
    for moment in HALTS:
        if not run.run_until(moment):
            break
    run.finish()


def main() -> None:
    """Measures, and prints."""
    copies("pred-incast", INCAST, "10ms")
    copies("leaf-spine-128", FABRIC, "10ms")
    fabric = Simulation("leaf-spine-128", set=FABRIC, signals=EVERYWHERE)
    fabric.run_until("10ms")
    looks = seconds(lambda: fabric.observe(EVERYWHERE), 2000)
    told("leaf-spine-128: a look at eight signals, six of all ports", looks, "us", 1e6)
    run = Simulation("pred-incast", set=INCAST, signals=SIGNALS)
    run.run_until("10ms")
    told(
        "pred-incast: a look at eight signals",
        seconds(lambda: run.observe(SIGNALS), 2000),
        "us",
        1e6,
    )
    told("pred-incast: to set three numbers", seconds(lambda: run.set(NUMBERS), 500), "us", 1e6)
    whole = seconds(lambda: spillway.run("leaf-spine-128", set=FABRIC))
    can_halt = seconds(lambda: Simulation("leaf-spine-128", set=FABRIC).finish())
    halts = seconds(stepped)
    base = statistics.median(whole)
    told("leaf-spine-128: in one go", whole, "s", 1)
    told(
        "leaf-spine-128: a run that could halt, over it", [each / base for each in can_halt], "", 1
    )
    told("leaf-spine-128: with a halt every 10 us, over it", [each / base for each in halts], "", 1)


if __name__ == "__main__":
    main()
