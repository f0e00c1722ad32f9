"""Which kernels the default tests compile: one a study, held against its twin.  Tests marked ``kernels`` compile the others."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import pytest

import fastcube as fc
import fastcube.kernels
from fastcube.kernels.machine.jit import TRIALS_SIGNATURE, Kernel
from helpers.study_table import STUDIES

#: Most CPU seconds of compiling a kernel that any test may compile, because runs begin with such kernels.
QUICK_SECONDS = 5


@functools.cache
def _default_kernel_ids() -> frozenset[int]:
    """Return the identities of the studies' default kernels, and of those with which runs begin."""
    names = {(study.table, study.default) for study in STUDIES.values() if study.default}
    for table in {study.table for study in STUDIES.values()}:
        names |= {(table, name) for name, seconds in table.compile_seconds.items() if seconds <= QUICK_SECONDS}
    return frozenset(id(table.load_kernel(name)) for table, name in names)


def is_package_kernel(kernel: Kernel) -> bool:
    """Whether it is one of ``kernels/``."""
    return (kernel.function.__module__ or "").startswith(fastcube.kernels.__name__ + ".")


def is_default(kernel: Kernel) -> bool:
    """Whether a default test may compile it: no kernel of built-in trials, or its study's default kernel."""
    return not is_package_kernel(kernel) or kernel.signature != TRIALS_SIGNATURE or id(kernel) in _default_kernel_ids()


def mark_others_slow(values: Iterable[Any], default: int = 1) -> list[Any]:
    """Parameters of which the default run tries the first few; all further parameters are marked ``slow``."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow if i >= default else ())
        for i, value in enumerate(values)
    ]


def mark_unless_default(study: str, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test that counts points of a study: marked ``kernels`` where another kernel than the default is taken.

    Each of the values is a point, or a tuple that begins with one's values.
    """
    table, name = STUDIES[study].table, STUDIES[study].default
    axes = len(fc.study(study).axes)
    out = []
    for value in values:
        point = tuple(value.values()) if isinstance(value, dict) else value[:axes]
        marks = () if table.choose_name(*point) == name else pytest.mark.kernels
        out.append(pytest.param(*((value,) if isinstance(value, dict) else value), marks=marks))
    return out
