"""Operations on 64-bit words: counting, finding and extracting bits.

Masks and shift counts are ``uint64``, counts and indices of bits are ``int64``.  The two are combined only after a cast, because
in Numba ``uint64 + 1`` is an ``int64``.  ``lowest`` and ``highest`` return the index of a bit, ``highest_bit`` a mask.

An ``operation`` (``vectors.py``) has three forms: its body, which runs without compilation, a function from the types of the
arguments to the type of the result, and a function ``(b, t, *values)`` that appends LLVM instructions with the builder ``b`` for
``values`` of the Numba types ``t`` and returns the result.  Here ``x`` and ``m`` are LLVM values of 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .jit import block
from .target import FEATURES
from .vectors import call_llvm, operation

ONE = np.uint64(1)
ZERO = np.uint64(0)
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW32 = np.uint64(0xFFFFFFFF)
HALF_WORD_BITS = np.uint64(32)  #: shift from one half of a word to the other

#: 2^64 divided by the golden ratio, odd: spreads words that differ in few bits.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

#: Bit v of ``CLEAR_BIT_MASKS[k]`` is set when bit k of v is clear: the lower half of each dimension inside a 64-node word.
CLEAR_BIT_MASKS = np.array(
    [
        0x5555555555555555,
        0x3333333333333333,
        0x0F0F0F0F0F0F0F0F,
        0x00FF00FF00FF00FF,
        0x0000FFFF0000FFFF,
        0x00000000FFFFFFFF,
    ],
    dtype=np.uint64,
)


def _word_type(*args: Any) -> Any:
    return types.uint64 if all(a == types.uint64 for a in args) else None


def _count_type(*args: Any) -> Any:
    return types.int64 if all(a == types.uint64 for a in args) else None


@operation(_count_type, lambda b, t, x: call_llvm(b, "llvm.ctpop.i64", x.type, x))
def popcount(x: Any) -> Any:
    """Return the number of set bits, as an int64."""
    return np.int64(int(x).bit_count())


@operation(_count_type, lambda b, t, x: call_llvm(b, "llvm.cttz.i64", x.type, x, ir.IntType(1)(0)))
def lowest(x: Any) -> Any:
    """Return the index of the lowest set bit, as an int64; 64 for zero."""
    return np.int64((int(x) & -int(x)).bit_length() - 1 if x else 64)


@operation(
    _count_type, lambda b, t, x: b.sub(ir.IntType(64)(63), call_llvm(b, "llvm.ctlz.i64", x.type, x, ir.IntType(1)(0)))
)
def highest(x: Any) -> Any:
    """Return the index of the highest set bit, as an int64; -1 for zero."""
    return np.int64(int(x).bit_length() - 1)


@operation(
    _word_type,
    lambda b, t, x: b.lshr(ir.Constant(x.type, 1 << 63), call_llvm(b, "llvm.ctlz.i64", x.type, x, ir.IntType(1)(1))),
)
def highest_bit(x: Any) -> Any:
    """Return ``x``, which must not be 0, with all bits but the highest set bit cleared."""
    return np.uint64(1 << (int(x).bit_length() - 1))


def extract_bits(x, m):
    """Return the bits of ``x`` at the set positions of ``m``, moved together to the low end."""
    out, bit = ZERO, ONE
    while m:
        if x & m & (~m + ONE):
            out |= bit
        m &= m - ONE
        bit <<= ONE
    return out


def _emit_extract(b: Any, t: Any, x: Any, m: Any) -> Any:
    return call_llvm(b, "llvm.x86.bmi.pext.64", x.type, x, m)


#: ``extract_bits`` in one instruction where the CPU has it (``pext``).
extract = operation(_word_type, _emit_extract)(extract_bits) if "bmi2" in FEATURES else block(extract_bits)


@block
def first_lanes(count, lanes=8):
    """Return an integer with one bit for each of the first ``count`` of ``lanes`` <= 64 lanes (all if ``count`` is larger)."""
    return ALL_BITS >> np.uint64(64 - (count if count < lanes else lanes)) if count > 0 else ZERO
