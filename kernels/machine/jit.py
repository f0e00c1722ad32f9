"""Compilation: the three decorators that every kernel uses.

This is the only module that names ``numba.njit``.  A function of ``kernels/`` is one of three kinds:

``@block`` is a building block that allocates nothing: compiled into each kernel that calls it, with the types it is
called with, and never on its own.  The arrays it works on are its caller's; references to them are not
counted in it, so it must not return one (nor a tuple that holds one), which is refused when it is compiled.
``@block(always=True)`` is one that LLVM may not leave a call.
``@scratch`` is a building block that allocates: it makes a kernel's arrays, once a call, and returns them in a NamedTuple.
It is compiled as a block is, but for a user's own (``checked``).
``@kernel(signature)`` is an entry point: exactly one explicit signature, machine code that releases the
interpreter lock, compiled on first use and cached on disk.

Numba hands a caller's settings on to what it compiles for it first, so each decorator states all of its own.

Where machine code is cached, and what is checked before it is loaded, is in ``cache.py``; without a folder, or when it
is full or damaged, kernels are compiled in memory and a warning says so.
Numba's own settings stay as they are, so a user's own cached functions keep their place.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import os
import secrets
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numba

from . import cache, numba_internals
from .cache import CacheEntry, cache_folder, code_subfolder, list_read_only_folders
from .cache_roots import warn_once
from .content import name_of
from .forbidden_calls import reject_forbidden_calls

_COMPILE_LOCK = threading.RLock()

# A process forks only between two compilations: its child would wait for ever for a thread that only its parent has.
os.register_at_fork(
    before=_COMPILE_LOCK.acquire, after_in_parent=_COMPILE_LOCK.release, after_in_child=_COMPILE_LOCK.release
)

#: Objects that Python makes between two searches for garbage while it compiles.  Numba makes millions and drops few: at Python's
#: own 700 the searches take 8 to 19% of the time.
_GC_THRESHOLD = 200_000

# Numba tells functions of one name apart by a number that every process counts from 1, and the linker takes the first of two
# symbols of one name.  So of two users' trials, cached by two processes and loaded by a third, both ran the first one's code.
_HAS_CACHE_HOOKS = numba_internals.has_numba_members(
    numba_internals.CACHE_HOOKS, "kernels are compiled anew in every process"
)
if _HAS_CACHE_HOOKS:
    numba.core.bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(56))
_HAS_BLOCK_HOOKS = numba_internals.has_numba_members(
    numba_internals.BLOCK_HOOKS, "blocks are compiled plainly, for twice as long"
)
if _HAS_BLOCK_HOOKS:
    from .llvm_link import BLOCK_COMPILERS, KERNEL_COMPILER, SCRATCH_COMPILER

#: Numba's settings for what is linked into its callers: no entry from Python, none from C.
_LINK_OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@contextlib.contextmanager
def _search_garbage_rarely() -> Iterator[None]:
    """Let Python search for garbage rarely; not where it searches for none."""
    before = gc.get_threshold()
    if before[0]:
        gc.set_threshold(max(before[0], _GC_THRESHOLD), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _has_array(t: Any) -> bool:
    """Whether values of a numba type refer to an array: an array, or a tuple that holds one."""
    parts = getattr(t, "types", ()) or (getattr(t, "dtype", None),) * isinstance(t, numba.types.UniTuple)
    return isinstance(t, numba.types.Array) or any(_has_array(part) for part in parts)


def _forbid_references(dispatcher: Any) -> Any:
    """Refuse what would go wrong in silence: an array that leaves, or enters by a call, while nobody counts references."""
    compile_it = dispatcher.compile

    def compile_checked(signature: Any) -> Any:
        out = compile_it(signature)
        result = dispatcher.overloads[tuple(getattr(signature, "args", signature))]
        name = f"@block {dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
        if _has_array(result.signature.return_type):
            raise numba.core.errors.NumbaTypeError(f"{name} returns an array: nothing would own it; make it a @scratch")
        for call, typed in result.type_annotation.calltypes.items():
            callee = result.type_annotation.typemap[call.func.name] if getattr(call, "op", "") == "call" else None
            if isinstance(callee, numba.types.Dispatcher) and _has_array(typed.return_type):
                raise numba.core.errors.NumbaTypeError(f"{name} calls {callee}, whose arrays it would never free")
        return out

    dispatcher.compile = compile_checked
    return dispatcher


def _restrict_callers(dispatcher: Any) -> Any:
    """Leave the plain function to Python's own calls, and the compiled one, which has no entry from Python, to compiled callers.

    An entry is a second function to lower and optimise, of all arguments' types: making them for every block took 35 to 40% of
    the time in which a kernel is compiled.
    """

    def add_overload(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = lambda *args, **named: dispatcher.py_func
    return dispatcher


class _EntryCache(numba.core.caching.FunctionCache):  # type: ignore[misc]
    def __init__(self, kernel: Kernel, entry: CacheEntry) -> None:
        self._name, self._py_func, self.entry = repr(kernel), kernel.function, entry
        self._impl = impl = object.__new__(self._impl_class)
        impl._lineno = kernel.function.__code__.co_firstlineno
        # the entry makes its folder
        impl._locator = SimpleNamespace(_py_file=kernel.function.__code__.co_filename, ensure_cache_path=lambda: None)
        self._cache_path = str(entry.index.parent)
        self._cache_file = numba.core.caching.IndexDataCacheFile(self._cache_path, entry.index.stem, kernel.name)
        self.enable()

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        """What finds this kernel in its index: the index's own name says the rest."""
        return signature, codegen.magic_tuple()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What the entry holds, or None, without importing all that numba can compile: 0.6 of 1.7 s of a short run.

        Machine code needs what allocates arrays; compiling asks for the rest by itself.
        """
        numba.core.runtime.rtsys.initialize(context)
        return self._load_overload(signature, context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled, but for what reads addresses of this process: another that loads it dies of it.

        Numba makes such code of all recursion but that of a function which calls itself with its own types.
        """
        members = compiled.library._final_module.global_variables
        if self.entry.writable and not any(each.name.startswith(".numba.unresolved$") for each in members):
            super().save_overload(signature, compiled)


def block(
    function: Callable[..., Any] | None = None, *, always: bool = False, alone: bool = False, checked: bool = False
) -> Any:
    """Declare a building block of kernels that allocates nothing: compiled into its callers, with their types, never cached.

    Its arrays' references are not counted.  Counting is two atomic operations for each array at each call that LLVM
    does not inline, which for a short recursive search is most of the time (dual-cube routing: 260 ns a route with
    it, 75 ns without), and keeps LLVM from holding what is loaded from arrays in registers.

    Parameters
    ----------
    always : bool
        LLVM may not decline to inline it: for small blocks, and for those that a call costs too much.  A call passes
        vectors through memory and saves a dozen registers (dual-cube routing at m=5, rate 0.5: 205 ns a trial
        without any, 168 ns with).  Where a call costs nothing it is left to LLVM, because inlining everything
        compiles for half as long again.
    alone : bool
        Optimised by itself before it is linked into its callers (``llvm_link.py``), and with them again: for loops that gain by
        being unrolled twice (the filter of unsafe nodes at (30, 15): 6% of all time), or by registers of their own.
    checked : bool
        As of :func:`scratch`.
    """
    if function is None:
        return functools.partial(block, always=always, alone=alone, checked=checked)
    if numba.config.DISABLE_JIT:
        return function
    if not _HAS_BLOCK_HOOKS:
        return numba.njit(nogil=True, **_bounds_options(checked))(function)
    settings = {"nogil": True, **_bounds_options(checked), "_nrt": False, "forceinline": always}
    declared = numba.njit(**settings, **_LINK_OPTIONS, pipeline_class=BLOCK_COMPILERS[alone])(function)
    return _restrict_callers(_forbid_references(declared))


def scratch(function: Callable[..., Any], *, checked: bool = False) -> Any:
    """As :func:`block`, for what allocates: the arrays that a kernel needs, set up once a call, or rarely.

    With ``checked`` an index outside of its array raises IndexError, instead of reading or writing there, and a division by
    zero ZeroDivisionError, instead of giving 0 or infinity.  Such are users' own, trials too: Python's calls of them get
    machine code.
    """
    settings = {"nogil": True, **_bounds_options(checked), "_nrt": True, "forceinline": False}
    if checked or numba.config.DISABLE_JIT or not _HAS_BLOCK_HOOKS:
        return numba.njit(**settings)(function)
    return _restrict_callers(numba.njit(**settings, **_LINK_OPTIONS, pipeline_class=SCRATCH_COMPILER)(function))


def _bounds_options(checked: bool) -> dict[str, Any]:
    """Numba's settings for an index outside of its array and a division by zero; unchecked, $NUMBA_BOUNDSCHECK decides."""
    return {"error_model": "python", "boundscheck": True} if checked else {"error_model": "numpy"}


def is_jit_disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT leaves all functions as Python."""
    return bool(numba.config.DISABLE_JIT)


class Kernel:
    """A compiled entry point with one signature.  Calling it compiles it first, or loads it from the cache.

    Parameters
    ----------
    function : callable
        The Python body.
    signature : str
        Numba signature, such as ``"int64(uint64, int64[::1])"``.
    cache : bool
        False for machine code that must be made anew, to be inspected for instance.
    code : callable, optional
        The function from elsewhere that is compiled in, such as a user's trial: the cache follows its sources too.

    Attributes
    ----------
    seconds : float
        What the first use cost (compilation, or loading from the cache); 0.0 before it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: str,
        cache: bool = True,
        code: Callable[..., Any] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = signature
        self.cache = cache
        self.code = code
        self.seconds = 0.0

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        """The machine code as a callable that accepts this signature and no other."""
        if numba.config.DISABLE_JIT:
            return self.function
        with _COMPILE_LOCK:
            if "compiled" in self.__dict__:  # another thread was first
                return self.__dict__["compiled"]  # type: ignore[no-any-return]
            begin = time.perf_counter()
            dispatcher: Callable[..., Any] = self._load_or_compile()
            self.seconds = time.perf_counter() - begin
            self.__dict__["compiled"] = dispatcher
        return dispatcher

    @property
    def ready(self) -> bool:
        """Whether the first use will be quick: compiled in this process, or stored in a cache."""
        if "compiled" in self.__dict__ or numba.config.DISABLE_JIT:
            return True
        with _COMPILE_LOCK:
            return any(entry.sums.exists() for entry in self._list_entries())

    @functools.cached_property
    def name(self) -> str | None:
        """The name of its machine code in the cache, by all that it is made of."""
        return name_of(self)

    @property
    def stored(self) -> CacheEntry | None:
        """The entry that holds its machine code; None when there is none."""
        return next((entry for entry in self._list_entries() if entry.verify_checksums()), None)

    def _list_entries(self) -> list[CacheEntry]:
        """Where its machine code may be cached, the folder that may be written first; nowhere when it cannot be cached."""
        if not (self.cache and _HAS_CACHE_HOOKS) or (inside := code_subfolder(self.code)) is None or self.name is None:
            return []
        kind = self.function.__module__.removeprefix("fastcube.kernels.")
        place = f"{inside}/{kind}/{self.function.__name__[:60]}-{self.name}.nbi"
        own = cache_folder()
        entries = [] if own is None else [CacheEntry(own, place)]
        return entries + [CacheEntry(folder, place, writable=False) for folder in list_read_only_folders()]

    def _make_dispatcher(self, entry: CacheEntry | None) -> Any:
        """Declare the function to numba, cached in an entry where there is one."""
        settings = {"pipeline_class": KERNEL_COMPILER} if _HAS_BLOCK_HOOKS else {}
        dispatcher = numba.njit(nogil=True, error_model="numpy", **settings)(self.function)
        if entry is not None:
            dispatcher._cache = _EntryCache(self, entry)
        return dispatcher

    def _compile_dispatcher(self, entry: CacheEntry | None) -> Any:
        """Load the machine code from an entry, or compile it and store it there; in memory without an entry."""
        dispatcher = self._make_dispatcher(entry)
        with entry.alone() if entry else contextlib.nullcontext():
            known = entry is not None and entry.verify_checksums()
            if not known:
                cache.on_compiling(f"compiling {self.function.__name__}")
            with warnings.catch_warnings(), _search_garbage_rarely():  # what follows says it
                warnings.filterwarnings("ignore", "Code running in object mode", numba.core.errors.NumbaWarning)
                dispatcher.compile(self.signature)
            dispatcher.disable_compile()
            if not known:
                reject_forbidden_calls(dispatcher)  # what is not sealed is not loaded again
            if entry is not None and not known:
                entry.write_checksums()
        return dispatcher

    def _load_or_compile(self) -> Any:
        """Loaded, or compiled and stored; compiled in memory where that cannot be."""
        entries = self._list_entries()
        entry = next((entry for entry in entries if entry.verify_checksums()), None)
        if entry is None:
            entry = entries[0] if entries and entries[0].writable else None
        if entry is None:
            return self._compile_dispatcher(None)
        try:
            return self._compile_dispatcher(entry)
        except numba.core.errors.NumbaError:  # the kernel's own
            raise
        except Exception as error:  # a damaged file raises anything
            problem = error
        compiled = self._compile_dispatcher(None)  # an error of the function's own comes again
        warn_once(
            f"compiled kernels in {entry.folder} cannot be used ({type(problem).__name__}): remove it, or make room"
        )
        return compiled

    def __call__(self, *args: Any) -> Any:
        return self.compiled(*args)

    def __repr__(self) -> str:
        return f"<kernel {self.function.__module__}.{self.function.__qualname__}>"


def kernel(
    signature: str, *, variant: str = "", cache: bool = True, code: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare an entry point for exactly one signature.

    Parameters
    ----------
    signature : str
        Numba signature.
    variant : str
        For kernels made by a factory: what tells this one from its siblings (``"w8"``).  It goes into
        ``__qualname__``, without which all variants would share one cache index.
    cache, code
        See :class:`Kernel`.
    """

    def declare(function: Callable[..., Any]) -> Kernel:
        if variant:
            function.__qualname__ = function.__qualname__.replace(".<locals>.", ".") + "_" + variant
            function.__name__ = function.__name__ + "_" + variant
        return Kernel(function, signature, cache, code)

    return declare


#: The one shape of every study's kernel: key, first trial, trial to stop before, axis values of the point, tally.
TRIALS_SIGNATURE = "void(uint64, int64, int64, float64[::1], int64[::1])"
