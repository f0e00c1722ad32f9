"""What a released version promised holds: its files are read, merged, extended and replayed; its names and options are there."""

import json
import lzma
from pathlib import Path

import pytest
from helpers.command_line import command_runner  # noqa: F401
from helpers.promises import RUN, SHARDS, TRIALS, broken_promises, command_options, parameters_of, promised_points

import fastcube as fc

#: The folders that ``tests/data/record_version.py`` wrote, one for each release.
VERSIONS = sorted(path.parent for path in (Path(__file__).parents[1] / "data").glob("*/promised.json"))
FILES = [path for version in VERSIONS for path in sorted(version.glob("*.h5.xz"))]
POINTS = {entry["study"]: entry["point"] for entry in promised_points()}


def promised(version):
    return json.loads((version / "promised.json").read_text())


def study_of(kept):
    return kept.name.removesuffix(".h5.xz")


def name_of(kept):
    return f"{kept.parent.name}-{study_of(kept)}"


@pytest.fixture
def file(kept, tmp_path):
    path = tmp_path / f"{study_of(kept)}.h5"
    path.write_bytes(lzma.decompress(kept.read_bytes()))
    return path


def test_versions_are_small_and_hold_every_study_of_theirs():
    assert VERSIONS
    for version in VERSIONS:
        files = list(version.glob("*.h5.xz"))
        assert {study_of(path) for path in files} == set(promised(version)["digests"])
        assert sum(path.stat().st_size for path in version.iterdir()) < 300_000


@pytest.mark.parametrize("kept", FILES, ids=name_of)
def test_a_kept_file_is_read(kept, file):
    results = fc.open_results(file)
    now = fc.study(study_of(kept))
    assert (results.study.name, results.seed, results.trials) == (now.name, RUN["seed"], TRIALS // SHARDS)
    assert results.study.revision == now.revision, "a study whose trials change needs a new kept file of its own"
    assert {s.name for s in results.study.statistics} <= {s.name for s in now.statistics}


@pytest.mark.kernels
@pytest.mark.parametrize("kept", FILES, ids=name_of)
def test_a_kept_file_is_merged_extended_and_replayed(kept, file, run):
    name = study_of(kept)
    complete, longer = promised(kept.parent)["digests"][name]
    fc.run(name, output=file.with_name("other.h5"), trials=TRIALS, shard=(1, SHARDS), **RUN, **POINTS[name])
    assert run(f"merge {file.name} other.h5 -o whole.h5")[0] == 0
    whole = file.with_name("whole.h5")
    assert fc.open_results(whole).digest() == complete
    assert fc.run(name, output=whole, trials=2 * TRIALS, **RUN, **POINTS[name]).digest() == longer
    status, out, err = run("replay whole.h5 --trial 1")
    assert (status, err) == (0, "")
    assert out


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_promised_names_and_parameters_are_there(version):
    missing, broken = [], {}
    for name, old in promised(version)["python"].items():
        if not hasattr(fc, name):
            missing.append(name)
        elif wrong := broken_promises(old, parameters_of(getattr(fc, name))):
            broken[name] = wrong
    assert not missing
    assert not broken


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_promised_commands_and_options_are_there(version):
    now = command_options()
    assert not {
        name: missing
        for name, options in promised(version)["commands"].items()
        if (missing := set(options) - set(now.get(name, ())))
    }


def test_a_broken_promise_is_seen():
    def old(a, b=1, *, c=2):
        pass

    def fewer(a, *, c=2):
        pass

    def more_required(a, b=1, d=None, *, c=2, e):
        pass

    def other_order(b=1, a=0, *, c=2):
        pass

    def good(a, b=1, d=None, *, c=2, e=0):
        pass

    before = parameters_of(old)
    assert broken_promises(before, parameters_of(good)) == []
    assert broken_promises(before, parameters_of(fewer)) == ["b", "the order ['a', 'b']"]
    assert broken_promises(before, parameters_of(more_required)) == ["e has no default"]
    assert broken_promises(before, parameters_of(other_order)) == ["the order ['a', 'b']"]
