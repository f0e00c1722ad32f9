"""Examples for Li, Peng & Chu: the network, a binomial tree, virtual edges, Algorithms 1 to 3 and PRACTICAL on DC(2)."""

from ...examples import Example, examples_of

#: Two faults that leave DC(2) 1-safe, and targets in the cluster of node 0, in another of its class, in the other class.
_FAULTS, _ENDS = [2, 17], (3, 9, 31)
_PATHS = [[0, 1, 3], [0, 16, 24, 8, 9], [0, 1, 3, 19, 27, 31]]


def dual_cube() -> Example:
    """Return the example of neighbours and distances in DC(2); one of the m + 1 links of a node is the cross edge."""
    description = (
        "DC(2): the neighbours of 00000 (class 0) and of 10000 (class 1), and distances from 00000 to "
        "00011, 01001 and 11111"
    )
    python = f"d = fc.DualCube(2)\n[[list(d.neighbours(v)) for v in (0, 16)], [fc.distance(d, 0, t) for t in {_ENDS}]]"
    return Example(
        description, python, [[[1, 2, 16], [20, 24, 0]], [2, 4, 5]], form="{0[0]:nodes} and {0[1]:nodes}; {1}"
    )


def binomial_tree() -> Example:
    """Return the example of a binomial tree (interpretation B2), which adds children in the order of dimensions."""
    description = (
        "T_2(0) in its cluster of DC(4) with the faults 1000 and 0100 there, in insertion order, and "
        "whether DC(4) is 2-safe"
    )
    python = "d = fc.DualCube(4, [8, 4])\n[d.binomial_tree(0, 2), d.is_safe(2)]"
    return Example(description, python, [[0, 2, 1, 10], True], form="{0:row4}; {1}")


def virtual_edges() -> Example:
    """Return the example of the 2^m virtual edges between two clusters."""
    description = "virtual edges (u : v) from 00000 into the cluster of 01001 in DC(2)"
    python = "[list(edge) for edge in fc.DualCube(2).virtual_edges(0, 9)]"
    return Example(description, python, [[0, 8], [1, 9], [2, 10], [3, 11]], form="{value:edges}")


def algorithm_3() -> Example:
    """Return the example of Algorithm 3: one target per case; it calls Algorithm 2 for the second, 1 and 2 for the third."""
    call = f"fc.route(fc.DualCube(2, {_FAULTS}), 0, t, algorithm='OFFLINE', k=1, variant='as_printed').path"
    description = (
        "DualCube_Routing as printed, k = 1, in DC(2) with faults 00010 and 10001, from 00000 to 00011, 01001 and 11111"
    )
    return Example(description, f"[{call} for t in {_ENDS}]", _PATHS, form="{0:path}; {1:path}; {2:path}")


def practical() -> Example:
    """Return the example of PRACTICAL, which uses local information, for the same targets."""
    call = f"fc.route(fc.DualCube(2, {_FAULTS}), 0, t)"
    description = "PRACTICAL on the same messages: paths, and how many statuses each asked for"
    value = [[path, lookups] for path, lookups in zip(_PATHS, (3, 4, 8), strict=True)]
    form = "; ".join(f"{{{i}[0]:path}}, {{{i}[1]}} statuses" for i in range(len(value)))
    return Example(description, f"[[{call}.path, {call}.lookups] for t in {_ENDS}]", value, form=form)


EXAMPLES = examples_of(globals())
