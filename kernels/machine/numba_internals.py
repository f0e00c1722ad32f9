"""The private members of numba that are overridden, and a check that the installed numba has them.

If members for blocks are missing, blocks are compiled as plain numba functions: compilation takes twice as long, and blocks that
allocate are not rejected.  If members for caching are missing, every process compiles its kernels in memory.  Results are the
same in all cases.
"""

from typing import Any

import numba
from numba.core import (
    base,
    bytecode,
    caching,
    codegen,
    compiler,
    dispatcher,
    lowering,
    runtime,
    serialize,
    typed_passes,
)

from .cache_roots import warn_once

#: Members overridden for blocks, and for caching: owner and name of each.
BLOCK_HOOKS: tuple[tuple[Any, str], ...] = (
    (dispatcher.Dispatcher, "compile"),
    (dispatcher.Dispatcher, "add_overload"),
    (dispatcher.Dispatcher, "_compile_for_args"),
    (compiler.CompileResult, "type_annotation"),
    (compiler.DefaultPassBuilder, "define_nopython_pipeline"),
    (compiler.Flags, "no_compile"),
    (typed_passes, "NativeLowering"),
    (typed_passes.NativeLowering, "lowering_class"),
    (lowering.Lower, "_lower_call_RecursiveCall"),
    (base.BaseContext, "insert_user_function"),
    (codegen.CPUCodeLibrary, "_optimize_final_module"),
    (codegen.CPUCodeLibrary, "_finalize_final_module"),
    (codegen.CPUCodeLibrary, "_finalize_dynamic_globals"),
    (codegen.CPUCodeLibrary, "serialize_using_bitcode"),
    (compiler, "compile_result"),
    (serialize, "dumps"),
)
CACHE_HOOKS: tuple[tuple[Any, str], ...] = (
    (bytecode.FunctionIdentity, "_unique_ids"),
    (caching.FunctionCache, "_impl_class"),
    (caching.FunctionCache, "_index_key"),
    (caching.FunctionCache, "_load_overload"),
    (caching.FunctionCache, "save_overload"),
    (runtime.rtsys, "initialize"),
    (caching.IndexDataCacheFile("", "", None), "_index_path"),
)


def has_numba_members(members: tuple[tuple[Any, str], ...], without: str) -> bool:
    """Whether numba has all these members.  If not, warn with their names and the consequence ``without``."""
    lacking = [name for owner, name in members if not hasattr(owner, name)]
    if lacking:
        warn_once(f"numba {numba.__version__} lacks {', '.join(lacking)}: {without}")
    return not lacking
