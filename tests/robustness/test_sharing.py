"""One output for several writers: threads of a process, containers with one host name, other users of a folder."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import socket
import threading
import time
from pathlib import Path

import pytest
from toy import TOY

import fastcube as fc
from fastcube.results import hdf5, output
from fastcube.results.lock import hold_lock
from fastcube.results.output import OutputFile
from fastcube.results.reading import open_results

NOBODY = 65534


@functools.cache
def work(seed=0, trials=10):
    return fc.run(TOY, a=1, work=0.0, trials=trials, seed=seed)


# ---------------------------------------------------------------- temporaries


def test_a_writer_that_knocks_while_another_saves_harms_nothing(tmp_path, monkeypatch):
    path = tmp_path / "r.h5"
    first, write = OutputFile(str(path)), hdf5._write_all
    knocked = []

    def knocking(handle, *parts):
        write(handle, *parts)
        if not knocked:
            knocked.append(handle)
            OutputFile(str(path))

    monkeypatch.setattr(hdf5, "_write_all", knocking)
    first.save(work())
    assert knocked
    assert open_results(path).digest() == work().digest()


def test_threads_with_one_output_lose_nothing_and_blame_no_folder(tmp_path):
    works, said = [work(seed) for seed in range(4)], []
    path = tmp_path / "r.h5"

    def save(one):
        for _ in range(5):
            try:
                OutputFile(str(path)).save(one)
            except fc.ResultFileError as error:
                said.append(str(error))

    threads = [threading.Thread(target=save, args=(one,)) for one in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [words for words in said if "was changed by another process; the work done is saved in" not in words] == []
    assert {open_results(file).digest() for file in tmp_path.glob("r*.h5")} <= {one.digest() for one in works}
    assert not [name for name in tmp_path.iterdir() if name.name.startswith(".")]


@pytest.mark.parametrize(
    "guess", [f"{socket.gethostname()[:64]}.{os.getpid()}", "0123456789abcdef"], ids=["host", "random"]
)
def test_a_link_where_the_temporary_would_be_is_not_followed(guess, tmp_path, monkeypatch):
    """Neither at a name that could be known before, nor by one who guesses what is drawn."""
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0123456789abcdef")
    victim, path = tmp_path / "victim", tmp_path / "out" / "r.h5"
    path.parent.mkdir()
    victim.write_text("precious")
    link = path.with_name(f".{hashlib.sha256(path.name.encode()).hexdigest()[:16]}.tmp.{guess}")
    link.symlink_to(victim)
    with contextlib.suppress(fc.ResultFileError):
        OutputFile(str(path)).save(work())
    assert victim.read_text() == "precious"
    assert not path.is_symlink()


def test_temporaries_are_removed_when_they_are_old_and_nobody_holds_them(tmp_path):
    path = tmp_path / "r.h5"
    hour_ago = time.time() - 2 * hdf5.STALE_SECONDS
    with hdf5._open_temporary(path) as (live, _), hdf5._open_temporary(path) as (young, _):
        os.utime(live, (hour_ago, hour_ago))
        left = live.with_name(live.name[:-4] + "dead")
        left.write_bytes(b"")
        hdf5.remove_stale(path)
        assert all(name.exists() for name in (live, young, left))
        os.utime(left, (hour_ago, hour_ago))
        hdf5.remove_stale(path)
        assert [name.exists() for name in (live, young, left)] == [True, True, False]


# ---------------------------------------------------------------- locks


def as_nobody(function):
    """Call in a process of another user; what it returns, as text."""
    if os.geteuid():
        pytest.skip("only root can become another user")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(write, str(function()).encode())
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        answer = told.read()
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def shared(tmp_path):
    """A folder that all users may write, below folders that they may enter."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o711)
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def killed_holding(path, mask):
    """A writer of ours that dies with the lock of ``path``."""
    child = os.fork()
    if child == 0:
        os.umask(mask)
        with hold_lock(path):
            os._exit(0)
    os.waitpid(child, 0)
    (lock,) = path.parent.glob(".*.lock")
    return lock


def saved_here(path, one):
    OutputFile(str(path)).save(one)
    return open_results(path).digest()


def test_a_killed_writers_lock_does_not_shut_out_a_colleague(shared):
    path, one = shared / "r.h5", work()
    killed_holding(path, 0o022)
    assert as_nobody(lambda: saved_here(path, one)) == one.digest()


def test_a_lock_that_is_closed_to_us_is_named(shared):
    path, one = shared / "r.h5", work()
    lock = killed_holding(path, 0o077)
    words = as_nobody(lambda: saved_here(path, one))
    assert f"its lock {lock} is closed to us: it can be removed when no run of its owner (user 0) writes here" in words
    assert "the work done is saved in" in words


def test_a_held_lock_is_named_with_its_holder(tmp_path, monkeypatch):
    path = tmp_path / "r.h5"
    monkeypatch.setattr(output, "hold_lock", functools.partial(hold_lock, patience=0.05))
    mine = OutputFile(str(path))
    with hold_lock(path), pytest.raises(fc.ResultFileError) as error:
        mine.save(work())
    signed = f"process {os.getpid()} on {socket.gethostname()}"
    assert f"r.h5 cannot be written: another process is writing it (lock {tmp_path}/." in str(error.value)
    assert f".lock, last signed by {signed}); the work done is saved in" in str(error.value)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda lock: lock.symlink_to("nowhere")])
def test_what_is_no_lock_keeps_nobody_waiting(make, tmp_path):
    path = tmp_path / "r.h5"
    with hold_lock(path):
        (lock,) = tmp_path.glob(".*.lock")
    make(lock)
    with pytest.raises(fc.ResultFileError, match="the work done is saved in"):
        OutputFile(str(path)).save(work())


# ---------------------------------------------------------------- the folder


def test_a_folder_that_is_renamed_keeps_the_work(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    path = tmp_path / "out" / "r.h5"
    path.parent.mkdir()
    mine = OutputFile(str(path))
    mine.save(work())
    path.parent.rename(tmp_path / "moved")
    rescued = tmp_path / "moved" / "r.rescued.h5"
    with pytest.raises(fc.ResultFileError, match=f"the work done is saved in {rescued}$"):
        mine.save(work(trials=20))
    assert open_results(rescued).digest() == work(trials=20).digest()
    assert list((tmp_path / "elsewhere").iterdir()) == []
