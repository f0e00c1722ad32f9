"""Sample trial t for replay.  The unicast studies sample the same faults and messages as the studies of Lee and Hayes."""

from __future__ import annotations

from ..routing.replay import routing, routing_rate

rivals = rivals_status = routing
rivals_rate = routing_rate
