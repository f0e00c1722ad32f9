"""Fault sets as a pure function of (key, trial): distinct nodes, distinct links, and lazy node statuses.

Every sampler reads words of :mod:`philox` by their place, so trial ``t`` can be drawn alone; the lane kernels
read the same words many trials at a time and must agree with these functions bit for bit.
``docs/random.md`` restates the laws and regenerates a fault set in plain NumPy.
"""

from __future__ import annotations

import numpy as np

from . import philox
from .jit import inline

_ONE = np.uint64(1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_TWO64 = 18446744073709551616.0


# ---------------------------------------------------------------- lazy faults


@inline
def status_key(key, t):
    """Key of trial ``t``'s lazy statuses, a uint64: word 0 of block ``t`` for STATUS_KEYS (arguments uint64)."""
    return philox.word(key, t, np.uint64(0), philox.STATUS_KEYS)


@inline
def status(key, label):
    """Status of one label under a trial's status key: uniform on [0, 2^64), faulty iff below the threshold.

    The finaliser of SplitMix64 (Steele, Lea & Flood 2014; Stafford's variant 13) applied to
    ``key + label * 0x9E3779B97F4A7C15 mod 2^64``.  Neighbouring labels differ in one bit, so the label is spread by a
    multiplication before it is mixed: ``label ^ key`` instead leaves neighbours visibly dependent.  About 5 ns when
    each look-up depends on the last, 0.3 ns in lanes.
    """
    z = key + label * _GOLDEN
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@inline
def threshold(rate):
    """Threshold of a fault rate, ``floor(rate * 2^64)`` as a uint64, for a float64 rate in [0, 1)."""
    return np.uint64(rate * _TWO64)
