"""Limits of virtual memory, and what a run imports before its first trial."""

import json
import resource
import subprocess
import sys

import pytest
from helpers.command_line import command_runner  # noqa: F401  (a fixture)
from helpers.processes import CLEAN_ENVIRONMENT, FASTCUBE, TOY_FILE
from toy import TOY

import fastcube as fc
from fastcube.cli import _READERS, AUDIT_COMMANDS, COMMANDS, find_command_module
from fastcube.results import memory
from fastcube.results.results import Results

RUN = ["run", TOY_FILE, "--set", "a=1", "--set", "work=0", "--trials", "5000", "--workers", "1"]

#: Runs a command and reports the modules that were imported after its first trial.
WATCH = """
import json, sys
from fastcube.cli import main
from fastcube.running import work_loop
known, record = [], work_loop.WorkLoop._record_finished
def record_first(self, future):
    known.append(set(sys.modules))
    return record(self, future)
work_loop.WorkLoop._record_finished = record_first
try:
    main(sys.argv[1:])
except SystemExit as ended:
    print(json.dumps([ended.code, sorted(set(sys.modules) - known[0])]), file=sys.__stderr__)
"""


def test_a_run_imports_everything_before_its_first_trial(tmp_path):
    done = subprocess.run(
        [sys.executable, "-P", "-c", WATCH, *RUN, "--progress", "none", "-o", tmp_path / "r.h5"],
        env=CLEAN_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stderr.splitlines()[-1]) == [0, []]


@pytest.mark.parametrize("mebibytes", [320, 400, memory._ADDRESSES - 1])
def test_a_limit_of_virtual_memory_below_the_need_is_one_line_at_once(tmp_path, mebibytes):
    limit = mebibytes << 20
    done = subprocess.run(
        [*FASTCUBE, *RUN, "-o", tmp_path / "r.h5"],
        env=CLEAN_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"fastcube: not enough memory: virtual memory is limited to {mebibytes} MiB (ulimit -v), "
        f"and fastcube run needs {memory._ADDRESSES} MiB\n"
    )
    assert not list(tmp_path.iterdir())


# the audit's commands where it is installed
@pytest.mark.parametrize("command", [*COMMANDS, *filter(find_command_module, AUDIT_COMMANDS)])
def test_every_command_names_the_limit_before_it_imports_a_library(run, monkeypatch, command):
    """Below it OpenBLAS, HDF5 and LLVM abort the process, wait for ever, or raise errors that name other causes."""
    need = memory._ADDRESSES_OF_READER if command in _READERS else memory._ADDRESSES
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: ((need << 20) - 1, 0))
    known = {*sys.modules}
    code, shown, said = run(f"{command} x")
    assert (code, shown, said.count("\n")) == (2, "", 1)
    assert said.startswith("fastcube: not enough memory: virtual memory is limited to ")
    assert said.endswith(f"and fastcube {command} needs {need} MiB\n")
    if command in COMMANDS:
        assert not {*sys.modules} - known - {"fastcube.results", "fastcube.results.memory"}
        assert run(f"{command} --help")[0] == 0


def test_a_merge_that_died_in_a_library_is_one_line(tmp_path):
    limit = 195 << 20
    done = subprocess.run(
        [*FASTCUBE, "merge", "a.h5", "-o", tmp_path / "b.h5"],
        env=CLEAN_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "limited to 195 MiB" in done.stderr


def test_more_workers_need_more(monkeypatch):
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (memory._ADDRESSES << 20, 0))
    memory.check_address_space(1)
    with pytest.raises(MemoryError, match=r"needs \d+ MiB with 3 workers, or \d+ MiB with --workers 1"):
        memory.check_address_space(3)


def test_lack_of_memory_is_not_told_as_a_file_that_cannot_be_written(monkeypatch, tmp_path):
    def fail(self, path):
        raise MemoryError

    monkeypatch.setattr(Results, "save", fail)
    with pytest.raises(fc.ResultFileError, match=r"r\.h5 cannot be written: not enough memory; no folder takes it"):
        fc.run(TOY, a=1, trials=100, output=tmp_path / "r.h5")
