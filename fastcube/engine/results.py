"""Results of one study: exact tallies per point, estimates read from them, and the file that holds both.

``docs/format.md`` describes the file field by field.  The raw group is the truth; everything at the root is
derived from it when the file is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    FormatTooNewError,
    FormatTooOldError,
    MissingDependencyError,
    ParameterError,
    ResultFileError,
    StudyError,
    StudyMismatchError,
    TrialOverlapError,
    of_study,
)
from . import registry
from .estimate import NOTHING, Estimate
from .goal import Goal
from .hdf5 import NetCDF, opened, written_whole
from .statistics import Distribution, Statistic, Value
from .study import GENERATOR, Study, point_text
from .tally import Tally, fuse

if TYPE_CHECKING:
    import xarray

FILE_TYPE = "fastcube-results"
#: Major: readers refuse another one.  Minor: fields were added.
FORMAT_VERSION = (1, 0)

#: Counters of several limbs are stored in base 2^62, least significant first.
LIMB_BITS = 62

Key = tuple[Value, ...]

#: A coordinate: its name, values and attributes; a variable: its name, dimensions, values and attributes.
_Coordinate = tuple[str, "np.ndarray", dict[str, Any]]
_Variable = tuple[str, list[str], "np.ndarray", dict[str, Any]]


@dataclass
class Results:
    """Exact tallies of a study at some points.

    Attributes
    ----------
    study : Study
    seed : int
    tallies : dict
        Tally of each point, keyed by its values in the order of the axes.
    goal : Goal
        What the last run was asked for; outside the identity.
    history : list of dict
        Provenance of each run and merge that led here; outside the identity.
    grid : str, optional
        The study's grid that it was asked for, whose figure and notes are shown; None for the first.
    """

    study: Study
    seed: int
    tallies: dict[Key, Tally] = field(default_factory=dict)
    goal: Goal = field(default_factory=Goal)
    history: list[dict[str, Any]] = field(default_factory=list)
    grid: str | None = None

    # ------------------------------------------------------------ reading

    def point(self, key: Key) -> dict[str, Value]:
        """The point as a mapping of axis names to values."""
        return dict(zip((a.name for a in self.study.axes), key, strict=True))

    def __iter__(self) -> Iterator[tuple[dict[str, Value], Tally]]:
        """Points with their tallies, sorted by their values."""
        for key in sorted(self.tallies):
            yield self.point(key), self.tallies[key]

    def estimates(self, point: Mapping[str, Value]) -> dict[str, Estimate]:
        """Estimate of each statistic of one number at a point; NaN where it is not defined or nothing was counted."""
        return {s.name: self._read(s, point)[0] for s in self.study.statistics if not isinstance(s, Distribution)}

    def shares(self, name: str, point: Mapping[str, Value]) -> list[Estimate]:
        """Share of each value of a distribution, from 0 to its last bin; as :meth:`estimates`."""
        statistic = self.study.statistic(name)
        if not isinstance(statistic, Distribution):
            raise ParameterError(f"{name} is not a distribution of {self.study.name}")
        return self._read(statistic, point)

    def _tally(self, point: Mapping[str, Value]) -> Tally:
        return self.tallies[tuple(point[a.name] for a in self.study.axes)]

    def _read(self, statistic: Statistic, point: Mapping[str, Value]) -> list[Estimate]:
        """One estimate, or one for each bin of a distribution.  Raises StudyError when the study's code does."""
        tally = self._tally(point)
        with of_study(f"statistic {statistic.name} of {self.study.name} at {point_text(point)}"):
            known = tally.trials and statistic.defined(point)
            if isinstance(statistic, Distribution):
                bins = len(tally.counts[statistic.counter])
                return statistic.shares(tally.counts, tally.trials, point) if known else [NOTHING] * bins
            return [statistic.estimate(tally.counts, tally.trials, point) if known else NOTHING]

    def table(self) -> list[dict[str, Any]]:
        """One row a point and statistic, of a distribution one a value up to the largest seen.

        study, axes, statistic, trials, among, estimate, stderr, low, high, interval: ``among`` is the number of trials
        that the statistic is over, 0 where the point does not define it; ``interval`` is ``exact``, ``bounded`` or
        ``asymptotic``.  Numbers that are not known are NaN.
        """
        rows = []
        for point, tally in self:
            for s in self.study.statistics:
                estimates = self.labelled(s, point)
                among = s.trials(tally.counts, tally.trials) if s.defined(point) else 0
                for label, e in estimates:
                    head = {"study": self.study.name, **point, "statistic": label, "trials": tally.trials}
                    numbers = {"estimate": e.value, "stderr": e.stderr, "low": e.low, "high": e.high}
                    rows.append({**head, "among": among, **numbers, "interval": s.interval})
        return rows

    def labelled(self, statistic: Statistic, point: Mapping[str, Value]) -> list[tuple[str, Estimate]]:
        """The statistic's estimate with its name; of a distribution one for each value up to the largest seen."""
        estimates = self._read(statistic, point)
        if not isinstance(statistic, Distribution):
            return [(statistic.name, estimates[0])]
        seen = [i for i, e in enumerate(estimates) if e.value > 0]
        return [(f"{statistic.label}={i}", e) for i, e in enumerate(estimates[: max(seen, default=0) + 1])]

    def identity(self) -> dict[str, Any]:
        """What makes two results equal: everything that is counted, and from which trials."""
        points = [
            {
                "point": point,
                "ranges": [list(r) for r in tally.ranges],
                "counters": dict(tally.counts),
                "extremes": {name: list(e) for name, e in tally.extremes.items()},
            }
            for point, tally in self
            if tally.trials
        ]
        head = {"format": FORMAT_VERSION[0], "study": self.study.name, "revision": self.study.revision}
        return {**head, "seed": self.seed, "generator": GENERATOR, "points": points}

    def digest(self) -> str:
        """SHA-256 of the identity as JSON with sorted keys and no spaces, in hexadecimal."""
        return hashlib.sha256(json.dumps(self.identity(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def to_xarray(self) -> xarray.Dataset:
        """Estimates on the product of the axes as an ``xarray.Dataset``; raises MissingDependencyError without xarray."""
        try:
            import xarray
        except ImportError:
            raise MissingDependencyError("to_xarray needs xarray: pip install 'fastcube[xarray]'") from None
        coordinates, variables = self._arrays()
        return xarray.Dataset(
            {name: (dimensions, values, attributes) for name, dimensions, values, attributes in variables},
            coords={name: (name, values, attributes) for name, values, attributes in coordinates},
            attrs={"title": self.study.title, "source": self.study.source, "study": self.study.name, "seed": self.seed},
        )

    def plot(self, path: str | Path | None = None, axes: Any = None) -> Any:
        """Draw the study's figure, on ``axes`` when given (as many as it has panels); write it to ``path`` when given.

        Returns the matplotlib figure.
        """
        from ..plot import draw

        return draw(self, path, axes)

    # ------------------------------------------------------------ combining

    def check_same_study(self, other: Results, mine: str, theirs: str) -> None:
        """Raise StudyMismatchError unless both count the same study with the same seed."""
        for what, a, b in (
            ("study", self.study.name, other.study.name),
            ("revision", self.study.revision, other.study.revision),
            ("seed", self.seed, other.seed),
        ):
            if a != b:
                raise StudyMismatchError(f"{theirs} has {what} {b}, {mine} has {what} {a}")

    # ------------------------------------------------------------ the file

    def save(self, path: str | Path) -> None:
        """Write the file whole and replace what was there.  Raises ResultFileError, leaving the old file in place."""
        with written_whole(Path(path)) as file:
            self._write_estimates(file)
            self._write_raw(file.subgroup("raw"))
            file.subgroup("provenance").variable(
                "json", (), json.dumps(self.history), description="runs and merges, as JSON"
            )

    def _arrays(self) -> tuple[list[_Coordinate], list[_Variable]]:
        """Coordinates, and arrays over their product: trials and the estimates; 0 and NaN where there is no point.

        NaN too where the study's own code fails: a file must be written whatever a statistic does.
        """
        axes = self.study.axes
        values = {a.name: sorted({key[i] for key in self.tallies}) for i, a in enumerate(axes)}
        kinds = {a.name: np.int64 if a.kind is int else np.float64 for a in axes}
        coordinates: list[_Coordinate] = [
            (a.name, np.array(values[a.name], kinds[a.name]), _axis_attributes(a)) for a in axes
        ]
        shape = tuple(len(v) for v in values.values())
        places = [{v: i for i, v in enumerate(values[a.name])} for a in axes]
        trials = np.zeros(shape, np.int64)
        bins = {s.name: self._bins(s) for s in self.study.statistics}
        columns = {name: np.full((4, *shape, *over), np.nan) for name, over in bins.items()}
        for point, tally in self:
            at = tuple(place[v] for place, v in zip(places, point.values(), strict=True))
            trials[at] = tally.trials
            for s in self.study.statistics:
                with contextlib.suppress(StudyError):
                    estimates = self._read(s, point)
                    for column, number in zip(columns[s.name], _NUMBERS, strict=True):
                        column[at] = [number(e) for e in estimates] if bins[s.name] else number(estimates[0])
        over = list(values)
        variables: list[_Variable] = [("trials", over, trials, {"units": "1", "description": "trials counted"})]
        for s in self.study.statistics:
            dimensions = over
            if bins[s.name]:
                dimensions = [*over, f"{s.name}_value"]
                what = {"units": "1", "description": f"value that {s.name} is the share of"}
                coordinates.append((f"{s.name}_value", np.arange(bins[s.name][0]), what))
            for suffix, what_is, column in zip(_SUFFIXES, _MEANINGS, columns[s.name], strict=True):
                attributes = {"units": s.units, "description": what_is.format(s.description)}
                variables.append((s.name + suffix, dimensions, column, attributes))
        return coordinates, variables

    def _bins(self, statistic: Statistic) -> tuple[int, ...]:
        if not isinstance(statistic, Distribution):
            return ()
        return (next(c.bins for c in self.study.tally.counters if c.name == statistic.counter),)

    def _write_estimates(self, file: NetCDF) -> None:
        study = self.study
        file.attributes(
            file.group,
            filetype=FILE_TYPE,
            format_version=np.array(FORMAT_VERSION, np.int64),
            Conventions="CF-1.10",
            title=study.title,
            study=study.name,
            revision=np.int64(study.revision),
            source=study.source,
            seed=np.int64(self.seed),
            generator=GENERATOR,
            digest=self.digest(),
            study_file=study.path or "",
            goal=self.goal.to_json(),
            grid=self.grid or study.grids[0].name,
        )
        coordinates, variables = self._arrays()
        for name, values, attributes in coordinates:
            file.coordinate(name, values, **attributes)
        for name, dimensions, values, attributes in variables:
            file.variable(name, dimensions, values, **attributes)

    def _write_raw(self, raw: NetCDF) -> None:
        study = self.study
        keys = sorted(self.tallies)
        tallies = [self.tallies[key] for key in keys]
        raw.dimension("point", len(keys))
        for i, axis in enumerate(study.axes):
            column = np.array([key[i] for key in keys], np.int64 if axis.kind is int else np.float64)
            raw.variable(axis.name, ("point",), column, **_axis_attributes(axis))
        ranges = [(i, *r) for i, tally in enumerate(tallies) for r in tally.ranges]
        raw.dimension("range", len(ranges))
        raw.dimension("bounds", 3)
        raw.variable("ranges", ("range", "bounds"), np.array(ranges, np.int64).reshape(-1, 3),
                     units="1", description="trials done: index of the point, first trial, trial after the last")  # fmt: skip
        for limbs in sorted({_limbs(c.digits) for c in study.tally.counters} - {1}):
            raw.dimension(f"limb{limbs}", limbs)
        for counter in study.tally.counters:
            if counter.bins:
                raw.dimension(f"{counter.name}_bin", counter.bins)
                bins = np.array([t.counts[counter.name] for t in tallies], np.int64).reshape(-1, counter.bins)
                what = f"{counter.description}: trials with each value from 0 on"
                raw.variable(
                    "count_" + counter.name, ("point", f"{counter.name}_bin"), bins, units="1", description=what
                )
                continue
            limbs = _limbs(counter.digits)
            digits = np.array([_to_limbs(t.counts[counter.name], limbs) for t in tallies], np.int64).reshape(-1, limbs)
            dimensions, values = (("point",), digits[:, 0]) if limbs == 1 else (("point", f"limb{limbs}"), digits)
            raw.variable("count_" + counter.name, dimensions, values, units="1", description=counter.description)
        if study.tally.extremes:
            raw.dimension("extreme", 2)
        for extreme in study.tally.extremes:
            pairs = np.array([t.extremes[extreme.name] for t in tallies], np.int64).reshape(-1, 2)
            what = f"{extreme.description}: largest value and the smallest trial that attains it; -1 if none"
            raw.variable("max_" + extreme.name, ("point", "extreme"), pairs, units="1", description=what)


_SUFFIXES = ("", "_stderr", "_low", "_high")
_NUMBERS = tuple(operator.attrgetter(name) for name in ("value", "stderr", "low", "high"))
_MEANINGS = ("{}", "standard error of: {}", "lower 95% limit of: {}", "upper 95% limit of: {}")


def _axis_attributes(axis: Any) -> dict[str, Any]:
    return {"units": "1", "description": axis.description}


def _limbs(digits: int) -> int:
    """Limbs that hold any sum of ``digits`` base-2^32 digits over 2^60 trials: 1 for plain counts, else digits / 2 + 1."""
    return 1 if digits == 1 else digits // 2 + 1


def _to_limbs(count: int, limbs: int) -> list[int]:
    """Least significant first; the last limb keeps what is left and must fit in an int64."""
    out = []
    for _ in range(limbs - 1):
        out.append(count & (2**LIMB_BITS - 1))
        count >>= LIMB_BITS
    if count >= 2**63:
        raise ResultFileError("a counter outgrew its place in the file")
    return [*out, count]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def open_results(path: str | Path) -> Results:
    """Read a results file.

    Raises ResultFileError for a file that is not ours, is damaged (its digest is computed anew) or is of a study that
    is not installed; FormatTooOldError or FormatTooNewError for another major version; StudyMismatchError when the
    installed study counts differently.
    """
    path = Path(path)
    with opened(path) as file:
        if _text(file.attrs.get("filetype", "")) != FILE_TYPE:
            raise ResultFileError(f"{path} is not a fastcube results file")
        major, minor = (int(v) for v in file.attrs["format_version"])
        if major != FORMAT_VERSION[0]:
            error = FormatTooNewError if major > FORMAT_VERSION[0] else FormatTooOldError
            raise error(f"{path} has format {major}.{minor}, this fastcube reads {FORMAT_VERSION[0]}.x")
        try:
            study = registry.find(_text(file.attrs["study"]), _text(file.attrs["study_file"]) or None)
        except ParameterError as error:
            raise ResultFileError(f"{path} cannot be read here: {error}") from None
        for what, theirs, ours in (
            ("revision", int(file.attrs["revision"]), study.revision),
            ("generator", _text(file.attrs["generator"]), GENERATOR),
        ):
            if theirs != ours:
                raise StudyMismatchError(f"{path} has {what} {theirs} of {study.name}, this fastcube has {ours}")
        try:
            results = Results(
                study,
                int(file.attrs["seed"]),
                _read_tallies(study, file["raw"]),
                Goal.from_json(_text(file.attrs["goal"])),
                json.loads(_text(file["provenance/json"][()])),
                _text(file.attrs["grid"]),
            )
            stored = _text(file.attrs["digest"])
        except (KeyError, OSError, ValueError) as error:
            raise ResultFileError(f"{path} is damaged: {' '.join(str(error).split())}") from error
    if results.digest() != stored:
        raise ResultFileError(f"{path} is damaged: its contents do not have the digest it states")
    return results


def _read_tallies(study: Study, raw: Any) -> dict[Key, Tally]:
    columns = [raw[a.name][()].tolist() for a in study.axes]
    keys: list[Key] = list(zip(*columns, strict=True))
    ranges: list[list[tuple[int, int]]] = [[] for _ in keys]
    for point, first, stop in raw["ranges"][()].tolist():
        ranges[point].append((first, stop))
    counts: Sequence[dict[str, Any]] = [{} for _ in keys]
    for counter in study.tally.counters:
        rows = raw["count_" + counter.name][()].tolist()
        for of_point, row in zip(counts, rows, strict=True):
            if counter.bins:
                of_point[counter.name] = tuple(row)
                continue
            digits = row if isinstance(row, list) else [row]
            of_point[counter.name] = sum(digit << LIMB_BITS * i for i, digit in enumerate(digits))
    extremes: Sequence[dict[str, tuple[int, int]]] = [{} for _ in keys]
    for extreme in study.tally.extremes:
        for of_extreme, (value, trial) in zip(extremes, raw["max_" + extreme.name][()].tolist(), strict=True):
            of_extreme[extreme.name] = (value, trial)
    return {key: Tally(fuse(r), c, e) for key, r, c, e in zip(keys, ranges, counts, extremes, strict=True)}


def combine(parts: Sequence[tuple[str, Results]]) -> Results:
    """Add results of disjoint trials, each with the name that messages give it; at least one.

    Raises StudyMismatchError or TrialOverlapError.  All ranges of a point are fused at once: 1,000 shards take one
    sort, not 1,000.
    """
    name, one = parts[0]
    out = Results(one.study, one.seed, {}, one.goal.whole(), grid=one.grid)
    of_points: dict[Key, list[tuple[Tally, str]]] = {}
    for path, part in parts:
        out.check_same_study(part, name, path)
        for key, tally in part.tallies.items():
            of_points.setdefault(key, []).append((tally, path))
    for key, tallies in of_points.items():
        try:
            out.tallies[key] = Tally.total([tally for tally, _ in tallies])
        except TrialOverlapError as error:
            raise _overlap(point_text(out.point(key)), tallies) from error
    return out


def merge(paths: Sequence[str | Path]) -> Results:
    """Add the results files of disjoint trials, in any order and nesting; at least one.

    Raises as :func:`open_results` and :func:`combine`.
    """
    from .provenance import provenance

    parts = [(str(path), open_results(path)) for path in paths]
    out = combine(parts)
    out.history = [provenance(merged=[{"file": p, "digest": part.digest(), "runs": part.history} for p, part in parts])]
    return out


def _overlap(point: str, parts: list[tuple[Tally, str]]) -> TrialOverlapError:
    """Name the first two files, by trial, that hold the same trials of a point."""
    ranges = sorted((first, stop, path) for tally, path in parts for first, stop in tally.ranges)
    for (_, stop, one), (first, end, other) in pairwise(ranges):
        if first < stop:
            return TrialOverlapError(
                f"{one} and {other} overlap at {point}: trials {first}..{min(stop, end) - 1} are in both"
            )
    raise AssertionError("ranges that do not fuse overlap somewhere")
