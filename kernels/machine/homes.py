"""Folders of this user for what is made once and used again: compiled kernels, the names that TAB offers.  Loads no numba."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def homes() -> Iterator[Path]:
    """``$FASTCUBE_CACHE_DIR``, ``$XDG_CACHE_HOME/fastcube`` and ``~/.cache/fastcube``, best first, as far as they are set."""
    if named := os.environ.get("FASTCUBE_CACHE_DIR"):
        yield Path(named)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        yield Path(xdg) / "fastcube"
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / ".cache" / "fastcube"
