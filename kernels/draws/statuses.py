"""Node statuses: random numbers that say which nodes are faulty at a fault rate, each computed alone when it is looked up.

A node's *status* is a hash of its label and of the trial's *status key*, so a trial needs no memory, however large the cube is.
The node is faulty if its status is below the *threshold* of the fault rate, so a larger rate only adds faults.
``docs/random.md`` repeats a status in plain NumPy.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import GOLDEN
from ..machine.jit import block
from . import philox

# Multipliers and shifts of the hash, see ``status``.
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_TWO64 = 18446744073709551616.0


@block
def status_key(key, t):
    """Return the key of trial ``t``'s node statuses, a uint64: ``philox``'s random word 0 of block ``t`` for STATUS_KEYS."""
    return philox.random_word(key, t, np.uint64(0), philox.STATUS_KEYS)


@block
def status(key, label):
    """Return the status of a node under a trial's status key: uniform on [0, 2^64), faulty iff below the threshold.

    It is the finaliser of SplitMix64 (Steele, Lea & Flood 2014; Stafford's variant 13) applied to
    ``key + label * 0x9E3779B97F4A7C15 mod 2^64``.  Labels of neighbours differ in one bit, so the label is multiplied before it
    is mixed; ``label ^ key`` would leave neighbours visibly dependent.  About 5 ns if each look-up depends on the last, 0.3 ns in
    lanes (one core of an AMD EPYC, Zen 4).
    """
    z = np.uint64(key) + np.uint64(label) * GOLDEN  # an int64 label would give a float64, or arithmetic shifts
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@block
def status_lanes(keys, labels):
    """Return ``status`` of eight (key, label) pairs, as vectors of uint64."""
    z = keys + (labels * simd.splat(GOLDEN))
    z = (z ^ (z >> simd.splat(_30))) * simd.splat(_MIX1)
    z = (z ^ (z >> simd.splat(_27))) * simd.splat(_MIX2)
    return z ^ (z >> simd.splat(_31))


@block
def threshold(rate):
    """Return the threshold of a fault rate, ``floor(rate * 2^64)`` as a uint64, for a float64 rate in [0, 1)."""
    return np.uint64(rate * _TWO64)
