"""The messages of a run whose kernels are compiled, or wait for another process that compiles them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence

from ..errors import count_text
from ..measure.study import Study, Value
from .engines import kernels_to_compile
from .progress import Progress

_LOG = logging.getLogger("fastcube.driver")


@contextlib.contextmanager
def announce_compiling(study: Study, points: Sequence[Mapping[str, Value]], progress: Progress) -> Iterator[None]:
    """Report once that this process compiles kernels, and once for each other process whose compilation it waits for."""
    from ..kernels.machine import cache

    said: set[str] = set()

    def print_once(line: str) -> None:
        if line.startswith("compiling"):
            line = f"compiling {count_text(waiting, 'kernel')}, once: some seconds each"
        if waiting and line not in said and progress.style != "none":
            said.add(line)
            progress.print_line(f"fastcube: {line}")

    waiting = 0
    with contextlib.suppress(Exception):  # the run itself reports a kernel that cannot be loaded
        if _LOG.isEnabledFor(logging.INFO):
            _LOG.info("compiled kernels are cached in %s", cache.cache_folder() or "no folder: none can be written")
        waiting = kernels_to_compile(study, points)
    before, cache.on_compiling = cache.on_compiling, print_once
    try:
        yield
    finally:
        cache.on_compiling = before
