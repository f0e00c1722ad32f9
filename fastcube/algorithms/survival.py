"""The nonfaulty part of one network: its components, and the distances, eccentricities and diameter in it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_range, short_repr
from ..networks.dualcube import DualCube
from ..networks.family import LARGEST_TABLED, CubeNetwork, network_families
from ..networks.network import Network, all_faulty_nodes
from .registry import check_end

#: Largest number of bits of a label for ``diameter``, which searches from every node.
_LARGEST_DIAMETER = 14


@dataclass(frozen=True)
class Survival:
    """The connected components of a network's nonfaulty nodes.

    Attributes
    ----------
    connected : bool
        Whether there is exactly one component.  A network without nonfaulty nodes is not connected (N5).
    isolated : int
        Number of nonfaulty nodes without a nonfaulty link to a nonfaulty neighbour.  A single survivor is isolated too.
    components : list of int
        Numbers of nodes of the components, descending.
    largest : int
        Number of nodes of the largest component; 0 if there is none.
    """

    connected: bool
    isolated: int
    components: list[int]
    largest: int


def survival(network: Network) -> Survival:
    """Return the connected components of the nonfaulty nodes and the number of isolated nodes.

    Parameters
    ----------
    network : Hypercube, DualCube or network of the cube family
        With at most 2^20 nodes.

    Returns
    -------
    Survival

    Examples
    --------
    >>> s = fc.survival(fc.Hypercube(3, faulty_nodes=[1, 2, 4]))
    >>> s.connected, s.isolated, s.components  # node 0 is cut off from the four other nodes
    (False, 1, [4, 1])
    """
    from ..kernels.cube.tables import component_sizes

    sizes: list[int] = sorted(component_sizes(*network_arrays(network)).tolist(), reverse=True)
    return Survival(len(sizes) == 1, sizes.count(1), sizes, sizes[0] if sizes else 0)


def eccentricity(network: Network, v: int) -> int | None:
    """Return the largest distance from ``v`` to a nonfaulty node, over nonfaulty links; None if a node cannot be reached.

    The network has at most 2^20 nodes.  Raises ParameterError for a faulty ``v``.

    Examples
    --------
    >>> fc.eccentricity(fc.Hypercube(3), 0)
    3
    >>> fc.eccentricity(fc.Hypercube(3, faulty_nodes=[7]), 0)  # the opposite node does not count
    2
    """
    from ..kernels.cube.tables import OPEN, lengths_from

    v = check_end(check_network(network), "v", v)
    length = lengths_from(*network_arrays(network), v)
    return None if (length == OPEN).any() else int(length.max())


def diameter(network: Network) -> int | None:
    """Return the largest distance between two nonfaulty nodes; None if the nonfaulty nodes are disconnected or there is none.

    The network has at most 2^14 nodes, because the search starts from each of them.

    Examples
    --------
    >>> fc.diameter(fc.Hypercube(3))
    3
    >>> fc.diameter(fc.Hypercube(3, faulty_nodes=[1, 2, 4])) is None  # node 0 is cut off
    True
    """
    from ..kernels.cube.tables import find_diameter

    check_network(network)
    check_range("bits of a label", network.bits, 1, _LARGEST_DIAMETER, "to search from every node")
    found = int(find_diameter(*network_arrays(network)))
    return None if found < 0 else found


def check_network(network: object) -> Network:
    """Return the network.  Raises ParameterError for anything else."""
    if not isinstance(network, Network):
        raise ParameterError(f"network must be a network, got {short_repr(network)}")
    return network


def network_arrays(network: Network) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.uint64]]:
    """Return a network's table of neighbours, its faulty nodes, and its faulty links as bits of ``cut``, for the kernels."""
    check_network(network)
    check_range("bits of a label", network.bits, 1, LARGEST_TABLED, "to hold all nodes")
    if isinstance(network, CubeNetwork):
        table = network.family.table(network.n)
    elif isinstance(network, DualCube):
        table = _dual_table(network.m)
    else:
        table = network_families()["hypercube"].table(network.bits)
    faulty = np.zeros(len(table), np.bool_)
    faulty[all_faulty_nodes(network)] = True
    cut = np.zeros(len(table) if network.faulty_links else 0, np.uint64)
    for link in network.faulty_links:
        for u, v in (link, link[::-1]):
            cut[u] |= np.bitwise_or.reduce(np.uint64(1) << np.flatnonzero(table[u] == v).astype(np.uint64))
    return table, faulty, cut


@functools.lru_cache(maxsize=4)
def _dual_table(m: int) -> NDArray[np.int32]:
    """Return the neighbours of each node of DC(m): over the m bits of its cluster, ascending, and over its cross edge."""
    v: NDArray[Any] = np.arange(2 << 2 * m, dtype=np.int32)
    low = m * (v >> 2 * m)
    return np.stack([*(v ^ (1 << (low + i)) for i in range(m)), v ^ (1 << 2 * m)], axis=1).astype(np.int32)
