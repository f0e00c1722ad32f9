"""Fault sets in lanes, from chosen rows: with the only close or repeated labels in the last lane or the last row."""

import itertools

import numpy as np
import pytest
from helpers.compiled import mark_others_slow

from fastcube.kernels.draws import lanes as fault_lanes
from fastcube.kernels.draws.nodes import fault_set
from fastcube.kernels.machine import simd
from fastcube.kernels.machine.jit import kernel


def distances(lanes):
    """The kernel that gives each lane's smallest distance."""

    @kernel(f"void(uint{512 // lanes}[::1], int64, uint{512 // lanes}[::1])", variant=f"{lanes}", cache=False)
    def smallest(labels, f, out):
        simd.store(out, 0, fault_lanes.smallest_distance(labels, 0, lanes, f))

    return smallest


@pytest.mark.parametrize("lanes", mark_others_slow([64, 32, 16]))
def test_the_two_close_labels_are_seen_wherever_they_stand(lanes):
    """Every pair of rows, in the first lane, one amid and the last; all other labels are three bits apart or more."""
    width = 512 // lanes
    kind = np.dtype(f"u{width // 8}")
    distant = [
        x for x in range(256) if x.bit_count() % 2 == 0 and (x & 0x0F).bit_count() in (0, 4) and x >> 4 in (0, 15)
    ]
    distant += [0x33, 0xCC, 0x3C, 0xC3, 0x55, 0xAA, 0x5A, 0xA5]  # a code of 8 bits with distance 4
    smallest, out = distances(lanes), np.empty(lanes, kind)
    closest = lambda labels: min((int(a) ^ int(b)).bit_count() for a, b in itertools.combinations(labels, 2))  # noqa: E731
    for f in range(2, 10):
        untouched = [closest(distant[:f])] * lanes
        for i, j in itertools.combinations(range(f), 2):
            for lane, by in itertools.product((0, lanes // 2, lanes - 1), (0, 1, 3)):
                rows = np.repeat(np.array(distant[:f], kind)[:, None], lanes, axis=1)
                rows[j, lane] = rows[i, lane] ^ kind.type(by)
                smallest(rows.ravel(), f, out)
                plain = [*untouched[:lane], closest(rows[:, lane]), *untouched[lane + 1 :]]
                assert out.tolist() == plain, (f, i, j, lane, by)


@kernel("uint64(uint64, int64, int64, int64, uint16[::1], int64)", cache=False)
def draw_on(key, t, n, f, labels, at):
    return np.uint64(fault_lanes.redraw_repeats(key, t, n, f, labels, at, 32))


def test_repeated_labels_are_drawn_on():
    """Trials with a repeated label, small cubes having many, in the first column and the last."""
    key, n, f, repeated = np.uint64(7), 4, 6, 0
    for t, column in itertools.product(range(60), (0, 31)):
        wanted = fault_set(key, t, n, f).tolist()
        rows = np.zeros((f, 32), np.uint16)
        rows[:, column] = [int(label_of(key, t, j, n)) for j in range(f)]
        repeated += len(set(rows[:, column].tolist())) < f
        near = draw_on(key, t, n, f, rows.reshape(-1), column)
        assert rows[:, column].tolist() == wanted
        assert bool(near) == any((a ^ b).bit_count() <= 2 for a, b in itertools.combinations(wanted, 2))
    assert repeated > 60


@kernel("uint64(uint64, int64, int64, int64)", cache=False)
def label_of(key, t, j, n):
    return fault_lanes.node_label(key, t, j, n)
