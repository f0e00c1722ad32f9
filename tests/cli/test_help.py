"""Help: flags are verbs, and each command ends its help with one example, which runs."""

import importlib
import re
import shlex
from pathlib import Path

import click
import pytest

from fastcube.cli import COMMANDS, group, main

COMMAND_OBJECTS = {name: importlib.import_module(f"fastcube.cli.{name}").command for name in COMMANDS}

#: First words of the help of flags.
VERBS = {"Compute", "Draw", "Print", "Report", "Show", "Skip", "Start", "Write"}


def example_of(name):
    """The arguments of a command's example, and the file into which a shell would write its output."""
    start, mark, line = COMMAND_OBJECTS[name].epilog.split("\n")
    assert (start, mark) == ("\b", "Example:")
    typed, _, target = line.strip().partition(" > ")
    program, first, *rest = shlex.split(typed)
    assert (program, first) == ("fastcube", name)
    return rest, target


@pytest.mark.parametrize("command", [group, *COMMAND_OBJECTS.values()], ids=["fastcube", *COMMANDS])
def test_flags_are_verbs(command):
    flags = [p for p in command.params if isinstance(p, click.Option) and (p.is_flag or p.count)]
    assert {flag.help.split()[0] for flag in flags} <= VERBS, [flag.help for flag in flags]


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_has_options_and_arguments_that_there_are(name):
    COMMAND_OBJECTS[name].make_context(name, example_of(name)[0])


@pytest.mark.kernels
def test_the_examples_run(tmp_path, monkeypatch, capsys):
    """In the order of ``fastcube --help``, with shards and results of the first example in the same folder."""
    monkeypatch.chdir(tmp_path)

    def execute(name, arguments):
        found = [
            file for typed in arguments for file in (sorted(map(str, Path().glob(typed))) if "*" in typed else [typed])
        ]
        with pytest.raises(SystemExit) as ended:
            main([name, *found])
        assert not ended.value.code, (name, capsys.readouterr().err)
        return capsys.readouterr().out

    for output, shard in (("old", "0/1"), ("new", "0/1"), ("part-0", "0/2"), ("part-1", "1/2")):
        execute("run", shlex.split(f"unsafe-fraction --set n=5 --set f=2 --trials 1e4 --shard {shard} -o {output}.h5"))
    for name in sorted(COMMANDS, key=lambda name: (name != "run", [*COMMANDS].index(name))):
        arguments, target = example_of(name)
        printed = execute(name, arguments)
        if target:
            Path(target).write_text(printed)
    assert {"unsafe.h5", "unsafe.svg", "whole.h5", "faults.csv", "mine.py"} <= {path.name for path in Path().iterdir()}
    assert re.match(r"n,f,.*trial", Path("faults.csv").read_text())
