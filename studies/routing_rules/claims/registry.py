"""The registry of the claims about routing rules."""

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("routing_rules")
