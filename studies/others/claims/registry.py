"""The registry of published facts of other authors."""

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("others")
