"""The fingerprint of a user's code, which distinguishes the versions of a study.

Two things determine a trial.  The first is its source and the source of all functions that it calls.  It is hashed by the syntax
trees of their files, and of the files next to these that they import.  Docstrings and comments are left out, because they cannot
change a trial.  A function without a file, as in a notebook, counts by its own source.  The second is the values that the
compiler freezes: globals, closures and defaults (``kernels/machine/captured_values.py``).  An installed package raises the
``revision`` of its study instead.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from ..errors import ParameterError, plain_text
from ..kernels.machine import captured_values
from ..kernels.machine.content import hash_bytecode
from .source_text import normalize_source, strip_docstrings
from .user_files import executed_source, is_user_module, read_sources


def hash_files(path: Path) -> dict[str, str]:
    """Return the hashes of a file and of the files it imports, by relative path; an unparsable file counts by its bytes."""
    return {name: _hash_text(text) for name, text in read_sources(path).items()}


def check_unchanged(path: str, code: Mapping[str, str]) -> None:
    """Raise ParameterError if a file of a fingerprint has changed on disk since it was executed."""
    for name, known in code.items():
        file = Path(path).resolve().parent / name
        if name.endswith(".py") and file.is_file() and _hash_text(normalize_source(file.read_bytes())[0]) != known:
            raise ParameterError(f"{plain_text(str(file))} has changed since it was loaded: start again")


def _hash_text(text: str) -> str:
    """Return the first 64 bits of the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _function_source(function: FunctionType) -> str:
    """Return the source of a function without a file: from a notebook's memory, or else its bytecode."""
    try:
        return strip_docstrings(ast.parse(textwrap.dedent(inspect.getsource(function))))
    except (OSError, SyntaxError, TypeError, ValueError):
        return hash_bytecode(function.__code__)


@functools.cache
def _compile_functions(source: bytes) -> set[str]:
    """Return the bytecode hashes of all functions that a source defines; the empty set for invalid Python."""
    try:
        found = [compile(source, "", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        found = []
    for code in found:
        found += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return set(map(hash_bytecode, found))


def _check_executed(function: FunctionType, file: Path) -> None:
    """Raise ParameterError for a function of a script or module whose file has changed since it was loaded.

    Python recorded only the bytecode of these files, not their source.  Code is not checked if its loader rewrites it (pytest)
    or if a program executes parts of a file (sphinx-gallery).
    """
    module = sys.modules.get(captured_values.defining_module(function))
    if module is None or not isinstance(module.__loader__, SourceFileLoader) or module.__file__ != str(file):
        return
    if hash_bytecode(function.__code__) not in _compile_functions(executed_source(file)):
        raise ParameterError(f"{plain_text(str(file))} has changed since it was loaded: start again")


def _hash_sources(function: FunctionType) -> dict[str, str]:
    """Return the hashes of a function's source, its own file first: its file and files next to it, or its file in a package."""
    file, module = Path(function.__code__.co_filename), captured_values.defining_module(function)
    if not file.is_file():
        return {function.__qualname__: _hash_text(_function_source(function))}
    _check_executed(function, file)
    if not getattr(sys.modules.get(module), "__package__", ""):
        files = hash_files(file)
        return {file.name: files.pop(file.name), **files}
    inside = Path(*module.split(".")) / "__init__" if file.stem == "__init__" else Path(*module.split("."))
    return {inside.with_suffix(".py").as_posix(): _hash_text(normalize_source(executed_source(file))[0])}


def hash_functions(*roots: Any) -> dict[str, str]:
    """Return the fingerprint of functions and of all that they call, but not of installed code.

    Its keys are files, relative to the folder of a function's file, functions without a file, and values that the compiler
    freezes (``FILE: NAME``).
    """
    found: dict[str, set[str]] = {}
    for function, values in captured_values.iter_compiled_functions(roots, is_user_module):
        if is_user_module(captured_values.defining_module(function)):
            hashes = _hash_sources(function)
            first_source = next(iter(hashes))
            for name, value in values:
                hashes[f"{first_source}: {name}"] = _hash_text(str(value))
            for name, text_hash in hashes.items():
                found.setdefault(name, set()).add(text_hash)
    return {
        name: parts.pop() if len(parts) == 1 else _hash_text(" ".join(sorted(parts)))
        for name, parts in sorted(found.items())
    }
