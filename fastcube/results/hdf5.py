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
import math
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5l, h5o, h5s, h5t

from ..errors import FastcubeError, ParameterError, ResultFileError, plain_text
from ..kernels.machine.locks import try_lock
from .size import MOST_BYTES

#: Readable by HDF5 1.8 and later (h5dump, ncdump); "latest" would shut those out.
_NEW = {"libver": ("v108", "v108"), "track_order": True}

#: What ends a file: this, and the SHA-256 of all that stands before it, in hexadecimal.
_TRAILER = b"\nfastcube sha256 "
_TRAILER_SIZE = len(_TRAILER) + 64

_SIGNATURE = b"\x89HDF\r\n\x1a\n"

#: Arrays of more elements than this are stored compressed.
PACKED = 4096

#: Seconds after which the temporary of a writer that is gone may be removed.
STALE = 3600.0

#: Deflate packs at most 1032 to 1: what is stored in fewer bytes than that was not written by us.
_MOST_PACKED = 1100
_SMALL = 2**16

#: Stored bytes of a chunk, which inflates to 1032 times that whatever it declares; h5py's are at most half as large here.
_MOST_CHUNK = 2**17
_MOST_CHUNKS = 2**13

#: Bytes of a name, which is at most 64 characters.
_LONGEST_NAME = 256

#: Arrays that are read as they stand, by the letter of their kind: the type in the file, and here.
_WHOLE = {"i": (h5t.STD_I64LE, np.int64), "f": (h5t.IEEE_F64LE, np.float64)}

#: Shuffling and checksums, and deflating once: of what is deflated twice nothing says how large it gets.
_FILTERS = {h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}


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


def _prefix(path: Path) -> str:
    """How the names of a file's temporaries begin: short whatever its own, because file systems take 255 bytes."""
    return f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.tmp."


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, int]]:
    """A new file beside ``path`` and its handle, locked as long as it is open; removed in the end unless it was renamed.

    The name is drawn and made by this call, so that no thread, process or container shares it, and nothing that is there
    already, a link least of all, is written to.  Raises OSError.
    """
    name = path.with_name(_prefix(path) + secrets.token_hex(8))
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: its age alone protects it
            try_lock(handle)
        yield name, handle
    finally:
        os.close(handle)
        with contextlib.suppress(OSError):
            name.unlink(missing_ok=True)


def remove_stale(path: Path) -> None:
    """Delete the temporaries of ``path`` that killed writers left: old ones whose lock is free, whatever host they were on."""
    with contextlib.suppress(OSError):
        for sibling in path.parent.iterdir():
            if sibling.name.startswith(_prefix(path)):
                with contextlib.suppress(OSError):  # another user's, or gone
                    _remove_if_stale(sibling)


def _remove_if_stale(temporary: Path) -> None:
    handle = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > STALE and try_lock(handle):
            temporary.unlink()
    finally:
        os.close(handle)


def check_writable(path: Path) -> None:
    """Make and remove a temporary as writing ``path`` will.  Raises OSError."""
    with _temporary(path) as (_, handle):
        _write_all(handle, _TRAILER)


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
    try:
        with _temporary(path) as (temporary, handle):
            _write_all(handle, *parts)
            os.fsync(handle)
            temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultFileError(f"{path} cannot be written: {reason(error)}") from error


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
        status = path.stat()
        kind = status.st_mode
        if stat.S_ISDIR(kind):
            raise ResultFileError(f"{path} is a folder, not a results file")
        if not stat.S_ISREG(kind):
            raise ResultFileError(f"{path} is not a regular file")
        if status.st_size > MOST_BYTES:
            raise ResultFileError(f"{path} has {status.st_size} bytes, a results file at most {MOST_BYTES}")
        return path.read_bytes()
    except ResultFileError:
        raise
    except FileNotFoundError:
        raise ResultFileError(f"{plain_text(str(path))} does not exist") from None
    except (OSError, ValueError, MemoryError) as error:  # ValueError: a name with a NUL
        raise ResultFileError(f"{plain_text(str(path))} cannot be read: {reason(error)}") from error


def _checked(path: Path, unchecked: bool) -> bytes:
    """A file's bytes, after its checksum was found right.  Raises ResultFileError."""
    whole = _read_whole(path)
    if whole[: len(_SIGNATURE)] != _SIGNATURE:
        raise ResultFileError(f"{path} is not an HDF5 file")
    if unchecked:
        return whole
    trailer = whole[-_TRAILER_SIZE:]
    if trailer[: len(_TRAILER)] != _TRAILER:
        raise ResultFileError(
            f"{path} is truncated, or another program wrote it: it does not end in its checksum "
            "(--unchecked reads it all the same)"
        )
    if hashlib.sha256(memoryview(whole)[:-_TRAILER_SIZE]).hexdigest().encode() != trailer[len(_TRAILER) :]:
        raise ResultFileError(f"{path} is damaged: its bytes do not have the checksum that ends it")
    return whole  # HDF5 ignores what stands behind the image


@contextlib.contextmanager
def opened(path: Path, unchecked: bool = False) -> Iterator[h5py.File]:
    """Open a file for reading; HDF5 sees nothing before the checksum was found right, unless ``unchecked``.

    Raises ResultFileError for one that is missing, no regular file, no HDF5, or damaged, and for whatever goes wrong
    while the caller reads it.
    """
    image = _checked(path, unchecked)
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


def stored(group: h5py.Group, name: str, kinds: str, ndim: int, most: int) -> Any:
    """The contents of a dataset that is stored in this very file, and declared no larger than it can be.

    Parameters
    ----------
    kinds : str
        What its type may be, as ``dtype.kind`` has it: numbers, or ``O`` for a text, or a column of names.
    ndim, most : int
        Its dimensions, and the most numbers that it may hold.

    Raises
    ------
    ValueError
        For a link that leads elsewhere, for external or virtual storage, for another type or shape, and for a size that
        the bytes in the file cannot hold; before any of it is read.
    """
    found = _linked(group, name)
    if isinstance(found, h5d.DatasetID) and (plain := _plain(found, kinds, ndim, most)) is not None:
        return plain
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise ValueError(f"{name} is not stored in the file")
    if dataset.dtype.kind not in kinds or dataset.dtype.itemsize > 8 or dataset.shape is None or dataset.ndim != ndim:
        raise ValueError(f"{name} is no array of its type and shape")
    if dataset.size > most:
        raise ValueError(f"{name} has {dataset.size} numbers, more than a results file takes")
    if dataset.nbytes > _SMALL + _MOST_PACKED * dataset.id.get_storage_size():
        raise ValueError(f"{name} declares more than the file holds")
    if dataset.chunks is not None:
        _check_chunks(name, dataset)
    return _texts(name, dataset) if kinds == "O" and ndim else dataset[()]


def _linked(group: h5py.Group, name: str) -> Any:
    """The object of this very file that has a name in a group.  Raises ValueError."""
    try:
        hard = group.id.links.get_info(name.encode()).type == h5l.TYPE_HARD
    except KeyError:
        hard = False
    if not hard:
        raise ValueError(f"{name} is a link")
    return h5o.open(group.id, name.encode())


def _plain(found: h5d.DatasetID, kinds: str, ndim: int, most: int) -> Any:
    """Numbers of 8 bytes in one piece of the file, as all arrays of few points are; None for what is stored otherwise.

    They need no more checks than these, and take a quarter of the time: a file of an array of jobs has fifty of them.
    """
    shape, kind = found.shape, _WHOLE.get(kinds)
    size = math.prod(shape) if shape is not None and len(shape) == ndim else 0
    if kind is None or not 0 < size <= most or found.get_offset() is None:  # None: in pieces, or in another file
        return None
    if found.get_storage_size() != 8 * size or not found.get_type().equal(kind[0]):
        return None
    out = np.empty(shape, kind[1])
    found.read(h5s.ALL, h5s.ALL, out, mtype=kind[0])
    return out


def _texts(name: str, dataset: h5py.Dataset) -> list[Any]:
    """A column of texts, a few at a time: all of them may refer to one that is as long as the file.  Raises ValueError."""
    out: list[Any] = []
    step = max(1, MOST_BYTES // max(1, dataset.file.id.get_filesize()))
    for at in range(0, len(dataset), step):
        out += dataset[at : at + step].tolist()
        if max(map(len, out[at:])) > _LONGEST_NAME:
            raise ValueError(f"{name} holds a text of more than {_LONGEST_NAME} bytes")
    return out


def _check_chunks(name: str, dataset: h5py.Dataset) -> None:
    """Raise ValueError unless inflating the chunks takes no more than they declare, nearly."""
    settings = dataset.id.get_create_plist()
    filters = [settings.get_filter(i)[0] for i in range(settings.get_nfilters())]
    if filters.count(h5py.h5z.FILTER_DEFLATE) > 1 or not _FILTERS | {h5py.h5z.FILTER_DEFLATE} >= set(filters):
        raise ValueError(f"{name} is packed in another way than a results file")
    number, largest = 0, 0

    def look(chunk: Any) -> bool | None:
        nonlocal number, largest
        number, largest = number + 1, max(largest, chunk.size)
        return True if number > _MOST_CHUNKS or largest > _MOST_CHUNK else None  # any value but None ends it

    dataset.id.chunk_iter(look)
    if number > _MOST_CHUNKS or largest > _MOST_CHUNK:
        raise ValueError(f"{name} is stored in too many or too large pieces")


def attribute(file: h5py.File, name: str, shape: tuple[int, ...] = ()) -> Any:
    """An attribute of this shape.  Raises KeyError where there is none, ValueError for another shape, before it is read."""
    try:
        found = h5a.open(file.id, name.encode())
    except KeyError:
        raise KeyError(name) from None
    if found.shape != shape:
        raise ValueError(f"attribute {name} has another shape")
    kind = found.get_type()
    if shape or kind.get_class() != h5t.STRING or kind.is_variable_str():
        return file.attrs[name]
    out = np.empty((), f"S{kind.get_size()}")  # a text as we write it
    found.read(out, mtype=kind)
    return out[()]


def subgroup(group: h5py.Group, name: str) -> h5py.Group:
    """A group of this very file.  Raises ValueError."""
    if not isinstance(group.get(name, getlink=True), h5py.HardLink) or not isinstance(group[name], h5py.Group):
        raise ValueError(f"{name} is not a group of the file")
    return group[name]
