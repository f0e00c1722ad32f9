"""The three kinds of compiled functions: what a block must not do is refused when it is compiled."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numba
import numpy as np
import pytest
from helpers.machine_code import assembly_text

import fastcube.kernels
from fastcube.kernels.machine import cache, llvm_link, numba_internals
from fastcube.kernels.machine.jit import Kernel, block, kernel, scratch

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@scratch
def made(n):
    return np.ones(n), np.int64(n)


@block
def second_of(values):
    return values, values[1]


@block
def allocating(n):
    return np.zeros(n).sum()


@block
def making(n):
    values, _ = made(n)
    return values.sum()


@block(always=True)
def summed(values):
    return values[1:].sum()


def test_a_block_works_on_arrays_that_a_scratch_made():
    @kernel("float64(int64)", cache=False)
    def total(n):
        values, _ = made(n)
        return summed(values)

    assert total(5) == 4.0


def test_a_block_called_from_python_is_its_plain_function():
    @block
    def doubled(x):
        return 2 * x

    @kernel("int64(int64)", cache=False)
    def quadrupled(x):
        return doubled(doubled(x))

    assert [doubled(4), quadrupled(4), doubled(4), doubled("ab")] == [8, 16, 8, "abab"]


@block
def even(n):
    return n == 0 or odd(n - 1)


@block
def odd(n):
    return n != 0 and even(n - 1)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda n: second_of(np.zeros(n))[1], "second_of returns an array"),
        (lambda n: -allocating(n), "empty|zeros"),
        (lambda n: -making(n), "whose arrays it would never free"),
        (lambda n: 1.0 if even(n) else 0.0, "odd calls a function that calls it"),
    ],
)
def test_a_block_that_allocates_or_lets_arrays_go_is_refused(wrong, problem):
    made(3)  # compiled with its own settings, whatever is compiled first
    refused = kernel("float64(int64)", cache=False)(wrong)
    with pytest.raises(numba.core.errors.TypingError, match=problem):
        refused(3)


def descending(declare):
    """A kernel over a function that calls itself with other types than it is called with: 9 is a type of its own."""

    @declare
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    def last(n):
        return fibonacci(9) + n

    last.__module__ = f"{fastcube.kernels.__name__}.toy"
    return kernel("int64(int64)", variant=declare.__name__)(last)


@pytest.mark.parametrize(("declare", "hits"), [(block, 1), (numba.njit, 0)])
def test_recursion_from_a_constant(tmp_path, monkeypatch, declare, hits):
    """Numba's way of calling a function that is not compiled yet is no code that another process may load."""
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    first, again = descending(declare), descending(declare)
    assert [first(3), again(3)] == [37, 37]
    assert sum(again.compiled.stats.cache_hits.values()) == hits


@block
def telling(n):
    print("n =", n)
    return n


@scratch
def telling_array(n):
    values = np.full(n, 2.5)
    print(values[0], n > 1)
    return values


@pytest.mark.slow
def test_a_block_may_print(capsys):
    """It reads its environment, which numba sets where a function is machine code of its own."""

    @kernel("int64(int64)", cache=False)
    def reported(n):
        telling_array(n)
        return telling(n)

    assert reported(3) == 3
    assert capsys.readouterr().out == "2.5 True\nn = 3\n"


def test_no_machine_code_is_made_of_a_block_that_does_not_print(capsys):
    @block
    def quiet(n):
        return n + 1

    @block(alone=True)
    def alone(n):
        return n - 1

    @kernel("int64(int64)", cache=False)
    def all_of_them(n):
        return quiet(telling(alone(n)))

    assert all_of_them(3) == 3
    made = [next(iter(each.overloads.values())) for each in (quiet, alone, telling)]
    have = [m.library._codegen._engine.is_symbol_defined(m.fndesc.llvm_func_name) for m in made]
    assert have == [False, False, True]


def test_python_may_call_a_block():
    assert summed(np.arange(4.0)) == 6.0
    values, n = made(2)
    assert (values.tolist(), n) == ([1.0, 1.0], 2)


def adding(amount):
    """A kernel over a block, as the factories of lane kernels make them."""

    @block
    def add(n):
        return n + amount

    def total(n):
        return add(n)

    total.__module__ = f"{fastcube.kernels.__name__}.toy"
    return kernel("int64(int64)", variant=f"{amount}")(total)


def test_a_kernel_over_a_block_is_found_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    first, again, other = adding(1), adding(1), adding(2)
    assert [first(3), again(3), other(3)] == [4, 4, 5]
    hits = [sum(each.compiled.stats.cache_hits.values()) for each in (first, again, other)]
    assert hits == [0, 1, 0]
    assert [each.loaded for each in (first, again, other)] == [False, True, False]


def test_no_two_kernels_share_a_name():
    """Their names distinguish their entries in the cache."""
    found = {}
    for module in pkgutil.walk_packages(fastcube.kernels.__path__, f"{fastcube.kernels.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            several = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            )
            found |= {id(each): each for each in several if isinstance(each, Kernel)}
    names = Counter((each.function.__module__, each.function.__qualname__) for each in found.values())
    assert len(names) > 30 and max(names.values()) == 1


# ---------------------------------------------------------------- numba's private members

GONE = """
import numba, sys, warnings
from fastcube.kernels.machine import numba_internals
if sys.argv[1]:
    numba_internals.has_member = lambda name: name != sys.argv[1]
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import toy
    print(toy.TOY.count({"a": 1, "work": 0.0}, 1000))
print([str(line.message) for line in said if "lacks" in str(line.message)])
from fastcube.kernels.draws import philox
hooks = {"compile", "add_overload", "_compile_for_args"}
print(sorted(hooks & vars(philox.random_word).keys()))
"""


@pytest.mark.slow  # three seconds each
@pytest.mark.parametrize("gone", [*numba_internals.BLOCK_HOOKS, *numba_internals.CACHE_HOOKS])
def test_without_a_private_member_of_numba_the_same_is_counted(gone):
    """Each of those hooked taken away: one line, and plain compilation."""
    said = []
    for name in ("", gone):
        run = [sys.executable, "-c", GONE, name]
        done = subprocess.run(
            run, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1] / "helpers"
        )
        said.append(done.stdout.splitlines())
    (counts, nothing, hooked), (same, line, plain) = said
    assert (counts, nothing) == (same, "[]")
    assert line.count(" lacks ") == 1
    assert f" lacks {gone}: " in line
    assert hooked.startswith("['_compile_for_args'")
    assert plain.startswith("[]") == (gone in numba_internals.BLOCK_HOOKS)


def test_a_module_a_class_or_a_member_may_be_missing():
    there = "typed_passes.NativeLowering.lowering_class"
    gone = "no_passes.NativeLowering.lowering_class", "typed_passes.Lowering.lowering_class", f"{there}_"
    assert [numba_internals.has_member(name) for name in (there, *gone)] == [True, False, False, False]


#: Private members of numba's objects, which ``hasattr`` of a class cannot see.
OF_INSTANCES = {
    *(
        "_cache",
        "_cache_file",
        "_cache_path",
        "_impl",
        "_lineno",
        "_locator",
        "_name",
        "_py_func",
    ),  # of dispatchers' caches
    *("_final_module", "_finalized"),  # of libraries
}


def private_members(tree):
    """Private members that a module reads or sets of objects other than its own, or inherits in a class of another package."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    for node in ast.walk(tree):
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        if any(isinstance(base, ast.Attribute) for base in bases):
            yield from (found.attr for found in ast.walk(node) if isinstance(found, ast.Attribute))
            yield from (found.name for found in node.body if isinstance(found, ast.FunctionDef))
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            yield from {node.attr} - own


def test_every_private_member_of_numba_that_is_used_is_known():
    """A new one is looked for before it is used, so that a version without it is one warning."""
    folder = Path(numba_internals.__file__).parent
    trees = {path.name: ast.parse(path.read_text()) for path in folder.glob("*.py")}
    used = {
        name: {member for member in private_members(tree) if re.match("_[a-z]", member)} - {"_replace", "_fields"}
        for name, tree in trees.items()
        if "numba" in ast.unparse(tree)
    }
    hooks = (*numba_internals.BLOCK_HOOKS, *numba_internals.CACHE_HOOKS)
    known = {part for name in hooks for part in name.split(".")} | OF_INSTANCES
    assert {name: members - known for name, members in used.items() if members - known} == {}
    assert set().union(*used.values()) >= OF_INSTANCES


def test_what_is_linked_into_a_kernel_is_no_symbol_of_its_machine_code():
    @scratch
    def workspace(n):
        return np.ones(n)

    @kernel("float64(int64)", cache=False)
    def summed(n):
        ones = workspace(n)
        return ones[0] + ones[n - 1]

    assert summed(3) == 2
    lines = (line.split() for line in assembly_text(summed).splitlines() if "@function" in line)
    functions = [line[1] for line in lines]
    assert any(name.startswith(".L") for name in functions)
    assert all(name.startswith(".L") or "summed" in name for name in functions)


@pytest.mark.parametrize("features", [{"ssse3"}, {"ssse3", "avx2"}, {"ssse3", "avx2", "avx512f"}])
def test_stack_frames_are_aligned_to_the_vectors_of_avx2(monkeypatch, features):
    """Else the time of a trial depends on where the system puts a process's stack."""
    monkeypatch.setattr(llvm_link, "FEATURES", features)

    @block(alone=True)
    def factorial(n):
        return n * factorial(n - 1) * factorial(n - 2) if n > 1 else 1  # LLVM inlines no such recursion

    @kernel("int64(int64)", cache=False)
    def called(n):
        return factorial(n)

    assert called(4) == 4 * (3 * 2) * 2
    (compiled,) = called.compiled.overloads.values()
    text = str(compiled.library._get_module_for_linking())
    aligned = set(re.findall(r"^attributes (#\d+) = .*alignstack=?\(?32", text, re.M))
    functions = re.findall(r"^define .*@(\S+?)\(.* (#\d+) {$", text, re.M)
    for name in ("factorial", "called"):
        found = [attributes in aligned for function, attributes in functions if name in function]
        assert any(found) == (features == {"ssse3", "avx2"}), name
