"""The cube family: ``step(v, d, n)`` is the node at the other end of slot d of node v, or v if slot d has no link (N2).

v, d, n and the result are int64; e_d is ``1 << d``.  Every slot is a matching (N1).  The functions are not optimised, because
kernels tabulate a step once per call (``tables``).
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import block


@block
def hypercube(v, d, n):
    """Flip bit d."""
    return v ^ (1 << d)


@block
def folded(v, d, n):
    """Return the hypercube's neighbour, and in slot n the complement of v (El-Amawy & Latifi 1991)."""
    return v ^ (1 << d) if d < n else v ^ ((1 << n) - 1)


@block
def enhanced2(v, d, n):
    """Return the hypercube's neighbour, and in slot n the complement of all bits but the highest (Tzeng & Wei 1991, k = 2)."""
    return v ^ (1 << d) if d < n else v ^ ((1 << (n - 1)) - 1)


@block
def crossed(v, d, n):
    """Flip bit d, and in every whole pair of bits below it the upper bit if the lower one is set (Efe 1992)."""
    return v ^ (1 << d) ^ ((v & 0x5555555555555555 & ((1 << (d & ~1)) - 1)) << 1)


@block
def locally_twisted(v, d, n):
    """Flip bit d, and in odd nodes for d >= 2 also bit d - 1 (Yang, Evans & Megson 2005)."""
    return v ^ (1 << d) ^ ((v & 1) << (d - 1) if d >= 2 else 0)


@block
def _moebius(v, d, above):
    """Flip bit d, and if ``above`` is set all bits below it."""
    return v ^ ((2 << d) - 1) if above else v ^ (1 << d)


@block
def moebius0(v, d, n):
    """Flip bit d, and all bits below it if bit d + 1 is set; bit n counts as clear (Cull & Larson 1995)."""
    return _moebius(v, d, (v >> (d + 1)) & 1 if d + 1 < n else 0)


@block
def moebius1(v, d, n):
    """Step as ``moebius0``, but bit n counts as set."""
    return _moebius(v, d, (v >> (d + 1)) & 1 if d + 1 < n else 1)


@block
def _parity(x):
    """Return 1 if an odd number of bits is set, else 0."""
    for shift in (32, 16, 8, 4, 2, 1):
        x ^= x >> shift
    return x & 1


@block
def twisted(v, d, n):
    """Flip bit d, and for odd d and even parity of bits d - 1 .. 0 also bit d + 1 (Hilbers et al. 1987); n odd."""
    return v ^ (3 << d) if d & 1 and _parity(v & ((1 << d) - 1)) == 0 else v ^ (1 << d)


@block
def augmented(v, d, n):
    """Return the hypercube's neighbour, and in slots n .. 2n - 2 flip the d - n + 2 lowest bits (Choudum & Sunitha 2002)."""
    return v ^ (1 << d) if d < n else v ^ ((1 << (d - n + 2)) - 1)


@block
def exchanged(v, d, n):
    """Flip bit 0 in slot 0; other slots use one of two groups of dimensions, selected by bit 0 of v (Loh et al. 2005)."""
    t = n - 1 - (n - 1) // 2
    if d == 0:
        return v ^ 1
    return v ^ (1 << d) if (v & 1 == 1) == (d <= t) else v


@block
def _move_digit(v, low, bits, up):
    """Return v with the digit of ``bits`` bits from bit ``low`` on changed by +1 or -1, modulo 2^bits."""
    mask = (1 << bits) - 1
    digit = (v >> low) & mask
    return v ^ ((digit ^ ((digit + (1 if up else -1)) & mask)) << low)


@block
def balanced(v, d, n):
    """Change the lowest digit of two bits by +-1, and in slot 2i + u, i >= 1, also digit i (Wu & Huang 1997); n even."""
    moved = _move_digit(v, 0, 2, v & 1 == d & 1)
    return _move_digit(moved, 2 * (d >> 1), 2, v & 1 == 0) if d >= 2 else moved


@block
def _torus(v, d, bits):
    """Change digit d // 2 of ``bits`` bits by +-1; an odd digit moves up in slot 2i + 1, an even one in slot 2i."""
    low = bits * (d >> 1)
    return _move_digit(v, low, bits, (v >> low) & 1 == d & 1)


@block
def torus8(v, d, n):
    """Change one digit of three bits by +-1 modulo 8, each in two slots; an odd digit moves up in its odd slot; 3 divides n."""
    return _torus(v, d, 3)


@block
def torus16(v, d, n):
    """Step as ``torus8``, with digits of four bits modulo 16."""
    return _torus(v, d, 4)


@block
def _hyperx(v, d, bits):
    """Change a digit of ``bits`` bits to another value; each digit has 2^bits - 1 slots."""
    others = (1 << bits) - 1
    return v ^ ((d % others + 1) << (bits * (d // others)))


@block
def hyperx4(v, d, n):
    """Change one digit of two bits to any other value (generalized hypercube, HyperX); n even."""
    return _hyperx(v, d, 2)


@block
def hyperx8(v, d, n):
    """Step as ``hyperx4``, with digits of three bits."""
    return _hyperx(v, d, 3)


#: The steps, in the order of SLOTS.
STEPS = (
    hypercube, folded, enhanced2, crossed, locally_twisted, moebius0, moebius1, twisted, augmented, exchanged, balanced,
    torus8, torus16, hyperx4, hyperx8,
)  # a table, row by row # fmt: skip


def chain_steps(steps):
    """Return one block ``step(index, v, d, n)`` that selects one of several steps by ``index``."""
    first, others = steps[0], chain_steps(steps[1:]) if steps[1:] else None
    if others is None:

        @block
        def call_last_step(index, v, d, n):
            return np.int64(first(v, d, n))

        return call_last_step

    @block
    def call_matching_step(index, v, d, n):
        return np.int64(first(v, d, n)) if index == 0 else others(index - 1, v, d, n)

    return call_matching_step
