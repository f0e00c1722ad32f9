"""Trials of ``survival-domains``, 512 at a time: domains fail as one, and as many nodes fail one by one.

A *domain* is a board, whose nodes fail together, or a switch, whose links do.  Lanes, rows and verdicts are those of ``lanes``
and ``sweeps``.  Row g of ``works`` has the lanes in which domain g works.  It is removed from the rows of a board's nodes, and
stands for each link of a switch.  Single failures are those of ``survival`` with the same key, and failed domains come from words
of their own (``failed_domains``).

On the other side of the comparison a trial has as many failed nodes as with its domains: the first labels of the same sequence.
So trial t is trial t of ``survival`` with that many faults.  These labels take most of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.tables import make_tabulate, named_slots, named_step
from ..machine import simd
from ..machine.array_types import I64, Ints, Ints32, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from . import drawing
from .domain_numbers import board_of, find_board_size, number_boards, number_switches
from .failed_domains import DomainDraws, domain_draws_for, draw_domains
from .lanes import make_verdict_counter
from .layout import SURVIVAL_DOMAINS
from .pair_verdicts import GroupSample, alive_rows_for, decide_pairs, group_sample_for, set_valid_lanes
from .sweeps import Sweeps, fill_verdict, prepare_numbered


class DomainsPoint(NamedTuple):
    """The axes of the study, in their order."""

    network: I64  #: index of the network (``cube/tables.py``)
    n: I64
    faults: I64  #: number of nodes that fail one by one
    domain: I64  #: index of the kind of domain in ``dispatch.DOMAINS``
    domains: I64  #: number of failed domains


@block
def _read_point(params):
    """Return the :class:`DomainsPoint` of a kernel's parameters."""
    return DomainsPoint(
        np.int64(params[0]), np.int64(params[1]), np.int64(params[2]), np.int64(params[3]), np.int64(params[4])
    )


class DomainsWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    numbers: Ints32  #: (2^n, 1): number of each node's board; or (2^n, slots): number of the switch of each slot
    domain_count: I64
    board_size: I64  #: number of nodes of each board; 0 if boards differ, or if switches fail
    own: Sweeps  #: the network with failed domains; its verdicts are ``own``
    single: Sweeps  #: the network with single failures; its verdicts are ``single``
    sample: GroupSample  #: failures of domains and of f single nodes
    single_sample: GroupSample  #: as many failures of single nodes; if switches fail, ``sample`` itself
    places: Words  #: 512: position in each trial's sequence of labels at which its pair begins, after f failures
    node_draws: drawing.DrawingWorkspace  #: to sample single failures
    domain_draws: DomainDraws  #: to sample failed domains
    planes: Words  #: n + 1 rows: row p has digit 2^p of a number of nodes per lane, from ``_fail_boards``
    counts: Ints  #: 512: number of faulty nodes in each trial


@block
def _fail_boards(alive, works, numbers, size, planes):
    """Remove the nodes of failed boards from ``alive``, and count nodes per lane in binary digits, the rows of ``planes``.

    If all boards have one ``size``, the nodes of failed boards that had failed before are counted, because they are few, else
    (``size`` 0) the nodes that fail only now.  Returns the number of digits that are ``used``; rows above hold what was there.
    """
    used = np.int64(0)
    for v in range(numbers.shape[0]):
        board, before = simd.load(works, 8 * np.int64(numbers[v, 0])), simd.load(alive, 8 * v)
        simd.store(alive, 8 * v, before & board)
        carry = ~(before | board) if size else before & ~board  # the lanes in which this node is counted
        p = np.int64(0)
        while simd.bits(carry != 0):
            if p == used:
                simd.store(planes, 8 * p, simd.splat(ZERO))
                used += 1
            digit = simd.load(planes, 8 * p)
            simd.store(planes, 8 * p, digit ^ carry)
            carry = carry & digit
            p += 1
    return used


@block
def _count_faulty_nodes(point, size, planes, used, counts):
    """Write the number of faulty nodes of each lane, from the first ``used`` digits that ``_fail_boards`` has counted."""
    for i in range(drawing.GROUP_TRIALS):
        counted = ZERO
        for p in range(used):
            counted |= (planes[8 * p + (i >> 6)] >> np.uint64(i & 63) & ONE) << np.uint64(p)
        failed_by_boards = point.domains * size - np.int64(counted) if size else np.int64(counted)
        counts[i] = point.faults + failed_by_boards


@block
def _draw_failures(key, group, point, switches, work):
    """Sample the failures of 512 trials on both sides.

    The first labels of each trial's sequence fail on both sides.  Boards then fail on one side, and further labels on the other.
    A pair begins at ``work.places`` on the first side, and where ``draw_more_nodes`` ends on the second.
    """
    n, f, sample = point.n, point.faults, work.sample
    drawing.draw_nodes(key, group, n, f, sample.alive, work.node_draws)
    for i in range(drawing.GROUP_TRIALS):
        work.places[i] = work.node_draws.pair_places[i]
    draw_domains(key, group, work.domain_count, point.domains, sample.works, work.domain_draws)
    if not switches:
        used = _fail_boards(sample.alive, sample.works, work.numbers, work.board_size, work.planes)
        _count_faulty_nodes(point, work.board_size, work.planes, used, work.counts)
        drawing.draw_more_nodes(key, group, n, f, work.counts, work.single_sample.alive, work.node_draws)


_count_verdicts = make_verdict_counter(SURVIVAL_DOMAINS, "single")


def domains_kernel(step: Any, slots: Any, domain_of: Any, *, switches: bool, variant: str, **cached: Any) -> Kernel:
    """Return the kernel for the networks of a block ``step(index, v, d, n)`` and the domains of ``domain_of(kind, v, n)``.

    ``params`` is a :class:`DomainsPoint`.  With ``switches`` the domains are the switches of a HyperX network.
    """
    tabulate = make_tabulate(step)

    @scratch
    def workspace_for(point):
        n = point.n
        nodes = np.int64(1) << n
        table = np.empty((nodes, slots(point.network, n)), np.int32)
        tabulate(point.network, n, table)
        numbers, domain_count = number_switches(n, table) if switches else number_boards(point.domain, n, domain_of)
        unnumbered = np.empty((0, 0), np.int32)
        sample = group_sample_for(alive_rows_for(n), drawing.rows_for(domain_count + 1))
        return DomainsWorkspace(
            numbers,
            domain_count,
            np.int64(0) if switches else find_board_size(numbers, domain_count),
            prepare_numbered(table, n, numbers if switches else unnumbered, domain_count if switches else np.int64(0)),
            prepare_numbered(table, n, unnumbered, np.int64(0)),
            sample,
            sample if switches else group_sample_for(alive_rows_for(n), sample.works),
            np.empty(drawing.GROUP_TRIALS, np.uint64),
            drawing.drawing_workspace_for(n, nodes >> 1),
            domain_draws_for(domain_count, point.domains),
            drawing.rows_for(n + 1),
            np.empty(drawing.GROUP_TRIALS, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def survival_domains(key, first, stop, params, tally):
        """Count trials with failed domains, ``own``, and with as many single failures, ``single``."""
        point = _read_point(params)
        work = workspace_for(point)
        n, own, single, sample, single_sample = point.n, work.own, work.single, work.sample, work.single_sample
        for group in range(first - first % drawing.GROUP_TRIALS, stop, drawing.GROUP_TRIALS):
            _draw_failures(key, group, point, switches, work)
            fill_verdict(sample.alive, sample.works, switches, own)
            fill_verdict(single_sample.alive, sample.works, False, single)
            set_valid_lanes(sample, group, first, stop)
            set_valid_lanes(single_sample, group, first, stop)
            # a pair for each side, because the two differ in their nonfaulty nodes
            decide_pairs(key, group, n, False, work.places, sample, switches, own, own, True)
            decide_pairs(key, group, n, False, work.node_draws.pair_places, single_sample, False, single, single, True)
            _count_verdicts(sample.valid, own, single, True, tally)

    return survival_domains


SURVIVAL_BOARDS = domains_kernel(named_step, named_slots, board_of, switches=False, variant="boards")
SURVIVAL_SWITCHES = domains_kernel(named_step, named_slots, board_of, switches=True, variant="switches")
