"""Results files changed as another program might, and ended in the checksum of their new content."""

import hashlib

import h5py
import numpy as np

from fastcube.results import hdf5


def add_checksum(image):
    """The image with its checksum behind it."""
    return image + hdf5.TRAILER + hashlib.sha256(image).hexdigest().encode()


def edit_hdf5(file, change):
    """Apply ``change`` to the open HDF5 file, and seal it."""
    file.write_bytes(file.read_bytes()[: -hdf5.TRAILER_SIZE])
    with h5py.File(file, "r+") as f:
        change(f)
    file.write_bytes(add_checksum(file.read_bytes()))


def text_attribute(name, value):
    """A change of a text attribute."""
    encoded = value.encode()
    return lambda f: f.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
