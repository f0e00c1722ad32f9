"""Studies: their axes, grids, statistics, tallies and estimates, and how studies are found."""
