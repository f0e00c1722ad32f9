"""Select the kernel that runs the trials of the survival studies at a point; a user's network gets kernels of its own.

Conditions and selections take the values of a study's axes in their order, which is noted above each table.  ``lanes`` runs 512
trials at a time for any network, ``close_faults`` compares the pairs of a few faults of the hypercube, and ``scalar`` and
``breadth_first``, which compile sooner, search one trial at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..machine.dispatch import KernelTable, has_avx512, serve_any_point

if TYPE_CHECKING:
    from ..machine.jit import Kernel

#: Largest n of the studies.
MOST_DIMENSIONS = 16


def has_no_faulty_links(network: str, n: int, faults: float, links: float) -> bool:
    """Whether no link is faulty."""
    return links == 0


def _is_hypercube_without_faulty_links(network: str, n: int, f: int, links: int) -> bool:
    return network == "hypercube" and has_no_faulty_links(network, n, f, links)


def _most_bounded_faults(n: int) -> int:
    """Return the largest number of faults of Q_n for which ``close_faults`` serves.

    A component of n + 1 nodes, the most in Harper's bound (``close_faults.py``), has one faulty neighbour more.  So with this
    number of faults every component other than the largest has at most n nodes.
    """
    return (n + 1) * (n - 2) // 2


def _make_few_faults_condition(n_least: int, n_most: int) -> Callable[..., bool]:
    """Return the condition "few faulty nodes in the hypercube" for n in [``n_least``, ``n_most``]."""

    def has_few_faults(network: str, n: int, f: int, links: int) -> bool:
        is_hypercube = _is_hypercube_without_faulty_links(network, n, f, links)
        return is_hypercube and n_least <= n <= n_most and f <= _most_bounded_faults(n)

    return has_few_faults


#: Largest number of faults of Q_n for which ``close_faults`` is the fastest, with AVX-512 or without; from Q_13 on, which have no
#: entry, it is wherever it serves.  Measured on an AMD EPYC (Zen 4) in November 2026, without AVX-512 compiled for AVX2.
_MOST_FOR_CLOSE_FAULTS = {
    True: {5: 5, 6: 7, 7: 10, 8: 13, 9: 20, 10: 28, 11: 43, 12: 62},
    False: {5: 5, 6: 7, 7: 10, 8: 13, 9: 18, 10: 25, 11: 36, 12: 52},
}

_has_few_faults = _make_few_faults_condition(5, MOST_DIMENSIONS)


def _choose_survival_kernel(network: str, n: int, f: int, links: int) -> str:
    """Select a kernel.  ``close_faults`` is fastest if faults are few, so that it seldom has to search for a component.

    Fewer than n faults cannot disconnect Q_n, so ``lanes`` counts such trials without sampling them.
    """
    if _has_few_faults(network, n, f, links) and n <= f <= _MOST_FOR_CLOSE_FAULTS[has_avx512()].get(n, f):
        return "close_faults.SURVIVAL_CLOSE_FAULTS_8" if n <= 8 else "close_faults.SURVIVAL_CLOSE_FAULTS_16"
    return "lanes.SURVIVAL_LINKS" if links else "lanes.SURVIVAL_NODES"


def _estimate_survival_times(network: str, n: int, f: int, links: int) -> dict[str, float]:
    """Return approximate nanoseconds of a trial by the fastest kernel and by those with which a run may begin instead.

    They only decide with which of these kernels a run begins, and when it changes over to the fastest one.  So the formulas, for
    one core of an AMD EPYC (Zen 4), are simple, and the fastest kernel has one formula, whether ``lanes`` or ``close_faults``.
    """
    times = {_choose_survival_kernel(network, n, f, links): 5.0 * n + 2**n / 32}
    if links:
        return {**times, "scalar.SURVIVAL_SINGLE": 20.0 * n * 2**n}
    times["breadth_first.SURVIVAL_NETWORK_SEARCH"] = 40.0 * n * 2**n
    if network == "hypercube":
        times["breadth_first.SURVIVAL_CUBE_SEARCH"] = 4.0 * n * 2**n
    return times


#: Conditions on (network, n, f, links).
SURVIVAL = KernelTable(
    __package__,
    {
        "lanes.SURVIVAL_NODES": has_no_faulty_links,
        "lanes.SURVIVAL_LINKS": serve_any_point,
        "close_faults.SURVIVAL_CLOSE_FAULTS_8": _make_few_faults_condition(4, 8),
        "close_faults.SURVIVAL_CLOSE_FAULTS_16": _make_few_faults_condition(9, MOST_DIMENSIONS),
        "scalar.SURVIVAL_SINGLE": serve_any_point,
        "breadth_first.SURVIVAL_CUBE_SEARCH": _is_hypercube_without_faulty_links,
        "breadth_first.SURVIVAL_NETWORK_SEARCH": has_no_faulty_links,
    },
    fastest=_choose_survival_kernel,
    compile_seconds={
        "breadth_first.SURVIVAL_CUBE_SEARCH": 2.0,
        "breadth_first.SURVIVAL_NETWORK_SEARCH": 4.0,
        "scalar.SURVIVAL_SINGLE": 10.0,
        "lanes.SURVIVAL_NODES": 12.0,
        "lanes.SURVIVAL_LINKS": 13.0,
        "close_faults.SURVIVAL_CLOSE_FAULTS_8": 12.0,
        "close_faults.SURVIVAL_CLOSE_FAULTS_16": 12.0,
    },
    nanoseconds=_estimate_survival_times,
)
#: Conditions on (network, n, rate, link_rate), the failure rates of nodes and of links.
SURVIVAL_RATE = KernelTable(
    __package__, {"lanes.SURVIVAL_RATE_NODES": has_no_faulty_links, "lanes.SURVIVAL_RATE_LINKS": serve_any_point}
)


def _is_hypercube_with_failing_nodes(network: str, failing: str, *others: int) -> bool:
    return network == "hypercube" and failing == "nodes"


def _has_failing_nodes(network: str, failing: str, *others: int) -> bool:
    return failing == "nodes"


def _has_failing_links(network: str, failing: str, *others: int) -> bool:
    return failing == "links"


#: Conditions on (network, failing, n, failed).
CURVE = KernelTable(
    __package__,
    {
        "curve.CURVE_HYPERCUBE": _is_hypercube_with_failing_nodes,
        "curve.CURVE_NODES": _has_failing_nodes,
        "curve.CURVE_LINKS": _has_failing_links,
    },
)
#: Conditions on (network, failing, n).
HITTING = KernelTable(
    __package__,
    {
        "hitting.HITTING_HYPERCUBE": _is_hypercube_with_failing_nodes,
        "hitting.HITTING_NODES": _has_failing_nodes,
        "hitting.HITTING_LINKS": _has_failing_links,
    },
)

#: The kinds of failure domains; kernels get the index of a kind in this tuple.
DOMAINS = ("board-2", "board-4", "board-8", "switch")
#: Conditions on (network, n, f, domain, domains), the last two the kind and the number of failed domains.
SURVIVAL_DOMAINS = KernelTable(
    __package__,
    {
        "domains.SURVIVAL_BOARDS": lambda network, n, f, domain, domains: domain != "switch",
        "domains.SURVIVAL_SWITCHES": lambda network, n, f, domain, domains: domain == "switch",
    },
)
#: Conditions on (network, n, f, links).
SURVIVAL_COMPONENTS = KernelTable(__package__, {"scalar.SURVIVAL_COMPONENTS": serve_any_point})


@functools.cache
def user_survival_kernel(step: Any, slots: Callable[[int], int], links: bool) -> Kernel:
    """Return the kernel of ``survival`` for a user's network, with or without faulty links."""
    from ..cube.tables import wrap_user_slots, wrap_user_step
    from ..machine.trials import name_variant
    from .lanes import survival_kernel

    own_slots = wrap_user_slots(slots, MOST_DIMENSIONS)
    name, cache = name_variant(step, own_slots)
    return survival_kernel(
        wrap_user_step(step),
        own_slots,
        by_rate=False,
        links=links,
        variant=f"own_{links}_{name}",
        cache=cache,
        code=getattr(step, "py_func", step),
    )


@functools.cache
def user_curve_kernel(step: Any, slots: Callable[[int], int], failing: str) -> Kernel:
    """Return the kernel of ``survival-curve`` for a user's network whose nodes, or links, fail."""
    from ..cube.tables import wrap_user_slots, wrap_user_step
    from ..machine.trials import name_variant
    from .curve import LINKS_TRIAL, NODES_TRIAL, make_curve_kernel, make_curve_scratch

    own_slots = wrap_user_slots(slots, MOST_DIMENSIONS)
    name, cache = name_variant(step, own_slots)
    return make_curve_kernel(  # type: ignore[no-any-return]
        LINKS_TRIAL if failing == "links" else NODES_TRIAL,
        f"own_{failing}_{name}",
        make_curve_scratch(wrap_user_step(step), own_slots),
        cache=cache,
        code=getattr(step, "py_func", step),
    )


@functools.cache
def user_domains_kernel(step: Any, slots: Callable[[int], int] | None, domain: Any) -> Kernel:
    """Return the kernel of ``survival-domains`` for a user's network, a user's domains, or both.

    With ``step`` and ``slots`` None it serves the built-in networks, and with ``domain`` None the built-in boards.  Points with
    neither are those of the table ``SURVIVAL_DOMAINS``.
    """
    from ..cube.tables import named_slots, named_step, wrap_user_slots, wrap_user_step
    from ..machine.trials import name_variant
    from .domain_numbers import board_of, wrap_user_domain
    from .domains import domains_kernel

    own_slots = wrap_user_slots(slots, MOST_DIMENSIONS) if slots else named_slots
    own_step = wrap_user_step(step) if step else named_step
    given = [function for function in (domain, step) if function]
    if not given:
        raise ValueError("step or domain must be given")
    name, cache = name_variant(*given, own_slots)
    return domains_kernel(
        own_step,
        own_slots,
        wrap_user_domain(domain) if domain else board_of,
        switches=False,
        variant=f"own_{bool(step)}_{bool(domain)}_{name}",
        cache=cache,
        code=getattr(given[0], "py_func", given[0]),
    )
