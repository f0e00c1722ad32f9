"""Studies, tallies, estimates, the driver that runs them, and the files they end in."""
