"""The command line.  Each command is in its own module, which is imported when the command is called.

Data goes to standard output, messages to standard error.  Exit statuses: 0, done; 1, ``status`` found missing trials, ``diff`` a
difference; 2, wrong usage or bad input, with one line and no traceback; 75, work remains, run
again; 129, 130 and 143, interrupted after a checkpoint.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import shlex
import shutil
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import click

from ..errors import FastcubeError, MissingDependencyError, ParameterError, plain_text, short_repr, suggest_name
from ..running.signals import WORK_REMAINS, own_process

#: The line of each command in the help, here so that ``--help`` imports no command.
COMMANDS = {
    "list": "List the studies, or show everything about one.",
    "run": "Run a study, or resume it if its output exists.",
    "show": "Print results as a table, CSV or JSON.",
    "plot": "Plot a study's figure from results.",
    "reliability": "Print the probability that a network stays connected, or another statistic, at failure rates.",
    "lifetime": "Print how long a network stays connected if its nodes or links have random lives.",
    "diff": "Compare two results files of one study.",
    "merge": "Add results of disjoint trials, exactly.",
    "status": "Show the trials done and missing, and the tasks to resubmit.",
    "replay": "Show one trial in full.",
    "faults": "Write the fault sets of trials as CSV.",
    "evaluate": "Run a study's algorithm on fault sets from CSV.",
    "slurm": "Print a Slurm job script, without submitting it.",
    "warmup": "Compile a study's kernels ahead of a job array.",
    "info": "Show the environment, or a file's identity and digest.",
    "cite": "Print BibTeX entries of fastcube and of a study's paper.",
    "new": "Write a study of your own to start from, and its test.",
    "bench": "Compare the speed of the kernels with baselines.",
}


#: Commands that load no compiler, so that they need less memory; commands of other packages may load it.
_READERS = {
    "list",
    "show",
    "plot",
    "reliability",
    "lifetime",
    "diff",
    "merge",
    "status",
    "evaluate",
    "info",
    "cite",
    "new",
}

#: Commands of the distribution fastcube-audit, for the message where it is not installed.
AUDIT_COMMANDS = ("claims", "reproduce")


class InstalledCommands(NamedTuple):
    """The commands of an installed package: its name and version, the package of their modules, and their lines in the help."""

    distribution: str
    package: str
    lines: dict[str, str]


@functools.cache
def find_installed_commands() -> tuple[InstalledCommands, ...]:
    """Return the commands of installed packages, from the entry points of the group ``fastcube.commands``.

    An entry point names a dict, the line of each command in the help.  The command ``NAME`` is ``command`` of the module ``NAME``
    (with ``_`` for ``-``) beside this dict, and is imported when it is called.  A package that is broken, or has a command that
    exists already, is left out with a warning.
    """
    from ..measure.installed import find_entry_points, load_or_refuse, package_text, warn_of_package

    found: list[InstalledCommands] = []
    for points in find_entry_points("fastcube.commands").values():
        for point in points:
            taken = {*COMMANDS, "help", *(name for package in found for name in package.lines)}
            try:
                lines = load_or_refuse(lambda at=point: f"commands of {package_text(at)}", point.load)  # type: ignore[misc]
                if not isinstance(lines, dict) or not all(isinstance(x, str) for item in lines.items() for x in item):
                    raise ParameterError(
                        f"commands of {package_text(point)} must be a dict of texts, got {point.value}"
                    )
                for name, line in lines.items():
                    # isidentifier: the module has this name; nothing else may look like an option or leave the help's line
                    if name.startswith("-") or not name.replace("-", "_").isidentifier() or not line.isprintable():
                        raise ParameterError(
                            f"commands of {package_text(point)} must have names of letters, digits, - and _, and printable "
                            f"lines, got {short_repr(name)}: {short_repr(line)}"
                        )
                if doubled := taken & lines.keys():
                    raise ParameterError(
                        f"{package_text(point)} has the command {min(doubled)}, which fastcube has already"
                    )
            except ParameterError as error:
                warn_of_package([point], str(error))
            else:
                found.append(InstalledCommands(package_text(point), point.module, lines))
    return tuple(found)


def find_command_module(name: str) -> str | None:
    """Return the module of a command, or None if there is no such command."""
    if name in COMMANDS:
        return f"{__name__}.{name}"
    return next(
        (f"{found.package}.{name.replace('-', '_')}" for found in find_installed_commands() if name in found.lines),
        None,
    )


class _Commands(click.Group):
    """A group that knows the names of its commands and imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        # ``list`` would be the module of that command, once it is imported
        return [*COMMANDS, *(name for package in find_installed_commands() for name in package.lines)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help":  # as in git, cargo and gh
            args = [*args[1:2], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and find_command_module(name) is None:
            if name in AUDIT_COMMANDS:
                raise MissingDependencyError(
                    f"fastcube {name} needs fastcube-audit: in a checkout of fastcube, pip install -e ./audit"
                )
            raise click.UsageError(f"No such command '{name}'{suggest_name(name, self.list_commands(ctx))}", ctx)
        if not name.startswith("-") and not ctx.resilient_parsing and not {"-h", "--help"} & {*args}:
            from ..results.memory import check_command_space

            check_command_space(name, compiles=name not in _READERS)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would end with exit status 1
            _discard_output()
            return 0

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        module = find_command_module(name)
        if module is None:
            return None
        if name in COMMANDS:
            return importlib.import_module(module).command  # type: ignore[no-any-return]
        from ..measure.installed import load_or_refuse

        described = f"command {name} of {next(p.distribution for p in find_installed_commands() if name in p.lines)}"
        command = load_or_refuse(lambda: described, lambda: importlib.import_module(module).command)
        if not isinstance(command, click.Command):
            raise ParameterError(f"{described} must be a click command, got {short_repr(command)}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])
        for package in find_installed_commands():
            with formatter.section(f"Commands of {package.distribution}"):
                formatter.write_dl([*package.lines.items()])


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from ..results.provenance import package_version

        click.echo(f"fastcube {package_version()}")
        ctx.exit()


def verbosity_option(reported: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``-v`` with this help."""
    return click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=lambda ctx, param, count: configure_logging(count),
        help=reported,
    )


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@verbosity_option("Show messages of the `fastcube` logger; -vv in detail.")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Run reproducible Monte Carlo studies of faulty hypercube networks."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), color=ctx.color)


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
    """Whether ``-v`` was given, so that log messages would break a rewritten progress bar."""
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


def _discard_output() -> None:
    """Discard all further output: its reader has ended, as in `fastcube show ... | head`, or it cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unknown_option_text(name: str, ctx: click.Context) -> str:
    """Return the message about an unknown option, with a similar option or the way to set an axis."""
    flags = [flag for parameter in ctx.command.params for flag in parameter.opts if flag.startswith("--")]
    if near := suggest_name(name.lstrip("-"), [flag[2:] for flag in flags]).replace("mean ", "mean --"):
        return f"No such option '{name}'{near}"
    axes = ", and --set AXIS=VALUES sets an axis" if "--set" in flags else ""
    return f"No such option '{name}'; {ctx.command_path} -h shows the options{axes}"


def _missing_module_text(error: ImportError) -> str:
    """Return the message about a module that cannot be imported, for a package that no check has asked for before."""
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or not package:
        return f"a module cannot be imported: {plain_text(str(error), 400)}"
    if package == "fastcube":
        return f"this copy of fastcube lacks its module {error.name}: use git clone, or pip install"
    return f"the package {plain_text(package)} is missing: pip install {plain_text(package)}"


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_message(f"fastcube: {message}")


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line.  A user's mistake ends in one line on standard error and exit status 2."""
    if "_FASTCUBE_COMPLETE" in os.environ:
        from . import completion  # noqa: F401  (its classes of shells replace those of click)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell (>&-), so its number would go to the next file opened
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    warnings.showwarning = _say_warning  # one line, without the place in fastcube's code
    # no threads for linear algebra: starting them takes a tenth of a short command's time
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if any(name.startswith("NUMBA_") for name in os.environ):
            from ..results.environment import check_numba_settings

            check_numba_settings()
        with own_process():
            code = group.main(arguments, prog_name="fastcube", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        # click repeats the user's words at any length, so each word is shortened
        text = error.format_message()
        if isinstance(error, click.NoSuchOption) and error.ctx is not None:
            text = _unknown_option_text(error.option_name, error.ctx)
        sentence = " ".join(plain_text(word) for word in text.split())
        if isinstance(error, click.MissingParameter) and error.ctx is not None:
            sentence = f"{sentence.removesuffix('.')}; {error.ctx.command_path} -h shows the usage"
        print_message(f"fastcube: {sentence}")
        sys.exit(2)
    except FastcubeError as error:
        print_message(f"fastcube: {error}")
        sys.exit(2)
    except BrokenPipeError:
        _discard_output()
        sys.exit(0)
    except ImportError as error:
        print_message(f"fastcube: {_missing_module_text(error)}")
        sys.exit(2)
    except OSError as error:
        if error.errno is None:  # a library of machine code that cannot be loaded
            print_message(f"fastcube: {plain_text(str(error))}")
        elif error.filename is not None:  # a file or folder for which the command has no message of its own
            print_message(f"fastcube: {plain_text(str(error.filename))} cannot be used: {error.strerror}")
        else:  # standard output cannot be written, as on a full disk
            _discard_output()
            print_message(f"fastcube: output cannot be written: {error.strerror}")
        sys.exit(2)
    except MemoryError as error:
        print_message(f"fastcube: not enough memory{': ' * bool(str(error))}{plain_text(str(error))}")
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
