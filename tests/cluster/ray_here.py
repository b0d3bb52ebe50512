"""A driver beside a Ray cluster of two nodes on this machine, which loses one now and then.

    ray_here.py DIR WORKERS [--apart] [--kill SECONDS] [--interrupt]

Prints what the engine tells, and at last "result True" or "result False".
"""

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

import worker
from spillway.errors import SpillwayError
from spillway.experiments.engines import ray as engine
from spillway.experiments.engines import ray_remote

SCRIPT = str(Path(__file__).with_name("worker.py"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("workers", type=int)
    parser.add_argument("--apart", action="store_true", help="nodes do not see the folder")
    parser.add_argument("--kill", type=float, help="every so many seconds a node dies")
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C when something is done")
    given = parser.parse_args()
    engine.POLL_S, engine.SETTLE_S, engine.PART_S = 0.3, 2.0, 2.0
    if given.apart:
        # It looks for the token where it is not.
        ray_remote.__dict__["in_place"] = apart
    cluster = Cluster()
    # The driver's own node cannot be lost; it computes nothing.
    cluster.add_node(num_cpus=0, object_store_memory=80 * 2**20)
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20) for _ in range(2)]
    over = threading.Event()

    def kill() -> None:
        while not over.wait(given.kill):
            cluster.remove_node(nodes.pop(0), allow_graceful=False)
            print("killed a node", flush=True)
            nodes.append(cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20))

    if given.kill:
        killer = threading.Thread(target=kill)
        killer.start()
    if given.interrupt:
        threading.Thread(target=interrupt, args=(given.folder,), daemon=True).start()
    begin = time.monotonic()

    def told(line: str) -> None:
        print(f"{time.monotonic() - begin:.1f} {line}", flush=True)

    try:
        done = engine.run(
            given.folder,
            ["python", SCRIPT, str(given.folder)],
            lambda: worker.left(given.folder),
            workers=given.workers,
            cores=1,
            address=cluster.address,
            told=told,
        )
        told("ended")
        print(f"result {done}")
    except SpillwayError as error:
        print(f"error {error}")
    finally:
        over.set()
        if given.kill:
            killer.join()
        assert not ray.is_initialized()
        cluster.shutdown()


def interrupt(folder: Path) -> None:
    everything = len(worker.left(folder))
    while len(worker.left(folder)) == everything:
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


def apart(folder, token, command):
    """Stands for a node without the shared disk."""


if __name__ == "__main__":
    sys.exit(main())
