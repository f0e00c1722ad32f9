"""Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes": edge-disjoint spanning trees around a fault, and of any fault set."""

from __future__ import annotations

from .edmonds import EDGE_DISJOINT_TREES
from .packets import EDST_BROADCAST

STUDIES = (EDST_BROADCAST, EDGE_DISJOINT_TREES)
