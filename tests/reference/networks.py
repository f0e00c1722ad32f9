"""The cube family in plain Python, from reading N1 .. N3 alone: steps on integers, links as sets."""

from __future__ import annotations

from collections import deque


def step(name: str, v: int, d: int, n: int) -> int:
    """The other end of slot d of node v in that network on 2^n nodes (N2)."""
    flipped, bits = v ^ 2**d, [v >> i & 1 for i in range(n)]

    def digit(i: int, size: int, by: int) -> int:
        """v with digit i of base ``size`` moved by ``by``."""
        old = v // size**i % size
        return v + ((old + by) % size - old) * size**i

    match name:
        case "folded":
            return flipped if d < n else 2**n - 1 - v
        case "enhanced-2":
            return flipped if d < n else v ^ (2 ** (n - 1) - 1)
        case "crossed":  # the bit d; then in each pair 2i + 1, 2i wholly below d the upper bit changes by the lower
            return flipped ^ sum(bits[2 * i] << 2 * i + 1 for i in range(d // 2))
        case "locally-twisted":
            return flipped ^ (2 ** (d - 1) if d >= 2 and bits[0] else 0)
        case "moebius0" | "moebius1":
            above = bits[d + 1] if d + 1 < n else int(name[-1])
            return v ^ (2 ** (d + 1) - 1) if above else flipped
        case "twisted":
            return v ^ (3 * 2**d) if d % 2 == 1 and sum(bits[:d]) % 2 == 0 else flipped
        case "augmented":
            return flipped if d < n else v ^ (2 ** (d - n + 2) - 1)
        case "exchanged":
            t = n - 1 - (n - 1) // 2
            joined = d == 0 or bits[0] == (1 if d <= t else 0)
            return flipped if joined else v
        case "balanced":
            i, u = divmod(d, 2)
            a = [v // 4**j % 4 for j in range(n // 2)]
            lowest = a[0]
            a[0] = (lowest + (1 if u == lowest % 2 else -1)) % 4
            if i >= 1:
                a[i] = (a[i] + (1 if lowest % 2 == 0 else -1)) % 4
            return sum(x * 4**j for j, x in enumerate(a))
        case "torus-8" | "torus-16":
            size = int(name.split("-")[1])
            i, odd = divmod(d, 2)
            own = v // size**i % size
            return digit(i, size, 1 if own % 2 == odd else -1)
        case "hyperx-4" | "hyperx-8":
            size = int(name.split("-")[1])
            i, x = divmod(d, size - 1)
            return v ^ (x + 1) * size**i
    assert name == "hypercube"
    return flipped


def slots(name: str, n: int) -> int:
    """Number of slots (N2)."""
    many = {"folded": n + 1, "enhanced-2": n + 1, "augmented": 2 * n - 1, "torus-8": 2 * n // 3, "torus-16": n // 2}
    return {**many, "hyperx-4": 3 * n // 2, "hyperx-8": 7 * n // 3}.get(name, n)


def links(name: str, n: int) -> set[frozenset[int]]:
    """All links."""
    pairs = ((v, step(name, v, d, n)) for v in range(2**n) for d in range(slots(name, n)))
    return {frozenset(pair) for pair in pairs if pair[0] != pair[1]}


def link_of(name: str, v: int, d: int, n: int) -> frozenset[int]:
    """The link that is called (v, d): v is its end with bit d clear in a matched network, elsewhere the smaller one (N3)."""
    return frozenset((v, step(name, v, d, n)))


def neighbours(joined: set[frozenset[int]], n: int) -> list[set[int]]:
    """Each node's neighbours by a set of links."""
    out: list[set[int]] = [set() for _ in range(2**n)]
    for u, v in map(tuple, joined):
        out[u].add(v)
        out[v].add(u)
    return out


def distances(near: list[set[int]], alive: set[int], s: int) -> dict[int, int]:
    """Links from s to every node of ``alive`` that a path among them leads to."""
    found, waiting = {s: 0}, deque([s])
    while waiting:
        v = waiting.popleft()
        for w in (near[v] & alive) - found.keys():
            found[w] = found[v] + 1
            waiting.append(w)
    return found
