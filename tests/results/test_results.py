"""The results file: whole, exact, readable by others, refused when it is foreign or damaged."""

import hashlib
import importlib
import importlib.util
import io
import json
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
from helpers.binned import distribution_results
from helpers.forgery import edit_hdf5, text_attribute
from toy import TOY

import fastcube as fc
from fastcube.errors import FormatTooNewError, FormatTooOldError, StudyMismatchError, TrialOverlapError
from fastcube.measure import registry
from fastcube.measure.tally import Tally, fuse_ranges
from fastcube.results import hdf5
from fastcube.results.combining import merge
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.results.table import HTML_ROWS, as_csv
from fastcube.results.writing import split_limbs


@pytest.fixture(scope="module")
def xarray():
    """Imported by the one worker that runs these tests, because the import takes three seconds."""
    return importlib.import_module("xarray")


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
        assert tally.maxima["octal"] == (7, next(t for t, w in enumerate(whole) if w["octal"] == 7))


def _key(point):
    return TOY.key(3, point)


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


def test_xarray_opens_it_with_named_dimensions_and_units(xarray, done, file):
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


def test_a_grid_that_is_no_product_is_stored_on_the_product(xarray, tmp_path):
    results = fc.run(TOY, a=1, work=[0.0, 1.0], trials=10)
    results.tallies.update(fc.run(TOY, a=2, work=5.0, trials=10).tallies)
    results.save(tmp_path / "r.h5")
    with xarray.open_dataset(tmp_path / "r.h5") as ds:
        assert ds["trials"].values.tolist() == [[10, 10, 0], [0, 0, 10]]
        assert np.isnan(ds["bit"].values).tolist() == [[False, False, True], [True, True, False]]
    assert open_results(tmp_path / "r.h5").tallies == results.tallies


def test_wide_counters_keep_every_bit(tmp_path):
    counts = {c.name: 0 for c in TOY.tally.counters} | {
        "octal_total": 2**61 + 12345,
        "octal_squares": 2**63 + 2**20 + 7,
        "octal_nonzero": 2**59,
    }
    tally = Tally(fuse_ranges([(0, 2**59)]), counts, {e.name: (-1, -1) for e in TOY.tally.maxima})
    Results(registry.register_live_study(TOY), 0, {(1, 0.0): tally}).save(tmp_path / "w.h5")
    assert open_results(tmp_path / "w.h5").tallies[1, 0.0].counts == counts
    assert split_limbs(np.array([5 + (7 << 62) + (1 << 124)], object), 3).tolist() == [[5, 7, 1]]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (text_attribute("filetype", "other"), fc.ResultFileError, "is not a fastcube results file"),
        (
            lambda f: f.attrs.__setitem__("format_version", [4, 0]),
            FormatTooNewError,
            "has format 4.0, this fastcube reads 3.x",
        ),
        (
            lambda f: f.attrs.__setitem__("format_version", [1, 9]),
            FormatTooOldError,
            "has format 1.9, this fastcube reads 3.x",
        ),
        (lambda f: f.attrs.__setitem__("revision", 9), fc.ResultFileError, "do not have the digest"),
        (
            text_attribute("generator", "x"),
            StudyMismatchError,
            "has random numbers of x, this fastcube those of philox",
        ),
        (lambda f: f["raw/count_bit_nonzero"].__setitem__(0, 1), fc.ResultFileError, "do not have the digest"),
        (lambda f: f.__delitem__("raw/ranges"), fc.ResultFileError, "is damaged"),
    ],
)
def test_files_that_are_not_right_are_refused_in_one_line(file, change, error, message):
    edit_hdf5(file, change)
    with pytest.raises(error, match=message) as caught:
        open_results(file)
    assert "\n" not in str(caught.value)
    assert "toy" in str(caught.value)


@pytest.mark.parametrize(
    ("now", "former", "said"),
    [
        (
            '"condition":',
            '"among":',
            r"^/\S+ describes statistic \w+ by the field among, which",
        ),
        (
            '"kind": "Proportion"',
            '"kind": "PlainShare"',
            r"^/\S+ describes statistic \w+ by the kind PlainShare, which",
        ),
    ],
)
def test_statistics_in_former_names_are_refused_in_one_line(file, now, former, said):
    with h5py.File(file) as f:
        stated = json.loads(f["study/json"][()])
    text = json.dumps(stated)
    assert now in text

    def rename(f):
        del f["study/json"]
        f["study/json"] = text.replace(now, former)

    edit_hdf5(file, rename)
    with pytest.raises(
        fc.ResultFileError, match=said + " this fastcube does not know; run its study again: "
    ) as caught:
        open_results(file)
    assert "\n" not in str(caught.value)


def test_a_file_without_its_checksum_is_read_when_that_is_asked_for(done, file):
    file.write_bytes(file.read_bytes()[: -hdf5.TRAILER_SIZE])
    with pytest.raises(fc.ResultFileError, match="does not end in its checksum"):
        open_results(file)
    assert open_results(file, unchecked=True).digest() == done.digest()


def test_one_changed_byte_anywhere_is_refused_before_hdf5_sees_it(file, monkeypatch):
    whole = file.read_bytes()
    monkeypatch.setattr(h5py, "File", None)
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


# ---------------------------------------------------------------- Results at home


@pytest.fixture(scope="module")
def squares():
    """Three labels at two lengths of work."""
    return fc.run(TOY, a=[1, 2, 3], work=[0.0, 1.0], trials=200)


def test_the_repr_is_a_line(squares):
    assert repr(squares) == "<Results of toy: 6 points (a = 1..3; work = 0.0, 1.0), 200 trials each, seed 0>"
    assert repr(Results(TOY, 5)) == "<Results of toy: 0 points, 0 trials each, seed 5>"
    both = Results(TOY, 0, {**squares.tallies, (1, 0.0): Tally.empty(TOY.tally)})
    assert "0 to 200 trials each" in repr(both)


def test_the_notebook_shows_the_table_and_no_markup_of_a_study():
    study = replace(TOY, title="<script>x</script> & more", statistics=TOY.statistics)
    results = replace(fc.run(TOY, trials=10), study=study)
    text = results._repr_html_()
    assert "<script" not in text and "&lt;script&gt;x&lt;/script&gt; &amp; more" in text
    root = ElementTree.fromstring(text)
    assert [cell.text for cell in root.iter("th")] == ["a", "work", "trials", "bit", "octal"]
    assert [cell.text for cell in root.iter("td")][:3] == ["1", "0.0", "10"]


def test_the_notebook_shows_some_of_many_points():
    empty = Tally.empty(TOY.tally)
    text = Results(TOY, 0, {(a, 0.0): empty for a in range(HTML_ROWS + 2)})._repr_html_()
    assert text.count("<tr>") == 1 + HTML_ROWS and "2 more points" in text


def test_sel_gives_results_of_some_points(squares):
    assert sorted(squares.sel(a=[1, 3], work=0).tallies) == [(1, 0.0), (3, 0.0)]
    assert sorted(squares.sel(a="2:3").tallies) == [(2, 0.0), (2, 1.0), (3, 0.0), (3, 1.0)]
    assert squares.sel().tallies == squares.tallies
    one = squares.sel(a=2, work=1.0)
    assert one.table() == [row for row in squares.table() if (row["a"], row["work"]) == (2, 1.0)]
    assert one.sel(a=2).digest() == one.digest() != squares.digest()


def test_a_selection_is_saved_shown_and_drawn_like_any_results(squares, tmp_path):
    squares.save(tmp_path / "all.h5")
    some = open_results(tmp_path / "all.h5").sel(work=0.0)
    some.save(tmp_path / "some.h5")
    back = open_results(tmp_path / "some.h5")
    assert back.digest() == some.digest() == squares.sel(work=0.0).digest()
    assert as_csv(back) == as_csv(some)
    with pytest.raises(TrialOverlapError):
        merge([tmp_path / "all.h5", tmp_path / "some.h5"])
    from matplotlib.figure import Figure

    axes = Figure().subplots(2)
    assert back.plot(axes=axes) is axes[0].figure
    assert axes[0].lines or axes[0].collections


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"b": 1}, "b is not an axis of toy, which has a, work"),
        ({"wrk": 1}, "which has a, work; did you mean work\\?"),
        ({"a": 4}, r"a must be among 1\.\.3 in these results, got 4"),
        ({"a": [1, 101]}, r"a must be in \[0, 100\], got 101"),
        ({"a": 3, "work": 5}, r"no point of these results of toy has a = 3; work = 5\.0"),
    ],
)
def test_what_no_point_has_cannot_be_selected(squares, axes, message):
    held = replace(squares, tallies={**squares.tallies, (1, 5.0): squares.tallies[1, 1.0]})
    with pytest.raises(fc.ParameterError, match=message):
        held.sel(**axes)


def test_an_estimate_at_a_point(squares):
    row = next(r for r in squares.table() if (r["a"], r["work"], r["statistic"]) == (2, 1.0, "octal"))
    e = squares.estimate("octal", a=2, work=1.0)
    assert (e.value, e.stderr, e.low, e.high) == (row["estimate"], row["stderr"], row["low"], row["high"])
    assert squares.sel(work=1).estimate("octal", a=2) == e
    with pytest.raises(
        fc.ParameterError, match=r"one point is needed, these results have 2 left: set work = 0\.0, 1\.0"
    ):
        squares.estimate("octal", a=2)
    with pytest.raises(fc.ParameterError, match=r"did you mean octal\?"):
        squares.estimate("octl", a=2, work=1)


def test_a_distribution_has_shares_and_a_number_an_estimate():
    results = distribution_results()
    with pytest.raises(fc.ParameterError, match="got the distribution values: see distribution"):
        results.estimate("values", a=1)
    with pytest.raises(fc.ParameterError, match="must be a distribution, got some, of one number: see estimate"):
        results.distribution("some", a=1)
    assert results.distribution("values", a=1) == results["values"][1,]
    with pytest.raises(fc.ParameterError, match=r"one point is needed, these results have . left: set a = "):
        results.distribution("values")


def test_the_dataframe_has_the_rows_of_csv_with_their_types(squares):
    pandas = pytest.importorskip("pandas")
    for results in (squares, distribution_results(), Results(TOY, 0, {(1, 0.0): Tally.empty(TOY.tally)})):
        frame = results.to_dataframe()
        read = pandas.read_csv(
            io.StringIO(as_csv(results)), dtype=dict.fromkeys(("estimate", "stderr", "low", "high"), float)
        )
        pandas.testing.assert_frame_equal(frame, read)
        assert frame.to_dict("records")[0].keys() == results.table()[0].keys()
    assert squares.to_dataframe()["trials"].dtype == np.int64 and squares.to_dataframe()["work"].dtype == np.float64
    empty = Results(TOY, 0).to_dataframe()
    assert len(empty) == 0 and (empty.dtypes == squares.to_dataframe().dtypes).all()


def test_polars_and_parquet_as_documented(squares, tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(squares.table())
    assert frame.rows(named=True) == squares.table()
    frame.write_parquet(tmp_path / "r.parquet")
    assert polars.read_parquet(tmp_path / "r.parquet").equals(frame)
    pytest.importorskip("pyarrow")
    squares.to_dataframe().to_parquet(tmp_path / "p.parquet")
    assert polars.read_parquet(tmp_path / "p.parquet").equals(frame)


@pytest.mark.parametrize(("raw", "group"), [(False, None), (True, "raw")])
def test_a_dataset_is_what_xarray_shows_of_the_file(xarray, squares, tmp_path, raw, group):
    for results in (squares, distribution_results()):
        results.save(tmp_path / "r.h5")
        with (
            xarray.open_dataset(tmp_path / "r.h5", group=group) as shown,
            xarray.open_dataset(tmp_path / "r.h5") as root,
        ):
            xarray.testing.assert_identical(results.to_xarray(raw=raw), shown.assign_attrs(root.attrs))
            assert root.attrs["digest"] == results.digest()


def test_xarray_opens_all_groups_at_once(xarray, done, file):
    with xarray.open_datatree(file) as tree:
        xarray.testing.assert_identical(
            tree["raw"].to_dataset(inherit=False).drop_attrs(deep=False),
            done.to_xarray(raw=True).drop_attrs(deep=False),
        )
        assert set(tree.children) == {"raw", "study", "provenance"}


def test_netcdf4_opens_it(done, file):
    """In a process of its own: netCDF4 and h5py each bring an HDF5 library."""
    if importlib.util.find_spec("netCDF4") is None:
        pytest.skip("netCDF4 is not installed")
    code = (
        "import sys, json, netCDF4; d = netCDF4.Dataset(sys.argv[1]); "
        "print(json.dumps([d.digest, list(d.dimensions), d['bit'][:].tolist(), d['raw/count_bit_nonzero'][:].tolist()]))"
    )
    shown = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True).stdout
    digest, dimensions, bit, counts = json.loads(shown)
    assert digest == done.digest() and dimensions == ["a", "work"]
    assert bit == done.to_xarray()["bit"].values.tolist()
    assert counts == [tally.counts["bit_nonzero"] for _, tally in done]


@pytest.mark.parametrize(
    ("package", "method", "message"),
    [
        ("pandas", "to_dataframe", "to_dataframe needs pandas: pip install pandas"),
        ("xarray", "to_xarray", "to_xarray needs xarray: pip install xarray"),
        ("matplotlib", "plot", "plots need matplotlib: pip install matplotlib"),
    ],
)
def test_a_missing_extra_is_one_clear_line(done, monkeypatch, package, method, message):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(fc.MissingDependencyError) as caught:
        getattr(done, method)()
    assert str(caught.value) == message
