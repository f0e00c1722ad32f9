"""Rules under any number of faulty nodes, n = 6 .. 12: words of whole cubes, eight trials at once.

Entry: ``RIVALS_WHOLE_8``, ``_16``, which :func:`whole_of` makes; the work starts in ``rivals_whole``, and ``sift`` of
:func:`_sifting`.  Draws LABELS, in scalar code SIDETRACK's CHOICES too, from the study's key as it is.

1. *placing*: labels of a vector of trials are drawn in lanes, and each trial's faults entered in its cube: word v of lane i
   holds nodes 64 v .. 64 v + 63 of trial i of a group of eight, so that a neighbour over dimension 6 and up is another vector.
2. *paths*, lanes of labels: two preferred neighbours of a node are at distance 2.  So where no two faults between the ends
   are, a message at any node between, two bits or more from t, has a good preferred hop, and the last leads to t: all
   rules that prefer a nearer neighbour to all others, active or not, deliver over H, which is all but ROUTE, LEVELS and
   VECTORS.  Where the first path is free ROUTE, ROUTE1, A1 and DFS do.
3. *words*, a pass for 512 nodes: by Wu's theorems LEVELS and VECTORS deliver over H if some preferred neighbour has level, or
   vector bit, H - 1; else over H + 2 if some spare one has H + 1; else they refuse.  A level k gives vector bit k, so
   vectors are asked for only where LEVELS' way is not over H.  No node is active when rounds of the second plane's pass mark all.

Trials in which all but ROUTE go over H are counted, and rules of one's own walk in those of them whose first path is not free;
in the others all are judged, one at a time, told what LEVELS and VECTORS do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import close, remember
from ..draws.lanes import draw_rows, lane_pattern, valid_lanes
from ..draws.nodes import node_label
from ..machine import neighbours, simd
from ..machine.bits import ALL, ONE, ZERO, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import variant_of
from ..routing.lanes import on_path
from ..survival.drawing import places
from .lanes import deciding, enter_easy
from .layout import NAMES, tally
from .rules import KEY, LEVELS_GIVE, REFUSED, RULES, TRIAL, VECTORS_GIVE
from .single import Scratch, judging, judging_own, set_up
from .words import LEVELS, VECTORS, forget_words

_63 = np.uint64(63)
_6 = np.uint64(6)
_3 = np.uint64(3)


class Work(NamedTuple):
    """Scratch of the kernel."""

    scratch: Scratch
    f: Any  #: int64
    ready: Any  #: int64: places of a trial's sequence that are drawn in lanes
    labels: Any  #: rows of one vector: labels of the trials
    seen: Any  #: rows of one vector: faults as :func:`_nearer` and :func:`_direct` see them
    ends: Any  #: rows of one vector: sources, destinations, and how many labels hold the faults
    planes: Any  #: uint64: :func:`_plane` words each: the four below, then the faulty nodes of each group
    counted: Any  #: int64: trials decided in lanes, and those of them whose first path is free
    first: Any  #: int64: the smallest trials of each


#: Planes: preferred and spare neighbours of the sources, and twice the nodes without a word.
_PREFERRED, _SPARE, _WITHOUT, _FAULTY = np.int64(0), np.int64(1), np.int64(2), np.int64(4)


@block(always=True)
def _plane(n):
    """Words of a plane: eight trials a row, and at last a row of zeros."""
    return 8 * ((np.int64(1) << (n - 6)) + 1)


# ---------------------------------------------------------------- 1. placing


@block(always=True)
def _label(work, key, t, k, n, column, lanes):
    """Label k of a trial's sequence."""
    return np.uint64(work.labels[lanes * k + column]) if k < work.ready else node_label(key, t, k, n)


@block(always=True)
def _taken(planes, at, x):
    return planes[np.uint64(at) + (x >> _6 << _3)] >> (x & _63) & ONE


@block(always=True)
def _place(work, key, t, n, column, lanes, at):
    """Enter one trial's faults in its lane of the plane at ``at``, and its ends."""
    f, planes = work.f, work.planes
    got, k = np.int64(0), np.int64(f)
    for i in range(f):  # as if none were repeated
        x = np.uint64(work.labels[lanes * i + column])
        got += np.int64(ONE ^ _taken(planes, at, x))
        planes[np.uint64(at) + (x >> _6 << _3)] |= ONE << (x & _63)
    while got < f:
        x = _label(work, key, t, k, n, column, lanes)
        got += np.int64(ONE ^ _taken(planes, at, x))
        planes[np.uint64(at) + (x >> _6 << _3)] |= ONE << (x & _63)
        k += 1
    work.ends[2 * lanes + column] = k
    s = ALL
    for i in range(2):
        x = _label(work, key, t, k, n, column, lanes)
        k += 1
        while x == s or _taken(planes, at, x):
            x = _label(work, key, t, k, n, column, lanes)
            k += 1
        s = x
        work.ends[lanes * i + column] = x


@block(always=True)
def _hot(x, v):
    """The bit of node x of each lane in its word v."""
    return simd.one_hot(simd.sub(x, simd.splat(np.uint64(64 * v))))


@block(always=True)
def _place_eight(work, column, lanes, at):
    """:func:`_place` for eight trials with n <= 8, four words each; lanes whose labels drawn do not suffice."""
    f, labels, planes = work.f, work.labels, work.planes
    zero, one = simd.splat(ZERO), simd.splat(ONE)
    a, b, c, d = zero, zero, zero, zero
    got, many, s, t = zero, simd.splat(np.uint64(f)), zero, zero
    wanted, all_ = simd.splat(np.uint64(f)), simd.splat(np.uint64(f + 2))
    fa, fb, fc, fd = zero, zero, zero, zero
    k = np.int64(0)
    while k < work.ready:
        x = simd.load_wide(labels, lanes * k + column)
        ha, hb, hc, hd = _hot(x, 0), _hot(x, 1), _hot(x, 2), _hot(x, 3)
        met = simd.either(simd.either3(simd.both(a, ha), simd.both(b, hb), simd.both(c, hc)), simd.both(d, hd))
        new = simd.equal(met, zero)
        a, b, c, d = simd.either(a, ha), simd.either(b, hb), simd.either(c, hc), simd.either(d, hd)
        if k >= f:
            here = simd.mask_and(new, simd.equal(got, wanted))
            s = simd.select(here, x, s)
            t = simd.select(simd.mask_and(new, simd.equal(got, simd.add(wanted, one))), x, t)
            more = simd.mask_without(new, simd.less_equal(wanted, got))
            fa, fb = simd.either(fa, simd.select(more, ha, zero)), simd.either(fb, simd.select(more, hb, zero))
            fc, fd = simd.either(fc, simd.select(more, hc, zero)), simd.either(fd, simd.select(more, hd, zero))
            many = simd.add(many, simd.select(simd.less_equal(wanted, got), zero, one))
        got = simd.select(new, simd.add(got, one), got)
        k += 1
        if k == f:
            fa, fb, fc, fd = a, b, c, d
        elif k > f and simd.bits(simd.less_equal(all_, got)) == np.uint64(255):
            break
    simd.store(planes, at, fa)
    simd.store(planes, at + 8, fb)
    simd.store(planes, at + 16, fc)
    simd.store(planes, at + 24, fd)
    simd.store_narrow(work.ends, column, s)
    simd.store_narrow(work.ends, lanes + column, t)
    simd.store_narrow(work.ends, 2 * lanes + column, many)
    return ~simd.bits(simd.less_equal(all_, got)) & np.uint64(255)


# ---------------------------------------------------------------- 2. paths


@block(always=True)
def _hold(work, lanes):
    """Overwrite labels behind those of a trial's faults by its first; returns the number of rows with faults."""
    many = simd.load(work.ends, 2 * lanes)
    x = simd.load(work.labels, 0)
    rows = work.f
    while rows < work.ready:
        behind = simd.less_equal(many, simd.like(many, np.uint64(rows)))
        if simd.bits(behind) == ALL >> np.uint64(64 - lanes):
            break
        simd.store(work.labels, lanes * rows, simd.select(behind, x, simd.load(work.labels, lanes * rows)))
        rows += 1
    return rows


@block(always=True)
def _free(work, rows, lanes):
    """Lanes with no fault on the first path."""
    s, t = simd.load(work.ends, 0), simd.load(work.ends, lanes)
    zero = simd.sub(s, s)
    on = simd.differ(zero, zero)
    for i in range(rows):
        x = simd.load(work.labels, lanes * i)
        on = simd.mask_or(on, on_path(simd.xor(x, s), simd.xor(x, t), zero))
    return ~simd.bits(on)


@block(always=True)
def _nearer(work, rows, lanes):
    """Lanes without two faults between the ends at distance 2."""
    s = simd.load(work.ends, 0)
    apart = simd.xor(s, simd.load(work.ends, lanes))
    zero = simd.sub(s, s)
    two, ones = simd.like(s, np.uint64(2)), simd.like(s, ALL)
    near = ones
    for i in range(rows):
        x = simd.load(work.labels, lanes * i)
        own = simd.select(simd.equal(simd.without(simd.xor(x, s), apart), zero), zero, ones)
        simd.store(work.seen, lanes * i, own)
        for j in range(i):
            d = simd.popcount(simd.xor(x, simd.load(work.labels, lanes * j)))
            d = simd.either(d, simd.either(own, simd.load(work.seen, lanes * j)))
            near = simd.minimum(near, simd.xor(d, two))
    return simd.bits(simd.differ(near, zero))


@block(always=True)
def _direct(work, rows, lanes):
    """Lanes whose message arrives by the first good preferred hop of each node; bits are reversed, to have the first lowest."""
    t = simd.load(work.ends, lanes)
    zero, one = simd.sub(t, t), simd.like(t, ONE)
    for i in range(rows):
        simd.store(work.seen, lanes * i, simd.reverse(simd.xor(simd.load(work.labels, lanes * i), t)))
    rest = simd.reverse(simd.xor(simd.load(work.ends, 0), t))
    moved = True
    while moved:
        blocked = zero
        for i in range(rows):
            d = simd.xor(simd.load(work.seen, lanes * i), rest)
            single = simd.equal(simd.both(d, simd.sub(d, one)), zero)
            blocked = simd.either(blocked, simd.select(single, d, zero))
        good = simd.without(rest, blocked)
        good = simd.both(good, simd.sub(zero, good))
        rest = simd.xor(rest, good)
        moved = simd.bits(simd.differ(good, zero)) != ZERO
    return simd.bits(simd.equal(rest, zero))


# ---------------------------------------------------------------- 3. words


@block(always=True)
def _mark_neighbours(work, n, column, lanes):
    """Write the planes of preferred and of spare neighbours of eight sources."""
    planes, size = work.planes, _plane(n)
    s, t = simd.load_wide(work.ends, column), simd.load_wide(work.ends, lanes + column)
    zero, one = simd.sub(s, s), simd.splat(ONE)
    apart = simd.xor(s, t)
    place = simd.both(s, simd.splat(_63))
    preferred, spare = zero, zero
    for i in range(6):
        bit = simd.splat(ONE << np.uint64(i))
        hot = simd.shift_left(one, simd.xor(place, bit))
        wanted = simd.differ(simd.both(apart, bit), zero)
        preferred = simd.either(preferred, simd.select(wanted, hot, zero))
        spare = simd.either(spare, simd.select(wanted, zero, hot))
    own = simd.shift_right(s, simd.splat(_6))
    high = simd.shift_right(apart, simd.splat(_6))
    hot = simd.shift_left(one, place)
    for v in range(size // 8 - 1):
        d = simd.xor(own, simd.splat(np.uint64(v)))
        beside = simd.select(simd.equal(simd.both(d, simd.sub(d, one)), zero), hot, zero)
        wanted = simd.differ(simd.both(d, high), zero)
        here = simd.equal(d, zero)
        simd.store(planes, _PREFERRED * size + 8 * v, simd.select(here, preferred, simd.select(wanted, beside, zero)))
        simd.store(planes, _SPARE * size + 8 * v, simd.select(here, spare, simd.select(wanted, zero, beside)))
    return simd.popcount(apart)


@block(always=True)
def _four(c, a, b, x, y):
    """Count four more neighbours in bit planes c, up to fifteen."""
    c0, c1, c2, c3 = c
    p = simd.majority(c0, a, b)
    c0 = simd.xor(simd.xor(c0, a), b)
    q = simd.majority(c0, x, y)
    c0 = simd.xor(simd.xor(c0, x), y)
    r = simd.majority(c1, p, q)
    return c0, simd.xor(simd.xor(c1, p), q), simd.xor(c2, r), simd.xor(c3, simd.both(c2, r))


@block(always=True)
def _across(planes, at, v, i, n, size):
    """The vector of the neighbours over dimension i >= 6; zeros where there is none."""
    return simd.load(planes, at + (8 * (v ^ (np.int64(1) << (i - 6))) if i < n else size - 8))


@block(always=True)
def _digit(k, j):
    return simd.splat(ZERO if k >> j & 1 else ALL)


@block(always=True)
def _pass(planes, at, to, base, n, k):
    """Write at ``to`` the nodes in plane ``base`` or with more than k neighbours in plane ``at``; whether that adds any."""
    size = _plane(n)
    n0, n1, n2, n3 = _digit(k, 0), _digit(k, 1), _digit(k, 2), _digit(k, 3)
    zero = simd.splat(ZERO)
    changed = zero
    for v in range(size // 8 - 1):
        x = simd.load(planes, at + 8 * v)
        y0, y1, y2, y3 = (
            neighbours.neighbour0(x),
            neighbours.neighbour1(x),
            neighbours.neighbour2(x),
            neighbours.neighbour3(x),
        )
        c = _four((zero, zero, zero, zero), y0, y1, y2, y3)
        y0, y1 = neighbours.neighbour4(x), neighbours.neighbour5(x)
        c = _four(c, y0, y1, _across(planes, at, v, 6, n, size), _across(planes, at, v, 7, n, size))
        if n > 8:
            y0, y1 = _across(planes, at, v, 8, n, size), _across(planes, at, v, 9, n, size)
            c = _four(c, y0, y1, _across(planes, at, v, 10, n, size), _across(planes, at, v, 11, n, size))
        c0, c1, c2, c3 = c
        more = simd.majority(c1, simd.both(c0, n0), n1)
        more = simd.majority(c3, simd.majority(c2, more, n2), n3)
        known = simd.load(planes, base + 8 * v)
        simd.store(planes, to + 8 * v, simd.either(known, more))
        changed = simd.either(changed, simd.without(more, known))
    return simd.union(changed) != ZERO


@block
def _next(planes, at, to, base, n, k):
    """:func:`_pass` with its loop unrolled for each n: half of the time."""
    if n == 6:
        changed = _pass(planes, at, to, base, 6, k)
    elif n == 7:
        changed = _pass(planes, at, to, base, 7, k)
    elif n == 8:
        changed = _pass(planes, at, to, base, 8, k)
    elif n == 9:
        changed = _pass(planes, at, to, base, 9, k)
    elif n == 10:
        changed = _pass(planes, at, to, base, 10, k)
    elif n == 11:
        changed = _pass(planes, at, to, base, 11, k)
    else:
        changed = _pass(planes, at, to, base, 12, k)
    return changed


@block(always=True)
def _some(planes, at, without, size):
    """Lanes with a node of the plane ``at`` that is not in the plane ``without``."""
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = simd.either(found, simd.without(simd.load(planes, at + v), simd.load(planes, without + v)))
    return simd.bits(simd.differ(found, simd.splat(ZERO)))


@block
def _ask(planes, faulty, n, h, open_, kind):
    """Of the lanes ``open_`` those that LEVELS, or VECTORS, delivers over H, and over H + 2 links."""
    size = _plane(n)
    at = faulty
    minimal = open_ & simd.bits(simd.equal(h, simd.splat(ONE)))
    detour = ZERO
    open_ &= ~minimal
    moving = True
    k = np.int64(1)
    while open_:
        now = open_ & simd.bits(simd.equal(h, simd.splat(np.uint64(k + 1))))
        if now:
            found = now & _some(planes, _PREFERRED * size, at, size)
            minimal |= found
            open_ &= ~found
        now = open_ & simd.bits(simd.equal(h, simd.splat(np.uint64(k - 1))))
        if now:
            detour |= now & _some(planes, _SPARE * size, at, size)
            open_ &= ~now
        if k == n:
            break
        if moving:
            to = (_WITHOUT + (k & 1)) * size
            moving = _next(planes, at, to, at if kind == LEVELS else faulty, n, k)
            at = to
        k += 1
    return minimal, detour


@block
def _active(planes, faulty, n):
    """Lanes with a node that is neither faulty nor unsafe."""
    size = _plane(n)
    at = faulty
    k = np.int64(0)
    moving = True
    while moving:
        to = (_WITHOUT + (k & 1)) * size
        moving = _next(planes, at, to, at, n, np.int64(1))
        at = to
        k += 1
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = simd.either(found, simd.xor(simd.load(planes, at + v), simd.splat(ALL)))
    return simd.bits(simd.differ(found, simd.splat(ZERO)))


# ---------------------------------------------------------------- all together


@block(always=True)
def _links(h, minimal, detour, i):
    """What a rule gives in lane i, from what :func:`_ask` tells."""
    if minimal >> np.uint64(i) & ONE:
        return h
    return h + 2 if detour >> np.uint64(i) & ONE else REFUSED


@block(always=True)
def _fill_eights(work, key, start, n, lanes):
    """Place a vector of trials with n <= 8."""
    size = _plane(n)
    for column in range(0, lanes, 8):
        at = (_FAULTY + (column >> 3)) * size
        odd = _place_eight(work, column, lanes, at)
        while odd:
            i = lowest(odd)
            odd &= odd - ONE
            for v in range(0, size, 8):
                work.planes[at + v + i] = ZERO
            _place(work, key, start + column + i, n, column + i, lanes, at + i)


@block(always=True)
def _fill(work, key, start, n, lanes):
    """Place a vector of trials."""
    size = _plane(n)
    for v in range(_FAULTY * size, (_FAULTY + lanes // 8) * size, 8):
        simd.store(work.planes, v, simd.splat(ZERO))
    for column in range(lanes):
        _place(work, key, start + column, n, column, lanes, (_FAULTY + (column >> 3)) * size + (column & 7))


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
            close(faults)
        forget_words(words, faults)
        world.now[TRIAL] = np.uint64(t)
        judge(work.scratch, s, end, t, tally)

    return one


def _sifting(judge: Any, judge_own: Any, names: Sequence[str], fill: Any) -> Any:
    """The block ``sift(key, first, stop, work, lanes, tally)``; ``judge_own`` for rules of one's own, or None."""
    by_level, by_vector, closing = "levels" in names, "vectors" in names, "route3" in names
    owning = judge_own is not None
    wandering, blind = closing or "sidetrack" in names, owning or "route" in names
    one, one_own = _grouped(judge, closing or owning), _grouped(judge_own or judge, True)

    @block
    def sift(key, first, stop, work, lanes, tally):
        n, facts = work.scratch.world.n, work.scratch.world.facts
        size = _plane(n)
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        work.scratch.world.now[KEY] = key
        for start in range(first - first % lanes, stop, lanes):
            draw_rows(key, np.uint64(8 * (start // lanes)), work.ready, 1, pattern, words)
            fill(work, key, start, n, lanes)
            rows = _hold(work, lanes)
            direct = _nearer(work, rows, lanes) if wandering else _direct(work, rows, lanes)
            free = _free(work, rows, lanes) if blind else direct
            live = valid_lanes(start, 1, lanes, first, stop)
            for column in range(0, lanes, 8):
                by = np.uint64(column)
                at = (_FAULTY + (column >> 3)) * size
                own = live >> by & np.uint64(255)
                h = _mark_neighbours(work, n, column, lanes)
                level, vector, detour, detour2 = own, own, ZERO, ZERO
                if by_level:
                    level, detour = _ask(work.planes, at, n, h, own, LEVELS)
                if by_vector:
                    known = level if by_level else ZERO
                    vector, detour2 = _ask(work.planes, at, n, h, own & ~known, VECTORS)
                    vector |= known
                easy = level & vector & direct >> by
                if closing:
                    easy &= _active(work.planes, at, n)
                enter_easy(work, easy, start + column + lowest(easy), 0)
                enter_easy(work, easy & free >> by, start + column + lowest(easy & free >> by), 1)
                mine = easy & ~(free >> by) if owning else ZERO
                while mine:
                    i = lowest(mine)
                    mine &= mine - ONE
                    s, t = np.uint64(work.ends[column + i]), np.uint64(work.ends[lanes + column + i])
                    one_own(work, start + column + i, at, i, s, t, tally)
                hard = own & ~easy
                while hard:
                    i = lowest(hard)
                    hard &= hard - ONE
                    s, t = np.uint64(work.ends[column + i]), np.uint64(work.ends[lanes + column + i])
                    far = popcount(s ^ t)
                    facts[LEVELS_GIVE] = _links(far, level, detour, i)
                    facts[VECTORS_GIVE] = _links(far, vector, detour2, i)
                    one(work, start + column + i, at, i, s, t, tally)

    return sift


def whole_of(width: int, names: Sequence[str], own: Mapping[str, Any] | None = None, code: Any = None) -> Kernel:
    """The kernel of a table of rules in lanes of ``width`` bits, at (n, f, 0) = params, 1 < f <= 2^(n-1) - 2.

    ``own`` holds rules of one's own, made by ``first_path``, by their names; ``code`` is the first.
    """
    word = {8: np.uint8, 16: np.uint16}[width]
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised
    own = own or {}
    layout, rules = tally(names), tuple(own[name] if name in own else RULES[name.upper()] for name in names)
    known, cache = variant_of(*own.values()) if own else ("", True)
    judge_own = judging_own(tuple(own.values()), tuple(own), layout) if own else None
    sift = _sifting(judging(rules, names, layout), judge_own, names, _fill_eights if width == 8 else _fill)
    decide = deciding(layout, names)

    @scratch
    def work_for(params, stop):
        n, f = np.int64(params[0]), np.int64(params[1])
        ready = places(n, f + 2)
        return Work(
            set_up(params),
            f,
            ready,
            np.zeros(ready * lanes, word),
            np.zeros(ready * lanes, word),
            np.zeros(3 * lanes, word),
            np.zeros((_FAULTY + lanes // 8) * _plane(n) + 32, np.uint64),
            np.zeros(2, np.int64),
            np.full(2, stop, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_{'_'.join(names)}{known}", cache=cache, code=code)
    def rivals_whole(key, first, stop, params, tally):
        """Trials at (n, f, 0) = params, n in 6..8 or 9..12 by the lanes' width."""
        if first < stop:
            work = work_for(params, stop)
            sift(key, first, stop, work, lanes, tally)
            decide(work, work.scratch.world.n, tally)

    return rivals_whole


#: Study ``rivals`` for n <= 8 and n <= 12.
RIVALS_WHOLE_8 = whole_of(8, NAMES)
RIVALS_WHOLE_16 = whole_of(16, NAMES)
