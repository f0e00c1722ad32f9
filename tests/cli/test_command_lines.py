"""Generated command lines, of all commands and options, with values right, odd and hostile.

None may end in a traceback, a hang, a signal, more than one line of complaint, or with another number than the trials give.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import random
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS
from toy import TOY

import fastcube as fc
from fastcube import cli
from fastcube.cli import COMMANDS, checked_run, group, main
from fastcube.cli import claims as claims_command
from fastcube.results.reading import open_results

CLAIMS = str(Path(__file__).parents[1] / "helpers/toy_claims.py")

#: Tried for every option and argument.
HOSTILE = [
    "", " ", "-", "--", "-1", "0", "1", "-0", "+1", "1e999999999", "1e-999999999", "nan", "inf", "-inf", "1.5", "0x10", "²",
    "1_000", "١٢",
    "9" * 400, "x" * 300, "x" * 5000, "a\nb", "\x1b[2J", "\r", "é" * 100, "\udcff", "../../etc/passwd", "/dev/zero",
    "/dev/full", "/", ".", "..", "~", "*", "$(reboot)", "';", '"', "n=5", "=", "=5", "a=", "a=1,work=0", "1,2,3", "1:2:3", "5:1",
    "0:1e9", "0:1e18:1e-9", "%", "1%", "1/0", "0/1", "1/2", "3/2", "True", "None", "[]", "{}", "{0.__class__}", "%s%n", "-h",
    "--force", "no.h5", "no.py", "no.py:NAME", "d.py", "d.h5", "text.h5", "cut.h5", "r.h5", "toy", "lee_hayes", "table",
    "unsafe-fraction",
]  # a table, row by row # fmt: skip

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
    "reproduce": ([], {"-o": ["out", "r.h5"], "--quick": None, "--paper": ["nobody"], "--workers": ["1", "0"],
                       "--progress": ["none", "loud"], "--force": None}),
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
                       "--title": ["none", "mine"], **OF_FILE}),
    "diff": ([FILES, FILES], OF_FILE),
    "merge": ([FILES, FILES], {"-o": NEW}),
    "cite": ([["unsafe-fraction", "toy.py", "nobody"]], {}),
    "reliability": ([[*FILES, "hypercube"]], {"--rate": ["0.1", "0:1:0.5", "2"], "--plot": ["f.gif", "no/f.png"],
                                              "--stat": ["connected", "extra_1", "nobody"], "--plan": ["0.1", "0", "x"],
                                              **OF_NETWORK, **OF_FILE}),
    "lifetime": ([[*FILES, "hypercube"]], {"--law": ["weibull:0.7", "gamma:2", "gamma", "nobody:1"], "--mean": ["5", "0", "x"],
                                           "--quantile": [".1,.5", "1", "x"], "--at": ["1,2", "-1"], **OF_NETWORK, **OF_FILE}),
    "status": ([FILES], {**GOAL, "--unchecked": None, "--json": None}),
    "replay": ([["toy.py", "r.h5", "nobody"]], {"--point": ["a=1,work=0", "a=1"], "--trial": ["0", "1e3"], "--seed": ["0", "7"],
                                                "--json": None, **OF_FILE}),
    "claims": ([[CLAIMS, "nobody", "lee_hayes"], ["nothing"]],
               {"--quick": None, "--format": ["json", "text"], "--only": ["refuted", "x"], "--workers": ["1", "2"],
                "--progress": ["none", "bar"], "--force": None}),
    "slurm": ([STUDIES], {"--array": ["4", "0", "1e3"], "--time": ["10", "1:00:00", "1-0"], "--cpus": ["1"], "--max-running": ["2"],
                          "--margin": ["60"], "--sbatch": ["--account=x"], "--trials": ["1e6"], **POINTS, "--seed": ["0"],
                          "-o": ["o"], "--tasks": ["2"], "--engine": ["mpi", "dask", "gpu"], "--ranks": ["3"],
                          "--mem": ["1G", "x"], "--setup": ["module load x"], "--python": ["python3"], "--precision": ["1"]}),
    "warmup": ([["toy.py", "nobody"]], {**POINTS, "--into": ["a folder", ""], "-v": None}),
    "new": ([["routing", "my-study", "class"]], {"--package": None}),
    "bench": ([["nobody"]], {}),
}  # a table, row by row # fmt: skip

#: Options without which a command asks for them, or runs everything.
NEEDED = {
    "plot": ["-o"],
    "reliability": ["--rate"],
    "merge": ["-o"],
    "replay": ["--point", "--trial"],
    "slurm": ["--array"],
    "run": ["-o", "--progress"],
    "faults": ["--trials", "--set"],
    "evaluate": ["--study"],
    "reproduce": ["-o"],
}


def line_of(rng):
    """One command line: most values as they should be, some not."""
    name = rng.choice([*LINES, *["run"] * 8, *["replay", "status", "slurm"]])
    arguments, options = LINES[name]

    def value(usual):
        return rng.choice(HOSTILE) if rng.random() < 0.15 else rng.choice(usual)

    line = [value(usual) for usual in arguments]
    chosen = [*NEEDED.get(name, []), *rng.sample(sorted(options), rng.randrange(min(5, len(options) + 1)))]
    for option in dict.fromkeys(chosen):
        usual = options[option]
        line += [option] if usual is None else [option, value(usual)]
    if rng.random() < 0.03:
        line.append(rng.choice(HOSTILE))
    if name == "run":  # the run is short, whatever the options are
        line += ["--max-seconds", "0.2"]
    if name == "reproduce":  # and this is never begun
        line += ["--paper", "nobody"]
    return [name, *line]


def test_every_command_and_option_is_generated():
    for name in COMMANDS:
        command = group.get_command(None, name)
        own = [param for param in command.params if param.param_type_name == "option"]
        known = {*LINES[name][1], *(["--max-seconds"] if name in ("run", "reproduce") else [])}
        assert all(known & set(param.opts) for param in own), name


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with what the lines name."""
    folder = tmp_path_factory.mktemp("lines") / "a" / "b"
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / "helpers/toy.py", folder)
    shutil.copy(CLAIMS, folder)
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "text.h5").write_text("no HDF5\n")
    for name in ("d.py", "d.h5"):
        (folder / name).mkdir()
    fc.run(str(folder / "toy.py"), a=[1, 2], work=0, trials=100, output=folder / "r.h5")
    (folder / "cut.h5").write_bytes((folder / "r.h5").read_bytes()[:-1000])
    return folder


#: What may stand before a refusal: news, the log where -v asks for it, a bar where one is asked for.
PASSING = re.compile(
    r"fastcube: (compiling|waiting)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d +(fastcube|\d+\.\d%)|[█░]+ +\d+\.\d%"
)


def check(line, code, out, said):
    """Exit status and words as they should be: 1 says that files differ, or that trials are missing."""
    words = f"{line!r}: {code}\n{said[-2000:]}"
    assert code in {0, 2, 75} or (line[0], code) in {("diff", 1), ("status", 1)}, words
    assert "Traceback" not in said + out, words
    if code == 2:
        lines = [
            s for s in said.replace("\r", "\n").split("\n") if s.strip() and not PASSING.match(s)
        ]  # a log, where -v asks for one, has lines of its own
        assert len(lines) == 1, words
        assert lines[0].startswith("fastcube: "), words
        assert lines[0].isprintable(), words
        assert len(lines[0]) < 1000, words


def check_numbers(path):
    """Every tally in a file is that of its trials."""
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


class _LeftError(Exception):
    """The process would have ended."""


def leaves(code):
    raise _LeftError(code)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_2000_lines_in_this_process(seed, place, tmp_path, monkeypatch, capfd):
    folder = Path(shutil.copytree(place, tmp_path / "a" / "b"))
    monkeypatch.chdir(folder)
    for module in (cli, checked_run, claims_command):
        monkeypatch.setattr(module, "exit_process", leaves)
    rng, log = random.Random(seed), logging.getLogger("fastcube")
    for _ in range(100):
        line = line_of(rng)
        faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)  # a hang ends here
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                main(line)
            code = 0
        except (SystemExit, _LeftError) as ended:
            code = ended.args[0] if ended.args else 0
        except BaseException as error:
            pytest.fail(f"{line!r} raised {type(error).__name__}: {error}")
        finally:
            faulthandler.cancel_dump_traceback_later()
            log.handlers[:] = []  # a process has one command line: what -v asked for ends with it
            log.setLevel(logging.NOTSET)
        check(line, code, *capfd.readouterr())
        if (folder / "o.h5").is_file():
            check_numbers(folder / "o.h5")
            (folder / "o.h5").unlink()


@pytest.mark.slow
def test_lines_as_processes(place, tmp_path):
    folder = shutil.copytree(place, tmp_path / "a" / "b")
    rng = random.Random(1000)
    for _ in range(100):
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
        check(line, done.returncode, done.stdout, done.stderr)
        check_numbers(folder / "o.h5")
