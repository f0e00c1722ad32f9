"""What the unsafe-node kernels count: under f faults (SPARSE), and when every node fails by itself (DENSE)."""

from __future__ import annotations

from ..layout import Counter, Extreme, Layout

SPARSE = Layout(
    Counter("unsafe_nodes", "unsafe nodes", 2),
    Counter("unsafe_nodes_squared", "unsafe nodes, squared", 4),
    Counter("with_unsafe", "trials with an unsafe node"),
    Counter("all_unsafe", "trials without an active node"),
    Counter("rounds", "rounds of FIND_UNSAFE"),
    Counter("rounds_squared", "rounds of FIND_UNSAFE, squared"),
    Counter("merging", "trials with two faults within distance 2"),
    Counter("rounds_known", "trials whose rounds are known: no subcube of more than 30 dimensions"),
    Counter("rounds_law", "trials by their rounds of FIND_UNSAFE, 31 or more in the last bin", bins=32),
    Extreme("rounds", "most rounds of FIND_UNSAFE"),
)

DENSE = Layout(
    Counter("unsafe_nodes", "unsafe nodes"),
    Counter("unsafe_nodes_squared", "unsafe nodes, squared", 2),
    Counter("with_unsafe", "trials with an unsafe node"),
    Counter("all_unsafe", "trials without an active node"),
    Counter("rounds", "rounds of FIND_UNSAFE"),
    Counter("rounds_squared", "rounds of FIND_UNSAFE, squared"),
    Counter("faults", "faulty nodes"),
    Extreme("rounds", "most rounds of FIND_UNSAFE"),
)
