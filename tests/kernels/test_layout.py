"""The tally by name: slots, what is read back from them, and every slip at the join that must be refused."""

from __future__ import annotations

import importlib
from fractions import Fraction

import numba
import numpy as np
import pytest
from toy import TOY

import fastcube as fc
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.tally import maxima, sums
from fastcube.kernels.tally.layout import Counter, Layout, Maximum, Moments
from fastcube.measure.estimate import proportion
from fastcube.measure.statistics import CensoredMean, ClassMean, Number, Statistic
from fastcube.measure.tally import Tally

LAYOUT = Layout(
    Counter("hits", "trials that hit"),
    Counter("total", "a sum", digits=2),
    Counter("values", "trials with each value", bins=4),
    Maximum("largest", "largest value"),
)


#: How kernels read the parameters of a point, and the studies whose axes these are.
POINTS = {
    "trees.dead_links.TreePoint": ("find-tree", "optimal-tree", "gather", "rerouting"),
    "survival.scalar.SurvivalPoint": ("survival", "survival-rate", "survival-components"),
    "dualcube.scalar.RoutingPoint": ("dualcube-routing",),
    "spanning.scalar.BroadcastPoint": ("edst-broadcast",),
    "spanning.scalar.TreesPoint": ("edge-disjoint-trees",),
    "multicasting.scalar.MulticastPoint": ("multicast",),
    "wormhole.scalar.DeadlockPoint": ("multicast-deadlock",),
    "wormhole.scalar.WormholePoint": ("multicast-wormhole",),
}

#: Fields for a number, or a rate, of faults.
FIELD_OF_AXIS = {"survival": {"f": "faults"}, "survival-rate": {"rate": "faults", "link_rate": "links"}}
FIELD_OF_AXIS["survival-components"] = FIELD_OF_AXIS["survival"]


@pytest.mark.parametrize(("name", "study"), [(name, study) for name, studies in POINTS.items() for study in studies])
def test_the_fields_of_a_point_are_the_axes_of_its_study(name, study):
    module, _, kind = name.rpartition(".")
    fields = getattr(importlib.import_module(f"fastcube.kernels.{module}"), kind)._fields
    assert fields == tuple(FIELD_OF_AXIS.get(study, {}).get(axis.name, axis.name) for axis in fc.study(study).axes)


def test_slots_follow_the_declaration():
    assert (LAYOUT.counter("hits"), LAYOUT.counter("total"), LAYOUT.counter("values")) == (0, 1, 3)
    assert (LAYOUT.maximum("largest"), LAYOUT.size) == (7, 9)
    assert isinstance(LAYOUT.counter("hits"), np.int64)
    assert LAYOUT.new_tally().tolist() == [0] * 7 + [-1, -1]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: LAYOUT.counter("hit"),
            "hit is not a counter of the layout, which has hits, total, values; did you mean hits?",
        ),
        (lambda: LAYOUT.maximum("smallest"), "smallest is not a maximum of the layout, which has largest"),
    ],
)
def test_a_name_that_is_not_there_is_an_error(ask, message):
    with pytest.raises(fc.ParameterError) as error:
        ask()
    assert message in str(error.value)


def test_a_name_that_stands_twice_is_an_error():
    with pytest.raises(ValueError, match="hits stands twice"):
        Layout(Counter("hits", ""), Counter("hits", ""))


def test_reading_back():
    slots = LAYOUT.new_tally()
    slots[:] = [3, 2**32 + 5, 2, 1, 0, 4, 2, 9, 17]
    counts, maxima = LAYOUT.read(slots)
    assert counts == {"hits": 3, "total": 2**32 + 5 + 2 * 2**32, "values": (1, 0, 4, 2)}
    assert maxima == {"largest": (9, 17)}


def test_moments_are_counters_that_a_kernel_enters_at_once():
    layout = Layout(
        Moments("small", "a quantity", squared="small_small", nonzero="some"),
        Counter("between", ""),
        *(Moments(f"wide_{k}", "another", digits=2, square_digits=k) for k in (3, 4)),
    )
    slots = layout.new_tally()
    for x in (0, -3, 5):
        sums.add_quantity(slots, layout.moments("small"), np.int64(x))
    sums.add_quantity(slots, layout.moments("wide_3"), np.int64(2**32 - 1))
    sums.add_quantity(slots, layout.moments("wide_4"), np.int64(2**40 + 1))
    counts, _ = layout.read(slots)
    assert counts == {
        "small": 2,
        "small_small": 34,
        "some": 2,
        "between": 0,
        "wide_3": 2**32 - 1,
        "wide_3_squared": (2**32 - 1) ** 2,
        "wide_4": 2**40 + 1,
        "wide_4_squared": (2**40 + 1) ** 2,
    }


def test_a_family_is_found_by_its_variants_wherever_they_stand():
    layout = Layout(Counter("of_b", ""), Counter("else", "", digits=3), Counter("of_a", ""))
    assert layout.family("of_{}", "ab").tolist() == [4, 0]
    with pytest.raises(fc.ParameterError, match="of_c is not a counter"):
        layout.family("of_{}", "abc")
    with pytest.raises(fc.ParameterError, match="of_a is not a quantity of the layout, which has none"):
        layout.moments("of_a")


def test_layouts_whose_tallies_add_are_equal():
    assert Layout(Counter("a", "x"), Counter("b", "")) == Layout(Counter("b", "y"), Counter("a", ""))
    assert Layout(Counter("a", "")) != Layout(Counter("a", "", digits=2))


def test_tallies_with_bins_add():
    a = Tally.from_slots(LAYOUT, 0, 2, [1, 0, 0, 1, 1, 0, 0, 1, 1])
    b = Tally.from_slots(LAYOUT, 2, 4, [0, 7, 0, 0, 1, 0, 1, 3, 2])
    assert (a + b).counts == {"hits": 1, "total": 7, "values": (1, 2, 0, 1)}
    assert (Tally.empty(LAYOUT) + a) == a


def test_offers_keep_the_smallest_trial_among_equals():
    slots = LAYOUT.new_tally()
    at = LAYOUT.maximum("largest")
    for value, trial in ((2, 9), (5, 8), (5, 7), (3, 1), (5, 12)):
        maxima.offer(slots, at, np.int64(value), np.int64(trial))
    assert slots[at:].tolist() == [5, 7]


@kernel("void(int64[::1], int64)")
def misplaced(tally, slot):
    tally[slot] += 1


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NumPy refuses the write itself")
@pytest.mark.parametrize("slot", [-1 - LAYOUT.size, LAYOUT.size, LAYOUT.size + 20])
def test_a_kernel_that_writes_outside_its_tally_is_caught(guards, slot):
    misplaced(LAYOUT.new_tally(), slot)
    with pytest.raises(AssertionError, match="a kernel wrote outside its tally: hits, total, values"):
        guards.check()


def test_a_mean_finds_the_counters_of_moments_by_its_total():
    mean = fc.Mean(name="gap", description="", total="gap")
    assert mean.counters() == tuple(c.name for c in Moments("gap", "", nonzero="with_gap").counters)
    own = fc.Mean(name="gap", description="", total="gap", squares="gap_gap", nonzero="apart")
    assert own.counters() == ("gap", "gap_gap", "apart")


# ---------------------------------------------------------------- the join with a study


def study(**changes):
    given = {
        "name": "join",
        "title": "",
        "source": "",
        "revision": 1,
        "axes": (fc.Axis("a", "a label", int, 0, 100),),
        "tally": LAYOUT,
        "statistics": (fc.Proportion(name="share", description="", events="hits"),),
        "kernel": lambda point: None,
        "grids": (fc.Grid("default", [{"a": 1}], 100),),
        "explain": lambda *_: None,
    }
    return fc.Study(**{**given, **changes})


def test_a_study_that_fits_is_made():
    assert study().statistic("share").interval == "exact"


PLAIN = {"description": ""}


@pytest.mark.parametrize(("changes", "message"), [
    ({"statistics": (fc.Proportion(name="share", events="hit", **PLAIN),)},
     "statistic share of join names a counter that is not in its tally: hit; did you mean hits?"),
    ({"statistics": (fc.Proportion(name="share", events="hits", condition="trails", **PLAIN),)}, "not in its tally: trails"),
    ({"statistics": (fc.Mean(name="mean", total="total", squares="hits", nonzero="values", **PLAIN),)},
     "statistic mean of join needs a counter without bins, got values"),
    ({"statistics": (fc.Proportion(name="share", events="hits", **PLAIN),
                     fc.Distribution(name="distribution", counter="hits", label="value", **PLAIN))},
     "statistic distribution of join needs a counter with bins, got hits"),
    ({"statistics": (fc.Distribution(name="distribution", counter="values", label="value", **PLAIN),)},
     "the first statistic of join must be a number"),
    ({"statistics": ()}, "statistics of join must be one or more of different names"),
    ({"statistics": (fc.Proportion(name="share", events="hits", **PLAIN),) * 2}, "['share', 'share']"),
    ({"grids": ()}, "grids of join must be one or more"),
])  # a table, row by row # fmt: skip
def test_what_does_not_fit_together_is_refused_when_the_study_is_made(changes, message):
    with pytest.raises(fc.ParameterError) as error:
        study(**changes)
    assert message in str(error.value)


def test_an_integer_axis_that_float64_would_round_is_refused():
    with pytest.raises(fc.ParameterError, match="beyond which float64 rounds integers"):
        fc.Axis("x", "too large", int, 0, 2**60)


def test_count_runs_a_kernel_outside_of_the_driver():
    point = {"a": 1, "work": 0.0}
    whole = TOY.count(point, 1000, seed=3)
    assert whole == TOY.count(point, 300, seed=3) + TOY.count(point, 700, seed=3, first=300)
    assert whole.ranges == ((0, 1000),)
    assert fc.run(TOY, a=1, work=0.0, trials=1000, seed=3).tallies[1, 0.0] == whole


# ---------------------------------------------------------------- kinds of statistics

COUNTS = {"hits": 3, "total": -4, "values": (1, 5, 4, 0), "squares": 30}


def test_a_paired_difference_may_be_negative():
    e = fc.Difference(
        name="d", total="total", squares="squares", nonzero="hits", bound=lambda point: 2.0, **PLAIN
    ).estimate(COUNTS, 10, {})
    assert e.value == pytest.approx(-0.4)
    assert e.low == -2.0
    assert -0.4 < e.high <= 2.0


def test_a_distribution_gives_the_share_of_each_value():
    found = fc.Distribution(name="distribution", counter="values", label="value", **PLAIN).read(COUNTS, 10, {})
    assert found == [proportion(k, 10) for k in (1, 5, 4, 0)]


def test_a_scale_multiplies_estimate_and_interval_and_cuts_probabilities_at_1():
    plain = fc.Proportion(name="p", events="hits", **PLAIN).estimate(COUNTS, 10, {})
    scaled = fc.Proportion(name="p", events="hits", scale=lambda point: Fraction(5, 2), **PLAIN).estimate(
        COUNTS, 10, {}
    )
    assert (scaled.value, scaled.low, scaled.high) == (0.75, 2.5 * plain.low, 1.0)


#: Counts of all that can be drawn.
ALL = {"hits": 3, "among": 4, "total": 6, "squares": 20, "lost": 0, "base": 8, "first": 4, "later": 2}
EXACT = [
    (fc.Proportion(name="x", events="hits", **PLAIN), Fraction(3, 10)),
    (fc.Proportion(name="x", events="hits", condition="among", **PLAIN), Fraction(3, 4)),
    (fc.Proportion(name="x", events="hits", condition="lost", **PLAIN), None),
    (fc.Proportion(name="x", events="hits", defined=lambda point: False, **PLAIN), None),
    (
        fc.Mean(name="x", total="total", squares="squares", nonzero="hits", unit=lambda point: 4, **PLAIN),
        Fraction(6, 40),
    ),
    (
        fc.NormalMean(name="x", total="total", squares="squares", scale=lambda point: Fraction(1, 3), **PLAIN),
        Fraction(1, 5),
    ),
    (
        fc.Ratio(name="x", numerator="total", denominator="base", squares=("squares",) * 3, nonzero="hits", **PLAIN),
        Fraction(3, 4),
    ),
    (CensoredMean(name="x", total="total", squares="squares", nonzero="hits", unknown="lost", **PLAIN), Fraction(3, 5)),
    (CensoredMean(name="x", total="total", squares="squares", nonzero="hits", unknown="hits", **PLAIN), None),
    (
        ClassMean(
            name="x",
            reached=("among", "hits"),
            totals=("first", "later"),
            squares=("squares", "squares"),
            nonzero="hits",
            classes=lambda point: (),
            **PLAIN,
        ),
        Fraction(3, 5),
    ),
]


@pytest.mark.parametrize(("statistic", "wanted"), EXACT, ids=lambda x: type(x).__name__)
def test_exact_values_are_quotients_of_exact_counts(statistic, wanted):
    assert statistic.exact(ALL, 10, {}) == wanted


def test_a_study_without_an_enumeration_has_no_exact_values():
    with pytest.raises(
        fc.ParameterError, match="study must be one with an enumeration for exact values, got unsafe-rare"
    ):
        fc.study("unsafe-rare").exact({"n": 10, "f": 5})


@pytest.mark.parametrize("kind", [Statistic, Number])
def test_what_statistics_share_is_no_statistic(kind):
    with pytest.raises(TypeError, match="abstract"):
        kind(**PLAIN, name="x")
