"""A copy of the package with two small kernels of its own, whose sources a test may edit."""

import shutil
import subprocess
import sys
from pathlib import Path

from fastcube import kernels
from helpers.processes import CLEAN_ENVIRONMENT

PROBE = """
from .machine.jit import kernel
from .helper import offset

@kernel("int64(int64)")
def probe(x):
    return x + offset(x)

def closing_over(shift):
    @kernel("int64(int64)")
    def other(x):
        return 2 * shift(x)
    return other

other = closing_over(offset)
"""
HELPER = """
from .machine.jit import block

@block
def offset(x):
    return {}
"""


def copied(folder):
    copy = folder / "copy" / "fastcube"
    source = Path(kernels.__path__[0]).resolve().parent
    root = source if (source / "__main__.py").exists() else source / "fastcube"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("kernels", "studies", "data"):
        if not (copy / name).exists():  # an sdist has no links
            shutil.copytree(source / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "kernels" / "probe.py").write_text(PROBE)
    (copy / "kernels" / "helper.py").write_text(HELPER.format(1))
    return copy


def environment(package, **variables):
    """A clean environment in which Python keeps no byte code: it would miss an edit of the same second and size."""
    kept = {k: v for k, v in CLEAN_ENVIRONMENT.items() if not k.startswith(("FASTCUBE_", "NUMBA_", "XDG_"))}
    ours = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **ours, **{k: str(v) for k, v in variables.items()}}


CALL = (
    "import sys; from fastcube.kernels import probe; from fastcube.kernels.machine.cache import cache_folder; "
    "print(probe.probe(10), probe.other(0), cache_folder())"
)


def run_python(package, code, **variables):
    """A finished process that ran a text of Python with the copy of the package."""
    command, variables = [sys.executable, "-c", code], environment(package, **variables)
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, cwd="/")


def call(package, **variables):
    """Return the values of the kernels in a new process, the cache folder, and the text on standard error.

    Lines on a compilation that takes seconds, as on a busy machine, are left out.
    """
    done = run_python(package, CALL, **variables)
    assert done.returncode == 0, done.stderr
    first, second, folder = done.stdout.split()
    told = [line for line in done.stderr.splitlines() if not line.startswith(("compiling ", "waiting for "))]
    return int(first), int(second), Path(folder), "\n".join(told)
