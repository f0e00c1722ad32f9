"""The commands ``claims`` and ``reproduce`` as they are typed: bad lines, completion, help, and generated lines."""

from __future__ import annotations

import importlib
import random
import shutil
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from helpers.generated_lines import check_end, generate_line, leaves, run_line
from helpers.processes import run_fastcube, run_in_process

import fastcube_audit
from fastcube import cli
from fastcube.cli import terminal
from fastcube.errors import MissingDependencyError, ParameterError
from fastcube_audit.cli import COMMANDS
from fastcube_audit.cli import claims as claims_command

CLAIMS = str(Path(__file__).parent / "audit_helpers/toy_claims.py")

BAD = [
    ("claims nobody", "paper must be lee_hayes, "),
    ("claims lee_hayes theorm-3", "got theorm-3; did you mean theorem-3?"),
    ("claims sui_wang_lee lemma-7", "lemma-7"),
    ("claims --workers 0", "0 is not in the range"),
    ("claims --progress loud", "progress must be one of auto, bar, lines, none, got loud"),
    ("reproduce --quick -o ''", "must be a path, got ''"),
    ("reproduce --quick -o out --paper nobody", "paper must be lee_hayes, "),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines(capsys, monkeypatch, tmp_path, line, message):
    monkeypatch.chdir(tmp_path)
    code, out, said = run_in_process(capsys, *(word.strip("'") for word in line.split()))
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert message in said
    assert not list(tmp_path.iterdir())


def test_a_folder_without_a_name_is_not_the_working_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="folder must be a path, got ''"):
        fastcube_audit.reproduce("", quick=True)
    assert not list(tmp_path.iterdir())


def test_without_jinja_the_report_is_one_line_before_anything_is_computed(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in [*sys.modules]:
        if name.startswith(("fastcube_audit.report", "markupsafe", "jinja2")):
            monkeypatch.delitem(sys.modules, name)
    for name in ("jinja2", "markupsafe"):
        monkeypatch.setitem(sys.modules, name, None)  # importing it fails
    code, out, said = run_in_process(capsys, "reproduce", "--quick", "-o", "report")
    assert (code, out, said) == (
        2,
        "",
        "fastcube: reports need Jinja2 and matplotlib: pip install jinja2 matplotlib\n",
    )
    with pytest.raises(MissingDependencyError):
        fastcube_audit.reproduce("report", quick=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_matplotlib_that_cannot_be_imported_is_one_line_before_anything_is_computed(tmp_path):
    done = run_fastcube("reproduce", "--quick", "-o", "report", cwd=tmp_path, env={"MPLBACKEND": "nonsense"})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("fastcube: matplotlib cannot be imported: Key backend: 'nonsense'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rep", ["replay", "reproduce"]),
        ("claims leu", ["leu_kuo"]),
        ("claims lee_hayes least", ["least-faults"]),
        ("claims nobody ", []),
        ("reproduce --paper leu", ["leu_kuo"]),
    ],
)
def test_tab_offers(line, offered):
    *typed, last = line.split(" ")
    items = ShellComplete(cli.group, {}, "fastcube", "_FASTCUBE_COMPLETE").get_completions(typed, last)
    assert [item.value if item.type == "plain" else item.type for item in items] == offered


def test_every_command_has_its_name_its_help_its_example_and_its_page():
    about = tomllib.loads((Path(__file__).parents[2] / "docs" / "commands.toml").read_text())
    context = click.Context(cli.group, info_name="fastcube")
    for name in COMMANDS:
        command = cli.group.get_command(context, name)
        assert command is importlib.import_module(f"fastcube_audit.cli.{name}").command
        assert command.name == name and command.get_short_help_str()
        assert name in about
        program, first, *rest = command.epilog.split("\n")[-1].split()
        assert (program, first) == ("fastcube", name)
        command.make_context(name, rest)  # its options and arguments are there
        flags = [p for p in command.params if isinstance(p, click.Option) and (p.is_flag or p.count)]
        assert {flag.help.split()[0] for flag in flags} <= {"Check", "Compute", "Decide", "Report", "Run"}


def test_the_help_names_both_commands_and_loads_nothing_heavy():
    code = (
        "import sys, fastcube.cli as c\ntry: c.main(['--help'])\n"
        "except SystemExit: print([m for m in ('numba', 'h5py', 'numpy', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


#: Arguments and options of each command; None where an option takes no value.
LINES: dict[str, tuple[list[list[str]], dict[str, list[str] | None]]] = {
    "reproduce": ([], {"-o": ["out", "r.h5"], "--quick": None, "--paper": ["nobody"], "--workers": ["1", "0"],
                       "--progress": ["none", "loud"], "--force": None}),
    "claims": ([[CLAIMS, "nobody", "lee_hayes"], ["nothing"]],
               {"--quick": None, "--format": ["json", "text"], "--only": ["refuted", "x"], "--search": ["cubes", "zzz"],
                "--workers": ["1", "2"],
                "--progress": ["none", "bar"], "--force": None}),
}  # a table, row by row # fmt: skip


def test_every_option_is_generated():
    for name in COMMANDS:
        command = cli.group.get_command(None, name)
        own = [param for param in command.params if param.param_type_name == "option"]
        known = {*LINES[name][1], *(["--max-seconds"] if name == "reproduce" else [])}
        assert all(known & set(param.opts) for param in own), name


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_generated_lines(seed, tmp_path, monkeypatch, capfd):
    (tmp_path / "d.py").mkdir()
    shutil.copy(CLAIMS, tmp_path)
    monkeypatch.chdir(tmp_path)
    for module in (terminal, claims_command):
        monkeypatch.setattr(module, "exit_process", leaves)
    rng = random.Random(seed)
    for _ in range(100):
        line = generate_line(rng, LINES, {"reproduce": ["-o"]})
        if line[0] == "reproduce":  # which is never begun
            line += ["--paper", "nobody"]
        check_end(line, run_line(line), *capfd.readouterr())
