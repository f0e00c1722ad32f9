"""The private members of numba that are overridden, and a check that the installed numba has them.

If members for blocks are missing, blocks are compiled as plain numba functions: compilation takes twice as long, and blocks that
allocate are not rejected.  If members for caching are missing, every process compiles its kernels in memory.  Results are the
same in all cases.
"""

import contextlib
import functools
import importlib

import numba

from .cache_roots import warn_once

#: Members overridden for blocks, and for caching, below ``numba.core``.
BLOCK_HOOKS = (
    "dispatcher.Dispatcher.compile",
    "dispatcher.Dispatcher.add_overload",
    "dispatcher.Dispatcher._compile_for_args",
    "compiler.CompileResult.type_annotation",
    "compiler.Compiler",
    "compiler.DefaultPassBuilder.define_nopython_pipeline",
    "compiler.Flags.no_compile",
    "compiler_machinery.register_pass",
    "typed_passes.NativeLowering.lowering_class",
    "lowering.Lower.setup_function",
    "lowering.Lower._lower_call_RecursiveCall",
    "base.BaseContext.insert_user_function",
    "codegen.CPUCodeLibrary._optimize_final_module",
    "codegen.CPUCodeLibrary._finalize_final_module",
    "codegen.CPUCodeLibrary._finalize_dynamic_globals",
    "codegen.CPUCodeLibrary.serialize_using_bitcode",
    "compiler.compile_result",
    "serialize.dumps",
)
CACHE_HOOKS = (
    "bytecode.FunctionIdentity._unique_ids",
    "caching.FunctionCache._impl_class",
    "caching.FunctionCache._index_key",
    "caching.FunctionCache._load_overload",
    "caching.FunctionCache.save_overload",
    "caching.IndexDataCacheFile",
    "runtime.rtsys.initialize",
)


def has_numba_members(members: tuple[str, ...], without: str) -> bool:
    """Whether numba has all these members.  If not, warn with their names and the consequence ``without``."""
    lacking = [name for name in members if not has_member(name)]
    if lacking:
        warn_once(f"numba {numba.__version__} lacks {', '.join(lacking)}: {without}")
    return not lacking


def has_member(name: str) -> bool:
    """Whether there is such a member below ``numba.core``; a module or a class may be missing too."""
    module, *path = name.split(".")
    with contextlib.suppress(ImportError, AttributeError):
        functools.reduce(getattr, path, importlib.import_module(f"numba.core.{module}"))
        return True
    return False
