"""A user's own study in about twenty lines: a jitted function of one trial, made into a :class:`~fastcube.engine.study.Study`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..kernels.jit import TRIALS_SIGNATURE, Kernel, kernel, scratch
from .study import Axis, Counter, Explanation, Extreme, Mean, Point, Proportion, Statistic, Study, point_text

_LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Output:
    """One number that a trial gives: an integer in [0, bound], bound < 2^31, which may depend on the point.

    With ``bound`` 1 the study reports a proportion, else a mean.  That every trial keeps to the range is the
    trial's promise; the largest value is stored with its trial, so that a broken promise shows.
    """

    name: str
    description: str
    bound: int | Callable[[Point], int] = 1


def trial(function: Callable[..., None]) -> Any:
    """Jit a function of one trial: ``trial(key, t, params, out)``.

    ``key`` (uint64) and ``t`` (int64) are what the random words of ``fastcube.kernels.philox`` and the fault sets of
    ``fastcube.kernels.sampling`` ask for; ``params`` holds the point's axis values as float64; ``out`` is an int64
    array, all zeros, one place for each output.
    """
    return scratch(function)


def _loop(one: Any, outputs: int) -> Kernel:
    """The one kernel shape around a scalar trial; seven slots an output, then two for its extreme."""

    @kernel(TRIALS_SIGNATURE, cache=False)
    def trials(key, first, stop, params, tally):  # type: ignore[no-untyped-def]
        out = np.zeros(outputs, np.int64)
        for t in range(first, stop):
            out[:] = 0
            one(key, t, params, out)
            for i in range(outputs):
                value = out[i]
                square = value * value
                tally[5 * i] += value & _LOW
                tally[5 * i + 1] += value >> 32
                tally[5 * i + 2] += square & _LOW
                tally[5 * i + 3] += square >> 32
                tally[5 * i + 4] += value != 0
                extreme = 5 * outputs + 2 * i
                if value > tally[extreme]:
                    tally[extreme] = value
                    tally[extreme + 1] = t

    return trials


def trial_study(
    name: str,
    title: str,
    axes: Sequence[Axis],
    outputs: Sequence[Output],
    trial: Any,
    grid: Sequence[Point],
    *,
    trials: int = 10**6,
    source: str = "",
    revision: int = 1,
    check: Callable[[Point], None] = lambda point: None,
    explain: Callable[[Point, int, int], Explanation] | None = None,
) -> Study:
    """Make a study of a jitted scalar trial (see :func:`trial`).

    Every output becomes a statistic of its name, a counter of its total, of its squares and of the trials where
    it is nonzero, and an extreme.  ``revision`` must be raised by hand when the trial's meaning changes.
    """
    for output in outputs:
        if isinstance(output.bound, int) and not 1 <= output.bound < 2**31:
            raise ParameterError(f"bound must be in [1, {2**31 - 1}] for output {output.name}, got {output.bound}")
    compiled = _loop(trial, len(outputs))
    counters = []
    for output in outputs:
        counters += [
            Counter(output.name + "_total", f"total of: {output.description}", 2),
            Counter(output.name + "_squares", f"sum of squares of: {output.description}", 2),
            Counter(output.name + "_nonzero", f"trials with a nonzero: {output.description}"),
        ]

    def outcome(point: Point, key: int, t: int) -> Explanation:
        out = np.zeros(len(outputs), np.int64)
        trial(np.uint64(key), t, np.array(list(point.values()), np.float64), out)
        values = {output.name: int(v) for output, v in zip(outputs, out, strict=True)}
        words = [f"trial {t} of {name} at {point_text(point)}"]
        words += [f"  {output.description}: {values[output.name]}" for output in outputs]
        return Explanation("\n".join(words), values)

    return Study(
        name=name,
        title=title,
        source=source,
        revision=revision,
        axes=tuple(axes),
        counters=tuple(counters),
        extremes=tuple(Extreme(output.name, output.description) for output in outputs),
        statistics=tuple(_statistic(output) for output in outputs),
        kernel=lambda point: compiled,
        grid=list(grid),
        trials=trials,
        check=check,
        explain=explain or outcome,
    )


def _statistic(output: Output) -> Statistic:
    if output.bound == 1:
        return Proportion(output.name, output.description, output.name + "_nonzero")
    total, squares, nonzero = (output.name + suffix for suffix in ("_total", "_squares", "_nonzero"))
    bound = output.bound
    limit = bound if callable(bound) else lambda point: bound
    return Mean(output.name, output.description, total, squares, nonzero, bound=limit)
