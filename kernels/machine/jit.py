"""The three decorators with which all compiled functions are declared.

This is the only module that names ``numba.njit``.  A function of ``kernels/`` is one of three kinds:

- ``@block`` is a building block that allocates nothing.  It is compiled into each kernel that calls it, for the types of that
  call, and never on its own.  Its arrays belong to its caller and their references are not counted.  So it must not return an
  array, nor a tuple that contains one; the compiler rejects that.  LLVM must inline a ``@block(always=True)``.
- ``@scratch`` is a building block that allocates.  It makes a kernel's arrays, once per call, and returns them in a NamedTuple.
  It is compiled like a block, unless it is a user's own (``checked``).
- ``@kernel(signature)`` is an entry point with exactly one explicit signature.  Its machine code releases the interpreter lock,
  is compiled on first use and is cached on disk.

Numba passes the settings of a caller to functions that it compiles for it first, so each decorator states all settings.

``cache.py`` says where machine code is cached and what is checked before it is loaded.  Without a usable folder, or when the
folder is full or damaged, kernels are compiled in memory with a warning.  Numba's own cache settings are left unchanged, so a
user's own cached functions keep their place.
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

from . import numba_internals
from .cache import CacheEntry, code_subfolder, list_entries
from .cache_roots import warn_once
from .compiling import note_compilation
from .content import name_of
from .forbidden_calls import reject_forbidden_calls
from .lost_time import LostTime

_COMPILE_LOCK = threading.RLock()

# A process forks only between two compilations.  Otherwise its child would wait for ever for a thread that it does not have.
os.register_at_fork(
    before=_COMPILE_LOCK.acquire, after_in_parent=_COMPILE_LOCK.release, after_in_child=_COMPILE_LOCK.release
)

#: Number of new objects between two garbage collections during compilation.  Numba makes millions and drops few: at Python's
#: default of 700 the collections take 8 to 19% of the time.
_GC_THRESHOLD = 200_000

# Numba distinguishes functions of one name by a number that every process counts from 1, and the linker takes the first of two
# equal symbols.  So of two users' trials, cached by two processes and loaded by a third, both ran the code of the first.
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
    from .stored_blocks import store_block

#: Numba's settings for functions that are linked into their callers: no entry point for Python, none for C.
_LINK_OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@contextlib.contextmanager
def _search_garbage_rarely() -> Iterator[None]:
    """Collect garbage rarely inside this context; no effect if garbage collection is off."""
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
    """Make the compilation of a block fail if it returns an array or calls a function that does: references are not counted."""
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


def require_integer(dispatcher: Any, message: str) -> Any:
    """Make the compilation of a block fail with ``message`` and the type unless the block returns an integer."""
    if numba.config.DISABLE_JIT:
        return dispatcher
    compile_it = dispatcher.compile

    def compile_checked(signature: Any) -> Any:
        out = compile_it(signature)
        returned = dispatcher.overloads[tuple(getattr(signature, "args", signature))].signature.return_type
        if not isinstance(returned, numba.types.Integer):
            raise numba.core.errors.NumbaTypeError(f"{message}, got {numba.types.unliteral(returned)}")
        return out

    dispatcher.compile = compile_checked
    return dispatcher


def _restrict_callers(dispatcher: Any) -> Any:
    """Let Python's calls run the plain function; the compiled one has no entry point for Python and serves compiled callers only.

    An entry point is a second function that must be lowered and optimised.  Entry points for all blocks took 35 to 40% of the
    time to compile a kernel.
    """

    def add_overload(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = lambda *args, **named: dispatcher.py_func
    return dispatcher


class _EntryCache(numba.core.caching.FunctionCache):  # type: ignore[misc]
    def __init__(self, owner: Kernel, entry: CacheEntry) -> None:
        self._name, self._py_func, self.entry = repr(owner), owner.function, entry
        self._impl = impl = object.__new__(self._impl_class)
        impl._lineno = owner.function.__code__.co_firstlineno
        # ``CacheEntry`` makes the folder, so the locator has nothing to do.
        impl._locator = SimpleNamespace(_py_file=owner.function.__code__.co_filename, ensure_cache_path=lambda: None)
        self._cache_path = str(entry.index.parent)
        self._cache_file = numba.core.caching.IndexDataCacheFile(self._cache_path, entry.index.stem, owner.name)
        self.enable()

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        """Return the key of this kernel in its index; the names of the index and its folder cover everything else."""
        return signature

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the entry's machine code, or None, without importing all of numba's compiler.

        Only the run time that allocates arrays is initialised, which saves 0.6 of 1.7 s of a short run.  Compilation initialises
        the rest by itself.
        """
        numba.core.runtime.rtsys.initialize(context)
        return self._load_overload(signature, context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store compiled code unless it contains addresses of this process, because another process that loads it would crash.

        Numba makes such code for all recursion except that of a function which calls itself with its own types.
        """
        members = compiled.library._final_module.global_variables
        if self.entry.writable and not any(each.name.startswith(".numba.unresolved$") for each in members):
            super().save_overload(signature, compiled)


def block(
    function: Callable[..., Any] | None = None,
    *,
    always: bool = False,
    alone: bool = False,
    checked: bool = False,
    stored: bool = False,
) -> Any:
    """Declare a building block of kernels that allocates nothing: compiled into its callers, for their types.

    References to its arrays are not counted.  Counting takes two atomic operations for each array at each call that LLVM does not
    inline.  For a short recursive search this is most of the time (dual-cube routing: 260 ns per route with counting, 75 ns
    without), and it prevents LLVM from holding array elements in registers.

    Parameters
    ----------
    always : bool
        LLVM must inline the block.  For small blocks, and for blocks whose call is expensive: a call passes vectors through
        memory and saves a dozen registers (dual-cube routing at m=5, rate 0.5: 205 ns per trial without it, 168 ns with).
        Elsewhere LLVM decides, because inlining every block makes compilation 1.5 times as long.
    alone : bool
        The block is optimised by itself before it is linked into its callers (``llvm_link.py``), and with them again.  For loops
        that gain by being unrolled twice (the filter of unsafe nodes at (30, 15): 6% of all time) or by registers of their own.
    checked : bool
        As of ``scratch``.
    stored : bool
        The cache stores the block by itself (``stored_blocks.py``), for long blocks beside users' functions, and for blocks of
        many kernels.
    """
    if function is None:
        return functools.partial(block, always=always, alone=alone, checked=checked, stored=stored)
    if numba.config.DISABLE_JIT:
        return function
    if not _HAS_BLOCK_HOOKS:
        return numba.njit(nogil=True, **_bounds_options(checked))(function)
    settings = {"nogil": True, **_bounds_options(checked), "_nrt": False, "forceinline": always}
    declared = numba.njit(**settings, **_LINK_OPTIONS, pipeline_class=BLOCK_COMPILERS[alone])(function)
    declared = _restrict_callers(_forbid_references(declared))
    return store_block(declared) if stored and _HAS_CACHE_HOOKS else declared


def scratch(function: Callable[..., Any] | None = None, *, checked: bool = False, stored: bool = False) -> Any:
    """Declare a building block that allocates, such as the set-up of a kernel's arrays; otherwise like ``block``.

    With ``checked`` an index outside its array raises IndexError, instead of reading or writing there, and a division by zero
    raises ZeroDivisionError, instead of giving 0 or infinity.  Users' functions, including trials, are checked, and Python's
    calls of them run the machine code.  ``stored`` is that of ``block``.
    """
    if function is None:
        return functools.partial(scratch, checked=checked, stored=stored)
    settings = {"nogil": True, **_bounds_options(checked), "_nrt": True, "forceinline": False}
    if checked or numba.config.DISABLE_JIT or not _HAS_BLOCK_HOOKS:
        return numba.njit(**settings)(function)
    declared = _restrict_callers(numba.njit(**settings, **_LINK_OPTIONS, pipeline_class=SCRATCH_COMPILER)(function))
    return store_block(declared) if stored and _HAS_CACHE_HOOKS else declared


def _bounds_options(checked: bool) -> dict[str, Any]:
    """Return numba's settings for bounds and division by zero; unless ``checked``, $NUMBA_BOUNDSCHECK decides on bounds."""
    return {"error_model": "python", "boundscheck": True} if checked else {"error_model": "numpy"}


def is_jit_disabled() -> bool:
    return bool(numba.config.DISABLE_JIT)


class Kernel:
    """A compiled entry point with one signature.  Its first call compiles it, or loads it from the cache.

    Parameters
    ----------
    function : callable
        The Python body.
    signature : str
        Numba signature, such as ``"int64(uint64, int64[::1])"``.
    cache : bool
        False to compile in every process, for instance to inspect the machine code.
    code : callable, optional
        A function from outside this package that is compiled in, such as a user's trial; the cache includes its source files.

    Attributes
    ----------
    seconds : float
        Seconds that the first use took (compilation, or loading from the cache); 0.0 before it.
    loaded : bool
        Whether the first use loaded the machine code from the cache, perhaps after waiting for another process that compiled it.
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
        self.loaded = False

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
        return any(entry.has_checksums() for entry in self._list_entries())

    @functools.cached_property
    def name(self) -> str | None:
        """The kernel's name in the cache, a hash of everything that is compiled into it; None if it cannot be cached."""
        return name_of(self)

    @property
    def label(self) -> str:
        """The kernel's name for messages: its subject, its module and its function."""
        module = str(self.function.__module__).removeprefix("fastcube.kernels.")
        return f"{module}.{self.function.__qualname__.partition('_trials_')[0]}"

    @property
    def stored(self) -> CacheEntry | None:
        """The cache entry that contains the machine code; None if there is none."""
        return next((entry for entry in self._list_entries() if entry.verify_checksums()), None)

    @property
    def lost_time(self) -> LostTime:
        """The time that runs lost because this kernel was not compiled."""
        return LostTime(next((entry for entry in self._list_entries() if entry.writable), None))

    def _list_entries(self) -> list[CacheEntry]:
        """Return the possible cache entries, the writable folder's first; an empty list if the kernel cannot be cached."""
        if not (self.cache and _HAS_CACHE_HOOKS) or (inside := code_subfolder(self.code)) is None or self.name is None:
            return []
        kind = str(self.function.__module__).removeprefix("fastcube.kernels.")
        place = f"{inside}/{kind}/{self.function.__name__[:60]}-{self.name}.nbi"
        return list_entries(place)

    def _make_dispatcher(self, entry: CacheEntry | None) -> Any:
        """Declare the function to numba, with its machine code cached in ``entry`` unless that is None."""
        settings = {"pipeline_class": KERNEL_COMPILER} if _HAS_BLOCK_HOOKS else {}
        dispatcher = numba.njit(nogil=True, error_model="numpy", **settings)(self.function)
        if entry is not None:
            dispatcher._cache = _EntryCache(self, entry)
        return dispatcher

    def _compile_dispatcher(self, entry: CacheEntry | None) -> Any:
        """Load the machine code from ``entry``, or compile it and store it there; without an entry compile in memory."""
        dispatcher = self._make_dispatcher(entry)
        with entry.alone() if entry else contextlib.nullcontext(False) as known:
            noted = contextlib.nullcontext() if known else note_compilation(self.label)
            with (
                noted,
                warnings.catch_warnings(),
                _search_garbage_rarely(),
            ):  # forbidden calls are reported below instead
                warnings.filterwarnings("ignore", "Code running in object mode", numba.core.errors.NumbaWarning)
                dispatcher.compile(self.signature)
            dispatcher.disable_compile()
            if not known:
                reject_forbidden_calls(dispatcher)  # if it raises, no checksums are written
            if entry is not None and not known:
                entry.write_checksums()
            self.loaded = known
        return dispatcher

    def _load_or_compile(self) -> Any:
        """Return the kernel's dispatcher: loaded, or compiled and stored, or compiled in memory if storing fails."""
        entries = self._list_entries()
        entry = next((entry for entry in entries if entry.verify_checksums()), None)
        if entry is None:
            entry = entries[0] if entries and entries[0].writable else None
        if entry is None:
            return self._compile_dispatcher(None)
        try:
            return self._compile_dispatcher(entry)
        except numba.core.errors.NumbaError:  # an error in the kernel's own code
            raise
        except Exception as error:  # a damaged file can raise any exception
            problem = error
        compiled = self._compile_dispatcher(None)  # if the function itself is at fault, it raises again
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
        For kernels made by a factory: a text such as ``"w8"`` that distinguishes this kernel from the factory's others.  It goes
        into ``__qualname__``, without which all variants would share one cache index.
    cache, code
        See ``Kernel``.
    """

    def declare(function: Callable[..., Any]) -> Kernel:
        if variant:
            function.__qualname__ = function.__qualname__.replace(".<locals>.", ".") + "_" + variant
            function.__name__ = function.__name__ + "_" + variant
        return Kernel(function, signature, cache, code)

    return declare


#: The signature of every study's kernel: key, first trial, trial to stop before, axis values of the point, tally.
TRIALS_SIGNATURE = "void(uint64, int64, int64, float64[::1], int64[::1])"
