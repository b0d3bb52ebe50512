"""Steps of the environment in a second of CPU time: python bench/gym.py.

The scenario is `pred-incast` with RED; a step is 206 us, five base RTTs. An action is one of 252
rows of `min`, `max` and `max_probability` at the port of the receiver, drawn at random; eight
signals are observed. Episodes have 1,000 steps and begin at a copied state.
"""

import statistics
import time

import numpy as np

from spillway.learning.gym import NetworkEnv, Table

PORT = "switch.leaf0.port.0"
QUEUE = ("mean_queue_bytes", "queue_bytes", "sent_bytes", "marked_bytes", "marked_packets")
PROBABILITIES = (0.01, *(percent / 100 for percent in range(5, 101, 5)))
ROWS = [
    (f"{low}pkt", f"{high}pkt", probability)
    for low in (2, 4, 8, 16)
    for high in (20, 50, 100)
    for probability in PROBABILITIES
]
STEPS, ROUNDS = 10_000, 5


def environment() -> NetworkEnv:
    """The environment that is measured."""
    signals = {name: f"{PORT}.{name}" for name in (*QUEUE, "dropped_packets")}
    signals |= {name: name for name in ("flows_completed", "delivered_bytes")}
    return NetworkEnv(
        "pred-incast",
        set=["switch.aqm=red", "duration=1s"],
        actions=Table(["aqm.min", "aqm.max", "aqm.max_probability"], ROWS),
        at=PORT,
        signals=signals,
        reward="0.4 * sum(sent_bytes) / 257500 - 0.6 * sum(mean_queue_bytes) / 500000",
        interval="206us",
        begin="10ms",
        steps=1000,
    )


def main() -> None:
    """Measures, and prints the median and the range."""
    env = environment()
    random = np.random.default_rng(1)
    env.reset(seed=1)
    rates = []
    for _ in range(ROUNDS):
        actions = random.integers(len(ROWS), size=STEPS).tolist()
        begin = time.process_time()
        for action in actions:
            *_, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        rates.append(STEPS / (time.process_time() - begin))
    low, high = min(rates), max(rates)
    print(f"{statistics.median(rates):,.0f} steps a CPU second ({low:,.0f} to {high:,.0f})")


if __name__ == "__main__":
    main()
