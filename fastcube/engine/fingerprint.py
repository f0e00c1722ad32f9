"""The fingerprint of a user's code: what tells one version of a study's file from another.

The syntax trees of the file and of those it imports from beside it, without docstrings and comments: what cannot change
a trial does not count.  An installed package raises its study's ``revision`` instead.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def _bare(tree: ast.Module) -> str:
    """The source again, from the tree without docstrings: the same text in every Python version that has the syntax."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not body:
            continue
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            node.body = body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _imported(tree: ast.Module, folder: Path) -> Iterator[Path]:
    """Files beside a file that it imports."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            place = folder.joinpath(*name.split("."))
            yield from (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file())


def of_file(path: Path) -> dict[str, str]:
    """Hash of each file, by its path from the folder of the first; a file that cannot be parsed counts by its bytes."""
    path = path.resolve()
    out: dict[str, str] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        name = file.relative_to(path.parent).as_posix()
        if name in out:
            continue
        source = file.read_bytes()
        try:
            tree = ast.parse(source)
            waiting += _imported(tree, path.parent)
            source = _bare(tree).encode(errors="surrogatepass")
        except (SyntaxError, ValueError):
            pass
        out[name] = hashlib.sha256(source).hexdigest()[:16]
    return dict(sorted(out.items()))


def of_function(function: Callable[..., Any]) -> dict[str, str]:
    """As :func:`of_file` for the file of a function; empty for one of a package, and for one without a file."""
    module = sys.modules.get(function.__module__)
    file = Path(function.__code__.co_filename)
    if getattr(module, "__package__", "") or not file.is_file():
        return {}
    return of_file(file)
