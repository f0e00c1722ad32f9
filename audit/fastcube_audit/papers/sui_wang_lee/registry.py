"""The registry of the claims of Sui, Wang & Lee."""

from ...claims import ClaimRegistry

registry = ClaimRegistry("sui_wang_lee")
