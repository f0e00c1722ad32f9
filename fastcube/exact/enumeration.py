"""Exact values of studies by enumeration of all possible samples: one function per study that calls ``Study.exact``."""

from __future__ import annotations

from fractions import Fraction

from ..measure.registry import study

#: Exact values by statistic; None for a statistic over no sample.
Exact = dict[str, Fraction | None]


def exact_routing(n: int, f: int, k: int = 1) -> Exact:
    """Return the statistics of the study ``routing`` over all sets of f faulty nodes and all messages of Q_n.

    Parameters
    ----------
    n, f : int
        Limited to 10^7 messages from one node: all f for n <= 4, f <= 4 for n = 5.
    k : int
        As in ROUTE1(k) and ROUTE2(k), 1 <= k <= n.

    Returns
    -------
    dict
        Fractions by statistic.  A value is None if its condition never holds, as for ROUTE3 if every fault set leaves no
        active node.

    Examples
    --------
    >>> fc.exact_routing(3, 2)["route_delivered"]  # 3, 3, 1 at distances 1, 2, 3: (3 + 3 * 2/3 + 2/5) / 7
    Fraction(27, 35)
    """
    return study("routing").exact({"n": n, "f": f, "links": 0, "k": k})


def exact_broadcast(n: int, f: int) -> Exact:
    """Return the statistics of the study ``broadcast`` over all sources; at most 10^7 fault sets that spare one node.

    Returns a dict as :func:`exact_routing` does.

    Examples
    --------
    >>> fc.exact_broadcast(3, 1)["broadcast_complete"]  # the fault must be one of the 4 leaves among 7 nodes
    Fraction(4, 7)
    """
    return study("broadcast").exact({"n": n, "f": f, "links": 0})


def exact_trees(n: int, links: int = 0, f: int = 0) -> Exact:
    """Return the statistics of the studies ``find-tree`` and ``optimal-tree`` over all sets of faulty links and nodes of Q_n.

    Parameters
    ----------
    n : int
        In [1, 12].
    links, f : int
        At most 2 * 10^8 sets in total, else ParameterError with their number; about 10^6 sets per second at n = 4.

    Returns
    -------
    dict
        Fractions by statistic; None for a statistic over trees if no set has a sink.

    Examples
    --------
    >>> fc.exact_trees(2, links=2)["optimum"]  # a tree uses three of the four links, so it has at least one faulty link
    Fraction(1, 1)
    """
    point = {"n": n, "links": links, "f": f}
    return study("optimal-tree").exact(point) | study("find-tree").exact(point)


def exact_gather(n: int, links: int = 0, f: int = 0) -> Exact:
    """Return the statistics of the studies ``gather`` and ``rerouting``; n <= 10.  All else is as in :func:`exact_trees`.

    Examples
    --------
    >>> fc.exact_gather(2, links=1)["complete_as_commented"]  # a tree of three links can avoid the faulty link
    Fraction(1, 1)
    """
    point = {"n": n, "links": links, "f": f}
    return study("gather").exact(point) | study("rerouting").exact(point)
