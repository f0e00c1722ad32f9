"""Worked examples of Leu & Kuo: the trees, tables and figures of the paper, and the applications of its section 2.1."""

from fastcube.algorithms.gathering import gather
from fastcube.algorithms.trees import CommunicationTree, find_tree, unusable_link_masks
from fastcube.networks.hypercube import Hypercube
from fastcube.plot.network_drawing import Drawing

from ...examples import Example, examples_of

#: Faulty links of Example 2 (Figures 9 and 12), of Example 3 (Figure 14) and of Example 4 (Figure 16, with node 111).
LINKS_2, LINKS_3, LINKS_4 = ((4, 5), (5, 7), (1, 3)), ((11, 10), (11, 9)), ((4, 6), (4, 0))


def _tree_drawing(tree: CommunicationTree, caption: str, inside: dict[int, str] | None = None) -> Drawing:
    """Return a drawing of a tree, with the stage at each link."""
    arrows = tuple((u, v, str(stage)) for stage, u, v in tree.links)
    return Drawing(tree.cube, inside=inside or {}, arrows=arrows, caption=caption)


def _tree_and_call(n: int, sink: int, order: tuple[int, ...]) -> tuple[CommunicationTree, str]:
    """Return a tree of a cube without faults, and the Python call that makes it."""
    return CommunicationTree(Hypercube(n), sink, order), f"fc.CommunicationTree(fc.Hypercube({n}), {sink}, {order})"


def _tree_arrows(tree: CommunicationTree, call: str, description: str, value: list[list[int]]) -> Example:
    """Return the example of a tree's links in the order of the figure: stage, from, to."""
    return Example(description, f"[list(link) for link in {call}.links]", value, (_tree_drawing(tree, str(tree)),))


# ---------------------------------------------------------------- section 2


def figure_1() -> Example:
    """Return the example of Figure 1: sink 0000, the dimensions in ascending order."""
    value = [[0, v + 1, v] for v in range(0, 16, 2)] + [[1, v + 2, v] for v in range(0, 16, 4)]
    value += [[2, 4, 0], [2, 12, 8], [3, 8, 0]]
    return _tree_arrows(
        *_tree_and_call(4, 0, (0, 1, 2, 3)), "node 0001 sends to 0000 at stage 0; 0000 ends with all", value
    )


#: Figure 2 as printed.
GRID = (
    (0, 8, 24, 16),
    (1, 9, 25, 17),
    (3, 11, 27, 19),
    (2, 10, 26, 18),
    (6, 14, 30, 22),
    (7, 15, 31, 23),
    (5, 13, 29, 21),
    (4, 12, 28, 20),
)


def figure_2() -> Example:
    """Return the example of Figure 2: cells by the Gray code, so that neighbouring cells are neighbouring nodes."""
    description = "the 32 cells, and how many bits cells differ in that are next to each other in a row or a column"
    grid = "[[(j ^ j >> 1) << 3 | i ^ i >> 1 for j in range(4)] for i in range(8)]"
    rows = "{fc.Hypercube(5).intact_distance(a, b) for row in g for a, b in zip(row, row[1:])}"
    python = f"g = {grid}\n[g, list({rows}), list({rows.replace('in g for', 'in zip(*g) for')})]"
    form = "row by row {0:grid}; {1[0]} bit in a row, {2[0]} in a column"
    return Example(description, python, [[list(row) for row in GRID], [1], [1]], form=form)


def figure_3a() -> Example:
    """Return the example of Figure 3a: the order (0, 1, 2)."""
    value = [[0, 1, 0], [0, 3, 2], [0, 5, 4], [0, 7, 6], [1, 2, 0], [1, 6, 4], [2, 4, 0]]
    return _tree_arrows(
        *_tree_and_call(3, 0, (0, 1, 2)), "the order (0, 1, 2), with the sink 000, which the text does not name", value
    )


def figure_3b() -> Example:
    """Return the example of Figure 3b: the tree of Example 1."""
    value = [[0, 0, 2], [0, 1, 3], [0, 4, 6], [0, 5, 7], [1, 6, 2], [1, 7, 3], [2, 3, 2]]
    return _tree_arrows(*_tree_and_call(3, 0b010, (1, 2, 0)), "sink 010, the order (1, 2, 0)", value)


def figure_4() -> Example:
    """Return the example that counts fault-free trees among all n! 2^n = 48."""
    cubes = f"(fc.Hypercube(3), fc.Hypercube(3, [], {[*LINKS_2]}))"
    description = "fault-free trees of Q_3: all 48 without faults, 2 with the faulty links of Example 2"
    return Example(description, f"[len(list(fc.fault_free_trees(c))) for c in {cubes}]", [48, 2])


def figure_5() -> Example:
    """Return the example of Theorems 1 and 2 on the tree of Figure 1."""
    tree, call = _tree_and_call(4, 0, (0, 1, 2, 3))
    active = f"[[v for v in range(16) if {call}.role(v, i) == 'active'] for i in range(4)]"
    near = "[[sum((v ^ u).bit_count() == 1 for u in a) for v in a][0] for a in A]"
    description = (
        "nodes in the active set of stages 0, ..., 3 (2^(n-i-1)), and active neighbours of each of them (n-i-1)"
    )
    inside = {v: str(i) for i in range(4) for v in range(16) if tree.role(v, i) == "active"}
    drawn = _tree_drawing(tree, "the stage at which each node is active", inside)
    python = f"A = {active}\n[[len(a) for a in A], {near}]"
    return Example(description, python, [[8, 4, 2, 1], [3, 2, 1, 0]], (drawn,), form="{0}; {1}")


def figure_6() -> Example:
    """Return the example of TC without faults: all 16 units arrive in four stages."""
    _, call = _tree_and_call(4, 0, (0, 1, 2, 3))
    python = f"g = fc.gather(fc.Hypercube(4), {call}, algorithm='TC')\n[int(g.arrived), g.steps_paper]"
    return Example("units of data that arrive at the sink of Figure 1, and steps", python, [16, 4])


def _merge_pieces(description: str, data: str, split: str, merge: str, value: list[int]) -> Example:
    """Return the example of data gathered piece by piece under the faults of Example 4."""
    pieces = f"data={{v: {data} for v in range(7)}}, split=lambda p, m: {split}, merge=lambda a, b: {merge}"
    call = f"fc.gather(c, fc.find_tree(c), variant='corrected', {pieces}).result"
    return Example(description, f"c = fc.Hypercube(3, [7], {[*LINKS_4]})\n{call}", value)


def matrix_vector() -> Example:
    """Return the example A x with one column per nonfaulty node; ``examples/matvec.py`` runs it on the grid of Figure 2."""
    description = (
        "A x, A of the rows 0, 1, ..., 6 and 0, 2, ..., 12, and x = 1, a column at each nonfaulty node of Figure 16"
    )
    return _merge_pieces(
        description, "[v, 2 * v]", "[p] + [[0, 0]] * (m - 1)", "[x + y for x, y in zip(a, b)]", [21, 42]
    )


def sorting() -> Example:
    """Return the example of merged numbers, one per nonfaulty node; ``examples/sorting.py`` sorts longer lists."""
    description = "the numbers 5 v mod 8, one at each nonfaulty node v of Figure 16, merged"
    return _merge_pieces(
        description, "[5 * v % 8]", "[p[i::m] for i in range(m)]", "sorted(a + b)", [0, 1, 2, 4, 5, 6, 7]
    )


# ---------------------------------------------------------------- section 3.1


def figure_8() -> Example:
    """Return the example of DETECT: every node sends over every link; in half duplex the two ends of a link take turns."""
    full, half = (
        "{i for v in range(2**n) for i in range(n)}",
        "{(i, v >> i & 1) for v in range(2**n) for i in range(n)}",
    )
    description = (
        "steps of DETECT in Q_5: n when both ends of a link send at once, 2n when those with bit i set send first"
    )
    return Example(description, f"n = fc.Hypercube(5).n\n[len({full}), len({half})]", [5, 10])


def figure_9() -> Example:
    """Return the example of FAULT of nodes 000, ..., 111."""
    cube = Hypercube(3, (), LINKS_2)
    value = ["000", "010", "000", "010", "001", "011", "000", "010"]
    python = f"[format(int(word), '03b') for word in fc.unusable_link_masks(fc.Hypercube(3, [], {[*LINKS_2]}))]"
    inside = {v: f"{int(word):03b}" for v, word in enumerate(unusable_link_masks(cube))}
    drawn = Drawing(cube, inside=inside, caption="FAULT of each node")
    return Example("FAULT of nodes 000, 001, ..., 111: <011> at 101", python, value, (drawn,))


def figure_12() -> Example:
    """Return Example 2."""
    tree = find_tree(Hypercube(3, (), LINKS_2))
    assert tree is not None
    call = f"fc.find_tree(fc.Hypercube(3, [], {[*LINKS_2]}))"
    values = "[t.sink, list(t.order), [list(cost.values()) for cost in t.costs], list(t.faulty_links)]"
    python = f"t = {call}\n{values}"
    description = "FIND_TREE's sink, order, COSTs (of dimensions 0, 1, 2, then of 0, 2), and faulty links in its tree"
    form = "sink {0:node}, order {1}; {2[0]}, then {2[1]}; {3}"
    return Example(
        description, python, [0, [2, 0, 1], [[1, 0, 1], [0, 1]], []], (_tree_drawing(tree, str(tree)),), form=form
    )


# ---------------------------------------------------------------- sections 3.2 and 3.3


#: Lines of Python for Example 3's gathering ``g``.
_GATHERING_3 = f"c = fc.Hypercube(4, [], {[*LINKS_3]})\ng = fc.gather(c, fc.CommunicationTree(c, 0, (0, 1, 2, 3)))"


def figure_14() -> Example:
    """Return Example 3, with Figure 1's tree."""
    cube = Hypercube(4, (), LINKS_3)
    tree = CommunicationTree(cube, 0, (0, 1, 2, 3))
    plan = gather(cube, tree).plans[0]
    unchanged = [(u, v, str(stage)) for stage, u, v in tree.links if u != plan.node]
    helped = [(plan.node, v, "1/2") for v in plan.partners]
    drawn = Drawing(
        cube,
        arrows=(*unchanged, *helped),
        caption="stage of each link; 1/2: half of the data of 1011",
    )
    python = f"{_GATHERING_3}\n[[list(p.partners) for p in g.plans], int(g.arrived)]"
    description = "m = 2: 1011 divides its data between 1111 and 0011; all 16 units arrive"
    return Example(description, python, [[[15, 3]], 16], (drawn,), form="{0[0]:row}; {1}")


def figure_15() -> Example:
    """Return the example of the edges that helpers add to the tree's edges, stage by stage: each waits for an earlier one."""
    python = f"{_GATHERING_3}\n[g.deadlocked, [[v, p.node] for p in g.plans for v in p.partners]]"
    description = "not deadlocked; edges of the RDG that help adds to the reversed tree: 1111 and 0011 wait for 1011"
    return Example(description, python, [False, [[15, 11], [3, 11]]], form="deadlocked: {0}; {1:hops}")


def figure_16() -> Example:
    """Return Example 4, with FIND_TREE's tree, because the paper does not give the figure's own tree."""
    tree = find_tree(Hypercube(3, (7,), LINKS_4))
    assert tree is not None
    values = "[t.sink, list(t.order), [[p.node, list(p.partners)] for p in g.plans], int(g.arrived)]"
    python = f"c = fc.Hypercube(3, [7], {[*LINKS_4]})\nt = fc.find_tree(c)\ng = fc.gather(c, t)\n{values}"
    description = "FIND_TREE's sink and order; 100 sends to 101 instead of 000; all 7 units arrive"
    form = "sink {0:node}, order {1}; {2[0][0]:node} to {2[0][1]:row}; {3}"
    return Example(description, python, [1, [2, 1, 0], [[4, [5]]], 7], (_tree_drawing(tree, str(tree)),), form=form)


EXAMPLES = examples_of(globals())
