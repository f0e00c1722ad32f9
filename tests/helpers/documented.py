"""The recipe of docs/random.md: how any trial is sampled, with plain NumPy."""

from __future__ import annotations

import functools
import runpy
from pathlib import Path
from typing import Any

SAMPLER = Path(__file__).resolve().parents[2] / "docs" / "random_numbers.py"


@functools.cache
def load_documented_sampler() -> dict[str, Any]:
    """Return the names of the file that the page shows."""
    return runpy.run_path(str(SAMPLER))
