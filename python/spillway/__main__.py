"""The command line, for `python -m spillway` and `spillway`."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Runs the command line and exits.

    0: done, 1: failed, 2: wrong input, 130: interrupted, 141: the reader of its output has gone.
    """
    try:
        # The import takes a moment, in which Ctrl-C may come too.
        from spillway.cli import invoke

        status = invoke(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
