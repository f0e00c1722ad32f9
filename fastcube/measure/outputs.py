"""Outputs of a user's trial, the counters that record them, and the statistics computed from these counters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import (
    ParameterError,
    as_integer,
    as_number,
    check_flag,
    check_integer,
    check_line,
    is_many,
    short_repr,
    suggest_name,
)
from ..kernels.tally.layout import Counter
from .asymptotic import NormalDifference, NormalMean, Ratio
from .binned import Distribution, make_quantiles
from .statistics import Difference, Mean, PairedDifference, Point, Proportion, ShiftedMean, Statistic

#: Largest integer output, and number of steps in the range of a float output; squares of both fit into an int64.
LARGEST, STEPS = 2**31 - 1, 2.0**30

#: Largest number of values of an output with a distribution.
MAX_BINS = 4096


@dataclass(frozen=True)
class Output:
    """One output of a trial: an integer in [0, bound], bound < 2^31, which may depend on the point, or a float.

    With ``bound`` 1 the study reports a proportion, else a mean.  A trial with an output out of its range stops the run, and the
    error names the trial.  The largest value is stored with its trial.

    Parameters
    ----------
    name, description : str
        The statistic's short name, and its description in words.
    bound : int or callable
        Largest value, or a function of the point that returns it.
    condition : str, optional
        Another output.  Only trials in which it is nonzero count for this output and its statistic.
    denominator : str, optional
        Another output.  The statistic is the total of this output over the total of the other (asymptotic interval).
    low, high : float, optional
        Both or neither.  The output is then a float v in [low, high], counted as round((v - low) / (high - low) * 2^30), so
        that sums are exact.  + - * / and sqrt give the same bits on every machine; exp, log and sin may not.

    asymptotic : bool
        Whether the mean, and the difference of ``compared_with``, have the normal interval, marked ``~``, in place of intervals
        proved from the bound.  It is far narrower if the values vary little compared with the bound, and nearly a 95% interval
        for many trials.  A proportion (``bound`` 1) keeps its exact interval.
    compared_with : str, optional
        Another output of the same trials.  It adds the statistic NAME_minus_OTHER, the mean difference, which shows which output
        is larger.  Its standard error is that of paired trials.  Its interval holds for any number of trials and is wide
        for few; with ``asymptotic`` it is the normal interval.
    distribution : bool
        Whether to add the statistic NAME_distribution, the fraction of trials with each value.
    quantiles : sequence of int
        Percentages in [1, 99].  Each adds a :class:`Quantile`: NAME_median for 50, NAME_q05 for 5.  Like ``distribution`` this
        requires a constant bound of at most 4095.

    Raises
    ------
    ParameterError
        If arguments are out of range or exclude each other.
    """

    name: str
    description: str
    bound: int | Callable[[Point], int] = 1
    condition: str | None = None
    denominator: str | None = None
    low: float | None = None
    high: float | None = None
    asymptotic: bool = False
    compared_with: str | None = None
    distribution: bool = False
    quantiles: Sequence[int] = ()

    @property
    def is_binned(self) -> bool:
        """Whether trials are counted by the value of the output, for its distribution or quantiles."""
        return self.distribution or bool(self.quantiles)

    @property
    def is_float(self) -> bool:
        """Whether the output is a float, counted in steps of 2^-30 of its range."""
        return self.low is not None

    def __post_init__(self) -> None:
        check_line("name", self.name)
        check_line("description", self.description)
        for what in ("asymptotic", "distribution"):
            object.__setattr__(self, what, check_flag(what, getattr(self, what)))
        for what in ("condition", "denominator", "compared_with"):
            if getattr(self, what) is not None:
                check_line(what, getattr(self, what))
        if not is_many(self.quantiles):
            raise ParameterError(f"quantiles must be a list of percentages, got {short_repr(self.quantiles)}")
        percents = tuple(check_integer("quantiles", percent, 1, 99) for percent in self.quantiles)
        object.__setattr__(self, "quantiles", percents)
        if not callable(self.bound):
            bound = as_integer(self.bound)
            if bound is None:
                raise ParameterError(
                    f"bound must be an integer or a function for output {self.name}, got {short_repr(self.bound)}"
                )
            object.__setattr__(self, "bound", bound)
        if self.low is not None or self.high is not None:
            self._check_range()
        elif self.asymptotic and self.bound == 1 and self.denominator is None and self.compared_with is None:
            raise ParameterError(
                f"output {self.name} must have compared_with, or a bound above 1, to be asymptotic: a share has an exact interval"
            )
        if self.is_binned and (not isinstance(self.bound, int) or self.bound >= MAX_BINS or self.is_float):
            raise ParameterError(
                f"bound must be an integer in [1, {MAX_BINS - 1}] for output {self.name} with a distribution "
                f"or quantiles, got {short_repr(self.bound)}"
            )

    def _check_range(self) -> None:
        low, high = as_number(self.low), as_number(self.high)
        if low is None or high is None or not -math.inf < low < high < math.inf or math.isinf(float(high) - float(low)):
            raise ParameterError(
                f"low and high must be numbers, low below high, for output {self.name}, "
                f"got {short_repr(self.low)} and {short_repr(self.high)}"
            )
        if self.bound != 1 or self.denominator is not None or self.compared_with is not None or self.asymptotic:
            raise ParameterError(
                f"output {self.name} must have low and high, or bound, denominator, compared_with or asymptotic, got both"
            )
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))


def check_outputs(name: str, outputs: Sequence[Output]) -> None:
    """Raise ParameterError unless the outputs of a study have different names and refer to outputs that they can use."""
    names = [output.name for output in outputs if isinstance(output, Output)]
    if len(names) < len(outputs):
        raise ParameterError(f"outputs of {name} must be Outputs, got {short_repr(outputs)}")
    if not names or len(set(names)) < len(names):
        raise ParameterError(
            f"outputs of {name} must be one or more of different names, got {', '.join(names) or 'none'}"
        )
    for output in outputs:
        if isinstance(output.bound, int) and not 1 <= output.bound < 2**31:
            raise ParameterError(f"bound must be in [1, {2**31 - 1}] for output {output.name}, got {output.bound}")
        for what in ("condition", "denominator", "compared_with"):
            other = getattr(output, what)
            if other in names and outputs[names.index(other)].is_float:
                raise ParameterError(f"{what} of output {output.name} must be an integer output, got {other}")
            if other is not None and other not in names:
                raise ParameterError(
                    f"{what} of output {output.name} must be another output of {name}, got {other}{suggest_name(other, names)}"
                )
        for other, how in ((output.denominator, "denominator"), (output.compared_with, "compared_with")):
            if other is not None and {o.condition for o in outputs if o.name == other} != {output.condition}:
                raise ParameterError(
                    f"output {output.name} and output {other}, its {how}, must have the same condition"
                )


def counters_of(output: Output) -> list[Counter]:
    """Return the counters that record an output."""
    name, what = output.name, output.description
    out = [
        Counter(f"{name}_total", f"total of: {what}", 2),
        Counter(f"{name}_squares", f"sum of squares of: {what}", 2),
        Counter(f"{name}_nonzero", f"trials with a nonzero: {what}"),
    ]
    if output.denominator:
        out.append(Counter(f"{name}_product", f"products of {name} and {output.denominator}", 2))
    if output.compared_with:
        difference = f"{name} minus {output.compared_with}"
        out += [
            Counter(f"{name}_minus_total", f"total of: {difference}"),
            Counter(f"{name}_minus_squares", f"sum of squares of: {difference}", 2),
            Counter(f"{name}_minus_nonzero", f"trials with a nonzero: {difference}"),
        ]
    if output.is_binned and isinstance(output.bound, int):
        out.append(Counter(f"{name}_bins", f"trials by value of: {what}", bins=output.bound + 1))
    return out


def _bound_function(output: Output) -> Callable[[Point], int]:
    """Return the bound of an output as a function of the point."""
    bound = output.bound
    return bound if callable(bound) else lambda point: bound


def _condition_of(output: Output) -> str | None:
    """Return the counter of the trials that count for an output, None for all trials."""
    return f"{output.condition}_nonzero" if output.condition else None


def _mean_counters(name: str) -> dict[str, Any]:
    """Return the counters of a mean, by the fields of its statistic."""
    return {what: f"{name}_{what}" for what in ("total", "squares", "nonzero")}


def iter_further_statistics(output: Output, outputs: Sequence[Output]) -> Iterator[Statistic]:
    """Yield the further statistics of an output: of ``compared_with``, ``distribution`` and ``quantiles``."""
    name, what = output.name, output.description
    if output.compared_with:
        other = next(o for o in outputs if o.name == output.compared_with)
        bounds = _bound_function(output), _bound_function(other)
        are_binary = other.bound == output.bound == 1 and not (output.is_float or other.is_float)
        exact_class = PairedDifference if are_binary else Difference
        statistic_class = NormalDifference if output.asymptotic else exact_class
        yield statistic_class(
            name=f"{name}_minus_{output.compared_with}",
            description=f"{what}: how much more than {output.compared_with}",
            **_mean_counters(f"{name}_minus"),
            bound=lambda point: max(bound(point) for bound in bounds),
            condition=_condition_of(output),
        )
    if output.distribution:
        yield Distribution(
            name=f"{name}_distribution",
            description=f"{what}: fraction of each value",
            counter=f"{name}_bins",
            label=name,
            shown=True,
            condition=_condition_of(output),
        )
    bound = _bound_function(output)
    yield from make_quantiles(
        name, what, f"{name}_bins", output.quantiles, bound=bound, condition=_condition_of(output)
    )


def statistic_of(output: Output) -> Statistic:
    """Return the statistic named like the output."""
    common: dict[str, Any] = {
        "name": output.name,
        "description": output.description,
        "condition": _condition_of(output),
    }
    sums = _mean_counters(output.name)
    if output.denominator:
        squares = (sums["squares"], f"{output.name}_product", f"{output.denominator}_squares")
        totals: dict[str, Any] = {"numerator": sums["total"], "denominator": f"{output.denominator}_total"}
        return Ratio(**common, **totals, squares=squares, nonzero=sums["nonzero"])
    if output.low is not None and output.high is not None:
        span = output.high - output.low
        return ShiftedMean(**common, **sums, unit=lambda point: STEPS, scale=lambda point: span, least=output.low)
    if output.bound == 1:
        return Proportion(**common, events=sums["nonzero"])
    return (NormalMean if output.asymptotic else Mean)(**common, **sums, bound=_bound_function(output))
