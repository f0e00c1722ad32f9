"""Routing in hypercubes (Lee & Hayes 1988): ROUTE, ROUTE1, ROUTE2 and ROUTE3 on the same faults and messages."""
