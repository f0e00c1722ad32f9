"""Studies of users: ``trial_study`` makes a study from a jitted function of one trial."""

from __future__ import annotations

import dis
import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError, StudyError, as_number, check_line, is_many, short_repr
from ..kernels.machine.jit import Kernel, is_jit_disabled, scratch
from ..kernels.machine.trials import trials_kernel
from ..kernels.tally.layout import Layout, Maximum
from ..kernels.tally.sums import add_wide
from .fingerprint import hash_functions
from .outputs import LARGEST, STEPS, Output, check_outputs, counters_of, iter_further_statistics, statistic_of
from .statistics import Point
from .study import Axis, Choice, Explanation, Grid, Sample, Study, point_text
from .tally import Tally


def trial(function: Callable[..., None]) -> Any:
    """Compile a function of one trial: ``trial(key, t, params, out)``, or with a set-up ``trial(key, t, params, scratch, out)``.

    ``key`` (uint64) and ``t`` (int64) are arguments of the fault sets and random numbers of ``fc.blocks``.  ``params`` holds the
    point's axis values as float64.  ``out`` is a float64 array of zeros, with one entry per output.  ``scratch`` is the value of
    the study's set-up.  A set-up, ``set_up(params)``, is compiled by this decorator too.  An index out of bounds raises
    IndexError and a division by zero ZeroDivisionError, at a small cost.

    Examples
    --------
    >>> @fc.trial
    ... def odd(key, t, params, out):
    ...     out[0] = t % 2
    >>> out = np.zeros(1)
    >>> odd(np.uint64(1), 5, np.zeros(0), out)  # the engine makes this call for each trial
    >>> out
    array([1.])
    """
    if not inspect.isfunction(function):
        raise ParameterError(f"trial must be a function, got {short_repr(function)}")
    return scratch(function, checked=True)


class _Workspace(NamedTuple):
    """Scratch memory of the loop over a user's trials."""

    out: Any  #: the outputs as the trial writes them, float64
    units: Any  #: the outputs as they are counted, int64: a float output in steps of its range
    set_up: Any  #: the value of the user's set-up; an empty array without one


def _wrap_trial(name: str, trial: Any, set_up: Any, outputs: Sequence[Output], layout: Layout) -> tuple[Any, Any]:
    """Return set-up and trial in the form of ``kernels.machine.trials.trials_kernel``.

    The compiled loop over the outputs reads tuples with one entry per output: the slots of its counters, or 0 where it has none,
    and the indices of other outputs that it refers to, or -1.
    """
    count = len(outputs)
    names = [output.name for output in outputs]
    totals = tuple(int(layout.counter(f"{name}_total")) for name in names)
    squares = tuple(int(layout.counter(f"{name}_squares")) for name in names)
    nonzero = tuple(int(layout.counter(f"{name}_nonzero")) for name in names)
    largest = tuple(int(layout.maximum(name)) for name in names)
    products = tuple(int(layout.counter(f"{o.name}_product")) if o.denominator else 0 for o in outputs)
    conditions = tuple(names.index(o.condition) if o.condition else -1 for o in outputs)
    denominators = tuple(names.index(o.denominator) if o.denominator else -1 for o in outputs)
    subtracted = tuple(names.index(o.compared_with) if o.compared_with else -1 for o in outputs)
    difference_totals = tuple(int(layout.counter(f"{o.name}_minus_total")) if o.compared_with else 0 for o in outputs)
    difference_squares = tuple(
        int(layout.counter(f"{o.name}_minus_squares")) if o.compared_with else 0 for o in outputs
    )
    unequal_trials = tuple(int(layout.counter(f"{o.name}_minus_nonzero")) if o.compared_with else 0 for o in outputs)
    first_bins = tuple(int(layout.counter(f"{o.name}_bins")) if o.is_binned else 0 for o in outputs)
    most_binned = tuple(o.bound if o.is_binned and isinstance(o.bound, int) else -1 for o in outputs)
    is_float = tuple(output.is_float for output in outputs)
    low = tuple(0.0 if output.low is None else output.low for output in outputs)
    high = tuple(float(LARGEST) if output.high is None else output.high for output in outputs)
    integer_errors = tuple(
        f"output {n} of {name} must be a whole number from 0 to its bound, got {{}} in trial {{}}" for n in names
    )
    range_errors = tuple(
        f"output {o.name} of {name} must be in [{o.low}, {o.high}], got {{}} in trial {{}}" for o in outputs
    )
    has_no_set_up = set_up is None

    @scratch
    def make_workspace(params):  # type: ignore[no-untyped-def]
        if has_no_set_up:
            return _Workspace(np.zeros(count), np.zeros(count, np.int64), np.zeros(0))
        return _Workspace(np.zeros(count), np.zeros(count, np.int64), set_up(params))

    @scratch
    def count_trial(key, t, params, scratch, tally):  # type: ignore[no-untyped-def]
        out = scratch.out
        out[:] = 0
        if has_no_set_up:
            trial(key, t, params, out)
        else:
            trial(key, t, params, scratch.set_up, out)
        units = scratch.units
        for i in range(count):
            value = out[i]
            if is_float[i]:
                if not low[i] <= value <= high[i]:
                    raise StudyError(range_errors[i], value, t)
                units[i] = np.int64(np.rint((value - low[i]) / (high[i] - low[i]) * STEPS))
            else:
                if not (0.0 <= value <= high[i] and value == np.floor(value)):
                    raise StudyError(integer_errors[i], value, t)
                units[i] = np.int64(value)
        for i in range(count):
            value = units[i]
            if conditions[i] >= 0 and units[conditions[i]] == 0:
                continue
            add_wide(tally, totals[i], np.uint64(value))
            add_wide(tally, squares[i], np.uint64(value * value))
            tally[nonzero[i]] += value != 0
            if denominators[i] >= 0:
                add_wide(tally, products[i], np.uint64(value * units[denominators[i]]))
            if subtracted[i] >= 0:
                difference = value - units[subtracted[i]]
                tally[difference_totals[i]] += difference
                add_wide(tally, difference_squares[i], np.uint64(difference * difference))
                tally[unequal_trials[i]] += difference != 0
            if value <= most_binned[i]:
                tally[first_bins[i] + value] += 1
            if value > tally[largest[i]]:
                tally[largest[i]] = value
                tally[largest[i] + 1] = t

    return make_workspace, count_trial


def _check_trial(name: str, trial: Any, set_up: Any) -> None:
    """Raise ParameterError unless the functions are jitted and have the right number of arguments."""
    wanted = ["key", "t", "params", *(["scratch"] if set_up is not None else []), "out"]
    functions = {"trial": (trial, wanted), **({} if set_up is None else {"set_up": (set_up, ["params"])})}
    for what, (given, names) in functions.items():
        if not callable(given):
            raise ParameterError(f"{what} of {name} must be a function, got {short_repr(given)}")
        if not hasattr(given, "py_func") and not is_jit_disabled():
            code = getattr(given, "__code__", None)
            where = "" if code is None else f" ({code.co_filename}, line {code.co_firstlineno})"
            raise ParameterError(f"{what} of {name} must be jitted: write @fc.trial above it{where}")
        arguments = list(inspect.signature(getattr(given, "py_func", given)).parameters)
        if len(arguments) != len(names):
            raise ParameterError(f"{what} of {name} must take ({', '.join(names)}), got ({', '.join(arguments)})")
    if _has_return_value(getattr(trial, "py_func", trial)):
        raise ParameterError(f"trial of {name} must return nothing: it writes its outputs into out[0], out[1], ...")


def _has_return_value(function: Any) -> bool:
    """Whether a Python function has a ``return`` of a value other than None; False if its bytecode is not available."""
    steps = list(dis.get_instructions(function)) if inspect.isfunction(function) else []
    return any(
        (step.opname == "RETURN_CONST" and step.argval is not None)
        or (step.opname == "RETURN_VALUE" and not (before.opname == "LOAD_CONST" and before.argval is None))
        for before, step in itertools.pairwise(steps)
    )


def trial_study(
    name: str,
    title: str,
    axes: Sequence[Axis | Choice],
    outputs: Sequence[Output],
    trial: Any,
    points: Sequence[Point],
    *,
    set_up: Any = None,
    trials: int = 10**6,
    source: str = "",
    revision: int = 1,
    check: Callable[[Point], None] | None = None,
    explain: Callable[[Point, int, int], Explanation] | None = None,
    sample: Callable[[Point, int, int], Sample] | None = None,
) -> Study:
    """Return a study made from a jitted trial (see :func:`trial`).

    Every output becomes a statistic of the same name, a maximum, and counters of its total, of its squares and of the trials
    in which it is nonzero.

    Parameters
    ----------
    name, title : str
        The name on the command line (letters, digits, - and _), and one line on the quantity measured.
    axes : sequence of Axis or Choice
        The coordinates of a point, in the order of their values in ``params``.
    outputs : sequence of Output
        The outputs of a trial, in the order of ``out``.
    trial, set_up : function
        Jitted by :func:`trial`: ``trial(key, t, params, out)``, or ``trial(key, t, params, scratch, out)`` with
        ``scratch = set_up(params)``.
    points : sequence of mapping
        The default grid; :func:`product_grid` makes one.
    trials : int
        Default number of trials per point.
    source : str
        One line on the origin of the study.
    revision : int
        Raise it by hand when the meaning of the trial changes.
    check : callable, optional
        ``check(point)`` raises ParameterError for a point whose values are in range but impossible together.  It is called for
        every point before the first trial.
    explain : callable, optional
        ``explain(point, key, t)`` returns the :class:`Explanation` for ``replay``; by default it lists the outputs.  An entry of
        its data with the name of an output must be what the compiled trial counts.
    sample : callable, optional
        ``sample(point, key, t)`` returns the :class:`Sample` of a trial, its network with faults and its other samples, for
        :func:`fault_sets`, ``fastcube faults`` and tests.

    Returns
    -------
    Study

    Raises
    ------
    ParameterError
        If the trial has other arguments, or an output names an output that does not exist.

    Examples
    --------
    >>> @fc.trial
    ... def odd(key, t, params, out):
    ...     out[0] = t % 2 == 1 and t < params[0]
    >>> axes = [fc.Axis("a", "a number", int, 0, 1000)]
    >>> outputs = [fc.Output("odd", "odd and below a")]
    >>> study = fc.trial_study("odd", "Odd trials below a", axes, outputs, odd, [{"a": 100}])
    >>> fc.run(study, trials=1000).estimate("odd").value  # 50 of the 1000 trials
    0.05
    """
    check_line("name", name)
    for what, given in (("axes", axes), ("outputs", outputs), ("points", points)):
        if not is_many(given):
            raise ParameterError(f"{what} of {name} must be a list, got {short_repr(given)}")
    if any(isinstance(axis, Axis) and axis.swept for axis in axes):
        raise ParameterError(f"axes of {name} must not be swept: its trial counts one value")
    for what, function in (("check", check), ("explain", explain), ("sample", sample)):
        if function is not None and not callable(function):
            raise ParameterError(f"{what} of {name} must be a function, got {short_repr(function)}")
    _check_trial(name, trial, set_up)
    check_outputs(name, outputs)
    layout = Layout(
        *(counter for output in outputs for counter in counters_of(output)),
        *(Maximum(output.name, output.description) for output in outputs),
    )
    workspace, count_trial = _wrap_trial(name, trial, set_up, outputs, layout)
    kernel = trials_kernel(workspace, count_trial, code=getattr(trial, "py_func", trial))
    return Study(
        name=name,
        title=title,
        source=source,
        revision=revision,
        axes=tuple(axes),
        tally=layout,
        statistics=(
            *(statistic_of(output) for output in outputs),
            *(statistic for output in outputs for statistic in iter_further_statistics(output, outputs)),
        ),
        code=hash_functions(trial, set_up),
        kernel=lambda point: kernel,
        grids=(Grid("default", list(points), trials),),
        check=(lambda point: None) if check is None else check,
        explain=_check_explanations(name, explain, _default_explain(axes, outputs, trial, set_up, kernel)),
        sample=sample,
        verify=_make_bound_check(name, outputs),
    )


def _check_explanations(
    name: str,
    explain: Callable[[Point, int, int], Explanation] | None,
    listed: Callable[[Point, int, int], Explanation],
) -> Callable[[Point, int, int], Explanation]:
    """Return a user's ``explain``, checked against the outputs that the compiled trial counts; without one, ``listed``."""
    if explain is None:
        return listed

    def checked_explain(point: Point, key: int, t: int) -> Explanation:
        found, counted = explain(point, key, t), listed(point, key, t).data
        for output, value in counted.items():
            shown = getattr(found, "data", {}).get(output, value)
            if as_number(shown) is not None and not math.isclose(float(shown), float(value), rel_tol=1e-9):
                raise StudyError(
                    f"explain of {name} must show what is counted, but {output} in trial {t} at {point_text(point)} is {value}, "
                    f"got {short_repr(shown)}"
                )
        return found

    return checked_explain


def _default_explain(
    axes: Sequence[Axis | Choice], outputs: Sequence[Output], trial: Any, set_up: Any, kernel: Kernel
) -> Callable[[Point, int, int], Explanation]:
    def explain(point: Point, key: int, t: int) -> Explanation:
        _ = kernel.compiled  # raises the errors that a run would raise
        out = np.zeros(len(outputs))
        params = np.array([axis.parameter(point[axis.name]) for axis in axes], np.float64)
        scratch = () if set_up is None else (set_up(params),)
        trial(np.uint64(key), t, params, *scratch, out)
        values = {o.name: float(v) if o.is_float else int(v) for o, v in zip(outputs, out, strict=True)}
        lines = [f"  {output.description}: {values[output.name]}" for output in outputs]
        return Explanation("\n".join(lines), values)

    return explain


def _make_bound_check(name: str, outputs: Sequence[Output]) -> Callable[[Point, Tally], None]:
    """Return a function that checks the largest values against the declared bounds and names the trial of a violation."""

    def verify_bounds(point: Point, tally: Tally) -> None:
        for output in outputs:
            if output.is_float:
                continue
            most = output.bound(point) if callable(output.bound) else output.bound
            value, t = tally.maxima[output.name]
            if value > most:
                raise StudyError(
                    f"output {output.name} of {name} must be in [0, {most}], got {value} in trial {t} "
                    f"at {point_text(point)}; if the value is right, give fc.Output a larger bound"
                )

    return verify_bounds
