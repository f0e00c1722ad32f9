"""The goal of a run: a number of trials, a precision or a number of events, and the shard of the trials to run."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

from ..errors import (
    ParameterError,
    check_integer,
    check_range,
    command_line_text,
    parse_count,
    short_repr,
    wrap_study_errors,
)
from .grid import parse_probability
from .statistics import Number, Value
from .study import Grid, Measure, Point, point_text
from .tally import Tally

#: Precision and events are tested only after complete prefixes of [0, 2^k) trials; this is the shortest.
FIRST_PREFIX = 2**12

#: Largest number of trials.  A trial index is an int64 in kernels, which may step beyond the last trial.
MOST_TRIALS = 2**60

#: A run that stops on fewer events prints a warning.  The mean estimate is off by at most about 2% with 100 events, 3% with 30,
#: and more with fewer (measured, docs/statistics.md).
FEW_EVENTS = 100

#: Largest number of shards; job arrays have fewer tasks.
MOST_SHARDS = 10**6


class Target(NamedTuple):
    """A precision or a number of events that ends a point, which has as many trials as the target needs."""

    kind: str  #: the field of the goal: ``precision``, ``relative`` or ``events``
    value: float

    def __str__(self) -> str:
        if self.kind == "events":
            return f"events {self.value:,}"
        return f"relative {100 * self.value:g}%" if self.kind == "relative" else f"precision {self.value:g}"

    def is_reached(self, statistic: Number, point: Mapping[str, Value], tally: Tally) -> bool:
        """Whether a tally reaches the target, at a point where the statistic is defined."""
        if self.kind == "events":
            return statistic.count_events(tally.counts, tally.trials) >= self.value
        if not statistic.is_settled(tally.counts, tally.trials, point):
            return False
        estimate = statistic.estimate(tally.counts, tally.trials, point)
        return estimate.half_width <= (self.value * estimate.value if self.kind == "relative" else self.value)


@dataclass(frozen=True)
class Goal:
    """The goal to reach at every point.

    Parameters
    ----------
    trials : int or None
        Number of trials per point; None for as many as the targets need.
    precision, relative : float or None
        Half-width of the 95% interval of the target statistic, absolute or as a fraction of the estimate.
    events : int or None
        Number of trials in which the target statistic is nonzero.
    target : str or None
        The target statistic; None for the study's first.
    shard : (int, int) or None
        ``(I, N)``: trials floor(T I / N) .. floor(T (I + 1) / N) - 1 of each point.
    each : dict
        Numbers of trials of the points that have another number than ``trials``, by their text as of ``point_text``.
    """

    trials: int | None = None
    precision: float | None = None
    relative: float | None = None
    events: int | None = None
    target: str | None = None
    shard: tuple[int, int] | None = None
    each: Mapping[str, int] = field(default_factory=dict)

    def check(self, study: Measure) -> None:
        """Raise ParameterError for values that are out of range or exclude each other."""
        if self.trials is not None:
            check_range("trials", self.trials, 1, MOST_TRIALS)
        for name in ("precision", "relative"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise ParameterError(f"{name} must be in (0, 1), got {value}")
        if self.events is not None:
            check_range("events", self.events, 1, MOST_TRIALS)
        if self.target is not None:
            study.target(self.target)
            if not self.is_adaptive:
                raise ParameterError("target needs a precision, relative precision or number of events to apply to")
        if self.shard is not None:
            index, count = self.shard
            if not 1 <= count <= MOST_SHARDS or not 0 <= index < count:
                raise ParameterError(f"shard must be I/N with 0 <= I < N <= {MOST_SHARDS}, got {index}/{count}")
            if self.is_adaptive:
                raise ParameterError(
                    "shard takes a fixed number of trials; precision, relative and events need the whole"
                )

    def check_points(self, study: Measure, points: Iterable[Point]) -> None:
        """Raise ParameterError if a point lacks the target, or if the run would wait for events that cannot occur there."""
        if not self.is_adaptive:
            return
        statistic = study.target(self.target)
        for point in points:
            with wrap_study_errors(f"statistic {statistic.name} of {study.name}"):
                defined = statistic.defined(point)
                is_impossible = defined and not statistic.can_occur(point)
            if self.target is not None and not defined:
                raise ParameterError(
                    f"target {statistic.name} is not defined at {point_text(point)}: leave the point out, or name "
                    "another statistic"
                )
            if is_impossible and self.trials is None and self.precision is None:
                name = "relative" if self.events is None else "events"
                raise ParameterError(
                    f"{name} of {statistic.name} would never be reached at {point_text(point)}, "
                    f"where it is proved to be 0: leave the point out, or give trials too"
                )

    @property
    def targets(self) -> list[Target]:
        """The targets, of which the first that a tally reaches ends a point.  Without targets the number of trials is fixed."""
        given = {"precision": self.precision, "relative": self.relative, "events": self.events}
        return [Target(kind, value) for kind, value in given.items() if value is not None]

    @property
    def is_adaptive(self) -> bool:
        """Whether the number of trials depends on the results."""
        return bool(self.targets)

    def describe_targets(self, study: Measure) -> str:
        """Return the targets and their statistic as text, empty if the number of trials is fixed."""
        return f"{', '.join(map(str, self.targets))} of {study.target(self.target).name}" if self.is_adaptive else ""

    def trials_at(self, point: Point) -> int:
        """Return the number of trials of a point, if it is fixed."""
        if self.trials is None:
            raise ValueError("an adaptive goal has no fixed number of trials")
        return self.each.get(point_text(point), self.trials)

    def bounds(self, point: Point) -> tuple[int, int]:
        """Return the first trial of a point and one more than its last, if the number of trials is fixed."""
        trials = self.trials_at(point)
        if self.shard is None:
            return 0, trials
        index, count = self.shard
        return trials * index // count, trials * (index + 1) // count

    def is_reached(self, study: Measure, point: Mapping[str, Value], tally: Tally) -> bool:
        """Whether a tally reaches one of the targets, which ends a point; also where the target statistic is not defined."""
        return not self._is_target_defined(study, point) or self._find_reached(study, point, tally) is not None

    def _is_target_defined(self, study: Measure, point: Mapping[str, Value]) -> bool:
        """Whether the target statistic is defined at a point."""
        statistic = study.target(self.target)
        with wrap_study_errors(f"statistic {statistic.name} of {study.name}"):
            return bool(statistic.defined(point))

    def _find_reached(self, study: Measure, point: Mapping[str, Value], tally: Tally) -> Target | None:
        """Return a target that a tally reaches, events first, or None; at a point where the target statistic is defined."""
        statistic = study.target(self.target)
        with wrap_study_errors(f"statistic {statistic.name} of {study.name}"):
            # events first, because they need no estimate
            ordered = sorted(self.targets, key=lambda target: target.kind != "events")
            return next((target for target in ordered if target.is_reached(statistic, point, tally)), None)

    def describe_reached(self, study: Measure, rows: Iterable[tuple[Point, Tally]]) -> list[str]:
        """Return lines about the targets reached and at how many points, with a warning about asymptotic intervals."""
        if not self.is_adaptive:
            return []
        statistic, all_rows = study.target(self.target), list(rows)
        defined = [row for row in all_rows if self._is_target_defined(study, row[0])]
        reached = [self._find_reached(study, point, tally) for point, tally in defined]
        lines = []
        for target, count in Counter(filter(None, reached)).items():
            where = "" if count == len(all_rows) else f" at {count:,} of {len(all_rows):,} points"
            is_asymptotic = statistic.interval == "asymptotic" and target.kind != "events"
            warning = "; that interval is asymptotic: rare large values that no trial gave are not in it"
            lines.append(f"{target} was reached on {statistic.name}{where}{warning if is_asymptotic else ''}")
        missed = [tally for (_, tally), target in zip(defined, reached, strict=True) if target is None]
        if missed:
            without_events = sum(not statistic.count_events(tally.counts, tally.trials) for tally in missed)
            lines.append(
                f"no target was reached on {statistic.name} at {len(missed):,} of {len(all_rows):,} points"
                f"{f', {without_events:,} of them without an event' if without_events else ''}"
            )
        return lines

    def describe_few_events(self, study: Measure, rows: Iterable[tuple[Point, Tally]]) -> str | None:
        """Return one line if a run stopped on fewer than FEW_EVENTS events, so that its estimates are biased, else None."""
        if not self.is_adaptive:
            return None
        statistic = study.target(self.target)
        found = []
        for point, tally in rows:
            if tally.trials and self._is_target_defined(study, point) and self._find_reached(study, point, tally):
                events = statistic.count_events(tally.counts, tally.trials)
                if events < FEW_EVENTS:
                    found.append((events, point_text(point)))
        if not found:
            return None
        events, where = found[0]
        others = f" and {len(found) - 1} more point{'s' * (len(found) > 2)}" if len(found) > 1 else ""
        return (
            f"few events: {events} of {statistic.name} at {where}{others}; where a run stops on fewer than "
            f"{FEW_EVENTS} its estimate is biased"
        )

    def drop_shard(self) -> Goal:
        """Return the goal of all shards together."""
        return replace(self, shard=None)

    def to_json(self) -> str:
        """Return the goal as JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Goal:
        """Return the goal of a JSON text from ``to_json``.  Fields of a newer minor version of the format are ignored.

        Raises ParameterError, ValueError or TypeError for impossible values that ``check`` does not find.
        """
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError(f"the goal is {short_repr(values)}")
        values = {name: value for name, value in values.items() if name in cls.__dataclass_fields__}
        for name in ("trials", "events"):
            if values.get(name) is not None:
                check_integer(name, values[name], 1, MOST_TRIALS)
        if values.get("shard") is not None:
            values["shard"] = _parse_shard([check_integer("shard", part, 0, MOST_SHARDS) for part in values["shard"]])
        each = values.setdefault("each", {})
        if not isinstance(each, dict):
            raise ValueError(f"each of the goal is {short_repr(each)}")
        for point, trials in each.items():
            check_integer(f"trials at {point}", trials, 1, MOST_TRIALS)
        return cls(**values)


def make_goal(
    study: Measure,
    default: Grid | None,
    *,
    trials: object = None,
    precision: object = None,
    relative: object = None,
    events: object = None,
    target: str | None = None,
    shard: object = None,
) -> Goal:
    """Return the goal that a user states on the command line or in Python; by default the trials of the grid ``default``.

    Counts and fractions may be numbers of any type or text (``1e6``, ``1%``); a shard is ``"I/N"`` or (I, N).  Raises
    ParameterError.
    """
    out = Goal(
        None if trials is None else parse_count("trials", trials),
        None if precision is None else parse_probability("precision", precision),
        None if relative is None else parse_probability("relative", relative),
        None if events is None else parse_count("events", events),
        target,
        None if shard is None else _parse_shard(shard),
    )
    if out.trials is None and not out.is_adaptive:
        out = _apply_grid_trials(default, out)
    out.check(study)
    return out


def _apply_grid_trials(grid: Grid | None, goal: Goal) -> Goal:
    """Return the goal with the grid's numbers of trials.  A point that is not in the grid gets the smallest of them."""
    if grid is None:
        return goal
    if not callable(grid.trials):
        return replace(goal, trials=grid.trials)
    each = grid.trials_of_points()
    return replace(goal, trials=min(each.values()), each=each)


def _parse_shard(given: object) -> tuple[int, int]:
    """Return a shard ``"I/N"`` or (I, N) as two integers.  Raises ParameterError for anything else, but checks no range."""
    parts = given.split("/") if isinstance(given, str) else given
    if isinstance(parts, (tuple, list)) and len(parts) == 2:
        with contextlib.suppress(ParameterError):
            return parse_count("shard", parts[0]), parse_count("shard", parts[1])
    raise ParameterError(f"shard must be I/N with 0 <= I < N, got {command_line_text(given)}")
