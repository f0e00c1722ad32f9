"""Properties of grid syntax, ranges of trials and recorded measures, on generated inputs that hypothesis shrinks."""

import itertools
import json
from decimal import Decimal

import pytest
from helpers.properties import given
from helpers.properties import strategies as st

from fastcube.cli.options import parse_axes
from fastcube.errors import ParameterError, TrialOverlapError
from fastcube.kernels.tally.layout import Counter, Layout, Maximum
from fastcube.measure.binned import Distribution
from fastcube.measure.grid import MOST_POINTS, collect_values, parse_values
from fastcube.measure.schema import describe_measure, numbers_of, parse_measure
from fastcube.measure.statistics import Mean, Proportion
from fastcube.measure.study import Axis, Choice, Measure
from fastcube.measure.tally import count_trials, fuse_ranges, missing_trials

WHOLE = Axis("n", "a whole number", int, -1000, 1000)
REAL = Axis("p", "a real number", float, -(10.0**6), 10.0**6)
WHOLE_VALUES = st.integers(-1000, 1000)
REAL_VALUES = st.floats(-(10.0**6), 10.0**6)
DECIMALS = st.decimals(-1000, 1000, places=3)


@given(WHOLE_VALUES, WHOLE_VALUES, st.integers(1, 300))
def test_a_range_of_integers_is_that_of_python_with_its_end(low, high, step):
    text = f"{low}:{high}:{step}"
    if low <= high:
        assert parse_values(WHOLE, text) == list(range(low, high + 1, step))
    else:
        with pytest.raises(ParameterError):
            parse_values(WHOLE, text)


@given(DECIMALS, st.integers(0, 200), st.decimals("0.001", 5, places=3))
def test_a_range_of_decimals_holds_each_value_as_it_is_written(low, steps, step):
    found = parse_values(REAL, f"{low}:{low + steps * step}:{step}")
    assert found == [float(low + i * step) + 0.0 for i in range(steps + 1)]


@given(st.lists(REAL_VALUES, min_size=1, max_size=20))
def test_values_mean_the_same_as_text_and_as_python(values):
    assert collect_values(REAL, values) == collect_values(REAL, ",".join(map(repr, values)))


@given(st.text(st.sampled_from("0123456789:,.-+eE_ \u0661nNaIif\n\x1b")))
def test_any_text_gives_values_of_the_axis_or_one_line(text):
    for axis in (WHOLE, REAL):
        try:
            found = parse_values(axis, text)
        except ParameterError as error:
            assert str(error).isprintable()
        else:
            assert 0 < len(found) <= MOST_POINTS * (text.count(",") + 1)
            assert all(type(value) is axis.kind and axis.low <= value <= axis.high for value in found)
            assert len(set(found)) == len(found)


@given(st.lists(st.tuples(st.sampled_from("nfp"), WHOLE_VALUES), max_size=12))
def test_several_values_of_an_axis_join(given_values):
    found = parse_axes(tuple(f"{axis}={value}" for axis, value in given_values))
    for axis in "nfp":
        values = [value for name, value in given_values if name == axis]
        assert found.get(axis) == (",".join(map(str, values)) if values else None)


def trials_of(ranges):
    return [trial for first, stop in ranges for trial in range(first, stop)]


RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8)


@given(RANGES, st.integers(0, 40), st.integers(0, 40))
def test_ranges_are_the_sets_of_their_trials(ranges, first, stop):
    trials = trials_of(ranges)
    if len(set(trials)) < len(trials):
        with pytest.raises(TrialOverlapError):
            fuse_ranges(ranges)
        return
    fused = fuse_ranges(ranges)
    assert trials_of(fused) == sorted(trials) and count_trials(fused) == len(trials)
    assert all(end < begin for (_, end), (begin, _) in itertools.pairwise(fused))
    missing = missing_trials(fused, first, stop)
    assert trials_of(missing) == sorted(set(range(first, stop)) - set(trials))
    assert fuse_ranges(missing) == missing


NAMES = st.permutations("abcdefgh").map(lambda names: list(names[:7]))
LINES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=30)


@st.composite
def measures(draw):
    """A measure with two axes, counters of all kinds, and a statistic of each, and some of its points."""
    names, line = draw(NAMES), draw(LINES)
    events, total, squares, bins, top, *more = names
    layout = Layout(
        Counter(events, line),
        Counter(total, line, draw(st.integers(1, 3))),
        Counter(squares, line, 4),
        Counter(bins, line, bins=draw(st.integers(1, 5))),
        Maximum(top, line),
        *(Counter(name, line) for name in more),
    )
    scale, bound = draw(st.floats(0.001, 1000)), draw(st.floats(0, 1000))
    statistics = (
        Proportion(
            name=f"{events}_share", description=line, events=events, condition=draw(st.sampled_from([None, *more]))
        ),
        Mean(
            name=f"{total}_mean",
            description=line,
            total=total,
            squares=squares,
            nonzero=events,
            units="m",
            scale=lambda point: scale,
            bound=lambda point: bound,
            defined=lambda point: point["n"] > 0,
        ),
        Distribution(name=f"{bins}_distribution", description=line, counter=bins, label=line),
    )
    low, size = draw(WHOLE_VALUES), draw(st.integers(0, 9))
    choices = draw(st.lists(st.sampled_from(["first", "second", "third"]), min_size=1, unique=True))
    axes = (Axis("n", line, int, low, low + size), Choice("kind", line, tuple(choices)))
    keys = [(low + i, choices[i % len(choices)]) for i in range(size + 1)]
    measure = Measure(
        name="study",
        title=line,
        source=line,
        revision=draw(st.integers(1, 99)),
        axes=axes,
        tally=layout,
        statistics=statistics,
        code={"file.py": line},
    )
    return measure, keys


@given(measures())
def test_a_measure_is_read_as_it_was_recorded(drawn):
    measure, keys = drawn
    data, table = describe_measure(measure, keys), numbers_of(measure, keys)
    head = {name: getattr(measure, name) for name in ("name", "title", "source", "revision", "code")}
    back = parse_measure(head, json.loads(json.dumps(data)), table)
    assert describe_measure(back, keys) == data and numbers_of(back, keys) == table
    assert (back.tally, back.axes) == (measure.tally, measure.axes)


@given(DECIMALS)
def test_text_of_a_number_is_the_number(value):
    assert parse_values(REAL, f" {value} ") == [float(Decimal(value)) + 0.0]
