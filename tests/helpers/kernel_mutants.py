"""Line mutants of kernels: a program chooses them, and a process runs a subject's kernels with one of them as plain Python.

A mutant changes one operator, comparison or integer of a function of ``kernels/SUBJECT`` that the subject's points reach.  The
mutants of a subject are those whose hash is smallest, so that a change of one function leaves the mutants of all others as they
are.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import fastcube as fc
from fastcube import kernels as kernels_package

KERNELS = Path(next(iter(kernels_package.__path__)))

#: Seed of the choice, and CPU seconds beyond twice the time of the kernels after which a mutant is taken to run for ever.
SEED, STUCK = 46, 5

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.And: ast.Or, ast.Or: ast.And, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # a table of pairs # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed place of a module."""

    module: str  #: "trees.lanes"
    text: str  #: "find_tree_lanes: links >= n -> links > n"
    place: int  #: among the nodes of the module's tree that can change

    def __str__(self) -> str:
        return f"{self.module}.{self.text}"


def _change_node(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.Constant):
        node.value += 1
    else:
        node.op = SWAPS[type(node.op)]()


def _can_change(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
    return type(operator) in SWAPS


def _iter_places(tree: ast.AST, function: str = "", statement: ast.AST | None = None) -> Iterator[tuple[str, Any, Any]]:
    """Nodes in functions that can change, each with its function and its statement."""
    decorators = getattr(tree, "decorator_list", [])  # they name a kernel
    for child in (child for child in ast.iter_child_nodes(tree) if child not in decorators):
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        holder = child if isinstance(child, ast.stmt) else statement
        if function and _can_change(child):
            yield function, holder, child
        yield from _iter_places(child, inside, holder)


def _line_of(statement: ast.stmt) -> str:
    return ast.unparse(statement).splitlines()[0].removesuffix(":")


def iter_mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse((KERNELS / f"{module.replace('.', '/')}.py").read_text())
    for place, (function, statement, node) in enumerate(_iter_places(tree)):
        before = _line_of(statement)
        old = {name: getattr(node, name) for name in ("ops", "op", "value") if hasattr(node, name)}
        old = {name: value[:] if isinstance(value, list) else value for name, value in old.items()}
        _change_node(node)
        after = _line_of(statement)
        for name, value in old.items():
            setattr(node, name, value)
        if before != after:
            yield Mutant(module, f"{function}: {before} -> {after}", place)


def choose_mutants(subject: str, count: int, reached: Collection[str]) -> list[Mutant]:
    """The mutants of reached functions that have the smallest hashes."""
    modules = sorted({name.rpartition(".")[0] for name in reached if name.startswith(f"{subject}.")})
    mutants = (m for module in modules for m in iter_mutants(module))
    found = {str(m): m for m in mutants if f"{m.module}.{m.text.partition(':')[0]}" in reached}
    return sorted(found.values(), key=lambda m: hashlib.sha256(f"{SEED} {m}".encode()).digest())[:count]


class _MutantLoader(importlib.abc.MetaPathFinder):
    """Imports one module of kernels with a place changed."""

    def __init__(self, module: str, place: int) -> None:
        self._name, self._place = f"fastcube.kernels.{module}", place

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec and spec.loader and spec.origin
        tree = ast.parse(Path(spec.origin).read_text())
        _change_node([node for _, _, node in _iter_places(tree)][self._place])
        code = compile(tree, spec.origin, "exec")
        spec.loader.get_code = lambda fullname: code  # type: ignore[attr-defined]
        return spec


def count_at_points(points: list[Any]) -> Iterator[str]:
    """Yield the counts of each kernel at each of the points (study, values of the axes, kernel, trials), as JSON.

    A point may also be a function of ``helpers``: its subject, no values, "module.function", and zero.
    """
    from helpers.study_table import STUDIES

    for name, values, kernel, trials in points:
        if name not in STUDIES:
            module, _, function = kernel.partition(".")
            yield json.dumps(getattr(import_module(f"helpers.{module}"), function)())
            continue
        study = fc.study(name)
        point = study.point(dict(zip((axis.name for axis in study.axes), values, strict=True)))
        slots = study.tally.new_tally()
        body = STUDIES[name].table.load_kernel(kernel).compiled
        body(np.uint64(study.key(5, point)), 3, 3 + trials, study.parameters(point), slots)
        yield json.dumps(study.tally.read(slots))


def count_and_follow(points: list[Any]) -> tuple[list[str], list[str], float]:
    """Return the counts, the functions of kernels that are reached ("trees.lanes.find_sinks"), and the CPU seconds taken."""
    from helpers.study_table import STUDIES

    for name, _, kernel, _ in points:
        if name in STUDIES:
            STUDIES[name].table.load_kernel(kernel)  # the profile follows calls, not imports
    reached = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        module = str(frame.f_globals.get("__name__"))
        if event == "call" and module.startswith("fastcube.kernels."):
            reached.add(f"{module.removeprefix('fastcube.kernels.')}.{frame.f_code.co_name}")

    begin = time.process_time()
    sys.setprofile(note)
    counts = list(count_at_points(points))
    sys.setprofile(None)
    return counts, sorted(reached), time.process_time() - begin


def find_difference(mutant: Mutant, points: list[Any], wanted: list[str]) -> str:
    """Where the kernels of a mutant first count otherwise than is wanted: the point, the exception, or "" for nowhere."""
    assert f"fastcube.kernels.{mutant.module}" not in sys.modules
    sys.meta_path.insert(0, _MutantLoader(mutant.module, mutant.place))
    try:
        for point, old, new in zip(points, wanted, count_at_points(points), strict=True):
            if old != new:
                return repr(point)
    except Exception as problem:
        return type(problem).__name__
    assert f"fastcube.kernels.{mutant.module}" in sys.modules
    return ""


def in_fork(function: Callable[..., Any], *arguments: Any, seconds: float = 0) -> Any:
    """What a function returns, as JSON, in a fork of this process; "stuck" after so many seconds of work, "ended" by a signal."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        with os.fdopen(write, "w") as answer:
            json.dump(function(*arguments), answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(text) if status == 0 else "stuck" if status == -signal.SIGVTALRM else "ended"


def main() -> None:
    """Read a subject, points, a number of mutants and further mutants; print where each mutant counts otherwise, as JSON."""
    warnings.simplefilter("ignore")  # plain Python warns of sums modulo 2^64
    asked = json.loads(sys.stdin.read())
    for path in sorted((KERNELS / "draws").glob("[a-z]*.py")):  # before the forks, because the import takes long
        import_module(f"fastcube.kernels.draws.{path.stem}")
    points = asked["points"]
    wanted, reached, took = in_fork(count_and_follow, points)
    chosen = choose_mutants(asked["subject"], asked["count"], reached)
    chosen += (
        [m for m in iter_mutants(asked["further"][0]) if m.text == asked["further"][1]] if asked["further"] else []
    )
    most = STUCK + 2 * took
    for mutant in chosen:
        print(json.dumps([str(mutant), in_fork(find_difference, mutant, points, wanted, seconds=most)]), flush=True)


if __name__ == "__main__":
    main()
