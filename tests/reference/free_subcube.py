"""The largest fault-free subcube from its definition (N9): every subcube is looked at, and every fault in it."""

import functools
import itertools


@functools.cache
def fixed_bits(subcube):
    """The mask of the fixed dimensions of a ternary string such as 0*1, and their values; the highest bit comes first."""
    return int(subcube.replace("0", "1").replace("*", "0"), 2), int(subcube.replace("*", "0"), 2)


def contains(subcube, label):
    """Whether a subcube has a label."""
    mask, values = fixed_bits(subcube)
    return label & mask == values


def is_fault_free(subcube, nodes, links):
    """Whether no faulty node is inside, and no faulty link with both ends."""
    return not any(contains(subcube, v) for v in nodes) and not any(
        contains(subcube, u) and contains(subcube, v) for u, v in links
    )


@functools.cache
def subcubes(n, fixed, aligned):
    """All subcubes with so many fixed dimensions, or only subcubes whose highest dimensions are fixed, in the order 0 < 1 < *."""
    found = []
    for dims in itertools.combinations(range(n), fixed):
        if aligned and dims != tuple(range(fixed)):
            continue
        for values in itertools.product("01", repeat=fixed):
            string = ["*"] * n
            for i, value in zip(dims, values, strict=True):
                string[i] = value
            found.append("".join(string))
    return sorted(found, key=lambda string: string.replace("*", "2"))


def largest(n, nodes, links, aligned=False, most=None):
    """The first of the largest fault-free subcubes with at most ``most`` dimensions fixed, or None."""
    for fixed in range((n if most is None else min(most, n)) + 1):
        for subcube in subcubes(n, fixed, aligned):
            if is_fault_free(subcube, nodes, links):
                return subcube
    return None


def least_fixed(n, nodes, links, aligned=False):
    """The number of its fixed dimensions, if at most three, or 4."""
    found = largest(n, nodes, links, aligned, 3)
    return 4 if found is None else n - found.count("*")
