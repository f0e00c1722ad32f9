"""Labels of axes and lines that the user gives, and what a logarithmic scale cannot show."""

import pytest
from helpers.figures import FEW, MANY, chosen

import fastcube as fc
from fastcube.measure.estimate import Estimate
from fastcube.plot.sheet import Sheet


def legend_texts(figure):
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def test_axes_and_lines_have_the_requested_labels():
    results = chosen().sel(rule="mid")
    own = legend_texts(results.plot("some", x="a", by="b"))
    lines = [text for text in own if "interval" not in text]
    given = [f"line {chr(65 + i)}" for i in range(len(lines))]
    figure = results.plot("some", x="a", by="b", xlabel="load", ylabel="loss", legend=given)
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("load", "loss")
    assert legend_texts(figure) == [*given, *(text for text in own if "interval" in text)]


def test_labels_that_do_not_fit_the_figure_are_one_line():
    results = chosen().sel(rule="mid")
    with pytest.raises(fc.ParameterError, match=r"^legend must have \d+ labels, for .*, got 1$"):
        results.plot("some", x="a", by="b", legend=["one"])
    with pytest.raises(fc.ParameterError, match=r"^legend must be labels of the lines, got \[1\]$"):
        results.plot("some", legend=[1])


def test_labels_of_axes_need_one_panel():
    sheet = Sheet(ylabel="loss")
    for panel in sheet.panels(2):
        panel.series("what", [(1, FEW), (2, MANY)])
    with pytest.raises(fc.ParameterError, match=r"^ylabel needs a figure with one panel, got 2: choose one panel$"):
        sheet.finish()


@pytest.mark.parametrize(
    ("zeros", "text"),
    [((0,), "exactly 0 at f = 0"), ((0, 3), "exactly 0 at f = 0, 3"), (range(5), "exactly 0 at f from 0 to 4")],
)
def test_exact_zeros_on_a_logarithmic_scale_are_named(zeros, text):
    none = Estimate(0.0, 0.0, 0.0, 0.0)
    values = {x: none if x in zeros else FEW for x in range(8)}
    sheet = Sheet()
    panel = sheet.panel()
    panel.series("what", values.items())
    panel.scale = "log"
    panel.set_labels(x="f, faulty nodes")
    assert text in [label.replace("$", "") for label in legend_texts(sheet.finish())]


def test_failures_are_one_minus_the_values():
    results = chosen().sel(rule="mid")
    sheet = Sheet()
    plain, failures = sheet.panels(2)
    plain.lines(results, "some", x="a", by="b")
    failures.lines(results, "some", x="a", by="b", failures=True)
    pairs = [
        (one, other)
        for line, complement in zip(plain.measured_lines, failures.measured_lines, strict=True)
        for one, other in zip(line.estimates, complement.estimates, strict=True)
    ]
    assert pairs and all(other == one.complement for one, other in pairs)
