"""Broadcasting in hypercubes (Lee & Hayes 1988): BROADCAST, BROADCAST1 and BROADCAST2 on the same faults and source."""
