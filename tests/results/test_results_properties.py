"""Properties of printed estimates and of columns of counters, on generated inputs that hypothesis shrinks."""

import math

import numpy as np
import pytest
from helpers.printed_estimates import check_printed
from helpers.properties import given, settings
from helpers.properties import strategies as st

from fastcube.errors import TrialOverlapError
from fastcube.kernels.tally.layout import Counter, Layout, Maximum
from fastcube.measure.estimate import Estimate, proportion
from fastcube.measure.tally import Tally, fuse_ranges
from fastcube.results.columns import Columns, find_overlaps, merge_touching_ranges, range_order
from fastcube.results.rounding import estimate_text, estimate_texts

#: What is measured lies in there; a half-width below 1e-12 of the estimate belongs to no interval.
SIZES = st.integers(-15, 8)


@st.composite
def estimates(draw):
    """A number with its limits, each of any size, or without limits."""
    value = draw(st.sampled_from([-1, 1])) * draw(st.floats(1, 10, exclude_max=True)) * 10.0 ** draw(SIZES)
    sides = [abs(value) * draw(st.floats(1, 10)) * 10.0 ** draw(st.integers(-11, 3)) for _ in range(2)]
    low, high = (side * draw(st.booleans()) for side in sides)
    if draw(st.booleans()):
        return Estimate(value, 0.0, value - low, value + high)
    return Estimate(value, 0.0, math.nan, math.nan)


@given(estimates())
def test_a_printed_estimate_says_what_is_known(estimate):
    check_printed(estimate, estimate_text(estimate))


@given(st.lists(st.integers(1, 10**12).flatmap(lambda t: st.tuples(st.integers(0, t), st.just(t))), max_size=8))
def test_printed_proportions_say_what_is_known(counts):
    some = [proportion(events, trials) for events, trials in counts]
    for estimate, text in zip(some, estimate_texts(some), strict=True):
        check_printed(estimate, text)


LAYOUT = Layout(
    Counter("plain", "in 64 bits"),
    Counter("wide", "beyond 64 bits", 4),
    Counter("bins", "three", bins=3),
    Maximum("top", "largest"),
)
SMALL, LARGE = st.integers(-(2**63), 2**63 - 1), st.integers(-(2**200), 2**200)


@st.composite
def parts(draw):
    """Tallies of some of three points, of files whose trials are disjoint."""
    out = []
    for i in range(draw(st.integers(1, 4))):
        keys = draw(st.lists(st.sampled_from([(2, "b"), (1, "b"), (1, "a")]), unique=True))
        tallies = {}
        for key in keys:
            counts = {"plain": draw(SMALL), "wide": draw(LARGE), "bins": tuple(draw(SMALL) for _ in range(3))}
            ranges = fuse_ranges(
                [(100 * i + first, 100 * i + first + 5) for first in draw(st.sets(st.sampled_from(range(0, 90, 5))))]
            )
            tallies[key] = Tally(ranges, counts, {"top": (draw(st.integers(-9, 9)), draw(st.integers(0, 99)))})
        out.append(tallies)
    return out


@settings(max_examples=30)
@given(parts())
def test_columns_keep_and_add_what_tallies_hold(some):
    columns = [Columns.of(LAYOUT, tallies) for tallies in some]
    assert [one.tallies() for one in columns] == some
    for key, tally in Columns.total(columns).tallies().items():
        whole = Tally.total([tallies[key] for tallies in some if key in tallies])
        assert (tally.counts, tally.maxima) == (whole.counts, whole.maxima)


RANGES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(1, 12)).map(lambda r: (r[0], r[1], r[1] + r[2])),
    max_size=9,
)


@given(RANGES)
def test_ranges_in_columns_merge_as_those_of_points_do(ranges):
    rows = np.array(ranges, np.int64).reshape(-1, 3)
    rows = rows[range_order(rows)]
    of_points = {point: [(first, stop) for p, first, stop in ranges if p == point] for point in range(3)}
    if len(find_overlaps(rows)):
        with pytest.raises(TrialOverlapError):
            [fuse_ranges(some) for some in of_points.values()]
        return
    expected = [(point, *r) for point, some in of_points.items() for r in fuse_ranges(some)]
    assert [tuple(row) for row in merge_touching_ranges(rows).tolist()] == expected
