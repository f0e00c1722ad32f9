"""Read an HDF5 file without trusting it: its bytes are in memory, and HDF5 sees them only after their checksum was verified.

A damaged file can crash HDF5 or put it into an endless loop.  HDF5 only locates the arrays, and contiguous numbers are taken from
the bytes in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5s, h5t

from ..errors import FastcubeError, ParameterError, ResultFileError, plain_text
from ..measure.schema import UnknownTermError
from .hdf5 import TRAILER, TRAILER_SIZE
from .replacement import error_reason
from .size import MOST_BYTES, MOST_TEXT

#: First bytes of an HDF5 file.
_SIGNATURE = b"\x89HDF\r\n\x1a\n"

#: Largest size of an array that is read: this multiple of its stored size, plus ``_MAX_SMALL_BYTES``.  Deflate compresses at most
#: 1032 to 1.
_MAX_COMPRESSION_RATIO = 1100
_MAX_SMALL_BYTES = 2**16

#: Largest stored size of a chunk in bytes (h5py writes half), and most chunks.  A chunk can inflate to 1032 times its stored
#: size, whatever size it declares.
_MOST_CHUNK = 2**17
_MOST_CHUNKS = 2**13

#: Largest size of a name in bytes; names have at most 64 characters.
_LONGEST_NAME = 256

#: First bytes of a heap of variable-length texts.
_HEAP = b"GCOL\x01\0\0\0"

#: Numbers that are copied from the bytes in memory, by the letter of their kind: type in the file, and type here.
_DIRECT_TYPES = {"i": (h5t.STD_I64LE, np.dtype("<i8")), "f": (h5t.IEEE_F64LE, np.dtype("<f8"))}

#: The location of an array of numbers in a file: index of its first byte, and shape.
ArrayLocation = tuple[int, tuple[int, ...]]

#: Permitted filters besides one deflate; data deflated twice could inflate to any size.
_FILTERS = {h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}


def read_whole(path: Path) -> bytes:
    """Return all bytes of a regular file.  Raises ResultFileError."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ResultFileError(f"{path} is a folder, not a results file")
        if not stat.S_ISREG(status.st_mode):
            raise ResultFileError(f"{path} is not a regular file")
        if status.st_size > MOST_BYTES:
            raise ResultFileError(f"{path} has {status.st_size} bytes, a results file at most {MOST_BYTES}")
        return path.read_bytes()
    except ResultFileError:
        raise
    except FileNotFoundError:
        raise ResultFileError(f"{plain_text(str(path))} does not exist") from None
    except (OSError, ValueError, MemoryError) as error:  # ValueError: a name with a NUL
        raise ResultFileError(f"{plain_text(str(path))} cannot be read: {error_reason(error)}") from error


def is_hdf5(image: bytes) -> bool:
    """Whether the bytes begin with HDF5's signature."""
    return image.startswith(_SIGNATURE)


class MissingChecksumError(ResultFileError):
    """A file does not end in a checksum.  It can still be read with ``unchecked``."""


def _read_verified(path: Path, unchecked: bool) -> bytes:
    """Return a file's bytes after verifying their checksum.  Raises ResultFileError."""
    whole = read_whole(path)
    if not is_hdf5(whole):
        raise ResultFileError(f"{path} is not an HDF5 file")
    if unchecked:
        return whole
    trailer = whole[-TRAILER_SIZE:]
    if trailer[: len(TRAILER)] != TRAILER:
        raise MissingChecksumError(f"{path} is truncated, or another program wrote it: it does not end in its checksum")
    if hashlib.sha256(memoryview(whole)[:-TRAILER_SIZE]).hexdigest().encode() != trailer[len(TRAILER) :]:
        raise ResultFileError(f"{path} is damaged: its bytes do not have the checksum that ends it")
    return whole  # with the trailer, which HDF5 ignores


@contextlib.contextmanager
def open_untrusted(
    path: Path, unchecked: bool = False, image: bytes | None = None
) -> Iterator[tuple[h5py.File, bytes]]:
    """Open a file for reading, and yield it with its bytes.  HDF5 sees them only after the checksum, unless ``unchecked``.

    With ``image``, its HDF5 image, nothing is read from the path.  Raises ResultFileError for a file that is missing, not
    regular, not HDF5 or damaged, and for any error that occurs while the caller reads it.
    """
    if image is None:
        image = _read_verified(path, unchecked)
    try:
        _check_heaps(image)
        with h5py.File(io.BytesIO(image), "r") as file:
            yield file, image
    except ParameterError as error:  # a stated value is out of range
        raise ResultFileError(f"{path} is damaged: {error}") from error
    except FastcubeError:
        raise
    except MemoryError:
        raise ResultFileError(f"{path} needs more memory than there is") from None
    except UnknownTermError as error:
        raise ResultFileError(f"{path} {plain_text(str(error))}") from error
    except Exception as error:  # damage makes h5py and the readers raise many types
        lacking = isinstance(error, KeyError) and re.fullmatch(r"\w{1,64}", str(error.args[0]))
        why = f"it has no {error.args[0]}" if lacking else str(error.args[0] if error.args else error)
        raise ResultFileError(f"{path} is damaged: {plain_text(why)}") from error


def _check_heaps(image: bytes) -> None:
    """Raise ValueError for a heap of texts that HDF5 would read for ever, since its entries lead nowhere or back.

    Heaps may not overlap, as HDF5 never writes them, so that each byte is passed once.
    """
    start = image.find(_HEAP)
    while start >= 0:
        at, stop = start + 16, start + int.from_bytes(image[start + 8 : start + 16], "little")
        while at + 16 <= stop:
            is_free, size = image[at : at + 2] == b"\0\0", int.from_bytes(image[at + 8 : at + 16], "little")
            step = size if is_free else 16 + size + -size % 8
            if not 0 < step <= stop - at or stop > len(image):
                raise ValueError("a heap of texts has an entry of impossible size")
            at += step
        start = image.find(_HEAP, start + 8)
        if 0 <= start < stop:
            raise ValueError("two heaps of texts overlap")


class Arrays:
    """The datasets of a group; each must be stored in the same file, with a plausible size.

    Parameters
    ----------
    group : h5py.Group
    image : bytes
        The bytes of the file that contains the group.
    places : dict of str to ArrayLocation, optional
        Locations of arrays in a file with the same layout.  They are trusted, so the caller must verify what it reads.
    """

    def __init__(self, group: h5py.Group, image: bytes, places: Mapping[str, ArrayLocation] | None = None) -> None:
        self.group, self._image = group, image
        self.places = dict(places or {})

    def read_stored(self, name: str, kinds: str, ndim: int, most: int) -> Any:
        """Return the contents of a dataset.

        Parameters
        ----------
        kinds : str
            The permitted types, by their ``dtype.kind``: numbers, or ``O`` for a text or a column of names.
        ndim, most : int
            The number of dimensions, and the largest number of elements.

        Raises
        ------
        ValueError
            Before anything is read: for a link, for external or virtual storage, for another type or shape, and for a size
            that the bytes in the file cannot hold.
        """
        place = self.places.get(name)
        if place is None:
            found = _resolve_member(self.group, name)
            if kinds == "O":
                return _read_texts(self.group, name, found, ndim, most)
            place = _locate_numbers(found, kinds, ndim, most)
            if place is None:
                return _read_through_hdf5(self.group, name, kinds, ndim, most)
            self.places[name] = place
        first, shape = place
        return np.frombuffer(self._image, _DIRECT_TYPES[kinds][1], math.prod(shape), first).reshape(shape)


def _read_through_hdf5(group: h5py.Group, name: str, kinds: str, ndim: int, most: int) -> Any:
    """Return the contents of a dataset that is compressed, empty or in pieces.  Raises ValueError."""
    dataset = _open_stored(group, name)
    if dataset.dtype.kind not in kinds or dataset.dtype.itemsize > 8 or dataset.ndim != ndim:
        raise ValueError(f"{name} is no array of its type and shape")
    _check_size(name, dataset, most)
    return dataset[()]


def _open_stored(group: h5py.Group, name: str) -> h5py.Dataset:
    """Return a dataset that is stored in the same file.  Raises ValueError."""
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise ValueError(f"{name} is not stored in the file")
    if dataset.shape is None:
        raise ValueError(f"{name} is no array of its type and shape")
    return dataset


def _check_size(name: str, dataset: h5py.Dataset, most: int) -> None:
    """Raise ValueError for more than ``most`` elements, or more than the bytes in the file can hold."""
    if dataset.size > most:
        raise ValueError(f"{name} has {dataset.size} numbers, more than a results file takes")
    if dataset.nbytes > _MAX_SMALL_BYTES + _MAX_COMPRESSION_RATIO * dataset.id.get_storage_size():
        raise ValueError(f"{name} declares more than the file holds")
    if dataset.chunks is not None:
        _check_chunks(name, dataset)


def _resolve_member(group: h5py.Group, name: str) -> Any:
    """Return the object called ``name`` in a group, which must be in the same file.  Raises ValueError."""
    try:
        is_hard_link = group.id.links.get_info(name.encode()).type == h5l.TYPE_HARD
    except KeyError:
        is_hard_link = False
    if not is_hard_link:
        raise ValueError(f"{name} is a link")
    return h5o.open(group.id, name.encode())


def _locate_numbers(found: Any, kinds: str, ndim: int, most: int) -> ArrayLocation | None:
    """Return the location of a contiguous array of 8-byte numbers, the usual storage of few points; None for other storage."""
    if not isinstance(found, h5d.DatasetID) or kinds not in _DIRECT_TYPES:
        return None
    shape, first = found.shape, found.get_offset()  # None if in pieces, or in another file
    if shape is None or len(shape) != ndim or first is None or not 0 < math.prod(shape) <= most:
        return None
    if found.get_storage_size() != 8 * math.prod(shape) or not found.get_type().equal(_DIRECT_TYPES[kinds][0]):
        return None
    return first, shape


def _is_text(found: h5d.DatasetID) -> bool:
    """Whether a dataset is a single text in the same file."""
    kind = found.get_type()
    return (
        found.shape == ()
        and found.get_offset() is not None
        and kind.get_class() == h5t.STRING
        and (kind.is_variable_str() or kind.get_size() <= found.get_storage_size())
    )


def _read_texts(group: h5py.Group, name: str, found: Any, ndim: int, most: int) -> Any:
    """Return a text, or a list of texts, in any of the shapes that netCDF writers give to it.  Raises ValueError.

    A text may have a variable or a fixed length, or be an array of single bytes; a single text may be an array of one.
    """
    if ndim == 0 and isinstance(found, h5d.DatasetID) and _is_text(found):
        text = np.empty((), found.dtype)
        found.read(h5s.ALL, h5s.ALL, text)
        return bytes(text[()]) if text.dtype.kind == "S" else text[()]
    dataset = _open_stored(group, name)
    kind, shape, longest = dataset.dtype, dataset.shape, _LONGEST_NAME if ndim else MOST_TEXT
    if kind == "S1" and len(shape) == ndim + 1 and (ndim == 0 or 0 < shape[1] <= _LONGEST_NAME):
        _check_size(name, dataset, MOST_TEXT if ndim == 0 else most * _LONGEST_NAME)
        joined = dataset[()].tobytes()
        width = shape[-1] or 1
        texts = [joined[at : at + width].rstrip(b"\0") for at in range(0, len(joined), width)]
        return texts if ndim else b"".join(texts)
    is_text = h5py.check_string_dtype(kind) is not None and (kind.kind == "O" or kind.itemsize <= longest)
    if not is_text or (len(shape) != 1 if ndim else shape != (1,)):
        raise ValueError(f"{name} is no array of its type and shape")
    _check_size(name, dataset, most)
    return _read_column(name, dataset) if ndim else dataset[0]


def _read_column(name: str, dataset: h5py.Dataset) -> list[Any]:
    """Return a column of texts, read in parts, because all may refer to one text as long as the file.  Raises ValueError."""
    out: list[Any] = []
    step = max(1, MOST_BYTES // max(1, dataset.file.id.get_filesize()))
    for at in range(0, len(dataset), step):
        out += dataset[at : at + step].tolist()
        if max(map(len, out[at:])) > _LONGEST_NAME:
            raise ValueError(f"{name} holds a text of more than {_LONGEST_NAME} bytes")
    return out


def _check_chunks(name: str, dataset: h5py.Dataset) -> None:
    """Raise ValueError unless the chunks inflate to little more than their declared size."""
    settings = dataset.id.get_create_plist()
    filters = [settings.get_filter(i)[0] for i in range(settings.get_nfilters())]
    if filters.count(h5py.h5z.FILTER_DEFLATE) > 1 or not _FILTERS | {h5py.h5z.FILTER_DEFLATE} >= set(filters):
        raise ValueError(f"{name} is packed in another way than a results file")
    number, largest = 0, 0

    def check_chunk(chunk: Any) -> bool | None:
        nonlocal number, largest
        number, largest = number + 1, max(largest, chunk.size)
        return True if number > _MOST_CHUNKS or largest > _MOST_CHUNK else None  # any value but None ends the iteration

    dataset.id.chunk_iter(check_chunk)
    if number > _MOST_CHUNKS or largest > _MOST_CHUNK:
        raise ValueError(f"{name} is stored in too many or too large pieces")


def read_attribute(group: h5py.Group, name: str, shape: tuple[int, ...] = ()) -> Any:
    """Return an attribute of this shape.  Raises, before reading it, KeyError if missing, ValueError for another shape.

    The netCDF library rewrites a scalar as an array of length one, and a text as an array of single bytes or, if it is empty,
    as no value.  These are returned as scalars.
    """
    try:
        found = h5a.open(group.id, name.encode())
    except KeyError:
        raise KeyError(name) from None
    kind = found.get_type()
    if not shape and found.shape is None and kind.get_class() == h5t.STRING:
        return ""  # an empty text, as the netCDF library writes it
    if not shape and found.shape is not None and len(found.shape) == 1 and found.dtype == "S1":
        return np.asarray(group.attrs[name]).tobytes().rstrip(b"\0")
    if not shape and found.shape == (1,):
        return np.asarray(group.attrs[name])[0]
    if found.shape != shape:
        raise ValueError(f"attribute {name} has another shape")
    if kind.equal(_DIRECT_TYPES["i"][0]):
        out = np.empty(shape, _DIRECT_TYPES["i"][1])
    elif not shape and kind.get_class() == h5t.STRING and not kind.is_variable_str():
        out = np.empty((), f"S{kind.get_size()}")  # a text as fastcube writes it
    else:
        return group.attrs[name]
    found.read(out, mtype=kind)
    return out[()]


def open_subgroup(group: h5py.Group, name: str) -> h5py.Group:
    """Return a subgroup, which must be in the same file.  Raises ValueError."""
    try:
        found = _resolve_member(group, name)
    except ValueError:
        found = None
    if not isinstance(found, h5g.GroupID):
        raise ValueError(f"{name} is not a group of the file")
    return h5py.Group(found)
