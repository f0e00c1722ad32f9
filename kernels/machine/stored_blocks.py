"""Store blocks in the cache, so that a kernel which differs from another in one function compiles this function alone.

A table of routing rules with an edited rule is a new kernel.  Its other rules, its sampling and its searches are blocks declared
``stored``.  Their intermediate code is made once per machine, and linked into each kernel, which LLVM optimises as a whole.  Type
inference and lowering take most of the time of a compilation, so the new kernel takes about a third of it.

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
    """Make a block of this package load its intermediate code from the cache, or store it there once it is compiled."""
    compile_it = dispatcher.compile

    def load_or_compile(signature: Any) -> Any:
        args = tuple(getattr(signature, "args", signature))
        if (present := dispatcher.overloads.get(args)) is not None:
            return present.entry_point
        if not (entries := _list_entries(dispatcher, args)):
            return compile_it(signature)
        entry = next((each for each in entries if each.verify_checksums()), entries[0])
        with entry.alone() as known:
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
    name = name_of(SimpleNamespace(function=function, signature=f"{args} {describe_declaration(dispatcher)}"))
    return [] if name is None else list_entries(f"blocks/{function.__name__}-{name}.nbi")


@global_compiler_lock
def _save_block(compiled: Any, entry: CacheEntry) -> None:
    """Store a block's intermediate code with what its callers need: its descriptor and its signature.  Raises OSError."""
    library, descriptor = compiled.library, compiled.fndesc
    *_, bitcode = library.serialize_using_bitcode()
    separate = [each.name for each in library._final_module.functions if each.name in SEPARATE_SYMBOLS]
    descriptor.typemap = descriptor.calltypes = (
        None  # neither is needed for a call, and numba does not store them either
    )
    write_file(entry.index, serialize.dumps((bitcode, separate, descriptor, compiled.signature)), 0o600)
    entry.write_checksums()


def _load_block(dispatcher: Any, entry: CacheEntry) -> Any:
    """Declare a stored block to numba, and return the key under which callers find it."""
    bitcode, separate, descriptor, signature = pickle.loads(read_regular_file(entry.index))  # noqa: S301  (its checksum is right)
    context = dispatcher.targetctx
    library = context.codegen().create_library(descriptor.qualname)
    library._final_module = binding.parse_bitcode(bitcode)
    mark_without_machine_code(library)
    SEPARATE_SYMBOLS.update(separate)
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
