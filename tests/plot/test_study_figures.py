"""Figures of studies, distributions, and the plain figure of a study without its own."""

import gzip
from pathlib import Path

import pytest
from helpers.binned import distribution_results
from helpers.compiled import mark_others_slow
from helpers.figures import BAR, LIMIT, LINE, STATEMENT, artists

import fastcube as fc
from fastcube.measure.tally import Tally
from fastcube.plot.panel import Panel
from fastcube.results.results import Results
from fastcube.studies.lee_hayes.printed_limit import is_stated
from fastcube.studies.leu_kuo.gathering_figures import list_fault_kinds


@pytest.fixture(scope="module")
def fractions():
    return fc.run("unsafe-fraction", n=range(5, 13), trials=20000)


KEPT = Path(__file__).parents[2] / "docs" / "results"


def statement_entries(axes):
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
    assert len(statement_entries(axes)) == 1
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels[:2] == ["$f = 2$", "$f = 3$"] and "95% interval" in labels  # f = 1 is not on the scale


@pytest.mark.kernels
def test_the_statement_is_drawn_only_where_it_applies():
    (axes,) = fc.run("unsafe-fraction", n=8, trials=2000).plot().axes
    assert [line.get_xdata().tolist() for line in artists(axes, STATEMENT)] == [[1, 2, 3, 4]]  # one n: against f
    (axes,) = fc.run("unsafe-fraction", n=4, trials=2000).plot().axes
    assert not artists(axes, STATEMENT)


def test_the_printed_limit_is_stated_for_faulty_nodes_alone():
    stated = {"n": 5, "f": 2}, {"n": 5, "f": 2, "links": 0}, {"n": 7, "f": 3}
    others = {"n": 4, "f": 2}, {"n": 5, "f": 3}, {"n": 5, "f": 0}, {"n": 5, "f": 2, "links": 1}
    assert [is_stated(point) for point in (*stated, *others)] == [True] * len(stated) + [False] * len(others)


@pytest.mark.kernels
@pytest.mark.parametrize(("links", "statements"), [([0, 1], 1), ([1], 0)])
def test_detours_have_the_printed_limit_where_no_link_is_faulty(links, statements):
    delays, _ = fc.run("routing", n=[5, 6], f=2, links=links, k=1, trials=2000).plot().axes
    assert len(artists(delays, LINE)) == len(links)
    assert len(artists(delays, STATEMENT)) == statements


@pytest.mark.kernels
def test_figure_of_one_point_and_of_large_cubes():
    (axes,) = fc.run("unsafe-fraction", n=8, f=3, trials=2000).plot().axes
    assert len(artists(axes, BAR)) == 1 and len(statement_entries(axes)) == 1
    (axes,) = fc.run("unsafe-fraction", n=range(20, 31), trials=10).plot().axes
    assert not artists(axes, LIMIT) and axes.get_yscale() == "linear"  # nothing was seen at all


@pytest.mark.kernels
def test_an_axis_that_goes_with_x_makes_no_lines_of_its_own(fractions):
    panel = Panel(None)
    panel.lines(fractions, "rounds", x="n", at=lambda point: point["f"] == point["n"] - 4)  # one f for each n
    assert len(panel.measured_lines) == 1 and len(panel.measured_lines[0].x) == 7


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
    assert len(figure.legends) == 1 and len(statement_entries(left)) == labels
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


#: Studies whose figures compare curves, one of each kind; the figures of the others take 30 s together.
COMPARED = ("gather", "multicast-deadlock", "optimal-tree", "safety-status")


@pytest.mark.parametrize(
    "name", mark_others_slow(sorted(fc.study_names(), key=lambda n: n not in COMPARED), len(COMPARED))
)
def test_every_figure_on_the_callers_axes(name, tmp_path):
    from matplotlib.figure import Figure

    (tmp_path / "kept.h5").write_bytes(gzip.decompress((KEPT / f"{name}.h5.gz").read_bytes()))
    results = fc.open_results(tmp_path / "kept.h5")
    assert results.study.name == name
    with pytest.raises(fc.ParameterError, match="for this figure, got 9") as refused:
        results.plot(axes=[*Figure().subplots(9)])
    mine = Figure()
    given = [*mine.subplots(int(str(refused.value).split()[3]), squeeze=False).flat]
    assert results.plot(axes=given) is mine
    drawn = [artists(axes, LINE) for axes in given]
    assert results.plot(axes=given) is mine  # a second time, as other results would be
    for axes, before in zip(given, drawn, strict=True):
        added = [line for line in artists(axes, LINE) if line not in before]
        looks = {tuple(str(line.get_color()) + str(line.get_marker()) for line in lines) for lines in (before, added)}
        assert len(added) == len(before) and (not before or len(looks) == 2)


@pytest.mark.kernels
def test_a_study_without_a_figure(fractions):
    from dataclasses import replace

    plain = replace(fractions, study=replace(fractions.study, figure=None))
    axes = plain.plot().axes  # one panel per statistic
    assert len(axes) == 4 and all(len(artists(a, LINE)) == 7 and a.get_title() for a in axes)


@pytest.mark.kernels
def test_results_without_trials(fractions):
    from dataclasses import replace

    figure = replace(fractions, tallies={}).plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["no trials"]


def test_distributions():
    from fastcube.measure.binned import Distribution
    from fastcube.plot import default_figure

    results = distribution_results()
    figure = results.plot()
    assert len(figure.axes) == 2
    numbers, bars = figure.axes
    assert len(artists(numbers, LINE)) == 1 and len(artists(bars, LINE)) == 3
    assert bars.get_ylabel() == "fraction of trials" and isinstance(results.study.statistics[1], Distribution)
    assert bars.get_xticks().tolist() == [0, 1, 2, 3, 4, 5] and default_figure is not None
    assert not artists(bars, LIMIT)  # no trial with value 3 at a = 3, but beyond
    assert bars.get_title() == "values"  # every axis that varies is in the legend


@pytest.mark.slow
def test_a_distribution_says_which_values_are_held():
    from dataclasses import replace

    from fastcube.measure.study import Axis

    one = distribution_results()
    study = replace(one.study, axes=(*one.study.axes, Axis("b", "another", int, 0, 9)))
    tallies = {(a, b): tally for (a,), tally in one.tallies.items() for b in (4, 7)}
    _, bars = replace(one, study=study, tallies=tallies).plot().axes
    assert bars.get_title() == "values at $b = 7$"


@pytest.mark.parametrize("name", fc.study_names())
def test_figures_allow_for_points_without_trials(name):
    """A run that was interrupted at once leaves such a file."""
    study = fc.study(name)
    empty = Tally.from_slots(study.tally, 0, 0, study.tally.new_tally())
    for grid in {grid.figure: grid for grid in study.grids}.values():
        keys = [tuple(study.point(point).values()) for point in grid.points]
        axes = Results(study, 0, dict.fromkeys(keys, empty), grid=grid.name).plot().axes
        assert axes and not any(artists(one, BAR) for one in axes)


@pytest.mark.parametrize(
    ("points", "kinds"),
    [
        ([(8, 0), (8, 4), (2, 1)], {"faulty links": [0], "K faulty links and K/2 faulty nodes": [1, 2]}),
        ([(8, 0), (8, 4), (2, 2)], {"faulty links": [0], "faulty links and nodes": [1, 2]}),
        ([(0, 4), (0, 2)], {"faulty nodes": [0, 1]}),
        ([(0, 4), (8, 0), (0, 0)], {"faulty links": [1, 2], "faulty nodes": [0]}),
        ([(8, 4), (0, 4)], {"K faulty links and K/2 faulty nodes": [0], "faulty nodes": [1]}),
        ([(0, 0), (0, 4)], {"faulty nodes": [0, 1]}),
        ([], {"faulty nodes": []}),
    ],
)
def test_each_point_has_one_kind_of_faults_whose_title_states_a_common_ratio(points, kinds):
    points = [{"n": 4, "links": links, "f": f} for links, f in points]
    assert list_fault_kinds(points) == {kind: [points[i] for i in own] for kind, own in kinds.items()}


@pytest.mark.kernels
def test_all_axes_that_vary_tell_lines_apart(fractions):
    panel = Panel(None)
    panel.lines(fractions, "rounds", x="n", at=lambda point: point["n"] < 7)
    assert [line.label for line in panel.measured_lines] == [f"f = {f}" for f in range(1, 8)]
    panel = Panel(None)
    panel.compare(fractions, {"mean": "unsafe_fraction", "whole": "all_unsafe"}, x="n", at={"f": 3})
    assert [line.label for line in panel.measured_lines] == ["mean", "whole"]
    assert all(len(line.x) == 8 for line in panel.measured_lines)
