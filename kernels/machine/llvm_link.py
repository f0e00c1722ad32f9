"""How blocks are compiled: to LLVM's text, which is linked into their callers and optimised there, and to no machine code; and
kernels: all that is linked into one, as one.

Numba optimises each function together with all that it calls and makes machine code of it, then links the text into
whoever calls it: a block six calls deep is optimised six times, and nobody calls its machine code.  Optimised in the kernel
alone, kernels take a tenth to a half less time to compile, and LLVM, which then sees all callers at once, inlines better
(a trial of routing at (8, 4) takes 0.75 of the time, of rivals 0.9).  Some loops it unrolls once less then: their blocks are
optimised by themselves first (``alone``).  So is what allocates a kernel's arrays: linked as it was written, find-tree at
(12, 2048) took 1.1 times the time, unsafe nodes at (8, 4) 1.2.

What is linked into a kernel nobody else calls, and LLVM is told so: it then drops what of a call's arguments is not used, and
inlines what is called once.  An array is seven arguments and a kernel's scratch dozens of arrays, so a call left as it was passed
200 words and more: a quarter of all time of routing at (12, 6), half of that of planted faults at (20, 10).  Blocks that are
optimised by themselves are left as they are: called once and inlined, 2-partition's loops at (10, 16) were short of registers, a
tenth of all time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba.core import compiler, compiler_machinery, errors, lowering, typed_passes

#: Symbols of the blocks that are optimised by themselves.
_SEPARATE_SYMBOLS: set[str] = set()


def _skip_machine_code(library: Any) -> None:
    """In place of making machine code: what a finished library must know of itself."""
    library._finalize_dynamic_globals()
    library._finalized = True


def _make_last_pass(lowering: type) -> type:
    """A pass in place of numba's last one."""
    lowering._name = f"fastcube{lowering.__name__}"  # type: ignore[attr-defined]
    return compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)(lowering)  # type: ignore[no-any-return]


class _Lower(lowering.Lower):  # type: ignore[misc]
    """Numba's own, but for recursion with other types, or in a circle: numba's asks for the address of machine code."""

    def _lower_call_RecursiveCall(self, fnty: Any, expr: Any, signature: Any) -> Any:  # noqa: N802
        compiled = fnty.dispatcher_type.dispatcher.overloads.get(tuple(signature.args))
        if compiled is not None:  # the same function for other types, such as int64 where it was called with 0
            self.library.add_linking_library(compiled.library)
            arguments = self.fold_call_args(fnty, signature, expr.args, expr.vararg, expr.kws)
            return self.context.call_internal(self.builder, compiled.fndesc, signature, arguments)
        if fnty.get_overloads(signature.args).uid != self.fndesc.uid:
            name = f"{self.fndesc.modname}.{self.fndesc.qualname}"
            raise errors.NumbaTypeError(f"{name} calls a function that calls it: no @block or @scratch may")
        return super()._lower_call_RecursiveCall(fnty, expr, signature)


@_make_last_pass
class _Lowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """Numba's own, into a library of which no machine code is made."""

    lowering_class = _Lower
    first = False  #: whether the library is optimised before it is linked
    alone = False  #: whether it is left as it is then

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = library = context.codegen().create_library(state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        made = state.cr.fndesc
        if self.alone:
            _SEPARATE_SYMBOLS.add(made.llvm_func_name)
        if not self.first:
            library._optimize_final_module = lambda: None
        prints = str(library._final_module).count(context.get_env_name(made)) > 1
        if prints:  # what that needs comes with an entry
            entry = context.get_executable(library, made, state.cr.env)
        else:
            library._finalize_final_module = functools.partial(_skip_machine_code, library)
            entry = functools.partial(state.func_id.func)  # by which callers know it
        context.insert_user_function(entry, made, [library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


@_make_last_pass
class _LoweringFirst(_Lowering):
    """The same, optimised before it is linked."""

    first = True


@_make_last_pass
class _LoweringAlone(_LoweringFirst):
    """The same, left as it is then."""

    alone = True


@_make_last_pass
class _LoweringAll(typed_passes.NativeLowering):  # type: ignore[misc]
    """Numba's own, for a kernel: what is linked into it is called by nobody else."""

    def run_pass(self, state: Any) -> bool:
        state.library = library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        library._optimize_final_module = functools.partial(_optimize_as_one, library, library._optimize_final_module)
        return bool(super().run_pass(state))


def _optimize_as_one(library: Any, optimize: Callable[[], None]) -> None:
    """Optimise a library's module, all but what is left as it is.

    Private, and not internal: the linker of machine code takes the first symbol of a name even where it is another module's own,
    so that a user's trial called a block of which a kernel's optimiser had dropped an argument.
    """
    for function in library._final_module.functions:
        if (
            function.linkage == Linkage.linkonce_odr
            and not function.is_declaration
            and function.name not in _SEPARATE_SYMBOLS
        ):
            function.linkage = Linkage.private
    optimize()


def _make_compiler(lowering: type) -> type:
    """Numba's passes for a function, with the last one ours."""

    class Compiler(compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (lowering if each is typed_passes.NativeLowering else each, why) for each, why in passes.passes
            ]
            passes.finalize()
            return [passes]

    Compiler.__qualname__ = lowering.__name__  # part of the name of machine code
    return Compiler


#: What compiles a block, by whether it is optimised by itself too, what allocates, and a kernel.
BLOCK_COMPILERS = {False: _make_compiler(_Lowering), True: _make_compiler(_LoweringAlone)}
SCRATCH_COMPILER = _make_compiler(_LoweringFirst)
KERNEL_COMPILER = _make_compiler(_LoweringAll)
