"""The recipe of docs/random.md: how any trial is drawn, with plain NumPy."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any


@functools.cache
def load_documented_sampler() -> dict[str, Any]:
    """The names that the code blocks of the page define.  They show a kernel's answer too, so it is asked for in tests alone."""
    names: dict[str, Any] = {}
    text = (Path(__file__).resolve().parents[2] / "docs" / "random.md").read_text()
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code, names)
    return names
