"""Progress: a bar on a terminal, sparse stamped lines in a log; resumed work is not speed."""

import io
import re

import pytest
from helpers.coin import COIN

import fastcube as fc
from fastcube.measure.goal import Goal
from fastcube.running import checkpoints, progress
from fastcube.running.driver import run_study
from fastcube.running.progress import Progress, clock_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Closed(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def tick(report, clock, seconds, done, wanted=1000, where="n=5", final=False, compiling=""):
    """What the driver does after each item."""
    clock[0] += seconds
    if report.is_due(final):
        report.update(done, wanted, where, final, compiling)


def test_a_log_gets_a_line_every_thirty_seconds_and_one_at_the_end(clock):
    file = io.StringIO()
    report = Progress("auto", file)
    report.start(0)
    for second in range(1, 101):
        tick(report, clock, 1.0, 5 * second)
    tick(report, clock, 1.0, 1000, final=True)
    lines = file.getvalue().splitlines()
    assert [line.split("  ", 1)[1].split()[0] for line in lines] == ["15.0%", "30.0%", "45.0%", "100.0%"]
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d  ", line) for line in lines)
    assert lines[0].endswith("15.0%  5 trials/s  00:02:50 left  n=5")
    assert lines[-1].endswith("100.0%  9.9 trials/s  00:01:41 elapsed  n=5")


def test_a_line_that_is_due_before_a_start_is_printed(clock):
    file = io.StringIO()
    report = Progress("lines", file)
    tick(report, clock, 40.0, 20, wanted=None, where="some.csv")
    tick(report, clock, 10.0, 40, wanted=None, where="some.csv", final=True)
    first, last = file.getvalue().splitlines()
    assert first.endswith("20 trials  0.5 trials/s  some.csv")
    assert last.endswith("40 trials  0.8 trials/s  00:00:50 elapsed  some.csv")


def test_resumed_work_is_not_speed(clock):
    file = io.StringIO()
    report = Progress("lines", file)
    report.start(900)
    tick(report, clock, 30.0, 930)
    tick(report, clock, 10.0, 940, final=True)
    first, last = file.getvalue().splitlines()
    assert "93.0%  1 trials/s  00:01:10 left" in first
    assert "94.0%  1 trials/s  00:00:40 elapsed" in last


def test_without_a_known_end_it_counts(clock):
    file = io.StringIO()
    report = Progress("lines", file)
    report.start(0)
    tick(report, clock, 30.0, 4096, wanted=None)
    assert "4,096 trials  137 trials/s  n=5" in file.getvalue()


def test_a_run_that_only_compiled_has_no_rate(clock):
    file = io.StringIO()
    report = Progress("lines", file)
    report.start(0)
    report.note_compiling(40)  # of two workers, 20 s each
    tick(report, clock, 20, 1000, final=True)
    assert "100.0%  00:00:20 elapsed" in file.getvalue()


def test_no_end_is_promised_while_a_kernel_is_compiled(clock):
    """The next trials are counted at another speed."""
    file = io.StringIO()
    report = Progress("lines", file)
    report.start(0)
    tick(report, clock, 30.0, 900, compiling="compiling a faster kernel, 12 s")
    tick(report, clock, 30.0, 930)
    first, last = file.getvalue().splitlines()
    assert "30 trials/s  compiling a faster kernel, 12 s" in first
    assert "left" not in first
    assert "left" in last


def test_the_bar_is_one_line_rewritten(clock):
    file = Terminal()
    report = Progress("auto", file)
    report.start(0)
    for step in range(1, 11):
        tick(report, clock, 0.25, 50 * step, where="n=12" if step < 5 else "n=5")
    tick(report, clock, 0.25, 1000, final=True)
    text = file.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "██████████░░░░░░░░░░" in text
    assert "200 trials/s" in text
    assert all(len(line) < 80 for line in text.split("\r"))


@pytest.mark.parametrize("columns", [24, 40, 60, 80])
def test_a_narrow_bar_ends_with_a_word(clock, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    file = Terminal()
    report = Progress("auto", file)
    report.start(0)
    where = "n=12,f=7 unsafe_fraction 0.00479 ± 0.00017"
    tick(report, clock, 1, 500, where=where)
    line = file.getvalue().strip("\r")
    assert len(line) < columns
    whole = [" 50.0%", "500 trials/s", "00:00:01 left", *where.split(" ")]
    reported = line.strip("█░ ")
    while reported:
        part = next(part for part in whole if reported.startswith(part.strip()))
        reported = reported[len(part.strip()) :].strip()


def test_a_notebook_gets_a_bar_once_a_second(clock):
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    report = Progress("auto", stream)
    report.start(0)
    for step in range(1, 9):
        tick(report, clock, 0.25, 50 * step)
    assert (stream.getvalue().count("\r"), stream.getvalue().count("\n")) == (2, 0)


def test_messages_do_not_mix_with_the_bar(clock):
    file = Terminal()
    report = Progress("bar", file)
    report.start(0)
    tick(report, clock, 1.0, 10)
    report.print_line("fastcube: something happened")
    assert "\nfastcube" not in file.getvalue()
    assert file.getvalue().endswith("\rfastcube: something happened\n")


def test_a_closed_pipe_does_not_end_a_run(clock):
    report = Progress("lines", Closed())
    report.start(0)
    tick(report, clock, 30.0, 1)
    report.print_line("still here")
    assert not report.is_due()


def test_none_says_nothing(clock):
    file = io.StringIO()
    report = Progress("none", file)
    report.start(0)
    tick(report, clock, 100.0, 1, final=True)
    report.update(5, 10, "", final=True)
    assert file.getvalue() == ""


def test_styles_and_durations():
    with pytest.raises(fc.ParameterError, match="progress must be one of auto, bar, lines, none, got loud"):
        Progress("loud")
    assert [clock_text(s) for s in (0, 59.6, 3600, 90061)] == ["00:00:00", "00:01:00", "01:00:00", "1d 01:01:01"]


def test_the_last_line_is_printed_though_a_checkpoint_has_saved_all_trials(monkeypatch, tmp_path):
    COIN.count({"p": 0.5}, 1)  # compiles the kernel, so that the trial is finished at once
    monkeypatch.setattr(checkpoints, "FIRST", 0.0)
    path, lines = str(tmp_path / "r.h5"), []
    for _ in range(2):  # the second run counts nothing, and says nothing
        file = io.StringIO()
        run_study(COIN, [{"p": 0.5}], Goal(trials=1), output=path, progress=Progress("lines", file))
        lines.append([line.split()[1] for line in file.getvalue().splitlines()])
    assert [said[-1:] for said in lines] == [["100.0%"], []]
