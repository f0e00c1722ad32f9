"""What this process compiles at present: for reports of progress, and for a warning when a person may wonder.

Numba compiles one function at a time, so there is at most one present compilation.  Does not import numba.
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
    """A kernel that is compiled, or that another process compiles while this one waits."""

    name: str  #: the kernel's subject, module and function, as ``Kernel.label``
    holder: str = ""  #: the other process, such as ``process 77 on node1``; empty while this process compiles
    begun: float = field(default_factory=time.monotonic)  #: when it began, by ``time.monotonic``


_present: Compilation | None = None

#: Number of contexts of ``report_compilations`` that are open.
_reporters = 0


def present_compilation() -> Compilation | None:
    """Return what this process compiles at present, or None."""
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
    """Make a kernel the present compilation inside this context, and log a warning if that takes long and is not reported."""
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
