"""`python -m spillway`: the command line."""

from spillway.cli import main

main()
