"""The names of the networks of the cube family and their numbers of slots (N2); does not import numba."""

#: Name to (a, b, c): a network on 2^n nodes has a n // b + c slots.  Kernels identify a network by its index in this table; the
#: index is in no key and no file.
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
    """Return the number of slots of a network on 2^n nodes."""
    a, b, c = SLOTS[name]
    return a * n // b + c
