"""Search for short broadcast schedules; ``fc.schedule_steps`` executes them."""

import random

from fastcube.networks.hypercube import Hypercube


def search_schedule(
    cube: Hypercube, s: int, packets: int, steps: int, tries: int = 300
) -> list[list[list[int]]] | None:
    """Return a schedule of at most ``steps`` steps, or None where ``tries`` randomised greedy attempts find none.

    In each step a node uses its links in random order, each for a packet that the neighbour lacks and that few nodes hold.
    """
    for seed in range(tries):
        found = _attempt_schedule(cube, s, packets, steps, random.Random(seed))
        if found is not None:
            return found
    return None


def _attempt_schedule(
    cube: Hypercube, s: int, packets: int, steps: int, rng: random.Random
) -> list[list[list[int]]] | None:
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
