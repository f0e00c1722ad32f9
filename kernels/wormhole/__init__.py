"""Dependencies and deadlocks of multicasts in wormhole hypercubes (Wang, Lin & Kuo, section 4)."""
