"""Find the values and functions that a compiled function captures besides its own text.

Globals, attributes of modules, closures and defaults are read once, when a trial is compiled.  So their values identify the
trial, whatever files and modules they come from.  ``trials.py`` names its machine code by them, and the fingerprint of a user's
study is a hash of them.  Does not import numba.
"""

import contextlib
import dataclasses
import dis
import enum
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

#: Attributes in which a compiled function, an intrinsic and a kernel hold the Python function that they were made from.
_WRAPPED_ATTRIBUTES = ("py_func", "_defn", "_pyfunc", "function")

#: Types whose ``repr`` is equal in every process and differs for different values.
_PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic)


class CompiledFunction(NamedTuple):
    """A function that is compiled in, with the values that it captures.

    Attributes
    ----------
    function : function
    values : list of (str, str or None)
        Names and texts of captured values that are not functions; the text is None if it would differ between processes.
    """

    function: FunctionType
    values: list[tuple[str, str | None]]


def unwrap_function(value: Any) -> FunctionType | None:
    """Return the Python function of a compiled function, or a Python function itself; None for anything else."""
    if isinstance(value, FunctionType):
        return value
    for name in _WRAPPED_ATTRIBUTES:
        with contextlib.suppress(Exception):  # a user's object may raise anything
            if isinstance(inner := getattr(value, name, None), FunctionType):
                return inner
    return None


def iter_class_functions(kind: type) -> Iterator[FunctionType]:
    """Yield the functions that a class's own text defines: methods, properties, cached properties, class and static methods."""
    for member in vars(kind).values():
        inner = (
            getattr(member, "__func__", None)
            or getattr(member, "fget", None)
            or getattr(member, "func", None)
            or member
        )
        # The generated methods of a dataclass follow from its fields, and their text depends on Python's version.
        if isinstance(inner, FunctionType) and not (
            dataclasses.is_dataclass(kind) and inner.__code__.co_filename == "<string>"
        ):
            yield inner


def defining_module(function: FunctionType) -> str:
    """Return the name of the module whose text contains a function, whatever its ``__module__`` says."""
    return str(function.__globals__.get("__name__") or "")


def format_value(value: Any, inside: tuple[type, ...] = ()) -> str | None:
    """Return a text that is equal in every process and differs for different values; None if the value has no such text.

    ``inside`` are the classes whose attributes are being formatted, because an attribute may refer to its own class.
    """
    out = None
    if isinstance(value, enum.Enum):
        number = format_value(value.value, inside)
        out = None if number is None else f"{type(value).__qualname__}.{value.name} {number}"
    elif isinstance(value, _PLAIN_TYPES):
        out = repr(value)
    elif isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        out = None if value.dtype.hasobject else f"array {value.dtype.descr} {value.shape} {content}"
    elif isinstance(value, np.dtype):
        out = f"dtype {value.descr}"
    elif isinstance(value, type):
        out = value.__qualname__ if value in inside else f"{value.__qualname__} {_format_class(value, inside)}"
    elif isinstance(value, (tuple, list, set, frozenset, Mapping)):
        out = _format_values(value, inside)
    elif type(value).__module__.startswith("numba.core.types"):
        out = str(value)
    elif callable(value) and hasattr(value, "__name__"):  # not written in Python: a ufunc, a builtin
        out = f"{getattr(value, '__module__', '')}.{value.__name__}"
    return out


def _format_class(kind: type, inside: tuple[type, ...]) -> list[tuple[str, str]]:
    """Return the sorted names and texts of a class's attributes (an Enum's members) that have a text equal in every process."""
    members = kind.__members__ if issubclass(kind, enum.Enum) else vars(kind)
    texts = [(n, format_value(v, (*inside, kind))) for n, v in members.items() if not n.startswith(("__", "_abc_"))]
    return sorted((name, text) for name, text in texts if text is not None)


def _format_values(values: Any, inside: tuple[type, ...]) -> str | None:
    """Return the text of a collection as ``format_value`` does, with the items of sets and mappings sorted."""
    inner = [format_value(part, inside) for part in (values.items() if isinstance(values, Mapping) else values)]
    known = [part for part in inner if part is not None]
    if len(known) < len(inner):
        return None
    return f"{type(values).__name__} {known if isinstance(values, (tuple, list)) else sorted(known)}"


def _iter_names(code: CodeType) -> Iterator[str]:
    """Yield all names of globals and attributes that a function or a function inside it reads, without distinction (faster)."""
    for each in _iter_codes(code):
        yield from each.co_names


def _iter_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and the codes of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iter_codes(constant)


def _read_instructions(function: FunctionType) -> tuple[set[str], set[str]]:
    """Return the names of the globals, and of the attributes, that a function or a function inside it reads."""
    names, attributes = set(), set()
    for code in _iter_codes(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL":
                names.add(step.argval)
            elif step.opname in {"LOAD_ATTR", "LOAD_METHOD"}:
                attributes.add(step.argval)
    return names, attributes


def _iter_named_values(
    function: FunctionType, is_included: Callable[[str], bool], undistinguished: bool
) -> Iterator[tuple[str, Any, bool]]:
    """Yield each value that a function uses by name, with a flag: the value was passed to the function, not read from its module.

    The values are globals, attributes of modules, closure cells and defaults.  The names of globals and of attributes may be
    collected ``undistinguished``.  ``is_included`` is that of ``iter_compiled_functions``.
    """
    if undistinguished:
        names = attributes = set(_iter_names(function.__code__))
    else:
        names, attributes = _read_instructions(function)
    # ``trials_kernel`` and similar factories make functions with globals of their own, which contain their building blocks.
    of_module = vars(sys.modules[defining_module(function)]) if defining_module(function) in sys.modules else {}
    has_own_globals = function.__globals__ is not of_module
    found = [
        (name, function.__globals__[name], has_own_globals) for name in sorted(names & function.__globals__.keys())
    ]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not filled yet
            found.append((name, cell.cell_contents, True))
    found += [(f"{function.__qualname__} default {i}", v, True) for i, v in enumerate(function.__defaults__ or ())]
    for name, value, is_passed in found:
        if not isinstance(value, ModuleType):
            yield name, value, is_passed
        elif is_included(value.__name__):
            for attribute in sorted(attributes & vars(value).keys()):
                if not isinstance(vars(value)[attribute], ModuleType):
                    yield f"{name}.{attribute}", vars(value)[attribute], is_passed


def _iter_parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value, or the fields and items of a dataclass, tuple or list, so that functions inside it are found."""
    if unwrap_function(value) is None and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _iter_parts(f"{name}.{field.name}", getattr(value, field.name))
    elif type(value) in {tuple, list} and any(unwrap_function(part) is not None for part in value):
        for i, part in enumerate(value):
            yield from _iter_parts(f"{name}[{i}]", part)
    else:
        yield name, value


def iter_compiled_functions(
    roots: Iterable[Any], is_included: Callable[[str], bool], describe: Callable[[Any], str] | None = None
) -> Iterator[CompiledFunction]:
    """Yield the functions that ``roots`` compile in, each once, beginning with the roots.

    Parameters
    ----------
    roots : iterable
        Functions, compiled or not.
    is_included : callable
        Whether all values that functions of a named module use are included.  For other modules only values passed to the
        function are included: its closure, its defaults, and globals that are not those of its module.
    describe : callable, optional
        Returns a text of a compiled function's declaration, which is included among the values of its callers.  Names are then
        collected without telling globals from attributes, which is faster and may include more values.
    """
    waiting = [function for root in roots if (function := unwrap_function(root)) is not None]
    seen: set[int] = set()
    while waiting:
        function = waiting.pop(0)
        if id(function) in seen:
            continue
        seen.add(id(function))
        values: list[tuple[str, str | None]] = []
        for name, value, is_passed in _iter_named_values(function, is_included, describe is not None):
            for part_name, part in _iter_parts(name, value):
                inner = unwrap_function(part)
                waiting += _iter_methods(part, is_included)
                if inner is not None:
                    if is_passed or is_included(defining_module(inner)):
                        waiting.append(inner)
                        if describe is not None and hasattr(part, "targetoptions"):
                            values.append((part_name, describe(part)))
                elif (is_passed or is_included(defining_module(function))) and not _is_foreign(part, is_included):
                    values.append((part_name, format_value(part)))
        yield CompiledFunction(function, values)


def _iter_methods(value: Any, is_included: Callable[[str], bool]) -> Iterator[FunctionType]:
    """Yield the methods of a class, of an Enum member's class, or of several in a tuple or list, from included modules."""
    if type(value) in {tuple, list}:
        for part in value:
            yield from _iter_methods(part, is_included)
    kind = type(value) if isinstance(value, enum.Enum) else value
    for base in kind.__mro__ if isinstance(kind, type) else ():
        for function in iter_class_functions(base) if is_included(base.__module__) else ():
            module = defining_module(function)  # the generated methods of a named tuple have a module without a file
            if module in sys.modules and is_included(module):
                yield function


def _is_foreign(value: Any, is_included: Callable[[str], bool]) -> bool:
    """Whether a value is a class or a builtin of a module that is not included."""
    module = getattr(value, "__module__", None) if isinstance(value, type) or callable(value) else None
    return isinstance(module, str) and not is_included(module)
