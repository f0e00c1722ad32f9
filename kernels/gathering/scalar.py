"""One trial of gathering: five algorithms over FIND_TREE's tree of one fault set, n <= 10.

A *dead* link is faulty or belongs to a faulty node, and a node is *isolated* if all its links are dead.  A *failing* node has a
dead link to its parent in the tree but is not isolated (``flow.py``).

If the tree has no dead link, only FIND_TREE is run.  If it has dead links but no failing node, these links all belong to faulty
or isolated nodes.  Then only FTTC ``as_printed``, which waits for such nodes, is run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.jit import block, scratch
from ..tally.maxima import offer
from ..tally.sums import add_product, add_quantity, add_square, add_wide
from ..trees.dead_links import DeadLinks, dead_links_for, first_sink, make_kernels, max_dead_links, read_point
from ..trees.orders import OrderWorkspace, find_order, order_workspace_for
from .flow import (
    GatheringWorkspace,
    count_stranded,
    gathering_workspace_for,
    initialise_data,
    list_failing,
    rename_nodes,
    run_as_printed,
    run_fttc,
    run_traditional,
)
from .layout import GATHER, RUNS, STEPS

_SINK = GATHER.counter("sink_exists")
_EXPECTED = GATHER.moments("expected")
_COMPLETE = GATHER.family("complete_{}", RUNS)
_LOSSY = GATHER.family("lossy_{}", RUNS)
_LOST = GATHER.family("lost_{}", RUNS)
_LOST_SQUARED = GATHER.family("lost_{}_squared", RUNS)
_LOST_EXPECTED = GATHER.family("lost_{}_expected", RUNS)
_DEADLOCKED_AS_PRINTED = GATHER.counter("deadlocked_as_printed")
_UNREACHABLE_DATA = GATHER.moments("unreachable_data")
_UNREACHABLE_DATA_EXPECTED = GATHER.counter("unreachable_data_expected")
_WITH_UNREACHABLE_DATA = GATHER.counter("with_unreachable_data")
_AVOIDABLE = GATHER.counter("avoidable_loss")
_NO_PARTITION = GATHER.counter("blocked_sender_without_helper")
_STEPS = GATHER.family("steps_{}", STEPS)
_STEPS_SQUARED = GATHER.family("steps_{}_squared", STEPS)
_SLOWDOWN_AT_LEAST_2 = GATHER.counter("slowdown_at_least_2")
_SLOWEST = GATHER.maximum("slowest")

#: Indices of the algorithms in RUNS.
_AS_PRINTED, _AS_COMMENTED, _CORRECTED, _REROUTE, _TC = (np.int64(list(RUNS).index(v)) for v in RUNS)


class Scratch(NamedTuple):
    """Scratch memory of trials at one point."""

    dead: DeadLinks
    workspace: OrderWorkspace  #: for FIND_TREE
    flow: GatheringWorkspace


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, links, f) = params."""
    n, links, f = read_point(params)
    return Scratch(
        dead_links_for(n, links, f), order_workspace_for(max_dead_links(n, links, f)), gathering_workspace_for(n)
    )


@block
def common_denominator(n):
    """Return ``layout.common_denominator(n)``, the number of parts in a unit."""
    out = np.int64(1)
    least = np.int64(1)
    for m in range(1, n):
        a = least
        b = np.int64(m)
        while b:
            a, b = b, a % b
        least = least // a * m
        out *= least
    return out


@block
def _count_run(tally, run, lost, holders):
    """Tally the parts ``lost`` by an algorithm of RUNS; ``holders`` is the number of nodes with data, each with one unit."""
    if lost == 0:
        tally[_COMPLETE[run]] += 1
        return
    tally[_LOSSY[run]] += 1
    amount = np.uint64(lost)
    add_wide(tally, _LOST[run], amount)
    add_square(tally, _LOST_SQUARED[run], amount)
    add_product(tally, _LOST_EXPECTED[run], amount, np.uint64(holders))


@block
def _count_steps(tally, t, n, commented, corrected, k):
    """Tally the numbers of steps, in the order of STEPS: those of FTTC, and for k stages with a failing node."""
    for i, steps in enumerate((commented, corrected, n + k, n + 3 * k, n + 2 * k)):
        tally[_STEPS[i]] += steps
        tally[_STEPS_SQUARED[i]] += steps * steps
    tally[_SLOWDOWN_AT_LEAST_2] += commented >= 2 * n
    offer(tally, _SLOWEST, commented, t)


@block
def _run_algorithms(n, t, failing, flow, tally):
    """Run and tally the algorithms on a tree with dead links, or only FTTC as printed if the number of ``failing`` nodes is 0.

    Each algorithm uses up the data of the one before, so ``initialise_data`` comes before each.
    """
    unit = common_denominator(n)  # in parts, as all amounts but ``stranded``
    holders = initialise_data(n, unit, flow)
    whole = holders * unit
    add_quantity(tally, _EXPECTED, holders)
    arrived, blocked = run_as_printed(n, flow)
    _count_run(tally, _AS_PRINTED, whole - arrived, holders)
    tally[_DEADLOCKED_AS_PRINTED] += blocked
    if failing == 0:
        for run in range(_AS_COMMENTED, _TC + 1):
            _count_run(tally, run, np.int64(0), holders)
        _count_steps(tally, t, n, n, n, np.int64(0))
        return
    initialise_data(n, unit, flow)
    arrived, commented, without_partner = run_fttc(n, False, flow)
    _count_run(tally, _AS_COMMENTED, whole - arrived, holders)
    stranded = count_stranded(n, holders, failing, flow)
    tally[_AVOIDABLE] += whole - arrived > stranded * unit
    tally[_NO_PARTITION] += without_partner > 0
    if stranded:
        tally[_WITH_UNREACHABLE_DATA] += 1
        add_quantity(tally, _UNREACHABLE_DATA, stranded)
        tally[_UNREACHABLE_DATA_EXPECTED] += stranded * holders
    initialise_data(n, unit, flow)
    arrived, corrected, _ = run_fttc(n, True, flow)
    _count_run(tally, _CORRECTED, whole - arrived, holders)
    initialise_data(n, unit, flow)
    _count_run(tally, _REROUTE, whole - run_traditional(n, True, flow), holders)
    initialise_data(n, unit, flow)
    _count_run(tally, _TC, whole - run_traditional(n, False, flow), holders)
    k = np.int64(0)
    for i in range(n):
        k += flow.begin[i + 1] > flow.begin[i]
    _count_steps(tally, t, n, commented, corrected, k)


@block
def count_gather(n, t, count, scratch, tally):
    """Tally trial ``t``, whose ``count`` dead links are listed in ``scratch.dead``; a trial without a sink counts for nothing."""
    sink = first_sink(scratch.dead)
    if sink < 0:
        return
    tally[_SINK] += 1
    dead, workspace, flow = scratch.dead, scratch.workspace, scratch.flow
    if find_order(n, sink, dead.low, dead.bit, count, workspace) == 0:
        holders = np.int64(1) << n
        add_quantity(tally, _EXPECTED, holders)
        for run in range(_AS_PRINTED, _TC + 1):
            _count_run(tally, run, np.int64(0), holders)
        _count_steps(tally, t, n, n, n, np.int64(0))
        return
    rename_nodes(n, sink, workspace.order, dead.low, dead.bit, count, flow)
    _run_algorithms(n, t, list_failing(n, flow), flow, tally)
    for y in range(np.int64(1) << n):
        flow.fault[y] = 0


#: Kernels of five algorithms over FIND_TREE's tree, n <= 10: for random trials, and for all fault sets.
GATHER_SINGLE, GATHER_SETS = make_kernels(set_up, count_gather)
