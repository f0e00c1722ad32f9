"""Faults sampled on demand: ``random_faults`` decides by a hash of its label whether a node is faulty, without a list of faults.

A network has at most 2^64 nodes, because labels are words of 64 bits.  The hash is called a node's *status*, here and in the
kernels (``kernels/draws/statuses.py``, which must compute the same): a random word of 64 bits, and the node is faulty if it is
below a threshold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_integer, check_range, percentage_value, short_repr

_MASK64 = 2**64 - 1

#: The constants of SplitMix64 (Steele, Lea & Flood 2014): the increment, and the two multipliers of its finaliser.
_GOLDEN = 0x9E3779B97F4A7C15
_MIX1 = 0xBF58476D1CE4E5B9
_MIX2 = 0x94D049BB133111EB


@dataclass(frozen=True)
class RandomFaults:
    """Faulty nodes sampled on demand: every node is faulty with probability ``rate``, independently, in a cube with n <= 64.

    Node ``label`` is faulty if and only if mix(key + label * 0x9E3779B97F4A7C15 mod 2^64) < floor(rate * 2^64), where mix is
    the finaliser of SplitMix64.  So for one key the faults at a lower rate are also faults at a higher rate.

    Attributes
    ----------
    rate : float
        In [0, 1].
    key : int
        64 bits.
    seed : int or None
        The seed of the key; None for a key of another origin, such as a trial's.
    """

    rate: float
    key: int
    seed: int | None = None

    def __contains__(self, label: int) -> bool:
        return self.status(label) < self.threshold

    def status(self, label: int) -> int:
        """Return the status of a node, a hash of its label, uniform on [0, 2^64); below :attr:`threshold` the node is faulty."""
        if type(label) is not int or not 0 <= label <= _MASK64:
            label = check_integer("label", label, 0, _MASK64)
        z = (self.key + label * _GOLDEN) & _MASK64
        z = ((z ^ (z >> 30)) * _MIX1) & _MASK64
        z = ((z ^ (z >> 27)) * _MIX2) & _MASK64
        return z ^ (z >> 31)

    @property
    def threshold(self) -> int:
        """floor(rate * 2^64), exactly."""
        return int(self.rate * 2.0**64)

    def among(self, labels: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return for each label of an array whether the node is faulty."""
        if not isinstance(labels, np.ndarray) or labels.dtype != np.uint64:
            raise ParameterError(f"labels must be an array of uint64, got {short_repr(labels)}")
        # the hash of ``status``, without its masks because NumPy's arithmetic is modulo 2^64
        z = labels * np.uint64(_GOLDEN) + np.uint64(self.key)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX1)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX2)
        z ^= z >> np.uint64(31)
        # at rate 1 the threshold is 2^64, which is no uint64
        return np.full(z.shape, True) if self.threshold > _MASK64 else z < np.uint64(self.threshold)

    def __repr__(self) -> str:
        if self.seed is None:
            return f"RandomFaults(rate={self.rate!r}, key={self.key:#x})"
        return f"random_faults({self.rate!r}, seed={self.seed})"


def random_faults(rate: float, seed: int = 0) -> RandomFaults:
    """Return a fault set sampled on demand: every node is faulty with probability ``rate``, independently.

    The key is the first 64 bits of the SHA-256 of the text ``splitmix64/1|random_faults|SEED``.

    Parameters
    ----------
    rate : float
        Probability in [0, 1], or text such as ``"2%"``.
    seed : int
        In [0, 2^64 - 1].

    Examples
    --------
    >>> some = fc.random_faults(0.25, seed=1)  # needs no memory, even in a cube of 2^60 nodes
    >>> sum(label in some for label in range(10_000)) / 10_000
    0.2487
    """
    try:
        given: Any = percentage_value(rate)
        if isinstance(given, (bool, np.bool_, str, bytes)):
            raise TypeError
        number = float(given)
    except Exception:  # a user's object may raise anything
        raise ParameterError(f"rate must be a number in [0, 1], got {short_repr(rate)}") from None
    check_range("rate", number, 0, 1)
    seed = check_integer("seed", seed, 0, _MASK64)
    digest = hashlib.sha256(f"splitmix64/1|random_faults|{seed}".encode()).hexdigest()
    return RandomFaults(number, int(digest[:16], 16), seed)


#: The faulty nodes that a network may be given: their labels, or a fault set sampled on demand.
FaultyNodes = Iterable[int] | RandomFaults
