"""Write whole HDF5 files, with the netCDF-4 conventions that xarray reads.

HDF5 builds the bytes of a file, its image, in memory, and ``replacement.py`` writes them.  A file ends in a SHA-256 of its image,
which readers of HDF5 ignore (``untrusted_hdf5.py`` checks it).
"""

from __future__ import annotations

import hashlib
import io
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ResultFileError
from .replacement import error_reason, replace_file

if TYPE_CHECKING:
    import h5py

#: Format readable by HDF5 1.8 and later (h5dump, ncdump), which "latest" is not.
_CREATE_OPTIONS = {"libver": ("v108", "v108"), "track_order": True}

#: The end of a file: this text, and the SHA-256 of everything before it, in hexadecimal.
TRAILER = b"\nfastcube sha256 "
TRAILER_SIZE = len(TRAILER) + 64

#: Arrays with more elements are stored compressed.
MIN_COMPRESSED_SIZE = 4096

#: Names of the dimensions, values, and attributes of a variable.
Variable = tuple[tuple[str, ...], Any, dict[str, Any]]


@dataclass
class Group:
    """The content of a group: attributes, dimensions without coordinate values by their lengths, coordinates, variables."""

    attributes: dict[str, Any] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)
    coordinates: dict[str, Variable] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)


def set_attributes(target: Any, values: Mapping[str, Any]) -> None:
    """Set attributes, with text as fixed-length UTF-8, which every netCDF reader shows as text."""
    import h5py  # not at the top: the figures of studies use this package, and listing studies must not need h5py

    for name, value in values.items():
        if isinstance(value, str):
            encoded = value.encode(errors="backslashreplace")
            target.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
        else:
            target.attrs[name] = value


def _write_group(target: h5py.Group, group: Group, numbers: Iterator[int]) -> None:
    """Write a group with netCDF dimensions, whose numbers are unique in the file."""
    scales: dict[str, h5py.Dataset] = {}

    def write_scale(name: str, dataset: h5py.Dataset, label: str) -> None:
        dataset.make_scale(label)
        dataset.attrs["_Netcdf4Dimid"] = np.int32(next(numbers))
        scales[name] = dataset

    set_attributes(target, group.attributes)
    for name, length in group.dimensions.items():
        dataset = target.create_dataset(name, shape=(length,), dtype=">f4", track_times=False)
        write_scale(name, dataset, f"This is a netCDF dimension but not a netCDF variable.{length:10d}")
    for name, (dimensions, values, attributes) in (group.coordinates | group.variables).items():
        dataset = _create_dataset(target, name, values)
        if name in group.coordinates:
            write_scale(name, dataset, name)
        else:
            for axis, dimension in enumerate(dimensions):
                dataset.dims[axis].attach_scale(scales[dimension])
        set_attributes(dataset, attributes)


def _create_dataset(target: h5py.Group, name: str, values: Any) -> h5py.Dataset:
    """Write one text, a column of texts or an array of numbers, in the form that all known readers take."""
    import h5py

    # ASCII, of fixed length: Octave reads no other text.  The NUL at its end: netCDF 4.9.0 reads beyond a text without one
    if isinstance(values, str):
        values = values.encode("ascii")
        return target.create_dataset(
            name, data=values, dtype=h5py.string_dtype("ascii", len(values) + 1), track_times=False
        )
    data = np.asarray(values)
    # variable length, because netCDF 4.9.0 crashes on arrays of fixed-length texts
    if data.dtype.kind in "UO":
        data = data.astype(object)
        return target.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), track_times=False)
    packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if data.size > MIN_COMPRESSED_SIZE else {}
    return target.create_dataset(name, data=data, track_times=False, **packed)


def build_image(groups: Mapping[str, Group]) -> bytes:
    """Return the image, the bytes, of an HDF5 file of these groups; the name ``/`` is the root's."""
    import h5py

    memory, numbers = io.BytesIO(), itertools.count()
    with h5py.File(memory, "w", **_CREATE_OPTIONS) as file:
        for name, group in groups.items():
            _write_group(file if name == "/" else file.create_group(name, track_order=True), group, numbers)
    # bytes, not a view: a view that an error's traceback keeps alive makes Python 3.13 complain at exit
    return memory.getvalue()


def write_file(path: Path, groups: Mapping[str, Group]) -> None:
    """Write a file of these groups, and replace ``path`` in one step.  Raises ResultFileError.

    Until then, and after any failure, the old file is unchanged.  HDF5 builds the file in memory, so the disk gets one
    sequential write, and a full disk is a simple OSError instead of a half-open HDF5 file.
    """
    try:
        image = build_image(groups)
    except (OSError, RuntimeError) as error:  # h5py raises either
        raise ResultFileError(f"{path} cannot be written: {error_reason(error)}") from error
    replace_file(path, image, TRAILER + hashlib.sha256(image).hexdigest().encode())
