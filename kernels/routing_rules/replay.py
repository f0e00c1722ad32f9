"""Sample trial t for replay.  These studies sample the same faults and messages as the studies of Lee and Hayes."""

from __future__ import annotations

from ..routing.replay import routing, routing_rate

routing_rules = safety_status = routing
routing_rules_rate = routing_rate
