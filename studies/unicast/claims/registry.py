"""The registry of the claims about rival routing rules."""

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("unicast")
