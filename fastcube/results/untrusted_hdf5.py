"""Reading an HDF5 file of which nothing is believed: its image is in memory, and its checksum right before HDF5 sees it.

HDF5, which a damaged file can crash or send round for ever, tells where things are; numbers that stand in one piece are
taken from the image.
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
from .hdf5 import TRAILER, TRAILER_SIZE, error_reason
from .size import MOST_BYTES

_SIGNATURE = b"\x89HDF\r\n\x1a\n"

#: Deflate packs at most 1032 to 1: what is stored in fewer bytes than that was not written by us.
_MAX_COMPRESSION_RATIO = 1100
_MAX_SMALL_BYTES = 2**16

#: Stored bytes of a chunk, which inflates to 1032 times that whatever it declares; h5py's are at most half as large here.
_MOST_CHUNK = 2**17
_MOST_CHUNKS = 2**13

#: Bytes of a name, which is at most 64 characters.
_LONGEST_NAME = 256

#: Numbers that are taken from the image, by the letter of their kind: the type in the file, and here.
_DIRECT_TYPES = {"i": (h5t.STD_I64LE, np.dtype("<i8")), "f": (h5t.IEEE_F64LE, np.dtype("<f8"))}

#: Where an array of numbers stands in an image: its first byte and its shape.
ArrayLocation = tuple[int, tuple[int, ...]]

#: Shuffling and checksums, and deflating once: of what is deflated twice nothing says how large it gets.
_FILTERS = {h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}


def read_whole(path: Path) -> bytes:
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
        raise ResultFileError(f"{plain_text(str(path))} cannot be read: {error_reason(error)}") from error


def is_hdf5(image: bytes) -> bool:
    """Whether bytes begin as an HDF5 file does."""
    return image.startswith(_SIGNATURE)


class MissingChecksumError(ResultFileError):
    """A file does not end in its checksum; what reads it ``unchecked`` may read it all the same."""


def _read_verified(path: Path, unchecked: bool) -> bytes:
    """A file's bytes, after its checksum was found right.  Raises ResultFileError."""
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
    return whole  # HDF5 ignores what stands behind the image


@contextlib.contextmanager
def open_untrusted(path: Path, unchecked: bool = False) -> Iterator[tuple[h5py.File, bytes]]:
    """Open a file for reading, and its image; HDF5 sees nothing before the checksum was found right, unless ``unchecked``.

    Raises ResultFileError for one that is missing, no regular file, no HDF5, or damaged, and for whatever goes wrong
    while the caller reads it.
    """
    image = _read_verified(path, unchecked)
    try:
        with h5py.File(io.BytesIO(image), "r") as file:
            yield file, image
    except ParameterError as error:  # of what the file states
        raise ResultFileError(f"{path} is damaged: {error}") from error
    except FastcubeError:
        raise
    except MemoryError:
        raise ResultFileError(f"{path} needs more memory than there is") from None
    except UnknownTermError as error:
        raise ResultFileError(f"{path} {plain_text(str(error))}") from error
    except Exception as error:  # h5py's and our readers', by what is damaged
        lacking = isinstance(error, KeyError) and re.fullmatch(r"\w{1,64}", str(error.args[0]))
        why = f"it has no {error.args[0]}" if lacking else str(error.args[0] if error.args else error)
        raise ResultFileError(f"{path} is damaged: {plain_text(why)}") from error


class Arrays:
    """What a group holds, each thing stored in this very file and declared no larger than it can be.

    Parameters
    ----------
    places : dict of str to Place
        Where arrays stand in a file that is laid out alike.  They are believed: who gives them looks at what was read.
    """

    def __init__(self, group: h5py.Group, image: bytes, places: Mapping[str, ArrayLocation] | None = None) -> None:
        self.group, self._image = group, image
        self.places = dict(places or {})

    def read_stored(self, name: str, kinds: str, ndim: int, most: int) -> Any:
        """The contents of a dataset.

        Parameters
        ----------
        kinds : str
            What its type may be, as ``dtype.kind`` has it: numbers, or ``O`` for a text, or a column of names.
        ndim, most : int
            Its dimensions, and the most numbers that it may hold.

        Raises
        ------
        ValueError
            For a link that leads elsewhere, for external or virtual storage, for another type or shape, and for a size
            that the bytes in the file cannot hold; before any of it is read.
        """
        place = self.places.get(name)
        if place is None:
            found = _resolve_member(self.group, name)
            if kinds == "O" and ndim == 0 and isinstance(found, h5d.DatasetID) and _is_text(found):
                text = np.empty((), found.dtype)
                found.read(h5s.ALL, h5s.ALL, text)
                return bytes(text[()]) if text.dtype.kind == "S" else text[()]
            place = _locate_numbers(found, kinds, ndim, most)
            if place is None:
                return _read_through_hdf5(self.group, name, kinds, ndim, most)
            self.places[name] = place
        first, shape = place
        return np.frombuffer(self._image, _DIRECT_TYPES[kinds][1], math.prod(shape), first).reshape(shape)


def _read_through_hdf5(group: h5py.Group, name: str, kinds: str, ndim: int, most: int) -> Any:
    """The contents of a dataset that is packed, empty, or stored otherwise.  Raises ValueError."""
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise ValueError(f"{name} is not stored in the file")
    if dataset.dtype.kind not in kinds or dataset.dtype.itemsize > 8 or dataset.shape is None or dataset.ndim != ndim:
        raise ValueError(f"{name} is no array of its type and shape")
    if dataset.size > most:
        raise ValueError(f"{name} has {dataset.size} numbers, more than a results file takes")
    if dataset.nbytes > _MAX_SMALL_BYTES + _MAX_COMPRESSION_RATIO * dataset.id.get_storage_size():
        raise ValueError(f"{name} declares more than the file holds")
    if dataset.chunks is not None:
        _check_chunks(name, dataset)
    return _read_texts(name, dataset) if kinds == "O" and ndim else dataset[()]


def _resolve_member(group: h5py.Group, name: str) -> Any:
    """The object of this very file that has a name in a group.  Raises ValueError."""
    try:
        hard = group.id.links.get_info(name.encode()).type == h5l.TYPE_HARD
    except KeyError:
        hard = False
    if not hard:
        raise ValueError(f"{name} is a link")
    return h5o.open(group.id, name.encode())


def _locate_numbers(found: Any, kinds: str, ndim: int, most: int) -> ArrayLocation | None:
    """Where numbers of 8 bytes stand in one piece, as all arrays of few points do; None for what is stored otherwise."""
    if not isinstance(found, h5d.DatasetID) or kinds not in _DIRECT_TYPES:
        return None
    shape, first = found.shape, found.get_offset()  # None: in pieces, or in another file
    if shape is None or len(shape) != ndim or first is None or not 0 < math.prod(shape) <= most:
        return None
    if found.get_storage_size() != 8 * math.prod(shape) or not found.get_type().equal(_DIRECT_TYPES[kinds][0]):
        return None
    return first, shape


def _is_text(found: h5d.DatasetID) -> bool:
    """Whether a dataset is one text, in this very file."""
    kind = found.get_type()
    return (
        found.shape == ()
        and found.get_offset() is not None
        and kind.get_class() == h5t.STRING
        and (kind.is_variable_str() or kind.get_size() <= found.get_storage_size())
    )


def _read_texts(name: str, dataset: h5py.Dataset) -> list[Any]:
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

    def check_chunk(chunk: Any) -> bool | None:
        nonlocal number, largest
        number, largest = number + 1, max(largest, chunk.size)
        return True if number > _MOST_CHUNKS or largest > _MOST_CHUNK else None  # any value but None ends it

    dataset.id.chunk_iter(check_chunk)
    if number > _MOST_CHUNKS or largest > _MOST_CHUNK:
        raise ValueError(f"{name} is stored in too many or too large pieces")


def read_attribute(group: h5py.Group, name: str, shape: tuple[int, ...] = ()) -> Any:
    """An attribute of this shape.  Raises KeyError where there is none, ValueError for another shape, before it is read.

    The netCDF library rewrites a scalar as an array of one: that is the scalar here too.
    """
    try:
        found = h5a.open(group.id, name.encode())
    except KeyError:
        raise KeyError(name) from None
    if not shape and found.shape == (1,):
        return np.asarray(group.attrs[name])[0]
    if found.shape != shape:
        raise ValueError(f"attribute {name} has another shape")
    kind = found.get_type()
    if kind.equal(_DIRECT_TYPES["i"][0]):
        out = np.empty(shape, _DIRECT_TYPES["i"][1])
    elif not shape and kind.get_class() == h5t.STRING and not kind.is_variable_str():
        out = np.empty((), f"S{kind.get_size()}")  # a text as we write it
    else:
        return group.attrs[name]
    found.read(out, mtype=kind)
    return out[()]


def open_subgroup(group: h5py.Group, name: str) -> h5py.Group:
    """A group of this very file.  Raises ValueError."""
    try:
        found = _resolve_member(group, name)
    except ValueError:
        found = None
    if not isinstance(found, h5g.GroupID):
        raise ValueError(f"{name} is not a group of the file")
    return h5py.Group(found)
