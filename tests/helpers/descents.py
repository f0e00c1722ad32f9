"""Regions that BROADCAST1's descents enter, by kernel and by the reference: those with a node of a subcube of unsafe nodes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
from reference.broadcasting import broadcast
from reference.routing import Cube

import fastcube as fc
from fastcube.kernels.broadcasting.broadcast1_2 import run_broadcast1_2
from fastcube.kernels.broadcasting.descent import ENTERED, descent_for
from fastcube.kernels.draws.faults import faults_for, index_faults, unsafe_subcubes
from fastcube.kernels.machine.bits import ONE
from fastcube.kernels.machine.jit import kernel


@kernel("int64(int64, uint64[::1], uint64)")
def count_entered(n, labels, s):
    """Return the number of regions that BROADCAST1 from s enters."""
    faults, d = faults_for(n, labels.size, np.int64(0), np.int64(1)), descent_for(n, labels.size)
    faults.labels[: labels.size] = labels
    index_faults(faults)
    unsafe_subcubes(faults)
    run_broadcast1_2(faults, s, (ONE << np.uint64(n)) - ONE, False, d)
    return d.found[ENTERED]


def iter_broadcasts() -> Iterator[tuple[int, list[int], int]]:
    """A few dimensions, sets of faulty nodes and sources."""
    rng = random.Random(17)
    for n in (3, 4, 5, 5, 6):
        for f in range(2, n + 3):
            *faulty, s = rng.sample(range(2**n), f + 1)
            yield n, faulty, s


def list_entered() -> list[int]:
    """The numbers of regions by the kernel."""
    return [int(count_entered(n, np.array(faulty, np.uint64), np.uint64(s))) for n, faulty, s in iter_broadcasts()]


def count_regions(n: int, faulty: list[int], s: int) -> int:
    """The number of nodes whose regions, by the CONTROL that they receive, have a node of a subcube of two nodes or more."""
    subcubes = [text for text in map(str, fc.find_unsafe(fc.Hypercube(n, faulty)).subcubes) if "*" in text]
    controls = broadcast(Cube(n, faulty), "BROADCAST1", s).controls

    def meets(text: str, x: int, control: list[int]) -> bool:
        return all(star in ("*", bit) or free for star, bit, free in zip(text, f"{x:0{n}b}", control, strict=True))

    return sum(any(meets(text, x, control) for text in subcubes) for x, control in controls.items())
