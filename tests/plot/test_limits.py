"""Points, intervals and limits of a panel, statements of papers and closed forms: where they are drawn."""

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.figures import BAR, FEW, LIMIT, LINE, MANY, NONE, STATEMENT, artists, drawn

from fastcube.measure.estimate import UNDEFINED, Estimate, proportion
from fastcube.plot import style
from fastcube.plot.sheet import Sheet

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


@pytest.mark.parametrize("layout", [{}, {"width": "3.3in", "height": "3.2in"}], ids=["screen", "low panels"])
def test_the_axis_holds_limits_and_arrows(layout):
    sheet = Sheet(**layout)
    for panel in sheet.panels(rows=2):
        panel.scale = "log"
        panel.series("what", [(1, FEW), (2, proportion(0, 4)), (3, proportion(0, 10**6))])
    sheet.finish()
    for axes in sheet.figure.axes:
        frame = axes.get_window_extent()
        marks = artists(axes, LIMIT)
        for mark in marks:
            y = mark.get_transform().transform(mark.get_xydata())[0, 1]
            length = mark.get_markersize() / 2 / 72 * axes.figure.dpi
            assert frame.y0 <= y - length and y <= frame.y1
        assert len(marks) == 2


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
    for name, events in zip("abcd", (3, 30, 100, 300), strict=True):
        panel.series(name, [(0, proportion(events, 1000)), (1, NONE), (2, NONE), (2.03, NONE)])
    sheet.finish()
    marks = artists(panel.axes, LIMIT)
    places = [tuple(np.round(mark.get_transform().transform(mark.get_xydata())[0])) for mark in marks]
    assert len(places) == len(set(places)) == 4 + 1 + 1
    assert [mark.get_color() for mark in marks][4:] == [style.GREY] * 2  # no room: one for all
    own = artists(panel.axes, "limit of a line")
    assert [(m.get_color(), m.get_marker()) for m in own] == [
        (m.look["color"], m.look["marker"]) for m in panel.measured_lines
    ]
    legend = [text.get_text() for text in panel.axes.figure.legends[0].get_texts()]
    assert {"grey limit: of several lines", "points side by side have one x"} <= {*legend}
    sheet = Sheet()
    panel = sheet.panel()
    for name in "abc":
        panel.series(name, [(1, FEW)])
    sheet.finish()
    assert len({tuple(b.get_transform().transform(b.get_xydata())[0]) for b in artists(panel.axes, BAR)}) == 3


def test_lines_that_coincide_share_the_mark_of_a_limit():
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = "log"
    for name in "ab":
        panel.series(name, [(0, FEW), (1, NONE), (2, MANY)])
    sheet.finish()
    assert len(artists(panel.axes, LIMIT)) == 1


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
        panel.measured_lines[-1].points = [{"n": x} for x in at]
    panel.reference(lambda point: 0.5, "one half")
    sheet.finish()
    assert [line.get_xdata().tolist() for line in artists(panel.axes, "reference")] == forms


def drawn_with(level, pairs):
    """The axes of a logarithmic figure of one line, with something stated."""
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = "log"
    panel.series("what", pairs)
    panel.measured_lines[0].points = [{"n": x} for x, _ in pairs]
    panel.add_statement(level, "said")
    sheet.finish()
    return panel.axes


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
    separate = drawn([(i, proportion(300, 1000)) for i in range(3)], joined=False)
    assert len(artists(separate, BAR)) == 3
    (legend,) = separate.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["what", "95% interval"] and not legend.get_patches()


def test_points_that_a_statement_does_not_speak_of_are_hollow():
    sheet = Sheet()
    panel = sheet.panel()
    for f in (1, 2):
        panel.series(f"f = {f}", [(n, MANY) for n in (3, 4, 5)])
        panel.measured_lines[-1].points = [{"n": n, "f": f} for n in (3, 4, 5)]
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
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "$f = 1$: 0 at every point" in texts
    assert not any("exactly 0" in text for text in texts)  # said once


@pytest.mark.slow
def test_a_line_of_many_points_is_no_row_of_markers():
    for many, every in ((40, 1), (257, 7)):
        (line,) = artists(drawn([(x, MANY) for x in range(many)]), LINE)
        assert line.get_markevery() == every
    comb = drawn([(x, proportion(1, 1000 + x)) for x in range(257)], "log")  # intervals down to nearly 0: no bands
    assert len(artists(comb, BAR)) == 37


def test_closed_forms_of_several_lines_have_their_markers():
    sheet = Sheet()
    panel = sheet.panel()
    for f in (1, 2):
        panel.series(f"f = {f}", [(n, proportion(300 * f, 1000)) for n in (3, 4)])
        panel.measured_lines[-1].points = [{"n": n, "f": f} for n in (3, 4)]
    panel.reference(lambda point: point["f"] / 4, "a form")
    sheet.finish()
    forms = artists(panel.axes, "reference")
    assert [form.get_marker() for form in forms] == [line.get_marker() for line in artists(panel.axes, LINE)]
    assert len({form.get_marker() for form in forms}) == 2 and {form.get_linestyle() for form in forms} == {":"}


def test_levels_at_a_single_x_differ_by_their_dashes():
    sheet = Sheet()
    panel = sheet.panel()
    panel.series("what", [(1, MANY)])
    panel.measured_lines[0].points = [{"n": 1}]
    for level in (0.2, 0.4, 0.6):
        panel.add_statement(level, f"said {level}")
    sheet.finish()
    bars = [line.get_marker().vertices for line in artists(panel.axes, STATEMENT)]
    assert [len(bar) // 2 for bar in bars] == [1, 3, 5]


def test_intervals_of_nothing_seen_are_a_band_on_a_linear_scale():
    axes = drawn([(x, NONE) for x in range(50)] + [(50, MANY)], "linear")
    assert not artists(axes, BAR) and len(axes.collections) == 1
