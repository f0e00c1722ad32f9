"""The description of each statistic: the event counted, among which trials, in which unit, as far as a rule can determine it."""

import collections

import pytest

import fastcube as fc
from fastcube.measure.asymptotic import NormalDifference, NormalMean, Ratio
from fastcube.measure.binned import Distribution, Quantile, TailProportion
from fastcube.measure.statistics import (
    CensoredMean,
    ClassMean,
    ComplementProportion,
    Difference,
    Mean,
    PairedDifference,
    Proportion,
    ShiftedMean,
    SplitMean,
)

#: How the description of each kind begins, and its further words; so a reader knows the event, or the quantity and its unit.
FORMS = {
    **dict.fromkeys(
        (Proportion, ComplementProportion, TailProportion, Distribution), (("probability ", "fraction of "), ())
    ),
    **dict.fromkeys(
        (Mean, NormalMean, ShiftedMean, ClassMean, SplitMean, CensoredMean),
        (("mean ",), ("number of ", "fraction of ", "time ", "degree ", "divided by ")),
    ),
    **dict.fromkeys((Difference, NormalDifference), (("mean ",), (": network minus hypercube",))),
    Ratio: (("total ", "fraction of "), (" divided by the total", "fraction of ")),
    Quantile: (("number of ",), (": median", "% quantile")),
}
#: The counter of trials that are not discarded: a discarded trial has no message, so it needs no words.
NOT_DISCARDED = "valid"
#: Most characters; longer descriptions take more than two lines of a list.
LONGEST = 160


@pytest.mark.parametrize("name", fc.study_names())
def test_a_description_has_the_form_of_its_kind(name):
    for statistic in fc.study(name).statistics:
        said = statistic.description
        begins, holds = FORMS.get(type(statistic), ((), ()))
        if isinstance(statistic, PairedDifference):
            holds = (
                ": network minus hypercube",
                ": failed domains minus",
                " minus fraction that ",
                " does not deliver though ",
            )
        assert not begins or said.startswith(begins), (statistic.name, said)
        assert not holds or any(part in said for part in holds), (statistic.name, said)
        assert len(said) <= LONGEST, (statistic.name, said)
        assert said == said.strip().removesuffix("."), (statistic.name, said)


@pytest.mark.parametrize("name", fc.study_names())
def test_a_description_says_its_condition(name):
    """``among`` marks the trials that are counted, and no other statistic has this word, except for all trials."""
    for statistic in fc.study(name).statistics:
        is_conditional = statistic.condition not in (None, NOT_DISCARDED)
        assert ("among " in statistic.description) == is_conditional, (statistic.name, statistic.description)


@pytest.mark.parametrize("name", fc.study_names())
def test_no_two_statistics_of_a_study_have_one_description(name):
    said = collections.Counter(statistic.description for statistic in fc.study(name).statistics)
    assert max(said.values()) == 1, said.most_common(1)
