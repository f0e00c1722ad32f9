"""Memory that studies need, as measured on their grids by ``benchmarks/memory.py``."""

from __future__ import annotations

import json
import math
import resource
from pathlib import Path
from typing import Any

#: The file of the measured memory of each built-in study, in MiB.
MEMORY_FILE = Path(__file__).resolve().parents[1] / "data" / "memory.json"

#: Assumed memory of a study that was not measured, in MiB: more than most measured studies need.
_UNMEASURED = {"cold": 400, "worker": 32}

#: A request is the measured memory plus a quarter, rounded up to a multiple of 64 MiB.
_STEP, _MARGIN = 64, 1.25

#: Address space in MiB of a run with one worker, mostly mapped libraries, and of each further worker, which is the stack and the
#: heap of a thread; measured as VmPeak.
_ADDRESSES, _ADDRESSES_OF_WORKER = 456, 72
#: Address space in MiB of a command that compiles no kernel, such as ``show``; measured as VmPeak, at most 307.
_ADDRESSES_OF_READER = 320


def check_command_space(name: str, compiles: bool) -> None:
    """Raise MemoryError if the system limits virtual memory (``ulimit -v``) to less than a command of the command line needs."""
    _check_limit(_ADDRESSES if compiles else _ADDRESSES_OF_READER, f"fastcube {name}")


def check_address_space(workers: int) -> None:
    """Raise MemoryError if the system limits virtual memory (``ulimit -v``) to less than a run needs."""
    noun = "worker" if workers == 1 else f"workers, or {_ADDRESSES} MiB with --workers 1"
    _check_limit(_ADDRESSES + (workers - 1) * _ADDRESSES_OF_WORKER, "a run", f" with {workers} {noun}")


def _check_limit(need: int, user: str, remark: str = "") -> None:
    """Raise MemoryError if fewer than ``need`` MiB may be mapped; the message names the ``user``, and ends with ``remark``.

    Beyond such a limit libraries abort the process, or wait for ever, while they are loaded.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < need << 20:
        raise MemoryError(
            f"virtual memory is limited to {limit >> 20} MiB (ulimit -v), and {user} needs {need} MiB{remark}"
        )


def _measured_studies() -> dict[str, Any]:
    """Return the MiB of each study: with an empty cache (cold), a full one (warm), and of each further worker."""
    return json.loads(MEMORY_FILE.read_text())["studies"]  # type: ignore[no-any-return]


def is_measured(study: str) -> bool:
    """Whether the memory of a study has been measured."""
    return study in _measured_studies()


def needed_memory(study: str, workers: int) -> int:
    """Return the memory in MiB to request from a batch system, for a process with ``workers`` that compiles its kernels."""
    figures = _measured_studies().get(study, _UNMEASURED)
    need: int = figures["cold"] + (workers - 1) * figures["worker"]
    return math.ceil(need * _MARGIN / _STEP) * _STEP


def memory_table() -> str:
    """Return the measured memory as a Markdown table."""
    lines = ["| study | empty cache | warm cache | each further worker |", "|---|---|---|---|"]
    for name, figures in sorted(_measured_studies().items()):
        lines.append(f"| `{name}` | " + " | ".join(str(figures[k]) for k in ("cold", "warm", "worker")) + " |")
    return "\n".join(lines)
