"""The control flow of PRACTICAL: out of a cluster, over to another cluster, and within a cluster (Li, Peng & Chu).

The steps are those of interpretation B7 (``docs/readings/li-peng-chu.md``), and so are the names: HYP(a, b) is a walk inside one
cluster, and TO_CLUSTER(a, b) a path to another cluster of the class of a.  x' is the neighbour of x over its cross edge.  An exit
is a tree node u with u' nonfaulty.  In TO_CLUSTER the edge from u to v = u ^ ``difference`` is virtual: the route takes u', a
walk to v', then v.

A route is written to ``RouteWorkspace.path``.  ``size`` is always the number of nodes on it so far, or EXHAUSTED or LIMIT.
Nothing has to be undone after a failed step, because the next attempt continues from an earlier size.

``make_router`` combines the control flow with the steps of ``practical``, which is fast, or of ``lookups``, which queries
statuses in the order of the interpretation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.paths import erase_loops
from ..machine.array_types import I64, U64
from ..machine.bits import ONE, ZERO
from ..machine.jit import block
from .trees import BEFORE_ROOT, SINGLE, append_path_down, append_path_up, node_offset, start_tree

#: Results of a route or a step other than the number of nodes on the path; both are negative.
EXHAUSTED = -1  #: nothing is left to try
LIMIT = -2  #: a tree would grow past LIMIT_NODES

#: Index of each tree in ``RouteWorkspace.trees``.
WALK_TREE, EXIT_TREE, BACK_TREE, CLUSTER_TREE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
TREE_COUNT = 4

# What is known about a walk's target (``target_state``): nothing, that it has no nonfaulty neighbour in its cluster, or that it
# has one.
_UNKNOWN, _ISOLATED, _OPEN = np.int64(0), np.int64(1), np.int64(2)

#: Most nodes of a path before loops are erased: three tree paths of at most 14 nodes, and two walks of at most 30 steps, each of
#: at most 15 nodes.
PATH_NODES = 2048


class ExitTree(NamedTuple):
    """A tree whose nodes are searched for exits out of their cluster, or over to another cluster."""

    tree: I64  #: index of the tree in ``RouteWorkspace.trees``
    root: U64  #: label of its root
    dims: U64  #: dimensions in which it grows
    difference: U64  #: an exit at u leads to the node u ^ difference; 0 for exits to the other class


@block(always=True)
def position_dims(label, m):
    """Return the mask of the dimensions of the label's cluster: bits 2m-1 .. m for class 1, m-1 .. 0 for class 0."""
    low = (ONE << m) - ONE
    return low << m if label >> (m + m) else low


def make_router(next_exit, walk, *, find_first=None, is_landing=None):
    """Return the routing function for the given steps; a factory for the same reason as ``trees.make_tree_grower``.

    Parameters
    ----------
    next_exit : block
        ``next_exit(exits, i, n, world, trees)``: the next exit after node ``i`` of a tree of ``n`` nodes, or EXHAUSTED or LIMIT,
        and the number of nodes of the tree then.  Every ``world`` has the field ``m`` of its dual-cube.
    walk : block
        ``walk(world, a, b, free, size, workspace)``: HYP(a, b) along the dimensions ``free``; appends the nodes after ``a`` and
        returns the new size, EXHAUSTED or LIMIT.
    find_first : block, optional
        The ``first`` of ``trees.make_tree_grower``.  Once a walk has failed, it decides whether the target has a nonfaulty
        neighbour in its cluster.  If not, further walks to the target are skipped.
    is_landing : block, optional
        ``is_landing(world, v, over)``: whether ``v``, the cross neighbour of ``over``, is nonfaulty.  Left out if ``next_exit``
        tests it.
    """
    # Numba removes the branches that these constants exclude before it compiles them.
    remembers, tests_landing = find_first is not None, is_landing is not None

    @block(always=True)
    def learn_target_state(world, b, dims, target_state):
        """Return ``target_state``, or _OPEN or _ISOLATED in place of _UNKNOWN, for a target ``b`` to which a walk has failed."""
        if target_state == _UNKNOWN:
            return _OPEN if find_first(world, b, dims) else _ISOLATED
        return target_state

    @block
    def route_to_cluster(world, a, b, dims, target_state, start, workspace):
        """Append the path TO_CLUSTER(a, b), where ``a`` is the last of the ``start`` nodes on the path.

        ``target_state`` is what is known about ``b``.  Returns the new size (or EXHAUSTED, LIMIT) and the new state of ``b``.
        """
        cross = ONE << (world.m + world.m)
        other = (cross - ONE) ^ dims
        difference = (a ^ b) & other
        exits = ExitTree(CLUSTER_TREE, a, dims, difference)
        start_tree(CLUSTER_TREE, dims, workspace.trees)
        n = SINGLE
        i = BEFORE_ROOT
        while True:
            i, n = next_exit(exits, i, n, world, workspace.trees)
            if i < 0:
                return i, target_state
            u = a ^ node_offset(CLUSTER_TREE, i, workspace.trees)
            v = u ^ difference
            if remembers and target_state == _ISOLATED and v != b:
                continue
            size = append_path_down(CLUSTER_TREE, i, a, start, workspace)
            workspace.path[size] = u ^ cross
            size = walk(world, u ^ cross, v ^ cross, other, size + 1, workspace)
            if size >= 0 and (not tests_landing or is_landing(world, v, v ^ cross)):
                workspace.path[size] = v
                size = walk(world, v, b, dims, size + 1, workspace)
                if size >= 0:
                    return size, target_state
                if remembers:
                    target_state = learn_target_state(world, b, dims, target_state)
            if size == LIMIT:
                return size, target_state

    @block
    def route_between_classes(world, s, t, workspace):
        """Route by PRACTICAL between nodes of different classes."""
        cross = ONE << (world.m + world.m)
        dims = position_dims(s, world.m)
        other = position_dims(t, world.m)
        target_state = _UNKNOWN
        exits = ExitTree(EXIT_TREE, s, dims, ZERO)
        start_tree(EXIT_TREE, dims, workspace.trees)
        i = BEFORE_ROOT
        n = SINGLE
        while True:
            i, n = next_exit(exits, i, n, world, workspace.trees)
            if i < 0:
                return i
            exit_size = append_path_down(EXIT_TREE, i, s, SINGLE, workspace)
            a = workspace.path[exit_size - 1] ^ cross
            workspace.path[exit_size] = a
            if (a ^ t) & dims == ZERO:
                if remembers and target_state == _ISOLATED and a != t:
                    continue
                size = walk(world, a, t, other, exit_size + 1, workspace)
                if size != EXHAUSTED:
                    return size
                if remembers:
                    target_state = learn_target_state(world, t, other, target_state)
                continue
            size, target_state = route_to_cluster(world, a, t, other, target_state, exit_size + 1, workspace)
            if size == LIMIT:
                return size
            if size >= 0:
                # Walks and cluster paths never repeat a node.  The route can cross the tree path s -> a only if it returns
                # straight through a' : a.
                if workspace.path[exit_size + 1] == workspace.path[exit_size - 1]:
                    size = erase_loops(workspace.path, size)
                return size

    @block
    def route_around_cluster(world, s, t, workspace):
        """Route between nodes of one cluster by PRACTICAL's last resort: through the other class, left and entered by exits."""
        cross = ONE << (world.m + world.m)
        dims = position_dims(s, world.m)
        other = position_dims(s ^ cross, world.m)
        exits = ExitTree(EXIT_TREE, s, dims, ZERO)
        start_tree(EXIT_TREE, dims, workspace.trees)
        i = BEFORE_ROOT
        n = SINGLE
        while True:
            i, n = next_exit(exits, i, n, world, workspace.trees)
            if i < 0:
                return i
            a = s ^ node_offset(EXIT_TREE, i, workspace.trees) ^ cross
            back = ExitTree(BACK_TREE, t, dims, ZERO)
            start_tree(BACK_TREE, dims, workspace.trees)
            j = BEFORE_ROOT
            k = SINGLE
            while True:
                j, k = next_exit(back, j, k, world, workspace.trees)
                if j == LIMIT:
                    return j
                if j < 0:
                    break
                b = t ^ node_offset(BACK_TREE, j, workspace.trees) ^ cross
                size = append_path_down(EXIT_TREE, i, s, SINGLE, workspace)
                workspace.path[size] = a
                size += 1
                if a != b:
                    size, _ = route_to_cluster(world, a, b, other, _UNKNOWN, size, workspace)
                if size == LIMIT:
                    return size
                if size >= 0:
                    workspace.path[size] = b ^ cross
                    size = append_path_up(BACK_TREE, j, t, size + 1, workspace)
                    return erase_loops(workspace.path, size)

    @block
    def route(world, s, t, workspace):
        """Route by PRACTICAL(s, t) between nonfaulty nodes.

        Parameters
        ----------
        world : DualCubeStatus or RecordedDualCube
            1 <= m <= 30.
        s, t : uint64
            Labels below 2^(2m+1).
        workspace : RouteWorkspace
            From ``route_workspace_for(PATH_NODES, TREE_COUNT)``; the route is written to its path.

        Returns
        -------
        int64
            Nodes on the path, loops erased; EXHAUSTED or LIMIT when the route fails.
        """
        workspace.path[0] = s
        if s == t:
            return 1
        if (s ^ t) >> (world.m + world.m):
            return route_between_classes(world, s, t, workspace)
        dims = position_dims(s, world.m)
        if (s ^ t) & ~dims:
            size, _ = route_to_cluster(world, s, t, dims, _UNKNOWN, SINGLE, workspace)
            return size
        size = walk(world, s, t, dims, SINGLE, workspace)
        if size != EXHAUSTED:
            return size
        return route_around_cluster(world, s, t, workspace)

    return route
