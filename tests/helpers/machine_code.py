"""The assembly of a kernel, whether it was compiled just now or loaded from the cache."""

import llvmlite.binding


def assembly_text(kernel):
    """Text of the machine code's assembly.

    Numba keeps none with a kernel that it loads, but keeps the optimised module that the machine code was made from;
    making it again takes a fraction of the time of compiling the kernel anew.
    """
    (compiled,) = kernel.compiled.overloads.values()
    module = compiled.library._get_module_for_linking()
    return compiled.library._codegen._tm.emit_assembly(module)


def has_cpu_feature(feature):
    """Whether this processor has a feature, by LLVM's name for it."""
    return llvmlite.binding.get_host_cpu_features().get(feature, False)
