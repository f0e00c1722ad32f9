"""Variables of the environment that cannot be used: one line that names the variable, the values allowed and the value got."""

import contextlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest
from helpers.command_line import command_runner  # noqa: F401  (a fixture)
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE

import fastcube as fc
from fastcube.results.environment import NUMBA_INTEGERS, check_numba_settings

TARGET = "must be known to LLVM and fit this machine, got"
INTEGER = "must be an integer of at most nine digits, got"


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"DISABLE_JIT": "x"}, f"NUMBA_DISABLE_JIT {INTEGER} x"),
        ({"ENABLE_AVX": "z"}, f"NUMBA_ENABLE_AVX {INTEGER} z"),
        ({"BOUNDSCHECK": ""}, f"NUMBA_BOUNDSCHECK {INTEGER} "),
        ({"CUDA_LOG_SIZE": "1.5"}, f"NUMBA_CUDA_LOG_SIZE {INTEGER} 1.5"),
        ({"OPT": "9"}, "NUMBA_OPT must be 0, 1, 2, 3 or max, got 9"),
        ({"NUM_THREADS": "00"}, "NUMBA_NUM_THREADS must be an integer in [1, 999999999], got 00"),
        ({"FUNCTION_CACHE_SIZE": "-1"}, "NUMBA_FUNCTION_CACHE_SIZE must be an integer in [0, 999999999], got -1"),
        ({"FORCE_CUDA_CC": "eight"}, "NUMBA_FORCE_CUDA_CC must be a compute capability such as 8.0, got eight"),
        (
            {"LLVM_REFPRUNE_FLAGS": "all,foo"},
            "NUMBA_LLVM_REFPRUNE_FLAGS must be all, or names of its passes, got all,foo",
        ),
        ({"DUMP_HTML": ""}, "NUMBA_DUMP_HTML must be a file in a folder that can be written, got "),
        ({"DUMP_HTML": "/no/x.html"}, "NUMBA_DUMP_HTML must be a file in a folder that can be written, got /no/x.html"),
        ({"CPU_NAME": "foo"}, f"NUMBA_CPU_NAME {TARGET} foo ('foo' is not a recognized processor for this target "),
        ({"CPU_FEATURES": "+sse2,+foo"}, f"NUMBA_CPU_FEATURES {TARGET} +sse2,+foo ('+foo' is not a recognized "),
        (
            {"CPU_NAME": "i386", "CPU_FEATURES": ""},
            f"NUMBA_CPU_NAME and NUMBA_CPU_FEATURES {TARGET} i386 and nothing (LLVM",
        ),
    ],
)
def test_a_setting_at_which_numba_or_llvm_fails(run, monkeypatch, variables, wanted):
    for name, text in variables.items():
        monkeypatch.setenv(f"NUMBA_{name}", text)
    code, out, said = run("list")
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert said.startswith(f"fastcube: {wanted}")
    with pytest.raises(fc.ParameterError, match=re.escape(wanted)):
        fc.run("unsafe-fraction", n=5, f=1, trials=1)


def test_every_integer_of_numba_is_checked_and_numba_accepts_what_passes(monkeypatch):
    source = Path(numba.core.config.__file__).read_text()
    integers = set(re.findall(r'_readenv\(\s*"NUMBA_(\w+)",\s*int,', source))
    assert integers - {"NUM_THREADS", "FUNCTION_CACHE_SIZE"} <= set(NUMBA_INTEGERS.split())
    passed = []
    for name in re.findall(r'_readenv\(\s*"NUMBA_(\w+)"', source):
        if name.startswith("CPU_"):
            continue
        for text in ("1", " -1 ", "3", "x", "", "8.0", "²", "max", "all", "true"):
            monkeypatch.setenv(f"NUMBA_{name}", text)
            with contextlib.suppress(fc.ParameterError):
                check_numba_settings()
                passed.append((name, text))
        monkeypatch.delenv(f"NUMBA_{name}")
    reader = numba.core.config._EnvReloader.__new__(numba.core.config._EnvReloader)
    before = dict(vars(numba.core.config))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for name, text in passed:
                reader.process_environ({f"NUMBA_{name}": text})
    finally:
        vars(numba.core.config).update(before)


@pytest.mark.parametrize(
    "settings", [{"CACHE_DIR": "/proc/x"}, {"OPT": "max", "BOUNDSCHECK": "7"}, {"CPU_NAME": "generic"}]
)
def test_settings_that_numba_can_use(monkeypatch, settings):
    for name, text in settings.items():
        monkeypatch.setenv(f"NUMBA_{name}", text)
    check_numba_settings()


def test_in_python_any_name_but_an_error_is_refused(tmp_path):
    code = (
        "import fastcube as fc\n"
        "for name in ('Hypercube', 'run', 'blocks', 'route'):\n"
        "    try: getattr(fc, name)\n"
        "    except fc.ParameterError as error: print(error)\n"
    )
    variables = {**CLEAN_ENVIRONMENT, "NUMBA_OPT": "9"}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("NUMBA_OPT must be 0, 1, 2, 3 or max, got 9\n" * 4, "")


@pytest.mark.parametrize(
    "variable", ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_CPUS_PER_TASK"]
)
@pytest.mark.parametrize("text", ["-1", "x", "²", "1.5", "0", "9" * 5000])
def test_a_number_of_tasks_or_processors(run, monkeypatch, variable, text):
    monkeypatch.setenv(variable, text)
    code, _, said = run(f"run {TOY_FILE} --trials 10 --set a=1")
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith(f"fastcube: {variable} must be an integer in [1, 999999999], got {text[:30]}")


def test_variables_of_launchers_that_are_not_read(run, monkeypatch):
    for name in ("SLURM_NTASKS", "SLURM_NPROCS", "PMI_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "SLURM_LOCALID"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("PMI_SIZE", "")
    assert run(f"run {TOY_FILE} --trials 10 --set a=1")[0] == 0
    monkeypatch.setenv("SLURM_RESTART_COUNT", "abc")
    assert run(f"run {TOY_FILE} --trials 10 --set a=1")[0] == 0
    wanted = "fastcube: SLURM_RESTART_COUNT must be an integer in [0, 999999999], got abc\n"
    assert run(f"run {TOY_FILE} --trials 10 --set a=1 --force")[::2] == (2, wanted)


def test_a_job_line_is_one_line(run, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "a\nb\x1b[31m")
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "\n1")
    said = run(f"run {TOY_FILE} --trials 10 --set a=1 --progress lines")[2]
    assert ", toy, job a b [31m on " in said
    assert " MiB\n" in said
    assert all(line.startswith(("20", "results in", "fastcube: ")) for line in said.splitlines())
