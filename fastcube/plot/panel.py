"""One pair of axes of a figure, as its author fills it: lines with their intervals, statements of a paper, closed forms.

A panel collects measured lines and statements.  Then the sheet chooses the scale and the limits (``placing``), and ``drawing``
draws them.  Curves that are not measured are drawn at once (``curve``), because they need no scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..measure.estimate import Estimate
from ..measure.study import Point
from .line_points import PointFilter, choose_axes, full_label, group_points, is_selected
from .lines import Line, Statement, has_no_events, is_drawable, is_known_zero, is_limit, scale_estimate
from .markers import dashed_bar, marker_step
from .style import GREY, line_style
from .text import axis_text, key_text, mathtext

if TYPE_CHECKING:
    from ..results.results import Results


class Legend(NamedTuple):
    """The entries of a panel's legend: handles of matplotlib by label."""

    lines: dict[str, Any]
    others: dict[str, Any]


@dataclass(eq=False)
class Panel:
    """One pair of axes.  ``axes`` are the matplotlib axes, for anything that the methods here cannot plot."""

    axes: Any
    font_size: float = 10.0  # in points
    owns_axes: bool = True  # False on the caller's axes, whose settings must not change
    prefix: str = ""  # beginning of labels of series on the caller's axes

    # what the author of a figure sets, mostly by the methods below
    measured_lines: list[Line] = field(default_factory=list)
    curves: list[tuple[list[float], list[float]]] = field(default_factory=list)  # x and y of what is not measured
    statements: list[Statement] = field(default_factory=list)
    other_entries: dict[str, Any] = field(default_factory=dict)  # of the legend, besides lines: label -> handle
    by: tuple[str, ...] = ()  # what the looks of the lines stand for; panels that are equal in this share a legend
    categories: tuple[str, ...] = ()  # names of the x values 0, 1, ...
    scale: str = "auto"  # "linear", "log", or "auto": the sheet chooses
    own_labels: dict[str, str] = field(default_factory=dict)  # keys x, y, title
    default_labels: dict[str, str] = field(default_factory=dict)
    fixed_limits: dict[str, Any] = field(default_factory=dict)  # keys left, right, bottom, top

    # what the sheet and ``drawing`` set
    log: bool = False  # whether the vertical axis is logarithmic
    has_band: bool = False  # whether an interval was drawn as a band
    has_bar: bool = False  # whether an interval was drawn as a bar

    @property
    def lines_before(self) -> int:
        """Number of lines of earlier results on the caller's axes; new lines must look different."""
        return 0 if self.owns_axes else sum(line.get_gid() == "line" for line in self.axes.lines)

    def lines(
        self,
        results: Results,
        statistic: str,
        x: str | None = None,
        by: str | None = None,
        at: PointFilter = None,
        factor: float = 1.0,
        keys: Sequence[str] = (),
        failures: bool = False,
    ) -> None:
        """Add one line of the statistic against the axis ``x`` for each value of ``by``, and of further axes if necessary.

        ``x`` is by default the axis with most values.  If it has a single value and ``by`` has several, the two are exchanged.
        ``keys`` are several axes in place of ``by``.  ``at`` selects points: ``{"n": 8}``, or a function of the point.
        ``factor`` multiplies the values (100 for per cent).  ``failures`` plots one minus the values: on a logarithmic scale this
        separates curves that hide one another near 1.  A value of ``by`` has the same look in every panel of the figure.
        """
        study = results.study
        done = [point for point, tally in results if tally.trials]
        chosen = [point for point in done if is_selected(point, at) and study.statistic(statistic).defined(point)]
        x, keys = choose_axes(study, chosen, x, by, keys)
        all_keys = [key for key, _ in group_points(study, done, keys)]
        before = self.lines_before
        for key, points in group_points(study, chosen, keys):
            points.sort(key=lambda point: study.axis(x).sort_key(point[x]))
            found = [results.read(study.statistic(statistic), point)[0] for point in points]
            estimates = [scale_estimate(e.complement if failures else e, factor) for e in found]
            look = line_style(before + all_keys.index(key), before + len(all_keys))
            label = key_text(key) if self.owns_axes else full_label(results, chosen, statistic, x, keys, key)
            xs = [point[x] for point in points]
            self.measured_lines.append(Line(label or None, xs, estimates, [*points], look=look))
        self.by = self.by or tuple(keys)
        described = {"x": axis_text(x, study.axis(x).description), "y": study.statistic(statistic).description}
        self.default_labels = {**described, **self.default_labels}

    def compare(
        self,
        results: Results,
        statistics: Mapping[str, str],
        x: str | None = None,
        at: PointFilter = None,
        factor: float = 1.0,
    ) -> None:
        """Add one line for each of several statistics, ``{label: name}``, against ``x``; ``at`` must fix the other axes."""
        before = self.lines_before
        for i, (label, name) in enumerate(statistics.items()):
            added = Panel(self.axes, owns_axes=self.owns_axes)
            added.lines(results, name, x=x, at=at, factor=factor)
            for line in added.measured_lines:
                line.label = ", ".join(filter(None, (label, line.label)))
                place = i if len(added.measured_lines) == 1 else len(self.measured_lines)
                line.look = line_style(before + place, before + len(statistics))
                self.measured_lines.append(line)
            self.default_labels |= {"x": added.default_labels["x"]}
            self.default_labels.setdefault("y", added.default_labels["y"])
        self.by = self.by or ("statistic",)

    def distribution(self, results: Results, statistic: str, at: PointFilter = None) -> None:
        """Add a distribution as a histogram of steps for each point of ``at``: fractions of trials up to the largest value."""
        study = results.study
        points = [p for p, t in results if t.trials and is_selected(p, at) and study.statistic(statistic).defined(p)]
        varying = [a.name for a in study.axes if len({point[a.name] for point in points}) > 1]
        keys = varying or [a.name for a in study.axes]
        for i, point in enumerate(points):
            estimates = [e for _, e in results.labelled_estimates(study.statistic(statistic), point)]
            label = key_text({name: point[name] for name in keys})
            values: list[float] = list(range(len(estimates)))
            look = line_style(i, len(points)) | {"drawstyle": "steps-mid"}
            self.measured_lines.append(Line(label, values, estimates, [point] * len(values), look=look))
        self.scale = "linear" if self.scale == "auto" else self.scale
        self.by = self.by or ("shares", *keys)
        self.default_labels = {
            "x": study.statistic(statistic).description,
            "y": "fraction of trials",
            **self.default_labels,
        }

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
        place = len(self.measured_lines) if like is None else like
        look = line_style(place, max(of, place + 1))
        if not self.owns_axes:
            label = ", ".join(filter(None, (self.prefix, label)))
            look = line_style(self.lines_before + len(self.measured_lines), self.lines_before + of)
        behind: list[Point | None] = [*points] or [None] * len(x)
        self.measured_lines.append(Line(label, x, estimates, behind, look=look, joined=joined, table_label=table_label))

    def add_statement(
        self, y: float | Callable[[Point], float], text: str, where: Callable[[Point], bool] = lambda _: True
    ) -> None:
        """Add a statement of the paper: a level, or a function of the point, over the plotted points to which it applies."""
        found = {
            x: (y(point) if callable(y) else y)
            for line in self.measured_lines
            for x, point in zip(line.x, line.points, strict=True)
            if point is not None and where(point)
        }
        if found:
            xs = sorted(found)
            self.statements.append(Statement(xs, [float(found[x]) for x in xs], text, where))

    def reference(self, function: Callable[[Point], float], label: str) -> None:
        """Add a closed form, a function of the point, as a dotted line in the look of each line, where it is finite.

        If the form depends on x alone, a single grey line stands for all of them, unless no two lines share an x.
        """
        curves = []  # pairs (x, y), and the look of the curve through them
        for line in self.measured_lines:
            pairs = [(x, float(function(p))) for x, p in zip(line.x, line.points, strict=True) if p is not None]
            if pairs := [(x, y) for x, y in pairs if math.isfinite(y)]:
                curves.append((pairs, {name: line.look[name] for name in ("color", "marker")}))
        by_x = dict(pair for pairs, _ in curves for pair in pairs)
        have_disjoint_x = len(curves) > 1 and len(by_x) == sum(len(pairs) for pairs, _ in curves)
        if not have_disjoint_x and all(by_x[x] == y for pairs, _ in curves for x, y in pairs):
            curves = [(sorted(by_x.items()), {"color": GREY})] if by_x else []
        if curves:
            self.add_entry(label, color=GREY, linestyle=":", linewidth=1.2)
        for pairs, look in curves:
            single = {"marker": dashed_bar(5), "markersize": 40} if len(pairs) == 1 else {}
            style = {"markersize": 3, "fillstyle": "none", "markevery": marker_step(len(pairs)), "gid": "reference"}
            self.curve([x for x, _ in pairs], [y for _, y in pairs], label, **(style | look | single))

    def curve(self, x: Sequence[float], y: Sequence[float], label: str, **style: Any) -> None:
        """Draw any other curve that is not measured: grey and dotted unless ``style`` (for matplotlib) says otherwise."""
        style = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 1.5} | style
        self.axes.plot(x, y, **style)
        self.curves.append((list(x), list(y)))
        self.add_entry(label, **style)

    def marks(self, x: Sequence[float], y: Sequence[float], label: str) -> None:
        """Add exact or published values, which are not estimated, as open circles."""
        self.curve(x, y, label, linestyle="none", marker="o", markerfacecolor="none", markersize=7, zorder=4)

    def set_labels(self, x: str | None = None, y: str | None = None, title: str | None = None) -> None:
        """Set the labels of the axes, by default the study's descriptions of axis and statistic, and the title."""
        self.own_labels |= {k: v for k, v in (("x", x), ("y", y), ("title", title)) if v is not None}

    def limits(self, **given: Any) -> None:
        """Set limits that do not depend on the data: ``left``, ``right``, ``bottom``, ``top``.  Arrows keep their space below."""
        self.fixed_limits |= given

    def add_entry(self, label: str, **style: Any) -> None:
        """Add an entry to the legend, with a line of this look (arguments of matplotlib), unless it has one of this label."""
        from matplotlib.lines import Line2D

        self.other_entries.setdefault(label, Line2D([], [], **style))

    @property
    def has_something(self) -> bool:
        """Whether the panel has anything to show: a value, a curve, or what a study drew directly on the axes."""
        return (
            any(not math.isnan(e.value) for line in self.measured_lines for e in line.estimates) or self.axes.has_data()
        )

    @property
    def legend(self) -> Legend:
        """Entries of the legend: lines with a point or a limit on the scale, and everything else.

        A line whose values are known to be 0 cannot be drawn on a logarithmic scale, so its entry says so.
        """
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        drawable = [
            line for line in self.measured_lines if any(is_drawable(e, self.log) or is_limit(e) for e in line.estimates)
        ]
        lines = {
            mathtext(line.entry or line.label): Line2D([], [], **line.plot_style)
            for line in drawable
            if line.label is not None
        }
        for line in self.measured_lines:
            if line.label and line not in drawable and is_known_zero(line):
                lines[mathtext(f"{line.label}: 0 at every point")] = Line2D([], [], linestyle="none")
        others: dict[str, Any] = {}
        if self.has_band:
            others["95% interval"] = Patch(color=GREY, alpha=0.3, linewidth=0)
        elif self.has_bar:
            others["95% interval"] = Line2D([], [], color=GREY, linestyle="none", marker="|", markersize=9)
        return Legend(lines, others | {mathtext(label): handle for label, handle in self.other_entries.items()})

    @property
    def estimates(self) -> list[Estimate]:
        """All known estimates of the panel."""
        return [e for line in self.measured_lines for e in line.estimates if not math.isnan(e.value)]

    @property
    def labels(self) -> dict[str, str]:
        """The labels ``x`` and ``y`` and the ``title``, as they were set, or else by default."""
        return self.default_labels | self.own_labels

    @property
    def title(self) -> str:
        """The title of the panel, as it was set."""
        return self.labels.get("title", "")

    @property
    def y_label(self) -> str:
        """The label of the vertical axis."""
        return self.labels.get("y", "")

    @property
    def has_only_limits(self) -> bool:
        """Whether the panel has estimates and no trial had an event at any point."""
        return bool(self.estimates) and all(has_no_events(e) for e in self.estimates)
