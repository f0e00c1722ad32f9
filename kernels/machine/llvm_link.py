"""Compile blocks to LLVM's intermediate code only, which is linked into each kernel and optimised there as a whole.

Numba optimises each function together with all functions that it calls, makes machine code of it, then links its intermediate
code into its callers.  A block six calls deep is optimised six times, and its machine code is never used.  With optimisation in
the kernel only, compilation takes a tenth to a half less time.  LLVM sees all callers at once and inlines better: a trial of
routing at (8, 4) takes 0.75 of the time, of routing-rules 0.9.  Some loops are unrolled once less in this way, so their blocks
are optimised by themselves first (``alone``).  ``@scratch`` functions are too: linked unoptimised, find-tree at (12, 2048) took
1.1 times the time, unsafe nodes at (8, 4) 1.2 times.

Functions linked into a kernel are marked private, because nothing else calls them.  LLVM then drops unused arguments and inlines
functions that are called once.  An array is seven arguments and a kernel's scratch dozens of arrays, so a call that is not
inlined passed 200 arguments and more: a quarter of all time of routing at (12, 6), half of the time of importance sampling at
(20, 10).  Blocks that are optimised by themselves are not marked.  Called once and inlined, the loops of 2-partition at (10, 16)
ran short of registers and lost a tenth of all time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba.core import compiler, compiler_machinery, errors, typed_passes
from numba.core import lowering as numba_lowering

from .target import FEATURES

#: Symbols of blocks declared ``alone``, which are optimised by themselves.
SEPARATE_SYMBOLS: set[str] = set()


def mark_without_machine_code(library: Any) -> None:
    """Mark a library as finished without making its machine code."""
    library._finalize_dynamic_globals()
    library._finalized = True


def _make_last_pass(lowering: type) -> type:
    """Register a compiler pass that replaces numba's last pass."""
    lowering._name = f"fastcube{lowering.__name__}"  # type: ignore[attr-defined]
    return compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)(lowering)  # type: ignore[no-any-return]


class _LowerAligned(numba_lowering.Lower):  # type: ignore[misc]
    """Numba's lowering, with stack frames at multiples of 32 bytes if vectors have that size, so with AVX2 and without AVX-512.

    Vectors for which there is no register are kept in the frame, by default at multiples of 16 bytes.  Half of the processes then
    have frames whose vectors span two cache lines, and whose loads wait for stores to arrays 4 KiB away: trials took up to 1.5
    times as long in lanes of unsafe nodes, 2.5 times where subcubes are merged, as the system put the stack.  AVX-512 has twice
    the registers, and lost 3 to 5% in scalar code by the register that an alignment needs (AMD EPYC, Zen 4, November 2026).
    """

    def setup_function(self, described: Any) -> None:
        super().setup_function(described)
        if "avx2" in FEATURES and "avx512f" not in FEATURES:
            attributes = self.function.attributes
            attributes.add("nonlazybind")  # of no effect here; llvmlite writes an alignment only beside an attribute
            attributes.alignstack = 32


class _Lower(_LowerAligned):
    """Lowering of a block; only direct recursion is allowed, because other recursion would need addresses of machine code."""

    def _lower_call_RecursiveCall(self, fnty: Any, expr: Any, signature: Any) -> Any:  # noqa: N802
        compiled = fnty.dispatcher_type.dispatcher.overloads.get(tuple(signature.args))
        if compiled is not None:  # the same function for other types, such as int64 after a call with 0
            self.library.add_linking_library(compiled.library)
            arguments = self.fold_call_args(fnty, signature, expr.args, expr.vararg, expr.kws)
            return self.context.call_internal(self.builder, compiled.fndesc, signature, arguments)
        if fnty.get_overloads(signature.args).uid != self.fndesc.uid:
            name = f"{self.fndesc.modname}.{self.fndesc.qualname}"
            raise errors.NumbaTypeError(f"{name} calls a function that calls it: no @block or @scratch may")
        return super()._lower_call_RecursiveCall(fnty, expr, signature)


@_make_last_pass
class _Lowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """Numba's lowering pass into a library without machine code."""

    lowering_class = _Lower
    first = False  #: whether the library is optimised before it is linked
    alone = False  #: whether the block stays a separate function, which LLVM does not inline as a private one

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = library = context.codegen().create_library(state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        described = state.cr.fndesc
        if self.alone:
            SEPARATE_SYMBOLS.add(described.llvm_func_name)
        if not self.first:
            library._optimize_final_module = lambda: None
        uses_environment = str(library._final_module).count(context.get_env_name(described)) > 1
        if uses_environment:  # as code that prints: it needs the entry point's environment
            entry = context.get_executable(library, described, state.cr.env)
        else:
            library._finalize_final_module = functools.partial(mark_without_machine_code, library)
            entry = functools.partial(state.func_id.func)  # the key under which callers find the block
        context.insert_user_function(entry, described, [library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


@_make_last_pass
class _LoweringFirst(_Lowering):
    """As ``_Lowering``, with the library optimised before it is linked."""

    first = True


@_make_last_pass
class _LoweringAlone(_LoweringFirst):
    """As ``_LoweringFirst``, for a block that stays a separate function of the kernel: it is not marked private."""

    alone = True


@_make_last_pass
class _LoweringAll(typed_passes.NativeLowering):  # type: ignore[misc]
    """Numba's lowering pass for a kernel, in which all linked functions are private."""

    lowering_class = _LowerAligned

    def run_pass(self, state: Any) -> bool:
        state.library = library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        library._optimize_final_module = functools.partial(_optimize_as_one, library, library._optimize_final_module)
        return bool(super().run_pass(state))


def _optimize_as_one(library: Any, optimize: Callable[[], None]) -> None:
    """Optimise a kernel's module after marking its functions private, except blocks declared ``alone``.

    The linkage is private and not internal.  The linker of machine code takes the first symbol of a name even if it is internal
    to another module, so a user's trial called a block of which another kernel's optimiser had dropped an argument.
    """
    for function in library._final_module.functions:
        if (
            function.linkage == Linkage.linkonce_odr
            and not function.is_declaration
            and function.name not in SEPARATE_SYMBOLS
        ):
            function.linkage = Linkage.private
    optimize()


def _make_compiler(lowering: type) -> type:
    """Return a numba compiler class with ``lowering`` in place of numba's last pass."""

    class Compiler(compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (lowering if each is typed_passes.NativeLowering else each, why) for each, why in passes.passes
            ]
            passes.finalize()
            return [passes]

    Compiler.__qualname__ = lowering.__name__  # enters the name of the machine code
    return Compiler


#: Compilers of a block (by ``alone``), of a ``@scratch`` function and of a kernel.
BLOCK_COMPILERS = {False: _make_compiler(_Lowering), True: _make_compiler(_LoweringAlone)}
SCRATCH_COMPILER = _make_compiler(_LoweringFirst)
KERNEL_COMPILER = _make_compiler(_LoweringAll)
