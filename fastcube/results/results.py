"""Results of one study: exact tallies per point, and the estimates computed from them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import (
    ParameterError,
    StudyMismatchError,
    check_file_path,
    check_flag,
    check_integer,
    count_text,
    is_many,
    range_text,
    short_repr,
    wrap_study_errors,
)
from ..measure.binned import Distribution
from ..measure.estimate import UNDEFINED, Estimate
from ..measure.goal import Goal
from ..measure.grid import collect_values, values_text
from ..measure.schema import Key, check_same
from ..measure.statistics import Statistic, Value
from ..measure.study import GENERATOR, Measure, point_text
from ..measure.tally import Tally
from .columns import MAXIMA, Columns, Identity

if TYPE_CHECKING:
    import pandas
    import xarray

#: Version of the identity of results.
IDENTITY_VERSION = 2


@dataclass(repr=False)
class Results:
    """Exact tallies of a study at some points.

    In a console results are shown in short form, in a notebook as a table.  ``str`` gives the table of the command line.

    Attributes
    ----------
    study : Measure
        The study that counted, or its description in a file (:class:`~fastcube.measure.schema.RecordedMeasure`).
    seed : int
    tallies : dict
        Tally of each point, by its values in the order of the axes.
    goal : Goal
        The goal of the last run; not part of the identity.
    history : list of dict
        Provenance of each run and merge that led here; not part of the identity.
    grid : str, optional
        The study's grid that was run, whose figure and notes are shown; None for the first.
    order : sequence of keys, optional
        Points in the order of a table; by default sorted by values.

    Examples
    --------
    >>> results = fc.run("unsafe-fraction", n=5, f=[1, 2], trials=1000)
    >>> results
    <Results of unsafe-fraction: 2 points (n = 5; f = 1, 2), 1,000 trials each, seed 0>
    >>> results["unsafe_fraction"][5, 1].value  # at n = 5, f = 1
    0.0
    """

    study: Measure
    seed: int
    tallies: dict[Key, Tally] = field(default_factory=dict)
    goal: Goal = field(default_factory=Goal)
    history: list[dict[str, Any]] = field(default_factory=list)
    grid: str | None = None
    order: Sequence[Key] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.study, Measure):
            raise ParameterError(f"study must be a Study, got {short_repr(self.study)}")
        self.seed = check_integer("seed", self.seed, 0, 2**63 - 1)

    # ------------------------------------------------------------ reading

    def point(self, key: Key) -> dict[str, Value]:
        """Return the point as a mapping of axis names to values."""
        if not isinstance(key, tuple) or len(key) != len(self.study.axes):
            raise ParameterError(f"key must be a tuple of {len(self.study.axes)} values, got {short_repr(key)}")
        return dict(zip((a.name for a in self.study.axes), key, strict=True))

    def __iter__(self) -> Iterator[tuple[dict[str, Value], Tally]]:
        """Iterate over points with their tallies, in ``order`` or sorted by values; names in the order of their axis."""
        for key in self.order or sorted(self.tallies, key=self.study.order):
            yield self.point(key), self.tallies[key]

    @property
    def trials(self) -> int:
        """Number of trials at all points together."""
        return sum(tally.trials for tally in self.tallies.values())

    def estimates(self, point: Mapping[str, Value]) -> dict[str, Estimate]:
        """Return the estimate of each statistic except distributions at a point; NaN if not defined or without trials."""
        return {s.name: self.read(s, point)[0] for s in self.study.statistics if not isinstance(s, Distribution)}

    def _find_tally(self, point: Mapping[str, Value]) -> Tally:
        """Return the tally of a point.  Raises ParameterError if these results do not have it."""
        try:
            return self.tallies[tuple(point[a.name] for a in self.study.axes)]
        except (KeyError, TypeError, IndexError, ValueError):  # of another type, or with other axes
            where = point_text(self.study.point(point))
        raise ParameterError(f"no point of these results of {self.study.name} is {where}")

    def read(self, statistic: Statistic, point: Mapping[str, Value]) -> list[Estimate]:
        """Return one estimate, or one for each bin of a distribution.  Raises StudyError if the study's code fails."""
        if not isinstance(statistic, Statistic):
            raise ParameterError(f"statistic must be a Statistic, got {short_repr(statistic)}")
        tally = self._find_tally(point)
        with wrap_study_errors(f"statistic {statistic.name} of {self.study.name} at {point_text(point)}"):
            if tally.trials and statistic.defined(point):
                return statistic.read(tally.counts, tally.trials, point)
            return [UNDEFINED] * (len(tally.counts[statistic.counter]) if isinstance(statistic, Distribution) else 1)

    def table(self, statistics: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return one row per point and statistic; a distribution has one row per value up to the largest seen.

        Columns: study, axes, statistic, trials, eligible, estimate, stderr, low, high, interval.  ``eligible`` is the number of
        trials that the statistic is over, 0 if the point does not define it.  ``interval`` is ``exact``, ``bounded`` or
        ``asymptotic``.  Unknown numbers are NaN.
        """
        rows = []
        for point, tally in self:
            for statistic in self.select_statistics(statistics):
                eligible = statistic.trials(tally.counts, tally.trials) if statistic.defined(point) else 0
                for label, estimate in self.labelled_estimates(statistic, point):
                    row = {"study": self.study.name, **point, "statistic": label, "trials": tally.trials}
                    row |= {"eligible": eligible, "estimate": estimate.value, "stderr": estimate.stderr}
                    row |= {"low": estimate.low, "high": estimate.high, "interval": statistic.interval}
                    rows.append(row)
        return rows

    def select_statistics(self, names: Sequence[str] | None) -> tuple[Statistic, ...]:
        """Return the statistics of these names, in their order; by default all.  Raises ParameterError."""
        if names is None:
            return self.study.statistics
        if not is_many(names):
            raise ParameterError(f"statistics must be a list of names, got {short_repr(names)}")
        return tuple(self.study.statistic(name) for name in names)

    def labelled_estimates(self, statistic: Statistic, point: Mapping[str, Value]) -> list[tuple[str, Estimate]]:
        """Return the estimate with the statistic's name; for a distribution one estimate per value up to the largest seen."""
        estimates = self.read(statistic, point)
        if not isinstance(statistic, Distribution):
            return [(statistic.name, estimates[0])]
        seen = [i for i, e in enumerate(estimates) if e.value > 0]
        return [(f"{statistic.label}={i}", e) for i, e in enumerate(estimates[: max(seen, default=0) + 1])]

    def identity(self) -> dict[str, Any]:
        """Return everything that makes results equal: the counts and the trials that they come from."""
        points = [
            {
                "point": self.point(key),
                "ranges": tally.ranges,
                "counters": dict(tally.counts),
                MAXIMA: dict(tally.maxima),
            }
            for key, tally in sorted(self.tallies.items(), key=operator.itemgetter(0))
            if tally.ranges
        ]
        return {**self._describe_study(), "points": points}

    def _describe_study(self) -> dict[str, Any]:
        """Return the part of the identity that is the same for all points: study, revision, code, seed and generator."""
        described: dict[str, Any] = {
            "format": IDENTITY_VERSION,
            "study": self.study.name,
            "revision": self.study.revision,
        }
        if self.study.code:
            described["code"] = dict(self.study.code)
        return {**described, "seed": self.seed, "generator": GENERATOR}

    def digest(self) -> str:
        """Return the SHA-256 of the identity, as JSON with sorted keys and no spaces, in hexadecimal."""
        return identity_of_points(self, list(self.tallies)).digest(Columns.of(self.study.tally, self.tallies))

    # ------------------------------------------------------------ choosing

    def sel(self, /, **axes: Any) -> Results:
        """Return the results at some of the points, as Results, which can be shown, plotted or saved.

        If they are saved, the file has only these points and its own digest.  It cannot be merged with the original
        results, because both have the same trials.

        Parameters
        ----------
        **axes
            Values of some axes: a single value, an iterable, or text as on the command line (``"5:8"``).

        Raises
        ------
        ParameterError
            If an axis does not exist, a value occurs at no point, or no point has all the values.
        """
        places = {axis.name: i for i, axis in enumerate(self.study.axes)}
        chosen = {name: set(self._collect_values(name, given)) for name, given in axes.items()}
        tallies = {
            key: tally
            for key, tally in self.tallies.items()
            if all(key[places[name]] in values for name, values in chosen.items())
        }
        if not tallies:
            selection = "; ".join(f"{name} = {values_text(values)}" for name, values in chosen.items())
            raise ParameterError(f"no point of these results of {self.study.name} has {selection}")
        return Results(self.study, self.seed, tallies, self.goal, list(self.history), self.grid)

    def _collect_values(self, name: str, given: Any) -> list[Value]:
        """Return the values of an axis that a caller selects.  Raises ParameterError for one that occurs at no point."""
        axis = self.study.axis(name)
        place = self.study.axes.index(axis)
        present = {key[place] for key in self.tallies}
        selected = collect_values(axis, given)
        for value in selected:
            if value not in present:
                raise ParameterError(f"{name} must be among {values_text(present)} in these results, got {value}")
        return selected

    def estimate(self, statistic: str, /, **axes: Any) -> Estimate:
        """Return the estimate of a statistic at one point: value, stderr, and the 95% interval low, high.

        All are NaN if the point does not define the statistic or has no trials.

        Parameters
        ----------
        statistic : str
            The name of a statistic that is not a distribution; see :meth:`distribution` for distributions.
        **axes
            The point.  An axis may be left out if all points have the same value of it.

        Raises
        ------
        ParameterError
            If there is no such statistic or axis, or the values do not select exactly one point.
        """
        chosen = self.study.statistic(statistic)
        if isinstance(chosen, Distribution):
            raise ParameterError(
                f"statistic must be one of one number, got the distribution {statistic}: see distribution"
            )
        return self.read(chosen, self._find_single_point(axes))[0]

    def distribution(self, statistic: str, /, **axes: Any) -> list[Estimate]:
        """Return the fraction of trials with each value of a distribution at one point, from 0 to its last bin.

        Parameters and errors are as in :meth:`estimate`.

        Examples
        --------
        >>> results = fc.run("unsafe-fraction", n=5, f=[1, 2], trials=1000)
        >>> [e.value for e in results.distribution("rounds_distribution", f=1)][:3]  # no rounds with one faulty node
        [1.0, 0.0, 0.0]
        """
        chosen = self.study.statistic(statistic)
        if not isinstance(chosen, Distribution):
            raise ParameterError(f"statistic must be a distribution, got {statistic}, of one number: see estimate")
        return self.read(chosen, self._find_single_point(axes))

    def _find_single_point(self, axes: Mapping[str, Any]) -> dict[str, Value]:
        """Return the one point with these values of some axes.  Raises ParameterError."""
        selected = self.sel(**axes)
        if len(selected.tallies) != 1:
            open_axes = "; ".join(text for name, text in selected.spans().items() if name not in axes)
            raise ParameterError(
                f"one point is needed, these results have {len(selected.tallies)} left: set {open_axes}"
            )
        return selected.point(next(iter(selected.tallies)))

    def spans(self) -> dict[str, str]:
        """Return the values of each axis as text, by its name: ``n = 5..12 (8 values)``."""
        return {
            axis.name: f"{axis.name} = {values_text({key[i] for key in self.tallies})}"
            for i, axis in enumerate(self.study.axes)
        }

    # ------------------------------------------------------------ showing

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.tallies)

    def __bool__(self) -> bool:
        """Return True, also for results without points."""
        return True

    def __getitem__(self, name: str) -> dict[Key, Any]:
        """Return the estimates of a statistic by the values of a point's axes; a distribution has a list per point.

        Points are in the order of a table.  Raises ParameterError if there is no such statistic.
        """
        statistic = self.study.statistic(name)
        estimates = {tuple(point.values()): self.read(statistic, point) for point, _ in self}
        if isinstance(statistic, Distribution):
            return dict(estimates)
        return {key: single for key, (single,) in estimates.items()}

    def __str__(self) -> str:
        from .table import as_table

        return as_table(self)

    def __repr__(self) -> str:
        done = sorted({tally.trials for tally in self.tallies.values()}) or [0]
        trials = f"{range_text(f'{done[0]:,}', f'{done[-1]:,}')} trials each"
        points = count_text(len(self.tallies), "point")
        where = f" ({'; '.join(self.spans().values())})" if self.tallies else ""
        return f"<Results of {self.study.name}: {points}{where}, {trials}, seed {self.seed}>"

    def _repr_html_(self) -> str:
        from .table import as_html

        return as_html(self)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the rows of :meth:`table` and of ``fastcube show --format csv`` as a ``pandas.DataFrame``.

        Text is ``str``; axes are int64 or float64, as the study declares; trials and eligible are int64.  The numbers are
        float64, NaN if unknown.  Raises MissingDependencyError without pandas (extra ``pandas``).
        """
        from .export import make_dataframe

        return make_dataframe(self)

    def to_xarray(self, raw: bool = False) -> xarray.Dataset:
        """Return the dataset that ``xarray.open_dataset`` would read from the saved file, with all its attributes.

        It has the estimates on the product of the axes, float64, NaN at missing points.  With ``raw`` it has the exact counters,
        int64, over the dimension ``point``, as in the file's group ``raw``.  ``docs/format.md`` lists the variables.
        Raises MissingDependencyError without xarray (extra ``xarray``).
        """
        from .export import make_dataset

        return make_dataset(self, check_flag("raw", raw))

    def plot(
        self,
        *statistics: str,
        x: str | None = None,
        by: str | None = None,
        log: bool = False,
        path: str | Path | None = None,
        axes: Any = None,
        width: str | float = "screen",
        height: str | float | None = None,
        style: str | None = None,
        panels: Sequence[int] = (),
        title: str | bool | None = None,
        legend: bool | Sequence[str] = False,
        xlabel: str | None = None,
        ylabel: str | None = None,
    ) -> Any:
        """Plot the study's figure, or chosen statistics on one pair of axes, and return the matplotlib figure.

        Parameters
        ----------
        *statistics : str
            Names of statistics.  There is one line, with 95% intervals, per statistic and per value of ``by`` and of any other
            axis with several values.
        x : str, optional
            The axis along x; by default the axis with most values.  Values that are names keep their order.
        by : str, optional
            The axis whose values come first in the labels.
        log : bool
            Whether to use a logarithmic scale; by default it is used if the data span two decades.
        path : path, optional
            The file to write: .png, .svg or .pdf.
        axes : matplotlib axes, or a sequence of them, optional
            The axes to plot on: one for statistics, else as many as the figure has panels; by default a new figure.  Lines,
            intervals and limits are added, with labels that name the study and the point.  Nothing else of the axes changes,
            except by ``title``, ``legend`` and ``log``.
        width, height : str or number, optional
            Size of a new figure: ``"screen"``, or inches, as ``"3.3in"`` or 3.3; widths of 2.5 to 20 and heights of 1.5 to 40.
            There are at most two panels in a row.  The default height is what the panels need, on paper
            at most 4.5 inches in a column.
        style : str, optional
            Style of a new figure: ``"screen"``, ``"paper"`` or ``"dark"``; by default paper for a width in inches.
        panels : sequence of int
            Numbers, from 1, of the panels of the study's figure to plot; by default all.
        title : str or bool, optional
            A title in place of the figure's own; ``"none"`` for no title; True writes the figure's own on the caller's axes.
        legend : bool or sequence of str
            Labels of the lines, in the order of the legend, in place of the figure's own; True adds a legend to the
            caller's axes.  A new figure always has one.
        xlabel, ylabel : str, optional
            Labels of the axes of a new figure with one panel, in place of the figure's own.

        Raises
        ------
        MissingDependencyError
            Without matplotlib (extra ``plot``).
        ParameterError
            For an unknown statistic or axis, a distribution, a wrong number of axes, another kind of file, or an impossible size.
        """
        from ..plot import draw_figure

        layout = {"width": width, "height": height, "style": style, "title": title, "legend": legend}
        layout |= {"xlabel": xlabel, "ylabel": ylabel}
        return draw_figure(self, path, axes, statistics, x, by, log, panels, **layout)

    # ------------------------------------------------------------ combining

    def check_same_study(self, other: Results, mine: str, theirs: str) -> None:
        """Raise StudyMismatchError unless both results are of the same study and seed.

        ``mine`` and ``theirs`` are what the message calls these results and the others.
        """
        if not isinstance(other, Results):
            raise ParameterError(f"other must be Results, got {short_repr(other)}")
        check_same(self.study, other.study, mine, theirs)
        if self.seed != other.seed:
            raise StudyMismatchError(f"{theirs} has seed {other.seed}, {mine} has seed {self.seed}")

    def save(self, path: str | Path) -> None:
        """Write a results file whole, replacing an old one.  Raises ResultFileError, and then the old file is unchanged."""
        from .writing import write_results

        write_results(self, check_file_path("path", path))


def identity_of_points(about: Results, keys: Sequence[Key]) -> Identity:
    """Return the identity of results at these points, with the study's code and the seed."""
    return Identity(about._describe_study(), [axis.name for axis in about.study.axes], about.study.tally, keys)
