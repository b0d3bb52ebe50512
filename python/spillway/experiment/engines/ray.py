"""Workers as tasks of a Ray cluster.

Where a node shares the experiment's folder, its workers compute there like any others. As soon as
one node turns out not to share it, work is given out in parts instead: a node gets the experiment's
files and some keys, works in a copy, and sends back what it has written. The driver claims these
keys, so that nobody else computes them meanwhile.
"""

from __future__ import annotations

import logging
import math
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import whole_file
from spillway.base.interrupts import SIGNALS, deferred
from spillway.experiment.engines import Left, Told, last_lines, ray_remote, untold
from spillway.experiment.engines.ray_remote import RESULTS, RUNS, Answer
from spillway.experiment.engines.slurm import OUTPUTS
from spillway.experiment.work import whole_folder
from spillway.tasks.claims import Claims
from spillway.tasks.segment import END, made, sync

POLL_S = 2.0
"""The time between two looks at what is left."""
SETTLE_S = 60.0
"""How long results of a worker that has ended may take to be seen: NFS keeps folders this long."""
PART_S = 60.0
"""How long a node should compute before it sends results."""
END_S = 30.0
"""How long workers may take to end."""
LOST_MOST = 5
"""How often each worker may vanish while nothing is done."""


def run(
    folder: Path,
    command: Sequence[str],
    left: Left,
    *,
    workers: int,
    cores: int,
    address: str = "auto",
    told: Told = untold,
) -> bool:
    """Has nodes run `command` until no key is left. Returns whether none is.

    There are `workers` workers, each with `cores` cores.

    In `command` the part "python" stands for the Python that Ray uses on a node, and the absolute
    path of `folder` for wherever its copy is. Where the disk is not shared "--only FILE" is added,
    a file of keys, one a line. Workers whose node or process vanishes are started again. Ctrl-C
    ends them and gives False.

    Raises `ScenarioError` if Ray is not installed or no cluster answers at `address`, and
    `SpillwayError` if workers end without doing anything.
    """
    with _cluster(address) as ray, _token(folder) as token:
        crowd = _Workers(ray, folder.absolute(), token, command, left, workers, cores, told)
        try:
            crowd.run()
        except KeyboardInterrupt:
            return False
        except ConnectionError as error:
            raise SpillwayError(f"the Ray cluster does not answer: {error}") from error
        finally:
            with deferred():
                crowd.end()
    return True


class _Workers:
    """The workers of a call: at most `workers` at once. One that does well may be started again."""

    def __init__(
        self,
        ray: Any,
        folder: Path,
        token: str,
        command: Sequence[str],
        left: Left,
        workers: int,
        cores: int,
        told: Told,
    ) -> None:
        self._ray = ray
        self._folder = folder
        self._token = token
        self._command = list(command)
        self._left = left
        self._workers = workers
        self._cores = cores
        self._told = told
        remote = ray.remote(num_cpus=cores, max_retries=0, scheduling_strategy="SPREAD")
        self._in_place = remote(ray_remote.in_place)
        self._in_copy = remote(ray_remote.in_copy)
        self._files: Any = None
        """The experiment's files, in Ray's store; None as long as all nodes share the disk."""
        self._claims = Claims(folder / RESULTS / ray_remote.CLAIMS)
        self._at_work: dict[Any, list[str]] = {}
        """The keys given to each worker; an empty list for a worker that uses the shared folder."""
        self._part = cores
        """How many keys a node is given."""
        self._closed = 0
        """Workers that are not started again before the others have ended too."""
        self._least = math.inf
        """The number of keys left when it last fell."""
        self._since = time.monotonic()
        """When that was, or when a worker was last at work."""
        self._lost = 0
        """Workers that have vanished since."""
        self._said = ""

    def run(self) -> None:
        """Ends when nothing is left."""
        nodes = [node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]]
        self._told(f"Ray: {len(nodes)} nodes with {sum(nodes):g} CPUs")
        if max(nodes, default=0) < self._cores:
            self._told(f"Ray: workers wait for a node with {self._cores} CPUs")
        begun = math.inf
        while keys := list(self._left()):
            if len(keys) < self._least:
                self._least, self._since, self._lost = len(keys), time.monotonic(), 0
            is_waiting = self._start(keys)
            if self._at_work:
                ready, _ = self._ray.wait(list(self._at_work), timeout=POLL_S)
                for each in ready:
                    self._take(each)
                self._since = time.monotonic()
                continue
            if not is_waiting and len(keys) < begun:
                # Something was done since all were started, so workers may do well again.
                begun, self._closed = len(keys), 0
                continue
            if not is_waiting and time.monotonic() - self._since > SETTLE_S:
                raise SpillwayError(
                    f"the workers have ended without a result:\n{self._said or '(no output)'}"
                )
            time.sleep(POLL_S)

    def end(self) -> None:
        """Ends the workers; where nothing is left they end by themselves."""
        refs = list(self._at_work)
        with suppress(Exception):
            if refs and not self._left():
                _, refs = self._ray.wait(refs, num_returns=len(refs), timeout=END_S)
        with suppress(Exception):
            for each in refs:
                self._ray.cancel(each)
            if refs:
                self._ray.wait(refs, num_returns=len(refs), timeout=END_S)
        self._claims.close()

    def _start(self, keys: Sequence[str]) -> bool:
        """Starts the missing workers.

        Returns whether others have claimed all keys that are left.
        """
        missing = min(self._workers, len(keys)) - self._closed - len(self._at_work)
        if self._files is None:
            for _ in range(missing):
                ref = self._in_place.remote(str(self._folder), self._token, self._command)
                self._at_work[ref] = []
            return False
        given = {key for part in self._at_work.values() for key in part}
        free = [key for key in keys if key not in given]
        size = max(1, min(self._part, math.ceil(len(free) / self._workers)))
        free.reverse()
        for number in range(missing):
            part: list[str] = []
            while free and len(part) < size:
                key = free.pop()
                if self._claims.take(key):
                    part.append(key)
            if not part:
                return number == 0
            ref = self._in_copy.remote(str(self._folder), self._command, self._files, part)
            self._at_work[ref] = part
        return False

    def _take(self, ref: Any) -> None:
        """Takes over what a worker has written."""
        keys = self._at_work.pop(ref)
        errors = self._ray.exceptions
        try:
            answer: Answer | None = self._ray.get(ref)
            if answer is None:
                self._travel()
                return
            _put(self._folder, answer.files)
            if answer.status != 0:
                self._fail(f"status {answer.status}: {last_lines(answer.said)}")
            elif keys:
                fit = len(keys) * PART_S / max(answer.seconds, 0.1)
                self._part = max(1, min(2 * len(keys), int(fit)))
            else:
                self._closed += 1
        except errors.RayTaskError as error:
            self._fail(last_lines(str(error), 1))
        except errors.RayError as error:
            self._lost += 1
            text = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            if self._lost > LOST_MOST * self._workers:
                raise SpillwayError(f"workers vanish, and nothing is done: {text}") from error
            self._told(f"Ray: a worker has vanished, and is started again ({text})")
        finally:
            # Claims go last: by then others can see the results.
            for key in keys:
                self._claims.release(key)

    def _fail(self, said: str) -> None:
        self._closed += 1
        self._said = said
        self._told(f"Ray: a worker has ended with {said}")

    def _travel(self) -> None:
        """From now on nodes are sent files."""
        if self._files is not None:
            return
        self._told("Ray: not all nodes share the disk, so files are sent to and fro")
        files = {
            file.relative_to(self._folder).as_posix(): file.read_bytes()
            for file in sorted(self._folder.rglob("*"))
            if file.relative_to(self._folder).parts[0] not in (RESULTS, RUNS, OUTPUTS, self._token)
            and file.is_file()
        }
        self._files = self._ray.put(files)


def _put(folder: Path, files: dict[str, bytes]) -> None:
    """Puts a node's files into the experiment; records last: they say that the others are there."""
    runs: dict[str, dict[str, bytes]] = {}
    for name, content in files.items():
        parts = PurePosixPath(name).parts
        if parts[0] == RUNS and len(parts) > 2:
            runs.setdefault(parts[1], {})["/".join(parts[2:])] = content
    for name, inside in runs.items():
        if not (folder / RUNS / name).exists():
            with whole_folder(folder / RUNS / name) as partial:
                ray_remote.write(partial, inside)
    rest = [name for name in files if PurePosixPath(name).parts[1] not in runs]
    for name in sorted(rest, key=lambda name: name.endswith(END)):
        made((folder / name).parent)
        with whole_file(folder / name) as partial:
            partial.write_bytes(files[name])
            sync(partial)
        sync((folder / name).parent)


@contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster."""
    try:
        import ray
    except ImportError as error:
        raise ScenarioError("Ray is not installed", "pip install 'spillway[ray]'") from error
    is_ours = not ray.is_initialized()
    ray.cloudpickle.register_pickle_by_value(ray_remote)
    # Ray has a handler of its own, for which SIGTERM is no Ctrl-C.
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        if is_ours:
            _connect(ray, address)
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)
        yield ray
    finally:
        ray.cloudpickle.unregister_pickle_by_value(ray_remote)
        if is_ours:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError as error:
        raise ScenarioError(
            f"no Ray cluster answers at {address!r}",
            "`ray start --head` starts one, and its output says how other machines join",
        ) from error
    except (RuntimeError, ValueError, ImportError) as error:
        # Such as another version of Ray or of Python than the cluster's.
        raise ScenarioError(f"Ray at {address!r}: {error}") from error


@contextmanager
def _token(folder: Path) -> Iterator[str]:
    """The name of a file in the folder, by which nodes tell whether they share it."""
    name = f".shared-{secrets.token_hex(8)}"
    (folder / name).touch()
    try:
        yield name
    finally:
        (folder / name).unlink(missing_ok=True)
