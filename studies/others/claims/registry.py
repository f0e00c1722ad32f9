"""The registry of published facts of other authors."""

from __future__ import annotations

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("others")
