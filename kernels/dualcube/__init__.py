"""Fault-tolerant routing in dual-cubes (Li, Peng & Chu).  The status of a node is a hash of its label, computed on demand."""
