"""fastcube: exact Monte Carlo for fault-tolerant communication in hypercube networks.

``import fastcube as fc`` is light: names are loaded when they are first used, numba and h5py only by what needs them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algorithms.broadcasting import broadcast
    from .algorithms.gathering import gather
    from .algorithms.multicasting import multicast
    from .algorithms.partition import two_partition
    from .algorithms.paths import route
    from .algorithms.shortest import distance
    from .algorithms.spanning import broadcast_packets, max_spanning_trees, smallest_cut, spanning_trees
    from .algorithms.trees import CommunicationTree, detect, find_tree
    from .algorithms.trees_lattice import exhaust, optimal_tree
    from .algorithms.unsafe import find_unsafe
    from .algorithms.wormhole import dependency_cycle, simulate_wormhole
    from .api import run
    from .engine.drawn import fault_sets
    from .engine.reading import open_results
    from .engine.results import Results, merge
    from .engine.statistics import Difference, Distribution, Mean, PlainMean, Proportion, Ratio
    from .engine.study import Axis, Draw, Explanation, Grid, Study
    from .engine.trials import Output, trial, trial_study
    from .errors import FastcubeError, MissingDependencyError, ParameterError, ResultFileError
    from .exact.broadcasting import exact_broadcast
    from .exact.routing import exact_routing
    from .exact.trees import exact_gather, exact_trees
    from .exact.unsafe import exact_unsafe
    from .kernels.layout import Counter, Extreme, Layout
    from .networks.dualcube import DualCube
    from .networks.faults import random_faults
    from .networks.hypercube import Hypercube
    from .report import reproduce

_HOMES = {
    "run": "api",
    "reproduce": "report",
    "DualCube": "networks.dualcube",
    "FastcubeError": "errors",
    "MissingDependencyError": "errors",
    "ParameterError": "errors",
    "ResultFileError": "errors",
    "Counter": "kernels.layout",
    "Extreme": "kernels.layout",
    "Layout": "kernels.layout",
    "Hypercube": "networks.hypercube",
    "random_faults": "networks.faults",
    "broadcast": "algorithms.broadcasting",
    "distance": "algorithms.shortest",
    "route": "algorithms.paths",
    "Results": "engine.results",
    "merge": "engine.results",
    "fault_sets": "engine.drawn",
    "open_results": "engine.reading",
    "Difference": "engine.statistics",
    "Distribution": "engine.statistics",
    "Mean": "engine.statistics",
    "PlainMean": "engine.statistics",
    "Proportion": "engine.statistics",
    "Ratio": "engine.statistics",
    "Axis": "engine.study",
    "Draw": "engine.study",
    "Explanation": "engine.study",
    "Grid": "engine.study",
    "Study": "engine.study",
    "Output": "engine.trials",
    "trial": "engine.trials",
    "trial_study": "engine.trials",
    "dependency_cycle": "algorithms.wormhole",
    "exact_broadcast": "exact.broadcasting",
    "exact_routing": "exact.routing",
    "exact_gather": "exact.trees",
    "exact_trees": "exact.trees",
    "exact_unsafe": "exact.unsafe",
    "find_unsafe": "algorithms.unsafe",
    "broadcast_packets": "algorithms.spanning",
    "max_spanning_trees": "algorithms.spanning",
    "smallest_cut": "algorithms.spanning",
    "spanning_trees": "algorithms.spanning",
    "CommunicationTree": "algorithms.trees",
    "detect": "algorithms.trees",
    "exhaust": "algorithms.trees_lattice",
    "find_tree": "algorithms.trees",
    "gather": "algorithms.gathering",
    "optimal_tree": "algorithms.trees_lattice",
    "multicast": "algorithms.multicasting",
    "simulate_wormhole": "algorithms.wormhole",
    "two_partition": "algorithms.partition",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604  (the keys are strings)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .engine.provenance import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'fastcube' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
