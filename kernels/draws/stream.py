"""Random numbers for users' rules and trials, and the statuses of links: each can be computed alone, in any order.

A *random word* is 64 random bits, which ``philox.random_word(key, t, i, purpose)`` computes.  ``key`` is the key of a point, t is
the trial and i counts a trial's words.  Different *purposes*, such as UNIFORMS and BELOW, never share words.  fastcube uses
purposes below 2^31, so users may use those from 2^31 up.  ``philox`` and ``docs/random.md`` call word i of trial t "word i of
block t", which has nothing to do with ``@block``: this declares a function that kernels call.

A link's *status* is a hash by which the link is faulty or not, as for nodes (``statuses``).  ``docs/random.md`` describes each
function in NumPy.
"""

from __future__ import annotations

import numpy as np

from ..machine.bits import ZERO, lowest
from ..machine.jit import block
from . import philox
from .statuses import status

_11 = np.uint64(11)
_6 = np.uint64(6)
_2_53 = 1.0 / 9007199254740992.0  # 2^-53
#: Difference in purpose between two attempts of :func:`random_below`.
_NEXT = np.uint64(256)


@block
def uniform(key, t, i):
    """Return number ``i`` of trial ``t``, uniform on [0, 1): a float64, a multiple of 2^-53.

    It is the high 53 bits of word ``i`` of trial ``t`` for UNIFORMS.  ``key`` is a uint64; ``t`` and ``i`` are nonnegative int64,
    ``i`` below 2^33.  Not checked.  About 20 ns.
    """
    return np.float64(philox.random_word(key, t, i, philox.UNIFORMS) >> _11) * _2_53


@block
def random_below(key, t, i, m):
    """Return integer ``i`` of trial ``t``, exactly uniform on 0 .. m - 1: an int64, for an int64 ``m`` >= 1.

    It is word ``i`` of trial ``t`` for BELOW modulo ``m``, if the word is at least 2^64 mod m: with smaller words some results
    would be likelier.  Instead of such a word, the word for the purpose 256 above is tried, and so on.  Arguments as of
    :func:`uniform`.  Numbers with one ``i`` and different ``m`` may share a word, so use each ``i`` for one choice only.  Not
    checked.  About 30 ns.
    """
    size = np.uint64(m)
    least = (ZERO - size) % size  # 2^64 mod m
    purpose = philox.BELOW
    x = philox.random_word(key, t, i, purpose)
    while x < least:
        purpose += _NEXT
        x = philox.random_word(key, t, i, purpose)
    return np.int64(x % size)


@block
def link_status_key(key, t):
    """Return the key of trial ``t``'s link statuses, a uint64: word 0 of trial ``t`` for LINK_STATUS_KEYS.

    The key differs from that of the node statuses, under which the link of node x in dimension d would have the status of node
    64 x + d.
    """
    return philox.random_word(key, t, ZERO, philox.LINK_STATUS_KEYS)


@block
def link_status(key, x, bit):
    """Return the status of the link of node ``x`` across ``bit``: uniform on [0, 2^64), faulty iff below the threshold.

    It is the :func:`~fastcube.kernels.draws.statuses.status` of 64 times the end without the bit, plus the bit's number, so both
    ends give the same status.  ``x`` and ``bit`` (one bit of the cube's) are integers; n <= 58, because above that links share
    numbers.
    """
    one = np.uint64(bit)
    return status(key, ((np.uint64(x) & ~one) << _6) + np.uint64(lowest(one)))
