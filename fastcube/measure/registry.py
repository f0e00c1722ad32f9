"""Find studies: studies of installed packages by entry point, a user's study by file."""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

from ..errors import (
    FastcubeError,
    ParameterError,
    StudyMismatchError,
    check_path,
    command_line_text,
    plain_text,
    short_repr,
    suggest_name,
)
from .fingerprint import check_unchanged, hash_files, hash_functions
from .installed import GROUP, Installed, is_builtin, load_or_refuse
from .measurement import DISTRIBUTION, Measure
from .paper import installed_papers
from .schema import check_same
from .study import Study
from .user_files import import_file

#: The studies of installed packages.
STUDIES = Installed(GROUP, Study, "study")

#: Study objects passed to ``fastcube.run``, by name and mark, so that studies of one name do not replace each other.
_LIVE_STUDIES: dict[tuple[str, str], Study] = {}


def _distribution_code(point: EntryPoint) -> dict[str, str]:
    """Return the distribution and version of a study, as part of its identity; nothing for fastcube's own studies."""
    return {} if is_builtin(point) or not point.dist else {DISTRIBUTION + point.dist.name: point.dist.version}


def _is_of_distribution(point: EntryPoint, distribution: str) -> bool:
    """Whether an entry point belongs to a distribution, or to fastcube if the name is empty."""
    return is_builtin(point) if not distribution else point.dist is not None and point.dist.name == distribution


@functools.cache
def _installed_study(name: str, distribution: str | None = None) -> Study:
    """Return an installed study; ``distribution`` selects one of several packages ('' for fastcube).  Raises ParameterError."""
    if name not in STUDIES.points:
        if near := suggest_name(name, STUDIES.points):
            raise ParameterError(f"no study is called {command_line_text(name)}{near} (fastcube list shows all)")
        raise ParameterError(
            f"study must be one of {', '.join(STUDIES.points)} or a Python file, got {command_line_text(name)}"
        )
    wanted = [p for p in STUDIES.points[name] if distribution is not None and _is_of_distribution(p, distribution)]
    point = wanted[0] if wanted else STUDIES.point(name)
    found, code = STUDIES.load(point), _distribution_code(point)
    return replace(found, code=code) if code else found


@functools.cache
def studies() -> dict[str, Study]:
    """Return all installed studies by name, studies of papers and questions first, in their order."""
    known = STUDIES.all()
    order = [name for paper in installed_papers().values() for name in paper.studies]
    return {name: _installed_study(name) for name in dict.fromkeys([*order, *known]) if name in known}


@functools.cache
def module_of_file(path: str) -> ModuleType:
    """Return a user's file as a module, loaded once per process.  Raises ParameterError if the import fails."""
    return load_or_refuse(lambda: path, lambda: import_file(f"fastcube_user_{Path(path).stem}", Path(path)))


@functools.cache
def _studies_of_file(path: str) -> dict[str, Study]:
    found = [value for value in vars(module_of_file(path)).values() if isinstance(value, Study)]
    code = hash_files(Path(path))
    return {study.name: replace(study, path=path, code={**code, **hash_functions(study.kernel)}) for study in found}


def _read_study(file: str, wanted: str) -> Study:
    """Return the study ``wanted`` of a user's file, or its only one if that is empty.  Raises ParameterError."""
    if not os.path.isfile(file):  # noqa: PTH113  (Path.is_file would raise for names that the system refuses)
        raise ParameterError(f"{plain_text(file)} does not exist")
    of_file = _studies_of_file(str(Path(file).resolve()))
    if wanted in of_file:
        return of_file[wanted]
    if wanted or len(of_file) != 1:
        has = ", ".join(of_file) or "none"
        raise ParameterError(f"{file} must hold one study, or name one as {file}:NAME; it holds {has}")
    return next(iter(of_file.values()))


def _read_recorded_study(name: str, path: str) -> Study:
    """Return the study ``name`` of the file that a run recorded.  Raises ParameterError if either is not here."""
    if not os.path.isfile(check_path("path", path)):  # noqa: PTH113  (as in _read_study)
        raise ParameterError(f"study {name} came from {path}, which does not exist here; give its file")
    of_file = _studies_of_file(path)
    if name not in of_file:
        raise ParameterError(f"{path} holds no study {name}")
    return of_file[name]


def study_names() -> tuple[str, ...]:
    """Return the names of all installed studies, in the order of ``fastcube list``.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "routing" in fc.study_names()
    True
    """
    return tuple(studies())


def study(name: str | Study, path: str | None = None) -> Study:
    """Return a study by its name, or by the file that defines it.

    Parameters
    ----------
    name : str or Study
        A name of :func:`fastcube.study_names`, a file with one study, ``my_study.py``, or ``my_study.py:NAME``.  A Study is
        returned unchanged.  A process loads a file only once, so restart a notebook's kernel after an edit.
    path : str, optional
        The file that defines the study ``name``.

    Returns
    -------
    Study

    Raises
    ------
    ParameterError
        If there is no such study, or its file cannot be imported.

    Examples
    --------
    >>> fc.study("unsafe-fraction").title
    'Average fraction of unsafe nodes in Q_n with f random faulty nodes'
    """
    if isinstance(name, Study):
        return name
    if not isinstance(name, str):
        raise ParameterError(f"study must be a Study, the name of one or a Python file, got {short_repr(name)}")
    if path is not None:
        return _read_recorded_study(name, path)
    file, _, wanted = (name, "", "") if name.endswith(".py") else name.rpartition(":")
    return _read_study(file, wanted) if file.endswith(".py") else _installed_study(name)


def study_of_mark(name: str, path: str | None, mark: str) -> Study:
    """Return the study that another process has, by name or file.  Raises StudyMismatchError if the code differs here."""
    found = study(name, path)
    if found.mark() != mark:
        raise StudyMismatchError(f"{name} has other code in this process than in the process that it comes from")
    return found


def study_of(measure: Measure, path: str | None = None) -> Study:
    """Return the study of some results with its code: as it ran in this process, installed, or in the file ``path``.

    Raises ParameterError if it is not available, StudyMismatchError if it counts differently.
    """
    if isinstance(measure, Study):
        return measure
    if path is not None:
        found = study(measure.name, path)
    elif (live := find_live_study(measure.name, measure.mark())) is not None:
        found = live
    elif measure.code and not measure.distribution:
        raise ParameterError(
            f"{measure.name} is a study of {', '.join(measure.code)}: name its file with --study FILE.py"
        )
    else:
        found = _installed_study(measure.name, measure.distribution)
    check_same(measure, found, "these results", "the study here")
    return found


def find_study(measure: Measure) -> Study | None:
    """Return the study as ``study_of`` does, or None if its code is not available."""
    try:
        return study_of(measure)
    except FastcubeError:
        return None


def register_live_study(study: Study) -> Study:
    """Return a study object with the fingerprint of its code, and remember it so that results files can find it.

    Raises ParameterError if one of its files has changed since it was loaded.
    """
    if study.path is not None:
        check_unchanged(study.path, study.code)
    if not study.code and (code := hash_functions(study.kernel) or _code_of_installed(study)):
        study = replace(study, code=code)
    _LIVE_STUDIES[study.name, study.mark()] = study
    return study


def _code_of_installed(study: Study) -> dict[str, str]:
    """Return the distribution and version of a study object, if an installed package defines it."""
    points = [p for p in STUDIES.points.get(study.name, ()) if not is_builtin(p)]
    return next((_distribution_code(p) for p in points if STUDIES.load(p).kernel is study.kernel), {})


def find_live_study(name: str, mark: str) -> Study | None:
    """Return the study object with this name and ``Measure.mark`` that was passed to a run in this process, or None."""
    return _LIVE_STUDIES.get((name, mark))
