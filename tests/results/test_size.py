"""The largest cost of reading any file, accepted or refused: 500 MB, and seconds.

The seconds depend on the machine; the tests stop a run that would not end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from dataclasses import replace

import h5py
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.compiled import mark_others_slow
from helpers.forgery import edit_hdf5
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE
from toy import TOY

import fastcube as fc
from fastcube.cli import info
from fastcube.errors import MOST_CHARACTERS
from fastcube.kernels.tally.layout import Counter, Layout
from fastcube.measure import registry
from fastcube.measure.binned import Distribution
from fastcube.measure.goal import Goal
from fastcube.measure.grid import MOST_POINTS
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Grid, Measure, product_grid
from fastcube.measure.tally import Tally
from fastcube.results import reading, size, writing
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.results.table import as_table
from fastcube.running.work_loop import WorkLoop

STOP_SECONDS, MOST_MEGABYTES = 120, 500

COMMANDS = (
    "info r.h5",
    "show r.h5",
    "show r.h5 --format csv",
    "show r.h5 --format json",
    "status r.h5",
    "merge r.h5 -o merged.h5",
    "plot r.h5 -o r.png",
    f"replay r.h5 --study {TOY_FILE} --point a=1,work=0 --trial 1",
    f"run {TOY_FILE} -o r.h5 --trials 10 --set a=1 --progress none",
)


def many(points, ranges):
    """Results of so many points, counted in so many ranges of trials each, as if they had been."""
    results, (tally,) = (
        Results(registry.register_live_study(TOY), 0),
        fc.run(TOY, a=1, work=0.0, trials=5000).tallies.values(),
    )
    parts = tuple((20_000 * i, 20_000 * i + 5000 // ranges) for i in range(ranges))
    for i in range(points):
        bits = 2000 + i % 1000
        counts = {**tally.counts, "bit_total": bits, "bit_squares": bits, "bit_nonzero": bits}
        maxima = {name: (value, 0) for name, (value, _) in tally.maxima.items()}
        results.tallies[i % 100, float(i // 100)] = Tally(parts, counts, maxima)
    return results


def replaced(name, values, **options):
    """Writes other values there, which a function makes where they are many."""

    def change(f):
        del f[name]
        f.create_dataset(name, data=values() if callable(values) else values, **options)

    return change


def zeros(f):
    """The file that took 5.5 GB: 180 million zeros in 1.5 MB, 58 times the same chunk."""
    del f["raw/ranges"]
    made = f.create_dataset("raw/ranges", shape=(58 * 2**20, 3), dtype=np.int64, chunks=(2**20, 3), compression="gzip")
    packed = zlib.compress(bytes(24 * 2**20), 9)
    for i in range(58):
        made.id.write_direct_chunk((i * 2**20, 0), packed)


def inflating(f):
    """A small array, whose one chunk inflates to 1 GB.

    The chunk has 1 MB by itself: one of 192 bytes has its packed length in two bytes, and older HDF5 says so.
    """
    del f["raw/ranges"]
    made = f.create_dataset("raw/ranges", shape=(4096, 3), dtype=np.int64, chunks=(4096, 3), compression="gzip")
    packing = zlib.compressobj(9)
    first = packing.compress(bytes(2**24)) + packing.flush(zlib.Z_FULL_FLUSH)  # after which the same bytes say the same
    last = b"\x03\x00" + (2**30 % 65521 << 16 | 1).to_bytes(4, "big")  # nothing more, and the Adler-32 of the zeros
    packed = first[:2] + 64 * first[2:] + last
    made.id.write_direct_chunk((0, 0), packed)


def deflated_twice(f):
    del f["raw/ranges"]
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_chunk((2**20, 3))
    settings.set_deflate(9)
    settings.set_deflate(9)
    space = h5py.h5s.create_simple((2**20, 3))
    h5py.h5d.create(f["raw"].id, b"ranges", h5py.h5t.NATIVE_INT64, space, settings).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.zeros((2**20, 3), np.int64)
    )


def shared_text(f):
    """A million references to one text of a megabyte."""
    del f["study/json"]
    made = f.create_dataset(
        "study/json", shape=(10**6,), dtype=h5py.string_dtype(), chunks=(10**5,), compression="gzip"
    )
    made[0] = "x" * 2**20


def diagonal(f):
    for name, kind in (("a", np.int64), ("work", np.float64)):
        replaced(f"raw/{name}", np.arange(4, dtype=kind))(f)


def counters(f):
    data = json.loads(f["study/json"][()])
    data["counters"] += [{"name": f"c{i}", "description": "", "digits": 1, "bins": 0} for i in range(10**5)]
    replaced("study/json", json.dumps(data))(f)


COSTLY = {
    "ranges of zeros": zeros,
    "a chunk that inflates": inflating,
    "deflated twice": deflated_twice,
    "a text that is shared": shared_text,
    "too many ranges": replaced(
        "raw/ranges",
        lambda: np.stack([np.zeros(2**21), np.arange(2**21) * 2, np.arange(2**21) * 2 + 1], 1).astype(np.int64),
        compression="gzip",
    ),
    "too many points": replaced("raw/axis_a", lambda: np.zeros(2 * 10**6 + 1, np.int64), compression="gzip"),
    "too many counters": counters,
    "a history of nothing": replaced("provenance/json", lambda: json.dumps([[]] * 2_000_000)),
    "a longer one": replaced("provenance/json", lambda: json.dumps([{}] * 3_000_000)),
    "an attribute of many": lambda f: f.attrs.create("digest", np.zeros(10**6, "S64")),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "r.h5"
    many(4, 1).save(path)
    return path.read_bytes()


MEASURED = """
import re, sys
from pathlib import Path
from fastcube.cli import main
try:
    main(sys.argv[1:])
finally:
    Path("most").write_text(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def cost(folder, command):
    """Run a command with a time limit; return exit status, output, and the largest memory in MB."""
    limited = [
        "sh",
        "-c",
        f'ulimit -t {STOP_SECONDS}; exec "$0" "$@"',
        sys.executable,
        "-P",
        "-c",
        MEASURED,
        *command.split(),
    ]
    done = subprocess.run(
        limited,
        cwd=folder,
        env={**CLEAN_ENVIRONMENT, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr, int((folder / "most").read_text()) / 1000


@pytest.mark.parametrize(
    "commands", [COMMANDS[:1], pytest.param(COMMANDS, marks=pytest.mark.slow)], ids=["info", "all"]
)
@pytest.mark.parametrize("what", mark_others_slow(COSTLY))
def test_a_costly_file_is_refused_at_once(what, commands, good, tmp_path):
    (tmp_path / "r.h5").write_bytes(good)
    edit_hdf5(tmp_path / "r.h5", COSTLY[what])
    for command in commands:
        code, said, most = cost(tmp_path, command)
        assert (code, said.count("\n")) == (2, 1), (command, code, said)
        assert most < MOST_MEGABYTES, command


def test_a_file_that_is_too_long_is_not_read(tmp_path):
    with (tmp_path / "r.h5").open("wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n")
        file.truncate(10**11)
    code, said, most = cost(tmp_path, "info r.h5")
    assert (code, said) == (2, f"fastcube: r.h5 has 100000000000 bytes, a results file at most {size.MOST_BYTES}\n")
    assert most < MOST_MEGABYTES


@pytest.mark.slow
@pytest.mark.parametrize(("points", "ranges"), [(MOST_POINTS, 1), (1000, 650), (1, 650_000)])
def test_the_largest_that_is_taken_costs_no_more(points, ranges, tmp_path):
    results = many(points, min(ranges, 5000))
    if ranges > 5000:
        (key,) = results.tallies
        parts = tuple((2 * i, 2 * i + 1) for i in range(ranges))
        counts = dict.fromkeys(results.tallies[key].counts, 0)
        none = {"bit": (-1, -1), "octal": (-1, -1)}
        results.tallies[key] = replace(results.tallies[key], ranges=parts, counts=counts, maxima=none)
    results.save(tmp_path / "r.h5")
    for command in COMMANDS:
        code, said, most = cost(tmp_path, command)
        assert code == 0, (command, said)
        assert most < MOST_MEGABYTES, command


# ---------------------------------------------------------------- what is written can be read


def test_more_than_a_file_takes_is_refused_at_the_door(tmp_path):
    with pytest.raises(fc.ParameterError, match=r"results of toy take at most 2000000 numbers .* points, .* ranges"):
        fc.run(wide(60), a=range(100), work="0:99", trials=10, output=tmp_path / "r.h5")
    with pytest.raises(fc.ParameterError, match="the product of the axes' values takes at most 10000000 estimates"):
        size.check_size(TOY, [(i, float(i)) for i in range(2000)], 0)
    with pytest.raises(fc.ParameterError, match="results take at most 65537 points, got 65538 of toy"):
        size.check_size(TOY, [(i, 0.0) for i in range(65538)], 0)
    assert list(tmp_path.iterdir()) == []


def wide(outputs):
    @fc.trial
    def nothing(key, t, params, out):
        pass

    return fc.trial_study(
        "toy", "", TOY.axes, [fc.Output(f"o{i}", "", 5) for i in range(outputs)], nothing, [{"a": 1, "work": 0.0}]
    )


def make_measure(axes=1, **texts):
    """A measure with a distribution, which has one more dimension than the axes."""
    given = {"name": "own", "title": "t", "source": "s", "description": "d"} | texts
    return Measure(
        name=given["name"],
        title=given["title"],
        source=given["source"],
        revision=1,
        axes=tuple(fc.Axis(f"x{i}", given["description"], int, 0, 9) for i in range(axes)),
        tally=Layout(Counter("c", "d"), Counter("bins", given["description"], bins=3)),
        statistics=(
            Proportion(name="p", description=given["description"], events="c"),
            Distribution(name="d", description="d", counter="bins", label="of d"),
        ),
    )


@pytest.mark.parametrize("text", ["title", "source", "description"])
def test_the_longest_texts_and_most_axes_are_stored_and_read_back(text, tmp_path):
    for axes, length in ((31, 1), (1, MOST_CHARACTERS)):
        measure = make_measure(axes, **{text: "x" * length})
        results = Results(measure, 0, {(1,) * axes: Tally(((0, 5),), {"c": 1, "bins": (2, 2, 1)}, {})}, Goal(5))
        results.save(tmp_path / "r.h5")
        assert open_results(tmp_path / "r.h5").digest() == results.digest()
    with pytest.raises(fc.ParameterError, match=f"^{text} must have at most 10000 characters, got 10001$"):
        make_measure(**{text: "x" * 10_001})
    with pytest.raises(fc.ParameterError, match=r"^axes of own must be at most 31, got 32$"):
        make_measure(32)


@pytest.mark.parametrize(("module", "name", "value"), [(writing, "FILE_TYPE", "other"), (reading, "MOST_TEXT", 100)])
def test_what_could_not_be_read_back_is_not_run(module, name, value, tmp_path, monkeypatch):
    """Whatever the reason: here the reader takes less than the writer gives."""

    def count(*_):
        raise AssertionError("a trial was run")

    monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(WorkLoop, "run", count)
    with pytest.raises(
        fc.ParameterError, match=r"^results of toy cannot be stored: .*r\.h5 is (damaged|not a fastcube)"
    ):
        fc.run(TOY, a=1, trials=10, output=tmp_path / "r.h5")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_grid_with_trials_of_its_own_at_many_points_is_read_back(tmp_path):
    points = product_grid(a=range(100), work=[float(i) for i in range(10)])
    study = replace(TOY, grids=(Grid("default", points, lambda point: 1 + point["a"] % 2),))
    done = fc.run(study, output=tmp_path / "r.h5")
    assert len(done.goal.to_json()) > 10_000
    assert open_results(tmp_path / "r.h5").goal == done.goal


def test_a_history_of_thousands_of_runs_is_cut_to_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_TEXT", 2**14)
    results = many(1, 1)
    results.history = [
        {"run": i, "resources": {"merged": [{"file": "a", "runs": [{"x": "y" * 5000}]}]}} for i in range(200)
    ]
    results.save(tmp_path / "r.h5")
    kept = open_results(tmp_path / "r.h5").history
    assert kept[-1] == {"run": 199, "resources": {"merged": [{"file": "a", "runs": []}]}}
    assert 10 < len(kept) < 200


# ---------------------------------------------------------------- the numbers behind what is shown


def numbers(column, value):
    def change(f):
        f["raw/numbers_unsafe_fraction"][0, column] = value
        del f["raw"].attrs["numbers"]

    return change


@pytest.fixture
def unsafe(tmp_path):
    fc.run("unsafe-fraction", n=5, f=3, trials=100, output=tmp_path / "r.h5")
    return tmp_path / "r.h5"


@pytest.mark.parametrize(("column", "value"), [(0, 0.0), (1, 16.0), (1, 32.0001), (3, 2.0), (3, 0.5)])
def test_other_numbers_than_the_studys_are_refused_under_the_same_digest(column, value, unsafe):
    edit_hdf5(unsafe, numbers(column, value))
    with pytest.raises(fc.ResultFileError, match="numbers_unsafe_fraction at n=5,f=3 are not those of unsafe-fraction"):
        open_results(unsafe)


def forged(f):
    f["raw/numbers_octal"][0, 1] = 16.0
    del f["raw"].attrs["numbers"]


def test_the_files_own_word_is_called_so(good, unsafe, tmp_path, monkeypatch):
    """Where no study is here, or it defines a statistic otherwise; a study that ran in this process is one that is here."""
    file = tmp_path / "r2.h5"
    file.write_bytes(good)
    own = "units, bounds and scales are read from the file and not checked: "
    assert own not in as_table(open_results(file)) + as_table(open_results(unsafe))
    edit_hdf5(file, forged)
    with pytest.raises(fc.ResultFileError, match=r"numbers_octal at a=0,.* are not those of toy"):
        open_results(file)
    monkeypatch.setattr(registry, "_LIVE_STUDIES", {})
    assert f"{own}all statistics" in " ".join(as_table(open_results(file)).split())
    assert f"numbers    {own}all statistics" in CliRunner().invoke(info.command, [str(file)]).output
    data = json.loads(read(unsafe, "study/json"))
    data["statistics"][0]["units"] = "nodes"
    edit_hdf5(unsafe, replaced("study/json", json.dumps(data)))
    edit_hdf5(unsafe, numbers(1, 16.0))
    assert f"{own}{data['statistics'][0]['name']}" in " ".join(as_table(open_results(unsafe)).split())


def test_words_are_those_of_the_study_that_is_here(unsafe):
    """A title or a description defines nothing: a file with a former one still has its study, and shows its words of today."""
    data = json.loads(read(unsafe, "study/json"))
    for entry in (*data["axes"], *data["statistics"]):
        entry["description"] = "former"
    edit_hdf5(unsafe, replaced("study/json", json.dumps(data)))
    results = open_results(unsafe)
    study = registry.find_study(results.study)
    assert study is not None and not results.study.unverified
    for part in ("axes", "statistics"):
        descriptions = [[one.description for one in getattr(measure, part)] for measure in (results.study, study)]
        assert descriptions[0] == descriptions[1] and "former" not in descriptions[0]


def read(file, name):
    with h5py.File(file) as f:
        return f[name][()].decode()


def test_bounds_are_the_studys_own_wherever_it_is_installed(unsafe):
    before = open_results(unsafe).table()
    edit_hdf5(unsafe, numbers(2, 0.75))
    assert json.dumps(open_results(unsafe).table()) == json.dumps(before)


@pytest.mark.parametrize("column", [0, 1, 2, 3])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, -0.5])
def test_numbers_that_none_can_be_are_refused_wherever_the_study_is(column, value, good, tmp_path):
    file = tmp_path / "r.h5"
    file.write_bytes(good)

    def change(f):
        f["raw/numbers_octal"][0, column] = value
        del f["raw"].attrs["numbers"]

    edit_hdf5(file, change)
    with pytest.raises(
        fc.ResultFileError, match=r"is damaged: a (unit, bound or scale of a statistic is none|statistic is neither)"
    ):
        open_results(file)


def test_a_damaged_number_shows_without_the_files_checksum(good, tmp_path):
    file = tmp_path / "r.h5"
    file.write_bytes(good)
    edit_hdf5(file, lambda f: f["raw/numbers_octal"].write_direct(np.array([7.0]), dest_sel=np.s_[0, 2:3]))  # as it was
    file.write_bytes(file.read_bytes()[:-9])
    assert open_results(file, unchecked=True).study.name == "toy"
    file.write_bytes(good)
    edit_hdf5(file, lambda f: f["raw/numbers_octal"].write_direct(np.array([7.5]), dest_sel=np.s_[0, 2:3]))
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(fc.ResultFileError, match="its numbers do not have the checksum that it states"):
        open_results(file, unchecked=True)
