"""The registry of the claims about rival routing rules."""

from __future__ import annotations

from fastcube.audit.claims import ClaimRegistry

registry = ClaimRegistry("unicast")
