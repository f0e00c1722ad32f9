"""Survival of networks under random faults, for 512 trials at a time, or for one trial with components and distances (N4, N5)."""
