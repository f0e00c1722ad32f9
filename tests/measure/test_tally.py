"""Tallies: exact addition of disjoint trial ranges."""

import random

import pytest

from fastcube.errors import TrialOverlapError
from fastcube.measure.tally import Tally, count_trials, fuse_ranges, missing_trials


def tally(first, stop, count=0, maximum=(-1, -1)):
    return Tally(fuse_ranges([(first, stop)]), {"events": count}, {"largest": maximum})


def test_fuse_joins_touching_ranges_and_drops_empty_ones():
    assert fuse_ranges([(4, 9), (0, 2), (2, 4), (11, 11), (12, 13)]) == ((0, 9), (12, 13))


@pytest.mark.parametrize("other", [(0, 5), (3, 4), (4, 6), (-2, 1), (0, 1)])
def test_shared_trials_are_refused(other):
    with pytest.raises(TrialOverlapError, match="are in both"):
        fuse_ranges([(0, 5), other])


def test_missing_complements_the_ranges():
    done = ((2, 4), (6, 9))
    assert missing_trials(done, 0, 10) == ((0, 2), (4, 6), (9, 10))
    assert missing_trials(done, 3, 7) == ((4, 6),)
    assert missing_trials(done, 2, 4) == ()
    assert missing_trials((), 5, 8) == ((5, 8),)
    assert missing_trials(done, 20, 22) == ((20, 22),)


@pytest.mark.parametrize("seed", range(50))
def test_missing_agrees_with_sets(seed):
    rng = random.Random(seed)
    chosen = {t for t in range(40) if rng.random() < 0.5}
    ranges = fuse_ranges((t, t + 1) for t in chosen)
    first, stop = sorted(rng.sample(range(41), 2))
    lacking = missing_trials(ranges, first, stop)
    assert {t for a, b in lacking for t in range(a, b)} == set(range(first, stop)) - chosen
    assert count_trials(lacking) == len(set(range(first, stop)) - chosen)


def test_addition_is_the_same_in_any_order_and_nesting():
    rng = random.Random(1)
    parts = [
        tally(10 * i, 10 * i + 10, rng.randrange(10**30), (rng.randrange(4), 10 * i + rng.randrange(10)))
        for i in range(12)
    ]
    whole = Tally.total(parts)
    for _ in range(20):
        rng.shuffle(parts)
        pile = list(parts)
        while len(pile) > 1:
            a, b = pile.pop(rng.randrange(len(pile))), pile.pop(rng.randrange(len(pile)))
            pile.append(a + b)
        assert pile[0] == whole


def test_maximum_is_the_largest_value_with_its_smallest_trial():
    parts = [
        tally(0, 10, maximum=(3, 7)),
        tally(10, 20, maximum=(5, 18)),
        tally(20, 30, maximum=(5, 21)),
        tally(30, 40),
    ]
    assert Tally.total(parts).maxima["largest"] == (5, 18)
    assert Tally.total(parts[::-1]).maxima["largest"] == (5, 18)
