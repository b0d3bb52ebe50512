"""A Slurm of one node, all of it in a folder."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
_SETTINGS = """
ClusterName=spillway
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmctldPort={controller}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MinJobAge=30
SchedulerParameters=batch_sched_delay=1,sched_interval=2
MaxArraySize={most}
ReturnToService=2
KillWait=5
SlurmctldTimeout=10
SlurmdTimeout=10
BatchStartTimeout=1
NodeName={host} NodeAddr=127.0.0.1 Port={node} CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The programs of Slurm that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


class Slurm:
    """The two daemons, as processes of ours, and the environment that finds them."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder = folder
        self._settings = folder / "slurm.conf"
        self._settings.write_text(
            _SETTINGS.format(
                host=socket.gethostname().partition(".")[0],
                user=getpass.getuser(),
                folder=folder,
                most=most,
                controller=_free_port(),
                node=_free_port(),
            )
        )
        (folder / "spool").mkdir()
        (folder / "state").mkdir()
        self.environment = {**os.environ, "PATH": _path(), "SLURM_CONF": str(self._settings)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        """Starts a daemon."""
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [name, "-D"], env=self.environment, stdout=log, stderr=log
            )

    def kill(self, name: str) -> None:
        """Ends a daemon as a crash would."""
        daemon = self._running.pop(name)
        daemon.kill()
        daemon.wait()

    def ask(self, *command: str) -> str:
        """The output of a command of Slurm."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def wait(self) -> None:
        """Waits until jobs can run."""
        until = time.monotonic() + 60
        while True:
            done = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env=self.environment, capture_output=True, text=True
            )
            if done.stdout.strip() in ("idle", "mixed", "allocated"):
                return
            assert time.monotonic() < until, self.logs()
            time.sleep(0.2)

    def logs(self) -> str:
        return "\n".join(log.read_text()[-3000:] for log in self._folder.glob("*.log"))

    def end(self) -> None:
        subprocess.run(["scancel", "--name=spillway"], env=self.environment, timeout=60)
        for name in list(self._running):
            self._running[name].terminate()
        for name in list(self._running):
            try:
                self._running[name].wait(20)
            except subprocess.TimeoutExpired:
                self.kill(name)


@contextmanager
def running(folder: Path, most: int = 1001) -> Iterator[Slurm]:
    """A Slurm whose arrays have fewer than `most` jobs."""
    slurm = Slurm(folder, most)
    try:
        slurm.start("slurmctld")
        slurm.start("slurmd")
        slurm.wait()
        yield slurm
    finally:
        slurm.end()


def _path() -> str:
    """Debian has daemons where only root looks."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
