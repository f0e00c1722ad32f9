"""How much work a trial is, counted and not timed: vector operations and calls of the generator, in the kernels' Python bodies.

Compiled, each operation of ``simd`` is one instruction, or a few; so an operation more in a hot loop stands here, whatever the
machine and its load, and the instructions that the hot loops became stand in LOOPS.  Where a change makes less work, or more on
purpose, the new numbers go into WORK and LOOPS.
"""

import json

import pytest
from helpers.machine_code import assembly_text, has_cpu_feature
from helpers.processes import run_without_compiling
from helpers.study_table import STUDIES
from helpers.work_counted import WORK

PLAIN = """
import json
from helpers.work_counted import WORK, count_operations
print(json.dumps([count_operations(*place) for place in WORK]))
"""


@pytest.fixture(scope="module")
def found():
    """The work at all points, as Python."""
    return dict(zip(WORK, map(tuple, json.loads(run_without_compiling(PLAIN))), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("place", WORK, ids=str)
def test_a_trial_is_no_more_work_than_it_was(found, place):
    assert found[place] == WORK[place]


# ---------------------------------------------------------------- the hot loops in the machine code

#: Of a kernel: an instruction, how often its hot loop has it, and how many instructions the loop then has at most: a twentieth
#: more than it has, for other versions of LLVM.  For some processors LLVM unrolls a loop once more: then both are twice as many.
#: 64 products are the generator for four vectors.
LOOPS = [
    ("unsafe-fraction", "lanes.LANES_16", "vpmuludq", 64, 260),
    ("unsafe-fraction", "lanes.LANES_16", "vpopcnt", 8, 32),
    ("unsafe-fraction", "lanes.LANES_32", "vpmuludq", 64, 276),
    ("unsafe-fraction", "lanes.LANES_32", "vpopcnt", 8, 32),
    ("routing", "lanes.ROUTING_LANES_16", "vpmuludq", 64, 277),
    ("routing", "lanes.ROUTING_LANES_16", "vpopcnt", 8, 32),
    ("two-partition", "lanes.TWO_PARTITION_LANES_16", "vpmuludq", 64, 290),
    ("two-partition", "lanes.TWO_PARTITION_LANES_16", "vpmin", 16, 42),
    ("find-tree", "scalar.FIND_TREE_DENSE", "vpmuludq", 32, 123),
    ("find-tree", "lanes.find_tree_lanes", "vpmin", 8, 21),
    ("survival", "close_faults.SURVIVAL_CLOSE_FAULTS_16", "vpmuludq", 64, 282),
    ("survival-rate", "lanes.SURVIVAL_RATE_NODES", "vpmuludq", 64, 395),
    ("unsafe-critical", "rate.unsafe_digits", "vpmuludq", 64, 379),
    ("unsafe-critical", "rate.unsafe_digits", "vpopcnt", 8, 21),
]

#: Words that one call passes, of the scratch of dozens of arrays that it would pass if LLVM thought that others call it too: 287.
MOST_PASSED = 80


def blocks_of(text):
    """The instructions of each basic block of an assembly."""
    blocks = [[]]
    for line in map(str.strip, text.splitlines()):
        if line.endswith(":"):
            blocks.append([])
        elif line and line[0] not in ".#":
            blocks[-1].append(line)
            if line[0] == "j":
                blocks.append([])
    return blocks


@pytest.mark.kernels
@pytest.mark.skipif(not has_cpu_feature("avx512bitalg"), reason="this CPU counts no bits in vectors")
@pytest.mark.parametrize(("study", "kernel", "instruction", "often", "most"), LOOPS)
def test_a_hot_loop_is_no_longer_than_it_was(study, kernel, instruction, often, most):
    blocks = blocks_of(assembly_text(STUDIES[study].table.load_kernel(kernel)))
    found = [(sum(line.startswith(instruction) for line in b), len(b)) for b in blocks]
    assert min(length / times for times, length in found if times >= often) <= most / often
    assert max(sum(line.startswith("push") for line in b) for b in blocks) <= MOST_PASSED
