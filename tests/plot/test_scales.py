"""Scales, ranges and ticks of axes, and that panels which are read together share them."""

import math

import pytest
from helpers.figures import FEW, MANY, drawn

from fastcube.measure.estimate import Estimate, proportion
from fastcube.plot.placing import axis_limits
from fastcube.plot.sheet import Sheet


def test_logarithmic_where_data_span_decades():
    assert drawn([(1, proportion(5, 1000)), (2, proportion(900, 1000))]).get_yscale() == "log"
    assert drawn([(1, proportion(300, 1000)), (2, proportion(900, 1000))]).get_yscale() == "linear"
    assert drawn([(1, proportion(5, 1000)), (2, proportion(900, 1000))], "linear").get_yscale() == "linear"


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


@pytest.mark.slow
def test_axes_of_powers_are_logarithmic():
    powers = drawn([(4**i, proportion(300, 1000)) for i in range(6)])
    assert powers.get_xscale() == "log" and powers.get_xticks().tolist() == [4**i for i in range(6)]
    assert 0 < powers.get_xlim()[0] < 1
    assert drawn([(i, proportion(300, 1000)) for i in range(1, 200)]).get_xscale() == "linear"


def test_saturated_shares_are_not_a_window_of_intervals():
    assert drawn([(x, proportion(100, 100)) for x in range(5)]).get_ylim()[0] <= 0


@pytest.mark.slow
def test_differences_of_which_nothing_is_seen_are_not_a_window_of_intervals():
    low, high = drawn([(x, Estimate(0.0, 0.0, -1e-4, 1e-4)) for x in range(5)]).get_ylim()
    assert low < -2e-4 and high > 2e-4
    low, high = drawn([(x, Estimate(float(x), 0.0, x - 1.0, x + 1.0)) for x in range(5)]).get_ylim()
    assert low > -1.5 and high < 5.5


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


def test_powers_of_two_have_ticks_first():
    ticks = drawn([(x, FEW) for x in (1, 2, 4, 6, 7, 8, 16, 32, 64)]).get_xticks().tolist()
    assert {1, 2, 4, 8, 16, 32, 64} <= set(ticks)


def test_a_given_limit_leaves_room_for_markers_at_the_other_end():
    sheet = Sheet()
    panel = sheet.panel()
    panel.series("what", [(1, proportion(980, 1000)), (2, proportion(1000, 1000))])
    panel.limits(bottom=0)
    sheet.finish()
    assert panel.axes.get_ylim()[0] == 0 and panel.axes.get_ylim()[1] >= 1.04


@pytest.mark.slow
@pytest.mark.parametrize(("values", "scale"), [((1, 3, 5), "log"), ((0, 3, 5), "linear")])
def test_a_logarithmic_axis_of_a_study_drops_no_point(values, scale):
    sheet = Sheet()
    (panel,) = sheet.panels(1)
    panel.series("what", [(x, proportion(300, 1000)) for x in values])
    panel.axes.set_xscale("log")
    sheet.finish()
    low, high = panel.axes.get_xlim()
    assert panel.axes.get_xscale() == scale and low < values[0] and values[-1] < high
