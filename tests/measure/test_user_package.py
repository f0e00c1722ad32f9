"""A study in a user's installed package is found by its entry point, and its machine code is cached on disk."""

import subprocess
import sys
import zipfile

import pytest
from helpers.processes import CLEAN_ENVIRONMENT, only_cache

import fastcube as fc

FILES = {
    "theirs/__init__.py": "",
    "theirs/layout.py": """
from fastcube.kernels.tally.layout import Counter, Layout

TALLY = Layout(Counter("steps", "steps of all trials"), Counter("squares", "their squares", digits=2),
               Counter("moved", "trials with a step"))
""",
    "theirs/blocks.py": """
import numpy as np

from fastcube.kernels.draws import philox
from fastcube.kernels.machine.jit import block

BONUS = 0


@block
def steps(key, t, most):
    return np.int64(philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS) % np.uint64(most)) + BONUS
""",
    "theirs/kernel.py": """
from typing import NamedTuple

import numpy as np

from fastcube.kernels.machine.jit import block, scratch
from fastcube.kernels.tally.sums import add_wide
from fastcube.kernels.machine.trials import trials_kernel

from .blocks import steps
from .layout import TALLY

_STEPS, _SQUARES, _MOVED = (TALLY.counter(name) for name in ("steps", "squares", "moved"))


class Room(NamedTuple):
    most: np.ndarray


@scratch
def _set_up(params):
    return Room(np.array([np.int64(params[0])]))


@block
def _trial(key, t, params, room, tally):
    taken = steps(key, t, room.most[0])
    tally[_STEPS] += taken
    add_wide(tally, _SQUARES, np.uint64(taken * taken))
    tally[_MOVED] += taken > 0


KERNEL = trials_kernel(_set_up, _trial)
""",
    "theirs/study.py": """
import numpy as np

from fastcube.measure.statistics import Mean, Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Study

from .layout import TALLY


def _kernel(point):
    from .kernel import KERNEL

    return KERNEL


def _explain(point, key, trial):
    from .blocks import steps

    taken = int(steps(np.uint64(key), trial, point["most"]))
    return Explanation(f"{taken} steps", {"steps": taken})


STEPS = Study(
    name="their-steps",
    title="Steps",
    source="their package",
    revision=1,
    axes=(Axis("most", "fewest steps that are not taken", int, 2, 1000),),
    tally=TALLY,
    statistics=(
        Mean(name="steps", description="steps", total="steps", squares="squares", nonzero="moved",
             bound=lambda point: float(point["most"])),
        Proportion(name="moved", description="any step", events="moved"),
    ),
    kernel=_kernel,
    grids=(Grid("default", [{"most": 10}], 1000),),
    explain=_explain,
)
""",
    "theirs-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n",
    "theirs-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "theirs-1.0.dist-info/entry_points.txt": "[fastcube.studies]\ntheir-steps = theirs.study:STEPS\n",
}


@pytest.fixture
def installed(tmp_path):
    """The folder into which a wheel of the package is installed, and a call of the command line that sees it."""
    wheel, site, empty = tmp_path / "theirs-1.0-py3-none-any.whl", tmp_path / "site", tmp_path / "empty"
    with zipfile.ZipFile(wheel, "w") as file:
        for name, text in FILES.items():
            file.writestr(name, text)
        file.writestr("theirs-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in FILES))
    zipfile.ZipFile(wheel).extractall(site)  # installing a wheel of pure Python means copying its files
    empty.mkdir()
    variables = {"PYTHONPATH": str(site), **only_cache(tmp_path / "cache")}

    def call(*arguments):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "fastcube", *arguments],
            cwd=empty,
            env={**CLEAN_ENVIRONMENT, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return site / "theirs", call


def machine_code(cache):
    return {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb[ic]")}


@pytest.mark.slow
def test_a_study_of_an_installed_package(installed, tmp_path):
    package, fastcube = installed
    run, empty = ("run", "their-steps", "--progress", "none", "-o"), tmp_path / "empty"
    fastcube(*run, "r.h5")
    results = fc.open_results(empty / "r.h5")
    assert results.study.name == "their-steps"
    assert (steps := results.estimates({"most": 10})["steps"]).low < 4.5 < steps.high
    assert fastcube("replay", "r.h5", "--point", "most=10", "--trial", "3").splitlines()[1].endswith(" steps")

    kept = machine_code(tmp_path / "cache")
    assert any("code-" in str(path) for path in kept), "not in a folder named by the package's sources"
    fastcube(*run, "again.h5")
    assert machine_code(tmp_path / "cache") == kept, "compiled again"
    assert fc.open_results(empty / "again.h5").digest() == results.digest()

    blocks = package / "blocks.py"  # which the kernel's own file only imports
    blocks.write_text(blocks.read_text().replace("BONUS = 0", "BONUS = 1"))
    fastcube(*run, "changed.h5")
    assert set(machine_code(tmp_path / "cache")) > set(kept)
    assert fc.open_results(empty / "changed.h5").estimates({"most": 10})["moved"].value == 1.0
