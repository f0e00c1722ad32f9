"""The registry of the claims about networks under random faults."""

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("networks")
