"""Broadcasting among faults in plain Python: Lee & Hayes (1988), Figures 1(b) and 9 and section 4, readings R11-R17.

A clock ticks; in each unit a node sends at most one copy, the next on its list, which arrives at the unit's end (R12).  A
node that receives adds the copies that the algorithm asks of it to its list, also when it has received before.
CONTROL is a list of n bits, the first of which belongs to link 1, the leftmost.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from .routing import Cube, across

Control = list[int]
Copy = tuple[int, Control]  # the link, and the CONTROL that goes along


@dataclass
class Broadcast:
    """The events of a broadcast: times of receipts at nonfaulty nodes (0 at the source), and copies (time, from, to)."""

    received: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    sends: list[tuple[int, int, int]] = field(default_factory=list)
    lost: int = 0
    controls: dict[int, Control] = field(default_factory=dict)

    @property
    def reached(self) -> int:
        return len(self.received)

    @property
    def steps(self) -> int:
        return max(t for times in self.received.values() for t in times)

    @property
    def copies(self) -> int:
        return len(self.sends)


def broadcast_rule(cube: Cube, x: int, control: Control) -> list[Copy]:
    """BROADCAST, Figure 1(b): knows nothing of faults."""
    copies = []
    for i in range(1, cube.n + 1):
        if control[i - 1]:
            control[i - 1] = 0
            copies.append((i, control.copy()))
    return copies


def broadcast1_rule(cube: Cube, x: int, control: Control, silent: int | None = None) -> list[Copy]:
    """BROADCAST1(1), Figure 9; ``silent`` is a link that keeps its bit and gets no copy (R15)."""
    copies = []
    for wanted in (cube.active, cube.unsafe):
        for i in range(1, cube.n + 1):
            if control[i - 1] and i != silent and not cube.dead(x, i) and wanted(across(cube.n, x, i)):
                control[i - 1] = 0
                copies.append((i, control.copy()))
    return copies


def broadcast(cube: Cube, algorithm: str, s: int) -> Broadcast:
    """Run BROADCAST, BROADCAST1 or BROADCAST2 from s."""
    out = Broadcast()
    waiting: dict[int, list[Copy]] = {}
    ones = [1] * cube.n
    back: dict[int, int] = {}  # the first receiver's link to an unsafe source
    out.received[s].append(0)
    out.controls[s] = ones.copy()
    if algorithm == "BROADCAST2" and not cube.active(s):
        links = [i for i in range(1, cube.n + 1) if cube.active(across(cube.n, s, i)) and not cube.dead(s, i)]
        waiting[s] = [(i, ones.copy()) for i in links[:1]]
        back = {across(cube.n, s, i): i for i in links[:1]}
    else:
        waiting[s] = (broadcast_rule if algorithm == "BROADCAST" else broadcast1_rule)(cube, s, ones.copy())
    clock = 0
    while any(waiting.values()):
        clock += 1
        arrived = []
        for x in sorted(waiting):
            if waiting[x]:
                link, control = waiting[x].pop(0)
                y = across(cube.n, x, link)
                out.sends.append((clock, x, y))
                if cube.faulty(y) or cube.dead(x, link):
                    out.lost += 1
                else:
                    arrived.append((y, control))
        for y, control in arrived:
            out.received[y].append(clock)
            out.controls[y] = control.copy()
            if algorithm == "BROADCAST":
                copies = broadcast_rule(cube, y, control)
            else:
                copies = broadcast1_rule(cube, y, control, back.get(y))
            waiting.setdefault(y, []).extend(copies)
    return out
