"""A driver beside a Ray cluster of two nodes on this machine, which loses workers and nodes.

    ray_here.py DIR [--apart] [--kill SECONDS] [--interrupt]

Prints what the engine tells, and at last "whole" or "interrupted".
"""

import argparse
import os
import signal
import threading
from pathlib import Path

from ray.cluster_utils import Cluster

import spillway
from experiment_here import asked, kill_one, workers
from spillway.experiment.engines import ray as engine
from spillway.experiment.engines import ray_remote


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--apart", action="store_true", help="nodes do not see the folder")
    parser.add_argument(
        "--kill",
        type=float,
        help="a node dies once workers are there, and every so many seconds a worker or node",
    )
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C when something is done")
    given = parser.parse_args()
    engine.POLL_S, engine.PART_S = 0.5, 2.0
    if given.apart:
        # It looks for the token where it is not.
        ray_remote.__dict__["in_place"] = apart
    cluster = Cluster()
    # The driver's own node cannot be lost; it computes nothing.
    cluster.add_node(num_cpus=0, object_store_memory=80 * 2**20)
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20) for _ in range(2)]
    os.environ["RAY_ADDRESS"] = cluster.address
    over = threading.Event()
    experiment = asked(given.folder)

    def kill() -> None:
        while not over.wait(0.02):
            if workers(given.folder):
                cluster.remove_node(nodes.pop(0), allow_graceful=False)
                print("killed a node", flush=True)
                nodes.append(cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20))
                if not over.wait(given.kill):
                    kill_one(given.folder)
                over.wait(given.kill)

    def interrupt() -> None:
        while not over.wait(0.1):
            if spillway.load(given.folder).done:
                os.kill(os.getpid(), signal.SIGINT)
                return

    busy = [threading.Thread(target=kill)] if given.kill else []
    busy += [threading.Thread(target=interrupt)] if given.interrupt else []
    for thread in busy:
        thread.start()
    try:
        experiment.run(on="ray", workers=2, told=lambda line: print(line, flush=True))
        print("whole")
    except spillway.Interrupted:
        print("interrupted")
    finally:
        over.set()
        for thread in busy:
            thread.join()
        cluster.shutdown()


def apart(folder, token, command):
    """Stands for a node without the shared disk."""


if __name__ == "__main__":
    main()
