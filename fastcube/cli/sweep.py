"""Sweeps: several runs in a TOML file, each a table ``[[run]]`` with the options of ``fastcube run`` under their names.

A table is turned into a command line and parsed like one, so a file can express exactly what a command line can.
"""

from __future__ import annotations

import contextlib
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import click
from click.core import ParameterSource

from ..errors import MissingDependencyError, ParameterError, check_path, plain_text, short_repr, suggest_name

#: Options of the whole command, not of a run.  A file with ``force`` would discard results whenever it is resumed.
_NOT_IN_TABLES = {"help", "verbose", "dry-run", "force"}

#: Largest size of a sweep file in bytes, and most dots on one line.  The time to read a dotted key is quadratic in its dots.  So
#: several lines count as one with the root of the sum of their squared numbers.
_MOST_BYTES, _MOST_DOTS = 2**20, 3000

#: Most runs of a sweep.  All are checked before the first begins, at some 3 ms each and a look into their folder.
_MOST_RUNS = 1000

#: Parameters whose values differ between the runs of a sweep, with the names of their options.
_PER_RUN_OPTIONS = {"output": "output", "axes": "set", "grid": "grid", "plot": "plot"}

#: Options that name a file.
_PATHS = ("output", "plot")


def is_sweep(study: str) -> bool:
    """Whether the argument for a study is the name of a sweep file."""
    return study.endswith(".toml")


@contextlib.contextmanager
def name_run(path: str, i: int) -> Iterator[None]:
    """Begin the messages of errors in run ``i`` of a sweep file, from 1, with its number."""
    try:
        yield
    except (ParameterError, MissingDependencyError, click.UsageError) as error:
        message = error.format_message() if isinstance(error, click.UsageError) else error
        kind = MissingDependencyError if isinstance(error, MissingDependencyError) else ParameterError
        raise kind(f"run {i} of {plain_text(path)}: {message}") from None


def _is_scalar(value: Any) -> bool:
    """Whether a value of TOML is text or a number."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _option_text(where: str, value: Any) -> str:
    """Return the value of an option as on a command line.  Raises ParameterError, which begins with ``where``."""
    if not _is_scalar(value):
        raise ParameterError(f"{where} must be text or a number, got {short_repr(value)}")
    return str(value)


def _values_text(where: str, values: Any) -> str:
    """Return the values of an axis as on a command line; only an axis takes a list."""
    items = values if isinstance(values, list) else [values]
    if not items or not all(map(_is_scalar, items)):
        raise ParameterError(f"{where} must be text, a number or a list of them, got {short_repr(values)}")
    return ",".join(map(str, items))


def _command_arguments(where: str, table: Mapping[str, Any], flags: Mapping[str, bool]) -> list[str]:
    """Return a table as the arguments of a command line.  Raises ParameterError, which names the table by ``where``.

    ``flags`` has the names of all options, and whether they are flags.
    """
    if not isinstance(table.get("study"), str):
        raise ParameterError(
            f"study of {where} must be the name of a study or a file, got {short_repr(table.get('study'))}"
        )
    arguments = []
    for name, value in table.items():
        if name == "study":
            continue
        if name not in flags:
            raise ParameterError(f"{where} has no option {plain_text(name, 60)}{suggest_name(name, flags)}")
        if name == "set":
            if not isinstance(value, dict):
                raise ParameterError(f"set of {where} must be a table of axes, got {short_repr(value)}")
            for axis, values in value.items():
                arguments += ["--set", f"{axis}={_values_text(f'{axis} of {where}', values)}"]
        elif flags[name]:
            if not isinstance(value, bool):
                raise ParameterError(f"{name} of {where} must be true or false, got {short_repr(value)}")
            arguments += [f"--{name}"] * value
        elif name in _PATHS and not isinstance(value, str):
            raise ParameterError(f"{name} of {where} must be text, got {short_repr(value)}")
        else:
            arguments.append(f"--{name}={_option_text(f'{name} of {where}', value)}")
    return [*arguments, "--", table["study"]]


def parse_runs(path: str, command: click.Command, given: click.Context) -> list[dict[str, Any]]:
    """Return the parameters of each run of a sweep file; options on the command line override the file's.

    With ``--shard I/N`` each output is ``NAME-I.h5``.  Raises ParameterError.
    """
    typed = {
        name: value
        for name, value in given.params.items()
        if given.get_parameter_source(name) is ParameterSource.COMMANDLINE and name != "study"
    }
    for name in typed.keys() & _PER_RUN_OPTIONS.keys():
        raise ParameterError(f"{_PER_RUN_OPTIONS[name]} must be set in {plain_text(path)}, where each run has its own")
    options = [option for option in command.params if isinstance(option, click.Option)]
    flags = {max(option.opts, key=len)[2:]: option.is_flag for option in options}
    flags = {name: flag for name, flag in flags.items() if name not in _NOT_IN_TABLES}
    out = []
    for i, table in enumerate(_read_tables(path), 1):
        arguments = _command_arguments(f"run {i} of {plain_text(path)}", table, flags)
        with name_run(path, i):
            context = command.make_context("run", arguments, parent=given.parent)
        out.append({**context.params, **typed})
    return out


def _read_tables(path: str) -> list[dict[str, Any]]:
    """Return the tables ``[[run]]`` of a sweep file.  Raises ParameterError."""
    try:
        with check_path("sweep", path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)  # a device or a pipe has no end
        if len(content) > _MOST_BYTES:
            raise ParameterError(f"{plain_text(path)} must have at most {_MOST_BYTES} bytes, got more")
        text = content.decode("utf-8-sig")
        if (dots := math.isqrt(sum(line.count(".") ** 2 for line in text.split("\n")))) > _MOST_DOTS:
            raise ParameterError(f"{plain_text(path)} must have at most {_MOST_DOTS} dots on a line, got {dots}")
        tables = tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{plain_text(path)} cannot be read: {error.strerror}") from None
    except ParameterError:
        raise
    except RecursionError:
        raise ParameterError(f"{plain_text(path)} is nested too deeply") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise ParameterError(f"{plain_text(path)} is not TOML: {plain_text(str(error))}") from None
    runs = tables.get("run")
    if set(tables) != {"run"} or not isinstance(runs, list) or not runs or not all(isinstance(t, dict) for t in runs):
        names = ", ".join(plain_text(name, 40) for name in tables) or "nothing"
        raise ParameterError(f"{plain_text(path)} must hold tables [[run]] and nothing else, got {names}")
    if len(runs) > _MOST_RUNS:
        raise ParameterError(f"{plain_text(path)} must hold at most {_MOST_RUNS} runs, got {len(runs)}")
    return runs


def shard_name(output: str, shard: str) -> str:
    """Return the output of a shard: ``NAME-I.h5``."""
    folder, name = os.path.split(output)  # a path object would drop the ./ of ./-x.h5
    stem, suffix = os.path.splitext(name)  # noqa: PTH122
    return os.path.join(folder, f"{stem}-{shard.partition('/')[0]}{suffix}")  # noqa: PTH118


def check_files(outputs: list[str], plots: list[str]) -> None:
    """Raise ParameterError if two runs write the same file."""
    seen: set[str] = set()
    for option, names in (("output", outputs), ("plot", plots)):
        for name in names:
            path = os.path.realpath(name)
            if path in seen:
                raise ParameterError(f"{option} must be different for each run, got {plain_text(name)} twice")
            seen.add(path)
