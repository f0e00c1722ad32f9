"""Generated command lines, of all commands and options, with values right, odd and hostile.

None may end in a traceback, a hang, a signal, more than one line of complaint, or with another number than the trials give.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.generated_lines import check_end, generate_line, leaves, run_line
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS
from toy import TOY

import fastcube as fc
from fastcube.cli import COMMANDS, checked_run, group, terminal
from fastcube.measure import paper
from fastcube.results.reading import open_results

FILES = ["r.h5", "r.h5", "r.h5", "cut.h5", "text.h5", "no.h5", "d.h5"]
STUDIES = ["toy.py", "toy.py", "toy.py", "toy.py:toy", "broken.py", "no.py", "nobody", "dualcube-routing"]
POINTS = {
    "--set": ["a=1", "a=1,2", "a=1:3", "work=0", "work=0:1:0.5", "a=101", "b=3"],
    "--grid": ["default", "default", "large"],
}
GOAL = {
    "--trials": ["1", "10", "1e3", "1000", "0", "1e18", "2e-1"],
    "--precision": ["0.1", "1%", "0.001", "2"],
    "--relative": ["10%", "0.5"],
    "--events": ["10", "1e2"],
    "--target": ["bit", "octal", "bits"],
    "--shard": ["0/2", "1/2", "2/2"],
}
OF_FILE = {"--unchecked": None, "--study": ["toy.py", "broken.py", "no.py"]}
NEW = ["o.h5", "o.h5", "r.h5", "no/o.h5"]

OF_NETWORK = {"--n": ["3", "4", "0", "99"], "--fail": ["nodes", "links", "both"]}

#: Arguments and options of each command; None where an option takes no value.
LINES: dict[str, tuple[list[list[str]], dict[str, list[str] | None]]] = {
    "list": ([["toy.py", "unsafe-fraction", "nobody"]], {"--json": None}),
    "faults": ([["unsafe-fraction", "toy.py", "nobody"]], {"--set": ["n=4", "f=2", "f=2,3"], "--grid": ["default"],
                                                           "--seed": ["0", "7"], "--first": ["0", "2"], "--trials": ["3", "0"]}),
    "evaluate": ([["faults.csv", "r.h5", "nobody"]], {"--study": ["survival", "find-tree", "nobody"]}),
    "info": ([FILES], {"--unchecked": None}),
    "run": ([STUDIES], {"-o": NEW, **POINTS, **GOAL, "--seed": ["0", "7", "1e3"], "--workers": ["1", "2", "0"],
                        "--engine": ["threads", "threads", "dask:no.json", "gpu"], "--checkpoint": ["1", "15", "0"],
                        "--progress": ["none", "lines", "bar", "loud"], "--plot": ["f.gif", "no/f.png"], "--force": None,
                        "--dry-run": None, "-v": None}),
    "show": ([FILES], {"--format": ["table", "csv", "json", "markdown", "latex"], "--sort": ["bit", "a:desc", "bit:up"],
                        "--stat": ["bit", "bit,octal", "nobody"],
                        "--where": ["a=1", "a=9", "x"],
                        **OF_FILE}),
    "plot": ([FILES], {"-o": ["f.gif", "no/f.png", "f"], "--stat": ["bit", "bit,octal", "nobody"], "--x": ["a", "b"],
                       "--by": ["work", "a"], "--log": None, "--width": ["3.3in", "wide"], "--where": ["a=1", "a=9", "x"],
                       "--height": ["4in", "tall"], "--style": ["dark", "neon"], "--panel": ["1", "9", "x"],
                       "--xlabel": ["a"], "--ylabel": ["a"], "--legend": ["a", "a,b", ","],
                       "--title": ["none", "mine"], **OF_FILE}),
    "diff": ([FILES, FILES], OF_FILE),
    "merge": ([FILES, FILES], {"-o": NEW}),
    "cite": ([["unsafe-fraction", "toy.py", "nobody"]], {}),
    "reliability": ([[*FILES, "hypercube"]], {"--rate": ["0.1", "0:1:0.5", "2"], "--plot": ["f.gif", "no/f.png"],
                                              "--stat": ["connected", "extra_1", "nobody"], "--plan": ["0.1", "0", "x"],
                                              **OF_NETWORK, **OF_FILE}),
    "lifetime": ([[*FILES, "hypercube"]], {"--distribution": ["weibull:0.7", "gamma:2", "gamma", "nobody:1"],
                                           "--mean": ["5", "0", "x"],
                                           "--quantile": [".1,.5", "1", "x"], "--at": ["1,2", "-1"], **OF_NETWORK, **OF_FILE}),
    "status": ([FILES], {**GOAL, "--unchecked": None, "--json": None, "--tasks": ["1", "0", "x"]}),
    "replay": ([["toy.py", "r.h5", "nobody"]], {"--point": ["a=1,work=0", "a=1"], "--trial": ["0", "1e3"], "--seed": ["0", "7"],
                                                "--json": None, "--draw": ["t.svg", "t.png"], **OF_FILE}),
    "slurm": ([STUDIES], {"--array": ["4", "0", "1e3"], "--time": ["10", "1:00:00", "1-0"], "--cpus": ["1"],
                          "--max-running": ["2"],
                          "--margin": ["60"], "--sbatch": ["--account=x"], "--trials": ["1e6"], **POINTS, "--seed": ["0"],
                          "-o": ["o"], "--tasks": ["2"], "--engine": ["mpi", "dask", "gpu"], "--ranks": ["3"],
                          "--mem": ["1G", "x"], "--setup": ["module load x"], "--python": ["python3"], "--precision": ["1"]}),
    "warmup": ([["toy.py", "nobody"]], {**POINTS, "--into": ["a folder", ""], "-v": None}),
    "new": ([["routing", "my-study", "class"]], {"--package": None}),
    "bench": ([["nobody"]], {}),
}  # a table, row by row # fmt: skip

#: Options that a command needs, or without which it runs everything.
NEEDED = {
    "plot": ["-o"],
    "reliability": ["--rate"],
    "merge": ["-o"],
    "replay": ["--point", "--trial"],
    "slurm": ["--array"],
    "run": ["-o", "--progress"],
    "faults": ["--trials", "--set"],
    "evaluate": ["--study"],
}


def line_of(rng):
    """One command line, whose run is short, whatever the options are."""
    line = generate_line(rng, LINES, NEEDED, often=[*["run"] * 8, "replay", "status", "slurm"])
    return [*line, "--max-seconds", "0.2"] if line[0] == "run" else line


def test_every_command_and_option_is_generated():
    for name in COMMANDS:
        command = group.get_command(None, name)
        own = [param for param in command.params if param.param_type_name == "option"]
        known = {*LINES[name][1], *(["--max-seconds"] if name == "run" else [])}
        assert all(known & set(param.opts) for param in own), name


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with what the lines name."""
    folder = tmp_path_factory.mktemp("lines") / "a" / "b"
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / "helpers/toy.py", folder)
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "text.h5").write_text("no HDF5\n")
    for name in ("d.py", "d.h5"):
        (folder / name).mkdir()
    fc.run(str(folder / "toy.py"), a=[1, 2], work=0, trials=100, output=folder / "r.h5")
    (folder / "cut.h5").write_bytes((folder / "r.h5").read_bytes()[:-1000])
    return folder


def check_numbers(path):
    """Every tally in a file equals the tally of its trials."""
    with contextlib.suppress(fc.FastcubeError):
        results = open_results(path)
        for point, tally in results:
            parts = [
                TOY.count(point, stop - first, results.seed, first)
                for first, stop in tally.ranges
                if stop - first < 10**6
            ]
            if results.study.name == "toy" and len(parts) == len(tally.ranges) == 1:
                assert parts[0] == tally, (path, point)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_2000_lines_in_this_process(seed, place, tmp_path, monkeypatch, capfd):
    folder = Path(shutil.copytree(place, tmp_path / "a" / "b"))
    monkeypatch.chdir(folder)
    for module in (terminal, checked_run):
        monkeypatch.setattr(module, "exit_process", leaves)
    monkeypatch.setattr(paper, "installed_benchmarks", lambda: ())  # a blank names all, which take a minute
    rng = random.Random(seed)
    for _ in range(100):
        line = line_of(rng)
        check_end(line, run_line(line), *capfd.readouterr())
        if (folder / "o.h5").is_file():
            check_numbers(folder / "o.h5")
            (folder / "o.h5").unlink()


@pytest.mark.slow
def test_lines_as_processes(place, tmp_path):
    folder = shutil.copytree(place, tmp_path / "a" / "b")
    rng = random.Random(1000)
    for _ in range(40):
        line = line_of(rng)
        done = subprocess.run(
            [sys.executable, "-m", "fastcube", *line],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=STUCK_SECONDS,
            check=False,
            env=CLEAN_ENVIRONMENT,
        )
        check_end(line, done.returncode, done.stdout, done.stderr)
        check_numbers(folder / "o.h5")
