"""The members of numba that are hooked though nothing promises them: which of them this numba lacks, and what is done then.

Without what blocks hook, they are functions as numba compiles them: twice as long to compile, and not refused where
they allocate.  Without what caching hooks, every process compiles its kernels in memory.  What trials give is the same.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import base, bytecode, caching, codegen, compiler, dispatcher, lowering, runtime, typed_passes

from .cache_roots import warn_once

#: What blocks hook, and what the cache hooks: owner and name of each.
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
)
CACHE_HOOKS: tuple[tuple[Any, str], ...] = (
    (bytecode.FunctionIdentity, "_unique_ids"),
    (caching.FunctionCache, "_index_key"),
    (caching.FunctionCache, "_load_overload"),
    (caching.FunctionCache, "save_overload"),
    (runtime.rtsys, "initialize"),
    (caching.IndexDataCacheFile("", "", None), "_index_path"),
)


def has_numba_members(members: tuple[tuple[Any, str], ...], without: str) -> bool:
    """Whether all of these are there; says in a line which is not, and what is done without it."""
    lacking = [name for owner, name in members if not hasattr(owner, name)]
    if lacking:
        warn_once(f"numba {numba.__version__} lacks {', '.join(lacking)}: {without}")
    return not lacking
