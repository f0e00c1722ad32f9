"""Read the package's data files ``NAME.json``; a damaged file raises an error of one line."""

from __future__ import annotations

import contextlib
import importlib.resources
import json
from collections.abc import Iterator
from typing import Any

from .errors import FastcubeError, ParameterError, plain_text


@contextlib.contextmanager
def wrap_damage_errors(name: str) -> Iterator[None]:
    """Turn any exception that damaged data cause into a ParameterError of one line that names the file."""
    try:
        yield
    except FastcubeError:
        raise
    except Exception as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise ParameterError(f"{name}.json of this installation is damaged: {plain_text(why)}") from error


def read_json(name: str, package: str = "fastcube.data") -> Any:
    """Return the parsed ``NAME.json`` of a package's folder.  Raises ParameterError if it is damaged."""
    with wrap_damage_errors(name):
        return json.loads((importlib.resources.files(package) / f"{name}.json").read_text(encoding="utf-8"))
