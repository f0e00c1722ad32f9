"""Audit of published claims about communication in faulty hypercubes: each claim is decided by program.

``fastcube_audit.reproduce`` writes the report.  ``ClaimRegistry`` and the other names below are for claims of your own, in a
file for ``fastcube claims FILE.py``, or in a package with an entry point of the group ``fastcube.claims``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .claims import Cases as Cases
    from .claims import Claim as Claim
    from .claims import ClaimRegistry as ClaimRegistry
    from .claims import Counterexample as Counterexample
    from .claims import Effort as Effort
    from .claims import Verdict as Verdict
    from .registries import PaperClaims as PaperClaims
    from .report import reproduce as reproduce

#: Public name -> module that defines it: ``import fastcube_audit`` is quick, so that ``fastcube --help`` is.
_HOMES = {
    **dict.fromkeys(("Cases", "Claim", "ClaimRegistry", "Counterexample", "Effort", "Verdict"), ".claims"),
    **dict.fromkeys(("PaperClaims",), ".registries"),
    "reproduce": ".report",
}

__all__ = [*_HOMES]  # noqa: PLE0604  (the keys are strings)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], __name__), name)
