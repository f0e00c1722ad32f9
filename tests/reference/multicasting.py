"""Multicast in plain Python: Wang, Lin & Kuo, sections 3.2 and 4, Figures 9, 13, 14, 15, 16 and 17.

Everything is done as the figures say, node by node, with the labels looked up in the list of supernodes along the Hamilton
path.  Readings A2 - A11 are marked where they decide.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

Channel = tuple[int, int]


def gray_codes(width: int) -> list[int]:
    """The binary reflected Gray code, by reflection."""
    codes = [0]
    for k in range(width):
        codes += [code | 1 << k for code in reversed(codes)]
    return codes


class Supercube:
    """Q'_{n-2}: an n-cube with faults F, cut along P = {lo, hi}."""

    def __init__(self, n: int, faults: Collection[int], lo: int, hi: int) -> None:
        self.n, self.faults, self.lo, self.hi = n, set(faults), lo, hi
        self.external = [i for i in range(n) if i not in (lo, hi)]
        self.position = {code: at for at, code in enumerate(gray_codes(n - 2))}
        self.labels: dict[int, int] = {}

    def label(self, v: int) -> int:
        """l(v): the place of v's supernode on the Hamilton path (A2)."""
        if v not in self.labels:
            code = sum((v >> i & 1) << at for at, i in enumerate(self.external))
            self.labels[v] = self.position[code]
        return self.labels[v]

    def buddies(self, v: int) -> list[int]:
        """The neighbours inside the supernode, across the lower dimension first."""
        return [v ^ 1 << self.lo, v ^ 1 << self.hi]

    def supernode(self, v: int) -> set[int]:
        """The four nodes of v's supernode."""
        return {v, *self.buddies(v), v ^ 1 << self.lo ^ 1 << self.hi}

    def internal_part(self, v: int) -> str:
        """The digits (x_hi, x_lo)."""
        return f"{v >> self.hi & 1}{v >> self.lo & 1}"

    def R(self, v: int, u: int) -> int:
        """Figure 14: the neighbour of v inside the supernode to which a message for u goes."""
        differing = [1 << i for i in (self.lo, self.hi) if (v ^ u) >> i & 1]
        if not self.supernode(v) & self.faults:  # Figure 9 (A3)
            if (self.internal_part(v), self.internal_part(u)) == ("00", "11"):
                return v ^ 1 << self.hi
            if (self.internal_part(v), self.internal_part(u)) == ("11", "00"):
                return v ^ 1 << self.lo
            return v ^ differing[0]
        if v ^ differing[0] not in self.faults:  # Figure 13 (A4)
            return v ^ differing[0]
        return v ^ differing[1]

    def R_prime(self, v: int, u: int, path: str = "shortcut") -> tuple[int, bool]:
        """Figure 15: the node to which a message for u leaves v, and whether it is a buddy because p is faulty (A5, A6)."""
        goal, here = self.label(u), self.label(v)
        neighbours = [v ^ 1 << i for i in range(self.n)]
        if path == "hamilton":
            wanted = here + 1 if here < goal else here - 1
            (p,) = [w for w in neighbours if self.label(w) == wanted]
        elif here < goal:
            p = max((w for w in neighbours if self.label(w) <= goal), key=self.label)
        else:
            p = min((w for w in neighbours if self.label(w) >= goal), key=self.label)
        if p not in self.faults:
            return p, False
        return next(b for b in self.buddies(v) if b not in self.faults), True


@dataclass
class Message:
    """A message: its class E, H or L, its present node, and its sorted header (A10)."""

    kind: str
    at: int
    header: list[int]
    detour: bool = False


@dataclass
class Outcome:
    """The uses of channels in order (A11), and their results."""

    channels: list[Channel] = field(default_factory=list)
    delivered: list[int] = field(default_factory=list)
    depth: int = 0
    detours: int = 0


def sources_messages(net: Supercube, s: int, destinations: Collection[int], path: str) -> list[Message]:
    """Figure 16: the messages as they leave the source, each to its first node."""
    here = net.label(s)
    wanted = sorted(set(destinations) - {s})
    out = []
    for buddy in net.buddies(s):  # D_E: one message per outgoing channel (A7)
        part = [d for d in wanted if net.label(d) == here and net.R(s, d) == buddy]
        if part:
            out.append(Message("E", buddy, part))
    above = sorted((d for d in wanted if net.label(d) > here), key=lambda d: (net.label(d), d))  # strictly (A9)
    below = sorted((d for d in wanted if net.label(d) < here), key=lambda d: (-net.label(d), d))
    for kind, header in (("H", above), ("L", below)):
        if header:
            node, detour = net.R_prime(s, header[0], path)
            out.append(Message(kind, node, header, detour))
    return out


def passed_on(net: Supercube, message: Message, path: str) -> list[Message]:
    """Figure 17: what an intermediate node sends on."""
    w = message.at
    header = [d for d in message.header if d != w]  # A10: at any position
    own = [d for d in header if net.label(d) == net.label(w)]
    rest = [d for d in header if net.label(d) != net.label(w)]
    out = []
    for buddy in net.buddies(w):
        part = [d for d in own if net.R(w, d) == buddy]
        if part:
            out.append(Message(message.kind, buddy, part))
    if rest:
        node, detour = net.R_prime(w, rest[0], path)
        same = [sent for sent in out if sent.at == node]
        if same:  # A8
            same[0].header += rest
            same[0].detour = detour
        else:
            out.append(Message(message.kind, node, rest, detour))
    return out


def multicast(
    n: int,
    faults: Collection[int],
    s: int,
    destinations: Collection[int],
    lo: int,
    hi: int,
    path: str = "shortcut",
    net: Supercube | None = None,
) -> Outcome:
    """One multicast; the queue is first-in first-out (A11)."""
    net = net or Supercube(n, faults, lo, hi)
    out = Outcome()
    queue = [(s, message, 1) for message in sources_messages(net, s, destinations, path)]
    while queue:
        before, message, depth = queue.pop(0)
        out.channels.append((before, message.at))
        out.detours += message.detour
        if message.at in message.header:
            out.delivered.append(message.at)
            out.depth = max(out.depth, depth)
        queue += [(message.at, sent, depth + 1) for sent in passed_on(net, message, path)]
    return out
