"""The sheets of figures: what a program sees to be wrong with one."""

import importlib.util
from pathlib import Path

import pytest
from helpers.binned import distribution_results
from matplotlib.figure import Figure

SPEC = importlib.util.spec_from_file_location("sheets", Path(__file__).parents[2] / "docs" / "sheets.py")
sheets = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sheets)


def planted(what):
    """A figure with one fault, and without any where ``what`` is nothing."""
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot([1, 2, 3], [1, 2, 3], gid="line", label="a line")
    if what == "letters":
        axes.set_title("small", fontsize=5)
    elif what == "out":
        figure.text(0.99, 0.5, "too long for its place").set_in_layout(False)
    elif what == "over":
        for text in ("one", "other"):
            axes.text(2, 1, text)
    elif what == "legend":
        axes.legend()
    elif what == "cut":
        axes.set_ylim(0, 2.5)
    elif what == "limit":
        axes.plot([2], [-1], gid="limit")
        axes.set_ylim(0, 4)
    elif what == "row":
        figure = Figure(figsize=(9, 3), layout="constrained")
        figure.subplots(1, 3)
    figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("letters", "letters of 5.0 points"),
        ("out", "reaches out of the figure"),
        ("over", "are over one another"),
        ("legend", "stands on a panel"),
        ("cut", "1 points or limits are cut off"),
        ("limit", "1 points or limits are cut off"),
        ("row", "3 panels are more in a row"),
        ("nothing", None),
    ],
)
def test_each_fault_is_seen(what, message):
    found = list(sheets.find_figure_faults(planted(what)))
    assert len(found) == (message is not None) and (message is None or message in found[0]), found


@pytest.mark.slow
def test_a_sheet_shows_five_forms(tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setattr(sheets, "load_results", lambda name: distribution_results())
    assert sheets.main(str(tmp_path), "binned") == 0
    with Image.open(tmp_path / "binned.png") as image:
        assert image.width > 1000
