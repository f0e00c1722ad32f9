"""The registry of the claims about rival routing rules."""

from ...claims import ClaimRegistry

registry = ClaimRegistry("unicast")
