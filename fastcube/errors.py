"""The types of errors, and the checks that raise them.

Each type is also a built-in type, and each message is one line that a user can act on.

FastcubeError
├── ParameterError (ValueError)          an argument out of its range: name, range, value got
├── ResultFileError (OSError)            a file that cannot be read or written as results
│   ├── FormatTooOldError                written by an older major version of the format
│   └── FormatTooNewError                written by a newer major version
├── StudyMismatchError (ValueError)      results of different studies, seeds or generators
├── StudyError (RuntimeError)            code of a study that failed: a trial, statistic, note or figure
│   └── NondeterminismError              trials that give other counts when they are repeated
├── TrialOverlapError (ValueError)       the same trials in two tallies to be added
├── EngineError (RuntimeError)           workers that are gone
│   └── SchedulerLostError               a scheduler that is gone and may come back
└── MissingDependencyError (ImportError) an optional package that is not installed
"""

from __future__ import annotations

import contextlib
import functools
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

from .kernels.machine.errors import NOT_OF_TRIAL, ImpossibleResultError
from .kernels.machine.errors import FastcubeError as FastcubeError
from .kernels.machine.errors import ParameterError as ParameterError
from .kernels.machine.errors import StudyError as StudyError
from .kernels.machine.errors import plain_text as plain_text


class ResultFileError(FastcubeError, OSError):
    """A file cannot be read or written as a results file."""


class FormatTooOldError(ResultFileError):
    """The file has an older major format version than this fastcube reads."""


class FormatTooNewError(ResultFileError):
    """The file has a newer major format version than this fastcube reads."""


class StudyMismatchError(FastcubeError, ValueError):
    """Two results differ in study, revision, seed or generator and cannot be combined."""


class NondeterminismError(StudyError):
    """Trials gave other counts when they were repeated.  No results of the run are stored."""


@contextlib.contextmanager
def wrap_study_errors(what: str) -> Iterator[None]:
    """Turn any exception of a study's own code into a StudyError of one line that begins with ``what``."""
    try:
        yield
    except ImpossibleResultError as error:
        raise StudyError(f"{what}: {error}") from error
    except FastcubeError:
        raise
    except Exception as error:
        raise StudyError(
            f"{what} failed: {type(error).__name__}: {_one_line_reason(error)}{_raise_location(error)}"
        ) from error


#: Bit operations with a float, the commonest mistake in trials, and the explanation for the user.
_BITWISE = {"xor", "and_", "or_", "lshift", "rshift", "invert", "ixor", "iand", "ior", "ilshift", "irshift"}
_MIXED_HINT = (
    ": params are floats, write int(params[0]); and a variable that is an int64 in one place and a uint64 in another is a"
    " float64, start it as np.uint64(0)"
)

#: Blocks on one bit word.  Other blocks call them, so a label of a wrong type may have been passed to another block.
_BITS = {"popcount", "lowest", "highest", "top"}
_LABELS_HINT = ": labels and bits are uint64, write np.uint64(...) where a label, a bit or all dimensions are given"

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FILE_LINE = re.compile(r'File "([^"\n]+)", line (\d+)|(?:at|Raised from) (\S[^\n]*) \((\d+)\)')


def _one_line_reason(error: BaseException) -> str:
    """Return an error's message on one line; for Numba's compiler only the part that names the cause."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines()]
    if type(error).__module__.startswith("numba."):
        lines = [_cause([line for line in lines if line])]
    return plain_text(" ".join(lines), 400)


def _cause(lines: list[str]) -> str:
    """Return the cause in the messages of Numba's compiler: the operation with its types, else the most specific line."""
    signature = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), None)
    if signature is not None:
        name, _, types = signature.partition("(")
        if name == "splat":  # fastcube's function that turns a label or a bit into a vector
            return f"a label or a bit is {_type_text(types.removesuffix(')'))}{_LABELS_HINT}"
        mixed = name in _BITWISE and "float64" in signature
        return f"there is no {signature}{_MIXED_HINT if mixed else _LABELS_HINT if name in _BITS else ''}"
    if any("NumPyRandomGeneratorType" in line for line in lines):
        return f"a NumPy generator is {NOT_OF_TRIAL}"
    if any("IMPORT_NAME" in line for line in lines):
        return "the function contains an import: write it at the top of the file"
    telling = [line for line in lines if line.startswith(("Untyped global", "Cannot", "Invalid"))]
    cause = next(iter(telling or [line for line in lines if not line.startswith(("Failed in", "During:", "-"))]), "")
    inside = re.search(r"callee type: type\(CPUDispatcher\(<function (\w+) at", " ".join(lines))
    return f"{cause} in {inside[1]}" if inside and cause.startswith("NameError") else cause


def _type_text(types: str) -> str:
    """Return Numba's name of a type, but ``the integer 0`` for ``Literal[int](0)``, a number in the source."""
    literal = re.fullmatch(r"Literal\[int\]\((-?\d+)\)", types)
    return f"the integer {literal[1]}" if literal else types


def _raise_location(error: BaseException) -> str:
    """Return file and line where a user's code raised, the innermost place; empty if that is inside fastcube."""
    notes = getattr(error, "__notes__", [])
    reported = _FILE_LINE.findall(_COLOURS.sub("", "\n".join([*notes, str(error)])))
    places = [(file or source, int(line or at)) for file, line, source, at in reported]
    walk, passed = error.__traceback__, []
    while walk is not None:
        passed.append((walk.tb_frame.f_code.co_filename, walk.tb_lineno))
        walk = walk.tb_next
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    known = (here, sysconfig.get_path("stdlib"), "<")  # compiling also passes through functools
    for file, line in (*places, *reversed(passed)):
        if file.endswith(".py") and not os.path.abspath(file).startswith(known) and "site-packages" not in file:  # noqa: PTH100
            return f" ({plain_text(file)}, line {line})"
    return ""


class TrialOverlapError(FastcubeError, ValueError):
    """Two tallies contain the same trials, which their sum would count twice."""


class MissingDependencyError(FastcubeError, ImportError):
    """An optional package is required but not installed."""


class EngineError(FastcubeError, RuntimeError):
    """An engine cannot do its work, because its workers or its scheduler are gone."""


class SchedulerLostError(EngineError):
    """The scheduler that gives work to the workers is gone.  It may come back."""


def check_range(
    name: str, value: float, low: float, high: float, context: str = "", *, open_above: bool = False
) -> None:
    """Raise ParameterError unless ``low <= value <= high`` (``value < high`` with ``open_above``).

    ``context`` ends the description of the range, such as ``"for n=10"``.
    """
    if low <= value <= high and not (open_above and value == high):
        return
    close = ")" if open_above else "]"
    context = f" {context}" if context else ""
    raise ParameterError(f"{name} must be in [{low}, {high}{close}{context}, got {_abbreviate_integer(value)}")


def _abbreviate_integer(value: float) -> str:
    """Return a number as text; an integer of more than 40 digits by its order of magnitude."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"about {'-' if value < 0 else ''}10^{int(abs(value).bit_length() * 0.30103)}"
    return str(value)


def short_repr(value: object) -> str:
    """Return the value on one line of at most 60 characters, for error messages."""
    if type(value) is int:
        return _abbreviate_integer(value)
    try:
        text = plain_text(repr(value), 60)
    except Exception:  # a user's object may raise anything
        text = f"a {type(value).__name__}"
    return text


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 point``, ``1,000 points``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def range_text(low: object, high: object) -> str:
    """Return a range as text: ``1.05 to 1.48``, or one number if both ends are equal."""
    return str(low) if str(low) == str(high) else f"{low} to {high}"


def command_line_text(value: object) -> str:
    """Return the value as ``short_repr`` does, but text and numbers as on a command line, without quotes or type."""
    return plain_text(str(value), 60) if isinstance(value, (str, float, Decimal)) else short_repr(value)


def join_alternatives(values: Iterable[object]) -> str:
    """Join values by commas and "or": ``a``, ``a or b``, ``a, b or c``."""
    *first, last = (str(value) for value in values)
    return f"{', '.join(first)} or {last}" if first else last


#: Words of graph theory for fastcube's own, which have no letters in common with them: "edges" is more like "nodes" than "links".
_SYNONYMS = {"edge": "link", "vertices": "nodes", "vertex": "node"}


def suggest_name(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: ``; did you mean route?``, or "" if no name is similar."""
    import difflib

    if not isinstance(name, str):
        return ""
    folded = {other.lower(): other for other in known}
    wanted = name[:100].lower()
    meant = functools.reduce(lambda text, word: text.replace(word, _SYNONYMS[word]), _SYNONYMS, wanted)
    close = [meant] if meant in folded else difflib.get_close_matches(wanted, folded, n=1)
    return f"; did you mean {folded[close[0]]}?" if close else ""


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}  # NumPy's without an import


def as_integer(value: object) -> int | None:
    """Return the value of any integer type as an int; None for anything else, including bool."""
    if type(value) is int:
        return value
    if _is_bool(value):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # a user's object may raise anything
        return None


def check_integer(name: str, value: object, low: int, high: int, context: str = "") -> int:
    """Return the value of any integer type as an int.  Raises ParameterError unless it is in [low, high]."""
    number = as_integer(value)
    if number is None:
        end = f" {context}" if context else ""
        raise ParameterError(f"{name} must be an integer in [{low}, {high}]{end}, got {short_repr(value)}")
    check_range(name, number, low, high, context)
    return number


def parse_count(name: str, given: object) -> int:
    """Return a whole number of any type, such as 1e6 or a Fraction, or as text, as an int.  Raises ParameterError."""
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
    """Return the int that ``parse_count`` returns.  Raises ParameterError unless it is in [low, high]."""
    number = parse_count(name, value)
    check_range(name, number, low, high)
    return number


def is_many(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is a collection; text, bytes and arrays without dimensions count as single values."""
    return (
        isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray)) and getattr(value, "ndim", 1) > 0
    )


def as_number(value: object) -> int | float | None:
    """Return the value of an integer or floating-point type as a Python number; None for anything else, bool or NaN."""
    whole = as_integer(value)
    if whole is not None:
        return whole
    number = float(value) if isinstance(value, Real) and not isinstance(value, (bool, Fraction)) else None
    return None if number is None or math.isnan(number) else number


def percentage_value(value: object) -> object:
    """Return text such as ``2%`` as a number, 0.02; anything else unchanged."""
    if isinstance(value, str) and value.strip().endswith("%"):
        with contextlib.suppress(InvalidOperation):
            return float(Decimal(value.strip()[:-1].strip()) / 100)
    return value


def check_path(name: str, value: object) -> Path:
    """Return a valid path.  Raises ParameterError for bytes, numbers, empty text, a NUL, and names that cannot be encoded."""
    try:
        path = None if isinstance(value, bytes) else os.fsdecode(os.fsencode(value))  # type: ignore[arg-type]
    except Exception:  # another type, half a surrogate pair, or a user's object, which may raise anything
        path = None
    if not path or "\0" in path:
        raise ParameterError(f"{name} must be a path, got {short_repr(value)}")
    return Path(path)


def check_file_path(name: str, value: object) -> Path:
    """Return a valid path of a file.  Raises ParameterError as ``check_path``, and for names that only a folder can have."""
    path = check_path(name, value)
    if str(value).rpartition("/")[2] in {"", ".", ".."}:
        raise ParameterError(f"{name} must be the name of a file, got {short_repr(value)}")
    return path


#: Most characters of a text in a results file.
MOST_CHARACTERS = 10_000


def check_line(name: str, value: object) -> str:
    """Return one line of printable text, as results files need.  Raises ParameterError for anything else."""
    if not isinstance(value, str) or not value.isprintable():
        raise ParameterError(f"{name} must be one line of text, got {short_repr(value)}")
    if len(value) > MOST_CHARACTERS:
        raise ParameterError(f"{name} must have at most {MOST_CHARACTERS} characters, got {len(value)}")
    return value


def check_flag(name: str, value: object) -> bool:
    """Return the value of a bool, also NumPy's.  Raises ParameterError for anything else, even if Python would convert it."""
    if _is_bool(value):
        return bool(value)
    raise ParameterError(f"{name} must be True or False, got {short_repr(value)}")


def check_text(name: str, text: str, most: int = MOST_CHARACTERS) -> str:
    """Return the text.  Raises ValueError if it has unprintable characters or more than ``most`` characters."""
    if len(text) > most or not text.isprintable():
        raise ValueError(f"{name} holds characters that do not print, or too many")
    return text
