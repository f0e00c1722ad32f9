"""The registry of the claims about networks under random faults."""

from ...claims import ClaimRegistry

registry = ClaimRegistry("networks")
