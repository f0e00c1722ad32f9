"""Attacks on a report's folder: obstacles, two runs at once, full disks, signals at any moment.

Each is one line at once, or costs nothing that was made; run again, it ends as if nothing had happened.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import sys
import time

import pytest
from audit_helpers.toy_paper import paper
from helpers.compiled import mark_others_slow
from helpers.processes import fill_file_system, mount_tmpfs
from toy import TOY

import fastcube as fc
from fastcube.cli.terminal import print_message
from fastcube.results.reading import open_results
from fastcube.running.signals import FINISHED, INTERRUPTED, TERMINATED, WORK_REMAINS, own_process
from fastcube_audit.report import build_maker, running
from fastcube_audit.report import plan as planning
from fastcube_audit.report.folder import Folder
from fastcube_audit.report.plan import plan_of

pytest.importorskip("jinja2")

CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGUSR1: WORK_REMAINS}


@pytest.fixture(autouse=True)
def few_trials(monkeypatch):
    """A budget for the toy study."""
    grids = {"default": {"quick": 2000, "full": 5000, "seconds": [0.1, 0.2]}}
    monkeypatch.setattr(planning, "budget", lambda: {"studies": {"toy": grids}, "claims": {}})


def make_report(folder, claims=(), **how):
    """Make the quick report; the exit code."""
    return build_maker(folder, plan_of([paper(*claims)], True), 1, how.get("max_seconds"), "none", False).run()


def reported(folder):
    """What a folder holds, without when and where it was made."""
    kept = {path.name: json.loads(path.read_text()) for path in folder.glob("*/*.json")}
    drawn = kept.pop("toy.json")
    return open_results(folder / "toy.h5").digest(), kept, drawn["estimates"], drawn["have"]


# ---------------------------------------------------------------- obstacles in the folder


def other_text(path):
    path.write_text("of another program\n")


def other_study(path):
    fc.Results(dataclasses.replace(TOY, revision=77), 0).save(path)


@pytest.mark.parametrize(
    ("name", "put", "message"),
    [
        ("", other_text, "output {} is not a folder"),
        ("", os.mkfifo, "output {} is not a folder"),
        ("", lambda path: path.symlink_to("nowhere"), "output {} is not a folder"),
        ("claims", other_text, "output {} is not a folder"),
        ("report.html", os.mkdir, "{} is in the way: it is not a regular file"),
        ("report.html", os.mkfifo, "{} is in the way: it is not a regular file"),
        ("toy.h5", os.mkdir, "{} is in the way: it is not a regular file"),
        ("toy.h5", other_text, "{} is not an HDF5 file; without that file it is made anew"),
        ("toy.h5", other_study, "the study here has revision 1, {} has revision 77; without that file it is made anew"),
        ("drawn/toy.json", os.mkfifo, "{} is in the way: it is not a regular file"),
        ("claims/toy-last.json", os.mkdir, "{} is in the way: it is not a regular file"),
        ("examples/toy-three.json", lambda path: path.symlink_to("/dev/zero"), "{} is in the way: it is not a regular"),
    ],
)
def test_what_is_in_the_way_is_one_line_before_anything_is_made(name, put, message, tmp_path):
    folder = tmp_path / "out"
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path)
    with pytest.raises(fc.FastcubeError) as error:
        make_report(folder, ("last",))
    assert str(error.value).startswith(message.format(path))
    assert not (folder / "report.html").is_file()


def test_a_name_that_does_not_print_is_written_as_python_does(capsys):
    print_message("report in \x1b[2J/\udcff.html\nand more")
    assert capsys.readouterr().err == "report in \\x1b[2J/\\udcff.html\nand more\n"


# ---------------------------------------------------------------- two runs at once


def test_a_second_report_in_the_folder_is_refused_and_the_next_is_not(tmp_path):
    with (
        Folder(tmp_path).hold_folder_lock(),
        pytest.raises(fc.ResultFileError, match="is being written by another fastcube reproduce"),
    ):
        make_report(tmp_path)
    assert not (tmp_path / "report.html").exists()
    assert make_report(tmp_path) == FINISHED
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_the_lock_of_a_report_that_was_killed_holds_nobody(tmp_path):
    child = os.fork()
    if child == 0:
        with Folder(tmp_path).hold_folder_lock():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(tmp_path.glob(".*.lock"))) == 1
    assert make_report(tmp_path) == FINISHED


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    child = os.fork()
    if child == 0:
        with Folder(tmp_path / "out").hold_folder_lock():
            os._exit(0)
    os.waitpid(child, 0)
    (lock,) = (tmp_path / "out").glob(".*.lock")
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(fc.ResultFileError, match="cannot be written: too many levels of symbolic links"):
        make_report(tmp_path / "out")
    assert not (tmp_path / "elsewhere").exists()


# ---------------------------------------------------------------- while it runs


def then(function, what):
    """Return the function with an action after each of its calls."""

    def wrapped(*arguments, **named):
        out = function(*arguments, **named)
        what()
        return out

    return wrapped


@pytest.mark.slow
def test_a_results_file_that_is_removed_while_it_is_drawn_is_made_again(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(running, "figure_of", then(running.figure_of, (tmp_path / "toy.h5").unlink))
        assert make_report(tmp_path) == FINISHED
    assert not (tmp_path / "toy.h5").exists()
    assert make_report(tmp_path) == FINISHED
    assert open_results(tmp_path / "toy.h5").digest() == fc.run(TOY, trials=2000).digest()


@pytest.mark.slow
def test_a_disk_that_fills_up_is_one_line_and_what_was_made_stays(tmp_path, monkeypatch):
    assert make_report(tmp_path / "undisturbed", ("last",)) == FINISHED
    with mount_tmpfs(tmp_path / "disk", "size=400k") as disk:
        with monkeypatch.context() as patch:
            patch.setattr(running, "figure_of", then(running.figure_of, lambda: fill_file_system(disk)))
            with pytest.raises(fc.ResultFileError, match=r"cannot be written: no space left on the disk$"):
                make_report(disk, ("last",))
        page = (disk / "report.html").read_text()
        assert page.endswith("</html>\n")
        assert "not computed yet" in page
        (disk / "filler").unlink()
        assert make_report(disk, ("last",)) == FINISHED
        assert reported(disk) == reported(tmp_path / "undisturbed")


def test_past_the_time_no_piece_is_begun(tmp_path, monkeypatch):
    def begun(*_, **__):
        raise AssertionError("a piece was begun")

    with monkeypatch.context() as patch:
        for piece in ("run_study", "evaluate", "decide_claims"):
            patch.setattr(running, piece, begun)
        assert make_report(tmp_path, ("last",), max_seconds=1e-6) == WORK_REMAINS
    assert make_report(tmp_path, ("last",)) == FINISHED
    assert make_report(tmp_path, ("last",), max_seconds=1e-6) == FINISHED  # nothing is left to begin


@pytest.mark.parametrize("number", mark_others_slow(CODES), ids=lambda n: n.name)
@pytest.mark.parametrize(
    "other", mark_others_slow([None, RuntimeError("inside HDF5")]), ids=["lost", "turned into another error"]
)
def test_a_signal_is_served_wherever_its_exception_went(number, other, tmp_path, monkeypatch):
    draw = running.figure_of

    def swallowing(*arguments):
        try:
            os.kill(os.getpid(), number)
            time.sleep(1)
        except running.StopRequest:
            if other:
                raise other from None
        return draw(*arguments)

    monkeypatch.setattr(running, "figure_of", swallowing)
    assert make_report(tmp_path, ("last",)) == CODES[number]
    assert not list((tmp_path / "claims").iterdir())


def signalled(folder, rng):
    """A report made by a process that is signalled at random moments; its exit code."""
    # without installed handlers, SIGINT kills a shell's command, but would raise an exception anywhere in this process
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    child = os.fork()
    if child != 0:
        signal.signal(signal.SIGINT, before)
    else:
        code = 1
        try:
            with open(folder / "said", "a") as said:  # noqa: PTH123
                os.dup2(said.fileno(), 2)
            with own_process():  # as on the command line
                code = make_report(folder / "out", ("false", "corrected", "last"))
        finally:
            sys.stderr.flush()
            os._exit(code)
    number = rng.choice(list(CODES))
    time.sleep(rng.uniform(0.0, 1.0))
    for _ in range(rng.choice([1, 1, 2, 5])):
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            os.kill(child, number)
        time.sleep(rng.choice([0.0, 0.05, 0.15, 0.5]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_signals_at_random_moments_cost_nothing(tmp_path):
    assert (
        make_report(tmp_path / "undisturbed", ("false", "corrected", "last")) == FINISHED
    )  # compiles and imports for the children
    rng = random.Random(3)
    for _ in range(6):
        folder = tmp_path / f"{rng.random()}"
        folder.mkdir()
        (folder / "said").touch()
        for _ in range(10):
            code = signalled(folder, rng)
            # without installed handlers, a signal kills this process like any other
            said = (folder / "said").read_text()
            assert code in {FINISHED, *CODES.values(), *(-number for number in CODES)}, said
        assert make_report(folder / "out", ("false", "corrected", "last")) == FINISHED
        assert reported(folder / "out") == reported(tmp_path / "undisturbed")
        assert "Stopped" not in (folder / "said").read_text()
