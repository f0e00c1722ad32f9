"""The fingerprint of a user's code, which distinguishes the versions of a study.

Two things determine a trial.  The first is its source and the source of all functions that it calls.  It is hashed by the syntax
trees of their files, and of the files next to these that they import.  Docstrings and comments are left out, because they cannot
change a trial.  A function without a file, as in a notebook, counts by its own source.  The second is the values that the
compiler freezes: globals, closures and defaults (``kernels/machine/captured_values.py``).  An installed package raises the
``revision`` of its study instead.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..errors import ParameterError, plain_text
from ..kernels.machine import captured_values
from ..kernels.machine.content import hash_bytecode
from .installed import GROUP, find_entry_points

#: Source of the users' files that this process has executed, by path, because the file on disk may be newer.
_EXECUTED: dict[Path, bytes] = {}

#: Folders of users' files, in the order of their first use.
_FOLDERS: dict[Path, None] = {}


class _RecordingLoader(SourceFileLoader):
    """Executes the present source of a file, never compiled code from disk, and records the source."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        _EXECUTED[Path(path).resolve()] = source
        return self.source_to_code(source, path)


class _RecordingFinder:
    """Finds modules in the folders of users' files."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if not any((folder / f"{top}.py").is_file() or (folder / top).is_dir() for folder in _FOLDERS):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        if _FOLDERS.keys().isdisjoint(Path(spec.origin).resolve().parents):
            return None
        spec.loader = _RecordingLoader(name, spec.origin)
        return spec


class _NeighbourFinder:
    """Finds modules next to users' files that Python finds nowhere else, so that no file there hides an installed module."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = None if path is not None else PathFinder.find_spec(name, [*map(str, _FOLDERS)], target)
        if spec is not None and type(spec.loader) is SourceFileLoader and spec.origin is not None:
            spec.loader = _RecordingLoader(name, spec.origin)
        return spec


def import_file(name: str, path: Path) -> ModuleType:
    """Execute a user's file as the module ``name``; the executed source is the source that will be hashed.

    The file can import the files next to it.  Raises ImportError if one of them has the name of a module that a file of another
    folder has imported.
    """
    _FOLDERS[path.resolve().parent] = None
    if _RecordingFinder not in sys.meta_path:
        sys.meta_path.insert(0, _RecordingFinder)
        sys.meta_path.append(_NeighbourFinder)
    spec = spec_from_file_location(name, path, loader=_RecordingLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    for sibling in hash_files(path).keys() - {path.name}:
        hidden = Path(sibling).with_suffix("")
        parts = hidden.parent.parts if hidden.name == "__init__" else hidden.parts
        file = getattr(sys.modules.get(".".join(parts)), "__file__", None)
        if file and Path(file).resolve() in _EXECUTED and Path(file).resolve() != path.resolve().parent / sibling:
            raise ImportError(f"{sibling} has the name of {file}, which another study imports: use a process for each")
    return module


def check_unchanged(path: str, code: Mapping[str, str]) -> None:
    """Raise ParameterError if a file of a fingerprint has changed on disk since it was executed."""
    for name, known in code.items():
        file = Path(path).resolve().parent / name
        if name.endswith(".py") and file.is_file() and _hash_text(_normalized_source(file.read_bytes())[0]) != known:
            raise ParameterError(f"{plain_text(str(file))} has changed since it was loaded: start again")


def _strip_docstrings(tree: ast.Module) -> str:
    """Return the source without docstrings; the text is the same in every Python version that has the syntax."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not body:
            continue
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            node.body = body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _sibling_imports(tree: ast.Module, folder: Path) -> Iterator[Path]:
    """Yield the files in ``folder`` that a syntax tree imports."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            module = folder.joinpath(*name.split("."))
            yield from (p for p in (module.with_suffix(".py"), module / "__init__.py") if p.is_file())


def _hash_text(text: str) -> str:
    """Return the first 64 bits of the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _executed_source(file: Path) -> bytes:
    """Return the source of a file as this process executed it, or else as it is on disk."""
    known = _EXECUTED.get(file.resolve())
    return file.read_bytes() if known is None else known


def _normalized_source(source: bytes) -> tuple[str, ast.Module | None]:
    """Return source without docstrings and comments, and its tree; source that cannot be parsed is returned as it is."""
    try:
        tree = ast.parse(source)
        return _strip_docstrings(tree), tree
    except (SyntaxError, ValueError):
        return source.decode(errors="surrogateescape"), None


def hash_files(path: Path) -> dict[str, str]:
    """Return the hashes of a file and of the files it imports, by relative path; an unparsable file counts by its bytes."""
    path = path.resolve()
    out: dict[str, str] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        name = file.relative_to(path.parent).as_posix()
        if name not in out:
            text, tree = _normalized_source(_executed_source(file))
            out[name] = _hash_text(text)
            waiting += () if tree is None else _sibling_imports(tree, path.parent)
    return dict(sorted(out.items()))


@functools.cache
def _packages_of_studies() -> set[str]:
    """Return the packages that have entry points of studies."""
    return {p.module.partition(".")[0] for points in find_entry_points(GROUP).values() for p in points}


@functools.cache
def _is_user_module(module: str) -> bool:
    """Whether a module is a user's: not of fastcube, a package of studies or site-packages, which declare their revisions."""
    top = module.partition(".")[0]
    if top in {"fastcube", *sys.stdlib_module_names, *_packages_of_studies()}:
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return module == "__main__" or {"site-packages", "dist-packages"}.isdisjoint(Path(file).resolve().parts)


def _function_source(function: FunctionType) -> str:
    """Return the source of a function without a file: from a notebook's memory, or else its bytecode."""
    try:
        return _strip_docstrings(ast.parse(textwrap.dedent(inspect.getsource(function))))
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
    if hash_bytecode(function.__code__) not in _compile_functions(_executed_source(file)):
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
    return {inside.with_suffix(".py").as_posix(): _hash_text(_normalized_source(_executed_source(file))[0])}


def hash_functions(*roots: Any) -> dict[str, str]:
    """Return the fingerprint of functions and of all that they call, but not of installed code.

    Its keys are files, relative to the folder of a function's file, functions without a file, and values that the compiler
    freezes (``FILE: NAME``).
    """
    found: dict[str, set[str]] = {}
    for function, values in captured_values.iter_compiled_functions(roots, _is_user_module):
        if _is_user_module(captured_values.defining_module(function)):
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


def locate_name(root: Any, error: BaseException) -> str:
    """Return the place where a user's function, compiled into ``root``, reads the name or attribute that an error misses.

    The place is ``File "FILE", line N`` of the first such use, as in tracebacks, or empty if the error is of another kind.
    """
    found = re.search(r"name '(\w+)' is not defined|has no attribute '(\w+)'", str(error))
    if found is None:
        return ""
    opcodes = {"LOAD_GLOBAL"} if found[1] else {"LOAD_ATTR", "LOAD_METHOD"}
    for function, _ in captured_values.iter_compiled_functions([root], _is_user_module):
        if found[1] in function.__globals__ or not _is_user_module(captured_values.defining_module(function)):
            continue
        for instruction in dis.get_instructions(function):
            if (
                instruction.opname in opcodes
                and instruction.argval == found[found.lastindex or 0]
                and instruction.positions
            ):
                return f'File "{function.__code__.co_filename}", line {instruction.positions.lineno}'
    return ""
