"""fastcube: exact Monte Carlo for fault-tolerant communication in hypercube networks.

``import fastcube as fc`` is light: names are loaded when they are first used, numba and h5py only by what needs them.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

#: Public name -> module that it lives in and its name there, as the stub beside this file has it.
_HOMES = {
    public: (module, name)
    for module, name, public in re.findall(
        r"^from (\S+) import (\w+) as (\w+)$", Path(__file__).with_suffix(".pyi").read_text("utf-8"), re.M
    )
}

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604  (the keys are strings)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .results.provenance import package_version

        return package_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'fastcube' has no attribute {name!r}")
    module, inside = _HOMES[name]
    value = (
        importlib.import_module(f".{name}", __name__)
        if module == "."
        else getattr(importlib.import_module(module, __name__), inside)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
