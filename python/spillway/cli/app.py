"""The program to which the commands belong."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from spillway.base import core
from spillway.base.arguments import plain_float, plain_int
from spillway.base.errors import (
    PluginError,
    ScenarioError,
    ScenarioWarning,
    SpillwayError,
    UncheckedWarning,
)
from spillway.base.extensions import GET_STUDIES
from spillway.cli.output import CUT_OFF, FAILED, INTERRUPTED, WRONG, say

_FIRST = (
    *("run", "compare", "tune", "arena", "show", "list", "explain", "flows", "schema", "report"),
    *(
        "reproduce",
        "oracle",
        "bounds",
        "work",
        "acc",
        "slotted",
        "fluid",
        "thresholds",
        "import",
        "export",
    ),
)
"""The order in the help, which is that in which a user needs them."""


class _Commands(TyperGroup):
    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """The commands in the order of the help."""
        names = super().list_commands(ctx)
        return [*_FIRST, *(name for name in names if name not in _FIRST)]


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A packet-level simulator of datacenter switches: how they share their buffer, mark and "
    "drop, schedule, and what that does to flow completion times.",
)


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"spillway {core.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def names() -> set[str]:
    """The names of the commands, and of groups of commands, that there are by now."""
    own = {each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands}
    return own | {str(each.name) for each in app.registered_groups}


def missing(name: str) -> None:
    """Adds a command of the studies, which says how they are installed."""

    @app.command(
        name,
        help="Of the extra papers, which is not installed.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        add_help_option=False,
    )
    def say_so() -> None:
        raise SpillwayError(f"{name} is a command of the extra papers", GET_STUDIES)


def invoke(arguments: list[str]) -> int:
    """Runs a command and returns its exit status."""
    warnings.simplefilter("once", ScenarioWarning)
    warnings.showwarning = _show_warning
    try:
        status = _program()(arguments, prog_name="spillway", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = "spillway" if context is None else context.command_path
        return _complain(WRONG, error.format_message(), f"`{command} --help` says how it is used")
    except ScenarioError as error:
        return _complain(WRONG, str(error), _hint(error) or _where_to_look(error.path))
    except PluginError as error:
        _show_cause(error)
        return _complain(FAILED, str(error), None)
    except SpillwayError as error:
        return _complain(FAILED, str(error), _hint(error))
    except BrokenPipeError:
        return _cut_off()
    except OSError as error:
        return _complain(FAILED, str(error), "is there room on the disk, and may you write there?")
    except SystemExit as error:
        # Rich turns a broken pipe into an exit.
        if isinstance(error.__context__, BrokenPipeError):
            return _cut_off()
        return _complain(FAILED, "something has ended the program", "does a plug-in do so?")
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        hint = "this is a mistake in Spillway: please report it, with the scenario"
        return _complain(FAILED, f"the run has failed: {error}", hint)
    if status == INTERRUPTED:
        say("interrupted")
    return status if isinstance(status, int) else 0


@cache
def _program() -> Any:
    """The command with all those below it, once their modules have been imported."""
    program = get_command(app)
    _want_plain_numbers(program)
    return program


def _want_plain_numbers(command: Any) -> None:
    """Makes the options of a command, and of those below it, take numbers in plain digits alone."""
    for each in command.params:
        kind = each.type_descriptor.annotation
        if kind in (int, float):
            each.process_value = partial(_of_plain, each, kind, each.process_value)
    for below in getattr(command, "commands", {}).values():
        _want_plain_numbers(below)


def _of_plain(option: Any, kind: type, process: Any, context: Any, value: object) -> Any:
    """An option's value, in plain digits: Typer also takes `1_000`, blanks, and other digits."""
    if isinstance(value, str):
        try:
            if value != value.strip():
                raise ValueError(value)
            value = plain_int(value) if kind is int else plain_float(value)
        except ValueError:
            what = "whole number" if kind is int else "number"
            raise typer.BadParameter(f"{value!r} is no {what}", context, option) from None
    return process(context, value)


def _cut_off() -> int:
    """Ends quietly when the reader of the output has gone, as with `| head`."""
    # Output that is still buffered would fail again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CUT_OFF


def _hint(error: SpillwayError) -> str | None:
    return error.typed or error.hint


def _complain(status: int, text: str, hint: str | None) -> int:
    say(f"error: {text}")
    if hint:
        say(f"\nhint: {hint}")
    return status


def _show_cause(error: PluginError) -> None:
    """Prints the traceback of a plug-in's exception, beginning with the plug-in's own code."""
    cause = error.__cause__
    if cause is None:
        return
    ours = str(Path(__file__).parent.parent)
    trace = cause.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((ours, "<frozen")):
        trace = trace.tb_next
    say("".join(traceback.format_exception(type(cause), cause, trace)))


def _where_to_look(path: str) -> str | None:
    """A command that tells more about the key at this path, if it is one."""
    if not path:
        return None
    steps = path.split(".")
    rooms = ("sharing", "aqm", "scheduling", "recovery", "tagging", "topology", "transport")
    for room in (*rooms, "traffic"):
        if room in steps:
            return f"`spillway list {room}` tells what its keys take"
    return "`spillway show leaf-spine-128` shows a whole scenario, every key written out"


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    kind = "note" if isinstance(message, UncheckedWarning) else "warning"
    say(f"{kind}: {message}")
