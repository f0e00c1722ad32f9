"""Instructions of vector operations and of blocks, by processor: ``python benchmarks/instructions.py`` prints tables in Markdown.

Each operation of ``kernels/machine/simd.py`` that is written for some targets is compiled alone, with the loads and stores of its
vectors, for processors that this machine need not be.  The blocks are those in which kernels spend most of their time, each with
all that it calls.  Nothing is run, so the tables say nothing about time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Processor, LLVM's triple and the features that the emitters test.
TARGETS = {
    "AVX-512 (Zen 4)": (
        "znver4",
        "x86_64-unknown-linux-gnu",
        "ssse3 avx2 bmi2 gfni avx512f avx512bw avx512cd avx512vbmi2 avx512vpopcntdq",
    ),
    "AVX2 (Zen 3)": ("znver3", "x86_64-unknown-linux-gnu", "ssse3 avx2 bmi2"),
    "x86-64-v2": ("x86-64-v2", "x86_64-unknown-linux-gnu", "ssse3"),
    "x86-64": ("x86-64", "x86_64-unknown-linux-gnu", ""),
    "NEON (Neoverse N1)": ("neoverse-n1", "aarch64-unknown-linux-gnu", "neon"),
}
WIDTHS = (8, 16, 32, 64)


#: Blocks: the step, a study, one of its kernels, and the block's function, which the kernel calls.
BLOCKS = (
    ("sample labels of four vectors", "unsafe-fraction", "lanes.LANES_16", "draw_four_vectors"),
    ("compare pairs of faults", "unsafe-fraction", "lanes.LANES_16", "scan_pairs"),
    ("merge subcubes of queued trials", "unsafe-fraction", "lanes.LANES_16", "_close_queue"),
    ("sample faults by a rate", "unsafe-critical", "rate.unsafe_digits", "compare_digits"),
    ("a round of whole cubes", "unsafe-fraction", "small.SMALL_8", "run_cubes_round"),
    ("count close faults", "survival", "close_faults.SURVIVAL_CLOSE_FAULTS_16", "_close_fault_lanes"),
    ("move past faults", "routing-rate", "rate.routing_rate", "move_messages"),
    ("walk in a dual-cube", "dualcube-routing", "scalar.ROUTES", "_advance_walks"),
    ("order the dimensions of a tree", "find-tree", "lanes.find_tree_lanes", "find_orders"),
    ("costs of all orders", "optimal-tree", "lattice_lanes.optimal_tree_lanes", "_find_fewest"),
)


def make_machine(target: str) -> Any:
    """Return LLVM's compiler for a target, for which numba then makes LLVM's code in this process, too."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    cpu, triple, _ = TARGETS[target]
    llvm.get_process_triple = lambda: triple  # numba reads it when it is imported
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)


def optimise(machine: Any, module: Any) -> None:
    """Run LLVM's passes over a module."""
    import llvmlite.binding as llvm

    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)


def count_lines(assembly: str, name: str) -> int:
    """Return the number of instructions of a function, without its returns."""
    lines = assembly.partition(f"\n{name}:")[2].partition(".size")[0].splitlines()
    return sum(line[:1] == "\t" and line[1:2].isalpha() and "ret" not in line for line in lines)


class ModuleReadError(BaseException):
    """Ends numba's compilation when the module of a kernel has been read."""


def read_module(kernel: Any) -> str:
    """Return LLVM's code of a kernel before it is optimised."""
    from fastcube.kernels.machine import llvm_link

    texts = []

    def read(library: Any, optimize: Any) -> None:
        texts.append(str(library._final_module))
        raise ModuleReadError

    llvm_link._optimize_as_one = read
    try:
        kernel._make_dispatcher(None).compile(kernel.signature)
    except ModuleReadError:
        return texts[0]
    raise AssertionError("numba did not link the kernel")


def count_blocks(machine: Any) -> list[int]:
    """Return the number of instructions of each block."""
    import llvmlite.binding as llvm

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from helpers.study_table import STUDIES

    counts, texts = [], {}
    for _, study, kernel, block in BLOCKS:
        text = texts.setdefault((study, kernel), "") or read_module(STUDIES[study].table.load_kernel(kernel))
        texts[study, kernel] = text
        module = llvm.parse_assembly(text)
        defined = [function for function in module.functions if not function.is_declaration]
        (name,) = (function.name for function in defined if f"{len(block)}{block}" in function.name)
        for function in defined:  # what the block does not call is dropped
            function.linkage = llvm.Linkage.external if function.name == name else llvm.Linkage.internal
        optimise(machine, module)
        counts.append(count_lines(machine.emit_assembly(module), name))
    return counts


def count_operations(machine: Any) -> list[list[int]]:
    """Return the number of instructions of each operation for each width."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    from fastcube.kernels.machine import simd

    word = ir.IntType(64)

    def count(emit: Callable[..., Any], width: int, *scalars: Any) -> int:
        vector = simd.Vector(width)
        kind, item = simd.llvm_type(vector), ir.IntType(width).as_pointer()
        module = ir.Module()
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [item, item, word]), "f")
        b = ir.IRBuilder(function.append_basic_block())
        source, out, chosen = function.args
        x = b.load(b.bitcast(source, kind.as_pointer()), align=1)
        result = emit(b, vector, x, chosen, out)
        if result is not None:
            b.store(result, b.bitcast(out, kind.as_pointer()), align=1)
        b.ret_void()
        module.triple = machine.triple
        parsed = llvm.parse_assembly(str(module))
        optimise(machine, parsed)
        return count_lines(machine.emit_assembly(parsed), "f")

    def store_compressed(b: Any, v: Any, x: Any, chosen: Any, out: Any) -> None:
        simd._emit_store_compressed(b, (None, None, None, v), out, word(0), chosen, x)

    def select(b: Any, v: Any, x: Any, chosen: Any, out: Any) -> Any:
        return b.select(simd._emit_mask(b, (v,), x, chosen), x, ir.Constant(x.type, [0] * v.lanes))

    operations = (
        store_compressed,
        lambda b, v, x, chosen, out: simd._emit_top(b, (v,), x),
        lambda b, v, x, chosen, out: simd._emit_one_hot(b, (v,), x),
        select,
        lambda b, v, x, chosen, out: simd._emit_closeness(b, (v,), x),
    )
    return [[count(emit, width) for width in WIDTHS] for emit in operations]


def print_table(head: str, names: tuple[str, ...], columns: dict[str, list[str]]) -> None:
    """Print a table with a row per name and a column per processor."""
    print(f"| {head} | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for i, name in enumerate(names):
        print(f"| {name} | " + " | ".join(column[i] for column in columns.values()) + " |")


def main() -> None:
    """Print the tables, or the counts of one target, which needs a process of its own."""
    if len(sys.argv) > 1:
        machine = make_machine(sys.argv[1])
        print(json.dumps([count_operations(machine), count_blocks(machine)]))
        return
    operations, blocks = {}, {}
    for target, (cpu, _, features) in TARGETS.items():
        switched = ",".join(f"+{feature}" for feature in features.split())
        environment = {**os.environ, "NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": switched}
        run = subprocess.run([sys.executable, __file__, target], stdout=subprocess.PIPE, env=environment, check=True)
        by_width, of_blocks = json.loads(run.stdout)
        operations[target] = [", ".join(map(str, counts)) for counts in by_width]
        blocks[target] = [str(count) for count in of_blocks]
    names = ("`store_compressed`", "`top_bit`", "`one_hot`", "`select` by a `mask`", "`closeness`")
    print_table("lanes of 8, 16, 32, 64 bits", names, operations)
    print()
    print_table("block", tuple(f"{step} (`{block}`)" for step, _, _, block in BLOCKS), blocks)


if __name__ == "__main__":
    main()
