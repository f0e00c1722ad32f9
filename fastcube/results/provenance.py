"""Where a result came from: software, machine, command.  Stored beside the result, outside its identity."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import socket
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

from .processors import processor_limits

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "h5py", "click")

#: What the command line's program is called, run by its name or as a module.
PROGRAMS = ("fastcube", "__main__.py")

#: The folder of the package that runs.
PACKAGE = Path(__file__).resolve().parents[1]

#: Rooms of it that can change how a report looks and not what is true.
_PRESENTATION_FOLDERS = {"audit/report", "plot", "cli"}


@functools.cache
def hash_sources(*, looks: bool) -> str:
    """Hash of the package's sources and data; with ``looks``, of those too that only change what is shown."""
    total = hashlib.sha256()
    for place, folders, files in os.walk(PACKAGE, followlinks=True):
        inside = Path(place).relative_to(PACKAGE)
        folders[:] = sorted(
            f for f in folders if f != "__pycache__" and (looks or (inside / f).as_posix() not in _PRESENTATION_FOLDERS)
        )
        for name in sorted(files):
            if name.endswith((".py", ".json")):
                total.update(f"{inside / name}\0".encode() + (Path(place) / name).read_bytes())
    return total.hexdigest()[:16]


@functools.cache
def package_version(name: str = "fastcube", otherwise: str = "unknown") -> str:
    """Version of fastcube, or of another package, as installed; ``otherwise`` where it is not."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return otherwise


def git_revision() -> str | None:
    """Commit of the checkout this package runs from, with ``+changes`` when it has uncommitted ones; None outside one."""
    root = PACKAGE.parent
    if not (root / ".git").exists():
        return None
    try:
        run = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty=+changes", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def available_cpus() -> int:
    """Processors this process may use: the least of affinity mask, SLURM_CPUS_PER_TASK and quota of the control groups."""
    return min(processor_limits().values())


@functools.cache
def library_versions() -> dict[str, str]:
    """Versions of what the results depend on, without importing any of it; looked for once a process."""
    return {name: package_version(name, "not installed") for name in LIBRARIES}


def _strip_folder(word: str) -> str:
    """A word, of a place on this machine its name alone: results are shown to others."""
    return PurePath(word).name if PurePath(word).is_absolute() else word


def _command_line() -> list[str]:
    """The command line without places on this machine, but as it was typed behind ``fastcube``: `status` says it again."""
    named = [_strip_folder(word) for word in sys.argv]
    typed = sys.argv if named and named[0] in PROGRAMS else named
    return named[:1] + typed[1:]


def provenance(**resources: Any) -> dict[str, Any]:
    """Describe this process: software, parameters, environment, resources (the sections that tskit uses)."""
    slurm = {
        k: v for k, v in sorted(os.environ.items()) if k.startswith("SLURM_") and k.endswith(("_ID", "_COUNT", "_NAME"))
    }
    settings = {k: _strip_folder(v) for k, v in sorted(os.environ.items()) if k.startswith(("FASTCUBE_", "NUMBA_"))}
    return {
        "schema_version": "1.0",
        "software": {"name": "fastcube", "version": package_version(), "git_revision": git_revision()},
        "parameters": {"command": _command_line(), "settings": settings},
        "environment": {
            "os": platform.platform(),
            "host": socket.gethostname(),
            "cpu": cpu_name(),
            "cpus": available_cpus(),
            "python": platform.python_version(),
            "libraries": library_versions(),
            "slurm": slurm,
        },
        "resources": {"written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **resources},
    }
