"""The registry of the claims of Sui, Wang & Lee."""

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("sui_wang_lee")
