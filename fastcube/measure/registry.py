"""Finding studies: built-in ones and those of installed packages by entry point, a user's by file."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import FastcubeError, ParameterError, check_path, command_line_text, plain_text, short_repr, suggest_name
from .fingerprint import GROUP, hash_files, hash_functions
from .schema import RecordedMeasure
from .study import Measure, Study

#: Studies handed to ``fastcube.run`` as objects, by name and fingerprint: several of one name each keep their code.
_LIVE_STUDIES: dict[tuple[str, str], Study] = {}


@functools.cache
def packages() -> tuple[Any, ...]:
    """What the entry-point group names, a Paper each, in order of their names.  Raises ParameterError for a broken one."""
    out = []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda p: p.name):
        try:
            found = point.load()
        except Exception as error:
            raise ParameterError(
                f"studies of {point.value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(getattr(found, "studies", None), tuple):
            raise ParameterError(
                f"entry point {point.name} must name a Paper, such as {point.module}:PAPER, got {point.value}"
            )
        out.append(found)
    return tuple(out)


@functools.cache
def studies() -> dict[str, Study]:
    """All installed studies by name."""
    return {found.name: found for package in packages() for found in package.studies}


@functools.cache
def module_of_file(path: str) -> ModuleType:
    name = f"fastcube_user_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ParameterError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ParameterError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


@functools.cache
def _studies_of_file(path: str) -> dict[str, Study]:
    found = [value for value in vars(module_of_file(path)).values() if isinstance(value, Study)]
    code = hash_files(Path(path))
    return {study.name: replace(study, path=path, code={**code, **hash_functions(study.kernel)}) for study in found}


def study_names() -> tuple[str, ...]:
    """Names of all installed studies, in the order of ``fastcube list``.

    Examples
    --------
    >>> "routing" in fc.study_names()
    True
    """
    return tuple(studies())


def study(name: str | Study, path: str | None = None) -> Study:
    """The study of that name, from the file ``path`` when given.

    ``name`` may itself be a file, ``my_study.py``, that holds one study, or ``my_study.py:NAME``; a Study is given back.
    A process loads a file once: after an edit restart a notebook's kernel.
    Raises ParameterError when there is none.

    Examples
    --------
    >>> fc.study("unsafe-fraction").title
    'Average fraction of unsafe nodes in Q_n with f random faulty nodes'
    """
    if isinstance(name, Study):
        return name
    if not isinstance(name, str):
        raise ParameterError(f"study must be a Study, the name of one or a Python file, got {short_repr(name)}")
    if path is None:
        file, _, wanted = name.partition(":")
        if file.endswith(".py"):
            if not os.path.isfile(file):  # noqa: PTH113  (False, too, for names that no system takes)
                raise ParameterError(f"{plain_text(file)} does not exist")
            of_file = _studies_of_file(str(Path(file).resolve()))
            if wanted in of_file:
                return of_file[wanted]
            if wanted or len(of_file) != 1:
                has = ", ".join(of_file) or "none"
                raise ParameterError(f"{file} must hold one study, or name one as {file}:NAME; it holds {has}")
            return next(iter(of_file.values()))
        if name not in studies():
            if near := suggest_name(name, studies()):
                raise ParameterError(f"no study is called {command_line_text(name)}{near} (fastcube list shows all)")
            raise ParameterError(
                f"study must be one of {', '.join(studies())} or a Python file, got {command_line_text(name)}"
            )
        return studies()[name]
    if not os.path.isfile(check_path("path", path)):  # noqa: PTH113  (likewise)
        raise ParameterError(f"study {name} came from {path}, which does not exist here; give its file")
    of_file = _studies_of_file(path)
    if name not in of_file:
        raise ParameterError(f"{path} holds no study {name}")
    return of_file[name]


def study_of(measure: Measure) -> Study:
    """The study of results with its code: as it ran here, or installed.  Raises ParameterError or StudyMismatchError."""
    if isinstance(measure, Study):
        return measure
    assert isinstance(measure, RecordedMeasure)
    return measure.study()


def code_of(measure: Measure) -> Study | None:
    """As :func:`study_of`; None when its code is not here."""
    try:
        return study_of(measure)
    except FastcubeError:
        return None


def register_live_study(study: Study) -> Study:
    """A study object with the fingerprint of its code, by which this process knows it again in results files."""
    if not study.code and (code := hash_functions(study.kernel)):
        study = replace(study, code=code)
    _LIVE_STUDIES[study.name, study.mark()] = study
    return study


def find_live_study(name: str, mark: str) -> Study | None:
    """The study object of that name and :meth:`Measure.mark` that was handed to a run of this process."""
    return _LIVE_STUDIES.get((name, mark))
