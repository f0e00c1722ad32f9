"""The door: types of every argument, sizes, names, and two runs of one output; nothing fails late, nothing is lost."""

from __future__ import annotations

import errno
import functools
import os
import signal
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import TOY_FILE
from toy import TOY

import fastcube as fc
from fastcube.results import replacement
from fastcube.results.output import OutputFile
from fastcube.results.reading import open_results

ONE = {"a": 1, "work": 0.0}


@pytest.mark.parametrize(
    "given",
    [
        {"trials": np.int64(100)},
        {"trials": np.uint8(100)},
        {"trials": "1e2"},
        {"trials": 100, "seed": np.int32(0)},
        {"trials": 100, "seed": "0"},
        {"trials": 400, "shard": (np.int64(0), np.int64(4))},
        {"trials": 400, "shard": "0/4"},
        {"trials": np.int16(100), "workers": np.int64(1), "max_seconds": Fraction(100)},
    ],
)
def test_any_integer_type_and_text_as_on_the_command_line(given, tmp_path):
    out = tmp_path / "r.h5"
    results = fc.run(TOY, **ONE, **given, output=out)
    assert results.tallies == of_100()
    assert open_results(out).digest() == results.digest()


@functools.cache
def of_100():
    return fc.run(TOY, **ONE, trials=100).tallies


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"trials": True}, "trials must be a whole number (1e6 is one), got True"),
        ({"trials": 1.5}, "trials must be a whole number (1e6 is one), got 1.5"),
        ({"trials": float("nan")}, "trials must be a whole number (1e6 is one), got nan"),
        ({"trials": "1e999999999"}, "trials must be a whole number (1e6 is one), got 1e999999999"),
        ({"trials": 10**400}, "trials must be in [1, 1152921504606846976], got about 10^400"),
        ({"seed": -1}, "seed must be in [0, 9223372036854775807], got -1"),
        ({"seed": np.bool_(True)}, "seed must be a whole number"),
        ({"events": Decimal("1.5")}, "events must be a whole number (1e6 is one), got 1.5"),
        ({"precision": float("nan")}, "precision must be a number or a percentage, got nan"),
        ({"precision": False}, "precision must be a number or a percentage, got False"),
        ({"relative": "x%"}, "relative must be a number or a percentage, got x%"),
        ({"shard": "²/3"}, "shard must be I/N with 0 <= I < N, got ²/3"),
        ({"shard": (1, 2, 3)}, "shard must be I/N with 0 <= I < N, got (1, 2, 3)"),
        ({"shard": 7}, "shard must be I/N with 0 <= I < N, got 7"),
        ({"max_seconds": "soon"}, "max_seconds must be a number, got soon"),
        ({"checkpoint": 0.1}, "checkpoint must be in [1, 86400] seconds, got 0.1"),
        ({"grid": "fine"}, "grid must be one of default for toy, got fine"),
        ({"a": True}, "a must be an integer in [0, 100], got True"),
        ({"a": range(101), "work": "0:2000"}, "a run takes at most 65537 points, got 202101 of toy"),
        ({"work": "0:1e9:1e-3"}, "work range must be lo:hi[:step] with lo <= hi, step > 0 and at most 65537 values"),
    ],
)
def test_what_cannot_be_meant_is_one_line_before_the_first_trial(given, message, tmp_path):
    with pytest.raises(fc.ParameterError) as error:
        fc.run(TOY, **{**ONE, **given}, output=tmp_path / "r.h5")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_minus_zero_is_zero():
    assert fc.run(TOY, a=1, work=-0.0, trials=100).tallies == of_100()


@pytest.mark.parametrize("length", [200, 225, 250, 255])
def test_names_as_long_as_file_systems_take(length, tmp_path, monkeypatch):
    out = tmp_path / ("r" * (length - 3) + ".h5")
    mine = OutputFile(str(out))
    mine.save(fc.run(TOY, **ONE, trials=10))
    assert open_results(out).tallies[1, 0.0].trials == 10
    fc.run(TOY, **ONE, trials=20).save(out)  # another process
    with pytest.raises(fc.ResultFileError, match="was changed by another process; the work done is saved in"):
        mine.save(fc.run(TOY, **ONE, trials=30))
    rescued = [path for path in tmp_path.iterdir() if path != out]
    assert [open_results(path).tallies[1, 0.0].trials for path in rescued] == [30]


def test_a_longer_name_is_refused_at_once(tmp_path):
    with pytest.raises(fc.ResultFileError, match="name too long"):
        fc.run(TOY, **ONE, trials=10, output=tmp_path / ("r" * 260 + ".h5"))


# ---------------------------------------------------------------- failures while saving


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS], ids=errno.errorcode.get)
@pytest.mark.parametrize("step", ["open", "write", "fsync", "rename"])
def test_whatever_fails_while_saving_the_work_goes_somewhere(step, number, tmp_path, monkeypatch):
    out, elsewhere = tmp_path / "out" / "r.h5", tmp_path / "elsewhere"
    out.parent.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    mine, work = OutputFile(str(out)), fc.run(TOY, **ONE, trials=10)

    def failing(real):
        def call(path, *args, **kwargs):
            here = str(Path(f"/proc/self/fd/{path}").readlink() if isinstance(path, int) else path)
            if str(out.parent) in here and ".lock" not in here:
                raise OSError(number, os.strerror(number))
            return real(path, *args, **kwargs)

        return call

    if step == "fsync":
        monkeypatch.setattr(replacement.os, "fsync", failing(os.fsync))
    elif step == "rename":
        monkeypatch.setattr(replacement.Path, "replace", failing(replacement.Path.replace))
    elif step == "open":
        monkeypatch.setattr(replacement.os, "open", failing(os.open))
    else:
        monkeypatch.setattr(replacement, "_write_all", failing(replacement._write_all))
    with pytest.raises(fc.ResultFileError) as error:
        mine.save(work)
    assert "the work done is saved in" in str(error.value)
    rescued = next(elsewhere.iterdir())
    assert open_results(rescued).digest() == work.digest()
    assert not out.exists()


def test_an_error_of_any_other_kind_leads_to_the_rescue_too(tmp_path, monkeypatch):
    work = fc.run(TOY, **ONE, trials=10)
    mine, real, calls = OutputFile(str(tmp_path / "r.h5")), type(work).save, []

    def save(self, path):
        calls.append(path)
        if len(calls) == 1:
            raise TypeError("an unexpected\nkind")
        real(self, path)

    monkeypatch.setattr(type(work), "save", save)
    with pytest.raises(fc.ResultFileError, match="TypeError: an unexpected kind; the work done is saved in"):
        mine.save(work)
    assert open_results(tmp_path / "r.rescued.h5").digest() == work.digest()


# ---------------------------------------------------------------- two runs of one output


@pytest.mark.parametrize("pairs", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_two_writers_let_loose_together_lose_nothing(pairs, tmp_path):
    """Forked from this process and released by a pipe: each ends with its results in the file or beside it."""
    works = [fc.run(TOY, **ONE, trials=10, seed=seed) for seed in (1, 2)]
    for pair in range(pairs):
        out = tmp_path / f"{pair}.h5"
        outputs = [OutputFile(str(out)) for _ in works]
        hold, release = os.pipe()
        children = []
        for mine, work in zip(outputs, works, strict=True):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    os.close(release)
                    os.read(hold, 1)
                    mine.save(work)
                    code = 0
                except fc.ResultFileError:
                    code = 2
                finally:
                    os._exit(code)
            children.append(child)
        os.close(hold)
        os.close(release)
        codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
        assert codes == [0, 2]
        held = {open_results(path).digest() for path in (out, out.with_name(f"{pair}.rescued.h5"))}
        assert held == {work.digest() for work in works}


# ---------------------------------------------------------------- signals before the driver listens


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGUSR1, 75)])
def test_signals_are_served_before_anything_heavy_is_imported(number, code, tmp_path):
    """A study file that signals its own process while it is loaded: long before the driver."""
    file = tmp_path / "early.py"
    file.write_text(f"import os, signal\nos.kill(os.getpid(), {int(number)})\nimport time\ntime.sleep(60)\n")
    done = subprocess.run(
        [sys.executable, "-m", "fastcube", "run", str(file)], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, list(tmp_path.glob("*.h5"))) == (code, b"", [])


def test_an_exit_in_a_study_file_is_one_line(tmp_path):
    file = tmp_path / "leaves.py"
    file.write_text("raise SystemExit(0)\n")
    done = subprocess.run(
        [sys.executable, "-m", "fastcube", "run", str(file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot be loaded: SystemExit: 0" in done.stderr


@pytest.mark.slow
def test_output_that_cannot_be_written_is_one_line(tmp_path):
    fc.run(TOY, **ONE, trials=10, output=tmp_path / "r.h5")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "fastcube", "show", str(tmp_path / "r.h5"), "--study", TOY_FILE],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "output cannot be written: No space left on device" in done.stderr
