"""The command line: lists of right and wrong lines; data on standard output, talk on standard error, one line for a mistake."""

import csv
import io
import json
import shlex
import subprocess
import sys

import click
import pytest
from helpers.command_line import ROOT
from helpers.compiled import mark_others_slow
from helpers.processes import TOY_FILE, run_fastcube

import fastcube as fc
from fastcube.cli import COMMANDS, checked_run, group, main
from fastcube.cli.terminal import colour_text
from fastcube.running import engines


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Results of the default study at three small points."""
    path = tmp_path_factory.mktemp("cli") / "u.h5"
    with pytest.raises(SystemExit) as exit_:
        main(
            [
                "run",
                "unsafe-fraction",
                "-o",
                str(path),
                "--set",
                "n=5,6",
                "--set",
                "f=2:3",
                "--trials",
                "1000",
                "--progress",
                "none",
            ]
        )
    assert exit_.value.code == 0
    return path


GOOD = [
    "--help",
    "--version",
    *(f"{name} --help" for name in COMMANDS),
    "list",
    "info",
    "run unsafe-fraction --set n=5 --set f=2 --trials 100 --progress none",
    "run unsafe-fraction --set n=5 --trials 1e2 --seed 9 --workers 1 --progress lines -o x.h5",  # default f, as far as possible
    "run unsafe-fraction --set n=1 --set f=0,1,2 --trials 1",  # the smallest cube, all faulty
    "run unsafe-rare --set n=62 --set f=5 --trials 10",
    pytest.param("run unsafe-fraction --set n=62 --set f=5 --trials 10", marks=pytest.mark.slow),
    "run unsafe-fraction --set n=4:6:2 --set f=2 --trials 100 --shard 0/3",
    "run unsafe-fraction --set n=5 --set f=3 --precision 0.05",
    "run unsafe-fraction --set n=5 --set f=3 --relative 20%",
    "run unsafe-fraction --set n=5 --set f=3 --events 10 --target all_unsafe --trials 1e4",
    "run unsafe-critical --set n=3 --set p=0.3 --trials 100",
    pytest.param("run dualcube-routing --set m=2 --set rate=0.2 --trials 100", marks=pytest.mark.slow),
    "slurm unsafe-fraction --set n=5 --set f=2 --array 8 --time 2:00:00 --trials 1e9 --sbatch --account=x",
    "replay unsafe-fraction --point n=6,f=4 --trial 12",
    pytest.param("replay unsafe-critical --point n=3,p=0.3 --trial 12 --json", marks=pytest.mark.slow),
    "faults unsafe-fraction --set n=8 --set f=4 --trials 5 --first 5 --seed 3",
]


def test_every_command_carries_its_own_name():
    context = click.Context(group, info_name="fastcube")
    assert [group.get_command(context, name).name for name in COMMANDS] == list(COMMANDS)


@pytest.mark.parametrize("line", GOOD)
def test_good_lines(run, line):
    code, out, _ = run(line)
    assert code == 0
    assert out


#: line, and what its one line of complaint must hold
BAD = [
    ("nonsense", "No such command 'nonsense'"),
    ("shwo x.h5", "No such command 'shwo'; did you mean show?"),
    ("run", "Missing argument 'STUDY'"),
    ("run unsafe-fractoin", "did you mean unsafe-fraction?"),
    ("run unsafe-fraction --grid figure8", "did you mean figure-8?"),
    ("run routing --set link=3", "link is not an axis of routing, which has n, f, links, k; did you mean links?"),
    ("run hitting --set failing=edges", "failing must be one of nodes, links, got edges; did you mean links?"),
    ("run hitting --set failing=Vertices", "did you mean nodes?"),
    ("run unsafe-fraction --events 3 --target unsafe_fractions", "did you mean unsafe_fraction?"),
    ("run unsafe-fraction --triels 3", "No such option '--triels'; did you mean --trials?"),
    (
        "run survival --network crossed",
        "No such option '--network'; fastcube run -h shows the options, and --set AXIS=",
    ),
    ("show x.h5 --n 5", "No such option '--n'; fastcube show -h shows the options"),
    ("run nobody", "study must be one of"),
    ("run nobody.py", "nobody.py does not exist"),
    ("run unsafe-fraction --frobnicate", "No such option"),
    ("run unsafe-fraction --set n=0", "n must be in [1, 62], got 0"),
    ("run unsafe-fraction --set n=63", "n must be in [1, 62], got 63"),
    ("run unsafe-fraction --set n=x", "n must be a value"),
    ("run unsafe-fraction --set n=2.5", "n must be an integer"),
    ("run unsafe-fraction --set n=10 --set f=1025", "f must be in [0, 1024] for n=10, got 1025"),
    ("run unsafe-fraction --set n=10 --set f=-1", "f must be"),
    ("run unsafe-fraction --set n=5:3", "n range must be lo:hi"),
    ("run unsafe-fraction --set q=3", "q is not an axis of unsafe-fraction, which has n, f"),
    ("run unsafe-fraction --set n", "set must be AXIS=VALUES"),
    ("run unsafe-fraction --trials 0", "trials must be in [1, "),
    ("run unsafe-fraction --trials 1.5", "trials must be a whole number"),
    ("run unsafe-fraction --trials -5", "trials must be in [1, "),
    ("run unsafe-fraction --precision 0", "precision must be in (0, 1), got 0.0"),
    ("run unsafe-fraction --relative 200%", "relative must be in (0, 1), got 2.0"),
    ("run unsafe-fraction --events 0", "events must be in [1, "),
    ("run unsafe-fraction --target nothing --events 3", "nothing is not a statistic of unsafe-fraction"),
    ("run unsafe-fraction --target rounds", "target needs a precision"),
    ("run unsafe-fraction --shard 3/3", "shard must be I/N with 0 <= I < N <= 1000000, got 3/3"),
    ("run unsafe-fraction --shard x", "shard must be I/N with 0 <= I < N, got x"),
    ("run unsafe-fraction --shard 0/3 --precision 0.1", "shard takes a fixed number of trials"),
    ("run unsafe-fraction --seed -1", "seed must be in [0, "),
    ("run unsafe-fraction --seed x", "seed must be a whole number"),
    ("run unsafe-fraction --workers 0", "workers must be in [1, 4096], got 0"),
    ("run unsafe-fraction --engine gpu", "engine must be threads, mpi or dask:"),
    ("run unsafe-fraction --engine dask:none.json", "none.json does not exist"),
    ("run unsafe-fraction --max-seconds 0", "max-seconds must be positive"),
    ("run unsafe-fraction --progress loud", "progress must be one of auto, bar, lines, none, got loud"),
    ("run unsafe-fraction -o nowhere/x.h5", "output folder nowhere does not exist"),
    ("run unsafe-fraction -o .", "output must be the name of a file, got '.'"),
    ("run unsafe-fraction --plot x.gif", "plot must end in one of .png, .svg, .pdf, got x.gif"),
    ("run unsafe-fraction --plot nowhere/x.png", "plot folder nowhere does not exist"),
    ("run unsafe-critical --set n=31 --set p=0.1", "n must be in [1, 30], got 31"),
    ("run unsafe-critical --set n=5 --set p=1.5", "p must be in [0"),
    ("run dualcube-routing --set m=31 --set rate=0.1", "m must be in [1, 30], got 31"),
    ("run dualcube-routing --set m=5 --set rate=1", "rate must be in [0, 1), got 1.0"),
    ("run dualcube-routing --set m=5 --set rate=-0.1", "rate must be in [0, 1), got -0.1"),
    ("show none.h5", "none.h5 does not exist"),
    ("show .", "is a folder"),
    ("show text.h5", "text.h5 is not an HDF5 file"),
    ("show foreign.h5", "foreign.h5 is truncated, or another program wrote it"),
    ("plot none.h5 -o x.png", "none.h5 does not exist"),
    ("plot none.h5", "none.h5 does not exist"),
    ("merge none.h5 -o x.h5", "none.h5 does not exist"),
    ("merge -o x.h5", "Missing argument"),
    ("status none.h5", "none.h5 does not exist"),
    ("info none.h5", "none.h5 does not exist"),
    ("replay none.h5 --point n=5,f=2 --trial 1", "none.h5 does not exist"),
    ("replay unsafe-fraction --point n=5 --trial 1", "f is missing"),
    ("replay unsafe-fraction --point n=5,f=99 --trial 1", "f must be in [0, 32] for n=5, got 99"),
    ("replay unsafe-fraction --point n=5,f=2 --trial -1", "trial must be in [0, "),
    ("faults unsafe-fraction --set n=8 --set f=4", "Missing option '--trials'"),
    ("faults unsafe-fraction --set n=8 --set f=4 --first 1e18 --trials 1e18", "trials must be in [0, "),
    ("slurm unsafe-fraction --array 0", "array must be in [1, 1000000], got 0"),
    ("slurm unsafe-fraction --array 4 --time soon", "time must be"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines(run, line, message, tmp_path):
    (tmp_path / "text.h5").write_text("just text\n")
    import h5py

    h5py.File(tmp_path / "foreign.h5", "w").close()
    code, out, err = run(line)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("fastcube: ")
    assert message in err


def test_nothing_is_left_behind_by_a_refused_run(run, tmp_path):
    run("run unsafe-fraction --set n=99")
    run("run unsafe-fraction --plot x.gif")
    assert list(tmp_path.iterdir()) == []


def test_csv(run, file):
    code, out, _ = run(f"show {file} --format csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert list(rows[0]) == [
        "study",
        "n",
        "f",
        "statistic",
        "trials",
        "eligible",
        "estimate",
        "stderr",
        "low",
        "high",
        "interval",
    ]
    numbers = [s for s in fc.study("unsafe-fraction").statistics if not isinstance(s, fc.Distribution)]
    assert len([row for row in rows if "=" not in row["statistic"]]) == 4 * len(numbers)
    assert {"rounds=0", "rounds=1"} <= {row["statistic"] for row in rows}
    assert {row["interval"] for row in rows} == {"exact", "bounded"}
    assert {row["trials"] for row in rows} == {"1000"}
    for row in rows:
        assert float(row["low"]) <= float(row["estimate"]) <= float(row["high"])


def test_json(run, file):
    _, out, _ = run(f"show {file} --format json")
    rows = json.loads(out)
    assert {(row["n"], row["f"]) for row in rows} == {(5, 2), (5, 3), (6, 2), (6, 3)}


def test_table_has_a_line_a_point(run, file):
    _, out, _ = run(f"show {file}")
    assert sum(line.split()[:1] in (["5"], ["6"]) for line in out.splitlines()) == 4


def test_status_of_whole_and_shards(run, file, tmp_path):
    _, out, _ = run(f"status {file} --json")
    about = json.loads(out)
    assert about["complete"] and about["shards"] is None
    for i in (0, 2):
        run(f"run unsafe-fraction --set n=5 --set f=2 --trials 1000 --shard {i}/4 -o s{i}.h5 --progress none")
    _, out, _ = run("status s0.h5 s2.h5 --json")
    about = json.loads(out)
    assert about["points"][0]["done"] == 500 and about["points"][0]["missing"] == 500
    assert about["shards"] == {"count": 4, "resubmit": [1, 3], "array": "1,3"}
    _, out, _ = run("status s0.h5 s2.h5")
    assert "resubmit: --array=1,3 (of 4 shards, one per task)" in out


def test_merge_prints_the_digest_of_the_whole(run, file):
    for i in range(2):
        run(f"run unsafe-fraction --set n=5,6 --set f=2:3 --trials 1000 --shard {i}/2 -o s{i}.h5 --progress none")
    _, _, err = run("merge s1.h5 s0.h5 -o all.h5")
    _, out, _ = run(f"info {file}")
    digest = next(line.split()[1] for line in out.splitlines() if line.startswith("digest"))
    assert digest in err


@pytest.mark.parametrize(
    ("suffix", "magic"), mark_others_slow([(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
)
def test_plot_in_every_format(run, file, tmp_path, suffix, magic):
    assert run(f"plot {file} -o fig{suffix}")[0] == 0
    assert (tmp_path / f"fig{suffix}").read_bytes().startswith(magic)


def test_replay_of_a_file_shows_words_and_json(run, file):
    code, out, _ = run(f"replay {file} --point n=6,f=3 --trial 77")
    assert code == 0
    *lines, last = out.strip().splitlines()
    data = json.loads(last)
    assert data["point"] == {"n": 6, "f": 3} and data["trial"] == 77
    assert lines


def test_seed_of_another_file_is_refused(run, file):
    assert "has seed 0" in run(f"run unsafe-fraction -o {file} --seed 1")[2]
    assert "has study unsafe-fraction" in run(f"run unsafe-critical -o {file}")[2]


def test_resuming_says_nothing_new_and_changes_nothing(run, file):
    before = run(f"info {file}")[1].split("digest")[1][:80]
    assert run(f"run unsafe-fraction -o {file} --set n=5,6 --set f=2:3 --trials 500")[0] == 0
    assert run(f"info {file}")[1].split("digest")[1][:80] == before


def test_without_matplotlib_plot_is_one_line_before_anything_is_computed(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # importing it fails
    code, out, err = run("run unsafe-fraction --plot x.png")
    assert (code, out, err) == (2, "", "fastcube: plots need matplotlib: pip install matplotlib\n")
    assert list(tmp_path.iterdir()) == []


def test_a_matplotlib_that_cannot_be_imported_is_one_line_before_anything_is_computed(tmp_path):
    done = run_fastcube("run", "unsafe-fraction", "--plot", "x.png", cwd=tmp_path, env={"MPLBACKEND": "nonsense"})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("fastcube: matplotlib cannot be imported: Key backend: 'nonsense'")
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("out", "environment", "expected"),
    [
        (Terminal(), {}, "\x1b[32m\x1b[1mholds\x1b[0m"),
        (Terminal(), {"NO_COLOR": "1"}, "holds"),
        (Terminal(), {"TERM": "dumb"}, "holds"),
        (io.StringIO(), {}, "holds"),
    ],
)
def test_colours_are_for_terminals_that_want_them(monkeypatch, out, environment, expected):
    for name, value in {"NO_COLOR": "", "TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", out)
    assert colour_text("holds", "green") == expected


def test_a_table_fits_the_terminal(run, file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    _, out, _ = run(f"show {file}")
    assert max(map(len, out.splitlines())) <= 50 and "left out for width" in out
    assert run(f"show {file} --format csv")[1].startswith("study,n,f,")


@pytest.mark.parametrize("reader", ["head -n 1", "true"])
def test_a_closed_pipe_is_no_error(file, reader):
    line = f"{shlex.quote(sys.executable)} -m fastcube show {shlex.quote(str(file))} --format csv | {reader}"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_example_study_runs(run, tmp_path):
    code, out, _ = run(
        f"run {ROOT / 'examples' / 'isolated.py'} --set n=4 --set p=0.5 --trials 2000 --plot fig.png --progress none"
    )
    assert code == 0
    assert "isolated" in out
    assert (tmp_path / "fig.png").exists()
    assert run("show isolated.h5")[0] == 0


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_info_prints_the_target_of_the_last_run(cli):
    for options, target in (
        (["--trials", "4096"], None),
        (["--precision", "0.2"], "precision 0.2 of bit, in the last run"),
        (
            ["--relative", "50%", "--events", "1e3", "--target", "bit"],
            "relative 50%, events 1,000 of bit, in the last run",
        ),
    ):
        cli("run", str(TOY_FILE), *options, "-o", "r.h5", "--progress", "none", "--force")
        found = [line for line in cli("info", "r.h5")[1].splitlines() if line.startswith("target")]
        assert found == ([f"target     {target}"] if target else [])


def test_info_names_the_commit_of_the_checkout(run):
    """The version that every results file and report names as its maker."""
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    assert head.strip() in run("info")[1]


def test_the_command_does_not_wait_for_a_compilation_that_is_not_needed(cli, monkeypatch):
    ended = []
    monkeypatch.setattr(checked_run, "exit_process", ended.append)
    monkeypatch.setattr(engines, "has_running_threads", lambda: True)
    cli("run", str(TOY_FILE), "--trials", "10", "-o", "r.h5")
    assert ended == [0]


def test_a_table_of_few_trials_says_so_where_a_time_limit_ended_the_run(cli, monkeypatch):
    from fastcube.running import driver, signals

    for trials, message in ((29, "fewer than 30 trials at 1 of 1 point\n"), (30, "")):
        results = fc.run(fc.study(str(TOY_FILE)), trials=trials, a=1)
        monkeypatch.setattr(driver, "run_study", lambda *_, found=results, **__: (found, signals.WORK_REMAINS))
        monkeypatch.setattr("fastcube.cli.terminal.exit_process", sys.exit)
        code, out, said = cli("run", TOY_FILE, "--trials", "100", "--set", "a=1", "--max-seconds", "9", "-o", "r.h5")
        assert (code, f" {trials} " in out) == (75, True)
        assert said.startswith(message + "fastcube: work remains; ")


@pytest.mark.parametrize("folder", ["a:b", "a\nb", "/"])
def test_machine_code_is_copied_only_where_a_path_can_name_it(cli, folder):
    code, out, said = cli("warmup", "unsafe-fraction", "--into", folder)
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith("fastcube: into must be a folder that FASTCUBE_CACHE_PATH can name, got ")
