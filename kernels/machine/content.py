"""What a kernel's machine code is made of, as one name: the bytecode of all that it reaches, and the values that this freezes.

A cache that names machine code by files is wrong whenever a file is not what was imported, and compiles all anew for a word in
a docstring.  What numba compiles is in memory: the functions' bytecode, without their docstrings and line numbers, the values
of their globals, closures and defaults, and how each is declared.  The vectors and passes of this room are no functions that a
kernel calls, but what makes code of them: they count whole, whoever uses them.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from .captured_values import home, python, used

#: LOAD_CONST 0 at an even place: the first constant is used, so that it is no docstring.
_FIRST = re.compile(rb"\A(?:..)*?\x%02x\0" % __import__("dis").opmap["LOAD_CONST"], re.S)


@functools.cache
def bare(code: CodeType) -> str:
    """Hash of a code without its docstring and its lines, the same in every process of one Python version."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str) and not _FIRST.match(code.co_code):
        constants[0] = None
    parts = [
        bare(c) if isinstance(c, CodeType) else sorted(map(repr, c)) if isinstance(c, frozenset) else repr(c)
        for c in constants
    ]
    called = (
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
    )
    whole = (code.co_code, code.co_names, parts, called, code.co_freevars, code.co_cellvars, code.co_exceptiontable)
    return hashlib.sha256(repr(whole).encode(errors="surrogatepass")).hexdigest()


def _functions(value: Any) -> Iterator[FunctionType]:
    """The functions of a module's member: its own, or those of a class."""
    if isinstance(value, type):
        for member in vars(value).values():
            inner = (
                getattr(member, "__func__", None)
                or getattr(member, "fget", None)
                or getattr(member, "func", None)
                or member
            )
            if isinstance(inner, FunctionType):
                yield inner
    elif (function := python(value)) is not None:
        yield function


_ROOM = __name__.rpartition(".")[0] + "."


#: What makes code of functions, and the words of machine code that are no functions: each counts whole.
_MAKERS = frozenset(_ROOM + name for name in ("bits", "jit", "llvm_link", "simd", "vectors"))


def _in_here(module: str) -> bool:
    return module in _MAKERS


def _reached(module: str) -> bool:
    """Whether those of ``module`` count one by one: not the makers, nor libraries, whose versions are in the folder's name."""
    return not _in_here(module) and module.partition(".")[0] not in {
        "numba",
        "numpy",
        "llvmlite",
        *sys.stdlib_module_names,
    } - {"__main__"}


@functools.cache
def _makers() -> str:
    """Hash of this room as it was imported: what gives vectors their meaning and blocks their machine code."""
    members = [
        (name, member, value) for name in sorted(_MAKERS) for member, value in sorted(vars(import_module(name)).items())
    ]
    functions = [f for name, _, value in members for f in _functions(value) if home(f) == name]
    found = [
        (home(f), f.__qualname__, bare(f.__code__), values)
        for f, values in used(functions, _in_here, _declared)
        if _in_here(home(f))
    ]
    return hashlib.sha256(repr(sorted(found, key=repr)).encode(errors="surrogatepass")).hexdigest()


def _declared(value: Any) -> str:
    """How a compiled function is declared: numba's settings, and the passes it goes through."""
    passes = getattr(getattr(value, "_compiler", None), "pipeline_class", None)
    return f"{sorted((k, repr(v)) for k, v in value.targetoptions.items())} {getattr(passes, '__qualname__', '')}"


def name_of(kernel: Any) -> str | None:
    """The name of a kernel's machine code; None where a value that it freezes has no certain text."""
    parts: list[Any] = [_makers(), kernel.signature]
    for function, values in used([kernel.function], _reached, _declared):
        if _in_here(home(function)):  # among the makers
            continue
        if any(text is None for _, text in values):
            return None
        parts.append((home(function), function.__qualname__, bare(function.__code__), values))
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:32]
