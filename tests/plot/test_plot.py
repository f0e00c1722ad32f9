"""Figures: what is drawn of which points, and that it can be told apart."""

import math
from itertools import combinations

import numpy as np
import pytest
from helpers.binned import distribution_results
from helpers.compiled import mark_others_slow

import fastcube as fc
from fastcube.measure.estimate import UNDEFINED, Estimate, proportion
from fastcube.plot import style
from fastcube.plot.panel import Panel
from fastcube.plot.placing import axis_limits
from fastcube.plot.sheet import Sheet
from fastcube.plot.words import axis_text, mathtext, value_text, wrap_mathtext

LINE, BAR, LIMIT, STATEMENT = "line", "bar", "limit", "statement"


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


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """The contrast ratio of two colours ``#rrggbb``, 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_contrast(ground):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    looks = [style.line_style(i, lines) for lines in (1, 5, 9, 10, 19, 40, 100) for i in range(lines)]
    for colour in {style.GREY, *style.COLOURS, *(look["color"] for look in looks)}:
        assert contrast(colour, ground) >= 3.0, colour


@pytest.mark.parametrize("lines", [9, 19, 55])
def test_lines_differ_without_colour(lines):
    looks = [style.line_style(i, lines) for i in range(lines)]
    assert len({(look["marker"], look["linestyle"]) for look in looks}) == lines
    assert ":" not in {look["linestyle"] for look in looks}  # closed forms are dotted


#: What protanopia, deuteranopia and tritanopia leave of linear RGB (Machado, Oliveira & Fernandes 2009, severity 1).
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}

#: XYZ of linear sRGB, relative to white.
XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2127, 0.7152, 0.0722], [0.0178, 0.1095, 0.8727]])


def lab(colour, sight):
    """CIE 1976 coordinates of a colour as somebody sees it."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(XYZ @ np.clip(np.asarray(SIGHTS[sight]) @ linear, 0, 1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_at_most_seven_colours_that_any_sight_distinguishes(sight):
    assert len(style.COLOURS) <= 7
    pairs = combinations([lab(colour, sight) for colour in style.COLOURS], 2)
    assert min(float(np.linalg.norm(one - other)) for one, other in pairs) > 25


def eight_lines(width="screen", **shapes):
    """The sheet and panel of a line per name, each through its numbers of events of 1,000 trials."""
    sheet = Sheet(width=width)
    panel = sheet.panel()
    for name, events in shapes.items():
        panel.series(name.replace("_", "-"), [(x, proportion(e, 1000)) for x, e in enumerate(events)])
    sheet.finish()
    return panel


SAME = ((100, 200, 300), (105, 195, 310), (95, 205, 290))
OTHERS = {name: (400 + 80 * i, 400, 40 * i) for i, name in enumerate("abcde")}


def test_lines_that_coincide_share_look_and_entry_where_colours_run_out():
    panel = eight_lines(**OTHERS, hypercube=SAME[0], moebius0=SAME[1], crossed=SAME[2])
    legend = [text.get_text() for text in panel.axes.figure.legends[0].get_texts()]
    assert "three that coincide:\nhypercube, moebius0, crossed" in legend and len(legend) == 5 + 1 + 1
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in artists(panel.axes, LINE)]
    assert len(set(looks)) == 6 == len(set(looks[:6])) and looks[5] == looks[6] == looks[7]
    few = eight_lines(hypercube=SAME[0], moebius0=SAME[1], crossed=SAME[2])
    assert len(few.axes.figure.legends[0].get_texts()) == 4  # colours suffice


def test_the_group_of_networks_names_its_degree():
    from fastcube.plot.grouping import group_lines

    panel = eight_lines(**OTHERS, hypercube=SAME[0], moebius0=SAME[1], crossed=SAME[2])
    for line in panel.drawn:
        line.points = [{"network": line.label, "n": 8}] * 3
    group_lines([panel])
    assert {line.entry for line in panel.drawn[5:]} == {
        "three of degree 8 that coincide:\nhypercube, moebius0, crossed"
    }


def test_lines_that_differ_in_one_panel_are_not_grouped():
    sheet = Sheet()
    for panel, last in zip(sheet.panels(2), (SAME[1], (900, 900, 900)), strict=True):
        for name, events in {**OTHERS, "f": SAME[0], "g": (0, 0, 9), "h": last}.items():
            panel.series(name, [(x, proportion(e, 1000)) for x, e in enumerate(events)])
    sheet.finish()
    assert not any(line.entry for panel in sheet._panels for line in panel.drawn)


def test_the_hypercube_is_on_top_then_the_first():
    panel = eight_lines(a=SAME[0], b=SAME[1], hypercube=SAME[2])
    first, second, hypercube = (line.get_zorder() for line in artists(panel.axes, LINE))
    assert hypercube > first > second > 3 - 1e-9


def test_points_stand_side_by_side_only_where_intervals_overlap():
    def places(*events):
        panel = eight_lines(**{name: (e,) for name, e in zip("abc", events, strict=True)})
        bars = artists(panel.axes, BAR)
        assert [bar.get_xdata().tolist() for bar in bars] == [[0, 0]] * 3  # the data stay true
        legend = [text.get_text() for text in panel.axes.figure.legends[0].get_texts()]
        return len({round(bar.get_transform().transform(bar.get_xydata())[0, 0]) for bar in bars}), legend

    assert places(300, 310, 900)[0] == 3 and "points side by side have one x" in places(300, 310, 900)[1]
    assert places(100, 500, 900) == (1, ["a", "b", "c", "95% interval"])


# ---------------------------------------------------------------- points, intervals, arrows


def test_logarithmic_where_data_span_decades():
    assert drawn([(1, proportion(5, 1000)), (2, proportion(900, 1000))]).get_yscale() == "log"
    assert drawn([(1, proportion(300, 1000)), (2, proportion(900, 1000))]).get_yscale() == "linear"
    assert drawn([(1, proportion(5, 1000)), (2, proportion(900, 1000))], "linear").get_yscale() == "linear"


NONE, FEW, MANY = proportion(0, 1000), proportion(5, 1000), proportion(900, 1000)


ALL = proportion(1000, 1000)


@pytest.mark.parametrize(
    ("estimates", "limits"),
    mark_others_slow(
        [
            ([NONE, FEW, MANY, NONE], [(1, NONE.high), (4, NONE.high)]),
            ([FEW, proportion(0, 4), MANY], [(2, proportion(0, 4).high)]),  # of four trials: 0.6
            ([MANY, FEW, Estimate(0.0, 0.0, 0.0, 0.0)], []),  # known to be 0
            ([FEW, MANY, ALL], []),  # within the marker
            ([FEW, MANY, proportion(3, 3)], [(3, proportion(3, 3).low)]),
            ([FEW, MANY], []),
        ],
        default=5,
    ),
)
def test_a_limit_is_drawn_where_it_is(estimates, limits):
    axes = drawn(list(enumerate(estimates, 1)), "log")
    marks = artists(axes, LIMIT)
    assert [(m.get_xdata()[0], m.get_ydata()[0]) for m in marks] == limits
    (line,) = artists(axes, LINE)
    low, high = axes.get_ylim()
    for mark, (x, y) in zip(marks, limits, strict=True):
        assert low < y < high and mark.get_color() == line.get_color() and np.isnan(line.get_ydata()[x - 1])
        tip = mark.get_marker().vertices[:, 1]
        assert (tip.min() < 0) == (estimates[x - 1].value == 0)  # down from an upper limit, up from a lower one
    legend = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert ("none seen: upper limit" in legend) == any(estimates[x - 1].value == 0 for x, _ in limits)


def test_the_axis_holds_limits_and_arrows():
    axes = drawn([(1, FEW), (2, proportion(0, 4)), (3, proportion(0, 10**6))], "log")
    frame = axes.get_window_extent()
    for mark in artists(axes, LIMIT):
        y = mark.get_transform().transform(mark.get_xydata())[0, 1]
        length = mark.get_markersize() / 2 / 72 * axes.figure.dpi
        assert frame.y0 <= y - length and y <= frame.y1


def test_a_row_of_limits_is_drawn_small():
    small, large = (
        {m.get_markersize() for m in artists(drawn([(0, FEW), *((x, NONE) for x in range(1, many))], "log"), LIMIT)}
        for many in (20, 3)
    )
    assert len(small) == len(large) == 1 and max(small) < min(large)


@pytest.mark.slow
def test_on_a_linear_scale_nothing_seen_is_a_point_at_0():
    axes = drawn([(1, MANY), (2, FEW), (3, NONE)], "linear")
    assert not artists(axes, LIMIT) and artists(axes, LINE)[0].get_ydata()[2] == 0
    assert -0.05 < axes.get_ylim()[0] <= 0
    nothing = drawn([(1, NONE), (2, NONE)], "log")  # of which a logarithm shows nothing
    assert nothing.get_yscale() == "linear" and nothing.get_ylim()[1] >= NONE.high
    assert [text.get_text() for text in nothing.texts] == ["none seen at any point\n95% limits below 0.0037"]


def test_marks_at_one_place_stand_side_by_side():
    sheet = Sheet(width=3.3)
    panel = sheet.panel()
    panel.scale = "log"
    for name in "abcd":
        panel.series(name, [(0, FEW), (1, NONE), (2, NONE), (2.03, NONE)])
    sheet.finish()
    marks = artists(panel.axes, LIMIT)
    places = [tuple(np.round(mark.get_transform().transform(mark.get_xydata())[0])) for mark in marks]
    assert len(places) == len(set(places)) == 4 + 1 + 1
    assert [mark.get_color() for mark in marks][4:] == [style.GREY] * 2  # no room: one for all
    sheet = Sheet()
    panel = sheet.panel()
    for name in "abc":
        panel.series(name, [(1, FEW)])
    sheet.finish()
    assert len({tuple(b.get_transform().transform(b.get_xydata())[0]) for b in artists(panel.axes, BAR)}) == 3


@pytest.mark.parametrize(("second", "scales"), [(MANY, {"log"}), (FEW, {"linear"})])
def test_panels_of_one_vertical_axis_share_scale_and_range(second, scales):
    sheet = Sheet()
    left, right, other = sheet.panels(3)
    left.series("what", [(1, FEW), (2, FEW)])
    right.series("what", [(1, second), (2, second)])
    other.series("what", [(1, MANY), (2, MANY)])
    for panel, y in ((left, "share"), (right, "share"), (other, "another")):
        panel.set_labels(y=y)
    sheet.finish()
    assert left.axes.get_ylim() == right.axes.get_ylim() != other.axes.get_ylim()
    assert {left.axes.get_yscale(), right.axes.get_yscale()} == scales


@pytest.mark.slow
def test_a_statement_far_from_the_data_does_not_stretch_the_axis():
    few, far = drawn_with(0.15, [(1, proportion(1, 10**6)), (2, proportion(200, 10**6))]), 0.15
    assert few.get_ylim()[1] < far / 10 and not artists(few, STATEMENT)
    assert "said: off the scale" in [text.get_text() for text in few.figure.legends[0].get_texts()]
    assert artists(drawn_with(0.15, [(1, FEW), (2, MANY)]), STATEMENT)
    nothing = drawn_with(0.15, [(1, NONE), (2, NONE)])
    assert nothing.get_ylim()[1] < 0.02 and not artists(nothing, STATEMENT)


@pytest.mark.parametrize(("places", "forms"), [(((1, 2), (3, 4)), [[1, 2], [3, 4]]), (((1, 2), (2, 3)), [[1, 2, 3]])])
def test_a_closed_form_joins_lines_only_where_it_is_one_of_x(places, forms):
    sheet = Sheet()
    panel = sheet.panel()
    for at in places:
        panel.series("what", [(x, MANY) for x in at])
        panel.drawn[-1].points = [{"n": x} for x in at]
    panel.reference(lambda point: 0.5, "one half")
    sheet.finish()
    assert [line.get_xdata().tolist() for line in artists(panel.axes, "reference")] == forms


def drawn_with(level, pairs):
    """The axes of a logarithmic figure of one line, with something stated."""
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = "log"
    panel.series("what", pairs)
    panel.drawn[0].points = [{"n": x} for x, _ in pairs]
    panel.add_statement(level, "said")
    sheet.finish()
    return panel.axes


# ---------------------------------------------------------------- widths


def letters(figure):
    """Sizes of all letters that a figure shows, in points."""
    from matplotlib.text import Text

    return [text.get_fontsize() for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


@pytest.mark.parametrize(
    ("width", "inches", "columns"),
    mark_others_slow([("3.3in", 3.3, 1), ("screen", 9.6, 2), ("7in", 7.0, 2), (3.3, 3.3, 1)]),
)
def test_a_width_lays_panels_out(width, inches, columns):
    sheet = Sheet(width=width)
    for i, panel in enumerate(sheet.panels(4)):
        panel.series("what", [(x, FEW) for x in range(5)])
        panel.add_statement(0.3, "said")
        panel.set_labels(x="number of faulty nodes", y="share of messages", title="A title of a panel" * (i + 1))
    sheet.title("All four " * 12)
    figure = sheet.finish()
    assert figure.get_size_inches()[0] == inches
    boxes = [axes.get_window_extent() for axes in figure.axes]
    assert len({round(box.x0) for box in boxes}) == columns and len({round(box.y0) for box in boxes}) == 4 // columns
    assert min(letters(figure)) >= style.SMALLEST
    wide = figure.get_window_extent().width
    for axes in figure.axes:
        title = axes.title.get_window_extent()
        assert title.x0 >= 0 and title.x1 <= wide
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0 and legend.x1 <= wide


def test_a_legend_is_as_wide_as_its_column():
    sheet = Sheet(width="3.3in")
    panel = sheet.panel()
    for name in ("multicasts", "one destination each", "multicasts, two virtual channels"):
        panel.series(name, [(x, FEW) for x in range(5)])
    figure = sheet.finish()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0 and legend.x1 <= figure.get_window_extent().width


@pytest.mark.slow
def test_a_panel_without_anything_goes():
    sheet = Sheet()
    first, _, third = sheet.panels(3)
    for panel in (first, third):
        panel.series("what", [(1, FEW), (2, MANY)])
    figure = sheet.finish()
    assert figure.axes == [first.axes, third.axes]
    assert first.axes.get_window_extent().y0 == pytest.approx(third.axes.get_window_extent().y0)  # in one row


@pytest.mark.slow
def test_the_last_panel_has_all_that_is_left_of_its_row():
    sheet = Sheet()
    panels = sheet.panels(2, count=3)
    for panel in panels:
        panel.series("what", [(1, FEW), (2, MANY)])
    first, second, last = (axes.get_window_extent() for axes in sheet.finish().axes)
    assert last.x0 == pytest.approx(first.x0, abs=1) and last.x1 == pytest.approx(second.x1, abs=1)


@pytest.mark.parametrize("width", ["3.3", "in", "2in", "21in", 0, True, None, "nanin", float("nan"), [3]])
def test_a_width_that_is_none_is_one_line(width):
    with pytest.raises(
        fc.ParameterError, match=r"^width must be screen, or 2\.5in to 20in \(3\.3in is a column\), got .+$"
    ):
        chosen().plot(width=width)


def test_a_width_is_not_of_ones_own_axes():
    from matplotlib.figure import Figure

    with pytest.raises(fc.ParameterError, match=r"^width is of a new figure: axes have their own$"):
        chosen().plot("some", axes=Figure().subplots(), width="7in")


def test_a_point_alone_has_a_bar_and_a_line_has_a_band():
    alone = drawn([(7, proportion(300, 1000))])
    assert len(artists(alone, BAR)) == 1 and not alone.collections
    assert alone.get_xticks().tolist() == [7]
    several = drawn([(i, proportion(300, 1000)) for i in range(5)])
    assert not artists(several, BAR) and len(several.collections) == 1
    gap = drawn([(1, proportion(300, 1000)), (2, UNDEFINED), (3, proportion(300, 1000)), (4, proportion(30, 1000))])
    assert len(artists(gap, BAR)) == 1  # the first point, whose neighbour is not known
    few = drawn([(1, proportion(300, 1000)), (2, proportion(200, 1000)), (3, proportion(1, 1000))])
    assert len(artists(few, BAR)) == 1  # a band down to a single event would be a block
    apart = drawn([(i, proportion(300, 1000)) for i in range(3)], joined=False)
    assert len(artists(apart, BAR)) == 3
    (legend,) = apart.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["what", "95% interval"] and not legend.get_patches()


def test_limits():
    assert axis_limits([0.2, 0.9], False, 0.04)[0] == 0
    assert axis_limits([0.95, 0.99], False, 0.04)[0] > 0.9
    assert axis_limits([-1.0, 2.0], False, 0.04)[0] < -1
    low, high = axis_limits([1e-3, 1e-3], True, 0.1)
    assert math.log10(high / low) >= 1
    assert axis_limits([], True, 0.1) == (0.1, 1.0)


def test_integer_axes_have_integer_ticks():
    assert drawn([(n, proportion(300, 1000)) for n in (5, 6, 8)]).get_xticks().tolist() == [5, 6, 8]
    uneven = drawn([(x, proportion(300, 1000)) for x in (2**-0.5, 3**-0.5, 5**-0.5)]).get_xticks()
    assert all(round(10 * t, 6) == round(10 * t) or round(100 * t, 6) % 5 == 0 for t in uneven)  # not 0.447214
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
        ("f faulty nodes and K links of Q_n", "$f$ faulty nodes and $K$ links of $Q_{n}$"),
        ("f / 2^(n/2), d(s, t)", "$f$ / $2^{n/2}$, $d$($s$, $t$)"),
        ("n + 3k within 8n hops", "$n$ + 3$k$ within 8$n$ hops"),
        ("Lemma 1's K-way N4, a node", "Lemma 1's K-way N4, a node"),
    ],
)
def test_mathtext(text, wanted):
    assert mathtext(text) == wanted


@pytest.mark.parametrize(
    "text", mark_others_slow(["costs $ and $", "$\\nonsense$", "$\\frac{$", "$x", "a $ b ^ { $", "\\$"], default=2)
)
def test_any_text_can_be_drawn(text):
    sheet = Sheet()
    panel = sheet.panel()
    panel.series(text, [(1, proportion(300, 1000))])
    panel.add_statement(0.5, text)
    panel.curve([1], [0.4], text)
    panel.set_labels(x=text, y=text, title=text)
    sheet.title(text)
    assert sheet.finish() is panel.axes.figure


def test_long_titles_are_broken_outside_mathematics_into_lines_of_a_length():
    text = "Trees $\\lambda + 1 = x$ of Q_n, and the smallest degree $\\delta$"
    assert wrap_mathtext(text, 100) == mathtext(text)
    assert wrap_mathtext(text, 33).splitlines() == [
        "Trees $\\lambda + 1 = x$ of $Q_{n}$,",
        "and the smallest degree $\\delta$",
    ]
    assert wrap_mathtext("a-word-of-more-letters-than-there-is-room-for another", 20).count("\n") == 1
    assert wrap_mathtext("", 20) == ""


@pytest.mark.slow
def test_axes_of_powers_are_logarithmic():
    powers = drawn([(4**i, proportion(300, 1000)) for i in range(6)])
    assert powers.get_xscale() == "log" and powers.get_xticks().tolist() == [4**i for i in range(6)]
    assert 0 < powers.get_xlim()[0] < 1
    assert drawn([(i, proportion(300, 1000)) for i in range(1, 200)]).get_xscale() == "linear"


def test_labels():
    assert value_text("n", 5) == "n = 5" and mathtext("n = 5, r = 0.25 of b = 3") == "$n = 5$, $r = 0.25$ of $b = 3$"
    assert value_text("rate", 0.25) == "rate = 0.25"
    assert axis_text("n", "dimension") == "n, dimension" and mathtext("q, rate") == "$q$, rate"
    assert axis_text("rate", "node failure rate") == "node failure rate"


# ---------------------------------------------------------------- figures of studies


@pytest.fixture(scope="module")
def fractions():
    return fc.run("unsafe-fraction", n=range(5, 13), trials=20000)


def told_of_statements(axes):
    """What the legend says of the paper."""
    return [text.get_text() for text in axes.figure.legends[0].get_texts() if text.get_text().startswith("paper")]


@pytest.mark.kernels
def test_figure_8(fractions):
    (axes,) = fractions.plot().axes
    assert len(artists(axes, LINE)) == 7
    assert not artists(axes, LIMIT)  # f = 1 has no unsafe node, which needs no trials: no upper limit
    assert axes.get_yscale() == "log" and "$Q_{n}$" in axes.get_title()
    (stated,) = artists(axes, STATEMENT)
    assert stated.get_xdata().tolist() == list(range(5, 13)) and set(stated.get_ydata()) == {0.15}
    assert len(told_of_statements(axes)) == 1
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels[:2] == ["$f = 2$", "$f = 3$"] and "95% interval" in labels  # f = 1 is not on the scale


@pytest.mark.kernels
def test_the_statement_is_drawn_only_where_it_applies():
    (axes,) = fc.run("unsafe-fraction", n=8, trials=2000).plot().axes
    assert [line.get_xdata().tolist() for line in artists(axes, STATEMENT)] == [[1, 2, 3, 4]]  # one n: against f
    (axes,) = fc.run("unsafe-fraction", n=4, trials=2000).plot().axes
    assert not artists(axes, STATEMENT)


@pytest.mark.kernels
def test_figure_of_one_point_and_of_large_cubes():
    (axes,) = fc.run("unsafe-fraction", n=8, f=3, trials=2000).plot().axes
    assert len(artists(axes, BAR)) == 1 and len(told_of_statements(axes)) == 1
    (axes,) = fc.run("unsafe-fraction", n=range(20, 31), trials=10).plot().axes
    assert not artists(axes, LIMIT) and axes.get_yscale() == "linear"  # nothing was seen at all


@pytest.mark.kernels
def test_an_axis_that_goes_with_x_makes_no_lines_of_its_own(fractions):
    panel = Panel(None)
    panel.lines(fractions, "rounds", x="n", at=lambda point: point["f"] == point["n"] - 4)  # one f for each n
    assert len(panel.drawn) == 1 and len(panel.drawn[0].x) == 7


def test_saturated_shares_are_not_a_window_of_intervals():
    assert drawn([(x, proportion(100, 100)) for x in range(5)]).get_ylim()[0] <= 0


@pytest.mark.slow
def test_differences_of_which_nothing_is_seen_are_not_a_window_of_intervals():
    low, high = drawn([(x, Estimate(0.0, 0.0, -1e-4, 1e-4)) for x in range(5)]).get_ylim()
    assert low < -2e-4 and high > 2e-4
    low, high = drawn([(x, Estimate(float(x), 0.0, x - 1.0, x + 1.0)) for x in range(5)]).get_ylim()
    assert low > -1.5 and high < 5.5


@pytest.mark.slow
def test_a_line_of_many_points_is_no_row_of_markers():
    for many, every in ((40, 1), (257, 7)):
        (line,) = artists(drawn([(x, MANY) for x in range(many)]), LINE)
        assert line.get_markevery() == every


def test_numbers_between_powers_of_ten_have_the_size_of_the_others():
    axes = drawn([(1, proportion(200, 1000)), (2, proportion(500, 1000))], "log")
    assert (
        len({tick.label1.get_fontsize() for tick in axes.yaxis.get_major_ticks() + axes.yaxis.get_minor_ticks()}) == 1
    )


def test_what_is_known_to_be_zero_has_no_place_on_a_logarithm():
    none = Estimate(0.0, 0.0, 0.0, 0.0)
    axes = drawn([(1, none), (2, proportion(1, 10**5)), (3, proportion(10**4, 10**5))])
    assert axes.get_yscale() == "log" and 0 < axes.get_ylim()[0] < 1e-5
    assert drawn([(1, none), (2, none)], scale="log").get_yscale() == "linear"


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("study", "point", "labels"),
    [
        ("two-partition", {"n": [5, 6], "f": [2, 4, 6, 8]}, 0),
        pytest.param("dualcube-routing", {"m": [5, 6], "rate": [0.1, 0.2, 0.3]}, 2, marks=pytest.mark.slow),
    ],
)
def test_figures_of_two_panels_share_looks_and_a_legend(study, point, labels):
    figure = fc.run(study, trials=200, **point).plot()
    left, right = figure.axes
    colours = [[line.get_color() for line in artists(axes, LINE)] for axes in (left, right)]
    assert colours[0] == colours[1] and len(set(colours[0])) == 2
    assert len(figure.legends) == 1 and len(told_of_statements(left)) == labels
    assert len(artists(right, "reference")) == labels


@pytest.mark.kernels
def test_on_the_callers_axes(fractions):
    from matplotlib.figure import Figure

    mine = Figure()
    top, bottom = mine.subplots(2)
    assert fractions.plot(axes=bottom) is mine
    assert artists(bottom, LINE) and not top.lines and bottom.get_legend() is None
    with pytest.raises(fc.ParameterError, match="axes must be 1 for this figure, got 2"):
        fractions.plot(axes=[top, bottom])


@pytest.mark.kernels
def test_a_study_without_a_figure(fractions):
    from dataclasses import replace

    plain = replace(fractions, study=replace(fractions.study, figure=None))
    axes = plain.plot().axes  # a panel a statistic
    assert len(axes) == 4 and all(len(artists(a, LINE)) == 7 and a.get_title() for a in axes)


@pytest.mark.kernels
def test_results_without_trials(fractions):
    from dataclasses import replace

    figure = replace(fractions, tallies={}).plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["no trials"]


def test_distributions():
    from fastcube.measure.statistics import Distribution
    from fastcube.plot import default_figure

    results = distribution_results()
    figure = results.plot()
    assert len(figure.axes) == 2
    numbers, shares = figure.axes
    assert len(artists(numbers, LINE)) == 1 and len(artists(shares, LINE)) == 3
    assert shares.get_ylabel() == "share of trials" and isinstance(results.study.statistics[1], Distribution)
    assert shares.get_xticks().tolist() == [0, 1, 2, 3, 4, 5] and default_figure is not None
    assert not artists(shares, LIMIT)  # no trial with value 3 at a = 3, but beyond
    assert shares.get_title() == "values"  # every axis that varies is in the legend


@pytest.mark.slow
def test_a_distribution_says_which_values_are_held():
    from dataclasses import replace

    from fastcube.measure.study import Axis

    one = distribution_results()
    study = replace(one.study, axes=(*one.study.axes, Axis("b", "another", int, 0, 9)))
    tallies = {(a, b): tally for (a,), tally in one.tallies.items() for b in (4, 7)}
    _, shares = replace(one, study=study, tallies=tallies).plot().axes
    assert shares.get_title() == "values at $b = 7$"


@pytest.mark.kernels
def test_all_axes_that_vary_tell_lines_apart(fractions):
    panel = Panel(None)
    panel.lines(fractions, "rounds", x="n", at=lambda point: point["n"] < 7)
    assert [line.label for line in panel.drawn] == [f"f = {f}" for f in range(1, 8)]
    panel = Panel(None)
    panel.compare(fractions, {"mean": "unsafe_fraction", "whole": "all_unsafe"}, x="n", at={"f": 3})
    assert [line.label for line in panel.drawn] == ["mean", "whole"]
    assert all(len(line.x) == 8 for line in panel.drawn)


# ---------------------------------------------------------------- statistics of a user's choice


def chosen():
    """Results with an axis of names, made by hand: events are 10 a + 100 times the name's place, wins twice as many."""
    from fastcube.kernels.tally.layout import Counter, Layout
    from fastcube.measure.statistics import Proportion
    from fastcube.measure.study import Axis, Choice, Explanation, Grid, Study
    from fastcube.measure.tally import Tally
    from fastcube.results.results import Results

    axes = (
        Axis("a", "a label", int, 0, 9),
        Choice("rule", "the rule", ("zeta", "alpha", "mid")),
        Axis("b", "", int, 0, 9),
    )
    study = Study(
        name="chosen",
        title="By hand",
        source="",
        revision=1,
        axes=axes,
        tally=Layout(Counter("some", "some"), Counter("wins", "wins")),
        statistics=tuple(
            Proportion(name=name, description=f"share of {name}", events=name) for name in ("some", "wins")
        ),
        kernel=lambda point: None,
        grids=(Grid("default", [{"a": 1, "rule": "mid", "b": 0}], 100),),
        explain=lambda point, key, trial: Explanation("", {}),
    )
    tallies = {
        (a, rule, b): Tally(((0, 1000),), {"some": (e := 10 * a + 100 * place + b), "wins": 2 * e}, {})
        for a in (1, 2, 3)
        for place, rule in enumerate(("zeta", "alpha", "mid"))
        for b in (0, 5)
    }
    return Results(study, 0, tallies)


def told(axes):
    """Label and points of each line."""
    entries = [
        text.get_text() for legend in (axes.get_legend(), *axes.figure.legends) if legend for text in legend.texts
    ]
    return entries, [list(zip(*line.get_data(), strict=True)) for line in artists(axes, LINE)]


def test_the_callers_axes_get_lines_with_labels_and_nothing_else():
    from matplotlib.figure import Figure

    mine = Figure().subplots()
    mine.set(title="mine", xlim=(0, 200), ylim=(0, 5), xlabel="mine", xticks=[0, 100])
    before = {name: getattr(mine, f"get_{name}")() for name in ("title", "xlim", "ylim", "xlabel", "ylabel", "yscale")}
    assert chosen().sel(b=0).plot("wins", "some", x="a", by="rule", axes=mine) is mine.figure
    assert {name: getattr(mine, f"get_{name}")() for name in before} == before
    assert mine.get_legend() is None and mine.get_xticks().tolist() == [0, 100]
    labels, lines = (
        mine.get_legend_handles_labels()[1],
        [list(zip(*line.get_data(), strict=True)) for line in mine.lines[:6]],
    )
    names = [f"chosen {name}, {rule}, $b = 0$" for name in ("wins", "some") for rule in ("zeta", "alpha", "mid")]
    assert labels == names
    assert lines == [[(a, k * (10 * a + 100 * place) / 1000) for a in (1, 2, 3)] for k in (2, 1) for place in range(3)]
    assert len(mine.collections) == 6  # their intervals
    chosen().sel(b=5, rule="mid").plot("some", axes=mine, title="asked for", legend=True)
    assert mine.get_title() == "asked for" and mine.get_xlim() == before["xlim"]
    assert [text.get_text() for text in mine.get_legend().get_texts()] == [*names, "chosen some, mid, $b = 5$"]


def test_the_callers_axes_follow_the_data_and_tell_results_apart():
    from matplotlib.figure import Figure

    mine = Figure().subplots()
    chosen().sel(b=0, rule="mid", a=2).plot("some", axes=mine)
    chosen().sel(b=5, rule="mid", a=[1, 3]).plot("some", x="a", axes=mine)
    first, second = artists(mine, LINE)
    assert first.get_color() != second.get_color() and first.get_marker() != second.get_marker()
    (left, right), (low, high) = mine.get_xlim(), mine.get_ylim()
    for x, y in (*first.get_xydata(), *second.get_xydata()):
        assert left <= x <= right and low <= y <= high


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"title": 3}, "title must be text, True, or none for no title, got 3"),
        ({"panels": 1.5}, "panels must be numbers from 1, got 1.5"),
        ({"panels": [0]}, "panels must be numbers from 1, got [0]"),
        ({"panels": [2]}, "panels must be in [1, 1] for this figure, got 2"),
        ({"style": ["dark"]}, "style must be one of screen, dark, paper, got ['dark']"),
        ({"legend": "no"}, "legend must be True or False, got 'no'"),
        ({"height": True}, "height must be 1.5in to 40in, got True"),
    ],
)
def test_a_layout_that_is_none_is_one_line(how, message):
    with pytest.raises(fc.ParameterError) as error:
        chosen().plot("some", **how)
    assert str(error.value) == message


def test_several_results_share_one_pair_of_axes():
    from fastcube.plot import draw_figure

    one, other = chosen().sel(b=0, rule="mid"), chosen().sel(b=5, rule="mid")
    labels, lines = told(draw_figure([one, other], statistics=["some"]).axes[0])
    assert labels[:2] == ["$b = 0$", "$b = 5$"] and [len(line) for line in lines] == [3, 3]


def caption(figure):
    return figure.legends[0].get_title().get_text()


def test_a_caption_says_what_all_points_share_and_their_trials():
    one = chosen().sel(rule="mid")
    assert caption(one.sel(b=5).plot(title="mine")) == "rule: mid, $b = 5$, 1,000 trials per point"
    assert caption(one.sel(b=5).plot("some")) == "rule: mid, $b = 5$, 1,000 trials per point"
    assert caption(one.plot("some", x="a", by="b")) == "rule: mid, 1,000 trials per point"
    assert caption(one.plot("some", title="none")) == ""


def test_titles_leave_out_faults_that_no_point_has():
    for facts, title in (
        ({"links": ""}, "Under f faulty nodes"),
        ({"f": ""}, "Under K faulty links"),
        ({"links": "links = 3"}, "Under f faulty nodes and K faulty links"),
    ):
        sheet = Sheet(facts={**facts, "trials": "10 trials per point"})
        panel = sheet.panel()
        panel.series("what", [(1, FEW), (2, MANY)])
        panel.set_labels(title="Under f faulty nodes and K faulty links")
        sheet.title("Under f faulty nodes and K faulty links")
        figure = sheet.finish()
        assert figure.get_suptitle().replace("$", "") == panel.axes.get_title().replace("$", "") == title
        assert caption(figure).replace("\xa0", " ") == ", ".join(
            filter(None, [facts.get("links"), "10 trials per point"])
        )


def test_points_that_a_statement_does_not_speak_of_are_hollow():
    sheet = Sheet()
    panel = sheet.panel()
    for f in (1, 2):
        panel.series(f"f = {f}", [(n, MANY) for n in (3, 4, 5)])
        panel.drawn[-1].points = [{"n": n, "f": f} for n in (3, 4, 5)]
    panel.add_statement(0.95, "said", where=lambda point: 2 * point["f"] <= point["n"] and point["n"] < 5)
    sheet.finish()
    assert [line.get_xdata().tolist() for line in artists(panel.axes, STATEMENT)] == [[3, 4]]
    assert [(h.get_xdata().tolist(), h.get_markerfacecolor()) for h in artists(panel.axes, "beyond")] == [
        ([3], panel.axes.get_facecolor())
    ]


def test_a_line_that_is_known_to_be_0_is_named():
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = "log"
    panel.series("f = 1", [(x, Estimate(0.0, 0.0, 0.0, 0.0)) for x in (1, 2)])
    panel.series("f = 2", [(1, FEW), (2, MANY)])
    figure = sheet.finish()
    assert "$f = 1$: 0 at every point" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_powers_of_two_have_ticks_first():
    ticks = drawn([(x, FEW) for x in (1, 2, 4, 6, 7, 8, 16, 32, 64)]).get_xticks().tolist()
    assert {1, 2, 4, 8, 16, 32, 64} <= set(ticks)


def test_a_scale_that_cannot_be_used_is_refused():
    none = chosen().sel(b=0, rule="zeta")
    for tally in none.tallies.values():
        tally.counts.update(some=0, wins=0)
    with pytest.raises(fc.ParameterError, match=r"^log needs an estimate above 0, and every one here is 0"):
        none.plot("some", log=True)


def test_a_column_is_no_higher_than_a_journal_allows():
    from fastcube.plot import draw_figure

    with pytest.warns(UserWarning, match="a column has no room for panels 3,4 of this figure"):
        figure = draw_figure(many_statistics(), width="3.3in")
    assert figure.get_size_inches().tolist() == [3.3, 4.5] and len(figure.axes) == 2
    assert [axes.get_title()[:4] for axes in figure.axes] == ["(a) ", "(b) "]
    assert len(draw_figure(many_statistics(), width="3.3in", panels=[3]).axes) == 1
    tall = draw_figure(many_statistics(), width="3.3in", height=9)
    assert tall.get_size_inches().tolist() == [3.3, 9.0] and len(tall.axes) == 4


def test_a_title_of_ones_own():
    assert chosen().plot("some", title="none").get_suptitle() == ""
    figure = chosen().plot("some", title="mine")
    assert figure.get_suptitle() == "mine" and figure.axes[0].get_title() == ""


def test_a_dark_ground_and_fonts_that_publishers_take(tmp_path):
    figure = chosen().plot("some", style="dark", path=tmp_path / "f.pdf")
    assert figure.get_facecolor()[:3] == figure.axes[0].get_facecolor()[:3] != (1.0, 1.0, 1.0)
    written = (tmp_path / "f.pdf").read_bytes()
    assert b"/Type3" not in written and b"/Subtype /Type0" in written


def many_statistics():
    """Results of four statistics, by hand."""
    from dataclasses import replace

    results = chosen()
    study = results.study
    statistics = [replace(study.statistics[i % 2], name=f"s{i}", description=f"share {i}") for i in range(4)]
    return replace(results, study=replace(study, statistics=tuple(statistics), figure=None))


@pytest.mark.slow
def test_an_axis_that_is_neither_is_in_the_label_and_one_statistic_on_the_ordinate():
    axes = chosen().plot("some", x="a", by="b").axes[0]
    labels, lines = told(axes)
    assert labels[:3] == ["$b = 0$, zeta", "$b = 0$, alpha", "$b = 0$, mid"]
    assert len(lines) == 6
    assert axes.get_ylabel() == "share of some"
    one = chosen().sel(rule="mid", b=5).plot("some").axes[0]
    assert told(one) == (["some", "95% interval"], [[(a, (10 * a + 205) / 1000) for a in (1, 2, 3)]])


def test_names_along_x_stand_in_their_order():
    axes = chosen().sel(b=0).plot("some", x="rule", by="a", log=True).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["zeta", "alpha", "mid"]
    _, lines = told(axes)
    assert lines[0] == [(place, (10 + 100 * place) / 1000) for place in range(3)]
    assert axes.get_yscale() == "log"
    assert {line.get_linestyle() for line in artists(axes, LINE)} == {"None"}


@pytest.mark.parametrize(
    ("statistics", "how", "message"),
    [
        (["sone"], {}, "sone is not a statistic of chosen; did you mean some?"),
        (["some"], {"x": "rules"}, "rules is not an axis of chosen, which has a, rule, b; did you mean rule?"),
        (["some"], {"by": "c"}, "c is not an axis of chosen, which has a, rule, b"),
        (["some"], {"x": "a", "by": "a"}, "by must be another axis than x, got a"),
        (["some"], {"log": 3}, "log must be True or False, got 3"),
        ([7], {}, "7 is not a statistic of chosen, which has some, wins"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(statistics, how, message):
    with pytest.raises(fc.ParameterError) as error:
        chosen().plot(*statistics, **how)
    assert str(error.value) == message


def test_a_distribution_is_no_line():
    with pytest.raises(
        fc.ParameterError, match="statistic must be one of one number, got the distribution values: the study"
    ):
        distribution_results().plot("values")


def test_plot_of_the_command_line_takes_statistics(tmp_path, monkeypatch, capsys):
    from fastcube.cli import main

    monkeypatch.chdir(tmp_path)
    chosen().save("r.h5")
    with pytest.raises(SystemExit) as left:
        main(["plot", "r.h5", "--stat", "some,wins", "--x", "a", "--by", "rule", "--log", "--where", "b=0"])
    assert left.value.code == 0
    assert capsys.readouterr().err == "figure in r.png\n"
    assert (tmp_path / "r.png").stat().st_size > 10_000
