"""Worked examples of Lee & Hayes (1988): its figures and messages, and a smallest case for each kind of pair of Figure 7."""

from fastcube.algorithms.broadcasting import broadcast
from fastcube.algorithms.paths import Route, route
from fastcube.algorithms.unsafe import find_unsafe
from fastcube.networks.hypercube import Hypercube
from fastcube.plot.network_drawing import Drawing

from ...examples import Example, examples_of

#: Faulty nodes of Figures 3, 10 (and 11), and 12.
FIGURE_3, FIGURE_10, FIGURE_12 = (0b0000, 0b0101, 0b0110), (0b0101, 0b1100), (0b0000, 0b0110, 0b1101)


def _cube_drawing(
    n: int,
    faulty: tuple[int, ...],
    arrows: tuple[tuple[int, int, str], ...] = (),
    times: bool = False,
    caption: str = "",
) -> Drawing:
    """Return a drawing of a cube with its unsafe nodes grey, with ``times`` labelled by the step that marks them."""
    unsafe = find_unsafe(cube := Hypercube(n, faulty))
    marked = unsafe.nodes.tolist()
    inside = {v: str(step) for v, step in zip(marked, unsafe.round_of.tolist(), strict=True)} if times else {}
    return Drawing(cube, tuple(marked), inside=inside, arrows=arrows, caption=caption)


def _path_arrows(found: Route) -> tuple[tuple[int, int, str], ...]:
    return tuple((u, v, str(i)) for i, (u, v) in enumerate(zip(found.path, found.path[1:], strict=False), 1))


def _route_example(
    description: str,
    n: int,
    faulty: tuple[int, ...],
    s: int,
    t: int,
    value: list[int],
    algorithm: str = "ROUTE3",
    k: int = 1,
) -> Example:
    """Return the example of one message's path, by an algorithm and under a list of faults."""
    options = f", k={k}" if k > 1 else ""
    python = f"fc.route(fc.Hypercube({n}, {list(faulty)}), {s}, {t}, algorithm='{algorithm}'{options}).path"
    arrows = _path_arrows(route(Hypercube(n, faulty), s, t, algorithm, **({"k": k} if k > 1 else {})))
    name = f"{algorithm}({k})" if algorithm in ("ROUTE1", "ROUTE2") else algorithm
    drawn = (_cube_drawing(n, faulty, arrows, caption=f"{name} from {s:0{n}b} to {t:0{n}b}"),) if n <= 4 else ()
    return Example(description, python, value, drawn)


# ---------------------------------------------------------------- section 2


def f_and_g() -> Example:
    """Return the example of ROUTE1's choices: link f_1, then f_2, ...; g_1 if these neighbours are faulty, then g_2."""
    path = "fc.route(fc.Hypercube(6, F), 0b001101, 0b001010, algorithm='ROUTE1').path"
    none = "fc.route(fc.Hypercube(6, [13 ^ 1 << i for i in range(6)]), 13, t, algorithm='ROUTE1').outcome"
    python = "\n".join(
        [
            f"paths = [{path} for F in ([], [9, 15, 12], [9, 15, 12, 45])]",
            "links = [[7 - (u ^ v).bit_length() for u, v in zip(p, p[1:])][:3] for p in paths]",
            f"[*links, [{none} for t in (13, 50)]]",
        ]
    )
    description = (
        "from 001101 to 001010 ROUTE1(1) takes the links f_1, f_2, f_3; with the neighbours on them faulty it begins with g_1 "
        "(and returns, since it forgets), with that one faulty too with g_2; to 001101 itself there is no f_1 to take, and to "
        "110010, all neighbours being faulty, no g_1"
    )
    form = "{0}; {1}; {2}; the last two messages are {3[0]} and {3[1]}"
    return Example(description, python, [[4, 5, 6], [1, 1], [2, 2], ["delivered", "stuck"]], form=form)


def subcube() -> Example:
    """Return the example of a subcube spanned by two faults."""
    python = "u = fc.find_unsafe(fc.Hypercube(4, [4, 7]))\n[[str(part) for part in u.subcubes], u.nodes.tolist()]"
    description = "the unsafe subcube of the faults 0100 and 0111, and the nodes in it that are unsafe: 0101 and 0110"
    drawn = _cube_drawing(4, (4, 7), caption="01**: two faulty nodes and two unsafe ones")
    return Example(description, python, [["01**"], [5, 6]], (drawn,), form="{0[0]}, {1:nodes}")


def minimal_paths() -> Example:
    """Return the example that counts minimal paths, one for each order of the r dimensions."""
    paths = "sum(w == 7 for u in c.neighbours(0) for v in c.neighbours(u) for w in c.neighbours(v))"
    python = f"c = fc.Hypercube(4)\n{paths}"
    return Example("minimal paths from 0000 to 0111 in Q_4, r = 3: r! = 6", python, 6)


def disjoint_paths() -> Example:
    """Return the example of disjoint paths between two nodes of Q_4 at distance 2, one for each first link."""
    cube = "fc.Hypercube(4, [w for w in (1, 2, 4, 8) if w != v])"
    paths = f"p = [fc.route({cube}, 0, 3, algorithm='ROUTE1', k=4).path for v in (1, 2, 4, 8)]"
    python = f"{paths}\n[[len(q) - 1 for q in p], len({{x for q in p for x in q[1:-1]}})]"
    description = (
        "0000 to 0011, r = 2: lengths of the paths by each first link, and their inner nodes, all "
        "different (1 + 1 + 3 + 3)"
    )
    return Example(description, python, [[2, 2, 4, 4], 8], form="{0}; {1} inner nodes")


def figure_1a() -> Example:
    """Return the example of the text's message."""
    description = "from 00000 to 01101 via 01000 and 01100, links 2, 3, 5"
    return _route_example(description, 5, (), 0b00000, 0b01101, [0b00000, 0b01000, 0b01100, 0b01101], "ROUTE")


def _broadcast_example(
    n: int, faulty: tuple[int, ...], s: int, algorithm: str, description: str, value: list[int]
) -> Example:
    found = broadcast(Hypercube(n, faulty), s, algorithm)
    arrows = tuple((u, v, str(time)) for time, u, v in found.sends)
    caption = f"{algorithm} from {s:0{n}b}, with the time unit of each copy"
    call = f"fc.broadcast(fc.Hypercube({n}, {list(faulty)}), {s}, algorithm='{algorithm}')"
    python = f"b = {call}\n[b.reached, b.steps, b.copies]"
    form = "{0} nodes, {1} units, {2} copies"
    return Example(description, python, value, (_cube_drawing(n, faulty, arrows, caption=caption),), form=form)


def figure_1b() -> Example:
    """Return the example of Figure 2's broadcast."""
    return _broadcast_example(
        4, (), 0, "BROADCAST", "nodes reached, time units and copies in Q_4 without faults", [16, 4, 15]
    )


# ---------------------------------------------------------------- section 3


def figure_3() -> Example:
    """Return the example of the unsafe nodes of Figure 3 and the steps that mark them."""
    unsafe = f"u = fc.find_unsafe(fc.Hypercube(4, {list(FIGURE_3)}))"
    python = f"{unsafe}\n[list(pair) for pair in zip(u.nodes.tolist(), u.round_of.tolist())]"
    description = "unsafe nodes beside the three faulty ones, and the step that marks each"
    value = [[0b0001, 1], [0b0010, 1], [0b0011, 2], [0b0100, 1], [0b0111, 1]]
    drawn = _cube_drawing(4, FIGURE_3, times=True, caption="steps of FIND_UNSAFE")
    return Example(description, python, value, (drawn,), form="{value:marks}")


def figure_3_first() -> Example:
    """Return the example of a message that ROUTE loses at 0110 and ROUTE1(1) delivers."""
    calls = [f"fc.route(fc.Hypercube(4, [0, 5, 6]), 14, 4, algorithm='{name}')" for name in ("ROUTE", "ROUTE1")]
    python = f"[[r.outcome, r.path] for r in ({', '.join(calls)})]"
    value = [["lost", [0b1110]], ["delivered", [0b1110, 0b1100, 0b0100]]]
    arrows = _path_arrows(route(Hypercube(4, FIGURE_3), 14, 4, "ROUTE1"))
    drawn = _cube_drawing(4, FIGURE_3, arrows, caption="ROUTE1(1)")
    form = "ROUTE {0[0]} at {0[1]:path}; ROUTE1(1) {1[0]}, {1[1]:path}"
    return Example("ROUTE and ROUTE1(1) from 1110 to 0100", python, value, (drawn,), form=form)


def figure_3_second() -> Example:
    """Return the example of ROUTE3's path by 1111, 1101 and 1100."""
    description = (
        "from 0111 to 0100: Hamming distance, length of a minimal feasible path, and ROUTE3's path, "
        "which has that length"
    )
    path = [0b0111, 0b1111, 0b1101, 0b1100, 0b0100]
    drawn = _route_example(description, 4, FIGURE_3, 0b0111, 0b0100, path).cubes
    values = "[c.intact_distance(7, 4), fc.distance(c, 7, 4), fc.route(c, 7, 4, algorithm='ROUTE3').path]"
    python = f"c = fc.Hypercube(4, {list(FIGURE_3)})\n{values}"
    return Example(description, python, [2, 4, path], drawn, form="{0}, {1}, {2:path}")


def figure_3_third() -> Example:
    """Return the example of ROUTE3's path by 1101 instead of 1110, of the same length."""
    return _route_example(
        "ROUTE3 from 1111 to 0100: three links", 4, FIGURE_3, 0b1111, 0b0100, [0b1111, 0b1101, 0b1100, 0b0100]
    )


def figure_4() -> Example:
    """Return the example in which ROUTE1 returns to a node if it knows faults at distance 1, but not with distance 2."""
    call = "fc.route(fc.Hypercube(4, [0, 5, 6]), 7, 4, algorithm='ROUTE1', k=k)"
    python = f"[[r.outcome, r.path] for r in ({call} for k in (1, 2))]"
    value = [["livelock", [0b0111, 0b1111, 0b0111]], ["delivered", [0b0111, 0b1111, 0b1101, 0b1100, 0b0100]]]
    arrows = _path_arrows(route(Hypercube(4, FIGURE_3), 7, 4, "ROUTE1", k=2))
    description = "ROUTE1(1) and ROUTE1(2) from 0111 to 0100 among the faults of Figure 3"
    form = "ROUTE1(1) {0[0]}, {0[1]:path}; ROUTE1(2) {1[0]}, {1[1]:path}"
    return Example(description, python, value, (_cube_drawing(4, FIGURE_3, arrows, caption="ROUTE1(2)"),), form=form)


def figure_6() -> Example:
    """Return the example in which one message uses ROUTE3's three loops, one after the other."""
    description = (
        "minimal paths begin at faulty nodes: 0111 sends to its active neighbour (third loop), and "
        "active nodes carry it on"
    )
    return _route_example(description, 4, FIGURE_3, 0b0111, 0b0100, [0b0111, 0b1111, 0b1101, 0b1100, 0b0100])


def figure_7_active() -> Example:
    """Return the example of ROUTE3 between active nodes (a and b in Figure 7)."""
    description = "active to active: 0010 is faulty, so that 0001 is sent to"
    return _route_example(description, 4, (0b0010, 0b1110), 0b0000, 0b0011, [0b0000, 0b0001, 0b0011])


def figure_7_to_unsafe() -> Example:
    """Return the example of ROUTE3 from an active node to an unsafe node (c and d in Figure 7)."""
    return _route_example(
        "active to unsafe, the node between active", 3, (0b010, 0b111), 0b000, 0b011, [0b000, 0b001, 0b011]
    )


def figure_7_from_unsafe() -> Example:
    """Return the example of ROUTE3 from an unsafe node to an active node."""
    return _route_example(
        "unsafe to active, the node between active", 3, (0b001, 0b010), 0b000, 0b101, [0b000, 0b100, 0b101]
    )


def figure_7_different_subcubes() -> Example:
    """Return the example of ends in different unsafe subcubes (e and f); no smaller cube has two at distance three."""
    description = "unsafe in 000** to unsafe in 111**, all nodes between them active"
    return _route_example(description, 5, (1, 2, 28, 31), 0b00000, 0b11101, [0, 16, 24, 25, 29])


def figure_7_inside() -> Example:
    """Return the example of ends in one unsafe subcube, joined by a minimal path in it (i and j in Figure 7)."""
    description = "both unsafe in 0***, along a minimal path inside of it"
    return _route_example(description, 4, (0b0001, 0b0010, 0b0101), 0b0000, 0b0110, [0b0000, 0b0100, 0b0110])


def figure_7_detour() -> Example:
    """Return the example of ends in one unsafe subcube, joined by a detour around it (g and h in Figure 7)."""
    description = (
        "both unsafe in 0***: blocked inside of it at 0100, and so two links more than the minimal feasible path of 3"
    )
    value = [0b0000, 0b0100, 0b1100, 0b1110, 0b1111, 0b0111]
    return _route_example(description, 4, (0b0001, 0b0101, 0b0110), 0b0000, 0b0111, value)


# ---------------------------------------------------------------- section 4 and the appendix


def figure_10() -> Example:
    """Return the example of Figure 10: four units, the dimension of the cube."""
    description = "nodes reached, time units and copies from the active source 0000"
    return _broadcast_example(4, FIGURE_10, 0b0000, "BROADCAST1", description, [14, 4, 13])


def figure_11() -> Example:
    """Return the example of Figure 11: one unit more than in Figure 10."""
    description = "nodes reached, time units and copies from the unsafe source 0100"
    return _broadcast_example(4, FIGURE_10, 0b0100, "BROADCAST2", description, [14, 5, 13])


def figure_12() -> Example:
    """Return the example of Figure 12: all of Q_4 is unsafe after five steps."""
    python = f"u = fc.find_unsafe(fc.Hypercube(4, {list(FIGURE_12)}))\n[u.rounds, u.all_unsafe]"
    drawn = _cube_drawing(4, FIGURE_12, times=True, caption="steps of FIND_UNSAFE")
    return Example("steps until all of Q_4 is unsafe", python, [5, True], (drawn,), form="{0}; all unsafe: {1}")


EXAMPLES = examples_of(globals())
