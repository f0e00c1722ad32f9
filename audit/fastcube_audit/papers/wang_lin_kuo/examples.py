"""Worked examples of Wang, Lin & Kuo: partitions, paths inside and between supernodes, a multicast, and channel counts."""

from fastcube.algorithms.multicasting import multicast
from fastcube.algorithms.partition import Supercube, faults_of
from fastcube.networks.hypercube import Hypercube
from fastcube.plot.network_drawing import Drawing

from ...examples import Example, examples_of
from .partition import DESTINATIONS_18, FIGURE_18, SECTION_5_3, SOURCE_18


def _multicast_drawing(cube: Hypercube, s: int, destinations: list[int], caption: str) -> Drawing:
    """Draw a multicast with P = {0, 1}: in each node the label of its supernode, at each arrow the number of the channel."""
    net = Supercube(cube.n, faults_of(cube), (0, 1))
    inside = {v: str(net.label(v)) for v in range(2**cube.n)}
    channels = multicast(cube, s, destinations, (0, 1)).channels
    arrows = tuple((u, v, str(i)) for i, (u, v) in enumerate(channels, 1))
    return Drawing(cube, inside=inside, arrows=arrows, caption=caption)


# ---------------------------------------------------------------- sections 2 and 3


def isolation() -> Example:
    """Return the example of a node that loses its connections when all n neighbours are faulty."""
    description = "links from 000 to 111 with two of the neighbours of 000 faulty, and with all three: isolated"
    return Example(description, "[fc.distance(fc.Hypercube(3, F), 0, 7) for F in ([1, 2], [1, 2, 4])]", [3, None])


def figure_2() -> Example:
    """Return the example of section 3.1."""
    faults = "(0b000000, 0b100001, 0b111000, 0b000100)"
    cut = f"[len({{v & ~mask for v in {faults}}}) for mask in (0b100001, 0b000011)]"
    description = (
        "the pair that Figure 2 finds in Q_6, and how many 2-cubes hold the 4 faults with P = {0, 5} and P = {0, 1}"
    )
    python = f"[list(fc.two_partition(fc.Hypercube(6, {faults}))), {cut}]"
    return Example(description, python, [[0, 1], [3, 4]], form="{0:set}; {1[0]} and {1[1]}")


def figure_3() -> Example:
    """Return the example of a detour of two hops over the buddy."""
    python = "[list(channel) for channel in fc.multicast(fc.Hypercube(3, [4]), 0, [5], partition=(0, 1)).channels]"
    description = "from 000 into 1**: its neighbour 100 is faulty, so that its buddy 001 sends on, two hops"
    drawn = _multicast_drawing(Hypercube(3, [4]), 0, [5], "labels of the supernodes 0** and 1**")
    return Example(description, python, [[0, 1], [1, 5]], (drawn,), form="{value:hops}")


def figure_4() -> Example:
    """Return the example of the channels of Q_3; the paper does not say which two nodes of the figure are faulty."""
    channels = "[(v >> 2, w >> 2) for v in range(8) for w in fc.Hypercube(3).neighbours(v)]"
    description = (
        "channels of Q_3 from lower to higher labels, from higher to lower ones, and inside of supernodes, P = {0, 1}"
    )
    python = f"c = {channels}\n[sum(a < b for a, b in c), sum(a > b for a, b in c), sum(a == b for a, b in c)]"
    return Example(description, python, [4, 4, 16])


def figure_5() -> Example:
    """Return the example of a message along the Hamilton path, which meets the labels in order."""
    cube = "fc.Hypercube(4, [0b0001, 0b0111, 0b1101])"
    call = f"fc.multicast({cube}, 0, [8], partition=(0, 1), path='hamilton')"
    description = (
        "the supernodes with labels 0, 1, 2, 3 by their external digits, as a message along the Hamilton "
        "path visits them"
    )
    python = f"list(dict.fromkeys(format(v >> 2, '02b') for channel in {call}.channels for v in channel))"
    drawn = _multicast_drawing(
        Hypercube(4, [1, 7, 13]), 0, [8], "the label of each node, and a message from 0000 to 1000"
    )
    return Example(description, python, ["00", "01", "11", "10"], (drawn,))


# ---------------------------------------------------------------- section 4


def figure_8() -> Example:
    """Return the example of the turns of a minimal path in a supernode: each channel is followed by only one other."""
    turns = "{frozenset([(u, v), (v, u ^ 3), (u ^ 3, v ^ 3), (v ^ 3, u)]) for u in range(4) for v in (u ^ 1, u ^ 2)}"
    description = (
        "cycles of channels in a supernode with any minimal path, and a shortest cycle after two turns "
        "are inhibited: none"
    )
    return Example(description, f"[len({turns}), fc.dependency_cycle(fc.Hypercube(2), partition=(0, 1))]", [2, None])


def _supernode_example(
    faults: list[int], pairs: tuple[tuple[int, int], ...], description: str, value: list[list[list[int]]]
) -> Example:
    cube = f"fc.Hypercube(2{f', {faults}' if faults else ''})"
    call = f"fc.multicast({cube}, s, [d], partition=(0, 1)).channels"
    form = "; ".join(f"{{{i}:hops}}" for i in range(len(pairs)))
    return Example(description, f"[[list(channel) for channel in {call}] for s, d in {pairs}]", value, form=form)


def figure_9() -> Example:
    """Return the example of paths in a supernode: none passes node 01, and from 01 and 10 the lowest dimension is first."""
    value = [[[0, 2], [2, 3]], [[3, 2], [2, 0]], [[1, 0], [0, 2]], [[2, 3], [3, 1]]]
    description = "00 to 11, 11 to 00, 01 to 10 and 10 to 01 in a supernode without faults"
    return _supernode_example([], ((0, 3), (3, 0), (1, 2), (2, 1)), description, value)


def figure_10() -> Example:
    """Return the example of f_1 and the e-cube path that follows it."""
    first = "[(v & -v).bit_length() - 1 if v else 4 for v in (0b1100, 0b0001, 0b0000)]"
    path = "[1] + [1 ^ (1 ^ 14) & (2 << k) - 1 for k in range(4) if (1 ^ 14) >> k & 1]"
    hops = "{fc.Hypercube(4).intact_distance(u, v) for u, v in zip(p, p[1:])}"
    description = "f_1 of 1100, 0001 and 0000; the e-cube path from 0001 to 1110, each hop one link"
    python = f"p = {path}\n[{first}, p, list({hops})]"
    return Example(description, python, [[2, 0, 4], [1, 0, 2, 6, 14], [1]], form="{0}; {1:path}")


def figure_13() -> Example:
    """Return the example of paths in a supernode around its faulty node."""
    value = [[[0, 2], [2, 3]], [[3, 2], [2, 0]], [[0, 2]]]
    return _supernode_example(
        [1], ((0, 3), (3, 0), (0, 2)), "00 to 11, 11 to 00 and 00 to 10 in a supernode whose node 01 is faulty", value
    )


def figure_15() -> Example:
    """Return the example of R', which takes shortcuts (interpretation A5)."""
    call = "fc.multicast(fc.Hypercube(5), 12, [17], partition=(0, 1), path=path).channels"
    description = "01100 to 10001 in Q_5: the channels that R' takes as printed, and along the Hamilton path"
    value = [
        [[12, 28], [28, 20], [20, 16], [16, 17]],
        [[12, 8], [8, 24], [24, 28], [28, 20], [20, 16], [16, 17]],
    ]
    python = f"[[list(channel) for channel in {call}] for path in ('shortcut', 'hamilton')]"
    return Example(description, python, value, form="{0:hops}; {1:hops}")


_CALL_18 = f"fc.multicast(fc.{FIGURE_18.source()}, {SOURCE_18}, {list(DESTINATIONS_18)}, partition=(0, 1))"


def figure_18() -> Example:
    """Return the example of the multicast of section 4.3."""
    value = [
        [12, 8], [12, 13], [8, 10], [8, 24], [13, 5], [24, 28], [5, 7],
        [5, 1], [28, 29], [28, 20], [1, 0], [20, 16], [0, 2], [16, 17],
    ]  # a table, row by row # fmt: skip
    python = f"[list(channel) for channel in {_CALL_18}.channels]"
    return Example("the channels of the multicast from 01100", python, value, form="{value:hops}")


def figure_19() -> Example:
    """Return the example of the channel count and the orders of supernodes in section 4.3."""
    order = "[list(dict.fromkeys(format(u.v >> 2, '03b') for u in m.uses if u.kind == k)) for k in 'LH']"
    description = "N; the supernodes that D_L and D_H enter after 011**, in their order, by their external digits"
    value = [14, [["011", "001", "000"], ["010", "110", "111", "101", "100"]]]
    return Example(description, f"m = {_CALL_18}\n[m.N, {order}]", value, form="N = {0}; D_L: {1[0]}; D_H: {1[1]}")


# ---------------------------------------------------------------- section 5


def table_1() -> Example:
    """Return the example of channel counts: best case, worst case, and the limit of the fraction."""
    best = "fc.multicast(fc.Hypercube(4), 0, [1]).N"
    worst = "[fc.multicast(fc.Hypercube(n), 0, range(1, 2**n)).N for n in (2, 3, 4, 5)]"
    description = (
        "N in the best case; 2^n - 1 in the worst, n = 2, ..., 5; and n times the fraction of channels "
        "at n = 10, 20, 40"
    )
    limit = "[round((2**n - 1) / (n * 2**n) * n, 6) for n in (10, 20, 40)]"
    value = [1, [3, 7, 15, 31], [0.999023, 0.999999, 1.0]]
    return Example(description, f"[{best}, {worst}, {limit}]", value, form="{0}; {1}; {2}")


def section_5_3() -> Example:
    """Return the example of eight faults, 2^(n-2): one in every 2-cube."""
    cube = f"fc.{SECTION_5_3.source()}"
    wanted = list(DESTINATIONS_18)
    reached = f"sorted(fc.multicast({cube}, {SOURCE_18}, {wanted}, partition=(0, 1)).delivered) == {sorted(wanted)}"
    description = "Figure 2's pair among the eight faults; whether all destinations of Figure 18 are reached"
    return Example(description, f"[list(fc.two_partition({cube})), {reached}]", [[0, 1], True], form="{0:set}; {1}")


EXAMPLES = examples_of(globals())
