"""Files that another program read and wrote again: ``--unchecked`` reads their content, in every shape of a text."""

import itertools
import pickle
import shutil
import subprocess

import h5py
import numpy as np
import pytest
from helpers.processes import NAMED_AXIS_ARGUMENTS, run_fastcube

import fastcube as fc
from fastcube.kernels.tally.layout import Counter, Layout
from fastcube.measure.choice import Choice
from fastcube.measure.goal import Goal
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Measure
from fastcube.measure.tally import Tally
from fastcube.results.reading import open_results
from fastcube.results.results import Results

TEXT_ATTRIBUTES = ("filetype", "title", "study", "code", "source", "generator", "digest", "goal", "grid")


@pytest.fixture
def file(tmp_path):
    """A file with an axis of names and an empty text."""
    study = Measure(
        name="named",
        title="t",
        source="s",
        revision=1,
        axes=(Choice("word", "a name", ("ab", "cde", "f")),),
        tally=Layout(Counter("hits", "events")),
        statistics=(Proportion(name="hit", description="a fraction", events="hits"),),
    )
    tallies = {(word,): Tally(((0, 10),), {"hits": i}, {}) for i, word in enumerate(("ab", "cde", "f"))}
    Results(study, 0, tallies, Goal(10)).save(tmp_path / "r.h5")
    return tmp_path / "r.h5"


def characters(text):
    """Texts as an array of single bytes in one more dimension."""
    given = np.array(text, dtype=bytes)
    return given.reshape(*given.shape, 1).view("S1")


#: The shapes of a text, or of a column of texts, in which writers store it.
SHAPES = {
    "fixed length": lambda text: np.array(text, dtype=bytes),
    "variable length": lambda text: np.array(text, dtype=h5py.string_dtype("ascii")),
    "single bytes": characters,
    "array of one": lambda text: (
        np.array([text], dtype=bytes) if isinstance(text, bytes) else np.array(text, dtype=bytes)
    ),
    "array of one, variable": lambda text: np.array(
        [text] if isinstance(text, bytes) else text, dtype=h5py.string_dtype("ascii")
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("packed", [{}, {"compression": "gzip"}], ids=["plain", "compressed"])
def test_a_text_is_read_in_every_shape(file, shape, packed):
    whole = open_results(file)
    with h5py.File(file, "r+") as f:
        for name in ("study/json", "provenance/json", "raw/axis_word"):
            given = f[name][()]
            value = SHAPES[shape](given.tolist() if isinstance(given, np.ndarray) else given)
            del f[name]
            f.create_dataset(name, data=value, **(packed if value.ndim else {}))
        for name in TEXT_ATTRIBUTES:
            value = SHAPES[shape](f.attrs[name].encode() if isinstance(f.attrs[name], str) else f.attrs[name])
            f.attrs.create(name, value if value.size else h5py.Empty("S1"))
    again = open_results(file, unchecked=True)
    assert (again.digest(), again.grid, again.goal) == (whole.digest(), whole.grid, whole.goal)
    assert again.table() == whole.table()


@pytest.mark.parametrize(("read", "write"), [*itertools.product(["h5netcdf", "netcdf4"], repeat=2)])
def test_a_copy_by_xarray_is_read(tmp_path, read, write):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip({"h5netcdf": "h5netcdf", "netcdf4": "netCDF4"}[read])
    pytest.importorskip({"h5netcdf": "h5netcdf", "netcdf4": "netCDF4"}[write])
    assert run_fastcube("run", *NAMED_AXIS_ARGUMENTS, "-o", "r.h5", cwd=tmp_path).returncode == 0
    tree = xarray.open_datatree(tmp_path / "r.h5", engine=read)
    tree.load()
    tree.to_netcdf(tmp_path / "copy.h5", engine=write)
    shown = run_fastcube("show", "--unchecked", "copy.h5", "--format", "csv", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == run_fastcube("show", "r.h5", "--format", "csv", cwd=tmp_path).stdout
    refused = run_fastcube("show", "copy.h5", cwd=tmp_path)
    assert refused.returncode == 2 and "--unchecked reads it" in refused.stderr


@pytest.mark.skipif(shutil.which("nccopy") is None, reason="needs nccopy of netCDF")
def test_a_copy_by_nccopy_is_read(file, tmp_path):
    subprocess.run(["nccopy", file, tmp_path / "copy.h5"], check=True)
    assert open_results(tmp_path / "copy.h5", unchecked=True).digest() == open_results(file).digest()


def test_a_text_longer_than_the_file_justifies_is_refused(file):
    """A megabyte of single bytes that compress to a kilobyte, in a column of names."""
    with h5py.File(file, "r+") as f:
        del f["raw/axis_word"]
        f.create_dataset("raw/axis_word", shape=(3, 10**6), dtype="S1", chunks=(1, 10**6), compression="gzip")
    with pytest.raises(fc.ResultFileError, match="axis_word is no array of its type and shape"):
        open_results(file, unchecked=True)


def test_results_are_the_same_after_pickling(file):
    whole = open_results(file)
    again = pickle.loads(pickle.dumps(whole))
    assert (again.digest(), again.table()) == (whole.digest(), whole.table())
