"""The counters of the dual-cube routing kernels."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Largest m for which trials search the whole cube of 2^(2m+1) nodes.
SEARCH_M = 9

DUALCUBE_ROUTING = Layout(
    Counter("valid", "trials with two nonfaulty nodes to join"),
    Counter("delivered", "routes delivered"),
    Counter("exhausted", "routes failed: nothing left to try"),
    Counter("limit", "routes failed: a tree would grow past 2^14 nodes"),
    Counter("discarded", "trials with fewer than two nonfaulty nodes"),
    Counter("length", "links on delivered routes"),
    Counter("length_length", "squares of that"),
    Counter("distance", "d(s, t) of delivered routes"),
    Counter("length_distance", "products of length and d(s, t)"),
    Counter("distance_distance", "squares of d(s, t)"),
    Counter("detours", "delivered routes longer than d(s, t)"),
    Counter(
        "lookups_counted", "trials whose look-ups were counted: all with the search, else those with index 0 mod 64"
    ),
    Moments("lookups", "distinct labels whose status was asked, in those trials", 1, 2, "lookups_lookups"),
    # Counters of the search for shortest paths; 0 for m > SEARCH_M.
    Counter("connected", "pairs joined by a nonfaulty path"),
    Counter("shortest", "shortest nonfaulty path lengths of delivered routes"),
    Counter("length_shortest", "products of length and shortest length"),
    Counter("shortest_shortest", "squares of the shortest length"),
    Counter("shortest_routes", "delivered routes as short as the shortest nonfaulty path"),
    Counter("longer", "delivered routes longer than the shortest nonfaulty path"),
    Maximum("longest", "most links on a delivered route"),
    Maximum("detour", "most links beyond d(s, t) on a delivered route"),
)
