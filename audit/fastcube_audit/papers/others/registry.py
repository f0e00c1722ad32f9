"""The registry of published facts of other authors."""

from ...claims import ClaimRegistry

registry = ClaimRegistry("others")
