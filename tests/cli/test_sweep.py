"""Sweeps: a TOML file's tables are command lines of ``run``, and say nothing else."""

import subprocess
import sys

import pytest
from helpers.processes import TOY_FILE

import fastcube as fc
from fastcube.cli import main
from fastcube.results.reading import open_results

SWEEP = f"""
[[run]]
study = "{TOY_FILE}"
set = {{ a = "1:2", work = [0] }}
trials = 3e3
seed = 5

[[run]]
study = "{TOY_FILE}"
set = {{ a = 7 }}
output = "seven.h5"
relative = "20%"
target = "octal"
"""


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SWEEP)
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--progress", "none"] if arguments[0] == "run" else list(arguments))
    return end.value.code


def test_each_table_is_a_command_line(sweep, capsys):
    assert run("run", "s.toml") == 0
    out, err = capsys.readouterr()
    assert out.count("Bits of a word") == 2
    assert err.splitlines() == ["results in toy.h5", "results in seven.h5", "relative 20% was reached on octal"]
    first, second = open_results(sweep / "toy.h5"), open_results(sweep / "seven.h5")
    assert first.digest() == fc.run(TOY_FILE, a=[1, 2], work=0, trials=3000, seed=5).digest()
    assert second.digest() == fc.run(TOY_FILE, a=7, relative="20%", target="octal").digest()
    assert run("run", "s.toml") == 0  # again: nothing to do


def test_what_is_typed_stands_in_place_of_the_file(sweep, capsys):
    assert run("run", "s.toml", "--seed", "9", "--dry-run") == 0
    out, _ = capsys.readouterr()
    assert out.count("study   toy") == 2
    assert not [*sweep.glob("*.h5")]
    text = SWEEP.replace('relative = "20%"\ntarget = "octal"', "trials = 100")
    (sweep / "s.toml").write_text(text)
    for i in range(2):
        assert run("run", "s.toml", "--shard", f"{i}/2") == 0
    whole = fc.merge([sweep / "seven-0.h5", sweep / "seven-1.h5"])
    assert whole.digest() == fc.run(TOY_FILE, a=7, trials=100).digest()


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("seed = 5", "sead = 5", "run 1 of s.toml has no option sead; did you mean seed?"),
        ("seed = 5", "force = true", "run 1 of s.toml has no option force"),
        ("seed = 5", "dry-run = true", "run 1 of s.toml has no option dry-run"),
        ("seed = 5", "seed = [[1]]", "seed of run 1 of s.toml must be text or a number, got [[1]]"),
        (
            'output = "seven.h5"',
            "output = ['a', 'b']",
            "output of run 2 of s.toml must be text, got ['a', 'b']",
        ),
        ('output = "seven.h5"', "output = 7", "output of run 2 of s.toml must be text, got 7"),
        ('output = "seven.h5"', "output = ''", "run 2 of s.toml: output must be a path, got ''"),
        (
            'output = "seven.h5"',
            "plot = 'x.txt'",
            "run 2 of s.toml: plot must end in one of .png, .svg, .pdf, got x.txt",
        ),
        *[
            ("a = 7", f"a = {value}", f"a of run 2 of s.toml must be text, a number or a list of them, got {shown}")
            for value, shown in (
                ("[[7]]", "[[7]]"),
                ("[7, true]", "[7, True]"),
                ("[]", "[]"),
                ("2026-01-02", "datetime.date(2026, 1, 2)"),
            )
        ],
        ('output = "seven.h5"', "engine = 'gpu'", "run 2 of s.toml: engine must be threads, mpi or dask:..., got gpu"),
        ('output = "seven.h5"', "max-seconds = -1", "run 2 of s.toml: max-seconds must be positive, got -1.0"),
        ('output = "seven.h5"', "checkpoint = 0", "run 2 of s.toml: checkpoint must be in [1, 86400] seconds, got 0.0"),
        ("seed = 5", "workers = 'x'", "run 1 of s.toml: Invalid value for '--workers': 'x' is not a valid integer."),
        ("a = 7", "b = 7", "run 2 of s.toml: b is not an axis of toy"),
        ("[[run]]", "[[ran]]", "s.toml must hold tables [[run]] and nothing else, got ran"),
        ("seed = 5", "seed = ", "s.toml is not TOML: "),
        ("trials", "study = 3\n#", "s.toml is not TOML: "),
        (f'study = "{TOY_FILE}"', "", "study of run 1 of s.toml must be the name of a study or a file, got None"),
        ('output = "seven.h5"', 'output = "toy.h5"', "output must be different for each run, got toy.h5 twice"),
        ('output = "seven.h5"', 'output = "none/x.h5"', "output folder none does not exist"),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_runs(sweep, capsys, old, new, reported):
    (sweep / "s.toml").write_text(SWEEP.replace(old, new))
    assert run("run", "s.toml") == 2
    err = capsys.readouterr().err
    assert err.startswith("fastcube: ")
    assert reported in err
    assert err.count("\n") == 1
    assert not [*sweep.glob("*.h5")]


def test_two_runs_do_not_write_one_figure(sweep, capsys):
    (sweep / "s.toml").write_text(SWEEP.replace("[[run]]", "[[run]]\nplot = 'p.png'"))
    assert run("run", "s.toml") == 2
    assert capsys.readouterr().err == "fastcube: plot must be different for each run, got p.png twice\n"
    (sweep / "s.toml").write_text(SWEEP.replace("seed = 5", "plot = 'seven.png'").replace("seven.h5", "seven.png"))
    assert run("run", "s.toml") == 2
    assert capsys.readouterr().err == "fastcube: plot must be different for each run, got seven.png twice\n"
    assert not [*sweep.glob("*.h5")]


def test_an_output_on_the_command_line_is_refused(sweep, capsys):
    assert run("run", "s.toml", "-o", "x.h5") == 2
    assert "output must be set in s.toml, where each run has its own" in capsys.readouterr().err
    assert run("run", "none.toml") == 2
    assert "none.toml cannot be read: No such file or directory" in capsys.readouterr().err


def test_slurm_takes_a_sweep(sweep, capsys):
    assert run("slurm", "s.toml", "--array", "4") == 2
    assert "s.toml" not in capsys.readouterr().out  # a shard has no target
    (sweep / "s.toml").write_text(SWEEP.replace('relative = "20%"\ntarget = "octal"', "trials = 100"))
    assert run("slurm", "s.toml", "--array", "4") == 0
    script = capsys.readouterr().out
    assert f'run {sweep}/s.toml --shard "$shard/4" --progress lines\n' in script
    assert "for name in toy seven; do" in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    assert run("slurm", "s.toml", "--array", "4", "--seed", "3") == 2
    assert "seed must be set in s.toml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("dask", "engine must be threads, mpi, dask:tcp://HOST:PORT or dask:FILE.json, got dask"),
        ("dask:nofile.json", "engine dask: scheduler file nofile.json does not exist"),
        ("dask:tcp://127.0.0.1:9", "engine dask: no scheduler at tcp://127.0.0.1:9"),
        ("mpi", "engine mpi needs"),
    ],
)
def test_an_engine_of_the_last_run_is_tried_before_the_first_run(sweep, capsys, monkeypatch, engine, said):
    if engine == "mpi":
        monkeypatch.setitem(sys.modules, "mpi4py", None)
    elif engine.startswith("dask:"):
        pytest.importorskip("distributed")
    runs = f"[[run]]\nstudy = '{TOY_FILE}'\ntrials = 10\n"
    (sweep / "s.toml").write_text(f"{runs}{runs}output = 'last.h5'\nengine = '{engine}'\n")
    assert run("run", "s.toml") == 2
    reported = capsys.readouterr()
    assert (
        reported.out == ""
        and reported.err.startswith(f"fastcube: run 2 of s.toml: {said}")
        and reported.err.count("\n") == 1
    )
    assert not list(sweep.glob("*.h5"))


def test_a_script_is_printed_where_no_scheduler_answers_yet(sweep, capsys):
    pytest.importorskip("distributed")
    (sweep / "s.toml").write_text(f"[[run]]\nstudy = '{TOY_FILE}'\ntrials = 10\nengine = 'dask:tcp://127.0.0.1:9'\n")
    assert run("slurm", "s.toml", "--array", "2") == 0


def test_a_sweep_may_begin_with_a_byte_order_mark(sweep, capsys):
    (sweep / "s.toml").write_text(f"\ufeff[[run]]\nstudy = '{TOY_FILE}'\nset = {{ a = 1, work = 0 }}\ntrials = 10\n")
    assert run("run", "s.toml") == 0
