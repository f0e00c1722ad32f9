"""The faults that a routing rule tolerates, by all fault sets of a small hypercube."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError, check_integer, count_text, wrap_study_errors
from ..measure.routing_rules import rule_name
from ..networks.hypercube import Hypercube
from ..running.progress import Progress

#: Largest n: beyond it even the sets of 6 faulty nodes are too many (C(63, 6) = 68 million).
_LARGEST = 5
#: Largest number of fault sets of one size that are tried by default: some ten seconds for DFS.
_MOST_SETS = 10**7
#: Number of fault sets in one call of the kernel; progress is shown between calls.
_SETS_PER_CALL = 2**13


@dataclass(frozen=True)
class Tolerance:
    """The faulty nodes of Q_n that a routing rule tolerates; from :func:`fastcube.tolerance`.

    Attributes
    ----------
    rule : str
        The rule's name.
    n : int
        Dimension of the hypercube.
    faults : int
        Number of faulty nodes up to which the rule delivers every message between nonfaulty nodes that a path connects; -1 if it
        loses one without faults.  If there is no counterexample, it is the largest number that was tried.
    cube : Hypercube or None
        The first smallest fault set with a lost message, as a cube; None if none was found.
    s, t : int or None
        Ends of the lost message.
    sets : int
        Number of fault sets tried, up to translation.
    """

    rule: str
    n: int
    faults: int
    cube: Hypercube | None
    s: int | None
    t: int | None
    sets: int

    @property
    def faulty_nodes(self) -> frozenset[int]:
        """The faulty nodes of the counterexample; empty if there is none."""
        return frozenset() if self.cube is None else frozenset(self.cube.faulty_nodes)  # type: ignore[arg-type]

    def __str__(self) -> str:
        tried = f"({count_text(self.sets, 'fault set')} up to translation)"
        up_to = (
            f"with at most {count_text(self.faults, 'faulty node')}"
            if self.faults >= 0
            else "with no number of faulty nodes"
        )
        text = f"{self.rule} delivers every message of Q_{self.n} between connected nodes {up_to}"
        if self.cube is None or self.s is None or self.t is None:
            return f"{text} {tried}"
        nodes = ", ".join(map(self.cube.label, sorted(self.faulty_nodes))) or "none"
        return f"{text}; with faulty {nodes} it loses {self.cube.label(self.s)} to {self.cube.label(self.t)} {tried}"


def tolerance(rule: Any, n: int, most: int | None = None) -> Tolerance:
    """Return the smallest set of faulty nodes at which a routing rule loses a message between connected nodes.

    All fault sets are tried in order of size, up to translation v -> v XOR a: messages start at node 0, which is nonfaulty.

    Parameters
    ----------
    rule : str or block
        ``ROUTE``, ``ROUTE1``, ``ROUTE3``, ``LEVELS``, ``VECTORS``, ``A1`` or ``DFS``, or your own block as in
        :func:`fastcube.routing_rules_study`.  It must depend on labels only through their differences, as these rules do.
    n : int
        In [1, 5].
    most : int, optional
        Largest number of faulty nodes, at most 2^n - 2.  By default all numbers with at most 10^7 sets: all for n <= 4, and up
        to 8 for n = 5.

    Returns
    -------
    Tolerance
        Its text states the range.  A refused message counts as lost.  Compiling a rule takes some seconds, and DFS then takes
        one second per 10^6 sets at n = 5 (AMD EPYC, Zen 4).

    Raises
    ------
    ParameterError
        If the rule is unknown, not compiled, or random (``SIDETRACK``), or n or ``most`` out of range.
    StudyError
        If your rule does not compile, or returns what is impossible: see :func:`fastcube.routing_rules_study`.  Here every
        length is compared with the shortest nonfaulty path.

    Examples
    --------
    >>> found = fc.tolerance("ROUTE1", 3)
    >>> found.faults, sorted(found.cube.faulty_nodes), found.s, found.t  # both neighbours of 0 on the way to 3 are faulty
    (1, [1, 2], 0, 3)
    """
    from ..kernels.routing_rules.all_sets import make_first_loss_kernel
    from ..kernels.routing_rules.rules import RULES

    name = rule_name(rule, "rule must be a jitted function or a name")
    if rule == "SIDETRACK":
        raise ParameterError("rule must not be SIDETRACK, which routes at random")
    n = check_integer("n", n, 1, _LARGEST)
    others = 2**n - 1
    sizes = (
        range(others) if most is None else range(check_integer("most", most, 0, max(others - 1, 0), f"for n={n}") + 1)
    )
    kernel = make_first_loss_kernel(RULES[rule] if isinstance(rule, str) else rule, name)
    title, progress, tried = rule if isinstance(rule, str) else name, Progress(), 0
    progress.start(0)
    with wrap_study_errors(f"compiling {title}"):
        find_first_loss = kernel.compiled
    for f in sizes:
        set_count = math.comb(others, f)
        if most is None and set_count > _MOST_SETS:
            return Tolerance(title, n, f - 1, None, None, None, tried)
        params, loss = np.array([n, f, 0, *range(f)], np.float64), np.full(2, -1, np.int64)
        for first in range(0, set_count, _SETS_PER_CALL):
            with wrap_study_errors(f"{title} at n={n} with {count_text(f, 'faulty node')}"):
                find_first_loss(np.uint64(0), first, min(first + _SETS_PER_CALL, set_count), params, loss)
            if loss[0] > 0:
                number, t = divmod(int(loss[1]), 2**n)
                return Tolerance(
                    title, n, f - 1, Hypercube(n, _set_with_number(n, f, number)), 0, t, tried + number + 1
                )
            if progress.is_due():
                progress.update(min(first + _SETS_PER_CALL, set_count), set_count, f"sets of {f} faulty nodes of Q_{n}")
        tried += set_count
    return Tolerance(title, n, sizes[-1], None, None, None, tried)


def _set_with_number(n: int, f: int, number: int) -> list[int]:
    """Return the set with this number, from 0, among the ascending sets of f labels from 1 to 2^n - 1."""
    chosen: list[int] = []
    for label in itertools.count(1):
        if len(chosen) == f:
            return chosen
        with_label = math.comb(2**n - 1 - label, f - len(chosen) - 1)
        if number < with_label:
            chosen.append(label)
        else:
            number -= with_label
    raise AssertionError
