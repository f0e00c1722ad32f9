"""Files that are made to harm: each is refused in one line, at once, without running, following or allocating anything."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import h5py
import numpy as np
import pytest
from helpers.forgery import add_checksum, edit_hdf5, text_attribute
from toy import TOY

import fastcube as fc
from fastcube.errors import FormatTooNewError
from fastcube.measure import registry
from fastcube.results import hdf5
from fastcube.results.reading import open_results


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Bytes of a good file of four points."""
    registry.register_live_study(TOY)
    path = tmp_path_factory.mktemp("good") / "r.h5"
    fc.run(TOY, a=[1, 2], work=[0.0, 1.0], trials=100, output=path)
    return path.read_bytes()


@pytest.fixture
def file(whole, tmp_path):
    path = tmp_path / "r.h5"
    path.write_bytes(whole)
    return path


def replaced(name, values):
    """Put another dataset in the place of one."""

    def change(f):
        del f[name]
        f[name] = values

    return change


def huge(f):
    del f["raw/ranges"]
    f.create_dataset("raw/ranges", shape=(2**28, 3), dtype=np.int64, chunks=(2**20, 3), compression="gzip")


def external(f):
    del f["raw/count_bit_total"]
    f["raw"].create_dataset("count_bit_total", shape=(4, 2), dtype=np.int64, external=[("/etc/passwd", 0, 64)])


def virtual(f):
    del f["raw/count_bit_total"]
    layout = h5py.VirtualLayout(shape=(4, 2), dtype=np.int64)
    layout[:] = h5py.VirtualSource("other.h5", "x", shape=(4, 2))
    f["raw"].create_virtual_dataset("count_bit_total", layout)


def linked(link):
    def change(f):
        del f["raw/axis_a"]
        f["raw/axis_a"] = link

    return change


def study(change):
    """Edit what the file states of its study."""

    def edited(f):
        data = json.loads(f["study/json"][()])
        change(data)
        replaced("study/json", json.dumps(data))(f)

    return edited


def goal(**fields):
    """Return the stored goal of the last run."""
    return text_attribute("goal", json.dumps({"trials": 100, **fields}))


def version(*numbers):
    return lambda f: f.attrs.__setitem__("format_version", np.array(numbers))


HOSTILE = {
    "soft link": linked(h5py.SoftLink("/raw/axis_work")),
    "external link": linked(h5py.ExternalLink("other.h5", "/raw/axis_a")),
    "external storage": external,
    "virtual storage": virtual,
    "more declared than held": huge,
    "a point twice": replaced("raw/axis_a", np.array([1, 1, 1, 1])),
    "a point out of range": replaced("raw/axis_a", np.array([1, 1, 2, 1000])),
    "another type": replaced("raw/axis_a", np.array([1.0, 1.0, 2.0, 2.0])),
    "a range of another point": replaced("raw/ranges", np.array([[9, 0, 100]])),
    "a range backwards": replaced("raw/ranges", np.array([[0, 100, 0]])),
    "a negative trial": replaced("raw/ranges", np.array([[0, -5, 100]])),
    "a trial past the last": replaced("raw/ranges", np.array([[0, 0, 2**62]])),
    "overlapping ranges": replaced("raw/ranges", np.array([[0, 0, 100], [0, 50, 150]])),
    "more events than trials": replaced("raw/count_bit_nonzero", np.array([500] * 4)),
    "a square below its mean": replaced("raw/count_octal_squares", np.zeros((4, 2), np.int64)),
    "a witness that did not run": replaced("raw/max_octal", np.array([[7, 10**6]] * 4)),
    "missing counter": lambda f: f.__delitem__("raw/count_bit_nonzero"),
    "goal of another type": text_attribute("goal", "[1, 2]"),
    "trials of a point of another type": text_attribute("goal", '{"trials": 10, "each": {"a=1,work=0.0": "many"}}'),
    "history of another type": replaced("provenance/json", '{"a": 1}'),
    "history of no runs": replaced("provenance/json", "[1, 2]"),
    "no JSON": replaced("study/json", "{" * 50),
    "deep JSON": replaced("study/json", "[" * 100_000),
    "control characters": text_attribute("title", "\x1b[2Jgone"),
    "a name that is a path": study(lambda d: d["statistics"][0].update(name="../../etc")),
    "an unknown kind": study(lambda d: d["statistics"][0].update(kind="Study")),
    "a field that is none": study(lambda d: d["statistics"][0].update(evil=1)),
    "a counter of many bins": study(lambda d: d["counters"][0].update(bins=10**12)),
    **{
        f"goal: {name} {value}": goal(**{name: value})
        for name, value in [
            ("trials", "x"),
            ("trials", True),
            ("trials", 0),
            ("trials", 1.5),
            ("events", [1]),
            ("events", 10**30),
            ("precision", "x"),
            ("precision", True),
            ("precision", 2.0),
            ("precision", float("nan")),
            ("relative", []),
            ("target", 5),
            ("target", "bit"),
            ("shard", 5),
            ("shard", [1]),
            ("shard", [5, 3]),
            ("shard", ["0", "2"]),
            ("shard", [True, 2]),
            ("shard", [0, 10**12]),
            ("each", 5),
            ("each", {"a=1,work=0.0": True}),
            ("each", {"a=1,work=0.0": -5}),
        ]
    },
    "a target that is none": goal(target="nobody", precision=0.1),
    "another version": version(4, 0),
    "half a version": version(2.5, 0.5),
    "three versions": version(2, 0, 0),
    "a kind of no type": study(lambda d: d["statistics"][0].update(kind=["Mean"])),
    "no kind": study(lambda d: d["statistics"][0].pop("kind")),
    "an axis of no kind": study(lambda d: d["axes"][0].update(kind="eval")),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(what, file):
    edit_hdf5(file, HOSTILE[what])
    with pytest.raises(fc.FastcubeError) as error:
        open_results(file)
    said = str(error.value)
    assert said.isprintable(), said
    assert len(said) < 600


#: Counters or maxima of the first point that no trials can give.
IMPOSSIBLE = {
    "bit_nonzero": {"bit_nonzero": 101},
    "octal_squares": {"octal_squares": 0},
    "squares above all": {"octal_squares": 2**63 - 1},
    "squares above the total's": {"octal_total": 300, "octal_squares": 300**2 + 1},
    "squares above the largest value's": {"octal_total": 300, "octal_squares": 7 * 300 + 1},
    "octal": {"octal": (7, 100)},
    "bit": {"bit": (1, -2)},
}


@pytest.mark.parametrize("broken", IMPOSSIBLE)
def test_counts_that_no_trials_can_give_are_refused_under_a_right_digest(broken, whole, file, monkeypatch):
    """They are neither written, as the counts of a wrong study would be, nor read from another program's file."""
    results = open_results(file)
    first = min(results.tallies)
    tally = results.tallies[first]
    change = IMPOSSIBLE[broken]
    broken = list(change)[-1]
    of = "counts" if broken in tally.counts else "maxima"
    results.tallies[first] = replace(tally, **{of: {**getattr(tally, of), **change}})
    said = f"{broken} at a=1,work=0.0 is impossible for 100 trials"
    with pytest.raises(fc.StudyError, match=f"^study toy counts wrongly, so nothing is saved: {said}$"):
        results.save(file)
    assert open_results(file).tallies[first] == tally
    monkeypatch.setattr("fastcube.results.writing.check_counts", lambda *_: None)
    results.save(file)
    with pytest.raises(fc.ResultFileError, match=said):
        open_results(file)


def test_what_this_version_does_not_know_is_named(file):
    edit_hdf5(file, study(lambda d: d["statistics"][1].update(kind="Median")))
    message = "describes statistic octal by the kind Median, which this fastcube does not know"
    with pytest.raises(fc.ResultFileError, match=rf"\.h5 {message}; run its study again"):
        open_results(file)
    edit_hdf5(file, version(3, 7))
    with pytest.raises(FormatTooNewError, match=rf"has format 3\.7, this fastcube reads 3\.0: {message}"):
        open_results(file)
    edit_hdf5(file, study(lambda d: d["statistics"][1].update(kind="Mean")))
    assert open_results(file).tallies == fc.run(TOY, a=[1, 2], work=[0.0, 1.0], trials=100).tallies
    edit_hdf5(file, study(lambda d: d["statistics"][1].pop("total")))
    with pytest.raises(FormatTooNewError, match=r"has format 3\.7"):
        open_results(file)


MARKUP = "<img src=x onerror=alert(1)>\"'&</td> $x_{ $ ^ \\frac{1}{"


def test_markup_from_a_file_is_text_wherever_results_are_shown(file, tmp_path):
    for name in ("title", "source", "grid"):
        edit_hdf5(file, text_attribute(name, MARKUP))
    for part in ("axes", "counters", "statistics"):
        edit_hdf5(file, study(lambda d, part=part: d[part][0].update(description=MARKUP)))
    edit_hdf5(file, study(lambda d: d["statistics"][0].update(units=MARKUP)))
    results = open_results(file)
    assert repr(results).isprintable()
    results.plot(path=tmp_path / "f.svg")
    shown = [results._repr_html_(), results.to_xarray()._repr_html_(), (tmp_path / "f.svg").read_text()]
    assert not any("<img" in page for page in shown)
    assert len(results.to_dataframe()) == 8
    assert results.sel(a=1).estimate("bit", work=0.0) == results.estimate("bit", a=1, work=0.0)


def test_a_goal_of_a_newer_minor_version_is_read(file):
    edit_hdf5(file, text_attribute("goal", '{"trials": 10, "soon": [1]}'))
    assert open_results(file).goal.trials == 10


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")], ids=["fifo", "folder", "device"]
)
def test_what_is_no_regular_file_is_one_line_at_once(make, tmp_path):
    make(tmp_path / "r.h5")
    with pytest.raises(fc.ResultFileError, match=r"is not a regular file|is a folder"):
        open_results(tmp_path / "r.h5")


LINES = (
    "show r.h5",
    "plot r.h5 -o r.png",
    "info r.h5",
    "merge r.h5 -o m.h5",
    "status r.h5",
    "show r.h5 --format csv",
    "replay r.h5 --point a=1,work=0 --trial 1",
)


@pytest.mark.parametrize("lines", [pytest.param(LINES, marks=pytest.mark.slow), LINES[::3]], ids=["all", "some"])
def test_no_code_that_a_file_names_is_run(file, tmp_path, lines):
    """The old attribute, a hostile module next to the file, and a study of the same name: looked at by every command."""
    (tmp_path / "toy.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    edit_hdf5(file, text_attribute("study_file", str(tmp_path / "toy.py")))
    code = f"from fastcube.cli import group\nfor line in {lines}: group.main(line.split(), standalone_mode=False)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "--study FILE.py" in done.stderr.splitlines()[-1], done.stderr
    assert (tmp_path / "m.h5").exists()
    assert lines != LINES or (tmp_path / "r.png").exists()
    assert not (tmp_path / "ran").exists()


def test_results_are_read_shown_and_merged_where_their_study_is_not(tmp_path):
    """Another process, that has no toy.py on its path."""
    for i in range(2):
        fc.run(TOY, a=1, work=0.0, trials=100, shard=(i, 2), output=tmp_path / f"s{i}.h5")
    done = subprocess.run(
        [sys.executable, "-m", "fastcube", "merge", "s0.h5", "s1.h5", "-o", "m.h5"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    whole = fc.run(TOY, a=1, work=0.0, trials=100)
    merged = open_results(tmp_path / "m.h5")
    assert merged.digest() == whole.digest()
    assert merged.table() == whole.table()


def test_memory_is_bounded_by_what_the_file_justifies(file):
    """30 KB that declare 6 GB: refused in a process that may have 3 GB of address space in all."""
    edit_hdf5(file, huge)
    code = f"import fastcube as fc\ntry:\n fc.open_results({str(file)!r})\nexcept fc.ResultFileError as e: print(e)"
    limit = 3 * 2**30
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert "more than a results file takes" in done.stdout


@pytest.mark.parametrize("unchecked", [False, True])
@pytest.mark.parametrize("size", [0, 2**40, 2**64 - 16, 2**64 - 48])
def test_texts_that_hdf5_would_read_for_ever_are_refused(whole, tmp_path, size, unchecked):
    """The size of an entry says where the next one is: HDF5 stays at one of no size, and may go back."""
    heap, image = whole.index(b"GCOL"), bytearray(whole[: -hdf5.TRAILER_SIZE])
    image[heap + 16 : heap + 18] = bytes(2) if size == 0 else b"\1\0"
    image[heap + 24 : heap + 32] = size.to_bytes(8, "little")
    path = tmp_path / "r.h5"
    path.write_bytes(image if unchecked else add_checksum(bytes(image)))
    with pytest.raises(fc.ResultFileError, match="a heap of texts has an entry of impossible size"):
        open_results(path, unchecked=unchecked)


@pytest.mark.slow
def test_3000_damaged_files_are_refused(whole, tmp_path):
    path, rng = tmp_path / "r.h5", random.Random(7)
    for turn in range(3000):
        bad, at = bytearray(whole), rng.randrange(len(whole))
        match turn % 4:
            case 0:
                bad[at] ^= 1 << rng.randrange(8)
            case 1:
                bad[at : at + 100] = rng.randbytes(len(bad[at : at + 100]))
            case 2:
                del bad[at:]
            case 3:
                bad[at:at] = rng.randbytes(rng.randrange(1, 50))
        path.write_bytes(bad)
        with pytest.raises(fc.ResultFileError) as error:
            open_results(path)
        assert "\n" not in str(error.value)


def opened_in_a_child(path, good):
    """Read a file in another process, because HDF5 may crash or hang on it; return the outcome."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            code = 1 if open_results(path).digest() == good else 3
        except fc.FastcubeError as error:
            code = 0 if "\n" not in str(error) else 3
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "refused", 1: "unchanged", -signal.SIGALRM: "spun"}.get(code, "wrong" if code > 0 else "crashed")


@pytest.mark.slow
def test_damage_under_a_checksum_that_was_recomputed(whole, tmp_path, capsys):
    """Here HDF5 sees what is damaged, and may spin or crash: counted, not hidden; a wrong number never comes out."""
    path, rng = tmp_path / "r.h5", random.Random(8)
    path.write_bytes(whole)
    good, counts = open_results(path).digest(), Counter()
    for _ in range(300):
        image = bytearray(whole[: -hdf5.TRAILER_SIZE])
        image[rng.randrange(len(image))] ^= 1 << rng.randrange(8)
        path.write_bytes(add_checksum(bytes(image)))
        counts[opened_in_a_child(path, good)] += 1
    with capsys.disabled():
        print(f"\n300 files with damage under a recomputed checksum: {dict(counts)}")
    assert not counts["wrong"]
