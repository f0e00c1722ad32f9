"""Columns of counters: they add and put into words as Python's integers do, whatever their size."""

import hashlib
import json
import random

import pytest

from fastcube.kernels.tally.layout import Counter, Layout, Maximum
from fastcube.measure.tally import Tally
from fastcube.results.columns import MAXIMA, Columns, Identity

LAYOUT = Layout(
    Counter("b%d", "plain"), Counter('a"wide', "sums", 4), Counter("values", "bins", bins=3), Maximum("top", "largest")
)
KEYS = [(2, "zeta"), (1, "zeta"), (1, "mid")]


def tallies(rng, largest, at):
    out = {}
    for key in KEYS:
        counts = {
            "b%d": rng.randint(-5, 5),
            'a"wide': rng.randint(-largest, largest),
            "values": (rng.randint(0, 9), 1, 0),
        }
        out[key] = Tally(((10 * at, 10 * at + 7),), counts, {"top": (rng.randint(-1, 2), 10 * at + rng.randint(0, 6))})
    return out


@pytest.mark.parametrize("largest", [9, 2**57, 2**62, 2**63 - 1, 2**63, 2**150])
def test_columns_add_as_integers_do(largest):
    rng = random.Random(largest)
    parts = [tallies(rng, largest, at) for at in range(64)]
    for at in range(0, 64, 2):  # files need not be of the same points
        del parts[at][KEYS[at % 3]]
    columns = [Columns.of(LAYOUT, part) for part in parts]
    assert [one.tallies() for one in columns] == parts
    for key, tally in Columns.total(columns).tallies().items():
        whole = Tally.total([part[key] for part in parts if key in part])
        assert (tally.counts, tally.maxima) == (whole.counts, whole.maxima)


@pytest.mark.parametrize("largest", [9, 2**150])
def test_the_digest_is_of_the_json_with_sorted_keys(largest):
    counted = tallies(random.Random(1), largest, 0)
    counted[KEYS[0]] = Tally(((0, 3), (5, 9)), counted[KEYS[0]].counts, counted[KEYS[0]].maxima)
    counted[0, "idle"] = Tally((), counted[KEYS[0]].counts, counted[KEYS[0]].maxima)
    points = [
        {"point": {"n": n, "a": a}, "ranges": tally.ranges, "counters": tally.counts, MAXIMA: tally.maxima}
        for (n, a), tally in sorted(counted.items())
        if tally.ranges
    ]
    text = json.dumps({"z": "%s", "a": 1, "points": points}, sort_keys=True, separators=(",", ":"))
    identity = Identity({"z": "%s", "a": 1}, ["n", "a"], LAYOUT, list(counted))
    assert identity.digest(Columns.of(LAYOUT, counted)) == hashlib.sha256(text.encode()).hexdigest()


def test_no_points_and_more_than_are_put_into_words_at_once():
    tally = Tally(((0, 1),), {"b%d": 1, 'a"wide': 2, "values": (0, 1, 0)}, {"top": (-1, -1)})
    for many in (0, 1000):
        counted = {(i,): tally for i in range(many)}
        columns = Columns.of(LAYOUT, counted)
        assert columns.tallies() == counted
        points = [
            {"point": {"n": i}, "ranges": tally.ranges, "counters": tally.counts, MAXIMA: tally.maxima}
            for i in range(many)
        ]
        text = json.dumps({"points": points}, sort_keys=True, separators=(",", ":"))
        identity = Identity({}, ["n"], LAYOUT, list(counted))
        assert identity.digest(columns) == hashlib.sha256(text.encode()).hexdigest()
