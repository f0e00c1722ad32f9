"""What can go wrong, as types: each is also a builtin, and each message is one line a user can act on.

FastcubeError
├── ParameterError (ValueError)          an argument out of its range: name, range, value got
├── ResultFileError (OSError)            a file that cannot be read or written as results
│   ├── FormatTooOldError                written by an older major version of the format
│   └── FormatTooNewError                written by a newer one
├── StudyMismatchError (ValueError)      results of another study, seed or generator
├── StudyError (RuntimeError)            code of a study that failed: a statistic, a note, a figure
│   └── RepeatError                      trials that count otherwise a second time
├── TrialOverlapError (ValueError)       the same trials in two tallies that should be added
└── MissingDependencyError (ImportError) an optional package that is not installed
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
import sysconfig
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard

from .kernels.machine.errors import NOT_OF_TRIAL
from .kernels.machine.errors import FastcubeError as FastcubeError
from .kernels.machine.errors import ParameterError as ParameterError
from .kernels.machine.errors import plain_text as plain_text


class ResultFileError(FastcubeError, OSError):
    """A file cannot be read or written as a results file."""


class FormatTooOldError(ResultFileError):
    """The file has an older major format version than this fastcube reads."""


class FormatTooNewError(ResultFileError):
    """The file has a newer major format version than this fastcube reads."""


class StudyMismatchError(FastcubeError, ValueError):
    """Two results differ in study, revision, seed or generator and cannot be combined."""


class StudyError(FastcubeError, RuntimeError):
    """Code of a study that raised: a statistic, its notes, its figure.  What was counted is not touched by it."""


class NondeterminismError(StudyError):
    """Trials that count otherwise a second time: nothing of the run is kept."""


@contextlib.contextmanager
def wrap_study_errors(what: str) -> Iterator[None]:
    """Turn whatever a study's own code raises into a StudyError of one line that says what failed."""
    try:
        yield
    except FastcubeError:
        raise
    except Exception as error:
        raise StudyError(
            f"{what} failed: {type(error).__name__}: {_one_line_reason(error)}{_raise_location(error)}"
        ) from error


def _one_line_reason(error: BaseException) -> str:
    """What an error says, on one line; of what Numba's compiler says what names the cause."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines()]
    if type(error).__module__.startswith("numba."):
        lines = [_cause([line for line in lines if line])]
    return plain_text(" ".join(lines), 400)


def _cause(lines: list[str]) -> str:
    """The cause among what Numba's compiler says: the operation with its types, else the line that tells most."""
    signature = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), None)
    if signature is not None:
        name, _, types = signature.partition("(")
        if name == "splat":  # of ours, what a label or a bit comes to in lanes
            return f"a label or a bit is {types.rstrip(')')}{_LABELS}"
        mixed = name in _BITWISE and "float64" in signature
        return f"there is no {signature}{_MIXED if mixed else _LABELS if name in _BITS else ''}"
    if any("NumPyRandomGeneratorType" in line for line in lines):
        return f"a NumPy generator is {NOT_OF_TRIAL}"
    if any("IMPORT_NAME" in line for line in lines):
        return "import stands inside the function: write it at the top of the file"
    telling = [line for line in lines if line.startswith(("Untyped global", "Cannot", "Invalid"))]
    cause = next(iter(telling or [line for line in lines if not line.startswith(("Failed in", "During:", "-"))]), "")
    inside = re.search(r"callee type: type\(CPUDispatcher\(<function (\w+) at", " ".join(lines))
    return f"{cause} in {inside[1]}" if inside and cause.startswith("NameError") else cause


#: What a user means for masks, and why the compiler sees floats: the commonest mistake.
_BITWISE = {"xor", "and_", "or_", "lshift", "rshift", "invert", "ixor", "iand", "ior", "ilshift", "irshift"}
_MIXED = (
    ": params are floats, write int(params[0]); and a variable that is an int64 in one place and a uint64 in another is a"
    " float64, start it as np.uint64(0)"
)

#: Blocks of one word, which others of ours call: a label of another type comes to them from far away.
_BITS = {"popcount", "lowest", "highest", "top"}
_LABELS = ": labels and bits are uint64, write np.uint64(...) where a label, a bit or all dimensions are given"

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FILE_LINE = re.compile(r'File "([^"\n]+)", line (\d+)|(?:at|Raised from) (\S[^\n]*) \((\d+)\)')


def _raise_location(error: BaseException) -> str:
    """Where a user's code raised: file and line, the innermost of them; empty when that is in here."""
    notes = getattr(error, "__notes__", [])
    told = _FILE_LINE.findall(_COLOURS.sub("", "\n".join([*notes, str(error)])))
    places = [(a or b, int(m or n)) for a, m, b, n in told]
    walk, passed = error.__traceback__, []
    while walk is not None:
        passed.append((walk.tb_frame.f_code.co_filename, walk.tb_lineno))
        walk = walk.tb_next
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    known = (here, sysconfig.get_path("stdlib"), "<")  # what compiles a trial goes through functools last
    for file, line in (*places, *reversed(passed)):
        if file.endswith(".py") and not os.path.abspath(file).startswith(known) and "site-packages" not in file:  # noqa: PTH100
            return f" ({plain_text(file)}, line {line})"
    return ""


class TrialOverlapError(FastcubeError, ValueError):
    """Two tallies hold the same trials; their sum would count them twice."""


class MissingDependencyError(FastcubeError, ImportError):
    """An optional package is needed and not installed."""


class EngineError(FastcubeError, RuntimeError):
    """The executor gave up on work: its workers, or what hands work to them, are gone."""


class SchedulerLostError(EngineError):
    """The scheduler that hands work to the workers is gone; it may come back."""


def check_range(
    name: str, value: float, low: float, high: float, context: str = "", *, open_above: bool = False
) -> None:
    """Raise :class:`ParameterError` unless ``low <= value <= high`` (``value < high`` with ``open_above``).

    ``context`` ends the description of the range, such as ``"for n=10"``.
    """
    if low <= value <= high and not (open_above and value == high):
        return
    close = ")" if open_above else "]"
    context = f" {context}" if context else ""
    raise ParameterError(f"{name} must be in [{low}, {high}{close}{context}, got {_abbreviate_integer(value)}")


def _abbreviate_integer(value: float) -> str:
    """A number in a message: an integer of more than 40 digits by its size."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"about {'-' if value < 0 else ''}10^{int(abs(value).bit_length() * 0.30103)}"
    return str(value)


def short_repr(value: object) -> str:
    """The value on one line of at most 60 characters, for error messages."""
    if type(value) is int:
        return _abbreviate_integer(value)
    try:
        text = plain_text(repr(value), 60)
    except Exception:  # an object of the user's
        text = f"a {type(value).__name__}"
    return text


def command_line_text(value: object) -> str:
    """As :func:`short_repr`, but text and numbers as a user writes them on a command line: without quotes or type."""
    return plain_text(str(value), 60) if isinstance(value, (str, float, Decimal)) else short_repr(value)


def join_alternatives(values: Iterable[object]) -> str:
    """The values in a sentence: ``a``, ``a or b``, ``a, b or c``."""
    *first, last = (str(value) for value in values)
    return f"{', '.join(first)} or {last}" if first else last


def suggest_name(name: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: ``; did you mean route?``, or nothing where none is near."""
    import difflib

    if not isinstance(name, str):
        return ""
    folded = {other.lower(): other for other in known}
    close = difflib.get_close_matches(name[:100].lower(), folded, n=1)
    return f"; did you mean {folded[close[0]]}?" if close else ""


def as_integer(value: object) -> int | None:
    """The value of any integer type as an int; None of anything else, a bool among them."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:  # NumPy's, without importing it
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # of another type, or an object of the user's
        return None


def check_integer(name: str, value: object, low: int, high: int, context: str = "") -> int:
    """The value of any integer type as an int; ParameterError unless it is an integer in [low, high]."""
    number = as_integer(value)
    if number is None:
        end = f" {context}" if context else ""
        raise ParameterError(f"{name} must be an integer in [{low}, {high}]{end}, got {short_repr(value)}")
    check_range(name, number, low, high, context)
    return number


def parse_count(name: str, given: object) -> int:
    """A whole number of any type (1e6, a NumPy float and a Fraction are), or as text, also as ``1e6``.  Raises ParameterError."""
    if isinstance(given, str):
        try:
            number = Decimal(given)
            if number.is_finite() and number.adjusted() < 40 and number == number.to_integral_value():
                return int(number)
        except (InvalidOperation, OverflowError, ValueError):
            pass
    elif (whole := as_integer(given)) is not None:
        return whole
    elif hasattr(given, "as_integer_ratio") and not isinstance(given, bool):  # floating-point types and Fractions
        with contextlib.suppress(OverflowError, TypeError, ValueError):  # infinite, NaN, a class
            number, parts = given.as_integer_ratio()
            if parts == 1:
                return int(number)
    raise ParameterError(f"{name} must be a whole number (1e6 is one), got {command_line_text(given)}")


def check_count(name: str, value: object, low: int, high: int) -> int:
    """What :func:`parse_count` takes, as an int; ParameterError unless it is in [low, high]."""
    number = parse_count(name, value)
    check_range(name, number, low, high)
    return number


def is_many(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is a collection: no text or bytes, which are one value, and no array of no dimension."""
    return (
        isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray)) and getattr(value, "ndim", 1) > 0
    )


def as_number(value: object) -> int | float | None:
    """The value of an integer or floating-point type as a Python number; None of anything else, bool and NaN among them."""
    whole = as_integer(value)
    if whole is not None:
        return whole
    number = float(value) if isinstance(value, Real) and not isinstance(value, (bool, Fraction)) else None
    return None if number is None or math.isnan(number) else number


def check_path(name: str, value: object) -> Path:
    """A path that this system takes; ParameterError for bytes, numbers, text with a NUL, and names that it cannot encode."""
    try:
        path = None if isinstance(value, bytes) else os.fsdecode(os.fsencode(value))  # type: ignore[arg-type]
    except Exception:  # of another type, an object of the user's, or half a surrogate pair
        path = None
    if path is None or "\0" in path:
        raise ParameterError(f"{name} must be a path, got {short_repr(value)}")
    return Path(path)


def check_line(name: str, value: object) -> str:
    """Text that a results file will hold; ParameterError unless it is one line of printable text."""
    if isinstance(value, str) and value.isprintable():
        return value
    raise ParameterError(f"{name} must be one line of text, got {short_repr(value)}")


def check_flag(name: str, value: object) -> bool:
    """The value of a bool, NumPy's included; ParameterError for anything else, which Python would take for one."""
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    raise ParameterError(f"{name} must be True or False, got {short_repr(value)}")


def check_text(name: str, text: str, most: int = 10_000) -> str:
    """The text.  Raises ValueError when it holds control characters or is longer than ``most`` characters."""
    if len(text) > most or not text.isprintable():
        raise ValueError(f"{name} holds characters that do not print, or too many")
    return text
