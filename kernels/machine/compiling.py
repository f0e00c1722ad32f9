"""The compilation that this process waits for at present, for reports of progress and for a warning if it takes long.

This process compiles the kernel itself, or waits until another process has compiled it and stored it in the cache.  Kernels are
compiled, and waited for, under one lock (``jit.py``), so one thread at a time sets the present compilation, and others read it.
This module does not import numba.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

_LOG = logging.getLogger("fastcube.kernels")

#: Seconds after which a compilation that nobody reports is logged as a warning.
WARN_SECONDS = 5.0


@dataclass
class Compilation:
    """A kernel that this process compiles, or a kernel or block that another process compiles while this one waits."""

    name: str  #: the kernel, as ``Kernel.label``; with a ``holder`` the function of the kernel or block, from its cache file
    holder: str = ""  #: the other process, such as ``process 77 on node1``; empty while this process compiles
    begun: float = field(default_factory=time.monotonic)  #: when it, or the wait, began, by ``time.monotonic``


#: The innermost compilation: a kernel that is compiled may wait for a block that another process compiles.
_present: Compilation | None = None

#: Number of contexts of ``report_compilations`` that are open.
_reporters = 0


def present_compilation() -> Compilation | None:
    """Return the compilation that this process does or waits for at present, or None."""
    return _present


@contextlib.contextmanager
def report_compilations() -> Iterator[None]:
    """Log no warnings inside this context, because its owner reports what is compiled."""
    global _reporters
    _reporters += 1
    try:
        yield
    finally:
        _reporters -= 1


@contextlib.contextmanager
def note_compilation(name: str, holder: str = "") -> Iterator[None]:
    """Make ``name`` the present compilation inside this context; log a warning after WARN_SECONDS unless it is reported."""
    global _present
    before, _present = _present, Compilation(name, holder)
    _LOG.debug("%s", _describe(_present))
    timer = threading.Timer(WARN_SECONDS, _warn, [_present])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _present = before


def _describe(compilation: Compilation) -> str:
    if compilation.holder:
        return f"waiting for {compilation.holder}, which compiles {compilation.name}"
    return f"compiling {compilation.name}"


def _warn(compilation: Compilation) -> None:
    if not _reporters:
        _LOG.warning("%s, once for this machine: %.0f s so far", _describe(compilation), WARN_SECONDS)
