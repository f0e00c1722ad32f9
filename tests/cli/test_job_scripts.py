"""Job scripts of ``slurm``."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE

import fastcube as fc
from fastcube.cli import slurm
from fastcube.cli.sbatch_options import parse_time_limit
from fastcube.results import memory
from fastcube.running import planning, work_units


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
        "--max-running",
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
    assert f'run {TOY_FILE} --shard "$shard/64" -o toy-"$shard".h5' in script
    assert 'shards=$(seq "$SLURM_ARRAY_TASK_ID" 64 63)' in script
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
            "sbatch must not set array, got --array=0-9; use --array and --max-running",
        ),
        (
            ("--array", "4", "--sbatch=--mem-per-cpu=1G"),
            "sbatch must not set mem-per-cpu, got --mem-per-cpu=1G; use --mem",
        ),
        (("--array", "4", "--sbatch=account=physics"), "sbatch must be an option of sbatch, such as --account=physics"),
        (("--array", "4", "--setup", "module load x\ntouch y"), "setup must be printable text on one line"),
        (("--array", "4", "-o", "nofolder/r"), "output folder nofolder does not exist"),
        (("--array", "4", "--max-running", "5"), "max-running must be in"),
        (("--array", "4", "--set", "a=200"), "a must be in"),
    ],
)
def test_bad_options_of_the_script(cli, options, message):
    code, out, said = cli("slurm", TOY_FILE, *options)
    assert (code, out) == (2, "")
    assert message in said


TEMPLATES = Path(slurm.__file__).with_name("templates")
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
    fc.run(fc.study(TOY_FILE), trials=1)  # compiles the kernel
    script, said = script_of(cli, "--array", "4", "--trials", "100")
    assert re.search(r"^# It takes <?[0-9.,]+ CPU hours in all, .* per task with 1 processor\.$", script, re.MULTILINE)
    assert "more than --time" not in said
    assert "more than --time 01:00:00" in script_of(cli, "--array", "4", "--trials", "1e15")[1]


@pytest.mark.parametrize(("engine", "time"), [("mpi", "2.0 h"), ("dask", "24 min")])
def test_the_time_counts_the_workers_of_each_engine(cli, monkeypatch, engine, time):
    """Of five ranks with four processors each: with MPI one drives, and the others have one worker each."""
    monkeypatch.setattr(work_units, "kernels_to_compile", lambda study, points: 0)
    monkeypatch.setattr(
        planning, "measured_seconds", lambda study, points: [8 * 3600 / 1e6 / len(points)] * len(points)
    )
    script, _ = script_of(cli, "--engine", engine, "--ranks", "5", "--cpus", "4", "--trials", "1e6")
    assert f"It takes 8 CPU hours in all, measured where the script was made: about {time} per job" in script


def test_a_script_is_made_without_compiling(cli, monkeypatch):
    monkeypatch.setattr(work_units, "kernels_to_compile", lambda study, points: 1)
    monkeypatch.setattr(planning, "measured_seconds", lambda *_: pytest.fail("compiles"))
    script, said = script_of(cli, "--array", "4", "--trials", "100")
    assert "# Its time was not estimated, because its kernels were not compiled" in script
    assert re.search(r"the time is not estimated, .*; see fastcube warmup \S*toy\.py$", said, re.MULTILINE)


def test_many_shards_are_shared_by_fewer_tasks(cli):
    script, said = script_of(cli, "--array", "4000", "--trials", "1e6")
    assert "MaxArraySize" in said and "--tasks 1000 gives each task 4 shards" in said
    script, said = script_of(cli, "--array", "4000", "--tasks", "1000", "--trials", "1e6")
    assert "#SBATCH --array=0-999" in script and "MaxArraySize" not in said
    assert 'shards=$(seq "$SLURM_ARRAY_TASK_ID" 1000 3999)' in script
    assert '--shard "$shard/4000" -o toy-"$shard".h5' in script


@pytest.mark.parametrize("tasks", [5, 20])
def test_the_tasks_that_status_names_run_each_missing_shard_once(cli, tmp_path, tasks):
    """Shards 3 and 13 belong to one of five tasks, so neither shard numbers nor one task per missing shard would do."""
    stand_in = write_python(tmp_path, 'echo "$*" >> calls')
    script, _ = script_of(cli, "--array", "20", "--tasks", str(tasks), "--trials", "1000", *stand_in)
    missing = {3, 11, 13}
    for shard in sorted({*range(20)} - missing):
        fc.run(fc.study(TOY_FILE), a=1, work=0, trials=1000, shard=(shard, 20), output=f"toy-{shard}.h5")
    (advised,) = re.findall(r"^# .*`fastcube (status[^`]*)`", script, re.MULTILINE)
    reported = cli(*advised.split(), *tmp_path.glob("toy-*.h5"))[1]
    array = re.search(r"--array=([0-9,-]+) ", reported)[1]
    again = [
        task
        for first, _, last in (x.partition("-") for x in array.split(","))
        for task in range(int(first), int(last or first) + 1)
    ]
    assert again == sorted({shard % tasks for shard in missing})
    assert json.loads(cli(*advised.split(), "--json", *tmp_path.glob("toy-*.h5"))[1])["shards"]["array"] == array
    for task in again:
        assert run_script(tmp_path, script, **{**TASK, "SLURM_ARRAY_TASK_ID": str(task)})[0].returncode == 0
    shards = [int(x) for x in re.findall(r"--shard (\d+)/20", (tmp_path / "calls").read_text())]
    assert len(shards) == len(set(shards)) and missing <= set(shards) and {x % tasks for x in shards} == set(again)
    (tmp_path / "calls").unlink()
    assert run_script(tmp_path, script, "merge", **TASK)[0].returncode == 0
    assert (tmp_path / "calls").read_text().startswith(f"-P -m fastcube {advised} toy-0.h5 ")


@pytest.mark.parametrize(("tasks", "number"), [(5, 5), (5, 13), (20, 20)])
def test_a_task_beyond_the_array_runs_no_shard(cli, tmp_path, tasks, number):
    """Its shards are those of another task, which would count them at the same time."""
    stand_in = write_python(tmp_path, 'echo "$*" >> calls')
    script, _ = script_of(cli, "--array", "20", "--tasks", str(tasks), *stand_in)
    done, asked = run_script(tmp_path, script, **{**TASK, "SLURM_ARRAY_TASK_ID": str(number)})
    assert (done.returncode, asked, (tmp_path / "calls").exists()) == (2, "", False)
    assert f"tasks are 0 to {tasks - 1}, got {number}; `fastcube status" in done.stderr


@pytest.mark.parametrize(
    ("engine", "command"), [("mpi", "mpiexec -n 64 "), ("dask", "-m dask worker --scheduler-file")]
)
def test_engines_have_scripts_too(cli, engine, command):
    script, _ = script_of(cli, "--engine", engine, "--ranks", "64")
    assert "#SBATCH --ntasks=64" in script and "#SBATCH --signal=B:USR1@60" in script
    assert command in script and f"--engine {engine}" in script and 'conclude "$SLURM_JOB_ID"' in script
    assert "--shard" not in script and " -o toy.h5 " in script
    lines = script.splitlines()
    commands = [at for at, line in enumerate(lines) if " fastcube warmup " in line or " fastcube run " in line]
    assert len(commands) == 2
    for at in commands:  # what bash does not wait for gets no signal, and its exit status is lost
        assert lines[at].startswith("drive ")


@pytest.mark.parametrize("folder", ["my.pyproj", "discord.py", "a:b", "two words", "x.python"])
def test_a_study_in_any_folder_is_found_again(cli, tmp_path, monkeypatch, folder):
    """The cost is not measured, because each copy of the study would be compiled."""
    monkeypatch.setattr(slurm, "_cost_text", lambda *_: "")
    (tmp_path / folder).mkdir()
    shutil.copy(TOY_FILE, tmp_path / folder / "s.py")
    for study in (f"{folder}/s.py", f"{folder}/s.py:toy"):
        script, _ = script_of(cli, "--array", "2", study=study)
        (line,) = [line for line in script.splitlines() if "fastcube run " in line]
        assert shlex.split(line)[6] == f"{tmp_path}/{study}"
        assert fc.study(shlex.split(line)[6]).name == "toy"


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
    (tmp_path / "s.toml").write_text(sweep + 'output = "a\\nb.h5"\n')
    assert cli("slurm", "s.toml", "--array", "2") == (
        2,
        "",
        "fastcube: output must have a printable path on one line, got 'a\\nb'\n",
    )
    (tmp_path / "a b;x.toml").write_text(sweep)
    script = cli("slurm", "a b;x.toml", "--array", "2")[1]
    assert "#SBATCH --job-name=fastcube-a-b-x\n" in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def run_script(folder, script, *arguments, stdin="", **variables):
    """Run a script as a task of a job with a fake scontrol; return the output, and the arguments that scontrol got."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "scontrol").write_text(f"#!/bin/sh\necho $* >> {folder}/asked\n")
    (folder / "bin" / "scontrol").chmod(0o755)
    environment = {**CLEAN_ENVIRONMENT, "PATH": f"{folder}/bin:{os.environ['PATH']}", **variables}
    (folder / "job.sh").write_text(script)
    done = subprocess.run(
        ["bash", folder / "job.sh", *arguments],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    asked = (folder / "asked").read_text() if (folder / "asked").exists() else ""
    return done, asked


TASK = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_JOB_ID": "5", "SLURM_JOB_ID": "7"}


def test_a_run_without_progress_is_requeued_a_few_times_only(cli, tmp_path):
    script, _ = script_of(cli, "--array", "2", *write_python(tmp_path, "exit 75"))
    for restarts, requeued in (("0", True), ("2", True), ("3", False)):
        (tmp_path / "asked").unlink(missing_ok=True)
        done, asked = run_script(tmp_path, script, **TASK, SLURM_RESTART_COUNT=restarts)
        assert done.returncode == 75
        assert asked == ("requeue 5_1\n" if requeued else "")
        assert ("no progress after 3 restarts, not requeued: give it more --time" in done.stderr) != requeued
    write_python(tmp_path, "echo > toy-1.h5; exit 75")
    assert run_script(tmp_path, script, **TASK, SLURM_RESTART_COUNT="50")[1] == "requeue 5_1\n"


def write_python(folder, text):
    """Write a stand-in for Python; return the option that selects it."""
    (folder / "stand-in").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "stand-in").chmod(0o755)
    return "--python", str(folder / "stand-in")


@pytest.mark.parametrize("chosen", ["", "/scratch/mine"])
def test_all_parts_of_a_job_use_one_folder_of_kernels(cli, tmp_path, chosen):
    stand_in = write_python(tmp_path, 'echo "$4 $FASTCUBE_CACHE_DIR" >> folders')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mpiexec").write_text('#!/bin/sh\nshift 2; exec "$@"\n')
    (tmp_path / "bin" / "mpiexec").chmod(0o755)
    (tmp_path / "two words").mkdir()
    array, _ = script_of(cli, "--array", "2", *stand_in, "-o", "two words/r")
    mpi, _ = script_of(cli, "--engine", "mpi", "--ranks", "2", *stand_in, "-o", "two words/r")
    for script, argument in ((array, ()), (array, ("warmup",)), (mpi, ())):
        assert run_script(tmp_path, script, *argument, **TASK, FASTCUBE_CACHE_DIR=chosen)[0].returncode == 0
    lines = [line.partition(" ") for line in (tmp_path / "folders").read_text().splitlines()]
    assert [word for word, _, _ in lines] == ["run", "warmup", "warmup", "-m"]
    assert {folder for _, _, folder in lines} == {chosen or f"{tmp_path}/two words/fastcube-cache"}


@pytest.mark.parametrize("engine", ["mpi", "dask"])
@pytest.mark.parametrize("code", [1, 143])
def test_a_job_whose_warm_up_fails_ends_with_its_exit_status(cli, tmp_path, engine, code):
    stand_in = write_python(tmp_path, f'echo "$4" >> calls; exit {code}')
    script, _ = script_of(cli, "--engine", engine, "--ranks", "2", *stand_in)
    done, asked = run_script(tmp_path, script, **TASK)
    assert (done.returncode, asked, (tmp_path / "calls").read_text()) == (code, "", "warmup\n")


def test_no_scheduler_starts_that_everybody_may_use(cli, tmp_path):
    """Whoever reaches a scheduler without a key runs code as its user."""
    stand_in = write_python(tmp_path, 'echo "$4" >> calls')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "openssl").write_text("#!/bin/sh\necho no key >&2; exit 1\n")
    (tmp_path / "bin" / "openssl").chmod(0o755)
    script, _ = script_of(cli, "--engine", "dask", "--ranks", "2", *stand_in)
    done, _ = run_script(tmp_path, script, **TASK)
    assert (done.returncode, (tmp_path / "calls").read_text()) == (2, "warmup\n")
    assert "no key" in done.stderr and "openssl must make a key for the connections of Dask" in done.stderr
    assert not list(tmp_path.glob("*-tls-*"))


def test_what_a_job_starts_reads_nothing_of_its_input(cli, tmp_path):
    stand_in = write_python(tmp_path, "cat >> input")
    done, _ = run_script(tmp_path, script_of(cli, "--array", "2", *stand_in)[0], **TASK, stdin="a line of the caller\n")
    assert (done.returncode, (tmp_path / "input").read_text()) == (0, "")


def test_the_merge_alone_and_words_that_name_no_part(cli, tmp_path):
    """The line that the head of the script gives, and the same without Slurm."""
    script, _ = script_of(cli, "--array", "12", *write_python(tmp_path, 'echo "$*" >> calls'))
    assert "#     sbatch --array=0 THIS_FILE merge\n" in script
    for shard in (0, 7, 11, 12, 113):
        (tmp_path / f"toy-{shard}.h5").touch()
    for variables in (TASK, {}):
        (tmp_path / "calls").unlink(missing_ok=True)
        assert run_script(tmp_path, script, "merge", **variables)[0].returncode == 0
        names = "toy-0.h5 toy-7.h5 toy-11.h5 toy-12.h5"
        assert (tmp_path / "calls").read_text() == (
            f"-P -m fastcube status {names}\n-P -m fastcube merge {names} -o toy.h5\n"
        )
    done, _ = run_script(tmp_path, script, "mrege")
    assert done.returncode == 2 and "the argument must be warmup, merge or absent, got mrege" in done.stderr


def test_more_shards_than_trials_are_reported(cli):
    message = "16 shards share at most 8 trials per point, so that some shards count nothing; --array 8 suffices"
    assert message in script_of(cli, "--array", "16", "--trials", "8")[1]
    assert "count nothing" not in script_of(cli, "--array", "8", "--trials", "8")[1]


@pytest.mark.parametrize("template", [path.name for path in TEMPLATES.glob("*.sh")])
def test_templates_are_scripts_and_no_word_is_left(template):
    """Values are not searched for words, and a line whose word is a list is repeated for each element."""
    text = (TEMPLATES / template).read_text()
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    values = dict.fromkeys(re.findall(r"\{\{(\w+)\}\}", text), "{{name}}")
    filled = slurm.fill_template(template, values)
    assert filled == re.sub(r"\{\{\w+\}\}", "{{name}}", text)
    repeated = next(iter(values))
    lines = slurm.fill_template(template, {**values, repeated: []}).splitlines()
    assert len(lines) == len([line for line in text.splitlines() if f"{{{{{repeated}}}}}" not in line])


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
        line = f"fastcube {fc.__version__}, toy, task 0, shard {shard} of 3, job 5_0 on {host}, restart 4, "
        assert line in lines[i] and lines[i].endswith(f"; toy-{shard}.h5 holds 0.0%")
    used = re.findall(r"  used (\d+)% of \d processors?, at most (\d+) of 410 MiB$", done.stderr, re.MULTILINE)
    assert len(used) == 2, done.stderr
    assert all(50 < int(peak) < 4000 for _, peak in used), used
    assert re.search(r"end of job 5_0 on \S+, restart 4: exit 0 after \d+ s$", lines[-1])
    done, _ = run_script(tmp_path, script, **{**TASK, "SLURM_ARRAY_TASK_ID": "0"})
    assert "toy-2.h5 holds 100.0%" in done.stderr


def test_time_limits_as_slurm_reads_them():
    times = {"90": 5400, "1:30": 90, "2:3:4": 7384, "1-2": 93600, "1-2:3": 93780, "1-2:3:4": 93784}
    assert {text: parse_time_limit(text) for text in times} == times
