"""The work of reading a file is at most proportional to its size, whoever wrote it: lines of fastcube's code are counted.

What a single line of code leaves to C is not in these counts, so comparisons of names and of points have tests of their own.
"""

import itertools
import sys
from collections import Counter as Occurrences
from pathlib import Path

import pytest
from helpers.command_line import command_runner  # noqa: F401  (a fixture)
from helpers.forgery import add_checksum
from toy import TOY

import fastcube as fc
from fastcube.kernels.tally.layout import Counter, Layout
from fastcube.measure.choice import Choice
from fastcube.measure.goal import MOST_SHARDS, Goal
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Measure
from fastcube.measure.tally import Tally
from fastcube.results import hdf5, missing_shards, untrusted_hdf5
from fastcube.results.reading import open_results
from fastcube.results.results import Results

N = Axis("n", "a number", int, 0, 10**6)
SHORT = Goal(10)


def results(points, axes=(N,), goal=SHORT, parts=1, history=(), **more):
    """Results at points, each with a tally of ten trials or the given ranges."""
    names = [f"c{i}" for i in range(parts)]
    statistics = tuple(Proportion(name=f"p{i}", description="a fraction", events=c) for i, c in enumerate(names))
    layout = Layout(*(Counter(c, "events") for c in names))
    study = Measure(
        name="grown", title="t", source="s", revision=1, axes=axes, tally=layout, statistics=statistics, **more
    )
    ranges = points if isinstance(points, dict) else dict.fromkeys(points, ((0, 10),))
    tallies = {key: Tally(some, dict.fromkeys(names, 1), {}) for key, some in ranges.items()}
    return Results(study, 0, tallies, goal, list(history))


MERGED = {"file": "x", "digest": "d", "shard": [0, 10], "runs": []}
RUN = {
    "resources": {"merged": [MERGED] * 5, "written": "w"},
    "software": {"version": "1"},
    "environment": {"host": "h"},
}

#: Part of a file that can grow -> results in which it has a size.
GROWING = {
    "points": lambda size: results([(i,) for i in range(size)]),
    "names": lambda size: results(
        [(f"w{i}",) for i in range(size)], [Choice("w", "a name", [f"w{i}" for i in range(size)])]
    ),
    "statistics": lambda size: results([(0,)], parts=size),
    "ranges": lambda size: results({(0,): tuple((2 * i, 2 * i + 1) for i in range(size))}, goal=Goal(10**9)),
    "history": lambda size: results([(0,)], history=[RUN] * size),
    "trials of points": lambda size: results([(0,)], goal=Goal(10, each={f"n={i}": i + 1 for i in range(size)})),
    "code": lambda size: results([(0,)], code={f"f{i}.py": "0" * 16 for i in range(size)}),
    "many shards": lambda size: results([(i,) for i in range(size)], goal=Goal(10**12, shard=(0, 1000))),
}


def count_lines(call):
    """Return how many lines of fastcube's code a call executes."""
    package, lines = str(Path(fc.__file__).resolve().parent), 0

    def trace_line(frame, event, _):
        nonlocal lines
        lines += event == "line"
        return trace_line

    sys.settrace(lambda frame, *_: trace_line if frame.f_code.co_filename.startswith(package) else None)
    try:
        call()
    finally:
        sys.settrace(None)
    return lines


@pytest.mark.parametrize("what", GROWING)
@pytest.mark.parametrize(
    "command",
    ["info FILE", "show FILE --format csv", "show FILE", "status FILE", "merge FILE -o m.h5", "diff FILE FILE"],
)
def test_work_grows_no_faster_than_the_file(run, what, command):
    line, counts = command.replace("FILE", "r.h5"), []
    for size in (20, 80):
        Path("m.h5").unlink(missing_ok=True)
        GROWING[what](size).save("r.h5")
        code, _, said = run(line)  # modules are imported
        assert code in {0, 1}, said
        counts.append(count_lines(lambda: run(line)))
    assert counts[1] < 5 * counts[0], counts


def heap_heads(number, length):
    """The heads of heaps of this length, in each of which an entry holds the beginning of the next, and free space."""
    head = untrusted_hdf5._HEAP + length.to_bytes(8, "little")
    free = bytes(8) + (16).to_bytes(8, "little")
    return (head + b"\1" + bytes(7) + (16).to_bytes(8, "little")) * number + free * 2 * number


@pytest.mark.parametrize("length", [2**40, 32 * 64 + 16], ids=["past the end", "inside the file"])
def test_heaps_that_lie_in_each_other_are_refused(tmp_path, length):
    """Also in a file whose contents are right, of which a walk of each heap to its end would be quadratic."""
    fc.run(TOY, a=1, trials=10, output=tmp_path / "r.h5")
    image = (tmp_path / "r.h5").read_bytes()[: -hdf5.TRAILER_SIZE]
    end = bytes(8) + (10**6).to_bytes(8, "little")
    (tmp_path / "h.h5").write_bytes(add_checksum(image + bytes(-len(image) % 32) + heap_heads(64, length) + end))
    with pytest.raises(fc.ResultFileError, match="heap"):
        open_results(tmp_path / "h.h5")


def test_heaps_are_passed_once():
    one = heap_heads(1, 64)
    counts = [count_lines(lambda n=n: untrusted_hdf5._check_heaps(one * n)) for n in (100, 400)]
    assert counts[1] < 5 * counts[0]


class CountedName(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        CountedName.compared += 1
        return str.__eq__(self, other)


def test_a_name_is_found_without_a_search():
    names = [CountedName(f"w{i}") for i in range(500)]
    axis = Choice("w", "a name", names)
    CountedName.compared = 0
    for name in names:
        axis.check(str(name)), axis.parameter(str(name)), axis.sort_key(str(name))
    assert CountedName.compared <= 4 * len(names)


def test_points_that_dictionaries_would_search_one_by_one_are_refused(tmp_path):
    """The hash values of all products of powers of 2^61 are equal, and 27,000 points would take minutes."""
    powers = [2.0 ** (61 * k) for k in range(-2, 3)]
    axes = [Axis(name, "a number", float, 0, 1e300) for name in ("x", "y", "z")]
    keys = [*itertools.product(powers, repeat=3)]
    assert len(Occurrences(map(hash, keys))) == 1
    results(keys[:64], axes).save(tmp_path / "few.h5")
    assert len(open_results(tmp_path / "few.h5")) == 64
    results(keys, axes).save(tmp_path / "many.h5")
    with pytest.raises(fc.ResultFileError, match="too many of its points have one hash value"):
        open_results(tmp_path / "many.h5")


def test_shards_are_asked_a_limited_number_of_times(monkeypatch):
    """Points that lack different trials of a million shards, each with more shards than trials."""
    monkeypatch.setattr(missing_shards, "_MOST_STEPS", 100)
    each = {f"n={i}": MOST_SHARDS - 1 - i for i in range(50)}
    found = results({(i,): () for i in range(50)}, goal=Goal(10, each=each, shard=(0, MOST_SHARDS)))
    again = missing_shards.incomplete_shards([found], found)[1]
    assert again == [*range(1, MOST_SHARDS)]  # shard 0 of so few trials has none
    few = results({(0,): ()}, goal=Goal(8, shard=(0, 16)))
    assert missing_shards.incomplete_shards([few], few)[1] == [*range(1, 16, 2)]
