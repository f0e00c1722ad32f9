"""Sample the failed domains of 512 trials at a time (N13), from random words of their own.

A *domain* is a set of nodes, or of the links at a switch, that fails as one.  ``group`` is the first of the 512 trials.  Rows are
those of ``drawing``: bit t of row g is set if domain g works in trial ``group`` + t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws import philox
from ..machine import simd
from ..machine.array_types import I64, Words
from ..machine.bits import ALL_BITS, LOW32, ONE, ZERO
from ..machine.jit import block, scratch
from . import drawing

_3, _32 = np.uint64(3), np.uint64(32)


class DomainDraws(NamedTuple):
    """Scratch memory to sample failed domains; made by ``domain_draws_for``."""

    numbers: Words  #: (ready, 8): the domains of eight trials, at each position of their sequences
    sampled: I64  #: number of distinct domains sampled: those that fail, or those that work if these are fewer
    ready: I64  #: number of positions that are sampled in lanes, a multiple of 4: enough for nearly all trials


@scratch
def domain_draws_for(domain_count, count):
    """Return scratch memory for ``count`` failed domains of ``domain_count``."""
    sampled = min(count, domain_count - count)
    ready = (sampled + sampled * sampled // domain_count + 5) & ~np.int64(3)
    return DomainDraws(np.empty(8 * ready, np.uint64), sampled, ready)


@block
def _draw_domain(key, t, k, domain_count):
    """Return the domain at position k of trial t's sequence of D domains; D, which is ``domain_count``, if it is skipped.

    It is ``floor(half D / 2^32)`` of half k mod 2, low half first, of word k div 2 of block t for DOMAINS, and is skipped if
    ``half D mod 2^32 < 2^32 mod D`` (Lemire 2019).
    """
    word = philox.random_word(key, t, np.uint64(k >> 1), philox.DOMAINS)
    product = (word >> _32 if k & 1 else word & LOW32) * np.uint64(domain_count)
    is_kept = product & LOW32 >= (LOW32 + ONE) % np.uint64(domain_count)
    return product >> _32 if is_kept else np.uint64(domain_count)


@block(always=True)
def _store_numbers(fields, domain_count, numbers, at):
    """Write the domains of one position in eight trials, ``domain_count`` for skipped ones, from ``fields`` of 32 bits."""
    product = simd.mul32(fields, simd.splat(np.uint64(domain_count)))
    is_kept = simd.splat((LOW32 + ONE) % np.uint64(domain_count)) <= (product & simd.splat(LOW32))
    simd.store(numbers, at, simd.select(is_kept, product >> simd.splat(_32), simd.splat(np.uint64(domain_count))))


@block
def draw_domains(key, group, domain_count, count, rows, draws):
    """Write the domains that work in the trials of a group to one row per domain; ``count`` of the ``domain_count`` domains fail.

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
            low_half, shift = simd.splat(LOW32), simd.splat(_32)
            _store_numbers(even & low_half, domain_count, draws.numbers, 8 * at)
            _store_numbers(even >> shift, domain_count, draws.numbers, 8 * at + 8)
            _store_numbers(odd & low_half, domain_count, draws.numbers, 8 * at + 16)
            _store_numbers(odd >> shift, domain_count, draws.numbers, 8 * at + 24)
        for i in range(8):
            word, bit = np.uint64((first + i) >> 6), ONE << np.uint64((first + i) & 63)
            distinct, k = np.int64(0), np.int64(0)
            while k < draws.sampled:  # the fewest positions that can suffice, so no test is needed among them
                distinct += drawing.flip_bit(rows, (draws.numbers[8 * k + i] << _3) + word, bit, ground)
                k += 1
            while distinct < draws.sampled:
                is_ready = k < draws.ready
                g = draws.numbers[8 * k + i] if is_ready else _draw_domain(key, group + first + i, k, domain_count)
                distinct += drawing.flip_bit(rows, (g << _3) + word, bit, ground)
                k += 1
