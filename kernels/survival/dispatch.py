"""Select the kernel that runs the trials of the survival studies at a point; a user's network gets kernels of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..machine.dispatch import KernelTable, serve_any_point

if TYPE_CHECKING:
    from ..machine.jit import Kernel

#: Largest n of the studies.
MOST_DIMENSIONS = 16


def has_no_faulty_links(network: str, n: int, faults: float, links: float) -> bool:
    """Whether no link is faulty."""
    return links == 0


#: The fastest kernel first.
SURVIVAL = KernelTable(
    __package__,
    {
        "lanes.SURVIVAL_NODES": has_no_faulty_links,
        "lanes.SURVIVAL_LINKS": serve_any_point,
        "scalar.SURVIVAL_SINGLE": serve_any_point,
    },
)
SURVIVAL_RATE = KernelTable(
    __package__, {"lanes.SURVIVAL_RATE_NODES": has_no_faulty_links, "lanes.SURVIVAL_RATE_LINKS": serve_any_point}
)
CURVE = KernelTable(
    __package__,
    {
        "curve.CURVE_HYPERCUBE": lambda network, what, n, failed: network == "hypercube" and what == "nodes",
        "curve.CURVE_NODES": lambda network, what, n, failed: what == "nodes",
        "curve.CURVE_LINKS": lambda network, what, n, failed: what == "links",
    },
)
HITTING = KernelTable(
    __package__,
    {
        "hitting.HITTING_HYPERCUBE": lambda network, what, n: network == "hypercube" and what == "nodes",
        "hitting.HITTING_NODES": lambda network, what, n: what == "nodes",
        "hitting.HITTING_LINKS": lambda network, what, n: what == "links",
    },
)
SURVIVAL_COMPONENTS = KernelTable(__package__, {"scalar.SURVIVAL_COMPONENTS": serve_any_point})


@functools.cache
def user_survival_kernel(step: Any, slots: Callable[[int], int], links: bool) -> Kernel:
    """Return the kernel of ``survival`` for a user's network, with or without faulty links."""
    from ..cube.tables import wrap_user_slots, wrap_user_step
    from ..machine.trials import name_variant
    from .lanes import survival_kernel

    many = wrap_user_slots(slots, MOST_DIMENSIONS)
    name, cache = name_variant(step, many)
    return survival_kernel(
        wrap_user_step(step),
        many,
        False,
        links,
        f"own_{links}_{name}",
        cache=cache,
        code=getattr(step, "py_func", step),
    )
