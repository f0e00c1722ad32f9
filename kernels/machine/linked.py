"""How blocks are compiled: to LLVM's text, which is linked into their callers and optimised there, and to no machine code.

Numba optimises each function together with all that it calls and makes machine code of it, then links the text into
whoever calls it: a block six calls deep is optimised six times, and nobody calls its machine code.  Optimised in the kernel
alone, kernels take a tenth to a half less time to compile, and LLVM, which then sees all callers at once, inlines better
(a trial of routing at (8, 4) takes 0.75 of the time, of rivals 0.9).  Some loops it unrolls once less then: their blocks are
optimised by themselves first (``alone``).
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core import compiler, compiler_machinery, typed_passes


def _leave(library: Any) -> None:
    """In place of making machine code: what a finished library must know of itself."""
    library._finalize_dynamic_globals()
    library._finalized = True


class _Lowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """Numba's own, into a library of which no machine code is made."""

    alone = False  #: whether the library is optimised before it is linked

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = library = context.codegen().create_library(state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        if not self.alone:
            library._optimize_final_module = lambda: None
        made = state.cr.fndesc
        prints = str(library._final_module).count(context.get_env_name(made)) > 1
        if prints:  # what that needs comes with an entry
            entry = context.get_executable(library, made, state.cr.env)
        else:
            library._finalize_final_module = functools.partial(_leave, library)
            entry = functools.partial(state.func_id.func)  # by which callers know it
        context.insert_user_function(entry, made, [library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


def _compiler(alone: bool) -> type:
    """Numba's passes for a function, with the last one ours."""

    @compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(_Lowering):
        _name = f"fastcube_lowering_{alone}"

    Lowering.alone = alone

    class Compiler(compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (Lowering if each is typed_passes.NativeLowering else each, why) for each, why in passes.passes
            ]
            passes.finalize()
            return [passes]

    return Compiler


#: What compiles a block, by whether it is optimised by itself too.
COMPILERS = {alone: _compiler(alone) for alone in (False, True)}
