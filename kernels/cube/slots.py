"""The cube family's names and numbers of slots (reading N2), free of numba."""

from __future__ import annotations

#: By name (a, b, c): on 2^n nodes a network has a n // b + c slots.  A network is known to kernels by its place here, which
#: stands in no key and no file.
SLOTS = {
    "hypercube": (1, 1, 0),
    "folded": (1, 1, 1),
    "enhanced-2": (1, 1, 1),
    "crossed": (1, 1, 0),
    "locally-twisted": (1, 1, 0),
    "moebius0": (1, 1, 0),
    "moebius1": (1, 1, 0),
    "twisted": (1, 1, 0),
    "augmented": (2, 1, -1),
    "exchanged": (1, 1, 0),
    "balanced": (1, 1, 0),
    "torus-8": (2, 3, 0),
    "torus-16": (1, 2, 0),
    "hyperx-4": (3, 2, 0),
    "hyperx-8": (7, 3, 0),
}


def slots_of(name: str, n: int) -> int:
    """Number of slots."""
    a, b, c = SLOTS[name]
    return a * n // b + c
