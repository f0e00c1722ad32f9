"""Files read one after another: common parts are checked once, and different parts are not confused."""

import json

import numpy as np
import pytest
from helpers.forgery import edit_hdf5, text_attribute
from toy import TOY

import fastcube as fc
from fastcube.results import reading
from fastcube.results.reading import Reader, open_results


@pytest.fixture
def shards(tmp_path):
    """Three files of an array."""
    paths = [tmp_path / f"{i}.h5" for i in range(3)]
    for i, path in enumerate(paths):
        fc.run(TOY, trials=999, shard=(i, 3), output=str(path))
    return paths


@pytest.fixture
def whole_readings(monkeypatch):
    """Whatever is read whole, through HDF5, is entered here."""
    out, stated = [], reading.parse_header
    monkeypatch.setattr(reading, "parse_header", lambda *given: out.append(given) or stated(*given))
    return out


def test_shards_are_laid_out_alike_and_looked_at_once(shards, whole_readings):
    reader = Reader()
    read = [reader.read(path) for path in shards]
    assert len(whole_readings) == 1
    for path, part in zip(shards, read, strict=True):
        results, alone = part.results(), open_results(path)
        assert (results.tallies, results.goal, results.history) == (alone.tallies, alone.goal, alone.history)
        assert results.digest() == part.digest == alone.digest()


def _moved(f):
    """Another program wrote the counters anew, at other places, which leaves the old ones' bytes where they were."""
    for name in [n for n in f["raw"] if n.startswith("count_")]:
        values = f["raw"][name][()]
        del f["raw"][name]
        f["raw"].create_dataset(name, data=values)


def test_arrays_that_stand_elsewhere_are_found(shards):
    alone = open_results(shards[1])
    edit_hdf5(shards[1], _moved)
    reader = Reader()
    assert [reader.read(path).results().tallies for path in shards[:2]][1] == alone.tallies


def _counted_more(f):
    name = next(n for n in f["raw"] if n.startswith("count_"))
    f["raw"][name][0] += np.int64(1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_counted_more, "its contents do not have the digest it states"),
        (text_attribute("digest", "0" * 64), "its contents do not have the digest it states"),
        (lambda f: f["raw"].pop("ranges"), "is damaged"),
        (text_attribute("goal", "[]"), "is damaged"),
    ],
)
def test_a_damaged_shard_is_refused_among_others_as_alone(shards, change, said):
    edit_hdf5(shards[1], change)
    reported = []
    for read in (lambda: open_results(shards[1]), lambda: fc.merge(shards)):
        with pytest.raises(fc.errors.ResultFileError, match=said) as refused:
            read()
        reported.append(str(refused.value))
    assert reported[0] == reported[1]


def test_another_seed_and_another_description_are_seen(shards, tmp_path):
    fc.run(TOY, trials=999, shard=(1, 3), seed=7, output=str(tmp_path / "seven.h5"))
    edit_hdf5(shards[2], lambda f: f["study/json"].__setitem__((), f["study/json"][()].replace(b"units", b"Units", 1)))
    reader = Reader()
    assert [reader.read(path).about.seed for path in (shards[0], tmp_path / "seven.h5", shards[1])] == [0, 7, 0]
    with pytest.raises(fc.errors.ResultFileError):
        reader.read(shards[2])


def test_files_of_more_ranges_are_laid_out_otherwise(shards, tmp_path, whole_readings):
    fc.merge([shards[0], shards[2]]).save(tmp_path / "two.h5")
    whole_readings.clear()
    reader = Reader()
    read = [reader.read(path).results() for path in (shards[0], tmp_path / "two.h5", shards[1], tmp_path / "two.h5")]
    assert len(whole_readings) == 2
    assert read[1].tallies == read[3].tallies == open_results(tmp_path / "two.h5").tallies


def _make_newer(f):
    """A later minor version, which adds fields, written by a later fastcube."""
    f.attrs.modify("format_version", np.array([3, 9]))
    f.attrs["machine"] = "a new attribute"
    f["raw/new"] = np.arange(3)
    f["checks/new"] = 1.5
    history = json.loads(f["provenance/json"][()])
    history[0]["software"]["version"] = "9.9.9"
    history[0]["new"] = {"more": [1]}
    about = json.loads(f["study/json"][()]) | {"new": ["a list"]}
    for group, value in (("study", about), ("provenance", history)):
        del f[f"{group}/json"]
        f[f"{group}/json"] = json.dumps(value)


@pytest.mark.parametrize("changed", [[0], [1], [0, 2], [0, 1, 2]])
def test_shards_of_several_versions_are_merged(shards, changed):
    for i in changed:
        edit_hdf5(shards[i], _make_newer)
    whole = fc.run(TOY, trials=999)
    for order in (shards, shards[::-1]):
        merged = fc.merge(order)
        assert (merged.digest(), merged.table()) == (whole.digest(), whole.table())
        assert [entry["file"] for entry in merged.history[0]["resources"]["merged"]] == [path.name for path in order]
