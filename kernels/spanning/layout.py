"""The counters of the studies of edge-disjoint spanning trees."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Largest n of both studies.
MOST_DIMENSIONS = 12

EDST_BROADCAST = Layout(
    Moments("steps", "steps of the packets on the trees", digits=2, square_digits=4),
    Moments("single", "steps of the packets on one tree", digits=2, square_digits=4),
    Moments("lower_bound", "steps that no schedule can beat", digits=2, square_digits=4),
    Counter("matches_theorem_2", "trials with the printed number of steps"),
    Counter("broken", "trials whose trees miss a node or share a directed link: their steps would be of no schedule"),
    Maximum("most_steps", "most steps of the packets on the trees"),
)

EDGE_DISJOINT_TREES = Layout(
    *(
        Counter(f"trees_{k}", f"trials with exactly {k} edge-disjoint spanning trees")
        for k in range(MOST_DIMENSIONS + 1)
    ),
    Moments("trees", "Edmonds' number lambda"),
    Moments("degree", "smallest degree delta"),
    Counter("connected", "trials with lambda >= 1"),
    Counter("linked", "trials with delta >= 1"),
    Counter("isolated_node", "trials with delta = 0"),
    Counter("packing_equals_min_degree", "trials with lambda = delta"),
    Counter("packing_equals_min_degree_connected", "trials with lambda = delta >= 1"),
    Counter("gap", "delta - lambda"),
    Counter("flows", "flows that were needed to know lambda"),
    Maximum("largest_gap", "largest delta - lambda"),
)
