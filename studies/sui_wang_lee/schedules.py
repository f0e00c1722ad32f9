"""Schedules of a broadcast, step by step: carrying one out, and searching for a short one.

A schedule is a list of steps, each a list of (tail, head, packet): every directed link carries at most one packet in a
step, which its tail held before the step.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from fastcube.networks.hypercube import Hypercube

Move = Sequence[int]
Schedule = Sequence[Sequence[Move]]


def steps_of(cube: Hypercube, s: int, packets: int, schedule: Schedule) -> int:
    """Carry a schedule out: the number of its steps, after which every nonfaulty node holds every packet.

    ValueError for a step that cannot be, and when something is missing in the end.
    """
    held = {v: set(range(packets)) if v == s else set() for v in range(2**cube.n) if not cube.is_faulty(v)}
    for number, step in enumerate(schedule, start=1):
        links = [(u, v) for u, v, _ in step]
        if len(links) != len(set(links)):
            raise ValueError(f"a link carries two packets in step {number}")
        for u, v, packet in step:
            if u not in held or v not in held or not cube.is_link(u, v) or cube.is_faulty_link(u, v):
                raise ValueError(f"there is no nonfaulty link from {u} to {v}")
            if packet not in held[u]:
                raise ValueError(f"{u} does not hold packet {packet} before step {number}")
        for _, v, packet in step:
            held[v].add(packet)
    if any(len(there) < packets for there in held.values()):
        raise ValueError("a packet is missing somewhere")
    return len(schedule)


def search(cube: Hypercube, s: int, packets: int, steps: int, tries: int = 300) -> list[list[list[int]]] | None:
    """A schedule of at most ``steps`` steps, or None where so many greedy attempts find none.

    Every link of a node carries, in random order, one of the packets that the node at its end lacks and fewest
    nodes hold, more or less.
    """
    for seed in range(tries):
        found = _attempt(cube, s, packets, steps, random.Random(seed))
        if found is not None:
            return found
    return None


def _attempt(cube: Hypercube, s: int, packets: int, steps: int, rng: random.Random) -> list[list[list[int]]] | None:
    held = {v: set(range(packets)) if v == s else set() for v in range(2**cube.n) if not cube.is_faulty(v)}
    copies = [1] * packets
    schedule: list[list[list[int]]] = []
    while any(len(there) < packets for there in held.values()):
        if len(schedule) == steps:
            return None
        step = []
        for v in rng.sample(list(held), len(held)):
            wanted = set(range(packets)) - held[v]
            for u in rng.sample(cube.neighbours(v), cube.n):
                offered = sorted(held.get(u, set()) & wanted)
                if offered and not cube.is_faulty_link(u, v):
                    most = min(copies[p] for p in offered) + rng.randrange(3)
                    packet = rng.choice([p for p in offered if copies[p] <= most])
                    wanted.discard(packet)
                    step.append([u, v, packet])
        for _, v, packet in step:
            held[v].add(packet)
            copies[packet] += 1
        schedule.append(step)
    return schedule
