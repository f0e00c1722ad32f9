"""The registry of the claims about networks under random faults."""

from __future__ import annotations

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("networks")
