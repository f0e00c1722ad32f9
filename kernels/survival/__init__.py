"""What survives random faults: 512 trials at a time, or one with its parts and distances (readings N4, N5)."""
