"""Source text in the form that is hashed: without docstrings and comments, which cannot change a trial."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def normalize_source(source: bytes) -> tuple[str, ast.Module | None]:
    """Return source without docstrings and comments, and its tree; source that cannot be parsed as it is, and None."""
    try:
        tree = ast.parse(source)
        return strip_docstrings(tree), tree
    except (SyntaxError, ValueError):
        return source.decode(errors="surrogateescape"), None


def strip_docstrings(tree: ast.Module) -> str:
    """Return the source of a tree without docstrings, which it removes from the tree; comments are not in the tree.

    The text is the same in every Python version that has the syntax.
    """
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not body:
            continue
        first = body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            node.body = body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def list_imports(tree: ast.Module, folder: Path) -> Iterator[Path]:
    """Yield the files in ``folder`` that a syntax tree imports, with repetitions.  Relative imports are those of packages."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            module = folder.joinpath(*name.split("."))
            yield from (p for p in (module.with_suffix(".py"), module / "__init__.py") if p.is_file())
