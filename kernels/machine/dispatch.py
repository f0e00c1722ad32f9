"""Tables of the kernels of a study: the points that each kernel serves, and the kernel that is used.  Does not import numba.

Conditions take the values of a point's axes in the order of the study's axes, as kernels find them in ``params``::

    ROUTING = KernelTable(
        __package__,
        {"scalar.ROUTING_SINGLE": serve_any_point, "lanes.ROUTING_LANES_8": lambda n, f, links, k: n <= 8 and not links},
        lambda n, f, links, k: "scalar.ROUTING_SINGLE" if links or n > 8 else "lanes.ROUTING_LANES_8",
    )
    ROUTING.kernel(10, 5, 0, 1)

All kernels of a table that serve a point give identical counts, so the choice between them affects the speed only.  A run may
therefore begin with a kernel that compiles quickly, and change over to the fastest one when that is compiled.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .jit import Kernel


def serve_any_point(*values: Any) -> bool:
    """Return True: the condition of a kernel that serves every point."""
    return True


def has_avx512() -> bool:
    """Whether kernels are compiled with AVX-512, for constants that were measured with it and without.  Imports numba."""
    from .target import FEATURES

    return "avx512f" in FEATURES


class Alternative(NamedTuple):
    """One of several kernels that count a point alike, with its costs on one core of an AMD Zen 4; only their ratios matter."""

    kernel: Kernel
    compile_seconds: float
    trial_seconds: float


class KernelTable:
    """The kernels of one study.

    Parameters
    ----------
    package : str
        The subject's package, ``__package__`` of its ``dispatch``.
    table : mapping
        Name of a kernel, ``"module.NAME"`` in the package, to a function that says whether it serves the point of these values.
    fastest : callable, optional
        Name of the kernel to use for these values; by default the first of the table that serves them.
    compile_seconds : mapping, optional
        Name of a kernel to the CPU seconds of its compilation, without those of starting the compiler.
    nanoseconds : callable, optional
        For these values, the approximate times of a trial by names of kernels: of the fastest one, and of others with which a
        run may begin.

    Attributes
    ----------
    package : str
        As given.
    names : tuple of str
        The kernels, in the table's order.
    compile_seconds : dict
        As given.
    """

    def __init__(
        self,
        package: str,
        table: Mapping[str, Callable[..., bool]],
        fastest: Callable[..., str] | None = None,
        compile_seconds: Mapping[str, float] | None = None,
        nanoseconds: Callable[..., Mapping[str, float]] | None = None,
    ) -> None:
        self.package = package
        self._table = dict(table)
        self._fastest = fastest
        self.compile_seconds, self._nanoseconds = dict(compile_seconds or {}), nanoseconds
        self.names = tuple(self._table)

    def is_served(self, name: str, *values: Any) -> bool:
        """Whether a kernel of the table serves the point with these values.  Raises KeyError for an unknown kernel."""
        return bool(self._table[name](*values))

    def choose_name(self, *values: Any) -> str:
        """Return the name of the kernel to use for these values.  Raises LookupError if it does not serve them, or none does."""
        serving = (name for name in self.names if self.is_served(name, *values))
        name = self._fastest(*values) if self._fastest else next(serving, None)
        if name is None:
            raise LookupError(f"no kernel of {self.package} serves {values}")
        if name not in self._table or not self.is_served(name, *values):
            raise LookupError(f"{name} of {self.package} is to count at {values}, where it does not serve")
        return name

    def load_kernel(self, name: str) -> Kernel:
        """Import and return a kernel of the table.  Raises KeyError for an unknown kernel."""
        if name not in self._table:
            raise KeyError(name)
        module, _, attribute = name.partition(".")
        kernel: Kernel = getattr(importlib.import_module(f"{self.package}.{module}"), attribute)
        return kernel

    def kernel(self, *values: Any) -> Kernel:
        """Return the kernel to use for these values.  Raises LookupError as ``choose_name`` does."""
        return self.load_kernel(self.choose_name(*values))

    def alternatives(self, *values: Any) -> dict[str, Alternative]:
        """Return the kernels with which a run may count these values, by name, with their costs; empty if there is only one.

        Raises LookupError for a kernel that does not serve them, or whose trial takes no time.
        """
        times = self._nanoseconds(*values) if self._nanoseconds else {}
        for name, time in times.items():
            if name not in self._table or not self.is_served(name, *values):
                raise LookupError(f"{name} of {self.package} is to begin at {values}, where it does not serve")
            if time <= 0:
                raise LookupError(f"{name} of {self.package} is to take {time} ns at {values}")
        if len(times) < 2:
            return {}
        return {
            name: Alternative(self.load_kernel(name), self.compile_seconds[name], 1e-9 * time)
            for name, time in times.items()
        }
