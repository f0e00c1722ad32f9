"""Survival of networks under random faults: 512 trials at a time, or one with its components and distances (N4, N5)."""
