"""What a job array needs beside ``run``: merge, status, the printed script."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE
from toy import TOY

import fastcube as fc
from fastcube.cli import main, slurm
from fastcube.cli.list import _grid_text
from fastcube.cli.slurm import _parse_time_limit
from fastcube.cli.status import _incomplete_shards, array_list
from fastcube.measure import registry
from fastcube.measure.goal import Goal
from fastcube.measure.tally import Tally, count_trials
from fastcube.results import memory, reading, untrusted_hdf5
from fastcube.results.columns import Identity
from fastcube.results.combining import merge
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.running.engines import WorkUnit, run_unit


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    """Run a command in the test's folder; return exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        told = capsys.readouterr()
        return ended.value.code, told.out, told.err

    return call


def shard(i, count, trials, **options):
    return fc.run(fc.study(TOY_FILE), trials=trials, shard=(i, count), output=f"{i}of{count}.h5", **options)


def incomplete(output):
    """Ten trials of a million, and perhaps more, however slow the machine is."""
    for trials, seconds in ((10, None), (10**6, 0.02)):
        fc.run(fc.study(TOY_FILE), trials=trials, work=1e5, a=1, output=output, max_seconds=seconds)


# ---------------------------------------------------------------- merge


def test_merge_adds_and_says_the_digest(cli):
    for i in range(3):
        shard(i, 3, 1000)
    code, out, said = cli("merge", "0of3.h5", "2of3.h5", "1of3.h5", "-o", "all.h5")
    digest = fc.run(TOY, trials=1000).digest()
    assert (code, out) == (0, "")
    assert said == f"merged 3 files, 2,000 trials at 2 points, into all.h5; digest {digest}\n"
    assert cli("merge", "all.h5", "-o", "copy.h5")[2].endswith(f"digest {digest}\n")


def test_merge_refuses_in_one_line_that_names_both_files(cli):
    shard(0, 2, 1000)
    shard(1, 3, 1000)
    shard(1, 2, 1000, seed=7)
    fc.run(TOY, output="whole.h5", trials=10)
    code, _, said = cli("merge", "0of2.h5", "1of3.h5", "-o", "all.h5")
    assert (code, said.count("\n")) == (2, 1)
    assert said == "fastcube: 0of2.h5 and 1of3.h5 overlap at a=1,work=0.0: trials 333..499 are in both\n"
    assert cli("merge", "0of2.h5", "0of2.h5", "-o", "all.h5")[2].startswith("fastcube: 0of2.h5 and 0of2.h5 overlap")
    assert cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")[2] == "fastcube: 1of2.h5 has seed 7, 0of2.h5 has seed 0\n"


def test_merge_does_not_replace_a_file_that_holds_more(cli):
    shard(0, 2, 1000)
    shard(1, 2, 1000)
    assert cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")[0] == 0
    assert cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")[0] == 0
    extended = fc.run(fc.study(TOY_FILE), trials=1500, output="all.h5").digest()
    code, _, said = cli("merge", "0of2.h5", "1of2.h5", "-o", "all.h5")
    assert (code, said) == (
        2,
        "fastcube: all.h5 holds trials of a=1,work=0.0 that the merge lacks; use another output\n",
    )
    assert open_results("all.h5").digest() == extended


@pytest.mark.slow
def test_many_shards_merge_into_the_whole(tmp_path):
    study, paths = registry.register_live_study(TOY), []
    for i in range(100):
        results = Results(study, 0)
        for point in study.grid().points:
            first, stop = 5 * i, 5 * i + 5
            done = run_unit(WorkUnit(study, 0, tuple(point.items()), first, stop))
            results.tallies[tuple(point.values())] = Tally.from_slots(study.tally, first, stop, done.slots[0])
        paths.append(tmp_path / f"{i}.h5")
        results.save(paths[-1])
    merged = merge(paths)
    assert merged.digest() == fc.run(TOY, trials=500).digest()


# ---------------------------------------------------------------- status


def test_status_of_shards_says_what_to_resubmit(cli):
    for i in (0, 1, 3, 4, 7):
        shard(i, 8, 1000)
    shard(5, 8, 1000, a=1)  # one point of two
    code, out, _ = cli("status", *[f"{i}of8.h5" for i in (0, 1, 3, 4, 5, 7)])
    assert code == 1
    assert out.splitlines()[-1] == "resubmit: --array=2,5-6 (of 8)"
    told = json.loads(cli("status", "--json", *[f"{i}of8.h5" for i in (0, 1, 3, 4, 5, 7)])[1])
    assert told["shards"] == {"count": 8, "resubmit": [2, 5, 6], "array": "2,5-6"}
    assert not told["complete"]
    assert [(p["point"]["a"], p["done"], p["wanted"], p["missing"]) for p in told["points"]] == [
        (1, 750, 1000, 250),
        (2, 625, 1000, 375),
    ]
    low, high = told["points"][0]["low"], told["points"][0]["high"]
    assert 0 < low < told["points"][0]["estimate"] < high < 1
    for i in (2, 5, 6):
        shard(i, 8, 1000)
    assert cli("status", *[f"{i}of8.h5" for i in range(8)])[1].splitlines()[-1] == "all 8 shards are complete"


def test_status_sees_merged_files_and_a_coarser_partition(cli):
    for i in range(4):
        shard(i, 4, 1000)
    merge([f"{i}of4.h5" for i in range(2)]).save("half.h5")
    assert cli("status", "half.h5", "2of4.h5")[1].splitlines()[-1] == "resubmit: --array=3 (of 4)"
    shard(4, 8, 2000)
    files = ["half.h5", "2of4.h5", "3of4.h5", "4of8.h5"]
    assert cli("status", *files)[1].splitlines()[-1] == "resubmit: --array=5-7 (of 8)"


@pytest.mark.parametrize(
    ("trials", "count"), mark_others_slow([(1000, 7), (10, 64), (100, 100), (1000, 10**6)], default=3)
)
def test_status_names_the_shards_whose_trials_are_missing(trials, count):
    most, part = Goal(trials, shard=(0, count)), Tally.from_slots(TOY.tally, 3, 9, TOY.tally.new_tally())
    results = Results(TOY, 0, {(1, 0.0): part}, most)
    bounds = [(trials * i // count, trials * (i + 1) // count) for i in range(count)]
    again = [i for i, (first, stop) in enumerate(bounds) if first < stop and (first < 3 or stop > 9)]
    assert _incomplete_shards([results], results) == (count, again, trials - 6)


def test_status_of_one_run(cli):
    fc.run(fc.study(TOY_FILE), trials=1000, output="r.h5")
    assert cli("status", "r.h5")[1].splitlines()[-1] == "complete"
    incomplete("r.h5")
    assert cli("status", "r.h5")[1].splitlines()[-1] == "not complete: run the same command again, without force"


def test_status_names_the_command_that_goes_on(cli, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/opt/bin/fastcube", "run", "a toy.py", "--force", "-o", "r.h5"])
    incomplete("r.h5")
    told = "not complete: go on with: fastcube run 'a toy.py' -o r.h5"
    assert cli("status", "r.h5")[1].splitlines()[-1] == told
    monkeypatch.setattr("sys.argv", ["/opt/bin/python", "mine.py"])
    merge(["r.h5"]).save("m.h5")
    assert cli("status", "m.h5")[1].splitlines()[-1] == "not complete: run the same command again, without force"


def test_status_sees_which_shards_a_merged_array_lacks(cli, monkeypatch):
    for i, form in ((0, ["--shard", "0/4"]), (2, ["--shard=2/4"])):
        monkeypatch.setattr("sys.argv", ["/opt/fastcube/__main__.py", "run", "toy.py", *form])
        shard(i, 4, 1000)
    monkeypatch.setattr("sys.argv", ["fastcube", "merge", "0of4.h5", "2of4.h5", "-o", "half.h5"])
    merge(["0of4.h5", "2of4.h5"]).save("half.h5")
    merge(["half.h5"]).save("copy.h5")
    for file in ("half.h5", "copy.h5"):
        assert cli("status", file)[1].splitlines()[-1] == "resubmit: --array=1,3 (of 4)"
    for history in (
        [{"resources": {"merged": [{"runs": [3]}, 5], "engine": 1}, "parameters": []}],
        [],
        [{"resources": 7}],
    ):
        half = open_results("half.h5")
        half.history = history
        half.save("odd.h5")
        assert cli("status", "odd.h5")[1].splitlines()[-1] == "not complete: run the same command again, without force"


def test_a_grid_may_give_each_point_its_own_trials(cli, tmp_path):
    # a = 1 takes 100, a = 2 takes 200; off the grid, the fewest
    file = tmp_path / "uneven.py"
    file.write_text(
        "import dataclasses\n"
        "from toy import TOY\n"
        "own = dataclasses.replace(TOY.grids[0], name='uneven', trials=lambda point: 100 * point['a'])\n"
        "TOY = dataclasses.replace(TOY, grids=(*TOY.grids, own))\n"
    )
    assert cli("run", file, "--grid", "uneven", "--shard", "1/4", "-o", "1.h5", "--progress", "none")[0] == 0
    assert [t.ranges for _, t in open_results("1.h5")] == [((25, 50),), ((50, 100),)]
    told = json.loads(cli("status", "--json", "1.h5")[1])
    assert [(p["wanted"], p["missing"]) for p in told["points"]] == [(100, 75), (200, 150)]
    assert told["shards"] == {"count": 4, "resubmit": [0, 2, 3], "array": "0,2-3"}
    code, script, _ = cli("slurm", file, "--grid", "uneven", "--array", "4")
    assert code == 0 and "--trials" not in script and "the grid's trials of each point in 4 shards" in script
    run = fc.study(str(file))
    assert [t.trials for _, t in fc.run(run, grid="uneven", a=[1, 2, 3])] == [100, 200, 100]
    assert [t.trials for _, t in fc.run(run, grid="uneven", trials=7)] == [7, 7]
    assert "100 to 200 trials each" in _grid_text(run, run.grid("uneven"))
    assert "5,000 trials each" in _grid_text(run, run.grid())


def test_status_tells_the_trials_that_would_reach_a_target(cli):
    fc.run(fc.study(TOY_FILE), a=1, trials=4096, output="r.h5")
    told = json.loads(cli("status", "r.h5", "--precision", "0.002", "--json")[1])
    need = told["points"][0]["trials_for_target"]
    reached = fc.run(TOY, a=1, precision=0.002)
    assert need <= sum(count_trials(t.ranges) for _, t in reached) <= 2.2 * need
    assert "trials for target" in cli("status", "r.h5", "--relative", "1%")[1]


def test_status_fits_a_narrow_terminal(cli, monkeypatch):
    fc.run(TOY, trials=5000).save("r.h5")
    wide = cli("status", "r.h5", "--relative", "1%")[1]
    assert "left out" not in wide
    monkeypatch.setenv("COLUMNS", "36")
    out = cli("status", "r.h5", "--relative", "1%")[1]
    head, *_, told, last = out.splitlines()
    assert head.split() == ["a", "work", "done", "wanted", "missing"]
    assert told == "left out for width, in --json: bit, trials for target"
    assert last == wide.splitlines()[-1]
    assert all(len(line) <= 36 for line in out.splitlines()[:-2])


def test_status_of_a_target_run(cli):
    fc.run(fc.study(TOY_FILE), a=1, precision=0.02, output="r.h5")
    assert (
        cli("status", "r.h5")[1].splitlines()[-1] == "trials wanted depend on the target of the run, which is reached"
    )


@pytest.mark.parametrize(
    ("tasks", "text"), [([], ""), ([4], "4"), ([3, 1, 2], "1-3"), ([0, 1, 2, 7, 9, 10], "0-2,7,9-10")]
)
def test_array_list(tasks, text):
    assert array_list(tasks) == text


# ---------------------------------------------------------------- the script


def test_the_script_is_a_shell_script_with_the_shards_spelled_out(cli, tmp_path):
    code, script, _ = cli(
        "slurm",
        TOY_FILE,
        "--array",
        "64",
        "--trials",
        "1e9",
        "--set",
        "a=1,2",
        "--at-once",
        "8",
        "--cpus",
        "4",
        "--time",
        "1-0",
        "--sbatch",
        "--account=physics",
        "--seed",
        "3",
    )
    assert code == 0
    for line in (
        "#SBATCH --array=0-63%8",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --time=1-0",
        "#SBATCH --account=physics",
        "#SBATCH --signal=B:USR1@60",
        "#SBATCH --requeue",
    ):
        assert line in script.splitlines()
    assert f'run {TOY_FILE} --shard "$SLURM_ARRAY_TASK_ID/64" -o toy-"$SLURM_ARRAY_TASK_ID".h5' in script
    assert "--set a=1,2 --trials 1000000000 --seed 3" in script
    (tmp_path / "job.sh").write_text(script)
    subprocess.run(["bash", "-n", tmp_path / "job.sh"], check=True)


def test_the_script_names_a_study_of_a_file_in_full(cli, tmp_path):
    (tmp_path / "two words.py").write_text(
        "import dataclasses\nfrom toy import TOY\nOTHER = dataclasses.replace(TOY, name='other')\n"
    )
    script = cli("slurm", "two words.py:other", "--array", "2")[1]
    assert f"run '{tmp_path}/two words.py:other' --shard" in script


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--array", "0"), "array must be in"),
        (("--array", "4", "--time", "soon"), "time must be minutes, "),
        (("--array", "4", "--time", "٣٠"), "time must be minutes, "),
        (("--array", "4", "--time", "9" * 5000), "time must be minutes, "),
        (("--array", "4", "--mem", "٣G"), "mem must be a number of MiB or a size such as 2G, got ٣G"),
        (("--array", "4", "--sbatch=-"), "sbatch must be an option of sbatch, such as --account=physics, got -"),
        (("--array", "4", "--sbatch=--"), "sbatch must be an option of sbatch, such as --account=physics, got --"),
        (
            ("--array", "4", "--time", "2", "--margin", "60"),
            "time must be longer than the margin of 60 s by 120 s or more, got 2",
        ),
        (("--array", "4", "--ranks", "4"), "ranks is not an option of engine threads"),
        (("--engine", "mpi"), "Missing option '--ranks'"),
        (("--engine", "mpi", "--ranks", "1"), "ranks must be in [2, 100000], got 1"),
        (("--engine", "dask", "--ranks", "4", "--array", "4"), "array is not an option of engine dask"),
        (("--engine", "gpu", "--ranks", "4"), "'gpu' is not one of 'threads', 'mpi', 'dask'"),
        (("--trials", "9"), "Missing option '--array'"),
        (("--array", "4", "--tasks", "5"), "tasks must be in [1, 4], got 5"),
        (("--array", "4", "--relative", "1%"), "a job needs a number of trials: `fastcube status FILE --relative 1%`"),
        (("--array", "4", "--mem", "much"), "mem must be a number of MiB or a size such as 2G, got much"),
        (("--array", "4", "--sbatch=--time=02:00:00"), "sbatch must not set time, got --time=02:00:00; use --time"),
        (("--array", "4", "--sbatch=-t 5"), "sbatch must not set time, got -t 5; use --time"),
        (("--array", "4", "--sbatch=--account=a --out=x.log"), "sbatch must not set output"),
        (
            ("--array", "4", "--sbatch=--array=0-9"),
            "sbatch must not set array, got --array=0-9; use --array and --at-once",
        ),
        (
            ("--array", "4", "--sbatch=--mem-per-cpu=1G"),
            "sbatch must not set mem-per-cpu, got --mem-per-cpu=1G; use --mem",
        ),
        (("--array", "4", "--sbatch=account=physics"), "sbatch must be an option of sbatch, such as --account=physics"),
        (("--array", "4", "--setup", "module load x\ntouch y"), "setup must be printable text on one line"),
        (("--array", "4", "-o", "nofolder/r"), "output folder nofolder does not exist"),
        (("--array", "4", "--at-once", "5"), "at-once must be in"),
        (("--array", "4", "--set", "a=200"), "a must be in"),
    ],
)
def test_bad_options_of_the_script(cli, options, message):
    code, out, said = cli("slurm", TOY_FILE, *options)
    assert (code, out) == (2, "")
    assert message in said


OWNED = {
    "array": ["--array=0-9", "-a0-9", "--arr 0-9", "-Ha5"],
    "chdir": ["-D /tmp", "--chdir=/tmp", "--chd=/tmp"],
    "cpus-per-gpu": ["--cpus-per-gpu=2"],
    "cpus-per-task": ["-c4", "-Qvc 4", "--cpus-per-task 4"],
    "job-name": ["-J x", "-vJx", "--job=x"],
    "mem": ["--mem=1G"],
    "mem-per-gpu": ["--mem-per-gpu=1G"],
    "nodes": ["-N 2", "--nodes=2", "-sN2"],
    "no-requeue": ["--no-requeue", "--no-r"],
    "ntasks": ["-n 4", "-vn4", "--nt=4"],
    "ntasks-per-gpu": ["--ntasks-per-gpu=2"],
    "ntasks-per-node": ["--ntasks-per-node=2"],
    "open-mode": ["--open-mode=truncate"],
    "output": ["-o x", "-vvox", "--ou=x.log", "--account=a --out=x.log"],
    "requeue": ["--requeue", "--req"],
    "signal": ["--signal=USR1@5", "--sig=9"],
    "test-only": ["--test-only", "--test"],
    "time": ["-t5", "-vt5", "-Qt5", "-Hkt 5", "-t=5", "--time 5", "-p a -vt 5", "-A 'a b' -t5", "--ti=5"],
    "time-min": ["--time-min=5", "--time-m=5"],
    "wait": ["-W", "-vW", "--wait"],
    "wrap": ["--wrap=hostname", "--wr x"],
}


@pytest.mark.parametrize("owned", OWNED)
def test_options_of_sbatch_that_would_break_the_script(cli, owned):
    for text in OWNED[owned]:
        code, out, said = cli("slurm", TOY_FILE, "--array", "4", f"--sbatch={text}")
        assert (code, out, said.count("\n")) == (2, "", 1), text
        assert said.startswith(f"fastcube: sbatch must not set {owned}, got {text}; ")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "--account=t5",
            "-At5",
            "-pt",
            "-p normal",
            "--comment='-t5 a'",
            "-dafterok:1",
            "--dependency=afterok:1",
            "-b now",
        ),
        *(
            "--export=NONE",
            "--exclusive",
            "--exclude=n1",
            "-xn1",
            "-wn1",
            "-Cavx2",
            "--mail-type=FAIL",
            "--parsable",
            "-vQ",
        ),
        *(
            "--mem-bind=local",
            "--nodelist=n1",
            "--nice=5",
            "-L a",
            "--gres=gpu:1",
            "--wait-all-nodes=1",
            "--error=e",
            "-q n",
        ),
        *(
            "--no-kill",
            "-k",
            "--hold",
            "--hint=nomultithread",
            "--tmp=1G",
            "--threads-per-core=1",
            "--wckey=x",
            "-ee.log",
        ),
    ],
)
def test_options_of_sbatch_that_the_script_passes_on(cli, text):
    assert f"#SBATCH {text}\n" in script_of(cli, "--array", "4", f"--sbatch={text}")[0]


def test_nodes_are_for_engines_with_ranks(cli):
    for option in ("--nodes=2", "-N2", "--ntasks-per-node=2"):
        assert f"#SBATCH {option}\n" in script_of(cli, "--engine", "mpi", "--ranks", "4", f"--sbatch={option}")[0]


def test_an_abbreviated_exclusive_takes_the_whole_node(cli):
    for text in ("--exclusive=user", "--exclu", "-p a --exclusive"):
        script, _ = script_of(cli, "--array", "4", f"--sbatch={text}")
        assert "#SBATCH --mem=0\n" in script and "--cpus-per-task" not in script


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["module load 'x"], "(line 1: unexpected EOF while looking for matching `''"),
        (["if true; then"], "syntax error"),
        (["fi"], "syntax error near unexpected token `fi'"),
        (["echo a &&"], "syntax error"),
        (["cat <<END"], "here-document"),
        (["x=$(date"], "unexpected EOF"),
        (["module load x \\"], "its last line would go on with the script's next"),
        (["#SBATCH --time=9"], "use --sbatch"),
        (["#PBS -l nodes=2"], "use --sbatch"),
    ],
)
def test_setup_that_bash_cannot_parse_or_that_sbatch_would_read(cli, lines, why):
    code, out, said = cli("slurm", TOY_FILE, "--array", "4", *(f"--setup={line}" for line in lines))
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith("fastcube: setup must be ")
    assert why in said


def test_setup_of_several_lines(cli):
    lines = ["# modules", "if [ -d /opt ]; then", "  module load 'a b'", "fi", "source /x/bin/activate"]
    script, _ = script_of(cli, "--array", "4", *(f"--setup={line}" for line in lines))
    assert "\n".join(lines) + "\nexport OMP_NUM_THREADS" in script


def script_of(cli, *options, study=TOY_FILE):
    code, script, said = cli("slurm", study, "--set", "a=1", "--set", "work=0", *options)
    assert code == 0, said
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    return script, said


def test_the_script_begins_with_what_the_site_needs(cli):
    setup = ("--setup", "module load python", "--setup", "source env/bin/activate", "--python", "/opt/my python")
    script, _ = script_of(cli, "--array", "4", *setup)
    lines = script.splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("#SBATCH"))
    assert lines[last + 2 : last + 4] == ["module load python", "source env/bin/activate"]
    assert "'/opt/my python' -P -m fastcube run" in script and sys.executable not in script


def test_the_script_asks_for_the_memory_that_the_study_needs(cli, monkeypatch):
    figures = {"toy": {"cold": 300, "warm": 170, "worker": 100}}
    monkeypatch.setattr(memory, "_measured_studies", lambda: figures)
    assert "#SBATCH --mem=384M" in script_of(cli, "--array", "4")[0]
    assert "#SBATCH --mem=768M" in script_of(cli, "--array", "4", "--cpus", "4")[0]
    assert "#SBATCH --mem-per-cpu=384M" in script_of(cli, "--engine", "mpi", "--ranks", "4")[0]
    assert "#SBATCH --mem=2G" in script_of(cli, "--array", "4", "--mem", "2G")[0]
    figures.clear()
    script, said = script_of(cli, "--array", "4")
    assert "#SBATCH --mem=512M" in script and "memory of toy was not measured" in said


def test_an_exclusive_task_uses_its_whole_node(cli):
    script, _ = script_of(cli, "--array", "4", "--sbatch=--exclusive")
    assert "--cpus-per-task" not in script and "#SBATCH --mem=0" in script
    assert "#SBATCH --cpus-per-task=8" in script_of(cli, "--array", "4", "--sbatch=--exclusive", "--cpus", "8")[0]


def test_the_script_states_the_cost_and_warns_where_it_passes_the_time(cli):
    script, said = script_of(cli, "--array", "4", "--trials", "100")
    assert re.search(r"^# It takes <?[0-9.,]+ CPU hours in all, .* per task with 1 processor\.$", script, re.MULTILINE)
    assert "more than --time" not in said
    assert "more than --time 01:00:00" in script_of(cli, "--array", "4", "--trials", "1e15")[1]


def test_many_shards_are_shared_by_fewer_tasks(cli):
    script, said = script_of(cli, "--array", "4000", "--trials", "1e6")
    assert "MaxArraySize" in said and "--tasks 1000 gives each task 4 shards" in said
    script, said = script_of(cli, "--array", "4000", "--tasks", "1000", "--trials", "1e6")
    assert "#SBATCH --array=0-999" in script and "MaxArraySize" not in said
    assert 'shards=$(seq "$SLURM_ARRAY_TASK_ID" 1000 3999)' in script
    assert '--shard "$shard/4000" -o toy-"$shard".h5' in script


@pytest.mark.parametrize(("engine", "words"), [("mpi", "mpiexec -n 64 "), ("dask", "-m dask worker --scheduler-file")])
def test_engines_have_scripts_too(cli, engine, words):
    script, _ = script_of(cli, "--engine", engine, "--ranks", "64")
    assert "#SBATCH --ntasks=64" in script and "#SBATCH --signal=B:USR1@60" in script
    assert words in script and f"--engine {engine}" in script and 'scontrol requeue "$SLURM_JOB_ID"' in script
    assert "--shard" not in script and " -o toy.h5 " in script
    lines = script.splitlines()
    commands = [at for at, line in enumerate(lines) if " fastcube warmup " in line or " fastcube run " in line]
    assert len(commands) == 2
    for at in commands:  # what bash does not wait for gets no signal, and its exit status is lost
        assert (lines[at][-2:], lines[at + 1].strip()) == (" &", "finish $!")


@pytest.mark.parametrize("folder", ["my.pyproj", "discord.py", "a:b", "two words", "x.python"])
def test_a_study_in_any_folder_is_found_again(cli, tmp_path, monkeypatch, folder):
    """The cost is not measured, because each copy of the study would be compiled."""
    monkeypatch.setattr(slurm, "_cost_comments", lambda *_: [])
    (tmp_path / folder).mkdir()
    shutil.copy(TOY_FILE, tmp_path / folder / "s.py")
    for study in (f"{folder}/s.py", f"{folder}/s.py:toy"):
        script, _ = script_of(cli, "--array", "2", study=study)
        (line,) = [line for line in script.splitlines() if "fastcube run " in line]
        assert shlex.split(line)[5] == f"{tmp_path}/{study}"
        assert fc.study(shlex.split(line)[5]).name == "toy"


def test_names_that_would_add_lines_are_refused(cli, tmp_path):
    folder = tmp_path / "nl\ntouch PWNED\n"
    folder.mkdir()
    shutil.copy(TOY_FILE, folder / "s.py")
    sweep = f'[[run]]\nstudy = "{TOY_FILE}"\ntrials = 100\n'
    (tmp_path / "a\ntouch PWNED.toml").write_text(sweep)
    for study in (str(folder / "s.py"), "a\ntouch PWNED.toml"):
        code, out, said = cli("slurm", study, "--array", "2")
        assert (code, out) == (2, "")
        assert said.count("\n") == 1 and "printable" in said
    (tmp_path / "a b;x.toml").write_text(sweep)
    script = cli("slurm", "a b;x.toml", "--array", "2")[1]
    assert "#SBATCH --job-name=fastcube-a-b-x\n" in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def run_script(folder, script, **variables):
    """Run a script as a task of a job with a fake scontrol; return the output, and the arguments that scontrol got."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "scontrol").write_text(f"#!/bin/sh\necho $* >> {folder}/asked\n")
    (folder / "bin" / "scontrol").chmod(0o755)
    environment = {**CLEAN_ENVIRONMENT, "PATH": f"{folder}/bin:{os.environ['PATH']}", **variables}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    asked = (folder / "asked").read_text() if (folder / "asked").exists() else ""
    return done, asked


TASK = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_JOB_ID": "5", "SLURM_JOB_ID": "7"}


def test_a_run_without_progress_is_requeued_a_few_times_only(cli, tmp_path):
    (tmp_path / "idle").write_text("#!/bin/sh\nexit 75\n")
    (tmp_path / "idle").chmod(0o755)
    script, _ = script_of(cli, "--array", "2", "--python", str(tmp_path / "idle"))
    for restarts, requeued in (("0", True), ("2", True), ("3", False)):
        (tmp_path / "asked").unlink(missing_ok=True)
        done, asked = run_script(tmp_path, script, **TASK, SLURM_RESTART_COUNT=restarts)
        assert done.returncode == 75
        assert asked == ("requeue 5_1\n" if requeued else "")
        assert ("no progress after 3 restarts, not requeued: give it more --time" in done.stderr) != requeued
    (tmp_path / "idle").write_text("#!/bin/sh\necho > toy-1.h5\nexit 75\n")
    assert run_script(tmp_path, script, **TASK, SLURM_RESTART_COUNT="50")[1] == "requeue 5_1\n"


@pytest.mark.parametrize(("folder", "shared"), [("tmp", False), ("slurm.7", True), ("job_5_1", True)])
def test_kernels_are_kept_beside_the_outputs_where_tmpdir_is_the_jobs(cli, tmp_path, folder, shared):
    (tmp_path / "say").write_text("#!/bin/sh\necho cache $FASTCUBE_CACHE_DIR\n")
    (tmp_path / "say").chmod(0o755)
    (tmp_path / "out").mkdir()
    script, _ = script_of(cli, "--array", "2", "--python", str(tmp_path / "say"), "-o", "out/r")
    done, _ = run_script(tmp_path, script, **TASK, TMPDIR=f"/scratch/{folder}")
    place = f"{tmp_path}/out/fastcube-cache" if shared else f"/scratch/{folder}/fastcube-{os.getuid()}"
    assert f"cache {place}\n" in done.stdout
    (tmp_path / "out" / "fastcube-cache").mkdir()
    assert f"cache {tmp_path}/out/fastcube-cache\n" in run_script(tmp_path, script, **TASK, TMPDIR="/scratch")[0].stdout


@pytest.mark.slow
def test_a_task_says_first_what_it_is_and_last_how_it_ended(cli, tmp_path):
    script, _ = script_of(cli, "--array", "3", "--tasks", "2", "--trials", "1000")
    done, _ = run_script(
        tmp_path, script, **{**TASK, "SLURM_ARRAY_TASK_ID": "0"}, SLURM_RESTART_COUNT="4", SLURM_MEM_PER_NODE="410"
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "job 5_0" in line]
    host = socket.gethostname()
    for i, shard in enumerate((0, 2)):
        words = f"fastcube {fc.__version__}, toy, task 0, shard {shard} of 3, job 5_0 on {host}, restart 4, "
        assert words in lines[i] and lines[i].endswith(f"; toy-{shard}.h5 holds 0.0%")
    used = re.findall(r"  used (\d+)% of \d processors?, at most (\d+) of 410 MiB$", done.stderr, re.MULTILINE)
    assert len(used) == 2
    assert all(50 < int(peak) < 4000 for _, peak in used), used
    assert re.search(r"end of job 5_0 on \S+, restart 4: exit 0 after \d+ s$", lines[-1])
    done, _ = run_script(tmp_path, script, **{**TASK, "SLURM_ARRAY_TASK_ID": "0"})
    assert "toy-2.h5 holds 100.0%" in done.stderr


def test_time_limits_as_slurm_reads_them():
    times = {"90": 5400, "1:30": 90, "2:3:4": 7384, "1-2": 93600, "1-2:3": 93780, "1-2:3:4": 93784}
    assert {text: _parse_time_limit(text) for text in times} == times


@pytest.mark.slow
def test_shards_that_state_the_same_are_checked_once(cli, monkeypatch):
    """What a merge or a status of many shards does for each: one opening, one digest; and no estimate."""
    first = shard(0, 40, 4000)
    for i in range(1, 40):  # as that shard would be, had its trials come out alike
        tallies = {
            key: Tally(((100 * i, 100 * i + 100),), t.counts, {n: (v, 100 * i) for n, (v, _) in t.extremes.items()})
            for key, t in first.tallies.items()
        }
        Results(first.study, 0, tallies, replace(first.goal, shard=(i, 40)), first.history).save(f"{i}of40.h5")
    done = Counter()

    def count(owner, name):
        counted = getattr(owner, name)

        def call(*arguments, **named):
            done[name] += 1
            return counted(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    for owner, name in (
        (untrusted_hdf5, "read_whole"),
        (Identity, "digest"),
        (reading, "parse_measure"),
        (reading, "numbers_of"),
    ):
        count(owner, name)
    count(Results, "read")
    assert cli("status", *(f"{i}of40.h5" for i in range(40)))[0] == 0
    assert done == {"read_whole": 40, "digest": 40, "parse_measure": 3, "numbers_of": 1, "read": 4}
    done.clear()
    merge([f"{i}of40.h5" for i in range(40)])
    assert done == {"read_whole": 40, "digest": 40, "parse_measure": 3, "numbers_of": 1}
