"""fastcube: exact Monte Carlo for fault-tolerant communication in hypercube networks.

``import fastcube as fc`` is light: names are loaded when they are first used, numba and h5py only by what needs them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import run
    from .dualcube import DualCube
    from .errors import FastcubeError, MissingDependencyError, ParameterError, ResultFileError
    from .exact import exact_unsafe
    from .network import Hypercube, random_faults
    from .paths import distance, route
    from .results import Results, merge, open_results
    from .study import Axis, Counter, Explanation, Extreme, Mean, Proportion, Ratio, Study
    from .trials import Output, trial, trial_study
    from .unsafe import find_unsafe

_HOMES = {
    "run": "api",
    "DualCube": "dualcube",
    "FastcubeError": "errors",
    "MissingDependencyError": "errors",
    "ParameterError": "errors",
    "ResultFileError": "errors",
    "Hypercube": "network",
    "random_faults": "network",
    "distance": "paths",
    "route": "paths",
    "Results": "results",
    "merge": "results",
    "open_results": "results",
    "Axis": "study",
    "Counter": "study",
    "Explanation": "study",
    "Extreme": "study",
    "Mean": "study",
    "Proportion": "study",
    "Ratio": "study",
    "Study": "study",
    "Output": "trials",
    "trial": "trials",
    "trial_study": "trials",
    "exact_unsafe": "exact",
    "find_unsafe": "unsafe",
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604  (the keys are strings)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .provenance import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'fastcube' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
