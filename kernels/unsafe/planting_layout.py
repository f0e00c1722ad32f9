"""What the planting kernel counts, over planted trials that count; classes are by the largest subcube's dimension."""

from __future__ import annotations

from ..layout import Counter, Extreme, Layout

#: A trial is of the last of these classes that its largest subcube's dimension reaches.
CLASSES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)

#: Those that can have unsafe nodes.
MARKING = CLASSES[1:]

PLANTED = Layout(
    Counter("counted", "trials that count: the planted pair is the first within distance 2"),
    *(Counter(f"dimension_{d}", f"trials with a subcube of {d} dimensions or more") for d in MARKING),
    *(Counter(f"unsafe_nodes_{d}", f"unsafe nodes in class {d}", 2) for d in MARKING),
    *(Counter(f"unsafe_nodes_squared_{d}", f"unsafe nodes in class {d}, squared", 4) for d in MARKING),
    Counter("with_unsafe", "trials with an unsafe node"),
    Counter("all_unsafe", "trials without an active node"),
    Counter("rounds", "rounds of FIND_UNSAFE, where they are known"),
    Counter("rounds_squared", "rounds of FIND_UNSAFE, squared, where they are known"),
    Counter("rounds_unknown", "trials whose rounds are not known: a subcube of more than 30 dimensions"),
    Extreme("rounds", "most rounds of FIND_UNSAFE"),
    Extreme("largest", "dimension of the largest subcube"),
)
