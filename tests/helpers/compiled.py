"""Which kernels the default tests compile: one a study, held against its twin.  Tests marked ``kernels`` compile the others."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import pytest

import fastcube as fc
import fastcube.kernels
from fastcube.kernels.broadcasting import dispatch as broadcasting
from fastcube.kernels.dualcube import dispatch as dualcube
from fastcube.kernels.gathering import dispatch as gathering
from fastcube.kernels.machine.dispatch import KernelTable
from fastcube.kernels.machine.jit import TRIALS_SIGNATURE, Kernel
from fastcube.kernels.multicasting import dispatch as multicasting
from fastcube.kernels.partition import dispatch as partition
from fastcube.kernels.routing import dispatch as routing
from fastcube.kernels.spanning import dispatch as spanning
from fastcube.kernels.survival import dispatch as survival
from fastcube.kernels.trees import dispatch as trees
from fastcube.kernels.unicast import dispatch as unicast
from fastcube.kernels.unsafe import dispatch as unsafe
from fastcube.kernels.wormhole import dispatch as wormhole

#: Of each study the table of its kernels, and the one that the default tests compile; "" for the two that take as long as the ten
#: quickest, and that stand beside another study of their subject.
KERNELS: dict[str, tuple[KernelTable, str]] = {
    "unsafe-fraction": (unsafe.UNSAFE_FRACTION, "small.SMALL_6"),
    "unsafe-rare": (unsafe.UNSAFE_RARE, "planting.PLANTED_TRIALS"),
    "unsafe-critical": (unsafe.UNSAFE_CRITICAL, "rate.unsafe_digits"),
    "routing": (routing.ROUTING, "scalar.ROUTING_SINGLE"),
    "routing-rate": (routing.ROUTING_RATE, "rate.routing_rate"),
    "broadcast": (broadcasting.BROADCAST, "scalar.BROADCAST_SINGLE"),
    "find-tree": (trees.FIND_TREE, "scalar.FIND_TREE_DENSE"),
    "optimal-tree": (trees.OPTIMAL_TREE, "lattice.OPTIMAL_TREE_8"),
    "gather": (gathering.GATHER, "scalar.GATHER_SINGLE"),
    "rerouting": (gathering.REROUTING, "scalar.GATHER_SINGLE"),
    "dualcube-routing": (dualcube.DUALCUBE_ROUTING, "scalar.TRIALS"),
    "edst-broadcast": (spanning.EDST_BROADCAST, "scalar.EDST_BROADCAST_SINGLE"),
    "edge-disjoint-trees": (spanning.EDGE_DISJOINT_TREES, "scalar.EDGE_DISJOINT_TREES_SINGLE"),
    "two-partition": (partition.TWO_PARTITION, "scalar.TWO_PARTITION_SINGLE"),
    "multicast": (multicasting.MULTICAST, "scalar.MULTICAST_SINGLE"),
    "multicast-deadlock": (wormhole.MULTICAST_DEADLOCK, "scalar.MULTICAST_DEADLOCK_SINGLE"),
    "multicast-wormhole": (wormhole.MULTICAST_WORMHOLE, "scalar.MULTICAST_WORMHOLE_SINGLE"),
    "survival": (survival.SURVIVAL, "scalar.SURVIVAL_SINGLE"),
    "survival-rate": (survival.SURVIVAL_RATE, ""),
    "survival-components": (survival.SURVIVAL_COMPONENTS, "scalar.SURVIVAL_COMPONENTS"),
    "rivals": (unicast.RIVALS, ""),
    "rivals-rate": (unicast.RIVALS_RATE, "rate.RIVALS_RATE_SINGLE"),
    "rivals-status": (unicast.RIVALS_STATUS, "status.RIVALS_STATUS_SINGLE"),
}


@functools.cache
def _default_kernel_ids() -> frozenset[int]:
    return frozenset(id(table.load_kernel(name)) for table, name in KERNELS.values() if name)


def is_package_kernel(kernel: Kernel) -> bool:
    """Whether it is one of ``kernels/``."""
    return (kernel.function.__module__ or "").startswith(fastcube.kernels.__name__ + ".")


def is_default(kernel: Kernel) -> bool:
    """Whether a default test may compile it: no kernel of trials of ours, or its study's one."""
    return not is_package_kernel(kernel) or kernel.signature != TRIALS_SIGNATURE or id(kernel) in _default_kernel_ids()


def mark_others_slow(values: Iterable[Any], default: int = 1) -> list[Any]:
    """Parameters of which the default run tries the first few; all the others are marked ``slow``."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow if i >= default else ())
        for i, value in enumerate(values)
    ]


def mark_unless_default(study: str, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test that counts points of a study: marked ``kernels`` where another kernel than the default is taken.

    Each of the values is a point, or a tuple that begins with one's values.
    """
    table, name = KERNELS[study]
    axes = len(fc.study(study).axes)
    out = []
    for value in values:
        point = tuple(value.values()) if isinstance(value, dict) else value[:axes]
        marks = () if table.choose_name(*point) == name else pytest.mark.kernels
        out.append(pytest.param(*((value,) if isinstance(value, dict) else value), marks=marks))
    return out
