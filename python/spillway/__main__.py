"""The command line, for `python -m spillway` and `spillway`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line and exits.

    0: done, 1: failed, 2: wrong input, 130: interrupted, by Ctrl-C or SIGTERM, 141: the reader of
    its output has gone.
    """
    if not _has_streams():
        sys.exit(2)
    try:
        # The import takes a moment, in which Ctrl-C may come too.
        from spillway.base.interrupts import ends_as_ctrl_c

        ends_as_ctrl_c()
        from spillway.cli import invoke

        status = invoke(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        status = 130
    sys.exit(status)


def _has_streams() -> bool:
    """Puts something in the place of streams that are closed, which files would take otherwise.

    Without an output there is nobody to tell the result to.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        text = "error: standard output is closed\n\nhint: `> /dev/null` takes what nobody reads\n"
        if sys.stderr is not None:
            sys.stderr.write(text)
        return False
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    return True


if __name__ == "__main__":
    main()
