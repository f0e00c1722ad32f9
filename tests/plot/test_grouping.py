"""Lines that coincide share an entry of the legend; the order of lines, and points that are drawn side by side."""

import math
from dataclasses import replace

from helpers.figures import BAR, FEW, LINE, MANY, artists

from fastcube.measure.estimate import Estimate, proportion
from fastcube.plot.grouping import _is_coinciding
from fastcube.plot.lines import Line
from fastcube.plot.sheet import Sheet


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


def test_few_lines_share_an_entry_only_where_one_hides_another():
    def legend(**shapes):
        panel = eight_lines(**shapes)
        return [text.get_text() for text in panel.axes.figure.legends[0].get_texts()]

    assert (
        len(legend(hypercube=SAME[0], moebius0=SAME[1], crossed=SAME[2])) == 4
    )  # different, although within their intervals
    entry = "two that coincide:\nhypercube, moebius0"
    assert legend(hypercube=SAME[0], moebius0=(101, 199, 301), crossed=SAME[2]) == [entry, "crossed", "95% interval"]
    distinct = legend(a=(100, 1, 300), b=(100, 2, 300), c=(900, 0, 0))  # on a logarithmic axis
    assert not any("coincide" in entry for entry in distinct)


def test_lines_hide_one_another_on_the_scale_that_is_drawn():
    def entries(label):
        sheet = Sheet()
        above, below = sheet.panels(2)
        for panel, shapes in (
            (above, {"a": (120, 5000, 9000), "b": (160, 5000, 9000)}),
            (below, {"c": (1, 500, 9000)}),
        ):
            panel.set_labels(y=label)
            for name, events in shapes.items():
                panel.series(name, [(x, proportion(e, 10_000)) for x, e in enumerate(events)])
        sheet.finish()
        return [panel.axes.get_yscale() for panel in (above, below)], [
            line.entry is None for line in above.measured_lines
        ]

    assert entries("") == (["linear", "log"], [False, False])
    assert entries("fraction") == (["log", "log"], [True, True])  # the scale of the other panel shows the difference


def test_few_lines_of_different_panels_keep_their_entries():
    sheet = Sheet()
    left, right = sheet.panels(2)
    for panel, names in ((left, "ab"), (right, "b")):
        for name in names:
            panel.series(name, [(x, proportion(e, 1000)) for x, e in enumerate(SAME[0])])
    sheet.finish()
    assert not any(line.entry for panel in (left, right) for line in panel.measured_lines)


def test_the_group_of_networks_names_its_degree():
    from fastcube.plot.grouping import group_lines

    panel = eight_lines(**OTHERS, hypercube=SAME[0], moebius0=SAME[1], crossed=SAME[2])
    for line in panel.measured_lines:
        line.points = [{"network": line.label, "n": 8}] * 3
    group_lines([panel], [panel])
    assert {line.entry for line in panel.measured_lines[5:]} == {
        "three of degree 8 that coincide:\nhypercube, moebius0, crossed"
    }


def test_statistics_of_one_network_are_not_of_a_degree():
    from fastcube.plot.grouping import group_lines

    panel = eight_lines(**OTHERS, x=SAME[0], y=SAME[1], z=SAME[2])
    for line in panel.measured_lines:
        line.points = [{"network": "augmented", "n": 8}] * 3
    group_lines([panel], [panel])
    assert panel.measured_lines[-1].entry == "three that coincide:\nx, y, z"


def test_lines_that_differ_in_one_panel_are_not_grouped():
    sheet = Sheet()
    for panel, last in zip(sheet.panels(2), (SAME[1], (900, 900, 900)), strict=True):
        for name, events in {**OTHERS, "f": SAME[0], "g": (0, 0, 9), "h": last}.items():
            panel.series(name, [(x, proportion(e, 1000)) for x, e in enumerate(events)])
    sheet.finish()
    assert not any(line.entry for panel in sheet._panels for line in panel.measured_lines)


def test_a_line_looks_the_same_where_its_panel_stands_alone():
    def looks(numbers):
        sheet = Sheet(numbers=numbers)
        for panel, names in zip(sheet.panels(2), ("abcdefgh", "hgb"), strict=True):
            for i, name in enumerate(names):
                panel.series(name, [(x, proportion(ord(name) + 50 * i + x, 1000)) for x in range(3)])
        sheet.finish()
        return [{line.label: line.look for line in panel.measured_lines} for panel in sheet._panels]

    both = looks(())
    assert [looks((1,)), looks((2,))] == [both[:1], both[1:]]
    assert len({look["color"] for look in both[1].values()}) == 3


def test_an_entry_names_only_lines_that_are_shown():
    def entries(numbers):
        sheet = Sheet(numbers=numbers)
        for panel, names in zip(sheet.panels(2), ("fg", "g"), strict=True):
            for name, events in {**OTHERS, **dict.fromkeys(names, SAME[0])}.items():
                panel.series(name, [(x, proportion(e, 1000)) for x, e in enumerate(events)])
            for name in "ij":
                panel.series(name, [(x, proportion(ord(name), 1000)) for x in range(3)])
        sheet.finish()
        return {line.entry for panel in sheet._panels for line in panel.measured_lines if line.label in names}

    assert entries((1,)) == {"two that coincide:\nf, g"}
    assert entries((2,)) == {None}


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


def test_equal_values_without_intervals_coincide():
    same = Estimate(0.0, 0.0, math.nan, math.nan)
    one, other = (Line(name, [1, 2], [same] * 2, [None] * 2, {}) for name in "ab")
    assert _is_coinciding(one, other, False)
    assert not _is_coinciding(one, replace(other, estimates=[same, replace(same, value=1.0)]), False)


def test_lines_come_first_in_a_legend_of_several_panels():
    sheet = Sheet()
    above, below = sheet.panels(rows=2)
    above.series("first", [(1, FEW), (2, MANY)])
    above.curve([1, 2], [0.1, 0.2], "a form")
    below.series("second", [(1, FEW), (2, MANY)], like=1)
    figure = sheet.finish()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["first", "second", "95% interval", "a form"]


def test_points_whose_neighbours_are_limits_stand_side_by_side():
    sheet = Sheet()
    panel = sheet.panel()
    panel.scale = "log"
    for name, events in (("a", 5), ("b", 6)):
        panel.series(name, [(1, proportion(0, 10**6)), (2, proportion(events, 1000))])
    sheet.finish()
    assert [line.shift for line in panel.measured_lines] == [-2.5, 2.5]


def test_a_limit_does_not_coincide_with_a_point_on_a_logarithmic_scale():
    """No event in some trials, and one event in as many, have overlapping intervals, but a bar and a marker look different."""
    none, one = proportion(0, 10**5), proportion(1, 10**5)
    assert none.high > one.low
    for log, coincide in ((False, True), (True, False)):
        lines = [Line(name, [1, 2], [e, proportion(9, 10**5)], [None] * 2, {}) for name, e in (("a", none), ("b", one))]
        assert _is_coinciding(*lines, log) == coincide
