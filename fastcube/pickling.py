"""Pickle objects that hold functions by name: another process imports them by the name under which they are known."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any


def call_function(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """Return the value of a function, given its module and name."""
    return getattr(importlib.import_module(module), name)(*arguments)


def read_global(module: str, name: str) -> Any:
    """Return the value of a module's global variable."""
    return getattr(importlib.import_module(module), name)


class PickledByName:
    """A frozen object that is pickled as the name by which another process finds it; copying returns the object itself."""

    def _maker(self) -> tuple[str, str, tuple[Any, ...]] | None:
        """Return module, name and arguments of a function that returns the object in any process, or None."""
        return None

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if (maker := self._maker()) is not None:
            return call_function, maker
        for module, content in [*sys.modules.items()]:
            for name, value in [*getattr(content, "__dict__", {}).items()]:
                if value is self:
                    return read_global, (module, name)
        kind, name = type(self).__name__, getattr(self, "name", "")
        raise pickle.PicklingError(
            f"{kind} {name} must be a global of a module to be pickled: other processes import it"
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self
