"""Properties of sweep files, on generated tables that hypothesis shrinks: they say what a command line says, or one line."""

import json

import click
import pytest
from helpers.properties import given
from helpers.properties import strategies as st

from fastcube.cli.run import command
from fastcube.cli.sweep import parse_runs
from fastcube.errors import ParameterError


@pytest.fixture(scope="module")
def sweep_file(tmp_path_factory):
    return tmp_path_factory.mktemp("sweep") / "sweep.toml"


def toml(value):
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def parse(path, *tables):
    path.write_text(
        "".join("[[run]]\n" + "".join(f"{json.dumps(k)} = {toml(v)}\n" for k, v in t.items()) for t in tables)
    )
    with click.Context(command) as context:
        return parse_runs(str(path), command, command.make_context("run", [str(path)], parent=context))


NUMBERS = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="ascii", exclude_characters="\x00"), max_size=12)
AXES = st.dictionaries(st.sampled_from("nfp"), NUMBERS | st.lists(NUMBERS, min_size=1, max_size=4), max_size=3)


@given(AXES, NUMBERS, TEXTS)
def test_a_table_is_a_command_line(sweep_file, axes, trials, target):
    (found,) = parse(sweep_file, {"study": "routing", "set": axes, "trials": trials, "target": target})
    arguments = [
        f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}" for name, value in axes.items()
    ]
    line = [
        *(word for text in arguments for word in ("--set", text)),
        f"--trials={trials}",
        f"--target={target}",
    ]
    with click.Context(command) as context:
        assert found == command.make_context("run", [*line, "--", "routing"], parent=context).params


ANYTHING = st.recursive(
    st.booleans() | NUMBERS | TEXTS, lambda some: st.lists(some, max_size=3) | st.dictionaries(TEXTS, some, max_size=3)
)
OPTIONS = (
    "study",
    "set",
    "trials",
    "precision",
    "events",
    "output",
    "grid",
    "workers",
    "force",
    "seed",
    "shard",
    "nothing",
)


@given(st.dictionaries(st.sampled_from(OPTIONS), ANYTHING))
def test_any_table_gives_a_run_or_one_line(sweep_file, table):
    try:
        assert len(parse(sweep_file, table)) == 1
    except ParameterError as error:
        assert str(error).isprintable()
