"""Exact joint counts of Edmonds' number and the smallest degree over all small fault sets: what Monte Carlo must agree with.

``data/spanning-trees.json`` holds them, by enumeration in plain Python (it names the command that makes it): all sets of
faulty nodes of Q_1 .. Q_4 and of at most 5 of Q_5, all sets of faulty links of Q_1 .. Q_3 and of at most 4 of Q_4.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

from .. import packaged
from ..errors import ParameterError, check_integer

#: Number of fault sets by (Edmonds' number, smallest degree).
Joint = dict[tuple[int, int], int]


@dataclass(frozen=True)
class ExactSpanning:
    """Exact values over all sets of f faulty nodes, or of ``links`` faulty links, of Q_n.

    Attributes
    ----------
    n, f, links : int
    joint : dict
        Number of fault sets by (Edmonds' number lambda, smallest degree delta).
    trees, min_degree : Fraction
        Mean lambda and mean delta.
    degree_met, connected, isolated : Fraction
        Shares of the fault sets with lambda = delta, with lambda >= 1, with delta = 0.
    degree_met_connected : Fraction or None
        Share with lambda = delta among those with lambda >= 1; None when there are none.
    largest_gap : int
        The largest delta - lambda.
    """

    n: int
    f: int
    links: int
    joint: Joint
    trees: Fraction
    min_degree: Fraction
    degree_met: Fraction
    connected: Fraction
    degree_met_connected: Fraction | None
    isolated: Fraction
    largest_gap: int


@functools.cache
def table() -> dict[tuple[int, str], list[Joint]]:
    """The joint counts for 0, 1, 2, ... faults, by (n, "nodes" or "links").  Raises ParameterError where they are damaged."""
    with packaged.data_of("spanning-trees"):
        held = {
            tuple(name[2:].split()): sizes
            for name, sizes in packaged.read("spanning-trees").items()
            if name[:2] == "n="
        }
        return {
            (int(n), kind): [
                {(int(pair.split(",")[0]), int(pair.split(",")[1])): int(many) for pair, many in sets.items()}
                for sets in sizes
            ]
            for (n, kind), sizes in held.items()
        }


def exact_spanning(n: int, f: int = 0, links: int = 0) -> ExactSpanning:
    """Exact values over all fault sets of a size.

    Parameters
    ----------
    n : int
        1 <= n <= 5.
    f, links : int
        Faulty nodes and faulty links, one of them 0, as far as the table goes; two nonfaulty nodes at least.

    Raises
    ------
    ParameterError
        Where the table has no values.
    """
    n = check_integer("n", n, 1, 5)
    if f and links:
        raise ParameterError(f"one of f and links must be 0 for exact values, got f={f}, links={links}")
    kind, name, faults = ("links", "links", links) if links else ("nodes", "f", f)
    sizes = table().get((n, kind), [])
    faults = check_integer(name, faults, 0, max(len(sizes) - 1, 0), f"for exact values at n={n}")
    joint = sizes[faults]
    sets = sum(joint.values())

    def share(met: int) -> Fraction:
        return Fraction(met, sets)

    connected = sum(many for (trees, _), many in joint.items() if trees)
    met = sum(many for (trees, degree), many in joint.items() if trees == degree)
    met_connected = sum(many for (trees, degree), many in joint.items() if trees == degree and trees)
    return ExactSpanning(
        n,
        f,
        links,
        joint,
        share(sum(trees * many for (trees, _), many in joint.items())),
        share(sum(degree * many for (_, degree), many in joint.items())),
        share(met),
        share(connected),
        Fraction(met_connected, connected) if connected else None,
        share(sum(many for (_, degree), many in joint.items() if not degree)),
        max(degree - trees for trees, degree in joint),
    )
