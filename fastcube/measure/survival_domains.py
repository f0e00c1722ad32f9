"""``survival-domains``: connectivity when boards, switches or users' own domains fail as one, and nodes one by one (N13).

Points that differ only in network, domain or number of failed domains have the random key of ``survival`` at the same n and f.
So they share the single failures of a trial, and without failed domains a trial is that of ``survival``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError, check_range, short_repr
from ..kernels.survival.dispatch import DOMAINS, MOST_DIMENSIONS, SURVIVAL_DOMAINS, user_domains_kernel
from ..kernels.survival.layout import SURVIVAL_DOMAINS as TALLY
from ..networks.family import Family, find_family, network
from .choice import CHOICE_NAME
from .failure_domains import (
    BOARDS,
    BUILT_IN,
    DIGIT_BITS,
    OwnDomains,
    UserParts,
    count_board_bits,
    count_domains,
    find_point_family,
    format_domain,
    is_switch,
    list_members,
)
from .fingerprint import hash_functions
from .standing import describe_standing
from .statistics import Point, Proportion
from .study import Axis, Choice, Explanation, Grid, Sample, Study, Value
from .survival import AXES as SURVIVAL_AXES
from .survival import (
    NETWORK,
    check_own_family,
    check_point,
    choose_grid_size,
    describe_network,
    make_network_study,
    make_statistics,
    summarize_network,
)

if TYPE_CHECKING:
    from ..kernels.machine.jit import Kernel

#: Most failed domains, and most single failures, in the text of a trial.
_MOST_SHOWN = 40

#: The random key of ``survival`` at the same n and f.
KEY_SOURCE: tuple[str, Mapping[str, Value | None]] = ("survival", {"domains": None, "links": 0})


def make_domain_points(
    names: Iterable[str], n: int, domain: str, numbers: Iterable[int], f: Iterable[int] = (0,)
) -> list[dict[str, Value]]:
    """Return points of networks with numbers of failed domains and of single failures."""
    return [
        {"network": name, "n": n, "f": single, "domain": domain, "domains": failed}  # type: ignore[dict-item]
        for name, single, failed in itertools.product(names, f, list(numbers))
    ]


def _make_axes(parts: UserParts) -> tuple[Axis | Choice, ...]:
    networks = (*NETWORK.names, *([parts.family.name] if parts.family else []))
    domains = (*DOMAINS, *([parts.domain.name] if parts.domain else []))
    return (
        Choice("network", NETWORK.description, networks, keyed=False),
        *SURVIVAL_AXES[1:3],
        Choice("domain", "what fails as one: a board of 2, 4 or 8 nodes, or a switch", domains, keyed=False),
        Axis("domains", "failed domains", int, 0, 2 ** (MOST_DIMENSIONS + 1)),
    )


def _check_point(point: Point, parts: UserParts = BUILT_IN) -> None:
    """Raise ParameterError for a size or domain that the network does not have, or too many failures."""
    check_point({**point, "links": 0}, parts.family)
    domain, name, n = str(point["domain"]), str(point["network"]), int(point["n"])
    if domain == "switch" and name not in DIGIT_BITS:
        raise ParameterError(f"network must be one of {', '.join(DIGIT_BITS)} for domain=switch, got {name}")
    if domain in BOARDS:
        check_range("n", n, count_board_bits(domain), MOST_DIMENSIONS, f"for domain={domain}")
    most = count_domains(point, parts)
    check_range("domains", point["domains"], 0, most, f"for {domain} of {name} at n={n}")


# ---------------------------------------------------------------- trials


def _sample_trial(point: Point, key: int, trial: int, parts: UserParts = BUILT_IN) -> Sample:
    """Return a trial's network with all failed nodes and links, s and t, and the numbers of the failed domains."""
    from ..kernels.survival import replay

    n, f = int(point["n"]), int(point["f"])
    failed = replay.sample_domains(key, trial, count_domains(point, parts), int(point["domains"])).tolist()
    members = [list_members(point, g, parts) for g in failed]
    boards, rows = ([], members) if is_switch(point) else (members, [])
    single = replay.sample_survival(key, trial, n, f, 0, find_point_family(point, parts).table(n))[0]
    nodes = {*single.tolist(), *itertools.chain(*boards)}
    links = [pair for row in rows for pair in itertools.combinations(row, 2)]
    s = t = -1
    if 2**n - len(nodes) >= 2:
        alive = np.ones(2**n, np.bool_)
        alive[list(nodes)] = False
        s, t = replay.sample_pair(key, trial, n, f, alive).tolist()
    net = network(find_point_family(point, parts), n, nodes, links)
    return Sample(net, {"s": s, "t": t, "failed_domains": failed})


def _explain_trial(point: Point, key: int, trial: int, parts: UserParts = BUILT_IN) -> Explanation:
    """Return the trial with its failed domains, and the trial of ``survival`` with as many failed nodes."""
    from ..kernels.survival import replay

    drawn = _sample_trial(point, key, trial, parts)
    net, others = drawn.network, dict(drawn.others)
    family, n, failed = find_point_family(point, parts), int(point["n"]), sorted(net.faulty_nodes)
    nodes, _, ends = replay.sample_survival(key, trial, n, len(failed), 0, family.table(n))
    single, pair = network(family, n, nodes), dict(zip("st", ends.tolist() or (-1, -1), strict=True))
    found, there = summarize_network(net, others), summarize_network(single, pair)
    data = {"faulty_nodes": failed, "faulty_links": sorted(map(list, net.faulty_links)), **others, **found}
    domains = [list_members(point, g, parts) for g in others["failed_domains"]]
    lines = [f"  {len(domains)} failed of {count_domains(point, parts)} domains, {len(failed)} failed nodes"]
    lines += [f"  failed {point['domain']} {format_domain(members, n)}" for members in domains[:_MOST_SHOWN]]
    alone = replay.sample_survival(key, trial, n, int(point["f"]), 0, family.table(n))[0]
    lines += [f"  faulty {net.label(v)}" for v in sorted(alone.tolist())[:_MOST_SHOWN]]
    lines.append(describe_network("with these domains", found, net, others))
    lines.append(describe_network(f"with {len(failed)} single failures", there, single, pair))
    return Explanation("\n".join(lines), {**data, "single": {"faulty_nodes": sorted(nodes.tolist()), **pair, **there}})


def _choose_kernel(point: Point, parts: UserParts) -> Kernel:
    own_network = parts.family is not None and str(point["network"]) == parts.family.name
    own_domain = parts.domain is not None and str(point["domain"]) == parts.domain.name
    if not own_network and not own_domain:
        return SURVIVAL_DOMAINS.kernel(*point.values())
    _, step, slots = check_own_family(parts.family) if own_network else (None, None, None)
    return user_domains_kernel(step, slots, parts.domain.function if parts.domain and own_domain else None)


def _describe_costs(results: Any) -> list[str]:
    """Return notes on P(connected) with failed domains against as many single failures, per network and domain."""
    differences: dict[str, list[Any]] = {}
    for point, tally in results:
        if tally.trials and point["domains"]:
            where = {axis: point[axis] for axis in ("n", "f", "domains")}
            name = f"{point['domain']} of {point['network']}"
            differences.setdefault(name, []).append((where, results.estimates(point)["connected_diff"]))
    heading = "P(connected) with failed domains minus as many failed nodes one by one, exact 95% intervals:"
    lines = [f"  {name}: {describe_standing(some)}" for name, some in differences.items()]
    return [heading, *lines] if lines else []


def _plot_domains(results: Any, sheet: Any) -> None:
    """Plot P(connected) with failed domains against their number, and the difference to as many single failures."""
    above, below = sheet.panels(1, 2)
    above.lines(results, "connected", x="domains", keys=("network", "domain"))
    above.set_labels(y="P(connected)")
    below.lines(results, "connected_diff", x="domains", keys=("network", "domain"))
    below.set_labels(y="difference to as many single failures")
    for panel in (above, below):
        panel.scale = "linear"
    sheet.title(results.study.title)


_STATISTICS = (
    *make_statistics(
        "failed domains minus their number of nodes, singly",
        bound=lambda point: int(point["domains"] > 0),
        defined=lambda point: True,
        defined_pair=lambda point: int(point["f"]) <= 2 ** int(point["n"]) - 2,
    ),
    Proportion(
        name="single_connected",
        description="probability that the nonfaulty nodes are connected if as many nodes as the domains hold fail one by one",
        shown=False,
    ),
)


def make_domains_study(
    name: str, title: str, grids: tuple[Grid, ...], parts: UserParts = BUILT_IN, **others: Any
) -> Study:
    """Return ``survival-domains``, or the study of a user's own network or domains."""
    return Study(
        name=name,
        title=title,
        source="docs/readings/networks.md, N13",
        revision=1,
        axes=_make_axes(parts),
        tally=TALLY,
        statistics=_STATISTICS,
        kernel=functools.partial(_choose_kernel, parts=parts),
        grids=grids,
        check=functools.partial(_check_point, parts=parts),
        explain=functools.partial(_explain_trial, parts=parts),
        sample=functools.partial(_sample_trial, parts=parts),
        figure=_plot_domains,
        notes=_describe_costs,
        keyed=KEY_SOURCE,
        together=512,
        **others,
    )


def _check_own_domain(domain: object) -> OwnDomains:
    """Return a user's domains.  Raises ParameterError unless they are a function with a usable name."""
    name = str(getattr(getattr(domain, "py_func", domain), "__name__", "")).lower().replace("_", "-")
    if not callable(domain) or isinstance(domain, type) or not CHOICE_NAME.fullmatch(name) or name in DOMAINS:
        raise ParameterError(
            "domain must be a function of (v, n) with a name of its own, of letters, digits and _, or one of "
            f"{', '.join(BOARDS)}, got {short_repr(domain)}"
        )
    return OwnDomains(name, domain)


def survival_study(family: Family | str, domain: Callable[[int, int], int] | str | None = None) -> Study:
    """Return ``survival`` with a network of your own, or with domains of nodes that fail as one.

    Parameters
    ----------
    family : Family or str
        From :func:`fastcube.custom_network`.  With ``domain`` also the name of a built-in network.
    domain : callable or str, optional
        ``domain(v, n)`` returns the domain of node v, an int in [0, 2^n - 1]: nodes with equal values fail together.  It is a
        ``@fc.blocks.block``, or plain Python that Numba can compile.  Or a name: ``board-2``, ``board-4`` or ``board-8``.

    Returns
    -------
    Study
        ``survival-NAME``, with the random keys of ``survival``.  Its axis ``network`` takes your network and all built-in ones,
        as ``--set network=NAME,hypercube``.  Its grid has your network with f = n, 2n, N/8, ..., N/2 for N = 2^n, at the largest
        size up to n = 8.  If slots 0 .. n - 1 flip bits 0 .. n - 1 (``Family.is_matched``) or are those of the hypercube,
        there is a second grid, ``links``, with faulty links.  The notes below a table say where your network is ahead of the
        hypercube or behind it, and within which distance elsewhere.

        With ``domain`` it is ``survival-NAME-DOMAIN``, which has the axes and statistics of ``survival-domains``.  Its axis
        ``domain`` takes the name of your function too, with - for _.  Its grid has eighths of all domains, up to one half.

    Raises
    ------
    ParameterError
        For a network or domain of another kind, or a domain out of range at the size of the grid.  Other sizes are checked when
        they are used.  Up to n = 10 the compiled function is compared with plain Python on all nodes.

    Examples
    --------
    >>> def step(v, d, n):
    ...     return v ^ (1 << d)
    >>> study = fc.survival_study(fc.custom_network("my-cube", "Q_n again", step=step, slots=lambda n: n))
    >>> [axis.name for axis in study.axes]
    ['network', 'n', 'f', 'links']
    >>> def rack(v, n):
    ...     return v % 16
    >>> [axis.name for axis in fc.survival_study("hypercube", domain=rack).axes]
    ['network', 'n', 'f', 'domain', 'domains']
    """
    if domain is None:
        return make_network_study(family)
    chosen = find_family(family, "family")
    named = isinstance(domain, str) and domain in BOARDS
    own = None if named else _check_own_domain(domain)
    parts = UserParts(None if chosen.own is None else chosen, own)
    n = choose_grid_size(chosen, 3)
    name = str(domain) if own is None else own.name
    whole = count_domains(make_domain_points([chosen.name], n, name, [0])[0], parts)
    numbers = sorted({whole * i // 8 for i in range(1, 5)} - {0}) or [1]
    functions = [*(check_own_family(chosen)[1:] if chosen.own else ()), *([own.function] if own else [])]
    return make_domains_study(
        f"survival-{chosen.name}-{name}",
        f"Connectivity of {chosen.title} when domains ({name}) fail as one",
        (Grid("domains", make_domain_points([chosen.name], n, name, numbers), 100_000),),
        parts,
        code=hash_functions(*functions),
    )
