"""The provenance of a result: software, machine, command.  It is stored with the result, outside its identity."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

from .processors import processor_limits
from .sources import PACKAGE

#: Distributions whose versions are stored with each result.
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "h5py", "click")

#: File names of the program when it is called by its name or as a module.
PROGRAMS = ("fastcube", "__main__.py")


@functools.cache
def package_version(name: str = "fastcube", otherwise: str = "unknown") -> str:
    """Return the installed version of fastcube or of another package, or ``otherwise`` if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return otherwise


def git_revision() -> str | None:
    """Return the commit of the checkout, with ``+changes`` if files differ from it; None outside a checkout."""
    root = PACKAGE.parent
    if not (root / ".git").exists():
        return None
    try:
        run = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty=+changes", "--abbrev=40", "--exclude=*"],  # noqa: S607  (the user's git)
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()


def cpu_name() -> str:
    """Return the processor's name as the system reports it."""
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def available_cpus() -> int:
    """Return the number of processors for this process: the least of affinity mask, SLURM_CPUS_PER_TASK and group quotas."""
    return min(processor_limits().values())


@functools.cache
def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on, without importing them; looked up once per process."""
    return {name: package_version(name, "not installed") for name in LIBRARIES}


def _strip_folder(word: str) -> str:
    """Return a word of a command line; an absolute path is reduced to its last part, because results are published."""
    return PurePath(word).name if PurePath(word).is_absolute() else word


def remove_force(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line without ``--force``, which would discard the results if the command is repeated.

    Also behind ``--``, which may be the value of an option before it.
    """
    return [word for word in arguments if word != "--force"]


def _command_line() -> list[str]:
    """Return the command line of this process without folders of this machine.

    The arguments of fastcube itself stay as typed, except ``--force``, because `status` prints the command to repeat it.
    """
    named = [_strip_folder(word) for word in sys.argv]
    return named[:1] + remove_force(sys.argv[1:]) if named and named[0] in PROGRAMS else named


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


def record_entry(entry: Any, *names: str) -> Any:
    """Return the entry of a run's record under nested names, or None; a file may contain anything there."""
    for name in names:
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry
