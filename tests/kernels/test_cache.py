"""Where machine code is kept: one folder per what it depends on, wherever one can be written, by many processes at once."""

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, STUCK_SECONDS, TOY_FILE, mount_tmpfs, remount_read_only, run_fastcube

from fastcube import kernels
from fastcube.kernels.machine import cache

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")

PROBE = """
from .machine.jit import kernel
from .helper import offset

@kernel("int64(int64)")
def probe(x):
    return x + offset(x)

def closing_over(shift):
    @kernel("int64(int64)")
    def other(x):
        return 2 * shift(x)
    return other

other = closing_over(offset)
"""
HELPER = """
from .machine.jit import block

@block
def offset(x):
    return {}
"""
CALL = (
    "import sys; from fastcube.kernels import probe; from fastcube.kernels.machine.cache import cache_folder; "
    "print(probe.probe(10), probe.other(0), cache_folder())"
)


def copied(folder):
    copy = folder / "copy" / "fastcube"
    source = Path(kernels.__path__[0]).resolve().parent
    root = source if (source / "__main__.py").exists() else source / "fastcube"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("kernels", "studies", "data"):
        if not (copy / name).exists():  # an sdist has no links
            shutil.copytree(source / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "kernels" / "probe.py").write_text(PROBE)
    (copy / "kernels" / "helper.py").write_text(HELPER.format(1))
    return copy


@pytest.fixture
def package(tmp_path):
    """A copy of the package with two small kernels of its own, whose sources a test may edit."""
    return copied(tmp_path)


def environment(package, **variables):
    """A clean environment in which Python keeps no byte code: it would miss an edit of the same second and size."""
    kept = {k: v for k, v in CLEAN_ENVIRONMENT.items() if not k.startswith(("FASTCUBE_", "NUMBA_", "XDG_"))}
    ours = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **ours, **{k: str(v) for k, v in variables.items()}}


def call(package, **variables):
    """What the kernels give in a new process, the cache folder, and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env=environment(package, **variables),
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    first, second, folder = done.stdout.split()
    return int(first), int(second), Path(folder), done.stderr


def place(package, **variables):
    """The cache folder that a new process takes."""
    code = "from fastcube.kernels.machine.cache import cache_folder; print(cache_folder())"
    return Path(
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment(package, **variables),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd="/",
        ).stdout.strip()
    )


def stored(folder):
    """Files of machine code with the times they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb[ic]")}


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A copy of the package, the root of its cache, and what the first process said that compiled in it."""
    folder = tmp_path_factory.mktemp("warm")
    package, root = copied(folder), folder / "cache"
    return package, root, call(package, FASTCUBE_CACHE_DIR=root)


def test_a_second_process_loads_what_the_first_compiled(warm):
    package, root, first = warm
    assert first[:2] == (11, 2)
    assert first[2].parent == root
    assert first[3] == ""
    before = stored(first[2])
    assert len(before) == 4
    assert call(package, FASTCUBE_CACHE_DIR=root) == first
    assert stored(first[2]) == before


@pytest.mark.slow
def test_an_edited_source_of_another_file_is_compiled_anew(warm, tmp_path):
    package, root, one = warm
    (package / "kernels" / "helper.py").write_text(HELPER.format(100))
    two = call(package, FASTCUBE_CACHE_DIR=tmp_path)
    (package / "kernels" / "helper.py").write_text(HELPER.format(1))
    assert two[:2] == (110, 200)
    assert call(package, FASTCUBE_CACHE_DIR=root) == one


@pytest.fixture
def chosen(monkeypatch):
    """The cache folder that a process with these variables takes."""

    def call(**variables):
        with monkeypatch.context() as given:
            for name, value in variables.items():
                given.setenv(name, str(value))
            cache._trusted_roots.cache_clear()
            return cache._choose_folder.__wrapped__(cache.build_cache_tag())

    return call


def test_the_folder_names_numba_and_python(chosen, tmp_path):
    import numba

    here = chosen(FASTCUBE_CACHE_DIR=tmp_path).name
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"-numba{numba.__version__}-py{version}-" in here
    assert chosen(FASTCUBE_CACHE_DIR=tmp_path, NUMBA_BOUNDSCHECK="1").name != here


@pytest.mark.slow
def test_the_first_root_that_can_be_written_is_used(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()  # no folder can be made below a file, not by root either
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    roots = {"FASTCUBE_CACHE_DIR": blocked, "XDG_CACHE_HOME": tmp_path / "xdg", "HOME": home, "TMPDIR": temporary}
    assert place(package, **roots).parent == tmp_path / "xdg" / "fastcube"
    roots["XDG_CACHE_HOME"] = blocked
    assert place(package, **roots).parent == home / ".cache" / "fastcube"
    roots["HOME"] = blocked
    assert place(package, **roots).parent == temporary / f"fastcube-{os.getuid()}"


@pytest.mark.slow
def test_a_read_only_installation_and_home(package, tmp_path):
    with mount_tmpfs(tmp_path / "disk", "size=16m") as disk:
        shutil.copytree(package, disk / "fastcube")
        (disk / "home").mkdir()
        remount_read_only(disk)
        (tmp_path / "scratch").mkdir()
        answer = call(disk / "fastcube", HOME=disk / "home", TMPDIR=tmp_path / "scratch")
        assert answer[:2] == (11, 2)
        assert answer[2].parent == tmp_path / "scratch" / f"fastcube-{os.getuid()}"
        assert call(disk / "fastcube", HOME=disk / "home", TMPDIR=tmp_path / "scratch") == answer


@pytest.mark.slow
def test_nowhere_to_write_is_one_warning_and_right_results(package):
    nowhere = (
        "import tempfile; tempfile.gettempdir = lambda: '/proc/none'; "
        "from fastcube.kernels import probe; print(probe.probe(10), probe.other(0))"
    )
    variables = {"FASTCUBE_CACHE_DIR": "/proc/none", "HOME": "/proc/none"}
    done = subprocess.run(
        [sys.executable, "-c", nowhere],
        env=environment(package, **variables),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert done.stdout == "11 2\n"
    assert done.stderr.count("no folder for compiled kernels can be written") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "damage"), [
    ("nbc", "one bit"), ("nbi", "empty"), ("sha256", "torn"), ("nbi", "torn"), ("nbi", "one bit"), ("nbc", "empty"),
    ("nbc", "torn"), ("sha256", "empty"), ("sha256", "one bit"),
])  # a table, row by row # fmt: skip
def test_a_damaged_entry_is_compiled_anew_and_never_loaded(warm, tmp_path, suffix, damage):
    package, _, (_, _, compiled, _) = warm
    folder = shutil.copytree(compiled, tmp_path / "cache" / compiled.name)
    damaged = [*folder.rglob(f"*.{suffix}")]
    for file in damaged:
        whole = file.read_bytes()
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        file.write_bytes({"empty": b"", "torn": whole[:middle], "one bit": flipped}[damage])
    assert call(package, FASTCUBE_CACHE_DIR=tmp_path / "cache") == (11, 2, folder, "")
    assert len(damaged) == 2
    mended = stored(folder)
    assert call(package, FASTCUBE_CACHE_DIR=tmp_path / "cache") == (11, 2, folder, "")
    assert stored(folder) == mended


@pytest.mark.parametrize(
    ("change", "why"),
    mark_others_slow(
        [
            (lambda root, inner: root.chmod(0o777), "can be written by others"),
            (lambda root, inner: inner.chmod(0o775), "can be written by others"),
            (lambda root, inner: os.chown(root, 12345, 12345), "belongs to another user"),
            (lambda root, inner: (inner.rename(root / "elsewhere"), inner.symlink_to(root / "elsewhere")), "is a link"),
        ]
    ),
)
def test_folders_that_others_could_write_are_not_trusted(chosen, tmp_path, change, why):
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    roots = {"FASTCUBE_CACHE_DIR": tmp_path / "theirs", "XDG_CACHE_HOME": tmp_path / "mine"}
    change(tmp_path / "theirs", chosen(**roots))
    with pytest.warns(RuntimeWarning, match="compiled kernels are not kept in .*" + why):
        assert chosen(**roots).parent == tmp_path / "mine" / "fastcube"


@pytest.mark.slow
def test_a_root_that_is_a_link_to_scratch_is_followed(package, tmp_path):
    (tmp_path / "scratch").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "scratch")
    assert place(package, FASTCUBE_CACHE_DIR=tmp_path / "link").parent == tmp_path / "scratch"


@pytest.mark.slow
def test_a_full_disk_is_one_warning_and_right_results(package, tmp_path):
    with mount_tmpfs(tmp_path / "disk", "size=8k,mode=700") as disk:
        answer = call(package, FASTCUBE_CACHE_DIR=disk)
    assert answer[:2] == (11, 2)
    assert answer[3].count("cannot be used (OSError): remove it, or make room") == 1


@pytest.mark.slow
def test_a_users_own_cached_functions_keep_their_place(package, tmp_path):
    script = tmp_path / "theirs.py"
    script.write_text(
        "import numba\n"
        "from fastcube.kernels import probe\n"
        "probe.probe(1)\n"
        "@numba.njit(cache=True)\n"
        "def mine(x): return x + 1\n"
        "mine(1)\n"
    )
    variables = {"FASTCUBE_CACHE_DIR": tmp_path / "cache"}
    subprocess.run([sys.executable, script], env=environment(package, **variables), check=True)
    assert [p for p in (tmp_path / "__pycache__").iterdir() if p.name.startswith("theirs.mine")]


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
    ("file", "before", "after"),
    [
        ("unsafe/small.py", "y = x | two", "y = x & two"),
        ("unsafe/entry.py", "tally[WITH_UNSAFE] += reached[1]", "tally[WITH_UNSAFE] += reached[2]"),
        ("draws/philox.py", "0xD2511F53", "0xD2511F55"),
    ],
)
def test_a_study_that_was_edited_during_a_run_gives_the_digest_of_an_empty_cache(
    package, tmp_path, file, before, after
):
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
    assert digests[0] == digests[1] != edited
    assert len(digests[0]) == 65


NAMES = """
from fastcube.kernels.partition.scalar import TWO_PARTITION_SINGLE
from fastcube.kernels.unsafe.small import SMALL_6
print(SMALL_6.name, TWO_PARTITION_SINGLE.name)
"""
DOCSTRING = ("unsafe/small.py", '\n    """Numbers of set nodes', '\n    # a comment\n\n    """The numbers of nodes')


@pytest.mark.parametrize(
    ("edit", "changed"),
    mark_others_slow(
        [
            (("draws/philox.py", "0xD2511F53", "0xD2511F55"), (True, True)),
            (DOCSTRING, (False, False)),
            (("machine/bits.py", "\nimport numpy", "\n# a comment\nimport numpy"), (False, False)),
            (("partition/scalar.py", "return ", "return 0 or "), (False, True)),
        ]
    ),
)
def test_an_edit_changes_the_names_of_the_kernels_that_it_reaches(package, tmp_path, edit, changed):
    def names():
        done = subprocess.run(
            [sys.executable, "-c", NAMES],
            env=environment(package, FASTCUBE_CACHE_DIR=tmp_path),
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
        )
        return done.stdout.split()

    one = names()
    file, before, after = edit
    path = package / "kernels" / file
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    assert tuple(a != b for a, b in zip(one, names(), strict=True)) == changed


# ---------------------------------------------------------------- caches that are only read


#: The user may read the Python of these tests, wherever it is.
READ_ALL = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


def run_as(user, package, **variables):
    """The two kernels' values and the cache folder in a process of another user, and the files it wrote."""
    shell = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *READ_ALL, sys.executable, "-c", CALL]
    done = subprocess.run(
        shell, env=environment(package, **variables), capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


@pytest.fixture
def site(tmp_path):
    """A package that any user may read, a cache that root warmed, and the home of a user."""
    if os.geteuid() or not shutil.which("setpriv"):
        pytest.skip("only root can be two users")
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    package, home = copied(tmp_path), tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12345)
    folder = call(package, FASTCUBE_CACHE_DIR=tmp_path / "roots")[2]
    for path in sorted(folder.rglob("*.nbi")):
        cache.CacheEntry(folder, str(path.relative_to(folder))).copy_into(tmp_path / "site")
    return package, tmp_path / "site", home


@pytest.mark.slow
def test_a_cache_of_root_serves_another_user_without_compiling(site):
    package, root, home = site
    for variable in ("FASTCUBE_CACHE_PATH", "FASTCUBE_CACHE_DIR"):
        out, said = run_as(12345, package, HOME="/nonexistent", TMPDIR=home, **{variable: root})
        assert (out[:2], said) == (["11", "2"], "")
        assert Path(out[2]).is_relative_to(home)
        assert [path for path in home.rglob("*") if not path.is_dir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["root", "file", "owner", "damage"])
def test_a_cache_that_others_could_write_to_is_not_read(site, harm):
    package, root, home = site
    code = next(root.rglob("*.nbc"))
    if harm == "damage":
        code.write_bytes(code.read_bytes()[:-1] + b"x")
    elif harm == "owner":
        os.chown(code, 54321, 54321)
    else:
        (root if harm == "root" else code).chmod(0o777)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    out, said = run_as(12345, package, HOME=home, FASTCUBE_CACHE_PATH=root)
    assert out[:2] == ["11", "2"]
    assert said.count("are not loaded from") == (harm == "root")
    assert len(stored(home)) == (4 if harm == "root" else 2)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


@pytest.mark.slow
def test_warmup_copies_machine_code_for_others(tmp_path):
    env = {"FASTCUBE_CACHE_DIR": str(tmp_path / "own")}
    old = os.umask(0o077)
    try:
        done = run_fastcube("warmup", TOY_FILE, "--into", tmp_path / "site", env=env)
    finally:
        os.umask(old)
    assert done.stdout.splitlines()[-1] == (
        f"copied to {tmp_path}/site: others load it with FASTCUBE_CACHE_PATH={tmp_path}/site"
    )
    found = [*(tmp_path / "site").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in found if path.is_file()} == {0o644}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_dir()} == {0o755}
    assert {path.suffix for path in found if path.is_file()} == {".nbi", ".nbc", ".sha256"}
    (tmp_path / "site").chmod(0o777)
    refused = run_fastcube("warmup", TOY_FILE, "--into", tmp_path / "site", env=env)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "it can be written by others" in refused.stderr


# ---------------------------------------------------------------- one compiler among many

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
        answers = {process.communicate(timeout=STUCK_SECONDS) for process in started}
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert len(answers) == 1
    assert len(list((tmp_path / "sealed").iterdir())) == 2


def test_a_lock_is_waited_for_until_its_holder_is_done_or_dead(tmp_path, monkeypatch):
    """The line says once which process holds it."""
    lines = []
    monkeypatch.setattr(cache, "on_compiling", lines.append)
    monkeypatch.setattr(cache, "_LOCK_POLL", 0.001)
    holding = (
        "import sys, time; from fastcube.kernels.machine.cache import CacheEntry; from pathlib import Path\n"
        "with CacheEntry(Path(sys.argv[1]), 'a/name-hash.nbi').alone(): print(flush=True); time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path)], stdout=subprocess.PIPE, env=CLEAN_ENVIRONMENT
    ) as holder:
        assert holder.stdout.readline() == b"\n"
        entry = cache.CacheEntry(tmp_path, "a/name-hash.nbi")
        waiter = threading.Thread(target=lambda: entry.alone().__enter__())
        waiter.start()
        waiter.join(0.2)
        assert waiter.is_alive()
        assert lines == [f"waiting for process {holder.pid} on {socket.gethostname()}, which compiles name"]
        holder.kill()
        waiter.join(STUCK_SECONDS)
        assert not waiter.is_alive()


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


# ---------------------------------------------------------------- warmup, info, start-up


@pytest.mark.slow
def test_warmup_says_how_long_and_where(tmp_path):
    env = {"FASTCUBE_CACHE_DIR": str(tmp_path)}
    done = run_fastcube("warmup", TOY_FILE, env=env)
    study, cache = done.stdout.splitlines()
    assert study.startswith("toy: 1 kernels in ")
    assert study.endswith(" s")
    assert Path(cache.removeprefix("cache: ")).parent == tmp_path


def test_info_tells_the_environment(tmp_path):
    told = run_fastcube("info", env={"FASTCUBE_CACHE_DIR": str(tmp_path), "SLURM_CPUS_PER_TASK": "1"}).stdout
    lines = dict(line.split(maxsplit=1) for line in told.splitlines())
    assert lines["threads"] == "1"
    assert Path(lines["cache"]).parent == tmp_path
    assert "LLVM" in lines["cpu"]
    assert "numba" in lines["libraries"]


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
            env={**CLEAN_ENVIRONMENT, "FASTCUBE_CACHE_DIR": str(tmp_path / "cache")},
            check=True,
        )
        said.append(done.stdout.split())
    assert said == [["10"], ["20"], ["10", "20"], ["20", "10"]]
