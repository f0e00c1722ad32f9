"""SVG of figures for pages: short, whole, the same every time, and readable on a dark page."""

import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from fastcube.plot.svg import adaptive_svg, dark_svg, figure_svg

TEXT = "$Q_{10}$, number of faulty nodes"


@pytest.fixture
def figure():
    made = Figure(figsize=(3, 2))
    axes = made.add_subplot()
    axes.plot([1, 2, 3], [0.1, 0.01, 0.001], "o--", color="#5a53c8")
    axes.fill_between([1, 2, 3], [0.05, 0.005, 0.0005], [0.2, 0.02, 0.002], alpha=0.2)
    axes.set(yscale="log", xlabel=TEXT, title="a < b & c")
    axes.grid()
    return made


@pytest.mark.parametrize("outlines", [False, True])
def test_every_name_and_class_is_used_and_there(figure, outlines):
    svg = figure_svg(figure, outlines=outlines)
    elements = [*ElementTree.fromstring(svg).iter()]
    names = [name for element in elements if (name := element.get("id"))]
    assert len(set(names)) == len(names)
    assert {*names} == {*re.findall(r"(?:url\(|href=.)#(\w+)", svg)}
    rules = re.findall(r"\.(\w+)\{", svg)
    assert len(set(rules)) == len(rules)
    assert {*rules} == {element.get("class") for element in elements} - {None}
    assert not re.search("style=|xlink|metadata", svg)


@pytest.mark.parametrize("outlines", [False, True])
def test_the_same_figure_gives_the_same_text(figure, outlines):
    assert figure_svg(figure, outlines=outlines) == figure_svg(figure, outlines=outlines)


def test_letters_stay_and_those_of_mathematics_have_a_place_each(figure):
    elements = ElementTree.fromstring(figure_svg(figure, outlines=False)).iter()
    texts = [(element.text, element.get("x").split()) for element in elements if element.get("x") and element.text]
    assert {len(places) - len(text) for text, places in texts if len(places) > 1} == {0}
    shown = {"".join(text.split()) for text, _ in texts}  # matplotlib before 3.10 has places for spaces too
    assert {"a<b&c", "Q", "10", ",numberoffaultynodes"} <= shown


def test_marks_are_where_matplotlib_put_them(figure):
    axes = figure.axes[0]
    svg = figure_svg(figure)
    height = figure.get_figheight() * 72
    for x, y in axes.transData.transform([(1, 0.1), (2, 0.01), (3, 0.001)]) * 72 / figure.dpi:
        shown = [(float(a), height - float(b)) for a, b in re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"', svg)]
        assert min(abs(a - x) + abs(b - y) for a, b in shown) < 0.11


def test_a_dark_page_has_no_black(figure):
    light = figure_svg(figure)
    dark, both = dark_svg(light), adaptive_svg(light)
    assert "#000" in light
    assert "#000" not in dark
    assert "svg{fill:#ddd}" in dark
    # light rules first, then those that change
    rules, changed = re.search(r"<style>(.*?)@media \(prefers-color-scheme:dark\)\{(.*)\}</style>", both).groups()
    assert rules in light
    assert "#000" not in changed
    assert "#5a53c8" not in changed
