"""Trials of ``survival-domains``, 512 at a time: domains fail as one, and as many nodes fail one by one.

A *domain* is a board, whose nodes fail together, or a switch, whose links do.  Lanes, rows and verdicts are those of ``lanes``
and ``sweeps``.  Row g of ``works`` has the lanes in which domain g works.  It is removed from the rows of a board's nodes, and
stands for each link of a switch.  Single failures are those of ``survival`` with the same key, and failed domains come from words
of their own.  On the other side of the comparison a trial has as many failed nodes as with its domains: the first labels of the
same sequence, so that trial t is trial t of ``survival`` with that many.  These labels take most of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.tables import make_tabulate, named_slots, named_step
from ..draws import philox
from ..draws.lanes import valid_lanes
from ..machine import simd
from ..machine.array_types import I64, Words
from ..machine.bits import ALL_BITS, LOW32, ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import name_variant
from . import drawing
from .lanes import GroupSample, decide_pairs, make_verdict_counter
from .layout import SURVIVAL_DOMAINS
from .sweeps import fill_verdict, prepare_numbered

_3, _32 = np.uint64(3), np.uint64(32)


class DomainsPoint(NamedTuple):
    """The axes of the study, in their order."""

    network: I64  #: index of the network (``cube/tables.py``)
    n: I64
    faults: I64  #: number of nodes that fail one by one
    domain: I64  #: index of the kind of domain in ``dispatch.DOMAINS``
    domains: I64  #: number of failed domains


@block
def board_of(kind, v, n):
    """Return the board of a node: boards of kind 0, 1, ... are aligned blocks of 2, 4, ... nodes."""
    return v >> (kind + 1)


def wrap_user_domain(domain: Any) -> Any:
    """Return a user's function of a node's domain, compiled or not, as a block with an unused parameter ``kind``."""
    own = domain if hasattr(domain, "py_func") else block(domain)

    @block
    def call_user_domain(kind, v, n):
        return np.int64(own(np.int64(v), np.int64(n)))

    return call_user_domain


def user_domain_kernel(domain: Any) -> Kernel:
    """Return the kernel that lists the domains of all nodes: a user's function as all counting kernels compile it."""
    name, cache = name_variant(domain)
    domain_of = wrap_user_domain(domain)

    @kernel("int64[::1](int64)", variant=name, cache=cache, code=getattr(domain, "py_func", domain))
    def list_domains(n):
        """Return the domain of each node, unchecked."""
        out = np.empty(1 << n, np.int64)
        for v in range(1 << n):
            out[v] = domain_of(np.int64(0), v, n)
        return out

    return list_domains


@scratch
def number_boards(kind, n, domain_of):
    """Return the number of each node's domain, a column, and the number of domains, in the order of their values."""
    nodes = np.int64(1) << n
    numbers = np.empty((nodes, 1), np.int32)
    place = np.zeros(nodes, np.int32)
    for v in range(nodes):
        numbers[v, 0] = domain_of(kind, np.int64(v), n)
        place[numbers[v, 0]] = 1
    domain_count = np.int64(0)
    for value in range(nodes):
        domain_count += place[value]
        place[value] = domain_count - 1
    for v in range(nodes):
        numbers[v, 0] = place[numbers[v, 0]]
    return numbers, domain_count


@scratch
def number_switches(n, table):
    """Return the number of the switch of each node and slot in a HyperX network, and the number of switches.

    A row of the network, all nodes that differ in digit i only, has one switch.  Switches are numbered in the order of (i, v) by
    the node v of the row whose digit i is 0.
    """
    nodes, slots = table.shape
    bits = np.int64(1)  # of a digit, which has 2^bits - 1 slots
    while slots * bits > n * ((1 << bits) - 1):
        bits += 1
    others = (np.int64(1) << bits) - 1
    numbers = np.empty((nodes, slots), np.int32)
    for v in range(nodes):
        for d in range(slots):
            low = bits * (d // others)
            row = (v & ((1 << low) - 1)) | (v >> (low + bits)) << low
            numbers[v, d] = (d // others << (n - bits)) + row
    return numbers, n // bits << (n - bits)


class DomainDraws(NamedTuple):
    """Scratch memory to sample failed domains; made by ``domain_draws_for``."""

    numbers: Words  #: numbers of eight trials' domains, 8 per position
    sampled: I64  #: number of distinct domains sampled: those that fail, or those that work if these are fewer
    ready: I64  #: number of positions that are sampled in lanes: enough for nearly all trials


@scratch
def domain_draws_for(domain_count, count):
    """Return scratch memory for ``count`` failed domains of ``domain_count``."""
    sampled = min(count, domain_count - count)
    ready = (sampled + sampled * sampled // domain_count + 5) & ~np.int64(3)
    return DomainDraws(np.empty(8 * ready, np.uint64), sampled, ready)


@block
def _number_domain(key, t, k, domain_count):
    """Return the domain at position k of trial t's sequence of D domains; D, which is ``domain_count``, if it is skipped.

    It is ``floor(half D / 2^32)`` of half k mod 2, low half first, of word k div 2 of block t for DOMAINS, and is skipped if
    ``half D mod 2^32 < 2^32 mod D`` (Lemire 2019).
    """
    word = philox.random_word(key, t, np.uint64(k >> 1), philox.DOMAINS)
    product = (word >> _32 if k & 1 else word & LOW32) * np.uint64(domain_count)
    return product >> _32 if product & LOW32 >= (LOW32 + ONE) % np.uint64(domain_count) else np.uint64(domain_count)


@block(always=True)
def _store_numbers(fields, domain_count, numbers, at):
    """Write the domains of eight fields of 32 bits, ``domain_count`` for skipped ones."""
    product = simd.mul32(fields, simd.splat(np.uint64(domain_count)))
    kept = simd.splat((LOW32 + ONE) % np.uint64(domain_count)) <= (product & simd.splat(LOW32))
    simd.store(numbers, at, simd.select(kept, product >> simd.splat(_32), simd.splat(np.uint64(domain_count))))


@block
def draw_domains(key, group, domain_count, count, rows, draws):
    """Write the domains that work in 512 trials to one row per domain; ``count`` distinct ones of ``domain_count`` fail.

    The first distinct domains of a trial's sequence fail or, if more than half of all fail, work.  Row ``domain_count`` is as if
    each trial had sampled it, so that skipped positions add nothing.
    """
    ground = ALL_BITS if draws.sampled == count else ZERO
    for g in range(domain_count):
        simd.store(rows, 8 * g, simd.splat(ground))
    simd.store(rows, 8 * domain_count, simd.splat(~ground))
    for first in range(0, drawing.GROUP_TRIALS, 8):
        prepared = philox.prepare_lanes(key, np.uint64(group + first), philox.DOMAINS)
        for at in range(0, draws.ready, 4):
            even, odd = philox.word_lanes(key, prepared, np.uint64(at >> 2))
            low, high = simd.splat(LOW32), simd.splat(_32)
            _store_numbers(even & low, domain_count, draws.numbers, 8 * at)
            _store_numbers(even >> high, domain_count, draws.numbers, 8 * at + 8)
            _store_numbers(odd & low, domain_count, draws.numbers, 8 * at + 16)
            _store_numbers(odd >> high, domain_count, draws.numbers, 8 * at + 24)
        for i in range(8):
            word, bit = np.uint64((first + i) >> 6), ONE << np.uint64((first + i) & 63)
            distinct, k = np.int64(0), np.int64(0)
            while k < draws.sampled:  # as if all domains were distinct
                distinct += drawing.flip_bit(rows, (draws.numbers[8 * k + i] << _3) + word, bit, ground)
                k += 1
            while distinct < draws.sampled:
                is_ready = k < draws.ready
                g = draws.numbers[8 * k + i] if is_ready else _number_domain(key, group + first + i, k, domain_count)
                distinct += drawing.flip_bit(rows, (g << _3) + word, bit, ground)
                k += 1


@scratch
def find_board_size(numbers, domain_count):
    """Return the number of nodes of each domain, 0 if they differ."""
    sizes = np.zeros(domain_count, np.int64)
    for v in range(numbers.shape[0]):
        sizes[numbers[v, 0]] += 1
    return sizes[0] if sizes.min() == sizes.max() else np.int64(0)


@block
def _fail_boards(alive, works, numbers, size, planes):
    """Remove the nodes of failed boards from ``alive``, and count nodes per lane in binary digits, the rows of ``planes``.

    If all boards have one ``size``, the nodes of failed boards that had failed before are counted, else (``size`` 0) the nodes
    that fail only now.  Returns the number of digits.
    """
    used = np.int64(0)
    for v in range(numbers.shape[0]):
        board, before = simd.load(works, 8 * np.int64(numbers[v, 0])), simd.load(alive, 8 * v)
        simd.store(alive, 8 * v, before & board)
        carry = ~(before | board) if size else before & ~board
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
def _count_faulty_nodes(expected, sign, planes, used, counts):
    """Write ``expected`` plus or minus the number in the first digits of ``planes`` for each lane."""
    for i in range(drawing.GROUP_TRIALS):
        total = ZERO
        for p in range(used):
            total |= (planes[8 * p + (i >> 6)] >> np.uint64(i & 63) & ONE) << np.uint64(p)
        counts[i] = expected + sign * np.int64(total)


_count_verdicts = make_verdict_counter(SURVIVAL_DOMAINS, "single")


def domains_kernel(step: Any, slots: Any, domain_of: Any, *, switches: bool, variant: str, **cached: Any) -> Kernel:
    """Return the kernel for the networks of a block ``step(index, v, d, n)`` and the domains of ``domain_of(kind, v, n)``.

    ``params`` is a :class:`DomainsPoint`.  With ``switches`` the domains are the switches of a HyperX network.
    """
    tabulate = make_tabulate(step)

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def survival_domains(key, first, stop, params, tally):
        """Count trials with failed domains, ``own``, and with as many single failures, ``single``."""
        point = DomainsPoint(
            np.int64(params[0]), np.int64(params[1]), np.int64(params[2]), np.int64(params[3]), np.int64(params[4])
        )
        n, f, none = point.n, point.faults, drawing.empty_row_index(point.n)
        nodes = np.int64(1) << n
        table = np.empty((nodes, slots(point.network, n)), np.int32)
        tabulate(point.network, n, table)
        unnumbered = np.empty((0, 0), np.int32)
        numbers, domain_count = number_switches(n, table) if switches else number_boards(point.domain, n, domain_of)
        own = prepare_numbered(table, n, numbers if switches else unnumbered, domain_count if switches else np.int64(0))
        single = prepare_numbered(table, n, unnumbered, np.int64(0))
        size = np.int64(0) if switches else find_board_size(numbers, domain_count)
        expected, sign = (f + point.domains * size, np.int64(-1)) if size else (f, np.int64(1))
        workspace, places = drawing.drawing_workspace_for(n, nodes >> 1), np.empty(drawing.GROUP_TRIALS, np.uint64)
        works, draws = drawing.rows_for(domain_count + 1), domain_draws_for(domain_count, point.domains)
        alive = drawing.rows_for(none + 1)
        single_alive = alive if switches else drawing.rows_for(none + 1)
        alive[8 * none :] = 0
        single_alive[8 * none :] = 0
        planes, counts = drawing.rows_for(n + 1), np.empty(drawing.GROUP_TRIALS, np.int64)
        valid, lanes = np.empty(8, np.uint64), np.empty(drawing.GROUP_TRIALS + 8, np.uint64)
        eight = np.empty(24, np.uint64)
        sample = GroupSample(alive, works, valid, lanes, eight)
        single_sample = GroupSample(single_alive, works, valid, lanes, eight)
        for group in range(first - first % drawing.GROUP_TRIALS, stop, drawing.GROUP_TRIALS):
            drawing.draw_nodes(key, group, n, f, alive, workspace)
            for i in range(places.size):
                places[i] = workspace.place[i]
            draw_domains(key, group, domain_count, point.domains, works, draws)
            if not switches:
                used = _fail_boards(alive, works, numbers, size, planes)
                _count_faulty_nodes(expected, sign, planes, used, counts)
                drawing.draw_more_nodes(key, group, n, f, counts, single_alive, workspace)
            fill_verdict(alive, works, switches, own)
            fill_verdict(single_alive, works, False, single)
            for word in range(8):
                valid[word] = valid_lanes(group + 64 * word, 1, 64, first, stop)
            # a pair for each side, because the two differ in their nonfaulty nodes
            decide_pairs(key, group, n, False, places, sample, switches, own, own, True)
            decide_pairs(key, group, n, False, workspace.place, single_sample, False, single, single, True)
            _count_verdicts(valid, own, single, True, tally)

    return survival_domains


SURVIVAL_BOARDS = domains_kernel(named_step, named_slots, board_of, switches=False, variant="boards")
SURVIVAL_SWITCHES = domains_kernel(named_step, named_slots, board_of, switches=True, variant="switches")
