"""Rival rules on one trial at a time: any n, faults, links and rules; the form that the lanes must equal.

A trial is ``routing``'s with k = 1: its fault set and its ends.  All rules walk on it, each told what is known of it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import draw, faults_for, is_faulty, next_spared, unsafe_subcubes
from ..machine.bits import ONE, ZERO, popcount
from ..machine.jit import Kernel, block, scratch
from ..machine.trials import trials_kernel
from ..routing.layout import SEARCHED
from ..routing.rules import LIMIT, on_route
from ..routing.shortest import shortest
from ..tally.layout import Layout
from ..tally.sums import add_quantity, offer
from .layout import NAMES, compared, promising, tally
from .minimal_paths import SEARCHED as MINIMAL_SEARCHED
from .minimal_paths import minimal_exists
from .rules import (
    BETWEEN,
    KEY,
    MEETS,
    PASSES,
    REFUSED,
    RULES,
    SAFE,
    TOGETHER,
    TRIAL,
    UNKNOWN,
    World,
    world_for,
)
from .safety_status import Words, forget_safety_status, safety_status_for


class Scratch(NamedTuple):
    """What a trial needs; made by :func:`set_up`."""

    world: World
    words: Words
    links: Any  #: int64: what each rule gives


@scratch
def set_up(params):
    """Scratch for trials at (n, f, links) = params, of up to 64 rules."""
    n, f, links = np.int64(params[0]), np.int64(params[1]), np.int64(params[2])
    faults = faults_for(n, f, links, np.int64(2))
    world = world_for(n, faults, min(n, np.int64(MINIMAL_SEARCHED)))
    return Scratch(world, safety_status_for(n, f, links), np.zeros(64, np.int64))


@block(always=True)
def look(world, s, t):
    """Find out what decides most messages (``rules``), of closed faults.  A call would hand over a hundred words."""
    faults, facts = world.faults, world.facts
    apart = s ^ t
    passes, meets, safe = True, False, True
    between, together = np.int64(0), np.int64(-1)
    for i in range(faults.size[0]):
        e = faults.labels[i] ^ s
        passes &= not on_route(e, faults.labels[i] ^ t)
        between += e & ~apart == ZERO
    for j in range(faults.size[1]):
        x, bit = faults.lower[j], ONE << faults.dims[j]
        passes &= not (on_route(x ^ s, x ^ t) and on_route(x ^ bit ^ s, x ^ bit ^ t))
        between += bit & apart != ZERO and (x ^ s) & ~apart & ~bit == ZERO
    for i in range(faults.size[3]):
        fixed = ~faults.free[i]
        e, r = (faults.base[i] ^ s) & fixed, (faults.base[i] ^ t) & fixed
        meets |= on_route(e, r)
        safe &= faults.free[i] != world.whole
        if e | r == ZERO:
            together = np.int64(i)
    facts[PASSES], facts[MEETS], facts[SAFE] = passes, meets, safe
    facts[TOGETHER], facts[BETWEEN] = together, between


def walking(rules: Sequence[Any]) -> Any:
    """The block ``walk(world, words, s, t, links)``: write what each rule gives."""

    @block(always=True)
    def walk(world, words, s, t, links):
        pass

    for i, rule in reversed(list(enumerate(rules))):
        walk = _before(rule, i, walk)
    return walk


def _before(rule: Any, i: int, rest: Any) -> Any:
    @block(always=True)
    def walk(world, words, s, t, links):
        links[i] = rule(world, words, s, t)
        rest(world, words, s, t, links)

    return walk


def entering_way(layout: Layout, names: Sequence[str]) -> Any:
    """The block ``enter(tally, i, got, h, trial)`` for what is counted of the way of the i-th of some rules."""
    delivered, minimal, limit = (
        tuple(int(layout.counter(f"{name}_{end}")) for name in names) for end in ("delivered", "minimal", "limit")
    )
    extra = tuple(layout.moments(f"{name}_extra_links") for name in names)
    most = tuple(int(layout.extreme(f"{name}_most")) for name in names)

    @block(always=True)
    def enter(tally, i, got, h, trial):
        if got >= 0:
            tally[delivered[i]] += 1
            tally[minimal[i]] += got == h
            add_quantity(tally, extra[i], got - h)
            offer(tally, most[i], got - h, trial)
        else:
            tally[limit[i]] += got == LIMIT

    return enter


def entering_rules(layout: Layout, names: Sequence[str]) -> Any:
    """The block ``enter(tally, links, h, reach, trial)`` for what is counted of each of some rules."""
    count, enter_way = len(names), entering_way(layout, names)
    refused, unknown, loss = (
        tuple(int(layout.counter(f"{name}_{end}")) for name in names) for end in ("refused", "unknown", "loss")
    )

    @block(always=True)
    def enter(tally, links, h, reach, trial):
        for i in range(count):
            got = links[i]
            enter_way(tally, i, got, h, trial)
            if got < 0:
                tally[refused[i]] += got == REFUSED
                tally[unknown[i]] += got == UNKNOWN
                tally[loss[i]] += reach

    return enter


def entering(layout: Layout, names: Sequence[str]) -> Any:
    """The block ``enter(tally, links, h, reach, minimal, trial)`` for what :data:`layout.tally` declares."""

    enter_rules = entering_rules(layout, names)
    reachable, exists, known = (int(layout.counter(c)) for c in ("reachable", "minimal_exists", "minimal_known"))
    pairs = tuple(
        (names.index(name), int(layout.counter(f"{name}_gain")), int(layout.counter(f"{name}_apart")))
        for name in compared(names)
    )
    base = names.index("levels") if "levels" in names else 0
    kept = tuple((names.index(name), int(layout.extreme(f"{name}_wrong"))) for name in promising(names))

    @block(always=True)
    def enter_compared(tally, links):
        for i, gain, apart in pairs:
            more = np.int64(links[i] >= 0) - np.int64(links[base] >= 0)
            tally[gain] += more
            tally[apart] += more != 0

    @block(always=True)
    def enter_wrong(tally, links, h, trial):
        for i, slot in kept:
            right = links[i] in (REFUSED, UNKNOWN, h, h + 2)
            offer(tally, slot, np.int64(not right), trial)

    compare, keep = len(pairs) > 0, len(kept) > 0

    @block(always=True)
    def enter(tally, links, h, reach, minimal, trial):
        enter_rules(tally, links, h, reach, trial)
        tally[reachable] += reach
        tally[exists] += minimal == 1
        tally[known] += minimal >= 0
        if compare:
            enter_compared(tally, links)
        if keep:
            enter_wrong(tally, links, h, trial)

    return enter


def judging(rules: Sequence[Any], names: Sequence[str], layout: Layout) -> Any:
    """The block ``judge(scratch, s, t, at, tally)``: walk by all rules on closed faults, and count."""
    walk, enter = walking(rules), entering(layout, names)
    count = len(rules)

    @block(always=True)
    def judge(scratch, s, t, at, tally):
        world, words, links = scratch
        h = popcount(s ^ t)
        look(world, s, t)
        walk(world, words, s, t, links)
        some, least = False, False
        for i in range(count):
            some |= links[i] >= 0
            least |= links[i] == h
        minimal = (
            np.int64(1) if least or world.facts[BETWEEN] < h else minimal_exists(world.faults, s, t, world.between)
        )
        reach = False
        if world.n <= SEARCHED:
            reach = some or minimal == 1 or shortest(world.faults, s, t, world.n, world.cube) >= 0
        enter(tally, links, h, reach, minimal, at)

    return judge


def judging_own(rules: Sequence[Any], names: Sequence[str], layout: Layout) -> Any:
    """The block ``judge(scratch, s, t, at, tally)`` for rules of one's own in trials whose other rules lanes have counted.

    There some path is free, else the others were not decided.
    """
    walk, enter = walking(rules), entering_rules(layout, names)

    @block(always=True)
    def judge(scratch, s, t, at, tally):
        world, words, links = scratch
        look(world, s, t)
        walk(world, words, s, t, links)
        enter(tally, links, popcount(s ^ t), world.n <= SEARCHED, at)

    return judge


def trials_of(rules: Sequence[Any], names: Sequence[str], layout: Layout) -> Any:
    """The block ``trial(key, t, params, scratch, tally)`` of a table of rules."""
    judge = judging(rules, names, layout)

    @block
    def trial(key, t, params, scratch, tally):
        world = scratch.world
        draw(key, t, world.n, world.faults)
        unsafe_subcubes(world.faults)
        forget_safety_status(scratch.words, world.faults)
        world.now[KEY] = key
        world.now[TRIAL] = np.uint64(t)
        judge(scratch, world.faults.ends[0], world.faults.ends[1], t, tally)

    return trial


def kernel_of(rules: Sequence[Any], names: Sequence[str], code: Any = None) -> Kernel:
    """The kernel of a table of rules at (n, f, links) = params; see :func:`layout.tally`."""
    return trials_kernel(set_up, trials_of(rules, names, tally(names)), code=code)


def sets_kernel_of(rules: Sequence[Any], names: Sequence[str]) -> Kernel:
    """The kernel of all C(2^n - 1, f) fault sets that spare node 0, and from there every destination, at (n, f, 0, 0, 1, ...,
    f - 1) = params.
    """
    judge = judging(rules, names, tally(names))

    @block
    def trial_of_set(key, t, params, scratch, tally):
        world = scratch.world
        next_spared(world.n, params[3:], world.faults)
        unsafe_subcubes(world.faults)
        forget_safety_status(scratch.words, world.faults)
        for x in range(1, 1 << world.n):
            if not is_faulty(world.faults, np.uint64(x)):
                judge(scratch, ZERO, np.uint64(x), t, tally)

    return trials_kernel(set_up, trial_of_set)


#: Study ``rivals``: trials at (n, f, links) = params; see :data:`fastcube.kernels.unicast.layout.RIVALS`.
RIVALS_SINGLE = kernel_of(tuple(RULES.values()), NAMES)
