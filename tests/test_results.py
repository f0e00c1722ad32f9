"""The results file: whole, exact, readable by others, refused when it is not ours or damaged."""

import hashlib
import json

import h5py
import numpy as np
import pytest
import xarray
from forgery import edit, text
from toy import TOY

import fastcube as fc
from fastcube.engine import hdf5, registry
from fastcube.engine.files import to_limbs
from fastcube.engine.reading import open_results
from fastcube.engine.results import Results, merge
from fastcube.engine.tally import Tally, fuse
from fastcube.errors import FormatTooNewError, FormatTooOldError, StudyMismatchError, TrialOverlapError


@pytest.fixture(scope="module")
def done():
    return fc.run(TOY, seed=3)


@pytest.fixture
def file(done, tmp_path):
    done.save(tmp_path / "toy.h5")
    return tmp_path / "toy.h5"


def test_reading_gives_back_what_was_written(done, file):
    back = open_results(file)
    assert back.tallies == done.tallies
    assert back.seed == 3
    assert back.goal == done.goal
    assert back.identity() == done.identity()
    assert back.table() == done.table()


def test_the_digest_is_the_documented_hash(file):
    with h5py.File(file) as f:
        stored = f.attrs["digest"].decode()
    text = json.dumps(open_results(file).identity(), sort_keys=True, separators=(",", ":"))
    assert stored == hashlib.sha256(text.encode()).hexdigest()


def test_counters_are_the_trials_counted_one_by_one(done):
    for point, tally in done:
        whole = [TOY.explain(point, _key(point), t).data for t in range(5000)]
        assert tally.counts["bit_total"] == sum(w["bit"] for w in whole)
        assert tally.counts["octal_total"] == sum(w["octal"] for w in whole)
        assert tally.counts["octal_squares"] == sum(w["octal"] ** 2 for w in whole)
        assert tally.counts["octal_nonzero"] == sum(w["octal"] > 0 for w in whole)
        assert tally.extremes["octal"] == (7, next(t for t, w in enumerate(whole) if w["octal"] == 7))


def _key(point):
    from fastcube.engine.study import point_key

    return point_key("toy", 3, point)


def test_two_files_of_one_result_differ_in_provenance_alone(done, tmp_path):
    done.save(tmp_path / "a.h5")
    other = Results(TOY, 3, dict(done.tallies), done.goal, [{"other": "history"}], done.grid)
    other.save(tmp_path / "b.h5")
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        names_a, names_b = [], []
        a.visit(names_a.append)
        b.visit(names_b.append)
        assert names_a == names_b
        different = [
            n
            for n in names_a
            if isinstance(a[n], h5py.Dataset)
            and not np.array_equal(a[n][()], b[n][()], equal_nan=a[n].dtype.kind == "f")
        ]
        assert different == ["provenance/json"]
        assert {k: str(v) for k, v in a.attrs.items()} == {k: str(v) for k, v in b.attrs.items()}


def test_xarray_opens_it_with_named_dimensions_and_units(done, file):
    with xarray.open_dataset(file) as ds:
        assert dict(ds.sizes) == {"a": 2, "work": 1}
        assert ds["a"].attrs["description"] == "a label"
        assert ds["bit"].attrs["units"] == "1"
        assert ds.attrs["study"] == "toy"
        rows = [r for r in done.table() if r["statistic"] == "bit"]
        assert ds["bit"].values[:, 0].tolist() == [r["estimate"] for r in rows]
        assert ds["bit_high"].sel(a=2, work=0.0) == rows[1]["high"]
    with xarray.open_dataset(file, group="raw") as raw:
        assert raw["count_bit_nonzero"].dims == ("point",)
    xarray.testing.assert_allclose(done.to_xarray()["bit"], xarray.load_dataset(file)["bit"])


def test_a_grid_that_is_no_product_is_stored_on_the_product(tmp_path):
    results = fc.run(TOY, a=1, work=[0.0, 1.0], trials=10)
    results.tallies.update(fc.run(TOY, a=2, work=5.0, trials=10).tallies)
    results.save(tmp_path / "r.h5")
    with xarray.open_dataset(tmp_path / "r.h5") as ds:
        assert ds["trials"].values.tolist() == [[10, 10, 0], [0, 0, 10]]
        assert np.isnan(ds["bit"].values).tolist() == [[False, False, True], [True, True, False]]
    assert open_results(tmp_path / "r.h5").tallies == results.tallies


def test_wide_counters_keep_every_bit(tmp_path):
    counts = {c.name: 0 for c in TOY.tally.counters} | {
        "octal_total": 2**60 + 12345,
        "octal_squares": 2**90 + 7,
        "octal_nonzero": 2**40,
    }
    tally = Tally(fuse([(0, 2**40)]), counts, {e.name: (-1, -1) for e in TOY.tally.extremes})
    Results(registry.adopt(TOY), 0, {(1, 0.0): tally}).save(tmp_path / "w.h5")
    assert open_results(tmp_path / "w.h5").tallies[1, 0.0].counts == counts
    assert to_limbs(5 + (7 << 62) + (1 << 124), 3) == [5, 7, 1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (text("filetype", "other"), fc.ResultFileError, "is not a fastcube results file"),
        (lambda f: f.attrs.__setitem__("format_version", [3, 0]), FormatTooNewError, "has format 3.0, this fastcube reads 2.x"),
        (lambda f: f.attrs.__setitem__("format_version", [1, 9]), FormatTooOldError, "has format 1.9, this fastcube reads 2.x"),
        (lambda f: f.attrs.__setitem__("revision", 9), fc.ResultFileError, "do not have the digest"),
        (text("generator", "x"), StudyMismatchError, "has random numbers of x, this fastcube those of philox"),
        (lambda f: f["raw/count_bit_nonzero"].__setitem__(0, 1), fc.ResultFileError, "do not have the digest"),
        (lambda f: f.__delitem__("raw/ranges"), fc.ResultFileError, "is damaged"),
    ],
)  # fmt: skip
def test_files_that_are_not_right_are_refused_in_one_line(file, change, error, message):
    edit(file, change)
    with pytest.raises(error, match=message) as caught:
        open_results(file)
    assert "\n" not in str(caught.value)
    assert "toy" in str(caught.value)


def test_a_file_without_its_checksum_is_read_when_that_is_asked_for(done, file):
    file.write_bytes(file.read_bytes()[: -hdf5._TRAILER_SIZE])
    with pytest.raises(fc.ResultFileError, match="does not end in its checksum"):
        open_results(file)
    assert open_results(file, unchecked=True).digest() == done.digest()


def test_one_changed_byte_anywhere_is_refused_before_hdf5_sees_it(file, monkeypatch):
    whole = file.read_bytes()
    monkeypatch.setattr(hdf5.h5py, "File", None)
    for at in range(8, len(whole), 97):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(fc.ResultFileError, match=r"checksum"):
            open_results(file)


@pytest.mark.parametrize("contents", [b"", b"not an HDF5 file at all", None])
def test_files_that_are_no_hdf5(file, contents):
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if contents is None else contents)
    with pytest.raises(fc.ResultFileError, match=r"is truncated|is not an HDF5 file"):
        open_results(file)


def test_missing_and_folder(tmp_path):
    with pytest.raises(fc.ResultFileError, match="does not exist"):
        open_results(tmp_path / "none.h5")
    with pytest.raises(fc.ResultFileError, match="is a folder"):
        open_results(tmp_path)


def test_merge_of_shards_is_the_whole(tmp_path):
    whole = fc.run(TOY, trials=1000)
    paths = []
    for i in range(3):
        fc.run(TOY, trials=1000, shard=(i, 3), output=tmp_path / f"s{i}.h5")
        paths.append(tmp_path / f"s{i}.h5")
    assert merge(paths[::-1]).digest() == whole.digest()
    merge(paths[:2]).save(tmp_path / "two.h5")
    assert merge([paths[2], tmp_path / "two.h5"]).digest() == whole.digest()
    assert merge(paths[:2]).digest() != whole.digest()


def test_merge_refuses_overlap_and_names_both_files(tmp_path):
    fc.run(TOY, trials=1000, output=tmp_path / "a.h5")
    fc.run(TOY, trials=1000, shard=(1, 4), output=tmp_path / "b.h5")
    with pytest.raises(
        TrialOverlapError, match=r"a\.h5 and .*b\.h5 overlap at a=1,work=0\.0: trials 250\.\.499 are in both"
    ):
        merge([tmp_path / "a.h5", tmp_path / "b.h5"])
    with pytest.raises(TrialOverlapError, match="overlap"):
        merge([tmp_path / "a.h5", tmp_path / "a.h5"])


def test_merge_refuses_another_seed_and_names_both_files(tmp_path):
    fc.run(TOY, trials=10, output=tmp_path / "a.h5")
    fc.run(TOY, trials=10, seed=1, output=tmp_path / "b.h5")
    with pytest.raises(StudyMismatchError, match=r"b\.h5 has seed 1, .*a\.h5 has seed 0"):
        merge([tmp_path / "a.h5", tmp_path / "b.h5"])


def test_no_temporary_file_stays(file):
    assert [path.name for path in file.parent.iterdir()] == ["toy.h5"]
