"""The numbers of failures that first disconnect the survivors and first isolate one, found as components return.

``params`` is (network, failing, n).  A moment is the least number of failures after which at least two nodes survive and they are
disconnected, or one of them is isolated.  If that never happens, it is the number of all components.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.link_numbers import is_matched
from ..cube.tables import make_tabulate, named_slots, named_step
from ..machine.array_types import I64
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..tally.sums import add_quantity, add_wide
from .curve import DISCONNECTION, ISOLATED_NODE, curve_scratch_for
from .layout import HITTING, LIFETIME_UNIT, failures_per_bin
from .union_find import make_links_trial, make_nodes_trial

_ISOLATION_FIRST, _EXTRA_1_FIRST, _NEVER = (
    HITTING.counter(name) for name in ("isolation_first", "extra_1_first", "never_disconnected")
)
_DISCONNECTED, _ISOLATED = HITTING.moments("disconnected_at"), HITTING.moments("isolated_at")
_DISCONNECTED_BINS, _ISOLATED_BINS = HITTING.counter("disconnected_bins"), HITTING.counter("isolated_bins")
_LIFE, _DIFFERENCE = HITTING.moments("life"), HITTING.moments("life_diff")

_tabulate = make_tabulate(named_step)
_width_of_bins = scratch(failures_per_bin)


class HittingPoint(NamedTuple):
    """The axes of ``hitting``, in their order."""

    network: I64  #: 0 for the hypercube
    failing: I64  #: 0 if nodes fail, 1 if links fail
    n: I64


@block
def _read_point(params):
    """Return the :class:`HittingPoint` of a kernel's parameters."""
    return HittingPoint(np.int64(params[0]), np.int64(params[1]), np.int64(params[2]))


@scratch
def _scratch_for(network, point):
    """Return the scratch memory of trials on a network in which all components return."""
    return curve_scratch_for(np.array([network, point.failing, point.n, 0], np.float64))


@scratch
def _is_matched(point):
    """Whether the links of the network have the same names as the hypercube's links."""
    table = np.empty((np.int64(1) << point.n, named_slots(point.network, point.n)), np.int32)
    _tabulate(point.network, point.n, table)
    return is_matched(table, point.n)


@block(always=True)
def _note_first(work, point, failed, components, isolated, largest, second, others):
    """Record ``failed`` if the survivors are disconnected, and if one is isolated too; return the next wanted point.

    Numbers of failures fall, so a trial's last record is the least.  An isolated node alone, a single survivor, does not count.
    """
    if components > 1:
        work.first_failures[DISCONNECTION] = failed
        if isolated:
            work.first_failures[ISOLATED_NODE] = failed
    return point + np.uint64(work.wanted[point] == failed)


@scratch
def _expected_times(count):
    """Return the expected time of failure number i, for i = 0 .. count, at failure rate 1 per component."""
    times = np.zeros(count + 1, np.float64)
    for i in range(count):
        times[i + 1] = times[i] + 1.0 / (count - i)
    return times


@block(always=True)
def _moment_or_end(moment, work):
    """Return a moment, or the number of all components if the event never happened."""
    return moment if moment >= 0 else np.int64(work.order.size)


@block(always=True)
def _round_time(time):
    """Return a time, or a difference of times, as a multiple of 1 / LIFETIME_UNIT."""
    return np.int64(np.floor(time * LIFETIME_UNIT + 0.5))


def _hitting_kernel(trial: Any, cube_trial: Any, variant: str) -> Any:
    """Return the kernel for a trial of ``curve`` on the network, and one on the hypercube."""

    @kernel(TRIALS_SIGNATURE, variant=variant)
    def hitting(key, first, stop, params, tally):
        """Count trials of the network, ``own``, and of the hypercube, ``cube``, if their failures are ``paired``."""
        point = _read_point(params)
        own, cube = _scratch_for(point.network, point), _scratch_for(np.int64(0), point)
        paired = point.network != 0 and (point.failing == 0 or _is_matched(point))
        width = _width_of_bins(np.int64(own.order.size))
        times = _expected_times(np.int64(own.order.size))
        for t in range(first, stop):
            own.first_failures[:] = -1
            trial(key, t, own)
            disconnected_at, isolated_at = own.first_failures[DISCONNECTION], own.first_failures[ISOLATED_NODE]
            tally[_ISOLATION_FIRST] += disconnected_at >= 0 and disconnected_at == isolated_at
            tally[_EXTRA_1_FIRST] += disconnected_at >= 0 and disconnected_at != isolated_at
            tally[_NEVER] += disconnected_at < 0
            disconnected_at, isolated_at = _moment_or_end(disconnected_at, own), _moment_or_end(isolated_at, own)
            add_quantity(tally, _DISCONNECTED, disconnected_at)
            add_quantity(tally, _ISOLATED, isolated_at)
            tally[_DISCONNECTED_BINS + disconnected_at // width] += 1
            tally[_ISOLATED_BINS + isolated_at // width] += 1
            add_quantity(tally, _LIFE, _round_time(times[disconnected_at]))
            if paired:
                cube.first_failures[:] = -1
                cube_trial(key, t, cube)
                cube_disconnected_at = _moment_or_end(cube.first_failures[DISCONNECTION], cube)
                difference = _round_time(times[disconnected_at] - times[cube_disconnected_at])
                tally[_DIFFERENCE.total] += difference
                add_wide(tally, _DIFFERENCE.squares, np.uint64(difference * difference))
                tally[_DIFFERENCE.nonzero] += difference != 0

    return hitting


_HYPERCUBE, _NODES, _LINKS = (
    make_nodes_trial(True, _note_first),
    make_nodes_trial(False, _note_first),
    make_links_trial(_note_first, with_sizes=False),
)

#: Kernels of failing nodes of other networks, failing nodes of the hypercube, and failing links.
HITTING_NODES = _hitting_kernel(_NODES, _HYPERCUBE, "nodes")
HITTING_HYPERCUBE = _hitting_kernel(_HYPERCUBE, _HYPERCUBE, "hypercube")
HITTING_LINKS = _hitting_kernel(_LINKS, _LINKS, "links")
