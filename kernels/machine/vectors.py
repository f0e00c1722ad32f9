"""Numba types of the vectors and masks of ``simd.py``, and the declaration of an operation by its NumPy and its LLVM form."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from .target import FEATURES

BITS = 512

#: Whether a mask is one bit per lane in machine code.  Elsewhere it is a vector of lanes with no bit or all bits, because LLVM
#: splits single bits into bytes wherever they pass from one basic block to another, if there are more lanes than a register has
#: bytes.  For example, comparing 8-bit lanes took eight times as long on AVX2.
HAS_BIT_MASKS = "avx512bw" in FEATURES


class Vector(types.Type):  # type: ignore[misc]
    """Numba type of ``512 // bits`` unsigned lanes of ``bits`` bits, or of four such vectors as one."""

    def __init__(self, bits: int, count: int = 1) -> None:
        self.bits = bits
        self.lanes = count * BITS // bits
        super().__init__(name=f"Vector({self.lanes}xuint{bits})")


class Mask(types.Type):  # type: ignore[misc]
    """Numba type of a mask over lanes."""

    def __init__(self, lanes: int) -> None:
        self.bits = 1 if HAS_BIT_MASKS else BITS // lanes
        self.lanes = lanes
        super().__init__(name=f"Mask({lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Vector) -> None:
        super().__init__(dmm, fe_type, llvm_type(fe_type))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm: Any, fe_type: Mask) -> None:
        super().__init__(dmm, fe_type, llvm_type(fe_type))


def address_type(t: Any) -> Any:
    """Return the type that an operation receives for ``t``: addresses in place of arrays, also in a NamedTuple."""
    if isinstance(t, types.Array):
        return types.CPointer(t.dtype)
    if isinstance(t, types.BaseNamedTuple):
        return types.BaseTuple.from_types([address_type(part) for part in t.types], t.instance_class)
    return t


def _convert_argument(context: Any, builder: Any, t: Any, value: Any) -> Any:
    if isinstance(t, types.Array):
        return context.make_array(t)(context, builder, value).data
    if isinstance(t, types.BaseNamedTuple):
        parts = zip(t.types, cgutils.unpack_tuple(builder, value), strict=True)
        return context.make_tuple(
            builder, address_type(t), [_convert_argument(context, builder, *part) for part in parts]
        )
    return value


def operation(
    result: Callable[..., Any], emit: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an operation from its meaning in NumPy (the decorated body), its type rule and its LLVM form.

    Parameters
    ----------
    result : callable
        Maps the argument types to the type of the result, or to None when the operation does not take them.
    emit : callable
        ``emit(builder, types, *values)`` appends the instructions and returns the resulting value, or None for an operation
        without one, such as a store; arrays are given by their addresses.

    Returns
    -------
    callable
        A decorator that returns the operation: an intrinsic in compiled code, and its meaning without compilation.
    """

    def declare(meaning: Callable[..., Any]) -> Callable[..., Any]:
        if numba.config.DISABLE_JIT:
            return meaning

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            values = [_convert_argument(context, builder, t, a) for t, a in zip(sig.args, args, strict=True)]
            out = emit(builder, sig.args, *values)
            return context.get_dummy_value() if out is None else out

        taken = list(inspect.signature(meaning).parameters.values())

        def typing(typingctx: Any, *args: Any) -> Any:
            out = result(*args) if len(args) == len(taken) else None
            return None if out is None else (out(*args), codegen)

        # Numba binds arguments by the names in the signature, so the type rule must show the parameters of ``meaning``.
        first = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        typing.__signature__ = inspect.Signature([first, *taken])  # type: ignore[attr-defined]
        typing.__name__ = meaning.__name__
        typing.__doc__ = meaning.__doc__
        return intrinsic(typing)  # type: ignore[no-any-return]

    return declare


def same_type(*args: Any) -> Any:
    """Type rule: the common type of the arguments if all are vectors of one type, else None."""
    return args[0] if isinstance(args[0], Vector) and all(a == args[0] for a in args) else None


def llvm_type(t: Any) -> Any:
    """Return the LLVM type of a vector or mask."""
    return ir.VectorType(ir.IntType(t.bits), t.lanes)


def make_mask(builder: Any, chosen: Any) -> Any:
    """Return the value of a mask from LLVM's bits of its lanes, the result of a comparison."""
    kind = llvm_type(Mask(chosen.type.count))
    return chosen if HAS_BIT_MASKS else builder.sext(chosen, kind)


def choose_lanes(builder: Any, mask: Any) -> Any:
    """Return LLVM's bits of the lanes that a mask selects."""
    return mask if HAS_BIT_MASKS else builder.icmp_signed("<", mask, ir.Constant(mask.type, [0] * mask.type.count))


def call_llvm(builder: Any, name: str, returns: Any, *values: Any) -> Any:
    """Call an LLVM intrinsic."""
    kind = ir.FunctionType(returns, [v.type for v in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


def intrinsic_suffix(t: Any) -> str:
    """Return the last part of the names of LLVM's intrinsics for this vector type, such as ``v8i64``."""
    return f"v{t.lanes}i{t.bits}"
