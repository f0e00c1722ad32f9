"""Objects of installed packages, one entry point per object, so that a name is found without importing any package."""

from __future__ import annotations

import functools
import signal
import threading
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from ..errors import ParameterError, plain_text

Kind = TypeVar("Kind")

#: The group of entry points of studies.
GROUP = "fastcube.studies"

#: Packages that this process has already warned of.
_WARNED: set[str] = set()


@functools.cache
def _all_entry_points() -> Any:
    """Return the entry points of all packages, read once: reading takes a tenth of a short command's time."""
    return entry_points()


@functools.cache
def find_entry_points(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name, names ascending.  A name has several if several packages define it."""
    out: dict[str, list[EntryPoint]] = {}
    for point in sorted(_all_entry_points().select(group=group), key=lambda p: (p.name, not is_builtin(p), p.value)):
        out.setdefault(point.name, []).append(point)
    return out


def is_builtin(point: EntryPoint) -> bool:
    """Whether an entry point names an object of fastcube itself."""
    return point.module.partition(".")[0] == "fastcube"


def package_text(point: EntryPoint) -> str:
    """Return name and version of the distribution that has an entry point."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else f"module {point.module}"


def warn_of_package(points: Iterable[EntryPoint], why: str) -> None:
    """Warn, once per process and package, that objects of a package are left out."""
    package = " and ".join(map(package_text, points))
    if package not in _WARNED:
        _WARNED.add(package)
        warnings.warn(f"{why}; left out", stacklevel=3)


def load_or_refuse(describe: Callable[[], str], load: Callable[[], Kind]) -> Kind:
    """Return the result of ``load()``, which runs code of a user or of a package; ``describe()`` names it in the error.

    Raises ParameterError for any error, also for those that would end the process; only the user's own interrupt does end it.
    """
    interrupts: list[int] = []
    previous_handler: Any = signal.getsignal(signal.SIGINT)
    is_handled = callable(previous_handler) and threading.current_thread() is threading.main_thread()

    def record_interrupt(number: int, frame: object) -> None:
        interrupts.append(number)
        previous_handler(number, frame)

    if is_handled:
        signal.signal(signal.SIGINT, record_interrupt)
    try:
        return load()
    except BaseException as error:
        if interrupts:
            raise
        reason = plain_text(f"{type(error).__name__}: {error}")
        if isinstance(error, ModuleNotFoundError):
            next_to = ", or put its file next to this one" if describe().endswith(".py") else ""
            reason += f"; pip install it{next_to}"
        raise ParameterError(f"{describe()} cannot be loaded: {reason}") from error
    finally:
        if is_handled:
            signal.signal(signal.SIGINT, previous_handler)


class Installed(Generic[Kind]):
    """Objects of one class from installed packages, by name.

    Parameters
    ----------
    group : str
        The group of entry points.  Each entry point has the same name as its object.
    kind : type
        The class of the objects.
    what : str
        The word for one of the objects, for messages.
    """

    def __init__(self, group: str, kind: type[Kind], what: str) -> None:
        self.group, self._kind, self._what = group, kind, what
        self._loaded: dict[int, Kind | ParameterError] = {}  # by id: entry points are never freed

    @property
    def points(self) -> dict[str, list[EntryPoint]]:
        """The entry points by name, names ascending.  A name has several if several packages define it."""
        return find_entry_points(self.group)

    def point(self, name: str) -> EntryPoint:
        """Return the entry point of a name in ``points``.  Raises ParameterError if several packages define the name."""
        first, *others = self.points[name]
        if others:
            packages = " and ".join(f"{package_text(p)} ({p.value})" for p in (first, *others))
            raise ParameterError(
                f"{self._what} {plain_text(name)} is given by {plain_text(packages)}: uninstall all of them but one"
            )
        return first

    def load(self, point: EntryPoint) -> Kind:
        """Return the object of an entry point.  Raises ParameterError if the import fails or gives something else."""
        if id(point) not in self._loaded:
            self._loaded[id(point)] = self._import_object(point)
        found = self._loaded[id(point)]
        if isinstance(found, ParameterError):
            raise found
        return found

    def _import_object(self, point: EntryPoint) -> Kind | ParameterError:
        try:
            found = load_or_refuse(lambda: f"{self._what} {point.name} of {package_text(point)}", point.load)
        except ParameterError as error:
            return error
        if not isinstance(found, self._kind) or getattr(found, "name", None) != point.name:
            package = package_text(point)  # read from the package's metadata, which takes a millisecond
            return ParameterError(
                f"entry point {plain_text(point.name)} of {package} must name a {self._kind.__name__} of that name, "
                f"got {plain_text(point.value)}: install {package} again if its sources have changed"
            )
        return found

    def all(self) -> dict[str, Kind]:
        """Return all objects by name.  A broken or ambiguous entry point is left out, with one warning per package."""
        out = {}
        for name, points in self.points.items():
            try:
                out[name] = self.load(self.point(name))
            except ParameterError as error:
                warn_of_package(points, str(error))
        return out
