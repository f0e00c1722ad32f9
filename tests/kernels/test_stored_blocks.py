"""Blocks whose intermediate code is stored in the cache, so that an edited rule is compiled without the rules beside it."""

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from helpers.processes import CLEAN_ENVIRONMENT, only_cache

from fastcube.kernels.machine import cache, llvm_link, stored_blocks
from fastcube.kernels.machine.jit import block, kernel, scratch
from fastcube.kernels.routing_rules.layout import fallback_of
from fastcube.kernels.routing_rules.rules import RULES

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")

INTEGER = (numba.int64,)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The only cache folder of this test, empty."""
    monkeypatch.setattr(stored_blocks, "list_entries", lambda place: [cache.CacheEntry(tmp_path, place)])
    return tmp_path


def add_seven(x):
    return x + np.int64(7)


def compile_block(declare=block, function=add_seven, types=INTEGER):
    """Declare a stored block anew, as another process does, and return it compiled."""
    declared = declare(stored=True)(function)
    declared.compile(types)
    return declared


def is_loaded(declared, types=INTEGER):
    return declared.overloads[types].type_annotation == ""


def test_a_block_is_compiled_once_and_then_loaded(folder):
    assert not is_loaded(compile_block())
    loaded = compile_block()
    assert is_loaded(loaded)

    @kernel("int64(int64)", cache=False)
    def call(x):
        return loaded(x)

    assert call.compiled(3) == 10


def test_blocks_are_distinguished_by_types_and_declaration(folder):
    compile_block()
    assert not is_loaded(compile_block(types=(numba.float64,)), (numba.float64,))
    assert not is_loaded(compile_block(declare=scratch))


def test_an_entry_that_is_damaged_is_written_again(folder):
    compile_block()
    (entry,) = (folder / "blocks").glob("*.nbi")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert not is_loaded(compile_block())
    assert is_loaded(compile_block())


def test_an_entry_that_cannot_be_read_is_written_again(folder):
    compile_block()
    (entry,) = (folder / "blocks").glob("*.nbi")
    entry.write_bytes(b"of another library")
    cache.CacheEntry(folder, str(entry.relative_to(folder))).write_checksums()
    assert not is_loaded(compile_block())
    assert is_loaded(compile_block())


def test_a_full_disk_only_costs_time(folder, monkeypatch):
    def fail(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(stored_blocks, "write_file", fail)
    assert not is_loaded(compile_block())
    assert not is_loaded(compile_block())


def test_a_block_alone_in_a_stored_one_stays_a_separate_function(folder, monkeypatch):
    inner = block(alone=True)(add_seven)

    def call_inner(x):
        return inner(x)

    compile_block(function=call_inner)
    separate = set()
    monkeypatch.setattr(stored_blocks, "SEPARATE_SYMBOLS", separate)
    assert is_loaded(compile_block(function=call_inner))
    assert len(separate) == 1
    assert separate <= llvm_link.SEPARATE_SYMBOLS


@pytest.mark.parametrize("name", [name for name in RULES if name != "ROUTE"])  # ROUTE's block returns a constant
def test_built_in_rules_are_stored(name):
    rule = fallback_of(RULES[name]) or RULES[name]
    assert rule.compile.__module__ == stored_blocks.__name__


# Prints the functions that are compiled and the results of ROUTE1 and LEVELS, for the table of the file in the present folder.
COMPARE = """
import json
import numba.core.event as event
import fastcube as fc
import rule

compiled = []
class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        compiled.append(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
study = fc.routing_rules_study([rule.mine, "ROUTE1", "LEVELS"])
results = fc.run(study, n=6, f=12, links=0, trials=3000)
counts = results.tallies[6, 12, 0].counts
print(json.dumps([compiled, {k: v for k, v in counts.items() if k.startswith(("route1", "levels"))}, counts["mine_limit"]]))
"""

RULE = """
from fastcube.blocks import LIMIT, STUCK, block

@block
def mine(world, status, s, t):
    return {}
"""


@pytest.mark.kernels
def test_an_edited_rule_is_compiled_without_the_rules_beside_it(tmp_path):
    def run(result):
        (tmp_path / "rule.py").write_text(RULE.format(result))
        variables = CLEAN_ENVIRONMENT | only_cache(tmp_path / "cache") | {"PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", COMPARE]
        done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True, cwd=tmp_path)
        return json.loads(done.stdout)

    first, counts, limited = run("STUCK")
    edited, same_counts, all_limited = run("LIMIT")
    assert (same_counts, limited, all_limited) == (counts, 0, 3000)
    stored = {path.name.rpartition("-")[0] for path in (tmp_path / "cache").rglob("blocks/*.nbi")}
    assert {"draw", "set_up", "route1", "levels", "find_shortest_length"} <= stored
    assert not stored & {name.rpartition(".")[2] for name in edited}
    assert "rule.mine" in edited
    assert 3 * len(edited) < len(first)
