"""Exact values of the studies that enumerate all that can be drawn: one door a study, to :meth:`Study.exact`."""

from __future__ import annotations

from fractions import Fraction

from ..measure.registry import study

#: Statistic to its value; None where there is nothing to be over.
Exact = dict[str, Fraction | None]


def exact_routing(n: int, f: int, k: int = 1) -> Exact:
    """The statistics of the study ``routing`` over all sets of f faulty nodes and all messages of Q_n.

    Parameters
    ----------
    n, f : int
        So small that there are at most 10^7 messages from one node: all f for n <= 4, f <= 4 for n = 5.
    k : int
        As in ROUTE1(k) and ROUTE2(k), 1 <= k <= n.

    Returns
    -------
    dict
        Statistic to Fraction; None where nothing is conditioned on, such as ROUTE3's when every fault set leaves no
        active node.

    Examples
    --------
    >>> fc.exact_routing(3, 2)["route_delivered"]  # of 7 destinations 3 at distance 1, 3 at 2, one at 3: (3 + 3 * 2/3 + 2/5) / 7
    Fraction(27, 35)
    """
    return study("routing").exact({"n": n, "f": f, "links": 0, "k": k})


def exact_broadcast(n: int, f: int) -> Exact:
    """As :func:`exact_routing`, of the study ``broadcast`` over all sources; at most 10^7 fault sets that spare one node.

    Examples
    --------
    >>> fc.exact_broadcast(3, 1)["broadcast_complete"]  # the fault must be one of the 4 leaves among 7 nodes
    Fraction(4, 7)
    """
    return study("broadcast").exact({"n": n, "f": f, "links": 0})


def exact_trees(n: int, links: int = 0, f: int = 0) -> Exact:
    """The statistics of the studies ``find-tree`` and ``optimal-tree`` over all sets of faulty links and nodes of Q_n.

    Parameters
    ----------
    n : int
        1 <= n <= 12.
    links, f : int
        At most 2 * 10^8 sets in all (ParameterError with their number for more); about 10^6 a second at n = 4.

    Returns
    -------
    dict
        Statistic to Fraction; None where no set has a sink.

    Examples
    --------
    >>> fc.exact_trees(2, links=2)["optimum"]  # a tree leaves out only one of the four links
    Fraction(1, 1)
    """
    point = {"n": n, "links": links, "f": f}
    return study("optimal-tree").exact(point) | study("find-tree").exact(point)


def exact_gather(n: int, links: int = 0, f: int = 0) -> Exact:
    """As :func:`exact_trees`, of the studies ``gather`` and ``rerouting``; n <= 10.

    Examples
    --------
    >>> fc.exact_gather(2, links=1)["complete_comment"]  # a tree of three links does without the fourth
    Fraction(1, 1)
    """
    point = {"n": n, "links": links, "f": f}
    return study("gather").exact(point) | study("rerouting").exact(point)
