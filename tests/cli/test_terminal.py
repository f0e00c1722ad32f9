"""What the terminal offers besides results: completion, studies in full, plans of runs, and the log."""

import errno
import io
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from helpers.command_line import ROOT
from helpers.compiled import mark_others_slow

import fastcube as fc
from fastcube.cli import COMMANDS, completion, group
from fastcube.cli.terminal import configure_logging, print_message
from fastcube.measure import installed, paper, registry
from fastcube.measure.goal import Goal
from fastcube.running import planning, work_units


@pytest.fixture
def complete():
    """Return the completions that TAB offers at the end of a line."""

    def offer(line):
        *typed, last = line.split(" ")
        items = ShellComplete(group, {}, "fastcube", "_FASTCUBE_COMPLETE").get_completions(typed, last)
        return [item.value if item.type == "plain" else item.type for item in items]

    return offer


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("repl", ["replay"]),
        ("run unsafe-f", ["unsafe-fraction"]),
        ("run my_study", ["file"]),
        ("run unsafe-fraction --grid ", ["figure-8", "large"]),
        ("run routing --set ", ["n=", "f=", "links=", "k="]),
        ("run routing --trials 1e6 --set n=5 --set li", ["links="]),
        ("run --target unsafe_ unsafe-fraction --set ", ["n=", "f="]),
        ("run unsafe-fraction --target unsafe", ["unsafe_fraction"]),
        ("run nobody.py --set ", []),
        ("run unsafe-fraction --pro", ["--progress"]),
        ("run unsafe-fraction --progress b", ["bar"]),
        ("run unsafe-fraction --engine m", ["mpi"]),
        ("replay routing --point n=5,f=2,l", ["n=5,f=2,links="]),
        ("faults unsafe-c", ["unsafe-critical"]),
        ("warmup unsafe-fraction --grid l", ["large"]),
        ("show ", ["file"]),
        ("show x.h5 --format c", ["csv"]),
        ("merge a.h5 b", ["file"]),
    ],
)
def test_tab_offers(complete, line, offered):
    assert complete(line) == offered


ODD = [{}, *({"COMP_WORDS": typed, "COMP_CWORD": at} for typed, at in [
    ("fastcube run", "x"), ("fastcube run", ""), ("fastcube run", "9" * 5000), ("fastcube run", "-7"), ("", "0"),
    ("fastcube run 'a", "2"), ("fastcube run \\", "2"), ("fastcube run \udcff", "2"), ("fastcube show " + "x" * 100_000, "2"),
])]  # a table, row by row # fmt: skip


@pytest.mark.parametrize("shell", mark_others_slow([completion._Bash, completion._Zsh, completion._Fish]))
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_environment_that_no_shell_made_is_no_traceback(monkeypatch, shell, odd):
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in odd.items():
        monkeypatch.setenv(name, value)
    shell(group, {}, "fastcube", "_FASTCUBE_COMPLETE").complete().encode()


def test_completion_fails_in_silence(monkeypatch):
    monkeypatch.setattr(installed, "find_entry_points", lambda group: 1 / 0)
    monkeypatch.setenv("COMP_WORDS", "fastcube run un")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert completion._Bash(group, {}, "fastcube", "_FASTCUBE_COMPLETE").complete() == ""


def test_completion_of_commands_options_and_files_loads_nothing_heavy():
    """NumPy alone would take longer than a person waits."""
    code = (
        "import os, sys; from fastcube.cli import COMMANDS, group; from click.shell_completion import ShellComplete as S\n"
        "for line in ('re', 'show ', 'run routing --plot ', *(f'{c} --' for c in COMMANDS)):\n"
        "    *words, last = line.split(' '); assert S(group, {}, 'fastcube', 'X').get_completions(words, last), line\n"
        "print([m for m in ('numba', 'h5py', 'numpy', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_scripts_are_what_the_document_installs(shell, tmp_path):
    assert f"_FASTCUBE_COMPLETE={shell}_source fastcube" in (ROOT / "docs" / "terminal.md").read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    environment = {
        **os.environ,
        "_FASTCUBE_COMPLETE": f"{shell}_source",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    source = subprocess.run(["fastcube"], env=environment, capture_output=True, text=True, check=True).stdout
    (tmp_path / "script").write_text(source)
    assert {"bash": "compopt -o nospace", "zsh": "ends=(-S '')", "fish": ""}[shell] in source  # "n=" and its value
    del environment["_FASTCUBE_COMPLETE"]
    line = {
        "bash": "source ./script; COMP_WORDS=(fastcube run routing --grid lar); COMP_CWORD=4; _fastcube_completion fastcube; "
        "echo ${COMPREPLY[@]}",
        "zsh": "zsh -n script && echo large",
        "fish": "source ./script; complete -C 'fastcube run routing --grid lar'",
    }[shell]
    done = subprocess.run(
        [shell, "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["large"], done.stderr


def test_a_study_in_full(run, monkeypatch):
    monkeypatch.setattr(work_units, "kernels_to_compile", lambda study, points: 1)
    code, out, _ = run("list unsafe-fraction")
    study = registry.study("unsafe-fraction")
    assert code == 0
    text = " ".join(out.split())
    assert "n an integer in [1, 62]: dimension of the hypercube" in text
    assert all(f"{s.name} {s.description}" in text for s in study.statistics)
    assert all(f"grid {grid.name}" in text and f"{grid.trials:,} trials each" in text for grid in study.grids)
    assert text.count("not measured: its kernels are not compiled here yet (fastcube warmup unsafe-fraction)") == 2


def test_the_time_of_a_grid_is_measured(run, monkeypatch):
    monkeypatch.setattr(work_units, "kernels_to_compile", lambda study, points: 0)
    monkeypatch.setattr(planning, "measured_seconds", lambda study, points, most=(): [2e-6] * len(points))
    _, out, _ = run("list unsafe-fraction")
    assert "about 2 min on one core of this machine" in " ".join(out.split())  # 56 points, 10^6 trials


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_lists_fit_the_terminal(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(work_units, "kernels_to_compile", lambda study, points: 1)
    for line, lines in (("list", len(fc.study_names())), ("list routing", 10)):
        shown = run(line)[1].splitlines()
        assert len(shown) >= lines and max(map(len, shown)) <= columns


@pytest.fixture
def steady(monkeypatch):
    """Make planning believe that each trial takes a millisecond."""
    monkeypatch.setattr(planning, "measured_seconds", lambda study, points, most=(): [1e-3] * len(points))
    monkeypatch.setattr(work_units, "kernels_to_compile", lambda study, points: 0)


def test_a_dry_run_says_what_a_run_would_do_and_does_nothing(run, steady, tmp_path):
    line = "run unsafe-fraction --set n=5,6 --set f=2 --trials 1e4 --workers 1"
    code, out, err = run(f"{line} --dry-run")
    assert (code, err) == (0, "") and list(tmp_path.iterdir()) == []
    assert "points  2 (n = 5, 6; f = 2)" in out
    assert "trials  10,000 a point, 20,000 in all, 0 of them in unsafe-fraction.h5" in out
    assert "time    about 20 s on one core (measured now, by about 0.01 s of trials at 2 points)" in out
    assert run(f"{line} --set f=2 --shard 0/2 --trials 1e4 --progress none")[0] == 0
    before = (tmp_path / "unsafe-fraction.h5").read_bytes()
    _, out, _ = run(f"{line} --dry-run")
    assert "20,000 in all, 10,000 of them in unsafe-fraction.h5" in out and "about 10 s on one core" in out
    assert (tmp_path / "unsafe-fraction.h5").read_bytes() == before
    said = float(out.split("at most ")[1].split(" kB")[0]) * 1000
    assert len(before) < said + 500 < 1.3 * len(before) + 500


def test_a_dry_run_of_targets_and_refusals(run, steady):
    _, out, _ = run("run unsafe-fraction --set n=5 --set f=2 --precision 1e-3 --trials 1e6 --dry-run")
    assert "until precision 0.001, at most 1,000,000 trials a point: how many is not known before" in out
    code, out, err = run("run unsafe-fraction --set n=5 --set f=2 --dry-run -o nowhere/x.h5")
    assert code == 2 and out == "" and "output folder nowhere does not exist" in err
    for options, reported in (
        ("--engine zz", "engine must be threads"),
        ("--workers 0", "workers must be in [1, 4096], got 0"),
        ("--max-seconds -3", "max-seconds must be positive"),
        ("--engine dask:no.json", "scheduler file no.json"),
    ):
        code, out, err = run(f"run unsafe-fraction --set n=5 --set f=2 --dry-run {options}")
        assert code == 2 and out == "" and reported in err


def test_seconds_are_measured_at_some_points_and_interpolated(monkeypatch):
    study = registry.study("unsafe-fraction")
    points = study.grids[0].points
    asked = []

    def one(study, points, seconds, most):
        (point,) = points
        asked.append(point)
        return 2.0 ** point["n"]

    monkeypatch.setattr(planning, "_seconds_per_trial", one)
    seconds = planning.measured_seconds(study, points)
    assert len(asked) == planning.MEASURED and asked[0] == points[0] and asked[-1] == points[-1]
    assert len(seconds) == len(points)
    assert all(2**4 < s / 2 ** (p["n"] - 5) < 2**6.01 for s, p in zip(seconds, points, strict=True))


def test_a_plan_runs_no_more_trials_than_the_run_has(monkeypatch):
    counted = []
    monkeypatch.setattr(planning, "run_unit", lambda unit: counted.append(unit.stop))
    study = registry.study("unsafe-fraction")
    planning.measured_seconds(study, [{"n": 5, "f": 1}, {"n": 5, "f": 2}], most=[1000, 0])
    assert max(counted) <= 1000 and counted[-1] == 1 and len(counted) < 20


def test_sizes_of_large_grids_are_bounds():
    study = registry.study("unsafe-critical")
    points = [{"n": n, "p": i / 700} for n in (10, 11) for i in range(600)]
    assert planning.file_bytes(study, points, Goal(10)) > 1200 * 8 * 12


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "less than 1 s"), (9, "about 9 s"), (200, "about 3 min"), (9000, "about 2.5 h"), (4e5, "about 4.6 days")],
)
def test_durations_in_words(seconds, text):
    assert planning.seconds_text(seconds) == text


@pytest.fixture
def quiet():
    """The logger as it was, afterwards."""
    logger = logging.getLogger("fastcube")
    level, handlers = logger.level, list(logger.handlers)
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


LINE = "run unsafe-fraction --set n=5 --set f=2 --trials 1000 --force"


def test_the_log_tells_of_cache_workers_and_trials(run, quiet):
    _, out, err = run(f"-v {LINE} --workers 2")
    for message in ("compiled kernels are cached in", "workers 2 (threads)", "1000 trials done and saved"):
        assert sum(message in line for line in err.splitlines()) == 1, err
    assert "fastcube.driver: trials 0..0 of n=5,f=2 in" not in err
    assert "fastcube.driver" not in out


def test_a_second_v_tells_of_each_item(run, quiet):
    _, _, err = run(f"{LINE} -vv")
    assert "fastcube.driver: trials 0..0 of n=5,f=2 in" in err


def test_without_v_nothing_is_logged(run, quiet):
    assert "fastcube." not in run(f"{LINE} --progress none")[2].replace("unsafe-fraction.h5", "")
    configure_logging(0)
    assert not any(getattr(handler, "of_command_line", False) for handler in quiet.handlers)


def test_loggers_of_a_program_hear_it_too(run, quiet, caplog):
    import fastcube as fc

    with caplog.at_level(logging.INFO, "fastcube"):
        fc.run("unsafe-fraction", n=5, f=2, trials=10)
    assert {record.name for record in caplog.records} >= {"fastcube.driver"}


def test_every_command_has_its_line_of_help():
    import click

    context = click.Context(group)
    assert all(group.get_command(context, name).get_short_help_str() for name in COMMANDS)


def test_talk_that_standard_error_does_not_take_ends_nothing(monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(sys, "stderr", Full())
    print_message("a line")


@pytest.mark.parametrize("columns", [60, 120])
def test_comparisons_fit_the_terminal(run, monkeypatch, columns):
    class Known:
        name, baseline = "multicast, n=10 f=8, 128 destinations", "plain Python"

        def measure(self):
            return 1e-6, 2e-3

    class Lacking(Known):
        baseline = "a library"

        def measure(self):
            raise ImportError(name="library")

    monkeypatch.setattr(paper, "installed_benchmarks", lambda: [Known(), Lacking()])
    monkeypatch.setenv("COLUMNS", str(columns))
    out = run("bench")[1]
    assert all(len(line) <= columns for line in out.splitlines())
    assert "1,000,000          500      2,000x" in out
    assert "left out: library is not installed" in out
