"""The folders of machine code: one per set of inputs, in the first root that can be written."""

import os
import resource
import runpy
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.kernel_package import CALL, HELPER, call, copied, environment, run_python
from helpers.processes import (
    CLEAN_ENVIRONMENT,
    TOY_FILE,
    as_user,
    mount_tmpfs,
    only_cache,
    remount_read_only,
    require_root,
    run_fastcube,
)

from fastcube.kernels.machine import cache, cache_roots
from fastcube.kernels.machine.target import NEUTRAL_FEATURES, keep_code_features, read_target

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


@pytest.fixture
def package(tmp_path):
    """A copy of the package with two small kernels of its own, whose sources a test may edit."""
    return copied(tmp_path)


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


@pytest.mark.parametrize("failing", ["write", "replace"])
def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path, failing):
    """Neither on a full disk, for which the limit of a file's size stands, nor where the name is taken by a folder."""
    target = tmp_path / "a.nbc"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if failing == "replace":
        target.mkdir()
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError):
            cache_roots.write_file(target, bytes(1000), 0o600)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [*tmp_path.iterdir()] == [target] * (failing == "replace")


@pytest.fixture
def chosen(monkeypatch):
    """The cache folder that a process with these variables takes."""

    def call(**variables):
        with monkeypatch.context() as given:
            for name, value in variables.items():
                given.setenv(name, str(value))
            cache_roots.trusted_roots.cache_clear()
            return cache_roots.choose_folder.__wrapped__(cache.build_cache_tag())

    return call


def test_the_folder_names_numba_and_python(chosen, tmp_path):
    """Not the third number of Python's version, which changes no bytecode."""
    import numba

    here = chosen(FASTCUBE_CACHE_DIR=tmp_path).name
    assert f"-numba{numba.__version__}-py{sys.version_info.major}.{sys.version_info.minor}-" in here


#: Numba's settings that change no machine code of a kernel, by their effect.
NEUTRAL_SETTINGS = {
    "folders and threads": """
        CACHE_DIR CACHE_LOCATOR_CLASSES FUNCTION_CACHE_SIZE NUMBA_DEFAULT_NUM_THREADS NUMBA_NUM_THREADS
        THREADING_LAYER THREADING_LAYER_PRIORITY
    """,
    "messages": """
        ALWAYS_WARN_UNINIT_VAR ANNOTATE CHROME_TRACE COLOR_SCHEME DEBUG DEBUG_CACHE DEBUG_FRONTEND
        DEBUG_INLINE_CLOSURE DEBUG_NRT_STACK_LIMIT DEBUG_PRINT_AFTER DEBUG_PRINT_BEFORE DEBUG_PRINT_WRAP
        DEBUG_TYPEINFER DEVELOPER_MODE DIFF_IR DISABLE_PERFORMANCE_WARNINGS DISABLE_TYPEINFER_FAIL_CACHE DUMP_ASSEMBLY
        DUMP_BYTECODE DUMP_CFG DUMP_FUNC_OPT DUMP_IR DUMP_LLVM DUMP_OPTIMIZED DUMP_SSA GDB_BINARY HIGHLIGHT_DUMPS HTML
        LLVM_PASS_TIMINGS SHOW_HELP TRACE
    """,
    "measuring": """
        ENABLE_PROFILING ENABLE_SYS_MONITORING JIT_COVERAGE NRT_STATS RUNNING_UNDER_PROFILER
    """,
    "parallel loops, which kernels have not": """
        DEBUG_ARRAY_OPT DEBUG_ARRAY_OPT_RUNTIME DEBUG_ARRAY_OPT_STATS PARALLEL_DIAGNOSTICS PARFOR_MAX_TUPLE_SIZE
    """,
    "where code lies, and what is found out at import": """
        IS_32BITS IS_OSX IS_WIN32 MACHINE_BITS PYVERSION USE_LLVMLITE_MEMORY_MANAGER _HAVE_YAML
    """,
    "named otherwise": """
        CPU_FEATURES CPU_NAME DISABLE_INTEL_SVML DISABLE_JIT ENABLE_AVX
    """,
    "graphics cards": """
        CUDA_ARRAY_INTERFACE_SYNC CUDA_DEALLOCS_COUNT CUDA_DEALLOCS_RATIO CUDA_DEBUGINFO_DEFAULT CUDA_DEFAULT_PTX_CC
        CUDA_DRIVER CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY CUDA_INCLUDE_PATH CUDA_LOG_API_ARGS CUDA_LOG_LEVEL
        CUDA_LOG_SIZE CUDA_LOW_OCCUPANCY_WARNINGS CUDA_MEMORY_MANAGER CUDA_PER_THREAD_DEFAULT_STREAM
        CUDA_USE_NVIDIA_BINDING CUDA_VERBOSE_JIT_LOG CUDA_WARN_ON_IMPLICIT_COPY DISABLE_CUDA ENABLE_CUDASIM
        FORCE_CUDA_CC
    """,
}


def test_every_setting_of_numba_is_known_to_change_code_or_not():
    """A setting that a new numba brings fails here: look up its effect, and name it here or in ``CODE_SETTINGS``."""
    import numba

    neutral = {name for names in NEUTRAL_SETTINGS.values() for name in names.split()}
    assert not neutral & set(cache.CODE_SETTINGS)
    assert {name for name in vars(numba.config) if name.isupper()} <= neutral | set(cache.CODE_SETTINGS)


@pytest.mark.parametrize(
    ("name", "value"),
    [("BOUNDSCHECK", "0"), ("BOUNDSCHECK", "1"), ("OPT", "max"), ("SLP_VECTORIZE", "1"), ("FULL_TRACEBACKS", "1")],
)
def test_settings_that_change_code_name_another_folder(chosen, tmp_path, name, value):
    here = chosen(FASTCUBE_CACHE_DIR=tmp_path)
    assert chosen(FASTCUBE_CACHE_DIR=tmp_path, **{f"NUMBA_{name}": value}) != here
    assert chosen(FASTCUBE_CACHE_DIR=tmp_path) == here


#: Values of neutral settings that people and sites set.
SITE_SETTINGS = {
    **dict.fromkeys(["NUMBA_DISABLE_CUDA", "NUMBA_SHOW_HELP", "NUMBA_JIT_COVERAGE"], "1"),
    **dict.fromkeys(["NUMBA_DISABLE_PERFORMANCE_WARNINGS", "NUMBA_ENABLE_SYS_MONITORING"], "1"),
    "NUMBA_THREADING_LAYER": "omp",
    "NUMBA_FORCE_CUDA_CC": "8.0",
    "NUMBA_FUNCTION_CACHE_SIZE": "7",
}


def test_settings_of_a_site_share_the_folder(chosen, tmp_path):
    assert chosen(FASTCUBE_CACHE_DIR=tmp_path, **SITE_SETTINGS) == chosen(FASTCUBE_CACHE_DIR=tmp_path)


INSTRUCTIONS = """
import re, sys
sys.path.insert(0, sys.argv[1])
from helpers.machine_code import assembly_text
from fastcube.kernels.unsafe.small import SMALL_6
SMALL_6.cache = False
SMALL_6.compiled
text = assembly_text(SMALL_6)
lines = [line.partition("#")[0].strip() for line in text.splitlines()]
print(chr(10).join(re.sub(r"[^\\s,(]*_Z[^\\s,(]*", "symbol", line) for line in lines if line and not line.startswith(".")))
"""


@pytest.mark.kernels
@pytest.mark.slow
def test_settings_of_a_site_and_of_the_microcode_change_no_instruction():
    """The instructions of a kernel with and without neutral settings, and without every neutral feature of the processor."""
    _, features = read_target()
    switched = ["-" + word[1:] if word[1:] in NEUTRAL_FEATURES.split() else word for word in features.split(",")]
    texts = set()
    for given in ({}, SITE_SETTINGS, {"NUMBA_CPU_FEATURES": ",".join(switched)}):
        variables = {**CLEAN_ENVIRONMENT, **given}
        command = [sys.executable, "-c", INSTRUCTIONS, str(Path(__file__).parents[1])]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        texts.add(done.stdout)
    assert len(texts) == 1
    assert next(iter(texts)).count("\n") > 500


def test_the_folder_ignores_features_that_change_no_code():
    _, features = read_target()
    turned = ",".join(
        {"+": "-", "-": "+"}[word[0]] + word[1:] if word[1:] in NEUTRAL_FEATURES.split() else word
        for word in features.split(",")
    )
    assert turned != features
    assert (
        keep_code_features(turned)
        == keep_code_features(features)
        != keep_code_features(features.replace("+avx2", "-avx2"))
    )


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
    done = run_python(package, nowhere, FASTCUBE_CACHE_DIR="/proc/none", HOME="/proc/none")
    assert done.returncode == 0, done.stderr
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


# ---------------------------------------------------------------- names of kernels after an edit


NAMES = """
from fastcube.kernels.partition.scalar import TWO_PARTITION_SINGLE
from fastcube.kernels.unsafe.small import SMALL_6
print(SMALL_6.name, TWO_PARTITION_SINGLE.name)
"""
DOCSTRING = ("unsafe/small.py", '\n    """Return ', '\n    # a comment\n\n    """Edited: return ')


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
        done = run_python(package, NAMES, FASTCUBE_CACHE_DIR=tmp_path)
        assert done.returncode == 0, done.stderr
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


USER = 12345


@pytest.fixture
def open_folder():
    """A folder that all users may enter, unlike ``tmp_path``: pytest closes the folders above that one."""
    require_root()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


@pytest.mark.parametrize("closed", [None, "site", "tag", "kernel"])
def test_a_cache_that_is_closed_to_a_user_is_passed_over(open_folder, monkeypatch, closed):
    """As after `cp -r` of root's own cache, whose folders are closed to others."""
    folders = {"site": open_folder / "site"}
    folders["tag"] = folders["site"] / cache.build_cache_tag()
    folders["kernel"] = folders["tag"] / "kernel"
    for folder in folders.values():
        folder.mkdir()
        folder.chmod(0o700 if folder == folders.get(closed) else 0o755)
    entry = cache.CacheEntry(folders["tag"], "kernel/name-hash.nbi")
    for write in (entry.index.touch, entry.write_checksums):
        write()
    for path in folders["kernel"].iterdir():
        path.chmod(0o644)
    (open_folder / "own").mkdir()
    os.chown(open_folder / "own", USER, USER)
    monkeypatch.setenv("FASTCUBE_CACHE_PATH", str(folders["site"]))
    for variable in ("FASTCUBE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):  # no cache of the user who runs the tests
        monkeypatch.setenv(variable, str(open_folder / "own"))

    def look():
        for cached in (cache_roots.choose_folder, cache_roots.trusted_roots, cache_roots.warn_once):
            cached.cache_clear()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            entries = cache.list_entries("kernel/name-hash.nbi")
            found = [(each.has_checksums(), each.verify_checksums()) for each in entries if not each.writable]
        return (True, True) in found, [str(each.message) for each in said if "not loaded" in str(each.message)]

    refused = [f"compiled kernels are not loaded from {folders['tag']}: permission denied"] * (
        closed in {"site", "tag"}
    )
    assert as_user(look, USER, USER) == str((closed is None, refused))


def test_a_file_that_is_closed_to_a_user_is_no_part_of_a_study(open_folder):
    """A colleague's private file stands beside the study."""
    (open_folder / "study.py").write_text("def trial(): pass")
    trial = runpy.run_path(str(open_folder / "study.py"))["trial"]
    alone = cache.code_subfolder(trial)
    (open_folder / "private.py").write_text("x = 1")
    (open_folder / "private.py").chmod(0o600)
    assert as_user(lambda: cache.code_subfolder(trial), USER, USER) == alone
    (open_folder / "private.py").chmod(0o644)
    assert as_user(lambda: cache.code_subfolder(trial), USER, USER) == cache.code_subfolder(trial) != alone


def test_a_home_that_is_closed_to_a_user_is_passed_over(open_folder, monkeypatch):
    """As after `su` with the home folder of root."""
    (open_folder / "root").mkdir(mode=0o700)
    (open_folder / "own").mkdir()
    os.chown(open_folder / "own", USER, USER)
    monkeypatch.setenv("FASTCUBE_CACHE_DIR", str(open_folder / "root" / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(open_folder / "own"))
    tag = cache.build_cache_tag()
    chosen = as_user(lambda: cache_roots.choose_folder.__wrapped__(tag), USER, USER)
    assert chosen == str(open_folder / "own" / "fastcube" / tag)


@pytest.mark.slow
def test_warmup_copies_machine_code_for_others(tmp_path):
    env = only_cache(tmp_path / "own")
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


# ---------------------------------------------------------------- warmup, info, start-up


@pytest.mark.slow
def test_warmup_says_how_long_and_where(tmp_path):
    env = only_cache(tmp_path)
    done = run_fastcube("warmup", TOY_FILE, env=env)
    study, cache = done.stdout.splitlines()
    assert study.startswith("toy: 1 kernel in ")
    assert study.endswith(" s")
    assert Path(cache.removeprefix("cache: ")).parent == tmp_path


def test_info_tells_the_environment(tmp_path):
    reported = run_fastcube("info", env={"FASTCUBE_CACHE_DIR": str(tmp_path), "SLURM_CPUS_PER_TASK": "1"}).stdout
    lines = dict(line.split(maxsplit=1) for line in reported.splitlines())
    assert lines["threads"] == "1"
    assert Path(lines["cache"]).parent == tmp_path
    assert "LLVM" in lines["cpu"]
    assert "numba" in lines["libraries"]
