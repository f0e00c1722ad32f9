"""Claims about networks under random faults (N12), decided by exact counts and by trials on common faults.

The first two claims are known from an abstract alone; the others are ours.
"""

from fractions import Fraction
from math import comb

from fastcube.exact.survival import exact_survival

from ...claims import Counterexample, Effort, Verdict
from .registry import registry


@registry.claim(
    "ten-cube",
    where="Chen, Kanj & Wang, DePaul TR 02-001, abstract (known from the abstract alone)",
    states="The nonfaulty nodes of a 10-cube with up to 10% faulty nodes [each node fails by itself] are connected with "
    "probability 99%.",
    method="random",
)
def ten_cube(effort: Effort) -> Verdict:
    """Estimate by trials at rates up to .1, and at .33, where 1% is reached: the claim is true, and far from tight."""
    from fastcube.studies.networks.survival import SURVIVAL_RATE

    trials = effort.by_effort(full=1_000_000, quick=50_000)
    estimates = {}
    for rate in (0.01, 0.05, 0.1, 0.33):
        effort.step(f"rate {rate}")
        tally = SURVIVAL_RATE.count({"network": "hypercube", "n": 10, "rate": rate, "link_rate": 0.0}, trials)
        effort.applied += trials
        estimates[rate] = SURVIVAL_RATE.statistic("connected").read(tally.counts, trials, {})[0]
    least = min(e.low for rate, e in estimates.items() if rate <= 0.1)
    checked = (
        f"{trials:,} trials at each of the rates 0.01, 0.05, 0.1 and 0.33; connected at the first three: at least {least:.6f}, "
        f"at 0.33: {estimates[0.33].value:.4f}"
    )
    return Verdict("holds" if least > 0.99 else "undecided", checked)


@registry.claim(
    "large-cubes",
    where="Chen, Kanj & Wang, DePaul TR 02-001, abstract (known from the abstract alone)",
    states="With a node failure rate of 0.1% the nonfaulty nodes of a cube of up to 2^40 nodes are connected with "
    "probability 99.9%.",
    method="proved",
)
def large_cubes(effort: Effort) -> Verdict:
    """Bound the probability at each n = 2 .. 40, using the subcubes of the low k <= 7 dimensions.

    A k-cube with at most 2k - 3 faulty nodes has at most one nonfaulty node outside its largest component (Esfahanian 1989).  If
    every subcube has so few, neighbouring largest components are joined, since 2^k exceeds 2 (2k - 2).  The remaining event is a
    node whose neighbours in its subcube are faulty and whose other neighbours are faulty or cut off in the same way.
    """
    rate, worst = Fraction(1, 1000), Fraction(0)
    for n in range(2, 41):  # for n = 1, two nonfaulty nodes are always connected
        k = min(n, 7)
        nodes = 2**k
        few = sum(comb(nodes, f) * rate**f * (1 - rate) ** (nodes - f) for f in range(2 * k - 2))
        cut_off = 2**n * rate**k * (rate + rate**k) ** (n - k)
        worst = max(worst, 2 ** (n - k) * (1 - few) + cut_off)
        effort.applied += 1
    checked = f"n = 2 .. 40, by a union bound over subcubes: disconnected with probability {float(worst):.2g} at most"
    return Verdict("holds" if worst < Fraction(1, 1000) else "undecided", checked)


@registry.claim(
    "moebius-links",
    where="ours, suggested by a simulation of other graphs (Jia & Qian 2025, abstract)",
    states="Of the sets of k faulty links at least as many leave moebius1 connected as the hypercube, the crossed, the locally "
    "twisted or the other Moebius cube, for every k, n = 3 and 4.",
    added=True,
)
def moebius_links(effort: Effort) -> Verdict:
    """Check all sets of faulty links at n = 3 and 4: at every size moebius1 stays connected for at least as many as others."""
    for n in (3, 4):
        best = exact_survival("moebius1", n).links
        for name in ("hypercube", "crossed", "locally-twisted", "moebius0"):
            effort.step(f"{name}, n={n}")
            counts = exact_survival(name, n).links
            effort.applied += 2 ** (len(best) - 1)
            for k, (best_sets, sets) in enumerate(zip(best, counts, strict=True)):
                if best_sets < sets:
                    python = f"[fc.exact_survival(name, {n}).links[{k}] for name in ('moebius1', '{name}')]"
                    description = (
                        f"of the sets of {k} faulty links {best_sets} leave moebius1 connected, {sets} leave {name}"
                    )
                    return Verdict(
                        "refuted",
                        f"n = 3, ..., {n}",
                        Counterexample.of(description, python, {"network": name, "n": n, "links": k}),
                    )
    return Verdict("holds", "all sets of faulty links at n = 3 and 4, so at every link failure rate there")


@registry.claim(
    "nodes-nobody",
    where="ours, suggested by the statement on links",
    states="Of the sets of f faulty nodes at least as many leave moebius1 connected as the hypercube, for every f.",
    added=True,
    correction="Of the sets of 6 faulty nodes, n = 4, fewer leave moebius1 connected.",
)
def nodes_nobody(effort: Effort) -> Verdict:
    """Compare the Moebius cube with the hypercube for all sets of faulty nodes, n = 4."""
    effort.step("n=4")
    effort.applied += 2**16
    moebius, hypercube = exact_survival("moebius1", 4).nodes, exact_survival("hypercube", 4).nodes
    behind = [f for f, (a, b) in enumerate(zip(moebius, hypercube, strict=True)) if a < b]
    if not behind:
        return Verdict("holds", "all sets of faulty nodes at n = 4")
    f = behind[0]
    description = (
        f"of the sets of {f} faulty nodes {moebius[f]} leave moebius1 connected, {hypercube[f]} leave the hypercube"
    )
    python = f"[fc.exact_survival(name, 4).nodes[{f}] for name in ('moebius1', 'hypercube')]"
    checked = f"all sets of faulty nodes at n = 4: behind for f = {', '.join(map(str, behind))} alone"
    return Verdict("refuted", checked, Counterexample.of(description, python, {"n": 4, "f": f}))
