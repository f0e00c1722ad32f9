"""Run the schedule of a broadcast step by step, and check that it is valid and complete."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..errors import ParameterError, as_integer, check_integer, check_range, is_many, short_repr
from ..networks.hypercube import Hypercube, check_cube
from .registry import check_end

#: Largest n, because every nonfaulty node has a set of its packets.
MOST_N = 20

#: Largest number of packets, because the source's set is filled with them.
MOST_PACKETS = 10**6

#: A list of steps, each a list of (tail, head, packet).
Schedule = Sequence[Sequence[Sequence[int]]]


class Move(NamedTuple):
    """A packet that is sent over a link in one step."""

    tail: int
    head: int
    packet: int


def _parse_step(number: int, step: object) -> list[Move]:
    """Return the moves of a step.  Raises ParameterError unless it is a list of moves of three integers."""
    moves = []
    for move in step if is_many(step) else [step]:
        numbers = tuple(map(as_integer, move)) if is_many(move) else ()
        if len(numbers) != 3 or None in numbers:
            raise ParameterError(
                f"schedule must hold lists of (tail, head, packet), got {short_repr(step)} as step {number}"
            )
        moves.append(Move._make(numbers))
    return moves


def schedule_steps(cube: Hypercube, s: int, packets: int, schedule: Schedule) -> int:
    """Run a schedule of a broadcast from ``s``, and return its number of steps.

    Parameters
    ----------
    cube : Hypercube
        n at most 20.
    s : int
        Label of the source, which holds packets 0, ..., ``packets`` - 1.
    packets : int
        In [1, 10^6].
    schedule : list of steps
        Each step is a list of (tail, head, packet).  In a step every directed nonfaulty link carries at most one packet,
        which its tail must hold before the step.

    Returns
    -------
    int
        The number of steps, after which every nonfaulty node holds every packet.

    Raises
    ------
    ParameterError
        If a step is impossible, or a nonfaulty node lacks a packet at the end.

    Examples
    --------
    >>> fc.schedule_steps(fc.Hypercube(2), 0, 1, [[(0, 1, 0)], [(0, 2, 0), (1, 3, 0)]])
    2
    """
    check_cube(cube)
    check_range("n", cube.n, 1, MOST_N)
    packets = check_integer("packets", packets, 1, MOST_PACKETS)
    s = check_end(cube, "s", s)
    held: dict[int, set[int]] = {v: set() for v in range(2**cube.n) if not cube.is_faulty(v)}
    held[s] = set(range(packets))
    if not is_many(schedule):
        raise ParameterError(f"schedule must be a list of steps, got {short_repr(schedule)}")
    steps = [_parse_step(number, step) for number, step in enumerate(schedule, start=1)]
    for number, moves in enumerate(steps, start=1):
        _check_step(cube, held, number, moves)
        for move in moves:
            held[move.head].add(move.packet)
    for v, packets_held in held.items():
        if len(packets_held) < packets:
            missing = next(packet for packet in range(packets) if packet not in packets_held)
            raise ParameterError(
                f"schedule must bring every packet everywhere, packet {missing} is missing at {v} in the end"
            )
    return len(steps)


def _check_step(cube: Hypercube, held: Mapping[int, Collection[int]], number: int, moves: Iterable[Move]) -> None:
    """Raise ParameterError if a step is impossible, given the packets that each nonfaulty node holds before it."""
    used: set[tuple[int, int]] = set()
    for u, v, packet in moves:
        if (u, v) in used:
            raise ParameterError(
                f"schedule must send one packet over a link in a step, in step {number} a link carries two: {u} to {v}"
            )
        used.add((u, v))
        if u not in held or v not in held or not cube.is_link(u, v) or cube.is_faulty_link(u, v):
            raise ParameterError(f"schedule must use nonfaulty links, in step {number} there is none from {u} to {v}")
        if packet not in held[u]:
            raise ParameterError(
                f"schedule must send what a node holds, {u} does not hold packet {packet} before step {number}"
            )
