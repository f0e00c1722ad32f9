"""Many processes that use one cache at once, and sources that change while a process lives."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.kernel_package import CALL, HELPER, call, copied, environment
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS, only_cache, without_compile_news

from fastcube.kernels.machine import cache
from fastcube.kernels.machine.compiling import present_compilation

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


@pytest.fixture
def package(tmp_path):
    """A copy of the package with two small kernels of its own, whose sources a test may edit."""
    return copied(tmp_path)


@pytest.mark.slow
def test_files_that_another_process_takes_away_leave_nothing_behind(tmp_path):
    cache.CacheEntry(tmp_path, "gone.nbi").write_checksums()
    assert list(tmp_path.iterdir()) == []


SEALING = (
    "import os, pathlib; from fastcube.kernels.machine.cache import CacheEntry; write = CacheEntry.write_checksums; "
    "CacheEntry.write_checksums = lambda entry: "
    "(pathlib.Path({!r}, f'{{os.getpid()}}-{{entry.index.name}}').touch(), write(entry)); "
)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [3, 8])
def test_processes_that_start_cold_at_once(processes, package, tmp_path):
    """All have the right numbers, and each kernel was compiled by one of them."""
    (tmp_path / "sealed").mkdir()
    command = [sys.executable, "-W", "error", "-c", SEALING.format(str(tmp_path / "sealed")) + CALL]
    variables = environment(package, FASTCUBE_CACHE_DIR=tmp_path / "cache")
    options = {"env": variables, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": "/"}
    started = [subprocess.Popen(command, **options) for _ in range(processes)]
    answers = {process.communicate(timeout=STUCK_SECONDS) for process in started}
    assert len(answers) == 1
    out, said = answers.pop()
    assert (out.split()[:2], said) == (["11", "2"], "")
    assert len(list((tmp_path / "sealed").iterdir())) == 2
    folder = Path(out.split()[2])
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert kinds == {".nbi", ".nbc", ".sha256"}, "temporary files are left"
    assert call(package, FASTCUBE_CACHE_DIR=tmp_path / "cache")[:2] == (11, 2)


# ---------------------------------------------------------------- sources that change while a process lives

EDITED = """
import sys
from fastcube.kernels import first
print(first.first(1), flush=True)
input()
from fastcube.kernels import probe
print(probe.probe(10), probe.other(0))
"""


FIRST = """
from .machine.jit import kernel

@kernel("int64(int64)")
def first(x):
    return x
"""


LIMITS = """
HELPED = 1
"""


@pytest.mark.parametrize(
    ("file", "before", "after", "seen"),
    mark_others_slow(
        [
            ("probe.py", "return x + offset", "return x - offset", (9, 2)),
            ("helper.py", "return 1", "return 100", (110, 200)),
            ("limits.py", "HELPED = 1", "HELPED = 7", (17, 14)),
        ]
    ),
)
def test_an_edit_while_a_process_lives_changes_no_other_process(package, tmp_path, file, before, after, seen):
    """A process compiles what it imported after the edit; the edit is undone; a new process must not load that."""
    kernel_folder = package / "kernels"
    (kernel_folder / "first.py").write_text(FIRST)
    (kernel_folder / "limits.py").write_text(LIMITS)
    if file == "limits.py":
        (kernel_folder / "helper.py").write_text("from .limits import HELPED\n" + HELPER.format("HELPED"))
    whole = (kernel_folder / file).read_text()
    variables = environment(package, FASTCUBE_CACHE_DIR=tmp_path / "cache")
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": variables, "text": True, "cwd": "/"}
    with subprocess.Popen([sys.executable, "-c", EDITED], **options) as process:
        assert process.stdout.readline() == "1\n"
        (kernel_folder / file).write_text(whole.replace(before, after))
        out, _ = process.communicate("\n", timeout=STUCK_SECONDS)
    assert tuple(map(int, out.split())) == seen
    (kernel_folder / file).write_text(whole)
    assert call(package, FASTCUBE_CACHE_DIR=tmp_path / "cache")[:2] == (11, 2)


STUDIES_IN_TURN = """
import fastcube as fc
fc.run("multicast-deadlock", trials=10)
print("ready", flush=True)
input()
print(fc.run("unsafe-fraction", n=6, f=2, trials=10_000).digest())
"""


ONE_STUDY = 'import fastcube as fc; print(fc.run("unsafe-fraction", n=6, f=2, trials=10_000).digest())'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "before", "after", "is_imported"),
    [
        ("unsafe/worklist.py", "if near[v] == 2:", "if near[v] == 3:", False),
        ("unsafe/entry.py", "tally[WITH_UNSAFE] += 1", "tally[WITH_UNSAFE] += 2", False),
        ("draws/philox.py", "0xD2511F53", "0xD2511F55", True),
    ],
)
def test_a_study_that_was_edited_during_a_run_gives_the_digest_of_an_empty_cache(
    package, tmp_path, file, before, after, is_imported
):
    """The process compiles the edit, but for a module that its first study has imported (``is_imported``)."""

    def run(text, **options):
        return subprocess.Popen(
            [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", **options
        )

    path = package / "kernels" / file
    whole = path.read_text()
    assert before in whole
    used = environment(package, FASTCUBE_CACHE_DIR=tmp_path / "used")
    with run(STUDIES_IN_TURN, env=used) as process:
        assert process.stdout.readline() == "ready\n"
        path.write_text(whole.replace(before, after))
        edited, _ = process.communicate("\n", timeout=STUCK_SECONDS)
    path.write_text(whole)
    digests = []
    for variables in (used, environment(package, FASTCUBE_CACHE_DIR=tmp_path / "empty")):
        with run(ONE_STUDY, env=variables) as process:
            digests.append(process.communicate(timeout=STUCK_SECONDS)[0])
    assert digests[0] == digests[1]
    assert (edited == digests[0]) == is_imported
    assert len(digests[0]) == 65


BUSY = "import itertools\nfor _ in itertools.count(): pass"


@pytest.mark.slow
def test_eight_cold_processes_beside_busy_loops_compile_once(package, tmp_path):
    (tmp_path / "sealed").mkdir()
    command = ["nice", sys.executable, "-W", "error", "-c", SEALING.format(str(tmp_path / "sealed")) + CALL]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": "/"}
    variables = environment(package, FASTCUBE_CACHE_DIR=tmp_path / "cache")
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        started = [subprocess.Popen(command, env=variables, **options) for _ in range(8)]
        answers = set()
        for process in started:
            out, said = process.communicate(timeout=STUCK_SECONDS)
            answers.add((out, without_compile_news(said)))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert len(answers) == 1
    assert len(list((tmp_path / "sealed").iterdir())) == 2


def test_a_lock_is_waited_for_until_its_holder_is_done_or_dead(tmp_path, monkeypatch):
    """It is noted which process holds it.  Files that the holder is storing are left alone until it is dead."""
    monkeypatch.setattr(cache, "_LOCK_POLL", 0.001)
    holding = (
        "import sys, time; from fastcube.kernels.machine.cache import CacheEntry; from pathlib import Path\n"
        "entry = CacheEntry(Path(sys.argv[1]), 'a/name-hash.nbi')\n"
        "with entry.alone(): entry.index.touch(); print(flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path)], stdout=subprocess.PIPE, env=CLEAN_ENVIRONMENT
    ) as holder:
        assert holder.stdout.readline() == b"\n"
        entry = cache.CacheEntry(tmp_path, "a/name-hash.nbi")
        waiter = threading.Thread(target=lambda: entry.alone().__enter__())
        waiter.start()
        waiter.join(0.2)
        waits, whole, left = waiter.is_alive(), entry.verify_checksums(), entry.index.exists()
        noted = present_compilation()
        holder.kill()
        waiter.join(STUCK_SECONDS)
    assert (waits, whole, left) == (True, False, True)
    assert (noted.name, noted.holder) == ("name", f"process {holder.pid} on {socket.gethostname()}")
    assert present_compilation() is None
    assert not waiter.is_alive()
    assert not entry.index.exists()


def test_a_suspended_holder_of_a_lock_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_LOCK_PATIENCE", 0.01)
    monkeypatch.setattr(cache, "_LOCK_POLL", 0.001)
    with cache.CacheEntry(tmp_path, "a/name-hash.nbi").alone() as suspended:
        begun = cache.CacheEntry(tmp_path, "a/name-hash.nbi")
        begun.index.write_bytes(b"which the suspended process has begun to store")
        with begun.alone() as known:
            assert begun.index.exists()
            begun.index.touch()
            begun.write_checksums()
        assert (suspended, known, begun.verify_checksums()) == (False, False, True)
    assert begun.verify_checksums()


FORKING = """
import os, sys, threading, time
from fastcube.kernels import probe
from fastcube.kernels.machine import jit

begun = threading.Event()
whole = jit.Kernel._compile_dispatcher
def slow(self, entry):
    begun.set()
    time.sleep(0.3)
    return whole(self, entry)
jit.Kernel._compile_dispatcher = slow
threading.Thread(target=probe.probe, args=(10,)).start()
begun.wait()
child = os.fork()
if not child:
    os._exit(probe.other(0))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_while_another_thread_compiles(package, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FORKING],
        env=environment(package, FASTCUBE_CACHE_DIR=tmp_path / "cache"),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        timeout=60,
    )
    assert done.stdout == "2\n"


OWN = """
import fastcube as fc

@fc.trial
def trial(key, t, params, out):
    out[0] = {}

{} = fc.trial_study("{}", "a number", [fc.Axis("a", "a label", int, 0, 9)], [fc.Output("x", "a number", 9)], trial, [{{"a": 0}}])
"""


@pytest.mark.slow
def test_two_users_trials_that_two_processes_compiled(tmp_path):
    """Numba names what both call alike; a third process that loads both from the cache must not take one for the other."""
    for name, number in (("ONE", 1), ("TWO", 2)):
        (tmp_path / f"{name}.py").write_text(OWN.format(number, name, name))
    totals = "import sys; print(*(vars(__import__(n))[n].count({'a': 0}, 10).counts['x_total'] for n in sys.argv[1:]))"
    said = []
    for names in (["ONE"], ["TWO"], ["ONE", "TWO"], ["TWO", "ONE"]):
        done = subprocess.run(
            [sys.executable, "-c", totals, *names],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            timeout=STUCK_SECONDS,
            env={**CLEAN_ENVIRONMENT, **only_cache(tmp_path / "cache")},
            check=True,
        )
        said.append(done.stdout.split())
    assert said == [["10"], ["20"], ["10", "20"], ["20", "10"]]
