"""2-partitions of hypercubes under random faults (Wang, Lin & Kuo, section 3)."""
