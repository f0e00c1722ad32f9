"""BROADCAST1(1) and BROADCAST2(1), with the descent that is fastest for the number of faults (R14, R15)."""

from __future__ import annotations

import numpy as np

from ..draws.faults import FAULTY_LINKS, FAULTY_NODES, is_closed
from ..machine.bits import LOW32, highest_bit
from ..machine.jit import block
from .descent import COPIES, ENTERED, NO_SILENT_NODE, REACHED
from .registers import descend_8, descend_16
from .subcube_lists import descend_listed


@block
def _run_descent(faults, x, whole, time, silent, descent):
    """Run the fastest descent (``descent.make_descend``)."""
    f, links = faults.size[FAULTY_NODES], faults.size[FAULTY_LINKS]
    if f <= 16 and links == 0 and whole <= LOW32:
        return descend_16(faults, x, whole, time, silent, descent)
    if f <= 8 and links == 0:
        return descend_8(faults, x, whole, time, silent, descent)
    return descend_listed(faults, x, whole, time, silent, descent)


@block
def run_broadcast1_2(faults, s, whole, hands_over, descent):
    """Run BROADCAST1(1) from s, or with ``hands_over`` BROADCAST2(1) from an unsafe s (R15); results go to ``descent.found``.

    BROADCAST2 hands the message to the first active neighbour of s, which broadcasts it to all nodes but s.  Without one, s alone
    has it.  ``whole`` is the mask of all dimensions.  Returns False if the descent was cut off.
    """
    found = descent.found
    found[:] = 0
    if not hands_over:
        return _run_descent(faults, s, whole, np.int64(0), NO_SILENT_NODE, descent)
    found[REACHED] = 1
    found[ENTERED] = 1
    rest = whole
    while rest:
        bit = highest_bit(rest)
        rest ^= bit
        if not is_closed(faults, s ^ bit):
            found[COPIES] = 1
            return _run_descent(faults, s ^ bit, whole, np.int64(1), s, descent)
    return True
