"""What a version promises to keep, for the recording of a release and for the tests of later versions."""

import inspect
import json
from pathlib import Path

import click

from fastcube.cli import COMMANDS, group

#: Trials of a recorded run, its shards, and its other settings.
TRIALS, SHARDS = 128, 2
RUN = {"seed": 7, "workers": 1}


def promised_points():
    """Return the first recorded point of each study."""
    recorded = json.loads((Path(__file__).parents[1] / "kernels" / "recorded_counts.json").read_text())
    return list({entry["study"]: entry for entry in reversed(recorded)}.values())


def parameters_of(thing):
    """Return the parameters of a function or class, each as [name, kind, whether it has a default]."""
    return [
        [p.name, p.kind.name, p.default is not inspect.Parameter.empty]
        for p in (inspect.signature(thing).parameters.values() if callable(thing) else ())
    ]


def broken_promises(old, new):
    """Return how calls that the old parameters allow fail with the new ones."""
    kept = {name: (kind, default) for name, kind, default in new}
    broken = [name for name, kind, default in old if kept.get(name, ("", False)) not in ((kind, default), (kind, True))]
    positional = [[n for n, kind, _ in side if kind.startswith("POSITIONAL")] for side in (old, new)]
    if positional[1][: len(positional[0])] != positional[0]:
        broken.append(f"the order {positional[0]}")
    known = {name for name, _, _ in old}
    required = [n for n, kind, default in new if n not in known and not default and not kind.startswith("VAR")]
    return broken + [f"{name} has no default" for name in required]


def command_options():
    """Return the options and arguments of every command of the engine."""
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in sorted(COMMANDS)}
    return {
        name: sorted({text for p in command.params for text in (*p.opts, *p.secondary_opts)})
        for name, command in commands.items()
    }
