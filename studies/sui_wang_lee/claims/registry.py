"""The registry of the claims of Sui, Wang & Lee."""

from __future__ import annotations

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("sui_wang_lee")
