"""A script that compiles for the processor and features that the environment sets for Numba, and executes the result.

LLVM prints a message about a name that it does not know, and ends its process if a feature is missing.
"""

import ctypes
import os
import resource
import sys

import llvmlite.binding as llvm

_VECTORS_AND_ATOMICS = """
define void @probe(ptr %words) {
  %read = load <8 x i64>, ptr %words, align 8
  %squares = mul <8 x i64> %read, %read
  store <8 x i64> %squares, ptr %words, align 8
  %old = atomicrmw add ptr %words, i64 1 seq_cst, align 8
  ret void
}
"""

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    host = llvm.get_host_cpu_features()
    name = os.environ.get("NUMBA_CPU_NAME", llvm.get_host_cpu_name())
    # as Numba does: the features of the machine, unless they are set or the processor is generic
    features = os.environ.get("NUMBA_CPU_FEATURES", "" if name.lower() == "generic" else host.flatten())
    if lacking := [feature for feature, is_on in host.items() if not is_on and f"+{feature}" in features.split(",")]:
        sys.exit(f"this machine has no {lacking[0]}")
    target = llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_VECTORS_AND_ATOMICS), target)
    engine.finalize_object()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address("probe"))((ctypes.c_uint64 * 8)(*range(8)))
