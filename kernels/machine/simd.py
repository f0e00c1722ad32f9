"""Vectors of 512 bits as values: the few operations that lane kernels need, each with an equivalent in NumPy.

A *lane* is one number of a vector.  A lane kernel computes many trials at once, mostly one per lane.

Vectors and masks have NumPy's operators:

    ==============  ====================================================  =================================
    operator        meaning, lane by lane                                 instruction (x86, 512 bits)
    ==============  ====================================================  =================================
    x ^ y           exclusive or                                          vpxorq
    x & y, m & k    and, of vectors and of masks                          vpandq, kandq
    x | y, m | k    or, of vectors and of masks                           vporq, korq
    ~x, ~m          complement; ``x & ~y`` is one instruction             vpandnq, kandnq, part of vpternlogq
    x + y, x - y    sum, difference modulo 2 to the lane width            vpadd, vpsub
    x * y           product modulo 2 to the lane width                    vpmull
    x << y, x >> y  shift of each lane by its own count, below the width  vpsllv, vpsrlv
    x <= y          mask of lanes, unsigned                               vpcmpleu
    x == y, x != y  mask of lanes                                         vpcmpeq, vpcmpneq
    ==============  ====================================================  =================================

An integer literal stands for all lanes: ``x <= 2``, ``(d & (d - 1)) == 0``.  Write ``splat_like`` for a variable, because NumPy
widens narrow lanes when they are combined with a ``np.int64``, and compiled code would differ from plain Python.

A vector has 64 lanes of ``uint8``, 32 of ``uint16``, 16 of ``uint32`` or 8 of ``uint64``; a mask has a truth value per lane.
Kernels use them as local variables; ``load`` and ``store`` move them from and to contiguous arrays.  ``join`` makes four vectors
one.

The body of each operation defines it in NumPy, on arrays with one item per lane, and runs when ``NUMBA_DISABLE_JIT`` is set.
Only the values that docstrings leave open may differ in compiled code: those of ``closeness``, of the items that
``store_compressed`` does not fill, and of ``splat_like`` for negative values of narrow types.

``@operation`` (``vectors.py``) adds two functions.  The first maps the types of the arguments to the type of the result, or to
None if the operation does not take them.  The second, ``(b, t, *values)``, appends LLVM instructions with the builder ``b`` and
returns the result.  ``values`` are the operation's arguments in their order, an array as the address of its first item, and
``t`` are their Numba types: ``t[0]`` is that of the first argument.  A ``Vector`` has ``bits`` (of a lane) and ``lanes``.

LLVM splits vectors on machines with narrower registers.  Where its form of an operation would be long, the operation is written
for the target:

    ==========================  =============================  ===================================  ===========================
    operation                   AVX-512                        AVX2; SSSE3                          NEON
    ==========================  =============================  ===================================  ===========================
    store_compressed            vpcompress; for 8 and 16 bits  a table of orders for vpermd,        a table of orders for tbl
                                without VBMI2 as AVX2          pshufb for 8 and 16 bits; pshufb
    top_bit, 16 to 64 bits      vplzcnt                        smearing the top bit                 clz, for 64 bits smearing
    one_hot, 16 bits            vpsllvw                        pshufb looks up both bytes           ushl
    mask                        kmov                           LLVM's                               each lane tests its bit
    majority, bit_or3           vpternlog                      and, or                              and, orr
    ==========================  =============================  ===================================  ===========================

Loops that LLVM vectorises would not do: integer promotion makes Numba widen narrow lanes, loops over arrays that might overlap
stay scalar, and compaction cannot be written as a loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from .target import FEATURES
from .vectors import (
    BITS,
    Mask,
    Vector,
    address_type,
    call_llvm,
    choose_lanes,
    intrinsic_suffix,
    llvm_type,
    make_mask,
    operation,
    same_type,
)

#: Lane widths for which the target counts leading zeros in a few instructions; LLVM's other forms take twice as long as smearing.
_COUNTS_LEADING_ZEROS = {8, 16, 32, 64} if "avx512cd" in FEATURES else {8, 16, 32} if "neon" in FEATURES else {8}

#: With SSSE3: the instruction that looks up each byte of a register in a table of 16, and the register's bytes.
_BYTE_LOOKUP = ("llvm.x86.avx2.pshuf.b", 32) if "avx2" in FEATURES else ("llvm.x86.ssse3.pshuf.b.128", 16)


def _emit_not(b: Any, x: Any) -> Any:
    return b.xor(x, ir.Constant(x.type, [-1] * x.type.count))


# ---------------------------------------------------------------- memory


def _address(b: Any, array: Any, offset: Any, vector: Any) -> Any:
    return b.bitcast(b.gep(array, [offset]), llvm_type(vector).as_pointer())


def _array_vector_type(array: Any) -> Any:
    if isinstance(array, (types.Array, types.CPointer)) and _unsigned(array.dtype):
        return Vector(array.dtype.bitwidth)
    return None


@operation(
    lambda arrays: address_type(arrays) if isinstance(arrays, types.BaseNamedTuple) else None,
    lambda b, t, arrays: arrays,
)
def take_addresses(arrays: Any) -> Any:
    """Return a NamedTuple with addresses in place of its arrays: a call then passes 1 number per array, not 7.

    Indexing and the operations of this module accept addresses.  Use it only for a few arrays that pass through many calls which
    are not inlined.  The walks in a dual-cube's trees and the record of their queries are the only users, 5 and 15% faster with
    it.  An address keeps nothing alive, so take it of an argument of the function that uses it, which the caller keeps.
    """
    return arrays


def _emit_load(b: Any, t: Any, array: Any, offset: Any) -> Any:
    out = b.load(_address(b, array, offset, _array_vector_type(t[0])))
    out.align = 1
    return out


@operation(lambda array, offset: _array_vector_type(array), _emit_load)
def load(array: Any, offset: Any) -> Any:
    """Return the lanes ``array[offset : offset + lanes]`` of a contiguous one-dimensional unsigned array; no bounds check."""
    return array[int(offset) : int(offset) + BITS // (8 * array.itemsize)].copy()


def _emit_wide_load(b: Any, t: Any, array: Any, offset: Any) -> Any:
    kind = ir.VectorType(ir.IntType(t[0].dtype.bitwidth), 8)
    out = b.load(b.bitcast(b.gep(array, [offset]), kind.as_pointer()))
    out.align = 1
    return out if t[0].dtype.bitwidth == 64 else b.zext(out, ir.VectorType(ir.IntType(64), 8))


@operation(lambda array, offset: Vector(64) if _array_vector_type(array) else None, _emit_wide_load)
def load_wide(array: Any, offset: Any) -> Any:
    """Return ``array[offset : offset + 8]`` of a contiguous one-dimensional unsigned array in 64-bit lanes; no bounds check."""
    return array[int(offset) : int(offset) + 8].astype(np.uint64)


def _emit_store(b: Any, t: Any, array: Any, offset: Any, vector: Any) -> None:
    b.store(vector, _address(b, array, offset, t[2])).align = 1


@operation(lambda array, offset, vector: types.void if _array_vector_type(array) == vector else None, _emit_store)
def store(array: Any, offset: Any, vector: Any) -> None:
    """Write all lanes to ``array[offset : offset + lanes]``; no bounds check."""
    array[int(offset) : int(offset) + vector.size] = vector


def _emit_narrow_store(b: Any, t: Any, array: Any, offset: Any, vector: Any) -> None:
    kind = ir.VectorType(ir.IntType(t[0].dtype.bitwidth), 8)
    vector = vector if t[0].dtype.bitwidth == 64 else b.trunc(vector, kind)
    b.store(vector, b.bitcast(b.gep(array, [offset]), kind.as_pointer())).align = 1


@operation(
    lambda array, offset, vector: types.void if _array_vector_type(array) and vector == Vector(64) else None,
    _emit_narrow_store,
)
def store_narrow(array: Any, offset: Any, vector: Any) -> None:
    """Write the low bits of eight lanes of 64 to ``array[offset : offset + 8]``; no bounds check."""
    array[int(offset) : int(offset) + 8] = vector.astype(array.dtype)


def _emit_gather(b: Any, t: Any, array: Any, where: Any) -> Any:
    places = b.add(
        _splat_value(b, where.type, b.ptrtoint(array, ir.IntType(64))), b.shl(where, ir.Constant(where.type, [3] * 8))
    )
    places = b.inttoptr(places, ir.VectorType(ir.IntType(64).as_pointer(), 8))
    every = ir.Constant(ir.VectorType(ir.IntType(1), 8), [1] * 8)
    fallback = ir.Constant(where.type, ir.Undefined)
    return call_llvm(b, "llvm.masked.gather.v8i64.v8p0", where.type, places, ir.IntType(32)(8), every, fallback)


@operation(
    lambda array, where: where if _array_vector_type(array) == where == Vector(64) else None,
    _emit_gather,
)
def gather(array: Any, where: Any) -> Any:
    """Return ``array[where[i]]`` in lane i, for a contiguous one-dimensional ``uint64`` array; no bounds check."""
    return array[where.astype(np.int64)]


def _emit_transposed(b: Any, t: Any, source: Any, at: Any, step: Any, out: Any, to: Any) -> None:
    kind, word = llvm_type(Vector(64)), ir.IntType(64)

    def place(array: Any, offset: Any) -> Any:
        return b.bitcast(b.gep(array, [offset]), kind.as_pointer())

    rows = []
    for i in range(8):
        rows.append(b.load(place(source, b.add(at, b.mul(step, word(i))))))
        rows[i].align = 8
    for half in (1, 2, 4):  # Exchange the words of two rows whose row numbers differ in one bit.
        for i in (i for i in range(8) if not i & half):
            low, high = rows[i], rows[i + half]
            for row, from_ in ((i, 0), (i + half, half)):
                index = [(j & ~half) + from_ + (8 if j & half else 0) for j in range(8)]
                rows[row] = b.shuffle_vector(low, high, ir.Constant(ir.VectorType(ir.IntType(32), 8), index))
    for i in range(8):
        b.store(rows[i], place(out, b.add(to, word(8 * i)))).align = 8


@operation(
    lambda source, at, step, out, to: (
        types.void
        if _array_vector_type(source) == _array_vector_type(out) == Vector(64) and at == step == to == types.int64
        else None
    ),
    _emit_transposed,
)
def transpose(source: Any, at: Any, step: Any, out: Any, to: Any) -> None:
    """Write word j of row i, ``source[at + i step + j]``, to ``out[to + 8 j + i]``, i, j = 0 .. 7; no bounds check."""
    rows = [source[at + i * step : at + i * step + 8] for i in range(8)]
    out[to : to + 64] = np.array(rows).T.ravel()


# ---------------------------------------------------------------- making vectors


def _splat_value(b: Any, kind: Any, value: Any) -> Any:
    vector = b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    return b.shuffle_vector(
        vector,
        ir.Constant(kind, ir.Undefined),
        ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count),
    )


def _unsigned(x: Any) -> bool:
    return isinstance(x, types.Integer) and not x.signed


def _emit_splat(b: Any, t: Any, value: Any) -> Any:
    return _splat_value(b, llvm_type(Vector(t[0].bitwidth)), value)


@operation(lambda value: Vector(value.bitwidth) if _unsigned(value) else None, _emit_splat)
def splat(value: Any) -> Any:
    """Return a vector with ``value``, an unsigned scalar, in every lane; a lane is as wide as the scalar."""
    return np.full(BITS // (8 * value.itemsize), value)


def _emit_like(b: Any, t: Any, vector: Any, value: Any) -> Any:
    kind = llvm_type(t[0])
    bits = kind.element.width
    if t[1].bitwidth > bits:
        value = b.trunc(value, kind.element)
    elif t[1].bitwidth < bits:
        value = b.zext(value, kind.element)
    return _splat_value(b, kind, value)


@operation(
    lambda vector, value: vector if isinstance(vector, Vector) and isinstance(value, types.Integer) else None,
    _emit_like,
)
def splat_like(vector: Any, value: Any) -> Any:
    """Return a vector of the type of ``vector`` with the low bits of ``value``, an integer of any width, in every lane.

    A negative value must be of a type at least as wide as a lane, because compiled code extends narrower values by zeros.
    """
    return np.full(vector.size, int(value) & (256**vector.itemsize - 1), vector.dtype)


def _emit_iota(b: Any, t: Any, vector: Any) -> Any:
    return ir.Constant(llvm_type(t[0]), list(range(t[0].lanes)))


@operation(same_type, _emit_iota)
def iota(vector: Any) -> Any:
    """Return a vector of the type of ``vector`` with 0, 1, 2, ... in its lanes."""
    return np.arange(vector.size, dtype=vector.dtype)


@operation(
    lambda vector: types.int64 if isinstance(vector, Vector) else None, lambda b, t, vector: ir.IntType(64)(t[0].lanes)
)
def lanes_of(vector: Any) -> Any:
    """Return the number of lanes of a vector, as an int64; a constant in the machine code."""
    return np.int64(vector.size)


# ---------------------------------------------------------------- arithmetic, lane by lane


def _emit_high(b: Any, t: Any, x: Any, y: Any) -> Any:
    wide = ir.VectorType(ir.IntType(2 * t[0].bits), t[0].lanes)
    by = ir.Constant(wide, [t[0].bits] * t[0].lanes)
    return b.trunc(b.lshr(b.mul(b.zext(x, wide), b.zext(y, wide)), by), x.type)


@operation(lambda x, y: same_type(x, y) if getattr(x, "bits", 64) < 64 else None, _emit_high)
def mul_high(x: Any, y: Any) -> Any:
    """Return the upper half of the product of each pair of lanes of 8, 16 or 32 bits (one instruction on x86 for 16 bits)."""
    return ((x.astype(np.uint64) * y.astype(np.uint64)) >> np.uint64(8 * x.itemsize)).astype(x.dtype)


def _emit_wide(b: Any, t: Any, x: Any, y: Any) -> Any:
    low = ir.Constant(x.type, [0xFFFFFFFF] * x.type.count)
    return b.mul(b.and_(x, low), b.and_(y, low))


@operation(same_type, _emit_wide)
def mul32(x: Any, y: Any) -> Any:
    """Return the exact products of the low 32 bits of each pair of 64-bit lanes (one instruction on x86)."""
    return (x & np.uint64(0xFFFFFFFF)) * (y & np.uint64(0xFFFFFFFF))


def _emit_one_hot(b: Any, t: Any, x: Any) -> Any:
    def every(c: int) -> Any:
        return ir.Constant(x.type, [c] * x.type.count)

    if t[0].bits == 16 and "ssse3" in FEATURES and "avx512bw" not in FEATURES:
        # Look up both bytes: of x for the low byte, of x ^ 8 for the high byte.  Adding 0x70 = 128 - 16 sets bit 7 from 16 on,
        # which gives 0, and leaves the low four bits, by which smaller numbers are looked up.
        x = call_llvm(b, f"llvm.umin.{intrinsic_suffix(t[0])}", x.type, x, every(16))
        index = b.add(b.xor(b.mul(x, every(0x0101)), every(0x0800)), every(0x7070))
        return _look_up_bytes(b, [1 << i for i in range(8)] + [0] * 8, index)
    return b.select(b.icmp_unsigned("<", x, every(t[0].bits)), b.shl(every(1), x), every(0))


def _look_up_bytes(b: Any, table: list[int], index: Any) -> Any:
    """Return the byte ``table[i & 15]`` for each byte i of a vector, and 0 where bit 7 of i is set."""
    name, count = _BYTE_LOOKUP
    kind = ir.VectorType(ir.IntType(8), count)
    known = ir.Constant(kind, table * (count // 16))
    index_bytes = b.bitcast(index, llvm_type(Vector(8)))
    parts = [
        call_llvm(b, name, kind, known, _take_lanes(b, index_bytes, first, count)) for first in range(0, 64, count)
    ]
    return b.bitcast(_emit_join(b, None, *parts), index.type)


@operation(same_type, _emit_one_hot)
def one_hot(x: Any) -> Any:
    """Return ``1 << x``, and 0 in lanes where ``x`` is at least the lane width.

    It is one shift with AVX2 for 32 and 64 bits, and with AVX-512 for 16 bits too.
    """
    return np.where(x < 8 * x.itemsize, x.dtype.type(1) << np.minimum(x, 8 * x.itemsize - 1).astype(x.dtype), 0).astype(
        x.dtype
    )


@operation(same_type, lambda b, t, x, y: call_llvm(b, f"llvm.umin.{intrinsic_suffix(t[0])}", x.type, x, y))
def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of each pair of lanes."""
    return np.minimum(x, y)


@operation(same_type, lambda b, t, x, y: call_llvm(b, f"llvm.umax.{intrinsic_suffix(t[0])}", x.type, x, y))
def maximum(x: Any, y: Any) -> Any:
    """Return the larger of each pair of lanes."""
    return np.maximum(x, y)


@operation(same_type, lambda b, t, x: call_llvm(b, f"llvm.ctpop.{intrinsic_suffix(t[0])}", x.type, x))
def popcount(x: Any) -> Any:
    """Return the number of set bits of each lane, in that lane."""
    return np.bitwise_count(x).astype(x.dtype)


def _emit_closeness(b: Any, t: Any, x: Any) -> Any:
    if t[0].bits < 32 or "avx512vpopcntdq" in FEATURES or "neon" in FEATURES:
        return call_llvm(b, f"llvm.ctpop.{intrinsic_suffix(t[0])}", x.type, x)
    one, minus = (ir.Constant(x.type, [c] * t[0].lanes) for c in (1, -1))
    some = call_llvm(b, f"llvm.umin.{intrinsic_suffix(t[0])}", x.type, x, one)
    for _ in range(2):  # clear the two lowest set bits; a bit that is left counts at least 4
        x = b.and_(x, b.add(x, minus))
    return b.or_(x, some)


@operation(same_type, _emit_closeness)
def closeness(x: Any) -> Any:
    """Return 0 in lanes without a set bit, 1 or 2 in lanes with one or two set bits, and a larger number in the others.

    Where the target counts bits at once, it is the number of set bits.  Elsewhere lanes with two set bits get 1 as well, for a
    third less work for 32 bits.
    """
    return np.bitwise_count(x).astype(x.dtype)


@operation(same_type, lambda b, t, x: call_llvm(b, f"llvm.bitreverse.{intrinsic_suffix(t[0])}", x.type, x))
def reverse(x: Any) -> Any:
    """Return the bits of each lane in reverse order (one instruction on x86 with GFNI for lanes of 8)."""
    ordered = np.unpackbits(x.view(np.uint8).reshape(x.size, -1), axis=1, bitorder="little")[:, ::-1]
    return np.packbits(ordered, axis=1, bitorder="little").view(x.dtype).reshape(-1)


def _emit_top(b: Any, t: Any, x: Any) -> Any:
    def every(c: int) -> Any:
        return ir.Constant(x.type, [c] * t[0].lanes)

    if t[0].bits in _COUNTS_LEADING_ZEROS:
        zeros = call_llvm(b, f"llvm.ctlz.{intrinsic_suffix(t[0])}", x.type, x, ir.IntType(1)(0))
        # Take the minimum, because a shift by the width would be undefined.
        zeros = call_llvm(b, f"llvm.umin.{intrinsic_suffix(t[0])}", x.type, zeros, every(t[0].bits - 1))
        return b.lshr(every(1 << (t[0].bits - 1)), zeros)
    x = b.or_(x, b.zext(b.icmp_unsigned("==", x, every(0)), x.type))
    for k in range(t[0].bits.bit_length() - 1):
        x = b.or_(x, b.lshr(x, every(1 << k)))
    return b.xor(x, b.lshr(x, every(1)))


@operation(same_type, _emit_top)
def top_bit(x: Any) -> Any:
    """Return each lane with only its highest set bit; 1 for a lane that is zero."""
    return np.array([1 << max(int(lane).bit_length() - 1, 0) for lane in x], x.dtype)


# ---------------------------------------------------------------- masks


def _mask_like(vector: Any) -> Any:
    return Mask(vector.lanes) if isinstance(vector, Vector) else None


@operation(_mask_like, lambda b, t, vector: ir.Constant(llvm_type(Mask(t[0].lanes)), [0] * t[0].lanes))
def no_lane(vector: Any) -> Any:
    """Return the mask that selects no lane of ``vector``."""
    return np.zeros(len(vector), np.bool_)


@operation(_mask_like, lambda b, t, vector: ir.Constant(llvm_type(Mask(t[0].lanes)), [-1] * t[0].lanes))
def every_lane(vector: Any) -> Any:
    """Return the mask that selects every lane of ``vector``."""
    return np.ones(len(vector), np.bool_)


def _emit_bits(b: Any, t: Any, mask: Any) -> Any:
    out = b.bitcast(choose_lanes(b, mask), ir.IntType(t[0].lanes))
    return b.zext(out, ir.IntType(64)) if t[0].lanes < 64 else out


@operation(lambda mask: types.uint64 if isinstance(mask, Mask) else None, _emit_bits)
def bits(mask: Any) -> Any:
    """Return the mask as an integer: bit i is lane i."""
    return np.uint64(sum(1 << i for i, on in enumerate(mask) if on))


def _emit_mask(b: Any, t: Any, vector: Any, value: Any) -> Any:
    """Return LLVM's bits of the lanes that are set in ``value``."""
    lanes, width = t[0].lanes, t[0].bits
    if "neon" not in FEATURES:
        value = value if lanes == 64 else b.trunc(value, ir.IntType(lanes))
        return b.bitcast(value, ir.VectorType(ir.IntType(1), lanes))
    # NEON has no masks of bits, and LLVM would move them lane by lane: each lane takes the part of the value with its bit.
    words = b.bitcast(value, ir.VectorType(ir.IntType(width), 64 // width))
    index = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [i // width for i in range(lanes)])
    words = b.shuffle_vector(words, ir.Constant(words.type, ir.Undefined), index)
    bit = ir.Constant(words.type, [1 << i % width for i in range(lanes)])
    return b.icmp_unsigned("!=", b.and_(words, bit), ir.Constant(words.type, [0] * lanes))


@operation(
    lambda vector, value: Mask(vector.lanes) if isinstance(vector, Vector) and value == types.uint64 else None,
    lambda b, t, vector, value: make_mask(b, _emit_mask(b, t, vector, value)),
)
def mask(vector: Any, value: Any) -> Any:
    """Return the mask over the lanes of ``vector`` with the bits of a ``uint64``."""
    return np.array([(int(value) >> i) & 1 for i in range(vector.size)], dtype=bool)


def _select_type(m: Any, x: Any, y: Any) -> Any:
    return x if isinstance(m, Mask) and isinstance(x, Vector) and x == y and m.lanes == x.lanes else None


@operation(_select_type, lambda b, t, m, x, y: b.select(choose_lanes(b, m), x, y))
def select(m: Any, x: Any, y: Any) -> Any:
    """Return ``x`` in the lanes of the mask ``m``, and ``y`` in the other lanes."""
    return np.where(m, x, y)


# ---------------------------------------------------------------- across lanes


@operation(
    lambda x: types.uint64 if isinstance(x, Vector) and x.bits == 64 else None,
    lambda b, t, x: call_llvm(b, f"llvm.vector.reduce.add.{intrinsic_suffix(t[0])}", ir.IntType(64), x),
)
def total(x: Any) -> Any:
    """Return the sum of the 64-bit lanes modulo 2^64."""
    return x.sum(dtype=np.uint64)


@operation(
    lambda x: types.uint64 if isinstance(x, Vector) and x.bits == 64 else None,
    lambda b, t, x: call_llvm(b, f"llvm.vector.reduce.or.{intrinsic_suffix(t[0])}", ir.IntType(64), x),
)
def union(x: Any) -> Any:
    """Return the bits set in any 64-bit lane."""
    return np.bitwise_or.reduce(x)


class _Permutation(NamedTuple):
    """An instruction that moves the items of a register by a vector of indices."""

    lanes: int  #: lanes of the vector that one instruction moves
    item: int  #: bits of an item, 8 or 32
    name: str  #: LLVM's name


def _choose_permutation(bits: int) -> _Permutation | None:
    """Return the instruction that moves lanes of ``bits`` bits together, or None if LLVM's own form is to be used."""
    if ("avx512f" if bits >= 32 else "avx512vbmi2") in FEATURES:
        return None
    if "avx2" in FEATURES and bits >= 32:
        return _Permutation(256 // bits, 32, "llvm.x86.avx2.permd")
    # At most eight lanes: the table has a row for each set of lanes.
    if "ssse3" in FEATURES:
        return _Permutation(min(128 // bits, 8), 8, "llvm.x86.ssse3.pshuf.b.128")
    return _Permutation(min(128 // bits, 8), 8, "llvm.aarch64.neon.tbl1.v16i8") if "neon" in FEATURES else None


def _order_table(b: Any, lanes: int, items: int) -> Any:
    """Return the address of a table of bytes.

    Row m lists the lanes that are set in m, each as the indices of its ``items`` items, and zeros up to ``lanes * items``.
    """
    rows = bytearray()
    for m in range(1 << lanes):
        row = [items * i + j for i in range(lanes) if m >> i & 1 for j in range(items)]
        rows += bytes(row).ljust(lanes * items, b"\0")
    name = f"lane_orders_{lanes}_{items}"
    table = b.module.globals.get(name)
    if table is None:
        table = cgutils.global_constant(b, name, ir.Constant(ir.ArrayType(ir.IntType(8), len(rows)), rows))
    return b.bitcast(table, ir.IntType(8).as_pointer())


def _emit_compressed_part(b: Any, how: _Permutation, part: Any, chosen: Any) -> Any:
    """Return the vector ``part`` of ``how.lanes`` lanes with the lanes whose bits are set in ``chosen`` moved to the front."""
    # An item is what the instruction moves; ``size`` is the number of items in ``part``, and of bytes in a row of the table.
    items = part.type.element.width // how.item
    size, word = how.lanes * items, ir.IntType(64)
    row = b.gep(_order_table(b, how.lanes, items), [b.mul(chosen, word(size))])
    order = b.load(b.bitcast(row, ir.VectorType(ir.IntType(8), size).as_pointer()))
    order.align = 1
    register = ir.VectorType(ir.IntType(how.item), 8 if how.item == 32 else 16)
    if how.item == 32:
        order = b.zext(order, register)
    # Eight lanes of 8 bits fill half of a register, so the order and the lanes are both padded to a whole one.
    order, whole = (_resize(b, x, x.type.count * register.count // size) for x in (order, part))
    moved = b.bitcast(call_llvm(b, how.name, register, b.bitcast(whole, register), order), whole.type)
    return _resize(b, moved, part.type.count)


def _take_lanes(b: Any, x: Any, first: int, count: int) -> Any:
    index = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(first, first + count)))
    return b.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), index)


def _resize(b: Any, x: Any, count: int) -> Any:
    """Return the first ``count`` lanes of ``x``, followed by undefined lanes if ``x`` has fewer."""
    if count == x.type.count:
        return x
    # Index x.type.count is the first lane of the second, undefined vector.
    index = [min(i, x.type.count) for i in range(count)]
    return b.shuffle_vector(
        x, ir.Constant(x.type, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), count), index)
    )


def _emit_store_compressed(b: Any, t: Any, array: Any, offset: Any, chosen: Any, x: Any) -> None:
    # t: the types of array, offset, chosen and x, whose vector type is t[3].
    how = _choose_permutation(t[3].bits)
    if how is None:
        mask, rest = _emit_mask(b, (t[3],), x, chosen), ir.Constant(x.type, ir.Undefined)
        name = f"llvm.experimental.vector.compress.{intrinsic_suffix(t[3])}"
        return _emit_store(b, (t[0], t[1], t[3]), array, offset, call_llvm(b, name, x.type, x, mask, rest))
    word = ir.IntType(64)
    for first in range(0, t[3].lanes, how.lanes):
        own = b.and_(b.lshr(chosen, word(first)), word((1 << how.lanes) - 1))
        part = _emit_compressed_part(b, how, _take_lanes(b, x, first, how.lanes), own)
        b.store(part, b.bitcast(b.gep(array, [offset]), part.type.as_pointer())).align = 1
        offset = b.add(offset, call_llvm(b, "llvm.ctpop.i64", word, own))
    return None


@operation(
    lambda array, offset, chosen, x: (
        types.void if isinstance(x, Vector) and _array_vector_type(array) == x and chosen == types.uint64 else None
    ),
    _emit_store_compressed,
)
def store_compressed(array: Any, offset: Any, chosen: Any, x: Any) -> None:
    """Write the lanes whose bits are set in ``chosen``, a ``uint64``, to ``array[offset]`` and on; no bounds check.

    The other items of ``array[offset : offset + lanes]`` get unspecified values.
    """
    m = mask(x, chosen)
    array[int(offset) : int(offset) + x.size] = np.concatenate([x[m], x[~m]])


def _emit_low_halves(b: Any, t: Any, x: Any, y: Any) -> Any:
    # Shuffle, because LLVM turns a shift of a product with an or into a slow 64-bit multiplication.
    count = 2 * t[0].lanes
    kind = ir.VectorType(ir.IntType(32), count)
    index = ir.Constant(kind, [i if i % 2 == 0 else count - 1 + i for i in range(count)])
    return b.bitcast(b.shuffle_vector(b.bitcast(x, kind), b.bitcast(y, kind), index), x.type)


@operation(same_type, _emit_low_halves)
def low_halves(x: Any, y: Any) -> Any:
    """Return 64-bit lanes with the low 32 bits of ``x`` as low half and the low 32 bits of ``y`` as high half."""
    return (x & np.uint64(0xFFFFFFFF)) | (y << np.uint64(32))


def _make_view(bits: int) -> Callable[..., Any]:
    def view(x: Any) -> Any:
        """Return the same 512 bits as lanes of ``bits`` bits: 8 for ``as8``, 16 for ``as16``, and so on."""
        return x.view(f"u{bits // 8}")

    kind = Vector(bits)
    seen = operation(lambda x: kind if isinstance(x, Vector) else None, lambda b, t, x: b.bitcast(x, llvm_type(kind)))
    return seen(view)


as8, as16, as32, as64 = (_make_view(bits) for bits in (8, 16, 32, 64))


# ---------------------------------------------------------------- four vectors as one


def _is_single_vector(t: Any) -> bool:
    return isinstance(t, Vector) and t.lanes * t.bits == BITS


def _emit_join(b: Any, t: Any, *vectors: Any) -> Any:
    while len(vectors) > 1:
        count = 2 * vectors[0].type.count
        index = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count)))
        vectors = tuple(b.shuffle_vector(x, y, index) for x, y in zip(vectors[::2], vectors[1::2], strict=True))
    return vectors[0]


@operation(lambda w, x, y, z: Vector(w.bits, 4) if _is_single_vector(w) and same_type(w, x, y, z) else None, _emit_join)
def join(w: Any, x: Any, y: Any, z: Any) -> Any:
    """Join four vectors to one long vector, on which arithmetic works lane by lane.

    Useful for chains of dependent operations: four independent chains keep the processor busy.
    """
    return np.concatenate([w, x, y, z])


def _emit_quarters(b: Any, t: Any, wide: Any) -> Any:
    count = t[0].lanes // 4
    out = ir.Constant(ir.ArrayType(ir.VectorType(wide.type.element, count), 4), ir.Undefined)
    for i in range(4):
        index = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count * i, count * (i + 1))))
        out = b.insert_value(out, b.shuffle_vector(wide, ir.Constant(wide.type, ir.Undefined), index), i)
    return out


@operation(
    lambda wide: (
        types.UniTuple(Vector(wide.bits), 4) if isinstance(wide, Vector) and not _is_single_vector(wide) else None
    ),
    _emit_quarters,
)
def quarters(wide: Any) -> Any:
    """Return the four vectors that ``join`` joined, as a tuple."""
    return tuple(np.split(wide, 4))


# ---------------------------------------------------------------- bitwise functions of three vectors


def _make_ternary(table: int, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return the LLVM form of a bitwise function of three vectors, because LLVM finds ``vpternlog`` for two operations only."""

    def emit(b: Any, t: Any, x: Any, y: Any, z: Any) -> Any:
        if "avx512f" not in FEATURES or t[0].bits != 64 or not _is_single_vector(t[0]):
            return plain(b, x, y, z)
        return call_llvm(b, "llvm.x86.avx512.pternlog.q.512", x.type, x, y, z, ir.IntType(32)(table))

    return emit


@operation(same_type, _make_ternary(0xE8, lambda b, x, y, z: b.or_(b.and_(x, y), b.and_(z, b.or_(x, y)))))
def majority(x: Any, y: Any, z: Any) -> Any:
    """Return the bits that are set in at least two of the three vectors."""
    return (x & y) | (z & (x | y))


@operation(same_type, _make_ternary(0xFE, lambda b, x, y, z: b.or_(b.or_(x, y), z)))
def bit_or3(x: Any, y: Any, z: Any) -> Any:
    """Return ``x | y | z``."""
    return x | y | z


# ---------------------------------------------------------------- operators

#: Operator, its LLVM form, whether it compares (and returns a mask), and whether masks have it too.
_OPERATORS = (
    (operator.xor, lambda b, x, y: b.xor(x, y), False, False),
    (operator.and_, lambda b, x, y: b.and_(x, y), False, True),
    (operator.or_, lambda b, x, y: b.or_(x, y), False, True),
    (operator.add, lambda b, x, y: b.add(x, y), False, False),
    (operator.sub, lambda b, x, y: b.sub(x, y), False, False),
    (operator.mul, lambda b, x, y: b.mul(x, y), False, False),
    (operator.lshift, lambda b, x, y: b.shl(x, y), False, False),
    (operator.rshift, lambda b, x, y: b.lshr(x, y), False, False),
    (operator.le, lambda b, x, y: b.icmp_unsigned("<=", x, y), True, False),
    (operator.eq, lambda b, x, y: b.icmp_unsigned("==", x, y), True, False),
    (operator.ne, lambda b, x, y: b.icmp_unsigned("!=", x, y), True, False),
)


def _operand_type(x: Any, y: Any) -> Any:
    """Return the type of vector or mask that an operator works on, or None. An int64 literal counts, a ``uint64`` does not."""
    if isinstance(x, (Vector, Mask)) and (x == y or (isinstance(x, Vector) and y == types.int64)):
        return x
    return y if isinstance(y, Vector) and x == types.int64 else None


def _register_operator(op: Any, emit: Callable[..., Any], compares: bool, masks: bool) -> None:
    """Define one operator for vectors, and for masks if ``masks`` is set."""

    @type_callable(op)
    def typing(context: Any) -> Any:
        def typer(x: Any, y: Any) -> Any:
            kind = _operand_type(x, y)
            if kind is None or (isinstance(kind, Mask) and not masks):
                return None
            return Mask(kind.lanes) if compares else kind

        return typer

    def lower(context: Any, b: Any, sig: Any, args: Any) -> Any:
        kind = _operand_type(*sig.args)
        values = [
            value if isinstance(t, (Vector, Mask)) else _emit_like(b, (kind, types.int64), None, value)
            for t, value in zip(sig.args, args, strict=True)
        ]
        return make_mask(b, emit(b, *values)) if compares else emit(b, *values)

    pairs = [(Vector, Vector), (Vector, types.Integer), (types.Integer, Vector)] + [(Mask, Mask)] * masks
    for pair in pairs:
        lower_builtin(op, *pair)(lower)


def _register_complement() -> None:
    """Define ``~x`` for vectors and masks."""

    @type_callable(operator.invert)
    def typing(context: Any) -> Any:
        return lambda x: x if isinstance(x, (Vector, Mask)) else None

    for kind in (Vector, Mask):
        lower_builtin(operator.invert, kind)(lambda context, b, sig, args: _emit_not(b, args[0]))


if not config.DISABLE_JIT:
    for _entry in _OPERATORS:
        _register_operator(*_entry)
    _register_complement()
