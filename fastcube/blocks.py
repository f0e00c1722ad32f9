"""Compiled functions for trials: the building blocks of built-in studies and rules, and of your own.

``import fastcube as fc`` and write ``fc.blocks.draw(...)`` in a trial, or import the names; both compile to the same code.  Each
function is documented in the module that defines it, and the site shows them on one page.  ``docs/random.md`` describes the
random numbers.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as _np

from .errors import ParameterError as _ParameterError
from .kernels.draws.faults import Faults, blocked, draw, is_closed, is_faulty, is_faulty_link, is_safe, unsafe_subcubes
from .kernels.draws.faults import faults_for as _faults_for
from .kernels.draws.philox import random_word
from .kernels.draws.statuses import status, status_key, threshold
from .kernels.draws.stream import link_status, link_status_key, random_below, uniform
from .kernels.machine.bits import ONE, ZERO, highest, highest_bit, lowest, popcount
from .kernels.machine.jit import TRIALS_SIGNATURE, kernel
from .kernels.machine.jit import block as _block
from .kernels.machine.jit import scratch as _scratch
from .kernels.machine.trials import trials_kernel
from .kernels.routing.rules import (
    LIMIT,
    LIVELOCK,
    LOST,
    STUCK,
    make_route_rules,
    make_simulator,
    route3_rule,
    route_passes,
    search_scratch_for,
    simulate_route1,
    simulate_route2,
    simulate_route3,
)
from .kernels.routing_rules.rules import (
    FAULTS_BETWEEN,
    FIRST_PATH_IS_CLEAR,
    FIRST_PATH_IS_UNSAFE,
    HAS_ACTIVE_NODE,
    POINT_KEY,
    REFUSED,
    SHARED_UNSAFE_SUBCUBE,
    TRIAL_NUMBER,
    blocked_bits,
    first_path,
)
from .kernels.routing_rules.safety_status import forget_safety_status, level, safety_status_for, vector_bit
from .kernels.tally.maxima import offer
from .kernels.tally.sums import add_product, add_quantity, add_square, add_wide

_ONE = _np.int64(1)


def block(function: _Callable[..., _Any] | None = None, *, always: bool = False) -> _Any:
    """Make a function that trials, rules and other blocks may call: ``@fc.blocks.block``.

    It is compiled into its callers, for the types of their arguments; called from Python it runs as Python.  It must not create
    arrays, as a ``scratch`` function may.  An index out of bounds or a division by zero stops the run and names the trial.

    Parameters
    ----------
    always : bool
        Whether to always inline it: for a few lines that are called very often.
    """
    return _block(function, always=always, checked=True)


def scratch(function: _Callable[..., _Any]) -> _Any:
    """Make a function like a ``block`` that may create arrays, such as a set-up: ``@fc.blocks.scratch``."""
    return _scratch(function, checked=True)


@scratch
def faults_for(n, f, links, ends):  # type: ignore[no-untyped-def]
    """Return scratch memory for one trial's faults in Q_n: f faulty nodes, faulty links, and distinct nonfaulty ends of messages.

    Parameters
    ----------
    n : int64
        In [1, 62].
    f, links, ends : int64
        Numbers of faulty nodes, faulty links and ends; f + ends at most 2^n, links at most n 2^(n-1).

    Returns
    -------
    Faults
        For ``draw``, ``unsafe_subcubes`` and ``blocked``, which fill it.

    Raises
    ------
    ParameterError
        For arguments out of range.  Compiled code raises it too; a set-up is called once per range of trials, not per trial.
    """
    if n < 1 or n > 62:
        raise _ParameterError("n must be in [1, 62], got {}", n)
    if ends < 0 or ends > _ONE << n:
        raise _ParameterError("ends must be in [0, {}] for n={}, got {}", _ONE << n, n, ends)
    if f < 0 or f > (_ONE << n) - ends:
        raise _ParameterError("f must be in [0, {}] for n={}, ends={}, got {}", (_ONE << n) - ends, n, ends, f)
    if n < 59 and (links < 0 or links > n << (n - 1)):
        raise _ParameterError("links must be in [0, {}] for n={}, got {}", n << (n - 1), n, links)
    if links < 0:  # from n = 59 on n 2^(n-1) is no int64, so the message has its factors; every int64 is below it
        raise _ParameterError("links must be in [0, {} * 2^{}] for n={}, got {}", n, n - 1, n, links)
    return _faults_for(n, f, links, ends)


#: The public blocks; a test compiles each.
__all__ = [
    "FAULTS_BETWEEN", "FIRST_PATH_IS_CLEAR", "FIRST_PATH_IS_UNSAFE", "HAS_ACTIVE_NODE", "LIMIT", "LIVELOCK", "LOST", "ONE",
    "POINT_KEY", "REFUSED", "SHARED_UNSAFE_SUBCUBE", "STUCK", "TRIALS_SIGNATURE", "TRIAL_NUMBER", "ZERO", "Faults",
    "add_product", "add_quantity", "add_square", "add_wide", "block", "blocked", "blocked_bits", "draw", "faults_for",
    "first_path", "forget_safety_status", "highest", "highest_bit", "is_closed", "is_faulty", "is_faulty_link", "is_safe",
    "kernel", "level", "link_status", "link_status_key", "lowest", "make_route_rules", "make_simulator", "offer", "popcount",
    "random_below", "random_word", "route3_rule", "route_passes", "safety_status_for", "scratch", "search_scratch_for",
    "simulate_route1", "simulate_route2", "simulate_route3", "status", "status_key", "threshold", "trials_kernel", "uniform",
    "unsafe_subcubes", "vector_bit",
]  # names, as many as a line holds # fmt: skip
