"""The layout of a tally: the names of its counters and maxima, and their slots in an int64 array.

A subject declares its :class:`Layout` once, in a module that does not import numba.  The kernel takes its slots from the layout
when it is imported, and the study uses the same layout, so the two cannot disagree.
"""

import difflib
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..machine.array_types import I64
from ..machine.errors import ParameterError

#: Bits per digit of counters that an int64 could not hold.
DIGIT_BITS = 32


@dataclass(frozen=True)
class Counter:
    """An integer to which a kernel adds in each trial; it may be negative.

    Parameters
    ----------
    name, description : str
    digits : int
        A counter of several digits takes as many consecutive slots, in base 2^32, least significant first.  A kernel
        adds to each digit without carrying, so the trials per call are limited, by 2^31 or 2^30 (``kernels/tally/sums.py``).
    bins : int
        A histogram of values 0 .. bins - 1 takes as many consecutive slots; 0 for a plain counter.
    """

    name: str
    description: str = field(compare=False)
    digits: int = 1
    bins: int = 0

    def __post_init__(self) -> None:
        for slots in ("digits", "bins"):
            given = getattr(self, slots)
            try:
                number = operator.index(given) if type(given) is not bool else None
            except Exception:  # of another type, or an object defined by a user
                number = None
            if number is None:
                raise ParameterError(f"a counter's {slots} must be an integer")
            object.__setattr__(self, slots, number)  # a Python int, which JSON can store
        _check_texts(self)
        if self.digits < 1 or self.bins < 0 or (self.bins and self.digits > 1):
            raise ParameterError(f"counter {self.name} must have digits >= 1, or digits 1 and bins >= 1")

    @property
    def slots(self) -> int:
        """The number of consecutive slots of this counter."""
        return self.bins or self.digits


@dataclass(frozen=True)
class Maximum:
    """The largest value over the trials, with the smallest trial that attains it.

    It takes two slots, value and trial.  Both are -1 before the first value.
    """

    name: str
    description: str = field(compare=False)

    def __post_init__(self) -> None:
        _check_texts(self)


@dataclass(frozen=True)
class Moments:
    """Counters of a quantity: its total, the sum of its squares, and the number of trials in which it is not zero.

    Parameters
    ----------
    name, description : str
        Name and description of the total.
    digits, square_digits : int
        Digits of the total and of the squares, as in a Counter.
    squared : str
        Name of the squares; by default ``name`` with ``_squared`` appended.
    nonzero : str
        Name of the number of trials in which the quantity is not zero; by default it is not counted.
    """

    name: str
    description: str
    digits: int = 1
    square_digits: int = 1
    squared: str = ""
    nonzero: str = ""

    #: The counters of this quantity, in the order of their slots.
    counters: tuple[Counter, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not all(isinstance(name, str) for name in (self.name, self.squared, self.nonzero)):
            raise ParameterError("names of a quantity must be text")
        what = self.description
        total = Counter(self.name, what, self.digits)
        squares = Counter(self.squared or f"{self.name}_squared", f"{what}, squared", self.square_digits)
        nonzero = [Counter(self.nonzero, f"trials in which it is not 0: {what}")] if self.nonzero else []
        object.__setattr__(self, "counters", (total, squares, *nonzero))
        object.__setattr__(self, "digits", total.digits)
        object.__setattr__(self, "square_digits", squares.digits)


class Slots(NamedTuple):
    """Slots of a quantity for ``sums.add_quantity``; all values are int64."""

    total: I64  #: first slot of the sum
    squares: I64  #: first slot of the sum of squares
    nonzero: I64  #: slot of the number of trials where it is not 0; -1 if that is not counted
    digits: I64  #: number of digits of the sum
    square_digits: I64  #: number of digits of the sum of squares


def _check_texts(entry: Counter | Maximum) -> None:
    """Raise ParameterError unless name and description are one line of printable text, as results files require."""
    for text in (entry.name, entry.description):
        if not isinstance(text, str) or not text.isprintable():
            raise ParameterError("name and description of a counter or maximum must be one line of text")


class Layout:
    """The counters and maxima of a subject, in the order of their slots.

    Parameters
    ----------
    *entries : Counter, Moments or Maximum
        Names are unique among the counters, including the counters of Moments, and among the maxima.

    Attributes
    ----------
    counters : tuple of Counter
        All counters in the order of their slots, with those of Moments.
    maxima : tuple of Maximum
        All maxima in the order of their slots, which follow the slots of the counters.
    size : int
        Number of slots of one point's tally.
    """

    def __init__(self, *entries: Counter | Moments | Maximum) -> None:
        if not all(isinstance(e, (Counter, Moments, Maximum)) for e in entries):
            raise ParameterError("a layout is made of Counters, Moments and Maxima")
        given = ((e,) if isinstance(e, Counter) else e.counters for e in entries if not isinstance(e, Maximum))
        self.counters = tuple(counter for some in given for counter in some)
        self._moments = {e.name: e for e in entries if isinstance(e, Moments)}
        self.maxima = tuple(e for e in entries if isinstance(e, Maximum))
        self._counters: dict[str, int] = {}
        self._maxima: dict[str, int] = {}
        at = 0
        for counter in self.counters:
            at = self._place(self._counters, counter.name, at, counter.slots)
        for maximum in self.maxima:
            at = self._place(self._maxima, maximum.name, at, 2)
        self.size = at

    @staticmethod
    def _place(places: dict[str, int], name: str, at: int, slots: int) -> int:
        """Give a name the ``slots`` slots from ``at`` on; return the next free slot.  Raises ParameterError for a repeat."""
        if name in places:
            raise ParameterError(f"{name} stands twice in the layout")
        places[name] = at
        return at + slots

    def counter(self, name: str) -> Any:
        """Return the first slot of a counter, as np.int64.  Raises ParameterError, which suggests the nearest name."""
        # Numba compiles a function again for each Python integer that it is called with, but not for each np.int64.
        return np.int64(self._find_slot(self._counters, "counter", name))

    def family(self, pattern: str, variants: Iterable[object]) -> NDArray[np.int64]:
        """Return the first slots of the counters named ``pattern`` with each variant for ``{}``."""
        try:
            names = [pattern.replace("{}", str(variant)) for variant in variants]
        except Exception:  # of another type, or an object defined by a user
            raise ParameterError("a family is a pattern of names, which is text, and its variants") from None
        return np.array([self.counter(name) for name in names], np.int64)

    def moments(self, name: str) -> Slots:
        """Return the slots of the :class:`Moments` with this name.  Raises ParameterError."""
        entry = self._find_slot(self._moments, "quantity", name)
        total, squares, *_ = (self.counter(c.name) for c in entry.counters)
        nonzero = self.counter(entry.nonzero) if entry.nonzero else np.int64(-1)
        return Slots(total, squares, nonzero, np.int64(entry.digits), np.int64(entry.square_digits))

    def maximum(self, name: str) -> Any:
        """Return the slot of a maximum's value; the next slot holds its trial.  Raises ParameterError."""
        return np.int64(self._find_slot(self._maxima, "maximum", name))

    @staticmethod
    def _find_slot(places: dict[str, Any], kind: str, name: str) -> Any:
        if not isinstance(name, str) or name not in places:
            name = str(name)[:60] if isinstance(name, str) else f"a {type(name).__name__}"
            near = difflib.get_close_matches(name, places, 1)
            raise ParameterError(
                f"{name} is not a {kind} of the layout, which has "
                f"{', '.join(places) or 'none'}{f'; did you mean {near[0]}?' if near else ''}"
            )
        return places[name]

    def new_tally(self, points: int = 1) -> NDArray[np.int64]:
        """Return the tally of no trials: counters 0, maxima (-1, -1).  The tallies of ``points`` points follow each other."""
        slots = np.zeros((points, self.size), np.int64)
        slots[:, self._first_maximum :] = -1
        return slots.reshape(-1)

    def add_rows(self, total: NDArray[np.int64], more: NDArray[np.int64]) -> None:
        """Add tallies that a kernel returned, one row per point, to a sum of such rows, and carry the digits."""
        first_maximum = self._first_maximum
        total[:, :first_maximum] += more[:, :first_maximum]
        for counter in self.counters:
            at = self._counters[counter.name]
            for i in range(at, at + counter.digits - 1):
                total[:, i + 1] += total[:, i] >> DIGIT_BITS
                total[:, i] &= (1 << DIGIT_BITS) - 1
        for at in range(first_maximum, self.size, 2):
            (value, trial), (new_value, new_trial) = total[:, at : at + 2].T, more[:, at : at + 2].T
            better = (new_value > value) | ((new_value == value) & (new_trial < trial))
            total[better, at : at + 2] = more[better, at : at + 2]

    @property
    def _first_maximum(self) -> int:
        """The slot after those of all counters."""
        return self.size - 2 * len(self.maxima)

    def read(self, slots: Any) -> tuple[dict[str, int | tuple[int, ...]], dict[str, tuple[int, int]]]:
        """Return the counters (tuples for histograms) and the maxima in ``slots``, as exact integers.

        Raises ParameterError for any other array.
        """
        given = np.asarray(slots)
        if given.shape != (self.size,) or given.dtype.kind not in "iu":
            raise ParameterError(
                f"slots must be {self.size} integers, got an array of {given.dtype}, shape {given.shape}"
            )
        values = given.tolist()
        counts: dict[str, int | tuple[int, ...]] = {}
        for counter in self.counters:
            at = self._counters[counter.name]
            own = values[at : at + counter.slots]
            counts[counter.name] = tuple(own) if counter.bins else sum(v << DIGIT_BITS * i for i, v in enumerate(own))
        return counts, {name: (values[at], values[at + 1]) for name, at in self._maxima.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._merge_key() == other._merge_key()

    def __hash__(self) -> int:
        return hash(self._merge_key())

    def _merge_key(self) -> tuple[frozenset[Counter], frozenset[Maximum]]:
        """Return the counters and maxima by name; two layouts with equal keys have tallies that can be added."""
        return frozenset(self.counters), frozenset(self.maxima)
