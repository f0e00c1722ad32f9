"""Instructions of vector operations on 512 bits, by processor: ``python benchmarks/instructions.py`` prints a table in Markdown.

Each operation of ``kernels/machine/simd.py`` that is written for some targets is compiled alone, with the loads and stores of its
vectors, for processors that this machine need not be.  Nothing is run, so the table says nothing about time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

#: Processor, LLVM's triple and the features that the emitters test.
TARGETS = {
    "AVX-512 (Zen 4)": (
        "znver4",
        "x86_64-unknown-linux-gnu",
        "ssse3 avx2 avx512f avx512bw avx512cd avx512vbmi2 avx512vpopcntdq",
    ),
    "AVX2 (Zen 3)": ("znver3", "x86_64-unknown-linux-gnu", "ssse3 avx2"),
    "x86-64-v2": ("x86-64-v2", "x86_64-unknown-linux-gnu", "ssse3"),
    "x86-64": ("x86-64", "x86_64-unknown-linux-gnu", ""),
    "NEON (Neoverse N1)": ("neoverse-n1", "aarch64-unknown-linux-gnu", "neon"),
}
WIDTHS = (8, 16, 32, 64)


def count_instructions(target: str) -> list[list[int]]:
    """Return the number of instructions of each operation for each width; this process must compile for no other target."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    from fastcube.kernels.machine import target as known

    cpu, triple, features = TARGETS[target]
    known.FEATURES = frozenset(features.split())  # before the emitters read it
    from fastcube.kernels.machine import simd

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
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
        module.triple = triple
        parsed = llvm.parse_assembly(str(module))
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(parsed, passes)
        lines = machine.emit_assembly(parsed).partition("f:")[2].partition(".size")[0].splitlines()
        return sum(line.startswith("\t") and not line.startswith("\t.") and "ret" not in line for line in lines)

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


def main() -> None:
    """Print the table, or the counts of one target, which needs a process of its own."""
    if len(sys.argv) > 1:
        print(count_instructions(sys.argv[1]))
        return
    names = ("`store_compressed`", "`top_bit`", "`one_hot`", "`select` by a `mask`", "`closeness`")
    counts = {}
    for target in TARGETS:
        run = subprocess.run([sys.executable, __file__, target], capture_output=True, text=True, check=True)
        counts[target] = json.loads(run.stdout)
    print("| lanes of 8, 16, 32, 64 bits | " + " | ".join(TARGETS) + " |")
    print("|---" * (len(TARGETS) + 1) + "|")
    for i, name in enumerate(names):
        print(f"| {name} | " + " | ".join(", ".join(map(str, counts[target][i])) for target in TARGETS) + " |")


if __name__ == "__main__":
    main()
