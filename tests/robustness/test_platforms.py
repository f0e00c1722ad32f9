"""Where fastcube does not run: one line that says so, from every command and from ``import fastcube``."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from helpers.processes import CLEAN_ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]

#: Loaded before all else: a Python that lacks the named modules of a POSIX system.
WINDOWS = {
    "fcntl": "import sys; sys.modules['fcntl'] = None",
    "SIGUSR1": "import signal; del signal.SIGUSR1",
}

LINE = "fastcube runs on Linux and macOS; on Windows use WSL"


def call(*arguments, folder, **variables):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**CLEAN_ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("lacks", WINDOWS)
def test_on_windows(lacks, tmp_path):
    (tmp_path / "usercustomize.py").write_text(WINDOWS[lacks])
    (tmp_path / "sitecustomize.py").write_text(WINDOWS[lacks])
    script = tmp_path / "fastcube"
    script.write_text("from fastcube.__main__ import main\nmain()\n")
    path = {"PYTHONPATH": str(tmp_path)}
    for arguments in (
        ["-P", "-m", "fastcube", "list"],
        ["-P", "-m", "fastcube", "--version"],
        [str(script), "run", "routing"],
    ):
        done = call(*arguments, folder=tmp_path, **path)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{LINE}\n")
    done = call("-c", "import fastcube", folder=tmp_path, **path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ImportError: {LINE}"


def test_from_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as file:
        for name in ("__init__.py", "__init__.pyi", "__main__.py"):
            file.write(ROOT / "fastcube" / name, f"fastcube/{name}")
    path = {"PYTHONPATH": str(tmp_path / "f.zip")}
    done = call("-P", "-m", "fastcube", "list", folder=tmp_path, **path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "install it with pip, not as a zip file" in done.stderr
    assert (
        call("-c", "import fastcube", folder=tmp_path, **path)
        .stderr.splitlines()[-1]
        .startswith("ImportError: fastcube needs")
    )


def test_features_at_which_llvm_ends_the_process(tmp_path):
    done = call("-P", "-m", "fastcube", "run", "unsafe-fraction", folder=tmp_path, NUMBA_CPU_FEATURES="+sse2,bar")
    wanted = "fastcube: NUMBA_CPU_FEATURES must be names that begin with + or -, got +sse2,bar\n"
    assert (done.returncode, done.stderr) == (2, wanted)


@pytest.mark.parametrize("value", ["0", "abc", "²", "-1", "", "9" * 5000])
def test_a_number_of_threads(value, tmp_path):
    done = call("-P", "-m", "fastcube", "run", "unsafe-fraction", folder=tmp_path, NUMBA_NUM_THREADS=value)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("fastcube: NUMBA_NUM_THREADS must be an integer in [1, 999999999], got ")
