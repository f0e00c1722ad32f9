"""One pair of axes of a figure: lines with their intervals, statements of a paper, and closed forms.

A panel first collects everything to be plotted.  Then the sheet chooses the scale and the limits, and ``Panel.draw`` draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..measure.estimate import Estimate, OrderEstimate
from ..measure.study import Measure, Point
from . import placing
from .style import GREY, SMALLEST, line_style
from .words import axis_text, key_text, mathtext, wrap_mathtext

if TYPE_CHECKING:
    from ..results.results import Results

#: A selection of points: by values of axes, or by a function that returns whether to plot a point; None for all points.
PointFilter = Mapping[str, object] | Callable[[Point], bool] | None

#: Largest total length of the names along x, in characters, that are written horizontally.
_WORDS = 45

#: Length of a limit's arrow in letters, on a line with up to ``_FEW_LIMITS`` limits and with more.
_ARROW, _SMALL_ARROW, _FEW_LIMITS = 1.0, 0.6, 4

#: Fraction of the axis that is left free below limits, for arrows: on a screen, and on the low panels of a paper.
_SCREEN_ROOM, _PAPER_ROOM = 0.1, 0.18

#: Marks side by side at one x: their largest and least distance in points, and the largest fraction of the gap to the next x
#: that they fill.
_STEP, _LEAST_STEP, _ROOM = 5.0, 2.5, 0.8

#: Limits at one x are drawn side by side if their decimal logarithms, times this number, round to the same integer.
_PLACES = 10

#: On a logarithmic scale a bar with a lower end of 0 or below ends at this fraction of the value.
_BELOW = 1e-3

#: The marker at a value covers a lower limit above this fraction of the value.
_COVERED = 0.8

#: Largest number of markers on a line.
_MARKERS = 40

#: Dash patterns of the first, second, ... statement of a panel.
_STATEMENT_DASHES = ("-", (0, (6, 2)), (0, (3, 1.5)))

#: Factors on a logarithmic scale: a statement farther from all data is not drawn, and a curve farther below them is cut.
_MAX_STATEMENT_FACTOR, _MAX_CURVE_FACTOR = 10.0, 1e3


@dataclass
class Line:
    """One line: its name in the legend, the x values of its points, their estimates, and its look.

    ``table_label`` is the line's name in tables if it has no entry in the legend.
    """

    label: str | None
    x: list[float]
    estimates: list[Estimate]
    points: list[Point | None]
    look: dict[str, Any]
    joined: bool = True
    table_label: str = ""
    shift: float = 0.0  # to the right, in points
    entry: str | None = None  # shared entry of several lines in the legend

    @property
    def plot_style(self) -> dict[str, Any]:
        """Keyword arguments of matplotlib for the line."""
        return self.look if self.joined else self.look | {"linestyle": "none"}


@dataclass
class Statement:
    """A statement of a paper: a level, or a level for each x, over the points to which it applies."""

    x: list[float]
    y: list[float]
    text: str
    where: Callable[[Point], bool]


def has_no_events(e: Estimate) -> bool:
    """Whether no trial had the event, so that only an upper limit is known."""
    return e.value == 0 and e.low == 0 and e.high > 0 and not isinstance(e, OrderEstimate)


def is_limit(e: Estimate) -> bool:
    """Whether only a limit is known: an upper limit if no trial had the event, a lower limit if all trials had it.

    A lower limit that the marker at the value would cover does not count.  A quantile is always known.
    """
    return has_no_events(e) or (not isinstance(e, OrderEstimate) and e.value == e.high and e.low < _COVERED * e.value)


def is_drawable(e: Estimate, log: bool) -> bool:
    """Whether the value is plotted as a point; on a logarithmic scale not if it is 0 or only a limit is known."""
    return not math.isnan(e.value) and not (log and (e.value <= 0 or is_limit(e)))


def _matches(point: Point, at: PointFilter) -> bool:
    if at is None:
        return True
    if callable(at):
        return bool(at(point))
    return all(point[name] == value for name, value in at.items())


def held_values(points: Sequence[Point], names: Iterable[str]) -> dict[str, Any]:
    """Return the values of those axes that have the same value at all points."""
    return {name: points[0][name] for name in names if len({point[name] for point in points}) == 1}


def full_label(
    results: Results, points: Sequence[Point], statistic: str, x: str, keys: Sequence[str], key: Mapping[str, Any]
) -> str:
    """Return a label that distinguishes a line from lines of other results: study, statistic, and all axes but ``x``."""
    held = held_values(points, [a.name for a in results.study.axes if a.name not in (x, *keys)])
    return ", ".join(filter(None, (f"{results.study.name} {statistic}", key_text(dict(key) | held))))


def group_points(
    study: Measure, points: Iterable[Point], names: Sequence[str]
) -> list[tuple[dict[str, Any], list[Point]]]:
    """Group the points by their values on these axes, in the order of the axes."""
    found: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        found.setdefault(tuple(point[name] for name in names), []).append(point)
    sort_keys = [study.axis(name).sort_key for name in names]
    keys = sorted(found, key=lambda key: [sort_key(value) for sort_key, value in zip(sort_keys, key, strict=True)])
    return [(dict(zip(names, key, strict=True)), found[key]) for key in keys]


def limit_marker(up: bool) -> Any:
    """Return the marker of a limit: a bar at the limit, and an arrow to the side of the value."""
    from matplotlib.path import Path

    m, k = Path.MOVETO, Path.LINETO
    points = [(-0.3, 0.0), (0.3, 0.0), (0.0, 0.0), (0.0, -1.0), (-0.25, -0.65), (0.0, -1.0), (0.25, -0.65)]
    return Path([(x, -y if up else y) for x, y in points], [m, k, m, k, m, k, k])


def dashed_bar(pieces: int) -> Any:
    """Return the marker of a level at a single x: a bar of ``pieces`` dashes."""
    from matplotlib.path import Path

    ends = [(2 * k + end) / (2 * pieces - 1) - 0.5 for k in range(pieces) for end in (0, 1)]
    return Path([(x, 0.0) for x in ends], [Path.MOVETO, Path.LINETO] * pieces)


def _marker_step(points: int) -> int:
    """Return the step between the points of a line that have a marker."""
    return -(-points // _MARKERS)


@dataclass(eq=False)
class Panel:
    """One pair of axes.  ``axes`` are the matplotlib axes, for anything that the methods here cannot plot."""

    axes: Any
    letters: float = 10.0  # letter size in points
    ours: bool = True  # False on the caller's axes, whose settings must not change
    prefix: str = ""  # beginning of labels of series on the caller's axes
    drawn: list[Line] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    scale: str = "auto"
    log: bool = False  # whether the vertical axis is logarithmic, once the sheet has chosen it
    categories: tuple[str, ...] = ()  # names of the x values 0, 1, ...
    _has_band: bool = False
    _has_bar: bool = False
    _words: dict[str, str] = field(default_factory=dict)
    _default: dict[str, str] = field(default_factory=dict)
    _limits: dict[str, Any] = field(default_factory=dict)
    _known: list[tuple[list[float], list[float]]] = field(default_factory=list)

    @property
    def lines_before(self) -> int:
        """Number of lines of earlier results on the caller's axes; new lines must look different."""
        return 0 if self.ours else sum(line.get_gid() == "line" for line in self.axes.lines)

    def lines(
        self,
        results: Results,
        statistic: str,
        x: str | None = None,
        by: str | None = None,
        at: PointFilter = None,
        factor: float = 1.0,
        keys: Sequence[str] = (),
    ) -> None:
        """Add one line of the statistic against the axis ``x`` for each value of ``by``, and of further axes if necessary.

        ``x`` is by default the axis with most values.  If it has a single value and ``by`` has several, the two are exchanged.
        ``keys`` are several axes in place of ``by``.  ``at`` selects points: ``{"n": 8}``, or a function of the point.
        ``factor`` multiplies the values (100 for per cent).  A value of ``by`` has the same look in every panel of the figure.
        """
        study, names = results.study, [a.name for a in results.study.axes]
        done = [point for point, tally in results if tally.trials]
        chosen = [point for point in done if _matches(point, at) and study.statistic(statistic).defined(point)]
        count = {name: len({point[name] for point in chosen}) for name in names}
        words = {axis.name for axis in study.axes if axis.kind is str}  # axes of names cannot be the x of a line
        x = x or max((name for name in names if name not in words), key=lambda name: count[name])
        if by is not None and count[x] <= 1 < count[by] and by not in words:
            x, by = by, x
        keys = [*keys] or [name for name in names if name == by]
        for name in (name for name in names if name not in (x, *keys) and count[name] > 1):
            if len({tuple(point[k] for k in (x, *keys)) for point in chosen}) < len(chosen):
                keys = [k for k in names if k in (name, *keys)]
        whole = [key for key, _ in group_points(study, done, keys)]
        before = self.lines_before
        for key, points in group_points(study, chosen, keys):
            points.sort(key=lambda point: study.axis(x).sort_key(point[x]))
            found = [results.read(study.statistic(statistic), point)[0] for point in points]
            estimates = [_scale_estimate(e, factor) for e in found]
            look = line_style(before + whole.index(key), before + len(whole))
            label = key_text(key) if self.ours else full_label(results, chosen, statistic, x, keys, key)
            self.drawn.append(Line(label or None, [point[x] for point in points], estimates, [*points], look))
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
        """Add one line for each of several statistics, ``{label: name}``, against ``x``; ``at`` must fix the other axes."""
        for i, (label, name) in enumerate(statistics.items()):
            one = Panel(None, ours=self.ours)
            one.lines(results, name, x, None, at, factor)
            for line in one.drawn:
                line.label = ", ".join(filter(None, (label, line.label)))
                line.look = line_style(i if len(one.drawn) == 1 else len(self.drawn), len(statistics))
                self.drawn.append(line)
            self._default |= {"x": one._default["x"]}
            self._default.setdefault("y", one._default["y"])
        self.by = self.by or ("statistic",)

    def distribution(self, results: Results, statistic: str, at: PointFilter = None) -> None:
        """Add a distribution as a histogram of steps for each point of ``at``: fractions of trials up to the largest value."""
        study = results.study
        points = [p for p, t in results if t.trials and _matches(p, at) and study.statistic(statistic).defined(p)]
        varying = [a.name for a in study.axes if len({point[a.name] for point in points}) > 1]
        keys = varying or [a.name for a in study.axes]
        for i, point in enumerate(points):
            estimates = [e for _, e in results.labelled_estimates(study.statistic(statistic), point)]
            label = key_text({name: point[name] for name in keys})
            values: list[float] = list(range(len(estimates)))
            look = line_style(i, len(points)) | {"drawstyle": "steps-mid"}
            self.drawn.append(Line(label, values, estimates, [point] * len(values), look))
        self.scale = "linear" if self.scale == "auto" else self.scale
        self.by = self.by or ("shares", *keys)
        self._default = {"x": study.statistic(statistic).description, "y": "fraction of trials", **self._default}

    def series(
        self,
        label: str | None,
        pairs: Iterable[tuple[float, Estimate]],
        like: int | None = None,
        of: int = 1,
        joined: bool = True,
        table_label: str = "",
        points: Sequence[Point] = (),
    ) -> None:
        """Add a line through pairs (x, estimate), with the look of line ``like`` of ``of``; only points if not ``joined``.

        ``table_label`` is its name in tables if ``label`` is None.  ``points`` are the points of the study behind the pairs.
        """
        x, estimates = [list(column) for column in zip(*pairs, strict=True)] or ([], [])
        place = len(self.drawn) if like is None else like
        look = line_style(place, max(of, place + 1))
        if not self.ours:
            label = ", ".join(filter(None, (self.prefix, label)))
            look = line_style(self.lines_before + len(self.drawn), self.lines_before + of)
        self.drawn.append(Line(label, x, estimates, [*points] or [None] * len(x), look, joined, table_label))

    def add_statement(
        self, y: float | Callable[[Point], float], text: str, where: Callable[[Point], bool] = lambda _: True
    ) -> None:
        """Add a statement of the paper: a level, or a function of the point, over the plotted points to which it applies."""
        found = {
            x: (y(point) if callable(y) else y)
            for line in self.drawn
            for x, point in zip(line.x, line.points, strict=True)
            if point is not None and where(point)
        }
        if found:
            at = sorted(found)
            self.statements.append(Statement(at, [float(found[x]) for x in at], text, where))

    def reference(self, function: Callable[[Point], float], label: str) -> None:
        """Add a closed form, a function of the point, as a dotted line in the look of each line, where it is finite."""
        curves = []
        for line in self.drawn:
            pairs = [(x, float(function(p))) for x, p in zip(line.x, line.points, strict=True) if p is not None]
            if pairs := [(x, y) for x, y in pairs if math.isfinite(y)]:
                curves.append((pairs, {name: line.look[name] for name in ("color", "marker")}))
        level = dict(pair for pairs, _ in curves for pair in pairs)
        apart = len(curves) > 1 and len(level) == sum(len(pairs) for pairs, _ in curves)  # no two lines share an x
        if not apart and all(level[x] == y for pairs, _ in curves for x, y in pairs):  # one value per x
            curves = [(sorted(level.items()), {"color": GREY})] if level else []
        if curves:
            self._add_label(label, color=GREY, linestyle=":", linewidth=1.2)
        for pairs, look in curves:
            alone = {"marker": dashed_bar(5), "markersize": 40} if len(pairs) == 1 else {}
            how = {"markersize": 3, "fillstyle": "none", "markevery": _marker_step(len(pairs)), "gid": "reference"}
            self.curve([x for x, _ in pairs], [y for _, y in pairs], label, **(how | look | alone))

    def curve(self, x: Sequence[float], y: Sequence[float], label: str, **how: Any) -> None:
        """Add any other curve that is not measured: grey and dotted unless ``how`` (arguments of matplotlib) says otherwise."""
        how = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 1.5} | how
        self.axes.plot(x, y, **how)
        self._known.append((list(x), list(y)))
        self._add_label(label, **how)

    def marks(self, x: Sequence[float], y: Sequence[float], label: str) -> None:
        """Add exact or published values, which are not estimated, as open circles."""
        self.curve(x, y, label, linestyle="none", marker="o", markerfacecolor="none", markersize=7, zorder=4)

    def set_labels(self, x: str | None = None, y: str | None = None, title: str | None = None) -> None:
        """Set the labels of the axes, by default the study's descriptions of axis and statistic, and the title."""
        self._words |= {k: v for k, v in (("x", x), ("y", y), ("title", title)) if v is not None}

    def limits(self, **given: Any) -> None:
        """Set limits that do not depend on the data: ``left``, ``right``, ``bottom``, ``top``.  Arrows keep their space below."""
        self._limits |= given

    def _add_label(self, label: str, **how: Any) -> None:
        from matplotlib.lines import Line2D

        self.others.setdefault(label, Line2D([], [], **how))

    @property
    def has_something(self) -> bool:
        """Whether the panel has anything to show: a value, a curve, or what a study drew directly on the axes."""
        return any(not math.isnan(e.value) for line in self.drawn for e in line.estimates) or self.axes.has_data()

    @property
    def legend(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Entries of the legend: lines with a point or an upper limit on the scale, and everything else.

        A line whose values are known to be 0 cannot be drawn on a logarithmic scale, so its entry says so.
        """
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        there = [line for line in self.drawn if any(is_drawable(e, self.log) or is_limit(e) for e in line.estimates)]
        lines = {
            mathtext(line.entry or line.label): Line2D([], [], **line.plot_style)
            for line in there
            if line.label is not None
        }
        zero = [line.label for line in self.drawn if line.label and line not in there and _is_known_zero(line)]
        lines |= {mathtext(f"{label}: 0 at every point"): Line2D([], [], linestyle="none") for label in zero}
        bar = Line2D([], [], color=GREY, linestyle="none", marker="|", markersize=9)
        interval = Patch(color=GREY, alpha=0.3, linewidth=0) if self._has_band else bar if self._has_bar else None
        others = {"95% interval": interval} if interval else {}
        return lines, others | {mathtext(label): handle for label, handle in self.others.items()}

    @property
    def estimates(self) -> list[Estimate]:
        """All known estimates of the panel."""
        return [e for line in self.drawn for e in line.estimates if not math.isnan(e.value)]

    @property
    def title(self) -> str:
        """The title of the panel, as it was set."""
        return (self._default | self._words).get("title", "")

    @property
    def y_label(self) -> str:
        """The label of the vertical axis."""
        return (self._default | self._words).get("y", "")

    def choose_log(self, shared: list[Estimate]) -> bool:
        """Return whether the vertical axis is logarithmic, given the estimates of all panels that share it."""
        log = self.scale == "log" or (self.scale == "auto" and _is_spanning_decades(shared))
        return log and any(e.value > 0 for e in shared)

    def draw(self, limits: tuple[float, float] | None) -> None:
        """Draw everything collected, on a scale with these limits; on the caller's axes only lines, intervals and limits."""
        if self.ours:
            self._set_axes(limits)
        low, high = self.axes.get_ylim() if self.ours else (-math.inf, math.inf)
        self._dodge_points()
        for i, line in enumerate(self.drawn):  # the first line is above later lines, and the hypercube on top
            first = 1 - i / len(self.drawn)
            self._draw_line(line, 3 + 0.4 * first + 0.5 * ("hypercube" in (line.label or "").split(", ")))
        if self.log:
            self._draw_limits()
        for place, statement in enumerate(self.statements):
            if low <= min(statement.y) and max(statement.y) <= high:
                self._draw_statement(statement, place)
            else:
                self._add_label(f"{statement.text}: off the scale", linestyle="none")
        if self.ours:
            self.write()

    def _set_axes(self, limits: tuple[float, float] | None) -> None:
        if limits is None:
            if not self.axes.has_data():
                self._say_inside("not measured at these points" if self.drawn else "no trials")
                self.axes.set(xticks=[], yticks=[])
            return
        self.axes.set_yscale("log" if self.log else "linear")
        if not self.log:
            self.axes.locator_params(axis="y", steps=[1, 2, 5, 10])
            self.axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useMathText=True)
        self.axes.set_ylim(self._limits.get("bottom", limits[0]), self._limits.get("top", limits[1]))
        if limits[0] < 0 and any(e.low < 0 for e in self.estimates):
            self.axes.axhline(0, color=GREY, linewidth=0.8, zorder=1, gid="zero")
        if self._is_empty:
            self._say_inside(f"none seen at any point\n95% limits below {max(e.high for e in self.estimates):.2g}")
        self._set_x()

    @property
    def _is_empty(self) -> bool:
        return bool(self.estimates) and all(has_no_events(e) for e in self.estimates)

    def _say_inside(self, text: str) -> None:
        how = {"transform": self.axes.transAxes, "ha": "center", "va": "top", "fontsize": self.letters}
        self.axes.text(0.5, 0.92, text, **how)

    def write(self) -> None:
        """Write title and labels, broken into lines that fit the present size of the axes."""
        box = self.axes.get_window_extent()
        wide, high = ((length / self.axes.figure.dpi * 72) for length in (box.width, box.height))
        size = self.letters
        words = self._default | self._words
        self.axes.set_xlabel(wrap_mathtext(words.get("x", ""), int(1.8 * wide / size)), fontsize=size)
        self.axes.set_ylabel(wrap_mathtext(words.get("y", ""), int(1.8 * high / size)), fontsize=size)
        if "title" in words:
            self.axes.set_title(wrap_mathtext(words["title"], int(1.75 * wide / size)), fontsize=size)
        self.axes.tick_params(which="both", labelsize=max(SMALLEST, 0.9 * size))
        self.axes.yaxis.get_offset_text().set_fontsize(max(SMALLEST, 0.9 * size))
        self.axes.grid(color=GREY, alpha=0.25, linewidth=0.5)
        self.axes.set_axisbelow(True)

    def find_limits(self) -> tuple[float, float] | None:
        """Return limits of the vertical axis around everything plotted, or None if there is nothing."""
        if not (estimates := self.estimates):
            return None
        values = [v for e in estimates if is_drawable(e, self.log) for v in (e.value, e.low, e.high)]
        stated = [v for statement in self.statements for v in statement.y]
        known = [v for _, y in self._known for v in y]
        seen = [e.value for e in estimates if e.value > 0 or not self.log]
        ends = [e.high if has_no_events(e) else e.low for e in estimates if self.log and is_limit(e)]
        if self.log:
            values = [v for v in values if v > min(seen) / 10] + ends
            stated = [v for v in stated if min(seen) / _MAX_STATEMENT_FACTOR < v < max(seen) * _MAX_STATEMENT_FACTOR]
            known = [v for v in known if v > min(seen) / _MAX_CURVE_FACTOR]
        elif self._is_empty:  # without any event, the upper limits determine the scale
            stated = [v for v in stated + known if v < max(values) * _MAX_STATEMENT_FACTOR]
            known = []
        values += stated + known + [self._limits[end] for end in ("bottom", "top") if end in self._limits]
        widest = max((e.high - e.low for e in estimates if e.high < math.inf), default=0.0)
        if not self.log and max(seen) - min(seen) < widest and not self.statements:
            far = 2 * min(values)  # a closer view would only show intervals
            values += [0.0] if far >= 0 else [far, 2 * max(values)]
        room = _SCREEN_ROOM if self.letters >= 10 else _PAPER_ROOM
        return placing.axis_limits(values, self.log, room if ends else 0.04)

    def _set_x(self) -> None:
        values = [x for line in self.drawn for x in line.x] + [x for known, _ in self._known for x in known]
        placing.set_x_axis(self.axes, values, all(isinstance(x, int) for x in values), self.letters)
        if self.categories:
            turned = {"rotation": 30, "ha": "right"} if sum(map(len, self.categories)) > _WORDS else {}
            self.axes.set_xticks(range(len(self.categories)), self.categories, **turned)
        self.axes.set_xlim(self._limits.get("left"), self._limits.get("right"))

    def _dodge_points(self) -> None:
        """Move points without neighbours side by side if their intervals overlap, and say so in the legend."""
        drawn = [sum(is_drawable(e, self.log) for e in line.estimates) for line in self.drawn]
        alone = [ln for ln, n in zip(self.drawn, drawn, strict=True) if self.ours and (not ln.joined or n <= 1)]
        places: dict[float, list[tuple[float, float]]] = {}
        for line in alone:
            for x, e in zip(line.x, line.estimates, strict=True):
                if is_drawable(e, self.log):
                    places.setdefault(x, []).append(self._find_extent(x, e))
        if any(low < below for spans in places.values() for (_, below), (low, _) in pairwise(sorted(spans))):
            step = min(_STEP, *(self._room_at(x) / len(alone) for x in places))
            for k, line in enumerate(alone):
                line.shift = (k - (len(alone) - 1) / 2) * step
            self._add_label("points side by side have one x", linestyle="none")

    def _find_extent(self, x: float, e: Estimate) -> tuple[float, float]:
        """Return the lower and upper end of an interval with its marker on the screen, in pixels."""
        least = self.axes.get_ylim()[0]
        ends = self.axes.transData.transform([(x, max(v, least)) for v in (e.low, e.value, e.high)])[:, 1]
        marker = _STEP / 2 / 72 * self.axes.figure.dpi
        return min(ends[0], ends[1] - marker), max(ends[2], ends[1] + marker)

    def _room_at(self, x: float) -> float:
        """Return the width in points available to marks at x; 0 on a caller's axes, which may still change."""
        if not self.ours:
            return 0.0
        places = {other for line in self.drawn for other in line.x if other != x} | set(self.axes.get_xlim())
        at = self.axes.transData.transform([(v, self.axes.get_ylim()[1]) for v in (x, *places)])[:, 0]
        return float(_ROOM * abs(at[1:] - at[0]).min() * 72 / self.axes.figure.dpi)

    def _moved(self, points: float) -> dict[str, Any]:
        """Return arguments that move an artist to the right by ``points``; none for 0, so that the axes follow its data."""
        from matplotlib.transforms import ScaledTranslation

        if not points:
            return {}
        return {"transform": self.axes.transData + ScaledTranslation(points / 72, 0, self.axes.figure.dpi_scale_trans)}

    def _draw_line(self, line: Line, layer: float) -> None:
        """Draw a line through its values, with intervals as a band between neighbours and as a bar at a single marker."""
        drawn = [is_drawable(e, self.log) for e in line.estimates]
        banded = [s and (e.low > e.value / 10 or not self.log) for s, e in zip(drawn, line.estimates, strict=True)]
        y = [e.value if s else math.nan for s, e in zip(drawn, line.estimates, strict=True)]
        moved = self._moved(line.shift)
        every = _marker_step(len(y))
        look = line.plot_style | {"markevery": every} | moved
        self.axes.plot(line.x, y, zorder=layer, gid="line", label=mathtext(line.label or "_"), **look)
        top = self.axes.get_ylim()[1]
        ends = [e.high if e.high < math.inf else max(10 * top, e.value) for e in line.estimates]  # above the axis
        beside = [line.joined and any(banded[max(0, i - 1) : i] + banded[i + 1 : i + 2]) for i in range(len(drawn))]
        bar = {"color": look["color"], "linewidth": 0.9, "marker": "_", "markersize": 5, "alpha": 0.7}
        bar |= {"gid": "bar", "zorder": 2, "label": "_"} | moved
        in_band = [b and n for b, n in zip(banded, beside, strict=True)]
        for i, (x, e, high) in enumerate(zip(line.x, line.estimates, ends, strict=True)):
            if drawn[i] and not in_band[i] and i % every == 0 and not self._is_empty:
                low = _BELOW * e.value if self.log and e.low <= 0 else e.low  # below the axis, where the bar is clipped
                self.axes.plot([x] * 2, [low, high], **bar)
                self._has_bar = True
        if line.joined and any(in_band):
            step = "mid" if "drawstyle" in look else None
            band = {"color": look["color"], "alpha": 0.18, "linewidth": 0, "zorder": 1, "step": step}
            self.axes.fill_between(line.x, [e.low for e in line.estimates], ends, where=banded, **band)
            self._has_band = True

    def _draw_limits(self) -> None:
        """Draw a bar at each limit and an arrow to the side of the value.

        Limits at one place are drawn side by side.  If there is no space, a single grey mark stands for all of them.
        """
        found: dict[tuple[float, int], list[tuple[Line, float, bool]]] = {}
        for line in self.drawn:
            for x, e in zip(line.x, line.estimates, strict=True):
                if is_limit(e):
                    y = e.high if has_no_events(e) else e.low
                    place = found.setdefault((x, round(_PLACES * math.log10(y))), [])
                    place.append((line, y, has_no_events(e)))
        for (x, _), marks in found.items():
            step = min(_STEP, self._room_at(x) / len(marks))
            crowded = self.ours and len(marks) > 1 and step < _LEAST_STEP
            for k, (line, y, upper) in enumerate(marks[:1] if crowded else marks):
                colour = GREY if crowded else line.look["color"]
                many = sum(map(is_limit, line.estimates)) > _FEW_LIMITS
                shift = 0.0 if crowded else line.shift or (k - (len(marks) - 1) / 2) * step
                self._draw_limit(x, y, upper, colour, _SMALL_ARROW if many else _ARROW, shift)

    def _draw_limit(self, x: float, y: float, upper: bool, colour: str, length: float, shift: float) -> None:
        how: dict[str, Any] = {"marker": limit_marker(not upper), "fillstyle": "none", "linestyle": "none"}
        moved = self._moved(shift) | {"markersize": 2 * length * self.letters, "color": colour}
        self.axes.plot([x], [y], gid="limit", zorder=3, label="_", **how, **moved)
        self._add_label("none seen: upper limit" if upper else "all: lower limit", color=GREY, markersize=12, **how)

    def _draw_statement(self, statement: Statement, place: int) -> None:
        """Draw the level of a statement, with hollow markers for points to which it does not apply."""
        look = {"color": GREY, "linewidth": 1.4, "linestyle": _STATEMENT_DASHES[place % len(_STATEMENT_DASHES)]}
        pieces = 2 * (place % len(_STATEMENT_DASHES)) + 1
        alone = (
            {"marker": dashed_bar(pieces), "markersize": 40, "markeredgewidth": 1.4} if len(statement.x) == 1 else {}
        )
        said = {"label": mathtext(statement.text), "zorder": 2, "gid": "statement"}
        self.axes.plot(statement.x, statement.y, **said, **look, **alone)
        self._add_label(statement.text, **look)
        for line in self.drawn:
            beyond = [
                (x, e.value)
                for x, e, point in zip(line.x, line.estimates, line.points, strict=True)
                if x in statement.x and point is not None and not statement.where(point) and is_drawable(e, self.log)
            ]
            if beyond:
                hollow = line.look | {"linestyle": "none", "markerfacecolor": self.axes.get_facecolor()}
                self.axes.plot(*zip(*beyond, strict=True), zorder=4, gid="beyond", label="_", **hollow)
                self._add_label(
                    "hollow: beyond the stated range", color=GREY, marker="o", fillstyle="none", linestyle="none"
                )


def _scale_estimate(e: Estimate, factor: float) -> Estimate:
    numbers = {name: getattr(e, name) * factor for name in ("value", "stderr", "low", "high")}
    return replace(e, **numbers)


def _is_known_zero(line: Line) -> bool:
    return bool(line.estimates) and all(e.value == e.high == 0 for e in line.estimates)


def _is_spanning_decades(estimates: list[Estimate]) -> bool:
    """Whether values, and limits of points without events, are positive and span two decades, except values known to be 0."""
    unknown = [e for e in estimates if (e.low, e.high) != (0, 0)]
    if not unknown or any(e.low < 0 or (e.value <= 0 and not has_no_events(e)) for e in unknown):
        return False
    values = [e.value for e in unknown if e.value > 0]
    return bool(values) and max(values) >= placing.DECADES * min(values)
