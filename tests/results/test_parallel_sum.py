"""Files read in several processes: results and errors as in one process, and no process remains."""

import shutil
import signal
import sys

import pytest
from helpers.adding import hold_the_lock, interrupt_reader, kill_last_reader, wait_forever
from helpers.compiled import mark_others_slow
from helpers.forgery import edit_hdf5, text_attribute
from helpers.processes import STUCK_SECONDS
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.errors import EngineError
from fastcube.results import parallel_sum, provenance, worker_process
from fastcube.results.combining import merge_files


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    """Six files of an array."""
    folder = tmp_path_factory.mktemp("shards")
    paths = [folder / f"{i}.h5" for i in range(6)]
    for i, path in enumerate(paths):
        fc.run(TOY, trials=999, shard=(i, 6), output=str(path))
    return paths


@pytest.fixture
def shards(six, tmp_path):
    """Copies of them, to be damaged."""
    return [shutil.copy(path, tmp_path / path.name) for path in six]


@pytest.fixture
def started(monkeypatch):
    """Few files are worth a process; each process that starts is entered here."""
    out = []

    class Entered(worker_process.WorkerProcess):
        def __init__(self, serve):
            super().__init__(serve)
            out.append(self.process)

    monkeypatch.setattr(parallel_sum, "_MIN_FILES", 1)
    monkeypatch.setattr(parallel_sum, "WorkerProcess", Entered)
    return out


@pytest.mark.parametrize("count", mark_others_slow([3, 2]))
def test_several_processes_merge_as_one(six, started, count):
    one, several = (merge_files(six, processes) for processes in (1, count))
    assert [process.wait(STUCK_SECONDS) for process in started] and len(started) == count - 1
    assert several.tallies == one.tallies
    assert several.digest() == one.digest() == fc.run(TOY, trials=999).digest()
    assert (several.goal, several.grid, several.study) == (one.goal, one.grid, one.study)
    reported = [entry.history[0]["resources"]["merged"] for entry in (one, several)]
    assert reported[0] == reported[1] and [entry["file"] for entry in reported[0]] == [path.name for path in six]


def _twice(paths):
    shutil.copy(paths[1], paths[4])


def _two_damaged(paths):
    edit_hdf5(paths[2], text_attribute("digest", "0" * 64))
    paths[3].write_bytes(b"")


def _another_seed(paths):
    fc.run(TOY, trials=999, shard=(3, 6), seed=7, output=str(paths[3]), force=True)
    paths[5].unlink()


@pytest.mark.parametrize("change", [_twice, _two_damaged, _another_seed])
def test_the_first_error_is_that_of_one_process(shards, started, change):
    change(shards)
    reported = []
    for count in (1, 3):
        with pytest.raises(fc.FastcubeError) as refused:
            merge_files(shards, count)
        reported.append((type(refused.value), str(refused.value)))
    assert reported[0] == reported[1]


def test_the_commands_read_in_several_processes(six, started, tmp_path, monkeypatch, capsys):
    reported = []
    for cpus in (1, 2):
        monkeypatch.setattr(provenance, "available_cpus", lambda cpus=cpus: cpus)
        for command in (["status", *map(str, six)], ["merge", *map(str, six), "-o", str(tmp_path / "all.h5")]):
            with pytest.raises(SystemExit) as ended:
                main(command)
            assert not ended.value.code
            reported.append(capsys.readouterr())
    assert reported[:2] == reported[2:] and len(started) == 2


@pytest.mark.parametrize(("keep", "raised"), [(interrupt_reader, KeyboardInterrupt), (kill_last_reader, EngineError)])
def test_none_is_left_after_an_interruption_or_a_death(six, started, keep, raised):
    with pytest.raises(raised):
        parallel_sum.sum_files(six, keep, 3)
    assert len(started) == 2 and all(process.poll() is not None for process in started)


def test_a_process_ends_with_its_parent(six):
    for given in ([], [(six, 3, 6, wait_forever, False)]):
        worker = worker_process.WorkerProcess(parallel_sum.serve_sums)
        try:
            for what in given:
                worker.send(what)
            worker._connection.close()  # as the system does for a parent that was killed
            assert worker.process.wait(STUCK_SECONDS) == 0
        finally:
            worker.end()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux sends SIGIO for a closed pipe")
def test_a_process_in_compiled_code_ends_with_its_parent():
    worker = worker_process.WorkerProcess(hold_the_lock)
    try:
        assert worker.receive() == "here"
        worker._alive.close()  # as the system does for a parent that was killed; the thread sees its socket open
        assert worker.process.wait(STUCK_SECONDS) == -signal.SIGIO
    finally:
        worker.end()


def test_few_files_are_read_in_this_process(six, monkeypatch):
    monkeypatch.setattr(parallel_sum, "WorkerProcess", None)
    assert merge_files(six, 64).trials == 2 * 999


def test_where_no_process_is_to_be_had_one_reads_all(six, started, monkeypatch):
    def refused(*arguments, **named):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as none:
        none.setattr(worker_process.subprocess, "Popen", refused)
        assert merge_files(six, 3).digest() == merge_files(six, 1).digest()
    monkeypatch.setattr(parallel_sum.sys, "executable", None)  # a Python inside another program
    assert merge_files(six, 3).digest() == merge_files(six, 1).digest()
    assert not started


def test_what_python_prints_when_it_starts_is_no_answer(six, started, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("print('x' * 100_000)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert merge_files(six, 3).digest() == merge_files(six, 1).digest()
    assert len(started) == 2
