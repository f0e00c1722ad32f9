"""Two guards on all tests, and which of them one worker runs.

Every tally that a test hands to a kernel lies between guard slots: a kernel that writes past it fails the test.  And a test
that compiles another kernel than its study's one of the default tests is marked ``kernels``, or fails.
"""

import gc
import os

import numpy as np
import pytest
from helpers.compiled import is_default, is_package_kernel

from fastcube.kernels.machine.jit import TRIALS_SIGNATURE, Kernel
from fastcube.kernels.tally.layout import Layout

# Compiling makes millions of objects beside all modules and tests, which stay: going through them again and again took 22 s of
# 292 s of CPU.
gc.set_threshold(500_000, 10, 10)

# A hundred tests start Python: without byte code on disk each of these processes would parse the whole package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

GUARD = 512
#: No sum of a test's counts comes out so.
UNTOUCHED = np.int64(0x5AFE5AFE5AFE5AFE)
#: Markers of tests that the default run leaves out.
LEFT_OUT = ("kernels", "slow", "exhaustive", "mpi", "dask", "slurm", "browser")
#: Ends of the names of further files that compile them.
TOGETHER = ("test_spanning_cli.py", "test_without_jit.py")
#: Subjects whose kernels share most of their blocks with each other and few with those of the other subjects.
ON_MESSAGES = ("broadcasting", "dualcube", "routing", "routing_rules", "unsafe")
#: Files whose tests import xarray, which takes some seconds.
WITH_XARRAY = ("test_choice_axis.py", "test_hostile.py", "test_odd_values.py", "test_results.py")


class Guards:
    """The tallies given out, each with the slots around it."""

    def __init__(self):
        self.workspaces = []

    def around(self, layout, slots):
        """A copy of fresh slots with guard slots before and after."""
        workspace = np.full(slots.size + 2 * GUARD, UNTOUCHED)
        inside = workspace[GUARD:-GUARD]
        inside[:] = slots
        self.workspaces.append((layout, workspace))
        return inside

    def check(self):
        """Fail where a guard slot changed; forget all tallies."""
        workspaces, self.workspaces = self.workspaces, []
        for layout, workspace in workspaces:
            outside = np.concatenate([workspace[:GUARD], workspace[-GUARD:]])
            assert (outside == UNTOUCHED).all(), (
                f"a kernel wrote outside its tally: {', '.join(c.name for c in layout.counters)}"
            )


@pytest.fixture(autouse=True)
def guards(monkeypatch):
    """Guard every tally that a layout makes."""
    made, fresh = Guards(), Layout.new_tally
    monkeypatch.setattr(Layout, "new_tally", lambda self, *points: made.around(self, fresh(self, *points)))
    yield made
    made.check()


@pytest.fixture(autouse=True)
def brief_measurement(monkeypatch):
    """A plan, a list and a job script measure the time of trials; the tests read only that a time is given."""
    monkeypatch.setattr("fastcube.running.planning.SECONDS", 0.01)


class Compiling:
    """The test that runs, from its fixtures on; none while tests are collected, when no trial of ours may be compiled."""

    item = None

    def may(self, kernel):
        if self.item is None:
            return not is_package_kernel(kernel) or kernel.signature != TRIALS_SIGNATURE
        return is_default(kernel) or any(map(self.item.get_closest_marker, LEFT_OUT))


compiling, make = Compiling(), Kernel._load_or_compile


def _from_cache(kernel):
    assert compiling.may(kernel), f"{kernel} is none of tests/helpers/study_table.py: mark what compiles it `kernels`"
    return make(kernel)


Kernel._load_or_compile = _from_cache


def pytest_collection_finish():
    """Tests and modules are there to stay."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    compiling.item = item


def _scope(nodeid):
    """Return the group of a test: its file, or a group of files that compile kernels with common blocks or import xarray."""
    file = nodeid.split("::", 1)[0]
    if file.endswith(WITH_XARRAY):
        return "xarray"
    if not file.endswith(("_kernel.py", "_studies.py", *TOGETHER)):
        return file
    return "kernels on messages" if file.split("/test_")[-1].startswith(ON_MESSAGES) else "kernels"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Under ``--dist loadfile`` one worker has a whole group: after routing's kernel broadcast's takes a fifth of the time.

    Not where tests marked ``kernels`` run: those are most of all that there is to do.
    """
    if config.getvalue("dist") == "loadfile" and "not kernels" in config.getoption("markexpr"):
        from xdist.scheduler import LoadFileScheduling

        scheduler = LoadFileScheduling(config, log)
        scheduler._split_scope = _scope
        return scheduler
    return None
