"""Finding studies and claims: built-in ones and those of installed packages by entry point, a user's by file."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ..errors import FastcubeError, ParameterError, listed, nearest, plain_text, shown, written
from .fingerprint import of_file
from .recorded import Recorded
from .study import Measure, Study

if TYPE_CHECKING:
    from .benchmark import Benchmark
    from .claims import Claim, Ledger
    from .examples import Example

GROUP = "fastcube.studies"

#: Studies handed to ``fastcube.run`` as objects, for workers in the same process.
_LIVE: dict[tuple[str, str | None], Study] = {}


@functools.cache
def modules() -> tuple[ModuleType, ...]:
    """The modules that the entry-point group names, in order of their names.  Raises ParameterError for a broken one."""
    out = []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda p: p.name):
        try:
            out.append(point.load())
        except Exception as error:
            raise ParameterError(
                f"studies of {point.value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
    return tuple(out)


@functools.cache
def studies() -> dict[str, Study]:
    """All installed studies by name."""
    return {study.name: study for module in modules() for study in module.STUDIES}


def ledgers() -> dict[str, Ledger]:
    """The ledgers of all installed studies' modules (what their ``ledger()`` gives) by paper."""
    found = [module.ledger() for module in modules() if hasattr(module, "ledger")]
    return {ledger.paper: ledger for ledger in found}


def examples(paper: str) -> Mapping[str, Callable[[], Example]]:
    """The worked examples of an installed paper's package (what its ``worked_examples()`` gives) by name."""
    found = [m for m in modules() if m.__name__.rpartition(".")[2] == paper and hasattr(m, "worked_examples")]
    return found[0].worked_examples() if found else {}


def claims(paper: str | None = None, name: str | None = None) -> list[Claim]:
    """The claims of all ledgers, of one paper's (or of a Python file that holds a Ledger), or the one called ``name``.

    Raises ParameterError, with the nearest name, where there is no such paper or claim.
    """
    known = ledgers() if paper is None or not paper.endswith(".py") else {paper: _ledger_of_file(paper)}
    if paper is None:
        return [claim for ledger in known.values() for claim in ledger]
    if paper not in known:
        raise ParameterError(
            f"paper must be {listed([*known, 'a Python file'])}, got {written(paper)}{nearest(paper, known)}"
        )
    return list(known[paper]) if name is None else [known[paper][name]]


def _ledger_of_file(path: str) -> Ledger:
    from .claims import Ledger

    if not Path(path).is_file():
        raise ParameterError(f"{plain_text(path)} does not exist")
    found = [value for value in vars(_module_of_file(str(Path(path).resolve()))).values() if isinstance(value, Ledger)]
    if len(found) != 1:
        raise ParameterError(f"{path} must hold one Ledger, it holds {len(found)}")
    return found[0]


def benchmarks() -> list[Benchmark]:
    """The comparisons of all installed studies' modules (what their ``benchmarks()`` gives)."""
    return [b for module in modules() if hasattr(module, "benchmarks") for b in module.benchmarks()]


@functools.cache
def _module_of_file(path: str) -> ModuleType:
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
    found = [value for value in vars(_module_of_file(path)).values() if isinstance(value, Study)]
    code = of_file(Path(path))
    return {study.name: replace(study, path=path, code=code) for study in found}


def is_live(name: str) -> bool:
    """Whether a study object of that name was handed to a run of this process."""
    return (name, None) in _LIVE


def find(name: str, path: str | None = None) -> Study:
    """The study of that name, from the file ``path`` when given.

    ``name`` may itself be a file, ``my_study.py``, that holds one study, or ``my_study.py:NAME``.
    Raises ParameterError when there is none.
    """
    if not isinstance(name, str):
        raise ParameterError(f"study must be a Study, the name of one or a Python file, got {shown(name)}")
    if (name, path) in _LIVE:
        return _LIVE[name, path]
    if path is None:
        file, _, wanted = name.partition(":")
        if file.endswith(".py"):
            if not Path(file).is_file():
                raise ParameterError(f"{plain_text(file)} does not exist")
            of_file = _studies_of_file(str(Path(file).resolve()))
            if wanted in of_file:
                return of_file[wanted]
            if wanted or len(of_file) != 1:
                has = ", ".join(of_file) or "none"
                raise ParameterError(f"{file} must hold one study, or name one as {file}:NAME; it holds {has}")
            return next(iter(of_file.values()))
        if name not in studies():
            raise ParameterError(
                f"study must be one of {', '.join(studies())} or a Python file, got {written(name)}{nearest(name, studies())}"
            )
        return studies()[name]
    if not Path(path).is_file():
        raise ParameterError(f"study {name} came from {path}, which does not exist here; give its file")
    of_file = _studies_of_file(path)
    if name not in of_file:
        raise ParameterError(f"{path} holds no study {name}")
    return of_file[name]


def study_of(measure: Measure) -> Study:
    """The study of results with its code: as it ran here, or installed.  Raises ParameterError or StudyMismatchError."""
    if isinstance(measure, Study):
        return measure
    assert isinstance(measure, Recorded)
    return measure.study()


def code_of(measure: Measure) -> Study | None:
    """As :func:`study_of`; None when its code is not here."""
    try:
        return study_of(measure)
    except FastcubeError:
        return None


def adopt(study: Study) -> Study:
    """Make a study object findable by the workers of this process."""
    _LIVE[study.name, study.path] = study
    return study
