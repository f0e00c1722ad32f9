"""Figures: what is drawn of which points, that it can be told apart, and that labels keep clear of the lines."""

import math

import numpy as np
import pytest

import fastcube as fc
from fastcube.engine.estimate import NOTHING, Estimate, proportion
from fastcube.plot import style
from fastcube.plot.panel import Panel
from fastcube.plot.placing import _covered, limits
from fastcube.plot.sheet import Sheet
from fastcube.plot.words import axis_text, broken, mathtext, value_text, wrapped

LINE, BAR, ARROW, STATEMENT = "line", "bar", "upper-limit", "statement"


def artists(axes, kind):
    return [line for line in axes.lines if line.get_gid() == kind]


def drawn(pairs, scale="auto", **how):
    """A figure of one series; its axes."""
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = scale
    panel.series("what", pairs, **how)
    sheet.finish()
    return panel.axes


# ---------------------------------------------------------------- telling lines apart


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_contrast(ground):
    assert style.contrast("#000000", "#ffffff") == pytest.approx(21)
    looks = [style.style(i, lines) for lines in (1, 5, 9, 10, 19, 40, 100) for i in range(lines)]
    for colour in {style.GREY, *style.COLOURS, *(look["color"] for look in looks)}:
        assert style.contrast(colour, ground) >= 3.0, colour


@pytest.mark.parametrize("lines", [9, 19, 55])
def test_lines_differ_without_colour(lines):
    looks = [style.style(i, lines) for i in range(lines)]
    assert len({(look["marker"], look["linestyle"]) for look in looks}) == lines
    assert ":" not in {look["linestyle"] for look in looks}  # closed forms are dotted


def test_colours_of_a_few_lines_differ():
    assert len(set(style.COLOURS)) == len(style.COLOURS) == len({style.style(i, 9)["color"] for i in range(9)})


# ---------------------------------------------------------------- points, intervals, arrows


def test_logarithmic_where_data_span_decades():
    assert drawn([(1, proportion(5, 1000)), (2, proportion(900, 1000))]).get_yscale() == "log"
    assert drawn([(1, proportion(300, 1000)), (2, proportion(900, 1000))]).get_yscale() == "linear"
    assert drawn([(1, proportion(5, 1000)), (2, proportion(900, 1000))], "linear").get_yscale() == "linear"


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_point_without_events_is_an_arrow_at_its_limit(scale):
    none = proportion(0, 1000)
    axes = drawn([(1, proportion(900, 1000)), (2, proportion(5, 1000)), (3, none)], scale)
    (arrow,) = artists(axes, ARROW)
    assert (arrow.get_xdata()[0], arrow.get_ydata()[0]) == (3, none.high)
    (line,) = artists(axes, LINE)
    assert np.isnan(line.get_ydata()[2])  # the line ends before it
    assert axes.get_ylim()[0] < none.high
    for band in axes.collections:
        assert band.get_paths()[0].vertices[:, 0].max() <= 2


def test_arrows_at_one_place_stand_side_by_side():
    sheet = Sheet()
    panel = sheet.panel()
    for name in "abc":
        panel.series(name, [(1, proportion(0, 1000)), (2, proportion(0, 1000))])
    sheet.finish()
    arrows = artists(panel.axes, ARROW)
    where = sorted({round(float(a.get_transform().transform(a.get_xydata())[0, 0])) for a in arrows})
    assert len(arrows) == len(where) == 6
    frame = panel.axes.get_window_extent()
    assert frame.x0 < where[0] - 5 and where[-1] + 5 < frame.x1


def test_a_point_alone_has_a_bar_and_a_line_has_a_band():
    alone = drawn([(7, proportion(300, 1000))])
    assert len(artists(alone, BAR)) == 1 and not alone.collections
    assert alone.get_xticks().tolist() == [7]
    several = drawn([(i, proportion(300, 1000)) for i in range(5)])
    assert not artists(several, BAR) and len(several.collections) == 1
    gap = drawn([(1, proportion(300, 1000)), (2, NOTHING), (3, proportion(300, 1000)), (4, proportion(30, 1000))])
    assert len(artists(gap, BAR)) == 1  # the first point, whose neighbour is not known
    few = drawn([(1, proportion(300, 1000)), (2, proportion(200, 1000)), (3, proportion(1, 1000))])
    assert len(artists(few, BAR)) == 1  # a band down to a single event would be a block
    assert len(artists(drawn([(i, proportion(300, 1000)) for i in range(3)], joined=False), BAR)) == 3


def test_limits():
    assert limits([0.2, 0.9], False, 0.04)[0] == 0
    assert limits([0.95, 0.99], False, 0.04)[0] > 0.9
    assert limits([-1.0, 2.0], False, 0.04)[0] < -1
    low, high = limits([1e-3, 1e-3], True, 0.1)
    assert math.log10(high / low) >= 1
    assert limits([], True, 0.1) == (0.1, 1.0)


def test_integer_axes_have_integer_ticks():
    assert drawn([(n, proportion(300, 1000)) for n in (5, 6, 8)]).get_xticks().tolist() == [5, 6, 8]
    for last in (20, 300):
        assert all(t == int(t) for t in drawn([(n, proportion(300, 1000)) for n in range(last)]).get_xticks())


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("unsafe nodes of Q_n", "unsafe nodes of $Q_{n}$"),
        ("f <= floor(n/2)", "$f$\u00a0≤\u00a0$\\lfloor{}n/2\\rfloor$"),
        ("2^n nodes, 2^(2m+1)", "$2^{n}$ nodes, $2^{2m+1}$"),
        ("p_1/2", "$p_{1/2}$"),
        ("unsafe_nodes", "unsafe_nodes"),
        ("$x_n$ of Q_n", "$x_n$ of $Q_{n}$"),
    ],
)
def test_mathtext(text, wanted):
    assert mathtext(text) == wanted


@pytest.mark.parametrize("text", ["costs $ and $", "$\\frac{$", "$x", "$\\nonsense$", "a $ b ^ { $", "\\$"])
def test_any_text_can_be_drawn(text):
    sheet = Sheet()
    panel = sheet.panel()
    panel.series(text, [(1, proportion(300, 1000))])
    panel.stated(0.5, text)
    panel.curve([1], [0.4], text)
    panel.words(x=text, y=text, title=text)
    sheet.title(text)
    assert sheet.finish() is panel.axes.figure


def test_long_titles_are_broken_outside_mathematics():
    text = "Trees $\\lambda + 1 = x$ of Q_n, and the smallest degree $\\delta$"
    assert wrapped(text, 100) == mathtext(text)
    assert wrapped(text, 33).splitlines() == [
        "Trees $\\lambda + 1 = x$ of $Q_{n}$, and the",
        "smallest degree $\\delta$",
    ]


def test_axes_of_powers_are_logarithmic():
    powers = drawn([(4**i, proportion(300, 1000)) for i in range(6)])
    assert powers.get_xscale() == "log" and powers.get_xticks().tolist() == [4**i for i in range(6)]
    assert 0 < powers.get_xlim()[0] < 1
    assert drawn([(i, proportion(300, 1000)) for i in range(1, 200)]).get_xscale() == "linear"


def test_labels():
    assert value_text("n", 5) == "$n = 5$"
    assert value_text("rate", 0.25) == "rate = 0.25"
    assert axis_text("n", "dimension") == "$n$, dimension"
    assert axis_text("rate", "node failure rate") == "node failure rate"
    assert broken("one two $a = b$ c") == "one two\n$a = b$ c"
    assert broken("word") == "word"


# ---------------------------------------------------------------- figures of studies


def binned():
    """Results of a study with a distribution, made by hand."""
    from fastcube.engine.results import Results
    from fastcube.engine.statistics import Distribution, Proportion
    from fastcube.engine.study import Axis, Explanation, Grid, Study
    from fastcube.engine.tally import Tally
    from fastcube.kernels.layout import Counter, Layout

    study = Study(
        name="binned",
        title="Values of Q_n by hand",
        source="",
        revision=1,
        axes=(Axis("a", "a label", int, 0, 9),),
        tally=Layout(Counter("some", "some"), Counter("values", "values", bins=8)),
        statistics=(
            Proportion(name="some", description="some", events="some"),
            Distribution(name="values", description="value", counter="values", label="value"),
        ),
        kernel=lambda point: None,
        grids=(Grid("default", [{"a": 1}], 100),),
        explain=lambda point, key, trial: Explanation("", {}),
    )
    bins = {1: (50, 50, 0, 0, 0, 0, 0, 0), 2: (20, 60, 20, 0, 0, 0, 0, 0), 3: (1, 40, 30, 0, 28, 1, 0, 0)}
    tallies = {(a,): Tally(((0, 100),), {"some": 10 * a, "values": values}, {}) for a, values in bins.items()}
    return Results(study, 0, tallies)


@pytest.fixture(scope="module")
def fractions():
    return fc.run("unsafe-fraction", n=range(5, 13), trials=20000)


def label_is_free(axes):
    texts = [t for t in axes.texts if t.get_gid() == "statement-label"]
    frame, covered = axes.get_window_extent(), _covered(axes)
    for text in texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        inside = (
            (box.x0 < covered[:, 0]) & (covered[:, 0] < box.x1) & (box.y0 < covered[:, 1]) & (covered[:, 1] < box.y1)
        )
        assert not inside.any()
    return len(texts)


def test_figure_8(fractions):
    (axes,) = fractions.plot().axes
    assert len(artists(axes, LINE)) == 7
    assert not artists(axes, ARROW)  # f = 1 has no unsafe node, which needs no trials: no upper limit
    assert axes.get_yscale() == "log" and "$Q_{n}$" in axes.get_title()
    (stated,) = artists(axes, STATEMENT)
    assert stated.get_xdata().tolist() == list(range(5, 13)) and set(stated.get_ydata()) == {0.15}
    assert label_is_free(axes) == 1
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels[:2] == ["$f = 2$", "$f = 3$"] and "95% interval" in labels  # f = 1 is not on the scale


def test_the_statement_is_drawn_only_where_it_applies():
    (axes,) = fc.run("unsafe-fraction", n=8, trials=2000).plot().axes
    assert [line.get_xdata().tolist() for line in artists(axes, STATEMENT)] == [[1, 2, 3, 4]]  # one n: against f
    (axes,) = fc.run("unsafe-fraction", n=4, trials=2000).plot().axes
    assert not artists(axes, STATEMENT)


def test_figure_of_one_point_and_of_large_cubes():
    (axes,) = fc.run("unsafe-fraction", n=8, f=3, trials=2000).plot().axes
    assert len(artists(axes, BAR)) == 1 and label_is_free(axes) == 1
    (axes,) = fc.run("unsafe-fraction", n=range(20, 31), trials=10).plot().axes
    assert len(artists(axes, ARROW)) == 66 and label_is_free(axes) == 1  # f = 2, ..., 7
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels[0] == "$f = 2$"  # upper limits alone are points too


def test_an_axis_that_goes_with_x_makes_no_lines_of_its_own(fractions):
    panel = Panel(None)
    panel.lines(fractions, "rounds", x="n", at=lambda point: point["f"] == point["n"] - 4)  # one f for each n
    assert len(panel.drawn) == 1 and len(panel.drawn[0].x) == 7


def test_saturated_shares_are_not_a_window_of_intervals():
    assert drawn([(x, proportion(100, 100)) for x in range(5)]).get_ylim()[0] <= 0


def test_what_is_known_to_be_zero_has_no_place_on_a_logarithm():
    none = Estimate(0.0, 0.0, 0.0, 0.0)
    axes = drawn([(1, none), (2, proportion(1, 10**5)), (3, proportion(10**4, 10**5))])
    assert axes.get_yscale() == "log" and 0 < axes.get_ylim()[0] < 1e-5
    assert drawn([(1, none), (2, none)], scale="log").get_yscale() == "linear"


@pytest.mark.parametrize(("study", "point", "labels"), [
    ("two-partition", {"n": [5, 6], "f": [2, 4, 6, 8]}, 0),
    pytest.param("dualcube-routing", {"m": [5, 6], "rate": [0.1, 0.2, 0.3]}, 2, marks=pytest.mark.slow),
])  # fmt: skip
def test_figures_of_two_panels_share_looks_and_a_legend(study, point, labels):
    figure = fc.run(study, trials=200, **point).plot()
    left, right = figure.axes
    colours = [[line.get_color() for line in artists(axes, LINE)] for axes in (left, right)]
    assert colours[0] == colours[1] and len(set(colours[0])) == 2
    assert len(figure.legends) == 1 and label_is_free(left) == labels
    assert len(artists(right, "reference")) == labels


def test_on_the_callers_axes(fractions):
    from matplotlib.figure import Figure

    mine = Figure()
    top, bottom = mine.subplots(2)
    assert fractions.plot(axes=bottom) is mine
    assert artists(bottom, LINE) and not top.lines and bottom.get_legend() is not None
    with pytest.raises(fc.ParameterError, match="axes must be 1 for this figure, got 2"):
        fractions.plot(axes=[top, bottom])


def test_a_study_without_a_figure(fractions):
    from dataclasses import replace

    plain = replace(fractions, study=replace(fractions.study, figure=None))
    axes = plain.plot().axes  # a panel a statistic
    assert len(axes) == 4 and all(len(artists(a, LINE)) == 7 and a.get_title() for a in axes)


def test_results_without_trials(fractions):
    from dataclasses import replace

    figure = replace(fractions, tallies={}).plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["no trials"]


def test_distributions():
    from fastcube.engine.statistics import Distribution
    from fastcube.plot import plain_figure

    results = binned()
    figure = results.plot()
    assert len(figure.axes) == 2
    numbers, shares = figure.axes
    assert len(artists(numbers, LINE)) == 1 and len(artists(shares, LINE)) == 3
    assert shares.get_ylabel() == "share of trials" and isinstance(results.study.statistics[1], Distribution)
    assert shares.get_xticks().tolist() == [0, 1, 2, 3, 4, 5] and plain_figure is not None
    assert len(artists(shares, ARROW)) == 1  # no trial with value 3 at a = 3


def test_all_axes_that_vary_tell_lines_apart(fractions):
    panel = Panel(None)
    panel.lines(fractions, "rounds", x="n", at=lambda point: point["n"] < 7)
    assert [line.label for line in panel.drawn] == [f"$f = {f}$" for f in range(1, 8)]
    panel = Panel(None)
    panel.compare(fractions, {"mean": "unsafe_fraction", "whole": "all_unsafe"}, x="n", at={"f": 3})
    assert [line.label for line in panel.drawn] == ["mean", "whole"]
    assert all(len(line.x) == 8 for line in panel.drawn)
