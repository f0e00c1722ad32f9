"""Runs of the command line as real processes, for tests that send them signals."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOY_FILE = str(Path(__file__).with_name("toy.py"))

#: Points of a study with an axis of names, as arguments of the command line.
NAMED_AXIS_ARGUMENTS = (
    "survival",
    "--set=network=crossed,folded",
    "--set=n=6,7",
    "--set=f=16",
    "--set=links=0",
    "--trials=60001",
)
NAMED_POINTS = {"network": ["crossed", "folded"], "n": [6, 7], "f": 16, "links": 0, "trials": 60_001}
FASTCUBE = [sys.executable, "-P", "-m", "fastcube"]

#: Seconds after which a process that should have done something is taken for stuck; no test depends on them.
STUCK_SECONDS = 600

#: Outside any job, whatever started the tests; no plug-in of the environment's changes what is printed.
CLEAN_ENVIRONMENT = {
    k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI", "PMIX_", "PRTE_", "COLUMNS"))
}


# the launcher of the same installation first: a virtual environment's wheel, then the system's
MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")

# messages stay on this host; also as root, and with more ranks than processors
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PMIX_MCA_ptl_tcp_if_include": "lo",
    "OMPI_MCA_btl": "^tcp",
}


def run_fastcube(*arguments, timeout=STUCK_SECONDS, env=None, **options):
    """Run a command to its end, and return its output as text."""
    return subprocess.run(
        [*FASTCUBE, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**CLEAN_ENVIRONMENT, **(env or {})},
        **options,
    )


#: Starting Python and importing the package takes as long as a short command.
COMMANDS_IN_TURN = """
import contextlib, io, json, sys
from fastcube.cli import main
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main(command)
        except SystemExit as ended:
            code = ended.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def run_in_turn(*commands, env=None, **options):
    """Run commands one after the other in one new process; each with its exit status and output."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMANDS_IN_TURN, json.dumps(commands)],
        capture_output=True,
        text=True,
        timeout=STUCK_SECONDS,
        check=False,
        env={**CLEAN_ENVIRONMENT, **(env or {})},
        **options,
    )
    assert done.returncode == 0, done.stderr
    ended = map(json.loads, done.stdout.splitlines())
    return [subprocess.CompletedProcess(command, *said) for command, said in zip(commands, ended, strict=True)]


def run_in_process(capsys, *arguments):
    """Run a command to its end in this process, where what it does needs none of its own; exit status, output and talk.

    A run that fails while another of its threads still works would end the process.
    """
    from fastcube.cli import checked_run, main

    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(checked_run, "exit_process", sys.exit)
        main([*map(str, arguments)])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def run_without_compiling(code):
    """What a program prints that imports from the tests, with kernels as the Python that they are written in."""
    quiet = 'import warnings\nwarnings.simplefilter("ignore")\n'  # NumPy scalars warn where machine words wrap around
    done = subprocess.run(
        [sys.executable, "-c", quiet + code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parent)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def stepped_command(*steps):
    """The command line with the place where it should wait: see ``steered.py``."""
    return [sys.executable, str(Path(__file__).with_name("steered.py")), *map(str, steps), "--"]


class BackgroundRun:
    """A ``fastcube run`` in the background; a with block ends it in any case."""

    def __init__(self, *arguments, command=None, env=None, **options):
        self.process = subprocess.Popen(
            [*(command or FASTCUBE), *map(str, arguments), "--progress", "bar"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**CLEAN_ENVIRONMENT, **(env or {})},
            # tests may run in a shell's background, which ignores SIGINT
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
            **options,
        )
        self.said = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def wait_for(self, pattern, timeout=STUCK_SECONDS):
        """Read its progress bar until the pattern shows."""
        end = time.monotonic() + timeout
        os.set_blocking(self.process.stderr.fileno(), False)
        while not re.search(pattern, self.said):
            assert time.monotonic() < end, f"never said {pattern!r}: {self.said[-2000:]}"
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.said[-2000:]}"
            self.said += (self.process.stderr.read() or b"").decode()
            time.sleep(0.01)
        return self

    def wait_for_file(self, path, timeout=STUCK_SECONDS):
        """Wait for its first checkpoint."""
        end = time.monotonic() + timeout
        while not path.exists():
            assert time.monotonic() < end, "wrote no checkpoint"
            assert self.process.poll() is None, f"ended with {self.process.returncode}"
            time.sleep(0.01)
        return self

    def end(self, number=None, timeout=STUCK_SECONDS):
        """Send a signal, wait for the end; gives the exit code and its last words."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(timeout)
        os.set_blocking(self.process.stderr.fileno(), True)
        self.said += self.process.stderr.read().decode()
        lines = [line for line in re.split(r"[\r\n]+", self.said) if line.startswith("fastcube:")]
        lines = [line for line in lines if not line.startswith("fastcube: compiling")]  # on a cold cache
        return code, lines


def require_root():
    if os.geteuid():
        pytest.skip("only root can become another user")


def as_user(function, user, group, groups=(), mask=0o022):
    """Call a function in a process of another user; return its result or its error as text."""
    require_root()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.umask(mask)
            os.setgroups(list(groups))
            os.setgid(group)
            os.setuid(user)
            os.write(write, str(function()).encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as reported:
        answer = reported.read()
    os.waitpid(child, 0)
    return answer


@contextlib.contextmanager
def mount_tmpfs(folder, options):
    """A small file system of its own at the folder."""
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"cannot mount a file system here: {mount.stderr.splitlines()[0]}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill_file_system(folder):
    """Take all the room that is left."""
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def remount_read_only(folder):
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)


def without_compile_news(said):
    """A text without the lines that say, on a busy machine, that a compilation takes long."""
    return "".join(line for line in said.splitlines(True) if not line.startswith(("compiling ", "waiting for ")))


def only_cache(folder):
    """Make a folder, and return the variables with which a process finds compiled kernels in no other one."""
    folder.mkdir(exist_ok=True)
    roots = dict.fromkeys(("FASTCUBE_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR"), str(folder))
    return {**roots, "FASTCUBE_CACHE_PATH": ""}
