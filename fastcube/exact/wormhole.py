"""Exact shares of fault sets with a cyclic dependency graph, by enumeration (study ``multicast-deadlock``)."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from ..errors import check_integer


@functools.cache
def counts(n: int, f: int) -> dict[str, int]:
    """Of all sets of f faults of Q_n: those with a fault-tolerant 2-partition, and among them those with a cycle."""
    from ..kernels.wormhole.dependencies import count_cyclic
    from ..kernels.wormhole.layout import DEPENDENCIES

    slots = DEPENDENCIES.fresh()
    sets = int(count_cyclic(n, f, slots))
    assert sets == math.comb(2**n, f)
    return {name: int(value) for name, value in DEPENDENCIES.read(slots)[0].items()}  # type: ignore[arg-type]


def exact_cycles(n: int, f: int) -> dict[str, Fraction | None]:
    """The statistics of study ``multicast-deadlock``, exactly; None where no fault set has a partition.

    Parameters
    ----------
    n : int
        3, 4 or 5: up to 10.5 million fault sets of Q_5 (a minute), 1,820 of Q_4.
    f : int
        0 .. 2^(n-2).
    """
    n = check_integer("n", n, 3, 5, "for an enumeration")
    f = check_integer("f", f, 0, 2 ** (n - 2), f"for n={n}")
    found = counts(n, f)
    partitioned = found["partitioned"]
    shares = ("cyclic", "cyclic_unicast", "cyclic_repaired")
    return {
        "partitioned": Fraction(partitioned, math.comb(2**n, f)),
        **{name: Fraction(found[name], partitioned) if partitioned else None for name in shares},
    }
