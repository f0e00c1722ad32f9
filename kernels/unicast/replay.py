"""What trial t draws, for replay: one function a study.  The unicast studies draw what Lee and Hayes's do."""

from __future__ import annotations

from ..routing.replay import routing, routing_rate

rivals = rivals_status = routing
rivals_rate = routing_rate
