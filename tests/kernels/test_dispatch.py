"""Tables of kernels: which kernels serve a point, which one is chosen, and that no kernel is loaded earlier."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from fastcube import kernels
from fastcube.kernels.machine.dispatch import KernelTable, serve_any_point
from fastcube.kernels.machine.jit import TRIALS_SIGNATURE, Kernel

PACKAGE = "fastcube.kernels.routing"
TABLE = {"lanes.ROUTING_LANES_8": lambda n, f: 2 <= n <= 8, "scalar.ROUTING_SINGLE": serve_any_point}


def test_the_first_that_serves_is_taken_unless_a_rule_says_otherwise():
    assert KernelTable(PACKAGE, TABLE).choose_name(8, 1) == "lanes.ROUTING_LANES_8"
    assert KernelTable(PACKAGE, TABLE).choose_name(9, 1) == "scalar.ROUTING_SINGLE"
    assert (
        KernelTable(PACKAGE, TABLE, lambda n, f: "scalar.ROUTING_SINGLE").choose_name(8, 1) == "scalar.ROUTING_SINGLE"
    )


def test_a_table_gives_its_kernels_and_no_others():
    table = KernelTable(PACKAGE, TABLE)
    assert table.names == tuple(TABLE)
    assert [table.is_served(name, 9, 1) for name in table.names] == [False, True]
    assert table.kernel(9, 1) is table.load_kernel("scalar.ROUTING_SINGLE")
    with pytest.raises(KeyError):
        table.load_kernel("lanes.ROUTING_LANES_16")


@pytest.mark.parametrize("name", ["lanes.ROUTING_LANES_8", "lanes.ROUTING_LANES_16"])
def test_what_does_not_serve_is_never_taken(name):
    with pytest.raises(LookupError, match=rf"{name} of {PACKAGE} .* \(9, 1\)"):
        KernelTable(PACKAGE, TABLE, lambda n, f: name).kernel(9, 1)


def test_where_none_serves_none_is_taken():
    with pytest.raises(LookupError, match="no kernel"):
        KernelTable(PACKAGE, {"lanes.ROUTING_LANES_8": lambda n: n > 1}).kernel(1)


def test_a_table_loads_no_numba():
    code = "import sys, fastcube.kernels.machine.dispatch; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def modules(subject):
    return [
        importlib.import_module(f"fastcube.kernels.{subject}.{path.stem}")
        for path in sorted((Path(kernels.__path__[0]) / subject).glob("*.py"))
    ]


SUBJECTS = sorted(
    path.parent.name for path in Path(kernels.__path__[0]).glob("*/dispatch.py") if path.parent.name != "machine"
)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_kernel_of_trials_stands_in_a_table(subject):
    workspaces = modules(subject)
    tables = [value for workspace in workspaces for value in vars(workspace).values() if isinstance(value, KernelTable)]
    listed = {id(table.load_kernel(name)) for table in tables for name in table.names}
    made = [value for workspace in workspaces for value in vars(workspace).values() if isinstance(value, Kernel)]
    made = {id(kernel): kernel for kernel in made if kernel.signature == TRIALS_SIGNATURE}
    assert listed == set(made), [kernel for i, kernel in made.items() if i not in listed]
