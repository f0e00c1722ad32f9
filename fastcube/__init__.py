"""fastcube: reproducible Monte Carlo for fault-tolerant communication in hypercube networks.

``import fastcube as fc`` is quick: a name is loaded when it is first used, and numba and h5py only when they are needed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn


def _refuse(why: str) -> NoReturn:
    """Raise ImportError with this message; in the command ``fastcube`` print it and exit with status 2."""
    if Path(sys.argv[0] if sys.argv else "").stem == "fastcube" or ("-m", "fastcube") in pairwise(sys.orig_argv):
        print(why, file=sys.stderr)
        sys.exit(2)
    raise ImportError(why)


def _read_stub() -> str:
    try:
        return Path(__file__).with_suffix(".pyi").read_text("utf-8")
    except OSError as error:
        _refuse(
            f"fastcube needs its files in a folder, and {error.filename} cannot be read: install it with pip, "
            "not as a zip file"
        )


try:
    import fcntl  # noqa: F401
    from signal import SIGUSR1  # noqa: F401
except ImportError:  # both are missing on Windows
    _refuse("fastcube runs on Linux and macOS; on Windows use WSL")

#: Public name -> module that defines it and its name there, as listed in ``__init__.pyi``.
_HOMES = {
    public: (module, name)
    for module, name, public in re.findall(r"^from (\S+) import (\w+) as (\w+)$", _read_stub(), re.M)
}

if importlib.util.find_spec(".kernels", __name__) is None:  # an editable install finds it without the link
    _refuse("this copy of fastcube lacks its symbolic links: use git clone, or pip install")

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604  (the keys are strings)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .results.provenance import package_version

        return package_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'fastcube' has no attribute {name!r}")
    module, inside = _HOMES[name]
    if module != ".errors" and any(variable.startswith("NUMBA_") for variable in os.environ):
        importlib.import_module(".results.environment", __name__).check_numba_settings()
    value = (
        importlib.import_module(f".{name}", __name__)
        if module == "."
        else getattr(importlib.import_module(module, __name__), inside)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
