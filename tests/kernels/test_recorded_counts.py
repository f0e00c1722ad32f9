"""Keys and counts of some trials of every study, recorded before names changed: a name is no part of a trial.

``recorded_counts.json`` holds 64 trials at seed 7 for each point.  If the outcome of a trial changes, the revision of its study
rises, and its entries are replaced.
"""

import json
from pathlib import Path

import pytest

import fastcube as fc

RECORDED = json.loads(Path(__file__).with_name("recorded_counts.json").read_text())
TRIALS, SEED = 64, 7


def name_of(entry):
    return f"{entry['study']}: {','.join(f'{axis}={value}' for axis, value in entry['point'].items())}"


def test_random_keys_are_the_recorded_ones():
    for entry in RECORDED:
        assert f"{fc.study(entry['study']).key(SEED, entry['point']):016x}" == entry["key"], name_of(entry)


@pytest.mark.kernels
@pytest.mark.parametrize("entry", RECORDED, ids=name_of)
def test_counts_are_the_recorded_ones(entry):
    tally = fc.study(entry["study"]).count(entry["point"], TRIALS, SEED)
    for given, recorded in ((tally.counts, entry["counts"]), (tally.maxima, entry["maxima"])):
        read = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}
        assert {name: read[name] for name in recorded} == recorded
