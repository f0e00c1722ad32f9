"""What commands write to the terminal and to the log, and how they end the process."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from ..running.signals import WORK_REMAINS


def verbosity_option(reported: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that adds the option ``-v`` with this help to a command."""
    return click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=lambda ctx, param, count: configure_logging(count),
        help=reported,
    )


def configure_logging(count: int) -> None:
    """Show the ``fastcube`` logger's messages on standard error: INFO for 1, DEBUG from 2 on; 0 changes nothing."""
    if not count:
        return
    import logging

    logger = logging.getLogger("fastcube")
    logger.setLevel(min(logging.DEBUG if count > 1 else logging.INFO, logger.level or logging.CRITICAL))
    if not any(getattr(handler, "of_command_line", False) for handler in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s  %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"))
        handler.of_command_line = True  # type: ignore[attr-defined]
        handler.handleError = lambda record: None  # type: ignore[method-assign]  # a failed log message must stop nothing
        logger.addHandler(handler)


def is_logging_on() -> bool:
    """Whether messages of level INFO are logged, as after ``-v``; they would break a progress bar that rewrites its line."""
    if "logging" not in sys.modules:
        return False
    import logging

    return logging.getLogger("fastcube").isEnabledFor(logging.INFO)


def print_message(text: str) -> None:
    """Print a message to standard error, with unprintable characters escaped.

    If standard error cannot be written, nothing is lost and the exit status stays the same.
    """
    shown = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    with contextlib.suppress(OSError):
        click.echo(shown, err=True)


def line_width(otherwise: int = 120) -> int:
    """Return the line width of standard output in characters: the terminal's (or $COLUMNS), else ``otherwise``."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return max(20, shutil.get_terminal_size().columns)
    return otherwise


def table_width() -> int | None:
    """Return the width of a table in characters: the terminal's (or $COLUMNS), else None, for all columns."""
    return line_width(0) or None


def colour_text(text: str, colour: str) -> str:
    """Return the text in a colour, if the terminal has colours and $NO_COLOR is not set.  The words must suffice without."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if plain else click.style(text, fg=colour, bold=True)


def exit_process(code: int) -> NoReturn:
    """End the process at once with this exit status, without waiting for unfinished work."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def repeated_command() -> str:
    """Return the present command as typed, without ``--force``, which would discard the results."""
    from ..results.provenance import remove_force

    return shlex.join(["fastcube", *remove_force(sys.argv[1:])])


def exit_unfinished(code: int, kept: str, again: str | None = None) -> NoReturn:
    """Print why a command stops, what is ``kept`` and how to continue (:func:`repeated_command` unless given), and exit."""
    why = "work remains" if code == WORK_REMAINS else "interrupted"
    print_message(f"fastcube: {why}; {kept}; go on with: {again or repeated_command()}")
    exit_process(code)


def discard_output() -> None:
    """Discard all further output: its reader has ended, as in `fastcube show ... | head`, or it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
