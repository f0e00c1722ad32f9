"""Make a study's kernel from a function that performs one trial.

``trials_kernel`` adds the loop over trials that every study's kernel needs to a scalar trial::

    class Scratch(NamedTuple):
        labels: np.ndarray

    @scratch
    def _set_up(params):
        return Scratch(np.empty(np.int64(params[1]), np.uint64))

    @block
    def _trial(key, t, params, scratch, tally):
        ...
        tally[_DELIVERED] += 1

    KERNEL = trials_kernel(_set_up, _trial)
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import fastcube.kernels

from .captured_values import iter_compiled_functions
from .content import hash_bytecode
from .jit import TRIALS_SIGNATURE, Kernel, kernel


def _set_up(params):  # placeholders for the names that the body of the loop uses
    return params


def _trial(key, t, params, scratch, tally):
    pass


def _loop(key, first, stop, params, tally):
    scratch = _set_up(params)
    for t in range(first, stop):
        _trial(key, t, params, scratch, tally)


def _unwrap_function(block: Any) -> Callable[..., Any]:
    """Return the Python function of a block, compiled or not."""
    return getattr(block, "py_func", block)  # type: ignore[no-any-return]


def name_variant(*blocks: Any) -> tuple[str, bool]:
    """Return a name that distinguishes kernels made of different blocks, and whether a kernel may be cached under it.

    The cache's own name (``content.py``) covers functions of this package, so only their closures enter here.  Functions from
    elsewhere enter with their bytecode and all values that they use.
    """
    parts: list[Any] = []
    for function, values in iter_compiled_functions(blocks, _is_foreign_module):
        parts.append((function.__module__, function.__qualname__, hash_bytecode(function.__code__), values))
    name = hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:12]
    return name, all(text is not None for *_, values in parts for _, text in values)


def _is_foreign_module(module: str) -> bool:
    return not module.startswith(fastcube.kernels.__name__ + ".")


def _check_parameters(block: Any, called: Callable[..., Any]) -> None:
    """Raise TypeError unless a block has as many parameters as ``called``, with shared names in the same positions."""
    own = _unwrap_function(block)
    wanted, takes = (list(inspect.signature(f).parameters) for f in (called, own))
    if len(takes) != len(wanted) or any(a != b and a in wanted for a, b in zip(takes, wanted, strict=True)):
        message = f"must take ({', '.join(wanted)}), got ({', '.join(takes)})"
        raise TypeError(f"{own.__qualname__} of {own.__module__} {message}")


def trials_kernel(set_up: Any, trial: Any, code: Callable[..., Any] | None = None) -> Kernel:
    """Return the kernel of a study, with ``jit.TRIALS_SIGNATURE``, made of a compiled set-up and a compiled trial.

    Parameters
    ----------
    set_up : block
        ``set_up(params)``, called once per kernel call: returns a NamedTuple of arrays, or of anything else that the trials need.
        ``params`` are the point's values, float64, in the order of the study's axes.
    trial : block
        ``trial(key, t, params, scratch, tally)``: counts trial ``t`` (int64) of the point's ``key`` (uint64) in the
        slots of the int64 ``tally`` that its Layout names.  It allocates nothing.
    code : callable, optional
        The function whose files the cached machine code depends on; by default the trial.

    Raises
    ------
    TypeError
        A block has another number of parameters, or has them in another order.

    Notes
    -----
    The kernel is cached on disk like every kernel.  Its name covers all values that the two functions and their callees capture.
    If one of these values has no text that is equal in every process, every process compiles the kernel.
    """
    _check_parameters(set_up, _set_up)
    _check_parameters(trial, _trial)
    own = _unwrap_function(trial)
    name, cache = name_variant(set_up, trial)
    # Not a closure: numba's cache would distinguish closures over functions by a number that is new in each process.
    loop = FunctionType(_loop.__code__, {**globals(), "_set_up": set_up, "_trial": trial}, _loop.__name__)
    loop.__module__, loop.__doc__ = own.__module__, own.__doc__
    loop.__qualname__ = f"{own.__name__}_trials"
    return kernel(TRIALS_SIGNATURE, variant=name, cache=cache, code=code or own)(loop)
