"""One output for several writers: threads of a process, containers with one host name, other users of a folder."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import socket
import stat
import struct
import threading
import time
from pathlib import Path

import pytest
from helpers.processes import as_user, require_root
from toy import TOY

import fastcube as fc
from fastcube.results import output, replacement
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
    first, write = OutputFile(str(path)), replacement._write_all
    knocked = []

    def knocking(handle, *parts):
        write(handle, *parts)
        if not knocked:
            knocked.append(handle)
            OutputFile(str(path))

    monkeypatch.setattr(replacement, "_write_all", knocking)
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
    assert [
        message for message in said if "was changed by another process; the work done is saved in" not in message
    ] == []
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


def test_temporaries_are_removed_as_soon_as_nobody_holds_their_lock(tmp_path):
    path = tmp_path / "r.h5"
    hour_ago = time.time() - 2 * replacement.STALE_SECONDS
    with replacement._open_temporary(path) as (live, _):
        os.utime(live, (hour_ago, hour_ago))
        left = live.with_name(live.name[:-4] + "dead")
        left.write_bytes(b"")
        replacement.remove_stale(path)
        assert (live.exists(), left.exists()) == (True, False)


def test_temporaries_without_locks_are_removed_after_an_hour(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(replacement, "try_lock", refuse)
    path = tmp_path / "r.h5"
    hour_ago = time.time() - 2 * replacement.STALE_SECONDS
    with replacement._open_temporary(path) as (young, _), replacement._open_temporary(path) as (old, _):
        os.utime(old, (hour_ago, hour_ago))
        replacement.remove_stale(path)
        assert (young.exists(), old.exists()) == (True, False)


def test_a_temporary_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    path, lock, seen = tmp_path / "r.h5", replacement.try_lock, []

    def remove_first(handle):
        if not seen:
            seen.append(next(tmp_path.glob(".*.tmp.*")))
            seen[0].unlink()
        return lock(handle)

    monkeypatch.setattr(replacement, "try_lock", remove_first)
    with replacement._open_temporary(path) as (name, _):
        assert name.exists() and name != seen[0]


def test_a_temporary_that_another_host_removes_is_written_again(tmp_path, monkeypatch):
    path, write, removed = tmp_path / "r.h5", replacement._write_all, []

    def remove_after_writing(handle, *parts):
        write(handle, *parts)
        if not removed:
            removed.append(next(tmp_path.glob(".*.tmp.*")))
            removed[0].unlink()

    monkeypatch.setattr(replacement, "_write_all", remove_after_writing)
    work().save(path)
    assert open_results(path).digest() == work().digest()


# ---------------------------------------------------------------- rights


def rights(path):
    status = path.stat()
    return stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid


def test_a_replaced_file_keeps_its_mode_from_before_its_first_byte(tmp_path, monkeypatch):
    path, write, seen = tmp_path / "r.h5", replacement._write_all, []
    before = os.umask(0o022)
    try:
        work().save(path)
        path.chmod(0o640)
        monkeypatch.setattr(
            replacement, "_write_all", lambda *a: (seen.append(os.fstat(a[0]).st_mode & 0o777), write(*a))
        )
        OutputFile(str(path)).save(work(trials=20))
        os.umask(0o077)
        path.chmod(0o664)
        OutputFile(str(path)).save(work(trials=30))
    finally:
        os.umask(before)
    assert rights(path)[0] == 0o664
    assert set(seen) == {0o640, 0o664} and seen == sorted(seen)


def test_a_rescued_copy_is_as_private_as_the_file(tmp_path):
    path = tmp_path / "r.h5"
    mine = OutputFile(str(path))
    mine.save(work())
    path.chmod(0o600)
    OutputFile(str(path)).save(work(trials=20))
    with pytest.raises(fc.ResultFileError, match="was changed by another process"):
        mine.save(work(trials=30))
    assert rights(tmp_path / "r.rescued.h5")[0] == 0o600


def test_colleagues_in_a_setgid_folder_do_not_lock_each_other_out(shared):
    """Alice with umask 002, then Bob with umask 077, then Alice again; their group alone may read and write."""
    alice, bob, group = 61001, 61002, 61000
    require_root()
    os.chown(shared, alice, group)
    shared.chmod(0o2770)
    path = shared / "r.h5"
    for user, mask, trials in ((alice, 0o002, 10), (bob, 0o077, 20), (alice, 0o022, 30)):
        one = work(trials=trials)
        said = as_user(lambda one=one: saved_here(path, one), user, user, [group], mask)
        assert said == one.digest()
        assert rights(path) == (0o664, user, group)


def test_a_group_that_cannot_be_kept_gives_no_other_group_its_rights(shared):
    require_root()
    path, one = shared / "r.h5", work()
    one.save(path)
    os.chown(path, 61001, 61000)
    path.chmod(0o666)
    assert as_user(lambda: saved_here(path, one), NOBODY, NOBODY) == one.digest()
    assert rights(path) == (0o666, NOBODY, NOBODY)
    os.chown(path, NOBODY, 61000)
    path.chmod(0o660)
    assert as_user(lambda: saved_here(path, one), NOBODY, NOBODY) == one.digest()
    assert rights(path) == (0o600, NOBODY, NOBODY)


def test_root_leaves_a_file_to_its_owner(shared):
    require_root()
    path = shared / "r.h5"
    work().save(path)
    os.chown(path, 61001, 61000)
    path.chmod(0o640)
    OutputFile(str(path)).save(work(trials=20))
    assert rights(path) == (0o640, 61001, 61000)


def test_a_replaced_file_keeps_its_access_list(tmp_path):
    path = tmp_path / "r.h5"
    work().save(path)
    # version 2; owner rw, user 61002 rw, group r, mask rw, others nothing
    entries = [(1, 6, -1), (2, 6, 61002), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
    access_list = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(path, "system.posix_acl_access", access_list)
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    OutputFile(str(path)).save(work(trials=20))
    assert os.getxattr(path, "system.posix_acl_access") == access_list


def test_a_folders_default_access_list_does_not_open_a_private_file(tmp_path):
    path = tmp_path / "r.h5"
    work().save(path)
    path.chmod(0o640)
    entries = [(1, 6, -1), (2, 6, 61002), (4, 4, -1), (16, 6, -1), (32, 4, -1)]
    try:
        os.setxattr(
            tmp_path,
            "system.posix_acl_default",
            struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries),
        )
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    OutputFile(str(path)).save(work(trials=20))
    assert rights(path)[0] == 0o640
    with pytest.raises(OSError):
        os.getxattr(path, "system.posix_acl_access")


def test_a_file_that_is_closed_to_us_is_said_to_be_its_owners(shared):
    require_root()
    path, one = shared / "r.h5", work()
    one.save(path)
    os.chown(path, 61001, 61000)
    for mode, message in ((0o600, "cannot be read"), (0o644, "is write-protected")):
        path.chmod(mode)
        said = as_user(lambda: OutputFile(str(path)), NOBODY, NOBODY)
        assert said == f"ResultFileError: output {path} {message}: it belongs to user 61001, mode {mode:04o}"
    path.chmod(0o600)
    said = as_user(lambda: open_results(path), NOBODY, NOBODY)
    assert said.endswith("cannot be read: permission denied (it belongs to user 61001, mode 0600)")


# ---------------------------------------------------------------- locks


def as_nobody(function):
    """Call a function in a process of a user in none of our groups; return its result as text."""
    return as_user(function, NOBODY, NOBODY)


@pytest.fixture
def shared(tmp_path):
    """A folder that all users may write, below folders that they may enter."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o711)
    work().save(tmp_path / "imports.h5")  # h5py imports as it is used, and another user may not read our installation
    open_results(tmp_path / "imports.h5")
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def killed_holding(path, mask):
    """A writer of fastcube that dies with the lock of ``path``."""
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
    message = as_nobody(lambda: saved_here(path, one))
    assert (
        f"its lock {lock} is closed to us: it can be removed when no run of its owner (user 0) writes here" in message
    )
    assert "the work done is saved in" in message


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


def test_another_file_by_the_name_of_the_lock_is_not_emptied(tmp_path):
    path, thesis = tmp_path / "r.h5", tmp_path / "thesis.tex"
    with hold_lock(path):
        (lock,) = tmp_path.glob(".*.lock")
    thesis.write_text("all of it")
    lock.hardlink_to(thesis)
    with pytest.raises(fc.ResultFileError, match=r"its lock .* is a hard link; the work done is saved in"):
        OutputFile(str(path)).save(work())
    assert thesis.read_text() == "all of it"


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
