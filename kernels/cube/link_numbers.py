"""Numbers of the links of a network from its table (``tables``), and whether the hypercube's links have the same numbers.

A link is named by one of its ends v and its slot d, and numbered in the order of (d, v) (N3).  In a *matched* network there are n
slots, and slot d flips bit d and perhaps others.  Then v is the end with bit d clear, so all matched networks have the same
names.  In other networks v is the smaller end.

``number_links`` gives the number of the link at each node and slot, ``list_link_names`` the name of the link with each number,
and ``number_all_links`` both.  The kernel ``link_names`` is for Python what ``list_link_names`` is for kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.array_types import Ints, Ints32
from ..machine.jit import block, kernel, scratch


@block
def is_matched(table, n):
    """Whether the network is matched: there are n slots, and both ends of each link in slot d differ in bit d."""
    found = table.shape[1] == n
    for v in range(table.shape[0]):
        for d in range(table.shape[1]):
            found &= ((v ^ np.int64(table[v, d])) >> d) & 1 == 1
    return found


@block
def contains_hypercube(table, n):
    """Whether slots 0 .. n - 1 are the hypercube's slots."""
    found = table.shape[1] >= n
    for v in range(table.shape[0]):
        for d in range(min(n, table.shape[1])):
            found &= np.int64(table[v, d]) == v ^ (np.int64(1) << d)
    return found


@block
def names_link(v, w, d, matched):
    """Whether the link from v over slot d to w is named by v; there is no link if w is v."""
    return w != v and ((v >> d) & 1 == 0 if matched else v < w)


@scratch
def number_links(table, n):
    """Return the number of the link that each node v and slot d propose when links are sampled, and the number of links.

    In matched networks it is the link named (v without bit d, d), elsewhere the link of v in slot d.  The number is -1 if there
    is no link.  An extra column after the slots holds -1 as well, as the slot of positions that propose no link.
    """
    nodes, slots = table.shape
    numbers = np.full((nodes, slots + 1), -1, np.int32)
    matched = is_matched(table, n)
    count = np.int64(0)
    for d in range(slots):
        for v in range(nodes):
            w = np.int64(table[v, d])
            if names_link(np.int64(v), w, d, matched):
                numbers[v, d] = numbers[v ^ (1 << d) if matched else w, d] = count
                count += 1
    return numbers, count


@scratch
def list_link_names(table, n, count):
    """Return the names (v, d) of the ``count`` links of a network on 2^n nodes, in the order of their numbers."""
    out = np.empty((count, 2), np.int64)
    matched = is_matched(table, n)
    at = np.int64(0)
    for d in range(table.shape[1]):
        for v in range(table.shape[0]):
            if names_link(np.int64(v), np.int64(table[v, d]), d, matched):
                out[at, 0], out[at, 1] = v, d
                at += 1
    return out


class NumberedLinks(NamedTuple):
    """A network on 2^n nodes with the numbers and the names of its links, made by :func:`number_all_links`."""

    table: Ints32  #: (2^n, slots): see :mod:`.tables`
    numbers: Ints32  #: (2^n, slots + 1): see :func:`number_links`
    names: Ints  #: (links, 2): see :func:`list_link_names`


@scratch
def number_all_links(table, n):
    """Return the :class:`NumberedLinks` of a table."""
    numbers, count = number_links(table, n)
    return NumberedLinks(table, numbers, list_link_names(table, n, count))


@kernel("int64[:, ::1](int32[:, ::1], int64)")
def link_names(table, n):
    """Return the names (v, d) of all links of a network on 2^n nodes, in the order of their numbers."""
    return number_all_links(table, n).names
