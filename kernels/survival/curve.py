"""Survivors after every wanted number of failures of one random order, counted while the components return (``union_find``).

``params`` is (network, failing, n, and the wanted numbers of failures), and each wanted number is a *point*.  The tally holds the
layout's slots for each point, in the order of ``params``.  The scratch memory holds the points in the order of falling numbers,
because a trial begins with all components failed and takes failures back.  So ``tally_rows`` leads from one order to the other.

A trial writes the state at each point (``note_state``).  ``_add_trial`` adds these states to sums in words, which take less time
than a tally, and ``_flush_events`` and ``_flush_moments`` add the sums to the tally.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.link_numbers import list_link_names, number_links
from ..cube.tables import make_tabulate, named_slots, named_step
from ..machine.array_types import Ints, Ints32, Words, Words16
from ..machine.bits import HALF_WORD_BITS, LOW32, ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from .layout import CURVE, CURVE_EVENTS
from .union_find import make_links_trial, make_nodes_trial

_SLOTS = np.int64(CURVE.size)
_EVENTS = CURVE.family("{}", CURVE_EVENTS)
_SOME = CURVE.counter("some")
_SIZES = tuple(CURVE.moments(name) for name in ("largest", "second", "others", "connected_pairs"))

#: Indices in ``params``; the wanted numbers of failures begin at the last.
_NETWORK, _FAILING, _N, _WANTED = range(4)

#: Values of ``failing`` in ``params``.
_FAILING_NODES, _FAILING_LINKS = 0, 1

#: Rows of ``CurveScratch.sizes``, the quantities of _SIZES in order: nodes of the largest and of the second largest component,
#: the sum of squares of the sizes of all components but the largest, and the connected pairs of nodes.
_LARGEST, _SECOND, _OTHERS, _PAIRS = range(4)

#: A word of events has a field for each of CURVE_EVENTS, in their order: 1 if it happened.  A field has 16 bits, so it holds the
#: sum over at most _MOST_SUMMED trials.
_FIELD_BITS, _MOST_SUMMED = np.uint64(16), 65535

_SHIFTS = {name: np.uint64(16 * place) for place, name in enumerate(CURVE_EVENTS)}
_NO_ISOLATED = _SHIFTS["no_isolated_node"]

#: Events of a disconnected trial: with an isolated node, and without one, but for _NO_ISOLATED.
_DISCONNECTED = ONE << _SHIFTS["disconnected"]
_DISCONNECTED_1_EXTRA = _DISCONNECTED | ONE << _SHIFTS["extra_1"]

#: Indices of ``CurveScratch.first_failures``, and their number.
DISCONNECTION, ISOLATED_NODE, _FIRST_EVENTS = range(3)


class CurveScratch(NamedTuple):
    """Scratch memory of a call; ``count`` is the number of points, in the order of falling numbers of failures.

    ``order`` to ``size_counts`` and ``events``, ``sizes`` and ``first_failures`` are a trial's; the sums are of all trials since
    they were last added to the tally.
    """

    table: Words16  #: (2^n, slots): neighbours, n <= 16; no rows if links fail
    ends: Ints32  #: (links, 2): ends of links; no rows if nodes fail
    order: Ints32  #: the components that fail, by number; see ``draw_place``
    words: Words  #: 16: see ``draw_place``
    parent: Ints32  #: one entry per node: its parent, or at a root the negative size of the component
    live: Words  #: one bit per node: whether it is live
    size_counts: Ints32  #: number of components of each size, without the giant; zeros between trials
    wanted: Ints  #: count + 1: the number of failures of each point, and -1 at the end
    tally_rows: Ints  #: count entries: row of each point in the tally
    survivors: Words  #: count entries: number of nodes that survive
    events: Words  #: count entries: the trial's events, one field each
    sizes: Words  #: (4, count): the trial's quantities _LARGEST .. _PAIRS
    event_sums: Words  #: count entries: sums of ``events``, of at most _MOST_SUMMED trials
    size_sums: Words  #: (4, count): sums of ``sizes``
    square_sums_low: Words  #: (4, count): sums of the low halves of their squares
    square_sums_high: Words  #: (4, count): sums of the high halves
    first_failures: Ints  #: for ``hitting``: failures at the first DISCONNECTION and at the first ISOLATED_NODE


@scratch
def _list_ends(table, n):
    """Return both ends of each link, in the order of their numbers."""
    _, links = number_links(table, n)
    ends = np.empty((links, 2), np.int32)
    names = list_link_names(table, n, links)
    for i in range(links):
        ends[i, 0], ends[i, 1] = names[i, 0], table[names[i, 0], names[i, 1]]
    return ends


def make_curve_scratch(step: Any, slots: Any) -> Any:
    """Return the function ``curve_scratch_for(params)`` for networks given by blocks step(index, v, d, n) and slots(index, n)."""
    tabulate = make_tabulate(step)

    @scratch
    def curve_scratch_for(params):
        index, failing, n = np.int64(params[_NETWORK]), np.int64(params[_FAILING]), np.int64(params[_N])
        nodes = np.int64(1) << n
        table = np.empty((nodes, slots(index, n)), np.uint16)
        tabulate(index, n, table)
        ends = np.empty((0, 2), np.int32)
        if failing == _FAILING_LINKS:
            ends = _list_ends(table, n)
            table = np.empty((0, 0), np.uint16)
        count = params.size - _WANTED
        tally_rows = np.argsort(-params[_WANTED:])
        wanted = np.full(count + 1, -1, np.int64)
        survivors = np.empty(count, np.uint64)
        for i in range(count):
            wanted[i] = np.int64(params[_WANTED + tally_rows[i]])
            survivors[i] = np.uint64(nodes - wanted[i] if failing == _FAILING_NODES else nodes)
        return CurveScratch(
            table,
            ends,
            np.empty(ends.shape[0] if failing == _FAILING_LINKS else nodes, np.int32),
            np.empty(16, np.uint64),
            np.empty(nodes, np.int32),
            np.zeros((nodes + 63) >> 6, np.uint64),
            np.zeros(nodes + 1, np.int32),
            wanted,
            tally_rows,
            survivors,
            np.zeros(count, np.uint64),
            np.zeros((len(_SIZES), count), np.uint64),
            np.zeros(count, np.uint64),
            np.zeros((len(_SIZES), count), np.uint64),
            np.zeros((len(_SIZES), count), np.uint64),
            np.zeros((len(_SIZES), count), np.uint64),
            np.zeros(_FIRST_EVENTS, np.int64),
        )

    return curve_scratch_for


curve_scratch_for = make_curve_scratch(named_step, named_slots)


@block(always=True)
def note_state(work, point, failed, components, isolated, largest, second, others):
    """Write the state after ``failed`` failures if ``point`` wants it; return the next wanted point.  See ``union_find``."""
    if work.wanted[point] == failed:
        events = np.uint64(components == 1) | np.uint64(isolated == 0) << _NO_ISOLATED
        if components > 1:
            events |= _DISCONNECTED if isolated else _DISCONNECTED_1_EXTRA
        work.events[point] = events
        work.sizes[_LARGEST, point] = np.uint64(largest)
        work.sizes[_SECOND, point] = np.uint64(second)
        work.sizes[_OTHERS, point] = np.uint64(others)
        point += ONE
    return point


@block
def _add_trial(work):
    """Add the states of one trial to the sums, in loops that LLVM vectorises; ``& LOW32`` lets it multiply 32-bit numbers."""
    count = work.tally_rows.size
    for i in range(count):
        work.event_sums[i] += work.events[i]
        largest = work.sizes[_LARGEST, i] & LOW32
        squares = largest * largest + work.sizes[_OTHERS, i]
        work.sizes[_PAIRS, i] = (squares - work.survivors[i]) >> ONE  # the sum of c (c - 1) / 2 over all sizes c
    for k in range(len(_SIZES)):
        for i in range(count):
            x = work.sizes[k, i] & LOW32
            square = x * x
            work.size_sums[k, i] += x
            work.square_sums_low[k, i] += square & LOW32
            work.square_sums_high[k, i] += square >> HALF_WORD_BITS


@block
def _flush_events(work, tally):
    """Add the sums of events to the tally and clear them, before a field is full; call it after each _MOST_SUMMED trials."""
    for i in range(work.tally_rows.size):
        for j in range(len(_EVENTS)):
            tally[work.tally_rows[i] * _SLOTS + _EVENTS[j]] += np.int64(
                (work.event_sums[i] >> np.uint64(j) * _FIELD_BITS) & np.uint64(_MOST_SUMMED)
            )
        work.event_sums[i] = ZERO


@block
def _flush_moments(work, tally, trials):
    """Add the sums of sizes to the tally."""
    for i in range(work.tally_rows.size):
        row = work.tally_rows[i] * _SLOTS
        for k in range(len(_SIZES)):
            tally[row + _SIZES[k].total] += np.int64(work.size_sums[k, i])
            tally[row + _SIZES[k].squares] += np.int64(work.square_sums_low[k, i])
            tally[row + _SIZES[k].squares + 1] += np.int64(work.square_sums_high[k, i])
        if work.sizes[_LARGEST, i] > ZERO:  # nodes survive in each trial or in none
            tally[row + _SOME] += trials


def make_curve_kernel(trial: Any, variant: str, scratch_for: Any = curve_scratch_for, **cached: Any) -> Any:
    """Return the kernel that counts the trials of a block ``trial(key, t, work)``, which writes its states to ``work``."""

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def curve(key, first, stop, params, tally):
        work = scratch_for(params)
        waiting = 0
        for t in range(first, stop):
            trial(key, t, work)
            _add_trial(work)
            waiting += 1
            if waiting == _MOST_SUMMED:
                _flush_events(work, tally)
                waiting = 0
        _flush_events(work, tally)
        _flush_moments(work, tally, stop - first)

    return curve


#: Trials in which nodes, or links, of any network fail.
NODES_TRIAL = make_nodes_trial(False, note_state)
LINKS_TRIAL = make_links_trial(note_state, with_sizes=True)

#: Kernels of failing nodes of the hypercube, failing nodes of other networks, and failing links.
CURVE_HYPERCUBE = make_curve_kernel(make_nodes_trial(True, note_state), "hypercube")
CURVE_NODES = make_curve_kernel(NODES_TRIAL, "nodes")
CURVE_LINKS = make_curve_kernel(LINKS_TRIAL, "links")
