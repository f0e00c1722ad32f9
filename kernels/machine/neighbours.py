"""Neighbours in a vector of eight 64-bit words that holds 512 hypercube nodes, one bit per node, for each of nine dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from .target import FEATURES
from .vectors import BITS, Vector, call_llvm, llvm_type, operation

_HAS_GFNI = {"gfni", "avx512f"} <= FEATURES


def _emit_neighbour(k: int) -> Callable[..., Any]:
    """Return the LLVM form of ``neighbour`` across dimension k, as ``operation`` takes it: bytes move for k > 2, bits below."""

    def shuffle(b: Any, t: Any, x: Any) -> Any:
        bytes_ = b.bitcast(x, llvm_type(Vector(8)))
        index = ir.Constant(ir.VectorType(ir.IntType(32), 64), [i ^ (1 << (k - 3)) for i in range(64)])
        return b.bitcast(b.shuffle_vector(bytes_, ir.Constant(bytes_.type, ir.Undefined), index), x.type)

    def affine(b: Any, t: Any, x: Any) -> Any:
        # The 8 x 8 bit matrix applied to every byte: row i, stored in byte 7 - i, selects input bit i ^ 2^k.
        matrix = sum(1 << (8 * (7 - i) + (i ^ (1 << k))) for i in range(8))
        kind = llvm_type(Vector(8))
        rows = b.bitcast(ir.Constant(x.type, [matrix] * 8), kind)
        out = call_llvm(b, "llvm.x86.vgf2p8affineqb.512", kind, b.bitcast(x, kind), rows, ir.IntType(8)(0))
        return b.bitcast(out, x.type)

    def shifts(b: Any, t: Any, x: Any) -> Any:
        low = sum(1 << v for v in range(64) if not v >> k & 1)
        mask, by = (ir.Constant(x.type, [c] * 8) for c in (low, 1 << k))
        return b.or_(b.and_(b.lshr(x, by), mask), b.shl(b.and_(x, mask), by))

    return shuffle if k > 2 else affine if _HAS_GFNI else shifts


def _make_neighbour(k: int) -> Callable[..., Any]:
    def neighbour(x: Any) -> Any:
        """Return ``x`` with bit ``v`` replaced by bit ``v ^ 2^k``, for all 512 bits: the state of each node's neighbour."""
        v = np.arange(BITS) ^ (1 << k)
        return np.packbits(np.unpackbits(x.view(np.uint8), bitorder="little")[v], bitorder="little").view(np.uint64)

    neighbour.__name__ = f"neighbour{k}"
    return operation(lambda x: x if isinstance(x, Vector) and x.bits == 64 else None, _emit_neighbour(k))(neighbour)


neighbour0 = _make_neighbour(0)
neighbour1 = _make_neighbour(1)
neighbour2 = _make_neighbour(2)
neighbour3 = _make_neighbour(3)
neighbour4 = _make_neighbour(4)
neighbour5 = _make_neighbour(5)
neighbour6 = _make_neighbour(6)
neighbour7 = _make_neighbour(7)
neighbour8 = _make_neighbour(8)
