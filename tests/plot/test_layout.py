"""The sheet of a figure: width, height, style, panels, titles, captions and legends."""

import re

import pytest
from helpers.compiled import mark_others_slow
from helpers.figures import FEW, MANY, caption, chosen

import fastcube as fc
from fastcube.plot import style
from fastcube.plot.sheet import Sheet


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


def test_a_caption_says_what_all_points_share_and_their_trials():
    one = chosen().sel(rule="mid")
    assert caption(one.sel(b=5).plot(title="mine")) == "the rule: mid, $b = 5$, 1,000 trials per point"
    assert caption(one.sel(b=5).plot("some")) == "the rule: mid, $b = 5$, 1,000 trials per point"
    assert caption(one.plot("some", x="a", by="b")) == "the rule: mid, 1,000 trials per point"
    assert caption(one.plot("some", title="none")) == caption(one.plot("some"))


def test_a_caption_says_what_the_letters_of_the_legend_mean():
    one = chosen().sel(b=0).plot("some", x="rule", by="a")
    assert caption(one) == "a: a label; $b = 0$, 1,000 trials per point"


def test_a_caption_is_about_the_points_that_are_plotted():
    sheet = Sheet(results=[chosen()])
    panel = sheet.panel()
    panel.lines(chosen(), "some", x="a", by="rule", at={"b": 5})
    assert caption(sheet.finish()) == "$b = 5$, 1,000 trials per point"


def test_titles_name_no_kind_of_faults_that_points_may_lack():
    """Not "K faulty links" where K = 0: the caption has the numbers of faults."""
    studies = [fc.study(name) for name in fc.study_names()]
    mixed = [study.title for study in studies if {"f", "links"} <= {axis.name for axis in study.axes}]
    assert len(mixed) > 4 and not any(re.search("[fK] (random )?faulty", title) for title in mixed)


def many_statistics():
    """Results of four statistics, by hand."""
    from dataclasses import replace

    results = chosen()
    study = results.study
    statistics = [replace(study.statistics[i % 2], name=f"s{i}", description=f"share {i}") for i in range(4)]
    return replace(results, study=replace(study, statistics=tuple(statistics), figure=None))


def test_a_column_is_no_higher_than_a_journal_allows():
    from fastcube.plot import draw_figure

    with pytest.warns(UserWarning, match="panels without space in a figure of this width: 3,4;"):
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
