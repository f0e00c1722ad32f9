"""Fault-tolerant routing in dual-cubes (Li, Peng & Chu) under lazily drawn faults."""
