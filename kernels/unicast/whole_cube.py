"""Rules under any number of faulty nodes, n = 6 .. 12: words of whole cubes, eight trials at once.

Entry: ``RIVALS_WHOLE_8``, ``_16``, which :func:`whole_of` makes; the work starts in ``rivals_whole``, and ``sift`` of
:func:`_sifting_eights` or :func:`_sifting_queue`.  Draws LABELS, in scalar code SIDETRACK's CHOICES too, from the study's key as
it is.

1. *paths*, lanes of labels (``levels_from_labels.py``): where all rules that prefer a nearer neighbour to all others,
   active or not, deliver over H, which is all but ROUTE, LEVELS and VECTORS; where the first path is free; and, for n > 8 and
   few faults, where LEVELS and VECTORS deliver over H whatever words are elsewhere: those trials are counted, and the
   others queued.
2. *placing*, eight trials a group: each trial's faults entered in its cube (``planes.py``).
3. *words*, a pass for 512 nodes.  A level k gives vector bit k, so vectors are asked for only where LEVELS' way is not over H.

Trials in which all but ROUTE go over H are counted, and rules of one's own walk in those of them whose first path is not free;
in the others all are judged, one at a time, told what LEVELS and VECTORS do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import remember, unsafe_subcubes
from ..draws.lanes import draw_rows, lane_pattern, valid_lanes
from ..machine import simd
from ..machine.bits import ONE, ZERO, extract, first_lanes, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import variant_of
from ..routing.rules import LOST
from ..survival.drawing import places
from . import levels_from_labels
from .lanes import deciding, enter_easy
from .layout import NAMES, WANDERING, tally
from .planes import FAULTY, active, ask, mark_neighbours, place, place_eight, plane_words
from .rules import KEY, LEVELS_GIVE, REFUSED, RULES, TRIAL, VECTORS_GIVE
from .safety_status import LEVELS, VECTORS, forget_safety_status
from .scalar import Scratch, judging, judging_own, set_up


class Work(NamedTuple):
    """Scratch of the kernel."""

    scratch: Scratch
    f: Any  #: int64
    ready: Any  #: int64: places of a trial's sequence that are drawn in lanes
    labels: Any  #: rows of one vector: labels of the trials
    seen: Any  #: twice as many rows: faults as ``paths`` sees them
    ends: Any  #: rows of one vector: sources, destinations, and how many labels hold the faults
    queued: Any  #: sources and destinations of the trials placed
    trials: Any  #: int64: which these are
    planes: Any  #: uint64: the planes of ``planes.py``
    counted: Any  #: int64: trials decided in lanes, and those of them whose first path is free
    first: Any  #: int64: the smallest trials of each


@block(always=True)
def _links(h, minimal, detour, i):
    """What a rule gives in lane i, from what :func:`ask` tells."""
    if minimal >> np.uint64(i) & ONE:
        return h
    return h + 2 if detour >> np.uint64(i) & ONE else REFUSED


def _grouped(judge: Any, closing: bool) -> Any:
    """The block ``one(work, t, at, i, s, end, tally)``: judge the trial in lane i of a group."""

    @block
    def one(work, t, at, i, s, end, tally):
        world, words = work.scratch.world, work.scratch.words
        faults = world.faults
        count = np.int64(0)
        for v in range(np.int64(1) << (world.n - 6)):
            rest = work.planes[at + 8 * v + i]
            while rest:
                faults.labels[count] = np.uint64(64 * v + lowest(rest))
                count += 1
                rest &= rest - ONE
        remember(faults)
        if closing:
            unsafe_subcubes(faults)
        forget_safety_status(words, faults)
        world.now[TRIAL] = np.uint64(t)
        judge(work.scratch, s, end, t, tally)

    return one


def _asking(judge: Any, judge_own: Any, names: Sequence[str]) -> Any:
    """The block ``group(work, n, column, own, minimal, free, tally)``: ask eight trials' words, and count or judge them.

    ``own`` are those of the group at ``column``, ``minimal`` and ``free`` what :mod:`paths` tells of them.  ``judge_own`` is for
    rules of one's own, or None.
    """
    by_level, by_vector, closing = "levels" in names, "vectors" in names, "route3" in names
    owning = judge_own is not None
    one, one_own = _grouped(judge, closing or owning), _grouped(judge_own or judge, True)

    @block(always=True)  # a call would hand over a hundred words
    def group(work, n, column, own, minimal, free, tally):
        facts, room = work.scratch.world.facts, work.trials.size
        at = (FAULTY + (column >> 3)) * plane_words(n)
        h = mark_neighbours(work, n, column, room)
        level, vector, detour, detour2 = own, own, ZERO, ZERO
        if by_level:
            level, detour = ask(work.planes, at, n, h, own, LEVELS)
        if by_vector:
            known = level if by_level else ZERO
            vector, detour2 = ask(work.planes, at, n, h, own & ~known, VECTORS)
            vector |= known
        easy = level & vector & minimal
        if closing:
            easy &= active(work.planes, at, n)
        enter_easy(work, easy, work.trials[column + (lowest(easy) & 7)], 0)
        enter_easy(work, easy & free, work.trials[column + (lowest(easy & free) & 7)], 1)
        mine = easy & ~free if owning else ZERO
        while mine:
            i = lowest(mine)
            mine &= mine - ONE
            s, t = np.uint64(work.queued[column + i]), np.uint64(work.queued[room + column + i])
            facts[LEVELS_GIVE] = facts[VECTORS_GIVE] = LOST
            one_own(work, work.trials[column + i], at, i, s, t, tally)
        hard = own & ~easy
        while hard:
            i = lowest(hard)
            hard &= hard - ONE
            s, t = np.uint64(work.queued[column + i]), np.uint64(work.queued[room + column + i])
            far = popcount(s ^ t)
            facts[LEVELS_GIVE] = _links(far, level, detour, i)
            facts[VECTORS_GIVE] = _links(far, vector, detour2, i)
            one(work, work.trials[column + i], at, i, s, t, tally)

    return group


# ---------------------------------------------------------------- n <= 8


@block(always=True)
def _fill_eights(work, key, start, n, lanes):
    """Place a vector of trials with n <= 8."""
    size = plane_words(n)
    for column in range(0, lanes, 8):
        at = (FAULTY + (column >> 3)) * size
        odd = place_eight(work, column, lanes, at)
        while odd:
            i = lowest(odd)
            odd &= odd - ONE
            for v in range(0, size, 8):
                work.planes[at + v + i] = ZERO
            place(work, key, start + column + i, n, column + i, lanes, at + i)


def _sifting_eights(group: Any, wandering: bool, blind: bool) -> Any:
    """The block ``sift(key, first, stop, work, lanes, tally)``: all trials of a vector are placed."""

    @block
    def sift(key, first, stop, work, lanes, tally):
        n = work.scratch.world.n
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        for start in range(first - first % lanes, stop, lanes):
            draw_rows(key, np.uint64(8 * (start // lanes)), work.ready, pattern, words)
            _fill_eights(work, key, start, n, lanes)
            rows, held = levels_from_labels.hold(work, lanes)
            minimal = held & (
                levels_from_labels.nearer(work, rows, lanes)
                if wandering
                else levels_from_labels.direct(work, rows, lanes)
            )
            free = levels_from_labels.free(work, rows, lanes) if blind else minimal
            live = valid_lanes(start, 1, lanes, first, stop)
            for i in range(lanes):
                work.trials[i] = start + i
            for column in range(0, lanes, 8):
                by = np.uint64(column)
                group(work, n, column, live >> by & np.uint64(255), minimal >> by, free >> by, tally)

    return sift


# ---------------------------------------------------------------- n > 8


@block
def _advance(work, n, done, waiting):
    """Empty the groups before ``done``, a multiple of eight, and let the trials behind, fewer than eight, be the first."""
    size, room = plane_words(n), work.trials.size
    for v in range(FAULTY * size, (FAULTY + (done >> 3)) * size, 8):
        simd.store(work.planes, v, simd.splat(ZERO))
    if done and done < waiting:
        at = (FAULTY + (done >> 3)) * size
        for v in range(0, size, 8):
            simd.store(work.planes, FAULTY * size + v, simd.load(work.planes, at + v))
            simd.store(work.planes, at + v, simd.splat(ZERO))
        for i in range(waiting - done):
            work.trials[i] = work.trials[done + i]
            work.queued[i] = work.queued[done + i]
            work.queued[room + i] = work.queued[room + done + i]


@block(always=True)
def _queue(work, key, start, n, chosen, waiting, lanes):
    """Place the trials of a vector that are ``chosen`` behind those that wait."""
    size, room = plane_words(n), work.trials.size
    simd.store(work.ends, 2 * lanes, simd.like(simd.load(work.ends, 0), np.uint64(work.f)))
    q = waiting
    while chosen:
        i = lowest(chosen)
        chosen &= chosen - ONE
        place(work, key, start + i, n, i, lanes, (FAULTY + (q >> 3)) * size + (q & 7))
        work.queued[q], work.queued[room + q] = work.ends[i], work.ends[lanes + i]
        work.trials[q] = start + i
        q += 1


def _sifting_queue(group: Any, wandering: bool, blind: bool, owning: bool) -> Any:
    """The block ``sift(key, first, stop, work, lanes, tally)``: trials that labels alone decide are not placed."""

    @block(always=True)
    def sieve(work, start, live, lanes):
        """Count trials that labels alone decide; returns which."""
        simd.store(work.ends, 0, simd.load(work.labels, lanes * work.f))
        simd.store(work.ends, lanes, simd.load(work.labels, lanes * (work.f + 1)))
        free, minimal = levels_from_labels.simple(work, work.f, lanes)
        easy = live & minimal & levels_from_labels.without_words(work, lanes)
        if owning:
            easy &= free
        enter_easy(work, easy, start + lowest(easy), 0)
        enter_easy(work, easy & free, start + lowest(easy & free), 1)
        return easy

    @block(always=True)
    def judged(work, chosen, sieving, lanes):
        """Which trials of a vector have free first paths, and minimal ways, whatever their words."""
        rows, held = levels_from_labels.hold(work, lanes)
        if sieving:
            free, minimal = levels_from_labels.simple(work, rows, lanes)
            if chosen & ~minimal:
                minimal = levels_from_labels.direct(work, rows, lanes)
            return free, minimal & held
        minimal = (
            levels_from_labels.nearer(work, rows, lanes) if wandering else levels_from_labels.direct(work, rows, lanes)
        )
        return levels_from_labels.free(work, rows, lanes) if blind else minimal, minimal & held

    @block
    def sift(key, first, stop, work, lanes, tally):
        n, f = work.scratch.world.n, work.f
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        sieving = not wandering and f * f <= np.int64(1) << (n - 1)  # for more, words cost less than pairs of faults
        waiting = np.int64(0)
        free, minimal = ZERO, ZERO  # of those that wait
        start = first - first % lanes
        while start < stop or waiting:
            if start < stop:
                draw_rows(key, np.uint64(8 * (start // lanes)), work.ready, pattern, words)
                chosen = valid_lanes(start, 1, lanes, first, stop)
                if sieving:
                    chosen &= ~sieve(work, start, chosen, lanes)
                _queue(work, key, start, n, chosen, waiting, lanes)
                passing, simple = judged(work, chosen, sieving, lanes)
                free |= extract(passing, chosen) << np.uint64(waiting)
                minimal |= extract(simple, chosen) << np.uint64(waiting)
                waiting += popcount(chosen)
                start += lanes
            done = np.int64(0)
            while done + 8 <= waiting or (start >= stop and done < waiting):
                by = np.uint64(done)
                group(work, n, done, first_lanes(waiting - done, 8), minimal >> by, free >> by, tally)
                done += 8
            _advance(work, n, done, waiting)
            waiting = max(waiting - done, np.int64(0))
            free >>= np.uint64(done)
            minimal >>= np.uint64(done)

    return sift


# ---------------------------------------------------------------- kernels


def whole_of(width: int, names: Sequence[str], own: Mapping[str, Any] | None = None, code: Any = None) -> Kernel:
    """The kernel of a table of rules in lanes of ``width`` bits, at (n, f, 0) = params, 1 < f <= 2^(n-1) - 2.

    ``own`` holds rules of one's own, made by ``first_path``, by their names; ``code`` is the first.
    """
    word = {8: np.uint8, 16: np.uint16}[width]
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised
    own = own or {}
    layout, rules = tally(names), tuple(own[name] if name in own else RULES[name.upper()] for name in names)
    known, cache = variant_of(*own.values()) if own else ("", True)
    group = _asking(
        judging(rules, names, layout), judging_own(tuple(own.values()), tuple(own), layout) if own else None, names
    )
    wandering, blind = not set(WANDERING).isdisjoint(names), bool(own) or "route" in names
    eights = width == 8
    sift = _sifting_eights(group, wandering, blind) if eights else _sifting_queue(group, wandering, blind, bool(own))
    room = lanes if eights else lanes + 8  # a group's trials may wait for more
    decide = deciding(layout, names)

    @scratch
    def work_for(params, stop):
        n, f = np.int64(params[0]), np.int64(params[1])
        ready = places(n, f + 2)
        ends = np.zeros(3 * lanes, word)
        return Work(
            set_up(params),
            f,
            ready,
            np.zeros(ready * lanes, word),
            np.zeros(2 * ready * lanes, word),
            ends,
            ends if eights else np.zeros(2 * room, word),
            np.zeros(room, np.int64),
            np.zeros((FAULTY + room // 8) * plane_words(n) + 32, np.uint64),
            np.zeros(2, np.int64),
            np.full(2, stop, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_{'_'.join(names)}{known}", cache=cache, code=code)
    def rivals_whole(key, first, stop, params, tally):
        """Trials at (n, f, 0) = params, n in 6..8 or 9..12 by the lanes' width."""
        if first < stop:
            work = work_for(params, stop)
            work.scratch.world.now[KEY] = key
            sift(key, first, stop, work, lanes, tally)
            decide(work, work.scratch.world.n, tally)

    return rivals_whole


#: Study ``rivals`` for n <= 8 and n <= 12.
RIVALS_WHOLE_8 = whole_of(8, NAMES)
RIVALS_WHOLE_16 = whole_of(16, NAMES)
