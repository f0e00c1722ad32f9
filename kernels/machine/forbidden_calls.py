"""Reject kernels that use Numba's random number generators or leave compiled code (object mode).

A trial must depend on its key and index alone.  A generator's state changes from call to call and differs between threads, and
object mode can read anything.  The text of a function does not show such calls, because they can go by any name.  The machine
code shows that a state is used, and the inferred types show where.
"""

import random
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numba.core.types import Dispatcher, Function, ObjModeDispatcher

from .errors import NOT_OF_TRIAL

#: Last part of the names of functions through which machine code reads the states of ``np.random`` and ``random``.
_STATE = "_random_state"


def _iter_results(dispatcher: Any) -> Iterator[Any]:
    """Yield the compile results of a function, then of all functions that it calls."""
    waiting, seen = [dispatcher], set()
    while waiting:
        here = waiting.pop(0)
        if id(here) in seen:
            continue
        seen.add(id(here))
        for result in here.overloads.values():
            if not hasattr(result.type_annotation, "typemap"):  # loaded from the cache, not compiled
                continue
            yield result
            types = result.type_annotation.typemap.values()
            waiting += [t.dispatcher for t in types if isinstance(t, Dispatcher)]


def _name_refused_type(kind: Any) -> str:
    """Return the user's name for a refused type, ``"objmode"`` or the random function; an empty text for any other type."""
    if isinstance(kind, ObjModeDispatcher):
        return "objmode"
    key = kind.typing_key if isinstance(kind, Function) else None
    owner = getattr(key, "__self__", None)
    if isinstance(owner, (random.Random, np.random.RandomState)):
        return f"{'random' if isinstance(owner, random.Random) else 'np.random'}.{getattr(key, '__name__', '')}"
    return ""


def _list_refused_calls(dispatcher: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the source line of each refused call."""
    for result in _iter_results(dispatcher):
        reported = result.type_annotation
        lines = {call.func.name: call.loc for call in reported.calltypes if getattr(call, "op", "") == "call"}
        for variable, kind in reported.typemap.items():
            if (name := _name_refused_type(kind)) and variable in lines:
                yield name, f'\nFile "{lines[variable].filename}", line {lines[variable].line}'


def reject_forbidden_calls(dispatcher: Any) -> None:
    """Raise NumbaError if a compiled function, or a function that it calls, uses a random state or leaves compiled code."""
    found = [*_list_refused_calls(dispatcher)]
    names = {function.name for result in dispatcher.overloads.values() for function in _iter_callees(result)}
    if any(name.endswith(_STATE) for name in names):
        name, place = next((pair for pair in found if pair[0] != "objmode"), ("Numba's random state", ""))
        raise numba.core.errors.NumbaError(f"{name} is {NOT_OF_TRIAL}{place}")
    for name, place in found:
        if name == "objmode":
            raise numba.core.errors.NumbaError(f"objmode leaves compiled code, {NOT_OF_TRIAL}{place}")


def _iter_callees(result: Any) -> Any:
    """Return the functions that the machine code of a compile result defines or calls."""
    return result.library._final_module.functions
