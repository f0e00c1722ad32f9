"""Networks of users' own: ``custom_network`` makes one from a step, after checks of all nodes at small sizes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ..errors import ParameterError, check_integer, check_line, short_repr, wrap_study_errors
from .family import LARGEST_CHECKED, Family, is_any_size, network_families, user_step_of
from .network import label_text
from .user_step import Step


def custom_network(
    name: str,
    title: str,
    *,
    step: Step,
    slots: Callable[[int], int],
    sizes: Callable[[int], bool] | None = None,
) -> Family:
    """Return a network of your own.

    Parameters
    ----------
    name : str
        At most 64 of the characters a-z, 0-9 and -, different from the names of built-in networks.
    title : str
        One line.
    step : callable
        ``step(v, d, n)`` returns the node at the other end of slot d of node v, or v if slot d has no link there; ints in
        [0, 2^n - 1].  It is a ``@fc.blocks.block``, or plain Python that Numba can compile.
    slots, sizes : callable
        Number of slots at n, at most 62; and whether there is such a network on 2^n nodes, by default always.

    Raises
    ------
    ParameterError
        If the rules for slots (N1) are violated at a size up to n = 10: every slot is a matching, no two slots connect the
        same nodes, every slot has a link, and without faults all nodes are connected.  The message names two nodes.

    Examples
    --------
    >>> @fc.blocks.block
    ... def step(v, d, n):
    ...     return v ^ (1 << d) if d < n else v ^ ((1 << n) - 1)
    >>> mine = fc.custom_network(
    ...     "mine", "Opposite nodes linked", step=step, slots=lambda n: n + 1, sizes=lambda n: n >= 2
    ... )
    >>> fc.diameter(fc.network(mine, 4))  # half the diameter of Q_4
    2
    """
    if not isinstance(name, str) or not re.fullmatch("[a-z0-9-]{1,64}", name):
        raise ParameterError(f"name must be of a-z, 0-9 and -, at most 64, got {short_repr(name)}")
    if name in network_families():
        raise ParameterError(f"name must not be a built-in network's, got {name}")
    sizes = is_any_size if sizes is None else sizes
    for what, given in (("step", step), ("slots", slots), ("sizes", sizes)):
        if not callable(given):
            raise ParameterError(f"{what} of {name} must be a function, got {short_repr(given)}")
    python_step = getattr(step, "py_func", step)
    with wrap_study_errors(f"sizes of {name}"):
        checked_sizes = [n for n in range(1, LARGEST_CHECKED + 1) if sizes(n)]
    if not checked_sizes:
        raise ParameterError(
            f"sizes of {name} must hold for some n in [1, {LARGEST_CHECKED}], on which its step is checked"
        )
    family = Family(name, check_line("title", title), "a user's own", slots, sizes, own=step)
    for n in checked_sizes:
        with wrap_study_errors(f"slots of {name}"):
            slot_count = check_integer("slots", slots(n), 1, 62, f"for {name} at n={n}")
        rows = [[_apply_step(name, python_step, v, d, n) for d in range(slot_count)] for v in range(2**n)]
        _check_slots(name, rows, n)
        _check_compiled(family, rows, n)
    return family


def _check_compiled(family: Family, rows: list[list[int]], n: int) -> None:
    """Raise ParameterError unless the compiled step, which counts, gives the rows that the step gave in plain Python."""
    nodes, slots = np.indices((len(rows), len(rows[0]))).reshape(2, -1)
    compiled, expected = user_step_of(family).apply(nodes, slots, n), np.array(rows, np.int64).ravel()
    if (different := np.flatnonzero(compiled != expected)).size:
        at = different[0]
        raise ParameterError(
            f"step of {family.name} must be the same when it is compiled, where integers have 64 bits and wrap, but "
            f"at n={n} slot {slots[at]} of {label_text(int(nodes[at]), n)} leads to "
            f"{label_text(int(expected[at]), n)} in Python and to {compiled[at]} compiled"
        )


def _apply_step(name: str, step: Step, v: int, d: int, n: int) -> int:
    """Return the result of a user's step in plain Python.  Raises ParameterError unless it is a node."""
    with wrap_study_errors(f"step of {name}"):
        w = step(v, d, n)
    try:
        return check_integer("step", w, 0, 2**n - 1, f"for {name} at n={n}")
    except ParameterError as error:
        raise ParameterError(f"{error} from node {label_text(v, n)} in slot {d}") from None


def _check_slots(name: str, rows: list[list[int]], n: int) -> None:
    """Raise ParameterError, with two nodes, if the rules for slots (N1) are violated by the ends of each node's slots."""

    def raise_error(what: str) -> None:
        raise ParameterError(f"step of {name} must join all nodes by slots that are matchings, but at n={n} {what}")

    def format_node(v: int) -> str:
        return label_text(v, n)

    for v, row in enumerate(rows):
        for d, w in enumerate(row):
            if rows[w][d] != v:
                raise_error(
                    f"slot {d} leads from {format_node(v)} to {format_node(w)} and from there to {format_node(rows[w][d])}"
                )
            if w != v and row.index(w) < d:
                raise_error(f"slots {row.index(w)} and {d} both join {format_node(v)} and {format_node(w)}")
    for d in range(len(rows[0])):
        if all(row[d] == v for v, row in enumerate(rows)):
            raise_error(
                f"slot {d} joins no two nodes, neither {format_node(0)} nor {format_node(len(rows) - 1)} to any"
            )
    reached, waiting = {0}, [0]
    while waiting:
        waiting += (new := set(rows[waiting.pop()]) - reached)
        reached |= new
    if len(reached) < len(rows):
        raise_error(f"no path leads from {format_node(0)} to {format_node(min(set(range(len(rows))) - reached))}")
