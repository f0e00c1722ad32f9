"""Pickling of objects that hold functions: another process imports them again, by the name under which they are known."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any


def call_function(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """The value of a function, from the module that has it."""
    return getattr(importlib.import_module(module), name)(*arguments)


def read_global(module: str, name: str) -> Any:
    """The value of a module's global."""
    return getattr(importlib.import_module(module), name)


class PickledByName:
    """A frozen object that is pickled as the place where another process finds it; a copy of it is the object itself."""

    def _maker(self) -> tuple[str, str, tuple[Any, ...]] | None:
        """Module, name and arguments of a function that gives the object in any process; None where there is no such function."""
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
