"""The command line.  Each command lives in a module of its own and is imported when it is called.

Data goes to standard output, talk to standard error.  Exit 0: done; 1: ``status`` found trials missing, ``diff`` a
difference, or deciding a claim failed; 2: usage or bad input, one line, no traceback; 75: in order, work remains, run
again; 129, 130 and 143: interrupted, checkpoint written.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import shutil
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import click

from ..errors import FastcubeError, plain_text, suggest_name
from ..running.signals import WORK_REMAINS, own_process

#: One line of help a command, here so that ``--help`` imports none of them.
COMMANDS = {
    "list": "Studies, with their source and grids.",
    "run": "Run a study; resume it when its output exists.",
    "show": "Print results as a table, CSV or JSON.",
    "plot": "Draw the paper's figure from results.",
    "reliability": "A network's reliability polynomial, from a survival file.",
    "diff": "Two results beside each other: what differs by more than chance.",
    "merge": "Add results of disjoint trials, exactly.",
    "status": "Trials done, wanted and missing; what to resubmit.",
    "replay": "Show one trial in full.",
    "reproduce": "Everything that the papers print, measured, in one report.",
    "faults": "Write trials' own fault sets as CSV.",
    "evaluate": "Run a study's algorithm on fault sets from CSV.",
    "claims": "The papers' claims, decided by code.",
    "slurm": "Print a job-array script (does not submit).",
    "warmup": "Compile a study's kernels ahead of a job array.",
    "info": "Environment and cache folder; identity and digest of a file.",
    "cite": "BibTeX of fastcube, and of the paper of a study.",
    "new": "Write a study of your own to begin with, and its test.",
    "bench": "Our kernels against what a user would write instead.",
}


class _Commands(click.Group):
    """A group that knows its commands by name and loads them on call."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]  # `list` is here the module of that command, once it is loaded

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help":  # as git, cargo and gh have it
            args = [*args[1:2], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command '{name}'{suggest_name(name, COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f".{name}", __name__)
        return module.command  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from ..results.provenance import package_version

        click.echo(f"fastcube {package_version()}")
        ctx.exit()


def verbosity_option(told: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option ``-v``, with its help."""
    return click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=lambda ctx, param, count: configure_logging(count),
        help=told,
    )


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@verbosity_option("Say what happens, -vv in detail: the logger `fastcube` of Python's logging.")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Run reproducible Monte Carlo studies of faulty hypercube networks."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), color=ctx.color)


def configure_logging(count: int) -> None:
    """Let the ``fastcube`` logger speak on standard error: INFO for 1, DEBUG from 2 on; 0 leaves it as it is."""
    if not count:
        return
    import logging

    logger = logging.getLogger("fastcube")
    logger.setLevel(min(logging.DEBUG if count > 1 else logging.INFO, logger.level or logging.CRITICAL))
    if not any(getattr(handler, "of_command_line", False) for handler in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s  %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"))
        handler.of_command_line = True  # type: ignore[attr-defined]
        handler.handleError = lambda record: None  # type: ignore[method-assign]  # a log that cannot be written stops nothing
        logger.addHandler(handler)


def is_logging_on() -> bool:
    """Whether ``-v`` was given: a bar that is rewritten would be broken by its lines."""
    if "logging" not in sys.modules:
        return False
    import logging

    return logging.getLogger("fastcube").isEnabledFor(logging.INFO)


def print_message(text: str) -> None:
    """Talk: to standard error, names that do not print as Python writes them.

    Work is not lost, nor another exit status given, where that takes none.
    """
    shown = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    with contextlib.suppress(OSError):
        click.echo(shown, err=True)


def line_width(otherwise: int = 120) -> int:
    """Characters of a line of standard output: the terminal's (or $COLUMNS), ``otherwise`` where it is none."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return max(20, shutil.get_terminal_size().columns)
    return otherwise


def colour_text(text: str, colour: str) -> str:
    """The text, in a colour on a terminal that has colours; never where $NO_COLOR is set.  The words say it too."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if plain else click.style(text, fg=colour, bold=True)


def exit_process(code: int) -> NoReturn:
    """End the process now with this exit code, without waiting for work that was left behind."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def exit_unfinished(code: int, kept: str, again: str | None = None) -> NoReturn:
    """Say why a command stops, what is ``kept`` and how to go on, and exit.

    The advice is the command line as it was typed, without ``--force``, unless ``again`` is given.
    """
    from ..results.provenance import remove_force

    why = "work remains" if code == WORK_REMAINS else "interrupted"
    again = again or shlex.join(["fastcube", *remove_force(sys.argv[1:])])
    print_message(f"fastcube: {why}; {kept}; go on with: {again}")
    exit_process(code)


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_message(f"fastcube: {message}")


def main(arguments: list[str] | None = None) -> Any:
    """Entry point; a user's mistake ends in one line on standard error and exit status 2."""
    if "_FASTCUBE_COMPLETE" in os.environ:
        from . import completion  # noqa: F401  (its shells take the place of click's)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell (>&-): its number would go to the next file that is opened
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    warnings.showwarning = _say_warning  # one line, without the place in our code
    # no threads for linear algebra, whose start takes a tenth of a short command's time
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if "NUMBA_NUM_THREADS" in os.environ:
            from ..results.processors import check_thread_settings

            check_thread_settings()
        with own_process():
            code = group.main(arguments, prog_name="fastcube", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        # click repeats what was typed, however long: each word of it as a message takes it
        words = " ".join(plain_text(word) for word in error.format_message().split())
        if isinstance(error, click.MissingParameter) and error.ctx is not None:
            words = f"{words.removesuffix('.')}; {error.ctx.command_path} -h tells more"
        print_message(f"fastcube: {words}")
        sys.exit(2)
    except FastcubeError as error:
        print_message(f"fastcube: {error}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone, as in `fastcube show ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # our own output: a full disk behind standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print_message(f"fastcube: output cannot be written: {error.strerror or error}")
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
