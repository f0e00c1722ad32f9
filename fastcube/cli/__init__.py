"""The command line.  Each command is in its own module, which is imported when the command is called.

Data goes to standard output, messages to standard error.  Exit statuses: 0, done; 1, ``status`` found missing trials, ``diff`` a
difference; 2, wrong usage or bad input, with one line and no traceback; 75, work remains, run again; 129, 130 and 143,
interrupted, by a run after a checkpoint.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..errors import FastcubeError, MissingDependencyError, ParameterError, short_repr, suggest_name
from ..running.signals import own_process
from .error_texts import error_text
from .terminal import discard_output, print_message, verbosity_option

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The line of each command in the help; it is here so that ``--help`` imports no command.
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


#: Commands that compile no kernel, so that they need less memory; commands of other packages may compile some.
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
    from ..measure.installed import find_entry_points, package_text, warn_of_package

    found: list[InstalledCommands] = []
    for points in find_entry_points("fastcube.commands").values():
        for point in points:
            taken = {*COMMANDS, "help", *(name for package in found for name in package.lines)}
            try:
                lines = _load_command_lines(point, taken)
            except ParameterError as error:
                warn_of_package([point], str(error))
            else:
                found.append(InstalledCommands(package_text(point), point.module, lines))
    return tuple(found)


def _load_command_lines(point: EntryPoint, taken: set[str]) -> dict[str, str]:
    """Return the line of each command of an entry point.  Raises ParameterError if one is malformed, or its name ``taken``."""
    from ..measure.installed import load_or_refuse, package_text

    package = package_text(point)
    lines: dict[str, str] = load_or_refuse(lambda: f"commands of {package}", point.load)
    if not isinstance(lines, dict) or not all(isinstance(text, str) for item in lines.items() for text in item):
        raise ParameterError(f"commands of {package} must be a dict of texts, got {point.value}")
    for name, line in lines.items():
        # isidentifier: the module has this name; nothing else may look like an option or leave the help's line
        if name.startswith("-") or not name.replace("-", "_").isidentifier() or not line.isprintable():
            raise ParameterError(
                f"commands of {package} must have names of letters, digits, - and _, and printable "
                f"lines, got {short_repr(name)}: {short_repr(line)}"
            )
    if doubled := taken & lines.keys():
        raise ParameterError(f"{package} has the command {min(doubled)}, which fastcube has already")
    return lines


def find_command_module(name: str) -> str | None:
    """Return the module of a command, or None if there is no such command."""
    if name in COMMANDS:
        return f"{__name__}.{name}"
    return next(
        (f"{found.package}.{name.replace('-', '_')}" for found in find_installed_commands() if name in found.lines),
        None,
    )


class _Commands(click.Group):
    """A group that knows the names of its commands, and imports the module of a command when it is called."""

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
        if not name.startswith("-") and not ctx.resilient_parsing:
            self._check_command(ctx, name)
            if not {"-h", "--help"} & {*args}:
                from ..results.memory import check_command_space

                check_command_space(name, compiles=name not in _READERS)
        return super().resolve_command(ctx, args)

    def _check_command(self, ctx: click.Context, name: str) -> None:
        """Raise MissingDependencyError for a command of the audit that is not installed, UsageError for an unknown command."""
        if find_command_module(name) is not None:
            return
        if name in AUDIT_COMMANDS:
            raise MissingDependencyError(
                f"fastcube {name} needs fastcube-audit: in a checkout of fastcube, pip install -e ./audit"
            )
        raise click.UsageError(f"No such command '{name}'{suggest_name(name, self.list_commands(ctx))}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would end with exit status 1
            discard_output()
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


def _print_version(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Print the version and end the command, if ``--version`` is given."""
    if is_given:
        from ..results.provenance import package_version

        click.echo(f"fastcube {package_version()}")
        ctx.exit()


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@verbosity_option("Show messages of the `fastcube` logger; -vv in detail.")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Run reproducible Monte Carlo studies of faulty hypercube networks."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), color=ctx.color)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning on one line, without the place in fastcube's code; this replaces ``warnings.showwarning``."""
    print_message(f"fastcube: {message}")


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line.  A user's mistake ends in one line on standard error and exit status 2."""
    if "_FASTCUBE_COMPLETE" in os.environ:
        from . import completion  # noqa: F401  (its classes of shells replace those of click)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell (>&-), so its number would go to the next file opened
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    warnings.showwarning = _print_warning
    # no threads for linear algebra: starting them takes a tenth of a short command's time
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if any(name.startswith("NUMBA_") for name in os.environ):
            from ..results.environment import check_numba_settings

            check_numba_settings()
        with own_process():
            code = group.main(arguments, prog_name="fastcube", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        sys.exit(0)
    except (click.ClickException, FastcubeError, ImportError, OSError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            discard_output()  # standard output cannot be written, as on a full disk
        print_message(f"fastcube: {error_text(error)}")
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
