"""The counters of the kernels of fault-free subcubes."""

from ..tally.layout import Counter, Layout

#: Indices of the axes in a point's parameters.
N, F, LINKS = range(3)

#: Names of the parts of a cube with one, two and three dimensions fixed.
PARTS = ("half", "quarter", "eighth")

FREE_SUBCUBE = Layout(
    *(Counter(f"fault_free_{part}", f"trials with a fault-free {part}, a subcube") for part in PARTS),
    *(Counter(f"aligned_{part}", f"trials with a fault-free {part} of consecutive labels") for part in PARTS),
    *(Counter(f"{part}_diff", f"trials with a fault-free {part}, but none of consecutive labels") for part in PARTS),
    Counter("no_fault_free_eighth", "trials without a fault-free eighth"),
)
