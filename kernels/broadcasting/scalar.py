"""Broadcasting trials one at a time, for any n, faulty nodes and links; lane kernels run their hard trials by this code.

A trial runs BROADCAST from one source on one fault set and, unless all nodes of Q_n are unsafe, BROADCAST1(1) and BROADCAST2(1).
A nonfaulty node is *unsafe* if it has two or more faulty or unsafe neighbours, or a faulty link, and else *active*.  ``descent``
computes the broadcasts, whose results are the number of nodes reached and the last time unit (step) in which a node receives.
``BROADCAST_SETS`` counts every fault set of a small cube.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import FAULTY_NODES, Faults, draw, faults_for, is_closed, is_safe, next_sparing_set, unsafe_subcubes
from ..machine.array_types import I64
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from .broadcast1_2 import run_broadcast1_2
from .descent import REACHED, STEPS, Descent, descent_for, run_broadcast
from .layout import BROADCAST, FIRST_ELEMENT, LINKS, F, N

_SOME_ACTIVE, _UNSAFE_SOURCE = BROADCAST.counter("some_active"), BROADCAST.counter("unsafe_source")
_LIMIT, _MOST = BROADCAST.counter("limit"), BROADCAST.maximum("broadcast2_steps")


class BroadcastScratch(NamedTuple):
    """Scratch memory of trials at one point, for one trial at a time."""

    n: I64
    faults: Faults
    descent: Descent


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, f, links) = params."""
    n, f, links = np.int64(params[N]), np.int64(params[F]), np.int64(params[LINKS])
    return BroadcastScratch(n, faults_for(n, f, links, np.int64(1)), descent_for(n, f + links))


def make_recorder(name: str) -> Any:
    """Return the block ``record_broadcast(tally, reached, nonfaulty, steps)``, which tallies one broadcast of ``name``."""
    trials, complete = BROADCAST.counter(f"{name}_trials"), BROADCAST.counter(f"{name}_complete")
    reached_sums, steps_sums = BROADCAST.moments(f"{name}_reached"), BROADCAST.moments(f"{name}_steps")
    bins = BROADCAST.counter(f"{name}_steps_bins")

    @block
    def record_broadcast(tally, reached, nonfaulty, steps):
        tally[trials] += 1
        tally[complete] += reached == nonfaulty
        add_quantity(tally, steps_sums, steps)
        tally[bins + steps] += 1
        add_quantity(tally, reached_sums, reached)

    return record_broadcast


_record, _record1 = make_recorder("broadcast"), make_recorder("broadcast1")
_record1_unsafe, _record2 = make_recorder("broadcast1_unsafe"), make_recorder("broadcast2")


@block
def finish_trial(trial, s, t, silenced, tally):
    """Count trial ``t``, whose faulty nodes and links have been sampled, from source ``s``.

    ``silenced`` is the number of nodes that BROADCAST does not reach, if the caller knows it and that a node receives in the last
    unit, n.  BROADCAST is then not run.  Otherwise it is -1.  From an active source BROADCAST2 is BROADCAST1.
    """
    n, faults, descent = trial.n, trial.faults, trial.descent
    whole = (ONE << np.uint64(n)) - ONE
    found = descent.found  # results of the latest broadcast: each run overwrites them
    nonfaulty = (np.int64(1) << n) - faults.size[FAULTY_NODES]
    if silenced < 0:
        run_broadcast(faults, s, n, descent)
    else:
        found[REACHED] = (np.int64(1) << n) - silenced
        found[STEPS] = n
    _record(tally, found[REACHED], nonfaulty, found[STEPS])
    unsafe_subcubes(faults)
    if not is_safe(faults, n):
        return
    tally[_SOME_ACTIVE] += 1
    unsafe = is_closed(faults, s)
    tally[_UNSAFE_SOURCE] += unsafe
    within_limit = run_broadcast1_2(faults, s, whole, False, descent)
    reached, steps = found[REACHED], found[STEPS]
    if unsafe:
        within_limit = within_limit and run_broadcast1_2(faults, s, whole, True, descent)
    if not within_limit:
        tally[_LIMIT] += 1
        return
    if unsafe:
        _record1_unsafe(tally, reached, nonfaulty, steps)
    else:
        _record1(tally, reached, nonfaulty, steps)
    _record2(tally, found[REACHED], nonfaulty, found[STEPS])
    offer(tally, _MOST, found[STEPS], t)


@block
def run_trial(key, t, params, work, tally):
    """Sample and tally a trial."""
    draw(key, t, work.n, work.faults)
    finish_trial(work, work.faults.ends[0], t, np.int64(-1), tally)


#: Kernel at (n, f, links) = params; see ``layout.BROADCAST``.
BROADCAST_SINGLE = trials_kernel(set_up, run_trial)


@block
def run_set(key, t, params, work, tally):
    """Run and tally the broadcasts from node 0 under the fault set after n, f and K in ``params``; the next set replaces it."""
    next_sparing_set(work.n, params[FIRST_ELEMENT:], work.faults)
    finish_trial(work, ZERO, t, np.int64(-1), tally)


#: Kernel of all C(2^n - 1, f) fault sets without node 0, which represent all sets up to translation; its parameters are (n, f, 0,
#: 0, 1, ..., f - 1).
BROADCAST_SETS = trials_kernel(set_up, run_set)
