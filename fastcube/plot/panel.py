"""One pair of axes of a figure: lines with their intervals, what a paper states of them, and closed forms beside them.

What is drawn is collected first; :meth:`Panel.finish` decides on the scale, draws, and sets limits and ticks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..measure.estimate import Estimate
from ..measure.study import Measure, Point
from . import placing
from .style import GREY, SMALLEST, line_style
from .words import axis_text, key_text, mathtext, wrap_mathtext

if TYPE_CHECKING:
    from ..results.results import Results

#: Which points are kept: those of these values, or for which a function holds; by default all.
PointFilter = Mapping[str, object] | Callable[[Point], bool] | None

#: Characters of names that stand beside one another along x.
_WORDS = 45

#: Length of an arrow, how far apart two stand, and how wide a group of them at one x may be, in points; most rows of it.
_ARROW, _STEP, _GROUP, _ROWS = 9.0, 6.0, 30.0, 3

#: Most markers of a line.
_MARKERS = 40

#: Dashes of the first, second, ... statement of a panel.
_STATEMENT_DASHES = ("-", (0, (6, 2)), (0, (3, 1.5)))

#: A statement whose level is farther than this factor from all data is not drawn on a logarithmic scale.
_MAX_STATEMENT_FACTOR = 10.0


@dataclass
class Line:
    """One line: what the legend calls it, where its points are, what they estimate, and how it looks.

    ``told`` is what tables call a line that the legend has no entry for.
    """

    label: str | None
    x: list[float]
    estimates: list[Estimate]
    points: list[Point | None]
    look: dict[str, Any]
    joined: bool = True
    table_label: str = ""

    @property
    def plot_style(self) -> dict[str, Any]:
        """How matplotlib draws it."""
        return self.look if self.joined else self.look | {"linestyle": "none"}


@dataclass
class Statement:
    """What a paper states: a level, or a level for each x, over the points where it applies."""

    x: list[float]
    y: list[float]
    text: str


def has_no_events(e: Estimate) -> bool:
    """Whether nothing was seen, so that all that is known is an upper limit."""
    return e.value == 0 and e.low == 0 and e.high > 0


def is_drawable(e: Estimate, log: bool) -> bool:
    """Whether there is a value to draw, which 0 on a logarithmic scale is not."""
    return not math.isnan(e.value) and (e.value > 0 or not log)


def first_unseen_point(estimates: Sequence[Estimate]) -> int | None:
    """The point from which on nothing was seen on a logarithmic scale: beyond the last value, or else before the first.

    The first point of a line on which nothing was seen; None where both ends have a value, for what is between is a gap.
    """
    there = [i for i, e in enumerate(estimates) if is_drawable(e, log=True)]
    none = [i for i, e in enumerate(estimates) if has_no_events(e)]
    if not there:
        return none[0] if none else None
    return next((i for i in none if i > there[-1]), next((i for i in reversed(none) if i < there[0]), None))


def _matches(point: Point, at: PointFilter) -> bool:
    if at is None:
        return True
    if callable(at):
        return bool(at(point))
    return all(point[name] == value for name, value in at.items())


def group_points(
    study: Measure, points: Iterable[Point], names: Sequence[str]
) -> list[tuple[dict[str, Any], list[Point]]]:
    """The points by their values on these axes, in the order that the axes give them."""
    found: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        found.setdefault(tuple(point[name] for name in names), []).append(point)
    places = [study.axis(name).place for name in names]
    keys = sorted(found, key=lambda key: [place(value) for place, value in zip(places, key, strict=True)])
    return [(dict(zip(names, key, strict=True)), found[key]) for key in keys]


def arrow_marker(top: float) -> Any:
    """The marker of what lies beyond: an arrow down from ``top`` of its length above its place."""
    from matplotlib.path import Path

    m, k = Path.MOVETO, Path.LINETO
    down = [(0.0, 0.0), (0.0, -1.0), (-0.25, -0.65), (0.0, -1.0), (0.25, -0.65)]
    return Path([(x, y + top) for x, y in down], [m, k, m, k, k])


@dataclass
class Panel:
    """One pair of axes; ``axes`` are matplotlib's, for what the methods here do not draw."""

    axes: Any
    letters: float | None = None  # points of its letters; None on a caller's axes, whose own they are
    drawn: list[Line] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    scale: str = "auto"
    categories: tuple[str, ...] = ()  # what 0, 1, ... along x stand for
    _words: dict[str, str] = field(default_factory=dict)
    _default: dict[str, str] = field(default_factory=dict)
    _limits: dict[str, Any] = field(default_factory=dict)
    _known: list[tuple[list[float], list[float]]] = field(default_factory=list)
    _dotted: list[tuple[list[float], list[float], str]] = field(default_factory=list)

    # ------------------------------------------------------------ what to draw

    def lines(
        self,
        results: Results,
        statistic: str,
        x: str | None = None,
        by: str | None = None,
        at: PointFilter = None,
        factor: float = 1.0,
    ) -> None:
        """One line of the statistic against the axis ``x`` for each value of ``by``, and of other axes that tell points apart.

        ``x`` is by default the axis of most values; where it has one value only, and ``by`` has several, the two change
        places.  ``at`` keeps some points: ``{"n": 8}``, or a function of the point.  ``factor`` multiplies what is drawn
        (100 for percent).  A value of ``by`` looks the same in every panel of the figure.
        """
        study, names = results.study, [a.name for a in results.study.axes]
        done = [point for point, tally in results if tally.trials]
        chosen = [point for point in done if _matches(point, at) and study.statistic(statistic).defined(point)]
        count = {name: len({point[name] for point in chosen}) for name in names}
        words = {axis.name for axis in study.axes if axis.kind is str}  # no coordinate of a line
        x = x or max((name for name in names if name not in words), key=lambda name: count[name])
        if by is not None and count[x] <= 1 < count[by] and by not in words:
            x, by = by, x
        keys = [name for name in names if name == by]
        for name in (name for name in names if name not in (x, by) and count[name] > 1):
            if len({tuple(point[k] for k in (x, *keys)) for point in chosen}) < len(chosen):
                keys = [k for k in names if k in (name, *keys)]
        whole = [key for key, _ in group_points(study, done, keys)]
        for key, points in group_points(study, chosen, keys):
            points.sort(key=lambda point: point[x])
            estimates = [_scale_estimate(results.estimates(point)[statistic], factor) for point in points]
            look = line_style(whole.index(key), len(whole))
            self.drawn.append(Line(key_text(key) or None, [point[x] for point in points], estimates, [*points], look))
        self.by = self.by or tuple(keys)
        said = {"x": axis_text(x, study.axis(x).description), "y": study.statistic(statistic).description}
        self._default = {**said, **self._default}

    def compare(
        self,
        results: Results,
        statistics: Mapping[str, str],
        x: str | None = None,
        at: PointFilter = None,
        factor: float = 1.0,
    ) -> None:
        """One line for each of several statistics, ``{label: name}``, against ``x``; ``at`` must fix the other axes."""
        for i, (label, name) in enumerate(statistics.items()):
            one = Panel(None)
            one.lines(results, name, x, None, at, factor)
            for line in one.drawn:
                line.label = ", ".join(filter(None, (label, line.label)))
                line.look = line_style(i if len(one.drawn) == 1 else len(self.drawn), len(statistics))
                self.drawn.append(line)
            self._default |= {"x": one._default["x"]}
            self._default.setdefault("y", one._default["y"])
        self.by = self.by or ("statistic",)

    def shares(self, results: Results, statistic: str, at: PointFilter = None) -> None:
        """A distribution: the share of each value up to the largest seen, one line for each point that ``at`` keeps."""
        study = results.study
        points = [p for p, t in results if t.trials and _matches(p, at) and study.statistic(statistic).defined(p)]
        varying = [a.name for a in study.axes if len({point[a.name] for point in points}) > 1]
        keys = varying or [a.name for a in study.axes]
        for i, point in enumerate(points):
            estimates = [e for _, e in results.labelled(study.statistic(statistic), point)]
            label = key_text({name: point[name] for name in keys})
            values: list[float] = list(range(len(estimates)))
            self.drawn.append(Line(label, values, estimates, [point] * len(values), line_style(i, len(points))))
        self.by = self.by or ("shares", *keys)
        self._default = {"x": study.statistic(statistic).description, "y": "share of trials", **self._default}

    def series(
        self,
        label: str | None,
        pairs: Iterable[tuple[float, Estimate]],
        like: int | None = None,
        of: int = 1,
        joined: bool = True,
        told: str = "",
    ) -> None:
        """A line through any pairs (x, estimate), looking like line ``like`` of ``of``; points alone if not ``joined``.

        ``told`` is what tables call it where ``label`` is None.
        """
        x, estimates = [list(column) for column in zip(*pairs, strict=True)] or ([], [])
        look = line_style(
            len(self.drawn) if like is None else like, max(of, len(self.drawn) + 1 if like is None else 1)
        )
        self.drawn.append(Line(label, x, estimates, [None] * len(x), look, joined, told))

    def stated(
        self, y: float | Callable[[Point], float], text: str, where: Callable[[Point], bool] = lambda _: True
    ) -> None:
        """What the paper states: a level, or a function of the point, over the points drawn where it applies."""
        found = {
            x: (y(point) if callable(y) else y)
            for line in self.drawn
            for x, point in zip(line.x, line.points, strict=True)
            if point is not None and where(point)
        }
        if found:
            at = sorted(found)
            self.statements.append(Statement(at, [float(found[x]) for x in at], text))

    def reference(self, function: Callable[[Point], float], label: str) -> None:
        """A closed form, a function of the point, dotted beside each line where it is finite."""
        curves = []
        for line in self.drawn:
            pairs = [(x, float(function(p))) for x, p in zip(line.x, line.points, strict=True) if p is not None]
            if pairs := [(x, y) for x, y in pairs if math.isfinite(y)]:
                curves.append((pairs, line.look["color"]))
        level = dict(pair for pairs, _ in curves for pair in pairs)
        apart = len(curves) > 1 and len(level) == sum(len(pairs) for pairs, _ in curves)  # no two lines share an x
        if not apart and all(level[x] == y for pairs, _ in curves for x, y in pairs):  # of x alone: once, in grey
            curves = [(sorted(level.items()), GREY)] if level else []
        for pairs, colour in curves:
            self._dotted.append(([x for x, _ in pairs], [y for _, y in pairs], colour))
        if curves:
            self._add_label(label, color=GREY, linestyle=":", linewidth=1.2)

    def curve(self, x: Sequence[float], y: Sequence[float], label: str, **how: Any) -> None:
        """Any other line that is not measured: grey and dotted unless ``how`` (matplotlib's words) says otherwise."""
        how = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 1.5} | how
        self.axes.plot(x, y, **how)
        self._known.append((list(x), list(y)))
        self._add_label(label, **how)

    def marks(self, x: Sequence[float], y: Sequence[float], label: str) -> None:
        """Values that are known and not estimated, exact or published: open circles."""
        self.curve(x, y, label, linestyle="none", marker="o", markerfacecolor="none", markersize=7, zorder=4)

    def words(self, x: str | None = None, y: str | None = None, title: str | None = None) -> None:
        """Labels of the axes, by default what the study says of axis and statistic, and the title: what is drawn."""
        self._words |= {k: v for k, v in (("x", x), ("y", y), ("title", title)) if v is not None}

    def limits(self, **given: Any) -> None:
        """Limits that the data should not decide: ``left``, ``right``, ``bottom``, ``top``; arrows keep room below."""
        self._limits |= given

    # ------------------------------------------------------------ drawing it

    def _add_label(self, label: str, **how: Any) -> None:
        from matplotlib.lines import Line2D

        self.others.setdefault(label, Line2D([], [], **how))

    @property
    def has_something(self) -> bool:
        """Whether anything would be drawn on it: a value, a curve, or what a study drew on the axes itself."""
        return any(not math.isnan(e.value) for line in self.drawn for e in line.estimates) or self.axes.has_data()

    @property
    def legend(self) -> dict[str, Any]:
        """What the legend shows: the lines that have a point or an upper limit on the scale, then everything else."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        log = self.axes.get_yscale() == "log"
        there = [line for line in self.drawn if any(is_drawable(e, log) or has_no_events(e) for e in line.estimates)]
        lines = {mathtext(line.label): Line2D([], [], **line.plot_style) for line in there if line.label is not None}
        banded = any(line.joined for line in there if line.label is not None)  # points alone have bars
        return {
            **lines,
            **({"95% interval": Patch(color=GREY, alpha=0.3, linewidth=0)} if banded else {}),
            **{mathtext(label): handle for label, handle in self.others.items()},
        }

    def finish(self) -> None:
        """Decide on the scale, draw what was collected, and set limits, ticks and words."""
        estimates = [e for line in self.drawn for e in line.estimates if not math.isnan(e.value)]
        if estimates:
            log = self.scale == "log" or (self.scale == "auto" and _is_spanning_decades(estimates))
            log = log and any(e.value > 0 for e in estimates)
            self.axes.set_yscale("log" if log else "linear")
            if not log:
                self.axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useMathText=True)
            self._set_limits(estimates, log)
            self._set_x()
            for line in self.drawn:
                self._draw_line(line, log)
            if log and any(first_unseen_point(line.estimates) is not None for line in self.drawn):
                how = {"marker": arrow_marker(0.5), "markersize": 10, "fillstyle": "none"}
                self._add_label("none seen here and beyond", color=GREY, linestyle="none", **how)
        elif not self.axes.has_data():
            self.axes.text(0.5, 0.5, "no trials", transform=self.axes.transAxes, ha="center", va="center")
        for x, y, colour in self._dotted:
            alone = {"marker": "_", "markersize": 14} if len(x) == 1 else {}
            self.axes.plot(x, y, color=colour, linestyle=":", linewidth=1.2, zorder=1.5, gid="reference", **alone)
        low, high = self.axes.get_ylim()
        for place, statement in enumerate(self.statements):
            if low <= min(statement.y) and max(statement.y) <= high:
                self._draw_statement(statement, place)
            else:
                self._add_label(f"{statement.text}: off the scale", linestyle="none")
        self._write()

    def _write(self) -> None:
        box = self.axes.get_window_extent()
        wide, high = ((length / self.axes.figure.dpi * 72) for length in (box.width, box.height))
        size = self.letters or 10.0
        words = self._default | self._words
        self.axes.set_xlabel(wrap_mathtext(words.get("x", ""), int(1.8 * wide / size)), fontsize=size)
        self.axes.set_ylabel(wrap_mathtext(words.get("y", ""), int(1.8 * high / size)), fontsize=size)
        if "title" in words:
            self.axes.set_title(wrap_mathtext(words["title"], int(1.75 * wide / size)), fontsize=size)
        if self.letters:
            self.axes.tick_params(which="both", labelsize=max(SMALLEST, 0.9 * size))
            self.axes.yaxis.get_offset_text().set_fontsize(max(SMALLEST, 0.9 * size))
        self.axes.grid(color=GREY, alpha=0.25, linewidth=0.5)
        self.axes.set_axisbelow(True)

    def _set_limits(self, estimates: list[Estimate], log: bool) -> None:
        arrows = log and any(has_no_events(e) for e in estimates)
        values = [v for e in estimates if is_drawable(e, log) for v in (e.value, e.low, e.high)]
        beside = [v for statement in self.statements for v in statement.y]
        beside += [v for _, y in self._known for v in y if v > 0 or not log]
        if log:
            level = [e.value for e in estimates if e.value > 0]
            values = [v for v in values if v > min(level) / 10]
            beside = [v for v in beside if min(level) / _MAX_STATEMENT_FACTOR < v < max(level) * _MAX_STATEMENT_FACTOR]
            beside += [v for _, y, _ in self._dotted for v in y if v > min(level) / 1e3]
        else:
            if all(has_no_events(e) for e in estimates):  # the limits of what was not seen are the panel's scale
                beside = [v for v in beside if v < max(values) * _MAX_STATEMENT_FACTOR]
            beside += [v for _, y, _ in self._dotted for v in y]
        values += beside
        level = [e.value for e in estimates]
        if not log and max(level) - min(level) < max(e.high - e.low for e in estimates) and not self.statements:
            far = 2 * min(values)  # nothing to see from near: not a window filled by the intervals
            values += [0.0] if far >= 0 else [far, 2 * max(values)]
        low, high = placing.axis_limits(values, log, 0.1 if arrows else 0.04)
        self.axes.set_ylim(self._limits.get("bottom", low), self._limits.get("top", high))
        if min(values) < 0:
            self.axes.axhline(0, color=GREY, linewidth=0.8, zorder=1, gid="zero")

    def _set_x(self) -> None:
        values = [x for line in self.drawn for x in line.x] + [x for known, _ in self._known for x in known]
        placing.set_x_axis(self.axes, values, all(isinstance(x, int) for x in values), self.letters or 10.0)
        if self.categories:
            turned = {"rotation": 30, "ha": "right"} if sum(map(len, self.categories)) > _WORDS else {}
            self.axes.set_xticks(range(len(self.categories)), self.categories, **turned)
        self.axes.set_xlim(self._limits.get("left"), self._limits.get("right"))

    def _draw_line(self, line: Line, log: bool) -> None:
        """The line where something was seen; the interval as a band between neighbours, as a bar at a point alone."""
        drawn = [is_drawable(e, log) for e in line.estimates]
        banded = [
            s and (e.low > e.value / 10 or not log) and not has_no_events(e)
            for s, e in zip(drawn, line.estimates, strict=True)
        ]
        y = [e.value if s else math.nan for s, e in zip(drawn, line.estimates, strict=True)]
        look = line.plot_style | {"markevery": -(-len(y) // _MARKERS)}
        self.axes.plot(line.x, y, zorder=3, gid="line", **look)
        beside = [line.joined and any(banded[max(0, i - 1) : i] + banded[i + 1 : i + 2]) for i in range(len(drawn))]
        floor = self.axes.get_ylim()[0]
        for i, e in enumerate(line.estimates):
            if drawn[i] and not (banded[i] and beside[i]):
                ends = [max(e.low, floor) if log else e.low, e.high]
                self.axes.plot(
                    [line.x[i]] * 2,
                    ends,
                    color=look["color"],
                    linewidth=0.9,
                    marker="_",
                    markersize=5,
                    alpha=0.7,
                    gid="bar",
                    zorder=2,
                )
        if line.joined and any(b and n for b, n in zip(banded, beside, strict=True)):
            low, high = [e.low for e in line.estimates], [e.high for e in line.estimates]
            self.axes.fill_between(
                line.x, low, high, where=banded, color=look["color"], alpha=0.18, linewidth=0, zorder=1
            )

    def draw_arrows(self) -> None:
        """An arrow at the panel's lower edge for each line, in its look, at the point from which on nothing was seen.

        Arrows at one x stand side by side and, where that would reach the next x, over one another; instead of more than
        three rows there is one in grey.
        """
        from matplotlib.transforms import ScaledTranslation, blended_transform_factory

        if self.axes.get_yscale() != "log":
            return
        found: dict[float, list[dict[str, Any]]] = {}
        for line in self.drawn:
            if (end := first_unseen_point(line.estimates)) is not None:
                found.setdefault(line.x[end], []).append(line.look)
        at = {x: self.axes.transData.transform((x, 1.0))[0] for line in self.drawn for x in line.x}
        frame = self.axes.get_window_extent()
        for x, every in found.items():
            room = min((abs(at[x] - other) for other in at.values() if other != at[x]), default=math.inf)
            room = min(room, 2 * (at[x] - frame.x0), 2 * (frame.x1 - at[x]))
            columns = max(1, int(min(_GROUP, 0.8 * room / self.axes.figure.dpi * 72) / _STEP))
            alike = [{"color": GREY, "marker": "none", "markersize": 0}]  # one for all, as the legend has it
            looks = every if len(every) <= _ROWS * columns else alike
            for k, look in enumerate(looks):
                row, column = divmod(k, columns)
                beside = min(columns, len(looks) - row * columns)
                shift = ((column - (beside - 1) / 2) * _STEP / 72, row * 1.2 * _ARROW / 72)
                moved = ScaledTranslation(*shift, self.axes.figure.dpi_scale_trans)
                place = blended_transform_factory(self.axes.transData, self.axes.transAxes) + moved
                how = {"color": look["color"], "linestyle": "none", "fillstyle": "none", "transform": place}
                self.axes.plot([x], [0], marker=arrow_marker(1.0), markersize=2 * _ARROW, gid="beyond", **how)
                above = place + ScaledTranslation(0, _ARROW / 72, self.axes.figure.dpi_scale_trans)
                how |= {"transform": above, "marker": look["marker"], "markersize": 0.8 * look["markersize"]}
                self.axes.plot([x], [0], zorder=3, gid="beyond-marker", **how)

    def _draw_statement(self, statement: Statement, place: int) -> None:
        look = {"color": GREY, "linewidth": 1.4, "linestyle": _STATEMENT_DASHES[place % len(_STATEMENT_DASHES)]}
        alone = {"marker": "_", "markersize": 40, "markeredgewidth": 1.4} if len(statement.x) == 1 else {}
        self.axes.plot(statement.x, statement.y, zorder=2, gid="statement", **look, **alone)
        self._add_label(statement.text, **look)


def _scale_estimate(e: Estimate, factor: float) -> Estimate:
    numbers = {name: getattr(e, name) * factor for name in ("value", "stderr", "low", "high")}
    return replace(e, **numbers)


def _is_spanning_decades(estimates: list[Estimate]) -> bool:
    """Whether the values, and the limits of points without events, are positive and far apart; what is known to be 0 aside."""
    unknown = [e for e in estimates if (e.low, e.high) != (0, 0)]
    if not unknown or any(e.low < 0 or (e.value <= 0 and not has_no_events(e)) for e in unknown):
        return False
    values = [e.value for e in unknown if e.value > 0]
    return bool(values) and max(values) >= placing.DECADES * min(values)
