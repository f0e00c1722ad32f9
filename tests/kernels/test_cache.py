"""Where machine code is kept: one folder per what it depends on, wherever one can be written, by many processes at once."""

import os
import shutil
import subprocess
import sys
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
    kept = {k: v for k, v in CLEAN_ENVIRONMENT.items() if not k.startswith(("FASTCUBE_", "NUMBA_", "XDG_"))}
    return {**kept, "PYTHONPATH": str(package.parent), **{k: str(v) for k, v in variables.items()}}


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
def test_an_edited_source_of_another_file_is_compiled_anew(warm):
    package, root, one = warm
    (package / "kernels" / "helper.py").write_text(HELPER.format(100))
    two = call(package, FASTCUBE_CACHE_DIR=root)
    (package / "kernels" / "helper.py").write_text(HELPER.format(1))
    assert two[:2] == (110, 200)
    assert one[2] != two[2]
    assert call(package, FASTCUBE_CACHE_DIR=root) == one


@pytest.fixture
def chosen(monkeypatch):
    """The cache folder that a process with these variables takes."""

    def call(**variables):
        with monkeypatch.context() as given:
            for name, value in variables.items():
                given.setenv(name, str(value))
            return cache.cache_folder.__wrapped__()

    return call


def test_the_folder_names_numba_python_and_cpu(chosen, tmp_path):
    import numba

    here = chosen(FASTCUBE_CACHE_DIR=tmp_path).name
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"-numba{numba.__version__}-py{version}-" in here
    other = chosen(FASTCUBE_CACHE_DIR=tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="").name
    assert other.endswith("-generic")
    checked = chosen(FASTCUBE_CACHE_DIR=tmp_path, NUMBA_BOUNDSCHECK="1").name
    assert len({here, other, checked}) == 3


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
    cache.CacheEntry(tmp_path / "gone.nbi").write_checksums()
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
