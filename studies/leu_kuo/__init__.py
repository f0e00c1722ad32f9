"""Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems": trees, and gathering over them."""

from __future__ import annotations

from .finding import FIND_TREE
from .gathering import GATHER, REROUTING
from .optimal import OPTIMAL_TREE

__all__ = ["STUDIES"]

STUDIES = (FIND_TREE, OPTIMAL_TREE, GATHER, REROUTING)
