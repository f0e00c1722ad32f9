"""The registry of the claims about routing rules."""

from ...claims import ClaimRegistry

registry = ClaimRegistry("routing_rules")
