"""Names for the types of values in kernels, used in the fields of their NamedTuples.

Numba compiles a kernel for the types of its arguments and ignores annotations.  These names are for readers, and for mypy, which
checks the bodies of kernels.  In plain Python (``NUMBA_DISABLE_JIT``) values have the NumPy types given here.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: One number: ``U64`` holds labels, masks and random words, ``I64`` counts and indices.
U64: TypeAlias = np.uint64
I64: TypeAlias = np.int64

#: Contiguous arrays by the type of an element.  ``Words`` are labels or masks of 64 bits.
Words: TypeAlias = NDArray[np.uint64]
Words32: TypeAlias = NDArray[np.uint32]
Words16: TypeAlias = NDArray[np.uint16]
Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]
Ints32: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

#: Array of unsigned elements as wide as the lanes of a kernel: 8, 16 or 32 bits.
Cells: TypeAlias = NDArray[np.unsignedinteger[Any]]

#: Types of vectors in ``simd``: a vector of unsigned lanes, and a mask with one bit per lane.
Vector: TypeAlias = NDArray[np.unsignedinteger[Any]]
Mask: TypeAlias = NDArray[np.bool_]
