"""A kernel of one trial at a time: between a lane kernel by hand and a user's twenty lines.

:func:`trials_kernel` puts the one loop around a scalar trial that every study's kernel needs::

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


def _set_up(params):  # the names that the loop's body finds in its place
    return params


def _trial(key, t, params, scratch, tally):
    pass


def _loop(key, first, stop, params, tally):
    scratch = _set_up(params)
    for t in range(first, stop):
        _trial(key, t, params, scratch, tally)


def _unwrap_function(block: Any) -> Callable[..., Any]:
    """The Python function of a block, compiled or not."""
    return getattr(block, "py_func", block)  # type: ignore[no-any-return]


def name_variant(*blocks: Any) -> tuple[str, bool]:
    """A name that tells a kernel made of these blocks from its siblings, and whether it may be cached under it.

    Of functions in here the cache's own name holds the text, so that what they close over is enough; of all others it is their
    code, wherever it lies, and every value that they use.
    """
    parts: list[Any] = []
    for function, values in iter_compiled_functions(blocks, _is_foreign_module):
        parts.append((function.__module__, function.__qualname__, hash_bytecode(function.__code__), values))
    name = hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:12]
    return name, all(text is not None for part in parts for _, text in part[-1])


def _is_foreign_module(module: str) -> bool:
    return not module.startswith(fastcube.kernels.__name__ + ".")


def _check_parameters(block: Any, called: Callable[..., Any]) -> None:
    """Raise TypeError unless a block takes as many arguments as the loop calls it with, and those of its names in that order."""
    own = _unwrap_function(block)
    wanted, takes = (list(inspect.signature(f).parameters) for f in (called, own))
    if len(takes) != len(wanted) or any(a != b and a in wanted for a, b in zip(takes, wanted, strict=True)):
        words = f"must take ({', '.join(wanted)}), got ({', '.join(takes)})"
        raise TypeError(f"{own.__qualname__} of {own.__module__} {words}")


def trials_kernel(set_up: Any, trial: Any, code: Callable[..., Any] | None = None) -> Kernel:
    """The kernel of a study, ``jit.TRIALS_SIGNATURE``, from a compiled set-up and a compiled trial.

    Parameters
    ----------
    set_up : block
        ``set_up(params)``, once a call: returns a NamedTuple of arrays, or of anything else that the trials need.
        ``params`` are the point's values, float64, in the order of the study's axes.
    trial : block
        ``trial(key, t, params, scratch, tally)``: counts trial ``t`` (int64) of the point's ``key`` (uint64) in the
        slots of the int64 ``tally`` that its Layout names.  It allocates nothing.
    code : callable, optional
        The function whose files the cached machine code depends on; by default the trial.

    Raises
    ------
    TypeError
        More or fewer parameters, or these in another order.

    Notes
    -----
    Cached on disk like every kernel, under a name that holds what the two functions and those that they call freeze;
    where a value among that has no certain text it is compiled in each process.
    """
    _check_parameters(set_up, _set_up)
    _check_parameters(trial, _trial)
    own = _unwrap_function(trial)
    name, cache = name_variant(set_up, trial)
    # not a closure: Numba's cache tells closures over functions apart by a number that is new in each process
    loop = FunctionType(_loop.__code__, {**globals(), "_set_up": set_up, "_trial": trial}, _loop.__name__)
    loop.__module__, loop.__doc__ = own.__module__, own.__doc__
    loop.__qualname__ = f"{own.__name__}_trials"
    return kernel(TRIALS_SIGNATURE, variant=name, cache=cache, code=code or own)(loop)
