"""Memory that studies take, as ``benchmarks/memory.py`` measured it on their grids."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

#: Figures of each built-in study, in MiB.
MEMORY_FILE = Path(__file__).resolve().parents[1] / "data" / "memory.json"

#: What a study that was not measured is taken to need, in MiB: more than most that were.
_UNMEASURED = {"cold": 400, "warm": 200, "worker": 32}

#: Memory is asked for in these steps, with a quarter more than was measured.
_STEP, _MARGIN = 64, 1.25


def _measured_studies() -> dict[str, Any]:
    return json.loads(MEMORY_FILE.read_text())["studies"]  # type: ignore[no-any-return]


def is_measured(study: str) -> bool:
    """Whether the memory of a study was measured."""
    return study in _measured_studies()


def needed_memory(study: str, workers: int) -> int:
    """Memory in MiB to ask a batch system for: that of a process with this many workers that compiles its kernels."""
    figures = _measured_studies().get(study, _UNMEASURED)
    need: int = figures["cold"] + (workers - 1) * figures["worker"]
    return math.ceil(need * _MARGIN / _STEP) * _STEP


def memory_table() -> str:
    """The figures as a table in Markdown."""
    lines = ["| study | empty cache | warm cache | each further worker |", "|---|---|---|---|"]
    for name, figures in sorted(_measured_studies().items()):
        lines.append(f"| `{name}` | " + " | ".join(str(figures[k]) for k in ("cold", "warm", "worker")) + " |")
    return "\n".join(lines)
