"""Exact values for broadcasting: all fault sets of small cubes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..errors import ParameterError, check_integer
from .routing import share_of

#: Fault sets that an enumeration may take, some ten seconds.
MOST_SETS = 10**7


def exact_broadcast(n: int, f: int) -> dict[str, Fraction | None]:
    """The statistics of the study ``broadcast`` over all sets of f faulty nodes of Q_n and all sources.

    Parameters
    ----------
    n, f : int
        So small that at most 10^7 fault sets spare one node: all f for n <= 4, f <= 6 for n = 5.

    Returns
    -------
    dict
        Statistic to Fraction; None where nothing is conditioned on.

    Notes
    -----
    By enumeration of the fault sets without node 0, the source.
    """
    n = check_integer("n", n, 1, 62)
    f = check_integer("f", f, 0, 2**n - 1, f"for n={n}")
    sets = math.comb(2**n - 1, f)
    if sets > MOST_SETS:
        raise ParameterError(
            f"n and f must have at most {MOST_SETS} fault sets to enumerate, got {sets} at n={n}, f={f}"
        )
    from ..kernels.broadcasting.enumeration import all_broadcasts
    from ..kernels.broadcasting.layout import TALLY

    slots = TALLY.fresh()
    trials = int(all_broadcasts(np.array([n, f, 0], np.float64), slots))
    read, _ = TALLY.read(slots)
    counts: dict[str, int] = read  # type: ignore[assignment]
    out: dict[str, Fraction | None] = {}
    for name in ("broadcast2", "broadcast1", "broadcast1_unsafe", "broadcast"):
        among = counts[f"{name}_trials"]
        out[f"{name}_complete"] = share_of(counts[f"{name}_complete"], among)
        out[f"{name}_coverage"] = share_of(counts[f"{name}_reached"], among * (2**n - f))
        if name != "broadcast1_unsafe":
            out[f"{name}_steps"] = share_of(counts[f"{name}_steps"], among)
    out["not_unsafe"] = share_of(counts["not_unsafe"], trials)
    out["unsafe_source"] = share_of(counts["unsafe_source"], counts["not_unsafe"])
    return out
