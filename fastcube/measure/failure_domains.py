"""The domains of nodes that fail as one, and the numbering of their members (N13).

A domain is a board of 2, 4 or 8 nodes, the nodes at a switch, or a domain of a user's own.  Boards and users' domains divide the
nodes, so each node has the number of its domain.  A node is at one switch per digit of its label, so switches list their nodes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_integer, check_range, wrap_study_errors
from ..kernels.survival.dispatch import DOMAINS
from ..networks.family import LARGEST_CHECKED, Family, find_family
from ..networks.hypercube import Subcube
from ..networks.network import label_text
from .statistics import Point

#: The kinds of boards.  The labels of a board's nodes differ only in the lowest 1, 2 or 3 bits.
BOARDS = DOMAINS[:3]

#: Bits of a digit of the networks with switches, by network.  A switch joins the nodes that differ only in one digit.
DIGIT_BITS = {"hyperx-4": 2, "hyperx-8": 3}


class OwnDomains(NamedTuple):
    """A user's domains: their name on the axis, and the function ``domain(v, n)``."""

    name: str
    function: Callable[[int, int], int]


class UserParts(NamedTuple):
    """The parts of a study of domains that a user supplies, in addition to the networks and domains as installed."""

    family: Family | None = None
    domain: OwnDomains | None = None


#: The parts of ``survival-domains`` as installed: none is a user's.
BUILT_IN = UserParts()


def is_switch(point: Point) -> bool:
    """Whether switches fail at a point, and not boards."""
    return str(point["domain"]) == "switch"


def find_point_family(point: Point, parts: UserParts) -> Family:
    """Return the family of the network at a point."""
    own, name = parts.family, str(point["network"])
    return own if own is not None and name == own.name else find_family(name)


@functools.lru_cache(maxsize=64)
def _number_own_domains(domain: OwnDomains, n: int) -> NDArray[np.int64]:
    """Return the number of each node's domain, in the order of their values.  Raises ParameterError for a bad value."""
    from ..kernels.survival.domain_numbers import user_domain_kernel

    with wrap_study_errors(f"domain {domain.name}"):
        values = user_domain_kernel(domain.function).compiled(np.int64(n))
    if n <= LARGEST_CHECKED:
        _check_compiled_domains(domain, n, values)
    if (bad := np.flatnonzero((values < 0) | (values >= 2**n))).size:
        check_range(f"domain {domain.name}", values[bad[0]], 0, 2**n - 1, f"at n={n}, node {label_text(bad[0], n)}")
    return np.unique(values, return_inverse=True)[1]


def _check_compiled_domains(domain: OwnDomains, n: int, values: NDArray[np.int64]) -> None:
    """Raise ParameterError if Python finds another value than compiled code, or a value that is out of range.

    Python is tested in small cubes only, because it takes a microsecond or more per node.
    """
    function = getattr(domain.function, "py_func", domain.function)
    for v in range(2**n):
        with wrap_study_errors(f"domain {domain.name}"):
            value = function(v, n)
        value = check_integer(f"domain {domain.name}", value, 0, 2**n - 1, f"at n={n}, node {label_text(v, n)}")
        if value != values[v]:
            raise ParameterError(
                f"domain {domain.name} must be the same when it is compiled, where integers have 64 bits and wrap, but at "
                f"n={n} node {label_text(v, n)} is in {value} in Python and in {values[v]} compiled"
            )


def count_board_bits(domain: str) -> int:
    """Return the number of bits in which labels of one board differ: 1, 2 or 3."""
    return BOARDS.index(domain) + 1


def number_boards(point: Point, parts: UserParts = BUILT_IN) -> NDArray[np.int64]:
    """Return the number of each node's board, or of its domain if domains are a user's, at a point."""
    if parts.domain is not None and str(point["domain"]) == parts.domain.name:
        return _number_own_domains(parts.domain, int(point["n"]))
    return np.arange(2 ** int(point["n"])) >> count_board_bits(str(point["domain"]))


def count_domains(point: Point, parts: UserParts = BUILT_IN) -> int:
    """Return the number of domains at a point."""
    if is_switch(point):
        n, bits = int(point["n"]), DIGIT_BITS[str(point["network"])]
        return (n // bits) << (n - bits)
    return int(number_boards(point, parts).max()) + 1


def list_members(point: Point, g: int, parts: UserParts = BUILT_IN) -> list[int]:
    """Return the nodes of domain g at a point: of a board, of the row that a switch joins, or of a user's domain.

    Switches are numbered by digit, then by the other digits of their row, whose bits are compacted.
    """
    if not is_switch(point):
        return np.flatnonzero(number_boards(point, parts) == g).tolist()
    n, bits = int(point["n"]), DIGIT_BITS[str(point["network"])]
    digit, row = divmod(g, 1 << (n - bits))
    low = bits * digit  # the lowest bit of the digit
    below, above = row & ((1 << low) - 1), row >> low
    first = below | above << (low + bits)
    return [first | value << low for value in range(1 << bits)]


#: Number of nodes of a domain that are written out.
_MOST_SHOWN_NODES = 8


def format_domain(nodes: list[int], n: int) -> str:
    """Return a domain as text: as a subcube if it is a subcube, else its first eight nodes."""
    base, union = functools.reduce(int.__and__, nodes), functools.reduce(int.__or__, nodes)
    if len(nodes) == 1 << (base ^ union).bit_count():
        return str(Subcube(base, base ^ union, n))
    labels = [label_text(v, n) for v in nodes[:_MOST_SHOWN_NODES]]
    if len(nodes) > _MOST_SHOWN_NODES:
        labels.append("...")
    return ", ".join(labels)
