"""Fault sets to try trees on."""

import itertools
import random

#: Only 0010 and 0111 have no faulty link, and their best trees cross two; a tree with the sink 1000 crosses one, its own.
WORSE_SINK_LINKS = [(0, 4), (1, 3), (1, 5), (4, 5), (4, 6), (8, 9), (10, 11), (12, 13), (14, 15)]


def links_of(n):
    return [(x, x | 1 << k) for x in range(2**n) for k in range(n) if not x >> k & 1]


def small_fault_sets():
    """All link sets of Q_1 and Q_2 with all node sets of size <= 1, and all sets of at most two links of Q_3."""
    for n, most in ((1, 1), (2, 4), (3, 2)):
        for size in range(most + 1):
            for links in itertools.combinations(links_of(n), size):
                for nodes in [(), *((v,) for v in range(2**n))]:
                    yield n, nodes, links


def random_fault_sets(count, low, high, seed):
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.randint(low, high)
        links = links_of(n)
        size = rng.randint(0, min(len(links), rng.choice([2, n, 2 ** (n - 1), len(links)])))
        yield n, rng.sample(range(2**n), min(2**n, rng.choice([0, 0, 1, 2]))), rng.sample(links, size)
