"""Select the kernel that runs the trials of the studies of FIND_TREE and of optimal trees at a point (n, links, f)."""

from ..machine.dispatch import KernelTable, has_avx512, serve_any_point

#: Most links in lanes: their rows still fit the L1 and L2 caches, and COST (``lanes.py``), at most their number, is below 2^8.
MOST_IN_LANES = 128


def _is_sparse(n: int, links: int, f: int) -> bool:
    """Whether at most half of the nodes are faulty and some link is nonfaulty."""
    return f <= 1 << (n - 1) and links < n << (n - 1)


def _is_lane_point(most: int, n: int, links: int, f: int) -> bool:
    """Whether the point has no faulty nodes, at most ``most`` links, and a dimension that lanes of 16 bits can hold."""
    return 4 <= n <= 12 and not f and 1 <= links <= most


def _choose_find_tree_kernel(n: int, links: int, f: int) -> str:
    """Select a kernel.

    Lanes count the ends of a trial's links in 64 cells by the low bits of the label (``lanes.py``).  They are faster while few
    cells contain n ends, because such trials are run again one at a time.  Measured on an AMD EPYC (Zen 4) in November 2026 with
    AVX-512; without it the lanes are slower and serve a little less.
    """
    ends_per_cell = 2 * links / min(64, 2**n)
    most_ends = n * ((0.5 if n < 6 else 0.385) if has_avx512() else (0.44 if n < 6 else 0.37))
    if _is_lane_point(MOST_IN_LANES, n, links, f) and ends_per_cell <= most_ends:
        return "lanes.find_tree_lanes"
    links_per_node = 3 if n < 14 else 2.5 if n == 14 else 1.5  # a faulty node takes as long as so many faulty links
    longest_list = 5 if n < 9 else 6 if n < 10 or has_avx512() else 7
    is_list_short = links + links_per_node * f <= min(n, longest_list) and _is_sparse(n, links, f)
    return "sparse.FIND_TREE_SPARSE" if n > 16 or is_list_short else "scalar.FIND_TREE_DENSE"


FIND_TREE = KernelTable(
    __package__,
    {
        "scalar.FIND_TREE_DENSE": lambda n, links, f: n <= 16,
        "sparse.FIND_TREE_SPARSE": _is_sparse,
        "lanes.find_tree_lanes": lambda n, links, f: _is_lane_point(MOST_IN_LANES, n, links, f),
    },
    _choose_find_tree_kernel,
)
FIND_TREE_SETS = KernelTable(__package__, {"scalar.FIND_TREE_SETS": serve_any_point})

#: The fastest kernel first.  Links are sampled in lanes while most trials have a sink; lanes of bytes hold up to 255 dead links.
OPTIMAL_TREE = KernelTable(
    __package__,
    {
        "lattice_lanes.optimal_tree_lanes": lambda n, links, f: (
            _is_lane_point(31, n, links, f) and links <= n << (n - 2)
        ),
        "lattice.OPTIMAL_TREE_8": lambda n, links, f: n <= 12 and min(links + n * f, n << (n - 1)) <= 255,
        "lattice.OPTIMAL_TREE_16": lambda n, links, f: n <= 12,
    },
)
OPTIMAL_TREE_SETS = KernelTable(__package__, {"lattice.OPTIMAL_TREE_SETS": serve_any_point})
