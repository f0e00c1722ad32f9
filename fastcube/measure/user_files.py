"""Execute users' files so that the source that runs is the source that is hashed, whatever happens to the file meanwhile.

Python would execute compiled code from disk, which may belong to an older source, and forgets the source that it executed.  So
``import_file`` puts two finders into ``sys.meta_path``, once per process.  They serve only the folders of the files that it has
imported; other modules are imported as before.

The state of this module belongs to the process, like ``sys.modules``, and only grows: the executed sources, and the folders.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from .installed import GROUP, find_entry_points
from .source_text import list_imports, normalize_source

#: Source of the users' files that this process has executed, by path, because the file on disk may be newer.
_EXECUTED: dict[Path, bytes] = {}

#: Folders of users' files, in the order of their first use.
_FOLDERS: dict[Path, None] = {}


class _RecordingLoader(SourceFileLoader):
    """Executes the present source of a file, never compiled code from disk, and records the source in ``_EXECUTED``."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        _EXECUTED[Path(path).resolve()] = source
        return self.source_to_code(source, path)


class _RecordingFinder:
    """Finds the modules that Python would find in its path too, and records those in the folders of users' files.

    It is the first finder of the process, so it decides by names of files whether a module can be in these folders at all, and
    leaves built-in and frozen modules to Python, which takes them before any file.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if not any((folder / f"{top}.py").is_file() or (folder / top).is_dir() for folder in _FOLDERS):
            return None
        if BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        if _FOLDERS.keys().isdisjoint(Path(spec.origin).resolve().parents):
            return None
        spec.loader = _RecordingLoader(name, spec.origin)
        return spec


class _NeighbourFinder:
    """Finds modules next to users' files that Python finds nowhere else.

    It is the last finder of the process, so that no file there hides an installed module.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = None if path is not None else PathFinder.find_spec(name, [*map(str, _FOLDERS)], target)
        if spec is not None and type(spec.loader) is SourceFileLoader and spec.origin is not None:
            spec.loader = _RecordingLoader(name, spec.origin)
        return spec


def import_file(name: str, path: Path) -> ModuleType:
    """Execute a user's file as the module ``name``; the executed source is the source that will be hashed.

    The file can import the files next to it.  Raises ImportError if one of them has the name of a module that a file of another
    folder has imported, and every error of the file itself.  After an error ``sys.modules`` still has the module, which another
    import of ``name`` by this function replaces.
    """
    _FOLDERS[path.resolve().parent] = None
    if _RecordingFinder not in sys.meta_path:
        sys.meta_path.insert(0, _RecordingFinder)
        sys.meta_path.append(_NeighbourFinder)
    spec = spec_from_file_location(name, path, loader=_RecordingLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    _check_module_names(path)
    return module


def executed_source(file: Path) -> bytes:
    """Return the source of a file as this process executed it, or else as it is on disk."""
    known = _EXECUTED.get(file.resolve())
    return file.read_bytes() if known is None else known


def read_sources(path: Path) -> dict[str, str]:
    """Return the executed sources of a file and of the files next to it that it imports, normalized, by relative path.

    The imports of imported files count too, but not those of a file that cannot be parsed.
    """
    path = path.resolve()
    texts: dict[str, str] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        name = file.relative_to(path.parent).as_posix()
        if name not in texts:
            texts[name], tree = normalize_source(executed_source(file))
            waiting += () if tree is None else list_imports(tree, path.parent)
    return dict(sorted(texts.items()))


def _check_module_names(path: Path) -> None:
    """Raise ImportError if a file that ``path`` imports has the name of a module that a file of another folder has imported.

    Python has one module of a name, so the study of ``path`` would run the other folder's file.
    """
    folder = path.resolve().parent
    for sibling in read_sources(path).keys() - {path.name}:
        without_ending = Path(sibling).with_suffix("")
        parts = without_ending.parent.parts if without_ending.name == "__init__" else without_ending.parts
        loaded = getattr(sys.modules.get(".".join(parts)), "__file__", None)
        if loaded and Path(loaded).resolve() in _EXECUTED and Path(loaded).resolve() != folder / sibling:
            raise ImportError(
                f"{sibling} has the name of {loaded}, which another study imports: use a process for each"
            )


@functools.cache
def _packages_of_studies() -> set[str]:
    """Return the packages that have entry points of studies."""
    return {p.module.partition(".")[0] for points in find_entry_points(GROUP).values() for p in points}


@functools.cache
def is_user_module(module: str) -> bool:
    """Whether a module is a user's, so that its source is hashed: not of Python, fastcube, a package of studies or site-packages.

    Studies of installed packages declare their revisions instead.
    """
    top = module.partition(".")[0]
    if top in {"fastcube", *sys.stdlib_module_names, *_packages_of_studies()}:
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return module == "__main__" or {"site-packages", "dist-packages"}.isdisjoint(Path(file).resolve().parts)
