"""A user's own study in about twenty lines: a jitted function of one trial, made into a :class:`~fastcube.engine.study.Study`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError, StudyError, as_integer, check_line, is_many, nearest, shown
from ..kernels.jit import jit_disabled, scratch
from ..kernels.layout import Counter, Extreme, Layout
from ..kernels.tally import add_wide
from ..kernels.trials import trials_kernel
from .fingerprint import of_function
from .statistics import Mean, Point, Proportion, Ratio, Statistic
from .study import Axis, Draw, Explanation, Grid, Study, point_text
from .tally import Tally


@dataclass(frozen=True)
class Output:
    """One number that a trial gives: an integer in [0, bound], bound < 2^31, which may depend on the point.

    With ``bound`` 1 the study reports a proportion, else a mean.  That every trial keeps to the range is the
    trial's promise; the largest value is stored with its trial, so that a broken promise shows.

    Parameters
    ----------
    name, description : str
    bound : int or callable
        Largest value, or a function of the point that gives it.
    among : str, optional
        Another output: only trials where that is not zero are counted, and the statistic is over them.
    over : str, optional
        Another output: the statistic is the total of this one over the total of that one (asymptotic interval).
    """

    name: str
    description: str
    bound: int | Callable[[Point], int] = 1
    among: str | None = None
    over: str | None = None

    def __post_init__(self) -> None:
        check_line("name", self.name)
        check_line("description", self.description)
        for what in ("among", "over"):
            if getattr(self, what) is not None:
                check_line(what, getattr(self, what))
        if not callable(self.bound):
            bound = as_integer(self.bound)
            if bound is None:
                raise ParameterError(
                    f"bound must be an integer or a function for output {self.name}, got {shown(self.bound)}"
                )
            object.__setattr__(self, "bound", bound)


def trial(function: Callable[..., None]) -> Any:
    """Jit a function of one trial: ``trial(key, t, params, out)``, or with a set-up ``trial(key, t, params, scratch, out)``.

    ``key`` (uint64) and ``t`` (int64) are what the random words of ``fastcube.kernels.philox`` and the fault sets of
    ``fastcube.kernels.sampling`` ask for; ``params`` holds the point's axis values as float64; ``out`` is an int64
    array, all zeros, one place for each output; ``scratch`` is what the study's set-up made.  A set-up,
    ``set_up(params)``, is jitted by this decorator too.  An index outside of its array raises IndexError, at a small price.
    """
    if not inspect.isfunction(function):
        raise ParameterError(f"trial must be a function, got {shown(function)}")
    return scratch(function, bounds_checked=True)


class _Room(NamedTuple):
    """Scratch of the loop round a user's trial: its outputs, and what its own set-up made."""

    out: Any
    own: Any


def _parts(trial: Any, set_up: Any, outputs: Sequence[Output], layout: Layout) -> tuple[Any, Any]:
    """Set-up and trial in the shape of :func:`~fastcube.kernels.trials.trials_kernel`."""
    count = len(outputs)
    names = [output.name for output in outputs]
    totals = tuple(int(layout.counter(f"{name}_total")) for name in names)
    squares = tuple(int(layout.counter(f"{name}_squares")) for name in names)
    nonzero = tuple(int(layout.counter(f"{name}_nonzero")) for name in names)
    largest = tuple(int(layout.extreme(name)) for name in names)
    products = tuple(int(layout.counter(f"{o.name}_product")) if o.over else 0 for o in outputs)
    among = tuple(names.index(o.among) if o.among else -1 for o in outputs)
    over = tuple(names.index(o.over) if o.over else -1 for o in outputs)
    bare = set_up is None

    @scratch
    def room(params):  # type: ignore[no-untyped-def]
        if bare:
            return _Room(np.zeros(count, np.int64), np.zeros(0, np.int64))
        return _Room(np.zeros(count, np.int64), set_up(params))

    @scratch
    def count_trial(key, t, params, scratch, tally):  # type: ignore[no-untyped-def]
        out = scratch.out
        out[:] = 0
        if bare:
            trial(key, t, params, out)
        else:
            trial(key, t, params, scratch.own, out)
        for i in range(count):
            value = out[i]
            if value < 0:
                raise ValueError("an output is negative")
            if among[i] >= 0 and out[among[i]] == 0:
                continue
            add_wide(tally, totals[i], np.uint64(value))
            add_wide(tally, squares[i], np.uint64(value * value))
            tally[nonzero[i]] += value != 0
            if over[i] >= 0:
                add_wide(tally, products[i], np.uint64(value * out[over[i]]))
            if value > tally[largest[i]]:
                tally[largest[i]] = value
                tally[largest[i] + 1] = t

    return room, count_trial


def _check_trial(name: str, trial: Any, set_up: Any) -> None:
    """Raise ParameterError unless the functions are jitted and take the arguments they will be given."""
    wanted = ["key", "t", "params", *(["scratch"] if set_up is not None else []), "out"]
    for what, given, names in (("trial", trial, wanted), ("set_up", set_up, ["params"])):
        if given is None and what == "set_up":
            continue
        if not callable(given):
            raise ParameterError(f"{what} of {name} must be a function, got {shown(given)}")
        if not hasattr(given, "py_func") and not jit_disabled():
            code = getattr(given, "__code__", None)
            where = "" if code is None else f" ({code.co_filename}, line {code.co_firstlineno})"
            raise ParameterError(f"{what} of {name} must be jitted: write @fc.trial above it{where}")
        takes = list(inspect.signature(getattr(given, "py_func", given)).parameters)
        if len(takes) != len(names):
            raise ParameterError(f"{what} of {name} must take ({', '.join(names)}), got ({', '.join(takes)})")


def _check_outputs(name: str, outputs: Sequence[Output]) -> None:
    names = [output.name for output in outputs if isinstance(output, Output)]
    if len(names) < len(outputs):
        raise ParameterError(f"outputs of {name} must be Outputs, got {shown(outputs)}")
    if not names or len(set(names)) < len(names):
        raise ParameterError(
            f"outputs of {name} must be one or more of different names, got {', '.join(names) or 'none'}"
        )
    for output in outputs:
        if isinstance(output.bound, int) and not 1 <= output.bound < 2**31:
            raise ParameterError(f"bound must be in [1, {2**31 - 1}] for output {output.name}, got {output.bound}")
        for what in ("among", "over"):
            other = getattr(output, what)
            if other is not None and other not in names:
                raise ParameterError(
                    f"{what} of output {output.name} must be another output of {name}, got {other}{nearest(other, names)}"
                )
        counted = {o.among for o in outputs if o.name in (output.name, output.over)}
        if len(counted) > 1:
            raise ParameterError(
                f"output {output.name} and output {output.over}, which it is over, must be among the same"
            )


def trial_study(
    name: str,
    title: str,
    axes: Sequence[Axis],
    outputs: Sequence[Output],
    trial: Any,
    points: Sequence[Point],
    *,
    set_up: Any = None,
    trials: int = 10**6,
    source: str = "",
    revision: int = 1,
    check: Callable[[Point], None] = lambda point: None,
    explain: Callable[[Point, int, int], Explanation] | None = None,
    draw: Callable[[Point, int, int], Draw] | None = None,
) -> Study:
    """Make a study of a jitted scalar trial (see :func:`trial`).

    Every output becomes a statistic of its name, a counter of its total, of its squares and of the trials where
    it is nonzero, and an extreme.  ``points`` is its one grid.  ``revision`` must be raised by hand when the trial's
    meaning changes.  ``draw`` is for :func:`fastcube.fault_sets`.  Raises ParameterError for a trial that does not take
    what it is given, or an output that names another one which is not there.
    """
    check_line("name", name)
    for what, given in (("axes", axes), ("outputs", outputs), ("points", points)):
        if not is_many(given):
            raise ParameterError(f"{what} of {name} must be a list, got {shown(given)}")
    _check_trial(name, trial, set_up)
    _check_outputs(name, outputs)
    layout = Layout(
        *(counter for output in outputs for counter in _counters(output)),
        *(Extreme(output.name, output.description) for output in outputs),
    )
    room, count_trial = _parts(trial, set_up, outputs, layout)
    kernel = trials_kernel(room, count_trial, code=getattr(trial, "py_func", trial))
    return Study(
        name=name,
        title=title,
        source=source,
        revision=revision,
        axes=tuple(axes),
        tally=layout,
        statistics=tuple(_statistic(output) for output in outputs),
        code=of_function(getattr(trial, "py_func", trial)),
        kernel=lambda point: kernel,
        grids=(Grid("default", list(points), trials),),
        check=check,
        explain=_told(name, outputs, trial, set_up) if explain is None else explain,
        draw=draw,
        verify=_promise(name, outputs),
    )


def _told(name: str, outputs: Sequence[Output], trial: Any, set_up: Any) -> Callable[[Point, int, int], Explanation]:
    """Explains a trial by what it gives."""

    def explain(point: Point, key: int, t: int) -> Explanation:
        out = np.zeros(len(outputs), np.int64)
        params = np.array(list(point.values()), np.float64)
        scratch = () if set_up is None else (set_up(params),)
        trial(np.uint64(key), t, params, *scratch, out)
        values = {output.name: int(v) for output, v in zip(outputs, out, strict=True)}
        words = [f"trial {t} of {name} at {point_text(point)}"]
        words += [f"  {output.description}: {values[output.name]}" for output in outputs]
        return Explanation("\n".join(words), values)

    return explain


def _promise(name: str, outputs: Sequence[Output]) -> Callable[[Point, Tally], None]:
    """Hold the largest values against the declared bounds; the extreme knows the trial."""

    def verify(point: Point, tally: Tally) -> None:
        for output in outputs:
            most = output.bound(point) if callable(output.bound) else output.bound
            value, t = tally.extremes[output.name]
            if value > most:
                raise StudyError(f"output {output.name} of {name} must be in [0, {most}], got {value} in trial {t} "
                                 f"at {point_text(point)}")  # fmt: skip

    return verify


def _counters(output: Output) -> list[Counter]:
    what = output.description
    product = [Counter(f"{output.name}_product", f"products of {output.name} and {output.over}", 2)]
    return [
        Counter(f"{output.name}_total", f"total of: {what}", 2),
        Counter(f"{output.name}_squares", f"sum of squares of: {what}", 2),
        Counter(f"{output.name}_nonzero", f"trials with a nonzero: {what}"),
        *(product if output.over else []),
    ]


def _statistic(output: Output) -> Statistic:
    total, squares, nonzero = (f"{output.name}_{suffix}" for suffix in ("total", "squares", "nonzero"))
    among = f"{output.among}_nonzero" if output.among else None
    if output.over:
        products = (squares, f"{output.name}_product", f"{output.over}_squares")
        return Ratio(name=output.name, description=output.description, numerator=total, squares=products,
                     denominator=f"{output.over}_total", nonzero=nonzero, among=among)  # fmt: skip
    if output.bound == 1:
        return Proportion(name=output.name, description=output.description, events=nonzero, among=among)
    bound = output.bound
    limit = bound if callable(bound) else lambda point: bound
    return Mean(name=output.name, description=output.description, total=total, squares=squares, nonzero=nonzero,
                bound=limit, among=among)  # fmt: skip
