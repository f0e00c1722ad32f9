"""Signals, SIGKILL and failing disks: no trial is lost, and one line explains the event."""

import contextlib
import json
import os
import queue
import random
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from helpers.compiled import mark_others_slow
from helpers.executors import Clock, ImmediateExecutor, use_executor
from helpers.processes import (
    CLEAN_ENVIRONMENT,
    STUCK_SECONDS,
    TOY_FILE,
    BackgroundRun,
    fill_file_system,
    mount_tmpfs,
    remount_read_only,
    run_fastcube,
    stepped_command,
)
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.measure import registry
from fastcube.measure.goal import Goal
from fastcube.results.output import OutputFile
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.running import signals, work_loop
from fastcube.running.driver import run_study
from fastcube.running.signals import INTERRUPTED, TERMINATED, WORK_REMAINS
from fastcube.running.work_units import run_unit

CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGUSR1: WORK_REMAINS}

# three quick trials, then three of half an hour each: at half way, kernels run that will not end by themselves
LONG = ("run", TOY_FILE, "--set", "a=1", "--set", "work=0,1e12", "--trials", "3")
# of which HELD does a part and then waits
SHORT = ("run", TOY_FILE, "--workers", "2", "--set", "a=1,2", "--trials", "20001")
HELD = ("items=5000", "checkpoints=none")


@pytest.fixture(scope="module")
def undisturbed():
    """Digest of SHORT, run in one go."""
    return fc.run(TOY, a=[1, 2], trials=20_001).digest()


# ---------------------------------------------------------------- signals


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without jit a kernel holds Python's lock")
@pytest.mark.slow
@pytest.mark.parametrize("number", CODES, ids=lambda n: n.name)
def test_signals_are_served_while_kernels_run(tmp_path, number):
    out = tmp_path / "r.h5"
    with BackgroundRun(*LONG, "-o", out) as run:
        code, lines = run.wait_for("50.0%").end(number)
    assert code == CODES[number]
    assert len(lines) == 1
    assert f"checkpoint written to {out}; go on with: fastcube run {TOY_FILE}" in lines[0]
    assert {p["work"]: t.trials for p, t in open_results(out)} == {0.0: 3, 1e12: 0}


def test_the_line_it_says_resumes_to_the_undisturbed_result(tmp_path, undisturbed):
    out = tmp_path / "r.h5"
    with BackgroundRun(*SHORT, "-o", out, "--force", command=stepped_command(*HELD)) as run:
        code, lines = run.wait_for("held").end(signal.SIGTERM)
    assert code == TERMINATED
    assert "--force" not in lines[0]
    done = sum(t.trials for _, t in open_results(out))
    assert 0 < done < 40_002
    again = shlex.split(lines[0].split("go on with: fastcube ")[1])
    assert run_fastcube(*again).returncode == 0
    results = open_results(out)
    assert results.digest() == undisturbed
    assert len(results.history) == 2


@pytest.mark.slow
def test_a_second_signal_exits_at_once(tmp_path):
    steps = stepped_command("items=5000", "checkpoints=none", "saving=never", "repeats=none")
    with BackgroundRun(*SHORT, "-o", tmp_path / "r.h5", command=steps) as run:
        run.wait_for("held").process.send_signal(signal.SIGTERM)
        code, _ = run.wait_for("saving").end(signal.SIGINT)
    assert code == INTERRUPTED
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize("number", mark_others_slow([signal.SIGTERM, signal.SIGUSR1]), ids=lambda n: n.name)
def test_a_signal_that_a_launcher_delivers_twice_is_one(tmp_path, monkeypatch, number):
    clock, left, sent = Clock(monkeypatch), [], []
    monkeypatch.setattr(os, "_exit", left.append)

    def signalling(item):
        if not sent:
            for _ in range(2):
                sent.append(os.kill(os.getpid(), number))
        return run_unit(item)

    monkeypatch.setattr(work_loop, "run_unit", signalling)
    use_executor(monkeypatch, ImmediateExecutor(), 1, 1.0)
    begun, out = clock.now, tmp_path / "r.h5"
    _, code = run_study(TOY, [TOY.point({"a": 1, "work": 0})], Goal(trials=10**6), output=str(out))
    assert (code, left) == (CODES[number], [])
    assert clock.now == pytest.approx(begun + signals.REPEAT_SECONDS)  # the old handlers are not back before
    assert 0 < open_results(out).tallies[1, 0.0].trials < 10**6


def test_a_signal_later_than_that_is_a_second_wish(monkeypatch):
    clock, left, wake = Clock(monkeypatch), [], queue.SimpleQueue()
    monkeypatch.setattr(os, "_exit", left.append)
    with signals.own_process(), signals.handle_signals(wake.put):
        os.kill(os.getpid(), signal.SIGTERM)
        clock.now += 0.9 * signals.REPEAT_SECONDS
        os.kill(os.getpid(), signal.SIGINT)
        assert left == []
        clock.now += 0.2 * signals.REPEAT_SECONDS
        os.kill(os.getpid(), signal.SIGINT)
    assert left == [INTERRUPTED]
    assert (wake.get_nowait(), wake.empty()) == (TERMINATED, True)


@pytest.mark.slow
def test_max_seconds_says_that_work_remains(tmp_path):
    done = run_fastcube(*LONG, "-o", tmp_path / "r.h5", "--max-seconds", "0.3", "--progress", "lines")
    assert done.returncode == WORK_REMAINS
    *_, progress, last = done.stderr.splitlines()
    assert bool(done.stdout) == ("checkpoint written" in last)  # the table, and the notes under it
    assert progress.endswith(("elapsed", "fewer than 30 trials at 2 of 2 points"))
    assert last.startswith(
        ("fastcube: work remains; checkpoint written to", "fastcube: work remains; no trial is done")
    )


# ---------------------------------------------------------------- SIGKILL


def kill_often(folder, how, kills):
    script = Path(__file__).parents[1] / "helpers/killed_runs.py"
    run = subprocess.run(
        [sys.executable, script, folder / "r.h5", how, str(kills)],
        capture_output=True,
        text=True,
        timeout=STUCK_SECONDS,
        check=False,
        env={**CLEAN_ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    reported = json.loads(run.stdout)
    assert reported["same"]
    assert reported["left"] == ["r.h5"], "temporary files of killed writers are left"
    return reported


@pytest.mark.slow
def test_killed_at_each_step_of_a_checkpoint_the_file_is_whole_and_resumes(tmp_path):
    reported = kill_often(tmp_path, "steps", 12)
    assert reported["half written"] == 9  # in the midst of writing, before the sync, before the rename
    assert reported["grown"] >= 3  # before the sync of the folder: the renamed file holds the new trials


@pytest.mark.slow
def test_killed_at_fifty_random_moments_the_file_is_whole_and_resumes(tmp_path):
    kill_often(tmp_path, "moments", 50)


@pytest.mark.slow
def test_a_killed_command_resumes_from_its_last_checkpoint(tmp_path):
    out = tmp_path / "r.h5"
    options = ("--set", "a=1", "--set", "work=3000", "-o", out)
    with BackgroundRun("run", TOY_FILE, *options, "--trials", "1e9") as run:
        run.wait_for_file(out)
        assert run.end(signal.SIGKILL)[0] == -signal.SIGKILL
    trials = open_results(out).tallies[1, 3000.0].ranges[-1][1] + 1
    assert run_fastcube("run", TOY_FILE, *options, "--trials", trials).returncode == 0
    assert open_results(out).digest() == fc.run(TOY, a=1, work=3000, trials=trials).digest()


# ---------------------------------------------------------------- disks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fail", "message"),
    mark_others_slow([(fill_file_system, "no space left on the disk"), (remount_read_only, "read-only file system")]),
)
def test_a_disk_that_fills_up_or_fails_during_the_run(tmp_path, undisturbed, fail, message):
    (tmp_path / "here").mkdir()
    with mount_tmpfs(tmp_path / "disk", "size=256k") as disk:
        out = disk / "r.h5"
        fc.run(fc.study(TOY_FILE), a=[1, 2], trials=1000, output=out)
        with BackgroundRun(*SHORT, "-o", out, cwd=tmp_path / "here", command=stepped_command(*HELD)) as run:
            run.wait_for("held")
            fail(disk)
            held = out.read_bytes()
            code, lines = run.end(signal.SIGTERM)
        rescued = tmp_path / "here" / "r.rescued.h5"
        assert code == 2
        assert lines == [f"fastcube: {out} cannot be written: {message}; the work done is saved in {rescued}"]
        assert out.read_bytes() == held
    assert sum(t.trials for _, t in open_results(rescued)) > 2000
    assert fc.run(fc.study(TOY_FILE), a=[1, 2], trials=20_001, output=rescued).digest() == undisturbed


def test_a_failed_checkpoint_does_not_end_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the work of the failed one is saved
    gate = tmp_path / "gate"
    with mount_tmpfs(tmp_path / "disk", "size=256k") as disk:
        out = disk / "r.h5"
        with BackgroundRun(*SHORT, "-o", out, command=stepped_command("items=5000", f"checkpoints={gate}")) as run:
            run.wait_for("about to write")
            fill_file_system(disk)
            gate.touch()
            run.wait_for(f"checkpoint failed: {out} cannot be written: no space left on the disk")
            (disk / "filler").unlink()
            code, _ = run.end(signal.SIGUSR1)
        assert code == WORK_REMAINS
        assert 0 < open_results(out).tallies[1, 0.0].trials <= 5000


@pytest.mark.slow
def test_when_nothing_can_be_written_the_old_file_stays(tmp_path):
    out = tmp_path / "r.h5"
    fc.run(fc.study(TOY_FILE), a=[1, 2], trials=1000, output=out)
    held = out.read_bytes()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    done = run_fastcube(*SHORT[:-1], "2000", "-o", out, "--progress", "none", preexec_fn=limit)
    assert done.returncode == 2
    last = f"no folder takes it: {out} keeps its last checkpoint"
    assert done.stderr == f"fastcube: {out} cannot be written: file too large; {last}\n"
    assert out.read_bytes() == held
    assert os.listdir(tmp_path) == ["r.h5"]  # noqa: PTH208


@pytest.mark.slow
def test_an_output_folder_removed_during_the_run(tmp_path):
    folder, here = tmp_path / "folder", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    with BackgroundRun(*SHORT, "-o", folder / "r.h5", cwd=here, command=stepped_command(*HELD)) as run:
        run.wait_for("held")
        folder.rmdir()
        code, lines = run.end(signal.SIGUSR1)
    assert code == 2
    message = f"{folder / 'r.h5'} cannot be written: no such file or directory"
    assert lines == [f"fastcube: {message}; the work done is saved in {here / 'r.rescued.h5'}"]
    assert sum(t.trials for _, t in open_results(here / "r.rescued.h5")) > 0


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without jit a kernel holds Python's lock")
def test_a_run_that_cannot_write_does_not_wait_for_kernels(tmp_path):
    """The signal comes while kernels of half an hour run, and the output's folder is gone."""
    folder = tmp_path / "out"
    folder.mkdir()
    with BackgroundRun(*LONG, "-o", folder / "r.h5", cwd=tmp_path) as run:
        run.wait_for("50.0%").wait_for_file(folder / "r.h5")
        folder.rename(tmp_path / "gone")  # at once, also while a checkpoint is being written
        code, lines = run.end(signal.SIGTERM)
    assert (code, len(lines)) == (2, 1)
    assert {p["work"]: t.trials for p, t in open_results(tmp_path / "gone" / "r.rescued.h5")} == {0.0: 3, 1e12: 0}


@pytest.mark.slow
def test_a_read_only_folder_is_refused_before_work_begins(tmp_path):
    if os.geteuid():
        (tmp_path / "folder").mkdir(mode=0o555)
        place, message = contextlib.nullcontext(tmp_path / "folder"), "permission denied"
    else:  # root may write to any folder, but not to a read-only file system
        place, message = mount_tmpfs(tmp_path / "disk", "size=256k"), "read-only file system"
    with place as folder:
        if not os.geteuid():
            remount_read_only(folder)
        done = run_fastcube(*LONG, "-o", folder / "r.h5")
    assert done.returncode == 2
    assert done.stderr == f"fastcube: output folder {folder} cannot be written: {message}\n"


# ---------------------------------------------------------------- files that a run must not replace


@pytest.fixture
def refused(capsys):
    """Run a command that is refused in one line; gives the line."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments), "--progress", "none"])
        out, said = capsys.readouterr()
        assert (ended.value.code, out, said.count("\n")) == (2, "", 1)
        return said

    return call


def test_files_that_hold_something_else_are_refused_and_kept(tmp_path, refused):
    out = tmp_path / "r.h5"
    fc.run(TOY, trials=10, seed=5, output=out)
    registry.register_live_study(TOY)
    held = out.read_bytes()
    kept = [
        (held[: len(held) // 2], "is truncated, or another program wrote it"),
        (b"a letter", "is not an HDF5 file"),
        (b"", "is not an HDF5 file"),
    ]
    for contents, message in kept:
        out.write_bytes(contents)
        assert f"fastcube: {out} {message}" in refused(*LONG, "-o", out)
        assert out.read_bytes() == contents


def test_a_file_damaged_anywhere_is_refused_in_one_line(tmp_path):
    path = tmp_path / "r.h5"
    some().save(path)
    good, rng = path.read_bytes(), random.Random(1)
    for turn in range(300):
        bad, at = bytearray(good), rng.randrange(len(good))
        if turn % 2:
            bad[at] ^= 1 << rng.randrange(8)
        else:
            bad[at : at + 100] = rng.randbytes(len(bad[at : at + 100]))
        path.write_bytes(bad)
        with pytest.raises(fc.ResultFileError) as error:
            open_results(path)
        assert "\n" not in str(error.value)


def test_files_of_another_seed_or_study_are_refused_and_kept(tmp_path, refused):
    out = tmp_path / "r.h5"
    quick = ("run", TOY_FILE, "--trials", "10", "--set", "a=1", "-o", out)
    fc.run(fc.study(TOY_FILE), a=1, trials=10, seed=5, output=out)
    held = out.read_bytes()
    assert "has seed 5, this run has seed 0; use another output, or remove that file" in refused(*quick)
    other = tmp_path / "other.py"
    other.write_text(Path(TOY_FILE).read_text().replace('"toy"', '"other"'))
    assert "has study toy, this run has study other" in refused("run", other, *quick[2:], "--seed", "5")
    assert out.read_bytes() == held
    fc.run(fc.study(TOY_FILE), a=1, trials=10, output=out, force=True)
    assert open_results(out).seed == 0


def some(seed=0, trials=10):
    return fc.run(TOY, trials=trials, seed=seed)


def test_a_file_changed_by_another_process_is_not_overwritten(tmp_path):
    path = tmp_path / "r.h5"
    mine = OutputFile(str(path))
    mine.save(some())
    some(seed=9).save(path)
    for _ in range(2):  # every later checkpoint goes to the same place
        message = f"{path} was changed by another process; the work done is saved in {tmp_path / 'r.rescued.h5'}"
        with pytest.raises(fc.ResultFileError, match=f"^{message}$"):
            mine.save(some())
    assert open_results(path).seed == 9
    assert open_results(tmp_path / "r.rescued.h5").digest() == some().digest()


def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "r.h5"
    mine = OutputFile(str(path))
    some(seed=9).save(path)
    with pytest.raises(fc.ResultFileError, match="was changed by another process"):
        mine.save(some())
    assert open_results(path).seed == 9


def test_a_file_that_was_removed_meanwhile_is_written_again(tmp_path):
    path = tmp_path / "r.h5"
    mine = OutputFile(str(path))
    mine.save(some())
    path.unlink()
    mine.save(some())
    assert open_results(path).digest() == some().digest()


def test_what_another_run_rescued_is_not_overwritten(tmp_path):
    path = tmp_path / "r.h5"
    for seed in range(3):
        mine = OutputFile(str(path))
        some(seed=9).save(path)
        with pytest.raises(fc.ResultFileError):
            mine.save(some(seed))
    names = ["r.rescued.h5", "r.rescued-1.h5", "r.rescued-2.h5"]
    assert [open_results(tmp_path / name).seed for name in names] == [0, 1, 2]


def test_only_regular_files_are_replaced(tmp_path):
    with pytest.raises(fc.ResultFileError, match="output /dev/null is not a regular file"):
        OutputFile("/dev/null")
    with pytest.raises(fc.ResultFileError, match="is a folder"):
        OutputFile(str(tmp_path))
    with pytest.raises(fc.ResultFileError, match="does not exist"):
        OutputFile(str(tmp_path / "none" / "r.h5"))
    protected = tmp_path / "r.h5"
    protected.touch(0o444)
    if os.geteuid():
        with pytest.raises(fc.ResultFileError, match="is write-protected"):
            OutputFile(str(protected))


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    link, target = tmp_path / "r.h5", tmp_path / "far" / "there.h5"
    link.symlink_to(target)
    fc.run(TOY, trials=10, output=link)
    fc.run(TOY, trials=20, output=link)
    assert link.is_symlink()
    assert target.is_file()
    assert open_results(link).digest() == some(trials=20).digest()


def test_a_result_that_cannot_be_saved_at_all_leaves_no_trace(tmp_path, monkeypatch):
    path = tmp_path / "r.h5"
    mine = OutputFile(str(path))
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    with pytest.raises(fc.ResultFileError, match=r"input/output error; no folder takes it: nothing could be saved"):
        mine.save(Results(registry.register_live_study(TOY), 0))
    assert list(tmp_path.iterdir()) == []
