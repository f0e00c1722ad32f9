"""A whole HDF5 file at a time: written beside, fsynced, renamed; with the netCDF-4 conventions that xarray reads.

A SHA-256 of the image ends the file; HDF5, which a damaged file can crash or send round for ever, parses nothing
whose checksum is wrong.  Readers of HDF5 ignore what stands behind the image.

Files are never changed in place: a kill during an in-place write leaves an unreadable file, a rename cannot.
Locking is off throughout, because with whole-file replacement nothing needs it and NFS without lockd refuses it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import socket
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..errors import FastcubeError, ParameterError, ResultFileError, plain_text

#: Readable by HDF5 1.8 and later (h5dump, ncdump); "latest" would shut those out.
_NEW = {"libver": ("v108", "v108"), "track_order": True}

#: What ends a file: this, and the SHA-256 of all that stands before it, in hexadecimal.
_TRAILER = b"\nfastcube sha256 "
_TRAILER_SIZE = len(_TRAILER) + 64

_SIGNATURE = b"\x89HDF\r\n\x1a\n"

#: Arrays of more elements than this are stored compressed.
PACKED = 4096

#: Deflate packs at most 1032 to 1: what is stored in fewer bytes than that was not written by us.
_MOST_PACKED = 1100
_SMALL = 2**16


class NetCDF:
    """A group of an HDF5 file under construction: dimensions with coordinates, and variables over them."""

    def __init__(self, group: h5py.Group, dimensions: list[str] | None = None) -> None:
        self.group = group
        self._order = [] if dimensions is None else dimensions
        self._scales: dict[str, h5py.Dataset] = {}

    def attributes(self, target: Any, **values: Any) -> None:
        """Set attributes; text as fixed-length UTF-8, which every netCDF reader shows as text."""
        for name, value in values.items():
            if isinstance(value, str):
                encoded = value.encode(errors="backslashreplace")
                target.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
            else:
                target.attrs[name] = value

    def _dataset(self, name: str, values: Any) -> h5py.Dataset:
        data = np.asarray(values)
        if data.dtype.kind in "UO":
            data = data.astype(object)
            return self.group.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), track_times=False)
        packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if data.size > PACKED else {}
        return self.group.create_dataset(name, data=data, track_times=False, **packed)

    def _scale(self, name: str, dataset: h5py.Dataset, label: str) -> None:
        dataset.make_scale(label)
        dataset.attrs["_Netcdf4Dimid"] = np.int32(len(self._order))
        self._order.append(name)
        self._scales[name] = dataset

    def coordinate(self, name: str, values: Any, **attributes: Any) -> None:
        """A dimension with its coordinate values."""
        dataset = self._dataset(name, values)
        self._scale(name, dataset, name)
        self.attributes(dataset, **attributes)

    def dimension(self, name: str, length: int) -> None:
        """A dimension without coordinate values."""
        dataset = self.group.create_dataset(name, shape=(length,), dtype=">f4", track_times=False)
        self._scale(name, dataset, f"This is a netCDF dimension but not a netCDF variable.{length:10d}")

    def variable(self, name: str, dimensions: Sequence[str], values: Any, **attributes: Any) -> None:
        """An array over dimensions made before."""
        dataset = self._dataset(name, values)
        for axis, dimension in enumerate(dimensions):
            dataset.dims[axis].attach_scale(self._scales[dimension])
        self.attributes(dataset, **attributes)

    def subgroup(self, name: str) -> NetCDF:
        """A group inside this one; dimensions are numbered on through the whole file."""
        return NetCDF(self.group.create_group(name, track_order=True), self._order)


def _temporary(path: Path) -> Path:
    """A name beside the file, short whatever the file's own: file systems take 255 bytes."""
    own = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]
    return path.with_name(f".{own}.tmp.{socket.gethostname()[:64]}.{os.getpid()}")


def remove_stale(path: Path) -> None:
    """Delete temporary files that writers of ``path`` on this host left behind when they were killed."""
    pattern = re.compile(re.escape(_temporary(path).name.rpartition(".")[0]) + r"\.(\d+)$")
    with contextlib.suppress(OSError):
        for sibling in path.parent.iterdir():
            if (match := pattern.match(sibling.name)) and not Path(f"/proc/{match[1]}").exists():
                sibling.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Make and remove the very temporary file that writing ``path`` will use.  Raises OSError."""
    temporary = _temporary(path)
    with temporary.open("wb") as raw:
        raw.write(_TRAILER)
    temporary.unlink()


def _write_all(handle: int, *parts: bytes | memoryview) -> None:
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(handle, rest) :]


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[NetCDF]:
    """Build a file; on leaving without an error it replaces ``path`` in one step.  Raises ResultFileError.

    The old file stays as it was until then, and after any failure.  HDF5 builds the file in memory, so that the disk
    sees one sequential write, and a full disk is one plain OSError instead of a half-open HDF5 file.
    """
    try:
        memory = io.BytesIO()
        with h5py.File(memory, "w", **_NEW) as file:
            yield NetCDF(file)
        # the memory's own bytes, not copied; a view of it kept in an error's traceback makes Python 3.13 complain at the end
        image = memory.getvalue()
        replace_whole(path, image, _TRAILER + hashlib.sha256(image).hexdigest().encode())
    except ResultFileError:
        raise
    except (OSError, RuntimeError) as error:  # h5py raises either
        raise ResultFileError(f"{path} cannot be written: {reason(error)}") from error


def replace_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Put these bytes in place of the file in one step; the old one stays after any failure.  Raises ResultFileError."""
    temporary = _temporary(path)
    try:
        with temporary.open("wb") as raw:
            _write_all(raw.fileno(), *parts)
            os.fsync(raw.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultFileError(f"{path} cannot be written: {reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable.  Some network file systems cannot, and the file is whole either way: not an error."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def reason(error: BaseException) -> str:
    """The cause of a failed file operation in a few words."""
    number = getattr(error, "errno", None)
    if number is None and (match := re.search(r"errno = (\d+)", str(error))):
        number = int(match[1])
    if number == errno.ENOSPC:
        return "no space left on the disk"
    return os.strerror(number).lower() if number else " ".join(str(error).split())


def _read_whole(path: Path) -> bytes:
    """All bytes of a regular file.  Raises ResultFileError."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ResultFileError(f"{path} is a folder, not a results file")
        if not stat.S_ISREG(kind):
            raise ResultFileError(f"{path} is not a regular file")
        return path.read_bytes()
    except FileNotFoundError:
        raise ResultFileError(f"{plain_text(str(path))} does not exist") from None
    except (OSError, ValueError, MemoryError) as error:  # ValueError: a name with a NUL
        raise ResultFileError(f"{plain_text(str(path))} cannot be read: {reason(error)}") from error


def _image(path: Path, unchecked: bool) -> bytes:
    """The HDF5 image in a file, after its checksum was found right.  Raises ResultFileError."""
    whole = _read_whole(path)
    if whole[: len(_SIGNATURE)] != _SIGNATURE:
        raise ResultFileError(f"{path} is not an HDF5 file")
    if unchecked:
        return whole
    image, trailer = whole[:-_TRAILER_SIZE], whole[-_TRAILER_SIZE:]
    if trailer[: len(_TRAILER)] != _TRAILER:
        raise ResultFileError(f"{path} is truncated, or another program wrote it: it does not end in its checksum "
                              "(--unchecked reads it all the same)")  # fmt: skip
    if hashlib.sha256(image).hexdigest().encode() != trailer[len(_TRAILER) :]:
        raise ResultFileError(f"{path} is damaged: its bytes do not have the checksum that ends it")
    return image


@contextlib.contextmanager
def opened(path: Path, unchecked: bool = False) -> Iterator[h5py.File]:
    """Open a file for reading; HDF5 sees nothing before the checksum was found right, unless ``unchecked``.

    Raises ResultFileError for one that is missing, no regular file, no HDF5, or damaged, and for whatever goes wrong
    while the caller reads it.
    """
    image = _image(path, unchecked)
    try:
        with h5py.File(io.BytesIO(image), "r") as file:
            yield file
    except ParameterError as error:  # of what the file states
        raise ResultFileError(f"{path} is damaged: {error}") from error
    except FastcubeError:
        raise
    except MemoryError:
        raise ResultFileError(f"{path} needs more memory than there is") from None
    except Exception as error:  # h5py's and our readers', by what is damaged
        lacking = isinstance(error, KeyError) and re.fullmatch(r"\w{1,64}", str(error.args[0]))
        why = f"it has no {error.args[0]}" if lacking else str(error.args[0] if error.args else error)
        raise ResultFileError(f"{path} is damaged: {plain_text(why)}") from error


def stored(group: h5py.Group, name: str) -> Any:
    """The contents of a dataset that is stored in this very file, and declared no larger than it can be.

    Raises ValueError for a link that leads elsewhere, for external or virtual storage, and for a size that the bytes
    in the file cannot hold.
    """
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link")
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise ValueError(f"{name} is not stored in the file")
    if dataset.size is None or dataset.nbytes > _SMALL + _MOST_PACKED * dataset.id.get_storage_size():
        raise ValueError(f"{name} declares more than the file holds")
    return dataset[()]


def subgroup(group: h5py.Group, name: str) -> h5py.Group:
    """A group of this very file.  Raises ValueError."""
    if not isinstance(group.get(name, getlink=True), h5py.HardLink) or not isinstance(group[name], h5py.Group):
        raise ValueError(f"{name} is not a group of the file")
    return group[name]
