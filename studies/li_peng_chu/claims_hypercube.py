"""Claims of Li, Peng & Chu about Hypercube_Routing alone, the counts in Lemma 2's proof, the time bound, and a result it cites.

A hypercube is the cluster of node 0 in a dual-cube whose other clusters have no faults: Algorithm 3 with k + 1 routes inside
of it by Hypercube_Routing with k (reading B6, both ends in one cluster).
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator

from fastcube.algorithms.dualcube import offline
from fastcube.engine.claims import Effort, Verdict
from fastcube.engine.estimate import proportion
from fastcube.inventory import inventory
from fastcube.networks.dualcube import DualCube

from .cases import STOP_10_4, keeps_safe, reach
from .claims import ledger, witness

CONDITIONS = "a k-safe n-cube with |F| < 2^k (n - k)"

#: Cubes whose fault sets are all gone through: n and k.
_ALL = [(n, k) for n in (2, 3, 4) for k in range(n // 2 + 1)]


def _cases(effort: Effort) -> Iterator[tuple[int, int, frozenset[int]]]:
    """n, k and faults within the conditions, node 0 nonfaulty: sets of Q_2, Q_3, Q_4, then random ones of Q_5 to Q_8."""
    for n, k in _ALL:
        most = min((n - k << k) - 1, effort.pick(8, 4))
        for f in range(most + 1):
            for chosen in itertools.combinations(range(1, 2**n), f):
                faults = frozenset(chosen)
                if keeps_safe(n, k, faults):
                    yield n, k, faults
    rng = random.Random(2008)
    for _ in range(effort.pick(600, 60)):
        n = rng.randrange(5, 9)
        k = rng.randrange(n // 2 + 1)
        near = [x for x in range(1, 2**n) if x.bit_count() <= 3]
        faults = frozenset[int]()
        for x in rng.sample(near, len(near)):
            if len(faults) < (n - k << k) - 1 and keeps_safe(n, k, faults | {x}):
                faults |= {x}
        yield n, k, faults


def _range(effort: Effort) -> str:
    few = effort.pick("", " (of at most 4)")
    return f"all fault sets{few} of Q_2, Q_3, Q_4, k <= n/2, and {effort.pick(600, 60)} crowded ones of Q_5 to Q_8"


def _in_cube(n: int, faults: frozenset[int]) -> DualCube:
    """The dual-cube whose cluster of node 0 is Q_n with these faults; labels are the same."""
    return DualCube(n, faults)


# ---------------------------------------------------------------- Hypercube_Routing


@ledger.claim(
    "hypercube-path",
    where="section 2",
    states=f"Given {CONDITIONS}, and two nonfaulty nodes s and t, [there is] a fault-free path s -> t.",
    group="hypercube",
)
def hypercube_path(effort: Effort) -> Verdict:
    """A proof, tried on cases."""
    for n, k, faults in effort.each(_cases(effort)):
        assert len(reach(_in_cube(n, faults), 0, 2**n - 1)) == 2**n - len(faults), (n, k, faults)
    return Verdict(
        "holds",
        "proved for all n and k < n: safe cubes are connected (docs/proofs.md; Latifi, Hegde & Naraghi-Pour 1994); besides, "
        f"{_range(effort)}",
    )


@ledger.claim(
    "hypercube-half",
    where="section 2",
    states=(
        f"[In {CONDITIONS}, cut along any dimension] we want to route s to H_(n-1)^1 by a fault-free path of length at most k+2."
    ),
    group="hypercube",
)
def hypercube_half(effort: Effort) -> Verdict:
    """A proof, tried on cases with every dimension."""
    for n, k, faults in effort.each(_cases(effort)):
        near = reach(_in_cube(n, faults), 0, 2**n - 1, k + 2)
        assert all(any(v >> i & 1 for v in near) for i in range(n)), (n, k, faults)
    return Verdict(
        "holds",
        "proved for all n and k < n as Lemma 1: else each of the 2^k (n - k) or more nodes in and next to what s reaches "
        "within k links of its half would be faulty or have a faulty neighbour across (docs/proofs.md); besides, "
        f"{_range(effort)}",
    )


def longest(k: int) -> int:
    """Links beyond d(s, t) that the recursion allows: 2, and twice j + 2 for j = 1, ..., k, there and back."""
    return 2 + k * (k + 5)


@ledger.claim(
    "hypercube-length",
    where="section 2",
    states=(
        f"[In {CONDITIONS}] the length of the path, L(k), satisfies L(k) <= L(k-1) + (k+2) if k > 0, and L(0) <= d(s, t) + 2. "
        "From this, L(k) = d(s, t) + O(k^2) [there is a path of at most d(s, t) + 2 + k(k+5) links]."
    ),
    group="hypercube",
)
def hypercube_length(effort: Effort) -> Verdict:
    """A proof, tried on cases: shortest paths."""
    most: dict[int, int] = {}
    for n, k, faults in effort.each(_cases(effort)):
        for t, length in reach(_in_cube(n, faults), 0, 2**n - 1).items():
            most[k] = max(most.get(k, 0), length - t.bit_count())
            assert length <= t.bit_count() + longest(k), (n, k, faults, t)
    seen = ", ".join(f"{excess} at k = {k}" for k, excess in sorted(most.items()))
    return Verdict(
        "holds",
        "proved for all n and k < n: fewer than n faults leave one of n disjoint paths of at most d + 2 links (k = 0); else "
        "hypercube-half leads into the half with fewer faults, which is (k-1)-safe within the conditions, by at most k + 2 links "
        "that add as many to d at most (docs/proofs.md); besides, the longest shortest path beyond d(s, t), "
        f"{seen}: {_range(effort)}",
    )


@ledger.claim(
    "hypercube-algorithm",
    where="section 2",
    states=(
        "Hypercube_Routing(H_n, s, t, k, F, P) [by binomial trees grown stage by stage, reading B5] finds a fault-free path "
        f"in {CONDITIONS}."
    ),
    correction="A path exists (hypercube-path), and a T_k(s) is found by halves instead (tree-exists).",
    group="hypercube",
)
def hypercube_algorithm(effort: Effort) -> Verdict:
    """Small cubes to every t; then the cube where the tree of reading B2 stops."""
    routes = 0
    for n, k, faults in effort.each(_cases(effort)):
        if k + 1 <= n // 2:
            dual = _in_cube(n, faults)
            for t in range(1, 2**n) if n <= 4 else (1, 2 ** (n - 1), 2**n - 1):
                if t not in faults:
                    routes += 1
                    assert offline(dual, 0, t, k + 1).outcome == "delivered", (n, k, faults, t)
    dual = DualCube(10, STOP_10_4)
    t = next(t for t in range(1, 2**10) if t not in STOP_10_4 and offline(dual, 0, t, 5).outcome == "failed")
    return Verdict(
        "refuted",
        f"{routes:,} routes from 0 in cubes with k <= n/2 - 1 of {_range(effort)}: none fails; Q_10, k = 4: fails",
        witness(
            "the cluster of node 0 is a 4-safe 10-cube with 8 < 2^4 (10 - 4) faults, yet T_4(0) cannot be grown stage by stage",
            dual,
            f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k=5).reason",
            t=t,
            k=4,
        ),
    )


# ---------------------------------------------------------------- Lemma 2's proof


@ledger.claim(
    "lemma-2-neighbours",
    where="Lemma 2, proof",
    states="|N(T_k(s))| >= 2^k (m - k + 1) [in DC(m), cross neighbours counted; 0 <= k <= m/2].",
    correction=(
        "Where every node within k - 1 fault-free links of s in its cluster has k nonfaulty neighbours there, all nodes within k "
        "such links, together with their neighbours there, are at least 2^k (m - k + 1) (docs/proofs.md)."
    ),
)
def lemma_2_neighbours(_: Effort) -> Verdict:
    """The witness of tree-neighbours, with 2^k cross neighbours more; and T_0 in its cluster."""
    told = ledger["tree-neighbours"].decide(Effort(quick=True)).witness
    assert told is not None
    m, k = told.data["m"], told.data["k"]
    dual = DualCube(m, told.data["faulty_nodes"])
    text = f"fc.{dual.source()}"
    python = f"len({text}.cluster_boundary({text}.binomial_tree(0, {k}))) + {2**k}"
    inside = witness("in the cluster alone N(T_0(s)) is too small at once, m < m + 1",
                     DualCube(1), "len(fc.DualCube(1).cluster_boundary([0]))", k=0)  # fmt: skip
    return Verdict(
        "refuted",
        "the same as tree-neighbours, since each of the 2^k nodes has one cross neighbour, and all these are different",
        witness(f"T_{k}(0) in DC({m}) has fewer than {2**k * (m - k + 1)} neighbours", dual, python, k=k),
        (inside,),
    )


@ledger.claim(
    "lemma-2-disjoint",
    where="Lemma 2, proof",
    states=(
        "The paths that route u in N(T_(k-1)(s)) to C_t and the path that route w in N(T_(k-1)(u')) to C_t are disjoint and "
        "there are totally 2^k (m - k + 1) disjoint paths [outside of the trees]."
    ),
    correction=(
        "Those of N(T_(k-1)(s)) are disjoint (virtual-paths); all those of N(T_(k-1)(u')) enter C_t at one node, unless they "
        "cross one link more, as reading B6 repairs it."
    ),
)
def lemma_2_disjoint(effort: Effort) -> Verdict:
    """Where the virtual edges (w' : v) end."""
    for m in effort.each(range(2, effort.pick(7, 5))):
        dual = DualCube(m)
        rim = dual.cluster_boundary([dual.cross(0)])
        assert len({dual.position(dual.cross(w)) for w in rim}) == 1, m
    dual = DualCube(2)
    python = "(lambda d: [d.position(d.cross(w)) for w in d.cluster_boundary([d.cross(0)])])(fc.DualCube(2))"
    return Verdict(
        "refuted",
        "proved for all m >= 2, k = 1: w and u' are in one cluster, which the position of w' names, and v has this position",
        witness("DC(2), k = 1, u = s = 0: the position of v for every w in N(T_0(u'))", dual, python, k=1),
    )


@ledger.claim(
    "time-bound",
    where="Lemmas 1 and 2, Theorem 1",
    states=(
        "The fault-free path can be found in O(|F| + m) time [counted in statuses read, the trees built as Algorithms 1 and 2 "
        "say]."
    ),
    correction=(
        "2^(k-1) - 1 statuses at the least, whatever F is; a T_k(s) and its neighbours are at most 2^k (m + 1) nodes, which is "
        "O(|F| + m) for fault sets of about the limit's size."
    ),
)
def time_bound(effort: Effort) -> Verdict:
    """The tree T_(k-1)(s), which both algorithms find first, for k = m/2 without faults."""
    for m in effort.each(range(2, effort.pick(27, 19), 2)):
        tree = DualCube(m).binomial_tree(0, m // 2 - 1)
        assert tree is not None
        assert len(tree) == 2 ** (m // 2 - 1), m
    python = "[len(fc.DualCube(m).binomial_tree(0, m // 2 - 1)) / (0 + m) for m in (8, 16, 24)]"
    return Verdict(
        "refuted",
        "proved: without a fault T_(k-1)(s) has 2^(k-1) nodes, all but s to be asked; with k = m/2 that is no O(0 + m)",
        witness("nodes of T_(k-1)(s) over |F| + m, k = m/2, without faults, m = 8, 16, 24", DualCube(1), python),
    )


# ---------------------------------------------------------------- what is cited


def _connected(n: int, faults: list[int]) -> bool:
    """Whether the nonfaulty nodes of Q_n are joined, by flooding all of them at once in words of 2^n bits."""
    nonfaulty: int = (1 << 2**n) - 1
    for v in faults:
        nonfaulty ^= 1 << v
    low = [_lower(n, i) for i in range(n)]
    reached: int = nonfaulty & -nonfaulty
    before: int = 0
    while reached != before:
        before = reached
        for i in range(n):
            reached |= ((reached & low[i]) << (1 << i) | reached >> (1 << i) & low[i]) & nonfaulty
    return reached == nonfaulty


@functools.cache
def _lower(n: int, i: int) -> int:
    """The nodes whose bit i is clear."""
    return sum(1 << v for v in range(2**n) if not v >> i & 1)


@ledger.claim(
    "ten-cube-connected",
    where="section 1, after Najjar et al.",
    states=(
        "For the 10-cube, 33 percent of nodes can fail and the network can still remain connected with a probability of 99 "
        "percent."
    ),
)
def ten_cube_connected(effort: Effort) -> Verdict:
    """Uniform sets of 338 of 1,024 nodes; 99 percent as rounded."""
    share, stated = (
        inventory("li_peng_chu").value("ten-cube", name) / 100 for name in ("percent of nodes", "percent connected")
    )
    f, rng, trials = round(share * 2**10), random.Random(10), effort.pick(30_000, 20_000)
    joined = sum(_connected(10, rng.sample(range(2**10), f)) for _ in effort.each(range(trials)))
    found = proportion(joined, trials, 1e-6)
    within = stated - 0.005 < found.low and found.high < stated + 0.005
    return Verdict(
        "holds" if within else "undecided",
        f"{trials:,} sets of {f} of 1,024 nodes: connected {found.value:.4f}, at level 1e-6 within "
        f"[{found.low:.4f}, {found.high:.4f}]",
    )
