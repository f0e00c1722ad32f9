"""Name a kernel's machine code by the bytecode and captured values that it is compiled from.

The cache (``cache.py``) uses this name.  A name made from source files would be wrong when a file has changed since its import,
and would change with every docstring.  The name is a hash of everything that numba compiles, which is in memory:

- the bytecode of all functions that the kernel reaches, without docstrings and line numbers;
- the values of their globals, closures and defaults;
- the settings of their decorators, and the kernel's signature.

The modules that translate vectors and blocks to machine code (``_CODEGEN_MODULES``) are not reached by calls.  They are included
as a whole for every kernel.
"""

import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from types import CodeType, FunctionType
from typing import Any

from .captured_values import defining_module, iter_class_functions, iter_compiled_functions, unwrap_function

#: LOAD_CONST 0 at an even position: the function uses its first constant, so this constant is not a docstring.
_USES_FIRST_CONSTANT = re.compile(rb"\A(?:..)*?\x%02x\0" % __import__("dis").opmap["LOAD_CONST"], re.S)


@functools.cache
def hash_bytecode(code: CodeType) -> str:
    """Return a hash of bytecode without its docstring and line numbers, equal in every process of one Python version."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str) and not _USES_FIRST_CONSTANT.match(code.co_code):
        constants[0] = None
    parts = [
        hash_bytecode(c) if isinstance(c, CodeType) else sorted(map(repr, c)) if isinstance(c, frozenset) else repr(c)
        for c in constants
    ]
    parameters = (
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_varnames[: code.co_argcount + code.co_kwonlyargcount],
    )
    whole = (code.co_code, code.co_names, parts, parameters, code.co_freevars, code.co_cellvars, code.co_exceptiontable)
    return hashlib.sha256(repr(whole).encode(errors="surrogatepass")).hexdigest()


def _iter_functions(value: Any) -> Iterator[FunctionType]:
    """Yield the functions of a module's member: the member itself, or a class's functions."""
    if isinstance(value, type):
        yield from iter_class_functions(value)
    elif (function := unwrap_function(value)) is not None:
        yield function


_PACKAGE_PREFIX = __name__.rpartition(".")[0] + "."


#: Modules that translate functions to machine code, or define operations that are not functions; hashed as a whole.
_CODEGEN_MODULES = frozenset(_PACKAGE_PREFIX + name for name in ("bits", "jit", "llvm_link", "simd", "vectors"))


def _is_codegen_module(module: str) -> bool:
    return module in _CODEGEN_MODULES


def _is_followed_module(module: str) -> bool:
    """Whether functions of ``module`` are hashed singly: not code generators and libraries, whose versions name the folder."""
    return not _is_codegen_module(module) and module.partition(".")[0] not in {
        "numba",
        "numpy",
        "llvmlite",
        *sys.stdlib_module_names,
    } - {"__main__"}


@functools.cache
def _hash_codegen_modules() -> str:
    """Return a hash of the modules that translate vectors and blocks to machine code, as they were imported."""
    members = [
        (name, member, value)
        for name in sorted(_CODEGEN_MODULES)
        for member, value in sorted(vars(import_module(name)).items())
    ]
    functions = [f for name, _, value in members for f in _iter_functions(value) if defining_module(f) == name]
    found = [
        (defining_module(f), f.__qualname__, hash_bytecode(f.__code__), values)
        for f, values in iter_compiled_functions(functions, _is_codegen_module, describe_declaration)
        if _is_codegen_module(defining_module(f))
    ]
    return hashlib.sha256(repr(sorted(found, key=repr)).encode(errors="surrogatepass")).hexdigest()


def describe_declaration(value: Any) -> str:
    """Return a text of a compiled function's declaration: numba's settings, and its compiler passes."""
    passes = getattr(getattr(value, "_compiler", None), "pipeline_class", None)
    return f"{sorted((k, repr(v)) for k, v in value.targetoptions.items())} {getattr(passes, '__qualname__', '')}"


def name_of(kernel: Any) -> str | None:
    """Return the name of a kernel's machine code; None if a captured value has no text that is equal in every process."""
    parts: list[Any] = [_hash_codegen_modules(), kernel.signature]
    for function, values in iter_compiled_functions([kernel.function], _is_followed_module, describe_declaration):
        if _is_codegen_module(defining_module(function)):  # already in the hash of the code generators
            continue
        if any(text is None for _, text in values):
            return None
        parts.append((defining_module(function), function.__qualname__, hash_bytecode(function.__code__), values))
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()[:32]
