"""Trials of trees by kernel, and by the plain reference."""

import itertools

from fastcube.kernels.trees import replay
from helpers.tree_faults import links_of


def links_in_order(n):
    """Links as the enumeration numbers them: by dimension, then by the lower end without that bit."""
    return [(u, v) for k in range(n) for u, v in links_of(n) if v - u == 1 << k]


def enumerate_fault_sets(n, most_links, most_nodes):
    for links, nodes in itertools.product(range(most_links + 1), range(most_nodes + 1)):
        yield from itertools.product(
            itertools.combinations(links_of(n), links), itertools.combinations(range(2**n), nodes)
        )


def sample_faults(key, t, n, links, f):
    """Faults of one trial."""
    return replay.sample_faults(key, t, n, links, f)


def fault_counts(n):
    """Some (links, f) of Q_n."""
    every = n * 2 ** (n - 1)
    for links in {0, 1, n - 1, 2 * n, 2 ** (n - 1), every // 2, every}:
        for f in {0, 1, n // 2, 2**n // 4}:
            if links <= every and f <= 2**n:
                yield links, f
