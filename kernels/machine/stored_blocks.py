"""Store blocks in the cache as intermediate code, so that a kernel with an edited function compiles in a third of the time.

A *block* is a function that is compiled into the kernels that call it (``jit.py``), once for each combination of argument types.
Its *intermediate code* is LLVM's, before it is optimised to machine code.  For example, a table of routing rules with an edited
rule is a new kernel, whose other rules, sampling and searches are blocks declared ``stored``.  Numba's type inference and
lowering of these blocks, which take most of the time, are done once per machine.  LLVM optimises each kernel as a whole again.

Storing a block takes a few milliseconds, and 10 to 130 kB.  So only blocks are stored that take long, or are used by many
kernels.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
from types import SimpleNamespace
from typing import Any

from llvmlite import binding
from numba.core import compiler, serialize
from numba.core.compiler_lock import global_compiler_lock

from .cache import CacheEntry, list_entries
from .cache_roots import read_regular_file, write_file
from .content import describe_declaration, name_of
from .llvm_link import SEPARATE_SYMBOLS, mark_without_machine_code


def store_block(dispatcher: Any) -> Any:
    """Make a block of this package load its intermediate code from the cache, or store it there once it is compiled.

    Numba calls ``dispatcher.compile`` with the argument types whenever it compiles a caller of the block, so this method is
    replaced.  It returns the entry point, as numba's does: the key under which callers find the compiled block.
    """
    compile_it = dispatcher.compile

    def load_or_compile(signature: Any) -> Any:
        args = tuple(getattr(signature, "args", signature))
        if (present := dispatcher.overloads.get(args)) is not None:
            return present.entry_point
        if not (entries := _list_entries(dispatcher, args)):
            return compile_it(signature)
        # A complete entry of any folder, or the entry of the first folder, where the block is to be stored.
        entry = next((each for each in entries if each.verify_checksums()), entries[0])
        with entry.alone() as known:  # True if the entry is complete, perhaps by another process that was waited for
            if known:
                with contextlib.suppress(Exception):  # a damaged file can raise any exception
                    return _load_block(dispatcher, entry)
            out = compile_it(signature)
            if entry.writable:
                with contextlib.suppress(OSError):  # its kernel is stored in the same folder, and warns
                    _save_block(dispatcher.overloads[args], entry)
        return out

    dispatcher.compile = load_or_compile
    return dispatcher


def _list_entries(dispatcher: Any, args: tuple[Any, ...]) -> list[CacheEntry]:
    """Return the possible cache entries of a block for these types; an empty list if it cannot be stored."""
    function = dispatcher.py_func
    # name_of reads the function and the signature of a kernel, which a block is not.
    name = name_of(SimpleNamespace(function=function, signature=f"{args} {describe_declaration(dispatcher)}"))
    return [] if name is None else list_entries(f"blocks/{function.__name__}-{name}.nbi")


@global_compiler_lock
def _save_block(compiled: Any, entry: CacheEntry) -> None:
    """Store a block's intermediate code with its numba descriptor (symbol and types) and signature.  Raises OSError."""
    library, descriptor = compiled.library, compiled.fndesc
    *_, bitcode = library.serialize_using_bitcode()
    # Functions of blocks declared ``alone``: where this code is loaded, ``llvm_link`` must not mark them private either.
    separate = [each.name for each in library._final_module.functions if each.name in SEPARATE_SYMBOLS]
    # Neither is needed for a call, and numba's own cache does not store them either.
    descriptor.typemap = descriptor.calltypes = None
    write_file(entry.index, serialize.dumps((bitcode, separate, descriptor, compiled.signature)), 0o600)
    entry.write_checksums()


def _load_block(dispatcher: Any, entry: CacheEntry) -> Any:
    """Declare a stored block to numba as if it were compiled, and return the key under which callers find it."""
    bitcode, separate, descriptor, signature = pickle.loads(read_regular_file(entry.index))  # noqa: S301  (its checksum is right)
    context = dispatcher.targetctx
    library = context.codegen().create_library(descriptor.qualname)
    # As numba loads bitcode from its own cache, but without machine code, which nothing would use.
    library._final_module = binding.parse_bitcode(bitcode)
    mark_without_machine_code(library)
    SEPARATE_SYMBOLS.update(separate)
    # A key must be an object of its own for each combination of types.  The function is shared by all of them, a new partial is
    # not, and it can be called, as numba's entry points can.  ``llvm_link`` makes the key of a compiled block in this way too.
    key = functools.partial(dispatcher.py_func)
    context.insert_user_function(key, descriptor, [library])
    dispatcher.add_overload(
        compiler.compile_result(
            target_context=context,
            typing_context=dispatcher.typingctx,
            library=library,
            entry_point=key,
            fndesc=descriptor,
            signature=signature,
            type_annotation="",
            objectmode=False,
            lifted=(),
        )
    )
    return key
