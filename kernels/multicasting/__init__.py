"""Multicast in hypercubes under random faults (Wang, Lin & Kuo, section 4)."""
