"""Who computes what, among processes that share a folder.

A claim is a file that only one can make. Its owner counts up in it while it is at work; the others
watch whether the count moves, by clocks of their own, since those of two machines differ. A claim
whose count stands still for long, or whose process was on this machine and has ended, is taken over
by renaming it, which only one process can do.
"""

from __future__ import annotations

import errno
import functools
import os
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

BEAT_S = 5.0
"""How often an owner counts up."""
STALE_S = 60.0
"""The time without counting after which a claim is taken over."""


class Claims:
    """The claims of one process, and what it has seen of others'."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.owner = secrets.token_hex(8)
        self._process = f"{_machine()} {os.getpid()} {_began('self')}"
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._own: dict[str, Path] = {}
        self._seen: dict[str, tuple[bytes, float]] = {}
        self._count = 0
        self._over = threading.Event()
        self._beats: threading.Thread | None = None

    def take(self, key: str) -> bool:
        """Claims a key for this process. Returns False if another one has it.

        Raises `OSError` if the folder cannot be written to.
        """
        file = self._folder / key
        if not self._made(file) and not self._take_over(key, file):
            return False
        with self._lock:
            self._own[key] = file
            self._seen.pop(key, None)
            if self._beats is None:
                self._beats = threading.Thread(target=self._beat, daemon=True)
                self._beats.start()
        return True

    def others(self) -> list[str]:
        """The claimed keys, except those of processes of this machine that have ended."""
        found = []
        with suppress(FileNotFoundError):
            for file in self._folder.iterdir():
                content = file.read_bytes()
                is_own = content.startswith(self.owner.encode())
                if not is_own and not _is_gone(content) and not file.name.startswith("."):
                    found.append(file.name)
        return found

    def release(self, key: str) -> None:
        """Lets go of a key: it is done, or is left to others."""
        with self._lock:
            file = self._own.pop(key, None)
        if file is not None:
            with suppress(OSError):
                self._set_aside(file, lambda content: content.startswith(self.owner.encode()))

    def close(self) -> None:
        """Lets go of all keys; others may be taken later."""
        for key in list(self._own):
            self.release(key)
        if self._beats is not None:
            self._over.set()
            self._beats.join()
            self._over.clear()
            self._beats = None

    def _text(self) -> bytes:
        return f"{self.owner} {self._count:020} {self._process}\n".encode()

    def _made(self, file: Path) -> bool:
        """Makes the claim if there is none. Returns whether it did."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            claim = os.open(file, flags, 0o644)
        except FileExistsError:
            return False
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._made(file)
        try:
            os.write(claim, self._text())
        except OSError:
            # Nobody could tell whose it is.
            file.unlink(missing_ok=True)
            raise
        finally:
            os.close(claim)
        return True

    def _stale(self, key: str, file: Path) -> bytes | None:
        """The claim's content, if its owner is gone or has not counted up for long."""
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return None
        if _is_gone(content):
            return content
        now = self._clock()
        before, since = self._seen.get(key, (None, now))
        if content != before:
            self._seen[key] = content, now
            return None
        return content if now - since >= STALE_S else None

    def _take_over(self, key: str, file: Path) -> bool:
        """Replaces a stale claim by one of this process. Returns whether it did."""
        stale = self._stale(key, file)
        if stale is None:
            return False
        return self._set_aside(file, lambda content: content == stale) and self._made(file)

    def _set_aside(self, file: Path, is_it: Callable[[bytes], bool]) -> bool:
        """Removes the claim if its content is the expected one, not that of a newer claim."""
        aside = self._folder / f".{secrets.token_hex(8)}"
        try:
            file.rename(aside)
        except OSError as error:
            if not isinstance(error, FileNotFoundError) and error.errno != errno.ESTALE:
                raise
            # NFS may report a failure although the rename was done: what is there decides.
            if not aside.exists():
                return False
        was_it = is_it(aside.read_bytes())
        if not was_it:
            with suppress(OSError):
                os.link(aside, file)
        with suppress(OSError):
            aside.unlink()
        return was_it

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            with self._lock:
                self._count += 1
                for file in self._own.values():
                    with suppress(OSError), file.open("r+b") as claim:
                        # A claim that was taken over meanwhile is its new owner's.
                        if claim.read(len(self.owner)) == self.owner.encode():
                            claim.seek(0)
                            claim.write(self._text())


@functools.cache
def _machine() -> str:
    """The machine's last start, and the container: within both, process numbers are unique."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    return "-"


def _began(process: str) -> str | None:
    """When a process began, in the kernel's ticks; None if that cannot be seen."""
    try:
        # The name of the program, in parentheses, may hold anything.
        fields = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return "over" if fields[0] in "ZX" else fields[19]


def _is_gone(claim: bytes) -> bool:
    """Whether the claim is of a process of this machine that has ended."""
    fields = claim.decode(errors="replace").split()
    if len(fields) != 5 or fields[2] != _machine() or fields[2] == "-":
        return False
    began = _began(fields[3])
    if began is not None:
        return began != fields[4]
    try:
        # The process may exist, and be hidden from this user.
        os.kill(int(fields[3]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        pass
    return False
